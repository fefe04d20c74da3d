//! From a frame to a query: the root, the joins, the filters, and what had to be taken for granted.

mod conditions;
mod deeds;
mod elsewhere;
mod measures;
mod quotients;
mod ranks;
mod shapes;
use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::{Aggregate, Comparison, Op, Quality, Reading};

use crate::frame::{By, Filter, FilterKind, Frame, Key, Measure, Ratio};
use crate::glossary::{Glossary, Metric};
use crate::joins::{self, Tree};
use crate::logical::{Expr, Output, Pred, Query};
use crate::parts;
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
    /// What the groups are called when they are counted in turn.
    pub counted: Option<String>,
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

/// Builds the query of a frame. Of a measure that several tables give, the one of `member` is taken; its time is then
/// checked over all of them together and not here.
pub fn build(context: &Context<'_>, frame: &Frame, member: Option<usize>, part: bool) -> Result<Built, Why> {
    Builder { context, frame, member, part, tree: Tree::new(0), built: empty() }.run()
}

fn empty() -> Built {
    Built {
        query: Query::default(),
        assumptions: Vec::new(),
        tables: BTreeSet::new(),
        columns: BTreeSet::new(),
        terms: BTreeSet::new(),
        counted: None,
        cost: 0.0,
    }
}

struct Builder<'a> {
    context: &'a Context<'a>,
    frame: &'a Frame,
    member: Option<usize>,
    part: bool,
    tree: Tree,
    built: Built,
}

impl<'a> Builder<'a> {
    fn run(mut self) -> Result<Built, Why> {
        let schema = self.context.schema;
        let mut frame = self.frame.clone();
        label_entities(schema, &mut frame);
        self.settle_rank(&mut frame)?;
        existing(&mut frame);
        if frame.nested.is_some()
            && (frame.groups.is_empty() || frame.rank.is_some() || frame.measures.len() != 1)
        {
            return Err(Why::Kind("an aggregate of counts without one group to count in".into()));
        }
        let measures = frame.measures.clone();
        let rank_measure = match frame.rank.as_ref().and_then(|rank| rank.by.clone()) {
            Some(By::Measure(measure)) => Some(measure),
            _ => None,
        };
        let grouped = rank_measure.is_some()
            || !measures.is_empty()
            || !frame.having.is_empty()
            || !frame.over.is_empty()
            || frame.place.is_some()
            || frame.ratio.is_some();
        let first_of_each = frame.rank.is_some() && frame.entity.is_some();
        if !grouped && !frame.groups.is_empty() && frame.share.is_none() && !first_of_each {
            return Err(Why::Kind("a grouping with nothing to compute".into()));
        }
        if frame.rank.as_ref().is_some_and(|rank| rank.by.is_none()) {
            return Err(Why::Kind("what the rank goes by is not named".into()));
        }
        let ranked_groups = frame.combined && frame.entity.is_none() && !frame.groups.is_empty();
        if rank_measure.is_some() && frame.entity.is_none() && !ranked_groups {
            return Err(Why::Kind("a rank without a thing to rank".into()));
        }
        if frame.rank.is_some()
            && frame.entity.is_some()
            && frame.rank.as_ref().is_some_and(|rank| rank.count.is_none())
            && !frame.groups.is_empty()
        {
            return Err(Why::Ambiguous("it does not say how many of each group to show".into()));
        }
        if frame.share.is_some() && (!measures.is_empty() || frame.rank.is_some()) {
            return Err(Why::Kind("a share beside another measure".into()));
        }
        if measures.is_empty()
            && rank_measure.is_none()
            && frame.entity.is_none()
            && frame.share.is_none()
            && frame.outputs.is_empty()
            && frame.ratio.is_none()
            && frame.place.is_none()
        {
            return Err(Why::Kind("what is asked for is not clear".into()));
        }
        let listed = matches!(frame.entity, Some(Key::Table(table)) if frame.over.iter().all(|(_, _, own)| own.0 == table));
        if !frame.over.is_empty() && (!listed || frame.rank.is_some() || !measures.is_empty()) {
            return Err(Why::Kind("a comparison with a column of something that is not listed".into()));
        }
        let anchors = self.anchors(&frame, &measures, rank_measure.as_ref())?;
        self.tree = match joins::root(schema, &anchors, self.context.words) {
            Ok(root) => Tree::new(root),
            Err(why) => self.fan(&frame, &measures, rank_measure.as_ref()).ok_or(why)?,
        };
        let root = self.tree.root();
        self.time(&frame, root)?;
        if frame.share.is_some() {
            self.share(&frame)?;
        } else if let Some(ratio) = &frame.ratio {
            self.quotient(&frame, ratio)?;
        } else if grouped {
            self.grouped(&frame, &measures, rank_measure.as_ref())?;
        } else {
            self.list(&frame)?;
        }
        self.weekend(&frame)?;
        self.filters(&frame)?;
        self.deed(&frame)?;
        self.deed_between(&frame)?;
        self.one_deed(&frame);
        self.undone(&frame)?;
        if frame.share.is_none() {
            self.context_tables(&frame)?;
            self.anti(&frame)?;
        }
        self.none(&frame)?;
        if let Some(Key::Table(table)) = frame.entity {
            self.built.counted = Some(self.alias(&Measure::Count(table)));
        }
        self.finish(&frame);
        self.sound()?;
        Ok(self.built)
    }

    fn table_name(&self, table: usize) -> String {
        self.context.schema.table(table).map_or(String::new(), |table| format!("`{}`", table.reference.name))
    }

    fn column_name(&self, table: usize, column: usize) -> String {
        let owner = self.context.schema.table(table).map_or("", |table| table.reference.name.as_str());
        let name = self.context.schema.column(table, column).map_or("", |column| column.name.as_str());
        format!("`{owner}.{name}`")
    }

    /// The tables that the root must reach.
    fn anchors(
        &self,
        frame: &Frame,
        measures: &[Measure],
        rank: Option<&Measure>,
    ) -> Result<Vec<usize>, Why> {
        let mut anchors = Vec::new();
        let sides =
            frame.ratio.iter().flat_map(|ratio| ratio.above.measures.iter().chain(&ratio.below.measures));
        for measure in measures
            .iter()
            .chain(rank)
            .chain(&frame.place)
            .chain(frame.over.iter().map(|(measure, _, _)| measure))
            .chain(sides)
            .chain(frame.having.iter().filter(|_| frame.share.is_none()).map(|(measure, _, _)| measure))
        {
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

    /// The rows of one table gathered by what hangs on something they point to: reviews by the categories of their shops.
    /// A row counts once for each of them.
    fn fan(&mut self, frame: &Frame, measures: &[Measure], rank: Option<&Measure>) -> Option<Tree> {
        let mut all = measures.iter().chain(rank);
        let (measure, none) = (all.next()?, all.next());
        let table = self.measure_table(measure).ok().filter(|_| none.is_none())?;
        let mut keys = frame.entity.iter().chain(&frame.groups);
        let (key, other) = (keys.next()?, keys.next());
        let (Key::Table(to) | Key::Column(to, _), None) = (key, other) else { return None };
        let plain = frame.outputs.is_empty() && frame.having.is_empty() && frame.share.is_none();
        let tree = joins::fan(self.context.schema, table, *to).filter(|_| plain)?;
        self.built
            .assumptions
            .push(format!("A row counts once for each of {} that it belongs to.", self.table_name(*to)));
        self.built.cost += 0.2;
        Some(tree)
    }

    /// Refuses a query that can hold no row: a key that is missing and joined by, a column with and without one value.
    fn sound(&self) -> Result<(), Why> {
        let missing = self.built.query.preds.iter().filter_map(|pred| match pred {
            Pred::Null(node, column, true) => Some((*node, *column)),
            Pred::Raw(sql, nodes) => {
                let (table, node) = nodes.first()?;
                let name = sql.trim().to_lowercase();
                let name = name.strip_suffix(" is null")?.rsplit('.').next()?.trim().to_owned();
                Some((*node, self.context.schema.table(*table)?.column(&name)?))
            }
            _ => None,
        });
        // With and without a value at once.
        let raw = |pred: &Pred| match pred {
            Pred::Raw(sql, _) => Some(sql.trim().to_lowercase()),
            _ => None,
        };
        let known: Vec<String> = self.built.query.preds.iter().filter_map(raw).collect();
        let both = known.iter().any(|sql| {
            sql.strip_suffix(" is null")
                .is_some_and(|column| known.contains(&format!("{column} is not null")))
        });
        if both {
            return Err(Why::Kind("what has a value and has none".into()));
        }
        for (node, column) in missing {
            let joined = self.tree.nodes.iter().any(|other| {
                !other.left
                    && other.parent.is_some_and(|(parent, edge)| {
                        parent == node
                            && self
                                .tree
                                .nodes
                                .get(parent)
                                .and_then(|parent| self.context.schema.table(parent.table))
                                .and_then(|table| table.edges.get(edge))
                                .is_some_and(|edge| edge.from.contains(&column))
                    })
            });
            if joined {
                return Err(Why::Kind("what has no partner, joined to it".into()));
            }
        }
        Ok(())
    }

    fn finish(&mut self, frame: &Frame) {
        self.built.query.nodes = self.tree.nodes.clone();
        self.built.tables.extend(self.tree.nodes.iter().map(|node| node.table));
        let keys = self.tree.nodes.iter().filter_map(|node| {
            let (parent, edge) = node.parent?;
            let table = if node.up { node.table } else { self.tree.nodes.get(parent)?.table };
            Some((table, *self.context.schema.table(table)?.edges.get(edge)?.from.first()?))
        });
        self.built.columns.extend(keys.collect::<Vec<_>>());
        let unverified = self.tree.nodes.iter().filter_map(|node| {
            let (parent, edge) = node.parent?;
            let (own, other) = (self.tree.nodes.get(parent)?.table, node.table);
            let table = self.context.schema.table(if node.up { other } else { own })?;
            let to = if node.up { own } else { other };
            (!table.edges.get(edge)?.verified).then(|| (table.reference.name.clone(), to))
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
            self.built.assumptions.push("Of equal ones the first by key is shown.".into());
        }
    }
}

/// `products that have at least one review`: such rows are there, and how many does not matter.
fn existing(frame: &mut Frame) {
    let listed = frame.measures.is_empty()
        && frame.groups.is_empty()
        && !matches!(frame.rank.as_ref().and_then(|rank| rank.by.as_ref()), Some(By::Measure(_)));
    if !listed || !matches!(frame.entity, Some(Key::Table(_))) {
        return;
    }
    let some = |(measure, comparison, value): &(Measure, Comparison, f64)| {
        let one = (*comparison == Comparison::AtLeast && *value == 1.0)
            || (*comparison == Comparison::More && *value == 0.0);
        one && matches!(measure, Measure::Count(_))
    };
    if !frame.having.iter().all(some) {
        return;
    }
    for (measure, _, _) in std::mem::take(&mut frame.having) {
        if let Measure::Count(table) = measure {
            frame.context.push((table, 0));
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
    // The names of things are the things by name.
    if frame.entity.is_none()
        && frame.measures.is_empty()
        && frame.share.is_none()
        && let [(table, column)] = frame.outputs.as_slice()
        && schema.table(*table).is_some_and(|detail| detail.label == [*column] && !detail.key.is_empty())
    {
        frame.entity = Some(Key::Table(*table));
        frame.outputs.clear();
    }
    let measured: Vec<usize> = frame
        .measures
        .iter()
        .chain(frame.rank.iter().filter_map(|rank| match &rank.by {
            Some(By::Measure(measure)) => Some(measure),
            _ => None,
        }))
        .filter_map(|measure| match measure {
            Measure::Count(table) | Measure::CountValues(table, _) | Measure::Aggregate(_, table, _) => {
                Some(*table)
            }
            Measure::Metric(_) => None,
        })
        .collect();
    // A table of names that each belong to something: the names are what is asked for.
    let named = frame.rank.iter().find_map(|rank| match rank.by {
        Some(By::Measure(Measure::CountValues(table, _))) => Some(table),
        _ => None,
    });
    if let (Some(Key::Table(table)), Some(counted)) = (frame.entity, named)
        && table == counted
        && let Some([label]) = schema.table(table).map(|detail| detail.label.as_slice())
    {
        frame.entity = Some(Key::Column(table, *label));
    }
    let settle = |key: &mut Key| {
        if let Key::Column(table, column) = *key
            // The rows that are counted are gathered by the name, not one by one.
            && !measured.contains(&table)
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
