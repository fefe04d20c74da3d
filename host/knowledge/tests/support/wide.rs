//! A catalogue of fifteen hundred tables of forty columns, which nobody made for a test of its words.

use airlock_types::catalogue::{Column, Relation, TypeFamily};
use airlock_types::{Catalogue, TableRef};

const THINGS: [&str; 25] = [
    "order", "invoice", "payment", "shipment", "product", "customer", "employee", "supplier", "contract",
    "asset", "ticket", "visit", "claim", "policy", "account", "journal", "budget", "project", "task",
    "sensor", "alarm", "route", "vehicle", "parcel", "store",
];
const KINDS: [&str; 20] = [
    "header", "line", "history", "status", "type", "group", "note", "archive", "forecast", "target",
    "region", "audit", "summary", "daily", "monthly", "price", "cost", "tax", "link", "snapshot",
];
const AREAS: [&str; 3] = ["retail", "wholesale", "export"];

fn column(name: String) -> Column {
    Column {
        name,
        sql_type: "text".into(),
        type_name: TableRef::new("pg_catalog", "text"),
        is_array: false,
        family: TypeFamily::Text,
        nullable: true,
        generated: false,
        comment: None,
        enum_labels: Vec::new(),
    }
}

/// The catalogue.
pub fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue { search_path: vec!["public".into()], ..Catalogue::default() };
    for (area, thing, kind) in AREAS.iter().flat_map(|area| {
        THINGS.iter().flat_map(move |thing| KINDS.iter().map(move |kind| (area, thing, kind)))
    }) {
        let name = format!("{area}_{thing}_{kind}");
        let mut columns = vec![column(format!("{thing}_id"))];
        let of =
            |words: &[&'static str], at: usize| words.iter().cycle().nth(at).copied().unwrap_or_default();
        columns.extend((0..39).map(|number| {
            column(format!("{}_{}", of(&THINGS, number), of(&KINDS, (number * 7 + thing.len()) % 20)))
        }));
        catalogue.insert(Relation {
            primary_key: vec![format!("{thing}_id")],
            ..Relation::table(TableRef::new("public", name), columns)
        });
    }
    catalogue
}
