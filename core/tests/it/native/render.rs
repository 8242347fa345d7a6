//! Writes a generated conversation as a request in each format, with the API's native constructs.

use std::collections::BTreeSet;

use serde_json::{json, Value};

use super::script::{schema, words, Call, Step, BASE, DEFERRED, SEARCH};

pub(crate) fn request(format: &str, steps: &[Step]) -> Value {
    let mut known = BTreeSet::new();
    let mut history = Vec::new();
    for step in steps {
        match format {
            "anthropic" => anthropic(step, &mut history),
            "openai-responses" => responses(step, &mut history, &mut known),
            "gemini-interactions" => interactions(step, &mut history),
            _ => kimi(step, &mut history, &mut known),
        }
    }
    match format {
        "anthropic" => {
            let listed = BASE.iter().chain([&SEARCH]).map(|name| anthropic_tool(name, 0));
            let waiting = DEFERRED.iter().map(|name| {
                let mut tool = anthropic_tool(name, 0);
                tool["defer_loading"] = json!(true);
                tool
            });
            let tools: Vec<Value> = listed.chain(waiting).collect();
            json!({"model": "m", "max_tokens": 9, "system": "Be brief.", "tools": tools, "messages": history})
        }
        "openai-responses" => {
            let search = json!({"type": "tool_search", "execution": "client", "description": words(SEARCH, 0),
                "parameters": schema()});
            let tools: Vec<Value> = BASE.iter().map(|name| responses_tool(name, 0)).chain([search]).collect();
            json!({"model": "m", "instructions": "Be brief.", "tools": tools, "input": history})
        }
        "gemini-interactions" => {
            let search = json!({"type": "tool_search", "execution": "client", "name": SEARCH,
                "description": words(SEARCH, 0), "parameters": schema()});
            let tools: Vec<Value> = BASE.iter().map(|name| interactions_tool(name)).chain([search]).collect();
            json!({"model": "m", "system_instruction": "Be brief.", "tools": tools, "input": history})
        }
        _ => {
            let tools: Vec<Value> = BASE.iter().chain([&SEARCH]).map(|name| chat_tool(name, 0)).collect();
            let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
            messages.extend(history);
            json!({"model": "kimi-k3", "tools": tools, "messages": messages})
        }
    }
}

pub(crate) fn anthropic_tool(name: &str, version: usize) -> Value {
    json!({"name": name, "description": words(name, version), "input_schema": schema()})
}

pub(crate) fn responses_tool(name: &str, version: usize) -> Value {
    json!({"type": "function", "name": name, "description": words(name, version), "parameters": schema(),
        "strict": false})
}

fn interactions_tool(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": words(name, 0), "parameters": schema()})
}

/// Writes a step for Gemini Interactions, which only adds tools as results of searches, and cannot remove tools.
pub(crate) fn interactions(step: &Step, out: &mut Vec<Value>) {
    let message = |kind: &str, text: &str| json!({"type": kind, "content": [{"type": "text", "text": text}]});
    match step {
        Step::User(text) => out.push(message("user_input", text)),
        Step::Assistant(text) => out.push(message("model_output", text)),
        Step::Calls(text, calls) => {
            out.extend(text.iter().map(|text| message("model_output", text)));
            out.extend(calls.iter().map(|call| {
                json!({"type": "function_call", "id": foreign(&call.id), "name": call.name,
                    "arguments": call.arguments()})
            }));
            out.extend(calls.iter().map(|call| {
                let found = call.found.as_ref().filter(|found| !found.is_empty());
                let result = found.map(|found| found.iter().map(|name| interactions_tool(name)).collect());
                json!({"type": "function_result", "call_id": foreign(&call.id), "name": call.name,
                    "result": result.unwrap_or_else(|| json!(call.result))})
            }));
        }
        Step::System(_) | Step::Add { .. } | Step::Remove(_) => unreachable!("Interactions cannot express {step:?}"),
    }
}

fn chat_tool(name: &str, version: usize) -> Value {
    let function = json!({"name": name, "description": words(name, version), "parameters": schema()});
    json!({"type": "function", "function": function})
}

pub(crate) fn anthropic(step: &Step, out: &mut Vec<Value>) {
    let system = |block: Value| json!({"role": "system", "content": [block]});
    match step {
        Step::User(text) => out.push(json!({"role": "user", "content": text})),
        Step::Assistant(text) => out.push(json!({"role": "assistant", "content": text})),
        Step::System(text) => out.push(json!({"role": "system", "content": text})),
        Step::Calls(text, calls) => {
            let mut blocks: Vec<Value> = text.iter().map(|text| json!({"type": "text", "text": text})).collect();
            blocks.extend(
                calls.iter().map(
                    |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments()}),
                ),
            );
            out.push(json!({"role": "assistant", "content": blocks}));
            let results: Vec<Value> = calls.iter().map(anthropic_result).collect();
            out.push(json!({"role": "user", "content": results}));
        }
        Step::Add { name, version: Some(version) } => {
            let tool = json!({"type": "tool_definition", "definition": anthropic_tool(name, *version)});
            out.push(system(json!({"type": "tool_addition", "tool": tool})));
        }
        Step::Add { name, version: None } => {
            let tool = json!({"type": "tool_reference", "name": name});
            out.push(system(json!({"type": "tool_addition", "tool": tool})));
        }
        Step::Remove(name) => {
            let tool = json!({"type": "tool_reference", "name": name});
            out.push(system(json!({"type": "tool_removal", "tool": tool})));
        }
    }
}

fn anthropic_result(call: &Call) -> Value {
    let content = match call.found.as_ref().filter(|found| !found.is_empty()) {
        Some(found) => found.iter().map(|name| json!({"type": "tool_reference", "tool_name": name})).collect(),
        None => json!(call.result),
    };
    json!({"type": "tool_result", "tool_use_id": call.id, "content": content})
}

/// Returns an id that Anthropic does not accept.
pub(crate) fn foreign(id: &str) -> String {
    id.replace("call_", "call:")
}

pub(crate) fn responses(step: &Step, out: &mut Vec<Value>, known: &mut BTreeSet<String>) {
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": text});
    match step {
        Step::User(text) => out.push(message("user", text)),
        Step::Assistant(text) => out.push(message("assistant", text)),
        Step::System(text) => out.push(message("developer", text)),
        Step::Calls(text, calls) => {
            out.extend(text.iter().map(|text| message("assistant", text)));
            for call in calls {
                let id = foreign(&call.id);
                if call.found.is_some() {
                    out.push(json!({"type": "tool_search_call", "call_id": id, "execution": "client",
                        "status": "completed", "arguments": call.arguments()}));
                    continue;
                }
                let mut item = json!({"type": "function_call", "call_id": id, "name": call.name,
                    "arguments": call.arguments().to_string()});
                if known.contains(&call.name) {
                    item["namespace"] = json!(call.name);
                }
                out.push(item);
            }
            for call in calls {
                let id = foreign(&call.id);
                let Some(found) = &call.found else {
                    out.push(json!({"type": "function_call_output", "call_id": id, "output": call.result}));
                    continue;
                };
                let new: Vec<Value> = found
                    .iter()
                    .filter(|name| known.insert((*name).clone()))
                    .map(|name| {
                        let mut tool = responses_tool(name, 0);
                        tool["defer_loading"] = json!(true);
                        tool
                    })
                    .collect();
                out.push(json!({"type": "tool_search_output", "call_id": id, "execution": "client",
                    "status": "completed", "tools": new}));
            }
        }
        Step::Add { name, version } => {
            if known.insert(name.clone()) {
                let tool = responses_tool(name, version.unwrap_or_default());
                out.push(json!({"type": "additional_tools", "role": "developer", "tools": [tool]}));
            }
        }
        Step::Remove(name) => unreachable!("Responses cannot remove {name}"),
    }
}

pub(crate) fn kimi(step: &Step, out: &mut Vec<Value>, known: &mut BTreeSet<String>) {
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    match step {
        Step::User(text) => out.push(message("user", text)),
        Step::Assistant(text) => out.push(message("assistant", text)),
        Step::System(text) => out.push(message("system", text)),
        Step::Calls(text, calls) => {
            let called: Vec<Value> = calls
                .iter()
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": call.arguments().to_string()});
                    json!({"id": foreign(&call.id), "type": "function", "function": function})
                })
                .collect();
            out.push(json!({"role": "assistant", "content": text, "tool_calls": called}));
            out.extend(
                calls
                    .iter()
                    .map(|call| json!({"role": "tool", "tool_call_id": foreign(&call.id), "content": call.result})),
            );
            let found = calls.iter().filter_map(|call| call.found.as_ref()).flatten();
            let new: Vec<Value> =
                found.filter(|name| known.insert((*name).clone())).map(|name| chat_tool(name, 0)).collect();
            if !new.is_empty() {
                out.push(json!({"role": "system", "tools": new}));
            }
        }
        Step::Add { name, version } => {
            if known.insert(name.clone()) {
                let tools = [chat_tool(name, version.unwrap_or_default())];
                out.push(json!({"role": "system", "tools": tools}));
            }
        }
        Step::Remove(name) => unreachable!("Kimi cannot remove {name}"),
    }
}
