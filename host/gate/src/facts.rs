//! What an approved text reads: relations, columns, functions, and the literals it compares columns with.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use airlock_types::{ColumnRef, TableRef};
use serde::Serialize;

/// What an approved text reads. Lists are in order of appearance, each thing once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Facts {
    /// Relations of the catalogue.
    pub tables: Vec<TableRef>,
    /// Columns of those relations, also where a star or a whole row stands for them.
    pub columns: Vec<ColumnRef>,
    /// Functions as written, with a schema where the text has one.
    pub functions: Vec<String>,
    /// Literals that are compared with a column.
    pub literals: Vec<ComparedLiteral>,
    /// What PostgreSQL leaves out of the result without a word.
    pub losses: Vec<Loss>,
    /// Whether it asks the server what day or time it is.
    #[serde(skip)]
    pub reads_clock: bool,
}

/// A place where PostgreSQL leaves something out of the result without an error, and where nothing in the text says that
/// the writer meant it to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What is left out.
    pub kind: LossKind,
    /// First byte of the operator in the text: of `/`, `BETWEEN`, `NOT`, `IN`, `IS`, `<@`, `@>`, of a comparison, or of the WHEN
    /// of a CASE that compares.
    pub at: usize,
    /// The column that is compared; absent for a division.
    pub column: Option<ColumnRef>,
    /// Whether the day is written as a moment, so that the next one is an interval later and not a number.
    pub in_moments: bool,
}

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// What is behind the point, where a whole number is divided by a whole number.
    Fraction,
    /// All of the last day but its first moment, where moments are compared with a range that ends in a day.
    LastDay,
    /// All of a day but its first moment, where a moment is compared with a day for equality.
    OneDay,
    /// Nothing but the first moment of a day, where moments are compared with a day that is to be left out: the rest of that
    /// day stays in.
    NotOneDay,
}

/// A literal that the text compares with a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedLiteral {
    /// The column.
    pub column: ColumnRef,
    /// As written: `=`, `<>`, `LIKE`, `IN`, `BETWEEN`; `CASE` for what a CASE compares its first value with; `IN` also for
    /// the literals of rows that are joined, as by VALUES.
    pub operator: String,
    /// What the text makes of the column before it compares.
    pub folded: Folding,
    /// The value, without quotes and escapes.
    pub literal: String,
    /// Its bytes in the text, quotes included; of an array in one literal those of the element.
    pub span: Range<usize>,
}

impl ComparedLiteral {
    /// The operator, behind the function that the column is given to: `=`, `lower =`.
    #[must_use]
    pub fn comparison(&self) -> String {
        let of_case = match self.folded.case {
            Some(Letters::Lower) => "lower ",
            Some(Letters::Upper) => "upper ",
            Some(Letters::Initials) => "initcap ",
            None => "",
        };
        format!("{}{of_case}{}", if self.folded.trimmed { "btrim " } else { "" }, self.operator)
    }
}

/// What becomes of the letters of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Letters {
    /// By `lower`.
    Lower,
    /// By `upper`.
    Upper,
    /// By `initcap`.
    Initials,
}

/// What a text makes of a column's texts before it compares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Folding {
    /// What becomes of their letters.
    pub case: Option<Letters>,
    /// Whether spaces around them go.
    pub trimmed: bool,
}

impl Folding {
    /// Whether the column is compared as it is.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// What is compared of a stored text.
    #[must_use]
    pub fn of(self, stored: &str) -> String {
        let text = if self.trimmed { stored.trim_matches(' ') } else { stored };
        match self.case {
            None => text.to_owned(),
            Some(Letters::Lower) => text.to_lowercase(),
            Some(Letters::Upper) => text.to_uppercase(),
            Some(Letters::Initials) => {
                let mut inside = false;
                let letter = |c: char| {
                    let begins = !std::mem::replace(&mut inside, c.is_alphanumeric());
                    if begins { c.to_uppercase().to_string() } else { c.to_lowercase().to_string() }
                };
                text.chars().map(letter).collect()
            }
        }
    }
}

/// Facts while they are collected.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    facts: Facts,
    tables: HashSet<Arc<TableRef>>,
    columns: HashSet<Arc<ColumnRef>>,
    functions: HashSet<String>,
    literals: HashSet<(usize, ColumnRef)>,
    /// What turned out to be meant, by its place.
    meant: HashSet<usize>,
    /// Divisions that rows are grouped by, by their place.
    grouped: Vec<usize>,
}

impl Collector {
    pub(crate) fn table(&mut self, table: &Arc<TableRef>) {
        if self.tables.insert(Arc::clone(table)) {
            self.facts.tables.push((**table).clone());
        }
    }

    pub(crate) fn column(&mut self, column: &Arc<ColumnRef>) {
        if self.columns.insert(Arc::clone(column)) {
            self.facts.columns.push((**column).clone());
        }
    }

    pub(crate) fn function(&mut self, written: String) {
        if !self.functions.contains(&written) {
            self.facts.functions.push(written.clone());
            self.functions.insert(written);
        }
    }

    /// A part of the text that is walked more than once has its literals once.
    pub(crate) fn literal(&mut self, literal: ComparedLiteral) {
        let key = (literal.span.start, literal.column.clone());
        if self.literals.insert(key) {
            self.facts.literals.push(literal);
        }
    }

    pub(crate) fn clock(&mut self) {
        self.facts.reads_clock = true;
    }

    pub(crate) fn loss(&mut self, loss: Loss) {
        self.facts.losses.push(loss);
    }

    /// How many losses there are so far: what is walked next adds those behind.
    pub(crate) fn lost(&self) -> usize {
        self.facts.losses.len()
    }

    /// Leaves out the divisions among the losses that were added behind so many.
    pub(crate) fn forget_divisions(&mut self, behind: usize) {
        let added = self.facts.losses.split_off(behind.min(self.facts.losses.len()));
        self.facts.losses.extend(added.into_iter().filter(|loss| loss.kind != LossKind::Fraction));
    }

    /// What is lost at this place is what the writer wanted to be.
    pub(crate) fn meant(&mut self, at: usize) {
        self.meant.insert(at);
    }

    /// Rows are grouped by the divisions among these losses.
    pub(crate) fn grouped_by(&mut self, losses: Range<usize>) {
        let among = self.facts.losses.get(losses).unwrap_or_default();
        let divisions = among.iter().filter(|loss| loss.kind == LossKind::Fraction);
        self.grouped.extend(divisions.map(|loss| loss.at));
    }

    /// `beside` is what stands on both sides of an operator: what rows are grouped by is written out again where it is
    /// selected and ordered by.
    pub(crate) fn finish<'t>(self, beside: impl Fn(usize) -> [&'t str; 2]) -> Facts {
        let Self { mut facts, mut meant, grouped, .. } = self;
        let simple = |[before, _]: &[&str; 2]| *before != ")";
        let shapes: HashSet<[&str; 2]> = grouped.iter().map(|at| beside(*at)).filter(simple).collect();
        meant.extend(grouped);
        // A part of the text that is walked more than once has its losses once.
        let mut seen = HashSet::new();
        facts.losses.retain(|loss| {
            let is_meant = meant.contains(&loss.at)
                || loss.kind == LossKind::Fraction && shapes.contains(&beside(loss.at));
            !is_meant && seen.insert(loss.at)
        });
        facts.losses.sort_by_key(|loss| loss.at);
        facts
    }
}
