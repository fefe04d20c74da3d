//! `airlock eval link`: how often the linker selects every table that the right answer reads.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use airlock_evaluation::Times;
use airlock_gate::NodeKind;
use airlock_knowledge::pack::{EvaluationCase, GoldenOutcome};
use airlock_pipeline::{Asker, Domain, Host, Surface};
use airlock_types::{AskRequest, DomainName, TableRef};
use serde::Serialize;

use super::progress::Bar;
use super::run::{of_pack, read};
use crate::cli::Link;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// The widths that are measured: of a first selection, and of one that repair widened.
const WIDTHS: [u32; 2] = [5, 9];

/// Shares of questions whose tables were all selected.
#[derive(Debug, Clone, Default, Serialize)]
struct Share {
    questions: usize,
    width_5: f64,
    width_9: f64,
}

/// A question some of whose tables were not selected.
#[derive(Debug, Serialize)]
struct Miss {
    id: String,
    question: String,
    width: u32,
    missing: Vec<String>,
    selected: Vec<String>,
}

/// Milliseconds; none where nothing was timed.
#[derive(Debug, Serialize)]
struct Grounding {
    median_ms: Option<f64>,
    p95_ms: Option<f64>,
}

impl Grounding {
    /// Of these microseconds.
    fn of(times: Vec<u64>) -> Self {
        let Times { median, p95 } = Times::of(times);
        let milliseconds = |time: u64| Duration::from_micros(time).as_secs_f64() * 1e3;
        Self { median_ms: median.map(milliseconds), p95_ms: p95.map(milliseconds) }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    all: Share,
    by_db: BTreeMap<String, Share>,
    by_set: BTreeMap<String, Share>,
    /// Questions that the planner would not have let through; the linker got them all the same.
    unplanned: usize,
    /// Questions whose right answer cannot be read here.
    skipped: Vec<String>,
    embedder: Option<String>,
    reranker: Option<String>,
    /// Questions whose hits the reranker did not read to the end.
    unread: usize,
    /// What plan, selection and context blocks of an ask took, the question's embedding and the reranker included.
    grounding: Grounding,
    misses: Vec<Miss>,
}

/// Links each question and compares.
///
/// # Errors
/// When a question cannot be used or a component fails.
pub async fn run(options: Link, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let wanted: Option<DomainName> = options
        .domain
        .as_deref()
        .map(|name| name.parse().map_err(|error| usage(format!("--domain: {error}"))))
        .transpose()?;
    let given = options.questions.as_deref().map(read).transpose()?;
    let host = boot::host(config).await?;
    host.embed_domains().await;
    let cases = match given {
        Some(cases) => cases,
        None => of_pack(&host, wanted.as_ref())?.1,
    };
    let cases: Vec<EvaluationCase> =
        cases.into_iter().filter(|case| case.case.outcome == GoldenOutcome::Answered).collect();
    let bar = Bar::new(cases.len(), "linking");
    let mut tally = Tally::default();
    for case in &cases {
        tally.take(&host, wanted.as_ref(), case).await?;
        bar.tried(tally.seen);
    }
    bar.done();
    let embedder = host.embedder().map(|(model, _)| model.to_owned());
    let reranker = host.reranker().map(|(model, _)| model.to_owned());
    let report = tally.report(embedder, reranker);
    if json {
        output::json(&report)?;
    } else {
        output::line(shown(&report))?;
    }
    Ok(Exit::Done)
}

#[derive(Default)]
struct Tally {
    seen: usize,
    unplanned: usize,
    unread: usize,
    skipped: Vec<String>,
    /// Microseconds.
    grounded: Vec<u64>,
    misses: Vec<Miss>,
    /// Database, set, and whether all tables were selected at each width.
    linked: Vec<(String, String, [bool; WIDTHS.len()])>,
}

impl Tally {
    async fn take(
        &mut self,
        host: &Host,
        wanted: Option<&DomainName>,
        case: &EvaluationCase,
    ) -> anyhow::Result<()> {
        self.seen += 1;
        let db = case.db.as_ref().map(|db| db.value.clone());
        // A file of several databases: each a domain of its own, or all in one.
        let own: Option<DomainName> = db.as_deref().and_then(|db| db.replace('_', "-").parse().ok());
        let own = own.filter(|own| host.domain(Some(own)).is_ok());
        let name = wanted.cloned().or(own);
        let domain = host.domain(name.as_ref()).map_err(usage)?;
        let sql = case.case.sql.as_ref().map_or("", |sql| sql.value.as_str());
        let Some(tables) = tables_of(&domain, db.as_deref(), sql) else {
            self.skipped.push(case.case.id.value.clone());
            return Ok(());
        };
        let linked = host.link(&case.case.question, Some(domain.name()), &WIDTHS).await?;
        let request =
            AskRequest { domain: Some(domain.name().clone()), ..AskRequest::new(case.case.question.clone()) };
        let begun = Instant::now();
        let shown = host.context(&request, &Asker::local(Surface::Cli)).await?;
        self.grounded.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
        self.unread += usize::from(shown.reranked.is_some_and(|reranked| reranked.degraded.is_some()));
        let mut all = [true; WIDTHS.len()];
        for ((width, linking), all) in WIDTHS.iter().zip(&linked).zip(&mut all) {
            let missing: Vec<&TableRef> =
                tables.iter().filter(|table| !linking.tables.contains(table)).collect();
            *all = missing.is_empty();
            if !missing.is_empty() {
                self.misses.push(Miss {
                    id: case.case.id.value.clone(),
                    question: case.case.question.as_str().to_owned(),
                    width: *width,
                    missing: missing.into_iter().map(ToString::to_string).collect(),
                    selected: linking.tables.iter().map(ToString::to_string).collect(),
                });
            }
        }
        self.unplanned += usize::from(linked.iter().any(|linking| !linking.planned));
        let set = case.set.clone().unwrap_or_default();
        self.linked.push((db.unwrap_or_else(|| domain.name().to_string()), set, all));
        Ok(())
    }

    fn report(self, embedder: Option<String>, reranker: Option<String>) -> Report {
        let share = |of: &dyn Fn(&str, &str) -> bool| {
            let chosen: Vec<&[bool; WIDTHS.len()]> =
                self.linked.iter().filter(|(db, set, _)| of(db, set)).map(|(_, _, all)| all).collect();
            let rate = |hit: &dyn Fn(&[bool; WIDTHS.len()]) -> bool| {
                let hits = chosen.iter().filter(|all| hit(all)).count();
                (hits as f64 / chosen.len().max(1) as f64 * 1_000.0).round() / 1_000.0
            };
            Share {
                questions: chosen.len(),
                width_5: rate(&|[five, _]| *five),
                width_9: rate(&|[_, nine]| *nine),
            }
        };
        let names = |pick: fn(&(String, String, [bool; WIDTHS.len()])) -> &String| {
            self.linked.iter().map(pick).cloned().collect::<BTreeSet<String>>()
        };
        Report {
            all: share(&|_, _| true),
            by_db: names(|(db, _, _)| db)
                .into_iter()
                .map(|name| (name.clone(), share(&|db, _| db == name)))
                .collect(),
            by_set: names(|(_, set, _)| set)
                .into_iter()
                .map(|name| (name.clone(), share(&|_, set| set == name)))
                .collect(),
            unplanned: self.unplanned,
            skipped: self.skipped,
            embedder,
            reranker,
            unread: self.unread,
            grounding: Grounding::of(self.grounded),
            misses: self.misses,
        }
    }
}

/// The tables that a text reads, as this domain has them: in the schema of the question's database where there is one of its
/// name, else in the first of the domain's that has them. `None` when one is not there.
fn tables_of(domain: &Domain, db: Option<&str>, sql: &str) -> Option<BTreeSet<TableRef>> {
    let nodes = airlock_gate::outline(sql).ok()?;
    let named = |kind: NodeKind| {
        nodes.iter().filter(move |node| node.kind == kind).filter_map(|node| node.name.as_deref())
    };
    let own: BTreeSet<&str> = named(NodeKind::Cte).collect();
    let find = |name: &str| {
        let (schema, name) = match name.rsplit_once('.') {
            Some((schema, name)) if schema != "public" => (Some(schema), name),
            Some((_, name)) => (db, name),
            None => (db, name),
        };
        let mut found: Vec<&TableRef> = domain
            .knowledge()
            .views()
            .iter()
            .map(|view| &view.table)
            .filter(|table| table.name == name)
            .collect();
        found.sort_by_key(|table| schema != Some(table.schema.as_str()));
        found.first().map(|table| (*table).clone())
    };
    named(NodeKind::Table).filter(|name| !own.contains(name)).map(find).collect()
}

fn shown(report: &Report) -> String {
    let line = |name: &str, share: &Share| {
        format!(
            "{name:24} {:>5}   {:>6.1}   {:>6.1}\n",
            share.questions,
            share.width_5 * 100.0,
            share.width_9 * 100.0
        )
    };
    let mut text = format!("{:24} {:>5}   {:>6}   {:>6}\n", "", "asked", "at 5", "at 9");
    text.push_str(&line("all", &report.all));
    for (name, share) in &report.by_db {
        text.push_str(&line(name, share));
    }
    for (name, share) in &report.by_set {
        text.push_str(&line(&format!("set {name}"), share));
    }
    for miss in &report.misses {
        text.push_str(&format!(
            "\n{} at {}: {}\n    missing:  {}\n    selected: {}\n",
            miss.id,
            miss.width,
            miss.question,
            miss.missing.join(", "),
            miss.selected.join(", ")
        ));
    }
    let embedder = report.embedder.as_deref().unwrap_or("none, keywords alone");
    text.push_str(&format!("\nembedder: {embedder}; {} questions had no plan", report.unplanned));
    if let Some(reranker) = &report.reranker {
        text.push_str(&format!("\nreranker: {reranker}; of {} questions not all was read", report.unread));
    }
    if !report.skipped.is_empty() {
        text.push_str(&format!(
            "\nleft out, a table of the right answer is not here: {}",
            report.skipped.join(", ")
        ));
    }
    if let Grounding { median_ms: Some(median), p95_ms: Some(p95) } = report.grounding {
        text.push_str(&format!(
            "\ngrounding of an ask: {median:.1} ms median, {p95:.1} ms at the 95th percentile"
        ));
    }
    text
}
