//! What every command has in common: mistakes that are named, errors for programs, ids that are not there, pipes that close.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Output, Stdio};

use airlock_tests::{Airlock, Host, soon, under_test};
use serde_json::{Value, json};

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The last line of stderr, which is the error, as an object.
fn error(output: &Output) -> Value {
    let text = errors(output);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

fn bare(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = under_test();
    command.args(arguments).current_dir(folder.path());
    command.envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_mistake_is_an_object_that_says_what_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("airlock.toml");
    std::fs::write(&file, "[server]\nlissten = \"127.0.0.1:0\"\n").unwrap();
    let file = file.display().to_string();
    for (arguments, variables, want) in [
        (vec!["serve", "--config", &file], vec![], "did you mean `listen`?"),
        (vec!["serve"], vec![("AIRLOCK_LISSTEN", "127.0.0.1:0")], "did you mean AIRLOCK_LISTEN?"),
        (vec!["doctor", "--config", "/nowhere/airlock.toml"], vec![], "/nowhere/airlock.toml"),
        (vec!["ask"], vec![], "QUESTION"),
        (vec!["asc", "How many?"], vec![], "ask"),
        (vec!["ask", "--choice", "the first", "How many?"], vec![], "--follow-up-of"),
        (vec!["eval", "compare", "/nowhere/a", "/nowhere/b"], vec![], "/nowhere/a"),
        (vec!["domain", "check", "/nowhere/pack"], vec![], "/nowhere/pack cannot be read: No such file"),
        (vec!["domain", "load", "/nowhere/pack"], vec![], "/nowhere/pack cannot be read: No such file"),
        (vec!["plugin", "check", "/nowhere/x.wasm"], vec![], "/nowhere/x.wasm cannot be read: No such file"),
        (
            vec!["plugin", "swap", "repair", "/nowhere/x.wasm"],
            vec![],
            "/nowhere/x.wasm cannot be read: No such file",
        ),
        (vec!["plugin", "swap", "repair", "x.wasm", "--shadow", "0"], vec![], "--shadow"),
        (vec!["plugin", "swap", "repair", "x.wasm", "--shadow", "100001"], vec![], "--shadow"),
        (vec![], vec![], "command"),
    ] {
        let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = bare(&with_json, &variables);
        let said = error(&output);
        assert_eq!((output.status.code(), &said["exit"]), (Some(2), &json!(2)), "{arguments:?}: {said}");
        assert!(said.to_string().contains(want), "{arguments:?}: {said}");
        let output = bare(&arguments, &variables);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!errors(&output).starts_with('{'), "{arguments:?}: {}", errors(&output));
    }
}

#[tokio::test]
async fn ids_pipes_keys_and_logs_are_the_same_for_every_command() {
    let airlock = Airlock::demo().await;
    let nobody = "0198c0de-0000-7000-8000-000000000000";
    let hash = "0".repeat(64);
    for arguments in [
        vec!["examples", "show", nobody],
        vec!["lessons", "show", nobody],
        vec!["golden", "show", nobody],
        vec!["examples", "approve", nobody, "--hash", &hash, "--why", "w"],
        vec!["key", "revoke", nobody],
        vec!["log", "forget", nobody],
        vec!["replay", nobody],
        vec!["feedback", nobody, "right"],
        vec!["stats", "--domain", "nowhere"],
        vec!["drift", "--domain", "nowhere"],
        vec!["domain", "diff", "nowhere"],
        vec!["context", "--domain", "nowhere", "How many?"],
        vec!["ask", "--domain", "nowhere", "How many?"],
        vec!["ask", "--follow-up-of", nobody, "And by month?"],
    ] {
        let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = airlock.command(&with_json, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
        assert!(error(&output)["error"].is_string(), "{arguments:?}");
    }

    // Nobody reads: what was to be done is done, and nothing panics.
    let config = airlock.data.path().join("airlock.toml");
    let unread = |arguments: &[&str], input: &str| {
        let mut child = under_test()
            .args(arguments)
            .env("AIRLOCK_CONFIG", &config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait().unwrap().code()
    };
    let question = "How many bills were ever cancelled?";
    let sql = "SELECT count(*) FROM bills WHERE status = 'CANCELLED'";
    let added = airlock.command(&["examples", "add", "--json", "--question", question, "--sql", sql], "");
    assert_eq!(added.status.code(), Some(0), "{}", errors(&added));
    let added: Value = serde_json::from_slice(&added.stdout).unwrap();
    let id = added["curated"].as_str().unwrap().to_owned();
    let shown = || -> Value {
        let output = airlock.command(&["examples", "show", &id, "--json"], "");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(&output)))
    };
    let seen = shown()["hash"].as_str().unwrap().to_owned();
    let content = json!({"question": "How many bills did we cancel?", "sql": sql}).to_string();
    let edit = ["examples", "edit", &id, "--hash", &seen, "--why", "clearer", "--content", "-"];
    // A list is no object, in whatever order its items stand.
    let list = json!(["How many bills did we cancel?", sql, []]).to_string();
    let with_json: Vec<&str> = edit.iter().copied().chain(["--json"]).collect();
    let refused = airlock.command(&with_json, &list);
    let said = error(&refused)["error"].to_string();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("an object is wanted") && !said.contains("ExampleContent"), "{said}");
    assert_eq!(unread(&edit, &content), Some(0));
    assert!(shown().to_string().contains("did we cancel"), "{}", shown());
    assert_eq!(unread(&["examples", "list"], ""), Some(0));
    assert_eq!(unread(&["examples", "show", nobody], ""), Some(2));
    assert_eq!(unread(&["--help"], ""), Some(0));

    // A log that tells everything still tells no value.
    let saved = airlock.data.path().join("catalogue.json").display().to_string();
    assert!(airlock.command(&["check-sql", "--save-catalogue", &saved], "").status.success());
    let secret = "SELECT count(*) FROM bills WHERE status = 'hunter2'";
    let loud = airlock.command(&["check-sql", "-vv", "--catalogue", &saved], secret);
    assert!(!errors(&loud).contains("hunter2"), "{}", errors(&loud));

    // A server that wants a key gets it from the environment, and knows whose key it was that it refuses.
    let locked = Host::over(&airlock, "locked", |config| {
        config["server"].as_table_mut().unwrap().insert("require_key".to_owned(), true.into());
    });
    let ask = |key: Option<&str>| {
        let mut command = under_test();
        command.args(["ask", "--json", "--server", &locked.url, "How many customers do we have?"]);
        command.envs(key.map(|key| ("AIRLOCK_KEY", key))).output().unwrap()
    };
    let without = ask(None);
    assert_eq!(without.status.code(), Some(2));
    assert!(error(&without)["error"].as_str().unwrap().contains("AIRLOCK_KEY"), "{}", errors(&without));
    let made = airlock.command(&["key", "create", "nightly-report", "--scope", "ask", "--json"], "");
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let key = made["key"].as_str().unwrap();
    let with = ask(Some(key));
    assert_eq!(with.status.code(), Some(0), "{}", errors(&with));
    assert!(airlock.command(&["key", "revoke", made["id"].as_str().unwrap()], "").status.success());
    soon("a key that was taken back opens nothing", async || {
        let output = ask(Some(key));
        if output.status.code() == Some(2) { Ok(()) } else { Err(errors(&output)) }
    })
    .await;
    let log = locked.log();
    let line = log.lines().find(|line| line.contains("bad-key")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("nightly-report") && line.contains("taken back"), "{line}");
}
