//! The tools: what each is called, what it may be given, what it says of itself, and which scope it takes.

use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use super::schemas;
use crate::access::Scope;

/// A tool. Curating, operating and keys are none: what is trusted is never changed over MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    ListDomains,
    ListTables,
    DescribeTable,
    SampleRows,
    GetQueryContext,
    DryRun,
    RunQuery,
    Ask,
    Feedback,
}

impl Tool {
    pub(super) const ALL: [Self; 9] = [
        Self::ListDomains,
        Self::ListTables,
        Self::DescribeTable,
        Self::SampleRows,
        Self::GetQueryContext,
        Self::DryRun,
        Self::RunQuery,
        Self::Ask,
        Self::Feedback,
    ];

    /// The tool with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ListDomains => "list_domains",
            Self::ListTables => "list_tables",
            Self::DescribeTable => "describe_table",
            Self::SampleRows => "sample_rows",
            Self::GetQueryContext => "get_query_context",
            Self::DryRun => "dry_run",
            Self::RunQuery => "run_query",
            Self::Ask => "ask",
            Self::Feedback => "feedback",
        }
    }

    /// Of these a caller needs one to use it.
    pub(super) const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::ListDomains | Self::ListTables | Self::DescribeTable => &[Scope::Read],
            Self::SampleRows | Self::RunQuery => &[Scope::Query],
            Self::DryRun => Scope::JUDGING_SQL,
            Self::GetQueryContext | Self::Ask => &[Scope::Ask],
            Self::Feedback => &[Scope::Feedback],
        }
    }

    /// Whether it runs statements on the domain's database.
    pub(super) const fn runs_statements(self) -> bool {
        matches!(self, Self::SampleRows | Self::RunQuery | Self::Ask)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::ListDomains => "List domains",
            Self::ListTables => "List tables",
            Self::DescribeTable => "Describe a table",
            Self::SampleRows => "Sample rows",
            Self::GetQueryContext => "Get the context for a question",
            Self::DryRun => "Check SQL without running it",
            Self::RunQuery => "Run SQL",
            Self::Ask => "Ask a question",
            Self::Feedback => "Judge an answer",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::ListDomains => {
                "The domains that can be asked about: a name, a title and a description each. Other tools take the name."
            }
            Self::ListTables => {
                "The tables of a domain with what each is for. With `search`, those nearest to some words; else all, in \
                 pages: give `after` the last name you saw."
            }
            Self::DescribeTable => {
                "One table: its columns with type, meaning, class and permitted sample values, its keys and its joins. \
                 Call it before you write SQL over the table."
            }
            Self::SampleRows => {
                "A few rows of a table, of the columns whose values the domain permits to be shown; the others are \
                 listed as withheld."
            }
            Self::GetQueryContext => {
                "What airlock's own model would be given to write SQL for a question: tables, joins, glossary terms, \
                 verified examples, lessons. Use it to write SQL yourself, then `dry_run` and `run_query`."
            }
            Self::DryRun => {
                "Whether the gate approves one SQL text, without running it: the verdict with code, message and position, \
                 and the tables, columns and functions that the text reads."
            }
            Self::RunQuery => {
                "Runs one read-only PostgreSQL query that you wrote, through the gate and the domain's rules. Rows are \
                 capped; `truncated` tells whether there are more."
            }
            Self::Ask => {
                "Asks a question in plain English. airlock writes the SQL, checks it, runs it, repairs it, and returns \
                 the answer with the SQL, the rows, the assumptions and every attempt. `outcome` is answered, \
                 clarification (choose one of `options` and ask again with `choice`), refused or gave_up."
            }
            Self::Feedback => {
                "Records whether an answer of `ask` was right or wrong. It changes nothing that is trusted; people \
                 decide on that elsewhere."
            }
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(self.title()).open_world(false);
        match self {
            Self::Feedback => hints.read_only(false).destructive(false).idempotent(false),
            _ => hints.read_only(true).destructive(false).idempotent(true),
        }
    }

    /// The names of its arguments.
    pub(super) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::ListDomains => &[],
            Self::ListTables => &["domain", "search", "after", "limit"],
            Self::DescribeTable => &["domain", "table"],
            Self::SampleRows => &["domain", "table", "rows"],
            Self::GetQueryContext => &["domain", "question", "now"],
            Self::DryRun => &["domain", "sql"],
            Self::RunQuery => &["domain", "sql", "max_rows"],
            Self::Ask => &["domain", "question", "mode", "follow_up_of", "choice", "now", "max_rows"],
            Self::Feedback => &["ask_id", "verdict", "note"],
        }
    }

    /// As clients are told of it.
    pub(super) fn listed(self) -> rmcp::model::Tool {
        rmcp::model::Tool::new(self.name(), self.description(), object(self.input()))
            .with_title(self.title())
            .with_raw_output_schema(object(schemas::output(self)))
            .with_annotations(self.annotations())
    }

    fn input(self) -> Value {
        let all = json!({
            "domain": {"type": "string", "description": "The domain's name; may be left out when there is only one."},
            "search": {"type": "string", "description": "Words to look for."},
            "after": {"type": "string", "description": "Only tables after this one, `schema.name`."},
            "limit": {"type": "integer", "minimum": 1, "maximum": super::look::TABLES,
                "description": "Tables at most; 100 when left out."},
            "table": {"type": "string", "description": "`schema.name`, or `name` alone where it is unambiguous."},
            "rows": {"type": "integer", "minimum": 1, "maximum": super::query::SAMPLE_ROWS,
                "description": "Rows at most; 5 when left out."},
            "question": {"type": "string", "minLength": 1, "maxLength": airlock_types::text::QUESTION_LIMIT,
                "description": "The question in plain English."},
            "now": {"type": "string", "description": "Answer as of this moment: RFC 3339, or a date."},
            "sql": {"type": "string", "description": "One PostgreSQL statement that only reads."},
            "max_rows": {"type": "integer", "minimum": 1, "maximum": u32::MAX,
                "description": "Rows at most; the domain's own cap holds above it."},
            "mode": {"enum": ["agent", "baseline"],
                "description": "`agent` repairs what fails, `baseline` makes one attempt."},
            "follow_up_of": {"type": "string", "description": "The `ask_id` of the answer that this question follows."},
            "choice": {"type": "string", "description": "The option chosen after a clarification, with its `ask_id` as `follow_up_of`."},
            "ask_id": {"type": "string", "description": "The `ask_id` of the answer."},
            "verdict": {"enum": ["right", "wrong"], "description": "Whether the answer is right."},
            "note": {"type": "string", "maxLength": 2_000, "description": "Why, for the people who look at it."},
        });
        let mut properties = JsonObject::new();
        for name in self.arguments() {
            properties.extend(all.get(*name).map(|schema| ((*name).to_owned(), schema.clone())));
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": self.required(),
            "additionalProperties": false,
        })
    }

    const fn required(self) -> &'static [&'static str] {
        match self {
            Self::ListDomains | Self::ListTables => &[],
            Self::DescribeTable | Self::SampleRows => &["table"],
            Self::GetQueryContext | Self::Ask => &["question"],
            Self::DryRun | Self::RunQuery => &["sql"],
            Self::Feedback => &["ask_id", "verdict"],
        }
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    Arc::new(match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_describes_its_arguments_and_its_result() {
        for tool in Tool::ALL {
            assert_eq!(Tool::named(tool.name()), Some(tool));
            let listed = tool.listed();
            let properties = listed.input_schema["properties"].as_object().unwrap();
            assert_eq!(properties.len(), tool.arguments().len(), "{tool:?}");
            assert!(tool.required().iter().all(|name| properties.contains_key(*name)), "{tool:?}");
            let output = listed.output_schema.unwrap();
            assert_eq!(output["type"], "object", "{tool:?}");
            for name in output["required"].as_array().unwrap() {
                assert!(output["properties"].get(name.as_str().unwrap()).is_some(), "{tool:?} {name}");
            }
            let hints = listed.annotations.unwrap();
            assert_eq!(hints.read_only_hint, Some(tool != Tool::Feedback), "{tool:?}");
            assert_eq!(hints.open_world_hint, Some(false));
        }
        assert_eq!(Tool::named("approve"), None);
    }
}
