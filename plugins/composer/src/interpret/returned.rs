//! What a second sentence asks to be shown: `Return the name and the number of orders.`

use std::ops::Range;

use super::*;

impl Grammar<'_> {
    /// The items of a sentence that only says what is shown, when another one came before it.
    pub(super) fn clause(&self) -> Range<usize> {
        let none = 0..0;
        let stops: Vec<usize> = (0..self.items.len()).filter(|at| self.op(*at) == Some(&Op::Stop)).collect();
        for stop in stops {
            let start = self.next(stop);
            let lead =
                matches!(self.word(start), "return" | "show" | "give" | "display" | "include" | "output");
            let said = (0..stop).any(|at| matches!(self.part(at), Some(Part::Mention(_))));
            if lead && said {
                // `…, leaving out the cancelled ones` says again what rows are meant.
                let end = (start..self.items.len())
                    .find(|at| matches!(self.op(*at), Some(Op::Stop | Op::Not)))
                    .unwrap_or(self.items.len());
                let plain = !(start..end).any(|at| {
                    matches!(
                        self.op(at),
                        Some(
                            Op::Top { .. }
                                | Op::Each
                                | Op::Ratio
                                | Op::Percent
                                | Op::Compare(_)
                                | Op::Moment(_)
                                | Op::OrderBy
                        )
                    )
                });
                return if plain { start..end } else { none };
            }
        }
        none
    }

    /// Adds what the sentence asks for and what is not shown already.
    pub(super) fn returned(&mut self, clause: Range<usize>) -> Result<(), Why> {
        if clause.is_empty() {
            return Ok(());
        }
        let mut at = clause.start;
        while at < clause.end {
            if !self.free(at) {
                at += 1;
                continue;
            }
            match self.part(at).cloned() {
                Some(Part::Op(Op::Aggregate(aggregate))) => {
                    self.take(at);
                    // `the count`, `the total`: what is computed already.
                    let bare = self.noun(at).is_none_or(|noun| noun >= clause.end);
                    if bare && !self.frame.measures.is_empty() {
                        at += 1;
                        continue;
                    }
                    let (measure, after) = self.measure(at, aggregate)?;
                    self.also(measure);
                    at = after;
                    continue;
                }
                Some(Part::Op(Op::Grain(grain))) => {
                    let known = self.frame.groups.contains(&Key::Time(grain))
                        || self.frame.entity == Some(Key::Time(grain));
                    if known {
                        self.take(at);
                    }
                }
                Some(Part::Mention(Target::Metric(metric))) => {
                    self.take(at);
                    self.also(Measure::Metric(metric));
                }
                Some(Part::Mention(Target::Table(table))) => {
                    self.take(at);
                    let owner =
                        matches!(self.target(at + 1), Some(Target::Column(owner, _)) if *owner == table);
                    if !owner && !self.told(table) {
                        self.frame.context.push((table, at));
                        // `give me the order number, supplier and date`: the name of what each row points to.
                        let listed = self.frame.measures.is_empty() && self.frame.rank.is_none();
                        let label = self.schema.table(table).map(|table| table.label.clone());
                        let among = at > clause.start + 1 || matches!(self.op(at + 1), Some(Op::And));
                        if let Some([only]) = label.as_deref()
                            && listed
                            && among
                        {
                            self.frame.outputs.push((table, *only));
                        }
                    }
                }
                Some(Part::Mention(Target::Column(table, column))) => {
                    self.take(at);
                    let counted = matches!(self.word(at + 1), "count" | "counts");
                    let pair = (table, column);
                    let known = self.frame.outputs.contains(&pair)
                        || self.frame.groups.contains(&Key::Column(table, column))
                        || self.frame.entity == Some(Key::Column(table, column))
                        || self.measured_already(table, column)
                        || counted;
                    if !known {
                        self.frame.outputs.push(pair);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.frame.returned = true;
        Ok(())
    }

    /// True when a table's rows are what is listed or gathered by.
    fn told(&self, table: usize) -> bool {
        let is = |key: &Key| matches!(key, Key::Table(own) | Key::Column(own, _) if *own == table);
        self.frame.entity.as_ref().is_some_and(is)
            || self.frame.groups.iter().any(is)
            || self.frame.outputs.iter().any(|(own, _)| *own == table)
    }

    /// True when the only thing computed is computed from this column: `Return the symbol and the price`.
    fn measured_already(&self, table: usize, column: usize) -> bool {
        let of =
            |measure: &Measure| matches!(measure, Measure::Aggregate(_, t, c) if (*t, *c) == (table, column));
        let ranked = match self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
            Some(By::Measure(measure)) => of(measure),
            Some(By::Column(t, c)) => (*t, *c) == (table, column),
            _ => false,
        };
        ranked || self.frame.measures.iter().any(of)
    }

    fn also(&mut self, measure: Measure) {
        let ranked = matches!(self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref()), Some(By::Measure(by)) if *by == measure);
        if !ranked && !self.frame.measures.contains(&measure) {
            self.frame.measures.push(measure);
        }
    }
}
