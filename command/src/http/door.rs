//! Access control: allows local programs and clients that send the token. Requests from web pages of other origins are
//! refused, which also prevents DNS rebinding.

use super::{
    address::{host_of, is_loopback},
    headers::{count, value, Headers, TOKEN},
};

/// Decides whether a request is allowed.
#[derive(Debug)]
pub(crate) struct Door {
    /// True if the program listens only on a loopback address.
    pub(crate) is_loopback: bool,
    pub(crate) token: Option<String>,
}

/// HTTP status and message with which a request is refused.
pub(crate) type Refusal = (u16, String);

impl Door {
    /// Returns why a request is refused, or `None` if it is allowed.
    pub(crate) fn refusal(&self, headers: &Headers) -> Option<Refusal> {
        let host = value(headers, "host").unwrap_or_default();
        if self.is_loopback && (count(headers, "host") != 1 || !is_loopback(host_of(host))) {
            let found = if host.is_empty() { "none".to_string() } else { format!("`{host}`") };
            return Some((403, format!("expected `Host` to be this machine, such as `127.0.0.1:8787`, found {found}")));
        }
        let site = value(headers, "sec-fetch-site").unwrap_or("none");
        match value(headers, "origin") {
            Some(_) if count(headers, "origin") != 1 => {
                return Some((403, "expected no `Origin`, or one of this machine, found several".into()));
            }
            Some(origin) if !is_local(origin) => {
                return Some((403, format!("expected no `Origin`, or one of this machine, found `{origin}`")));
            }
            // Browsers omit `Origin` on simple GET requests.
            None if !["none", "same-origin"].iter().any(|known| site.eq_ignore_ascii_case(known)) => {
                return Some((403, format!("expected a request from a program, found one from a web page (`{site}`)")));
            }
            _ => {}
        }
        match &self.token {
            Some(token) if !value(headers, TOKEN).is_some_and(|found| is_same(found, token)) => {
                Some((401, format!("expected the token in the header `{TOKEN}`, found none, or another one")))
            }
            _ => None,
        }
    }
}

/// Returns true if an origin's host is `localhost` or a loopback address.
fn is_local(origin: &str) -> bool {
    let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
    is_loopback(host_of(authority))
}

/// Compares two tokens in constant time.
fn is_same(found: &str, token: &str) -> bool {
    let (found, token) = (found.as_bytes(), token.as_bytes());
    let differs = found.iter().zip(token).fold(0, |differs, (one, other)| differs | (one ^ other));
    found.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(door: &Door, list: &[(&str, &str)]) -> u16 {
        let headers = list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        door.refusal(&headers).map_or(200, |(status, _)| status)
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        let door = Door { is_loopback: true, token: None };
        assert_eq!(status(&door, &[("Host", "127.0.0.1:8787")]), 200);
        assert_eq!(status(&door, &[("host", "[::1]:8787"), ("Origin", "http://localhost:3000")]), 200);
        for (name, bad) in [
            ("Host", "evil.example:8787"),
            ("Host", "127.0.0.1.evil.example"),
            ("Origin", "https://evil.example"),
            ("Origin", "http://localhost.evil.example"),
            ("Origin", "http://127.0.0.1@evil.example"),
            ("Origin", "null"),
            ("Sec-Fetch-Site", "cross-site"),
        ] {
            let host = if name == "Host" { bad } else { "localhost" };
            assert_eq!(status(&door, &[("Host", host), (name, bad)]), 403, "{name}: {bad}");
        }
        assert_eq!(status(&door, &[]), 403);
        let origin = ("Origin", "http://localhost:3000");
        assert_eq!(status(&door, &[("Host", "localhost"), origin, ("Origin", "https://evil.example")]), 403);
    }

    #[test]
    fn other_machines_need_a_token() {
        let door = Door { is_loopback: false, token: Some("secret".into()) };
        assert_eq!(status(&door, &[("Host", "relay.internal")]), 401);
        assert_eq!(status(&door, &[("Host", "relay.internal"), ("X-Toolwire-Token", "secre")]), 401);
        assert_eq!(status(&door, &[("Host", "relay.internal"), ("X-Toolwire-Token", "secret")]), 200);
    }
}
