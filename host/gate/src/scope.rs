//! What names mean at one place of a text: values, columns, relations in scope, and common table expressions.
//!
//! It follows PostgreSQL's own name space: a level is a list of items; an item can be named, its columns can be named
//! without it, or both; a level that knows a name hides the levels around it.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use airlock_types::{ColumnRef, TableRef};

use crate::facts::Folding;

/// What is known about the type of a value, as far as it matters here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A type of `pg_catalog`, or one whose code cannot matter.
    Plain,
    /// A type from outside `pg_catalog`, or an array of it.
    Named { name: Arc<TableRef>, array: bool },
    /// A type into which no text may be turned: a domain whose checks nobody vetted, or one that looks things up. Its
    /// values themselves are ordinary.
    Guarded(Arc<TableRef>),
    /// A row with these fields.
    Row(Arc<[Column]>),
    /// An array of such values.
    ArrayOf(Box<Kind>),
    /// One of these, and the text does not show which: it has no fields, and it is opaque when one of them is.
    Either(Arc<[Kind]>),
}

impl Kind {
    /// A row whose fields nobody described.
    pub(crate) fn unknown_row() -> Self {
        Self::Named { name: Arc::new(TableRef::new("pg_catalog", "record")), array: false }
    }

    /// Whether it is such a row.
    pub(crate) fn is_unknown_row(&self) -> bool {
        matches!(self, Self::Named { name, .. } if name.schema == "pg_catalog" && name.name == "record")
    }

    /// What two values that PostgreSQL gives one type have together. A literal takes the type of the other side.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Plain, kind) | (kind, Self::Plain) => kind.clone(),
            (mine, theirs) if mine == theirs => mine.clone(),
            (Self::Row(mine), Self::Row(theirs)) if mine.len() == theirs.len() => {
                let fields = mine.iter().zip(theirs.iter()).map(|(mine, theirs)| Column {
                    name: Arc::clone(&mine.name),
                    value: Value { kind: mine.value.kind.joined(&theirs.value.kind), ..mine.value.clone() },
                });
                Self::Row(fields.collect())
            }
            (mine, theirs) => Self::Either([mine.clone(), theirs.clone()].into()),
        }
    }
}

/// What a value is to arithmetic and to comparisons, as far as the text and the catalogue show it. Nothing is allowed or
/// refused for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Nature {
    /// Something else, or not known.
    #[default]
    Other,
    /// A whole number whose sum is a whole number too.
    Whole,
    /// A whole number whose sum is a `numeric`.
    Wide,
    /// A day of the calendar.
    Day,
    /// A moment, with or without its time zone.
    Moment,
    /// The first moment of a day that somebody names, such as `CURRENT_DATE - interval '7 days'`.
    FirstMoment,
    /// The first moment of a day at which a span of time begins or ends, such as `date_trunc('month', now())`.
    Boundary,
    /// An interval that is written out: which way its days go, and its months.
    Interval(Ordering, Ordering),
    /// A range of moments that has the first moment of its last day and no more of it.
    ToLastDay,
}

impl Nature {
    /// Of the values of a type of `pg_catalog`.
    pub(crate) fn of_type(name: &str) -> Self {
        match name {
            "int2" | "int4" => Self::Whole,
            "int8" => Self::Wide,
            "date" => Self::Day,
            "timestamp" | "timestamptz" => Self::Moment,
            _ => Self::Other,
        }
    }

    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Wide)
    }

    /// What it is when an interval with these directions is added.
    pub(crate) fn moved(self, days: Ordering, months: Ordering) -> Self {
        let back = days == Ordering::Less;
        match self {
            // A day before a month begins is the last one of the month before.
            Self::Boundary if back => Self::FirstMoment,
            // A month after the first of one begins the next.
            Self::Day | Self::FirstMoment if days.then(months) == Ordering::Greater => Self::Boundary,
            Self::Day | Self::FirstMoment => Self::FirstMoment,
            Self::Boundary => Self::Boundary,
            _ => Self::Other,
        }
    }

    /// What two values that PostgreSQL gives one type are together.
    pub(crate) fn joined(self, other: Self) -> Self {
        match (self, other) {
            (mine, theirs) if mine == theirs => mine,
            (mine, theirs) if mine.is_whole() && theirs.is_whole() => Self::Wide,
            _ => Self::Other,
        }
    }
}

/// What is known about a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) nature: Nature,
    /// The column it comes from unchanged.
    pub(crate) origin: Option<Arc<ColumnRef>>,
    /// What of the text or the data can still be seen in it.
    pub(crate) trace: Trace,
    /// How many bytes of it the text itself could have made.
    pub(crate) bytes: u64,
    /// The largest whole number that the text itself could have made of it.
    pub(crate) count: u64,
}

/// A literal with its bytes in the text.
pub(crate) type Written = (String, Range<usize>);

/// Literals of one value that are remembered.
const WRITTEN: usize = 64;

/// What of the text or the data can still be seen in a value: for advice alone, so that it is no part of what a value is.
#[derive(Debug, Clone, Default)]
pub(crate) enum Trace {
    /// Nothing.
    #[default]
    Lost,
    /// A column's texts, with something done to their letters or spaces.
    Folded(Arc<ColumnRef>, Folding),
    /// It is one of these literals.
    Written(Arc<Vec<Written>>),
}

impl PartialEq for Trace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Trace {
    /// Of a value that is one of these literals.
    pub(crate) fn written(literals: Vec<Written>) -> Self {
        if literals.is_empty() { Self::Lost } else { Self::Written(Arc::new(literals)) }
    }

    /// Of a value that is this one or another.
    pub(crate) fn unite(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Written(mine), Self::Written(theirs)) => {
                let room = WRITTEN.saturating_sub(mine.len());
                Arc::make_mut(mine).extend(theirs.iter().take(room).cloned());
            }
            _ => *self = Self::Lost,
        }
    }
}

/// The bytes that a stored value counts for in an estimate.
pub(crate) const STORED_BYTES: u64 = 32;

/// The number that a stored value counts for in an estimate.
pub(crate) const STORED_COUNT: u64 = 100;

/// A number of which nothing is known.
pub(crate) const UNBOUNDED: u64 = u64::MAX;

impl Value {
    /// A value of no special type.
    pub(crate) const fn plain(bytes: u64) -> Self {
        Self {
            kind: Kind::Plain,
            nature: Nature::Other,
            origin: None,
            trace: Trace::Lost,
            bytes,
            count: UNBOUNDED,
        }
    }

    /// True or false.
    pub(crate) const fn truth() -> Self {
        Self {
            kind: Kind::Plain,
            nature: Nature::Other,
            origin: None,
            trace: Trace::Lost,
            bytes: 1,
            count: 1,
        }
    }

    /// A stored value.
    pub(crate) const fn of(kind: Kind) -> Self {
        Self {
            kind,
            nature: Nature::Other,
            origin: None,
            trace: Trace::Lost,
            bytes: STORED_BYTES,
            count: STORED_COUNT,
        }
    }

    /// The same with another largest number.
    pub(crate) fn counted(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    /// The same with what it is to arithmetic.
    pub(crate) fn being(mut self, nature: Nature) -> Self {
        self.nature = nature;
        self
    }

    /// The same, but no longer a column's own value.
    pub(crate) fn computed(mut self) -> Self {
        (self.origin, self.trace) = (None, Trace::Lost);
        self
    }

    /// The same with what can still be seen in it.
    pub(crate) fn showing(mut self, trace: Trace) -> Self {
        self.trace = trace;
        self
    }

    /// The column whose texts it is, and what was done to them.
    pub(crate) fn column(&self) -> Option<(Arc<ColumnRef>, Folding)> {
        match (&self.origin, &self.trace) {
            (Some(column), _) => Some((Arc::clone(column), Folding::default())),
            (None, Trace::Folded(column, folding)) => Some((Arc::clone(column), *folding)),
            _ => None,
        }
    }

    /// What can be seen in it when it is handed on as another type of text.
    pub(crate) fn traced(&self) -> Trace {
        match self.column() {
            Some((column, folding)) => Trace::Folded(column, folding),
            None => self.trace.clone(),
        }
    }
}

/// A column of something in scope, or of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: Arc<str>,
    pub(crate) value: Value,
}

/// Something in FROM.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The name it goes by; absent for a subquery or join without alias.
    pub(crate) name: Option<Arc<str>>,
    /// The relation it is, when it can also be named with its schema.
    pub(crate) table: Option<Arc<TableRef>>,
    /// Whether it has system columns.
    pub(crate) stored: bool,
    pub(crate) columns: Arc<[Column]>,
    /// What its name alone means as a value, when it is not the row of its columns.
    pub(crate) scalar: Option<Value>,
    /// Whether it can be named.
    pub(crate) named: bool,
    /// Whether its columns can be named without it.
    pub(crate) open: bool,
}

impl Item {
    /// What the item's name alone means.
    pub(crate) fn whole(&self) -> Value {
        self.scalar.clone().unwrap_or_else(|| Value::of(Kind::Row(Arc::clone(&self.columns))))
    }
}

/// One level of names and the levels around it.
#[derive(Clone, Copy)]
pub(crate) struct Level<'s> {
    pub(crate) items: &'s [Item],
    pub(crate) outer: Option<&'s Level<'s>>,
}

/// What a common table expression gives.
#[derive(Debug)]
pub(crate) enum Cte {
    /// Its columns are known.
    Known(Arc<[Column]>),
    /// Its name is taken, its columns are not known yet.
    NotYet,
}

/// The common table expressions in force, innermost first.
#[derive(Debug)]
pub(crate) struct Ctes {
    pub(crate) name: Arc<str>,
    pub(crate) cte: Cte,
    pub(crate) outer: Option<Arc<Ctes>>,
}

/// Everything that names mean at one place.
#[derive(Clone)]
pub(crate) struct Scope<'s> {
    pub(crate) level: Option<&'s Level<'s>>,
    pub(crate) ctes: Option<Arc<Ctes>>,
}

impl Scope<'_> {
    /// The common table expression an unqualified name means.
    pub(crate) fn cte(&self, name: &str) -> Option<&Cte> {
        let mut next = self.ctes.as_deref();
        while let Some(here) = next {
            if *here.name == *name {
                return Some(&here.cte);
            }
            next = here.outer.as_deref();
        }
        None
    }

    /// The same common table expressions with one more.
    pub(crate) fn with_cte(&self, name: &str, cte: Cte) -> Self {
        Self {
            level: self.level,
            ctes: Some(Arc::new(Ctes { name: name.into(), cte, outer: self.ctes.clone() })),
        }
    }

    /// The levels, innermost first.
    pub(crate) fn levels(&self) -> impl Iterator<Item = &Level<'_>> {
        std::iter::successors(self.level, |level| level.outer)
    }

    /// The nearest name in scope, for a hint.
    pub(crate) fn nearest_column(&self, name: &str) -> Option<String> {
        let names = self
            .levels()
            .flat_map(|level| level.items.iter().filter(|item| item.open))
            .flat_map(|item| item.columns.iter().map(|column| &*column.name));
        nearest(name, names).map(str::to_owned)
    }
}

/// The candidate that is most like `name`, if any is like it at all.
pub(crate) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    candidates
        .take(20_000)
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let mut score = strsim::jaro_winkler(&name, &lower);
            // `customers` for `customer`, `total_amt` for `total`: one holds the other.
            if name.len() > 3 && (lower.contains(&name) || name.contains(&lower) && lower.len() > 3) {
                score += 0.1;
            }
            (candidate, score)
        })
        .filter(|(_, score)| *score > 0.82)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(candidate, _)| candidate)
}

/// Columns every stored relation has and none lists.
pub(crate) fn is_system_column(name: &str) -> bool {
    matches!(name, "ctid" | "xmin" | "xmax" | "cmin" | "cmax" | "tableoid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_strange_one_is_not() {
        for (name, want) in [
            ("custmers", Some("customers")),
            ("customer", Some("customers")),
            ("total", Some("total_amt")),
            ("zzz", None),
        ] {
            assert_eq!(nearest(name, ["customers", "orders", "total_amt"].into_iter()), want, "{name}");
        }
    }
}
