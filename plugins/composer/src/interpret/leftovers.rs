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
                    // `employees and their managers` wants both, not those who are managers.
                    if at.checked_sub(1).is_some_and(|before| matches!(self.word(before), "their" | "its")) {
                        return Err(Why::Kind("what belongs to each row, by a value".into()));
                    }
                    self.take(at);
                    self.absorb(at, table, column);
                    self.filter(at, FilterKind::Values(table, column, vec![value]));
                }
                Some(Target::Text(table, column, text)) => {
                    self.take(at);
                    self.absorb(at, table, column);
                    let kind = self.text(table, column, text);
                    self.filter(at, kind);
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
                    if let Some(subject) = self.said_to_be(at).filter(|subject| *subject != table) {
                        return Err(Why::Kind(format!(
                            "which {} are {}, which are other rows",
                            self.name(subject),
                            self.name(table)
                        )));
                    }
                    self.take(at);
                    self.loose_table(at, table);
                }
                Some(Target::Column(table, column)) => {
                    self.take(at);
                    match self.said_to_be(at) {
                        Some(_) => self.role(at, table, column, false)?,
                        None => self.loose_column(table, column)?,
                    }
                }
                _ => {}
            }
        }
        self.owner();
        Ok(())
    }

    /// What only the whole question settles: the size that nothing named, the things that only conditions name, and
    /// words that would be lost.
    pub(super) fn settle(&mut self) -> Result<(), Why> {
        self.either()?;
        self.kinds_apart()?;
        self.who();
        self.sellers();
        let sized = self.sized;
        if let (Some(Key::Table(table)), Some(rank)) = (self.frame.entity, self.frame.rank.as_mut())
            && rank.by.is_none()
            && sized
        {
            rank.by = self
                .schema
                .table(table)
                .and_then(|detail| detail.amount())
                .map(|column| By::Column(table, column));
        }
        // `least sold products`: the things are many, and how many of them is not said.
        let many = self.one && self.entity_is_plural();
        if let Some(rank) = self.frame.rank.as_mut()
            && many
            && rank.by.is_some()
        {
            rank.count = None;
        }
        if self.items.iter().any(|item| item.part == Part::Op(Op::HowMuch))
            && self.frame.measures.is_empty()
            && self.frame.rank.is_none()
        {
            return Err(Why::Kind("`how much` of what is not clear".into()));
        }
        let widened = self.items.iter().enumerate().any(|(at, _)| {
            matches!(self.word(at), "including" | "includes" | "include")
                && matches!(
                    self.target(self.next(at)),
                    Some(Target::Value(..) | Target::Condition(_) | Target::Flag(..))
                )
        });
        if widened {
            return Err(Why::Kind("`including` what the measure leaves out".into()));
        }
        // `which employees left and when`: a second question.
        let asks = |word: &str| matches!(word, "when" | "where" | "why" | "how");
        let second = self.reading.tokens.windows(2).any(|pair| match pair {
            [first, second] => first.is("and") && asks(&second.lower) && !self.says_again(second),
            _ => false,
        });
        if second || self.reading.tokens.first().is_some_and(|token| token.is("where")) {
            return Err(Why::Kind("two questions in one, or one for a place".into()));
        }
        let empty = self.frame.measures.is_empty()
            && self.frame.entity.is_none()
            && self.frame.outputs.is_empty()
            && self.frame.share.is_none()
            && self.frame.rank.is_none();
        if empty && let Some(table) = self.only_filtered() {
            self.frame.entity = Some(Key::Table(table));
        }
        Ok(())
    }

    /// `who placed the most orders`: the one kind of person that each of the ranked rows points to.
    fn who(&mut self) {
        const PEOPLE: &[&str] = &[
            "customer",
            "client",
            "user",
            "employee",
            "staff",
            "salesperson",
            "seller",
            "agent",
            "student",
            "teacher",
            "instructor",
            "patient",
            "doctor",
            "member",
            "author",
            "player",
            "driver",
            "person",
            "rider",
            "buyer",
        ];
        let asks = self.items.iter().find(|item| !matches!(item.part, Part::Op(Op::Link)));
        let asks = asks.is_some_and(|item| item.part == Part::Op(Op::Who));
        let table = match self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
            Some(By::Measure(Measure::Count(table) | Measure::Aggregate(_, table, _))) => Some(*table),
            Some(By::Measure(Measure::Metric(term))) => self
                .glossary
                .terms
                .get(*term)
                .and_then(|term| term.metrics.first())
                .map(|metric| metric.table),
            _ => None,
        };
        let Some(detail) =
            table.filter(|_| asks && self.frame.entity.is_none()).and_then(|at| self.schema.table(at))
        else {
            return;
        };
        let person = |at: usize| {
            self.schema.table(at).is_some_and(|table| {
                table.label.len() == 2
                    || table.names.iter().any(|name| {
                        name.last().is_some_and(|last| PEOPLE.iter().any(|word| stems::stem(word) == *last))
                    })
            })
        };
        let mut people: Vec<usize> =
            detail.edges.iter().map(|edge| edge.to).filter(|to| person(*to)).collect();
        people.sort_unstable();
        people.dedup();
        if let [only] = people.as_slice() {
            self.frame.entity = Some(Key::Table(*only));
        }
    }

    /// `top 5 best sellers`: the one kind of things, no event among them, that each of the measured rows points to.
    fn sellers(&mut self) {
        let said = |word: &str| matches!(word, "seller" | "sellers" | "movers");
        let asked = self.reading.tokens.iter().any(|token| said(&token.lower));
        let Some(By::Measure(Measure::Metric(term))) =
            self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref()).filter(|_| asked)
        else {
            return;
        };
        let table = self.glossary.terms.get(*term).and_then(|term| term.metrics.first()).map(|m| m.table);
        let Some(detail) = table.filter(|_| self.frame.entity.is_none()).and_then(|at| self.schema.table(at))
        else {
            return;
        };
        let lasting = |at: usize| self.schema.table(at).is_some_and(|table| table.time.is_none());
        let mut things: Vec<usize> =
            detail.edges.iter().map(|edge| edge.to).filter(|to| lasting(*to)).collect();
        things.sort_unstable();
        things.dedup();
        if let [only] = things.as_slice() {
            self.frame.entity = Some(Key::Table(*only));
        }
    }

    /// `and how many publications did she have`: what the rank goes by, which is shown anyway.
    fn says_again(&self, how: &airlock_plugin_sdk::question::tokens::Token) -> bool {
        let many = self.reading.tokens.iter().any(|token| token.is("many") && token.start == how.end + 1);
        let by = match self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
            Some(By::Measure(measure)) => Some(measure),
            _ => None,
        };
        many && by.is_some() && self.frame.measures.iter().all(|measure| Some(measure) == by)
    }

    /// `current employees`, `who is the manager`: the one table that all conditions are about, when a word names its rows.
    fn only_filtered(&self) -> Option<usize> {
        let asked =
            self.items.iter().any(|item| matches!(item.part, Part::Op(Op::Who | Op::Which | Op::List)));
        let mut tables = self.frame.filters.iter().filter_map(|filter| match &filter.kind {
            FilterKind::Condition(term) => {
                let term = self.glossary.terms.get(*term)?;
                let (table, _) = term.conditions.first()?;
                let named = self.schema.table(*table).is_some_and(|detail| {
                    term.names.iter().flat_map(|name| &name.words).any(|stem| {
                        detail.names.iter().any(|name| name.as_slice() == std::slice::from_ref(stem))
                    })
                });
                (asked || named).then_some(*table)
            }
            kind => kind
                .column()
                .filter(|(table, column)| asked && self.says_who(*table, *column))
                .map(|(table, _)| table),
        });
        let first = tables.next()?;
        let all = 1 + tables.filter(|table| *table == first).count();
        (all == self.frame.filters.len()).then_some(first)
    }

    /// `which employees are managers`: the table of which a noun right after `are` says something.
    pub(super) fn said_to_be(&self, at: usize) -> Option<usize> {
        let item = self.items.get(at)?;
        let before = self.reading.tokens.get(..item.first)?;
        let verb = before.iter().rposition(|token| !matches!(token.lower.as_str(), "a" | "an" | "not"))?;
        let is = before
            .get(verb)
            .is_some_and(|token| matches!(token.lower.as_str(), "is" | "are" | "was" | "were"));
        let said = self.reading.tokens.get(item.end.checked_sub(1)?)?;
        let noun = !stems::is_participle(&said.lower);
        let subject = self.items.iter().rev().find(|other| {
            other.end <= verb && !matches!(other.part, Part::Op(Op::Link | Op::Who | Op::Which | Op::Not))
        })?;
        match subject.part {
            Part::Mention(Target::Table(table)) if is && noun => Some(table),
            _ => None,
        }
    }

    /// Those who are what a key calls the row it points to: a manager is an employee whom another one's `manager` names.
    pub(super) fn role(&mut self, at: usize, table: usize, column: usize, negated: bool) -> Result<(), Why> {
        let inside = self.schema.table(table).is_some_and(|detail| {
            detail.edges.iter().any(|edge| edge.from == [column] && edge.to == table && edge.verified)
        });
        if !inside || !(self.heads(table) || self.said_to_be(at) == Some(table)) {
            return Err(Why::Kind(format!("what is to be {} is not clear", self.column_name(table, column))));
        }
        self.filter(at, FilterKind::Pointed(table, column));
        if negated {
            self.negate();
        }
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

    /// True for the table whose rows are counted or listed.
    pub(super) fn heads(&self, table: usize) -> bool {
        self.frame.entity == Some(Key::Table(table))
            || self.frame.measures.iter().any(|measure| match measure {
                Measure::Count(owner) | Measure::CountValues(owner, _) | Measure::Aggregate(_, owner, _) => {
                    *owner == table
                }
                Measure::Metric(_) => false,
            })
    }

    /// `customer count`.
    pub(super) fn counted(&self, at: usize) -> bool {
        matches!(self.word(at + 1), "count" | "number") && self.op(at + 1) == Some(&Op::Word)
    }

    pub(super) fn loose_column(&mut self, table: usize, column: usize) -> Result<(), Why> {
        if self.family(table, column) == Family::Time {
            if !self.frame.moments.is_empty() || !self.frame.groups.is_empty() {
                self.frame.time_columns.push((table, column));
                return Ok(());
            }
            // `employees who left`: those with such a date.
            let nullable = self.schema.column(table, column).is_some_and(|column| column.nullable);
            if self.heads(table) {
                if nullable {
                    self.filter(0, FilterKind::Missing(table, column));
                    self.negate();
                } else {
                    self.frame.time_columns.push((table, column));
                }
                return Ok(());
            }
            return Err(Why::Kind(format!(
                "what {} does here is not clear",
                self.column_name(table, column)
            )));
        }
        if self.frame.measures.is_empty() && self.frame.share.is_none() {
            self.frame.outputs.push((table, column));
            return Ok(());
        }
        Err(Why::Kind(format!("what {} does here is not clear", self.column_name(table, column))))
    }
}
