//! Shares and ratios within one query.

use super::*;

impl<'a> Builder<'a> {
    /// One quantity divided by another one for each group.
    pub(super) fn quotient(&mut self, frame: &Frame, ratio: &Ratio) -> Result<(), Why> {
        let mut groups = Vec::new();
        for key in frame.groups.iter().copied() {
            for (expr, alias, shown) in self.keys(key, false)? {
                groups.push(expr.clone());
                if shown {
                    self.built.query.order.push((expr.clone(), false));
                    self.built.query.select.push(Output { expr, alias });
                }
            }
        }
        self.built.query.groups = groups;
        let above = self.part_of(&ratio.above)?;
        let below = self.part_of(&ratio.below)?;
        let (times, name) = if ratio.percent { ("100.0", "percentage") } else { ("1.0", "ratio") };
        for measure in &frame.measures {
            let expr = self.expr(measure)?;
            let alias = self.alias(measure);
            self.built.query.select.push(Output { expr, alias: Some(alias) });
        }
        let expr = Expr::Quotient(Box::new(above), Box::new(below), times);
        self.built.query.select.push(Output { expr, alias: Some(name.into()) });
        Ok(())
    }

    /// A quantity over the rows that meet its own conditions.
    pub(super) fn part_of(&mut self, side: &Frame) -> Result<Expr, Why> {
        let [measure] = side.measures.as_slice() else {
            return Err(Why::Kind("a ratio of more than one quantity".into()));
        };
        if !side.moments.is_empty() || !side.anti.is_empty() {
            return Err(Why::Kind("a ratio of two times for each group".into()));
        }
        let expr = self.expr(measure)?;
        let mut preds = Vec::new();
        for filter in &side.filters {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else {
                return Err(Why::Kind("a ratio by a condition".into()));
            };
            let node = self.must(table, true)?;
            preds.push(pred(node, filter.negated));
        }
        for (table, _) in &side.context {
            let node = self.must(*table, true)?;
            self.built.tables.insert(*table);
            let key = self.context.schema.table(*table).and_then(|table| table.key.first().copied());
            let Some(key) = key else { return Err(Why::Kind("a ratio by rows without a key".into())) };
            if node != 0 {
                preds.push(Pred::Null(node, key, false));
            }
        }
        Ok(if preds.is_empty() { expr } else { Expr::Filtered(Box::new(expr), preds) })
    }

    /// The share of the rows that meet what stands behind them; what stands before them restricts the whole.
    pub(super) fn share(&mut self, frame: &Frame) -> Result<(), Why> {
        let Some((whole, place)) = frame.share else { return Ok(()) };
        let (mut part, mut rest): (Vec<&Filter>, Vec<&Filter>) =
            frame.filters.iter().partition(|filter| filter.at > place);
        let behind: Vec<usize> =
            frame.context.iter().filter(|(_, at)| *at > place).map(|(table, _)| *table).collect();
        // `percentage of cancelled orders`: the adjective is the part.
        let nothing = behind.is_empty() && frame.anti.is_empty() && frame.having.is_empty();
        if part.is_empty() && nothing && frame.groups.is_empty() {
            std::mem::swap(&mut part, &mut rest);
        }
        let mut preds = Vec::new();
        for filter in part {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else {
                return Err(Why::Kind("a share by a condition".into()));
            };
            match self.node(table, true)? {
                Some(node) => preds.push(pred(node, filter.negated)),
                None => {
                    let found = self.existing(false, &[table], |nodes| {
                        vec![pred(nodes(table).unwrap_or(0), filter.negated)]
                    })?;
                    preds.push(found);
                }
            }
        }
        for table in behind {
            self.built.tables.insert(table);
            match self.node(table, true)? {
                Some(node) if node != 0 => {
                    let key = self.context.schema.table(table).and_then(|table| table.key.first().copied());
                    let grouped =
                        frame.groups.iter().any(|key| matches!(key, Key::Table(own) if *own == table));
                    if let Some(key) = key.filter(|_| !grouped) {
                        preds.push(Pred::Null(node, key, false));
                    }
                }
                Some(_) => {}
                None => preds.push(self.existing(false, &[table], |_| Vec::new())?),
            }
        }
        for table in &frame.anti {
            preds.push(self.existing(true, &[*table], |_| Vec::new())?);
        }
        for (measure, comparison, value) in &frame.having {
            let some = (*comparison == Comparison::AtLeast && *value == 1.0)
                || (*comparison == Comparison::More && *value == 0.0);
            match measure {
                Measure::Count(table) if some => {
                    preds.push(self.existing(false, &[*table], |_| Vec::new())?);
                }
                _ => return Err(Why::Kind("a share by a condition on several rows".into())),
            }
        }
        for filter in rest {
            let Some((table, pred)) = self.filter_pred(&filter.kind)? else {
                return Err(Why::Kind("a share by a condition".into()));
            };
            let node = self.must(table, false)?;
            let pred = pred(node, filter.negated);
            self.built.query.preds.push(pred);
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
        if preds.is_empty() && (frame.groups.is_empty() || self.tree.root() != whole) {
            return Err(Why::Kind("a share whose part and whole are not told apart".into()));
        }
        let expr = if preds.is_empty() { Expr::OfAll } else { Expr::Share(preds) };
        self.built.query.select.push(Output { expr, alias: Some("percentage".into()) });
        Ok(())
    }
}
