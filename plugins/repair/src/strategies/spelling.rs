//! A text that the data spells otherwise.

use airlock_plugin_sdk::Host;

use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, inside, literal};

/// Replaces the literal by the one spelling that the host's diagnostic found.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    respell(case).into_iter().collect()
}

fn respell(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let probe = case.input.probe.as_ref()?;
    let [spelling] = probe.spellings.as_slice() else { return None };
    let wanted = if probe.literal.starts_with('\'') {
        inside(&probe.literal).replace("''", "'")
    } else {
        probe.literal.clone()
    };
    if wanted == *spelling || wanted.contains(['%', '_']) {
        return None;
    }
    let tokens = &case.tokens;
    let written: Vec<usize> = (0..tokens.all.len())
        .filter(|index| {
            tokens.kind(*index) == Some(Kind::Text)
                && tokens.written(*index).starts_with('\'')
                && inside(tokens.written(*index)).replace("''", "'") == wanted
        })
        .collect();
    let edits: Vec<Edit> = match written.as_slice() {
        [only] => vec![Edit::replace(case.span(*only)?, literal(spelling))],
        // The same text may be compared with other columns too; the gate knows which is which.
        _ => {
            let facts = case.host.check(tokens.text).ok()?;
            let compared = facts.literals.into_iter().filter(|found| found.column == probe.column);
            let spans = compared.map(|found| found.start as usize..found.end as usize);
            spans
                .filter(|span| written.iter().any(|index| case.span(*index).as_ref() == Some(span)))
                .map(|span| Edit::replace(span, literal(spelling)))
                .collect()
        }
    };
    if edits.is_empty() {
        return None;
    }
    Some(Proposal {
        edits,
        change: format!("{} is now {}.", literal(&wanted), literal(spelling)),
        reason: format!(
            "{}.{} has no value {}, and this is the one that is spelt nearly so.",
            probe.column.table.name,
            probe.column.column,
            literal(&wanted)
        ),
    })
}
