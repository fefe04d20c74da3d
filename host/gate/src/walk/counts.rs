//! How large a number the text itself can make: what is repeated that often is as large. Numbers that are stored are the
//! data's own affair; what is not known to be small is taken to be without end.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, FuncCall, a_const};

use super::Walk;
use super::limits::constant;
use crate::scope::{Column, STORED_COUNT, UNBOUNDED, Value};

/// Fields of a date that are small numbers; the others count seconds since 1970, or finer.
const SMALL_FIELDS: &[&str] = &[
    "century", "day", "decade", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter",
    "second", "week", "year",
];

/// What a literal counts for.
pub(super) fn of_constant(literal: &AConst) -> u64 {
    let known = constant(&NodeEnum::AConst(literal.clone()))
        .map(|number| u64::try_from(number.unsigned_abs()).unwrap_or(UNBOUNDED));
    match &literal.val {
        None => 0,
        Some(a_const::Val::Boolval(_)) => 1,
        // Text without a digit is no number; any other may be one in a spelling that is not read here.
        Some(a_const::Val::Sval(text)) if !text.sval.bytes().any(|byte| byte.is_ascii_digit()) => {
            STORED_COUNT
        }
        Some(_) => known.unwrap_or(UNBOUNDED),
    }
}

/// What an operator of `pg_catalog` makes of such numbers; `right` is the node on its right side.
pub(super) fn of_operator(name: &str, left: Option<u64>, right: u64, node: Option<&NodeEnum>) -> u64 {
    match (name, left) {
        ("+" | "-" | "@", None) => right,
        ("+" | "-" | "|" | "#", Some(left)) => left.saturating_add(right),
        ("*", Some(left)) => left.max(1).saturating_mul(right.max(1)),
        ("/", Some(left)) => match node.and_then(constant).map(i128::unsigned_abs) {
            _ if left == UNBOUNDED => UNBOUNDED,
            // Dividing by a fraction multiplies.
            Some(0) => UNBOUNDED,
            Some(by) => left / u64::try_from(by).unwrap_or(UNBOUNDED),
            None => left,
        },
        ("%" | "&", Some(left)) => left.min(right),
        (">>", Some(left)) => left,
        ("->" | "->>" | "#>" | "#>>", Some(left)) => left,
        ("=" | "<>" | "<" | "<=" | ">" | ">=" | "~~" | "!~~" | "~~*" | "!~~*", _) => 1,
        _ => UNBOUNDED,
    }
}

/// The largest of what values count for.
pub(super) fn largest(values: &[Value]) -> u64 {
    values.iter().map(|value| value.count).max().unwrap_or_default()
}

/// Whether the turns of a recursive query let a number grow faster and faster.
pub(super) fn accelerates(first: &[Column], second: &[Column]) -> bool {
    first.iter().zip(second).any(|(first, second)| {
        let (first, second) = (first.value.count, second.value.count);
        second.saturating_sub(first) > first.saturating_sub(STORED_COUNT)
    })
}

impl Walk<'_> {
    /// What the result of a function of `pg_catalog` counts for.
    pub(super) fn count_of_call(&self, call: &FuncCall, name: &str, values: &[Value]) -> u64 {
        let count = |index: usize| values.get(index).map_or(0, |value| value.count);
        let bytes = values.first().map_or(0, |value| value.bytes);
        match name {
            "abs" | "any_value" | "array_agg" | "avg" | "ceil" | "ceiling" | "first_value" | "float4"
            | "float8" | "floor" | "generate_series" | "int2" | "int4" | "int8" | "lag" | "last_value"
            | "lead" | "max" | "min" | "nth_value" | "numeric" | "round" | "trunc" | "unnest" => {
                largest(values)
            }
            "mod" => count(0).min(count(1)),
            "sum" => count(0).saturating_mul(self.series).max(STORED_COUNT),
            "count" => self.series.max(STORED_COUNT),
            "array_length" | "array_lower" | "array_upper" | "bit_length" | "cardinality" | "char_length"
            | "character_length" | "json_array_length" | "jsonb_array_length" | "length" | "octet_length"
            | "position" | "regexp_count" | "strpos" => bytes.max(STORED_COUNT),
            "cume_dist" | "dense_rank" | "ntile" | "num_nonnulls" | "num_nulls" | "percent_rank"
            | "random" | "rank" | "row_number" | "sign"
                if largest(values) <= STORED_COUNT || !matches!(name, "random") =>
            {
                self.series.max(STORED_COUNT)
            }
            "width_bucket" => count(3),
            "date_part" | "extract" => match call.args.first().and_then(|node| node.node.as_ref()) {
                Some(NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(field)), .. }))
                    if SMALL_FIELDS.contains(&field.sval.as_str()) =>
                {
                    STORED_COUNT
                }
                _ => UNBOUNDED,
            },
            _ => UNBOUNDED,
        }
    }
}
