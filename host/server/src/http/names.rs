//! By which names this server is addressed. A page of another site can make a browser resolve its own name to this server
//! (DNS rebinding) or post to it across origins; the `Host` and `Origin` headers tell.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};

use crate::config::server::is_loopback;

const FETCH_SITE: &str = "sec-fetch-site";
const FETCH_MODE: &str = "sec-fetch-mode";

/// Names under which this server may be addressed, with the port where it is not the usual one.
#[derive(Debug, Clone)]
pub struct Names(Arc<[String]>);

impl Names {
    /// The names of a listener, and those that the configuration adds.
    pub fn of(address: SocketAddr, configured: &[String]) -> Self {
        let port = address.port();
        let mut names = configured.to_vec();
        if !address.ip().is_unspecified() {
            names.push(address.to_string());
        }
        if is_loopback(address.ip()) {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
            if matches!(port, 80 | 443) {
                names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
            }
        }
        Self(names.into())
    }

    /// Whether a request is addressed to this server by a name of its own and, where a page sent it, by its own page.
    pub fn allow(&self, target: &Uri, headers: &HeaderMap) -> bool {
        let known = |name: &str| self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            _ => None,
        };
        // A target in absolute form names a server beside the header, and whoever reads that one must find the same.
        let named = target.authority().is_none_or(|authority| known(authority.as_str()));
        // Browsers say where a request comes from; a link to the page may be followed from anywhere.
        let foreign = headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site")
            && headers.get(FETCH_MODE).is_none_or(|mode| mode != "navigate");
        let origin = headers.get(ORIGIN).map(|value| {
            let text = value.to_str().ok()?;
            text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))
        });
        !foreign && named && host.is_some_and(known) && origin.is_none_or(|origin| origin.is_some_and(known))
    }
}

/// Whether this server's own page sent a request.
pub fn is_of_page(headers: &HeaderMap) -> bool {
    headers.get(FETCH_SITE).is_some_and(|site| site == "same-origin")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(address: &str, configured: &[&str]) -> Names {
        let configured: Vec<String> = configured.iter().map(|name| (*name).to_owned()).collect();
        Names::of(address.parse().unwrap(), &configured)
    }

    #[test]
    fn a_browser_on_another_site_may_follow_a_link_and_nothing_else() {
        let names = names("127.0.0.1:8080", &[]);
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
            assert_eq!(names.allow(&Uri::default(), &headers), want, "{site} {mode}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HOST, "127.0.0.1:8080".parse().unwrap());
        twice.append(HOST, "evil.example".parse().unwrap());
        assert!(!names.allow(&Uri::default(), &twice));
    }

    #[test]
    fn only_its_own_names_and_origins_pass() {
        let (here, public) = ("127.0.0.1:8080", "0.0.0.0:443");
        for (address, configured, host, origin, want) in [
            (here, "x.example", Some("127.0.0.1:8080"), None, true),
            (here, "x.example", Some("localhost:8080"), Some("http://localhost:8080"), true),
            (here, "x.example", Some("LOCALHOST:8080"), None, true),
            (here, "x.example", Some("x.example"), Some("https://x.example"), true),
            (here, "x.example", Some("evil.example:8080"), None, false),
            (here, "x.example", Some("127.0.0.1:8080"), Some("http://evil.example"), false),
            (here, "x.example", Some("127.0.0.1:8080"), Some("null"), false),
            (here, "x.example", Some("127.0.0.1"), None, false),
            (here, "x.example", None, None, false),
            (public, "x.example", Some("x.example"), Some("https://x.example"), true),
            (public, "x.example", Some("0.0.0.0:443"), None, false),
            (public, "x.example", Some("localhost"), None, false),
            (public, "x.example", Some("x.example"), Some("https://x.example.evil"), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(host) = host {
                headers.insert(HOST, host.parse().unwrap());
            }
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            let allowed = names(address, &[configured]).allow(&Uri::default(), &headers);
            assert_eq!(allowed, want, "{host:?} {origin:?}");
        }
    }
    #[test]
    fn a_target_that_names_another_server_is_foreign_whatever_the_header_says() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "127.0.0.1:8080".parse().unwrap());
        for (target, want) in [
            ("/api/me", true),
            ("http://127.0.0.1:8080/api/me", true),
            ("http://LOCALHOST:8080/api/me", true),
            ("http://x.example/api/me", true),
            ("http://evil.example/api/me", false),
            ("http://127.0.0.1:8081/api/me", false),
            ("http://me@127.0.0.1:8080/api/me", false),
        ] {
            let names = names("127.0.0.1:8080", &["x.example"]);
            assert_eq!(names.allow(&target.parse().unwrap(), &headers), want, "{target}");
        }
    }
}
