//! A guest that misbehaves: each way ends in exactly the typed outcome it must, and the next call works.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use airlock_runtime::contract::planner::PlanStep;
use airlock_runtime::contract::types::StageError;
use airlock_runtime::{CallErrorKind, Called, Import, Limit, LimitHit, NoServices, Runtime, RuntimeConfig};
use support::{HONEST, Watched, grant, honest, load, planner, question, runtime};

async fn call(runtime: &Runtime, fields: &str, body: &str) -> Called<PlanStep> {
    let guest = load(runtime, &planner(fields, body));
    runtime.plan_metered(&guest, NoServices::shared(), &question(), &[]).await
}

async fn failure(runtime: &Runtime, fields: &str, body: &str) -> CallErrorKind {
    let error = call(runtime, fields, body).await.result.expect_err(body);
    assert_eq!(error.component, "guest");
    assert!(!error.for_asker().contains("guest"), "{}", error.for_asker());
    *error.kind
}

/// Limits of time that nothing honest meets on a busy machine.
fn without_hurry(config: &mut RuntimeConfig) {
    config.limits.compute = Duration::from_secs(120);
    config.limits.wall = Duration::from_secs(120);
}

fn is_honest(called: &Called<PlanStep>) -> bool {
    matches!(&called.result, Ok(PlanStep::Unanswerable(why)) if why.reason == "no rows")
}

#[tokio::test]
async fn limits_end_a_call_with_their_name_and_the_next_call_works() {
    // Only what computes without end is to meet the limit of computing, however slow the machine is.
    let hurried = runtime(|config| config.limits.compute = Duration::from_millis(200));
    let patient = runtime(without_hurry);
    let endless = "(loop $again (br $again)) (unreachable)";
    let hog =
        "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";
    let deep = "(func $deep (param i32) (result i32) (i32.add (i32.const 1) (call $deep (local.get 0))))";
    let elements = "(drop (table.grow $t (ref.null func) (i32.const 20000))) (unreachable)";
    let look_ups = "(loop $again (drop (call $server_version)) (br $again)) (unreachable)";
    // Texts and lists are all there, in memory the guest may have: what stops them is the way out.
    let room = "(drop (memory.grow (i32.const 64)))";
    let long_text = format!("{room} (call $unanswerable (i32.const 2048) (i32.const 2000000))");
    let long_list = format!("{room} (call $unclear (i32.const 200000))");
    for (fields, body, limit) in [
        ("", endless, Limit::Compute),
        ("", hog, Limit::Memory),
        (deep, "(call $deep (i32.const 1))", Limit::Stack),
        ("(table $t 1 funcref)", elements, Limit::Tables),
        ("", look_ups, Limit::LookUps),
        ("", &long_text, Limit::Output),
        ("", &long_list, Limit::Output),
    ] {
        let runtime = if limit == Limit::Compute { &hurried } else { &patient };
        match failure(runtime, fields, body).await {
            CallErrorKind::Limit(hit) => {
                assert_eq!(hit.limit, limit, "{body}");
                assert!(hit.spent >= hit.allowed && hit.allowed > 0, "{hit}");
            }
            other => panic!("{body}: {other}"),
        }
        assert!(is_honest(&call(runtime, "", HONEST).await), "after {body}");
    }
}

#[tokio::test]
async fn outputs_that_break_a_rule_name_the_field() {
    let runtime = runtime(|_| {});
    for (body, want) in [
        (
            "(memory.fill (i32.const 2048) (i32.const 65) (i32.const 3000)) \
             (call $unanswerable (i32.const 2048) (i32.const 3000))",
            "`result.unanswerable.reason` has 3000 bytes, at most 2048 are allowed",
        ),
        (
            "(i32.store8 (i32.const 2049) (i32.const 27)) (call $unanswerable (i32.const 2048) (i32.const 7))",
            "`result.unanswerable.reason` holds the control character U+001B",
        ),
        ("(call $unclear (i32.const 9))", "`result.unclear.options` has 9 items, at most 8 are allowed"),
        (
            "(call $unclear (i32.const 1))",
            "`result.unclear.options` has fewer than two items, so there is nothing to choose",
        ),
    ] {
        match failure(&runtime, "", body).await {
            CallErrorKind::BadOutput(broken) => assert_eq!(broken.to_string(), want),
            other => panic!("{body}: {other}"),
        }
    }
}

#[tokio::test]
async fn values_that_are_none_are_traps() {
    let runtime = runtime(|_| {});
    for body in [
        "(unreachable)",
        // A step of an unknown case.
        "(drop (call $unclear (i32.const 2))) (i32.store8 (i32.const 1028) (i32.const 9)) (i32.const 1024)",
        // A text outside memory.
        "(call $unanswerable (i32.const 0x7ffffff0) (i32.const 32))",
        // A text that is not UTF-8.
        "(i32.store8 (i32.const 2048) (i32.const 255)) (call $unanswerable (i32.const 2048) (i32.const 7))",
        // A result outside memory.
        "(i32.const 0x7ffffff0)",
    ] {
        match failure(&runtime, "", body).await {
            CallErrorKind::Trap(report) => {
                assert!(!report.reason.is_empty() && report.panic_message.is_none())
            }
            other => panic!("{body}: {other}"),
        }
    }
}

#[tokio::test]
async fn a_trap_carries_frames_and_the_panic_message() {
    let runtime = runtime(|_| {});
    let fields = r#"
        (data (i32.const 3000) "panic: index out of bounds, src/lib.rs:3")
        (func $explode
            (call $log (i32.const 4) (i32.const 3000) (i32.const 40) (i32.const 0) (i32.const 0))
            (unreachable))"#;
    match failure(&runtime, fields, "(call $explode) (unreachable)").await {
        CallErrorKind::Trap(report) => {
            assert_eq!(report.panic_message.as_deref(), Some("index out of bounds, src/lib.rs:3"));
            assert_eq!(report.frames.iter().take(2).collect::<Vec<_>>(), ["explode", "run"]);
            assert!(report.reason.contains("unreachable"), "{}", report.reason);
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_stage_may_say_that_it_cannot() {
    let runtime = runtime(|_| {});
    let body = "(i32.store8 (i32.const 1024) (i32.const 1)) (i32.store8 (i32.const 1028) (i32.const 2)) \
                (i32.store (i32.const 1032) (i32.const 2048)) (i32.store (i32.const 1036) (i32.const 2)) \
                (i32.const 1024)";
    assert_eq!(
        failure(&runtime, "", body).await,
        CallErrorKind::Stage(StageError::Internal("no".to_owned()))
    );
}

#[tokio::test]
async fn a_log_flood_is_cut_and_counted() {
    let runtime = runtime(|_| {});
    // 1,000 lines of 5,000 bytes each.
    let body = format!(
        "(loop $again
            (call $log (i32.const 2) (i32.const 2048) (i32.const 5000) (i32.const 0) (i32.const 0))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 1000))))
        {HONEST}"
    );
    let services = Watched::new(|| {});
    let guest = load(&runtime, &planner("", &body));
    let called = runtime.plan_metered(&guest, services.clone(), &question(), &[]).await;
    assert!(is_honest(&called), "{called:?}");
    assert_eq!((called.spent.log_lines, called.spent.log_dropped), (64, 936));
    let lines = services.lines.lock().unwrap();
    assert_eq!(lines.len(), 64);
    assert!(lines.iter().all(|line| line.len() == 2_048 && !line.contains('\0')));
}

#[tokio::test]
async fn the_panic_message_is_kept_after_a_log_flood() {
    let runtime = runtime(|_| {});
    let fields = r#"(data (i32.const 3000) "panic: late")"#;
    let body = "(loop $again
            (call $log (i32.const 2) (i32.const 2048) (i32.const 5) (i32.const 0) (i32.const 0))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 100))))
        (call $log (i32.const 4) (i32.const 3000) (i32.const 11) (i32.const 0) (i32.const 0))
        (unreachable)";
    match failure(&runtime, fields, body).await {
        CallErrorKind::Trap(report) => assert_eq!(report.panic_message.as_deref(), Some("late")),
        other => panic!("{other}"),
    }
}

/// Twenty look-ups, then an honest answer.
fn twenty_look_ups() -> Vec<u8> {
    let body = format!(
        "(loop $again
            (drop (call $server_version))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 20))))
        {HONEST}"
    );
    planner("", &body)
}

#[tokio::test]
async fn host_time_is_not_charged_to_the_compute_budget() {
    // 20 look-ups of 100 ms are 2 s of the host's time; the budget of 1 s is the guest's own.
    let runtime = runtime(|config| {
        without_hurry(config);
        config.limits.compute = Duration::from_secs(1);
    });
    let guest = load(&runtime, &twenty_look_ups());
    let slow = Watched::new(|| std::thread::sleep(Duration::from_millis(100)));
    let called = runtime.plan_metered(&guest, slow, &question(), &[]).await;
    assert!(is_honest(&called), "{called:?}");
    assert_eq!(called.spent.look_ups, 20);
    assert!(called.spent.host >= Duration::from_secs(2), "{:?}", called.spent);
}

#[tokio::test]
async fn the_wall_limit_holds_whatever_the_time_is_spent_on() {
    let runtime = runtime(|config| config.limits.wall = Duration::from_millis(100));
    let guest = load(&runtime, &twenty_look_ups());
    let slow = Watched::new(|| std::thread::sleep(Duration::from_millis(20)));
    let error = runtime.plan(&guest, slow, &question(), &[]).await.unwrap_err();
    let CallErrorKind::Limit(LimitHit { limit, allowed, spent }) = *error.kind else { panic!("{error}") };
    assert_eq!((limit, allowed), (Limit::Wall, 100));
    assert!(spent >= 100);
}

#[tokio::test]
async fn waiting_for_a_place_is_told_apart_from_slowness() {
    let runtime = runtime(|config| {
        without_hurry(config);
        config.max_calls = 1;
        config.queue_wait = Duration::from_millis(50);
    });
    let guest = load(&runtime, &twenty_look_ups());
    // The first call holds its place until the second has given up.
    let (entered, leave) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let first = AtomicBool::new(true);
    let held = {
        let (entered, leave) = (entered.clone(), leave.clone());
        Watched::new(move || {
            if first.swap(false, Ordering::SeqCst) {
                entered.wait();
                leave.wait();
            }
        })
    };
    let holding = std::thread::spawn({
        let (runtime, guest) = (runtime.clone(), guest.clone());
        move || {
            let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            executor.block_on(async { runtime.plan_metered(&guest, held, &question(), &[]).await })
        }
    });
    entered.wait();
    assert_eq!(runtime.pool_use().running, 1);
    let error = runtime.plan(&guest, NoServices::shared(), &question(), &[]).await.unwrap_err();
    assert_eq!(*error.kind, CallErrorKind::PoolExhausted { places: 1, waited: Duration::from_millis(50) });
    assert!(!error.is_components_fault());
    leave.wait();
    assert!(is_honest(&holding.join().unwrap()));
    assert_eq!(runtime.pool_use().running, 0);
}

#[tokio::test]
async fn a_runaway_shares_its_thread() {
    let runtime = runtime(|config| {
        without_hurry(config);
        config.limits.compute = Duration::from_secs(2);
    });
    let runaway = load(&runtime, &planner("", "(loop $again (br $again)) (unreachable)"));
    let guest = load(&runtime, &honest());
    let ended = AtomicBool::new(false);
    // One thread: if the runaway did not yield, it would end before the honest call began.
    let (stopped, honest_first) = tokio::join!(
        async {
            let called = runtime.plan_metered(&runaway, NoServices::shared(), &question(), &[]).await;
            ended.store(true, Ordering::SeqCst);
            called
        },
        async {
            let called = runtime.plan_metered(&guest, NoServices::shared(), &question(), &[]).await;
            is_honest(&called) && !ended.load(Ordering::SeqCst)
        }
    );
    assert!(honest_first);
    assert!(
        matches!(*stopped.result.unwrap_err().kind, CallErrorKind::Limit(hit) if hit.limit == Limit::Compute)
    );
}

#[tokio::test]
async fn calls_are_fresh_and_can_be_spawned() {
    let runtime = runtime(|_| {});
    // Answers honestly once, then never again: in a fresh instance it is always the first time.
    let body = format!(
        "(if (i32.load (i32.const 8)) (then (unreachable))) (i32.store (i32.const 8) (i32.const 1)) {HONEST}"
    );
    let guest = load(&runtime, &planner("", &body));
    for _ in 0..100 {
        let (runtime, guest) = (runtime.clone(), guest.clone());
        let call = async move { runtime.plan_metered(&guest, NoServices::shared(), &question(), &[]).await };
        assert!(is_honest(&tokio::spawn(call).await.unwrap()));
    }
}

#[tokio::test]
async fn a_component_is_called_only_as_what_its_grant_says() {
    let runtime = runtime(|_| {});
    let guest = load(&runtime, &honest());
    let clock = question().clock;
    let error = runtime.canonicalize(&guest, NoServices::shared(), "x", &clock).await.unwrap_err();
    assert_eq!(*error.kind, CallErrorKind::NotServed);
}

#[tokio::test]
async fn a_dropped_call_gives_its_place_back() {
    let runtime = runtime(|config| {
        without_hurry(config);
        config.max_calls = 1;
    });
    let runaway = load(&runtime, &planner("", "(loop $again (br $again)) (unreachable)"));
    let input = question();
    let gone = runtime.plan(&runaway, NoServices::shared(), &input, &[]);
    assert!(tokio::time::timeout(Duration::from_millis(50), gone).await.is_err(), "nobody waits for it");
    assert_eq!(runtime.pool_use().running, 0);
    assert!(is_honest(&call(&runtime, "", HONEST).await));
}

#[tokio::test]
async fn a_grant_may_change_the_limits_of_its_component() {
    let runtime = runtime(|_| {});
    let bytes = planner("", "(drop (memory.grow (i32.const 31))) (unreachable)");
    for (memory_mib, stopped) in [(None, false), (Some(2), true), (Some(3), false)] {
        let mut grant = grant(&bytes, Import::ALL);
        grant.limits.memory_mib = memory_mib;
        let guest = runtime.load(&bytes, &grant).unwrap();
        let error = runtime.plan(&guest, NoServices::shared(), &question(), &[]).await.unwrap_err();
        // Two pages and 31 more.
        let hit = LimitHit { limit: Limit::Memory, allowed: 2 << 20, spent: 33 << 16 };
        assert_eq!(*error.kind == CallErrorKind::Limit(hit), stopped, "{memory_mib:?}: {error}");
    }
}
