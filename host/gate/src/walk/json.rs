//! SQL/JSON: constructors, aggregates, queries, and the versions that brought them.

use pg_query::NodeEnum;
use pg_query::protobuf::{JsonAggConstructor, JsonBehavior, JsonOutput, JsonValueExpr, Node};

use super::expression::location;
use super::{Checked, Walk, inner, unsupported};
use crate::scope::{Kind, Scope, UNBOUNDED, Value};

impl Walk<'_> {
    /// The SQL/JSON constructs, each as new as the server must be; anything else is not known.
    pub(super) fn json(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Value> {
        let mut kind = Kind::Plain;
        match node {
            NodeEnum::JsonObjectConstructor(object) => {
                self.needs_version(16, "JSON_OBJECT with this syntax", object.location)?;
                kind = self.json_output(object.output.as_ref(), object.location)?;
                self.all(&object.exprs, scope)?;
            }
            NodeEnum::JsonArrayConstructor(array) => {
                self.needs_version(16, "JSON_ARRAY", array.location)?;
                kind = self.json_output(array.output.as_ref(), array.location)?;
                self.all(&array.exprs, scope)?;
            }
            NodeEnum::JsonArrayQueryConstructor(array) => {
                self.needs_version(16, "JSON_ARRAY", array.location)?;
                kind = self.json_output(array.output.as_ref(), array.location)?;
                let Some(NodeEnum::SelectStmt(query)) = inner(&array.query) else {
                    return Err(unsupported("this subquery").at(array.location));
                };
                for column in self.select(query, scope)?.iter() {
                    self.usable(&column.value, array.location)?;
                }
            }
            NodeEnum::JsonKeyValue(pair) => {
                self.maybe(inner(&pair.key), scope)?;
                if let Some(value) = &pair.value {
                    self.json_value(value, scope)?;
                }
            }
            NodeEnum::JsonValueExpr(value) => self.json_value(value, scope)?,
            NodeEnum::JsonObjectAgg(aggregate) => {
                kind = self.json_aggregate(aggregate.constructor.as_deref(), scope)?;
                if let Some(pair) = &aggregate.arg {
                    self.maybe(inner(&pair.key), scope)?;
                    if let Some(value) = &pair.value {
                        self.json_value(value, scope)?;
                    }
                }
            }
            NodeEnum::JsonArrayAgg(aggregate) => {
                kind = self.json_aggregate(aggregate.constructor.as_deref(), scope)?;
                if let Some(value) = &aggregate.arg {
                    self.json_value(value, scope)?;
                }
            }
            NodeEnum::JsonIsPredicate(predicate) => {
                self.needs_version(16, "IS JSON", predicate.location)?;
                self.maybe(inner(&predicate.expr), scope)?;
            }
            NodeEnum::JsonParseExpr(parse) => {
                self.needs_version(17, "JSON()", parse.location)?;
                kind = self.json_output(parse.output.as_ref(), parse.location)?;
                if let Some(value) = &parse.expr {
                    self.json_value(value, scope)?;
                }
            }
            NodeEnum::JsonScalarExpr(scalar) => {
                self.needs_version(17, "JSON_SCALAR", scalar.location)?;
                kind = self.json_output(scalar.output.as_ref(), scalar.location)?;
                self.maybe(inner(&scalar.expr), scope)?;
            }
            NodeEnum::JsonSerializeExpr(serialize) => {
                self.needs_version(17, "JSON_SERIALIZE", serialize.location)?;
                kind = self.json_output(serialize.output.as_ref(), serialize.location)?;
                if let Some(value) = &serialize.expr {
                    self.json_value(value, scope)?;
                }
            }
            NodeEnum::JsonFuncExpr(function) => {
                self.needs_version(17, "JSON_VALUE, JSON_QUERY and JSON_EXISTS", function.location)?;
                kind = self.json_output(function.output.as_ref(), function.location)?;
                if let Some(context) = &function.context_item {
                    self.json_value(context, scope)?;
                }
                self.maybe(inner(&function.pathspec), scope)?;
                self.json_arguments(&function.passing, scope)?;
                for behavior in [&function.on_empty, &function.on_error].into_iter().flatten() {
                    self.json_behavior(behavior, scope)?;
                }
            }
            _ => return Err(unsupported("this expression").at(location(node))),
        }
        Ok(Value::of(kind).counted(UNBOUNDED))
    }

    pub(super) fn json_value(&mut self, value: &JsonValueExpr, scope: &Scope<'_>) -> Checked<()> {
        self.maybe(inner(&value.raw_expr), scope)?;
        self.maybe(inner(&value.formatted_expr), scope)?;
        Ok(())
    }

    pub(super) fn json_arguments(&mut self, nodes: &[Node], scope: &Scope<'_>) -> Checked<()> {
        for node in nodes.iter().filter_map(|node| node.node.as_ref()) {
            let NodeEnum::JsonArgument(argument) = node else { return Err(unsupported("this argument")) };
            self.given_name(&argument.name, -1)?;
            if let Some(value) = &argument.val {
                self.json_value(value, scope)?;
            }
        }
        Ok(())
    }

    pub(super) fn json_behavior(&mut self, behavior: &JsonBehavior, scope: &Scope<'_>) -> Checked<()> {
        self.maybe(inner(&behavior.expr), scope).map(drop)
    }

    /// The type that RETURNING names.
    fn json_output(&mut self, output: Option<&JsonOutput>, location: i32) -> Checked<Kind> {
        match output.and_then(|output| output.type_name.as_ref()) {
            Some(of) => self.type_name(of, location),
            None => Ok(Kind::Plain),
        }
    }

    fn json_aggregate(&mut self, aggregate: Option<&JsonAggConstructor>, scope: &Scope<'_>) -> Checked<Kind> {
        let Some(aggregate) = aggregate else { return Ok(Kind::Plain) };
        self.needs_version(16, "JSON_OBJECTAGG and JSON_ARRAYAGG", aggregate.location)?;
        let kind = self.json_output(aggregate.output.as_ref(), aggregate.location)?;
        self.maybe(inner(&aggregate.agg_filter), scope)?;
        for node in &aggregate.agg_order {
            let sort = self.sort_by(node)?;
            self.maybe(inner(&sort.node), scope)?;
        }
        if let Some(window) = &aggregate.over {
            self.over(window, scope)?;
        }
        Ok(kind)
    }
}
