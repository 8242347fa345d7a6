//! The routing promise: every call reaches exactly the tool whose definition the model read, whatever names servers
//! give their tools.
//!
//! The tests generate lists with colliding names, namespaces and encodings, in every format. The description of each
//! definition identifies its owner, and each definition has a unique property. A test reads the request as a model
//! does, and calls every tool in the request. The restored call must reach the tool that the description identifies,
//! with the property of that tool. `ROUTING_ROUNDS` increases the number of rounds.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod calls;
mod generated;
mod history;
mod wire;

use std::collections::BTreeSet;

use generated::{request, tools, Numbers, Tool, NAMES};
use serde_json::{json, Map, Value};
use toolwire::{
    adapt_request, apply_deferred_loading,
    options::{DuplicateNames, Order, ServerToolSearch, ToolFormat},
    sanitize_tools, AdaptOptions, Code, DeferredOptions, Dialect, Exchange, ExchangeOptions, RepairOptions, Restore,
    ToolsOptions,
};
use wire::{in_namespace, number, read, Read, Wire};

use crate::dialect_id;

const TARGETS: [(&str, Wire); 16] = [
    ("anthropic", Wire::Anthropic),
    ("anthropic-strict", Wire::Anthropic),
    ("moonshot", Wire::Anthropic),
    ("openai-chat", Wire::Chat),
    ("openai-strict", Wire::Chat),
    ("moonshot", Wire::Chat),
    ("deepseek-strict", Wire::Chat),
    ("mistral", Wire::Chat),
    ("portable", Wire::Chat),
    ("openai-responses", Wire::Responses),
    ("openai-strict", Wire::Responses),
    ("codex", Wire::Responses),
    ("deepseek", Wire::Responses),
    ("xai", Wire::Responses),
    ("gemini", Wire::Gemini),
    ("gemini-json-schema", Wire::Gemini),
];

fn space(namespace: Option<&str>) -> &str {
    namespace.unwrap_or_default()
}

fn call(about: &dyn Fn() -> String, wire: Wire, restore: &Restore, tools: &[Tool], sent: &Read) {
    let Some(number) = number(&sent.description) else {
        // A search function of this library: its calls belong to no tool.
        let reply = restore.reply(&wire.reply(&sent.name, &json!({}))).expect("a reply").reply;
        if reply["output"][0]["type"] == "tool_search_call" {
            // The client's own search, which is not a tool.
            return;
        }
        let (namespace, name, _) = wire.called(&reply);
        let taken = tools
            .iter()
            .any(|tool| space(tool.namespace.as_deref()) == space(namespace.as_deref()) && tool.name == name);
        assert!(!taken, "{}\na search is called as a tool: {name}", about());
        return;
    };
    let tool = tools
        .iter()
        .find(|tool| tool.number == number)
        .unwrap_or_else(|| panic!("{}\nexpected a tool with the number {number}", about()));
    let arguments: Map<String, Value> = sent.property.iter().map(|property| (property.clone(), json!("x"))).collect();
    let arguments = Value::Object(arguments);
    let kept = Restore::from_json(&restore.to_json()).expect("a restore");
    for restore in [restore, &kept] {
        let space_of = sent.namespace.as_deref();
        let reply = in_namespace(wire.reply(&sent.name, &arguments), space_of);
        let whole = wire.called(&restore.reply(&reply).expect("a reply").reply);
        let mut stream = restore.stream();
        let mut events = Vec::new();
        for event in wire.events(&sent.name, &arguments) {
            events.extend(stream.feed(&in_namespace(event, space_of)).expect("events"));
        }
        events.extend(stream.finish().expect("the rest"));
        let mut ways = vec![whole, wire.streamed(&events)];
        // A call without a namespace reaches a tool outside of namespaces.
        if space_of.is_none() {
            let alone = restore.call(&sent.name, &arguments).expect("a call");
            ways.push((alone.namespace, alone.name, alone.arguments));
        }
        for (namespace, name, arguments) in ways {
            // The API puts a loaded tool into a namespace with the tool's own name.
            let is_own = tool.namespace.is_none() && namespace.as_deref() == Some(&*name);
            let found = (if is_own { "" } else { space(namespace.as_deref()) }, name.as_str());
            assert_eq!(
                found,
                (space(tool.namespace.as_deref()), tool.name.as_str()),
                "{}\n`{}` of tool {number}",
                about(),
                sent.name
            );
            assert_eq!(
                arguments,
                json!({&tool.property: "x"}),
                "{}\narguments of `{}`, tool {number}",
                about(),
                sent.name
            );
        }
    }
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}

/// Checks that the text of a notice matches the tool that was sent under the name in the notice.
fn notices(about: &dyn Fn() -> String, history: &Value, read: &[Read]) {
    let mut found = Vec::new();
    texts(history, &mut found);
    for text in found {
        let Some(rest) = text.strip_prefix("Tool ") else { continue };
        let Some((name, description)) = rest.split_once(" is now available.") else { continue };
        let name = match name.strip_prefix('\'') {
            Some(plain) => plain.trim_end_matches('\'').to_owned(),
            None => serde_json::from_str(name).unwrap_or_else(|error| panic!("{}\n{name}: {error}", about())),
        };
        let Some(sent) = read.iter().find(|sent| sent.namespace.is_none() && sent.name == name) else { continue };
        if let Some(number) = number(description) {
            assert_eq!(wire::number(&sent.description), Some(number), "{}\nthe notice of `{name}`", about());
        }
    }
}

#[test]
fn every_call_reaches_the_tool_whose_definition_the_model_read() {
    let rounds: usize = std::env::var("ROUTING_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(60);
    let (mut numbers, mut calls, mut renamed, mut in_spaces) = (Numbers(1), 0, 0, 0);
    for round in 0..rounds {
        for (dialect, wire) in TARGETS {
            let mut known: Vec<String> = Vec::new();
            // In the second round, servers know the names of the first round.
            for _ in 0..2 {
                let tools = tools(&mut numbers, wire, &known);
                let request = request(&mut numbers, wire, &tools);
                let mut deferred = DeferredOptions::default();
                deferred.server_tool_search = *numbers.of(&[Some(ServerToolSearch::Emulate), None]);
                deferred.order = *numbers.of(&[Order::Catalog, Order::Append]);
                let mut options = AdaptOptions::new(dialect_id(dialect)).deferred(deferred);
                options.tools.format = Some(wire.format());
                let adapted = adapt_request(&request, &options).unwrap_or_else(|error| panic!("{request}\n{error}"));
                let sent = read(&adapted.request["tools"]);
                let about = || format!("round {round}, {dialect}, {wire:?}\n{request}\n{}", adapted.request);
                let names: BTreeSet<(Option<&str>, &str)> =
                    sent.iter().map(|tool| (tool.namespace.as_deref(), tool.name.as_str())).collect();
                assert_eq!(names.len(), sent.len(), "{}\ntwo tools with the same name", about());
                for tool in &sent {
                    call(&about, wire, &adapted.restore, &tools, tool);
                    calls += 1;
                    in_spaces += usize::from(tool.namespace.is_some());
                }
                for key in ["messages", "input", "system", "instructions"] {
                    notices(&about, &adapted.request[key], &sent);
                }
                known = sent.iter().map(|tool| tool.name.clone()).collect();
                renamed += known.iter().filter(|name| !NAMES.contains(&name.as_str())).count();
            }
        }
    }
    println!("{calls} calls, {renamed} of them by a name that is not the tool's own, {in_spaces} in namespaces");
    assert!(calls > 50 * rounds && renamed > 10 * rounds, "{calls} calls, {renamed} renamed");
    assert!(in_spaces > 2 * rounds, "{in_spaces} in namespaces");
}

/// If several tools of a list have the same name and are renamed, every restored call contains the index of the tool
/// that the model read. Without an index, the name belongs to a single tool.
#[test]
fn calls_to_tools_with_the_same_name_are_routed_by_index() {
    let (mut numbers, mut calls, mut by_index) = (Numbers(5), 0, 0);
    for _ in 0..100 {
        for (dialect, wire) in TARGETS {
            let mut tools: Vec<Tool> = (0..8)
                .map(|number| {
                    let name = (*numbers.of(&NAMES[..4 + number])).to_owned();
                    Tool { number, namespace: None, name, property: format!("p{number}") }
                })
                .collect();
            // A tool may have the new name of the first tool of a list.
            let options =
                ToolsOptions::new(dialect_id(dialect)).format(wire.format()).duplicate_names(DuplicateNames::Rename);
            for again in 0..2 {
                let list: Value = tools.iter().map(|tool| Wire::Responses.listed(tool)).collect();
                let sanitized = sanitize_tools(&list, &options).unwrap_or_else(|error| panic!("{list}\n{error}"));
                let about = || format!("{dialect}, {wire:?}\n{list}\n{}", sanitized.tools);
                assert!(sanitized.quarantined.is_empty(), "{}\n{:?}", about(), sanitized.quarantined);
                let sent = read(&sanitized.tools);
                assert_eq!(sent.len(), tools.len(), "{}\na tool is missing", about());
                let kept = Restore::from_json(&sanitized.restore.to_json()).expect("a restore");
                for (restore, sent) in
                    [&sanitized.restore, &kept].into_iter().flat_map(|one| sent.iter().map(move |sent| (one, sent)))
                {
                    let number = number(&sent.description).expect("a tool of the list");
                    let property = sent.property.as_deref().expect("a property");
                    let arguments = json!({ property: "x" });
                    let own = tools.iter().find(|tool| tool.number == number).expect("the tool");
                    let is_shared = tools.iter().filter(|tool| tool.name == own.name).count() > 1;
                    let alone = restore.call(&sent.name, &arguments).expect("a call");
                    // An `index` in the model's call has no effect.
                    let has_shared =
                        tools.iter().any(|one| tools.iter().filter(|tool| tool.name == one.name).count() > 1);
                    let mut stray = |value: Value| match has_shared {
                        true => with_index(value, numbers.below(8)),
                        false => value,
                    };
                    let reply = restore.reply(&stray(wire.reply(&sent.name, &arguments))).expect("a reply").reply;
                    let mut stream = restore.stream();
                    let mut events: Vec<Value> = Vec::new();
                    for event in wire.events(&sent.name, &arguments) {
                        events.extend(stream.feed(&stray(event)).expect("events"));
                    }
                    events.extend(stream.finish().expect("the rest"));
                    let given = json!({"id": "c", "name": sent.name, "arguments": arguments});
                    let client = restore.client_call(&stray(given)).expect("a call").call;
                    let found = [alone.index, index_in(&reply), index_in(&Value::Array(events)), index_in(&client)];
                    let expected = is_shared.then_some(number);
                    assert_eq!(found, [expected; 4], "{}\n`{}` of tool {number}", about(), sent.name);
                    assert_eq!(alone.name, own.name, "{}\n`{}`", about(), sent.name);
                    assert_eq!(alone.arguments, json!({ &own.property: "x" }), "{}\n`{}`", about(), sent.name);
                    calls += 1;
                    by_index += usize::from(is_shared);
                }
                // The names do not depend on the order of the list.
                let reversed: Value = list.as_array().expect("a list").iter().rev().cloned().collect();
                let backwards = read(&sanitize_tools(&reversed, &options).expect("a list").tools);
                let names = |sent: &[Read]| -> BTreeSet<(String, String)> {
                    sent.iter().map(|sent| (sent.name.clone(), sent.description.clone())).collect()
                };
                assert_eq!(names(&sent), names(&backwards), "{}\nthe names depend on the order", about());
                if again == 0 {
                    let taken = sent.get(numbers.below(sent.len())).expect("a tool").name.clone();
                    let place = numbers.below(tools.len());
                    tools[place].name = taken;
                }
            }
        }
    }
    assert!(by_index > 1000 && calls > by_index, "{calls} calls, {by_index} by index");
}

fn index_in(value: &Value) -> Option<usize> {
    match value {
        Value::Object(members) => {
            let is_call = members.contains_key("name");
            let own = members.get("index").filter(|_| is_call).and_then(Value::as_u64);
            own.and_then(|index| usize::try_from(index).ok()).or_else(|| members.values().find_map(index_in))
        }
        Value::Array(items) => items.iter().find_map(index_in),
        _ => None,
    }
}

fn with_index(value: Value, index: usize) -> Value {
    match value {
        Value::Object(members) => {
            let is_call = members.contains_key("name");
            let members = members.into_iter().map(|(key, member)| (key, with_index(member, index)));
            let own = is_call.then(|| (String::from("index"), json!(index)));
            members.chain(own).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| with_index(item, index)).collect(),
        _ => value,
    }
}

#[test]
fn calls_to_tools_of_a_list_reach_their_tools() {
    let mut numbers = Numbers(2);
    for _ in 0..100 {
        for (dialect, format) in [
            ("anthropic", ToolFormat::Anthropic),
            ("moonshot", ToolFormat::OpenaiChat),
            ("codex", ToolFormat::OpenaiResponses),
            ("gemini", ToolFormat::Gemini),
            ("bedrock", ToolFormat::Bedrock),
            ("portable", ToolFormat::Mcp),
        ] {
            let tools = tools(&mut numbers, Wire::Responses, &[]);
            let list: Vec<Value> = tools
                .iter()
                .map(|tool| match &tool.namespace {
                    Some(space) => json!({"type": "namespace", "name": space, "tools": [Wire::Responses.listed(tool)]}),
                    None => Wire::Responses.listed(tool),
                })
                .collect();
            let list = json!(list);
            let sanitized = sanitize_tools(&list, &ToolsOptions::new(dialect_id(dialect)).format(format))
                .unwrap_or_else(|error| panic!("{list}\n{error}"));
            let about = || format!("{dialect}, {format:?}\n{list}\n{}", sanitized.tools);
            for sent in read(&sanitized.tools) {
                call(&about, Wire::Responses, &sanitized.restore, &tools, &sent);
            }
        }
    }
}

/// Exchanges, which also run searches: the model calls the tools that the searches find.
#[test]
fn calls_in_exchanges_reach_their_tools() {
    let mut numbers = Numbers(3);
    for _ in 0..150 {
        let tools = tools(&mut numbers, Wire::Anthropic, &[]);
        let request = request(&mut numbers, Wire::Anthropic, &tools).to_string();
        let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
        let opened = Exchange::open("http://localhost/v1/messages", &request, &options).expect("a request");
        let Some(mut exchange) = opened else { panic!("no exchange for {request}") };
        let search = exchange.report().deferred.as_ref().and_then(|report| report.tool_search_name.clone());
        let mut rounds = 0;
        loop {
            let sent: Value = serde_json::from_str(exchange.request()).expect("JSON");
            let about = || format!("{request}\n{sent}");
            for tool in read(&sent["tools"]) {
                let Some(number) = number(&tool.description) else { continue };
                let one = tools
                    .iter()
                    .find(|one| one.number == number)
                    .unwrap_or_else(|| panic!("{}\nexpected a tool with the number {number}", about()));
                let body = Wire::Anthropic.reply(&tool.name, &json!({})).to_string();
                // A reply ends an exchange only if it has no search.
                let mut twin = Exchange::open("http://localhost/v1/messages", &request, &options)
                    .expect("a request")
                    .expect("one");
                if rounds > 0 {
                    assert_eq!(twin.reply(&searching(search.as_deref())).expect("a reply"), None);
                }
                let restored = twin
                    .reply(&body)
                    .expect("a reply")
                    .unwrap_or_else(|| panic!("{}\n`{}` is not a search", about(), tool.name));
                let restored: Value = serde_json::from_str(&restored).expect("JSON");
                let calls =
                    restored["content"].as_array().expect("content").iter().filter(|block| block["type"] == "tool_use");
                let called: Vec<&str> = calls.filter_map(|block| block["name"].as_str()).collect();
                assert_eq!(called, [one.name.as_str()], "{}\n`{}`, tool {number}", about(), tool.name);
            }
            rounds += 1;
            if rounds > 1
                || search.is_none()
                || exchange.reply(&searching(search.as_deref())).expect("a reply").is_some()
            {
                break;
            }
        }
    }
}

fn searching(name: Option<&str>) -> String {
    let block = json!({"type": "tool_use", "id": "s", "name": name, "input": {"query": "a tool", "max_results": 20}});
    json!({"stop_reason": "tool_use", "content": [block]}).to_string()
}

/// Checks the promise for requests whose history adds tools, in every format, with every target, native construct and
/// option. The request that was sent determines which tool a name belongs to. `ROUTING_CASES` increases the number of
/// cases.
#[test]
fn calls_to_tools_that_the_history_adds_reach_their_tools() {
    let cases: usize = std::env::var("ROUTING_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_500);
    let seed: u64 = std::env::var("ROUTING_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    let (mut numbers, mut calls, mut refused, mut wrong) = (Numbers(seed), 0, 0, Vec::new());
    let mut brought = 0;
    for case in 0..cases {
        let source = *numbers.of(&[Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Responses, Wire::Responses]);
        let (request, made) = history::request(&mut numbers, source);
        let (deferred, target) = history::deferred(&mut numbers, source);
        let about = format!("case {case}, {deferred:?}");
        let is_plain = numbers.one_in(4);
        let (sent, restore, target, about) = if numbers.one_in(3) {
            match apply_deferred_loading(&request, &deferred) {
                Ok(done) => {
                    let restore = done.restore().expect("a report").clone();
                    (done.request, restore, target, about)
                }
                Err(error) => {
                    assert_eq!(error.code(), Code::InvalidRequest, "{about}\n{request}\n{error}");
                    refused += 1;
                    continue;
                }
            }
        } else {
            let (deferred, target) = if is_plain { (None, source) } else { (Some(deferred), target) };
            let dialects: Vec<&str> =
                TARGETS.iter().filter(|(_, wire)| *wire == target).map(|(dialect, _)| *dialect).collect();
            let dialect = *numbers.of(&dialects);
            let options = history::adapting(dialect, source.format(), deferred);
            let about = format!("{about}, {dialect}, plain: {is_plain}");
            match adapt_request(&request, &options) {
                Ok(done) => (done.request, done.restore, target, about),
                Err(error) => {
                    assert_eq!(error.code(), Code::InvalidRequest, "{about}\n{request}\n{error}");
                    refused += 1;
                    continue;
                }
            }
        };
        let read = history::sent(&sent);
        for tool in &read {
            let name = (&tool.namespace, &tool.name);
            let marks: BTreeSet<Option<usize>> =
                read.iter().filter(|other| (&other.namespace, &other.name) == name).map(|other| other.mark).collect();
            let tools: Vec<&history::Definition> =
                marks.iter().flatten().filter_map(|mark| made.iter().find(|one| one.mark == *mark)).collect();
            assert!(!marks.contains(&Some(999)), "{about}\n{request}\n{sent}\na result brought a tool");
            let is_one_tool = tools.iter().all(|one| one.is_same_tool(tools[0])) && tools.len() == marks.len();
            if tool.mark.is_none() && marks.len() == 1 {
                // A search function, which is not one of the client's tools.
                continue;
            }
            if !is_one_tool {
                wrong.push(format!("{about}\n{request}\n{sent}\n{name:?} belongs to several tools: {marks:?}"));
                continue;
            }
            let (made, missed) = calls::call((source, target), &restore, tool, &tools);
            calls += made;
            brought += usize::from(tool.is_loaded);
            wrong.extend(missed.iter().map(|one| {
                format!("{about}, {source:?} to {target:?}\n{request}\n{sent}\n{}\n{tool:?}\n{one}", restore.to_json())
            }));
        }
    }
    println!(
        "{calls} calls in {cases} requests ({refused} refused, {brought} of tools that were loaded), {} misrouted",
        wrong.len()
    );
    for one in wrong.iter().take(std::env::var("ROUTING_SHOWN").map_or(2, |shown| shown.parse().unwrap_or(2))) {
        println!("{one}\n");
    }
    assert!(wrong.is_empty(), "{} of {calls} calls are misrouted, the first:\n{}", wrong.len(), wrong[0]);
    assert!(calls > 10 * cases && refused < cases / 4 && brought > cases / 4, "{calls}, {refused}, {brought}");
}

fn mutations(value: &Value) -> Vec<Value> {
    let odd =
        [json!(null), json!(1), json!("x"), json!([]), json!({}), json!({"name": "x", "namespace": 1}), json!("\u{0}")];
    let mut found: Vec<Value> = odd.to_vec();
    match value {
        Value::Object(members) => {
            for key in members.keys() {
                let mut without = members.clone();
                without.shift_remove(key);
                found.push(Value::Object(without));
                for inner in mutations(&members[key]) {
                    let mut with = members.clone();
                    with.insert(key.clone(), inner);
                    found.push(Value::Object(with));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for inner in mutations(item) {
                    let mut with = items.clone();
                    with[at] = inner;
                    found.push(Value::Array(with));
                }
            }
        }
        _ => {}
    }
    found
}

/// A `restore` that was modified is refused, or applied as written.
#[test]
fn changed_restore_data_causes_no_panic() {
    let tools = json!([
        {"type": "namespace", "name": "a.b", "tools": [{"type": "custom", "name": "c"},
            {"type": "function", "name": "d", "parameters": {"type": "object", "properties": {"$ref": {"type": "string"}}}}]},
        {"type": "function", "name": "e.f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    ]);
    let request = json!({"model": "m", "input": "go", "tools": tools});
    let mut options = AdaptOptions::new(Dialect::CODEX);
    options.tools.format = Some(ToolFormat::OpenaiResponses);
    options.tools.repair = Some(RepairOptions::default());
    let adapted = adapt_request(&request, &options).expect("a request");
    let restore: Value = serde_json::from_str(&adapted.restore.to_json()).expect("JSON");
    let (mut taken, mut refused) = (0, 0);
    for mutated in mutations(&restore) {
        match Restore::from_json(&mutated.to_string()) {
            Ok(restore) => {
                taken += 1;
                for tool in read(&adapted.request["tools"]) {
                    restore.call(&tool.name, &json!({"$ref": "1", "n": "2"})).expect("a call");
                    for namespace in [json!(null), json!("a.b"), json!(tool.name)] {
                        let call = json!({"type": "function_call", "call_id": "c", "namespace": namespace, "name": tool.name, "arguments": "{}"});
                        restore.client_call(&call).expect("a call");
                        restore.reply(&json!({"output": [call]})).expect("a reply");
                    }
                }
            }
            Err(error) => {
                let known = [Code::InvalidValue, Code::UnknownDialect, Code::InvalidOption, Code::UnknownOption];
                assert!(known.contains(&error.code()), "{mutated}\n{error}");
                refused += 1;
            }
        }
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > 50 && refused > 50, "{taken} taken, {refused} refused");
}
