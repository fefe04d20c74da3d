//! What a tool could not do, in a sentence with its remedy: a result that the agent reads, never an error of the protocol.

use airlock_pipeline::{AskError, ContextError, Fault};
use airlock_types::text::shorten;
use airlock_types::{Failure, FieldError};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use super::said::{Said, TEXT};
use crate::access::Denied;

/// Key of the machine-readable part of a problem in the result's `_meta`.
const META: &str = "airlock/problem";

/// Why a tool did not do what it was asked.
#[derive(Debug)]
pub(super) struct ToolProblem {
    /// Stable, the same as over HTTP where the problem is the same.
    pub(super) code: &'static str,
    /// In a sentence, with what to do.
    pub(super) message: String,
    field: Option<&'static str>,
    /// More for a program: position, SQLSTATE.
    details: Vec<(&'static str, Value)>,
    /// What there is of the tool's own result, where it is of its output schema all the same.
    record: Option<Box<Said>>,
}

impl ToolProblem {
    pub(super) fn new(code: &'static str, message: impl ToString) -> Self {
        Self { code, message: message.to_string(), field: None, details: Vec::new(), record: None }
    }

    pub(super) const fn field(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// Whether it is because of who calls.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.code, "missing-scope" | "unknown-domain" | "unknown-ask")
    }

    /// The same under another code, with the one it had beside it.
    pub(super) fn coded(self, code: &'static str) -> Self {
        let before = self.code;
        Self { code, ..self.with("error_type", before) }
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.details.push((key, value.into()));
        self
    }

    /// With the record of what was done before it.
    pub(super) fn recorded(self, record: Said) -> Self {
        Self { record: Some(Box::new(record)), ..self }
    }

    /// As a result. Where there is no record, structured content is left out: it would have to be of the tool's output schema.
    pub(super) fn result(self) -> CallToolResult {
        let mut problem = json!({"code": self.code});
        if let Value::Object(fields) = &mut problem {
            fields.extend(self.field.map(|field| ("field".to_owned(), field.into())));
            fields.extend(self.details.into_iter().map(|(key, value)| (key.to_owned(), value)));
        }
        let mut meta = MetaObject::new();
        meta.0.insert(META.to_owned(), problem);
        let mut text = format!("{} ({})", self.message, self.code);
        let mut structured = None;
        if let Some(record) = self.record {
            text.push_str(&format!("\n{}", record.text));
            structured = Some(record.structured);
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(shorten(&text, TEXT))]);
        result.structured_content = structured;
        result.meta = Some(meta);
        result
    }
}

impl From<Denied> for ToolProblem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Scope(_) => Self::new("missing-scope", capital(&denied.to_string())),
            Denied::Domain(_) => Self::new("unknown-domain", capital(&denied.to_string())).field("domain"),
        }
    }
}

impl From<FieldError> for ToolProblem {
    fn from(error: FieldError) -> Self {
        Self::new("bad-argument", format!("{error}.")).field(error.field)
    }
}

impl From<AskError> for ToolProblem {
    fn from(error: AskError) -> Self {
        let (code, field) = match &error {
            AskError::UnknownDomain(..) | AskError::NoneOfYours => ("unknown-domain", Some("domain")),
            AskError::WhichDomain(_) => ("which-domain", Some("domain")),
            AskError::Now(_) => ("bad-argument", Some("now")),
            AskError::UnknownAsk(_) => ("unknown-ask", Some("follow_up_of")),
            AskError::Busy(_) => ("busy", None),
            _ => ("unavailable", None),
        };
        Self { field, ..Self::new(code, format!("{}.", capital(&error.to_string()))) }
    }
}

impl From<Fault> for ToolProblem {
    fn from(fault: Fault) -> Self {
        let code = match &fault {
            fault if fault.is_timeout() => "timeout",
            Fault::Model(_) => "model-unavailable",
            fault if fault.is_refusal() => "database-refused",
            Fault::Database(_) => "database-unavailable",
            fault if fault.is_unavailable() => "unavailable",
            _ => "internal",
        };
        Self::new(code, fault)
    }
}

impl From<ContextError> for ToolProblem {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::Ask(error) => error.into(),
            ContextError::Fault(fault) => fault.into(),
            other => Self::new("internal", other),
        }
    }
}

impl From<Failure> for ToolProblem {
    fn from(failure: Failure) -> Self {
        let hint = failure.hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default();
        let problem = Self::new(failure.error_type.as_str(), format!("{}{hint}", failure.message));
        let problem = match failure.sqlstate {
            Some(state) => problem.with("sqlstate", state),
            None => problem,
        };
        match failure.position {
            Some(position) => problem.with("position", position),
            None => problem,
        }
    }
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use airlock_types::ErrorType;

    use super::*;

    #[test]
    fn a_problem_is_a_result_with_a_sentence_and_a_code() {
        let mut failure = Failure::new(ErrorType::UnknownColumn, "There is no column `a`.", "SELECT a");
        failure.hint = Some("Did you mean `b`?".to_owned());
        failure.position = Some(8);
        let result = serde_json::to_value(ToolProblem::from(failure).result()).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(
            result["content"][0]["text"],
            "There is no column `a`. Did you mean `b`? (unknown_column)"
        );
        assert_eq!(result["_meta"][META], json!({"code": "unknown_column", "position": 8}));
        assert!(result.get("structuredContent").is_none());
    }

    #[test]
    fn what_was_tried_before_a_problem_goes_with_it() {
        let structured = json!({"outcome": "failed", "attempts": 1});
        let record = Said { structured: structured.clone(), text: "Failed attempt by generator".to_owned() };
        let result = ToolProblem::new("model-unavailable", "The model is down.").recorded(record).result();
        let result = serde_json::to_value(result).unwrap();
        assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(true), &structured));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, "The model is down. (model-unavailable)\nFailed attempt by generator");
    }
}
