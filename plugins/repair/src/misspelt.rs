//! What the host found out about values that the data spells otherwise.

use airlock_plugin_sdk::contract::repair::{ProbeFinding, RepairInput};
use airlock_plugin_sdk::{ColumnRef, TableRef};
use serde::Deserialize;

/// Key of the attributes that tell of a value.
const KEY: &str = "misspelt";

#[derive(Deserialize)]
struct Told {
    schema: String,
    table: String,
    column: String,
    literal: String,
    spellings: Vec<String>,
}

/// Every value that the host tells of; of a host that tells no more, the one of its diagnostic.
pub fn findings(input: &RepairInput) -> Vec<ProbeFinding> {
    let read = |value: &String| {
        let told: Told = serde_json::from_str(value).ok()?;
        let table = TableRef { schema: told.schema, name: told.table };
        let column = ColumnRef { table, column: told.column };
        Some(ProbeFinding { column, literal: told.literal, spellings: told.spellings, rows_without: None })
    };
    let told = input.attributes.iter().filter(|attribute| attribute.key == KEY);
    let found: Vec<ProbeFinding> = told.filter_map(|attribute| read(&attribute.value)).collect();
    if found.is_empty() { input.probe.iter().cloned().collect() } else { found }
}
