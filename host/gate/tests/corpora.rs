//! The corpora: no attack gets through, no honest statement is refused, and PostgreSQL accepts what the gate accepts.
//!
//! They are read from `$AIRLOCK_CORPORA`, or from `../shared/corpora` beside the workspace; without them, or without
//! PostgreSQL's binaries, the tests say so and pass.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_gate::{AllowedFunction, Gate, Policy};
use serde_json::Value;
use server::Server;

/// The relations that `valid_schema.sql` makes; everything else of the laboratory is unlisted.
const LISTED: &[&str] = &[
    "shop.customers",
    "shop.products",
    "shop.categories",
    "shop.orders",
    "shop.orders_2024",
    "shop.orders_2025",
    "shop.order_items",
    "shop.Order Events",
    "shop.shifts",
    "shop.order_totals",
    "shop.monthly_sales",
    "public.events",
    "public.User",
    "public.measurements",
];

fn corpora() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let folder = std::env::var_os("AIRLOCK_CORPORA").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The folder of the corpora and a server, or a loud word about what is missing.
fn laboratory() -> Option<(PathBuf, Server)> {
    let Some(folder) = corpora() else {
        eprintln!("SKIPPED: there are no corpora; set AIRLOCK_CORPORA");
        return None;
    };
    Some((folder, Server::start()?))
}

fn word<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn no_attack_gets_through_and_no_honest_statement_is_refused() {
    let Some((folder, server)) = laboratory() else { return };
    let gate_folder = folder.join("gate");
    server.load("gate", "shop, public", &gate_folder.join("valid_schema.sql"));
    server.psql("gate", "owner", &std::fs::read_to_string(gate_folder.join("attack_lab.sql")).unwrap());
    let allowed_functions =
        vec![AllowedFunction { signature: "shop.net_price(numeric, numeric)".to_owned(), body: None }];
    let catalogue = server.catalogue("gate", "shop,public", LISTED);
    let gate = Gate::new(Arc::new(catalogue), Policy { allowed_functions, ..Policy::default() });

    let attacks = lines(&gate_folder.join("attacks.jsonl"));
    let mut contained = 0;
    let mut through = Vec::new();
    for row in &attacks {
        if gate.check(word(row, "sql")).is_err() {
            continue;
        }
        if row.get("accept_if").is_some() {
            contained += 1;
            eprintln!("left to the envelope ({}): {}", word(row, "accept_if"), word(row, "sql"));
        } else {
            through.push(format!("{} {}: {}", word(row, "id"), word(row, "class"), word(row, "sql")));
        }
    }
    let valid = lines(&gate_folder.join("valid.jsonl"));
    let mut refused = Vec::new();
    let mut statements = Vec::new();
    for row in &valid {
        match gate.check(word(row, "sql")) {
            Ok(approved) => statements.push(approved.statement().to_owned()),
            Err(rejection) => refused.push(format!("{}: {}: {rejection}", word(row, "sql"), rejection.code)),
        }
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let complaints: Vec<String> = server
        .explain("gate", "gate_ro", &statements)
        .into_iter()
        .map(|(index, why)| format!("{}: {why}", statements[index]))
        .collect();
    eprintln!(
        "attacks {}, refused {}, left to the envelope {contained}, through {}; valid {}, accepted {}",
        attacks.len(),
        attacks.len() - contained - through.len(),
        through.len(),
        valid.len(),
        statements.len(),
    );
    assert!(through.is_empty(), "got through:\n{}", through.join("\n"));
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
    assert!(complaints.is_empty(), "PostgreSQL refuses:\n{}", complaints.join("\n"));
}

/// SQLSTATEs that an approved text never ends with: names, syntax and permissions are the gate's own business. That a known
/// function or operator is not there for the types it is given (42883) is PostgreSQL's to say, as are all other types.
const OURS: &[&str] = &["42601", "42703", "42P01", "42704", "42501", "25006", "42P02", "3F000"];

#[test]
fn no_approved_text_of_any_corpus_is_refused_for_what_the_gate_knows() {
    let Some(server) = Server::start() else { return };
    server.psql("postgres", "owner", "CREATE DATABASE shop");
    server.psql("postgres", "owner", "ALTER DATABASE shop SET search_path = shop, public");
    let (_, complaints) = server.psql("shop", "owner", include_str!("shop/schema.sql"));
    assert!(complaints.is_empty(), "{complaints}");
    let listed = ["shop.customers", "shop.orders", "shop.lines", "shop.visits", "public.events"];
    let signatures = [
        "net_price(numeric)",
        "home_of(integer)",
        "homes()",
        "moods_of(integer)",
        "visits_of(integer)",
        "same(anyelement)",
        "total_of(integer, text)",
        "secrets_of(integer)",
        "anything()",
        "untold(integer)",
    ];
    let allowed_functions = signatures
        .map(|signature| AllowedFunction { signature: format!("shop.{signature}"), body: None })
        .into();
    let catalogue = server.catalogue("shop", "shop,public", &listed);
    let gate = Gate::new(Arc::new(catalogue), Policy { allowed_functions, ..Policy::default() });

    let mut texts: Vec<String> = Vec::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/check");
    for file in std::fs::read_dir(corpus).unwrap() {
        texts.extend(String::from_utf8(std::fs::read(file.unwrap().path()).unwrap()));
    }
    if let Some(folder) = corpora() {
        for file in ["gate/attacks.jsonl", "gate/valid.jsonl"] {
            texts.extend(lines(&folder.join(file)).iter().map(|row| word(row, "sql").to_owned()));
        }
    }
    let approved: Vec<String> =
        texts.iter().filter_map(|text| Some(gate.check(text).ok()?.statement().to_owned())).collect();
    // psql reads its own commands and variables in a text, and these would end it.
    let plannable = |text: &&str| !text.contains(['\\', ':', '\0']);
    let statements: Vec<&str> = approved.iter().map(String::as_str).filter(plannable).collect();
    let missed: Vec<String> = server
        .explain("shop", "reader", &statements)
        .into_iter()
        .filter(|(_, why)| OURS.iter().any(|state| why.contains(state)))
        .map(|(index, why)| format!("{:?}: {why}", statements[index]))
        .collect();
    eprintln!("texts {}, approved {}, planned {}", texts.len(), approved.len(), statements.len());
    assert!(statements.len() > 100, "only {} were planned", statements.len());
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn gold_queries_are_accepted() {
    let Some((folder, server)) = laboratory() else { return };
    let questions = lines(&folder.join("eval/questions.jsonl"));
    let mut refused = Vec::new();
    let mut databases: Vec<&str> = questions.iter().map(|row| word(row, "db")).collect();
    databases.sort_unstable();
    databases.dedup();
    let mut accepted = 0;
    for database in databases {
        server.load(database, "public", &folder.join(format!("eval/db/{database}.sql")));
        let gate = Gate::new(Arc::new(server.catalogue(database, "public", &[])), Policy::default());
        let mut statements = Vec::new();
        for row in questions.iter().filter(|row| word(row, "db") == database && row["answerable"] == true) {
            let more = row["accepted_sql"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for sql in std::iter::once(word(row, "gold_sql")).chain(more) {
                match gate.check(sql) {
                    Ok(approved) => statements.push(approved.statement().to_owned()),
                    Err(rejection) => {
                        refused.push(format!("{database}: {sql}: {}: {rejection}", rejection.code))
                    }
                }
            }
        }
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        for (index, why) in server.explain(database, "owner", &statements) {
            refused.push(format!("{database}: PostgreSQL: {}: {why}", statements[index]));
        }
        accepted += statements.len();
    }
    eprintln!("gold queries and their equals: accepted {accepted}, refused {}", refused.len());
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}
