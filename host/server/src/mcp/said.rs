//! What a tool says: structured content by its schema, and the same in words for clients that read text alone. Both are
//! bounded, and what was cut is told.

use airlock_types::ask::ResultColumn;
use airlock_types::text::{Place, hidden, shorten};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// Most bytes of the rows of a result.
const ROW_BYTES: usize = 512 * 1024;
/// Most rows that are written out as text.
const TEXT_ROWS: usize = 50;
/// Most characters of a cell that is written out as text.
const TEXT_CELL: usize = 200;
/// Most characters of a text.
pub(super) const TEXT: usize = 48_000;

/// What a tool says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) structured: Value,
    pub(super) text: String,
}

impl Said {
    pub(super) fn result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(shorten(&self.text, TEXT))]);
        result.structured_content = Some(self.structured);
        result
    }
}

/// Cuts rows to what an agent is sent at once; whether some were cut.
pub(super) fn bound(rows: &mut Vec<Vec<Value>>) -> bool {
    let mut bytes = 0_usize;
    let all = rows.len();
    let fitting = rows.iter().take_while(|row| {
        bytes += serde_json::to_string(row).map_or(0, |text| text.len());
        bytes <= ROW_BYTES
    });
    let fitting = fitting.count();
    rows.truncate(fitting);
    fitting < all
}

/// Rows as lines of a table, NULL apart from an empty text; what is not shown is counted.
pub(super) fn table(columns: &[ResultColumn], rows: &[Vec<Value>], truncated: bool) -> String {
    let cell = |value: &Value| match airlock_types::cell::text(value) {
        None => "NULL".to_owned(),
        Some(text) => shorten(&plain(&text).replace('|', "\\|"), TEXT_CELL),
    };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|column| plain(&column.name)).collect());
    text.push_str(&line(columns.iter().map(|_| "---".to_owned()).collect()));
    for row in rows.iter().take(TEXT_ROWS) {
        text.push_str(&line(row.iter().map(cell).collect()));
    }
    if let Some(more) = rows.len().checked_sub(TEXT_ROWS).filter(|more| *more > 0) {
        text.push_str(&format!("({more} more rows are in the structured content.)\n"));
    }
    if truncated {
        text.push_str(&format!(
            "(Truncated: these are the first {} rows, and there are more.)\n",
            rows.len()
        ));
    }
    text
}

/// A text of the data on one line, with nothing hidden in it.
pub(super) fn plain(text: &str) -> String {
    let seen = text.chars().filter(|c| matches!(c, '\n' | '\r' | '\t') || hidden(*c, Place::Prose).is_none());
    seen.map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn columns() -> Vec<ResultColumn> {
        ["a", "b"].map(|name| ResultColumn { name: name.to_owned(), sql_type: "text".to_owned() }).to_vec()
    }

    #[test]
    fn a_table_keeps_null_apart_and_tells_what_it_leaves_out() {
        let rows = vec![vec![json!(null), json!("")], vec![json!("x|y\nz\u{202e}"), json!(7)]];
        let want = "| a | b |\n| --- | --- |\n| NULL |  |\n| x\\|y z | 7 |\n";
        assert_eq!(table(&columns(), &rows, false), want);
        let many: Vec<Vec<Value>> = (0..TEXT_ROWS + 3).map(|n| vec![json!(n), json!(n)]).collect();
        let told = table(&columns(), &many, true);
        assert!(told.contains("(3 more rows are in the structured content.)"), "{told}");
        assert!(told.ends_with("(Truncated: these are the first 53 rows, and there are more.)\n"), "{told}");
    }

    #[test]
    fn rows_are_cut_to_what_may_be_sent() {
        let mut few = vec![vec![json!("x")]; 10];
        assert!(!bound(&mut few));
        assert_eq!(few.len(), 10);
        let mut many = vec![vec![json!("x".repeat(1_020))]; 1_000];
        assert!(bound(&mut many));
        assert_eq!(many.len(), ROW_BYTES / 1_024);
    }
}
