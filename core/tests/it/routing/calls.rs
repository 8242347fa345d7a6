//! Calls tools that were sent, in every supported way, and determines which of the client's tools each call reaches.

use serde_json::{json, Value};
use toolwire::Restore;

use super::{
    history::{arguments, Definition, Sent},
    wire::Wire,
};

#[derive(Debug)]
struct Arrived {
    way: &'static str,
    namespace: Option<String>,
    name: String,
    /// The input of a `custom` tool, or the arguments.
    given: Value,
    is_custom: bool,
}

const INPUT: &str = "look out";

/// Returns the number of calls, and a description of each call that reached a tool other than `tools`.
pub(crate) fn call(
    (source, target): (Wire, Wire),
    restore: &Restore,
    sent: &Sent,
    tools: &[&Definition],
) -> (usize, Vec<String>) {
    let mut arrived = Vec::new();
    let kept = Restore::from_json(&restore.to_json()).expect("a restore");
    for restore in [restore, &kept] {
        arrived.extend(ways((source, target), restore, sent));
    }
    let is_right = |one: &Arrived| {
        tools.iter().any(|tool| {
            let namespace = one.namespace.as_deref().filter(|space| !space.is_empty());
            // The API puts a loaded tool into a namespace with the tool's own name.
            let is_own = namespace == Some(&*tool.name) && tool.namespace.is_none();
            let in_default = tool.namespace.as_deref() == Some("functions") && namespace.is_none();
            let is_tool = one.name == tool.name && (namespace == tool.namespace.as_deref() || is_own || in_default);
            let has_form = one.is_custom == tool.is_custom || source != Wire::Responses || one.way == "call";
            let is_whole = match tool.is_custom {
                true => one.given == json!(INPUT) || one.given == json!({"input": INPUT}),
                false => tools.len() > 1 || one.given == json!({&tool.property: "x"}),
            };
            is_tool && (has_form || target != Wire::Responses && one.way != "clientCall") && is_whole
        })
    };
    let wrong = arrived.iter().filter(|one| !is_right(one)).map(|one| format!("{one:?}")).collect();
    (arrived.len(), wrong)
}

fn ways((source, target): (Wire, Wire), restore: &Restore, sent: &Sent) -> Vec<Arrived> {
    let given = call_arguments(sent);
    let mut arrived = Vec::new();
    let mut items = vec![item(target, sent, sent.namespace.as_deref())];
    if sent.is_loaded && target == Wire::Responses {
        items.push(item(target, sent, Some(&sent.name)));
    }
    for one in items {
        let whole = restore.reply(&reply(target, &one)).expect("a reply").reply;
        arrived.push(read_call(target, call_in(target, &whole), "reply"));
        let mut stream = restore.stream();
        let mut events = Vec::new();
        for event in events_of(target, &one, &given) {
            events.extend(stream.feed(&event).expect("events"));
        }
        events.extend(stream.finish().expect("the rest"));
        arrived.push(read_streamed_call(target, &events));
        if source != Wire::Gemini {
            arrived.push(read_call(source, &restore.client_call(&one).expect("a call").call, "clientCall"));
        }
    }
    if sent.namespace.is_none() && !sent.is_custom {
        let call = restore.call(&sent.name, &given).expect("a call");
        let (namespace, name, given) = (call.namespace, call.name, call.arguments);
        arrived.push(Arrived { way: "call", namespace, name, given, is_custom: false });
    }
    arrived
}

fn call_arguments(sent: &Sent) -> Value {
    match sent.property.as_deref() {
        Some("input") => json!({"input": INPUT}),
        _ => arguments(sent),
    }
}

fn item(target: Wire, sent: &Sent, namespace: Option<&str>) -> Value {
    let given = call_arguments(sent);
    let name = &sent.name;
    let mut call = match target {
        Wire::Anthropic => json!({"type": "tool_use", "id": "c", "name": name, "input": given}),
        Wire::Chat if sent.is_custom => json!({"id": "c", "type": "custom", "custom": {"name": name, "input": INPUT}}),
        Wire::Chat => {
            json!({"id": "c", "type": "function", "function": {"name": name, "arguments": given.to_string()}})
        }
        Wire::Responses if sent.is_custom => {
            json!({"type": "custom_tool_call", "id": "i", "call_id": "c", "name": name, "input": INPUT})
        }
        Wire::Responses => {
            json!({"type": "function_call", "id": "i", "call_id": "c", "name": name, "arguments": given.to_string()})
        }
        Wire::Gemini => json!({"functionCall": {"name": name, "args": given}}),
    };
    if let Some(namespace) = namespace {
        call["namespace"] = json!(namespace);
    }
    call
}

fn reply(target: Wire, call: &Value) -> Value {
    match target {
        Wire::Anthropic => json!({"content": [call]}),
        Wire::Chat => json!({"choices": [{"index": 0, "message": {"tool_calls": [call]}}]}),
        Wire::Responses => json!({"output": [call]}),
        Wire::Gemini => json!({"candidates": [{"content": {"parts": [call]}}]}),
    }
}

fn call_in(target: Wire, reply: &Value) -> &Value {
    match target {
        Wire::Anthropic => &reply["content"][0],
        Wire::Chat => &reply["choices"][0]["message"]["tool_calls"][0],
        Wire::Responses => &reply["output"][0],
        Wire::Gemini => &reply["candidates"][0]["content"]["parts"][0],
    }
}

fn read_call(wire: Wire, call: &Value, way: &'static str) -> Arrived {
    let holder = ["function", "custom", "functionCall"].iter().find_map(|key| call.get(key)).unwrap_or(call);
    let is_custom = call["type"] == "custom_tool_call" || call["type"] == "custom";
    let given = ["input", "arguments", "args"].iter().find_map(|key| holder.get(key)).cloned().unwrap_or_default();
    let given = match given.as_str().filter(|_| !is_custom && wire != Wire::Anthropic) {
        Some(text) => serde_json::from_str(text).unwrap_or(given),
        None => given,
    };
    let text = |key: &str| [holder, call].into_iter().find_map(|one| one[key].as_str()).map(String::from);
    Arrived { way, namespace: text("namespace"), name: text("name").unwrap_or_default(), given, is_custom }
}

fn events_of(target: Wire, call: &Value, given: &Value) -> Vec<Value> {
    let text = given.to_string();
    let (one, two) = text.split_at(text.char_indices().nth(2).map_or(0, |(at, _)| at));
    match target {
        Wire::Anthropic => {
            let delta = |piece: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}});
            let mut block = call.clone();
            block["input"] = json!({});
            let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
            vec![start, delta(one), delta(two), json!({"type": "content_block_stop", "index": 0})]
        }
        Wire::Chat => {
            let chunk = |mut call: Value, inner: &str, key: &str, piece: &str| {
                call["index"] = json!(0);
                call[inner][key] = json!(piece);
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
            };
            let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
            match call["type"] == "custom" {
                true => vec![chunk(call.clone(), "custom", "input", INPUT), end],
                false => {
                    let piece = |piece: &str| chunk(json!({"function": {}}), "function", "arguments", piece);
                    vec![chunk(call.clone(), "function", "arguments", ""), piece(one), piece(two), end]
                }
            }
        }
        Wire::Responses => {
            let is_custom = call["type"] == "custom_tool_call";
            let (key, kind) =
                if is_custom { ("input", "custom_tool_call_input") } else { ("arguments", "function_call_arguments") };
            let (one, two) = if is_custom { INPUT.split_at(2) } else { (one, two) };
            let mut begun = call.clone();
            begun[key] = json!("");
            let delta = |piece: &str| json!({"type": format!("response.{kind}.delta"), "output_index": 0, "item_id": "i", "delta": piece});
            let start = json!({"type": "response.output_item.added", "output_index": 0, "item": begun});
            let done =
                json!({"type": format!("response.{kind}.done"), "output_index": 0, "item_id": "i", key: call[key]});
            let end = json!({"type": "response.output_item.done", "output_index": 0, "item": call});
            vec![start, delta(one), delta(two), done, end]
        }
        Wire::Gemini => vec![reply(target, call)],
    }
}

fn read_streamed_call(target: Wire, events: &[Value]) -> Arrived {
    let mut call = Value::Null;
    let mut pieces = String::new();
    for event in events {
        match target {
            Wire::Gemini => return read_call(target, call_in(target, event), "stream"),
            Wire::Anthropic => {
                if event["type"] == "content_block_start" {
                    call = event["content_block"].clone();
                }
                pieces += event["delta"]["partial_json"].as_str().unwrap_or_default();
            }
            Wire::Chat => {
                let part = &event["choices"][0]["delta"]["tool_calls"][0];
                if call.is_null() && part.is_object() {
                    call = part.clone();
                }
                pieces += part["function"]["arguments"].as_str().unwrap_or_default();
                pieces += part["custom"]["input"].as_str().unwrap_or_default();
            }
            Wire::Responses => {
                if event["type"] == "response.output_item.added" {
                    call = event["item"].clone();
                }
                pieces += event["delta"].as_str().unwrap_or_default();
                if event["type"] == "response.output_item.done" {
                    let (begun, whole) =
                        (read_call(target, &call, "stream"), read_call(target, &event["item"], "stream"));
                    let is_same = begun.name == whole.name
                        && begun.namespace == whole.namespace
                        && begun.is_custom == whole.is_custom;
                    assert!(is_same, "expected a call with the same name and kind at its end: {events:?}");
                }
            }
        }
    }
    let mut found = read_call(target, &call, "stream");
    found.given = match found.is_custom {
        true => json!(pieces),
        false => serde_json::from_str(&pieces).unwrap_or_else(|_| json!(pieces)),
    };
    found
}
