//! The operator's side through the real binary: components swapped under load, taken back, verified, shadowed, quarantined,
//! and remembered by a host that was killed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use airlock_tests::{Airlock, NOW, components, eventually, workspace};
use airlock_types::ContentHash;
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const PACK: &str = "hardware-shop";
const GOOD: &str = "How many customers do we have?";

/// A built-in component with another digest: a custom section says nothing to the engine.
fn variant(component: &str, word: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(components().join(format!("{component}.wasm"))).unwrap();
    let name = b"variant";
    bytes.extend([0, u8::try_from(1 + name.len() + word.len()).unwrap(), u8::try_from(name.len()).unwrap()]);
    bytes.extend(name);
    bytes.extend(word.bytes());
    bytes
}

/// A planner that traps on every question.
fn planner_that_traps() -> Vec<u8> {
    let text = r#"(module
        (memory (export "memory") 2)
        (global $top (mut i32) (i32.const 65536))
        (func (export "airlock:plugin/planner@0.1.0#run") (param i32) (result i32) unreachable)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (local $at i32)
            (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
            (global.set $top (i32.add (local.get $at) (local.get 3)))
            (local.get $at)))"#;
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(workspace().join("wit")).unwrap();
    let world = resolve.select_world(&[package], Some("planner-stage")).unwrap();
    let mut module = wat::parse_str(text).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap()
}

/// An operator of one demo.
struct Operator<'a>(&'a Airlock);

impl Operator<'_> {
    /// Puts a component beside the demo's data.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.data.path().join(format!("{name}.wasm"));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Puts a component beside the demo's data and writes its grant.
    fn granted(&self, name: &str, bytes: &[u8], stage: &str, imports: &[&str]) -> PathBuf {
        self.grant(&format!(
            "[[grant]]\ncomponent = \"{name}\"\ndigest = \"{}\"\nstage = [\"{stage}\"]\ndomains = [\"*\"]\nimports = {}\n",
            ContentHash::of(bytes),
            json!(imports)
        ));
        self.file(name, bytes)
    }

    fn grant(&self, text: &str) {
        let path = self.0.data.path().join("grants.toml");
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, format!("{before}\n{text}")).unwrap();
    }

    /// Runs `airlock plugin ... --json`: exit code and the objects it printed.
    fn plugin(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let arguments: Vec<&str> = ["plugin"].iter().chain(arguments).chain(&["--json"]).copied().collect();
        let output = self.0.command(&arguments, "");
        let text = String::from_utf8(output.stdout).unwrap();
        let objects = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output.status.code().unwrap(), objects)
    }

    fn swap(&self, stage: &str, file: &std::path::Path, options: &[&str]) -> (i32, Value) {
        let file = file.to_str().unwrap();
        let arguments: Vec<&str> = ["swap", stage, file].iter().chain(options).copied().collect();
        let (code, mut objects) = self.plugin(&arguments);
        (code, objects.remove(0))
    }

    fn history(&self, stage: &str) -> Vec<String> {
        let (code, entries) = self.plugin(&["history", stage]);
        assert_eq!(code, 0);
        entries.iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect()
    }

    /// What serves a stage of all domains, by its name in the grants.
    fn serving(&self, stage: &str) -> String {
        let (code, listed) = self.plugin(&["list"]);
        assert_eq!(code, 0);
        let serves = |listed: &&Value| {
            let places = listed["serves"].as_array().into_iter().flatten();
            places.into_iter().any(|place| place["stage"] == stage && place["domains"] == "*")
        };
        listed.iter().find(serves).unwrap_or_else(|| panic!("{listed:?}"))["component"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

async fn answered(airlock: &Airlock) {
    let (status, answer) = airlock.ask(GOOD).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
}

const PLANNER: &[&str] = &["catalog", "retrieval", "log"];

/// Asks in flight while components are swapped; a host works on so many at once.
const ASKERS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn swaps_under_load_lose_no_ask() {
    let airlock = Arc::new(Airlock::demo().await);
    let operator = Operator(&airlock);
    let files = ["a", "b"].map(|word| {
        operator.granted(&format!("planner-{word}"), &variant("planner", word), "planner", PLANNER)
    });
    let (over, planners) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(BTreeSet::new())));
    let askers: Vec<_> = (0..ASKERS)
        .map(|_| {
            let (airlock, over, planners) = (Arc::clone(&airlock), Arc::clone(&over), Arc::clone(&planners));
            tokio::spawn(async move {
                let mut asked = 0;
                while !over.load(Ordering::Relaxed) {
                    let (status, answer) = airlock.ask(GOOD).await;
                    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
                    let used = answer["components"].as_array().unwrap().iter();
                    let mut used = used.filter(|used| used["stage"] == "planner");
                    let planner = used.next().unwrap()["component"].as_str().unwrap().to_owned();
                    planners.lock().unwrap().insert(planner);
                    assert!(used.next().is_none(), "an ask keeps what it began with: {answer}");
                    asked += 1;
                }
                asked
            })
        })
        .collect();
    let mut rounds = 0;
    // On a busy machine an ask may outlast several swaps: there are some more until both planners have served.
    while rounds < 20 || !files_served(&planners.lock().unwrap()) {
        let round = rounds;
        rounds += 1;
        assert!(rounds < 1_000, "{:?}", planners.lock().unwrap());
        let (code, swapped) =
            tokio::task::block_in_place(|| operator.swap("planner", &files[round % 2], &[]));
        assert_eq!((code, swapped["reply"].as_str()), (0, Some("swapped")), "{swapped}");
        let lost = if round == 0 { json!(["- model role fast"]) } else { json!([]) };
        assert_eq!(swapped["grant"], lost, "{swapped}");
    }
    over.store(true, Ordering::Relaxed);
    for asker in askers {
        assert!(asker.await.unwrap() > 0);
    }
    assert_eq!(operator.history("planner").len(), rounds);
}

/// Whether asks were served by each of the two planners that take turns.
fn files_served(planners: &BTreeSet<String>) -> bool {
    ["planner-a", "planner-b"].iter().all(|name| planners.contains(*name))
}

#[tokio::test]
async fn what_serves_outlives_a_host_that_is_killed() {
    let airlock = Airlock::demo().await;
    let operator = Operator(&airlock);
    // Another component for the stage is loaded, too; it never served, so nothing is to be gone back to.
    let (code, refused) = operator.plugin(&["rollback", "repair"]);
    assert_eq!((code, refused[0]["reply"].as_str()), (1, Some("refused")), "{refused:?}");
    assert!(refused[0]["why"].as_str().unwrap().contains("nothing to go back to"), "{refused:?}");
    assert_eq!(operator.serving("repair"), "repair");
    let mode = std::fs::metadata(airlock.data.path().join("operator.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A second host over the same socket is refused, and the first one goes on.
    let second = airlock.command(&["serve", "--listen", "127.0.0.1:0"], "");
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("a running host listens there"));

    for word in ["one", "two"] {
        let file =
            operator.granted(&format!("planner-{word}"), &variant("planner", word), "planner", PLANNER);
        assert_eq!(operator.swap("planner", &file, &[]).0, 0);
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(operator.serving("planner"), "planner-two");

    let airlock = Airlock::over(airlock.kill(), PACK, &components(), &[]).await;
    let operator = Operator(&airlock);
    assert_eq!(operator.serving("planner"), "planner-two");
    assert_eq!(operator.history("planner"), ["swapped", "swapped"]);
    answered(&airlock).await;
    let (code, back) = operator.plugin(&["rollback", "planner"]);
    assert_eq!((code, back[0]["to"]["component"].as_str()), (0, Some("planner-one")), "{back:?}");

    // A component that lost its grant does not come back.
    let airlock = Airlock::over(airlock.kill(), PACK, &components(), &[]).await;
    let operator = Operator(&airlock);
    assert_eq!(operator.serving("planner"), "planner-one");
    std::fs::remove_file(airlock.data.path().join("grants.toml")).unwrap();
    let airlock = Airlock::over(airlock.kill(), PACK, &components(), &[]).await;
    let operator = Operator(&airlock);
    assert_eq!(operator.serving("planner"), "planner");
    answered(&airlock).await;
    let (code, refused) = operator.plugin(&["rollback", "planner"]);
    assert_eq!((code, refused[0]["reply"].as_str()), (1, Some("refused")), "{refused:?}");
    assert_eq!(operator.history("planner"), ["swapped", "swapped", "rolled_back"]);
}

#[tokio::test]
async fn a_component_that_traps_is_quarantined_and_the_previous_one_answers() {
    let airlock = Airlock::demo().await;
    let operator = Operator(&airlock);
    // What no grant names is refused with what it wants; the grant it gives is what the operator reviews.
    let file = operator.file("planner-bad", &planner_that_traps());
    let (code, refused) = operator.swap("planner", &file, &[]);
    let why = refused["why"].as_str().unwrap();
    assert_eq!((code, refused["reply"].as_str()), (1, Some("refused")), "{refused}");
    assert!(
        why.contains("no grant names `planner-bad`") && why.contains("wants the imports nothing"),
        "{why}"
    );
    operator.grant(why.split_once("\n\n").unwrap().1);
    let (code, swapped) = operator.swap("planner", &file, &[]);
    assert_eq!(code, 0, "{swapped}");
    assert_eq!(
        swapped["grant"],
        json!(["- import catalog", "- import retrieval", "- import log"]),
        "{swapped}"
    );

    for _ in 0..3 {
        assert_eq!(operator.serving("planner"), "planner-bad");
        let (status, problem) = airlock.ask(GOOD).await;
        assert_eq!((status, problem["code"].as_str()), (502, Some("component-failed")), "{problem}");
    }
    answered(&airlock).await;
    assert_eq!(operator.serving("planner"), "planner");
    let (status, health) = airlock.get("/api/health").await;
    assert_eq!(status, 200, "another serves, so the host is well: {health}");
    assert_eq!(health["quarantined"][0]["component"], "planner-bad", "{health}");
    assert_eq!(health["quarantined"][0]["now"]["consequence"], "brought_back", "{health}");
    assert!(!health.to_string().contains("unreachable"), "why it failed is the operator's: {health}");
    let (_, listed) = operator.plugin(&["list"]);
    assert!(listed.iter().any(|line| line["quarantined"]["component"] == "planner-bad"), "{listed:?}");
    assert_eq!(operator.history("planner"), ["swapped", "quarantined"]);

    // It does not come back by itself, and the next swap answers the quarantine.
    let airlock = Airlock::over(airlock.kill(), PACK, &components(), &[]).await;
    let operator = Operator(&airlock);
    assert_eq!(operator.serving("planner"), "planner");
    let (_, health) = airlock.get("/api/health").await;
    assert_eq!(health["quarantined"][0]["component"], "planner-bad", "{health}");
    let file = operator.granted("planner-good", &variant("planner", "good"), "planner", PLANNER);
    assert_eq!(operator.swap("planner", &file, &[]).0, 0);
    let (_, listed) = operator.plugin(&["list"]);
    assert!(listed.iter().all(|line| line["quarantined"].is_null()), "{listed:?}");
}

#[tokio::test]
async fn a_swap_is_verified_shadowed_or_refused_before_anything_changes() {
    let airlock = Airlock::demo().await;
    let operator = Operator(&airlock);
    let bytes = variant("repair", "narrow");
    let file = operator.granted("repair-narrow", &bytes, "repair", &["catalog", "log"]);
    let (code, refused) = operator.swap("repair", &file, &[]);
    let why = refused["why"].as_str().unwrap();
    assert_eq!(code, 1, "{refused}");
    assert!(why.contains("wants the imports") && why.contains("sql") && why.contains("`imports`"), "{why}");
    let file = operator.granted("planner-x", &variant("planner", "x"), "planner", PLANNER);
    for (stage, file, options, code, words) in [
        ("linker", file.as_path(), &[][..], 1, "does not name stage `linker`"),
        ("planner", file.as_path(), &["--domain", "nowhere"], 1, "nowhere"),
    ] {
        let (got, refused) = operator.swap(stage, file, options);
        assert_eq!(got, code, "{refused}");
        assert!(refused["why"].as_str().unwrap().contains(words), "{refused}");
    }
    let wrong = airlock.command(&["plugin", "swap", "plan", &file.display().to_string()], "");
    assert_eq!(wrong.status.code(), Some(2));

    let empty = airlock.data.path().join("empty.jsonl");
    std::fs::write(&empty, "\n").unwrap();
    let (code, refused) = operator.swap("planner", &file, &["--verify", &empty.display().to_string()]);
    let why = refused["why"].as_str().unwrap();
    assert!(code == 1 && why.contains("empty.jsonl holds no golden case"), "{refused}");

    // One that traps is worse on every case that is right now.
    let bad = operator.granted("planner-bad", &planner_that_traps(), "planner", &[]);
    let (code, refused) = operator.swap("planner", &bad, &["--verify"]);
    let verified = &refused["verified"];
    assert_eq!((code, refused["reply"].as_str()), (1, Some("refused")), "{refused}");
    let right = verified["right_before"].as_u64().unwrap();
    assert!(right > 0 && verified["right_after"] == 0, "{refused}");
    assert_eq!(verified["regressions"].as_array().unwrap().len() as u64, right, "{refused}");
    assert_eq!(operator.serving("planner"), "planner");
    assert_eq!(operator.history("planner"), ["refused"]);
    let (code, forced) = operator.swap("planner", &bad, &["--verify", "--force"]);
    assert_eq!((code, forced["forced"].as_bool()), (0, Some(true)), "{forced}");
    assert_eq!(operator.plugin(&["rollback", "planner"]).0, 0);

    // A file of cases, and one that is as good.
    let cases = airlock.data.path().join("cases.jsonl");
    let case =
        json!({"id": "customers", "question": GOOD, "sql": "SELECT count(*) FROM customers", "now": NOW});
    std::fs::write(&cases, format!("{case}\n")).unwrap();
    let (code, swapped) = operator.swap("planner", &file, &["--verify", cases.to_str().unwrap()]);
    assert_eq!(code, 0, "{swapped}");
    let verified = json!({"cases": 1, "right_before": 1, "right_after": 1, "reached": 1, "regressions": []});
    assert_eq!(swapped["verified"], verified, "{swapped}");

    // Beside what serves: as good, then one that fails; the asks notice nothing.
    for (name, same) in [("planner-y", true), ("planner-bad", false)] {
        let file = if same {
            operator.granted(name, &variant("planner", "y"), "planner", PLANNER)
        } else {
            bad.clone()
        };
        let (code, shadowing) = operator.swap("planner", &file, &["--shadow", "2"]);
        assert_eq!((code, shadowing["reply"].as_str()), (0, Some("shadowing")), "{shadowing}");
        let report = eventually("the shadow ends", async || {
            answered(&airlock).await;
            let (_, entries) = operator.plugin(&["history", "planner"]);
            let last = entries.last().unwrap();
            let is_its = last["event"] == "shadowed" && last["report"]["component"] == name;
            if is_its { Ok(last["report"].clone()) } else { Err(last.clone()) }
        })
        .await;
        let counts = ["ran", "same", "different", "failed"].map(|key| report[key].as_u64().unwrap());
        assert_eq!(counts, if same { [2, 2, 0, 0] } else { [2, 0, 0, 2] }, "{report}");
    }
    assert_eq!(operator.serving("planner"), "planner-x");

    // What served a domain before it has one of its own is what serves all.
    let own = variant("planner", "own");
    operator.grant(&format!(
        "[[grant]]\ncomponent = \"planner-own\"\ndigest = \"{}\"\nstage = [\"planner\"]\ndomains = [\"hardware-shop\"]\nimports = {}\n",
        ContentHash::of(&own),
        json!(PLANNER)
    ));
    let own = operator.file("planner-own", &own);
    let (code, swapped) = operator.swap("planner", &own, &["--domain", "hardware-shop"]);
    assert_eq!((code, &swapped["from"]["component"]), (0, &json!("planner-x")), "{swapped}");
    let (code, back) = operator.plugin(&["rollback", "planner", "--domain", "hardware-shop"]);
    let (from, to) = (&back[0]["from"]["component"], &back[0]["to"]["component"]);
    assert_eq!((code, from, to), (0, &json!("planner-own"), &json!("planner-x")), "{back:?}");
}
