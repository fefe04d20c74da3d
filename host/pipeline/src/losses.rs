//! What PostgreSQL left out of a result without an error, and what is done about it.
//!
//! A result that says nothing may be empty for it: repair gets one text to offer. Where that finds nothing either, or comes
//! to no result, the first text stands as it was. A result that says something is left alone, and the answer says what is
//! not in it; only values in another case than the data's are put right, because they are the same values.

use airlock_database::ResultSet;
use airlock_gate::{Approved, Loss, LossKind};
use airlock_runtime::contract::repair::ProbeFinding;
use airlock_runtime::contract::types::Attribute;
use airlock_types::{ErrorType, Failure, Mode};

use crate::ask::{ATTEMPTS, Ask, State};
use crate::inspect::{Looked, is_empty};
use crate::spelling::{comes_otherwise, is_certain, misspelt, warning};
use crate::took::Took;

/// Places of one kind that repair is told of.
const PLACES: usize = 64;

/// A text that may be right as it is, while repair looks for what may be missing from its result.
pub(crate) struct Standing {
    approved: Approved,
    result: ResultSet,
    looked: Looked,
    /// Values that it compares with and that the data does not have.
    absent: Vec<ProbeFinding>,
    /// Its place in the history.
    at: usize,
    assumptions: Vec<String>,
    findings: Vec<String>,
}

/// A text that ran.
pub(crate) struct Ran<'r> {
    pub approved: &'r Approved,
    pub origin: &'static str,
    pub result: &'r ResultSet,
    pub took: Took,
}

impl Standing {
    /// Whether its result says nothing.
    pub(crate) fn says_nothing(&self) -> bool {
        is_empty(&self.result)
    }

    /// Where the text loses something, for repair: the bytes of the operators, by kind.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        // What says something is left alone.
        let losses = if self.says_nothing() { self.approved.facts().losses.as_slice() } else { &[] };
        let told = |key: &str, is_of_it: &dyn Fn(&Loss) -> bool| {
            let of_it = losses.iter().filter(|loss| is_of_it(loss));
            let places: Vec<String> = of_it.take(PLACES).map(|loss| loss.at.to_string()).collect();
            (!places.is_empty()).then(|| Attribute { key: key.to_owned(), value: places.join(",") })
        };
        [
            told("loss:fraction", &|loss| loss.kind == LossKind::Fraction),
            told("loss:last-day", &|loss| loss.kind == LossKind::LastDay),
            told("loss:one-day", &|loss| loss.kind == LossKind::OneDay),
            told("loss:in-moments", &|loss| loss.in_moments),
        ]
        .into_iter()
        .flatten()
    }
}

impl Ask<'_> {
    /// Lets repair offer one text for a result that says nothing and may do so for what PostgreSQL left out.
    pub(crate) fn lossy(&mut self, ran: &Ran<'_>, looked: &Looked) -> Option<State> {
        let failure = failure(ran.approved)?;
        self.doubt(ran, looked.clone(), Vec::new(), failure)
    }

    /// Lets repair offer one text for a result that has only a part of what is asked for, because some of its values are
    /// written in another case than they have in the data. What is spelt nearly so may be another value: it is told.
    pub(crate) fn partly(&mut self, ran: &Ran<'_>, absent: &[ProbeFinding]) -> Option<State> {
        let certain: Vec<ProbeFinding> =
            absent.iter().filter(|finding| is_certain(finding)).cloned().collect();
        if certain.is_empty() {
            return None;
        }
        let failure = misspelt(&certain, ran.approved.text());
        let next = self.doubt(ran, Looked::default(), absent.to_vec(), failure)?;
        self.misspelt = certain;
        Some(next)
    }

    /// Lets a text stand while repair offers another; none where no attempt or no time is left for it.
    fn doubt(
        &mut self,
        ran: &Ran<'_>,
        looked: Looked,
        absent: Vec<ProbeFinding>,
        failure: Failure,
    ) -> Option<State> {
        let twice = ran.took.running.saturating_mul(2);
        let room = self.attempt() + 1 < ATTEMPTS && self.desk.budget.lasts(twice);
        if self.request.mode == Mode::Baseline || !room {
            return None;
        }
        self.standing = Some(Standing {
            approved: ran.approved.clone(),
            result: ran.result.clone(),
            looked,
            absent,
            at: self.history.len(),
            assumptions: self.assumptions.clone(),
            findings: self.findings.clone(),
        });
        let rows = u64::try_from(ran.result.rows.len()).unwrap_or(u64::MAX);
        self.book(ran.origin, &failure, ran.took, Some(rows));
        Some(State::Repair { failure, probe: None })
    }

    /// Answers with the text that stands, and says what may be missing from it: nothing better was found.
    pub(crate) fn stand(&mut self, standing: Standing) -> State {
        self.warn_of_losses(&standing.approved, standing.says_nothing());
        self.warnings.extend(standing.absent.iter().map(warning));
        self.restored(standing)
    }

    /// Answers with the text that stands.
    pub(crate) fn restored(&mut self, standing: Standing) -> State {
        let Standing { approved, result, looked, at, assumptions, findings, .. } = standing;
        self.assumptions = assumptions;
        self.findings = findings;
        // It was no failure after all.
        if let Some(entry) = self.history.get_mut(at) {
            (entry.error_type, entry.message, entry.hint) = (None, None, None);
        }
        if let Some(position) = self.positions.get_mut(at) {
            *position = None;
        }
        State::Answer { approved, result, looked }
    }

    /// Says what is not in a result.
    pub(crate) fn warn_of_losses(&mut self, approved: &Approved, is_empty: bool) {
        let unfound = is_empty || comes_otherwise(approved.text());
        self.warnings.extend(warnings(&approved.facts().losses, unfound));
    }
}

/// Whether a result may say nothing for this loss: one that leaves too much in empties none.
pub(crate) fn may_empty(loss: &Loss) -> bool {
    loss.kind != LossKind::NotOneDay
}

/// What speaks against a result that says nothing.
fn failure(approved: &Approved) -> Option<Failure> {
    let losses: Vec<&Loss> = approved.facts().losses.iter().filter(|loss| may_empty(loss)).collect();
    let first = losses.first()?;
    let told = each_once(losses.iter().map(|loss| why(loss)));
    let message = format!("The query found nothing, or nothing but zero. {}", told.join(" "));
    let mut failure = Failure::new(ErrorType::EmptyResult, message, approved.text());
    let before = approved.text().get(..first.at).unwrap_or_default();
    failure.position = u32::try_from(before.chars().count() + 1).ok();
    Some(failure)
}

fn why(loss: &Loss) -> String {
    let column = loss.column.as_ref().map(ToString::to_string).unwrap_or_default();
    match loss.kind {
        LossKind::Fraction => "It divides whole numbers, which drops what is behind the point.".to_owned(),
        LossKind::LastDay => {
            format!("{column} is a moment, and its range ends at the first moment of the last day.")
        }
        LossKind::OneDay | LossKind::NotOneDay => {
            format!("{column} is a moment, and it is compared with the first moment of a day.")
        }
    }
}

/// What an answer says of the losses in its query. Where every row has a moment that equals a day, it was found; `unfound`
/// where rows may have come without it.
fn warnings(losses: &[Loss], unfound: bool) -> Vec<String> {
    each_once(losses.iter().filter_map(|loss| match (loss.kind, &loss.column) {
        (LossKind::Fraction, _) => Some(
            "The query divides whole numbers: what is behind the point is dropped (7 / 2 is 3).".to_owned(),
        ),
        (LossKind::LastDay, Some(column)) => Some(format!(
            "A range of {column} ends at the first moment of its last day: what is later on that day is not in it."
        )),
        (LossKind::OneDay, Some(column)) if unfound => Some(format!(
            "{column} is compared with the first moment of a day: what is later on that day is not in it."
        )),
        (LossKind::NotOneDay, Some(column)) => Some(format!(
            "Of a day that {column} is not to be, only the first moment is left out: what is later on that day is in the result."
        )),
        (LossKind::LastDay | LossKind::OneDay | LossKind::NotOneDay, _) => None,
    }))
}

fn each_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for line in lines {
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use airlock_types::{ColumnRef, TableRef};

    use super::*;

    #[test]
    fn each_loss_is_told_once_and_an_equality_that_found_rows_is_none() {
        let column =
            |name: &str| Some(ColumnRef { table: TableRef::new("shop", "bills"), column: name.to_owned() });
        let loss = |kind, column| Loss { kind, at: 0, column, in_moments: false };
        let losses = [
            loss(LossKind::Fraction, None),
            loss(LossKind::Fraction, None),
            loss(LossKind::LastDay, column("paid_at")),
            loss(LossKind::LastDay, column("sent_at")),
            loss(LossKind::OneDay, column("due_at")),
            loss(LossKind::NotOneDay, column("seen_at")),
        ];
        let told = warnings(&losses, false);
        assert_eq!(told.len(), 4, "{told:?}");
        let empty = warnings(&losses, true);
        assert_eq!(empty.len(), 5, "{empty:?}");
        assert!(empty.iter().any(|line| line.contains("shop.bills.due_at")), "{empty:?}");
        assert!(told.iter().any(|line| line.contains("that shop.bills.seen_at is not to be")), "{told:?}");
        assert!(told.iter().any(|line| line.contains("shop.bills.paid_at")), "{told:?}");
        assert!(told.iter().any(|line| line.contains("shop.bills.sent_at")), "{told:?}");
    }
}
