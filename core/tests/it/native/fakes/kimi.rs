//! A fake of Kimi K3's Chat Completions, from Moonshot's tests (MoonshotAI/Kimi-Vendor-Verifier) and documentation.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{chat, function_name, items, refuse, Verdict};

pub(crate) fn check(request: &Value) -> Verdict {
    let mut names = BTreeSet::new();
    declare(&request["tools"], &mut names, "tools")?;
    for (at, message) in items(&request["messages"]).enumerate() {
        let place = format!("messages[{at}]");
        if let Some(tools) = message.get("tools") {
            refuse(message["role"] != "system", format!("{place}: dynamic tools are for the role system"))?;
            // Moonshot's tests send an empty string; other text, or null, next to tools is refused.
            let has_content = message.get("content").is_some_and(|content| content != "");
            refuse(has_content, format!("{place}: content beside dynamic tools"))?;
            refuse(!tools.is_array(), format!("{place}: `tools` is not an array"))?;
            declare(tools, &mut names, &place)?;
        } else {
            chat::message(message, &place)?;
        }
    }
    chat::pairs(request)?;
    match &request["tool_choice"] {
        Value::Null => Ok(()),
        Value::String(choice) if choice == "required" => {
            refuse(names.is_empty(), "tool_choice required needs tools".to_owned())
        }
        Value::String(choice) => refuse(choice != "auto" && choice != "none", format!("tool_choice {choice}")),
        // Moonshot's servers currently ignore a named choice. The fake refuses it, because the choice would
        // have no effect.
        named => refuse(true, format!("tool_choice {named} is not supported")),
    }
}

/// Each name must be unique in the whole request.
fn declare(tools: &Value, names: &mut BTreeSet<String>, place: &str) -> Verdict {
    for tool in items(tools) {
        refuse(!tool.is_object(), format!("{place}: a tool that is not an object"))?;
        let name = function_name(tool, place)?;
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
        let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
        refuse(!begins || !goes_on || name.len() > 256, format!("{place}: function name `{name}` is invalid"))?;
        refuse(!names.insert(name.to_owned()), format!("{place}: function name {name} is duplicated"))?;
    }
    Ok(())
}
