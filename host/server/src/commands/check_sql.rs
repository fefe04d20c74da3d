//! `airlock check-sql`: the gate on stdin, a line or a whole text at a time.

use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use airlock_database::RunOptions;
use airlock_gate::{Approved, Gate, Policy, Rejection};
use airlock_pipeline::Domain;
use airlock_types::Catalogue;
use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::CheckSql;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Longest line that is read; the gate's own limit is far below.
const LINE: u64 = 8 * 1024 * 1024;

/// One line of input.
#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    id: Value,
    sql: String,
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
/// When the catalogue cannot be had, or stdin is not text.
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
        let text = serde_json::to_string(&**domain.catalogue())?;
        std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        return Ok(Exit::Done);
    }
    let mut all_approved = true;
    let judge = async |id: Value, sql: String| -> anyhow::Result<bool> {
        let (line, approved) = verdict(&bench, id, &sql, check.run).await;
        show(&line, json)?;
        Ok(approved)
    };
    let mut stdin = std::io::stdin().lock();
    let mut first = String::new();
    read_line(&mut stdin, &mut first)?;
    if first.trim_start().starts_with('{') {
        let mut line = first;
        let mut number = 1_u64;
        while !line.is_empty() {
            if !line.trim().is_empty() {
                match serde_json::from_str::<Input>(&line) {
                    Ok(input) => all_approved &= judge(input.id, input.sql).await?,
                    Err(error) => {
                        let message = format!("line {number} is not {{\"id\", \"sql\"}} in JSON: {error}");
                        let rejected = json!({"id": null, "verdict": "rejected", "code": "bad-input", "message": message});
                        all_approved = false;
                        show(&rejected, json)?;
                    }
                }
            }
            line.clear();
            number += 1;
            read_line(&mut stdin, &mut line)?;
        }
    } else {
        stdin
            .take(LINE)
            .read_to_string(&mut first)
            .map_err(|error| usage(format!("stdin is not text: {error}")))?;
        all_approved &= judge(Value::Null, first).await?;
    }
    Ok(if all_approved { Exit::Done } else { Exit::No })
}

fn read_line(stdin: &mut impl BufRead, line: &mut String) -> anyhow::Result<()> {
    let read =
        stdin.take(LINE).read_line(line).map_err(|error| usage(format!("stdin is not text: {error}")))?;
    if read as u64 == LINE {
        return Err(usage(format!("a line of stdin is longer than {LINE} bytes")));
    }
    Ok(())
}

fn saved(file: &Path) -> anyhow::Result<Gate> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| usage(format!("--catalogue: {} cannot be read: {error}", file.display())))?;
    let catalogue: Catalogue = serde_json::from_str(&text).map_err(|error| {
        usage(format!("--catalogue: {} is not a saved catalogue: {error}", file.display()))
    })?;
    Ok(Gate::new(Arc::new(catalogue), Policy::default()))
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

async fn verdict(bench: &Bench, id: Value, sql: &str, run: bool) -> (Value, bool) {
    match bench.gate().check(sql) {
        Err(rejection) => (rejected(id, &rejection), false),
        Ok(approved) => {
            let mut line = approved_line(id, &approved);
            if run && let Bench::Live(domain) = bench {
                merge(&mut line, ran(domain, &approved).await);
            }
            (line, true)
        }
    }
}

fn rejected(id: Value, rejection: &Rejection) -> Value {
    json!({
        "id": id,
        "verdict": "rejected",
        "code": rejection.code.as_str(),
        "message": rejection.message,
        "hint": rejection.hint,
        "position": rejection.position,
    })
}

fn approved_line(id: Value, approved: &Approved) -> Value {
    let facts = approved.facts();
    json!({
        "id": id,
        "verdict": "approved",
        "code": null,
        "message": null,
        "position": null,
        "tables": facts.tables.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "columns": facts.columns.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "functions": facts.functions,
    })
}

async fn ran(domain: &Domain, approved: &Approved) -> Value {
    let options = RunOptions {
        time_zone: domain.calendar().0.to_owned(),
        search_path: domain.catalogue().search_path.clone(),
        ..RunOptions::default()
    };
    match domain.source().run(approved, &options).await {
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
    }
}

fn merge(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

fn show(line: &Value, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(line);
    }
    say(line)
}

/// A verdict for a person.
fn say(line: &Value) -> anyhow::Result<()> {
    let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
    let id = match line.get("id") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(id)) => format!("{id}: "),
        Some(id) => format!("{id}: "),
    };
    if text("verdict") == "approved" {
        let tables =
            line.get("tables").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        output::line(format!("{id}approved; reads {}", tables.collect::<Vec<_>>().join(", ")))?;
        if let Some(count) = line.get("row_count") {
            match line.get("error") {
                Some(Value::Object(error)) => {
                    output::line(format!(
                        "  failed: {}",
                        error.get("message").and_then(Value::as_str).unwrap_or_default()
                    ))?;
                }
                _ => output::line(format!("  {count} rows"))?,
            }
        }
    } else {
        output::line(format!("{id}rejected ({}): {}", text("code"), text("message")))?;
        if !text("hint").is_empty() {
            output::line(format!("  {}", text("hint")))?;
        }
    }
    Ok(())
}
