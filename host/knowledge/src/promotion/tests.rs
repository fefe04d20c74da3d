//! The gate's order, over traits in memory.

use std::sync::Mutex;

use super::*;
use crate::pack::LessonKind;
use crate::store::{ExampleContent, Kind, LessonContent, Origin};

struct Rules(Result<Option<String>, String>);

impl Veto for Rules {
    fn judge<'a>(&'a self, _: &'a Content) -> Answering<'a, Result<Option<String>, String>> {
        Box::pin(async { self.0.clone() })
    }
}

struct Says(Result<String, String>);

impl Review for Says {
    fn review<'a>(&'a self, _: &'a Candidate) -> Answering<'a, Result<String, String>> {
        Box::pin(async { self.0.clone() })
    }
}

struct Person1(Option<bool>);

impl Person for Person1 {
    fn decide<'a>(&'a self, _: &'a Candidate) -> Answering<'a, Option<bool>> {
        Box::pin(async { self.0 })
    }
}

struct Table(Result<Replayed, String>, Mutex<usize>);

impl Replay for Table {
    fn replay<'a>(&'a self, _: ItemId, _: &'a Content) -> Answering<'a, Result<Replayed, String>> {
        Box::pin(async {
            *self.1.lock().unwrap() += 1;
            self.0.clone()
        })
    }

    fn promoted(&self, _: ItemId, _: &Content, _: &Replayed) {}
}

fn candidate(content: Content, state: CandidateState) -> Candidate {
    let now = jiff::Timestamp::UNIX_EPOCH;
    Candidate {
        id: ItemId::now(),
        domain: "shop".parse().unwrap(),
        kind: content.kind(),
        state,
        hash: content.hash(),
        content,
        origin: Origin::Person,
        evidence: json!({}),
        made_at: now,
        made_by: "ana".to_owned(),
        changed_at: now,
        seen: 1,
        curated: None,
    }
}

fn lesson(text: &str) -> Content {
    let (kind, text) = (LessonKind::SchemaMap, text.to_owned());
    LessonContent { kind, text, trigger: String::new(), tags: Vec::new(), scope: Vec::new() }.into()
}

fn example(question: &str, sql: &str) -> Content {
    ExampleContent { question: question.to_owned(), sql: sql.to_owned(), scope: Vec::new() }.into()
}

fn flip(with: Grade) -> Replayed {
    let (case, question) = ("a".to_owned(), "q".to_owned());
    let cases = vec![CaseReplay { case, question, without: Grade::Wrong, with: vec![with; 3] }];
    Replayed { cases, of: 1, asks: 4 }
}

async fn ruled(rules: &Rules, decider: Decider<'_>, curated: Vec<Content>, new: &Candidate) -> Ruled {
    ruled_when(false, rules, decider, curated, new).await
}

async fn ruled_when(
    disputed: bool,
    rules: &Rules,
    decider: Decider<'_>,
    curated: Vec<Content>,
    new: &Candidate,
) -> Ruled {
    let sql = |text: &str| match text.contains("secret") {
        true => Err("unknown table".to_owned()),
        false => Ok(()),
    };
    let curated = curated.into_iter().map(|content| (Known::Item(ItemId::now()), content)).collect();
    let near = Nearness::new(curated, None).await;
    let catalogue = Catalogue::default();
    let gate = Gate { sql: &sql, catalogue: &catalogue, veto: rules, near, threshold: THRESHOLD, decider };
    gate.rule(new, disputed).await
}

#[tokio::test]
async fn the_order_holds_and_nothing_is_promoted_by_accident() {
    let silent = Rules(Ok(None));
    let new = candidate(lesson("Revenue is the net amount of a bill."), CandidateState::Proposed);
    let same = || vec![lesson("Revenue is the net amount of a bill!")];
    let replay = Table(Ok(flip(Grade::Right)), Mutex::new(0));

    // Shape before veto, veto before near, near before anybody decides.
    let bad = candidate(lesson("Use `select 1 from secret`."), CandidateState::Proposed);
    let objects = Rules(Ok(Some("no".to_owned())));
    let got = ruled(&objects, Decider::Replay(&replay), same(), &bad).await;
    assert!(got.verdict == Verdict::Reject && got.why.contains("gate refuses"), "{got:?}");
    let got = ruled(&objects, Decider::Replay(&replay), same(), &new).await;
    assert!(got.verdict == Verdict::Reject && got.why.contains("adapter"), "{got:?}");
    let got = ruled(&silent, Decider::Replay(&replay), same(), &new).await;
    assert!(matches!(got.verdict, Verdict::Duplicate(_)) && got.why.contains("keywords"), "{got:?}");
    assert_eq!(*replay.1.lock().unwrap(), 0, "what is refused before costs no replay");
    let deaf = Rules(Err("it trapped".to_owned()));
    assert_eq!(ruled(&deaf, Decider::Auto, vec![], &new).await.verdict, Verdict::Skip);

    assert_eq!(ruled(&silent, Decider::Nobody, vec![], &new).await.verdict, Verdict::Skip);
    assert_eq!(ruled(&silent, Decider::Auto, vec![], &new).await.verdict, Verdict::Promote);
    for (says, want) in
        [(Some(true), Verdict::Promote), (Some(false), Verdict::Reject), (None, Verdict::Skip)]
    {
        let person = Person1(says);
        assert_eq!(ruled(&silent, Decider::Person(&person), vec![], &new).await.verdict, want);
    }
}

#[tokio::test]
async fn what_came_of_an_answer_that_was_called_wrong_waits_for_a_person() {
    let (silent, new) = (Rules(Ok(None)), candidate(lesson("Revenue is net."), CandidateState::Proposed));
    let (replay, model) = (Table(Ok(flip(Grade::Right)), Mutex::new(0)), Says(Ok("PROMOTE".to_owned())));
    for decider in [Decider::Replay(&replay), Decider::Model(&model), Decider::Auto] {
        let got = ruled_when(true, &silent, decider, vec![], &new).await;
        assert!(got.verdict == Verdict::Skip && got.why.contains("called wrong"), "{got:?}");
    }
    assert_eq!(*replay.1.lock().unwrap(), 0);
    let person = Person1(Some(true));
    let got = ruled_when(true, &silent, Decider::Person(&person), vec![], &new).await;
    assert_eq!(got.verdict, Verdict::Promote);
}

#[tokio::test]
async fn a_model_must_say_the_one_word() {
    let (silent, new) = (Rules(Ok(None)), candidate(lesson("Revenue is net."), CandidateState::Proposed));
    for (reply, want) in [
        (Ok("PROMOTE"), Verdict::Promote),
        (Ok(" PROMOTE\n"), Verdict::Promote),
        (Ok("promote"), Verdict::Reject),
        (Ok("PROMOTE, I think"), Verdict::Reject),
        (Ok("REJECT"), Verdict::Reject),
        (Ok(""), Verdict::Reject),
        (Err("no answer in time"), Verdict::Reject),
    ] {
        let says = Says(reply.map(str::to_owned).map_err(str::to_owned));
        assert_eq!(ruled(&silent, Decider::Model(&says), vec![], &new).await.verdict, want, "{reply:?}");
    }
}

#[tokio::test]
async fn evidence_is_a_replay_or_a_review_and_sql_is_never_promoted_by_rule() {
    let silent = Rules(Ok(None));
    let waits = candidate(lesson("Revenue is net."), CandidateState::NeedsEvidence);
    let says = Says(Ok("PROMOTE".to_owned()));
    assert_eq!(ruled(&silent, Decider::Model(&says), vec![], &waits).await.verdict, Verdict::Promote);
    assert_eq!(ruled(&silent, Decider::Auto, vec![], &waits).await.verdict, Verdict::Skip);
    for (table, want) in [
        (Ok(flip(Grade::Right)), Verdict::Promote),
        (Ok(flip(Grade::Wrong)), Verdict::Skip),
        (Err("the source is away".to_owned()), Verdict::Skip),
    ] {
        let replay = Table(table, Mutex::new(0));
        let got = ruled(&silent, Decider::Replay(&replay), vec![], &waits).await;
        assert_eq!((&got.verdict, got.mode), (&want, Mode::Replay), "{got:?}");
    }
    for content in [example("How many?", "SELECT 1"), lesson("Write `select 1`.")] {
        let new = candidate(content, CandidateState::Proposed);
        assert_eq!(ruled(&silent, Decider::Auto, vec![], &new).await.verdict, Verdict::Skip);
    }
}

#[tokio::test]
async fn two_examples_are_the_same_if_question_and_sql_are() {
    let curated = vec![
        (
            Known::Item(ItemId::now()),
            example("How many bills are there in all?", "SELECT count(*) FROM bills"),
        ),
        (Known::Pack("g1".to_owned()), lesson("How many bills are there in all?")),
    ];
    let near = Nearness::new(curated, None).await;
    assert_eq!(near.method(), "keywords");
    for (content, same) in [
        (example("how many bills are there in all", "select COUNT(*) from bills"), true),
        (example("how many bills are there in all", "SELECT sum(total) FROM payments WHERE x = 1"), false),
        (example("Which customers owe us most?", "SELECT count(*) FROM bills"), false),
        (lesson("How many bills are there in all?"), true),
    ] {
        let found = near.nearest(&content).await.unwrap();
        assert_eq!(found.similarity >= THRESHOLD, same, "{content:?}: {found:?}");
        assert_eq!(content.kind() == Kind::Lesson, found.known.item().is_none());
    }
}
