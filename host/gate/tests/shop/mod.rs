//! A small catalogue made by hand: a shop with an enum, a composite, a domain with a check, and traps.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::Arc;

use airlock_gate::{AllowedFunction, Gate, Policy};
use airlock_types::TableRef;
use airlock_types::catalogue::{
    CastObject, Catalogue, Column, FunctionObject, OperatorObject, Relation, RelationKind, TypeFamily,
    TypeKind, TypeObject,
};

fn relation(schema: &str, name: &str, columns: &[(&str, &str)]) -> Relation {
    let columns = columns.iter().map(|(name, of)| {
        let (element, is_array) = of.strip_suffix("[]").map_or((*of, false), |element| (element, true));
        let (schema, of) = element.split_once('.').unwrap_or(("pg_catalog", element));
        Column {
            name: (*name).to_owned(),
            sql_type: of.to_owned(),
            type_name: TableRef::new(schema, of),
            is_array,
            family: TypeFamily::Other,
            nullable: true,
            generated: false,
            comment: None,
            enum_labels: Vec::new(),
        }
    });
    Relation {
        table: TableRef::new(schema, name),
        kind: RelationKind::Table,
        comment: None,
        row_estimate: None,
        columns: columns.collect(),
        primary_key: Vec::new(),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        row_security: false,
    }
}

fn function(schema: &str, name: &str, arguments: &[&str], extension: Option<&str>) -> FunctionObject {
    FunctionObject {
        schema: schema.to_owned(),
        name: name.to_owned(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        kind: 'f',
        extension: extension.map(str::to_owned),
        body: None,
    }
}

fn named(name: &str, kind: TypeKind) -> TypeObject {
    TypeObject {
        name: TableRef::new("shop", name),
        kind,
        base: None,
        has_checks: false,
        attributes: Vec::new(),
        attribute_names: Vec::new(),
        extension: None,
    }
}

/// The catalogue, as a server of this version has it.
pub fn catalogue(server_version: u32) -> Catalogue {
    let text = || TableRef::new("pg_catalog", "text");
    let mut catalogue = Catalogue {
        server_version,
        database: "gate".to_owned(),
        search_path: vec!["shop".to_owned(), "public".to_owned()],
        functions: vec![
            function("shop", "spill", &["shop.customers"], None),
            function("shop", "net_price", &["numeric"], None),
            function("shop", "initcap", &["shop.address"], None),
            function("public", "similarity", &["text", "text"], Some("pg_trgm")),
            function("public", "set_limit", &["real"], Some("pg_trgm")),
            function("public", "max", &["citext"], Some("citext")),
            function("public", "each", &["hstore"], Some("hstore")),
            function("public", "crypt", &["text", "text"], Some("pgcrypto")),
        ],
        operators: vec![
            OperatorObject {
                schema: "shop".to_owned(),
                name: "#".to_owned(),
                left: Some("text".to_owned()),
                right: Some("text".to_owned()),
                extension: None,
            },
            OperatorObject {
                schema: "public".to_owned(),
                name: "%>".to_owned(),
                left: Some("text".to_owned()),
                right: Some("text".to_owned()),
                extension: Some("pg_trgm".to_owned()),
            },
        ],
        casts: [
            ("address", text(), 'e'),
            ("mood", TableRef::new("pg_catalog", "json"), 'e'),
            ("wish", text(), 'i'),
        ]
        .into_iter()
        .map(|(source, target, context)| CastObject {
            source: TableRef::new("shop", source),
            target,
            context,
            function_schema: Some("shop".to_owned()),
            extension: None,
        })
        .collect(),
        types: vec![
            named("status", TypeKind::Enum),
            named("mood", TypeKind::Enum),
            named("wish", TypeKind::Enum),
            TypeObject {
                attributes: vec![text(), text()],
                attribute_names: vec!["street".to_owned(), "city".to_owned()],
                ..named("address", TypeKind::Composite)
            },
            TypeObject { base: Some(text()), has_checks: true, ..named("email", TypeKind::Domain) },
            TypeObject { base: Some(text()), ..named("label", TypeKind::Domain) },
        ],
        shadowing: vec![TableRef::new("shop", "events")],
        ..Catalogue::default()
    };
    for listed in [
        relation(
            "shop",
            "customers",
            &[
                ("id", "int4"),
                ("name", "text"),
                ("email", "shop.email"),
                ("home", "shop.address"),
                ("tags", "text[]"),
            ],
        ),
        relation(
            "shop",
            "orders",
            &[
                ("id", "int8"),
                ("customer_id", "int4"),
                ("status", "shop.status"),
                ("total", "numeric"),
                ("placed_at", "timestamptz"),
            ],
        ),
        relation("shop", "lines", &[("order_id", "int8"), ("qty", "int4"), ("doc", "tsvector")]),
        relation(
            "shop",
            "visits",
            &[("id", "int4"), ("mood", "shop.mood"), ("moods", "shop.mood[]"), ("wish", "shop.wish")],
        ),
        relation("public", "events", &[("id", "int8"), ("props", "jsonb")]),
    ] {
        catalogue.insert(listed);
    }
    catalogue
}

/// A gate over it that allows `shop.net_price(numeric)`.
pub fn gate(server_version: u32) -> Gate {
    let allowed = AllowedFunction { signature: "shop.net_price(numeric)".to_owned(), body: None };
    Gate::new(
        Arc::new(catalogue(server_version)),
        Policy { allowed_functions: vec![allowed], ..Policy::default() },
    )
}
