//! Every built-in stage as a component, from recorded exchanges: what goes in, what the model said, what comes out.
//!
//! No database, no model, no host: a stage is a pure step function, so a table of inputs is all it takes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use airlock_runtime::contract::answerer::{AnswerInput, AnswerStep, ResultColumn};
use airlock_runtime::contract::distill::{DistillInput, DistillStep};
use airlock_runtime::contract::generator::{GenerateInput, GenerateStep};
use airlock_runtime::contract::linker::{LinkInput, LinkStep, Selection};
use airlock_runtime::contract::model::{Exchange, ModelOutcome, ModelReply, ModelRequest};
use airlock_runtime::contract::planner::{Plan, PlanInput, PlanStep};
use airlock_runtime::contract::repair::{RepairInput, RepairStep};
use airlock_runtime::contract::types::{Attempt, CivilTime, Clock, Failure};
use airlock_runtime::{Component, Grants, NoServices, Runtime, RuntimeConfig};
use airlock_tests::components;

struct Stages {
    runtime: Runtime,
    components: BTreeMap<String, Component>,
}

fn load() -> Stages {
    let runtime = Runtime::new(RuntimeConfig::default()).unwrap();
    let grants = Grants::read(&components().join("grants.toml")).unwrap();
    let load = |name: &str| {
        let grant = grants.iter().find(|grant| grant.component == name).unwrap();
        let bytes = std::fs::read(components().join(format!("{name}.wasm"))).unwrap();
        (name.to_owned(), runtime.load(&bytes, grant).unwrap())
    };
    let names = ["planner", "linker", "generator", "composer", "repair", "answerer", "distill"];
    let components = names.into_iter().map(load).collect();
    Stages { runtime, components }
}

fn clock() -> Clock {
    Clock {
        now: "2026-11-29T12:00:00Z".to_owned(),
        time_zone: "Asia/Kolkata".to_owned(),
        local: CivilTime { year: 2026, month: 11, day: 29, hour: 17, minute: 30, second: 0, weekday: 7 },
        fiscal_year_start: 4,
    }
}

fn plan(question: &str) -> PlanInput {
    PlanInput {
        question: question.to_owned(),
        clock: clock(),
        prior: None,
        choice: None,
        model_available: false,
        attributes: Vec::new(),
    }
}

fn no_plan() -> Plan {
    Plan {
        intent: "data".to_owned(),
        steps: Vec::new(),
        keywords: Vec::new(),
        measures: Vec::new(),
        filters: Vec::new(),
        time: Vec::new(),
        grouping: Vec::new(),
        order: Vec::new(),
        limit: None,
        assumptions: Vec::new(),
        attributes: Vec::new(),
    }
}

fn nothing_selected() -> Selection {
    Selection { tables: Vec::new(), joins: Vec::new(), attributes: Vec::new() }
}

fn generate(question: &str, model_available: bool) -> GenerateInput {
    GenerateInput {
        question: question.to_owned(),
        clock: clock(),
        plan: no_plan(),
        selection: nothing_selected(),
        context: Vec::new(),
        attempts: Vec::new(),
        instructions: None,
        prior: None,
        row_cap: 200,
        model_available,
        attributes: Vec::new(),
    }
}

/// The exchange in which a model answered `request` with this.
fn exchange(request: ModelRequest, text: &str, sql: Option<&str>) -> Exchange {
    Exchange {
        request,
        outcome: ModelOutcome::Reply(ModelReply {
            text: text.to_owned(),
            sql: sql.map(str::to_owned),
            truncated: false,
            input_tokens: 10,
            output_tokens: 5,
        }),
    }
}

#[tokio::test]
async fn planner() {
    let stages = load();
    let step = async |question: &str| {
        let component = &stages.components["planner"];
        stages.runtime.plan(component, NoServices::shared(), &plan(question), &[]).await.unwrap()
    };
    let PlanStep::Done(plan) = step("Which five products sold the most units in 2026?").await else {
        panic!()
    };
    assert_eq!((plan.intent.as_str(), plan.limit), ("data", Some(5)));
    assert_eq!(plan.time[0].from.as_deref().map(|from| &from[..10]), Some("2026-01-01"));
    assert_eq!(plan.time[0].until.as_deref().map(|until| &until[..10]), Some("2027-01-01"));
    assert!(matches!(step("Delete all bills").await, PlanStep::Unanswerable(_)));
    // The clock is an input: last month is October of the clock's year.
    let PlanStep::Done(plan) = step("How many bills were raised last month?").await else { panic!() };
    assert_eq!(plan.time[0].from.as_deref().map(|from| &from[..10]), Some("2026-10-01"));
}

#[tokio::test]
async fn linker_and_composer_refuse_when_the_catalogue_is_empty() {
    let stages = load();
    let input = LinkInput {
        question: "How many bills are there?".to_owned(),
        clock: clock(),
        plan: no_plan(),
        width: 5,
        failure: None,
        model_available: false,
        attributes: Vec::new(),
    };
    let linked =
        stages.runtime.link(&stages.components["linker"], NoServices::shared(), &input, &[]).await.unwrap();
    let LinkStep::Nothing(nothing) = linked else { panic!("{linked:?}") };
    assert!(!nothing.reason.is_empty());
    let input = generate("How many bills are there?", false);
    let composed = stages
        .runtime
        .generate(&stages.components["composer"], NoServices::shared(), &input, &[])
        .await
        .unwrap();
    let GenerateStep::Refuse(refusal) = composed else { panic!("{composed:?}") };
    assert!(!refusal.reason.is_empty());
}

#[tokio::test]
async fn generator_asks_once_then_drafts_what_the_model_wrote() {
    let stages = load();
    let component = &stages.components["generator"];
    let input = generate("How many bills are there?", true);
    let step = async |exchanges: &[Exchange]| {
        stages.runtime.generate(component, NoServices::shared(), &input, exchanges).await.unwrap()
    };
    let GenerateStep::Ask(request) = step(&[]).await else { panic!() };
    assert_eq!((request.role.as_str(), request.purpose.as_str()), ("reasoning", "write-sql"));
    assert!(request.prompt.contains("How many bills are there?"));
    let wrote = exchange(request.clone(), "SELECT count(*) FROM bills", Some("SELECT count(*) FROM bills"));
    let GenerateStep::Done(draft) = step(&[wrote]).await else { panic!() };
    assert_eq!(draft.sql, "SELECT count(*) FROM bills");
    // The same input and the same exchanges give the same step, whichever instance answers.
    let declined = exchange(request.clone(), "CANNOT: there are no bills", None);
    let GenerateStep::Refuse(refusal) = step(&[declined]).await else { panic!() };
    assert!(refusal.reason.contains("there are no bills"), "{}", refusal.reason);
    let GenerateStep::Ask(again) = step(&[exchange(request, "The bills table stores bills.", None)]).await
    else {
        panic!()
    };
    assert_ne!(again.prompt, String::new());
}

#[tokio::test]
async fn repair_says_what_to_do_about_a_failure() {
    let stages = load();
    let component = &stages.components["repair"];
    let sql = "SELECT no_such FROM bills";
    let failure = Failure {
        error_type: "unknown_column".to_owned(),
        message: "column \"no_such\" does not exist".to_owned(),
        hint: None,
        sqlstate: Some("42703".to_owned()),
        position: Some(8),
        repairable: true,
        sql: sql.to_owned(),
    };
    let attempt = Attempt {
        sql: sql.to_owned(),
        origin: "generator".to_owned(),
        failure: Some(failure.clone()),
        row_count: None,
        duration_ms: 1,
    };
    let input = |model_available| RepairInput {
        question: "How many bills are there?".to_owned(),
        clock: clock(),
        plan: no_plan(),
        selection: nothing_selected(),
        attempts: vec![attempt.clone()],
        failure: failure.clone(),
        probe: None,
        context: Vec::new(),
        remaining: 2,
        width: 5,
        model_available,
        attributes: Vec::new(),
    };
    let step = stages.runtime.repair(component, NoServices::shared(), &input(true), &[]).await.unwrap();
    let RepairStep::Widen(widen) = step else { panic!("{step:?}") };
    assert_eq!(widen.width, 9);
    let step = stages.runtime.repair(component, NoServices::shared(), &input(false), &[]).await.unwrap();
    let RepairStep::Stop(stop) = step else { panic!("{step:?}") };
    assert!(!stop.reason.is_empty());
}

#[tokio::test]
async fn answerer_keeps_only_numbers_that_the_rows_hold() {
    let stages = load();
    let component = &stages.components["answerer"];
    let input = AnswerInput {
        question: "What was our total revenue in 2023?".to_owned(),
        clock: clock(),
        kind: "data".to_owned(),
        sql: Some(
            "SELECT sum(total_amt) AS revenue FROM bill_archive
             WHERE bill_dt >= '2023-01-01' AND bill_dt < '2024-01-01'"
                .to_owned(),
        ),
        columns: vec![ResultColumn { name: "revenue".to_owned(), sql_type: "numeric".to_owned() }],
        rows: vec![vec![Some("1311655.00".to_owned())]],
        row_count: 1,
        truncated: false,
        probe: None,
        assumptions: Vec::new(),
        context: Vec::new(),
        model_available: true,
        attributes: Vec::new(),
    };
    let step = async |input: &AnswerInput, exchanges: &[Exchange]| {
        stages.runtime.answer(component, NoServices::shared(), input, exchanges).await.unwrap()
    };
    let AnswerStep::Ask(request) = step(&input, &[]).await else { panic!() };
    assert_eq!(request.role, "fast");
    let traced = exchange(request.clone(), "Revenue in 2023 was 1,311,655.00.", None);
    let AnswerStep::Done(answer) = step(&input, &[traced]).await else { panic!() };
    assert_eq!(answer.text, "Revenue in 2023 was 1,311,655.00.");
    let invented = exchange(request, "Revenue in 2023 was 9,999,999.", None);
    let AnswerStep::Done(answer) = step(&input, &[invented]).await else { panic!() };
    assert!(answer.text.contains("1,311,655.00") && !answer.text.contains("9,999,999"), "{}", answer.text);
    let AnswerStep::Done(answer) = step(&AnswerInput { model_available: false, ..input }, &[]).await else {
        panic!()
    };
    assert!(answer.text.contains("1,311,655.00"), "{}", answer.text);
}

#[tokio::test]
async fn distill_offers_nothing_without_evidence() {
    let stages = load();
    let input = DistillInput {
        question: "How many bills are there?".to_owned(),
        clock: clock(),
        outcome: "answered".to_owned(),
        sql: Some("SELECT count(*) FROM bills".to_owned()),
        answer: Some("47".to_owned()),
        attempts: Vec::new(),
        evidence: Vec::new(),
        model_available: false,
        attributes: Vec::new(),
    };
    let step = stages
        .runtime
        .distill(&stages.components["distill"], NoServices::shared(), &input, &[])
        .await
        .unwrap();
    assert_eq!(step, DistillStep::Done(Vec::new()));
}
