//! Every string of a request, a reply or a stream is in the result, in its role and order, or in an entry of the report
//! that points to it.
//!
//! The strings are marked (`generator`). `known.json` contains the number of faults of each kind, and every
//! difference fails; `TOOLWIRE_MARKS=write` writes it again, and any other value prints the faults whose kind contains
//! it.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

pub(crate) mod generator;
mod reading;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use super::{
    dialect_id,
    fixtures::as_stream::{self, Comparison},
};
use generator::{history_of, marks_in, request, Marker, APIS};
use reading::{occurrences, roles, Occurrences, Seen};
use serde_json::{json, Map, Value};
use toolwire::{
    adapt_request, dialects,
    internal::{
        bindings::{call, Function, Naming},
        json::{write, Node},
    },
    AdaptOptions, Restore,
};

struct Sent {
    request: Value,
    report: Value,
    restore: Value,
}

/// Returns the adapted request, or the code and the message of the error.
fn adapt(request: &Value, options: &Value) -> Result<Sent, String> {
    let (input, options) = (Node::from_value(request), Node::from_value(options));
    let (input, options) = (input.expect("a request"), options.expect("options"));
    let done = call(Function::AdaptRequest, vec![input], &options, Naming::Camel, true);
    let done = done.map_err(|error| format!("{} {}", error.code().as_str(), error.message()))?;
    let value = |node: &Node<'_>| serde_json::from_str::<Value>(&write(node)).expect("JSON");
    let report = done.report.as_ref().map(value).expect("a report");
    Ok(Sent { request: value(&done.value), report: report["report"].clone(), restore: report["restore"].clone() })
}

/// Kinds of expected differences, each with the reason. `known.json` does not count them.
const EXPECTED_DIFFERENCES: [(&str, &str); 4] = [
    (
        "translated, native: tool becomes result: ",
        "in Gemini Interactions and OpenAI Responses, the result of a search defines the tools that it found",
    ),
    (
        "translated, native: tool becomes call and result: ",
        "in Gemini Interactions, the call of a hosted search also has the names of the tools that it found",
    ),
    (
        "translated, native: result becomes call and tool: ",
        "in OpenAI Responses, an item defines the tools that a search found, and their names are the namespaces of calls",
    ),
    (
        "system becomes user: openai-chat /messages/*/content (developer)",
        "Gemini Interactions has no step of the system, and its `system_instruction` precedes the whole conversation",
    ),
];

/// Removes the expected kinds of differences.
///
/// # Panics
/// If a row of `EXPECTED_DIFFERENCES` fits no difference.
fn remove_expected(faults: &mut Faults) {
    for (kind, reason) in EXPECTED_DIFFERENCES {
        let before = faults.len();
        faults.retain(|fault, _| !fault.contains(kind));
        assert!(faults.len() < before, "remove the row `{kind}` ({reason}): nothing differs in this way");
    }
}

fn pointers(report: &Value) -> BTreeSet<String> {
    let lists = ["changes", "requestChanges", "formatChanges", "quarantined"].map(|list| &report[list]);
    let lists = lists.into_iter().chain([&report["deferred"]["warnings"]]);
    let entries = lists.flat_map(|list| list.as_array().into_iter().flatten());
    let mut pointers: BTreeSet<String> =
        entries.filter_map(|entry| entry["pointer"].as_str()).map(String::from).collect();
    // The pointer of a tool that is not sent points to the reason, but the whole entry is gone.
    let gone = report["quarantined"].as_array().into_iter().flatten().filter_map(|tool| tool["pointer"].as_str());
    pointers.extend(gone.filter_map(|pointer| {
        let list =
            ["/tools/", "/functionDeclarations/"].iter().filter_map(|list| Some(pointer.rfind(list)? + list.len()));
        let start = list.max()?;
        let end = pointer[start..].find('/').map_or(pointer.len(), |end| start + end);
        Some(pointer[..end].to_owned())
    }));
    pointers
}

/// Returns true if an entry of the report points to the string, to its block or to its item.
fn is_reported(seen: &Seen, pointers: &BTreeSet<String>, api: &str) -> bool {
    let history = format!("/{}", history_of(api));
    let lists = ["", "/tools", "/toolConfig", "/toolConfig/tools", "/tools/0/functionDeclarations", &history];
    let ends = seen.pointer.match_indices('/').map(|(at, _)| at).chain([seen.pointer.len()]);
    ends.map(|end| &seen.pointer[..end]).any(|pointer| !lists.contains(&pointer) && pointers.contains(pointer))
}

/// Replaces the names under which tools were sent with the client's names, as the restore map has them.
fn with_client_names(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => json!(names.get(text).unwrap_or(text)),
        Value::Array(items) => items.iter().map(|item| with_client_names(item, names)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.clone(), with_client_names(member, names)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Returns the marks that are out of order in the result, except for the marks of the longest sequence in order.
fn out_of_order(source: &Occurrences, sent: &Occurrences) -> BTreeSet<String> {
    let mut marks: Vec<(usize, usize, &String)> = Vec::new();
    for (mark, seen) in source {
        let block = |list: &[Seen]| list.iter().map(|seen| seen.block).filter(|block| *block > 0).min();
        let blocks = block(seen).zip(sent.get(mark).and_then(|seen| block(seen)));
        marks.extend(blocks.map(|(one, two)| (one, two, mark)));
    }
    marks.sort();
    // Length of the longest sequence that ends with each mark, and its previous mark.
    let mut best: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, (_, block, _)) in marks.iter().enumerate() {
        let before = (0..at).filter(|before| marks[*before].1 <= *block).max_by_key(|before| best[*before].0);
        best.push((before.map_or(1, |before| best[before].0 + 1), before));
    }
    let mut kept = BTreeSet::new();
    let mut at = (0..best.len()).max_by_key(|at| best[*at].0);
    while let Some(here) = at {
        kept.insert(here);
        at = best[here].1;
    }
    let all = marks.iter().enumerate();
    all.filter(|(at, _)| !kept.contains(at)).map(|(_, (_, _, mark))| (*mark).clone()).collect()
}

/// Returns a pointer without indices and marks, so that it names a kind.
fn kind(pointer: &str) -> String {
    let mut out = String::new();
    for token in pointer.split('/').skip(1) {
        let mut token = token.to_owned();
        for mark in marks_in(&token.clone()) {
            token = token.replace(mark, "<>");
        }
        let is_index = token.bytes().all(|byte| byte.is_ascii_digit());
        out += "/";
        out += if is_index { "*" } else { &token };
    }
    out
}

/// Returns the value at a pointer, or the nearest object or array around it that has a `type` or is an item of a list.
fn block_kind(request: &Value, pointer: &str) -> String {
    let mut around = pointer;
    while let Some((outer, token)) = around.rsplit_once('/') {
        let is_item = token.bytes().all(|byte| byte.is_ascii_digit());
        let kind = request.pointer(around).and_then(|value| value["type"].as_str().or_else(|| value["role"].as_str()));
        if let Some(kind) = kind.filter(|_| is_item) {
            return kind.to_owned();
        }
        around = outer;
    }
    String::new()
}

/// Returns the names and types around a string. The report may list the string as hidden by any of these words.
fn words_around<'v>(request: &'v Value, pointer: &'v str) -> BTreeSet<&'v str> {
    let mut words: BTreeSet<&str> = pointer.split('/').collect();
    for (end, _) in pointer.match_indices('/') {
        let Some(value) = request.pointer(&pointer[..end]) else { continue };
        let inner = ["function", "custom", "toolSpec"].into_iter().filter_map(|key| value.get(key));
        for holder in inner.chain([value]) {
            words.extend(["name", "type"].iter().filter_map(|key| holder[*key].as_str()));
        }
    }
    words
}

type Faults = BTreeMap<String, usize>;

fn judge(way: &str, (source_api, source): (&str, &Value), (api, sent): (&str, &Sent), faults: &mut Faults) {
    let names = sent.restore["tools"].as_object().into_iter().flatten().map(|(called, tool)| {
        let text = |key: &str| tool[key].as_str().unwrap_or_default();
        (called.clone(), format!("{} {}", text("namespace"), text("name")))
    });
    let names: BTreeMap<String, String> = names.collect();
    let before = occurrences(source_api, source);
    let after = occurrences(api, &with_client_names(&sent.request, &names));
    let pointers = pointers(&sent.report);
    let deferred = &sent.report["deferred"];
    let hidden: Vec<&str> = deferred["hidden"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    // The parts around a reported part have kept their order.
    let is_unreported = |seen: &Seen| !is_reported(seen, &pointers, source_api);
    let unreported = before
        .iter()
        .map(|(mark, seen)| (mark.clone(), seen.iter().filter(|seen| is_unreported(seen)).cloned().collect()));
    let moved = out_of_order(&unreported.collect(), &after);
    for (mark, seen) in &before {
        for seen_mark in seen {
            if is_reported(seen_mark, &pointers, source_api) {
                continue;
            }
            let mut fault = |what: &str| {
                let of = block_kind(source, &seen_mark.pointer);
                let of = if of.is_empty() { of } else { format!(" ({of})") };
                let fault = format!("{way}: {what}: {source_api} {}{of}", kind(&seen_mark.pointer));
                if shown_kind().is_some_and(|shown| fault.contains(&shown)) {
                    eprintln!("{fault}: {} to {api}: {}", sent.report["dialect"], seen_mark.pointer);
                }
                *faults.entry(fault).or_default() += 1;
            };
            let Some(seen_after) = after.get(mark) else {
                // One entry covers a name or an id that occurs twice.
                if seen.iter().any(|other| is_reported(other, &pointers, source_api)) {
                    continue;
                }
                let around = words_around(source, &seen_mark.pointer);
                if around.iter().any(|word| hidden.contains(word)) {
                    continue;
                }
                fault("lost");
                continue;
            };
            // A result may name its tool, but its id is enough.
            let is_named = seen_mark.role == "result"
                && seen_mark.pointer.ends_with("/name")
                && roles(seen_after).contains("call");
            if is_named {
                continue;
            }
            if !roles(seen_after).contains(seen_mark.role) {
                let now: Vec<&str> = roles(seen_after).into_iter().collect();
                fault(&format!("{} becomes {}", seen_mark.role, now.join(" and ")));
            } else if moved.contains(mark) && seen_mark.block > 0 {
                fault("out of order");
            }
        }
    }
}

fn shown_kind() -> Option<String> {
    std::env::var("TOOLWIRE_MARKS").ok().filter(|shown| shown != "write")
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/marks/known.json")
}

fn compare(faults: &Faults) {
    if std::env::var("TOOLWIRE_MARKS").as_deref() == Ok("write") {
        let text = serde_json::to_string_pretty(faults).expect("JSON");
        fs::write(path(), text + "\n").expect("known.json can be written");
        return;
    }
    let known: Faults = serde_json::from_str(&fs::read_to_string(path()).expect("known.json")).expect("counts by kind");
    let kinds: BTreeSet<&String> = known.keys().chain(faults.keys()).collect();
    let count = |of: &Faults, kind: &String| of.get(kind).copied().unwrap_or_default();
    let differences = kinds.into_iter().filter(|kind| known.get(*kind) != faults.get(*kind));
    let lines = differences.map(|kind| format!("{} -> {} {kind}", count(&known, kind), count(faults, kind)));
    let lines: Vec<String> = lines.collect();
    let sum = |faults: &Faults| faults.values().sum::<usize>();
    assert!(
        lines.is_empty(),
        "{} kinds of faults differ from known.json, {} -> {} faults. A fault that is new has to be fixed. Once only fewer \
         are left, write them with `TOOLWIRE_MARKS=write cargo test -p toolwire --test it marks::`\n{}",
        lines.len(),
        sum(&known),
        sum(faults),
        lines.join("\n")
    );
}

/// Returns the options for sending a request to a backend, without and with deferral, each with a name.
fn ways(dialect: &str, source: &str, target: &str) -> Vec<(&'static str, bool, Value)> {
    let mut ways = Vec::new();
    if source == target {
        ways.push(("in place", false, json!({"dialect": dialect, "format": source, "deferred": false})));
        ways.push(("in place", true, json!({"dialect": dialect, "format": source})));
    } else {
        let deferred = json!({"target": target, "format": source});
        ways.push(("translated", false, json!({"dialect": dialect, "format": source, "deferred": deferred})));
        ways.push(("translated", true, json!({"dialect": dialect, "format": source, "deferred": deferred})));
    }
    let natives: &[&str] = match target {
        "anthropic" => &["references", "changes", "inline"],
        "openai-responses" => &["additional-tools", "tool-search"],
        "gemini-interactions" => &["interactions"],
        "bedrock" => &["converse"],
        _ => &[],
    };
    let way = if source == target { "in place, native" } else { "translated, native" };
    for native in natives {
        let deferred = json!({"target": target, "format": source, "native": native});
        ways.push((way, true, json!({"dialect": dialect, "format": source, "deferred": deferred})));
    }
    ways
}

fn backends() -> impl Iterator<Item = &'static str> {
    dialects().iter().map(|dialect| dialect.name)
}

#[test]
fn every_string_of_a_request_is_sent_or_reported() {
    let (mut faults, mut count, mut errors) = (Faults::new(), BTreeMap::new(), BTreeMap::new());
    for source in APIS {
        let marked = |deferred| Marker::default().fill(&request(source, deferred));
        let requests = [marked(false), marked(true)];
        for dialect in backends() {
            for target in APIS {
                for (way, is_deferred, options) in ways(dialect, source, target) {
                    let request = &requests[usize::from(is_deferred)];
                    let outcome = match adapt(request, &options) {
                        Ok(sent) => {
                            judge(way, (source, request), (target, &sent), &mut faults);
                            "sent".to_owned()
                        }
                        Err(code) => {
                            *errors.entry(format!("{code}: {source} to {target}")).or_insert(0_usize) += 1;
                            code
                        }
                    };
                    *count.entry(outcome).or_insert(0_usize) += 1;
                }
            }
        }
    }
    eprintln!("requests: {count:?}\n{errors:#?}");
    assert!(count["sent"] > 1_000, "{count:?}");
    remove_expected(&mut faults);
    compare(&faults);
}

/// Returns a template of a reply. `{write}` is the name under which a renamed tool was sent.
fn reply(api: &str) -> Value {
    let arguments = json!({"city": "Argument <>", "x_<>": ["Nested <>"]});
    let text = arguments.to_string();
    match api {
        "anthropic" => json!({"id": "msg_<>", "type": "message", "role": "assistant", "model": "model_<>", "content": [
            {"type": "thinking", "thinking": "Thought <>", "signature": "Signature<>"},
            {"type": "redacted_thinking", "data": "Redacted<>"},
            {"type": "text", "text": "Answer <>", "citations": [{"type": "char_location", "cited_text": "Cited <>"}]},
            {"type": "server_tool_use", "id": "srvtoolu_<1>", "name": "web_search", "input": {"query": "Query <>"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_<1>", "content": [{"type": "web_search_result", "url": "https://example.com/<>", "title": "Title <>", "encrypted_content": "Encrypted<>"}]},
            {"type": "tool_use", "id": "call_<>", "name": "read_<read>", "input": arguments, "caller": {"type": "direct"}, "x_unknown": "Member <>"},
            {"type": "tool_use", "id": "call_<>", "name": "{write}", "input": arguments}
        ], "stop_reason": "tool_use", "stop_sequence": "Stop <>", "usage": {"service_tier": "Tier <>"}, "x_unknown": "Member <>"}),
        "openai-chat" => {
            json!({"id": "chatcmpl_<>", "object": "chat.completion", "model": "model_<>", "choices": [{"index": 0, "message": {
            "role": "assistant", "content": "Answer <>", "reasoning_content": "Thought <>", "refusal": "Refusal <>",
            "annotations": [{"type": "url_citation", "url_citation": {"title": "Title <>", "url": "https://example.com/<>"}}],
            "tool_calls": [
                {"id": "call_<>", "type": "function", "function": {"name": "read_<read>", "arguments": text, "x_unknown": "Member <>"}, "extra_content": {"google": {"thought_signature": "Signature<>"}}},
                {"id": "call_<>", "type": "function", "function": {"name": "{write}", "arguments": text}},
                {"id": "call_<>", "type": "custom", "custom": {"name": "patch_<patch>", "input": "Input <>"}}
            ]}, "finish_reason": "tool_calls", "logprobs": {"content": [{"token": "Token <>"}]}}], "system_fingerprint": "fp_<>"})
        }
        "openai-responses" => {
            json!({"id": "resp_<>", "object": "response", "status": "completed", "model": "model_<>", "instructions": "System <>", "output": [
            {"type": "reasoning", "id": "rs_<>", "summary": [{"type": "summary_text", "text": "Thought <>"}], "encrypted_content": "Encrypted<>"},
            {"type": "message", "id": "msg_<>", "role": "assistant", "content": [{"type": "output_text", "text": "Answer <>", "annotations": [{"type": "url_citation", "title": "Title <>"}]}, {"type": "refusal", "refusal": "Refusal <>"}]},
            {"type": "web_search_call", "id": "ws_<>", "action": {"type": "search", "query": "Query <>"}},
            {"type": "function_call", "id": "fc_<>", "call_id": "call_<>", "name": "read_<read>", "arguments": text, "x_unknown": "Member <>"},
            {"type": "function_call", "id": "fc_<>", "call_id": "call_<>", "name": "{write}", "arguments": text},
            {"type": "custom_tool_call", "id": "ctc_<>", "call_id": "call_<>", "name": "patch_<patch>", "input": "Input <>"}
        ], "metadata": {"key": "Metadata <>"}})
        }
        "gemini" => json!({"candidates": [{"content": {"role": "model", "parts": [
            {"text": "Thought <>", "thought": true},
            {"text": "Answer <>", "thoughtSignature": "Signature<>"},
            {"functionCall": {"id": "call_<>", "name": "read_<read>", "args": arguments}, "thoughtSignature": "Signature<>", "xUnknown": "Member <>"},
            {"functionCall": {"name": "{write}", "args": arguments}},
            {"executableCode": {"language": "PYTHON", "code": "Code <>"}}
        ]}, "finishReason": "STOP", "groundingMetadata": {"webSearchQueries": ["Query <>"]}}], "modelVersion": "model_<>", "responseId": "id_<>"}),
        "gemini-interactions" => json!({"id": "id_<>", "status": "requires_action", "model": "model_<>", "steps": [
            {"type": "thought", "signature": "Signature<>", "summary": [{"type": "text", "text": "Thought <>"}]},
            {"type": "model_output", "content": [{"type": "text", "text": "Answer <>", "annotations": [{"type": "url_citation", "title": "Title <>"}]}]},
            {"type": "function_call", "id": "call_<>", "name": "read_<read>", "arguments": arguments, "signature": "Signature<>", "x_unknown": "Member <>"},
            {"type": "function_call", "id": "call_<>", "name": "{write}", "arguments": arguments}
        ]}),
        _ => json!({"output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Thought <>", "signature": "Signature<>"}}},
            {"text": "Answer <>"},
            {"toolUse": {"toolUseId": "call_<>", "name": "read_<read>", "input": arguments}, "xUnknown": "Member <>"},
            {"toolUse": {"toolUseId": "call_<>", "name": "{write}", "input": arguments}}
        ]}}, "stopReason": "tool_use", "trace": {"x": "Trace <>"}}),
    }
}

fn with_renamed_tool(value: &Value, from: &str, to: &str) -> Value {
    with_client_names(value, &BTreeMap::from([(from.to_owned(), to.to_owned())]))
}

/// A restored reply, event or call has every string of the original. Only the name of a renamed tool changes.
#[test]
fn every_string_of_a_reply_is_restored() {
    for api in APIS {
        let (mut marker, own) = (Marker::default(), "write/<write>");
        let mut source = request(api, false);
        // These members would change what a reply means.
        ["response_format", "text", "generationConfig"].into_iter().for_each(|key| {
            source.as_object_mut().expect("a request").remove(key);
        });
        let source = marker.fill(&source);
        let own = marker.fill(&json!(own)).as_str().expect("a name").to_owned();
        let options =
            AdaptOptions::new(dialect_id(if api == "bedrock" { "bedrock-anthropic" } else { api })).deferred(None);
        let adapted = adapt_request(&source, &options).expect("a request");
        let sent: Value = serde_json::from_str(&adapted.restore.to_json()).expect("JSON");
        let sent = sent["tools"].as_object().expect("tools").iter().find(|(_, tool)| tool["name"] == *own);
        let called = sent.map_or_else(|| own.clone(), |(called, _)| called.clone());
        assert_ne!(called, own, "{api}: the tool is renamed");
        let template: Value = serde_json::from_str(&reply(api).to_string().replace("{write}", &called)).expect("JSON");
        let reply = marker.fill(&template);
        let restore = Restore::from_json(&adapted.restore.to_json()).expect("a restore map");
        let restored = restore.reply(&reply).expect("a reply").reply;
        assert_eq!(restored.to_string(), with_renamed_tool(&reply, &called, &own).to_string(), "{api}");
        let events = as_stream::events(&reply).expect("events");
        let mut stream = restore.stream();
        let mut found: Vec<Value> = events.iter().flat_map(|event| stream.feed(event).expect("an event")).collect();
        found.extend(stream.finish().expect("the rest"));
        assert_eq!(json!(found).to_string(), with_renamed_tool(&json!(events), &called, &own).to_string(), "{api}");
        let comparison = as_stream::comparison(&restore, &reply);
        assert!(matches!(comparison, Comparison::Equal), "{api}: {comparison:?}");
    }
}
