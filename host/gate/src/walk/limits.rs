//! How large a value the text itself can build, and how many rows: estimated from its literals, before anything runs.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, AExprKind, FuncCall, Node, a_const};

use super::expression::MOST_DIGITS;
use super::names::strings;
use super::{Checked, Walk, inner};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, UNBOUNDED, Value};

/// Largest constant exponent: numeric powers grow in digits and in time.
const EXPONENT: i128 = 1_000;
/// Largest constant argument of `factorial`.
const FACTORIAL: i128 = 2_000;
/// Digits of the factorial of that.
const FACTORIAL_DIGITS: u64 = 5_736;
/// Several series together may make this many times what one may.
const SERIES_TOGETHER: u64 = 10;
/// Bytes of a point.
const POINT_BYTES: u64 = 16;
/// Aggregates over series may build this many times what one value may.
const AGGREGATED: u64 = 64;

/// What a value counts for at the start of a turn of a recursive query.
pub(super) const TURN_BYTES: u64 = 1_000;

impl Walk<'_> {
    /// Refuses a value that the text alone makes large.
    pub(super) fn small_enough(&self, bytes: u64, location: i32) -> Checked<()> {
        if bytes <= self.limits.value_bytes {
            return Ok(());
        }
        Err(large(format!(
            "the statement builds a value of about {bytes} bytes, the limit is {}",
            self.limits.value_bytes
        ))
        .at(location))
    }

    /// The bytes of values put together into an array, a row or JSON: written as text each of its quotes and backslashes
    /// may become two, and thirty such writings, one inside the other, make a gigabyte of one backslash.
    pub(super) fn quoted<'v>(&self, values: impl Iterator<Item = &'v Value>, location: i32) -> Checked<u64> {
        let sum = values.fold(0_u64, |sum, value| sum.saturating_add(value.bytes));
        let bytes = if self.turning { sum } else { sum.saturating_mul(2) };
        self.small_enough(bytes, location)?;
        Ok(bytes)
    }

    /// Refuses a recursive query whose turns multiply a value: thirty of them make a gigabyte of one letter.
    pub(super) fn grows_slowly(&self, before: &[Column], after: &[Column]) -> Checked<()> {
        for (before, after) in before.iter().zip(after) {
            let (was, is) = (before.value.bytes, after.value.bytes);
            if is >= 2 * TURN_BYTES && is.saturating_mul(5) > was.saturating_mul(7) {
                return Err(large(format!("each turn of the recursive query multiplies \"{}\"", after.name))
                    .hint("Let a turn add to a value, not multiply it."));
            }
        }
        Ok(())
    }

    /// Refuses a constant exponent that is out of all proportion.
    pub(super) fn exponent(&self, node: Option<&NodeEnum>, location: i32) -> Checked<()> {
        match node.and_then(constant) {
            Some(exponent) if exponent.abs() > EXPONENT => {
                Err(large(format!("the exponent {exponent} is over the limit of {EXPONENT}")).at(location))
            }
            _ => Ok(()),
        }
    }

    /// The size of what a function of `pg_catalog` returns, its arguments checked where they decide it.
    pub(super) fn built_bytes(&mut self, call: &FuncCall, name: &str, values: &[Value]) -> Checked<u64> {
        let argument = |index: usize| call.args.get(index).and_then(|node| node.node.as_ref()).map(unnamed);
        let bytes = |index: usize| values.get(index).map_or(0, |value| value.bytes);
        let sum = values.iter().fold(0_u64, |sum, value| sum.saturating_add(value.bytes));
        let at = call.location;
        let built = match name {
            "repeat" => bytes(0).max(1).saturating_mul(self.repetitions(argument(1), values.get(1), at)?),
            "lpad" | "rpad" => self.repetitions(argument(1), values.get(1), at)?,
            // A polygon of so many points about a circle.
            "polygon" if values.len() > 1 => {
                POINT_BYTES * self.repetitions(argument(0), values.first(), at)?
            }
            "array_fill" => {
                let elements = argument(1).and_then(dimensions).ok_or_else(|| {
                    large("the size of array_fill must be written as numbers: ARRAY[3, 4]").at(at)
                })?;
                if elements > self.limits.repetitions {
                    return Err(self.too_many(elements, at));
                }
                bytes(0).max(8).saturating_mul(elements)
            }
            "replace" | "regexp_replace" => {
                let pattern = bytes(1).max(1);
                bytes(0).saturating_mul(bytes(2).div_ceil(pattern).max(1))
            }
            "ts_rewrite" => bytes(0).saturating_mul(bytes(2).max(1)),
            "array_to_string" => bytes(0).saturating_mul(bytes(1).max(1)).saturating_add(bytes(2)),
            "format" => {
                let Some(width) = argument(0).and_then(widest_format) else {
                    return Err(
                        large("the first argument of format must be a literal without * in it").at(at)
                    );
                };
                if width > self.limits.repetitions {
                    return Err(self.too_many(width, at));
                }
                sum.saturating_add(width)
            }
            "concat" | "concat_ws" | "array_append" | "array_cat" | "array_prepend" | "jsonb_insert"
            | "jsonb_set" | "overlay" => sum,
            "array_to_json" | "json_build_array" | "json_build_object" | "json_object"
            | "jsonb_build_array" | "jsonb_build_object" | "jsonb_object" | "row_to_json" | "to_json"
            | "to_jsonb" => self.quoted(values.iter(), at)?,
            "encode" | "quote_ident" | "quote_literal" | "quote_nullable" => bytes(0).saturating_mul(2),
            "pow" | "power" => {
                self.exponent(argument(1), at)?;
                let exponent = values.get(1).map_or(0, |value| value.count);
                return Ok(exponent.min(MOST_DIGITS).saturating_add(32));
            }
            "factorial" => {
                return match argument(0).and_then(constant) {
                    Some(number) if number > FACTORIAL => {
                        Err(large(format!("factorial of {number} is over the limit of {FACTORIAL}")).at(at))
                    }
                    _ => Ok(FACTORIAL_DIGITS),
                };
            }
            "generate_series" => {
                self.series(argument(0), argument(1), argument(2), at)?;
                return Ok(8);
            }
            "string_agg" | "array_agg" | "json_agg" | "jsonb_agg" | "xmlagg" | "json_object_agg"
            | "jsonb_object_agg" => {
                let together = sum.saturating_mul(self.series);
                if together > self.limits.value_bytes.saturating_mul(AGGREGATED) {
                    return Err(
                        large(format!("the aggregate builds a value of about {together} bytes")).at(at)
                    );
                }
                return self.quoted(values.iter(), at);
            }
            _ => return Ok(values.iter().map(|value| value.bytes).max().unwrap_or(0).max(8)),
        };
        self.small_enough(built, at)?;
        Ok(built)
    }

    /// How often something is repeated, when the text says; a bound of that when the data says.
    pub(super) fn repetitions(
        &self,
        node: Option<&NodeEnum>,
        value: Option<&Value>,
        location: i32,
    ) -> Checked<u64> {
        let limit = self.limits.repetitions;
        if let Some(count) = node.and_then(constant) {
            // Less than nothing is nothing.
            let count = u64::try_from(count.max(0)).unwrap_or(UNBOUNDED);
            return if count > limit { Err(self.too_many(count, location)) } else { Ok(count) };
        }
        match value.map_or(1, |value| value.count) {
            UNBOUNDED => Err(large("how often something is repeated has no bound here")
                .at(location)
                .hint("Bound it: least(n, 100).")),
            count if count > limit => Err(self.too_many(count, location).hint("Bound it: least(n, 100).")),
            _ => Ok(1_000.min(limit)),
        }
    }

    fn too_many(&self, count: u64, location: i32) -> Box<Refusal> {
        large(format!("{count} repetitions are over the limit of {}", self.limits.repetitions)).at(location)
    }

    /// A series with constant bounds: alone and together with the others of its FROM it must stay within reason.
    fn series(
        &mut self,
        from: Option<&NodeEnum>,
        until: Option<&NodeEnum>,
        step: Option<&NodeEnum>,
        location: i32,
    ) -> Checked<()> {
        let (Some(from), Some(until)) = (from, until) else { return Ok(()) };
        let rows = match (constant(from), constant(until), step.map_or(Some(1), constant)) {
            (Some(from), Some(until), Some(step)) if step != 0 => ((until - from) / step + 1).max(0),
            _ => match (days(from), days(until), step.and_then(steps_per_day)) {
                (from, until, _) if [from, until].into_iter().flatten().any(|day| day.abs() >= ENDLESS) => {
                    i128::MAX
                }
                (Some(from), Some(until), Some(per_day)) => {
                    // Estimated in whole numbers: f64 holds any count that matters here.
                    (((until - from).abs() * per_day) as i128).max(0)
                }
                _ => {
                    largest_literal(from, 0).max(largest_literal(until, 0)).min(i128::from(u64::MAX))
                        * i128::from(constant(until).is_some())
                }
            },
        };
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        self.series = self.series.saturating_mul(rows.max(1));
        let together = self.limits.series_rows.saturating_mul(SERIES_TOGETHER);
        if rows > self.limits.series_rows || self.series > together {
            return Err(large(format!(
                "the series makes {} rows, the limit is {}",
                rows.max(self.series),
                self.limits.series_rows
            ))
            .at(location)
            .hint("Use a shorter range or a wider step."));
        }
        Ok(())
    }
}

pub(super) fn large(message: impl Into<String>) -> Box<Refusal> {
    Refusal::new(RejectionCode::LargeValue, message)
}

/// The argument inside `name => argument`.
pub(super) fn unnamed(node: &NodeEnum) -> &NodeEnum {
    match node {
        NodeEnum::NamedArgExpr(named) => inner(&named.arg).unwrap_or(node),
        other => other,
    }
}

/// The bytes of a literal's value.
pub(super) fn constant_bytes(constant: &AConst) -> u64 {
    match &constant.val {
        Some(a_const::Val::Sval(text)) => text.sval.len() as u64,
        Some(a_const::Val::Bsval(bits)) => bits.bsval.len() as u64,
        // `1e100000` is written out with all its zeros.
        Some(a_const::Val::Fval(number)) => {
            let exponent = number.fval.split_once(['e', 'E']).map_or("0", |(_, exponent)| exponent);
            let zeros = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(MOST_DIGITS);
            (number.fval.len() as u64).saturating_add(zeros.min(MOST_DIGITS))
        }
        // NULL.
        None => 0,
        _ => 8,
    }
}

/// The whole number an expression of literals has.
pub(super) fn constant(node: &NodeEnum) -> Option<i128> {
    match node {
        NodeEnum::AConst(AConst { val: Some(value), .. }) => match value {
            a_const::Val::Ival(number) => Some(i128::from(number.ival)),
            a_const::Val::Fval(number) => whole(&number.fval),
            a_const::Val::Sval(text) => whole(text.sval.trim()),
            _ => None,
        },
        NodeEnum::TypeCast(cast) => inner(&cast.arg).and_then(constant),
        NodeEnum::AExpr(expression) if expression.kind == AExprKind::AexprOp as i32 => {
            let right = inner(&expression.rexpr).and_then(constant)?;
            let names = strings(&expression.name)?;
            let Some(left) = inner(&expression.lexpr) else {
                return match *names.last()? {
                    "-" => Some(-right),
                    "+" => Some(right),
                    _ => None,
                };
            };
            let left = constant(left)?;
            match *names.last()? {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" => left.checked_div(right),
                "^" => Some(left.checked_pow(u32::try_from(right).ok()?).unwrap_or(i128::MAX)),
                "<<" => Some(
                    left.checked_mul(1_i128.checked_shl(u32::try_from(right).ok()?)?).unwrap_or(i128::MAX),
                ),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The whole part of a number in digits.
fn whole(digits: &str) -> Option<i128> {
    digits.parse::<i128>().ok().or_else(|| {
        let number: f64 = digits.parse().ok()?;
        // Casting saturates, and what saturates is over every limit.
        number.is_finite().then_some(number as i128)
    })
}

/// The largest whole number that is written inside an expression.
fn largest_literal(node: &NodeEnum, depth: usize) -> i128 {
    if depth > 64 {
        return i128::MAX;
    }
    let list = |nodes: &[Node]| {
        nodes
            .iter()
            .filter_map(|node| node.node.as_ref())
            .map(|node| largest_literal(node, depth + 1))
            .max()
            .unwrap_or(0)
    };
    let one = |node: Option<&NodeEnum>| node.map_or(0, |node| largest_literal(node, depth + 1));
    if let Some(number) = constant(node) {
        return number;
    }
    match node {
        NodeEnum::AExpr(expression) => one(inner(&expression.lexpr)).max(one(inner(&expression.rexpr))),
        NodeEnum::TypeCast(cast) => one(inner(&cast.arg)),
        NodeEnum::FuncCall(call) => list(&call.args),
        NodeEnum::CoalesceExpr(coalesce) => list(&coalesce.args),
        NodeEnum::MinMaxExpr(minmax) if minmax.op == 2 => {
            // LEAST is how a careful writer bounds a number.
            minmax
                .args
                .iter()
                .filter_map(|node| node.node.as_ref())
                .filter_map(constant)
                .min()
                .unwrap_or(i128::MAX)
        }
        NodeEnum::MinMaxExpr(minmax) => list(&minmax.args),
        NodeEnum::CaseExpr(case) => list(&case.args).max(one(inner(&case.defresult))),
        NodeEnum::CaseWhen(when) => one(inner(&when.result)),
        NodeEnum::SubLink(link) => match inner(&link.subselect) {
            Some(NodeEnum::SelectStmt(query)) => list(&query.target_list).max(
                query
                    .values_lists
                    .iter()
                    .filter_map(|node| node.node.as_ref())
                    .map(|node| largest_literal(node, depth + 1))
                    .max()
                    .unwrap_or(0),
            ),
            _ => 0,
        },
        NodeEnum::ResTarget(target) => one(inner(&target.val)),
        NodeEnum::List(values) => list(&values.items),
        _ => 0,
    }
}

/// The number of elements that the dimensions of `array_fill` ask for.
fn dimensions(node: &NodeEnum) -> Option<u64> {
    match node {
        NodeEnum::AArrayExpr(array) => array.elements.iter().try_fold(1_u64, |product, element| {
            let size = constant(element.node.as_ref()?)?;
            product.checked_mul(u64::try_from(size).ok()?)
        }),
        NodeEnum::TypeCast(cast) => inner(&cast.arg).and_then(dimensions),
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => {
            let inside = text.sval.trim().strip_prefix('{')?.strip_suffix('}')?;
            inside.split(',').try_fold(1_u64, |product, size| product.checked_mul(size.trim().parse().ok()?))
        }
        _ => None,
    }
}

/// The largest width in a literal format; `None` when it is not a literal or takes a width from an argument.
fn widest_format(node: &NodeEnum) -> Option<u64> {
    let NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) = node else { return None };
    let mut widest = 0;
    for directive in text.sval.split('%').skip(1) {
        let spec: &str = directive.split(|c: char| c.is_ascii_alphabetic()).next().unwrap_or_default();
        if spec.contains('*') {
            return None;
        }
        for digits in spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
            widest = widest.max(digits.parse().unwrap_or(u64::MAX));
        }
    }
    Some(widest)
}

/// The day that infinity is taken for.
const ENDLESS: f64 = 1e300;

/// The day that "now" is taken for where only the length of a series matters.
const TODAY: f64 = 2_035.0 * 365.25;

/// The day a literal date or timestamp falls on, roughly, counted from the year 0.
fn days(node: &NodeEnum) -> Option<f64> {
    let text = match node {
        NodeEnum::SqlvalueFunction(_) => return Some(TODAY),
        NodeEnum::FuncCall(call) if call.args.is_empty() => return Some(TODAY),
        NodeEnum::TypeCast(cast) => return inner(&cast.arg).and_then(days),
        NodeEnum::AExpr(expression) if expression.kind == AExprKind::AexprOp as i32 => {
            let from = inner(&expression.lexpr).and_then(days)?;
            let span = 1.0 / inner(&expression.rexpr).and_then(steps_per_day)?;
            return match *strings(&expression.name)?.last()? {
                "+" => Some(from + span),
                "-" => Some(from - span),
                _ => None,
            };
        }
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => text.sval.trim(),
        _ => return None,
    };
    // A series from or to the end of time has no end.
    match text.trim_start_matches(['-', '+']).to_ascii_lowercase().as_str() {
        "infinity" => return Some(if text.starts_with('-') { -ENDLESS } else { ENDLESS }),
        "now" | "today" | "tomorrow" | "yesterday" => return Some(TODAY),
        "epoch" => return Some(1_970.0 * 365.25),
        _ => {}
    }
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<f64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let hour = parts.next().and_then(Result::ok).unwrap_or(0.0);
    Some(year * 365.25 + month * 30.44 + day + hour / 24.0)
}

/// How many steps of a literal interval fit into a day, roughly.
fn steps_per_day(node: &NodeEnum) -> Option<f64> {
    let text = match node {
        NodeEnum::TypeCast(cast) => return inner(&cast.arg).and_then(steps_per_day),
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => {
            text.sval.trim().to_ascii_lowercase()
        }
        _ => return None,
    };
    let (number, unit) = text.split_once(char::is_whitespace).unwrap_or(("1", text.as_str()));
    let number: f64 = number.parse().ok().filter(|number: &f64| *number != 0.0)?;
    let per_day = match unit.trim().trim_end_matches('s') {
        "microsecond" => 86_400e6,
        "millisecond" => 86_400e3,
        "second" | "sec" => 86_400.0,
        "minute" | "min" => 1_440.0,
        "hour" => 24.0,
        "day" => 1.0,
        "week" => 1.0 / 7.0,
        "month" | "mon" => 1.0 / 30.44,
        "year" => 1.0 / 365.25,
        _ => return None,
    };
    Some((per_day / number).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(sql: &str) -> NodeEnum {
        let tree = pg_query::parse(&format!("SELECT {sql}"), 0).unwrap().protobuf;
        let query = crate::parse::single_query(&tree).unwrap();
        match query.target_list[0].node.clone().unwrap() {
            NodeEnum::ResTarget(target) => target.val.unwrap().node.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn literals_are_folded() {
        for (sql, want) in [
            ("3", Some(3)),
            ("-3", Some(-3)),
            ("1000 * 1000", Some(1_000_000)),
            ("10 ^ 9", Some(1_000_000_000)),
            ("1 << 20", Some(1_048_576)),
            ("'12'::int", Some(12)),
            ("1e9::int", Some(1_000_000_000)),
            ("x + 1", None),
        ] {
            assert_eq!(constant(&expression(sql)), want, "{sql}");
        }
        assert_eq!(largest_literal(&expression("x + 70000"), 0), 70_000);
        assert_eq!(largest_literal(&expression("least(x * 70000, 40)"), 0), 40);
        assert_eq!(largest_literal(&expression("(SELECT 90000)"), 0), 90_000);
    }

    #[test]
    fn dates_and_steps_are_estimated() {
        let span =
            days(&expression("date '2024-12-31'")).unwrap() - days(&expression("date '2024-01-01'")).unwrap();
        assert!((360.0..370.0).contains(&span), "{span}");
        let span =
            days(&expression("now() + interval '10 years'")).unwrap() - days(&expression("now()")).unwrap();
        assert!((3_600.0..3_700.0).contains(&span), "{span}");
        assert!(days(&expression("'infinity'::timestamp")).unwrap() >= ENDLESS);
        assert_eq!(steps_per_day(&expression("interval '2 hours'")), Some(12.0));
        assert_eq!(steps_per_day(&expression("'day'::interval")), Some(1.0));
        assert_eq!(steps_per_day(&expression("interval '1 fortnight'")), None);
    }

    #[test]
    fn formats_tell_their_width() {
        assert_eq!(widest_format(&expression("'%s and %I'")), Some(0));
        assert_eq!(widest_format(&expression("'%1$-40s %%'")), Some(40));
        assert_eq!(widest_format(&expression("'%*s'")), None);
        assert_eq!(widest_format(&expression("'100% sure 5'")), Some(0));
    }
}
