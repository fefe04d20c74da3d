//! A schema that moves away from what people wrote about: told everywhere, and nothing is taken out of service by it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, Host, Said, ScriptedModel, eventually, workspace};
use serde_json::Value;

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// What `airlock drift` says: its exit code, and kind, table and column of each change.
fn drift(airlock: &Airlock) -> (Option<i32>, Vec<String>, Value) {
    let output = airlock.command(&["drift", "--json"], "");
    let line = lines(&output).remove(0);
    let words = |change: &Value| {
        let word = |field: &str| change[field].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}.{}",
            word("kind"),
            change["table"]["name"].as_str().unwrap_or_default(),
            word("column")
        )
    };
    let changes = line["changes"].as_array().unwrap().iter().map(words).collect();
    (output.status.code(), changes, line)
}

#[tokio::test]
async fn a_host_tells_of_drift_and_starts_over_it() {
    let airlock = Airlock::demo().await;
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let owner = postgres.connect("hardware_shop").await.unwrap();
    let change =
        async |sql: &str| owner.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));

    assert_eq!((drift(&airlock).0, drift(&airlock).1), (Some(0), Vec::new()));
    // More than there was is no drift.
    change(
        "ALTER TABLE payments ALTER COLUMN amt TYPE numeric(20, 4); ALTER TABLE payments ADD COLUMN channel text;
         CREATE TABLE visits (id int PRIMARY KEY)",
    )
    .await;
    let (exit, changes, _) = drift(&airlock);
    assert_eq!((exit, changes), (Some(0), Vec::new()));

    // Less is.
    change("ALTER TABLE payments ALTER COLUMN amt TYPE numeric(20, 0)").await;
    let (exit, changes, told) = drift(&airlock);
    assert_eq!((exit, changes), (Some(1), vec!["narrowed payments.amt".to_owned()]), "{told}");
    assert_eq!(told["marked"][0]["note"], true, "{told}");
    let examples = told["marked"][0]["examples"].to_string();
    assert!(examples.contains("collected-by-method") && !examples.contains("low-stock"), "{told}");
    let shown = airlock.command(&["drift"], "");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("public.payments.amt holds less than it did"), "{text}");

    // What notes and golden SQL name goes.
    change(
        "ALTER TABLE payments DROP COLUMN channel; ALTER TABLE payments RENAME COLUMN method TO means;
         DROP TABLE stock_adjustments CASCADE",
    )
    .await;
    let (exit, changes, told) = drift(&airlock);
    assert_eq!(exit, Some(1));
    for want in ["column-gone payments.method", "table-gone stock_adjustments."] {
        assert!(changes.iter().any(|change| change == want), "{want}: {changes:?}");
    }
    assert!(told.to_string().contains("\"renamed\":\"means\""), "{told}");
    // Names and types, and nothing of a row.
    assert!(!told["changes"].to_string().contains("UPI"), "{told}");

    // The host that runs knows it although nobody asked.
    let health = eventually("the host knows what its pack lost", async || {
        let health = airlock.get("/api/health").await.1;
        let lost = health["drift"][0]["lost"]["problems"].as_array().is_some_and(|lost| !lost.is_empty());
        if lost { Ok(health) } else { Err(health) }
    })
    .await;
    assert!(health["drift"][0]["changes"].to_string().contains("stock_adjustments"), "{health}");
    assert_eq!(airlock.get("/readyz").await.0, 200);

    // So does one that starts now, and it serves what still holds.
    let second = Host::over(&airlock, "second", |_| {});
    let (_, health) = second.get("/api/health").await;
    assert!(health["drift"][0]["lost"]["problems"].to_string().contains("method"), "{health}");
    let (_, answer) = second.ask("How many bills were raised in March 2025?").await;
    assert_eq!(answer["outcome"], "answered", "{answer}");
    assert!(!answer["warnings"].to_string().contains("stock_adjustments"), "{answer}");
    let (_, refused) = second.ask("What is the weather on the moon?").await;
    assert_eq!(refused["outcome"], "refused", "{refused}");
    assert!(refused["warnings"].to_string().contains("stock_adjustments is gone"), "{refused}");

    // Commands go on as well, with a warning for each part that is left out.
    let context =
        airlock.command(&["context", "--json", "How much did we collect by payments in October 2026?"], "");
    let errors = String::from_utf8_lossy(&context.stderr).into_owned();
    assert_eq!(context.status.code(), Some(0), "{errors}");
    assert!(errors.contains("is left out") && errors.contains("stock_adjustments"), "{errors}");
    let blocks = lines(&context);
    let block = blocks.iter().find(|block| block["kind"] == "drift").unwrap_or_else(|| panic!("{blocks:?}"));
    assert!(block["text"].as_str().unwrap().contains("public.payments"), "{block}");
    let check = airlock.command(&["check-sql"], "SELECT count(*) FROM bills");
    assert_eq!(check.status.code(), Some(0), "{}", String::from_utf8_lossy(&check.stderr));
    let recheck = airlock.command(&["knowledge", "recheck", "--json"], "");
    assert!(String::from_utf8_lossy(&recheck.stdout).contains("table-gone"), "{recheck:?}");

    // To put a pack in use is another matter.
    let pack = workspace().join("domains/hardware-shop").display().to_string();
    for verb in ["check", "load"] {
        let strict = airlock.command(&["domain", verb, &pack, "--json"], "");
        assert_eq!(strict.status.code(), Some(1), "{verb}: {strict:?}");
        assert!(String::from_utf8_lossy(&strict.stdout).contains("stock_adjustments"), "{verb}: {strict:?}");
    }

    // What is accepted drifts no more; the pack still names what is not there.
    let once = |said: &Output| {
        let all = [&*said.stdout, &*said.stderr].concat();
        let all = String::from_utf8_lossy(&all).into_owned();
        for problem in told["lost"]["problems"].as_array().unwrap() {
            let what = problem["what"].as_str().unwrap();
            let there = |line: &&str| line.contains(what);
            let (file, line) = (problem["spot"]["file"].as_str().unwrap(), &problem["spot"]["line"]);
            let place = format!("{file}:{line}: ");
            let said = all.lines().filter(there).filter(|line| line.contains(&place)).count();
            assert_eq!(said, 1, "{place}{what}: {all}");
        }
    };
    once(&airlock.command(&["drift"], ""));
    let accepted = airlock.command(&["drift", "--accept"], "");
    let text = String::from_utf8_lossy(&accepted.stdout).into_owned();
    assert_eq!(accepted.status.code(), Some(0), "{text}");
    assert!(text.contains("accepted: ") && text.contains("mend the pack"), "{text}");
    let again = lines(&airlock.command(&["drift", "--accept", "--json"], "")).remove(0);
    assert!(again["note"].as_str().is_some_and(|note| note.contains("the pack still names")), "{again}");
    assert!(told["note"].is_null(), "{told}");
    let (exit, changes, told) = drift(&airlock);
    assert_eq!((exit, changes), (Some(1), Vec::new()), "{told}");
    assert!(told["lost"]["problems"].to_string().contains("stock_adjustments"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_stays_here_when_its_column_or_its_table_is_renamed() {
    const PIN: &str = "7193";
    let sql = Arc::new(Mutex::new(String::new()));
    let said = Arc::clone(&sql);
    let model = ScriptedModel::start(move |prompt| {
        let writes = prompt.contains("You write one PostgreSQL query");
        if writes { Said::Text(said.lock().unwrap().clone()) } else { Said::Status(400) }
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let owner = postgres.connect("hardware_shop").await.unwrap();
    let ask = async |question: &str, text: &str| {
        text.clone_into(&mut sql.lock().unwrap());
        let before = model.prompts().len();
        let (_, answer) = airlock.ask(question).await;
        assert_eq!(answer["outcome"], "answered", "{answer}");
        (answer["rows"].to_string(), model.prompts().split_off(before))
    };
    let phrased =
        |prompts: &[String]| prompts.iter().any(|prompt| !prompt.contains("You write one PostgreSQL"));

    let (rows, prompts) = ask("Which status has the latest bill?", "SELECT status FROM bills LIMIT 1").await;
    assert!(phrased(&prompts), "what the pack permits is phrased by the model: {rows}");
    for (change, table) in [
        ("SELECT 1", "store_settings"),
        ("ALTER TABLE store_settings RENAME COLUMN sval TO v2", "store_settings"),
        ("ALTER TABLE store_settings RENAME TO settings_now", "settings_now"),
    ] {
        owner.batch_execute(change).await.unwrap();
        for accepted in [false, true] {
            // The host looks at its source at most once a second.
            tokio::time::sleep(Duration::from_millis(1_200)).await;
            let text = format!("SELECT * FROM {table} WHERE skey = 'till.pin' AND {accepted} IS NOT NULL");
            let (rows, prompts) = ask("What are the settings of the till?", &text).await;
            assert!(rows.contains(PIN), "{change}: {rows}");
            assert!(!prompts.iter().any(|prompt| prompt.contains(PIN)), "{change}, accepted {accepted}");
            assert!(!phrased(&prompts), "{change}, accepted {accepted}: {prompts:?}");
            let accepting = airlock.command(&["drift", "--accept"], "");
            assert_eq!(accepting.status.code(), Some(0), "{accepting:?}");
        }
    }
    // What the pack names still goes as it permits.
    let (_, prompts) = ask("Which status has the first bill?", "SELECT status FROM bills LIMIT 1").await;
    assert!(phrased(&prompts));
}
