//! The page: three files in the binary, no build step, nothing loaded from elsewhere.

use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::IntoResponse;

/// Nothing inline, nothing from elsewhere, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}

/// The page itself.
pub async fn index() -> impl IntoResponse {
    file("text/html; charset=utf-8", include_str!("../../page/index.html"))
}

/// Its script.
pub async fn script() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", include_str!("../../page/app.js"))
}

/// Its style.
pub async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", include_str!("../../page/app.css"))
}
