//! The log of asks: what is in it, what is not, what is counted of it, how long it is kept, and an ask run again from it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::OnceLock;

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, Host, NOW, Said, ScriptedModel, components, end_connections, eventually};
use airlock_types::ContentHash;
use serde_json::{Value, json};
use tokio_postgres::Client;

const CUSTOMERS: &str = "How many customers do we have?";
const HARD: &str = "Which three bills were the largest of all, and by how much?";
const WRITTEN: &str = "SELECT bill_no, total_amt FROM bills ORDER BY total_amt DESC, bill_no LIMIT 3";

/// The demo's store and its data source, as the administrator.
async fn databases(airlock: &Airlock) -> (PrivatePostgres, Client, Client) {
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let store = postgres.connect("airlock").await.unwrap();
    let source = postgres.connect("hardware_shop").await.unwrap();
    (postgres, store, source)
}

/// A row of the log, as soon as it is there.
async fn logged(store: &Client, ask: &str) -> Value {
    let query = "SELECT to_jsonb(a)::text FROM airlock.asks a WHERE id::text = $1";
    eventually("the ask is logged", async || {
        let row = store.query_opt(query, &[&ask]).await.unwrap();
        row.map(|row| serde_json::from_str(row.get(0)).unwrap()).ok_or(ask)
    })
    .await
}

async fn count(store: &Client) -> i64 {
    store.query_one("SELECT count(*) FROM airlock.asks", &[]).await.unwrap().get(0)
}

fn id(answer: &Value) -> String {
    answer["ask_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Runs a command with `--json`: exit code and what it printed.
fn run(airlock: &Airlock, arguments: &[&str]) -> (Option<i32>, Value) {
    let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
    let output = airlock.command(&arguments, "");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_str(&text).unwrap_or_else(|_| Value::String(error.into_owned()));
    (output.status.code(), value)
}

#[tokio::test]
async fn an_ask_is_logged_once_counted_and_forgotten_and_a_measurement_is_none() {
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("You phrase the answer") => "The three largest bills.".into(),
        _ if prompt.contains(HARD) && prompt.contains("no_such_column") => WRITTEN.into(),
        _ if prompt.contains(HARD) => "SELECT bill_no, no_such_column FROM bills LIMIT 3".into(),
        _ => "I do not know this question.".into(),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (_postgres, store, _) = databases(&airlock).await;
    let (_, answer) = airlock.ask(HARD).await;
    assert_eq!(
        (answer["outcome"].as_str(), answer["attempts"].as_u64()),
        (Some("answered"), Some(2)),
        "{answer}"
    );
    let row = logged(&store, &id(&answer)).await;
    for (column, want) in [
        ("question", json!(HARD)),
        ("domain", json!("hardware-shop")),
        ("outcome", json!("answered")),
        ("final_sql", answer["sql"].clone()),
        ("attempts_used", json!(2)),
        ("error_types", json!(["unknown_column"])),
        ("gave_up", json!(false)),
        ("refused", json!(false)),
        ("rows_returned", json!(3)),
        ("latency_ms", answer["latency_ms"].clone()),
        ("tokens_input", answer["tokens"]["input"].clone()),
        ("tokens_output", answer["tokens"]["output"].clone()),
        // The price of the scripted model is unknown, and that is not 0.
        ("cost_usd", Value::Null),
        ("model", json!("scripted")),
        ("trace_id", answer["trace_id"].clone()),
        ("components", answer["components"].clone()),
        ("lessons", answer["lessons"].clone()),
        ("examples", answer["examples"].clone()),
        ("surface", json!("http")),
        ("mode", json!("agent")),
    ] {
        assert_eq!(row[column], want, "{column}: {row}");
    }
    assert!(row["components"].as_array().unwrap().iter().all(|used| used["digest"].is_string()), "{row}");
    assert_eq!(row["models"][0]["tokens"], answer["tokens"], "{row}");
    let record = row["record"].to_string();
    let cell = answer["rows"][0][0].to_string();
    assert!(
        record.contains("The three largest bills.") && !record.contains(cell.trim_matches('"')),
        "{record}"
    );

    // What is measured is no ask.
    let before = count(&store).await;
    let questions = airlock.data.path().join("questions.jsonl");
    std::fs::write(
        &questions,
        json!({"id": "1", "question": CUSTOMERS, "sql": "SELECT count(*) FROM customers"}).to_string(),
    )
    .unwrap();
    let (questions, out) =
        (questions.display().to_string(), airlock.data.path().join("out").display().to_string());
    let evaluated = airlock
        .command(&["eval", "run", "--questions", &questions, "--domain", "hardware-shop", "--out", &out], "");
    assert!(evaluated.status.success(), "{}", String::from_utf8_lossy(&evaluated.stderr));
    let shown = airlock.command(&["context", CUSTOMERS], "");
    assert!(shown.status.success());
    assert_eq!(count(&store).await, before);

    let (code, stats) = run(&airlock, &["stats"]);
    let all = &stats["stats"]["all"];
    assert_eq!(
        (code, all["asks"].as_i64(), all["repaired"].as_i64()),
        (Some(0), Some(before), Some(1)),
        "{stats}"
    );
    assert_eq!(stats["stats"]["error_types"], json!([{"name": "unknown_column", "count": 1}]));
    assert_eq!(stats["stats"]["models"][0]["cost_usd"], Value::Null, "{stats}");
    let (status, over_http) = airlock.get("/api/stats?days=7&domain=hardware-shop").await;
    assert_eq!((status, &over_http["stats"]["all"]), (200, all), "{over_http}");
    for (query, status, field) in [
        ("days=0", 422, "days"),
        ("days=367", 422, "days"),
        ("domain=elsewhere", 404, "domain"),
        ("day=3", 400, ""),
    ] {
        let (got, problem) = airlock.get(&format!("/api/stats?{query}")).await;
        assert_eq!((got, problem["field"].as_str().unwrap_or_default()), (status, field), "{problem}");
    }

    let ask = id(&answer);
    let (code, gone) = run(&airlock, &["log", "forget", &ask]);
    assert!(code == Some(0) && gone["rows"].as_i64().unwrap() >= 2, "{gone}");
    assert_eq!(run(&airlock, &["log", "forget", &ask]).0, Some(2));
    let left = "SELECT count(*) FROM airlock.asks a FULL JOIN airlock.signals s ON s.ask = a.id WHERE COALESCE(a.id, s.ask)::text = $1";
    assert_eq!(store.query_one(left, &[&ask]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(run(&airlock, &["replay", &ask]).0, Some(2));

    // What is too old goes; the rest stays.
    store.execute("UPDATE airlock.asks SET asked_at = now() - interval '91 days'", &[]).await.unwrap();
    let (_, answer) = airlock.ask(CUSTOMERS).await;
    logged(&store, &id(&answer)).await;
    let (code, gone) = run(&airlock, &["log", "retain"]);
    assert_eq!((code, gone["gone"]["asks"].as_i64()), (Some(0), Some(before - 1)), "{gone}");
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn a_log_that_is_off_or_behind_is_told_and_asks_wait_for_their_store() {
    let airlock = Airlock::demo().await;
    let (postgres, store, _) = databases(&airlock).await;
    let off = Host::over(&airlock, "off", |config| {
        config.insert("log".to_owned(), toml::Table::from_iter([("asks".to_owned(), false.into())]).into());
    });
    // The demo's own ask, by which it begins, is logged before any later one.
    let (_, first) = airlock.ask(CUSTOMERS).await;
    logged(&store, &id(&first)).await;
    let before = count(&store).await;
    assert_eq!(off.ask(CUSTOMERS).await.1["outcome"], "answered");
    let check = |health: &Value| {
        let checks = health["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == "asks-are-logged").unwrap().clone()
    };
    let (_, health) = off.get("/api/health").await;
    assert_eq!(
        (health["log"]["state"].as_str(), check(&health)["outcome"].as_str()),
        (Some("off"), Some("skipped"))
    );
    let doctor = off.command(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert!(check(&doctor)["found"].as_str().unwrap().contains("[log] asks = false"), "{doctor}");

    // Logging goes on where learning is off.
    let logs = Host::over(&airlock, "logs", |config| {
        let learning = [("examples".to_owned(), false.into()), ("lessons".to_owned(), false.into())];
        config.insert("learning".to_owned(), toml::Table::from_iter(learning).into());
    });
    let (_, answer) = logs.ask(CUSTOMERS).await;
    logged(&store, &id(&answer)).await;
    assert_eq!(count(&store).await, before + 1, "of the two hosts one logs");

    let server = postgres.connect("postgres").await.unwrap();
    server.batch_execute("ALTER DATABASE airlock WITH ALLOW_CONNECTIONS false").await.unwrap();
    end_connections(&server, "airlock").await;
    let (_, answer) = logs.ask(CUSTOMERS).await;
    assert_eq!(answer["outcome"], "answered");
    let behind = eventually("the log is behind", async || {
        let (_, health) = logs.get("/api/health").await;
        if health["log"]["state"] == "behind" { Ok(health) } else { Err(health) }
    })
    .await;
    assert_eq!(behind["log"]["waiting"], 1, "{behind}");
    assert_eq!(check(&behind)["outcome"], "failed");
    server.batch_execute("ALTER DATABASE airlock WITH ALLOW_CONNECTIONS true").await.unwrap();
    let row = logged(&store_again(&postgres).await, &id(&answer)).await;
    assert_eq!(row["question"], CUSTOMERS, "what waited is written");
}

#[tokio::test]
async fn what_is_asked_with_an_identity_is_logged_without_literals_and_neither_recorded_nor_learned_from() {
    let airlock = Airlock::demo().await;
    let (_postgres, store, _) = databases(&airlock).await;
    let (code, made) =
        run(&airlock, &["key", "create", "app", "--scope", "ask", "--setting", "app.user_id=7"]);
    assert_eq!(code, Some(0), "{made}");
    let question = "How many bills with status paid are there?";
    let ask = async |key: Option<&str>| -> Value {
        let request = airlock_tests::client().post(format!("{}/api/ask", airlock.url));
        let request = match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let body = json!({"question": question, "now": NOW}).to_string();
        let sent = request.header("content-type", "application/json").body(body).send().await.unwrap();
        serde_json::from_str(&sent.text().await.unwrap()).unwrap()
    };
    let named = ask(made["key"].as_str()).await;
    assert!(named["outcome"] == "answered" && named["sql"].to_string().contains("PAID"), "{named}");
    let row = logged(&store, &id(&named)).await;
    let sql = row["final_sql"].as_str().unwrap();
    assert!(sql.contains("$1") && !sql.to_uppercase().contains("PAID"), "{row}");
    assert_eq!((&row["record"], &row["question"]), (&Value::Null, &json!(question)), "{row}");
    let signal =
        "SELECT question IS NULL AND sql NOT ILIKE '%paid%' FROM airlock.signals WHERE ask::text = $1";
    assert!(store.query_one(signal, &[&id(&named)]).await.unwrap().get::<_, bool>(0));
    let (code, _, said) = replay(&airlock, &id(&named));
    assert!(code == Some(2) && said.to_string().contains("identity"), "{said}");

    // The same ask of nobody in particular is kept whole, and proposed.
    let plain = ask(None).await;
    assert!(logged(&store, &id(&plain)).await["final_sql"].to_string().contains("PAID"));
    let proposed = "SELECT made_by FROM airlock.candidates WHERE kind = 'example'";
    let by = eventually("the plain one is proposed", async || {
        let rows = store.query(proposed, &[]).await.unwrap();
        let by: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        if by.iter().any(|by| by.contains(&id(&plain))) { Ok(by) } else { Err(format!("{by:?}")) }
    })
    .await;
    assert!(!by.iter().any(|by| by.contains(&id(&named))), "{by:?}");
}

/// A value of a person is found by nobody but the asker's own SQL: its spelling is not looked up, an ask that touches such a
/// column is not distilled, and what does leave for a model after an answer is written down by the id of its ask.
#[tokio::test]
async fn what_is_personal_is_told_to_no_model_and_what_leaves_after_an_answer_is_written_down() {
    static STORED: OnceLock<String> = OnceLock::new();
    const HOME: &str = "Where does that customer of ours live who bought so much on credit?";
    const AGAIN: &str = "Which town is the customer from whom we know by name alone?";
    let misspelt =
        || format!("SELECT city FROM customers WHERE cust_name = '{}'", STORED.get().unwrap().to_uppercase());
    let model = ScriptedModel::start(move |prompt| match prompt {
        _ if prompt.contains("You phrase the answer") => "As it is.".into(),
        _ if prompt.contains("then ran:") => "NOTHING".into(),
        _ if prompt.contains(HOME) => Said::Text(misspelt()),
        _ if prompt.contains(AGAIN) && prompt.contains("no_such_column") => {
            Said::Text(format!("SELECT city FROM customers WHERE cust_name = '{}'", STORED.get().unwrap()))
        }
        _ if prompt.contains(AGAIN) => {
            "SELECT no_such_column FROM customers WHERE cust_name = 'A Name of Nobody at all'".into()
        }
        _ if prompt.contains(HARD) && prompt.contains("no_such_column") => WRITTEN.into(),
        _ if prompt.contains(HARD) => {
            "SELECT bill_no, no_such_column FROM bills WHERE status <> 'CANCELLED' ORDER BY bill_no LIMIT 3"
                .into()
        }
        _ => "I do not know this question.".into(),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (_postgres, store, source) = databases(&airlock).await;
    let query =
        "SELECT cust_name FROM customers WHERE cust_name <> upper(cust_name) ORDER BY cust_id LIMIT 1";
    STORED.set(source.query_one(query, &[]).await.unwrap().get(0)).unwrap();
    let stored = STORED.get().unwrap();

    let (_, home) = airlock.ask(HOME).await;
    assert_eq!((home["outcome"].as_str(), home["row_count"].as_u64()), (Some("answered"), Some(0)), "{home}");
    assert!(!home.to_string().contains(stored.as_str()), "{home}");
    assert!(
        home["answer"].as_str().unwrap().contains("Without the condition on customers.cust_name"),
        "{home}"
    );
    assert!(!model.prompts().iter().any(|prompt| prompt.contains(stored.as_str())), "{:?}", model.prompts());

    // Something failed and then gave rows: of people, so that nothing is distilled.
    let (_, again) = airlock.ask(AGAIN).await;
    assert!(again["row_count"].as_u64() >= Some(1) && again["attempts"] == 2, "{again}");
    let (_, hard) = airlock.ask(HARD).await;
    assert_eq!(hard["attempts"].as_u64(), Some(2), "{hard}");
    let query = "SELECT hash, purpose, role, model, characters FROM airlock.sent WHERE ask::text = $1";
    let row = eventually("what leaves after the answer is logged", async || {
        store.query_opt(query, &[&id(&hard)]).await.unwrap().ok_or("nothing")
    })
    .await;
    let distilled: Vec<String> = eventually("the model is asked for a lesson", async || {
        let prompts = model.prompts().into_iter().filter(|prompt| prompt.contains("then ran:"));
        let prompts: Vec<String> = prompts.collect();
        if prompts.is_empty() { Err("not yet") } else { Ok(prompts) }
    })
    .await;
    let [prompt] = distilled.as_slice() else { panic!("{distilled:?}") };
    assert!(prompt.contains("bill_no") && !prompt.contains("customers"), "{prompt}");
    assert_eq!(row.get::<_, String>("hash"), ContentHash::of(prompt).to_string());
    assert_eq!(row.get::<_, i64>("characters"), i64::try_from(prompt.chars().count()).unwrap());
    assert_eq!((row.get::<_, &str>("role"), row.get::<_, &str>("model")), ("fast", "scripted"));
    // An operator finds it by the ask, and it goes with the ask.
    let (code, told) = run(&airlock, &["log", "sent", &id(&hard)]);
    assert_eq!((code, told["hash"].as_str()), (Some(0), Some(row.get("hash"))), "{told}");
    for (ask, want) in [(&again, 0_i64), (&hard, 1)] {
        let counted = "SELECT count(*) FROM airlock.sent WHERE ask::text = $1";
        assert_eq!(store.query_one(counted, &[&id(ask)]).await.unwrap().get::<_, i64>(0), want);
    }
    assert_eq!(run(&airlock, &["log", "forget", &id(&hard)]).0, Some(0));
    assert!(store.query_opt(query, &[&id(&hard)]).await.unwrap().is_none());
}

async fn store_again(postgres: &PrivatePostgres) -> Client {
    postgres.connect("airlock").await.unwrap()
}

/// What a replay says: exit code, what differs, both sides.
fn replay(airlock: &Airlock, ask: &str) -> (Option<i32>, String, Value) {
    let (code, said) = run(airlock, &["replay", ask]);
    let what = said["rerun"]["difference"]["what"].as_str().unwrap_or_default().to_owned();
    (code, what, said)
}

#[tokio::test]
async fn an_ask_comes_out_the_same_again_until_data_or_knowledge_or_schema_change() {
    let airlock = Airlock::demo().await;
    let (_postgres, store, source) = databases(&airlock).await;
    let mut asked = Vec::new();
    for (question, outcome) in [
        (CUSTOMERS, "answered"),
        ("How many bills with status paid are there?", "answered"),
        ("Delete all customers", "refused"),
        ("What will the weather be tomorrow?", "refused"),
    ] {
        let (_, answer) = airlock.ask(question).await;
        assert_eq!(answer["outcome"], outcome, "{answer}");
        logged(&store, &id(&answer)).await;
        let (code, what, said) = replay(&airlock, &id(&answer));
        assert_eq!((code, what.as_str()), (Some(0), ""), "{question}: {said}");
        asked.push(id(&answer));
    }
    // What somebody else does in the database is no change of what was asked about; a comment that a model reads is one.
    let notes = |ask: &str| replay(&airlock, ask).2["rerun"]["notes"].clone();
    source
        .batch_execute(
            "CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.orders (id int); ANALYZE customers;
             CREATE INDEX ON customers (city)",
        )
        .await
        .unwrap();
    assert_eq!(notes(&asked[0]), json!([]));
    source.batch_execute("COMMENT ON COLUMN employees.role IS 'what they do'").await.unwrap();
    assert!(notes(&asked[0]).to_string().contains("schema changed"), "{}", notes(&asked[0]));
    source.batch_execute("COMMENT ON COLUMN employees.role IS NULL").await.unwrap();
    assert_eq!(notes(&asked[0]), json!([]), "and back");
    let before = count(&store).await;
    source.batch_execute("INSERT INTO customers (cust_id, cust_name, since_dt) SELECT max(cust_id) + 1, 'Somebody new', '2026-01-01' FROM customers")
        .await
        .unwrap();
    let (code, what, said) = replay(&airlock, &asked[0]);
    assert_eq!((code, what.as_str()), (Some(1), "rows"), "{said}");
    assert_eq!(replay(&airlock, &asked[2]).0, Some(0), "what read no row is the same");
    assert_eq!(count(&store).await, before, "a replay is not logged");
    let human = airlock.command(&["replay", &asked[0]], "");
    let human = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(
        human.contains("different at step") && human.contains("was:") && human.contains("is:"),
        "{human}"
    );

    // What is known now and was not then is a difference of the context, before anything else.
    let question = "How many customers do we have?";
    let added = airlock.command(
        &[
            "examples",
            "add",
            "--question",
            question,
            "--sql",
            "SELECT count(*) AS all_of_them FROM customers",
        ],
        "",
    );
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let (code, what, said) = replay(&airlock, &asked[0]);
    assert_eq!((code, what.as_str()), (Some(1), "context"), "{said}");
    assert!(said["rerun"]["difference"]["is"].as_str().unwrap().contains("examples"), "{said}");
}

/// A built-in component with another digest: a custom section says nothing to the engine.
fn variant(component: &str, word: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(components().join(format!("{component}.wasm"))).unwrap();
    let name = b"variant";
    bytes.extend([0, u8::try_from(1 + name.len() + word.len()).unwrap(), u8::try_from(name.len()).unwrap()]);
    bytes.extend(name);
    bytes.extend(word.bytes());
    bytes
}

#[tokio::test]
async fn recorded_replies_stand_in_for_the_model_and_components_are_found_by_digest() {
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("You phrase the answer") => "The three largest bills.".into(),
        _ if prompt.contains(HARD) => WRITTEN.into(),
        _ => "I do not know this question.".into(),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (_postgres, store, _) = databases(&airlock).await;
    let body = json!({"question": HARD, "now": NOW});
    let (_, answer) = airlock.post(&body).await;
    assert_eq!(answer["outcome"], "answered", "{answer}");
    logged(&store, &id(&answer)).await;
    // Neither the model nor its configuration is there any more.
    let prompts = model.prompts().len();
    let (code, what, said) = replay(&airlock, &id(&answer));
    assert_eq!((code, what.as_str()), (Some(0), ""), "{said}");
    assert_eq!(model.prompts().len(), prompts, "no model was asked");

    // Another planner serves: the one of the ask is still in the folder of components.
    let bytes = variant("planner", "other");
    let digest = ContentHash::of(&bytes);
    let file = airlock.data.path().join("other.wasm");
    std::fs::write(&file, &bytes).unwrap();
    std::fs::write(
        airlock.data.path().join("grants.toml"),
        format!(
            "[[grant]]\ncomponent = \"planner-other\"\ndigest = \"{digest}\"\nstage = [\"planner\"]\ndomains = [\"*\"]\n\
             imports = [\"catalog\", \"retrieval\", \"log\"]\nmodel_roles = [\"fast\"]\n"
        ),
    )
    .unwrap();
    let (code, swapped) = run(&airlock, &["plugin", "swap", "planner", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{swapped}");
    let (code, what, said) = replay(&airlock, &id(&answer));
    assert_eq!((code, what.as_str()), (Some(0), ""), "{said}");

    // An ask of the other one is the same while its copy is kept, and told when it is not.
    let (_, answer) = airlock.post(&body).await;
    let used = answer["components"].as_array().unwrap();
    assert!(used.iter().any(|used| used["digest"] == digest.to_string()), "{answer}");
    logged(&store, &id(&answer)).await;
    assert_eq!(replay(&airlock, &id(&answer)).0, Some(0));
    let (code, back) = run(&airlock, &["plugin", "rollback", "planner"]);
    assert_eq!(code, Some(0), "{back}");
    let kept = airlock.data.path().join(format!("host/plugins/components/{digest}.wasm"));
    let _ = std::fs::remove_file(kept);
    let (code, what, said) = replay(&airlock, &id(&answer));
    assert_eq!((code, what.as_str()), (Some(1), "component"), "{said}");
    assert!(said["rerun"]["notes"].to_string().contains("not at hand"), "{said}");
    assert_eq!(run(&airlock, &["replay", "01980000-0000-7000-8000-000000000000"]).0, Some(2));
}
