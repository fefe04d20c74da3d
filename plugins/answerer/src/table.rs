//! Rows as a sentence, without a model.

use airlock_plugin_sdk::contract::answerer::{AnswerInput, ResultColumn};
use airlock_plugin_sdk::words;

use crate::decimal::grouped;
use crate::question::{answer_one, sentence as ended};

/// Rows that are all told.
const FEW: usize = 10;
/// Rows that are told of many.
const HEAD: usize = 3;
/// Characters of one cell.
const CELL: usize = 80;
/// Columns of one row that are told.
const COLUMNS: usize = 6;

/// The result in one or two sentences.
pub fn sentence(input: &AnswerInput) -> String {
    let count = input.row_count;
    let told = match input.rows.as_slice() {
        [] => rows_elsewhere(count),
        [row] if count == 1 => one_row(input, row),
        rows if rows.len() <= FEW && rows.len() as u64 == count => {
            format!("{} rows: {}.", rows.len(), list(input, rows))
        }
        rows => {
            let head = rows.get(..HEAD).unwrap_or(rows);
            let which =
                if head.len() == 1 { "the first".to_owned() } else { format!("the first {}", head.len()) };
            format!("{} rows; {which}: {}.", grouped(&count.to_string()), list(input, head))
        }
    };
    match truncation(input) {
        Some(more) => format!("{told} {more}"),
        None => told,
    }
}

/// What a reader must know when not all rows came.
pub fn truncation(input: &AnswerInput) -> Option<String> {
    let count = grouped(&input.row_count.to_string());
    input.truncated.then(|| format!("There are more: only the first {count} rows were read."))
}

/// A cell as a person writes it.
pub fn cell(column: &ResultColumn, value: Option<&str>) -> String {
    let Some(value) = value else { return "none".into() };
    if is_count_or_amount(column) {
        return grouped(value);
    }
    let mut text: String =
        value.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(CELL + 1).collect();
    if text.chars().count() > CELL {
        text.pop();
        text.push('…');
    }
    if text.is_empty() { "(empty)".into() } else { text }
}

/// A column's name in words; empty when the name says nothing.
pub fn label(column: &ResultColumn) -> String {
    let name = column.name.to_lowercase();
    if GENERIC.contains(&name.as_str()) {
        String::new()
    } else {
        words::identifier_words(&column.name).join(" ")
    }
}

fn rows_elsewhere(count: u64) -> String {
    match count {
        1 => "One row answers the question; it is in the table.".into(),
        count => format!("{} rows answer the question; they are in the table.", grouped(&count.to_string())),
    }
}

fn one_row(input: &AnswerInput, row: &[Option<String>]) -> String {
    match (input.columns.as_slice(), row) {
        ([column], [value]) => one_value(&input.question, column, value.as_deref()),
        (columns, row) => {
            let pairs: Vec<String> = columns
                .iter()
                .zip(row)
                .take(COLUMNS)
                .map(|(column, value)| {
                    let (label, value) = (label(column), cell(column, value.as_deref()));
                    if label.is_empty() { value } else { format!("{label}: {value}") }
                })
                .collect();
            let more = if columns.len() > COLUMNS { "; more in the table" } else { "" };
            ended(&format!("One row: {}{more}", pairs.join("; ")))
        }
    }
}

fn one_value(question: &str, column: &ResultColumn, value: Option<&str>) -> String {
    let told = cell(column, value);
    let numeric = is_count_or_amount(column);
    if numeric && let Some(text) = answer_one(question, &told) {
        return text;
    }
    let label = label(column);
    let plural = label.rsplit(' ').next().is_some_and(|last| words::singular(last) != last);
    match (label.is_empty(), numeric && plural && !told.contains('.')) {
        (true, _) => ended(&format!("The answer is {told}")),
        (false, true) => ended(&format!("The number of {label} is {told}")),
        (false, false) => ended(&format!("The {label} is {told}")),
    }
}

fn list(input: &AnswerInput, rows: &[Vec<Option<String>>]) -> String {
    let several = input.columns.len() > 2;
    let told = rows.iter().map(|row| {
        let mut cells = input.columns.iter().zip(row).take(COLUMNS);
        let head = cells.next().map(|(column, value)| cell(column, value.as_deref())).unwrap_or_default();
        let rest: Vec<String> = cells
            .map(|(column, value)| {
                let (label, value) = (label(column), cell(column, value.as_deref()));
                if several && !label.is_empty() { format!("{label} {value}") } else { value }
            })
            .collect();
        if rest.is_empty() { head } else { format!("{head} ({})", rest.join(", ")) }
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Numbers that are counted or measured get separators; keys, codes and years do not.
fn is_count_or_amount(column: &ResultColumn) -> bool {
    let sql_type = column.sql_type.split('(').next().unwrap_or_default().trim();
    let number = [
        "smallint",
        "integer",
        "bigint",
        "numeric",
        "real",
        "double precision",
        "int2",
        "int4",
        "int8",
        "float4",
        "float8",
    ]
    .contains(&sql_type);
    let names_a_thing = words::identifier_words(&column.name).iter().any(|word| {
        ["id", "no", "code", "year", "number", "extract", "phone", "pin", "zip"].contains(&word.as_str())
    });
    number && !names_a_thing
}

/// Names that PostgreSQL gives by itself, or that say nothing but how.
const GENERIC: [&str; 10] =
    ["?column?", "count", "sum", "avg", "min", "max", "round", "coalesce", "value", "result"];
