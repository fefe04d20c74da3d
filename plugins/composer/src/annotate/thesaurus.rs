//! Words that mean the same in every trade, for what the catalogue calls otherwise.

use airlock_plugin_sdk::question::stems;

use super::scores::{column_score, same_set, table_score};
use super::{Candidate, Target};
use crate::schema::{Family, Schema};

/// Nouns of one meaning.
const SAME: &[&[&str]] = &[
    &["customer", "client", "user", "buyer", "shopper", "consumer"],
    &["employee", "staff", "worker", "colleague"],
    &["product", "item", "article", "goods"],
    &["supplier", "vendor"],
    &["teacher", "instructor", "professor", "lecturer"],
    &["student", "pupil"],
    &["movie", "film"],
    &["stock", "ticker", "share", "security"],
    &["doctor", "physician"],
    &["car", "vehicle", "automobile"],
    &["cuisine", "food"],
    &["company", "firm", "organization", "organisation"],
    &["city", "town"],
    &["paper", "publication", "article"],
    &["salesperson", "salesman", "seller", "rep"],
    &["gender", "sex"],
    &["illness", "disease", "condition", "diagnosis"],
    &["medicine", "drug", "medication"],
    &["class", "course"],
    &["salary", "wage", "pay"],
    &["shop", "store", "branch"],
    &["comment", "review"],
    &["nation", "country"],
    &["residence", "city"],
];

/// Another word's score: enough where nothing is called so, never enough against a name.
const SCORE: f64 = 0.62;

/// What the other words of a word's meaning name, when nothing is called by it.
pub(super) fn meant(schema: &Schema, run: &[String]) -> Vec<Candidate> {
    let [word] = run else { return Vec::new() };
    let mut found: Vec<Candidate> = Vec::new();
    for group in SAME.iter().filter(|group| group.iter().any(|known| stems::stem(known) == *word)) {
        for other in group.iter().map(|other| stems::stem(other)).filter(|other| other != word) {
            let run = [other];
            for (at, table) in schema.tables.iter().enumerate() {
                if table.names.iter().any(|name| table_score(name, &run) >= 0.95) {
                    found.push(Candidate::new(Target::Table(at), SCORE));
                    continue;
                }
                for (column_at, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.key)
                {
                    let own = column.names.iter().take(column.own);
                    let mut own = own.filter(|name| {
                        same_set(name, &run)
                            || (column.family == Family::Text
                                && column_score(name, &run, &table.names) >= 0.88)
                    });
                    if own.next().is_some() {
                        found.push(Candidate::new(Target::Column(at, column_at), SCORE - 0.02));
                    }
                }
            }
        }
    }
    found
}

/// What a verb did is a row of the table of such deeds, or has its date: `cars sold`, `people hired`.
pub(super) fn done(schema: &Schema, word: &str, alone: bool) -> Vec<Candidate> {
    const DEEDS: &[(&str, &[&str])] = &[
        ("sold", &["sale"]),
        ("bought", &["purchase", "sale", "order"]),
        ("purchased", &["purchase", "sale", "order"]),
        ("ordered", &["order"]),
        ("paid", &["payment"]),
        ("borrowed", &["loan", "borrowing"]),
        ("rented", &["rental"]),
        ("booked", &["booking", "reservation"]),
        ("enrolled", &["enrollment", "enrolment"]),
    ];
    if !stems::is_participle(word) || !alone {
        return Vec::new();
    }
    let stem = stems::stem(word);
    let nouns = DEEDS.iter().find(|(verb, _)| *verb == word).map(|(_, nouns)| *nouns).unwrap_or_default();
    let deeds: Vec<Vec<String>> = nouns.iter().map(|noun| vec![stems::stem(noun)]).collect();
    let recorded = |table: &crate::schema::Table| {
        table.names.iter().any(|name| deeds.iter().any(|deed| same_set(name, deed)))
    };
    let mut found: Vec<Candidate> = schema
        .tables
        .iter()
        .enumerate()
        .filter(|(_, table)| recorded(table))
        .map(|(at, _)| Candidate::new(Target::Table(at), 0.7))
        .collect();
    if !found.is_empty() {
        return found;
    }
    let dated = |column: &crate::schema::Column| {
        let mut own = column.names.iter().take(column.own).flatten();
        column.family == Family::Time && own.any(|name| name.len() >= 4 && stems::kin(name, &stem))
    };
    for (at, table) in schema.tables.iter().enumerate() {
        for (column, _) in table.columns.iter().enumerate().filter(|(_, column)| dated(column)) {
            found.push(Candidate::new(Target::Column(at, column), 0.75));
        }
    }
    found
}

/// `order value`, `sales amount`: what one of them comes to.
pub(super) fn worth(schema: &Schema, run: &[String]) -> Vec<Candidate> {
    let [thing, word] = run else { return Vec::new() };
    if !["value", "amount", "worth", "total"].iter().any(|known| stems::stem(known) == *word) {
        return Vec::new();
    }
    let named = |table: &&crate::schema::Table| {
        table.names.iter().any(|name| name.as_slice() == std::slice::from_ref(thing))
    };
    let tables = schema.tables.iter().enumerate().filter(|(_, table)| named(table));
    tables
        .filter_map(|(at, table)| {
            Some(Candidate::new(Target::Column(at, table.amount().or(table.price())?), 0.8))
        })
        .collect()
}

/// The one amount that income is: the total of the one kind of paper that records sales.
pub(super) fn income(schema: &Schema, run: &[String]) -> Option<Candidate> {
    const INCOME: &[&str] = &["revenue", "turnover", "income"];
    const PAPERS: &[&str] = &["order", "sale", "invoice", "bill", "purchase", "transaction", "booking"];
    let [word] = run else { return None };
    INCOME.iter().find(|known| stems::stem(known) == *word)?;
    let mut papers = schema.tables.iter().enumerate().filter_map(|(at, table)| {
        let named =
            PAPERS.iter().any(|paper| table.names.iter().any(|name| name.as_slice() == [stems::stem(paper)]));
        Some((at, table.amount().or(table.price()).filter(|_| named)?))
    });
    let (table, column) = papers.next().filter(|_| papers.next().is_none())?;
    Some(Candidate::new(Target::Column(table, column), SCORE))
}
