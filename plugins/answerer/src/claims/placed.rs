//! Whether a number that several rows have is said of one of them: alone in a sentence it would be one of all rows.

use super::Claims;
use super::kinds::{Claim, claimed};
use super::sentence::Sentence;
use crate::ground::number;
use crate::trace::Mention;

impl Claims<'_> {
    /// A number of some rows in a sentence that names no row, unless all rows have it or it is the extreme that the sentence
    /// says it is. A number that only one row has names that row.
    pub(super) fn unplaced(&self, said: &Sentence<'_>) -> Option<String> {
        let names_rows = !said.refs.is_empty() || !said.cells.is_empty() || !said.before.is_empty();
        if self.input.rows.len() < 2 || names_rows {
            return None;
        }
        let high = |claim: &Claim| matches!(claim, Claim::Most | Claim::Extreme { high: true, .. });
        let low = |claim: &Claim| matches!(claim, Claim::Extreme { high: false, .. });
        let claims: Vec<Claim> = (0..said.words.len()).filter_map(|at| claimed(said, at)).collect();
        let (high, low) = (claims.iter().any(high), claims.iter().any(low));
        let wrong =
            said.numbers.iter().filter(|number| number.in_digits && !number.marker && !number.percent);
        let mut wrong = wrong.filter(|number| {
            said.time(number.at).is_none()
                && !self.is_count(number)
                && !self.given.asked.iter().any(|asked| number.stands_for(*asked))
                && self.computed(said, number).is_none()
        });
        let borne = |number: &Mention| {
            let mut held = false;
            for at in 0..self.columns.len() {
                let cells: Vec<_> = self
                    .input
                    .rows
                    .iter()
                    .map(|row| row.get(at)?.as_deref().and_then(self::number))
                    .collect();
                let is = |cell: &Option<_>| cell.is_some_and(|exact| number.stands_for(exact));
                if !cells.iter().any(is) {
                    continue;
                }
                held = true;
                let values = self.measures.iter().find(|(column, _)| *column == at).map(|(_, values)| values);
                let extreme = |most: bool| {
                    let order = |a: &&f64, b: &&f64| a.total_cmp(b);
                    let found = values.and_then(|values| {
                        if most { values.iter().max_by(order) } else { values.iter().min_by(order) }
                    });
                    let place = values.zip(found).and_then(|(values, found)| {
                        values.iter().position(|value| value.total_cmp(found).is_eq())
                    });
                    place.and_then(|place| cells.get(place)).is_some_and(is)
                };
                if cells.iter().all(is) || (high && extreme(true)) || (low && extreme(false)) {
                    return true;
                }
            }
            // What no row holds is for others to judge.
            !held
        };
        wrong.find(|number| !borne(number)).map(|number| number.written.clone())
    }
}
