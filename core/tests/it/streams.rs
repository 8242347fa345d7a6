//! The text of event streams: the cuts do not affect the output, and events that cannot be restored are not lost.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::borrow::Cow;

use serde_json::{json, Value};
use toolwire::{sanitize_tools, Code, Dialect, Exchange, ExchangeOptions, ReplyRestorer, Restore, ToolsOptions};

fn stream() -> ReplyRestorer {
    let plan = json!({"names": {"names": {"dollar_ref_": "$ref"}}});
    let tools = json!({"a_b": {"name": "a.b"}, "show": {"name": "show", "plan": plan}});
    Restore::from_json(&json!({"version": 2, "tools": tools}).to_string()).expect("a restore").stream()
}

fn start(name: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": name, "arguments": ""}}]}}]})
        .to_string()
}

fn piece(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]})
        .to_string()
}

/// Returns a stream that buffers the maximum, less half a megabyte: the arguments of the first call, and a large event
/// for each call.
fn full() -> ReplyRestorer {
    let mut stream = stream();
    for call in 0..63 {
        assert!(stream.feed(&large(call)).expect("there is room").len() == 1);
    }
    stream
}

fn large(call: usize) -> Value {
    let calls = json!([{"index": call, "id": "c", "function": {"name": "show", "arguments": format!("{{\"dollar_ref_\":{call}}}")}}]);
    json!({"x": "x".repeat(1 << 20), "choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
}

fn reply(end: &str) -> String {
    let blank = format!("{end}{end}");
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "a_b", "input": {}}});
    let finished = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    [
        format!(": a comment{blank}"),
        format!("event: content_block_start{end}data: {block}{blank}"),
        format!("data: {{\"text\":\"é\",{end}data: \"more\": 1.0}}{blank}"),
        format!("data: {}{blank}", start("show")),
        format!("id: 7{end}data: {}{blank}", piece("{\"dollar_ref_\":")),
        format!("data: {}{blank}", piece("\"main\"}")),
        format!("data: {finished}{blank}{end}"),
        format!("data: [DONE]{blank}"),
        "data: {\"last\": true}".to_owned(),
    ]
    .concat()
}

fn whole(text: &str) -> String {
    let mut stream = stream();
    stream.feed_text(text).expect("text").into_owned() + &stream.finish_text().expect("the rest")
}

#[test]
fn every_line_ending_is_accepted() {
    let expected = whole(&reply("\n"));
    assert!(expected.contains("\"name\":\"a.b\"") && expected.contains("{\\\"$ref\\\":\\\"main\\\"}"), "{expected}");
    for end in ["\r\n", "\r"] {
        let found = whole(&reply(end));
        assert_eq!(found.replace("\r\n", "\n").replace('\r', "\n"), expected, "{end:?}");
    }
}

#[test]
fn any_split_gives_the_same_output() {
    for end in ["\n", "\r\n", "\r"] {
        let text = reply(end);
        let expected = whole(&text);
        for size in [1, 2, 3, 7] {
            let mut stream = stream();
            let mut out = String::new();
            let letters: Vec<char> = text.chars().collect();
            for piece in letters.chunks(size) {
                out += &stream.feed_text(&piece.iter().collect::<String>()).expect("text");
            }
            out += &stream.finish_text().expect("the rest");
            assert_eq!(out, expected, "{end:?} in pieces of {size}");
        }
        for (at, _) in text.char_indices() {
            let mut stream = stream();
            let (first, second) = text.split_at(at);
            let out = [
                stream.feed_text(first),
                stream.feed_text(""),
                stream.feed_text(second),
                stream.finish_text().map(Cow::Owned),
            ];
            let out: String = out.into_iter().map(|part| part.expect("text")).collect();
            assert_eq!(out, expected, "{end:?} cut at {at}");
        }
    }
}

/// A line that ends with CR alone is complete immediately, without waiting for the next piece.
#[test]
fn complete_event_is_passed_on_at_once() {
    for end in ["\n", "\r\n", "\r"] {
        let mut stream = stream();
        let text = format!("data: {{}}{end}{end}");
        assert_eq!(stream.feed_text(&text).expect("text"), text, "{end:?}");
    }
}

/// `finish_text` once returned only the last event, and lost the arguments that were buffered before it.
#[test]
fn unrestorable_last_event_loses_no_data() {
    let mut stream = full();
    let last = format!("data: {}", large(63));
    assert_eq!(stream.feed_text(&last).expect("no complete event"), "");
    let error = stream.finish_text().expect_err("too much is held back");
    assert_eq!((error.code().as_str(), error.pointer()), ("limit-exceeded", ""));
    let rest = stream.finish_text().expect("the rest");
    assert_eq!(rest.matches("{\\\"$ref\\\":").count(), 63);
    assert!(rest.ends_with(&last));
    assert_eq!(stream.finish_text().expect("nothing more"), "");
}

/// Tests an event in the middle of a piece that cannot be restored: the next call returns the events before it, and
/// then the event unchanged.
#[test]
fn unrestorable_event_in_the_middle_loses_no_data() {
    let (before, bad, after) = ("data: {\"a\":1}\n\n", format!("data: {}\n\n", large(63)), "data: {\"b\":1}\n\n");
    let mut stream = full();
    let error = stream.feed_text(&format!("{before}{bad}{after}")).expect_err("too much is held back");
    assert_eq!(error.code().as_str(), "limit-exceeded");
    assert!(stream.feed_text("data: {\"c\"").expect("text") == format!("{before}{bad}{after}"));
    assert!(stream.finish_text().expect("the rest").ends_with("data: {\"c\""));
}

/// An event without an end is refused before it exhausts memory, and is not lost either.
#[test]
fn an_event_without_an_end_is_refused() {
    let mut stream = stream();
    let piece = "x".repeat(1 << 24);
    let mut fed = 0;
    while stream.feed_text(&piece).is_ok() {
        fed += 1;
        assert!(fed < 100, "no limit applies");
    }
    assert_eq!(stream.feed_text(&piece).expect_err("refused").code().as_str(), "limit-exceeded");
    // The last piece was refused and still belongs to the caller.
    assert_eq!(stream.finish_text().expect("the rest").len(), (fed + 1) * piece.len());
}

/// The calls of a stream are stored to assign later entries. Entries above the limit stay as they came.
#[test]
fn entries_above_the_limit_stay_as_they_came() {
    let event = |calls: Vec<Value>| json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let call = json!({"id": "c", "function": {"name": "other", "arguments": "{}"}});
    let call_at = |position: usize| {
        let mut call = call.clone();
        call["id"] = json!(format!("c{position}"));
        call
    };
    let many = stream().feed(&event((0..100_000).map(call_at).collect())).expect("an event");
    let calls = &many[0]["choices"][0]["delta"]["tool_calls"];
    assert_eq!((&calls[0]["index"], &calls[50_000]["index"]), (&json!(0), &json!(50_000)));
    assert_eq!(calls[99_999], call_at(99_999));
    let name = "x".repeat(1 << 20);
    let mut stream = stream();
    let numbered = (0..70).map(|_| {
        let events =
            stream.feed(&event(vec![json!({"function": {"name": name, "arguments": "{}"}})])).expect("an event");
        events[0]["choices"][0]["delta"]["tool_calls"][0]["index"].is_number()
    });
    assert_eq!(numbered.filter(|is_numbered| *is_numbered).count(), 7);
}

/// A second call at the index of an unfinished one: the buffered arguments of the first call are passed on first.
#[test]
fn arguments_of_an_unfinished_call_are_not_lost() {
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "show", "input": {}}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"dollar_ref_\":1}"}});
    let mut stream = stream();
    assert_eq!(stream.feed(&block).expect("an event").len(), 1);
    assert_eq!(stream.feed(&delta).expect("none").len(), 0);
    let events = stream.feed(&block).expect("two events");
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["delta"]["partial_json"], "{\"$ref\":1}");
}

#[test]
fn exchange_loses_no_data() {
    let body =
        r#"{"model":"m","messages":[],"tools":[{"name":"a.b","input_schema":{"type":"object","properties":{}}}]}"#;
    let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    let mut exchange =
        Exchange::open("http://localhost/v1/messages", body, &options).expect("a request").expect("one with tools");
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "a_b", "input": {}}});
    assert_eq!(exchange.feed_text(&format!("data: {block}\r")).expect("text"), "");
    let out = exchange.finish_text().expect("the rest");
    assert!(out.contains("\"a.b\""), "{out}");
    assert_eq!(exchange.finish_text().expect("nothing more"), "");
}

/// The standard ignores one byte order mark at the start. A mark once prevented that the first event was restored.
#[test]
fn a_byte_order_mark_is_not_part_of_the_first_event() {
    for end in ["\n", "\r\n", "\r"] {
        let (plain, marked) = (reply(end), format!("\u{feff}{}", reply(end)));
        let expected = whole(&plain);
        assert!(expected.contains("a.b") && !expected.contains("a_b"), "{expected}");
        assert_eq!(whole(&marked), expected, "{end:?}");
        // The first event has no comment before it that would absorb the mark.
        let first = format!("\u{feff}data: {}{end}{end}", start("a_b"));
        assert!(whole(&first).contains("a.b"), "{first:?}");
        // Cut inside of the mark.
        for cut in 0..=4 {
            let mut stream = stream();
            let (one, two) = marked.as_bytes().split_at(cut);
            let mut out = stream.feed_bytes(one).expect("bytes").into_owned();
            out.extend_from_slice(&stream.feed_bytes(two).expect("bytes"));
            let out = String::from_utf8(out).expect("text") + &stream.finish_text().expect("the rest");
            assert_eq!(out, expected, "{end:?}, cut at {cut}");
        }
    }
    // Only one mark is ignored; later ones are text.
    let twice = format!("\u{feff}\u{feff}data: {}\n\n", start("a_b"));
    assert!(whole(&twice).starts_with("\u{feff}data") && whole(&twice).contains("a_b"));
    let mut stream = stream();
    let first = stream.feed_text("data: 1\n\n").expect("text");
    assert_eq!(first.into_owned() + &stream.feed_text("\u{feff}: x\n\n").expect("text"), "data: 1\n\n\u{feff}: x\n\n");
}

/// The rounds of an exchange are separate streams, which the client reads as one.
#[test]
fn a_byte_order_mark_is_removed_from_an_exchange() {
    let body =
        r#"{"model":"m","messages":[],"tools":[{"name":"a.b","input_schema":{"type":"object","properties":{}}}]}"#;
    let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    let mut exchange = Exchange::open("http://localhost/v1/messages", body, &options).expect("opens").expect("one");
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c", "name": "a_b", "input": {}}});
    let out = exchange.feed_text(&format!("\u{feff}data: {block}\n\n")).expect("text").into_owned();
    assert!(out.starts_with("data: ") && out.contains("a.b"), "{out}");
}

#[test]
fn lone_surrogates_are_kept_in_unchanged_text() {
    let restore = json!({"version": 4, "tools": {}, "answer": {"wrapper": "response"}}).to_string();
    let mut stream = Restore::from_json(&restore).expect("a restore").stream();
    let text = concat!(
        r#"data: {"choices":[{"index":0,"delta":{"content":"Hi \ud83d"}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"\ude00"}}]}"#,
        "\n\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}"#,
        "\n\n",
    );
    assert_eq!(stream.feed_text(text).expect("events"), text);
    let blank_delta = r#"data: {"choices":[{"index":1,"delta":{"content":" \n"}}]}"#;
    assert_eq!(stream.feed_text(&format!("{blank_delta}\n\n")).expect("white space is held"), "");
    let rest = r#"data: {"choices":[{"index":1,"delta":{"content":"\ud83d"}}]}"#;
    let both = rest.replace(r"\ud83d", r" \n\ud83d");
    assert_eq!(stream.feed_text(&format!("{rest}\n\n")).expect("the text passes"), format!("{both}\n\n"));
}

/// A long answer with values of a long `enum` takes one lookup per value, so restoring must not exhaust the budget.
#[test]
fn many_listed_values_are_restored() {
    let listed: Vec<Value> = (0..900).map(|at| json!([format!("r{at:03}"), "c"])).collect();
    let cells = json!({"type": "array", "items": {"anyOf": [{"enum": listed}, {"type": "null"}]}});
    let schema = json!({"type": "object", "properties": {"cells": cells}, "required": ["cells"]});
    let tools = json!([{"type": "function", "function": {"name": "fill", "parameters": schema}}]);
    let found = sanitize_tools(&tools, &ToolsOptions::new(Dialect::OPENAI_STRICT)).expect("a list");
    let written: Vec<Value> = (0..3000).map(|at| json!(listed[at % 900].to_string())).collect();
    let restored: Vec<&Value> = (0..3000).map(|at| &listed[at % 900]).collect();
    let call = found.restore.call("fill", &json!({"cells": written})).expect("a call");
    assert_eq!(call.arguments["cells"], json!(restored));
    let text = json!({"cells": written}).to_string();
    let call = found.restore.call("fill", text.as_str()).expect("a call");
    assert_eq!(serde_json::from_str::<Value>(&call.arguments).expect("JSON")["cells"], json!(restored));
}

/// A branch is chosen by all its keywords even in large arguments of large unions. (Restoring used to choose the first
/// branch of the right type after 100,000 comparisons, which lost nulls.)
#[test]
fn large_arguments_of_large_unions_are_restored_by_the_right_branch() {
    let branch = |at: usize| {
        let note = if at % 2 == 0 { json!({"type": "string"}) } else { json!({"type": ["string", "null"]}) };
        let required = if at % 2 == 0 { json!(["kind"]) } else { json!(["kind", "note"]) };
        let properties = json!({"kind": {"const": format!("kind{at}")}, "note": note});
        json!({"type": "object", "properties": properties, "required": required})
    };
    let branches: Vec<Value> = (0..400).map(branch).collect();
    let items = json!({"type": "array", "items": {"anyOf": branches}});
    let schema = json!({"type": "object", "properties": {"items": items}, "required": ["items"]});
    let tools = json!([{"type": "function", "function": {"name": "log", "parameters": schema}}]);
    let written: Vec<Value> = (0..9000).map(|at| json!({"kind": format!("kind{}", at % 400), "note": null})).collect();
    let own = |at: usize| match at % 2 {
        0 => json!({"kind": format!("kind{}", at % 400)}),
        _ => json!({"kind": format!("kind{}", at % 400), "note": null}),
    };
    let own: Vec<Value> = (0..9000).map(own).collect();
    let found = sanitize_tools(&tools, &ToolsOptions::new(Dialect::OPENAI_STRICT)).expect("a list");
    let call = found.restore.call("log", &json!({"items": written})).expect("a call");
    assert_eq!(call.arguments["items"], json!(own));
}

/// Arguments that take too many steps to restore are an error, in streams as in whole replies. Passed on unrestored,
/// they would reach the tool in a form that its schema may refuse or, worse, accept.
#[test]
fn arguments_that_cannot_be_restored_are_never_passed_on() {
    let branch = |at: usize| {
        // No property has listed values, so every branch has to be tried.
        let properties = json!({"kind": {"type": "string"}, format!("note{at}"): {"type": "string"}});
        json!({"type": "object", "properties": properties, "required": ["kind"], "additionalProperties": false})
    };
    let branches: Vec<Value> = (0..400).map(branch).collect();
    let items = json!({"type": "array", "items": {"anyOf": branches}});
    let schema = json!({"type": "object", "properties": {"items": items}, "required": ["items"]});
    let tools = json!([{"type": "function", "function": {"name": "log", "parameters": schema}}]);
    let found = sanitize_tools(&tools, &ToolsOptions::new(Dialect::OPENAI_STRICT)).expect("a list");
    let item = json!({"kind": "x", "note399": null});
    let text = json!({"items": vec![item; 9000]}).to_string();
    assert_eq!(found.restore.call("log", text.as_str()).expect_err("too many steps").code(), Code::BudgetExceeded);

    let mut call = found.restore.call_stream("log");
    assert_eq!(call.feed_text(&text).expect("held"), "");
    assert_eq!(call.finish_text().expect_err("too many steps").code(), Code::BudgetExceeded);

    let chat =
        |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let function = json!({"name": "log", "arguments": text});
    let block = json!({"type": "tool_use", "id": "c", "name": "log", "input": {}});
    let item = json!({"type": "function_call", "id": "i", "call_id": "c", "name": "log", "arguments": ""});
    let streams = [
        vec![
            chat(
                json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}),
                json!(null),
            ),
            chat(json!({}), json!("tool_calls")),
        ],
        vec![
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        vec![
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": text}),
            json!({"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "i", "arguments": text}),
        ],
    ];
    for events in streams {
        let (last, first) = events.split_last().expect("events");
        let mut ended = found.restore.stream();
        let mut gone = found.restore.stream();
        for event in first {
            ended.feed(event).expect("held");
            gone.feed(event).expect("held");
        }
        assert_eq!(ended.feed(last).expect_err("too many steps").code(), Code::BudgetExceeded, "{last}");
        assert_eq!(gone.finish().expect_err("too many steps").code(), Code::BudgetExceeded, "{last}");
        assert!(gone.finish().expect("nothing is left").is_empty());

        let mut text = found.restore.stream();
        let passed: String = first
            .iter()
            .map(|event| text.feed_text(&format!("data: {event}\n\n")).expect("held").into_owned())
            .collect();
        assert!(passed.len() < 1000, "{} bytes passed", passed.len());
        let error = text.finish_text().expect_err("too many steps");
        assert_eq!(error.code(), Code::BudgetExceeded);
        assert_eq!(text.finish_text().expect("the rest"), "");

        let mut text = found.restore.stream();
        let feed = |stream: &mut ReplyRestorer, event: &Value| {
            stream.feed_text(&format!("data: {event}\n\n")).map(Cow::into_owned)
        };
        let passed: String = first.iter().map(|event| feed(&mut text, event).expect("held")).collect();
        assert_eq!(feed(&mut text, last).expect_err("too many steps").code(), Code::BudgetExceeded);
        // The call may still be open, so the end may fail once more.
        let rest = (0..2).find_map(|_| text.finish_text().ok()).expect("the rest");
        assert!(!passed.contains("kind") && !rest.contains("kind"), "{} bytes", passed.len() + rest.len());
    }
}

/// Choosing a branch of a recursive union takes polynomial time, even if the property that distinguishes the branches
/// comes after the nested value, or if no property distinguishes them.
#[test]
fn deep_arguments_of_recursive_unions_are_restored() {
    for (kinds, names) in [(true, ["add", "neg"]), (false, ["a", "b"])] {
        let branch = |name: &str| {
            let kind = if kinds { json!({"const": name}) } else { json!({"type": "string"}) };
            let inner = json!({"$ref": "#/$defs/node"});
            let properties =
                json!({"args": {"anyOf": [inner, {"type": "null"}]}, "kind": kind, name: {"type": "string"}});
            json!({"type": "object", "properties": properties, "required": ["args", "kind"], "additionalProperties": false})
        };
        let node = json!({"anyOf": [branch(names[0]), branch(names[1])]});
        let properties = json!({"root": {"$ref": "#/$defs/node"}});
        let schema = json!({"type": "object", "properties": properties, "required": ["root"], "$defs": {"node": node}});
        let tools = json!([{"type": "function", "function": {"name": "run", "parameters": schema}}]);
        let found = sanitize_tools(&tools, &ToolsOptions::new(Dialect::OPENAI_STRICT)).expect("a list");
        let (mut written, mut own) = (json!(null), json!(null));
        for _ in 0..40 {
            written = json!({"args": written, "kind": names[1], names[1]: null});
            own = json!({"args": own, "kind": names[1]});
        }
        let call = found.restore.call("run", &json!({"root": written})).expect("a call");
        assert_eq!(call.arguments["root"], own);
    }
}

#[test]
fn unchanged_pieces_are_borrowed() {
    let text = "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n";
    let mut stream = Restore::default().stream();
    assert!(matches!(stream.feed_text(text), Ok(Cow::Borrowed(same)) if same == text));
    assert!(matches!(stream.feed_bytes(text.as_bytes()), Ok(Cow::Borrowed(same)) if same == text.as_bytes()));
    let (first, rest) = text.split_at(18);
    assert!(matches!(stream.feed_text(first), Ok(Cow::Borrowed("data: {\"a\":1}\n\n"))));
    assert_eq!(stream.feed_text(rest).expect("text"), "data: {\"b\":2}\n\n");
    assert_eq!(stream.finish_text().expect("text"), "");
}
