//! SQL of an agent's own: a few rows of a table, a verdict, a run.

use airlock_gate::Rejection;
use airlock_pipeline::{QueryError, SampleError};
use airlock_types::query::{QueryRequest, RawQueryRequest};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::call::{Call, Told};
use super::look::view;
use super::problem::ToolProblem;
use super::said::{Said, bound, table};
use super::tools::Tool;
use crate::verdict::Verdict;

/// Most rows of a sample.
pub(super) const SAMPLE_ROWS: u32 = 20;
/// Rows of a sample when nobody says how many.
const SAMPLE_USUAL: u32 = 5;

impl Call<'_> {
    pub(super) async fn sample_rows(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let name = arguments.needed_text("table", "name one of `list_tables`")?;
        let rows = arguments.number("rows", SAMPLE_ROWS)?.unwrap_or(SAMPLE_USUAL);
        arguments.nothing_else(Tool::SampleRows.arguments())?;
        let of = view(&domain, &name)?.table.clone();
        let sample = self.host().sample(Some(domain.name()), &of, rows, &self.caller.asker).await?;
        let mut text = format!("{of}:\n{}", table(&sample.columns, &sample.rows, false));
        let mut withheld = Vec::new();
        for (column, why) in &sample.withheld {
            text.push_str(&format!("Withheld: {column} ({why})\n"));
            withheld.push(json!({"column": column, "why": why}));
        }
        let structured = json!({
            "domain": domain.name(), "table": of.to_string(), "sql": sample.sql, "columns": sample.columns,
            "row_count": sample.rows.len(), "rows": sample.rows, "truncated": sample.truncated, "withheld": withheld,
        });
        Ok(Said { structured, text })
    }

    pub(super) async fn dry_run(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let sql = arguments.needed_raw_text("sql", "write one SELECT")?;
        arguments.nothing_else(Tool::DryRun.arguments())?;
        let verdict = self.host().check(Some(domain.name()), &sql, &self.caller.asker).await?;
        let text = match &verdict {
            Ok(approved) => {
                let tables: Vec<String> = approved.facts().tables.iter().map(ToString::to_string).collect();
                format!("Approved; it reads {}.", or_nothing(&tables.join(", ")))
            }
            Err(rejection) => in_words(rejection),
        };
        let structured = serde_json::to_value(Verdict::of(Value::Null, &verdict))
            .map_err(|error| ToolProblem::new("internal", error))?;
        Ok(Said { structured, text })
    }

    pub(super) async fn run_query(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let raw = RawQueryRequest {
            sql: arguments.raw_text("sql")?,
            domain: Some(domain.name().to_string()),
            max_rows: arguments.number("max_rows", u32::MAX)?,
        };
        arguments.nothing_else(Tool::RunQuery.arguments())?;
        let request = QueryRequest::try_from(raw)?;
        let mut result = self.host().query(&request, &self.caller.asker).await?;
        if bound(&mut result.rows) {
            result.truncated = true;
            result.row_count = u64::try_from(result.rows.len()).unwrap_or(u64::MAX);
        }
        let mut text = match result.row_count {
            1 => "1 row.\n".to_owned(),
            rows => format!("{rows} rows.\n"),
        };
        text.push_str(&table(&result.columns, &result.rows, result.truncated));
        result.warnings.iter().for_each(|warning| text.push_str(&format!("Note: {warning}\n")));
        let mut structured =
            serde_json::to_value(result).map_err(|error| ToolProblem::new("internal", error))?;
        if let Value::Object(fields) = &mut structured {
            fields.insert("domain".to_owned(), json!(domain.name()));
        }
        Ok(Said { structured, text })
    }
}

fn in_words(rejection: &Rejection) -> String {
    let place = rejection.position.map(|at| format!(" (at character {at})")).unwrap_or_default();
    let hint = rejection.hint.as_deref().map(|hint| format!("\n{hint}")).unwrap_or_default();
    format!("Rejected, {}: {}{place}{hint}", rejection.code.as_str(), rejection.message)
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "no table" } else { text }
}

impl From<QueryError> for ToolProblem {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Ask(error) => error.into(),
            QueryError::Rejected { code, failure } => Self::from(failure).coded(code),
            QueryError::Blocked(failure) => Self::from(failure).coded("blocked"),
            QueryError::Failed(failure) => failure.into(),
            QueryError::Fault(fault) => fault.into(),
            other => Self::new("internal", other),
        }
    }
}

impl From<SampleError> for ToolProblem {
    fn from(error: SampleError) -> Self {
        match error {
            SampleError::Ask(error) => error.into(),
            SampleError::Query(error) => error.into(),
            SampleError::UnknownTable(_) => Self::new("bad-argument", error).field("table"),
            SampleError::NothingPermitted(_) => Self::new("nothing-permitted", error).field("table"),
            other => Self::new("internal", other),
        }
    }
}
