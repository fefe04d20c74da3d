//! Made out of nothing, or out of a text.

fn main() {
    let _: airlock_gate::Approved = Default::default();
    let _: airlock_gate::Approved = "DROP TABLE customers".into();
    let _ = airlock_gate::Approved::new("DROP TABLE customers");
}
