//! `ask` and `feedback`: a question answered, and an answer judged.

use airlock_pipeline::learning::{FeedbackError, Judgement};
use airlock_types::{Answer, AskId, AskRequest, Outcome, RawAskRequest};
use serde_json::json;

use super::arguments::{Arguments, wrong};
use super::call::{Call, Told};
use super::problem::ToolProblem;
use super::progress::Listener;
use super::said::{Said, bound, plain, table};
use super::tools::Tool;
use crate::service::judging;

impl Call<'_> {
    pub(super) async fn ask(&self, mut arguments: Arguments, listener: Listener) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let raw = RawAskRequest {
            question: arguments.raw_text("question")?,
            domain: Some(domain.name().to_string()),
            mode: arguments.text("mode")?,
            follow_up_of: arguments.text("follow_up_of")?,
            choice: arguments.raw_text("choice")?,
            now: arguments.text("now")?,
            max_rows: arguments.number("max_rows", u32::MAX)?,
        };
        arguments.nothing_else(Tool::Ask.arguments())?;
        let request = AskRequest::try_from(raw)?;
        let finished = listener
            .beside(async |reporter| self.host().ask(&request, &self.caller.asker, reporter).await)
            .await?;
        let mut answer = finished.answer;
        if answer.outcome == Outcome::Failed {
            let problem = match finished.fault {
                Some(fault) => fault.into(),
                None => ToolProblem::new("internal", answer.reason.clone().unwrap_or_default()),
            };
            let problem = problem.with("ask_id", answer.ask_id.to_string());
            let text = beside(&answer);
            return Err(match serde_json::to_value(answer) {
                Ok(structured) => problem.recorded(Said { structured, text }),
                Err(error) => ToolProblem::new("internal", error),
            });
        }
        if bound(&mut answer.rows) {
            answer.truncated = true;
            answer.row_count = u64::try_from(answer.rows.len()).unwrap_or(u64::MAX);
        }
        let text = in_words(&answer);
        let structured = serde_json::to_value(answer).map_err(|error| ToolProblem::new("internal", error))?;
        Ok(Said { structured, text })
    }

    /// Records a verdict and nothing else: neither a candidate nor a count that decay goes by.
    pub(super) async fn feedback(&self, mut arguments: Arguments) -> Told {
        let id = arguments.needed_text("ask_id", "the `ask_id` of the answer")?;
        let verdict = arguments.needed_text("verdict", "`right` or `wrong`")?;
        let note = arguments.text("note")?.filter(|note| !note.trim().is_empty());
        arguments.nothing_else(Tool::Feedback.arguments())?;
        let ask: AskId = id.parse().map_err(|error| wrong("ask_id", error))?;
        let right = match verdict.as_str() {
            "right" => true,
            "wrong" => false,
            _ => return Err(wrong("verdict", "it is `right` or `wrong`")),
        };
        if note.as_ref().is_some_and(|note| note.chars().count() > judging::NOTE) {
            return Err(wrong("note", format!("it may have {} characters", judging::NOTE)));
        }
        let Some(store) = self.store() else {
            return Err(ToolProblem::new(
                "no-store",
                "Verdicts are not kept here: this host has no knowledge store. Its operator can configure [store].",
            ));
        };
        let away = |error: airlock_knowledge::store::StoreError| ToolProblem::new("store-away", error);
        let unknown =
            || ToolProblem::new("unknown-ask", format!("ask_id: {}", judging::UNKNOWN)).field("ask_id");
        let asked = judging::judged(&self.caller, store, ask).await.map_err(away)?.ok_or_else(unknown)?;
        let who = Some(self.caller.name.clone());
        let judgement = Judgement { ask, right, sql: None, note, who };
        let surface = self.caller.asker.surface.as_str();
        let recorded = judgement.record_verdict(&asked, &store.log(), surface).await;
        let feedback = recorded.map_err(|error| match error {
            FeedbackError::Store(error) => away(error),
            error => wrong(error.field(), error),
        })?;
        Ok(Said {
            structured: json!({"feedback": feedback, "ask_id": ask, "verdict": verdict}),
            text: format!("Recorded: the answer is {verdict}."),
        })
    }
}

/// The answer as text: the sentence, the SQL, the rows, and what it rests on.
fn in_words(answer: &Answer) -> String {
    let reason = plain(answer.reason.as_deref().unwrap_or_default());
    let mut text = match answer.outcome {
        Outcome::Answered => plain(answer.answer.as_deref().unwrap_or_default()),
        Outcome::Clarification => format!("It is not clear what is meant. {reason}"),
        Outcome::Refused => format!("Refused. {reason}"),
        Outcome::GaveUp => format!("Gave up. {reason}"),
        Outcome::Failed => format!("Failed. {reason}"),
    };
    text.push('\n');
    text.push_str(&beside(answer));
    text
}

/// What an ending is told with: the choices, the SQL, the rows, the attempts that failed, and what it rests on.
fn beside(answer: &Answer) -> String {
    let mut text = String::new();
    for option in answer.options.iter().flatten() {
        text.push_str(&format!("- {}\n", plain(option)));
    }
    if answer.outcome == Outcome::Clarification {
        text.push_str("Ask again with one of these as `choice`.\n");
    }
    if let Some(sql) = &answer.sql {
        text.push_str(&format!("\nSQL:\n{sql}\n"));
    }
    if answer.outcome == Outcome::Answered && !answer.columns.is_empty() {
        text.push_str(&format!("\n{}", table(&answer.columns, &answer.rows, answer.truncated)));
    }
    for entry in answer.history.iter().filter(|entry| entry.error_type.is_some()) {
        let kind = entry.error_type.map(airlock_types::ErrorType::as_str).unwrap_or_default();
        let message = plain(entry.message.as_deref().unwrap_or_default());
        text.push_str(&format!("Failed attempt by {} ({kind}): {message}\n", entry.origin));
    }
    for (title, lines) in [("Assumed", &answer.assumptions), ("Note", &answer.warnings)] {
        lines.iter().for_each(|line| text.push_str(&format!("{title}: {}\n", plain(line))));
    }
    if let Some(degraded) = &answer.degraded {
        text.push_str(&format!("Note: {}\n", plain(degraded)));
    }
    text.push_str(&format!("ask_id: {}\n", answer.ask_id));
    text
}
