//! The log is appended to, read by another role, and grows old; keys and conversations are their owners' alone.

use std::collections::BTreeSet;
use std::time::Duration;

use airlock_knowledge::store::{
    Aged, AskRow, Feedback, FeedbackVerdict, ItemId, KeyIdentity, LogLine, NewKey, NewTurn, SessionRow,
    Signal, SignalTool, StoreError, Turn, Use, UseEvent,
};
use airlock_types::ask::Mode;
use airlock_types::{Answer, AskId, ContentHash, Outcome};
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
    let (place, store) = Place::whole().await;
    let (log, report, domain) = (store.log(), store.report(), shop());
    let (_, item) = promoted(&store, "How many bills?", "SELECT count(*) FROM bills").await;
    let first = AskId::now();
    let answers = [(first, "answered", 1), (AskId::now(), "answered", 3), (AskId::now(), "refused", 0)]
        .map(|(ask, outcome, attempts)| answer(ask, outcome, attempts));
    let record = json!({"version": 1, "said": "a\0b"}).to_string();
    let lines = answers.each_ref().map(|answer| {
        let row = AskRow {
            answer,
            asked_at: Timestamp::now(),
            question: answer.question.as_str(),
            sql: answer.sql.as_deref(),
            mode: Mode::Agent,
            model: Some("m"),
            models: &[],
            surface: "http",
            record: (answer.ask_id == first).then_some(record.as_str()),
            under_identity: answer.ask_id == first,
        };
        LogLine::new(Some(answer.ask_id), Some(&row), None, &[])
    });
    log.append(&lines).await.unwrap();
    // Again, as after a connection that was lost at the wrong moment.
    log.append(&lines).await.unwrap();
    for answer in &answers {
        let asked = report.asked(answer.ask_id).await.unwrap().unwrap();
        assert_eq!(asked.under_identity, answer.ask_id == first);
    }
    let now = Timestamp::now();
    let hour_ago = now.checked_sub(jiff::SignedDuration::from_hours(48)).unwrap();
    let all = report.stats(Some(&domain), hour_ago).await.unwrap().all;
    assert_eq!((all.asks, all.answered, all.repaired, all.refused), (3, 2, 1, 1));
    assert_eq!(report.record(first).await.unwrap(), Some(json!({"version": 1, "said": "a\u{fffd}b"})));
    assert_eq!(report.record(answers[1].ask_id).await.unwrap(), Some(json!(null)));
    assert_eq!(report.record(AskId::now()).await.unwrap(), None);

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
    // It is on an ask of somebody in particular: nothing is learned from it.
    assert_eq!(report.feedback(&domain, hour_ago, 10).await.unwrap().len(), 0);
    log.feedback(&Feedback { ask: answers[1].ask_id, ..verdict }).await.unwrap();
    let said = report.feedback(&domain, hour_ago, 10).await.unwrap();
    assert_eq!(
        (said[0].verdict, said[0].question.as_deref()),
        (FeedbackVerdict::Right, Some("How many bills?"))
    );
    let long = "x".repeat(3_000);
    let refused = log.feedback(&Feedback { note: Some(&long), ..verdict }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");

    let event = |event| Use { domain: &domain, item, ask: Some(first), event };
    let other = Use { ask: Some(AskId::now()), ..event(UseEvent::Recalled) };
    for said in [
        vec![event(UseEvent::Recalled), other],
        vec![event(UseEvent::Failed)],
        // Who changes their mind is heard once.
        vec![event(UseEvent::Succeeded)],
    ] {
        log.uses(&said).await.unwrap();
    }
    let uses = report.uses(&domain, None, 10).await.unwrap();
    assert_eq!((uses[0].item, uses[0].hits, uses[0].succeeded, uses[0].failed), (item, 2, 1, 0));
    assert!(report.uses(&domain, Some(&[ItemId::now()]), 10).await.unwrap().is_empty());

    let janitor = store.janitor();
    assert_eq!(janitor.forget_ask(first).await.unwrap(), 2, "the ask and the verdict on it");
    assert_eq!(janitor.retain(Aged::Asks, hour_ago).await.unwrap(), 0);
    let later = Timestamp::now().checked_add(Duration::from_secs(60)).unwrap();
    // Another host is at it.
    let other = place.host_line(airlock_knowledge::store::Duty::Janitor).await;
    other.execute("SELECT pg_advisory_lock(7019267304284449539)", &[]).await.unwrap();
    assert_eq!(janitor.sweep(&[(Aged::Asks, later)]).await.unwrap(), None);
    other.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();
    let ages = [Aged::Asks, Aged::Signals, Aged::Feedback, Aged::Duplicates];
    let swept = janitor.sweep(&ages.map(|what| (what, later))).await.unwrap();
    assert_eq!(swept, Some(ages.into_iter().zip([2, 1, 1, 0]).collect::<Vec<_>>()));
}

#[tokio::test]
async fn keys_are_known_by_their_hash_and_conversations_are_their_owners() {
    let (place, store) = Place::whole().await;
    let (ops, domain) = (store.ops(), shop());
    let hash = ContentHash::of("secret");
    let (scopes, domains) = (["ask".to_owned()], [shop()]);
    let identity = KeyIdentity {
        settings: [("app.tenant".to_owned(), "o'hara \u{2713}".to_owned())].into(),
        role: Some("tenant".to_owned()),
    };
    let new = NewKey {
        name: "app",
        hash,
        scopes: &scopes,
        domains: &domains,
        made_by: "ana",
        expires_at: None,
        identity: Some(&identity),
    };
    assert!(!ops.has_key().await.unwrap());
    let id = ops.add_key(&new).await.unwrap();
    assert!(ops.has_key().await.unwrap());
    assert_eq!(ops.key(hash).await.unwrap().unwrap().identity, Some(identity.clone()));
    assert_eq!(ops.key(hash).await.unwrap().unwrap().scopes, scopes);
    assert!(ops.key(ContentHash::of("guess")).await.unwrap().is_none());
    let past = Timestamp::now().checked_sub(Duration::from_secs(5)).unwrap();
    let ended = NewKey {
        name: "old",
        hash: ContentHash::of("old"),
        expires_at: Some(past),
        identity: None,
        ..new.clone()
    };
    ops.add_key(&ended).await.unwrap();
    assert!(ops.key(ContentHash::of("old")).await.unwrap().is_none());

    let expires_at = Timestamp::now().checked_add(Duration::from_secs(600)).unwrap();
    let session =
        SessionRow { hash: ContentHash::of("s"), key: id, csrf_hash: ContentHash::of("c"), expires_at };
    ops.open_session(&session).await.unwrap();
    assert_eq!(ops.session(session.hash).await.unwrap().unwrap().1.id, id);
    let left = SessionRow { hash: ContentHash::of("left"), ..session.clone() };
    ops.open_session(&left).await.unwrap();
    ops.end_session(left.hash).await.unwrap();
    assert!(ops.session(left.hash).await.unwrap().is_none());
    assert!(ops.session(session.hash).await.unwrap().is_some(), "the other session goes on");
    for more in 0..100 {
        ops.open_session(&SessionRow { hash: ContentHash::of(format!("more {more}")), ..session.clone() })
            .await
            .unwrap();
    }
    assert!(ops.session(session.hash).await.unwrap().is_none(), "the first gives way to many");
    assert!(ops.session(ContentHash::of("more 99")).await.unwrap().is_some());
    ops.revoke_key(id).await.unwrap();
    assert!(!ops.has_key().await.unwrap());
    assert!(ops.key(hash).await.unwrap().is_none());
    assert!(
        ops.session(ContentHash::of("more 99")).await.unwrap().is_none(),
        "a key that is taken back takes its sessions along"
    );
    assert!(matches!(ops.revoke_key(id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(ops.keys().await.unwrap().len(), 2);

    let ask = AskId::now();
    let turn = Turn {
        ask: ask.into(),
        domain: shop(),
        question: "How many?".to_owned(),
        sql: Some("SELECT 1".to_owned()),
        answer: None,
        outcome: Some(Outcome::GaveUp),
    };
    let new = |owner: Option<&str>, follows| {
        let turn = Turn { ask: ItemId::now(), ..turn.clone() };
        NewTurn { owner: owner.map(str::to_owned), follows, turn }
    };
    ops.add_turns(&[NewTurn { turn: turn.clone(), ..new(Some("ana"), None) }]).await.unwrap();
    let next = |owner, follows| {
        let (ops, new) = (ops.clone(), new(owner, follows));
        async move {
            ops.add_turns(&[new]).await.unwrap();
            ops.history(owner, None, 1).await.unwrap().remove(0)
        }
    };
    let begun = ops.history(Some("ana"), None, 10).await.unwrap().remove(0);
    let followed = next(Some("ana"), Some(ask)).await;
    assert_eq!(followed.conversation, begun.conversation);
    let not_mine = next(Some("ben"), Some(ask)).await;
    assert_ne!(not_mine.conversation, begun.conversation, "a follow-up of somebody else's is a beginning");
    assert_ne!(next(None, None).await.conversation, begun.conversation);
    let history = ops.history(Some("ana"), None, 10).await.unwrap();
    assert_eq!(history.iter().map(|past| past.turn.ask).collect::<Vec<_>>(), [followed.turn.ask, turn.ask]);
    assert!(history.iter().all(|past| past.turn.outcome == Some(Outcome::GaveUp)), "{history:?}");
    let before = followed.turn.ask.to_string().parse().unwrap();
    assert_eq!(ops.history(Some("ana"), Some(before), 10).await.unwrap(), [begun]);
    assert_eq!(ops.turn(&domain, Some("ana"), ask).await.unwrap(), Some(turn.clone()));
    assert_eq!(ops.turn(&domain, Some("ben"), ask).await.unwrap(), None);
    assert_eq!(ops.turn(&"fleet".parse().unwrap(), Some("ana"), ask).await.unwrap(), None);

    // Many at once, each in its own place: two follow one ask, one follows somebody else's, two follow none.
    let many = [
        new(Some("ana"), Some(ask)),
        new(Some("ben"), Some(ask)),
        new(Some("ana"), None),
        new(Some("ana"), Some(ask)),
        new(None, None),
    ];
    ops.add_turns(&many).await.unwrap();
    let mut conversations = Vec::new();
    for NewTurn { owner, turn, .. } in &many {
        let kept = ops.history(owner.as_deref(), None, 10).await.unwrap();
        conversations.push(kept.iter().find(|past| past.turn == *turn).unwrap().conversation);
    }
    let (first, rest) = conversations.split_first().unwrap();
    assert_eq!((*first, rest[2]), (followed.conversation, followed.conversation));
    let apart: BTreeSet<ItemId> = conversations.iter().copied().collect();
    assert_eq!(apart.len(), 4, "{conversations:?}");
    // All or none: one of them is there already.
    let again = [new(None, None), many[0].clone()];
    assert!(matches!(ops.add_turns(&again).await, Err(error) if !error.is_passing()));
    assert_eq!(ops.history(None, None, 10).await.unwrap().len(), 2);

    // A migration of a later version may give a column another type while statements that read it are ready.
    place.admin().await.batch_execute("ALTER TABLE airlock.turns ALTER question TYPE varchar").await.unwrap();
    assert_eq!(ops.history(None, None, 10).await.unwrap().len(), 2);
}
