//! The dialects `codex` and `codex-wire`: what OpenAI Codex does to a tool's schema, rule by rule.
//!
//! Source: openai/codex, `codex-rs/tools/src/json_schema.rs` as of late 2026. This is an emulation: where Codex loses
//! something, so does this, and the report says so. Two deviations keep it idempotent: a modelled keyword whose value
//! is null is removed before types are inferred, and pruning runs once more after [`keep`].

mod compact;
mod diagnostics;
mod keep;
mod model;
mod prune;
mod repair;

use crate::{budget::Budget, error::Error, json::Node, report::Recorder};
use diagnostics::Diagnostics;

/// What Codex does before a request leaves, beyond repairing.
pub(super) struct Wire {
    /// The size in bytes above which a schema is compacted.
    pub(super) max_bytes: Option<usize>,
}

/// Does to a schema what Codex does. Without `wire` that is its sanitizer alone.
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
        // Only now: Codex measures definitions that a dropped keyword reached, too.
        prune::prune(node, &mut diagnostics);
    }
    Ok(())
}
