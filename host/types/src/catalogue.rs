//! The shape of a data source as the reader role sees it: plain data, filled by the database room, read by the gate,
//! indexed by the knowledge room, saved and loaded as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{ColumnRef, ContentHash, TableRef};

/// Everything the gate may know about a data source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// As `server_version_num`: 150018.
    pub server_version: u32,
    /// The connected database, the only one whose name may stand before a schema; empty when it is not known.
    #[serde(default)]
    pub database: String,
    /// Schemas an unqualified name is looked for in, in order. `pg_catalog` comes first whatever this says.
    pub search_path: Vec<String>,
    /// The relations the domain lists, by name. What is not here is unknown.
    pub relations: BTreeMap<String, Vec<Relation>>,
    /// Functions outside `pg_catalog` and `information_schema`.
    pub functions: Vec<FunctionObject>,
    /// Operators outside `pg_catalog`.
    pub operators: Vec<OperatorObject>,
    /// Casts in which a type or function outside `pg_catalog` takes part.
    pub casts: Vec<CastObject>,
    /// Types outside `pg_catalog`.
    pub types: Vec<TypeObject>,
    /// Installed extensions.
    pub extensions: Vec<String>,
    /// Relations of any kind that are not listed but that an unqualified name finds before a listed one, or before a
    /// type, of the same name, on the search path or in `pg_catalog`: such a name must be qualified.
    #[serde(default)]
    pub shadowing: Vec<TableRef>,
    /// What columns show the values of: those of views, and those of tables that inherit from each other. Who may see a value
    /// does not depend on the name by which it is seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<ShownColumn>,
    /// Relations with columns that views read and that are not listed, themselves or in the relation that is: nobody may name
    /// them, and views show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Relation>,
}

/// A column, and the columns whose values it shows or is computed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownColumn {
    /// The column.
    pub column: ColumnRef,
    /// What it is made from; every column that the view reads where that could not be told apart.
    pub of: Vec<ColumnRef>,
}

impl Catalogue {
    /// Adds a relation under its name.
    pub fn insert(&mut self, relation: Relation) {
        self.relations.entry(relation.table.name.clone()).or_default().push(relation);
    }

    /// The relation with exactly this schema and name.
    #[must_use]
    pub fn relation(&self, table: &TableRef) -> Option<&Relation> {
        self.relations.get(&table.name)?.iter().find(|relation| relation.table == *table)
    }

    /// The relation an unqualified name means under the search path.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Relation> {
        let named = self.relations.get(name)?;
        self.search_path
            .iter()
            .find_map(|schema| named.iter().find(|relation| relation.table.schema == *schema))
    }

    /// All relations, by name and then in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Relation> {
        self.relations.values().flatten()
    }

    /// How many relations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.relations.values().map(Vec::len).sum()
    }

    /// Whether there is no relation at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }
}

/// What kind of relation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelationKind {
    /// An ordinary table.
    Table,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A partitioned table; its partitions are folded into it.
    PartitionedTable,
    /// A foreign table.
    ForeignTable,
}

impl RelationKind {
    /// The word on every surface, such as `materialized-view`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::MaterializedView => "materialized-view",
            Self::PartitionedTable => "partitioned-table",
            Self::ForeignTable => "foreign-table",
        }
    }
}

/// A relation the reader may select from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// Its name.
    pub table: TableRef,
    /// What it is.
    pub kind: RelationKind,
    /// `COMMENT ON`.
    pub comment: Option<String>,
    /// The planner's estimate; absent when it was never analysed.
    pub row_estimate: Option<u64>,
    /// Columns in their order; dropped ones and those the reader may not select are not here.
    pub columns: Vec<Column>,
    /// Primary key, in its order; empty when there is none.
    pub primary_key: Vec<String>,
    /// Further unique keys.
    pub unique_keys: Vec<Vec<String>>,
    /// Foreign keys whose other side is listed too.
    pub foreign_keys: Vec<ForeignKey>,
    /// Whether row security is on: such a relation is never sampled nor indexed by value.
    pub row_security: bool,
}

impl Relation {
    /// An ordinary table of which nothing is known but its name and its columns.
    #[must_use]
    pub const fn table(table: TableRef, columns: Vec<Column>) -> Self {
        Self {
            table,
            kind: RelationKind::Table,
            comment: None,
            row_estimate: None,
            columns,
            primary_key: Vec::new(),
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            row_security: false,
        }
    }

    /// The column with exactly this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A reference to one of its columns.
    #[must_use]
    pub fn column_ref(&self, name: &str) -> ColumnRef {
        ColumnRef { table: self.table.clone(), column: name.to_owned() }
    }
}

/// What a column's values are, roughly: enough to choose an aggregate or a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeFamily {
    /// Integers, numeric, floats, money.
    Number,
    /// text, varchar, char, citext, enums, name.
    Text,
    /// date.
    Date,
    /// timestamp with and without time zone.
    Timestamp,
    /// boolean.
    Boolean,
    /// json, jsonb.
    Json,
    /// bytea.
    Binary,
    /// uuid.
    Uuid,
    /// interval, time.
    Interval,
    /// Any array.
    Array,
    /// Everything else.
    Other,
}

impl TypeFamily {
    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Text => "text",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Boolean => "boolean",
            Self::Json => "json",
            Self::Binary => "binary",
            Self::Uuid => "uuid",
            Self::Interval => "interval",
            Self::Array => "array",
            Self::Other => "other",
        }
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// As `format_type` prints it: `numeric(12,2)`.
    pub sql_type: String,
    /// Schema and name of its type in `pg_type` (`pg_catalog`, `numeric`); for an array the element's.
    pub type_name: TableRef,
    /// Whether it is an array of that type.
    pub is_array: bool,
    /// What its values are, roughly.
    pub family: TypeFamily,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether it is generated from others.
    pub generated: bool,
    /// `COMMENT ON`.
    pub comment: Option<String>,
    /// Labels of an enum type in their order; empty for others.
    pub enum_labels: Vec<String>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Its columns here.
    pub columns: Vec<String>,
    /// The other relation.
    pub references: TableRef,
    /// Its columns there.
    pub referenced_columns: Vec<String>,
}

/// A function outside `pg_catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionObject {
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Types of its arguments as `pg_get_function_identity_arguments` prints them, without names.
    pub arguments: Vec<String>,
    /// `f` function, `a` aggregate, `w` window function, `p` procedure.
    pub kind: char,
    /// The extension that owns it.
    pub extension: Option<String>,
    /// SHA-256 of its definition; absent when the reader may not read it.
    pub body: Option<ContentHash>,
    /// What it returns; absent in catalogues that do not say.
    #[serde(default)]
    pub returns: Option<Returns>,
}

/// What a function returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returns {
    /// Its type, `record` of `pg_catalog` when only `columns` tells; for an array the element's.
    pub type_name: TableRef,
    /// Whether it is an array of that type.
    pub is_array: bool,
    /// Its `OUT` arguments and the columns of `RETURNS TABLE`, in their order.
    pub columns: Vec<ReturnedColumn>,
}

/// An `OUT` argument, or a column of `RETURNS TABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedColumn {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its type; for an array the element's.
    pub type_name: TableRef,
    /// Whether it is an array of that type.
    pub is_array: bool,
}

impl FunctionObject {
    /// `schema.name(type, type)`: what a domain writes to allow it.
    #[must_use]
    pub fn signature(&self) -> String {
        format!("{}.{}({})", self.schema, self.name, self.arguments.join(", "))
    }
}

/// An operator outside `pg_catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorObject {
    /// Schema.
    pub schema: String,
    /// The operator, such as `<->`.
    pub name: String,
    /// Type of the left side; absent for a prefix operator. As `format_type` prints it.
    pub left: Option<String>,
    /// Type of the right side.
    pub right: Option<String>,
    /// The extension that owns it.
    pub extension: Option<String>,
}

/// A cast in which something outside `pg_catalog` takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastObject {
    /// From.
    pub source: TableRef,
    /// To.
    pub target: TableRef,
    /// `e` explicit, `a` assignment, `i` implicit.
    pub context: char,
    /// Schema of the function that does it; absent for binary and I/O casts.
    pub function_schema: Option<String>,
    /// The extension that owns it.
    pub extension: Option<String>,
}

/// What kind of type it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeKind {
    /// A base type, of an extension as a rule.
    Base,
    /// An enum.
    Enum,
    /// A domain over another type.
    Domain,
    /// A composite type (not the row type of a relation).
    Composite,
    /// A range or multirange.
    Range,
}

/// A type outside `pg_catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeObject {
    /// Its name.
    pub name: TableRef,
    /// What it is.
    pub kind: TypeKind,
    /// The type under a domain.
    pub base: Option<TableRef>,
    /// Whether a domain, or one under it, has CHECK constraints, which are code that a cast runs.
    pub has_checks: bool,
    /// Those constraints as expressions over `VALUE`, every name that is not of `pg_catalog` with its schema. Empty
    /// when they could not be read.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Types of a composite's attributes.
    pub attributes: Vec<TableRef>,
    /// Names of a composite's attributes, in the same order.
    #[serde(default)]
    pub attribute_names: Vec<String>,
    /// The extension that owns it.
    pub extension: Option<String>,
}
