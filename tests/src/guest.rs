//! A domain adapter that fails: a core module written by hand, made into a real component of the contract's world.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::workspace;

/// Finds no entity in any question and traps on every text it is to review.
const TRAPS_ON_REVIEW: &str = r#"(module
    (memory (export "memory") 2)
    (global $top (mut i32) (i32.const 65536))
    (func (export "airlock:plugin/domain@0.1.0#canonicalize")
        (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
        (i32.const 1024))
    (func (export "airlock:plugin/domain@0.1.0#review") (param i32) (result i32) unreachable)
    (func (export "airlock:plugin/domain@0.1.0#judge") (param i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable)
    (func (export "airlock:plugin/domain@0.1.0#seed-lessons") (result i32) unreachable)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
        (global.set $top (i32.add (local.get $at) (local.get 3)))
        (local.get $at)))"#;

/// The component of an adapter that traps on every text it is to review.
#[must_use]
pub fn adapter_that_traps() -> Vec<u8> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(workspace().join("wit")).unwrap();
    let world = resolve.select_world(&[package], Some("domain-adapter")).unwrap();
    let mut module = wat::parse_str(TRAPS_ON_REVIEW).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap()
}
