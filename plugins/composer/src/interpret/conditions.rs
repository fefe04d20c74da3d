//! What rows must meet: comparisons, values, negations, shares.

use super::*;

impl Grammar<'_> {
    pub(super) fn compare(&mut self, at: usize, comparison: Comparison) -> Result<(), Why> {
        let next = self.next(at);
        if self.op(next) == Some(&Op::Aggregate(Aggregate::Average)) {
            return self.above_average(at, next, comparison);
        }
        if self.against_column(at, comparison) {
            return Ok(());
        }
        let Some(Op::Number(value)) = self.op(next).cloned() else {
            return Err(Why::Kind("a comparison with something other than a number".into()));
        };
        self.take(at);
        self.take(next);
        if let Some((before, table, column)) = self.spent_by(at) {
            self.meant.push(before);
            let measure = Measure::Aggregate(Aggregate::Sum, table, column);
            self.frame.having.push((measure, comparison, value));
            return Ok(());
        }
        if let Some((before, table, column)) = self.priced_by(at) {
            self.take(before);
            self.meant.push(before);
            self.filter(at, FilterKind::Compare(table, column, comparison, value));
            return Ok(());
        }
        if let Some(before) = self.before(at)
            && let Some(Target::Column(table, column)) = self.target(before).cloned()
            && self.family(table, column) == Family::Number
            && (self.free(before) || self.frame.outputs.contains(&(table, column)))
        {
            if self.free(before) || !self.shown(table, column) {
                self.take(before);
            }
            self.filter(at, FilterKind::Compare(table, column, comparison, value));
            return Ok(());
        }
        match self.noun(next) {
            Some(noun) => match self.target(noun).cloned() {
                Some(Target::Table(table)) => {
                    self.take(noun);
                    self.frame.having.push((Measure::Count(table), comparison, value));
                    Ok(())
                }
                Some(Target::Column(table, column)) if self.family(table, column) == Family::Number => {
                    self.take(noun);
                    self.filter(at, FilterKind::Compare(table, column, comparison, value));
                    Ok(())
                }
                Some(Target::Column(table, column)) => {
                    self.take(noun);
                    self.frame.having.push((Measure::CountValues(table, column), comparison, value));
                    Ok(())
                }
                Some(Target::Metric(metric)) => {
                    self.take(noun);
                    self.frame.having.push((Measure::Metric(metric), comparison, value));
                    Ok(())
                }
                _ => Err(Why::Kind("a comparison whose quantity is not named".into())),
            },
            None => match self.sized_by(at) {
                Some((table, column)) => {
                    self.filter(at, FilterKind::Compare(table, column, comparison, value));
                    Ok(())
                }
                None => Err(Why::Kind("a comparison whose quantity is not named".into())),
            },
        }
    }

    /// `owe more than their credit limit`: a measure before, a number of the things after.
    fn against_column(&mut self, at: usize, comparison: Comparison) -> bool {
        let own = matches!(self.word(at + 1), "their" | "its");
        let (Some(before), Some(after)) = (self.before(at), self.noun(at)) else { return false };
        let (Some(Target::Metric(metric)), Some(Target::Column(table, column))) =
            (self.target(before).cloned(), self.target(after).cloned())
        else {
            return false;
        };
        if !own || !self.free(before) || self.family(table, column) != Family::Number {
            return false;
        }
        for place in [at, before, after] {
            self.take(place);
        }
        self.frame.over.push((Measure::Metric(metric), comparison, (table, column)));
        true
    }

    /// `a price higher than the average`, `above average price`.
    fn above_average(&mut self, at: usize, mean: usize, comparison: Comparison) -> Result<(), Why> {
        let numbers = |target: Option<&Target>| match target {
            Some(Target::Column(table, column)) if self.family(*table, *column) == Family::Number => {
                Some((*table, *column))
            }
            _ => None,
        };
        let before = self.before(at).and_then(|before| Some((before, numbers(self.target(before))?)));
        let after = self.noun(mean).and_then(|after| Some((after, numbers(self.target(after))?)));
        let (places, (table, column)) = match (before, after) {
            (Some((a, own)), Some((b, other))) if own == other => (vec![a, b], own),
            (Some((a, own)), None) => (vec![a], own),
            (None, Some((b, own))) => (vec![b], own),
            _ => return Err(Why::Kind("a comparison with an average of something else".into())),
        };
        for place in places.into_iter().chain([at, mean]) {
            self.take(place);
        }
        self.frame.outputs.retain(|output| *output != (table, column));
        self.filter(at, FilterKind::Mean(table, column, comparison));
        Ok(())
    }

    /// The number that `bills over 10000` compares.
    fn sized_by(&self, at: usize) -> Option<(usize, usize)> {
        match self.target(self.before(at)?) {
            Some(Target::Table(table)) => {
                let detail = self.schema.table(*table)?;
                // `products under 100 rupees`: money, and the one price there is.
                let price = detail.price().filter(|_| self.reading.names_money());
                Some((*table, detail.amount().or(price)?))
            }
            _ => None,
        }
    }

    /// `customers who spent more than 5000`: the verb, and the amount of the one table that records what they paid for.
    fn spent_by(&self, at: usize) -> Option<(usize, usize, usize)> {
        let before = self.before(at)?;
        if !matches!(self.word(before), "spent" | "spend" | "spends") || self.target(before).is_some() {
            return None;
        }
        let who = self.head_before(before)?;
        let mut papers = self.schema.tables.iter().enumerate().filter_map(|(table, detail)| {
            detail.edges.iter().find(|edge| edge.to == who)?;
            Some((table, detail.amount()?))
        });
        let (table, column) = papers.next().filter(|_| papers.next().is_none())?;
        Some((before, table, column))
    }

    /// The verb and the price that `products cost more than 1000` compares.
    fn priced_by(&self, at: usize) -> Option<(usize, usize, usize)> {
        let before = self.before(at)?;
        let verb = matches!(self.word(before), "cost" | "costs" | "costing" | "priced");
        let table = self.head_before(before).filter(|_| verb)?;
        Some((before, table, self.schema.table(table)?.price()?))
    }

    /// The nearest table named before an item.
    fn head_before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find_map(|before| match self.target(before) {
            Some(Target::Table(table)) => Some(*table),
            _ => None,
        })
    }

    /// `cheaper than 50`.
    pub(super) fn compare_price(&mut self, at: usize, comparison: Comparison) -> Result<(), Why> {
        let next = self.next(at);
        let price = self.head_before(at).and_then(|table| Some((table, self.schema.table(table)?.price()?)));
        let (Some(Op::Number(value)), Some((table, column))) = (self.op(next).cloned(), price) else {
            return Err(Why::Kind("a comparison of prices whose price is not known".into()));
        };
        self.take(at);
        self.take(next);
        self.filter(at, FilterKind::Compare(table, column, comparison, value));
        Ok(())
    }

    /// `taller than 180`: the one number of the things that the adjective is about.
    pub(super) fn compare_quality(
        &mut self,
        at: usize,
        comparison: Comparison,
        quality: Quality,
    ) -> Result<(), Why> {
        let words: &[&str] = match quality {
            Quality::Height => &["height"],
            Quality::Weight => &["weight"],
            Quality::Length => &["length", "duration", "runtim"],
            _ => &["age"],
        };
        let next = self.next(at);
        let numbers = |table: usize| {
            let detail = self.schema.table(table)?;
            let mut found = (0..detail.columns.len()).filter(|column| {
                detail.columns.get(*column).is_some_and(|column| {
                    column.family == Family::Number
                        && !column.key
                        && column.names.iter().flatten().any(|stem| words.contains(&stem.as_str()))
                })
            });
            let column = found.next()?;
            found.next().is_none().then_some((table, column))
        };
        let place = self.head_before(at).and_then(numbers);
        let (Some(Op::Number(value)), Some((table, column))) = (self.op(next).cloned(), place) else {
            return Err(Why::Kind("a comparison by something that is not recorded as one number".into()));
        };
        self.take(at);
        self.take(next);
        // The unit that the column's name says: `180 cm`.
        let unit = self.word(next + 1).to_owned();
        let known = self
            .schema
            .column(table, column)
            .is_some_and(|column| column.name.to_lowercase().ends_with(&unit));
        if !unit.is_empty() && known && self.op(next + 1) == Some(&Op::Word) {
            self.take(next + 1);
            self.meant.push(next + 1);
        }
        self.filter(at, FilterKind::Compare(table, column, comparison, value));
        Ok(())
    }

    pub(super) fn shown(&self, table: usize, column: usize) -> bool {
        self.frame.outputs.contains(&(table, column))
    }

    pub(super) fn between(&mut self, at: usize) -> Result<(), Why> {
        let low = self.next(at);
        let (Some(Op::Number(a)), Some(Op::And), Some(Op::Number(b))) =
            (self.op(low).cloned(), self.op(low + 1).cloned(), self.op(low + 2).cloned())
        else {
            return Err(Why::Kind("`between` with something other than two numbers or times".into()));
        };
        if let Some((table, column)) = self.sized_by(at) {
            for used in [at, low, low + 1, low + 2] {
                self.take(used);
            }
            self.filter(at, FilterKind::Between(table, column, a, b));
            return Ok(());
        }
        let before = self.before(at).filter(|before| self.free(*before));
        let Some((before, Target::Column(table, column))) =
            before.and_then(|before| Some((before, self.target(before).cloned()?)))
        else {
            return Err(Why::Kind("`between` with a quantity that is not named".into()));
        };
        for used in [at, low, low + 1, low + 2, before] {
            self.take(used);
        }
        self.filter(at, FilterKind::Between(table, column, a, b));
        Ok(())
    }

    pub(super) fn number(&mut self, at: usize, value: f64) -> Result<(), Why> {
        let number = |grammar: &Self, at: usize| match grammar.target(at) {
            Some(Target::Column(table, column))
                if grammar.free(at) && grammar.family(*table, *column) == Family::Number =>
            {
                Some((*table, *column))
            }
            _ => None,
        };
        for place in [self.before(at), Some(at + 1)].into_iter().flatten() {
            if let Some((table, column)) = number(self, place) {
                self.take(place);
                self.take(at);
                self.filter(at, FilterKind::Compare(table, column, Comparison::Equal, value));
                return Ok(());
            }
        }
        Err(Why::Kind(format!("the number {value} belongs to nothing")))
    }

    pub(super) fn not(&mut self, at: usize) -> Result<(), Why> {
        self.take(at);
        let mut next = at + 1;
        loop {
            match self.part(next) {
                Some(Part::Op(Op::Link)) => {}
                Some(Part::Op(Op::Word)) if next < at + 6 => {}
                Some(Part::Mention(_)) if self.free(next) => break,
                _ => return Err(Why::Kind("a negation of something that is not known".into())),
            }
            next += 1;
        }
        let nothing = self.word(at) == "nothing";
        match self.target(next).cloned() {
            Some(Target::Metric(term)) if nothing => {
                self.take(next);
                self.frame.none.push(term);
            }
            // `nothing in stock` is zero, not a missing value.
            _ if nothing => return Err(Why::Kind("`nothing` of what is no measure".into())),
            Some(Target::Table(table)) => {
                self.take(next);
                // `never wrote a book`: no book, not no writing of another kind.
                let deed = stems::is_participle(self.word(next));
                let mut after = next + 1;
                while self.op(after) == Some(&Op::Link) {
                    after += 1;
                }
                match self.target(after).cloned() {
                    Some(Target::Table(thing)) if deed && self.free(after) => {
                        self.take(after);
                        self.frame.anti.push(thing);
                    }
                    _ => self.frame.anti.push(table),
                }
            }
            // `are not managers`: what they are not, and not what they lack.
            Some(Target::Column(table, column)) if self.said_to_be(next).is_some() => {
                self.take(next);
                self.role(next, table, column, true)?;
            }
            Some(Target::Column(table, column)) => {
                self.take(next);
                let nullable = self.schema.column(table, column).is_some_and(|column| column.nullable);
                let head = self.head_before(at);
                if !nullable && head.is_some_and(|head| head != table) {
                    // `products never sold`: no row of what is sold.
                    self.frame.anti.push(table);
                } else if !nullable || self.counts_things(table, column) {
                    // Nothing of a quantity is zero, and what every row has none lacks.
                    let name = self.column_name(table, column);
                    return Err(Why::Kind(format!("{name} by a word that says it is missing")));
                } else {
                    self.filter(next, FilterKind::Missing(table, column));
                }
            }
            Some(Target::Value(table, column, value)) => {
                self.take(next);
                self.filter(next, FilterKind::Values(table, column, vec![value]));
                self.negate();
            }
            Some(Target::Flag(table, column, sense)) => {
                self.take(next);
                self.filter(next, FilterKind::Flag(table, column, sense));
                self.negate();
            }
            _ => return Err(Why::Kind("a negation of something that is not known".into())),
        }
        Ok(())
    }

    /// True for how many of something there are.
    fn counts_things(&self, table: usize, column: usize) -> bool {
        let counts = |stem: &String| matches!(stem.as_str(), "qty" | "quantiti" | "stock" | "count");
        self.schema.column(table, column).is_some_and(|detail| {
            detail.family == Family::Number && !detail.key && detail.names.iter().flatten().any(counts)
        })
    }

    pub(super) fn negate(&mut self) {
        if let Some(filter) = self.frame.filters.last_mut() {
            filter.negated = true;
        }
    }

    /// `or` between two values of one column, or between words that mean the same.
    pub(super) fn or(&mut self, at: usize) -> Result<(), Why> {
        let (before, after) = (self.before(at), self.next(at));
        let pair = (before.and_then(|before| self.target(before)), self.target(after));
        match pair {
            (Some(Target::Value(a, b, _)), Some(Target::Value(c, d, _)))
                if (a, b) == (c, d)
                    && !before.is_some_and(|before| self.named(before))
                    && !self.named(after)
                    && !self.reading.tokens.iter().any(|token| token.is("both")) =>
            {
                self.take(at);
                Ok(())
            }
            _ => {
                self.take(at);
                self.ors.push(at);
                Ok(())
            }
        }
    }

    /// True for a condition by name. It restricts together with whatever else the question says.
    fn named(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|item| self.named.contains(&item.first))
    }

    /// A condition by name and another value of its column, joined by `and`, are two kinds of rows, not one of both kinds.
    pub(super) fn kinds_apart(&self) -> Result<(), Why> {
        let filters = &self.frame.filters;
        let single = |filter: &&Filter| {
            !filter.negated && matches!(filter.kind, FilterKind::Values(..) | FilterKind::Text(..))
        };
        for one in filters.iter().filter(single).filter(|filter| self.named(filter.at)) {
            let other = filters.iter().filter(single).any(|other| {
                let between = one.at.min(other.at)..one.at.max(other.at);
                other.kind.column() == one.kind.column()
                    && other.kind != one.kind
                    && between.into_iter().any(|at| self.op(at) == Some(&Op::And))
            });
            if other {
                return Err(Why::Kind("two values at once of what each row has one of".into()));
            }
        }
        Ok(())
    }

    pub(super) fn filter(&mut self, at: usize, kind: FilterKind) {
        let listed: Vec<bool> = self.frame.filters.iter().map(|filter| !self.named(filter.at)).collect();
        if let FilterKind::Values(table, column, values) = &kind
            && !self.named(at)
            && let Some((known, _)) = self.frame.filters.iter_mut().zip(listed).find(|(filter, listed)| {
                !filter.negated
                    && *listed
                    && matches!(&filter.kind, FilterKind::Values(t, c, _) if (t, c) == (table, column))
            })
            && let FilterKind::Values(_, _, all) = &mut known.kind
        {
            all.extend(values.iter().cloned());
            // `in both A and B` wants two rows, not one row of either.
            self.frame.both |= self.reading.tokens.iter().any(|token| token.is("both"));
            return;
        }
        self.frame.filters.push(Filter { kind, negated: false, at });
    }

    /// The word for a column beside its value: `status cancelled`, `Plumbing category`.
    pub(super) fn absorb(&mut self, at: usize, table: usize, column: usize) {
        let places = [self.before(at), Some(at + 1)];
        for place in places.into_iter().flatten() {
            let same = match self.target(place) {
                Some(Target::Column(t, c)) => (*t, *c) == (table, column),
                Some(Target::Table(t)) => {
                    *t == table
                        && self.schema.table(table).is_some_and(|table| table.label.contains(&column))
                        && self.frame.entity.is_some()
                }
                _ => false,
            };
            if same && self.free(place) {
                self.take(place);
                return;
            }
        }
    }

    /// A text that a column equals, or holds where a rule asks for that.
    pub(super) fn text(&self, table: usize, column: usize, text: String) -> FilterKind {
        if self.glossary.inside {
            let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            return FilterKind::Like(table, column, format!("%{escaped}%"));
        }
        FilterKind::Text(table, column, text)
    }

    pub(super) fn literal(&mut self, at: usize, text: String) -> Result<(), Why> {
        for place in [self.before(at), Some(at + 1)].into_iter().flatten() {
            match self.target(place).cloned() {
                Some(Target::Column(table, column)) if self.family(table, column) == Family::Text => {
                    if !self.frame.groups.contains(&Key::Column(table, column)) {
                        self.take(place);
                    }
                    self.take(at);
                    self.frame.outputs.retain(|output| *output != (table, column));
                    let kind = self.text(table, column, text);
                    self.filter(at, kind);
                    return Ok(());
                }
                Some(Target::Table(table)) => {
                    let label = self.schema.table(table).map(|table| table.label.clone()).unwrap_or_default();
                    if let [only] = label.as_slice() {
                        self.take(at);
                        let kind = self.text(table, *only, text);
                        self.filter(at, kind);
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Why::Unknown(vec![text]))
    }
}
