//! `domain.toml` of a draft.

use std::fmt::Write as _;

use airlock_types::catalogue::{Column, Relation, TypeFamily};

use super::text::{prose, quoted};
use super::{DraftScope, Source, TO_WRITE, speakable};
use crate::class::ColumnClass;
use crate::index::words::name_parts;
use crate::pack::reference::{ColumnName, TableName};

/// Columns suggested for the index of values.
const SUGGESTED: usize = 200;

/// Last parts of names of columns that hold a code or the name of a thing.
#[rustfmt::skip]
const WORDS_OF_VALUES: &[&str] = &[
    "status", "state", "type", "kind", "category", "class", "group", "name", "title", "city", "town", "country", "region", "brand", "colour",
    "color", "grade", "level", "method", "mode", "channel", "segment", "department", "dept", "unit", "currency", "stage", "priority", "source",
    "reason", "label", "genre", "model", "nm",
];

pub(super) fn file(source: &Source<'_>) -> String {
    let version = source.catalogue.server_version;
    let mut out = format!(
        "# Drafted from the database {} (PostgreSQL {}). Everything here is yours to change; README.md says how to go on.\n\n",
        quoted(&prose(&source.catalogue.database, 63)),
        version / 10_000,
    );
    let _ = writeln!(out, "format = 1");
    let _ = writeln!(out, "title = {}", quoted(&title(source.name.as_str())));
    let _ = writeln!(
        out,
        "# {TO_WRITE} what the data is about, in two or three sentences.\n# description = \"\""
    );
    let _ = writeln!(
        out,
        "source = {}   # [sources.{}] of the host's configuration",
        quoted(source.name.as_str()),
        source.name
    );
    match source.scope {
        DraftScope::Schemas => {
            let schemas: Vec<String> = source.schemas.iter().map(|schema| quoted(schema)).collect();
            let _ = writeln!(
                out,
                "schemas = [{}]   # a name without its schema is looked for in this order",
                schemas.join(", ")
            );
        }
        DraftScope::Only(tables) => {
            let _ = writeln!(out, "only = [");
            for table in tables {
                let name = TableName { schema: Some(table.schema.clone()), name: table.name.clone() };
                let _ = writeln!(out, "    {},", quoted(&name.to_string()));
            }
            let _ = writeln!(out, "]");
        }
    }
    let _ = writeln!(
        out,
        "# {TO_WRITE} where the days of the business begin and end, such as \"Europe/Berlin\".\ntime_zone = \"UTC\""
    );
    let _ = writeln!(out, "# fiscal_year_start = 4   # the month, when it is not January");
    out.push_str(
        "\n[egress]\n\
         # \"head\" lets a model that phrases answers see their first rows; with \"none\" a template phrases them.\n\
         rows_to_model = \"none\"\n\
         # Columns of which a few values may be shown to a model that writes SQL, such as \"orders.status\".\n\
         samples = []\n\
         # Columns whose values are indexed, so that a question finds them: \"paid\" finds status = 'PAID'. Take the hash sign off\n\
         # where nobody minds. Columns of people, secrets and money are not offered, and would be refused.\n\
         values = [\n",
    );
    let candidates =
        source.relations.iter().filter(|relation| !relation.row_security).flat_map(|relation| {
            relation.columns.iter().filter(|column| has_names_of_things(relation, column)).map(|column| {
                ColumnName { table: source.table(&relation.table), column: column.name.clone() }
            })
        });
    for column in candidates.take(SUGGESTED) {
        let _ = writeln!(out, "    # {},", quoted(&column.to_string()));
    }
    out.push_str("]\n");
    out
}

fn has_names_of_things(relation: &Relation, column: &Column) -> bool {
    let parts = name_parts(&column.name);
    column.family == TypeFamily::Text
        && column.enum_labels.is_empty()
        && speakable(&column.name)
        && parts.last().is_some_and(|last| WORDS_OF_VALUES.contains(&last.folded.as_str()))
        && ColumnClass::guess(relation, column) == ColumnClass::Plain
}

/// `market-garden`: "Market garden".
pub(super) fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
