//! Approved for one text, changed into another.

fn forge(mut approved: airlock_gate::Approved) {
    approved.statement = String::from("DROP TABLE customers");
}

fn main() {
    let _ = forge;
}
