//! Writer for results of Gemini in a request that keeps its format.

use alloc::{string::String, vec::Vec};

use crate::{
    json::{Node, Text},
    request::{carriers::REFERENCES, conversation::Outcome, writer::same},
    wire::gemini::FUNCTION_RESPONSES,
};

/// Returns the result of a search with its new content.
pub(crate) fn result(outcome: Outcome<'_>) -> Option<Node<'_>> {
    let mut source_item = outcome.source_item?;
    let Some(key) = FUNCTION_RESPONSES.into_iter().find(|key| source_item.get(key).is_some()) else {
        return Some(source_item);
    };
    let blocks = outcome.content.into_parts().into_iter().filter_map(same::block);
    let texts: Vec<String> =
        blocks.filter_map(|block| block.get("text")?.as_text().map(Text::display).map(Into::into)).collect();
    let text = Node::string(texts.join("\n\n"));
    source_item.visit(key, |result| {
        result.visit("response", |response| {
            response.remove(REFERENCES);
            let key = if response.get("output").is_some() { "found_tools" } else { "output" };
            response.set(key, text);
        })
    });
    Some(source_item)
}
