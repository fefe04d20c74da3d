//! A query as SQL for people: qualified columns, short aliases, one clause a line.

use airlock_plugin_sdk::question::grammar::{Aggregate, Grain};
use airlock_plugin_sdk::question::moments::Period;
use airlock_plugin_sdk::time::Date;

use crate::logical::{Existence, Expr, Node, Pred, Query};
use crate::reserved::RESERVED;
use crate::schema::{Family, Schema};

/// The text of a query.
pub fn sql(schema: &Schema, query: &Query) -> String {
    Printer { schema, outer: None, nodes: &query.nodes, aliases: aliases(schema, &query.nodes, &[]) }
        .query(query)
}

/// A name quoted when PostgreSQL would read it otherwise.
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.contains(&name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A text literal.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A number without a tail of zeros.
pub fn number(value: f64) -> String {
    format!("{value}")
}

/// A table's name, with its schema unless that is `public`.
pub fn relation(schema: &Schema, table: usize) -> String {
    let Some(table) = schema.table(table) else { return String::new() };
    let name = identifier(&table.reference.name);
    if table.reference.schema == "public" {
        name
    } else {
        format!("{}.{name}", identifier(&table.reference.schema))
    }
}

/// Initials of a table's name, told apart by numbers.
fn aliases(schema: &Schema, nodes: &[Node], taken: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for node in nodes {
        let name = schema.table(node.table).map_or("t", |table| table.reference.name.as_str());
        let initials: String = name
            .split(|c: char| !c.is_alphanumeric())
            .filter_map(|part| part.chars().next())
            .filter(char::is_ascii_alphabetic)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let base = if initials.is_empty() { "t".to_owned() } else { initials };
        let free = |alias: &String| {
            !found.contains(alias) && !taken.contains(alias) && !RESERVED.contains(&alias.as_str())
        };
        let alias = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}{n}"))).find(free);
        found.push(alias.unwrap_or(base));
    }
    found
}

struct Printer<'a> {
    schema: &'a Schema,
    outer: Option<&'a Printer<'a>>,
    nodes: &'a [Node],
    aliases: Vec<String>,
}

impl Printer<'_> {
    fn query(&self, query: &Query) -> String {
        let outputs: Vec<String> = query
            .select
            .iter()
            .map(|output| match &output.alias {
                Some(alias) => format!("{} AS {}", self.expr(&output.expr), identifier(alias)),
                None => self.expr(&output.expr),
            })
            .collect();
        let head = if query.distinct { "SELECT DISTINCT " } else { "SELECT " };
        if !query.within.is_empty() {
            return self.within_groups(query);
        }
        let mut lines = vec![format!("{head}{}", outputs.join(", ")), self.from()];
        self.clauses(query, &mut lines);
        if !query.order.is_empty() {
            let order: Vec<String> =
                query.order.iter().map(|(expr, descending)| self.order(query, expr, *descending)).collect();
            lines.push(format!("ORDER BY {}", order.join(", ")));
        }
        if let Some(limit) = query.limit {
            lines.push(format!("LIMIT {limit}"));
        }
        lines.join("\n")
    }

    /// WHERE, GROUP BY and HAVING.
    fn clauses(&self, query: &Query, lines: &mut Vec<String>) {
        let preds: Vec<String> = query.preds.iter().map(|pred| self.pred(pred)).collect();
        if !preds.is_empty() {
            lines.push(format!("WHERE {}", preds.join("\n  AND ")));
        }
        if !query.groups.is_empty() {
            let groups: Vec<String> = query.groups.iter().map(|group| self.expr(group)).collect();
            lines.push(format!("GROUP BY {}", groups.join(", ")));
        }
        if !query.having.is_empty() {
            let having: Vec<String> = query
                .having
                .iter()
                .map(|(expr, operator, value)| format!("{} {operator} {value}", self.expr(expr)))
                .collect();
            lines.push(format!("HAVING {}", having.join("\n  AND ")));
        }
    }

    /// The first few of each group: rows numbered in their order, and those with small numbers.
    fn within_groups(&self, query: &Query) -> String {
        // Two columns of one name would be one too many outside.
        let mut names: Vec<String> = Vec::new();
        for output in &query.select {
            let (own, table) = match (&output.alias, &output.expr) {
                (Some(alias), _) => (alias.clone(), String::new()),
                (None, Expr::Column(node, column)) => (
                    self.column_detail(*node, *column).map_or(String::new(), |column| column.name.clone()),
                    self.nodes
                        .get(*node)
                        .and_then(|node| self.schema.table(node.table))
                        .map_or(String::new(), |table| table.reference.name.to_lowercase()),
                ),
                _ => ("value".to_owned(), String::new()),
            };
            let taken = names.contains(&identifier(&own)) || own == "place";
            names.push(identifier(&if taken { format!("{table}_{own}") } else { own }));
        }
        let outputs: Vec<String> = query
            .select
            .iter()
            .zip(&names)
            .map(|(output, name)| {
                let text = self.expr(&output.expr);
                if text.ends_with(&format!(".{name}")) { text } else { format!("{text} AS {name}") }
            })
            .collect();
        let partition: Vec<String> = query.within.iter().map(|expr| self.expr(expr)).collect();
        let order: Vec<String> = query
            .order
            .iter()
            .map(|(expr, descending)| {
                let text = self.expr(expr);
                if *descending { format!("{text} DESC NULLS LAST") } else { text }
            })
            .collect();
        let numbered = format!(
            "row_number() OVER (PARTITION BY {} ORDER BY {}) AS place",
            partition.join(", "),
            order.join(", ")
        );
        let mut lines = vec![format!("SELECT {}, {numbered}", outputs.join(", ")), self.from()];
        self.clauses(query, &mut lines);
        let first: Vec<&String> = query
            .select
            .iter()
            .zip(&names)
            .filter(|(output, _)| query.within.contains(&output.expr))
            .map(|(_, name)| name)
            .collect();
        let lead: String = first.iter().map(|name| format!("{name}, ")).collect();
        format!(
            "SELECT {}\nFROM (\n    {}\n) AS ranked\nWHERE place <= {}\nORDER BY {lead}place",
            names.join(", "),
            lines.join("\n").replace('\n', "\n    "),
            query.limit.unwrap_or(1)
        )
    }

    /// An order; NULL is never the greatest.
    fn order(&self, query: &Query, expr: &Expr, descending: bool) -> String {
        let named =
            query.select.iter().find(|output| output.expr == *expr).and_then(|output| output.alias.as_ref());
        let text = named.map_or_else(|| self.expr(expr), |alias| identifier(alias));
        if !descending {
            return text;
        }
        let never_null = match expr {
            Expr::CountRows | Expr::CountDistinct(..) => true,
            Expr::Column(node, column) => {
                self.column_detail(*node, *column).is_some_and(|column| !column.nullable)
            }
            _ => false,
        };
        if never_null { format!("{text} DESC") } else { format!("{text} DESC NULLS LAST") }
    }

    fn from(&self) -> String {
        let mut lines = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let name = relation(self.schema, node.table);
            let alias = self.alias(at);
            match node.parent {
                None => lines.push(format!("FROM {name} AS {alias}")),
                Some((parent, edge)) => {
                    let kind = if node.left { "LEFT JOIN" } else { "JOIN" };
                    lines.push(format!(
                        "{kind} {name} AS {alias} ON {}",
                        self.joined(at, parent, edge, alias, node.table)
                    ));
                }
            }
        }
        lines.join("\n")
    }

    fn joined(&self, at: usize, parent: usize, edge: usize, alias: &str, table: usize) -> String {
        if self.nodes.get(at).is_some_and(|node| node.up) {
            let own = self.nodes.get(parent).map_or(0, |node| node.table);
            return self.equal(table, edge, alias, own, self.alias(parent));
        }
        let from = self.nodes.get(parent).map_or(0, |node| node.table);
        self.equal(from, edge, self.alias(parent), table, alias)
    }

    /// The condition of an edge from a table to another one; the side that is pointed to comes first.
    fn equal(&self, from: usize, edge: usize, from_alias: &str, to: usize, to_alias: &str) -> String {
        let Some(edge) = self.schema.table(from).and_then(|table| table.edges.get(edge)) else {
            return String::new();
        };
        let pairs: Vec<String> = edge
            .from
            .iter()
            .zip(&edge.to_columns)
            .map(|(from_column, to_column)| {
                let left = self.schema.column(from, *from_column).map_or("", |column| column.name.as_str());
                let right = self.schema.column(to, *to_column).map_or("", |column| column.name.as_str());
                format!("{to_alias}.{} = {from_alias}.{}", identifier(right), identifier(left))
            })
            .collect();
        pairs.join(" AND ")
    }

    fn alias(&self, node: usize) -> &str {
        self.aliases.get(node).map_or("t", String::as_str)
    }

    fn column_detail(&self, node: usize, column: usize) -> Option<&crate::schema::Column> {
        self.schema.column(self.nodes.get(node)?.table, column)
    }

    fn column(&self, node: usize, column: usize) -> String {
        let name = self.column_detail(node, column).map_or("", |column| column.name.as_str());
        format!("{}.{}", self.alias(node), identifier(name))
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Column(node, column) => self.column(*node, *column),
            Expr::Aggregate(aggregate, node, column) => {
                let column = self.column(*node, *column);
                match aggregate {
                    Aggregate::Count => format!("count({column})"),
                    Aggregate::Sum => format!("sum({column})"),
                    Aggregate::Average => format!("avg({column})"),
                    Aggregate::Minimum => format!("min({column})"),
                    Aggregate::Maximum => format!("max({column})"),
                    Aggregate::Median => format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY {column})"),
                }
            }
            Expr::CountRows => "count(*)".into(),
            Expr::CountDistinct(node, columns) => {
                let columns: Vec<String> = columns.iter().map(|column| self.column(*node, *column)).collect();
                match columns.as_slice() {
                    [only] => format!("count(DISTINCT {only})"),
                    _ => format!("count(DISTINCT ({}))", columns.join(", ")),
                }
            }
            Expr::Raw(sql, nodes) => self.raw(sql, nodes),
            Expr::Rounded(inner) => format!("round({}, 2)", self.expr(inner)),
            Expr::Step(Grain::Year, node, column) => {
                format!("extract(year FROM {})::int", self.column(*node, *column))
            }
            Expr::Step(grain, node, column) => {
                format!("date_trunc('{}', {})::date", grain.word(), self.column(*node, *column))
            }
            Expr::Share(preds) => {
                let preds: Vec<String> = preds.iter().map(|pred| self.pred(pred)).collect();
                format!("100.0 * count(*) FILTER (WHERE {}) / NULLIF(count(*), 0)", preds.join(" AND "))
            }
            Expr::Holds(preds) => {
                let preds: Vec<String> = preds.iter().map(|pred| self.pred(pred)).collect();
                format!("CASE WHEN {} THEN 1 ELSE 0 END", preds.join(" AND "))
            }
            Expr::OfAll => "100.0 * count(*) / sum(count(*)) OVER ()".into(),
            Expr::Filtered(inner, preds) => {
                let preds: Vec<String> = preds.iter().map(|pred| self.pred(pred)).collect();
                format!("{} FILTER (WHERE {})", self.expr(inner), preds.join(" AND "))
            }
            Expr::Quotient(above, below, times) => {
                format!("{times} * {} / NULLIF({}, 0)", self.expr(above), self.expr(below))
            }
            Expr::Place(by) => format!("rank() OVER (ORDER BY {} DESC NULLS LAST)", self.expr(by)),
        }
    }

    fn pred(&self, pred: &Pred) -> String {
        match pred {
            Pred::Compare(node, column, operator, value) => {
                format!("{} {operator} {value}", self.column(*node, *column))
            }
            Pred::SameText(node, column, value) => {
                format!("lower({}) = lower({value})", self.column(*node, *column))
            }
            Pred::Like(node, column, pattern) => {
                format!("{} ILIKE {}", self.column(*node, *column), text(pattern))
            }
            Pred::Any(preds) => {
                let preds: Vec<String> = preds.iter().map(|pred| self.pred(pred)).collect();
                format!("({})", preds.join(" OR "))
            }
            Pred::In(node, column, values) => {
                format!("{} IN ({})", self.column(*node, *column), values.join(", "))
            }
            Pred::Null(node, column, null) => {
                format!("{} IS {}", self.column(*node, *column), if *null { "NULL" } else { "NOT NULL" })
            }
            Pred::Flag(node, column, sense)
                if self
                    .column_detail(*node, *column)
                    .is_some_and(|column| column.family == Family::Number) =>
            {
                format!("{} = {}", self.column(*node, *column), i32::from(*sense))
            }
            Pred::Flag(node, column, true) => self.column(*node, *column),
            Pred::Flag(node, column, false) => format!("NOT {}", self.column(*node, *column)),
            Pred::Within(node, column, period) => self.within(&self.column(*node, *column), period),
            Pred::Years(node, column, period) => self.years(&self.column(*node, *column), period),
            Pred::Raw(sql, nodes) => {
                let sql = self.raw(sql, nodes);
                if sql.to_lowercase().contains(" or ") { format!("({sql})") } else { sql }
            }
            Pred::Not(inner) => match inner.as_ref() {
                Pred::Compare(node, column, "=", value) => {
                    format!("{} IS DISTINCT FROM {value}", self.column(*node, *column))
                }
                Pred::Flag(node, column, sense) => self.pred(&Pred::Flag(*node, *column, !sense)),
                other => format!("NOT ({})", self.pred(other)),
            },
            Pred::Exists(negated, existence) => self.exists(*negated, existence),
        }
    }

    fn within(&self, column: &str, period: &Period) -> String {
        let day = |date: Date| format!("DATE '{date}'");
        match (period.from, period.until) {
            (Some(from), Some(until)) => format!("{column} >= {} AND {column} < {}", day(from), day(until)),
            (Some(from), None) => format!("{column} >= {}", day(from)),
            (None, Some(until)) => format!("{column} < {}", day(until)),
            (None, None) => format!("{column} IS NOT NULL"),
        }
    }

    fn years(&self, column: &str, period: &Period) -> String {
        match (period.from.map(Date::year), period.until.map(Date::year)) {
            (Some(from), Some(until)) if until == from + 1 => format!("{column} = {from}"),
            (Some(from), Some(until)) => format!("{column} BETWEEN {from} AND {}", until - 1),
            (Some(from), None) => format!("{column} >= {from}"),
            (None, Some(until)) => format!("{column} < {until}"),
            (None, None) => format!("{column} IS NOT NULL"),
        }
    }

    fn exists(&self, negated: bool, existence: &Existence) -> String {
        let mut taken: Vec<String> = self.aliases.clone();
        if let Some(outer) = self.outer {
            taken.extend(outer.aliases.iter().cloned());
        }
        let inner = Printer {
            schema: self.schema,
            outer: Some(self),
            nodes: &existence.nodes,
            aliases: aliases(self.schema, &existence.nodes, &taken),
        };
        let outer_table = self.nodes.get(existence.outer).map_or(0, |node| node.table);
        let last = existence.nodes.get(existence.last).map_or(0, |node| node.table);
        let (own, outer) = (inner.alias(existence.last), self.alias(existence.outer));
        let mut conditions = vec![if existence.forward {
            self.equal(outer_table, existence.edge, outer, last, own)
        } else {
            self.equal(last, existence.edge, own, outer_table, outer)
        }];
        conditions.extend(existence.preds.iter().map(|pred| inner.pred(pred)));
        let from = inner.from().replace('\n', "\n    ");
        let not = if negated { "NOT EXISTS" } else { "EXISTS" };
        format!("{not} (\n    SELECT 1\n    {from}\n    WHERE {})", conditions.join("\n      AND "))
    }

    /// SQL of the glossary with the names of its tables replaced by aliases and its bare columns qualified.
    fn raw(&self, sql: &str, nodes: &[(usize, usize)]) -> String {
        let alias_of = |name: &str| {
            nodes
                .iter()
                .find(|(table, _)| {
                    self.schema.table(*table).is_some_and(|table| table.reference.name == name)
                })
                .map(|(_, node)| self.alias(*node))
        };
        let own = nodes.first().copied();
        let mut out = String::new();
        for piece in crate::fragment::pieces(sql) {
            match piece {
                crate::fragment::Piece::Qualified(table, column) => {
                    let alias = alias_of(&table).map_or_else(|| identifier(&table), str::to_owned);
                    out.push_str(&format!("{alias}.{}", identifier(&column)));
                }
                crate::fragment::Piece::Name(name) => {
                    let column = own.filter(|(table, _)| {
                        self.schema.table(*table).is_some_and(|table| table.column(&name).is_some())
                    });
                    match column {
                        Some((_, node)) => {
                            out.push_str(&format!("{}.{}", self.alias(node), identifier(&name)))
                        }
                        None => out.push_str(&name),
                    }
                }
                crate::fragment::Piece::Other(text) => out.push_str(&text),
            }
        }
        out
    }
}
