//! Terms of the glossary: measures with the tables they are computed from, and conditions.

use std::collections::BTreeSet;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::question::grammar::Reading;

use crate::schema::{Schema, phrase};

/// Selected tables whose terms are looked up; each costs a call.
const TABLES: usize = 6;

/// How a measure is computed from one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// The table it is computed from.
    pub table: usize,
    /// The aggregate, its columns qualified by the tables' names.
    pub sql: String,
    /// The condition that belongs to it.
    pub filter: Option<String>,
}

/// A name of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Stems of the words that name it.
    pub words: Vec<String>,
    /// The last word as it is written: `average bill` is no average of bills.
    pub last: String,
    /// Stems of what a question must ask it by: `sales by category` is a measure only beside categories.
    pub given: Vec<String>,
    /// Words of it that turn the others about: what is `out of stock` is not `in stock`.
    turns: Vec<String>,
}

/// Words that turn about what follows them. They name nothing by themselves, so that stems alone do not tell them.
const TURNS: [&str; 6] = ["never", "no", "non", "not", "out", "without"];
/// Tokens before a name among which its turn must stand: `out of the stock`.
const BEFORE: usize = 3;

impl Name {
    fn new(text: &str) -> Self {
        let (words, given) = text.split_once(" by ").unwrap_or((text, ""));
        let last = words.split_whitespace().last().unwrap_or_default().to_lowercase();
        let said = words.to_lowercase();
        let turns = said.split(|c: char| !c.is_alphanumeric()).filter(|word| TURNS.contains(word));
        Self { words: phrase(words), last, given: phrase(given), turns: turns.map(str::to_owned).collect() }
    }

    /// True when what the question says at this token is turned about as the name is.
    pub fn turned_at(&self, reading: &Reading, first: usize) -> bool {
        let before = reading.tokens.get(first.saturating_sub(BEFORE)..=first).unwrap_or_default();
        self.turns.iter().all(|turn| before.iter().any(|token| token.lower == *turn))
    }

    /// True when the name is one of an average and the question asks for things instead: `average bills per day`.
    pub fn averages(&self, said: Option<&String>) -> bool {
        self.words.first().is_some_and(|first| first == "averag")
            && said.is_some_and(|said| *said != self.last && self.words.len() > 1)
    }

    /// True when the question speaks of what the name wants beside it, by its name or by one of its values.
    pub fn fits(&self, reading: &Reading, spoken: &BTreeSet<String>) -> bool {
        self.given
            .iter()
            .all(|stem| spoken.contains(stem) || reading.tokens.iter().any(|token| token.stem == *stem))
    }
}

/// A term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As the glossary has it.
    pub name: String,
    /// Its name and its synonyms.
    pub names: Vec<Name>,
    /// What it means.
    pub definition: String,
    /// One for each table that it can be computed from; the tables cover different times.
    pub metrics: Vec<Metric>,
    /// The conditions it stands for, when it is no measure: one for each table it speaks of.
    pub conditions: Vec<(usize, String)>,
    /// The table it speaks of.
    pub table: Option<usize>,
}

impl Term {
    /// True when the measure is a number of things, not an amount.
    pub fn counts(&self) -> bool {
        let counted = ["unit", "quantiti", "piec", "number", "count"];
        let said =
            self.names.iter().flat_map(|name| &name.words).any(|stem| counted.contains(&stem.as_str()));
        said || phrase(&self.definition).iter().take(12).any(|stem| counted.contains(&stem.as_str()))
            || self.metrics.iter().all(|metric| metric.sql.trim_start().to_lowercase().starts_with("count("))
    }
}

/// The terms near a question.
#[derive(Debug, Clone, Default)]
pub struct Glossary {
    /// One for each name.
    pub terms: Vec<Term>,
    /// Texts are found inside other texts, as a rule says.
    pub inside: bool,
}

impl Glossary {
    /// Reads the terms near a question; records of one name are one term.
    pub fn read(host: &impl Host, question: &str, schema: &Schema) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        let mut records = host.near_terms(question, 50);
        // What the tables at hand are measured by matters also when the question says it in words of its own.
        for table in schema.tables.iter().filter(|table| table.selected).take(TABLES) {
            let words: Vec<&str> = table.said.iter().map(String::as_str).collect();
            for term in host.near_terms(&words.join(" "), 50) {
                let known = records.iter().any(|known| {
                    (&known.name, &known.table, &known.metric_sql, &known.filter_sql)
                        == (&term.name, &term.table, &term.metric_sql, &term.filter_sql)
                });
                if !known {
                    records.push(term);
                }
            }
        }
        for record in records {
            // A rule without a table is read as a sentence elsewhere.
            if record.table.is_none() && record.metric_sql.is_none() {
                continue;
            }
            let table = record.table.as_ref().and_then(|table| schema.position(table));
            if record.table.is_some() && table.is_none() {
                continue;
            }
            let at = match terms.iter().position(|term| term.name == record.name) {
                Some(at) => at,
                None => {
                    let names = std::iter::once(&record.name)
                        .chain(&record.synonyms)
                        .map(|name| Name::new(name))
                        .filter(|name| !name.words.is_empty());
                    terms.push(Term {
                        name: record.name.clone(),
                        names: names.collect(),
                        definition: record.definition.clone(),
                        metrics: Vec::new(),
                        conditions: Vec::new(),
                        table,
                    });
                    terms.len() - 1
                }
            };
            let Some(term) = terms.get_mut(at) else { continue };
            let filter = record.filter_sql.filter(|filter| !filter.trim().is_empty());
            match (table, record.metric_sql) {
                (Some(table), Some(sql)) => {
                    let metric = Metric { table, sql, filter };
                    if !term.metrics.contains(&metric) {
                        term.metrics.push(metric);
                    }
                }
                (Some(table), None) => term.conditions.extend(filter.map(|filter| (table, filter))),
                _ => {}
            }
        }
        Self { terms, inside: false }
    }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::clock;

    use super::*;

    #[test]
    fn a_name_that_turns_its_words_about_is_said_only_where_they_are_turned() {
        for (name, question, want) in [
            ("out of stock", "Which products are out of stock?", true),
            ("out of stock", "Which products are in stock?", false),
            ("no stock", "Which products have no stock?", true),
            ("no stock", "How much stock do we have?", false),
            ("low stock", "Which products have low stock?", true),
            ("without a phone", "Which customers without any phone owe us?", true),
            ("without a phone", "Which customers have a phone?", false),
        ] {
            let reading = Reading::new(question, &clock("2026-08-20"));
            let name = Name::new(name);
            let first = reading.tokens.iter().position(|token| name.words.first() == Some(&token.stem));
            assert_eq!(first.is_some_and(|first| name.turned_at(&reading, first)), want, "{question}");
        }
    }
}
