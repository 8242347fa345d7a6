//! Beta names of deferred loading, in requests and in the `anthropic-beta` header.

use alloc::{borrow::Cow, vec::Vec};

use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    options::Native,
    request::{
        betas::{self, Header},
        tool::has_type,
    },
    wire::anthropic::mentions::changed_definition,
    wire::anthropic::mentions::tool_change_kind,
};

/// Beta for additions and removals by name.
const CHANGES: &str = "mid-conversation-tool-changes-2026-07-01";
/// Beta for additions that contain definitions.
const INLINE: &str = "inline-tools-2026-09-15";
/// Beta for definitions of whole MCP servers.
const TOOLSETS: &str = "mcp-client-2026-09-15";

/// The betas that a backend without deferred loading does not support.
const BETAS: [&str; 4] = ["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19", CHANGES, INLINE];

/// Returns the betas that a backend does not support.
fn unsupported_by(native: Native) -> &'static [&'static str] {
    match native {
        Native::References => &[CHANGES, INLINE],
        Native::Changes => &[INLINE],
        Native::Inline => &[],
        _ => &BETAS,
    }
}

/// Rewrites the value of the header, a comma-separated list: removes betas that the backend does not support, and adds
/// the betas that the request needs. Returns `None` if no beta is left.
pub(crate) fn header<'v>(value: Option<&'v str>, native: Native, needed: &[&str]) -> Option<Cow<'v, str>> {
    betas::rewrite_header(value, &|name| unsupported_by(native).contains(&name), needed)
}

/// Returns true if deferred loading may need, remove or add a beta.
#[cfg(feature = "exchange")]
pub(crate) fn is_about(beta: &str) -> bool {
    BETAS.contains(&beta) || beta == TOOLSETS
}

/// Rewrites a parsed header as [`header`] rewrites its text.
pub(crate) fn rewrite_header(header: &mut Header, native: Native, needed: &[&'static str]) {
    unsupported_by(native).iter().for_each(|name| header.remove(name));
    needed.iter().for_each(|name| header.add(name));
}

/// Returns the betas that a request needs. The beta for definitions also allows changes by name. Source: Anthropic's
/// documentation, mid-conversation tool changes, read 2026-09-22.
pub(super) fn needed(request: &Node<'_>) -> Result<Vec<&'static str>, Error> {
    let (mut changes, mut definitions, mut toolsets) = (false, false, false);
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        for block in message.items_at("content") {
            changes |= tool_change_kind(block).is_some();
            if let Some(definition) = changed_definition(block).filter(|_| tool_change_kind(block).is_some()) {
                definitions = true;
                toolsets |= has_type(definition, "mcp_toolset");
            }
        }
    }
    let mut betas = Vec::new();
    match (definitions, changes) {
        (true, _) => betas.push(INLINE),
        (false, true) => betas.push(CHANGES),
        (false, false) => {}
    }
    if toolsets {
        betas.push(TOOLSETS);
    }
    Ok(betas)
}

/// Rewrites the betas in the body of a request.
pub(super) fn rewrite_body(request: &mut Node<'_>, native: Native, needed: &[&'static str]) -> Result<(), Error> {
    betas::rewrite_body(request, &|name| unsupported_by(native).contains(&name), needed)
}
