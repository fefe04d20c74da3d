//! Which rows a text speaks of: by their names, and by numbers.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;

use crate::column::Column;
use crate::given::Given;
use crate::ground::{number, occurrences};
use crate::times::Origin;
use crate::trace::{Mention, is_derived_percentage, numbers};

/// A row's name in a text.
pub struct Name {
    pub span: Range<usize>,
    pub row: usize,
}

/// The names of rows in a text in small letters, longer ones before what they hold; none where no column of texts or times tells
/// the rows apart.
pub fn names(text: &str, given: &Given<'_>) -> Option<Vec<Name>> {
    let named = (0..given.columns.len()).find_map(|at| Some((at, values(at, given)?)));
    let (at, values) = named?;
    let mut found: Vec<Name> = Vec::new();
    for (row, spellings) in values.iter().enumerate() {
        for spelling in spellings {
            found.extend(occurrences(text, spelling).map(|span| Name { span, row }));
        }
    }
    // A row of a time is named by as much of it as no other row has.
    if given.columns.get(at).is_some_and(Column::is_time) {
        for (time, origin) in given.dated(text).0 {
            if let Origin::Rows(rows) = origin
                && let (Some(row), 1) = (rows.first(), rows.len())
            {
                found.push(Name { span: time.span, row: *row });
            }
        }
    }
    found.sort_by_key(|name| (std::cmp::Reverse(name.span.len()), name.span.start));
    let mut kept: Vec<Name> = Vec::new();
    for name in found {
        if !kept.iter().any(|longer| longer.span.contains(&name.span.start)) {
            kept.push(name);
        }
    }
    kept.sort_by_key(|name| name.span.start);
    Some(kept)
}

/// How a column's values may be written, row by row, where they tell the rows apart: as they are, and a period as people
/// write it.
fn values(at: usize, given: &Given<'_>) -> Option<Vec<Vec<String>>> {
    let column = given.columns.get(at)?;
    let one = |row: &Vec<Option<String>>| {
        let cell = row.get(at)?.as_deref()?;
        let said = column.is_time().then(|| column.said(Some(cell)).to_lowercase());
        let plain = number(cell).is_none().then(|| cell.to_lowercase());
        let spellings: Vec<String> = [plain, said].into_iter().flatten().collect();
        (!spellings.is_empty()).then_some(spellings)
    };
    let values: Vec<Vec<String>> = given.input.rows.iter().map(one).collect::<Option<_>>()?;
    let first: BTreeSet<&String> = values.iter().filter_map(|spellings| spellings.first()).collect();
    (first.len() == values.len()).then_some(values)
}

/// The rows that have the number.
pub fn rows_with(said: &Mention, input: &AnswerInput) -> BTreeSet<usize> {
    let has = |row: &&Vec<Option<String>>| {
        row.iter().flatten().filter_map(|cell| number(cell)).any(|exact| said.stands_for(exact))
    };
    input.rows.iter().enumerate().filter(|(_, row)| has(row)).map(|(at, _)| at).collect()
}

/// A row that a text speaks of at some place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ref {
    /// The byte it begins at.
    pub at: usize,
    pub row: usize,
}

/// Every name of a row, and every number that one row alone has, in the order of the text, which is in small letters.
pub fn refs(text: &str, given: &Given<'_>) -> Vec<Ref> {
    let names = names(text, given).unwrap_or_default();
    let mut refs: Vec<Ref> = names.iter().map(|name| Ref { at: name.span.start, row: name.row }).collect();
    let tells =
        |said: &&Mention| said.in_digits && !said.marker && !said.step && !is_derived_percentage(said, given);
    for said in numbers(text).iter().filter(tells) {
        let of_name = names.iter().any(|name| name.span.contains(&said.at));
        let rows = rows_with(said, given.input);
        if let (false, Some(row), 1) = (of_name, rows.first(), rows.len()) {
            refs.push(Ref { at: said.at, row: *row });
        }
    }
    refs.sort_by_key(|found| found.at);
    refs
}
