//! **Any tool schema, any model. Nothing is lost silently.**
//!
//! MCP servers publish ordinary JSON Schema. Every model API accepts a different part of it, and answers the rest with
//! HTTP 400 or quietly shows the model a poorer schema. toolwire rewrites what has to be rewritten, and reports every
//! change.
//!
//! # Tools from an MCP server, a model, and the call back
//!
//! ```
//! use serde_json::json;
//! use toolwire::{dialect_for, sanitize_tools, DialectQuery, ToolsOptions};
//!
//! // 1. What the server answered to `tools/list`.
//! let listed = json!({"tools": [{
//!     "name": "issues.search",
//!     "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
//! }]});
//!
//! // 2. What the model's API accepts: send `tools` with the request.
//! let dialect = dialect_for(&DialectQuery::default().host("api.openai.com").strict(true))?;
//! let sanitized = sanitize_tools(&listed, &ToolsOptions::new(dialect.dialect))?;
//! assert_eq!(sanitized.tools[0]["function"]["name"], "issues_search");
//! assert!(sanitized.quarantined.is_empty());
//!
//! // 3. What the model answered, as the server expects it: its own name, and no `null` for what is not there.
//! let call = sanitized.restore.call("issues_search", &json!({"query": "open", "limit": null}))?;
//! assert_eq!((call.name.as_str(), call.arguments), ("issues.search", json!({"query": "open"})));
//! # Ok::<(), toolwire::Error>(())
//! ```
//!
//! # Functions
//!
//! | function | what it does |
//! |---|---|
//! | [`sanitize`] | rewrites a tool's parameter schema into one *dialect*: what one model API accepts |
//! | [`normalize_envelope`] | repairs the tool-parameter envelope only; nested content comes back exactly as it came |
//! | [`apply_deferred_loading`] | makes a request that uses deferred tools work on an API without that feature |
//! | [`sanitize_tools`] | rewrites a whole tool list into an API's own shape, and sets aside what cannot be written |
//! | [`adapt_request`] | does all of that to a whole request |
//! | [`check`], [`check_tools`], [`check_request`] | say what an API would reject, read otherwise or ignore |
//! | [`Restore`], [`ReplyRestorer`], [`CallStream`], [`RestorePlan`], [`restore_arguments`] | bring calls back |
//! | [`validate_arguments`] | says what the tool's own schema has against the arguments of a call |
//! | [`validate_result`] | says what the `outputSchema` of an MCP tool has against a result |
//! | [`dialects`], [`dialect_for`] | say what is known of each API and from where, and which dialect a host needs |
//! | [`deferral_for`] | says which construct of its own for deferred tools a host has |
//! | [`search_tools`], [`ToolIndex`], [`answer_tool_search`] | find deferred tools (feature `search`) |
//! | [`Exchange`] | adapts one request of a client and restores its reply, for gateways (feature `search`) |
//! | [`strip_deferral_betas`], [`settle_deferral_betas`] | settle the betas of deferred loading in a header |
//!
//! What they read is an [`Input`]: a [`serde_json::Value`], or JSON text as `&str` or `&[u8]`. What they return is of
//! the same form; text is the fast and lossless path for proxies. A result is a record, and its report, for example
//! [`Rewritten::changes`], is made when it is read. Without serde_json's feature `preserve_order` in your own build,
//! `Value` sorts its keys; text keeps their order.
//!
//! Each function's options are a struct with setters, for example [`ToolsOptions`]; the words that options take are in
//! [`options`], what reports consist of is in [`reports`], and the names of rules are in [`rules`]. The names of the
//! dialects are constants, for example [`Dialect::GEMINI`]. Every error is an [`Error`] with a [`Code`], a JSON Pointer
//! and a message.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `search` | yes | tool search, and [`Exchange`] |
//! | `serde` | no | `Serialize` and `Deserialize` for [`json::Node`] |
//!
//! The crate is `no_std` with `alloc` and forbids `unsafe`. It does not translate reply streams from one API's
//! format into another's; single calls it does ([`Restore::client_call`]).
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_types, clippy::disallowed_methods))]

extern crate alloc;

mod api;
mod budget;
mod check;
mod collections;
mod deferred;
mod dialect;
mod envelope;
mod error;
#[cfg(feature = "search")]
mod exchange;
#[doc(hidden)]
pub mod internal;
pub mod json;
pub mod limits;
mod names;
mod naming;
mod nearest;
pub mod options;
mod pattern;
mod repair;
mod report;
mod request;
pub mod rules;
mod sanitize;
mod schema;
#[cfg(feature = "search")]
mod search;
mod tools;

pub use api::*;
pub use dialect::Dialect;
pub use error::{Code, Error};
#[cfg(feature = "search")]
pub use options::ExchangeOptions;
pub use options::{
    AdaptOptions, CheckRequestOptions, DeferralQuery, DeferredOptions, DialectQuery, EnvelopeOptions, RepairOptions,
    SanitizeOptions, SearchOptions, ToolsOptions,
};
#[cfg(feature = "search")]
pub use tools::list_cache::ToolListCache;

/// What is reported: changes, violations, tools that were set aside, what deferred loading decided.
pub mod reports {
    pub use crate::{
        check::Violation,
        dialect::{
            lookup::{deferral::DeferralChoice, DialectChoice},
            requests::RequestFact,
            Fact,
        },
        report::{
            lossless, Accepts, AnswerChange, Change, Confidence, Guidance, Left, LeftReason, Reason, Repair,
            RepairRule, Repaired, RepairedCall, Severity,
        },
        request::report::{CallKind, ClientTool, DeferredReport, Warning},
        schema::validate::{ArgumentViolation, Validation},
        tools::{
            check::ToolViolation,
            check_request::RequestViolation,
            formats::FormatChange,
            quarantine::Quarantined,
            request::AdaptReport,
            request_facts::{ChoiceChange, RequestChange},
            sanitize_list::ToolChange,
            set_aside::SetAsideWarning,
        },
    };
}

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
