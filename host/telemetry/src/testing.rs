//! A finished ask to look at, for the tests of this room.

use std::time::{Duration, SystemTime};

use airlock_pipeline::timeline::{Doing, ModelCall, Said, Span, Statement, Trouble};
use airlock_pipeline::{Asker, Observed, Surface, Timeline};
use airlock_types::ask::Tokens;
use airlock_types::{Answer, AskId, ContentHash, Mode};
use serde_json::json;

/// Words of the question, which no metric and no trace without content may hold.
pub(crate) const QUESTION: &str = "How much did Mrs Ziegelbauer pay?";

/// An ask that failed once, was repaired and answered.
pub(crate) fn repaired() -> Observed {
    let id = AskId::now();
    let sql = "SELECT sum(b.amount) FROM bills AS b WHERE b.name = 'Ziegelbauer'";
    let history = json!([
        {"sql": sql, "origin": "generator", "error_type": "unknown_column", "message": "no Ziegelbauer", "hint": null,
         "sqlstate": "42703", "duration_ms": 2, "row_count": null},
        {"sql": sql, "origin": "repair", "error_type": null, "message": null, "hint": null, "sqlstate": null,
         "duration_ms": 2, "row_count": 1},
    ]);
    let answer: Answer = serde_json::from_value(json!({
        "ask_id": id, "question": QUESTION, "domain": "shop", "outcome": "answered", "reason": null, "kind": "data",
        "answer": "Mrs Ziegelbauer paid 7.", "sql": sql, "columns": [], "rows": [], "row_count": 1, "truncated": false,
        "assumptions": [], "warnings": [], "tables_used": ["shop.bills"], "attempts": 2, "history": history,
        "refused": false, "gave_up": false, "lessons": [], "examples": [], "components": [], "context": [],
        "tokens": {"input": 100, "output": 20}, "cost": 0.25, "latency_ms": 30,
        "trace_id": id.to_string().replace('-', ""),
    }))
    .unwrap();
    let at = Duration::from_millis;
    let span = |doing, within, begun, took, trouble| Span {
        doing,
        within,
        begun: at(begun),
        took: at(took),
        trouble,
    };
    let stage =
        |stage| Doing::Stage { stage, component: format!("{stage}-one"), digest: ContentHash::of(stage) };
    let trouble = |kind: &'static str, sqlstate: Option<&str>| {
        Some(Trouble {
            kind: kind.into(),
            sqlstate: sqlstate.map(str::to_owned),
            message: "column \"Ziegelbauer\" does not exist".to_owned(),
        })
    };
    let call = ModelCall {
        role: "reasoning",
        purpose: "write-sql".to_owned(),
        wanted: "large".to_owned(),
        answered: Some("large".to_owned()),
        provider: "anthropic",
        tokens: Tokens { input: 100, output: 20 },
        cost: Some(0.25),
        requests: 2,
        max_output_tokens: Some(512),
        truncated: false,
        said: Some(Said {
            system: "Write SQL.".to_owned(),
            prompt: QUESTION.to_owned(),
            reply: Some(sql.to_owned()),
        }),
    };
    let statement = |attempt, rows| {
        let tables = vec!["shop.bills".to_owned()];
        Doing::Statement(Box::new(Statement { attempt, probe: false, sql: sql.to_owned(), tables, rows }))
    };
    let spans = vec![
        span(Doing::Prepare, None, 0, 1, None),
        span(stage("generator"), None, 1, 10, None),
        span(Doing::Model(Box::new(call)), Some(1), 2, 8, None),
        span(Doing::Gate { attempt: Some(1), rejected: None }, None, 11, 1, None),
        span(Doing::Wait, None, 12, 1, None),
        span(statement(1, None), None, 13, 2, trouble("unknown_column", Some("42703"))),
        span(stage("repair"), None, 15, 2, None),
        span(Doing::Repair { action: "rewrite" }, None, 17, 0, None),
        span(
            Doing::Gate { attempt: Some(2), rejected: Some("unknown-column") },
            None,
            17,
            1,
            trouble("unknown-column", None),
        ),
        span(statement(2, Some(1)), None, 20, 4, None),
    ];
    let timeline = Timeline { began: SystemTime::UNIX_EPOCH, took: at(30), spans, dropped: 0 };
    let asker = Some(Asker::local(Surface::Http));
    Observed { answer, mode: Mode::Agent, asker, fault: None, timeline, grade: None }
}
