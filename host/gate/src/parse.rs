//! PostgreSQL's own grammar: one statement in, its tree out, or the place where it stopped.

use pg_query::protobuf::{ParseResult, SelectStmt};
use pg_query::{Error, NodeEnum};

use crate::rejection::{Refusal, RejectionCode};
use crate::scan::Scan;

/// Most places that are tried when looking for the position of a syntax error.
const POSITION_TRIES: usize = 12;

/// The tree of a text.
pub(crate) fn tree(text: &str, scan: &Scan) -> Result<ParseResult, Box<Refusal>> {
    match pg_query::parse(text, 0) {
        Ok(parsed) => Ok(parsed.protobuf),
        Err(error) => Err(unreadable(text, &error, Some(scan))),
    }
}

fn too_deep() -> Box<Refusal> {
    Refusal::new(RejectionCode::TooDeep, "the statement is nested too deeply to be read")
}

/// A refusal for a text that the grammar cannot read.
pub(crate) fn unreadable(text: &str, error: &Error, scan: Option<&Scan>) -> Box<Refusal> {
    if matches!(error, Error::Decode(_)) {
        return too_deep();
    }
    let (Error::Parse(said) | Error::Scan(said)) = error else {
        return Refusal::new(RejectionCode::Syntax, "PostgreSQL cannot read the statement");
    };
    if ["stack depth limit", "memory exhausted", "nested too deeply"].iter().any(|limit| said.contains(limit))
    {
        return too_deep();
    }
    let refusal =
        Refusal::new(RejectionCode::Syntax, format!("PostgreSQL cannot read the statement: {said}"))
            .maybe_hint(dialect_hint(text, said));
    match scan.and_then(|scan| position(text, said, scan)) {
        Some(location) => refusal.at(location),
        None if said.contains("at end of input") => refusal.at(i32::try_from(text.len()).unwrap_or(-1)),
        None => refusal,
    }
}

/// libpg_query names the token where it stopped but not where that token is. It is the first of that spelling up to which
/// the text is still a beginning of something.
fn position(text: &str, said: &str, scan: &Scan) -> Option<i32> {
    let near = said.split_once("at or near \"")?.1.strip_suffix('"')?;
    let same = scan.lexemes.iter().filter(|lexeme| lexeme.text(text) == near);
    for lexeme in same.take(POSITION_TRIES) {
        match pg_query::parse(text.get(..lexeme.end)?, 0) {
            Err(Error::Parse(again)) if again.contains("at or near") => {
                return i32::try_from(lexeme.start).ok();
            }
            _ => {}
        }
    }
    None
}

/// What a writer of another dialect probably meant.
fn dialect_hint(text: &str, said: &str) -> Option<String> {
    let near =
        said.split_once("at or near \"").and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or_default();
    let upper = text.to_ascii_uppercase();
    let hint = if near.starts_with('`') || text.contains('`') {
        "PostgreSQL quotes names with double quotes, not with backticks."
    } else if near == "[" || near.starts_with('[') {
        "PostgreSQL quotes names with double quotes, not with square brackets."
    } else if upper.contains("QUALIFY") {
        "PostgreSQL has no QUALIFY: filter the window function in an outer query."
    } else if said.contains("LIMIT #,#") || upper.contains("LIMIT") && near == "," {
        "Write LIMIT count OFFSET start."
    } else if upper.contains("SELECT TOP ") {
        "Write LIMIT at the end instead of TOP."
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// The one query a tree is.
pub(crate) fn single_query(tree: &ParseResult) -> Result<&SelectStmt, Box<Refusal>> {
    let (first, rest) = tree.stmts.split_first().ok_or_else(|| {
        Refusal::new(RejectionCode::Empty, "there is no statement").hint("Write one SELECT statement.")
    })?;
    if let Some(second) = rest.first() {
        return Err(Refusal::new(
            RejectionCode::SeveralStatements,
            format!("there are {} statements, exactly one is allowed", tree.stmts.len()),
        )
        .at(second.stmt_location)
        .hint("Send one statement at a time."));
    }
    match first.stmt.as_ref().and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::SelectStmt(select)) => Ok(select),
        other => Err(Refusal::new(
            RejectionCode::NotAQuery,
            format!("{} is not a query: only SELECT, WITH, VALUES and TABLE are allowed", verb(other)),
        )
        .at(first.stmt_location)),
    }
}

/// The statement's kind in a person's words.
fn verb(node: Option<&NodeEnum>) -> String {
    let shown = match node {
        Some(NodeEnum::InsertStmt(_)) => "INSERT",
        Some(NodeEnum::UpdateStmt(_)) => "UPDATE",
        Some(NodeEnum::DeleteStmt(_)) => "DELETE",
        Some(NodeEnum::MergeStmt(_)) => "MERGE",
        Some(NodeEnum::TransactionStmt(_)) => "a transaction command",
        Some(NodeEnum::CopyStmt(_)) => "COPY",
        Some(NodeEnum::ExplainStmt(_)) => "EXPLAIN",
        Some(NodeEnum::DoStmt(_)) => "DO",
        Some(NodeEnum::CallStmt(_)) => "CALL",
        Some(NodeEnum::VariableSetStmt(_)) => "SET",
        Some(NodeEnum::VariableShowStmt(_)) => "SHOW",
        Some(NodeEnum::LockStmt(_)) => "LOCK",
        Some(NodeEnum::TruncateStmt(_)) => "TRUNCATE",
        _ => "this command",
    };
    shown.to_owned()
}

/// PostgreSQL's own printing of a text: equal for texts that differ in spacing, case and comments only. It is compared
/// and stored, and never executed.
pub(crate) fn canonical(text: &str, scan: &Scan) -> Result<String, Box<Refusal>> {
    let tree = tree(text, scan)?;
    single_query(&tree)?;
    tree.deparse(pg_query::DeparseOptions::default()).map_err(|error| unreadable(text, &error, None))
}

/// The same with a parameter in place of each literal: what a text asks for without what it asks about.
pub(crate) fn without_literals(text: &str, scan: &Scan) -> Result<String, Box<Refusal>> {
    let canonical = canonical(text, scan)?;
    pg_query::normalize(&canonical).map_err(|error| unreadable(text, &error, None))
}
