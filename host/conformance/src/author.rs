//! Cases that an author wrote: `cases.json` of a project.
//!
//! ```json
//! {
//!   "host": {"tables": []},
//!   "cases": [{
//!     "name": "a wrong column",
//!     "input": {"model_available": true},
//!     "replies": [{"text": "Use branch_name.", "sql": "SELECT 1"}, {"failed": "refused"}],
//!     "expect": {"Rewrite": {"sql": "~branch_name"}}
//!   }]
//! }
//! ```
//!
//! `host` is what `harness::Recorded` of the SDK reads and writes; without it the cases are about the small library of the kit.
//! `input` goes over the ordinary input of the stage, field by field. `replies` are given in order; a stage that asks once more has
//! made its last step. `expect` is a part of that step, a text that begins with `~` being a part of a text; `expect_error` is
//! `Unsupported`, `BadInput` or `Internal`. Names are those of the SDK's types. An adapter's case names its `function`:
//! `canonicalize`, `review`, `judge` or `seed-lessons`.

use std::sync::Arc;

use airlock_plugin_sdk::harness::Recorded;
use airlock_runtime::contract::model::{ModelFailure, ModelOutcome, ModelReply};
use airlock_runtime::{Services, Stage};
use airlock_types::Strict;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cases::{Case, Replies};
use crate::library::Library;
use crate::scene;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    host: Option<Recorded>,
    cases: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    function: Option<String>,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    replies: Vec<Reply>,
    #[serde(default)]
    expect: Option<Value>,
    #[serde(default)]
    expect_error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    sql: Option<String>,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    failed: Option<String>,
}

impl From<Reply> for ModelOutcome {
    fn from(reply: Reply) -> Self {
        match reply.failed {
            Some(kind) => Self::Failed(ModelFailure { kind, message: reply.text.unwrap_or_default() }),
            None => Self::Reply(ModelReply {
                text: reply.text.or_else(|| reply.sql.clone()).unwrap_or_default(),
                sql: reply.sql,
                truncated: reply.truncated,
                input_tokens: 100,
                output_tokens: 20,
            }),
        }
    }
}

/// Reads the cases of a stage.
///
/// # Errors
/// What is wrong, with the case it is in.
pub fn read(stage: Stage, text: &str) -> Result<Vec<Case>, String> {
    // Of a key that stands twice a reader by fields would take the last.
    let Strict(_) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let host: Option<Arc<dyn Services>> = file.host.map(Library::of);
    let interface = stage.interface();
    let mut cases = Vec::new();
    for written in file.cases {
        let wrong = |why: String| format!("case `{}`: {why}", written.name);
        let function = match (interface, written.function.as_deref()) {
            ("domain", None) => return Err(wrong("name the `function`".to_owned())),
            (_, function) => function.unwrap_or("run"),
        };
        let known = scene::functions(interface);
        if !known.contains(&function) {
            return Err(wrong(format!("`{function}` is none of {}", known.join(", "))));
        }
        if let Some(word) = written.expect_error.as_deref()
            && !["Unsupported", "BadInput", "Internal"].contains(&word)
        {
            return Err(wrong(format!("`{word}` is none of Unsupported, BadInput, Internal")));
        }
        let input = scene::input(interface, function).unwrap_or_default();
        let input = scene::merged(input, &written.input).map_err(wrong)?;
        cases.push(Case {
            replies: Replies::Each(written.replies.into_iter().map(ModelOutcome::from).collect()),
            host: host.clone(),
            must_serve: written.expect_error.is_none(),
            expect: written.expect,
            expect_error: written.expect_error,
            ..Case::new(&written.name, function, input)
        });
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_says_only_what_matters() {
        let text = r#"{"cases": [{"name": "a", "input": {"width": 3, "clock": {"now": "2026-01-01T00:00:00Z"}},
            "replies": [{"sql": "SELECT 1"}, {"failed": "budget"}], "expect": {"Done": {}}}]}"#;
        let cases = read(Stage::Linker, text).unwrap();
        assert_eq!(cases[0].input["width"], 3);
        assert_eq!(cases[0].input["clock"]["fiscal_year_start"], 4);
        assert_eq!(
            cases[0].replies.next(1),
            Some(ModelOutcome::Failed(ModelFailure { kind: "budget".into(), message: String::new() }))
        );
        assert_eq!(cases[0].replies.next(2), None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_case() {
        for (stage, text, want) in [
            (Stage::Linker, "{", "EOF"),
            (Stage::Linker, r#"{"cases": [{"name": "a", "inputs": {}}]}"#, "unknown field `inputs`"),
            (
                Stage::Linker,
                r#"{"cases": [{"name": "a", "input": {"widht": 1}}]}"#,
                "case `a`: input has no field `widht`",
            ),
            (Stage::Linker, r#"{"cases": [{"name": "a", "function": "walk"}]}"#, "`walk` is none of run"),
            (Stage::Domain, r#"{"cases": [{"name": "a"}]}"#, "case `a`: name the `function`"),
            (Stage::Linker, r#"{"cases": [{"name": "a", "expect_error": "Sorry"}]}"#, "`Sorry` is none of"),
        ] {
            let why = read(stage, text).err().unwrap();
            assert!(why.contains(want), "{text}: {why}");
        }
    }
}
