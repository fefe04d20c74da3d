//! What an answer says beside its rows, for a form that has room for rows alone: one header, an array of JSON.
//!
//! Each item has a `code`, which stays the same from version to version, and a `text` for people. All is ASCII, and no header
//! grows beyond what clients and proxies take: long texts are cut, and what does not fit is counted under `more`.

use std::fmt::Write as _;

use airlock_types::Answer;
use airlock_types::query::QueryResult;
use airlock_types::text::shorten;
use axum::http::{HeaderMap, HeaderValue};
use serde::Serialize;

/// The header's name.
pub(super) const NOTICES: &str = "x-airlock-notices";
/// Characters of one text.
const TEXT: usize = 400;
/// Bytes of the header. Common clients take 8 KiB for all headers together.
const BYTES: usize = 4_096;

/// One thing that is said beside rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Notice {
    code: &'static str,
    text: String,
}

impl Notice {
    fn of(code: &'static str, text: &str) -> Self {
        Self { code, text: shorten(text, TEXT) }
    }

    fn truncated(rows: u64) -> Self {
        Self::of("truncated", &format!("These are the first {rows} rows; there are more."))
    }

    /// Of an ask: rows that are missing, a model that was down, what the result leaves out, what was assumed.
    pub(super) fn of_answer(answer: &Answer) -> Vec<Self> {
        let mut notices: Vec<Self> =
            answer.truncated.then(|| Self::truncated(answer.row_count)).into_iter().collect();
        notices.extend(answer.degraded.iter().map(|text| Self::of("degraded", text)));
        notices.extend(answer.warnings.iter().map(|text| Self::of("warning", text)));
        notices.extend(answer.assumptions.iter().map(|text| Self::of("assumed", text)));
        notices
    }

    /// Of SQL of one's own.
    pub(super) fn of_result(result: &QueryResult) -> Vec<Self> {
        let mut notices: Vec<Self> =
            result.truncated.then(|| Self::truncated(result.row_count)).into_iter().collect();
        notices.extend(result.warnings.iter().map(|text| Self::of("warning", text)));
        notices
    }

    /// Puts them into a response's headers; nothing where there are none.
    pub(super) fn put(notices: &[Self], headers: &mut HeaderMap) {
        let text = header(notices);
        if let (false, Ok(value)) = (notices.is_empty(), HeaderValue::try_from(text)) {
            headers.insert(NOTICES, value);
        }
    }
}

fn header(notices: &[Notice]) -> String {
    let mut items: Vec<String> = Vec::new();
    let mut bytes = 0;
    for (at, notice) in notices.iter().enumerate() {
        let item = ascii(notice);
        bytes += item.len() + 1;
        if bytes > BYTES {
            let left = notices.len() - at;
            items.push(ascii(&Notice::of("more", &format!("{left} more: JSON has them all."))));
            break;
        }
        items.push(item);
    }
    format!("[{}]", items.join(","))
}

/// JSON without a character that a header cannot hold.
fn ascii(notice: &Notice) -> String {
    let json = serde_json::to_string(notice).unwrap_or_default();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_header_holds_any_text_and_reads_back() {
        let notices: Vec<Notice> = [
            ("truncated", "plain"),
            ("warning", "Größe \u{1f528} \"quoted\" \\ back\r\nX-Injected: 1\t\u{7f}"),
            ("assumed", ""),
        ]
        .map(|(code, text)| Notice::of(code, text))
        .into();
        let mut headers = HeaderMap::new();
        Notice::put(&notices, &mut headers);
        let text = headers[NOTICES].to_str().unwrap();
        let read: Value = serde_json::from_str(text).unwrap();
        for (item, notice) in read.as_array().unwrap().iter().zip(&notices) {
            assert_eq!(
                (item["code"].as_str(), item["text"].as_str()),
                (Some(notice.code), Some(notice.text.as_str()))
            );
        }
        assert_eq!(headers.len(), 1);

        Notice::put(&[], &mut headers);
        assert_eq!(headers.len(), 1);
        let mut none = HeaderMap::new();
        Notice::put(&[], &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn a_header_keeps_its_size_and_counts_what_it_leaves_out() {
        let many: Vec<Notice> = (0..90).map(|_| Notice::of("warning", &"ü".repeat(9_000))).collect();
        let text = header(&many);
        assert!(text.len() < BYTES + 100, "{}", text.len());
        let read: Vec<Value> = serde_json::from_str(&text).unwrap();
        let (last, kept) = read.split_last().unwrap();
        assert!(!kept.is_empty() && last["code"] == "more", "{last}");
        assert_eq!(last["text"], format!("{} more: JSON has them all.", 90 - kept.len()));
    }
}
