//! What each tool returns, as JSON Schema.

use serde_json::{Value, json};

use super::tools::Tool;

/// The output schema of a tool.
pub(super) fn output(tool: Tool) -> Value {
    match tool {
        Tool::ListDomains => object(
            json!({
                "domains": list(object(
                    json!({
                        "domain": text("Its name."), "title": text("What people call it."),
                        "description": text("What it is about."), "tables": number("How many it has."),
                    }),
                    &["domain", "title", "description", "tables"],
                )),
            }),
            &["domains"],
        ),
        Tool::ListTables => object(
            json!({
                "domain": text("The domain."),
                "tables": list(object(
                    json!({
                        "table": text("`schema.name`."), "kind": text("table, view, ..."),
                        "description": text("What it is for."), "in_use": flag("False: dead, do not use it."),
                        "row_estimate": maybe("integer", "About how many rows it has."),
                        "columns": number("How many columns it has."),
                    }),
                    &["table", "kind", "description", "in_use", "columns"],
                )),
                "truncated": flag("Whether there are more."),
                "next": maybe("string", "What to give `after` for the next page."),
            }),
            &["domain", "tables", "truncated"],
        ),
        Tool::DescribeTable => table(),
        Tool::SampleRows => object(
            json!({
                "domain": text("The domain."), "table": text("`schema.name`."), "sql": text("What was run."),
                "columns": columns(), "rows": rows(), "row_count": number("Rows in `rows`."),
                "truncated": flag("Whether the table has more rows."),
                "withheld": list(object(
                    json!({"column": text("Its name."), "why": text("Why its values are not shown.")}),
                    &["column", "why"],
                )),
            }),
            &["domain", "table", "sql", "columns", "rows", "row_count", "truncated", "withheld"],
        ),
        Tool::GetQueryContext => object(
            json!({
                "domain": text("The domain."),
                "blocks": list(object(
                    json!({
                        "kind": text("tables, joins, glossary, examples, lessons, values, ..."),
                        "vouched_by": text("authoritative, curated, reviewed or derived."),
                        "text": text("What a model would read."),
                    }),
                    &["kind", "vouched_by", "text"],
                )),
            }),
            &["domain", "blocks"],
        ),
        Tool::DryRun => object(
            json!({
                "id": {"type": "null", "description": "A text of its own has no name."},
                "verdict": {"enum": ["approved", "rejected"]},
                "code": maybe("string", "Stable code of the refusal."),
                "message": maybe("string", "Why it was refused."),
                "hint": maybe("string", "What to write instead."),
                "position": maybe("integer", "1-based character position of the fault."),
                "tables": names("Tables that it reads."), "columns": names("Columns that it reads."),
                "functions": names("Functions that it calls."),
                "warnings": names("What the domain's rules remark."),
            }),
            &["verdict"],
        ),
        Tool::RunQuery => object(
            json!({
                "domain": text("The domain."),
                "sql": text("What was run."), "columns": columns(), "rows": rows(),
                "row_count": number("Rows in `rows`."), "truncated": flag("Whether there are more rows."),
                "duration_ms": number("Milliseconds it ran."),
                "warnings": names("What the domain's rules remark."), "tables_used": names("Tables that it reads."),
            }),
            &["sql", "columns", "rows", "row_count", "truncated", "duration_ms", "warnings", "tables_used"],
        ),
        Tool::Ask => answer(),
        Tool::Feedback => object(
            json!({
                "feedback": text("Identity of what was recorded."), "ask_id": text("The answer that was judged."),
                "verdict": {"enum": ["right", "wrong"]},
            }),
            &["feedback", "ask_id", "verdict"],
        ),
    }
}

fn table() -> Value {
    let column = object(
        json!({
            "name": text("Its name."), "type": text("As PostgreSQL prints it."), "nullable": flag("Whether it may be NULL."),
            "description": text("What it means."), "class": text("plain, amount, personal or secret."),
            "values": names("Values that may be shown."),
        }),
        &["name", "type", "nullable", "description", "class", "values"],
    );
    let join = object(
        json!({
            "from": text("A table."), "from_columns": names("Its columns."),
            "to": text("The other table."), "to_columns": names("Its columns."),
            "origin": text("foreign-key, manual or inferred."),
            "verified": flag("False: nobody has confirmed that the two belong together."),
        }),
        &["from", "from_columns", "to", "to_columns", "origin", "verified"],
    );
    object(
        json!({
            "domain": text("The domain."), "table": text("`schema.name`."), "schema": text("Its schema."),
            "name": text("Its name."), "kind": text("table, view, ..."),
            "description": text("What it is for."), "not_for": text("What it must not be used for; may be empty."),
            "in_use": flag("False: dead, do not use it."),
            "row_estimate": maybe("integer", "About how many rows it has."),
            "primary_key": names("Columns of its primary key."), "columns": list(column), "joins": list(join),
            "warnings": names("What has changed in the table since people wrote about it."),
        }),
        &["domain", "table", "kind", "description", "in_use", "primary_key", "columns", "joins", "warnings"],
    )
}

/// The record of an ask, the same as on every surface. What serves an audit rather than an agent is allowed, not listed.
fn answer() -> Value {
    let attempt = object(
        json!({
            "sql": text("The text."), "origin": text("Who wrote it."),
            "error_type": maybe("string", "Why it did not answer."), "message": maybe("string", "What was said."),
        }),
        &["sql", "origin"],
    );
    object(
        json!({
            "ask_id": text("Identity of the ask, for `feedback` and `follow_up_of`."), "domain": text("The domain."),
            "outcome": {"enum": ["answered", "clarification", "refused", "gave_up", "failed"]},
            "reason": maybe("string", "Why, for every ending but `answered`."),
            "answer": maybe("string", "The sentence for a person."),
            "sql": maybe("string", "The SQL behind the answer."),
            "columns": columns(), "rows": rows(), "row_count": number("Rows in `rows`."),
            "truncated": flag("Whether there are more rows."),
            "assumptions": names("What the answer rests on that the question did not say."),
            "warnings": names("What is to be kept in mind."), "tables_used": names("Tables that the SQL reads."),
            "attempts": number("Texts offered as the answer."), "history": list(attempt),
            "options": {"type": ["array", "null"], "items": {"type": "string"}, "description": "Choices of a clarification."},
        }),
        &[
            "ask_id",
            "domain",
            "outcome",
            "reason",
            "answer",
            "sql",
            "columns",
            "rows",
            "row_count",
            "truncated",
            "assumptions",
            "warnings",
            "tables_used",
            "attempts",
            "history",
        ],
    )
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn typed(kind: &str, description: &str) -> Value {
    json!({"type": kind, "description": description})
}

fn text(description: &str) -> Value {
    typed("string", description)
}

fn number(description: &str) -> Value {
    typed("integer", description)
}

fn flag(description: &str) -> Value {
    typed("boolean", description)
}

fn maybe(kind: &str, description: &str) -> Value {
    json!({"type": [kind, "null"], "description": description})
}

fn names(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn columns() -> Value {
    list(object(
        json!({"name": text("As the query names it; names may repeat."), "type": text("As PostgreSQL prints it.")}),
        &["name", "type"],
    ))
}

/// Cells are any JSON: exact digits may come as an object that holds them.
fn rows() -> Value {
    json!({"type": "array", "items": {"type": "array"}, "description": "Rows, arrays beside `columns`."})
}
