//! One value of a result, as a comparison sees it.

use serde_json::Value;

/// A value without what does not count: the scale of a number, noise in the last digits of a float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    Null,
    /// A number of at least 1 in size, or 0, in hundredths.
    Hundredths(i128),
    /// A smaller number: four significant digits, and the power of ten of the first.
    Small {
        digits: i32,
        power: i64,
    },
    /// Anything else, exactly. There is no rule for dates.
    Text(String),
}

/// Significant digits before a float's noise begins.
const EXACT: usize = 15;
/// Digits before the point that hundredths have room for.
const WIDEST: i64 = 34;

impl Cell {
    /// The cell of a value of a column with this type.
    pub(crate) fn of(value: &Value, sql_type: &str) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Number(number) => Self::number(&number.to_string(), true),
            Value::String(text) if is_number(sql_type) => Self::number(text, is_float(sql_type)),
            Value::String(text) => Self::Text(text.clone()),
            other => Self::Text(other.to_string()),
        }
    }

    /// A value by which rows are ordered: like [`Self::of`], with every digit of a number that is no float's noise.
    pub(crate) fn key(value: &Value, sql_type: &str) -> Self {
        let (text, float) = match value {
            Value::Number(number) => (number.to_string(), true),
            Value::String(text) if is_number(sql_type) => (text.clone(), is_float(sql_type)),
            other => return Self::of(other, sql_type),
        };
        Self::Text(Decimal::parse(&text, float).map_or(text, |decimal| decimal.exact()))
    }

    /// A number from its text; what is none (`NaN`, `Infinity`) is compared as text.
    fn number(text: &str, float: bool) -> Self {
        Decimal::parse(text, float).and_then(Decimal::cell).unwrap_or_else(|| Self::Text(text.to_owned()))
    }
}

fn is_number(sql_type: &str) -> bool {
    ["numeric", "bigint", "integer", "smallint", "real", "double precision", "oid"]
        .iter()
        .any(|name| sql_type.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('(')))
}

fn is_float(sql_type: &str) -> bool {
    ["real", "double precision"].contains(&sql_type)
}

/// `0.DIGITS` times ten to the `point`, with no leading zero among the digits.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// A number from its text. What a float says beyond [`EXACT`] digits is noise; an exact number keeps a digit more than
    /// the hundredths, so that how a quotient ends does not turn its last place.
    fn parse(text: &str, float: bool) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        let point = i64::try_from(whole.len())
            .ok()?
            .checked_add(exponent)?
            .checked_sub(i64::try_from(zeros).ok()?)?;
        let digits = digits.into_iter().skip(zeros).map(|digit| digit - b'0').collect();
        let mut decimal = Self { negative, digits, point };
        if !fraction.is_empty() || exponent != 0 {
            let hundredths = usize::try_from(point.saturating_add(3)).unwrap_or_default();
            decimal.round(if float { EXACT } else { EXACT.max(hundredths) });
        }
        Some(decimal)
    }

    /// Keeps this many digits, rounding half away from zero.
    fn round(&mut self, keep: usize) {
        let up = self.digits.get(keep).is_some_and(|digit| *digit >= 5);
        self.digits.truncate(keep);
        if !up {
            return;
        }
        for digit in self.digits.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                return;
            }
        }
        // All nines, or no digit at all: the next power of ten.
        self.digits.insert(0, 1);
        self.point = self.point.saturating_add(1);
    }

    /// The first digits as a whole number, zeros added.
    fn leading(&self, count: usize) -> i128 {
        (0..count).fold(0, |sum, at| sum * 10 + i128::from(self.digits.get(at).copied().unwrap_or_default()))
    }

    /// All digits, written in one way.
    fn exact(&self) -> String {
        let last = self.digits.iter().rposition(|digit| *digit != 0);
        let Some(last) = last else { return "0".to_owned() };
        let digits: String =
            self.digits.iter().take(last + 1).map(|digit| char::from(b'0' + digit)).collect();
        format!("{}{digits}e{}", if self.negative { "-" } else { "" }, self.point)
    }

    fn cell(mut self) -> Option<Cell> {
        if self.digits.iter().all(|digit| *digit == 0) {
            return Some(Cell::Hundredths(0));
        }
        if self.point < 1 {
            self.round(4);
        }
        let sign = if self.negative { -1 } else { 1 };
        if self.point < 1 {
            let digits = i32::try_from(sign * self.leading(4)).ok()?;
            return Some(Cell::Small { digits, power: self.point });
        }
        if self.point > WIDEST {
            return None;
        }
        let before = self.point;
        self.round(usize::try_from(before + 2).ok()?);
        Some(Cell::Hundredths(sign * self.leading(usize::try_from(self.point + 2).ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_to_two_places_and_to_four_digits_below_one() {
        for (a, b, equal) in [
            (json!("12.50"), json!(12.5), true),
            (json!("12.504"), json!("12.5"), true),
            (json!("12.505"), json!("12.51"), true),
            (json!("12.50"), json!("12.52"), false),
            (json!(4.35 * 100.0), json!("435"), true),
            (json!("5"), json!(5.000_000_000_1), true),
            (json!("-5"), json!(5), false),
            (json!("0.00"), json!(0), true),
            (json!("-0"), json!(0), true),
            (json!("0.123449"), json!("0.1234"), true),
            (json!("0.1234"), json!("0.1235"), false),
            (json!("0.001"), json!("0.002"), false),
            (json!("0.99999"), json!(1), true),
            (json!(1e-7), json!("0.0000001"), true),
            (json!("99.999"), json!(100), true),
            (json!("9007199254740993"), json!("9007199254740994"), false),
            (json!("12345678901234.12"), json!("12345678901234.13"), false),
            (json!("123456789012345.120"), json!("123456789012345.12"), true),
            (json!("123456789012345.12"), json!("123456789012345.22"), false),
            (json!(12_345_678_901_234.12), json!(12_345_678_901_234.13), true),
            (json!("2.67499999999999999"), json!("2.675"), true),
            (json!("NaN"), json!("NaN"), true),
            (json!(null), json!(0), false),
        ] {
            assert_eq!(Cell::of(&a, "numeric(12,2)") == Cell::of(&b, "numeric"), equal, "{a} {b}");
        }
    }

    #[test]
    fn a_key_keeps_the_digits_that_order_rows() {
        for (a, b, equal) in [
            (json!("4.501"), json!("4.502"), false),
            (json!("4.5"), json!("4.5000000000000000"), true),
            (json!("0.00"), json!(0), true),
            (json!(0.1 + 0.2), json!(0.3), true),
            (json!("-5"), json!(5), false),
            (json!("50"), json!("5"), false),
            (json!("9007199254740993"), json!("9007199254740992"), false),
            (json!("NaN"), json!("NaN"), true),
            (json!(null), json!(0), false),
        ] {
            assert_eq!(Cell::key(&a, "numeric") == Cell::key(&b, "numeric(12,2)"), equal, "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_number_is_compared_exactly() {
        for (a, b, sql_type) in [
            (json!("007"), json!("7"), "text"),
            (json!("2026-07-01"), json!("2026-07-01 00:00:00"), "timestamp without time zone"),
            (json!(""), json!(null), "text"),
            (json!(true), json!("t"), "boolean"),
        ] {
            assert_ne!(Cell::of(&a, sql_type), Cell::of(&b, sql_type), "{a} {b}");
        }
        assert_eq!(Cell::of(&json!("x"), "text"), Cell::of(&json!("x"), "character varying(20)"));
    }
}
