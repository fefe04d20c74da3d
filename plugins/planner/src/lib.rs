//! The built-in planner: question and clock to a plan, by the grammar of the question alone. It asks no model.

mod measures;
mod screen;

use airlock_plugin_sdk::contract::planner::{Clarification, Plan, PlanInput, PlanStep, Unanswerable};
use airlock_plugin_sdk::explained;
use airlock_plugin_sdk::question::grammar::{Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::taught::Taught;
use airlock_plugin_sdk::{Attribute, Exchange, Host, Planner, StageError};

use measures::Parts;
use screen::Verdict;

/// Longest list that a plan may hold.
const MOST: usize = 64;

/// The planner stage.
#[derive(Debug, Clone, Copy)]
pub struct Grammar;

impl Planner for Grammar {
    fn run(host: &impl Host, input: PlanInput, _exchanges: Vec<Exchange>) -> Result<PlanStep, StageError> {
        let question = match &input.choice {
            // The option was offered as a whole question, so it stands for the one that was unclear.
            Some(choice) if !choice.trim().is_empty() => choice.clone(),
            _ => input.question.clone(),
        };
        let taught = Taught::new(host, &question);
        let (host, question) = (&taught, taught.question());
        let reading = Reading::new(question, &input.clock);
        match screen::screen(host, question, &reading, input.prior.is_some(), input.model_available) {
            Verdict::Ask => Ok(PlanStep::Done(plan(host, question, &reading, &input))),
            Verdict::Refuse(reason) => Ok(PlanStep::Unanswerable(Unanswerable { reason })),
            Verdict::Unclear(question, options) => Ok(PlanStep::Unclear(Clarification { question, options })),
        }
    }
}

airlock_plugin_sdk::export!(planner: Grammar);

fn plan(host: &impl Host, question: &str, reading: &Reading, input: &PlanInput) -> Plan {
    let parts = Parts::of(reading);
    let mut keywords = keywords(reading);
    let mut assumptions: Vec<String> =
        reading.moments.iter().filter_map(|found| found.assumption.clone()).collect();
    assumptions.dedup();
    let mut attributes = Vec::new();
    if let Some(prior) = &input.prior {
        // A follow-up such as `and in 2025?` names little by itself; what it follows tells what it is about.
        let before = Reading::new(&prior.question, &input.clock);
        for word in self::keywords(&before) {
            if !keywords.contains(&word) {
                keywords.push(word);
            }
        }
        attributes.push(Attribute { key: "follow-up".into(), value: "true".into() });
    }
    for list in [&mut keywords, &mut assumptions] {
        list.truncate(MOST);
    }
    let knowledge = screen::is_about_meaning(host, question, reading);
    let intent = if knowledge { "knowledge" } else { "data" };
    // Where the data turns out to have no answer, the glossary or a document has one.
    if !knowledge && input.prior.is_none() && explained::instead(host, question, reading) {
        attributes.push(Attribute { key: "explained".into(), value: "true".into() });
    }
    Plan {
        intent: intent.into(),
        steps: parts.steps(reading),
        keywords,
        measures: parts.measures,
        filters: parts.filters,
        time: reading.moments.iter().take(MOST).map(|found| found.range()).collect(),
        grouping: parts.groups,
        order: parts.order,
        limit: parts.limit,
        assumptions,
        attributes,
    }
}

/// Content words in the order of the question, each once; moments and words of operations left out.
fn keywords(reading: &Reading) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for chunk in &reading.chunks {
        if !matches!(chunk.op, Op::Word | Op::Quoted) {
            continue;
        }
        let Some(token) = reading.tokens.get(chunk.first) else { continue };
        if chunk.op == Op::Word && (stems::is_light(&token.lower) || stems::is_function_word(&token.lower)) {
            continue;
        }
        let word = if chunk.op == Op::Quoted { token.text.clone() } else { token.lower.clone() };
        if !words.contains(&word) && words.len() < 64 {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests;
