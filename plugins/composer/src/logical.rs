//! The query before it is text: a tree of joins, what is selected, what is kept, in which order.

use airlock_plugin_sdk::question::grammar::{Aggregate, Grain};
use airlock_plugin_sdk::question::moments::Period;

/// One table of the query, joined to its parent along a many-to-one edge; the first is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Position in the schema.
    pub table: usize,
    /// The node it is joined to and which edge of that table leads here. None for the root.
    pub parent: Option<(usize, usize)>,
    /// Rows without a partner stay.
    pub left: bool,
    /// The edge is this table's own and leads to the parent; only where it does not matter how often a row is met.
    pub up: bool,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column of a node.
    Column(usize, usize),
    /// An aggregate over a column.
    Aggregate(Aggregate, usize, usize),
    /// Number of rows.
    CountRows,
    /// Number of different values; several columns make a row.
    CountDistinct(usize, Vec<usize>),
    /// SQL of the glossary; names of tables stand for the nodes given.
    Raw(String, Vec<(usize, usize)>),
    /// A number of exact places, rounded to two.
    Rounded(Box<Expr>),
    /// A column cut to a step of time.
    Step(Grain, usize, usize),
    /// Share of the rows that meet the conditions, in percent.
    Share(Vec<Pred>),
    /// 1 for a row that meets the conditions, else 0.
    Holds(Vec<Pred>),
    /// Share of each group in the rows of all groups, in percent.
    OfAll,
    /// An aggregate over the rows that meet further conditions.
    Filtered(Box<Expr>, Vec<Pred>),
    /// One aggregate divided by another one, times a number.
    Quotient(Box<Expr>, Box<Expr>, &'static str),
    /// The place of each group when ordered by an aggregate, the greatest first.
    Place(Box<Expr>),
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Pred {
    /// A column compared with a literal of SQL.
    Compare(usize, usize, &'static str, String),
    /// A text column equal to a literal whatever the case.
    SameText(usize, usize, String),
    /// A text column that matches a pattern whatever the case.
    Like(usize, usize, String),
    /// One of several conditions.
    Any(Vec<Pred>),
    /// A column among literals.
    In(usize, usize, Vec<String>),
    /// NULL, or not.
    Null(usize, usize, bool),
    /// A boolean column, or its negation.
    Flag(usize, usize, bool),
    /// A column inside a period.
    Within(usize, usize, Period),
    /// A year number inside a period of whole years.
    Years(usize, usize, Period),
    /// SQL of the glossary.
    Raw(String, Vec<(usize, usize)>),
    /// Not.
    Not(Box<Pred>),
    /// Rows elsewhere that point here, or none.
    Exists(bool, Box<Existence>),
}

/// Rows of other tables that point to the root.
#[derive(Debug, Clone, PartialEq)]
pub struct Existence {
    /// Their tables; the first is the root of the subquery.
    pub nodes: Vec<Node>,
    /// The node whose edge leads to the outer node.
    pub last: usize,
    /// Which edge.
    pub edge: usize,
    /// The edge is the outer table's and leads to that node.
    pub forward: bool,
    /// The outer node.
    pub outer: usize,
    /// Further conditions.
    pub preds: Vec<Pred>,
}

/// Something in the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// What.
    pub expr: Expr,
    /// Its name, when the expression has none of its own.
    pub alias: Option<String>,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Its tables.
    pub nodes: Vec<Node>,
    /// Equal rows once.
    pub distinct: bool,
    /// Its output.
    pub select: Vec<Output>,
    /// What rows must meet.
    pub preds: Vec<Pred>,
    /// What rows are gathered by.
    pub groups: Vec<Expr>,
    /// What groups must meet: an aggregate, an operator, a number.
    pub having: Vec<(Expr, &'static str, String)>,
    /// In which order: the expression and whether the greatest comes first.
    pub order: Vec<(Expr, bool)>,
    /// How many rows.
    pub limit: Option<u32>,
    /// How many rows of each group of these, in the order.
    pub within: Vec<Expr>,
}
