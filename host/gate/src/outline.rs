//! The nodes of a text with their byte ranges: what a component needs to rewrite a part of a statement in place.
//!
//! The grammar says where most nodes begin and never where they end. A node's range is the hull of the tokens it and its
//! children begin at, widened over the brackets that belong to it; a clause begins at its keyword.

use pg_query::NodeEnum;
use pg_query::protobuf::{self, SelectStmt, Token};
use serde::Serialize;

use crate::scan::Scan;
use crate::walk::strings;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NodeKind {
    /// A query.
    Select,
    /// An output column.
    Target,
    /// The FROM clause.
    From,
    /// A relation in FROM.
    Table,
    /// A column reference.
    Column,
    /// A function call.
    Function,
    /// A literal.
    Literal,
    /// The condition of WHERE.
    Where,
    /// One expression of GROUP BY.
    GroupBy,
    /// The condition of HAVING.
    Having,
    /// One expression of ORDER BY.
    OrderBy,
    /// The number of LIMIT or FETCH.
    Limit,
    /// A cast.
    Cast,
    /// An operator with its operands.
    Operator,
    /// A query inside an expression or FROM.
    Subquery,
    /// A common table expression.
    Cte,
    /// A window definition.
    Window,
    /// A CASE expression.
    Case,
    /// Anything else.
    Other,
}

impl NodeKind {
    /// The word on every surface, such as `group-by`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Target => "target",
            Self::From => "from",
            Self::Table => "table",
            Self::Column => "column",
            Self::Function => "function",
            Self::Literal => "literal",
            Self::Where => "where",
            Self::GroupBy => "group-by",
            Self::Having => "having",
            Self::OrderBy => "order-by",
            Self::Limit => "limit",
            Self::Cast => "cast",
            Self::Operator => "operator",
            Self::Subquery => "subquery",
            Self::Cte => "cte",
            Self::Window => "window",
            Self::Case => "case",
            Self::Other => "other",
        }
    }
}

/// One node of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// Index of the parent in the list.
    pub parent: Option<u32>,
    /// The name it carries: of a function, a relation, a column as written, an operator.
    pub name: Option<String>,
}

/// Most nodes of an outline.
const NODES: usize = 20_000;

/// The nodes of a query, parents before children.
pub(crate) fn of(query: &SelectStmt, text: &str, scan: &Scan) -> Vec<Node> {
    let mut outline = Outline { nodes: Vec::new(), hulls: Vec::new(), text, scan, parent: None };
    outline.query(query, NodeKind::Select);
    outline.finish()
}

/// Token indices, first and last.
type Hull = Option<(usize, usize)>;

struct Outline<'o> {
    nodes: Vec<Node>,
    hulls: Vec<Hull>,
    text: &'o str,
    scan: &'o Scan,
    parent: Option<usize>,
}

impl Outline<'_> {
    fn finish(self) -> Vec<Node> {
        let lexemes = &self.scan.lexemes;
        let mut nodes = self.nodes;
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for index in 0..nodes.len() {
            let hull = self.hulls.get(index).copied().flatten();
            let range = hull.and_then(|(first, last)| {
                Some(byte(lexemes.get(first)?.start)..byte(lexemes.get(last)?.end))
            });
            // What has no token of its own, such as the query in `(SELECT)`, is nothing at its parent's beginning.
            let nowhere = || {
                let parent = nodes.get(index)?.parent?;
                nodes.get(parent as usize).map(|parent| parent.start..parent.start)
            };
            let range = range.or_else(nowhere).unwrap_or(0..0);
            if let Some(node) = nodes.get_mut(index) {
                (node.start, node.end) = (range.start, range.end);
            }
        }
        nodes
    }

    /// Adds a node, runs `children` under it, and gives its hull to its parent.
    fn node(
        &mut self,
        kind: NodeKind,
        name: Option<String>,
        own: Hull,
        children: impl FnOnce(&mut Self),
    ) -> Option<usize> {
        if self.nodes.len() >= NODES {
            return None;
        }
        let index = self.nodes.len();
        let parent = self.parent.and_then(|parent| u32::try_from(parent).ok());
        self.nodes.push(Node { kind, start: 0, end: 0, parent, name });
        self.hulls.push(own);
        let outer = self.parent.replace(index);
        children(self);
        self.parent = outer;
        let widened = self.balanced(self.hulls.get(index).copied().flatten());
        if let Some(hull) = self.hulls.get_mut(index) {
            *hull = widened;
        }
        self.widen(outer, widened);
        Some(index)
    }

    fn widen(&mut self, index: Option<usize>, by: Hull) {
        let Some(hull) = index.and_then(|index| self.hulls.get_mut(index)) else { return };
        *hull = join(*hull, by);
    }

    /// A hull widened to the right until the brackets it opens are closed, and to the left until those it closes are
    /// opened.
    fn balanced(&self, hull: Hull) -> Hull {
        let (mut first, mut last) = hull?;
        let (mut open, mut lowest) = (0_i32, 0_i32);
        for lexeme in self.scan.lexemes.get(first..=last)? {
            open += step(lexeme.token);
            lowest = lowest.min(open);
        }
        let mut missing = -lowest;
        while missing > 0 && first > 0 {
            first -= 1;
            missing -= step(self.scan.lexemes.get(first)?.token);
        }
        open -= lowest;
        while open > 0 {
            let Some(next) = self.scan.lexemes.get(last + 1) else { break };
            last += 1;
            open += step(next.token);
        }
        Some((first, last))
    }

    fn token(&self, location: i32) -> Hull {
        self.scan.index_at(location).map(|index| (index, index))
    }

    /// A call's hull: its name and its brackets.
    fn call(&self, location: i32) -> Hull {
        let (first, mut last) = self.token(location)?;
        while self.scan.lexemes.get(last)?.token != Token::Ascii40 as i32 {
            last += 1;
            if last > first + 6 {
                return Some((first, first));
            }
        }
        self.balanced(Some((first, last)))
    }

    /// A dotted name's hull.
    fn dotted(&self, location: i32, parts: usize) -> Hull {
        let (first, _) = self.token(location)?;
        let last = (first + parts.saturating_sub(1) * 2).min(self.scan.lexemes.len().checked_sub(1)?);
        Some((first, last))
    }

    fn maybe(&mut self, node: &Option<Box<protobuf::Node>>) {
        if let Some(node) = node.as_deref().and_then(|node| node.node.as_ref()) {
            self.any(node);
        }
    }

    fn all(&mut self, nodes: &[protobuf::Node]) {
        nodes.iter().filter_map(|node| node.node.as_ref()).for_each(|node| self.any(node));
    }

    /// A clause: a node around one expression.
    fn clause(&mut self, kind: NodeKind, node: &Option<Box<protobuf::Node>>) {
        if node.is_some() {
            self.node(kind, None, None, |outline| outline.maybe(node));
        }
    }

    fn clauses(&mut self, kind: NodeKind, nodes: &[protobuf::Node]) {
        for node in nodes.iter().filter_map(|node| node.node.as_ref()) {
            self.node(kind, None, None, |outline| outline.any(node));
        }
    }

    fn query(&mut self, query: &SelectStmt, kind: NodeKind) {
        self.node(kind, None, None, |outline| {
            if let Some(with) = &query.with_clause {
                let hull = outline.token(with.location);
                outline.widen(outline.parent, hull);
                outline.all(&with.ctes);
            }
            if let Some(left) = &query.larg {
                outline.query(left, NodeKind::Select);
            }
            if let Some(right) = &query.rarg {
                outline.query(right, NodeKind::Select);
            }
            outline.all(&query.values_lists);
            outline.all(&query.target_list);
            if !query.from_clause.is_empty() {
                outline.node(NodeKind::From, None, None, |outline| outline.all(&query.from_clause));
            }
            outline.clause(NodeKind::Where, &query.where_clause);
            outline.clauses(NodeKind::GroupBy, &query.group_clause);
            outline.clause(NodeKind::Having, &query.having_clause);
            outline.all(&query.window_clause);
            outline.clauses(NodeKind::OrderBy, &query.sort_clause);
            outline.maybe(&query.limit_offset);
            outline.clause(NodeKind::Limit, &query.limit_count);
            outline.widen_to_select();
        });
    }

    /// Takes the keyword that opens the query into its hull.
    fn widen_to_select(&mut self) {
        let Some((first, last)) = self.parent.and_then(|parent| self.hulls.get(parent).copied().flatten())
        else {
            return;
        };
        let words = [Token::Select, Token::Values, Token::Table];
        let is_opening = |index: usize| {
            self.scan.lexemes.get(index).is_some_and(|lexeme| words.iter().any(|word| lexeme.is(*word)))
        };
        if is_opening(first) {
            return;
        }
        let mut index = first;
        let mut closed = 0_i32;
        while index > 0 {
            index -= 1;
            let Some(lexeme) = self.scan.lexemes.get(index) else { return };
            closed -= step(lexeme.token);
            if closed < 0 {
                return;
            }
            if closed == 0 && is_opening(index) {
                self.widen(self.parent, Some((index, last)));
                return;
            }
        }
    }

    fn any(&mut self, node: &NodeEnum) {
        use NodeKind as Kind;
        match node {
            NodeEnum::SelectStmt(query) => self.query(query, Kind::Subquery),
            NodeEnum::CommonTableExpr(table) => {
                let own = self.token(table.location);
                self.node(Kind::Cte, Some(table.ctename.clone()), own, |outline| {
                    outline.maybe(&table.ctequery)
                });
            }
            NodeEnum::ResTarget(target) => {
                let own = self.token(target.location);
                let name = (!target.name.is_empty()).then(|| target.name.clone());
                self.node(Kind::Target, name, own, |outline| outline.maybe(&target.val));
            }
            NodeEnum::RangeVar(relation) => {
                let parts = [&relation.catalogname, &relation.schemaname, &relation.relname];
                let parts: Vec<&str> =
                    parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
                let own = self.dotted(relation.location, parts.len());
                self.node(Kind::Table, Some(parts.join(".")), own, |_| {});
            }
            NodeEnum::RangeSubselect(subquery) => self.maybe(&subquery.subquery),
            NodeEnum::RangeFunction(function) => self.all(&function.functions),
            NodeEnum::RangeTableSample(sample) => {
                self.node(Kind::Other, None, None, |outline| {
                    outline.maybe(&sample.relation);
                    outline.all(&sample.args);
                });
            }
            NodeEnum::JoinExpr(join) => {
                self.node(Kind::Other, Some("join".to_owned()), None, |outline| {
                    outline.maybe(&join.larg);
                    outline.maybe(&join.rarg);
                    outline.maybe(&join.quals);
                });
            }
            NodeEnum::ColumnRef(reference) => {
                let own = self.dotted(reference.location, reference.fields.len());
                let name = own.and_then(|(first, last)| {
                    let lexemes = &self.scan.lexemes;
                    self.text.get(lexemes.get(first)?.start..lexemes.get(last)?.end)
                });
                self.node(Kind::Column, name.map(str::to_owned), own, |_| {});
            }
            NodeEnum::AConst(constant) => {
                let own = self.token(constant.location);
                self.node(Kind::Literal, None, own, |_| {});
            }
            NodeEnum::FuncCall(call) => {
                let own = self.call(call.location);
                let name = strings(&call.funcname).map(|parts| parts.join("."));
                self.node(Kind::Function, name, own, |outline| {
                    outline.all(&call.args);
                    outline.all(&call.agg_order);
                    outline.maybe(&call.agg_filter);
                    if let Some(window) = &call.over {
                        outline.window(window);
                    }
                });
            }
            NodeEnum::WindowDef(window) => self.window(window),
            NodeEnum::TypeCast(cast) => {
                let own = self.cast(cast);
                let name =
                    cast.type_name.as_ref().and_then(|of| strings(&of.names)).map(|parts| parts.join("."));
                self.node(Kind::Cast, name, own, |outline| outline.maybe(&cast.arg));
            }
            NodeEnum::AExpr(expression) => {
                let own = self.token(expression.location);
                let name = strings(&expression.name).map(|parts| parts.join("."));
                self.node(Kind::Operator, name, own, |outline| {
                    outline.maybe(&expression.lexpr);
                    outline.maybe(&expression.rexpr);
                });
            }
            NodeEnum::BoolExpr(expression) => {
                let name = match expression.boolop {
                    1 => "AND",
                    2 => "OR",
                    _ => "NOT",
                };
                let own = self.token(expression.location);
                self.node(Kind::Operator, Some(name.to_owned()), own, |outline| {
                    outline.all(&expression.args)
                });
            }
            NodeEnum::CaseExpr(case) => {
                let own = self.token(case.location);
                self.node(Kind::Case, None, own, |outline| {
                    outline.maybe(&case.arg);
                    outline.all(&case.args);
                    outline.maybe(&case.defresult);
                    outline.widen_to_end();
                });
            }
            NodeEnum::CaseWhen(when) => {
                let own = self.token(when.location);
                self.node(Kind::Other, None, own, |outline| {
                    outline.maybe(&when.expr);
                    outline.maybe(&when.result);
                });
            }
            NodeEnum::SubLink(link) => {
                let own = self.token(link.location);
                self.node(Kind::Other, None, own, |outline| {
                    outline.maybe(&link.testexpr);
                    outline.maybe(&link.subselect);
                });
            }
            NodeEnum::List(list) => self.all(&list.items),
            NodeEnum::SortBy(sort) => self.maybe(&sort.node),
            NodeEnum::GroupingSet(set) => {
                let own = self.token(set.location);
                self.node(Kind::Other, None, own, |outline| outline.all(&set.content));
            }
            NodeEnum::NullTest(test) => {
                let own = self.token(test.location);
                self.node(Kind::Operator, Some("IS NULL".to_owned()), own, |outline| {
                    outline.maybe(&test.arg)
                });
            }
            NodeEnum::BooleanTest(test) => {
                let own = self.token(test.location);
                self.node(Kind::Operator, Some("IS".to_owned()), own, |outline| outline.maybe(&test.arg));
            }
            NodeEnum::CoalesceExpr(coalesce) => {
                let own = self.call(coalesce.location);
                self.node(Kind::Function, Some("coalesce".to_owned()), own, |outline| {
                    outline.all(&coalesce.args)
                });
            }
            NodeEnum::MinMaxExpr(minmax) => {
                let own = self.call(minmax.location);
                let name = if minmax.op == 1 { "greatest" } else { "least" };
                self.node(Kind::Function, Some(name.to_owned()), own, |outline| outline.all(&minmax.args));
            }
            NodeEnum::AArrayExpr(array) => {
                let own = self.token(array.location);
                self.node(Kind::Other, None, own, |outline| outline.all(&array.elements));
            }
            NodeEnum::RowExpr(row) => {
                let own = self.token(row.location);
                self.node(Kind::Other, None, own, |outline| outline.all(&row.args));
            }
            NodeEnum::AIndirection(indirection) => {
                self.node(Kind::Other, None, None, |outline| outline.maybe(&indirection.arg));
            }
            NodeEnum::CollateClause(collate) => {
                let own = self.token(collate.location);
                self.node(Kind::Other, None, own, |outline| outline.maybe(&collate.arg));
            }
            NodeEnum::NamedArgExpr(named) => self.maybe(&named.arg),
            NodeEnum::SqlvalueFunction(function) => {
                let own = self.token(function.location);
                self.node(Kind::Function, None, own, |_| {});
            }
            _ => {
                let parent = self.parent.and_then(|parent| self.hulls.get(parent).copied().flatten());
                self.node(Kind::Other, None, parent, |_| {});
            }
        }
    }

    fn window(&mut self, window: &protobuf::WindowDef) {
        let own = self.token(window.location);
        let name = [&window.name, &window.refname].into_iter().find(|name| !name.is_empty()).cloned();
        self.node(NodeKind::Window, name, own, |outline| {
            outline.all(&window.partition_clause);
            outline.clauses(NodeKind::OrderBy, &window.order_clause);
        });
    }

    /// A cast's hull: `CAST(...)` with its brackets, or `::` and the type's name.
    fn cast(&self, cast: &protobuf::TypeCast) -> Hull {
        let own = self.token(cast.location);
        let of = cast.type_name.as_ref()?;
        let named = self.token(of.location).and_then(|(first, mut last)| {
            // `character varying(10)`: a type is a run of words, and a bracket right after them belongs to it.
            while let Some(next) = self.scan.lexemes.get(last + 1) {
                let brackets = next.is(Token::Ascii40) || next.is(Token::Ascii91);
                if !brackets {
                    break;
                }
                last = self.balanced(Some((last + 1, last + 1)))?.1;
            }
            Some((first, last))
        });
        join(own, named)
    }

    /// Takes the END of a CASE into its hull.
    fn widen_to_end(&mut self) {
        let Some((_, last)) = self.parent.and_then(|parent| self.hulls.get(parent).copied().flatten()) else {
            return;
        };
        let following = self.scan.lexemes.get(last + 1..).unwrap_or_default();
        if let Some(steps) = following.iter().position(|lexeme| lexeme.is(Token::EndP)) {
            let end = last + 1 + steps;
            self.widen(self.parent, Some((end, end)));
        }
    }
}

const fn step(token: i32) -> i32 {
    if token == Token::Ascii40 as i32 || token == Token::Ascii91 as i32 {
        1
    } else if token == Token::Ascii41 as i32 || token == Token::Ascii93 as i32 {
        -1
    } else {
        0
    }
}

fn join(one: Hull, other: Hull) -> Hull {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str, kind: NodeKind) -> Vec<String> {
        let nodes = crate::outline(text).unwrap();
        for (index, node) in nodes.iter().enumerate() {
            assert!(node.start <= node.end && node.end as usize <= text.len());
            if let Some(parent) = node.parent {
                assert!((parent as usize) < index);
                let parent = &nodes[parent as usize];
                assert!(
                    parent.start <= node.start && node.end <= parent.end,
                    "{text}: {node:?} in {parent:?}"
                );
            }
        }
        let spans = nodes.iter().filter(|node| node.kind == kind);
        spans.map(|node| text[node.start as usize..node.end as usize].to_owned()).collect()
    }

    #[test]
    fn ranges_are_the_text_of_the_node() {
        let text = "SELECT c.name AS n, sum(o.total * (1 + 0.2)) FROM shop.orders o JOIN customers c ON c.id = o.cid \
                    WHERE o.status = 'paid' AND o.at >= date '2024-01-01' GROUP BY c.name HAVING count(*) > 3 \
                    ORDER BY lower(c.name) LIMIT 10";
        for (kind, want) in [
            (NodeKind::Table, vec!["shop.orders", "customers"]),
            (NodeKind::Function, vec!["sum(o.total * (1 + 0.2))", "count(*)", "lower(c.name)"]),
            (NodeKind::Literal, vec!["1", "0.2", "'paid'", "'2024-01-01'", "3", "10"]),
            (NodeKind::Where, vec!["o.status = 'paid' AND o.at >= date '2024-01-01'"]),
            (NodeKind::GroupBy, vec!["c.name"]),
            (NodeKind::Having, vec!["count(*) > 3"]),
            (NodeKind::OrderBy, vec!["lower(c.name)"]),
            (NodeKind::Limit, vec!["10"]),
            (NodeKind::Cast, vec!["date '2024-01-01'"]),
            (NodeKind::Select, vec![text]),
        ] {
            assert_eq!(spans(text, kind), want, "{kind:?}");
        }
    }

    #[test]
    fn nested_queries_casts_and_cases_have_their_own_ranges() {
        for (text, kind, want) in [
            ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", NodeKind::Cte, "t AS (SELECT 1 AS a)"),
            ("SELECT 1 WHERE 2 IN (SELECT id FROM a)", NodeKind::Subquery, "SELECT id FROM a"),
            ("SELECT CASE WHEN a THEN 1 ELSE 2 END FROM t", NodeKind::Case, "CASE WHEN a THEN 1 ELSE 2 END"),
            ("SELECT a::numeric(10, 2) FROM t", NodeKind::Cast, "a::numeric(10, 2)"),
            ("SELECT CAST(a AS text) FROM t", NodeKind::Cast, "CAST(a AS text)"),
            ("SELECT (SELECT ) FROM t", NodeKind::Subquery, ""),
            ("SELECT t.\"Odd Name\" FROM t", NodeKind::Column, "t.\"Odd Name\""),
        ] {
            assert_eq!(spans(text, kind), vec![want.to_owned()], "{text}");
        }
    }
}
