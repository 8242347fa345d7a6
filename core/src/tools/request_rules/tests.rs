//! Violates every rule of every dialect, and tests that it is found, and fixed if it has a fix.

extern crate std;

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use std::println;

use serde_json::{json, Value};

use crate::{
    adapt_request, check_request,
    dialect::{
        backends::{RequestFacts, BACKENDS},
        models::Models,
        requests::{Refusal, RequestFact},
        rule::{BetaLocation, Fix, Location, Messages, Parts, Path, Refused, Rule, When},
        Dialect,
    },
    dialects,
    options::Api,
    report::Grade,
    wire::turns::Speaker,
    AdaptOptions, CheckRequestOptions, Input,
};

/// A request that violates a rule: the request, and the pointer to the violation.
type Violation = (Value, String);

fn history(api: Api) -> &'static str {
    match api {
        Api::OpenaiResponses => "input",
        Api::Gemini | Api::GeminiJsonSchema => "contents",
        _ => "messages",
    }
}

fn list(api: Api) -> &'static str {
    if history(api) == "contents" {
        "parts"
    } else {
        "content"
    }
}

fn accepted(api: Api, model: &str) -> Value {
    match api {
        Api::OpenaiChat => json!({
            "model": model, "response_format": {"type": "text"}, "messages": [{"role": "user", "content": "hi"}],
        }),
        Api::Anthropic => json!({
            "model": model, "max_tokens": 9, "system": "s", "messages": [{"role": "user", "content": "hi"}],
        }),
        Api::Bedrock => json!({"inferenceConfig": {}, "messages": [{"role": "user", "content": [{"text": "hi"}]}]}),
        Api::OpenaiResponses => json!({"model": model, "input": [{"role": "user", "content": "hi"}]}),
        _ => json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
    }
}

fn exchange(api: Api, id: &str) -> Vec<Value> {
    let function = json!({"name": "f", "arguments": "{}"});
    match api {
        Api::OpenaiChat => vec![
            json!({
                "role": "assistant", "content": null,
                "tool_calls": [{"id": id, "type": "function", "function": function}],
            }),
            json!({"role": "tool", "tool_call_id": id, "content": "ok"}),
        ],
        Api::Anthropic => vec![
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}),
        ],
        Api::Bedrock => vec![
            json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": id, "name": "f", "input": {}}}]}),
            json!({"role": "user", "content": [{"toolResult": {"toolUseId": id, "content": [{"text": "ok"}]}}]}),
        ],
        Api::OpenaiResponses => vec![
            json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": "ok"}),
        ],
        _ => vec![
            json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": 1}}}]}),
        ],
    }
}

fn add_tool(api: Api, request: &mut Value) {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    match api {
        Api::OpenaiChat => {
            request["tools"] = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
        }
        Api::Anthropic => request["tools"] = json!([{"name": "f", "input_schema": schema}]),
        Api::Bedrock => {
            request["toolConfig"] = json!({"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": schema}}}]});
        }
        Api::OpenaiResponses => {
            request["tools"] = json!([{"type": "function", "name": "f", "parameters": schema, "strict": false}]);
        }
        _ => request["tools"] = json!([{"functionDeclarations": [{"name": "f", "parameters": schema}]}]),
    }
}

fn joined(path: Path) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

fn put(node: &mut Value, path: Path, value: Value) {
    match path {
        [] => *node = value,
        [name, rest @ ..] => put(&mut node[*name], rest, value),
    }
}

fn refused_value(rule: &Rule) -> Option<Value> {
    Some(match rule.refuses {
        Refused::Absent => return None,
        Refused::Words(words) => json!(words[0]),
        Refused::Empty if matches!(rule.at, Location::Part(..)) => json!(""),
        Refused::Empty => json!([]),
        Refused::Blank => json!(" \n"),
        Refused::NotObject => json!("text"),
        Refused::Above(maximum) => json!(maximum.parse::<u64>().expect("an integer") + 1),
        Refused::Null => Value::Null,
        Refused::NotBegin(_) => json!("call_1"),
        _ => match rule.fix {
            Fix::Take { part, .. } => json!({ part: "low" }),
            _ => json!("x"),
        },
    })
}

fn part(parts: Parts) -> Value {
    match parts {
        Parts::Text => json!({"type": "text", "text": "t"}),
        Parts::Type("server_tool_use") => {
            json!({"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {}})
        }
        Parts::Type("tool_use") => json!({"type": "tool_use", "id": "c1", "name": "f", "input": {}}),
        Parts::Type(kind) => json!({"type": kind, kind: "t", "signature": "s"}),
        Parts::With(member) => json!({ member: {"name": "f"} }),
    }
}

fn violation(api: Api, rule: &Rule, model: &str) -> Violation {
    let mut request = accepted(api, model);
    let key = history(api);
    let calls = |ids: &[&str]| ids.iter().flat_map(|id| exchange(api, id)).collect::<Vec<_>>();
    let pointer = match rule.at {
        Location::Beta => {
            let Refused::Words(words) = rule.refuses else { panic!("a beta") };
            request["anthropic_beta"] = json!(["a", words[0]]);
            "/anthropic_beta/1".into()
        }
        Location::SystemPart(path) => {
            let mut added = json!({"type": "text", "text": "t"});
            put(&mut added, path, json!("x"));
            request["system"] = json!([{"type": "text", "text": "s"}, added]);
            format!("/system/1{}", joined(path))
        }
        Location::Request(path) => {
            if path[0] != "tools" {
                add_tool(api, &mut request);
            }
            match refused_value(rule) {
                Some(value) => put(&mut request, path, value),
                None => put(&mut request, &path[..path.len() - 1], json!({})),
            }
            joined(if rule.refuses == Refused::Absent { &path[..path.len() - 1] } else { path })
        }
        Location::Tool(path) => {
            add_tool(api, &mut request);
            put(&mut request["tools"][0], path, json!("x"));
            format!("/tools/0{}", joined(path))
        }
        Location::CallId => {
            add_tool(api, &mut request);
            let long = "a/".repeat(40);
            let messages = request[key].as_array_mut().expect("a history");
            match rule.refuses {
                Refused::RepeatedInMessage => {
                    messages.extend(calls(&["c1"]));
                    let first = messages[1]["tool_calls"][0].clone();
                    messages[1]["tool_calls"].as_array_mut().expect("calls").push(first);
                    let result = messages[2].clone();
                    messages.push(result);
                    "/messages/1/tool_calls/1/id".into()
                }
                Refused::Repeated => {
                    messages.extend(calls(&["c1", "c1"]));
                    "/messages/3/content/0/id".into()
                }
                _ => {
                    messages.extend(calls(&[&long]));
                    match api {
                        Api::OpenaiChat => "/messages/1/tool_calls/0/id".into(),
                        Api::Bedrock => "/messages/1/content/0/toolUse/toolUseId".into(),
                        Api::OpenaiResponses => "/input/1/call_id".into(),
                        _ => "/messages/1/content/0/id".into(),
                    }
                }
            }
        }
        Location::Choice => {
            if rule.refuses != Refused::WithoutTools {
                add_tool(api, &mut request);
            }
            match (api, rule.refuses) {
                (Api::Bedrock, _) => {
                    request["toolConfig"]["toolChoice"] = json!({"none": {}});
                    "/toolConfig/toolChoice".into()
                }
                (Api::OpenaiChat, Refused::Named) => {
                    request["tool_choice"] = json!({"type": "function", "function": {"name": "f"}});
                    "/tool_choice".into()
                }
                (Api::OpenaiChat, _) => {
                    let allowed = json!({"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]});
                    request["tool_choice"] = json!({"type": "allowed_tools", "allowed_tools": allowed});
                    "/tool_choice".into()
                }
                (_, Refused::WithoutTools) => {
                    request["toolConfig"] = json!({"functionCallingConfig": {"mode": "AUTO"}});
                    "/toolConfig/functionCallingConfig".into()
                }
                _ => {
                    let config = json!({"mode": "AUTO", "allowedFunctionNames": ["f"]});
                    request["toolConfig"] = json!({"functionCallingConfig": config});
                    "/toolConfig/functionCallingConfig".into()
                }
            }
        }
        Location::Message(messages, path) => {
            if rule.refuses != Refused::WithoutTools {
                add_tool(api, &mut request);
            }
            let mut added = match messages {
                Messages::By(Speaker::Model) => json!({"role": "assistant", "content": "a"}),
                Messages::By(_) => json!({"role": "user", "content": "q"}),
                Messages::Role(role) => json!({"role": role, "content": "q"}),
                Messages::Type("message") => json!({"type": "message", "role": "assistant", "content": "a"}),
                Messages::Type("function_call") => exchange(api, "c1")[0].clone(),
                Messages::Type(kind) => json!({"type": kind, "summary": []}),
            };
            let list = request[key].as_array_mut().expect("a history");
            if let Refused::After(_) = rule.refuses {
                list.extend(calls(&["abcdefghi"]));
            } else if let Messages::Role(_) = messages {
                // The role itself is refused.
            } else if rule.refuses == Refused::WithoutTools {
                added = calls(&["c1"])[0].clone();
            } else if let Some(value) = refused_value(rule) {
                put(&mut added, path, value);
            } else {
                added["tool_calls"] = calls(&["c1"])[0]["tool_calls"].clone();
            }
            let at = list.len();
            list.push(added);
            let has_call = matches!(rule.refuses, Refused::Absent | Refused::WithoutTools);
            if has_call || messages == Messages::Type("function_call") {
                list.push(calls(&["c1"])[1].clone());
            }
            if !matches!(messages, Messages::By(Speaker::User)) && !rule.when.contains(&When::CurrentTurn) {
                list.push(json!({"role": "user", "content": "go on"}));
            }
            let shown = if rule.refuses == Refused::Absent { &path[..path.len() - 1] } else { path };
            format!("/{key}/{at}{}", joined(shown))
        }
        Location::Part(parts, path) => {
            if rule.refuses != Refused::WithoutTools {
                add_tool(api, &mut request);
            }
            let mut added = part(parts);
            if !path.is_empty() {
                if let Some(value) = refused_value(rule) {
                    put(&mut added, path, value);
                }
            }
            if api == Api::Bedrock && parts == Parts::Text {
                added = json!({"text": ""});
            }
            let list = list(api);
            let messages = request[key].as_array_mut().expect("a history");
            let (message, index) = match rule.refuses {
                Refused::WithoutTools => {
                    messages.extend(calls(&["c1"]));
                    (1, 0)
                }
                Refused::FirstCallWithout(member) => {
                    messages.extend(calls(&["c1"]));
                    messages[1][list][0].as_object_mut().expect("a part").remove(member);
                    (1, 0)
                }
                Refused::NotObject => {
                    messages.extend(calls(&["c1"]));
                    messages[2][list][0] = added;
                    (2, 0)
                }
                _ => {
                    let is_call = matches!(parts, Parts::Type("tool_use"));
                    let mut content = vec![added];
                    if rule.refuses == Refused::AfterCall {
                        content.insert(0, part(Parts::Type("tool_use")));
                    } else if !rule.when.contains(&When::OnlyPart) {
                        let text = if api == Api::Bedrock { json!({"text": "b"}) } else { part(Parts::Text) };
                        // Text is not put behind a call.
                        content.insert(usize::from(!is_call), text);
                        if is_call {
                            content.remove(0);
                        }
                    }
                    let index = if rule.refuses == Refused::AfterCall { 1 } else { 0 };
                    messages.push(json!({"role": "assistant", list: content}));
                    let text = if api == Api::Bedrock { json!([{"text": "go"}]) } else { json!("go") };
                    let answers = is_call || rule.refuses == Refused::AfterCall;
                    messages.push(match answers {
                        true => exchange(api, "c1")[1].clone(),
                        false => json!({"role": "user", list: text}),
                    });
                    (1, index)
                }
            };
            let is_whole = rule.fix == Fix::RemovePart;
            format!("/{key}/{message}/{list}/{index}{}", if is_whole { String::new() } else { joined(path) })
        }
    };
    for condition in rule.when {
        match condition {
            When::Has(path) if request.pointer(&joined(path)).is_none() => put(&mut request, path, json!({})),
            When::Is(path, value) => put(&mut request, path, serde_json::from_str(value).expect("JSON")),
            _ => {}
        }
    }
    (request, pointer)
}

/// Returns a model of the rule, and one that is not, if there is one.
fn models(models: Models) -> (String, Option<String>) {
    match models {
        Models::All => ("m".into(), None),
        Models::Begin(names) | Models::Contain(names) | Models::Tagged(names) => (names[0].into(), Some("m".into())),
        Models::Versions(names) => (format!("claude-{}", names[0]), Some(format!("claude-{}-9", names[0]))),
    }
}

fn found(request: impl Input, at: (&str, Option<&str>), model: &str, fact: &RequestFact) -> Vec<String> {
    found_with(request, at, model, (fact, &[]))
}

fn found_with(
    request: impl Input,
    (dialect, host): (&str, Option<&str>),
    model: &str,
    (fact, betas): (&RequestFact, &[&str]),
) -> Vec<String> {
    let mut options =
        CheckRequestOptions::new(dialect.parse().expect("a dialect")).model(model).betas(betas.iter().copied());
    options.host = host.map(String::from);
    let found = check_request(request, options).expect("a request");
    found.into_iter().filter(|violation| violation.fact == fact).map(|violation| violation.pointer).collect()
}

#[test]
fn every_rule_is_found_and_fixed() {
    let (mut count, mut faults) = (0, Vec::new());
    let of_dialects = dialects().iter().filter(|dialect| !dialect.is_mcp_client());
    let of_dialects = of_dialects.map(|dialect| (dialect, None, dialect.requests().iter().collect::<Vec<_>>()));
    let of_hosts = BACKENDS.iter().flat_map(|backend| {
        let names: &[&str] = if backend.name == "LM Studio" { &["portable"] } else { &["anthropic", "openai-chat"] };
        let dialects = dialects().iter().filter(|dialect| names.contains(&dialect.name));
        dialects.map(|dialect| (dialect, Some(backend.host()), backend.facts().collect::<Vec<_>>()))
    });
    for (dialect, host, facts) in of_dialects.chain(of_hosts) {
        for fact in facts {
            let Refusal::Rule(rule) = &fact.refuses else { continue };
            for api in rule.apis.iter().filter(|api| **api != Api::GeminiJsonSchema) {
                let (model, other) = models(rule.models);
                let is_messages = dialect.name == "anthropic";
                if host.is_some() && dialect.name != "portable" && is_messages != (*api == Api::Anthropic) {
                    continue;
                }
                let at = (dialect.name, host);
                let (request, pointer) = violation(*api, rule, &model);
                let about = format!("{at:?}, {api:?}, {}: {request}", fact.statement);
                count += 1;
                let earlier =
                    crate::tools::request_rules::of(&RequestFacts::of(dialect, host, (*api, &model)), (*api, &model));
                // Of several facts about one member, the first violated one is used.
                let is_first = earlier.iter().find(|(_, own)| own.at == rule.at && own.id == rule.id);
                if is_first.is_some_and(|(own, _)| *own != fact) && matches!(rule.at, Location::Request(_)) {
                    continue;
                }
                let mut expect = |is_met: bool, what: String| {
                    if !is_met {
                        faults.push(format!("{what}: {about}"));
                    }
                };
                let pointers = found(&request, at, &model, fact);
                let resolves = |pointer: &str| request.pointer(pointer).is_some();
                expect(pointers.iter().all(|pointer| resolves(pointer)), format!("{pointers:?} does not resolve"));
                let of_text = found(request.to_string().as_str(), at, &model, fact);
                expect(of_text == pointers, format!("found {of_text:?} in text, {pointers:?} in a tree"));
                expect(pointers == [pointer.as_str()], format!("found {pointers:?}, not {pointer}"));
                if let Some(other) = &other {
                    let mut changed = request.clone();
                    if changed.get("model").is_some() {
                        changed["model"] = json!(other);
                    }
                    expect(found(&changed, at, other, fact).is_empty(), format!("found for {other}"));
                }
                for condition in rule.when {
                    let mut changed = request.clone();
                    match condition {
                        When::Unless(path, value) => {
                            put(&mut changed, path, serde_json::from_str(value).expect("JSON"));
                        }
                        When::Is(path, _) => put(&mut changed, path, json!("other")),
                        When::WithoutBeta(beta, BetaLocation::Body) => changed["anthropic_beta"] = json!([beta]),
                        When::WithoutBeta(beta, BetaLocation::Header) => {
                            let left = found_with(&changed, at, &model, (fact, &[*beta]));
                            expect(left.is_empty(), format!("found despite {condition:?}"));
                            continue;
                        }
                        _ => continue,
                    }
                    expect(found(&changed, at, &model, fact).is_empty(), format!("found despite {condition:?}"));
                }
                let options = AdaptOptions::new(dialect.id()).model(model.as_str()).deferred(None);
                let options = AdaptOptions { host: host.map(String::from), betas: Some(Vec::new()), ..options };
                let adapted = match adapt_request(&request, &options) {
                    Ok(adapted) => adapted,
                    Err(error) => {
                        expect(false, format!("{error}"));
                        continue;
                    }
                };
                let all = &adapted.report.request_changes;
                expect(all.iter().all(|change| resolves(&change.pointer)), format!("a change of {all:?} is elsewhere"));
                let written = request.to_string();
                let text = adapt_request(written.as_str(), &options).expect("a request");
                expect(
                    serde_json::from_str::<Value>(&text.request).expect("JSON") == adapted.request,
                    format!("text becomes {}", text.request),
                );
                let changes = all.iter().filter(|change| change.rule == rule.id);
                let pointers: Vec<&str> = changes.map(|change| change.pointer.as_str()).collect();
                if rule.fix == Fix::None {
                    expect(pointers.is_empty(), format!("changed {pointers:?}"));
                    continue;
                }
                expect(pointers == [pointer.as_str()], format!("changed {pointers:?}, not {pointer}"));
                let betas = adapted.report.betas.iter().flatten().map(String::as_str).collect::<Vec<_>>();
                let left = found_with(&adapted.request, at, &model, (fact, &betas));
                expect(left.is_empty(), format!("left {left:?} in {}", adapted.request));
                let again = adapt_request(&adapted.request, &options).expect("a request");
                expect(again.request == adapted.request, format!("another round: {}", again.request));
                let is_loss = !matches!(
                    rule.fix,
                    Fix::MapId
                        | Fix::AddBeta(..)
                        | Fix::Rename(_)
                        | Fix::MoveBeforeCalls
                        | Fix::InsertMessage(_)
                        | Fix::Narrow
                );
                expect(!is_loss || fact.confidence < Grade::C, "only an API's answer removes".into());
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    println!("{count} violations of rules");
    assert!(count > 100, "{count}");
}

/// The betas of the header have no place in the body.
#[test]
fn betas_of_the_header_are_removed_and_added() {
    let request = json!({
        "model": "claude-opus-5", "max_tokens": 9, "context_management": {},
        "messages": [{"role": "user", "content": "hi"}],
    });
    let host = "https://us-east5-aiplatform.googleapis.com/v1/projects/p";
    let options = AdaptOptions::new(Dialect::ANTHROPIC).host(host).betas(["a", "context-1m-2025-08-07"]);
    let adapted = adapt_request(&request, &options).expect("a request");
    assert_eq!(adapted.request, request);
    assert_eq!(adapted.report.betas.as_deref().unwrap_or_default(), ["a", "context-management-2025-06-27"]);
    let changes = &adapted.report.request_changes;
    let told: Vec<_> = changes.iter().map(|change| (change.rule, change.pointer.as_str())).collect();
    assert_eq!(told, [("missing-beta", "/context_management"), ("unsupported-beta", "")]);
    // Without the option, the header is not known.
    let unknown = adapt_request(&request, &AdaptOptions::new(Dialect::ANTHROPIC).host(host)).expect("a request");
    assert_eq!(unknown.report.betas, None);
    assert!(unknown.report.request_changes.is_empty());
}
