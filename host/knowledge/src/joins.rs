//! How tables join: foreign keys, joins that people wrote, and guesses marked as such; and the shortest way between two.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airlock_types::catalogue::Relation;
use airlock_types::{Catalogue, TableRef};
use serde::Serialize;

use crate::guess::guess_joins;
use crate::pack::BoundJoin;

/// Most hops of a join path.
pub const HOPS: usize = 6;

/// Where a join comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinOrigin {
    /// A foreign key of the catalogue.
    ForeignKey,
    /// A person wrote it.
    Manual,
    /// Guessed from names and types.
    Inferred,
}

impl JoinOrigin {
    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForeignKey => "foreign-key",
            Self::Manual => "manual",
            Self::Inferred => "inferred",
        }
    }

    /// A foreign key and a person's word are verified; a guess is not.
    #[must_use]
    pub const fn verified(self) -> bool {
        !matches!(self, Self::Inferred)
    }
}

/// How two tables join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Join {
    /// The side whose rows have at most one partner, where there is such a side.
    pub from: TableRef,
    /// Its columns.
    pub from_columns: Vec<String>,
    /// The other side.
    pub to: TableRef,
    /// Its columns, in the order of `from_columns`.
    pub to_columns: Vec<String>,
    /// Where the join comes from.
    pub origin: JoinOrigin,
    /// Each row of `from` has at most one partner in `to`: the columns of `to` hold one of its keys, or somebody says so.
    pub many_to_one: bool,
    /// A row of `from` may have no partner: a column may be NULL, or nobody vouches for the join.
    pub optional: bool,
    /// What people say about it.
    pub note: Option<String>,
}

impl Join {
    /// Whether it is no guess.
    #[must_use]
    pub const fn verified(&self) -> bool {
        self.origin.verified()
    }

    /// The side that is not `table`; absent when neither side is.
    #[must_use]
    pub fn other(&self, table: &TableRef) -> Option<&TableRef> {
        if self.from == *table {
            Some(&self.to)
        } else if self.to == *table {
            Some(&self.from)
        } else {
            None
        }
    }

    /// A join with its flags read off the keys, and off what is said of it. A side with a key stands under `to`, so that how a person happened to write
    /// the sides down does not matter.
    pub(crate) fn new(catalogue: &Catalogue, origin: JoinOrigin, join: BoundJoin) -> Option<Self> {
        let mut from = (catalogue.relation(&join.from)?, join.from_columns);
        let mut to = (catalogue.relation(&join.to)?, join.to_columns);
        let said = join.to_is_key;
        if !said && !is_key(to.0, &to.1) && is_key(from.0, &from.1) {
            std::mem::swap(&mut from, &mut to);
        }
        let nullable = from.1.iter().any(|name| from.0.column(name).is_none_or(|column| column.nullable));
        Some(Self {
            from: from.0.table.clone(),
            many_to_one: said || is_key(to.0, &to.1),
            from_columns: from.1,
            to: to.0.table.clone(),
            to_columns: to.1,
            origin,
            optional: nullable || !origin.verified(),
            note: join.note,
        })
    }

    /// The pair of sides, whichever way round.
    fn sides(&self) -> (Side<'_>, Side<'_>) {
        let (from, to) = ((&self.from, &*self.from_columns), (&self.to, &*self.to_columns));
        if from <= to { (from, to) } else { (to, from) }
    }
}

/// One side of a join: the table and its columns.
type Side<'a> = (&'a TableRef, &'a [String]);

/// Whether the columns hold a key of the relation.
pub(crate) fn is_key(relation: &Relation, columns: &[String]) -> bool {
    let holds = |key: &Vec<String>| !key.is_empty() && key.iter().all(|column| columns.contains(column));
    holds(&relation.primary_key) || relation.unique_keys.iter().any(holds)
}

/// All joins of a domain.
#[derive(Debug, Clone, Default)]
pub struct JoinGraph {
    joins: Vec<Join>,
    by_table: BTreeMap<TableRef, Vec<usize>>,
    dead: BTreeSet<TableRef>,
}

impl JoinGraph {
    /// Foreign keys, joins written by hand, and guesses where neither says anything. `dead` tables are no way through.
    #[must_use]
    pub fn new(catalogue: &Catalogue, manual: &[BoundJoin], dead: BTreeSet<TableRef>) -> Self {
        let mut graph = Self { dead, ..Self::default() };
        for relation in catalogue.iter() {
            for key in &relation.foreign_keys {
                let join = BoundJoin {
                    from: relation.table.clone(),
                    from_columns: key.columns.clone(),
                    to: key.references.clone(),
                    to_columns: key.referenced_columns.clone(),
                    to_is_key: false,
                    note: None,
                };
                graph.add(Join::new(catalogue, JoinOrigin::ForeignKey, join));
            }
        }
        for join in manual {
            graph.add(Join::new(catalogue, JoinOrigin::Manual, join.clone()));
        }
        for join in guess_joins(catalogue, &graph.joins) {
            graph.add(Join::new(catalogue, JoinOrigin::Inferred, join));
        }
        graph
    }

    fn add(&mut self, join: Option<Join>) {
        let Some(join) = join else { return };
        let same = |other: &&mut Join| other.sides() == join.sides();
        let of_table = self.by_table.get(&join.from).cloned().unwrap_or_default();
        if of_table
            .iter()
            .any(|index| self.joins.get(*index).is_some_and(|other| other.sides() == join.sides()))
        {
            // A person's remark on a foreign key is kept with it.
            if let (Some(note), Some(known)) = (&join.note, self.joins.iter_mut().find(same)) {
                known.note.get_or_insert_with(|| note.clone());
            }
            return;
        }
        let index = self.joins.len();
        self.by_table.entry(join.from.clone()).or_default().push(index);
        if join.to != join.from {
            self.by_table.entry(join.to.clone()).or_default().push(index);
        }
        self.joins.push(join);
    }

    /// All joins: foreign keys first, then those of people, then guesses.
    #[must_use]
    pub fn all(&self) -> &[Join] {
        &self.joins
    }

    /// Joins in which a table takes either side.
    pub fn of<'a>(&'a self, table: &TableRef) -> impl Iterator<Item = &'a Join> + use<'a> {
        self.by_table.get(table).into_iter().flatten().filter_map(|index| self.joins.get(*index))
    }

    /// The shortest chain of joins from one table to another, over verified joins when there is one within `max_hops` (at
    /// most [`HOPS`]), else over guesses too. Empty when there is none, or when the tables are the same.
    #[must_use]
    pub fn path(&self, from: &TableRef, to: &TableRef, max_hops: usize) -> Vec<Join> {
        let hops = max_hops.min(HOPS);
        self.search(from, to, hops, Join::verified)
            .or_else(|| self.search(from, to, hops, |_| true))
            .unwrap_or_default()
    }

    /// Breadth first; equal lengths are decided by the order of the joins.
    fn search(
        &self,
        from: &TableRef,
        to: &TableRef,
        hops: usize,
        usable: impl Fn(&Join) -> bool,
    ) -> Option<Vec<Join>> {
        let mut came_by: BTreeMap<&TableRef, &Join> = BTreeMap::new();
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((here, depth)) = queue.pop_front() {
            if here == to {
                break;
            }
            if depth == hops || (here != from && self.dead.contains(here)) {
                continue;
            }
            for join in self.of(here).filter(|join| usable(join)) {
                let Some(next) = join.other(here) else { continue };
                if next != from && !came_by.contains_key(next) {
                    came_by.insert(next, join);
                    queue.push_back((next, depth + 1));
                }
            }
        }
        let mut path = Vec::new();
        let mut here = to;
        while here != from {
            let join = came_by.get(here)?;
            path.push((*join).clone());
            here = join.other(here)?;
        }
        path.reverse();
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use airlock_types::catalogue::RelationKind;

    use super::*;
    use crate::testing;

    fn catalogue(tables: &[&str], foreign_keys: &[(&str, &str, &str, &str)]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for text in tables {
            let mut relation = testing::table(text);
            for (table, column, references, referenced) in foreign_keys {
                if relation.table.name == *table {
                    relation.foreign_keys.push(testing::foreign_key(column, references, referenced));
                }
            }
            catalogue.insert(relation);
        }
        catalogue
    }

    fn manual(from: &str, to: &str) -> BoundJoin {
        let side = |text: &str| {
            let (table, column) = text.split_once('.').unwrap();
            (TableRef::new("public", table), vec![column.to_owned()])
        };
        let ((from, from_columns), (to, to_columns)) = (side(from), side(to));
        BoundJoin { from, from_columns, to, to_columns, to_is_key: false, note: Some("note".into()) }
    }

    /// `from.column>to.column` with its origin.
    fn shown(join: &Join) -> String {
        let side = |table: &TableRef, columns: &[String]| format!("{}.{}", table.name, columns.join("+"));
        let (from, to) = (side(&join.from, &join.from_columns), side(&join.to, &join.to_columns));
        format!("{} {from}>{to}", join.origin.as_str())
    }

    const SHOP: &[&str] = &[
        "customers: cust_id integer*, name text",
        "orders: order_id integer*, cust_id integer, rep integer!",
        "lines: line_id integer*, order_id integer!, product integer!",
        "products: id integer*, label text",
        "notes: order_ref integer, body text",
    ];
    const KEYS: &[(&str, &str, &str, &str)] =
        &[("orders", "cust_id", "customers", "cust_id"), ("lines", "order_id", "orders", "order_id")];

    #[test]
    fn flags_are_read_off_keys_and_nullability() {
        let graph = JoinGraph::new(
            &catalogue(SHOP, KEYS),
            &[manual("products.id", "lines.product"), manual("notes.body", "products.label")],
            BTreeSet::new(),
        );
        let got: Vec<(String, bool, bool)> =
            graph.all().iter().map(|join| (shown(join), join.many_to_one, join.optional)).collect();
        let want = [
            ("foreign-key lines.order_id>orders.order_id", true, false),
            ("foreign-key orders.cust_id>customers.cust_id", true, true),
            // Written the other way round: the side with the key is still the one with one row.
            ("manual lines.product>products.id", true, false),
            ("manual notes.body>products.label", false, true),
        ];
        assert_eq!(got, want.map(|(text, many, optional)| (text.to_owned(), many, optional)));
    }

    #[test]
    fn whose_key_is_one_column_of_several_is_said_by_people_and_guessed_of_partitioned_tables() {
        let said = BoundJoin { to_is_key: true, ..manual("notes.body", "products.label") };
        let graph = JoinGraph::new(&catalogue(SHOP, KEYS), &[said], BTreeSet::new());
        let of = |graph: &JoinGraph, shown_as: &str| {
            graph.all().iter().find(|join| shown(join).ends_with(shown_as)).map(|join| join.many_to_one)
        };
        assert_eq!(of(&graph, "notes.body>products.label"), Some(true));

        let tables = ["orders: order_id integer*, placed_at date*", "lines: id integer*, order_id integer"];
        for (kind, want) in [(RelationKind::PartitionedTable, Some(true)), (RelationKind::Table, None)] {
            let mut catalogue = Catalogue::default();
            catalogue.insert(Relation { kind, ..testing::table(tables[0]) });
            catalogue.insert(testing::table(tables[1]));
            let graph = JoinGraph::new(&catalogue, &[], BTreeSet::new());
            assert_eq!(of(&graph, "lines.order_id>orders.order_id"), want);
        }
    }

    #[test]
    fn a_join_that_is_a_foreign_key_too_is_one_join_with_a_note() {
        let graph = JoinGraph::new(
            &catalogue(SHOP, KEYS),
            &[manual("customers.cust_id", "orders.cust_id")],
            BTreeSet::new(),
        );
        let join = graph.of(&TableRef::new("public", "customers")).next().unwrap();
        assert_eq!((join.origin, join.note.as_deref()), (JoinOrigin::ForeignKey, Some("note")));
    }

    #[test]
    fn guesses_need_a_name_that_leaves_no_doubt_and_an_equal_type() {
        for (tables, want) in [
            (
                &["customers: id integer*", "orders: id integer*, customer_id integer"][..],
                Some("inferred orders.customer_id>customers.id"),
            ),
            (
                &["customers: id integer*", "orders: id integer*, cust_id bigint"],
                Some("inferred orders.cust_id>customers.id"),
            ),
            (
                &["tbl_Customer: CustID integer*", "orders: id integer*, CustID integer"],
                Some("inferred orders.CustID>tbl_Customer.CustID"),
            ),
            (
                &["address: id integer*", "orders: id integer*, billing_address_id integer"],
                Some("inferred orders.billing_address_id>address.id"),
            ),
            (
                &["author: aid integer*", "writes: aid integer, pid integer"],
                Some("inferred writes.aid>author.aid"),
            ),
            // Another type, a table that only looks near, two that could be meant, a key that means nothing.
            (&["customers: id text*", "orders: id integer*, customer_id integer"], None),
            (&["customers: id integer*", "orders: id integer*, customer_name text"], None),
            (&["old_log: pid integer*", "new_log: pid integer*", "writes: pid integer"], None),
            (&["a: id integer*", "b: id integer*"], None),
            // The archive has the same key; the table whose name it is wins.
            (
                &["bills: bill_id integer*", "bill_archive: bill_id integer*", "payments: bill_id integer"],
                Some("inferred payments.bill_id>bills.bill_id"),
            ),
        ] {
            let graph = JoinGraph::new(&catalogue(tables, &[]), &[], BTreeSet::new());
            let got: Vec<String> = graph
                .all()
                .iter()
                .filter(|join| join.from.name != "bill_archive")
                .inspect(|join| assert!(!join.verified() && join.optional))
                .map(shown)
                .collect();
            assert_eq!(got, want.into_iter().collect::<Vec<_>>(), "{tables:?}");
        }
    }

    #[test]
    fn the_path_is_the_shortest_and_verified_where_it_can_be() {
        let tables = &[
            "a: a_id integer*, c_id integer",
            "b: b_id integer*, a_id integer",
            "c: c_id integer*, b_id integer",
            "d: x integer",
        ];
        let keys = &[("b", "a_id", "a", "a_id"), ("c", "b_id", "b", "b_id")];
        let catalogue = catalogue(tables, keys);
        let table = |name: &str| TableRef::new("public", name);
        let graph = JoinGraph::new(&catalogue, &[], BTreeSet::new());
        let path = |from: &str, to: &str, hops: usize| -> Vec<String> {
            graph.path(&table(from), &table(to), hops).iter().map(shown).collect()
        };
        // The guess a.c_id>c.c_id is shorter, the foreign keys are verified.
        assert_eq!(path("a", "c", 6), ["foreign-key b.a_id>a.a_id", "foreign-key c.b_id>b.b_id"]);
        assert_eq!(path("a", "c", 1), ["inferred a.c_id>c.c_id"]);
        assert_eq!(path("a", "d", 6), Vec::<String>::new());
        assert_eq!(path("a", "a", 6), Vec::<String>::new());
        let dead = JoinGraph::new(&catalogue, &[], BTreeSet::from([table("b")]));
        let around: Vec<String> = dead.path(&table("a"), &table("c"), 6).iter().map(shown).collect();
        assert_eq!(around, ["inferred a.c_id>c.c_id"], "a dead table is no way through");
        assert_eq!(dead.path(&table("a"), &table("b"), 6).len(), 1, "but it can be an end");
    }
}
