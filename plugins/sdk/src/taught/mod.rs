//! What lessons say, laid over what the host knows: a stage that looks through it acts on lessons as it acts on notes.
//!
//! A lesson is a text that people read. Sentences of a few closed forms ([`Rule`]) are acted on: phrases become terms
//! and synonyms, tables are connected, words that ask for nothing are left out of the question. Nothing here is
//! trusted further than a pack's glossary: the gate checks the text that is made of it.

mod known;
mod overlay;
mod rule;

use crate::Host;
use crate::question::stems;
use crate::question::tokens::{Token, TokenKind, tokenize};

pub use rule::{Rule, is_name, is_relation, relation};

/// Lessons near a question that are read.
const LESSONS: u32 = 50;

/// A host whose lessons are acted on for one question.
pub struct Taught<'a, H: Host> {
    host: &'a H,
    /// The lesson it comes from, where it has been kept, and what it says.
    rules: Vec<(Option<String>, Rule)>,
    /// Lessons that define something in words of their own: its name, and the text.
    notes: Vec<(String, String)>,
    question: String,
}

impl<'a, H: Host> Taught<'a, H> {
    /// With the lessons near a question.
    pub fn new(host: &'a H, question: &str) -> Self {
        Self::supposing(host, question, &[])
    }

    /// With the lessons near a question, and as if these rules were among them.
    pub fn supposing(host: &'a H, question: &str, more: &[Rule]) -> Self {
        let mut rules: Vec<(Option<String>, Rule)> = more.iter().map(|rule| (None, rule.clone())).collect();
        let mut notes = Vec::new();
        for lesson in host.near_lessons(question, LESSONS) {
            let said = Rule::read(&lesson.text);
            if said.is_empty()
                && let Some(name) = defined(&lesson.text).filter(|name| spoken(name, question))
            {
                notes.push((name, lesson.text.clone()));
            }
            rules.extend(said.into_iter().map(|rule| (Some(lesson.id.clone()), rule)));
        }
        let said = |rule: &Rule| rule.phrase().is_none_or(|phrase| spoken(phrase, question));
        rules.retain(|(_, rule)| said(rule) && !known::contradicts(host, rule));
        // Of two rules for one phrase the nearer lesson's holds.
        let mut known: Vec<String> = Vec::new();
        rules.retain(|(_, rule)| match rule.phrase() {
            Some(phrase) => {
                let holds = !known.iter().any(|other| other == phrase);
                known.extend(holds.then(|| phrase.to_owned()));
                holds
            }
            None => true,
        });
        let question = quiet(question, &rules);
        Self { host, rules, notes, question }
    }

    /// The question without what asks for nothing.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// Whether no lesson says anything about the question.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.rules.is_empty() && self.notes.is_empty()
    }

    /// The lessons that took part in a text, and what each says.
    #[must_use]
    pub fn used(&self, sql: &str) -> Vec<(&str, String)> {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect()
        };
        let written = words(sql);
        let holds = |rule: &Rule| match rule {
            Rule::Silent(_) => true,
            Rule::Joined { from, to, columns } => [from, to, &columns.0]
                .iter()
                .all(|name| words(name).last().is_some_and(|last| written.contains(last))),
            Rule::Means(_, code) | Rule::Computed(_, code) => {
                let mut names = code.split('.');
                let first = names.next().map(words).unwrap_or_default();
                first.last().is_some_and(|name| written.contains(name))
            }
        };
        let told = self.rules.iter().filter(|(_, rule)| holds(rule));
        told.filter_map(|(id, rule)| Some((id.as_deref()?, rule.to_string()))).collect()
    }
}

/// Whether a question says a phrase: its words one after the other.
#[must_use]
pub fn spoken(phrase: &str, question: &str) -> bool {
    place(&tokenize(phrase), &tokenize(question)).is_some()
}

fn place(phrase: &[Token], question: &[Token]) -> Option<(usize, usize)> {
    let same = |a: &Token, b: &Token| {
        a.lower == b.lower || (a.kind == TokenKind::Word && b.kind == TokenKind::Word && a.stem == b.stem)
    };
    let length = phrase.len();
    if length == 0 {
        return None;
    }
    question
        .windows(length)
        .position(|window| window.iter().zip(phrase).all(|(a, b)| same(a, b)))
        .map(|first| (first, first + length))
}

/// The question without the phrases that ask for nothing.
fn quiet(question: &str, rules: &[(Option<String>, Rule)]) -> String {
    let mut text = question.to_owned();
    for (_, rule) in rules {
        let Rule::Silent(phrase) = rule else { continue };
        let phrase = tokenize(phrase);
        for _ in 0..4 {
            let tokens = tokenize(&text);
            let Some((first, end)) = place(&phrase, &tokens) else { break };
            let (Some(from), Some(until)) = (tokens.get(first), tokens.get(end - 1)) else { break };
            if tokens.len() <= end - first {
                break;
            }
            text.replace_range(from.start..until.end, "");
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    text
}

/// What a sentence in plain words defines: `TSC` of `TSC = total sales count`, `gold members` of `gold members means …`.
#[must_use]
pub fn defined(text: &str) -> Option<String> {
    let first = text.split(['\n', ';']).next()?;
    let cut = [" refers to ", " means ", " stands for ", " = ", " is "]
        .iter()
        .filter_map(|sign| first.find(sign))
        .min()?;
    let name = first.get(..cut)?.split('(').next()?.trim();
    let words = stems::content_words(name);
    (1..=6).contains(&words.len()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::retrieval::Lesson;
    use crate::harness::{Recorded, table, table_ref};

    fn host(texts: &[&str]) -> Recorded {
        let mut host = Recorded::new();
        for (at, text) in texts.iter().enumerate() {
            let (id, kind, text) = (format!("lesson:{at}"), "schema-map".to_owned(), (*text).to_owned());
            host.lessons.push(Lesson { id, kind, text, score: 1.0 });
        }
        host
    }

    #[test]
    fn words_that_ask_for_nothing_are_left_out() {
        let host = host(&["Here `vary` asks for nothing by itself."]);
        for (question, want) in [
            ("How does it vary by shop?", "How does it by shop?"),
            ("How many bills?", "How many bills?"),
            ("vary", "vary"),
        ] {
            assert_eq!(Taught::new(&host, question).question(), want);
        }
    }

    #[test]
    fn a_rule_takes_part_only_where_its_phrase_is_said() {
        let host = host(&["Here `turnover` is computed as `sum(bills.total)`."]);
        let taught = Taught::new(&host, "turnover by shop");
        assert_eq!(taught.used("SELECT sum(b.total) FROM shop.bills AS b").len(), 1);
        assert!(taught.used("SELECT 1").is_empty());
        assert!(Taught::new(&host, "sum of bills by shop").is_silent());
    }

    #[test]
    fn two_lessons_teach_two_keys_of_the_same_tables() {
        let taught = [
            "Each row of `bills` belongs to one of `staff` by `bills.cashier = staff.id`.",
            "Each row of `bills` belongs to one of `staff` by `bills.packer = staff.id`.",
        ];
        let host = host(&taught)
            .table(table("bills").columns(&[
                ("cashier", "bigint"),
                ("packer", "bigint"),
                ("driver", "bigint"),
            ]))
            .table(table("staff").columns(&[("id", "bigint")]))
            .join("bills.driver", "staff.id");
        let keys = |question: &str| -> Vec<String> {
            let detail = Taught::new(&host, question).describe(&table_ref("bills")).unwrap();
            detail.joins.into_iter().flat_map(|join| join.from_columns).collect()
        };
        assert_eq!(keys("rows of bills by staff"), ["cashier", "packer"], "the key nobody speaks of is left");
        assert_eq!(keys("rows of bills by staff and driver"), ["driver", "cashier", "packer"]);
    }
}
