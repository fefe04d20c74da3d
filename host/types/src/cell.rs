//! How a cell of a result that holds JSON says what a reader of JSON would lose, and how it is shown to people.
//!
//! A `json` value is itself, but for three things that no reader of plain JSON keeps. Each is an object of one key:
//! `{"$number": "9007199254740993"}` is a number that a 64-bit float would change, `{"$json": null}` the JSON value `null`
//! where NULL could stand, and `{"$text": "..."}` a text that has a key twice or is nested too deeply. A stored object that
//! looks like one of these is told apart by `{"$json": ...}` around it.

use serde_json::Value;

/// Holds the digits of a number that a 64-bit float would change.
pub const NUMBER: &str = "$number";
/// Holds a JSON value that would mean something else without it.
pub const JSON: &str = "$json";
/// Holds a JSON text that is no value a reader keeps.
pub const TEXT: &str = "$text";

/// The key and the value of an object with exactly one key, when the key is one of the three.
#[must_use]
pub fn mark(value: &Value) -> Option<(&str, &Value)> {
    let Value::Object(fields) = value else { return None };
    let (key, inside) = fields.iter().next()?;
    (fields.len() == 1 && matches!(key.as_str(), NUMBER | JSON | TEXT)).then_some((key.as_str(), inside))
}

/// A cell as text for people, models and files: the digits and the JSON that are stored, without marks; None for NULL.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => {
            let mut out = String::new();
            write(value, &mut out);
            Some(out)
        }
    }
}

fn write(value: &Value, out: &mut String) {
    match mark(value) {
        Some((NUMBER | TEXT, Value::String(raw))) => return out.push_str(raw),
        Some((JSON, Value::Object(fields))) => return object(fields, out),
        Some((JSON, inside)) => return write(inside, out),
        _ => {}
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                write(item, out);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(fields) => object(fields, out),
        plain => out.push_str(&plain.to_string()),
    }
}

fn object(fields: &serde_json::Map<String, Value>, out: &mut String) {
    for (index, (key, value)) in fields.iter().enumerate() {
        out.push(if index == 0 { '{' } else { ',' });
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write(value, out);
    }
    out.push_str(if fields.is_empty() { "{}" } else { "}" });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_not_shown() {
        for (value, want) in [
            (json!(null), None),
            (json!(""), Some("")),
            (json!(1.5), Some("1.5")),
            (json!({}), Some("{}")),
            (json!([]), Some("[]")),
            (json!({"$json": null}), Some("null")),
            (json!({"$number": "9007199254740993"}), Some("9007199254740993")),
            (
                json!({"a": [1, {"$number": "1e400"}, null], "b": "x\"y"}),
                Some(r#"{"a":[1,1e400,null],"b":"x\"y"}"#),
            ),
            (json!({"$json": {"$number": "1"}}), Some(r#"{"$number":"1"}"#)),
            (json!({"$text": "{\"a\":1,\"a\":2}"}), Some(r#"{"a":1,"a":2}"#)),
            (json!({"$number": "1", "b": 2}), Some(r#"{"$number":"1","b":2}"#)),
        ] {
            assert_eq!(text(&value).as_deref(), want, "{value}");
        }
    }

    #[test]
    fn a_float_that_is_read_and_written_again_is_the_same() {
        // An answer that travels through a client is read there and shown there.
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..10_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let float = f64::from_bits(bits);
            if float.is_finite() {
                let written = json!(float).to_string();
                let read: Value = serde_json::from_str(&written).unwrap();
                assert_eq!((read.as_f64(), read.to_string()), (Some(float), written));
            }
        }
    }
}
