//! Any text gets a verdict; what is approved is approved again, and its tree is a pure read of what the catalogue lists.
#![no_main]

#[path = "../../tests/shop/mod.rs"]
mod shop;

use std::sync::OnceLock;

use airlock_gate::Gate;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    static GATE: OnceLock<Gate> = OnceLock::new();
    let gate = GATE.get_or_init(|| shop::gate(180_000));
    match gate.check(text) {
        Ok(approved) => {
            for table in &approved.facts().tables {
                assert!(gate.catalogue().relation(table).is_some());
            }
            let again = gate.check(approved.statement()).expect("approved once, refused again");
            assert_eq!(again.facts().tables, approved.facts().tables);
            assert_eq!(again.statement(), approved.statement());
            pure_read(gate, approved.statement());
        }
        Err(rejection) => assert_ne!(rejection.code.as_str(), "internal"),
    }
});

/// Looks at the tree in another way than the gate does: as JSON, whose keys are the grammar's and never the text's.
fn pure_read(gate: &Gate, statement: &str) {
    // Approved texts may be deeper than a thread's ordinary stack can read.
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, || {
            let tree = pg_query::parse(statement, 0).expect("approved and unreadable").protobuf;
            assert_eq!(tree.stmts.len(), 1);
            let tree = serde_json::to_value(&tree).expect("a tree is JSON");
            let mut ctes = Vec::new();
            collect_ctes(&tree, &mut ctes);
            inspect(gate, &ctes, &tree);
        });
        reader.expect("a thread starts").join().expect("approved, and not a pure read");
    });
}

fn collect_ctes(tree: &Value, ctes: &mut Vec<String>) {
    if let Some(name) = tree.get("ctename").and_then(Value::as_str) {
        ctes.push(name.to_owned());
    }
    children(tree).for_each(|child| collect_ctes(child, ctes));
}

fn inspect(gate: &Gate, ctes: &[String], tree: &Value) {
    if let Value::Object(fields) = tree {
        for (key, value) in fields {
            match key.as_str() {
                "into_clause" => assert!(value.is_null(), "writes into a table"),
                "locking_clause" => assert_eq!(value.as_array().map(Vec::len), Some(0), "locks rows"),
                "RangeVar" => relation(gate, ctes, value),
                "funcname" => function(value),
                "SelectStmt" => {}
                "ParamRef" => panic!("a parameter with nothing to bind"),
                key => assert!(!key.ends_with("Stmt"), "holds {key}"),
            }
        }
    }
    children(tree).for_each(|child| inspect(gate, ctes, child));
}

fn relation(gate: &Gate, ctes: &[String], relation: &Value) {
    let part = |name: &str| relation.get(name).and_then(Value::as_str).unwrap_or_default();
    let (database, schema, name) = (part("catalogname"), part("schemaname"), part("relname"));
    assert!(database.is_empty() || database == "gate", "reads the database {database}");
    let listed = gate
        .catalogue()
        .iter()
        .any(|listed| listed.table.name == name && (schema.is_empty() || listed.table.schema == schema));
    assert!(listed || schema.is_empty() && ctes.iter().any(|cte| cte == name), "reads {schema}.{name}");
}

/// Functions that reach outside the query, by their beginnings and by name: most of them, and not in the gate's words.
fn function(names: &Value) {
    let parts: Vec<&str> =
        children(names).filter_map(|part| part.pointer("/node/String/sval")?.as_str()).collect();
    let name = parts.last().copied().unwrap_or_default();
    let reaches_out =
        ["pg_", "lo_", "dblink", "query_to_", "table_to_", "schema_to_", "database_to_", "has_", "inet_"]
            .iter()
            .any(|beginning| name.starts_with(beginning))
            || matches!(
                name,
                "set_config" | "current_setting" | "nextval" | "setval" | "spill" | "crypt" | "ts_stat"
            );
    let harmless = [
        "inet_merge",
        "inet_same_family",
        "pg_column_size",
        "pg_input_is_valid",
        "pg_size_bytes",
        "pg_size_pretty",
        "pg_typeof",
    ];
    assert!(!reaches_out || harmless.contains(&name), "calls {name}");
}

fn children(tree: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match tree {
        Value::Object(fields) => Box::new(fields.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}
