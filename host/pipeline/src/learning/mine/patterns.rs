//! Patterns in how a domain is used, found by counting: what several asks, queries and corrections have in common.

use std::collections::{BTreeMap, BTreeSet};

use airlock_gate::{ComparedLiteral, Facts, canonical};
use airlock_knowledge::index::words::{is_stop_word, words};
use airlock_knowledge::pack::{Addition, LessonKind};
use airlock_knowledge::store::{Content, ExampleContent, LessonContent};
use airlock_types::ColumnRef;
use serde::Serialize;

use super::joins;

/// Signals that must share a join, a text, or a word nothing is known by.
const SHARED: usize = 3;
/// Corrections that must say the same.
const CORRECTED: usize = 2;
/// Patterns of one kind.
const PATTERNS: usize = 50;
/// Signals that a pattern names.
const NAMED: usize = 20;

/// What kind of pattern it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// Answers over the same tables were corrected.
    Correction,
    /// A word means another column than was taken.
    ColumnClarification,
    /// Tables are joined in a way that no key says.
    JoinPattern,
    /// The same is asked again and again.
    CommonQuery,
    /// A word stands for a condition.
    BusinessTerm,
    /// A word is asked for that nothing is known by.
    DocumentationGap,
}

/// A pattern and what it would become.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// Its kind.
    pub kind: PatternKind,
    /// What it says, for a person.
    pub says: String,
    /// How often it was seen.
    pub seen: usize,
    /// The signals or verdicts it was seen in, some of them.
    pub signals: Vec<String>,
    /// What is handed in as a candidate; a gap in what is written is for people alone.
    pub content: Option<Content>,
    /// What it would add to the pack, which a person may do instead.
    pub adds: Option<Addition>,
}

/// An ask or a query, as far as it is counted.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its identity.
    pub id: String,
    /// The question.
    pub question: Option<String>,
    /// The SQL.
    pub sql: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// Whether something failed on the way.
    pub failed: bool,
}

/// A verdict, as far as it is counted.
#[derive(Debug, Clone)]
pub struct Told {
    /// Its identity.
    pub id: String,
    /// The ask that it is about.
    pub ask: String,
    /// The question.
    pub question: Option<String>,
    /// What was answered by.
    pub sql: Option<String>,
    /// What would be right.
    pub corrected_sql: Option<String>,
}

/// What was counted over.
pub struct Usage<'a> {
    /// Asks and queries.
    pub signals: &'a [Seen],
    /// Verdicts, the last one first.
    pub feedback: &'a [Told],
    /// What a text reads, when the gate lets it run and it may be learned from.
    pub facts: &'a (dyn Fn(&str) -> Option<Facts> + Sync),
    /// Whether something in the domain is known by a word.
    pub known: &'a (dyn Fn(&str) -> bool + Sync),
    /// Whether the domain vouches for a join already.
    pub joined: &'a (dyn Fn(&ColumnRef, &ColumnRef) -> bool + Sync),
    /// Whether a column alone tells the rows of its table apart.
    pub unique: &'a (dyn Fn(&ColumnRef) -> bool + Sync),
}

/// A correction that can be compared with what was answered.
struct Corrected<'a> {
    id: String,
    question: &'a str,
    words: BTreeSet<String>,
    right: Facts,
    wrong: Option<Facts>,
}

impl Usage<'_> {
    /// The patterns, those of each kind that were seen most first.
    #[must_use]
    pub fn patterns(&self) -> Vec<Pattern> {
        let corrected = self.corrected();
        let mut found = Vec::new();
        for mut of_kind in [
            corrections(&corrected),
            clarifications(&corrected),
            self.joins(),
            self.common(),
            terms(&corrected),
            self.gaps(),
        ] {
            of_kind.sort_by(|a, b| b.seen.cmp(&a.seen).then_with(|| a.says.cmp(&b.says)));
            of_kind.truncate(PATTERNS);
            found.extend(of_kind);
        }
        found
    }

    fn corrected(&self) -> Vec<Corrected<'_>> {
        // Of the corrections of one ask the last counts, which comes first.
        let mut asks: BTreeSet<&str> = BTreeSet::new();
        let corrections = self.feedback.iter().filter(|row| row.corrected_sql.is_some());
        let each = corrections.filter(|row| asks.insert(row.ask.as_str())).filter_map(|row| {
            let question = row.question.as_deref()?;
            Some(Corrected {
                id: row.id.clone(),
                question,
                words: content(question),
                right: (self.facts)(row.corrected_sql.as_deref()?)?,
                wrong: row.sql.as_deref().and_then(self.facts),
            })
        });
        each.collect()
    }

    fn joins(&self) -> Vec<Pattern> {
        let mut seen: BTreeMap<(String, String), (Vec<String>, ColumnRef, ColumnRef)> = BTreeMap::new();
        for signal in self.signals {
            let Some(facts) = signal.sql.as_deref().and_then(self.facts) else { continue };
            let sql = signal.sql.as_deref().unwrap_or_default();
            for (one, other) in joins::of(sql, &facts) {
                if (self.joined)(&one, &other) {
                    continue;
                }
                let key = (one.to_string(), other.to_string());
                let entry = seen.entry(key).or_insert_with(|| (Vec::new(), one, other));
                if !entry.0.contains(&signal.id) {
                    entry.0.push(signal.id.clone());
                }
            }
        }
        let found = seen.into_values().filter(|(signals, ..)| signals.len() >= SHARED);
        found
            .filter_map(|(signals, one, other)| {
                // Rows belong to the side whose column tells its rows apart.
                let (from, to) = match ((self.unique)(&one), (self.unique)(&other)) {
                    (false, true) => (one, other),
                    (true, false) => (other, one),
                    _ => return None,
                };
                let says = format!(
                    "Each row of `{0}` belongs to one of `{1}` by `{0}.{2} = {1}.{3}`.",
                    from.table.name, to.table.name, from.column, to.column
                );
                let trigger = format!("{} {}", from.table.name, to.table.name).replace('_', " ");
                let found = pattern(PatternKind::JoinPattern, signals, says, LessonKind::SchemaMap, &trigger);
                Some(Pattern { adds: Some(Addition::Join { from, to }), ..found })
            })
            .collect()
    }

    fn common(&self) -> Vec<Pattern> {
        let mut seen: BTreeMap<String, Vec<&Seen>> = BTreeMap::new();
        for signal in self.signals.iter().filter(|signal| !signal.failed) {
            if let Some(text) = signal.sql.as_deref().and_then(|sql| canonical(sql).ok()) {
                seen.entry(text).or_default().push(signal);
            }
        }
        let found = seen.into_values().filter(|signals| signals.len() >= SHARED);
        found
            .filter_map(|signals| {
                // Nobody can be told an example that was never put into words.
                let (question, sql) =
                    signals.iter().find_map(|one| Some((one.question.clone()?, one.sql.clone()?)))?;
                (self.facts)(&sql)?;
                let says = format!("It is asked again and again: {question}");
                let content = ExampleContent { question, sql, scope: Vec::new() }.into();
                let ids: Vec<String> = signals.iter().map(|signal| signal.id.clone()).collect();
                let (kind, seen) = (PatternKind::CommonQuery, ids.len());
                let signals = ids.into_iter().take(NAMED).collect();
                Some(Pattern { kind, says, seen, signals, content: Some(content), adds: None })
            })
            .collect()
    }

    fn gaps(&self) -> Vec<Pattern> {
        let mut seen: BTreeMap<String, Vec<&Seen>> = BTreeMap::new();
        for signal in self.signals.iter().filter(|signal| signal.outcome == "refused") {
            for word in content(signal.question.as_deref().unwrap_or_default()) {
                seen.entry(word).or_default().push(signal);
            }
        }
        let found = seen.into_iter().filter(|(word, signals)| signals.len() >= SHARED && !(self.known)(word));
        found
            .map(|(word, signals)| {
                let first = signals.first().and_then(|signal| signal.question.as_deref()).unwrap_or_default();
                let says = format!(
                    "Nothing is known by `{word}`, which {} refused questions have, such as `{first}`. If it is a \
                     column's, add to its notes: synonyms = [\"{word}\"]; if it is a measure or a condition, make it a term \
                     of the glossary.",
                    signals.len()
                );
                let ids = signals.iter().map(|signal| signal.id.clone()).take(NAMED).collect();
                Pattern {
                    kind: PatternKind::DocumentationGap,
                    says,
                    seen: signals.len(),
                    signals: ids,
                    content: None,
                    adds: None,
                }
            })
            .collect()
    }
}

fn pattern(
    kind: PatternKind,
    signals: Vec<String>,
    says: String,
    about: LessonKind,
    trigger: &str,
) -> Pattern {
    let content = LessonContent {
        kind: about,
        text: says.clone(),
        trigger: trigger.to_owned(),
        tags: vec!["mined".to_owned()],
        scope: Vec::new(),
    };
    let seen = signals.len();
    Pattern {
        kind,
        says,
        seen,
        signals: signals.into_iter().take(NAMED).collect(),
        content: Some(content.into()),
        adds: None,
    }
}

/// Words of a question that carry content.
fn content(question: &str) -> BTreeSet<String> {
    let words = words(question).into_iter().map(|word| word.folded);
    words
        .filter(|word| word.len() > 2 && !is_stop_word(word) && word.chars().all(char::is_alphabetic))
        .collect()
}

/// Answers over the same tables that were corrected.
fn corrections(corrected: &[Corrected<'_>]) -> Vec<Pattern> {
    let mut seen: BTreeMap<Vec<String>, Vec<&Corrected<'_>>> = BTreeMap::new();
    for one in corrected {
        let mut tables: Vec<String> = one.right.tables.iter().map(ToString::to_string).collect();
        tables.sort();
        seen.entry(tables).or_default().push(one);
    }
    seen.into_iter()
        .filter(|(tables, each)| !tables.is_empty() && each.len() >= CORRECTED)
        .filter_map(|(tables, each)| {
            let mut shared: Option<BTreeSet<String>> = None;
            for one in &each {
                let columns: BTreeSet<String> = one.right.columns.iter().map(ToString::to_string).collect();
                shared = Some(shared.map_or_else(|| columns.clone(), |all| &all & &columns));
            }
            // Corrections that share nothing say nothing together.
            let columns: Vec<String> = shared.filter(|columns| !columns.is_empty())?.into_iter().collect();
            let says = format!(
                "{} answers over {} were corrected; what is right reads {} each time.",
                each.len(),
                tables.join(", "),
                columns.join(", ")
            );
            let trigger = each.first()?.question.to_owned();
            let ids = each.iter().map(|one| one.id.clone()).collect();
            let kind = PatternKind::Correction;
            Some(pattern(kind, ids, says, LessonKind::ResolutionPattern, &trigger))
        })
        .collect()
}

/// A word of the question for which one column was read and another column of the same table is right.
fn clarifications(corrected: &[Corrected<'_>]) -> Vec<Pattern> {
    let mut seen: BTreeMap<(String, Meaning), Vec<String>> = BTreeMap::new();
    for one in corrected {
        let Some(wrong) = &one.wrong else { continue };
        let only = |a: &Facts, b: &Facts| -> Vec<ColumnRef> {
            a.columns.iter().filter(|column| !b.columns.contains(column)).cloned().collect()
        };
        let (added, removed) = (only(&one.right, wrong), only(wrong, &one.right));
        if let ([added], [removed]) = (added.as_slice(), removed.as_slice())
            && added.table == removed.table
        {
            for word in &one.words {
                let sql = format!("{}.{}", added.table.name, added.column);
                let meaning = Meaning { sql, column: added.clone() };
                seen.entry((word.clone(), meaning)).or_default().push(one.id.clone());
            }
        }
    }
    mapped(seen, PatternKind::ColumnClarification)
}

/// A word for which the right text has a condition each time, and whose value nobody said.
fn terms(corrected: &[Corrected<'_>]) -> Vec<Pattern> {
    let mut seen: BTreeMap<(String, Meaning), Vec<String>> = BTreeMap::new();
    for one in corrected {
        let plain = |literal: &&ComparedLiteral| literal.operator == "=" && literal.folded.is_none();
        for literal in one.right.literals.iter().filter(plain) {
            let value = literal.literal.as_str();
            let split = |text: &str| -> BTreeSet<String> {
                text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
            };
            let said = split(value).is_subset(&split(one.question));
            if said || value.is_empty() || value.contains(['\'', '`']) || value.parse::<f64>().is_ok() {
                continue;
            }
            let sql = format!("{}.{} = '{value}'", literal.column.table.name, literal.column.column);
            let meaning = Meaning { sql, column: literal.column.clone() };
            for word in &one.words {
                seen.entry((word.clone(), meaning.clone())).or_default().push(one.id.clone());
            }
        }
    }
    // A word that also stands where the condition is not needed means something else.
    seen.retain(|(word, _), ids| {
        corrected.iter().filter(|one| one.words.contains(word)).count() == ids.len()
    });
    mapped(seen, PatternKind::BusinessTerm)
}

/// What a word may mean: a column, or a condition over it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    sql: String,
    column: ColumnRef,
}

/// One rule for what several words may mean: the words that were seen most, and of those the longest.
fn mapped(seen: BTreeMap<(String, Meaning), Vec<String>>, kind: PatternKind) -> Vec<Pattern> {
    let mut best: BTreeMap<Meaning, (String, Vec<String>)> = BTreeMap::new();
    let told = |word: &str, sql: &str, ids| {
        pattern(kind, ids, format!("Here `{word}` means `{sql}`."), LessonKind::SchemaMap, word)
    };
    // A word of grammar or of time is given no meaning.
    let fits =
        |word: &str, sql: &str| told(word, sql, Vec::new()).content.is_some_and(|it| it.check().is_ok());
    for ((word, meaning), ids) in seen.into_iter().filter(|(_, ids)| ids.len() >= CORRECTED) {
        if !fits(&word, &meaning.sql) {
            continue;
        }
        let better =
            best.get(&meaning).is_none_or(|(known, of)| (ids.len(), word.len()) > (of.len(), known.len()));
        if better {
            best.insert(meaning, (word, ids));
        }
    }
    best.into_iter()
        .map(|(Meaning { sql, column }, (word, ids))| {
            let found = told(&word, &sql, ids);
            let adds = match kind {
                PatternKind::BusinessTerm => Addition::Term { word, table: column.table, filter: sql },
                _ => Addition::Synonym { column, word },
            };
            Pattern { adds: Some(adds), ..found }
        })
        .collect()
}

#[cfg(test)]
mod tests;
