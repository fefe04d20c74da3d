//! What an item names in the schema, held against the catalogue: a lesson about what is not there teaches what must not be
//! written.
//!
//! Prose is no SQL, so only what is surely meant as a name counts: a dotted name in backticks, by itself or in an
//! expression, a word in backticks beside the word table, relation, view or column, what a sentence says a phrase means,
//! and the item's own scope.

use airlock_types::catalogue::Relation;
use airlock_types::{Catalogue, ColumnRef, TableRef};

use crate::drift;
use crate::store::{Content, Scope};

/// The first name of an item that the catalogue does not have, in words.
#[must_use]
pub fn unknown_name(content: &Content, catalogue: &Catalogue) -> Option<String> {
    let (text, scope) = prose(content);
    let outside = scope.iter().find(|place| !is_place(place, catalogue));
    if let Some(place) = outside {
        return Some(format!("scope: there is no schema or relation `{place}` in this domain"));
    }
    let text = text?;
    let found = named(text).into_iter().find(|name| !name.is_in(catalogue))?;
    Some(format!("text: it names `{}`, which this domain does not have", found.path.join(".")))
}

/// What a schema lost between two looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    relations: Vec<TableRef>,
    columns: Vec<ColumnRef>,
}

impl Removed {
    /// What the first has and the second has not. A name that another relation still carries is not lost.
    #[must_use]
    pub fn between(before: &Catalogue, after: &Catalogue) -> Self {
        let mut removed = Self::default();
        for relation in before.iter() {
            let Some(now) = after.relation(&relation.table) else {
                if !after.relations.contains_key(&relation.table.name) {
                    removed.relations.push(relation.table.clone());
                }
                continue;
            };
            let gone = relation.columns.iter().filter(|column| now.column(&column.name).is_none());
            removed.columns.extend(gone.map(|column| relation.column_ref(&column.name)));
        }
        // A column that moved to another relation keeps its name.
        removed.columns.retain(|gone| after.iter().all(|relation| relation.column(&gone.column).is_none()));
        removed
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.columns.is_empty()
    }

    /// The first of what was lost that an item names, in words. A name that is a word of English counts where it is marked as a
    /// name.
    #[must_use]
    pub fn named_by(&self, content: &Content) -> Option<String> {
        let (text, scope) = prose(content);
        let text = text.unwrap_or_default();
        let says = |name: &str| words(text).any(|word| word.eq_ignore_ascii_case(name));
        let marked = |name: &str| text.contains(&format!("`{name}`")) || text.contains(&format!(".{name}"));
        let relation = self.relations.iter().find(|gone| {
            drift::names(text, gone)
                || scope.iter().any(|place| *place == gone.to_string() || *place == gone.name)
        });
        if let Some(gone) = relation {
            return Some(format!("the relation {gone} is gone"));
        }
        let column = self.columns.iter().find(|gone| {
            let plain = gone.column.chars().all(char::is_alphabetic);
            says(&gone.column) && (!plain || marked(&gone.column))
        });
        column.map(|gone| format!("the column {gone} is gone"))
    }
}

/// The prose of an item and where it holds. The SQL of examples and golden cases is the gate's to judge.
fn prose(content: &Content) -> (Option<&str>, &Scope) {
    static NOWHERE: Scope = Scope::new();
    match content {
        Content::Example(example) => (None, &example.scope),
        Content::Lesson(lesson) => (Some(&lesson.text), &lesson.scope),
        Content::Golden(_) => (None, &NOWHERE),
    }
}

fn is_place(place: &str, catalogue: &Catalogue) -> bool {
    match place.split_once('.') {
        Some((schema, name)) => catalogue.relation(&TableRef::new(schema, name)).is_some(),
        None => {
            catalogue.iter().any(|relation| relation.table.schema == place || relation.table.name == place)
        }
    }
}

/// What a word beside a name says it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Relation,
    Column,
    Any,
}

struct Name<'a> {
    path: Vec<&'a str>,
    is: Is,
}

impl Name<'_> {
    fn is_in(&self, catalogue: &Catalogue) -> bool {
        let same = |known: &str, word: &str| known == word || known == word.to_lowercase();
        let mut relations = catalogue.iter();
        let column =
            |relation: &Relation, word: &str| relation.columns.iter().any(|column| same(&column.name, word));
        match (self.path.as_slice(), self.is) {
            ([name], Is::Relation) => relations.any(|relation| same(&relation.table.name, name)),
            ([name], Is::Column) => relations.any(|relation| column(relation, name)),
            ([name], Is::Any) => {
                relations.any(|relation| same(&relation.table.name, name) || column(relation, name))
            }
            ([one, two], _) => relations.any(|relation| {
                let TableRef { schema, name } = &relation.table;
                same(schema, one) && same(name, two) || same(name, one) && column(relation, two)
            }),
            ([schema, name, last], _) => relations.any(|relation| {
                same(&relation.table.schema, schema)
                    && same(&relation.table.name, name)
                    && column(relation, last)
            }),
            _ => true,
        }
    }
}

/// Names that a text surely means as names.
fn named(text: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    let pieces: Vec<&str> = text.split('`').collect();
    for (at, piece) in pieces.iter().enumerate().skip(1).step_by(2) {
        let Some(path) = path(piece.trim()) else {
            names.extend(in_expression(piece));
            continue;
        };
        let beside = |at: Option<usize>| at.and_then(|at| pieces.get(at)).copied().unwrap_or_default();
        let is = match taught(&pieces, at) {
            // What a phrase means is a column with its table, or a table.
            Some(Taught::Means) => Is::Relation,
            _ => kind(beside(at.checked_sub(1)), beside(Some(at + 1))),
        };
        if path.len() > 1 || is != Is::Any {
            names.push(Name { path, is });
        }
    }
    names
}

/// What a sentence that is acted on says of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taught {
    Means,
    Computed,
}

/// What the piece between backticks is in a sentence that is acted on.
fn taught(pieces: &[&str], at: usize) -> Option<Taught> {
    let lead = pieces.get(at.checked_sub(3)?)?.trim_end_matches([' ', '\t']).to_lowercase();
    let begins = lead.is_empty() || lead.ends_with("here") || lead.ends_with(['.', ';', ':', '\n']);
    let verb =
        pieces.get(at.checked_sub(1)?)?.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    match verb.as_str() {
        "means" if begins => Some(Taught::Means),
        "is computed as" if begins => Some(Taught::Computed),
        _ => None,
    }
}

/// An expression or a condition in a sentence that is acted on.
pub(super) struct Code<'a> {
    /// As written.
    pub(super) text: &'a str,
    /// The statement that it is a part of.
    pub(super) statement: String,
    /// Whether it names a column by its table.
    pub(super) has_table: bool,
}

/// What the sentences of a lesson that are acted on hold as SQL, each in a statement over the tables that it names.
pub(super) fn code<'a>(text: &'a str, catalogue: &Catalogue) -> Vec<Code<'a>> {
    let pieces: Vec<&str> = text.split('`').collect();
    let each = pieces.iter().enumerate().skip(1).step_by(2);
    each.filter_map(|(at, piece)| {
        let taught = taught(&pieces, at)?;
        let text = piece.trim();
        if taught == Taught::Means && path(text).is_some() {
            return None;
        }
        let mut tables: Vec<String> = Vec::new();
        for name in dotted(text) {
            let table = relation_of(&name.path, catalogue).map(quoted);
            tables.extend(table.filter(|table| !tables.contains(table)));
        }
        let has_table = !tables.is_empty();
        let from = if has_table { format!(" FROM {}", tables.join(", ")) } else { String::new() };
        let statement = match taught {
            Taught::Means => format!("SELECT 1{from} WHERE (\n{text}\n)"),
            Taught::Computed => format!("SELECT (\n{text}\n){from}"),
        };
        Some(Code { text, statement, has_table })
    })
    .collect()
}

fn relation_of<'c>(path: &[&str], catalogue: &'c Catalogue) -> Option<&'c TableRef> {
    let same = |known: &str, word: &str| known == word || known == word.to_lowercase();
    let (schema, name) = match path {
        [name, _] => (None, name),
        [schema, name, _] => (Some(schema), name),
        _ => return None,
    };
    let fits =
        |table: &TableRef| same(&table.name, name) && schema.is_none_or(|schema| same(&table.schema, schema));
    catalogue.iter().map(|relation| &relation.table).find(|table| fits(table))
}

fn quoted(table: &TableRef) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// The dotted names of an expression, which has no aliases; what stands in quotes, and functions, are none.
fn in_expression(code: &str) -> Vec<Name<'_>> {
    const QUERY: [&str; 5] = ["select", "from", "join", "with", "as"];
    if words(code).any(|word| QUERY.iter().any(|lead| word.eq_ignore_ascii_case(lead))) {
        return Vec::new();
    }
    dotted(code)
}

/// Names with a point outside of quotes that are no functions.
fn dotted(code: &str) -> Vec<Name<'_>> {
    let outside = code.split('\'').step_by(2);
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let mut found = Vec::new();
    for part in outside {
        for piece in part.split_inclusive(|c: char| !name(c)) {
            let bare = piece.trim_end_matches(|c: char| !name(c));
            if piece.ends_with('(') || !bare.contains('.') {
                continue;
            }
            found.extend(path(bare).map(|path| Name { path, is: Is::Any }));
        }
    }
    found
}

/// A name in up to three parts.
fn path(text: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_name = |part: &&str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    };
    (parts.len() <= 3 && parts.iter().all(is_name)).then_some(parts)
}

/// What the words beside a name call it.
fn kind(before: &str, after: &str) -> Is {
    let lead = before.trim_end().to_lowercase();
    if lead.ends_with("belongs to one of") || lead.ends_with("each row of") {
        return Is::Relation;
    }
    let beside = [words(before).last(), words(after).next()];
    let called = |nouns: &[&str]| {
        beside.iter().flatten().any(|word| nouns.iter().any(|noun| word.eq_ignore_ascii_case(noun)))
    };
    if called(&["table", "relation", "view"]) {
        Is::Relation
    } else if called(&["column"]) {
        Is::Column
    } else {
        Is::Any
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::LessonKind;
    use crate::store::{ExampleContent, LessonContent};
    use crate::testing::table;

    fn catalogue(tables: &[&str]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        tables.iter().for_each(|text| catalogue.insert(table(text)));
        catalogue
    }

    fn lesson(text: &str, scope: &[&str]) -> Content {
        let scope = scope.iter().map(|place| (*place).to_owned()).collect();
        let (kind, text) = (LessonKind::SchemaMap, text.to_owned());
        LessonContent { kind, text, trigger: String::new(), tags: Vec::new(), scope }.into()
    }

    #[test]
    fn only_what_is_surely_a_name_must_be_there() {
        let catalogue = catalogue(&["bills: total_amt, status"]);
        for (text, want) in [
            ("Revenue is `bills.total_amt`.", None),
            ("Revenue is `public.bills.total_amt`, in `public.bills`.", None),
            ("Revenue is `bills.total`.", Some("`bills.total`")),
            ("Revenue is in the table `invoices`.", Some("`invoices`")),
            ("Revenue is in the `invoices` table.", Some("`invoices`")),
            ("Filter the column `state`.", Some("`state`")),
            ("Filter the column `status` by `OPEN`, never by `date_trunc`.", None),
            ("As billing says, i.e. `status = 'PAID'`, see rules.md.", None),
            ("Write `select total from invoices`.", None),
            ("Here `fee` is computed as `sum(bills.total)`.", Some("`bills.total`")),
            ("Here `fee` is computed as `sum(bills.total_amt * 1.5)`.", None),
            ("Here `open` means `bills.state = 'a.b'`.", Some("`bills.state`")),
            ("Here `open` means `bills.status = 'a.b'`.", None),
            ("Write `select b.total from bills b`.", None),
            ("Round by `pg_catalog.round(bills.total_amt)`.", None),
            ("Here `folks` means `bills`.", None),
            ("Here `folks` means `persons`.", Some("`persons`")),
            ("Net. `Folks` means `persons`", Some("`persons`")),
            ("The status `O` means `open`.", None),
            ("Each row of `bills` belongs to one of `staff` by `bills.status = staff.id`.", Some("`staff`")),
            ("Each row of `visits` belongs to one of `bills`.", Some("`visits`")),
        ] {
            let found = unknown_name(&lesson(text, &[]), &catalogue);
            match (&found, want) {
                (None, None) => {}
                (Some(found), Some(want)) => assert!(found.contains(want), "{text}: {found}"),
                _ => panic!("{text}: {found:?}"),
            }
        }
        for (scope, known) in [("public", true), ("public.bills", true), ("public.invoices", false)] {
            let example: Content = ExampleContent {
                question: "How many?".to_owned(),
                sql: "SELECT 1".to_owned(),
                scope: vec![scope.to_owned()],
            }
            .into();
            assert_eq!(unknown_name(&example, &catalogue).is_none(), known, "{scope}");
        }
    }

    #[test]
    fn what_was_lost_is_found_where_it_is_named() {
        let before = catalogue(&["bills: total_amt, status, note", "carts: note"]);
        let after = catalogue(&["bills: status", "sales: note"]);
        let removed = Removed::between(&before, &after);
        for (text, want) in [
            ("Abandoned `carts` are not sales.", Some("public.carts")),
            // The word is one of English, and the lesson may be about what people do.
            ("Abandoned carts are not sales.", None),
            ("Revenue is total_amt of paid bills.", Some("total_amt")),
            ("The status of bills, with a note.", None),
            ("Cartons are counted.", None),
        ] {
            let found = removed.named_by(&lesson(text, &[]));
            assert_eq!(found.is_some(), want.is_some(), "{text}: {found:?}");
            assert!(want.is_none_or(|want| found.unwrap().contains(want)), "{text}");
        }
        assert!(removed.named_by(&lesson("Sums.", &["public.carts"])).is_some());
        assert!(Removed::between(&after, &after).is_empty());
    }
}
