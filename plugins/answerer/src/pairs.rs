//! Whether a number stands beside the name whose row it is of.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::arithmetic::Derived;
use crate::decimal::Decimal;
use crate::given::Given;
use crate::refs::{Name, names, rows_with};
use crate::trace::{Mention, is_derived_percentage, numbers};

/// The first number that is in a row and stands beside the name of another row. Within a part of a sentence numbers may
/// follow their names or come before them, and not now this way and now that: then nobody knows which is whose.
pub fn mispaired(text: &str, given: &Given<'_>) -> Option<String> {
    let text = text.to_lowercase();
    let input = given.input;
    let names = names(&text, given).filter(|_| input.rows.len() > 1)?;
    let derived = Derived::of(given);
    let parts = parts(&text);
    let mut known = given.asked.clone();
    known.extend(Decimal::parse(&input.row_count.to_string()));
    // A sum of the rows that are named beside it is of none alone.
    let summed = |said: &Mention| {
        let here = parts.iter().find(|part| part.contains(&said.at));
        let rows: BTreeSet<usize> = names
            .iter()
            .filter(|name| here.is_some_and(|part| part.contains(&name.span.start)))
            .map(|name| name.row)
            .collect();
        derived.sums_of(&rows).any(|(_, sum)| said.stands_for(sum))
    };
    let said: Vec<(Mention, BTreeSet<usize>)> = numbers(&text)
        .into_iter()
        .filter(|said| said.in_digits && !said.marker && !said.step && !is_derived_percentage(said, given))
        .filter(|said| !names.iter().any(|name| name.span.contains(&said.at)))
        .filter(|said| !known.iter().any(|known| known.equals(said.value)) && !summed(said))
        .map(|said| (rows_with(&said, input), said))
        .filter(|(rows, _)| !rows.is_empty())
        .map(|(rows, said)| (said, rows))
        .collect();
    let mut before: Option<usize> = None;
    for part in &parts {
        let here: Vec<&Name> = names.iter().filter(|name| part.contains(&name.span.start)).collect();
        let told: Vec<&(Mention, BTreeSet<usize>)> =
            said.iter().filter(|(said, _)| part.contains(&said.at)).collect();
        let ahead = |said: &Mention| {
            here.iter().rfind(|name| name.span.start < said.at).map(|name| name.row).or(before)
        };
        let behind = |said: &Mention| here.iter().find(|name| name.span.start > said.at).map(|name| name.row);
        let first_ahead = told.iter().find(|(said, rows)| ahead(said).is_none_or(|row| !rows.contains(&row)));
        let first_behind =
            told.iter().find(|(said, rows)| behind(said).is_none_or(|row| !rows.contains(&row)));
        // Where no row was named yet, a number speaks of none.
        let spoken_of = !here.is_empty() || before.is_some();
        if let (true, Some((wrong, _)), Some(_)) = (spoken_of, first_ahead, first_behind) {
            return Some(wrong.written.clone());
        }
        before = here.last().map(|name| name.row).or(before);
    }
    None
}

/// The parts of a text between its full stops, semicolons and line breaks. A point between digits ends nothing.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let spaced = rest.peek().is_none_or(|(_, next)| next.is_whitespace());
        if matches!(c, ';' | '\n') || (matches!(c, '.' | '!' | '?') && spaced) {
            parts.push(start..at + c.len_utf8());
            start = at + c.len_utf8();
        }
    }
    parts.push(start..text.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{given, input};

    #[test]
    fn a_number_stands_beside_the_name_of_its_row() {
        let rows: &[&[Option<&str>]] = &[
            &[Some("Hammer 500 g"), Some("1200"), Some("90.50")],
            &[Some("Nails"), Some("900"), Some("40")],
            &[Some("Nails long"), Some("7"), Some("40")],
        ];
        let data = input(
            "Which 3 products sold most?",
            &[("name", "text"), ("units", "bigint"), ("revenue", "numeric")],
            rows,
        );
        for (text, want) in [
            ("Hammer 500 g leads with 1,200 units, followed by Nails with 900.", None),
            ("Hammer 500 g leads with 900 units, followed by Nails with 1,200.", Some("900")),
            ("With 1,200 units, Hammer 500 g leads; Nails follows with 900.", None),
            ("1,200 of Hammer 500 g and 900 of Nails were sold.", None),
            ("900 of Hammer 500 g and 1,200 of Nails were sold.", Some("900")),
            ("Hammer 500 g leads. It sold 1,200 for 90.50.", None),
            ("Hammer 500 g leads. It sold 900.", Some("900")),
            ("Nails long sold 7, Nails 900.", None),
            ("Nails long sold 900.", Some("900")),
            ("Nails and Nails long brought 40 each.", None),
            ("All 3 sold: Hammer 500 g 1,200, Nails 900, Nails long 7.", None),
            ("1. Hammer 500 g: 1,200\n2. Nails: 900", None),
            ("The most was 1,200.", None),
            // What is computed from several rows is of none.
            ("Hammer 500 g is 300 ahead of Nails.", None),
        ] {
            assert_eq!(mispaired(text, &given(&data)).as_deref(), want, "{text}");
        }
        let same: &[&[Option<&str>]] = &[&[Some("Nails"), Some("5")], &[Some("Nails"), Some("6")]];
        let same = input("?", &[("name", "text"), ("units", "bigint")], same);
        assert_eq!(mispaired("Nails sold 6.", &given(&same)), None);
    }
}
