//! Rows of other tables: those that must be there, and those that must not.

use airlock_plugin_sdk::question::moments::Period;

use crate::schema::Column;

use super::*;

impl<'a> Builder<'a> {
    pub(super) fn exists(
        &mut self,
        negated: bool,
        tables: &[usize],
        preds: impl Fn(&dyn Fn(usize) -> Option<usize>) -> Vec<Pred>,
    ) -> Result<(), Why> {
        let found = self.existing(negated, tables, preds)?;
        // Two conditions on the same rows are one question about them.
        if let Pred::Exists(_, existence) = &found
            && !self.frame.both
        {
            for pred in &mut self.built.query.preds {
                if let Pred::Exists(known, other) = pred
                    && *known == negated
                    && other.nodes == existence.nodes
                    && (other.last, other.edge) == (existence.last, existence.edge)
                {
                    other.preds.extend(existence.preds.iter().cloned());
                    return Ok(());
                }
            }
        }
        self.built.query.preds.push(found);
        Ok(())
    }

    /// The condition that rows elsewhere lead here, or none.
    pub(super) fn existing(
        &mut self,
        negated: bool,
        tables: &[usize],
        preds: impl Fn(&dyn Fn(usize) -> Option<usize>) -> Vec<Pred>,
    ) -> Result<Pred, Why> {
        let schema = self.context.schema;
        let root = self.tree.root();
        let mut existence = joins::existence(schema, 0, root, tables, self.context.words)?;
        let place = |table: usize| existence.nodes.iter().position(|node| node.table == table);
        existence.preds = preds(&place);
        self.built.tables.extend(existence.nodes.iter().map(|node| node.table));
        for node in &existence.nodes {
            let step = node.parent.and_then(|(parent, edge)| {
                let own = if node.up { node.table } else { existence.nodes.get(parent)?.table };
                schema.table(own)?.edges.get(edge).map(|edge| (own, edge.verified))
            });
            if let Some((own, false)) = step {
                self.built
                    .assumptions
                    .push(format!("{} is joined by a guess from its column names.", self.table_name(own)));
            }
        }
        Ok(Pred::Exists(negated, Box::new(existence)))
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
                    self.show_partner(frame, *table)?;
                }
                None => {
                    self.divisible(frame, *table, false)?;
                    self.exists(false, &[*table], |_| Vec::new())?;
                }
            }
        }
        Ok(())
    }

    /// `products with their category`: the name of what each listed row points to.
    pub(super) fn show_partner(&mut self, frame: &Frame, table: usize) -> Result<(), Why> {
        let listed = frame.measures.is_empty() && frame.rank.is_none() && frame.groups.is_empty();
        let asked = self.context.reading.tokens.iter().any(|token| token.is("their") || token.is("its"));
        if !(listed && asked && frame.entity.is_some()) {
            return Ok(());
        }
        let label = self.context.schema.table(table).map(|table| table.label.clone()).unwrap_or_default();
        let node = self.must(table, true)?;
        for column in label {
            self.show(node, table, column);
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
            match self.anti_period(frame, *table)? {
                Some((dated, column, period)) => {
                    let mut tables = vec![*table];
                    if dated != *table {
                        tables.push(dated);
                    }
                    self.exists(true, &tables, |nodes| {
                        vec![Pred::Within(nodes(dated).unwrap_or(0), column, period)]
                    })?;
                }
                None => {
                    self.exists(true, &[*table], |_| Vec::new())?;
                    self.anti_family(*table);
                }
            }
        }
        Ok(())
    }

    /// `products that have nothing on order`: the measure over the rows that point to a thing is zero, or there are none.
    pub(super) fn none(&mut self, frame: &Frame) -> Result<(), Why> {
        let schema = self.context.schema;
        for term in &frame.none {
            let (Some(Key::Table(table)), true) = (frame.entity, frame.moments.is_empty()) else {
                return Err(Why::Kind(
                    "nothing of a measure, with no things to list or within a time".into(),
                ));
            };
            let detail = self.context.glossary.terms.get(*term);
            let Some([metric]) = detail.map(|term| term.metrics.as_slice()) else {
                return Err(Why::Kind("nothing of a measure that several tables hold".into()));
            };
            let (Some(from), Some(to)) = (schema.table(metric.table), schema.table(table)) else { continue };
            let mut keys = from.edges.iter().filter(|edge| edge.to == table && edge.verified);
            let (Some(edge), None, true) = (keys.next(), keys.next(), self.tree.root() == table) else {
                return Err(Why::Kind("nothing of a measure that no one key leads from".into()));
            };
            let name = |table: &str, column: Option<&Column>| {
                let column = column.map_or("", |column| column.name.as_str());
                format!("{}.{}", print::identifier(table), print::identifier(column))
            };
            let mut all: Vec<String> = edge
                .from
                .iter()
                .zip(&edge.to_columns)
                .map(|(own, other)| {
                    let own = name(&from.reference.name, from.columns.get(*own));
                    format!("{own} = {}", name(&to.reference.name, to.columns.get(*other)))
                })
                .collect();
            all.extend(metric.filter.iter().map(|filter| format!("({filter})")));
            let sql = format!(
                "NOT EXISTS (SELECT 1 FROM {} WHERE {} HAVING {} <> 0)",
                print::relation(schema, metric.table),
                all.join(" AND "),
                metric.sql
            );
            self.built.query.preds.push(Pred::Raw(sql, vec![(table, 0)]));
            self.built.tables.insert(metric.table);
            self.built.terms.insert(*term);
        }
        Ok(())
    }

    /// What never happened did not happen in the older table either, where that one knows the thing by its name.
    pub(super) fn anti_family(&mut self, table: usize) {
        let schema = self.context.schema;
        let root = self.tree.root();
        let label = schema.table(root).and_then(|detail| detail.columns.get(*detail.label.first()?));
        for other in parts::family(self.context, table).into_iter().filter(|other| *other != table) {
            let named = schema.table(other).and_then(|detail| {
                let (column, _) = detail.named.iter().find(|(_, to)| *to == root)?;
                detail.columns.get(*column)
            });
            let told = parts::told(schema, other);
            match (named, label, schema.table(root)) {
                (Some(named), Some(label), Some(own)) => {
                    let relation = print::relation(schema, other);
                    let sql = format!(
                        "NOT EXISTS (SELECT 1 FROM {relation} AS earlier WHERE earlier.{} = {}.{})",
                        print::identifier(&named.name),
                        print::identifier(&own.reference.name),
                        print::identifier(&label.name)
                    );
                    self.built.query.preds.push(Pred::Raw(sql, vec![(root, 0)]));
                    self.built.assumptions.push(format!("{told} is asked by name."));
                }
                _ => self
                    .built
                    .assumptions
                    .push(format!("{told} is left out: nothing there leads to these rows.")),
            }
        }
    }

    /// `customers without bills in 2026`: the time is that of the bills they do not have.
    pub(super) fn anti_period(
        &mut self,
        frame: &Frame,
        table: usize,
    ) -> Result<Option<(usize, usize, Period)>, Why> {
        let (Some(period), told) = times::window(self.context, frame)? else { return Ok(None) };
        self.built.assumptions.extend(told);
        let own = times::choose(self.context, &Frame::default(), &Tree::new(table), None)?;
        let Some((dated, column)) = own else {
            return Err(Why::Kind("a negation within a period".into()));
        };
        let family = parts::family(self.context, dated);
        if family.iter().filter(|table| parts::needed(self.context.schema, **table, Some(&period))).count()
            > 1
        {
            return Err(Why::Kind("a negation over tables of different times".into()));
        }
        self.built.assumptions.extend(parts::covered(self.context.schema, &[dated], &period)?);
        self.note_time(dated, column);
        Ok(Some((dated, column, period)))
    }
}
