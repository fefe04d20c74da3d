//! Tables by what is said about them, what they are called and which values they hold.

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::TableRef;

use super::bm25f::{Bm25f, merged};
use super::documents;
use super::query::Query;
use super::values::ValueHit;
use crate::pack::BoundTerm;
use crate::records::TableHit;
use crate::tables::TableView;

/// What a table's name is worth beside everything that is said about it.
const NAME_FACTOR: f32 = 1.0;
/// What a value is worth that the question spells out.
const VALUE_FACTOR: f64 = 1.0;
/// What a value must score to speak for its table: a word in passing does not.
const VALUE_FLOOR: f64 = 0.5;

/// The index of tables.
#[derive(Debug)]
pub(crate) struct TableIndex {
    tables: Vec<TableRef>,
    said: Bm25f,
    called: Bm25f,
}

impl TableIndex {
    pub(crate) fn new(views: &[TableView], terms: &[BoundTerm]) -> Self {
        Self {
            tables: views.iter().map(|view| view.table.clone()).collect(),
            said: documents::tables(views, terms),
            called: documents::table_names(views),
        }
    }

    /// Tables near to a question, best first; equal scores by schema and name.
    pub(crate) fn search(&self, query: &Query<'_>, values: &[ValueHit]) -> Vec<TableHit> {
        let found = merged(self.said.search(query), self.called.search(query), NAME_FACTOR);
        let mut hits: BTreeMap<&TableRef, TableHit> = BTreeMap::new();
        for found in found {
            if let Some(table) = self.tables.get(found.document) {
                let hit = TableHit {
                    table: table.clone(),
                    score: f64::from(found.score),
                    matched: found.words(query),
                };
                hits.insert(table, hit);
            }
        }
        for (span, tables) in by_span(values) {
            // Words that are a value of few tables say more than words that are one of many.
            let rarity = (1.0 + self.tables.len() as f64 / tables.len() as f64).ln();
            for (table, score) in tables {
                let hit = hits.entry(table).or_insert_with(|| TableHit {
                    table: table.clone(),
                    score: 0.0,
                    matched: Vec::new(),
                });
                hit.score += score * rarity * VALUE_FACTOR;
                if !hit.matched.iter().any(|word| word == span) {
                    hit.matched.push(span.to_owned());
                }
            }
        }
        let mut hits: Vec<TableHit> = hits.into_values().collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.table.cmp(&b.table)));
        hits
    }
}

/// By words of the question: the tables that have a value they name, and how well the best such value fits.
fn by_span(values: &[ValueHit]) -> BTreeMap<&str, BTreeMap<&TableRef, f64>> {
    let mut spans: BTreeMap<&str, BTreeMap<&TableRef, f64>> = BTreeMap::new();
    let mut counted: BTreeSet<(&TableRef, &str)> = BTreeSet::new();
    for hit in values.iter().filter(|hit| hit.score >= VALUE_FLOOR) {
        // Values come best first: the first of a span is the one that counts.
        if counted.insert((&hit.column.table, &hit.matched)) {
            spans.entry(&hit.matched).or_default().insert(&hit.column.table, hit.score);
        }
    }
    spans
}
