//! Who may talk to a server on loopback: programs of this machine, and pages this server itself has served.
//!
//! A page of another site can make a browser resolve its own name to 127.0.0.1 (DNS rebinding) or post to it across
//! origins; the `Host` and `Origin` headers tell.

use std::net::SocketAddr;
use std::sync::Arc;

use airlock_pipeline::Surface;
use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use crate::access::Caller;

const FETCH_SITE: &str = "sec-fetch-site";
const FETCH_MODE: &str = "sec-fetch-mode";

/// Names under which this server may be addressed, with the port.
#[derive(Debug, Clone)]
pub struct Names(Arc<[String]>);

impl Names {
    /// The names of a loopback listener.
    pub fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let mut names = vec![
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
            address.to_string(),
        ];
        if port == 80 {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        Self(names.into())
    }

    fn allow(&self, headers: &HeaderMap) -> bool {
        let known = |name: &str| self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            _ => None,
        };
        // Browsers say where a request comes from; a link to the page may be followed from anywhere.
        let foreign = headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site")
            && headers.get(FETCH_MODE).is_none_or(|mode| mode != "navigate");
        let origin = headers
            .get(ORIGIN)
            .map(|value| value.to_str().ok().and_then(|text| text.strip_prefix("http://")));
        !foreign && host.is_some_and(known) && origin.is_none_or(|origin| origin.is_some_and(known))
    }
}

/// Refuses what is addressed to another name or sent by another site's page.
pub async fn check(State(names): State<Names>, mut request: Request, next: Next) -> Response {
    if names.allow(request.headers()) {
        // Without keys this server is on loopback alone, and everybody there is local.
        request.extensions_mut().insert(Caller::local(Surface::Http));
        next.run(request).await
    } else {
        tracing::warn!(
            path = request.uri().path(),
            "a request for another host or from another origin was refused"
        );
        Problem::new(
            StatusCode::FORBIDDEN,
            "foreign-origin",
            "This server answers only requests addressed to its own loopback address, and pages it served itself.",
        )
        .into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_on_another_site_may_follow_a_link_and_nothing_else() {
        let names = Names::of("127.0.0.1:8080".parse().unwrap());
        for (site, mode, want) in [
            ("cross-site", "no-cors", false),
            ("cross-site", "navigate", true),
            ("same-origin", "cors", true),
            ("none", "navigate", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "127.0.0.1:8080".parse().unwrap());
            headers.insert(FETCH_SITE, site.parse().unwrap());
            headers.insert(FETCH_MODE, mode.parse().unwrap());
            assert_eq!(names.allow(&headers), want, "{site} {mode}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HOST, "127.0.0.1:8080".parse().unwrap());
        twice.append(HOST, "evil.example".parse().unwrap());
        assert!(!names.allow(&twice));
    }

    #[test]
    fn only_its_own_names_and_origins_pass() {
        let names = Names::of("127.0.0.1:8080".parse().unwrap());
        for (host, origin, want) in [
            (Some("127.0.0.1:8080"), None, true),
            (Some("localhost:8080"), Some("http://localhost:8080"), true),
            (Some("LOCALHOST:8080"), None, true),
            (Some("evil.example:8080"), None, false),
            (Some("127.0.0.1:8080"), Some("http://evil.example"), false),
            (Some("127.0.0.1:8080"), Some("null"), false),
            (Some("127.0.0.1"), None, false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(host) = host {
                headers.insert(HOST, host.parse().unwrap());
            }
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(names.allow(&headers), want, "{host:?} {origin:?}");
        }
    }
}
