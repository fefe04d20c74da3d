//! Any text can be outlined and printed: ranges lie inside the text and inside their parents, and a printed text is read
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(nodes) = airlock_gate::outline(text) {
        for (index, node) in nodes.iter().enumerate() {
            assert!(text.get(node.start as usize..node.end as usize).is_some(), "{node:?}");
            if let Some(parent) = node.parent {
                assert!((parent as usize) < index, "{node:?}");
                let parent = &nodes[parent as usize];
                assert!(parent.start <= node.start && node.end <= parent.end, "{node:?} in {parent:?}");
            }
        }
    }
    match airlock_gate::canonical(text) {
        Ok(printed) => assert!(airlock_gate::canonical(&printed).is_ok(), "{printed}"),
        Err(rejection) => assert_ne!(rejection.code.as_str(), "internal"),
    }
});
