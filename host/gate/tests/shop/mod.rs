//! A small catalogue made by hand: a shop with an enum, a composite, a domain with a check, and traps.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::Arc;

use airlock_gate::{AllowedFunction, Gate, Policy};
use airlock_types::TableRef;
use airlock_types::catalogue::{
    CastObject, Catalogue, Column, FunctionObject, OperatorObject, Relation, ReturnedColumn, Returns,
    TypeFamily, TypeKind, TypeObject,
};

fn relation(schema: &str, name: &str, columns: &[(&str, &str)]) -> Relation {
    let columns = columns.iter().map(|(name, of)| {
        let (type_name, is_array) = type_of(of);
        Column {
            name: (*name).to_owned(),
            sql_type: type_name.name.clone(),
            type_name,
            is_array,
            family: TypeFamily::Other,
            nullable: true,
            generated: false,
            comment: None,
            enum_labels: Vec::new(),
        }
    });
    Relation::table(TableRef::new(schema, name), columns.collect())
}

/// A function with these arguments.
pub fn function(schema: &str, name: &str, arguments: &[&str], extension: Option<&str>) -> FunctionObject {
    FunctionObject {
        schema: schema.to_owned(),
        name: name.to_owned(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        kind: 'f',
        extension: extension.map(str::to_owned),
        body: None,
        returns: None,
    }
}

/// The same with what it returns: a type, or columns `name type`.
fn returning(function: FunctionObject, of: &str, columns: &[&str]) -> FunctionObject {
    let columns = columns.iter().map(|column| {
        let (name, of) = column.split_once(' ').unwrap_or(("", column));
        let (type_name, is_array) = type_of(of);
        ReturnedColumn { name: name.to_owned(), type_name, is_array }
    });
    let (type_name, is_array) = type_of(of);
    FunctionObject { returns: Some(Returns { type_name, is_array, columns: columns.collect() }), ..function }
}

/// A type as it is written in these tables: `int4`, `shop.mood`, `text[]`.
fn type_of(written: &str) -> (TableRef, bool) {
    let (element, is_array) = written.strip_suffix("[]").map_or((written, false), |element| (element, true));
    let (schema, of) = element.split_once('.').unwrap_or(("pg_catalog", element));
    (TableRef::new(schema, of), is_array)
}

fn named(name: &str, kind: TypeKind) -> TypeObject {
    TypeObject {
        name: TableRef::new("shop", name),
        kind,
        base: None,
        has_checks: false,
        checks: Vec::new(),
        attributes: Vec::new(),
        attribute_names: Vec::new(),
        extension: None,
    }
}

/// A domain over text with these checks, as PostgreSQL prints them.
fn checked(name: &str, checks: &[&str]) -> TypeObject {
    TypeObject {
        base: Some(TableRef::new("pg_catalog", "text")),
        has_checks: true,
        checks: checks.iter().map(|&check| check.to_owned()).collect(),
        ..named(name, TypeKind::Domain)
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
            returning(function("shop", "net_price", &["numeric"], None), "numeric", &[]),
            returning(function("shop", "home_of", &["integer"], None), "shop.address", &[]),
            returning(function("shop", "homes", &[], None), "shop.address", &[]),
            returning(function("shop", "moods_of", &["integer"], None), "shop.mood[]", &[]),
            returning(
                function("shop", "visits_of", &["integer"], None),
                "record",
                &["n int4", "home shop.address"],
            ),
            returning(function("shop", "same", &["anyelement"], None), "anyelement", &[]),
            returning(
                function("shop", "total_of", &["integer", "text"], None),
                "numeric",
                &["total numeric"],
            ),
            returning(function("shop", "secrets_of", &["integer"], None), "shop.secrets", &[]),
            returning(function("shop", "anything", &[], None), "record", &[]),
            function("shop", "untold", &["integer"], None),
            function("shop", "initcap", &["shop.address"], None),
            function("public", "similarity", &["text", "text"], Some("pg_trgm")),
            function("public", "set_limit", &["real"], Some("pg_trgm")),
            function("public", "max", &["citext"], Some("citext")),
            returning(
                function("public", "each", &["hstore"], Some("hstore")),
                "record",
                &["key text", "value text"],
            ),
            function("public", "st_buffer", &["geometry", "float8", "integer"], Some("postgis")),
            function("public", "st_generatepoints", &["geometry", "integer"], Some("postgis")),
            function("public", "st_segmentize", &["geometry", "float8"], Some("postgis")),
            function("public", "st_hexagongrid", &["float8", "geometry"], Some("postgis")),
            function("public", "st_area", &["geometry"], Some("postgis")),
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
            checked("zip", &["(VALUE ~ '^[0-9]{5}$'::text)", "(length(VALUE) < 9)"]),
            checked("own", &["(shop.net_price((length(VALUE))::numeric) > (0)::numeric)"]),
            checked("nested", &["((VALUE)::shop.zip IS NOT NULL)"]),
            checked("slow", &["((VALUE <> ''::text) AND (pg_sleep((5)::double precision) IS NULL))"]),
            checked("spilling", &["(shop.spill(VALUE) IS NULL)"]),
            checked("looked_up", &["((VALUE)::regclass IS NOT NULL)"]),
            checked("operated", &["(VALUE OPERATOR(shop.#) 'x'::text)"]),
        ],
        shadowing: vec![TableRef::new("shop", "events"), TableRef::new("shop", "size")],
        ..Catalogue::default()
    };
    let size = TypeObject { name: TableRef::new("public", "size"), ..named("size", TypeKind::Enum) };
    catalogue.types.push(size);
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

/// A gate over it that allows the functions of the shop that are no traps.
pub fn gate(server_version: u32) -> Gate {
    let allowed_functions = [
        "net_price(numeric)",
        "home_of(integer)",
        "homes()",
        "moods_of(integer)",
        "visits_of(integer)",
        "same(anyelement)",
        "total_of(integer, text)",
        "secrets_of(integer)",
        "anything()",
        "untold(integer)",
    ];
    let allowed_functions = allowed_functions
        .map(|signature| AllowedFunction { signature: format!("shop.{signature}"), body: None });
    Gate::new(
        Arc::new(catalogue(server_version)),
        Policy { allowed_functions: allowed_functions.into(), ..Policy::default() },
    )
}
