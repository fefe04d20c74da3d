//! A process that learns as fast as it can, and what must hold of its store at any moment.

use airlock_knowledge::pack::LessonKind;
use airlock_knowledge::promotion::{Answering, Decider, Gate, Nearness, Veto, pass};
use airlock_knowledge::store::{
    CandidateState, Content, Decision, ExampleContent, Filter, ItemId, Kind, LessonContent, Mode,
    NewCandidate, Origin, Store, StoreError,
};
use airlock_types::{Catalogue, DomainName};
use serde_json::json;

use crate::laboratory::{Roles, store_at};

/// What it says before it begins.
pub const READY: &str = "learning";

/// What must hold whenever anybody looks: each query counts what breaks it.
pub const INVARIANTS: [(&str, &str); 6] = [
    (
        "a promoted candidate has its curated item",
        "SELECT count(*) FROM airlock.candidates c LEFT JOIN airlock.curated k ON k.id = c.curated AND k.candidate = c.id
         WHERE c.state = 'promoted' AND (k.id IS NULL OR k.state = 'withdrawn')",
    ),
    (
        "a curated item in service has its promoted candidate",
        "SELECT count(*) FROM airlock.curated k LEFT JOIN airlock.candidates c ON c.id = k.candidate AND c.curated = k.id
         WHERE k.state = 'active' AND (c.id IS NULL OR c.state <> 'promoted')",
    ),
    (
        "what is curated was decided",
        "SELECT count(*) FROM airlock.curated k WHERE NOT EXISTS
         (SELECT FROM airlock.decisions d WHERE d.curated = k.id AND d.verdict = 'promote')",
    ),
    (
        "what was promoted or rejected was decided so",
        "SELECT count(*) FROM airlock.candidates c WHERE c.state IN ('promoted', 'rejected') AND NOT EXISTS
         (SELECT FROM airlock.decisions d WHERE d.candidate = c.id
          AND d.verdict = CASE c.state WHEN 'promoted' THEN 'promote' ELSE 'reject' END)",
    ),
    (
        "no candidate is there twice",
        "SELECT count(*) FROM (SELECT FROM airlock.candidates GROUP BY domain, kind, hash HAVING count(*) > 1) AS twice",
    ),
    (
        "every change has its number",
        "SELECT abs(s.last_change - (SELECT count(*) FROM airlock.changes)) +
            abs(s.last_change - (SELECT COALESCE(max(number), 0) FROM airlock.changes)) FROM airlock.store s",
    ),
];

struct Agreeing;

impl Veto for Agreeing {
    fn judge<'a>(&'a self, _content: &'a Content) -> Answering<'a, Result<Option<String>, String>> {
        Box::pin(async { Ok(None) })
    }
}

/// Learns until it is killed.
pub async fn learn(roles: &Roles) {
    let store = store_at(roles);
    println!("{READY}");
    loop {
        distil(&store).await;
        promote(&store).await;
        approve(&store).await;
    }
}

fn domain() -> DomainName {
    "shop".parse().unwrap()
}

fn lettered(digit: u8) -> char {
    char::from(if digit.is_ascii_digit() { digit - b'0' + b'g' } else { digit })
}

/// Lessons of a few asks, and examples of as many.
async fn distil(store: &Store) {
    let distill = store.distill();
    for _ in 0..6 {
        let id = ItemId::now();
        // A word of letters: a number is not taught.
        let word: String = id.to_string().bytes().filter(u8::is_ascii_alphanumeric).map(lettered).collect();
        let text = format!("Here `{word}` asks for nothing by itself.");
        let (kind, trigger) = (LessonKind::SchemaMap, String::new());
        let lesson = LessonContent { kind, text, trigger, tags: Vec::new(), scope: Vec::new() };
        let new = NewCandidate::new(domain(), lesson.into(), Origin::Imported, "the list");
        let evidence = json!({"file": "RULES.md", "ask": id.to_string(), "positive": ["it was right"]});
        distill.ingest(&NewCandidate { evidence, ..new }).await.unwrap();
        let example = ExampleContent {
            question: format!("Bill {id}?"),
            sql: format!("SELECT '{id}'"),
            scope: Vec::new(),
        };
        let new = NewCandidate::new(domain(), example.into(), Origin::Agent, "an ask");
        let evidence = json!({"ask": id.to_string()});
        distill.ingest(&NewCandidate { evidence, ..new }).await.unwrap();
    }
}

/// One pass of the gate. The one of a process that was killed may hold its lock for a moment.
async fn promote(store: &Store) {
    let sql = |_: &str| Ok(());
    let catalogue = Catalogue::default();
    let mut gate = Gate {
        sql: &sql,
        catalogue: &catalogue,
        veto: &Agreeing,
        near: Nearness::new(Vec::new(), None).await,
        threshold: 2.0,
        decider: Decider::Auto,
    };
    let options = pass::PassOptions { dry_run: false, who: "learner".to_owned(), limit: 40 };
    match pass::run(&store.promote(), &domain(), &mut gate, &options, |_, _| {}).await {
        Ok(_) | Err(StoreError::PassRunning) => {}
        Err(error) => panic!("{error}"),
    }
}

/// A person who approves, sets back and rejects what waits.
async fn approve(store: &Store) {
    let promote = store.promote();
    let filter = Filter {
        domain: Some(domain()),
        kind: Some(Kind::Example),
        state: Some(CandidateState::Proposed),
        limit: 6,
        ..Filter::default()
    };
    let by = Decision::new(Mode::Person, "ana", "it is right");
    for (at, one) in promote.candidates(&filter).await.unwrap().into_iter().enumerate() {
        promote.promote(&domain(), one.id, one.hash, &by).await.unwrap();
        if at % 3 == 0 {
            promote.set_back(&domain(), one.id, one.hash, &by).await.unwrap();
            promote.reject(&domain(), one.id, one.hash, &by).await.unwrap();
        }
    }
}
