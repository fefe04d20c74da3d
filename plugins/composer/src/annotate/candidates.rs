//! What one run of words may name.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::{Aggregate, Chunk, Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::folded;

use super::kinds::{akin, alone, called, counted, is_step, qualifies};
use super::scores::{column_score, flag, same_set, table_score};
use super::values::Known;
use super::{Candidate, KEPT, Run, Target, thesaurus};
use crate::glossary::Glossary;
use crate::schema::{Family, Schema};

pub(super) fn candidates(
    reading: &Reading,
    run: &Run,
    schema: &Schema,
    glossary: &Glossary,
    values: &[Known],
    spoken: &BTreeSet<String>,
    taken: &BTreeSet<usize>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut plurals: Vec<Target> = Vec::new();
    let mut pointers: Vec<(usize, bool)> = Vec::new();
    let count = counted(reading, run.first);
    let mut add =
        |target: Target, score: f64| match found.iter_mut().find(|candidate| candidate.target == target) {
            Some(known) => known.score = known.score.max(score),
            None => found.push(Candidate::new(target, score)),
        };
    let text = reading.tokens.get(run.first).map(|token| token.text.clone()).unwrap_or_default();
    // As the question spells it, or as it would without accents.
    let (spelled, quoted): (Vec<String>, String) =
        (run.words.iter().map(|word| folded(word)).collect(), folded(text.trim()));
    for known in values {
        let same = if run.quoted { folded(&known.value) == quoted } else { known.lower == spelled };
        let near = !run.quoted
            && known.lower.len() == run.stems.len()
            && known.lower.iter().zip(&run.stems).all(|(a, b)| stems::stem(a) == *b);
        // The plural of a value is the things of that kind, unless things are called so: `powers`.
        if near && !same && run.words.last() == known.lower.last().map(|last| format!("{last}s")).as_ref() {
            plurals.push(Target::Value(known.table, known.column, known.value.clone()));
            continue;
        }
        let akin = !run.quoted && !same && !near && akin(schema, known, &run.stems);
        if same || near || akin {
            // One-letter and purely numeric values are found by chance.
            let chance = !run.quoted
                && known.lower.iter().all(|word| word.len() < 2 || word.chars().all(|c| c.is_ascii_digit()));
            if chance {
                continue;
            }
            let exact = if same {
                0.95
            } else if near {
                0.85
            } else {
                0.78
            };
            add(Target::Value(known.table, known.column, known.value.clone()), exact);
        }
    }
    if run.quoted {
        if found.is_empty() {
            found.push(Candidate::new(Target::Literal(text), 0.8));
        }
        return best(found);
    }
    // `no bills` has no bills, though a column is called `bill no`; `no show` may be a value.
    let nothing = run.words.first().is_some_and(|word| word == "nothing") && run.words.len() > 1;
    let denies = |chunk: &Chunk| chunk.first == run.first && chunk.op == Op::Not;
    if !nothing && reading.chunks.iter().any(denies) {
        return best(found);
    }
    // `how many sales did each of them make`: a verb, though a column is called so.
    let verb = run.stems.len() == 1
        && (stems::is_light(run.words.first().map_or("", String::as_str))
            || run.stems.first().is_some_and(|stem| stems::is_relation(stem)))
        && reading
            .tokens
            .get(..run.first)
            .unwrap_or_default()
            .iter()
            .any(|token| matches!(token.lower.as_str(), "did" | "do" | "does"))
        && run.first.checked_sub(1).and_then(|at| reading.tokens.get(at)).is_some_and(|before| {
            !matches!(
                before.lower.as_str(),
                "the" | "each" | "per" | "by" | "of" | "every" | "a" | "an" | "which" | "what"
            )
        });
    if verb {
        return best(found);
    }
    // `that year` is the one named before.
    let pointed = run
        .first
        .checked_sub(1)
        .and_then(|at| reading.tokens.get(at))
        .is_some_and(|before| before.is("that") || before.is("same"));
    if pointed && !reading.moments.is_empty() && run.stems.len() == 1 && is_step(&run.words) {
        return best(found);
    }
    // A single word of an operation (`total`, `most`) names nothing by itself.
    let operation = run.stems.len() == 1
        && reading.chunks.iter().any(|chunk| {
            chunk.first <= run.first && run.first < chunk.end && !matches!(chunk.op, Op::Word | Op::Grain(_))
        });
    if operation {
        return best(found);
    }
    for (index, term) in glossary.terms.iter().enumerate() {
        for name in term.names.iter().filter(|name| name.fits(reading, spoken)) {
            if name.averages(run.words.last()) || !name.turned_at(reading, run.first) {
                continue;
            }
            if same_set(&name.words, &run.stems)
                || (!term.conditions.is_empty() && called(&name.words, &run.stems, schema))
            {
                if !term.metrics.is_empty() {
                    // An amount is not counted: `how many payments received` asks for payments.
                    if count && !term.counts() {
                        continue;
                    }
                    // `sales by category` says more of a question than `sales` when it asks for categories.
                    add(Target::Metric(index), if name.given.is_empty() { 1.1 } else { 1.2 });
                } else if !term.conditions.is_empty() {
                    add(Target::Condition(index), 1.05);
                } else if let Some(table) = term.table {
                    add(Target::Table(table), 0.97);
                }
            }
        }
    }
    if run.stepped {
        found.retain(|candidate| matches!(candidate.target, Target::Metric(_) | Target::Condition(_)));
        return best(found);
    }
    // The words of `number of` are no part of a column's name, unless it is called just so.
    let asking = reading.chunks.iter().any(|chunk| {
        chunk.op == Op::Aggregate(Aggregate::Count) && chunk.first <= run.first && run.first < chunk.end
    });
    if run.stems.iter().all(|stem| stem.chars().all(|c| c.is_ascii_digit())) {
        return best(found);
    }
    // Words of asking name something only when a name is exactly theirs.
    let light = matches!(run.words.as_slice(), [only] if stems::is_light(only));
    for (at, table) in schema.tables.iter().enumerate() {
        let score = table.names.iter().map(|name| table_score(name, &run.stems)).fold(0.0, f64::max);
        // `courses offered` are not course offerings.
        let told = run.words.len() < 2
            || run.words.last().is_none_or(|last| {
                !last.ends_with("ed")
                    || table.said.iter().any(|said| said.to_lowercase().contains(last.as_str()))
            });
        if score >= 0.55 && told {
            add(Target::Table(at), score);
        }
        // The name of who has a first and a last one.
        if let ([word], [first, _]) = (run.stems.as_slice(), table.label.as_slice())
            && word == "name"
        {
            add(Target::Column(at, *first), 0.97);
        }
        for (column_at, column) in table.columns.iter().enumerate() {
            let family = if column.binary { Family::Boolean } else { column.family };
            if let Some((sense, score)) = flag(family, &column.names, &run.stems, &table.names) {
                add(Target::Flag(at, column_at, sense), score);
            }
            let score = column
                .names
                .iter()
                .enumerate()
                .map(|(place, name)| {
                    let score = column_score(name, &run.stems, &table.names);
                    // What it is called counts more than what it is called by some.
                    if place < column.own { score } else { score * 0.88 }
                })
                .fold(0.0, f64::max);
            // `readers joined` is no name of a date: only `join date of readers` is.
            let dated = run.stems.len() == 1
                || run.words.iter().any(|word| {
                    matches!(
                        word.as_str(),
                        "date" | "dates" | "time" | "times" | "day" | "timestamp" | "month" | "year"
                    )
                });
            if column.family == Family::Time && !dated {
                continue;
            }
            // `premium customers` are customers of a kind, not a number of a yes-or-no column.
            if (column.family == Family::Boolean || column.binary)
                && run.words.len() > 1
                && !column.names.iter().any(|name| same_set(name, &run.stems))
            {
                continue;
            }
            // A key points to a thing; the thing itself is the other table, unless its number is asked for.
            let pointer = column.key
                && column.family != Family::Text
                && !run.stems.iter().any(|stem| matches!(stem.as_str(), "id" | "number" | "code"));
            if !pointer {
                let spelled = run.words.iter().any(|word| *word == column.name.to_lowercase());
                let exact = column.names.iter().take(column.own).any(|name| same_set(name, &run.stems));
                if asking && !exact {
                    continue;
                }
                if (light && spelled) || (!light && score >= 0.55) {
                    add(Target::Column(at, column_at), score);
                }
                continue;
            }
            // `courses offered` asks for no `offering_id`.
            if matches!(run.words.as_slice(), [only] if only.ends_with("ed")) {
                continue;
            }
            let edge = table.edges.iter().find(|edge| edge.from == [column_at]);
            match edge {
                // Where the other table points back, which of the two ways is meant is not said: the capital of a country.
                Some(edge)
                    if edge.to != at
                        && score >= 0.6
                        && !schema
                            .table(edge.to)
                            .is_some_and(|to| to.edges.iter().any(|back| back.to == at)) =>
                {
                    let own = column.names.iter().take(column.own);
                    let own =
                        own.map(|name| column_score(name, &run.stems, &table.names)).fold(0.0, f64::max);
                    pointers.push((edge.to, own < 0.6));
                }
                // `no major` where the key is `major_dept_id`.
                Some(edge)
                    if reading.chunks.iter().any(|chunk| chunk.op == Op::Not && chunk.end <= run.first)
                        && qualifies(schema, column, edge.to, &run.stems) =>
                {
                    add(Target::Column(at, column_at), 0.9);
                }
                // Within one table only what is missing can be asked: `no parent category`.
                Some(_) | None if score >= 0.55 => add(Target::Column(at, column_at), 0.6),
                _ => {}
            }
        }
    }
    for (table, pointer) in pointers {
        match found.iter_mut().find(|candidate| candidate.target == Target::Table(table)) {
            Some(known) => {
                known.score = known.score.max(0.75);
                known.pointer &= pointer;
            }
            None => found.push(Candidate { pointer, ..Candidate::new(Target::Table(table), 0.75) }),
        }
    }
    let flagged: Vec<(usize, usize)> = found
        .iter()
        .filter_map(|candidate| match candidate.target {
            Target::Flag(table, column, _) => Some((table, column)),
            _ => None,
        })
        .collect();
    found.retain(|candidate| match candidate.target {
        Target::Column(table, column) => !flagged.contains(&(table, column)),
        _ => true,
    });
    // `items` are the rows of `order_items`, not their identifiers.
    if !run.stems.iter().any(|stem| matches!(stem.as_str(), "id" | "number" | "code")) {
        let named: Vec<usize> = found
            .iter()
            .filter_map(|candidate| match candidate.target {
                Target::Table(table) => Some(table),
                _ => None,
            })
            .collect();
        found.retain(|candidate| match candidate.target {
            Target::Column(table, column) => {
                !(named.contains(&table) && schema.table(table).is_some_and(|table| table.key == [column]))
            }
            _ => true,
        });
    }
    // `references cited`: a verb, perhaps, and no column of another table.
    let participle = matches!(run.words.as_slice(), [only] if only.ends_with("ed") && stems::is_relation(&stems::stem(only)));
    let dated = |target: &Target| match target {
        Target::Column(table, column) => {
            schema.column(*table, *column).is_some_and(|column| column.family == Family::Time)
        }
        _ => true,
    };
    if participle && found.iter().any(|candidate| !dated(&candidate.target)) {
        found.push(Candidate::new(Target::Support, 0.7));
    }
    let called = found.iter().any(|candidate| match &candidate.target {
        Target::Table(_) => !candidate.pointer,
        Target::Column(table, column) => schema.column(*table, *column).is_some_and(|column| {
            !column.key && column.names.iter().take(column.own).any(|name| same_set(name, &run.stems))
        }),
        _ => true,
    });
    if !called {
        found.extend(plurals.into_iter().map(|target| Candidate::new(target, 0.96)));
    }
    // Beside a table its own code or name adds nothing: `courses` are courses.
    let tables: Vec<usize> = found
        .iter()
        .filter(|candidate| candidate.score >= 0.95)
        .filter_map(|candidate| match candidate.target {
            Target::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    found.retain(|candidate| match candidate.target {
        Target::Column(table, _) if count => {
            candidate.score >= 0.95
                || tables.is_empty()
                || (!tables.contains(&table) && candidate.score >= 0.9)
        }
        // Nor the words of a table beside a column of a table that only bears its name: `bills` in `bill_archive`.
        Target::Column(table, _) => {
            let bears = || {
                schema.table(table).is_some_and(|detail| {
                    run.stems.iter().all(|stem| detail.names.iter().any(|name| name.contains(stem)))
                })
            };
            let beside = tables.contains(&table) || (!tables.is_empty() && candidate.score < 0.9 && bears());
            candidate.score >= 0.95 || !beside
        }
        _ => true,
    });
    let named = found.iter().any(|candidate| candidate.score >= 0.6);
    if !named && let [word] = run.words.as_slice() {
        found.extend(thesaurus::done(schema, word, alone(reading, run.first, taken)));
    }
    let named = named || !found.is_empty();
    if !named {
        found.extend(thesaurus::worth(schema, &run.stems));
    }
    if !named && !light {
        found.extend(thesaurus::meant(schema, &run.stems));
        found.extend(thesaurus::income(schema, &run.stems));
    }
    // What a table is called by its own is no key of another one.
    found.retain(|candidate| !candidate.pointer || tables.is_empty());
    best(found)
}

fn best(mut found: Vec<Candidate>) -> Vec<Candidate> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let top = found.first().map_or(0.0, |candidate| candidate.score);
    found.retain(|candidate| candidate.score >= top - 0.35);
    found.truncate(KEPT * 2);
    found
}
