//! What a stage says in words, cut to what the contract allows: a question may hold words longer than any name, and a stage
//! that quotes one must not fail for it. SQL and what selects something are never cut: too long, they are the host's to refuse.

use crate::contract::answerer::AnswerStep;
use crate::contract::distill::DistillStep;
use crate::contract::generator::GenerateStep;
use crate::contract::linker::LinkStep;
use crate::contract::planner::{Plan, PlanStep};
use crate::contract::repair::RepairStep;
use crate::prompt::cut;

/// Bytes of a name.
pub const NAME: usize = 256;
/// Bytes of a sentence.
pub const SENTENCE: usize = 2_048;
/// Bytes of a longer text.
pub const TEXT: usize = 8_192;
/// Characters of an answer.
pub const ANSWER_CHARS: usize = 2_000;

/// A step whose words are cut to the contract's bounds. [`export!`](crate::export) does it to whatever a stage returns.
pub trait Fit {
    /// Cuts the words that are too long. A word that would be another one when it is cut is left out.
    fn fit(&mut self);
}

fn sentence(text: &mut String) {
    cut(text, SENTENCE);
}

fn name(text: &mut String) {
    cut(text, NAME);
}

fn words(words: &mut Vec<String>) {
    words.retain(|word| word.len() <= NAME);
}

impl Fit for Plan {
    fn fit(&mut self) {
        words(&mut self.keywords);
        self.steps.iter_mut().chain(&mut self.assumptions).for_each(sentence);
        self.measures.iter_mut().for_each(|measure| name(&mut measure.target));
        // A value that is cut selects other rows.
        self.filters.iter_mut().for_each(|filter| name(&mut filter.target));
        self.time.iter_mut().for_each(|range| name(&mut range.label));
        self.grouping.iter_mut().for_each(|group| name(&mut group.target));
        self.order.iter_mut().for_each(|order| name(&mut order.target));
    }
}

impl Fit for PlanStep {
    fn fit(&mut self) {
        match self {
            Self::Ask(_) => {}
            Self::Done(plan) => plan.fit(),
            Self::Unanswerable(why) => sentence(&mut why.reason),
            Self::Unclear(clarification) => {
                sentence(&mut clarification.question);
                clarification.options.iter_mut().for_each(sentence);
            }
        }
    }
}

impl Fit for LinkStep {
    fn fit(&mut self) {
        match self {
            Self::Ask(_) => {}
            Self::Done(selection) => {
                selection.tables.iter_mut().for_each(|table| sentence(&mut table.reason))
            }
            Self::Nothing(why) => {
                sentence(&mut why.reason);
                words(&mut why.unknown_words);
            }
        }
    }
}

impl Fit for GenerateStep {
    fn fit(&mut self) {
        match self {
            Self::Ask(_) => {}
            Self::Done(draft) => {
                cut(&mut draft.reasoning, TEXT);
                draft.assumptions.iter_mut().for_each(sentence);
            }
            Self::Refuse(refusal) => {
                sentence(&mut refusal.reason);
                words(&mut refusal.missing);
            }
        }
    }
}

impl Fit for RepairStep {
    fn fit(&mut self) {
        match self {
            Self::Ask(_) => {}
            Self::Rewrite(rewrite) => {
                sentence(&mut rewrite.change);
                sentence(&mut rewrite.reason);
            }
            Self::Regenerate(again) => cut(&mut again.instructions, TEXT),
            Self::Widen(wider) => cut(&mut wider.instructions, TEXT),
            Self::Stop(stop) => sentence(&mut stop.reason),
        }
    }
}

impl Fit for AnswerStep {
    fn fit(&mut self) {
        if let Self::Done(answer) = self
            && let Some((end, _)) = answer.text.char_indices().nth(ANSWER_CHARS)
        {
            answer.text.truncate(end);
        }
    }
}

impl Fit for DistillStep {
    fn fit(&mut self) {
        if let Self::Done(lessons) = self {
            lessons.iter_mut().for_each(|lesson| sentence(&mut lesson.trigger));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::generator::{Draft, Refusal};
    use crate::contract::linker::NoMatch;
    use crate::contract::planner::Filter;

    #[test]
    fn what_selects_rows_is_not_cut() {
        let long = "x".repeat(300);
        let filter = Filter { target: long.clone(), operator: "=".into(), values: vec![long.clone()] };
        let mut plan = Plan {
            intent: "data".into(),
            steps: Vec::new(),
            keywords: vec![long.clone()],
            measures: Vec::new(),
            filters: vec![filter],
            time: Vec::new(),
            grouping: Vec::new(),
            order: Vec::new(),
            limit: None,
            assumptions: Vec::new(),
            attributes: Vec::new(),
        };
        plan.fit();
        assert_eq!(plan.filters[0].values, [long]);
        assert_eq!((plan.filters[0].target.len(), plan.keywords.len()), (NAME, 0));
    }

    #[test]
    fn words_are_cut_and_sql_is_not() {
        let long = "\u{e9}".repeat(5_000);
        let mut nothing = LinkStep::Nothing(NoMatch {
            reason: long.clone(),
            unknown_words: vec![long.clone(), "short".into()],
        });
        nothing.fit();
        let LinkStep::Nothing(why) = nothing else { panic!() };
        assert_eq!((why.reason.len(), why.unknown_words), (2_048, vec!["short".to_owned()]));

        let mut refused = GenerateStep::Refuse(Refusal { reason: long.clone(), missing: vec![long.clone()] });
        refused.fit();
        let GenerateStep::Refuse(refusal) = refused else { panic!() };
        assert_eq!((refusal.reason.len(), refusal.missing.len()), (2_048, 0));

        let mut done = GenerateStep::Done(Draft {
            sql: long.clone(),
            reasoning: long.clone(),
            confidence: 1.0,
            assumptions: vec![long.clone()],
            used: Vec::new(),
            attributes: Vec::new(),
        });
        done.fit();
        let GenerateStep::Done(draft) = done else { panic!() };
        assert_eq!((draft.sql, draft.reasoning.len(), draft.assumptions[0].len()), (long, 8_192, 2_048));
    }
}
