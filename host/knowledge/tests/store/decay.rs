//! How items fare is counted from their uses, since they were put in service last.

use airlock_knowledge::promotion::decay::Fared;
use airlock_knowledge::store::{CurationState, Decision, Mode, StoreError, Use, UseEvent};
use airlock_types::AskId;

use crate::harness::{Place, by, eventually, lesson, new, promoted, shop};

#[tokio::test]
async fn an_ask_counts_once_by_its_last_word_and_since_the_item_came_into_service() {
    let (_place, store) = Place::whole().await;
    let (promote, log, domain) = (store.promote(), store.log(), shop());
    let (_, bad) = promoted(&store, "How many bills?", "SELECT count(*) FROM bills").await;
    let (_, untested) = promoted(&store, "How many shops?", "SELECT count(*) FROM shops").await;
    let said = async |item, ask, events: &[UseEvent]| {
        for event in events {
            log.uses(&[Use { domain: &domain, item, ask: Some(ask), event: *event }]).await.unwrap();
        }
    };
    for _ in 0..9 {
        said(untested, AskId::now(), &[UseEvent::Recalled]).await;
    }
    for events in [
        [UseEvent::Recalled, UseEvent::Failed].as_slice(),
        &[UseEvent::Recalled, UseEvent::Succeeded, UseEvent::Failed, UseEvent::Failed],
        &[UseEvent::Recalled, UseEvent::Failed, UseEvent::Succeeded],
        &[UseEvent::Recalled],
    ] {
        said(bad, AskId::now(), events).await;
    }
    let fared = promote.fared(&domain).await.unwrap();
    let [(item, counts)] = fared.as_slice() else { panic!("{fared:?}") };
    assert_eq!((item.id, *counts), (bad, Fared { hits: 4, verified: 3, succeeded: 1 }));
    let why = counts.stopped_helping().unwrap();

    let decay = Decision::new(Mode::Decay, "a schedule", &why);
    promote.demote(&domain, bad, item.hash, &decay).await.unwrap();
    assert_eq!(promote.curated(&domain, bad).await.unwrap().state, CurationState::Stale);
    assert!(promote.fared(&domain).await.unwrap().is_empty(), "what is out of service is left alone");
    // Who brings it back gives it another chance.
    promote.restore(&domain, bad, item.hash, &by("ana")).await.unwrap();
    assert!(promote.fared(&domain).await.unwrap().is_empty());
    for _ in 0..3 {
        said(bad, AskId::now(), &[UseEvent::Recalled, UseEvent::Failed]).await;
    }
    assert_eq!(promote.fared(&domain).await.unwrap()[0].1.verified, 3);
}

#[tokio::test]
async fn a_schema_change_is_a_decision_of_its_own_mode_and_is_taken_back_by_a_person() {
    let (_place, store) = Place::whole().await;
    let (promote, domain) = (store.promote(), shop());
    let handed = new(lesson("Carts are no sales."));
    store.distill().ingest(&handed).await.unwrap();
    let hash = handed.content.hash();
    let item = promote.promote(&domain, handed.id, hash, &by("ana")).await.unwrap().curated.unwrap();
    let schema = Decision::new(Mode::Schema, "a schedule", "the relation public.carts is gone");
    promote.supersede(&domain, item, hash, &schema).await.unwrap();
    let again = promote.supersede(&domain, item, hash, &schema).await.unwrap_err();
    assert!(again.is_conflict(), "two hosts see the same change: {again}");
    promote.restore(&domain, item, hash, &by("ana")).await.unwrap();
    let history = store.report().decisions(&domain, Some(item), 10).await.unwrap();
    let modes: Vec<Mode> = history.iter().map(|row| row.mode).collect();
    assert_eq!(modes, [Mode::Person, Mode::Schema, Mode::Person]);
}

#[tokio::test]
async fn one_host_of_a_store_runs_its_schedule() {
    let (place, store) = Place::whole().await;
    let other = place.host();
    let turn = store.promote().scheduled().await.unwrap();
    assert!(turn.is_some());
    assert!(other.promote().scheduled().await.unwrap().is_none(), "another host has the turn");
    assert!(other.promote().pass().await.is_ok(), "and a person may begin a pass");
    drop(turn);
    // The server notices that a connection is gone a moment later.
    let again = async || other.promote().scheduled().await?.ok_or(StoreError::PassRunning);
    eventually(again, |error| matches!(error, StoreError::PassRunning)).await;
}
