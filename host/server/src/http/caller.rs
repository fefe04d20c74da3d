//! Who sent a request: put there by the door, taken out by the handlers.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::problem::Problem;
use crate::access::Caller;

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // A request that did not come by the door is nobody's.
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "no-caller", "This server does not know who asks.")
        })
    }
}
