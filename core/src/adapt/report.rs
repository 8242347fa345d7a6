//! Report about a rewritten request.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use crate::{
    collections::Map,
    dialect::DialectId,
    request::{betas, report::DeferredReport},
    tools::{
        formats::FormatChange,
        quarantine::Quarantined,
        request_facts::{ChoiceChange, RequestChange},
        sanitize_list::ToolChange,
    },
};

/// The changes to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptReport {
    /// Dialect in which the request is written.
    pub dialect: DialectId,
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
    /// The betas that the header `anthropic-beta` has to name, if they differ from
    /// [`AdaptOptions::betas`](crate::AdaptOptions::betas); an empty list means that the header must not be sent.
    pub betas: Option<Vec<String>>,
    /// The difference between the given betas and [`Self::betas`].
    pub(crate) beta_changes: betas::Changes,
}

impl AdaptReport {
    pub(crate) fn new(dialect: DialectId) -> Self {
        AdaptReport {
            dialect,
            deferred: None,
            quarantined: Vec::new(),
            changes: Arc::default(),
            unforced: Vec::new(),
            choice: None,
            request_changes: Vec::new(),
            format_changes: Vec::new(),
            betas: None,
            beta_changes: betas::Changes::default(),
        }
    }

    /// Corrects the output pointers of changes after messages were added before the history.
    pub(super) fn shift_output_messages(&mut self, history: &str, added: usize) {
        let shifted = |pointer: &str| {
            let inner = pointer.strip_prefix('/')?.strip_prefix(history)?.strip_prefix('/')?;
            let (index, rest) = inner.split_at(inner.find('/').unwrap_or(inner.len()));
            Some(format!("/{history}/{}{rest}", index.parse::<usize>().ok()? + added))
        };
        let is_shifted =
            |tool_change: &ToolChange| tool_change.change.output_pointer.as_deref().and_then(shifted).is_some();
        if added == 0 || !self.changes.iter().any(is_shifted) {
            return;
        }
        for pointer in
            Arc::make_mut(&mut self.changes).iter_mut().flat_map(|tool_change| &mut tool_change.change.output_pointer)
        {
            *pointer = shifted(pointer).unwrap_or_else(|| core::mem::take(pointer));
        }
    }

    /// Corrects the output pointers of changes after tools were removed from the list at `list`. `remaining` maps the
    /// old pointer of each remaining tool to its new pointer.
    pub(super) fn relocate_tools(&mut self, list: &str, remaining: &Map<String, String>) {
        let is_of_list = |pointer: &str| pointer.strip_prefix(list).is_some_and(|rest| rest.starts_with('/'));
        let relocate = |pointer: &str| {
            let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
            let mut parts = ends.filter_map(|end| pointer.split_at_checked(end));
            parts.find_map(|(tool, rest)| Some(format!("{}{rest}", remaining.get(tool)?)))
        };
        if !self.changes.iter().any(|tool_change| tool_change.change.output_pointer.as_deref().is_some_and(is_of_list))
        {
            return;
        }
        for tool_change in Arc::make_mut(&mut self.changes) {
            let pointer = &mut tool_change.change.output_pointer;
            if let Some(old) = pointer.take() {
                *pointer = if is_of_list(&old) { relocate(&old) } else { Some(old) };
            }
        }
    }
}
