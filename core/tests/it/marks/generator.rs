//! Requests, replies and streams of all six APIs in which every string that carries content is marked.
//!
//! In a template, `<>` becomes a unique mark, and `<name>` becomes the mark of that name, so that a call and its result
//! share an id. Marks consist of letters and digits, so they are legal in names and ids, and all have one length, so
//! none is part of another.

use std::collections::BTreeMap;

use serde_json::{json, Map, Value};

pub(crate) const APIS: [&str; 6] =
    ["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions", "bedrock"];

/// Replaces the placeholders of templates with marks.
#[derive(Default)]
pub(crate) struct Marker {
    next: usize,
    named: BTreeMap<String, String>,
}

impl Marker {
    fn mark(&mut self, name: &str) -> String {
        if let Some(known) = self.named.get(name) {
            return known.clone();
        }
        let mark = format!("zq{:04}z", self.next);
        self.next += 1;
        if !name.is_empty() {
            self.named.insert(name.to_owned(), mark.clone());
        }
        mark
    }

    fn text(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('<') {
            let (name, after) = after.split_once('>').expect("a closed placeholder");
            out += before;
            out += &self.mark(name);
            rest = after;
        }
        out + rest
    }

    /// Names of members are filled as well.
    pub(crate) fn fill(&mut self, template: &Value) -> Value {
        match template {
            Value::String(text) => json!(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                let filled = members.iter().map(|(key, value)| (self.text(key), self.fill(value)));
                Value::Object(filled.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }
}

pub(crate) fn marks_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("zq") {
        let Some(mark) = text.get(at..at + 7) else { continue };
        let digits = &mark[2..6];
        if mark.ends_with('z') && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push(mark);
        }
    }
    found
}

/// Returns a JSON Schema with marks in every keyword that holds text.
fn schema() -> Value {
    json!({
        "type": "object",
        "title": "Title <>",
        "description": "Schema <>",
        "x-unknown": "Keyword <>",
        "properties": {
            "city": {"type": "string", "description": "City <>", "default": "Default <>", "examples": ["Example <>"]},
            "kind_<>": {"type": "string", "enum": ["Value <>", "Value <>"]},
            "tag": {"const": "Constant <>"},
            "part": {"$ref": "#/$defs/part"},
            "many": {"type": "array", "items": {"anyOf": [
                {"type": "string", "pattern": "^<>$"},
                {"type": "integer", "description": "Number <>"}
            ]}}
        },
        "required": ["city"],
        "$defs": {"part": {"type": "object", "properties": {"n": {"type": "integer", "description": "Part <>"}}}}
    })
}

/// Returns a template whose marks have names with this prefix, so that two copies have the same marks.
fn with_prefix(template: &Value, prefix: &str) -> Value {
    fn fill(value: &mut Value, prefix: &str, next: &mut usize) {
        match value {
            Value::String(text) => {
                while text.contains("<>") {
                    *text = text.replacen("<>", &format!("<{prefix}{next}>"), 1);
                    *next += 1;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| fill(item, prefix, next)),
            Value::Object(members) => {
                let filled = core::mem::take(members).into_iter().map(|(key, mut value)| {
                    let mut key = json!(key);
                    fill(&mut key, prefix, next);
                    fill(&mut value, prefix, next);
                    (key.as_str().unwrap_or_default().to_owned(), value)
                });
                *members = filled.collect();
            }
            _ => {}
        }
    }
    let (mut value, mut next) = (template.clone(), 0);
    fill(&mut value, prefix, &mut next);
    value
}

fn format_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"place": {"type": "string", "description": "Place <>"}},
        "required": ["place"],
        "additionalProperties": false
    })
}

fn arguments() -> Value {
    json!({"city": "Argument <>", "x_<>": ["Nested <>"]})
}

fn arguments_text() -> String {
    arguments().to_string()
}

/// Returns a request. If `deferred` is true, some tools are deferred, and parts of the history load them.
pub(crate) fn request(api: &str, deferred: bool) -> Value {
    let mut request = match api {
        "anthropic" => anthropic(),
        "openai-chat" => chat(),
        "openai-responses" => responses(),
        "gemini" => gemini(),
        "gemini-interactions" => interactions(),
        _ => converse(),
    };
    if deferred {
        defer(api, &mut request);
    }
    request
}

fn anthropic() -> Value {
    json!({
        "model": "claude-sonnet-4-6",
        "max_tokens": 1000,
        "system": [{"type": "text", "text": "System <>", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "System <>"}],
        "metadata": {"user_id": "User <>"},
        "stop_sequences": ["Stop <>"],
        "x_request": "Member <>",
        "tools": [
            {"name": "read_<read>", "description": "Reads <>", "input_schema": schema(), "input_examples": [{"city": "Given <>"}], "x_tool": "Member <>"},
            {"name": "write/<write>", "description": "Writes <>", "input_schema": schema()},
            {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["<>.example"]}
        ],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Question <>"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/<>.png"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Data <>"}, "title": "Caption <>", "context": "Context <>"}
            ], "x_message": "Member <>"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Thought <>", "signature": "Signature<>"},
                {"type": "redacted_thinking", "data": "Redacted<>"},
                {"type": "text", "text": "Answer <>", "citations": [{"type": "char_location", "cited_text": "Cited <>", "document_index": 0, "document_title": "Title <>", "start_char_index": 0, "end_char_index": 1}]},
                {"type": "tool_use", "id": "call_<1>", "name": "read_<read>", "input": arguments(), "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_<>"}, "x_call": "Member <>"},
                {"type": "tool_use", "id": "call_<2>", "name": "write/<write>", "input": arguments()}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_<1>", "content": [{"type": "text", "text": "Result <>"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UmVz<>"}}]},
                {"type": "tool_result", "tool_use_id": "call_<2>", "content": "Result <>", "is_error": true},
                {"type": "text", "text": "More <>"}
            ]},
            {"role": "assistant", "content": "Answer <>"},
            {"role": "user", "content": "Last <>"}
        ]
    })
}

fn chat() -> Value {
    json!({
        "model": "gpt-5",
        "user": "User <>",
        "stop": ["Stop <>"],
        "metadata": {"key": "Metadata <>"},
        "prompt_cache_key": "Key <>",
        "x_request": "Member <>",
        "tools": [
            {"type": "function", "function": {"name": "read_<read>", "description": "Reads <>", "parameters": schema(), "x_function": "Member <>"}, "x_tool": "Member <>"},
            {"type": "function", "function": {"name": "write/<write>", "description": "Writes <>", "parameters": schema()}},
            {"type": "custom", "custom": {"name": "patch_<patch>", "description": "Patches <>", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: <>"}}}}
        ],
        "tool_choice": "auto",
        "response_format": {"type": "json_schema", "json_schema": {"name": "format_<>", "description": "Format <>", "schema": format_schema()}},
        "messages": [
            {"role": "system", "content": "System <>", "name": "name_<>"},
            {"role": "user", "content": [
                {"type": "text", "text": "Question <>"},
                {"type": "image_url", "image_url": {"url": "https://example.com/<>.png"}},
                {"type": "file", "file": {"filename": "Caption <>", "file_data": "data:text/plain;base64,RGF0<>"}},
                {"type": "input_audio", "input_audio": {"data": "QXVk<>", "format": "wav"}}
            ], "name": "name_<>", "x_message": "Member <>"},
            {"role": "assistant", "content": "Answer <>", "reasoning_content": "Thought <>", "tool_calls": [
                {"id": "call_<1>", "type": "function", "function": {"name": "read_<read>", "arguments": arguments_text(), "x_function": "Member <>"}, "extra_content": {"google": {"thought_signature": "Signature<>"}}},
                {"id": "call_<2>", "type": "function", "function": {"name": "write/<write>", "arguments": arguments_text()}},
                {"id": "call_<3>", "type": "custom", "custom": {"name": "patch_<patch>", "input": "Input <>"}}
            ]},
            {"role": "tool", "tool_call_id": "call_<1>", "content": "Result <>"},
            {"role": "tool", "tool_call_id": "call_<2>", "content": [{"type": "text", "text": "Result <>"}], "name": "write/<write>"},
            {"role": "tool", "tool_call_id": "call_<3>", "content": "Result <>"},
            {"role": "developer", "content": "Instruction <>"},
            {"role": "assistant", "content": null, "refusal": "Refusal <>"},
            {"role": "user", "content": "Last <>"}
        ]
    })
}

fn responses() -> Value {
    json!({
        "model": "gpt-5.5",
        "instructions": "System <>",
        "user": "User <>",
        "metadata": {"key": "Metadata <>"},
        "prompt_cache_key": "Key <>",
        "x_request": "Member <>",
        "tools": [
            {"type": "function", "name": "read_<read>", "description": "Reads <>", "parameters": schema(), "strict": false, "x_tool": "Member <>"},
            {"type": "function", "name": "write/<write>", "description": "Writes <>", "parameters": schema(), "strict": false},
            {"type": "custom", "name": "patch_<patch>", "description": "Patches <>", "format": {"type": "grammar", "syntax": "lark", "definition": "start: <>"}},
            {"type": "namespace", "name": "crm_<crm>", "description": "Namespace <>", "tools": [
                {"type": "function", "name": "find_<find>", "description": "Finds <>", "parameters": schema(), "strict": false}
            ]},
            {"type": "web_search", "filters": {"allowed_domains": ["<>.example"]}}
        ],
        "tool_choice": "auto",
        "text": {"format": {"type": "json_schema", "name": "format_<>", "description": "Format <>", "schema": format_schema()}},
        "input": [
            {"role": "developer", "content": "Instruction <>"},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "Question <>"},
                {"type": "input_image", "image_url": "https://example.com/<>.png"},
                {"type": "input_file", "filename": "Caption <>", "file_data": "data:text/plain;base64,RGF0<>"}
            ], "x_message": "Member <>"},
            {"type": "reasoning", "id": "rs_<>", "summary": [{"type": "summary_text", "text": "Thought <>"}], "encrypted_content": "Encrypted<>"},
            {"type": "message", "id": "msg_<>", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "Answer <>", "annotations": [{"type": "url_citation", "url": "https://example.com/<>", "title": "Title <>", "start_index": 0, "end_index": 1}]}
            ]},
            {"type": "function_call", "id": "fc_<>", "call_id": "call_<1>", "name": "read_<read>", "arguments": arguments_text(), "x_call": "Member <>"},
            {"type": "function_call", "call_id": "call_<2>", "name": "write/<write>", "arguments": arguments_text()},
            {"type": "custom_tool_call", "call_id": "call_<3>", "name": "patch_<patch>", "input": "Input <>"},
            {"type": "function_call", "call_id": "call_<4>", "name": "find_<find>", "namespace": "crm_<crm>", "arguments": arguments_text()},
            {"type": "function_call_output", "call_id": "call_<1>", "output": "Result <>"},
            {"type": "function_call_output", "call_id": "call_<2>", "output": [{"type": "input_text", "text": "Result <>"}, {"type": "input_image", "image_url": "https://example.com/<>.png"}]},
            {"type": "custom_tool_call_output", "call_id": "call_<3>", "output": "Result <>"},
            {"type": "function_call_output", "call_id": "call_<4>", "output": "Result <>"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "Refusal <>"}]},
            {"role": "user", "content": "Last <>"}
        ]
    })
}

fn gemini() -> Value {
    json!({
        "model": "gemini-3-pro",
        "systemInstruction": {"parts": [{"text": "System <>"}]},
        "labels": {"key": "Label <>"},
        "xRequest": "Member <>",
        "tools": [
            {"functionDeclarations": [
                {"name": "read_<read>", "description": "Reads <>", "parametersJsonSchema": schema(), "xTool": "Member <>"},
                {"name": "write/<write>", "description": "Writes <>", "parameters": {"type": "OBJECT", "description": "Schema <>", "properties": {"city": {"type": "STRING", "description": "City <>", "enum": ["Value <>"]}}}, "response": {"type": "OBJECT", "description": "Output <>"}}
            ]}
        ],
        "generationConfig": {"stopSequences": ["Stop <>"], "responseMimeType": "application/json", "responseJsonSchema": format_schema()},
        "contents": [
            {"role": "user", "parts": [
                {"text": "Question <>"},
                {"inlineData": {"mimeType": "image/png", "data": "UmVz<>", "displayName": "Caption <>"}},
                {"fileData": {"mimeType": "text/plain", "fileUri": "https://example.com/<>.txt", "displayName": "Caption <>"}}
            ], "xMessage": "Member <>"},
            {"role": "model", "parts": [
                {"text": "Thought <>", "thought": true},
                {"text": "Answer <>", "thoughtSignature": "Signature<>"},
                {"functionCall": {"id": "call_<1>", "name": "read_<read>", "args": arguments()}, "thoughtSignature": "Signature<>", "xCall": "Member <>"},
                {"functionCall": {"id": "call_<2>", "name": "write/<write>", "args": {"city": "Argument <>"}}}
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "call_<1>", "name": "read_<read>", "response": {"output": "Result <>", "x_<>": "Nested <>"}}},
                {"functionResponse": {"id": "call_<2>", "name": "write/<write>", "response": {"error": "Result <>"}, "parts": [{"inlineData": {"mimeType": "image/png", "data": "UmVz<>", "displayName": "Caption <>"}}]}}
            ]},
            {"role": "model", "parts": [
                {"executableCode": {"language": "PYTHON", "code": "Code <>"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "Output <>"}},
                {"text": "Answer <>"}
            ]},
            {"role": "user", "parts": [{"text": "Last <>"}]}
        ]
    })
}

fn interactions() -> Value {
    json!({
        "model": "gemini-3-pro",
        "system_instruction": "System <>",
        "x_request": "Member <>",
        "tools": [
            {"type": "function", "name": "read_<read>", "description": "Reads <>", "parameters": schema(), "x_tool": "Member <>"},
            {"type": "function", "name": "write/<write>", "description": "Writes <>", "parameters": schema()}
        ],
        "generation_config": {"stop_sequences": ["Stop <>"]},
        "input": [
            {"type": "user_input", "content": [
                {"type": "text", "text": "Question <>"},
                {"type": "image", "uri": "https://example.com/<>.png", "mime_type": "image/png"},
                {"type": "document", "data": "RGF0<>", "mime_type": "application/pdf"}
            ], "x_message": "Member <>"},
            {"type": "thought", "signature": "Signature<>", "summary": [{"type": "text", "text": "Thought <>"}]},
            {"type": "model_output", "content": [{"type": "text", "text": "Answer <>", "annotations": [{"type": "url_citation", "url": "https://example.com/<>", "title": "Title <>"}]}]},
            {"type": "function_call", "id": "call_<1>", "name": "read_<read>", "arguments": arguments(), "signature": "Signature<>", "x_call": "Member <>"},
            {"type": "function_call", "id": "call_<2>", "name": "write/<write>", "arguments": arguments()},
            {"type": "function_result", "call_id": "call_<1>", "name": "read_<read>", "result": [{"type": "text", "text": "Result <>"}, {"type": "image", "data": "UmVz<>", "mime_type": "image/png"}]},
            {"type": "function_result", "call_id": "call_<2>", "name": "write/<write>", "result": {"output": "Result <>"}, "is_error": true},
            {"type": "user_input", "content": [{"type": "text", "text": "Last <>"}]}
        ]
    })
}

fn converse() -> Value {
    json!({
        "modelId": "anthropic.claude-sonnet-4-6",
        "system": [{"text": "System <>"}, {"cachePoint": {"type": "default"}}],
        "requestMetadata": {"key": "Metadata <>"},
        "inferenceConfig": {"maxTokens": 1000, "stopSequences": ["Stop <>"]},
        "additionalModelRequestFields": {"x_field": "Member <>"},
        "toolConfig": {"tools": [
            {"toolSpec": {"name": "read_<read>", "description": "Reads <>", "inputSchema": {"json": schema()}, "xTool": "Member <>"}},
            {"toolSpec": {"name": "write/<write>", "description": "Writes <>", "inputSchema": {"json": schema()}}}
        ]},
        "messages": [
            {"role": "user", "content": [
                {"text": "Question <>"},
                {"image": {"format": "png", "source": {"bytes": "UmVz<>"}}},
                {"document": {"format": "txt", "name": "Caption <>", "source": {"text": "Data <>"}, "context": "Context <>"}}
            ]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Thought <>", "signature": "Signature<>"}}},
                {"reasoningContent": {"redactedContent": "UmVk<>"}},
                {"text": "Answer <>"},
                {"toolUse": {"toolUseId": "call_<1>", "name": "read_<read>", "input": arguments(), "xCall": "Member <>"}},
                {"toolUse": {"toolUseId": "call_<2>", "name": "write/<write>", "input": arguments()}}
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "call_<1>", "content": [{"text": "Result <>"}, {"json": {"x_<>": "Nested <>"}}, {"image": {"format": "png", "source": {"bytes": "UmVz<>"}}}]}},
                {"toolResult": {"toolUseId": "call_<2>", "content": [{"text": "Result <>"}], "status": "error"}},
                {"text": "More <>"}
            ]},
            {"role": "assistant", "content": [{"text": "Answer <>"}]},
            {"role": "user", "content": [{"text": "Last <>"}]}
        ]
    })
}

pub(crate) fn history_of(api: &str) -> &'static str {
    match api {
        "gemini" => "contents",
        "openai-responses" | "gemini-interactions" => "input",
        _ => "messages",
    }
}

fn defer(api: &str, request: &mut Value) {
    let (found, hidden) = ("late/<late>", "far_<far>");
    let mut push = |pointer: &str, value: Value| {
        request.pointer_mut(pointer).and_then(Value::as_array_mut).expect("a list").push(value);
    };
    match api {
        "anthropic" => {
            for name in [found, hidden] {
                push(
                    "/tools",
                    json!({"name": name, "description": "Deferred <>", "input_schema": schema(), "defer_loading": true}),
                );
            }
            push(
                "/tools",
                json!({"name": "ToolSearch", "description": "Searches <>", "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}),
            );
            push(
                "/messages",
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "call_<8>", "name": "ToolSearch", "input": {"query": "Query <>"}}]}),
            );
            push(
                "/messages",
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_<8>", "content": [{"type": "tool_reference", "tool_name": found}]}]}),
            );
            push(
                "/messages",
                json!({"role": "assistant", "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_<9>", "name": "tool_search_tool_bm25", "input": {"query": "Query <>"}},
                    {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_<9>", "content": {"type": "tool_search_tool_search_result", "tool_references": [{"type": "tool_reference", "tool_name": found}]}},
                    {"type": "tool_use", "id": "call_<7>", "name": found, "input": arguments()}
                ]}),
            );
            push(
                "/messages",
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_<7>", "content": "Result <>"}]}),
            );
        }
        "openai-responses" => {
            let definition = |name: &str| {
                let tool = json!({"type": "function", "name": name, "description": "Deferred <>", "parameters": schema(), "strict": false, "defer_loading": true});
                with_prefix(&tool, &name[..4])
            };
            for name in [found, hidden] {
                push("/tools", definition(name));
            }
            push(
                "/tools",
                json!({"type": "tool_search", "execution": "client", "description": "Searches <>", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}),
            );
            push(
                "/input",
                json!({"type": "tool_search_call", "call_id": "call_<8>", "execution": "client", "status": "completed", "arguments": {"query": "Query <>"}}),
            );
            push(
                "/input",
                json!({"type": "tool_search_output", "call_id": "call_<8>", "execution": "client", "status": "completed", "tools": [definition(found)]}),
            );
            push(
                "/input",
                json!({"type": "function_call", "call_id": "call_<7>", "name": found, "namespace": found, "arguments": arguments_text()}),
            );
            push("/input", json!({"type": "function_call_output", "call_id": "call_<7>", "output": "Result <>"}));
            push(
                "/input",
                json!({"type": "additional_tools", "role": "developer", "tools": [
                    {"type": "function", "name": "added_<>", "description": "Added <>", "parameters": schema(), "strict": false}
                ]}),
            );
            push("/input", json!({"role": "user", "content": "Again <>"}));
        }
        _ => {}
    }
}
