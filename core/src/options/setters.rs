//! Setters on the structs that contain other options, so that every option can be set directly.

use alloc::string::String;

use super::{
    sanitize::schema_setters, tools::list_setters, AdaptOptions, Allow, Hints, Limit, OutputSchemas, Prefix, Refs,
    RepairOptions, ToolFormat, ToolsOptions, Untyped,
};
#[cfg(feature = "exchange")]
use super::{
    tools::request_setters, DeferredOptions, ExchangeOptions, Formats, HistoryArguments, HistoryPairs, Overflow,
    SearchMode,
};
use crate::dialect::DialectId;

schema_setters!(ToolsOptions.sanitize);
schema_setters!(AdaptOptions.tools);
#[cfg(feature = "exchange")]
schema_setters!(ExchangeOptions.adapt);

list_setters!(AdaptOptions.tools);
#[cfg(feature = "exchange")]
list_setters!(ExchangeOptions.adapt);

#[cfg(feature = "exchange")]
request_setters!(ExchangeOptions.adapt);

#[cfg(feature = "exchange")]
impl ExchangeOptions {
    /// Sets the handling of deferred tools; `None` leaves them unchanged, for an API that supports deferred loading.
    ///
    /// ```
    /// use toolwire::{DeferredOptions, Dialect, Exchange, ExchangeOptions};
    /// let body = r#"{"model":"m","messages":[{"role":"user","content":"a room, please"}],"tools":[
    ///     {"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},
    ///     {"name":"book_room","input_schema":{"type":"object"},"defer_loading":true}
    /// ]}"#;
    /// let deferred = DeferredOptions::default().max_tokens(1_000);
    /// let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC).deferred(deferred);
    /// let exchange = Exchange::open("http://localhost/v1/messages", body, &options)?.expect("a request with tools");
    /// assert!(exchange.request().contains("tool_search") && !exchange.request().contains("book_room"));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn deferred(mut self, deferred: impl Into<Option<DeferredOptions>>) -> Self {
        self.adapt.deferred = deferred.into();
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
