//! The time of a deed: `customers who hired this machine in 2025` dates the hiring, not the customers.

use airlock_plugin_sdk::question::stems;

use super::*;

impl Builder<'_> {
    /// Moves a time from the rows that are listed to the rows elsewhere that say what was done, or refuses.
    pub(super) fn deed(&mut self, frame: &Frame) -> Result<(), Why> {
        let root = self.tree.root();
        let dated = self.built.query.preds.iter().position(|pred| matches!(pred, Pred::Within(0, ..)));
        let done = |pred: &Pred| matches!(pred, Pred::Exists(false, found) if !found.preds.is_empty());
        let mut deeds = self.built.query.preds.iter().enumerate().filter(|(_, pred)| done(pred));
        let (Some(dated), Some((deed, pred)), other) = (dated, deeds.next(), deeds.next().is_some()) else {
            return Ok(());
        };
        let (Some(Pred::Within(_, column, period)), Pred::Exists(_, found)) =
            (self.built.query.preds.get(dated).cloned(), pred.clone())
        else {
            return Ok(());
        };
        if !frame.time_columns.is_empty() || self.said_of_itself(frame, root, column) {
            return Ok(());
        }
        let unclear = Why::Ambiguous(format!(
            "the time may be {} or that of what was done",
            self.column_name(root, column)
        ));
        let (Some(first), false, false) = (found.nodes.first(), other, found.forward) else {
            return Err(unclear);
        };
        let Some((table, own)) =
            times::choose(self.context, &Frame::default(), &Tree::new(first.table), None)?
        else {
            return Err(unclear);
        };
        // What was done is the row itself: a bill is dated, its lines are not.
        if table == root {
            return Ok(());
        }
        let place = found.nodes.iter().position(|node| node.table == table);
        let (Some(place), 1) = (place, parts::family(self.context, table).len()) else { return Err(unclear) };
        self.told_by_verb(frame, table, own)?;
        if let Some(Pred::Exists(_, found)) = self.built.query.preds.get_mut(deed) {
            found.preds.push(Pred::Within(place, own, period));
        }
        self.built.query.preds.remove(dated);
        self.built.columns.remove(&(root, column));
        let told = format!("{} dates a row.", self.column_name(root, column));
        self.built.assumptions.retain(|known| *known != told);
        self.built.assumptions.extend(parts::covered(self.context.schema, &[table], &period)?);
        self.note_time(table, own);
        Ok(())
    }

    /// `books that members borrowed in 2025`: not when those members joined, either.
    pub(super) fn deed_between(&mut self, frame: &Frame) -> Result<(), Why> {
        if !frame.time_columns.is_empty() {
            return Ok(());
        }
        let schema = self.context.schema;
        for at in 0..self.built.query.preds.len() {
            let Some(Pred::Exists(false, found)) = self.built.query.preds.get(at) else { continue };
            let timed = found.preds.iter().enumerate().find_map(|(place, pred)| match pred {
                Pred::Within(node, column, period) if *node != 0 => Some((place, *node, *column, *period)),
                _ => None,
            });
            let Some((place, node, column, period)) = timed else { continue };
            let (Some(table), Some(first)) =
                (found.nodes.get(node).map(|node| node.table), found.nodes.first())
            else {
                continue;
            };
            let begins = schema
                .column(table, column)
                .is_some_and(|column| column.names.iter().flatten().any(|name| times::begins(name)));
            if !begins || self.said_of_itself(frame, table, column) {
                continue;
            }
            let own = times::own(self.context, first.table)?;
            let (Some(own), 1) = (own, parts::family(self.context, first.table).len()) else {
                return Err(Why::Ambiguous(format!(
                    "the time may be {} or that of what was done",
                    self.column_name(table, column)
                )));
            };
            let first = first.table;
            self.told_by_verb(frame, first, own)?;
            if let Some(Pred::Exists(_, found)) = self.built.query.preds.get_mut(at)
                && let Some(pred) = found.preds.get_mut(place)
            {
                *pred = Pred::Within(0, own, period);
            }
            self.built.columns.remove(&(table, column));
            let told = format!("{} dates a row.", self.column_name(table, column));
            self.built.assumptions.retain(|known| *known != told);
            self.built.assumptions.extend(parts::covered(schema, &[first], &period)?);
            self.note_time(first, own);
        }
        Ok(())
    }

    /// `who never borrowed this book`: what is denied is the loan of the book, not all loans of who borrowed it.
    pub(super) fn undone(&self, frame: &Frame) -> Result<(), Why> {
        let two = self.context.reading.tokens.iter().any(|token| {
            matches!(token.lower.as_str(), "but" | "and" | "though" | "although" | "while" | ",")
        });
        let denied = self.built.query.preds.iter().any(|pred| match pred {
            Pred::Exists(false, found) => {
                !found.preds.is_empty() && found.nodes.iter().any(|node| frame.anti.contains(&node.table))
            }
            _ => false,
        });
        if denied && !two {
            return Err(Why::Kind("what was not done, by what it was done to".into()));
        }
        Ok(())
    }

    /// What was done then was done to what is named: one row elsewhere meets both, not two.
    pub(super) fn one_deed(&mut self, frame: &Frame) {
        if frame.both {
            return;
        }
        let timed = |pred: &Pred| match pred {
            Pred::Exists(false, found) => match found.preds.as_slice() {
                [Pred::Within(node, column, period)] => {
                    let table = found.nodes.get(*node)?.table;
                    Some((table, *column, *period))
                }
                _ => None,
            },
            _ => None,
        };
        let preds = &self.built.query.preds;
        let Some((at, (table, column, period))) =
            preds.iter().enumerate().find_map(|(at, pred)| timed(pred).map(|found| (at, found)))
        else {
            return;
        };
        let other = preds.iter().enumerate().find_map(|(other, pred)| match pred {
            Pred::Exists(false, found) if other != at && !found.preds.is_empty() => {
                found.nodes.iter().position(|node| node.table == table).map(|place| (other, place))
            }
            _ => None,
        });
        let Some((other, place)) = other else { return };
        if let Some(Pred::Exists(_, found)) = self.built.query.preds.get_mut(other) {
            found.preds.push(Pred::Within(place, column, period));
            self.built.query.preds.remove(at);
        }
    }

    /// True when the time is said of the listed rows: `customers who joined in 2025`, `bills in May with …`.
    fn said_of_itself(&self, frame: &Frame, root: usize, column: usize) -> bool {
        let tokens = &self.context.reading.tokens;
        let moment = frame.moments.first().and_then(|(index, _)| self.context.reading.moments.get(*index));
        let (Some(moment), Some(detail)) = (moment, self.context.schema.column(root, column)) else {
            return true;
        };
        let names = || detail.names.iter().flatten();
        let began = names().any(|name| times::begins(name));
        let before = tokens.get(..moment.first).unwrap_or_default();
        let verb = times::verb_before(self.context, root, column, moment.first);
        let since = tokens.get(moment.first).is_some_and(|token| token.is("since"))
            || before.last().is_some_and(|token| token.is("since"));
        let deed = before.iter().any(|token| {
            stems::is_participle(&token.lower) && !names().any(|name| stems::kin(name, &token.stem))
        });
        verb || (since && !deed) || (!began && !deed)
    }
}
