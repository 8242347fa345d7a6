//! Requests whose history adds tools, in every format. Names and namespaces of the tools in the list and in the history
//! collide; each definition has a mark in its description.

use serde_json::{json, Map, Value};
use toolwire::{
    options::{Api, CustomTools, Native, Order, ServerToolSearch, ToolChanges, ToolFormat},
    AdaptOptions, DeferredOptions,
};

use super::{
    generated::{Numbers, PROPERTIES},
    wire::Wire,
};

use crate::dialect_id;

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) mark: usize,
    /// `None` for the top level.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) is_custom: bool,
    pub(crate) property: String,
}

impl Definition {
    pub(crate) fn is_same_tool(&self, other: &Definition) -> bool {
        self.namespace == other.namespace && self.name == other.name
    }
}

/// Names, some of which equal the flat or legalized names of others.
const NAMES: [&str; 14] = [
    "exec",
    "c",
    "b__c",
    "a__b__c",
    "a__exec",
    "a__b",
    "a",
    "read.file",
    "read_file",
    "read file",
    "crm__delete",
    "delete",
    "tool_search",
    "読む",
];
const NAMESPACES: [&str; 6] = ["a", "a__b", "crm", "exec", "読む", "functions"];

fn definitions(numbers: &mut Numbers, wire: Wire) -> Vec<Definition> {
    let mut made: Vec<Definition> = Vec::new();
    for mark in 0..2 + numbers.below(7) {
        let namespace = (wire == Wire::Responses && numbers.one_in(2)).then(|| (*numbers.of(&NAMESPACES)).to_owned());
        let property = format!("{}{mark}", numbers.of(&PROPERTIES));
        let is_custom = wire == Wire::Responses && numbers.one_in(3);
        let name = (*numbers.of(&NAMES)).to_owned();
        let one = Definition { mark, namespace, name, is_custom, property };
        // This test covers neither redefinitions of a tool nor tools that are both in the default namespace and at the
        // top level.
        let in_default = |one: &Definition| one.namespace.as_deref().is_none_or(|space| space == "functions");
        let is_double = |other: &Definition| {
            one.name == other.name && (one.namespace == other.namespace || in_default(&one) && in_default(other))
        };
        if !made.iter().any(is_double) {
            made.push(one);
        }
    }
    made
}

fn list_entry(wire: Wire, tool: &Definition, defers: bool) -> Value {
    let description = format!("#{}# A tool.", tool.mark);
    let schema =
        json!({"type": "object", "properties": {&tool.property: {"type": "string"}}, "required": [&tool.property]});
    let mut entry = match wire {
        Wire::Anthropic => json!({"name": tool.name, "description": description, "input_schema": schema}),
        Wire::Chat => {
            json!({"type": "function", "function": {"name": tool.name, "description": description, "parameters": schema}})
        }
        Wire::Responses if tool.is_custom => {
            json!({"type": "custom", "name": tool.name, "description": description})
        }
        Wire::Responses => {
            json!({"type": "function", "name": tool.name, "description": description, "parameters": schema})
        }
        Wire::Gemini => json!({"name": tool.name, "description": description, "parameters": schema}),
    };
    if defers {
        entry["defer_loading"] = json!(true);
    }
    entry
}

/// Tools of one namespace may be in one entry or in several.
fn in_namespaces(numbers: &mut Numbers, tools: &[(Definition, bool)]) -> Vec<Value> {
    let mut list: Vec<Value> = Vec::new();
    for (tool, defers) in tools {
        let entry = list_entry(Wire::Responses, tool, *defers);
        let Some(space) = &tool.namespace else {
            list.push(entry);
            continue;
        };
        let joins = numbers.one_in(2);
        match list.iter_mut().find(|one| joins && one["type"] == "namespace" && one["name"] == json!(space)) {
            Some(found) => found["tools"].as_array_mut().expect("a list").push(entry),
            None => list.push(json!({"type": "namespace", "name": space, "tools": [entry]})),
        }
    }
    list
}

fn call_of(wire: Wire, tool: &Definition, id: &str) -> Value {
    match wire {
        Wire::Anthropic => json!({"type": "tool_use", "id": id, "name": tool.name, "input": {}}),
        Wire::Chat => json!({"id": id, "type": "function", "function": {"name": tool.name, "arguments": "{}"}}),
        _ => {
            let mut call = match tool.is_custom {
                true => json!({"type": "custom_tool_call", "call_id": id, "name": tool.name, "input": "x"}),
                false => json!({"type": "function_call", "call_id": id, "name": tool.name, "arguments": "{}"}),
            };
            if let Some(space) = &tool.namespace {
                call["namespace"] = json!(space);
            }
            call
        }
    }
}

pub(crate) fn request(numbers: &mut Numbers, wire: Wire) -> (Value, Vec<Definition>) {
    let made = definitions(numbers, wire);
    let (mut own, mut carried) = (Vec::new(), Vec::new());
    for tool in &made {
        let defers = wire != Wire::Gemini && numbers.one_in(2);
        if wire != Wire::Gemini && numbers.one_in(3) {
            carried.push((tool.clone(), numbers.one_in(3)));
        } else {
            own.push((tool.clone(), defers));
        }
    }
    // A search also finds listed tools, which repeats their definitions.
    let again: Vec<(Definition, bool)> =
        own.iter().filter(|(_, defers)| *defers && numbers.one_in(2)).cloned().collect();
    let called = numbers.of(&made).clone();
    let request = match wire {
        Wire::Anthropic => anthropic(numbers, (&own, &carried), &again, &called),
        Wire::Chat => chat(numbers, (&own, &carried), &again, &called),
        Wire::Responses => responses(numbers, (&own, &carried), &again, &called),
        Wire::Gemini => {
            let list: Vec<Value> = own.iter().map(|(tool, _)| list_entry(wire, tool, false)).collect();
            json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": [{"functionDeclarations": list}]})
        }
    };
    (request, made)
}

type Lists<'l> = (&'l [(Definition, bool)], &'l [(Definition, bool)]);

fn anthropic(
    numbers: &mut Numbers,
    (own, carried): Lists<'_>,
    again: &[(Definition, bool)],
    called: &Definition,
) -> Value {
    let wire = Wire::Anthropic;
    let mut list: Vec<Value> = own.iter().map(|(tool, defers)| list_entry(wire, tool, *defers)).collect();
    if numbers.one_in(3) {
        list.push(json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}));
    }
    let mut found: Vec<Value> =
        again.iter().map(|(tool, _)| json!({"type": "tool_reference", "tool_name": tool.name})).collect();
    // Servers cannot add tools, whatever their results contain.
    found.push(json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition":
        {"name": called.name, "description": "#999# Of nobody.", "input_schema": {"type": "object"}}}}));
    let mut history = vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": [call_of(wire, called, "c")]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": found}]}),
    ];
    for (tool, _) in carried {
        let definition = json!({"type": "tool_definition", "definition": list_entry(wire, tool, false)});
        history.push(json!({"role": "system", "content": [{"type": "tool_addition", "tool": definition}]}));
    }
    json!({"model": "m", "max_tokens": 9, "messages": history, "tools": list})
}

fn chat(numbers: &mut Numbers, (own, carried): Lists<'_>, again: &[(Definition, bool)], called: &Definition) -> Value {
    let wire = Wire::Chat;
    let list: Vec<Value> = own.iter().map(|(tool, defers)| list_entry(wire, tool, *defers)).collect();
    let found: Vec<Value> =
        again.iter().map(|(tool, _)| json!({"type": "tool_reference", "tool_name": tool.name})).collect();
    let mut history = vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call_of(wire, called, "c")]}),
        json!({"role": "tool", "tool_call_id": "c", "content": found}),
    ];
    for (tool, _) in carried {
        let at = numbers.below(2);
        history.insert(
            if at == 0 { 0 } else { history.len() },
            json!({"role": "system", "tools": [list_entry(wire, tool, false)], "content": ""}),
        );
    }
    json!({"model": "m", "messages": history, "tools": list})
}

fn responses(
    numbers: &mut Numbers,
    (own, carried): Lists<'_>,
    again: &[(Definition, bool)],
    called: &Definition,
) -> Value {
    let mut list = in_namespaces(numbers, own);
    if numbers.one_in(2) {
        let search = json!({"type": "tool_search", "execution": "client", "description": "Searches", "parameters": {"type": "object"}});
        list.push(if numbers.one_in(2) { search } else { json!({"type": "tool_search"}) });
    }
    let kind = if called.is_custom { "custom_tool_call_output" } else { "function_call_output" };
    let mut history = vec![
        json!({"role": "user", "content": "go"}),
        call_of(Wire::Responses, called, "c"),
        json!({"type": kind, "call_id": "c", "output": "ok"}),
    ];
    let (found, added): (Vec<_>, Vec<_>) = carried.iter().cloned().partition(|_| numbers.one_in(2));
    let outputs: Vec<(Definition, bool)> = again.iter().cloned().chain(found).collect();
    if !outputs.is_empty() {
        let execution = if numbers.one_in(2) { "client" } else { "server" };
        history.push(json!({"type": "tool_search_call", "call_id": "s", "execution": execution, "arguments": {}}));
        let tools = in_namespaces(numbers, &outputs);
        history.push(json!({"type": "tool_search_output", "call_id": "s", "execution": execution, "tools": tools}));
    }
    if !added.is_empty() {
        let tools = in_namespaces(numbers, &added);
        let at = if numbers.one_in(2) { 0 } else { history.len() };
        history.insert(at, json!({"type": "additional_tools", "role": "developer", "tools": tools}));
    }
    json!({"model": "m", "input": history, "tools": list})
}

pub(crate) fn deferred(numbers: &mut Numbers, wire: Wire) -> (DeferredOptions, Wire) {
    let mut options = DeferredOptions::default();
    options.server_tool_search = *numbers.of(&[Some(ServerToolSearch::Emulate), None]);
    options.order = *numbers.of(&[Order::Catalog, Order::Append]);
    options.custom_tools = *numbers.of(&[None, Some(CustomTools::Function), Some(CustomTools::Keep)]);
    options.tool_changes = *numbers.of(&[ToolChanges::Apply, ToolChanges::Apply, ToolChanges::Ignore]);
    let natives = [
        (Native::None, wire),
        (Native::None, Wire::Anthropic),
        (Native::None, Wire::Chat),
        (Native::None, Wire::Responses),
        (Native::References, Wire::Anthropic),
        (Native::Changes, Wire::Anthropic),
        (Native::Inline, Wire::Anthropic),
        (Native::AdditionalTools, Wire::Responses),
        (Native::ToolSearch, Wire::Responses),
        (Native::Kimi, Wire::Chat),
    ];
    let (native, target) = *numbers.of(&natives);
    options.native = native;
    options.target = Some(match target {
        Wire::Anthropic => Api::Anthropic,
        Wire::Chat => Api::OpenaiChat,
        _ => Api::OpenaiResponses,
    });
    (options, target)
}

pub(crate) fn adapting(dialect: &str, format: ToolFormat, deferred: Option<DeferredOptions>) -> AdaptOptions {
    let mut options = AdaptOptions::new(dialect_id(dialect));
    options.deferred = deferred;
    options.tools.format = Some(format);
    options
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) mark: Option<usize>,
    pub(crate) is_custom: bool,
    pub(crate) property: Option<String>,
    /// True if the API loads the tool, and may then put it into a namespace with the tool's own name.
    pub(crate) is_loaded: bool,
}

pub(crate) fn sent(request: &Value) -> Vec<Sent> {
    let mut found = Vec::new();
    list(&request["tools"], None, false, &mut found);
    for message in ["messages", "input"].iter().filter_map(|key| request[*key].as_array()).flatten() {
        let is_system = message["role"] == "system" || message["role"] == "developer";
        let brings = message["type"] == "additional_tools" || message["type"] == "tool_search_output" || is_system;
        if brings {
            list(&message["tools"], None, true, &mut found);
        }
        for block in message["content"].as_array().into_iter().flatten().filter(|_| is_system) {
            let tool = &block["tool"];
            if block["type"] == "tool_addition" && tool["type"] == "tool_definition" {
                list(&json!([tool["definition"]]), None, false, &mut found);
            }
        }
    }
    found
}

fn list(tools: &Value, namespace: Option<&str>, is_loaded: bool, found: &mut Vec<Sent>) {
    for entry in tools.as_array().into_iter().flatten() {
        if let Some(group) = entry.get("functionDeclarations") {
            list(group, None, false, found);
            continue;
        }
        if entry["type"] == "namespace" {
            list(&entry["tools"], entry["name"].as_str(), is_loaded, found);
            continue;
        }
        let tool = ["function", "custom"].iter().find_map(|key| entry.get(key)).unwrap_or(entry);
        let Some(name) = tool["name"].as_str() else { continue };
        let schema = ["parameters", "input_schema", "parametersJsonSchema"].iter().find_map(|key| tool.get(key));
        let property = schema.and_then(|schema| schema["properties"].as_object()?.keys().next().cloned());
        let description = tool["description"].as_str().unwrap_or_default();
        let one = Sent {
            namespace: namespace.map(String::from),
            name: name.to_owned(),
            mark: super::wire::number(description),
            // Any tool of Anthropic may have the type `custom`.
            is_custom: entry["type"] == "custom" && schema.is_none(),
            property,
            is_loaded: namespace.is_none() && (is_loaded || entry["defer_loading"] == json!(true)),
        };
        found.push(one);
    }
}

pub(crate) fn arguments(tool: &Sent) -> Value {
    let members: Map<String, Value> = tool.property.iter().map(|property| (property.clone(), json!("x"))).collect();
    Value::Object(members)
}
