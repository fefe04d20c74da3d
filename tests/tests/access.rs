//! Who is let in, as whom, and what they may do and see there.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::laboratory::{Laboratory, Place, Served};
use airlock_tests::{Airlock, Host, PATIENCE, Said, ScriptedModel, eventually, soon, under_test};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn key(airlock: &Airlock, more: &[&str]) -> (String, String) {
    let arguments: Vec<&str> = ["--json", "key", "create", "somebody"].iter().chain(more).copied().collect();
    let output = airlock.command(&arguments, "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    (made["key"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

async fn sent(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test]
async fn keys_and_sessions_open_what_is_theirs_and_nothing_once_taken_back() {
    let airlock = Airlock::demo().await;
    let client = airlock_tests::client();
    let at = |method: Method, path: &str| client.request(method, format!("{}{path}", airlock.url));
    let ask = json!({"question": "How many customers do we have?"});
    let (reader, id) = key(&airlock, &["--scope", "read"]);
    let (elsewhere, _) = key(&airlock, &["--scope", "ask,read", "--domain", "elsewhere"]);
    let (asker, _) = key(&airlock, &["--scope", "ask"]);
    for (key, status, code) in [
        (reader.as_str(), 403, Some("missing-scope")),
        (elsewhere.as_str(), 404, Some("unknown-domain")),
        ("airlock_nonsense", 401, Some("bad-key")),
        (asker.as_str(), 200, None),
    ] {
        let named = json!({"question": ask["question"], "domain": "hardware-shop"});
        let (got, said) = sent(at(Method::POST, "/api/ask").bearer_auth(key).json(&named)).await;
        assert_eq!((got, said["code"].as_str()), (status, code), "{said}");
    }
    // Nor does it read a name of what is not its own.
    for path in [
        "/api/domains",
        "/api/schema",
        "/api/schema?domain=hardware-shop",
        "/api/health",
        "/api/stats",
        "/api/examples",
    ] {
        let (_, said) = sent(at(Method::GET, path).bearer_auth(&elsewhere)).await;
        let told = said["detail"].as_str().unwrap_or_default().replace("no domain `hardware-shop`", "");
        let rest =
            said.as_object().cloned().unwrap_or_default().into_iter().filter(|(name, _)| name != "detail");
        let rest = Value::from_iter(rest).to_string();
        assert!(!told.contains("hardware-shop") && !rest.contains("hardware-shop"), "{path}: {said}");
    }

    // What somebody else asked cannot be followed, nor judged.
    let (_, first) = sent(at(Method::POST, "/api/ask").bearer_auth(&asker).json(&ask)).await;
    let verdict = json!({"ask_id": first["ask_id"], "verdict": "wrong"});
    let (status, said) = sent(at(Method::POST, "/api/feedback").json(&verdict)).await;
    assert_eq!((status, said["code"].as_str()), (404, Some("unknown-ask")), "{said}");
    let (status, said) = sent(at(Method::GET, "/metrics").bearer_auth(&elsewhere)).await;
    assert_eq!((status, said["code"].as_str()), (403, Some("missing-scope")), "{said}");
    let follow = json!({"question": "And in Nashik?", "follow_up_of": first["ask_id"]});
    let (status, said) = sent(at(Method::POST, "/api/ask").json(&follow)).await;
    assert_eq!((status, said["code"].as_str()), (404, Some("unknown-ask")), "{said}");

    let opened = at(Method::POST, "/api/session").json(&json!({"key": reader})).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let csrf = opened.json::<Value>().await.unwrap()["csrf"].as_str().unwrap().to_owned();
    let page = |method, path: &str| at(method, path).header("cookie", &cookie);
    assert_eq!(sent(page(Method::GET, "/api/me")).await.1["csrf"].as_str(), Some(csrf.as_str()));
    for (word, origin) in [("", None), ("wrong", None), (csrf.as_str(), Some("http://evil.example"))] {
        let request = page(Method::DELETE, "/api/session").header("x-csrf-token", word);
        let request = origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
        assert_eq!(sent(request).await.0, 403, "{word:?} {origin:?}");
    }
    let rebound = page(Method::GET, "/api/me").header("host", "evil.example");
    assert_eq!(sent(rebound).await.1["code"], "foreign-origin");

    assert!(airlock.command(&["key", "revoke", &id], "").status.success());
    soon("a key that was taken back opens nothing", async || {
        let (status, said) = sent(at(Method::GET, "/api/me").bearer_auth(&reader)).await;
        if status == 401 { Ok(()) } else { Err(said) }
    })
    .await;
    // Its session ends with it, and does not turn into somebody on this machine: the browser is told, once.
    let ended = soon("its session ends with it", async || {
        let response = page(Method::GET, "/api/me").send().await.unwrap();
        if response.status() == 401 { Ok(response) } else { Err(response.status()) }
    })
    .await;
    assert!(ended.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"), "{ended:?}");
    assert_eq!(ended.json::<Value>().await.unwrap()["code"], "session-ended");
    assert_eq!(sent(page(Method::POST, "/api/ask").json(&ask)).await.0, 401);
    assert_eq!(sent(at(Method::GET, "/api/me")).await.1["name"], "local");

    // What a proxy brings is not from this machine, and a header that deceives is not weighed.
    for header in [
        "Forwarded",
        "X-Forwarded",
        "X-Forwarded-Proto",
        "X-Real-IP",
        "CF-Connecting-IP",
        "True-Client-IP",
        "Via",
        "X-Envoy-External-Address",
        "X-ProxyUser-Ip",
        "X-Originating-IP",
        "X-Remote-IP",
        "X-Remote-Addr",
        "X-Azure-ClientIP",
        "X-Appengine-User-IP",
        "Tailscale-User-Login",
        "Remote-User",
        "X-Amz-Cf-Id",
        "X-Client-IP",
        "X-Cluster-Client-IP",
    ] {
        let (status, said) = sent(at(Method::GET, "/api/me").header(header, "192.0.2.7")).await;
        assert_eq!((status, said["code"].as_str()), (401, Some("key-needed")), "{header}: {said}");
    }
    let own = airlock.url.trim_start_matches("http://");
    for (first, second) in [("host", "host"), ("origin", "origin")] {
        let values = if first == "host" {
            [own, "evil.example"]
        } else {
            [airlock.url.as_str(), "http://evil.example"]
        };
        let twice = at(Method::GET, "/api/me").header(first, values[0]).header(second, values[1]);
        let (status, said) = sent(twice).await;
        assert_eq!((status, said["code"].as_str()), (400, Some("header-twice")), "{first}: {said}");
    }
    // Nor does a target name another server than the header does.
    for (target, want) in [(airlock.url.as_str(), "HTTP/1.1 200"), ("http://evil.example", "HTTP/1.1 403")] {
        let head = format!("GET {target}/api/me HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n\r\n");
        let said = raw(own, head.as_bytes()).await;
        assert!(said.starts_with(want), "{target}: {said}");
        assert!(want.ends_with("200") || said.contains("foreign-origin"), "{target}: {said}");
    }

    // A body has an end, whatever is said of its length, and one that is said to be too long is not waited for.
    let large = format!(r#"{{"question": "{}"}}"#, "x".repeat(300 * 1024));
    let head = format!(
        "POST /api/ask HTTP/1.1\r\nhost: {own}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    );
    let chunk = &large[..0x40001];
    let chunked = format!("{head}idempotency-key: a\r\ntransfer-encoding: chunked\r\n\r\n40001\r\n{chunk}");
    for request in [
        format!("{head}content-length: 99999999999\r\n\r\n"),
        format!("{head}content-length: 99999999999\r\nexpect: 100-continue\r\n\r\n"),
        format!("{head}idempotency-key: a\r\ncontent-length: {}\r\n\r\n{large}", large.len()),
        chunked,
    ] {
        let said = raw(own, request.as_bytes()).await;
        assert!(
            said.starts_with("HTTP/1.1 413") && said.contains("body-too-large"),
            "{request:.300}: {said}"
        );
    }
}

/// What is answered to these bytes. The server may answer before it has taken all of them.
async fn raw(address: &str, bytes: &[u8]) -> String {
    let (mut from, mut to) = TcpStream::connect(address).await.unwrap().into_split();
    let (_, said) = tokio::join!(to.write_all(bytes), async {
        let mut said = Vec::new();
        // What was read is kept, however the connection ends.
        let _ = tokio::time::timeout(PATIENCE, from.read_to_end(&mut said)).await.unwrap();
        said
    });
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn refusals_are_lines_of_the_log_and_a_flood_of_them_is_a_count() {
    let airlock = Airlock::demo().await;
    let host = Host::over(&airlock, "flooded", |_| {});
    let client = airlock_tests::client();
    let at = |method: Method, path: &str| client.request(method, format!("{}{path}", host.url));
    let lines = |what: &str| -> Vec<String> {
        host.log().lines().filter(|line| line.contains(what)).map(str::to_owned).collect()
    };
    let told = |wanted: &[&str]| {
        let log = host.log();
        let found = log.lines().any(|line| wanted.iter().all(|word| line.contains(word)));
        assert!(found, "{wanted:?}: {log}");
    };

    // Whose call it was, from where, and by which request.
    let (reader, id) = key(&airlock, &["--scope", "read"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let call = json!({"name": "run_query", "arguments": {"sql": "SELECT 1"}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let request = at(Method::POST, "/mcp").bearer_auth(&reader).header("x-request-id", "call-of-the-test");
    let request = request.header("accept", "application/json, text/event-stream");
    let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
    let said = request.header("mcp-name", "run_query").json(&message).send().await.unwrap();
    let said = said.text().await.unwrap();
    assert!(said.contains("missing-scope"), "{said}");
    told(&["a call was refused", "missing-scope", "run_query", &id, "127.0.0.1", "/mcp", "call-of-the-test"]);

    let own = host.url.trim_start_matches("http://");
    let twice = at(Method::GET, "/api/me").header("host", own).header("host", "evil.example");
    assert_eq!(sent(twice).await.0, 400);
    told(&["a request was refused", "header-twice", "nobody", "/api/me"]);

    // Whose session it was that has ended.
    let opened = at(Method::POST, "/api/session").json(&json!({"key": reader})).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(sent(at(Method::GET, "/api/me").header("cookie", &cookie)).await.0, 200);
    assert!(airlock.command(&["key", "revoke", &id], "").status.success());
    soon("its session ends with the key", async || {
        let (status, said) = sent(at(Method::GET, "/api/me").header("cookie", &cookie)).await;
        if status == 401 { Ok(()) } else { Err(said) }
    })
    .await;
    told(&["session-ended", &id, ", ended"]);

    let before = lines("a request was refused").iter().filter(|line| line.contains("bad-key")).count();
    assert_eq!(before, 0);
    for _ in 0..400 {
        let (status, _) = sent(at(Method::GET, "/api/me").bearer_auth("airlock_nonsense")).await;
        assert_eq!(status, 401);
    }
    // Nobody else's lines are lost by it.
    let (asker, id) = key(&airlock, &["--scope", "ask"]);
    let query = at(Method::POST, "/api/query").json(&json!({"sql": "SELECT 1"}));
    assert_eq!(sent(query.bearer_auth(&asker)).await.0, 403);
    told(&["missing-scope", &id]);
    let (told, counted) = eventually("what had no line is told as a count", async || {
        let told = lines("bad-key").len();
        let count = |line: &String| -> usize {
            let digits: String =
                line.split("count").nth(1).unwrap().chars().skip_while(|c| !c.is_ascii_digit()).collect();
            digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        let counted = lines("without a line each").iter().map(count).sum::<usize>();
        if told + counted >= 400 { Ok((told, counted)) } else { Err(format!("{told} and {counted}")) }
    })
    .await;
    assert_eq!(told + counted, 400);
    assert!((1..100).contains(&told), "{told} lines");
}

const TENANTS: Place<'static> = Place {
    database: "tenants",
    search_path: &["public"],
    schema: "CREATE TABLE sales (id int PRIMARY KEY, tenant int NOT NULL, what text);
        INSERT INTO sales VALUES (1, 1, 'apples'), (2, 1, 'pears'), (3, 2, 'plums');
        ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON sales USING (tenant = nullif(current_setting('app.tenant', true), '')::int);",
    traps: None,
    functions: &[],
};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_sees_the_rows_of_its_holder_and_teaches_nobody_else() {
    let model = ScriptedModel::start(|prompt| {
        let writes = prompt.contains("You write one PostgreSQL query");
        if writes { Said::Text("SELECT what FROM sales ORDER BY id".to_owned()) } else { Said::Status(400) }
    })
    .await;
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&TENANTS).await;
    let served = Served::start(&laboratory.config(), &model).await;
    let run = |arguments: &[&str]| -> Vec<Value> {
        let output = under_test()
            .arg("--config")
            .arg(laboratory.config())
            .arg("--json")
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let holder = |tenant: &str| {
        let setting = format!("app.tenant={tenant}");
        let made = run(&["key", "create", tenant, "--scope", "ask,query,feedback", "--setting", &setting]);
        made[0]["key"].as_str().unwrap().to_owned()
    };
    let client = airlock_tests::client();
    let send = |key: Option<&str>, path: &str, body: Value| {
        let request = client.post(format!("{}{path}", served.url)).json(&body);
        sent(key.into_iter().fold(request, |request, key| request.bearer_auth(key)))
    };
    let (one, two) = (holder("1"), holder("2"));
    let ask = json!({"question": "Which sales are there?", "domain": domain});
    for (key, rows) in [
        (Some(one.as_str()), json!([["apples"], ["pears"]])),
        (Some(two.as_str()), json!([["plums"]])),
        (None, json!([])),
    ] {
        let query = json!({"sql": "SELECT what FROM sales ORDER BY id", "domain": domain});
        let (status, said) = send(key, "/api/query", query).await;
        assert_eq!((status, &said["rows"]), (200, &rows), "{said}");
        // Nobody in particular asks as everybody, and is learned from.
        if key.is_none() {
            continue;
        }
        let (status, said) = send(key, "/api/ask", ask.clone()).await;
        assert_eq!((status, &said["rows"]), (200, &rows), "{said}");
    }
    // A role that the reader may not take up is told as that, and is no outage that passes.
    let apart = run(&["key", "create", "apart", "--scope", "ask,query", "--role", "tenant_apart"]);
    let apart = apart[0]["key"].as_str().unwrap();
    let owner = laboratory.admin("tenants").await;
    let query = json!({"sql": "SELECT what FROM sales", "domain": domain});
    for (path, body) in [("/api/query", &query), ("/api/ask", &ask)] {
        for (made, why) in [
            ("", "the data source has no role tenant_apart"),
            ("CREATE ROLE tenant_apart", "the reader may not take the role tenant_apart up"),
        ] {
            owner.batch_execute("DROP ROLE IF EXISTS tenant_apart").await.unwrap();
            owner.batch_execute(made).await.unwrap();
            let (status, said) = send(Some(apart), path, body.clone()).await;
            assert_eq!((status, said["code"].as_str()), (502, Some("database-refused")), "{said}");
            let detail = said["detail"].as_str().unwrap();
            assert!(detail.contains(why) && !detail.contains("GRANT"), "{said}");
        }
    }

    // Nobody says of themselves who they are.
    let forged =
        json!({"sql": "SELECT set_config('app.tenant', '2', false), what FROM sales", "domain": domain});
    let (status, said) = send(Some(&one), "/api/query", forged).await;
    assert_eq!((status, said["code"].as_str()), (422, Some("sql-rejected")), "{said}");

    // What was answered to one of them becomes nothing that others are told, whatever is said of it.
    let (_, answer) = send(Some(&one), "/api/ask", ask.clone()).await;
    let verdicts = [
        json!({"ask_id": answer["ask_id"], "verdict": "right"}),
        json!({"ask_id": answer["ask_id"], "verdict": "wrong", "sql": "SELECT id FROM sales WHERE what = 'apples'"}),
    ];
    for verdict in verdicts {
        let (status, said) = send(Some(&one), "/api/feedback", verdict).await;
        assert_eq!((status, &said["candidates"]), (200, &json!([])), "{said}");
    }
    for kind in ["examples", "golden", "lessons"] {
        assert_eq!(run(&[kind, "list", "--domain", &domain]), Vec::<Value>::new(), "{kind}");
    }

    // Nor does one of them read what became of the asks of others.
    let (_, answer) = send(None, "/api/ask", ask).await;
    let better = "SELECT id FROM sales WHERE what = 'plums'";
    let verdict = json!({"ask_id": answer["ask_id"], "verdict": "wrong", "sql": better});
    let (status, said) = send(None, "/api/feedback", verdict).await;
    let proposed = said["candidates"].as_array().unwrap().clone();
    assert!(status == 200 && !proposed.is_empty(), "{said}");
    let scopes = ["key", "create", "bound", "--scope", "read,curate"];
    let made = |more: &[&str]| run(&[&scopes[..], more].concat())[0]["key"].as_str().unwrap().to_owned();
    let (bound, free) = (made(&["--setting", "app.tenant=1"]), made(&[]));
    let get = |key: &str, path: String| sent(client.get(format!("{}{path}", served.url)).bearer_auth(key));
    let mut read_by_others = String::new();
    for kind in ["examples", "golden", "lessons"] {
        for shelf in ["", "&shelf=candidate", "&state=proposed"] {
            let (status, page) = get(&bound, format!("/api/{kind}?domain={domain}{shelf}")).await;
            assert_eq!((status, &page), (200, &json!({"items": [], "next_cursor": null})), "{kind}{shelf}");
        }
        let (_, page) = get(&free, format!("/api/{kind}?domain={domain}")).await;
        read_by_others.push_str(&page["items"].to_string());
        for id in proposed.iter().filter_map(Value::as_str) {
            let (status, said) = get(&bound, format!("/api/{kind}/{id}")).await;
            assert_eq!((status, said["code"].as_str()), (404, Some("unknown-item")), "{said}");
            assert!(!said.to_string().contains("plums"), "{said}");
            let reject = json!({"hash": "0".repeat(64), "why": "no"});
            let (status, said) = send(Some(&bound), &format!("/api/{kind}/{id}/reject"), reject).await;
            assert_eq!((status, said["code"].as_str()), (404, Some("unknown-item")), "{said}");
        }
    }
    for id in &proposed {
        assert!(read_by_others.contains(&id.to_string()), "{id}: {read_by_others}");
    }
}
