//! `domain.toml`: what the domain is, which relations it sees, its calendar, its caps and what may leave it.

use airlock_types::{Clock, ContentHash};
use serde::Serialize;

use super::limits;
use super::reference::{ColumnName, TableName};
use super::report::{Findings, Located};
use super::section::Section;
use super::tree::Node;

/// The format that this version reads.
pub const FORMAT: i64 = 1;

/// `domain.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// A short name for people.
    pub title: String,
    /// What the domain is about.
    pub description: String,
    /// The data source, by its name in the host's configuration.
    pub source: String,
    /// Which relations belong to the domain.
    pub scope: PackScope,
    /// IANA name of the time zone in which days begin and end.
    pub time_zone: String,
    /// Month in which the fiscal year begins, 1 to 12.
    pub fiscal_year_start: u8,
    /// Rows an answer has at most.
    pub row_cap: u32,
    /// Drafts that a model writes for a question, of which the one most agree with is chosen.
    pub candidates: u32,
    /// Functions outside `pg_catalog` that SQL of this domain may call.
    pub allowed_functions: Vec<Located<PackFunction>>,
    /// What may leave the host for a model.
    pub egress: Egress,
}

/// Which relations belong to a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackScope {
    /// All relations of these schemas; an unqualified name is looked for in their order.
    Schemas(Vec<String>),
    /// These relations and no others.
    Only(Vec<Located<TableName>>),
}

/// A function that somebody read and allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackFunction {
    /// `schema.name(type, type)`.
    pub signature: String,
    /// SHA-256 of the definition that was read.
    pub body: ContentHash,
}

/// What of the rows a model that writes answers may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowsToModel {
    /// Nothing; answers come from a template.
    #[default]
    None,
    /// The first rows.
    Head,
}

/// What may leave the host for a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Egress {
    /// Rows of results.
    pub rows_to_model: RowsToModel,
    /// Columns of which a few values may be shown.
    pub samples: Vec<Located<ColumnName>>,
    /// Columns whose distinct values are indexed.
    pub values: Vec<Located<ColumnName>>,
}

/// Reads `domain.toml`. Absent only when something needed is; whatever is wrong is reported.
pub(crate) fn read(node: Node, findings: &Findings) -> Option<Settings> {
    let mut root = Section::of(node, "", findings)?;
    let format = root.integer("format", FORMAT, FORMAT);
    root.need(format, "format", "1");
    let title = root.text("title", limits::NAME);
    let title = root.need(title, "title", "\"What people call it\"");
    let description = root.text("description", limits::NOTE);
    let source = root.name("source", limits::NAME);
    let source = root.need(source, "source", "\"the name of a source of the host's configuration\"");
    let scope = read_scope(&mut root);
    let time_zone = root.name("time_zone", limits::NAME);
    if let Some(zone) = &time_zone
        && let Err(error) = Clock::parse_now("2000-01-01", &zone.value)
    {
        root.report(&zone.spot, format!("`time_zone`: {error}"), "UTC is the default");
    }
    let fiscal_year_start = root.integer("fiscal_year_start", 1, 12);
    let row_cap = root.integer("row_cap", 1, limits::ROW_CAP);
    let candidates = root.integer("candidates", 1, limits::CANDIDATES);
    let allowed_functions =
        root.sections("allowed_functions", limits::FUNCTIONS).into_iter().filter_map(read_function).collect();
    let egress = root.section("egress").map(read_egress).unwrap_or_default();
    root.finish();
    Some(Settings {
        title: title?.value,
        description: description.map(|text| text.value).unwrap_or_default(),
        source: source?.value,
        scope: scope?,
        time_zone: time_zone.map_or_else(|| "UTC".to_owned(), |zone| zone.value),
        fiscal_year_start: fiscal_year_start.and_then(|month| u8::try_from(month.value).ok()).unwrap_or(1),
        row_cap: row_cap.and_then(|cap| u32::try_from(cap.value).ok()).unwrap_or(200),
        candidates: candidates.and_then(|count| u32::try_from(count.value).ok()).unwrap_or(1),
        allowed_functions,
        egress,
    })
}

fn read_scope(root: &mut Section<'_>) -> Option<PackScope> {
    let schemas = root.names("schemas", limits::NAME, limits::SCHEMAS);
    let only = root.names("only", limits::REFERENCE, limits::TABLES);
    match (schemas.first(), only.first()) {
        (Some(_), None) => Some(PackScope::Schemas(schemas.into_iter().map(|schema| schema.value).collect())),
        (None, Some(_)) => {
            let tables = only.into_iter().filter_map(|text| qualified(root, text)).collect();
            Some(PackScope::Only(tables))
        }
        (Some(_), Some(first)) => {
            root.report(
                &first.spot,
                "both `schemas` and `only` are given",
                "keep `schemas` for whole schemas, or `only` for single relations",
            );
            None
        }
        (None, None) => {
            let spot = root.spot.clone();
            root.report(
                &spot,
                "neither `schemas` nor `only` says which relations belong to the domain",
                "add one: schemas = [\"public\"], or only = [\"public.orders\"]",
            );
            None
        }
    }
}

/// A relation with its schema: `only` is where names are looked for, so it cannot leave the schema open.
fn qualified(root: &Section<'_>, text: Located<String>) -> Option<Located<TableName>> {
    match TableName::parse(&text.value) {
        Some(table) if table.schema.is_some() => Some(Located { value: table, spot: text.spot }),
        _ => {
            let what = format!("`only` holds `{}`", shown(&text.value));
            root.report(&text.spot, what, "write schema.relation, such as public.orders");
            None
        }
    }
}

fn read_function(mut section: Section<'_>) -> Option<Located<PackFunction>> {
    let signature = section.name("signature", limits::REFERENCE);
    let signature = section.need(signature, "signature", "\"shop.net_price(numeric)\"");
    let body = section.name("body", limits::NAME);
    let body = section.need(body, "body", "\"the SHA-256 of its definition\"");
    let body = body.and_then(|text| {
        let hash = text.value.parse::<ContentHash>();
        if let Err(error) = &hash {
            section.report(&text.spot, format!("`body`: {error}"), "`airlock doctor` prints it");
        }
        hash.ok()
    });
    let function = signature
        .zip(body)
        .map(|(signature, body)| signature.map(|signature| PackFunction { signature, body }));
    section.finish();
    function
}

fn read_egress(mut section: Section<'_>) -> Egress {
    let rows = section.word("rows_to_model", &[("none", RowsToModel::None), ("head", RowsToModel::Head)]);
    let samples = read_columns(&mut section, "samples");
    let values = read_columns(&mut section, "values");
    section.finish();
    Egress { rows_to_model: rows.map(|word| word.value).unwrap_or_default(), samples, values }
}

fn read_columns(section: &mut Section<'_>, key: &'static str) -> Vec<Located<ColumnName>> {
    let names = section.names(key, limits::REFERENCE, limits::EGRESS_COLUMNS);
    names.into_iter().filter_map(|text| column(section, key, text)).collect()
}

/// A column reference; anything else is reported.
pub(crate) fn column(section: &Section<'_>, key: &str, text: Located<String>) -> Option<Located<ColumnName>> {
    let column = ColumnName::parse(&text.value);
    if column.is_none() {
        let what = format!("`{key}` holds `{}`", shown(&text.value));
        section.report(&text.spot, what, "write table.column or schema.table.column");
    }
    column.map(|value| Located { value, spot: text.spot })
}

/// A table reference; anything else is reported.
pub(crate) fn table(section: &Section<'_>, key: &str, text: Located<String>) -> Option<Located<TableName>> {
    let table = TableName::parse(&text.value);
    if table.is_none() {
        let what = format!("`{key}` is `{}`", shown(&text.value));
        section.report(&text.spot, what, "write table or schema.table");
    }
    table.map(|value| Located { value, spot: text.spot })
}

/// Text of the pack inside a message.
pub(crate) fn shown(text: &str) -> String {
    airlock_types::text::shorten(text, 60)
}
