//! A catalogue from the text of a schema, so that tests need no server: what `CREATE TABLE`, `COMMENT ON` and `ALTER TABLE
//! ... ADD CONSTRAINT` say and nothing more.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a schema that does not parse is a broken test")]

pub mod wide;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use airlock_types::catalogue::{Column, ForeignKey, Relation, TypeFamily};
use airlock_types::{Catalogue, TableRef};
use pg_query::protobuf::{ColumnDef, ConstrType, Constraint, CreateStmt, Node, ObjectType, RangeVar};
use pg_query::{NodeEnum, ParserOptions};

/// A path from the root of the workspace.
pub fn workspace(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The catalogue of a schema, every table in the schema `public` unless it says otherwise.
pub fn catalogue(ddl: &str) -> Catalogue {
    let mut catalogue =
        Catalogue { server_version: 150_000, search_path: vec!["public".into()], ..Catalogue::default() };
    // Rows are of no interest, and one `INSERT` can be the larger part of a file.
    let statements = pg_query::split_with_parser(ddl).unwrap();
    let wanted = ["CREATE TABLE", "COMMENT ON", "ALTER TABLE"];
    for statement in statements {
        let begins = strip_comments(statement).to_uppercase();
        if !wanted.iter().any(|wanted| begins.starts_with(wanted)) {
            continue;
        }
        for raw in pg_query::parse(statement, ParserOptions::default()).unwrap().protobuf.stmts {
            match raw.stmt.unwrap().node.unwrap() {
                NodeEnum::CreateStmt(create) => catalogue.insert(relation(&create)),
                NodeEnum::CommentStmt(comment) => comment_on(&mut catalogue, &comment),
                NodeEnum::AlterTableStmt(alter) => {
                    let table = table_ref(alter.relation.as_ref().unwrap());
                    for command in &alter.cmds {
                        let Some(NodeEnum::AlterTableCmd(command)) = &command.node else { continue };
                        let Some(NodeEnum::Constraint(constraint)) =
                            command.def.as_ref().and_then(|def| def.node.as_ref())
                        else {
                            continue;
                        };
                        if let Some(relation) = find(&mut catalogue, &table) {
                            constrain(relation, constraint, None);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    complete_foreign_keys(&mut catalogue);
    catalogue
}

/// Distinct text values of `INSERT ... VALUES`, by table and column name.
pub fn inserted(ddl: &str, catalogue: &Catalogue) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for statement in pg_query::split_with_parser(ddl).unwrap() {
        if !strip_comments(statement).to_uppercase().starts_with("INSERT INTO") {
            continue;
        }
        for raw in pg_query::parse(statement, ParserOptions::default()).unwrap().protobuf.stmts {
            let Some(NodeEnum::InsertStmt(insert)) = raw.stmt.and_then(|stmt| stmt.node) else { continue };
            let table = insert.relation.as_ref().unwrap().relname.clone();
            let Some(relation) = catalogue.relations.get(&table).and_then(|named| named.first()) else {
                continue;
            };
            let mut columns: Vec<String> = insert
                .cols
                .iter()
                .filter_map(|column| match column.node.as_ref() {
                    Some(NodeEnum::ResTarget(target)) => Some(target.name.clone()),
                    _ => None,
                })
                .collect();
            if columns.is_empty() {
                columns = relation.columns.iter().map(|column| column.name.clone()).collect();
            }
            let Some(NodeEnum::SelectStmt(select)) = insert.select_stmt.and_then(|select| select.node) else {
                continue;
            };
            for row in &select.values_lists {
                let Some(NodeEnum::List(row)) = &row.node else { continue };
                for (column, cell) in columns.iter().zip(&row.items) {
                    if let Some(NodeEnum::AConst(constant)) = &cell.node
                        && let Some(pg_query::protobuf::a_const::Val::Sval(text)) = &constant.val
                    {
                        found.entry((table.clone(), column.clone())).or_default().insert(text.sval.clone());
                    }
                }
            }
        }
    }
    found
}

fn strip_comments(text: &str) -> String {
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with("--"));
    lines.take(1).collect()
}

fn find<'a>(catalogue: &'a mut Catalogue, table: &TableRef) -> Option<&'a mut Relation> {
    catalogue.relations.get_mut(&table.name)?.iter_mut().find(|relation| relation.table == *table)
}

fn table_ref(range: &RangeVar) -> TableRef {
    let schema = if range.schemaname.is_empty() { "public" } else { &range.schemaname };
    TableRef::new(schema, &range.relname)
}

fn relation(create: &CreateStmt) -> Relation {
    let mut relation = Relation::table(table_ref(create.relation.as_ref().unwrap()), Vec::new());
    for element in &create.table_elts {
        match element.node.as_ref() {
            Some(NodeEnum::ColumnDef(definition)) => {
                relation.columns.push(column(definition));
                for constraint in &definition.constraints {
                    if let Some(NodeEnum::Constraint(constraint)) = &constraint.node {
                        constrain(&mut relation, constraint, Some(&definition.colname));
                    }
                }
            }
            Some(NodeEnum::Constraint(constraint)) => constrain(&mut relation, constraint, None),
            _ => {}
        }
    }
    relation
}

fn column(definition: &ColumnDef) -> Column {
    let type_name = definition.type_name.as_ref().unwrap();
    let name = strings(&type_name.names).pop().unwrap();
    let is_array = !type_name.array_bounds.is_empty();
    let family = match name.as_str() {
        _ if is_array => TypeFamily::Array,
        "int2" | "int4" | "int8" | "numeric" | "float4" | "float8" | "money" | "serial" | "bigserial" => {
            TypeFamily::Number
        }
        "date" => TypeFamily::Date,
        "timestamp" | "timestamptz" => TypeFamily::Timestamp,
        "bool" => TypeFamily::Boolean,
        "text" | "varchar" | "bpchar" | "char" => TypeFamily::Text,
        "json" | "jsonb" => TypeFamily::Json,
        "uuid" => TypeFamily::Uuid,
        _ => TypeFamily::Other,
    };
    let name = match name.as_str() {
        "serial" => "int4",
        "bigserial" => "int8",
        other => other,
    };
    Column {
        name: definition.colname.clone(),
        sql_type: name.to_owned(),
        type_name: TableRef::new("pg_catalog", name),
        is_array,
        family,
        nullable: true,
        generated: false,
        comment: None,
        enum_labels: Vec::new(),
    }
}

fn constrain(relation: &mut Relation, constraint: &Constraint, own: Option<&str>) {
    let columns = |nodes: &[Node]| match own {
        Some(column) if nodes.is_empty() => vec![column.to_owned()],
        _ => strings(nodes),
    };
    match constraint.contype() {
        ConstrType::ConstrNotnull => set_not_null(relation, own.as_slice()),
        ConstrType::ConstrPrimary => {
            relation.primary_key = columns(&constraint.keys);
            let key: Vec<String> = relation.primary_key.clone();
            set_not_null(relation, &key.iter().map(String::as_str).collect::<Vec<_>>());
        }
        ConstrType::ConstrUnique => relation.unique_keys.push(columns(&constraint.keys)),
        ConstrType::ConstrForeign => relation.foreign_keys.push(ForeignKey {
            columns: columns(&constraint.fk_attrs),
            references: table_ref(constraint.pktable.as_ref().unwrap()),
            referenced_columns: strings(&constraint.pk_attrs),
        }),
        _ => {}
    }
}

fn set_not_null(relation: &mut Relation, names: &[&str]) {
    for column in &mut relation.columns {
        if names.contains(&column.name.as_str()) {
            column.nullable = false;
        }
    }
}

fn comment_on(catalogue: &mut Catalogue, comment: &pg_query::protobuf::CommentStmt) {
    let Some(NodeEnum::List(list)) = comment.object.as_ref().and_then(|object| object.node.as_ref()) else {
        return;
    };
    let mut names = strings(&list.items);
    let column = (comment.objtype() == ObjectType::ObjectColumn).then(|| names.pop()).flatten();
    let name = names.pop().unwrap();
    let schema = names.pop().unwrap_or_else(|| "public".to_owned());
    let Some(relation) = find(catalogue, &TableRef::new(schema, name)) else { return };
    let text = Some(comment.comment.clone());
    match column {
        None => relation.comment = text,
        Some(name) => {
            if let Some(column) = relation.columns.iter_mut().find(|column| column.name == name) {
                column.comment = text;
            }
        }
    }
}

/// `REFERENCES other` means the other table's primary key.
fn complete_foreign_keys(catalogue: &mut Catalogue) {
    let keys: Vec<(TableRef, Vec<String>)> =
        catalogue.iter().map(|relation| (relation.table.clone(), relation.primary_key.clone())).collect();
    for relation in catalogue.relations.values_mut().flatten() {
        for key in &mut relation.foreign_keys {
            if key.referenced_columns.is_empty() {
                let found = keys.iter().find(|(table, _)| *table == key.references);
                key.referenced_columns = found.map(|(_, key)| key.clone()).unwrap_or_default();
            }
        }
    }
}

fn strings(nodes: &[Node]) -> Vec<String> {
    nodes
        .iter()
        .filter_map(|node| match node.node.as_ref() {
            Some(NodeEnum::String(text)) => Some(text.sval.clone()),
            _ => None,
        })
        .collect()
}
