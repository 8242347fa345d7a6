//! A conversation that moves from API to API and finally returns to its first API. Each turn uses the native constructs
//! of the current API.

use std::collections::BTreeSet;

use serde_json::{json, Value};

use super::{
    properties::{fault, sent, Backend},
    render::{self, foreign, responses_tool},
    script::{generate, Step, Truth, DEFERRED, SEARCH},
    Numbers,
};

/// The APIs in order, with one turn at each. Two of them require synthesized exchanges.
const STOPS: [(&str, &str); 11] = [
    ("openai-responses", "tool-search"),
    ("openai-chat", "kimi"),
    ("openai-responses", "additional-tools"),
    ("anthropic", "references"),
    ("openai-chat", "kimi"),
    ("anthropic", "references"),
    ("anthropic", "changes"),
    ("openai-chat", "none"),
    ("openai-responses", "none"),
    ("openai-chat", "kimi"),
    ("anthropic", "inline"),
];

fn backend((target, native): (&'static str, &'static str)) -> Backend {
    let options = json!({"target": target, "native": native, "toolSearchName": SEARCH, "serverHistory": "split"});
    Backend { target, native, options }
}

/// Returns the steps of the turns. Each turn begins with a user message.
fn turns(seed: u64) -> Vec<Vec<Step>> {
    let mut turns: Vec<Vec<Step>> = Vec::new();
    for more in 0..4 {
        // No id and no text may occur in two parts.
        let steps = generate(&mut Numbers(seed * 4 + more), false);
        for step in steps {
            let step = with_part_number(step, more);
            match turns.last_mut().filter(|_| !matches!(step, Step::User(_))) {
                Some(turn) => turn.push(step),
                None => turns.push(vec![step]),
            }
        }
        // The last message of a part has no answer.
        turns.pop();
    }
    turns
}

fn with_part_number(step: Step, part: u64) -> Step {
    let text = |text: String| format!("part {part}, {text}");
    match step {
        Step::User(message) => Step::User(text(message)),
        Step::Assistant(message) => Step::Assistant(text(message)),
        Step::System(message) => Step::System(text(message)),
        Step::Calls(message, mut calls) => {
            for call in &mut calls {
                call.id = format!("{}_{part}", call.id);
                call.result = text(core::mem::take(&mut call.result));
            }
            Step::Calls(message.map(text), calls)
        }
        other => other,
    }
}

/// Returns the part of the turn that the API can represent. Each tool of the part is loaded once.
fn possible(turn: Vec<Step>, (target, native): (&str, &str), before: &[Step]) -> Vec<Step> {
    let loads = native != "none";
    let adds = loads && native != "references";
    let mut known: BTreeSet<String> = Truth::of(before).available.into_keys().collect();
    let mut out = Vec::new();
    for step in turn {
        match step {
            Step::Calls(text, mut calls) => {
                calls.retain(|call| loads || call.found.is_none());
                for found in calls.iter_mut().filter_map(|call| call.found.as_mut()) {
                    found.retain(|name| known.insert(name.clone()));
                }
                if !calls.is_empty() {
                    out.push(Step::Calls(text, calls));
                }
            }
            Step::Add { name, .. } if adds && known.insert(name.clone()) => {
                let by_value = native != "changes" || target != "anthropic";
                let listed = DEFERRED.contains(&name.as_str());
                if by_value || listed {
                    out.push(Step::Add { name, version: by_value.then_some(0) });
                }
            }
            Step::Add { .. } => {}
            step => out.push(step),
        }
    }
    out
}

/// Writes the turn as the API's clients do.
fn go_on(request: &mut Value, turn: &[Step], (target, native): (&str, &str)) {
    let key = if target == "openai-responses" { "input" } else { "messages" };
    let mut known = brought(request);
    if target == "anthropic" && native != "none" {
        list_deferred(request);
    }
    let mut history = request[key].as_array().cloned().expect("a history");
    for step in turn {
        match (target, native) {
            ("anthropic", _) => render::anthropic(step, &mut history),
            ("openai-responses", "additional-tools") => with_items(step, &mut history, &mut known),
            ("openai-responses", _) => render::responses(step, &mut history, &mut known),
            _ => render::kimi(step, &mut history, &mut known),
        }
    }
    request[key] = Value::Array(history);
}

fn brought(request: &Value) -> BTreeSet<String> {
    let history = request.get("input").unwrap_or(&request["messages"]).as_array().cloned().unwrap_or_default();
    let tools = history.iter().filter_map(|item| item["tools"].as_array()).flatten();
    tools.filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned)).collect()
}

fn list_deferred(request: &mut Value) {
    let tools = request["tools"].as_array_mut().expect("tools");
    for name in DEFERRED {
        if !tools.iter().any(|tool| tool["name"] == name) {
            let mut tool = render::anthropic_tool(name, 0);
            tool["defer_loading"] = json!(true);
            tools.push(tool);
        }
    }
}

/// Writes a step for a Responses backend without searches: the client's search is a function, and an item adds the
/// tools that it found.
fn with_items(step: &Step, out: &mut Vec<Value>, known: &mut BTreeSet<String>) {
    let Step::Calls(text, calls) = step else { return render::responses(step, out, known) };
    let mut plain = calls.clone();
    let found: Vec<String> = plain.iter_mut().filter_map(|call| call.found.take()).flatten().collect();
    render::responses(&Step::Calls(text.clone(), plain), out, known);
    let new: Vec<Value> =
        found.iter().filter(|name| known.insert((*name).clone())).map(|n| responses_tool(n, 0)).collect();
    if !new.is_empty() {
        out.push(json!({"type": "additional_tools", "role": "developer", "tools": new}));
    }
}

#[test]
fn conversation_survives_every_backend_in_turn() {
    let mut hops = 0;
    for seed in 0..12 {
        let mut turns = turns(seed).into_iter();
        let mut steps = turns.next().expect("a turn");
        let mut request = render::request("anthropic", &steps);
        // Without native constructs, the tools of earlier turns are in the list, so their positions are unknown.
        for stop in STOPS.into_iter().chain([("anthropic", "inline")]) {
            let about = format!("seed {seed}, at {stop:?}");
            let backend = backend(stop);
            let mut now = sent(&request, &backend).unwrap_or_else(|text| panic!("{about}: {text}\n of {request}"));
            let fault = fault(&steps, &Truth::of(&steps), &backend, &now);
            assert_eq!(fault, None, "{about}: {}\n of {request}", now.request);
            let turn = possible(turns.next().unwrap_or_default(), stop, &steps);
            go_on(&mut now.request, &turn, stop);
            steps.extend(turn);
            request = now.request;
            hops += 1;
        }
        assert!(!request.to_string().contains(&foreign("call_")), "an id that Anthropic does not accept");
    }
    println!("{hops} hand-overs");
}
