//! What a model's reply amounts to.

use airlock_plugin_sdk::ModelReply;
use airlock_plugin_sdk::prompt::cut;

/// Bytes of the reply that are kept as reasoning or shown as a reason.
const REASONING: usize = 1_000;
const REASON: usize = 400;
/// Assumptions and missing things that are kept.
const MOST: usize = 8;

/// A reply, understood.
#[derive(Debug, PartialEq)]
pub enum Reading {
    /// A statement.
    Statement { sql: String, reasoning: Option<String>, assumptions: Vec<String> },
    /// The model says that the data cannot answer.
    Cannot { reason: String, missing: Vec<String> },
    /// Neither.
    Prose,
    /// The reply ended at its length limit, so that a statement in it may be half of one.
    Cut,
}

/// Reads a reply. `CANNOT:` outranks a statement beside it: a model that says so offers something else.
pub fn read(reply: &ModelReply) -> Reading {
    if let Some(reason) = after_keyword(reply.text.trim_start(), "CANNOT") {
        let missing = reply.text.lines().find_map(|line| after_keyword(line, "MISSING")).unwrap_or_default();
        return Reading::Cannot { reason: sentence(reason), missing: listed(missing.split(',')) };
    }
    if reply.truncated {
        return Reading::Cut;
    }
    match reply.sql.as_deref().map(str::trim).filter(|sql| !sql.is_empty()) {
        Some(sql) => Reading::Statement {
            sql: sql.trim_end_matches(';').trim_end().to_owned(),
            reasoning: reasoning(&reply.text, sql),
            assumptions: listed(reply.text.lines().filter_map(|line| after_keyword(line, "ASSUME"))),
        },
        None => Reading::Prose,
    }
}

/// The rest of a line that begins with `KEYWORD:`, whatever mark-up stands around the keyword.
fn after_keyword<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let line = text.lines().next()?.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (head, rest) = line.split_at_checked(keyword.len())?;
    let rest = rest.trim_start_matches(['*', '`', ' ']);
    (head.eq_ignore_ascii_case(keyword))
        .then(|| rest.strip_prefix(':'))
        .flatten()
        .map(|rest| rest.trim_matches(['*', '`', ' ']))
}

fn sentence(reason: &str) -> String {
    let mut reason = reason.trim().to_owned();
    cut(&mut reason, REASON);
    if reason.is_empty() { "The data described cannot answer this question.".into() } else { reason }
}

fn listed<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<String> {
    parts
        .map(|part| part.trim().trim_end_matches('.'))
        .filter(|part| !part.is_empty())
        .take(MOST)
        .map(|part| {
            let mut part = part.to_owned();
            cut(&mut part, REASON);
            part
        })
        .collect()
}

/// The prose before the statement, if there is any.
fn reasoning(text: &str, sql: &str) -> Option<String> {
    let end = text.find("```").or_else(|| text.find(sql))?;
    let mut prose = text
        .get(..end)?
        .lines()
        .filter(|line| after_keyword(line, "ASSUME").is_none())
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned();
    cut(&mut prose, REASONING);
    (!prose.is_empty()).then_some(prose)
}
