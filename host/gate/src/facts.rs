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
}

/// A literal that the text compares with a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedLiteral {
    /// The column.
    pub column: ColumnRef,
    /// As written: `=`, `<>`, `LIKE`, `IN`, `BETWEEN`.
    pub operator: String,
    /// The value, without quotes and escapes.
    pub literal: String,
    /// Its bytes in the text, quotes included.
    pub span: Range<usize>,
}

/// Facts while they are collected.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    facts: Facts,
    tables: HashSet<Arc<TableRef>>,
    columns: HashSet<Arc<ColumnRef>>,
    functions: HashSet<String>,
    literals: HashSet<(usize, ColumnRef)>,
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

    pub(crate) fn finish(self) -> Facts {
        self.facts
    }
}
