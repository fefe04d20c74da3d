//! What a right text is made of: the tables it joins, what it restricts, what it computes.

mod shape;

use std::collections::{BTreeMap, BTreeSet};

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::contract::sql::{Facts, Node};
use airlock_plugin_sdk::taught::{Rule, is_name};
use airlock_plugin_sdk::{ColumnRef, Host, TableRef};

pub use shape::Shape;

/// Functions that make one value of many rows.
const AGGREGATES: [&str; 5] = ["count", "sum", "avg", "min", "max"];
/// Longest expression that a term may have, in bytes.
const LONGEST: usize = 160;

/// The parts of a right text that a word of a question may stand for.
pub struct Right {
    /// Joins that no key of the catalogue is known for, or one of several.
    pub joins: Vec<Rule>,
    /// Conditions with one literal each, as rules write them, and the literal.
    pub conditions: Vec<(String, String)>,
    /// Expressions over one table that make one value of its rows.
    pub computed: Vec<String>,
    /// Columns that are shown, compared or grouped by.
    pub columns: Vec<String>,
    /// Its tables.
    pub tables: Vec<TableRef>,
    /// What it looks like beside other texts.
    pub shape: Shape,
}

impl Right {
    /// What a text is made of; nothing when the gate refuses it, or a part of it cannot be compared.
    pub fn read(host: &impl Host, sql: &str) -> Option<Self> {
        let text = Text::read(host, sql)?;
        let shape = text.shape(host)?;
        let mut joined: BTreeSet<String> = BTreeSet::new();
        let mut joins = Vec::new();
        for (one, other) in text.equalities() {
            joined.extend([written(&one), written(&other)].into_iter().flatten());
            if let Some(rule) = join(host, &one, &other)
                && !joins.contains(&rule)
            {
                joins.push(rule);
            }
        }
        let columns: Vec<String> = text.facts.columns.iter().filter_map(written).collect();
        Some(Self {
            joins,
            conditions: text.conditions(host),
            computed: text.computed(),
            columns: columns.into_iter().filter(|column| !joined.contains(column)).collect(),
            tables: text.facts.tables.clone(),
            shape,
        })
    }
}

struct Text<'a> {
    sql: &'a str,
    facts: Facts,
    nodes: Vec<Node>,
    /// What tables are called in the text.
    aliases: BTreeMap<String, TableRef>,
}

impl<'a> Text<'a> {
    fn read(host: &impl Host, sql: &'a str) -> Option<Self> {
        let facts = host.check(sql).ok()?;
        let nodes = host.outline(sql).ok()?;
        let aliases = aliases(sql, &facts, &nodes);
        Some(Self { sql, facts, nodes, aliases })
    }

    fn slice(&self, node: &Node) -> &'a str {
        self.sql.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// The column that a node names, by the table before its point or because no other table has one of the name.
    fn column(&self, node: &Node) -> Option<ColumnRef> {
        let name = node.name.as_deref()?;
        let mut parts = name.rsplit('.').map(|part| part.trim_matches('"').to_lowercase());
        let column = parts.next()?;
        let table = parts.next();
        let mut found = self.facts.columns.iter().filter(|known| known.column.to_lowercase() == column);
        match table {
            Some(table) => {
                let own = self.aliases.get(&table)?;
                found.find(|known| known.table == *own).cloned()
            }
            None => {
                let first = found.next()?;
                found.next().is_none().then(|| first.clone())
            }
        }
    }

    fn inside(&self, at: usize) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| {
            let mut parent = node.parent;
            while let Some(up) = parent {
                if up as usize == at {
                    return true;
                }
                parent = self.nodes.get(up as usize).and_then(|node| node.parent);
            }
            false
        })
    }

    fn is_aggregate(node: &Node) -> bool {
        node.kind == "function"
            && node.name.as_deref().is_some_and(|name| AGGREGATES.contains(&name.to_lowercase().as_str()))
    }

    /// Columns of two tables that the text says are equal.
    fn equalities(&self) -> Vec<(ColumnRef, ColumnRef)> {
        let mut found = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if node.kind != "operator" || node.name.as_deref() != Some("=") {
                continue;
            }
            let sides: Vec<&Node> =
                self.nodes.iter().filter(|child| child.parent == u32::try_from(at).ok()).collect();
            if let [one, other] = sides.as_slice()
                && one.kind == "column"
                && other.kind == "column"
                && let (Some(one), Some(other)) = (self.column(one), self.column(other))
                && one.table != other.table
            {
                found.push((one, other));
            }
        }
        found
    }

    fn conditions(&self, host: &impl Host) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for literal in &self.facts.literals {
            let Some(column) = written(&literal.column) else { continue };
            let value = literal.literal.trim().trim_matches('\'');
            let bare = value.trim_matches('%');
            if bare.is_empty() || bare.contains(['\'', '%', '`', '\n', ';']) || bare.len() > 60 {
                continue;
            }
            let operator = literal.operator.to_uppercase();
            let number = bare.parse::<f64>().is_ok();
            let condition = match operator.as_str() {
                "=" | "LIKE" | "ILIKE" | "~~" | "~~*" if !number => {
                    let known = host
                        .near_values(bare, 20)
                        .into_iter()
                        .find(|hit| hit.column == literal.column && hit.value.eq_ignore_ascii_case(bare));
                    let spelled = known.map_or_else(|| bare.to_owned(), |hit| hit.value);
                    format!("{column} = '{spelled}'")
                }
                "=" | ">" | "<" | ">=" | "<=" if number => format!("{column} {operator} {bare}"),
                _ => continue,
            };
            if !found.iter().any(|(known, _)| *known == condition) {
                found.push((condition, bare.to_lowercase()));
            }
        }
        found
    }

    /// Aggregates, and what is made of aggregates, each over one table.
    fn computed(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let whole = matches!(node.kind.as_str(), "operator" | "function" | "cast")
                && node
                    .parent
                    .and_then(|up| self.nodes.get(up as usize))
                    .is_some_and(|up| up.kind == "target")
                && self.inside(at).any(Self::is_aggregate);
            if !Self::is_aggregate(node) && !whole {
                continue;
            }
            if self.inside(at).any(|inner| matches!(inner.kind.as_str(), "subquery" | "select" | "window")) {
                continue;
            }
            let Some(text) = self.qualified(at, node) else { continue };
            if text.len() <= LONGEST && !found.contains(&text) {
                found.push(text);
            }
        }
        found
    }

    /// The text of a node with its columns written as `table.column`; none when they are of several tables or of none.
    fn qualified(&self, at: usize, node: &Node) -> Option<String> {
        let mut text = self.slice(node).to_owned();
        let mut columns: Vec<(usize, usize, String, TableRef)> = Vec::new();
        for inner in self.inside(at).filter(|inner| inner.kind == "column") {
            let column = self.column(inner)?;
            let from = (inner.start - node.start) as usize;
            columns.push((from, (inner.end - node.start) as usize, written(&column)?, column.table));
        }
        let first = columns.first()?.3.clone();
        if columns.iter().any(|(.., table)| *table != first) || text.contains(['`', '\n', ';', '"']) {
            return None;
        }
        columns.sort_by_key(|(from, ..)| std::cmp::Reverse(*from));
        for (from, end, name, _) in columns {
            text.get(from..end)?;
            text.replace_range(from..end, &name);
        }
        Some(text)
    }
}

/// What tables are called: their names, and the word after each in FROM.
fn aliases(sql: &str, facts: &Facts, nodes: &[Node]) -> BTreeMap<String, TableRef> {
    const CLAUSES: [&str; 14] = [
        "on", "where", "join", "left", "right", "inner", "full", "cross", "group", "order", "limit", "using",
        "having", "union",
    ];
    let mut found = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.kind == "table") {
        let Some(name) = node.name.as_deref().and_then(|name| name.rsplit('.').next()) else { continue };
        let name = name.trim_matches('"').to_lowercase();
        let Some(table) = facts.tables.iter().find(|table| table.name.to_lowercase() == name) else {
            continue;
        };
        found.entry(name.clone()).or_insert_with(|| table.clone());
        let rest = sql.get(node.end as usize..).unwrap_or_default();
        let mut words =
            rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
        // What a comma or a bracket parts from the table is no name of it.
        if rest.trim_start().starts_with([',', ')']) {
            continue;
        }
        let mut next = words.next().unwrap_or_default().to_lowercase();
        if next == "as" {
            next = words.next().unwrap_or_default().to_lowercase();
        }
        if !next.is_empty() && !CLAUSES.contains(&next.as_str()) {
            found.insert(next, table.clone());
        }
    }
    found
}

/// A column as rules write it.
fn written(column: &ColumnRef) -> Option<String> {
    let sound = is_name(&column.table.name) && is_name(&column.column);
    sound.then(|| format!("{}.{}", column.table.name, column.column))
}

/// The rule for a join that the catalogue does not vouch for: rows of the one belong to a row of the other.
fn join(host: &impl Host, one: &ColumnRef, other: &ColumnRef) -> Option<Rule> {
    let details = (host.describe(&one.table)?, host.describe(&other.table)?);
    let known = details.0.joins.iter().any(|join| {
        let ends = |a: &ColumnRef, b: &ColumnRef| {
            join.from == a.table
                && join.to == b.table
                && join.from_columns == [a.column.clone()]
                && join.to_columns == [b.column.clone()]
        };
        join.verified && join.many_to_one && (ends(one, other) || ends(other, one))
    });
    // Where several keys lead the same way, which of them is meant is worth saying.
    let ways = |details: &TableDetail, from: &ColumnRef, to: &ColumnRef| {
        details.joins.iter().filter(|join| join.from == from.table && join.to == to.table).count()
    };
    let several = ways(&details.0, one, other) > 1 || ways(&details.1, other, one) > 1;
    if known && !several {
        return None;
    }
    // The side whose column tells its rows apart is the one that rows belong to.
    let tells = |column: &ColumnRef, detail: &TableDetail| -> u8 {
        if detail.primary_key == [column.column.clone()] {
            return 2;
        }
        let first = detail.columns.first().is_some_and(|first| first.name == column.column);
        u8::from(detail.primary_key.is_empty() && first)
    };
    let (a, b) = (tells(one, &details.0), tells(other, &details.1));
    let (from, to) = match a.cmp(&b) {
        std::cmp::Ordering::Less => (one, other),
        std::cmp::Ordering::Greater => (other, one),
        std::cmp::Ordering::Equal => return None,
    };
    written(from)?;
    written(to)?;
    Some(Rule::Joined {
        from: from.table.name.clone(),
        to: to.table.name.clone(),
        columns: (from.column.clone(), to.column.clone()),
    })
}
