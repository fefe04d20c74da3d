//! The adapter of equipment-fleet in Rust, Python and JavaScript: the same answers to the same questions, and each of them
//! in the real host.
//!
//! `cargo xtask languages` makes the two that are not Rust. Where it could not, these tests say so and are skipped.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_runtime::contract::domain::Candidate;
use airlock_runtime::contract::sql::{Facts, Node, Rejection};
use airlock_runtime::contract::types::{CivilTime, Clock};
use airlock_runtime::{
    Asked, Component, DomainScope, Grant, Import, LookUp, Recorded, Runtime, RuntimeConfig, Services, Stage,
    Told,
};
use airlock_tests::{Airlock, components, workspace};
use airlock_types::ContentHash;
use serde::Deserialize;
use serde_json::Value;

const PACK: &str = "equipment-fleet";
/// What an engine of another language needs beyond a Rust component, as a grant says it.
const MEMORY_MIB: u16 = 256;
const INSTANCES: u16 = 64;
/// The engines import the whole of an interface that lends a type: `catalog`, of which `work` uses `join`.
const IMPORTS: [Import; 3] = [Import::Sql, Import::Log, Import::Catalog];

/// The component in this language, or nothing, said aloud.
fn in_language(language: &str) -> Option<PathBuf> {
    let folder = components().parent().unwrap().join("languages");
    let file = folder.join(format!("{PACK}-{language}.wasm"));
    if file.is_file() {
        return Some(file);
    }
    eprintln!("SKIPPED: there is no {}; `cargo xtask languages` says why", file.display());
    None
}

/// What the gate said of each text, as the adapter's own tests have it.
#[derive(Deserialize)]
struct Gate {
    checks: BTreeMap<String, Result<Facts, Rejection>>,
    outlines: BTreeMap<String, Result<Vec<Node>, Rejection>>,
}

fn gate() -> Gate {
    let file = workspace().join("domains").join(PACK).join("adapter/src/recorded.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn services(gate: &Gate) -> Arc<dyn Services> {
    let checks = gate.checks.iter().map(|(text, told)| LookUp {
        asked: Asked::Check { text: text.clone() },
        told: Told::Check(told.clone()),
    });
    let outlines = gate.outlines.iter().map(|(text, told)| LookUp {
        asked: Asked::Outline { text: text.clone() },
        told: Told::Outline(told.clone()),
    });
    Arc::new(Recorded::new(checks.chain(outlines).collect()))
}

fn clock() -> Clock {
    Clock {
        now: "2026-11-29T12:00:00Z".to_owned(),
        time_zone: "Europe/Berlin".to_owned(),
        local: CivilTime { year: 2026, month: 11, day: 29, hour: 13, minute: 0, second: 0, weekday: 7 },
        fiscal_year_start: 1,
    }
}

fn load(runtime: &Runtime, file: &Path) -> Component {
    let bytes = std::fs::read(file).unwrap();
    let mut grant = Grant::of_nothing(PACK, ContentHash::of(&bytes));
    grant.stages.insert(Stage::Domain);
    grant.domains.insert(DomainScope::Any);
    grant.imports = IMPORTS.into();
    grant.limits.memory_mib = Some(MEMORY_MIB);
    grant.limits.instances = Some(INSTANCES);
    runtime.load(&bytes, &grant).unwrap()
}

/// Everything an adapter says to a table of questions, texts and candidates.
async fn said(runtime: &Runtime, adapter: &Component, gate: &Gate) -> BTreeMap<String, String> {
    let (services, clock) = (services(gate), clock());
    let mut said = BTreeMap::new();
    for question in QUESTIONS {
        let found = runtime.canonicalize(adapter, services.clone(), question, &clock).await;
        said.insert(format!("question: {question}"), format!("{found:?}"));
        let candidate = Candidate { kind: "lesson".to_owned(), text: (*question).to_owned(), sql: None };
        let opinion = runtime.judge(adapter, services.clone(), &candidate).await;
        said.insert(format!("lesson: {question}"), format!("{opinion:?}"));
    }
    for (text, facts) in &gate.checks {
        let facts = facts.clone().unwrap();
        let findings = runtime.review(adapter, services.clone(), text, &facts, &clock).await;
        said.insert(format!("text: {text}"), format!("{findings:?}"));
        let candidate =
            Candidate { kind: "example".to_owned(), text: "Which?".to_owned(), sql: Some(text.clone()) };
        let opinion = runtime.judge(adapter, services.clone(), &candidate).await;
        said.insert(format!("example: {text}"), format!("{opinion:?}"));
    }
    // The gate says of this one that it does not pass, and has no outline of it.
    let unread = "DROP TABLE machines";
    let candidate =
        Candidate { kind: "example".to_owned(), text: String::new(), sql: Some(unread.to_owned()) };
    let opinion = runtime.judge(adapter, services.clone(), &candidate).await;
    said.insert("a text the gate refuses".to_owned(), format!("{opinion:?}"));
    let facts =
        Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals: Vec::new() };
    let refusal = runtime.review(adapter, services.clone(), unread, &facts, &clock).await.unwrap_err();
    said.insert("a text without an outline".to_owned(), refusal.kind.to_string());
    let lessons = runtime.seed_lessons(adapter, services).await;
    said.insert("lessons".to_owned(), format!("{lessons:?}"));
    said
}

const QUESTIONS: &[&str] = &[
    "",
    "How many machines?",
    "Downtime of SN-00412 in 2025?",
    "Downtime of sn 412 in 2025?",
    "(S/N 00412-A).",
    "SN00412",
    "s/n:412",
    "Serial no. 412",
    "S.N. 00412",
    "sn0412/B",
    "serial #412",
    "serial number 412",
    "serial number: #412",
    "MK-00412",
    "mk 412",
    "SN - 412",
    "SN\u{2011}00412",
    "sn412c",
    "SN 000000000000000000000412",
    "sn 412, MK-00423 and S/N 7-B",
    "MK-00001 beside mk 1",
    "snow 412",
    "asn 412",
    "\u{e9}sn 412",
    "\u{212a}SN 412",
    "\u{17f}n 412",
    "serials 412",
    "serial killers 412",
    "SN 1234567",
    "SN-0",
    "SN",
    "sn412ab",
    "sn412\u{e4}",
    "sn_412",
    "RC-24-0412",
    "\u{1f69c} sn 412",
    "\u{1f69c}sn 412\u{1f69c}",
    "sn .....412",
    "sn\u{a0}412",
];

async fn is_the_same(language: &str) {
    let Some(file) = in_language(language) else { return };
    let runtime = Runtime::new(RuntimeConfig {
        max_calls: 2,
        // Half a minute of compiling the first time.
        cache_dir: Some(file.with_file_name("compiled")),
        ..RuntimeConfig::default()
    })
    .unwrap();
    let gate = gate();
    let rust = load(&runtime, &components().join(format!("{PACK}.wasm")));
    let other = load(&runtime, &file);
    assert!(other.imports().iter().all(|import| IMPORTS.contains(import)));
    let (want, got) = (said(&runtime, &rust, &gate).await, said(&runtime, &other, &gate).await);
    assert!(want.len() > 140, "{}", want.len());
    let different: Vec<_> = want
        .iter()
        .filter(|(key, want)| got[*key] != **want)
        .map(|(key, want)| (key, want, &got[key]))
        .collect();
    assert!(different.is_empty(), "{language}: {different:#?}");
}

/// The Python one and the JavaScript one are large: one after the other.
#[tokio::test]
async fn adapters_in_other_languages_say_the_same() {
    is_the_same("python").await;
    is_the_same("javascript").await;
}

#[tokio::test]
async fn adapters_in_other_languages_serve_in_the_host() {
    for language in ["python", "javascript"] {
        let Some(file) = in_language(language) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let digest = instead(&file, folder.path());
        let airlock = Airlock::of_pack(PACK, folder.path(), &[]).await;
        let (status, answer) = airlock.ask("What was the downtime of s/n:412 in 2024?").await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{language}: {answer}");
        assert!(answer["sql"].as_str().unwrap().contains("'MK-00412'"), "{language}: {answer}");
        let adapter = |used: &&Value| used["stage"] == "domain";
        let adapter = answer["components"].as_array().unwrap().iter().find(adapter).unwrap();
        assert_eq!(adapter["digest"], digest, "{language}: {answer}");
        // Blocked, with no model to write another text.
        let (_, answer) = airlock.ask("What is the sum of fuel litres of all meter readings?").await;
        assert_ne!(answer["outcome"], "answered", "{language}: {answer}");
    }
}

/// Copies the folder of components with this adapter instead of the Rust one; gives its digest.
fn instead(adapter: &Path, to: &Path) -> String {
    for entry in std::fs::read_dir(components()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let bytes = std::fs::read(adapter).unwrap();
    let digest = ContentHash::of(&bytes).to_string();
    std::fs::write(to.join(format!("{PACK}.wasm")), bytes).unwrap();
    let file = to.join("grants.toml");
    let grants = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = grants.split_once(&format!("component = \"{PACK}\"\n")).unwrap();
    let (_old, after) = rest.split_once('\n').unwrap();
    let granted = format!(
        "{before}component = \"{PACK}\"\ndigest = \"{digest}\"\n\
         limits = {{ memory_mib = {MEMORY_MIB}, instances = {INSTANCES} }}\n{}",
        after.replacen("imports = [", "imports = [\"catalog\", ", 1)
    );
    std::fs::write(file, granted).unwrap();
    digest
}
