//! Mining: how a domain was used in the last days becomes candidates that wait for evidence. Counting alone, no model; what
//! is written about a domain is proposed as a text and changed by people.

mod joins;
mod patterns;

use std::sync::Arc;

use airlock_gate::Facts;
use airlock_knowledge::store::{
    Distill, FeedbackRow, Ingested, NewCandidate, Origin, Report, SignalTool, StoreError,
};
use airlock_types::{ColumnRef, DomainName};
use serde::Serialize;
use serde_json::json;

use crate::domain::Domain;

pub use patterns::{Pattern, PatternKind};
use patterns::{Seen, Told, Usage};

/// Days of use that are read.
const DAYS: i64 = 90;
/// Signals and verdicts that are read at most.
const MOST: usize = 100_000;
/// Of them in one read.
const PAGE: i64 = 1_000;

/// What mining came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MineReport {
    /// The domain.
    pub domain: DomainName,
    /// Whether nothing was handed in.
    pub dry_run: bool,
    /// Asks and queries that were read.
    pub signals: usize,
    /// Verdicts that were read.
    pub verdicts: usize,
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// Candidates that are new; the others were there, in whatever state.
    pub stored: usize,
}

/// Mines one domain.
///
/// # Errors
/// When the store does not answer.
pub async fn mine(
    domain: &Arc<Domain>,
    report: &Report,
    distill: &Distill,
    dry_run: bool,
) -> Result<MineReport, StoreError> {
    let since = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * DAYS);
    let mut signals = Vec::new();
    let mut after = None;
    while signals.len() < MOST {
        let page = report.signals(domain.name(), after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let used = |tool| matches!(tool, SignalTool::Ask | SignalTool::Query);
        let page = page.into_iter().filter(|signal| signal.at >= since && used(signal.tool));
        signals.extend(page.map(|signal| Seen {
            id: signal.id.to_string(),
            question: signal.question,
            sql: signal.sql,
            outcome: signal.outcome,
            failed: !signal.error_types.is_empty(),
        }));
    }
    let feedback = report.feedback(domain.name(), since, PAGE).await?.into_iter();
    let told = |row: FeedbackRow| Told {
        id: row.id.to_string(),
        ask: row.ask.to_string(),
        question: row.question,
        sql: row.sql,
        corrected_sql: row.corrected_sql,
    };
    let feedback: Vec<Told> = feedback.map(told).collect();

    let knowledge = domain.knowledge();
    let gate = domain.gate();
    // Of what touches a column that nobody may learn of, nothing is counted but that it was asked.
    let open = |facts: &Facts| domain.guarded(facts).is_none();
    let facts = |sql: &str| gate.check(sql).ok().map(|approved| approved.facts().clone()).filter(open);
    let known = |word: &str| {
        !knowledge.columns(word, 1).is_empty()
            || !domain.tables(word, 1).is_empty()
            || !knowledge.values(word, 1).is_empty()
            || !knowledge.glossary(word, 1).is_empty()
    };
    let joined = |one: &ColumnRef, other: &ColumnRef| {
        knowledge.joins_of(&one.table).any(|join| {
            let ends = |a: &ColumnRef, b: &ColumnRef| {
                join.from == a.table
                    && join.to == b.table
                    && join.from_columns == [a.column.clone()]
                    && join.to_columns == [b.column.clone()]
            };
            join.verified() && (ends(one, other) || ends(other, one))
        })
    };
    let unique = |column: &ColumnRef| {
        knowledge.view(&column.table).is_some_and(|view| view.primary_key == [column.column.clone()])
    };
    let usage = Usage {
        signals: &signals,
        feedback: &feedback,
        facts: &facts,
        known: &known,
        joined: &joined,
        unique: &unique,
    };
    let patterns = usage.patterns();
    let mut stored = 0;
    for pattern in patterns.iter().filter(|_| !dry_run) {
        let Some(content) = pattern.content.clone() else { continue };
        let new = NewCandidate::new(domain.name().clone(), content, Origin::Mined, "mining");
        let evidence = json!({
            "signals": pattern.signals, "pattern": pattern.kind, "seen": pattern.seen, "adds": pattern.adds,
        });
        // What somebody decided on, or what is nearly there, stays as it is.
        let became = distill.ingest(&NewCandidate { needs_evidence: true, evidence, ..new }).await?;
        stored += usize::from(became == Ingested::Stored);
    }
    let (signals, verdicts) = (signals.len(), feedback.len());
    Ok(MineReport { domain: domain.name().clone(), dry_run, signals, verdicts, patterns, stored })
}
