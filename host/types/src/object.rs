//! Objects of JSON as people and programs write them: by the names of their fields.
//!
//! What is derived takes a list as well, its items as the fields in their order, which nobody who writes one means.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What is read from an object, and from nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<T, A::Error> {
        Err(A::Error::custom("an object is wanted, and this is a list"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Statement {
        id: u64,
        sql: String,
    }

    #[test]
    fn fields_have_names_and_no_order() {
        for (json, want) in [
            (r#"{"sql": "SELECT 1", "id": 2}"#, Ok((2, "SELECT 1"))),
            (r#"[2, "SELECT 1"]"#, Err("an object is wanted")),
            ("[]", Err("an object is wanted")),
            ("7", Err("expected an object")),
            ("null", Err("expected an object")),
            (r#""text""#, Err("expected an object")),
            (r#"{"id": 2}"#, Err("missing field `sql`")),
            (r#"{"id": 2, "sql": "a", "sql": "b"}"#, Err("duplicate field `sql`")),
            (r#"{"id": 2, "sql": "a", "x": 1}"#, Err("unknown field `x`")),
            (r#"{"id": 2, "sql": ["a"]}"#, Err("expected a string")),
        ] {
            let read: Result<Object<Statement>, _> = serde_json::from_str(json);
            match (read, want) {
                (Ok(Object(got)), Ok(want)) => assert_eq!((got.id, got.sql.as_str()), want),
                (Err(error), Err(want)) => {
                    let said = error.to_string();
                    assert!(said.contains(want) && !said.contains("Statement"), "{json}: {said}");
                }
                (got, want) => panic!("{json}: {got:?}, wanted {want:?}"),
            }
        }
    }
}
