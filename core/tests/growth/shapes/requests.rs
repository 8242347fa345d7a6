//! Tool lists, requests and streamed replies that grow.

use std::fmt::Write as _;

use serde_json::{json, Value};

use super::Table;

pub(crate) const LISTS: Table<fn(usize) -> Value> = &[
    ("tools", |count| (0..count).map(|at| tool(&format!("tool_{at}"), at)).collect()),
    ("the same tool", |count| (0..count).map(|_| tool("tool", 0)).collect()),
    ("names that collide", |count| (0..count).map(|at| tool(&format!("a.{}{at}", "x".repeat(70)), at)).collect()),
    ("odd names", |count| (0..count).map(|at| tool(&format!("ä/{at} b"), at)).collect()),
    ("functions", |count| {
        (0..count)
            .map(|at| json!({"type": "function", "function": {"name": format!("f{at}"), "parameters": schema(at)}}))
            .collect()
    }),
    ("declarations", |count| {
        let all: Vec<Value> =
            (0..count).map(|at| json!({"name": format!("f{at}"), "parameters": schema(at)})).collect();
        json!([{"functionDeclarations": all}])
    }),
    ("namespaces", |count| {
        (0..count)
            .map(|at| {
                json!({"type": "namespace", "name": format!("n{at}"), "description": "N",
                "tools": [{"type": "function", "name": "read", "parameters": schema(at)}]})
            })
            .collect()
    }),
    ("examples", |count| {
        let examples: Vec<Value> = (0..count).map(|at| json!({format!("p {at}"): "x"})).collect();
        let properties: serde_json::Map<String, Value> =
            (0..count).map(|at| (format!("p {at}"), json!({"type": "string"}))).collect();
        json!([{"name": "f", "input_schema": {"type": "object", "properties": properties}, "input_examples": examples}])
    }),
    ("servers with equal tools", |count| {
        (0..count).map(|at| json!({"server": format!("s{at}"), "tools": [tool("read", at)]})).collect()
    }),
    ("servers whose tools get digests", |count| {
        let tools = |_| (0..count).map(|at| tool(&format!("read__{at}"), at)).collect::<Vec<Value>>();
        (0..2).map(|at| json!({"server": format!("s{at}"), "tools": tools(at)})).collect()
    }),
    ("no tools", |count| (0..count).map(|at| json!({"unknown": at})).collect()),
];

pub(crate) const REQUESTS: Table<fn(usize) -> Value> = &[
    ("Anthropic: deferred tools", |count| {
        let tools: Vec<Value> = (0..count).map(deferred_tool).collect();
        let loaded: Vec<Value> =
            (0..count).map(|at| json!({"type": "tool_reference", "tool_name": format!("tool_{at}")})).collect();
        json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": loaded}]}]})
    }),
    ("Chat Completions: calls of an illegal name", |count| {
        let call = json!({"role": "assistant", "tool_calls": [{"type": "function",
            "function": {"name": ".", "arguments": "{}"}}]});
        json!({"model": "m", "messages": vec![call; count], "tools": [tool("tool_0", 0)]})
    }),
    ("Responses: updates of the format", |count| {
        let update = |at: usize| json!({"type": "configuration_update", "text": {"format": {"type": "json_schema", "name": "n", "schema": schema(at)}}});
        let turn = |at: usize| [update(at), json!({"role": "user", "content": "go"})];
        json!({"model": "m", "input": (0..count).flat_map(turn).collect::<Vec<Value>>()})
    }),
    ("Anthropic: one reference a message", |count| {
        let tools: Vec<Value> = (0..count).map(deferred_tool).collect();
        let turn = |at: usize| {
            let id = format!("t{at}");
            [
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "find", "input": {}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id,
                    "content": [{"type": "tool_reference", "tool_name": format!("tool_{at}")}]}]}),
            ]
        };
        let mut messages = vec![json!({"role": "user", "content": "go"})];
        messages.extend((0..count).flat_map(turn));
        json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages})
    }),
    ("Anthropic: the same tool again", |count| {
        let turn = |at: usize| {
            let id = format!("t{at}");
            [
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "tool_0", "input": {"path": "x"}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id,
                    "content": [{"type": "tool_reference", "tool_name": "tool_0"}, {"type": "text", "text": "found"}]}]}),
            ]
        };
        let mut messages = vec![json!({"role": "user", "content": "go"})];
        messages.extend((0..count).flat_map(turn));
        json!({"model": "m", "max_tokens": 9, "tools": [deferred_tool(0)], "messages": messages})
    }),
    ("Anthropic: hosted search", |count| {
        let mut tools: Vec<Value> = (0..count).map(deferred_tool).collect();
        tools.push(json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}));
        let turn = |at: usize| {
            let id = format!("srvtoolu_{at}");
            json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": id, "name": "tool_search_tool_regex", "input": {"query": "x"}},
                {"type": "tool_search_tool_result", "tool_use_id": id, "content": {"type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "tool_name": format!("tool_{at}")}]}}]})
        };
        let messages: Vec<Value> =
            (0..count).flat_map(|at| [json!({"role": "user", "content": "go"}), turn(at)]).collect();
        json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages})
    }),
    ("Chat: calls", |count| {
        let tools: Vec<Value> = (0..count.min(100))
            .map(|at| json!({"type": "function", "function": {"name": format!("tool.{at}"), "parameters": schema(at)}}))
            .collect();
        let turn = |at: usize| {
            let id = format!("c{at}");
            [
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                    "function": {"name": format!("tool.{}", at % 100), "arguments": "{\"path\":\"x\"}"}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": "done"}),
            ]
        };
        let mut messages = vec![json!({"role": "user", "content": "go"})];
        messages.extend((0..count).flat_map(turn));
        json!({"model": "m", "tools": tools, "messages": messages})
    }),
    ("Responses: searches", |count| {
        let item = |at: usize| {
            [
                json!({"type": "tool_search_call", "call_id": format!("s{at}"), "execution": "client", "arguments": {"query": "x"}}),
                json!({"type": "tool_search_output", "call_id": format!("s{at}"), "execution": "client",
                    "tools": [{"type": "function", "name": format!("tool_{at}"), "defer_loading": true, "parameters": schema(at)}]}),
            ]
        };
        let mut input = vec![json!({"role": "user", "content": "go"})];
        input.extend((0..count).flat_map(item));
        json!({"model": "m", "tools": [{"type": "tool_search", "execution": "client"}], "input": input})
    }),
    ("Interactions: searches", |count| {
        let step = |at: usize| {
            [
                json!({"type": "function_call", "id": format!("s{at}"), "name": "find_tools", "arguments": {"query": "x"}}),
                json!({"type": "function_result", "call_id": format!("s{at}"), "name": "find_tools",
                    "result": [{"type": "function", "name": format!("tool_{at}"), "parameters": schema(at)}]}),
            ]
        };
        let mut input = vec![json!({"type": "user_input", "content": [{"type": "text", "text": "go"}]})];
        input.extend((0..count).flat_map(step));
        json!({"model": "m", "tools": [{"type": "tool_search", "execution": "client", "name": "find_tools"}], "input": input})
    }),
    ("Interactions: hosted searches with one id", |count| {
        let step = |at: usize| {
            let name = format!("tool_{at}");
            [
                json!({"type": "tool_search_call", "id": "s", "arguments": {"function_names": [name]}}),
                json!({"type": "tool_search_result", "call_id": "s",
                    "result": [{"type": "function", "name": name, "parameters": schema(at)}]}),
            ]
        };
        let mut tools: Vec<Value> = (0..count)
            .map(|at| json!({"type": "function", "name": format!("tool_{at}"), "parameters": schema(at), "defer_loading": true}))
            .collect();
        tools.push(json!({"type": "tool_search"}));
        let mut input = vec![json!({"type": "user_input", "content": [{"type": "text", "text": "go"}]})];
        input.extend((0..count).flat_map(step));
        json!({"model": "m", "tools": tools, "input": input})
    }),
    ("Responses: calls", |count| {
        let tools: Vec<Value> = (0..count)
            .map(|at| json!({"type": "function", "name": format!("tool_{at}"), "parameters": schema(at), "defer_loading": true}))
            .collect();
        let item = |at: usize| {
            [
                json!({"type": "function_call", "call_id": format!("c{at}"), "name": format!("tool_{at}"), "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": format!("c{at}"), "output": "done"}),
            ]
        };
        let mut input = vec![json!({"role": "user", "content": "go"})];
        input.extend((0..count).flat_map(item));
        json!({"model": "m", "tools": tools, "input": input})
    }),
    ("Responses: a call whose digest name and its numbered variants are taken", |count| {
        let own = "a__b_z5wglkssgghjo";
        let mut tools: Vec<Value> = [String::from("a__b"), String::from(own)]
            .into_iter()
            .chain((2..count).map(|at| format!("{own}_{at}")))
            .map(|name| json!({"type": "function", "name": name, "parameters": {"type": "object"}}))
            .collect();
        tools.push(json!({"type": "namespace", "name": "n", "description": "N",
            "tools": [{"type": "function", "name": "t", "parameters": {"type": "object"}}]}));
        let item = |at: usize| {
            [
                json!({"type": "function_call", "call_id": format!("c{at}"), "namespace": "a", "name": "b", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": format!("c{at}"), "output": "done"}),
            ]
        };
        let mut input = vec![json!({"role": "user", "content": "go"})];
        input.extend((0..count).flat_map(item));
        json!({"model": "m", "tools": tools, "input": input})
    }),
    ("Anthropic: a server's call whose digest name and its numbered variants are taken", |count| {
        taken_digests(count, "gone__t_umwrhqsvvi7af", &json!({"name": "t", "server": "gone"}))
    }),
    ("Anthropic: an illegal name whose digest name and its numbered variants are taken", |count| {
        taken_digests(count, "read_file_5f426pb3smc66", &json!({"name": "read/file"}))
    }),
    ("Gemini: calls", |count| {
        let all: Vec<Value> =
            (0..count.min(100)).map(|at| json!({"name": format!("f.{at}"), "parameters": schema(at)})).collect();
        let turn = |at: usize| {
            [
                json!({"role": "model", "parts": [{"functionCall": {"name": format!("f.{}", at % 100), "args": {}}}]}),
                json!({"role": "user", "parts": [{"functionResponse": {"name": format!("f.{}", at % 100), "response": {}}}]}),
            ]
        };
        json!({"contents": (0..count).flat_map(turn).collect::<Vec<_>>(), "tools": [{"functionDeclarations": all}]})
    }),
    ("Gemini: calls that are answered late", |count| {
        let calls = (0..count).map(|at| json!({"functionCall": {"name": "f", "id": format!("c{at}"), "args": {}}}));
        let result = |at: usize| {
            let result = json!({"functionResponse": {"name": "f", "id": format!("c{at}"), "response": {}}});
            json!({"role": "user", "parts": [result]})
        };
        let mut contents = vec![json!({"role": "model", "parts": calls.collect::<Vec<_>>()})];
        contents.extend((0..count).rev().map(result));
        json!({"contents": contents, "tools": [{"functionDeclarations": [{"name": "f"}]}]})
    }),
    ("Converse: calls without results", |count| {
        let call = |at: usize| {
            let call = json!({"toolUse": {"toolUseId": format!("c{at}"), "name": "f", "input": {}}});
            json!({"role": "assistant", "content": [call]})
        };
        let spec = json!({"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}});
        json!({"messages": (0..count).map(call).collect::<Vec<_>>(), "toolConfig": {"tools": [spec]}})
    }),
    ("Responses: allowed namespaces", |count| {
        let space = |at: usize| {
            let tool = json!({"type": "function", "name": "read", "parameters": schema(at)});
            json!({"type": "namespace", "name": format!("n{at}"), "tools": [tool]})
        };
        let allowed: Vec<Value> =
            (0..count).map(|at| json!({"type": "namespace", "name": format!("n{}", at / 2)})).collect();
        json!({"model": "m", "input": "hi", "tools": (0..count).map(space).collect::<Vec<_>>(),
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": allowed}})
    }),
];

/// Requests whose history adds tools, in many short messages. The names of the tools are illegal, so each has a change.
pub(crate) const ADDITIONS: Table<fn(usize) -> Value> = &[
    ("Kimi: messages", |count| {
        let message = |at: usize| json!({"role": "system", "tools": [{"type": "function", "function": {"name": format!("t.{at}"), "parameters": {}}}]});
        json!({"model": "kimi-k2", "messages": (0..count).map(message).collect::<Vec<_>>()})
    }),
    ("Kimi: messages without a tool that can be sent", |count| {
        let message = json!({"role": "system", "tools": [{"type": "function", "function": {"parameters": {}}}]});
        json!({"model": "kimi-k2", "messages": vec![message; count]})
    }),
    ("Responses: items with namespaces", |count| {
        let item = |at: usize| {
            let tools = json!([{"type": "custom", "name": format!("t.{at}")}]);
            json!({"type": "additional_tools", "role": "developer",
                "tools": [{"type": "namespace", "name": format!("n{at}"), "description": "N", "tools": tools}]})
        };
        json!({"model": "m", "input": (0..count).map(item).collect::<Vec<_>>()})
    }),
    ("Anthropic: messages", |count| {
        let turn = |at: usize| {
            let tool = json!({"name": format!("t.{at}"), "input_schema": {"type": "object"}});
            let block = json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}});
            [json!({"role": "user", "content": "go"}), json!({"role": "system", "content": [block]})]
        };
        json!({"model": "m", "max_tokens": 9, "messages": (0..count).flat_map(turn).collect::<Vec<_>>()})
    }),
    ("Interactions: searches", |count| {
        let step = |at: usize| {
            [
                json!({"type": "function_call", "id": format!("s{at}"), "name": "f", "arguments": {}}),
                json!({"type": "function_result", "call_id": format!("s{at}"), "name": "f",
                    "result": [{"type": "function", "name": format!("t/{at}")}]}),
            ]
        };
        json!({"model": "m", "tools": [{"type": "tool_search", "execution": "client", "name": "f"}],
            "input": (0..count).flat_map(step).collect::<Vec<_>>()})
    }),
];

/// Generates a request in which a server publishes tools named `own`, `own_2`, `own_3` and so on. `own` is a name with
/// a digest. The history calls a tool whose flat name would be `own`.
fn taken_digests(count: usize, own: &str, called: &Value) -> Value {
    let names = [String::from(own)].into_iter().chain((2..count).map(|at| format!("{own}_{at}")));
    let tools: Vec<Value> = names.map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect();
    let turn = |at: usize| {
        let mut call = json!({"type": "tool_use", "id": format!("t{at}"), "input": {}});
        if let (Some(call), Some(called)) = (call.as_object_mut(), called.as_object()) {
            call.extend(called.clone());
        }
        let result = json!({"type": "tool_result", "tool_use_id": format!("t{at}"), "content": "done"});
        [json!({"role": "assistant", "content": [call]}), json!({"role": "user", "content": [result]})]
    };
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    messages.extend((0..count).flat_map(turn));
    json!({"model": "m", "max_tokens": 9, "tools": [{"server": "s", "tools": tools}], "messages": messages})
}

pub(crate) const REPLIES: Table<fn(usize) -> Value> = &[
    ("Anthropic: calls", |count| {
        let call = |at: usize| json!({"type": "tool_use", "id": format!("t{at}"), "name": "show", "input": {"dollar_ref_": at}});
        json!({"type": "message", "stop_reason": "tool_use", "content": (0..count).map(call).collect::<Vec<Value>>()})
    }),
    ("Chat Completions: calls", |count| {
        let call = |at: usize| {
            json!({"id": format!("t{at}"), "type": "function",
                "function": {"name": "show", "arguments": "{\"dollar_ref_\":1}"}})
        };
        let message = json!({"role": "assistant", "tool_calls": (0..count).map(call).collect::<Vec<Value>>()});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    }),
    ("Chat Completions: structured output", |count| {
        let content = json!({"response": (0..count).collect::<Vec<usize>>()}).to_string();
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]})
    }),
];

pub(crate) const STREAMS: Table<fn(usize) -> String> = &[
    ("words", |count| {
        events(count, |at| json!({"choices": [{"index": 0, "delta": {"content": format!("word {at}")}}]}))
    }),
    ("calls in turn", |count| {
        events(count, |at| {
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": at, "id": format!("c{at}"),
                "function": {"name": "a_b", "arguments": "{\"dollar_ref_\":1}"}}]}}]})
        })
    }),
    ("one call in pieces", |count| {
        let mut text = events(1, |_| {
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c",
            "function": {"name": "show", "arguments": "{\"x\":\""}}]}}]})
        });
        text += &events(
            count,
            |_| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "abc "}}]}}]}),
        );
        text += &events(
            1,
            |_| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "\"}"}}]}, "finish_reason": "tool_calls"}]}),
        );
        text
    }),
    ("Anthropic blocks", |count| {
        let mut text = String::new();
        for at in 0..count {
            text += &events(
                1,
                |_| json!({"type": "content_block_start", "index": at, "content_block": {"type": "tool_use", "id": format!("t{at}"), "name": "show", "input": {}}}),
            );
            text += &events(
                1,
                |_| json!({"type": "content_block_delta", "index": at, "delta": {"type": "input_json_delta", "partial_json": "{\"dollar_ref_\":1}"}}),
            );
            text += &events(1, |_| json!({"type": "content_block_stop", "index": at}));
        }
        text
    }),
    ("Responses items", |count| {
        let mut text = String::new();
        for at in 0..count {
            let item = json!({"type": "function_call", "id": format!("i{at}"), "call_id": format!("c{at}"), "name": "show", "arguments": ""});
            text += &events(1, |_| json!({"type": "response.output_item.added", "output_index": at, "item": item}));
            text += &events(
                1,
                |_| json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": format!("i{at}"), "delta": "{\"dollar_ref_\":1}"}),
            );
            text += &events(
                1,
                |_| json!({"type": "response.function_call_arguments.done", "output_index": at, "item_id": format!("i{at}"), "arguments": "{\"dollar_ref_\":1}"}),
            );
        }
        text
    }),
    ("texts of one event", |count| {
        let choice = |at: usize| json!({"index": at, "delta": {"content": "{"}});
        let choices: Vec<Value> = (0..count).map(choice).collect();
        events(1, |_| json!({"model": "m".repeat(count * 100), "choices": choices}))
    }),
    ("parts of one event", |count| {
        let parts = vec![json!({"text": "{"}); count];
        let candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
        events(1, |_| json!({"modelVersion": "m".repeat(count * 100), "candidates": [candidate]}))
    }),
    ("one event", |count| events(1, |_| json!({"x": "x".repeat(count * 10)}))),
];

fn events(count: usize, event: impl Fn(usize) -> Value) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        // Writing into a String cannot fail.
        let _ = write!(text, "data: {}\n\n", event(at));
        text
    })
}

fn schema(at: usize) -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string", "maxLength": at}}, "required": ["path"]})
}

fn tool(name: &str, at: usize) -> Value {
    json!({"name": name, "description": "Reads a file.", "input_schema": schema(at)})
}

fn deferred_tool(at: usize) -> Value {
    json!({"name": format!("tool_{at}"), "description": "Reads a file.", "input_schema": schema(at), "defer_loading": true})
}
