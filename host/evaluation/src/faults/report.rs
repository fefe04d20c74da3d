//! The numbers of a fault bench.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::class::CLASSES;
use super::{ClassCount, Fault, FaultReport, Harmed, Mended};

/// Counts.
pub fn count(
    seed: u64,
    questions: usize,
    right: usize,
    broken: Vec<Harmed>,
    faults: &[Fault],
) -> FaultReport {
    let counted = |class: &'static str, named: bool, of: &dyn Fn(&&Fault) -> bool| {
        let mut counted = ClassCount { class, named, ..ClassCount::default() };
        for fault in faults.iter().filter(of) {
            counted.faults += 1;
            match fault.mended {
                Mended::Healed => counted.healed += 1,
                Mended::Left => counted.left += 1,
                Mended::Other => counted.other += 1,
                Mended::Unnoticed => counted.unnoticed += 1,
            }
        }
        counted
    };
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut unclassified = Vec::new();
    for fault in faults {
        let Some(code) = &fault.sqlstate else { continue };
        *codes.entry(code.clone()).or_default() += 1;
        if fault.error_type.as_deref() == Some("unknown") && !unclassified.contains(code) {
            unclassified.push(code.clone());
        }
    }
    FaultReport {
        seed,
        questions,
        right,
        broken,
        classes: CLASSES
            .iter()
            .map(|class| counted(class.name, class.named, &|fault| fault.class == class.name))
            .collect(),
        all: counted("all", false, &|_| true),
        other: faults.iter().filter(|fault| fault.mended == Mended::Other).cloned().collect(),
        codes,
        unclassified,
        folder: PathBuf::new(),
    }
}

fn percent(part: usize, of: usize) -> String {
    if of == 0 {
        return "-".to_owned();
    }
    let tenths = (part * 1_000 + of / 2) / of;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A table, and what must be looked at one by one.
pub fn shown(report: &FaultReport) -> String {
    let mut text =
        format!("Right queries as they are: {} tried, {} broken.\n\n", report.right, report.broken.len());
    text.push_str(
        "| class | culprit named | faults | ran all the same | failed | healed | left | other result | ",
    );
    text.push_str("healed, percent |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for class in report.classes.iter().chain([&report.all]) {
        let named = if class.named { "yes" } else { "" };
        let ClassCount { class, faults, healed, left, other, unnoticed, .. } = class;
        let failed = faults - unnoticed;
        let share = percent(*healed, failed);
        let _ = writeln!(
            text,
            "| {class} | {named} | {faults} | {unnoticed} | {failed} | {healed} | {left} | {other} | {share} |"
        );
    }
    let noticed = report.all.faults - report.all.unnoticed;
    let _ = writeln!(
        text,
        "\n{} faults from {} questions, seed {}; {} percent of all are healed. Of the {noticed} that failed or found nothing, {} \
         percent are healed and {} percent have another result.",
        report.all.faults,
        report.questions,
        report.seed,
        percent(report.all.healed, report.all.faults),
        percent(report.all.healed, noticed),
        percent(report.all.other, noticed)
    );
    let codes: Vec<String> = report.codes.iter().map(|(code, times)| format!("{code} {times}")).collect();
    let _ = writeln!(text, "\nCodes: {}.", codes.join(", "));
    if !report.unclassified.is_empty() {
        let _ = writeln!(text, "\nCodes without a row: {}.", report.unclassified.join(", "));
    }
    for harmed in &report.broken {
        let _ = writeln!(text, "\nBroken: {} ({})\n    {}", harmed.id, harmed.why, harmed.sql);
    }
    for fault in &report.other {
        let offered = fault.offered.last().map(String::as_str).unwrap_or_default();
        let why = fault.why.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "\nOther result: {}, {} ({why})\n    fault:   {}\n    offered: {offered}\n    right:   {}",
            fault.class, fault.id, fault.sql, fault.right
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_never_divide_by_nothing() {
        for (part, of, want) in [(0, 0, "-"), (1, 3, "33.3"), (2, 3, "66.7"), (5, 5, "100.0")] {
            assert_eq!(percent(part, of), want);
        }
    }
}
