//! A table that the query speaks of and does not read: joined to it, where there is one table and one way to join it.

mod how;

use std::ops::Range;

use airlock_plugin_sdk::contract::catalog::{Join, TableDetail};
use airlock_plugin_sdk::words::{identifier_words, same, words};
use airlock_plugin_sdk::{Host, TableRef};

use super::filters::joined as all_of;
use super::grouping::has_key;
use crate::block::{Block, Clause, Source, blocks, with_names};
use crate::case::{Case, Proposal, Relation};
use crate::edit::Edit;
use crate::near::abbreviates;
use crate::tokens::identifier;
use how::How;

/// Words that begin a join, before its JOIN.
const BEFORE_JOIN: [&str; 4] = ["INNER", "LEFT", "OUTER", "CROSS"];

/// What the query writes of the table that is not there.
struct Wanted {
    /// What stands before its columns; none when they stand alone.
    qualifier: Option<String>,
    /// Its columns.
    columns: Vec<String>,
    /// The tokens that speak of it.
    places: Vec<usize>,
}

impl Way<'_> {
    /// Whether a row of what is read has at most one partner, and whether it may have none.
    fn one(&self) -> (bool, bool) {
        let (join, table) = (&self.join, &self.table);
        let forth = join.to == table.summary.table;
        // A key of the table that leads to what is read may have nothing to lead from.
        let back = !forth && has_key(table, &join.from_columns);
        ((forth && join.many_to_one) || back, join.optional || !forth)
    }
}

/// How sure it is that a table is the one a qualifier means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// By its name.
    Whole,
    /// By a part, or the first letters, of its name.
    Abbreviated,
    /// Only by its columns: `t2` says nothing.
    Not,
}

/// A table with the one join that brings it in.
struct Way<'r> {
    table: TableDetail,
    join: Join,
    /// What it is joined to.
    to: &'r Relation,
}

/// Joins the table that a qualifier means.
pub fn qualifier(case: &Case<'_, impl Host>, index: usize) -> Option<Proposal> {
    let reference = case.reference_at(index)?;
    let name = case.tokens.name(reference.qualifier?)?;
    let block = outermost(case, index, &name)?;
    let places = case.qualifiers(&block, &name);
    let columns = places.iter().filter_map(|at| case.tokens.name(at + 2)).collect();
    let wanted = Wanted { qualifier: Some(name.clone()), columns, places };
    let levels: &[Named] = if says_nothing(&name) {
        &[Named::Whole, Named::Abbreviated, Named::Not]
    } else {
        &[Named::Whole, Named::Abbreviated]
    };
    joined(case, &block, &wanted, levels)
}

/// Joins the table that has a column which nothing in the query has.
pub fn column(case: &Case<'_, impl Host>, block: &Block, index: usize) -> Option<Proposal> {
    let reference = case.reference_at(index).filter(|reference| reference.qualifier.is_none())?;
    let name = case.tokens.name(reference.column)?;
    let places = case.occurrences(block, &reference).into_iter().map(|found| found.column).collect();
    joined(case, block, &Wanted { qualifier: None, columns: vec![name], places }, &[Named::Not])
}

/// The outermost block around a token that itself speaks of the name: what is read there, its subqueries see.
fn outermost(case: &Case<'_, impl Host>, index: usize, name: &str) -> Option<Block> {
    let speaks = |block: &Block| {
        let mut places = case.qualifiers(block, name).into_iter();
        places.any(|at| case.block(at).as_ref() == Some(block))
    };
    let around = blocks(&case.tokens).into_iter().filter(|block| block.range.contains(&index));
    around.filter(speaks).max_by_key(|block| block.range.len())
}

/// One letter, or one with digits.
fn says_nothing(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).chars().count() < 2
}

fn joined(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted, levels: &[Named]) -> Option<Proposal> {
    let tokens = &case.tokens;
    let relations = case.relations(block);
    let common = with_names(tokens);
    let unread = |name: &String| {
        let mut all = blocks(tokens).into_iter().flat_map(|block| block.sources(tokens));
        !all.any(|source| source.relation.as_ref() == Some(name))
    };
    let outer = block.range.clone().any(|index| tokens.is_any(index, &["RIGHT", "FULL", "NATURAL"]));
    if outer || common.iter().any(unread) {
        return None;
    }
    // What a subquery gives is not in the catalogue: where only columns tell the table, it may be that.
    let unknown = relations.iter().any(|relation| relation.detail.is_none());
    let levels = levels.iter().copied().filter(|level| !unknown || *level != Named::Not);
    let place = Place::of(case, block, wanted)?;
    let at = block.range.start;
    let around = blocks(tokens).into_iter().filter(|block| block.range.contains(&at));
    let mut read: Vec<TableDetail> = Vec::new();
    for detail in around.flat_map(|block| case.relations(&block)).filter_map(|relation| relation.detail) {
        if read.iter().all(|known| known.summary.table != detail.summary.table) {
            read.push(detail);
        }
    }
    let search = Search { case, block, relations: &relations, read, place, wanted };
    let way = search.way(levels)?;
    let how = search.how(&way)?;
    let table = &way.table.summary.table;
    let name = written(table, false);
    let alias = wanted.qualifier.as_ref().filter(|alias| **alias != table.name);
    let alias = alias.map(|alias| format!(" AS {}", identifier(alias))).unwrap_or_default();
    let condition = condition(&way, wanted.qualifier.as_deref().unwrap_or(&table.name))?;
    let reason = match &wanted.qualifier {
        Some(qualifier) => {
            format!("The query speaks of {qualifier} and does not read it, and there is one way to join it.")
        }
        None => format!(
            "Nothing that the query reads has {}, and one table that can be joined in one way does.",
            wanted.columns.join(", ")
        ),
    };
    Some(match how {
        How::Joined { keyword, repeats } => {
            let join = format!("{keyword} {name}{alias} ON {condition}");
            let edit = match search.place.before {
                Some(before) => Edit::insert(case.span(before)?.start, format!("{join} ")),
                None => {
                    let segment = search.place.segments.iter().find(|part| holds(part, &way.to.source))?;
                    Edit::insert(tokens.bytes(segment)?.end, format!(" {join}"))
                }
            };
            let told = repeats.map(|told| format!(" {told}")).unwrap_or_default();
            let change = format!("{} is joined on {condition}.{told}", table.name);
            Proposal { edits: vec![edit], change, reason }
        }
        How::Among { moved, kept } => {
            let asked = all_of(tokens, &moved);
            let exists = format!("EXISTS (SELECT 1 FROM {name}{alias} WHERE {condition} AND {asked})");
            let kept =
                if kept.is_empty() { String::new() } else { format!("{} AND ", all_of(tokens, &kept)) };
            let filter = tokens.bytes(block.clause(Clause::Where)?)?;
            Proposal {
                edits: vec![Edit::replace(filter, format!("{kept}{exists}"))],
                change: format!(
                    "{asked} is now asked of the rows of {} with {condition}: a row is kept once, however many of them are so.",
                    table.name
                ),
                reason,
            }
        }
        How::Instead => {
            let read = way.to.source.name.as_ref()?;
            Proposal {
                edits: vec![Edit::replace(tokens.bytes(read)?, name.clone())],
                change: format!("{name} is read in the place of {}.", tokens.slice(read)),
                reason: format!(
                    "The question speaks of {}, which has {}, and the query uses no column of {}.",
                    table.name,
                    wanted.columns.join(", "),
                    tokens.slice(read)
                ),
            }
        }
    })
}

/// Where a join can be put.
struct Place {
    /// The parts of FROM between its commas.
    segments: Vec<Range<usize>>,
    /// The first word of the join whose condition speaks of the table: it must be there before.
    before: Option<usize>,
}

impl Place {
    fn of(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted) -> Option<Self> {
        let tokens = &case.tokens;
        let from = block.clause(Clause::From)?;
        let segments = tokens.split(from.clone());
        let first = wanted.places.iter().filter(|place| from.contains(place)).min();
        let before = match first {
            None => None,
            Some(first) => {
                let own = |at: &usize| tokens.get(*at).is_some_and(|token| token.depth == block.depth);
                let join = (from.start..*first).rev().filter(own).find(|at| tokens.is(*at, "JOIN"))?;
                let begins =
                    (from.start..join).rev().take_while(|at| tokens.is_any(*at, &BEFORE_JOIN)).last();
                Some(begins.unwrap_or(join))
            }
        };
        Some(Self { segments, before })
    }

    /// Whether the table can be joined to a source: one of the same part of FROM, and named before.
    fn reaches(&self, source: &Source) -> bool {
        self.before.is_none_or(|join| {
            let part = self.segments.iter().find(|part| part.contains(&join));
            part.is_some_and(|part| holds(part, source))
                && source.name.as_ref().is_some_and(|name| name.start < join)
        })
    }
}

fn holds(part: &Range<usize>, source: &Source) -> bool {
    source.name.as_ref().is_some_and(|name| part.contains(&name.start))
}

/// What is looked through for the table that is wanted.
struct Search<'r, 'a, H> {
    case: &'r Case<'a, H>,
    block: &'r Block,
    relations: &'r [Relation],
    /// What the block and those around it read, each once.
    read: Vec<TableDetail>,
    place: Place,
    wanted: &'r Wanted,
}

impl<'r, H: Host> Search<'r, '_, H> {
    /// The only table and join that bring in what is wanted. Of those that the name fits better only the better ones count.
    fn way(&self, levels: impl Iterator<Item = Named>) -> Option<Way<'r>> {
        let fitting = self.fitting();
        let qualifier = self.wanted.qualifier.as_deref();
        for level in levels {
            let here = |table: &&TableDetail| level == Named::Not || named(table, qualifier) == level;
            // The name may mean what is read already.
            if level != Named::Not
                && fitting.iter().filter(here).any(|table| self.reads(&table.summary.table))
            {
                return None;
            }
            let ways: Vec<Way<'r>> = fitting.iter().filter(here).flat_map(|table| self.ways(table)).collect();
            if ways.is_empty() {
                if level == Named::Whole && fitting.iter().any(|table| here(&table)) {
                    return None;
                }
                continue;
            }
            let only = self.meant(ways)?;
            // Another table that has all of it is as likely where the question names that one, and where a letter is all
            // that speaks for this one.
            let asked = |table: &TableDetail| self.asks_for(&table.summary.table.name);
            let letter = qualifier.is_some_and(says_nothing);
            let rival = |table: &TableDetail| {
                table.summary.table != only.table.summary.table
                    && (letter || asked(table))
                    && !self.ways(table).is_empty()
            };
            let doubted = level == Named::Abbreviated && !asked(&only.table) && fitting.iter().any(rival);
            return (!doubted).then_some(only);
        }
        None
    }

    /// Tables in use that have every column that is wanted, of those that may be meant: what is read, what a verified join of
    /// it leads to, and what is called like the qualifier. To describe the whole catalogue costs more than a call may.
    fn fitting(&self) -> Vec<TableDetail> {
        let host = self.case.host;
        let details = self.relations.iter().filter_map(|relation| relation.detail.as_ref());
        let joins = details.flat_map(|detail| &detail.joins).filter(|join| join.verified);
        let mut listed: Vec<TableRef> = Vec::new();
        let called = host.tables().into_iter().map(|summary| summary.table).filter(|table| {
            self.wanted.qualifier.as_ref().is_some_and(|name| table.name.to_lowercase() == *name)
        });
        for table in joins.flat_map(|join| [join.from.clone(), join.to.clone()]).chain(called) {
            if !listed.contains(&table) && !self.reads(&table) {
                listed.push(table);
            }
        }
        let described = listed.iter().filter_map(|table| host.describe(table));
        let has_all = |detail: &TableDetail| {
            let has = |name: &String| detail.columns.iter().any(|column| column.name == *name);
            self.wanted.columns.iter().all(has)
        };
        let all = self.read.iter().cloned().chain(described);
        all.filter(|detail| detail.in_use && has_all(detail)).collect()
    }

    /// Whether the block, or one around it, reads the table.
    fn reads(&self, table: &TableRef) -> bool {
        self.read.iter().any(|read| read.summary.table == *table)
    }

    /// The verified joins by which a table can be had. One that is read already is had by a key that is not yet compared.
    fn ways(&self, table: &TableDetail) -> Vec<Way<'r>> {
        let again = self.reads(&table.summary.table);
        let mut ways = Vec::new();
        for to in self.relations.iter().filter(|relation| self.place.reaches(&relation.source)) {
            let own = to.detail.as_ref().is_some_and(|detail| detail.summary.table == table.summary.table);
            let joins = table.joins.iter().filter(|join| join.verified && connects(join, table, to));
            let taken = |join: &Join| own || (again && self.compares(to, join, table));
            let joins = joins.filter(|join| !taken(join));
            ways.extend(joins.map(|join| Way { table: table.clone(), join: join.clone(), to }));
        }
        ways
    }

    /// Whether a column of the join is compared for equality already, on the side of what is read.
    fn compares(&self, to: &Relation, join: &Join, table: &TableDetail) -> bool {
        let theirs = if join.from == table.summary.table { &join.to_columns } else { &join.from_columns };
        let Some(name) = to.source.visible() else { return true };
        let tokens = &self.case.tokens;
        self.case.qualifiers(self.block, name).into_iter().any(|at| {
            let column = tokens.name(at + 2).is_some_and(|column| theirs.contains(&column));
            let before = at.checked_sub(1).is_some_and(|before| tokens.is_operator(before, "="));
            column && (before || tokens.is_operator(at + 3, "="))
        })
    }

    /// The only way, or of several the one whose key the question names.
    fn meant(&self, mut ways: Vec<Way<'r>>) -> Option<Way<'r>> {
        if ways.len() == 1 {
            return ways.pop();
        }
        let words: Vec<Vec<String>> = ways
            .iter()
            .map(|way| way.join.from_columns.iter().flat_map(|name| identifier_words(name)).collect())
            .collect();
        // What all keys have in their names tells none of them apart.
        let own = |at: usize| {
            let all = |word: &String| words.iter().all(|others| others.contains(word));
            words.get(at).into_iter().flatten().filter(move |word| !all(word))
        };
        let named = |word: &String| self.asks_for(word) || self.asks_for_one_with(word);
        let mut named = (0..ways.len()).filter(|at| own(*at).any(named));
        let (Some(only), None) = (named.next(), named.next()) else { return None };
        Some(ways.swap_remove(only))
    }

    /// Whether the question speaks of what has a thing by its participle: `green-skinned` of a skin.
    fn asks_for_one_with(&self, word: &str) -> bool {
        let doubled = word.chars().next_back().map(|last| format!("{word}{last}ed"));
        let participles = [Some(format!("{word}ed")), doubled];
        let asked = words(&self.case.input.question);
        asked.iter().any(|asked| participles.iter().flatten().any(|one| asked.text.eq_ignore_ascii_case(one)))
    }

    /// Whether every word of a name stands in the question.
    fn asks_for(&self, name: &str) -> bool {
        let asked = words(&self.case.input.question);
        let words = identifier_words(name);
        !words.is_empty() && words.iter().all(|word| asked.iter().any(|asked| same(&asked.text, word)))
    }
}

fn named(table: &TableDetail, qualifier: Option<&str>) -> Named {
    let Some(qualifier) = qualifier else { return Named::Not };
    let name = table.summary.table.name.to_lowercase();
    if name == qualifier {
        return Named::Whole;
    }
    let short = qualifier.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_lowercase();
    let words = identifier_words(&name);
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    let word =
        words.iter().any(|word| short.len() > 1 && (word.starts_with(&short) || abbreviates(&short, word)));
    let abbreviated = !short.is_empty() && (name.starts_with(&short) || initials == short || word);
    if abbreviated { Named::Abbreviated } else { Named::Not }
}

fn connects(join: &Join, table: &TableDetail, to: &Relation) -> bool {
    let Some(other) = &to.detail else { return false };
    let (this, other) = (&table.summary.table, &other.summary.table);
    (join.from == *this && join.to == *other) || (join.to == *this && join.from == *other)
}

/// A table as SQL names it. What is in `public` needs no schema, but where one was written.
pub(super) fn written(table: &TableRef, with_schema: bool) -> String {
    if table.schema == "public" && !with_schema {
        identifier(&table.name)
    } else {
        format!("{}.{}", identifier(&table.schema), identifier(&table.name))
    }
}

/// The columns that a join compares: those of the new table, and those of what is read.
fn sides<'w>(way: &'w Way<'_>) -> (&'w [String], &'w [String]) {
    if way.join.from == way.table.summary.table {
        (&way.join.from_columns, &way.join.to_columns)
    } else {
        (&way.join.to_columns, &way.join.from_columns)
    }
}

fn condition(way: &Way<'_>, own: &str) -> Option<String> {
    let (mine, theirs) = sides(way);
    let other = way.to.source.visible()?;
    let pairs = mine.iter().zip(theirs).map(|(mine, theirs)| {
        format!("{}.{} = {}.{}", identifier(other), identifier(theirs), identifier(own), identifier(mine))
    });
    let written = pairs.collect::<Vec<_>>().join(" AND ");
    (!written.is_empty()).then_some(written)
}
