//! Conversations with more tools than the API takes, in all six formats: the model searches, the search is answered,
//! and what was found is declared in every later turn.

use serde_json::{json, Value};
use toolwire::{
    adapt_request, answer_tool_search,
    options::{HistoryPairs, Overflow},
    AdaptOptions, SearchOptions,
};

use super::{
    fakes,
    generator::{calls, conversation, history_of, list, tool, Backend, EVERY_FORMAT},
    Numbers,
};

/// The maximum number of tools.
const MOST: usize = 8;
const TURNS: usize = 3;

/// Returns the tools that a request declares, in order.
fn declared(api: &str, request: &Value) -> Vec<Value> {
    let mut request = request.clone();
    list(api, &mut request).clone()
}

/// Returns the call of a search as a message of the model, and the call itself.
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

/// Returns the answer of a search as a message.
fn answered(api: &str, answer: Value) -> Value {
    match api {
        "anthropic" | "bedrock" => json!({"role": "user", "content": [answer]}),
        "gemini" => json!({"role": "user", "parts": [answer]}),
        _ => answer,
    }
}

fn play(backend: Backend, numbers: &mut Numbers, about: &str) {
    let (api, dialect, model) = backend;
    let mut request = conversation(backend, numbers);
    let all: Vec<Value> = (0..40).map(|number| tool(api, &format!("tool_{number}"))).collect();
    list(api, &mut request).extend(all);
    let mut options = AdaptOptions::new(dialect).model(model).overflow(Overflow::Defer);
    options = options.history_pairs(HistoryPairs::Complete);
    options.tools = options.tools.max_tools(MOST);
    let mut before: Option<(Vec<Value>, Vec<Value>)> = None;
    for turn in 0..=TURNS {
        let adapted = adapt_request(&request, &options).unwrap_or_else(|error| panic!("{about}: {error}: {request}"));
        let sent = &adapted.request;
        assert_eq!(fakes::check(backend, sent), Ok(()), "{about}: {sent}");
        let text = sent.to_string();
        for word in ["tool_reference", "defer_loading"] {
            assert!(!text.contains(word), "{about}: no API knows `{word}`: {sent}");
        }
        let tools = declared(api, sent);
        assert!(tools.len() <= MOST, "{about}: {tools:?}");
        let history = sent[history_of(api)].as_array().expect("a history").clone();
        if let Some((tools_before, history_before)) = &before {
            assert!(tools.starts_with(tools_before), "{about}: the list keeps its prefix: {tools:?}");
            assert!(history.starts_with(history_before), "{about}: the history keeps its prefix: {sent}");
            let found = tools.iter().any(|tool| tool.to_string().contains(&format!("\"tool_{}\"", 30 + turn)));
            assert_eq!(found, turn <= MOST / 4, "{about}, turn {turn}: what was found is declared: {tools:?}");
        }
        before = Some((tools, history));
        let wanted = format!("tool_{}", 31 + turn);
        let (message, call) = search(api, &format!("search_{turn}"), &format!("select:{wanted}"));
        let answer = answer_tool_search(&call, &request, &SearchOptions::default()).expect(about).expect("a search");
        let history = request[history_of(api)].as_array_mut().expect("a history");
        history.extend([message, answered(api, answer)]);
    }
}

#[test]
fn found_tools_stay_declared() {
    let mut numbers = Numbers(5);
    for number in 0..300 {
        let backend = EVERY_FORMAT[number % EVERY_FORMAT.len()];
        play(backend, &mut numbers, &format!("{number}, {backend:?}"));
    }
}
