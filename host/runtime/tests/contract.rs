//! The contract's files parse, name what the host binds, and its records travel as JSON.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::path::Path;

use airlock_runtime::contract::model::{Exchange, ModelOutcome, ReplyShape};
use airlock_runtime::contract::{PACKAGE, VERSION};
use airlock_runtime::{Import, Stage};
use wit_parser::{Resolve, WorldItem};

fn contract() -> (Resolve, wit_parser::PackageId) {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_dir(&wit).expect("the contract parses");
    (resolve, package)
}

#[test]
fn every_stage_has_a_world_that_exports_it_and_imports_what_can_be_granted() {
    let (resolve, package) = contract();
    let name = &resolve.packages[package].name;
    assert_eq!(name.to_string(), format!("{PACKAGE}@{VERSION}"));
    for stage in Stage::ALL {
        let world = &resolve.worlds[resolve.select_world(&[package], Some(stage.world())).unwrap()];
        let named = |item: &WorldItem| match item {
            WorldItem::Interface { id, .. } => resolve.interfaces[*id].name.clone(),
            _ => None,
        };
        let exports: Vec<_> = world.exports.values().filter_map(named).collect();
        assert_eq!(exports, [stage.interface()], "{stage}");
        let imports: Vec<_> = world.imports.values().filter_map(named).collect();
        for import in Import::ALL {
            assert!(imports.iter().any(|name| name == import.as_str()), "{stage} {}", import.as_str());
        }
    }
}

#[test]
fn every_interface_with_functions_is_a_stage_or_can_be_granted() {
    let (resolve, package) = contract();
    for (name, id) in &resolve.packages[package].interfaces {
        let callable = !resolve.interfaces[*id].functions.is_empty();
        let known = Import::ALL.iter().any(|import| import.as_str() == name)
            || Stage::ALL.iter().any(|stage| stage.interface() == name);
        assert_eq!(callable, known, "{name}");
    }
}

#[test]
fn exchanges_travel_as_json() {
    let text = r#"{
        "request": {
            "role": "reasoning", "purpose": "write-sql", "instructions": "One statement.", "context": [1, 2],
            "prompt": "How many bills?", "reply": {"Json": "{}"}, "max_output_tokens": 400, "attributes": []
        },
        "outcome": {"Reply": {
            "text": "SELECT 1", "sql": "SELECT 1", "truncated": false, "input_tokens": 9, "output_tokens": 3
        }}
    }"#;
    let exchange: Exchange = serde_json::from_str(text).unwrap();
    assert_eq!(exchange.request.reply, ReplyShape::Json("{}".to_owned()));
    assert!(
        matches!(&exchange.outcome, ModelOutcome::Reply(reply) if reply.sql.as_deref() == Some("SELECT 1"))
    );
    let again: serde_json::Value = serde_json::to_value(&exchange).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(text).unwrap());
}
