//! JSON read without rounding a number and without losing a key.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Largest integer that every reader of JSON keeps: 2^53 - 1.
pub(crate) const SAFE: u64 = (1 << 53) - 1;

/// Deepest nesting that is read; a text nested deeper stays a text.
const DEPTH_LIMIT: u8 = 100;

/// Reads a JSON text. Numbers that a 64-bit float does not hold exactly become strings of their digits. None when a key
/// is repeated, the nesting is too deep, or it is not JSON.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let quoted = quote_inexact_numbers(text);
    let mut reader = serde_json::Deserializer::from_str(&quoted);
    let value = Lossless { depth: DEPTH_LIMIT }.deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| value)
}

/// Puts quotes around numbers that would be rounded.
fn quote_inexact_numbers(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let digits = bytes
                    .iter()
                    .skip(at)
                    .take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
                let end = at + digits.count();
                let number = text.get(at..end).unwrap_or_default();
                if !is_exact(number) {
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    out.push('"');
                    out.push_str(number);
                    out.push('"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where the string that begins before `at` ends.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Whether a float of 64 bits, written the shortest way, is the same number.
fn is_exact(number: &str) -> bool {
    if let Ok(integer) = number.parse::<i64>() {
        return integer.unsigned_abs() <= SAFE;
    }
    match number.parse::<f64>() {
        Ok(float) if float.is_finite() => decimal(number) == decimal(&format!("{float:e}")),
        _ => false,
    }
}

/// Digits without zeros at either end, and the power of ten of the last one.
fn decimal(number: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let short = digits.trim_start_matches('0');
    let trimmed = short.trim_end_matches('0');
    if trimmed.is_empty() {
        return Some((String::new(), 0));
    }
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let zeros = i64::try_from(short.len() - trimmed.len()).ok()?;
    Some((trimmed.to_owned(), power.checked_add(zeros)?))
}

/// Reads any value, refusing repeated keys.
struct Lossless {
    depth: u8,
}

impl Lossless {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        self.depth.checked_sub(1).map(|depth| Self { depth }).ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Lossless {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Lossless {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.inner()?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.insert(key, entries.next_value_seed(self.inner()?)?).is_some() {
                return Err(A::Error::custom("a repeated key"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (text, want) in [
            ("1", json!(1)),
            ("1.50", json!(1.5)),
            ("1e3", json!(1000.0)),
            ("-0.1", json!(-0.1)),
            ("100000000000000000000", json!(1e20)),
            ("9007199254740993", json!("9007199254740993")),
            ("12345678901234567890.123456789", json!("12345678901234567890.123456789")),
            ("0.1000000000000000055", json!("0.1000000000000000055")),
            ("1e400", json!("1e400")),
            (
                r#"{"a": [1, 9007199254740993], "9007199254740993": "9007199254740993 \" 1e400"}"#,
                json!({"a": [1, "9007199254740993"], "9007199254740993": "9007199254740993 \" 1e400"}),
            ),
            ("null", json!(null)),
        ] {
            assert_eq!(parse(text), Some(want), "{text}");
        }
    }

    #[test]
    fn what_json_values_cannot_hold_stays_text() {
        let deep = "[".repeat(50_000) + &"]".repeat(50_000);
        for text in [r#"{"a":1,"a":2}"#, "{", "1 2", "", deep.as_str()] {
            assert_eq!(parse(text), None);
        }
    }
}
