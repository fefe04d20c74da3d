//! The expression of a measure; refuses where a join would count a row more than once.

use super::*;

impl<'a> Builder<'a> {
    pub(super) fn metric(&self, term: usize) -> Result<&'a Metric, Why> {
        let metrics =
            self.context.glossary.terms.get(term).map(|term| term.metrics.as_slice()).unwrap_or_default();
        metrics
            .iter()
            .find(|metric| Some(metric.table) == self.member)
            .or(metrics.first())
            .ok_or_else(|| Why::Kind("a term without a measure".into()))
    }

    pub(super) fn measure_table(&self, measure: &Measure) -> Result<usize, Why> {
        Ok(match measure {
            Measure::Count(table) | Measure::CountValues(table, _) | Measure::Aggregate(_, table, _) => {
                *table
            }
            Measure::Metric(term) => self.metric(*term)?.table,
        })
    }

    /// The expression of a measure; refuses where a join would count a row more than once.
    pub(super) fn expr(&mut self, measure: &Measure) -> Result<Expr, Why> {
        let root = self.tree.root();
        match measure {
            Measure::Count(table) if *table == root && self.always(*table).is_some() => {
                Err(Why::Ambiguous(format!(
                    "whether all rows of {} are counted or, as in the glossary's measures, those where {}",
                    self.table_name(*table),
                    self.always(*table).unwrap_or_default()
                )))
            }
            Measure::Count(table) if *table == root => match self.counter(*table) {
                Some(column) => Err(Why::Ambiguous(format!(
                    "whether rows are counted or {} is added up",
                    self.column_name(*table, column)
                ))),
                None => match self.kept_count(*table) {
                    Some((owner, column)) => Err(Why::Ambiguous(format!(
                        "whether rows of {} are counted or {} is meant",
                        self.table_name(*table),
                        self.column_name(owner, column)
                    ))),
                    None => Ok(Expr::CountRows),
                },
            },
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
            Measure::Aggregate(Aggregate::Sum, table, column) if self.defined(*table, *column).is_some() => {
                let term = self.defined(*table, *column).unwrap_or_default();
                self.expr(&Measure::Metric(term))
            }
            Measure::Aggregate(aggregate, table, column) => {
                let harmless = matches!(aggregate, Aggregate::Minimum | Aggregate::Maximum);
                if *table != root && !harmless && !self.bridged(*table) {
                    return Err(Why::Kind(format!(
                        "{} would be counted more than once when joined to {}",
                        self.column_name(*table, *column),
                        self.table_name(root)
                    )));
                }
                let node = self.must(*table, false)?;
                self.built.columns.insert((*table, *column));
                let measured = Expr::Aggregate(*aggregate, node, *column);
                let exact = self
                    .context
                    .schema
                    .column(*table, *column)
                    .is_some_and(|column| column.amount && column.exact);
                let mean = *aggregate == Aggregate::Average && exact;
                // What the glossary leaves out of the sum is left out of the average.
                if *aggregate == Aggregate::Average
                    && let Some(term) = self.defined(*table, *column)
                    && let Some(metric) = self
                        .context
                        .glossary
                        .terms
                        .get(term)
                        .and_then(|term| term.metrics.iter().find(|metric| metric.table == *table))
                {
                    self.built.terms.insert(term);
                    self.metric_filter(term, metric)?;
                }
                Ok(if mean { Expr::Rounded(Box::new(measured)) } else { measured })
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
                self.built.terms.insert(*term);
                let nodes = self.fragment_nodes(&metric.sql, metric.table)?;
                self.metric_filter(*term, metric)?;
                let measured = Expr::Raw(metric.sql.clone(), nodes);
                Ok(if self.mean_of_money(metric) { Expr::Rounded(Box::new(measured)) } else { measured })
            }
        }
    }

    /// True when the root only pairs the measured rows with the groups, so that each is met once in a group: the
    /// citations of each author's publications.
    fn bridged(&self, table: usize) -> bool {
        let root = self.tree.root();
        let Some(detail) = self.context.schema.table(root) else { return false };
        let pairs = detail.columns.len() == 2 && detail.columns.iter().all(|column| column.key);
        let direct = detail.edges.iter().any(|edge| edge.to == table);
        let mut keys = self.frame.entity.iter().chain(&self.frame.groups);
        let one = self.frame.groups.len() + usize::from(self.frame.entity.is_some()) == 1;
        let other = keys.any(|key| match key {
            Key::Table(group) => *group != table && detail.edges.iter().any(|edge| edge.to == *group),
            Key::Column(group, column) => {
                *group != table
                    && detail.edges.iter().any(|edge| edge.to == *group)
                    && self.context.schema.table(*group).is_some_and(|group| group.label == [*column])
            }
            Key::Time(_) => false,
        });
        pairs && direct && one && other
    }

    /// The condition that every measure of a table has, when there are several measures.
    fn always(&self, table: usize) -> Option<String> {
        let metrics: Vec<&Metric> = self
            .context
            .glossary
            .terms
            .iter()
            .flat_map(|term| &term.metrics)
            .filter(|metric| metric.table == table)
            .collect();
        let first = metrics.first()?.filter.clone()?;
        let same = metrics.iter().all(|metric| metric.filter.as_ref() == Some(&first));
        (metrics.len() > 1 && same).then_some(first)
    }

    /// The rows that a measure of the glossary is about.
    fn metric_filter(&mut self, term: usize, metric: &Metric) -> Result<(), Why> {
        let Some(filter) = &metric.filter else { return Ok(()) };
        let filter_nodes = self.fragment_nodes(filter, metric.table)?;
        let name = self.context.glossary.terms.get(term).map_or("", |term| term.name.as_str());
        let pred = Pred::Raw(filter.clone(), filter_nodes);
        if self.contradicted(filter) {
            return Err(Why::Ambiguous(format!("`{name}` already means only rows where {filter}")));
        }
        if !self.built.query.preds.contains(&pred) {
            self.built.query.preds.push(pred);
            self.built
                .assumptions
                .push(format!("`{name}` counts only rows where {filter}, as the glossary has it."));
        }
        Ok(())
    }

    /// An average of one amount with exact places is told with two of them.
    fn mean_of_money(&self, metric: &Metric) -> bool {
        let sql = metric.sql.trim().to_lowercase();
        let argument = sql.strip_prefix("avg(").and_then(|rest| rest.strip_suffix(')'));
        let column = argument.and_then(|argument| argument.rsplit('.').next());
        self.context.schema.table(metric.table).is_some_and(|table| {
            column
                .and_then(|column| table.columns.get(table.column(column)?))
                .is_some_and(|column| column.amount && column.exact)
        })
    }

    /// The one measure of the glossary that adds up a column and leaves rows out. A column spelled as the catalogue
    /// spells it is meant as it stands.
    fn defined(&self, table: usize, column: usize) -> Option<usize> {
        let detail = self.context.schema.table(table)?;
        let name = &detail.columns.get(column)?.name;
        if name.contains('_') && self.context.reading.tokens.iter().any(|token| token.glued) {
            return None;
        }
        let sums = [format!("sum({}.{name})", detail.reference.name), format!("sum({name})")];
        let mut found = (0..self.context.glossary.terms.len()).filter(|at| {
            self.context.glossary.terms.get(*at).is_some_and(|term| {
                term.metrics.iter().any(|metric| {
                    metric.table == table
                        && metric.filter.is_some()
                        && sums.contains(&metric.sql.to_lowercase())
                })
            })
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// A column of a joined table that keeps the count of these rows: `review_count` of a shop.
    fn kept_count(&self, table: usize) -> Option<(usize, usize)> {
        let names = &self.context.schema.table(table)?.names;
        self.tree.nodes.iter().skip(1).find_map(|node| {
            let detail = self.context.schema.table(node.table)?;
            let column = detail.columns.iter().position(|column| {
                column.family == Family::Number
                    && column.names.iter().take(column.own).any(|name| {
                        let counts = name.iter().any(|stem| stem == "count" || stem == "number");
                        let rest: Vec<String> = name
                            .iter()
                            .filter(|stem| !matches!(stem.as_str(), "count" | "number"))
                            .cloned()
                            .collect();
                        counts && names.contains(&rest)
                    })
            })?;
            Some((node.table, column))
        })
    }

    /// A column that holds a count already: each row stands for several.
    pub(super) fn counter(&self, table: usize) -> Option<usize> {
        let detail = self.context.schema.table(table)?;
        detail.columns.iter().position(|column| {
            column.family == Family::Number
                && column.names.iter().take(column.own).any(|name| {
                    let rest: Vec<&String> = name
                        .iter()
                        .filter(|stem| !detail.names.iter().any(|name| name.contains(stem)))
                        .collect();
                    matches!(rest.as_slice(), [only] if only.as_str() == "count")
                })
        })
    }

    /// True when what is counted is what each listed row points to, so that the count could only be one.
    pub(super) fn one_each(&self, table: usize) -> bool {
        let root = self.tree.root();
        table != root && self.frame.entity == Some(Key::Table(root))
    }

    /// True when the question restricts a column that the measure's own condition restricts.
    pub(super) fn contradicted(&self, filter: &str) -> bool {
        let columns = crate::fragment::columns(filter);
        // A condition of the glossary may restrict the same column.
        let conditions = self.frame.filters.iter().filter_map(|filter| match filter.kind {
            FilterKind::Condition(term) => self.context.glossary.terms.get(term),
            _ => None,
        });
        let conditioned = conditions
            .flat_map(|term| &term.conditions)
            .any(|(_, sql)| crate::fragment::columns(sql).iter().any(|column| columns.contains(column)));
        if conditioned {
            return true;
        }
        self.frame.filters.iter().filter_map(|filter| filter.kind.column()).any(|(table, column)| {
            let owner = self.context.schema.table(table).map_or("", |table| table.reference.name.as_str());
            let name = self.context.schema.column(table, column).map_or("", |column| column.name.as_str());
            columns.iter().any(|(qualified, bare)| {
                bare == name && qualified.as_deref().is_none_or(|table| table == owner)
            })
        })
    }

    /// The nodes of the tables that a fragment names, its own first.
    pub(super) fn fragment_nodes(&mut self, sql: &str, own: usize) -> Result<Vec<(usize, usize)>, Why> {
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

    pub(super) fn alias(&self, measure: &Measure) -> String {
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
            Measure::Aggregate(Aggregate::Sum, at, name) if self.defined(*at, *name).is_some() => {
                self.alias(&Measure::Metric(self.defined(*at, *name).unwrap_or_default()))
            }
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
}
