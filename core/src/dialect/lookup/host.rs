//! The host of an API, with or without a port, read from URLs and similar text.

use alloc::string::String;
use core::net::{IpAddr, Ipv4Addr};

/// A lower-case host, and its port if one is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: Option<u16>,
}

/// Returns the path of a URL. A text without a scheme has an empty path.
pub(super) fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
    path.split(['?', '#']).next().unwrap_or_default()
}

impl Host {
    /// Returns the host of a URL, or of a string that is a host. Returns `None` if the string has none, for example if
    /// it is a path.
    pub(super) fn of(text: &str) -> Option<Host> {
        let text = text.trim();
        let rest = match text.split_once("://") {
            // If the text before `://` is not a scheme, `://` may be part of a query.
            Some((scheme, rest))
                if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
            {
                rest
            }
            _ => text.strip_prefix("//").unwrap_or(text),
        };
        // Browsers treat `\` as `/`, so text after an `@` that follows `\` is not a host.
        let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (name, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, rest)) => (address, rest.strip_prefix(':').unwrap_or_default()),
            None => match authority.split_once(':') {
                // More than one colon: an IPv6 address without brackets.
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
                _ => (authority, ""),
            },
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        // `parse` accepts a sign, but a port has none.
        let port = port.parse().ok().filter(|_| !port.starts_with('+'));
        (!name.is_empty()).then(|| Host { name: name.to_ascii_lowercase(), port })
    }

    /// Returns true if a pattern matches the host. `*` matches one or more characters.
    pub(super) fn is(&self, pattern: &str) -> bool {
        match pattern.split_once('*') {
            None => self.name == pattern,
            Some((start, end)) => {
                let longer = self.name.len() > start.len() + end.len();
                longer && self.name.starts_with(start) && self.name.ends_with(end)
            }
        }
    }

    /// Returns true if the host is the local machine or in a private network.
    pub(super) fn is_private(&self) -> bool {
        const NAMES: &[&str] = &["localhost", "*.localhost", "*.local", "host.docker.internal"];
        // Servers print 0.0.0.0 as the address on which they listen, and users copy it.
        let is_near = |address: Ipv4Addr| address.is_loopback() || address.is_private() || address.is_unspecified();
        match self.name.parse() {
            Ok(IpAddr::V4(address)) => is_near(address),
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.is_unique_local() || address.to_ipv4_mapped().is_some_and(is_near)
            }
            Err(_) => NAMES.iter().any(|pattern| self.is(pattern)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, String};

    fn parts(text: &str) -> Option<(String, Option<u16>)> {
        Host::of(text).map(|host| (host.name, host.port))
    }

    #[test]
    fn hosts_are_read_from_what_people_paste() {
        for (text, name, port) in [
            ("api.x.ai", "api.x.ai", None),
            (" API.x.ai. ", "api.x.ai", None),
            ("api.x.ai:443", "api.x.ai", Some(443)),
            ("api.x.ai:", "api.x.ai", None),
            ("https://api.x.ai/v1", "api.x.ai", None),
            ("https://user:secret@api.x.ai:8443/v1?next=http://other:1", "api.x.ai", Some(8443)),
            ("//api.x.ai/v1", "api.x.ai", None),
            ("localhost:11434/api?from=http://other", "localhost", Some(11434)),
            ("https://api.x.ai\\@other.example/", "api.x.ai", None),
            ("http://[::1]:8000/v1", "::1", Some(8000)),
            ("[::1]", "::1", None),
            ("::1", "::1", None),
            ("2001:db8::2:8000", "2001:db8::2:8000", None),
            ("api.x.ai:99999", "api.x.ai", None),
            ("api.x.ai:http", "api.x.ai:http", None),
        ] {
            assert_eq!(parts(text), Some((name.into(), port)), "{text}");
        }
        for text in ["", " ", "/v1/messages", "https://", "?a=b", ":8000"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn patterns_have_one_gap() {
        let is = |pattern, host: &str| Host::of(host).is_some_and(|host| host.is(pattern));
        assert!(is("*.openai.azure.com", "mine.openai.azure.com"));
        assert!(!is("*.openai.azure.com", ".openai.azure.com"));
        assert!(!is("*.openai.azure.com", "openai.azure.com"));
        assert!(is("ark.*.volces.com", "ark.cn-beijing.volces.com"));
        assert!(!is("ark.*.volces.com", "ark.volces.com"));
        assert!(!is("api.x.ai", "api.x.ai.example"));
    }

    #[test]
    fn private_hosts_are_recognized_by_their_address() {
        let is_private = |host: &str| Host::of(host).is_some_and(|host| host.is_private());
        for host in [
            "localhost:1",
            "x.localhost",
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.2:8000",
            "0.0.0.0",
            "[::1]:8000",
            "[fd00::1]:8080",
            "[::ffff:127.0.0.1]:8080",
            "gpu.local",
            "host.docker.internal",
        ] {
            assert!(is_private(host), "{host}");
        }
        for host in [
            "api.x.ai",
            "+127.0.0.1",
            "[2001:db8::1]",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "8.8.8.8",
            "10.0.0",
            "10.0.0.1.example",
            "127.0.0.1.2",
            "10.0.0.256",
            "local",
            "localhost.example",
        ] {
            assert!(!is_private(host), "{host}");
        }
    }
}
