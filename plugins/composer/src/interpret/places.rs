//! The place of each thing when all are ordered by a measure: `rank of each category by revenue`.

use super::*;

impl Grammar<'_> {
    /// `on weekends`, `on weekdays`.
    pub(super) fn weekend(&mut self) {
        for at in 1..self.items.len() {
            let led = matches!(self.word(at - 1), "on" | "during" | "the" | "at");
            let sense = match self.word(at) {
                "weekend" | "weekends" => true,
                "weekday" | "weekdays" => false,
                _ => continue,
            };
            if led && self.op(at) == Some(&Op::Word) {
                self.take(at);
                self.meant.push(at);
                self.frame.weekend = Some(sense);
            }
        }
    }

    /// Reads `rank` as a noun or as a verb, with the things it ranks and what they are ranked by.
    pub(super) fn place(&mut self) -> Result<(), Why> {
        let rank = (0..self.items.len()).find(|at| {
            self.op(*at) == Some(&Op::Word) && matches!(self.word(*at), "rank" | "ranking" | "ranks")
        });
        let Some(rank) = rank else { return Ok(()) };
        let by = (rank + 1..self.items.len().min(rank + 9)).find(|at| self.op(*at) == Some(&Op::By));
        let Some(by) = by else { return Ok(()) };
        let key = (rank + 1..by).rev().find_map(|at| self.key(at).map(|key| (at, key)));
        // `customer rank by total amount`: the things stand before.
        let before = || rank.checked_sub(1).and_then(|at| self.key(at).map(|key| (at, key)));
        let Some((at, key)) = key.or_else(before) else {
            return Err(Why::Kind("a rank of something that is no table or column".into()));
        };
        let next = self.next(by);
        let (measure, after) = match self.part(next).cloned() {
            Some(Part::Op(Op::Aggregate(aggregate))) => {
                self.take(next);
                self.measure(next, aggregate)?
            }
            Some(Part::Mention(Target::Metric(metric))) => (Measure::Metric(metric), next + 1),
            Some(Part::Mention(Target::Column(table, column))) if Key::Table(table) != key => {
                (self.column_measure(Aggregate::Sum, table, column, false)?, next + 1)
            }
            _ => return Err(Why::Kind("a rank by something that is not computed".into())),
        };
        for place in [rank, by, at] {
            self.take(place);
        }
        for place in at.min(rank)..after {
            if matches!(self.op(place), Some(Op::Each | Op::Link)) || place == after - 1 {
                self.take(place);
            }
        }
        self.meant.push(rank);
        self.frame.groups.push(key);
        self.frame.place = Some(measure);
        Ok(())
    }

    fn key(&self, at: usize) -> Option<Key> {
        match self.target(at) {
            Some(Target::Table(table)) => Some(Key::Table(*table)),
            Some(Target::Column(table, column)) if self.family(*table, *column) != Family::Number => {
                Some(Key::Column(*table, *column))
            }
            _ => None,
        }
    }
}
