//! What the catalogue says about the tables of a failed query, for a model.

use std::fmt::Write as _;

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::{Host, words};

use super::{Strategy, Tell};
use crate::block::blocks;
use crate::case::Case;
use crate::misspelt::findings;

/// Tables and columns that are told.
const TABLES: usize = 6;
const COLUMNS: usize = 60;
/// Tables with near names that are told.
const NEAR: u32 = 5;
/// Spellings that are told.
const SPELLINGS: usize = 10;

/// Codes of PostgreSQL that say more than their kind does, and the words for a model.
const BY_CODE: &[(&[&str], &str)] = &[
    (&["22003"], "A number left the range of its type. Cast the operands to numeric before computing."),
    (
        &["2201F", "2201E"],
        "A power, a root or a logarithm was to be taken of a number that has none, such as the root of a negative number or \
         the logarithm of zero. Leave such rows out, or make the value NULL where it has no result.",
    ),
    (
        &["22011"],
        "A length of a piece of a text is negative. Use GREATEST(length, 0), or leave out rows where there is no such piece.",
    ),
    (
        &["22013", "22014", "22015", "22016"],
        "A window function or its frame was given a number that it does not take: offsets are not negative, and numbers of \
         buckets and of rows begin at 1.",
    ),
    (
        &["2201G"],
        "The buckets are wrong: there is at least one, and the lower bound differs from the upper one.",
    ),
    (&["2201W", "2201X"], "LIMIT or OFFSET is negative. Both begin at 0."),
    (&["2202G", "2202H"], "The sample is wrong: a percentage is from 0 to 100."),
    (
        &["2201B"],
        "A regular expression cannot be read. Correct the pattern, or use LIKE or strpos where no pattern is meant.",
    ),
    (
        &["22019", "22025"],
        "An escape of a LIKE pattern is wrong. The escape is one character, and the pattern does not end with it.",
    ),
    (
        &[
            "22030", "22031", "22032", "22033", "22035", "22036", "22037", "22039", "2203A", "2203B",
            "2203C", "2203D", "2203E", "2203F", "2203G",
        ],
        "A JSON value or a JSON path is not what is used of it. Check with jsonb_typeof or with a lax path that the value is \
         there and is of the kind that is used.",
    ),
];

/// The words for a model: those of the failure's own code, else those of its kind.
pub fn advised(strategy: &Strategy, sqlstate: Option<&str>) -> &'static str {
    let own = BY_CODE.iter().find(|(codes, _)| sqlstate.is_some_and(|state| codes.contains(&state)));
    own.map_or(strategy.advice, |(_, advice)| advice)
}

/// The lines that a strategy adds to its words; empty when there is nothing to add.
pub fn scope_in_words(case: &Case<'_, impl Host>, tell: Tell) -> String {
    match tell {
        Tell::Nothing => String::new(),
        Tell::Tables => {
            let named = case.named().unwrap_or_default();
            let said = words::identifier_words(&named).join(" ");
            let near = case.host.near_tables(&said, NEAR).into_iter();
            let names: Vec<String> = near
                .filter(|hit| case.host.describe(&hit.table).is_some_and(|table| table.in_use))
                .map(|hit| hit.table.name)
                .collect();
            if names.is_empty() {
                String::new()
            } else {
                format!("Tables that are near: {}.", names.join(", "))
            }
        }
        Tell::Columns | Tell::Types => {
            let mut seen: Vec<TableDetail> = Vec::new();
            for block in blocks(&case.tokens) {
                let details = case.relations(&block).into_iter().filter_map(|relation| relation.detail);
                for detail in details {
                    let known = seen.iter().any(|table| table.summary.table == detail.summary.table);
                    if !known && seen.len() < TABLES {
                        seen.push(detail);
                    }
                }
            }
            seen.iter().map(|table| columns(table, tell == Tell::Types)).collect::<Vec<_>>().join("\n")
        }
        Tell::Spellings => findings(case.input)
            .iter()
            .filter(|finding| !finding.spellings.is_empty())
            .map(|finding| {
                let spellings: Vec<String> =
                    finding.spellings.iter().take(SPELLINGS).map(|text| format!("'{text}'")).collect();
                format!(
                    "{}.{} has {} where the query says {}.",
                    finding.column.table.name,
                    finding.column.column,
                    spellings.join(", "),
                    finding.literal
                )
            })
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn columns(table: &TableDetail, types: bool) -> String {
    let mut line = format!("{} has", table.summary.table.name);
    for (index, column) in table.columns.iter().take(COLUMNS).enumerate() {
        let _ = write!(line, "{}{}", if index == 0 { " " } else { ", " }, column.name);
        if types {
            let _ = write!(line, " {}", column.sql_type);
            if !column.samples.is_empty() {
                let _ = write!(line, " (such as {})", column.samples.join(", "));
            }
        }
    }
    line
}
