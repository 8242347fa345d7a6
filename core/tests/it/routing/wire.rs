//! Tools, calls, replies and streams in the format of each API, and a list of tools as a model reads it.

use serde_json::{json, Value};
use toolwire::options::ToolFormat;

use super::generated::Tool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

impl Wire {
    pub(crate) const fn format(self) -> ToolFormat {
        match self {
            Wire::Anthropic => ToolFormat::Anthropic,
            Wire::Chat => ToolFormat::OpenaiChat,
            Wire::Responses => ToolFormat::OpenaiResponses,
            Wire::Gemini => ToolFormat::Gemini,
        }
    }

    /// Returns the entry of a tool, without its namespace.
    pub(crate) fn listed(self, tool: &Tool) -> Value {
        let (name, description) = (&tool.name, format!("#{}# A tool.", tool.number));
        let schema =
            json!({"type": "object", "properties": {&tool.property: {"type": "string"}}, "required": [&tool.property]});
        match self {
            Wire::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
            Wire::Chat => {
                json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
            }
            Wire::Responses => {
                json!({"type": "function", "name": name, "description": description, "parameters": schema})
            }
            Wire::Gemini => json!({"name": name, "description": description, "parameters": schema}),
        }
    }

    pub(crate) fn reply(self, name: &str, arguments: &Value) -> Value {
        match self {
            Wire::Anthropic => json!({"content": [{"type": "tool_use", "id": "c", "name": name, "input": arguments}]}),
            Wire::Chat => {
                let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
                json!({"choices": [{"index": 0, "message": {"tool_calls": [call]}}]})
            }
            Wire::Responses => {
                json!({"output": [{"type": "function_call", "call_id": "c", "name": name, "arguments": arguments.to_string()}]})
            }
            Wire::Gemini => {
                json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": name, "args": arguments}}]}}]})
            }
        }
    }

    /// Returns the namespace, the name and the arguments.
    pub(crate) fn called(self, reply: &Value) -> (Option<String>, String, Value) {
        let (call, arguments) = match self {
            Wire::Anthropic => (&reply["content"][0], &reply["content"][0]["input"]),
            Wire::Chat => {
                let function = &reply["choices"][0]["message"]["tool_calls"][0]["function"];
                (function, &function["arguments"])
            }
            Wire::Responses => (&reply["output"][0], &reply["output"][0]["arguments"]),
            Wire::Gemini => {
                let call = &reply["candidates"][0]["content"]["parts"][0]["functionCall"];
                (call, &call["args"])
            }
        };
        let arguments =
            arguments.as_str().map_or_else(|| arguments.clone(), |text| serde_json::from_str(text).expect("arguments"));
        let text = |key: &str| call[key].as_str().map(String::from);
        (text("namespace"), text("name").expect("a name"), arguments)
    }

    pub(crate) fn events(self, name: &str, arguments: &Value) -> Vec<Value> {
        let text = arguments.to_string();
        let (one, two) = text.split_at(text.char_indices().nth(2).map_or(0, |(at, _)| at));
        match self {
            Wire::Anthropic => {
                let delta = |piece: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}});
                let block = json!({"type": "tool_use", "id": "c", "name": name, "input": {}});
                let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
                vec![start, delta(one), delta(two), json!({"type": "content_block_stop", "index": 0})]
            }
            Wire::Chat => {
                let chunk = |function: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": function}]}}]});
                let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
                vec![
                    chunk(json!({"name": name, "arguments": ""})),
                    chunk(json!({"arguments": one})),
                    chunk(json!({"arguments": two})),
                    end,
                ]
            }
            Wire::Responses => {
                let item = |text: &str| json!({"type": "function_call", "id": "i", "call_id": "c", "name": name, "arguments": text});
                let delta = |piece: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": piece});
                let start = json!({"type": "response.output_item.added", "output_index": 0, "item": item("")});
                let end = json!({"type": "response.output_item.done", "output_index": 0, "item": item(&text)});
                vec![start, delta(one), delta(two), end]
            }
            Wire::Gemini => vec![self.reply(name, arguments)],
        }
    }

    /// Returns the namespace and the name of the first event, and the arguments of all events.
    pub(crate) fn streamed(self, events: &[Value]) -> (Option<String>, String, Value) {
        let mut found: (Option<String>, Option<String>, String) = (None, None, String::new());
        let text = |value: &Value| value.as_str().map(String::from);
        for event in events {
            let (call, piece) = match self {
                Wire::Anthropic => (&event["content_block"], &event["delta"]["partial_json"]),
                Wire::Chat => {
                    let function = &event["choices"][0]["delta"]["tool_calls"][0]["function"];
                    (function, &function["arguments"])
                }
                Wire::Responses => (&event["item"], &event["delta"]),
                Wire::Gemini => return self.called(event),
            };
            found.0 = found.0.or_else(|| text(&call["namespace"]));
            found.1 = found.1.or_else(|| text(&call["name"]));
            found.2 += piece.as_str().unwrap_or_default();
        }
        (found.0, found.1.expect("a name"), serde_json::from_str(&found.2).expect("complete arguments"))
    }
}

/// A tool as the model reads it: its name, its description, which identifies its owner, and its only property.
pub(crate) struct Read {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) property: Option<String>,
}

pub(crate) fn read(sent: &Value) -> Vec<Read> {
    read_in(sent, None)
}

fn read_in(sent: &Value, namespace: Option<&str>) -> Vec<Read> {
    let mut found = Vec::new();
    for entry in sent.as_array().into_iter().flatten() {
        if let Some(group) = entry.get("functionDeclarations") {
            found.extend(read(group));
            continue;
        }
        if entry["type"] == "namespace" {
            found.extend(read_in(&entry["tools"], entry["name"].as_str()));
            continue;
        }
        let tool = entry.get("function").or_else(|| entry.get("toolSpec")).unwrap_or(entry);
        let Some(name) = tool["name"].as_str() else { continue };
        let schema =
            ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"].iter().find_map(|key| tool.get(key));
        let schema = schema.map(|schema| schema.get("json").unwrap_or(schema));
        let property = schema.and_then(|schema| schema["properties"].as_object()?.keys().next().cloned());
        let description = tool["description"].as_str().unwrap_or_default().to_owned();
        found.push(Read { namespace: namespace.map(String::from), name: name.to_owned(), description, property });
    }
    found
}

pub(crate) fn in_namespace(mut value: Value, namespace: Option<&str>) -> Value {
    let Some(namespace) = namespace else { return value };
    for pointer in ["/output/0", "/item"] {
        if let Some(call) = value.pointer_mut(pointer) {
            call["namespace"] = json!(namespace);
        }
    }
    value
}

pub(crate) fn number(description: &str) -> Option<usize> {
    description.split('#').nth(1)?.parse().ok()
}
