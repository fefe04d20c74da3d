//! The score: every row of the corpora through the real binary as a reader, each outcome held against what the row demands.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio_postgres::Client;

use super::rows::{difference, own_rows};
use crate::laboratory::{Judge, Judged, Laboratory, Peak, Place, Pressure};

/// Time a statement may take: short, since many of them are made to use all of it.
pub(super) const STATEMENT_TIMEOUT_MS: u64 = 3_000;

/// Rows an asker gets at most, as packs have it by default.
const CAP: usize = 200;

/// What a contained statement may take at most: its timeout, the grace of the envelope, and a busy machine.
const TIME: Duration = Duration::from_millis(STATEMENT_TIMEOUT_MS + 12_000);
/// Memory of the host while it runs.
const HOST: u64 = 256 << 20;
/// Memory of a process of the server while it runs.
const BACKEND: u64 = 2 << 30;
/// Temporary files while it runs.
const TEMPORARY: u64 = 2 << 30;
/// Largest line of the binary: the rows of a result and what is said around them.
const RESULT: usize = 64 << 20;

/// The outcomes of one class of rows.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The class, feature or database.
    pub class: String,
    /// Rows.
    pub size: usize,
    /// Refused by the gate.
    pub refused: usize,
    /// Approved, and the rows are PostgreSQL's own.
    pub accepted: usize,
    /// Approved, and held inside the limits when run.
    pub contained: usize,
    /// What should not have been, each in a line.
    pub wrong: Vec<String>,
}

/// What a contained statement took.
#[derive(Debug, Clone)]
pub struct Contained {
    /// The row.
    pub id: String,
    /// What had to be held.
    pub kind: String,
    /// How it ended: rows, or the type of its failure.
    pub ended: String,
    /// How long it took.
    pub took: Duration,
    /// What it cost.
    pub peak: Peak,
}

/// The score.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// The server.
    pub server: String,
    /// `attacks.jsonl`, by class.
    pub attacks: Vec<Tally>,
    /// `valid.jsonl`, by feature.
    pub valid: Vec<Tally>,
    /// The gold queries and their accepted equals, by database.
    pub gold: Vec<Tally>,
    /// What was approved and had to be held.
    pub contained: Vec<Contained>,
}

impl Score {
    /// Everything that should not have been.
    pub fn wrong(&self) -> impl Iterator<Item = &str> {
        let tallies = self.attacks.iter().chain(&self.valid).chain(&self.gold);
        tallies.flat_map(|tally| tally.wrong.iter().map(String::as_str))
    }
}

/// Runs everything.
pub async fn score(corpora: &Path) -> Score {
    let laboratory = Laboratory::start(STATEMENT_TIMEOUT_MS).await;
    let mut score = Score::default();
    let gate = corpora.join("gate");
    let domain = laboratory
        .make(&Place {
            database: "gate",
            search_path: &["shop", "public"],
            schema: &read(&gate.join("valid_schema.sql")),
            traps: Some(&read(&gate.join("attack_lab.sql"))),
            functions: &["shop.net_price(numeric, numeric)"],
        })
        .await;
    let reader = laboratory.reader("gate").await;
    score.server = reader.query_one("SHOW server_version", &[]).await.unwrap().get(0);
    let mut judge = Judge::start(&laboratory.config(), &domain);
    for row in rows(&gate.join("valid.jsonl")) {
        let class = word(&row, "feature").to_owned();
        honest(&mut judge, &reader, tally(&mut score.valid, &class), &row, word(&row, "sql")).await;
    }
    attacks(&laboratory, &mut judge, &reader, &rows(&gate.join("attacks.jsonl")), &mut score).await;
    drop(judge);
    gold(&laboratory, corpora, &mut score).await;
    score
}

/// A statement that must be approved and give the rows PostgreSQL gives.
async fn honest(judge: &mut Judge, reader: &Client, tally: &mut Tally, row: &Value, sql: &str) {
    tally.size += 1;
    let judged = judge.text(sql).await;
    let id = word(row, "id");
    if !judged.approved() {
        tally.refused += 1;
        tally.wrong.push(format!("{id}: {}: {sql}", judged.line["message"]));
        return;
    }
    match compare(&judged, reader, sql).await {
        None => tally.accepted += 1,
        Some(why) => tally.wrong.push(format!("{id}: {why}: {sql}")),
    }
}

/// How what came of a text differs from what PostgreSQL makes of it. A text whose rows PostgreSQL itself does not repeat
/// (a clock, a sample) is compared by their number; one that PostgreSQL refuses must be refused for the same reason.
async fn compare(judged: &Judged, reader: &Client, sql: &str) -> Option<String> {
    let own = match own_rows(reader, sql).await {
        Ok(own) => own,
        Err(code) if judged.line["error"]["sqlstate"] == code.as_str() => return None,
        Err(code) => return Some(format!("PostgreSQL refuses it with {code}")),
    };
    let why = difference(&judged.line, &own, CAP)?;
    let again = own_rows(reader, sql).await.ok()?;
    let number = judged.line["rows"].as_array().map(Vec::len);
    if again != own && number == Some(again.len().min(CAP)) { None } else { Some(why) }
}

async fn attacks(
    laboratory: &Laboratory,
    judge: &mut Judge,
    reader: &Client,
    attacks: &[Value],
    score: &mut Score,
) {
    let secrets = secrets(laboratory).await;
    // A crash of any of the server's processes would end this connection.
    let witness = laboratory.admin("gate").await;
    let pressure = Pressure::watch(laboratory.postmaster(), laboratory.data(), judge.process());
    for row in attacks {
        let (id, sql) = (word(row, "id"), word(row, "sql"));
        let tally = tally(&mut score.attacks, word(row, "class"));
        tally.size += 1;
        let _ = pressure.take();
        let judged = judge.line(&row.to_string()).await;
        if !judged.approved() {
            tally.refused += 1;
            continue;
        }
        let peak = pressure.take();
        let Some(demand) = row["accept_if"].as_str() else {
            tally.wrong.push(format!("{id}: approved: {sql}"));
            continue;
        };
        let Some(kind) = demand.strip_prefix("contained: ") else {
            match compare(&judged, reader, sql).await {
                None => tally.accepted += 1,
                Some(why) => tally.wrong.push(format!("{id}: {why}: {sql}")),
            }
            continue;
        };
        let mut why = not_held(&judged, peak, sql, &secrets);
        if witness.batch_execute("SELECT 1").await.is_err() {
            why.push("PostgreSQL did not stay alive".to_owned());
        }
        if judge.text("SELECT 1").await.line["rows"] != serde_json::json!([[1]]) {
            why.push("the next was not served".to_owned());
        }
        if why.is_empty() {
            tally.contained += 1;
            let failure = judged.line["error"]["error_type"].as_str();
            let ended = failure.map_or_else(|| format!("{} rows", judged.line["row_count"]), str::to_owned);
            let (id, kind) = (id.to_owned(), kind.to_owned());
            score.contained.push(Contained { id, kind, ended, took: judged.took, peak });
        } else {
            tally.wrong.push(format!("{id}: {}: {sql}", why.join(", ")));
        }
    }
}

/// Values that no failure may tell.
async fn secrets(laboratory: &Laboratory) -> Vec<String> {
    let query = "SELECT name FROM shop.customers UNION SELECT email FROM shop.customers UNION SELECT secret FROM shop.secrets";
    let rows = laboratory.admin("gate").await.query(query, &[]).await.unwrap();
    let values = rows.iter().filter_map(|row| row.get::<_, Option<String>>(0));
    values.filter(|value| value.len() > 3).collect()
}

/// The limits that did not hold.
fn not_held(judged: &Judged, peak: Peak, sql: &str, secrets: &[String]) -> Vec<String> {
    let error = judged.line["error"].clone();
    // The text of the query is the asker's own.
    let said = [&error["message"], &error["hint"]].map(Value::to_string).join(" ");
    let told = secrets.iter().find(|secret| said.contains(secret.as_str()) && !sql.contains(secret.as_str()));
    let mut why = Vec::new();
    for (limit, what) in [
        (judged.took > TIME, format!("took {:?}", judged.took)),
        (peak.host > HOST, format!("the host held {} MiB", peak.host >> 20)),
        (peak.backend > BACKEND, format!("a backend held {} MiB", peak.backend >> 20)),
        (peak.temporary > TEMPORARY, format!("{} MiB of temporary files", peak.temporary >> 20)),
        (judged.line.to_string().len() > RESULT, "the result is larger than its cap".to_owned()),
        (told.is_some(), format!("the failure tells {told:?}")),
    ] {
        if limit {
            why.push(what);
        }
    }
    why
}

async fn gold(laboratory: &Laboratory, corpora: &Path, score: &mut Score) {
    let questions = rows(&corpora.join("eval/questions.jsonl"));
    let mut databases: Vec<&str> = questions.iter().map(|row| word(row, "db")).collect();
    databases.sort_unstable();
    databases.dedup();
    for database in databases {
        let schema = read(&corpora.join(format!("eval/db/{database}.sql")));
        let place =
            Place { database, search_path: &["public"], schema: &schema, traps: None, functions: &[] };
        let domain = laboratory.make(&place).await;
        let reader = laboratory.reader(database).await;
        let mut judge = Judge::start(&laboratory.config(), &domain);
        let tally = tally(&mut score.gold, database);
        for row in questions.iter().filter(|row| word(row, "db") == database && row["answerable"] == true) {
            let equals = row["accepted_sql"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut texts: Vec<&str> = std::iter::once(word(row, "gold_sql")).chain(equals).collect();
            texts.sort_unstable();
            texts.dedup();
            for sql in texts {
                honest(&mut judge, &reader, tally, row, sql).await;
            }
        }
    }
}

fn tally<'t>(tallies: &'t mut Vec<Tally>, class: &str) -> &'t mut Tally {
    let at = tallies.iter().position(|tally| tally.class == class).unwrap_or_else(|| {
        tallies.push(Tally { class: class.to_owned(), ..Tally::default() });
        tallies.len() - 1
    });
    &mut tallies[at]
}

fn word<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows(path: &Path) -> Vec<Value> {
    let text = read(path);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}: {line}", path.display())))
        .collect()
}
