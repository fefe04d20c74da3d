//! The inert system interface: what a guest reads from it follows from the ask, and what it reaches is nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use airlock_runtime::contract::planner::{PlanInput, PlanStep};
use airlock_runtime::{CallErrorKind, Called, Component, Grant, Import, LoadErrorKind, Runtime, Wasi};
use support::{Watched, grant, question, runtime};

/// The component of a planner that imports WASI too: `imports` for its world, `functions` of them for its module.
fn planner(imports: &str, functions: &str, fields: &str, body: &str) -> Vec<u8> {
    let mut resolve = wit_parser::Resolve::default();
    let wit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    resolve.push_dir(&wit).unwrap();
    let world = format!(
        "package airlock:inert;
         world guest {{ include airlock:plugin/planner-stage@0.1.0; {imports} }}
         {WASI}"
    );
    let package = resolve.push_source("inert.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    let text = support::planner_text(fields, body);
    // Imports stand before everything else of a module.
    let (head, rest) = text.split_once("(memory").unwrap();
    let mut module = wat::parse_str(format!("{head}{functions}(memory{rest}")).unwrap();
    wit_component::embed_component_metadata(
        &mut module,
        &resolve,
        world,
        wit_component::StringEncoding::UTF8,
        false,
    )
    .unwrap();
    wit_component::ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap()
}

const WASI: &str = "
    package wasi:io@0.2.6 {
        interface error { resource error { to-debug-string: func() -> string; } }
        interface poll {
            resource pollable { ready: func() -> bool; block: func(); }
            poll: func(in: list<borrow<pollable>>) -> list<u32>;
        }
        interface streams {
            use error.{error};
            use poll.{pollable};
            variant stream-error { last-operation-failed(error), closed }
            resource input-stream {
                read: func(len: u64) -> result<list<u8>, stream-error>;
                subscribe: func() -> pollable;
            }
            resource output-stream {
                check-write: func() -> result<u64, stream-error>;
                blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
                splice: func(src: borrow<input-stream>, len: u64) -> result<u64, stream-error>;
            }
        }
    }
    package wasi:cli@0.2.6 {
        interface environment {
            get-environment: func() -> list<tuple<string, string>>;
            get-arguments: func() -> list<string>;
            initial-cwd: func() -> option<string>;
        }
        interface stdout { use wasi:io/streams@0.2.6.{output-stream}; get-stdout: func() -> output-stream; }
        interface stderr { use wasi:io/streams@0.2.6.{output-stream}; get-stderr: func() -> output-stream; }
    }
    package wasi:clocks@0.2.6 {
        interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }
        interface monotonic-clock {
            use wasi:io/poll@0.2.6.{pollable};
            now: func() -> u64;
            subscribe-duration: func(when: u64) -> pollable;
        }
    }
    package wasi:random@0.2.6 {
        interface random { get-random-bytes: func(len: u64) -> list<u8>; get-random-u64: func() -> u64; }
        interface insecure { get-insecure-random-u64: func() -> u64; }
        interface insecure-seed { insecure-seed: func() -> tuple<u64, u64>; }
    }
    package wasi:filesystem@0.2.6 {
        interface types { resource descriptor { unused: func(); } }
        interface preopens { use types.{descriptor}; get-directories: func() -> list<tuple<descriptor, string>>; }
    }
    package wasi:http@0.2.6 { interface outgoing { send: func(); } }
";

/// Writes 16 hexadecimal digits, as letters, of a number to 2048 and further.
const SHOWS: &str = "
    (global $shown (mut i32) (i32.const 2048))
    (func $show (param $number i64) (local $n i32)
        (loop $again
            (i32.store8 (global.get $shown)
                (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (local.get $number) (i64.const 15)))))
            (global.set $shown (i32.add (global.get $shown) (i32.const 1)))
            (local.set $number (i64.shr_u (local.get $number) (i64.const 4)))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 16)))))";

fn inert(bytes: &[u8]) -> Grant {
    let mut grant = grant(bytes, Import::ALL);
    grant.wasi = Some(Wasi::Inert);
    grant
}

async fn called(runtime: &Runtime, guest: &Component, input: &PlanInput) -> Called<PlanStep> {
    runtime.plan_metered(guest, Watched::new(|| {}), input, &[]).await
}

async fn said(runtime: &Runtime, guest: &Component, input: &PlanInput) -> String {
    match called(runtime, guest, input).await.result.unwrap() {
        PlanStep::Unanswerable(why) => why.reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn clock_and_entropy_follow_from_the_ask() {
    let bytes = planner(
        "import wasi:clocks/wall-clock@0.2.6; import wasi:clocks/monotonic-clock@0.2.6;
         import wasi:random/random@0.2.6; import wasi:random/insecure@0.2.6; import wasi:random/insecure-seed@0.2.6;",
        r#"(import "wasi:clocks/wall-clock@0.2.6" "now" (func $wall (param i32)))
           (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $monotonic (result i64)))
           (import "wasi:random/random@0.2.6" "get-random-u64" (func $secure (result i64)))
           (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
           (import "wasi:random/insecure@0.2.6" "get-insecure-random-u64" (func $insecure (result i64)))
           (import "wasi:random/insecure-seed@0.2.6" "insecure-seed" (func $seed (param i32)))"#,
        SHOWS,
        "(call $wall (i32.const 64)) (call $show (i64.load (i32.const 64)))
         (call $show (call $monotonic)) (call $show (call $monotonic))
         (call $show (call $secure)) (call $show (call $insecure))
         (call $seed (i32.const 64)) (call $show (i64.load (i32.const 64)))
         (call $bytes (i64.const 8) (i32.const 64)) (call $show (i64.load (i32.load (i32.const 64))))
         (call $unanswerable (i32.const 2048) (i32.const 112))",
    );
    let runtime = runtime(|_| {});
    let guest = runtime.load(&bytes, &inert(&bytes)).unwrap();
    let input = question();
    let first = said(&runtime, &guest, &input).await;
    assert_eq!(first, said(&runtime, &guest, &input).await, "two runs are equal");

    // 2026-08-01T09:30:00Z in seconds, its lowest digit first.
    let number = |number: u64| -> String {
        (0..16).map(|digit| char::from(b'a' + ((number >> (4 * digit)) & 15) as u8)).collect()
    };
    assert_eq!(&first[..48], number(1_785_576_600) + &number(1_000) + &number(2_000));
    let mut numbers: Vec<&str> = (3..7).map(|at| &first[at * 16..at * 16 + 16]).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 4, "entropy that repeats itself: {first}");

    let mut later = question();
    later.clock.now = "2026-08-01T09:30:01Z".to_owned();
    let mut other = question();
    other.question.push('?');
    for input in [later, other] {
        assert_ne!(first[48..], said(&runtime, &guest, &input).await[48..], "another ask, other entropy");
    }
}

#[tokio::test]
async fn there_is_no_environment_and_no_directory() {
    let bytes = planner(
        "import wasi:cli/environment@0.2.6; import wasi:filesystem/preopens@0.2.6;",
        r#"(import "wasi:cli/environment@0.2.6" "get-environment" (func $variables (param i32)))
           (import "wasi:cli/environment@0.2.6" "get-arguments" (func $arguments (param i32)))
           (import "wasi:cli/environment@0.2.6" "initial-cwd" (func $folder (param i32)))
           (import "wasi:filesystem/preopens@0.2.6" "get-directories" (func $directories (param i32)))"#,
        SHOWS,
        "(call $variables (i32.const 64)) (call $show (i64.load32_u (i32.const 68)))
         (call $arguments (i32.const 64)) (call $show (i64.load32_u (i32.const 68)))
         (call $folder (i32.const 64)) (call $show (i64.load8_u (i32.const 64)))
         (call $directories (i32.const 64)) (call $show (i64.load32_u (i32.const 68)))
         (call $unanswerable (i32.const 2048) (i32.const 64))",
    );
    let runtime = runtime(|_| {});
    let guest = runtime.load(&bytes, &inert(&bytes)).unwrap();
    assert_eq!(said(&runtime, &guest, &question()).await, "a".repeat(64));
}

#[tokio::test]
async fn what_is_printed_goes_to_the_log_and_explains_a_panic() {
    let bytes = planner(
        "import wasi:cli/stdout@0.2.6; import wasi:cli/stderr@0.2.6; import wasi:io/streams@0.2.6;",
        r#"(import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
           (import "wasi:cli/stderr@0.2.6" "get-stderr" (func $stderr (result i32)))
           (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
               (func $print (param i32 i32 i32 i32)))"#,
        r#"(data (i32.const 3000) "hello\nworld\n") (data (i32.const 3100) "thread panicked at x.rs:1: boom\n")"#,
        "(call $print (call $stdout) (i32.const 3000) (i32.const 12) (i32.const 64))
         (call $print (call $stderr) (i32.const 3100) (i32.const 32) (i32.const 64))
         (unreachable)",
    );
    let runtime = runtime(|_| {});
    let guest = runtime.load(&bytes, &inert(&bytes)).unwrap();
    let services = Watched::new(|| {});
    let called = runtime.plan_metered(&guest, services.clone(), &question(), &[]).await;
    match *called.result.unwrap_err().kind {
        CallErrorKind::Trap(report) => {
            assert_eq!(report.panic_message.as_deref(), Some("panicked at x.rs:1: boom"));
        }
        other => panic!("{other}"),
    }
    assert_eq!(*services.lines.lock().unwrap(), ["hello", "world", "thread panicked at x.rs:1: boom"]);
}

#[tokio::test]
async fn waiting_is_refused_unless_for_nothing() {
    let text = r#"(import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $until (param i64) (result i32)))
           (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))"#;
    let imports = "import wasi:clocks/monotonic-clock@0.2.6; import wasi:io/poll@0.2.6;";
    let runtime = runtime(|_| {});
    for (nanoseconds, denied) in [(0, false), (1, true)] {
        let body = format!(
            "(call $block (call $until (i64.const {nanoseconds}))) (call $unanswerable (i32.const 2048) (i32.const 7))"
        );
        let bytes = planner(imports, text, "", &body);
        let guest = runtime.load(&bytes, &inert(&bytes)).unwrap();
        let ended = called(&runtime, &guest, &question()).await.result.map_err(|error| *error.kind);
        let function = "wasi:clocks/monotonic-clock.subscribe-duration".to_owned();
        assert_eq!(ended.is_err(), denied);
        assert!(!denied || ended == Err(CallErrorKind::Denied { function }));
    }
}

#[test]
fn no_grant_gives_more() {
    let bytes = planner(
        "import wasi:http/outgoing@0.2.6;",
        r#"(import "wasi:http/outgoing@0.2.6" "send" (func $send))"#,
        "",
        "(call $send) (unreachable)",
    );
    let error = runtime(|_| {}).load(&bytes, &inert(&bytes)).unwrap_err();
    assert!(
        matches!(&error.kind, LoadErrorKind::WasiBeyond { wants, .. } if wants == &["wasi:http/outgoing@0.2.6"]),
        "{error}"
    );
    assert!(error.to_string().contains("`wasi:cli@0.2`"), "{error}");
}
