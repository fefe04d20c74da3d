//! In which form a client wants its answer, by the `accept` header.

use axum::extract::FromRequestParts;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use super::problem::Problem;

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON object; when nothing else is wanted.
    Json,
    /// The rows alone, as CSV.
    Csv,
    /// Server-sent events: what is going on, and the answer at the end.
    Events,
}

/// JSON or CSV.
pub struct Rows(pub Form);

/// JSON, CSV or events.
pub struct Any(pub Form);

impl<S: Send + Sync> FromRequestParts<S> for Rows {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        wanted(&parts.headers, &[Form::Json, Form::Csv]).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Any {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        wanted(&parts.headers, &[Form::Json, Form::Csv, Form::Events]).map(Self)
    }
}

impl Form {
    const fn media_type(self) -> (&'static str, &'static str) {
        match self {
            Self::Json => ("application", "json"),
            Self::Csv => ("text", "csv"),
            Self::Events => ("text", "event-stream"),
        }
    }
}

/// The form that is wanted most, the first of `offered` among equals.
fn wanted(headers: &HeaderMap, offered: &[Form]) -> Result<Form, Problem> {
    let lines: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        return Ok(Form::Json);
    }
    let mut best: Option<(Form, f32)> = None;
    for form in offered {
        let weight = weight(&lines, *form);
        if weight > best.map_or(0.0, |(_, weight)| weight) {
            best = Some((*form, weight));
        }
    }
    best.map(|(form, _)| form).ok_or_else(|| {
        let names = offered.iter().map(|form| format!("{}/{}", form.media_type().0, form.media_type().1));
        let names = names.collect::<Vec<_>>().join(", ");
        Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            "not-acceptable",
            format!("The accept header names nothing that this path gives: {names}."),
        )
    })
}

/// How much a form is wanted, from 0 to 1: the most exact of what is accepted says it.
fn weight(lines: &[&str], form: Form) -> f32 {
    let (kind, subkind) = form.media_type();
    let mut found: Option<(u8, f32)> = None;
    for range in lines.iter().flat_map(|line| line.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let Some((main, sub)) = parts.next().and_then(|name| name.split_once('/')) else { continue };
        let exact = match (main, sub) {
            ("*", "*") => 0,
            (main, "*") if main.eq_ignore_ascii_case(kind) => 1,
            (main, sub) if main.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subkind) => 2,
            _ => continue,
        };
        let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let quality = quality.map_or(1.0, |text| text.parse().unwrap_or(0.0));
        if found.is_none_or(|(before, _)| exact > before) {
            found = Some((exact, quality));
        }
    }
    found.map_or(0.0, |(_, quality)| quality.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_is_wanted_most_is_given() {
        let all = [Form::Json, Form::Csv, Form::Events];
        for (accept, want) in [
            ("", Some(Form::Json)),
            ("*/*", Some(Form::Json)),
            ("text/event-stream", Some(Form::Events)),
            ("TEXT/CSV", Some(Form::Csv)),
            ("text/*", Some(Form::Csv)),
            ("application/json;q=0.5, text/csv", Some(Form::Csv)),
            ("text/csv;q=0, */*", Some(Form::Json)),
            ("text/html, */*;q=0.1", Some(Form::Json)),
            ("text/html", None),
            ("application/json;q=0", None),
            ("application/json;q=NaN", None),
            ("nonsense", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(wanted(&headers, &all).ok(), want, "{accept}");
        }
    }
}
