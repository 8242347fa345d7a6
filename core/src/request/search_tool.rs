//! The function that replaces a tool search if the backend does not support tool searches.

use alloc::string::String;

use super::tool_format::{self, Edits, Entry};
use crate::{
    json::{Node, Text},
    options::Api,
    wire,
};

const DESCRIPTION: &str =
    "Search for tools that exist but are not listed yet. Say what you need; the tools that match become available.";

pub(crate) fn function<'a>(format: Api, name: &str, search: &Node<'a>) -> Node<'a> {
    let name = Node::string(Text::new(String::from(name)));
    let description = search.get("description").filter(|text| text.as_text().is_some()).cloned();
    let description = description.unwrap_or_else(|| Node::literal(DESCRIPTION));
    let parameters = search
        .get("parameters")
        .filter(|schema| schema.as_object().is_some())
        .cloned()
        .unwrap_or_else(query_parameters);
    let mut function = Node::record([("name", name), ("description", description), ("inputSchema", parameters)]);
    let list_format = wire::of(format).tools();
    if let Entry::Tool(shape) = tool_format::recognize(&function) {
        let strict = list_format.is_strict().then_some(false);
        let edits = Edits { name: None, description: None, strict, removes_schema: false };
        shape.convert_entry(&mut function, format.tools(), None, edits);
    }
    if let Some((key, cache)) = list_format.cache().and_then(|key| Some((key, search.get(key)?))) {
        function.set(key, cache.clone());
    }
    function
}

fn query_parameters<'a>() -> Node<'a> {
    let query = Node::record([
        ("type", Node::literal("string")),
        ("description", Node::literal("What the tool has to do, in a few words.")),
    ]);
    Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::record([("query", query)])),
        ("required", Node::array(alloc::vec![Node::literal("query")])),
    ])
}
