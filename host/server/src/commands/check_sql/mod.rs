//! `airlock check-sql`: the gate on stdin, a line or a whole text at a time.

mod lines;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use airlock_database::RunOptions;
use airlock_gate::{Approved, Gate, Policy};
use airlock_pipeline::Domain;
use airlock_types::{Catalogue, Object};
use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cli::CheckSql;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::verdict::Verdict;
use crate::{boot, output};
use lines::{Line, Lines};

/// One line of input. Further keys are left alone.
#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    id: Value,
    sql: String,
}

/// A line whose `sql` is none, such as one with half a surrogate pair, is still answered by its name.
#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    id: Value,
}

/// What judges, and what runs.
enum Bench {
    Live(Box<Domain>),
    Saved(Gate),
}

impl Bench {
    const fn gate(&self) -> &Gate {
        match self {
            Self::Live(domain) => domain.gate(),
            Self::Saved(gate) => gate,
        }
    }
}

/// Judges stdin.
///
/// # Errors
/// When the catalogue cannot be had, or stdin cannot be read.
pub async fn run(
    check: CheckSql,
    config: impl Fn() -> anyhow::Result<Config>,
    json: bool,
) -> anyhow::Result<Exit> {
    let bench = match &check.catalogue {
        Some(file) => Bench::Saved(saved(file)?),
        None => Bench::Live(Box::new(live(&check, &config()?).await?)),
    };
    if let (Some(file), Bench::Live(domain)) = (&check.save_catalogue, &bench) {
        let mut saved = serde_json::to_value(&**domain.catalogue())?;
        if let Value::Object(fields) = &mut saved {
            fields.insert("policy".to_owned(), serde_json::to_value(domain.gate().policy())?);
        }
        let text = saved.to_string();
        std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        return Ok(Exit::Done);
    }
    let mut lines = Lines::new(std::io::stdin());
    let first = lines.next()?;
    let mut all_approved = true;
    if first.as_ref().is_some_and(|line| line.bytes.trim_ascii_start().starts_with(b"{")) {
        let mut batch: Vec<Line> = first.into_iter().collect();
        // Stdin may be endless.
        while !batch.is_empty() && !output::is_unread() {
            all_approved &= answer(&bench, &batch, check.run, json).await?;
            batch = lines.batch()?;
        }
    } else {
        let mut bytes = first.map(|line| line.bytes).unwrap_or_default();
        bytes.extend(lines.rest()?);
        let text = String::from_utf8(bytes).map_err(|error| usage(format!("stdin is not UTF-8: {error}")))?;
        let verdict = judge_and_run(&bench, Value::Null, &text, check.run).await;
        all_approved = verdict.is_approved();
        print(&[verdict], json)?;
    }
    Ok(if all_approved { Exit::Done } else { Exit::No })
}

/// Answers a batch of lines in their order; whether all were approved.
async fn answer(bench: &Bench, batch: &[Line], run: bool, json: bool) -> anyhow::Result<bool> {
    if !run {
        let (text, all_approved) = judge_all(bench.gate(), batch, json)?;
        write(&text)?;
        return Ok(all_approved);
    }
    let mut all_approved = true;
    for line in batch.iter().filter(|line| !line.bytes.trim_ascii().is_empty()) {
        let verdict = match read(line) {
            Ok(input) => judge_and_run(bench, input.id, &input.sql, run).await,
            Err(verdict) => *verdict,
        };
        all_approved &= verdict.is_approved();
        print(&[verdict], json)?;
    }
    Ok(all_approved)
}

/// Judges lines on all processors and keeps their order: what is written, and whether all were approved.
fn judge_all(gate: &Gate, batch: &[Line], json: bool) -> anyhow::Result<(String, bool)> {
    let judge_part = |part: &[Line]| {
        let mut text = String::new();
        let mut all_approved = true;
        for line in part.iter().filter(|line| !line.bytes.trim_ascii().is_empty()) {
            let verdict = match read(line) {
                Ok(input) => judge(gate, input.id, &input.sql).0,
                Err(verdict) => *verdict,
            };
            all_approved &= verdict.is_approved();
            verdict.write(json, &mut text);
        }
        (text, all_approved)
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    if workers == 1 || batch.len() < 2 {
        return Ok(judge_part(batch));
    }
    let parts: Vec<_> = thread::scope(|scope| {
        let share = batch.len().div_ceil(workers);
        let started: Vec<_> = batch.chunks(share).map(|part| scope.spawn(|| judge_part(part))).collect();
        started.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut all = (String::new(), true);
    for part in parts {
        let (text, approved) = part.map_err(|_| anyhow!("judging ended unexpectedly"))?;
        all.0.push_str(&text);
        all.1 &= approved;
    }
    Ok(all)
}

fn read(line: &Line) -> Result<Input, Box<Verdict>> {
    serde_json::from_slice(&line.bytes).map(|Object(input)| input).map_err(|error| {
        let Object(named): Object<Named> = serde_json::from_slice(&line.bytes).unwrap_or_default();
        let message = format!("line {} is not {{\"id\", \"sql\"}} in JSON: {error}", line.number);
        Box::new(Verdict::unreadable(named.id, message))
    })
}

fn judge(gate: &Gate, id: Value, sql: &str) -> (Verdict, Option<Approved>) {
    let checked = gate.check(sql);
    (Verdict::of(id, &checked), checked.ok())
}

async fn judge_and_run(bench: &Bench, id: Value, sql: &str, run: bool) -> Verdict {
    match (judge(bench.gate(), id, sql), bench) {
        ((verdict, Some(approved)), Bench::Live(domain)) if run => verdict.with(ran(domain, &approved).await),
        ((verdict, _), _) => verdict,
    }
}

async fn ran(domain: &Domain, approved: &Approved) -> Map<String, Value> {
    let options = RunOptions {
        time_zone: domain.calendar().0.to_owned(),
        search_path: domain.catalogue().search_path.clone(),
        ..RunOptions::default()
    };
    let ran = match domain.source().run(approved, &options).await {
        Ok(result) => json!({
            "ok": true,
            "columns": result.columns,
            "rows": result.rows,
            "row_count": result.rows.len(),
            "truncated": result.truncated,
            "error": null,
        }),
        Err(failure) => {
            json!({"ok": false, "columns": [], "rows": [], "row_count": 0, "truncated": false, "error": failure})
        }
    };
    match ran {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn print(verdicts: &[Verdict], json: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    verdicts.iter().for_each(|verdict| verdict.write(json, &mut text));
    write(&text)
}

fn write(text: &str) -> anyhow::Result<()> {
    let mut out = output::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// What a saved catalogue says beside the catalogue: the row cap, the allowed functions and the limits of its domain.
#[derive(Deserialize)]
struct Rules {
    #[serde(default)]
    policy: Policy,
}

fn saved(file: &Path) -> anyhow::Result<Gate> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| usage(format!("--catalogue: {} cannot be read: {error}", file.display())))?;
    let unreadable =
        |error| usage(format!("--catalogue: {} is not a saved catalogue: {error}", file.display()));
    let catalogue: Catalogue = serde_json::from_str(&text).map_err(unreadable)?;
    let rules: Rules = serde_json::from_str(&text).map_err(unreadable)?;
    Ok(Gate::new(Arc::new(catalogue), rules.policy))
}

async fn live(check: &CheckSql, config: &Config) -> anyhow::Result<Domain> {
    let packs = boot::packs(config)?;
    let names = packs.iter().map(|pack| pack.name.to_string()).collect::<Vec<_>>().join(", ");
    let pack = match &check.domain {
        Some(name) => packs.iter().find(|pack| pack.name.as_str() == name),
        None if packs.len() == 1 => packs.first(),
        None => None,
    };
    let pack =
        pack.ok_or_else(|| usage(format!("--domain: name one of the domains that are configured: {names}")))?;
    boot::open(config, &mut std::collections::BTreeMap::new(), pack).await
}
