//! What the glossary and the documents say to a question: whether it asks for a meaning or a rule, and what covers its words.

use crate::Host;
use crate::contract::retrieval::{Passage, Term};
use crate::question::grammar::{Op, Reading};
use crate::question::stems;
use crate::question::tokens::{Token, TokenKind, tokenize};

/// Terms and passages among which one that covers the question is looked for.
const NEAR: u32 = 20;
/// Least number of words that a passage must share with a question that does not ask for a meaning by itself.
const WORDS: usize = 2;

/// What covers the words of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// A term that the question names, with its definition.
    Term(Term),
    /// A passage of a document.
    Passage(Passage),
}

/// What kind of words a question is, as far as meaning goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// What something is: `what is a cancelled bill`, `the meaning of churn`. No row answers that.
    Meaning,
    /// How something is done: `is GST included in revenue`, `how are damaged goods handled`. A row may answer that.
    Rule,
    /// Anything else.
    Data,
}

/// Words that ask for a meaning, or name what is asked for, and say nothing of the subject.
const NOUNS: &[&str] = &["meaning", "definition", "policy", "policies", "rule", "rules", "procedure"];
/// The rest of the words that explanations are asked with.
const ASKING: &[&str] = &[
    "mean",
    "means",
    "meant",
    "define",
    "defined",
    "explain",
    "explained",
    "word",
    "term",
    "work",
    "works",
    "long",
    "often",
    "soon",
    "may",
    "must",
    "might",
    "allowed",
    "apply",
    "applies",
    "happens",
    "happen",
    "when",
    "if",
    "after",
];
/// Verbs of rules: what stands in `how is … handled`, `is … included`.
const TREATED: &[&str] = &[
    "handled",
    "treated",
    "counted",
    "count",
    "counts",
    "included",
    "excluded",
    "include",
    "exclude",
    "includes",
    "calculated",
    "computed",
    "measured",
    "determined",
    "considered",
    "regarded",
    "recorded",
    "dealt",
    "processed",
];

/// What kind of question it is.
#[must_use]
pub fn asked(reading: &Reading) -> Asked {
    let word = |at: usize| reading.tokens.get(at).map_or("", |token| token.lower.as_str());
    let is = |at: usize| matches!(word(at), "is" | "are" | "was" | "were" | "s");
    let noun = reading.tokens.iter().any(|token| NOUNS.contains(&token.lower.as_str()));
    // `what is an average order`, `what is a day's revenue`: something is computed.
    let computes = reading.chunks.iter().any(|chunk| {
        matches!(
            chunk.op,
            Op::Aggregate(_)
                | Op::Superlative { .. }
                | Op::Top { .. }
                | Op::Each
                | Op::By
                | Op::Percent
                | Op::Ratio
                | Op::Grain(_)
                | Op::Compare(_)
        )
    });
    if computes {
        return Asked::Data;
    }
    if (matches!(word(0), "what" | "which") && is(1)) && (noun || matches!(word(2), "a" | "an")) {
        return Asked::Meaning;
    }
    let may =
        |at: usize| matches!(word(at), "may" | "must" | "can" | "should" | "do" | "does" | "is" | "are");
    let passive = reading
        .tokens
        .iter()
        .skip(2)
        .any(|token| TREATED.contains(&token.lower.as_str()) || stems::is_participle(&token.lower));
    let rule = match word(0) {
        "is" | "are" | "does" | "do" | "can" | "may" | "must" | "should" => word(1) != "there",
        "how" => {
            (is(1) && passive) || matches!(word(1), "do" | "does" | "should") || (word(1) == "long" && may(2))
        }
        "when" | "why" => may(1),
        "who" => matches!(word(1), "may" | "must" | "can" | "should"),
        "what" => word(1) == "happens",
        _ => false,
    };
    if rule { Asked::Rule } else { Asked::Data }
}

/// True where a question asks how something is treated, which no number answers: `is GST included in revenue`.
#[must_use]
pub fn asks_for_treatment(reading: &Reading) -> bool {
    let lead = reading.tokens.first().map_or("", |token| token.lower.as_str());
    let second = reading.tokens.get(1).map_or("", |token| token.lower.as_str());
    let opens =
        matches!(lead, "is" | "are" | "does" | "do") || (lead == "how" && matches!(second, "is" | "are"));
    opens
        && second != "there"
        && reading.tokens.iter().any(|token| TREATED.contains(&token.lower.as_str()))
        && asked(reading) == Asked::Rule
}

/// What covers the words of a question best: every word of its subject stands in it. A term is named in full.
#[must_use]
pub fn explanation(host: &impl Host, question: &str) -> Option<Explanation> {
    let tokens: Vec<Token> = tokenize(question).into_iter().filter(carries).collect();
    let subject: Vec<&Token> = tokens.iter().filter(|token| !asking(token)).collect();
    if subject.is_empty() {
        return None;
    }
    let holds = |text: &[String], token: &Token| text.iter().any(|stem| stems::kin(stem, &token.stem));
    let covers = |text: &[String]| subject.iter().all(|token| holds(text, token));
    // Of two that cover the subject the one with more of the words of asking says more of what is asked.
    let extent = |text: &[String]| tokens.iter().filter(|token| holds(text, token)).count();
    let mut best: Option<(usize, Explanation)> = None;
    let mut take = |extent: usize, found: Explanation| {
        if best.as_ref().is_none_or(|(known, _)| *known < extent) {
            best = Some((extent, found));
        }
    };
    let stemmed: Vec<String> = tokenize(question).into_iter().map(|token| token.stem).collect();
    for term in host.near_terms(question, NEAR).into_iter().filter(|term| !term.definition.trim().is_empty())
    {
        let names = std::iter::once(&term.name).chain(&term.synonyms);
        let named = names.clone().any(|name| {
            let name: Vec<String> = tokenize(name).into_iter().map(|token| token.stem).collect();
            !name.is_empty() && stemmed.windows(name.len()).any(|part| part == name.as_slice())
        });
        let mut text: Vec<String> = names.flat_map(|name| stems::content_words(name)).collect();
        // A question of nothing but a term is answered by its definition.
        if named && covers(&text) {
            return Some(Explanation::Term(term));
        }
        text.extend(stems::content_words(&term.definition));
        if named && covers(&text) {
            take(extent(&text), Explanation::Term(term));
        }
    }
    for passage in host.near_passages(question, NEAR) {
        let mut text = stems::content_words(&passage.text);
        text.extend(stems::content_words(&passage.source));
        if covers(&text) {
            take(extent(&text), Explanation::Passage(passage));
        }
    }
    best.map(|(_, found)| found)
}

/// Whether a question that is none of meaning is covered well enough to be answered so where the data has no answer: by a
/// term, or by a passage with several of its words; and where it computes nothing.
#[must_use]
pub fn instead(host: &impl Host, question: &str, reading: &Reading) -> bool {
    let plain = reading.chunks.iter().all(|chunk| {
        matches!(
            chunk.op,
            Op::Word | Op::Link | Op::Stop | Op::Which | Op::Who | Op::And | Op::Or | Op::Not | Op::Quoted
        )
    });
    let words = reading.tokens.iter().filter(|token| carries(token) && !asking(token)).count();
    plain
        && match explanation(host, question) {
            Some(Explanation::Term(_)) => true,
            Some(Explanation::Passage(_)) => words >= WORDS,
            None => false,
        }
}

/// The words that the glossary or a document speaks of.
#[must_use]
pub fn spoken_of(host: &impl Host, words: &[String]) -> Vec<String> {
    let told = |word: &&String| {
        let stem = stems::stem(word);
        let holds = |text: &str| stems::content_words(text).iter().any(|known| stems::kin(known, &stem));
        host.near_terms(word, NEAR).iter().any(|term| {
            holds(&term.name) || holds(&term.definition) || term.synonyms.iter().any(|name| holds(name))
        }) || host.near_passages(word, NEAR).iter().any(|passage| holds(&passage.text))
    };
    words.iter().filter(told).cloned().collect()
}

/// Why nothing is asked of words that no name or value of the data is known by. What the glossary or the documents speak
/// of is said to be so.
#[must_use]
pub fn unknown(host: &impl Host, words: &[String]) -> String {
    let quoted =
        |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let told = spoken_of(host, words);
    let rest: Vec<String> = words.iter().filter(|word| !told.contains(word)).cloned().collect();
    let mut reason = String::new();
    if !rest.is_empty() || told.is_empty() {
        reason = format!("Nothing in this data is known by {}.", quoted(&rest));
    }
    if !told.is_empty() {
        if !reason.is_empty() {
            reason.push(' ');
        }
        let speak = "The glossary or the documents speak of";
        reason.push_str(&format!("{speak} {}, but no table, column or value is known by it.", quoted(&told)));
    }
    reason
}

fn carries(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Number)
        && !stems::is_function_word(&token.lower)
}

fn asking(token: &Token) -> bool {
    [NOUNS, ASKING, TREATED].iter().any(|words| words.contains(&token.lower.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Recorded, clock};

    fn host() -> Recorded {
        let mut host = Recorded::new().term("churn", &[], "Customers who have not ordered for a year.").term(
            "revenue",
            &["turnover"],
            "The totals of all bills, tax included.",
        );
        for (source, text) in [
            (
                "docs/returns.md",
                "Returns: goods may be returned within thirty days. Opened paint is not taken back.",
            ),
            ("docs/words.md", "Sales and turnover mean the same to us."),
            ("docs/parcels.md", "A parcel counts as lost when it has not come after twenty days."),
        ] {
            host.passages.push(Passage { source: source.into(), text: text.into(), score: 0.0 });
        }
        host
    }

    fn source(question: &str) -> Option<String> {
        explanation(&host(), question).map(|found| match found {
            Explanation::Term(term) => term.name,
            Explanation::Passage(passage) => passage.source,
        })
    }

    #[test]
    fn every_word_of_the_subject_is_covered() {
        for (question, want) in [
            ("What is churn?", Some("churn")),
            ("What does turnover mean?", Some("revenue")),
            ("Is tax included in turnover?", Some("revenue")),
            ("What is the returns policy?", Some("docs/returns.md")),
            ("How long may goods be returned?", Some("docs/returns.md")),
            ("Is opened paint taken back?", Some("docs/returns.md")),
            ("When does a parcel count as lost?", Some("docs/parcels.md")),
            ("How long may tools be returned?", None),
            ("Is the weather included in turnover?", None),
            ("What is it?", None),
        ] {
            assert_eq!(source(question).as_deref(), want, "{question}");
        }
    }

    #[test]
    fn what_is_asked_is_told_by_how_it_is_asked() {
        for (question, want) in [
            ("What is a cancelled bill?", Asked::Meaning),
            ("What is the meaning of churn?", Asked::Meaning),
            ("What is the returns policy?", Asked::Meaning),
            ("Is GST included in revenue?", Asked::Rule),
            ("How are damaged goods handled?", Asked::Rule),
            ("When does a parcel count as lost?", Asked::Rule),
            ("How long may goods be returned?", Asked::Rule),
            ("How many bills were raised in 2025?", Asked::Data),
            ("What is the revenue?", Asked::Data),
            ("What is an average bill?", Asked::Data),
            ("How is revenue split by month?", Asked::Data),
        ] {
            assert_eq!(asked(&Reading::new(question, &clock("2026-08-20"))), want, "{question}");
        }
    }

    #[test]
    fn a_word_of_the_documents_is_not_said_to_be_unknown() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(unknown(&host(), &words(&["weather"])), "Nothing in this data is known by `weather`.");
        assert_eq!(
            unknown(&host(), &words(&["parcel"])),
            "The glossary or the documents speak of `parcel`, but no table, column or value is known by it."
        );
    }
}
