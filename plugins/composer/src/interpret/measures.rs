//! What is computed: aggregates and the words they are taken of.

use super::*;

/// What the numbers of a column are, as far as their name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    /// How many there are of something, so that they add up.
    Quantity,
    /// What is said of one thing: a rating, a height, an age.
    Measure,
    /// Either.
    Unclear,
}

impl Grammar<'_> {
    /// The measure that an aggregate makes of the mention after it, and the item after that.
    pub(super) fn measure(&mut self, at: usize, aggregate: Aggregate) -> Result<(Measure, usize), Why> {
        if let Some(antecedent) = self.antecedent(at) {
            return Ok((Measure::Count(antecedent), self.next(at)));
        }
        let mut next = self.next(at);
        let mut distinct = false;
        while matches!(self.op(next), Some(Op::Distinct)) {
            distinct = true;
            self.take(next);
            next = self.next(next);
        }
        if let Some(Op::Aggregate(inner)) = self.op(next).cloned() {
            let total = inner == Aggregate::Sum
                && self.noun(next).is_some_and(|noun| matches!(self.target(noun), Some(Target::Table(_))));
            if (inner == Aggregate::Count || total) && aggregate == Aggregate::Count {
                self.take(next);
                return self.measure(next, aggregate);
            }
            // `average number of items per order`: a count for each order, and then its mean.
            if inner == Aggregate::Count && aggregate != Aggregate::Sum && self.frame.nested.is_none() {
                self.take(next);
                if let Some((noun, table, column)) = self.noun(next).and_then(|noun| self.numbered(noun)) {
                    return match self.kind_of_number(table, column) {
                        // `average number of stars`: of the ratings, and not of how much they add up to.
                        Number::Measure => self.measured(noun, aggregate, false),
                        Number::Quantity => {
                            self.frame.nested = Some(aggregate);
                            self.measured(noun, inner, false)
                        }
                        Number::Unclear => Err(Why::Ambiguous(format!(
                            "whether {} itself is meant or what it adds up to",
                            self.column_name(table, column)
                        ))),
                    };
                }
                self.frame.nested = Some(aggregate);
                return self.measure(next, inner);
            }
            return Err(Why::Kind(format!("the {} of a {}", aggregate.word(), inner.word())));
        }
        let Some(noun) = self.noun(next - 1) else {
            if aggregate == Aggregate::Count
                && let Some((table, at)) = self.kind_of(next)
            {
                return Ok((Measure::Count(table), at + 1));
            }
            // `average walk-in bill`: the amount of what the condition is about.
            if aggregate != Aggregate::Count
                && let Some((table, at)) = self.kind_of(next)
                && self.names_rows(at, table)
                && let Some(column) = self.schema.table(table).and_then(|table| table.amount())
            {
                return Ok((self.column_measure(aggregate, table, column, false)?, at + 1));
            }
            return Err(Why::Kind(format!("what the {} is taken of is not clear", aggregate.word())));
        };
        if (next..noun).any(|at| self.op(at) == Some(&Op::Distinct)) {
            distinct = true;
        }
        // `how many stars does each product have`: ratings are not added up. A side of a ratio says no such word.
        let said = self.items.get(at).is_some_and(|item| item.end > item.first);
        if aggregate == Aggregate::Count
            && said
            && !distinct
            && let Some((_, table, column)) = self.numbered(noun)
            && self.kind_of_number(table, column) == Number::Measure
        {
            return Err(Why::Kind(format!("a count of {}", self.column_name(table, column))));
        }
        let measure = self.measured(noun, aggregate, distinct)?;
        Ok(measure)
    }

    /// The number of things or of a rating that a noun names.
    fn numbered(&self, noun: usize) -> Option<(usize, usize, usize)> {
        match self.target(noun) {
            Some(Target::Column(table, column))
                if self.family(*table, *column) == Family::Number
                    && !self.schema.column(*table, *column).is_some_and(|column| column.key) =>
            {
                Some((noun, *table, *column))
            }
            _ => None,
        }
    }

    /// Whether a number tells how many there are of something, or says something of one thing, by its name.
    fn kind_of_number(&self, table: usize, column: usize) -> Number {
        const QUANTITIES: &[&str] = &[
            "quantiti", "qty", "unit", "piec", "item", "count", "number", "num", "total", "volum", "cop",
            "copi",
        ];
        const MEASURES: &[&str] = &[
            "star",
            "rate",
            "score",
            "grade",
            "rank",
            "level",
            "age",
            "percent",
            "percentag",
            "point",
            "temperatur",
            "height",
            "weight",
            "length",
            "width",
            "depth",
            "price",
            "cost",
            "salari",
            "year",
        ];
        let detail = self.schema.column(table, column);
        let named = |words: &[&str]| {
            detail.is_some_and(|column| {
                column.names.iter().flatten().any(|name| words.iter().any(|word| stems::stem(word) == *name))
            })
        };
        match (named(QUANTITIES), named(MEASURES)) {
            (_, true) => Number::Measure,
            (true, false) => Number::Quantity,
            (false, false) => Number::Unclear,
        }
    }

    /// `how many cashiers`, `how many cancelled bills`: a value or a condition that stands for the things themselves.
    fn kind_of(&self, from: usize) -> Option<(usize, usize)> {
        let mut found = None;
        let mut at = from;
        loop {
            match self.part(at) {
                Some(Part::Mention(Target::Value(table, column, _))) if self.says_who(*table, *column) => {
                    found = Some((*table, at));
                }
                Some(Part::Mention(Target::Value(..) | Target::Flag(..))) => found = None,
                Some(Part::Mention(Target::Condition(term))) => {
                    found = self
                        .glossary
                        .terms
                        .get(*term)
                        .and_then(|term| Some((term.conditions.first()?.0, at)));
                }
                Some(Part::Op(Op::Link)) => {}
                _ => return found,
            }
            at += 1;
        }
    }

    /// True when the last word of an item is what the rows of a table are called: `walk-in bill`.
    fn names_rows(&self, at: usize, table: usize) -> bool {
        let last = self.items.get(at).and_then(|item| self.reading.tokens.get(item.end.checked_sub(1)?));
        let names = self.schema.table(table).map(|table| table.names.as_slice()).unwrap_or_default();
        last.is_some_and(|last| names.iter().any(|name| name.as_slice() == std::slice::from_ref(&last.stem)))
    }

    /// True for a column whose values are what its rows are called: a cashier is an employee, while an excavator is a
    /// machine and not the model that is one.
    pub(super) fn says_who(&self, table: usize, column: usize) -> bool {
        const ROLES: &[&str] = &[
            "role",
            "position",
            "job",
            "occupation",
            "profession",
            "designation",
            "rank",
            "grade",
            "gender",
            "sex",
        ];
        self.schema.column(table, column).is_some_and(|column| {
            let own = column.names.iter().take(column.own);
            own.flatten().any(|stem| ROLES.iter().any(|word| stems::stem(word) == *stem))
        })
    }

    /// `how many of them`: the things named before.
    pub(super) fn antecedent(&mut self, at: usize) -> Option<usize> {
        let pronoun = matches!((self.word(at + 1), self.word(at + 2)), ("of", "them" | "these" | "those"))
            || self.word(at + 1) == "them";
        if !pronoun {
            return None;
        }
        let found = (0..at).rev().find_map(|before| match self.target(before) {
            Some(Target::Table(table)) => Some((before, *table)),
            _ => None,
        });
        let (before, table) = found?;
        self.take(before);
        Some(table)
    }

    pub(super) fn measured(
        &mut self,
        noun: usize,
        aggregate: Aggregate,
        distinct: bool,
    ) -> Result<(Measure, usize), Why> {
        let Some(target) = self.target(noun).cloned() else {
            return Err(Why::Kind("an aggregate of nothing".into()));
        };
        match target {
            Target::Metric(metric) => {
                let own = self.glossary.terms.get(metric).is_some_and(|term| {
                    term.names
                        .iter()
                        .flat_map(|name| &name.words)
                        .any(|stem| *stem == stems::stem(aggregate.word()) || *stem == "averag")
                });
                // `how many units sold` is a quantity; `how many sales` asks for no amount.
                let fits = match aggregate {
                    Aggregate::Sum => true,
                    Aggregate::Count => {
                        self.glossary.terms.get(metric).is_some_and(crate::glossary::Term::counts)
                    }
                    _ => own,
                };
                if !fits {
                    return Err(Why::Kind(format!(
                        "the {} of a measure that the glossary defines as a whole",
                        aggregate.word()
                    )));
                }
                self.take(noun);
                Ok((Measure::Metric(metric), noun + 1))
            }
            Target::Column(table, column) => {
                self.take(noun);
                let measure = self.column_measure(aggregate, table, column, distinct)?;
                Ok((measure, noun + 1))
            }
            Target::Table(table) => {
                if aggregate == Aggregate::Count {
                    self.take(noun);
                    return Ok((Measure::Count(table), noun + 1));
                }
                // `average product price`: the table's name leads its column's.
                if let Some(Target::Column(owner, column)) = self.target(noun + 1).cloned()
                    && self.free(noun + 1)
                {
                    self.take(noun + 1);
                    self.take(noun);
                    if owner != table {
                        return Err(Why::Kind(format!(
                            "{} is no number of {}",
                            self.column_name(owner, column),
                            self.name(table)
                        )));
                    }
                    let measure = self.column_measure(aggregate, owner, column, distinct)?;
                    return Ok((measure, noun + 2));
                }
                // `average payment`: of what each of them comes to.
                if let Some(column) = self.schema.table(table).and_then(|table| table.amount()) {
                    // `average bills per day`: of their number or of their amounts?
                    let many = self.items.get(noun).is_some_and(|item| {
                        let last = item.end.checked_sub(1).and_then(|at| self.reading.tokens.get(at));
                        last.is_some_and(|token| token.lower.ends_with('s'))
                    });
                    let stepped = self
                        .items
                        .iter()
                        .any(|item| matches!(item.part, Part::Op(Op::Each | Op::By | Op::Grain(_))));
                    if aggregate != Aggregate::Sum && many && stepped {
                        return Err(Why::Ambiguous(format!(
                            "whether the number or the amounts of {} are meant",
                            self.name(table)
                        )));
                    }
                    self.take(noun);
                    return Ok((self.column_measure(aggregate, table, column, false)?, noun + 1));
                }
                if aggregate == Aggregate::Sum && !self.has_amounts(table) {
                    self.take(noun);
                    return Ok((Measure::Count(table), noun + 1));
                }
                Err(Why::Ambiguous(format!("which number of {} is meant", self.name(table))))
            }
            _ => Err(Why::Kind("an aggregate of a value".into())),
        }
    }

    pub(super) fn column_measure(
        &self,
        aggregate: Aggregate,
        table: usize,
        column: usize,
        distinct: bool,
    ) -> Result<Measure, Why> {
        let family = self.family(table, column);
        let key = self.schema.column(table, column).is_some_and(|column| column.key);
        match aggregate {
            // `number of grades` may mean rows as well as different values; only alone is it plain.
            Aggregate::Count if distinct || key || (family == Family::Text && self.alone()) => {
                Ok(Measure::CountValues(table, column))
            }
            Aggregate::Count if family != Family::Number => Err(Why::Ambiguous(format!(
                "whether rows or different values of {} are counted",
                self.column_name(table, column)
            ))),
            // `how many units` adds up; nobody counts amounts of money so.
            Aggregate::Count if self.money(table, column) => {
                Err(Why::Kind(format!("a count of {}", self.column_name(table, column))))
            }
            Aggregate::Count => Ok(Measure::Aggregate(Aggregate::Sum, table, column)),
            Aggregate::Minimum | Aggregate::Maximum if family == Family::Time => {
                Ok(Measure::Aggregate(aggregate, table, column))
            }
            _ if family == Family::Number && !key => Ok(Measure::Aggregate(aggregate, table, column)),
            _ => Err(Why::Kind(format!(
                "the {} of {}, which is no number",
                aggregate.word(),
                self.column_name(table, column)
            ))),
        }
    }

    /// True when the question groups, ranks and measures nothing else.
    pub(super) fn alone(&self) -> bool {
        !self.items.iter().any(|item| {
            matches!(
                item.part,
                Part::Op(Op::Each | Op::By | Op::Superlative { .. } | Op::Top { .. })
                    | Part::Mention(Target::Metric(_))
            )
        })
    }

    fn money(&self, table: usize, column: usize) -> bool {
        self.schema.column(table, column).is_some_and(|column| {
            column.names.iter().flatten().any(|stem| {
                matches!(
                    stem.as_str(),
                    "amount"
                        | "price"
                        | "cost"
                        | "salari"
                        | "fee"
                        | "revenu"
                        | "valu"
                        | "balanc"
                        | "rate"
                        | "budget"
                )
            })
        })
    }

    pub(super) fn has_amounts(&self, table: usize) -> bool {
        self.schema.table(table).is_some_and(|table| {
            table.columns.iter().any(|column| {
                column.family == Family::Number
                    && !column.key
                    && column.names.iter().flatten().any(|stem| {
                        matches!(
                            stem.as_str(),
                            "amount"
                                | "total"
                                | "price"
                                | "cost"
                                | "valu"
                                | "quantiti"
                                | "fee"
                                | "sum"
                                | "paid"
                                | "pay"
                        )
                    })
            })
        })
    }

    pub(super) fn aggregate(&mut self, at: usize, aggregate: Aggregate) -> Result<(), Why> {
        self.take(at);
        // `spent more than 5000 in total` says again that it is added up.
        let again = aggregate == Aggregate::Sum
            && !self.frame.having.is_empty()
            && at.checked_sub(1).is_some_and(|before| self.word(before) == "in")
            && self.noun(at).is_none();
        if again {
            return Ok(());
        }
        // `how many orders does each customer have on average`
        let mean = aggregate == Aggregate::Average
            && at.checked_sub(1).is_some_and(|before| self.word(before) == "on")
            && self.noun(at).is_none()
            && matches!(self.frame.measures.as_slice(), [Measure::Count(_)])
            && self.frame.nested.is_none();
        if mean {
            self.frame.nested = Some(aggregate);
            return Ok(());
        }
        if let Some(noun) = self.in_a_row(at) {
            let (measure, _) = self.measured(noun, aggregate, false)?;
            if let Some(item) = self.items.get_mut(noun) {
                item.used = false;
            }
            self.frame.measures.push(measure);
            return Ok(());
        }
        let (measure, after) = match self.measure(at, aggregate) {
            Ok(found) => found,
            // `customers total`: the counted thing may stand before.
            Err(why) => match self.before(at) {
                Some(before)
                    if matches!(self.target(before), Some(Target::Table(_) | Target::Metric(_)))
                        && self.free(before) =>
                {
                    self.measured(before, aggregate, false).map_err(|_| why)?
                }
                _ => return Err(why),
            },
        };
        // `with an average price above 200` restricts what is listed.
        let mut next = after;
        while self.light(next) {
            next += 1;
        }
        if let (Some(Op::Compare(comparison)), Some(Op::Number(value))) =
            (self.op(next).cloned(), self.op(next + 1).cloned())
            && self.free(next)
        {
            // `how many bills over 10000` compares each of what is counted.
            let counted = matches!(measure, Measure::Count(_)) && self.frame.entity.is_none();
            if !counted {
                if self.frame.entity.is_none() {
                    return Err(Why::Kind("a condition on an aggregate with nothing to list".into()));
                }
                self.take(next);
                self.take(next + 1);
                self.frame.having.push((measure, comparison, value));
                return Ok(());
            }
        }
        if self.frame.rank.as_ref().is_some_and(|rank| rank.by.is_none()) {
            if let Some(rank) = &mut self.frame.rank {
                rank.by = Some(By::Measure(measure));
            }
            return Ok(());
        }
        self.frame.measures.push(measure);
        Ok(())
    }

    /// `minimum, maximum and average cost`: the noun after the last of them.
    fn in_a_row(&self, at: usize) -> Option<usize> {
        let mut next = at + 1;
        let mut more = false;
        loop {
            match self.op(next) {
                Some(Op::And | Op::Link) => {}
                Some(Op::Aggregate(other)) if *other != Aggregate::Count => more = true,
                _ => break,
            }
            next += 1;
        }
        let parted = matches!(self.op(self.next(at)), Some(Op::And));
        (more && parted && matches!(self.target(next), Some(Target::Column(..)))).then_some(next)
    }

    pub(super) fn how_much(&mut self, at: usize) {
        self.take(at);
        if let Some(noun) = self.noun(at)
            && let Ok((measure, _)) = self.measured(noun, Aggregate::Sum, false)
        {
            self.frame.measures.push(measure);
        }
    }
}
