//! Rows as a sentence, without a model.

use airlock_plugin_sdk::contract::answerer::AnswerInput;

use crate::decimal::grouped;
use crate::given::Given;
use crate::question::sentence as ended;
use crate::{list, row, series, single};

/// The result in one or two sentences.
pub fn sentence(given: &Given<'_>) -> String {
    let (input, columns) = (given.input, given.columns.as_slice());
    let told = match input.rows.as_slice() {
        [] => rows_elsewhere(input.row_count),
        [row] if input.row_count == 1 => match (columns, input.columns.as_slice(), row.as_slice()) {
            ([column], [named], [value]) => single::sentence(given, &named.name, column, value.as_deref()),
            _ => ended(&row::told(columns, row)),
        },
        _ => series::sentence(input, columns).unwrap_or_else(|| list::sentence(input, columns)),
    };
    match truncation(input) {
        Some(more) => format!("{told} {more}"),
        None => told,
    }
}

/// What a reader must know when not all rows came.
pub fn truncation(input: &AnswerInput) -> Option<String> {
    let count = grouped(&input.row_count.to_string());
    input.truncated.then(|| format!("Only the first {count} rows were read; there are more."))
}

fn rows_elsewhere(count: u64) -> String {
    match count {
        1 => "One row answers the question; it is in the table.".into(),
        count => format!("{} rows answer the question; they are in the table.", grouped(&count.to_string())),
    }
}
