//! What a superlative goes by.

use super::*;

impl Grammar<'_> {
    pub(super) fn superlative(&mut self, at: usize, descending: bool, quality: Quality) -> Result<(), Why> {
        self.take(at);
        let plural = self.frame.entity.is_some() && self.entity_is_plural();
        let by_known = self.frame.rank.as_ref().is_some_and(|rank| rank.by.is_some());
        if by_known {
            return Err(Why::Kind("two superlatives in one question".into()));
        }
        match &mut self.frame.rank {
            Some(rank) => rank.descending = descending,
            None => {
                let count = self.count.or(if plural { None } else { Some(1) });
                self.one = self.count.is_none();
                self.frame.rank = Some(Rank { count, descending, by: None });
            }
        }
        self.sized |=
            matches!(self.word(at), "highest" | "largest" | "biggest" | "greatest" | "lowest" | "smallest");
        let by = match quality {
            Quality::Amount | Quality::Size => self.quantity(at, quality)?,
            Quality::Frequency => {
                if let Some(noun) = self.noun(at) {
                    self.become_entity(noun);
                }
                Some(By::Quality(Quality::Frequency))
            }
            Quality::Recency
            | Quality::Price
            | Quality::Age
            | Quality::Length
            | Quality::Height
            | Quality::Weight
            | Quality::Rating => {
                if let Some(noun) = self.noun(at) {
                    if let Some(Target::Column(table, column)) = self.target(noun).cloned()
                        && matches!(self.family(table, column), Family::Time | Family::Number)
                    {
                        self.take(noun);
                        Some(By::Column(table, column))
                    } else {
                        self.become_entity(noun);
                        Some(By::Quality(quality))
                    }
                } else {
                    Some(By::Quality(quality))
                }
            }
        };
        if let Some(rank) = &mut self.frame.rank {
            rank.by = by;
        }
        Ok(())
    }

    /// What `the most …` and `the highest …` go by.
    pub(super) fn quantity(&mut self, at: usize, quality: Quality) -> Result<Option<By>, Why> {
        let next = self.next(at);
        if let Some(Op::Aggregate(aggregate)) = self.op(next).cloned() {
            self.take(next);
            return Ok(Some(By::Measure(self.measure(next, aggregate)?.0)));
        }
        if let Some(Op::Grain(grain)) = self.op(next).cloned()
            && self.frame.entity.is_none()
        {
            self.frame.entity = Some(Key::Time(grain));
            self.take(next);
            return Ok(None);
        }
        let Some(noun) = self.noun(at) else { return Ok(None) };
        match self.target(noun).cloned() {
            Some(Target::Metric(metric)) => {
                self.ranked(noun);
                Ok(Some(By::Measure(Measure::Metric(metric))))
            }
            Some(Target::Column(table, column)) => {
                let number = self.family(table, column) == Family::Number;
                let key = self.schema.column(table, column).is_some_and(|column| column.key);
                self.take(noun);
                if quality == Quality::Amount && (!number || key) {
                    return Ok(Some(By::Measure(Measure::CountValues(table, column))));
                }
                if !number && self.family(table, column) != Family::Time {
                    return Err(Why::Kind(format!(
                        "a rank by {}, which is no number",
                        self.column_name(table, column)
                    )));
                }
                if quality == Quality::Amount && self.frame.entity != Some(Key::Table(table)) {
                    return Ok(Some(By::Measure(Measure::Aggregate(Aggregate::Sum, table, column))));
                }
                Ok(Some(By::Column(table, column)))
            }
            Some(Target::Table(table)) if quality == Quality::Amount => {
                self.take(noun);
                Ok(Some(By::Measure(Measure::Count(table))))
            }
            Some(Target::Table(table)) => {
                // `highest product price`, or `biggest supplier by cost`.
                if let Some(Target::Column(owner, column)) = self.target(noun + 1).cloned()
                    && self.free(noun + 1)
                    && self.family(owner, column) == Family::Number
                {
                    self.take(noun);
                    self.take(noun + 1);
                    if owner != table {
                        return Err(Why::Kind(format!(
                            "{} is no number of {}",
                            self.column_name(owner, column),
                            self.name(table)
                        )));
                    }
                    return Ok(Some(By::Column(owner, column)));
                }
                self.become_entity(noun);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// `best selling items, by quantity`: the column after `by` is what the measure is made of.
    pub(super) fn repeats(&self, at: usize) -> bool {
        let Some(By::Measure(Measure::Metric(term))) =
            self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref())
        else {
            return false;
        };
        let next = self.next(at);
        // `best sellers, by units`: a word of the measure's own name.
        let stems = |item: &Item| -> Vec<String> {
            let tokens = (item.first..item.end).filter_map(|at| self.reading.tokens.get(at));
            tokens.map(|token| token.stem.clone()).collect()
        };
        let said = self.items.get(next).map(stems).unwrap_or_default();
        let named = self.glossary.terms.get(*term).is_some_and(|term| {
            term.names
                .iter()
                .any(|name| !said.is_empty() && said.iter().all(|stem| name.words.contains(stem)))
        });
        if named && matches!(self.part(next), Some(Part::Mention(_))) {
            return true;
        }
        let Some(Target::Column(table, column)) = self.target(next) else { return false };
        let name = self.schema.column(*table, *column).map_or("", |column| column.name.as_str());
        self.glossary.terms.get(*term).is_some_and(|term| {
            term.metrics.iter().any(|metric| {
                metric.table == *table
                    && crate::fragment::columns(&metric.sql).iter().any(|(_, column)| column == name)
            })
        })
    }

    pub(super) fn set_rank(&mut self, by: By) {
        if let Some(rank) = &mut self.frame.rank {
            rank.by = Some(by);
        }
    }
}
