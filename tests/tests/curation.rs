//! Curation over HTTP and by the binary: who may decide on what, two at once, what is refused, what leaves service by itself.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, components, eventually, heard};
use airlock_types::ContentHash;
use serde_json::{Value, json};

const CUSTOMERS: &str = "How many customers do we have?";
const LOYAL: &str = "How many loyal customers do we have?";

/// Somebody who talks to a server, with a key or without one.
struct Person {
    url: String,
    key: Option<String>,
    client: reqwest::Client,
}

impl Person {
    fn local(airlock: &Airlock) -> Self {
        Self { url: airlock.url.clone(), key: None, client: airlock_tests::client() }
    }

    /// Somebody with a key of these scopes, and what else it is for.
    fn with(airlock: &Airlock, name: &str, scopes: &[&str]) -> Self {
        let made = lines(airlock, &[&["key", "create", name, "--json", "--scope"], scopes].concat()).1;
        Self { key: Some(made[0]["key"].as_str().unwrap().to_owned()), ..Self::local(airlock) }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} not JSON: {text}")))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(format!("{}{path}", self.url))).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.client.post(format!("{}{path}", self.url));
        self.send(request.header("content-type", "application/json").body(body.to_string())).await
    }

    /// The first item of a list, as soon as there is one.
    async fn first(&self, path: &str) -> Value {
        eventually("there is an item", async || {
            let (status, page) = self.get(path).await;
            assert_eq!(status, 200, "{page}");
            page["items"].as_array().unwrap().first().cloned().ok_or(path)
        })
        .await
    }

    /// A verdict on an ask of one's own. The log is written beside the ask, so it may not be there yet.
    async fn judges(&self, body: Value) -> (u16, Value) {
        eventually("the ask is known", async || {
            let (status, said) = self.post("/api/feedback", body.clone()).await;
            if said["code"] == "unknown-ask" { Err(said) } else { Ok((status, said)) }
        })
        .await
    }
}

fn lines(airlock: &Airlock, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = airlock.command(arguments, "");
    let said = String::from_utf8_lossy(&output.stdout);
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    (output.status.code(), said.lines().map(read).collect())
}

fn path(kind: &str, item: &Value, verb: &str) -> String {
    format!("/api/{kind}/{}/{verb}", item["id"].as_str().unwrap())
}

fn decision(item: &Value) -> Value {
    json!({"hash": item["hash"], "why": "as billing counts it"})
}

#[tokio::test]
async fn people_decide_by_scope_and_by_hash_and_two_at_once_are_told() {
    let airlock = Airlock::demo().await;
    let local = Person::local(&airlock);
    let (author, curator, admin, asker) = (
        Person::with(&airlock, "ana", &["read,examples:author"]),
        Person::with(&airlock, "carl", &["read,curate"]),
        Person::with(&airlock, "ada", &["admin"]),
        Person::with(&airlock, "app", &["ask,feedback,read"]),
    );
    let (_, answer) = airlock.ask(CUSTOMERS).await;
    let ask = answer["ask_id"].as_str().unwrap();

    // Feedback records, and proposes; somebody else's ask is no ask of yours.
    let (status, said) = local.judges(json!({"ask_id": ask, "verdict": "right"})).await;
    assert_eq!((status, said["candidates"].as_array().map(Vec::len)), (200, Some(1)), "{said}");
    let (status, refused) = asker.post("/api/feedback", json!({"ask_id": ask, "verdict": "right"})).await;
    assert_eq!((status, refused["code"].as_str()), (404, Some("unknown-ask")), "{refused}");
    let long = "x".repeat(2_001);
    for (body, field) in [
        (json!({"ask_id": ask, "verdict": "right", "sql": "SELECT 1"}), "sql"),
        (json!({"ask_id": ask, "verdict": "wrong", "sql": "DROP TABLE customers"}), "sql"),
        (json!({"ask_id": ask, "verdict": "wrong", "note": long}), "note"),
        (json!({"ask_id": ask, "verdict": "wrong", "note": "a\u{202e}b"}), "note"),
    ] {
        let (status, problem) = local.post("/api/feedback", body).await;
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{problem}");
    }

    // Without the scope nobody decides, and who authors examples decides on an agent's alone.
    let example = local.first("/api/examples?state=proposed&source=agent").await;
    let golden = local.first("/api/golden?shelf=candidate").await;
    let approve = path("examples", &example, "approve");
    for body in [decision(&example), json!({"hash": "none"}), json!({})] {
        let (status, denied) = local.post(&approve, body).await;
        assert_eq!((status, denied["code"].as_str()), (403, Some("missing-scope")), "{denied}");
    }
    for (person, item, kind, verb, want) in [
        (&author, &example, "examples", "demote", 403),
        (&author, &golden, "golden", "promote", 403),
        (&curator, &golden, "golden", "promote", 403),
        (&curator, &golden, "examples", "approve", 404),
        (&curator, &example, "examples", "forget", 404),
        (&curator, &json!({"id": ask, "hash": example["hash"]}), "examples", "approve", 404),
        (&curator, &json!({"id": "x", "hash": example["hash"]}), "examples", "approve", 404),
    ] {
        let (status, problem) = person.post(&path(kind, item, verb), decision(item)).await;
        assert_eq!(status, want, "{verb} {kind}: {problem}");
    }

    // What was not looked at is shown; a reason has a length.
    let other = json!({"hash": golden["hash"], "why": ""});
    let (status, changed) = curator.post(&approve, other).await;
    assert_eq!((status, changed["code"].as_str()), (409, Some("changed")), "{changed}");
    assert_eq!(changed["now"]["content"], example["content"], "{changed}");
    let (status, problem) = curator.post(&approve, json!({"hash": example["hash"], "why": long})).await;
    assert_eq!((status, problem["field"].as_str()), (422, Some("why")), "{problem}");

    // Two at once: one is heard, the other is told.
    let (one, two) =
        tokio::join!(author.post(&approve, decision(&example)), curator.post(&approve, decision(&example)));
    let (done, late) = if one.0 == 200 { (one, two) } else { (two, one) };
    assert_eq!((done.0, late.0), (200, 409), "{done:?} {late:?}");
    assert_eq!(late.1["code"], "already-decided", "{late:?}");
    assert_eq!(late.1["now"]["state"], "promoted", "{late:?}");

    // Golden cases are an admin's: promoted, edited, out of use.
    let (status, done) = admin.post(&path("golden", &golden, "promote"), decision(&golden)).await;
    assert_eq!(status, 200, "{done}");
    let case = local.first("/api/golden?state=active").await;
    let mut content = case["content"].clone();
    content["ordered"] = json!(true);
    let edit = json!({"hash": case["hash"], "content": content, "why": ""});
    assert_eq!(curator.post(&path("golden", &case, "edit"), edit.clone()).await.0, 403);
    assert_eq!(admin.post(&path("golden", &case, "edit"), edit.clone()).await.0, 200);
    let (status, stale) = admin.post(&path("golden", &case, "edit"), edit).await;
    assert_eq!((status, &stale["now"]["content"]["ordered"]), (409, &json!(true)), "{stale}");
    let case = local.first("/api/golden?state=active").await;
    assert_eq!(admin.post(&path("golden", &case, "demote"), decision(&case)).await.0, 200);

    // One item tells its story: who decided what, on which content.
    let (_, shown) = local.get(&format!("/api/golden/{}", case["id"].as_str().unwrap())).await;
    let history = shown["history"].as_array().unwrap();
    let verdicts: Vec<&str> = history.iter().filter_map(|row| row["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["demote", "edit", "promote"], "{shown}");
    assert!(history.iter().all(|row| row["who"] == "ada"), "{shown}");
    assert_ne!(history[1]["hash"], history[1]["hash_before"]);
}

#[tokio::test]
async fn what_the_gate_or_the_schema_does_not_bear_is_refused_and_lists_have_pages() {
    let airlock = Airlock::demo().await;
    let curator = Person::with(&airlock, "carl", &["read,curate,examples:author"]);
    let rules = airlock.data.path().join("rules.md");
    std::fs::write(
        &rules,
        "- Revenue is summed in the table `invoices`.\n- A customer is counted once by `customers.cust_id`.\n\
         - Paint is measured in litres.\n\n```\nSELECT 1\n```\n",
    )
    .unwrap();
    let nowhere = ["--domain", "nope"];
    for command in [["lessons", "import", rules.to_str().unwrap()], ["knowledge", "snapshot", "s.jsonl"]] {
        let (code, said) = lines(&airlock, &[command.as_slice(), &nowhere, &["--json"]].concat());
        assert_eq!(code, Some(2), "there is no such domain: {said:?}");
    }
    let (code, imported) = lines(&airlock, &["lessons", "import", rules.to_str().unwrap(), "--json"]);
    assert_eq!(code, Some(0), "{imported:?}");

    // A page at a time, the same items whatever the size of the page.
    let (_, whole) = curator.get("/api/lessons?shelf=candidate&order=oldest").await;
    let all = whole["items"].as_array().unwrap();
    assert_eq!((all.len(), &whole["next_cursor"]), (3, &Value::Null), "{whole}");
    let (mut seen, mut query) = (Vec::new(), "/api/lessons?shelf=candidate&order=oldest&limit=1".to_owned());
    loop {
        let (_, page) = curator.get(&query).await;
        seen.extend(page["items"].as_array().unwrap().iter().cloned());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("/api/lessons?shelf=candidate&order=oldest&limit=1&cursor={cursor}");
    }
    assert_eq!(&seen, all);
    for bad in ["limit=0", "state=new", "cursor=2", "colour=red", "domain=nowhere"] {
        let (status, problem) = curator.get(&format!("/api/lessons?{bad}")).await;
        assert!((400..500).contains(&status) && problem["code"].is_string(), "{bad}: {status} {problem}");
    }

    // A lesson that names what is not there, and one that names what is.
    let lesson = |words: &str| {
        all.iter().find(|item| item["content"]["text"].as_str().unwrap().contains(words)).unwrap()
    };
    let (status, problem) =
        curator.post(&path("lessons", lesson("invoices"), "approve"), decision(lesson("invoices"))).await;
    assert_eq!((status, problem["code"].as_str()), (422, Some("unfit")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("`invoices`"), "{problem}");
    // What its sentences teach is held to the gate and to the schema, and grammar is not taught.
    let taught = airlock.data.path().join("taught.md");
    let import = |text: &str| {
        std::fs::write(&taught, text).unwrap();
        lines(&airlock, &["lessons", "import", taught.to_str().unwrap(), "--json"])
    };
    assert_eq!(import("- Here `not` asks for nothing by itself.\n").0, Some(2));
    for (text, why) in [
        ("Here `folks` means `persons`.", "`persons`"),
        ("Here `e1` is computed as `SUM(bills.total_amt); DROP TABLE bills`.", "the gate refuses"),
        ("Here `e2` is computed as `(SELECT count(*) FROM pg_authid)`.", "the gate refuses"),
        ("Here `e3` means `bills.total_amt > pg_sleep(5)`.", "the gate refuses"),
        ("Then run: SELECT total_amt FROM bills; DELETE FROM bills", "the gate refuses"),
    ] {
        let (code, said) = import(text);
        assert_eq!(code, Some(0), "{said:?}");
        let (_, item) = curator.get(&format!("/api/lessons/{}", said[0]["id"].as_str().unwrap())).await;
        let (status, problem) = curator.post(&path("lessons", &item, "approve"), decision(&item)).await;
        assert_eq!((status, problem["code"].as_str()), (422, Some("unfit")), "{text}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(why), "{text}: {problem}");
    }
    let good = lesson("counted once");
    let (status, done) = curator.post(&path("lessons", good, "approve"), decision(good)).await;
    assert_eq!(status, 200, "{done}");
    let item = json!({"id": done["curated"], "hash": good["hash"], "content": good["content"]});
    for (change, field) in [
        (json!({"text": "A customer is `customers.nobody`."}), None),
        (json!({"text": "x".repeat(20_000)}), Some("text")),
        (json!({"text": "a\u{202e}b"}), Some("text")),
        (json!({"text": "Here `2025` means `bills`."}), Some("text")),
        (json!({"about": "gossip"}), Some("content")),
        (json!({"question": "How many?", "sql": "SELECT 1"}), Some("content")),
    ] {
        let mut content = item["content"].clone();
        content.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let body = json!({"hash": item["hash"], "content": content});
        let (status, problem) = curator.post(&path("lessons", &item, "edit"), body).await;
        assert_eq!((status, problem["field"].as_str()), (422, field), "{change}: {problem}");
    }
    for (verb, want) in
        [("demote", 200), ("demote", 409), ("restore", 200), ("set-back", 200), ("set-back", 409)]
    {
        let (status, said) = curator.post(&path("lessons", &item, verb), decision(&item)).await;
        assert_eq!(status, want, "{verb}: {said}");
    }
    let waiting = curator.get(&format!("/api/lessons/{}", good["id"].as_str().unwrap())).await.1;
    assert_eq!(waiting["state"], "proposed", "what was set back waits again: {waiting}");

    // An example of one's own is in service at once, if the gate lets it run.
    let author = |sql: &str| curator.post("/api/examples", json!({"question": LOYAL, "sql": sql}));
    for (sql, want) in [
        ("DROP TABLE customers", 422),
        ("SELECT * FROM invoices", 422),
        ("SELECT count(*) AS loyal FROM customers WHERE cust_id < 5 /* hello */", 201),
        ("SELECT count(*) AS loyal FROM customers WHERE cust_id < 5", 409),
        ("select COUNT(*) as loyal from Customers where cust_id<5", 409),
    ] {
        let (status, said) = author(sql).await;
        assert_eq!(status, want, "{sql}: {said}");
    }
    let answer = airlock.ask_with_store(LOYAL).await;
    let why = &answer["recalled"][0];
    assert_eq!((why["kind"].as_str(), why["by"].as_str()), (Some("example"), Some("component")), "{answer}");
    assert!(why["rank"] == 1 && !why["matched"].as_array().unwrap().is_empty(), "{answer}");
}

#[tokio::test]
async fn what_does_not_help_leaves_service_and_a_snapshot_brings_it_back() {
    let airlock = Airlock::demo().await;
    let curator = Person::with(&airlock, "carl", &["read,curate,examples:author,feedback"]);
    let sql = "SELECT count(*) AS loyal FROM customers WHERE cust_id < 5";
    let (_, made) = curator.post("/api/examples", json!({"question": LOYAL, "sql": sql})).await;
    let id = made["curated"].as_str().unwrap();
    let snapshot = airlock.data.path().join("shelf.jsonl");
    let file = snapshot.to_str().unwrap();
    assert_eq!(lines(&airlock, &["knowledge", "snapshot", file, "--json"]).1[0]["items"], 1);
    let decay = |options: &[&str]| {
        let arguments: Vec<&str> = ["knowledge", "decay", "--json"].iter().chain(options).copied().collect();
        lines(&airlock, &arguments).1.remove(0)
    };
    // What was not tested stays, and two verdicts are too few.
    for left in [2, 1, 0] {
        assert_eq!(decay(&[])["outdated"], json!([]), "{left} verdicts before enough");
        let answer = airlock.ask_with_store(LOYAL).await;
        assert_eq!(answer["examples"], json!([id]), "{answer}");
        let verdict = json!({"ask_id": answer["ask_id"], "verdict": "wrong"});
        assert_eq!(curator.judges(verdict).await.0, 200);
    }
    let dry = decay(&["--dry-run"]);
    assert_eq!(
        (&dry["outdated"][0]["id"], &dry["outdated"][0]["state"]),
        (&json!(id), &json!("stale")),
        "{dry}"
    );
    assert_eq!(
        curator.get(&format!("/api/examples/{id}")).await.1["state"],
        "active",
        "a dry run writes nothing"
    );
    assert_eq!(decay(&[])["outdated"][0]["id"], id);
    let answer = airlock.ask_with_store(LOYAL).await;
    assert_eq!(answer["examples"], json!([]), "what left service is not used: {answer}");
    let (_, shown) = curator.get(&format!("/api/examples/{id}")).await;
    assert_eq!(
        (&shown["state"], &shown["history"][0]["mode"]),
        (&json!("stale"), &json!("decay")),
        "{shown}"
    );
    assert_eq!((&shown["uses"]["hits"], &shown["uses"]["failed"]), (&json!(3), &json!(3)), "{shown}");

    let (code, restored) = lines(&airlock, &["knowledge", "restore", file, "--json"]);
    assert_eq!((code, &restored[0]["summary"]["restored"]), (Some(0), &json!(1)), "{restored:?}");
    assert_eq!(decay(&[])["outdated"], json!([]), "who is brought back gets another chance");
    let again = lines(&airlock, &["knowledge", "restore", file, "--json"]).1;
    assert_eq!(again[0]["summary"], json!({"restored": 0, "same": 1, "refused": 0}));
    let forged = std::fs::read_to_string(file).unwrap().replace("< 5", "< 9");
    std::fs::write(file, forged).unwrap();
    assert_eq!(
        lines(&airlock, &["knowledge", "restore", file, "--json"]).0,
        Some(2),
        "a changed line is noticed"
    );

    // Recall can be switched off: the pack's own stay, what was learned does not take part.
    let config = std::fs::read_to_string(airlock.data.path().join("airlock.toml")).unwrap();
    let off = airlock.data.path().join("off.toml");
    std::fs::write(&off, format!("{config}\n[learning]\nrecall = false\n")).unwrap();
    let asked = async |file: &std::path::Path| {
        let ask =
            || lines(&airlock, &["ask", LOYAL, "--json", "--config", file.to_str().unwrap()]).1.remove(0);
        heard(async || ask()).await
    };
    assert_eq!(asked(&airlock.data.path().join("airlock.toml")).await["examples"], json!([id]));
    assert_eq!(asked(&off).await["examples"], json!([]));
}

#[tokio::test]
async fn a_schema_that_loses_something_takes_along_what_names_it() {
    let airlock = Airlock::demo().await;
    let curator = Person::with(&airlock, "carl", &["read,curate,examples:author"]);
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let owner = postgres.connect("hardware_shop").await.unwrap();
    owner
        .batch_execute("CREATE TABLE public.loyalty_points (cust_id int PRIMARY KEY, points int)")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    airlock.ask(CUSTOMERS).await;
    let rules = airlock.data.path().join("rules.md");
    std::fs::write(
        &rules,
        "- Loyal customers have rows in loyalty_points.\n- Paint is measured in litres.\n",
    )
    .unwrap();
    assert_eq!(lines(&airlock, &["lessons", "import", rules.to_str().unwrap(), "--json"]).0, Some(0));
    let (_, proposed) = curator.get("/api/lessons?shelf=candidate").await;
    for lesson in proposed["items"].as_array().unwrap() {
        assert_eq!(curator.post(&path("lessons", lesson, "approve"), decision(lesson)).await.0, 200);
    }
    let sql = "SELECT count(*) FROM loyalty_points WHERE points > 0";
    let (status, said) = curator.post("/api/examples", json!({"question": LOYAL, "sql": sql})).await;
    assert_eq!(status, 201, "{said}");

    owner.batch_execute("DROP TABLE public.loyalty_points").await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    airlock.ask(CUSTOMERS).await;
    for (kind, why) in [("examples", "the gate refuses"), ("lessons", "loyalty_points is gone")] {
        let item = curator.first(&format!("/api/{kind}?state=superseded")).await;
        let (_, shown) = curator.get(&format!("/api/{kind}/{}", item["id"].as_str().unwrap())).await;
        let last = &shown["history"][0];
        assert_eq!((&last["mode"], &last["who"]), (&json!("schema"), &json!("a schedule")), "{shown}");
        assert!(last["why"].as_str().unwrap().contains(why), "{shown}");
    }
    let (status, rest) = curator.get("/api/lessons?state=active").await;
    let left = rest["items"].as_array().map(Vec::len);
    assert_eq!((status, left), (200, Some(1)), "what names nothing of it stays: {rest}");
}

#[tokio::test]
async fn components_are_swapped_over_http_by_operators_alone() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(components()).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    // Another digest: a custom section says nothing to the engine.
    let mut bytes = std::fs::read(folder.path().join("planner.wasm")).unwrap();
    bytes.extend([0, 3, 1, b'v', b'2']);
    std::fs::write(folder.path().join("planner-2.wasm"), &bytes).unwrap();
    let airlock = Airlock::of_pack("hardware-shop", folder.path(), &[]).await;
    let grant = format!(
        "[[grant]]\ncomponent = \"planner-2\"\ndigest = \"{}\"\nstage = [\"planner\"]\ndomains = [\"*\"]\n\
         imports = [\"catalog\", \"retrieval\", \"log\"]\n",
        ContentHash::of(&bytes)
    );
    std::fs::write(airlock.data.path().join("grants.toml"), grant).unwrap();
    let (local, curator, operator) = (
        Person::local(&airlock),
        Person::with(&airlock, "carl", &["read,curate"]),
        Person::with(&airlock, "olga", &["operate"]),
    );
    let swap = json!({"stage": "planner", "component": "planner-2.wasm"});
    for nobody in [&local, &curator] {
        for (status, said) in [
            nobody.get("/api/plugins").await,
            nobody.get("/api/plugins/history").await,
            nobody.post("/api/plugins/swap", swap.clone()).await,
            nobody.post("/api/plugins/rollback", json!({"stage": "planner"})).await,
        ] {
            assert_eq!((status, said["code"].as_str()), (403, Some("missing-scope")), "{said}");
        }
    }
    let serving = async || {
        let (status, listed) = operator.get("/api/plugins").await;
        assert_eq!(status, 200, "{listed}");
        let all = listed["components"].as_array().unwrap().clone();
        let serves =
            |one: &&Value| one["serves"].as_array().unwrap().iter().any(|place| place["stage"] == "planner");
        all.iter().find(serves).unwrap()["component"].as_str().unwrap().to_owned()
    };
    assert_eq!(serving().await, "planner");
    for (component, want) in
        [("../airlock.toml", 422), ("/etc/passwd", 422), ("nothing.wasm", 422), ("linker.wasm", 409)]
    {
        let body = json!({"stage": "planner", "component": component});
        let (status, said) = operator.post("/api/plugins/swap", body).await;
        assert_eq!(status, want, "{component}: {said}");
    }
    let (status, said) = operator.post("/api/plugins/swap", swap.clone()).await;
    assert_eq!((status, &said["to"]["component"]), (200, &json!("planner-2")), "{said}");
    assert_eq!(serving().await, "planner-2");
    let (status, said) = operator.post("/api/plugins/swap", swap).await;
    assert_eq!((status, said["code"].as_str()), (409, Some("refused")), "it serves already: {said}");
    assert_eq!(operator.post("/api/plugins/rollback", json!({"stage": "planner"})).await.0, 200);
    assert_eq!(serving().await, "planner");
    let (_, page) = operator.get("/api/plugins/history?stage=planner&limit=1").await;
    let last = &page["items"][0];
    assert_eq!((&last["event"], &last["by"]), (&json!("rolled_back"), &json!("olga")), "{page}");
    let cursor = page["next_cursor"].as_str().unwrap();
    let (_, page) =
        operator.get(&format!("/api/plugins/history?stage=planner&limit=1&cursor={cursor}")).await;
    assert_eq!(
        (&page["items"][0]["event"], &page["next_cursor"]),
        (&json!("swapped"), &Value::Null),
        "{page}"
    );

    // Who operates one domain is told nothing of another, nor of the files of the host.
    let here = json!({"stage": "planner", "component": "planner-2.wasm", "domain": "hardware-shop"});
    let (status, said) = operator.post("/api/plugins/swap", here).await;
    assert_eq!(status, 200, "{said}");
    for (domain, serves) in [("hardware-shop", true), ("elsewhere", false)] {
        let bound = Person::with(&airlock, domain, &["operate", "--domain", domain]);
        let (status, listed) = bound.get("/api/plugins").await;
        assert_eq!((status, &listed["files"]), (200, &json!([])), "{listed}");
        assert_eq!(listed.to_string().contains("planner-2"), serves, "{listed}");
        assert!(listed.to_string().contains("linker"), "what serves everybody serves it, too: {listed}");
        let (_, page) = bound.get("/api/plugins/history").await;
        assert_eq!(page.to_string().contains("hardware-shop"), serves, "{page}");
        assert_eq!(page["items"].as_array().map(Vec::len), Some(if serves { 3 } else { 2 }), "{page}");
    }
    let (_, listed) = operator.get("/api/plugins").await;
    assert!(listed["files"].to_string().contains("planner-2.wasm"), "{listed}");
}
