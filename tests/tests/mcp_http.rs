//! Agents over HTTP: the protocol's own messages, the real server with keys, a real PostgreSQL.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::laboratory::{Laboratory, Place, Served};
use airlock_tests::{Airlock, Said, ScriptedModel, signal, soon, under_test};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::path::Path;

/// An agent, with a session or without.
struct Agent {
    client: Client,
    url: String,
    key: Option<String>,
    session: Option<String>,
}

impl Agent {
    fn new(server: &str, key: Option<&str>) -> Self {
        let (url, key) = (format!("{server}/mcp"), key.map(str::to_owned));
        Self { client: airlock_tests::client(), url, key, session: None }
    }

    /// One that has opened a session.
    async fn begin(server: &str, key: Option<&str>) -> Self {
        let mut agent = Self::new(server, key);
        let opened = agent.post(&hello()).send().await.unwrap();
        assert_eq!(opened.status(), 200);
        agent.session = Some(opened.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let said = reply(opened).await;
        assert!(said["result"]["instructions"].as_str().unwrap().contains("airlock"), "{said}");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(agent.post(&ready).send().await.unwrap().status(), 202);
        agent
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let request = self.client.request(method, &self.url).header("mcp-protocol-version", "2025-06-18");
        let request = request.header("accept", "application/json, text/event-stream");
        let request = self.key.iter().fold(request, |request, key| request.bearer_auth(key));
        self.session.iter().fold(request, |request, session| request.header("mcp-session-id", session))
    }

    fn post(&self, message: &Value) -> RequestBuilder {
        self.request(Method::POST).json(message)
    }

    async fn ask(&self, method: &str, parameters: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        reply(self.post(&message).send().await.unwrap()).await
    }

    /// Begins a call and leaves it under way.
    async fn leave(&self, id: u64, sql: &str) -> Response {
        let call = json!({"name": "run_query", "arguments": {"sql": sql}});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
        self.post(&message).send().await.unwrap()
    }

    /// Calls a tool: whether it is an error, its text, its structured content.
    async fn call(&self, tool: &str, arguments: Value) -> (bool, String, Value) {
        let said = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let result = &said["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {said}"));
        (result["isError"] == true, text.to_owned(), result["structuredContent"].clone())
    }
}

fn hello() -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// The messages of a response.
async fn messages(response: Response) -> Vec<Value> {
    let text = response.text().await.unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
        .collect();
    if events.is_empty() { serde_json::from_str(&text).into_iter().collect() } else { events }
}

/// The last message of a response, which is the reply.
async fn reply(response: Response) -> Value {
    messages(response).await.pop().unwrap_or_default()
}

async fn refusal(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let said = reply(response).await;
    let code = said["error"]["code"].as_i64().map(|code| code.to_string());
    (status, code.or(said["code"].as_str().map(str::to_owned)).unwrap_or_default())
}

/// Makes a key by the configuration: itself and its id.
fn key(config: &Path, more: &[&str]) -> (String, String) {
    let mut command = under_test();
    command.arg("--config").arg(config).args(["--json", "key", "create", "somebody"]).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    (made["key"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_does_over_http_what_its_key_may_and_nothing_else() {
    let airlock = Airlock::demo().await;
    let config = airlock.data.path().join("airlock.toml");
    let (all, _) = key(&config, &["--scope", "ask,query,read,feedback"]);
    let (reader, _) = key(&config, &["--scope", "read"]);
    let (elsewhere, _) = key(&config, &["--scope", "ask,query,read", "--domain", "elsewhere"]);

    let agent = Agent::begin(&airlock.url, Some(&all)).await;
    let tools = agent.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "run_query"), "{tools}");
    let (_, _, answer) = agent.call("ask", json!({"question": "How many customers do we have?"})).await;
    assert_eq!((&answer["outcome"], &answer["rows"]), (&json!("answered"), &json!([[60]])), "{answer}");
    let (failed, text, _) = agent.call("run_query", json!({"sql": "DELETE FROM bills"})).await;
    assert!(failed && text.contains("not-a-query"), "{text}");

    // An answer is judged by whoever got it, and is not there for others.
    let (judge, _) = key(&config, &["--scope", "feedback"]);
    let (curator, _) = key(&config, &["--scope", "feedback,curate"]);
    let verdict = json!({"ask_id": answer["ask_id"], "verdict": "right"});
    for (whose, may) in [(&judge, false), (&all, true), (&curator, true)] {
        let judging = Agent::begin(&airlock.url, Some(whose)).await;
        let (failed, text, said) = judging.call("feedback", verdict.clone()).await;
        assert_eq!((failed, said["feedback"].is_string()), (!may, may), "{text}");
        assert!(may || text.contains("unknown-ask"), "{text}");
    }

    // What goes on is told on the stream of the call.
    let call = json!({"name": "ask", "arguments": {"question": "How many customers do we have?"},
        "_meta": {"progressToken": "p"}});
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call});
    let told = messages(agent.post(&message).send().await.unwrap()).await;
    assert_eq!(told[0]["method"], "notifications/progress", "{told:?}");
    assert_eq!(told.last().unwrap()["id"], 5, "{told:?}");

    // Another version of the protocol has no sessions.
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let call =
        json!({"name": "run_query", "arguments": {"sql": "SELECT count(*) FROM customers"}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": call});
    let bare = Agent::new(&airlock.url, Some(&all));
    let request = bare.client.post(&bare.url).bearer_auth(&all).json(&message);
    let request = request.header("accept", "application/json, text/event-stream");
    let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
    let said = reply(request.header("mcp-name", "run_query").send().await.unwrap()).await;
    assert_eq!(said["result"]["structuredContent"]["rows"], json!([[60]]), "{said}");

    // A key does what its scopes say where its domains are, whoever's session it is.
    let other = Agent::begin(&airlock.url, Some(&reader)).await;
    let tools = other.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert!(!tools.as_array().unwrap().iter().any(|tool| tool["name"] == "run_query"), "{tools}");
    let (failed, text, _) = other.call("run_query", json!({"sql": "SELECT 1"})).await;
    assert!(failed && text.contains("missing-scope"), "{text}");
    // What judges SQL takes one of the two scopes that it takes over HTTP.
    let check = json!({"sql": "SELECT count(*) FROM bills"});
    for (scope, may) in [("ask", true), ("query", true), ("read", false)] {
        let (key, _) = key(&config, &["--scope", scope]);
        let agent = Agent::begin(&airlock.url, Some(&key)).await;
        let listed = agent.ask("tools/list", json!({})).await["result"]["tools"].to_string();
        let (failed, text, _) = agent.call("dry_run", check.clone()).await;
        let path = format!("{}/api/check", airlock.url);
        let checked = agent.client.post(path).bearer_auth(&key).json(&check).send().await.unwrap().status();
        assert_eq!((listed.contains("dry_run"), !failed, checked == 200), (may, may, may), "{scope}: {text}");
    }
    let bound = Agent::begin(&airlock.url, Some(&elsewhere)).await;
    let (failed, text, _) = bound.call("list_tables", json!({})).await;
    assert!(failed && text.contains("unknown-domain") && !text.contains("bills"), "{text}");
    let mut thief = Agent::new(&airlock.url, Some(&reader));
    thief.session.clone_from(&agent.session);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let unknown = (404, "unknown-session".to_owned());
    assert_eq!(refusal(thief.post(&ping)).await, unknown);
    assert_eq!(refusal(thief.request(Method::DELETE)).await, unknown);
    thief.key = None;
    assert_eq!(refusal(thief.post(&ping)).await, unknown);

    // What is no request of the protocol is told so.
    let text = |text: &str| {
        agent.request(Method::POST).header("content-type", "application/json").body(text.to_owned())
    };
    let call = |params: Value| {
        agent.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    };
    let big = format!("{{\"x\": \"{}\"}}", "x".repeat(300 * 1024));
    let foreign = agent.post(&ping).header("origin", "http://evil.example");
    let rebound = agent.post(&ping).header("host", "evil.example");
    for (request, status, code) in [
        (text("{nonsense"), 400, "-32700"),
        (text("[]"), 400, "-32600"),
        (text(&big), 413, "body-too-large"),
        (call(json!({"arguments": {}})), 200, "-32602"),
        (call(json!({"name": "ask", "arguments": []})), 200, "-32602"),
        (agent.request(Method::POST).body("{}"), 415, "not-json"),
        (agent.request(Method::GET), 405, "method-not-allowed"),
        (agent.client.post(&agent.url).bearer_auth(&all).json(&ping), 406, "not-acceptable"),
        (bare.post(&ping), 400, "-32600"),
        (foreign, 403, "foreign-origin"),
        (rebound, 403, "foreign-origin"),
        (bare.post(&hello()).header("authorization", "Bearer airlock_nonsense"), 401, "bad-key"),
    ] {
        let shown = format!("{request:?}");
        assert_eq!(refusal(request).await, (status, code.to_owned()), "{shown}");
    }

    assert_eq!(agent.request(Method::DELETE).send().await.unwrap().status(), 204);
    assert_eq!(refusal(agent.post(&ping)).await, unknown);
    let mut open = Vec::new();
    loop {
        let response = bare.post(&hello()).send().await.unwrap();
        if response.status() != 200 {
            assert_eq!(reply(response).await["code"], "too-many-sessions");
            break;
        }
        open.push(response);
        assert!(open.len() <= 64, "there is no end to sessions");
    }
    // They were all of one caller: another is let in.
    Agent::begin(&airlock.url, Some(&reader)).await;
}

const SLOW: &str = "SELECT count(*) FROM n a, n b, n c, n d";

const NUMBERS: Place<'static> = Place {
    database: "numbers",
    search_path: &["public"],
    schema: "CREATE TABLE n (i int); INSERT INTO n SELECT generate_series(1, 2000);
        ALTER TABLE n ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON n USING (i <= coalesce(nullif(current_setting('app.most', true), '')::int, 2000));",
    traps: None,
    functions: &[],
};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_when_nobody_waits_for_it_and_no_agent_takes_every_connection() {
    let model = ScriptedModel::start(|_| Said::Status(400)).await;
    // Long enough that nothing but a cancellation ends a statement while this test looks.
    let laboratory = Laboratory::start(600_000).await;
    laboratory.make(&NUMBERS).await;
    let served = Served::start(&laboratory.config(), &model).await;
    let admin = laboratory.admin("numbers").await;
    let until = async |count: i64, what: &str| {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%n a, n b, n c, n d%'
            AND pid <> pg_backend_pid()";
        soon(what, async || {
            let running = admin.query_one(query, &[]).await.unwrap().get::<_, i64>(0);
            if running == count { Ok(()) } else { Err(running) }
        })
        .await;
    };
    let scopes = ["--scope", "query,read"];
    let (first, id) = key(&laboratory.config(), &scopes);
    let (second, _) = key(&laboratory.config(), &[&scopes[..], &["--setting", "app.most=7"]].concat());

    for ending in ["cancelled", "gone", "deleted"] {
        let agent = Agent::begin(&served.url, Some(&first)).await;
        let response = agent.leave(7, SLOW).await;
        until(1, "it begins").await;
        match ending {
            "cancelled" => {
                // A second call with the same id would take the first out of the reach of what cancels it.
                let twice = agent.leave(7, SLOW).await;
                assert_eq!(twice.status(), 400);
                assert_eq!(reply(twice).await["error"]["code"], -32600);
                let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
                assert_eq!(agent.post(&cancel).send().await.unwrap().status(), 202);
            }
            "gone" => drop(response),
            _ => assert_eq!(agent.request(Method::DELETE).send().await.unwrap().status(), 204),
        }
        until(0, ending).await;
    }

    // Four connections, of which one agent has two at most; the rows are those of whoever calls.
    let agent = Agent::begin(&served.url, Some(&first)).await;
    let mut left = Vec::new();
    for id in 0..5 {
        left.push(agent.leave(id, SLOW).await);
    }
    until(2, "two run").await;
    let other = Agent::begin(&served.url, Some(&second)).await;
    let (_, _, rows) = other.call("run_query", json!({"sql": "SELECT count(*) FROM n"})).await;
    assert_eq!(rows["rows"], json!([[7]]), "{rows}");
    until(2, "no third runs").await;

    // A key that is taken back takes its calls with it.
    let revoked =
        under_test().arg("--config").arg(laboratory.config()).args(["key", "revoke", &id]).output().unwrap();
    assert!(revoked.status.success(), "{}", String::from_utf8_lossy(&revoked.stderr));
    until(0, "they end with their key").await;
    drop(left);

    // A server that stops leaves nothing behind.
    let agent = Agent::begin(&served.url, None).await;
    let _left = agent.leave(1, SLOW).await;
    until(1, "it begins").await;
    signal(served.process(), "TERM");
    until(0, "it ends with the server").await;
}
