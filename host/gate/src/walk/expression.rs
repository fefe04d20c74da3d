//! Expressions: every node kind that may stand in one, and nothing else.

use std::sync::Arc;

use pg_query::NodeEnum;
use pg_query::protobuf::{
    AExpr, AExprKind, BoolExprType, MinMaxOp, Node, SqlValueFunctionOp, SubLink, SubLinkType, a_const,
};

use super::beside::is_null;
use super::limits::constant_bytes;
use super::names::strings;
use super::{Checked, Walk, counts, inner, losses, unsupported};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Kind, Nature, STORED_COUNT, Scope, Trace, Value};

/// Digits that a `numeric` has at most before its point.
pub(super) const MOST_DIGITS: u64 = 131_072;

impl Walk<'_> {
    /// An expression whose value is only handed on: here a column may bring its own code, since none of it runs.
    pub(super) fn output(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Value> {
        self.deeper(|walk| walk.expression(node, scope))
    }

    /// An expression whose value something is computed with.
    pub(super) fn computed(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Value> {
        let value = self.output(node, scope)?;
        self.usable(&value, location(node))?;
        Ok(value)
    }

    /// All of a list.
    pub(super) fn all(&mut self, nodes: &[Node], scope: &Scope<'_>) -> Checked<Vec<Value>> {
        nodes.iter().filter_map(|node| node.node.as_ref()).map(|node| self.computed(node, scope)).collect()
    }

    pub(super) fn maybe(&mut self, node: Option<&NodeEnum>, scope: &Scope<'_>) -> Checked<Option<Value>> {
        node.map(|node| self.computed(node, scope)).transpose()
    }

    /// Refuses to compute with a value whose type brings its own code.
    pub(super) fn usable(&self, value: &Value, location: i32) -> Checked<()> {
        if self.vocabulary.is_opaque(&value.kind) { Err(self.opaque(value, location)) } else { Ok(()) }
    }

    /// Refuses to sort, group or compare values whose type brings its own operators.
    pub(super) fn comparable(&self, value: &Value, location: i32) -> Checked<()> {
        if self.vocabulary.has_foreign_operators(&value.kind) {
            Err(self.opaque(value, location))
        } else {
            Ok(())
        }
    }

    pub(super) fn opaque(&self, value: &Value, location: i32) -> Box<Refusal> {
        let what = value.origin.as_ref().map_or_else(|| "this value".to_owned(), |column| column.to_string());
        Refusal::new(
            RejectionCode::OpaqueColumn,
            format!("{what} has a type that brings its own casts or operators: it can be shown, counted and tested for NULL"),
        )
        .at(location)
        .hint("Select it as it is, or one of its fields: (column).field.")
    }

    /// One of several values, nobody knows which: as large as the largest.
    fn one_of(&mut self, written: &[&NodeEnum], values: &[Value], location: i32) -> Checked<Value> {
        self.of_one_type(written, values, location)?;
        Ok(Value {
            kind: together(values),
            nature: losses::together(written, values),
            origin: None,
            trace: Trace::Lost,
            bytes: values.iter().map(|value| value.bytes).max().unwrap_or_default(),
            count: counts::largest(values),
        })
    }

    fn expression(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Value> {
        let negated = std::mem::take(&mut self.negated);
        match node {
            NodeEnum::AConst(constant) => {
                let value = Value::plain(constant_bytes(constant)).counted(counts::of_constant(constant));
                let trace = match &constant.val {
                    // NULL is no literal among others, and hides none of them.
                    None => Trace::Written(Arc::default()),
                    Some(a_const::Val::Sval(_)) => {
                        let mut written = Vec::new();
                        self.literals(node, false, &mut written);
                        Trace::written(written)
                    }
                    Some(_) => Trace::Lost,
                };
                Ok(value.being(losses::of_constant(constant)).showing(trace))
            }
            NodeEnum::ColumnRef(reference) => self.column(reference, scope),
            NodeEnum::ParamRef(parameter) => Err(Refusal::new(
                RejectionCode::StrayParameter,
                format!("there is nothing to bind ${} to", parameter.number),
            )
            .at(parameter.location)
            .hint("Write the value as a literal.")),
            NodeEnum::AExpr(expression) => self.operation(expression, negated, scope),
            NodeEnum::BoolExpr(expression) => {
                for node in expression.args.iter().filter_map(|node| node.node.as_ref()) {
                    self.negated = negated != (expression.boolop == BoolExprType::NotExpr as i32);
                    self.computed(node, scope)?;
                }
                if expression.boolop == BoolExprType::AndExpr as i32 {
                    let parts = expression.args.iter().filter_map(|node| node.node.as_ref());
                    self.all_of(parts.map(losses::Condition::here));
                }
                Ok(Value::truth())
            }
            NodeEnum::NullTest(test) => {
                if let Some(node) = inner(&test.arg) {
                    self.output(node, scope)?;
                }
                Ok(Value::truth())
            }
            NodeEnum::BooleanTest(test) => {
                self.maybe(inner(&test.arg), scope)?;
                Ok(Value::truth())
            }
            NodeEnum::FuncCall(call) => self.call(call, scope),
            NodeEnum::TypeCast(cast) => self.cast(cast, scope),
            NodeEnum::CaseExpr(case) => {
                let mut compared: Vec<Value> = self.maybe(inner(&case.arg), scope)?.into_iter().collect();
                let mut results = Vec::with_capacity(case.args.len() + 1);
                let mut written = Vec::with_capacity(case.args.len() + 1);
                for branch in case.args.iter().filter_map(|node| node.node.as_ref()) {
                    let NodeEnum::CaseWhen(when) = branch else { return Err(unsupported("this CASE")) };
                    let condition = self.maybe(inner(&when.expr), scope)?;
                    // Without a first value, `compared` holds none.
                    if let (Some(first), Some(second), Some(of), Some(value)) =
                        (inner(&case.arg), inner(&when.expr), compared.first(), &condition)
                    {
                        let sides = [(of, second), (value, first)];
                        self.compares("CASE", sides, false);
                        self.is_one_day(first, of, second, value.nature, when.location);
                    }
                    compared.extend(condition.filter(|_| case.arg.is_some() && !is_null(inner(&when.expr))));
                    results.extend(self.maybe(inner(&when.result), scope)?);
                    written.extend(inner(&when.result));
                }
                results.extend(self.maybe(inner(&case.defresult), scope)?);
                written.extend(inner(&case.defresult));
                self.not_taken_on(compared.iter(), false, case.location)?;
                self.one_of(&written, &results, case.location)
            }
            NodeEnum::CoalesceExpr(coalesce) => {
                let values = self.all(&coalesce.args, scope)?;
                let written: Vec<_> = coalesce.args.iter().filter_map(|node| node.node.as_ref()).collect();
                self.one_of(&written, &values, coalesce.location)
            }
            NodeEnum::MinMaxExpr(minmax) => {
                let values = self.all(&minmax.args, scope)?;
                let written: Vec<_> = minmax.args.iter().filter_map(|node| node.node.as_ref()).collect();
                let value = self.one_of(&written, &values, minmax.location)?;
                // LEAST is how a careful writer bounds a number.
                let count = if minmax.op == MinMaxOp::IsLeast as i32 {
                    values.iter().map(|value| value.count).min().unwrap_or_default()
                } else {
                    value.count
                };
                Ok(Value { count, ..value })
            }
            NodeEnum::SqlvalueFunction(function) => {
                use SqlValueFunctionOp as Op;
                // The others, such as the current user, are refused.
                self.facts.clock();
                match Op::try_from(function.op) {
                    Ok(Op::SvfopCurrentDate) => Ok(Value::plain(8).being(Nature::Day)),
                    Ok(
                        Op::SvfopCurrentTime
                        | Op::SvfopCurrentTimeN
                        | Op::SvfopCurrentTimestamp
                        | Op::SvfopCurrentTimestampN
                        | Op::SvfopLocaltime
                        | Op::SvfopLocaltimeN
                        | Op::SvfopLocaltimestamp
                        | Op::SvfopLocaltimestampN,
                    ) => Ok(Value::plain(8)),
                    _ => Err(Refusal::new(
                        RejectionCode::SessionInformation,
                        "who or where the session is (user, role, database, schema) is out of bounds",
                    )
                    .at(function.location)),
                }
            }
            NodeEnum::SubLink(link) => self.sublink(link, negated, scope),
            NodeEnum::AArrayExpr(array) => {
                let values = self.all(&array.elements, scope)?;
                let written: Vec<_> = array.elements.iter().filter_map(|node| node.node.as_ref()).collect();
                self.of_one_type(&written, &values, array.location)?;
                let bytes = self.quoted(values.iter(), array.location)?;
                let kind = array_of(together(&values));
                let count = counts::largest(&values);
                Ok(Value { kind, nature: Nature::Other, origin: None, trace: Trace::Lost, bytes, count })
            }
            NodeEnum::RowExpr(row) => {
                let mut fields: Vec<Column> = Vec::with_capacity(row.args.len());
                let mut add = |value: Value| {
                    let name = format!("f{}", fields.len() + 1).into();
                    fields.push(Column { name, value });
                };
                for node in row.args.iter().filter_map(|node| node.node.as_ref()) {
                    match self.star_target(node, scope)? {
                        Some(columns) => columns.into_iter().for_each(|column| add(column.value)),
                        None => add(self.output(node, scope)?),
                    }
                }
                let count = fields.iter().map(|field| field.value.count).max().unwrap_or_default();
                let bytes = self.quoted(fields.iter().map(|field| &field.value), row.location)?;
                let kind = Kind::Row(fields.into());
                Ok(Value { kind, nature: Nature::Other, origin: None, trace: Trace::Lost, bytes, count })
            }
            NodeEnum::AIndirection(indirection) => {
                let base = inner(&indirection.arg).ok_or_else(|| unsupported("this expression"))?;
                self.indirection(base, &indirection.indirection, scope)
            }
            NodeEnum::CollateClause(collate) => {
                let name = strings(&collate.collname)
                    .ok_or_else(|| unsupported("this collation").at(collate.location))?;
                if let [.., schema, _] = name.as_slice()
                    && !self.vocabulary.has_schema(schema)
                {
                    let message = format!("there is no known collation {}", name.join("."));
                    return Err(Refusal::new(RejectionCode::UnknownType, message).at(collate.location));
                }
                let value = self.maybe(inner(&collate.arg), scope)?.unwrap_or(Value::plain(0));
                let trace = value.traced();
                Ok(value.computed().showing(trace))
            }
            NodeEnum::GroupingFunc(grouping) => {
                for node in grouping.args.iter().filter_map(|node| node.node.as_ref()) {
                    self.output(node, scope)?;
                }
                Ok(Value::plain(4).counted(STORED_COUNT))
            }
            NodeEnum::XmlExpr(xml) => self.xml(xml, scope),
            NodeEnum::XmlSerialize(serialize) => {
                if serialize.indent {
                    self.needs_version(16, "XMLSERIALIZE INDENT", serialize.location)?;
                }
                let kind = match &serialize.type_name {
                    Some(of) => self.type_name(of, serialize.location)?,
                    None => Kind::Plain,
                };
                let value = self.maybe(inner(&serialize.expr), scope)?.unwrap_or(Value::plain(0));
                Ok(Value { kind, ..value.computed().being(Nature::Other) })
            }
            other => self.json(other, scope),
        }
    }

    // ---- operators ----

    /// Whether the operator of this name may be used.
    pub(super) fn operator(&mut self, name: &[Node], location: i32) -> Checked<()> {
        let parts = strings(name).ok_or_else(|| unsupported("this operator").at(location))?;
        let checked = match parts.as_slice() {
            [name] => self.vocabulary.operator(None, name),
            [schema, name] => self.vocabulary.operator(Some(schema), name),
            _ => Err(unsupported("this operator")),
        };
        checked.map_err(|refusal| refusal.at(location))
    }

    /// An operand, checked for what its operator does.
    fn operand_of(
        &mut self,
        node: Option<&NodeEnum>,
        operator: &str,
        scope: &Scope<'_>,
    ) -> Checked<Option<Value>> {
        let Some(node) = node else { return Ok(None) };
        let value = self.output(node, scope)?;
        self.operand(&value, operator, location(node))?;
        Ok(Some(value))
    }

    /// What an operator may be given: for comparisons rows and enums are as good as numbers.
    fn operand(&self, value: &Value, operator: &str, location: i32) -> Checked<()> {
        if matches!(operator, "=" | "<>" | "<" | "<=" | ">" | ">=") {
            self.comparable(value, location)
        } else {
            self.usable(value, location)
        }
    }

    /// A chain of operators leans to the left: it is walked as a list, so that a long one is not a deep one.
    fn operation(&mut self, expression: &AExpr, negated: bool, scope: &Scope<'_>) -> Checked<Value> {
        if expression.kind != AExprKind::AexprOp as i32 {
            return self.special_operation(expression, negated, scope);
        }
        let mut spine = vec![expression];
        let mut first = inner(&expression.lexpr);
        while let Some(NodeEnum::AExpr(left)) = first {
            if left.kind != AExprKind::AexprOp as i32 {
                break;
            }
            spine.push(left);
            first = inner(&left.lexpr);
            if spine.len() > self.limits.chain {
                return Err(crate::scan::too_deep(self.limits.chain).at(expression.location));
            }
        }
        let mut left = first.map(|node| self.output(node, scope)).transpose()?;
        let mut nothing = is_null(first);
        let mut links = spine.into_iter().rev().peekable();
        while let Some(link) = links.next() {
            self.count_node()?;
            self.operator(&link.name, link.location)?;
            let node = inner(&link.rexpr);
            let right = node.map(|node| self.output(node, scope)).transpose()?;
            let name = strings(&link.name).and_then(|parts| parts.last().copied()).unwrap_or_default();
            for operand in [left.as_ref(), right.as_ref()].into_iter().flatten() {
                self.operand(operand, name, link.location)?;
            }
            // What is appended to an array becomes an element of it, and what replaces a field becomes one.
            for side in [left.as_ref(), right.as_ref()].into_iter().flatten() {
                if name == "#=" || name == "||" && matches!(side.kind, Kind::ArrayOf(_) | Kind::Either(_)) {
                    self.not_turned_into(std::slice::from_ref(side), link.location)?;
                }
            }
            if !(nothing || is_null(node)) {
                self.not_taken_on(left.iter().chain(&right), false, link.location)?;
            }
            nothing = false;
            self.compared(link, left.as_ref(), right.as_ref());
            let (before, behind) =
                (left.as_ref().map(|value| value.nature), right.as_ref().map(|value| value.nature));
            let (before, behind) = (before, behind.unwrap_or_default());
            self.quotient(link, links.peek().copied(), before.unwrap_or_default(), behind);
            if let (Some(left), Some(right)) = (&left, &right) {
                self.compared_with_day(link, left, right, negated && links.peek().is_none());
            }
            let nature = losses::of_operator(name, before, behind);
            if name == "^" {
                self.exponent(node, link.location)?;
            }
            let count = counts::of_operator(
                name,
                left.as_ref().map(|value| value.count),
                right.as_ref().map_or(0, |value| value.count),
                node,
            );
            let exponent = right.as_ref().map_or(0, |value| value.count);
            let (a, b) = (left.map_or(0, |value| value.bytes), right.map_or(0, |value| value.bytes));
            let bytes = match name {
                "||" => a.saturating_add(b),
                // Products and powers have the digits of their factors together.
                "*" if !self.turning => a.saturating_add(b),
                "^" => a.max(b).max(8).saturating_add(exponent.min(MOST_DIGITS)),
                _ => a.max(b).max(8),
            };
            self.small_enough(bytes, link.location)?;
            left = Some(Value::plain(bytes).counted(count).being(nature));
        }
        Ok(left.unwrap_or(Value::plain(0)))
    }

    /// IN, BETWEEN, LIKE, ANY, ALL, DISTINCT, NULLIF.
    fn special_operation(&mut self, expression: &AExpr, negated: bool, scope: &Scope<'_>) -> Checked<Value> {
        let kind = AExprKind::try_from(expression.kind).unwrap_or(AExprKind::Undefined);
        let implied: &[&str] = match kind {
            AExprKind::AexprBetween
            | AExprKind::AexprNotBetween
            | AExprKind::AexprBetweenSym
            | AExprKind::AexprNotBetweenSym => &["<", "<=", ">", ">="],
            AExprKind::AexprOpAny
            | AExprKind::AexprOpAll
            | AExprKind::AexprDistinct
            | AExprKind::AexprNotDistinct
            | AExprKind::AexprNullif
            | AExprKind::AexprIn
            | AExprKind::AexprLike
            | AExprKind::AexprIlike
            | AExprKind::AexprSimilar => &[],
            _ => return Err(unsupported("this operator").at(expression.location)),
        };
        if implied.is_empty() {
            self.operator(&expression.name, expression.location)?;
        }
        for name in implied {
            self.vocabulary.operator(None, name).map_err(|refusal| refusal.at(expression.location))?;
        }
        let name = strings(&expression.name).and_then(|parts| parts.last().copied()).unwrap_or_default();
        let name = if implied.is_empty() { name } else { "<" };
        let left = self.operand_of(inner(&expression.lexpr), name, scope)?;
        let mut listed = Vec::new();
        let mut bounds = Vec::new();
        let right = match inner(&expression.rexpr) {
            Some(NodeEnum::List(list)) => {
                for node in list.items.iter().filter_map(|node| node.node.as_ref()) {
                    let value = self.operand_of(Some(node), name, scope)?;
                    bounds.push((node, value.as_ref().map(|value| value.nature).unwrap_or_default()));
                    listed.extend(value.filter(|_| !is_null(Some(node))));
                }
                None
            }
            other => self.operand_of(other, name, scope)?,
        };
        // Beside ANY and ALL stands an element, which a domain makes one of its base type.
        let by_element = matches!(kind, AExprKind::AexprOpAny | AExprKind::AexprOpAll)
            && !left.as_ref().is_some_and(|left| self.vocabulary.takes_on(&left.kind, false));
        if !(by_element || is_null(inner(&expression.lexpr)) || is_null(inner(&expression.rexpr))) {
            // All of a list get one type, unless they are rows written out.
            let united =
                kind == AExprKind::AexprIn && !matches!(inner(&expression.lexpr), Some(NodeEnum::RowExpr(_)));
            self.not_taken_on(left.iter().chain(&right).chain(&listed), united, expression.location)?;
        }
        self.compared(expression, left.as_ref(), right.as_ref());
        self.among_days(expression, left.as_ref(), &bounds, negated);
        if let (Some(left), Some(right)) = (&left, &right) {
            self.distinct_from_day(expression, left, right, negated);
        }
        if kind != AExprKind::AexprNullif {
            return Ok(Value::truth());
        }
        // The result is the left side. Is that a literal, then its type is that of the right side.
        let left = left.unwrap_or(Value::plain(8)).computed();
        match (&left.kind, right.map_or(Kind::Plain, |value| value.kind)) {
            (Kind::Plain, right) if right != Kind::Plain => {
                Ok(Value { kind: Kind::Either([right].into()), ..left })
            }
            _ => Ok(left),
        }
    }

    // ---- subqueries, fields ----

    fn sublink(&mut self, link: &SubLink, negated: bool, scope: &Scope<'_>) -> Checked<Value> {
        let Some(NodeEnum::SelectStmt(query)) = inner(&link.subselect) else {
            return Err(unsupported("this subquery").at(link.location));
        };
        let tested = self.maybe(inner(&link.testexpr), scope)?;
        if !link.oper_name.is_empty() {
            self.operator(&link.oper_name, link.location)?;
        }
        let columns = self.select(query, scope)?;
        let first = || columns.first().map_or(Value::plain(0), |column| column.value.clone());
        match SubLinkType::try_from(link.sub_link_type) {
            Ok(SubLinkType::ExistsSublink) => Ok(Value::truth()),
            Ok(SubLinkType::ExprSublink) => Ok(first()),
            Ok(SubLinkType::ArraySublink) => {
                let value = first();
                let bytes = self.quoted(std::iter::once(&value), link.location)?;
                let kind = array_of(value.kind.clone());
                Ok(Value { kind, bytes, ..value.computed().being(Nature::Other) })
            }
            Ok(SubLinkType::AnySublink | SubLinkType::AllSublink | SubLinkType::RowcompareSublink) => {
                for column in columns.iter() {
                    self.usable(&column.value, link.location)?;
                }
                self.looked_for(tested.as_ref(), &columns, link.location)?;
                let written = strings(&link.oper_name).unwrap_or_default();
                let operator = match (SubLinkType::try_from(link.sub_link_type), written.last()) {
                    (Ok(SubLinkType::AnySublink), None | Some(&"=")) => {
                        Some(if negated { "NOT IN" } else { "IN" })
                    }
                    (Ok(SubLinkType::AllSublink), Some(&"<>")) => Some("NOT IN"),
                    _ => None,
                };
                if let (Some(operator), Some(tested), [among]) = (operator, &tested, &*columns) {
                    self.joined_on(operator, tested, &among.value);
                }
                Ok(Value::truth())
            }
            _ => Err(unsupported("this subquery").at(link.location)),
        }
    }

    /// Fields, subscripts and slices of a value.
    pub(super) fn indirection(
        &mut self,
        base: &NodeEnum,
        steps: &[Node],
        scope: &Scope<'_>,
    ) -> Checked<Value> {
        let mut value = self.output(base, scope)?;
        let at = location(base);
        for step in steps {
            self.count_node()?;
            value = match &step.node {
                Some(NodeEnum::String(field)) => self.field(&value, &field.sval, at)?,
                Some(NodeEnum::AIndices(indices)) => {
                    for node in [inner(&indices.lidx), inner(&indices.uidx)].into_iter().flatten() {
                        self.computed(node, scope)?;
                    }
                    let kind = match value.kind {
                        Kind::ArrayOf(of) if !indices.is_slice => *of,
                        Kind::Named { name, array: true } if !indices.is_slice => {
                            Kind::Named { name, array: false }
                        }
                        other => other,
                    };
                    Value { kind, nature: Nature::Other, origin: None, trace: Trace::Lost, ..value }
                }
                _ => return Err(unsupported("a star in this place").at(at)),
            };
        }
        Ok(value)
    }

    /// A field of a row. What is not a known field would be a function call in disguise.
    fn field(&mut self, value: &Value, name: &str, location: i32) -> Checked<Value> {
        let fields = self.fields_of(value, location)?;
        match fields.iter().find(|field| *field.name == *name) {
            Some(field) => {
                self.note(&field.value);
                // The fields of an anonymous row are known each; those of a named type only with the whole.
                let whole = if matches!(value.kind, Kind::Row(_)) { 0 } else { value.count };
                Ok(field.value.clone().counted(field.value.count.max(whole)))
            }
            None => {
                let near = crate::scope::nearest(name, fields.iter().map(|field| &*field.name));
                Err(Refusal::new(RejectionCode::UnknownColumn, format!("the row has no field \"{name}\""))
                    .at(location)
                    .maybe_hint(near.map(|near| format!("Did you mean \"{near}\"?"))))
            }
        }
    }

    /// The fields of a value that is a row.
    pub(super) fn fields_of(&self, value: &Value, location: i32) -> Checked<Arc<[Column]>> {
        self.vocabulary.fields(&value.kind).ok_or_else(|| {
            Refusal::new(RejectionCode::UnknownColumn, "this value is not a row whose fields are known")
                .at(location)
        })
    }
}

/// The kind of an expression that gives one of these values.
fn together(values: &[Value]) -> Kind {
    values.iter().fold(Kind::Plain, |kind, value| kind.joined(&value.kind))
}

/// An array of such values; of ordinary values it is ordinary itself.
pub(super) fn array_of(kind: Kind) -> Kind {
    match kind {
        Kind::Plain => Kind::Plain,
        Kind::Named { name, array: false } => Kind::Named { name, array: true },
        other => Kind::ArrayOf(Box::new(other)),
    }
}

/// Where a node begins, as far as the grammar tells.
pub(super) fn location(node: &NodeEnum) -> i32 {
    match node {
        NodeEnum::AConst(node) => node.location,
        NodeEnum::ColumnRef(node) => node.location,
        NodeEnum::ParamRef(node) => node.location,
        NodeEnum::AExpr(node) => node.location,
        NodeEnum::BoolExpr(node) => node.location,
        NodeEnum::NullTest(node) => node.location,
        NodeEnum::FuncCall(node) => node.location,
        NodeEnum::TypeCast(node) => {
            node.arg.as_deref().and_then(|arg| arg.node.as_ref()).map_or(node.location, location)
        }
        NodeEnum::CaseExpr(node) => node.location,
        NodeEnum::CoalesceExpr(node) => node.location,
        NodeEnum::MinMaxExpr(node) => node.location,
        NodeEnum::SqlvalueFunction(node) => node.location,
        NodeEnum::SubLink(node) => node.location,
        NodeEnum::AArrayExpr(node) => node.location,
        NodeEnum::RowExpr(node) => node.location,
        NodeEnum::XmlExpr(node) => node.location,
        NodeEnum::AIndirection(node) => {
            node.arg.as_deref().and_then(|arg| arg.node.as_ref()).map_or(-1, location)
        }
        NodeEnum::CollateClause(node) => node.location,
        _ => -1,
    }
}
