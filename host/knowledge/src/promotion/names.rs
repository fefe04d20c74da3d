//! What an item names in the schema, held against the catalogue: a lesson about what is not there teaches what must not be
//! written.
//!
//! Prose is no SQL, so only what is surely meant as a name counts: a dotted name in backticks, by itself or in an
//! expression, a word in backticks beside the word table, relation, view or column, and the item's own scope.

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
    let mut before = "";
    let mut pieces = text.split('`').enumerate().peekable();
    while let Some((at, piece)) = pieces.next() {
        if at % 2 == 0 {
            before = piece;
            continue;
        }
        let Some(path) = path(piece) else {
            names.extend(in_expression(piece));
            continue;
        };
        let after = pieces.peek().map_or("", |(_, piece)| *piece);
        let is = kind(before, after);
        if path.len() > 1 || is != Is::Any {
            names.push(Name { path, is });
        }
    }
    names
}

/// The dotted names of an expression, which has no aliases; what stands in quotes, and functions, are none.
fn in_expression(code: &str) -> Vec<Name<'_>> {
    const QUERY: [&str; 5] = ["select", "from", "join", "with", "as"];
    if words(code).any(|word| QUERY.iter().any(|lead| word.eq_ignore_ascii_case(lead))) {
        return Vec::new();
    }
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
