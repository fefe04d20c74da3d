//! What a rank goes by, settled on columns.

use airlock_plugin_sdk::question::stems;

use super::*;

impl<'a> Builder<'a> {
    /// `What is the highest salary?` names no entity: it is a maximum. A quality is a column of the entity.
    pub(super) fn settle_rank(&self, frame: &mut Frame) -> Result<(), Why> {
        let Some(rank) = frame.rank.clone() else { return Ok(()) };
        match rank.by {
            Some(By::Column(table, column)) if frame.entity.is_none() => {
                if rank.count != Some(1) || !frame.outputs.is_empty() || !frame.measures.is_empty() {
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
                Some(Key::Column(_, _)) if self.additive(table, column) => {
                    if let Some(rank) = frame.rank.as_mut() {
                        rank.by = Some(By::Measure(Measure::Aggregate(Aggregate::Sum, table, column)));
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

    /// True for a number that makes sense only added up over several rows: a population, a quantity.
    fn additive(&self, table: usize, column: usize) -> bool {
        const ADDED: &[&str] = &["population", "quantiti", "amount", "area", "total", "unit"];
        self.context.schema.column(table, column).is_some_and(|column| {
            let own = column.names.iter().take(column.own);
            own.filter_map(|name| name.last())
                .any(|last| ADDED.iter().any(|word| stems::stem(word) == *last || *word == last))
        })
    }

    pub(super) fn quality(&self, frame: &Frame, quality: Quality) -> Result<By, Why> {
        let entity = match frame.entity {
            // How often a colour occurs is how many rows of the one table that points to colours have it.
            Some(Key::Table(table)) if quality == Quality::Frequency => {
                let mut pointing = (0..self.context.schema.tables.len()).filter(|at| {
                    self.context
                        .schema
                        .table(*at)
                        .is_some_and(|detail| detail.edges.iter().any(|edge| edge.to == table))
                });
                return match (pointing.next(), pointing.next()) {
                    (Some(only), None) => Ok(By::Measure(Measure::Count(only))),
                    _ => Err(Why::Kind("how often it occurs is not recorded in one place".into())),
                };
            }
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
            Quality::Rating => &["rat", "rate", "score", "star"],
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

    pub(super) fn limit(&mut self, count: Option<u32>) -> Result<(), Why> {
        match count {
            Some(count) => self.built.query.limit = Some(count),
            None => return Err(Why::Ambiguous("it does not say how many of them to show".into())),
        }
        Ok(())
    }
}
