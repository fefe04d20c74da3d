//! What no operation claimed: measures, tables and columns that stand for themselves.

use super::*;

impl Grammar<'_> {
    /// What no operation claimed.
    pub(super) fn rest(&mut self) -> Result<(), Why> {
        for at in 0..self.items.len() {
            if !self.free(at) {
                continue;
            }
            match self.target(at).cloned() {
                Some(Target::Value(table, column, value)) => {
                    self.take(at);
                    self.absorb(at, table, column);
                    self.filter(at, FilterKind::Values(table, column, vec![value]));
                }
                Some(Target::Flag(table, column, sense)) => {
                    self.take(at);
                    self.filter(at, FilterKind::Flag(table, column, sense));
                }
                Some(Target::Condition(term)) => {
                    self.take(at);
                    self.filter(at, FilterKind::Condition(term));
                }
                Some(Target::Literal(text)) => self.literal(at, text)?,
                _ => {}
            }
        }
        for at in 0..self.items.len() {
            if !self.free(at) {
                continue;
            }
            match self.target(at).cloned() {
                Some(Target::Metric(metric)) => {
                    self.take(at);
                    if self.frame.rank.as_ref().is_some_and(|rank| rank.by.is_none()) {
                        self.set_rank(By::Measure(Measure::Metric(metric)));
                    } else if !self.frame.measures.contains(&Measure::Metric(metric)) {
                        self.frame.measures.push(Measure::Metric(metric));
                    }
                }
                Some(Target::Table(table)) => {
                    self.take(at);
                    self.loose_table(at, table);
                }
                Some(Target::Column(table, column)) => {
                    self.take(at);
                    self.loose_column(table, column)?;
                }
                _ => {}
            }
        }
        self.owner();
        Ok(())
    }

    pub(super) fn loose_table(&mut self, at: usize, table: usize) {
        let open =
            self.frame.measures.is_empty() && self.frame.entity.is_none() && self.frame.share.is_none();
        if !open {
            self.frame.context.push((table, at));
            return;
        }
        let ranked_by_own = self.frame.rank.as_ref().is_none_or(|rank| match &rank.by {
            Some(By::Column(owner, _)) => *owner == table,
            _ => true,
        });
        let counted = !self.frame.groups.is_empty() || self.counted(at);
        if self.frame.rank.is_none() && counted {
            self.frame.measures.push(Measure::Count(table));
        } else if ranked_by_own {
            self.frame.entity = Some(Key::Table(table));
        } else {
            self.frame.context.push((table, at));
        }
    }

    /// `customer count`.
    pub(super) fn counted(&self, at: usize) -> bool {
        matches!(self.word(at + 1), "count" | "number") && self.op(at + 1) == Some(&Op::Word)
    }

    pub(super) fn loose_column(&mut self, table: usize, column: usize) -> Result<(), Why> {
        if self.family(table, column) == Family::Time {
            self.frame.time_columns.push((table, column));
            return Ok(());
        }
        if self.frame.measures.is_empty() && self.frame.share.is_none() {
            self.frame.outputs.push((table, column));
            return Ok(());
        }
        Err(Why::Kind(format!("what {} does here is not clear", self.column_name(table, column))))
    }
}
