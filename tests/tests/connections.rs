//! Clients that are slow, half-finished or gone: each is ended, and others are served meanwhile.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use airlock_tests::{Airlock, PATIENCE, vanishing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn still_works(airlock: &Airlock) {
    let (status, answer) = airlock.ask("How many customers do we have?").await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
}

#[tokio::test]
async fn half_a_request_is_ended_and_nobody_waits_for_it() {
    let airlock = Airlock::demo().await;
    let address = airlock.url.trim_start_matches("http://").to_owned();
    let mut slow = Vec::new();
    for half in [
        "GET / HTTP/1.1\r\nhost: ".to_owned(),
        format!(
            "POST /api/ask HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
        ),
        String::new(),
    ] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(half.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    still_works(&airlock).await;
    for mut stream in slow {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "the server keeps half a request: {}", String::from_utf8_lossy(&rest));
    }
    still_works(&airlock).await;
}

#[tokio::test]
async fn heads_that_are_no_http_are_answered_and_closed() {
    let airlock = Airlock::demo().await;
    let address = airlock.url.trim_start_matches("http://").to_owned();
    for head in [
        "nonsense\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nhost: {address}\r\nx: {}\r\n\r\n", "a".repeat(100_000)),
        format!("GET / HTTP/1.1\r\nhost: {address}\r\nhost: evil.example\r\nconnection: close\r\n\r\n"),
    ] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        // The server may close before all of it is sent.
        let _ = stream.write_all(head.as_bytes()).await;
        let mut said = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await.unwrap();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{head:.40}: {said}");
    }
    still_works(&airlock).await;
}

#[tokio::test]
async fn five_hundred_askers_that_vanish_leave_nothing_running() {
    let airlock = Airlock::demo().await;
    let model = vanishing::model().await;
    let host = vanishing::host(&airlock, &model);
    let (_, worked_on) = vanishing::vanish(&airlock, &host, 500).await;
    // By themselves the statements would run for ten minutes.
    assert!(worked_on < Duration::from_secs(60), "{worked_on:?}");
    let (status, answer) = host.ask("How many customers do we have?").await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
}
