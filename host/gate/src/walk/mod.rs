//! The walk: our own match over PostgreSQL's tree. What it does not know it denies.

mod beside;
mod call;
mod compared;
mod counts;
mod days;
mod expression;
mod from;
mod json;
mod limits;
mod losses;
mod names;
mod select;
mod sizes;
mod types;
mod window;
mod xml;

use std::collections::HashSet;

use pg_query::NodeEnum;
use pg_query::protobuf::{self, SelectStmt};

use crate::facts::{Collector, Facts};
use crate::policy::Limits;
use crate::rejection::{Refusal, RejectionCode};
use crate::scan::{Scan, too_deep};
use crate::scope::{Column, Item, Level, Scope, Value};
use crate::vocabulary::Vocabulary;

pub(crate) use names::strings;

/// What every step of the walk returns.
type Checked<T> = Result<T, Box<Refusal>>;

/// PostgreSQL's own limit of columns in a result.
const RESULT_COLUMNS: usize = 1_664;

/// Most columns that the joins of a statement may put together.
const JOINED_COLUMNS: usize = 1_000_000;

/// Names the walk met, for the second opinion.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Relations, common table expressions and functions in FROM, by their last name.
    pub(crate) relations: HashSet<String>,
    /// Functions by their last name.
    pub(crate) functions: HashSet<String>,
}

/// One walk over one tree.
pub(crate) struct Walk<'w> {
    vocabulary: &'w Vocabulary,
    limits: &'w Limits,
    text: &'w str,
    scan: &'w Scan,
    facts: Collector,
    pub(crate) seen: Seen,
    depth: usize,
    nodes: usize,
    /// Columns that joins have put together.
    joined: usize,
    /// Rows that series with constant bounds make together in the FROM that is being read.
    series: u64,
    /// The windows that the query has that is being read.
    windows: Vec<String>,
    /// Whether a turn of a recursive query is being tried, where only what multiplies for certain counts.
    turning: bool,
    /// Whether the condition that is walked next stands under a NOT, and under no second one.
    negated: bool,
}

impl<'w> Walk<'w> {
    pub(crate) fn new(vocabulary: &'w Vocabulary, limits: &'w Limits, text: &'w str, scan: &'w Scan) -> Self {
        Self {
            vocabulary,
            limits,
            text,
            scan,
            facts: Collector::default(),
            seen: Seen::default(),
            depth: 0,
            nodes: 0,
            joined: 0,
            series: 1,
            windows: Vec::new(),
            turning: false,
            negated: false,
        }
    }

    /// Checks the outermost query.
    pub(crate) fn query(&mut self, query: &SelectStmt) -> Checked<()> {
        self.select(query, &Scope { level: None, ctes: None }).map(drop)
    }

    /// Checks a domain's check: an expression over `VALUE` that stands after SELECT.
    pub(crate) fn check(&mut self, query: &SelectStmt, value: &Value) -> Checked<()> {
        let [protobuf::Node { node: Some(NodeEnum::ResTarget(target)) }] = query.target_list.as_slice()
        else {
            return Err(unsupported("this check"));
        };
        let columns = [Column { name: "value".into(), value: value.clone() }].into();
        let items = [Item {
            name: None,
            table: None,
            stored: false,
            columns,
            scalar: None,
            named: false,
            open: true,
        }];
        let level = Level { items: &items, outer: None };
        let node = inner(&target.val).ok_or_else(|| unsupported("this check"))?;
        self.computed(node, &Scope { level: Some(&level), ctes: None }).map(drop)
    }

    pub(crate) fn finish(self) -> Facts {
        let Self { facts, scan, text, .. } = self;
        facts.finish(|at| losses::beside_operator(scan, text, at))
    }

    /// Runs `step` one level deeper.
    fn deeper<T>(&mut self, step: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        self.count_node()?;
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(too_deep(self.limits.depth));
        }
        let outcome = step(self);
        self.depth -= 1;
        outcome
    }

    /// Bounds the columns of one result: stars over stars double with every level.
    fn few_columns(&self, columns: usize) -> Checked<()> {
        if columns <= RESULT_COLUMNS {
            return Ok(());
        }
        let message = format!("a result has more than {RESULT_COLUMNS} columns");
        Err(Refusal::new(RejectionCode::TooManyNodes, message).hint("Name the columns that are needed."))
    }

    /// Bounds the columns that all joins put together.
    fn count_joined(&mut self, columns: usize) -> Checked<()> {
        self.joined = self.joined.saturating_add(columns);
        if self.joined <= JOINED_COLUMNS {
            return Ok(());
        }
        Err(Refusal::new(RejectionCode::TooManyNodes, "the joins put too many columns together")
            .hint("Join fewer relations at once."))
    }

    fn count_node(&mut self) -> Checked<()> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            return Err(Refusal::new(
                RejectionCode::TooManyNodes,
                format!("the statement has more than {} nodes", self.limits.nodes),
            ));
        }
        Ok(())
    }

    fn server_version(&self) -> u32 {
        self.vocabulary.catalogue.server_version
    }

    /// A database before a schema must be the connected one; PostgreSQL reads no other.
    fn same_database(&self, name: &str, location: i32) -> Checked<()> {
        let connected = self.vocabulary.catalogue.database.as_str();
        if !connected.is_empty() && name == connected {
            return Ok(());
        }
        let message = format!("\"{name}\" is not known to be the database that is read");
        Err(Refusal::new(RejectionCode::OtherDatabase, message)
            .at(location)
            .hint("Leave the database out: a name starts with its schema."))
    }

    /// Refuses a form of a function that is newer than the connected server.
    fn has_version(&self, major: u32, what: &str, location: i32) -> Checked<()> {
        if self.server_version() >= major * 10_000 {
            return Ok(());
        }
        Err(Refusal::new(RejectionCode::UnknownFunction, format!("there is no {what} here"))
            .at(location)
            .hint(format!("It needs PostgreSQL {major}, the server is older.")))
    }

    /// Refuses syntax that is newer than the connected server.
    fn needs_version(&self, major: u32, what: &str, location: i32) -> Checked<()> {
        if self.server_version() >= major * 10_000 {
            return Ok(());
        }
        let message = format!("{what} needs PostgreSQL {major}, the server is older");
        Err(Refusal::new(RejectionCode::NewerSyntax, message).at(location))
    }
}

/// The node inside an optional box.
fn inner(node: &Option<Box<protobuf::Node>>) -> Option<&NodeEnum> {
    node.as_deref()?.node.as_ref()
}

/// A part of the tree the walk does not know.
fn unsupported(what: &str) -> Box<Refusal> {
    Refusal::new(RejectionCode::UnsupportedSyntax, format!("{what} is not supported here"))
}
