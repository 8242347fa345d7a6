//! A fake of OpenAI Responses: with searches and items that add tools, with items only, or with neither.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{items, refuse, Verdict};

pub(crate) fn check(request: &Value, native: &str) -> Verdict {
    let mut api = Api { native, listed: BTreeMap::new(), brought: BTreeSet::new(), calls: BTreeMap::new() };
    let searches = items(&request["tools"]).any(|tool| tool["type"] == "tool_search");
    refuse(searches && native != "tool-search", "Unsupported tool type: tool_search".to_owned())?;
    for tool in items(&request["tools"]) {
        let deferred = tool["defer_loading"] == true;
        refuse(deferred && !searches, "defer_loading needs a tool_search in tools".to_owned())?;
        api.list(tool, deferred)?;
    }
    for (at, item) in items(&request["input"]).enumerate() {
        api.item(item).map_err(|text| format!("input[{at}]: {text}"))?;
    }
    let open = api.calls.iter().find(|(_, is_open)| **is_open).map(|(id, _)| *id);
    refuse(open.is_some(), format!("No tool output found for function call {open:?}."))?;
    let choice = &request["tool_choice"];
    let forced = choice["name"].as_str().filter(|_| choice["type"] == "function" || choice["type"] == "custom");
    let is_there = |name: &str| api.listed.contains_key(name) || api.brought.contains(name);
    let text = format!("Tool choice {choice} not found in 'tools' parameter.");
    refuse(forced.is_some_and(|name| choice["namespace"].is_null() && !is_there(name)), text)
}

struct Api<'a> {
    native: &'a str,
    /// The names in the list; the flag is true if the tool is deferred.
    listed: BTreeMap<&'a str, bool>,
    /// The names that the history has added so far.
    brought: BTreeSet<&'a str>,
    /// Every call by its id; the flag is true if the call has no output yet.
    calls: BTreeMap<&'a str, bool>,
}

impl<'a> Api<'a> {
    fn list(&mut self, tool: &'a Value, deferred: bool) -> Verdict {
        let kind = tool["type"].as_str().unwrap_or_default();
        if kind != "function" && kind != "custom" {
            return refuse(kind.is_empty(), "Missing required parameter: 'tools[0].type'.".to_owned());
        }
        let name = tool["name"].as_str().ok_or("Missing required parameter: 'tools[0].name'.")?;
        refuse(self.listed.insert(name, deferred).is_some(), format!("Duplicate tool name '{name}'"))
    }

    fn item(&mut self, item: &'a Value) -> Verdict {
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "message" => message(item),
            "function_call" | "custom_tool_call" => {
                let name = item["name"].as_str().ok_or("Missing required parameter: 'name'.")?;
                let key = if kind == "function_call" { "arguments" } else { "input" };
                refuse(!item[key].is_string(), format!("Invalid type for '{key}': expected a string"))?;
                let bare = item.get("namespace").is_none();
                refuse(!bare && self.native == "none", "Unknown parameter: 'namespace'.".to_owned())?;
                let is_brought = self.brought.contains(name) && self.listed.get(name) != Some(&false);
                refuse(bare && is_brought, format!("Missing namespace for function_call '{name}'"))?;
                self.called(item)
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = &item["output"];
                refuse(!output.is_string() && !output.is_array(), "Invalid type for 'output'".to_owned())?;
                self.answered(item)
            }
            "additional_tools" => {
                refuse(self.native == "none", format!("Invalid value: '{kind}'"))?;
                refuse(item["role"] != "developer", "additional_tools needs the role developer".to_owned())?;
                self.brings(item)
            }
            "tool_search_call" => {
                refuse(self.native != "tool-search", format!("Invalid value: '{kind}'"))?;
                refuse(!item["arguments"].is_object(), "Invalid type for 'arguments': expected an object".to_owned())?;
                if item["execution"] == "server" {
                    return Ok(());
                }
                self.called(item)
            }
            "tool_search_output" => {
                refuse(self.native != "tool-search", format!("Invalid value: '{kind}'"))?;
                self.brings(item)?;
                if item["execution"] == "server" {
                    return Ok(());
                }
                self.answered(item)
            }
            _ => Ok(()),
        }
    }

    fn called(&mut self, item: &'a Value) -> Verdict {
        let id = item["call_id"].as_str().ok_or("Missing required parameter: 'call_id'.")?;
        refuse(self.calls.insert(id, true).is_some(), format!("Duplicate call_id '{id}'"))
    }

    fn answered(&mut self, item: &'a Value) -> Verdict {
        let id = item["call_id"].as_str().ok_or("Missing required parameter: 'call_id'.")?;
        let call = self.calls.insert(id, false);
        refuse(call.is_none(), format!("No tool call found for function call output with call_id {id}."))
    }

    /// Each name may only be added once, unless the tool is deferred in the list.
    fn brings(&mut self, item: &'a Value) -> Verdict {
        refuse(!item["tools"].is_array(), "Missing required parameter: 'tools'.".to_owned())?;
        let namespaces = || items(&item["tools"]).filter(|tool| tool["type"] == "namespace");
        let names: BTreeSet<&str> = namespaces().filter_map(|namespace| namespace["name"].as_str()).collect();
        refuse(names.len() < namespaces().count(), "two namespaces with the same name".to_owned())?;
        for tool in items(&item["tools"]).filter(|tool| tool["type"] != "namespace") {
            let name = tool["name"].as_str().ok_or("Missing required parameter: 'tools[0].name'.")?;
            let is_new = self.brought.insert(name) && self.listed.get(name) != Some(&false);
            refuse(!is_new, format!("Duplicate tool name '{name}'"))?;
        }
        Ok(())
    }
}

fn message(item: &Value) -> Verdict {
    let role = item["role"].as_str().unwrap_or_default();
    refuse(!["user", "assistant", "developer", "system"].contains(&role), format!("Invalid value: '{role}'"))?;
    let content = &item["content"];
    refuse(!content.is_string() && !content.is_array(), "Invalid type for 'content'".to_owned())?;
    for part in items(content) {
        let kind = part["type"].as_str().unwrap_or_default();
        let wrong = match role {
            "assistant" => kind.starts_with("input_"),
            _ => !kind.starts_with("input_"),
        };
        refuse(wrong, format!("Invalid value: '{kind}' in a message of the role {role}"))?;
    }
    Ok(())
}
