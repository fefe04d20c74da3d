//! What a text reads, restricts and computes, in a form that two texts of one meaning share whatever their aliases are.
//!
//! Nothing is left out in silence: a text with a part that has no such form (a query inside, a set operation, a window, an
//! offset) has no shape, and nothing is explained by it.

use std::collections::BTreeSet;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::sql::Node;

use super::Text;

/// Types whose casts change how a number is written and not which it is.
const NUMBERS: [&str; 3] = ["float4", "float8", "numeric"];

/// A text as far as it can be compared with another one without running either.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// Each as often as it is read.
    tables: Vec<String>,
    /// Columns of two tables that must be equal.
    joins: BTreeSet<(String, String)>,
    /// Joins that keep rows which have no partner.
    outer: Vec<String>,
    /// What a row, or a group, must fulfil.
    conditions: BTreeSet<String>,
    /// Columns that are shown, compared, computed or grouped by.
    columns: BTreeSet<String>,
    /// Columns and the values they are compared with, however.
    filters: BTreeSet<(String, String)>,
    aggregates: BTreeSet<String>,
    distinct: bool,
    /// How many rows at most, and by what order they are the first.
    limit: Option<String>,
    grouped: bool,
}

impl Shape {
    /// Of a text that the gate lets run; none where the text has a part that cannot be compared.
    pub fn of(host: &impl Host, sql: &str) -> Option<Self> {
        Text::read(host, sql)?.shape(host)
    }

    /// How much of another text this one has, 0 to 1, and whether it reads, restricts and computes the same.
    pub fn like(&self, other: &Self) -> (f64, bool) {
        let share = |a: usize, b: usize| if b == 0 { 1.0 } else { a as f64 / b as f64 };
        fn both<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> (usize, usize) {
            (a.intersection(b).count(), a.union(b).count())
        }
        let of = |(a, b): (usize, usize)| share(a, b);
        let same = |holds: bool| f64::from(u8::from(holds));
        let sum = 3.0 * of(both(&self.filters, &other.filters))
            + 3.0 * of(both(&self.aggregates, &other.aggregates))
            + same(self.tables == other.tables)
            + 2.0 * of(both(&self.columns, &other.columns))
            + same(self.limit == other.limit)
            + same(self.grouped == other.grouped);
        let reads = self.tables == other.tables
            && self.joins == other.joins
            && self.outer == other.outer
            && self.columns.is_superset(&other.columns);
        let restricts = self.conditions == other.conditions
            && self.distinct == other.distinct
            && self.limit == other.limit
            && self.grouped == other.grouped;
        (sum / 11.0, reads && restricts && self.aggregates == other.aggregates)
    }
}

impl Text<'_> {
    /// The shape of the whole.
    pub(super) fn shape(&self, host: &impl Host) -> Option<Shape> {
        const PARTS: [&str; 7] = ["target", "from", "where", "group-by", "having", "order-by", "limit"];
        let root = self.nodes.first().filter(|root| root.kind == "select")?;
        let nested = |node: &Node| matches!(node.kind.as_str(), "select" | "subquery" | "cte" | "window");
        let parts: Vec<usize> = self.children(0).collect();
        let known = |at: &usize| self.nodes.get(*at).is_some_and(|node| PARTS.contains(&node.kind.as_str()));
        if self.nodes.iter().skip(1).any(nested) || !parts.iter().all(known) {
            return None;
        }
        let text = self.slice(root).to_lowercase();
        let distinct = text.strip_prefix("select").unwrap_or_default().trim_start().starts_with("distinct");
        let words: Vec<&str> = text.split_whitespace().collect();
        let says = |pair: [&str; 2]| words.windows(2).any(|two| *two == pair);
        if says(["distinct", "on"])
            || says(["distinct", "on("])
            || self.sql.to_lowercase().contains("with ties")
        {
            return None;
        }
        let of = |kind: &'static str| parts.iter().copied().filter(move |at| self.is(*at, kind));
        let mut shape = Shape { distinct, grouped: of("group-by").next().is_some(), ..Shape::default() };
        for at in of("from").flat_map(|from| self.children(from)) {
            self.source(host, at, &mut shape)?;
        }
        for at in of("where").chain(of("having")).flat_map(|clause| self.children(clause)) {
            self.restrict(host, at, "", &mut shape)?;
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if Self::is_aggregate(node) {
                shape.aggregates.insert(self.normal(host, at)?);
            }
            if node.kind == "column"
                && !self.is_counted_or_joined(at)
                && let Some(column) = self.column(node)
            {
                shape.columns.insert(format!("{}.{}", column.table.name, column.column));
            }
        }
        if let Some(limit) = of("limit").next() {
            let count = self.nodes.get(limit).map(|node| self.slice(node)).unwrap_or_default();
            let order = of("order-by").next().map(|at| self.order(host, at));
            let order = order.unwrap_or_else(|| Some(String::new()))?;
            shape.limit = Some(format!("{count} {order}"));
        }
        let bare = |text: &str| text.trim().trim_matches(['\'', '%']).to_lowercase();
        shape.filters = self
            .facts
            .literals
            .iter()
            .map(|literal| {
                let column = format!("{}.{}", literal.column.table.name, literal.column.column);
                (column, bare(&literal.literal))
            })
            .collect();
        shape.tables.sort();
        shape.outer.sort();
        Some(shape)
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let parent = u32::try_from(at).ok();
        let own =
            self.nodes.iter().enumerate().filter(move |(_, node)| parent.is_some() && node.parent == parent);
        own.map(|(at, _)| at)
    }

    fn is(&self, at: usize, kind: &str) -> bool {
        self.nodes.get(at).is_some_and(|node| node.kind == kind)
    }

    /// One entry of FROM: a table, or a join of two entries.
    fn source(&self, host: &impl Host, at: usize, shape: &mut Shape) -> Option<()> {
        let node = self.nodes.get(at)?;
        if node.kind == "table" {
            let name = node.name.as_deref()?.rsplit('.').next()?;
            shape.tables.push(name.trim_matches('"').to_lowercase());
            return Some(());
        }
        if node.kind != "other" || node.name.as_deref() != Some("join") {
            return None;
        }
        let parts: Vec<usize> = self.children(at).collect();
        let (left, right) = (*parts.first()?, *parts.get(1)?);
        let between =
            self.sql.get(self.nodes.get(left)?.end as usize..self.nodes.get(right)?.start as usize)?;
        let between = between.to_lowercase();
        let says = |word: &str| between.split_whitespace().any(|said| said == word);
        // Which columns USING and NATURAL mean is not in the outline.
        if says("natural") || (parts.len() == 2 && !says("cross")) {
            return None;
        }
        let keeps = ["left", "right", "full"].into_iter().find(|word| says(word));
        self.source(host, left, shape)?;
        let before = shape.tables.len();
        self.source(host, right, shape)?;
        let joined = shape.tables.get(before..).unwrap_or_default().join(" ");
        if let Some(word) = keeps {
            shape.outer.push(format!("{word} {joined}"));
        }
        let lead = keeps.map_or(String::new(), |word| format!("{word} {joined}: "));
        parts.get(2).map_or(Some(()), |at| self.restrict(host, *at, &lead, shape))
    }

    /// What a condition demands, part by part.
    fn restrict(&self, host: &impl Host, at: usize, lead: &str, shape: &mut Shape) -> Option<()> {
        let node = self.nodes.get(at)?;
        if node.kind == "operator" && node.name.as_deref() == Some("AND") {
            return self
                .children(at)
                .try_for_each(|part| self.restrict(host, part, lead, shape).ok_or(()))
                .ok();
        }
        if let Some(pair) = self.joined(at) {
            shape.joins.insert(pair);
            return Some(());
        }
        let written = self.normal(host, at)?;
        let parts = written.strip_prefix("between: ").unwrap_or(&written).split(" and also ");
        shape.conditions.extend(parts.map(|part| format!("{lead}{part}")));
        Some(())
    }

    /// Two columns of two tables that are equal.
    fn joined(&self, at: usize) -> Option<(String, String)> {
        let node = self.nodes.get(at).filter(|node| node.kind == "operator")?;
        let sides: Vec<&Node> = self.children(at).filter_map(|at| self.nodes.get(at)).collect();
        let [one, other] = sides.as_slice() else { return None };
        if node.name.as_deref() != Some("=") || one.kind != "column" || other.kind != "column" {
            return None;
        }
        let (one, other) = (self.column(one)?, self.column(other)?);
        let mut pair = [&one, &other].map(|column| format!("{}.{}", column.table.name, column.column));
        pair.sort();
        let [first, second] = pair;
        (one.table != other.table).then_some((first, second))
    }

    /// Whether a column only says that a row is there, or which rows belong together.
    fn is_counted_or_joined(&self, at: usize) -> bool {
        let Some(up) = self.nodes.get(at).and_then(|node| node.parent).map(|up| up as usize) else {
            return false;
        };
        self.joined(up).is_some() || self.nodes.get(up).is_some_and(|node| self.counts_rows(node))
    }

    fn counts_rows(&self, node: &Node) -> bool {
        let text = self.slice(node).to_lowercase();
        let name = node.name.as_deref().unwrap_or_default().to_lowercase();
        node.kind == "function" && name == "count" && !is_distinct(&text) && !text.contains("filter")
    }

    /// The first key of an order, by its expression where it is named by an output column, and its direction.
    fn order(&self, host: &impl Host, at: usize) -> Option<String> {
        let node = self.nodes.get(at)?;
        let key = self.children(at).next()?;
        let target = || {
            let said = self.nodes.get(key).map(|key| self.slice(key).trim_matches('"').to_lowercase())?;
            let targets: Vec<usize> = self.children(0).filter(|at| self.is(*at, "target")).collect();
            let named = |at: &&usize| {
                let name = self.nodes.get(**at).and_then(|node| node.name.as_ref());
                name.is_some_and(|name| name.to_lowercase() == said)
            };
            let place = || targets.get(said.parse::<usize>().ok()?.checked_sub(1)?);
            let target = targets.iter().find(named).or_else(place)?;
            self.normal(host, self.children(*target).next()?)
        };
        let written = if self.is(key, "function") || self.is(key, "operator") { None } else { target() };
        let written = written.or_else(|| self.normal(host, key))?;
        let rest = self.sql.get(node.end as usize..)?.trim_start().to_lowercase();
        Some(format!("{written}{}", if rest.starts_with("desc") { " desc" } else { "" }))
    }

    /// An expression whatever its aliases, brackets and spacing are; none where it has a part that has no such form.
    fn normal(&self, host: &impl Host, at: usize) -> Option<String> {
        let node = self.nodes.get(at)?;
        let parts = || self.children(at).map(|at| self.normal(host, at)).collect::<Option<Vec<String>>>();
        let name = node.name.as_deref().unwrap_or_default().to_lowercase();
        match node.kind.as_str() {
            "column" => {
                let column = self.column(node)?;
                Some(format!("{}.{}", column.table.name, column.column))
            }
            "literal" => Some(self.literal(node)),
            "cast" => {
                let inner = parts()?.into_iter().next()?;
                let of = name.rsplit('.').next().unwrap_or_default().to_owned();
                let literal = self.children(at).all(|at| self.is(at, "literal"));
                Some(if literal || NUMBERS.contains(&of.as_str()) { inner } else { format!("{inner}::{of}") })
            }
            "function" => {
                let text = self.slice(node).to_lowercase();
                if name.is_empty() {
                    return Some(text);
                }
                // Counting rows and counting what each of them has is the same.
                let parts = if self.counts_rows(node) { Vec::new() } else { parts()? };
                let how = [("distinct ", is_distinct(&text)), ("filter ", text.contains("filter"))];
                let how: String = how.into_iter().filter(|(_, is)| *is).map(|(word, _)| word).collect();
                Some(format!("{name}({how}{})", parts.join(", ")))
            }
            "operator" => self.compared(host, at, node, parts()?),
            "case" => Some(format!("case({})", parts()?.join(", "))),
            "other" if node.parent.is_some_and(|up| self.is(up as usize, "case")) => {
                Some(format!("when({})", parts()?.join(", ")))
            }
            _ => None,
        }
    }

    fn compared(&self, host: &impl Host, at: usize, node: &Node, mut parts: Vec<String>) -> Option<String> {
        let name = node.name.as_deref()?.to_uppercase();
        let rest = self.sql.get(node.end as usize..)?.trim_start().to_lowercase();
        let text = self.slice(node).to_lowercase();
        if text.contains("distinct from") || text.starts_with("nullif") {
            return None;
        }
        match (name.as_str(), parts.as_slice()) {
            ("AND" | "OR", _) => {
                parts.sort();
                Some(format!("({})", parts.join(&format!(" {name} "))))
            }
            ("NOT", [of]) => Some(format!("not {of}")),
            ("IS NULL", [of]) => {
                let not = rest.starts_with("not") || text.ends_with("notnull");
                Some(format!("{of} is {}null", if not { "not " } else { "" }))
            }
            ("BETWEEN", [of, from, until]) => {
                Some(format!("between: ({of} >= {from}) and also ({of} <= {until})"))
            }
            ("=" | "<>", [of, values @ ..]) if values.len() > 1 => {
                let mut values = values.to_vec();
                values.sort();
                Some(format!("{of} {name} one of ({})", values.join(", ")))
            }
            ("=" | "<>", [one, other]) => {
                let value = self.children(at).any(|at| self.is(at, "literal") || self.is(at, "cast"));
                let (first, second) = if value || one <= other { (one, other) } else { (other, one) };
                Some(format!("{first} {name} {second}"))
            }
            ("~~" | "~~*", [of, pattern]) => {
                // A pattern around a value of the column is meant as that value.
                let bare = pattern.trim_matches('%');
                let column = self.children(at).next().and_then(|at| self.column(self.nodes.get(at)?));
                let hits = host.near_values(bare, 20);
                let is_value = hits
                    .iter()
                    .any(|hit| Some(&hit.column) == column.as_ref() && hit.value.to_lowercase() == *bare);
                Some(if is_value || (bare == pattern && !bare.contains('_')) {
                    format!("{of} = {bare}")
                } else {
                    format!("{of} ~~ {pattern}")
                })
            }
            ("IS", _) => None,
            (_, [one]) => Some(format!("{name}({one})")),
            _ => Some(format!("({})", parts.join(&format!(" {name} ")))),
        }
    }

    /// A literal in small letters, without its quotation marks; the sign of a number is a token of its own.
    fn literal(&self, node: &Node) -> String {
        let text = self.slice(node).to_lowercase();
        if text == "-" {
            let rest = self.sql.get(node.end as usize..).unwrap_or_default().trim_start();
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            return format!("-{}", rest.get(..end).unwrap_or_default());
        }
        text.trim_matches('\'').to_owned()
    }
}

/// Whether an aggregate takes each value once.
fn is_distinct(call: &str) -> bool {
    call.split_once('(').is_some_and(|(_, inside)| inside.trim_start().starts_with("distinct"))
}

#[cfg(test)]
mod tests {
    use crate::right::Shape;
    use crate::tests::Shop;

    #[test]
    fn texts_of_one_meaning_are_alike_and_others_are_not() {
        let shop = Shop::new();
        for (one, other, alike) in [
            (
                "SELECT count(*) FROM employees WHERE role = 'CASHIER'",
                "SELECT count(e.emp_id) AS n FROM employees AS e WHERE e.role = 'Cashier'",
                true,
            ),
            (
                "SELECT e.role, count(*) FROM bills b JOIN employees e ON e.emp_id = b.emp_id GROUP BY e.role",
                "SELECT role, count(*) FROM bills, employees WHERE bills.emp_id = employees.emp_id GROUP BY role",
                true,
            ),
            (
                "SELECT role FROM employees WHERE emp_id BETWEEN 3 AND 9",
                "SELECT role FROM employees WHERE emp_id >= 3 AND emp_id <= 9",
                true,
            ),
            (
                "SELECT role, sum(pay) AS paid FROM employees GROUP BY role ORDER BY paid DESC LIMIT 1",
                "SELECT role, sum(pay) FROM employees GROUP BY role ORDER BY sum(pay) DESC, role LIMIT 1",
                true,
            ),
            ("SELECT count(*) FROM employees", "SELECT count(*) FROM employees WHERE pay IS NOT NULL", false),
            (
                "SELECT count(*) FROM employees WHERE pay IS NULL",
                "SELECT count(*) FROM employees WHERE pay IS NOT NULL",
                false,
            ),
            (
                "SELECT count(*) FROM employees WHERE pay > 100",
                "SELECT count(*) FROM employees WHERE pay < 100",
                false,
            ),
            (
                "SELECT count(*) FROM employees WHERE pay > -100",
                "SELECT count(*) FROM employees WHERE pay > -5",
                false,
            ),
            ("SELECT role FROM employees", "SELECT DISTINCT role FROM employees", false),
            (
                "SELECT role FROM employees GROUP BY role",
                "SELECT role FROM employees GROUP BY role HAVING count(*) > 3",
                false,
            ),
            ("SELECT role FROM employees LIMIT 5", "SELECT role FROM employees", false),
            (
                "SELECT role FROM employees ORDER BY pay DESC LIMIT 1",
                "SELECT role FROM employees ORDER BY pay LIMIT 1",
                false,
            ),
            (
                "SELECT count(*) FROM employees WHERE role LIKE 'C%'",
                "SELECT count(*) FROM employees WHERE role = 'C'",
                false,
            ),
            (
                "SELECT count(*) FROM employees WHERE role = 'A' OR pay > 1",
                "SELECT count(*) FROM employees WHERE role = 'A' AND pay > 1",
                false,
            ),
            (
                "SELECT e.role FROM employees e LEFT JOIN bills b ON b.emp_id = e.emp_id",
                "SELECT e.role FROM employees e JOIN bills b ON b.emp_id = e.emp_id",
                false,
            ),
            ("SELECT sum(pay) FROM employees", "SELECT avg(pay) FROM employees", false),
            ("SELECT emp_id FROM employees", "SELECT role FROM employees", false),
        ] {
            let shape = |sql: &str| Shape::of(&shop, sql).unwrap_or_else(|| panic!("{sql}"));
            let (one_shape, other_shape) = (shape(one), shape(other));
            assert_eq!(
                one_shape.like(&other_shape).1,
                alike,
                "{one}\n{other}\n{one_shape:?}\n{other_shape:?}"
            );
            assert!(one_shape.like(&one_shape).1 && other_shape.like(&other_shape).1);
        }
    }

    #[test]
    fn what_cannot_be_compared_has_no_shape() {
        let shop = Shop::new();
        for sql in [
            "SELECT count(*) FROM employees e WHERE (SELECT count(*) FROM bills b WHERE b.emp_id = e.emp_id) > 100",
            "SELECT count(*) FROM employees e WHERE EXISTS (SELECT FROM bills b WHERE b.emp_id = e.emp_id)",
            "SELECT count(*) FROM employees WHERE emp_id IN (SELECT emp_id FROM bills)",
            "SELECT count(*) FROM (SELECT role FROM employees) AS r",
            "WITH r AS (SELECT role FROM employees) SELECT count(*) FROM r",
            "SELECT role FROM employees UNION SELECT role FROM employees",
            "SELECT role, rank() OVER (ORDER BY pay) FROM employees",
            "SELECT role FROM employees LIMIT 5 OFFSET 5",
            "SELECT role FROM employees JOIN bills USING (emp_id)",
            "SELECT DISTINCT ON (role) role FROM employees",
        ] {
            assert_eq!(Shape::of(&shop, sql), None, "{sql}");
        }
    }
}
