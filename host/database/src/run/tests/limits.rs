//! Time, bytes, places in the pool: each limit is reached and told.

use super::*;

#[tokio::test]
async fn bytes_are_capped_as_they_arrive() {
    let server = Postgres::start();
    let config = SourceConfig {
        cell_bytes: 10_000,
        row_bytes: 50_000,
        result_bytes: 100_000,
        pool_size: 1,
        ..SourceConfig::new(server.url("postgres"))
    };
    let source = connect(config).await;
    for sql in [
        "SELECT repeat('x', 10001)",
        "SELECT repeat('x', 60000000)",
        "SELECT repeat('x', 9000), repeat('x', 9000), repeat('x', 9000), repeat('x', 9000), repeat('x', 9000), repeat('x', 9000)",
        "SELECT repeat('x', 9000) FROM generate_series(1, 20)",
    ] {
        let failure = run(&source, sql).await.unwrap_err();
        assert_eq!(failure.error_type, ErrorType::Resource, "{sql}: {failure:?}");
        assert!(failure.repairable && failure.sql == sql);
        // The place in the pool comes back, with another connection.
        assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    }
    assert_eq!(
        run(&source, "SELECT repeat('x', 9000) FROM generate_series(1, 10)").await.unwrap().rows.len(),
        10
    );
}

#[tokio::test]
async fn who_goes_away_cancels_and_who_waits_too_long_is_told() {
    let server = Postgres::start();
    let config = SourceConfig {
        pool_size: 1,
        pool_wait: Duration::from_millis(200),
        statement_timeout: 5 * PATIENCE,
        grace: PATIENCE,
        ..SourceConfig::new(server.url("postgres"))
    };
    let source = connect(config.clone()).await;
    let running = || {
        server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(900)%' AND state = 'active' AND pid <> pg_backend_pid()")
    };
    let sleeper = tokio::spawn({
        let source = source.clone();
        async move { run(&source, "SELECT pg_sleep(900)").await }
    });
    eventually("the statement runs", async || running() == "1").await;

    let busy = run(&source, "SELECT 1").await.unwrap_err();
    assert_eq!(busy.error_type, ErrorType::Infrastructure);
    assert!(busy.message.contains("all 1 connections are busy"), "{}", busy.message);

    sleeper.abort();
    eventually("the statement is cancelled", async || running() == "0").await;
    eventually("the place comes back", async || source.pool().available() == 1).await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    assert_eq!(source.resting(), None, "a cancellation that is obeyed trips nothing");

    // The statement's own timeout is a timeout, of the source or of the ask, whatever ends first.
    let quick = connect(SourceConfig { statement_timeout: Duration::from_millis(100), ..config }).await;
    let failure = run(&quick, "SELECT pg_sleep(900)").await.unwrap_err();
    assert_eq!((failure.error_type, failure.sqlstate.as_deref()), (ErrorType::Timeout, Some("57014")));
    assert!(failure.hint.is_some_and(|hint| hint.contains("100 ms")));
    let soon =
        RunOptions { deadline: Some(Instant::now() + Duration::from_millis(300)), ..RunOptions::default() };
    assert_eq!(
        run_with(&source, "SELECT pg_sleep(900)", &soon).await.unwrap_err().error_type,
        ErrorType::Timeout
    );
    let past = RunOptions { deadline: Some(Instant::now()), ..RunOptions::default() };
    assert!(run_with(&source, "SELECT 1", &past).await.is_err());
}

#[tokio::test]
async fn who_waits_for_a_lock_is_told_of_the_lock() {
    let server = Postgres::start();
    server.psql("CREATE TABLE bills (id int)");
    // The statement may run no longer than it may wait for a lock.
    let config = SourceConfig {
        statement_timeout: Duration::from_secs(2),
        lock_timeout: Duration::from_secs(2),
        ..SourceConfig::new(server.url("postgres"))
    };
    let source = connect(config).await;
    let url = server.url("postgres");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; LOCK TABLE bills IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let failure = run(&source, "SELECT id FROM bills").await.unwrap_err();
    assert_eq!((failure.error_type, failure.sqlstate.as_deref()), (ErrorType::Infrastructure, Some("55P03")));
    client.batch_execute("ROLLBACK").await.unwrap();
    assert!(run(&source, "SELECT id FROM bills").await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn a_connection_that_died_in_the_pool_is_not_the_askers_trouble() {
    let server = Postgres::start();
    let source = source(&server, "postgres").await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'airlock'");
    server.alone().await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    let killed = tokio::spawn({
        let source = source.clone();
        async move { run(&source, "SELECT pg_sleep(900)").await }
    });
    eventually("the statement is killed", async || {
        server.psql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(900)' AND state = 'active' AND pid <> pg_backend_pid()") == "1"
    })
    .await;
    let failure = killed.await.unwrap().unwrap_err();
    assert_eq!((failure.error_type, failure.sqlstate.as_deref()), (ErrorType::Infrastructure, Some("57P01")));
    let cancelled = tokio::spawn({
        let source = source.clone();
        async move { run(&source, "SELECT pg_sleep(900)").await }
    });
    // A request to cancel that comes between two messages is lost, so it is made until it is heard.
    eventually("the statement is cancelled by somebody else", async || {
        server.psql("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(900)' AND state = 'active' AND pid <> pg_backend_pid()");
        cancelled.is_finished()
    })
    .await;
    assert_eq!(cancelled.await.unwrap().unwrap_err().error_type, ErrorType::Cancelled);
}

/// A hog has this long; an honest statement has the source's time, which a busy machine may need.
fn within(time: Duration) -> RunOptions {
    RunOptions { deadline: Some(Instant::now() + time), ..RunOptions::default() }
}

/// An honest statement is served, once the server has proven that it answers.
async fn served(source: &Source, after: &str) {
    let what = format!("others are served after {after}");
    eventually(&what, async || run(source, "SELECT 1").await.is_ok_and(|result| result.rows == [[json!(1)]]))
        .await;
}

#[tokio::test]
async fn what_devours_the_server_is_held_and_others_are_served() {
    let server = Postgres::start();
    let config = SourceConfig {
        grace: Duration::from_secs(10),
        pool_size: 3,
        ..SourceConfig::new(server.url("postgres"))
    };
    let source = connect(config).await;
    let held = [ErrorType::Timeout, ErrorType::Resource, ErrorType::TooComplex];
    for sql in [
        "SELECT count(*) FROM generate_series(1, 1000000000)",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
        "SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 100000)",
        "SELECT array_agg(g) FROM generate_series(1, 3000000) g",
        "SELECT count(DISTINCT repeat(g::text, 100)) FROM generate_series(1, 2000000) g",
        "SELECT length(xmlconcat(repeat('<a/>', 3000000)::xml)::text)",
        "SELECT length(replace(repeat('x', 20000000), 'x', 'yyyyyyyyyy'))",
        "SELECT a.*, b.* FROM pg_class a, pg_class b, pg_class c",
    ] {
        let statement = Statement { text: sql, sql, rows: 100_000_000, portal_rows: 0 };
        let options = within(Duration::from_millis(500));
        if let Err(failure) = source.run_statement(&statement, &options).await.result {
            assert!(held.contains(&failure.error_type), "{sql}: {failure:?}");
        }
        served(&source, sql).await;
    }
}

#[tokio::test]
async fn a_cost_ceiling_stops_what_the_planner_fears() {
    let server = Postgres::start();
    let config = SourceConfig { cost_ceiling: Some(1_000.0), ..SourceConfig::new(server.url("postgres")) };
    let source = connect(config).await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    let sql = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
    let failure = run(&source, sql).await.unwrap_err();
    assert_eq!(failure.error_type, ErrorType::TooComplex);
    assert!(failure.message.contains("too_expensive"));
    assert_eq!(run(&source, "SELECT nme").await.unwrap_err().position, Some(8));
}

/// Compares every element of one array with every one of another and never looks whether it should stop: 2.5 thousand
/// million comparisons.
const UNSTOPPABLE: &str = "SELECT (SELECT array_agg(g) FROM generate_series(1, 50000) g) && (SELECT array_agg(-g) FROM generate_series(1, 50000) g)";

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stopped_is_counted_until_it_ends_and_nothing_is_started_beside_too_many() {
    let server = Postgres::start();
    let config = SourceConfig {
        grace: Duration::from_millis(300),
        rest: Duration::from_secs(1),
        pool_size: 4,
        orphans: 2,
        ..SourceConfig::new(server.url("postgres"))
    };
    let source = connect(config.clone()).await;
    let running = || {
        server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%array_agg(-g)%' AND state = 'active' AND pid <> pg_backend_pid()")
    };
    let unstoppable = async || run_with(&source, UNSTOPPABLE, &within(Duration::from_millis(500))).await;
    // On a busy machine it may be stopped before it comes to where it cannot be; then it is begun again.
    let begin_until = async |count: usize| loop {
        let failure = unstoppable().await.unwrap_err();
        eventually("it is counted, or has ended", async || {
            source.orphans() == count || running().parse::<usize>().unwrap() < count
        })
        .await;
        if source.orphans() == count {
            break failure;
        }
    };
    let first = begin_until(1).await;
    assert_eq!(first.error_type, ErrorType::Timeout, "{first:?}");
    // One is borne: others are served beside it.
    served(&source, UNSTOPPABLE).await;
    assert_eq!(source.orphans(), 1);
    begin_until(2).await;
    for _ in 0..20 {
        let refused = unstoppable().await.unwrap_err();
        assert_eq!(refused.error_type, ErrorType::Infrastructure);
        assert!(refused.message.contains("2 statements that PostgreSQL cannot stop"), "{}", refused.message);
    }
    assert!(running().parse::<u32>().unwrap() <= 2, "nothing new was started");
    eventually("they have ended", async || source.orphans() == 0).await;
    eventually("the places come back", async || source.pool().available() == 4).await;
    served(&source, "they have ended, by itself").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_falls_silent_is_no_fault_of_the_text() {
    let server = Postgres::start();
    let config = SourceConfig {
        statement_timeout: Duration::from_secs(1),
        grace: Duration::from_secs(1),
        pool_size: 2,
        ..SourceConfig::new(format!("{}&connect_timeout=2", server.url("postgres")))
    };
    let source = connect(config).await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    // Before a statement is sent: over a connection that was there, over a new one, and while the source rests.
    let silenced = server.silenced();
    for _ in 0..3 {
        let failure = run(&source, "SELECT 1").await.unwrap_err();
        assert_eq!(failure.error_type, ErrorType::Infrastructure, "{failure:?}");
        assert!(!failure.repairable);
    }
    drop(silenced);
    served(&source, "it goes on").await;
    // In the middle of one.
    let sleeping = tokio::spawn({
        let source = source.clone();
        async move { run(&source, "SELECT pg_sleep(900)").await }
    });
    eventually("it sleeps", async || {
        server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(900)' AND state = 'active' AND pid <> pg_backend_pid()") == "1"
            || sleeping.is_finished()
    })
    .await;
    let silenced = server.silenced();
    let failure = sleeping.await.unwrap().unwrap_err();
    // On a busy machine PostgreSQL may have ended it before it fell silent.
    if failure.sqlstate.is_none() {
        assert_eq!(failure.error_type, ErrorType::Infrastructure, "{failure:?}");
    }
    drop(silenced);
    served(&source, "it goes on once more").await;
    // A query that PostgreSQL itself ends is slow, and that is the text's affair.
    let slow = run(&source, "SELECT pg_sleep(900)").await.unwrap_err();
    assert_eq!((slow.error_type, slow.sqlstate.as_deref()), (ErrorType::Timeout, Some("57014")));
}

#[tokio::test]
async fn a_statement_whose_connection_is_gone_counts_until_the_server_says_that_it_ended() {
    let server = Postgres::start();
    let source = connect(SourceConfig { orphans: 1, ..SourceConfig::new(server.url("postgres")) }).await;
    let sleeper = connect(SourceConfig::new(server.url("postgres"))).await;
    let sleeping = tokio::spawn(async move { run(&sleeper, "SELECT pg_sleep(600)").await });
    let query = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND state = 'active' AND pid <> pg_backend_pid()";
    eventually("it sleeps", async || server.psql(&format!("SELECT count(*) {query}")) == "1").await;
    let mark = server.psql(&format!("SELECT pid, (date_part('epoch', xact_start) * 1000000)::int8 {query}"));
    let (process, began) = mark.split_once('|').unwrap();
    let of = |process: &str, began: &str| crate::wire::Backend {
        process: process.to_owned(),
        began: began.to_owned(),
    };
    // The same process with another transaction is somebody else's.
    assert!(crate::orphans::still_runs(source.target(), &of(process, began)).await.unwrap());
    assert!(!crate::orphans::still_runs(source.target(), &of(process, "1")).await.unwrap());
    source.pool().adopt(of(process, began));
    assert!(run(&source, "SELECT 1").await.unwrap_err().message.contains("cannot stop"));
    server.psql(&format!("SELECT pg_terminate_backend(pid) {query}"));
    eventually("it is no longer counted", async || source.orphans() == 0).await;
    assert_eq!(row(&source, "SELECT 1").await, [json!(1)]);
    assert!(sleeping.await.unwrap().is_err());
}

#[tokio::test]
async fn waiting_for_a_place_is_not_running() {
    let server = Postgres::start();
    let source = connect(SourceConfig { pool_size: 1, ..SourceConfig::new(server.url("postgres")) }).await;
    let statement = |sql: &'static str| Statement { text: sql, sql, rows: 1, portal_rows: 0 };
    let (options, slow, quick) =
        (RunOptions::default(), statement("SELECT pg_sleep(1)"), statement("SELECT 1"));
    let begun = Instant::now();
    let (first, second) =
        tokio::join!(source.run_statement(&slow, &options), source.run_statement(&quick, &options));
    let both = begun.elapsed();
    assert!(first.result.is_ok() && second.result.is_ok());
    assert!(first.ran >= Duration::from_secs(1), "{first:?}");
    assert!(second.waited >= Duration::from_millis(900), "{second:?}");
    // One ran after the other: the wait of the second is no part of its run.
    assert!(first.ran + second.ran <= both, "{first:?} {second:?} of {both:?}");
}
