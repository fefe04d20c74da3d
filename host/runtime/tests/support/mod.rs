//! Guests written by hand: core modules in text, made into real components of the planner's world.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it fails")]

pub mod hostile;
pub mod inputs;
pub mod value;

use std::path::Path;
use std::sync::{Arc, Mutex};

use airlock_runtime::contract::catalog::{Join, TableDetail, TableSummary};
use airlock_runtime::contract::log::Level;
use airlock_runtime::contract::planner::PlanInput;
use airlock_runtime::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use airlock_runtime::contract::sql::{Facts, Node, Rejection};
use airlock_runtime::contract::types::{CivilTime, Clock, TableRef};
use airlock_runtime::{
    Component, DomainScope, Grant, Import, LoadErrorKind, Runtime, RuntimeConfig, Services, Stage,
};
use airlock_types::ContentHash;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Text of a planner's module around what is special about it: module fields, and the body of `run`.
///
/// `run` takes the address of its arguments and returns the address of its result. A result lies at 1024: its
/// discriminant, then at +4 the step's, then at +8 the step's first field.
pub fn planner_text(fields: &str, body: &str) -> String {
    format!(
        r#"(module
            (import "airlock:plugin/log@0.1.0" "write" (func $log (param i32 i32 i32 i32 i32)))
            (import "airlock:plugin/catalog@0.1.0" "server-version" (func $server_version (result i32)))
            (memory (export "memory") 2)
            (global $top (mut i32) (i32.const 65536))
            {fields}
            (func $unanswerable (param $text i32) (param $bytes i32) (result i32)
                (i32.store8 (i32.const 1024) (i32.const 0))
                (i32.store8 (i32.const 1028) (i32.const 2))
                (i32.store (i32.const 1032) (local.get $text))
                (i32.store (i32.const 1036) (local.get $bytes))
                (i32.const 1024))
            (func $unclear (param $options i32) (result i32)
                (i32.store8 (i32.const 1024) (i32.const 0))
                (i32.store8 (i32.const 1028) (i32.const 3))
                (i32.store (i32.const 1032) (i32.const 2048))
                (i32.store (i32.const 1036) (i32.const 2))
                (i32.store (i32.const 1040) (i32.const 4096))
                (i32.store (i32.const 1044) (local.get $options))
                (i32.const 1024))
            (data (i32.const 2048) "no rows here")
            (func $run (export "airlock:plugin/planner@0.1.0#run") (param i32) (result i32)
                (local $n i32)
                {body})
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
                (global.set $top (i32.add (local.get $at) (local.get 3)))
                (local.get $at)))"#
    )
}

/// The component of a planner's module.
pub fn planner(fields: &str, body: &str) -> Vec<u8> {
    component(&planner_text(fields, body))
}

/// A planner that keeps every rule.
pub fn honest() -> Vec<u8> {
    planner("", HONEST)
}

/// Says that the question is unanswerable.
pub const HONEST: &str = "(call $unanswerable (i32.const 2048) (i32.const 7))";

fn component(text: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_dir(&wit).expect("the contract parses");
    let world = resolve.select_world(&[package], Some("planner-stage")).expect("a planner's world");
    let mut module = wat::parse_str(text).expect("the module's text parses");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("metadata");
    let mut encoder = ComponentEncoder::default();
    encoder.module(&module).expect("a module").validate(true).encode().expect("a component")
}

/// A grant of a planner for all domains.
pub fn grant(bytes: &[u8], imports: &[Import]) -> Grant {
    let mut grant = Grant::of_nothing("guest", ContentHash::of(bytes));
    grant.stages.insert(Stage::Planner);
    grant.domains.insert(DomainScope::Any);
    grant.imports = imports.iter().copied().collect();
    grant
}

/// A small runtime.
pub fn runtime(edit: impl FnOnce(&mut RuntimeConfig)) -> Runtime {
    let mut config = RuntimeConfig { max_calls: 4, ..RuntimeConfig::default() };
    edit(&mut config);
    Runtime::new(config).expect("a runtime")
}

/// Loads with all imports granted.
pub fn load(runtime: &Runtime, bytes: &[u8]) -> Component {
    try_load(runtime, bytes).unwrap_or_else(|kind| panic!("{kind}"))
}

pub fn try_load(runtime: &Runtime, bytes: &[u8]) -> Result<Component, LoadErrorKind> {
    runtime.load(bytes, &grant(bytes, Import::ALL)).map_err(|error| error.kind)
}

pub fn question() -> PlanInput {
    PlanInput {
        question: "How many bills were raised in July?".to_owned(),
        clock: Clock {
            now: "2026-08-01T09:30:00Z".to_owned(),
            time_zone: "Asia/Kolkata".to_owned(),
            local: CivilTime { year: 2026, month: 8, day: 1, hour: 15, minute: 0, second: 0, weekday: 6 },
            fiscal_year_start: 4,
        },
        prior: None,
        choice: None,
        model_available: false,
        attributes: Vec::new(),
    }
}

type Action = Box<dyn Fn() + Send + Sync>;

/// Services that keep the log and do something at each `server-version`.
pub struct Watched {
    pub lines: Mutex<Vec<String>>,
    at_look_up: Action,
    version: u32,
}

impl Watched {
    pub fn new(at_look_up: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { lines: Mutex::default(), at_look_up: Box::new(at_look_up), version: 150_018 })
    }

    /// A host that says that its server has this version.
    pub fn saying(version: u32) -> Arc<Self> {
        Arc::new(Self { lines: Mutex::default(), at_look_up: Box::new(|| {}), version })
    }
}

impl Services for Watched {
    fn tables(&self) -> Vec<TableSummary> {
        Vec::new()
    }
    fn describe(&self, _: &TableRef) -> Option<TableDetail> {
        None
    }
    fn join_path(&self, _: &TableRef, _: &TableRef, _: u32) -> Vec<Join> {
        Vec::new()
    }
    fn server_version(&self) -> u32 {
        (self.at_look_up)();
        self.version
    }
    fn find_tables(&self, _: &str, _: u32) -> Vec<TableHit> {
        Vec::new()
    }
    fn find_columns(&self, _: &str, _: u32) -> Vec<ColumnHit> {
        Vec::new()
    }
    fn find_values(&self, _: &str, _: u32) -> Vec<ValueHit> {
        Vec::new()
    }
    fn find_examples(&self, _: &str, _: u32) -> Vec<Example> {
        Vec::new()
    }
    fn find_lessons(&self, _: &str, _: u32) -> Vec<Lesson> {
        Vec::new()
    }
    fn find_terms(&self, _: &str, _: u32) -> Vec<Term> {
        Vec::new()
    }
    fn find_passages(&self, _: &str, _: u32) -> Vec<Passage> {
        Vec::new()
    }
    fn check(&self, _: &str) -> Result<Facts, Rejection> {
        Ok(Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals: Vec::new() })
    }
    fn outline(&self, _: &str) -> Result<Vec<Node>, Rejection> {
        Ok(Vec::new())
    }
    fn log(&self, _: Level, message: &str, fields: &[(String, String)]) {
        let fields: String = fields.iter().map(|(key, value)| format!(" {key}={value}")).collect();
        self.lines.lock().unwrap().push(format!("{message}{fields}"));
    }
}
