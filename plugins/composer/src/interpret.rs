//! From words in order, each mention settled, to a frame: the grammar proper.

use airlock_plugin_sdk::question::grammar::{Aggregate, Comparison, Grain, Op, Quality, Reading};
use airlock_plugin_sdk::question::stems;

use crate::annotate::{Mention, Target};
use crate::frame::{By, Filter, FilterKind, Frame, Key, Measure, Rank};
use crate::glossary::Glossary;
use crate::refuse::Why;
use crate::schema::{Family, Schema};

/// One word or phrase of the question in its order.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Op(Op),
    Mention(Target),
}

#[derive(Debug, Clone)]
struct Item {
    part: Part,
    first: usize,
    end: usize,
    used: bool,
}

/// Reads the question with one target for each mention.
pub fn interpret(
    reading: &Reading,
    mentions: &[Mention],
    targets: &[Target],
    schema: &Schema,
    glossary: &Glossary,
) -> Result<Frame, Why> {
    let items = items(reading, mentions, targets, schema);
    let mut grammar = Grammar { reading, schema, glossary, items, frame: Frame::default(), count: None };
    grammar.run()?;
    let mut frame = grammar.frame;
    for mention in mentions {
        frame.used.extend(mention.first..mention.end);
        frame.used.extend(&mention.also);
    }
    for item in grammar.items.iter().filter(|item| !matches!(item.part, Part::Op(Op::Word))) {
        frame.used.extend(item.first..item.end);
    }
    Ok(frame)
}

/// Operations and mentions in order. A mention swallows the operation words inside it, but an aggregate that leads it
/// stays: `total amount` is a sum of amounts.
fn items(reading: &Reading, mentions: &[Mention], targets: &[Target], schema: &Schema) -> Vec<Item> {
    let mut items = Vec::new();
    let inside =
        |token: usize| mentions.iter().position(|mention| (mention.first..mention.end).contains(&token));
    let elsewhere = |token: usize| mentions.iter().any(|mention| mention.also.contains(&token));
    let mut placed = vec![false; mentions.len()];
    for chunk in &reading.chunks {
        let touched: Vec<usize> = (chunk.first..chunk.end).filter_map(inside).collect();
        let number = touched.first().is_some_and(|mention| {
            matches!(targets.get(*mention), Some(Target::Column(table, column)) if schema.column(*table, *column).is_some_and(|c| c.family == Family::Number))
        });
        match (&chunk.op, touched.first()) {
            (Op::Aggregate(Aggregate::Count), Some(_)) if number => {
                let total = reading.tokens.get(chunk.first).is_some_and(|token| token.is("total"));
                if total {
                    items.push(Item {
                        part: Part::Op(Op::Aggregate(Aggregate::Sum)),
                        first: chunk.first,
                        end: chunk.end,
                        used: false,
                    });
                }
            }
            (Op::Aggregate(aggregate), Some(_)) => {
                items.push(Item {
                    part: Part::Op(Op::Aggregate(*aggregate)),
                    first: chunk.first,
                    end: chunk.end,
                    used: false,
                });
            }
            (Op::Word, None) if elsewhere(chunk.first) => {}
            (op, None) => items.push(Item {
                part: Part::Op(op.clone()),
                first: chunk.first,
                end: chunk.end,
                used: false,
            }),
            // An operation that begins before the mention, or that a measure's name holds, is still asked for.
            (op, Some(mention)) => {
                let leads = mentions.get(*mention).is_some_and(|mention| chunk.first < mention.first);
                let metric = matches!(targets.get(*mention), Some(Target::Metric(_)));
                let kept = (leads && !matches!(op, Op::Word | Op::Link))
                    || (metric && matches!(op, Op::Superlative { .. }));
                if kept {
                    items.push(Item {
                        part: Part::Op(op.clone()),
                        first: chunk.first,
                        end: chunk.end,
                        used: false,
                    });
                }
            }
        }
        for mention in touched {
            let (Some(at), Some(target), Some(done)) =
                (mentions.get(mention), targets.get(mention), placed.get_mut(mention))
            else {
                continue;
            };
            if !*done {
                *done = true;
                let part = if *target == Target::Support {
                    Part::Op(Op::Link)
                } else {
                    Part::Mention(target.clone())
                };
                items.push(Item { part, first: at.first, end: at.end, used: false });
            }
        }
    }
    compounds(items)
}

/// Of two tables side by side the last one is meant: `product categories`.
fn compounds(items: Vec<Item>) -> Vec<Item> {
    let table =
        |item: Option<&Item>| matches!(item, Some(Item { part: Part::Mention(Target::Table(_)), .. }));
    (0..items.len())
        .filter_map(|at| {
            let item = items.get(at)?;
            let leads = table(Some(item))
                && table(items.get(at + 1))
                && items.get(at + 1).is_some_and(|next| next.first == item.end);
            Some(if leads { Item { part: Part::Op(Op::Link), ..item.clone() } } else { item.clone() })
        })
        .collect()
}

struct Grammar<'a> {
    reading: &'a Reading,
    schema: &'a Schema,
    glossary: &'a Glossary,
    items: Vec<Item>,
    frame: Frame,
    /// `which five products`: how many a later superlative keeps.
    count: Option<u32>,
}

impl Grammar<'_> {
    fn run(&mut self) -> Result<(), Why> {
        for at in 0..self.items.len() {
            if self.items.get(at).is_none_or(|item| item.used) {
                continue;
            }
            let Some(Part::Op(op)) = self.part(at).cloned() else { continue };
            match op {
                Op::Aggregate(aggregate) => self.aggregate(at, aggregate)?,
                Op::HowMuch => self.how_much(at),
                Op::Superlative { descending, quality } => self.superlative(at, descending, quality)?,
                Op::Top { count, descending } => self.top(at, count, descending)?,
                Op::Each => self.group(at)?,
                Op::By => self.by(at)?,
                Op::Grain(grain) => self.grain(at, grain)?,
                Op::Compare(comparison) => self.compare(at, comparison)?,
                Op::Between => self.between(at)?,
                Op::Number(value) => self.number(at, value)?,
                Op::Moment(index) => {
                    self.frame.moments.push((index, at));
                    self.take(at);
                }
                Op::Not => self.not(at)?,
                Op::Distinct => {
                    self.frame.distinct = true;
                    self.take(at);
                }
                Op::Percent => self.percent(at)?,
                Op::Ratio => return Err(Why::Kind("a ratio of two quantities".into())),
                Op::List | Op::Which | Op::Who => self.listed(at),
                Op::OrderBy => self.order(at)?,
                Op::Direction { descending } => {
                    let by = self.frame.order.take().and_then(|(by, _)| by);
                    self.frame.order = Some((by, descending));
                    self.take(at);
                }
                Op::Or => self.or(at)?,
                Op::And | Op::Stop | Op::Link | Op::Quoted | Op::Word => {}
            }
        }
        self.rest()
    }

    fn part(&self, at: usize) -> Option<&Part> {
        self.items.get(at).map(|item| &item.part)
    }

    fn op(&self, at: usize) -> Option<&Op> {
        match self.part(at) {
            Some(Part::Op(op)) => Some(op),
            _ => None,
        }
    }

    fn target(&self, at: usize) -> Option<&Target> {
        match self.items.get(at) {
            Some(Item { part: Part::Mention(target), .. }) => Some(target),
            _ => None,
        }
    }

    fn free(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|item| !item.used)
    }

    fn take(&mut self, at: usize) {
        if let Some(item) = self.items.get_mut(at) {
            item.used = true;
        }
    }

    fn word(&self, at: usize) -> &str {
        self.items
            .get(at)
            .and_then(|item| self.reading.tokens.get(item.first))
            .map_or("", |token| token.lower.as_str())
    }

    fn family(&self, table: usize, column: usize) -> Family {
        self.schema.column(table, column).map_or(Family::Other, |column| column.family)
    }

    fn light(&self, at: usize) -> bool {
        match self.op(at) {
            Some(Op::Link) => true,
            Some(Op::Word) => stems::is_light(self.word(at)),
            _ => false,
        }
    }

    /// The next item that is not a binding word.
    fn next(&self, at: usize) -> usize {
        let mut next = at + 1;
        while self.op(next) == Some(&Op::Link) {
            next += 1;
        }
        next
    }

    fn before(&self, at: usize) -> Option<usize> {
        let mut before = at.checked_sub(1)?;
        while self.light(before) {
            before = before.checked_sub(1)?;
        }
        Some(before)
    }

    /// The next mention over binding words, adjectives (values, flags) and up to one plain word; aggregates stop it.
    fn noun(&self, at: usize) -> Option<usize> {
        let mut plain = 0;
        let mut next = at + 1;
        loop {
            match self.part(next)? {
                Part::Mention(
                    Target::Value(..) | Target::Flag(..) | Target::Condition(_) | Target::Literal(_),
                ) => {}
                Part::Mention(_) => return self.free(next).then_some(next),
                Part::Op(Op::Link | Op::Distinct) => {}
                Part::Op(Op::Word) if plain == 0 || self.light(next) => {
                    plain += usize::from(!self.light(next))
                }
                Part::Op(_) => return None,
            }
            next += 1;
        }
    }

    /// The measure that an aggregate makes of the mention after it, and the item after that.
    fn measure(&mut self, at: usize, aggregate: Aggregate) -> Result<(Measure, usize), Why> {
        let mut next = self.next(at);
        let mut distinct = false;
        while matches!(self.op(next), Some(Op::Distinct)) {
            distinct = true;
            self.take(next);
            next = self.next(next);
        }
        if let Some(Op::Aggregate(inner)) = self.op(next).cloned() {
            if inner == Aggregate::Count && aggregate == Aggregate::Count {
                self.take(next);
                return self.measure(next, aggregate);
            }
            // `average number of …`: the mean of a count, unless the number is a column of its own.
            return Err(Why::Kind(format!("the {} of a {}", aggregate.word(), inner.word())));
        }
        let Some(noun) = self.noun(next - 1) else {
            return Err(Why::Kind(format!("what the {} is taken of is not clear", aggregate.word())));
        };
        if (next..noun).any(|at| self.op(at) == Some(&Op::Distinct)) {
            distinct = true;
        }
        let measure = self.measured(noun, aggregate, distinct)?;
        Ok(measure)
    }

    fn measured(
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
                if aggregate == Aggregate::Sum && !self.has_amounts(table) {
                    self.take(noun);
                    return Ok((Measure::Count(table), noun + 1));
                }
                Err(Why::Ambiguous(format!("which number of {} is meant", self.name(table))))
            }
            _ => Err(Why::Kind("an aggregate of a value".into())),
        }
    }

    fn column_measure(
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
    fn alone(&self) -> bool {
        !self.items.iter().any(|item| {
            matches!(
                item.part,
                Part::Op(Op::Each | Op::By | Op::Superlative { .. } | Op::Top { .. })
                    | Part::Mention(Target::Metric(_))
            )
        })
    }

    fn has_amounts(&self, table: usize) -> bool {
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

    fn name(&self, table: usize) -> String {
        self.schema.table(table).map_or(String::new(), |table| format!("`{}`", table.reference.name))
    }

    fn column_name(&self, table: usize, column: usize) -> String {
        let owner = self.schema.table(table).map_or("", |table| table.reference.name.as_str());
        let name = self.schema.column(table, column).map_or("", |column| column.name.as_str());
        format!("`{owner}.{name}`")
    }

    fn aggregate(&mut self, at: usize, aggregate: Aggregate) -> Result<(), Why> {
        self.take(at);
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
            if self.frame.entity.is_none() {
                return Err(Why::Kind("a condition on an aggregate with nothing to list".into()));
            }
            self.take(next);
            self.take(next + 1);
            self.frame.having.push((measure, comparison, value));
            return Ok(());
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

    fn how_much(&mut self, at: usize) {
        self.take(at);
        if let Some(noun) = self.noun(at)
            && let Ok((measure, _)) = self.measured(noun, Aggregate::Sum, false)
        {
            self.frame.measures.push(measure);
        }
    }

    /// `list`, `which`, `who`: what is listed. After a noun, `which` and `who` only bind.
    fn listed(&mut self, at: usize) {
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
                Some(Part::Mention(Target::Value(..) | Target::Flag(..) | Target::Condition(_))) => {}
                Some(Part::Mention(Target::Column(table, column))) if self.free(next) => {
                    // A column that is compared or holds a value restricts; it is not shown for itself.
                    if self.restricts(next) {
                        return;
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

    /// True when a superlative stands behind a number and the noun it counts.
    fn ranks_later(&self, at: usize) -> bool {
        let noun = matches!(self.target(at + 1), Some(Target::Table(_) | Target::Column(..)));
        noun && (at..self.items.len()).any(|at| matches!(self.op(at), Some(Op::Superlative { .. })))
    }

    /// True when a condition follows a column: `with a rating above 4`, `named "X"`.
    fn restricts(&self, at: usize) -> bool {
        let mut next = at + 1;
        while self.light(next) {
            next += 1;
        }
        matches!(self.op(next), Some(Op::Compare(_) | Op::Between))
            || (matches!(self.target(next), Some(Target::Literal(_))))
            || (next == at + 1 && matches!(self.op(next), Some(Op::Number(_))))
    }

    fn top(&mut self, at: usize, count: u32, descending: bool) -> Result<(), Why> {
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
        let noun = self.noun(at.max(next - 1)).or_else(|| self.noun(next));
        if let Some(noun) = noun {
            self.ranked(noun);
        }
        Ok(())
    }

    /// The noun after a superlative: the entity, or a measure that leads it as in `best selling products`.
    fn ranked(&mut self, noun: usize) {
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

    fn become_entity(&mut self, noun: usize) {
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

    fn superlative(&mut self, at: usize, descending: bool, quality: Quality) -> Result<(), Why> {
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
                self.frame.rank = Some(Rank { count, descending, by: None });
            }
        }
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
            | Quality::Weight => {
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

    fn entity_is_plural(&self) -> bool {
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

    /// What `the most …` and `the highest …` go by.
    fn quantity(&mut self, at: usize, quality: Quality) -> Result<Option<By>, Why> {
        let next = self.next(at);
        if let Some(Op::Aggregate(aggregate)) = self.op(next).cloned() {
            self.take(next);
            return Ok(Some(By::Measure(self.measure(next, aggregate)?.0)));
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

    /// Mentions after `per`, joined by `and`.
    fn group(&mut self, at: usize) -> Result<(), Why> {
        self.take(at);
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
            after = self.next(after);
            if matches!(self.op(after), Some(Op::Each | Op::By)) {
                self.take(after);
                after = self.next(after);
            }
            next = after;
        }
        Ok(())
    }

    fn by(&mut self, at: usize) -> Result<(), Why> {
        let open = self.frame.rank.as_ref().is_some_and(|rank| rank.by.is_none());
        if self.repeats(at) {
            self.take(at);
            let next = self.next(at);
            self.take(next);
            return Ok(());
        }
        if !open {
            let asks = !self.frame.measures.is_empty()
                || self.free_metric().is_some()
                || self.free_table().is_some();
            if asks && !matches!(self.op(self.next(at)), Some(Op::Aggregate(_))) {
                let next = self.next(at);
                // `transactions by users who joined`: the doer after a passive is no grouping.
                if matches!(self.part(next), Some(Part::Mention(_)) | Some(Part::Op(Op::Grain(_))))
                    && !self.passive(at)
                {
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

    /// `best selling items, by quantity`: the column after `by` is what the measure is made of.
    fn repeats(&self, at: usize) -> bool {
        let Some(By::Measure(Measure::Metric(term))) =
            self.frame.rank.as_ref().and_then(|rank| rank.by.as_ref())
        else {
            return false;
        };
        let Some(Target::Column(table, column)) = self.target(self.next(at)) else { return false };
        let name = self.schema.column(*table, *column).map_or("", |column| column.name.as_str());
        self.glossary.terms.get(*term).is_some_and(|term| {
            term.metrics.iter().any(|metric| {
                metric.table == *table
                    && crate::fragment::columns(&metric.sql).iter().any(|(_, column)| column == name)
            })
        })
    }

    fn set_rank(&mut self, by: By) {
        if let Some(rank) = &mut self.frame.rank {
            rank.by = Some(by);
        }
    }

    /// True when a participle stands before `by`: `made by customers`.
    fn passive(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| {
            let last =
                self.items.get(before).and_then(|item| self.reading.tokens.get(item.end.saturating_sub(1)));
            last.is_some_and(|token| {
                let participle = token.lower.ends_with("ed")
                    || matches!(
                        token.lower.as_str(),
                        "made"
                            | "written"
                            | "given"
                            | "taken"
                            | "sold"
                            | "bought"
                            | "taught"
                            | "paid"
                            | "held"
                            | "led"
                            | "run"
                            | "sent"
                    );
                participle && !matches!(token.lower.as_str(), "grouped" | "ordered" | "sorted" | "ranked")
            })
        })
    }

    fn free_metric(&self) -> Option<usize> {
        (0..self.items.len()).find(|at| self.free(*at) && matches!(self.target(*at), Some(Target::Metric(_))))
    }

    fn free_table(&self) -> Option<usize> {
        (0..self.items.len()).find(|at| self.free(*at) && matches!(self.target(*at), Some(Target::Table(_))))
    }

    fn grain(&mut self, at: usize, grain: Grain) -> Result<(), Why> {
        let word = self.word(at);
        if word.ends_with("ly") || matches!(word, "annual" | "over") {
            self.take(at);
            self.frame.groups.push(Key::Time(grain));
            return Ok(());
        }
        Err(Why::Kind(format!("`{word}` used in a way that is not understood")))
    }

    fn compare(&mut self, at: usize, comparison: Comparison) -> Result<(), Why> {
        let next = self.next(at);
        let Some(Op::Number(value)) = self.op(next).cloned() else {
            return Err(Why::Kind("a comparison with something other than a number".into()));
        };
        self.take(at);
        self.take(next);
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
            None => Err(Why::Kind("a comparison whose quantity is not named".into())),
        }
    }

    fn shown(&self, table: usize, column: usize) -> bool {
        self.frame.outputs.contains(&(table, column))
    }

    fn between(&mut self, at: usize) -> Result<(), Why> {
        let low = self.next(at);
        let (Some(Op::Number(a)), Some(Op::And), Some(Op::Number(b))) =
            (self.op(low).cloned(), self.op(low + 1).cloned(), self.op(low + 2).cloned())
        else {
            return Err(Why::Kind("`between` with something other than two numbers or times".into()));
        };
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

    fn number(&mut self, at: usize, value: f64) -> Result<(), Why> {
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

    fn not(&mut self, at: usize) -> Result<(), Why> {
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
        match self.target(next).cloned() {
            Some(Target::Table(table)) => {
                self.take(next);
                self.frame.anti.push(table);
            }
            Some(Target::Column(table, column)) => {
                self.take(next);
                self.filter(next, FilterKind::Missing(table, column));
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

    fn negate(&mut self) {
        if let Some(filter) = self.frame.filters.last_mut() {
            filter.negated = true;
        }
    }

    fn percent(&mut self, at: usize) -> Result<(), Why> {
        self.take(at);
        let next = self.next(at);
        match self.target(next).cloned() {
            Some(Target::Table(table)) => {
                self.take(next);
                self.frame.share = Some((table, next));
                Ok(())
            }
            _ => Err(Why::Kind("a share whose whole is not a plain table".into())),
        }
    }

    fn order(&mut self, at: usize) -> Result<(), Why> {
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

    /// `or` between two values of one column, or between words that mean the same.
    fn or(&mut self, at: usize) -> Result<(), Why> {
        let (before, after) = (self.before(at), self.next(at));
        let pair = (before.and_then(|before| self.target(before)), self.target(after));
        match pair {
            (Some(Target::Value(a, b, _)), Some(Target::Value(c, d, _))) if (a, b) == (c, d) => {
                self.take(at);
                Ok(())
            }
            _ => Err(Why::Kind("`or` between different things".into())),
        }
    }

    fn filter(&mut self, at: usize, kind: FilterKind) {
        if let FilterKind::Values(table, column, values) = &kind
            && let Some(known) = self.frame.filters.iter_mut().find(|filter| {
                !filter.negated
                    && matches!(&filter.kind, FilterKind::Values(t, c, _) if (t, c) == (table, column))
            })
            && let FilterKind::Values(_, _, all) = &mut known.kind
        {
            all.extend(values.iter().cloned());
            return;
        }
        self.frame.filters.push(Filter { kind, negated: false, at });
    }

    /// What no operation claimed.
    fn rest(&mut self) -> Result<(), Why> {
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
        Ok(())
    }

    /// The word for a column beside its value: `status cancelled`, `Plumbing category`.
    fn absorb(&mut self, at: usize, table: usize, column: usize) {
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

    fn literal(&mut self, at: usize, text: String) -> Result<(), Why> {
        for place in [self.before(at), Some(at + 1)].into_iter().flatten() {
            match self.target(place).cloned() {
                Some(Target::Column(table, column)) if self.family(table, column) == Family::Text => {
                    if !self.frame.groups.contains(&Key::Column(table, column)) {
                        self.take(place);
                    }
                    self.take(at);
                    self.frame.outputs.retain(|output| *output != (table, column));
                    self.filter(at, FilterKind::Text(table, column, text));
                    return Ok(());
                }
                Some(Target::Table(table)) => {
                    let label = self.schema.table(table).map(|table| table.label.clone()).unwrap_or_default();
                    if let [only] = label.as_slice() {
                        self.take(at);
                        self.filter(at, FilterKind::Text(table, *only, text));
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Why::Unknown(vec![text]))
    }

    fn loose_table(&mut self, at: usize, table: usize) {
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
        if self.frame.rank.is_none() && !self.frame.groups.is_empty() {
            self.frame.measures.push(Measure::Count(table));
        } else if self.frame.rank.is_none() && self.counted(at) {
            self.frame.measures.push(Measure::Count(table));
        } else if ranked_by_own {
            self.frame.entity = Some(Key::Table(table));
        } else {
            self.frame.context.push((table, at));
        }
    }

    /// `customer count`.
    fn counted(&self, at: usize) -> bool {
        matches!(self.word(at + 1), "count" | "number") && self.op(at + 1) == Some(&Op::Word)
    }

    fn loose_column(&mut self, table: usize, column: usize) -> Result<(), Why> {
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
