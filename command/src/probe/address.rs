//! The URL of an API, which determines the host and the URLs of requests.
//!
//! A URL is refused unless all parsers agree on it: the hosts' clients follow WHATWG and RFC 3986, which disagree about
//! the host of `http://a\b/`, among others. The crate `url` would add the IDNA tables to the WebAssembly module.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Maximum length of a DNS name.
const MAX_NAME_LENGTH: usize = 253;

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    is_encrypted: bool,
    /// The host in lower case; an IPv6 address is in brackets.
    host: String,
    /// The port; `None` for the scheme's default port.
    port: Option<u16>,
    /// The path, without a trailing `/`.
    path: String,
    query: Option<String>,
}

impl Address {
    /// Parses an address. Errors never quote it: it may contain a secret.
    pub(crate) fn read(text: &str) -> Result<Address, &'static str> {
        let (is_encrypted, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err("expected an address with `https://` or `http://`, found something else"),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/%?[]".contains(&byte)) {
            return Err(
                "expected an address of plain ASCII without `\\`, `#`, spaces and quotes, found other characters",
            );
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (path, query) = match behind.split_once('?') {
            Some((path, query)) => (path, Some(query.to_string()).filter(|query| !query.is_empty())),
            None => (behind, None),
        };
        if path.split('/').any(is_dots) || behind.contains(['[', ']']) {
            return Err("expected a path without `.`, `..` and brackets, found one of them");
        }
        let (host, port) = host_and_port(authority)?;
        let usual = if is_encrypted { 443 } else { 80 };
        let path = path.trim_end_matches('/').to_string();
        Ok(Address { is_encrypted, host, port: port.filter(|port| *port != usual), path, query })
    }

    /// Returns the host, with the port unless it is the scheme's default.
    pub(crate) fn host(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns the host if the port is the scheme's default.
    pub(crate) fn public_host(&self) -> Option<&str> {
        self.port.is_none().then_some(self.host.as_str())
    }

    /// Returns the URL of a path below this address.
    pub(crate) fn below(&self, path: &str) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        let query = self.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}://{}{}{path}{query}", self.host(), self.path)
    }

    /// Returns true if the URL has a query, which may be secret.
    pub(crate) fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// Returns true if a key may be sent: over HTTPS, or to loopback.
    pub(crate) fn keeps_secrets(&self) -> bool {
        let six = || self.host.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
        self.is_encrypted
            || self.host == "localhost"
            || self.host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
            || six().is_some_and(|address| address.is_loopback())
    }
}

fn is_dots(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    const HOST: &str = "expected an address with a valid host and without a user, found an invalid host or a user";
    let (host, port) = match authority.strip_prefix('[') {
        Some(inside) => {
            let (inside, behind) = inside.split_once(']').ok_or(HOST)?;
            let address: Ipv6Addr = inside.parse().map_err(|_| HOST)?;
            (format!("[{address}]"), behind.strip_prefix(':').or(behind.is_empty().then_some("")).ok_or(HOST)?)
        }
        None => {
            let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
            (host.to_ascii_lowercase(), port)
        }
    };
    if !host.starts_with('[') && !is_name(&host) {
        return Err(HOST);
    }
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse::<u16>() {
        _ if authority.ends_with(':') => Err(HOST),
        Ok(number) if is_number && number > 0 => Ok((host, Some(number))),
        Err(_) if port.is_empty() => Ok((host, None)),
        _ => Err("expected a port from 1 to 65535, found something else"),
    }
}

/// Returns true if a host is a DNS name or an IPv4 address in dotted-decimal form. Some parsers read `0x7f.1` as an
/// IPv4 address.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let base = if last.len() == digits.len() { 10 } else { 16 };
    let is_numeric = digits.chars().all(|one| one.is_digit(base));
    host.len() <= MAX_NAME_LENGTH && host.split('.').all(is_label) && (!is_numeric || host.parse::<Ipv4Addr>().is_ok())
}

/// Returns true if `host` matches `pattern`: `*` matches one label, `{region}` matches one that names an AWS region.
pub(super) fn matches(pattern: &str, host: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('.'), host.split('.'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some("{region}"), Some(label)) if is_region(label) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

/// Returns true if a label is an AWS region (`eu-central-1`, `us-gov-west-1`). Excludes `s3` and `s3-us-west-2`: an S3
/// bucket may be named `bedrock-runtime`.
fn is_region(label: &str) -> bool {
    let parts: Vec<&str> = label.split('-').collect();
    let is_word = |part: &&str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    match parts.as_slice() {
        [area, between @ .., number] => {
            area.len() == 2
                && is_word(area)
                && !between.is_empty()
                && between.iter().all(is_word)
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{matches, Address};

    #[test]
    fn ambiguous_addresses_are_refused() {
        for text in [
            "http://evil\\x.amazonaws.com",
            "https://evil\\@api.openai.com",
            "https://evil.test#.openai.azure.com",
            "https://user@api.openai.com",
            "https://api.openai.com:pass@evil.test",
            "https://api.openai.com%2eevil.test",
            "https://api.openai.com\u{ff0e}evil.test",
            "https://ev\til.test",
            "https://evil.test\n",
            "https://evil.test /v1",
            "https://\u{ad}api.openai.com",
            "https://[::1",
            "https://[fe80::1%25eth0]",
            "https://[::1]x",
            "https://127.1",
            "https://0x7f.0.0.1",
            "https://127.0.0.0x1",
            "https://2130706433",
            "https://1.2.3.4.5",
            "https://01.2.3.4",
            "https://api.openai.com.",
            "https://.openai.azure.com",
            "https://a..b",
            "https://",
            "https:///v1",
            "https://?a",
            "https://a:",
            "https://a:0",
            "https://a:65536",
            "https://a:+1",
            "https://a:1:2",
            "https://a/../v1",
            "https://a/%2E%2e/v1",
            "https://a/./v1",
            "HTTPS://a",
            "https:/a",
            "https:a",
            "ftp://a",
            "//a",
        ] {
            assert!(Address::read(text).is_err(), "{text}");
        }
        for (text, host, written) in [
            ("https://API.openai.com/v1/", "api.openai.com", "https://api.openai.com/v1/x"),
            ("https://a.test:443", "a.test", "https://a.test/x"),
            ("http://a.test:80?b=c", "a.test", "http://a.test/x?b=c"),
            ("http://a_b.test:8000/v1?", "a_b.test:8000", "http://a_b.test:8000/v1/x"),
            ("http://[0:0::1]:8000/v1", "[::1]:8000", "http://[::1]:8000/v1/x"),
            ("http://10.0.0.1/@a:b", "10.0.0.1", "http://10.0.0.1/@a:b/x"),
        ] {
            let read = Address::read(text).map(|address| (address.host(), address.below("/x")));
            assert_eq!(read, Ok((host.into(), written.into())), "{text}");
        }
    }

    #[test]
    fn only_loopback_is_private_without_tls() {
        let keeps = |text: &str| Address::read(text).map(|address| address.keeps_secrets());
        for text in ["https://a.test", "http://localhost:1", "http://127.8.9.1", "http://[::1]:1"] {
            assert_eq!(keeps(text), Ok(true), "{text}");
        }
        for text in
            ["http://a.test", "http://localhost.a.test", "http://128.0.0.1", "http://[::2]", "http://127.0.0.1.test"]
        {
            assert_eq!(keeps(text), Ok(false), "{text}");
        }
    }

    #[test]
    fn patterns_match_only_their_hosts() {
        let bedrock = "bedrock-runtime.{region}.amazonaws.com";
        for (pattern, host, expected) in [
            (bedrock, "bedrock-runtime.eu-central-1.amazonaws.com", true),
            (bedrock, "bedrock-runtime.us-gov-west-1.amazonaws.com", true),
            (bedrock, "bedrock-runtime.s3.amazonaws.com", false),
            (bedrock, "bedrock-runtime.s3-us-west-2.amazonaws.com", false),
            (bedrock, "bedrock-runtime.a.us-east-1.amazonaws.com", false),
            (bedrock, "evil.us-east-1.amazonaws.com", false),
            (bedrock, "bedrock-runtime.us-east-1.amazonaws.com.evil.test", false),
            ("*.openai.azure.com", "acme.openai.azure.com", true),
            ("*.openai.azure.com", "a.b.openai.azure.com", false),
            ("*.openai.azure.com", "openai.azure.com", false),
            ("api.openai.com", "xapi.openai.com", false),
        ] {
            assert_eq!(matches(pattern, host), expected, "{host}");
        }
    }
}
