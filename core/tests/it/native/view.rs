//! A test-specific reader for requests of any format, independent of the library's readers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{json, Value};

#[derive(Debug, Default)]
pub(crate) struct View {
    /// The tools that the model can call at the end, with their descriptions and schemas.
    pub(crate) available: BTreeMap<String, Value>,
    /// Each tool that the history loads, with the number of calls before that.
    pub(crate) places: BTreeMap<String, usize>,
    /// Name, arguments and result of each call, in order; searches have neither name nor result.
    pub(crate) calls: Vec<(String, Value, Option<String>)>,
    /// Text of the user and the model, and all other text.
    pub(crate) messages: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
    definitions: BTreeMap<String, Value>,
    gone: BTreeSet<String>,
    ids: BTreeMap<String, usize>,
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the text of a content, which is a string or a list of blocks.
fn text(content: &Value) -> String {
    let blocks: Vec<&str> = items(content).filter_map(|block| block["text"].as_str()).collect();
    content.as_str().map_or_else(|| blocks.join("\n\n"), str::to_owned)
}

pub(crate) fn is_search(name: &str) -> bool {
    name == super::script::SEARCH || name == "tool_search"
}

impl View {
    pub(crate) fn of(request: &Value) -> View {
        let mut view = View::default();
        for tool in items(&request["tools"]) {
            let Some(name) = view.define(tool) else { continue };
            if tool["defer_loading"] != true {
                view.available.insert(name, Value::Null);
            }
        }
        let head = [&request["system"], &request["instructions"], &request["system_instruction"]].map(text);
        view.notes.extend(head.into_iter().filter(|text| !text.is_empty()));
        for message in items(&request["messages"]).chain(items(&request["input"])) {
            view.message(message);
        }
        let View { available, definitions, .. } = &mut view;
        for (name, definition) in available {
            *definition = definitions.get(name).cloned().unwrap_or_default();
        }
        view
    }

    /// Returns the name of the tool, whose definition may have any shape.
    fn define(&mut self, tool: &Value) -> Option<String> {
        let inner = tool.get("function").unwrap_or(tool);
        let is_client_search = tool["type"] == "tool_search" && tool["execution"] == "client";
        let name = if is_client_search { super::script::SEARCH } else { inner["name"].as_str()? };
        // The client's search is the same tool under any name.
        let name = if is_search(name) { super::script::SEARCH } else { name }.to_owned();
        let schema = inner.get("input_schema").unwrap_or(&inner["parameters"]);
        self.definitions.insert(name.clone(), json!([inner["description"], schema]));
        Some(name)
    }

    fn load(&mut self, name: &str) {
        if self.available.insert(name.to_owned(), Value::Null).is_none() {
            self.places.entry(name.to_owned()).or_insert(self.calls.len());
        }
    }

    fn brings(&mut self, tools: &Value) {
        for tool in items(tools) {
            if let Some(name) = self.define(tool) {
                self.load(&name);
            }
        }
    }

    fn called(&mut self, id: &Value, name: &str, arguments: Value) {
        let id = id.as_str().unwrap_or_default();
        if id.starts_with("toolwire_load_") {
            return;
        }
        self.ids.insert(id.to_owned(), self.calls.len());
        let name = if is_search(name) { "" } else { name };
        self.calls.push((name.to_owned(), arguments, None));
    }

    fn gave(&mut self, id: &Value, result: String) {
        let at = id.as_str().and_then(|id| self.ids.get(id));
        if let Some((name, _, place)) = at.and_then(|at| self.calls.get_mut(*at)) {
            *place = Some(result).filter(|_| !name.is_empty());
        }
    }

    fn message(&mut self, message: &Value) {
        let parsed = |text: &Value| serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_default();
        match message["type"].as_str().unwrap_or("message") {
            "user_input" => self.add("user", text(&message["content"])),
            "model_output" => self.add("assistant", text(&message["content"])),
            "function_result" => {
                self.brings(&message["result"]);
                self.gave(&message["call_id"], text(&message["result"]));
            }
            // In Gemini Interactions, arguments are a value.
            "function_call" if message["arguments"].is_object() => {
                let name = message["name"].as_str().unwrap_or_default();
                self.called(&message["id"], name, message["arguments"].clone());
            }
            "function_call" => {
                let name = message["name"].as_str().unwrap_or_default();
                self.called(&message["call_id"], name, parsed(&message["arguments"]));
            }
            "tool_search_call" => self.called(&message["call_id"], "tool_search", message["arguments"].clone()),
            "function_call_output" => self.gave(&message["call_id"], text(&message["output"])),
            "tool_search_output" | "additional_tools" => self.brings(&message["tools"]),
            _ => {
                let role = message["role"].as_str().unwrap_or_default();
                if role == "tool" {
                    return self.gave(&message["tool_call_id"], text(&message["content"]));
                }
                self.add(role, text(&message["content"]));
                self.brings(&message["tools"]);
                items(&message["content"]).for_each(|block| self.block(block));
                for call in items(&message["tool_calls"]) {
                    let function = &call["function"];
                    let name = function["name"].as_str().unwrap_or_default();
                    self.called(&call["id"], name, parsed(&function["arguments"]));
                }
            }
        }
    }

    fn add(&mut self, role: &str, text: String) {
        if text.is_empty() {
        } else if role == "user" || role == "assistant" {
            self.messages.push((role.to_owned(), text));
        } else {
            self.notes.push(text);
        }
    }

    fn block(&mut self, block: &Value) {
        let named = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" => self.called(&block["id"], &named(&block["name"]), block["input"].clone()),
            "tool_result" => {
                for found in items(&block["content"]).filter(|found| found["type"] == "tool_reference") {
                    let name = named(&found["tool_name"]);
                    // A removed tool remains removed.
                    if !self.gone.contains(&name) {
                        self.load(&name);
                    }
                }
                self.gave(&block["tool_use_id"], text(&block["content"]));
            }
            "tool_addition" => {
                let tool = &block["tool"];
                let name = self.define(&tool["definition"]).unwrap_or_else(|| named(&tool["name"]));
                self.gone.remove(&name);
                self.load(&name);
            }
            "tool_removal" => {
                let name = named(&block["tool"]["name"]);
                self.available.remove(&name);
                self.gone.insert(name);
            }
            _ => {}
        }
    }
}
