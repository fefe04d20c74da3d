//! A text that the data spells otherwise.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::repair::ProbeFinding;

use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::misspelt::findings;
use crate::tokens::{Kind, inside, literal};

/// Replaces each literal by the one spelling that the host's diagnostic found for it, all of them at once.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    respell(case).into_iter().collect()
}

fn respell(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let (mut edits, mut changes, mut reasons): (Vec<Edit>, Vec<String>, Vec<String>) = Default::default();
    for finding in findings(case.input) {
        let [spelling] = finding.spellings.as_slice() else { continue };
        let wanted = wanted(&finding);
        // Another pattern would be another question, unless only its letters are of the wrong case.
        let pattern = wanted.contains(['%', '_']) && wanted.to_lowercase() != spelling.to_lowercase();
        if wanted == *spelling || pattern {
            continue;
        }
        let mut found = places(case, &finding, &wanted);
        found.retain(|place| !edits.iter().any(|edit| edit.span == place.span));
        if found.is_empty() {
            continue;
        }
        edits.extend(found.into_iter().map(|place| {
            let with = if place.in_array { element(spelling) } else { literal(spelling) };
            Edit::replace(place.span, with)
        }));
        changes.push(format!("{} is now {}.", literal(&wanted), literal(spelling)));
        reasons.push(format!(
            "{}.{} has no value {} as the query compares it, and this is the one that is spelt nearly so.",
            finding.column.table.name,
            finding.column.column,
            literal(&wanted)
        ));
    }
    (!edits.is_empty()).then(|| Proposal { edits, change: changes.join(" "), reason: reasons.join(" ") })
}

/// The value that a finding is about, without quotes.
fn wanted(finding: &ProbeFinding) -> String {
    if finding.literal.starts_with('\'') {
        inside(&finding.literal).replace("''", "'")
    } else {
        finding.literal.clone()
    }
}

/// Where a value stands.
struct Place {
    span: Range<usize>,
    /// Whether it is an element of an array that one literal writes.
    in_array: bool,
}

/// Where the text compares the column with this value.
fn places(case: &Case<'_, impl Host>, finding: &ProbeFinding, wanted: &str) -> Vec<Place> {
    let tokens = &case.tokens;
    let texts = || {
        (0..tokens.all.len())
            .filter(|index| {
                tokens.kind(*index) == Some(Kind::Text) && tokens.written(*index).starts_with('\'')
            })
            .filter_map(|index| Some((index, case.span(index)?)))
    };
    let written: Vec<Range<usize>> = texts()
        .filter(|(index, _)| inside(tokens.written(*index)).replace("''", "'") == wanted)
        .map(|(_, span)| span)
        .collect();
    let arrays: Vec<Range<usize>> =
        texts().filter(|(index, _)| tokens.written(*index).starts_with("'{")).map(|(_, span)| span).collect();
    if let ([only], []) = (written.as_slice(), arrays.as_slice()) {
        return vec![Place { span: only.clone(), in_array: false }];
    }
    // The same text may be compared with other columns too; the gate knows which is which.
    let Ok(facts) = case.host.check(tokens.text) else { return Vec::new() };
    let compared = facts.literals.into_iter().filter(|found| found.column == finding.column);
    let spans = compared.map(|found| (found.start as usize..found.end as usize, found.literal));
    spans
        .filter_map(|(span, literal)| {
            let inside = |array: &Range<usize>| array.start < span.start && span.end < array.end;
            let in_array = arrays.iter().any(inside) && literal == wanted;
            (in_array || written.contains(&span)).then_some(Place { span, in_array })
        })
        .collect()
}

/// A value as an element of an array in a literal: between quotes of its own, unless it is a plain word.
fn element(value: &str) -> String {
    let plain = value.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        && !value.is_empty()
        && !value.eq_ignore_ascii_case("null");
    if plain {
        return value.to_owned();
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\'', "''");
    format!("\"{escaped}\"")
}
