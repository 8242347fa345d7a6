//! A fake of Chat Completions other than Kimi's: only the list may contain tools, and every message needs content.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{function_name, items, refuse, Verdict};

pub(crate) fn check(request: &Value) -> Verdict {
    let mut names = BTreeSet::new();
    refuse(request.get("tools").is_some_and(|tools| tools == &Value::Array(Vec::new())), "[] is too short".to_owned())?;
    for tool in items(&request["tools"]) {
        let name = function_name(tool, "tools")?;
        refuse(tool.get("defer_loading").is_some(), "Unknown parameter: 'tools[].defer_loading'".to_owned())?;
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        refuse(name.is_empty() || name.len() > 64 || !name.chars().all(legal), format!("invalid name `{name}`"))?;
        refuse(!names.insert(name.to_owned()), format!("tools: the name {name} is not unique"))?;
    }
    for (at, message) in items(&request["messages"]).enumerate() {
        // A strict parser reports the missing content before it reads the other members.
        refuse(message.get("tools").is_some(), format!("messages[{at}]: missing field \"content\""))?;
        self::message(message, &format!("messages[{at}]"))?;
    }
    pairs(request)?;
    let choice = &request["tool_choice"];
    refuse(
        !choice.is_null() && names.is_empty(),
        "'tool_choice' is only allowed when 'tools' are specified".to_owned(),
    )?;
    let forced = choice["function"]["name"].as_str().filter(|_| choice["type"] == "function");
    refuse(forced.is_some_and(|name| !names.contains(name)), format!("tool_choice: {choice} is not in tools"))
}

pub(crate) fn message(message: &Value, place: &str) -> Verdict {
    let role = message["role"].as_str().unwrap_or_default();
    let known = ["system", "developer", "user", "assistant", "tool"].contains(&role);
    refuse(!known, format!("{place}: role `{role}`"))?;
    let calls = items(&message["tool_calls"]).count();
    let has_content = message["content"].is_string() || message["content"].is_array();
    refuse(!has_content && calls == 0, format!("{place}: missing field \"content\""))?;
    for part in items(&message["content"]) {
        let kind = part["type"].as_str().unwrap_or_default();
        refuse(kind != "text" && kind != "image_url", format!("{place}: content part `{kind}`"))?;
        let only_text = role != "user" && kind != "text";
        refuse(only_text, format!("{place}: an image in a message of the role {role}"))?;
    }
    refuse(role == "tool" && !message["tool_call_id"].is_string(), format!("{place}: missing tool_call_id"))?;
    refuse(role != "assistant" && calls > 0, format!("{place}: tool_calls of the role {role}"))?;
    for call in items(&message["tool_calls"]) {
        let function = &call["function"];
        let whole = call["id"].is_string() && function["name"].is_string() && function["arguments"].is_string();
        refuse(!whole && call["type"] != "custom", format!("{place}: the tool call {call}"))?;
    }
    Ok(())
}

/// Refuses calls without direct results, and results without calls.
pub(crate) fn pairs(request: &Value) -> Verdict {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in items(&request["messages"]).enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let position = open.iter().position(|call| *call == id);
            let text =
                format!("messages[{at}]: role 'tool' must be a response to a preceding message with 'tool_calls'");
            refuse(position.is_none(), text)?;
            position.map(|at| open.remove(at));
            continue;
        }
        let text = "An assistant message with 'tool_calls' must be followed by tool messages";
        refuse(!open.is_empty(), format!("messages[{at}]: {text} ({open:?})"))?;
        open = items(&message["tool_calls"]).filter_map(|call| call["id"].as_str()).collect();
    }
    Ok(())
}
