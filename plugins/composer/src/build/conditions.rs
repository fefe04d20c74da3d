//! Conditions: on joined tables, on rows elsewhere, on time.

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
                None => elsewhere.push((table, pred, filter.negated)),
            }
        }
        // One row elsewhere meets all of them where one can: `a strength value of 100`.
        let mut tables: Vec<usize> = elsewhere.iter().map(|(table, _, _)| *table).collect();
        tables.sort_unstable();
        tables.dedup();
        let root = self.tree.root();
        let together = tables.len() > 1
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

    /// A condition on a joined table leaves no row without a partner.
    pub(super) fn inner(&mut self, node: usize) {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.tree.nodes.get_mut(at)) {
            node.left = false;
            at = node.parent.map(|(parent, _)| parent);
        }
    }

    pub(super) fn exists(
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

    pub(super) fn context_tables(&mut self, frame: &Frame) -> Result<(), Why> {
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

    pub(super) fn anti(&mut self, frame: &Frame) -> Result<(), Why> {
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

    pub(super) fn time(&mut self, frame: &Frame, root: usize) -> Result<(), Why> {
        let (period, told) = times::window(self.context, frame)?;
        self.built.assumptions.extend(told);
        let Some(period) = period else { return Ok(()) };
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
        if !self.part {
            self.built.assumptions.extend(parts::covered(self.context.schema, &[table], &period)?);
        }
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
