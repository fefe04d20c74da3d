//! TOML and JSON lines as one tree whose every node knows its line, so that one reader reports on both.

use std::sync::Arc;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use airlock_types::Strict;
use airlock_types::text::shorten;

use super::report::{Findings, Spot};

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) spot: Spot,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Text(String),
    Integer(i64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A number that is no 64-bit integer, or null: nothing in a pack is one.
    Other(&'static str),
}

/// A key of a table and what it holds.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) spot: Spot,
    pub(crate) node: Node,
}

impl Kind {
    /// What it is, in a person's words.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }
}

/// Reads TOML; every syntax error becomes a finding. A file that has one is not looked at further: what seems to be missing
/// from it may only stand after the error.
pub(crate) fn read_toml(file: &Arc<str>, text: &str, findings: &Findings) -> Option<Node> {
    let lines = Lines::of(file, text);
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut last = 0;
    for error in errors {
        let spot = lines.spot(error.span().map_or(0, |span| span.start));
        // What follows the first error of a line is mostly its echo.
        if spot.line == last {
            continue;
        }
        last = spot.line;
        findings.add(&spot, shorten(error.message(), 300), "mend the TOML; see https://toml.io");
    }
    (last == 0).then(|| Node { spot: lines.spot(0), kind: table(document.get_ref(), &lines) })
}

fn table(entries: &DeTable<'_>, lines: &Lines) -> Kind {
    let mut entries: Vec<Entry> = entries
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            spot: lines.spot(key.span().start),
            node: node(value, lines),
        })
        .collect();
    entries.sort_by_key(|entry| entry.spot.line);
    Kind::Table(entries)
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Kind::Other("a number out of range"), Kind::Integer),
        DeValue::Float(_) => Kind::Other("a fraction"),
        DeValue::Boolean(flag) => Kind::Flag(*flag),
        // A date without quotes reads as the text it is written as.
        DeValue::Datetime(datetime) => Kind::Text(datetime.to_string()),
        DeValue::Array(items) => Kind::List(items.iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(entries) => table(entries, lines),
    };
    Node { spot: lines.spot(value.span().start), kind }
}

/// Reads JSON lines; a line that is not JSON, or has a key twice, becomes a finding. Empty lines are skipped.
pub(crate) fn read_json_lines(file: &Arc<str>, text: &str, findings: &Findings) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let spot = Spot { file: Arc::clone(file), line: line_number(index) };
        match serde_json::from_str::<Strict>(line) {
            Ok(Strict(value)) => nodes.push(json(value, &spot)),
            Err(error) => {
                let said = error.to_string();
                // The reader counts lines from where it began, and that is here.
                let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
                findings.add(
                    &spot,
                    format!("column {}: {}", error.column(), shorten(what, 300)),
                    "write one JSON object a line",
                );
            }
        }
    }
    nodes
}

fn json(value: Value, spot: &Spot) -> Node {
    let kind = match value {
        Value::Null => Kind::Other("null"),
        Value::Bool(flag) => Kind::Flag(flag),
        Value::Number(number) => number.as_i64().map_or(Kind::Other("a fraction"), Kind::Integer),
        Value::String(text) => Kind::Text(text),
        Value::Array(items) => Kind::List(items.into_iter().map(|item| json(item, spot)).collect()),
        Value::Object(map) => Kind::Table(
            map.into_iter()
                .map(|(key, value)| Entry { key, spot: spot.clone(), node: json(value, spot) })
                .collect(),
        ),
    };
    Node { spot: spot.clone(), kind }
}

/// Where the lines of a text begin.
struct Lines {
    file: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn of(file: &Arc<str>, text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file: Arc::clone(file), starts: std::iter::once(0).chain(newlines).collect() }
    }

    fn spot(&self, offset: usize) -> Spot {
        let line = self.starts.partition_point(|start| *start <= offset);
        Spot { file: Arc::clone(&self.file), line: line_number(line.saturating_sub(1)) }
    }
}

/// The 1-based number of the line with this index.
pub(crate) fn line_number(index: usize) -> u32 {
    u32::try_from(index).map_or(u32::MAX, |line| line.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_its_line() {
        let findings = Findings::default();
        let node =
            read_toml(&"a.toml".into(), "a = 1\n\n[b]\nc = [\n  true,\n  \"x\"]\n", &findings).unwrap();
        let Kind::Table(entries) = node.kind else { panic!() };
        let got: Vec<(&str, u32)> =
            entries.iter().map(|entry| (entry.key.as_str(), entry.spot.line)).collect();
        assert_eq!(got, [("a", 1), ("b", 3)]);
        let Kind::Table(inner) = &entries[1].node.kind else { panic!() };
        let Kind::List(items) = &inner[0].node.kind else { panic!() };
        assert_eq!(items.iter().map(|item| item.spot.line).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn several_syntax_errors_are_several_findings() {
        let findings = Findings::default();
        assert!(read_toml(&"a.toml".into(), "a = \nb = 2\nc = = 3\nb = 4\n", &findings).is_none());
        let lines: Vec<u32> =
            findings.into_report().problems.iter().map(|problem| problem.spot.line).collect();
        assert_eq!(lines, [1, 3, 4]);
    }

    #[test]
    fn json_lines_count_empty_lines_too() {
        let findings = Findings::default();
        let nodes = read_json_lines(&"g.jsonl".into(), "{\"id\":\"a\"}\n\n{oops\n[1]\n", &findings);
        assert_eq!(nodes.iter().map(|node| node.spot.line).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(findings.into_report().problems[0].spot.line, 3);
    }
}
