//! Waiting for what happens in its own time. A busy machine gets to it late, but it gets to it.

use std::fmt::Display;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_postgres::Client;

/// How long something that must happen may take before a test gives it up. It says nothing about how long it should take.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// How long what is promised within a second or two may take on a machine that does much else.
const SOON: Duration = Duration::from_secs(60);

/// How long a request over HTTP is waited for: longer than any ask may take.
pub const REQUEST: Duration = Duration::from_secs(300);

/// Looks again and again until there is what is wanted; what was seen instead is told when it never is.
pub async fn eventually<T, S: Display>(what: &str, look: impl AsyncFnMut() -> Result<T, S>) -> T {
    eventually_every(Duration::from_millis(50), what, look).await
}

/// The same with this pause between two looks, for whoever measures.
pub async fn eventually_every<T, S: Display>(
    pause: Duration,
    what: &str,
    look: impl AsyncFnMut() -> Result<T, S>,
) -> T {
    looked_for(pause, PATIENCE, what, look).await
}

/// The same for what is promised within a moment: on a busy machine the moment is long, and has an end.
pub async fn soon<T, S: Display>(what: &str, look: impl AsyncFnMut() -> Result<T, S>) -> T {
    looked_for(Duration::from_millis(50), SOON, what, look).await
}

async fn looked_for<T, S: Display>(
    pause: Duration,
    patience: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Result<T, S>,
) -> T {
    let begun = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) => assert!(begun.elapsed() < patience, "not after {patience:?}: {what}: {seen}"),
        }
        tokio::time::sleep(pause).await;
    }
}

/// Asks until the knowledge store was heard: a host that does not hear it within a moment goes on without, and says so.
pub async fn heard(mut ask: impl AsyncFnMut() -> Value) -> Value {
    eventually("the store is heard", async || {
        let answer = ask().await;
        if answer["warnings"].to_string().contains("knowledge store is away") {
            Err(answer)
        } else {
            Ok(answer)
        }
    })
    .await
}

/// Ends everybody's connections to a database but the administrator's, and waits until they are gone: the server only
/// tells them to go.
pub async fn end_connections(admin: &Client, database: &str) {
    let others = "FROM pg_stat_activity WHERE datname = $1 AND usename <> current_user";
    let end = format!("SELECT pg_terminate_backend(pid) {others}");
    let left = format!("SELECT count(*) {others}");
    eventually("every connection is gone", async || {
        admin.execute(&end, &[&database]).await.unwrap();
        let left: i64 = admin.query_one(&left, &[&database]).await.unwrap().get(0);
        if left == 0 { Ok(()) } else { Err(format!("{left} are left")) }
    })
    .await;
}
