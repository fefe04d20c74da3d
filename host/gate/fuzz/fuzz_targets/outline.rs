//! Any text can be outlined and printed: ranges lie inside the text and inside their parents, and what is printed of an
//! approved text is read again.
#![no_main]

#[path = "../../tests/shop/mod.rs"]
mod shop;

use std::sync::OnceLock;

use airlock_gate::{Gate, canonical, outline};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    static GATE: OnceLock<Gate> = OnceLock::new();
    let gate = GATE.get_or_init(|| shop::gate(180_000));
    if let Ok(nodes) = outline(text) {
        for (index, node) in nodes.iter().enumerate() {
            assert!(text.get(node.start as usize..node.end as usize).is_some(), "{node:?}");
            if let Some(parent) = node.parent {
                assert!((parent as usize) < index, "{node:?}");
                let parent = &nodes[parent as usize];
                assert!(parent.start <= node.start && node.end <= parent.end, "{node:?} in {parent:?}");
            }
        }
    }
    match canonical(text) {
        // libpg_query leaves things out of what no approved text holds, such as types whose modifiers are expressions.
        Ok(printed) if gate.check(text).is_ok() => {
            if let Err(rejection) = canonical(&printed) {
                // Brackets are added, and what was written with escapes is printed as it is.
                let limits = ["hidden-character", "too-deep", "too-long", "too-many-tokens"];
                assert!(limits.contains(&rejection.code.as_str()), "{printed}: {rejection}");
            }
        }
        Ok(_) => {}
        Err(rejection) => assert_ne!(rejection.code.as_str(), "internal"),
    }
});
