//! How near a relation is to the words of a question, and which words made it so.

use std::collections::{BTreeMap, BTreeSet};

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::question::sought::Sought;
use airlock_plugin_sdk::question::{names, stems, tokens};
use airlock_plugin_sdk::{Host, TableRef};

/// A match by a term of the glossary, which says in so many words which table is meant.
const TERM: f64 = 1.2;

/// Words of definitions that are looked for beside the question's own.
const TOLD: usize = 12;

/// A content word of the question.
#[derive(Debug, Clone)]
pub struct Word {
    /// As written.
    pub text: String,
    /// Its stem.
    pub stem: String,
}

/// A relation with what speaks for it.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The relation.
    pub detail: TableDetail,
    /// Its place in the host's ranking; the last place when it is not in it.
    pub place: usize,
    /// Whether a term of the glossary that the question names is measured in it.
    pub pinned: bool,
    /// The sum of what speaks for it.
    pub score: f64,
    /// Each word that matched: its weight and where it was found.
    pub matches: BTreeMap<String, (f64, &'static str)>,
    /// Its columns that the host's look-ups of columns and values found.
    pub columns: BTreeSet<String>,
    /// Why it is here although no word named it.
    pub bridge: Option<String>,
}

impl Candidate {
    /// One that is here for another reason than the question's words.
    pub fn beside(detail: TableDetail, score: f64, why: String) -> Self {
        let (matches, columns) = (BTreeMap::new(), BTreeSet::new());
        Self { detail, place: usize::MAX, pinned: false, score, matches, columns, bridge: Some(why) }
    }

    /// One sentence for people.
    pub fn reason(&self) -> String {
        if let Some(reason) = &self.bridge {
            return reason.clone();
        }
        let mut by_place: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (word, (_, place)) in &self.matches {
            by_place.entry(place).or_default().push(word);
        }
        let parts: Vec<String> =
            by_place.iter().map(|(place, words)| format!("{} in its {place}", words.join(", "))).collect();
        if parts.is_empty() {
            "Near to the question as a whole.".into()
        } else {
            format!("Matches {}.", parts.join("; "))
        }
    }
}

/// The content words to link: the plan's keywords, or the question's own when the plan has none.
pub fn words(keywords: &[String], question: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let text = if keywords.is_empty() { question.to_owned() } else { keywords.join(" ") };
    for token in tokens::tokenize(&text) {
        let content = matches!(token.kind, tokens::TokenKind::Word | tokens::TokenKind::Quoted)
            && !stems::is_function_word(&token.lower)
            && !stems::is_light(&token.lower);
        for part in tokens::tokenize(&token.text).into_iter().filter(|_| content) {
            if part.kind == tokens::TokenKind::Word
                && !found.iter().any(|word| word.stem == part.stem)
                && found.len() < 48
            {
                found.push(Word { text: part.lower, stem: part.stem });
            }
        }
    }
    found
}

/// What the glossary says of the question's words in words of its own, where it names no table: `TSC = total sales count`.
#[derive(Debug, Default)]
pub struct Told {
    /// Stems of the names that the question says.
    pub names: Vec<String>,
    /// The words of their definitions that the question has not.
    pub words: Vec<Word>,
}

/// Looks up the terms without a table that the question names in full.
pub fn told(host: &impl Host, question: &str, words: &[Word]) -> Told {
    let mut told = Told::default();
    for term in host.near_terms(question, 20) {
        let name = stems::content_stems(&term.name);
        let said = !name.is_empty() && name.iter().all(|stem| words.iter().any(|word| word.stem == *stem));
        if term.table.is_some() || !said {
            continue;
        }
        for word in self::words(&[], &term.definition).into_iter().take(TOLD) {
            let known = words.iter().chain(&told.words).any(|known| known.stem == word.stem);
            if !known && told.words.len() < TOLD {
                told.words.push(word);
            }
        }
        told.names.extend(name);
    }
    told
}

/// The stems of a catalogue name.
pub fn split(name: &str) -> Vec<String> {
    names::name_words(name).iter().map(|word| stems::stem(word)).collect()
}

/// What is looked for: the question as it was asked, and words that the plan has from elsewhere.
fn query(question: &str, words: &[Word]) -> String {
    // Words inside of quotes are the question's too.
    let quoted = self::words(&[], question);
    let mut asked = stems::content_stems(question);
    asked.extend(quoted.into_iter().map(|word| word.stem));
    let further = words.iter().filter(|word| !asked.contains(&word.stem)).map(|word| word.text.as_str());
    std::iter::once(question).chain(further).collect::<Vec<_>>().join(" ")
}

/// The nearest relations, dead ones left out, best first: what the glossary names, then the host's ranking (which weighs
/// words, values, vectors and what lies together), then what else has a word of the question.
pub fn candidates(host: &impl Host, question: &str, words: &[Word], funnel: u32) -> Vec<Candidate> {
    let query = query(question, words);
    let mut votes: Vec<(TableRef, f64)> = Vec::new();
    let mut vote = |table: &TableRef, amount: f64| match votes.iter_mut().find(|(known, _)| known == table) {
        Some((_, sum)) => *sum += amount,
        None => votes.push((table.clone(), amount)),
    };
    // Scores of different calls cannot be compared, ranks can.
    let rank = |place: usize| 1.0 / (60.0 + place as f64);
    let ranking: Vec<TableRef> = host.near_tables(&query, funnel).into_iter().map(|hit| hit.table).collect();
    for (place, table) in ranking.iter().enumerate() {
        vote(table, 2.0 * rank(place));
    }
    let columns = host.near_columns(&query, 50);
    for (place, hit) in columns.iter().enumerate() {
        vote(&hit.column.table, rank(place));
    }
    let values = host.near_values(question, 20);
    for (place, hit) in values.iter().enumerate() {
        vote(&hit.column.table, rank(place));
    }
    let terms = host.near_terms(question, 8);
    for (place, term) in terms.iter().enumerate() {
        if let Some(table) = &term.table {
            vote(table, 2.0 * rank(place));
        }
    }
    // A table whose very name is asked for is looked at even when retrieval ranks it low.
    for summary in host.tables() {
        let named = split(&summary.table.name);
        let spelled = summary.table.name.to_lowercase();
        let inside = |word: &Word| {
            named.contains(&word.stem) || (word.stem.len() >= 5 && spelled.contains(&word.stem))
        };
        if words.iter().any(inside) {
            vote(&summary.table, rank(0));
        }
    }
    let place = |table: &TableRef| ranking.iter().position(|ranked| ranked == table).unwrap_or(usize::MAX);
    votes.sort_by(|a, b| {
        let other =
            || b.1.total_cmp(&a.1).then_with(|| (&a.0.schema, &a.0.name).cmp(&(&b.0.schema, &b.0.name)));
        place(&a.0).cmp(&place(&b.0)).then_with(other)
    });
    votes.truncate(funnel as usize * 2);
    let sought = Sought::new(words.iter().map(|word| word.stem.as_str()));
    let mut found: Vec<Candidate> = Vec::new();
    for (table, votes) in votes {
        let Some(detail) = host.describe(&table).filter(|detail| detail.in_use) else { continue };
        let mut matches = matches(&detail, words, &sought);
        let mut pinned = false;
        for hit in values.iter().filter(|hit| hit.column.table == table) {
            let whole = stems::content_stems(&hit.value)
                .iter()
                .all(|stem| words.iter().any(|word| word.stem == *stem));
            for stem in sought.within(&hit.matched) {
                note(&mut matches, words, stem, if whole { 0.8 } else { 0.3 }, "values");
            }
        }
        for term in terms.iter().filter(|term| term.table.as_ref() == Some(&table)) {
            for name in std::iter::once(&term.name).chain(&term.synonyms) {
                let stems = stems::content_stems(name);
                if !stems.is_empty() && stems.iter().all(|stem| words.iter().any(|word| word.stem == *stem)) {
                    pinned = true;
                    for stem in stems {
                        note(&mut matches, words, &stem, TERM, "glossary terms");
                    }
                }
            }
        }
        let named: f64 = matches.values().map(|(weight, _)| weight).sum();
        let place = place(&table);
        if named > 0.0 || place < usize::MAX {
            let of_table = columns.iter().map(|hit| &hit.column).chain(values.iter().map(|hit| &hit.column));
            let columns = of_table.filter(|column| column.table == table);
            let columns = columns.map(|column| column.column.clone()).collect();
            found.push(Candidate {
                detail,
                place,
                pinned,
                score: named + votes * 6.0,
                matches,
                columns,
                bridge: None,
            });
        }
    }
    found.sort_by(|a, b| {
        let by = |candidate: &Candidate| (!candidate.pinned, candidate.place);
        by(a).cmp(&by(b)).then_with(|| b.score.total_cmp(&a.score))
    });
    found
}

fn note(
    matches: &mut BTreeMap<String, (f64, &'static str)>,
    words: &[Word],
    stem: &str,
    weight: f64,
    place: &'static str,
) {
    let Some(word) = words.iter().find(|word| word.stem == stem) else { return };
    let better = matches.get(&word.text).is_none_or(|(known, _)| *known < weight);
    if better {
        matches.insert(word.text.clone(), (weight, place));
    }
}

fn matches(detail: &TableDetail, words: &[Word], sought: &Sought) -> BTreeMap<String, (f64, &'static str)> {
    let mut matches = BTreeMap::new();
    let name = split(&detail.summary.table.name);
    let joined = name.concat();
    for word in words {
        if name.contains(&word.stem) {
            // The whole name counts more than a part of it.
            let weight = if name.len() == 1 || joined == word.stem { 1.5 } else { 0.9 };
            note(&mut matches, words, &word.stem, weight, "name");
        } else if detail.summary.table.name.to_lowercase().contains(&word.stem) && word.stem.len() >= 5 {
            note(&mut matches, words, &word.stem, 0.9, "name");
        }
    }
    for synonym in &detail.synonyms {
        let stems = stems::content_stems(synonym);
        for stem in &stems {
            note(&mut matches, words, stem, if stems.len() == 1 { 1.4 } else { 0.7 }, "synonyms");
        }
    }
    for column in &detail.columns {
        let name = split(&column.name);
        // A key column names the other table, not this one.
        let key = name.last().is_some_and(|last| last == "id");
        let spelled = column.name.to_lowercase();
        for word in words {
            let inside = name.contains(&word.stem) || (word.stem.len() >= 5 && spelled.contains(&word.stem));
            if inside {
                note(&mut matches, words, &word.stem, if key { 0.45 } else { 0.9 }, "columns");
            }
        }
        for synonym in &column.synonyms {
            for stem in sought.within(synonym) {
                note(&mut matches, words, stem, if key { 0.45 } else { 0.9 }, "columns");
            }
        }
        for label in column.enum_labels.iter().chain(&column.samples) {
            for stem in sought.within(label) {
                note(&mut matches, words, stem, 0.6, "values");
            }
        }
        for stem in sought.within(&column.description) {
            note(&mut matches, words, stem, 0.3, "notes");
        }
    }
    for stem in sought.within(&detail.summary.description) {
        note(&mut matches, words, stem, 0.4, "notes");
    }
    let named = super::name_stems(detail);
    for word in words {
        let kin = named.iter().any(|name| stems::kin(name, &word.stem));
        if kin {
            note(&mut matches, words, &word.stem, 0.5, "name");
        }
    }
    matches
}

/// Words that no candidate explains, in the order of the question.
pub fn unknown(words: &[Word], candidates: &[Candidate]) -> Vec<String> {
    words
        .iter()
        .filter(|word| !candidates.iter().any(|candidate| candidate.matches.contains_key(&word.text)))
        .map(|word| word.text.clone())
        .collect()
}
