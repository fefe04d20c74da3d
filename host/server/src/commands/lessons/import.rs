//! A hand-written list of rules as lesson candidates, each with the golden questions that should test it.

use std::collections::BTreeSet;
use std::path::Path;

use airlock_knowledge::pack::{GoldenCase, LessonKind};
use airlock_knowledge::store::{Content, Ingested, LessonContent, NewCandidate, Origin};
use serde_json::json;

use crate::commands::curation::{Curator, failure, person};
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Bytes of a list.
const LIST: u64 = 1 << 20;
/// Rules of a list.
const RULES: usize = 1_000;
/// Golden questions that are named for one rule.
const QUESTIONS: usize = 3;

/// Hands in the rules of a list.
///
/// # Errors
/// When it cannot be read, a rule cannot be kept, or the store does not answer.
pub async fn run(curator: &Curator<'_>, config: &Config, file: &Path, json: bool) -> anyhow::Result<Exit> {
    let shown = file.display();
    let length =
        std::fs::metadata(file).map_err(|error| usage(format!("{shown} cannot be read: {error}")))?.len();
    if length > LIST {
        return Err(usage(format!("{shown} has {length} bytes, at most {LIST}: split it")));
    }
    let text =
        std::fs::read_to_string(file).map_err(|error| usage(format!("{shown} cannot be read: {error}")))?;
    let rules = rules(&text);
    if rules.is_empty() || rules.len() > RULES {
        return Err(usage(format!("{shown} has {} rules: from 1 to {RULES} can be imported", rules.len())));
    }
    // All of them are looked at before the first one is handed in.
    for rule in &rules {
        Content::from(rule.lesson())
            .check()
            .map_err(|error| usage(format!("{shown}:{}: {error}", rule.line)))?;
    }
    let pack = boot::packs(config)?.into_iter().find(|pack| pack.name == curator.domain);
    let golden = pack.map(|pack| pack.golden).unwrap_or_default();
    let distill = curator.store().distill();
    for rule in &rules {
        let content = rule.lesson().into();
        let new = NewCandidate::new(curator.domain.clone(), content, Origin::Imported, &person());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let questions = tested_by(&rule.text, &golden);
        let evidence = json!({"file": name, "line": rule.line, "tested_by": questions});
        let new = NewCandidate { needs_evidence: true, evidence, ..new };
        let became = match distill.ingest(&new).await.map_err(failure)? {
            Ingested::Stored => "proposed",
            Ingested::Known | Ingested::Near => "known",
            Ingested::Full => "not kept: too many wait for a decision",
        };
        if json {
            let id = (became == "proposed").then_some(new.id);
            output::json(
                &json!({"id": id, "line": rule.line, "became": became, "text": rule.text, "tested_by": questions}),
            )?;
            continue;
        }
        output::line(format!("{became}: {}", rule.text))?;
        if questions.is_empty() {
            output::line("    no golden question shares a word with it: write one that it should change")?;
        }
        for question in questions {
            output::line(format!("    tested by: {question}"))?;
        }
    }
    Ok(Exit::Done)
}

/// A rule of a list.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    line: usize,
    /// The headings above it.
    heading: String,
    text: String,
}

impl Rule {
    fn lesson(&self) -> LessonContent {
        LessonContent {
            kind: kind(&self.text),
            text: self.text.clone(),
            trigger: self.heading.clone(),
            tags: Vec::new(),
            scope: Vec::new(),
        }
    }
}

/// Items of lists and sentences of a Markdown text, each under its heading. Code blocks, tables, rules across the page and
/// paragraphs of one word say nothing by themselves.
fn rules(text: &str) -> Vec<Rule> {
    let (mut rules, mut heading, mut open): (Vec<Rule>, String, bool) = (Vec::new(), String::new(), false);
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if fence.is_some() || mark.is_some() {
            fence = match (fence, mark) {
                (Some(open), Some(mark)) if open == mark => None,
                (None, mark) => mark,
                (open, _) => open,
            };
            open = false;
            continue;
        }
        let across = |line: &str| {
            line.len() > 2 && ['-', '=', '*', '_'].iter().any(|mark| line.trim_matches(*mark).is_empty())
        };
        let underlined = !open
            && item(trimmed).is_none()
            && lines.peek().is_some_and(|(_, next)| !trimmed.is_empty() && across(next.trim()));
        if let Some(title) = trimmed.strip_prefix('#').or_else(|| underlined.then_some(trimmed)) {
            heading = title.trim_start_matches('#').trim().to_owned();
            open = false;
        } else if trimmed.is_empty()
            || trimmed.starts_with('|')
            || across(trimmed)
            || (!open && is_code(line))
        {
            open = false;
        } else if let Some(text) = item(trimmed) {
            rules.push(Rule { line: at + 1, heading: heading.clone(), text: text.to_owned() });
            open = true;
        } else if let Some(last) = rules.last_mut().filter(|_| open) {
            last.text.push(' ');
            last.text.push_str(trimmed);
        } else {
            rules.push(Rule { line: at + 1, heading: heading.clone(), text: trimmed.to_owned() });
            open = true;
        }
    }
    rules.retain(|rule| rule.text.split_whitespace().nth(1).is_some());
    rules
}

/// A line that Markdown sets as code: it begins far in, and is no item of a list.
fn is_code(line: &str) -> bool {
    (line.starts_with("    ") || line.starts_with('\t')) && item(line.trim()).is_none()
}

/// The text of a list's item.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let marked = rest.len() < line.len();
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).filter(|_| marked)
    };
    bullet.or_else(numbered).map(str::trim)
}

/// The kind that the words of a rule speak for; a person reviews it.
fn kind(text: &str) -> LessonKind {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["error", "fails", "failed"]) {
        LessonKind::FailFix
    } else if says(&["limit", "slow", "index", "scan", "bounded", "timeout"]) {
        LessonKind::PerfGuard
    } else if says(&["column", "table", "stored in", "is in"]) {
        LessonKind::SchemaMap
    } else {
        LessonKind::ResolutionPattern
    }
}

/// The golden questions that share most with a rule.
fn tested_by<'a>(text: &str, golden: &'a [GoldenCase]) -> Vec<&'a str> {
    let rule = words(text);
    let shared = |case: &GoldenCase| {
        let mut said = words(case.question.as_str());
        if let Some(sql) = &case.sql {
            said.extend(words(&sql.value));
        }
        rule.intersection(&said).count()
    };
    let mut ranked: Vec<(usize, &GoldenCase)> = golden.iter().map(|case| (shared(case), case)).collect();
    ranked.retain(|(shared, _)| *shared > 0);
    ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    ranked.into_iter().take(QUESTIONS).map(|(_, case)| case.question.as_str()).collect()
}

/// Words of four letters or more: shorter ones are in everything.
fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| word.chars().count() >= 4).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_sentences_alone_are_rules_under_their_heading() {
        let text = "# Sales\n\nRevenue is net.\nAlways.\n\n- Use total_amt\n  of bills\n2) Limit to a year\n\n## Stock\n* x\n* Count x\n\nPrices\n------\n\nPrices are net.\n\n\
            ```sql\n- SELECT it FROM t\n\nA line of code.\n```\n\n    indented code here\n\n| a | b |\n|---|---|\n| c d | e |\n\nAlone\n\n---\n";
        let got = rules(text);
        let rule =
            |line, heading: &str, text: &str| Rule { line, heading: heading.into(), text: text.into() };
        assert_eq!(
            got,
            [
                rule(3, "Sales", "Revenue is net. Always."),
                rule(6, "Sales", "Use total_amt of bills"),
                rule(8, "Sales", "Limit to a year"),
                rule(12, "Stock", "Count x"),
                rule(17, "Prices", "Prices are net."),
            ]
        );
        assert_eq!(got[2].lesson().kind, LessonKind::PerfGuard);
        assert_eq!(rules(" \n#\n"), []);
    }
}
