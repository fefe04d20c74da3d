//! A right query as the makers of faults see it: its words, what it reads, and the chances that pick a place.

use std::ops::Range;

use airlock_types::Catalogue;
use airlock_types::catalogue::{Column, Relation};

use super::scan::{Kind, Token, scan};

/// Numbers from a seed; the same seed gives the same faults anywhere.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// From a seed and the words that tell one fault from another.
    pub fn new(seed: u64, words: &[&str]) -> Self {
        // FNV-1a over the words, so that a fault does not move when another is added.
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        Self(bytes.fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or_default()
    }

    /// One of several; none of none.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).cloned()
    }
}

/// A right query.
pub struct Query<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    /// Each relation that it reads, with the name that stands before its columns.
    pub reads: Vec<(&'a Relation, String)>,
}

/// A column as a query names it.
#[derive(Debug, Clone)]
pub struct Named<'a> {
    /// Its token.
    pub at: usize,
    /// What stands before it.
    pub qualifier: Option<usize>,
    /// What it may be.
    pub columns: Vec<&'a Column>,
}

/// Words that follow a relation's name and are no alias of it.
const BEHIND: [&str; 16] = [
    "ON",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "CROSS",
    "WHERE",
    "GROUP",
    "ORDER",
    "LIMIT",
    "HAVING",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "USING",
];

impl<'a> Query<'a> {
    pub fn new(text: &'a str, catalogue: &'a Catalogue) -> Self {
        let mut query = Self { text, tokens: scan(text), reads: Vec::new() };
        for at in 0..query.tokens.len() {
            let Some(name) = query.table_at(at) else { continue };
            let Some(relation) = catalogue.iter().find(|relation| relation.table.name == name) else {
                continue;
            };
            let behind = if query.is(at + 1, "AS") { at + 2 } else { at + 1 };
            let alias = query.name(behind).filter(|_| !BEHIND.iter().any(|word| query.is(behind, word)));
            query.reads.push((relation, alias.unwrap_or(name)));
        }
        query
    }

    /// The token as written; empty behind the end.
    pub fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| self.text.get(token.span.clone())).unwrap_or_default()
    }

    pub fn is(&self, at: usize, word: &str) -> bool {
        self.word(at).eq_ignore_ascii_case(word)
    }

    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub fn depth(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(0, |token| token.depth)
    }

    fn name(&self, at: usize) -> Option<String> {
        (self.kind(at) == Some(Kind::Word)).then(|| self.word(at).to_ascii_lowercase())
    }

    /// The name of what stands behind FROM or JOIN.
    pub fn table_at(&self, at: usize) -> Option<String> {
        let before = at.checked_sub(1)?;
        let named = self.is(before, "FROM") || self.is(before, "JOIN");
        // EXTRACT(... FROM x) reads no table; what follows it is known as a column.
        let extract = self.is(before.checked_sub(2)?, "(") && self.is(before, "FROM");
        if named && !extract && self.word(at + 1) != "." { self.name(at) } else { None }
    }

    /// Tokens that name a listed relation in FROM.
    pub fn tables(&self) -> Vec<usize> {
        let listed = |name: &str| self.reads.iter().any(|(relation, _)| relation.table.name == name);
        (0..self.tokens.len()).filter(|at| self.table_at(*at).is_some_and(|name| listed(&name))).collect()
    }

    /// Every column that is named.
    pub fn columns(&self) -> Vec<Named<'a>> {
        let named = |at: usize| -> Option<Named<'a>> {
            let name = self.name(at)?;
            let before = at.checked_sub(1)?;
            if [".", "("].contains(&self.word(at + 1)) || self.is(before, "AS") || self.table_at(at).is_some()
            {
                return None;
            }
            let qualifier = (self.word(before) == ".").then(|| at.checked_sub(2)).flatten();
            let alias = qualifier.and_then(|at| self.name(at));
            let columns: Vec<&Column> = self
                .reads
                .iter()
                .filter(|(_, visible)| alias.as_ref().is_none_or(|alias| alias == visible))
                .filter_map(|(relation, _)| relation.column(&name))
                .collect();
            (!columns.is_empty()).then_some(Named { at, qualifier, columns })
        };
        (0..self.tokens.len()).filter_map(named).collect()
    }

    /// Whether anything the query reads has such a column.
    pub fn has_column(&self, name: &str) -> bool {
        self.reads.iter().any(|(relation, _)| relation.column(name).is_some())
    }

    /// The text with one range written otherwise.
    pub fn with(&self, span: Range<usize>, other: &str) -> Option<String> {
        Some(format!("{}{other}{}", self.text.get(..span.start)?, self.text.get(span.end..)?))
    }

    /// The same for a range of tokens.
    pub fn instead(&self, tokens: Range<usize>, other: &str) -> Option<String> {
        self.with(self.bytes(tokens)?, other)
    }

    pub fn bytes(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let last = tokens.end.checked_sub(1).filter(|last| *last >= tokens.start)?;
        Some(self.tokens.get(tokens.start)?.span.start..self.tokens.get(last)?.span.end)
    }

    pub fn slice(&self, tokens: Range<usize>) -> &'a str {
        self.bytes(tokens).and_then(|bytes| self.text.get(bytes)).unwrap_or_default()
    }

    /// The text with every token that `choose` names written otherwise.
    pub fn everywhere(&self, mut choose: impl FnMut(usize) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        let mut changed = false;
        for (at, token) in self.tokens.iter().enumerate() {
            if let Some(other) = choose(at) {
                out.push_str(self.text.get(done..token.span.start)?);
                out.push_str(&other);
                done = token.span.end;
                changed = true;
            }
        }
        out.push_str(self.text.get(done..)?);
        changed.then_some(out)
    }

    /// The token behind the parenthesis that closes the one at `open`.
    pub fn behind(&self, open: usize) -> Option<usize> {
        let depth = self.depth(open);
        (open + 1..self.tokens.len())
            .find(|at| self.word(*at) == ")" && self.depth(*at) == depth)
            .map(|close| close + 1)
    }

    /// Calls of a function: the token of its name, and the arguments.
    pub fn calls(&self, name: &str) -> Vec<(usize, Vec<Range<usize>>)> {
        (0..self.tokens.len())
            .filter(|at| self.is(*at, name) && self.word(at + 1) == "(")
            .filter_map(|at| Some((at, self.split(at + 2..self.behind(at + 1)?.checked_sub(1)?))))
            .collect()
    }

    /// A range cut at the commas on its own level.
    pub fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let depth = self.depth(range.start);
        let mut parts = Vec::new();
        let mut start = range.start;
        for at in range.clone() {
            if self.word(at) == "," && self.depth(at) == depth {
                parts.push(start..at);
                start = at + 1;
            }
        }
        parts.push(start..range.end);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The tokens of a clause that begins with these words, up to the next one on its level.
    pub fn clause(&self, begins: &[&str]) -> Option<(usize, Range<usize>)> {
        self.clauses(begins).into_iter().next()
    }

    pub fn clauses(&self, begins: &[&str]) -> Vec<(usize, Range<usize>)> {
        let starts = |at: usize| begins.iter().enumerate().all(|(n, word)| self.is(at + n, word));
        let found = (0..self.tokens.len()).filter(|at| starts(*at));
        found
            .map(|at| {
                let body = at + begins.len();
                let depth = self.depth(at);
                let ends = [
                    "FROM",
                    "WHERE",
                    "GROUP",
                    "HAVING",
                    "ORDER",
                    "LIMIT",
                    "UNION",
                    "INTERSECT",
                    "EXCEPT",
                    ";",
                ];
                let end = (body..self.tokens.len()).find(|at| {
                    self.depth(*at) < depth
                        || (self.depth(*at) == depth && ends.iter().any(|word| self.is(*at, word)))
                });
                (at, body..end.unwrap_or(self.tokens.len()))
            })
            .collect()
    }
}

/// A name or text with one or two letters wrong.
pub fn misspell(word: &str, chance: &mut Chance) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < 4 || !letters.iter().any(|c| c.is_alphabetic()) {
        return None;
    }
    // The first letter is rarely the wrong one.
    let at = 1 + chance.below(letters.len() - 2);
    match chance.below(4) {
        0 => drop(letters.remove(at)),
        1 => letters.swap(at, at + 1),
        2 => {
            let letter = *letters.get(at)?;
            letters.insert(at, letter);
        }
        _ => *letters.get_mut(at)? = chance.pick(&['a', 'e', 'i', 'o', 's', 't'])?,
    }
    if letters.len() > 9 && chance.below(3) == 0 {
        letters.remove(letters.len() - 2);
    }
    let wrong: String = letters.into_iter().collect();
    (wrong != word).then_some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_follow_from_the_seed_and_the_words_alone() {
        let run = |seed, words: &[&str]| {
            let mut chance = Chance::new(seed, words);
            (0..8).map(|_| chance.below(100)).collect::<Vec<_>>()
        };
        assert_eq!(run(1, &["a", "b"]), run(1, &["a", "b"]));
        assert_ne!(run(1, &["a", "b"]), run(2, &["a", "b"]));
        assert_ne!(run(1, &["a", "b"]), run(1, &["ab"]));
    }

    #[test]
    fn a_misspelt_word_is_near_and_another() {
        for seed in 0..200 {
            let mut chance = Chance::new(seed, &[]);
            for word in ["customer_id", "city"] {
                if let Some(wrong) = misspell(word, &mut chance) {
                    assert!(wrong != word && wrong.len().abs_diff(word.len()) <= 2, "{wrong}");
                }
            }
            assert_eq!(misspell("abc", &mut chance), None);
        }
    }
}
