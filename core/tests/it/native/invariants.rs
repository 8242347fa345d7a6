//! Properties of every written request, independent of its source and its target.

use std::collections::BTreeSet;

use serde_json::Value;

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn tool_name(tool: &Value) -> Option<&str> {
    ["function", "custom"].iter().find_map(|key| tool[*key]["name"].as_str()).or_else(|| tool["name"].as_str())
}

pub(crate) fn broken(request: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    // The history may also add tools that are deferred in the list.
    let listed = items(&request["tools"]).filter(|tool| tool["defer_loading"] != true);
    let mut names = BTreeSet::new();
    for name in listed.chain(tools_in_history(request)).filter_map(tool_name) {
        if !names.insert(name) {
            broken.push(format!("`{name}` is declared twice"));
        }
    }
    for (call, answers) in turns(request) {
        let given: BTreeSet<&str> = answers.iter().copied().collect();
        if let Some(id) = call.iter().find(|id| answered_anywhere(request, id) && !given.contains(**id)) {
            broken.push(format!("the call `{id}` is not answered at once"));
        }
    }
    broken
}

/// Returns the tools in the history, except for the outputs of searches over listed tools.
fn tools_in_history(request: &Value) -> impl Iterator<Item = &Value> {
    let messages = items(&request["messages"]).chain(items(&request["input"]));
    messages.flat_map(|message| {
        let listed = items(&message["tools"]);
        let added = items(&message["content"]).map(|block| &block["tool"]["definition"]);
        let found = items(&message["result"]).filter(|entry| entry["type"] == "function");
        listed.chain(added.filter(|definition| definition.is_object())).chain(found)
    })
}

/// Returns the ids of each turn's calls, and of the results that directly follow them.
fn turns(request: &Value) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut turns: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    let mut open = false;
    for message in items(&request["messages"]).chain(items(&request["input"])) {
        let (called, answered) = (calls_of(message), answers_of(message));
        if !called.is_empty() {
            // Only Chat Completions requires the calls of a turn in one message.
            let goes_on = open && !message["tool_calls"].is_array();
            match turns.last_mut().filter(|(_, answers)| goes_on && answers.is_empty()) {
                Some((calls, _)) => calls.extend(called),
                None => turns.push((called, Vec::new())),
            }
            open = true;
        } else if !answered.is_empty() && open {
            if let Some((_, answers)) = turns.last_mut() {
                answers.extend(answered);
            }
        } else {
            open = false;
        }
    }
    turns
}

fn calls_of(message: &Value) -> Vec<&str> {
    let blocks =
        items(&message["content"]).filter(|block| block["type"] == "tool_use").filter_map(|b| b["id"].as_str());
    let chat = items(&message["tool_calls"]).filter_map(|call| call["id"].as_str());
    let kind = message["type"].as_str().unwrap_or_default();
    let item = ["function_call", "custom_tool_call", "tool_search_call"].contains(&kind);
    let item = item.then(|| message["call_id"].as_str().or_else(|| message["id"].as_str())).flatten();
    blocks.chain(chat).chain(item).collect()
}

fn answers_of(message: &Value) -> Vec<&str> {
    let results = items(&message["content"]).filter(|block| block["type"] == "tool_result");
    let results = results.filter_map(|block| block["tool_use_id"].as_str());
    let kind = message["type"].as_str().unwrap_or_default();
    const ITEMS: [&str; 5] = [
        "function_call_output",
        "custom_tool_call_output",
        "tool_search_output",
        "function_result",
        "tool_search_result",
    ];
    let item = ITEMS.contains(&kind);
    let item = item.then(|| message["call_id"].as_str()).flatten();
    results.chain(message["tool_call_id"].as_str()).chain(item).collect()
}

fn answered_anywhere(request: &Value, id: &str) -> bool {
    items(&request["messages"]).chain(items(&request["input"])).any(|message| answers_of(message).contains(&id))
}

/// Returns the names of the called tools, without namespaces, searches and replacements of searches.
pub(crate) fn calls(request: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for message in items(&request["messages"]).chain(items(&request["input"])) {
        let blocks = items(&message["content"]).filter(|block| block["type"] == "tool_use");
        found.extend(blocks.filter_map(|block| block["name"].as_str()));
        found.extend(items(&message["tool_calls"]).filter_map(tool_name));
        let kind = message["type"].as_str().unwrap_or_default();
        if ["function_call", "custom_tool_call"].contains(&kind) {
            found.extend(message["name"].as_str());
        }
    }
    let is_search = |name: &str| name.to_lowercase().contains("search");
    // Fixtures cover the names of tools in namespaces.
    let last = |name: &str| name.rsplit('_').next().unwrap_or(name).to_owned();
    found.into_iter().filter(|name| !is_search(name)).map(last).collect()
}
