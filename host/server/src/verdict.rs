//! What the gate says of a text, the same on the command line and over HTTP.

use airlock_gate::{Approved, Rejection};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A verdict on one text, with what came of running it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SqlVerdict)]
pub struct Verdict {
    /// The name that the text was given, if any.
    id: Value,
    /// `approved` or `rejected`.
    verdict: &'static str,
    /// The gate's code, of a text that it rejected.
    code: Option<&'static str>,
    /// Why, in a sentence.
    message: Option<String>,
    /// What to write instead, where there is something.
    hint: Option<String>,
    /// 1-based character position in the text.
    position: Option<u32>,
    /// Relations that an approved text reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tables: Option<Vec<String>>,
    /// Columns that it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    columns: Option<Vec<String>>,
    /// Functions that it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    functions: Option<Vec<String>>,
    /// What came of running it, where that was wanted.
    #[serde(flatten)]
    #[schema(ignore)]
    ran: Map<String, Value>,
}

impl Verdict {
    /// What the gate said.
    pub fn of(id: Value, verdict: &Result<Approved, Rejection>) -> Self {
        let facts = match verdict {
            Ok(approved) => approved.facts(),
            Err(rejection) => {
                let no = Self::no(id, rejection.code.as_str(), rejection.message.clone());
                return Self { hint: rejection.hint.clone(), position: rejection.position, ..no };
            }
        };
        Self {
            id,
            verdict: "approved",
            code: None,
            message: None,
            hint: None,
            position: None,
            tables: Some(facts.tables.iter().map(ToString::to_string).collect()),
            columns: Some(facts.columns.iter().map(ToString::to_string).collect()),
            functions: Some(facts.functions.clone()),
            ran: Map::new(),
        }
    }

    /// There is no SQL that could be judged.
    pub fn unreadable(id: Value, message: String) -> Self {
        Self::no(id, "bad-input", message)
    }

    fn no(id: Value, code: &'static str, message: String) -> Self {
        Self {
            id,
            verdict: "rejected",
            code: Some(code),
            message: Some(message),
            hint: None,
            position: None,
            tables: None,
            columns: None,
            functions: None,
            ran: Map::new(),
        }
    }

    /// Whether the text may run.
    pub const fn is_approved(&self) -> bool {
        self.code.is_none()
    }

    /// The same verdict with what came of running the text, whose columns take the place of those it reads.
    pub fn with(self, ran: Map<String, Value>) -> Self {
        Self { columns: None, ran, ..self }
    }

    /// Appends it to what is written: a line of JSON, or words.
    pub fn write(&self, json: bool, out: &mut String) {
        if json {
            // Strings and numbers can always be written.
            out.push_str(&serde_json::to_string(self).unwrap_or_default());
            out.push('\n');
        } else {
            self.say(out);
        }
    }

    fn say(&self, out: &mut String) {
        match &self.id {
            Value::Null => {}
            Value::String(id) => out.push_str(&format!("{id}: ")),
            id => out.push_str(&format!("{id}: ")),
        }
        if let Some(code) = self.code {
            out.push_str(&format!("rejected ({code}): {}\n", self.message.as_deref().unwrap_or_default()));
            if let Some(hint) = self.hint.as_deref().filter(|hint| !hint.is_empty()) {
                out.push_str(&format!("  {hint}\n"));
            }
            return;
        }
        let tables = self.tables.as_deref().unwrap_or_default().join(", ");
        out.push_str(&format!("approved; reads {tables}\n"));
        if let Some(count) = self.ran.get("row_count") {
            match self.ran.get("error").and_then(|error| error.get("message")).and_then(Value::as_str) {
                Some(message) => out.push_str(&format!("  failed: {message}\n")),
                None => out.push_str(&format!("  {count} rows\n")),
            }
        }
    }
}
