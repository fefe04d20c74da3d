//! All readings of a question tried; the best one wins if it explains every word and no other is as good.

use airlock_plugin_sdk::question::grammar::{Aggregate, Op, Reading};
use airlock_plugin_sdk::question::stems;

use crate::account::{missing, unknown};
use crate::annotate::{Candidate, Mention, Target, is_state};
use crate::build::{Built, Context};
use crate::interpret::interpret;
use crate::parts;
use crate::refuse::Why;
use crate::schema::Schema;
use crate::whole::query;

/// Readings that are tried at most.
const READINGS: usize = 600;
/// A second reading this near to the best makes the question ambiguous.
const MARGIN: f64 = 0.07;

/// A reading that holds.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its text.
    pub sql: String,
    /// What it rests on.
    pub assumptions: Vec<String>,
    /// What the words were taken for.
    pub reasons: Vec<String>,
    /// How well it fits.
    pub score: f64,
    /// How far the next one is behind.
    pub margin: f64,
}

/// Tries the readings of a question.
pub fn choose(context: &Context<'_>, mentions: &[Mention]) -> Result<Choice, Why> {
    let mentions = &one_of_family(context, mentions);
    let mut found: Vec<Choice> = Vec::new();
    let mut failed: Option<(Why, f64)> = None;
    for picks in readings(context, mentions) {
        let targets: Vec<Target> = picks.iter().map(|candidate| candidate.target.clone()).collect();
        let fit: f64 = picks
            .iter()
            .zip(mentions)
            .map(|(candidate, mention)| candidate.score * mention.words as f64)
            .sum();
        match settle(context, mentions, &targets) {
            Ok((sql, built)) => {
                let selected = targets
                    .iter()
                    .filter(|target| {
                        table_of(target).is_some_and(|table| {
                            context.schema.table(table).is_some_and(|table| table.selected)
                        })
                    })
                    .count();
                let score = fit - built.cost + 0.02 * selected as f64 + beside(context, mentions, &targets);
                match found.iter_mut().find(|choice| choice.sql == sql) {
                    Some(choice) => choice.score = choice.score.max(score),
                    None => found.push(Choice {
                        sql,
                        assumptions: built.assumptions,
                        reasons: reasons(context, mentions, &targets),
                        score,
                        margin: 1.0,
                    }),
                }
            }
            Err(why) => {
                let nearer = failed.as_ref().is_none_or(|(known, best)| {
                    (fit + f64::from(why.nearness()) * 0.01) > (best + f64::from(known.nearness()) * 0.01)
                });
                if nearer {
                    failed = Some((why, fit));
                }
            }
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut ranked = found.into_iter();
    let Some(mut best) = ranked.next() else {
        // What nothing in the whole schema knows explains a refusal better than how the grammar failed.
        let unknown = unknown(context, mentions);
        if failed.is_none() && unknown.is_empty() {
            return Err(Why::Kind("what is asked for is not clear".into()));
        }
        let why =
            failed.map(|(why, _)| why).filter(|why| unknown.is_empty() || matches!(why, Why::Uncovered(_)));
        return Err(why.unwrap_or(Why::Unknown(unknown)));
    };
    if let Some((why, fit)) = &failed
        && *fit > best.score + 0.6
    {
        // The reading that fits much better failed; the one that is left is a way round it.
        return Err(why.clone());
    }
    if let Some(second) = ranked.next() {
        best.margin = best.score - second.score;
        if best.margin < MARGIN {
            let differ: Vec<&String> = best
                .reasons
                .iter()
                .chain(&second.reasons)
                .filter(|reason| !(best.reasons.contains(reason) && second.reasons.contains(reason)))
                .collect();
            let words: Vec<String> = differ.iter().map(|reason| (*reason).clone()).collect();
            let what = if words.is_empty() {
                "two queries fit it equally well".to_owned()
            } else {
                words.join(" or ")
            };
            return Err(Why::Ambiguous(what));
        }
    }
    Ok(best)
}

/// What stands beside a table is likelier its own: `journals whose names`, `names of the authors`; and a value is likelier
/// one of a table that the question names.
fn beside(context: &Context<'_>, mentions: &[Mention], targets: &[Target]) -> f64 {
    let tables: Vec<(usize, usize, usize)> = mentions
        .iter()
        .zip(targets)
        .filter_map(|(mention, target)| match target {
            Target::Table(table) => Some((*table, mention.first, mention.end)),
            _ => None,
        })
        .collect();
    let listed = |at: usize| {
        mentions.iter().zip(targets).any(|(mention, target)| {
            matches!(target, Target::Column(..)) && (mention.first..mention.end).contains(&at)
        })
    };
    let near = |table: usize, mention: &Mention| {
        tables.iter().any(|(own, first, end)| {
            let between = |from: usize, to: usize| {
                from <= to
                    && (from..to).all(|at| {
                        listed(at)
                            || context.reading.tokens.get(at).is_some_and(|token| {
                                matches!(
                                    token.lower.as_str(),
                                    "of" | "the"
                                        | "all"
                                        | "whose"
                                        | "their"
                                        | "'"
                                        | "s"
                                        | "each"
                                        | "with"
                                        | "a"
                                        | "an"
                                        | "have"
                                        | "has"
                                        | "and"
                                        | ","
                                )
                            })
                    })
            };
            *own == table && (between(mention.end, *first) || between(*end, mention.first))
        })
    };
    let mut sum = 0.0;
    for (mention, target) in mentions.iter().zip(targets) {
        if let Target::Value(table, column, _) = target
            && context.schema.table(*table).is_some_and(|table| table.label == [*column])
        {
            sum += 0.08;
        }
        match target {
            Target::Column(table, _) if near(*table, mention) => sum += 0.12,
            Target::Value(table, ..) | Target::Flag(table, ..)
                if tables.iter().any(|(own, ..)| own == table) =>
            {
                sum += if near(*table, mention) { 0.2 } else { 0.1 };
            }
            _ => {}
        }
    }
    sum
}

/// Of columns that tables of one family share, the one of the table that goes on is enough; and a name of a thing is
/// the thing, where a person said so.
fn one_of_family(context: &Context<'_>, mentions: &[Mention]) -> Vec<Mention> {
    let name = |table: usize, column: usize| {
        context.schema.column(table, column).map_or("", |column| column.name.as_str())
    };
    let over = |target: &Target, candidates: &[Candidate]| {
        let (Target::Column(table, column) | Target::Value(table, column, _)) = target else { return false };
        let Some(detail) = context.schema.table(*table) else { return false };
        let named = detail.named.iter().any(|(own, to)| {
            own == column && candidates.iter().any(|other| other.target == Target::Table(*to))
        });
        let ended = detail.covers.1.is_some();
        let shared = candidates.iter().any(|other| match (&other.target, target) {
            (Target::Column(other, c), Target::Column(..)) => {
                other != table
                    && name(*other, *c) == name(*table, *column)
                    && parts::family(context, *other).contains(table)
            }
            (Target::Value(other, c, theirs), Target::Value(_, _, own)) => {
                other != table
                    && theirs == own
                    && name(*other, *c) == name(*table, *column)
                    && parts::family(context, *other).contains(table)
            }
            _ => false,
        });
        // The identifier of a thing and the key that points to it are the same.
        let points = matches!(target, Target::Column(..))
            && detail.edges.iter().any(|edge| {
                edge.from == [*column]
                    && candidates.iter().any(|other| match other.target {
                        Target::Column(to, key) => edge.to == to && edge.to_columns == [key],
                        _ => false,
                    })
            });
        named || points || (ended && shared)
    };
    let mut mentions = mentions.to_vec();
    for mention in &mut mentions {
        let all = mention.candidates.clone();
        mention.candidates.retain(|candidate| !over(&candidate.target, &all));
    }
    mentions
}

fn table_of(target: &Target) -> Option<usize> {
    match target {
        Target::Table(table)
        | Target::Column(table, _)
        | Target::Value(table, _, _)
        | Target::Text(table, _, _)
        | Target::Flag(table, _, _) => Some(*table),
        Target::Metric(_)
        | Target::Condition(_)
        | Target::Literal(_)
        | Target::Support
        | Target::Verb
        | Target::Step => None,
    }
}

/// Every combination of candidates, the likelier ones first, up to the limit.
fn readings(context: &Context<'_>, mentions: &[Mention]) -> Vec<Vec<Candidate>> {
    let mut all: Vec<Vec<Candidate>> = vec![Vec::new()];
    for mention in mentions {
        let mut longer = Vec::new();
        for picks in &all {
            for candidate in mention
                .candidates
                .iter()
                .filter(|candidate| allowed(context.schema, context.reading, mention, candidate))
            {
                let mut picks = picks.clone();
                picks.push(candidate.clone());
                longer.push(picks);
            }
        }
        let sum = |picks: &Vec<Candidate>| picks.iter().map(|candidate| candidate.score).sum::<f64>();
        longer.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
        longer.truncate(READINGS);
        all = longer;
    }
    all
}

/// What the glossary defines as a measure is nothing else, unless it is counted: `how many sales`.
fn allowed(schema: &Schema, reading: &Reading, mention: &Mention, candidate: &Candidate) -> bool {
    let before = reading.chunks.iter().rev().find(|chunk| chunk.end <= mention.first && chunk.op != Op::Link);
    let follows = |op: &Op| before.is_some_and(|chunk| chunk.op == *op);
    // Who a key of another table points to is not counted for himself.
    if candidate.pointer && (before.is_none() || follows(&Op::Aggregate(Aggregate::Count))) {
        return false;
    }
    // `without a manager` has none; it is not one of another kind.
    if matches!(candidate.target, Target::Value(..)) && follows(&Op::Not) {
        let lacking = mention.candidates.iter().any(|other| match other.target {
            Target::Column(table, column) => {
                schema.column(table, column).is_some_and(|column| column.nullable)
            }
            _ => false,
        });
        if lacking {
            return false;
        }
    }
    let defined = mention.candidates.first().is_some_and(|first| matches!(first.target, Target::Metric(_)));
    if !defined || matches!(candidate.target, Target::Metric(_)) {
        return true;
    }
    // `max bill amount` is one of a column, as an average is where the glossary defines none.
    before.is_some_and(|chunk| matches!(chunk.op, Op::Aggregate(aggregate) if aggregate != Aggregate::Sum))
}

/// A state right before a noun is one of these things, or of what each of them points to: `inactive tickers` are not those
/// of inactive customers.
fn described(context: &Context<'_>, mentions: &[Mention], targets: &[Target]) -> Result<(), Why> {
    for (at, target) in targets.iter().enumerate() {
        let (Target::Value(table, column, value), Some(Target::Table(noun))) = (target, targets.get(at + 1))
        else {
            continue;
        };
        let adjacent = matches!(
            (mentions.get(at), mentions.get(at + 1)),
            (Some(first), Some(second)) if first.end == second.first
        );
        if !adjacent || table == noun || !is_state(context.schema, *table, *column) {
            continue;
        }
        if crate::joins::path(context.schema, *noun, *table, context.words)?.is_none() {
            return Err(Why::Unknown(vec![value.clone()]));
        }
    }
    Ok(())
}

/// The text of one reading, every word accounted for.
fn settle(context: &Context<'_>, mentions: &[Mention], targets: &[Target]) -> Result<(String, Built), Why> {
    described(context, mentions, targets)?;
    let frame = interpret(context.reading, mentions, targets, context.schema, context.glossary)?;
    let built = query(context, &frame)?;
    let (sql, mut built) = built;
    let (missing, relations) = missing(context, &frame, &built);
    if !missing.is_empty() {
        return Err(Why::Unknown(missing));
    }
    for (mention, target) in mentions.iter().zip(targets) {
        let (name, text) = match target {
            Target::Table(table) => match context.schema.table(*table) {
                Some(detail) => (detail.reference.name.clone(), &detail.text),
                None => continue,
            },
            Target::Column(table, column) => match context.schema.column(*table, *column) {
                Some(detail) => (detail.name.clone(), &detail.text),
                None => continue,
            },
            _ => continue,
        };
        let token = context.reading.tokens.get(mention.first);
        if let Some(token) =
            token.filter(|token| mention.words == 1 && !text.iter().any(|stem| stems::kin(stem, &token.stem)))
            && !context.schema.tables.iter().any(|table| table.text.contains(&token.stem))
        {
            built.assumptions.push(format!("`{}` was read as `{name}`.", token.text));
        }
    }
    for verb in relations {
        built.assumptions.push(format!("`{verb}` was read as what joins the tables."));
    }
    Ok((sql, built))
}

fn reasons(context: &Context<'_>, mentions: &[Mention], targets: &[Target]) -> Vec<String> {
    // Of two tables of one name in different schemas the schema tells which is meant.
    let table = |at: usize| {
        let Some(own) = context.schema.table(at).map(|table| &table.reference) else { return String::new() };
        let shared =
            context.schema.tables.iter().filter(|other| other.reference.name == own.name).count() > 1;
        if shared { format!("{}.{}", own.schema, own.name) } else { own.name.clone() }
    };
    let column = |at: usize, column: usize| {
        context.schema.column(at, column).map_or("", |column| column.name.as_str())
    };
    mentions
        .iter()
        .zip(targets)
        .map(|(mention, target)| {
            let words = context.reading.text(mention.first, mention.end);
            let meant = match target {
                Target::Table(at) => format!("the table {}", table(*at)),
                Target::Column(at, name) => format!("{}.{}", table(*at), column(*at, *name)),
                Target::Value(at, name, value) => {
                    format!("{}.{} = '{value}'", table(*at), column(*at, *name))
                }
                Target::Text(at, name, value) => {
                    format!("{}.{} = '{value}'", table(*at), column(*at, *name))
                }
                Target::Flag(at, name, sense) => format!("{}.{} is {sense}", table(*at), column(*at, *name)),
                Target::Metric(term) | Target::Condition(term) => {
                    format!(
                        "the term {}",
                        context.glossary.terms.get(*term).map_or("", |term| term.name.as_str())
                    )
                }
                Target::Step => "a step of time".into(),
                Target::Verb => "the verb of a date".into(),
                Target::Support => "part of the measure".into(),
                Target::Literal(text) => format!("the text '{text}'"),
            };
            format!("`{words}` as {meant}")
        })
        .collect()
}
