//! Passes of the promotion gate over a real store: what is written, what is not, and that there is one at a time.

use airlock_knowledge::promotion::pass::{self, PassOptions, PassSummary};
use airlock_knowledge::promotion::{Answering, Decider, Gate, Known, Nearness, THRESHOLD, Veto};
use airlock_knowledge::store::{
    CandidateState, Content, Decision, Feedback, FeedbackVerdict, ItemId, Mode, NewCandidate, Origin,
    Promote, Store, StoreError,
};
use airlock_types::AskId;
use serde_json::json;

use crate::harness::{Place, eventually, example, lesson, promoted, shop};

struct Silent;

impl Veto for Silent {
    fn judge<'a>(&'a self, _: &'a Content) -> Answering<'a, Result<Option<String>, String>> {
        Box::pin(async { Ok(None) })
    }
}

async fn handed_in(store: &Store, content: Content) -> ItemId {
    let new = NewCandidate::new(shop(), content, Origin::Person, "ana");
    store.distill().ingest(&new).await.unwrap();
    new.id
}

async fn ruled(
    promote: &Promote,
    curated: &[(ItemId, Content)],
    dry_run: bool,
) -> Result<PassSummary, StoreError> {
    let sql = |text: &str| if text.contains("secret") { Err("unknown table".to_owned()) } else { Ok(()) };
    let known = curated.iter().map(|(id, content)| (Known::Item(*id), content.clone())).collect();
    let near = Nearness::new(known, None).await;
    let (catalogue, decider) = (airlock_types::Catalogue::default(), Decider::Auto);
    let mut gate =
        Gate { sql: &sql, catalogue: &catalogue, veto: &Silent, near, threshold: THRESHOLD, decider };
    let options = PassOptions { dry_run, who: "a schedule".to_owned(), limit: 100 };
    pass::run(promote, &shop(), &mut gate, &options, |_, _| {}).await
}

#[tokio::test]
async fn a_pass_writes_each_ruling_once_and_a_dry_run_none() {
    use CandidateState::{Duplicate, Promoted, Proposed, Rejected};
    let (_place, store) = Place::whole().await;
    let promote = store.promote();
    let (_, curated) =
        promoted(&store, "How many bills are there in all?", "SELECT count(*) FROM bills").await;
    let known = [(curated, example("How many bills are there in all?", "SELECT count(*) FROM bills"))];
    let good = handed_in(&store, lesson("Revenue is the net amount of a bill.")).await;
    let again = handed_in(&store, lesson("Revenue is: the net amount, of a bill")).await;
    let bad = handed_in(&store, lesson("Use `select 1 from secret`.")).await;
    let sql = handed_in(
        &store,
        example("How many bills are there in all of it?", "SELECT count(*) FROM bills WHERE true"),
    )
    .await;
    let other = handed_in(&store, example("Who owes us?", "SELECT name FROM customers")).await;

    let want =
        PassSummary { candidates: 5, promoted: 1, rejected: 1, duplicates: 1, skipped: 2, overtaken: 0 };
    let states = async || {
        let mut states = Vec::new();
        for id in [good, again, bad, sql, other] {
            states.push(promote.candidate(&shop(), id).await.unwrap().state);
        }
        states
    };
    assert_eq!(ruled(&promote, &known, true).await.unwrap(), want);
    assert_eq!(states().await, [Proposed; 5], "a dry run writes nothing");
    assert_eq!(ruled(&promote, &known, false).await.unwrap(), want);
    assert_eq!(states().await, [Promoted, Duplicate, Rejected, Proposed, Proposed]);
    let history = store.report().decisions(&shop(), Some(good), 10).await.unwrap();
    assert_eq!((history.len(), history[0].mode, history[0].who.as_str()), (1, Mode::Auto, "a schedule"));
    // What is left is left again; what was decided on is not looked at.
    let rest = PassSummary { candidates: 2, skipped: 2, ..PassSummary::default() };
    assert_eq!(ruled(&promote, &known, false).await.unwrap(), rest);
}

#[tokio::test]
async fn what_an_ask_taught_by_itself_waits_for_a_person_once_its_answer_is_called_wrong() {
    use FeedbackVerdict::{Corrected, Right, Wrong};
    let (_place, store) = Place::whole().await;
    let taken = async |origin, ask: AskId, verdict: Option<&str>| {
        let mut evidence = json!({"ask": ask.to_string(), "rows": 1, "positive": ["it ran"]});
        evidence["verdict"] = json!(verdict);
        if verdict.is_none() {
            evidence.as_object_mut().unwrap().remove("verdict");
        }
        let text = format!("The word {} asks for nothing.", ItemId::now());
        let new = NewCandidate::new(shop(), lesson(&text), origin, "an ask");
        store.distill().ingest(&NewCandidate { evidence, ..new.clone() }).await.unwrap();
        new.id
    };
    // What was said of each ask, one after the other; what the candidate came by; whether rules promote it.
    let cases: [(&[FeedbackVerdict], Origin, Option<&str>, bool); 7] = [
        (&[], Origin::Agent, None, true),
        (&[Right], Origin::Agent, None, true),
        (&[Wrong], Origin::Agent, None, false),
        (&[Corrected], Origin::Distilled, None, false),
        (&[Wrong, Right], Origin::Agent, None, true),
        (&[Right, Wrong], Origin::Distilled, None, false),
        // What the correction itself says rests on somebody's word.
        (&[Corrected], Origin::Distilled, Some("corrected"), true),
    ];
    let mut ids = Vec::new();
    for (said, origin, verdict, _) in &cases {
        let ask = AskId::now();
        for verdict in *said {
            let (domain, surface) = (&shop(), "cli");
            let (corrected_sql, note, who, verdict) = (None, None, None, *verdict);
            let said = Feedback { domain, ask, verdict, corrected_sql, note, who, surface };
            store.log().feedback(&said).await.unwrap();
        }
        ids.push(taken(*origin, ask, *verdict).await);
    }
    ruled(&store.promote(), &[], false).await.unwrap();
    for (id, case) in ids.iter().zip(&cases) {
        let state = store.promote().candidate(&shop(), *id).await.unwrap().state;
        assert_eq!(state == CandidateState::Promoted, case.3, "{case:?}");
    }
}

#[tokio::test]
async fn passes_follow_each_other_at_once() {
    let (_place, store) = Place::whole().await;
    for _ in 0..20 {
        ruled(&store.promote(), &[], false).await.unwrap();
    }
}

#[tokio::test]
async fn there_is_one_pass_at_a_time_and_a_person_may_decide_meanwhile() {
    let (place, store) = Place::whole().await;
    let id = handed_in(&store, lesson("Revenue is net.")).await;
    let held = store.promote().pass().await.unwrap();
    let other = place.host();
    let refused = ruled(&other.promote(), &[], false).await.unwrap_err();
    assert!(matches!(refused, StoreError::PassRunning), "{refused}");
    let hash = lesson("Revenue is net.").hash();
    let by = Decision::new(Mode::Person, "ana", "not so");
    other.promote().reject(&shop(), id, hash, &by).await.unwrap();
    drop(held);
    // The server lets the lock go when it has seen that its holder is gone.
    let summary = eventually(
        async || ruled(&other.promote(), &[], false).await,
        |error| matches!(error, StoreError::PassRunning),
    );
    assert_eq!(summary.await, PassSummary::default());
}
