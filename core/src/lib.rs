//! **Any tool schema, any model. Nothing is lost silently.**
//!
//! MCP servers publish ordinary JSON Schema. Every model API accepts a different subset of it. It refuses the rest with
//! HTTP 400, or ignores it, and the model then sees a poorer schema. toolwire rewrites what a model API would not
//! accept, and reports every change.
//!
//! # Tools from an MCP server to a model, and the call back to the server
//!
//! ```
//! use serde_json::json;
//! use toolwire::{dialect_for, sanitize_tools, DialectQuery, ToolsOptions};
//!
//! // 1. The server's response to `tools/list`.
//! let listed = json!({"tools": [{
//!     "name": "issues.search",
//!     "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
//! }]});
//!
//! // 2. Tools that the model's API accepts: send `tools` with the request.
//! let dialect = dialect_for(&DialectQuery::default().host("api.openai.com").strict(true))?;
//! let sanitized = sanitize_tools(&listed, &ToolsOptions::new(dialect.dialect))?;
//! assert_eq!(sanitized.tools[0]["function"]["name"], "issues_search");
//! assert!(sanitized.quarantined.is_empty());
//!
//! // 3. The model's call as the server expects it: with its own name, and without `null` for absent properties.
//! let call = sanitized.restore.call("issues_search", &json!({"query": "open", "limit": null}))?;
//! assert_eq!((call.name.as_str(), call.arguments), ("issues.search", json!({"query": "open"})));
//! # Ok::<(), toolwire::Error>(())
//! ```
//!
//! # Functions
//!
//! | function | what it does |
//! |---|---|
//! | [`sanitize`] | rewrites a tool's parameter schema into one *dialect*: the schemas that one model API accepts |
//! | [`normalize_envelope`] | repairs the tool-parameter envelope only; nested content is returned unchanged |
//! | [`apply_deferred_loading`] | makes a request that uses deferred tools work on an API without that feature |
//! | [`sanitize_tools`] | rewrites a whole tool list into an API's format, and sets aside unacceptable tools |
//! | [`adapt_request`] | applies all of these to a whole request |
//! | [`check`], [`check_tools`], [`check_request`] | report what an API would refuse, reinterpret or ignore |
//! | [`Restore`], [`ReplyRestorer`], [`CallStream`], [`RestorePlan`], [`restore_arguments`] | restore calls |
//! | [`validate_arguments`] | validates the arguments of a call against the tool's own schema |
//! | [`validate_result`] | validates a result against the `outputSchema` of an MCP tool |
//! | [`fit_result`] | changes a result that clients refuse, by the `outputSchema` of an MCP tool |
//! | [`dialects`], [`dialect_for`] | return the known facts of each API with their sources, and the dialect of a host |
//! | [`deferral_for`] | returns the native construct of a host for deferred tools |
//! | [`search_tools`], [`ToolIndex`], [`answer_tool_search`] | find deferred tools (feature `search`) |
//! | [`Exchange`] | adapts one client request and restores its reply, for gateways (feature `exchange`) |
//! | [`strip_deferral_betas`], [`settle_deferral_betas`] | remove or add the betas of deferred loading in a header |
//!
//! These functions accept an [`Input`]: a [`serde_json::Value`], or JSON text as `&str` or `&[u8]`. Their results have
//! the same form. Text is the fast and lossless path for proxies. A result is a struct; its report, for example
//! [`Rewritten::changes`], is computed when it is first read. Unless your own build enables serde_json's feature
//! `preserve_order`, `Value` sorts its keys; text keeps their order.
//!
//! The options of each function are a struct with setters, for example [`ToolsOptions`]; the enums of option values are
//! in [`options`], the types of reports in [`reports`], and the names of rules in [`rules`]. The name of a dialect is a
//! [`DialectId`]: a constant such as [`Dialect::GEMINI`], or text that was parsed (`"gemini".parse()?`). Every error is
//! an [`Error`] with a [`Code`], a JSON Pointer and a message.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `exchange` | yes | [`Exchange`], for gateways; includes `search` |
//! | `search` | yes | tool search |
//! | `serde` | no | `Serialize` for reports, dialects and errors: the JSON that Node and Python return |
//!
//! [`Restore`], [`RestorePlan`] and [`DialectId`] also implement `Deserialize` with the feature `serde`.
//!
//! The crate is `no_std` with `alloc` and forbids `unsafe`. It translates single calls from one API's format into
//! another's ([`Restore::client_call`]), but not reply streams.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_types, clippy::disallowed_methods))]

extern crate alloc;

mod adapt;
mod api;
mod budget;
mod check;
mod collections;
mod deferred;
mod dialect;
mod effect;
mod envelope;
mod error;
#[cfg(feature = "exchange")]
mod exchange;
#[doc(hidden)]
pub mod internal;
mod json;
pub mod limits;
mod names;
mod naming;
pub mod options;
mod pattern;
mod repair;
mod reply;
mod report;
mod request;
pub mod rules;
mod sanitize;
mod schema;
#[cfg(feature = "search")]
mod search;
mod steps;
mod tools;
mod wire;

pub use api::*;
pub use dialect::{Dialect, DialectId};
pub use error::{Code, Error};
#[cfg(feature = "exchange")]
pub use options::ExchangeOptions;
pub use options::{
    AdaptOptions, CheckRequestOptions, DeferralQuery, DeferredOptions, DialectQuery, EnvelopeOptions, RepairOptions,
    ResultOptions, SanitizeOptions, SearchOptions, ToolsOptions,
};
#[cfg(feature = "exchange")]
pub use tools::list_cache::ToolListCache;

/// Types of reports: changes, violations, tools that were set aside, decisions of deferred loading.
///
/// Changes and violations of schemas and tools name a [`Rule`](crate::rules::Rule) or a
/// [`Constraint`](crate::rules::Constraint). Those of requests, and the reasons of quarantined tools, come from several
/// lists, so they are strings.
pub mod reports {
    pub use crate::{
        adapt::AdaptReport,
        check::Violation,
        dialect::{
            lookup::{deferral::DeferralChoice, DialectChoice},
            requests::RequestFact,
            Fact,
        },
        effect::{Accepts, Guidance},
        repair::results::FittedResult,
        report::{
            lossless, AnswerChange, Change, Confidence, Grade, Left, LeftReason, Reason, Repair, RepairRule, Repaired,
            RepairedCall, ResultChange, ResultRule, Severity,
        },
        request::report::{CallKind, ClientTool, DeferredReport, Warning},
        schema::validate::{ArgumentViolation, Validation},
        tools::{
            check::{RequestViolation, ToolViolation},
            formats::FormatChange,
            quarantine::{Quarantined, SetAsideWarning},
            request_facts::{ChoiceChange, RequestChange},
            sanitize_list::ToolChange,
        },
    };
}

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
