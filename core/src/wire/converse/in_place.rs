//! Writer for results of Bedrock Converse in a request that keeps its format.

use crate::{
    json::Node,
    request::{conversation::Outcome, writer::same},
};

/// Only results of searches get new content: others are read to become text.
pub(crate) fn result(outcome: Outcome<'_>) -> Option<Node<'_>> {
    let mut own = outcome.source_item?;
    let found = outcome.content.into_parts().into_iter().filter_map(same::block).collect();
    if outcome.of_search.is_some() {
        own.visit("toolResult", |result| result.set("content", Node::array(found)));
    }
    Some(own)
}
