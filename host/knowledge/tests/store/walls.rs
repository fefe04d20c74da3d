//! The walls between the roles, tried with each role's own credential.

use airlock_knowledge::store::Duty;
use airlock_setup::store::{DUTIES, TABLES, prove};

use crate::harness::{Place, promoted};

#[tokio::test]
async fn each_role_does_its_own_and_nothing_else() {
    let (place, store) = Place::whole().await;
    assert_eq!(Duty::ALL.map(Duty::as_str), DUTIES);
    for duty in DUTIES {
        let config =
            place.postgres.config(&place.at.database, &place.at.role(duty), &place.at.passwords[duty]);
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let verdicts = prove(&client, duty).await.unwrap();
        let failed: Vec<String> = verdicts
            .iter()
            .filter(|verdict| !verdict.passed())
            .map(|verdict| format!("{duty}: {verdict}"))
            .collect();
        assert_eq!(failed, Vec::<String>::new());
    }
    // The picture of roles and tables is whole: a table that it lacks would be tried by nobody.
    let admin = place.admin().await;
    let rows = admin
        .query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'airlock' ORDER BY 1", &[])
        .await;
    let there: Vec<String> = rows.unwrap().iter().map(|row| row.get(0)).collect();
    let mut known: Vec<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    known.push("migrations".to_owned());
    known.sort();
    assert_eq!(there, known);

    // What is appended is never changed, not even by the owner of the tables.
    promoted(&store, "How many bills?", "SELECT count(*) FROM bills").await;
    let owner = place.postgres.config(&place.at.database, "al_migrate", &place.at.passwords["migrate"]);
    let (owner, connection) = owner.connect(tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    for sql in [
        "UPDATE airlock.decisions SET why = 'x'",
        "DELETE FROM airlock.decisions",
        "TRUNCATE airlock.decisions",
        "DELETE FROM airlock.uses",
        "DELETE FROM airlock.changes",
    ] {
        let error = owner.batch_execute(sql).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501", "{sql}");
    }
    for (duty, checked) in store.check().await {
        checked.unwrap_or_else(|error| panic!("{duty}: {error}"));
    }
}
