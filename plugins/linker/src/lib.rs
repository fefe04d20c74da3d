//! The built-in linker: plan to tables and columns, by names, notes, values and joins. It asks no model.

mod columns;
mod paths;
mod score;

use airlock_plugin_sdk::contract::catalog::{Join, TableDetail};
use airlock_plugin_sdk::contract::linker::{LinkInput, LinkStep, NoMatch, SelectedTable, Selection};
use airlock_plugin_sdk::explained;
use airlock_plugin_sdk::question::{names, stems};
use airlock_plugin_sdk::taught::Taught;
use airlock_plugin_sdk::words;
use airlock_plugin_sdk::{Attribute, Exchange, Host, Linker, StageError, TableRef};

use score::{Candidate, Word};

/// Tables that are looked at closely before the few are chosen.
const FUNNEL: u32 = 20;

/// Tables whose names are compared with a word that nothing knows.
const TABLES: usize = 500;

/// The linker stage.
#[derive(Debug, Clone, Copy)]
pub struct Funnel;

impl Linker for Funnel {
    fn run(host: &impl Host, input: LinkInput, _exchanges: Vec<Exchange>) -> Result<LinkStep, StageError> {
        if input.width == 0 {
            return Err(StageError::BadInput("width must be at least 1".into()));
        }
        let taught = Taught::new(host, &input.question);
        let (host, question) = (&taught, taught.question());
        let words = score::words(&input.plan.keywords, question);
        let told = score::told(host, question, &words);
        let sought = [words.as_slice(), told.words.as_slice()].concat();
        let candidates = score::candidates(host, question, &sought, FUNNEL);
        let mut unknown = score::unknown(&words, &candidates);
        // What a term means is looked for in its place.
        unknown
            .retain(|text| !words.iter().any(|word| word.text == *text && told.names.contains(&word.stem)));
        if candidates.is_empty() || head_is_unknown(&words, &unknown) {
            let mut reason = match unknown.as_slice() {
                [] => "Nothing in this data is known by its words.".to_owned(),
                unknown => explained::unknown(host, unknown),
            };
            reason.push_str(&meant(host, &unknown));
            return Ok(LinkStep::Nothing(NoMatch { reason, unknown_words: unknown }));
        }
        Ok(LinkStep::Done(select(host, candidates, &sought, unknown, input.width as usize)))
    }
}

airlock_plugin_sdk::export!(linker: Funnel);

/// `Did you mean …?` where a word is a slip of a table's name.
fn meant(host: &impl Host, unknown: &[String]) -> String {
    let names: Vec<String> = host
        .tables()
        .iter()
        .take(TABLES)
        .flat_map(|summary| names::name_words(&summary.table.name))
        .flat_map(|word| [format!("{word}s"), word])
        .collect();
    let found: Vec<String> = unknown
        .iter()
        .filter_map(|word| words::nearest(word, names.iter().map(String::as_str)))
        .map(|name| format!("`{name}`"))
        .collect();
    if found.is_empty() { String::new() } else { format!(" Did you mean {}?", found.join(", ")) }
}

/// True when no content word at all is known: anything selected would be a guess.
fn head_is_unknown(words: &[Word], unknown: &[String]) -> bool {
    !words.is_empty() && unknown.len() == words.len()
}

/// The best tables, what lies between them, and the joins that connect them.
fn select(
    host: &impl Host,
    candidates: Vec<Candidate>,
    words: &[Word],
    unknown: Vec<String>,
    width: usize,
) -> Selection {
    let mut chosen: Vec<Candidate> = candidates.into_iter().take(width).collect();
    paths::connect(host, &mut chosen, width);
    // Neighbours fill what room is left: an empty place helps nobody, and a key may lead to what was meant.
    paths::neighbours(host, &mut chosen, width);
    let refs: Vec<TableRef> = chosen.iter().map(|candidate| candidate.detail.summary.table.clone()).collect();
    let joins = joins_between(&chosen, &refs);
    let tables = chosen
        .iter()
        .map(|candidate| SelectedTable {
            table: candidate.detail.summary.table.clone(),
            columns: columns::of(candidate, words, &joins),
            reason: candidate.reason(),
            score: candidate.score,
        })
        .collect();
    let attributes = if unknown.is_empty() {
        Vec::new()
    } else {
        vec![Attribute {
            key: "unknown-words".into(),
            value: unknown.join(", ").chars().take(1_000).collect(),
        }]
    };
    Selection { tables, joins, attributes }
}

fn joins_between(chosen: &[Candidate], refs: &[TableRef]) -> Vec<Join> {
    let mut joins: Vec<Join> = Vec::new();
    for join in chosen.iter().flat_map(|candidate| &candidate.detail.joins) {
        let inside = refs.contains(&join.from) && refs.contains(&join.to);
        let known = joins.iter().any(|known| {
            known.from == join.from
                && known.to == join.to
                && known.from_columns == join.from_columns
                && known.to_columns == join.to_columns
        });
        if inside && !known {
            joins.push(join.clone());
        }
    }
    joins.sort_by_key(|join| !join.verified);
    joins.truncate(64);
    joins
}

/// The stems under which a relation is known: its name and its synonyms.
fn name_stems(detail: &TableDetail) -> Vec<String> {
    let mut found: Vec<String> = score::split(&detail.summary.table.name);
    for synonym in &detail.synonyms {
        found.extend(stems::content_stems(synonym));
    }
    found
}

#[cfg(test)]
mod tests;
