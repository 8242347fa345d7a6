//! Properties of growing conversations, from every format to every backend: the nine invariants of the translation,
//! each compared with the known state of a generated conversation.

use serde_json::{json, Value};
use toolwire::{apply_deferred_loading, reports::DeferredReport};

use super::{
    fakes, options,
    render::request,
    script::{cuts, generate, schema, words, Step, Truth, BASE, SEARCH},
    view::View,
    Numbers, TARGETS,
};

const SEEDS: u64 = 8;
const SOURCES: [&str; 4] = ["anthropic", "openai-responses", "kimi", "gemini-interactions"];

/// A backend, and the options for requests to it.
pub(crate) struct Backend {
    pub(crate) target: &'static str,
    pub(crate) native: &'static str,
    pub(crate) options: Value,
}

pub(crate) fn backends() -> Vec<Backend> {
    let mut backends = Vec::new();
    for (target, natives) in TARGETS {
        for native in natives {
            for removals in ["withdraw", "notice"] {
                let options = json!({"target": target, "native": native, "removals": removals, "order": "append"});
                backends.push(Backend { target, native, options });
            }
        }
    }
    backends
}

pub(crate) struct Sent {
    pub(crate) request: Value,
    report: DeferredReport,
    view: View,
}

pub(crate) fn sent(source: &Value, backend: &Backend) -> Result<Sent, String> {
    let done = apply_deferred_loading(source, &options(&backend.options)).map_err(|e| e.to_string())?;
    let view = View::of(&done.request);
    fakes::check(backend.target, backend.native, &done.request, &done.report().expect("a report").betas)
        .map_err(|text| format!("refused: {text}\n in {}", done.request))?;
    let report = done.report().map_err(|e| e.to_string())?.clone();
    Ok(Sent { request: done.request, report, view })
}

fn steps_of(source: &str, seed: u64, with_changes: bool) -> Vec<Step> {
    let mut steps = generate(&mut Numbers(seed), with_changes);
    if source != "gemini-interactions" {
        return steps;
    }
    // Without additions, fewer tools can be called.
    let mut known: Vec<String> = BASE.iter().chain([&SEARCH]).map(|name| (*name).to_owned()).collect();
    steps.retain_mut(|step| match step {
        Step::User(_) | Step::Assistant(_) => true,
        Step::Calls(_, calls) => {
            calls.retain(|call| known.contains(&call.name));
            known.extend(calls.iter().filter_map(|call| call.found.clone()).flatten());
            !calls.is_empty()
        }
        Step::System(_) | Step::Add { .. } | Step::Remove(_) => false,
    });
    steps
}

/// Returns a description of the fault in a request that has to contain these steps.
pub(crate) fn fault(steps: &[Step], truth: &Truth, backend: &Backend, sent: &Sent) -> Option<String> {
    // A tool whose removal is only announced as text still exists for the API.
    let only_noticed = backend.options["removals"] == "notice";
    let mut found = sent.view.available.clone();
    if only_noticed {
        found.retain(|name, _| !truth.gone.contains(name));
    }
    let expected =
        truth.available.iter().map(|(name, version)| (name.clone(), json!([words(name, *version), schema()])));
    let expected = expected.collect();
    if found != expected {
        return Some(format!("can be called: {found:?}\n not {expected:?}"));
    }
    let calls = steps.iter().filter_map(|step| if let Step::Calls(_, calls) = step { Some(calls) } else { None });
    let calls: Vec<_> = calls
        .flatten()
        .map(|call| match call.found {
            Some(_) => (String::new(), call.arguments(), None),
            None => (call.name.clone(), call.arguments(), Some(call.result.clone())),
        })
        .collect();
    if sent.view.calls != calls {
        return Some(format!("called: {:?}\n not {calls:?}", sent.view.calls));
    }
    let text = sent.request.to_string();
    let message = steps.iter().filter_map(|step| match step {
        Step::User(text) | Step::Assistant(text) | Step::System(text) | Step::Calls(Some(text), _) => Some(text),
        _ => None,
    });
    let mut at = 0;
    for message in message {
        // Every text must occur exactly once and in order; a client's text between other messages may move.
        let Some(place) = text[at..].find(message.as_str()).or_else(|| text.find(message.as_str())) else {
            return Some(format!("`{message}` is missing"));
        };
        if text.matches(message.as_str()).count() != 1 {
            return Some(format!("`{message}` occurs twice"));
        }
        if !message.starts_with("note") {
            at += place.min(text.len() - at);
        }
    }
    // Loads must keep their positions if the backend has positions for them.
    let has_places = backend.native != "none" && backend.native != "references";
    for (name, place) in &sent.view.places {
        if has_places && !truth.changed && truth.places.get(name) != Some(place) {
            return Some(format!("`{name}` is loaded after {place} calls, not {:?}", truth.places.get(name)));
        }
    }
    None
}

/// Returns a description of the fault between a request and the next one of the conversation.
fn break_of_prefix(before: &Sent, after: &Sent, changed: bool, backend: &Backend) -> Option<String> {
    let warned = after.report.warnings.iter().any(|warning| warning.code == "prefix-changed");
    if warned {
        // In Gemini Interactions, an addition changes the list.
        return (!changed && backend.native != "interactions")
            .then(|| "a warning that the prefix changed, although nothing was removed".to_owned());
    }
    let history = |sent: &Sent| {
        let has_items = ["openai-responses", "gemini-interactions"].contains(&backend.target);
        sent.request[if has_items { "input" } else { "messages" }].as_array().cloned().unwrap_or_default()
    };
    let (old, new) = (history(before), history(after));
    if let Some((old, new)) = old.iter().zip(&new).find(|(old, new)| old != new) {
        return Some(format!("the prefix changed without a warning: {old}\n is now {new}"));
    }
    let tools = |sent: &Sent| -> Vec<Value> {
        let tools = sent.request["tools"].as_array().cloned().unwrap_or_default();
        tools.into_iter().filter(|tool| tool["defer_loading"] != true).collect()
    };
    let (old, new) = (tools(before), tools(after));
    let holds = if backend.native == "none" { new.starts_with(&old) } else { new == old };
    (!holds || old.len() > new.len()).then(|| format!("the tools changed without a warning: {old:?}\n are now {new:?}"))
}

/// Sends the conversation request by request. Returns the number of requests, or a description of a fault.
fn run(source: &str, steps: &[Step], backend: &Backend) -> Result<usize, String> {
    let mut before: Option<Sent> = None;
    let cuts = cuts(steps);
    for cut in &cuts {
        let (steps, truth) = (&steps[..*cut], Truth::of(&steps[..*cut]));
        let about = |text: String| format!("after {cut} steps: {text}\n of {steps:?}");
        let now = sent(&request(source, steps), backend).map_err(about)?;
        let broken = before.as_ref().and_then(|before| break_of_prefix(before, &now, truth.changed, backend));
        if let Some(text) = fault(steps, &truth, backend, &now).or(broken) {
            return Err(about(format!("{text}\n in {}", now.request)));
        }
        before = Some(now);
    }
    Ok(cuts.len())
}

#[test]
fn growing_conversations_keep_the_invariants() {
    let (mut conversations, mut requests) = (0, 0);
    for source in SOURCES {
        for seed in 0..SEEDS {
            let steps = steps_of(source, seed, source == "anthropic");
            for backend in backends() {
                match run(source, &steps, &backend) {
                    Ok(count) => requests += count,
                    Err(text) => panic!("seed {seed} of {source} with {}: {text}", backend.options),
                }
            }
            conversations += 1;
        }
    }
    println!("{conversations} conversations, {requests} requests");
    assert!(requests > conversations * 100, "each conversation has several requests, and is sent to every backend");
}

/// Returns a backend with the format's own native constructs, to which a conversation returns.
fn home(source: &str) -> Backend {
    let (target, native) = match source {
        "anthropic" => ("anthropic", "inline"),
        "openai-responses" => ("openai-responses", "tool-search"),
        "gemini-interactions" => ("gemini-interactions", "interactions"),
        _ => ("openai-chat", "kimi"),
    };
    Backend { target, native, options: json!({"target": target, "native": native}) }
}

#[test]
fn converting_there_and_back_gives_the_same_conversation() {
    let mut ways = 0;
    for source in SOURCES {
        for seed in 0..SEEDS {
            // A removal becomes text, and text is never converted back.
            let steps = steps_of(source, seed, false);
            let first = request(source, &steps);
            let truth = Truth::of(&steps);
            for backend in backends().iter().filter(|backend| backend.native != "none") {
                let about = format!("seed {seed} of {source} with {}", backend.options);
                let there = sent(&first, backend).unwrap_or_else(|text| panic!("{about}: {text}"));
                let back = sent(&there.request, &home(source)).unwrap_or_else(|text| panic!("{about}, back: {text}"));
                let mut fault = fault(&steps, &truth, &home(source), &back);
                // A synthesized search returns as a search, which is not one of the conversation's calls.
                if backend.native == "references" || source == "anthropic" && backend.native == "none" {
                    fault = fault.filter(|fault| !fault.contains("called: ") && !fault.contains("is loaded after"));
                }
                assert_eq!(fault, None, "{about}: {}\n was converted back to {}", there.request, back.request);
                ways += 1;
            }
        }
    }
    println!("{ways} conversations converted there and back");
}
