//! Finds the dialect of an API by its host, its protocol and the model.
//!
//! Capabilities depend on host, model and strictness, so they are rows of a table, of which the first match applies.

pub(crate) mod deferral;
mod host;
mod rows;

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    dialect::{self, Dialect},
    error::{Code, Error},
    nearest::did_you_mean,
    options::{Api, DialectQuery, SanitizeOptions},
};
use host::Host;
use rows::{Place, Row, RETIRED, ROWS};

/// The dialect for unknown APIs: what the major surfaces all accept.
const FALLBACK: &str = "portable";

/// A dialect, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectChoice {
    /// The name that `sanitize` accepts.
    pub dialect: &'static str,
    /// Confidence. `A`: documented, or proved; `B`: one live report; `C`: inferred.
    pub confidence: char,
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

/// The query, normalized for comparison with rows.
struct Known {
    host: Option<Host>,
    api: Option<Api>,
    model: Option<String>,
}

impl Known {
    fn of(query: &DialectQuery) -> Known {
        let host = query.host.as_deref().and_then(Host::of);
        Known { host, api: query.api, model: query.model.as_deref().map(bare_model) }
    }

    fn fits(&self, row: &Row) -> bool {
        let host_is = |test: &dyn Fn(&Host) -> bool| self.host.as_ref().is_some_and(test);
        let place_fits = match row.place {
            Place::Anywhere => true,
            Place::Unsaid => self.host.is_none(),
            Place::Hosts(patterns) => host_is(&|host| patterns.iter().any(|pattern| host.is(pattern))),
            Place::Port(port) => host_is(&|host| host.port == Some(port)),
            Place::PrivatePorts(ports) => {
                host_is(&|host| host.port.is_some_and(|port| ports.contains(&port)) && host.is_private())
            }
        };
        place_fits
            && (row.apis.is_empty() || self.api.is_some_and(|api| row.apis.contains(&api)))
            && (row.models.is_empty()
                || self.model.as_deref().is_some_and(|model| row.models.iter().any(|start| model.starts_with(start))))
    }

    /// Returns why only the fallback is known.
    fn because(&self, strict: bool) -> String {
        let unknown = match (&self.host, &self.model) {
            (Some(Host { name, .. }), None) => format!("unknown host `{name}`"),
            (Some(Host { name, .. }), Some(model)) => {
                format!("unknown host `{name}`, and unknown rules there for `{model}`")
            }
            (None, Some(model)) => format!("unknown model `{model}`"),
            (None, None) => "unknown host".to_string(),
        };
        let unless = if strict { " if tools are not strict; no strict dialect is known there" } else { "" };
        format!("{unknown}; `{FALLBACK}` is what all major surfaces accept{unless}")
    }
}

/// Returns the dialect for a query, and the evidence for it.
///
/// # Errors
/// `invalid-option` if the query is empty; `unknown-dialect` for a retired host, and with `exact` if no row matches.
pub(crate) fn dialect_for(query: &DialectQuery) -> Result<DialectChoice, Error> {
    let known = Known::of(query);
    if known.api.is_none() && known.model.is_none() && known.host.is_none() {
        let message = "expected an `api`, a `model` or a `host`, found none";
        return Err(Error::new(Code::InvalidOption, "", message));
    }
    if let Some(host) = &known.host {
        if let Some(retired) = RETIRED.iter().find(|retired| host.is(retired.host)) {
            let message =
                format!("expected a host that is still in service, found `{}`, {}", retired.host, retired.what_to_do);
            return Err(Error::new(Code::UnknownDialect, "/host", message));
        }
    }
    let guess = |because| DialectChoice { dialect: FALLBACK, confidence: 'C', because: Cow::Owned(because) };
    let Some(row) = ROWS.iter().find(|row| known.fits(row)) else {
        return if query.exact { Err(unknown(query, &known)) } else { Ok(guess(known.because(query.strict))) };
    };
    let answer = |dialect| DialectChoice { dialect, confidence: row.confidence, because: Cow::Borrowed(row.because) };
    match row.strict {
        _ if !query.strict => Ok(answer(row.plain)),
        Some(strict) => Ok(answer(strict)),
        None if query.exact => Err(not_strict(row.plain)),
        None => Ok(guess(format!("no strict dialect is known there: {}", row.because))),
    }
}

/// Returns the dialect of tools with `strict: true` at a URL, if the API enforces their schemas there, and if its list
/// of tools may also contain tools that are not strict.
pub(crate) fn strict_dialect(query: &DialectQuery, url: &str) -> Option<&'static Dialect> {
    let known = Known::of(query);
    let row = ROWS.iter().find(|row| known.fits(row))?;
    let name = row.strict.filter(|_| host::path_of(url).starts_with(row.strict_path))?;
    dialect::of(&SanitizeOptions::new(name)).ok().filter(|dialect| dialect.tools.not_strict.is_some())
}

/// Returns true if an API of this dialect has a strict mode with different rules.
pub(crate) fn has_strict_mode(plain: &str) -> bool {
    ROWS.iter().any(|row| row.plain == plain && row.strict.is_some_and(|strict| strict != plain))
}

fn not_strict(plain: &str) -> Error {
    let message =
        format!("expected an API whose strict mode is known, found `{plain}`; without `strict` it is `{plain}`");
    Error::new(Code::UnknownDialect, "/strict", message)
}

fn unknown(query: &DialectQuery, known: &Known) -> Error {
    let (pointer, found) = match (&known.host, &query.model) {
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

/// Returns a model's name in lower case, without the vendor prefix.
fn bare_model(model: &str) -> String {
    model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{rows::Place, FALLBACK, ROWS};
    use crate::dialect::{Dialect, DIALECTS};

    #[test]
    fn every_row_names_a_known_dialect() {
        let rows = ROWS.iter().flat_map(|row| [Some(row.plain), row.strict]).flatten();
        for name in rows.chain([FALLBACK]) {
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
            assert!(('A'..='C').contains(&row.confidence), "{}", row.because);
            assert!(row.because.len() > 20 && !row.because.ends_with('.'), "{}", row.because);
            // The default port of a server is weak evidence at a private host, never of confidence `A`.
            assert!(row.confidence != 'A' || !matches!(row.place, Place::PrivatePorts(_)), "{}", row.because);
        }
    }

    #[test]
    fn patterns_are_lower_case_with_at_most_one_gap() {
        for pattern in ROWS.iter().flat_map(|row| row.hosts()) {
            assert!(pattern.matches('*').count() <= 1 && *pattern == pattern.to_lowercase(), "{pattern}");
        }
    }
}
