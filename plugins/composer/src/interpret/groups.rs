//! What rows are gathered and ordered by.

use super::*;

impl Grammar<'_> {
    /// Mentions after `per`, joined by `and`.
    pub(super) fn group(&mut self, at: usize) -> Result<(), Why> {
        self.take(at);
        // `list each product with its category`: a list, where nothing is computed.
        let listed = at.checked_sub(1).is_some_and(|before| self.op(before) == Some(&Op::List));
        let computes = self.items.iter().any(|item| {
            matches!(
                item.part,
                Part::Op(Op::Aggregate(_) | Op::HowMuch | Op::Percent | Op::Ratio)
                    | Part::Mention(Target::Metric(_))
            )
        });
        if listed
            && !computes
            && self.frame.entity.is_none()
            && let Some(Target::Table(table)) = self.target(self.next(at)).cloned()
        {
            let next = self.next(at);
            self.take(next);
            self.frame.entity = Some(Key::Table(table));
            return Ok(());
        }
        let mut next = self.next(at);
        let mut found = false;
        loop {
            while matches!(self.op(next), Some(Op::Distinct)) {
                self.take(next);
                next = self.next(next);
            }
            let key = match self.part(next).cloned() {
                Some(Part::Op(Op::Grain(grain))) => Key::Time(grain),
                Some(Part::Mention(Target::Table(table))) => {
                    match self.target(next + 1).cloned() {
                        // `per product category`: a column of another table than its lead.
                        Some(Target::Column(owner, column))
                            if self.free(next + 1) && self.family(owner, column) != Family::Number =>
                        {
                            self.take(next);
                            next += 1;
                            if owner != table {
                                self.frame.context.push((table, next));
                            }
                            Key::Column(owner, column)
                        }
                        _ => Key::Table(table),
                    }
                }
                Some(Part::Mention(Target::Column(table, column))) => Key::Column(table, column),
                _ if found => break,
                _ => {
                    return Err(Why::Kind(
                        "a grouping by something that is no table, column or step of time".into(),
                    ));
                }
            };
            if !self.free(next) {
                break;
            }
            self.take(next);
            self.frame.groups.push(key);
            found = true;
            let mut after = next + 1;
            if self.op(after) != Some(&Op::And) {
                break;
            }
            // `from each country, for customers who …`: no second key.
            if matches!(
                self.word(after + 1),
                "for" | "from" | "in" | "with" | "who" | "that" | "which" | "where"
            ) {
                break;
            }
            after = self.next(after);
            if matches!(self.op(after), Some(Op::Each | Op::By)) {
                self.take(after);
                after = self.next(after);
            }
            next = after;
        }
        Ok(())
    }

    pub(super) fn by(&mut self, at: usize) -> Result<(), Why> {
        if matches!(self.op(self.next(at)), Some(Op::Moment(_))) {
            return Err(Why::Kind("`by` before a time, which may mean until it".into()));
        }
        // `paid by UPI`: whether paid in full, or at all, is not said.
        let value = |at: Option<usize>| {
            at.is_some_and(|at| matches!(self.part(at), Some(Part::Mention(Target::Value(..)))))
        };
        if value(at.checked_sub(1)) && value(Some(self.next(at))) {
            return Err(Why::Ambiguous("a state that something else brings about".into()));
        }
        let open = self.frame.rank.as_ref().is_some_and(|rank| rank.by.is_none());
        let directed = self.items.iter().any(|item| matches!(item.part, Part::Op(Op::Direction { .. })));
        if directed && !open && self.frame.measures.is_empty() && self.free_metric().is_none() {
            return self.order(at);
        }
        if self.repeats(at) {
            self.take(at);
            let next = self.next(at);
            self.take(next);
            return Ok(());
        }
        if !open {
            let asks = !self.frame.measures.is_empty()
                || self.frame.share.is_some()
                || self.free_metric().is_some()
                || self.free_table().is_some();
            if asks && !matches!(self.op(self.next(at)), Some(Op::Aggregate(_))) {
                let next = self.next(at);
                // `transactions by users who joined`: the doer after a passive is no grouping.
                // `paid by UPI` restricts.
                let kind = matches!(
                    self.part(next),
                    Some(Part::Mention(Target::Table(_) | Target::Column(..) | Target::Metric(_)))
                        | Some(Part::Op(Op::Grain(_)))
                );
                // `transactions by users who joined in May`: whose they are.
                let whose = matches!(self.target(next), Some(Target::Table(_)))
                    && matches!(self.op(self.next(next)), Some(Op::Who));
                if kind && !whose && (!self.passive(at) || self.gathers(at, next)) {
                    return self.group(at);
                }
            }
            self.take(at);
            return Ok(());
        }
        self.take(at);
        let next = self.next(at);
        if let Some(Op::Aggregate(aggregate)) = self.op(next).cloned() {
            self.take(next);
            // `top 5 bills by total`: the total of each.
            if aggregate == Aggregate::Sum
                && self.noun(next).is_none()
                && let Some(Key::Table(table)) = self.frame.entity
                && let Some(column) = self.schema.table(table).and_then(|table| table.amount())
            {
                self.set_rank(By::Column(table, column));
                return Ok(());
            }
            let (measure, _) = self.measure(next, aggregate)?;
            self.set_rank(By::Measure(measure));
            return Ok(());
        }
        let Some(noun) = self.noun(at) else {
            return Err(Why::Kind("a rank by something that is not known".into()));
        };
        match self.target(noun).cloned() {
            Some(Target::Metric(metric)) => self.set_rank(By::Measure(Measure::Metric(metric))),
            Some(Target::Column(table, column)) => {
                let own = self.frame.entity == Some(Key::Table(table));
                let by = if own {
                    By::Column(table, column)
                } else {
                    By::Measure(self.column_measure(Aggregate::Sum, table, column, false)?)
                };
                self.set_rank(by);
            }
            Some(Target::Table(table)) => self.set_rank(By::Measure(Measure::Count(table))),
            _ => return Err(Why::Kind("a rank by a value".into())),
        }
        self.take(noun);
        Ok(())
    }

    /// `units sold by category`: a measure's own name ends in the participle, or what follows is one word for a kind.
    fn gathers(&self, at: usize, next: usize) -> bool {
        let metric = at
            .checked_sub(1)
            .is_some_and(|before| matches!(self.part(before), Some(Part::Mention(Target::Metric(_)))));
        let single = self
            .items
            .get(next)
            .and_then(|item| self.reading.tokens.get(item.end.saturating_sub(1)))
            .is_some_and(|token| !token.lower.ends_with('s') || token.lower.ends_with("ss"));
        let alone = !matches!(
            self.part(self.next(next)),
            Some(Part::Mention(_)) | Some(Part::Op(Op::Quoted | Op::Word | Op::Who | Op::Which))
        );
        metric || matches!(self.op(next), Some(Op::Grain(_))) || (single && alone)
    }

    /// True when a participle stands before `by`: `made by customers`.
    pub(super) fn passive(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| {
            let last =
                self.items.get(before).and_then(|item| self.reading.tokens.get(item.end.saturating_sub(1)));
            last.is_some_and(|token| {
                let participle = stems::is_participle(&token.lower);
                participle && !matches!(token.lower.as_str(), "grouped" | "ordered" | "sorted" | "ranked")
            })
        })
    }

    pub(super) fn free_metric(&self) -> Option<usize> {
        (0..self.items.len()).find(|at| self.free(*at) && matches!(self.target(*at), Some(Target::Metric(_))))
    }

    pub(super) fn free_table(&self) -> Option<usize> {
        (0..self.items.len()).find(|at| self.free(*at) && matches!(self.target(*at), Some(Target::Table(_))))
    }

    pub(super) fn grain(&mut self, at: usize, grain: Grain) -> Result<(), Why> {
        let word = self.word(at);
        // `that year`: the time named before.
        let pointed = at.checked_sub(1).is_some_and(|before| matches!(self.word(before), "that" | "same"));
        if pointed && !self.frame.moments.is_empty() {
            self.take(at);
            return Ok(());
        }
        if word.ends_with("ly") || matches!(word, "annual" | "over") {
            self.take(at);
            self.frame.groups.push(Key::Time(grain));
            return Ok(());
        }
        Err(Why::Kind(format!("`{word}` used in a way that is not understood")))
    }

    pub(super) fn order(&mut self, at: usize) -> Result<(), Why> {
        self.take(at);
        let next = self.next(at);
        let mut descending =
            self.items.iter().any(|item| item.part == Part::Op(Op::Direction { descending: true }));
        let by = match self.part(next).cloned() {
            Some(Part::Op(Op::Aggregate(aggregate))) => {
                self.take(next);
                Some(By::Measure(self.measure(next, aggregate)?.0))
            }
            Some(Part::Op(Op::Direction { descending: way })) => {
                descending = way;
                None
            }
            Some(Part::Mention(Target::Column(table, column))) => {
                self.take(next);
                Some(By::Column(table, column))
            }
            Some(Part::Mention(Target::Metric(metric))) => {
                self.take(next);
                Some(By::Measure(Measure::Metric(metric)))
            }
            Some(Part::Mention(Target::Table(_))) => {
                self.take(next);
                None
            }
            _ => return Err(Why::Kind("an order by something that is not known".into())),
        };
        self.frame.order = Some((by, descending));
        Ok(())
    }
}
