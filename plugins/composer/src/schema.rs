//! The part of the catalogue a question may touch, with its names taken apart.

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::question::{names, stems};
use airlock_plugin_sdk::time::Date;
use airlock_plugin_sdk::{Host, TableRef};

use crate::guess;

/// Tables described at most; a question needs few, and each costs a call.
const TABLES: usize = 48;

/// What values a column holds, as far as composing needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A number.
    Number,
    /// Text, an enum among it.
    Text,
    /// A date or a timestamp.
    Time,
    /// True or false.
    Boolean,
    /// Anything else.
    Other,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// As the catalogue spells it.
    pub name: String,
    /// Its names as sets of stems: the name itself, the name without what all columns share, synonyms.
    pub names: Vec<Vec<String>>,
    /// How many of the names are its own; the rest are synonyms.
    pub own: usize,
    /// Stems of everything said about it.
    pub text: BTreeSet<String>,
    /// Stems of what its note says that someone did: `Who made out the bill.` Empty where it says nothing of the kind.
    pub who: BTreeSet<String>,
    /// What it holds.
    pub family: Family,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Part of a primary or foreign key, or a number that only tells rows apart.
    pub key: bool,
    /// An amount of money or the like, by its class.
    pub amount: bool,
    /// A number with exact places, so that it can be rounded.
    pub exact: bool,
    /// A number that says yes or no: `is_open`.
    pub binary: bool,
    /// Enum labels and permitted samples.
    pub values: Vec<String>,
}

/// A many-to-one join from one table to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Columns of this table.
    pub from: Vec<usize>,
    /// The other table.
    pub to: usize,
    /// Columns of the other table.
    pub to_columns: Vec<usize>,
    /// A row may have no partner.
    pub optional: bool,
    /// By a foreign key or by a person's word.
    pub verified: bool,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// As the catalogue spells it.
    pub reference: TableRef,
    /// Its names as lists of stems: the name, the name without a common lead, synonyms.
    pub names: Vec<Vec<String>>,
    /// Its name, its synonyms and those of its columns, as they are written.
    pub said: Vec<String>,
    /// Stems of its name, synonyms and description.
    pub text: BTreeSet<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its primary key.
    pub key: Vec<usize>,
    /// Where its rows point to.
    pub edges: Vec<Edge>,
    /// Columns that hold the name of a row of another table, by a person's word, where no key does.
    pub named: Vec<(usize, usize)>,
    /// The columns that name a row to a person.
    pub label: Vec<usize>,
    /// The column that notes name as the row's time.
    pub time: Option<usize>,
    /// The range of time its rows cover, where notes say so.
    pub covers: (Option<Date>, Option<Date>),
    /// True when the linker selected it.
    pub selected: bool,
}

impl Table {
    /// Position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

impl Table {
    /// The one number that says how large a row is: `total amount` of a bill, `amount` of a payment.
    pub fn amount(&self) -> Option<usize> {
        let own = |stem: &String| self.names.iter().any(|name| name.contains(stem));
        let plain = |name: &Vec<String>| {
            let rest: Vec<&String> = name.iter().filter(|stem| !own(stem)).collect();
            !rest.is_empty() && rest.iter().all(|stem| matches!(stem.as_str(), "amount" | "total" | "valu"))
        };
        self.one(|column| column.names.iter().any(plain))
    }

    /// The one number that is its price.
    pub fn price(&self) -> Option<usize> {
        self.one(|column| {
            column.names.iter().flatten().any(|stem| matches!(stem.as_str(), "price" | "pric" | "cost"))
        })
    }

    fn one(&self, fits: impl Fn(&Column) -> bool) -> Option<usize> {
        let number = |column: &Column| column.family == Family::Number && !column.key;
        let mut found =
            (0..self.columns.len()).filter(|at| self.columns.get(*at).is_some_and(|c| number(c) && fits(c)));
        found.next().filter(|_| found.next().is_none())
    }
}

/// The tables.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// In a fixed order; everything refers to them by position.
    pub tables: Vec<Table>,
}

impl Schema {
    /// Reads the selected tables, those whose names are asked for, and all of a small schema. Dead ones are left out.
    pub fn read(host: &impl Host, selected: &[TableRef], words: &BTreeSet<String>) -> Self {
        let mut wanted: Vec<TableRef> = selected.to_vec();
        let all = host.tables();
        let small = all.len() <= TABLES;
        for summary in &all {
            let named =
                names::name_words(&summary.table.name).iter().any(|word| words.contains(&stems::stem(word)));
            if (small || named) && !wanted.contains(&summary.table) {
                wanted.push(summary.table.clone());
            }
        }
        wanted.truncate(TABLES);
        let details: Vec<TableDetail> =
            wanted.iter().filter_map(|table| host.describe(table)).filter(|detail| detail.in_use).collect();
        let lead = common_lead(details.iter().map(|detail| detail.summary.table.name.as_str()));
        let mut tables: Vec<Table> = details.iter().map(|detail| table(detail, &lead, selected)).collect();
        for (at, detail) in details.iter().enumerate() {
            let edges = edges(at, detail, &tables);
            if let Some(table) = tables.get_mut(at) {
                for edge in &edges {
                    for column in &edge.from {
                        if let Some(column) = table.columns.get_mut(*column) {
                            column.key = true;
                        }
                    }
                }
                table.edges = edges;
            }
            let named = named(at, detail, &tables);
            if let Some(table) = tables.get_mut(at) {
                table.named = named;
            }
        }
        guess::complete(&mut tables);
        Self { tables }
    }

    /// A table.
    pub fn table(&self, at: usize) -> Option<&Table> {
        self.tables.get(at)
    }

    /// A column of a table.
    pub fn column(&self, table: usize, column: usize) -> Option<&Column> {
        self.tables.get(table)?.columns.get(column)
    }

    /// Position of a relation.
    pub fn position(&self, reference: &TableRef) -> Option<usize> {
        self.tables.iter().position(|table| table.reference == *reference)
    }
}

fn table(detail: &TableDetail, lead: &str, selected: &[TableRef]) -> Table {
    let name = &detail.summary.table.name;
    let mut names = vec![stemmed(name)];
    if let Some(rest) =
        name.to_lowercase().strip_prefix(lead).filter(|rest| !lead.is_empty() && rest.len() >= 3)
    {
        names.push(stemmed(rest));
    }
    for lead in ["tbl_", "tbl", "dim_", "fact_", "t_"] {
        if let Some(rest) = name.to_lowercase().strip_prefix(lead).filter(|rest| rest.len() >= 3) {
            names.push(stemmed(rest));
        }
    }
    names.extend(detail.synonyms.iter().map(|synonym| phrase(synonym)));
    names.retain(|name| !name.is_empty());
    names.dedup();
    let mut text: BTreeSet<String> = names.iter().flatten().cloned().collect();
    text.extend(stems::content_stems(&detail.summary.description));
    let shared = common_lead(detail.columns.iter().map(|column| column.name.as_str()));
    let key: Vec<usize> = detail
        .primary_key
        .iter()
        .filter_map(|name| detail.columns.iter().position(|c| c.name == *name))
        .collect();
    let columns: Vec<Column> = detail
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let mut names = vec![stemmed(&column.name), spelled(&column.name)];
            if let Some(rest) = column
                .name
                .to_lowercase()
                .strip_prefix(&shared)
                .filter(|rest| !shared.is_empty() && !rest.is_empty())
            {
                names.push(stemmed(rest));
            }
            names.retain(|name| !name.is_empty());
            names.dedup();
            let own = names.len();
            let id = names.iter().any(|name| name.last().is_some_and(|last| last == "id"));
            names.extend(
                column.synonyms.iter().map(|synonym| phrase(synonym)).filter(|name| !name.is_empty()),
            );
            let mut text: BTreeSet<String> = names.iter().flatten().cloned().collect();
            text.extend(stems::content_stems(&column.description));
            let sentence = column.description.split('.').next().unwrap_or_default();
            let who = sentence.strip_prefix("Who ").map(stems::content_stems).unwrap_or_default();
            Column {
                name: column.name.clone(),
                names,
                own,
                text,
                who,
                family: family(&column.family, &column.enum_labels),
                nullable: column.nullable,
                key: id || key.contains(&at),
                amount: column.class == "amount",
                binary: column.family == "number"
                    && ["is_", "has_", "Is", "Has"].iter().any(|lead| column.name.starts_with(lead)),
                exact: column.sql_type.starts_with("numeric"),
                values: column.enum_labels.iter().chain(&column.samples).cloned().collect(),
            }
        })
        .collect();
    let find = |name: &Option<String>| {
        name.as_ref().and_then(|name| columns.iter().position(|column| column.name == *name))
    };
    let label = match find(&detail.label_column) {
        Some(label) => vec![label],
        None => labels(&columns, names.first().map_or(&[], Vec::as_slice)),
    };
    Table {
        reference: detail.summary.table.clone(),
        time: find(&detail.time_column),
        label,
        key,
        names,
        text,
        said: names_said(detail),
        edges: Vec::new(),
        named: Vec::new(),
        covers: covered(detail),
        selected: selected.contains(&detail.summary.table),
        columns,
    }
}

/// The range of time that a table's rows cover, `[from, until)`, where its notes say so.
pub fn covered(detail: &TableDetail) -> (Option<Date>, Option<Date>) {
    let attribute = |key: &str| {
        let told = detail.attributes.iter().find(|attribute| attribute.key == key);
        told.and_then(|attribute| Date::parse(&attribute.value))
    };
    (attribute("covers-from"), attribute("covers-until"))
}

fn names_said(detail: &TableDetail) -> Vec<String> {
    let mut said = names::name_words(&detail.summary.table.name);
    said.extend(detail.synonyms.iter().cloned());
    said.extend(detail.columns.iter().flat_map(|column| column.synonyms.iter().cloned()));
    said
}

fn family(word: &str, labels: &[String]) -> Family {
    match word {
        _ if !labels.is_empty() => Family::Text,
        "number" => Family::Number,
        "text" => Family::Text,
        "date" | "timestamp" => Family::Time,
        "boolean" => Family::Boolean,
        _ => Family::Other,
    }
}

/// Stems of a catalogue name.
pub fn stemmed(name: &str) -> Vec<String> {
    let words = names::name_words(name);
    let content: Vec<String> =
        words.iter().filter(|word| !stems::is_function_word(word)).map(|word| stems::stem(word)).collect();
    // A name of function words only, such as `to`, keeps them.
    if content.is_empty() { words.iter().map(|word| stems::stem(word)).collect() } else { content }
}

/// Stems of a catalogue name as it is spelled, shortenings and all.
fn spelled(name: &str) -> Vec<String> {
    phrase(&name.replace('_', " "))
}

/// Stems of a phrase that people wrote.
pub fn phrase(text: &str) -> Vec<String> {
    stems::content_words(text)
}

/// What the names of a schema or a table all begin with: `sb`, `cust_`. Empty when they do not, or when it is a word
/// that one of them consists of.
fn common_lead<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(str::to_lowercase).collect();
    let Some(first) = names.first().filter(|_| names.len() >= 3) else { return String::new() };
    let mut lead = first.as_str();
    for name in &names {
        let common = lead
            .char_indices()
            .zip(name.chars())
            .take_while(|((_, a), b)| a == b)
            .map(|((at, a), _)| at + a.len_utf8())
            .last();
        lead = lead.get(..common.unwrap_or(0)).unwrap_or_default();
    }
    // Names of several words share whole words or nothing.
    if names.iter().any(|name| name.contains('_')) {
        lead = lead.rfind('_').and_then(|at| lead.get(..=at)).unwrap_or_default();
    }
    let enough = lead.len() >= 2 && names.iter().all(|name| name.len() > lead.len());
    if enough { lead.to_owned() } else { String::new() }
}

/// The columns that name a row, when no note says so.
fn labels(columns: &[Column], table: &[String]) -> Vec<usize> {
    let with = |words: &[&str]| {
        columns.iter().position(|column| {
            column.family == Family::Text
                && column.names.iter().any(|name| {
                    name.len() == words.len() && words.iter().all(|word| name.contains(&stems::stem(word)))
                })
        })
    };
    if let (Some(first), Some(last)) = (with(&["first", "name"]), with(&["last", "name"])) {
        return vec![first, last];
    }
    for word in ["name", "title", "label"] {
        if let Some(found) = with(&[word]) {
            return vec![found];
        }
        let owned = columns.iter().position(|column| {
            let Some(name) = column.names.first() else { return false };
            let rest: Vec<&String> = name.iter().filter(|stem| !table.contains(stem)).collect();
            column.family == Family::Text && matches!(rest.as_slice(), [only] if **only == stems::stem(word))
        });
        if let Some(found) = owned {
            return vec![found];
        }
    }
    if let Some(full) = with(&["full", "name"]) {
        return vec![full];
    }
    let named: Vec<usize> = (0..columns.len())
        .filter(|at| {
            columns.get(*at).is_some_and(|column| {
                column.family == Family::Text
                    && column
                        .names
                        .first()
                        .and_then(|name| name.last())
                        .is_some_and(|last| last == "name" || last == "titl")
                    && column.names.first().is_some_and(|name| {
                        name.iter().rev().skip(1).all(|stem| table.iter().any(|own| stems::kin(own, stem)))
                    })
            })
        })
        .collect();
    if let [only] = named.as_slice() {
        return vec![*only];
    }
    for word in ["symbol", "code", "number"] {
        if let Some(found) = with(&[word]) {
            return vec![found];
        }
    }
    // A column called like its table: `colour.colour`.
    let same = columns.iter().position(|column| {
        column.family == Family::Text && column.names.first().is_some_and(|name| name == table)
    });
    same.into_iter().collect()
}

/// Joins of one column to the name of another table's rows, which is no key of it.
fn named(at: usize, detail: &TableDetail, tables: &[Table]) -> Vec<(usize, usize)> {
    let position = |reference: &TableRef| tables.iter().position(|table| table.reference == *reference);
    let found = |join: &airlock_plugin_sdk::contract::catalog::Join| {
        let (from, to) = (position(&join.from)?, position(&join.to)?);
        let ([column], [name]) = (join.from_columns.as_slice(), join.to_columns.as_slice()) else {
            return None;
        };
        let own = tables.get(from)?.column(column)?;
        let label = tables.get(to)?.column(name)?;
        let by_name = from == at && join.verified && tables.get(to)?.label == [label];
        by_name.then_some((own, to))
    };
    detail.joins.iter().filter_map(found).collect()
}

fn edges(at: usize, detail: &TableDetail, tables: &[Table]) -> Vec<Edge> {
    let position = |reference: &TableRef| tables.iter().position(|table| table.reference == *reference);
    let columns = |table: usize, names: &[String]| -> Option<Vec<usize>> {
        let table = tables.get(table)?;
        names.iter().map(|name| table.column(name)).collect()
    };
    let mut found: Vec<Edge> = Vec::new();
    for join in &detail.joins {
        let (Some(from), Some(to)) = (position(&join.from), position(&join.to)) else { continue };
        if from != at || !join.many_to_one {
            continue;
        }
        let (Some(from), Some(to_columns)) =
            (columns(from, &join.from_columns), columns(to, &join.to_columns))
        else {
            continue;
        };
        let edge = Edge { from, to, to_columns, optional: join.optional, verified: join.verified };
        if !edge.from.is_empty() && !found.iter().any(|known| known.from == edge.from && known.to == edge.to)
        {
            found.push(edge);
        }
    }
    found
}
