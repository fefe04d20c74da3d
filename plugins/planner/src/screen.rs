//! Questions that no database answers, told apart before anything is looked up.

use airlock_plugin_sdk::contract::retrieval::Term;
use airlock_plugin_sdk::explained::{self, Asked, Explanation};
use airlock_plugin_sdk::question::grammar::{Op, Reading};
use airlock_plugin_sdk::question::tokens::TokenKind;
use airlock_plugin_sdk::question::{names, stems};
use airlock_plugin_sdk::{Host, TableRef};

/// Longest chain of keys from a measure to the things it ranks.
const HOPS: u32 = 3;

/// What becomes of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is planned.
    Ask,
    /// It cannot be answered; the sentence says why.
    Refuse(String),
    /// It means more than one thing: what to ask back, and the options.
    Unclear(String, Vec<String>),
}

/// Longest question that is read, in characters.
const LONGEST: usize = 4_000;

/// Verbs that ask for a change when a question begins with them.
const CHANGES: &[&str] = &[
    "delete", "remove", "drop", "truncate", "update", "insert", "add", "create", "alter", "modify", "change",
    "set", "erase", "cancel", "rename", "grant", "revoke", "replace", "fix", "correct", "mark", "wipe",
    "destroy", "purge",
];

/// Openings that are no question about data.
const GREETINGS: &[&str] =
    &["hello", "hi", "hey", "thanks", "thank", "bye", "goodbye", "greetings", "welcome", "ok", "okay"];

/// Words found in questions of other languages and not in English ones.
const FOREIGN: &[(&str, &[&str])] = &[
    (
        "German",
        &[
            "wie", "viele", "und", "der", "die", "das", "ist", "welche", "welcher", "wieviel", "haben",
            "wir", "kunden", "unsere", "nicht", "zeige", "gibt", "im", "für",
        ],
    ),
    (
        "French",
        &[
            "combien", "quel", "quelle", "quels", "quelles", "est", "les", "nous", "avons", "dans", "des",
            "une", "sont", "clients", "pour", "le",
        ],
    ),
    (
        "Spanish",
        &[
            "cuántos", "cuantos", "cuántas", "cuantas", "cuál", "cual", "qué", "los", "las", "tenemos",
            "del", "una", "hay", "clientes", "cuánto", "el", "en",
        ],
    ),
    (
        "Italian",
        &["quanti", "quante", "quale", "quali", "abbiamo", "gli", "sono", "della", "nel", "clienti", "il"],
    ),
    ("Portuguese", &["quantos", "quantas", "qual", "quais", "temos", "uma", "nos", "foram", "não", "são"]),
    ("Dutch", &["hoeveel", "welke", "hebben", "het", "een", "klanten", "zijn", "van"]),
];

/// Reads a question for what makes planning pointless.
pub fn screen(
    host: &impl Host,
    question: &str,
    reading: &Reading,
    follow_up: bool,
    model_available: bool,
) -> Verdict {
    if question.trim().is_empty() {
        return Verdict::Refuse("The question is empty; ask about the data in a sentence.".into());
    }
    if question.chars().count() > LONGEST {
        return Verdict::Refuse(format!(
            "The question is longer than {LONGEST} characters; ask for one thing in a sentence or two."
        ));
    }
    if question.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return Verdict::Refuse(
            "The question holds control characters, so it is not text that can be read.".into(),
        );
    }
    let words: Vec<&str> = reading
        .tokens
        .iter()
        .filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))
        .map(|token| token.lower.as_str())
        .collect();
    if words.is_empty() {
        return Verdict::Refuse("There are no words in the question that could be looked up.".into());
    }
    if !model_available && let Some(reason) = other_language(question, &words) {
        return Verdict::Refuse(reason);
    }
    let lead = words.iter().find(|word| {
        !matches!(**word, "please" | "can" | "could" | "you" | "would" | "i" | "want" | "to" | "now" | "just")
    });
    if let Some(lead) = lead
        && CHANGES.contains(lead)
        && !reading.chunks.iter().any(|chunk| matches!(chunk.op, Op::Which | Op::Who | Op::Aggregate(_)))
    {
        return Verdict::Refuse(format!(
            "This asks to change data (`{lead}`); only questions that read are answered here."
        ));
    }
    let content = reading.chunks.iter().any(|chunk| match chunk.op {
        Op::Word => reading.tokens.get(chunk.first).is_some_and(|token| {
            !stems::is_light(&token.lower) && !GREETINGS.contains(&token.lower.as_str())
        }),
        Op::Quoted => true,
        Op::Moment(_) | Op::Grain(_) | Op::Top { .. } => follow_up,
        _ => false,
    });
    if !content {
        let greeting = words.first().is_some_and(|word| GREETINGS.contains(word));
        return Verdict::Refuse(if greeting {
            "This is a greeting, not a question about the data.".into()
        } else {
            "The question names nothing that could be looked up.".into()
        });
    }
    if let Some(count) = no_count(question, reading) {
        return Verdict::Refuse(format!(
            "The question asks for {count} of something; how many are listed is a whole number from 1 on."
        ));
    }
    if !model_available && let Some(reason) = unexplained(host, question, reading) {
        return Verdict::Refuse(reason);
    }
    undefined(host, question, reading, &words)
}

/// `which -3 products`, `top 0 products`, `list 2.5 bills`: how many are asked for, where that is no number of rows.
fn no_count(question: &str, reading: &Reading) -> Option<String> {
    let tokens = &reading.tokens;
    let leads = |word: &str| {
        matches!(
            word,
            "which" | "what" | "list" | "show" | "top" | "bottom" | "first" | "last" | "latest" | "the"
        )
    };
    tokens.iter().enumerate().find_map(|(at, token)| {
        let value: f64 = (token.kind == TokenKind::Number).then(|| token.text.parse().ok()).flatten()?;
        let before = at.checked_sub(1).and_then(|before| tokens.get(before))?;
        let minus = before.text == "-" && before.end == token.start;
        let lead = if minus { at.checked_sub(2).and_then(|before| tokens.get(before))? } else { before };
        let spaced = !minus || question.get(lead.end..before.start).is_some_and(|gap| !gap.is_empty());
        let next = tokens.get(at + 1)?;
        let noun = next.kind == TokenKind::Word
            && next.start > token.end
            && (next.lower.ends_with('s') || matches!(next.lower.as_str(), "most" | "least"));
        let none = minus || value < 1.0 || value.fract() != 0.0;
        let said = if minus { format!("-{}", token.text) } else { token.text.clone() };
        (leads(&lead.lower) && spaced && noun && none).then_some(said)
    })
}

/// Why a question that no number answers is not answered, where nothing explains what it asks about.
fn unexplained(host: &impl Host, question: &str, reading: &Reading) -> Option<String> {
    // What only the domain can tell, whether it has a block that is near.
    if asks_for_meaning(reading) {
        return None;
    }
    let meaning = explained::asked(reading) == Asked::Meaning;
    let asks = meaning || explained::asks_for_treatment(reading);
    (asks && explained::explanation(host, question).is_none()).then(|| {
        let what = if meaning { "what something is or means" } else { "how something is treated" };
        format!("This asks {what}, and neither the glossary nor the documents of this domain say it.")
    })
}

/// True when glossary or documents are to answer: the question asks what something means, or for a rule that they have.
pub fn is_about_meaning(host: &impl Host, question: &str, reading: &Reading) -> bool {
    if asks_for_meaning(reading) {
        return true;
    }
    match explained::asked(reading) {
        Asked::Meaning | Asked::Rule => explained::explanation(host, question).is_some(),
        // `what is churn`: nothing but a term that no measure and no condition computes.
        Asked::Data => {
            let what = reading.tokens.iter().take(2).map(|token| token.lower.as_str()).collect::<Vec<_>>();
            matches!(what.as_slice(), ["what", "is" | "are" | "s"])
                && matches!(explained::explanation(host, question), Some(Explanation::Term(term))
                    if term.metric_sql.is_none() && term.filter_sql.is_none()
                        && explained::instead(host, question, reading))
        }
    }
}

/// True when the question asks what something means.
fn asks_for_meaning(reading: &Reading) -> bool {
    let text: Vec<&str> = reading.tokens.iter().map(|token| token.lower.as_str()).collect();
    let text = text.join(" ");
    let explains = [
        "what does ",
        "define ",
        "explain ",
        "what is meant by ",
        "what do you mean by ",
        "what do we mean by ",
        "definition of ",
        "how is ",
        "how do we define ",
        "how are ",
    ];
    let marks =
        [" mean", "define", "explain", "meant by", "definition", " calculated", " computed", " defined"];
    explains.iter().any(|start| text.contains(start)) && marks.iter().any(|mark| text.contains(mark))
}

/// `our best customers` with nothing to rank by.
fn undefined(host: &impl Host, question: &str, reading: &Reading, words: &[&str]) -> Verdict {
    let vague = ["best", "worst", "good", "bad", "important", "popular", "top"];
    let ranked = reading
        .chunks
        .iter()
        .any(|chunk| matches!(chunk.op, Op::By | Op::OrderBy | Op::Compare(_) | Op::Grain(_)));
    let Some(word) = words.iter().find(|word| vague.contains(word)) else { return Verdict::Ask };
    let nouns: Vec<&str> = reading
        .chunks
        .iter()
        .filter(|chunk| chunk.op == Op::Word)
        .filter_map(|chunk| reading.tokens.get(chunk.first))
        .map(|token| token.lower.as_str())
        .filter(|lower| !stems::is_light(lower) && !vague.contains(lower))
        .collect();
    match nouns.as_slice() {
        [noun]
            if !ranked
                && matches!(*word, "best" | "worst" | "good" | "important" | "top")
                && noun.ends_with('s') =>
        {
            let options = options(host, question, noun);
            if options.len() < 2 {
                return Verdict::Ask;
            }
            Verdict::Unclear(format!("What makes the {word} {noun}?"), options)
        }
        _ => Verdict::Ask,
    }
}

/// Questions that say what to rank by: measures of the glossary, so that each of them can be answered.
fn options(host: &impl Host, question: &str, noun: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let terms = host.near_terms(&format!("{question} revenue sales amount number count"), 50);
    // A measure is not ranked by another one: `best sales`.
    let measure = terms.iter().any(|term| {
        std::iter::once(&term.name).chain(&term.synonyms).any(|name| name.eq_ignore_ascii_case(noun))
    });
    // Each row of the measure must lead to one of the things that are ranked, or the option could not be answered.
    let stemmed = stems::stem(noun);
    let thing = host.tables().into_iter().map(|summary| summary.table).find(|table| {
        let words = names::name_words(&table.name);
        matches!(words.as_slice(), [only] if stems::stem(only) == stemmed)
    });
    let leads = |from: &TableRef| {
        let Some(thing) = &thing else { return false };
        let mut here = from.clone();
        host.join_path(from, thing, HOPS).iter().all(|join| {
            let forward = join.from == here && join.many_to_one;
            here = join.to.clone();
            forward
        }) && here == *thing
    };
    let ranks = |term: &Term| !measure && term.metric_sql.is_some() && term.table.as_ref().is_some_and(leads);
    for term in terms.iter().filter(|term| ranks(term)) {
        let option = format!("Top 5 {noun} by {}", term.name);
        if !term.name.contains(" by ") && !found.contains(&option) && found.len() < 4 {
            found.push(option);
        }
    }
    found
}

/// Why the question is not in the language that is read without a model, if it is not.
fn other_language(question: &str, words: &[&str]) -> Option<String> {
    let letters = question.chars().filter(|c| c.is_alphabetic()).count();
    let latin = question.chars().filter(|c| c.is_alphabetic() && (*c as u32) < 0x250).count();
    let told = "Without a model only English is read";
    if letters > 0 && latin * 2 < letters {
        return Some(format!("{told}; this question is in another script."));
    }
    const ENGLISH: &[&str] = &[
        "the", "how", "many", "what", "which", "who", "is", "are", "our", "we", "do", "in", "of", "for",
        "by", "did", "list", "show", "number", "total", "average", "count", "per", "each", "top", "most",
    ];
    let english = words.iter().filter(|word| ENGLISH.contains(word)).count();
    let (language, foreign) = FOREIGN
        .iter()
        .map(|(language, known)| (*language, words.iter().filter(|word| known.contains(word)).count()))
        .max_by_key(|(_, count)| *count)?;
    (foreign >= 2 && foreign > english).then(|| format!("{told}; this question looks {language}."))
}
