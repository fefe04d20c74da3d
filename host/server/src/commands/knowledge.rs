//! `airlock knowledge`: the promotion gate, the history of decisions, stored SQL held against the gate of now, and the shelf of
//! what is curated.

mod shelf;

use std::io::{BufRead, IsTerminal};

use airlock_knowledge::promotion::{Answering, Grade, Person, Replayed, Ruled, sql_texts};
use airlock_knowledge::store::{
    Candidate, CandidateState, Content, CurationState, Filter, ItemId, StoreError,
};
use airlock_pipeline::learning::{GateMode, GateOptions, PassError, PassReport};
use airlock_types::text::shorten;
use serde_json::json;

use super::curation::{Curator, failure, in_words, person};
use crate::cli::{Knowledge, Of, PromoteMode};
use crate::config::Config;
use crate::curation::{NotDecided, find};
use crate::exit::{Exit, usage};
use crate::{boot, drift, output};

/// Promotes, shows the history, rechecks, takes out of service, or keeps and restores.
///
/// # Errors
/// When the store or the source does not answer.
pub async fn run(command: Knowledge, config: &Config, json: bool) -> anyhow::Result<Exit> {
    match command {
        Knowledge::Promote { of, mode, dry_run, threshold, limit } => {
            if !(0.0..=1.0).contains(&threshold) {
                return Err(usage(format!("--threshold: {threshold} is not from 0 to 1")));
            }
            let options = GateOptions { dry_run, threshold, limit, ..GateOptions::new(&person()) };
            let curator = Curator::open(config, &of, json).await?;
            let done = promote(&curator, config, mode, &options, json).await;
            curator.close(done).await
        }
        Knowledge::History { of, item, limit } => {
            let curator = Curator::open(config, &of, json).await?;
            let done = history(&curator, item, limit, json).await;
            curator.close(done).await
        }
        Knowledge::Recheck(of) => recheck(config, &of, json).await,
        Knowledge::Decay { of, dry_run } => {
            let curator = Curator::open(config, &of, json).await?;
            let done = shelf::decay(&curator, dry_run, json).await;
            curator.close(done).await
        }
        Knowledge::Snapshot { file, of } => {
            let curator = Curator::open(config, &of, json).await?;
            let done = shelf::snapshot(&curator, &file, json).await;
            curator.close(done).await
        }
        Knowledge::Restore { file, of, why } => {
            let curator = Curator::open(config, &of, json).await?;
            let done = shelf::restore(&curator, &file, &why, json).await;
            curator.close(done).await
        }
        Knowledge::Mine { of, dry_run } => super::mine::mine(&of, dry_run, config, json).await,
        Knowledge::Audit(of) => super::mine::audit(&of, config, json).await,
    }
}

/// A person at this terminal.
struct Terminal;

impl Person for Terminal {
    fn decide<'a>(&'a self, candidate: &'a Candidate) -> Answering<'a, Option<bool>> {
        Box::pin(async move {
            let Candidate { kind, origin, evidence, .. } = candidate;
            output::progress(format_args!("{kind} by {origin}, evidence {evidence}"));
            output::progress(in_words(&candidate.content));
            let asked = tokio::task::spawn_blocking(|| {
                output::prompt("Promote it? [y]es, [n]o, anything else leaves it: ");
                let mut line = String::new();
                std::io::stdin().lock().read_line(&mut line).map(|_| line)
            });
            match asked.await.ok()?.ok()?.trim() {
                "y" | "yes" => Some(true),
                "n" | "no" => Some(false),
                _ => None,
            }
        })
    }
}

async fn promote(
    curator: &Curator<'_>,
    config: &Config,
    mode: Option<PromoteMode>,
    options: &GateOptions,
    json: bool,
) -> anyhow::Result<Exit> {
    let mode = match mode {
        None => GateMode::Nobody,
        Some(PromoteMode::Person)
            if !std::io::stdin().is_terminal()
                && !std::io::stdin().lock().fill_buf().is_ok_and(|b| !b.is_empty()) =>
        {
            return Err(usage("--mode person: nobody answers on stdin"));
        }
        Some(PromoteMode::Person) => GateMode::Person(&Terminal),
        Some(PromoteMode::Model) => GateMode::Model,
        Some(PromoteMode::Replay) => GateMode::Replay,
        Some(PromoteMode::Auto) => GateMode::Auto,
    };
    let host = boot::host(config).await?.with_store(curator.store().recall());
    let mut gone = Ok(());
    let told = |candidate: &Candidate, ruled: &Ruled| {
        if gone.is_ok() {
            gone = tell(candidate, ruled, json);
        }
    };
    let report = host.promotion_pass(&curator.promote(), Some(&curator.domain), mode, options, told).await;
    gone?;
    match report {
        Ok(report) => summary(&report, json)?,
        Err(PassError::Store(StoreError::PassRunning)) => {
            return curator.told(Err(NotDecided::Store(StoreError::PassRunning)));
        }
        Err(PassError::Store(error)) => return Err(failure(error)),
        Err(error) => return Err(usage(error)),
    }
    Ok(Exit::Done)
}

fn tell(candidate: &Candidate, ruled: &Ruled, json: bool) -> anyhow::Result<()> {
    let verdict = ruled.verdict.as_str();
    if json {
        return output::json(&json!({
            "candidate": candidate.id, "kind": candidate.kind, "verdict": verdict, "mode": ruled.mode,
            "why": ruled.why, "replay": ruled.replayed,
        }));
    }
    output::line(format!("{verdict}: {} {} ({})", candidate.kind, candidate.id, ruled.why))?;
    output::line(in_words(&candidate.content))?;
    match &ruled.replayed {
        Some(replayed) if !replayed.cases.is_empty() => output::line(table(replayed)),
        _ => Ok(()),
    }
}

/// The table of a replay: cases that changed, and how many did not.
fn table(replayed: &Replayed) -> String {
    let word = |grade: &Grade| match grade {
        Grade::Right => "pass",
        Grade::Wrong => "fail",
        Grade::Undecided => "undecided",
    };
    let mut text = format!("    {:<60}  {:<9}  with", "golden case", "without");
    let mut same = 0;
    for case in &replayed.cases {
        if case.with.iter().all(|grade| *grade == case.without) {
            same += 1;
            continue;
        }
        let with: Vec<&str> = case.with.iter().map(word).collect();
        let question = shorten(&case.question, 59);
        text.push_str(&format!("\n    {question:<60}  {:<9}  {}", word(&case.without), with.join(", ")));
    }
    text.push_str(&format!("\n    {same} the same; {} golden cases, {} asks", replayed.of, replayed.asks));
    text
}

fn summary(report: &PassReport, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({"summary": report}));
    }
    let PassReport { before, after, near_by, summary, .. } = report;
    output::line(format!(
        "{}{} ruled on: {} promoted, {} rejected, {} duplicates (by {near_by}), {} left, {} overtaken.",
        if report.dry_run { "Dry run, nothing was written. " } else { "" },
        summary.candidates,
        summary.promoted,
        summary.rejected,
        summary.duplicates,
        summary.skipped,
        summary.overtaken
    ))?;
    output::line(format!(
        "Golden cases that pass: {} of {} before, {} of {} after.",
        before.right, before.of, after.right, after.of
    ))
}

async fn history(
    curator: &Curator<'_>,
    item: Option<ItemId>,
    limit: i64,
    json: bool,
) -> anyhow::Result<Exit> {
    let decisions =
        curator.store().report().decisions(&curator.domain, item, limit).await.map_err(failure)?;
    if let Some(item) = item.filter(|_| decisions.is_empty()) {
        // Nobody decided on it yet, or there is none: the two are not the same.
        find(&curator.promote(), &curator.domain, item).await.map_err(failure)?;
    }
    for row in decisions {
        if json {
            output::json(&row)?;
            continue;
        }
        let about = row.curated.or(row.candidate).map(|id| id.to_string()).unwrap_or_default();
        let line = format!(
            "{:.0}  {} {} {about} by {} ({}): {}",
            row.at, row.verdict, row.kind, row.who, row.mode, row.why
        );
        output::line(line)?;
    }
    Ok(Exit::Done)
}

async fn recheck(config: &Config, of: &Of, json: bool) -> anyhow::Result<Exit> {
    let curator = Curator::open(config, of, json).await?;
    let done = async {
        let domain = curator.live().await?;
        let drift = curator.drift(domain.pack()).await?;
        let (mut looked_at, mut refused) = (0_usize, 0_usize);
        for (id, state, content) in everything(&curator).await? {
            for text in sql_texts(&content, domain.catalogue()) {
                looked_at += 1;
                let Err(rejection) = domain.gate().check(&text) else { continue };
                refused += 1;
                if json {
                    output::json(
                        &json!({"id": id, "state": state, "sql": text, "message": rejection.message}),
                    )?;
                } else {
                    output::line(format!("{id} ({state}): {}", rejection.message))?;
                    output::line(format!("    {text}"))?;
                }
            }
        }
        if json {
            output::json(&json!({"summary": {"texts": looked_at, "refused": refused}, "drift": drift}))?;
        } else {
            if drift.drifted() {
                output::line(drift::in_words(&drift))?;
            }
            output::line(format!("{looked_at} texts looked at, {refused} refused by the gate."))?;
        }
        Ok(if refused == 0 { Exit::Done } else { Exit::No })
    };
    let done = done.await;
    curator.close(done).await
}

/// What is curated, in whatever state, and the candidates that somebody may still decide on.
async fn everything(curator: &Curator<'_>) -> anyhow::Result<Vec<(ItemId, String, Content)>> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let filter = Filter {
            domain: Some(curator.domain.clone()),
            state: None::<CurationState>,
            limit: 1_000,
            after,
            ..Filter::default()
        };
        let page = curator.promote().curations(&filter).await.map_err(failure)?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        found.extend(page.into_iter().map(|item| (item.id, item.state.to_string(), item.content)));
    }
    for state in [CandidateState::Proposed, CandidateState::NeedsEvidence] {
        let mut after = None;
        loop {
            let filter = Filter {
                domain: Some(curator.domain.clone()),
                state: Some(state),
                limit: 1_000,
                after,
                ..Filter::default()
            };
            let page = curator.promote().candidates(&filter).await.map_err(failure)?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            found.extend(page.into_iter().map(|item| (item.id, state.to_string(), item.content)));
        }
    }
    Ok(found)
}
