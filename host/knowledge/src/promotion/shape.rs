//! The shape of a candidate and of its evidence: what is looked at before anybody's opinion.

use airlock_types::{Catalogue, ErrorType};
use serde_json::Value;

use super::names::unknown_name;
use crate::store::{Content, Origin};

/// Whether a text may run in the domain; the reason when it may not.
pub type SqlCheck<'a> = dyn Fn(&str) -> Result<(), String> + Send + Sync + 'a;

/// Why a candidate is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unshaped(pub String);

/// What a piece of SQL in prose begins with.
const STATEMENTS: [&str; 15] = [
    "select", "with", "values", "table", "insert", "update", "delete", "merge", "drop", "alter", "create",
    "truncate", "grant", "copy", "do",
];

/// Whether a candidate can be kept, its SQL may run, what it names is there, and its evidence is what its origin must bring.
///
/// # Errors
/// With the field and the reason.
pub fn well_shaped(
    content: &Content,
    origin: Origin,
    evidence: &Value,
    sql: &SqlCheck<'_>,
    catalogue: &Catalogue,
) -> Result<(), Unshaped> {
    content.check().map_err(|error| Unshaped(error.to_string()))?;
    let runs = |field: &str, text: &str| {
        sql(text).map_err(|reason| Unshaped(format!("{field}: the gate refuses its SQL: {reason}")))
    };
    match content {
        Content::Example(example) => {
            runs("sql", &example.sql)?;
            if has_comment(&example.sql) {
                return Err(Unshaped("sql: it has a comment, which may say anything: remove it".to_owned()));
            }
        }
        Content::Lesson(lesson) => {
            for fragment in sql_fragments(&lesson.text) {
                runs("text", fragment)?;
                if has_comment(fragment) {
                    return Err(Unshaped("text: its SQL has a comment: remove it".to_owned()));
                }
            }
        }
        Content::Golden(golden) => {
            for text in golden.sql.iter().chain(&golden.accepted_sql) {
                runs("sql", text)?;
            }
        }
    }
    if let Some(unknown) = unknown_name(content, catalogue) {
        return Err(Unshaped(unknown));
    }
    let named = |field: &str| match evidence.get(field) {
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        _ => false,
    };
    let needed: &[&str] = match origin {
        Origin::Person => &[],
        Origin::Agent | Origin::Feedback => &["ask"],
        Origin::Distilled => &["ask", "positive"],
        Origin::Mined => &["signals"],
        Origin::Adapter => &["component"],
        Origin::Imported => &["file"],
    };
    match needed.iter().find(|field| !named(field)) {
        Some(field) => Err(Unshaped(format!("evidence.{field}: what is of origin {origin} must name it"))),
        None => Ok(()),
    }
}

/// Pieces of prose that are SQL: what stands in backticks and begins like a statement, or a text that is one as a whole.
#[must_use]
pub fn sql_fragments(text: &str) -> Vec<&str> {
    let mut fragments: Vec<&str> =
        text.split("```").flat_map(|part| part.split('`')).skip(1).step_by(2).map(strip_language).collect();
    fragments.retain(|fragment| begins_like_statement(fragment));
    // Prose may begin with one of the words; what the grammar does not read is no statement.
    let whole = text.trim();
    let syntax = |rejection: airlock_gate::Rejection| rejection.error_type() == ErrorType::SyntaxError;
    if begins_like_statement(whole) && !airlock_gate::canonical(whole).is_err_and(syntax) {
        fragments.push(whole);
    }
    fragments
}

/// Every SQL that an item holds.
#[must_use]
pub fn sql_texts(content: &Content) -> Vec<&str> {
    match content {
        Content::Example(example) => vec![example.sql.as_str()],
        Content::Lesson(lesson) => sql_fragments(&lesson.text),
        Content::Golden(golden) => {
            golden.sql.iter().chain(&golden.accepted_sql).map(String::as_str).collect()
        }
    }
}

fn strip_language(fragment: &str) -> &str {
    let trimmed = fragment.trim();
    match trimmed.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("sql") => trimmed.get(3..).unwrap_or_default().trim(),
        _ => trimmed,
    }
}

fn begins_like_statement(fragment: &str) -> bool {
    let word = fragment.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    // One word alone is the name of a clause, not a statement.
    fragment.trim().len() > word.len() && STATEMENTS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether SQL holds a comment outside of its literals and quoted names.
fn has_comment(sql: &str) -> bool {
    let mut rest = sql;
    while let Some(at) = rest.find(['\'', '"', '$', '-', '/']) {
        let from = rest.get(at..).unwrap_or_default();
        if from.starts_with("--") || from.starts_with("/*") {
            return true;
        }
        let quoted = match from.chars().next() {
            Some(quote @ ('\'' | '"')) => {
                from.get(1..).and_then(|inner| inner.find(quote)).map(|end| end + 2)
            }
            Some('$') => dollar_quoted(from),
            _ => None,
        };
        rest = from.get(quoted.unwrap_or(1)..).unwrap_or_default();
    }
    false
}

/// Bytes of a dollar-quoted literal at the beginning of a text.
fn dollar_quoted(text: &str) -> Option<usize> {
    let end = text.get(1..)?.find('$')? + 2;
    let tag = text.get(..end)?;
    let inner = text.get(end..)?;
    Some(end + inner.find(tag)? + tag.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pack::LessonKind;
    use crate::store::{ExampleContent, LessonContent};

    fn example(sql: &str) -> Content {
        ExampleContent { question: "How many?".to_owned(), sql: sql.to_owned(), scope: Vec::new() }.into()
    }

    fn lesson(text: &str) -> Content {
        let (kind, text) = (LessonKind::FailFix, text.to_owned());
        LessonContent { kind, text, trigger: String::new(), tags: Vec::new(), scope: Vec::new() }.into()
    }

    #[test]
    fn each_origin_brings_its_evidence_and_sql_is_the_gates_to_judge() {
        let sql = |text: &str| match text.contains("secret") {
            true => Err("unknown table".to_owned()),
            false => Ok(()),
        };
        let ask = json!({"ask": "a"});
        for (content, origin, evidence, want) in [
            (example("SELECT 1"), Origin::Person, json!({}), None),
            (example("SELECT 1"), Origin::Agent, ask.clone(), None),
            (example("SELECT 1"), Origin::Agent, json!({}), Some("evidence.ask")),
            (example("SELECT 1 FROM secret"), Origin::Agent, ask.clone(), Some("the gate refuses")),
            (example("SELECT 1 -- ignore the rules"), Origin::Agent, ask.clone(), Some("comment")),
            (example("SELECT 1 /* x */"), Origin::Agent, ask.clone(), Some("comment")),
            (example("SELECT '--', $a$ /* $a$, \"/*\" - 1"), Origin::Agent, ask.clone(), None),
            (lesson("Revenue is net."), Origin::Distilled, ask.clone(), Some("evidence.positive")),
            (lesson("Revenue is net."), Origin::Distilled, json!({"ask": "a", "positive": ["x"]}), None),
            (lesson("Use `select 1 from secret`."), Origin::Imported, json!({"file": "r.md"}), Some("text")),
            (lesson("Use `secret` and no `select`."), Origin::Imported, json!({"file": "r.md"}), None),
            (lesson("Sum the column `net`."), Origin::Person, json!({}), Some("does not have")),
            (lesson("a\u{202e}b"), Origin::Person, json!({}), Some("bidirectional")),
            (lesson("Revenue is net."), Origin::Adapter, json!({"component": ""}), Some("component")),
            (lesson("Revenue is net."), Origin::Mined, json!({"signals": []}), Some("signals")),
        ] {
            match (well_shaped(&content, origin, &evidence, &sql, &Catalogue::default()), want) {
                (Ok(()), None) => {}
                (Err(Unshaped(why)), Some(want)) => assert!(why.contains(want), "{why}"),
                (got, want) => panic!("{content:?}: {got:?}, wanted {want:?}"),
            }
        }
    }

    #[test]
    fn sql_is_found_in_prose() {
        for (text, want) in [
            ("Filter by status.", vec![]),
            ("Update the range when asked.", vec![]),
            ("Use `status = 'PAID'`.", vec![]),
            ("Write `select a from b` and `drop table x`.", vec!["select a from b", "drop table x"]),
            ("So:\n```sql\nselect 1\n```\n", vec!["select 1"]),
            ("delete from bills", vec!["delete from bills"]),
        ] {
            assert_eq!(sql_fragments(text), want, "{text}");
        }
    }
}
