//! The HTTP code that `toolwire relay` and `toolwire proxy --listen` share: addresses of upstreams, the address to
//! listen on, headers and access control.
//!
//! Local programs and clients that send the token are allowed. Requests from web pages of other origins are refused,
//! which also prevents DNS rebinding.

pub(crate) mod headers;

use toolwire::internal::json::Node;

use super::document::record;
use headers::{count, value, Headers, TOKEN};

pub(crate) fn require_token(listen: &Listen, token: Option<&str>) -> Result<(), String> {
    if listen.is_loopback() || token.is_some() {
        return Ok(());
    }
    Err(format!(
        "expected `--token-env NAME` because programs on other machines can connect, found none for `{}`: name the \
         variable of the environment that holds the token which clients send",
        listen.host
    ))
}

/// Returns the headers of a response that the program writes itself. They prevent scripts, framing and caching.
pub(crate) fn own_headers(status: u16, kind: &str) -> Headers {
    let mut list: Headers =
        [("Content-Type", kind), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
            .map(|(name, value)| (name.to_string(), value.into()))
            .into();
    if status == 503 {
        list.push(("Retry-After".into(), "1".into()));
    } else if (400..500).contains(&status) {
        // This header tells the SDKs of OpenAI and Anthropic not to retry.
        list.push(("X-Should-Retry".into(), "false".into()));
    }
    list
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) is_encrypted: bool,
    /// The host as in the URL, with an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path prefix of every request, without a trailing slash. It may be empty.
    pub(crate) base: String,
}

const HTTP: u16 = 80;
const HTTPS: u16 = 443;

impl Address {
    pub(crate) fn read(url: &str) -> Result<Address, String> {
        let (is_encrypted, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err("expected a URL that begins with `https://` or `http://`, found none".into()),
        };
        if let Some(found) =
            rest.chars().find(|character| matches!(character, '?' | '#') || *character <= ' ' || !character.is_ascii())
        {
            return Err(format!("expected the URL of an API, found one with {found:?}"));
        }
        let (authority, base) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        if authority.contains('@') {
            return Err("expected a URL without a user, found one with `@`: pass keys in headers".into());
        }
        let (host, port) = split_port(authority)?;
        if !is_host(host) {
            return Err("expected a URL with a host, found none".into());
        }
        let port = port.unwrap_or(if is_encrypted { HTTPS } else { HTTP });
        let (host, base) = (host.to_ascii_lowercase(), base.trim_end_matches('/').to_string());
        Ok(Address { is_encrypted, host, port, base })
    }

    pub(crate) fn authority(&self) -> String {
        match (self.is_encrypted, self.port) {
            (true, HTTPS) | (false, HTTP) => self.host.clone(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    /// The host, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Listen {
    pub(crate) fn read(text: &str) -> Result<Listen, String> {
        let expected = || format!("expected `HOST:PORT`, for instance `127.0.0.1:8787`, found `{text}`");
        let (host, port) = split_port(text).map_err(|_| expected())?;
        let port = port.filter(|_| is_host(host)).ok_or_else(expected)?;
        Ok(Listen { host: without_brackets(host).to_ascii_lowercase(), port })
    }

    pub(crate) fn document(&self) -> Node<'_> {
        record([("host", Node::string(self.host.as_str())), ("port", Node::count(self.port.into()))])
    }

    /// Without the member `listen`, the address is a loopback address.
    pub(crate) fn in_settings(settings: &Node<'_>) -> Listen {
        let read = |listen: &Node<'_>| {
            let host = listen.text_at("host")?.display().into_owned();
            let port = listen.u64_at("port").and_then(|port| u16::try_from(port).ok())?;
            Some(Listen { host, port })
        };
        let listen = settings.get("listen").and_then(read);
        listen.unwrap_or_else(|| Listen { host: "127.0.0.1".into(), port: 0 })
    }

    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let host = without_brackets(host);
    let host = host.strip_prefix("::ffff:").unwrap_or(host);
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

pub(crate) fn host_of(authority: &str) -> &str {
    split_port(authority).map_or("", |(host, _)| host)
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), String> {
    let after_brackets = authority.rfind(']').map_or(0, |end| end + 1);
    let (_, rest) = authority.split_at(after_brackets);
    let Some(colon) = rest.rfind(':') else { return Ok((authority, None)) };
    let (host, port) = (authority.get(..after_brackets + colon), rest.get(colon + 1..));
    let port = port.filter(|port| port.bytes().all(|digit| digit.is_ascii_digit())).and_then(|port| port.parse().ok());
    host.zip(port)
        .map(|(host, port)| (host, Some(port)))
        .ok_or_else(|| format!("expected a port after the last `:`, found `{authority}`"))
}

fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn is_host(host: &str) -> bool {
    let inner = without_brackets(host);
    let is_address = inner.len() < host.len();
    let takes =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') || is_address && byte == b':';
    !inner.is_empty() && inner.bytes().all(takes)
}

#[derive(Debug)]
/// The rule for the requests that a listening program accepts.
pub(crate) struct Door {
    /// True if the program listens only on a loopback address.
    pub(crate) is_loopback: bool,
    pub(crate) token: Option<String>,
}

pub(crate) type Refusal = (u16, String);

impl Door {
    pub(crate) fn refusal(&self, headers: &Headers) -> Option<Refusal> {
        let host = value(headers, "host").unwrap_or_default();
        if self.is_loopback && (count(headers, "host") != 1 || !is_loopback(host_of(&host))) {
            let found = if host.is_empty() { "none".to_string() } else { format!("`{host}`") };
            return Some((403, format!("expected `Host` to be this machine, such as `127.0.0.1:8787`, found {found}")));
        }
        let site = value(headers, "sec-fetch-site").unwrap_or("none".into());
        match value(headers, "origin") {
            Some(_) if count(headers, "origin") != 1 => {
                return Some((403, "expected no `Origin`, or one of this machine, found several".into()));
            }
            Some(origin) if !is_local(&origin) => {
                return Some((403, format!("expected no `Origin`, or one of this machine, found `{origin}`")));
            }
            // Browsers omit `Origin` on simple GET requests.
            None if !["none", "same-origin"].iter().any(|known| site.eq_ignore_ascii_case(known)) => {
                return Some((403, format!("expected a request from a program, found one from a web page (`{site}`)")));
            }
            _ => {}
        }
        match &self.token {
            Some(token) if !value(headers, TOKEN).is_some_and(|found| is_same_token(&found, token)) => {
                Some((401, format!("expected the token in the header `{TOKEN}`, found none, or another one")))
            }
            _ => None,
        }
    }
}

fn is_local(origin: &str) -> bool {
    let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
    is_loopback(host_of(authority))
}

/// Compares two tokens in constant time.
fn is_same_token(found: &str, token: &str) -> bool {
    let (found, token) = (found.as_bytes(), token.as_bytes());
    let differs = found.iter().zip(token).fold(0, |differs, (byte, other)| differs | (byte ^ other));
    found.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let address = Address::read("https://API.example.com/anthropic/").unwrap_or_default();
        assert_eq!((address.host.as_str(), address.port), ("api.example.com", 443));
        assert_eq!(address.url("/v1"), "https://api.example.com/v1");
        assert_eq!(address.base, "/anthropic");
        assert_eq!(Address::read("http://[::1]:8080").unwrap_or_default().authority(), "[::1]:8080");
        for url in ["api.example.com", "ftp://a", "https://", "https://u:p@a", "http://a:b", "http://a?b", "http://a b"]
        {
            assert!(Address::read(url).is_err(), "{url}");
        }
    }

    #[test]
    fn loopback_hosts_are_recognized() {
        for host in ["127.0.0.1", "127.9.9.9", "[::1]", "::1", "localhost", "LOCALHOST", "::ffff:127.0.0.1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "127.0.0.1.example.com", ""] {
            assert!(!is_loopback(host), "{host}");
        }
        assert!(Listen::read("127.0.0.1:0").is_ok_and(|listen| listen.is_loopback()));
        for text in ["127.0.0.1", ":8787", "localhost:", "localhost:99999", "a b:1"] {
            assert!(Listen::read(text).is_err(), "{text}");
        }
    }

    fn status(door: &Door, list: &[(&str, &str)]) -> u16 {
        let headers = list.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
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
