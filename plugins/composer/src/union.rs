//! One answer from several tables that hold different times: their rows together, and what is computed over all of them.

use airlock_plugin_sdk::question::grammar::Aggregate;

use crate::build::Built;
use crate::logical::{Expr, Pred};
use crate::parts;
use crate::print;
use crate::refuse::Why;
use crate::schema::Schema;

/// One column of the union: what each part gives, and what is made of it over all rows.
struct Slot {
    name: String,
    /// What a part selects for it; None when the part's expression stands as it is.
    inner: Option<Inner>,
    /// What stands outside: the name itself, or an aggregate of it.
    outer: String,
    aggregate: bool,
}

enum Inner {
    /// The argument of an aggregate over a column.
    Column(usize, usize),
    /// The argument of an aggregate of the glossary.
    Raw(String, Vec<(usize, usize)>),
    /// A row, to be counted.
    Row,
    /// Whether a row meets conditions, to be counted.
    Holds(Vec<Pred>),
}

/// The parts as one query. An average is one over all rows, never one of averages.
pub fn union(schema: &Schema, parts: Vec<Built>) -> Result<(String, Built), Why> {
    let Some(first) = parts.first() else { return Err(Why::Kind("a union of nothing".into())) };
    let width = first.query.select.len();
    if parts.iter().any(|part| part.query.select.len() != width) {
        return Err(Why::Kind("a list whose columns one of the tables does not have".into()));
    }
    let names = names(schema, first);
    let mut selects = Vec::new();
    for part in &parts {
        let slots = slots(part, &names)?;
        let mut query = part.query.clone();
        for (output, slot) in query.select.iter_mut().zip(&slots) {
            output.alias = Some(slot.name.clone());
            match &slot.inner {
                Some(Inner::Column(node, column)) => output.expr = Expr::Column(*node, *column),
                Some(Inner::Raw(sql, nodes)) => output.expr = Expr::Raw(sql.clone(), nodes.clone()),
                Some(Inner::Holds(preds)) => output.expr = Expr::Holds(preds.clone()),
                Some(Inner::Row) => output.expr = Expr::Raw("1".into(), Vec::new()),
                None => {}
            }
        }
        query.groups.clear();
        query.order.clear();
        query.having.clear();
        query.limit = None;
        query.distinct = false;
        selects.push(format!("    {}", print::sql(schema, &query).replace('\n', "\n    ")));
    }
    let slots = slots(first, &names)?;
    let outputs: Vec<String> = slots
        .iter()
        .map(|slot| {
            let name = print::identifier(&slot.name);
            if slot.aggregate { format!("{} AS {name}", slot.outer) } else { name }
        })
        .collect();
    let head = if first.query.distinct { "SELECT DISTINCT" } else { "SELECT" };
    let mut lines = vec![
        format!("{head} {}", outputs.join(", ")),
        format!("FROM (\n{}\n) AS parts", selects.join("\n    UNION ALL\n")),
    ];
    let place = |expr: &Expr| first.query.select.iter().position(|output| output.expr == *expr);
    let keys: Vec<String> =
        slots.iter().filter(|slot| !slot.aggregate).map(|slot| print::identifier(&slot.name)).collect();
    if !first.query.groups.is_empty() {
        lines.push(format!("GROUP BY {}", keys.join(", ")));
    }
    let mut having = Vec::new();
    for (expr, operator, value) in &first.query.having {
        let Some(slot) = place(expr).and_then(|at| slots.get(at)) else {
            return Err(Why::Kind("a condition on groups that two tables hold".into()));
        };
        having.push(format!("{} {operator} {value}", slot.outer));
    }
    if !having.is_empty() {
        lines.push(format!("HAVING {}", having.join("\n  AND ")));
    }
    let mut order: Vec<String> = Vec::new();
    for (at, (expr, descending)) in first.query.order.iter().enumerate() {
        match place(expr).and_then(|at| slots.get(at)) {
            Some(slot) => {
                let name = print::identifier(&slot.name);
                order.push(if *descending { format!("{name} DESC NULLS LAST") } else { name });
            }
            // A key that is not shown only settles what is equal otherwise.
            None if at > 0 || first.query.limit.is_none() => {}
            None => return Err(Why::Kind("a rank by what is not shown, over two tables".into())),
        }
    }
    let falls = first.query.order.iter().take(2).all(|(_, descending)| *descending);
    for key in keys.iter().filter(|_| first.query.limit.is_some()) {
        if !order.iter().any(|known| known.split(' ').next() == Some(key)) {
            order.push(if falls { format!("{key} DESC") } else { key.clone() });
        }
    }
    if !order.is_empty() {
        lines.push(format!("ORDER BY {}", order.join(", ")));
    }
    if let Some(limit) = first.query.limit {
        lines.push(format!("LIMIT {limit}"));
    }
    Ok((lines.join("\n"), together(schema, &parts, first, &keys)))
}

/// What all parts rest on, told once.
fn together(schema: &Schema, parts: &[Built], first: &Built, keys: &[String]) -> Built {
    let mut built = first.clone();
    for part in parts.iter().skip(1) {
        built.tables.extend(&part.tables);
        built.columns.extend(&part.columns);
        built.terms.extend(&part.terms);
        for told in &part.assumptions {
            if !built.assumptions.contains(told) {
                built.assumptions.push(told.clone());
            }
        }
        built.cost = built.cost.max(part.cost);
    }
    let tables: Vec<String> = parts
        .iter()
        .filter_map(|part| part.query.nodes.first())
        .map(|node| parts::told(schema, node.table))
        .collect();
    built.assumptions.push(format!("Rows of {} are taken together.", tables.join(" and ")));
    if first.query.groups.len() > keys.len() {
        built
            .assumptions
            .push("Rows of the same name are one group, since one of the tables knows names only.".into());
    }
    built
}

/// The names of the columns, as the first part has them.
fn names(schema: &Schema, first: &Built) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for output in &first.query.select {
        let column = match output.expr {
            Expr::Column(node, column) => first
                .query
                .nodes
                .get(node)
                .and_then(|node| schema.column(node.table, column))
                .map(|column| column.name.clone()),
            _ => None,
        };
        let mut name = output.alias.clone().or(column).unwrap_or_else(|| "value".into());
        while found.contains(&name) {
            name.push_str("_2");
        }
        found.push(name);
    }
    found
}

fn slots(part: &Built, names: &[String]) -> Result<Vec<Slot>, Why> {
    part.query.select.iter().zip(names).map(|(output, name)| slot(&output.expr, name)).collect()
}

fn slot(expr: &Expr, name: &str) -> Result<Slot, Why> {
    let told = print::identifier(name);
    let of = |inner: Inner, outer: String| {
        Ok(Slot { name: name.to_owned(), inner: Some(inner), outer, aggregate: true })
    };
    match expr {
        Expr::Column(..) | Expr::Step(..) => {
            Ok(Slot { name: name.to_owned(), inner: None, outer: told, aggregate: false })
        }
        Expr::CountRows => of(Inner::Row, "count(*)".into()),
        Expr::Aggregate(aggregate, node, column) => {
            let outer = match aggregate {
                Aggregate::Count => format!("count({told})"),
                Aggregate::Sum => format!("sum({told})"),
                Aggregate::Average => format!("avg({told})"),
                Aggregate::Minimum => format!("min({told})"),
                Aggregate::Maximum => format!("max({told})"),
                Aggregate::Median => format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY {told})"),
            };
            of(Inner::Column(*node, *column), outer)
        }
        Expr::Raw(sql, nodes) => {
            let Some((function, argument)) = call(sql) else {
                return Err(Why::Kind("a measure that cannot be computed over two tables at once".into()));
            };
            if function == "count" && argument == "*" {
                return of(Inner::Row, "count(*)".into());
            }
            of(Inner::Raw(argument, nodes.clone()), format!("{function}({told})"))
        }
        Expr::Rounded(inner) => {
            let slot = slot(inner, name)?;
            Ok(Slot { outer: format!("round({}, 2)", slot.outer), ..slot })
        }
        Expr::Share(preds) => {
            of(Inner::Holds(preds.clone()), format!("100.0 * sum({told}) / NULLIF(count(*), 0)"))
        }
        Expr::CountDistinct(..)
        | Expr::Holds(_)
        | Expr::OfAll
        | Expr::Filtered(..)
        | Expr::Quotient(..)
        | Expr::Place(_) => {
            Err(Why::Kind("a measure that cannot be computed over two tables at once".into()))
        }
    }
}

/// The one aggregate that a fragment consists of, and its argument.
fn call(sql: &str) -> Option<(String, String)> {
    let (function, rest) = sql.trim().split_once('(')?;
    let function = function.trim().to_lowercase();
    let argument = rest.strip_suffix(')')?;
    let known = ["sum", "avg", "min", "max", "count"].contains(&function.as_str());
    let mut depth = 0_i32;
    let closed = argument.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    let distinct = argument.trim_start().to_lowercase().starts_with("distinct");
    (known && closed && depth == 0 && !distinct).then(|| (function, argument.trim().to_owned()))
}
