//! `report.md`: the numbers, each beside the count it is of.

use std::fmt::Write as _;

use super::{dollars, milliseconds, share};
use crate::compare::Comparison;
use crate::record::Kind;
use crate::statistics::Share;
use crate::summary::{Group, ModeSummary, Summary};

/// A run.
pub(super) fn summary(summary: &Summary) -> String {
    let mut out = format!("# {}\n\n{} questions", summary.run, summary.questions);
    if summary.skipped > 0 {
        let _ = write!(out, "; {} left out, which cannot be used", summary.skipped);
    }
    if summary.missing > 0 {
        let _ = write!(out, "; {} asks are missing: the run was stopped", summary.missing);
    }
    out.push_str(". Intervals are 95 percent (Wilson). Undecided asks and those that infrastructure prevented are in no share.\n\n");
    let modes: Vec<(&str, &ModeSummary)> = [("agent", &summary.agent), ("baseline", &summary.baseline)]
        .into_iter()
        .filter_map(|(name, mode)| Some((name, mode.as_ref()?)))
        .collect();
    row(&mut out, "", modes.iter().map(|(name, _)| (*name).to_owned()));
    row(&mut out, "---", modes.iter().map(|_| "---".to_owned()));
    let mut line = |title: &str, cell: &dyn Fn(&ModeSummary) -> String| {
        row(&mut out, title, modes.iter().map(|(_, mode)| cell(mode)));
    };
    line("answerable questions, right", &|mode| share(&mode.answerable));
    line("questions to refuse, refused", &|mode| share(&mode.refusals));
    line("unclear questions, asked back", &|mode| share(&mode.clarifications));
    line("answerable questions, refused", &|mode| share(&mode.false_refusals));
    line("wrong, perhaps by presentation alone", &|mode| mode.presentation.to_string());
    line("undecided", &|mode| mode.undecided.to_string());
    line("prevented by infrastructure", &|mode| mode.infrastructure.to_string());
    line("first attempt failed", &|mode| mode.first_failed.to_string());
    line("healed by repair", &|mode| mode.healed.to_string());
    line("broken by repair", &|mode| mode.broken.to_string());
    line("attempts, on average", &|mode| {
        mode.attempts.map_or_else(|| "none".to_owned(), |mean| format!("{mean:.2}"))
    });
    line("tokens, in and out", &|mode| format!("{} and {}", mode.tokens.input, mode.tokens.output));
    line("cost", &|mode| dollars(mode.cost));
    line("latency, median and 95th percentile", &|mode| {
        format!("{} and {}", milliseconds(mode.latency_ms.median), milliseconds(mode.latency_ms.p95))
    });
    if let Some(says) = &summary.says {
        let _ = write!(out, "\n{says}\n");
        ids(&mut out, "Right in the baseline and not in the agent", &summary.lost);
        ids(&mut out, "Right in the agent and not in the baseline", &summary.won);
    }
    for (title, groups) in
        [("category", &summary.categories), ("set", &summary.sets), ("domain", &summary.domains)]
    {
        table(&mut out, title, groups, &modes);
    }
    out.push_str("\n## What is left, by kind\n\n");
    row(&mut out, "", modes.iter().map(|(name, _)| (*name).to_owned()));
    row(&mut out, "---", modes.iter().map(|_| "---".to_owned()));
    for kind in Kind::ALL {
        let count = |mode: &ModeSummary| mode.kinds.get(&kind).copied().unwrap_or_default();
        if modes.iter().any(|(_, mode)| count(mode) > 0) {
            row(&mut out, kind.says(), modes.iter().map(|(_, mode)| count(mode).to_string()));
        }
    }
    out
}

/// Two runs.
pub(super) fn comparison(comparison: &Comparison) -> String {
    let mut out = format!(
        "# {} and {}\n\n{} questions are the same in both.",
        comparison.first, comparison.second, comparison.questions
    );
    if !comparison.changed.is_empty() {
        let _ = write!(out, " Between the two changed {}.", comparison.changed.join(", "));
    }
    out.push('\n');
    ids(&mut out, "Left out, because only one run has them or they changed", &comparison.left_out);
    for mode in &comparison.modes {
        let name = match mode.mode {
            airlock_types::Mode::Agent => "agent",
            airlock_types::Mode::Baseline => "baseline",
        };
        let paired = &mode.paired;
        let _ = write!(
            out,
            "\n## {name}\n\n| | right |\n| --- | --- |\n| first | {} |\n| second | {} |\n",
            share(&mode.first),
            share(&mode.second)
        );
        if let (Some(difference), Some(low), Some(high)) = (paired.difference, paired.low, paired.high) {
            let points = |value: f64| format!("{:+.1}", value * 100.0);
            let _ = writeln!(
                out,
                "| second less first, points | {} ({} to {}) |",
                points(difference),
                points(low),
                points(high)
            );
        }
        let _ = write!(out, "\n{}\n", mode.says);
        let without = comparison.questions.saturating_sub(mode.paired.questions);
        if without > 0 {
            let _ = write!(
                out,
                "\n{without} of the {} questions are in no share: one of the runs has no verdict on them (it was stopped, \
                 infrastructure prevented it, or it is undecided).\n",
                comparison.questions
            );
        }
        if !mode.flips.is_empty() {
            out.push_str("\n| question | first | second | why not right |\n| --- | --- | --- | --- |\n");
        }
        for flip in &mode.flips {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                cell(&flip.id),
                flip.first.says(),
                flip.second.says(),
                cell(&flip.why)
            );
        }
    }
    out
}

fn table(out: &mut String, title: &str, groups: &[Group], modes: &[(&str, &ModeSummary)]) {
    // One group is the whole run again.
    if groups.len() < 2 {
        return;
    }
    let _ = write!(out, "\n## By {title}\n\n");
    let with_questions = |cells: Vec<String>, first: &str| std::iter::once(first.to_owned()).chain(cells);
    let names = modes.iter().map(|(name, _)| format!("{name}, right")).collect();
    row(out, title, with_questions(names, "questions"));
    row(out, "---", with_questions(modes.iter().map(|_| "---".to_owned()).collect(), "---"));
    for group in groups {
        let shares: Vec<String> = modes
            .iter()
            .map(|(name, _)| if *name == "agent" { &group.agent } else { &group.baseline })
            .map(|of: &Option<Share>| of.as_ref().map(share).unwrap_or_default())
            .collect();
        row(out, &cell(&group.name), with_questions(shares, &group.questions.to_string()));
    }
}

fn row(out: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let _ = write!(out, "| {first} |");
    for cell in cells {
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

fn ids(out: &mut String, title: &str, ids: &[String]) {
    if !ids.is_empty() {
        let _ = write!(out, "\n{title}: {}.\n", ids.join(", "));
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    airlock_types::text::shorten(&text.replace(['\n', '\r'], " ").replace('|', "\\|"), 300)
}
