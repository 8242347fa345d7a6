//! `generate`: generated requests, the same on every machine: conversations in which tools are added and removed, and
//! lists with colliding tool names, in every format.

use std::io::Write;

use serde_json::{json, Value};

use crate::{
    generated, render,
    script::{cuts, generate},
    wire::Wire,
    Numbers,
};

const FORMATS: [Wire; 4] = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini];
const SOURCES: [&str; 3] = ["anthropic", "openai-responses", "kimi"];

/// Writes this many rows, each with a `request`.
pub(crate) fn run(count: &str, out: &mut impl Write) -> Result<(), String> {
    let count: usize = count.parse().map_err(|_| format!("expected a number of requests, found `{count}`"))?;
    let (mut numbers, mut steps) = (generated::Numbers(13), Numbers(17));
    let mut known: Vec<String> = Vec::new();
    for at in 0..count {
        let request = if at % 2 == 0 { conversation(&mut steps) } else { collisions(&mut numbers, &mut known) };
        let row = json!({"request": request});
        writeln!(out, "{row}").map_err(|error| format!("cannot write: {error}"))?;
    }
    Ok(())
}

/// Generates the beginning of a conversation, up to a point at which a client sends it.
fn conversation(numbers: &mut Numbers) -> Value {
    let source = SOURCES[numbers.below(SOURCES.len())];
    let steps = generate(numbers, source == "anthropic");
    let cuts = cuts(&steps);
    let cut = cuts[numbers.below(cuts.len())];
    render::request(source, &steps[..cut])
}

/// Generates a list of tools with colliding names. Some of the names occurred in earlier requests.
fn collisions(numbers: &mut generated::Numbers, known: &mut Vec<String>) -> Value {
    let format = *numbers.of(&FORMATS);
    let tools = generated::tools(numbers, format, known);
    known.extend(tools.iter().map(|tool| tool.name.clone()));
    let surplus = known.len().saturating_sub(40);
    known.drain(..surplus);
    let mut request = generated::request(numbers, format, &tools);
    if numbers.one_in(3) {
        let choice = numbers.of(&tools);
        request["tool_choice"] = match format {
            Wire::Anthropic => json!({"type": "tool", "name": choice.name}),
            Wire::Chat => json!({"type": "function", "function": {"name": choice.name}}),
            Wire::Responses => match &choice.namespace {
                Some(namespace) => json!({"type": "function", "namespace": namespace, "name": choice.name}),
                None => json!({"type": "function", "name": choice.name}),
            },
            Wire::Gemini => return request,
        };
    }
    request
}
