//! A single value as a sentence.

use crate::column::{Column, Part};
use crate::label::{capital, generic};
use crate::question::{answer_one, sentence as ended};

/// The value in the shape of the question, or else under its column's label.
pub fn sentence(question: &str, name: &str, column: &Column, value: Option<&str>) -> String {
    let said = column.said(value);
    if column.part == Part::Measure
        && value.is_some()
        && let Some(text) = answer_one(question, &said)
    {
        return text;
    }
    let names = ["name", "title"].iter().any(|word| column.label.split(' ').any(|part| part == *word));
    if column.label.is_empty() {
        ended(&format!("The {} is {said}", generic(name).unwrap_or("answer")))
    } else if column.part == Part::Name && names {
        ended(&said)
    } else {
        ended(&format!("{}: {said}", capital(&column.label)))
    }
}
