//! `airlock stats`: how it is going, from the log.

use airlock_knowledge::store::{Named, Part, Stats, Tally, Trend, TrendState};
use serde_json::json;

use super::curation::failure;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::output::{self, line};
use crate::service::records::since;
use crate::store::{self, Purpose};
use crate::{boot, cli};

/// Counts the log. With `--check` the answer is no when the drift signal is an alert.
///
/// # Errors
/// When there is no store, or it does not answer.
pub async fn run(command: cli::Stats, config: &Config, json: bool) -> anyhow::Result<Exit> {
    if let Some(domain) = &command.domain {
        let packs = boot::packs(config)?;
        if !packs.iter().any(|pack| pack.name == *domain) {
            let names = packs.iter().map(|pack| format!("`{}`", pack.name)).collect::<Vec<_>>().join(", ");
            return Err(usage(format!("--domain: there is no domain `{domain}` here; there is {names}")));
        }
    }
    let open = store::open(config, Purpose::Command).await?;
    let counted = match open.store() {
        None => Err(usage("there is no knowledge store: configure [store], or start `airlock serve` once")),
        Some(store) if command.check => {
            store.report().trend(command.domain.as_ref()).await.map(Counted::Trend).map_err(failure)
        }
        Some(store) => {
            let stats = store.report().stats(command.domain.as_ref(), since(command.days)).await;
            stats.map(|stats| Counted::All(Box::new(stats))).map_err(failure)
        }
    };
    open.close().await?;
    match counted? {
        Counted::Trend(trend) => {
            if json {
                output::json(&trend)?
            } else {
                say_trend(&trend)?
            }
            Ok(if trend.is_alert() { Exit::No } else { Exit::Done })
        }
        Counted::All(stats) => {
            if json {
                output::json(&json!({"logged": config.log.asks, "stats": stats}))?;
            } else {
                say(&stats, config.log.asks)?;
            }
            Ok(Exit::Done)
        }
    }
}

enum Counted {
    Trend(Trend),
    All(Box<Stats>),
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.4}"))
}

fn say(stats: &Stats, logged: bool) -> anyhow::Result<()> {
    if !logged {
        line("Asks are not logged now: `[log] asks = false`.")?;
    }
    let of = stats.domain.as_ref().map_or_else(String::new, |domain| format!(" of {domain}"));
    let Tally { asks, answered, clarification, refused, gave_up, failed, .. } = stats.all;
    line(format!("{asks} asks{of} since {:.0}", stats.since))?;
    line(format!(
        "  answered {answered}, clarification {clarification}, refused {refused}, gave up {gave_up}, failed {failed}"
    ))?;
    line(format!(
        "  repair rate {}, give-ups {}, refusals {}, empty answers {}",
        percent(stats.all.repair_rate),
        percent(stats.all.give_up_rate),
        percent(stats.all.refusal_rate),
        percent(stats.all.empty_rate)
    ))?;
    line(format!(
        "  attempts per answer {}, latency {} ms (p95 {} ms)",
        number(stats.all.attempts_per_success, 2),
        number(stats.all.latency_p50_ms, 0),
        number(stats.all.latency_p95_ms, 0)
    ))?;
    line(format!(
        "  tokens {} in, {} out; cost {}",
        stats.all.tokens.input,
        stats.all.tokens.output,
        dollars(stats.all.cost_usd)
    ))?;
    parts("Day", &stats.days)?;
    parts("Surface", &stats.surfaces)?;
    parts("Domain", &stats.domains)?;
    if !stats.models.is_empty() {
        line(format!(
            "\n{:<12} {:<28} {:>7} {:>10} {:>10} {:>12}",
            "Day", "Model", "calls", "in", "out", "cost"
        ))?;
    }
    for day in &stats.models {
        line(format!(
            "{:<12} {:<28} {:>7} {:>10} {:>10} {:>12}",
            day.day,
            day.model,
            day.calls,
            day.tokens.input,
            day.tokens.output,
            dollars(day.cost_usd)
        ))?;
    }
    names("Failures of attempts", &stats.error_types)?;
    names("Lessons that took part", &stats.lessons)?;
    names("Examples that took part", &stats.examples)?;
    line("")?;
    say_trend(&stats.trend)
}

fn parts(title: &str, parts: &[Part]) -> anyhow::Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    line(format!(
        "\n{title:<16} {:>6} {:>9} {:>8} {:>8} {:>7} {:>6} {:>9} {:>8} {:>8} {:>10}",
        "asks", "answered", "refused", "gave up", "failed", "empty", "repaired", "attempts", "p95 ms", "cost"
    ))?;
    for Part { of, tally } in parts {
        line(format!(
            "{of:<16} {:>6} {:>9} {:>8} {:>8} {:>7} {:>6} {:>9} {:>8} {:>8} {:>10}",
            tally.asks,
            tally.answered,
            tally.refused,
            tally.gave_up,
            tally.failed,
            tally.empty,
            tally.repaired,
            number(tally.attempts_per_success, 2),
            number(tally.latency_p95_ms, 0),
            dollars(tally.cost_usd)
        ))?;
    }
    Ok(())
}

fn names(title: &str, names: &[Named]) -> anyhow::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    line(format!("\n{title}"))?;
    for Named { name, count } in names {
        line(format!("  {count:>6}  {name}"))?;
    }
    Ok(())
}

fn say_trend(trend: &Trend) -> anyhow::Result<()> {
    let state = match trend.state {
        TrendState::TooFew => "too few asks to say",
        TrendState::Steady => "steady",
        TrendState::Alert => "ALERT",
    };
    line(format!(
        "Drift signal: {state}. Attempts per answer {} in the last {} days ({} answers), {} in the {} before ({}).",
        number(trend.attempts_per_success, 2),
        trend.recent.days,
        trend.recent.answered,
        number(trend.attempts_per_success_before, 2),
        trend.before.days,
        trend.before.answered
    ))?;
    for rise in &trend.rises {
        line(format!("  {} rose from {:.2} to {:.2}", rise.what, rise.before, rise.recent))?;
    }
    if trend.is_alert() {
        line(
            "  Something changed underneath, most often the schema: `airlock stats --json` has the kinds of failure.",
        )?;
    }
    Ok(())
}
