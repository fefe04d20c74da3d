//! The log is appended to, read by another role, and grows old; keys and conversations are their owners' alone.

use std::time::Duration;

use airlock_knowledge::store::{
    Aged, AskRow, Conversation, Feedback, FeedbackVerdict, ItemId, NewKey, SessionRow, Signal, SignalTool,
    StoreError, Turn, Use, UseEvent,
};
use airlock_types::ask::Mode;
use airlock_types::{Answer, AskId, ContentHash};
use jiff::Timestamp;
use serde_json::json;

use crate::harness::{Place, promoted, shop};

fn answer(ask: AskId, outcome: &str, attempts: u32) -> Answer {
    serde_json::from_value(json!({
        "ask_id": ask, "question": "How many bills?", "domain": "shop", "outcome": outcome, "reason": null, "kind": "data",
        "answer": "There are 3.", "sql": "SELECT count(*) FROM bills", "columns": [], "rows": [], "row_count": 1,
        "truncated": false, "assumptions": [], "warnings": [], "tables_used": ["public.bills"], "attempts": attempts,
        "history": [], "refused": false, "gave_up": false, "lessons": [], "examples": ["x"], "components": [], "context": [],
        "tokens": {"input": 5, "output": 7}, "cost": 0.25, "latency_ms": 12, "trace_id": "t"
    }))
    .unwrap()
}

#[tokio::test]
async fn what_is_logged_is_reported_and_grows_old() {
    let (_place, store) = Place::whole().await;
    let (log, report, domain) = (store.log(), store.report(), shop());
    let (_, item) = promoted(&store, "How many bills?", "SELECT count(*) FROM bills").await;
    let first = AskId::now();
    for (ask, outcome, attempts) in
        [(first, "answered", 1), (AskId::now(), "answered", 3), (AskId::now(), "refused", 0)]
    {
        let answer = answer(ask, outcome, attempts);
        let row =
            AskRow { answer: &answer, mode: Mode::Agent, model: Some("m"), surface: "http", record: None };
        log.ask(&row).await.unwrap();
        log.ask(&row).await.unwrap();
    }
    let now = Timestamp::now();
    let hour_ago = now.checked_sub(jiff::SignedDuration::from_hours(48)).unwrap();
    let days = report.days(Some(&domain), hour_ago).await.unwrap();
    let sum = |of: fn(&airlock_knowledge::store::DayRow) -> i64| days.iter().map(of).sum::<i64>();
    assert_eq!(
        (sum(|day| day.asks), sum(|day| day.answered), sum(|day| day.repaired), sum(|day| day.refused)),
        (3, 2, 1, 1)
    );
    assert_eq!(sum(|day| day.tokens), 36);

    let (tables, none) = (["public.bills".to_owned()], []);
    let signal = Signal {
        domain: &domain,
        tool: SignalTool::Query,
        ask: None,
        question: None,
        sql: Some("SELECT 1"),
        tables: &tables,
        outcome: "ok",
        error_types: &none,
    };
    log.signal(&signal).await.unwrap();
    assert_eq!(report.signals(&domain, None, 10).await.unwrap()[0].tables, tables);
    let verdict = Feedback {
        domain: &domain,
        ask: first,
        verdict: FeedbackVerdict::Right,
        corrected_sql: None,
        note: Some("yes"),
        who: Some("ana"),
        surface: "http",
    };
    log.feedback(&verdict).await.unwrap();
    let said = report.feedback(&domain, hour_ago, 10).await.unwrap();
    assert_eq!(
        (said[0].verdict, said[0].question.as_deref()),
        (FeedbackVerdict::Right, Some("How many bills?"))
    );
    let long = "x".repeat(3_000);
    let refused = log.feedback(&Feedback { note: Some(&long), ..verdict }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");

    let event = |event| Use { domain: &domain, item, ask: Some(first), event };
    log.uses(&[event(UseEvent::Recalled), event(UseEvent::Recalled), event(UseEvent::Succeeded)])
        .await
        .unwrap();
    let uses = report.uses(&domain, 10).await.unwrap();
    assert_eq!((uses[0].item, uses[0].hits, uses[0].succeeded, uses[0].failed), (item, 2, 1, 0));

    let janitor = store.janitor();
    assert_eq!(janitor.forget_ask(first).await.unwrap(), 2, "the ask and the verdict on it");
    assert_eq!(janitor.retain(Aged::Asks, hour_ago).await.unwrap(), 0);
    let later = Timestamp::now().checked_add(Duration::from_secs(60)).unwrap();
    for (what, gone) in [(Aged::Asks, 2), (Aged::Signals, 1), (Aged::Feedback, 0), (Aged::Duplicates, 0)] {
        assert_eq!(janitor.retain(what, later).await.unwrap(), gone, "{what}");
    }
}

#[tokio::test]
async fn keys_are_known_by_their_hash_and_conversations_are_their_owners() {
    let (_place, store) = Place::whole().await;
    let (ops, domain) = (store.ops(), shop());
    let hash = ContentHash::of("secret");
    let (scopes, domains) = (["ask".to_owned()], [shop()]);
    let new =
        NewKey { name: "app", hash, scopes: &scopes, domains: &domains, made_by: "ana", expires_at: None };
    let id = ops.add_key(&new).await.unwrap();
    assert_eq!(ops.key(hash).await.unwrap().unwrap().scopes, scopes);
    assert!(ops.key(ContentHash::of("guess")).await.unwrap().is_none());
    let past = Timestamp::now().checked_sub(Duration::from_secs(5)).unwrap();
    let ended = NewKey { name: "old", hash: ContentHash::of("old"), expires_at: Some(past), ..new.clone() };
    ops.add_key(&ended).await.unwrap();
    assert!(ops.key(ContentHash::of("old")).await.unwrap().is_none());

    let expires_at = Timestamp::now().checked_add(Duration::from_secs(600)).unwrap();
    let session =
        SessionRow { hash: ContentHash::of("s"), key: Some(id), csrf_hash: ContentHash::of("c"), expires_at };
    ops.open_session(&session).await.unwrap();
    assert_eq!(ops.session(session.hash).await.unwrap().unwrap().key, Some(id));
    let left = SessionRow { hash: ContentHash::of("left"), ..session.clone() };
    ops.open_session(&left).await.unwrap();
    ops.end_session(left.hash).await.unwrap();
    assert!(ops.session(left.hash).await.unwrap().is_none());
    assert!(ops.session(session.hash).await.unwrap().is_some(), "the other session goes on");
    ops.revoke_key(id).await.unwrap();
    assert!(ops.key(hash).await.unwrap().is_none());
    assert!(
        ops.session(session.hash).await.unwrap().is_none(),
        "a key that is taken back takes its sessions along"
    );
    assert!(matches!(ops.revoke_key(id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(ops.keys().await.unwrap().len(), 2);

    let mine = Conversation { id: ItemId::now(), domain: shop(), owner: Some("ana".to_owned()) };
    ops.begin_conversation(&mine).await.unwrap();
    let ask = AskId::now();
    let turn = Turn {
        ask: ask.into(),
        domain: shop(),
        question: "How many?".to_owned(),
        sql: Some("SELECT 1".to_owned()),
        answer: None,
    };
    ops.add_turn(&mine, &turn).await.unwrap();
    let not_mine = Conversation { owner: Some("ben".to_owned()), ..mine.clone() };
    let other = Turn { ask: ItemId::now(), ..turn.clone() };
    assert!(matches!(ops.add_turn(&not_mine, &other).await, Err(StoreError::NotFound { .. })));
    assert_eq!(ops.turn(&domain, Some("ana"), ask).await.unwrap(), Some(turn));
    assert_eq!(ops.turn(&domain, Some("ben"), ask).await.unwrap(), None);
    assert_eq!(ops.turn(&"fleet".parse().unwrap(), Some("ana"), ask).await.unwrap(), None);
}
