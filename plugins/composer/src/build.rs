//! From a frame to a query: the root, the joins, the filters, and what had to be taken for granted.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::{Aggregate, Comparison, Quality, Reading};
use airlock_plugin_sdk::question::moments::Period;

use crate::frame::{By, Filter, FilterKind, Frame, Key, Measure};
use crate::glossary::{Glossary, Metric};
use crate::joins::{self, Tree};
use crate::logical::{Expr, Output, Pred, Query};
use crate::print;
use crate::refuse::Why;
use crate::schema::{Family, Schema};
use crate::times;

/// A query with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The query.
    pub query: Query,
    /// What was taken for granted, a sentence each.
    pub assumptions: Vec<String>,
    /// The tables it reads, subqueries among them.
    pub tables: BTreeSet<usize>,
    /// The columns it speaks of.
    pub columns: BTreeSet<(usize, usize)>,
    /// The terms of the glossary it uses.
    pub terms: BTreeSet<usize>,
    /// What the first measure adds up over several tables, when it does.
    pub additive: bool,
    /// How much the choices made here speak against it.
    pub cost: f64,
}

/// What every step needs.
pub struct Context<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// The terms.
    pub glossary: &'a Glossary,
    /// The question.
    pub reading: &'a Reading,
    /// Stems of its content words.
    pub words: &'a BTreeSet<String>,
}

/// Builds the query of a frame. `variant` chooses the table for measures that several can give.
pub fn build(context: &Context<'_>, frame: &Frame, variant: usize) -> Result<Built, Why> {
    Builder { context, frame, variant, tree: Tree::new(0), built: empty() }.run()
}

fn empty() -> Built {
    Built {
        query: Query::default(),
        assumptions: Vec::new(),
        tables: BTreeSet::new(),
        columns: BTreeSet::new(),
        terms: BTreeSet::new(),
        additive: false,
        cost: 0.0,
    }
}

struct Builder<'a> {
    context: &'a Context<'a>,
    frame: &'a Frame,
    variant: usize,
    tree: Tree,
    built: Built,
}

impl<'a> Builder<'a> {
    fn run(mut self) -> Result<Built, Why> {
        let schema = self.context.schema;
        let mut frame = self.frame.clone();
        label_entities(schema, &mut frame);
        self.settle_rank(&mut frame)?;
        let measures = frame.measures.clone();
        let rank_measure = match frame.rank.as_ref().and_then(|rank| rank.by.clone()) {
            Some(By::Measure(measure)) => Some(measure),
            _ => None,
        };
        let grouped = rank_measure.is_some() || !measures.is_empty() || !frame.having.is_empty();
        if !grouped && !frame.groups.is_empty() {
            return Err(Why::Kind("a grouping with nothing to compute".into()));
        }
        if frame.rank.as_ref().is_some_and(|rank| rank.by.is_none()) {
            return Err(Why::Kind("what the rank goes by is not named".into()));
        }
        if rank_measure.is_some() && (frame.entity.is_none() || !frame.groups.is_empty()) {
            return Err(Why::Kind("a rank within groups".into()));
        }
        if frame.share.is_some() && (!measures.is_empty() || frame.rank.is_some()) {
            return Err(Why::Kind("a share beside another measure".into()));
        }
        if measures.is_empty()
            && rank_measure.is_none()
            && frame.entity.is_none()
            && frame.share.is_none()
            && frame.outputs.is_empty()
        {
            return Err(Why::Kind("what is asked for is not clear".into()));
        }
        let anchors = self.anchors(&frame, &measures, rank_measure.as_ref())?;
        let root = joins::root(schema, &anchors, self.context.words)?;
        self.tree = Tree::new(root);
        self.time(&frame, root)?;
        if frame.share.is_some() {
            self.share(&frame)?;
        } else if grouped {
            self.grouped(&frame, &measures, rank_measure.as_ref())?;
        } else {
            self.list(&frame)?;
        }
        self.filters(&frame)?;
        self.context_tables(&frame)?;
        self.anti(&frame)?;
        self.finish(&frame);
        Ok(self.built)
    }

    /// `What is the highest salary?` names no entity: it is a maximum. A quality is a column of the entity.
    fn settle_rank(&self, frame: &mut Frame) -> Result<(), Why> {
        let Some(rank) = frame.rank.clone() else { return Ok(()) };
        match rank.by {
            Some(By::Column(table, column)) if frame.entity.is_none() => {
                if rank.count != Some(1) || !frame.outputs.is_empty() {
                    return Err(Why::Kind("a rank of nothing".into()));
                }
                let aggregate = if rank.descending { Aggregate::Maximum } else { Aggregate::Minimum };
                frame.measures.push(Measure::Aggregate(aggregate, table, column));
                frame.rank = None;
            }
            Some(By::Column(table, column)) => match frame.entity {
                Some(Key::Table(entity)) if entity == table => {}
                Some(Key::Table(entity)) => {
                    if joins::path(self.context.schema, entity, table, self.context.words)?.is_none() {
                        return Err(Why::Ambiguous(format!(
                            "there are several {} for each row of {}; say whether the total, the average or the greatest counts",
                            self.column_name(table, column),
                            self.table_name(entity)
                        )));
                    }
                }
                _ => {
                    return Err(Why::Ambiguous(format!(
                        "whether the total, the average or the greatest {} counts",
                        self.column_name(table, column)
                    )));
                }
            },
            Some(By::Quality(quality)) => {
                let by = self.quality(frame, quality)?;
                // The oldest person has the earliest birth date.
                if let (Some(rank), By::Column(table, column)) = (frame.rank.as_mut(), &by) {
                    let time = self
                        .context
                        .schema
                        .column(*table, *column)
                        .is_some_and(|column| column.family == Family::Time);
                    if quality == Quality::Age && time {
                        rank.descending = !rank.descending;
                    }
                }
                if let Some(rank) = frame.rank.as_mut() {
                    rank.by = Some(by);
                }
                return if frame.entity.is_none() {
                    Err(Why::Kind("a superlative of nothing".into()))
                } else {
                    Ok(())
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn quality(&self, frame: &Frame, quality: Quality) -> Result<By, Why> {
        let entity = match frame.entity {
            Some(Key::Table(table)) => table,
            Some(Key::Column(table, _)) if quality == Quality::Frequency => {
                return Ok(By::Measure(Measure::Count(table)));
            }
            _ => return Err(Why::Kind("a superlative of something that is no table".into())),
        };
        let words: &[&str] = match quality {
            Quality::Price => &["price", "cost", "pric", "fee"],
            Quality::Age => &["age", "birth", "birthdat"],
            Quality::Length => &["length", "duration", "runtim", "minut"],
            Quality::Height => &["height"],
            Quality::Weight => &["weight"],
            Quality::Recency => {
                let time = times::own(self.context, entity)?;
                return match time {
                    Some(column) => Ok(By::Column(entity, column)),
                    None => Err(Why::Kind(format!("{} has no time to rank by", self.table_name(entity)))),
                };
            }
            Quality::Frequency | Quality::Amount | Quality::Size => {
                return Err(Why::Kind("how often it occurs is not recorded in one place".into()));
            }
        };
        let Some(table) = self.context.schema.table(entity) else {
            return Err(Why::Kind("a superlative".into()));
        };
        let found: Vec<usize> = (0..table.columns.len())
            .filter(|at| {
                table.columns.get(*at).is_some_and(|column| {
                    matches!(column.family, Family::Number | Family::Time)
                        && !column.key
                        && column.names.iter().flatten().any(|stem| words.contains(&stem.as_str()))
                })
            })
            .collect();
        match found.as_slice() {
            [only] => Ok(By::Column(entity, *only)),
            [] => Err(Why::Kind(format!("{} has no column for this superlative", self.table_name(entity)))),
            many => {
                let names: Vec<String> =
                    many.iter().map(|column| self.column_name(entity, *column)).collect();
                Err(Why::Ambiguous(names.join(" or ")))
            }
        }
    }

    fn table_name(&self, table: usize) -> String {
        self.context.schema.table(table).map_or(String::new(), |table| format!("`{}`", table.reference.name))
    }

    fn column_name(&self, table: usize, column: usize) -> String {
        let owner = self.context.schema.table(table).map_or("", |table| table.reference.name.as_str());
        let name = self.context.schema.column(table, column).map_or("", |column| column.name.as_str());
        format!("`{owner}.{name}`")
    }

    fn metric(&self, term: usize) -> Result<&'a Metric, Why> {
        let metrics =
            self.context.glossary.terms.get(term).map(|term| term.metrics.as_slice()).unwrap_or_default();
        metrics
            .get(self.variant.min(metrics.len().saturating_sub(1)))
            .ok_or_else(|| Why::Kind("a term without a measure".into()))
    }

    fn measure_table(&self, measure: &Measure) -> Result<usize, Why> {
        Ok(match measure {
            Measure::Count(table) | Measure::CountValues(table, _) | Measure::Aggregate(_, table, _) => {
                *table
            }
            Measure::Metric(term) => self.metric(*term)?.table,
        })
    }

    /// The tables that the root must reach.
    fn anchors(
        &self,
        frame: &Frame,
        measures: &[Measure],
        rank: Option<&Measure>,
    ) -> Result<Vec<usize>, Why> {
        let mut anchors = Vec::new();
        for measure in measures.iter().chain(rank).chain(frame.having.iter().map(|(measure, _, _)| measure)) {
            anchors.push(self.measure_table(measure)?);
        }
        for key in frame.entity.iter().chain(&frame.groups) {
            match key {
                Key::Table(table) | Key::Column(table, _) => anchors.push(*table),
                Key::Time(_) => {}
            }
        }
        anchors.extend(frame.outputs.iter().map(|(table, _)| *table));
        anchors.extend(frame.share.map(|(table, _)| table));
        if let Some(By::Column(table, _)) = frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
            anchors.push(*table);
        }
        anchors.sort_unstable();
        anchors.dedup();
        if anchors.is_empty() { Err(Why::Kind("what is asked for is not clear".into())) } else { Ok(anchors) }
    }

    fn node(&mut self, table: usize, keep: bool) -> Result<Option<usize>, Why> {
        self.tree.reach(self.context.schema, table, keep, self.context.words)
    }

    fn must(&mut self, table: usize, keep: bool) -> Result<usize, Why> {
        match self.node(table, keep)? {
            Some(node) => Ok(node),
            None => Err(Why::Unconnected(vec![
                self.table_name(self.tree.root()).replace('`', ""),
                self.table_name(table).replace('`', ""),
            ])),
        }
    }

    /// The expression of a measure; refuses where a join would count a row more than once.
    fn expr(&mut self, measure: &Measure) -> Result<Expr, Why> {
        let root = self.tree.root();
        match measure {
            Measure::Count(table) if *table == root => Ok(Expr::CountRows),
            Measure::Count(table) => {
                if self.one_each(*table) {
                    return Err(Why::Kind(format!(
                        "each row has at most one of {}",
                        self.table_name(*table)
                    )));
                }
                let key =
                    self.context.schema.table(*table).map(|table| table.key.clone()).unwrap_or_default();
                if key.is_empty() {
                    return Err(Why::Kind(format!("{} has no key to count by", self.table_name(*table))));
                }
                let node = self.must(*table, false)?;
                Ok(Expr::CountDistinct(node, key))
            }
            Measure::CountValues(table, column) => {
                let node = self.must(*table, false)?;
                self.built.columns.insert((*table, *column));
                Ok(Expr::CountDistinct(node, vec![*column]))
            }
            Measure::Aggregate(aggregate, table, column) => {
                let harmless = matches!(aggregate, Aggregate::Minimum | Aggregate::Maximum);
                if *table != root && !harmless {
                    return Err(Why::Kind(format!(
                        "{} would be counted more than once when joined to {}",
                        self.column_name(*table, *column),
                        self.table_name(root)
                    )));
                }
                let node = self.must(*table, false)?;
                self.built.columns.insert((*table, *column));
                Ok(Expr::Aggregate(*aggregate, node, *column))
            }
            Measure::Metric(term) => {
                let metric = self.metric(*term)?;
                if metric.table != root {
                    let name = self.context.glossary.terms.get(*term).map_or("", |term| term.name.as_str());
                    return Err(Why::Kind(format!(
                        "`{name}` would be counted more than once when joined to {}",
                        self.table_name(root)
                    )));
                }
                let start = metric.sql.trim_start().to_lowercase();
                self.built.additive = start.starts_with("sum(") || start.starts_with("count(*)");
                self.built.terms.insert(*term);
                let nodes = self.fragment_nodes(&metric.sql, metric.table)?;
                if let Some(filter) = &metric.filter {
                    let filter_nodes = self.fragment_nodes(filter, metric.table)?;
                    let name = self.context.glossary.terms.get(*term).map_or("", |term| term.name.as_str());
                    let pred = Pred::Raw(filter.clone(), filter_nodes);
                    if self.contradicted(filter) {
                        return Err(Why::Ambiguous(format!(
                            "`{name}` already means only rows where {filter}"
                        )));
                    }
                    if !self.built.query.preds.contains(&pred) {
                        self.built.query.preds.push(pred);
                        self.built.assumptions.push(format!(
                            "`{name}` counts only rows where {filter}, as the glossary has it."
                        ));
                    }
                }
                Ok(Expr::Raw(metric.sql.clone(), nodes))
            }
        }
    }

    /// True when what is counted is what each listed row points to, so that the count could only be one.
    fn one_each(&self, table: usize) -> bool {
        let root = self.tree.root();
        table != root && self.frame.entity == Some(Key::Table(root))
    }

    /// True when the question restricts a column that the measure's own condition restricts.
    fn contradicted(&self, filter: &str) -> bool {
        let columns = crate::fragment::columns(filter);
        self.frame.filters.iter().filter_map(|filter| filter.kind.column()).any(|(table, column)| {
            let owner = self.context.schema.table(table).map_or("", |table| table.reference.name.as_str());
            let name = self.context.schema.column(table, column).map_or("", |column| column.name.as_str());
            columns.iter().any(|(qualified, bare)| {
                bare == name && qualified.as_deref().is_none_or(|table| table == owner)
            })
        })
    }

    /// The nodes of the tables that a fragment names, its own first.
    fn fragment_nodes(&mut self, sql: &str, own: usize) -> Result<Vec<(usize, usize)>, Why> {
        let mut nodes = vec![(own, self.must(own, false)?)];
        for name in crate::fragment::tables(sql) {
            let Some(table) =
                self.context.schema.tables.iter().position(|table| table.reference.name == name)
            else {
                continue;
            };
            if table != own {
                nodes.push((table, self.must(table, false)?));
            }
        }
        Ok(nodes)
    }

    fn keys(&mut self, key: Key, keep: bool) -> Result<Vec<(Expr, Option<String>, bool)>, Why> {
        let schema = self.context.schema;
        match key {
            Key::Table(table) => {
                let node = self.must(table, keep)?;
                let detail = schema.table(table);
                let (own, label) =
                    detail.map(|table| (table.key.clone(), table.label.clone())).unwrap_or_default();
                if own.is_empty() && label.is_empty() {
                    return Err(Why::Kind(format!(
                        "{} has neither a key nor a name",
                        self.table_name(table)
                    )));
                }
                let mut found: Vec<(Expr, Option<String>, bool)> = Vec::new();
                for column in &label {
                    found.push((Expr::Column(node, *column), None, true));
                }
                for column in own.iter().filter(|column| !label.contains(column)) {
                    found.push((Expr::Column(node, *column), None, label.is_empty()));
                }
                Ok(found)
            }
            Key::Column(table, column) => {
                let node = self.must(table, keep)?;
                self.built.columns.insert((table, column));
                Ok(vec![(Expr::Column(node, column), None, true)])
            }
            Key::Time(grain) => {
                let place = times::choose(self.context, self.frame, &self.tree, None)?;
                let Some((table, column)) = place else {
                    return Err(Why::Kind(format!("nothing here has a time to go by {}", grain.word())));
                };
                let node = self.must(table, false)?;
                self.note_time(table, column);
                Ok(vec![(Expr::Step(grain, node, column), Some(grain.word().into()), true)])
            }
        }
    }

    fn note_time(&mut self, table: usize, column: usize) {
        self.built.columns.insert((table, column));
        let told = format!("{} dates a row.", self.column_name(table, column));
        if !self.built.assumptions.contains(&told) {
            self.built.assumptions.push(told);
        }
    }

    fn grouped(&mut self, frame: &Frame, measures: &[Measure], rank: Option<&Measure>) -> Result<(), Why> {
        let keep = frame.rank.is_none() && frame.having.is_empty() && frame.entity.is_none();
        let entity = if measures.is_empty() || rank.is_some() || !frame.having.is_empty() {
            frame.entity
        } else {
            frame.entity.filter(|_| frame.groups.is_empty())
        };
        let mut shown_keys = Vec::new();
        for key in entity.into_iter().chain(frame.groups.iter().copied()) {
            for (expr, alias, shown) in self.keys(key, keep)? {
                if !self.built.query.groups.contains(&expr) {
                    self.built.query.groups.push(expr.clone());
                }
                if shown {
                    shown_keys.push(expr.clone());
                    self.built.query.select.push(Output { expr, alias });
                }
            }
        }
        for (table, column) in &frame.outputs {
            let node = self.must(*table, false)?;
            let expr = Expr::Column(node, *column);
            self.built.columns.insert((*table, *column));
            if !self.built.query.select.iter().any(|output| output.expr == expr) {
                let dependent = matches!(entity, Some(Key::Table(owner)) if owner == *table);
                if !dependent && !self.built.query.groups.contains(&expr) {
                    return Err(Why::Kind(format!(
                        "{} is not one for each group",
                        self.column_name(*table, *column)
                    )));
                }
                self.built.query.groups.push(expr.clone());
                self.built.query.select.push(Output { expr, alias: None });
            }
        }
        let mut first = None;
        for measure in measures.iter().chain(rank) {
            let expr = self.expr(measure)?;
            if self.built.query.select.iter().any(|output| output.expr == expr) {
                first.get_or_insert(expr);
                continue;
            }
            let alias = self.alias(measure);
            self.built.query.select.push(Output { expr: expr.clone(), alias: Some(alias) });
            first.get_or_insert(expr);
        }
        for (measure, comparison, value) in &frame.having {
            let expr = self.expr(measure)?;
            if !self.built.query.select.iter().any(|output| output.expr == expr) {
                let alias = self.alias(measure);
                self.built.query.select.push(Output { expr: expr.clone(), alias: Some(alias) });
            }
            self.built.query.having.push((expr, comparison.sql(), print::number(*value)));
        }
        if let Some(wanted) = &frame.rank {
            let by = match (rank, &wanted.by) {
                (Some(measure), _) => self.expr(measure)?,
                (None, Some(By::Column(table, column))) => Expr::Column(self.must(*table, false)?, *column),
                _ => return Err(Why::Kind("a rank".into())),
            };
            self.built.query.order.push((by.clone(), wanted.descending));
            // A group without a value is neither first nor last.
            if let Expr::Aggregate(..) = by
                && !wanted.descending
            {
                self.built.cost += 0.05;
            }
            self.limit(wanted.count)?;
        } else if let Some((by, descending)) = &frame.order {
            let expr = match by {
                Some(By::Measure(measure)) => self.expr(measure)?,
                Some(By::Column(table, column)) => {
                    let node = self.must(*table, false)?;
                    let column = Expr::Column(node, *column);
                    if self.built.query.groups.contains(&column) {
                        column
                    } else {
                        first.clone().unwrap_or(column)
                    }
                }
                _ if *descending => first.clone().unwrap_or(Expr::CountRows),
                _ => shown_keys.first().cloned().or(first.clone()).unwrap_or(Expr::CountRows),
            };
            self.built.query.order.push((expr, *descending));
        }
        let ordered: Vec<Expr> = self.built.query.order.iter().map(|(expr, _)| expr.clone()).collect();
        for expr in shown_keys.iter().chain(&self.built.query.groups.clone()) {
            if !ordered.contains(expr) && !self.built.query.order.iter().any(|(known, _)| known == expr) {
                self.built.query.order.push((expr.clone(), false));
            }
        }
        Ok(())
    }

    fn limit(&mut self, count: Option<u32>) -> Result<(), Why> {
        match count {
            Some(count) => self.built.query.limit = Some(count),
            None => return Err(Why::Ambiguous("it does not say how many of them to show".into())),
        }
        Ok(())
    }

    fn alias(&self, measure: &Measure) -> String {
        let table = |table: usize| {
            self.context
                .schema
                .table(table)
                .map_or("rows".to_owned(), |table| table.reference.name.to_lowercase())
        };
        let column = |table: usize, column: usize| {
            self.context
                .schema
                .column(table, column)
                .map_or("value".to_owned(), |column| column.name.to_lowercase())
        };
        match measure {
            Measure::Count(at) => format!("{}_count", table(*at)),
            Measure::CountValues(at, name) => format!("{}_count", column(*at, *name)),
            Measure::Aggregate(aggregate, at, name) => {
                let lead = match aggregate {
                    Aggregate::Count => "count",
                    Aggregate::Sum => "total",
                    Aggregate::Average => "average",
                    Aggregate::Minimum => "lowest",
                    Aggregate::Maximum => "highest",
                    Aggregate::Median => "median",
                };
                let name = column(*at, *name);
                if name.starts_with(lead) { name } else { format!("{lead}_{name}") }
            }
            Measure::Metric(term) => {
                self.context.glossary.terms.get(*term).map_or("value".to_owned(), |term| {
                    term.name
                        .to_lowercase()
                        .split(|c: char| !c.is_alphanumeric())
                        .filter(|part| !part.is_empty())
                        .collect::<Vec<_>>()
                        .join("_")
                })
            }
        }
    }

    fn list(&mut self, frame: &Frame) -> Result<(), Why> {
        let ranked = match frame.rank.as_ref().and_then(|rank| rank.by.as_ref()) {
            Some(By::Column(table, column)) => Some((self.must(*table, false)?, *table, *column)),
            _ => None,
        };
        let mut order: Vec<(Expr, bool)> = Vec::new();
        match frame.entity {
            Some(Key::Table(table)) => {
                let node = self.must(table, false)?;
                let detail = self.context.schema.table(table);
                let (key, label) =
                    detail.map(|table| (table.key.clone(), table.label.clone())).unwrap_or_default();
                let named =
                    frame.outputs.iter().any(|(owner, column)| *owner == table && !key.contains(column));
                let shown: Vec<usize> = if label.is_empty() && !named {
                    (0..detail.map_or(0, |table| table.columns.len())).take(12).collect()
                } else {
                    label.iter().copied().filter(|_| !named || frame.rank.is_none()).collect()
                };
                for column in shown {
                    self.show(node, table, column);
                }
                for column in key.iter().filter(|column| !label.contains(column)) {
                    order.push((Expr::Column(node, *column), false));
                }
                for column in label.iter().rev() {
                    order.insert(0, (Expr::Column(node, *column), false));
                }
            }
            Some(Key::Column(table, column)) => {
                let node = self.must(table, false)?;
                self.show(node, table, column);
                self.built.query.distinct = ranked.is_none();
                if ranked.is_none() {
                    self.built.query.preds.push(Pred::Null(node, column, false));
                }
                order.push((Expr::Column(node, column), false));
            }
            Some(Key::Time(_)) => return Err(Why::Kind("a list of times".into())),
            None => self.built.query.distinct = true,
        }
        for (table, column) in &frame.outputs {
            let node = self.must(*table, true)?;
            self.show(node, *table, *column);
            if frame.entity.is_none() {
                order.push((Expr::Column(node, *column), false));
            }
        }
        if frame.distinct {
            self.built.query.distinct = true;
            // With DISTINCT only what is shown can be ordered by.
            let shown: Vec<Expr> = self.built.query.select.iter().map(|output| output.expr.clone()).collect();
            order.retain(|(expr, _)| shown.contains(expr));
        }
        if let (Some((node, table, column)), Some(rank)) = (ranked, &frame.rank) {
            self.show(node, table, column);
            let nullable = self.context.schema.column(table, column).is_some_and(|column| column.nullable);
            if nullable && !rank.descending {
                self.built.query.preds.push(Pred::Null(node, column, false));
            }
            order.insert(0, (Expr::Column(node, column), rank.descending));
            self.limit(rank.count)?;
        } else if let Some((by, descending)) = &frame.order {
            match by {
                Some(By::Column(table, column)) => {
                    let node = self.must(*table, true)?;
                    order.retain(|(expr, _)| *expr != Expr::Column(node, *column));
                    self.show(node, *table, *column);
                    order.insert(0, (Expr::Column(node, *column), *descending));
                }
                None => {
                    if let Some(first) = order.first_mut() {
                        first.1 = *descending;
                    }
                }
                Some(_) => return Err(Why::Kind("a list ordered by a measure".into())),
            }
        }
        self.built.query.order = order;
        if self.built.query.select.is_empty() { Err(Why::Kind("nothing to show".into())) } else { Ok(()) }
    }

    fn show(&mut self, node: usize, table: usize, column: usize) {
        self.built.columns.insert((table, column));
        let expr = Expr::Column(node, column);
        if !self.built.query.select.iter().any(|output| output.expr == expr) {
            self.built.query.select.push(Output { expr, alias: None });
        }
    }

    fn share(&mut self, frame: &Frame) -> Result<(), Why> {
        let Some((_, place)) = frame.share else { return Ok(()) };
        let (part, rest): (Vec<&Filter>, Vec<&Filter>) =
            frame.filters.iter().partition(|filter| filter.at > place);
        if part.is_empty() || !rest.is_empty() || !frame.anti.is_empty() {
            return Err(Why::Kind("a share whose part and whole are not told apart".into()));
        }
        let mut preds = Vec::new();
        for filter in part {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else {
                return Err(Why::Kind("a share by a condition".into()));
            };
            let node = self.must(table, false)?;
            preds.push(pred(node, filter.negated));
        }
        let mut groups = Vec::new();
        for key in frame.groups.iter().copied() {
            for (expr, alias, shown) in self.keys(key, true)? {
                groups.push(expr.clone());
                if shown {
                    self.built.query.order.push((expr.clone(), false));
                    self.built.query.select.push(Output { expr, alias });
                }
            }
        }
        self.built.query.groups = groups;
        self.built.query.select.push(Output { expr: Expr::Share(preds), alias: Some("percentage".into()) });
        Ok(())
    }

    #[allow(clippy::type_complexity, reason = "the condition waits for the node of its table")]
    fn filter_pred(
        &mut self,
        kind: &FilterKind,
    ) -> Result<Option<(usize, Box<dyn Fn(usize, bool) -> Pred>)>, Why> {
        if let Some((table, column)) = kind.column() {
            self.built.columns.insert((table, column));
        }
        let kind = kind.clone();
        let negate = |pred: Pred, negated: bool| if negated { Pred::Not(Box::new(pred)) } else { pred };
        Ok(Some(match kind {
            FilterKind::Values(table, column, values) => {
                let values: Vec<String> = values.iter().map(|value| print::text(value)).collect();
                (
                    table,
                    Box::new(move |node, negated| {
                        let pred = match values.as_slice() {
                            [only] => Pred::Compare(node, column, "=", only.clone()),
                            many => Pred::In(node, column, many.to_vec()),
                        };
                        negate(pred, negated)
                    }),
                )
            }
            FilterKind::Text(table, column, value) => {
                let value = print::text(&value);
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::SameText(node, column, value.clone()), negated)
                    }),
                )
            }
            FilterKind::Compare(table, column, comparison, value) => {
                let value = print::number(value);
                let operator = match comparison {
                    Comparison::Unequal => "<>",
                    other => other.sql(),
                };
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::Compare(node, column, operator, value.clone()), negated)
                    }),
                )
            }
            FilterKind::Between(table, column, low, high) => {
                let range = format!("{} AND {}", print::number(low.min(high)), print::number(low.max(high)));
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::Compare(node, column, "BETWEEN", range.clone()), negated)
                    }),
                )
            }
            FilterKind::Missing(table, column) => {
                (table, Box::new(move |node, negated| Pred::Null(node, column, !negated)))
            }
            FilterKind::Flag(table, column, sense) => {
                (table, Box::new(move |node, negated| Pred::Flag(node, column, sense != negated)))
            }
            FilterKind::Condition(term) => {
                let conditions = self
                    .context
                    .glossary
                    .terms
                    .get(term)
                    .map(|term| term.conditions.clone())
                    .unwrap_or_default();
                let root = self.tree.root();
                let own = conditions.iter().find(|(table, _)| *table == root).cloned();
                let near = conditions.iter().find(|(table, _)| {
                    matches!(joins::path(self.context.schema, root, *table, self.context.words), Ok(Some(_)))
                });
                let Some((table, sql)) =
                    own.or_else(|| near.cloned()).or_else(|| conditions.first().cloned())
                else {
                    return Ok(None);
                };
                self.built.terms.insert(term);
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::Raw(sql.clone(), vec![(table, node)]), negated)
                    }),
                )
            }
        }))
    }

    /// Conditions on tables that the root reaches are joined; on others they ask whether such a row exists.
    fn filters(&mut self, frame: &Frame) -> Result<(), Why> {
        if frame.share.is_some() {
            return Ok(());
        }
        for filter in &frame.filters {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else { continue };
            match self.node(table, false)? {
                Some(node) => {
                    self.inner(node);
                    let pred = pred(node, filter.negated);
                    if !self.built.query.preds.contains(&pred) {
                        self.built.query.preds.push(pred);
                    }
                }
                None => self.exists(false, &[table], |nodes| {
                    let node = nodes(table).unwrap_or(0);
                    vec![pred(node, filter.negated)]
                })?,
            }
        }
        Ok(())
    }

    /// A condition on a joined table leaves no row without a partner.
    fn inner(&mut self, node: usize) {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.tree.nodes.get_mut(at)) {
            node.left = false;
            at = node.parent.map(|(parent, _)| parent);
        }
    }

    fn exists(
        &mut self,
        negated: bool,
        tables: &[usize],
        preds: impl Fn(&dyn Fn(usize) -> Option<usize>) -> Vec<Pred>,
    ) -> Result<(), Why> {
        let schema = self.context.schema;
        let root = self.tree.root();
        let mut existence = joins::existence(schema, 0, root, tables, self.context.words)?;
        let place = |table: usize| existence.nodes.iter().position(|node| node.table == table);
        existence.preds = preds(&place);
        self.built.tables.extend(existence.nodes.iter().map(|node| node.table));
        // Two conditions on the same rows are one question about them.
        for pred in &mut self.built.query.preds {
            if let Pred::Exists(known, other) = pred
                && *known == negated
                && other.nodes == existence.nodes
                && (other.last, other.edge) == (existence.last, existence.edge)
            {
                other.preds.extend(existence.preds);
                return Ok(());
            }
        }
        self.built.query.preds.push(Pred::Exists(negated, Box::new(existence)));
        Ok(())
    }

    fn context_tables(&mut self, frame: &Frame) -> Result<(), Why> {
        for (table, _) in &frame.context {
            if self.tree.nodes.iter().any(|node| node.table == *table) || self.built.tables.contains(table) {
                continue;
            }
            let mut probe = self.tree.clone();
            match probe.reach(self.context.schema, *table, false, self.context.words)? {
                Some(node) => {
                    // A partner that is always there restricts nothing, so it is not joined.
                    let mut optional = false;
                    let mut at = Some(node);
                    while let Some(step) = at.and_then(|at| probe.nodes.get(at)) {
                        if let Some((parent, edge)) = step.parent {
                            let table = probe
                                .nodes
                                .get(parent)
                                .and_then(|node| self.context.schema.table(node.table));
                            optional |= table
                                .and_then(|table| table.edges.get(edge))
                                .is_some_and(|edge| edge.optional);
                        }
                        at = step.parent.map(|(parent, _)| parent);
                    }
                    if optional {
                        self.tree = probe;
                        self.built
                            .assumptions
                            .push(format!("Only rows with a partner in {} count.", self.table_name(*table)));
                    }
                    self.built.tables.insert(*table);
                }
                None => self.exists(false, &[*table], |_| Vec::new())?,
            }
        }
        Ok(())
    }

    fn anti(&mut self, frame: &Frame) -> Result<(), Why> {
        for table in &frame.anti {
            if frame.share.is_some()
                || (!frame.groups.is_empty() && frame.entity.is_none() && frame.measures.is_empty())
            {
                return Err(Why::Kind("a negation within a share or a grouping".into()));
            }
            // Where each row points to the table, what is missing is the key itself.
            let mut probe = Tree::new(self.tree.root());
            if probe.reach(self.context.schema, *table, false, self.context.words)?.is_some() {
                match probe.nodes.as_slice() {
                    [_, only] if only.parent.is_some_and(|(parent, _)| parent == 0) => {
                        let edge = only.parent.map_or(0, |(_, edge)| edge);
                        let column = self
                            .context
                            .schema
                            .table(self.tree.root())
                            .and_then(|table| table.edges.get(edge)?.from.first().copied());
                        let Some(column) = column else { return Err(Why::Kind("a negation".into())) };
                        self.built.query.preds.push(Pred::Null(0, column, true));
                        self.built.tables.insert(*table);
                        self.built.columns.insert((self.tree.root(), column));
                    }
                    _ => return Err(Why::Kind("a negation over several keys".into())),
                }
                continue;
            }
            self.exists(true, &[*table], |_| Vec::new())?;
        }
        // What happened in a period and what never happened in it are different questions.
        if !frame.anti.is_empty() && !frame.moments.is_empty() {
            return Err(Why::Kind("a negation within a period".into()));
        }
        Ok(())
    }

    fn time(&mut self, frame: &Frame, root: usize) -> Result<(), Why> {
        let mut periods: Vec<Period> = Vec::new();
        for (index, _) in &frame.moments {
            let Some(found) = self.context.reading.moments.get(*index) else { continue };
            self.built.assumptions.extend(found.assumption.clone());
            match periods.last_mut() {
                Some(before) if before.until.is_some() && before.until == found.period.from => {
                    before.until = found.period.until
                }
                Some(_) => return Err(Why::Kind("a comparison of two periods".into())),
                None => periods.push(found.period),
            }
        }
        let Some(period) = periods.pop() else { return Ok(()) };
        let at = frame.moments.first().map(|(_, at)| *at);
        let place = times::choose(self.context, frame, &self.tree, at)?;
        let Some((table, column)) = place else {
            return match times::year_column(self.context, &self.tree, &period) {
                Some((table, column)) => {
                    let node = self.must(table, false)?;
                    self.note_time(table, column);
                    self.built.query.preds.push(Pred::Years(node, column, period));
                    Ok(())
                }
                None => Err(Why::Kind(format!("{} has no time to restrict", self.table_name(root)))),
            };
        };
        times::covered(self.context, table, &period)?;
        self.note_time(table, column);
        match self.node(table, false)? {
            Some(node) => {
                self.built.query.preds.push(Pred::Within(node, column, period));
                Ok(())
            }
            None => self.exists(false, &[table], |nodes| {
                vec![Pred::Within(nodes(table).unwrap_or(0), column, period)]
            }),
        }
    }

    fn finish(&mut self, frame: &Frame) {
        self.built.query.nodes = self.tree.nodes.clone();
        self.built.tables.extend(self.tree.nodes.iter().map(|node| node.table));
        let unverified = self.tree.nodes.iter().filter_map(|node| {
            let (parent, edge) = node.parent?;
            let table = self.context.schema.table(self.tree.nodes.get(parent)?.table)?;
            (!table.edges.get(edge)?.verified).then(|| (table.reference.name.clone(), node.table))
        });
        for (from, to) in unverified.collect::<Vec<_>>() {
            let told = format!(
                "`{from}` and {} are joined by a guess from their column names.",
                self.table_name(to)
            );
            self.built.assumptions.push(told);
            self.built.cost += 0.1;
        }
        self.built.cost += 0.12 * (self.tree.nodes.len().saturating_sub(1)) as f64;
        self.built.cost += 0.1
            * self.built.query.preds.iter().filter(|pred| matches!(pred, Pred::Exists(..))).count() as f64;
        let unselected = self
            .built
            .tables
            .iter()
            .filter(|table| self.context.schema.table(**table).is_some_and(|table| !table.selected))
            .count();
        self.built.cost += 0.05 * unselected as f64;
        if frame.rank.as_ref().is_some_and(|rank| rank.count == Some(1)) {
            self.built.assumptions.push("Of equal ones the first by name is shown.".into());
        }
    }
}

/// The name of a thing stands for the thing: `which product` for products by name.
fn label_entities(schema: &Schema, frame: &mut Frame) {
    if frame.entity.is_none()
        && frame.rank.is_some()
        && let [(table, column)] = frame.outputs.as_slice()
    {
        frame.entity = Some(Key::Column(*table, *column));
        frame.outputs.clear();
    }
    let settle = |key: &mut Key| {
        if let Key::Column(table, column) = *key
            && schema.table(table).is_some_and(|detail| detail.label == [column] && !detail.key.is_empty())
        {
            *key = Key::Table(table);
        }
    };
    if let Some(entity) = frame.entity.as_mut() {
        settle(entity);
    }
    for key in &mut frame.groups {
        settle(key);
    }
}
