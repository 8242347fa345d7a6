//! Setters, so that every option of a function can be set at its own top level, wherever the field stands.

use alloc::string::String;

use super::{
    sanitize::schema_setters, tools::list_setters, AdaptOptions, Allow, Hints, OutputSchemas, Prefix, Refs,
    RepairOptions, ToolFormat, ToolsOptions, Untyped,
};
#[cfg(feature = "search")]
use super::{
    tools::request_setters, DeferredOptions, ExchangeOptions, Formats, HistoryArguments, HistoryPairs, Overflow,
    SearchMode,
};

schema_setters!(ToolsOptions.sanitize);
schema_setters!(AdaptOptions.tools);
#[cfg(feature = "search")]
schema_setters!(ExchangeOptions.adapt);

list_setters!(AdaptOptions.tools);
#[cfg(feature = "search")]
list_setters!(ExchangeOptions.adapt);

#[cfg(feature = "search")]
request_setters!(ExchangeOptions.adapt);

#[cfg(feature = "search")]
impl ExchangeOptions {
    /// Sets how tools are loaded that are deferred; `None`: they stay as they are, for an API that has the feature.
    ///
    /// The exchange then follows the [`ServerToolSearch`](super::ServerToolSearch) of these options. Without them, it
    /// answers hosted searches itself.
    #[must_use]
    pub fn deferred(mut self, deferred: impl Into<Option<DeferredOptions>>) -> Self {
        self.adapt.deferred = deferred.into();
        self.search_is_chosen = true;
        self
    }

    /// Sets [`SanitizeOptions::wrapper`](super::SanitizeOptions::wrapper) for the response formats of requests.
    #[must_use]
    pub fn wrapper(mut self, name: impl Into<String>) -> Self {
        self.adapt.tools.sanitize.wrapper = name.into();
        self
    }

    /// Sets [`mode`](crate::SearchOptions::mode).
    #[must_use]
    pub fn mode(mut self, mode: SearchMode) -> Self {
        self.search.mode = mode;
        self
    }

    /// Sets [`limit`](crate::SearchOptions::limit).
    #[must_use]
    pub fn limit(mut self, tools: usize) -> Self {
        self.search.limit = tools;
        self
    }
}
