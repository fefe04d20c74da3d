//! Small runs for tests.

use airlock_knowledge::Degrade;
use airlock_knowledge::pack::read_evaluation;
use airlock_pipeline::golden::{Ended, Verdict};
use airlock_types::ask::{AnswerKind, HistoryEntry, Tokens};
use airlock_types::{ContentHash, DomainName, Mode, Outcome};

use crate::folder::{Manifest, QuestionsFrom};
use crate::questions::Asked;
use crate::record::Record;

/// A question and what its asks came to, in words.
pub(crate) struct Line {
    pub(crate) id: &'static str,
    pub(crate) agent: &'static str,
    pub(crate) baseline: &'static str,
}

fn domain() -> DomainName {
    "shop".parse().unwrap()
}

/// Questions; one whose id begins with `no-` must be refused, one whose id begins with `which-` asked back on.
pub(crate) fn questions(lines: &[Line]) -> Vec<Asked> {
    let text: String = lines
        .iter()
        .map(|line| {
            let (category, rest) = match line.id {
                id if id.starts_with("no-") => ("refuse", "\"answerable\":false"),
                id if id.starts_with("which-") => ("ask back", "\"outcome\":\"clarification\""),
                _ => ("answer", "\"gold_sql\":\"SELECT 1\""),
            };
            format!(
                "{{\"id\":\"{}\",\"question\":\"How many?\",\"category\":\"{category}\",{rest}}}\n",
                line.id
            )
        })
        .collect();
    let cases = read_evaluation("q.jsonl", text.into()).unwrap();
    cases.into_iter().map(|case| Asked { case, domain: domain() }).collect()
}

pub(crate) fn records(lines: &[Line]) -> Vec<Record> {
    let of = |line: &Line, mode, word| record(line.id, mode, word);
    lines
        .iter()
        .flat_map(|line| [of(line, Mode::Agent, line.agent), of(line, Mode::Baseline, line.baseline)])
        .collect()
}

/// The record of an ask that came to this.
pub(crate) fn record(id: &str, mode: Mode, word: &str) -> Record {
    let wrong = || Verdict::Wrong { why: "the values differ".to_owned() };
    let why = || "because".to_owned();
    let (outcome, verdict, first) = match word {
        "right" if id.starts_with("no-") => (Outcome::Refused, Verdict::Right, None),
        "right" if id.starts_with("which-") => (Outcome::Clarification, Verdict::Right, None),
        "right" => (Outcome::Answered, Verdict::Right, None),
        "right after wrong" => (Outcome::Answered, Verdict::Right, Some(wrong())),
        "wrong after right" => (Outcome::Answered, wrong(), Some(Verdict::Right)),
        "wrong" | "answered" | "presentation" => (Outcome::Answered, wrong(), None),
        "refused" => (Outcome::Refused, wrong(), None),
        "gave_up" => (Outcome::GaveUp, wrong(), None),
        "undecided" => (Outcome::Answered, Verdict::Undecided { why: why() }, None),
        "infrastructure" => (Outcome::Failed, Verdict::Infrastructure { why: why() }, None),
        other => panic!("{other}"),
    };
    Record {
        id: id.to_owned(),
        domain: domain(),
        mode,
        verdict,
        first,
        presentation: (word == "presentation").then(|| "the order of the rows".to_owned()),
        ended: Some(Ended {
            outcome,
            kind: AnswerKind::Data,
            reason: None,
            sql: None,
            first_sql: None,
            first_failed: None,
            infrastructure: None,
        }),
        ask_id: None,
        history: Vec::new(),
        assumptions: Vec::new(),
        warnings: Vec::new(),
        examples: Vec::new(),
        lessons: Vec::new(),
        tokens: Tokens::default(),
        cost: Some(0.0),
        latency_ms: 1,
    }
}

/// A text that was offered as the answer, and ran.
pub(crate) fn attempt() -> HistoryEntry {
    HistoryEntry {
        sql: "SELECT 1".to_owned(),
        origin: "generator".to_owned(),
        error_type: None,
        message: None,
        hint: None,
        sqlstate: None,
        duration_ms: 1,
        wait_ms: 0,
        row_count: Some(1),
    }
}

pub(crate) fn manifest(modes: &[Mode], questions: &[Asked]) -> Manifest {
    let text: String = questions.iter().map(|asked| format!("{}\n", asked.line())).collect();
    Manifest {
        format: 1,
        run: "run-test".to_owned(),
        begun: "2026-01-01T00:00:00Z".to_owned(),
        airlock: "0".to_owned(),
        questions: QuestionsFrom {
            from: "q.jsonl".to_owned(),
            hash: ContentHash::of(text),
            count: questions.len(),
            skipped: 0,
        },
        modes: modes.to_vec(),
        degrade: Degrade::default(),
        now: "2026-01-01T00:00:00Z".to_owned(),
        domains: Vec::new(),
        components: Vec::new(),
        models: Vec::new(),
        configuration: ContentHash::of(""),
        attempts: 3,
        rows: 100_000,
        regrade_of: None,
    }
}
