//! The report of a rewritten request.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::{
    formats::FormatChange,
    quarantine::Quarantined,
    request_facts::{ChoiceChange, RequestChange},
    sanitize_list::ToolChange,
};
use crate::request::report::DeferredReport;

/// The changes of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptReport {
    /// The dialect that the request is written in.
    pub dialect: &'static str,
    /// The decisions of deferred loading; `None` if it is not requested.
    pub deferred: Option<DeferredReport>,
    /// The tools that could not be made acceptable and are not in the request.
    pub quarantined: Vec<Quarantined>,
    /// Every change of a tool, in order. (Shared with the cache of tool lists.)
    pub changes: Arc<Vec<ToolChange>>,
    /// The quarantined tools that `tool_choice` allowed among others, and no longer allows.
    pub unforced: Vec<String>,
    /// The replacement of a `tool_choice` that the API refuses in this request; `None` if nothing was replaced.
    pub choice: Option<ChoiceChange>,
    /// Every change that a rule of the API requires outside the tools, in order.
    pub request_changes: Vec<RequestChange>,
    /// Every change of a response format, in order.
    pub format_changes: Vec<FormatChange>,
}
