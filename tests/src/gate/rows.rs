//! PostgreSQL's own rows for a text, and whether the binary's rows are the same.
//!
//! They are had by the simple protocol, in which every value is PostgreSQL's own text. The binary's JSON is held against
//! that text, value by value, by the type of the column.

use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Rows as PostgreSQL prints them.
pub type Own = Vec<Vec<Option<String>>>;

/// What PostgreSQL gives for a text in a read-only transaction, all of it.
///
/// # Errors
/// With PostgreSQL's SQLSTATE.
pub async fn own_rows(reader: &Client, sql: &str) -> Result<Own, String> {
    let code = |error: tokio_postgres::Error| {
        error.code().map_or_else(|| error.to_string(), |code| code.code().to_owned())
    };
    reader.batch_execute("BEGIN READ ONLY").await.map_err(code)?;
    let result = reader.simple_query(sql).await;
    reader.batch_execute("ROLLBACK").await.map_err(code)?;
    let rows = result.map_err(code)?.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect())
        }
        _ => None,
    });
    Ok(rows.collect())
}

/// How the binary's line differs from PostgreSQL's own rows under a cap, if it does. The order of rows is compared first;
/// where it differs (a text need not give one), the rows must be the same, and under the cap rows of PostgreSQL's.
#[must_use]
pub fn difference(line: &Value, own: &Own, cap: usize) -> Option<String> {
    if line["ok"] != true {
        return Some(format!("failed: {}", line["error"]["message"].as_str().unwrap_or_default()));
    }
    let types: Vec<&str> = line["columns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|column| column["type"].as_str().unwrap_or_default())
        .collect();
    let got = line["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let want = own.len().min(cap);
    if got.len() != want || line["truncated"] != (own.len() > cap) {
        return Some(format!("{} rows, PostgreSQL gives {}", got.len(), own.len()));
    }
    let same_row = |got: &Value, own: &[Option<String>]| {
        let cells = got.as_array().map(Vec::as_slice).unwrap_or_default();
        cells.len() == own.len()
            && cells.iter().zip(own).zip(&types).all(|((cell, own), of)| same_value(cell, own.as_deref(), of))
    };
    if got.iter().zip(own).all(|(got, own)| same_row(got, own)) {
        return None;
    }
    let mut left: Vec<&Vec<Option<String>>> = own.iter().collect();
    for row in got {
        match left.iter().position(|own| same_row(row, own)) {
            Some(at) => drop(left.swap_remove(at)),
            None => return Some(format!("PostgreSQL has no row {row}")),
        }
    }
    None
}

fn same_value(value: &Value, own: Option<&str>, of: &str) -> bool {
    let Some(own) = own else { return value.is_null() };
    if let Some(element) = of.strip_suffix("[]") {
        return match (value, elements(own)) {
            (Value::Array(values), Some(texts)) => same_elements(values, &texts, element),
            // Subscripts that do not begin at 1 stand before the elements.
            (Value::Object(array), None) => own.split_once("]=").is_some_and(|(bounds, own)| {
                let lower = bounds.trim_start_matches('[').split("][").filter_map(|of| of.split(':').next());
                let lower: Vec<Value> = lower.filter_map(|lower| serde_json::from_str(lower).ok()).collect();
                array.get("lower") == Some(&Value::from(lower))
                    && array.get("values").is_some_and(|values| same_value(values, Some(own), of))
            }),
            (Value::String(text), _) => text == own,
            _ => false,
        };
    }
    match (of, value) {
        ("json" | "jsonb", value) => same_json(value, own),
        (_, Value::Bool(value)) => own == if *value { "t" } else { "f" },
        ("real" | "double precision", Value::Number(number)) => {
            own.parse::<f64>().is_ok_and(|own| number.as_f64().is_some_and(|value| is_next_to(value, own)))
        }
        (_, Value::Number(number)) => number.to_string() == own,
        (_, Value::String(text)) => text == own,
        _ => false,
    }
}

/// `serde_json` reads the last digit of a float to within one unit, so the reader here may be off by that much.
fn is_next_to(value: f64, own: f64) -> bool {
    value == own || value.next_up() == own || value.next_down() == own
}

/// The marks of what a reader would lose are taken off first.
fn same_json(value: &Value, own: &str) -> bool {
    fn same(value: &Value, own: &Value) -> bool {
        match (value, own) {
            (Value::Array(values), Value::Array(own)) => {
                values.len() == own.len() && values.iter().zip(own).all(|(value, own)| same(value, own))
            }
            (Value::Object(values), Value::Object(own)) => {
                values.len() == own.len()
                    && values.iter().all(|(key, value)| own.get(key).is_some_and(|own| same(value, own)))
            }
            (Value::Number(value), Value::Number(own)) => match (value.as_f64(), own.as_f64()) {
                (Some(value), Some(own)) => is_next_to(value, own),
                _ => value == own,
            },
            (value, own) => value == own,
        }
    }
    let shown = match value {
        Value::String(_) => value.to_string(),
        other => airlock_types::cell::text(other).unwrap_or_default(),
    };
    match (serde_json::from_str::<Value>(&shown), serde_json::from_str::<Value>(own)) {
        (Ok(value), Ok(own)) => same(&value, &own),
        _ => shown == own,
    }
}

/// An element of an array as PostgreSQL prints it.
#[derive(Debug, PartialEq)]
enum Element {
    Null,
    Text(String),
    Inner(Vec<Element>),
}

fn same_elements(values: &[Value], texts: &[Element], of: &str) -> bool {
    values.len() == texts.len()
        && values.iter().zip(texts).all(|(value, text)| match (value, text) {
            (Value::Array(values), Element::Inner(texts)) => same_elements(values, texts, of),
            (value, Element::Text(text)) => same_value(value, Some(text), of),
            (value, Element::Null) => value.is_null(),
            _ => false,
        })
}

/// Reads `{1,NULL,"a b",{x}}`; none when the text is anything else.
fn elements(text: &str) -> Option<Vec<Element>> {
    let mut rest = text.strip_prefix('{')?.chars().peekable();
    let read = inner(&mut rest)?;
    rest.next().is_none().then_some(read)
}

fn inner(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    if rest.next_if_eq(&'}').is_some() {
        return Some(elements);
    }
    loop {
        let element = match rest.peek()? {
            '{' => {
                rest.next();
                Element::Inner(inner(rest)?)
            }
            '"' => {
                rest.next();
                let mut text = String::new();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => text.push(rest.next()?),
                        character => text.push(character),
                    }
                }
                Element::Text(text)
            }
            _ => {
                let mut text = String::new();
                while let Some(character) = rest.next_if(|character| !matches!(character, ',' | '}')) {
                    text.push(character);
                }
                if text == "NULL" { Element::Null } else { Element::Text(text) }
            }
        };
        elements.push(element);
        match rest.next()? {
            ',' => {}
            '}' => return Some(elements),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_held_against_what_postgresql_prints() {
        for (value, own, of, want) in [
            (json!(null), None, "text", true),
            (json!(null), Some(""), "text", false),
            (json!(""), Some(""), "text", true),
            (json!(true), Some("t"), "boolean", true),
            (json!(1e300), Some("1e+300"), "double precision", true),
            (json!(0.1), Some("0.2"), "double precision", false),
            (json!("1.50"), Some("1.50"), "numeric", true),
            (json!("1.5"), Some("1.50"), "numeric", false),
            (json!("9007199254740993"), Some("9007199254740993"), "bigint", true),
            (json!({"b": 1, "a": ["x"]}), Some(r#"{"a": ["x"], "b": 1}"#), "jsonb", true),
            (json!({"a": 2}), Some(r#"{"a": 1}"#), "jsonb", false),
            (json!([[1, null], [2, 3]]), Some("{{1,NULL},{2,3}}"), "integer[]", true),
            (json!(["NULL", null, "a \"b\""]), Some(r#"{"NULL",NULL,"a \"b\""}"#), "text[]", true),
            (json!([1]), Some("{1,2}"), "integer[]", false),
            (json!({"lower": [0], "values": [1]}), Some("[0:0]={1}"), "integer[]", true),
            (json!({"lower": [1], "values": [1]}), Some("[0:0]={1}"), "integer[]", false),
            (json!({"$json": null}), Some("null"), "jsonb", true),
            (json!(null), Some("null"), "jsonb", false),
            (json!("x"), Some("\"x\""), "jsonb", true),
            (
                json!({"a": {"$number": "9007199254740993"}}),
                Some(r#"{"a": 9007199254740993}"#),
                "jsonb",
                true,
            ),
            (json!({"$text": r#"{"a":1,"a":2}"#}), Some(r#"{"a":1,"a":2}"#), "json", true),
        ] {
            assert_eq!(same_value(&value, own, of), want, "{value} {own:?} {of}");
        }
    }

    #[test]
    fn rows_are_compared_under_the_cap() {
        let line = |rows: Value, truncated: bool| json!({"ok": true, "columns": [{"name": "n", "type": "integer"}], "rows": rows, "truncated": truncated});
        let own: Own = [1, 2, 3].iter().map(|n| vec![Some(n.to_string())]).collect();
        for (line, cap, same) in [
            (line(json!([[1], [2], [3]]), false), 3, true),
            (line(json!([[3], [1], [2]]), false), 3, true),
            (line(json!([[3], [1]]), true), 2, true),
            (line(json!([[1], [1]]), true), 2, false),
            (line(json!([[1], [2]]), false), 2, false),
            (line(json!([[1], [2], [4]]), false), 3, false),
        ] {
            assert_eq!(difference(&line, &own, cap).is_none(), same, "{line}");
        }
    }
}
