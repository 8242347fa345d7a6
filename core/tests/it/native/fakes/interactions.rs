//! A fake of Gemini Interactions, with or without its native deferred functions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{items, refuse, Verdict};

const MEMBERS: [&str; 9] = [
    "model",
    "input",
    "tools",
    "system_instruction",
    "generation_config",
    "previous_interaction_id",
    "stream",
    "store",
    "service_tier",
];
const SETTINGS: [&str; 6] = ["temperature", "top_p", "max_output_tokens", "stop_sequences", "seed", "tool_choice"];

pub(crate) fn check(request: &Value, native: &str) -> Verdict {
    let is_native = native == "interactions";
    for (name, members, holder) in
        [("request", &MEMBERS[..], request), ("generation_config", &SETTINGS[..], &request["generation_config"])]
    {
        let unknown = holder.as_object().and_then(|object| object.keys().find(|key| !members.contains(&key.as_str())));
        refuse(unknown.is_some(), format!("Unknown name {unknown:?} in `{name}`"))?;
    }
    let (mut names, mut searches, mut deferred) = (BTreeSet::new(), BTreeSet::new(), false);
    for tool in items(&request["tools"]) {
        let kind = tool["type"].as_str().unwrap_or_default();
        let name = tool["name"].as_str();
        refuse(kind == "function" && name.is_none(), "tools: a function without a name".to_owned())?;
        refuse(tool.get("strict").is_some(), "tools: Unknown name \"strict\"".to_owned())?;
        refuse(!is_native && kind == "tool_search", "tools: Unknown type `tool_search`".to_owned())?;
        refuse(!is_native && tool.get("defer_loading").is_some(), "tools: Unknown name \"defer_loading\"".to_owned())?;
        deferred |= tool["defer_loading"] == true;
        let is_client_search = kind == "tool_search" && tool["execution"] == "client";
        refuse(is_client_search && name.is_none(), "tools: a client's search without a name".to_owned())?;
        refuse(!["function", "tool_search", "mcp_server"].contains(&kind), format!("tools: Unknown type `{kind}`"))?;
        if kind == "tool_search" {
            searches.insert(name.unwrap_or_default());
        }
        // The name of a server may equal that of a function; no API is known to refuse that.
        let is_callable = kind != "mcp_server";
        let is_twice = name.is_some_and(|name| is_callable && !names.insert(name));
        refuse(is_twice, format!("tools: {name:?} is not unique"))?;
    }
    refuse(deferred && searches.is_empty(), "tools: defer_loading without tool_search".to_owned())?;
    choice(&request["generation_config"]["tool_choice"], &names)?;
    let mut api = Api { is_native, searches, open: Vec::new(), hosted: None };
    for (at, step) in items(&request["input"]).enumerate() {
        api.step(step).map_err(|text| format!("input[{at}]: {text}"))?;
    }
    Ok(())
}

fn choice(choice: &Value, names: &BTreeSet<&str>) -> Verdict {
    let mode = choice["allowed_tools"]["mode"].as_str().or_else(|| choice.as_str());
    let is_known = mode.is_none_or(|mode| ["auto", "any", "none", "validated"].contains(&mode));
    refuse(!choice.is_null() && (mode.is_none() || !is_known), format!("tool_choice: {choice}"))?;
    let unknown =
        items(&choice["allowed_tools"]["tools"]).find(|name| !name.as_str().is_some_and(|n| names.contains(n)));
    refuse(unknown.is_some(), format!("tool_choice: {unknown:?} is not in tools"))
}

struct Api<'a> {
    is_native: bool,
    /// Names of the client's searches.
    searches: BTreeSet<&'a str>,
    /// Ids and names of the calls without a result so far.
    open: Vec<(&'a str, &'a str)>,
    /// Id of the hosted search without a result so far.
    hosted: Option<&'a str>,
}

impl<'a> Api<'a> {
    fn step(&mut self, step: &'a Value) -> Verdict {
        let text = |key: &str| step[key].as_str();
        let kind = text("type").unwrap_or_default();
        let is_answer = kind == "function_result" || kind == "function_call";
        refuse(!self.open.is_empty() && !is_answer, format!("`{kind}` before the results of {:?}", self.open))?;
        refuse(self.hosted.is_some() && kind != "tool_search_result", format!("`{kind}` behind a search"))?;
        match kind {
            "user_input" | "model_output" => {
                let wrong = items(&step["content"]).find(|content| !is_content(content));
                refuse(items(&step["content"]).next().is_none() || wrong.is_some(), format!("content: {wrong:?}"))
            }
            "function_call" => {
                let whole = text("id").zip(text("name")).filter(|_| step["arguments"].is_object());
                self.open.push(whole.ok_or(format!("the call {step}"))?);
                Ok(())
            }
            "function_result" => {
                let place = self.open.iter().position(|(id, _)| Some(*id) == text("call_id"));
                let (_, name) = self.open.remove(place.ok_or(format!("{} answers no call", step["call_id"]))?);
                refuse(step["name"] != name, "Invalid input received: `name` of a function_result".to_owned())?;
                refuse(!step["result"].is_string() && !step["result"].is_array(), "result: Required".to_owned())?;
                let may_find = self.is_native && self.searches.contains(name);
                let fits = |entry: &Value| is_content(entry) || may_find && is_function(entry);
                let wrong = items(&step["result"]).find(|entry| !fits(entry));
                refuse(wrong.is_some(), format!("result: {wrong:?}"))
            }
            "tool_search_call" => {
                let names = items(&step["arguments"]["function_names"]).all(Value::is_string);
                refuse(!self.is_native || !names, format!("the search {step}"))?;
                self.hosted = Some(text("id").ok_or("id: Required")?);
                Ok(())
            }
            "tool_search_result" => {
                refuse(self.hosted.take() != text("call_id"), format!("{} answers no search", step["call_id"]))?;
                refuse(!items(&step["result"]).all(is_function), format!("result: {}", step["result"]))
            }
            "thought" => Ok(()),
            _ => Err(format!("Unknown type `{kind}`")),
        }
    }
}

fn is_function(entry: &Value) -> bool {
    entry["type"] == "function" && entry["name"].is_string()
}

fn is_content(content: &Value) -> bool {
    match content["type"].as_str() {
        Some("text") => content["text"].as_str().is_some_and(|text| !text.is_empty()),
        Some("image") => content["data"].is_string() && content["mime_type"].is_string() || content["uri"].is_string(),
        _ => false,
    }
}
