//! How a table that was left out comes into a query, so that no row is lost, counted or shown again by it.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::words::{identifier_words, same};

use super::super::filters::conjuncts;
use super::super::grouping::is_aggregate;
use super::super::repeated::{Owner, Reading};
use super::{Search, Way, sides};
use crate::block::Clause;
use crate::tokens::Kind;

/// How the table that is wanted comes into the query.
pub(super) enum How {
    /// Joined, with what the reader must know of rows that are there more than once.
    Joined { keyword: &'static str, repeats: Option<String> },
    /// Asked whether it has a row that fulfils these conditions, beside the others.
    Among { moved: Vec<Range<usize>>, kept: Vec<Range<usize>> },
    /// Read in the place of the one relation of FROM.
    Instead,
}

impl<'r, H: Host> Search<'r, '_, H> {
    /// How the table comes in; none where other rows than were meant may be given or counted.
    pub(super) fn how(&self, way: &Way<'r>) -> Option<How> {
        let qualifier = self.wanted.qualifier.as_deref();
        let reading =
            Reading { case: self.case, relations: self.relations, added: Some((&way.table, qualifier)) };
        let (one, _) = way.one();
        let nulls = self.asked_to_be_null();
        // Of a column that is never NULL, that asks for rows without a partner and for nothing else.
        if nulls.iter().any(|place| self.never_null(way, *place)) {
            let outer = self.place.before.is_none();
            return outer.then_some(How::Joined { keyword: "LEFT JOIN", repeats: None });
        }
        let repeated = reading.repeated(self.block, one);
        // A join that is written behind the table says how often its rows are there, and a count is of the rows.
        let bridge =
            self.place.before.is_some() && repeated.iter().all(|argument| self.is_of_count(argument));
        let repeats = !repeated.is_empty() && !bridge;
        // A name without a qualifier may as well say that FROM names the wrong table.
        if qualifier.is_none() && reading.says_nothing_of_what_is_read(self.block) {
            let read = way.to.detail.as_ref()?;
            return match (self.speaks_of(&way.table, read), self.speaks_of(read, &way.table)) {
                (true, false) if self.relations.len() == 1 => Some(How::Instead),
                (false, true) if !repeats => self.joined(way, &reading),
                _ => None,
            };
        }
        if !one
            && nulls.is_empty()
            && !(qualifier.is_some() && repeats)
            && let Some(among) = self.among(&reading)
        {
            return Some(among);
        }
        let shown = qualifier.is_some() || one || self.is_shown(&reading);
        if repeats || !shown {
            return None;
        }
        let how = self.joined(way, &reading)?;
        Some(match (how, way.to.source.relation.as_ref()) {
            (How::Joined { keyword, .. }, Some(read)) if !repeated.is_empty() => {
                let table = &way.table.summary.table.name;
                let told = format!("A row of {read} counts once for each of its rows in {table}.");
                How::Joined { keyword, repeats: Some(told) }
            }
            (how, _) => how,
        })
    }

    /// Whether what an argument is of is a count.
    fn is_of_count(&self, argument: &Range<usize>) -> bool {
        let name = argument.start.checked_sub(2);
        name.is_some_and(|name| self.case.tokens.is(name, "count"))
    }

    fn joined(&self, way: &Way<'_>, reading: &Reading<'_, '_, H>) -> Option<How> {
        let keyword = self.keyword(way)?;
        Some(How::Joined { keyword, repeats: self.repeated_rows(way, reading) })
    }

    /// Whether the question names a table, and not only another one whose name has all the same words.
    fn speaks_of(&self, table: &TableDetail, other: &TableDetail) -> bool {
        let named = |table: &TableDetail| {
            self.asks_for(&table.summary.table.name) || table.synonyms.iter().any(|word| self.asks_for(word))
        };
        let (own, others) =
            (identifier_words(&table.summary.table.name), identifier_words(&other.summary.table.name));
        let within = own.iter().all(|word| others.iter().any(|other| same(word, other)));
        named(table) && !(within && own.len() < others.len() && named(other))
    }

    /// The conditions that alone speak of a table of which a row may have many partners: nothing but AND joins them to the
    /// others, and none is negative, which could be meant of all of the partners.
    fn among(&self, reading: &Reading<'_, '_, H>) -> Option<How> {
        const OTHERWISE: [&str; 4] = ["NOT", "IS", "SELECT", "CASE"];
        let tokens = &self.case.tokens;
        let filter = self.block.clause(Clause::Where)?;
        let speaks = |at: usize| matches!(reading.owner(at), Owner::Added | Owner::Both);
        let added = |at: usize| reading.owner(at) == Owner::Added;
        if self.block.range.clone().any(|at| added(at) && !filter.contains(&at)) {
            return None;
        }
        let (moved, kept): (Vec<Range<usize>>, Vec<Range<usize>>) =
            conjuncts(tokens, filter.clone())?.into_iter().partition(|part| part.clone().any(added));
        // In a subquery, a name that both have would silently be the table's.
        let unsure = |at: usize| {
            tokens.is_any(at, &OTHERWISE)
                || ["<>", "!=", "!~", "!~*"].contains(&tokens.written(at))
                || (speaks(at) && !added(at))
        };
        let sure = !moved.is_empty() && !moved.iter().any(|part| part.clone().any(unsure));
        sure.then_some(How::Among { moved, kept })
    }

    /// Whether the rows of the table are themselves what is selected, grouped by, or what groups are made of.
    fn is_shown(&self, reading: &Reading<'_, '_, H>) -> bool {
        let shows = |clause| {
            let mut range = self.block.clause(clause).cloned().unwrap_or_default();
            range.any(|at| reading.owner(at) == Owner::Added)
        };
        let grouped = self.block.clause(Clause::GroupBy).is_some();
        let shown = [Clause::Select, Clause::GroupBy, Clause::Having].into_iter().any(shows);
        shown || (grouped && shows(Clause::OrderBy))
    }

    /// What the reader must know where rows are shown more than once: of a table with many partners those that are read, else
    /// those of the table, where nothing else is shown.
    fn repeated_rows(&self, way: &Way<'_>, reading: &Reading<'_, '_, H>) -> Option<String> {
        let tokens = &self.case.tokens;
        let folded = self.block.clause(Clause::GroupBy).is_some()
            || tokens.is(self.block.range.start + 1, "DISTINCT")
            || self.block.range.clone().any(|at| is_aggregate(tokens, at));
        let (table, read) = (&way.table.summary.table.name, way.to.source.relation.as_ref()?);
        if folded {
            return None;
        }
        if way.one().0 {
            let alone = self.is_shown(reading) && self.shows_it_alone();
            return alone.then(|| format!("A row of {table} is there once for each of its rows in {read}."));
        }
        Some(format!(
            "A row of {read} is there once for each of its rows in {table}, and one without any is not there."
        ))
    }

    /// The places where a column of the table is asked to be NULL.
    fn asked_to_be_null(&self) -> Vec<usize> {
        let tokens = &self.case.tokens;
        let behind = |place: &usize| if self.wanted.qualifier.is_some() { place + 3 } else { place + 1 };
        let places = self.wanted.places.iter();
        places
            .filter(|place| tokens.is(behind(place), "IS") && tokens.is(behind(place) + 1, "NULL"))
            .copied()
            .collect()
    }

    /// The words of the join; none where rows without a partner seem to be wanted.
    fn keyword(&self, way: &Way<'_>) -> Option<&'static str> {
        let tokens = &self.case.tokens;
        let (one, optional) = way.one();
        let from = self.block.clause(Clause::From)?;
        let left = from.clone().any(|at| tokens.is(at, "LEFT"));
        // Every row has its partner. What a LEFT JOIN fills up with NULL has none, and stays.
        if one && !optional {
            return Some(if left { "LEFT JOIN" } else { "JOIN" });
        }
        let coalesced = self.wanted.places.iter().any(|place| {
            let open = (self.block.range.start..*place).rev().find(|at| {
                tokens.kind(*at) == Some(Kind::Open)
                    && tokens.closing(*at).is_some_and(|close| close > *place)
            });
            open.and_then(|open| open.checked_sub(1)).is_some_and(|name| tokens.is(name, "COALESCE"))
        });
        if left || coalesced || !self.asked_to_be_null().is_empty() {
            return None;
        }
        // A row whose key is NULL would be gone, unless a condition, or the join that speaks of the table, wants a partner anyway.
        let stays = one && self.place.before.is_none() && !self.wants_partner() && !self.shows_it_alone();
        Some(if stays { "LEFT JOIN" } else { "JOIN" })
    }

    /// Whether a condition on the table must hold of every row, which none without a partner fulfils.
    fn wants_partner(&self) -> bool {
        const OTHERWISE: [&str; 4] = ["OR", "NOT", "IS", "CASE"];
        let tokens = &self.case.tokens;
        self.block.clause(Clause::Where).is_some_and(|range| {
            self.wanted.places.iter().any(|place| range.contains(place))
                && !range.clone().any(|at| tokens.is_any(at, &OTHERWISE))
        })
    }

    /// Whether nothing but the table's own columns is selected: of a row without a partner there is nothing to show.
    fn shows_it_alone(&self) -> bool {
        let tokens = &self.case.tokens;
        let Some(range) = self.block.clause(Clause::Select) else { return false };
        let own = |at: usize| {
            let column = if self.wanted.qualifier.is_some() { 2 } else { 0 };
            self.wanted.places.iter().any(|place| *place == at || place + column == at)
        };
        let read = |name: &String| {
            let details = self.relations.iter().filter_map(|relation| relation.detail.as_ref());
            details.flat_map(|detail| &detail.columns).any(|column| column.name == *name)
        };
        let other = |at: usize| {
            let is_column = tokens.name(at).is_some_and(|name| read(&name));
            let is_output = at.checked_sub(1).is_some_and(|before| tokens.is(before, "AS"));
            is_aggregate(tokens, at) || tokens.is_operator(at, "*") || (is_column && !is_output && !own(at))
        };
        self.wanted.places.iter().any(|place| range.contains(place)) && !range.clone().any(other)
    }

    /// Whether the column that a place speaks of has a value in every row, or is what the join compares.
    fn never_null(&self, way: &Way<'_>, place: usize) -> bool {
        let at = if self.wanted.qualifier.is_some() { place + 2 } else { place };
        let Some(name) = self.case.tokens.name(at) else { return false };
        let (mine, _) = sides(way);
        let column = way.table.columns.iter().find(|column| column.name == name);
        mine.contains(&name) || column.is_some_and(|column| !column.nullable)
    }
}
