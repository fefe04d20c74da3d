//! `golden.jsonl`: questions whose right answer is known.

use std::collections::BTreeMap;

use airlock_types::{Clock, Question};
use serde::Serialize;

use super::limits;
use super::report::{Findings, Located, Spot};
use super::section::Section;
use super::settings::shown;
use super::tree::Node;

/// A question whose right answer is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GoldenCase {
    /// Its identity in the pack.
    pub id: Located<String>,
    /// The question.
    pub question: Question,
    /// SQL that answers it; absent when it must not be answered.
    pub sql: Option<Located<String>>,
    /// Further SQL whose result is right too.
    pub accepted_sql: Vec<Located<String>>,
    /// Whether the question asks for an order of the rows.
    pub ordered: bool,
    /// The moment it is asked at, RFC 3339 or a date; the moment of the run when absent.
    pub now: Option<String>,
    /// How it must end.
    pub outcome: GoldenOutcome,
}

/// How a golden case must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoldenOutcome {
    /// With the right rows.
    #[default]
    Answered,
    /// With a question back.
    Clarification,
    /// With a refusal.
    Refused,
}

impl GoldenOutcome {
    /// What each is called in files.
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("answered", Self::Answered), ("clarification", Self::Clarification), ("refused", Self::Refused)];
}

/// Reads `golden.jsonl`.
pub(crate) fn read(nodes: Vec<Node>, findings: &Findings) -> Vec<GoldenCase> {
    if let Some(first) = nodes.get(limits::GOLDEN) {
        findings.add(&first.spot, format!("{} cases", nodes.len()), format!("at most {}", limits::GOLDEN));
    }
    let cases: Vec<GoldenCase> =
        nodes.into_iter().take(limits::GOLDEN).filter_map(|node| read_case(node, findings)).collect();
    each_its_own_id(cases.iter().map(|case| &case.id), findings);
    cases
}

/// Reports an id that two cases have.
pub(crate) fn each_its_own_id<'a>(ids: impl Iterator<Item = &'a Located<String>>, findings: &Findings) {
    let mut seen: BTreeMap<&str, &Spot> = BTreeMap::new();
    for id in ids {
        if let Some(spot) = seen.insert(&id.value, &id.spot) {
            let what = format!("`id` is `{}` as at {spot}", shown(&id.value));
            findings.add(&id.spot, what, "give each case an id of its own");
        }
    }
}

fn read_case(node: Node, findings: &Findings) -> Option<GoldenCase> {
    let mut case = Section::of_line(node, findings)?;
    let id = case.name("id", limits::NAME);
    let id = case.need(id, "id", "\"bills-july\"");
    let question = case.text("question", airlock_types::text::QUESTION_LIMIT);
    let question = case.need(question, "question", "\"How many bills are there?\"").and_then(|text| {
        Question::parse(&text.value)
            .map_err(|error| case.report(&text.spot, format!("`question`: {error}"), "write a question"))
            .ok()
    });
    let sql = case.text("sql", limits::SQL);
    let accepted_sql = case.texts("accepted_sql", limits::SQL, limits::ACCEPTED);
    let ordered = case.flag("ordered").unwrap_or_default();
    let now = case.name("now", limits::NAME);
    if let Some(now) = &now
        && let Err(error) = Clock::parse_now(&now.value, "UTC")
    {
        case.report(&now.spot, format!("`now`: {error}"), "leave it out to ask at the moment of the run");
    }
    let outcome = case.word("outcome", &GoldenOutcome::WORDS);
    let outcome = outcome.map(|word| word.value).unwrap_or_default();
    let sql = match outcome {
        GoldenOutcome::Answered => Some(case.need(sql, "sql", "\"SELECT count(*) FROM bills\"")),
        GoldenOutcome::Clarification | GoldenOutcome::Refused => {
            if let Some(sql) = &sql {
                case.report(
                    &sql.spot,
                    "a case that must not be answered has `sql`",
                    "remove `sql` or `outcome`",
                );
            }
            None
        }
    };
    case.finish();
    // An answered case without SQL was reported; it is dropped.
    let sql = match sql {
        Some(sql) => Some(sql?),
        None => None,
    };
    Some(GoldenCase {
        id: id?,
        question: question?,
        sql,
        accepted_sql,
        ordered,
        now: now.map(|now| now.value),
        outcome,
    })
}
