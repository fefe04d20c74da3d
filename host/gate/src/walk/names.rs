//! Names: of output columns as PostgreSQL chooses them, of columns and whole rows where they are used.

use std::sync::Arc;

use airlock_types::text::{Place, find_hidden};
use pg_query::NodeEnum;
use pg_query::protobuf::{ColumnRef, Node, SqlValueFunctionOp, SubLinkType, XmlExprOp};

use super::{Checked, Walk, inner};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Item, Level, Scope, Value, is_system_column};

/// The parts of a dotted name; `None` when one of them is not a name.
pub(crate) fn strings(nodes: &[Node]) -> Option<Vec<&str>> {
    nodes
        .iter()
        .map(|node| match &node.node {
            Some(NodeEnum::String(part)) => Some(part.sval.as_str()),
            _ => None,
        })
        .collect()
}

/// The last part of a dotted name.
fn last(nodes: &[Node]) -> Option<&str> {
    match nodes.last()?.node.as_ref()? {
        NodeEnum::String(part) => Some(&part.sval),
        _ => None,
    }
}

/// The name PostgreSQL gives an output column that has no alias, and whether it is more than a fallback.
pub(super) fn figure(node: Option<&NodeEnum>) -> &str {
    figured(node, 0).map_or("?column?", |(name, _)| name)
}

/// The name and its strength: 1 when it comes from a type or a construct, 2 when it is a name of the text.
fn figured(node: Option<&NodeEnum>, depth: usize) -> Option<(&str, u8)> {
    if depth > 400 {
        return None;
    }
    let below = |node| figured(node, depth + 1);
    match node? {
        NodeEnum::ColumnRef(column) => last(&column.fields).map(|name| (name, 2)),
        NodeEnum::AIndirection(indirection) => {
            let named = indirection.indirection.iter().rev().find_map(|step| match &step.node {
                Some(NodeEnum::String(part)) => Some(part.sval.as_str()),
                _ => None,
            });
            named.map(|name| (name, 2)).or_else(|| below(inner(&indirection.arg)))
        }
        NodeEnum::FuncCall(call) => last(&call.funcname).map(|name| (name, 2)),
        NodeEnum::AExpr(expression) if expression.kind == 6 => Some(("nullif", 2)),
        NodeEnum::TypeCast(cast) => match below(inner(&cast.arg)) {
            Some((name, 2)) => Some((name, 2)),
            weaker => {
                let of = cast.type_name.as_ref().and_then(|of| last(&of.names));
                of.map(|name| (name, 1)).or(weaker)
            }
        },
        NodeEnum::CollateClause(collate) => below(inner(&collate.arg)),
        NodeEnum::GroupingFunc(_) => Some(("grouping", 2)),
        NodeEnum::SubLink(link) => match SubLinkType::try_from(link.sub_link_type) {
            Ok(SubLinkType::ExistsSublink) => Some(("exists", 2)),
            Ok(SubLinkType::ArraySublink) => Some(("array", 2)),
            Ok(SubLinkType::ExprSublink) => {
                let mut query = match inner(&link.subselect)? {
                    NodeEnum::SelectStmt(query) => query,
                    _ => return None,
                };
                while let Some(left) = &query.larg {
                    query = left;
                }
                match query.target_list.first()?.node.as_ref()? {
                    NodeEnum::ResTarget(target) if !target.name.is_empty() => Some((&target.name, 2)),
                    NodeEnum::ResTarget(target) => below(inner(&target.val)),
                    _ => None,
                }
            }
            _ => None,
        },
        NodeEnum::CaseExpr(case) => match below(inner(&case.defresult)) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some(("case", 1)),
        },
        NodeEnum::AArrayExpr(_) => Some(("array", 2)),
        NodeEnum::RowExpr(_) => Some(("row", 2)),
        NodeEnum::CoalesceExpr(_) => Some(("coalesce", 2)),
        NodeEnum::MinMaxExpr(minmax) => Some((if minmax.op == 1 { "greatest" } else { "least" }, 2)),
        NodeEnum::SqlvalueFunction(function) => match SqlValueFunctionOp::try_from(function.op) {
            Ok(SqlValueFunctionOp::SvfopCurrentDate) => Some(("current_date", 2)),
            Ok(SqlValueFunctionOp::SvfopCurrentTime | SqlValueFunctionOp::SvfopCurrentTimeN) => {
                Some(("current_time", 2))
            }
            Ok(SqlValueFunctionOp::SvfopCurrentTimestamp | SqlValueFunctionOp::SvfopCurrentTimestampN) => {
                Some(("current_timestamp", 2))
            }
            Ok(SqlValueFunctionOp::SvfopLocaltime | SqlValueFunctionOp::SvfopLocaltimeN) => {
                Some(("localtime", 2))
            }
            Ok(SqlValueFunctionOp::SvfopLocaltimestamp | SqlValueFunctionOp::SvfopLocaltimestampN) => {
                Some(("localtimestamp", 2))
            }
            _ => None,
        },
        NodeEnum::XmlExpr(xml) => match XmlExprOp::try_from(xml.op) {
            Ok(XmlExprOp::IsXmlconcat) => Some(("xmlconcat", 2)),
            Ok(XmlExprOp::IsXmlelement) => Some(("xmlelement", 2)),
            Ok(XmlExprOp::IsXmlforest) => Some(("xmlforest", 2)),
            Ok(XmlExprOp::IsXmlparse) => Some(("xmlparse", 2)),
            Ok(XmlExprOp::IsXmlpi) => Some(("xmlpi", 2)),
            Ok(XmlExprOp::IsXmlroot) => Some(("xmlroot", 2)),
            _ => None,
        },
        NodeEnum::XmlSerialize(_) => Some(("xmlserialize", 2)),
        NodeEnum::JsonParseExpr(_) => Some(("json", 2)),
        NodeEnum::JsonScalarExpr(_) => Some(("json_scalar", 2)),
        NodeEnum::JsonSerializeExpr(_) => Some(("json_serialize", 2)),
        NodeEnum::JsonObjectConstructor(_) => Some(("json_object", 2)),
        NodeEnum::JsonArrayConstructor(_) | NodeEnum::JsonArrayQueryConstructor(_) => Some(("json_array", 2)),
        NodeEnum::JsonObjectAgg(_) => Some(("json_objectagg", 2)),
        NodeEnum::JsonArrayAgg(_) => Some(("json_arrayagg", 2)),
        NodeEnum::JsonFuncExpr(function) => match function.op {
            1 => Some(("json_exists", 2)),
            2 => Some(("json_query", 2)),
            3 => Some(("json_value", 2)),
            _ => None,
        },
        _ => None,
    }
}

/// What a dotted name with a star stands for.
pub(super) enum Star {
    /// All that can be named here.
    Everything,
    /// All of one relation.
    Of(Item),
}

impl Walk<'_> {
    /// A name the text gives to something: no invisible character may be in it, however it is spelled.
    pub(super) fn given_name(&self, name: &str, location: i32) -> Checked<()> {
        match find_hidden(name, Place::Identifier) {
            None => Ok(()),
            Some(found) => Err(Refusal::new(
                RejectionCode::HiddenCharacter,
                format!("a name holds a {} (U+{:04X}): remove it", found.what, found.character as u32),
            )
            .at(location)),
        }
    }

    /// What a column reference means as a value.
    pub(super) fn column(&mut self, reference: &ColumnRef, scope: &Scope<'_>) -> Checked<Value> {
        if let Some(item) = self.starred(reference, scope)? {
            return match item {
                Star::Everything => Err(super::unsupported("a star in this place").at(reference.location)),
                Star::Of(item) => Ok(self.whole_row(&item)),
            };
        }
        let parts = strings(&reference.fields)
            .ok_or_else(|| super::unsupported("this reference").at(reference.location))?;
        let parts = self.after_database(&parts, 4, reference.location)?;
        match parts {
            [name] => self.bare_column(name, scope, reference.location),
            [relation, name] => {
                let item = self.item(None, relation, scope, reference.location)?;
                self.column_of(&item, name, reference.location)
            }
            [schema, relation, name] => {
                let item = self.item(Some(schema), relation, scope, reference.location)?;
                self.column_of(&item, name, reference.location)
            }
            _ => Err(Refusal::new(RejectionCode::UnknownColumn, "the name has too many parts")
                .at(reference.location)),
        }
    }

    /// A name without the database it may start with, which it does when it has `full` parts.
    pub(super) fn after_database<'n, 's>(
        &self,
        parts: &'n [&'s str],
        full: usize,
        location: i32,
    ) -> Checked<&'n [&'s str]> {
        match parts {
            [database, rest @ ..] if parts.len() == full => {
                self.same_database(database, location)?;
                Ok(rest)
            }
            _ => Ok(parts),
        }
    }

    /// The relation whose columns a reference that ends in a star means.
    pub(super) fn starred(&self, reference: &ColumnRef, scope: &Scope<'_>) -> Checked<Option<Star>> {
        let Some((Node { node: Some(NodeEnum::AStar(_)) }, before)) = reference.fields.split_last() else {
            return Ok(None);
        };
        let parts =
            strings(before).ok_or_else(|| super::unsupported("this reference").at(reference.location))?;
        let at = reference.location;
        Ok(Some(match self.after_database(&parts, 3, at)? {
            [] => Star::Everything,
            [relation] => Star::Of(self.item(None, relation, scope, at)?),
            [schema, relation] => Star::Of(self.item(Some(schema), relation, scope, at)?),
            _ => {
                return Err(Refusal::new(RejectionCode::UnknownColumn, "the name has too many parts").at(at));
            }
        }))
    }

    /// A column named alone, or a relation's name standing for its row.
    fn bare_column(&mut self, name: &str, scope: &Scope<'_>, location: i32) -> Checked<Value> {
        if let Some(value) = self.find_column(name, scope, location)? {
            self.note(&value);
            return Ok(value);
        }
        for level in scope.levels() {
            let mut named =
                level.items.iter().filter(|item| item.named && item.name.as_deref() == Some(name));
            if let Some(item) = named.next() {
                if named.next().is_some() {
                    return Err(ambiguous(name, location));
                }
                let item = item.clone();
                return Ok(self.whole_row(&item));
            }
        }
        let hint = scope.nearest_column(name).map(|near| format!("Did you mean \"{near}\"?"));
        Err(Refusal::new(RejectionCode::UnknownColumn, format!("there is no column \"{name}\" here"))
            .at(location)
            .maybe_hint(hint))
    }

    /// A column named alone in the innermost level that knows it.
    pub(super) fn find_column(&self, name: &str, scope: &Scope<'_>, location: i32) -> Checked<Option<Value>> {
        for level in scope.levels() {
            if let Some(value) = find_in(level, name, location)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The relation in scope that goes by this name.
    fn item(&self, schema: Option<&str>, name: &str, scope: &Scope<'_>, location: i32) -> Checked<Item> {
        for level in scope.levels() {
            let mut named = level.items.iter().filter(|item| match schema {
                None => item.named && item.name.as_deref() == Some(name),
                Some(schema) => {
                    item.named
                        && item
                            .table
                            .as_ref()
                            .is_some_and(|table| table.schema == schema && table.name == name)
                }
            });
            if let Some(item) = named.next() {
                if named.next().is_some() {
                    return Err(Refusal::new(
                        RejectionCode::AmbiguousColumn,
                        format!("the name \"{name}\" means several relations here"),
                    )
                    .at(location));
                }
                return Ok(item.clone());
            }
        }
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        let names =
            scope.levels().flat_map(|level| level.items.iter().filter_map(|item| item.name.as_deref()));
        let hint =
            crate::scope::nearest(name, names).map(|near| format!("Did you mean the relation \"{near}\"?"));
        Err(Refusal::new(
            RejectionCode::UnknownColumn,
            format!("there is no relation \"{shown}\" in this part of the statement"),
        )
        .at(location)
        .maybe_hint(hint))
    }

    /// A column of one relation in scope.
    fn column_of(&mut self, item: &Item, name: &str, location: i32) -> Checked<Value> {
        let mut found = item.columns.iter().filter(|column| *column.name == *name);
        if let Some(column) = found.next() {
            if found.next().is_some() {
                return Err(ambiguous(name, location));
            }
            self.note(&column.value);
            return Ok(column.value.clone());
        }
        if item.stored && is_system_column(name) {
            return Err(system_column(name, location));
        }
        let shown = item.name.as_deref().unwrap_or("it");
        let near = crate::scope::nearest(name, item.columns.iter().map(|column| &*column.name));
        Err(Refusal::new(RejectionCode::UnknownColumn, format!("\"{shown}\" has no column \"{name}\""))
            .at(location)
            .maybe_hint(near.map(|near| format!("Did you mean \"{near}\"?"))))
    }

    /// The row of a relation, all its columns read.
    pub(super) fn whole_row(&mut self, item: &Item) -> Value {
        if item.scalar.is_none() {
            for column in item.columns.iter() {
                self.note(&column.value);
            }
        }
        item.whole()
    }

    /// Writes down that a column is read.
    pub(super) fn note(&mut self, value: &Value) {
        if let Some(origin) = &value.origin {
            self.facts.column(origin);
        }
    }

    /// The columns a star stands for, all read.
    pub(super) fn expand(&mut self, star: &Star, scope: &Scope<'_>) -> Vec<Column> {
        let columns: Vec<Column> = match star {
            Star::Everything => {
                let items = scope.level.map(|level| level.items).unwrap_or_default();
                items.iter().filter(|item| item.open).flat_map(|item| item.columns.iter().cloned()).collect()
            }
            Star::Of(item) => item.columns.to_vec(),
        };
        for column in &columns {
            self.note(&column.value);
        }
        columns
    }
}

/// A column named alone, at one level.
pub(super) fn find_in(level: &Level<'_>, name: &str, location: i32) -> Checked<Option<Value>> {
    let open = || level.items.iter().filter(|item| item.open);
    let mut found = open().flat_map(|item| item.columns.iter()).filter(|column| *column.name == *name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(ambiguous(name, location)),
        (Some(column), None) => Ok(Some(column.value.clone())),
        // A join's sides are not open, but a system column of theirs is still found by its bare name.
        (None, _) if is_system_column(name) && level.items.iter().any(|item| item.stored) => {
            Err(system_column(name, location))
        }
        (None, _) => Ok(None),
    }
}

fn ambiguous(name: &str, location: i32) -> Box<Refusal> {
    Refusal::new(RejectionCode::AmbiguousColumn, format!("several relations here have a column \"{name}\""))
        .at(location)
        .hint("Write the relation's alias before the column.")
}

fn system_column(name: &str, location: i32) -> Box<Refusal> {
    Refusal::new(RejectionCode::SystemColumn, format!("{name} is a system column, which is out of bounds"))
        .at(location)
}

/// Columns renamed by a list of names.
pub(super) fn renamed(columns: &[Column], names: &[Arc<str>]) -> Arc<[Column]> {
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| Column {
            name: names.get(index).map_or_else(|| Arc::clone(&column.name), Arc::clone),
            value: column.value.clone(),
        })
        .collect()
}
