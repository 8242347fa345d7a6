//! Fakes of backends. Each one refuses what the real backend refuses, and is written from the APIs' documentation and
//! errors, independent of the tables in the core. For Anthropic, OpenAI and Interactions, the fakes of the native suite
//! are used.

use std::collections::BTreeSet;

use serde_json::Value;

use super::generator::{history_of, Backend};
use crate::native::fakes::{self as format_fakes, Verdict};

fn refuse(wrong: bool, text: &str) -> Verdict {
    if wrong {
        Err(text.to_owned())
    } else {
        Ok(())
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(crate) fn check(backend: Backend, request: &Value) -> Verdict {
    let (api, dialect, model) = backend;
    members(backend, request)?;
    kinds(backend, request)?;
    tools_of_models(backend, request)?;
    formats(backend, request)?;
    choice(backend, request)?;
    match api {
        "gemini" => {
            gemini(request)?;
            google(backend, request)?;
        }
        "bedrock" => converse(request)?,
        _ => {
            // The fake of OpenAI only supports functions; other kinds were checked before.
            let plain = without_other_kinds(request);
            format_fakes::check(api, "none", &plain, &[])?;
        }
    }
    names(backend, request)?;
    let limit = match dialect {
        "openai-chat" | "openai-responses" | "groq" | "deepseek" => 128,
        "xai" => 350,
        "gemini" => 512,
        _ => usize::MAX,
    };
    refuse(definitions(api, request).count() > limit, "too many tools")?;
    ids(backend, request)?;
    let has_caller = calls_of(api, request).into_iter().any(|call| !call["caller"].is_null());
    refuse(has_caller && model == "claude-sonnet-4-20250514", "tool_use.caller: Extra inputs are not permitted")?;
    arguments(api, request)
}

fn definitions<'v>(api: &str, request: &'v Value) -> Box<dyn Iterator<Item = &'v Value> + 'v> {
    match api {
        "gemini" => Box::new(items(&request["tools"]).flat_map(|entry| items(&entry["functionDeclarations"]))),
        "bedrock" => Box::new(items(&request["toolConfig"]["tools"]).map(|entry| &entry["toolSpec"])),
        "openai-chat" => Box::new(items(&request["tools"]).map(|entry| &entry["function"])),
        _ => Box::new(items(&request["tools"])),
    }
}

fn without_other_kinds(request: &Value) -> Value {
    let mut plain = request.clone();
    if let Some(list) = plain["tools"].as_array_mut() {
        list.retain(|entry| entry["type"].is_null() || entry["type"] == "function");
        if list.is_empty() {
            plain.as_object_mut().expect("a request").remove("tools");
        }
    }
    plain
}

fn calls_of<'v>(api: &str, request: &'v Value) -> Vec<&'v Value> {
    let history = items(&request[history_of(api)]);
    match api {
        "anthropic" => {
            history.flat_map(|message| items(&message["content"])).filter(|block| block["type"] == "tool_use").collect()
        }
        "openai-chat" => {
            history.flat_map(|message| items(&message["tool_calls"])).map(|call| &call["function"]).collect()
        }
        "gemini" => history
            .flat_map(|message| items(&message["parts"]))
            .map(|part| &part["functionCall"])
            .filter(|call| call.is_object())
            .collect(),
        "bedrock" => history
            .flat_map(|message| items(&message["content"]))
            .map(|block| &block["toolUse"])
            .filter(|call| call.is_object())
            .collect(),
        _ => history.filter(|item| item["type"] == "function_call").collect(),
    }
}

/// Checks the names in the list and in the history, for the APIs that are known to restrict both.
fn names((api, dialect, _): Backend, request: &Value) -> Verdict {
    let is_enforced =
        ["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions", "bedrock-anthropic"]
            .contains(&dialect);
    let more = if dialect.starts_with("gemini") { "_-.:" } else { "_-" };
    let is_legal = |name: &str| {
        let begins = !dialect.starts_with("gemini")
            || name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        let max_length = if api == "anthropic" || dialect.starts_with("gemini") { 128 } else { 64 };
        begins
            && (1..=max_length).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || more.contains(letter))
    };
    let mut seen = BTreeSet::new();
    for definition in definitions(api, request).filter(|definition| definition["name"].is_string()) {
        let name = definition["name"].as_str().unwrap_or_default();
        refuse(is_enforced && !is_legal(name), &format!("invalid name `{name}` in the list"))?;
        refuse(!seen.insert(name), &format!("the name `{name}` is not unique"))?;
    }
    let wrong = calls_of(api, request).into_iter().find(|call| !is_legal(call["name"].as_str().unwrap_or_default()));
    refuse(is_enforced && wrong.is_some(), &format!("invalid name in a call: {wrong:?}"))
}

fn ids((api, dialect, model): Backend, request: &Value) -> Verdict {
    let history: Vec<&Value> = items(&request[history_of(api)]).collect();
    if dialect == "mistral" && api == "openai-chat" {
        let ids = history.iter().flat_map(|message| items(&message["tool_calls"])).map(|call| &call["id"]);
        let is_legal = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let wrong = ids.filter_map(Value::as_str).find(|id| model.contains("large") && !is_legal(id));
        refuse(wrong.is_some(), "Tool call id must be a-z, A-Z, 0-9, with a length of 9")?;
        let is_after = |pair: &&[&Value]| pair[0]["role"] == "tool" && pair[1]["role"] == "user";
        refuse(history.windows(2).find(is_after).is_some(), "Unexpected role 'user' after role 'tool'")?;
    }
    Ok(())
}

fn arguments(api: &str, request: &Value) -> Verdict {
    for call in calls_of(api, request) {
        let is_object = match api {
            "openai-chat" | "openai-responses" => {
                let text = call["arguments"].as_str().unwrap_or_default();
                serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
            }
            "gemini" => call["args"].is_object() || call["args"].is_null(),
            "gemini-interactions" => call["arguments"].is_object(),
            _ => call["input"].is_object(),
        };
        refuse(!is_object, &format!("arguments must be a valid JSON object: {call}"))?;
    }
    Ok(())
}

/// Returns true if a choice forces a call, and the name of the tool that it forces.
fn forced_call<'v>(api: &str, request: &'v Value) -> (bool, Option<&'v str>) {
    let choice = &request["tool_choice"];
    match api {
        "anthropic" => (choice["type"] == "any" || choice["type"] == "tool", choice["name"].as_str()),
        "bedrock" => {
            let choice = &request["toolConfig"]["toolChoice"];
            (choice.get("any").is_some() || choice.get("tool").is_some(), choice["tool"]["name"].as_str())
        }
        "openai-chat" => (choice == "required" || choice.is_object(), choice["function"]["name"].as_str()),
        _ => (choice == "required" || choice.is_object(), choice["name"].as_str()),
    }
}

fn choice((api, dialect, model): Backend, request: &Value) -> Verdict {
    let (is_forced, name) = forced_call(api, request);
    let has = |prefix: &str| model.contains(prefix);
    let thinking = &request["thinking"]["type"];
    let fields = &request["additionalModelRequestFields"]["thinking"]["type"];
    let thinks = [thinking, fields].into_iter().any(|kind| kind == "enabled" || kind == "adaptive");
    // Recorded for Opus 4.6: adaptive thinking does not conflict with a choice.
    let is_extended = [thinking, fields].into_iter().any(|kind| kind == "enabled");
    let is_default = thinking != "disabled";
    let is_refused = match dialect {
        "anthropic" | "bedrock-anthropic" => {
            let does_think = if has("opus-4-6") { is_extended } else { thinks };
            is_forced && (does_think || has("fable-5-1"))
        }
        "deepseek" => is_forced && (thinks || has("reasoner") || has("v4") && is_default),
        "moonshot" if has("kimi-k3") => name.is_some() && thinks,
        "moonshot" => is_forced && (thinks || has("thinking") || has("k2.6") && is_default),
        "portable" => is_forced && request["enable_thinking"] == true,
        _ => false,
    };
    refuse(is_refused, "no choice may force a call while the model thinks")?;
    refuse(dialect == "cerebras" && has("gpt-oss") && is_forced, "Unsupported tool_choice: required")?;
    let is_given = !request["tool_choice"].is_null();
    refuse(has("aya") && is_given, "tool_choice is not supported for this model")?;
    let has_tools = items(&request["tools"]).next().is_some() || api == "bedrock";
    // Codex compacts with `auto` and without tools.
    let is_idle = dialect == "openai-responses" && request["tool_choice"] == "auto";
    let needs = ["openai-chat", "openai-responses", "xai"].contains(&dialect) && !is_idle;
    refuse(needs && is_given && !has_tools, "'tool_choice' is only allowed when 'tools' are specified")?;
    let parallel = dialect == "openai-chat" && !request["parallel_tool_calls"].is_null();
    refuse(parallel && !has_tools, "'parallel_tool_calls' is only allowed when 'tools' are specified")?;
    refuse(dialect == "vllm" && is_forced && !has_tools, "When using `tool_choice`, `tools` must be set.")?;
    let is_there =
        name.is_none_or(|name| definitions(api, request).any(|definition| definition["name"].as_str() == Some(name)));
    refuse(!is_there, "Tool choice not found in 'tools' parameter.")
}

fn kinds((api, dialect, _): Backend, request: &Value) -> Verdict {
    if !api.starts_with("openai") {
        return Ok(());
    }
    let hosted: &[&str] = match dialect {
        "deepseek" => &["web_search", "namespace", "tool_search"],
        "xai" => &["web_search", "x_search", "code_interpreter", "file_search", "mcp"],
        "vllm" => &["web_search", "web_search_preview", "code_interpreter", "mcp"],
        "ollama" => &["web_search"],
        "groq" => &["mcp", "browser_search", "code_interpreter"],
        "openai-responses" => return Ok(()),
        _ => &[],
    };
    let is_known = |kind: &str| kind == "function" || hosted.contains(&kind);
    let wrong = items(&request["tools"]).find(|entry| !entry["type"].as_str().is_some_and(is_known));
    refuse(wrong.is_some(), &format!("only function tools are accepted: {wrong:?}"))
}

fn tools_of_models((api, _, model): Backend, request: &Value) -> Verdict {
    let takes_none = ["deep-research", "llama-guard", "command-light", "gemma3", "image-generation"]
        .iter()
        .any(|name| model.contains(name));
    let is_bare = |tool: &Value| tool["type"] == "function" && tool["function"]["parameters"].is_null();
    let bare = model.contains("minimax") && api == "openai-chat" && items(&request["tools"]).any(is_bare);
    refuse(bare, "invalid params, function parameters is empty (2013)")?;
    refuse(takes_none && definitions(api, request).next().is_some(), "Function calling is not enabled for this model")
}

fn members((api, dialect, model): Backend, request: &Value) -> Verdict {
    if api != "openai-chat" {
        return Ok(());
    }
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let is_reasoning = begins(&["o1", "o3", "o4", "gpt-5"]);
    let unless_stored: &[&str] = if request["store"] == true { &[] } else { &["metadata"] };
    let mut unknown: Vec<&str> = match dialect {
        "mistral" => {
            vec!["max_completion_tokens", "store", "thinking", "seed", "user", "logit_bias", "verbosity"]
        }
        "groq" => vec!["prompt_cache_key", "store", "reasoning", "verbosity"],
        "cerebras" => vec!["thinking", "store", "metadata", "reasoning", "enable_thinking"],
        "gemini" => vec!["store", "metadata", "prompt_cache_key"],
        "xai" if ["grok-4", "grok-4-fast-reasoning"].contains(&model) => vec!["reasoning_effort"],
        "openai-chat" => unless_stored.to_vec(),
        _ => Vec::new(),
    };
    if dialect == "groq" && model.starts_with("gpt-oss") {
        unknown.push("metadata");
    }
    if dialect == "openai-chat" && is_reasoning {
        unknown.push("max_tokens");
    }
    if dialect == "openai-chat" && begins(&["o1", "o3", "o4-mini"]) {
        unknown.push("parallel_tool_calls");
    }
    if dialect == "openai-chat" && begins(&["gpt-4"]) && request["verbosity"] != "medium" {
        unknown.push("verbosity");
    }
    let found = unknown.iter().find(|name| !request[**name].is_null());
    refuse(found.is_some(), &format!("Unsupported parameter: {found:?}"))
}

fn formats((api, dialect, model): Backend, request: &Value) -> Verdict {
    let format = match api {
        "openai-responses" => &request["text"]["format"],
        "anthropic" => &request["output_config"]["format"],
        "gemini" => &request["generationConfig"],
        _ => &request["response_format"],
    };
    let history: Vec<&Value> = items(&request[history_of(api)]).collect();
    let is_update = |item: &Value| item["type"] == "configuration_update";
    refuse(history.windows(2).any(|pair| is_update(pair[0]) && is_update(pair[1])), "two updates in a row")?;
    if model.contains("claude-sonnet-4-6") {
        let last = history.last().filter(|message| message["role"] == "assistant").map(|message| &message["content"]);
        let is_text = |content: &&Value| {
            content.is_string() || items(content).last().is_some_and(|block| block.get("text").is_some())
        };
        refuse(last.filter(is_text).is_some(), "This model does not support assistant message prefill")?;
    }
    if format.is_null() {
        return Ok(());
    }
    let has_functions = definitions(api, request).any(|definition| definition["name"].is_string());
    let is_json_mode = format["type"] == "json_object";
    let text = serde_json::to_string(&history).unwrap_or_default().to_lowercase();
    let wants_word = ["openai-chat", "openai-responses", "deepseek"].contains(&dialect);
    refuse(wants_word && is_json_mode && !text.contains("json"), "the messages must contain the word json")?;
    if dialect.starts_with("openai") && format["type"] == "json_schema" {
        let name = format.get("name").or_else(|| format["json_schema"].get("name")).and_then(Value::as_str);
        let is_legal = |name: &str| {
            let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            (1..=64).contains(&name.len()) && name.bytes().all(is_of_it)
        };
        refuse(!name.is_some_and(is_legal), "Invalid 'response_format.json_schema.name'")?;
    }
    match dialect {
        "deepseek" => refuse(format["type"] == "json_schema", "This response_format type is unavailable now"),
        "anthropic" => {
            let last = history.last().is_some_and(|message| message["role"] == "assistant");
            refuse(last, "message prefilling is incompatible with structured outputs")?;
            refuse(model.contains("claude-3"), "output_config.format: Extra inputs are not permitted")?;
            let schema = &format["schema"];
            let is_open = schema["type"] == "object" && schema["additionalProperties"] != false;
            refuse(is_open, "For 'object' type, 'additionalProperties' must be explicitly set to false")
        }
        "openai-chat" | "openai-responses" => {
            let schema = format.get("schema").or_else(|| format["json_schema"].get("schema"));
            let is_other = schema.is_some_and(|schema| schema["type"] != "object");
            refuse(is_other, "schema must be a JSON Schema of 'type: \"object\"'")
        }
        "groq" => refuse(is_json_mode && has_functions, "json mode cannot be combined with tool/function calling"),
        "cohere" => refuse(has_functions, "response_format is not supported with tools"),
        "gemini" => {
            let is_json = format["responseMimeType"] == "application/json";
            let has = |member: &str| items(&request["tools"]).any(|entry| entry.get(member).is_some());
            let has_hosted = ["googleSearch", "urlContext", "codeExecution"].into_iter().any(has);
            refuse(
                is_json && has_functions && model.starts_with("gemini-2"),
                "Function calling with a response mime type",
            )?;
            refuse(is_json && has("googleMaps"), "Google Maps tool with a response mime type")?;
            refuse(
                is_json && has_hosted && model.starts_with("gemini-2"),
                "Tool use with a response mime type: 'application/json' is unsupported",
            )
        }
        _ => Ok(()),
    }
}

fn gemini(request: &Value) -> Verdict {
    let mut open = 0;
    for content in items(&request["contents"]) {
        let role = content["role"].as_str().unwrap_or_default();
        refuse(role != "user" && role != "model", &format!("Please use a valid role: {role}"))?;
        let count = |key: &str| items(&content["parts"]).filter(|part| part[key].is_object()).count();
        let (calls, results) = (count("functionCall"), count("functionResponse"));
        let text = "Please ensure that the number of function response parts is equal to the number of function call \
            parts of the function call turn.";
        refuse(results != open, text)?;
        open = calls;
    }
    refuse(open > 0, "a function call turn comes before a function response turn")?;
    for entry in items(&request["tools"]) {
        let is_empty = items(&entry["functionDeclarations"]).next().is_none();
        refuse(is_empty && entry.get("functionDeclarations").is_some(), "function_declarations: empty")?;
    }
    Ok(())
}

/// Checks combinations that Gemini refuses: functions with hosted tools, and a cache with members that the cache
/// contains.
fn google((_, _, model): Backend, request: &Value) -> Verdict {
    let has = |member: &str| items(&request["tools"]).any(|entry| entry.get(member).is_some());
    let has_hosted = ["googleSearch", "urlContext", "codeExecution", "googleMaps"].into_iter().any(has);
    let is_combined = has_hosted && has("functionDeclarations");
    let is_enabled = request["toolConfig"]["includeServerSideToolInvocations"] == true;
    refuse(is_combined && model.starts_with("gemini-2"), "Tool use with function calling is unsupported")?;
    refuse(is_combined && !is_enabled, "Please enable tool_config.include_server_side_tool_invocations")?;
    let of_cache = ["tools", "toolConfig", "systemInstruction"].iter().any(|key| !request[*key].is_null());
    refuse(of_cache && request["cachedContent"].is_string(), "CachedContent can not be used with tools")
}

/// Checks Bedrock Converse: results directly after their calls, and a list that is not empty.
fn converse(request: &Value) -> Verdict {
    let config = &request["toolConfig"];
    let has_tools = items(&config["tools"]).next().is_some();
    refuse(config.is_object() && !has_tools, "toolConfig.tools: expected at least one tool")?;
    let ids = |message: &Value, key: &str| -> BTreeSet<String> {
        items(&message["content"]).filter_map(|block| block[key]["toolUseId"].as_str().map(str::to_owned)).collect()
    };
    let mut open = BTreeSet::new();
    for message in items(&request["messages"]) {
        let results = ids(message, "toolResult");
        refuse(results != open, "Expected toolResult blocks for the toolUse blocks of the previous turn")?;
        open = ids(message, "toolUse");
    }
    refuse(!open.is_empty(), "Expected toolResult blocks")
}
