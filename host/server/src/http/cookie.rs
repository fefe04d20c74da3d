//! The cookie of a page's session: no script reads it, no other site sends it.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

use crate::access::Token;

/// Where answers travel by TLS, a browser takes the name only from this very host, for all of it and by TLS.
const SECURE: &str = "__Host-airlock";
const PLAIN: &str = "airlock_session";

fn name(secure: bool) -> &'static str {
    if secure { SECURE } else { PLAIN }
}

/// What a request's cookies hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// No cookie of ours.
    Nothing,
    /// One that cannot be a session.
    Nonsense,
    /// A session, perhaps.
    Session(Token),
}

/// Looks for a session in the cookies of a request.
pub fn held(headers: &HeaderMap, secure: bool) -> Held {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let ours = cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(key, _)| *key == name(secure));
    match ours.map(|(_, value)| Token::session(value)) {
        None => Held::Nothing,
        Some(None) => Held::Nonsense,
        Some(Some(token)) => Held::Session(token),
    }
}

/// The header that gives a session to a browser, for so many seconds.
pub fn given(token: &Token, seconds: u64, secure: bool) -> Option<HeaderValue> {
    header(&format!("{}={}; Max-Age={seconds}", name(secure), token.reveal()), secure)
}

/// The header that takes it away.
pub fn taken(secure: bool) -> Option<HeaderValue> {
    header(&format!("{}=; Max-Age=0", name(secure)), secure)
}

fn header(cookie: &str, secure: bool) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let mut value =
        HeaderValue::from_str(&format!("{cookie}; Path=/; HttpOnly; SameSite=Strict{secure}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_among_other_cookies() {
        let token = Token::new_session().unwrap();
        let secret = token.reveal();
        for (cookies, secure, want) in [
            (vec![format!("a=b; airlock_session={secret}; c=d")], false, Held::Session(token.clone())),
            (
                vec!["a=b".to_owned(), format!("airlock_session={secret}")],
                false,
                Held::Session(token.clone()),
            ),
            (vec![format!("__Host-airlock={secret}")], true, Held::Session(token.clone())),
            (vec![format!("airlock_session={secret}")], true, Held::Nothing),
            (vec!["airlock_session=1".to_owned()], false, Held::Nonsense),
            (vec!["airlock_session".to_owned(), "=".to_owned()], false, Held::Nothing),
            (vec![], false, Held::Nothing),
        ] {
            let mut headers = HeaderMap::new();
            for cookie in &cookies {
                headers.append(COOKIE, cookie.parse().unwrap());
            }
            assert_eq!(held(&headers, secure), want, "{cookies:?}");
        }
        let given = given(&token, 60, true).unwrap();
        assert_eq!(
            given.to_str().unwrap(),
            format!("__Host-airlock={secret}; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure")
        );
    }
}
