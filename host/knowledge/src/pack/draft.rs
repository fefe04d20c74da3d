//! A pack drafted from a catalogue, for people to finish: what the catalogue says is written out, what it does not say is
//! asked for, and what was guessed is marked as a guess with its reason.
//!
//! A draft is read and bound before anybody gets it, so what is written passes `airlock domain check` as it stands.

mod glossary;
mod joins;
mod notes;
mod readme;
mod settings;
mod text;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use airlock_types::catalogue::Relation;
use airlock_types::text::{Place, find_hidden};
use airlock_types::{Catalogue, DomainName, TableRef};
use thiserror::Error;

use super::reference::TableName;
use super::{Pack, PackReport, limits};
use crate::class::ColumnClass;
use crate::joins::{JoinGraph, JoinOrigin};

pub use write::DraftWriteError;

/// What every place that a person is asked to finish begins with, so that all of them are found.
pub const TO_WRITE: &str = "to write:";

/// Which relations the pack is to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftScope {
    /// Every schema of the catalogue, whole.
    Schemas,
    /// These relations and no others.
    Only(Vec<TableRef>),
}

/// A pack in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    name: DomainName,
    files: Vec<(&'static str, String)>,
    /// What was found, and what is left to do.
    pub summary: DraftSummary,
}

/// What was found, and what is left to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DraftSummary {
    /// Schemas with a relation, in the order of the search path.
    pub schemas: Vec<String>,
    /// Relations.
    pub tables: usize,
    /// Columns of all of them.
    pub columns: usize,
    /// Relations without a comment: somebody must say what they are for.
    pub without_purpose: usize,
    /// Columns whose class was guessed to be another than plain, by class.
    pub classes: BTreeMap<ColumnClass, usize>,
    /// Foreign keys.
    pub foreign_keys: usize,
    /// Joins guessed from names and types.
    pub guessed_joins: usize,
    /// Names that no pack can spell because of what is hidden in them, made visible.
    pub unspeakable: Vec<String>,
}

/// Why there is no draft. Each says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DraftError {
    /// Nothing to make a pack of.
    #[error("there is no relation to make a pack of")]
    Empty,
    /// A relation that was asked for.
    #[error(
        "there is no relation {0} that the role may read: spell it as schema.relation, as the catalogue does"
    )]
    Unknown(String),
    /// A name that a pack cannot hold.
    #[error("the name {0} cannot stand in a pack: rename it in the database, or leave it out")]
    Unspeakable(String),
    /// More than a pack may hold.
    #[error("there are {count} {what}, and a pack holds at most {most}: name fewer by --schema or --only")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// The draft is not a pack, which is a fault of the drafting and not of the database.
    #[error("the draft is not a right pack, which is a fault of this program: {0}")]
    Wrong(PackReport),
}

/// How much is written beside what must be there. A file has a limit; a large catalogue gets fewer remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// Comments cut, no list of columns and none of guessed classes.
    Least,
    /// No list of columns.
    Less,
    /// Everything.
    Full,
}

/// What the files are written from.
struct Source<'a> {
    name: &'a DomainName,
    catalogue: &'a Catalogue,
    /// Relations that a pack can name, in the order of schema and name.
    relations: Vec<&'a Relation>,
    joins: &'a JoinGraph,
    schemas: Vec<String>,
    scope: &'a DraftScope,
    detail: Detail,
}

impl Source<'_> {
    /// A table as the files name it: with its schema where there are several.
    fn table(&self, table: &TableRef) -> TableName {
        let qualified = self.schemas.len() > 1;
        TableName { schema: qualified.then(|| table.schema.clone()), name: table.name.clone() }
    }
}

impl Draft {
    /// Drafts a pack of everything the catalogue lists.
    ///
    /// # Errors
    /// [`DraftError`] when there is nothing to list, or more than a pack may hold.
    pub fn of(name: &DomainName, catalogue: &Arc<Catalogue>, scope: &DraftScope) -> Result<Self, DraftError> {
        let mut all: Vec<&Relation> = catalogue.iter().collect();
        if all.is_empty() {
            return Err(DraftError::Empty);
        }
        all.sort_by(|a, b| a.table.cmp(&b.table));
        if let DraftScope::Only(wanted) = scope {
            for table in wanted {
                if catalogue.relation(table).is_none() {
                    return Err(DraftError::Unknown(text::visible(&table.to_string())));
                }
                if !(speakable(&table.schema) && speakable(&table.name)) {
                    return Err(DraftError::Unspeakable(text::visible(&table.to_string())));
                }
            }
        }
        let with_relations: BTreeSet<&str> =
            all.iter().map(|relation| relation.table.schema.as_str()).collect();
        let mut schemas: Vec<String> = catalogue
            .search_path
            .iter()
            .filter(|schema| with_relations.contains(schema.as_str()))
            .cloned()
            .collect();
        let others = with_relations
            .iter()
            .filter(|schema| !catalogue.search_path.iter().any(|known| known == *schema));
        schemas.extend(others.map(|schema| (*schema).to_owned()));
        if let Some(schema) = schemas.iter().find(|schema| !speakable(schema)) {
            return Err(DraftError::Unspeakable(text::visible(schema)));
        }
        for (what, count, most) in
            [("schemas", schemas.len(), limits::SCHEMAS), ("relations", all.len(), limits::TABLES)]
        {
            if count > most {
                return Err(DraftError::TooMany { what, count, most });
            }
        }
        let (relations, unspeakable): (Vec<&Relation>, Vec<&Relation>) =
            all.iter().partition(|relation| speakable(&relation.table.name));
        let joins = JoinGraph::new(catalogue, &[], BTreeSet::new());
        let mut source =
            Source { name, catalogue, relations, joins: &joins, schemas, scope, detail: Detail::Full };
        let summary = summary(&source, &unspeakable);
        let mut notes = notes::file(&source);
        for detail in [Detail::Less, Detail::Least] {
            if notes.len() as u64 <= limits::FILE_BYTES {
                break;
            }
            source.detail = detail;
            notes = notes::file(&source);
        }
        let files = vec![
            ("domain.toml", settings::file(&source)),
            ("notes.toml", notes),
            ("glossary.toml", glossary::file(&source)),
            ("joins.toml", joins::file(&source)),
            ("golden.jsonl", String::new()),
            ("README.md", readme::file(&source)),
            // What keeps the folder where version control drops empty ones.
            ("docs/.gitkeep", String::new()),
        ];
        let draft = Self { name: name.clone(), files, summary };
        draft.pack().and_then(|pack| pack.bind(catalogue)).map_err(DraftError::Wrong)?;
        Ok(draft)
    }

    /// The domain.
    #[must_use]
    pub fn name(&self) -> &DomainName {
        &self.name
    }

    /// Paths inside the pack and what the files hold.
    #[must_use]
    pub fn files(&self) -> &[(&'static str, String)] {
        &self.files
    }

    /// The draft as a pack reads it.
    fn pack(&self) -> Result<Pack, PackReport> {
        let read = |path: &str| super::files::NAMES.contains(&path);
        let files = self.files.iter().filter(|(path, _)| read(path));
        Pack::from_files(self.name.as_str(), files.map(|(path, text)| (*path, text.clone().into_bytes())))
    }
}

fn summary(source: &Source<'_>, unspeakable: &[&Relation]) -> DraftSummary {
    let mut summary = DraftSummary {
        schemas: source.schemas.clone(),
        tables: source.catalogue.iter().count(),
        guessed_joins: joins::guesses(source).count(),
        foreign_keys: source.joins.all().iter().filter(|join| join.origin == JoinOrigin::ForeignKey).count(),
        unspeakable: unspeakable.iter().map(|relation| text::visible(&relation.table.to_string())).collect(),
        ..DraftSummary::default()
    };
    for relation in source.catalogue.iter() {
        summary.columns += relation.columns.len();
        if text::prose(relation.comment.as_deref().unwrap_or_default(), limits::NOTE).is_empty() {
            summary.without_purpose += 1;
        }
        for column in &relation.columns {
            let class = ColumnClass::guess(relation, column);
            if class != ColumnClass::Plain {
                *summary.classes.entry(class).or_default() += 1;
            }
            if !speakable(&column.name) {
                summary.unspeakable.push(text::visible(&relation.column_ref(&column.name).to_string()));
            }
        }
    }
    summary
}

/// Whether a pack can hold the name: nothing hidden in it, not blank, and no outer space that a reader would drop.
fn speakable(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && !name.contains(['\n', '\r', '\t'])
        && find_hidden(name, Place::Identifier).is_none()
}

#[cfg(test)]
mod tests;
