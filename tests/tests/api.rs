//! The HTTP API as programs use it, and as nobody should.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use airlock_tests::{Airlock, NOW, PATIENCE, Said, ScriptedModel, components, eventually, workspace};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const JSON: &str = "application/json";

/// A client of one server.
struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    fn of(airlock: &Airlock) -> Self {
        let http = airlock_tests::client();
        Self { http, url: airlock.url.clone() }
    }

    fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.text(path, body.to_string()).header("content-type", JSON)
    }

    fn text(&self, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.url)).body(body)
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        said(self.http.get(format!("{}{path}", self.url)).send().await.unwrap()).await
    }
}

async fn said(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}")))
}

async fn json_of(request: RequestBuilder) -> (u16, Value) {
    said(request.send().await.unwrap()).await
}

/// Name and data of each event.
fn events(text: &str) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("event: ") {
            name = found.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.clone(), serde_json::from_str(data).unwrap()));
        }
    }
    events
}

#[tokio::test]
async fn an_ask_is_told_as_it_goes_and_always_ends() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let watched = |body: &Value| client.post("/api/ask", body).header("accept", "text/event-stream");

    let response = watched(&json!({"question": "How many customers do we have?"})).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let told = events(&response.text().await.unwrap());
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["stage", "linked", "drafted", "running", "rows", "ended"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let (last, answer) = told.last().unwrap();
    assert_eq!((last.as_str(), &answer["outcome"]), ("answer", &json!("answered")));

    // What is wrong with the request is told by the status; what goes wrong later by the last event.
    let (status, problem) = json_of(watched(&json!({"question": ""}))).await;
    assert_eq!((status, &problem["code"]), (422, &json!("bad-field")));
    let unknown = json!({"question": "a?", "follow_up_of": "0198c0de-0000-7000-8000-000000000000"});
    let told = events(&watched(&unknown).send().await.unwrap().text().await.unwrap());
    let (last, problem) = told.last().unwrap();
    assert_eq!((last.as_str(), &problem["code"]), ("problem", &json!("unknown-ask")));
    assert_eq!(problem["type"], "/problems/unknown-ask");
}

/// Asks that are worked on.
async fn in_flight(client: &Client) -> u32 {
    let text = client.http.get(format!("{}/metrics", client.url)).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("airlock_asks_in_flight ")).unwrap();
    line.split('.').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_ask() {
    // The question by which the demo begins is not kept waiting.
    let silent = |prompt: &str| match prompt.contains("placed by each") {
        true => Said::Silence(2 * PATIENCE),
        false => Said::Status(400),
    };
    let model = ScriptedModel::start(silent).await;
    let airlock = Airlock::with_model(&model).await;
    let client = Client::of(&airlock);
    let body = json!({"question": "How many bills were placed by each customer?"});
    let ask = client.post("/api/ask", &body).header("accept", "text/event-stream").send();
    let mut response = ask.await.unwrap();
    let first = response.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: "), "{first:?}");
    assert_eq!(in_flight(&client).await, 1);
    drop(response);
    // The place of the ask is free again long before its model would have answered.
    eventually("the place is free", async || match in_flight(&client).await {
        0 => Ok(()),
        asks => Err(asks),
    })
    .await;
}

#[tokio::test]
async fn sql_of_ones_own_passes_the_same_gate_and_comes_as_json_or_csv() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let sql = "SELECT cust_id, NULL AS nothing, '' AS empty, '=1+1' AS formula FROM customers ORDER BY 1";
    let query = json!({"sql": sql, "max_rows": 2});
    let (status, result) = json_of(client.post("/api/query", &query)).await;
    assert_eq!(status, 200, "{result}");
    assert_eq!((&result["row_count"], &result["truncated"]), (&json!(2), &json!(true)));
    assert_eq!(result["tables_used"], json!(["public.customers"]), "{result}");
    assert_eq!(result["rows"][0][1], Value::Null);

    let csv = client.post("/api/query", &query).header("accept", "text/csv").send().await.unwrap();
    assert_eq!(csv.headers()["x-airlock-truncated"], "true");
    assert_eq!(notices(&csv), ["truncated"]);
    assert!(csv.headers()["content-type"].to_str().unwrap().starts_with("text/csv"));
    let text = csv.text().await.unwrap();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(lines[0], "cust_id,nothing,empty,formula");
    assert!(lines[1].ends_with(",,\"\",'=1+1"), "{text}");

    for (sql, code, error_type) in [
        ("DELETE FROM customers", "sql-rejected", "forbidden"),
        ("SELECT nobody FROM customers", "sql-rejected", "unknown_column"),
        ("SELECT pg_sleep(1)", "sql-rejected", "forbidden"),
        ("SELECT 1; DELETE FROM customers", "sql-rejected", "forbidden"),
        ("SELECT 1; SELECT 2", "sql-rejected", "forbidden"),
        ("SELECT 1 / (cust_id - cust_id) FROM customers", "sql-failed", "division_by_zero"),
        ("SELECT 'a\u{0}b'", "sql-rejected", "syntax_error"),
    ] {
        let (status, problem) = json_of(client.post("/api/query", &json!({"sql": sql}))).await;
        assert_eq!((status, &problem["code"]), (422, &json!(code)), "{sql}: {problem}");
        assert_eq!(problem["failure"]["error_type"], error_type, "{sql}: {problem}");
    }

    let (status, verdict) =
        json_of(client.post("/api/check", &json!({"sql": "DELETE FROM customers"}))).await;
    assert_eq!((status, &verdict["verdict"]), (200, &json!("rejected")), "{verdict}");
    let (_, verdict) = json_of(client.post("/api/check", &json!({"sql": sql}))).await;
    assert_eq!((&verdict["verdict"], &verdict["tables"]), (&json!("approved"), &json!(["public.customers"])));
    // The command line says the same.
    let line = airlock.command(&["check-sql", "--json"], sql);
    let line: Value = serde_json::from_slice(&line.stdout).unwrap();
    assert_eq!(line, verdict);

    let ask = |question: &str| client.post("/api/ask", &json!({"question": question, "now": NOW}));
    let csv = ask("How many customers do we have?").header("accept", "text/csv").send().await.unwrap();
    assert_eq!(csv.status(), StatusCode::OK);
    let (_, record) = json_of(ask("How many customers do we have?")).await;
    let said = ["assumptions", "warnings"].map(|field| record[field].as_array().unwrap().len());
    assert_eq!(notices(&csv).len(), said.iter().sum::<usize>(), "{record}");
    assert_eq!(csv.text().await.unwrap().lines().count(), 2);
    let body = json!({"question": "List all customers", "now": NOW, "max_rows": 3});
    let csv = client.post("/api/ask", &body).header("accept", "text/csv").send().await.unwrap();
    assert!(notices(&csv).contains(&"truncated".to_owned()), "{:?}", csv.headers());
    let (status, problem) =
        json_of(ask("How high is the mountain behind the moon?").header("accept", "text/csv")).await;
    assert_eq!((status, &problem["code"]), (422, &json!("no-rows")), "{problem}");
    assert_eq!(problem["outcome"], "refused");
}

/// The codes of what a CSV says beside its rows.
fn notices(response: &Response) -> Vec<String> {
    let Some(header) = response.headers().get("x-airlock-notices") else { return Vec::new() };
    let items: Vec<Value> = serde_json::from_str(header.to_str().unwrap()).unwrap();
    items.iter().map(|item| item["code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_key_is_worked_on_once() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let ask = |key: &str, question: &str| {
        client.post("/api/ask", &json!({"question": question})).header("idempotency-key", key)
    };
    let question = "How many customers do we have?";
    let (_, first) = json_of(ask("one", question)).await;
    let again = ask("one", question).send().await.unwrap();
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(said(again).await, (200, first.clone()));
    let (_, other) = json_of(ask("two", question)).await;
    assert_ne!(other["ask_id"], first["ask_id"]);
    for (request, status, code) in [
        (ask("one", "How many orders are there?"), 422, "key-reused"),
        (ask(&"k".repeat(256), question), 400, "bad-key-header"),
        (ask("three", question).header("accept", "text/event-stream"), 400, "key-with-stream"),
    ] {
        let (got, problem) = json_of(request).await;
        assert_eq!((got, &problem["code"]), (status, &json!(code)), "{problem}");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_at_any_host_over_the_same_store() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let ask = |body: Value| json_of(client.post("/api/ask", &body));
    let (_, first) = ask(json!({"question": "How many bills were raised in March 2025?", "now": NOW})).await;
    assert_eq!(first["outcome"], "answered", "{first}");
    let follow = json!({"question": "and in April 2025?", "follow_up_of": first["ask_id"], "now": NOW});
    let (status, here) = ask(follow).await;
    assert_eq!(status, 200, "{here}");

    // The command line is another host over the same store.
    let id = first["ask_id"].as_str().unwrap();
    let there =
        airlock.command(&["ask", "and in April 2025?", "--follow-up-of", id, "--now", NOW, "--json"], "");
    let there: Value = serde_json::from_slice(&there.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&there.stderr)));
    assert_eq!((&there["outcome"], &there["sql"]), (&here["outcome"], &here["sql"]));

    let (_, page) = client.get("/api/history?limit=1").await;
    assert_eq!(page["items"][0]["ask_id"], there["ask_id"], "{page}");
    assert_eq!(page["items"][0]["outcome"], there["outcome"], "{page}");
    let cursor = page["next_cursor"].as_str().unwrap();
    let (_, rest) = client.get(&format!("/api/history?limit=200&cursor={cursor}")).await;
    let items = rest["items"].as_array().unwrap();
    let of = |id: &Value| items.iter().find(|item| item["ask_id"] == *id).unwrap();
    assert_eq!(of(&first["ask_id"])["conversation"], of(&here["ask_id"])["conversation"]);
    assert_eq!(rest["next_cursor"], Value::Null);
    for (query, status) in
        [("limit=0", 422), ("limit=201", 422), ("cursor=x", 422), ("limit=x", 400), ("page=1", 400)]
    {
        assert_eq!(client.get(&format!("/api/history?{query}")).await.0, status, "{query}");
    }
}

#[tokio::test]
async fn hostile_requests_are_told_what_is_wrong() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let deep = format!(r#"{{"question": {}1{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let huge = format!(r#"{{"question": "{}"}}"#, "a".repeat(300_000));
    for (content_type, body, status, code) in [
        (JSON, r#"{"question": "a?", "question": "b?"}"#, 400, "malformed-json"),
        (JSON, r#"{"question": "\ud800"}"#, 400, "malformed-json"),
        (JSON, r#"{"question": "a\u0000b"}"#, 422, "bad-field"),
        (JSON, r#"{"question": "a?", "colour": 1}"#, 400, "malformed-json"),
        (JSON, r#"{"question": 1}"#, 400, "malformed-json"),
        (JSON, r#"["question"]"#, 400, "malformed-json"),
        (JSON, r#"{"question": "#, 400, "malformed-json"),
        (JSON, "", 400, "malformed-json"),
        (JSON, deep.as_str(), 400, "malformed-json"),
        (JSON, huge.as_str(), 413, "body-too-large"),
        ("text/plain", r#"{"question": "a?"}"#, 415, "not-json"),
        ("application/json; charset=utf-16", r#"{"question": "a?"}"#, 415, "not-json"),
    ] {
        for path in ["/api/ask", "/api/context"] {
            let request = client.text(path, body.to_owned()).header("content-type", content_type);
            let response = request.header("x-request-id", "hostile-1").send().await.unwrap();
            assert_eq!(response.headers()["x-request-id"], "hostile-1");
            assert_eq!(response.headers()["content-type"], "application/problem+json");
            let (got, problem) = said(response).await;
            assert_eq!((got, &problem["code"]), (status, &json!(code)), "{body:.80}: {problem}");
            assert_eq!(problem["request_id"], "hostile-1");
        }
    }
    let (status, problem) = json_of(client.post("/api/ask?mode=baseline", &json!({"question": "a?"}))).await;
    assert_eq!((status, &problem["code"]), (400, &json!("malformed-query")));
    let html = client.post("/api/ask", &json!({"question": "a?"})).header("accept", "text/html");
    assert_eq!(json_of(html).await.0, 406);
    for method in [Method::DELETE, Method::PUT, Method::PATCH, Method::GET] {
        let request = client.http.request(method.clone(), format!("{}/api/ask", client.url));
        let response = request.header("x-request-id", "not an id").send().await.unwrap();
        assert_eq!(response.headers()["allow"], "POST", "{method}");
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let (status, problem) = said(response).await;
        assert_eq!((status, &problem["code"]), (405, &json!("method-not-allowed")));
        assert!(problem["request_id"] == id.as_str() && id != "not an id");
    }

    // Half a request, a request that is none, and two lengths: the server says so or hangs up, and goes on.
    let address = client.url.trim_start_matches("http://");
    let head = format!("POST /api/ask HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
    for bytes in [
        format!("{head}content-length: 100\r\n\r\n{{\"question\""),
        format!("{head}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}"),
        format!("{head}transfer-encoding: chunked\r\n\r\nnonsense\r\n"),
        "\u{0}\u{1}\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000)),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(bytes.as_bytes()).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        let _ = read.expect("the server hangs up");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(!answer.starts_with("HTTP/1.1 2"), "{bytes:.80}: {answer}");
    }
    assert_eq!(client.get("/api/domains").await.0, 200);
}

/// The fields of a schema, those of the schemas it is made of included.
fn fields(document: &Value, name: &str) -> Vec<String> {
    let schema = &document["components"]["schemas"][name];
    let own = schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned());
    let parts = schema["allOf"].as_array().cloned().unwrap_or_default();
    let of_part = parts.iter().flat_map(|part| match part["$ref"].as_str() {
        Some(name) => fields(document, name.rsplit('/').next().unwrap()),
        None => {
            let held = part["properties"].as_object().into_iter();
            let one_of = part["oneOf"].as_array().cloned().unwrap_or_default();
            let names = one_of.iter().filter_map(|one| one["$ref"].as_str()?.rsplit('/').next());
            let deep = names.flat_map(|name| fields(document, name)).collect::<Vec<_>>();
            held.flat_map(|fields| fields.keys().cloned()).chain(deep).collect()
        }
    });
    own.chain(of_part.collect::<Vec<_>>()).collect()
}

#[tokio::test]
async fn what_is_served_explains_itself() {
    let airlock = Airlock::demo().await;
    let client = Client::of(&airlock);
    let (_, document) = client.get("/api/openapi.json").await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let paths = document["paths"].as_object().unwrap();
    for path in ["/api/ask", "/api/query", "/api/check", "/api/history", "/api/schema", "/livez"] {
        assert!(paths.contains_key(path), "{path}");
    }
    // What comes is what the document says, field by field.
    for path in ["/api/health", "/api/domains", "/api/schema"] {
        let schema =
            &document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let name =
            schema["$ref"].as_str().unwrap_or_else(|| panic!("{path}: {schema}")).rsplit('/').next().unwrap();
        let told = document["components"]["schemas"][name].to_string();
        let (status, said) = client.get(path).await;
        assert_eq!(status, 200, "{path}: {said}");
        for field in said.as_object().unwrap().keys() {
            assert!(fields(&document, name).contains(field), "{path}: `{field}` is not in {told}");
        }
    }
    let page = client.http.get(format!("{}/docs", client.url)).send().await.unwrap();
    assert!(page.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    assert!(page.text().await.unwrap().contains("/docs/docs.js"));
    for (path, status) in
        [("/docs/docs.js", 200), ("/docs/x", 404), ("/problems/bad-field", 200), ("/problems/x", 404)]
    {
        let response = client.http.get(format!("{}{path}", client.url)).send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn the_examples_of_the_documentation_work() {
    let airlock = Airlock::demo().await;
    let text = std::fs::read_to_string(workspace().join("docs/http-api.md")).unwrap();
    let examples: Vec<String> = text
        .split("```sh\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().replace("curl -s", "curl -sSf"))
        .collect();
    assert!(examples.len() >= 5);
    for example in examples {
        let url = airlock.url.clone();
        let shown = example.clone();
        let ran = move || run(Command::new("bash").args(["-e", "-c", &example]).env("URL", url));
        let output = tokio::task::spawn_blocking(ran).await.unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        if error.contains("curl: command not found") {
            println!("SKIPPED: the examples were not tried, because curl is not installed");
            eprintln!("SKIPPED: the examples were not tried, because curl is not installed");
            return;
        }
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.is_empty(), "{shown}{said}{error}");
        if shown.contains("text/csv") {
            let csv = text.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
            assert_eq!(said.replace("\r\n", "\n"), csv);
        }
    }
}

/// The version that is tried; another one finds other things.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The generator of requests, installed once beside the other build products; none without Python.
fn schemathesis() -> Option<PathBuf> {
    let folder = components().parent().unwrap().join("api");
    let (program, made) = (folder.join("bin/schemathesis"), folder.join(SCHEMATHESIS));
    if made.is_file() {
        return Some(program);
    }
    let venv = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder).output();
    if !venv.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let installed = run(Command::new(folder.join("bin/pip")).args(["install", "--quiet", SCHEMATHESIS]));
    assert!(installed.status.success(), "pip: {}", String::from_utf8_lossy(&installed.stderr));
    std::fs::write(made, "").unwrap();
    Some(program)
}

#[tokio::test]
async fn a_generator_of_hostile_requests_finds_nothing() {
    let Some(program) = tokio::task::spawn_blocking(schemathesis).await.unwrap() else {
        println!(
            "SKIPPED: the API was not tried with hostile requests, because python3 with venv is not installed"
        );
        eprintln!(
            "SKIPPED: the API was not tried with hostile requests, because python3 with venv is not installed"
        );
        return;
    };
    let airlock = Airlock::demo().await;
    // With every scope, so that no request is turned away at the door.
    let scopes = "ask,query,read,feedback,examples:author,curate,operate,admin";
    let made = airlock.command(&["key", "create", "generator", "--scope", scopes, "--json"], "");
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let key = format!("Authorization: Bearer {}", made["key"].as_str().unwrap());
    let document = format!("{}/api/openapi.json", airlock.url);
    let settings: PathBuf = workspace().join(Path::new("tests/api/schemathesis.toml"));
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_path_buf();
    let output = tokio::task::spawn_blocking(move || {
        run(Command::new(program)
            .arg("--no-color")
            .arg("--config-file")
            .arg(settings)
            .args([
                "run",
                &document,
                "--seed",
                "1",
                "--max-examples",
                "15",
                "--workers",
                "1",
                "--header",
                &key,
            ])
            .current_dir(folder))
    });
    let output = output.await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
