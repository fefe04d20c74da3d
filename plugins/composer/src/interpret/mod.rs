//! From words in order, each mention settled, to a frame: the grammar proper.

mod conditions;
mod entities;
mod groups;
mod leftovers;
mod measures;
mod patterns;
mod places;
mod ranks;
mod ratios;
mod returned;
use std::collections::BTreeSet;

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
    let mut grammar = Grammar {
        reading,
        schema,
        glossary,
        items,
        frame: Frame::default(),
        count: None,
        sized: false,
        one: false,
        meant: Vec::new(),
        ors: Vec::new(),
        named: named(mentions, targets),
    };
    grammar.run()?;
    let mut frame = grammar.frame;
    for (mention, _) in mentions.iter().zip(targets).filter(|(_, target)| **target == Target::Verb) {
        frame.verbs.extend(reading.tokens.get(mention.first).map(|token| token.stem.clone()));
    }
    if !frame.verbs.is_empty() && frame.moments.is_empty() {
        return Err(Why::Kind("a verb of a date with no time".into()));
    }
    for mention in mentions {
        frame.used.extend(mention.first..mention.end);
        frame.used.extend(&mention.also);
    }
    for item in grammar.meant.iter().filter_map(|at| grammar.items.get(*at)) {
        frame.used.extend(item.first..item.end);
    }
    for item in grammar.items.iter().filter(|item| !matches!(item.part, Part::Op(Op::Word))) {
        frame.used.extend(item.first..item.end);
    }
    Ok(frame)
}

/// The first tokens of what is a condition by name: a rule's value for words that do not say it.
fn named(mentions: &[Mention], targets: &[Target]) -> BTreeSet<usize> {
    let named = |(mention, target): &(&Mention, &Target)| {
        mention.candidates.iter().any(|candidate| candidate.named && candidate.target == **target)
    };
    mentions.iter().zip(targets).filter(named).map(|(mention, _)| mention.first).collect()
}

/// Operations and mentions in order. A mention swallows the operation words inside it, but an aggregate that leads it
/// stays: `total amount` is a sum of amounts.
fn items(reading: &Reading, mentions: &[Mention], targets: &[Target], schema: &Schema) -> Vec<Item> {
    let mut items = Vec::new();
    // A step of time is an operation still, whatever else is called so.
    let inside = |token: usize| {
        let at = mentions.iter().position(|mention| (mention.first..mention.end).contains(&token))?;
        (targets.get(at) != Some(&Target::Step)).then_some(at)
    };
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
            (Op::Aggregate(aggregate), Some(mention))
                if mentions.get(*mention).is_some_and(|mention| chunk.first <= mention.first) =>
            {
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
                let part = if matches!(target, Target::Support | Target::Verb) {
                    Part::Op(Op::Link)
                } else {
                    Part::Mention(target.clone())
                };
                items.push(Item { part, first: at.first, end: at.end, used: false });
            }
        }
    }
    compounds(reading, items)
}

/// Of two tables side by side the last one is meant: `product categories`. A verb is no noun: `patients visited`.
fn compounds(reading: &Reading, items: Vec<Item>) -> Vec<Item> {
    let table =
        |item: Option<&Item>| matches!(item, Some(Item { part: Part::Mention(Target::Table(_)), .. }));
    let last = |item: &Item| {
        item.end.checked_sub(1).and_then(|at| reading.tokens.get(at)).map_or("", |token| token.lower.as_str())
    };
    (0..items.len())
        .filter_map(|at| {
            let item = items.get(at)?;
            let leads = table(Some(item))
                && !stems::is_participle(last(item))
                && items.get(at + 1).is_some_and(|next| {
                    let verb = stems::is_participle(last(next)) || last(next).ends_with("ing");
                    table(Some(next)) && next.first == item.end && !verb
                });
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
    /// `the highest bill`: a size is asked for that no word names.
    sized: bool,
    /// A superlative keeps one because nothing says otherwise.
    one: bool,
    /// Words that the grammar made something of: `cost more than`, `the letter J`.
    meant: Vec<usize>,
    /// Places of `or` between different conditions.
    ors: Vec<usize>,
    /// First tokens of conditions by name, which are no values that the question lists.
    named: BTreeSet<usize>,
}

impl Grammar<'_> {
    fn run(&mut self) -> Result<(), Why> {
        let clause = self.clause();
        self.weekend();
        self.place()?;
        for at in 0..self.items.len() {
            if self.items.get(at).is_none_or(|item| item.used) || clause.contains(&at) {
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
                Op::ComparePrice(comparison) => self.compare_price(at, comparison)?,
                Op::CompareQuality(comparison, quality) => self.compare_quality(at, comparison, quality)?,
                Op::Between => self.between(at)?,
                Op::Like(affix) => self.like(at, affix)?,
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
                Op::Ratio => self.ratio(at)?,
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
        let what = self.reading.tokens.first().is_some_and(|token| token.is("what"))
            && self
                .reading
                .tokens
                .get(1)
                .is_some_and(|token| matches!(token.lower.as_str(), "did" | "do" | "does"));
        self.returned(clause)?;
        self.rest()?;
        self.settle()?;
        if what && self.frame.measures.is_empty() && self.frame.rank.is_none() {
            return Err(Why::Kind(
                "`what did … cost` and its like, where a sum and a list are both meant".into(),
            ));
        }
        Ok(())
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
                    Target::Value(..)
                    | Target::Text(..)
                    | Target::Flag(..)
                    | Target::Condition(_)
                    | Target::Literal(_),
                ) => {}
                // `sold cars` are cars.
                Part::Mention(Target::Table(_))
                    if stems::is_participle(self.word(next))
                        && matches!(self.target(next + 1), Some(Target::Table(_))) => {}
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

    fn name(&self, table: usize) -> String {
        self.schema.table(table).map_or(String::new(), |table| format!("`{}`", table.reference.name))
    }

    fn column_name(&self, table: usize, column: usize) -> String {
        let owner = self.schema.table(table).map_or("", |table| table.reference.name.as_str());
        let name = self.schema.column(table, column).map_or("", |column| column.name.as_str());
        format!("`{owner}.{name}`")
    }
}
