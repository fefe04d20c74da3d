//! The built-in composer: a question to SQL with no model. Right or refused: every word of the question must be
//! explained by something in the query, and no second reading may be as good.

mod account;
mod annotate;
mod build;
mod choose;
mod double;
mod followup;
mod fragment;
mod frame;
mod glossary;
mod guess;
mod idiom;
mod interpret;
mod joins;
mod logical;
mod parts;
mod print;
mod refuse;
mod reserved;
mod reuse;
mod rules;
mod schema;
mod times;
mod union;
mod whole;

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::generator::{Draft, GenerateInput, GenerateStep, Refusal};
use airlock_plugin_sdk::entity::entities;
use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::tokens::TokenKind;
use airlock_plugin_sdk::taught::{Rule, Taught};
use airlock_plugin_sdk::{Exchange, Generator, Host, StageError, TableRef};

use build::Context;
use followup::Leaning;
use glossary::Glossary;
use refuse::Why;
use rules::Rules;
use schema::Schema;

/// Longest question that is composed for, in tokens.
const TOKENS: usize = 120;

/// The composer stage.
#[derive(Debug, Clone, Copy)]
pub struct Composer;

impl Generator for Composer {
    fn run(
        host: &impl Host,
        input: GenerateInput,
        _exchanges: Vec<Exchange>,
    ) -> Result<GenerateStep, StageError> {
        // The same question composes to the same text: what failed once would fail again.
        if !input.attempts.is_empty() {
            let why = Why::Kind("the one query that fits the question has failed".into());
            return Ok(GenerateStep::Refuse(why.refusal()));
        }
        let leaning = match input.prior {
            Some(_) => followup::leaning(&Reading::new(&input.question, &input.clock)),
            None => Leaning::Not,
        };
        if leaning == Leaning::Not
            && let Some(example) = reuse::found(host, &input.question, &input.clock)
        {
            let same = example.told.is_empty();
            let reasoning = if same {
                format!("The verified example {} asks the same question.", example.id)
            } else {
                format!("The verified example {} asks the same of other values.", example.id)
            };
            return Ok(GenerateStep::Done(Draft {
                sql: example.sql,
                reasoning,
                confidence: if same { 0.97 } else { 0.9 },
                assumptions: example.told,
                used: vec![example.id],
                attributes: Vec::new(),
            }));
        }
        Ok(match asked(host, &input, leaning) {
            Ok(draft) => GenerateStep::Done(draft),
            Err(refusal) => GenerateStep::Refuse(refusal),
        })
    }
}

/// What is composed for a question of its own, as if these rules stood beside what lessons say.
///
/// # Errors
/// Why it is not composed.
pub fn supposing(host: &impl Host, input: &GenerateInput, rules: &[Rule]) -> Result<Draft, Refusal> {
    let taught = Taught::supposing(host, &input.question, rules);
    let input = GenerateInput { question: taught.question().to_owned(), ..input.clone() };
    both(&taught, &input).map_or_else(|| compose(&taught, &input), Ok)
}

/// By what lessons say; what they spoil is composed without them.
fn asked(host: &impl Host, input: &GenerateInput, leaning: Leaning) -> Result<Draft, Refusal> {
    let taught = Taught::new(host, &input.question);
    if taught.is_silent() {
        return whole_question(host, input, leaning);
    }
    let said = GenerateInput { question: taught.question().to_owned(), ..input.clone() };
    let mut draft = match whole_question(&taught, &said, leaning) {
        Ok(draft) => draft,
        Err(refusal) => return whole_question(host, input, leaning).map_err(|_| refusal),
    };
    let mut used: Vec<String> = Vec::new();
    for (id, rule) in taught.used(&draft.sql) {
        if !used.iter().any(|known| known == id) {
            used.push(id.to_owned());
        }
        draft.assumptions.push(format!("By a lesson: {rule}"));
    }
    draft.assumptions.truncate(16);
    draft.used.extend(used);
    Ok(draft)
}

/// A question, or a follow-up read as a whole one.
fn whole_question(host: &impl Host, input: &GenerateInput, leaning: Leaning) -> Result<Draft, Refusal> {
    let (question, told) = match input.prior.as_ref().filter(|_| leaning != Leaning::Not) {
        None => (input.question.clone(), Vec::new()),
        Some(prior) => match follow(host, input, &prior.question) {
            Ok(question) => {
                let told = vec![format!("The question was read as `{question}`.")];
                (question, told)
            }
            // What names things may well be a question of its own.
            Err(_) if leaning == Leaning::Perhaps => (input.question.clone(), Vec::new()),
            Err(refusal) => return Err(refusal),
        },
    };
    let input = GenerateInput { question, ..input.clone() };
    let mut draft = both(host, &input).map_or_else(|| compose(host, &input), Ok)?;
    draft.assumptions.splice(0..0, told);
    draft.assumptions.truncate(16);
    Ok(draft)
}

/// The follow-up as a whole question. What came before it must be understood by itself.
fn follow(host: &impl Host, input: &GenerateInput, before: &str) -> Result<String, Refusal> {
    let prior = GenerateInput { question: before.to_owned(), ..input.clone() };
    compose(host, &prior)?;
    let entities = entities(&input.attributes);
    let read = |question: &str| {
        let reading = Reading::new(question, &input.clock);
        let schema = Schema::read(host, &[], &content(&reading));
        let glossary = Glossary::read(host, question, &schema);
        let mentions =
            annotate::annotate(host, question, &reading, &schema, &glossary, &entities, Vec::new());
        (reading, mentions)
    };
    let ((old, known), (new, said)) = (read(before), read(&input.question));
    let prior = followup::Read { text: before, reading: &old, mentions: &known };
    let next = followup::Read { text: &input.question, reading: &new, mentions: &said };
    followup::whole(&prior, &next).map_err(|why| why.refusal())
}

/// Two questions for one number each, answered side by side.
fn both(host: &impl Host, input: &GenerateInput) -> Option<Draft> {
    let (first, second) = double::halves(&input.question, &input.clock)?;
    let half = |question: &str| {
        compose(host, &GenerateInput { question: question.to_owned(), ..input.clone() }).ok()
    };
    let (one, other) = (half(&first)?, half(&second)?);
    let sql = double::beside((&first, &one.sql), (&second, &other.sql))?;
    let mut assumptions = vec![format!("The second question was read as `{second}`.")];
    for told in one.assumptions.into_iter().chain(other.assumptions) {
        if !assumptions.contains(&told) {
            assumptions.push(told);
        }
    }
    assumptions.truncate(16);
    Some(Draft {
        sql,
        reasoning: format!("{} {}", one.reasoning, other.reasoning),
        confidence: one.confidence.min(other.confidence),
        assumptions,
        used: Vec::new(),
        attributes: Vec::new(),
    })
}

/// Stems of the words of a question.
fn content(reading: &Reading) -> BTreeSet<String> {
    reading
        .tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Word)
        .map(|token| token.stem.clone())
        .collect()
}

fn compose(host: &impl Host, input: &GenerateInput) -> Result<Draft, Refusal> {
    let rules = Rules::read(host, &input.question);
    let (question, expanded) = rules.expand(&Rules::directed(&input.question));
    let refusal = match composed(host, input, &rules, &question, expanded.clone()) {
        Ok(draft) => return Ok(draft),
        Err(refusal) => refusal,
    };
    // What the words as they stand do not say, plainer ones may.
    let (plainer, told) = idiom::plain(&question, &input.clock);
    if plainer == question {
        return Err(refusal);
    }
    composed(host, input, &rules, &plainer, expanded.into_iter().chain(told).collect())
}

/// A question whose short names are written out.
fn composed(
    host: &impl Host,
    input: &GenerateInput,
    rules: &Rules,
    question: &str,
    expanded: Vec<String>,
) -> Result<Draft, Refusal> {
    let reading = Reading::new(question, &input.clock);
    if reading.tokens.len() > TOKENS {
        return Err(Why::Kind(format!("a question of more than {TOKENS} words")).refusal());
    }
    let words = content(&reading);
    let selected: Vec<TableRef> = input.selection.tables.iter().map(|table| table.table.clone()).collect();
    let schema = Schema::read(host, &selected, &words);
    let mut glossary = Glossary::read(host, question, &schema);
    glossary.inside = rules.inside;
    let entities = entities(&input.attributes);
    let ruled = annotate::ruled(host, rules, &reading, &schema, &mut glossary);
    let mentions = annotate::annotate(host, question, &reading, &schema, &glossary, &entities, ruled);
    if let Some(word) = annotate::unsaid(&reading, &mentions) {
        return Err(Why::Unknown(vec![word]).refusal());
    }
    let context = Context { schema: &schema, glossary: &glossary, reading: &reading, words: &words };
    let choice =
        choose::choose(&context, &mentions).map_err(|why| why.refusal_near(host, &schema, question))?;
    let mut assumptions = expanded;
    assumptions.extend(choice.assumptions);
    let mut seen = BTreeSet::new();
    assumptions.retain(|told| seen.insert(told.clone()));
    assumptions.truncate(16);
    Ok(Draft {
        sql: choice.sql,
        reasoning: format!("Read {}.", choice.reasons.join("; ")),
        confidence: (0.75 + choice.margin.min(1.0) * 0.2).min(0.95),
        assumptions,
        used: Vec::new(),
        attributes: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
