//! Finds the marks of a request: the role and the position of each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::generator::{history_of, marks_in};

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) role: &'static str,
    /// Number of the block in the history; 0 outside of it.
    pub(crate) block: usize,
    /// JSON Pointer to the string, or to the member whose name has the mark.
    pub(crate) pointer: String,
}

pub(crate) type Occurrences = BTreeMap<String, Vec<Seen>>;

pub(crate) fn occurrences(api: &str, request: &Value) -> Occurrences {
    let mut reader = Reader { found: BTreeMap::new(), block: 0 };
    for (key, value) in request.as_object().into_iter().flatten() {
        let role = match key.as_str() {
            "system" | "instructions" | "systemInstruction" | "system_instruction" => "system",
            "tools" | "toolConfig" => "tool",
            "tool_choice" => "choice",
            _ => "member",
        };
        let pointer = format!("/{key}");
        if key == history_of(api) && value.is_array() {
            reader.history(value, &pointer);
        } else {
            reader.record(key, role, &pointer);
            reader.value(value, role, &pointer);
        }
    }
    reader.found
}

struct Reader {
    found: Occurrences,
    block: usize,
}

impl Reader {
    fn record(&mut self, text: &str, role: &'static str, pointer: &str) {
        for mark in marks_in(text) {
            let seen = Seen { role, block: self.block, pointer: pointer.into() };
            self.found.entry(mark.into()).or_default().push(seen);
        }
    }

    fn history(&mut self, history: &Value, pointer: &str) {
        for (at, message) in history.as_array().into_iter().flatten().enumerate() {
            self.block += 1;
            let role = match message["role"].as_str() {
                Some("system" | "developer") => "system",
                Some("assistant" | "model") => "assistant",
                Some("tool" | "function") => "result",
                _ => "user",
            };
            self.value(message, role, &format!("{pointer}/{at}"));
        }
        self.block = 0;
    }

    fn value(&mut self, value: &Value, role: &'static str, pointer: &str) {
        let is_history = self.block > 0;
        match value {
            Value::String(text) => self.record(text, role, pointer),
            Value::Array(items) => {
                let is_blocks =
                    ["content", "parts", "tool_calls"].iter().any(|key| pointer.ends_with(&format!("/{key}")));
                for (at, item) in items.iter().enumerate() {
                    // The blocks of a result belong to it.
                    self.block += usize::from(is_history && is_blocks && role != "result");
                    self.value(item, role, &format!("{pointer}/{at}"));
                }
            }
            Value::Object(members) => {
                let role = if is_history { role_of(value, role) } else { role };
                let mut members: Vec<(&String, &Value)> = members.iter().collect();
                // Chat Completions has the parts of a message in members, whose order has no meaning.
                members.sort_by_key(|(key, _)| match key.as_str() {
                    "reasoning_content" | "reasoning" => 0,
                    "tool_calls" => 2,
                    _ => 1,
                });
                for (key, member) in members {
                    let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                    let role = if is_history { role_in(key, role) } else { role };
                    self.record(key, role, &pointer);
                    self.block += usize::from(is_history && key == "tool_calls");
                    self.value(member, role, &pointer);
                }
            }
            _ => {}
        }
    }
}

fn role_of(object: &Value, role: &'static str) -> &'static str {
    if object["thought"] == true {
        return "reasoning";
    }
    match object["type"].as_str() {
        Some("thinking" | "redacted_thinking" | "reasoning" | "thought") => "reasoning",
        Some("model_output") => "assistant",
        Some("tool_result" | "function_result" | "tool_search_tool_result" | "tool_search_result") => "result",
        Some("tool_addition" | "additional_tools") => "tool",
        Some(kind) if kind.ends_with("_output") => "result",
        Some(kind) if kind.ends_with("tool_use") || kind.ends_with("_call") => "call",
        _ => role,
    }
}

fn role_in(key: &str, role: &'static str) -> &'static str {
    match key {
        "toolUse" | "functionCall" | "tool_calls" => "call",
        "toolResult" | "functionResponse" => "result",
        "reasoningContent" | "reasoning_content" | "reasoning" => "reasoning",
        "tools" if role != "call" => "tool",
        _ => role,
    }
}

pub(crate) fn roles(seen: &[Seen]) -> BTreeSet<&'static str> {
    seen.iter().map(|seen| seen.role).collect()
}
