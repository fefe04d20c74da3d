//! The cases that every component of a stage has to pass.

use std::sync::Arc;

use airlock_plugin_sdk::harness::Recorded;
use airlock_runtime::contract::model::{ModelFailure, ModelOutcome, ModelReply};
use airlock_runtime::{Services, Stage};
use serde_json::{Value, json};

use crate::library::Library;
use crate::scene::{self, HOSTILE, QUESTION, SQL, UNICODE};

/// One case.
#[derive(Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    pub(crate) function: String,
    pub(crate) input: Value,
    pub(crate) replies: Replies,
    /// What is looked up, where that is not the host's to choose.
    pub(crate) host: Option<Arc<dyn Services>>,
    /// Nothing is wrong with the input: an error is a failure, unless it says that this is not supported.
    pub(crate) must_serve: bool,
    pub(crate) expect: Option<Value>,
    pub(crate) expect_error: Option<String>,
}

/// What a model says.
#[derive(Debug, Clone, PartialEq)]
pub enum Replies {
    /// The same to every request.
    Always(Box<ModelOutcome>),
    /// One after another, and nothing after the last.
    Each(Vec<ModelOutcome>),
}

impl Replies {
    pub(crate) fn next(&self, at: usize) -> Option<ModelOutcome> {
        match self {
            Self::Always(outcome) => Some((**outcome).clone()),
            Self::Each(outcomes) => outcomes.get(at).cloned(),
        }
    }

    /// A model that says this whatever it is asked.
    fn text(text: impl Into<String>, sql: Option<&str>, truncated: bool) -> Self {
        Self::Always(Box::new(ModelOutcome::Reply(ModelReply {
            text: text.into(),
            sql: sql.map(str::to_owned),
            truncated,
            input_tokens: 100,
            output_tokens: 20,
        })))
    }

    fn failed(kind: &str) -> Self {
        let (kind, message) = (kind.to_owned(), "there is no reply".to_owned());
        Self::Always(Box::new(ModelOutcome::Failed(ModelFailure { kind, message })))
    }
}

impl Case {
    pub(crate) fn new(name: &str, function: &str, input: Value) -> Self {
        Self {
            name: name.to_owned(),
            function: function.to_owned(),
            input,
            replies: Replies::Each(Vec::new()),
            host: None,
            must_serve: false,
            expect: None,
            expect_error: None,
        }
    }

    fn serving(self) -> Self {
        Self { must_serve: true, ..self }
    }

    fn with(self, fields: &Value) -> Self {
        Self { input: scene::with(self.input, fields), ..self }
    }

    fn replying(self, replies: Replies) -> Self {
        let case = self.with(&json!({"model_available": true}));
        Self { replies, ..case }
    }
}

/// The cases of a stage. `questions` are more that people ask in a domain; each becomes a case of a stage that reads questions.
#[must_use]
pub fn suite(stage: Stage, questions: &[String]) -> Vec<Case> {
    let interface = stage.interface();
    let mut cases = Vec::new();
    for function in scene::functions(interface) {
        let Some(input) = scene::input(interface, function) else { continue };
        let named = |name: &str| match *function {
            "run" => name.to_owned(),
            function => format!("{function}/{name}"),
        };
        let case = |name: &str| Case::new(&named(name), function, input.clone());
        cases.push(case("ordinary").serving());
        if *function == "seed-lessons" {
            continue;
        }
        cases.push(case("unicode").with(&json!({"question": UNICODE, "text": UNICODE})).serving());
        cases.push(case("hostile-text").with(&json!({"question": HOSTILE, "text": HOSTILE})).serving());
        cases.push(Case::new(&named("empty"), function, scene::emptied(input.clone())));
        cases.push(Case::new(&named("huge"), function, scene::huge(input.clone())));
        cases.push(Case { host: Some(Library::of(Recorded::new())), ..case("host-knows-nothing") });
        cases.push(case("words-of-tomorrow").with(&tomorrow(&input)));
        for (name, fields) in variations(interface, function) {
            cases.push(case(name).with(&fields).serving());
        }
        if input.get("model_available").is_some() {
            cases.extend(with_models(&case));
        }
        if input.get("question").is_some() {
            let asked = questions.iter().zip(1..);
            cases.extend(asked.map(|(question, n)| {
                case(&format!("question-{n}")).with(&json!({"question": question})).serving()
            }));
        }
    }
    cases
}

/// What a later host adds: attributes, error types, kinds of blocks and outcomes that nobody here has heard of.
fn tomorrow(input: &Value) -> Value {
    let mut failure = input.get("failure").cloned().unwrap_or(Value::Null);
    if let Some(word) = failure.get_mut("error_type") {
        *word = json!("weather");
    }
    let block = json!({"handle": 9, "kind": "tapestries", "vouched_by": "hearsay", "characters": 1});
    json!({
        "attributes": [{"key": "tomorrow", "value": "{\"a\": [1, 2]}"}, {"key": "canonical:ship", "value": "{"}],
        "failure": failure, "context": [block], "outcome": "postponed", "kind": "poem",
    })
}

/// Ordinary things that happen to one stage and not to another.
fn variations(interface: &str, function: &str) -> Vec<(&'static str, Value)> {
    let turn = json!({"question": QUESTION, "sql": SQL, "answer": "Harbour made 41 loans."});
    let of_repair = |field: &str| scene::input("repair", "run").and_then(|input| input.get(field).cloned());
    let failure = of_repair("failure");
    let probe = json!({
        "column": {"table": {"schema": "public", "name": "loans"}, "column": "status"},
        "literal": "out", "spellings": ["OUT"], "rows_without": null,
    });
    match (interface, function) {
        ("planner", _) => vec![
            ("follow-up", json!({"question": "And in August?", "prior": turn})),
            ("choice", json!({"choice": "Loans that were made, returned or not"})),
        ],
        ("linker", _) => {
            vec![("widened", json!({"width": 9, "failure": failure})), ("narrow", json!({"width": 1}))]
        }
        ("generator", _) => vec![
            (
                "after-a-failure",
                json!({
                    "instructions": "Use branch_name.",
                    "attempts": of_repair("attempts"),
                }),
            ),
            ("follow-up", json!({"question": "And in August?", "prior": turn})),
            ("nothing-selected", json!({"selection": {"tables": [], "joins": [], "attributes": []}})),
        ],
        ("repair", _) => vec![
            ("last-chance", json!({"remaining": 1, "width": 9})),
            (
                "empty-result",
                json!({
                    "probe": probe,
                    "failure": {
                        "error_type": "empty_result", "message": "no rows", "hint": null, "sqlstate": null, "position": null,
                        "repairable": true, "sql": SQL,
                    },
                }),
            ),
        ],
        ("answerer", _) => vec![
            ("no-rows", json!({"rows": [], "row_count": 0})),
            ("rows-withheld", json!({"rows": [], "row_count": 58})),
            ("truncated", json!({"truncated": true, "row_count": 200})),
            ("spelling", json!({"rows": [], "row_count": 0, "probe": probe})),
        ],
        ("distill", _) => vec![
            ("failed-ask", json!({"outcome": "failed", "sql": null, "answer": null})),
            ("no-evidence", json!({"evidence": []})),
        ],
        ("domain", "judge") => vec![("example", json!({"kind": "example", "text": QUESTION, "sql": SQL}))],
        _ => Vec::new(),
    }
}

/// A model that is of no help, in the ways in which models are.
fn with_models(case: &impl Fn(&str) -> Case) -> Vec<Case> {
    let deep = "[".repeat(30_000);
    let wide = "{\"a\": 1, ".repeat(4_000);
    let mut cases: Vec<Case> = [
        (
            "model-talks",
            Replies::text(
                "I would be glad to help! As a language model, I cannot see your data.",
                None,
                false,
            ),
        ),
        (
            "model-garbles",
            Replies::text("```json\n{\"sql\": 7, \"tables\": {\"x\": null}}\n``` }{ \u{fffd}", None, false),
        ),
        ("model-is-cut-off", Replies::text("{\"sql\": \"SELECT count(", None, true)),
        ("model-says-nothing", Replies::text("", None, false)),
        ("model-nests", Replies::text(deep, None, false)),
        ("model-floods", Replies::text(wide, None, false)),
        ("model-drops-tables", Replies::text("DROP TABLE loans", Some("DROP TABLE loans"), false)),
    ]
    .into_iter()
    .map(|(name, replies)| case(name).replying(replies))
    .collect();
    for (name, kind) in [
        ("model-refuses", "refused"),
        ("model-budget", "budget"),
        ("model-not-granted", "not-granted"),
        ("model-empty", "empty"),
    ] {
        cases.push(case(name).replying(Replies::failed(kind)));
    }
    cases
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use airlock_runtime::contract::answerer::AnswerInput;
    use airlock_runtime::contract::distill::DistillInput;
    use airlock_runtime::contract::domain::Candidate;
    use airlock_runtime::contract::generator::GenerateInput;
    use airlock_runtime::contract::linker::LinkInput;
    use airlock_runtime::contract::planner::PlanInput;
    use airlock_runtime::contract::repair::RepairInput;
    use airlock_runtime::contract::sql::Facts;
    use serde::Deserialize;

    use super::*;

    #[test]
    fn every_case_is_an_input_of_the_contract() {
        for stage in Stage::ALL {
            let cases = suite(*stage, &["Which members owe us books?".to_owned()]);
            let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            assert_eq!(names.len(), cases.len(), "{stage}: a name twice");
            for Case { name, function, input, .. } in &cases {
                let wrong = match (stage.interface(), function.as_str()) {
                    ("planner", _) => PlanInput::deserialize(input).err(),
                    ("linker", _) => LinkInput::deserialize(input).err(),
                    ("generator", _) => GenerateInput::deserialize(input).err(),
                    ("repair", _) => RepairInput::deserialize(input).err(),
                    ("answerer", _) => AnswerInput::deserialize(input).err(),
                    ("distill", _) => DistillInput::deserialize(input).err(),
                    (_, "review") => Facts::deserialize(&input["facts"]).err(),
                    (_, "judge") => Candidate::deserialize(input).err(),
                    _ => None,
                };
                assert!(wrong.is_none(), "{stage}/{name}: {wrong:?}");
            }
            let wanted = if *stage == Stage::Domain { "canonicalize/question-1" } else { "model-refuses" };
            assert!(names.contains(wanted), "{stage}");
        }
    }
}
