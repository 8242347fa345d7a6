//! Conversations with more tools than the API accepts, in all six formats: the model searches, the search is answered,
//! and the found tools are declared in every later turn.

use serde_json::{json, Value};
use toolwire::{
    adapt_request, answer_tool_search,
    options::{HistoryPairs, Overflow},
    AdaptOptions, SearchOptions,
};

use super::{
    fakes,
    generator::{calls, choose, conversation, history_of, list, tool, Backend, EVERY_FORMAT},
    Numbers,
};

use crate::dialect_id;

const MAX_TOOLS: usize = 8;
const TURNS: usize = 3;

type Put = fn(&str, &mut Value);

/// Variants of a request, each with its name.
const FORMS: [(&str, Put); 5] = [
    ("unchanged", |_, _| {}),
    ("two groups, or cache points", |api, request| {
        let all = list(api, request).clone();
        if api == "gemini" {
            let (first, second) = all.split_at(3);
            request["tools"] =
                json!([{ "computerUse": {} }, { "functionDeclarations": first }, { "functionDeclarations": second }]);
        } else if api == "bedrock" {
            let point = json!({ "cachePoint": { "type": "default" } });
            let tools = all.into_iter().enumerate();
            let tools = tools.flat_map(|(at, tool)| if at % 9 == 0 { vec![tool, point.clone()] } else { vec![tool] });
            request["toolConfig"]["tools"] = tools.collect();
        }
    }),
    ("one entry, and a prompt of one part", |api, request| {
        if api == "gemini" {
            request["tools"] = request["tools"][0].clone();
            request["systemInstruction"] = json!({ "parts": { "text": "Be brief." } });
        }
    }),
    ("functions outside of groups", |api, request| {
        if api == "gemini" {
            request["tools"] = request["tools"][0]["functionDeclarations"].clone();
        }
    }),
    ("a choice of a deferred tool", |api, request| match api {
        "gemini" => {
            let choice = json!({ "mode": "ANY", "allowedFunctionNames": ["tool_39"] });
            request["toolConfig"] = json!({ "functionCallingConfig": choice });
        }
        "gemini-interactions" => {
            let choice = json!({ "allowed_tools": { "mode": "any", "tools": ["tool_39"] } });
            request["generation_config"] = json!({ "tool_choice": choice });
        }
        _ => choose(api, request, Some("tool_39")),
    }),
];

fn declared_tools(api: &str, request: &Value) -> Vec<Value> {
    match api {
        "gemini" => {
            let entries = match &request["tools"] {
                Value::Array(entries) => entries.clone(),
                entry => vec![entry.clone()],
            };
            let groups = entries.iter().filter_map(|entry| entry["functionDeclarations"].as_array());
            groups.flatten().cloned().collect()
        }
        _ => {
            let mut request = request.clone();
            let tools = list(api, &mut request).clone();
            tools.into_iter().filter(|entry| entry.get("cachePoint").is_none()).collect()
        }
    }
}

/// Returns a search call as a message of the model, and the call itself.
fn search(api: &str, id: &str, query: &str) -> (Value, Value) {
    let mut turn = calls(api, &[(id.into(), "tool_search".into())], &json!({ "query": query }));
    let message = turn.remove(0);
    let call = match api {
        "anthropic" | "bedrock" => message["content"][0].clone(),
        "gemini" => message["parts"][0].clone(),
        "openai-chat" => message["tool_calls"][0].clone(),
        _ => message.clone(),
    };
    (message, call)
}

fn search_result(api: &str, answer: Value) -> Value {
    match api {
        "anthropic" | "bedrock" => json!({"role": "user", "content": [answer]}),
        "gemini" => json!({"role": "user", "parts": [answer]}),
        _ => answer,
    }
}

fn play(backend: Backend, numbers: &mut Numbers, put: Put, about: &str) {
    let (api, dialect, model) = backend;
    let mut request = conversation(backend, numbers);
    let all: Vec<Value> = (0..40).map(|number| tool(api, &format!("tool_{number}"))).collect();
    list(api, &mut request).extend(all);
    put(api, &mut request);
    let is_chosen = request.to_string().matches("tool_39").count() > 1;
    let mut options = AdaptOptions::new(dialect_id(dialect)).model(model).overflow(Overflow::Defer);
    options = options.history_pairs(HistoryPairs::Complete);
    options.tools = options.tools.max_tools(MAX_TOOLS);
    let mut before: Option<(Vec<Value>, Vec<Value>)> = None;
    // A tool that the choice forces replaces a found tool.
    for turn in 0..=(if is_chosen { 1 } else { TURNS }) {
        let adapted = adapt_request(&request, &options).unwrap_or_else(|error| panic!("{about}: {error}: {request}"));
        let sent = &adapted.request;
        assert_eq!(fakes::check(backend, sent), Ok(()), "{about}: {sent}");
        let text = sent.to_string();
        for word in ["tool_reference", "defer_loading"] {
            assert!(!text.contains(word), "{about}: no API knows `{word}`: {sent}");
        }
        let again = adapt_request(sent, &options).unwrap_or_else(|error| panic!("{about}: {error}: {sent}"));
        assert_eq!(again.request, *sent, "{about}: the tools that were sent are kept");
        assert!(!text.contains("cachePoint\":{\"type\":\"default\"}},{\"cachePoint"), "{about}: {sent}");
        assert!(request["systemInstruction"].is_null() || text.contains("Be brief."), "{about}: {sent}");
        let tools = declared_tools(api, sent);
        assert!(tools.len() <= MAX_TOOLS, "{about}: {tools:?}");
        let has = |name: &str| tools.iter().any(|tool| tool.to_string().contains(&format!("\"{name}\"")));
        assert!(has("tool_search"), "{about}: {tools:?}");
        assert!(!is_chosen || has("tool_39"), "{about}: the choice can be kept: {tools:?}");
        let history = sent[history_of(api)].as_array().expect("a history").clone();
        if let Some((tools_before, history_before)) = &before {
            // A forced tool is loaded last, so it follows the found tools.
            let prefix = tools_before.len() - usize::from(is_chosen);
            assert!(tools.starts_with(&tools_before[..prefix]), "{about}: the list keeps its prefix: {tools:?}");
            assert!(history.starts_with(history_before), "{about}: the history keeps its prefix: {sent}");
            let found = tools.iter().any(|tool| tool.to_string().contains(&format!("\"tool_{}\"", 30 + turn)));
            let room = MAX_TOOLS / 4;
            assert_eq!(found, turn <= room, "{about}, turn {turn}: found tools are declared: {tools:?}");
        }
        before = Some((tools, history));
        let wanted = format!("tool_{}", 31 + turn);
        let (message, call) = search(api, &format!("search_{turn}"), &format!("select:{wanted}"));
        let answer = answer_tool_search(&call, &request, &SearchOptions::default()).expect(about).expect("a search");
        let history = request[history_of(api)].as_array_mut().expect("a history");
        history.extend([message, search_result(api, answer)]);
    }
}

#[test]
fn tools_that_a_search_found_stay_declared() {
    let mut numbers = Numbers(5);
    for number in 0..300 {
        let backend = EVERY_FORMAT[number % EVERY_FORMAT.len()];
        let (form, put) = FORMS[number / EVERY_FORMAT.len() % FORMS.len()];
        play(backend, &mut numbers, put, &format!("{number}, {form}, {backend:?}"));
    }
}
