//! The host's look-ups with the rules of lessons laid over them.

use super::rule::{Rule, is_name, is_relation, relation};
use super::{Taught, spoken};
use crate::contract::catalog::{Join, TableDetail, TableSummary};
use crate::contract::log::Level;
use crate::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::words::identifier_words;
use crate::{Attribute, Host, TableRef, joins};

impl<H: Host> Taught<'_, H> {
    fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(_, rule)| rule)
    }

    fn table(&self, text: &str) -> Option<TableRef> {
        relation(text)?;
        let mut found = self.host.tables().into_iter().filter(|known| is_relation(&known.table, text));
        let table = found.next()?.table;
        found.next().is_none().then_some(table)
    }

    /// The joins that lessons know of a relation.
    fn joins(&self, table: &TableRef) -> Vec<Join> {
        let mut joins = Vec::new();
        for rule in self.rules() {
            let Rule::Joined { from, to, columns: (one, other) } = rule else { continue };
            if !is_relation(table, from) && !is_relation(table, to) {
                continue;
            }
            let (Some(from), Some(to)) = (self.table(from), self.table(to)) else { continue };
            joins.push(Join {
                from,
                from_columns: vec![one.clone()],
                to,
                to_columns: vec![other.clone()],
                origin: "manual".into(),
                verified: true,
                many_to_one: true,
                optional: true,
            });
        }
        joins
    }

    /// Whether a join leads to the same relation as one that is taught, by a column that the question says nothing of.
    fn is_left(&self, other: &Join, taught: &Join) -> bool {
        let way = |join: &Join| (join.from.clone(), join.to.clone());
        if way(other) != way(taught) || other.from_columns == taught.from_columns {
            return false;
        }
        let words = |column: &String| identifier_words(column);
        let shared: Vec<String> = taught.from_columns.iter().flat_map(words).collect();
        let mut own = other.from_columns.iter().flat_map(words).filter(|word| !shared.contains(word));
        !own.any(|word| spoken(&word, &self.question))
    }

    fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        for rule in self.rules() {
            let (name, sql) = match rule {
                Rule::Computed(name, sql) | Rule::Means(name, sql) => (name, sql),
                Rule::Silent(_) | Rule::Joined { .. } => continue,
            };
            let mut term = Term {
                name: name.clone(),
                synonyms: Vec::new(),
                definition: format!("{name} means {sql}"),
                table: None,
                metric_sql: None,
                filter_sql: None,
                matched: name.clone(),
                score: 1.0,
            };
            if matches!(rule, Rule::Computed(..)) {
                let Some(table) = tables_of(sql).first().and_then(|table| self.table(table)) else {
                    continue;
                };
                // A sum may be asked for as a number of things: `how many check-ins`.
                let summed = ["sum(", "count("].iter().any(|lead| sql.to_lowercase().starts_with(lead));
                term.definition = if summed { format!("The number of {name}.") } else { String::new() };
                term.table = Some(table);
                term.metric_sql = Some(sql.clone());
            } else if relation(sql).is_some_and(|(schema, _)| schema.is_none()) {
                // A table is known by the phrase as by a synonym.
                continue;
            }
            terms.push(term);
        }
        let notes = self.notes.iter().map(|(name, text)| Term {
            name: name.clone(),
            synonyms: Vec::new(),
            definition: text.clone(),
            table: None,
            metric_sql: None,
            filter_sql: None,
            matched: name.clone(),
            score: 1.0,
        });
        terms.extend(notes);
        terms
    }
}

/// The relations before the points of an expression, in order.
fn tables_of(sql: &str) -> Vec<&str> {
    let names = sql.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    names
        .filter_map(|name| name.rsplit_once('.').map(|(table, _)| table))
        .filter(|table| relation(table).is_some())
        .collect()
}

impl<H: Host> Host for Taught<'_, H> {
    fn tables(&self) -> Vec<TableSummary> {
        self.host.tables()
    }

    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        let mut detail = self.host.describe(table)?;
        let taught = self.joins(table);
        let same = |known: &Join, join: &Join| {
            (&known.from, &known.to, &known.from_columns) == (&join.from, &join.to, &join.from_columns)
        };
        for join in &taught {
            match detail.joins.iter_mut().find(|known| same(known, join)) {
                Some(known) => {
                    known.verified = true;
                    known.many_to_one = true;
                }
                None => detail.joins.push(join.clone()),
            }
        }
        // What one lesson teaches, another one does not take away.
        detail.joins.retain(|other| {
            taught.iter().any(|join| same(other, join))
                || !taught.iter().any(|join| self.is_left(other, join))
        });
        for rule in self.rules() {
            if let Rule::Means(phrase, sql) = rule
                && is_name(sql)
                && is_relation(table, sql)
                && !detail.synonyms.contains(phrase)
            {
                detail.synonyms.push(phrase.clone());
            }
        }
        Some(detail)
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        let path = self.host.join_path(from, to, max_hops);
        if !path.is_empty() || !self.rules().any(|rule| matches!(rule, Rule::Joined { .. })) {
            return path;
        }
        joins::shortest(self, from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        self.host.server_version()
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        let mut hits = self.host.near_tables(query, k);
        let best = hits.first().map_or(1.0, |hit| hit.score);
        for rule in self.rules() {
            let (phrase, sql) = match rule {
                Rule::Means(phrase, sql) | Rule::Computed(phrase, sql) => (phrase, sql),
                Rule::Silent(_) | Rule::Joined { .. } => continue,
            };
            let named = if is_name(sql) { vec![sql.as_str()] } else { tables_of(sql) };
            for table in named.iter().filter_map(|table| self.table(table)) {
                let matched = vec![phrase.clone()];
                match hits.iter_mut().find(|hit| hit.table == table) {
                    Some(hit) => hit.matched.extend(matched),
                    None => hits.insert(hits.len().min(2), TableHit { table, score: best, matched }),
                }
            }
        }
        hits.truncate(k as usize);
        hits
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        self.host.near_columns(query, k)
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        self.host.near_values(query, k)
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        self.host.near_examples(query, k)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        self.host.near_lessons(query, k)
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        let mut terms = self.terms();
        terms.extend(self.host.near_terms(query, k));
        terms.truncate((k as usize).max(1));
        terms
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        self.host.near_passages(query, k)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        self.host.check(text)
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        self.host.outline(text)
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        self.host.log(level, message, fields);
    }
}
