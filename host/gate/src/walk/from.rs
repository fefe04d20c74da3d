//! FROM: relations, subqueries, functions, joins, and what of them can be named where.

use std::sync::Arc;

use pg_query::NodeEnum;
use pg_query::protobuf::{
    Alias, ColumnDef, JoinExpr, JsonTable, JsonTableColumn, Node, RangeFunction, RangeSubselect,
    RangeTableFunc, RangeTableSample, RangeVar,
};

use super::names::{figure, renamed, strings};
use super::{Checked, Walk, inner, unsupported};
use crate::functions;
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Cte, Item, Kind, Level, STORED_COUNT, Scope, UNBOUNDED, Value};
use crate::vocabulary::Callee;

/// What one element of FROM gives: the columns of its result, and what can be named.
struct Element {
    columns: Arc<[Column]>,
    items: Vec<Item>,
}

impl Walk<'_> {
    /// The items of a FROM clause.
    pub(super) fn elements(&mut self, from: &[Node], scope: &Scope<'_>) -> Checked<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        for node in from {
            let node = node.node.as_ref().ok_or_else(|| unsupported("this FROM clause"))?;
            let element = self.element(node, &items, scope)?;
            items.extend(element.items);
        }
        Ok(items)
    }

    /// One element; `before` are the items to its left, which only a lateral one sees.
    fn element(&mut self, node: &NodeEnum, before: &[Item], scope: &Scope<'_>) -> Checked<Element> {
        self.deeper(|walk| {
            let beside = Level { items: before, outer: scope.level };
            let lateral = Scope { level: Some(&beside), ctes: scope.ctes.clone() };
            match node {
                NodeEnum::RangeVar(relation) => walk.relation(relation, scope),
                NodeEnum::RangeSubselect(subquery) => {
                    walk.subquery(subquery, if subquery.lateral { &lateral } else { scope })
                }
                NodeEnum::RangeFunction(function) => walk.function_element(function, &lateral),
                NodeEnum::RangeTableFunc(table) => walk.xml_table(table, &lateral),
                NodeEnum::JsonTable(table) => walk.json_table(table, &lateral),
                NodeEnum::RangeTableSample(sample) => walk.sample(sample, before, scope),
                NodeEnum::JoinExpr(_) => walk.joins(node, before, scope),
                _ => Err(unsupported("this element of FROM")),
            }
        })
    }

    fn relation(&mut self, relation: &RangeVar, scope: &Scope<'_>) -> Checked<Element> {
        let schema = (!relation.schemaname.is_empty()).then_some(relation.schemaname.as_str());
        self.seen.relations.insert(relation.relname.clone());
        if schema.is_none()
            && relation.catalogname.is_empty()
            && let Some(cte) = scope.cte(&relation.relname)
        {
            let columns = match cte {
                Cte::Known(columns) => Arc::clone(columns),
                Cte::NotYet => {
                    return Err(Refusal::new(
                        RejectionCode::UnknownRelation,
                        format!("\"{}\" is read before it is defined", relation.relname),
                    )
                    .at(relation.location)
                    .hint("Define common table expressions in the order in which they are used."));
                }
            };
            let item =
                self.aliased(Some(&relation.relname), relation.alias.as_ref(), columns, relation.location)?;
            return Ok(single(item));
        }
        if !relation.catalogname.is_empty() {
            self.same_database(&relation.catalogname, relation.location)?;
        }
        let shape = self
            .vocabulary
            .relation(schema, &relation.relname)
            .map_err(|refusal| refusal.at(relation.location))?;
        self.facts.table(&shape.table);
        let columns = Arc::clone(&shape.columns);
        let table = Arc::clone(&shape.table);
        let mut item =
            self.aliased(Some(&relation.relname), relation.alias.as_ref(), columns, relation.location)?;
        item.stored = true;
        item.table = relation.alias.is_none().then_some(table);
        Ok(single(item))
    }

    fn subquery(&mut self, subquery: &RangeSubselect, scope: &Scope<'_>) -> Checked<Element> {
        let Some(NodeEnum::SelectStmt(query)) = inner(&subquery.subquery) else {
            return Err(unsupported("this subquery"));
        };
        if subquery.alias.is_none() {
            self.needs_version(16, "a subquery in FROM without an alias", -1)?;
        }
        let columns = self.select(query, scope)?;
        Ok(single(self.aliased(None, subquery.alias.as_ref(), columns, -1)?))
    }

    fn sample(&mut self, sample: &RangeTableSample, before: &[Item], scope: &Scope<'_>) -> Checked<Element> {
        let method = strings(&sample.method).unwrap_or_default();
        if !matches!(method.as_slice(), ["bernoulli" | "system"] | ["pg_catalog", "bernoulli" | "system"]) {
            return Err(unsupported("this sampling method").at(sample.location));
        }
        for node in sample.args.iter().filter_map(|node| node.node.as_ref()).chain(inner(&sample.repeatable))
        {
            let outside = Scope { level: scope.level, ctes: scope.ctes.clone() };
            self.computed(node, &outside)?;
        }
        match inner(&sample.relation) {
            Some(relation @ NodeEnum::RangeVar(_)) => self.element(relation, before, scope),
            _ => Err(unsupported("sampling this").at(sample.location)),
        }
    }

    // ---- functions ----

    fn function_element(&mut self, element: &RangeFunction, scope: &Scope<'_>) -> Checked<Element> {
        let mut columns: Vec<Column> = Vec::new();
        let mut scalar = None;
        let mut name = None;
        let alias_names = element.alias.as_ref().map(|alias| alias.colnames.len()).unwrap_or_default();
        for entry in &element.functions {
            let Some(NodeEnum::List(entry)) = &entry.node else {
                return Err(unsupported("this function in FROM"));
            };
            let call = entry.items.first().and_then(|node| node.node.as_ref());
            let call = call.ok_or_else(|| unsupported("this function in FROM"))?;
            let definitions = match entry.items.get(1).and_then(|node| node.node.as_ref()) {
                Some(NodeEnum::List(list)) => list.items.as_slice(),
                _ => &[],
            };
            let definitions =
                if definitions.is_empty() { element.coldeflist.as_slice() } else { definitions };
            let called = figure(Some(call)).to_owned();
            self.seen.relations.insert(called.clone());
            let value = self.function_in_from(call, scope)?;
            let alone = element.functions.len() == 1 && !element.is_rowsfrom;
            let alias = element.alias.as_ref().filter(|_| alone).map(|alias| alias.aliasname.as_str());
            let (mut given, single) =
                self.function_columns(&called, call, &value, definitions, alias, alias_names)?;
            for column in &mut given {
                column.value.count = column.value.count.max(value.count);
            }
            if element.functions.len() == 1 && !element.ordinality && definitions.is_empty() {
                // The name of a function that returns rows of a type means a value of that type.
                let whole = if single { given.first().map(|column| &column.value) } else { Some(&value) };
                scalar = whole.filter(|whole| single || matches!(whole.kind, Kind::Named { .. })).cloned();
            }
            columns.append(&mut given);
            name.get_or_insert(called);
        }
        if element.ordinality {
            columns.push(Column { name: "ordinality".into(), value: Value::plain(8).counted(STORED_COUNT) });
        }
        let mut item = self.aliased(name.as_deref(), element.alias.as_ref(), columns.into(), -1)?;
        item.scalar = scalar;
        Ok(single(item))
    }

    /// The columns a function in FROM gives, and whether it is a scalar under one name.
    fn function_columns(
        &mut self,
        called: &str,
        call: &NodeEnum,
        value: &Value,
        definitions: &[Node],
        alias: Option<&str>,
        alias_names: usize,
    ) -> Checked<(Vec<Column>, bool)> {
        if !definitions.is_empty() {
            let columns =
                definitions.iter().map(|node| self.column_definition(node)).collect::<Checked<_>>()?;
            return Ok((columns, false));
        }
        let callee = self.callee(call);
        if let Some((Callee::Builtin, ..)) = callee
            && let Some(names) = functions::record_columns(called)
        {
            let columns: Vec<Column> = names
                .iter()
                .map(|name| Column { name: (*name).into(), value: Value::plain(value.bytes) })
                .collect();
            let single = columns.len() == 1;
            return Ok((columns, single));
        }
        if functions::needs_column_definitions(called) || value.kind.is_unknown_row() {
            return Err(Refusal::new(
                RejectionCode::UnsupportedSyntax,
                format!("{called} in FROM needs a list of columns with types"),
            )
            .hint("Write AS t(a integer, b text)."));
        }
        if called == "unnest"
            && let NodeEnum::FuncCall(unnest) = call
            && unnest.args.len() > 1
        {
            let columns = unnest
                .args
                .iter()
                .map(|_| Column { name: "unnest".into(), value: Value::plain(32) })
                .collect();
            return Ok((columns, false));
        }
        if let Some(fields) = self.vocabulary.fields(&value.kind) {
            return Ok((fields.to_vec(), false));
        }
        // unnest of a tsvector has three columns, of which the text may name any.
        if called == "unnest" && alias_names > 1 {
            let columns = ["lexeme", "positions", "weights"];
            let columns =
                columns.iter().map(|name| Column { name: (*name).into(), value: Value::plain(32) }).collect();
            return Ok((columns, false));
        }
        let own = callee.and_then(|(callee, schema, name)| match callee {
            Callee::Known => self.vocabulary.returned_column(schema, name),
            Callee::Builtin => None,
        });
        let name = own.unwrap_or_else(|| alias.unwrap_or(called).into());
        Ok((vec![Column { name, value: value.clone() }], true))
    }

    fn column_definition(&mut self, node: &Node) -> Checked<Column> {
        let Some(NodeEnum::ColumnDef(definition)) = &node.node else {
            return Err(unsupported("this column definition"));
        };
        let definition: &ColumnDef = definition;
        self.given_name(&definition.colname, definition.location)?;
        let of = definition.type_name.as_ref().ok_or_else(|| unsupported("this column definition"))?;
        let kind = self.type_name(of, definition.location)?;
        Ok(Column { name: definition.colname.as_str().into(), value: Value::of(kind) })
    }

    // ---- XMLTABLE and JSON_TABLE ----

    fn xml_table(&mut self, table: &RangeTableFunc, scope: &Scope<'_>) -> Checked<Element> {
        self.seen.relations.insert("xmltable".to_owned());
        if let Some(document) = inner(&table.docexpr) {
            self.xml_document(document, scope, table.location)?;
        }
        for node in inner(&table.rowexpr).into_iter() {
            self.computed(node, scope)?;
        }
        for node in &table.namespaces {
            match &node.node {
                Some(NodeEnum::ResTarget(target)) => {
                    if let Some(node) = inner(&target.val) {
                        self.computed(node, scope)?;
                    }
                }
                _ => return Err(unsupported("this namespace").at(table.location)),
            }
        }
        let mut columns = Vec::new();
        for node in &table.columns {
            let Some(NodeEnum::RangeTableFuncCol(column)) = &node.node else {
                return Err(unsupported("this column").at(table.location));
            };
            self.given_name(&column.colname, column.location)?;
            let kind = match &column.type_name {
                Some(of) => self.type_name(of, column.location)?,
                None => Kind::Plain,
            };
            for node in [inner(&column.colexpr), inner(&column.coldefexpr)].into_iter().flatten() {
                self.computed(node, scope)?;
            }
            columns.push(Column {
                name: column.colname.as_str().into(),
                value: Value::of(kind).counted(UNBOUNDED),
            });
        }
        Ok(single(self.aliased(Some("xmltable"), table.alias.as_ref(), columns.into(), table.location)?))
    }

    fn json_table(&mut self, table: &JsonTable, scope: &Scope<'_>) -> Checked<Element> {
        self.needs_version(17, "JSON_TABLE", table.location)?;
        self.seen.relations.insert("json_table".to_owned());
        if let Some(context) = &table.context_item {
            self.json_value(context, scope)?;
        }
        self.json_arguments(&table.passing, scope)?;
        if let Some(behavior) = &table.on_error {
            self.json_behavior(behavior, scope)?;
        }
        let mut columns = Vec::new();
        self.json_columns(&table.columns, scope, &mut columns)?;
        Ok(single(self.aliased(Some("json_table"), table.alias.as_ref(), columns.into(), table.location)?))
    }

    fn json_columns(&mut self, nodes: &[Node], scope: &Scope<'_>, columns: &mut Vec<Column>) -> Checked<()> {
        for node in nodes {
            let Some(NodeEnum::JsonTableColumn(column)) = &node.node else {
                return Err(unsupported("this column"));
            };
            let column: &JsonTableColumn = column;
            for behavior in [&column.on_empty, &column.on_error].into_iter().flatten() {
                self.json_behavior(behavior, scope)?;
            }
            if !column.columns.is_empty() {
                self.deeper(|walk| walk.json_columns(&column.columns, scope, columns))?;
                continue;
            }
            self.given_name(&column.name, column.location)?;
            let kind = match &column.type_name {
                Some(of) => self.type_name(of, column.location)?,
                None => Kind::Plain,
            };
            columns.push(Column {
                name: column.name.as_str().into(),
                value: Value::of(kind).counted(UNBOUNDED),
            });
        }
        Ok(())
    }

    // ---- joins ----

    /// A chain of joins leans to the left: it is walked as a list, so that a long one is not a deep one.
    fn joins(&mut self, node: &NodeEnum, before: &[Item], scope: &Scope<'_>) -> Checked<Element> {
        let mut spine = Vec::new();
        let mut here = node;
        while let NodeEnum::JoinExpr(join) = here {
            spine.push(&**join);
            here = inner(&join.larg).ok_or_else(|| unsupported("this join"))?;
            if spine.len() > self.limits.chain {
                return Err(crate::scan::too_deep(self.limits.chain));
            }
        }
        let mut left = self.element(here, before, scope)?;
        for join in spine.into_iter().rev() {
            self.count_node()?;
            left = self.join(join, left, before, scope)?;
        }
        Ok(left)
    }

    fn join(
        &mut self,
        join: &JoinExpr,
        left: Element,
        before: &[Item],
        scope: &Scope<'_>,
    ) -> Checked<Element> {
        let right = {
            let mut beside = before.to_vec();
            beside.extend(left.items.iter().cloned());
            let node = inner(&join.rarg).ok_or_else(|| unsupported("this join"))?;
            self.element(node, &beside, scope)?
        };
        let merged = self.merged_columns(join, &left.columns, &right.columns)?;
        let mut items = left.items;
        items.extend(right.items);
        if let Some(node) = inner(&join.quals) {
            let level = Level { items: &items, outer: scope.level };
            self.condition(node, &Scope { level: Some(&level), ctes: scope.ctes.clone() })?;
        }
        self.count_joined(left.columns.len() + right.columns.len())?;
        let mut columns: Vec<Column> = Vec::with_capacity(left.columns.len() + right.columns.len());
        let is_merged = |column: &Column| merged.iter().any(|merged| merged.name == column.name);
        columns.extend(merged.iter().cloned());
        columns.extend(left.columns.iter().filter(|column| !is_merged(column)).cloned());
        columns.extend(right.columns.iter().filter(|column| !is_merged(column)).cloned());
        let columns: Arc<[Column]> = columns.into();

        for item in &mut items {
            item.open = false;
        }
        let mut columns_out = Arc::clone(&columns);
        if let Some(alias) = &join.alias {
            // An alias of the join hides the names inside it.
            for item in &mut items {
                item.named = false;
            }
            let mut item = self.aliased(None, Some(alias), columns, -1)?;
            columns_out = Arc::clone(&item.columns);
            item.open = true;
            items.push(item);
        } else {
            items.push(Item {
                name: None,
                table: None,
                stored: false,
                columns,
                scalar: None,
                named: false,
                open: true,
            });
        }
        if let Some(alias) = &join.join_using_alias {
            self.needs_version(14, "an alias for USING", -1)?;
            let mut item = self.aliased(None, Some(alias), merged.into(), -1)?;
            item.open = false;
            items.push(item);
        }
        Ok(Element { columns: columns_out, items })
    }

    /// The columns that USING or NATURAL makes one of two.
    fn merged_columns(&mut self, join: &JoinExpr, left: &[Column], right: &[Column]) -> Checked<Vec<Column>> {
        let names: Vec<String> = if join.is_natural {
            let common = left.iter().filter(|column| right.iter().any(|other| other.name == column.name));
            common.map(|column| column.name.to_string()).collect()
        } else {
            let names = strings(&join.using_clause).ok_or_else(|| unsupported("this USING clause"))?;
            names.into_iter().map(str::to_owned).collect()
        };
        let mut merged = Vec::with_capacity(names.len());
        for name in names {
            let missing = || {
                let message = format!("the column \"{name}\" of USING is not on both sides of the join");
                Refusal::new(RejectionCode::UnknownColumn, message)
            };
            let mine = left.iter().find(|column| *column.name == *name).ok_or_else(missing)?;
            let theirs = right.iter().find(|column| *column.name == *name).ok_or_else(missing)?;
            for side in [mine, theirs] {
                self.note(&side.value);
                self.comparable(&side.value, -1)?;
            }
            self.joined_on("IN", &mine.value, &theirs.value);
            let mut one = mine.clone();
            one.value.kind = mine.value.kind.joined(&theirs.value.kind);
            one.value.nature = mine.value.nature.joined(theirs.value.nature);
            merged.push(one);
        }
        Ok(merged)
    }

    /// An item under its alias.
    fn aliased(
        &mut self,
        name: Option<&str>,
        alias: Option<&Alias>,
        columns: Arc<[Column]>,
        location: i32,
    ) -> Checked<Item> {
        let mut item = Item {
            name: name.map(Arc::from),
            table: None,
            stored: false,
            columns,
            scalar: None,
            named: name.is_some(),
            open: true,
        };
        if let Some(alias) = alias {
            self.given_name(&alias.aliasname, location)?;
            let names = self.given_names(&alias.colnames, location)?;
            item.name = Some(alias.aliasname.as_str().into());
            item.named = true;
            if names.len() > item.columns.len() {
                let message = format!(
                    "\"{}\" has {} columns, but {} names are given",
                    alias.aliasname,
                    item.columns.len(),
                    names.len()
                );
                return Err(Refusal::new(RejectionCode::UnknownColumn, message).at(location));
            }
            if !names.is_empty() {
                item.columns = renamed(&item.columns, &names);
            }
        }
        Ok(item)
    }
}

fn single(item: Item) -> Element {
    Element { columns: Arc::clone(&item.columns), items: vec![item] }
}
