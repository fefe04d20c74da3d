//! Made by hand, field by field.

fn main() {
    let _ = airlock_gate::Approved {
        text: String::from("DROP TABLE customers"),
        statement: String::from("DROP TABLE customers"),
        facts: airlock_gate::Facts::default(),
        cap: 1,
        limit: airlock_gate::RowLimit::Within,
    };
}
