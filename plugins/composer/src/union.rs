//! One measure from several tables that hold different times, added up.

use crate::build::Built;
use crate::logical::Expr;
use crate::print;
use crate::refuse::Why;
use crate::schema::Schema;

/// The parts added up. Only sums and counts can be, and only as one number or by steps of time.
pub fn union(schema: &Schema, parts: Vec<Built>) -> Result<(String, Built), Why> {
    let addable = parts.iter().all(|part| {
        part.additive
            && part.query.having.is_empty()
            && part.query.limit.is_none()
            && part.query.groups.iter().all(|group| matches!(group, Expr::Step(..)))
            && part.query.select.len() == part.query.groups.len() + 1
    });
    let Some(first) = parts.first().filter(|_| addable) else {
        return Err(Why::Kind(
            "a measure that two tables hold, in another shape than one number or a series in time".into(),
        ));
    };
    let alias = |at: usize| {
        first.query.select.get(at).and_then(|output| output.alias.clone()).unwrap_or_else(|| "value".into())
    };
    let value = print::identifier(&alias(first.query.groups.len()));
    let keys: Vec<String> = (0..first.query.groups.len()).map(|at| print::identifier(&alias(at))).collect();
    let mut selects = Vec::new();
    for part in &parts {
        let mut query = part.query.clone();
        query.order.clear();
        selects.push(format!("    {}", print::sql(schema, &query).replace('\n', "\n    ")));
    }
    let mut outputs = keys.clone();
    outputs.push(format!("sum({value}) AS {value}"));
    let mut sql =
        format!("SELECT {}\nFROM (\n{}\n) AS parts", outputs.join(", "), selects.join("\n    UNION ALL\n"));
    if !keys.is_empty() {
        sql.push_str(&format!("\nGROUP BY {0}\nORDER BY {0}", keys.join(", ")));
    }
    let mut built = first.clone();
    for part in parts.iter().skip(1) {
        built.tables.extend(&part.tables);
        built.columns.extend(&part.columns);
        for told in &part.assumptions {
            if !built.assumptions.contains(told) {
                built.assumptions.push(told.clone());
            }
        }
        built.cost = built.cost.max(part.cost);
    }
    let names: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.query.nodes.first())
        .filter_map(|node| schema.table(node.table))
        .map(|table| table.reference.name.as_str())
        .collect();
    built
        .assumptions
        .push(format!("The measure is added up over {}, which hold different times.", names.join(" and ")));
    Ok((sql, built))
}
