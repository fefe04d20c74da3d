//! Any text gets a verdict; what is approved is approved again, and reads nothing that the catalogue does not list.
#![no_main]

#[path = "../../tests/shop/mod.rs"]
mod shop;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    static GATE: OnceLock<airlock_gate::Gate> = OnceLock::new();
    let gate = GATE.get_or_init(|| shop::gate(150_018));
    match gate.check(text) {
        Ok(approved) => {
            for table in &approved.facts().tables {
                assert!(gate.catalogue().relation(table).is_some());
            }
            let again = gate.check(approved.statement()).expect("approved once, refused again");
            assert_eq!(again.facts().tables, approved.facts().tables);
        }
        Err(rejection) => assert_ne!(rejection.code.as_str(), "internal"),
    }
    let _ = airlock_gate::outline(text);
});
