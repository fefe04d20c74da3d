//! `/docs`, which shows the OpenAPI document, and `/problems/{code}`, which explains a problem. Nothing is loaded from
//! elsewhere.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};

use super::codes::{self, CODES, Code};
use super::page::POLICY;
use super::problem::not_found;

fn file(kind: &'static str, text: impl IntoResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

/// The page.
pub(super) async fn index() -> Response {
    file("text/html; charset=utf-8", include_str!("../../page/docs.html"))
}

/// Its script and its style.
pub(super) async fn part(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "docs.js" => file("text/javascript; charset=utf-8", include_str!("../../page/docs.js")),
        "docs.css" => file("text/css; charset=utf-8", include_str!("../../page/docs.css")),
        _ => not_found().await.into_response(),
    }
}

/// Every code.
pub(super) async fn problems() -> Response {
    let list: String = CODES
        .iter()
        .map(|Code { code, status, .. }| {
            format!("<li><a href=\"/problems/{code}\"><code>{code}</code></a> ({status})</li>\n")
        })
        .collect();
    file("text/html; charset=utf-8", page("Problems", &format!("<ul>\n{list}</ul>\n")))
}

/// One code.
pub(super) async fn problem(Path(name): Path<String>) -> Response {
    let Some(Code { code, status, meaning }) = codes::find(&name) else {
        let list = page("Unknown problem", "<p>There is no such code.</p>\n");
        return (StatusCode::NOT_FOUND, file("text/html; charset=utf-8", list)).into_response();
    };
    // The texts are this program's own; only their backquotes mean something.
    let mut marked = String::new();
    for (index, piece) in meaning.split('`').enumerate() {
        let piece = piece.replace('&', "&amp;").replace('<', "&lt;");
        marked.push_str(&if index % 2 == 1 { format!("<code>{piece}</code>") } else { piece });
    }
    let body = format!("<p>Status {status}.</p>\n<p>{marked}</p>\n");
    file("text/html; charset=utf-8", page(code, &body))
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} - airlock</title>\n\
         <link rel=\"stylesheet\" href=\"/docs/docs.css\">\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}\
         <p><a href=\"/problems\">All problems</a> · <a href=\"/docs\">API</a></p>\n</main>\n</body>\n</html>\n"
    )
}
