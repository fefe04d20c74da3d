//! From PostgreSQL's text form to JSON, without loss.
//!
//! | PostgreSQL | JSON |
//! | --- | --- |
//! | NULL | `null` |
//! | `boolean` | `true`, `false` |
//! | `smallint`, `integer`, `oid` | number |
//! | `bigint` | number up to 2^53 - 1 in size, a string of its digits beyond |
//! | `real`, `double precision` | number, the shortest that reads back the same; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `numeric`, `money` | string with its exact digits; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `json`, `jsonb` | the value itself, marked where it would lose something: see [`airlock_types::cell`] |
//! | array | array, nested for each dimension, NULL elements `null`; one whose subscripts do not begin at 1 is `{"lower": [0], "values": [...]}` |
//! | everything else: texts, enums, `uuid`, dates, times, `interval`, `bytea` (`\x` hexadecimal), ranges, composites, `inet`, geometric, `bit`, `tsvector`, `xml`, types of extensions | string in PostgreSQL's text form |
//! | a domain | as its base type |
//!
//! Given the column's type, any two values that PostgreSQL's own `=` tells apart stay apart.
//!
//! Times with time zone are ISO 8601 in the zone of the transaction, `2026-07-15 17:30:00+05:30`; `infinity` and years
//! before Christ are as PostgreSQL writes them.

use serde_json::{Number, Value, json};

use crate::exact_json;

/// How the values of a type are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Encoding {
    Boolean,
    Integer,
    Float,
    Json,
    Text,
    Array { element: Box<Encoding>, delimiter: char },
}

impl Encoding {
    /// Of a type of `pg_catalog` that is no array. The numbers are fixed for ever by the protocol's users.
    pub(crate) const fn of_scalar(type_oid: u32) -> Self {
        match type_oid {
            16 => Self::Boolean,
            20 | 21 | 23 | 26 => Self::Integer,
            700 | 701 => Self::Float,
            114 | 3802 => Self::Json,
            _ => Self::Text,
        }
    }

    /// Writes one value. What does not look as its type should is passed on as the text it is.
    pub(crate) fn encode(&self, text: &str) -> Value {
        let value = match self {
            Self::Text => None,
            Self::Boolean => match text {
                "t" => Some(Value::Bool(true)),
                "f" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Integer => {
                text.parse::<i64>().ok().filter(|n| n.unsigned_abs() <= exact_json::SAFE).map(Value::from)
            }
            Self::Float => text.parse().ok().and_then(Number::from_f64).map(Value::Number),
            Self::Json => Some(exact_json::parse(text)),
            Self::Array { element, delimiter } => array(text, element, *delimiter),
        };
        value.unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

/// PostgreSQL allows six dimensions.
const DEPTH_LIMIT: usize = 6;

/// Reads `{1,NULL,"a b"}` or `[0:2]={1,NULL,"a b"}`; None when it is anything else.
fn array(text: &str, element: &Encoding, delimiter: char) -> Option<Value> {
    let (lower, text) = match text.strip_prefix('[') {
        None => (None, text),
        Some(bounds) => {
            let (bounds, text) = bounds.split_once("]=")?;
            let lower = bounds.split("][").map(|dimension| dimension.split_once(':')?.0.parse().ok());
            (Some(lower.collect::<Option<Vec<i64>>>()?), text)
        }
    };
    let mut reader = ArrayReader { rest: text.strip_prefix('{')?, element, delimiter };
    let values = reader.elements(1).filter(|_| reader.rest.is_empty())?;
    Some(match lower {
        None => values,
        Some(lower) => json!({"lower": lower, "values": values}),
    })
}

struct ArrayReader<'a> {
    rest: &'a str,
    element: &'a Encoding,
    delimiter: char,
}

impl ArrayReader<'_> {
    /// Reads up to the closing brace; the opening one is read.
    fn elements(&mut self, depth: usize) -> Option<Value> {
        let mut values = Vec::new();
        if let Some(rest) = self.rest.strip_prefix('}') {
            self.rest = rest;
            return Some(Value::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            if let Some(rest) = self.rest.strip_prefix(self.delimiter) {
                self.rest = rest;
            } else {
                self.rest = self.rest.strip_prefix('}')?;
                return Some(Value::Array(values));
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if let Some(rest) = self.rest.strip_prefix('{') {
            self.rest = rest;
            return if depth < DEPTH_LIMIT { self.elements(depth + 1) } else { None };
        }
        if let Some(rest) = self.rest.strip_prefix('"') {
            self.rest = rest;
            let text = self.quoted()?;
            return Some(self.element.encode(&text));
        }
        let end = self.rest.find([self.delimiter, '}'])?;
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        // A text that is the word NULL is quoted.
        Some(if text == "NULL" { Value::Null } else { self.element.encode(text) })
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        loop {
            match characters.next()? {
                (_, '\\') => text.push(characters.next()?.1),
                (at, '"') => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(text);
                }
                (_, character) => text.push(character),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array_of(element: Encoding) -> Encoding {
        Encoding::Array { element: Box::new(element), delimiter: ',' }
    }

    #[test]
    fn scalars() {
        for (encoding, text, want) in [
            (Encoding::Boolean, "t", json!(true)),
            (Encoding::Integer, "9007199254740991", json!(9007199254740991_i64)),
            (Encoding::Integer, "9007199254740993", json!("9007199254740993")),
            (Encoding::Integer, "-7108510333361982070", json!("-7108510333361982070")),
            (Encoding::Float, "0.1", json!(0.1)),
            (Encoding::Float, "1e+300", json!(1e300)),
            (Encoding::Float, "-0", json!(-0.0)),
            (Encoding::Float, "NaN", json!("NaN")),
            (Encoding::Float, "-Infinity", json!("-Infinity")),
            (Encoding::Text, "", json!("")),
        ] {
            assert_eq!(encoding.encode(text), want, "{text}");
        }
    }

    #[test]
    fn arrays() {
        for (element, text, want) in [
            (Encoding::Integer, "{}", json!([])),
            (Encoding::Integer, "{1,NULL,3}", json!([1, null, 3])),
            (Encoding::Integer, "{{1,2},{3,4}}", json!([[1, 2], [3, 4]])),
            (
                Encoding::Text,
                r#"{"NULL",NULL,"","a b","a\"b\\c","{x}"}"#,
                json!(["NULL", null, "", "a b", "a\"b\\c", "{x}"]),
            ),
            (Encoding::Json, r#"{"{\"a\": 1}"}"#, json!([{"a": 1}])),
            (Encoding::Boolean, "{t,f}", json!([true, false])),
            (Encoding::Integer, "[0:1]={1,2}", json!({"lower": [0], "values": [1, 2]})),
            (
                Encoding::Text,
                "[-1:0][2:3]={{a,b},{c,NULL}}",
                json!({"lower": [-1, 2], "values": [["a", "b"], ["c", null]]}),
            ),
            (Encoding::Integer, "[0:1={1,2}", json!("[0:1={1,2}")),
            (Encoding::Integer, "[x:1]={1,2}", json!("[x:1]={1,2}")),
            (Encoding::Json, "{null,NULL}", json!([{"$json": null}, null])),
            (Encoding::Integer, "{1,2", json!("{1,2")),
            (Encoding::Integer, "{1}x", json!("{1}x")),
            (Encoding::Integer, "{{{{{{{1}}}}}}}", json!("{{{{{{{1}}}}}}}")),
        ] {
            assert_eq!(array_of(element).encode(text), want, "{text}");
        }
        let boxes = Encoding::Array { element: Box::new(Encoding::Text), delimiter: ';' };
        assert_eq!(boxes.encode("{(1,1),(0,0);(2,2),(1,1)}"), json!(["(1,1),(0,0)", "(2,2),(1,1)"]));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,60}") {
            for encoding in [Encoding::Json, Encoding::Float, array_of(Encoding::Json), array_of(Encoding::Text)] {
                encoding.encode(&text);
            }
        }
    }
}
