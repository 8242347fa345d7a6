//! Generates conversations in all six formats, and inserts constructs into them that trigger a rule.

use serde_json::{json, Value};

use super::Numbers;

/// A backend: the format of its requests, its dialect and a model.
pub(crate) type Backend = (&'static str, &'static str, &'static str);

pub(crate) struct Made {
    pub(crate) backend: Backend,
    pub(crate) trigger: &'static str,
    pub(crate) request: Value,
}

const NAMES: [&str; 6] = ["read_file", "list_rooms", "book_room", "send_mail", "get_price", "find_user"];

fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {"type": "string", "description": "What."}}, "required": ["q"]})
}

pub(crate) fn tool(api: &str, name: &str) -> Value {
    match api {
        "anthropic" => json!({"name": name, "description": "Does it.", "input_schema": schema()}),
        "openai-chat" => {
            json!({"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema()}})
        }
        "openai-responses" => {
            json!({"type": "function", "name": name, "description": "Does it.", "parameters": schema(), "strict": false})
        }
        "gemini" => json!({"name": name, "description": "Does it.", "parameters": schema()}),
        "gemini-interactions" => {
            json!({"type": "function", "name": name, "description": "Does it.", "parameters": schema()})
        }
        _ => json!({"toolSpec": {"name": name, "description": "Does it.", "inputSchema": {"json": schema()}}}),
    }
}

/// Returns the messages with the calls and their results. Every call has the arguments `arguments`.
pub(crate) fn calls(api: &str, calls: &[(String, String)], arguments: &Value) -> Vec<Value> {
    let text = arguments.as_str().map_or_else(|| arguments.to_string(), Into::into);
    let each = |make: &dyn Fn(&str, &str) -> Value| calls.iter().map(|(id, name)| make(id, name)).collect::<Vec<_>>();
    match api {
        "anthropic" => vec![
            json!({"role": "assistant", "content": each(&|id, name| json!({"type": "tool_use", "id": id, "name": name, "input": arguments}))}),
            json!({"role": "user", "content": each(&|id, _| json!({"type": "tool_result", "tool_use_id": id, "content": "done"}))}),
        ],
        "openai-chat" => {
            let generated_calls =
                each(&|id, name| json!({"id": id, "type": "function", "function": {"name": name, "arguments": text}}));
            let mut messages = vec![json!({"role": "assistant", "content": null, "tool_calls": generated_calls})];
            messages.extend(each(&|id, _| json!({"role": "tool", "tool_call_id": id, "content": "done"})));
            messages
        }
        "openai-responses" => {
            let mut items =
                each(&|id, name| json!({"type": "function_call", "call_id": id, "name": name, "arguments": text}));
            items.extend(each(&|id, _| json!({"type": "function_call_output", "call_id": id, "output": "done"})));
            items
        }
        "gemini" => vec![
            json!({"role": "model", "parts": each(&|_, name| json!({"functionCall": {"name": name, "args": arguments}}))}),
            json!({"role": "user", "parts": each(&|_, name| json!({"functionResponse": {"name": name, "response": {"output": "done"}}}))}),
        ],
        "gemini-interactions" => {
            let mut steps =
                each(&|id, name| json!({"type": "function_call", "id": id, "name": name, "arguments": arguments}));
            steps.extend(each(
                &|id, name| json!({"type": "function_result", "call_id": id, "name": name, "result": [{"type": "text", "text": "done"}]}),
            ));
            steps
        }
        _ => vec![
            json!({"role": "assistant", "content": each(&|id, name| json!({"toolUse": {"toolUseId": id, "name": name, "input": arguments}}))}),
            json!({"role": "user", "content": each(&|id, _| json!({"toolResult": {"toolUseId": id, "content": [{"text": "done"}]}}))}),
        ],
    }
}

fn message(api: &str, is_user: bool, text: &str) -> Value {
    let role = if is_user { "user" } else { "assistant" };
    match api {
        "gemini" => json!({"role": if is_user { "user" } else { "model" }, "parts": [{"text": text}]}),
        "gemini-interactions" => {
            let kind = if is_user { "user_input" } else { "model_output" };
            json!({"type": kind, "content": [{"type": "text", "text": text}]})
        }
        "bedrock" => json!({"role": role, "content": [{"text": text}]}),
        _ => json!({"role": role, "content": text}),
    }
}

pub(crate) fn history_of(api: &str) -> &'static str {
    match api {
        "gemini" => "contents",
        "openai-responses" | "gemini-interactions" => "input",
        _ => "messages",
    }
}

/// Generates a conversation that every API accepts.
pub(crate) fn conversation((api, _, model): Backend, numbers: &mut Numbers) -> Value {
    let first = numbers.below(NAMES.len());
    let names: Vec<&str> = (0..=numbers.below(4)).map(|at| NAMES[(first + at) % NAMES.len()]).collect();
    let (mut history, mut id) = (Vec::new(), 0);
    for turn in 0..=numbers.below(3) {
        history.push(message(api, true, &format!("Question {turn}")));
        for _ in 0..numbers.below(3) {
            let calls_of_turn: Vec<(String, String)> = (0..=numbers.below(2))
                .map(|_| {
                    id += 1;
                    (format!("call_{id}"), names[numbers.below(names.len())].to_owned())
                })
                .collect();
            history.extend(calls(api, &calls_of_turn, &json!({"q": "x"})));
        }
        history.push(message(api, false, &format!("Answer {turn}")));
    }
    history.push(message(api, true, "And now?"));
    let tools: Vec<Value> = names.iter().map(|name| tool(api, name)).collect();
    let mut request = json!({"model": model});
    match api {
        "anthropic" => request["max_tokens"] = json!(4_000),
        "gemini" | "bedrock" => request = json!({}),
        _ => {}
    }
    request[history_of(api)] = Value::Array(history);
    match api {
        "gemini" => request["tools"] = json!([{ "functionDeclarations": tools }]),
        "bedrock" => request["toolConfig"] = json!({ "tools": tools }),
        _ => request["tools"] = Value::Array(tools),
    }
    request
}

pub(crate) fn list<'v>(api: &str, request: &'v mut Value) -> &'v mut Vec<Value> {
    let list = match api {
        "gemini" => &mut request["tools"][0]["functionDeclarations"],
        "bedrock" => &mut request["toolConfig"]["tools"],
        _ => &mut request["tools"],
    };
    list.as_array_mut().expect("a list")
}

pub(crate) fn choose(api: &str, request: &mut Value, name: Option<&str>) {
    let choice = match (api, name) {
        ("anthropic", None) => json!({"type": "any"}),
        ("anthropic", Some(name)) => json!({"type": "tool", "name": name}),
        ("openai-chat", Some(name)) => json!({"type": "function", "function": {"name": name}}),
        ("openai-responses", Some(name)) => json!({"type": "function", "name": name}),
        ("bedrock", None) => json!({"any": {}}),
        ("bedrock", Some(name)) => json!({"tool": {"name": name}}),
        _ => json!("required"),
    };
    match api {
        "bedrock" => request["toolConfig"]["toolChoice"] = choice,
        _ => request["tool_choice"] = choice,
    }
}

fn first_name(api: &str, request: &mut Value) -> String {
    let tool = list(api, request)[0].clone();
    let holder = [&tool["function"], &tool["toolSpec"], &tool].into_iter().find(|holder| holder["name"].is_string());
    holder.and_then(|holder| holder["name"].as_str()).expect("a name").to_owned()
}

fn add_calls(api: &str, request: &mut Value, names: &[&str], arguments: &Value) -> usize {
    let history = request[history_of(api)].as_array_mut().expect("a history");
    let at = history.len() - 1;
    let made: Vec<(String, String)> =
        names.iter().enumerate().map(|(number, name)| (format!("more_{at}_{number}"), (*name).to_owned())).collect();
    let mut added = calls(api, &made, arguments);
    if history[at - 1]["role"] != "user" {
        added.insert(0, message(api, true, "One more."));
    }
    added.push(message(api, false, "Done."));
    let end = at + added.len();
    history.splice(at..at, added);
    end
}

type Put = fn(&str, &mut Value, &mut Numbers);

/// Triggers of rules: the backends with the rule, and the function that inserts the trigger into a request.
pub(crate) const TRIGGERS: &[(&str, &[Backend], Put)] = &[
    (
        "none",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-chat", "mistral", "mistral-large"),
            ("openai-chat", "groq", "llama-3.3-70b-versatile"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-chat", "vllm", "qwen3-8b"),
            ("openai-responses", "openai-responses", "gpt-5"),
            ("openai-responses", "xai", "grok-4.3"),
            ("gemini", "gemini", "gemini-2.5-flash"),
            ("gemini-interactions", "gemini-interactions", "gemini-2.5-flash"),
            ("bedrock", "bedrock-anthropic", "anthropic.claude-sonnet-4-6"),
            ("bedrock", "bedrock", "amazon.nova-pro-v1:0"),
        ],
        |_, _, _| {},
    ),
    (
        "always thinks",
        &[
            ("anthropic", "anthropic", "claude-fable-5-1"),
            ("bedrock", "bedrock-anthropic", "anthropic.claude-fable-5-1"),
            ("openai-chat", "deepseek", "deepseek-reasoner"),
            ("openai-chat", "moonshot", "kimi-k2-thinking"),
            ("openai-chat", "deepseek", "deepseek-v4-flash"),
            ("openai-chat", "moonshot", "kimi-k2.6"),
        ],
        force,
    ),
    (
        "thinks on request",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("bedrock", "bedrock-anthropic", "anthropic.claude-sonnet-4-6"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-chat", "moonshot", "kimi-latest"),
        ],
        |api, request, numbers| {
            let thinking = json!({"type": "enabled", "budget_tokens": 1_024});
            match api {
                "bedrock" => request["additionalModelRequestFields"] = json!({ "thinking": thinking }),
                _ => request["thinking"] = thinking,
            }
            force(api, request, numbers);
        },
    ),
    ("Kimi K3 accepts no named choice", &[("openai-chat", "moonshot", "kimi-k3")], |api, request, _| {
        request["thinking"] = json!({"type": "enabled"});
        let name = first_name(api, request);
        choose(api, request, Some(&name));
    }),
    ("thinks if enabled", &[("openai-chat", "portable", "qwen3-max")], |api, request, numbers| {
        request["enable_thinking"] = json!(true);
        force(api, request, numbers);
    }),
    (
        "choice without tools",
        &[
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-responses", "openai-responses", "gpt-5"),
            ("openai-chat", "xai", "grok-4.3"),
            ("openai-chat", "vllm", "qwen3-8b"),
        ],
        |_, request, numbers| {
            request.as_object_mut().expect("a request").remove("tools");
            request["tool_choice"] = json!(["auto", "auto", "required"][numbers.below(3)]);
        },
    ),
    (
        "parallel calls without tools",
        &[("openai-chat", "openai-chat", "gpt-5"), ("openai-responses", "openai-responses", "gpt-5")],
        |_, request, _| {
            request.as_object_mut().expect("a request").remove("tools");
            request["parallel_tool_calls"] = json!(false);
        },
    ),
    (
        "choice of an absent tool",
        &[
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-responses", "openai-responses", "gpt-5"),
            ("openai-chat", "xai", "grok-4.3"),
        ],
        |api, request, _| choose(api, request, Some("gone_tool")),
    ),
    (
        "choice that the model does not accept",
        &[("openai-chat", "cerebras", "gpt-oss-120b"), ("openai-chat", "cohere", "c4ai-aya-expanse-32b")],
        |api, request, _| choose(api, request, None),
    ),
    (
        "model without tools",
        &[
            ("openai-responses", "openai-responses", "o3-deep-research"),
            ("openai-chat", "groq", "llama-guard-4-12b"),
            ("openai-chat", "cohere", "command-light"),
            ("openai-chat", "ollama", "gemma3:1b"),
            ("gemini-interactions", "gemini-interactions", "gemini-2.0-flash-preview-image-generation"),
            ("gemini", "gemini", "gemini-2.0-flash-preview-image-generation"),
        ],
        |_, _, _| {},
    ),
    ("function without parameters", &[("openai-chat", "openai-chat", "minimax-m2.5")], |api, request, _| {
        list(api, request).push(json!({"type": "function", "function": {"name": "now"}}))
    }),
    (
        "hosted tool",
        &[
            ("openai-responses", "deepseek", "deepseek-chat"),
            ("openai-responses", "xai", "grok-4.3"),
            ("openai-responses", "vllm", "gpt-oss-120b"),
            ("openai-responses", "llama-cpp", "qwen3"),
            ("openai-responses", "ollama", "qwen3"),
            ("openai-chat", "mistral", "mistral-large"),
            ("openai-chat", "groq", "llama-3.3-70b-versatile"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-chat", "xai", "grok-4.3"),
            ("openai-chat", "llama-cpp", "qwen3"),
        ],
        |api, request, _| list(api, request).push(json!({"type": "image_generation"})),
    ),
    (
        "custom tool",
        &[
            ("openai-responses", "deepseek", "deepseek-chat"),
            ("openai-responses", "xai", "grok-4.3"),
            ("openai-responses", "llama-cpp", "qwen3"),
        ],
        |api, request, _| list(api, request).push(json!({"type": "custom", "name": "apply_patch", "description": "d"})),
    ),
    (
        "namespace",
        &[
            ("openai-responses", "xai", "grok-4.3"),
            ("openai-responses", "vllm", "gpt-oss-120b"),
            ("openai-responses", "llama-cpp", "qwen3"),
        ],
        |api, request, numbers| {
            let tools = if numbers.below(4) == 0 { json!([]) } else { json!([tool(api, "inner")]) };
            list(api, request).push(json!({"type": "namespace", "name": "crm", "description": "d", "tools": tools}));
        },
    ),
    ("arguments that are not an object", EVERY_FORMAT, |api, request, numbers| {
        let name = first_name(api, request);
        let wrong = [json!("{\"q\": \"x\""), json!("nothing"), json!("[1]"), json!("{'q': 1}")];
        add_calls(api, request, &[&name], &wrong[numbers.below(wrong.len())]);
    }),
    ("name that the API does not accept", EVERY_FORMAT, |api, request, numbers| {
        let wrong = [["old tool", "done"], ["", "x y"], ["read/file", "read file"]];
        add_calls(api, request, &wrong[numbers.below(wrong.len())], &json!({"q": "x"}));
    }),
    ("listed name that the API does not accept", EVERY_FORMAT, |api, request, _| {
        list(api, request).extend([tool(api, "read/file"), tool(api, "read file")]);
        add_calls(api, request, &["read file", "read/file"], &json!({"q": "x"}));
    }),
    ("two tools with the same name", EVERY_FORMAT, |api, request, _| {
        let name = first_name(api, request);
        list(api, request).push(tool(api, &name));
    }),
    ("a call with a caller", &[("anthropic", "anthropic", "claude-sonnet-4-20250514")], |api, request, _| {
        let name = first_name(api, request);
        add_calls(api, request, &[&name], &json!({"q": "x"}));
        for message in request["messages"].as_array_mut().expect("messages") {
            for block in message["content"].as_array_mut().into_iter().flatten() {
                if block["type"] == "tool_use" {
                    block["caller"] = json!({"type": "direct"});
                }
            }
        }
    }),
    (
        "too many tools",
        &[
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-chat", "groq", "llama-3.3-70b-versatile"),
            ("gemini", "gemini", "gemini-2.5-flash"),
        ],
        |api, request, _| list(api, request).extend((0..512).map(|at| tool(api, &format!("tool_{at}")))),
    ),
    (
        "broken pair",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-responses", "openai-responses", "gpt-5"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-chat", "mistral", "mistral-large"),
            ("openai-chat", "moonshot", "kimi-k2.6"),
            ("gemini", "gemini", "gemini-2.5-flash"),
            ("bedrock", "bedrock-anthropic", "anthropic.claude-sonnet-4-6"),
            ("bedrock", "bedrock", "amazon.nova-pro-v1:0"),
        ],
        |api, request, numbers| {
            let name = first_name(api, request);
            let end = add_calls(api, request, &[&name], &json!({"q": "x"}));
            let history = request[history_of(api)].as_array_mut().expect("a history");
            // Removes the result or the call directly before the model's last text.
            history.remove(end - 2 - usize::from(numbers.below(2) == 0));
        },
    ),
    (
        "deferred tools",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-responses", "openai-responses", "gpt-5"),
            ("gemini-interactions", "gemini-interactions", "gemini-2.5-flash"),
        ],
        |api, request, numbers| {
            let list = list(api, request);
            let first = numbers.below(list.len());
            for tool in &mut list[first..] {
                tool["defer_loading"] = json!(true);
                if api == "anthropic" {
                    tool["cache_control"] = json!({"type": "ephemeral"});
                }
            }
        },
    ),
    (
        "member",
        &[
            ("openai-chat", "mistral", "mistral-large"),
            ("openai-chat", "openai-chat", "gpt-5-mini"),
            ("openai-chat", "openai-chat", "o4-mini"),
            ("openai-chat", "openai-chat", "gpt-4.1"),
            ("openai-chat", "xai", "grok-4"),
            ("openai-chat", "xai", "grok-4-fast-reasoning"),
            ("openai-chat", "groq", "llama-3.3-70b-versatile"),
            ("openai-chat", "groq", "gpt-oss-20b"),
            ("openai-chat", "cerebras", "qwen-3-32b"),
            ("openai-chat", "gemini", "gemini-2.5-flash"),
        ],
        |_, request, numbers| {
            let members = [
                ("max_completion_tokens", json!(100)),
                ("max_tokens", json!(100)),
                ("store", json!(false)),
                ("thinking", json!({"type": "disabled"})),
                ("parallel_tool_calls", json!(false)),
                ("metadata", json!({"a": "b"})),
                ("verbosity", json!("low")),
                ("reasoning_effort", json!("low")),
                ("prompt_cache_key", json!("k")),
                ("reasoning", json!({"effort": "low"})),
                ("enable_thinking", json!(true)),
            ];
            for _ in 0..3 {
                let (name, value) = members[numbers.below(members.len())].clone();
                request[name] = value;
            }
        },
    ),
    (
        "JSON mode",
        &[
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-chat", "groq", "llama-3.3-70b-versatile"),
            ("openai-responses", "openai-responses", "gpt-5"),
        ],
        |api, request, _| match api {
            "openai-responses" => request["text"] = json!({"format": {"type": "json_object"}}),
            _ => request["response_format"] = json!({"type": "json_object"}),
        },
    ),
    (
        "a list as the answer",
        &[
            ("openai-chat", "openai-chat", "gpt-5"),
            ("openai-chat", "deepseek", "deepseek-chat"),
            ("openai-responses", "openai-responses", "gpt-5"),
        ],
        |api, request, _| {
            let schema = json!({"type": "array", "items": {"type": "string"}});
            match api {
                "openai-responses" => {
                    request["text"] = json!({"format": {"type": "json_schema", "name": "list", "schema": schema}});
                }
                _ => {
                    let format = json!({"name": "list", "schema": schema});
                    request["response_format"] = json!({"type": "json_schema", "json_schema": format});
                }
            }
        },
    ),
    (
        "an object as the answer",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("anthropic", "anthropic", "claude-3-7-sonnet"),
            ("openai-chat", "cohere", "command-a"),
        ],
        |api, request, _| {
            let schema = schema();
            match api {
                "anthropic" => {
                    request["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
                }
                _ => request["response_format"] = json!({"type": "json_object", "json_schema": schema}),
            }
        },
    ),
    (
        "the name of a format",
        &[("openai-chat", "openai-chat", "gpt-5"), ("openai-responses", "openai-responses", "gpt-5")],
        |api, request, numbers| {
            let mut format = json!({"name": "a list!", "schema": schema()});
            match numbers.below(3) {
                0 => drop(format.as_object_mut().and_then(|format| format.remove("name"))),
                1 => format["name"] = json!("x".repeat(65)),
                _ => {}
            }
            if api == "openai-responses" {
                format["type"] = json!("json_schema");
                request["text"] = json!({"format": format});
            } else {
                request["response_format"] = json!({"type": "json_schema", "json_schema": format});
            }
        },
    ),
    ("prefill", &[("anthropic", "anthropic", "claude-sonnet-4-5")], |api, request, _| {
        request["output_config"] = json!({"format": {"type": "json_schema", "schema": schema()}});
        let last = message(api, false, "{");
        request[history_of(api)].as_array_mut().expect("a history").push(last);
    }),
    (
        "prefill of new models",
        &[
            ("anthropic", "anthropic", "claude-sonnet-4-6"),
            ("bedrock", "bedrock-anthropic", "anthropic.claude-sonnet-4-6"),
        ],
        |api, request, _| {
            let last = message(api, false, "{");
            request[history_of(api)].as_array_mut().expect("a history").push(last);
        },
    ),
    (
        "JSON of Gemini",
        &[("gemini", "gemini", "gemini-2.5-flash"), ("gemini", "gemini", "gemini-3-pro")],
        |_, request, _| {
            request["generationConfig"] = json!({"responseMimeType": "application/json"});
            request["tools"].as_array_mut().expect("a list").push(json!({"googleMaps": {}}));
        },
    ),
    (
        "search of Gemini",
        &[("gemini", "gemini", "gemini-2.5-flash"), ("gemini", "gemini", "gemini-3-pro")],
        |_, request, numbers| {
            let member = ["googleSearch", "urlContext", "codeExecution"][numbers.below(3)];
            request["tools"].as_array_mut().expect("a list").push(json!({member: {}}));
            match numbers.below(4) {
                0 | 1 => {
                    request["generationConfig"] = json!({
                        "responseMimeType": "application/json",
                        "responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
                    });
                }
                2 => request["toolConfig"] = json!({"includeServerSideToolInvocations": true}),
                _ => {}
            }
        },
    ),
    ("cache of Gemini", &[("gemini", "gemini", "gemini-2.5-flash")], |_, request, _| {
        request["cachedContent"] = json!("cachedContents/1");
    }),
    ("updates", &[("openai-responses", "openai-responses", "gpt-5")], |api, request, _| {
        let update = json!({"type": "configuration_update", "text": {"format": {"type": "text"}}});
        let history = request[history_of(api)].as_array_mut().expect("a history");
        history.extend([update.clone(), update, message(api, true, "And now?")]);
    }),
];

/// A backend for each format with rules for names and arguments.
pub(crate) const EVERY_FORMAT: &[Backend] = &[
    ("anthropic", "anthropic", "claude-sonnet-4-6"),
    ("openai-chat", "openai-chat", "gpt-5"),
    ("openai-responses", "openai-responses", "gpt-5"),
    ("gemini", "gemini", "gemini-2.5-flash"),
    ("gemini-interactions", "gemini-interactions", "gemini-2.5-flash"),
    ("bedrock", "bedrock-anthropic", "anthropic.claude-sonnet-4-6"),
];

fn force(api: &str, request: &mut Value, numbers: &mut Numbers) {
    let name = first_name(api, request);
    choose(api, request, (numbers.below(2) == 0).then_some(name.as_str()));
}

/// Returns the conversation with a number. Successive numbers use successive pairs of a trigger and a backend.
pub(crate) fn made(number: usize, numbers: &mut Numbers) -> Made {
    let all: Vec<(&'static str, Backend, Put)> = TRIGGERS
        .iter()
        .flat_map(|(name, backends, put)| backends.iter().map(move |backend| (*name, *backend, *put)))
        .collect();
    let only = |name: &str| all.iter().filter(|one| one.0 == name).copied().collect::<Vec<_>>();
    let (trigger, backend, put) = match number % 6 {
        0 => only("none")[number / 6 % only("none").len()],
        1 => only("member")[number / 6 % only("member").len()],
        at => all[(number / 6 * 4 + at - 2) % all.len()],
    };
    let mut request = conversation(backend, numbers);
    put(backend.0, &mut request, numbers);
    // Some conversations have a second trigger for the same backend.
    let second: Vec<Put> =
        all.iter().filter(|(name, other, _)| *other == backend && *name != trigger).map(|(_, _, put)| *put).collect();
    let has_tools = request.get("tools").is_some() && !["none", "too many tools"].contains(&trigger);
    if has_tools && !second.is_empty() && numbers.below(3) == 0 {
        second[numbers.below(second.len())](backend.0, &mut request, numbers);
    }
    Made { backend, trigger, request }
}
