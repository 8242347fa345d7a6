//! The dialects `codex` and `codex-wire`: the changes that OpenAI Codex makes to a tool's schema, step by step.
//!
//! Source: openai/codex, `codex-rs/tools/src/json_schema.rs` as of late 2026. This is an emulation: it loses what Codex
//! loses, and reports it. Two deviations keep it idempotent: a modelled keyword whose value is null is removed before
//! types are inferred, and pruning runs once more after [`keep`].

mod compact;
mod diagnostics;
mod keep;
mod model;
mod prune;
mod repair;

use crate::{budget::Budget, error::Error, json::Node, report::Recorder};
use diagnostics::Diagnostics;

/// Changes that Codex makes before it sends a request, in addition to repairs.
pub(super) struct Wire {
    /// Size in bytes above which a schema is compacted.
    pub(super) max_bytes: Option<usize>,
}

/// Rewrites a schema as Codex does. Without `wire`, only Codex's sanitizer is applied.
pub(super) fn sanitize(
    node: &mut Node<'_>,
    wire: Option<&Wire>,
    recorder: &mut Recorder,
    budget: &Budget,
) -> Result<(), Error> {
    let mut diagnostics = Diagnostics::new(node, wire.is_some(), recorder, budget)?;
    repair::repair(node, &mut diagnostics)?;
    if let Some(wire) = wire {
        prune::prune(node, &mut diagnostics);
        keep::keep(node, &mut diagnostics)?;
        if let Some(max_bytes) = wire.max_bytes {
            compact::compact(node, max_bytes, &mut diagnostics)?;
        }
        // The second pruning runs last, because Codex also measures definitions that only a dropped keyword reached.
        prune::prune(node, &mut diagnostics);
    }
    Ok(())
}
