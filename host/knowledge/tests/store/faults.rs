//! A store that is not what it must be is told by its key and remedy.

use airlock_knowledge::store::{Duty, Store, StoreError};
use airlock_setup::Secret;

use crate::harness::{Place, number};

async fn fault(store: &Store, duty: Duty) -> StoreError {
    let found = store.check().await;
    found.into_iter().find(|(of, _)| *of == duty).unwrap().1.unwrap_err()
}

#[tokio::test]
async fn what_is_wrong_with_a_store_is_named() {
    let place = Place::empty().await;
    let admin = place.admin().await;
    let run =
        async |sql: &str| admin.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));

    assert!(matches!(fault(&place.host(), Duty::Recall).await, StoreError::NotSetUp));
    let first = place.host().migrate().await.unwrap();
    assert_eq!(
        (first.from, place.host().migrate().await.unwrap().from),
        (0, first.to),
        "a second time does nothing"
    );

    let wrong = place.host_with(|duty, way| {
        if duty == Duty::Janitor {
            way.2 = Secret::new("guess");
        }
    });
    let error = fault(&wrong, Duty::Janitor).await;
    assert!(matches!(&error, StoreError::Denied { duty: Duty::Janitor, .. }), "{error}");
    assert!(
        error.to_string().contains("store.credentials") && !error.to_string().contains("guess"),
        "{error}"
    );
    // The others go on.
    number(&wrong.recall()).await;

    run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'").await;
    let latin = place.host_with(|_, way| way.0 = "latin".to_owned());
    assert!(
        matches!(fault(&latin, Duty::Log).await, StoreError::NotUtf8 { encoding } if encoding == "LATIN1")
    );
    let elsewhere = place.host_with(|_, way| way.0 = "nowhere".to_owned());
    assert!(matches!(fault(&elsewhere, Duty::Log).await, StoreError::Denied { .. }));

    run("ALTER ROLE al_recall SET default_transaction_read_only = on").await;
    assert!(matches!(fault(&place.host(), Duty::Recall).await, StoreError::ReadOnly));
    run("ALTER ROLE al_recall RESET default_transaction_read_only").await;

    run("ALTER ROLE al_ops BYPASSRLS").await;
    assert!(matches!(fault(&place.host(), Duty::Ops).await, StoreError::TooMuch { .. }));
    run("ALTER ROLE al_ops NOBYPASSRLS").await;

    run("REVOKE SELECT ON airlock.store FROM al_recall").await;
    let error = place.host().recall().number().await.unwrap_err();
    assert!(matches!(&error, StoreError::Privilege { duty: Duty::Recall, .. }), "{error}");
    run("GRANT SELECT ON airlock.store TO al_recall").await;

    run("UPDATE airlock.migrations SET hash = repeat('0', 64)").await;
    for error in [fault(&place.host(), Duty::Promote).await, place.host().migrate().await.unwrap_err()] {
        assert!(matches!(error, StoreError::ChangedMigration { version: 1, .. }), "{error}");
    }
    run("INSERT INTO airlock.migrations VALUES (9, 'later', repeat('1', 64))").await;
    for error in [fault(&place.host(), Duty::Promote).await, place.host().migrate().await.unwrap_err()] {
        assert!(matches!(error, StoreError::Newer { found: 9, .. }), "{error}");
    }
}
