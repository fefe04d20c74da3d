//! The fewest rules under which the composer writes what is right: tried one after the other, the likely ones first.

use std::collections::BTreeSet;

use airlock_composer::supposing;
use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::generator::{GenerateInput, Refusal};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::taught::Rule;

use crate::phrases::{Phrase, around, phrases, says};
use crate::right::{Right, Shape};

/// Questions that are composed at most for one exchange.
const TRIES: usize = 400;
/// Ways on that are kept at each step.
const WIDTH: usize = 4;
/// Rules beside joins that one explanation may need.
const DEPTH: usize = 3;
/// Names of functions and types, which no word of a question is like.
const FUNCTIONS: [&str; 16] = [
    "count", "sum", "avg", "min", "max", "cast", "as", "real", "float", "numeric", "distinct", "round",
    "case", "when", "then", "coalesce",
];
/// Words that name a column of almost any table: what one means in one question, it does not mean in the next.
const EVERYWHERE: [&str; 10] =
    ["id", "ids", "name", "names", "number", "date", "type", "code", "title", "count"];

/// What is composed under some rules: an explanation where it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The rules.
    pub rules: Vec<Rule>,
    /// How near it is.
    pub likeness: f64,
    /// Whether it reads, restricts and computes the same.
    pub fits: bool,
}

enum Outcome {
    /// A text: how near it is, and whether it fits.
    Text(f64, bool),
    /// Words that nothing is known by.
    Unknown(Vec<String>),
    /// Anything else.
    Refused,
}

struct State {
    rules: Vec<Rule>,
    outcome: Outcome,
}

impl State {
    fn score(&self) -> f64 {
        let size = 0.01 * self.rules.len() as f64;
        match &self.outcome {
            Outcome::Text(likeness, fits) => 2.0 + likeness + f64::from(u8::from(*fits)) - size,
            Outcome::Refused => 0.9 - size,
            Outcome::Unknown(missing) => 1.0 - 0.1 * missing.len() as f64 - size,
        }
    }
}

/// The search for one question.
pub struct Search<'a, H: Host> {
    host: &'a H,
    input: &'a GenerateInput,
    right: &'a Right,
    phrases: Vec<Phrase>,
    tries: usize,
    seen: BTreeSet<Vec<Rule>>,
    found: Vec<Found>,
}

impl<'a, H: Host> Search<'a, H> {
    /// Nothing is tried yet.
    pub fn new(host: &'a H, input: &'a GenerateInput, right: &'a Right) -> Self {
        let phrases = phrases(&input.question, &input.clock);
        Self { host, input, right, phrases, tries: 0, seen: BTreeSet::new(), found: Vec::new() }
    }

    /// The best explanations, best first; none when what is right is composed already, or nothing leads there.
    pub fn run(mut self) -> Vec<Found> {
        let plain = self.attempt(Vec::new());
        if matches!(plain.outcome, Outcome::Text(_, true)) {
            return Vec::new();
        }
        let mut beam = vec![plain];
        if !self.right.joins.is_empty() {
            beam.push(self.attempt(self.right.joins.clone()));
            if let Some(Outcome::Text(_, true)) = beam.last().map(|state| &state.outcome) {
                return self.best();
            }
        }
        for _ in 0..DEPTH {
            let mut next: Vec<State> = Vec::new();
            for state in &beam {
                for more in self.moves(state) {
                    let mut rules = state.rules.clone();
                    rules.extend(more);
                    if self.tries >= TRIES {
                        break;
                    }
                    let mut key = rules.clone();
                    key.sort();
                    if self.seen.contains(&key) {
                        continue;
                    }
                    next.push(self.attempt(rules));
                }
            }
            next.sort_by(|a, b| b.score().total_cmp(&a.score()));
            next.truncate(WIDTH);
            if self.found.iter().any(|found| found.fits) || next.is_empty() {
                break;
            }
            beam = next;
        }
        self.best()
    }

    fn best(mut self) -> Vec<Found> {
        self.found.retain(|found| !found.rules.is_empty() && found.fits);
        self.found.sort_by(|a, b| {
            let unlikely = |found: &Found| -> u8 { found.rules.iter().map(|rule| 2 - likely(rule)).sum() };
            let key = |found: &Found| (found.rules.len(), unlikely(found));
            key(a).cmp(&key(b)).then_with(|| b.likeness.total_cmp(&a.likeness))
        });
        self.found
    }

    fn attempt(&mut self, rules: Vec<Rule>) -> State {
        self.tries += 1;
        let mut key = rules.clone();
        key.sort();
        self.seen.insert(key);
        let outcome = match supposing(self.host, self.input, &rules) {
            Ok(draft) => match Shape::of(self.host, &draft.sql) {
                Some(shape) => {
                    let (likeness, fits) = shape.like(&self.right.shape);
                    self.found.push(Found { rules: rules.clone(), likeness, fits });
                    Outcome::Text(likeness, fits)
                }
                None => Outcome::Refused,
            },
            Err(refusal) => unknown(refusal).map_or(Outcome::Refused, Outcome::Unknown),
        };
        State { rules, outcome }
    }

    /// What may be added to the rules of a state.
    fn moves(&self, state: &State) -> Vec<Vec<Rule>> {
        let taken: BTreeSet<&str> = state.rules.iter().filter_map(Rule::phrase).collect();
        let mut moves: Vec<Vec<Rule>> = Vec::new();
        let question = &self.input.question;
        let near: Vec<&Phrase> = match &state.outcome {
            Outcome::Unknown(missing) => {
                moves.push(missing.iter().map(|word| Rule::Silent(word.clone())).collect());
                let Some(first) = missing.first() else { return Vec::new() };
                moves.push(vec![Rule::Silent(first.clone())]);
                around(&self.phrases, question, first)
            }
            Outcome::Text(..) | Outcome::Refused => {
                // A verb may have been taken for a name: `sales made`.
                let verbs = self.phrases.iter().filter(|phrase| {
                    let word = phrase.text.as_str();
                    stems::is_light(word) || stems::is_participle(word)
                });
                moves.extend(verbs.map(|phrase| vec![Rule::Silent(phrase.text.clone())]));
                self.phrases.iter().collect()
            }
        };
        moves.retain(|rules| rules.iter().all(|rule| rule.objection().is_none()));
        let phrases: Vec<String> = near
            .into_iter()
            .map(|phrase| phrase.text.clone())
            .filter(|phrase| !EVERYWHERE.contains(&phrase.as_str()))
            .filter(|phrase| Rule::Means(phrase.clone(), String::new()).objection().is_none())
            .filter(|phrase| !taken.iter().any(|taken| says(phrase, taken) || says(taken, phrase)))
            .collect();
        // A word that nothing is known by may mean anything. What means something already must look like what it means.
        let strange = matches!(state.outcome, Outcome::Unknown(_));
        let each = |make: &dyn Fn(&String) -> Vec<Rule>| -> Vec<Vec<Rule>> {
            let rules = phrases.iter().flat_map(make);
            rules.filter(|rule| strange || likely(rule) == 2).map(|rule| vec![rule]).collect()
        };
        // A value that the question says is meant by the words that say it and by no others.
        let fits = |phrase: &str, literal: &str| says(phrase, literal) || !says(question, literal);
        moves.extend(each(&|phrase| {
            let conditions = self.right.conditions.iter().filter(|(_, literal)| fits(phrase, literal));
            conditions.map(|(condition, _)| Rule::Means(phrase.clone(), condition.clone())).collect()
        }));
        moves.extend(each(&|phrase| {
            let computed = self.right.computed.iter();
            computed.map(|sql| Rule::Computed(phrase.clone(), sql.clone())).collect()
        }));
        moves.extend(each(&|phrase| {
            let columns = self.right.columns.iter();
            columns.map(|column| Rule::Means(phrase.clone(), column.clone())).collect()
        }));
        moves.extend(each(&|phrase| {
            let tables = self.right.tables.iter();
            tables.map(|table| Rule::Means(phrase.clone(), table.name.clone())).collect()
        }));
        moves
    }
}

/// The words that a refusal turns on, when it is for want of them.
fn unknown(refusal: Refusal) -> Option<Vec<String>> {
    let words = refusal.reason.starts_with("Nothing in this data is known by");
    let mut missing = refusal.missing;
    missing.dedup();
    (words && !missing.is_empty()).then_some(missing)
}

/// How much a rule looks like one that somebody would have written: 2 when the words are those of the name, 1 when nothing
/// is claimed, 0 when only the result speaks for it.
fn likely(rule: &Rule) -> u8 {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let alike = |phrase: &str, name: &str| {
        let (phrase, name) = (letters(phrase), letters(name));
        let common = phrase.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        common >= 2 && common * 2 >= phrase.len().min(name.len()) && !FUNCTIONS.contains(&name.as_str())
    };
    match rule {
        Rule::Joined { .. } => 2,
        Rule::Silent(_) => 1,
        Rule::Means(phrase, sql) | Rule::Computed(phrase, sql) => {
            let literal = sql.split_once('\'').map(|(_, rest)| rest.trim_end_matches('\''));
            if let Some(literal) = literal.filter(|literal| says(phrase, literal)) {
                // Words beside a value that is said belong to something else.
                return if says(literal, phrase) { 2 } else { 0 };
            }
            let names = sql.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| name.len() > 1);
            let parts = names.flat_map(|name| name.split('_').chain([name])).filter(|name| name.len() > 1);
            let words = phrase.split_whitespace().chain([phrase.as_str()]);
            let mut pairs = words.flat_map(|word| parts.clone().map(move |name| (word, name)));
            if pairs.any(|(word, name)| alike(word, name)) { 2 } else { 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_looks_like_what_somebody_would_write() {
        let means = |phrase: &str, sql: &str| Rule::Means(phrase.into(), sql.into());
        let computed = |phrase: &str, sql: &str| Rule::Computed(phrase.into(), sql.into());
        for (rule, want) in [
            (means("california", "business.state = 'CA'"), 2),
            (computed("check-ins", "sum(checkin.count)"), 2),
            (means("credits earned", "student.total_credit"), 2),
            (means("spring", "sections.semester = 'Spring'"), 2),
            (means("ability of phoenix force", "power.name = 'Phoenix Force'"), 0),
            (means("made", "customers"), 0),
            (computed("taken", "count(DISTINCT record.student_id)"), 0),
            (computed("calculate", "sum(hero.height)"), 0),
            (Rule::Silent("vary".into()), 1),
        ] {
            assert_eq!(likely(&rule), want, "{rule}");
        }
    }
}
