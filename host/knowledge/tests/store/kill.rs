//! Connections killed at random while candidates are handed in and decided on: nothing is ever half done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use airlock_knowledge::store::{CandidateState, Filter, Store, StoreError};

use crate::harness::{Place, by, example, new, shop};

/// Candidates that each of two hosts works on.
const EACH: u32 = 60;
/// Connections killed at least.
const KILLS: u32 = 200;

/// What must hold whenever anybody looks.
const INVARIANTS: [(&str, &str); 6] = [
    (
        "a promoted candidate has its curated item in service",
        "SELECT count(*) FROM airlock.candidates c LEFT JOIN airlock.curated k ON k.id = c.curated AND k.candidate = c.id
         WHERE c.state = 'promoted' AND (k.id IS NULL OR k.state = 'withdrawn' OR k.hash <> c.hash)",
    ),
    (
        "a curated item in service has its promoted candidate",
        "SELECT count(*) FROM airlock.curated k LEFT JOIN airlock.candidates c ON c.id = k.candidate AND c.curated = k.id
         WHERE k.state = 'active' AND (c.id IS NULL OR c.state <> 'promoted')",
    ),
    (
        "what is curated was decided",
        "SELECT count(*) FROM airlock.curated k WHERE NOT EXISTS
         (SELECT FROM airlock.decisions d WHERE d.curated = k.id AND d.verdict = 'promote' AND d.hash = k.hash)",
    ),
    (
        "what was decided stands",
        "SELECT count(*) FROM airlock.candidates c WHERE c.state <> COALESCE(
         (SELECT CASE d.verdict WHEN 'promote' THEN 'promoted' WHEN 'reject' THEN 'rejected' ELSE 'proposed' END
          FROM airlock.decisions d WHERE d.candidate = c.id ORDER BY d.at DESC, d.id DESC LIMIT 1), 'proposed')",
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

/// Goes on until the store has said what became of it.
async fn persist<T>(mut work: impl AsyncFnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    loop {
        match work().await {
            Err(error) if error.is_passing() => tokio::time::sleep(Duration::from_millis(2)).await,
            other => return other,
        }
    }
}

/// Hands in, promotes, sets back and decides again; every step may be cut off and is then taken again.
async fn work(store: Store, host: u32, kills: Arc<AtomicU32>) {
    let mut round = 0;
    while round < EACH || kills.load(Ordering::Relaxed) < KILLS {
        let n = host * 100_000 + round;
        round += 1;
        let candidate = new(example(&format!("Question {n}?"), &format!("SELECT {n}")));
        let (id, hash, domain) = (candidate.id, candidate.content.hash(), shop());
        let (distill, promote, ana) = (store.distill(), store.promote(), by("ana"));
        persist(async || distill.ingest(&candidate).await).await.unwrap();
        let decided = persist(async || promote.promote(&domain, id, hash, &ana).await).await;
        // Cut off after the commit: the second try finds it decided.
        assert!(matches!(&decided, Ok(_) | Err(StoreError::Decided { .. })), "{decided:?}");
        if n.is_multiple_of(3) {
            let back = persist(async || promote.set_back(&domain, id, hash, &ana).await).await;
            assert!(matches!(&back, Ok(_) | Err(StoreError::Decided { .. })), "{back:?}");
            let no = persist(async || promote.reject(&domain, id, hash, &ana).await).await;
            assert!(matches!(&no, Ok(_) | Err(StoreError::Decided { .. })), "{no:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_leave_nothing_half_done() {
    let (place, store) = Place::whole().await;
    let (kills, over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let admin = place.admin().await;
    let killer = {
        let (kills, over) = (Arc::clone(&kills), Arc::clone(&over));
        tokio::spawn(async move {
            let kill = "SELECT count(pg_terminate_backend(pid)) FROM (
                SELECT pid FROM pg_stat_activity WHERE usename IN ('al_promote', 'al_distill') ORDER BY random() LIMIT 1) AS one";
            let mut wait = 1;
            while !over.load(Ordering::Relaxed) {
                let killed: i64 = admin.query_one(kill, &[]).await.unwrap().get(0);
                kills.fetch_add(u32::try_from(killed).unwrap(), Ordering::Relaxed);
                for (what, query) in INVARIANTS {
                    let broken: i64 = admin.query_one(query, &[]).await.unwrap().get(0);
                    assert_eq!(broken, 0, "{what}");
                }
                // Between a fraction of a transaction and several of them.
                wait = wait * 7 % 23;
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
        })
    };
    tokio::join!(work(store.clone(), 1, Arc::clone(&kills)), work(place.host(), 2, Arc::clone(&kills)));
    over.store(true, Ordering::Relaxed);
    killer.await.unwrap();
    assert!(kills.load(Ordering::Relaxed) >= KILLS);
    let open = Filter { state: Some(CandidateState::Proposed), ..Filter::default() };
    assert_eq!(
        persist(async || store.promote().candidates(&open).await).await.unwrap(),
        [],
        "none was lost on the way"
    );
}
