//! `glossary.toml`: the words of the business, what they mean and how they are computed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::limits;
use super::reference::TableName;
use super::report::{Findings, Located, Spot};
use super::section::Section;
use super::settings::{shown, table};
use super::tree::Node;
use crate::index::words::folded;

/// A term of the glossary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Term {
    /// The word or words.
    pub name: Located<String>,
    /// Other words for the same.
    pub synonyms: Vec<Located<String>>,
    /// What it means.
    pub definition: String,
    /// How it is computed, by table; none when it is not a measure.
    pub metrics: Vec<Metric>,
}

/// How a term is computed over one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// The table.
    pub table: Located<TableName>,
    /// An SQL expression over it; absent when the term only restricts.
    pub sql: Option<Located<String>>,
    /// An SQL condition over it that the term implies.
    pub filter: Option<Located<String>>,
}

/// Reads `glossary.toml`.
pub(crate) fn read(node: Node, findings: &Findings) -> Vec<Term> {
    let Some(mut root) = Section::of(node, "", findings) else { return Vec::new() };
    let terms: Vec<Term> = root.sections("term", limits::TERMS).into_iter().filter_map(read_term).collect();
    root.finish();
    find_duplicates(&terms, findings);
    terms
}

fn read_term(mut section: Section<'_>) -> Option<Term> {
    let name = section.text("name", limits::SYNONYM);
    let name = section.need(name, "name", "\"revenue\"");
    let synonyms = section.texts("synonyms", limits::SYNONYM, limits::SYNONYMS);
    let definition = section.text("definition", limits::NOTE);
    let definition = section.need(definition, "definition", "\"what it means, in a sentence\"");
    let metrics = section.sections("metric", limits::METRICS).into_iter().filter_map(read_metric).collect();
    section.finish();
    Some(Term { name: name?, synonyms, definition: definition?.value, metrics })
}

fn read_metric(mut section: Section<'_>) -> Option<Metric> {
    let on = section.name("table", limits::REFERENCE);
    let on = section.need(on, "table", "\"bills\"").and_then(|text| table(&section, "table", text));
    let sql = section.text("sql", limits::SQL);
    let filter = section.text("filter", limits::SQL);
    if !section.has("sql") && !section.has("filter") {
        section.report(
            &section.spot,
            "a metric says neither `sql` nor `filter`",
            "give the expression that computes it, such as sql = \"sum(bills.total_amt)\", or the condition it implies",
        );
    }
    section.finish();
    Some(Metric { table: on?, sql, filter })
}

/// A word that means two things would be decided by chance.
fn find_duplicates(terms: &[Term], findings: &Findings) {
    let mut owners: BTreeMap<String, (&Spot, &str)> = BTreeMap::new();
    for term in terms {
        if let Some((spot, _)) = owners.get(&folded(&term.name.value)) {
            findings.add(
                &term.name.spot,
                format!("the term `{}` stands at {spot} already", shown(&term.name.value)),
                "make one term of the two; several metrics may stand under one",
            );
        } else {
            owners.insert(folded(&term.name.value), (&term.name.spot, &term.name.value));
        }
    }
    for term in terms {
        for synonym in &term.synonyms {
            match owners.get(&folded(&synonym.value)) {
                Some((spot, owner)) if *owner != term.name.value => findings.add(
                    &synonym.spot,
                    format!(
                        "`{}` is a word for `{}` here and for `{}` at {spot}",
                        shown(&synonym.value),
                        shown(&term.name.value),
                        shown(owner)
                    ),
                    "leave it with one of them",
                ),
                Some(_) => {}
                None => {
                    owners.insert(folded(&synonym.value), (&synonym.spot, &term.name.value));
                }
            }
        }
    }
}
