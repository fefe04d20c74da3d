//! What use suggests adding to a pack: one word, term or join, and the file's text with it. Nothing here writes a file.

use airlock_types::{ColumnRef, TableRef};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// Something that a person may add to a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "adds", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Addition {
    /// A word that people use for a column, for `notes.toml`.
    Synonym {
        /// The column.
        column: ColumnRef,
        /// The word.
        word: String,
    },
    /// A word that stands for a condition, for `glossary.toml`.
    Term {
        /// The word.
        word: String,
        /// The table of the condition.
        table: TableRef,
        /// The condition.
        filter: String,
    },
    /// A join that no key states, for `joins.toml`.
    Join {
        /// The side of the many.
        from: ColumnRef,
        /// The side of the one.
        to: ColumnRef,
    },
}

impl Addition {
    /// The file that it belongs to.
    #[must_use]
    pub const fn file(&self) -> &'static str {
        match self {
            Self::Synonym { .. } => "notes.toml",
            Self::Term { .. } => "glossary.toml",
            Self::Join { .. } => "joins.toml",
        }
    }

    /// The file's text with it; `None` when the file has it already, or cannot be read.
    #[must_use]
    pub fn added(&self, text: &str) -> Option<String> {
        let file: Table = text.parse().ok()?;
        match self {
            Self::Synonym { column, word } => with_synonym(text, &file, column, word),
            Self::Term { word, table, filter } => {
                let named = |term: &Value| {
                    let synonyms = term.get("synonyms").and_then(Value::as_array).into_iter().flatten();
                    let mut names = term.get("name").into_iter().chain(synonyms).filter_map(Value::as_str);
                    names.any(|name| name.eq_ignore_ascii_case(word))
                };
                if entries(&file, "term").any(named) {
                    return None;
                }
                let definition = format!("Where {filter}.");
                let entry = format!(
                    "[[term]]\nname = {}\ndefinition = {}\n\n[[term.metric]]\ntable = {}\nfilter = {}\n",
                    shown(word),
                    shown(&definition),
                    shown(&table.to_string()),
                    shown(filter),
                );
                with_entry(text, file, "term", &entry)
            }
            Self::Join { from, to } => {
                let side = |join: &Value, key: &str, column: &ColumnRef| {
                    let short = format!("{}.{}", column.table.name, column.column);
                    let written = join.get(key).and_then(Value::as_str);
                    written.is_some_and(|written| written == short || written == column.to_string())
                };
                let same = |join: &Value| {
                    (side(join, "from", from) && side(join, "to", to))
                        || (side(join, "from", to) && side(join, "to", from))
                };
                if entries(&file, "join").any(same) {
                    return None;
                }
                let (from, to) = (shown(&from.to_string()), shown(&to.to_string()));
                with_entry(text, file, "join", &format!("[[join]]\nfrom = {from}\nto = {to}\n"))
            }
        }
    }
}

fn entries<'a>(file: &'a Table, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    file.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// A text as TOML writes it.
fn shown(text: &str) -> String {
    Value::from(text).to_string()
}

/// A key as TOML writes it.
fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.to_owned() } else { shown(name) }
}

fn appended(text: &str, entry: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { entry.to_owned() } else { format!("{text}\n\n{entry}") }
}

/// The text with an entry more at its end, where it then says what it said before and the entry: `term = []` takes none.
fn with_entry(text: &str, file: Table, key: &str, entry: &str) -> Option<String> {
    let more: Table = entry.parse().ok()?;
    let mut wanted = file;
    let known = wanted.entry(key).or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
    known.extend(more.get(key)?.as_array()?.iter().cloned());
    let text = appended(text, entry);
    text.parse::<Table>().is_ok_and(|said| said == wanted).then_some(text)
}

/// The notes with a word more for a column. What people wrote stays as it is, line by line: of the places where the word may
/// go, the first is taken with which the file says what it said before, and the word.
fn with_synonym(text: &str, file: &Table, column: &ColumnRef, word: &str) -> Option<String> {
    let qualified = column.table.to_string();
    let tables = file.get("tables").and_then(Value::as_table);
    let known = |name: &&str| tables.is_some_and(|tables| tables.contains_key(*name));
    let table = [column.table.name.as_str(), qualified.as_str()].into_iter().find(known);
    let table = table.unwrap_or(qualified.as_str());
    let mut wanted = file.clone();
    let mut at = &mut wanted;
    for step in ["tables", table, "columns", &column.column] {
        at = at.entry(step).or_insert_with(|| Value::Table(Table::new())).as_table_mut()?;
    }
    let synonyms = at.entry("synonyms").or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
    if synonyms.iter().filter_map(Value::as_str).any(|known| known.eq_ignore_ascii_case(word)) {
        return None;
    }
    synonyms.insert(0, word.into());

    let section = ["tables", table, "columns"];
    let inline = format!("{} = {{ synonyms = [{}] }}", key(&column.column), shown(word));
    let header = format!("[tables.{}.columns]", key(table));
    let tries = [
        in_line(text, &section, &column.column, word),
        in_section(text, &[section[0], section[1], section[2], &column.column], word),
        at_end_of(text, &section, &inline),
        Some(appended(text, &format!("{header}\n{inline}\n"))),
    ];
    tries.into_iter().flatten().find(|text| text.parse::<Table>().is_ok_and(|said| said == wanted))
}

/// The path of a line such as `[tables.bills.columns]`.
fn path(line: &str) -> Option<Vec<String>> {
    if !line.trim_start().starts_with('[') {
        return None;
    }
    let mut at: Table = line.parse().ok()?;
    let mut path = Vec::new();
    while let Some((name, inner)) = at.into_iter().next() {
        path.push(name);
        at = match inner {
            Value::Table(inner) => inner,
            _ => Table::new(),
        };
    }
    Some(path)
}

/// Lines with whether they stand in the section of a path; its header does not.
fn within<'a>(text: &'a str, section: &[&str]) -> Vec<(&'a str, bool)> {
    let mut inside = false;
    let lines = text.lines().map(|line| match path(line) {
        Some(found) => {
            inside = found == section;
            (line, false)
        }
        None => (line, inside),
    });
    lines.collect()
}

fn joined(lines: Vec<String>) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// The word put first into `synonyms = [` of a line.
fn first(line: &str, word: &str) -> Option<String> {
    let (before, after) = line.split_once("synonyms = [")?;
    let comma = if after.trim_start().starts_with(']') { "" } else { ", " };
    Some(format!("{before}synonyms = [{}{comma}{after}", shown(word)))
}

/// `column = { .. }` in the section of the table's columns.
fn in_line(text: &str, section: &[&str], column: &str, word: &str) -> Option<String> {
    let mut done = false;
    let lines = within(text, section).into_iter().map(|(line, inside)| {
        let name = line.split_once('=').map(|(name, _)| name.trim());
        if done || !inside || name != Some(key(column).as_str()) {
            return line.to_owned();
        }
        done = true;
        first(line, word).unwrap_or_else(|| match line.rsplit_once('}') {
            Some((before, after)) => {
                let before = before.trim_end();
                let comma = if before.ends_with('{') { "" } else { "," };
                format!("{before}{comma} synonyms = [{}] }}{after}", shown(word))
            }
            None => line.to_owned(),
        })
    });
    let lines = lines.collect();
    done.then(|| joined(lines))
}

/// A section of the column's own.
fn in_section(text: &str, section: &[&str], word: &str) -> Option<String> {
    let lines = within(text, section);
    let given = lines.iter().position(|(line, inside)| *inside && line.trim_start().starts_with("synonyms"));
    let mut out: Vec<String> = Vec::new();
    let mut done = false;
    for (at, (line, _)) in lines.iter().enumerate() {
        match given {
            Some(given) if given == at => {
                out.push(first(line, word)?);
                done = true;
            }
            _ => out.push((*line).to_owned()),
        }
        if given.is_none() && !done && path(line).is_some_and(|found| found == section) {
            out.push(format!("synonyms = [{}]", shown(word)));
            done = true;
        }
    }
    done.then(|| joined(out))
}

/// A line more at the end of a section.
fn at_end_of(text: &str, section: &[&str], line: &str) -> Option<String> {
    let lines = within(text, section);
    let last = lines.iter().rposition(|(line, inside)| *inside && !line.trim().is_empty());
    let header = lines.iter().position(|(line, _)| path(line).is_some_and(|found| found == section));
    let after = last.or(header)?;
    let mut out: Vec<String> = lines.into_iter().map(|(line, _)| line.to_owned()).collect();
    out.insert(after + 1, line.to_owned());
    Some(joined(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(table: &str, column: &str) -> ColumnRef {
        ColumnRef { table: TableRef::new("public", table), column: column.to_owned() }
    }

    #[test]
    fn a_word_goes_where_the_column_is_written_about() {
        let word = Addition::Synonym { column: column("bills", "net"), word: "worth".into() };
        assert_eq!(word.file(), "notes.toml");
        for (before, after) in [
            (
                "# Ours.\n[tables.bills.columns]\nnet = { note = \"x\", synonyms = [\"n\"] }\n",
                Some(
                    "# Ours.\n[tables.bills.columns]\nnet = { note = \"x\", synonyms = [\"worth\", \"n\"] }\n",
                ),
            ),
            (
                "[tables.bills.columns]\nnet = { note = \"a } b\" } # sure\n[tables.x]\n",
                Some(
                    "[tables.bills.columns]\nnet = { note = \"a } b\", synonyms = [\"worth\"] } # sure\n[tables.x]\n",
                ),
            ),
            (
                "[tables.\"public.bills\".columns.net]\nnote = \"x\"\n",
                Some("[tables.\"public.bills\".columns.net]\nsynonyms = [\"worth\"]\nnote = \"x\"\n"),
            ),
            (
                "[tables.bills.columns]\ngross = { note = \"x\" }\n\n[tables.x]\n",
                Some(
                    "[tables.bills.columns]\ngross = { note = \"x\" }\nnet = { synonyms = [\"worth\"] }\n\n[tables.x]\n",
                ),
            ),
            (
                "[tables.bills]\npurpose = \"x\"\n",
                Some(
                    "[tables.bills]\npurpose = \"x\"\n\n[tables.bills.columns]\nnet = { synonyms = [\"worth\"] }\n",
                ),
            ),
            ("", Some("[tables.\"public.bills\".columns]\nnet = { synonyms = [\"worth\"] }\n")),
            // It is there, or the file is none, or it is written so that only a person can add to it.
            ("[tables.bills.columns]\nnet = { synonyms = [\"Worth\"] }\n", None),
            ("[tables", None),
            ("tables.bills = { columns = { net = { note = \"x\" } } }\n", None),
        ] {
            assert_eq!(word.added(before).as_deref(), after, "{before}");
        }
    }

    #[test]
    fn terms_and_joins_go_to_the_end_once() {
        let filter = "bills.state = 'CA'".to_owned();
        let term = Addition::Term { word: "west".into(), table: TableRef::new("public", "bills"), filter };
        let join = Addition::Join { from: column("bills", "cashier"), to: column("staff", "id") };
        for (addition, before) in
            [(&term, "[[term]]\nname = \"a\"\ndefinition = \"b\"\n"), (&join, "# No keys here.\n")]
        {
            let once = addition.added(before).unwrap();
            assert!(once.starts_with(before) && once.len() > before.len(), "{once}");
            assert_eq!(addition.added(&once), None, "{once}");
        }
        let known = "[[join]]\nfrom = \"staff.id\"\nto = \"bills.cashier\"\n";
        let join = Addition::Join { from: column("bills", "cashier"), to: column("staff", "id") };
        assert_eq!(join.added(known), None, "whichever way round");
        // A list that is closed takes no more.
        assert_eq!(join.added("join = []\n"), None);
        assert_eq!(term.added("term = []\n"), None);
        assert_eq!(term.added("term = \"x\"\n"), None);
    }
}
