//! Generates tools, requests and streams in the formats of all APIs, from generated names and schemas.

use arbitrary::{Result, Unstructured};
use serde_json::{json, Value};
use toolwire::options::ToolFormat;

use crate::grammar::{self, Style};

/// Tool names, many of which collide or are refused by an API.
const NAMES: [&str; 14] = [
    "read",
    "read_file",
    "crm__read",
    "crm",
    "tool_search",
    "read file",
    "read.file",
    "a/b",
    "",
    "é",
    "1",
    "__proto__",
    "delete_account",
    "a_name_that_is_longer_than_every_api_takes_and_so_has_to_be_cut_somewhere_by_all_of_them",
];
const SPACES: [&str; 4] = ["crm", "crm__admin", "a b", ""];
const TYPES: [&str; 5] = ["tool_reference", "tool_addition", "tool_removal", "text", "tool_result"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

impl Wire {
    pub(crate) const ALL: [Wire; 4] = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini];

    pub(crate) const fn format(self) -> ToolFormat {
        match self {
            Wire::Anthropic => ToolFormat::Anthropic,
            Wire::Chat => ToolFormat::OpenaiChat,
            Wire::Responses => ToolFormat::OpenaiResponses,
            Wire::Gemini => ToolFormat::Gemini,
        }
    }

    fn tool(self, data: &mut Unstructured<'_>) -> Result<Value> {
        let name = *data.choose(&NAMES)?;
        let style = if data.ratio(1_u8, 4_u8)? { Style::Any } else { Style::Tidy };
        let schema: Value = serde_json::from_str(&grammar::schema(data, style)?).unwrap_or_default();
        let description = format!("About {name}.");
        let mut tool = match self {
            Wire::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
            Wire::Chat => {
                json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
            }
            Wire::Responses if data.ratio(1_u8, 4_u8)? => {
                json!({"type": "custom", "name": name, "description": description})
            }
            Wire::Responses => {
                json!({"type": "function", "name": name, "description": description, "parameters": schema})
            }
            Wire::Gemini => json!({"name": name, "description": description, "parameters": schema}),
        };
        if self != Wire::Gemini && data.ratio(1_u8, 3_u8)? {
            tool["defer_loading"] = json!(true);
        }
        // An entry that is not a tool.
        Ok(if data.ratio(1_u8, 20_u8)? { odd(data)? } else { tool })
    }

    /// Generates a list of tools, with namespaces and searches if the API has them.
    pub(crate) fn tools(self, data: &mut Unstructured<'_>) -> Result<Value> {
        let mut list = (0..data.int_in_range(1..=4)?).map(|_| self.tool(data)).collect::<Result<Vec<Value>>>()?;
        match self {
            Wire::Anthropic if data.arbitrary()? => {
                list.push(json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}));
            }
            Wire::Responses if data.arbitrary()? => {
                let members = list.split_off(list.len() / 2);
                list.push(json!({"type": "namespace", "name": data.choose(&SPACES)?, "tools": members}));
                list.push(json!({"type": "tool_search"}));
            }
            Wire::Gemini => list = vec![json!({"functionDeclarations": list})],
            _ => {}
        }
        Ok(Value::Array(list))
    }

    /// Generates a whole request: tools, and a history that calls, finds, adds and removes tools.
    pub(crate) fn request(self, data: &mut Unstructured<'_>) -> Result<Value> {
        let tools = self.tools(data)?;
        let mut history = vec![self.message(data)?];
        for _ in 0..data.int_in_range(0..=4)? {
            history.push(if data.ratio(1_u8, 12_u8)? { odd(data)? } else { self.turn(data)? });
        }
        let mut request = match self {
            Wire::Responses => json!({"model": "m", "input": history, "tools": tools}),
            Wire::Gemini => json!({"contents": history, "tools": tools}),
            _ => json!({"model": "m", "messages": history, "tools": tools}),
        };
        if data.arbitrary()? {
            let (key, choice) = self.choice(data)?;
            request[key] = choice;
        }
        Ok(request)
    }

    /// Generates a response format, with the member of the request that holds it.
    pub(crate) fn response_format(self, data: &mut Unstructured<'_>) -> Result<(&'static str, Value)> {
        let schema: Value = serde_json::from_str(&grammar::schema(data, Style::Tidy)?).unwrap_or_default();
        let mut named = json!({"name": "answer", "schema": schema});
        if data.arbitrary()? {
            named["strict"] = json!(data.arbitrary::<bool>()?);
        }
        Ok(match self {
            Wire::Anthropic => ("output_config", json!({"format": {"type": "json_schema", "schema": schema}})),
            Wire::Chat => ("response_format", json!({"type": "json_schema", "json_schema": named})),
            Wire::Responses => {
                named["type"] = json!("json_schema");
                ("text", json!({ "format": named }))
            }
            Wire::Gemini => ("generationConfig", json!({ "responseSchema": schema })),
        })
    }

    /// Generates a choice of tools, with the member of the request that holds it.
    fn choice(self, data: &mut Unstructured<'_>) -> Result<(&'static str, Value)> {
        let name = *data.choose(&NAMES)?;
        let how = data.int_in_range(0..=3)?;
        let choice = match (self, how) {
            (Wire::Gemini, 0) => json!({"functionCallingConfig": {"mode": "ANY"}}),
            (Wire::Gemini, _) => json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}}),
            (Wire::Anthropic, 0) => json!({"type": "any"}),
            (Wire::Anthropic, _) => json!({"type": "tool", "name": name}),
            (_, 0) => json!("required"),
            (_, 1) => json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": name}]}),
            (Wire::Chat, _) => json!({"type": "function", "function": {"name": name}}),
            (Wire::Responses, _) => json!({"type": "function", "name": name}),
        };
        Ok((if self == Wire::Gemini { "toolConfig" } else { "tool_choice" }, choice))
    }

    /// Returns the URL for requests in this format.
    pub(crate) const fn url(self) -> &'static str {
        match self {
            Wire::Anthropic => "http://localhost/v1/messages",
            Wire::Chat => "http://localhost/v1/chat/completions",
            Wire::Responses => "http://localhost/v1/responses",
            Wire::Gemini => "http://localhost/v1beta/models/m:generateContent",
        }
    }

    fn message(self, data: &mut Unstructured<'_>) -> Result<Value> {
        let text = *data.choose(&["go", "", "<available-deferred-tools>", "Tool 'read' is now available."])?;
        Ok(match self {
            Wire::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
            _ => json!({"role": "user", "content": text}),
        })
    }

    fn turn(self, data: &mut Unstructured<'_>) -> Result<Value> {
        let name = *data.choose(&NAMES)?;
        let arguments: Value = serde_json::from_str(&grammar::value(data, Style::Tidy)?).unwrap_or_default();
        let block = match *data.choose(&TYPES)? {
            "tool_reference" => json!({"type": "tool_reference", "tool_name": name}),
            "tool_addition" => json!({"type": "tool_addition", "tool": self.tool(data)?}),
            "tool_removal" => json!({"type": "tool_removal", "tool_name": name, "name": name}),
            "tool_result" => {
                json!({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "tool_reference", "tool_name": name}]})
            }
            _ => json!({"type": "text", "text": name}),
        };
        let role = *data.choose(&["user", "assistant", "system", "developer", "tool"])?;
        Ok(match (self, data.int_in_range(0..=2)?) {
            (Wire::Anthropic, 0) => {
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": name, "input": arguments}]})
            }
            (Wire::Anthropic | Wire::Chat, 1) => json!({"role": role, "content": [block]}),
            (Wire::Chat, 0) => {
                let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
                json!({"role": "assistant", "content": null, "tool_calls": [call]})
            }
            (Wire::Responses, 0) => {
                json!({"type": "function_call", "call_id": "c", "name": name, "arguments": arguments.to_string()})
            }
            (Wire::Responses, 1) => json!({"type": "additional_tools", "role": role, "tools": self.tools(data)?}),
            (Wire::Gemini, _) => {
                json!({"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]})
            }
            _ => self.message(data)?,
        })
    }

    /// Generates the events of a stream with calls to these tools, sometimes malformed or out of order.
    pub(crate) fn events(self, names: &[String], data: &mut Unstructured<'_>) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        for index in 0..data.int_in_range(1..=3_usize)? {
            let none = String::new();
            let name = if names.is_empty() { &none } else { data.choose(names)? };
            let text = arguments(data)?;
            let half = text.char_indices().nth(2).map_or(0, |(at, _)| at);
            let (one, two) = text.split_at(half);
            let arguments: Value = serde_json::from_str(&text).unwrap_or_default();
            match self {
                Wire::Anthropic => {
                    let delta = |piece: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}});
                    let block = json!({"type": "tool_use", "id": "c", "name": name, "input": {}});
                    events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
                    events.extend([delta(one), delta(two), json!({"type": "content_block_stop", "index": index})]);
                }
                Wire::Chat => {
                    let chunk = |function: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": index, "function": function}]}}]});
                    events.push(chunk(json!({"name": name, "arguments": ""})));
                    events.extend([chunk(json!({"arguments": one})), chunk(json!({"arguments": two}))]);
                }
                Wire::Responses => {
                    let item = |text: &str| json!({"type": "function_call", "id": "i", "call_id": "c", "name": name, "arguments": text});
                    let delta = |piece: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": "i", "delta": piece});
                    events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item("")}));
                    events.extend([delta(one), delta(two)]);
                    events
                        .push(json!({"type": "response.output_item.done", "output_index": index, "item": item(&text)}));
                }
                Wire::Gemini => {
                    let call = json!({"functionCall": {"name": name, "args": arguments}});
                    events.push(json!({"candidates": [{"content": {"parts": [call]}}]}));
                }
            }
        }
        if self == Wire::Chat && data.arbitrary()? {
            events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
        }
        // Removes, duplicates or replaces an event.
        if !events.is_empty() && data.ratio(1_u8, 3_u8)? {
            let at = data.choose_index(events.len())?;
            match data.int_in_range(0..=2)? {
                0 => drop(events.remove(at)),
                1 => events.insert(at, events[at].clone()),
                _ => events[at] = odd(data)?,
            }
        }
        Ok(events)
    }
}

impl Wire {
    /// Returns a reply with adjacent text parts, as the events of a stream and as a complete reply. The events contain
    /// each part in pieces of `size` characters. Chat Completions and Gemini stream a single part.
    pub(crate) fn answer(self, texts: &[&str], size: usize) -> (Vec<Value>, Value) {
        let mut events = Vec::new();
        let one = [texts.concat()];
        let texts: Vec<&str> = match self {
            Wire::Chat | Wire::Gemini => one.iter().map(String::as_str).collect(),
            _ => texts.to_vec(),
        };
        for (index, text) in texts.iter().enumerate() {
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
            let of_part = |kind: &str| json!({"type": format!("response.{kind}"), "output_index": 0, "item_id": "m", "content_index": index});
            let with = |mut event: Value, key: &str, value: Value| {
                event[key] = value;
                event
            };
            match self {
                Wire::Anthropic => {
                    let block = json!({"type": "text", "text": ""});
                    events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
                    events.extend(pieces.iter().map(|piece| json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}})));
                    events.push(json!({"type": "content_block_stop", "index": index}));
                }
                Wire::Responses => {
                    let part = |text: &str| json!({"type": "output_text", "text": text});
                    events.push(with(of_part("content_part.added"), "part", part("")));
                    events.extend(pieces.iter().map(|piece| with(of_part("output_text.delta"), "delta", json!(piece))));
                    events.push(with(of_part("output_text.done"), "text", json!(text)));
                    events.push(with(of_part("content_part.done"), "part", part(text)));
                }
                Wire::Chat => {
                    events.extend(
                        pieces.iter().map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]})),
                    );
                    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
                }
                Wire::Gemini => {
                    events.extend(
                        pieces.iter().map(|piece| json!({"candidates": [{"content": {"parts": [{"text": piece}]}}]})),
                    );
                    events.push(json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}));
                }
            }
        }
        let parts = |kind: &str| -> Vec<Value> {
            texts
                .iter()
                .map(|text| if kind.is_empty() { json!({"text": text}) } else { json!({"type": kind, "text": text}) })
                .collect()
        };
        let whole = match self {
            Wire::Anthropic => {
                json!({"type": "message", "role": "assistant", "content": parts("text"), "stop_reason": "end_turn"})
            }
            Wire::Responses => {
                json!({"output": [{"type": "message", "role": "assistant", "content": parts("output_text")}]})
            }
            Wire::Chat => {
                json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": texts.concat()}, "finish_reason": "stop"}]})
            }
            Wire::Gemini => json!({"candidates": [{"content": {"parts": parts("")}, "finishReason": "STOP"}]}),
        };
        (events, whole)
    }
}

/// Appends the text of an event or of a reply. Events that repeat earlier text are skipped.
pub(crate) fn text_of(node: &Value, found: &mut String) {
    let kind = node["type"].as_str().unwrap_or_default();
    if kind.ends_with(".done") {
        return;
    }
    if kind == "response.output_text.delta" {
        found.push_str(node["delta"].as_str().unwrap_or_default());
        return;
    }
    for key in ["text", "content"] {
        found.push_str(node[key].as_str().unwrap_or_default());
    }
    for key in ["output", "choices", "candidates", "content", "parts"] {
        node[key].as_array().into_iter().flatten().for_each(|inner| text_of(inner, found));
    }
    for key in ["delta", "message", "content", "content_block", "part"] {
        if node[key].is_object() {
            text_of(&node[key], found);
        }
    }
}

/// Generates the arguments of a call, for a function or for one that replaces a `custom` tool.
pub(crate) fn arguments(data: &mut Unstructured<'_>) -> Result<String> {
    const INPUTS: [&str; 8] = ["ls", "a\\nb", "\\ud83d\\ude00", "\\ud83d", "\\u0041\\q", "é😀", "\\", ""];
    if data.ratio(2_u8, 3_u8)? {
        return grammar::value(data, Style::Tidy);
    }
    let (head, input) =
        (*data.choose(&["{\"input\":\"", "{ \"input\" :\n\"", "{\"inpu\":\"", "\""])?, *data.choose(&INPUTS)?);
    let tail = *data.choose(&["\"}", "\"", "", "\",\"more\":1}"])?;
    Ok(format!("{head}{input}{}{tail}", data.choose(&INPUTS)?))
}

fn odd(data: &mut Unstructured<'_>) -> Result<Value> {
    Ok(serde_json::from_str(&grammar::value(data, Style::Any)?).unwrap_or_default())
}
