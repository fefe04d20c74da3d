//! Every exported function of the contract crossed with every way to misbehave: `outcomes.txt` says how each ends.
//!
//! The functions come from `wit/`, the behaviours from the list below, so a cell that nobody wrote down fails. Where a
//! function's result has nothing that could be spoilt in a way, the table says `cannot`, and that too comes from `wit/`.
//! After a change that is meant, `AIRLOCK_WRITE_OUTCOMES=1` writes the table anew; review its difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use airlock_runtime::contract::planner::PlanStep;
use airlock_runtime::{
    CallErrorKind, Component, DomainScope, Grant, Import, Limit, LoadErrorKind, NoServices, Runtime, Stage,
    Wasi,
};
use airlock_types::ContentHash;
use support::hostile::{Behaviour, Export, System, World};
use support::inputs::{Given, call};
use support::value::{ESCAPE, Twist};
use support::{Watched, honest, load, question, runtime};

const TWISTS: [Twist; 14] = [
    Twist::Sound,
    Twist::HugeText,
    Twist::NotUtf8,
    Twist::OutsideMemory,
    Twist::ControlCharacter,
    Twist::LongList,
    Twist::ListOverRule,
    Twist::NestedList,
    Twist::NotANumber,
    Twist::UnknownCase,
    Twist::Refuses,
    Twist::Asks,
    Twist::DanglingHandle,
    Twist::Escapes,
];

fn behaviours() -> Vec<Behaviour> {
    let mut all = vec![
        Behaviour::EndlessLoop,
        Behaviour::DeepRecursion,
        Behaviour::MemoryGrowth,
        Behaviour::LogFlood,
        Behaviour::LookUpFlood,
        Behaviour::Trap,
        Behaviour::Panic,
    ];
    all.extend(TWISTS.map(Behaviour::Returns));
    all
}

/// What an endless loop may compute. Everything else has the time that a busy machine takes, so that no other limit is
/// overtaken by this one.
const COMPUTE_MS: u32 = 60;
const COMPUTE: Duration = Duration::from_secs(120);

/// A component that may serve only this stage, and compute for so long.
fn granted(bytes: &[u8], stage: Stage, wasi: Option<Wasi>, compute_ms: Option<u32>) -> Grant {
    let mut grant = Grant::of_nothing("hostile", ContentHash::of(bytes));
    grant.limits.compute_ms = compute_ms;
    grant.stages.insert(stage);
    grant.domains.insert(DomainScope::Any);
    grant.imports = Import::ALL.iter().copied().collect();
    grant.wasi = wasi;
    grant
}

/// Every stage with the functions a component of it exports.
fn cells(world: &World) -> Vec<(Stage, &Export)> {
    let of = |stage: &Stage| {
        let stage = *stage;
        let mine = world.exports.iter().filter(move |export| export.interface == stage.interface());
        mine.map(move |export| (stage, export))
    };
    let cells: Vec<_> = Stage::ALL.iter().flat_map(of).collect();
    // Composers are generators with another name; but for them each function is there once.
    assert_eq!(cells.len(), world.exports.len() + 1, "a function of the contract belongs to no stage");
    cells
}

/// What one call of the guest leads to, in words. The runtime must be as good as new beside it and after it.
async fn outcome(
    runtime: &Runtime,
    guest: &Component,
    honest: &Component,
    export: &Export,
    stage: Stage,
    order: usize,
) -> String {
    let services = Watched::saying(u32::try_from(order).unwrap());
    let beside = tokio::spawn({
        let (runtime, honest) = (runtime.clone(), honest.clone());
        async move { runtime.plan(&honest, NoServices::shared(), &question(), &[]).await }
    });
    let (ended, spent) = call(runtime, guest, services.clone(), &export.interface, &export.function).await;
    let answer = beside.await.unwrap().expect("the honest ask beside it is answered");
    assert!(matches!(answer, PlanStep::Unanswerable(why) if why.reason == "no rows"));
    let mut told = match ended {
        Ok(Given::Done) => "gives its result".to_owned(),
        Ok(Given::Asks(request)) => {
            let escapes = if request.prompt.contains(ESCAPE) { ", with such words" } else { "" };
            format!("asks for the role `{}`, blocks {:?}{escapes}", request.role, request.context)
        }
        Err(error) => {
            assert_eq!(
                (error.component.as_str(), error.digest, error.stage),
                ("hostile", guest.digest(), stage)
            );
            assert!(!error.for_asker().contains("hostile"), "{}", error.for_asker());
            match *error.kind {
                CallErrorKind::Limit(hit) if hit.limit == Limit::Compute => {
                    // The tick is 5 ms; what is over it is how busy the machine is.
                    assert!(hit.spent >= hit.allowed, "{hit}");
                    format!("limit `compute`: more than {} ms", hit.allowed)
                }
                CallErrorKind::Limit(hit) => hit.to_string(),
                CallErrorKind::Trap(mut report) => {
                    report.frames.clear();
                    format!("{report}")
                }
                other => other.to_string(),
            }
        }
    };
    if let Some(spent) = spent.filter(|spent| spent.log_dropped > 0) {
        let _ = write!(told, "; log lines {} kept, {} dropped", spent.log_lines, spent.log_dropped);
    }
    let lines = services.lines.lock().unwrap();
    assert!(lines.len() <= 64 && lines.iter().all(|line| line.len() <= 2_048));
    told
}

fn line(table: &mut String, behaviour: Behaviour, how: &str, stage: Stage, export: &Export, told: &str) {
    let function = format!("{stage}.{}", export.function);
    let behaviour = match behaviour {
        Behaviour::Returns(twist) => format!("returns {twist:?}"),
        Behaviour::Calls(system) => format!("calls {system:?}{how}"),
        other => format!("{other:?}"),
    };
    writeln!(table, "{behaviour:<25} {function:<20} {told}").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cell_ends_as_the_table_says() {
    let runtime = runtime(|config| {
        config.limits.compute = COMPUTE;
        config.limits.wall = COMPUTE;
        config.queue_wait = COMPUTE;
    });
    let honest = load(&runtime, &honest());
    let world = World::of_contract();
    let behaviours = behaviours();
    let mut table = String::new();

    let guest = world.guest(&behaviours);
    let guests = |compute_ms| -> Vec<(Stage, Component)> {
        let load = |stage: &Stage| runtime.load(&guest, &granted(&guest, *stage, None, compute_ms)).unwrap();
        Stage::ALL.iter().map(|stage| (*stage, load(stage))).collect()
    };
    let (patient, hurried) = (guests(None), guests(Some(COMPUTE_MS)));
    for (order, behaviour) in behaviours.iter().enumerate() {
        let guests = if *behaviour == Behaviour::EndlessLoop { &hurried } else { &patient };
        for (stage, export) in cells(&world) {
            let guest = &guests.iter().find(|(of, _)| *of == stage).unwrap().1;
            let possible =
                if let Behaviour::Returns(twist) = behaviour { world.can(export, *twist) } else { true };
            let told = if possible {
                outcome(&runtime, guest, &honest, export, stage, order).await
            } else {
                "cannot: there is no such value in its result".to_owned()
            };
            line(&mut table, *behaviour, "", stage, export, &told);
        }
    }

    // What it imports is told before any of it runs.
    let mut wants: Vec<Behaviour> = System::ALL.map(Behaviour::Calls).into();
    wants.push(Behaviour::UnknownImport);
    for behaviour in &wants {
        let guest = world.guest(&[*behaviour]);
        for (stage, export) in cells(&world) {
            let error = runtime.load(&guest, &granted(&guest, stage, None, None)).unwrap_err();
            assert_eq!(error.component, "hostile");
            let told = match error.kind {
                LoadErrorKind::Wasi { wants } => {
                    format!("not loaded: wants {wants:?}, has no system interface")
                }
                LoadErrorKind::UnknownImport { wants, .. } => format!("not loaded: wants {wants:?}, unknown"),
                other => other.to_string(),
            };
            line(&mut table, *behaviour, "", stage, export, &told);
        }
    }

    // With an inert system interface.
    let calls: Vec<Behaviour> = System::ALL.map(Behaviour::Calls).into();
    let guest = world.guest(&calls);
    for (stage, export) in cells(&world) {
        let guest = runtime.load(&guest, &granted(&guest, stage, Some(Wasi::Inert), None)).unwrap();
        for (order, behaviour) in calls.iter().enumerate() {
            let told = outcome(&runtime, &guest, &honest, export, stage, order).await;
            line(&mut table, *behaviour, ", inert", stage, export, &told);
        }
    }

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes.txt");
    if std::env::var_os("AIRLOCK_WRITE_OUTCOMES").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let different: Vec<_> =
        table.lines().zip(known.lines()).filter(|(now, known)| now != known).take(20).collect();
    assert!(different.is_empty(), "{different:#?}");
    assert_eq!(table.lines().count(), known.lines().count(), "cells that the table does not have");
}
