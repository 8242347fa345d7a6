//! Report about a rewritten request.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{
    request::report::DeferredReport,
    tools::{
        formats::FormatChange,
        quarantine::Quarantined,
        request_facts::{ChoiceChange, RequestChange},
        sanitize_list::ToolChange,
    },
};

/// The changes to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptReport {
    /// Name of the dialect in which the request is written.
    pub dialect: &'static str,
    /// Decisions of deferred loading; `None` if it was not requested.
    pub deferred: Option<DeferredReport>,
    /// Tools that could not be made acceptable and were removed from the request.
    pub quarantined: Vec<Quarantined>,
    /// All changes to tools, in order. (Shared with the cache of tool lists.)
    pub changes: Arc<Vec<ToolChange>>,
    /// Quarantined tools that `tool_choice` allowed in addition to other tools, and no longer allows.
    pub unforced: Vec<String>,
    /// Replacement of a `tool_choice` that the API refuses in this request; `None` if nothing was replaced.
    pub choice: Option<ChoiceChange>,
    /// All changes outside the tools that rules of the API require, in order.
    pub request_changes: Vec<RequestChange>,
    /// All changes to response formats, in order.
    pub format_changes: Vec<FormatChange>,
}
