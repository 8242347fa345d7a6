//! A fake of Anthropic Messages, with the betas that the request's header names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{items, refuse, Verdict};

pub(crate) const INLINE: &str = "inline-tools-2026-09-15";
const CHANGES: &str = "mid-conversation-tool-changes-2026-07-01";

pub(crate) fn check(request: &Value, native: &str, betas: &[&str]) -> Verdict {
    refuse(!request["max_tokens"].is_u64(), "max_tokens: Field required".to_owned())?;
    let mut known = BTreeMap::new();
    for (at, tool) in items(&request["tools"]).enumerate() {
        let name = name(tool).ok_or(format!("tools.{at}: name: Field required"))?;
        refuse(known.insert(name, tool).is_some(), "tools: Tool names must be unique.".to_owned())?;
        let is_native = native != "none" || tool.get("defer_loading").is_none();
        refuse(!is_native, format!("tools.{at}: defer_loading: Extra inputs are not permitted"))?;
        let has_both = tool["defer_loading"] == true && !tool["cache_control"].is_null();
        refuse(has_both, format!("tools.{at}: cache_control cannot be set beside defer_loading"))?;
    }
    let mut tools = items(&request["tools"]).peekable();
    let all_deferred = tools.peek().is_some() && tools.all(|tool| tool["defer_loading"] == true);
    refuse(all_deferred, "At least one tool must have defer_loading=false".to_owned())?;
    let forces = request["tool_choice"]["type"] == "any" || request["tool_choice"]["type"] == "tool";
    let thinks = request["thinking"]["type"] == "enabled" || request["thinking"]["type"] == "adaptive";
    refuse(forces && thinks, "Thinking may not be enabled when tool_choice forces tool use.".to_owned())?;
    choice(request, &known)?;
    let messages: Vec<&Value> = items(&request["messages"]).collect();
    refuse(messages.is_empty(), "messages: at least one message is required".to_owned())?;
    let mut api = Api { native, betas, known, used: BTreeSet::new() };
    for (at, message) in messages.iter().enumerate() {
        api.message(&messages, at, message).map_err(|text| format!("messages.{at}: {text}"))?;
    }
    Ok(())
}

fn name(tool: &Value) -> Option<&str> {
    tool["name"].as_str().or_else(|| tool["mcp_server_name"].as_str())
}

fn choice(request: &Value, known: &BTreeMap<&str, &Value>) -> Verdict {
    let choice = &request["tool_choice"];
    // It is unknown whether the API accepts a choice of an added tool in a request without a list.
    let is_added = request["messages"].to_string().contains("tool_definition");
    let text = "tool_choice may only be specified while providing tools";
    refuse(!choice.is_null() && request["tools"].is_null() && !is_added, text.to_owned())?;
    let Some(name) = choice["name"].as_str() else { return Ok(()) };
    refuse(!known.contains_key(name) && !is_added, format!("Tool '{name}' not found in provided tools"))
}

struct Api<'a> {
    native: &'a str,
    betas: &'a [&'a str],
    /// The tools in the list, and those that the history has defined so far.
    known: BTreeMap<&'a str, &'a Value>,
    /// The ids of all calls.
    used: BTreeSet<&'a str>,
}

impl<'a> Api<'a> {
    fn message(&mut self, messages: &[&'a Value], at: usize, message: &'a Value) -> Verdict {
        let role = message["role"].as_str().unwrap_or_default();
        refuse(!["user", "assistant", "system"].contains(&role), format!("role: `{role}`"))?;
        let content = &message["content"];
        let is_empty = content.as_str().is_none_or(str::is_empty) && items(content).count() == 0;
        refuse(is_empty, "all messages must have non-empty content".to_owned())?;
        // The API merges consecutive messages of one role.
        let before = messages[..at].iter().rev().find(|message| message["role"] != "system").copied();
        let called: Vec<&str> = messages[..at]
            .iter()
            .rev()
            .skip_while(|message| message["role"] == "user")
            .take_while(|message| message["role"] == "assistant")
            .flat_map(|message| ids(message, "tool_use", "id"))
            .collect();
        let after = messages[at + 1..].iter().find(|message| message["role"] != "system").copied();
        if role == "system" {
            let follows = before.is_some_and(|before| before["role"] == "user" || ends_in_a_server_result(before));
            let is_followed = after.is_none_or(|after| after["role"] == "assistant");
            refuse(!follows || !is_followed, "a system message is not allowed here".to_owned())?;
        }
        for block in items(content) {
            self.block(role, block, &called)?;
        }
        let calls: Vec<&str> = ids(message, "tool_use", "id").collect();
        if at + 1 == messages.len() || calls.is_empty() {
            return Ok(());
        }
        let rest = messages[at + 1..].iter().skip_while(|message| message["role"] == "assistant");
        let results: Vec<&str> = rest
            .take_while(|message| message["role"] == "user")
            .flat_map(|message| ids(message, "tool_result", "tool_use_id"))
            .collect();
        let missing = calls.iter().find(|id| !results.contains(id));
        let text = "`tool_use` ids were found without `tool_result` blocks immediately after";
        refuse(missing.is_some(), format!("{text}: {missing:?}"))
    }

    fn block(&mut self, role: &str, block: &'a Value, called: &[&str]) -> Verdict {
        let kind = block["type"].as_str().unwrap_or_default();
        let is_whose = |owner: &str| refuse(role != owner, format!("`{kind}` in a message of the role {role}"));
        match kind {
            "text" => {
                let text = block["text"].as_str().unwrap_or_default();
                refuse(text.is_empty(), "text content blocks must be non-empty".to_owned())
            }
            "tool_use" | "server_tool_use" => {
                is_whose("assistant")?;
                refuse(!block["input"].is_object(), format!("{kind}.input: Input should be a valid dictionary"))?;
                let id = block["id"].as_str().unwrap_or_default();
                let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
                let text = "String should match pattern '^[a-zA-Z0-9_-]+$'";
                refuse(id.is_empty() || !id.chars().all(legal), format!("{kind}.id: {text}, `{id}`"))?;
                refuse(!self.used.insert(id), format!("`tool_use` ids must be unique: `{id}`"))
            }
            "tool_result" => {
                is_whose("user")?;
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                refuse(!called.contains(&id), format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}"))?;
                self.result(&block["content"])
            }
            "tool_search_tool_result" => {
                refuse(self.native == "none", format!("unknown block `{kind}`"))?;
                items(&block["content"]["tool_references"]).try_for_each(|found| self.refers(&found["tool_name"]))
            }
            "tool_addition" | "tool_removal" => {
                is_whose("system")?;
                self.change(kind, &block["tool"])
            }
            "image" | "document" | "thinking" | "redacted_thinking" => Ok(()),
            // Other block types are only written by the provider's servers and not checked, but the block must have a
            // type.
            _ => refuse(kind.is_empty() || kind == "tool_reference", format!("unexpected block `{kind}`")),
        }
    }

    fn result(&self, content: &Value) -> Verdict {
        let (references, others): (Vec<&Value>, Vec<&Value>) =
            items(content).partition(|block| block["type"] == "tool_reference");
        let text = "tool_result: `tool_reference` blocks cannot be mixed with other content";
        refuse(!references.is_empty() && !others.is_empty(), text.to_owned())?;
        refuse(!references.is_empty() && self.native == "none", "unknown block `tool_reference`".to_owned())?;
        refuse(others.iter().any(|block| block["text"] == ""), "text content blocks must be non-empty".to_owned())?;
        references.into_iter().try_for_each(|reference| self.refers(&reference["tool_name"]))
    }

    fn refers(&self, name: &Value) -> Verdict {
        let known = name.as_str().is_some_and(|name| self.known.contains_key(name));
        refuse(!known, format!("Tool reference {name} not found in available tools"))
    }

    fn change(&mut self, kind: &str, tool: &'a Value) -> Verdict {
        refuse(self.native == "none" || self.native == "references", format!("unknown block `{kind}`"))?;
        let has = |beta: &str| self.betas.contains(&beta);
        if tool["type"] == "tool_definition" {
            refuse(kind == "tool_removal", "a removal takes a reference".to_owned())?;
            refuse(self.native != "inline" || !has(INLINE), format!("a definition needs the beta {INLINE}"))?;
            let definition = &tool["definition"];
            let name = name(definition).ok_or("tool_definition: name: Field required")?;
            let old = self.known.insert(name, definition);
            let type_of = |tool: &Value| tool["type"].as_str().unwrap_or("custom").to_owned();
            return refuse(old.is_some_and(|old| type_of(old) != type_of(definition)), "tool_name_conflict".to_owned());
        }
        refuse(!has(CHANGES) && !has(INLINE), format!("`{kind}` needs the beta {CHANGES}"))?;
        if tool["type"] == "mcp_tool_reference" || tool["type"] == "mcp_toolset_reference" {
            return Ok(());
        }
        let known = tool["name"].as_str().is_some_and(|name| self.known.contains_key(name));
        refuse(!known, format!("tool_reference_unresolved: {tool}"))
    }
}

fn ends_in_a_server_result(message: &Value) -> bool {
    let last = items(&message["content"]).last();
    last.and_then(|block| block["type"].as_str()).is_some_and(|kind| kind != "tool_result" && kind.ends_with("_result"))
}

fn ids<'v>(message: &'v Value, kind: &'static str, key: &'static str) -> impl Iterator<Item = &'v str> {
    let blocks = items(&message["content"]).filter(move |block| block["type"] == kind);
    blocks.filter_map(move |block| block[key].as_str())
}
