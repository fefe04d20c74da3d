//! `joins.toml` of a draft: foreign keys are known and stay out of it, guesses are offered.

use std::fmt::Write as _;

use super::text::quoted;
use super::{Source, speakable};
use crate::joins::{Join, JoinOrigin, is_key};
use crate::pack::limits;
use crate::pack::reference::ColumnName;

/// Joins guessed from names and types that a pack can spell.
pub(super) fn guesses<'a>(source: &'a Source<'_>) -> impl Iterator<Item = &'a Join> {
    source.joins.all().iter().filter(|join| join.origin == JoinOrigin::Inferred).filter(|join| {
        let mut columns = join.from_columns.iter().chain(&join.to_columns);
        speakable(&join.from.name) && speakable(&join.to.name) && columns.all(|column| speakable(column))
    })
}

pub(super) fn file(source: &Source<'_>) -> String {
    let keys = source.joins.all().iter().filter(|join| join.origin == JoinOrigin::ForeignKey).count();
    let mut out = format!(
        "# How tables join where no foreign key says so. The {keys} foreign keys of the database are known and need not be repeated.\n"
    );
    if guesses(source).next().is_none() {
        out.push_str("#\n# [[join]]\n# from = \"orders.customer_code\"\n# to = \"customers.code\"\n# note = \"what is to be known about it\"\n");
        return out;
    }
    out.push_str(
        "# The joins below are inferred from names and types in the catalogue; no row was looked at. airlock knows them as guesses: it uses\n\
         # one only where nothing else connects two tables, and says so. Take the hash signs off those that are right: they are then\n\
         # verified, by you.\n",
    );
    for join in guesses(source).take(limits::JOINS) {
        let side = |table, columns: &[String]| {
            let names: Vec<String> = columns
                .iter()
                .map(|column| {
                    quoted(&ColumnName { table: source.table(table), column: column.clone() }.to_string())
                })
                .collect();
            match names.as_slice() {
                [only] => only.clone(),
                several => format!("[{}]", several.join(", ")),
            }
        };
        let _ = write!(
            out,
            "\n# inferred\n# [[join]]\n# from = {}\n# to = {}\n",
            side(&join.from, &join.from_columns),
            side(&join.to, &join.to_columns)
        );
        let keyed = |relation| is_key(relation, &join.to_columns);
        if join.many_to_one && !source.catalogue.relation(&join.to).is_some_and(keyed) {
            out.push_str("# to_is_key = true\n");
        }
    }
    out
}
