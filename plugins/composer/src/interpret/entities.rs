//! What is listed or ranked: the nouns after `which`, `list` and `top`.

use super::*;

impl Grammar<'_> {
    /// `list`, `which`, `who`: what is listed. After a noun, `which` and `who` only bind.
    pub(super) fn listed(&mut self, at: usize) {
        self.take(at);
        let relative =
            self.before(at).is_some_and(|before| matches!(self.part(before), Some(Part::Mention(_))));
        if relative && self.op(at) != Some(&Op::List) {
            return;
        }
        let mut next = at + 1;
        loop {
            match self.part(next).cloned() {
                Some(Part::Op(Op::Link | Op::Distinct | Op::And | Op::List | Op::Which | Op::Who)) => {}
                Some(Part::Op(Op::Word)) if self.light(next) => {}
                Some(Part::Op(Op::Grain(grain))) if self.frame.entity.is_none() => {
                    self.frame.entity = Some(Key::Time(grain));
                    self.take(next);
                    return;
                }
                Some(Part::Op(Op::Number(count)))
                    if self.ranks_later(next)
                        && count.fract() == 0.0
                        && (1.0..=10_000.0).contains(&count) =>
                {
                    self.count = Some(count as u32);
                    self.take(next);
                }
                Some(Part::Mention(
                    Target::Value(..) | Target::Text(..) | Target::Flag(..) | Target::Condition(_),
                )) => {}
                Some(Part::Mention(Target::Column(table, column))) if self.free(next) => {
                    // A column that is compared or holds a value restricts; it is not shown for itself.
                    if self.restricts(next) {
                        return;
                    }
                    // `the names of the authors who …`: the authors are listed.
                    if self.frame.entity.is_none() && self.frame.outputs.is_empty() && self.owned(next, table)
                    {
                        self.frame.entity = Some(Key::Table(table));
                    }
                    self.frame.outputs.push((table, column));
                    self.take(next);
                }
                Some(Part::Mention(Target::Table(table)))
                    if self.free(next) && self.frame.entity.is_none() =>
                {
                    self.frame.entity = Some(Key::Table(table));
                    self.take(next);
                    // `names of students and their grades` goes on; a clause that follows does not.
                    if !matches!(self.op(next + 1), Some(Op::And)) {
                        return;
                    }
                }
                _ => return,
            }
            next += 1;
        }
    }

    /// True when a column is named with its table and a clause about that table follows.
    fn owned(&self, at: usize, table: usize) -> bool {
        let mut names = self.schema.table(table).map(|table| table.names.concat()).unwrap_or_default();
        // The `payment` of `payment method` is a word of the column.
        if let Some(Target::Column(_, column)) = self.target(at)
            && let Some(column) = self.schema.column(table, *column)
        {
            names.retain(|stem| !column.names.iter().flatten().any(|own| own == stem));
        }
        let with = self.items.get(at).is_some_and(|item| {
            (item.first..item.end)
                .filter_map(|at| self.reading.tokens.get(at))
                .any(|token| names.contains(&token.stem))
        });
        let clause =
            !matches!(self.op(at + 1), None | Some(Op::And | Op::Stop | Op::OrderBy | Op::Direction { .. }));
        with && clause
    }

    /// True when a superlative stands behind a number and the noun it counts.
    pub(super) fn ranks_later(&self, at: usize) -> bool {
        let noun = matches!(self.target(at + 1), Some(Target::Table(_) | Target::Column(..)));
        noun && (at..self.items.len()).any(|at| matches!(self.op(at), Some(Op::Superlative { .. })))
    }

    /// True when a condition follows a column: `with a rating above 4`, `named "X"`.
    pub(super) fn restricts(&self, at: usize) -> bool {
        let mut next = at + 1;
        while self.light(next) {
            next += 1;
        }
        matches!(self.op(next), Some(Op::Compare(_) | Op::Between))
            || (matches!(self.target(next), Some(Target::Literal(_))))
            || (next == at + 1 && matches!(self.op(next), Some(Op::Number(_))))
    }

    pub(super) fn top(&mut self, at: usize, count: u32, descending: bool) -> Result<(), Why> {
        self.take(at);
        let mut descending = descending;
        let mut rank = Rank { count: Some(count), descending, by: None };
        let next = self.next(at);
        if let Some(Op::Superlative { descending: order, quality }) = self.op(next).cloned() {
            descending = order;
            rank.descending = descending;
            self.take(next);
            if !matches!(quality, Quality::Amount | Quality::Size) {
                rank.by = Some(By::Quality(quality));
            }
            if quality == Quality::Amount {
                return Err(Why::Kind("a rank without a thing to rank".into()));
            }
        }
        self.frame.rank = Some(rank);
        if matches!(self.word(next), "combination" | "combinations" | "pair" | "pairs") {
            self.take(next);
            self.meant.push(next);
            self.frame.combined = true;
            return self.group(next);
        }
        let noun = self.noun(at.max(next - 1)).or_else(|| self.noun(next));
        if let Some(noun) = noun {
            self.ranked(noun);
        } else if let Some(Op::Grain(grain)) = self.op(self.next(at)).cloned()
            && self.frame.entity.is_none()
        {
            self.frame.entity = Some(Key::Time(grain));
            self.take(self.next(at));
        }
        Ok(())
    }

    /// The noun after a superlative: the entity, or a measure that leads it as in `best selling products`.
    pub(super) fn ranked(&mut self, noun: usize) {
        if let Some(Target::Metric(metric)) = self.target(noun).cloned() {
            self.take(noun);
            self.set_rank(By::Measure(Measure::Metric(metric)));
            if let Some(next) = self.noun(noun).filter(|next| *next == noun + 1) {
                self.become_entity(next);
            }
        } else {
            self.become_entity(noun);
        }
    }

    pub(super) fn become_entity(&mut self, noun: usize) {
        match self.target(noun).cloned() {
            Some(Target::Table(table)) if self.frame.entity.is_none() => {
                self.frame.entity = Some(Key::Table(table));
                self.take(noun);
                // `top 5 product categories`: the column belongs to the table before it.
            }
            Some(Target::Column(table, column)) if self.frame.entity.is_none() => {
                // `top 3 names of the restaurants`
                let of = self.next(noun);
                if let Some(Target::Table(owner)) = self.target(of).cloned()
                    && owner == table
                {
                    self.frame.outputs.push((table, column));
                    self.frame.entity = Some(Key::Table(table));
                    self.take(of);
                } else {
                    self.frame.entity = Some(Key::Column(table, column));
                }
                self.take(noun);
            }
            _ => {}
        }
    }

    pub(super) fn entity_is_plural(&self) -> bool {
        let entity = self.items.iter().rev().find(|item| {
            item.used
                && match (&item.part, self.frame.entity) {
                    (Part::Mention(Target::Table(table)), Some(Key::Table(entity))) => *table == entity,
                    (Part::Mention(Target::Column(table, column)), Some(Key::Column(owner, entity))) => {
                        (*table, *column) == (owner, entity)
                    }
                    _ => false,
                }
        });
        let word = entity
            .and_then(|item| self.reading.tokens.get(item.end.saturating_sub(1)))
            .map_or("", |token| token.lower.as_str());
        word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
    }

    /// `shelf of the products` speaks of products, though the column's name swallowed the word.
    pub(super) fn owner(&mut self) {
        let plain =
            self.frame.entity.is_none() && self.frame.measures.is_empty() && self.frame.share.is_none();
        let Some((table, _)) =
            self.frame.outputs.first().copied().filter(|_| plain && self.frame.rank.is_none())
        else {
            return;
        };
        let one = self.frame.outputs.iter().all(|(owner, _)| *owner == table);
        let names = self.schema.table(table).map(|table| table.names.concat()).unwrap_or_default();
        let named = self.items.iter().any(|item| {
            matches!(item.part, Part::Mention(Target::Column(owner, _)) if owner == table)
                && (item.first..item.end)
                    .filter_map(|at| self.reading.tokens.get(at))
                    .any(|token| names.contains(&token.stem))
        });
        if one && named {
            self.frame.entity = Some(Key::Table(table));
        }
    }
}
