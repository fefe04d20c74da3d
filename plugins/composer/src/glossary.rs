//! Terms of the glossary: measures with the tables they are computed from, and conditions.

use airlock_plugin_sdk::Host;

use crate::schema::{Schema, phrase};

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

/// A term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As the glossary has it.
    pub name: String,
    /// Stems of the name and of each synonym.
    pub names: Vec<Vec<String>>,
    /// What it means.
    pub definition: String,
    /// One for each table that it can be computed from; the tables cover different times.
    pub metrics: Vec<Metric>,
    /// The condition it stands for, when it is no measure.
    pub condition: Option<(usize, String)>,
    /// The table it speaks of.
    pub table: Option<usize>,
}

/// The terms near a question.
#[derive(Debug, Clone, Default)]
pub struct Glossary {
    /// One for each name.
    pub terms: Vec<Term>,
}

impl Glossary {
    /// Reads the terms near a question; records of one name are one term.
    pub fn read(host: &impl Host, question: &str, schema: &Schema) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        for record in host.near_terms(question, 50) {
            let table = record.table.as_ref().and_then(|table| schema.position(table));
            if record.table.is_some() && table.is_none() {
                continue;
            }
            let at = match terms.iter().position(|term| term.name == record.name) {
                Some(at) => at,
                None => {
                    let names = std::iter::once(&record.name)
                        .chain(&record.synonyms)
                        .map(|name| phrase(name))
                        .filter(|name| !name.is_empty());
                    terms.push(Term {
                        name: record.name.clone(),
                        names: names.collect(),
                        definition: record.definition.clone(),
                        metrics: Vec::new(),
                        condition: None,
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
                (Some(table), None) => term.condition = filter.map(|filter| (table, filter)),
                _ => {}
            }
        }
        Self { terms }
    }
}
