//! Two hosts on one store: what one approves the other has, and what one takes out of service the other does not show.

use std::collections::BTreeSet;

use airlock_knowledge::Curated;
use airlock_knowledge::store::{Change, Learned, Recall, Store};

use crate::harness::{Place, by, example, number, promoted, shop};

/// What a host does when the number is another one.
async fn catch_up(recall: &Recall, learned: Learned) -> Learned {
    let number = number(recall).await;
    let pack = Curated::default();
    match recall.changes(&shop(), learned.number(), number).await.unwrap() {
        Change::All => {
            let (number, items) = recall.active(&shop()).await.unwrap();
            Learned::new(number, items, &pack, |_| true)
        }
        Change::Items { items, .. } => {
            let rows = recall.items(&shop(), &items).await.unwrap();
            learned.updated(number, &items, rows).reindexed(&pack, |_| true)
        }
    }
}

async fn whole(store: &Store) -> Learned {
    let (number, items) = store.recall().active(&shop()).await.unwrap();
    Learned::new(number, items, &Curated::default(), |_| true)
}

fn found(learned: &Learned, query: &str) -> Vec<String> {
    learned.examples(query, None, 9).iter().map(|hit| hit.example.sql.clone()).collect()
}

#[tokio::test]
async fn what_one_host_decides_the_other_has() {
    let (place, here) = Place::whole().await;
    let there = place.host();
    let mut learned = whole(&there).await;
    assert!(learned.is_empty());
    let mut followed = there.recall().follow();

    let sql = "SELECT count(*) FROM bills WHERE overdue";
    let (candidate, curated) = promoted(&here, "How many overdue bills?", sql).await;
    let seen = number(&here.recall()).await;
    assert_eq!(number(&there.recall()).await, seen, "both read the same number at once");
    while followed.now() != Ok(seen) {
        assert!(followed.changed().await.is_some());
    }
    learned = catch_up(&there.recall(), learned).await;
    assert_eq!(found(&learned, "overdue bills"), [sql]);

    let hash = example("How many overdue bills?", sql).hash();
    here.promote().set_back(&shop(), candidate, hash, &by("ana")).await.unwrap();
    let changed = there.recall().changes(&shop(), learned.number(), i64::MAX).await.unwrap();
    assert_eq!(changed, Change::Items { items: BTreeSet::from([curated]), pack: false });
    learned = catch_up(&there.recall(), learned).await;
    assert_eq!(found(&learned, "overdue bills"), Vec::<String>::new());
    let other = there.recall().active(&"fleet".parse().unwrap()).await.unwrap();
    assert_eq!(other.1, []);

    // A row that somebody changed behind the gate's back is not what its hash says.
    let (_, bent) = promoted(&here, "How many shops?", "SELECT count(*) FROM shops").await;
    let admin = place.admin().await;
    let bend = r#"UPDATE airlock.curated SET content = jsonb_set(content, '{sql}', '"SELECT 1"') WHERE kind = 'example' AND state = 'active'"#;
    assert_eq!(admin.execute(bend, &[]).await.unwrap(), 1);
    learned = catch_up(&there.recall(), learned).await;
    assert_eq!(found(&learned, "shops"), Vec::<String>::new());
    assert!(there.recall().items(&shop(), &BTreeSet::from([bent])).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_store_that_goes_away_is_told_and_comes_back() {
    let (place, store) = Place::whole().await;
    let mut followed = store.recall().follow();
    while followed.now().is_err() {
        assert!(followed.changed().await.is_some());
    }
    let admin = place.postgres.connect("postgres").await.unwrap();
    admin.batch_execute("ALTER DATABASE knowledge WITH ALLOW_CONNECTIONS false").await.unwrap();
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'knowledge'";
    admin.execute(kill, &[]).await.unwrap();
    while followed.now().is_ok() {
        assert!(followed.changed().await.is_some());
    }
    assert!(store.recall().number().await.is_err());
    admin.batch_execute("ALTER DATABASE knowledge WITH ALLOW_CONNECTIONS true").await.unwrap();
    while followed.now().is_err() {
        assert!(followed.changed().await.is_some());
    }
    number(&store.recall()).await;
}
