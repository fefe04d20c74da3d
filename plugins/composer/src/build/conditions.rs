//! Conditions: on joined tables, on rows elsewhere, on time.

use airlock_plugin_sdk::question::stems;

use super::*;

impl<'a> Builder<'a> {
    #[allow(clippy::type_complexity, reason = "the condition waits for the node of its table")]
    pub(super) fn filter_pred(
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
            FilterKind::Like(table, column, pattern) => (
                table,
                Box::new(move |node, negated| negate(Pred::Like(node, column, pattern.clone()), negated)),
            ),
            FilterKind::Mean(table, column, comparison) => {
                let schema = self.context.schema;
                let owner = schema.table(table).map_or("", |table| table.reference.name.as_str());
                let name = schema.column(table, column).map_or("", |column| column.name.as_str());
                let (owner, name) = (print::identifier(owner), print::identifier(name));
                let relation = print::relation(schema, table);
                self.built
                    .assumptions
                    .push(format!("The average is that of all rows of {}.", self.table_name(table)));
                let sql = format!(
                    "{owner}.{name} {} (SELECT avg(every.{name}) FROM {relation} AS every)",
                    comparison.sql()
                );
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::Raw(sql.clone(), vec![(table, node)]), negated)
                    }),
                )
            }
            FilterKind::Pointed(table, column) => {
                let schema = self.context.schema;
                let detail = schema.table(table);
                let key = detail
                    .and_then(|detail| detail.edges.iter().find(|edge| edge.from == [column]))
                    .and_then(|edge| edge.to_columns.first())
                    .and_then(|key| schema.column(table, *key));
                let (Some(detail), Some(key)) = (detail, key) else {
                    return Err(Why::Kind("a key to nothing".into()));
                };
                let name = schema.column(table, column).map_or("", |column| column.name.as_str());
                self.built.columns.insert((table, column));
                let sql = format!(
                    "EXISTS (SELECT 1 FROM {} AS pointing WHERE pointing.{} = {}.{})",
                    print::relation(schema, table),
                    print::identifier(name),
                    print::identifier(&detail.reference.name),
                    print::identifier(&key.name)
                );
                (
                    table,
                    Box::new(move |node, negated| {
                        negate(Pred::Raw(sql.clone(), vec![(table, node)]), negated)
                    }),
                )
            }
            FilterKind::Any(kinds) => {
                let mut parts = Vec::new();
                for kind in &kinds {
                    let Some(part) = self.filter_pred(kind)? else {
                        return Err(Why::Kind("`or` with something that restricts nothing".into()));
                    };
                    parts.push(part);
                }
                let Some((table, _)) = parts.first() else { return Ok(None) };
                let table = *table;
                if parts.iter().any(|(other, _)| *other != table) {
                    return Err(Why::Kind("`or` between conditions on different tables".into()));
                }
                (
                    table,
                    Box::new(move |node, negated| {
                        let all = parts.iter().map(|(_, part)| part(node, false)).collect();
                        negate(Pred::Any(all), negated)
                    }),
                )
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
    pub(super) fn filters(&mut self, frame: &Frame) -> Result<(), Why> {
        if frame.share.is_some() {
            return Ok(());
        }
        let mut elsewhere = Vec::new();
        let mut filters = frame.filters.clone();
        if frame.both {
            filters = self.apart(&filters)?;
        }
        for filter in &filters {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else { continue };
            match self.node(table, false)? {
                Some(node) => {
                    self.inner(node);
                    let pred = pred(node, filter.negated);
                    if !self.built.query.preds.contains(&pred) {
                        self.built.query.preds.push(pred);
                    }
                }
                None => {
                    let named = frame.context.iter().any(|(named, _)| *named == table);
                    self.divisible(frame, table, named)?;
                    elsewhere.push((table, pred, filter.negated));
                }
            }
        }
        if self.through(frame, &elsewhere.iter().map(|(table, _, _)| *table).collect::<Vec<_>>()) {
            let mut tables: Vec<(usize, usize)> = frame.context.clone();
            tables.extend(filters.iter().filter_map(|filter| Some((filter.kind.column()?.0, filter.at))));
            tables.sort_by_key(|(_, at)| *at);
            let mut order: Vec<usize> = Vec::new();
            for (table, _) in tables {
                let here = matches!(
                    joins::path(self.context.schema, self.tree.root(), table, self.context.words),
                    Ok(Some(_))
                ) && !elsewhere.iter().any(|(own, _, _)| *own == table);
                let root = table == self.tree.root();
                if !here && !root && !order.contains(&table) {
                    order.push(table);
                }
            }
            if frame.both {
                for (table, pred, negated) in &elsewhere {
                    self.exists(false, &order, |nodes| vec![pred(nodes(*table).unwrap_or(0), *negated)])?;
                }
                return Ok(());
            }
            return self.exists(false, &order, |nodes| {
                elsewhere
                    .iter()
                    .map(|(table, pred, negated)| pred(nodes(*table).unwrap_or(0), *negated))
                    .collect()
            });
        }
        // One row elsewhere meets all of them where one can: `a strength value of 100`.
        let mut tables: Vec<usize> = elsewhere.iter().map(|(table, _, _)| *table).collect();
        tables.sort_unstable();
        tables.dedup();
        let root = self.tree.root();
        let together = tables.len() > 1
            && !frame.both
            && joins::existence(self.context.schema, 0, root, &tables, self.context.words).is_ok();
        if together {
            return self.exists(false, &tables, |nodes| {
                elsewhere
                    .iter()
                    .map(|(table, pred, negated)| pred(nodes(*table).unwrap_or(0), *negated))
                    .collect()
            });
        }
        for (table, pred, negated) in &elsewhere {
            self.exists(false, &[*table], |nodes| vec![pred(nodes(*table).unwrap_or(0), *negated)])?;
        }
        Ok(())
    }

    /// `both A and B`: rows elsewhere of either, never one row with two values.
    fn apart(&self, filters: &[Filter]) -> Result<Vec<Filter>, Why> {
        let mut found = Vec::new();
        for filter in filters {
            match &filter.kind {
                FilterKind::Values(table, column, values) if values.len() > 1 && !filter.negated => {
                    let mut probe = self.tree.clone();
                    if probe.reach(self.context.schema, *table, false, self.context.words)?.is_some() {
                        return Err(Why::Kind("two values at once of what each row has one of".into()));
                    }
                    for value in values {
                        let kind = FilterKind::Values(*table, *column, vec![value.clone()]);
                        found.push(Filter { kind, ..filter.clone() });
                    }
                }
                _ => found.push(filter.clone()),
            }
        }
        Ok(found)
    }

    /// True when conditions on rows elsewhere are reached through things the question names on the way: `organizations
    /// with authors who wrote publications in the domain "Art"`.
    fn through(&self, frame: &Frame, elsewhere: &[usize]) -> bool {
        let schema = self.context.schema;
        let root = self.tree.root();
        let far: Vec<usize> = frame
            .context
            .iter()
            .map(|(table, _)| *table)
            .filter(|table| !self.tree.nodes.iter().any(|node| node.table == *table))
            .filter(|table| matches!(joins::path(schema, root, *table, self.context.words), Ok(None)))
            .collect();
        if far.is_empty() || elsewhere.is_empty() {
            return false;
        }
        // Where one row elsewhere leads to all of them, as a line does to its order and its product, nothing changes.
        let simple =
            joins::existence(schema, 0, root, elsewhere, self.context.words).is_ok_and(|existence| {
                far.iter().all(|table| existence.nodes.iter().any(|node| node.table == *table))
            });
        !simple
    }

    /// A condition on a joined table leaves no row without a partner.
    pub(super) fn inner(&mut self, node: usize) {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.tree.nodes.get_mut(at)) {
            node.left = false;
            at = node.parent.map(|(parent, _)| parent);
        }
    }

    /// An amount of rows of which only some of many parts meet a condition is no amount of those parts.
    pub(super) fn divisible(&self, frame: &Frame, table: usize, named: bool) -> Result<(), Why> {
        let amount = frame
            .measures
            .iter()
            .chain(frame.rank.iter().filter_map(|rank| match &rank.by {
                Some(By::Measure(measure)) => Some(measure),
                _ => None,
            }))
            .any(|measure| match measure {
                Measure::Metric(term) => {
                    self.metric(*term).is_ok_and(|metric| !metric.sql.trim().eq_ignore_ascii_case("count(*)"))
                }
                Measure::Aggregate(..) => true,
                Measure::Count(_) | Measure::CountValues(..) => false,
            });
        if amount && !named {
            return Err(Why::Kind(format!(
                "an amount of {} by a condition on {}, of which one may have several",
                self.table_name(self.tree.root()),
                self.table_name(table)
            )));
        }
        Ok(())
    }

    /// Days of the week by the date of the rows themselves.
    pub(super) fn weekend(&mut self, frame: &Frame) -> Result<(), Why> {
        let Some(sense) = frame.weekend else { return Ok(()) };
        let root = self.tree.root();
        let Some(column) = times::own(self.context, root)? else {
            return Err(Why::Kind(format!("{} has no date to tell days by", self.table_name(root))));
        };
        self.note_time(root, column);
        let owner = self.context.schema.table(root).map_or("", |table| table.reference.name.as_str());
        let name = self.context.schema.column(root, column).map_or("", |column| column.name.as_str());
        let days = if sense { "IN (6, 7)" } else { "NOT IN (6, 7)" };
        let sql =
            format!("extract(isodow FROM {}.{}) {days}", print::identifier(owner), print::identifier(name));
        self.built.query.preds.push(Pred::Raw(sql, vec![(root, 0)]));
        self.built.assumptions.push("The weekend is Saturday and Sunday.".into());
        Ok(())
    }

    /// `customers joined since 2024`: the date must be one of beginnings, when the verb says that something began.
    pub(super) fn told_by_verb(&self, frame: &Frame, table: usize, column: usize) -> Result<(), Why> {
        let Some(detail) = self.context.schema.column(table, column) else { return Ok(()) };
        let names: Vec<&String> = detail.names.iter().flatten().collect();
        for verb in &frame.verbs {
            let same = names.iter().any(|name| stems::kin(name, verb));
            let began = times::begins(verb) && names.iter().any(|name| times::begins(name));
            if !same && !began {
                return Err(Why::Unknown(vec![verb.clone()]));
            }
        }
        Ok(())
    }

    pub(super) fn time(&mut self, frame: &Frame, root: usize) -> Result<(), Why> {
        let (period, told) = times::window(self.context, frame)?;
        self.built.assumptions.extend(told);
        let Some(period) = period else { return Ok(()) };
        // What never happened in a period is dated by what did not happen.
        if !frame.anti.is_empty() {
            return Ok(());
        }
        let at = frame.moments.first().map(|(_, at)| *at);
        // A year that the rows themselves hold counts before the date of something they point to.
        let own = times::own(self.context, root).ok().flatten().is_none() && frame.time_columns.is_empty();
        if own && let Some((table, column)) = times::year_column(self.context, &Tree::new(root), &period) {
            self.note_time(table, column);
            self.built.query.preds.push(Pred::Years(0, column, period));
            return Ok(());
        }
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
        if !self.part {
            self.built.assumptions.extend(parts::covered(self.context.schema, &[table], &period)?);
        }
        self.told_by_verb(frame, table, column)?;
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
}
