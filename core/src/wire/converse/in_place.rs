//! Writer for results of Bedrock Converse in a request that keeps its format.

use crate::{
    json::Node,
    request::{conversation::Outcome, writer::same},
};

/// Returns a result with its new content. Only results of searches have new content.
pub(crate) fn result(outcome: Outcome<'_>) -> Option<Node<'_>> {
    let mut source_item = outcome.source_item?;
    let blocks = outcome.content.into_parts().into_iter().filter_map(same::block).collect();
    if outcome.of_search.is_some() {
        source_item.visit("toolResult", |result| result.set("content", Node::array(blocks)));
    }
    Some(source_item)
}
