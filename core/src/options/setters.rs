//! Setters, so that every option of a function can be set at its own top level, wherever the field stands.

use alloc::{string::String, vec::Vec};

use super::{
    AdaptOptions, Allow, Announce, Api, CustomTools, DeferralQuery, DeferredOptions, DialectQuery, EmptyTools,
    ForcedTool, Hints, Mode, Native, Order, Prefix, Reasoning, Refs, Removals, RepairOptions, ServerHistory,
    ServerToolSearch, SystemMessages, ToolChanges, ToolFormat, ToolsOptions, UnavailableCalls, UnknownReference,
    Untyped,
};
#[cfg(feature = "search")]
use super::{ExchangeOptions, SearchMode};

/// Setters of fields of the type itself.
macro_rules! setters {
    ($type:ident { $($field:ident: $value:ty,)* }) => {
        impl $type {
            $(
                #[doc = concat!("Sets [`Self::", stringify!($field), "`].")]
                #[must_use]
                pub fn $field(mut self, value: $value) -> Self {
                    self.$field = value.into();
                    self
                }
            )*
        }
    };
}

/// Setters that the options in a field have: `$inner` is the field, `$of` its type.
macro_rules! setters_of {
    ($type:ident . $inner:ident is $of:ident { $($field:ident: $value:ty,)* }) => {
        impl $type {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](crate::", stringify!($of), ").")]
                #[must_use]
                pub fn $field(mut self, value: $value) -> Self {
                    self.$inner = self.$inner.$field(value);
                    self
                }
            )*
        }
    };
}

/// The options of `sanitize_tools` that are its own, for types that hold them.
macro_rules! list_setters {
    ($type:ident . $inner:ident is $of:ident) => {
        setters_of! {
            $type.$inner is $of {
                format: ToolFormat,
                fallback: impl Into<String>,
                max_tools: impl Into<Option<usize>>,
                repair: impl Into<Option<RepairOptions>>,
                prefix: Prefix,
            }
        }
    };
}

/// The options of `sanitize`, for types that hold them.
macro_rules! schema_setters {
    ($type:ident . $inner:ident is $of:ident) => {
        setters_of! {
            $type.$inner is $of {
                allow: Allow,
                refs: Refs,
                untyped: Untyped,
                hints: Hints,
                max_bytes: impl Into<Option<usize>>,
                max_nodes: usize,
                max_steps: usize,
            }
        }
    };
}

schema_setters!(ToolsOptions.sanitize is SanitizeOptions);
schema_setters!(AdaptOptions.tools is ToolsOptions);
#[cfg(feature = "search")]
schema_setters!(ExchangeOptions.adapt is AdaptOptions);

list_setters!(AdaptOptions.tools is ToolsOptions);
#[cfg(feature = "search")]
list_setters!(ExchangeOptions.adapt is AdaptOptions);

#[cfg(feature = "search")]
setters_of! {
    ExchangeOptions.search is SearchOptions {
        mode: SearchMode,
        limit: usize,
    }
}

setters! {
    DeferredOptions {
        announce: Announce,
        target: impl Into<Option<Api>>,
        mode: Mode,
        order: Order,
        unknown_reference: UnknownReference,
        forced_tool: ForcedTool,
        server_tool_search: ServerToolSearch,
        server_history: ServerHistory,
        native: Native,
        custom_tools: impl Into<Option<CustomTools>>,
        removals: Removals,
        unavailable_calls: UnavailableCalls,
        reasoning: Reasoning,
        max_tokens: u64,
        empty_tools: EmptyTools,
        load_used_tools: bool,
        tool_search_name: impl Into<String>,
        tool_changes: ToolChanges,
        max_repeated_bytes: impl Into<Option<usize>>,
        system_messages: SystemMessages,
        format: impl Into<Option<Api>>,
    }
}

impl DeferredOptions {
    /// Sets [`Self::loaded_tools`].
    ///
    /// ```
    /// use toolwire::DeferredOptions;
    /// let options = DeferredOptions::default().loaded_tools(["Read", "Edit"]);
    /// assert_eq!(options.loaded_tools, ["Read", "Edit"]);
    /// ```
    #[must_use]
    pub fn loaded_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.loaded_tools = names.into_iter().map(Into::into).collect::<Vec<String>>();
        self
    }

    /// Sets [`Self::search_tools`].
    #[must_use]
    pub fn search_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.search_tools = names.into_iter().map(Into::into).collect::<Vec<String>>();
        self
    }
}

#[cfg(feature = "search")]
impl ExchangeOptions {
    /// Sets how tools are loaded that are deferred; `None`: they stay as they are, for an API that has the feature.
    ///
    /// What is said here of [`ServerToolSearch`] counts: otherwise an exchange answers hosted searches itself.
    #[must_use]
    pub fn deferred(mut self, deferred: impl Into<Option<DeferredOptions>>) -> Self {
        self.adapt.deferred = deferred.into();
        self.search_is_chosen = true;
        self
    }
}

impl DialectQuery {
    /// Sets [`Self::api`].
    #[must_use]
    pub fn api(mut self, api: Api) -> Self {
        self.api = Some(api);
        self
    }

    /// Sets [`Self::model`].
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets [`Self::host`].
    ///
    /// ```
    /// use toolwire::{dialect_for, DialectQuery};
    /// assert_eq!(dialect_for(&DialectQuery::default().host("api.moonshot.ai"))?.dialect, "moonshot");
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Sets [`Self::strict`].
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets [`Self::exact`].
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }
}

impl DeferralQuery {
    /// Sets [`Self::api`].
    #[must_use]
    pub fn api(mut self, api: Api) -> Self {
        self.api = Some(api);
        self
    }

    /// Sets [`Self::model`].
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets [`Self::host`].
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }
}
