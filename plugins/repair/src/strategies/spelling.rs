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
        if wanted == *spelling || wanted.contains(['%', '_']) {
            continue;
        }
        let mut found = places(case, &finding, &wanted);
        found.retain(|span| !edits.iter().any(|edit| edit.span == *span));
        if found.is_empty() {
            continue;
        }
        edits.extend(found.into_iter().map(|span| Edit::replace(span, literal(spelling))));
        changes.push(format!("{} is now {}.", literal(&wanted), literal(spelling)));
        reasons.push(format!(
            "{}.{} has no value {}, and this is the one that is spelt nearly so.",
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

/// Where the text compares the column with this value.
fn places(case: &Case<'_, impl Host>, finding: &ProbeFinding, wanted: &str) -> Vec<Range<usize>> {
    let tokens = &case.tokens;
    let written: Vec<Range<usize>> = (0..tokens.all.len())
        .filter(|index| {
            tokens.kind(*index) == Some(Kind::Text)
                && tokens.written(*index).starts_with('\'')
                && inside(tokens.written(*index)).replace("''", "'") == wanted
        })
        .filter_map(|index| case.span(index))
        .collect();
    if written.len() == 1 {
        return written;
    }
    // The same text may be compared with other columns too; the gate knows which is which.
    let Ok(facts) = case.host.check(tokens.text) else { return Vec::new() };
    let compared = facts.literals.into_iter().filter(|found| found.column == finding.column);
    let spans = compared.map(|found| found.start as usize..found.end as usize);
    spans.filter(|span| written.contains(span)).collect()
}
