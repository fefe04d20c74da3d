//! `notes.toml`: what people know about tables and columns that the catalogue does not say.

use serde::Serialize;

use super::limits;
use super::reference::TableName;
use super::report::{Findings, Located};
use super::section::Section;
use super::settings::{shown, table};
use super::tree::Node;
use crate::class::ColumnClass;

/// What people say about one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableNote {
    /// The table.
    pub table: Located<TableName>,
    /// What one row of it is and what it is for.
    pub purpose: Option<String>,
    /// What it must not be used for.
    pub not_for: Option<String>,
    /// False: dead, never chosen.
    pub in_use: bool,
    /// Words people use for it.
    pub synonyms: Vec<String>,
    /// The column whose value dates a row.
    pub time_column: Option<Located<String>>,
    /// The column that names a row to a person.
    pub label_column: Option<Located<String>>,
    /// The range of time its rows are from.
    pub covers: Option<Covers>,
    /// Notes on columns.
    pub columns: Vec<ColumnNote>,
}

/// What people say about one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnNote {
    /// The column.
    pub column: Located<String>,
    /// What its values mean.
    pub note: Option<String>,
    /// Its class, set by people.
    pub class: Option<ColumnClass>,
    /// Words people use for it.
    pub synonyms: Vec<String>,
    /// The kind of entity whose governed keys it holds, as the domain's adapter names kinds.
    pub entity: Option<String>,
}

impl ColumnNote {
    /// Whether people gave it a class that keeps its values from being shown.
    pub(crate) fn is_guarded(&self) -> bool {
        self.class.is_some_and(|class| class != ColumnClass::Plain)
    }
}

/// A range of time, `[from, until)`. Dates are ISO 8601.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Covers {
    /// First day, absent when open.
    pub from: Option<String>,
    /// The day after the last, absent when open.
    pub until: Option<String>,
}

/// Reads `notes.toml`.
pub(crate) fn read(node: Node, findings: &Findings) -> Vec<TableNote> {
    let Some(mut root) = Section::of(node, "", findings) else { return Vec::new() };
    let tables = root.named("tables", limits::TABLES);
    let notes = tables.into_iter().filter_map(|(name, section)| read_table(name, section)).collect();
    root.finish();
    notes
}

fn read_table(name: Located<String>, mut section: Section<'_>) -> Option<TableNote> {
    let table = table(&section, "tables", name);
    let purpose = section.text("purpose", limits::NOTE);
    let not_for = section.text("not_for", limits::NOTE);
    let in_use = section.flag("in_use");
    let synonyms = section.texts("synonyms", limits::SYNONYM, limits::SYNONYMS);
    let time_column = section.name("time_column", limits::NAME);
    let label_column = section.name("label_column", limits::NAME);
    let covers = section.section("covers").and_then(read_covers);
    let columns = section.named("columns", limits::COLUMNS).into_iter().map(read_column).collect();
    section.finish();
    Some(TableNote {
        table: table?,
        purpose: purpose.map(|text| text.value),
        not_for: not_for.map(|text| text.value),
        in_use: in_use.unwrap_or(true),
        synonyms: values(synonyms),
        time_column,
        label_column,
        covers,
        columns,
    })
}

fn read_column((column, mut section): (Located<String>, Section<'_>)) -> ColumnNote {
    let note = section.text("note", limits::NOTE);
    let class = section.word("class", &ColumnClass::WORDS);
    let synonyms = section.texts("synonyms", limits::SYNONYM, limits::SYNONYMS);
    let entity = section.name("entity", limits::NAME).filter(|kind| is_kind(kind, &section));
    section.finish();
    ColumnNote {
        column,
        note: note.map(|text| text.value),
        class: class.map(|word| word.value),
        synonyms: values(synonyms),
        entity: entity.map(|kind| kind.value),
    }
}

/// Whether a word can be a kind of entity; reported when not.
fn is_kind(kind: &Located<String>, section: &Section<'_>) -> bool {
    let plain = kind.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let fits = plain && kind.value.len() <= limits::KIND;
    if !fits {
        let what = format!("`entity` is `{}`", shown(&kind.value));
        let remedy = format!("write lower-case letters, digits and hyphens, at most {}", limits::KIND);
        section.report(&kind.spot, what, remedy);
    }
    fits
}

fn read_covers(mut section: Section<'_>) -> Option<Covers> {
    let from = read_date(&mut section, "from");
    let until = read_date(&mut section, "until");
    if !section.has("from") && !section.has("until") {
        section.report(
            &section.spot,
            "`covers` says neither `from` nor `until`",
            "give at least one date, such as from = \"2025-01-01\"",
        );
    }
    // Both are ISO dates of one length by now, so that text order is time order.
    if let (Some(from), Some(until)) = (&from, &until)
        && from.value >= until.value
    {
        section.report(
            &until.spot,
            format!("`covers` ends at {} and begins at {}", until.value, from.value),
            "`until` is the day after the last one",
        );
    }
    section.finish();
    (from.is_some() || until.is_some())
        .then(|| Covers { from: from.map(|date| date.value), until: until.map(|date| date.value) })
}

fn read_date(section: &mut Section<'_>, key: &'static str) -> Option<Located<String>> {
    let text = section.name(key, limits::NAME)?;
    match text.value.parse::<jiff::civil::Date>() {
        Ok(date) => Some(text.map(|_| date.to_string())),
        Err(_) => {
            let what = format!("`covers.{key}` is `{}`", shown(&text.value));
            section.report(&text.spot, what, "write a date such as 2025-01-01");
            None
        }
    }
}

/// The values without their places.
pub(crate) fn values(located: Vec<Located<String>>) -> Vec<String> {
    located.into_iter().map(|text| text.value).collect()
}
