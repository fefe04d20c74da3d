//! The catalogue: what the reader role sees of a data source, read by fixed SQL in one snapshot.
//!
//! System schemas and the schema in which airlock keeps its own tables are never listed. A partition is folded into its
//! parent when the parent is listed. PostgreSQL 13 to 18.

mod lineage;
mod names;
mod objects;
mod relations;

pub(crate) use relations::shows;

use std::collections::BTreeMap;

use airlock_types::{Catalogue, ContentHash, TableRef};
use postgres_protocol::message::backend::DataRowBody;

use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::settings::text_array;
use crate::source::Source;
use crate::wire::{Step, cells};

/// The schema in which airlock keeps its own tables.
pub const OWN_SCHEMA: &str = "airlock";

/// Which part of a data source a domain lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Schemas, in the order an unqualified name is looked for. Empty, with an empty `only`: every schema the reader may
    /// use, `public` first.
    pub schemas: Vec<String>,
    /// When not empty, these relations and no other; `schemas` then only gives the order of the search path.
    pub only: Vec<TableRef>,
}

impl Scope {
    /// Everything in these schemas.
    pub fn schemas<S: Into<String>>(schemas: impl IntoIterator<Item = S>) -> Self {
        Self { schemas: schemas.into_iter().map(Into::into).collect(), only: Vec::new() }
    }

    /// The schemas asked for, those of `only` included, none of them twice.
    fn wanted(&self) -> Vec<String> {
        let mut wanted: Vec<String> = Vec::new();
        let listed = self.only.iter().map(|table| &table.schema);
        for schema in self.schemas.iter().chain(listed).filter(|schema| *schema != OWN_SCHEMA) {
            if !wanted.contains(schema) {
                wanted.push(schema.clone());
            }
        }
        wanted
    }
}

/// The schemas that exist and that the reader may use. `$1` are those asked for, all when empty.
const SCHEMAS: &str = "\
SELECT n.nspname
  FROM pg_catalog.pg_namespace n
 WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'airlock')
   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
   AND ($1::pg_catalog.text[] = '{}' OR n.nspname = ANY ($1::pg_catalog.text[]))
 ORDER BY pg_catalog.array_position($1::pg_catalog.text[], n.nspname::pg_catalog.text), n.nspname <> 'public', n.nspname";

const SERVER: &str = "SELECT pg_catalog.current_setting('server_version_num'), pg_catalog.current_database()";

/// A mark of everything a catalogue is read from: it changes when the schema, a comment or a grant changes, and not when
/// rows do. Cheaper than the catalogue by far.
const MARK: &str = "\
SELECT (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_class),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', attrelid, attnum, xmin)))) FROM pg_catalog.pg_attribute),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_rewrite),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', inhrelid, inhparent, xmin)))) FROM pg_catalog.pg_inherits),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_namespace),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_proc),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_type),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_enum),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_operator),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_cast),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_constraint),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', oid, xmin)))) FROM pg_catalog.pg_extension),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', objoid, objsubid, xmin)))) FROM pg_catalog.pg_description),
       (SELECT pg_catalog.concat_ws(' ', count(*), sum(pg_catalog.hashtext(pg_catalog.concat_ws(' ', roleid, member, xmin)))) FROM pg_catalog.pg_auth_members),
       (SELECT pg_catalog.concat_ws(' ', oid, rolsuper, rolinherit) FROM pg_catalog.pg_roles WHERE rolname = current_user),
       pg_catalog.current_setting('server_version_num')";

impl Source {
    /// Reads the catalogue of what `scope` lists.
    ///
    /// # Errors
    /// [`DatabaseError`] of the connection or of the server.
    pub async fn catalogue(&self, scope: &Scope) -> Result<Catalogue, DatabaseError> {
        let wanted = scope.wanted();
        let everything = scope.schemas.is_empty() && scope.only.is_empty();
        if wanted.is_empty() && !everything {
            return Ok(Catalogue::default());
        }
        let schemas = text_array(&wanted);
        let of_schemas = [Some(schemas.as_str())];
        let only_schemas = text_array(scope.only.iter().map(|table| &table.schema));
        let only_names = text_array(scope.only.iter().map(|table| &table.name));
        let listed = [Some(schemas.as_str()), Some(only_schemas.as_str()), Some(only_names.as_str())];
        let steps = [
            Step::new(SERVER, &[]),
            Step::new(SCHEMAS, &of_schemas),
            Step::new(relations::RELATIONS, &listed),
            Step::new(relations::COLUMNS, &listed),
            Step::new(relations::KEYS, &listed),
            Step::new(relations::FOREIGN_KEYS, &listed),
            Step::new(relations::NAMESAKES, &listed),
            Step::new(lineage::DEFINITIONS, &listed),
            Step::new(lineage::READ, &listed),
            Step::new(lineage::COLUMNS, &listed),
            Step::new(lineage::INHERITANCE, &listed),
            Step::new(names::TYPES, &[]),
            Step::new(names::ENUM_LABELS, &[]),
            Step::new(objects::FUNCTIONS, &[]),
            Step::new(objects::OPERATORS, &[]),
            Step::new(objects::CASTS, &[]),
            Step::new(objects::EXTENSIONS, &[]),
        ];
        let results = self.fixed(Begin::Snapshot, &self.fixed_settings(), &steps).await?;
        let mut results = results.into_iter().map(|result| result.rows);
        let mut next = || results.next().unwrap_or_default();

        let mut catalogue = Catalogue::default();
        for row in next() {
            let server = Record::read(&row)?;
            (catalogue.server_version, catalogue.database) = (server.number(0), server.text(1));
        }
        for row in next() {
            catalogue.search_path.push(Record::read(&row)?.text(0));
        }
        let (relations, columns, keys, foreign_keys) = (next(), next(), next(), next());
        let namesakes = next();
        let (definitions, reads, shown, inheritance) = (next(), next(), next(), next());
        let types = names::Types::read(&next(), &next())?;
        catalogue.relations = relations::read(&relations, &columns, &keys, &foreign_keys, &types)?;
        lineage::read(&mut catalogue, &definitions, &reads, &shown, &inheritance, &types)?;
        catalogue.functions = objects::functions(&next())?;
        catalogue.operators = objects::operators(&next())?;
        catalogue.casts = objects::casts(&next())?;
        catalogue.types = types.objects();
        for row in next() {
            let extension = Record::read(&row)?;
            let name = extension.text(0);
            // Last on the path, so that its operators are found, as where the text was written: `=` of two `citext` would
            // otherwise be that of two texts, without a word.
            let home = extension.optional(1).filter(|_| airlock_gate::is_vetted_extension(&name));
            let new = home.filter(|home| !catalogue.search_path.contains(home));
            catalogue.search_path.extend(new);
            catalogue.extensions.push(name);
        }
        catalogue.shadowing = relations::shadowing(&namesakes, &catalogue)?;
        Ok(catalogue)
    }

    /// A mark that changes when a catalogue read again might differ: schema, comments, grants, the reader's roles.
    ///
    /// # Errors
    /// [`DatabaseError`] of the connection or of the server.
    pub async fn catalogue_mark(&self) -> Result<ContentHash, DatabaseError> {
        let results = self.fixed(Begin::Snapshot, &self.fixed_settings(), &[Step::new(MARK, &[])]).await?;
        let mut mark = String::new();
        for row in results.iter().flat_map(|result| &result.rows) {
            for cell in cells(row) {
                mark.push_str(cell?.unwrap_or_default());
                mark.push('\n');
            }
        }
        Ok(ContentHash::of(mark))
    }
}

/// Hash of a catalogue without its row estimates: equal when nothing a text could depend on has changed.
#[must_use]
pub fn fingerprint(catalogue: &Catalogue) -> ContentHash {
    let mut stable = catalogue.clone();
    let relations: &mut BTreeMap<_, _> = &mut stable.relations;
    for relation in relations.values_mut().flatten() {
        relation.row_estimate = None;
    }
    // Plain data without maps whose keys are not texts: it always has a JSON form.
    ContentHash::of(serde_json::to_vec(&stable).unwrap_or_default())
}

/// A row of one of the room's own statements.
struct Record<'a>(Vec<Option<&'a str>>);

impl<'a> Record<'a> {
    fn read(row: &'a DataRowBody) -> Result<Self, DatabaseError> {
        cells(row).collect::<Result<_, _>>().map(Self)
    }

    /// The cell, None when NULL.
    fn get(&self, index: usize) -> Option<&'a str> {
        self.0.get(index).copied().flatten()
    }

    fn text(&self, index: usize) -> String {
        self.get(index).unwrap_or_default().to_owned()
    }

    fn optional(&self, index: usize) -> Option<String> {
        self.get(index).map(str::to_owned)
    }

    fn number(&self, index: usize) -> u32 {
        self.get(index).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn flag(&self, index: usize) -> bool {
        self.get(index) == Some("t")
    }

    fn letter(&self, index: usize) -> char {
        self.get(index).and_then(|text| text.chars().next()).unwrap_or(' ')
    }

    /// A `text[]` that the statement wrote as JSON.
    fn texts(&self, index: usize) -> Vec<String> {
        self.get(index).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    fn table(&self, schema: usize, name: usize) -> TableRef {
        TableRef::new(self.text(schema), self.text(name))
    }
}
