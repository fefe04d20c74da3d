//! An input for every function of the contract, and the call of it.

use std::sync::Arc;

use airlock_runtime::contract::answerer::{AnswerInput, AnswerStep};
use airlock_runtime::contract::distill::{DistillInput, DistillStep};
use airlock_runtime::contract::domain::Candidate;
use airlock_runtime::contract::generator::{GenerateInput, GenerateStep};
use airlock_runtime::contract::linker::{LinkInput, LinkStep};
use airlock_runtime::contract::model::ModelRequest;
use airlock_runtime::contract::planner::{Plan, PlanStep};
use airlock_runtime::contract::repair::{RepairInput, RepairStep};
use airlock_runtime::contract::sql::Facts;
use airlock_runtime::contract::types::{Attempt, Failure};
use airlock_runtime::contract::work::Selection;
use airlock_runtime::{CallError, Component, Runtime, Services, Spent};

use super::question;

/// How a call ended that gave a result.
#[derive(Debug)]
pub enum Given {
    /// It wants a model asked.
    Asks(ModelRequest),
    /// It has done its work.
    Done,
}

pub type Ended = (Result<Given, CallError>, Option<Spent>);

fn plan() -> Plan {
    Plan {
        intent: "data".to_owned(),
        steps: Vec::new(),
        keywords: vec!["bills".to_owned()],
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

fn selection() -> Selection {
    Selection { tables: Vec::new(), joins: Vec::new(), attributes: Vec::new() }
}

fn failure() -> Failure {
    Failure {
        error_type: "unknown_column".to_owned(),
        message: "column \"x\" does not exist".to_owned(),
        hint: None,
        sqlstate: Some("42703".to_owned()),
        position: Some(8),
        repairable: true,
        sql: "SELECT x FROM bills".to_owned(),
    }
}

macro_rules! step {
    ($runtime:ident.$call:ident($component:ident, $services:ident, $input:expr), $step:ident) => {{
        let called = $runtime.$call($component, $services, &$input, &[]).await;
        let given = called.result.map(|step| match step {
            $step::Ask(request) => Given::Asks(request),
            _ => Given::Done,
        });
        (given, Some(called.spent))
    }};
}

/// Calls one function of the contract.
pub async fn call(
    runtime: &Runtime,
    component: &Component,
    services: Arc<dyn Services>,
    interface: &str,
    function: &str,
) -> Ended {
    let question = question();
    let (text, clock) = (question.question.clone(), question.clock.clone());
    match (interface, function) {
        ("planner", "run") => step!(runtime.plan_metered(component, services, question), PlanStep),
        ("linker", "run") => {
            let input = LinkInput {
                question: text,
                clock,
                plan: plan(),
                width: 5,
                failure: None,
                model_available: true,
                attributes: Vec::new(),
            };
            step!(runtime.link_metered(component, services, input), LinkStep)
        }
        ("generator", "run") => {
            let input = GenerateInput {
                question: text,
                clock,
                plan: plan(),
                selection: selection(),
                context: Vec::new(),
                attempts: Vec::new(),
                instructions: None,
                prior: None,
                row_cap: 200,
                model_available: true,
                attributes: Vec::new(),
            };
            step!(runtime.generate_metered(component, services, input), GenerateStep)
        }
        ("repair", "run") => {
            let attempt = Attempt {
                sql: failure().sql,
                origin: "generator".to_owned(),
                failure: Some(failure()),
                row_count: None,
                duration_ms: 3,
            };
            let input = RepairInput {
                question: text,
                clock,
                plan: plan(),
                selection: selection(),
                attempts: vec![attempt],
                failure: failure(),
                probe: None,
                context: Vec::new(),
                remaining: 2,
                width: 5,
                model_available: true,
                attributes: Vec::new(),
            };
            step!(runtime.repair_metered(component, services, input), RepairStep)
        }
        ("answerer", "run") => {
            let input = AnswerInput {
                question: text,
                clock,
                kind: "data".to_owned(),
                sql: Some("SELECT count(*) FROM bills".to_owned()),
                columns: Vec::new(),
                rows: vec![vec![Some("47".to_owned())]],
                row_count: 1,
                truncated: false,
                probe: None,
                assumptions: Vec::new(),
                context: Vec::new(),
                model_available: true,
                attributes: Vec::new(),
            };
            step!(runtime.answer_metered(component, services, input), AnswerStep)
        }
        ("distill", "run") => {
            let input = DistillInput {
                question: text,
                clock,
                outcome: "answered".to_owned(),
                sql: None,
                answer: None,
                attempts: Vec::new(),
                evidence: Vec::new(),
                model_available: true,
                attributes: Vec::new(),
            };
            step!(runtime.distill_metered(component, services, input), DistillStep)
        }
        ("domain", "canonicalize") => {
            let given = runtime.canonicalize(component, services, &text, &clock).await;
            (given.map(|_| Given::Done), None)
        }
        ("domain", "review") => {
            let facts = Facts {
                tables: Vec::new(),
                columns: Vec::new(),
                functions: Vec::new(),
                literals: Vec::new(),
            };
            let given = runtime.review(component, services, "SELECT 1", &facts, &clock).await;
            (given.map(|_| Given::Done), None)
        }
        ("domain", "judge") => {
            let candidate = Candidate { kind: "lesson".to_owned(), text, sql: None };
            (runtime.judge(component, services, &candidate).await.map(|_| Given::Done), None)
        }
        ("domain", "seed-lessons") => {
            (runtime.seed_lessons(component, services).await.map(|_| Given::Done), None)
        }
        other => panic!("the contract has a new function, and nobody calls it: {other:?}"),
    }
}
