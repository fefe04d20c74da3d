//! Which role may do what with which table of the store, and the statements that try it.

use crate::roles::{Expect, Trial};

/// A table of the store: its name, a column and that column's type to try an insert with, and who may do what. A role that is
/// not named may do nothing.
pub struct Table {
    /// Its name in the schema `airlock`.
    pub name: &'static str,
    column: (&'static str, &'static str),
    select: &'static [&'static str],
    insert: &'static [&'static str],
    update: &'static [&'static str],
    delete: &'static [&'static str],
}

const fn table(
    name: &'static str,
    column: (&'static str, &'static str),
    select: &'static [&'static str],
    insert: &'static [&'static str],
    update: &'static [&'static str],
    delete: &'static [&'static str],
) -> Table {
    Table { name, column, select, insert, update, delete }
}

const PROMOTE: &[&str] = &["promote"];
const LOG: &[&str] = &["log"];
const OPS: &[&str] = &["ops"];

/// The picture of roles and tables. `migrate` owns them all and is not in it.
pub const TABLES: [Table; 18] = [
    table("candidates", ("domain", "text"), PROMOTE, PROMOTE, PROMOTE, &[]),
    table("curated", ("domain", "text"), &["recall", "promote"], PROMOTE, PROMOTE, &[]),
    table("decisions", ("domain", "text"), &["promote", "report"], PROMOTE, &[], &[]),
    table("packs", ("domain", "text"), &["recall", "promote", "report"], PROMOTE, PROMOTE, &[]),
    table("pack_files", ("domain", "text"), &["recall", "promote"], PROMOTE, &[], &[]),
    table("snapshots", ("domain", "text"), &["recall", "promote"], PROMOTE, PROMOTE, &[]),
    table("embeddings", ("domain", "text"), &["recall", "promote"], PROMOTE, &[], &[]),
    table("changes", ("domain", "text"), &["recall", "promote"], &[], &[], &[]),
    table("store", ("last_change", "bigint"), &["recall"], &[], &[], &[]),
    table("asks", ("domain", "text"), &["report"], LOG, &[], &[]),
    table("sent", ("domain", "text"), &["report"], LOG, &[], &[]),
    table("signals", ("domain", "text"), &["report"], LOG, &[], &[]),
    table("feedback", ("domain", "text"), &["promote", "report"], LOG, &[], &[]),
    table("uses", ("domain", "text"), &["promote", "report"], LOG, &[], &[]),
    table("api_keys", ("name", "text"), OPS, OPS, OPS, OPS),
    table("sessions", ("hash", "text"), OPS, OPS, OPS, OPS),
    table("conversations", ("domain", "text"), OPS, OPS, OPS, OPS),
    table("turns", ("domain", "text"), OPS, OPS, OPS, OPS),
];

/// A want of privilege, and not of anything else.
const DENIED: Expect = Expect::Refused("42501");

const INGEST: &str = "SELECT airlock.ingest(NULL, NULL, NULL, 'proposed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";
const RETAIN: &str = "SELECT airlock.retain('asks', '-infinity', 0)";
const FORGET: &str = "SELECT airlock.forget_ask('00000000-0000-0000-0000-000000000000')";

/// What proves a role of the store. `migrate` owns the schema; of it only that it is no administrator can be tried.
#[must_use]
pub fn trials(duty: &str) -> Vec<Trial> {
    let mut trials = Vec::new();
    if duty != "migrate" {
        for table in &TABLES {
            let (name, (column, kind)) = (table.name, table.column);
            for (verb, may, sql) in [
                ("read", table.select, format!("SELECT FROM airlock.{name} LIMIT 0")),
                (
                    "insert into",
                    table.insert,
                    format!("INSERT INTO airlock.{name} ({column}) SELECT NULL::{kind} WHERE false"),
                ),
                ("change", table.update, format!("UPDATE airlock.{name} SET {column} = NULL WHERE false")),
                ("delete from", table.delete, format!("DELETE FROM airlock.{name} WHERE false")),
                ("empty", &[], format!("TRUNCATE airlock.{name} CASCADE")),
            ] {
                let expect = if may.contains(&duty) { Expect::Accepted } else { DENIED };
                trials.push(Trial::new(format!("{verb} {name}"), sql, expect));
            }
        }
        // What the function says to a candidate that is none does not matter; that it may be called does.
        let ingest = if duty == "distill" { Expect::Refused("23502") } else { DENIED };
        trials.push(Trial::new("hand in a candidate that is none", INGEST, ingest));
        let janitor = if duty == "janitor" { Expect::Accepted } else { DENIED };
        trials.push(Trial::new("let old asks go", RETAIN, janitor));
        trials.push(Trial::new("forget an ask", FORGET, janitor));
        trials.push(Trial::new("make a table in the schema", "CREATE TABLE airlock.probe (n int)", DENIED));
        trials.push(Trial::new(
            "replace the way in for candidates",
            "CREATE FUNCTION airlock.probe() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            DENIED,
        ));
    }
    trials.push(Trial::new("make a role", "CREATE ROLE airlock_probe", DENIED));
    trials.push(Trial::new("run a program", "COPY (SELECT 1) TO PROGRAM 'true'", DENIED));
    trials.push(Trial::new("read a file of the server", "SELECT pg_read_file('PG_VERSION')", DENIED));
    trials
}
