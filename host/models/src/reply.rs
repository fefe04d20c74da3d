//! Cleaning a reply: reasoning removed, the statement found. Prose is never SQL.
//!
//! The rule, in order:
//!
//! 1. **Reasoning.** What stands between `<think>` and `</think>` (also `thinking`, `reasoning`) is removed. A closing tag
//!    alone removes everything before it; an opening tag alone removes everything after it.
//! 2. **Fences.** Of the blocks between fences (three backticks, tildes or single quotes, any language tag, on one line or
//!    several) those that begin like a statement count, and the **last** one is the reply's SQL: models correct themselves
//!    downwards.
//! 3. **JSON.** A reply, or a fenced block, that is an object with a string `sql` or `query` is that string.
//! 4. **Inline code.** A single pair of backticks around something that begins like a statement is that statement.
//! 5. **Bare text.** Without a fence, the text counts from the first line that begins like a statement up to a semicolon
//!    outside quotes, or to its end. A label before it (`SQL:`, `Query:`) is passed over.
//!
//! Outside fences and JSON a text that begins with `SELECT` is still a sentence, and no SQL, when before its first semicolon or
//! empty line three plain words follow each other that are no keywords, quotation marks and comments left out: `Select
//! whichever carrier you like`. In a fence it is taken for the statement that it is offered as, and PostgreSQL says what is wrong.
//!
//! To begin like a statement is to begin with `SELECT`, `VALUES (`, `TABLE name`, `WITH name [(...)] AS`, a parenthesis and
//! one of these, or a word that no reading statement begins with but SQL does (`DELETE FROM`, `COMMIT;`, ...), so that a
//! write reaches the gate and is refused by name rather than passed over as prose.

/// `text` without its reasoning.
#[must_use]
pub fn without_reasoning(text: &str) -> String {
    let mut rest = text.to_owned();
    for tag in ["think", "thinking", "reasoning"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        loop {
            let lower = rest.to_ascii_lowercase();
            match (lower.find(&open), lower.find(&close)) {
                (Some(start), Some(end)) if start < end => rest.replace_range(start..end + close.len(), ""),
                (_, Some(end)) => rest.replace_range(..end + close.len(), ""),
                (Some(start), None) => rest.truncate(start),
                (None, None) => break,
            }
        }
    }
    rest.trim().to_owned()
}

/// The statement in a reply whose reasoning is gone already; `None` when there is only prose.
#[must_use]
pub fn statement(text: &str) -> Option<String> {
    let blocks = fenced(text);
    if !blocks.is_empty() {
        let found = blocks.iter().rev().find_map(|block| from_json(block).or_else(|| whole(block)));
        if found.is_some() {
            return found;
        }
    }
    from_json(text).or_else(|| inline(text)).or_else(|| bare(text))
}

/// Characters of a reply that are read: far more than any answer, little enough to hand to a component.
pub const READ: usize = 64 * 1024;

/// `text` as far as it is read, without control characters; whether something was cut.
#[must_use]
pub fn bounded(text: &str) -> (String, bool) {
    let plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut characters = text.chars().filter(plain);
    let kept: String = characters.by_ref().take(READ).collect();
    (kept, characters.next().is_some())
}

/// The last statement between single backticks.
fn inline(text: &str) -> Option<String> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter_map(|code| whole(code.trim())).filter(|code| !is_sentence(code)).last()
}

/// Contents of the fenced blocks, in order. A block that is never closed runs to the end.
fn fenced(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((start, fence)) = ["```", "~~~", "'''"]
        .iter()
        .filter_map(|fence| rest.find(fence).map(|at| (at, *fence)))
        .min_by_key(|(at, _)| *at)
    {
        let inside = rest.get(start + fence.len()..).unwrap_or_default();
        // Three quotes can be honest SQL ('''quoted'''): they are a fence only with a language tag behind them.
        if fence == "'''" && !inside.trim_start().to_ascii_lowercase().starts_with("sql") {
            rest = inside;
            continue;
        }
        let end = inside.find(fence).unwrap_or(inside.len());
        blocks.push(without_tag(inside.get(..end).unwrap_or_default()));
        rest = inside.get(end + fence.len()..).unwrap_or_default();
    }
    blocks
}

/// A fenced block without its language tag: the first word, when it is one that names a language.
fn without_tag(block: &str) -> String {
    let trimmed = block.trim_start();
    let word: String = trimmed.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    let known = ["sql", "postgres", "postgresql", "pgsql", "psql", "plpgsql", "json"];
    if known.contains(&word.to_ascii_lowercase().as_str()) {
        trimmed.get(word.len()..).unwrap_or_default().trim().to_owned()
    } else {
        block.trim().to_owned()
    }
}

fn from_json(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let object: serde_json::Value = serde_json::from_str(text).ok()?;
    let sql = ["sql", "query"].iter().find_map(|key| object.get(key)?.as_str())?.trim();
    (!sql.is_empty()).then(|| sql.to_owned())
}

/// A fenced block as a whole: comments before the statement stay, what follows it is the gate's business.
fn whole(block: &str) -> Option<String> {
    begins_like_statement(without_comments(block)).then(|| block.to_owned())
}

fn bare(text: &str) -> Option<String> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let from_here = without_label(text.get(offset..).unwrap_or_default());
        if begins_like_statement(without_comments(from_here)) && begins_on(line) && !is_sentence(from_here) {
            let end = end_of_statement(from_here);
            return Some(from_here.get(..end).unwrap_or_default().trim().to_owned());
        }
        offset += line.len();
    }
    None
}

/// `text` from behind a label such as `SQL:`.
fn without_label(text: &str) -> &str {
    match text.split_once(':') {
        Some((label, rest))
            if ["sql", "query", "sql query", "answer"]
                .contains(&label.trim().to_ascii_lowercase().as_str()) =>
        {
            rest.trim_start_matches([' ', '\t'])
        }
        _ => text,
    }
}

/// Whether something of a statement stands on this very line, so that blank lines before it are passed over.
fn begins_on(line: &str) -> bool {
    !line.trim().is_empty()
}

/// `text` from behind leading white space and comments.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after).trim_start()
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after).trim_start()
        } else {
            return rest;
        };
    }
}

fn begins_like_statement(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let word = first.trim_end_matches([';', '(', '*']).to_ascii_lowercase();
    match word.as_str() {
        // "Select the rows ..." is a sentence; "SELECT a FROM b" is not.
        "select" => {
            let article =
                ["the", "a", "an", "your", "which", "this"].contains(&second.to_ascii_lowercase().as_str());
            let third = words.next().unwrap_or_default().to_ascii_lowercase();
            !second.is_empty() && (!article || ["from", "as", ","].contains(&third.as_str()))
        }
        "values" => first.contains('(') || second.starts_with('('),
        "table" => !second.is_empty() && words.next().is_none_or(|third| third.starts_with([';', '-'])),
        "with" => is_common_table_expression(text),
        "insert" => second.eq_ignore_ascii_case("into"),
        "delete" => second.eq_ignore_ascii_case("from"),
        "merge" => second.eq_ignore_ascii_case("into"),
        "update" => words.any(|word| word.eq_ignore_ascii_case("set")),
        "drop" | "alter" | "create" => [
            "table",
            "view",
            "index",
            "role",
            "user",
            "schema",
            "database",
            "function",
            "extension",
            "materialized",
            "or",
        ]
        .contains(&second.to_ascii_lowercase().as_str()),
        "truncate" | "grant" | "revoke" | "copy" | "explain" | "do" | "call" | "vacuum" | "lock" => {
            second.chars().next().is_some_and(|c| c.is_ascii_uppercase() || "\"$(".contains(c))
                || text.contains(';')
        }
        "commit" | "rollback" | "begin" | "end" | "abort" | "set" | "reset" | "listen" | "notify" => {
            text.contains(';')
        }
        _ => false,
    }
}

/// Words of SQL that may stand beside names without a comma. Sorted; a test holds that.
const KEYWORDS: [&str; 90] = [
    "all",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "at",
    "between",
    "by",
    "case",
    "cast",
    "collate",
    "cross",
    "current",
    "date",
    "desc",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "exclude",
    "exists",
    "false",
    "fetch",
    "filter",
    "first",
    "following",
    "for",
    "from",
    "full",
    "group",
    "groups",
    "having",
    "ilike",
    "in",
    "inner",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "last",
    "lateral",
    "left",
    "like",
    "limit",
    "materialized",
    "natural",
    "not",
    "null",
    "nulls",
    "of",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "ordinality",
    "outer",
    "over",
    "partition",
    "preceding",
    "range",
    "recursive",
    "right",
    "row",
    "rows",
    "select",
    "share",
    "similar",
    "some",
    "tablesample",
    "then",
    "ties",
    "time",
    "timestamp",
    "to",
    "true",
    "unbounded",
    "union",
    "update",
    "using",
    "values",
    "when",
    "where",
    "window",
    "with",
    "within",
    "zone",
];

/// Whether a text that begins with `SELECT` reads as a sentence: plain words, one after the other.
fn is_sentence(text: &str) -> bool {
    const RUN: usize = 3;
    let text = without_comments(text);
    if !text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select")) {
        return false;
    }
    let head = text.split("\n\n").next().unwrap_or_default();
    let mut run = 0;
    let mut rest = head;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => {
                run = 0;
                let close = rest.get(1..).and_then(|inside| inside.find(first));
                close.map_or(rest.len(), |at| at + 2)
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            ';' => return false,
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default().to_ascii_lowercase();
                run = if KEYWORDS.binary_search(&word.as_str()).is_ok() { 0 } else { run + 1 };
                if run >= RUN {
                    return true;
                }
                end
            }
            c => {
                if !c.is_whitespace() {
                    run = 0;
                }
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

/// `WITH [RECURSIVE] name [(columns)] AS`: what tells the keyword from the preposition.
fn is_common_table_expression(text: &str) -> bool {
    let head: String = text.chars().take(400).collect::<String>().to_ascii_lowercase();
    let rest = head.strip_prefix("with").unwrap_or_default().trim_start();
    let rest = rest.strip_prefix("recursive ").unwrap_or(rest).trim_start();
    let after_name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map_or("", |(_, after)| after),
        None => rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
    };
    let mut after = after_name.trim_start();
    if let Some(columns) = after.strip_prefix('(') {
        after = columns.split_once(')').map_or("", |(_, after)| after).trim_start();
    }
    after.len() < rest.len()
        && after.strip_prefix("as").is_some_and(|tail| tail.starts_with([' ', '(', '\n', '\t']))
}

/// Where the statement that `text` begins with ends: behind a semicolon outside quotes that is followed by the end of the
/// line, else at the end. A second statement behind a semicolon on the same line stays, for the gate to refuse.
fn end_of_statement(text: &str) -> usize {
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, ';') => {
                let after = text.get(at + 1..).unwrap_or_default();
                let line = after.split('\n').next().unwrap_or_default().trim();
                let below = after.trim_start();
                if line.is_empty() && !begins_like_statement(without_comments(below)) {
                    return at + 1;
                }
            }
            (None, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_begins_with_select_is_prose() {
        for sentence in [
            "Select whichever carrier you like from the list of shipments.",
            "Select rows where whatever you need is found.",
            "`Select whichever carrier you like`",
        ] {
            assert_eq!(statement(sentence), None, "{sentence}");
        }
        for sql in [
            "SELECT c.name carrier, count(*) total FROM carriers c LEFT JOIN shipments s ON s.carrier_id = c.id",
            "SELECT c.name -- whichever of these you like\nFROM carriers c",
            "SELECT 'whichever carrier you like' FROM b",
            "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC NULLS LAST",
            "SELECT x AT TIME ZONE 'UTC' AS moment FROM t",
        ] {
            assert_eq!(statement(sql).as_deref(), Some(sql));
        }
        assert_eq!(
            statement("Select whichever carrier you like:\n\nSELECT name FROM carriers").as_deref(),
            Some("SELECT name FROM carriers")
        );
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn the_statement_is_found_by_the_stated_rule() {
        for (reply, want) in [
            ("SELECT 1", Some("SELECT 1")),
            ("select count(*) from bills;", Some("select count(*) from bills;")),
            ("```sql\nSELECT 1\n```", Some("SELECT 1")),
            ("```SQL\nSELECT 1\n```", Some("SELECT 1")),
            ("```\nSELECT 1\n```", Some("SELECT 1")),
            ("```sql SELECT * FROM users```", Some("SELECT * FROM users")),
            ("Here it is:\n```sql\nSELECT 1\n```\nIt counts.", Some("SELECT 1")),
            ("'''sql\nSELECT 1\n'''", Some("SELECT 1")),
            ("```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```", Some("SELECT 2")),
            ("```text\nnot sql\n```\nSELECT 3;", Some("SELECT 3;")),
            ("```sql\nSELECT 1", Some("SELECT 1")),
            ("The query is:\n\nSELECT a\nFROM b;\n\nIt lists a.", Some("SELECT a\nFROM b;")),
            ("-- counts\nSELECT 1", Some("-- counts\nSELECT 1")),
            ("WITH t AS (SELECT 1) SELECT * FROM t", Some("WITH t AS (SELECT 1) SELECT * FROM t")),
            ("WITH t (a) AS (SELECT 1) SELECT * FROM t", Some("WITH t (a) AS (SELECT 1) SELECT * FROM t")),
            ("(SELECT 1) UNION (SELECT 2)", Some("(SELECT 1) UNION (SELECT 2)")),
            ("{\"sql\": \"SELECT 1\"}", Some("SELECT 1")),
            ("```json\n{\"query\": \"SELECT 1\"}\n```", Some("SELECT 1")),
            (
                "SELECT * FROM fixture WHERE \"objectId\" = 'dtmi:com:test:Fixture1;1';",
                Some("SELECT * FROM fixture WHERE \"objectId\" = 'dtmi:com:test:Fixture1;1';"),
            ),
            ("COMMIT; DELETE FROM orders; SELECT 1", Some("COMMIT; DELETE FROM orders; SELECT 1")),
            ("SELECT 1;\nDROP TABLE bills", Some("SELECT 1;\nDROP TABLE bills")),
            ("DELETE FROM orders", Some("DELETE FROM orders")),
            ("SELECT '''quoted'''", Some("SELECT '''quoted'''")),
            ("SQL: SELECT 1", Some("SELECT 1")),
            ("Query:\nSELECT 1;", Some("SELECT 1;")),
            ("Run `SELECT count(*) FROM bills` to see it.", Some("SELECT count(*) FROM bills")),
            ("The `bills` table stores the amounts.", None),
            ("The invoices table stores the amounts.", None),
            ("With this schema I cannot answer that.", None),
            ("There is not enough information.", None),
            ("Select the bills table and count its rows.", None),
            ("CANNOT: the data has no colours", None),
            ("", None),
        ] {
            assert_eq!(statement(reply).as_deref(), want, "{reply:?}");
        }
    }

    #[test]
    fn a_reply_is_read_up_to_a_limit_and_without_control_characters() {
        assert_eq!(bounded("a\u{7}b\nc\r"), ("ab\nc".to_owned(), false));
        let (kept, cut) = bounded(&"x".repeat(READ + 1));
        assert_eq!((kept.len(), cut), (READ, true));
    }

    #[test]
    fn reasoning_is_removed_before_anything_is_looked_for() {
        for (reply, want) in [
            ("<think>SELECT wrong</think>\nSELECT 1", "SELECT 1"),
            ("SELECT wrong</think>SELECT 1", "SELECT 1"),
            ("<think>SELECT wrong", ""),
            ("<THINK>x</THINK>a<think>y</think>b", "ab"),
            ("<reasoning>x</reasoning>SELECT 1", "SELECT 1"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_reasoning(reply), want, "{reply:?}");
        }
    }
}
