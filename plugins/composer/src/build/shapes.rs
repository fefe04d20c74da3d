//! The three shapes of a query: groups, a list, a share.

use airlock_plugin_sdk::question::tokens::Token;

use super::*;

impl<'a> Builder<'a> {
    pub(super) fn keys(&mut self, key: Key, keep: bool) -> Result<Vec<(Expr, Option<String>, bool)>, Why> {
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
                // What hangs on other things is the same where it is called the same: the categories of several shops.
                let hangs = self.tree.nodes.get(node).is_some_and(|node| node.up) && !label.is_empty();
                let own = if hangs { Vec::new() } else { own };
                for column in &label {
                    found.push((Expr::Column(node, *column), None, true));
                }
                for column in own.iter().filter(|column| !label.contains(column)) {
                    found.push((Expr::Column(node, *column), None, label.is_empty()));
                }
                Ok(found)
            }
            Key::Column(table, column) => {
                let key = schema.column(table, column).is_some_and(|column| column.key);
                let asked = ["id", "number", "code"].iter().any(|word| self.context.words.contains(*word));
                if key && !asked {
                    return Err(Why::Kind(format!(
                        "{} tells rows apart but names nothing",
                        self.column_name(table, column)
                    )));
                }
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

    pub(super) fn note_time(&mut self, table: usize, column: usize) {
        self.built.columns.insert((table, column));
        let told = format!("{} dates a row.", self.column_name(table, column));
        if !self.built.assumptions.contains(&told) {
            self.built.assumptions.push(told);
        }
    }

    /// `for all customers` wants those without any too, which rows of something else do not give.
    fn all_of_them(&self, frame: &Frame) -> Result<(), Why> {
        let root = self.tree.root();
        for key in frame.groups.iter().chain(&frame.entity) {
            let Key::Table(table) = key else { continue };
            let names =
                self.context.schema.table(*table).map(|table| table.names.as_slice()).unwrap_or_default();
            let said = self.context.reading.tokens.windows(3).any(|three| match three {
                [first, all, noun] => {
                    first.is("for")
                        && all.is("all")
                        && names.iter().any(|name| name.as_slice() == std::slice::from_ref(&noun.stem))
                }
                _ => false,
            });
            if said && *table != root {
                return Err(Why::Kind(format!(
                    "all of {}, those without any row of {} too",
                    self.table_name(*table),
                    self.table_name(root)
                )));
            }
        }
        Ok(())
    }

    pub(super) fn grouped(
        &mut self,
        frame: &Frame,
        measures: &[Measure],
        rank: Option<&Measure>,
    ) -> Result<(), Why> {
        self.all_of_them(frame)?;
        let keep = frame.rank.is_none()
            && frame.having.is_empty()
            && frame.over.is_empty()
            && frame.entity.is_none();
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
        if let Some(measure) = &frame.place {
            let expr = self.expr(measure)?;
            let alias = self.alias(measure);
            if !self.built.query.select.iter().any(|output| output.expr == expr) {
                self.built.query.select.push(Output { expr: expr.clone(), alias: Some(alias) });
            }
            let place = Expr::Place(Box::new(expr));
            self.built.query.select.push(Output { expr: place.clone(), alias: Some("rank".into()) });
            self.built.query.order.push((place, false));
            self.built.assumptions.push("Equal ones have the same rank.".into());
        }
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
        for (measure, comparison, (table, column)) in &frame.over {
            let (Expr::Raw(sql, mut nodes), node) = (self.expr(measure)?, self.must(*table, false)?) else {
                return Err(Why::Kind("a comparison of that measure with a column".into()));
            };
            let alias = self.alias(measure);
            let expr = Expr::Raw(sql.clone(), nodes.clone());
            self.built.query.select.push(Output { expr, alias: Some(alias) });
            let limit = Expr::Column(node, *column);
            self.built.columns.insert((*table, *column));
            self.built.query.groups.push(limit.clone());
            self.built.query.select.push(Output { expr: limit, alias: None });
            let owner = self.context.schema.table(*table).map_or("", |table| table.reference.name.as_str());
            let name = self.context.schema.column(*table, *column).map_or("", |column| column.name.as_str());
            nodes.push((*table, node));
            let apart = format!("{sql} - {}.{}", print::identifier(owner), print::identifier(name));
            self.built.query.having.push((Expr::Raw(apart, nodes), comparison.sql(), "0".into()));
            let told = format!("Those without {} are left out.", self.column_name(*table, *column));
            self.built.assumptions.push(told);
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
            if !frame.groups.is_empty() && frame.entity.is_some() {
                self.within(frame)?;
            }
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
        // Where nothing is said of an order, the greatest comes first; steps of time come as they follow.
        let timed = frame.groups.iter().chain(&frame.entity).any(|key| match key {
            Key::Time(_) => true,
            Key::Column(table, column) => self
                .context
                .schema
                .column(*table, *column)
                .is_some_and(|column| matches!(column.family, Family::Time | Family::Number)),
            Key::Table(_) => false,
        });
        let measured = first.clone().or(self.built.query.having.first().map(|(expr, _, _)| expr.clone()));
        if self.built.query.order.is_empty()
            && !timed
            && !shown_keys.is_empty()
            && let Some(measured) = measured
        {
            self.built.query.order.push((measured, true));
        }
        let ordered: Vec<Expr> = self.built.query.order.iter().map(|(expr, _)| expr.clone()).collect();
        if frame.rank.is_some()
            && let Some(Key::Table(table)) = entity
            && !self.tree.nodes.iter().any(|node| node.table == table && node.up)
        {
            // Equal ones come in the order of their keys: stable, and what most people mean by nothing said.
            let key = self.context.schema.table(table).map(|table| table.key.clone()).unwrap_or_default();
            let node = self.must(table, false)?;
            for column in &key {
                self.built.query.order.push((Expr::Column(node, *column), false));
            }
            if !key.is_empty() {
                return Ok(());
            }
        }
        for expr in shown_keys.iter().chain(&self.built.query.groups.clone()) {
            if !ordered.contains(expr) && !self.built.query.order.iter().any(|(known, _)| known == expr) {
                self.built.query.order.push((expr.clone(), false));
            }
        }
        Ok(())
    }

    pub(super) fn list(&mut self, frame: &Frame) -> Result<(), Why> {
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
                let own = frame.outputs.iter().filter(|(owner, _)| *owner == table).count();
                if own == 0 && !frame.outputs.is_empty() {
                    return Err(Why::Ambiguous(format!(
                        "whose columns are shown, when {} are listed",
                        self.table_name(table)
                    )));
                }
                let shown: Vec<usize> = if own > 0 && (frame.distinct || label.is_empty()) {
                    // What is asked for by name is enough.
                    Vec::new()
                } else if label.is_empty() {
                    (0..detail.map_or(0, |table| table.columns.len())).take(12).collect()
                } else {
                    // `the costliest rooms with their prices`: both.
                    let beside = self.context.reading.tokens.windows(2).any(|pair| match pair {
                        [with, their] => with.is("with") && (their.is("their") || their.is("its")),
                        _ => false,
                    });
                    label.iter().copied().filter(|_| own == 0 || beside || frame.rank.is_none()).collect()
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
            if !frame.groups.is_empty() {
                for key in frame.groups.iter().copied() {
                    for (expr, alias, shown) in self.keys(key, false)? {
                        if shown && !self.built.query.select.iter().any(|output| output.expr == expr) {
                            self.built.query.select.push(Output { expr, alias });
                        }
                    }
                }
                self.within(frame)?;
            }
            self.show(node, table, column);
            let nullable = self.context.schema.column(table, column).is_some_and(|column| column.nullable);
            if nullable && !rank.descending {
                self.built.query.preds.push(Pred::Null(node, column, false));
            }
            // Of one day the later key is the newer one.
            let recent = |op: &Op| matches!(op, Op::Superlative { quality: Quality::Recency, .. });
            let newest = rank.descending
                && self.context.reading.chunks.iter().any(|chunk| recent(&chunk.op))
                && self
                    .context
                    .schema
                    .column(table, column)
                    .is_some_and(|column| column.family == Family::Time);
            let keys: Vec<(Expr, bool)> = order
                .iter()
                .filter(|(expr, _)| self.is_key(expr))
                .map(|(expr, descending)| (expr.clone(), *descending || newest))
                .collect();
            if !keys.is_empty() {
                order = keys;
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
                    // `rooms with their prices, highest first`: by the one number that is shown.
                    let numbers: Vec<(usize, usize)> = frame
                        .outputs
                        .iter()
                        .copied()
                        .filter(|(table, column)| {
                            let detail = self.context.schema.column(*table, *column);
                            detail.is_some_and(|column| column.family == Family::Number && !column.key)
                        })
                        .collect();
                    if let ([(table, column)], false) = (numbers.as_slice(), self.by_letters()) {
                        let node = self.must(*table, true)?;
                        order.insert(0, (Expr::Column(node, *column), *descending));
                    } else if let Some(first) = order.first_mut() {
                        first.1 = *descending;
                    }
                }
                Some(_) => return Err(Why::Kind("a list ordered by a measure".into())),
            }
        }
        self.built.query.order = order;
        if self.built.query.select.is_empty() { Err(Why::Kind("nothing to show".into())) } else { Ok(()) }
    }

    /// `in alphabetical order`: names are ordered, whatever numbers are shown.
    fn by_letters(&self) -> bool {
        let letters = |token: &Token| token.lower.starts_with("alphabet");
        self.context.reading.tokens.iter().any(letters)
    }

    /// The first few of each group, not of all.
    fn within(&mut self, frame: &Frame) -> Result<(), Why> {
        for key in frame.groups.iter().copied() {
            for (expr, _, _) in self.keys(key, false)? {
                self.built.query.within.push(expr);
            }
        }
        self.built.assumptions.push("Of equal ones in a group the first by key is shown.".into());
        Ok(())
    }

    /// True for a column of its table's primary key.
    pub(super) fn is_key(&self, expr: &Expr) -> bool {
        let Expr::Column(node, column) = expr else { return false };
        let table = self.tree.nodes.get(*node).and_then(|node| self.context.schema.table(node.table));
        table.is_some_and(|table| table.key.contains(column))
    }

    pub(super) fn show(&mut self, node: usize, table: usize, column: usize) {
        self.built.columns.insert((table, column));
        let expr = Expr::Column(node, column);
        if !self.built.query.select.iter().any(|output| output.expr == expr) {
            self.built.query.select.push(Output { expr, alias: None });
        }
    }
}
