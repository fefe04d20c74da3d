//! The arguments of a call, taken out one by one: what is wrong is told by its name, with what to write instead.

use airlock_types::DomainName;
use airlock_types::text::{Place, find_hidden, shorten};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::problem::ToolProblem;

/// Most characters of an argument that is no question and no SQL.
const TEXT: usize = 4_000;
/// Most characters of a name that is repeated in an error.
const SHOWN: usize = 60;

/// What a client sent; each argument is taken out by who wants it, and nothing may be left.
pub(super) struct Arguments(JsonObject);

impl Arguments {
    pub(super) fn of(arguments: Option<JsonObject>) -> Self {
        Self(arguments.unwrap_or_default())
    }

    /// A text as it was sent, for a reader that judges it by itself.
    pub(super) fn raw_text(&mut self, field: &'static str) -> Result<Option<String>, ToolProblem> {
        match self.0.shift_remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(field, format!("it is {}, and must be a text", kind(&other)))),
        }
    }

    /// The same, which must be there.
    pub(super) fn needed_raw_text(&mut self, field: &'static str, what: &str) -> Result<String, ToolProblem> {
        self.raw_text(field)?.ok_or_else(|| wrong(field, format!("it is missing: {what}")))
    }

    /// A short text with nothing hidden in it.
    pub(super) fn text(&mut self, field: &'static str) -> Result<Option<String>, ToolProblem> {
        let Some(text) = self.raw_text(field)? else { return Ok(None) };
        if let Some(found) = find_hidden(&text, Place::Prose) {
            return Err(wrong(field, format!("it holds a {found}: remove it")));
        }
        let length = text.chars().count();
        if length > TEXT {
            return Err(wrong(field, format!("it has {length} characters, and may have {TEXT}")));
        }
        Ok(Some(text))
    }

    /// The same, which must be there.
    pub(super) fn needed_text(&mut self, field: &'static str, what: &str) -> Result<String, ToolProblem> {
        self.text(field)?.ok_or_else(|| wrong(field, format!("it is missing: {what}")))
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, field: &'static str, most: u32) -> Result<Option<u32>, ToolProblem> {
        let value = match self.0.shift_remove(field) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        // Some clients send every number as a float.
        let whole = value.as_u64().or_else(|| {
            let float = value.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0)?;
            format!("{float:.0}").parse().ok()
        });
        match whole.and_then(|whole| u32::try_from(whole).ok()) {
            Some(number) if (1..=most).contains(&number) => Ok(Some(number)),
            _ => Err(wrong(field, format!("it must be a whole number from 1 to {most}"))),
        }
    }

    /// The domain, if one is named.
    pub(super) fn domain(&mut self) -> Result<Option<DomainName>, ToolProblem> {
        self.text("domain")?.map(|name| name.parse().map_err(|error| wrong("domain", error))).transpose()
    }

    /// Nothing may be left that nobody asked for: a misspelt name would go unheard.
    pub(super) fn nothing_else(self, known: &[&str]) -> Result<(), ToolProblem> {
        let Some(name) = self.0.keys().next() else { return Ok(()) };
        let seen: String = name.chars().filter(|c| !c.is_control()).collect();
        let known = known.join("`, `");
        let known =
            if known.is_empty() { "this tool takes none".to_owned() } else { format!("there are `{known}`") };
        Err(ToolProblem::new(
            "bad-argument",
            format!("There is no argument `{}`: {known}.", shorten(&seen, SHOWN)),
        ))
    }
}

/// An argument that is not what it must be.
pub(super) fn wrong(field: &'static str, message: impl std::fmt::Display) -> ToolProblem {
    ToolProblem::new("bad-argument", format!("{field}: {message}.")).field(field)
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        Arguments::of(value.as_object().cloned())
    }

    #[test]
    fn what_is_wrong_is_told_by_its_name() {
        for (value, want) in [
            (json!({}), "table: it is missing"),
            (json!({"table": 5}), "table: it is a number"),
            (json!({"table": "a\u{200b}"}), "table: it holds a"),
            (json!({"table": "x".repeat(TEXT + 1)}), "table: it has 4001 characters"),
            (json!({"table": "t", "max_rows": 0}), "max_rows: it must be"),
            (json!({"table": "t", "max_rows": 1.5}), "max_rows: it must be"),
            (json!({"table": "t", "max_rows": "5"}), "max_rows: it must be"),
            (json!({"table": "t", "domain": "A B"}), "domain: "),
            (json!({"table": "t", "tabel": 1}), "There is no argument `tabel`: there are `table`, `domain`"),
        ] {
            let mut taken = arguments(value.clone());
            let read = (|| {
                taken.needed_text("table", "the name of a table")?;
                taken.number("max_rows", 20)?;
                taken.domain()?;
                taken.nothing_else(&["table", "domain"])
            })();
            let problem = read.unwrap_err();
            assert!(problem.message.starts_with(want), "{value}: {}", problem.message);
        }
        let mut taken = arguments(json!({"max_rows": 5.0, "domain": null}));
        assert_eq!(taken.number("max_rows", 20).unwrap(), Some(5));
        assert_eq!(taken.domain().unwrap(), None);
        assert!(taken.nothing_else(&[]).is_ok());
    }
}
