//! The indexes of a domain, one a kind: which fields each has, how much each counts, and what is put into them.

use super::abbreviations::expansions;
use super::affixes::Affixes;
use super::bm25f::{Bm25f, Builder, Field};
use super::passages::Passage;
use super::query::SOFT;
use super::words::{folded, is_stop_word, name_parts, words};
use crate::pack::BoundTerm;
use crate::records::{Example, Lesson, TermRecord};
use crate::tables::{ColumnView, TableView};

const NAME: u8 = 0;
const SYNONYMS: u8 = 1;
const NOTE: u8 = 2;
const OTHER: u8 = 3;
const COLUMNS: u8 = 4;
const COLUMN_SYNONYMS: u8 = 5;
const COLUMN_NOTES: u8 = 6;

const fn field(weight: f32, length: f32) -> Field {
    Field { weight, length }
}

/// `name, synonyms, note, glossary, columns, column synonyms, column notes`. Values are not among them: the words of one
/// column of prose would outweigh everything that is said about tables.
const TABLE_FIELDS: [Field; 7] = [
    field(4.0, 0.4),
    field(4.0, 0.1),
    field(1.5, 0.6),
    field(2.0, 0.1),
    field(1.3, 0.6),
    field(1.3, 0.2),
    field(0.5, 0.7),
];

/// `name, synonyms`.
const NAME_FIELDS: [Field; 2] = [field(1.0, 0.4), field(1.0, 0.1)];

/// `name, synonyms, note, table`.
const COLUMN_FIELDS: [Field; 4] = [field(3.0, 0.3), field(3.0, 0.1), field(1.0, 0.6), field(0.6, 0.3)];

/// `name and synonyms, definition`.
const TERM_FIELDS: [Field; 2] = [field(3.0, 0.1), field(0.5, 0.7)];

/// `text, trigger and tags`.
const LESSON_FIELDS: [Field; 2] = [field(1.0, 0.6), field(1.5, 0.3)];

/// One field of prose.
const PROSE_FIELDS: [Field; 1] = [field(1.0, 0.6)];

/// The index of tables: one document a table, in the order of the views. Tables that are not in use are empty documents.
pub(crate) fn tables(views: &[TableView], terms: &[BoundTerm], affixes: &Affixes) -> Bm25f {
    let mut builder = Builder::new(&TABLE_FIELDS);
    for view in views {
        builder.document();
        if !view.in_use {
            continue;
        }
        add_table_name(&mut builder, view, affixes);
        add_all(&mut builder, SYNONYMS, &view.synonyms);
        add_prose(&mut builder, NOTE, &view.description);
        for term in terms.iter().filter(|term| term.metrics.iter().any(|metric| metric.table == view.table)) {
            add_prose(&mut builder, OTHER, &term.name);
            add_all(&mut builder, OTHER, &term.synonyms);
        }
        let shared = affixes.columns(view);
        for column in &view.columns {
            add_name(&mut builder, COLUMNS, &column.name);
            add_rest(&mut builder, COLUMNS, &column.name, column.name.strip_prefix(&shared));
            add_all(&mut builder, COLUMN_SYNONYMS, &column.synonyms);
            add_prose(&mut builder, COLUMN_NOTES, &column.description);
        }
    }
    builder.build()
}

/// The index of what tables are called, with how rare a word is among names: a word that many tables mention and one is
/// named after means that one.
pub(crate) fn table_names(views: &[TableView], affixes: &Affixes) -> Bm25f {
    let mut builder = Builder::new(&NAME_FIELDS);
    for view in views {
        builder.document();
        if view.in_use {
            add_table_name(&mut builder, view, affixes);
            add_all(&mut builder, SYNONYMS, &view.synonyms);
        }
    }
    builder.build()
}

/// The index of columns: one document a column, table by table.
pub(crate) fn columns(views: &[TableView]) -> Bm25f {
    let mut builder = Builder::new(&COLUMN_FIELDS);
    for view in views {
        for column in &view.columns {
            builder.document();
            if view.in_use {
                add_column(&mut builder, view, column);
            }
        }
    }
    builder.build()
}

fn add_column(builder: &mut Builder, view: &TableView, column: &ColumnView) {
    add_name(builder, NAME, &column.name);
    add_all(builder, SYNONYMS, &column.synonyms);
    add_prose(builder, NOTE, &column.description);
    add_name(builder, OTHER, &view.table.name);
    add_all(builder, OTHER, &view.synonyms);
}

/// The index of terms.
pub(crate) fn terms<'a>(terms: impl Iterator<Item = &'a TermRecord>) -> Bm25f {
    let mut builder = Builder::new(&TERM_FIELDS);
    for term in terms {
        builder.document();
        add_prose(&mut builder, 0, &term.name);
        add_all(&mut builder, 0, &term.synonyms);
        add_prose(&mut builder, 1, &term.definition);
    }
    builder.build()
}

/// The index of lessons.
pub(crate) fn lessons<'a>(lessons: impl Iterator<Item = &'a Lesson>) -> Bm25f {
    let mut builder = Builder::new(&LESSON_FIELDS);
    for lesson in lessons {
        builder.document();
        add_prose(&mut builder, 0, &lesson.text);
        add_prose(&mut builder, 1, &lesson.trigger);
        add_all(&mut builder, 1, &lesson.tags);
    }
    builder.build()
}

/// The index of examples, by their questions.
pub(crate) fn examples<'a>(examples: impl Iterator<Item = &'a Example>) -> Bm25f {
    prose(examples.map(|example| example.question.as_str()))
}

/// The index of passages, headings included.
pub(crate) fn passages(passages: &[Passage]) -> Bm25f {
    let texts: Vec<String> =
        passages.iter().map(|passage| format!("{} {}", passage.source, passage.text)).collect();
    prose(texts.iter().map(String::as_str))
}

fn prose<'a>(texts: impl Iterator<Item = &'a str>) -> Bm25f {
    let mut builder = Builder::new(&PROSE_FIELDS);
    for text in texts {
        builder.document();
        add_prose(&mut builder, 0, text);
    }
    builder.build()
}

fn add_table_name(builder: &mut Builder, view: &TableView, affixes: &Affixes) {
    let name = &view.table.name;
    add_name(builder, NAME, name);
    add_rest(builder, NAME, name, Some(affixes.table(&view.table)));
}

/// What is left of a name without the beginning it shares with others, as far as its own parts do not say it.
fn add_rest(builder: &mut Builder, field: u8, name: &str, rest: Option<&str>) {
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && *rest != name) else { return };
    let own = name_parts(name);
    if name_parts(rest).iter().any(|part| !own.iter().any(|known| known.folded == part.folded)) {
        add_name(builder, field, rest);
    }
}

fn add_all(builder: &mut Builder, field: u8, texts: &[String]) {
    for text in texts {
        add_prose(builder, field, text);
    }
}

fn add_prose(builder: &mut Builder, field: u8, text: &str) {
    for word in words(text).iter().filter(|word| !is_stop_word(&word.folded)) {
        builder.add(field, word, 1.0);
    }
}

/// A name by its parts, by what its parts are short for, and as one word.
fn add_name(builder: &mut Builder, field: u8, name: &str) {
    let parts = name_parts(name);
    for part in &parts {
        builder.add_part(field, part, 1.0);
        for word in expansions(&part.folded).iter().flat_map(|long| words(long)) {
            builder.add(field, &word, SOFT);
        }
    }
    if parts.len() > 1 {
        for word in words(&folded(name).replace(' ', "")) {
            builder.add(field, &word, SOFT);
        }
    }
}
