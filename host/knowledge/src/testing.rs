//! Small catalogues for tests.

use airlock_types::TableRef;
use airlock_types::catalogue::{Column, ForeignKey, Relation, TypeFamily};

/// A nullable column; the type decides the family.
pub(crate) fn column(name: &str, sql_type: &str) -> Column {
    let (family, type_name) = match sql_type.split('(').next().unwrap_or_default() {
        "integer" => (TypeFamily::Number, "int4"),
        "bigint" => (TypeFamily::Number, "int8"),
        "numeric" => (TypeFamily::Number, "numeric"),
        "double precision" => (TypeFamily::Number, "float8"),
        "money" => (TypeFamily::Number, "money"),
        "date" => (TypeFamily::Date, "date"),
        "timestamp with time zone" => (TypeFamily::Timestamp, "timestamptz"),
        "boolean" => (TypeFamily::Boolean, "bool"),
        _ => (TypeFamily::Text, "text"),
    };
    Column {
        name: name.to_owned(),
        sql_type: sql_type.to_owned(),
        type_name: TableRef::new("pg_catalog", type_name),
        is_array: false,
        family,
        nullable: true,
        generated: false,
        comment: None,
        enum_labels: Vec::new(),
    }
}

/// A table in `public` without keys.
pub(crate) fn relation(name: &str, columns: Vec<Column>) -> Relation {
    Relation::table(TableRef::new("public", name), columns)
}

/// A table from `name: column type, ...`; a `!` after a type is NOT NULL, the first column is the primary key when it ends
/// with `*`.
pub(crate) fn table(text: &str) -> Relation {
    let (name, columns) = text.split_once(':').unwrap();
    let mut made = relation(name.trim(), Vec::new());
    for text in columns.split(',') {
        let text = text.trim();
        let (name, sql_type) = text.split_once(' ').unwrap_or((text, "text"));
        let key = sql_type.ends_with('*');
        let mut column = column(name, sql_type.trim_end_matches(['*', '!']));
        column.nullable = !key && !sql_type.ends_with('!');
        if key {
            made.primary_key.push(name.to_owned());
        }
        made.columns.push(column);
    }
    made
}

/// A foreign key of one column.
pub(crate) fn foreign_key(column: &str, references: &str, referenced: &str) -> ForeignKey {
    ForeignKey {
        columns: vec![column.to_owned()],
        references: TableRef::new("public", references),
        referenced_columns: vec![referenced.to_owned()],
    }
}
