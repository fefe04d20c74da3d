//! The record of a finished ask: five endings, one shape.

use std::collections::BTreeSet;

use airlock_database::ResultSet;
use airlock_gate::Approved;
use airlock_models::ModelError;
use airlock_types::ask::AnswerKind;
use airlock_types::{Answer, Outcome};

use crate::ask::Ask;
use crate::context;
use crate::fault::{Fault, Finished};
use crate::progress::Progress;
use crate::services::{EXAMPLE, LESSON};

/// How an ask ended, with what only that ending has.
pub(crate) enum Ending {
    Answered { sentence: String, approved: Approved, result: ResultSet },
    Explained { sentence: String },
    Clarification { question: String, options: Vec<String> },
    Refused(String),
    GaveUp(String),
    Failed(Fault),
}

impl Ending {
    /// How an ask ends without a draft, and what is told beside it. What the composer does not write when it only stands in
    /// for a model that is down is the model's fault.
    pub(crate) fn undrafted(
        down: Option<ModelError>,
        why: String,
        ends: fn(String) -> Self,
    ) -> (Self, Option<String>) {
        match down {
            Some(error) => (Self::Failed(Fault::Model(error)), Some(format!("Without the model: {why}"))),
            None => (ends(why), None),
        }
    }
}

impl Ask<'_> {
    /// Writes the record.
    pub(crate) fn finish(self, ending: Ending) -> Finished {
        let attempts = self.attempt();
        let used = |prefix| -> Vec<String> {
            self.used.iter().filter_map(|id| id.strip_prefix(prefix)).map(str::to_owned).collect()
        };
        let (mut lessons, mut examples) = (used(LESSON), used(EXAMPLE));
        let question = self.request.question.as_str();
        let mut recalled = context::used(self.domain, question, &lessons, &examples);
        recalled.extend(self.desk.recalled);
        // What a model was shown took part, whether it says so or not.
        for shown in &recalled {
            let ids = if shown.kind == "lesson" { &mut lessons } else { &mut examples };
            ids.push(shown.id.clone());
        }
        for ids in [&mut lessons, &mut examples] {
            let mut seen = BTreeSet::new();
            ids.retain(|id| seen.insert(id.clone()));
        }
        let mut answer = Answer {
            ask_id: self.id,
            question: self.request.question.clone(),
            domain: self.domain.name().clone(),
            outcome: Outcome::Answered,
            reason: None,
            kind: AnswerKind::Data,
            answer: None,
            degraded: self.desk.down.as_ref().map(|error| format!("answered without the model: {error}")),
            sql: None,
            columns: Vec::new(),
            rows: Vec::new(),
            row_count: 0,
            truncated: false,
            assumptions: self.assumptions,
            warnings: self.warnings,
            tables_used: Vec::new(),
            attempts,
            history: self.history,
            options: None,
            refused: false,
            gave_up: false,
            lessons,
            examples,
            recalled,
            components: self.desk.components,
            context: self.desk.sent,
            tokens: self.desk.budget.tokens,
            cost: self.desk.budget.cost,
            latency_ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            trace_id: self.id.to_string().replace('-', ""),
            trace_url: None,
        };
        let mut fault = None;
        match ending {
            Ending::Answered { sentence, approved, result } => {
                answer.answer = Some(sentence);
                answer.warnings.extend(self.findings);
                answer.sql = Some(approved.text().to_owned());
                answer.tables_used = approved.facts().tables.iter().map(ToString::to_string).collect();
                answer.row_count = u64::try_from(result.rows.len()).unwrap_or(u64::MAX);
                answer.truncated = result.truncated;
                answer.columns = result.columns;
                answer.rows = result.rows;
            }
            Ending::Explained { sentence } => {
                answer.kind = AnswerKind::Knowledge;
                answer.answer = Some(sentence);
            }
            Ending::Clarification { question, options } => {
                answer.outcome = Outcome::Clarification;
                answer.reason = Some(question);
                answer.options = Some(options);
            }
            Ending::Refused(reason) => {
                answer.outcome = Outcome::Refused;
                answer.refused = true;
                answer.reason = Some(reason);
            }
            Ending::GaveUp(reason) => {
                answer.outcome = Outcome::GaveUp;
                answer.gave_up = true;
                answer.reason = Some(reason);
            }
            Ending::Failed(error) => {
                answer.outcome = Outcome::Failed;
                answer.reason = Some(error.to_string());
                answer.degraded = None;
                fault = Some(error);
            }
        }
        self.desk.reporter.tell(Progress::Ended { outcome: answer.outcome });
        tracing::info!(
            ask = %answer.ask_id,
            domain = %answer.domain,
            outcome = answer.outcome.as_str(),
            attempts,
            latency_ms = answer.latency_ms,
            "an ask ended"
        );
        self.desk.books.ended(&answer);
        Finished { answer, fault, timeline: self.desk.timeline.finish(), books: self.desk.books.close() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_written_without_a_model_that_is_down_is_the_models_fault() {
        let down = || Some(ModelError::NotConfigured { role: "writer" });
        for ends in [Ending::Refused, Ending::GaveUp] {
            let (ending, warning) = Ending::undrafted(down(), "No word fits.".to_owned(), ends);
            assert!(matches!(ending, Ending::Failed(Fault::Model(_))));
            assert_eq!(warning.as_deref(), Some("Without the model: No word fits."));
            let (ending, warning) = Ending::undrafted(None, "No word fits.".to_owned(), ends);
            assert!(matches!(ending, Ending::Refused(why) | Ending::GaveUp(why) if why == "No word fits."));
            assert_eq!(warning, None);
        }
    }
}
