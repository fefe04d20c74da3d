//! Playing one case: every step twice in fresh instances, as the host's loop would go on, and what is demanded of each.

use std::sync::Arc;
use std::time::Duration;

use airlock_runtime::contract::model::{Exchange, ModelRequest};
use airlock_runtime::{CallErrorKind, Component, Runtime, Services, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::{Call, Ended};
use crate::cases::Case;
use crate::expect;

/// Requests of one stage in one turn; the host ends the stage at the next.
pub const REQUESTS: usize = 4;
/// Roles of models.
const ROLES: [&str; 3] = ["fast", "reasoning", "review"];

/// What the dearest call of a case used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// The component's own code.
    pub compute: Duration,
    /// Bytes of memory at its end.
    pub memory: usize,
}

/// How a case came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The case.
    pub case: String,
    /// Whether the component did what is demanded.
    pub passed: bool,
    /// Why not, or what it did.
    pub what: String,
    /// Calls, each step twice.
    pub calls: u32,
    /// Whether two instances given the same returned the same.
    pub same: bool,
    /// Milliseconds of its own code, in the dearest call.
    pub compute_ms: f64,
    /// Bytes of memory, in the dearest call.
    pub memory: usize,
}

/// Plays a case.
pub async fn play(
    runtime: &Runtime,
    component: &Component,
    stage: Stage,
    services: &Arc<dyn Services>,
    case: &Case,
) -> Outcome {
    let services = case.host.as_ref().unwrap_or(services);
    let (interface, function, input) = (stage.interface(), case.function.as_str(), &case.input);
    let call = Call { runtime, component, services, interface, function, input };
    let mut seen = Seen::default();
    let found = steps(&call, stage, case, &mut seen).await;
    let (passed, what) = match found {
        Ok(what) => (true, what),
        Err(why) => (false, why),
    };
    Outcome {
        case: case.name.clone(),
        passed,
        what,
        calls: seen.calls,
        same: !seen.differed,
        compute_ms: (seen.most.compute.as_secs_f64() * 1e6).round() / 1e3,
        memory: seen.most.memory,
    }
}

#[derive(Default)]
struct Seen {
    calls: u32,
    differed: bool,
    most: Used,
}

impl Seen {
    fn add(&mut self, used: Used) {
        self.calls += 1;
        self.most.compute = self.most.compute.max(used.compute);
        self.most.memory = self.most.memory.max(used.memory);
    }
}

async fn steps(call: &Call<'_>, stage: Stage, case: &Case, seen: &mut Seen) -> Result<String, String> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    loop {
        let (ended, used) = call.once(&exchanges).await?;
        let (again, used_again) = call.once(&exchanges).await?;
        seen.add(used);
        seen.add(used_again);
        if shown(&ended) != shown(&again) {
            seen.differed = true;
            return Err(format!(
                "the same input gave {} in one instance and {} in another: a stage is a pure function",
                shown(&ended),
                shown(&again)
            ));
        }
        let step = match ended {
            Ok(step) => step,
            Err(error) => return refused(case, &error.kind),
        };
        let Some(request) = asks(&step) else { return expect::done(stage, case, &step) };
        may_ask(call.component, stage, case, &request)?;
        if exchanges.len() == REQUESTS {
            return Err(format!(
                "it asks a model for the {}th time and comes to no end: the host stops it after {REQUESTS} requests",
                REQUESTS + 1
            ));
        }
        let Some(outcome) = case.replies.next(exchanges.len()) else {
            return expect::asked(case, &step);
        };
        exchanges.push(Exchange { request, outcome });
    }
}

/// The request of a step that asks.
fn asks(step: &Value) -> Option<ModelRequest> {
    step.get("Ask").and_then(|request| ModelRequest::deserialize(request).ok())
}

fn may_ask(component: &Component, stage: Stage, case: &Case, request: &ModelRequest) -> Result<(), String> {
    if stage == Stage::Composer {
        return Err("it asks a model: a composer is there for when there is none".to_owned());
    }
    if !expect::flag(&case.input, "model_available") {
        return Err("it asks a model although the input says that none is available".to_owned());
    }
    if !ROLES.contains(&request.role.as_str()) {
        return Err(format!(
            "it asks a model in the role `{}`, which is none of {}",
            request.role,
            ROLES.join(", ")
        ));
    }
    let granted = component.grant();
    if !granted.allows_role(&request.role) {
        return Err(format!(
            "it asks a model in the role `{0}`, which its grant does not name: add `{0}` to model_roles under [grant] of plugin.toml",
            request.role
        ));
    }
    if request.purpose.trim().is_empty() {
        return Err("its request has no purpose: the trace and the budget are kept by it".to_owned());
    }
    let offered: Vec<u64> = case
        .input
        .get("context")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("handle").and_then(Value::as_u64))
        .collect();
    match request.context.iter().find(|handle| !offered.contains(&u64::from(**handle))) {
        Some(handle) => Err(format!("it refers to a context block {handle} that it was not offered")),
        None => Ok(()),
    }
}

/// A call that gave no step: a component may say that it cannot, unless the case is one it must serve.
fn refused(case: &Case, kind: &CallErrorKind) -> Result<String, String> {
    let CallErrorKind::Stage(said) = kind else { return Err(kind.to_string()) };
    let value = serde_json::to_value(said).unwrap_or(Value::Null);
    if let Some(wanted) = &case.expect_error {
        return match value.get(wanted) {
            Some(_) => Ok(kind.to_string()),
            None => Err(format!("{kind}, and `{wanted}` was wanted")),
        };
    }
    if case.must_serve && value.get("Unsupported").is_none() {
        return Err(format!("{kind}, and nothing is wrong with the input"));
    }
    if case.expect.is_some() {
        return Err(kind.to_string());
    }
    Ok(kind.to_string())
}

/// What two instances must agree on. Limits that were hit are told with times, which are no part of it.
fn shown(ended: &Ended) -> String {
    match ended {
        Ok(value) => value.to_string(),
        Err(error) => match &*error.kind {
            CallErrorKind::Limit(hit) => format!("limit {}", hit.limit),
            other => other.to_string(),
        },
    }
}
