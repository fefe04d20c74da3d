//! `glossary.toml` of a draft: nothing but examples of how a word of the business would be written down, from columns that are
//! there. No term is invented.

use std::fmt::Write as _;

use airlock_types::catalogue::{Column, Relation, RelationKind, TypeFamily};

use super::text::{quoted, sql_name};
use super::{Source, TO_WRITE, speakable};
use crate::class::ColumnClass;
use crate::index::words::name_parts;
use crate::joins::is_key;

/// Examples shown.
const EXAMPLES: usize = 12;
/// Of one table.
const OF_ONE_TABLE: usize = 2;

pub(super) fn file(source: &Source<'_>) -> String {
    let mut out = String::from(
        "# The words of the business: what they mean and how they are computed. A question that says \"revenue\" is answered only when\n\
         # somebody has written down what revenue is. The terms below are made from column names: each is worth it only when people say\n\
         # the word. Take the hash signs off, put the word people use, and write what counts and what does not.\n\
         #\n\
         # A word without a computation is fine too; questions about its meaning are answered from it.\n",
    );
    let mut examples: Vec<(&Relation, &Column)> = Vec::new();
    for relation in
        source.relations.iter().copied().filter(|relation| relation.kind != RelationKind::ForeignTable)
    {
        let measures = relation.columns.iter().filter(|column| is_measure(relation, column));
        examples.extend(measures.take(OF_ONE_TABLE).map(|column| (relation, column)));
    }
    // Money first: that is what most words of a business are about.
    examples.sort_by_key(|(relation, column)| ColumnClass::guess(relation, column) != ColumnClass::Amount);
    for (relation, column) in examples.into_iter().take(EXAMPLES) {
        example(source, relation, column, &mut out);
    }
    out
}

fn example(source: &Source<'_>, relation: &Relation, column: &Column, out: &mut String) {
    let words: Vec<String> = name_parts(&column.name).into_iter().map(|part| part.folded).collect();
    let table: Vec<String> = name_parts(&relation.table.name).into_iter().map(|part| part.folded).collect();
    let name = format!("{} of {}", words.join(" "), table.join(" "));
    let _ = write!(
        out,
        "\n# [[term]]\n# name = {}\n# definition = \"{TO_WRITE} what counts, and what does not\"\n# [[term.metric]]\n# table = {}\n# sql = {}\n",
        quoted(&airlock_types::text::shorten(&name, 70)),
        quoted(&source.table(&relation.table).to_string()),
        quoted(&format!("sum({}.{})", sql_name(&relation.table.name), sql_name(&column.name))),
    );
}

/// Whether adding the column up may mean something.
fn is_measure(relation: &Relation, column: &Column) -> bool {
    const COUNTED: &[&str] = &[
        "qty", "quantity", "units", "hours", "weight", "kg", "litres", "liters", "volume", "distance",
        "duration",
    ];
    let own = |key: &[String]| key.contains(&column.name);
    let referring = relation.foreign_keys.iter().any(|key| own(&key.columns));
    let counted = || name_parts(&column.name).iter().any(|part| COUNTED.contains(&part.folded.as_str()));
    column.family == TypeFamily::Number
        && !column.is_array
        && column.type_name.schema == "pg_catalog"
        && speakable(&column.name)
        && !referring
        && !own(&relation.primary_key)
        && !is_key(relation, std::slice::from_ref(&column.name))
        && (ColumnClass::guess(relation, column) == ColumnClass::Amount || counted())
}
