//! A verified example asked again: the same question up to case, punctuation and word forms, or up to its values too. Then
//! the values of the new question take the place of the old ones in its SQL, which is checked like any other.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::retrieval::Example;
use airlock_plugin_sdk::contract::types::ColumnRef;
use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::moments::{Found, Period};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{TokenKind, tokenize};

use crate::print;
use crate::schema::covered;

/// An example with the values of the question at hand.
#[derive(Debug, Clone)]
pub struct Reused {
    /// Its id.
    pub id: String,
    /// Its SQL, values put in.
    pub sql: String,
    /// What was put in place of what.
    pub told: Vec<String>,
}

/// A piece of a question: a word, or something that may be another one.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Word(String),
    Number(String),
    Quoted(String),
    Time(Period, String),
    /// A value, and the columns that hold it.
    Value(Vec<ColumnRef>, String),
}

/// An example that asks the very question, or the question with other values.
pub fn found(host: &impl Host, question: &str, clock: &Clock) -> Option<Reused> {
    let reading = Reading::new(question, clock);
    // Words such as `last month` mean another time each day; their SQL is not to be taken over.
    let asked = pieces(host, question, &reading);
    if asked.is_empty() {
        return None;
    }
    let mut near: Option<Reused> = None;
    for example in host.near_examples(question, 8) {
        let known = Reading::new(&example.question, clock);
        let fixed = !known.moments.iter().any(moving);
        if !fixed && !tells_from_today(&example.sql) {
            continue;
        }
        let pieces = pieces(host, &example.question, &known);
        if pieces == asked && (!fixed || !reading.moments.iter().any(moving)) {
            return Some(Reused { id: example.id, sql: example.sql, told: Vec::new() });
        }
        if near.is_none() {
            near = bound(host, &example, &pieces, &asked);
        }
    }
    near
}

/// True for a time that is told from today.
fn moving(found: &Found) -> bool {
    !found
        .label
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit()))
}

/// True for a text whose times move with the day by themselves, and all of them: beside a day or a year that is written
/// down, half of the text would stay behind.
fn tells_from_today(sql: &str) -> bool {
    let lower = sql.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let dated = words.any(|word| {
        let digits = matches!(word.len(), 4 | 8) && word.bytes().all(|byte| byte.is_ascii_digit());
        digits && (word.starts_with("19") || word.starts_with("20"))
    });
    !dated && ["current_date", "current_timestamp", "now()"].iter().any(|word| lower.contains(word))
}

/// The example with the values of the question, when nothing else differs and each value stands in its SQL just once, or in
/// comparisons of one column alone.
fn bound(host: &impl Host, example: &Example, known: &[Piece], asked: &[Piece]) -> Option<Reused> {
    if known.len() != asked.len() {
        return None;
    }
    let mut sql = example.sql.clone();
    let mut told = Vec::new();
    let mut words = 0;
    let mut times = Vec::new();
    for (old, new) in known.iter().zip(asked) {
        match (old, new) {
            (Piece::Word(a), Piece::Word(b)) if a == b => words += 1,
            (a, b) if a == b => {}
            (Piece::Number(a), Piece::Number(b)) => sql = numbered(&sql, a, b)?,
            (Piece::Quoted(a), Piece::Quoted(b)) => sql = compared(host, &sql, (a, b), |_| true)?,
            (Piece::Value(columns, a), Piece::Value(others, b)) => {
                let shared = |column: &ColumnRef| columns.contains(column) && others.contains(column);
                if !columns.iter().any(shared) {
                    return None;
                }
                sql = compared(host, &sql, (a, b), shared)?;
            }
            (Piece::Time(a, _), Piece::Time(b, _)) => {
                sql = moved(&sql, a, b)?;
                times.push(*b);
            }
            _ => return None,
        }
        if old != new {
            told.push(format!("`{}` takes the place of `{}`.", shown(new), shown(old)));
        }
    }
    if !times.is_empty() && !held(host, &sql, &times)? {
        return None;
    }
    if bars(host, &example.sql, known, asked) {
        return None;
    }
    (words > 0 && !told.is_empty()).then(|| Reused { id: example.id.clone(), sql, told })
}

/// Whether a text may bar the new values by what its question does not say: a literal that is compared with the column of an
/// exchanged value, or with a key, such as the numbers of the rows that the old value was asked for without.
fn bars(host: &impl Host, sql: &str, known: &[Piece], asked: &[Piece]) -> bool {
    let value = |piece: &Piece| matches!(piece, Piece::Number(_) | Piece::Quoted(_) | Piece::Value(..));
    let exchanged = known.iter().zip(asked).filter(|(old, new)| old != new && value(old));
    let exchanged: Vec<String> = exchanged.map(|(old, _)| shown(old).to_lowercase()).collect();
    if exchanged.is_empty() {
        return false;
    }
    let Ok(facts) = host.check(sql) else { return true };
    let bare = |literal: &str| literal.trim_matches('%').to_lowercase();
    let columns: Vec<&ColumnRef> = facts
        .literals
        .iter()
        .filter(|place| exchanged.contains(&bare(&place.literal)))
        .map(|place| &place.column)
        .collect();
    facts.literals.iter().any(|place| {
        let said =
            known.iter().any(|piece| value(piece) && shown(piece).to_lowercase() == bare(&place.literal));
        !said && (columns.contains(&&place.column) || is_key(host, &place.column))
    })
}

/// Whether a column is a key of its table or points to one.
fn is_key(host: &impl Host, column: &ColumnRef) -> bool {
    host.describe(&column.table).is_some_and(|detail| {
        detail.primary_key.contains(&column.column)
            || detail.joins.iter().any(|join| {
                (join.from == column.table && join.from_columns.contains(&column.column))
                    || (join.to == column.table && join.to_columns.contains(&column.column))
            })
    })
}

/// Whether the tables of a text hold rows of all these times, as their notes tell: an example of this year's table says
/// nothing of a year that lies in the archive.
fn held(host: &impl Host, sql: &str, times: &[Period]) -> Option<bool> {
    let mut covers = Vec::new();
    for table in host.check(sql).ok()?.tables {
        let range = covered(&host.describe(&table)?);
        if range != (None, None) {
            covers.push(range);
        }
    }
    // A table without a beginning or an end has rows of any time before or after.
    let from = covers.iter().map(|(from, _)| *from).min().flatten();
    let until = if covers.iter().any(|(_, until)| until.is_none()) {
        None
    } else {
        covers.iter().filter_map(|(_, until)| *until).max()
    };
    Some(times.iter().all(|time| {
        from.is_none_or(|first| time.from.is_some_and(|from| from >= first))
            && until.is_none_or(|last| time.until.is_some_and(|until| until <= last))
    }))
}

fn shown(piece: &Piece) -> &str {
    match piece {
        Piece::Word(text)
        | Piece::Number(text)
        | Piece::Quoted(text)
        | Piece::Time(_, text)
        | Piece::Value(_, text) => text,
    }
}

/// The text with another value in the place of one that it compares a column with, inside a pattern too. The column is one
/// that may hold both values; where nobody says what is compared, the value stands in the text once.
fn compared(
    host: &impl Host,
    sql: &str,
    (old, new): (&str, &str),
    may_hold: impl Fn(&ColumnRef) -> bool,
) -> Option<String> {
    let (before, after) = (print::text(old), print::text(new));
    let facts = host.check(sql).ok()?;
    if facts.literals.is_empty() {
        return once(sql, &before, &after, true);
    }
    let bare = |literal: &str| literal.trim_matches('%').to_lowercase();
    let mut places: Vec<_> =
        facts.literals.iter().filter(|place| bare(&place.literal) == old.to_lowercase()).collect();
    let column = &places.first()?.column;
    if !may_hold(column) || places.iter().any(|place| place.column != *column) {
        return None;
    }
    let (old, new) = (before.get(1..before.len() - 1)?, after.get(1..after.len() - 1)?);
    places.sort_by_key(|place| std::cmp::Reverse(place.start));
    places.dedup_by_key(|place| place.start);
    let mut text = sql.to_owned();
    for place in places {
        let written = text.get(place.start as usize..place.end as usize)?.to_owned();
        if written == before {
            text.replace_range(place.start as usize..place.end as usize, &after);
            continue;
        }
        let from = written.to_ascii_lowercase().find(&old.to_ascii_lowercase())?;
        let (lead, rest) = (written.get(..from)?, written.get(from + old.len()..)?);
        // What is compared in small letters stays in small letters.
        let small = !written.chars().any(char::is_uppercase);
        let put = if small { new.to_lowercase() } else { new.to_owned() };
        text.replace_range(place.start as usize..place.end as usize, &format!("{lead}{put}{rest}"));
    }
    Some(text)
}

/// The text with one piece replaced, when it stands there once and on its own.
fn once(sql: &str, old: &str, new: &str, literal: bool) -> Option<String> {
    let alone = |at: &usize| {
        let apart =
            |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '\'')));
        let before = sql.get(..*at).and_then(|text| text.chars().next_back());
        let after = sql.get(at + old.len()..).and_then(|text| text.chars().next());
        literal || (apart(before) && apart(after))
    };
    let places: Vec<usize> = sql.match_indices(old).map(|(at, _)| at).filter(alone).collect();
    let [at] = places.as_slice() else { return None };
    Some(format!("{}{new}{}", sql.get(..*at)?, sql.get(at + old.len()..)?))
}

/// The text with another number, which has its sign: below zero nothing is limited, and behind a sign it is no number.
fn numbered(sql: &str, old: &str, new: &str) -> Option<String> {
    let text = once(sql, old, new, false)?;
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let spoiled = ["--", "- -", "limit -", "offset -"].iter().any(|bad| words.contains(bad));
    (!new.starts_with('-') || !spoiled).then_some(text)
}

/// The text with both ends of a period moved, or its year.
fn moved(sql: &str, old: &Period, new: &Period) -> Option<String> {
    let ((Some(from), Some(until)), (Some(other), Some(end))) =
        ((old.from, old.until), (new.from, new.until))
    else {
        return None;
    };
    let day = |date: &dyn std::fmt::Display| format!("'{date}'");
    // The new end may be the old beginning, so both are taken out first.
    if let Some(text) =
        once(sql, &day(&from), "'\u{1}'", true).and_then(|text| once(&text, &day(&until), "'\u{2}'", true))
    {
        return Some(text.replace("'\u{1}'", &day(&other)).replace("'\u{2}'", &day(&end)));
    }
    let year = |period: &Period| {
        let (from, until) = (period.from?, period.until?);
        (period.whole_years() && until.year() == from.year() + 1).then(|| from.year().to_string())
    };
    once(sql, &year(old)?, &year(new)?, false)
}

/// Content words in order, as stems, with values and times as what they are.
fn pieces(host: &impl Host, question: &str, reading: &Reading) -> Vec<Piece> {
    let values: Vec<(ColumnRef, String, Vec<String>)> = host
        .near_values(question, 20)
        .into_iter()
        .map(|hit| {
            let words = tokenize(&hit.value).into_iter().map(|token| token.lower).collect();
            (hit.column, hit.value, words)
        })
        .filter(|(_, _, words): &(_, _, Vec<String>)| !words.is_empty())
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = reading.tokens.get(at) {
        if let Some(moment) = reading.moments.iter().find(|moment| moment.first == at) {
            found.push(Piece::Time(moment.period, moment.label.clone()));
            at = moment.end;
            continue;
        }
        let spelled = values
            .iter()
            .filter(|(_, _, words)| {
                words.iter().enumerate().all(|(step, word)| {
                    reading.tokens.get(at + step).is_some_and(|token| token.lower == *word)
                })
            })
            .max_by_key(|(_, _, words)| words.len());
        if let Some((_, value, words)) = spelled {
            let same = values.iter().filter(|(_, other, _)| other.eq_ignore_ascii_case(value));
            let mut columns: Vec<ColumnRef> = same.map(|(column, ..)| column.clone()).collect();
            let name = |column: &ColumnRef| {
                (column.table.schema.clone(), column.table.name.clone(), column.column.clone())
            };
            columns.sort_by_key(name);
            columns.dedup();
            found.push(Piece::Value(columns, value.clone()));
            at += words.len();
            continue;
        }
        at += 1;
        let next = reading.tokens.get(at).filter(|next| next.kind == TokenKind::Number);
        match token.kind {
            TokenKind::Mark => {
                let before = at.checked_sub(2).and_then(|before| reading.tokens.get(before));
                let open =
                    before.is_none_or(|before| before.end < token.start || before.kind == TokenKind::Mark);
                let signed =
                    next.filter(|_| open && matches!(token.lower.as_str(), "-" | "\u{2212}" | "\u{2013}"));
                match signed {
                    Some(number) if number.start == token.end => {
                        found.push(Piece::Number(format!("-{}", number.text)));
                        at += 1;
                    }
                    // A sign or a dash: what may be another question is one.
                    Some(_) => found.push(Piece::Word("-".to_owned())),
                    None => {}
                }
            }
            TokenKind::Quoted => found.push(Piece::Quoted(token.text.clone())),
            TokenKind::Number => found.push(Piece::Number(token.text.clone())),
            // A word of politeness or of asking does not tell questions apart.
            TokenKind::Word if is_filler(&token.lower) => {}
            TokenKind::Word => match stems::number(&token.lower) {
                Some(value) => found.push(Piece::Number(print::number(value))),
                None => found.push(Piece::Word(stems::stem(&token.lower))),
            },
        }
    }
    found
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "please" | "the" | "a" | "an" | "our" | "we" | "do" | "did" | "me" | "is" | "are" | "was" | "were"
    )
}
