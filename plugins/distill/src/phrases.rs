//! The phrases of a question that may have a meaning of their own: runs of words that ask for nothing else.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::question::grammar::{Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{Token, TokenKind, tokenize};

/// Longest phrase, in tokens, and in words that carry content.
const TOKENS: usize = 5;
const WORDS: usize = 3;
/// Phrases of one question.
const MOST: usize = 30;

/// A run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// As the question has it, in lower case.
    pub text: String,
    /// First token.
    first: usize,
    /// Token after the last.
    end: usize,
    /// Whether it holds only words that the grammar has no other use for.
    plain: bool,
}

/// The phrases of a question: plain and short ones first.
pub fn phrases(question: &str, clock: &Clock) -> Vec<Phrase> {
    let reading = Reading::new(question, clock);
    let tokens = &reading.tokens;
    let use_of = |at: usize| {
        let inside = |first: usize, end: usize| (first..end).contains(&at);
        if reading.moments.iter().any(|moment| inside(moment.first, moment.end)) {
            return Use::Asks;
        }
        let Some(token) = tokens.get(at) else { return Use::Asks };
        let binds = matches!(token.lower.as_str(), "of" | "the" | "-" | "a");
        match reading.chunks.iter().find(|chunk| inside(chunk.first, chunk.end)).map(|chunk| &chunk.op) {
            _ if binds => Use::Binds,
            Some(Op::Word) if token.kind == TokenKind::Word && !stems::is_function_word(&token.lower) => {
                Use::Names
            }
            Some(Op::Grain(_)) if token.kind == TokenKind::Word => Use::Steps,
            _ => Use::Asks,
        }
    };
    let uses: Vec<Use> = (0..tokens.len()).map(use_of).collect();
    let mut found: Vec<Phrase> = Vec::new();
    for first in 0..tokens.len() {
        for end in first + 1..=(first + TOKENS).min(tokens.len()) {
            let run = uses.get(first..end).unwrap_or_default();
            let content = |one: &Use| matches!(one, Use::Names | Use::Steps);
            let words = run.iter().filter(|one| content(one)).count();
            let closed = run.first().is_some_and(content) && run.last().is_some_and(content);
            if !closed || words > WORDS || run.contains(&Use::Asks) {
                continue;
            }
            let (Some(from), Some(until)) = (tokens.get(first), tokens.get(end - 1)) else { continue };
            let text = question.get(from.start..until.end).unwrap_or_default().to_lowercase();
            let plain = run.contains(&Use::Names);
            if !found.iter().any(|known| known.text == text) {
                found.push(Phrase { text, first, end, plain });
            }
        }
    }
    // The halves of `check-ins` are no phrases.
    let hyphen = |at: Option<usize>| at.and_then(|at| tokens.get(at)).is_some_and(|token| token.lower == "-");
    found.retain(|phrase| !hyphen(phrase.first.checked_sub(1)) && !hyphen(Some(phrase.end)));
    found.sort_by_key(|phrase| (!phrase.plain, phrase.end - phrase.first));
    found.truncate(MOST);
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Names,
    Steps,
    Binds,
    Asks,
}

/// Those that hold a word.
pub fn around<'a>(phrases: &'a [Phrase], question: &str, word: &str) -> Vec<&'a Phrase> {
    let tokens = tokenize(question);
    let at = tokens.iter().position(|token| token.lower == word);
    let holds = |phrase: &&Phrase| at.is_some_and(|at| (phrase.first..phrase.end).contains(&at));
    phrases.iter().filter(holds).collect()
}

/// Whether a text's words stand in another one, one after the other.
pub fn says(text: &str, part: &str) -> bool {
    let same = |a: &Token, b: &Token| a.lower == b.lower || a.stem == b.stem;
    let (text, part) = (tokenize(text), tokenize(part));
    let text: Vec<Token> = text.into_iter().flat_map(opened).collect();
    !part.is_empty()
        && text.windows(part.len()).any(|window| window.iter().zip(&part).all(|(a, b)| same(a, b)))
}

/// What stands between quotation marks, word by word.
fn opened(token: Token) -> Vec<Token> {
    if token.kind == TokenKind::Quoted { tokenize(&token.text) } else { vec![token] }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::clock;

    use super::*;

    #[test]
    fn words_that_ask_are_no_phrases() {
        let question = "How many check-ins occurred on each day of the week in California?";
        let found = phrases(question, &clock("2026-07-15"));
        let texts: Vec<&str> = found.iter().map(|phrase| phrase.text.as_str()).collect();
        for (text, want) in [
            ("check-ins", true),
            ("check-ins occurred", true),
            ("day of the week", true),
            ("california", true),
            ("how many", false),
            ("check", false),
            ("ins occurred", false),
        ] {
            assert_eq!(texts.contains(&text), want, "{text} in {texts:?}");
        }
        assert!(
            around(&found, question, "california").iter().all(|phrase| phrase.text.contains("california"))
        );
    }

    #[test]
    fn a_value_is_said_between_quotation_marks_too() {
        for (text, part, want) in [
            ("sections of Spring 2025", "Spring", true),
            ("the state of \"New York\"", "new york", true),
            ("the state of California", "CA", false),
            ("anything", "", false),
        ] {
            assert_eq!(says(text, part), want, "{part}");
        }
    }
}
