//! What `airlock check-sql` says of a text: one JSON object, or words for a person.

use airlock_gate::{Approved, Rejection};
use serde_json::{Value, json};

/// A verdict on one text, with what came of running it.
pub(super) struct Verdict {
    line: Value,
    pub(super) approved: bool,
}

impl Verdict {
    /// The gate said no.
    pub(super) fn rejected(id: Value, rejection: &Rejection) -> Self {
        let line = json!({
            "id": id,
            "verdict": "rejected",
            "code": rejection.code.as_str(),
            "message": rejection.message,
            "hint": rejection.hint,
            "position": rejection.position,
        });
        Self { line, approved: false }
    }

    /// The gate said yes.
    pub(super) fn approved(id: Value, approved: &Approved) -> Self {
        let facts = approved.facts();
        let line = json!({
            "id": id,
            "verdict": "approved",
            "code": null,
            "message": null,
            "position": null,
            "tables": facts.tables.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "columns": facts.columns.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "functions": facts.functions,
        });
        Self { line, approved: true }
    }

    /// The line holds no SQL that could be judged.
    pub(super) fn unreadable(id: Value, message: String) -> Self {
        let line = json!({"id": id, "verdict": "rejected", "code": "bad-input", "message": message});
        Self { line, approved: false }
    }

    /// The same verdict with what came of running the text.
    pub(super) fn with(mut self, ran: Value) -> Self {
        if let (Value::Object(line), Value::Object(ran)) = (&mut self.line, ran) {
            line.extend(ran);
        }
        self
    }

    /// Appends it to what is written: a line of JSON, or words.
    pub(super) fn write(&self, json: bool, out: &mut String) {
        if json {
            out.push_str(&self.line.to_string());
            out.push('\n');
        } else {
            self.say(out);
        }
    }

    fn text(&self, key: &str) -> &str {
        self.line.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn say(&self, out: &mut String) {
        match self.line.get("id") {
            None | Some(Value::Null) => {}
            Some(Value::String(id)) => out.push_str(&format!("{id}: ")),
            Some(id) => out.push_str(&format!("{id}: ")),
        }
        if !self.approved {
            out.push_str(&format!("rejected ({}): {}\n", self.text("code"), self.text("message")));
            if !self.text("hint").is_empty() {
                out.push_str(&format!("  {}\n", self.text("hint")));
            }
            return;
        }
        let tables = self.line.get("tables").and_then(Value::as_array);
        let tables: Vec<&str> = tables.into_iter().flatten().filter_map(Value::as_str).collect();
        out.push_str(&format!("approved; reads {}\n", tables.join(", ")));
        if let Some(count) = self.line.get("row_count") {
            match self.line.pointer("/error/message").and_then(Value::as_str) {
                Some(message) => out.push_str(&format!("  failed: {message}\n")),
                None => out.push_str(&format!("  {count} rows\n")),
            }
        }
    }
}
