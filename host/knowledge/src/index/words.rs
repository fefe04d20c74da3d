//! Text to words: folded, split and stemmed the same way for questions, names, notes and values.

use std::cell::OnceCell;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

thread_local! {
    static ENGLISH: OnceCell<Stemmer> = const { OnceCell::new() };
}

/// Most words of one text that are looked at.
pub const WORDS: usize = 20_000;

/// A word and where it stands in the text it was taken from, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case, without accents, in one Unicode form.
    pub folded: String,
    /// Its English stem, or the folded word in other scripts.
    pub stem: String,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Word {
    fn new(text: &str, start: usize) -> Self {
        let folded = fold_word(text);
        let stem = stem(&folded);
        Self { folded, stem, start, end: start + text.len() }
    }
}

/// The words of prose: a question, a note, a value. Scripts that put no spaces give overlapping pairs of characters.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (start, run) in runs(text) {
        for (offset, part) in split_script(run) {
            if part.chars().next().is_some_and(spaceless) {
                words.extend(pairs(part).map(|(at, pair)| Word::new(pair, start + offset + at)));
            } else {
                words.push(Word::new(part, start + offset));
            }
        }
        if words.len() >= WORDS {
            break;
        }
    }
    words.retain(|word| !word.folded.is_empty());
    words.truncate(WORDS);
    words
}

/// The parts of a name: split at anything that is no letter or digit, at `camelCase` humps and between letters and digits.
#[must_use]
pub fn name_parts(name: &str) -> Vec<Word> {
    let mut parts = Vec::new();
    for (start, run) in runs(name) {
        for (offset, part) in humps(run) {
            parts.push(Word::new(part, start + offset));
        }
    }
    parts.retain(|word| !word.folded.is_empty());
    parts.truncate(WORDS);
    parts
}

/// A text folded to its words with single spaces: two texts that read the same are equal.
#[must_use]
pub fn folded(text: &str) -> String {
    let words: Vec<String> =
        runs(text).map(|(_, run)| fold_word(run)).filter(|word| !word.is_empty()).collect();
    // A text without any letter or digit is compared as it stands.
    if words.is_empty() { text.trim().to_lowercase() } else { words.join(" ") }
}

/// Words that carry no meaning for finding something.
#[must_use]
pub fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.binary_search(&folded).is_ok()
}

/// Sorted; a test holds that.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "d", "did", "display", "do", "does", "each", "every", "find", "for", "from", "get", "give", "had", "has", "have", "how", "i", "if",
    "in", "into", "is", "it", "its", "let", "list", "ll", "many", "me", "much", "my", "of", "on", "or", "our", "per", "please", "return", "s",
    "shall", "should", "show", "so", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "us", "ve", "was", "we", "were", "what", "when", "where", "which", "who", "whose", "will", "with", "would", "you",
    "your",
];

/// The English stem of a folded word of ASCII letters; other words are their own stem.
fn stem(folded: &str) -> String {
    if folded.len() < 3 || folded.len() > 64 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return folded.to_owned();
    }
    if let Ok(at) = IRREGULAR.binary_search_by_key(&folded, |(form, _)| form) {
        return IRREGULAR.get(at).map_or(folded, |(_, base)| base).to_owned();
    }
    ENGLISH.with(|cell| cell.get_or_init(|| Stemmer::create(Algorithm::English)).stem(folded).into_owned())
}

/// Forms that no suffix rule reaches. Sorted; a test holds that.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("began", "begin"), ("begun", "begin"), ("born", "birth"), ("bought", "buy"), ("brought", "bring"),
    ("built", "build"), ("children", "child"), ("chose", "choos"), ("chosen", "choos"), ("drawn", "draw"),
    ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("flew", "fli"), ("flown", "fli"),
    ("gave", "give"), ("given", "give"), ("grew", "grow"), ("grown", "grow"), ("held", "hold"),
    ("kept", "keep"), ("led", "lead"), ("lent", "lend"), ("lost", "lose"), ("men", "man"),
    ("met", "meet"), ("paid", "pay"), ("people", "person"), ("ran", "run"), ("sent", "send"),
    ("sold", "sell"), ("spent", "spend"), ("spoken", "speak"), ("stolen", "steal"), ("taken", "take"),
    ("taught", "teach"), ("threw", "throw"), ("thrown", "throw"), ("took", "take"), ("women", "woman"),
    ("won", "win"), ("worn", "wear"), ("written", "write"), ("wrote", "write"),
];

/// Lower case, accents of Latin, Greek and Cyrillic off, compatibility forms replaced, joiners off.
fn fold_word(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd()
        .filter(|c| !matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}'))
        .flat_map(char::to_lowercase)
        .nfc()
        .map(without_stroke)
        .collect::<String>()
        .replace('ß', "ss")
}

/// A letter whose stroke is no accent of its own in Unicode.
fn without_stroke(c: char) -> char {
    match c {
        'ł' => 'l',
        'ø' => 'o',
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ŧ' => 't',
        'ı' => 'i',
        c => c,
    }
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

/// Runs of word characters with their offsets.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let tail = text.get(rest..)?;
        let begin = rest + tail.find(is_word_character)?;
        let tail = text.get(begin..)?;
        let length = tail.find(|c| !is_word_character(c)).unwrap_or(tail.len());
        rest = begin + length;
        Some((begin, tail.get(..length)?))
    })
}

/// Whether words of this character's script are written without spaces.
fn spaceless(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}' | '\u{0e00}'..='\u{0e7f}')
}

fn split_script(run: &str) -> Vec<(usize, &str)> {
    split_where(run, |before, after, _| spaceless(before) != spaceless(after))
}

fn humps(run: &str) -> Vec<(usize, &str)> {
    split_where(run, |before, after, next| {
        (before.is_lowercase() && after.is_uppercase())
            || (before.is_uppercase() && after.is_uppercase() && next.is_some_and(char::is_lowercase))
            || (before.is_numeric() != after.is_numeric() && !is_combining_mark(after))
    })
}

/// Cuts between two characters wherever `cut` says so; it sees the one before, the one after and the one after that.
fn split_where(text: &str, cut: impl Fn(char, char, Option<char>) -> bool) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if before.is_some_and(|before| cut(before, character, next)) {
            parts.push((start, text.get(start..at).unwrap_or_default()));
            start = at;
        }
        before = Some(character);
    }
    parts.push((start, text.get(start..).unwrap_or_default()));
    parts
}

/// Overlapping pairs of characters; a single character is itself.
fn pairs(run: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut bounds: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    bounds.push(run.len());
    let width = 2.min(bounds.len() - 1);
    let spans: Vec<(usize, usize)> =
        bounds.windows(width + 1).filter_map(|window| Some((*window.first()?, *window.last()?))).collect();
    spans.into_iter().filter_map(|(start, end)| Some((start, run.get(start..end)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folds(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.folded.as_str()).collect()
    }

    #[test]
    fn prose_splits_into_folded_words() {
        for (text, want) in [
            ("How many Bills?", &["how", "many", "bills"][..]),
            ("Café Zürich's", &["cafe", "zurich", "s"]),
            ("bill_no = 12.5", &["bill", "no", "12", "5"]),
            ("２０２６年", &["2026", "年"]),
            ("売上高は", &["売上", "上高", "高は"]),
            ("मासिक बिक्री", &["मासिक", "बिक्री"]),
            ("کتاب\u{200c}ها", &["کتابها"]),
            ("Straße", &["strasse"]),
            ("Łódź Tromsø", &["lodz", "tromso"]),
            ("?!", &[]),
        ] {
            assert_eq!(folds(&words(text)), want, "{text}");
        }
    }

    #[test]
    fn a_word_knows_where_it_stands() {
        let text = "Überweisungen, 売上高 now";
        for word in words(text) {
            assert!(text.get(word.start..word.end).is_some(), "{word:?}");
        }
        assert_eq!(&text[words(text)[0].start..words(text)[0].end], "Überweisungen");
    }

    #[test]
    fn names_split_at_humps_and_digits() {
        for (name, want) in [
            ("bill_items", &["bill", "items"][..]),
            ("sbCustAddress1", &["sb", "cust", "address", "1"]),
            ("HTTPServer", &["http", "server"]),
            ("CUSTOMER_ID", &["customer", "id"]),
            ("t2019_q3", &["t", "2019", "q", "3"]),
        ] {
            assert_eq!(folds(&name_parts(name)), want, "{name}");
        }
    }

    #[test]
    fn english_forms_of_a_word_share_a_stem() {
        for (a, b) in [
            ("categories", "category"),
            ("suppliers", "supplier"),
            ("sold", "selling"),
            ("paid", "pays"),
            ("written", "writes"),
            ("taught", "teaches"),
            ("chosen", "chooses"),
            ("flown", "flying"),
        ] {
            assert_eq!(words(a)[0].stem, words(b)[0].stem, "{a} {b}");
        }
    }

    #[test]
    fn texts_that_read_the_same_fold_to_the_same() {
        assert_eq!(folded("  Net   REVENUE "), folded("net-revenue"));
        assert_ne!(folded("%"), folded("#"));
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(IRREGULAR.is_sorted());
    }
}
