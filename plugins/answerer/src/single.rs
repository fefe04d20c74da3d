//! A single value as a sentence.

use crate::column::{Column, Part};
use crate::given::Given;
use crate::label::{capital, generic};
use crate::question::{answer_one, sentence as ended};
use crate::sentences;

/// The value in the shape of the question where the query bears that out, or else under its column's label, or by itself.
pub fn sentence(given: &Given<'_>, name: &str, column: &Column, value: Option<&str>) -> String {
    let measured = column.part == Part::Measure && value.is_some();
    let asked = measured.then(|| answer_one(&given.input.question, &column.said(value))).flatten();
    // A question is no evidence: its words are held to what a model's are.
    asked
        .filter(|text| sentences::borne(text, given).1.is_empty())
        .unwrap_or_else(|| neutral(name, column, value))
}

/// The value under its column's label, or by itself: it says nothing but what the query calls it.
pub fn neutral(name: &str, column: &Column, value: Option<&str>) -> String {
    let said = column.said(value);
    let names = ["name", "title"].iter().any(|word| column.label.split(' ').any(|part| part == *word));
    if column.label.is_empty() {
        ended(&format!("The {} is {said}", generic(name).unwrap_or("answer")))
    } else if column.part == Part::Name && names {
        ended(&said)
    } else {
        ended(&format!("{}: {said}", capital(&column.label)))
    }
}
