//! Honest analysis in all its kinds against a small database: what PostgreSQL runs, the gate accepts, and what it accepts
//! can be planned. The statements stand by kind in `honest/statements.sql`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod server;

use std::path::Path;
use std::sync::Arc;

use airlock_gate::{AllowedFunction, Gate, Policy};
use server::Server;

/// The statements of the file; a line that begins with `-- ` before one names a kind.
fn statements() -> Vec<&'static str> {
    let statements = include_str!("honest/statements.sql").split(";\n").map(|statement| {
        let mut statement = statement.trim_start();
        while let Some((heading, rest)) = statement.split_once('\n') {
            if !heading.starts_with("-- ") {
                break;
            }
            statement = rest;
        }
        statement
    });
    statements.filter(|statement| !statement.is_empty()).collect()
}

#[test]
fn no_honest_analyst_is_told_no() {
    let Some(server) = Server::start() else { return };
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/honest/schema.sql");
    server.load("mill", "mill", &schema);
    let allowed = ["runs_of", "spread", "total_of", "days"]
        .map(|name| AllowedFunction { signature: format!("mill.{name}(integer)"), body: None });
    let catalogue = server.catalogue("mill", "mill", &[]);
    let gate =
        Gate::new(Arc::new(catalogue), Policy { allowed_functions: allowed.into(), ..Policy::default() });

    let statements = statements();
    let unplanned = server.explain("mill", "owner", &statements);
    assert!(unplanned.is_empty(), "PostgreSQL itself refuses {unplanned:?}");
    let mut refused = Vec::new();
    let mut approved = Vec::new();
    for statement in &statements {
        match gate.check(statement) {
            Ok(capped) => approved.push(capped.statement().to_owned()),
            Err(rejection) => refused.push(format!("{statement}: {}: {rejection}", rejection.code)),
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(statements.len() > 140, "only {} statements", statements.len());
    let approved: Vec<&str> = approved.iter().map(String::as_str).collect();
    let broken = server.explain("mill", "owner", &approved);
    assert!(broken.is_empty(), "what was added to a text breaks it: {broken:?}");
}
