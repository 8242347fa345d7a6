//! What holds of growing conversations, from every format to every backend: the nine invariants of the hand-off, each
//! against what is true of a made-up conversation.

use serde_json::{json, Value};
use toolwire::{apply_deferred_loading_with_report, reports::DeferredReport};

use super::{
    fakes, options,
    render::request,
    script::{cuts, generate, schema, words, Step, Truth},
    view::View,
    Numbers, TARGETS,
};

/// How many conversations of each format.
const SEEDS: u64 = 60;
const SOURCES: [&str; 3] = ["anthropic", "openai-responses", "kimi"];

/// A backend, and how a request is to be written for it.
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

/// A request as a backend gets it.
struct Sent {
    request: Value,
    report: DeferredReport,
    view: View,
}

fn sent(source: &Value, backend: &Backend) -> Result<Sent, String> {
    let done = apply_deferred_loading_with_report(source, &options(&backend.options)).map_err(|e| e.to_string())?;
    let view = View::of(&done.request);
    fakes::check(backend.target, backend.native, &done.request, &done.report.betas)
        .map_err(|text| format!("refused: {text}\n in {}", done.request))?;
    Ok(Sent { request: done.request, report: done.report, view })
}

/// What is wrong with a request that holds some steps.
fn fault(steps: &[Step], truth: &Truth, backend: &Backend, sent: &Sent) -> Option<String> {
    // What the notice alone takes away is still there for the API.
    let only_said = backend.options["removals"] == "notice";
    let mut found = sent.view.available.clone();
    if only_said {
        found.retain(|name, _| !truth.gone.contains(name));
    }
    let expected = truth.available.iter().map(|(name, version)| (name.clone(), json!([words(name, *version), schema()])));
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
    let said = steps.iter().filter_map(|step| match step {
        Step::User(text) | Step::Assistant(text) | Step::System(text) | Step::Calls(Some(text), _) => Some(text),
        _ => None,
    });
    let mut at = 0;
    for said in said {
        // Once, and in order; what the client says between others' words may wait for its place.
        let Some(place) = text[at..].find(said.as_str()).or_else(|| text.find(said.as_str())) else {
            return Some(format!("`{said}` is gone"));
        };
        if text.matches(said.as_str()).count() != 1 {
            return Some(format!("`{said}` stands there twice"));
        }
        if !said.starts_with("note") {
            at += place.min(text.len() - at);
        }
    }
    // Loads keep their places where they have any.
    let has_places = backend.native != "none" && backend.native != "references";
    for (name, place) in &sent.view.places {
        if has_places && !truth.changed && truth.places.get(name) != Some(place) {
            return Some(format!("`{name}` is loaded after {place} calls, not {:?}", truth.places.get(name)));
        }
    }
    None
}

/// What is wrong between a request and the next one of the conversation.
fn break_of_prefix(before: &Sent, after: &Sent, changed: bool, backend: &Backend) -> Option<String> {
    let warned = after.report.warnings.iter().any(|warning| warning.code == "prefix_changed");
    if warned {
        return (!changed).then(|| "a warning that the prefix changed, where nothing was taken away".to_owned());
    }
    let history = |sent: &Sent| {
        let key = if backend.target == "openai-responses" { "input" } else { "messages" };
        sent.request[key].as_array().cloned().unwrap_or_default()
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

#[test]
fn explore_properties() {
    use std::collections::BTreeMap;
    let mut seen: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let show = std::env::var("SHOW").unwrap_or_default();
    let (mut runs, mut conversations) = (0, 0);
    for source in SOURCES {
        for seed in 0..SEEDS {
            let steps = generate(&mut Numbers(seed), source == "anthropic");
            conversations += 1;
            for backend in backends() {
                let mut before: Option<Sent> = None;
                for cut in cuts(&steps) {
                    let (steps, truth) = (&steps[..cut], Truth::of(&steps[..cut]));
                    let input = request(source, steps);
                    runs += 1;
                    let mut note = |kind: &str, text: String| {
                        let key = format!("{source} -> {} {} {}: {kind} {}", backend.target, backend.native, backend.options["removals"], text.chars().filter(|c| !c.is_ascii_digit()).take(70).collect::<String>());
                        let e = seen.entry(key).or_insert((0, format!("{text}\n  seed {seed} cut {cut}\n  {steps:?}\n  {input}")));
                        e.0 += 1;
                    };
                    match sent(&input, &backend) {
                        Err(text) => { note("", text); before = None; }
                        Ok(now) => {
                            if let Some(text) = fault(steps, &truth, &backend, &now) { note("fault", format!("{text}\n {}", now.request)); }
                            if let Some(before) = &before {
                                if let Some(text) = break_of_prefix(before, &now, truth.changed, &backend) { note("prefix", format!("{text}\n {}\n {}", before.request, now.request)); }
                            }
                            before = Some(now);
                        }
                    }
                }
            }
        }
    }
    println!("{conversations} conversations, {runs} runs");
    for (key, (count, sample)) in seen {
        println!("{count} {key}");
        if !show.is_empty() && key.contains(&show) { println!("{sample}"); }
    }
}
