//! JSON as people and programs write it, in which no object has a key twice.
//!
//! Most readers take the last of two values in silence, some the first. What a person sees in a file, what a program that
//! checks it sees and what runs must be the same.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// A JSON value in which no object has a key twice, at whatever depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                let shown: String = key.chars().take(64).collect();
                return Err(A::Error::custom(format!("the key `{shown}` stands twice in one object")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_stands_once_in_an_object() {
        for (text, want) in [
            (
                r#"{"a": 1, "b": {"a": [null, true, -2, 2.5, "x"]}}"#,
                Ok(json!({"a": 1, "b": {"a": [null, true, -2, 2.5, "x"]}})),
            ),
            (r#"[{"a": 1}, {"a": 2}]"#, Ok(json!([{"a": 1}, {"a": 2}]))),
            (r#"{"a": 1, "a": 1}"#, Err("the key `a` stands twice")),
            (r#"{"a": 1, "\u0061": 2}"#, Err("the key `a` stands twice")),
            (r#"[{"x": {"a": 1, "b": 2, "a": null}}]"#, Err("the key `a` stands twice")),
            (r#"{"": 1, "": 2}"#, Err("the key `` stands twice")),
        ] {
            match (serde_json::from_str::<Strict>(text), want) {
                (Ok(Strict(got)), Ok(want)) => assert_eq!(got, want),
                (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
                (got, want) => panic!("{text}: {got:?}, wanted {want:?}"),
            }
        }
        let long = format!(r#"{{"{0}": 1, "{0}": 2}}"#, "k".repeat(1_000));
        assert!(serde_json::from_str::<Strict>(&long).unwrap_err().to_string().len() < 200);
    }
}
