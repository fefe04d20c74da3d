//! What the output columns of a query are made from: for the definition of a view, whose columns may carry other names than
//! the columns that they show.
//!
//! Only what is certain is said. An expression of a kind that is not known here, a name that could be of several relations,
//! or what a function gives leaves a column without an answer, and whoever asks must think of everything the query reads.

use airlock_types::{ColumnRef, TableRef};
use pg_query::NodeEnum;
use pg_query::protobuf::{Node, RangeVar, ResTarget, SelectStmt};

use crate::walk::strings;

/// An output column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name; empty where the text gives it none.
    pub name: String,
    /// What it is made from; absent when that is not certain.
    pub of: Option<Vec<Part>>,
}

/// A part of what an output column is made from. A relation without a schema in the text has an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A column of a relation.
    Column(ColumnRef),
    /// One of these: both sides of a join have it, or the one that does.
    Either(Vec<ColumnRef>),
    /// A whole row of a relation.
    Row(TableRef),
}

/// Queries deeper than that are not looked into.
const DEPTH: usize = 40;

/// The output columns of a query.
pub(crate) fn of(query: &SelectStmt) -> Vec<Shown> {
    Reader { tables: Vec::new(), depth: 0 }.query(query)
}

/// Common table expressions in scope, the innermost last.
#[derive(Clone)]
struct Reader {
    tables: Vec<(String, Vec<Shown>)>,
    depth: usize,
}

/// What a name in FROM stands for.
enum Item {
    Relation(TableRef),
    Query(Vec<Shown>),
    Unknown,
}

#[derive(Default)]
struct Scope {
    items: Vec<(String, Item)>,
    /// Columns that USING merged.
    merged: Vec<String>,
}

impl Reader {
    fn query(&self, query: &SelectStmt) -> Vec<Shown> {
        if self.depth > DEPTH {
            return Vec::new();
        }
        let mut reader = Self { depth: self.depth + 1, ..self.clone() };
        if let Some(with) = &query.with_clause {
            for table in &with.ctes {
                let Some(NodeEnum::CommonTableExpr(table)) = &table.node else { continue };
                let mut shown = match table.ctequery.as_deref().and_then(|query| query.node.as_ref()) {
                    Some(NodeEnum::SelectStmt(query)) => reader.query(query),
                    _ => Vec::new(),
                };
                // It may read itself.
                if with.recursive {
                    shown.iter_mut().for_each(|column| column.of = None);
                }
                rename(&mut shown, &table.aliascolnames);
                reader.tables.push((table.ctename.clone(), shown));
            }
        }
        match (&query.larg, &query.rarg) {
            (Some(left), Some(right)) => both(reader.query(left), &reader.query(right)),
            _ if !query.values_lists.is_empty() => reader.values(&query.values_lists),
            _ => reader.select(query),
        }
    }

    fn values(&self, rows: &[Node]) -> Vec<Shown> {
        let mut columns: Vec<Shown> = Vec::new();
        for row in rows {
            let Some(NodeEnum::List(row)) = &row.node else { return Vec::new() };
            for (at, value) in row.items.iter().enumerate() {
                let mut parts = Vec::new();
                let of = self.parts(value, &Scope::default(), &mut parts).then_some(parts);
                match columns.get_mut(at) {
                    Some(column) => column.of = together(column.of.take(), of.as_deref()),
                    None => columns.push(Shown { name: format!("column{}", at + 1), of }),
                }
            }
        }
        columns
    }

    fn select(&self, query: &SelectStmt) -> Vec<Shown> {
        let mut scope = Scope::default();
        for item in &query.from_clause {
            self.from(item, &mut scope);
        }
        let targets = query.target_list.iter().map(|target| match &target.node {
            Some(NodeEnum::ResTarget(target)) => self.target(target, &scope),
            _ => Shown { name: String::new(), of: None },
        });
        targets.collect()
    }

    fn target(&self, target: &ResTarget, scope: &Scope) -> Shown {
        let Some(value) = target.val.as_deref() else { return Shown { name: String::new(), of: None } };
        let own = || match &value.node {
            Some(NodeEnum::ColumnRef(column)) => strings(&column.fields)?.pop().map(str::to_owned),
            _ => None,
        };
        let name = if target.name.is_empty() { own().unwrap_or_default() } else { target.name.clone() };
        let mut parts = Vec::new();
        let of = self.parts(value, scope, &mut parts).then_some(parts);
        Shown { name, of }
    }

    fn from(&self, node: &Node, scope: &mut Scope) {
        match &node.node {
            Some(NodeEnum::RangeVar(relation)) => {
                let item = self.relation(relation);
                scope.items.push((named(relation), item));
            }
            Some(NodeEnum::RangeTableSample(sample)) => {
                if let Some(relation) = &sample.relation {
                    self.from(relation, scope);
                }
            }
            Some(NodeEnum::RangeSubselect(subquery)) => {
                let alias = subquery.alias.as_ref();
                let item = match subquery.subquery.as_deref().and_then(|query| query.node.as_ref()) {
                    Some(NodeEnum::SelectStmt(query)) => {
                        let mut shown = self.query(query);
                        rename(&mut shown, alias.map_or(&[], |alias| alias.colnames.as_slice()));
                        Item::Query(shown)
                    }
                    _ => Item::Unknown,
                };
                scope.items.push((alias.map(|alias| alias.aliasname.clone()).unwrap_or_default(), item));
            }
            Some(NodeEnum::JoinExpr(join)) => {
                let before = scope.items.len();
                for side in [&join.larg, &join.rarg].into_iter().flatten() {
                    self.from(side, scope);
                }
                match (&join.alias, strings(&join.using_clause)) {
                    (None, Some(merged)) if !join.is_natural => {
                        scope.merged.extend(merged.into_iter().map(str::to_owned))
                    }
                    // Names inside of a named join are not seen, and what a natural one merges is not written.
                    (alias, _) => {
                        scope.items.truncate(before);
                        let alias = alias.as_ref().map(|alias| alias.aliasname.clone());
                        scope.items.push((alias.unwrap_or_default(), Item::Unknown));
                    }
                }
            }
            _ => scope.items.push((String::new(), Item::Unknown)),
        }
    }

    fn relation(&self, relation: &RangeVar) -> Item {
        let renamed = relation.alias.as_ref().is_some_and(|alias| !alias.colnames.is_empty());
        let own = self.tables.iter().rev().find(|(name, _)| *name == relation.relname);
        match own.filter(|_| relation.schemaname.is_empty()) {
            Some((_, shown)) => {
                let mut shown = shown.clone();
                rename(&mut shown, relation.alias.as_ref().map_or(&[], |alias| alias.colnames.as_slice()));
                Item::Query(shown)
            }
            None if renamed => Item::Unknown,
            None => Item::Relation(TableRef::new(&relation.schemaname, &relation.relname)),
        }
    }

    /// Adds what an expression is made from. False when that is not certain.
    fn parts(&self, node: &Node, scope: &Scope, out: &mut Vec<Part>) -> bool {
        let all = |nodes: &[Node], out: &mut Vec<Part>| nodes.iter().all(|node| self.parts(node, scope, out));
        let maybe = |node: &Option<Box<Node>>, out: &mut Vec<Part>| {
            node.as_deref().is_none_or(|node| self.parts(node, scope, out))
        };
        let Some(node) = &node.node else { return true };
        match node {
            NodeEnum::ColumnRef(column) => scope.column(&column.fields, out),
            NodeEnum::AConst(_) | NodeEnum::SqlvalueFunction(_) => true,
            NodeEnum::FuncCall(call) => {
                let over = call.over.as_ref().is_none_or(|over| {
                    // What a window that is named elsewhere orders by is not looked for.
                    over.name.is_empty()
                        && over.refname.is_empty()
                        && all(&over.partition_clause, out)
                        && all(&over.order_clause, out)
                });
                over && all(&call.args, out) && all(&call.agg_order, out) && maybe(&call.agg_filter, out)
            }
            NodeEnum::TypeCast(cast) => maybe(&cast.arg, out),
            NodeEnum::CollateClause(collate) => maybe(&collate.arg, out),
            NodeEnum::AExpr(expression) => maybe(&expression.lexpr, out) && maybe(&expression.rexpr, out),
            NodeEnum::BoolExpr(expression) => all(&expression.args, out),
            NodeEnum::CaseExpr(case) => {
                maybe(&case.arg, out) && all(&case.args, out) && maybe(&case.defresult, out)
            }
            NodeEnum::CaseWhen(when) => maybe(&when.expr, out) && maybe(&when.result, out),
            NodeEnum::List(list) => all(&list.items, out),
            NodeEnum::SortBy(sort) => maybe(&sort.node, out),
            NodeEnum::NullTest(test) => maybe(&test.arg, out),
            NodeEnum::BooleanTest(test) => maybe(&test.arg, out),
            NodeEnum::CoalesceExpr(coalesce) => all(&coalesce.args, out),
            NodeEnum::MinMaxExpr(extreme) => all(&extreme.args, out),
            NodeEnum::AArrayExpr(array) => all(&array.elements, out),
            NodeEnum::RowExpr(row) => all(&row.args, out),
            NodeEnum::NamedArgExpr(named) => maybe(&named.arg, out),
            _ => false,
        }
    }
}

impl Scope {
    fn column(&self, fields: &[Node], out: &mut Vec<Part>) -> bool {
        let star = matches!(fields.last().map(|field| &field.node), Some(Some(NodeEnum::AStar(_))));
        let names = if star { fields.split_last().map_or(&[][..], |(_, names)| names) } else { fields };
        let Some(names) = strings(names) else { return false };
        match (names.as_slice(), star) {
            ([column], false) => self.bare(column, out),
            ([alias, column], false) => self.item(alias).is_some_and(|item| item.column(column, out)),
            ([schema, table, column], false) => {
                let table = TableRef::new(*schema, *table);
                let known = |(_, item): &(String, Item)| matches!(item, Item::Relation(of) if *of == table);
                out.push(Part::Column(ColumnRef { table: table.clone(), column: (*column).to_owned() }));
                self.items.iter().any(known)
            }
            ([alias], true) => self.item(alias).is_some_and(|item| item.row(out)),
            _ => false,
        }
    }

    /// A column without a name before it: of the only relation, or merged by USING.
    fn bare(&self, column: &str, out: &mut Vec<Part>) -> bool {
        match self.items.as_slice() {
            [(_, item)] => item.column(column, out),
            items if self.merged.iter().any(|merged| merged == column) => {
                let mut either = Vec::new();
                for (_, item) in items {
                    match item {
                        Item::Relation(table) => {
                            either.push(ColumnRef { table: table.clone(), column: column.to_owned() });
                        }
                        Item::Query(shown) if shown.iter().any(|one| one.name == column) => {
                            if !item.column(column, out) {
                                return false;
                            }
                        }
                        Item::Query(_) => {}
                        Item::Unknown => return false,
                    }
                }
                if !either.is_empty() {
                    out.push(Part::Either(either));
                }
                true
            }
            _ => false,
        }
    }

    /// What a name stands for, when one thing alone has it.
    fn item(&self, alias: &str) -> Option<&Item> {
        let mut found = self.items.iter().filter(|(name, _)| name == alias).map(|(_, item)| item);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

impl Item {
    fn column(&self, column: &str, out: &mut Vec<Part>) -> bool {
        match self {
            Self::Relation(table) => {
                out.push(Part::Column(ColumnRef { table: table.clone(), column: column.to_owned() }));
                true
            }
            Self::Query(shown) => {
                let mut found = shown.iter().filter(|one| one.name == column);
                match (found.next(), found.next()) {
                    (Some(Shown { of: Some(parts), .. }), None) => {
                        out.extend_from_slice(parts);
                        true
                    }
                    _ => false,
                }
            }
            Self::Unknown => false,
        }
    }

    fn row(&self, out: &mut Vec<Part>) -> bool {
        match self {
            Self::Relation(table) => {
                out.push(Part::Row(table.clone()));
                true
            }
            Self::Query(shown) => shown.iter().all(|one| {
                one.of.as_ref().is_some_and(|parts| {
                    out.extend_from_slice(parts);
                    true
                })
            }),
            Self::Unknown => false,
        }
    }
}

/// The name by which a relation in FROM is spoken of.
fn named(relation: &RangeVar) -> String {
    relation.alias.as_ref().map_or_else(|| relation.relname.clone(), |alias| alias.aliasname.clone())
}

fn rename(shown: &mut [Shown], names: &[Node]) {
    for (column, name) in shown.iter_mut().zip(strings(names).unwrap_or_default()) {
        name.clone_into(&mut column.name);
    }
}

/// The columns of a set operation: named by its first side, made from both.
fn both(left: Vec<Shown>, right: &[Shown]) -> Vec<Shown> {
    let same = left.len() == right.len();
    let one = |(at, column): (usize, Shown)| {
        let other = right.get(at).filter(|_| same).and_then(|other| other.of.as_deref());
        Shown { name: column.name, of: together(column.of, other) }
    };
    left.into_iter().enumerate().map(one).collect()
}

fn together(one: Option<Vec<Part>>, other: Option<&[Part]>) -> Option<Vec<Part>> {
    let (mut parts, more) = one.zip(other)?;
    parts.extend_from_slice(more);
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name <- parts`, `?` where it is not certain.
    fn told(text: &str) -> Vec<String> {
        let part = |part: &Part| match part {
            Part::Column(column) => column.to_string(),
            Part::Either(columns) => columns.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"),
            Part::Row(table) => format!("{table}.*"),
        };
        let shown = crate::lineage(text).unwrap();
        let one = |shown: &Shown| {
            let of = shown.of.as_ref().map(|parts| parts.iter().map(part).collect::<Vec<_>>().join(" "));
            format!("{} <- {}", shown.name, of.unwrap_or_else(|| "?".to_owned()))
        };
        shown.iter().map(one).collect()
    }

    #[test]
    fn an_output_column_is_made_from_these() {
        for (text, want) in [
            (
                "SELECT full_name AS label, city FROM s.customer",
                &["label <- s.customer.full_name", "city <- s.customer.city"][..],
            ),
            (
                "SELECT c.full_name || ' (' || lower(c.city)::text || ')' AS label, o.id FROM (s.customer c JOIN s.orders o ON c.id = o.cid) \
                 WHERE c.email IS NOT NULL ORDER BY c.email;",
                &["label <- s.customer.full_name s.customer.city", "id <- s.orders.id"],
            ),
            ("SELECT q.a FROM (SELECT t.x AS a, t.y FROM s.t) q", &["a <- s.t.x"]),
            ("WITH w(a) AS (SELECT t.x FROM s.t) SELECT w.a AS b FROM w", &["b <- s.t.x"]),
            ("SELECT t.x AS a FROM s.t UNION ALL SELECT u.y FROM s.u", &["a <- s.t.x s.u.y"]),
            ("SELECT v.a FROM (VALUES (1, 'x'), (2, 'y')) v(a, b)", &["a <- "]),
            ("SELECT id, c.x FROM s.c JOIN s.o USING (id)", &["id <- s.c.id|s.o.id", "x <- s.c.x"]),
            ("SELECT to_jsonb(c.*) AS doc FROM s.c", &["doc <- s.c.*"]),
            (
                "SELECT max(c.x) FILTER (WHERE c.y > 1) AS m, now() AS n FROM s.c",
                &["m <- s.c.x s.c.y", "n <- "],
            ),
            (
                "SELECT CASE WHEN c.x = 1 THEN c.y ELSE COALESCE(c.z, 'x') END AS k FROM s.c",
                &["k <- s.c.x s.c.y s.c.z"],
            ),
            // What is not certain.
            ("SELECT (SELECT o.x FROM s.o LIMIT 1) AS k, c.y FROM s.c", &["k <- ?", "y <- s.c.y"]),
            ("SELECT f.x FROM s.c, g(c.id) f(x)", &["x <- ?"]),
            ("SELECT x FROM s.c, s.o", &["x <- ?"]),
            ("SELECT t.x FROM s.c t(x)", &["x <- ?"]),
            ("SELECT j.x FROM (s.c JOIN s.o USING (id)) j", &["x <- ?"]),
            (
                "WITH RECURSIVE w AS (SELECT t.x FROM s.t UNION ALL SELECT w.x FROM w) SELECT w.x FROM w",
                &["x <- ?"],
            ),
            ("SELECT row_number() OVER w AS n FROM s.t WINDOW w AS (ORDER BY t.x)", &["n <- ?"]),
        ] {
            assert_eq!(told(text), want, "{text}");
        }
    }
}
