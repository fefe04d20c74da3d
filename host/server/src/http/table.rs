//! A result as CSV (RFC 4180): the same rows that JSON would hold, inside the same cap.
//!
//! - NULL is an empty field and the empty text is `""`, as PostgreSQL's own COPY has it.
//! - What spreadsheets would take for a formula is none: a text that begins with `=`, `+`, `-`, `@`, a tab or a line end
//!   gets an apostrophe before it. Numbers are left alone. Who needs every text exactly takes JSON.
//! - Whether PostgreSQL had more rows than the cap let through is in the header `x-airlock-truncated`, `true` or `false`.
//! - What JSON says beside the rows (warnings, what was assumed) is in the header of [`Notice`].

use airlock_types::ask::ResultColumn;
use airlock_types::cell;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::notices::Notice;

/// Tells whether there was more.
pub(super) const TRUNCATED: &str = "x-airlock-truncated";

/// A result to be written.
pub(super) struct Table<'a> {
    pub(super) columns: &'a [ResultColumn],
    pub(super) rows: &'a [Vec<Value>],
    pub(super) truncated: bool,
    pub(super) notices: Vec<Notice>,
}

impl Table<'_> {
    fn text(&self) -> String {
        let mut out = String::new();
        line(self.columns.iter().map(|column| Some(harmless(column.name.clone()))), &mut out);
        for row in self.rows {
            let cells = row.iter().zip(self.columns).map(|(value, column)| {
                let text = cell::text(value)?;
                Some(if is_number(value, &column.sql_type) { text } else { harmless(text) })
            });
            line(cells, &mut out);
        }
        out
    }
}

impl IntoResponse for Table<'_> {
    fn into_response(self) -> Response {
        let mut response = self.text().into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present"));
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"airlock.csv\""));
        headers.insert(TRUNCATED, HeaderValue::from_static(if self.truncated { "true" } else { "false" }));
        Notice::put(&self.notices, headers);
        response
    }
}

/// Whether a cell is a number, be it one whose digits travel as text.
fn is_number(value: &Value, sql_type: &str) -> bool {
    let name = sql_type.split('(').next().unwrap_or_default();
    value.is_number()
        || matches!(name, "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision")
}

/// The text, never to be taken for a formula.
fn harmless(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{text}") } else { text }
}

fn line(cells: impl Iterator<Item = Option<String>>, out: &mut String) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        let Some(text) = cell else { continue };
        let plain = !text.is_empty() && !text.contains([',', '"', '\r', '\n']) && text.trim() == text;
        if plain {
            out.push_str(&text);
        } else {
            out.push('"');
            out.push_str(&text.replace('"', "\"\""));
            out.push('"');
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_cell_reads_back_and_none_is_a_formula() {
        let columns = [("a", "text"), ("b,c", "numeric(10,2)"), ("=d", "jsonb")]
            .map(|(name, sql_type)| ResultColumn { name: name.to_owned(), sql_type: sql_type.to_owned() });
        let rows = [
            vec![json!(null), json!("-1.50"), json!({"a": "x\"y"})],
            vec![json!(""), json!(-3), json!([])],
            vec![json!("=1+1"), json!("NaN"), json!("-x")],
            vec![json!(" a\nb"), json!(null), json!({"$json": null})],
        ];
        let table = Table { columns: &columns, rows: &rows, truncated: true, notices: Vec::new() };
        assert_eq!(
            table.text(),
            "a,\"b,c\",'=d\r\n\
             ,-1.50,\"{\"\"a\"\":\"\"x\\\"\"y\"\"}\"\r\n\
             \"\",-3,[]\r\n\
             '=1+1,NaN,'-x\r\n\
             \" a\nb\",,null\r\n"
        );
        let text = table.text();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.records().map(|record| record.unwrap().len()).collect::<Vec<_>>(), [3; 4]);
        assert_eq!(table.into_response().headers()[TRUNCATED], "true");
    }
}
