//! Agents over stdio: the protocol's own lines, the real binary, a real PostgreSQL.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use airlock_tests::laboratory::{Laboratory, Place};
use airlock_tests::{Airlock, eventually, signal, under_test};
use serde_json::{Value, json};

/// A session of `airlock mcp`.
struct Session {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
}

impl Session {
    fn begin(config: &Path) -> Self {
        let mut child = under_test()
            .arg("mcp")
            .env("AIRLOCK_CONFIG", config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, to, from, last: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let said = session.ask("initialize", &hello);
        assert!(
            said["result"]["instructions"].as_str().is_some_and(|text| text.contains("airlock")),
            "{said}"
        );
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a line as it is and reads what is said to it.
    fn say(&mut self, line: &str) -> Value {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        let mut said = String::new();
        assert!(self.from.read_line(&mut said).unwrap() > 0, "it ended at {line:.100}");
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("not the protocol: {said}"))
    }

    /// Asks and reads on until the reply; everything on stdout is the protocol's.
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "it ended before it replied to {method}");
            let said: Value =
                serde_json::from_str(&line).unwrap_or_else(|_| panic!("not the protocol: {line}"));
            if said["id"] == id {
                return said;
            }
        }
    }

    /// Calls a tool: whether it is an error, its text, its structured content.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String, Value) {
        let said = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &said["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {said}"));
        (result["isError"] == true, text.to_owned(), result["structuredContent"].clone())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_looks_asks_and_runs_sql_over_stdio() {
    let airlock = Airlock::demo().await;
    tokio::task::block_in_place(|| {
        let mut session = Session::begin(&airlock.data.path().join("airlock.toml"));
        let tools = session.ask("tools/list", &json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for name in [
            "list_tables",
            "describe_table",
            "sample_rows",
            "run_query",
            "ask",
            "get_query_context",
            "dry_run",
        ] {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{names:?}"));
            assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        }
        assert!(names.contains(&"feedback"), "{names:?}");
        // Nothing that is trusted is decided here.
        assert!(!names.iter().any(|name| name.contains("approve") || name.contains("promote")), "{names:?}");

        for (tool, arguments, error, said) in [
            ("list_tables", json!({}), false, "bills"),
            ("describe_table", json!({"table": "bills"}), false, "bill_dt"),
            ("sample_rows", json!({"table": "bills"}), false, "PAID"),
            ("get_query_context", json!({"question": "How many bills?"}), false, "<<<tables"),
            ("dry_run", json!({"sql": "SELECT nope FROM bills"}), false, "unknown-column"),
            ("run_query", json!({"sql": "DELETE FROM bills"}), true, "not-a-query"),
            ("run_query", json!({"sql": "SELECT pg_read_file('/etc/passwd')"}), true, "pg_read_file"),
            ("run_query", json!({"sql": "SELECT 1", "domain": "nowhere"}), true, "hardware-shop"),
            ("run_query", json!({"sq": "SELECT 1"}), true, "`sq`"),
            ("run_query", json!({}), true, "sql"),
            ("describe_table", json!({"table": "nothing"}), true, "nothing"),
            ("ask", json!({"question": "What is the weather tomorrow?"}), false, "refused"),
        ] {
            let (failed, text, _) = session.call(tool, &arguments);
            assert_eq!(failed, error, "{tool} {arguments}: {text}");
            assert!(text.to_lowercase().contains(&said.to_lowercase()), "{tool} {arguments}: {text}");
        }

        let (_, _, answer) = session.call("ask", &json!({"question": "How many customers do we have?"}));
        assert_eq!((&answer["outcome"], &answer["rows"]), (&json!("answered"), &json!([[60]])), "{answer}");
        let (_, text, rows) =
            session.call("run_query", &json!({"sql": "SELECT bill_id FROM bills", "max_rows": 3}));
        assert_eq!((&rows["row_count"], &rows["truncated"]), (&json!(3), &json!(true)), "{rows}");
        assert!(text.contains("more"), "{text}");

        // What is no request is answered, and the session goes on.
        let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{}\"}}", "x".repeat(1 << 20));
        for (line, code) in [
            ("{nonsense", -32700),
            ("5", -32600),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#, -32601),
            (&long, -32600),
        ] {
            let said = session.say(line);
            assert_eq!(said["error"]["code"], code, "{line:.100}: {said}");
        }
        assert_eq!(session.ask("ping", &json!({}))["result"], json!({}));

        // When its client goes away it ends.
        drop(session.to.take());
        assert!(session.child.wait().unwrap().success());
    });
}

const SLOW: &str = "SELECT count(*) FROM n a, n b, n c, n d";

const NUMBERS: Place<'static> = Place {
    database: "numbers",
    search_path: &["public"],
    schema: "CREATE TABLE n (i int); INSERT INTO n SELECT generate_series(1, 2000);",
    traps: None,
    functions: &[],
};

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_with_its_client() {
    // Long enough that nothing but a cancellation ends it while this test looks.
    let laboratory = Laboratory::start(600_000).await;
    laboratory.make(&NUMBERS).await;
    let admin = laboratory.admin("numbers").await;
    let running = async || {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%n a, n b, n c, n d%'
            AND pid <> pg_backend_pid()";
        admin.query_one(query, &[]).await.unwrap().get::<_, i64>(0)
    };
    let until = async |count: i64, what: &str| {
        eventually(what, async || {
            let found = running().await;
            if found == count { Ok(()) } else { Err(found) }
        })
        .await;
    };
    for ending in ["stdin", "TERM", "cancelled"] {
        let mut session = tokio::task::block_in_place(|| Session::begin(&laboratory.config()));
        session.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "run_query", "arguments": {"sql": SLOW}}}));
        until(1, "it begins").await;
        match ending {
            "stdin" => drop(session.to.take()),
            "TERM" => signal(session.child.id(), "TERM"),
            _ => {
                // A second request with its id would take it out of the reach of what cancels it.
                let twice = session.say(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
                assert_eq!((&twice["id"], &twice["error"]["code"]), (&json!(7), &json!(-32600)), "{twice}");
                let cancelled = json!({"requestId": 7});
                session.send(
                    &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}),
                );
            }
        }
        until(0, ending).await;
    }
}
