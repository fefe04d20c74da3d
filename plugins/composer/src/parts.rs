//! Tables that hold the same things of different times: which of them a question needs, and how it reads over each.

use airlock_plugin_sdk::question::moments::Period;

use crate::build::Context;
use crate::frame::{By, Filter, FilterKind, Frame, Key, Measure};
use crate::refuse::Why;
use crate::schema::Schema;

/// The tables that hold what a table holds, of other times: the glossary computes one measure from all of them, and
/// notes say which time each covers. The table itself comes first.
pub fn family(context: &Context<'_>, table: usize) -> Vec<usize> {
    let mut found = vec![table];
    if !dated(context.schema, table) {
        return found;
    }
    for term in &context.glossary.terms {
        let tables: Vec<usize> = term.metrics.iter().map(|metric| metric.table).collect();
        if !tables.contains(&table) {
            continue;
        }
        for other in tables {
            let apart = found.iter().all(|known| !overlaps(context.schema, *known, other));
            if dated(context.schema, other) && apart {
                found.push(other);
            }
        }
    }
    found
}

fn dated(schema: &Schema, table: usize) -> bool {
    schema.table(table).is_some_and(|table| table.covers.0.is_some() || table.covers.1.is_some())
}

fn overlaps(schema: &Schema, a: usize, b: usize) -> bool {
    let covers = |table: usize| {
        let (from, until) = schema.table(table).map_or((None, None), |table| table.covers);
        Period { from, until }
    };
    meets(&covers(a), &covers(b))
}

/// True when two half-open periods share a day.
fn meets(a: &Period, b: &Period) -> bool {
    let before =
        |end: Option<_>, start: Option<_>| matches!((end, start), (Some(end), Some(start)) if end <= start);
    !before(a.until, b.from) && !before(b.until, a.from)
}

/// The tables that can give the frame, each for its own time: those of a measure of the glossary, or the family of the
/// table whose rows are counted, listed or added up.
pub fn members(context: &Context<'_>, frame: &Frame) -> Vec<usize> {
    let mut measures: Vec<&Measure> =
        frame.measures.iter().chain(frame.having.iter().map(|(measure, _, _)| measure)).collect();
    measures.extend(frame.over.iter().map(|(measure, _, _)| measure));
    if let Some(By::Measure(measure)) = frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
        measures.push(measure);
    }
    let metric = measures.iter().find_map(|measure| match measure {
        Measure::Metric(term) => context.glossary.terms.get(*term),
        _ => None,
    });
    if let Some(term) = metric {
        return term.metrics.iter().map(|metric| metric.table).collect();
    }
    let mut bases: Vec<usize> = measures
        .iter()
        .filter_map(|measure| match measure {
            Measure::Count(table) | Measure::CountValues(table, _) | Measure::Aggregate(_, table, _) => {
                Some(*table)
            }
            Measure::Metric(_) => None,
        })
        .collect();
    bases.extend(frame.share.map(|(table, _)| table));
    if bases.is_empty() {
        bases.extend(frame.entity.iter().filter_map(|key| match key {
            Key::Table(table) | Key::Column(table, _) => Some(*table),
            Key::Time(_) => None,
        }));
        bases.extend(frame.outputs.iter().map(|(table, _)| *table));
    }
    bases.into_iter().map(|table| family(context, table)).find(|family| family.len() > 1).unwrap_or_default()
}

/// True when a table holds rows of a time; with no time asked for, each does.
pub fn needed(schema: &Schema, table: usize, asked: Option<&Period>) -> bool {
    let (from, until) = schema.table(table).map_or((None, None), |table| table.covers);
    asked.is_none_or(|asked| meets(&Period { from, until }, asked))
}

/// Refuses a time that begins before the first row, or ends after the last one, of all the tables together. What is
/// asked for with no beginning begins with the first row.
pub fn covered(schema: &Schema, tables: &[usize], asked: &Period) -> Result<Option<String>, Why> {
    let covers: Vec<_> =
        tables.iter().filter_map(|table| schema.table(*table)).map(|table| table.covers).collect();
    let from = covers.iter().map(|(from, _)| *from).min().flatten();
    let until = if covers.iter().any(|(_, until)| until.is_none()) {
        None
    } else {
        covers.iter().filter_map(|(_, until)| *until).max()
    };
    let early = matches!((from, asked.from), (Some(first), Some(asked)) if asked < first)
        || matches!((from, asked.until), (Some(first), Some(end)) if end <= first);
    let late = until.is_some_and(|last| asked.until.is_none_or(|end| last < end));
    if early || late {
        let names: Vec<String> = tables.iter().map(|table| name(schema, *table)).collect();
        let verb = if names.len() == 1 { "holds" } else { "hold" };
        return Err(Why::Uncovered(format!(
            "{} {verb} rows {} only, which is not all of the time asked for.",
            names.join(" and "),
            span(from, until)
        )));
    }
    Ok(from.filter(|_| asked.from.is_none()).map(|first| format!("The rows begin on {first}.")))
}

/// `from 2025-01-01 until before 2026-01-01`.
fn span(from: Option<impl std::fmt::Display>, until: Option<impl std::fmt::Display>) -> String {
    match (from, until) {
        (Some(from), Some(until)) => format!("from {from} until before {until}"),
        (Some(from), None) => format!("from {from}"),
        (None, Some(until)) => format!("until before {until}"),
        (None, None) => "of any time".into(),
    }
}

/// A table with the time it covers, for people: `bills` (from 2025-01-01).
pub fn told(schema: &Schema, table: usize) -> String {
    let (from, until) = schema.table(table).map_or((None, None), |table| table.covers);
    format!("{} ({})", name(schema, table), span(from, until))
}

fn name(schema: &Schema, table: usize) -> String {
    schema.table(table).map_or(String::new(), |table| format!("`{}`", table.reference.name))
}

/// The frame with one table in the place of another. Columns keep their names; a thing that the other table knows by
/// its name only is gathered by that name.
pub fn instead(schema: &Schema, frame: &Frame, from: usize, to: usize) -> Result<Frame, Why> {
    if from == to {
        return Ok(frame.clone());
    }
    let swap = Swap { schema, from, to };
    let mut frame = frame.clone();
    for measure in &mut frame.measures {
        swap.measure(measure)?;
    }
    for (measure, _, _) in &mut frame.having {
        swap.measure(measure)?;
    }
    // A rank and a condition on groups are about things, so rows without one are left out.
    let things = frame.rank.is_some() || !frame.having.is_empty();
    for key in frame.entity.iter_mut().chain(&mut frame.groups) {
        let before = *key;
        swap.key(key)?;
        if let (Key::Table(_), Key::Column(table, column), true) = (before, *key, things) {
            let kind = FilterKind::Missing(table, column);
            frame.filters.push(Filter { kind, negated: true, at: 0 });
        }
    }
    for pair in frame.outputs.iter_mut().chain(&mut frame.time_columns) {
        swap.column(pair)?;
    }
    if let Some(by) = frame.rank.as_mut().and_then(|rank| rank.by.as_mut()) {
        swap.by(by)?;
    }
    if let Some((Some(by), _)) = frame.order.as_mut() {
        swap.by(by)?;
    }
    for filter in &mut frame.filters {
        match &mut filter.kind {
            FilterKind::Any(_) => return Err(Why::Kind("`or` over tables of different times".into())),
            FilterKind::Values(table, column, _)
            | FilterKind::Text(table, column, _)
            | FilterKind::Compare(table, column, _, _)
            | FilterKind::Between(table, column, _, _)
            | FilterKind::Missing(table, column)
            | FilterKind::Like(table, column, _)
            | FilterKind::Mean(table, column, _)
            | FilterKind::Pointed(table, column)
            | FilterKind::Flag(table, column, _) => {
                let mut pair = (*table, *column);
                swap.column(&mut pair)?;
                (*table, *column) = pair;
            }
            FilterKind::Condition(_) => {}
        }
    }
    for table in frame.anti.iter_mut().chain(frame.context.iter_mut().map(|(table, _)| table)) {
        swap.table(table);
    }
    if let Some((table, _)) = &mut frame.share {
        swap.table(table);
    }
    Ok(frame)
}

struct Swap<'a> {
    schema: &'a Schema,
    from: usize,
    to: usize,
}

impl Swap<'_> {
    fn table(&self, table: &mut usize) {
        if *table == self.from {
            *table = self.to;
        }
    }

    fn column(&self, (table, column): &mut (usize, usize)) -> Result<(), Why> {
        if *table != self.from {
            return Ok(());
        }
        let named = self.schema.column(self.from, *column).map_or("", |column| column.name.as_str());
        match self.schema.table(self.to).and_then(|table| table.column(named)) {
            Some(found) => {
                (*table, *column) = (self.to, found);
                Ok(())
            }
            None => Err(Why::Kind(format!("{} has no `{named}`", name(self.schema, self.to)))),
        }
    }

    fn measure(&self, measure: &mut Measure) -> Result<(), Why> {
        match measure {
            Measure::Count(table) => {
                self.table(table);
                Ok(())
            }
            Measure::CountValues(table, column) | Measure::Aggregate(_, table, column) => {
                let mut pair = (*table, *column);
                self.column(&mut pair)?;
                (*table, *column) = pair;
                Ok(())
            }
            Measure::Metric(_) => Ok(()),
        }
    }

    fn by(&self, by: &mut By) -> Result<(), Why> {
        match by {
            By::Measure(measure) => self.measure(measure),
            By::Column(table, column) => {
                let mut pair = (*table, *column);
                self.column(&mut pair)?;
                (*table, *column) = pair;
                Ok(())
            }
            By::Quality(_) => Ok(()),
        }
    }

    fn key(&self, key: &mut Key) -> Result<(), Why> {
        match *key {
            Key::Table(table) if table == self.from => *key = Key::Table(self.to),
            Key::Table(table) => {
                let named = self.schema.table(self.to).and_then(|detail| {
                    detail.named.iter().find(|(_, target)| *target == table).map(|(column, _)| *column)
                });
                if let Some(column) = named {
                    *key = Key::Column(self.to, column);
                }
            }
            Key::Column(table, column) => {
                let mut pair = (table, column);
                self.column(&mut pair)?;
                *key = Key::Column(pair.0, pair.1);
            }
            Key::Time(_) => {}
        }
        Ok(())
    }
}
