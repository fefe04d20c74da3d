//! Which column dates the rows that a question speaks of.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::moments::Period;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use crate::build::Context;
use crate::frame::{Frame, Key, Measure};
use crate::joins::Tree;
use crate::refuse::Why;
use crate::schema::{Family, Schema};

/// Words of columns that record when a row was written, not when the thing happened.
const AUDIT: &[&str] =
    &["creat", "updat", "modifi", "modify", "insert", "delet", "load", "sync", "import", "crtd"];
/// Words of columns that date something other than the row's event.
const ASIDE: &[&str] = &["birth", "death", "expir", "expiri", "du", "due", "terminat", "end", "birthdat"];

/// Words of dates on which a thing came to be.
const BEGINS: &[&str] =
    &["join", "sign", "registered", "enroll", "start", "open", "since", "created", "begin", "hire", "admit"];

/// True for the stem of a word such as `joined` or `since`.
pub fn begins(stem: &str) -> bool {
    BEGINS.iter().any(|word| stems::kin(&stems::stem(word), stem))
}

/// The column that dates a table's rows by itself: named by notes, or the only likely one.
pub fn own(context: &Context<'_>, table: usize) -> Result<Option<usize>, Why> {
    let Some(detail) = context.schema.table(table) else { return Ok(None) };
    if let Some(told) = hinted(context, table) {
        return Ok(Some(told));
    }
    if let Some(time) = detail.time {
        return Ok(Some(time));
    }
    let all: Vec<usize> = columns(context.schema, table);
    let has = |at: &usize, words: &[&str]| {
        detail
            .columns
            .get(*at)
            .is_some_and(|column| column.names.iter().flatten().any(|stem| words.contains(&stem.as_str())))
    };
    let events: Vec<usize> = all.iter().copied().filter(|at| !has(at, AUDIT) && !has(at, ASIDE)).collect();
    if let [only] = events.as_slice() {
        return Ok(Some(*only));
    }
    if events.is_empty() {
        let audit: Vec<usize> = all.iter().copied().filter(|at| has(at, &["creat", "crtd"])).collect();
        return Ok(match audit.as_slice() {
            [only] => Some(*only),
            _ => None,
        });
    }
    // `order_date` of orders, or plain `date`.
    let plain: Vec<usize> = events
        .iter()
        .copied()
        .filter(|at| {
            detail.columns.get(*at).is_some_and(|column| {
                column.names.iter().any(|name| {
                    let rest: Vec<&String> = name
                        .iter()
                        .filter(|stem| !matches!(stem.as_str(), "dat" | "date" | "time" | "timestamp"))
                        .collect();
                    rest.iter().all(|stem| detail.names.iter().any(|name| name.contains(stem)))
                })
            })
        })
        .collect();
    match plain.as_slice() {
        [only] => Ok(Some(*only)),
        _ => {
            let names: Vec<String> = events
                .iter()
                .filter_map(|at| detail.columns.get(*at))
                .map(|column| format!("`{}`", column.name))
                .collect();
            Err(Why::Ambiguous(format!("{} has several dates ({})", detail.reference.name, names.join(", "))))
        }
    }
}

/// A time column whose name shares a word with a verb of the question: `hired` and `hire_date`.
fn hinted(context: &Context<'_>, table: usize) -> Option<usize> {
    let detail = context.schema.table(table)?;
    let verbs: Vec<&str> = context
        .reading
        .tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Word && !stems::is_function_word(&token.lower))
        .map(|token| token.stem.as_str())
        .collect();
    // `signed up` for `signup_date`.
    let joined: Vec<String> = context
        .reading
        .tokens
        .windows(2)
        .map(|pair| pair.iter().map(|token| token.stem.as_str()).collect())
        .collect();
    let told: Vec<usize> = columns(context.schema, table)
        .into_iter()
        .filter(|at| {
            detail.columns.get(*at).is_some_and(|column| {
                column.names.iter().flatten().any(|stem| {
                    let own = detail.names.iter().any(|name| name.contains(stem));
                    let generic = matches!(stem.as_str(), "dat" | "date" | "time" | "day" | "year" | "month");
                    !own && !generic
                        && (verbs.iter().any(|verb| stems::kin(verb, stem)) || joined.contains(stem))
                })
            })
        })
        .collect();
    match told.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn columns(schema: &Schema, table: usize) -> Vec<usize> {
    let Some(detail) = schema.table(table) else { return Vec::new() };
    (0..detail.columns.len())
        .filter(|at| detail.columns.get(*at).is_some_and(|column| column.family == Family::Time))
        .collect()
}

/// The table and column that the period of the question restricts.
pub fn choose(
    context: &Context<'_>,
    frame: &Frame,
    tree: &Tree,
    moment: Option<usize>,
) -> Result<Option<(usize, usize)>, Why> {
    let root = tree.root();
    if let [only] = frame.time_columns.as_slice() {
        let spoken = only.0 == root
            || named(frame, only.0)
            || tree.nodes.iter().any(|node| node.table == only.0)
            || (frame.groups.is_empty()
                && !matches!(frame.entity, Some(Key::Table(entity)) if entity != root)
                && points_at(context, root, only.0));
        if !spoken {
            return Err(Why::Kind("the date of something that is not spoken of".into()));
        }
        return Ok(Some(*only));
    }
    // An event named before the time, other than what is counted, is what happened then: `customers who ordered in 2025`.
    // What each counted row only points to is no event of it: `orders cancelled by customers in Paris in June`.
    let counted = counts_things(frame);
    let happened = |table: usize| !points_at(context, root, table) || told(context, frame, table);
    let event = frame
        .context
        .iter()
        .rev()
        .filter(|(_, at)| moment.is_none_or(|moment| *at < moment))
        .map(|(table, _)| *table)
        .find(|table| happened(*table));
    if let Some(event) = event.filter(|event| counted && *event != root)
        && (points_at(context, event, root)
            || crate::joins::existence(context.schema, 0, root, &[event], context.words).is_ok())
        && hinted(context, root).is_none()
        && let Some(column) = own(context, event)?
    {
        return Ok(Some((event, column)));
    }
    if let Some(column) = own(context, root)? {
        return Ok(Some((root, column)));
    }
    // The nearest table that each row points to.
    let mut seen: BTreeSet<usize> = BTreeSet::from([root]);
    let mut layer = vec![root];
    for _ in 0..3 {
        let next: Vec<usize> = layer
            .iter()
            .filter_map(|table| context.schema.table(*table))
            .flat_map(|table| table.edges.iter().filter(|edge| edge.verified).map(|edge| edge.to))
            .filter(|table| seen.insert(*table))
            .collect();
        let mut dated = Vec::new();
        for table in &next {
            // When a person was hired dates nothing but the hiring.
            let beginning = |column: usize| {
                let detail = context.schema.table(*table);
                detail.is_some_and(|detail| {
                    detail.time != Some(column)
                        && detail.columns.get(column).is_some_and(|column| {
                            column
                                .names
                                .iter()
                                .flatten()
                                .any(|stem| begins(stem) || ASIDE.contains(&stem.as_str()))
                        })
                })
            };
            if let Some(column) = own(context, *table)?
                && (!beginning(column) || named(frame, *table))
            {
                dated.push((*table, column));
            }
        }
        let named: Vec<(usize, usize)> = dated
            .iter()
            .copied()
            .filter(|(table, _)| named(frame, *table) || tree.nodes.iter().any(|node| node.table == *table))
            .collect();
        // A date of master data (when a product was added) does not date the rows that point to it; one that notes name does.
        let noted: Vec<(usize, usize)> = dated
            .iter()
            .copied()
            .filter(|(table, _)| context.schema.table(*table).is_some_and(|table| table.time.is_some()))
            .collect();
        for choice in [&dated, &noted, &named] {
            if let [only] = choice.as_slice() {
                return Ok(Some(*only));
            }
        }
        if dated.len() > 1 {
            let names: Vec<String> = dated
                .iter()
                .filter_map(|(table, _)| context.schema.table(*table))
                .map(|table| format!("`{}`", table.reference.name))
                .collect();
            return Err(Why::Ambiguous(format!("the time could be that of {}", names.join(" or "))));
        }
        layer = next;
    }
    if let Some(event) = event
        && let Some(column) = own(context, event)?
    {
        return Ok(Some((event, column)));
    }
    Ok(None)
}

/// True when the word before the time says that it is that of a table's rows: `customers created in June`.
fn told(context: &Context<'_>, frame: &Frame, table: usize) -> bool {
    let moment = frame.moments.first().and_then(|(index, _)| context.reading.moments.get(*index));
    moment.is_some_and(|moment| {
        columns(context.schema, table)
            .into_iter()
            .any(|column| verb_before(context, table, column, moment.first))
    })
}

/// True when the last word before a token is the verb of a date: `hired in` for `hire_date`, `signed up in` for
/// `signup_date`, `joined in` for `member_since`.
pub fn verb_before(context: &Context<'_>, table: usize, column: usize, token: usize) -> bool {
    let Some(detail) = context.schema.column(table, column) else { return false };
    let names = || detail.names.iter().flatten();
    let began = names().any(|name| begins(name));
    let before = context.reading.tokens.get(..token).unwrap_or_default();
    let last = before.iter().rposition(|token| !stems::is_function_word(&token.lower));
    let Some((at, last)) = last.and_then(|at| Some((at, before.get(at)?))) else { return false };
    let joined = before.get(at + 1).map(|next| format!("{}{}", last.stem, next.stem));
    names().any(|name| stems::kin(name, &last.stem) || joined.as_ref() == Some(name))
        || (began && begins(&last.stem))
}

fn counts_things(frame: &Frame) -> bool {
    let things =
        frame.measures.iter().all(|measure| matches!(measure, Measure::Count(_) | Measure::CountValues(..)));
    things && (frame.entity.is_none() || matches!(frame.entity, Some(Key::Table(_))))
}

fn named(frame: &Frame, table: usize) -> bool {
    frame.context.iter().any(|(named, _)| *named == table)
}

fn points_at(context: &Context<'_>, from: usize, to: usize) -> bool {
    matches!(crate::joins::path(context.schema, from, to, context.words), Ok(Some(_)))
}

/// A column that holds the year as a number, when the period is one of whole years.
pub fn year_column(context: &Context<'_>, tree: &Tree, period: &Period) -> Option<(usize, usize)> {
    if !period.whole_years() {
        return None;
    }
    tree.nodes.iter().find_map(|node| {
        let table = context.schema.table(node.table)?;
        let column = table.columns.iter().position(|column| {
            column.family == Family::Number
                && column
                    .names
                    .iter()
                    .any(|name| name.last().is_some_and(|last| last == "year") && name.len() <= 2)
        })?;
        Some((node.table, column))
    })
}

/// Two moments that the question holds against each other: `this month vs last month`, `compare sales in 2024 with 2023`.
pub fn compared(context: &Context<'_>, frame: &Frame) -> Option<((usize, usize), (usize, usize))> {
    let [first, second] = frame.moments.as_slice() else { return None };
    let found = |moment: &(usize, usize)| context.reading.moments.get(moment.0);
    let (a, b) = (found(first)?, found(second)?);
    let said = context.reading.tokens.iter().any(|token| {
        matches!(token.lower.as_str(), "vs" | "versus" | "compare" | "compared" | "comparing" | "against")
    });
    let apart = match (a.period.from, a.period.until, b.period.from, b.period.until) {
        (Some(from), Some(until), Some(other), Some(end)) => until <= other || end <= from,
        _ => false,
    };
    let plain = frame.measures.len() == 1
        && frame.groups.is_empty()
        && frame.entity.is_none()
        && frame.rank.is_none()
        && frame.share.is_none()
        && frame.having.is_empty()
        && frame.nested.is_none();
    (said && apart && plain).then_some((*first, *second))
}

/// The one period that the question asks for, and what was taken for granted to read it.
pub fn window(context: &Context<'_>, frame: &Frame) -> Result<(Option<Period>, Vec<String>), Why> {
    let mut periods: Vec<Period> = Vec::new();
    let mut told = Vec::new();
    for (index, _) in &frame.moments {
        let Some(found) = context.reading.moments.get(*index) else { continue };
        let held = ["own", "have"].iter().any(|word| context.words.contains(*word));
        if held && found.label.eq_ignore_ascii_case("today") {
            told.push("`today` was read as now.".into());
            continue;
        }
        if periods.contains(&found.period) {
            continue;
        }
        told.extend(found.assumption.clone());
        match periods.last_mut() {
            Some(before) if before.until.is_some() && before.until == found.period.from => {
                before.until = found.period.until
            }
            Some(_) => return Err(Why::Kind("a comparison of two periods".into())),
            None => periods.push(found.period),
        }
    }
    Ok((periods.pop(), told))
}
