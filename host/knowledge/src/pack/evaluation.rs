//! `evaluation.jsonl`, and any file of questions: cases with what they are grouped by, in the pack's own words or in those of
//! public corpora.

use airlock_types::{Clock, Question};
use serde::Serialize;

use super::golden::{GoldenCase, GoldenOutcome, each_its_own_id};
use super::limits;
use super::report::{Findings, Located};
use super::section::Section;
use super::tree::Node;

/// A question of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluationCase {
    /// The question and its right answers.
    #[serde(flatten)]
    pub case: GoldenCase,
    /// The database it is about, where a file has questions of several.
    pub db: Option<Located<String>>,
    /// The collection it comes from.
    pub set: Option<String>,
    /// What it tests.
    pub category: Option<String>,
    /// The business rule that belongs to it.
    pub instructions: Option<String>,
    /// The same answer written differently, by which the first is checked before anything is asked.
    pub check_sql: Option<Located<String>>,
}

/// Reads questions. A key that is not known is left alone: corpora carry what is theirs.
pub(crate) fn read(nodes: Vec<Node>, findings: &Findings) -> Vec<EvaluationCase> {
    if let Some(first) = nodes.get(limits::GOLDEN) {
        findings.add(
            &first.spot,
            format!("{} questions", nodes.len()),
            format!("at most {}", limits::GOLDEN),
        );
    }
    let cases: Vec<EvaluationCase> =
        nodes.into_iter().take(limits::GOLDEN).filter_map(|node| read_case(node, findings)).collect();
    each_its_own_id(cases.iter().map(|case| &case.case.id), findings);
    cases
}

fn read_case(node: Node, findings: &Findings) -> Option<EvaluationCase> {
    let mut line = Section::of_line(node, findings)?;
    let id = line.name("id", limits::NAME);
    let id = line.need(id, "id", "\"bills-july\"");
    let question = line.text("question", airlock_types::text::QUESTION_LIMIT);
    let question = line.need(question, "question", "\"How many bills are there?\"").and_then(|text| {
        Question::parse(&text.value)
            .map_err(|error| line.report(&text.spot, format!("`question`: {error}"), "write a question"))
            .ok()
    });
    let outcome = outcome(&mut line);
    let sql = match (line.text_if_any("gold_sql", limits::SQL), line.text_if_any("sql", limits::SQL)) {
        (Some(gold), Some(sql)) => {
            line.report(&sql.spot, "both `gold_sql` and `sql`", "keep one of them");
            // The first stands for both, so that nothing is said to be missing.
            Some(gold)
        }
        (gold, sql) => gold.or(sql),
    };
    let accepted_sql = line.texts_as_written("accepted_sql", limits::SQL, limits::ACCEPTED);
    let check_sql = line.text_if_any("check_sql", limits::SQL);
    let ordered = match (line.flag("order_matters"), line.flag("ordered")) {
        (Some(matters), Some(_)) => {
            line.report(&line.spot, "both `order_matters` and `ordered`", "keep one of them");
            matters
        }
        (matters, ordered) => matters.or(ordered).unwrap_or_default(),
    };
    let now = line.text_if_any("now", limits::NAME);
    if let Some(now) = &now
        && let Err(error) = Clock::parse_now(&now.value, "UTC")
    {
        line.report(&now.spot, format!("`now`: {error}"), "leave it out to ask at the moment of the run");
    }
    let db = line.text_if_any("db", limits::NAME);
    let set = line.text_if_any("set", limits::NAME).map(|set| set.value);
    let category = line.text_if_any("category", limits::NAME).map(|category| category.value);
    let instructions = line.text_if_any("instructions", limits::NOTE).map(|text| text.value);
    let sql = match (outcome, sql) {
        (GoldenOutcome::Answered, sql) => {
            if sql.is_none() && !line.has("gold_sql") && !line.has("sql") {
                line.need(sql.clone(), "gold_sql", "\"SELECT count(*) FROM bills\"");
            } else if sql.is_none() {
                line.report(
                    &line.spot,
                    "it is to be answered and has no SQL",
                    "write `gold_sql`, or `answerable`: false",
                );
            }
            Some(sql?)
        }
        (_, Some(sql)) => {
            line.report(&sql.spot, "a question that must not be answered has SQL", "remove it");
            None
        }
        (_, None) => None,
    };
    let case = GoldenCase {
        id: id?,
        question: question?,
        sql,
        accepted_sql,
        ordered,
        now: now.map(|now| now.value),
        outcome,
    };
    Some(EvaluationCase { case, db, set, category, instructions, check_sql })
}

/// `outcome` says more than `answerable`; either may be left out.
fn outcome(line: &mut Section<'_>) -> GoldenOutcome {
    let answerable = line.flag("answerable");
    let outcome = line.word("outcome", &GoldenOutcome::WORDS).map(|word| word.value);
    let plain = if answerable == Some(false) { GoldenOutcome::Refused } else { GoldenOutcome::Answered };
    match outcome {
        Some(outcome)
            if answerable.is_some_and(|answerable| answerable != (outcome == GoldenOutcome::Answered)) =>
        {
            line.report(&line.spot, "`outcome` and `answerable` contradict each other", "keep one of them");
            outcome
        }
        Some(outcome) => outcome,
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_evaluation;
    use super::*;

    fn read(text: &str) -> Result<Vec<EvaluationCase>, String> {
        read_evaluation("q.jsonl", text.into()).map_err(|report| report.to_string())
    }

    #[test]
    fn both_ways_of_writing_a_question_are_read() {
        let cases = read(concat!(
            r#"{"id":"a","question":"How many?","sql":"SELECT 1","ordered":true,"now":"2026-01-01"}"#,
            "\n",
            r#"{"id":"b","db":"shop","set":"gen","category":"x","question":"How many?","instructions":"","answerable":true,"#,
            r#""gold_sql":"SELECT 1","accepted_sql":["SELECT 2","select 2"],"gold_rows":1,"order_matters":false}"#,
            "\n",
            r#"{"id":"c","question":"Why?","answerable":false,"gold_sql":null,"accepted_sql":[]}"#,
        ))
        .unwrap();
        let [a, b, c] = cases.as_slice() else { panic!("{cases:?}") };
        assert!(a.case.ordered && a.case.now.is_some() && a.category.is_none());
        assert_eq!(b.case.accepted_sql.len(), 2);
        assert_eq!((b.set.as_deref(), b.instructions.as_deref()), (Some("gen"), None));
        assert_eq!((c.case.outcome, &c.case.sql), (GoldenOutcome::Refused, &None));
    }

    #[test]
    fn each_bad_line_is_reported_with_its_number() {
        let report = read(concat!(
            "{\"id\":\"a\",\"question\":\"How many?\"}\n",
            "{oops\n",
            "{\"id\":\"a\",\"question\":\"How many?\",\"gold_sql\":\"SELECT 1\"}\n",
            "{\"id\":\"a\",\"question\":\"How many?\",\"gold_sql\":\"SELECT 1\"}\n",
            "{\"id\":\"b\",\"question\":\"Why?\",\"answerable\":false,\"gold_sql\":\"SELECT 1\"}\n",
            "{\"id\":\"c\",\"question\":\"Why?\",\"gold_sql\":null}\n",
            "{\"id\":\"d\",\"question\":7,\"gold_sql\":\"SELECT 1\"}\n",
            "{\"id\":\"e\",\"question\":\"Why?\",\"answerable\":true,\"outcome\":\"refused\"}\n",
            "{\"id\":\"f\",\"question\":\"How many?\",\"gold_sql\":\"SELECT 1\",\"gold_sql\":\"SELECT 2\"}\n",
            "{\"id\":\"g\",\"question\":\"How many?\",\"gold_sql\":\"SELECT 1\",\"note\":{\"a\":1,\"a\":1}}\n",
        ))
        .unwrap_err();
        for line in [1, 2, 4, 5, 6, 7, 8, 9, 10] {
            assert!(report.contains(&format!("q.jsonl:{line}:")), "{line}: {report}");
        }
        assert!(!report.contains("q.jsonl:3:"), "{report}");
    }

    #[test]
    fn what_is_wrong_is_said_once_and_in_json() {
        for (line, want) in [
            (
                r#"{"id":"a","question":"Why?","sql":"SELECT 1","gold_sql":"SELECT 2"}"#,
                "both `gold_sql` and `sql`; keep one of them",
            ),
            (
                r#"{"id":"a","question":"Why?","sql":"SELECT 1","order_matters":true,"ordered":false}"#,
                "both `order_matters` and `ordered`; keep one of them",
            ),
            (
                r#"{"id":"a","question":"Why?"}"#,
                "`gold_sql` is missing; add it: \"gold_sql\": \"SELECT count(*) FROM bills\"",
            ),
            (
                r#"{"id":"a","question":"Why?","sql":"SELECT 1","sql":"SELECT 2"}"#,
                "the key `sql` stands twice in one object; write one JSON object a line",
            ),
            (r#"{"question":"Why?","sql":"SELECT 1"}"#, "`id` is missing; add it: \"id\": \"bills-july\""),
            (r#"["a","Why?"]"#, "the line is a list, and an object is wanted; write one JSON object a line"),
            (
                r#"{"id":"a","question":["Why?"],"sql":"SELECT 1"}"#,
                "`question` is a list; write a text in quotes",
            ),
            (
                r#"{"id":"a","question":{},"sql":"SELECT 1"}"#,
                "`question` is an object; write a text in quotes",
            ),
        ] {
            let report = read(line).unwrap_err();
            assert!(report.contains(want), "{line}: {report}");
            assert_eq!(report.matches("q.jsonl:1:").count(), 1, "{line}: {report}");
        }
    }
}
