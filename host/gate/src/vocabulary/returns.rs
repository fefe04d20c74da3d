//! What functions from outside `pg_catalog` return, as far as it matters here.

use std::sync::Arc;

use airlock_types::TableRef;
use airlock_types::catalogue::{FunctionObject, ReturnedColumn, Returns};

use super::Vocabulary;
use crate::extensions;
use crate::scope::{Column, Kind, Value};

/// What one function returns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    kind: Kind,
    /// Whether its type is that of its arguments.
    of_arguments: bool,
    /// The name of its only `OUT` argument, which its column in FROM goes by.
    column: Option<Arc<str>>,
}

impl Vocabulary {
    /// What a call of a known function returns, given what is known of its arguments: of several functions of the name the
    /// text does not show which it is.
    pub(crate) fn returned<'v>(
        &self,
        schema: Option<&str>,
        name: &str,
        arguments: impl Iterator<Item = &'v Value> + Clone,
    ) -> Kind {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut add = |kind: &Kind| {
            if !kinds.contains(kind) {
                kinds.push(kind.clone());
            }
        };
        for outside in self.meant(schema, name) {
            if outside.given.of_arguments {
                arguments.clone().for_each(|argument| add(&argument.kind));
            } else {
                add(&outside.given.kind);
            }
        }
        match kinds.len() {
            0 => Kind::Plain,
            1 => kinds.remove(0),
            _ => Kind::Either(kinds.into()),
        }
    }

    /// The name of the column that a known function gives in FROM, when it is not the function's own.
    pub(crate) fn returned_column(&self, schema: Option<&str>, name: &str) -> Option<Arc<str>> {
        self.meant(schema, name).find_map(|outside| outside.given.column.clone())
    }

    /// What a function of the catalogue returns. Of one that nobody described nothing is known, but that those of vetted
    /// extensions are no worse than their types.
    pub(super) fn given(&self, function: &FunctionObject) -> Given {
        let plain = |kind| Given { kind, of_arguments: false, column: None };
        let Some(returns) = &function.returns else {
            let vetted = function.extension.as_deref().is_some_and(extensions::is_vetted);
            return plain(if vetted { Kind::Plain } else { Kind::unknown_row() });
        };
        match returns.columns.as_slice() {
            [] => {}
            [only] if !is_record(&returns.type_name) => {
                let column = (!only.name.is_empty()).then(|| only.name.as_str().into());
                return Given { column, ..self.given_type(returns) };
            }
            several => {
                return plain(Kind::Row(several.iter().map(|column| self.column_of(column)).collect()));
            }
        }
        self.given_type(returns)
    }

    fn given_type(&self, returns: &Returns) -> Given {
        let of_arguments = is_polymorphic(&returns.type_name);
        let kind = if of_arguments { Kind::Plain } else { self.stored(&returns.type_name, returns.is_array) };
        Given { kind, of_arguments, column: None }
    }

    fn column_of(&self, column: &ReturnedColumn) -> Column {
        let kind = if is_polymorphic(&column.type_name) {
            Kind::unknown_row()
        } else {
            self.stored(&column.type_name, column.is_array)
        };
        Column { name: column.name.as_str().into(), value: Value::of(kind) }
    }

    fn stored(&self, name: &TableRef, is_array: bool) -> Kind {
        if is_record(name) { Kind::unknown_row() } else { self.kind(name, is_array) }
    }
}

fn is_record(name: &TableRef) -> bool {
    name.schema == "pg_catalog" && name.name == "record"
}

/// Whether a type stands for that of the arguments: `anyelement`, `anyarray` and their kin.
fn is_polymorphic(name: &TableRef) -> bool {
    name.schema == "pg_catalog" && name.name.starts_with("any")
}
