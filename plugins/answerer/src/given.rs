//! What a sentence may draw on: the rows and their columns, the query, what was assumed, and of the question only what the query
//! bears out.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::question::stems::{is_function_word, is_light, is_relation, stem};
use airlock_plugin_sdk::{Host, words};

use crate::column::{Column, Part, columns};
use crate::counted::Counted;
use crate::decimal::Decimal;
use crate::label::generic;
use crate::query::Query;
use crate::times::{self, Origin, Time};
use crate::trace::numbers;
use crate::vocabulary::is_plain;

/// Relations and terms near the question that are looked at for its words.
pub const NEAR: u32 = 10;

/// Light words that narrow what is asked for all the same.
pub const NARROWING: [&str; 20] = [
    "available",
    "empty",
    "current",
    "currently",
    "enter",
    "entered",
    "ever",
    "existing",
    "live",
    "lives",
    "living",
    "now",
    "register",
    "registered",
    "still",
    "submitted",
    "whole",
    "entire",
    "located",
    "posted",
];

/// Words before which a participle says which ones are meant, and no deed: `completed orders`, `were delivered`.
const BEFORE_PARTICIPLES: &str = "\
    a all an and any are be been being by each every for from had has have in is its many no non not of on or our \
    the their to was were with";

/// A result and the sources of what may be said of it.
pub struct Given<'a> {
    pub input: &'a AnswerInput,
    pub query: Query,
    pub columns: Vec<Column>,
    /// Stems of the words of rows and columns.
    stems: BTreeSet<String>,
    /// Stems of the words of what was assumed.
    assumed: BTreeSet<String>,
    /// Stems of the question's words that narrow nothing, or by which the domain calls what the query reads.
    lent: BTreeSet<String>,
    /// Numbers of the question that the query has too.
    pub asked: Vec<Decimal>,
    /// Of a result of one number what that is, where it is known.
    pub counted: Option<Counted>,
}

impl<'a> Given<'a> {
    /// Of this result.
    pub fn of(host: &impl Host, input: &'a AnswerInput) -> Self {
        let query = input.sql.as_deref().map(Query::of).unwrap_or_default();
        let columns = columns(input, &query);
        let cells = input.rows.iter().flatten().flatten().cloned();
        let said = input
            .rows
            .iter()
            .flat_map(|row| columns.iter().zip(row).map(|(column, cell)| column.said(cell.as_deref())));
        // A name that promises what the query does not keep has an empty label.
        let names = input.columns.iter().zip(&columns).flat_map(|(named, column)| {
            let plain = (!column.label.is_empty()).then(|| words::identifier_words(&named.name).join(" "));
            [plain, generic(&named.name).map(str::to_owned), Some(column.label.clone())].into_iter().flatten()
        });
        let mut stems = BTreeSet::new();
        for text in cells.chain(said).chain(names) {
            stems.extend(words::words(&text).iter().map(|word| stem(&word.text)));
        }
        let asked = numbers(&input.question).into_iter().filter(|number| {
            query.bounds(number.value, None) || query.bears(&number.written, &BTreeSet::new())
        });
        let asked = asked.map(|number| number.value).collect();
        let assumed = input.assumptions.iter().flat_map(|text| stems_of(text)).collect();
        let counted = match (input.rows.as_slice(), columns.as_slice()) {
            ([_], [column]) if column.part == Part::Measure => {
                Counted::of(host, input, &query, &column.label)
            }
            _ => None,
        };
        let mut given = Self { input, query, columns, stems, assumed, lent: BTreeSet::new(), asked, counted };
        given.lend(host);
        given
    }

    /// Takes of the question what the query bears out.
    fn lend(&mut self, host: &impl Host) {
        let mut open = BTreeSet::new();
        let counts_one = self.query.counts_one();
        let mut before = String::new();
        for word in words::words(&self.input.question) {
            let part = stem(&word.text);
            let light = is_light(&word.text) && !NARROWING.contains(&word.text.as_str());
            let participle = word.text.ends_with("ed")
                && (before.is_empty() || BEFORE_PARTICIPLES.split(' ').any(|known| known == before));
            let deed = is_relation(&part) && !counts_one && !participle;
            if is_function_word(&word.text) || light || deed {
                self.lent.insert(part);
            } else if !is_plain(&word.text) && !self.stems.contains(&part) && !self.query.names(&part) {
                open.insert(part);
            }
            before = word.text;
        }
        if open.is_empty() {
            return;
        }
        let reads = |name: &str| words::identifier_words(name).iter().all(|word| self.query.names(word));
        let mut called: Vec<String> = Vec::new();
        for hit in host.near_tables(&self.input.question, NEAR) {
            let Some(table) =
                Some(&hit.table).filter(|table| reads(&table.name)).and_then(|table| host.describe(table))
            else {
                continue;
            };
            called.extend(table.synonyms);
            called.extend(
                table
                    .columns
                    .into_iter()
                    .filter(|column| reads(&column.name))
                    .flat_map(|column| column.synonyms),
            );
        }
        for term in host.near_terms(&self.input.question, NEAR) {
            let parts = [
                term.metric_sql.as_deref().map(Query::of),
                term.filter_sql.as_deref().map(Query::of_condition),
            ];
            let parts: Vec<Query> = parts.into_iter().flatten().collect();
            if !parts.is_empty() && parts.iter().all(|part| self.query.holds(part)) {
                called.push(term.name);
                called.extend(term.synonyms);
            }
        }
        let called: BTreeSet<String> =
            called.iter().flat_map(|text| words::words(text)).map(|word| stem(&word.text)).collect();
        self.lent.extend(open.intersection(&called).cloned());
    }

    /// Whether a word comes from somewhere, in a sentence of these stems.
    pub fn knows(&self, word: &str, among: &BTreeSet<String>) -> bool {
        let part = stem(word);
        // `Cancelled bills are left out` is no word for cancelled bills.
        let assumed = self.assumed.contains(&part) && !self.query.refuses(&part);
        self.stems.contains(&part) || self.lent.contains(&part) || assumed || self.query.bears(word, among)
    }

    /// The times of a text, and the phrases that name exactly what the query keeps to.
    pub fn dated(&self, text: &str) -> (Vec<(Time, Origin)>, Vec<Range<usize>>) {
        times::dated(text, self.input, &self.columns, &self.query)
    }

    /// Whether these rows are all there are of the query's result.
    pub fn whole(&self) -> bool {
        !self.input.truncated && self.input.rows.len() as u64 == self.input.row_count
    }

    /// Whether the query itself may have left rows out: then they have no total.
    pub fn cut(&self) -> bool {
        self.query.cuts(self.input.row_count)
    }
}

/// Stems of a text's words.
pub fn stems_of(text: &str) -> BTreeSet<String> {
    words::words(text).iter().map(|word| stem(&word.text)).collect()
}
