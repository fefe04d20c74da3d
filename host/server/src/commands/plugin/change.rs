//! `airlock plugin swap` and `rollback`: changes of a running host, asked for over its operators' socket.

use std::path::PathBuf;

use airlock_pipeline::Served;

use super::{parse_stage, scope};
use crate::cli::Swap;
use crate::commands::present;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::operator::{self, CaseGraded, Cases, Reply, Request, Verified};
use crate::output;

/// Asks for a swap.
///
/// # Errors
/// When no host runs, or it failed.
pub async fn swap(swap: Swap, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let absolute = |path: PathBuf| {
        present(&path)?;
        std::path::absolute(&path).map_err(|error| usage(format!("{}: {error}", path.display())))
    };
    let verify = match swap.verify {
        None => None,
        Some(None) => Some(Cases::Packs),
        Some(Some(file)) => Some(Cases::File(absolute(file)?)),
    };
    let request = Request::Swap {
        stage: parse_stage(&swap.stage)?,
        domains: scope(swap.domain)?,
        file: absolute(swap.component)?,
        verify,
        force: swap.force,
        shadow: swap.shadow,
    };
    ask(&request, config, json).await
}

/// Asks for a change and shows what came of it.
///
/// # Errors
/// When no host runs, or it failed.
pub async fn ask(request: &Request, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let reply = operator::ask(config, request, progress).await?;
    let reply = reply.ok_or_else(|| operator::nobody(&config.operator_socket))?;
    if json {
        output::json(&reply)?;
    } else {
        show(&reply)?;
    }
    Ok(match reply {
        Reply::Refused { .. } => Exit::No,
        Reply::Failed { .. } => Exit::Infrastructure,
        _ => Exit::Done,
    })
}

/// A graded case, on stderr: it is no part of the answer.
#[allow(clippy::needless_pass_by_value, reason = "the shape of a callback")]
fn progress(graded: CaseGraded) {
    let side = if graded.candidate { "candidate" } else { "serving  " };
    let word = if graded.verdict.is_right() { "right" } else { "NOT RIGHT" };
    let why = graded.verdict.why().map(|why| format!(": {why}")).unwrap_or_default();
    output::progress(format_args!("{side}  {}/{}  {word}{why}", graded.domain, graded.case));
}

fn show(reply: &Reply) -> anyhow::Result<()> {
    let name = |served: &Served| format!("{} {}", served.component, served.digest.short());
    let maybe = |served: &Option<Served>| served.as_ref().map_or_else(|| "nothing".to_owned(), name);
    match reply {
        Reply::Swapped(swapped) => {
            output::line(format!(
                "{} of {}: {} -> {}",
                swapped.stage,
                swapped.domains,
                maybe(&swapped.from),
                name(&swapped.to)
            ))?;
            if swapped.grant.is_empty() {
                output::line("its grant gives what the old one's gave")?;
            }
            for line in &swapped.grant {
                output::line(format!("grant  {line}"))?;
            }
            verified(swapped.verified.as_ref())?;
            if swapped.forced {
                output::line("swapped by force, although something got worse")?;
            }
        }
        Reply::RolledBack(back) => {
            output::line(format!(
                "{} of {}: {} -> {}",
                back.stage,
                back.domains,
                maybe(&back.from),
                maybe(&back.to)
            ))?;
            if let Some(why) = &back.unwritten {
                output::line(format!(
                    "NOT ON DISK: {why}. A host that dies before there is room comes back with {}",
                    maybe(&back.from)
                ))?;
            }
        }
        Reply::Shadowing { candidate, runs } => output::line(format!(
            "{} runs beside what serves in the next {runs} asks that need the stage; `airlock plugin history` shows how it compares",
            name(candidate)
        ))?,
        Reply::Refused { why, verified: found } => {
            output::line(format!("refused: {why}"))?;
            verified(found.as_ref())?;
        }
        Reply::Failed { why } => output::line(format!("failed: {why}"))?,
        Reply::Graded(_) | Reply::Status(_) => {}
    }
    Ok(())
}

fn verified(verified: Option<&Verified>) -> anyhow::Result<()> {
    let Some(verified) = verified else { return Ok(()) };
    output::line(format!(
        "golden cases: {}, right before {}, right after {}",
        verified.cases, verified.right_before, verified.right_after
    ))?;
    if verified.reached < verified.cases {
        output::line(format!(
            "the candidate was called in {} of them; the others say nothing about it",
            verified.reached
        ))?;
    }
    for worse in &verified.regressions {
        let why = worse.verdict.why().unwrap_or_default();
        output::line(format!("worse  {}/{}: {why}", worse.domain, worse.case))?;
    }
    Ok(())
}
