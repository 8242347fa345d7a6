//! Options: typed structs for Rust, and their reader from JSON for the other languages, which refuses unknown options.
//!
//! The structs are re-exported at the root of the crate. This module contains the enums for options that accept one of
//! a few fixed values.
//!
//! Every option of every function is declared in one row of a table (`options!` in `table.rs`) and read here, so that
//! spelling, defaults and messages are the same in all languages.

mod deferred;
#[cfg(feature = "exchange")]
mod exchange;
mod limit;
mod lookup;
mod repair;
mod results;
mod sanitize;
mod setters;
pub(crate) mod table;
mod tools;

pub use crate::report::{Allow, Confidence};
pub(crate) use deferred::BetaOptions;
pub use deferred::{
    Announce, Client, CustomTools, DeferredOptions, ForcedTool, Mode, Native, Order, Reasoning, Removals,
    ServerHistory, ServerToolSearch, ToolChanges, UnavailableCalls, UnknownReference,
};
#[cfg(feature = "exchange")]
pub(crate) use exchange::without_dialect;
#[cfg(feature = "exchange")]
pub use exchange::ExchangeOptions;
pub use limit::Limit;
pub(crate) use lookup::APIS_WITH_DEFERRAL;
pub use lookup::{Api, DeferralQuery, DialectQuery};
pub use repair::{RepairOptions, Truncated};
pub use results::{Mismatch, ResultOptions, StructuredText};
pub use sanitize::EnvelopeOptions;
pub use sanitize::{Hints, Refs, SanitizeOptions, Untyped, Use};
pub(crate) use table::Example;
pub(crate) use tools::dialects as dialects_to_check;
pub use tools::{
    AdaptOptions, CheckRequestOptions, DuplicateNames, Formats, HistoryArguments, HistoryPairs, OnSetAside,
    OutputSchemas, Overflow, Prefix, ToolFormat, ToolsOptions,
};
pub use tools::{SearchMode, SearchOptions};
