//! What a query surely keeps to: conditions that each row it counts or shows has met.
//!
//! Read are the conditions that AND joins in WHERE and in the ON of inner joins, of the query itself and of the queries that its
//! rows come from. Whatever stands in OR, NOT, CASE, an outer join, a FILTER beside other columns, or in a shape that is not
//! listed here has no reading: it may keep to nothing, or to something else.

use std::collections::BTreeSet;

use airlock_plugin_sdk::time::{Date, Days};

use super::clauses::{Clauses, Join, Part, Source, alone, filtered};
use super::comparison::{Condition, Single, Test, alternatives, single};
use super::sides::{Side, Via, bare, call, column, is_mark, unit_of_name};
use super::tokens::{Kind, Token};

/// The conditions of a query.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) conditions: Vec<Condition>,
    /// Columns that are set equal: what joins go by.
    pub(super) links: Vec<(Side, Side)>,
    /// Something in it may keep to more than was read.
    pub(super) unread: bool,
    /// By what its relations are called.
    aliases: BTreeSet<String>,
}

/// A query of WITH by its name.
type Named<'a> = (String, &'a [Token]);

impl Kept {
    /// Of a query.
    pub(super) fn of(read: &[Token]) -> Self {
        let mut kept = Self::default();
        kept.query(read, &[], &mut 0);
        kept
    }

    /// Of conditions that stand alone, as a term of the domain has them.
    pub(super) fn of_conditions(read: &[Token]) -> Self {
        let mut kept = Self::default();
        kept.conjuncts(read, &[], 0, &mut 0);
        kept
    }

    /// The days that all its conditions on days leave; none where two columns, or two queries, have other days.
    pub(super) fn period(&self) -> Option<(Option<Date>, Option<Date>)> {
        let mut found: Option<(Option<Date>, Option<Date>)> = None;
        for group in self.groups() {
            let days = span(&group)?;
            if found.is_some_and(|found| found != days) {
                return None;
            }
            found = Some(days);
        }
        found
    }

    /// The month that is all it keeps to of a time.
    pub(super) fn month(&self) -> Option<u32> {
        match self.groups().as_slice() {
            [group] => match group.as_slice() {
                [Condition { test: Test::Part("month", month), .. }] => Some(*month),
                _ => None,
            },
            _ => None,
        }
    }

    /// Conditions on days, together where they are of one column of one query.
    fn groups(&self) -> Vec<Vec<&Condition>> {
        let mut groups: Vec<Vec<&Condition>> = Vec::new();
        let timed = |one: &&Condition| matches!(one.test, Test::Days(..) | Test::Part(..));
        for one in self.conditions.iter().filter(timed) {
            let same = |group: &&mut Vec<&Condition>| {
                let of_date = |side: &Side| side.via != Via::Itself || unit_of_name(&side.name).is_none();
                group.first().is_some_and(|first| {
                    let alike =
                        first.side.name == one.side.name && first.side.qualifier == one.side.qualifier;
                    // `year = 2026 AND month = 7` are columns of one date.
                    let parts = matches!((&first.test, &one.test), (Test::Part(..), Test::Part(..)))
                        && !(of_date(&first.side) || of_date(&one.side));
                    first.block == one.block && (alike || parts)
                })
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        groups
    }

    fn query<'a>(&mut self, read: &'a [Token], with: &[Named<'a>], blocks: &mut usize) {
        let mut read = bare(read);
        let mut with = with.to_vec();
        if read.first().is_some_and(|first| first.is("with")) {
            match named(read) {
                Some((queries, rest)) => {
                    with.extend(queries);
                    read = rest;
                }
                None => return self.unread = true,
            }
        }
        let Some(depth) = read.first().map(|token| token.depth) else { return self.unread = true };
        let at_depth = |token: &Token, word: &str| token.depth == depth && token.is(word);
        if read.iter().any(|token| at_depth(token, "except") || at_depth(token, "intersect")) {
            return self.unread = true;
        }
        let mut parts = read.split(|token| at_depth(token, "union"));
        let mut whole = Self::default();
        whole.select(parts.next().unwrap_or_default(), &with, blocks);
        // Rows of several queries have met what each of them asks.
        for part in parts {
            let all = part.first().is_some_and(|token| token.is("all"));
            let mut other = Self::default();
            other.query(if all { part.get(1..).unwrap_or_default() } else { part }, &with, blocks);
            let counts = (whole.conditions.len(), other.conditions.len());
            whole.conditions.retain(|mine| other.conditions.iter().any(|theirs| mine.is(theirs)));
            let same = counts == (whole.conditions.len(), whole.conditions.len());
            whole.unread |= other.unread || !same;
        }
        self.conditions.extend(whole.conditions);
        self.links.extend(whole.links);
        self.aliases.extend(whole.aliases);
        self.unread |= whole.unread;
    }

    fn select<'a>(&mut self, read: &'a [Token], with: &[Named<'a>], blocks: &mut usize) {
        *blocks += 1;
        let block = *blocks;
        let Some(clauses) = Clauses::of(read) else { return self.unread = true };
        if !clauses.from.is_empty() {
            self.from(clauses.from, with, block, blocks);
        }
        if !clauses.conditions.is_empty() {
            self.conjuncts(clauses.conditions, with, block, blocks);
        }
        if !clauses.having.is_empty() {
            self.conjuncts(clauses.having, with, block, blocks);
        }
        // A column that stands alone counts just what its FILTER lets through; beside others it says nothing of them.
        match filtered(clauses.targets) {
            Some(filter) if alone(clauses.targets) => self.conjuncts(filter, with, block, blocks),
            Some(_) => self.unread = true,
            None => {}
        }
    }

    fn from<'a>(&mut self, read: &'a [Token], with: &[Named<'a>], block: usize, blocks: &mut usize) {
        let depth = read.first().map_or(0, |token| token.depth);
        for item in read.split(|token| is_mark(token, ",") && token.depth == depth) {
            let Some(parts) = Part::all(item) else {
                self.unread = true;
                continue;
            };
            // The rows of what stands before RIGHT or FULL may be missing too.
            let outer = parts.iter().any(|part| part.join == Join::Open);
            self.unread |= outer;
            for part in parts {
                self.aliases.insert(part.alias.clone());
                if outer || part.join == Join::Left {
                    continue;
                }
                match part.source {
                    Source::Query(query) => self.query(query, with, blocks),
                    Source::Relation(relation) => {
                        let named = with.iter().rposition(|(name, _)| *name == relation);
                        let earlier = named.and_then(|at| Some((with.get(..at)?, with.get(at)?)));
                        if let Some((earlier, (_, query))) = earlier {
                            self.query(query, earlier, blocks);
                        }
                    }
                    Source::Other => self.unread = true,
                }
                if !part.on.is_empty() {
                    self.conjuncts(part.on, with, block, blocks);
                }
            }
        }
    }

    /// What AND joins.
    fn conjuncts<'a>(&mut self, read: &'a [Token], with: &[Named<'a>], block: usize, blocks: &mut usize) {
        let read = bare(read);
        let Some(depth) = read.first().map(|token| token.depth) else { return self.unread = true };
        if read.iter().any(|token| token.is("or") && token.depth == depth) {
            return match alternatives(read, depth, block) {
                Some(condition) => self.conditions.push(condition),
                None => self.unread = true,
            };
        }
        let parts = ands(read, depth);
        if parts.len() > 1 {
            for part in parts {
                self.conjuncts(part, with, block, blocks);
            }
        } else if !self.queried(read, with, blocks) {
            match single(read, block) {
                Some(Single::Tests(conditions)) => self.conditions.extend(conditions),
                Some(Single::Links(a, b)) => self.links.push((a, b)),
                None => self.unread = true,
            }
        }
    }

    /// A condition that asks for the rows of another query: `id IN (SELECT ..)`, `EXISTS (SELECT ..)` of rows that go with these.
    fn queried<'a>(&mut self, read: &'a [Token], with: &[Named<'a>], blocks: &mut usize) -> bool {
        let not = read.first().is_some_and(|token| token.is("not"));
        let rest = if not { read.get(1..).unwrap_or_default() } else { read };
        if let Some(("exists", query)) = call(rest) {
            let mut inner = Self::default();
            inner.query(query, with, blocks);
            let foreign =
                |side: &Side| side.qualifier.as_ref().is_some_and(|name| !inner.aliases.contains(name));
            let correlated = inner.links.iter().any(|(a, b)| foreign(a) != foreign(b));
            self.absorb(inner, !not, correlated);
            return true;
        }
        let depth = read.first().map_or(0, |token| token.depth);
        let among = read.iter().position(|token| token.is("in") && token.depth == depth);
        let Some((at, query)) = among.and_then(|at| Some((at, read.get(at + 1..)?))) else { return false };
        if !bare(query).first().is_some_and(|first| first.is("select") || first.is("with")) {
            return false;
        }
        let not = at.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|token| token.is("not"));
        let left = read.get(..at - usize::from(not)).unwrap_or_default();
        let mut inner = Self::default();
        inner.query(query, with, blocks);
        self.absorb(inner, !not, column(left).is_some());
        true
    }

    /// Takes over what the rows of another query must meet, or must not.
    fn absorb(&mut self, inner: Self, met: bool, linked: bool) {
        self.unread |= inner.unread || !linked;
        if !linked {
            return;
        }
        if met {
            self.conditions.extend(inner.conditions);
            return;
        }
        // Of several conditions any one may be what is not met.
        let alone = inner.conditions.len() == 1 && !inner.unread;
        let turned: Vec<Condition> = inner.conditions.into_iter().filter_map(Condition::turned).collect();
        self.unread |= !alone || turned.is_empty();
        self.conditions.extend(turned.into_iter().filter(|_| alone));
    }
}

/// The days that conditions on one column leave; none where a part of a date is compared without those above it.
fn span(group: &[&Condition]) -> Option<(Option<Date>, Option<Date>)> {
    let part = |unit: &str| -> Result<Option<u32>, ()> {
        let mut found = group.iter().filter_map(|one| match one.test {
            Test::Part(known, value) if known == unit => Some(value),
            _ => None,
        });
        let first = found.next();
        if found.all(|other| Some(other) == first) { Ok(first) } else { Err(()) }
    };
    let (year, quarter) = (part("year").ok()?, part("quarter").ok()?);
    let (month, day) = (part("month").ok()?, part("day").ok()?);
    let date = |month: u32, day: u32| {
        Date::new(i32::try_from(year?).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    };
    let mut days = match (year, quarter, month, day) {
        (None, None, None, None) => (None, None),
        (Some(_), None, None, None) => closed(Days::year(date(1, 1)?)),
        (Some(_), Some(quarter @ 1..=4), None, None) => closed(Days::quarter(date(quarter * 3 - 2, 1)?)),
        (Some(_), None, Some(month), None) => closed(Days::month(date(month, 1)?)),
        (Some(_), None, Some(month), Some(day)) => closed(Days::day(date(month, day)?)),
        _ => return None,
    };
    for one in group {
        if let Test::Days(from, until) = one.test {
            days.0 = days.0.max(from);
            days.1 = match (days.1, until) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
    Some(days)
}

fn closed(days: Days) -> (Option<Date>, Option<Date>) {
    (Some(days.from), Some(days.until))
}

/// The queries of WITH by their names, and what stands behind them.
fn named(read: &[Token]) -> Option<(Vec<Named<'_>>, &[Token])> {
    let mut rest = read.get(1..)?;
    let mut queries = Vec::new();
    loop {
        let (name, behind) =
            rest.split_first().filter(|(name, _)| name.kind == Kind::Word && !name.is("recursive"))?;
        let open = behind.iter().position(|token| token.is("as"))?;
        let behind = behind.get(open + 1..)?;
        let open = behind.iter().position(|token| is_mark(token, "("))?;
        let depth = behind.get(open)?.depth;
        let close = behind.iter().position(|token| is_mark(token, ")") && token.depth == depth)?;
        queries.push((name.text.clone(), behind.get(open + 1..close)?));
        rest = behind.get(close + 1..)?;
        match rest.split_first()? {
            (comma, more) if is_mark(comma, ",") => rest = more,
            _ => return Some((queries, rest)),
        }
    }
}

/// The parts between AND, but for those of BETWEEN.
fn ands(read: &[Token], depth: usize) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut start, mut between) = (0, false);
    for (at, token) in read.iter().enumerate().filter(|(_, token)| token.depth == depth) {
        if token.is("between") {
            between = true;
        } else if token.is("and") {
            if !between {
                parts.extend(read.get(start..at));
                start = at + 1;
            }
            between = false;
        }
    }
    parts.extend(read.get(start..));
    parts
}
