//! Whether a type holds what another one held.
//!
//! Wider is what every value of before fits into and what every comparison, sum and rounding of before comes out the same
//! in. In doubt it is not wider: a total that is silently rounded is worse than one alert too many.

use std::cmp::Ordering;

use super::ColumnType;

/// How a type stands to the one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The same type.
    Same,
    /// It holds all that the old one held.
    Wider,
    /// Of the same kind, and it holds less.
    Narrower,
    /// Of another kind.
    Other,
}

/// How the type of now stands to the type of before.
#[must_use]
pub fn fit(was: &ColumnType, now: &ColumnType) -> Fit {
    if was.is_array != now.is_array {
        return Fit::Other;
    }
    let (old, new) = (was.type_name.name.as_str(), now.type_name.name.as_str());
    let (before, after) = (modifiers(&was.sql_type), modifiers(&now.sql_type));
    if was.type_name == now.type_name {
        return modified(old, (&was.sql_type, &before), (&now.sql_type, &after));
    }
    let builtin = "pg_catalog";
    if was.type_name.schema == builtin && now.type_name.schema == builtin {
        return changed(old, &before, new, &after);
    }
    // A domain, an enum or a type of an extension is what its owner says; text holds every label of an enum.
    Fit::Other
}

/// The numbers in the brackets of a type: `numeric(12,2)` has 12 and 2.
fn modifiers(sql_type: &str) -> Vec<i32> {
    let Some((_, rest)) = sql_type.split_once('(') else { return Vec::new() };
    let Some((inside, _)) = rest.split_once(')') else { return Vec::new() };
    inside.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// The same type under other modifiers.
fn modified(name: &str, (was, before): (&str, &[i32]), (now, after): (&str, &[i32])) -> Fit {
    if was == now {
        return Fit::Same;
    }
    match name {
        "numeric" => by(decimals(before), decimals(after)),
        "varchar" | "bpchar" | "varbit" => by(limit(before), limit(after)),
        "time" | "timetz" | "timestamp" | "timestamptz" => by(fraction(before), fraction(after)),
        "interval" => {
            let fields = |text: &str| text.split('(').next().unwrap_or_default().trim().to_owned();
            match (fields(was), fields(now)) {
                (was, now) if was == now => by(fraction(before), fraction(after)),
                // Every field is kept then, and more.
                (_, now) if now == "interval" => match by(fraction(before), fraction(after)) {
                    Fit::Same => Fit::Wider,
                    fit => fit,
                },
                _ => Fit::Narrower,
            }
        }
        // A fixed length that changes changes every value; what else has modifiers is not known here.
        _ if after.is_empty() => Fit::Wider,
        _ => Fit::Narrower,
    }
}

/// Digits before and after the point; without bounds when there are none.
fn decimals(modifiers: &[i32]) -> Option<(i32, i32)> {
    match modifiers {
        [] => None,
        [precision] => Some((*precision, 0)),
        [precision, scale, ..] => Some((precision - scale, *scale)),
    }
}

/// A number of characters or bits; without bounds when there is none.
fn limit(modifiers: &[i32]) -> Option<(i32, i32)> {
    modifiers.first().map(|limit| (*limit, 0))
}

/// Digits of a second; six when nothing is said.
fn fraction(modifiers: &[i32]) -> Option<(i32, i32)> {
    Some((modifiers.first().copied().unwrap_or(6), 0))
}

/// Two bounds in which more holds more, each with two sides.
fn by(before: Option<(i32, i32)>, after: Option<(i32, i32)>) -> Fit {
    match (before, after) {
        (before, after) if before == after => Fit::Same,
        (_, None) => Fit::Wider,
        (None, Some(_)) => Fit::Narrower,
        (Some((whole, part)), Some((wider, finer))) => {
            if whole.cmp(&wider) != Ordering::Greater && part.cmp(&finer) != Ordering::Greater {
                Fit::Wider
            } else {
                Fit::Narrower
            }
        }
    }
}

/// Decimal digits that a whole number of this type may have.
fn digits(name: &str) -> Option<i32> {
    match name {
        "int2" => Some(5),
        "int4" => Some(10),
        "int8" => Some(19),
        _ => None,
    }
}

/// Two types of PostgreSQL's own.
fn changed(old: &str, before: &[i32], new: &str, after: &[i32]) -> Fit {
    let number = |name: &str| matches!(name, "int2" | "int4" | "int8" | "numeric" | "float4" | "float8");
    let text = |name: &str| matches!(name, "text" | "varchar" | "bpchar" | "name");
    match (old, new) {
        ("int2", "int4" | "int8" | "float4" | "float8")
        | ("int4", "int8" | "float8")
        | ("float4", "float8") => Fit::Wider,
        ("int2" | "int4" | "int8", "numeric") => match (digits(old), decimals(after)) {
            (_, None) => Fit::Wider,
            (Some(digits), Some((whole, part))) if whole >= digits && part >= 0 => Fit::Wider,
            _ => Fit::Narrower,
        },
        _ if number(old) && number(new) => Fit::Narrower,
        ("varchar" | "name", "text") => Fit::Wider,
        ("name", "varchar") if after.first().is_none_or(|limit| *limit >= 63) => Fit::Wider,
        ("text", "varchar") if after.is_empty() => Fit::Wider,
        // Trailing blanks count in one and not in the other: the same comparison finds other rows.
        _ if text(old) && text(new) => Fit::Narrower,
        ("json", "jsonb") => Fit::Wider,
        ("jsonb", "json") => Fit::Narrower,
        ("bit", "varbit") => match (before.first(), after.first()) {
            (_, None) => Fit::Wider,
            (before, Some(after)) if before.copied().unwrap_or(1) <= *after => Fit::Wider,
            _ => Fit::Narrower,
        },
        ("timestamp" | "timestamptz", "date") => Fit::Narrower,
        _ => Fit::Other,
    }
}

#[cfg(test)]
mod tests {
    use airlock_types::TableRef;

    use super::*;

    /// `format_type`'s words with the names of `pg_type`.
    fn column(sql_type: &str) -> ColumnType {
        let is_array = sql_type.ends_with("[]");
        let bare = sql_type.trim_end_matches("[]");
        let without = match (bare.find('('), bare.find(')')) {
            (Some(open), Some(close)) => format!("{}{}", &bare[..open], &bare[close + 1..]),
            _ => bare.to_owned(),
        };
        let name = match without.as_str() {
            "smallint" => "int2",
            "integer" => "int4",
            "bigint" => "int8",
            "real" => "float4",
            "double precision" => "float8",
            "character varying" => "varchar",
            "character" => "bpchar",
            "bit varying" => "varbit",
            "timestamp without time zone" => "timestamp",
            "timestamp with time zone" => "timestamptz",
            "time without time zone" => "time",
            interval if interval.starts_with("interval") => "interval",
            other => other,
        };
        let type_name = match name.split_once('.') {
            Some((schema, name)) => TableRef::new(schema, name),
            None => TableRef::new("pg_catalog", name),
        };
        ColumnType { name: "c".to_owned(), sql_type: sql_type.to_owned(), type_name, is_array }
    }

    #[test]
    fn wider_is_not_drift_and_narrower_is() {
        use Fit::{Narrower, Other, Same, Wider};
        for (was, now, want) in [
            ("integer", "integer", Same),
            ("smallint", "integer", Wider),
            ("integer", "bigint", Wider),
            ("bigint", "integer", Narrower),
            ("integer", "numeric", Wider),
            ("integer", "numeric(12,2)", Wider),
            ("integer", "numeric(11,2)", Narrower),
            ("bigint", "numeric(19,0)", Wider),
            ("numeric", "integer", Narrower),
            ("numeric(4,0)", "integer", Narrower),
            ("integer", "double precision", Wider),
            ("bigint", "double precision", Narrower),
            ("integer", "real", Narrower),
            ("real", "double precision", Wider),
            ("double precision", "real", Narrower),
            ("numeric(10,2)", "numeric(12,2)", Wider),
            ("numeric(10,2)", "numeric(12,4)", Wider),
            ("numeric(10,2)", "numeric(10,4)", Narrower),
            ("numeric(12,2)", "numeric(12,0)", Narrower),
            ("numeric(10,2)", "numeric(10)", Narrower),
            ("numeric(10)", "numeric(12)", Wider),
            ("numeric(10,2)", "numeric", Wider),
            ("numeric", "numeric(20,4)", Narrower),
            ("numeric(10,2)", "double precision", Narrower),
            ("numeric(10,2)", "money", Other),
            ("character varying(10)", "character varying(20)", Wider),
            ("character varying(20)", "character varying(10)", Narrower),
            ("character varying(20)", "character varying", Wider),
            ("character varying(20)", "text", Wider),
            ("character varying", "text", Wider),
            ("text", "character varying", Wider),
            ("text", "character varying(200)", Narrower),
            ("character(3)", "character(5)", Wider),
            ("character(3)", "text", Narrower),
            ("text", "citext", Other),
            ("text", "integer", Other),
            ("integer", "text", Other),
            ("date", "timestamp without time zone", Other),
            ("timestamp without time zone", "date", Narrower),
            ("timestamp without time zone", "timestamp with time zone", Other),
            ("timestamp(0) without time zone", "timestamp(3) without time zone", Wider),
            ("timestamp without time zone", "timestamp(0) without time zone", Narrower),
            ("timestamp(6) without time zone", "timestamp without time zone", Same),
            ("interval", "interval day to second", Narrower),
            ("interval day to second", "interval", Wider),
            ("json", "jsonb", Wider),
            ("jsonb", "json", Narrower),
            ("bit(3)", "bit(4)", Narrower),
            ("bit varying(3)", "bit varying(4)", Wider),
            ("boolean", "integer", Other),
            ("integer[]", "bigint[]", Wider),
            ("bigint[]", "integer[]", Narrower),
            ("integer", "integer[]", Other),
            ("shop.status", "shop.status", Same),
            ("shop.status", "text", Other),
            ("text", "shop.status", Other),
            ("public.vector(384)", "public.vector(768)", Narrower),
        ] {
            assert_eq!(fit(&column(was), &column(now)), want, "{was} -> {now}");
        }
    }
}
