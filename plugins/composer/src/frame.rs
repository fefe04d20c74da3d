//! What the question asks, with every mention settled: measures, an entity, groups, filters, rank.

use airlock_plugin_sdk::question::grammar::{Aggregate, Comparison, Grain, Quality};

/// Something computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// How many rows of a table.
    Count(usize),
    /// How many different values of a column.
    CountValues(usize, usize),
    /// An aggregate of a column.
    Aggregate(Aggregate, usize, usize),
    /// A measure of the glossary.
    Metric(usize),
}

/// Something that rows are gathered by or listed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Key {
    /// One for each row of a table.
    Table(usize),
    /// One for each value of a column.
    Column(usize, usize),
    /// One for each step of time.
    Time(Grain),
}

/// What a rank goes by.
#[derive(Debug, Clone, PartialEq)]
pub enum By {
    /// A measure over the rows that belong to the entity.
    Measure(Measure),
    /// A column, of the entity itself or not.
    Column(usize, usize),
    /// A quality such as price, to be found among the entity's columns.
    Quality(Quality),
}

/// The first or last few.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// How many; absent when the question names no number and means more than one.
    pub count: Option<u32>,
    /// The greatest first.
    pub descending: bool,
    /// What it goes by.
    pub by: Option<By>,
}

/// A restriction.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// What it restricts.
    pub kind: FilterKind,
    /// The opposite is meant.
    pub negated: bool,
    /// Index of the item it came from; what stands after the counted thing counts as its numerator in a share.
    pub at: usize,
}

/// What a restriction says.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterKind {
    /// A column has one of some values.
    Values(usize, usize, Vec<String>),
    /// A column equals a text, whatever its case.
    Text(usize, usize, String),
    /// A number compares.
    Compare(usize, usize, Comparison, f64),
    /// A number lies between two, both included.
    Between(usize, usize, f64, f64),
    /// A column has no value.
    Missing(usize, usize),
    /// A boolean column.
    Flag(usize, usize, bool),
    /// A condition of the glossary.
    Condition(usize),
    /// A text column matches a pattern, whatever the case.
    Like(usize, usize, String),
    /// A number compares with the mean of all rows.
    Mean(usize, usize, Comparison),
    /// A key of the same table names the row: it is somebody's manager.
    Pointed(usize, usize),
    /// One of several restrictions.
    Any(Vec<FilterKind>),
}

impl FilterKind {
    /// The column it restricts.
    pub const fn column(&self) -> Option<(usize, usize)> {
        match self {
            Self::Values(table, column, _)
            | Self::Text(table, column, _)
            | Self::Compare(table, column, _, _)
            | Self::Between(table, column, _, _)
            | Self::Missing(table, column)
            | Self::Like(table, column, _)
            | Self::Mean(table, column, _)
            | Self::Pointed(table, column)
            | Self::Flag(table, column, _) => Some((*table, *column)),
            Self::Condition(_) | Self::Any(_) => None,
        }
    }
}

/// One quantity divided by another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// What is divided.
    pub above: Frame,
    /// What it is divided by.
    pub below: Frame,
    /// In percent.
    pub percent: bool,
}

/// The question, settled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// What is computed.
    pub measures: Vec<Measure>,
    /// What is listed or ranked.
    pub entity: Option<Key>,
    /// Columns to show.
    pub outputs: Vec<(usize, usize)>,
    /// What rows are gathered by.
    pub groups: Vec<Key>,
    /// The first or last few.
    pub rank: Option<Rank>,
    /// Restrictions.
    pub filters: Vec<Filter>,
    /// What groups must meet.
    pub having: Vec<(Measure, Comparison, f64)>,
    /// What groups must meet, held against a number of the listed things themselves: `owe more than their limit`.
    pub over: Vec<(Measure, Comparison, (usize, usize))>,
    /// Measures of the glossary that come to nothing for a listed thing: `have nothing on order`.
    pub none: Vec<usize>,
    /// Tables that must hold nothing that points here.
    pub anti: Vec<usize>,
    /// Tables that are named without a part of their own, with the item's index.
    pub context: Vec<(usize, usize)>,
    /// Moments by index, with the item's index.
    pub moments: Vec<(usize, usize)>,
    /// Time columns that are named for themselves.
    pub time_columns: Vec<(usize, usize)>,
    /// Stems of verbs that tell which date of a thing is meant.
    pub verbs: Vec<String>,
    /// An order that is asked for: what by, the greatest first.
    pub order: Option<(Option<By>, bool)>,
    /// Equal rows once.
    pub distinct: bool,
    /// A share: the table whose rows are the whole, and the item's index.
    pub share: Option<(usize, usize)>,
    /// A quotient of two quantities, each a question of its own; and what it is multiplied by.
    pub ratio: Option<Box<Ratio>>,
    /// The groups themselves are ranked: `top 5 combinations of`.
    pub combined: bool,
    /// What was asked to be returned was told apart, so the rest is not shown.
    pub returned: bool,
    /// Only what happened on Saturdays and Sundays, or only what did not.
    pub weekend: Option<bool>,
    /// The place of each group by a measure is wanted.
    pub place: Option<Measure>,
    /// The measure is computed for each group and then this is taken of the groups.
    pub nested: Option<Aggregate>,
    /// Two values are wanted at once, on different rows.
    pub both: bool,
    /// Tokens that mean something in the frame.
    pub used: Vec<usize>,
}
