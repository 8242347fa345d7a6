//! The blocks of Bedrock Converse that add and remove tools.

use crate::{
    json::{Node, Text},
    wire::additions::reference_name,
    wire::additions::ToolChangeKind,
};

/// Source: botocore 1.43.127, `bedrock-runtime`: `ToolAdditionBlock`, `ToolRemovalBlock`, `ToolReference`.
pub(crate) fn converse_change<'a>(block: &Node<'a>) -> Option<(ToolChangeKind, Text<'a>)> {
    let kinds = [("toolAddition", ToolChangeKind::Addition), ("toolRemoval", ToolChangeKind::Removal)];
    let (change, block) = kinds.into_iter().find_map(|(key, change)| Some((change, block.get(key)?)))?;
    Some((change, block.get("tool").map(reference_name).unwrap_or_else(|| Text::new(""))))
}

/// Returns true if the block adds or removes a tool of a server that the API itself calls.
pub(crate) fn is_of_server(block: &Node<'_>) -> bool {
    let change = ["toolAddition", "toolRemoval"].into_iter().find_map(|key| block.get(key));
    change.and_then(|change| change.get("tool")?.get("serverName")).is_some_and(|server| !server.is_null())
}
