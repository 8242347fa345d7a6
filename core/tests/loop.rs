//! Deferred loading as an agent lives it: search offered, called and answered; the tool found, called, gone; history compacted.
//! One conversation per request format, every request rewritten as it would be sent to an API that knows none of this.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire::{
    answer_tool_search, apply_deferred_loading_with_report,
    json::{read, Node},
    Deferred, DeferredOptions, Naming, SearchOptions, ToolIndex,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Anthropic,
    Responses,
    Chat,
}

impl Format {
    /// A tool of the catalogue, in this format.
    fn tool(self, name: &str, description: &str, argument: &str, deferred: bool) -> Value {
        let schema = json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
        let mut tool = match self {
            Format::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
            Format::Responses => json!({"type": "function", "name": name, "description": description, "parameters": schema}),
            Format::Chat => json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}}),
        };
        if deferred {
            tool["defer_loading"] = json!(true);
        }
        tool
    }

    /// The provider's own search, which the backend does not have.
    fn hosted_search(self) -> Value {
        match self {
            Format::Responses => json!({"type": "tool_search"}),
            _ => json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}),
        }
    }

    fn catalogue(self) -> Vec<Value> {
        vec![
            self.hosted_search(),
            self.tool("read_file", "Reads a file", "path", false),
            self.tool("get_weather", "Gives the weather of a city", "city", true),
            self.tool("book_room", "Books a meeting room", "room", true),
            self.tool("send_mail", "Sends a mail", "to", true),
        ]
    }

    fn user(self, text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    /// What the model says when it calls a function, and the call in it.
    fn calls(self, id: &str, name: &str, arguments: &Value) -> (Value, Value) {
        match self {
            Format::Anthropic => {
                let call = json!({"type": "tool_use", "id": id, "name": name, "input": arguments});
                (json!({"role": "assistant", "content": [call]}), call)
            }
            Format::Responses => {
                let call = json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()});
                (call.clone(), call)
            }
            Format::Chat => {
                let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
                (json!({"role": "assistant", "content": null, "tool_calls": [call]}), call)
            }
        }
    }

    /// A result as it stands in the history: Anthropic's stands in a message of the user.
    fn says(self, result: Value) -> Value {
        match self {
            Format::Anthropic => json!({"role": "user", "content": [result]}),
            _ => result,
        }
    }

    /// An ordinary result that says that a tool is gone: the model is to see it.
    fn error(self, id: &str, text: &str) -> Value {
        match self {
            Format::Anthropic => json!({"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text}),
            Format::Responses => json!({"type": "function_call_output", "call_id": id, "output": text}),
            Format::Chat => json!({"role": "tool", "tool_call_id": id, "content": text}),
        }
    }

    fn request(self, history: &[Value], tools: &[Value]) -> Value {
        match self {
            Format::Responses => json!({"model": "m", "input": history, "tools": tools}),
            _ => json!({"model": "m", "messages": history, "tools": tools}),
        }
    }

    fn history(self, request: &Value) -> &Vec<Value> {
        let key = if self == Format::Responses { "input" } else { "messages" };
        request[key].as_array().expect("a history")
    }

    fn names(self, request: &Value) -> Vec<&str> {
        let list = request["tools"].as_array().expect("tools");
        let place = if self == Format::Chat { "/function/name" } else { "/name" };
        list.iter().map(|tool| tool.pointer(place).and_then(Value::as_str).expect("a name")).collect()
    }
}

fn options(value: &Value) -> DeferredOptions {
    DeferredOptions::read(&Node::from_value(value).expect("options are shallow"), Naming::Camel).expect("options are valid")
}

/// What is sent. Whatever the turn, the backend meets no feature of deferred loading in it, and applying twice changes nothing.
fn send(request: &Value, options: &DeferredOptions) -> Deferred<Value> {
    let sent = apply_deferred_loading_with_report(request, options).expect("the request is rewritten");
    let text = sent.request.to_string();
    for word in ["tool_reference", "tool_search_tool", "defer_loading", "\"type\":\"tool_search\""] {
        assert!(!text.contains(word), "no `{word}` in {text}");
    }
    let again = apply_deferred_loading_with_report(&sent.request, options).expect("once more");
    assert_eq!(again.request.to_string(), text, "applying twice changes nothing");
    sent
}

const NOTICE: &str =
    "Tool 'get_weather' is now available.\n\nDescription: Gives the weather of a city\n\nParameters:\n{\"city\":{\"type\":\"string\"}}";

fn live(format: Format) {
    let emulate = options(&json!({"serverToolSearch": "emulate", "format": match format {
        Format::Anthropic => "anthropic",
        Format::Responses => "openai-responses",
        Format::Chat => "openai-chat",
    }}));
    let searching = SearchOptions::default().limit(1);
    let mut tools = format.catalogue();
    let index = ToolIndex::new(&json!(tools)).expect("a catalogue");
    assert_eq!(index.len(), 4, "{format:?}: the hosted search is no tool to be found");

    // The first request: what is deferred is hidden, and an ordinary function stands for the search.
    let mut history = vec![format.user("What is the weather in Oslo?")];
    let first = send(&format.request(&history, &tools), &emulate);
    assert_eq!(format.names(&first.request), ["tool_search", "read_file"], "{format:?}");
    assert_eq!(first.report.hidden, ["get_weather", "book_room", "send_mail"]);
    assert!(!first.report.unreachable, "a model that can search can reach them");

    // The model searches; the agent answers from its catalogue, with an index or without.
    let (said, call) = format.calls("c1", "tool_search", &json!({"query": "weather of a city"}));
    let answer = answer_tool_search(&call, &json!(tools), &searching).expect("an answer").expect("it is a search");
    assert_eq!(index.answer(&call, &searching).expect("an answer"), Some(answer.clone()), "the index answers the same");
    history.extend([said, format.says(answer)]);

    // The next request says what the tool is, and has it.
    let second = send(&format.request(&history, &tools), &emulate);
    assert_eq!(format.names(&second.request), ["tool_search", "read_file", "get_weather"], "{format:?}");
    assert_eq!((second.report.loaded, second.report.warnings.len()), (vec!["get_weather".to_owned()], 0));
    let told = format.history(&second.request).last().expect("the result").clone();
    let text = match format {
        Format::Anthropic => &told["content"][0]["content"][0]["text"],
        Format::Responses => &told["output"][0]["text"],
        Format::Chat => &told["content"][0]["text"],
    };
    assert_eq!(text, NOTICE, "{format:?}: {told}");

    // The model calls the tool: that is not a search, and the result is the tool's own.
    let (said, call) = format.calls("c2", "get_weather", &json!({"city": "Oslo"}));
    assert_eq!(answer_tool_search(&call, &json!(tools), &searching).expect("no search"), None);
    history.extend([said, format.says(format.error("c2", "4 degrees, rain"))]);
    let third = send(&format.request(&history, &tools), &emulate);
    assert_eq!(format.names(&third.request), ["tool_search", "read_file", "get_weather"]);
    assert!(third.request.to_string().contains("4 degrees, rain"));

    // The tool's server goes away: it leaves the catalogue. Its calls stay in the history, and nothing stands in for it.
    tools.retain(|tool| !tool.to_string().contains("get_weather"));
    history.push(format.user("And in Bergen?"));
    let fourth = send(&format.request(&history, &tools), &emulate);
    assert_eq!(format.names(&fourth.request), ["tool_search", "read_file"], "{format:?}: no placeholder");
    assert!(fourth.request.to_string().contains("\"c2\""), "{format:?}: the call stays");
    let warned: Vec<_> = fourth.report.warnings.iter().map(|warning| (warning.code, warning.name.as_deref())).collect();
    assert_eq!(warned, [("unknown_tool_reference", Some("get_weather"))]);

    // The model calls it all the same: the agent answers with an ordinary error, which the model gets to see.
    let (said, _) = format.calls("c3", "get_weather", &json!({"city": "Bergen"}));
    history.extend([said, format.says(format.error("c3", "unknown tool `get_weather`: it is no longer available"))]);
    let fifth = send(&format.request(&history, &tools), &emulate);
    assert!(fifth.request.to_string().contains("it is no longer available"), "{format:?}");
    // It searches again, and what is gone is not found.
    let (_, call) = format.calls("c4", "tool_search", &json!({"query": "weather"}));
    let answer = answer_tool_search(&call, &json!(tools), &searching).expect("an answer").expect("it is a search");
    assert!(answer.to_string().contains("No matching deferred tools found"), "{format:?}: {answer}");
    let (said, call) = format.calls("c5", "tool_search", &json!({"query": "select:send_mail"}));
    let answer = answer_tool_search(&call, &json!(tools), &searching).expect("an answer").expect("it is a search");
    history.extend([said, format.says(answer)]);
    let sixth = send(&format.request(&history, &tools), &emulate);
    assert_eq!(sixth.report.loaded, ["send_mail"], "{format:?}");

    // Compaction takes the references out of the history. The agent kept what was loaded, and passes it on.
    let compacted = [format.user("Summary: it rains in Oslo. The user wants the forecast sent by mail.")];
    let forgetful = send(&format.request(&compacted, &tools), &emulate);
    assert_eq!(format.names(&forgetful.request), ["tool_search", "read_file"], "{format:?}: without it the tool is lost");
    let mut remembering = emulate.clone();
    remembering.loaded_tools = sixth.report.loaded;
    let seventh = send(&format.request(&compacted, &tools), &remembering);
    assert_eq!(format.names(&seventh.request), ["tool_search", "read_file", "send_mail"], "{format:?}");
    assert_eq!((seventh.report.loaded, seventh.report.hidden), (vec!["send_mail".to_owned()], vec!["book_room".to_owned()]));
}

#[test]
fn anthropic() {
    live(Format::Anthropic);
}

#[test]
fn responses() {
    live(Format::Responses);
}

#[test]
fn chat() {
    live(Format::Chat);
}

/// The same through both translations: the agent keeps Anthropic's format, the backend speaks another.
#[test]
fn translated() {
    for target in ["openai-responses", "openai-chat"] {
        let options = options(&json!({"serverToolSearch": "emulate", "target": target}));
        let (tools, format) = (Format::Anthropic.catalogue(), Format::Anthropic);
        let (said, call) = format.calls("c1", "tool_search", &json!({"query": "weather of a city"}));
        let answer = answer_tool_search(&call, &json!(tools), &SearchOptions::default().limit(1)).expect("an answer").expect("a search");
        let history = [format.user("What is the weather in Oslo?"), said, format.says(answer)];
        let sent = apply_deferred_loading_with_report(&format.request(&history, &tools), &options).expect("the request is rewritten");
        assert_eq!(sent.report.loaded, ["get_weather"], "{target}");
        let text = sent.request.to_string();
        assert!(read(&text).is_ok() && !text.contains("tool_reference"), "{target}: {text}");
        let notice = json!(NOTICE).to_string();
        assert!(text.contains(notice.trim_matches('"')), "{target}: {text}");
    }
}
