//! The private server against the real binaries: it starts, is private, survives crashes and stops.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, SetupError};

/// Set for the copy of this test program that plays an airlock about to be killed.
const KEEP: &str = "AIRLOCK_SETUP_TEST_KEEP";

fn config(dir: &Path) -> PrivateConfig {
    PrivateConfig::new(dir, Durability::Demo)
}

async fn text(postgres: &PrivatePostgres, sql: &str) -> String {
    postgres.connect("postgres").await.unwrap().query_one(sql, &[]).await.unwrap().get(0)
}

fn cluster(dir: &Path) -> std::path::PathBuf {
    let mut entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.join("PG_VERSION").is_file()).unwrap()
}

/// Whether a process runs; one that has ended and is not yet buried has no command line.
fn runs(pid: &str) -> bool {
    fs::read(Path::new("/proc").join(pid).join("cmdline")).is_ok_and(|line| !line.is_empty())
}

#[tokio::test]
async fn it_is_private_keeps_its_data_and_is_kept_by_one_airlock() {
    let dir = tempfile::tempdir().unwrap();
    let first = PrivatePostgres::start(&config(dir.path())).await.unwrap();
    assert_eq!(text(&first, "SHOW listen_addresses").await, "");
    assert_eq!(text(&first, "SHOW server_encoding").await, "UTF8");
    let mode = fs::metadata(first.socket_dir()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let secret = fs::metadata(dir.path().join("admin.secret")).unwrap().permissions().mode();
    assert_eq!(secret & 0o777, 0o600);

    let wrong = first.config("postgres", "airlock_admin", &airlock_setup::Secret::new("guess"));
    let refused = wrong.connect(tokio_postgres::NoTls).await.err().unwrap();
    assert_eq!(refused.code().unwrap().code(), "28P01");

    let admin = first.connect("postgres").await.unwrap();
    admin.batch_execute("CREATE TABLE kept AS SELECT 'yes'::text AS answer").await.unwrap();

    let second = PrivatePostgres::start(&config(dir.path())).await.unwrap_err();
    let own = std::process::id().to_string();
    assert!(matches!(&second, SetupError::InUse { owner, .. } if *owner == own), "{second}");
    let guest = PrivatePostgres::join(dir.path()).await.unwrap();
    assert!(!guest.is_owned());
    assert_eq!(text(&guest, "SELECT answer FROM kept").await, "yes");
    guest.stop().await.unwrap();
    assert_eq!(text(&first, "SELECT answer FROM kept").await, "yes", "a guest does not stop the server");

    first.stop().await.unwrap();
    assert!(!cluster(dir.path()).join("postmaster.pid").exists());
    assert!(PrivatePostgres::join(dir.path()).await.is_err());

    // What an interrupted first run leaves beside the files, and a pid file whose number is another process's.
    fs::create_dir(dir.path().join("data-99.unfinished")).unwrap();
    fs::write(cluster(dir.path()).join("postmaster.pid"), format!("{}\n/elsewhere\n", std::process::id()))
        .unwrap();
    let again = PrivatePostgres::start(&config(dir.path())).await.unwrap();
    assert_eq!(text(&again, "SELECT answer FROM kept").await, "yes");
    drop(again);
    assert!(!cluster(dir.path()).join("postmaster.pid").exists(), "dropping it stops it");
}

/// Not a test of its own: the airlock that the next test kills.
#[tokio::test]
async fn an_airlock_that_will_be_killed() {
    let Some(dir) = std::env::var_os(KEEP) else { return };
    let postgres = PrivatePostgres::start(&config(Path::new(&dir))).await.unwrap();
    postgres
        .connect("postgres")
        .await
        .unwrap()
        .batch_execute("CREATE TABLE kept AS SELECT 'yes'::text AS answer")
        .await
        .unwrap();
    println!("\nready");
    tokio::time::sleep(Duration::from_secs(600)).await;
}

#[tokio::test]
async fn a_killed_airlock_and_its_orphaned_server_do_not_block_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_airlock_that_will_be_killed", "--nocapture"])
        .env(KEEP, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(killed.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the other airlock did not start");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let pid_file = cluster(dir.path()).join("postmaster.pid");
    let orphan = fs::read_to_string(&pid_file).unwrap().lines().next().unwrap().to_owned();
    assert!(runs(&orphan), "the server outlives its airlock");

    let postgres = PrivatePostgres::start(&config(dir.path())).await.unwrap();
    assert_eq!(text(&postgres, "SELECT answer FROM kept").await, "yes");
    assert!(!runs(&orphan), "the orphan was stopped");

    // A server that is itself killed leaves a stale pid file and socket.
    let server = fs::read_to_string(&pid_file).unwrap().lines().next().unwrap().to_owned();
    assert!(Command::new("kill").args(["-KILL", &server]).status().unwrap().success());
    let gone = Instant::now();
    while runs(&server) && gone.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    postgres.stop().await.unwrap();
    assert!(pid_file.exists());
    let postgres = PrivatePostgres::start(&config(dir.path())).await.unwrap();
    assert_eq!(text(&postgres, "SELECT answer FROM kept").await, "yes");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn what_cannot_work_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let missing = PrivateConfig { bin_dir: Some(dir.path().join("none")), ..config(dir.path()) };
    let error = PrivatePostgres::start(&missing).await.unwrap_err();
    assert!(matches!(error, SetupError::NoBinaries { .. }), "{error}");

    let data = dir.path().join("data-15");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("PG_VERSION"), "15\n").unwrap();
    fs::remove_file(dir.path().join("admin.secret")).unwrap_or_default();
    let error = PrivatePostgres::start(&config(dir.path())).await.unwrap_err().to_string();
    assert!(error.contains("admin.secret") && error.contains("lost"), "{error}");

    let file = dir.path().join("a-file");
    fs::write(&file, "").unwrap();
    let error = PrivatePostgres::start(&config(&file)).await.unwrap_err();
    assert!(matches!(error, SetupError::File { .. }), "{error}");
}

#[tokio::test]
async fn who_wants_more_memory_than_a_process_may_have_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let postgres = PrivatePostgres::start(&PrivateConfig::new(dir.path(), Durability::Demo)).await.unwrap();
    let (witness, hungry) =
        (postgres.connect("postgres").await.unwrap(), postgres.connect("postgres").await.unwrap());
    for sql in [
        "SELECT array_length(array_agg(repeat('x', 1000) || a), 1) FROM generate_series(1, 5000000) a",
        "SELECT length(string_agg(repeat('x', 1000), '')) FROM generate_series(1, 900000)",
        "SELECT length(repeat('x', 1000000000) || repeat('y', 1000000))",
    ] {
        let refused = hungry.batch_execute(sql).await.unwrap_err();
        assert_eq!(refused.code().map(|code| code.code()), Some("53200"), "{sql}: {refused:?}");
        // A process that died would take every connection along.
        hungry.batch_execute("SELECT 1").await.unwrap();
        witness.batch_execute("SELECT 1").await.unwrap();
    }
    postgres.stop().await.unwrap();
}
