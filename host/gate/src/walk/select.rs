//! Queries: the clauses of SELECT in the order in which PostgreSQL gives their names a meaning.

use std::ops::Range;
use std::sync::Arc;

use pg_query::NodeEnum;
use pg_query::protobuf::{
    AConst, CommonTableExpr, Node, SelectStmt, SetOperation, SortBy, WithClause, a_const,
};

use super::counts::accelerates;
use super::limits::TURN_BYTES;
use super::names::{Star, figure, find_in, renamed, strings};
use super::{Checked, Walk, inner, unsupported};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Cte, Item, Kind, Level, STORED_COUNT, Scope, UNBOUNDED, Value};

impl Walk<'_> {
    /// A query; its output columns.
    pub(super) fn select(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<Arc<[Column]>> {
        self.deeper(|walk| {
            let scope = walk.with_clause(query, scope)?;
            if query.op == SetOperation::SetopNone as i32 {
                walk.plain_select(query, &scope)
            } else {
                walk.set_operation(query, &scope)
            }
        })
    }

    /// What no query may have, whatever kind it is.
    fn forbidden_clauses(query: &SelectStmt) -> Checked<()> {
        if let Some(into) = &query.into_clause {
            let location = into.rel.as_ref().map_or(-1, |relation| relation.location);
            return Err(Refusal::new(
                RejectionCode::SelectInto,
                "SELECT INTO makes a table: only reading is allowed",
            )
            .at(location)
            .hint("Leave the INTO clause out."));
        }
        if !query.locking_clause.is_empty() {
            return Err(crate::scan::row_lock());
        }
        Ok(())
    }

    // ---- WITH ----

    fn with_clause<'s>(&mut self, query: &SelectStmt, scope: &Scope<'s>) -> Checked<Scope<'s>> {
        match &query.with_clause {
            Some(with) => self.common_tables(with, scope),
            None => Ok(scope.clone()),
        }
    }

    fn common_tables<'s>(&mut self, with: &WithClause, scope: &Scope<'s>) -> Checked<Scope<'s>> {
        let tables: Vec<&CommonTableExpr> = with
            .ctes
            .iter()
            .map(|node| match &node.node {
                Some(NodeEnum::CommonTableExpr(table)) => Ok(&**table),
                _ => Err(unsupported("this WITH clause").at(with.location)),
            })
            .collect::<Checked<_>>()?;
        let mut scope = scope.clone();
        for (index, table) in tables.iter().enumerate() {
            self.given_name(&table.ctename, table.location)?;
            self.seen.relations.insert(table.ctename.clone());
            let mut inside = scope.clone();
            if with.recursive {
                // Every name of the list is taken from the start; only this one can be read before it is known.
                for later in tables.iter().skip(index) {
                    inside = inside.with_cte(&later.ctename, Cte::NotYet);
                }
            }
            let columns = self.common_table(table, with.recursive, &inside)?;
            scope = scope.with_cte(&table.ctename, Cte::Known(columns));
        }
        Ok(scope)
    }

    fn common_table(
        &mut self,
        table: &CommonTableExpr,
        recursive: bool,
        scope: &Scope<'_>,
    ) -> Checked<Arc<[Column]>> {
        let Some(NodeEnum::SelectStmt(query)) = inner(&table.ctequery) else {
            return Err(Refusal::new(
                RejectionCode::DataModifying,
                format!(
                    "the common table expression \"{}\" changes data: only reading is allowed",
                    table.ctename
                ),
            )
            .at(table.location));
        };
        let names = self.given_names(&table.aliascolnames, table.location)?;
        let is_union = query.op == SetOperation::SetopUnion as i32;
        let columns = if recursive && is_union {
            self.recursive_union(query, &table.ctename, &names, scope)?
        } else {
            self.select(query, scope)?
        };
        let read = renamed(&columns, &names);
        let mut columns: Vec<Column> = read.to_vec();
        let mut add =
            |name: &str, kind: Kind| columns.push(Column { name: name.into(), value: Value::of(kind) });
        // The columns of SEARCH and CYCLE hold rows of the others.
        let rows = || Kind::ArrayOf(Box::new(Kind::Row(Arc::clone(&read))));
        if let Some(search) = &table.search_clause {
            self.needs_version(14, "SEARCH", search.location)?;
            self.given_name(&search.search_seq_column, search.location)?;
            add(&search.search_seq_column, rows());
        }
        if let Some(cycle) = &table.cycle_clause {
            self.needs_version(14, "CYCLE", cycle.location)?;
            self.given_name(&cycle.cycle_mark_column, cycle.location)?;
            self.given_name(&cycle.cycle_path_column, cycle.location)?;
            read.iter().try_for_each(|column| self.comparable(&column.value, cycle.location))?;
            for value in
                [inner(&cycle.cycle_mark_value), inner(&cycle.cycle_mark_default)].into_iter().flatten()
            {
                let outside = Scope { level: None, ctes: None };
                self.computed(value, &outside)?;
            }
            add(&cycle.cycle_mark_column, Kind::Plain);
            add(&cycle.cycle_path_column, rows());
        }
        Ok(columns.into())
    }

    /// `A UNION B` where B may read what A began.
    fn recursive_union(
        &mut self,
        query: &SelectStmt,
        name: &str,
        names: &[Arc<str>],
        scope: &Scope<'_>,
    ) -> Checked<Arc<[Column]>> {
        self.deeper(|walk| {
            Self::forbidden_clauses(query)?;
            let scope = walk.with_clause(query, scope)?;
            let (Some(left), Some(right)) = (&query.larg, &query.rarg) else {
                return Err(unsupported("this UNION"));
            };
            let first = walk.select(left, &scope)?;
            let inside = scope.with_cte(name, Cte::Known(renamed(&first, names)));
            let second = walk.select(right, &inside)?;
            let accelerates = walk.turns(right, &first, name, names, &scope)?;
            let mut columns = walk.united(&first, &second)?;
            if accelerates {
                let unbounded = |column: &Column| Column {
                    value: column.value.clone().counted(UNBOUNDED),
                    ..column.clone()
                };
                columns = columns.iter().map(unbounded).collect();
            }
            if !query.all {
                columns.iter().try_for_each(|column| walk.comparable(&column.value, -1))?;
            }
            walk.sorted_result(query, &columns, &scope)?;
            Ok(columns)
        })
    }

    /// Two more turns of a recursive query, with values of a known size, to see whether they multiply. Values that do are
    /// refused; whether numbers do is the answer.
    fn turns(
        &mut self,
        right: &SelectStmt,
        first: &[Column],
        name: &str,
        names: &[Arc<str>],
        scope: &Scope<'_>,
    ) -> Checked<bool> {
        let mut turn: Vec<Column> = first.to_vec();
        for column in &mut turn {
            column.value.bytes = TURN_BYTES;
            column.value.count = STORED_COUNT;
        }
        let mut sizes = Vec::new();
        for _ in 0..2 {
            let inside = scope.with_cte(name, Cte::Known(renamed(&turn, names)));
            let outer = std::mem::replace(&mut self.turning, true);
            let next = self.select(right, &inside);
            self.turning = outer;
            let next = next?;
            for (column, next) in turn.iter_mut().zip(next.iter()) {
                column.value.bytes = next.value.bytes;
                column.value.count = next.value.count;
            }
            sizes.push(turn.clone());
        }
        match sizes.as_slice() {
            [before, after] => {
                self.grows_slowly(before, after)?;
                Ok(accelerates(before, after))
            }
            _ => Ok(false),
        }
    }

    /// The names of a column alias list.
    pub(super) fn given_names(&self, nodes: &[Node], location: i32) -> Checked<Vec<Arc<str>>> {
        let names = strings(nodes).ok_or_else(|| unsupported("this list of names").at(location))?;
        for name in &names {
            self.given_name(name, location)?;
        }
        Ok(names.into_iter().map(Arc::from).collect())
    }

    // ---- UNION, INTERSECT, EXCEPT ----

    /// A chain of set operations leans to the left: it is walked as a list, so that a long one is not a deep one.
    fn set_operation(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<Arc<[Column]>> {
        let mut spine = vec![query];
        let mut here = query;
        while let Some(left) = &here.larg {
            if left.op == SetOperation::SetopNone as i32 || left.with_clause.is_some() {
                break;
            }
            spine.push(left);
            here = left;
            if spine.len() > self.limits.chain {
                return Err(crate::scan::too_deep(self.limits.chain));
            }
        }
        let mut columns: Option<Arc<[Column]>> = None;
        for operation in spine.iter().rev() {
            self.count_node()?;
            Self::forbidden_clauses(operation)?;
            let (Some(left), Some(right)) = (&operation.larg, &operation.rarg) else {
                return Err(unsupported("this set operation"));
            };
            let first = match columns {
                Some(columns) => columns,
                None => self.select(left, scope)?,
            };
            let second = self.select(right, scope)?;
            let united = self.united(&first, &second)?;
            if !operation.all {
                united.iter().try_for_each(|column| self.comparable(&column.value, -1))?;
            }
            self.sorted_result(operation, &united, scope)?;
            columns = Some(united);
        }
        columns.ok_or_else(|| unsupported("this set operation"))
    }

    /// The columns of a set operation: the names of the first side, whatever is special about either.
    fn united(&self, first: &[Column], second: &[Column]) -> Checked<Arc<[Column]>> {
        if first.len() != second.len() {
            let message = format!(
                "the sides of UNION, INTERSECT or EXCEPT have {} and {} columns",
                first.len(),
                second.len()
            );
            return Err(Refusal::new(RejectionCode::Syntax, message)
                .hint("Give both sides the same number of columns."));
        }
        first
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let other = second.get(index).map(|other| &other.value);
                let mut value = column.value.clone();
                if let Some(other) = other {
                    self.unite(&mut value, other)?;
                }
                Ok(Column { name: Arc::clone(&column.name), value })
            })
            .collect()
    }

    /// A value that is this one or another: both get one type, and a cast that happens unasked may be the way to it.
    fn unite(&self, value: &mut Value, other: &Value) -> Checked<()> {
        if value.kind != other.kind {
            self.comparable(value, -1)?;
            self.comparable(other, -1)?;
            // A NULL becomes nothing, and a text without a character no array, row or name.
            let written =
                [&*value, other].into_iter().filter(|value| value.bytes > 0 || value.kind != Kind::Plain);
            self.not_taken_on(written, true, -1)?;
            value.kind = value.kind.joined(&other.kind);
        }
        if value.origin != other.origin {
            value.origin = None;
        }
        value.nature = value.nature.joined(other.nature);
        value.trace.unite(&other.trace);
        value.bytes = value.bytes.max(other.bytes);
        value.count = value.count.max(other.count);
        Ok(())
    }

    /// ORDER BY and LIMIT of a set operation see its output columns and nothing else.
    fn sorted_result(
        &mut self,
        query: &SelectStmt,
        columns: &Arc<[Column]>,
        scope: &Scope<'_>,
    ) -> Checked<()> {
        let items = [result_item(columns)];
        let level = Level { items: &items, outer: scope.level };
        let inside = Scope { level: Some(&level), ctes: scope.ctes.clone() };
        for node in &query.sort_clause {
            let sort = self.sort_by(node)?;
            if let Some(node) = inner(&sort.node) {
                ordinal(node)?;
                self.computed(node, &inside)?;
            }
        }
        self.limit(query, scope)
    }

    // ---- SELECT ----

    fn plain_select(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<Arc<[Column]>> {
        Self::forbidden_clauses(query)?;
        if !query.values_lists.is_empty() {
            return self.values(query, scope);
        }
        // Series of one FROM multiply; those of another query do not count here.
        let series = std::mem::replace(&mut self.series, 1);
        // So are the windows of one query.
        let names = query.window_clause.iter().filter_map(|node| match &node.node {
            Some(NodeEnum::WindowDef(window)) => Some(window.name.clone()),
            _ => None,
        });
        let windows = std::mem::replace(&mut self.windows, names.collect());
        let columns = self.select_clauses(query, scope)?;
        self.series = series;
        self.windows = windows;
        Ok(columns)
    }

    fn select_clauses(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<Arc<[Column]>> {
        let items = self.elements(&query.from_clause, scope)?;
        let level = Level { items: &items, outer: scope.level };
        let inside = Scope { level: Some(&level), ctes: scope.ctes.clone() };

        let (columns, losses) = self.targets(&query.target_list, &inside)?;
        for node in [inner(&query.where_clause), inner(&query.having_clause)].into_iter().flatten() {
            self.condition(node, &inside)?;
        }
        self.chosen(query);
        for node in &query.sort_clause {
            let sort = self.sort_by(node)?;
            if let Some(node) = inner(&sort.node) {
                self.output_or_expression(node, &columns, &inside)?;
            }
        }
        // A quotient that rows are grouped by is a step, and cut on purpose.
        let grouped = self.facts.lost();
        for node in &query.group_clause {
            self.group_by(node, &columns, &inside)?;
            if let Some(losses) =
                node.node.as_ref().and_then(|node| output(node, &columns)).and_then(|at| losses.get(at))
            {
                self.facts.grouped_by(losses.clone());
            }
        }
        self.facts.grouped_by(grouped..self.facts.lost());
        if query.group_distinct {
            self.needs_version(14, "GROUP BY DISTINCT", -1)?;
        }
        // Plain DISTINCT is a list of one empty node: it compares every output column.
        if query.distinct_clause.first().is_some_and(|node| node.node.is_none()) {
            columns.iter().try_for_each(|column| self.comparable(&column.value, -1))?;
        }
        for node in query.distinct_clause.iter().filter_map(|node| node.node.as_ref()) {
            self.output_or_expression(node, &columns, &inside)?;
        }
        // A window may be made from one that stands before it.
        self.windows.clear();
        for node in &query.window_clause {
            match &node.node {
                Some(NodeEnum::WindowDef(window)) => {
                    self.window(window, &inside)?;
                    self.windows.push(window.name.clone());
                }
                _ => return Err(unsupported("this WINDOW clause")),
            }
        }
        self.limit(query, scope)?;
        Ok(columns.into())
    }

    fn values(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<Arc<[Column]>> {
        let mut columns: Vec<Column> = Vec::new();
        for row in &query.values_lists {
            let Some(NodeEnum::List(row)) = &row.node else { return Err(unsupported("this VALUES list")) };
            if !columns.is_empty() && columns.len() != row.items.len() {
                let message = "the rows of VALUES have different lengths";
                return Err(Refusal::new(RejectionCode::Syntax, message));
            }
            for (index, node) in row.items.iter().filter_map(|node| node.node.as_ref()).enumerate() {
                let value = self.output(node, scope)?;
                match columns.get_mut(index) {
                    Some(column) => {
                        self.unite(&mut column.value, &value)?;
                        column.value.origin = None;
                    }
                    None => columns.push(Column { name: format!("column{}", index + 1).into(), value }),
                }
            }
        }
        let columns: Arc<[Column]> = columns.into();
        self.sorted_result(query, &columns, scope)?;
        Ok(columns)
    }

    /// The output columns, and the losses that are found in each.
    fn targets(&mut self, targets: &[Node], scope: &Scope<'_>) -> Checked<(Vec<Column>, Vec<Range<usize>>)> {
        let mut columns = Vec::with_capacity(targets.len());
        let mut losses = Vec::with_capacity(targets.len());
        for node in targets {
            let Some(NodeEnum::ResTarget(target)) = &node.node else {
                return Err(unsupported("this output column"));
            };
            self.given_name(&target.name, target.location)?;
            if !target.indirection.is_empty() {
                return Err(unsupported("this output column").at(target.location));
            }
            let value = inner(&target.val).ok_or_else(|| unsupported("this output column"))?;
            if let Some(expanded) = self.star_target(value, scope)? {
                columns.extend(expanded);
                self.few_columns(columns.len())?;
                losses.resize(columns.len(), 0..0);
                continue;
            }
            let name = if target.name.is_empty() { figure(Some(value)) } else { &target.name };
            let name = Arc::from(name);
            self.few_columns(columns.len() + 1)?;
            let before = self.facts.lost();
            columns.push(Column { name, value: self.output(value, scope)? });
            losses.push(before..self.facts.lost());
        }
        Ok((columns, losses))
    }

    /// The columns of `*`, `t.*` or `(row).*`.
    pub(super) fn star_target(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Option<Vec<Column>>> {
        match node {
            NodeEnum::ColumnRef(reference) => {
                let Some(star) = self.starred(reference, scope)? else { return Ok(None) };
                if matches!(star, Star::Everything) && scope.level.is_none_or(|level| level.items.is_empty())
                {
                    let message = "* stands for nothing where no FROM names a relation";
                    return Err(Refusal::new(RejectionCode::Syntax, message).at(reference.location));
                }
                // A function that returns a scalar is a relation of one column.
                Ok(Some(self.expand(&star, scope)))
            }
            NodeEnum::AIndirection(indirection) => {
                let Some((Node { node: Some(NodeEnum::AStar(_)) }, steps)) =
                    indirection.indirection.split_last()
                else {
                    return Ok(None);
                };
                let base = inner(&indirection.arg).ok_or_else(|| unsupported("this expression"))?;
                let value = self.indirection(base, steps, scope)?;
                let fields = self.fields_of(&value, -1)?;
                for field in fields.iter() {
                    self.note(&field.value);
                }
                Ok(Some(fields.to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// ORDER BY and DISTINCT ON: a bare name is an output column first.
    fn output_or_expression(
        &mut self,
        node: &NodeEnum,
        columns: &[Column],
        scope: &Scope<'_>,
    ) -> Checked<()> {
        if let Some(column) = output(node, columns).and_then(|at| columns.get(at)) {
            return self.comparable(&column.value, -1);
        }
        ordinal(node)?;
        let value = self.output(node, scope)?;
        self.comparable(&value, -1)
    }

    /// GROUP BY: a bare name is an input column first, an output column second.
    fn group_by(&mut self, node: &Node, columns: &[Column], scope: &Scope<'_>) -> Checked<()> {
        match node.node.as_ref() {
            None => Ok(()),
            Some(NodeEnum::GroupingSet(set)) => self
                .deeper(|walk| set.content.iter().try_for_each(|node| walk.group_by(node, columns, scope))),
            Some(NodeEnum::RowExpr(row)) if row.row_format != 1 => {
                row.args.iter().try_for_each(|node| self.group_by(node, columns, scope))
            }
            Some(NodeEnum::List(list)) => {
                list.items.iter().try_for_each(|node| self.group_by(node, columns, scope))
            }
            Some(node) => {
                let local = match (bare_name(node), scope.level) {
                    (Some(name), Some(level)) => find_in(level, name, -1)?.is_some(),
                    _ => false,
                };
                if local {
                    let value = self.output(node, scope)?;
                    self.comparable(&value, -1)
                } else {
                    self.output_or_expression(node, columns, scope)
                }
            }
        }
    }

    /// The sort item of a node, its operator checked.
    pub(super) fn sort_by<'n>(&mut self, node: &'n Node) -> Checked<&'n SortBy> {
        let Some(NodeEnum::SortBy(sort)) = &node.node else { return Err(unsupported("this ORDER BY")) };
        if !sort.use_op.is_empty() {
            self.operator(&sort.use_op, sort.location)?;
        }
        Ok(sort)
    }

    /// LIMIT and OFFSET see no column of their own query.
    fn limit(&mut self, query: &SelectStmt, scope: &Scope<'_>) -> Checked<()> {
        for node in [inner(&query.limit_offset), inner(&query.limit_count)].into_iter().flatten() {
            self.condition(node, scope)?;
        }
        Ok(())
    }
}

/// The name of a reference that is one name.
fn bare_name(node: &NodeEnum) -> Option<&str> {
    match node {
        NodeEnum::ColumnRef(reference) => match strings(&reference.fields)?.as_slice() {
            [name] => Some(*name),
            _ => None,
        },
        _ => None,
    }
}

/// The output column that a bare name, or a number, in ORDER BY or GROUP BY means.
fn output(node: &NodeEnum, columns: &[Column]) -> Option<usize> {
    let named = bare_name(node).and_then(|name| columns.iter().position(|column| *column.name == *name));
    named.or_else(|| position(node).filter(|place| *place < columns.len()))
}

/// The output column that a number in ORDER BY or GROUP BY means.
fn position(node: &NodeEnum) -> Option<usize> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Ival(number)), .. }) => {
            usize::try_from(number.ival).ok()?.checked_sub(1)
        }
        _ => None,
    }
}

/// A constant in GROUP BY, ORDER BY or DISTINCT ON is the number of an output column and nothing else.
fn ordinal(node: &NodeEnum) -> Checked<()> {
    match node {
        NodeEnum::AConst(constant) if !matches!(constant.val, Some(a_const::Val::Ival(_))) => {
            let message =
                "a constant in GROUP BY, ORDER BY or DISTINCT ON must be the number of an output column";
            Err(Refusal::new(RejectionCode::Syntax, message).at(constant.location))
        }
        _ => Ok(()),
    }
}

/// The output of a query as something whose columns can be named.
fn result_item(columns: &Arc<[Column]>) -> Item {
    Item {
        name: None,
        table: None,
        stored: false,
        columns: Arc::clone(columns),
        scalar: None,
        named: false,
        open: true,
    }
}
