//! Finds the dialect of an API by its host, its protocol and the model. The host is read from URLs and similar text,
//! with or without a port.
//!
//! Capabilities depend on host, model and strictness, so they are rows of a table. The first matching row applies.

pub(crate) mod deferral;
mod rows;

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::net::{IpAddr, Ipv4Addr};

use super::{Dialect, DialectId};
use crate::{
    dialect,
    error::{Code, Error},
    naming::did_you_mean,
    options::{Api, DialectQuery},
    report::Grade,
};
use rows::{Row, Scope, RETIRED, ROWS};

/// The dialect of schemas that all major APIs accept.
const FALLBACK: DialectId = Dialect::PORTABLE;

/// A dialect, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectChoice {
    /// The dialect, for the options of every function.
    pub dialect: DialectId,
    /// Confidence. `A`: documented, or proved; `B`: one live report; `C`: inferred.
    pub confidence: Grade,
    /// The evidence, as a sentence.
    pub because: Cow<'static, str>,
}

impl DialectChoice {
    /// Returns the hosts that [`dialect_for`](crate::dialect_for) knows, in the order of its table; `*` matches any
    /// characters.
    ///
    /// ```
    /// use toolwire::reports::DialectChoice;
    /// assert!(DialectChoice::hosts().contains(&"api.moonshot.ai"));
    /// ```
    pub fn hosts() -> Vec<&'static str> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in ROWS.iter().flat_map(Row::hosts) {
            if !hosts.contains(host) {
                hosts.push(host);
            }
        }
        hosts
    }
}

struct ParsedQuery {
    host: Option<Host>,
    api: Option<Api>,
    model: Option<String>,
}

impl ParsedQuery {
    fn of(query: &DialectQuery) -> ParsedQuery {
        let host = query.host.as_deref().and_then(Host::of);
        ParsedQuery { host, api: query.api, model: query.model.as_deref().map(bare_model) }
    }

    fn fits(&self, row: &Row) -> bool {
        let host_is = |test: &dyn Fn(&Host) -> bool| self.host.as_ref().is_some_and(test);
        let scope_fits = match row.scope {
            Scope::Anywhere => true,
            Scope::NoHost => self.host.is_none(),
            Scope::Hosts(patterns) => host_is(&|host| patterns.iter().any(|pattern| host.is(pattern))),
            Scope::Port(port) => host_is(&|host| host.port == Some(port)),
            Scope::PrivatePorts(ports) => {
                host_is(&|host| host.port.is_some_and(|port| ports.contains(&port)) && host.is_private())
            }
        };
        scope_fits
            && (row.apis.is_empty() || self.api.is_some_and(|api| row.apis.contains(&api)))
            && (row.models.is_empty()
                || self.model.as_deref().is_some_and(|model| row.models.iter().any(|start| model.starts_with(start))))
    }

    fn fallback_reason(&self, strict: bool) -> String {
        let unknown = match (&self.host, &self.model) {
            (Some(Host { name, .. }), None) => format!("unknown host `{name}`"),
            (Some(Host { name, .. }), Some(model)) => {
                format!("unknown host `{name}`, whose rules for `{model}` are also unknown")
            }
            (None, Some(model)) => format!("unknown model `{model}`"),
            (None, None) => "unknown host".to_string(),
        };
        let unless = if strict { " if tools are not strict; no strict dialect is known there" } else { "" };
        format!("{unknown}; `{FALLBACK}` is what all major surfaces accept{unless}")
    }
}

/// # Errors
/// `invalid-option` if the query is empty; `unknown-dialect` for a retired host, and with `exact` if no row matches.
pub(crate) fn dialect_for(query: &DialectQuery) -> Result<DialectChoice, Error> {
    let parsed = ParsedQuery::of(query);
    if parsed.api.is_none() && parsed.model.is_none() && parsed.host.is_none() {
        let message = "expected an `api`, a `model` or a `host`, found none";
        return Err(Error::new(Code::InvalidOption, "", message));
    }
    if let Some(host) = &parsed.host {
        if let Some(retired) = RETIRED.iter().find(|retired| host.is(retired.host)) {
            let message =
                format!("expected a host that is still in service, found `{}`, {}", retired.host, retired.what_to_do);
            return Err(Error::new(Code::UnknownDialect, "/host", message));
        }
    }
    let guess = |because| DialectChoice { dialect: FALLBACK, confidence: Grade::C, because: Cow::Owned(because) };
    let Some(row) = ROWS.iter().find(|row| parsed.fits(row)) else {
        return if query.exact {
            Err(unknown(query, &parsed))
        } else {
            Ok(guess(parsed.fallback_reason(query.strict)))
        };
    };
    let answer = |name| DialectChoice {
        dialect: DialectId::listed(name),
        confidence: row.confidence,
        because: Cow::Borrowed(row.because),
    };
    match row.strict {
        _ if !query.strict => Ok(answer(row.plain)),
        Some(strict) => Ok(answer(strict)),
        None if query.exact => Err(not_strict(row.plain)),
        None => Ok(guess(format!("no strict dialect is known there: {}", row.because))),
    }
}

/// Returns the dialect of tools with `strict: true` at a URL, if the API enforces their schemas there. The list of
/// tools may also contain tools that are not strict.
pub(crate) fn strict_dialect(query: &DialectQuery, url: &str) -> Option<&'static Dialect> {
    let parsed = ParsedQuery::of(query);
    let row = ROWS.iter().find(|row| parsed.fits(row))?;
    let name = row.strict.filter(|_| path_of(url).starts_with(row.strict_path))?;
    dialect::named(name).ok().filter(|dialect| dialect.tools.not_strict.is_some())
}

pub(crate) fn has_strict_mode(plain: &str) -> bool {
    ROWS.iter().any(|row| row.plain == plain && row.strict.is_some_and(|strict| strict != plain))
}

fn not_strict(plain: &str) -> Error {
    let message =
        format!("expected an API whose strict mode is known, found `{plain}`; without `strict` it is `{plain}`");
    Error::new(Code::UnknownDialect, "/strict", message)
}

fn unknown(query: &DialectQuery, parsed: &ParsedQuery) -> Error {
    let (pointer, found) = match (&parsed.host, &query.model) {
        // Only the host is reported, because a URL may contain a key.
        (Some(host), _) => ("/host", host.name.as_str()),
        (None, Some(model)) => ("/model", model.as_str()),
        (None, None) => ("/api", "no other hint"),
    };
    let hosts = ROWS.iter().flat_map(Row::hosts);
    let models = ROWS.iter().filter(|row| row.is_of_a_model()).flat_map(|row| row.models);
    let meant = did_you_mean(found, hosts.chain(models));
    let message = format!(
        "expected a known host or model, found `{found}`{meant}; set `dialect` yourself, or leave out `exact` \
         to get `{FALLBACK}` (the documentation of the dialects lists hosts and models)"
    );
    Error::new(Code::UnknownDialect, pointer, message)
}

/// Vendors that agents and gateways write before a colon. `mistral` is not listed: it is a model of Ollama, whose tags
/// follow a colon.
const VENDORS: [&str; 9] =
    ["openai", "azure", "anthropic", "google-gla", "google-vertex", "google_genai", "google_vertexai", "xai", "groq"];

/// Returns the model's name in lower case, without its vendor: `openai/gpt-5` and `openai:gpt-5` become `gpt-5`.
fn bare_model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    match name.split_once(':') {
        Some((vendor, rest)) if VENDORS.contains(&vendor) => rest.into(),
        _ => name,
    }
}

/// A host, whose name is in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) name: String,
    port: Option<u16>,
}

/// Returns the path of a URL; empty for a text without a scheme.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
    path.split(['?', '#']).next().unwrap_or_default()
}

impl Host {
    /// Accepts a URL or a host. Returns `None` for any other string, for example a path.
    pub(crate) fn of(text: &str) -> Option<Host> {
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
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
                // No port, or more than one colon: an IPv6 address without brackets.
                _ => (authority, ""),
            },
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        // `parse` accepts a sign, but a port has none.
        let port = port.parse().ok().filter(|_| !port.starts_with('+'));
        (!name.is_empty()).then(|| Host { name: name.to_ascii_lowercase(), port })
    }

    /// `*` in the pattern matches one or more characters.
    pub(crate) fn is(&self, pattern: &str) -> bool {
        match pattern.split_once('*') {
            None => self.name == pattern,
            Some((start, end)) => {
                let longer = self.name.len() > start.len() + end.len();
                longer && self.name.starts_with(start) && self.name.ends_with(end)
            }
        }
    }

    pub(crate) fn has_private_port(&self, port: u16) -> bool {
        self.port == Some(port) && self.is_private()
    }

    /// Returns true for the local machine and for a host in a private network.
    fn is_private(&self) -> bool {
        const NAMES: &[&str] = &["localhost", "*.localhost", "*.local", "host.docker.internal"];
        // Servers print 0.0.0.0 as the address on which they listen, and users copy it.
        let is_private_address =
            |address: Ipv4Addr| address.is_loopback() || address.is_private() || address.is_unspecified();
        match self.name.parse() {
            Ok(IpAddr::V4(address)) => is_private_address(address),
            Ok(IpAddr::V6(address)) => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.to_ipv4_mapped().is_some_and(is_private_address)
            }
            Err(_) => NAMES.iter().any(|pattern| self.is(pattern)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{rows::Scope, Host, String, FALLBACK, ROWS};
    use crate::{
        dialect::{Dialect, DIALECTS},
        report::Grade,
    };

    #[test]
    fn every_row_names_a_known_dialect() {
        let rows = ROWS.iter().flat_map(|row| [Some(row.plain), row.strict]).flatten();
        for name in rows.chain([FALLBACK.as_str()]) {
            assert!(DIALECTS.iter().any(|dialect| dialect.name == name), "{name}");
        }
    }

    #[test]
    fn every_dialect_of_an_api_is_found_by_a_row() {
        // Dialects of clients have no host.
        let is_client = |dialect: &Dialect| dialect.name.starts_with("codex") || dialect.is_mcp_client();
        for dialect in DIALECTS.iter().filter(|dialect| !is_client(dialect)) {
            assert!(
                ROWS.iter().any(|row| row.plain == dialect.name || row.strict == Some(dialect.name)),
                "{}",
                dialect.name
            );
        }
    }

    #[test]
    fn every_row_has_a_confidence_and_a_source() {
        for row in ROWS {
            assert!((Grade::A..=Grade::C).contains(&row.confidence), "{}", row.because);
            assert!(row.because.len() > 20 && !row.because.ends_with('.'), "{}", row.because);
            // The default port of a server is weak evidence at a private host, never of confidence `A`.
            assert!(row.confidence != Grade::A || !matches!(row.scope, Scope::PrivatePorts(_)), "{}", row.because);
        }
    }

    #[test]
    fn patterns_are_lower_case_with_at_most_one_wildcard() {
        for pattern in ROWS.iter().flat_map(|row| row.hosts()) {
            assert!(pattern.matches('*').count() <= 1 && *pattern == pattern.to_lowercase(), "{pattern}");
        }
    }

    fn parts(text: &str) -> Option<(String, Option<u16>)> {
        Host::of(text).map(|host| (host.name, host.port))
    }

    #[test]
    fn hosts_are_extracted_from_pasted_addresses() {
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
    fn wildcard_matches_one_or_more_characters() {
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
