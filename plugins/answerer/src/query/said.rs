//! Whether what a query keeps to was said.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::stems::stem;
use airlock_plugin_sdk::words;

use super::comparison::{Condition, Test};
use super::{Query, excludes, name_stems};
use crate::counted::is_marker;
use crate::decimal::Decimal;

/// What a question and its answer say.
pub struct Said<'a> {
    /// Stems of all words.
    pub stems: BTreeSet<String>,
    pub numbers: Vec<Decimal>,
    /// The days that the query keeps to.
    pub timed: bool,
    /// Terms that stand for conditions.
    pub vouched: Vec<&'a Query>,
}

impl Query {
    /// Whether it keeps to something that was not said.
    pub fn leaves_unsaid(&self, said: &Said<'_>) -> bool {
        let vouched = |condition: &Condition| {
            said.vouched.iter().any(|term| term.kept.conditions.iter().any(|known| known.is(condition)))
        };
        self.kept.conditions.iter().any(|condition| !is_said(condition, said) && !vouched(condition))
    }

    /// Stems of the columns whose conditions were said: `total` where bills with a total above 500 are asked for.
    pub fn column_stems(&self, said: &Said<'_>) -> BTreeSet<String> {
        let told = self.kept.conditions.iter().filter(|condition| is_said(condition, said));
        told.flat_map(|condition| name_stems(&condition.side.name)).collect()
    }

    /// Whether a stem is of a value that it leaves out.
    pub fn leaves_out(&self, part: &str) -> bool {
        let of = |condition: &Condition| match &condition.test {
            Test::Not(values) => values.iter().any(|value| value.stems.contains(part)),
            _ => false,
        };
        self.kept.conditions.iter().any(of)
    }

    /// Whether a stem is the word by which a sentence says that it leaves something out, where the query does.
    pub fn turns_out(&self, part: &str, said: &Said<'_>) -> bool {
        let leaves_out =
            |condition: &Condition| matches!(condition.test, Test::Not(_)) && is_said(condition, said);
        super::EXCLUDING.iter().any(|word| stem(word) == part) && self.kept.conditions.iter().any(leaves_out)
    }

    /// Whether a condition is on a column of the relation that is called so.
    pub fn asks_of(&self, alias: &str) -> bool {
        self.kept.conditions.iter().any(|condition| condition.side.qualifier.as_deref() == Some(alias))
    }
}

/// Whether a stem is of a word that leaves out what stands behind it.
pub fn is_excluding(part: &str) -> bool {
    super::EXCLUDING.iter().any(|word| stem(word) == part)
}

fn is_said(condition: &Condition, said: &Said<'_>) -> bool {
    match &condition.test {
        Test::One(values) => {
            values.iter().all(|value| !value.stems.is_empty() && value.stems.is_subset(&said.stems))
        }
        Test::Not(values) => {
            let all =
                values.iter().all(|value| !value.stems.is_empty() && value.stems.is_subset(&said.stems));
            all && excludes(&said.stems)
        }
        Test::Bound { number, .. } => said.numbers.contains(number),
        Test::Days(..) | Test::Part(..) => said.timed,
        Test::Holds => {
            let parts = words::identifier_words(&condition.side.name).into_iter().map(|part| stem(&part));
            let mut parts = parts.filter(|part| !is_marker(part)).peekable();
            parts.peek().is_some() && parts.all(|part| said.stems.contains(&part))
        }
    }
}
