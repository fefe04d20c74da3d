//! One call of a component with an input as JSON, whatever its stage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_runtime::contract::model::Exchange;
use airlock_runtime::contract::sql::Facts;
use airlock_runtime::contract::types::Clock;
use airlock_runtime::{CallError, Called, Component, Runtime, Services};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::play::Used;

/// How a call ended: what it returned as JSON, or why it did not.
pub(crate) type Ended = Result<Value, CallError>;

/// What is called.
pub(crate) struct Call<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) component: &'a Component,
    pub(crate) services: &'a Arc<dyn Services>,
    pub(crate) interface: &'a str,
    pub(crate) function: &'a str,
    pub(crate) input: &'a Value,
}

/// Reads a field, or the whole, as what a function takes.
fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("the input is not what the stage takes: {error}"))
}

fn told<T: Serialize>(called: Called<T>) -> (Ended, Used) {
    let used = Used { compute: called.spent.compute, memory: called.spent.memory };
    (called.result.map(|value| json(&value)), used)
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

impl Call<'_> {
    /// Calls once, in a fresh instance.
    ///
    /// # Errors
    /// When the input is not one of this function's.
    pub(crate) async fn once(&self, exchanges: &[Exchange]) -> Result<(Ended, Used), String> {
        let Self { runtime, component, input, .. } = *self;
        let services = Arc::clone(self.services);
        Ok(match self.interface {
            "planner" => told(runtime.plan_metered(component, services, &read(input)?, exchanges).await),
            "linker" => told(runtime.link_metered(component, services, &read(input)?, exchanges).await),
            "generator" => {
                told(runtime.generate_metered(component, services, &read(input)?, exchanges).await)
            }
            "repair" => told(runtime.repair_metered(component, services, &read(input)?, exchanges).await),
            "answerer" => told(runtime.answer_metered(component, services, &read(input)?, exchanges).await),
            "distill" => told(runtime.distill_metered(component, services, &read(input)?, exchanges).await),
            _ => {
                let began = Instant::now();
                let ended = self.adapter(services).await?;
                let compute = began.elapsed().max(Duration::from_nanos(1));
                (ended, Used { compute, memory: 0 })
            }
        })
    }

    async fn adapter(&self, services: Arc<dyn Services>) -> Result<Ended, String> {
        let Self { runtime, component, input, .. } = *self;
        let field = |name: &str| input.get(name).unwrap_or(&Value::Null);
        let text = |name: &str| read::<String>(field(name));
        Ok(match self.function {
            "canonicalize" => {
                let clock: Clock = read(field("clock"))?;
                runtime
                    .canonicalize(component, services, &text("question")?, &clock)
                    .await
                    .map(|it| json(&it))
            }
            "review" => {
                let (facts, clock): (Facts, Clock) = (read(field("facts"))?, read(field("clock"))?);
                runtime.review(component, services, &text("text")?, &facts, &clock).await.map(|it| json(&it))
            }
            "judge" => runtime.judge(component, services, &read(input)?).await.map(|it| json(&it)),
            "seed-lessons" => runtime.seed_lessons(component, services).await.map(|it| json(&it)),
            other => return Err(format!("`{other}` is no function of an adapter")),
        })
    }
}
