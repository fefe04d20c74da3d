//! What recall adds to an ask over very many curated lessons, and how long a pass over many candidates takes;
//! `cargo xtask recall-bench` runs it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement fails by panicking"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use airlock_knowledge::Curated;
use airlock_knowledge::pack::LessonKind;
use airlock_knowledge::store::{
    Content, Curation, ItemId, Learned, LessonContent, NewCandidate, Origin, Store,
};
use airlock_pipeline::learning::{GateMode, GateOptions};
use airlock_tests::laboratory::{Laboratory, Place};
use airlock_types::DomainName;
use serde_json::json;

/// Curated lessons.
const LESSONS: u64 = 100_000;
/// Questions that are asked of them.
const QUESTIONS: u64 = 500;
/// Candidates of the pass.
const CANDIDATES: u64 = 1_000;
/// Words that texts are made of; the first ones are in very many.
const WORDS: u64 = 20_000;

/// A number that looks random and is the same every time.
fn mixed(n: u64) -> u64 {
    let mut x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A word, as often as its rank is low: one in three of a text is among the hundred commonest.
fn word(n: u64) -> String {
    const PARTS: [&str; 16] = [
        "bil", "cust", "or", "pay", "stock", "ven", "del", "ret", "dis", "tax", "mar", "qua", "lo", "sku",
        "run", "net",
    ];
    let of = if n.is_multiple_of(3) { 100 } else { WORDS };
    let mut rank = mixed(n) % of;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(PARTS[usize::try_from(rank % 16).unwrap()]);
        rank /= 16;
    }
    word
}

fn text(seed: u64, words: u64) -> String {
    let mut text = String::new();
    for at in 0..words {
        let _ = write!(text, "{}{}", if at == 0 { "" } else { " " }, word(mixed(seed) % 1_000_000 + at));
    }
    text
}

fn lesson(seed: u64) -> Content {
    let (kind, text, trigger) = (LessonKind::SchemaMap, text(seed, 20), text(seed + 7_000_000, 5));
    LessonContent { kind, text, trigger, tags: Vec::new(), scope: Vec::new() }.into()
}

fn recall() {
    let domain: DomainName = "shop".parse().unwrap();
    let items = (0..LESSONS).map(|seed| Curation::supposed(ItemId::now(), &domain, &lesson(seed))).collect();
    let begun = Instant::now();
    let learned = Learned::new(1, items, &Curated::default(), |_| true);
    eprintln!("{LESSONS} lessons indexed in {:.1} s", begun.elapsed().as_secs_f64());
    let mut times: Vec<Duration> = Vec::new();
    let mut found = 0;
    for seed in 0..QUESTIONS {
        let question = text(seed + 9_000_000, 8);
        let begun = Instant::now();
        found += learned.lessons(&question, None, 6).len() + learned.examples(&question, None, 4).len();
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "recall over {LESSONS} curated lessons: median {:.2} ms, 95 % {:.2} ms, 99 % {:.2} ms, {found} found",
        at(50),
        at(95),
        at(99)
    );
}

async fn candidates(store: &Store, domain: &DomainName) {
    let distill = store.distill();
    for seed in 0..CANDIDATES {
        let new = NewCandidate::new(domain.clone(), lesson(seed), Origin::Imported, "bench");
        let evidence = json!({"file": "RULES.md"});
        distill.ingest(&NewCandidate { evidence, ..new }).await.unwrap();
    }
}

async fn pass() {
    let laboratory = Laboratory::start(30_000).await;
    let place = Place {
        database: "shop",
        search_path: &["public"],
        schema: "CREATE TABLE bills (id bigint PRIMARY KEY, total numeric)",
        traps: None,
        functions: &[],
    };
    let domain: DomainName = laboratory.make(&place).await.parse().unwrap();
    let parts = laboratory.parts().await;
    let store = laboratory.store("knowledge").await;
    let host = parts.host(&store);
    candidates(&store, &domain).await;
    let options = GateOptions::new("bench");
    let begun = Instant::now();
    let report = host
        .promotion_pass(&store.promote(), Some(&domain), GateMode::Auto, &options, |_, _| {})
        .await
        .unwrap();
    println!(
        "a pass over {} candidates without replay: {:.1} s, {} promoted, compared by {}",
        report.summary.candidates,
        begun.elapsed().as_secs_f64(),
        report.summary.promoted,
        report.near_by
    );
}

#[tokio::main]
async fn main() {
    recall();
    pass().await;
}
