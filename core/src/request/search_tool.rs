//! The function that replaces a tool search if the backend does not support tool searches.

use alloc::string::String;

use crate::{
    json::{Node, Text},
    options::Api,
};

const DESCRIPTION: &str =
    "Search for tools that exist but are not listed yet. Say what you need; the tools that match become available.";

/// Returns the function in a format, with the description and schema of the search that it replaces.
pub(crate) fn function<'a>(format: Api, name: &str, search: &Node<'a>) -> Node<'a> {
    let name = Node::string(Text::new(String::from(name)));
    let description = search.get("description").filter(|text| text.as_text().is_some()).cloned();
    let description = description.unwrap_or_else(|| Node::literal(DESCRIPTION));
    let parameters =
        search.get("parameters").filter(|schema| schema.as_object().is_some()).cloned().unwrap_or_else(parameters);
    match format {
        Api::Anthropic => {
            let mut function =
                Node::record([("name", name), ("description", description), ("input_schema", parameters)]);
            if let (Some(object), Some(cache_control)) = (function.as_object_mut(), search.get("cache_control")) {
                object.set("cache_control", cache_control.clone());
            }
            function
        }
        Api::OpenaiResponses => Node::record([
            ("type", Node::literal("function")),
            ("name", name),
            ("description", description),
            ("parameters", parameters),
            ("strict", Node::bool(false)),
        ]),
        Api::GeminiInteractions => Node::record([
            ("type", Node::literal("function")),
            ("name", name),
            ("description", description),
            ("parameters", parameters),
        ]),
        Api::Gemini => Node::record([("name", name), ("description", description), ("parameters", parameters)]),
        Api::Bedrock => Node::record([(
            "toolSpec",
            Node::record([
                ("name", name),
                ("description", description),
                ("inputSchema", Node::record([("json", parameters)])),
            ]),
        )]),
        _ => Node::record([
            ("type", Node::literal("function")),
            ("function", Node::record([("name", name), ("description", description), ("parameters", parameters)])),
        ]),
    }
}

fn parameters<'a>() -> Node<'a> {
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
