//! Types: their names, what is under domains, labels of enums.

use std::collections::HashMap;

use airlock_types::TableRef;
use airlock_types::catalogue::{TypeFamily, TypeKind, TypeObject};
use postgres_protocol::message::backend::DataRowBody;

use super::Record;
use crate::error::DatabaseError;

/// Every type, with the attributes of composites and the checks of domains. Only CHECK constraints count: newer servers
/// keep NOT NULL of a domain among its constraints as well. Only `pg_catalog` is on the path when they are printed, so
/// every other name in them has its schema.
pub(super) const TYPES: &str = "\
SELECT t.oid, n.nspname, t.typname, t.typtype, t.typcategory,
       CASE WHEN t.typcategory = 'A' AND t.typlen = -1 THEN t.typelem ELSE 0 END,
       t.typbasetype,
       EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'),
       (SELECT pg_catalog.json_agg(a.atttypid::pg_catalog.int8::pg_catalog.text ORDER BY a.attnum)
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = t.typrelid AND t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped),
       (SELECT pg_catalog.json_agg(a.attname ORDER BY a.attnum)
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = t.typrelid AND t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped),
       x.extname,
       n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'airlock') AND n.nspname !~ '^pg_temp',
       c.relkind IS NOT NULL AND c.relkind <> 'c',
       (SELECT pg_catalog.json_agg(pg_catalog.pg_get_expr(k.conbin, 0) ORDER BY k.conname)
          FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
  LEFT JOIN pg_catalog.pg_depend d
         ON d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.objid = t.oid AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
 ORDER BY n.nspname, t.typname";

pub(super) const ENUM_LABELS: &str = "\
SELECT enumtypid, pg_catalog.json_agg(enumlabel ORDER BY enumsortorder) FROM pg_catalog.pg_enum GROUP BY enumtypid";

struct Type {
    name: TableRef,
    letter: char,
    category: char,
    element: u32,
    base: u32,
    has_checks: bool,
    attributes: Vec<u32>,
    attribute_names: Vec<String>,
    extension: Option<String>,
    is_foreign: bool,
    /// Whether it is the row type of a relation.
    is_row: bool,
    checks: Vec<String>,
}

/// All types of the database.
pub(super) struct Types {
    by_oid: HashMap<u32, Type>,
    /// In the order of the statement.
    order: Vec<u32>,
    labels: HashMap<u32, Vec<String>>,
}

/// A column's type, taken apart.
pub(super) struct ColumnType {
    pub(super) name: TableRef,
    pub(super) is_array: bool,
    pub(super) family: TypeFamily,
    pub(super) enum_labels: Vec<String>,
}

/// Domains over domains end somewhere; a catalogue that says otherwise is not followed for ever.
const DOMAIN_DEPTH: usize = 32;

impl Types {
    pub(super) fn read(types: &[DataRowBody], labels: &[DataRowBody]) -> Result<Self, DatabaseError> {
        let mut all = Self { by_oid: HashMap::new(), order: Vec::new(), labels: HashMap::new() };
        for row in types {
            let record = Record::read(row)?;
            let oid = record.number(0);
            let described = Type {
                name: record.table(1, 2),
                letter: record.letter(3),
                category: record.letter(4),
                element: record.number(5),
                base: record.number(6),
                has_checks: record.flag(7),
                attributes: record.texts(8).iter().filter_map(|oid| oid.parse().ok()).collect(),
                attribute_names: record.texts(9),
                extension: record.optional(10),
                is_foreign: record.flag(11),
                is_row: record.flag(12),
                checks: record.texts(13),
            };
            all.by_oid.insert(oid, described);
            all.order.push(oid);
        }
        for row in labels {
            let record = Record::read(row)?;
            all.labels.insert(record.number(0), record.texts(1));
        }
        Ok(all)
    }

    /// What a column of this type is.
    pub(super) fn column(&self, oid: u32) -> ColumnType {
        let Some(declared) = self.by_oid.get(&oid) else {
            // A type that was made after the types were read.
            let name = TableRef::new("pg_catalog", "record");
            return ColumnType { name, is_array: false, family: TypeFamily::Other, enum_labels: Vec::new() };
        };
        let is_array = declared.element != 0;
        let element = if is_array { declared.element } else { oid };
        let name = self.by_oid.get(&element).unwrap_or(declared).name.clone();
        let base = self.base(element);
        let family = if is_array || self.by_oid.get(&base).is_some_and(|base| base.element != 0) {
            TypeFamily::Array
        } else {
            self.by_oid.get(&base).map_or(TypeFamily::Other, family)
        };
        ColumnType {
            name,
            is_array,
            family,
            enum_labels: self.labels.get(&base).cloned().unwrap_or_default(),
        }
    }

    /// The types outside `pg_catalog`, arrays and row types of relations left out.
    pub(super) fn objects(&self) -> Vec<TypeObject> {
        self.order
            .iter()
            .filter_map(|oid| {
                let described =
                    self.by_oid.get(oid).filter(|t| t.is_foreign && t.element == 0 && !t.is_row)?;
                let kind = match described.letter {
                    'e' => TypeKind::Enum,
                    'd' => TypeKind::Domain,
                    'c' => TypeKind::Composite,
                    'r' | 'm' => TypeKind::Range,
                    _ => TypeKind::Base,
                };
                Some(TypeObject {
                    name: described.name.clone(),
                    kind,
                    base: (kind == TypeKind::Domain).then(|| self.element_name(described.base)),
                    has_checks: self.domains(*oid).any(|domain| domain.has_checks),
                    checks: self.checks(*oid),
                    attributes: described.attributes.iter().map(|oid| self.element_name(*oid)).collect(),
                    attribute_names: described.attribute_names.clone(),
                    extension: described.extension.clone(),
                })
            })
            .collect()
    }

    /// The checks of a domain and of those under it; none when one of them cannot be read.
    fn checks(&self, oid: u32) -> Vec<String> {
        if self.domains(oid).any(|domain| domain.has_checks && domain.checks.is_empty()) {
            return Vec::new();
        }
        self.domains(oid).flat_map(|domain| domain.checks.iter().cloned()).collect()
    }

    /// The type's name, an array's element's; one that is not known is `record`, so that no place is lost.
    fn element_name(&self, oid: u32) -> TableRef {
        match self.by_oid.get(&oid) {
            Some(described) => self.by_oid.get(&described.element).unwrap_or(described).name.clone(),
            None => TableRef::new("pg_catalog", "record"),
        }
    }

    /// The type and, when it is a domain, what is under it, down to the base.
    fn domains(&self, oid: u32) -> impl Iterator<Item = &Type> {
        std::iter::successors(self.by_oid.get(&oid), |described| self.by_oid.get(&described.base))
            .take(DOMAIN_DEPTH)
    }

    fn base(&self, oid: u32) -> u32 {
        let under = |oid: &u32| self.by_oid.get(oid).map(|t| t.base).filter(|base| *base != 0);
        std::iter::successors(Some(oid), under).take(DOMAIN_DEPTH).last().unwrap_or(oid)
    }
}

fn family(of: &Type) -> TypeFamily {
    match (of.name.name.as_str(), of.letter, of.category) {
        (_, 'e', _) => TypeFamily::Text,
        ("date", ..) => TypeFamily::Date,
        ("timestamp" | "timestamptz", ..) => TypeFamily::Timestamp,
        ("json" | "jsonb", ..) => TypeFamily::Json,
        ("bytea", ..) => TypeFamily::Binary,
        ("uuid", ..) => TypeFamily::Uuid,
        ("interval" | "time" | "timetz", ..) => TypeFamily::Interval,
        ("oid" | "regclass" | "regproc" | "regtype" | "regrole" | "regnamespace", ..) => TypeFamily::Other,
        (_, _, 'B') => TypeFamily::Boolean,
        (_, _, 'N') => TypeFamily::Number,
        (_, _, 'S') => TypeFamily::Text,
        _ => TypeFamily::Other,
    }
}
