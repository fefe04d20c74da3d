//! What the catalogue says about the tables of a failed query, for a model.

use std::fmt::Write as _;

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::{Host, words};

use super::Tell;
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
