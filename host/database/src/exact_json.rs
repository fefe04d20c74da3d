//! JSON read without rounding a number and without losing a key.

use airlock_types::cell;
use serde_json::{Map, Number, Value, json};

/// Largest integer that every reader of JSON keeps: 2^53 - 1.
pub(crate) const SAFE: u64 = (1 << 53) - 1;

/// Deepest nesting that is read; a text nested deeper stays a text.
const DEPTH_LIMIT: u8 = 100;

/// Reads a JSON text, marked as [`cell`] says where plain JSON would lose something.
pub(crate) fn parse(text: &str) -> Value {
    let mut reader = Reader { rest: text };
    match reader.value(DEPTH_LIMIT).filter(|_| reader.rest.trim_ascii().is_empty()) {
        Some(Value::Null) => json!({cell::JSON: null}),
        Some(value) => value,
        None => json!({cell::TEXT: text}),
    }
}

/// What is left of a text. Every step is None when a key is repeated, the nesting is too deep, a string holds half a
/// character, or it is not JSON.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: u8) -> Option<Value> {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes().first()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'"' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            _ => ["null", "true", "false"]
                .into_iter()
                .find_map(|word| Some((word, self.rest.strip_prefix(word)?)))
                .map(|(word, rest)| {
                    self.rest = rest;
                    if word == "null" { Value::Null } else { Value::Bool(word == "true") }
                }),
        }
    }

    /// Takes the next sign, if it is this one.
    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_ascii_start().strip_prefix(sign);
        rest.inspect(|rest| self.rest = rest).is_some()
    }

    fn array(&mut self, depth: u8) -> Option<Value> {
        self.take('[');
        let mut values = Vec::new();
        if self.take(']') {
            return Some(Value::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            if self.take(']') {
                return Some(Value::Array(values));
            }
            self.take(',').then_some(())?;
        }
    }

    fn object(&mut self, depth: u8) -> Option<Value> {
        self.take('{');
        let mut fields = Map::new();
        if self.take('}') {
            return Some(Value::Object(fields));
        }
        loop {
            self.rest = self.rest.trim_ascii_start();
            let key = self.string()?;
            self.take(':').then_some(())?;
            if fields.insert(key, self.value(depth)?).is_some() {
                return None;
            }
            if self.take('}') {
                break;
            }
            self.take(',').then_some(())?;
        }
        let stored = Value::Object(fields);
        // One that looks like a mark is marked itself.
        Some(if cell::mark(&stored).is_some() { json!({cell::JSON: stored}) } else { stored })
    }

    fn string(&mut self) -> Option<String> {
        let end = end_of_string(self.rest.as_bytes(), 1);
        let (string, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        serde_json::from_str(string).ok()
    }

    fn number(&mut self) -> Option<Value> {
        let is_digit = |c: char| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
        let (digits, rest): (&'a str, &'a str) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        if !is_exact(digits) {
            return Some(json!({cell::NUMBER: digits}));
        }
        match digits.parse::<i64>() {
            Ok(integer) => Some(Value::from(integer)),
            Err(_) => Number::from_f64(digits.parse().ok()?).map(Value::Number),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (text, want) in [
            ("1", json!(1)),
            ("1.50", json!(1.5)),
            ("1e3", json!(1000.0)),
            ("-0.1", json!(-0.1)),
            ("100000000000000000000", json!(1e20)),
            ("9007199254740993", json!({"$number": "9007199254740993"})),
            ("12345678901234567890.123456789", json!({"$number": "12345678901234567890.123456789"})),
            ("0.1000000000000000055", json!({"$number": "0.1000000000000000055"})),
            ("1e400", json!({"$number": "1e400"})),
            (
                r#"{"a": [1, 9007199254740993], "9007199254740993": "9007199254740993 \" 1e400"}"#,
                json!({"a": [1, {"$number": "9007199254740993"}], "9007199254740993": "9007199254740993 \" 1e400"}),
            ),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn values_of_every_shape() {
        for (text, want) in [
            ("null", json!({"$json": null})),
            ("[null, true,false ]", json!([null, true, false])),
            (r#" { } "#, json!({})),
            (r#"{"a" : [ ] , "b\u00e9\n":"x"}"#, json!({"a": [], "bé\n": "x"})),
            (r#""$number""#, json!("$number")),
            (r#"{"$number": "1"}"#, json!({"$json": {"$number": "1"}})),
            (r#"[{"$json": null}]"#, json!([{"$json": {"$json": null}}])),
            (r#"{"$text": 1, "b": 2}"#, json!({"$text": 1, "b": 2})),
            (r#"{"$other": 1}"#, json!({"$other": 1})),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn what_json_values_cannot_hold_stays_text() {
        let deep = "[".repeat(50_000) + &"]".repeat(50_000);
        for text in [
            r#"{"a":1,"a":2}"#,
            "{",
            "1 2",
            "",
            r#""\ud800""#,
            r#"{"a" 1}"#,
            "nul",
            "[1 2]",
            "{,}",
            deep.as_str(),
        ] {
            assert_eq!(parse(text), json!({"$text": text}));
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_is_what_was_stored(text in r#"(\[|\{"a":|[0-9]{1,20}(\.[0-9]{1,3})?|null|"[a-z$]*"|,|\]|\}){1,9}"#) {
            // Read again by an ordinary reader, the text that people see is the text that was stored.
            if let Ok(stored) = serde_json::from_str::<Value>(&text) {
                let shown = cell::text(&parse(&text)).unwrap();
                if let Value::String(plain) = stored {
                    assert_eq!(shown, plain);
                } else {
                    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), stored);
                }
            }
        }
    }
}
