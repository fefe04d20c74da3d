//! What may be done with an approved text: read it. This one compiles, so that the others fail for their own reasons.

fn main() {
    let gate = airlock_gate::Gate::new(Default::default(), airlock_gate::Policy::default());
    if let Ok(approved) = gate.check("SELECT 1") {
        let _: (&str, &str, &airlock_gate::Facts) = (approved.text(), approved.statement(), approved.facts());
    }
}
