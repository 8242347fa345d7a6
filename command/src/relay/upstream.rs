//! The upstream APIs of a relay, and the choice of one for a request.

use std::collections::BTreeMap;

use toolwire::{
    json::{self, Node},
    options::{Confidence, Formats, Native, Overflow},
    ExchangeOptions, RepairOptions,
};
use wildmatch::WildMatch;

use crate::{
    arguments::{choice, least_confidence, AUTO},
    http::address::Address,
};

/// An upstream API.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upstream {
    pub(crate) address: Address,
    /// Path prefix of the requests for this API, which is removed before they are sent. If it is empty, the API
    /// receives requests for every path.
    pub(crate) path: String,
    /// Models whose requests this API receives: names, or patterns with `*`. If the list is empty, the API receives
    /// requests for every model.
    pub(crate) models: Vec<String>,
    /// Model names of the API, by the names that clients use.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) options: Words,
}

/// Options for requests from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// The dialect; `None` if it is detected from the host, path and model.
    pub(crate) dialect: Option<String>,
    pub(crate) native: String,
    pub(crate) repair: String,
    pub(crate) formats: String,
    pub(crate) overflow: String,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            dialect: None,
            native: AUTO.into(),
            repair: Confidence::Likely.as_str().into(),
            formats: Formats::Native.as_str().into(),
            overflow: Overflow::Quarantine.as_str().into(),
        }
    }
}

impl Upstream {
    /// Returns the options for requests.
    pub(super) fn options(&self) -> ExchangeOptions {
        let Words { dialect, native, repair, formats, overflow } = &self.options;
        let mut options = ExchangeOptions::default();
        let native = choice::<Native>(Some(native));
        options.native_is_auto = native.is_none();
        if let (Some(deferred), Some(native)) = (&mut options.adapt.deferred, native) {
            deferred.native = native;
        }
        options.adapt.formats = choice(Some(formats)).unwrap_or(options.adapt.formats);
        options.adapt.overflow = choice(Some(overflow)).unwrap_or(options.adapt.overflow);
        options.adapt.tools.repair = least_confidence(repair).map(|least| RepairOptions::default().confidence(least));
        options.dialect.clone_from(dialect);
        options
    }

    /// Returns true if this API receives requests for a path.
    pub(super) fn has_path(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path.as_str());
        rest.is_some_and(|rest| self.path.is_empty() || rest.is_empty() || rest.starts_with(['/', '?']))
    }

    /// Returns true if this API receives requests for a model.
    pub(super) fn has_model(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| WildMatch::new(pattern).matches(model))
    }

    /// Returns true if a path may be outside the path of this API after normalization.
    pub(super) fn is_left_by(&self, path: &str) -> bool {
        let is_dots = |segment: &str| {
            let plain = segment.replace("%2e", ".").replace("%2E", ".");
            plain == "." || plain == ".."
        };
        let is_bounded = !self.path.is_empty() || !self.address.base.is_empty();
        let is_odd = path.contains('\\') || path.to_ascii_lowercase().contains("%5c");
        is_bounded && (is_odd || path.replace("%2f", "/").replace("%2F", "/").split('/').any(is_dots))
    }

    /// Returns the path and the query of a request at this API.
    pub(super) fn target(&self, target: &str) -> String {
        let rest = target.strip_prefix(self.path.as_str()).unwrap_or(target);
        let path = format!("{}{rest}", self.address.base);
        if path.starts_with('/') {
            path
        } else {
            format!("/{path}")
        }
    }

    /// Returns the model name that the API uses, if it differs.
    pub(super) fn renamed(&self, model: &str) -> Option<&str> {
        self.names.get(model).map(String::as_str)
    }
}

/// Returns the API for a request: of the APIs with the longest matching path, the first one that accepts the model. A
/// request without a model goes to the first API that accepts every model, or to the only API, because an API key must
/// not be sent to another provider.
pub(super) fn route<'u>(upstreams: &'u [Upstream], path: &str, model: Option<&str>) -> Option<(usize, &'u Upstream)> {
    let fits = |one: &&Upstream| one.has_path(path);
    let longest = upstreams.iter().filter(fits).map(|one| one.path.len()).max()?;
    let mut candidates =
        upstreams.iter().enumerate().filter(|(_, one)| one.path.len() == longest && one.has_path(path));
    match model {
        Some(model) => candidates.find(|(_, one)| one.has_model(model)),
        None => {
            let all: Vec<(usize, &Upstream)> = candidates.collect();
            let takes_all = all.iter().find(|(_, one)| one.models.is_empty());
            takes_all.or(all.first().filter(|_| all.len() == 1)).copied()
        }
    }
}

/// Returns the first API with the longest matching path, for a request whose model is not known yet.
pub(super) fn first<'u>(upstreams: &'u [Upstream], path: &str) -> Option<(usize, &'u Upstream)> {
    let longest = upstreams.iter().filter(|one| one.has_path(path)).map(|one| one.path.len()).max()?;
    upstreams.iter().enumerate().find(|(_, one)| one.path.len() == longest && one.has_path(path))
}

/// Returns true if an API accepts the path of a request, for any model.
pub(super) fn has_path(upstreams: &[Upstream], path: &str) -> bool {
    upstreams.iter().any(|one| one.has_path(path))
}

/// Returns the name of the model in a request body.
pub(super) fn model_of(body: &Node<'_>) -> Option<String> {
    Some(body.get("model")?.as_text()?.display().into_owned())
}

/// Returns the body with a different model.
pub(super) fn with_model(mut body: Node<'_>, model: &str) -> String {
    body.set("model", Node::string(model.to_string()));
    json::write(&body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(url: &str, path: &str, models: &[&str]) -> Upstream {
        Upstream {
            address: Address::read(url).unwrap_or_default(),
            path: path.into(),
            models: models.iter().map(ToString::to_string).collect(),
            ..Upstream::default()
        }
    }

    #[test]
    fn request_paths_become_upstream_paths() {
        let plain = upstream("https://api.example.com", "", &[]);
        assert_eq!(plain.target("/v1/messages?beta=true"), "/v1/messages?beta=true");
        assert_eq!(plain.target("//evil.example/v1"), "//evil.example/v1");
        let deep = upstream("https://api.example.com/anthropic/", "/kimi", &[]);
        assert_eq!(deep.target("/kimi/v1/messages"), "/anthropic/v1/messages");
        assert_eq!(deep.target("/kimi?a"), "/anthropic?a");
        assert_eq!(upstream("https://a", "/kimi", &[]).target("/kimi"), "/");
        assert!(deep.has_path("/kimi") && !deep.has_path("/kimis/v1"));
        for path in ["/kimi/../x", "/kimi/%2e%2E/x", "/kimi/..%2fx", "/kimi/.", "/kimi\\..\\x", "/kimi/%5c.."] {
            assert!(deep.is_left_by(path) && !plain.is_left_by(path), "{path}");
        }
        assert!(!deep.is_left_by("/kimi/v1/..a/a..b/.x"));
    }

    #[test]
    fn routes_by_the_longest_path_then_by_model() {
        let all = [
            upstream("https://a", "", &["deepseek-*"]),
            upstream("https://b", "", &[]),
            upstream("https://c", "/kimi", &[]),
        ];
        let routed = |path: &str, model: Option<&str>| route(&all, path, model).map(|(at, _)| at);
        assert_eq!(routed("/v1/messages", Some("deepseek-chat")), Some(0));
        assert_eq!(routed("/v1/messages", Some("gpt-5")), Some(1));
        assert_eq!(routed("/kimi/v1/messages", Some("deepseek-chat")), Some(2));
        assert_eq!(routed("/v1/models", None), Some(1));
        assert_eq!(routed("/kimi/v1/models", None), Some(2));
        let only_some = [upstream("https://a", "", &["a-*"]), upstream("https://b", "", &["b-*"])];
        assert_eq!(route(&only_some, "/v1/models", None).map(|(at, _)| at), None);
        assert_eq!(route(all.get(..1).unwrap_or_default(), "/v1", Some("gpt-5")).map(|(at, _)| at), None);
    }
}
