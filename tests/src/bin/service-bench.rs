//! How many asks a second one host answers, how long they take and what memory it needs: the demo's shop over HTTP, with a
//! scripted model on loopback that never thinks. Everything runs on this machine and shares its processors.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a measurement stops at the first thing that is wrong"
)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use airlock_tests::{Airlock, Said, ScriptedModel, vanishing, workspace};
use serde_json::{Value, json};

/// What is measured.
struct Wanted {
    seconds: u64,
    askers: usize,
    /// Whether a model writes the SQL, or the composer does.
    model: bool,
    /// That many clients vanish from slow statements instead.
    vanish: Option<usize>,
}

impl Wanted {
    fn read() -> Result<Self, String> {
        let mut wanted = Self { seconds: 60, askers: 16, model: true, vanish: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            if name == "--no-model" {
                wanted.model = false;
                continue;
            }
            let value = arguments.next().unwrap_or_default();
            let number = || value.parse::<u64>().map_err(|_| format!("{name}: `{value}` is not a number"));
            match name.as_str() {
                "--seconds" => wanted.seconds = number()?.clamp(1, 3_600),
                "--askers" => wanted.askers = usize::try_from(number()?.clamp(1, 64)).unwrap_or(1),
                "--vanish" => wanted.vanish = Some(usize::try_from(number()?.clamp(1, 1_000)).unwrap_or(1)),
                _ => {
                    return Err(format!(
                        "`{name}` is not known: --seconds N, --askers N, --vanish N, --no-model"
                    ));
                }
            }
        }
        Ok(wanted)
    }
}

/// Questions of the shop that have an answer, with the SQL that gives it.
fn questions() -> Vec<(String, String)> {
    let file = workspace().join("domains/hardware-shop/golden.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .filter_map(|line| {
            let case: Value = serde_json::from_str(line).ok()?;
            Some((case["question"].as_str()?.to_owned(), case["sql"].as_str()?.to_owned()))
        })
        .collect()
}

/// Resident memory of a process in MiB.
fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// One asker: asks one question after another until the end, and gives how long each took in milliseconds.
async fn asker(
    airlock: Arc<Airlock>,
    questions: Arc<Vec<(String, String)>>,
    first: usize,
    until: Instant,
    failed: Arc<AtomicUsize>,
) -> Vec<f64> {
    let mut took = Vec::new();
    let mut at = first;
    while Instant::now() < until {
        let begun = Instant::now();
        let (status, answer) = airlock.ask(&questions[at % questions.len()].0).await;
        let answered = status == 200 && answer["outcome"] == "answered";
        if !answered && failed.fetch_add(1, Ordering::Relaxed) == 0 {
            eprintln!("the first that failed: {status} {answer}");
        }
        took.push(begun.elapsed().as_secs_f64() * 1_000.0);
        at += 1;
    }
    took
}

/// The median of what the host itself adds to an ask, without models, statements and waits for connections, in milliseconds:
/// 200 asks one after another, between the bounds of the histogram that `/metrics` serves.
async fn own_median(airlock: &Airlock, questions: &[(String, String)]) -> Value {
    let before = own_buckets(airlock).await;
    for (question, _) in questions.iter().cycle().take(200) {
        airlock.ask(question).await;
    }
    let after = own_buckets(airlock).await;
    let counted: Vec<(f64, f64)> = after
        .iter()
        .enumerate()
        .map(|(at, (bound, count))| (*bound, count - before.get(at).map_or(0.0, |(_, earlier)| *earlier)))
        .collect();
    let half = counted.last().map_or(0.0, |(_, all)| all / 2.0);
    let (mut lower, mut below) = (0.0, 0.0);
    for (bound, count) in counted {
        if count >= half && count > below {
            let median = (bound - lower).mul_add((half - below) / (count - below), lower);
            return json!((median * 100_000.0).round() / 100.0);
        }
        (lower, below) = (bound, count);
    }
    Value::Null
}

/// Upper bounds in seconds of the histogram of an ask's own time, with how many asks lie at or below each.
async fn own_buckets(airlock: &Airlock) -> Vec<(f64, f64)> {
    let (_, metrics) = airlock.get("/metrics").await;
    let text = metrics.as_str().unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (bound, count) =
                line.strip_prefix("airlock_ask_own_seconds_bucket{le=\"")?.split_once("\"} ")?;
            Some((bound.replace("+Inf", "inf").parse().ok()?, count.parse().ok()?))
        })
        .collect()
}

/// How long a host takes to start beside its data source and store, how long PostgreSQL works on when its askers are gone,
/// and how long the next ask takes.
async fn vanished(clients: usize) -> Value {
    let airlock = Airlock::demo().await;
    let model = vanishing::model().await;
    let begun = Instant::now();
    let host = vanishing::host(&airlock, &model);
    let started = begun.elapsed();
    let (running, worked_on) = vanishing::vanish(&airlock, &host, clients).await;
    let begun = Instant::now();
    let (status, answer) = host.ask("How many customers do we have?").await;
    let next = begun.elapsed();
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    json!({
        "clients": clients,
        "host_served_after_ms": milliseconds(started),
        "statements_running": running,
        "all_ended_after_ms": milliseconds(worked_on),
        "next_ask_ms": milliseconds(next),
    })
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let wanted = match Wanted::read() {
        Ok(wanted) => wanted,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if let Some(clients) = wanted.vanish {
        println!("{:#}", vanished(clients).await);
        return ExitCode::SUCCESS;
    }
    let questions = Arc::new(questions());
    let known = Arc::clone(&questions);
    let model = ScriptedModel::start(move |prompt| {
        let found = known.iter().find(|(question, _)| prompt.contains(question.as_str()));
        found.map_or(Said::Status(400), |(_, sql)| Said::Text(sql.clone()))
    })
    .await;
    let airlock =
        Arc::new(if wanted.model { Airlock::with_model(&model).await } else { Airlock::demo().await });
    // What is measured is a host that is warm.
    for (question, _) in questions.iter().cycle().take(40) {
        airlock.ask(question).await;
    }
    let own = own_median(&airlock, &questions).await;
    let failed = Arc::new(AtomicUsize::new(0));
    let begun = Instant::now();
    let until = begun + Duration::from_secs(wanted.seconds);
    let askers: Vec<_> = (0..wanted.askers)
        .map(|at| {
            let (airlock, questions) = (Arc::clone(&airlock), Arc::clone(&questions));
            tokio::spawn(asker(airlock, questions, at * 3, until, Arc::clone(&failed)))
        })
        .collect();
    let mut most = 0.0_f64;
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(250)).await;
        most = most.max(resident(airlock.process()));
    }
    let mut took = Vec::new();
    for asker in askers {
        took.extend(asker.await.unwrap());
    }
    let seconds = begun.elapsed().as_secs_f64();
    took.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * took.len() as f64) as usize;
        (took[place.min(took.len() - 1)] * 10.0).round() / 10.0
    };
    let report = json!({
        "asks": took.len(),
        "asks_per_second": (took.len() as f64 / seconds * 10.0).round() / 10.0,
        "failed": failed.load(Ordering::Relaxed),
        "latency_ms": {"median": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": at(1.0)},
        "one_asker_own_ms_median": own,
        "askers": wanted.askers,
        "seconds": (seconds * 10.0).round() / 10.0,
        "model_calls": model.prompts().len(),
        "resident_mib": (most * 10.0).round() / 10.0,
    });
    println!("{report:#}");
    ExitCode::SUCCESS
}
