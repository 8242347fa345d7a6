//! Beta names of deferred loading, in requests and in the `anthropic-beta` header.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    lazy::{edit_member, may_hold, view},
    load_events::{directive, directive_definition},
    prefilter,
    tool::{has_type, remove},
};
use crate::{
    error::Error,
    json::{Data, Node, Text},
};

/// Additions and removals by name.
const CHANGES: &str = "mid-conversation-tool-changes-2026-07-01";
/// Additions that bring definitions.
const INLINE: &str = "inline-tools-2026-09-15";
/// Definitions of whole MCP servers.
const TOOLSETS: &str = "mcp-client-2026-09-15";

/// The betas that a backend without deferred loading does not know.
const BETAS: [&str; 4] = ["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19", CHANGES, INLINE];

fn is_ours(name: &str) -> bool {
    BETAS.contains(&name.trim())
}

/// Takes the betas of deferred loading out of a header's value, a list with commas. `None`: nothing is left.
pub(crate) fn strip(value: &str) -> Option<Cow<'_, str>> {
    if !value.split(',').any(is_ours) {
        return Some(Cow::Borrowed(value));
    }
    let left: Vec<&str> = value.split(',').map(str::trim).filter(|name| !name.is_empty() && !is_ours(name)).collect();
    (!left.is_empty()).then(|| Cow::Owned(left.join(",")))
}

/// The betas that what a request holds is behind. Whatever brings definitions may name tools, too.
/// Source: Anthropic's documentation, mid-conversation tool changes, read 2026-09-22.
pub(super) fn needed(request: &Node<'_>) -> Result<Vec<&'static str>, Error> {
    let (mut changes, mut definitions, mut toolsets) = (false, false, false);
    for message in request.get("messages").and_then(Node::as_array).unwrap_or_default() {
        if !may_hold(message, prefilter::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        for block in message.get("content").and_then(Node::as_array).unwrap_or_default() {
            changes |= directive(block).is_some();
            if let Some(definition) = directive_definition(block).filter(|_| directive(block).is_some()) {
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

/// Names the betas that a request needs where it names betas itself.
pub(super) fn keep(request: &mut Node<'_>, needed: &[&'static str]) -> Result<(), Error> {
    for key in ["anthropic_beta", "betas"] {
        edit_member(request, key, |betas| {
            let named: Vec<String> = betas
                .as_array()
                .unwrap_or_default()
                .iter()
                .filter_map(Node::as_text)
                .map(|text| text.display().into_owned())
                .collect();
            let missing = needed.iter().filter(|beta| !named.iter().any(|name| name == *beta));
            let missing: Vec<Node<'_>> = missing.map(|beta| Node::literal(beta)).collect();
            if !missing.is_empty() && betas.as_array().is_some() {
                if let Some(list) = betas.as_array_mut() {
                    list.extend(missing);
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Takes them out of a request, and the member if nothing is left.
pub(super) fn settle(request: &mut Node<'_>) -> Result<(), Error> {
    for key in ["anthropic_beta", "betas"] {
        if edit_member(request, key, |betas| Ok(settle_list(betas)))? == Some(true) {
            remove(request, key);
        }
    }
    Ok(())
}

/// Gives whether nothing is left of something.
fn settle_list(betas: &mut Node<'_>) -> bool {
    let ours = |node: &Node<'_>| node.as_text().and_then(Text::value).is_some_and(|name| is_ours(&name));
    match betas.data() {
        Data::Array(items) if items.iter().any(ours) => {
            if let Some(items) = betas.as_array_mut() {
                items.retain(|item| !ours(item));
            }
            betas.as_array().is_some_and(<[Node<'_>]>::is_empty)
        }
        Data::String(text) => {
            let Some(value) = text.value() else { return false };
            let left = strip(&value).map(|left| (left.len() != value.len()).then(|| String::from(left)));
            match left {
                None => return true,
                Some(None) => {}
                Some(Some(left)) => betas.replace(Data::String(Text::new(left))),
            }
            false
        }
        _ => false,
    }
}
