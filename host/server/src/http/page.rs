//! The page: files in the binary, no build step, nothing loaded from elsewhere.

use axum::extract::Path;
use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};

use super::problem::not_found;

/// Nothing inline, nothing from elsewhere, no frame around it.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Name, type and text of each file under `/page/`.
const FILES: [(&str, &str, &str); 30] = [
    ("base.css", STYLE, include_str!("../../page/base.css")),
    ("ask.css", STYLE, include_str!("../../page/ask.css")),
    ("desk.css", STYLE, include_str!("../../page/desk.css")),
    ("api.js", SCRIPT, include_str!("../../page/api.js")),
    ("app.js", SCRIPT, include_str!("../../page/app.js")),
    ("asking.js", SCRIPT, include_str!("../../page/asking.js")),
    ("attempts.js", SCRIPT, include_str!("../../page/attempts.js")),
    ("author.js", SCRIPT, include_str!("../../page/author.js")),
    ("chart.js", SCRIPT, include_str!("../../page/chart.js")),
    ("components.js", SCRIPT, include_str!("../../page/components.js")),
    ("diff.js", SCRIPT, include_str!("../../page/diff.js")),
    ("dom.js", SCRIPT, include_str!("../../page/dom.js")),
    ("editor.js", SCRIPT, include_str!("../../page/editor.js")),
    ("endings.js", SCRIPT, include_str!("../../page/endings.js")),
    ("evals.js", SCRIPT, include_str!("../../page/evals.js")),
    ("feedback.js", SCRIPT, include_str!("../../page/feedback.js")),
    ("health.js", SCRIPT, include_str!("../../page/health.js")),
    ("history.js", SCRIPT, include_str!("../../page/history.js")),
    ("item.js", SCRIPT, include_str!("../../page/item.js")),
    ("knowledge.js", SCRIPT, include_str!("../../page/knowledge.js")),
    ("plot.js", SCRIPT, include_str!("../../page/plot.js")),
    ("router.js", SCRIPT, include_str!("../../page/router.js")),
    ("schema.js", SCRIPT, include_str!("../../page/schema.js")),
    ("session.js", SCRIPT, include_str!("../../page/session.js")),
    ("sql.js", SCRIPT, include_str!("../../page/sql.js")),
    ("state.js", SCRIPT, include_str!("../../page/state.js")),
    ("stats.js", SCRIPT, include_str!("../../page/stats.js")),
    ("steps.js", SCRIPT, include_str!("../../page/steps.js")),
    ("stream.js", SCRIPT, include_str!("../../page/stream.js")),
    ("table.js", SCRIPT, include_str!("../../page/table.js")),
];

fn with_headers(kind: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

/// The page itself.
pub async fn index() -> Response {
    with_headers("text/html; charset=utf-8", include_str!("../../page/index.html"))
}

/// One of its files.
pub async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, _, _)| *known == name) {
        Some((_, kind, text)) => with_headers(kind, text),
        None => not_found().await.into_response(),
    }
}
