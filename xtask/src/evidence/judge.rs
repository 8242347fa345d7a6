//! Checks whether the table of a dialect agrees with the recorded answer of an API.

use std::collections::BTreeSet;

use serde_json::{json, Map, Value};
use toolwire::{
    adapt_request, check, check_request, check_tools, dialects,
    internal::fact_of,
    options::Use,
    reports::{RequestViolation, Severity},
    rules::Constraint,
    sanitize, sanitize_tools, AdaptOptions, Code, SanitizeOptions, ToolsOptions,
};

use super::{
    providers::{Problem, ERRORS},
    Answer, Sent,
};
use crate::id;

#[derive(Default)]
pub(super) struct Judgement {
    /// Compared with the texts in `EXCEPTIONS`.
    pub(super) differences: Vec<String>,
    /// Statements of the facts that a rejection confirms.
    pub(super) facts: BTreeSet<&'static str>,
    /// Findings, for messages.
    pub(super) found: String,
}

/// Rules and pointers.
type Refused = Vec<(&'static str, String)>;

pub(super) fn judge(answer: &Answer, dialect: &'static str) -> Judgement {
    match (&answer.error, &answer.sent) {
        (None, Sent::Request(request)) => {
            let mut judgement = check_accepted(&violations_of_list(&tools_of(request), dialect), request);
            if names_changed(request, dialect) {
                judgement.differences.push("accepted: a name is changed".to_owned());
            }
            if choice_changed(request, dialect) {
                judgement.differences.push("accepted: the choice is changed".to_owned());
            }
            judgement
        }
        (None, Sent::Schema(schema)) => {
            check_accepted(&violations_of_schema(schema, &SanitizeOptions::new(id(dialect))), schema)
        }
        (None, Sent::Response(schema)) => {
            check_accepted(&violations_of_schema(schema, &response_options(dialect)), schema)
        }
        (None, Sent::Tools(tools)) => check_accepted(&violations_of_list(tools, dialect), tools),
        (None, Sent::Whole(tools, request)) => {
            let mut judgement = check_accepted(&violations_of_list(tools, dialect), tools);
            let found = violations_of_request(request, dialect);
            judgement.differences.extend(found.iter().map(|violation| format!("accepted: `{}`", violation.constraint)));
            judgement
        }
        (Some(error), Sent::Whole(_, request)) => {
            let found = violations_of_request(request, dialect);
            let mut judgement = Judgement { found: format!("{error}\n  {request:.300}"), ..Judgement::default() };
            // An API reports only the first problem that it finds.
            match found.first() {
                Some(violation) => drop(judgement.facts.insert(violation.fact.statement)),
                None => judgement.differences.push("rejected: nothing in the request is refused".to_owned()),
            }
            judgement
        }
        (Some(error), Sent::Schema(schema)) => {
            refused_schema(error, schema, dialect, &SanitizeOptions::new(id(dialect)))
        }
        (Some(error), Sent::Response(schema)) => refused_schema(error, schema, dialect, &response_options(dialect)),
        (Some(error), Sent::Tools(tools)) => refused_list(error, tools, dialect),
        (Some(error), Sent::Request(request)) if error.contains("tool_choice") => {
            let mut judgement = Judgement::default();
            if !choice_changed(&with_thinking(request), dialect) {
                judgement.differences.push("rejected: the tool choice is unchanged".to_owned());
            }
            judgement
        }
        (Some(error), Sent::Request(request)) => {
            let mut judgement = refused_list(error, &tools_of(request), dialect);
            match adapt_request(request, &AdaptOptions::new(id(dialect))) {
                Ok(adapted) => {
                    for (rule, _) in violations_of_list(&tools_of(&adapted.request), dialect) {
                        judgement.differences.push(format!("rejected: `{rule}` is still found after `adaptRequest`"));
                    }
                }
                Err(error) => {
                    judgement
                        .differences
                        .push(format!("rejected: `adaptRequest` fails with `{}`", error.code().as_str()));
                }
            }
            judgement
        }
    }
}

fn check_accepted(refused: &Refused, sent: &Value) -> Judgement {
    let differences = refused.iter().map(|(rule, _)| format!("accepted: `{rule}`")).collect();
    Judgement { differences, found: format!("{refused:?}\n  {sent}"), ..Judgement::default() }
}

fn response_options(dialect: &str) -> SanitizeOptions {
    SanitizeOptions::new(id(dialect)).used_as(Use::Response)
}

fn refused_schema(error: &str, schema: &Value, dialect: &'static str, options: &SanitizeOptions) -> Judgement {
    judge_rejected(error, schema, violations_of_schema(schema, options), dialect, || match sanitize(schema, options) {
        Ok(output) => Ok((violations_of_schema(&output.schema, options), vec![output.schema])),
        Err(error) => Err(error.code()),
    })
}

fn refused_list(error: &str, tools: &Value, dialect: &'static str) -> Judgement {
    judge_rejected(error, tools, violations_of_list(tools, dialect), dialect, || {
        match sanitize_tools(tools, &ToolsOptions::new(id(dialect))) {
            Ok(output) => Ok((violations_of_list(&output.tools, dialect), Vec::new())),
            Err(error) => Err(error.code()),
        }
    })
}

/// Judges a rejected row. `check` must find the rule, the rewritten schema must be accepted, and it must not have the
/// problem in the error.
fn judge_rejected(
    error: &str,
    sent: &Value,
    found: Refused,
    dialect: &'static str,
    rewrite: impl FnOnce() -> Result<(Refused, Vec<Value>), Code>,
) -> Judgement {
    let mut judgement = Judgement { found: format!("{error}\n  {found:?}\n  {sent}"), ..Judgement::default() };
    let Some((_, rule, problem)) = ERRORS.iter().find(|(text, ..)| error.contains(text)) else {
        judgement.differences.push("rejected: no rule is known for the error".to_owned());
        return judgement;
    };
    if found.is_empty() {
        judgement.differences.push(format!("rejected: no violation is found, expected `{rule}`"));
        return judgement;
    }
    if !found.iter().any(|(name, _)| name == rule) {
        judgement.differences.push(format!("rejected: refused, but not by `{rule}`"));
    }
    // The error does not show other violations, because an API reports only the first one.
    let is_named = |name: &str, pointer: &str| match problem {
        Problem::Keywords(keywords) if *rule == "refused-keyword" => {
            name == *rule && keywords.iter().any(|keyword| pointer.ends_with(keyword))
        }
        _ => name == *rule,
    };
    let named = found.iter().filter(|(name, pointer)| is_named(name, pointer));
    judgement.facts = named.filter_map(|(name, pointer)| statement(dialect, name, pointer)).collect();
    match rewrite() {
        Err(Code::NotRepresentable) => {}
        Err(code) => judgement.differences.push(format!("rejected: `sanitize` fails with `{}`", code.as_str())),
        Ok((remaining, outputs)) => {
            for (rule, _) in remaining {
                judgement.differences.push(format!("rejected: `{rule}` is still found after `sanitize`"));
            }
            if outputs.iter().any(|output| has_problem(*problem, output, true)) {
                judgement.differences.push(format!("rejected: the problem in the error (`{rule}`) is still present"));
            }
        }
    }
    judgement
}

/// Returns `None` for rules that apply to all tools.
fn statement(dialect: &str, rule: &str, pointer: &str) -> Option<&'static str> {
    let dialect = dialects().iter().find(|known| known.name == dialect)?;
    let constraint = *Constraint::ALL.iter().find(|known| known.id() == rule)?;
    let fact = fact_of(dialect, constraint, pointer)?;
    fact.rules.contains(&constraint).then_some(fact.statement)
}

/// Schemas with only reinterpreted or ignored parts were also answered with 200.
fn violations_of_schema(schema: &Value, options: &SanitizeOptions) -> Refused {
    match check(schema, options) {
        Ok(found) => found
            .into_iter()
            .filter(|violation| violation.severity == Severity::Refused)
            .map(|violation| (violation.constraint.id(), violation.pointer))
            .collect(),
        Err(error) => vec![(error.code().as_str(), error.pointer().to_owned())],
    }
}

fn violations_of_list(tools: &Value, dialect: &str) -> Refused {
    match check_tools(&tools.to_string(), &[id(dialect)]) {
        Ok(found) => found
            .into_iter()
            .filter(|violation| violation.severity == Severity::Refused)
            .map(|violation| (violation.constraint.id(), violation.pointer))
            .collect(),
        Err(error) => vec![(error.code().as_str(), error.pointer().to_owned())],
    }
}

fn violations_of_request(request: &Value, dialect: &str) -> Vec<RequestViolation> {
    check_request(request, id(dialect)).unwrap_or_else(|error| panic!("{error}: {request}"))
}

/// Returns the tools of a request and of its messages. Names must be unique among all tools.
fn tools_of(request: &Value) -> Value {
    let messages = request["messages"].as_array().into_iter().flatten();
    let lists = [request].into_iter().chain(messages).filter_map(|holder| holder["tools"].as_array());
    lists.flatten().cloned().collect()
}

fn names_changed(request: &Value, dialect: &str) -> bool {
    let names = |request: &Value| -> Vec<Value> {
        tools_of(request).as_array().into_iter().flatten().map(|tool| tool["function"]["name"].clone()).collect()
    };
    let adapted = adapt_request(request, &AdaptOptions::new(id(dialect)).deferred(None));
    !adapted.is_ok_and(|adapted| names(&adapted.request) == names(request))
}

fn choice_changed(request: &Value, dialect: &str) -> bool {
    adapt_request(request, &AdaptOptions::new(id(dialect)).deferred(None))
        .is_ok_and(|adapted| adapted.report.choice.is_some())
}

/// Enables thinking in a request. The row omits this part, but the name of the recording states it.
fn with_thinking(request: &Value) -> Value {
    let mut request = request.clone();
    request["thinking"] = json!({"type": "enabled"});
    request["messages"] = json!([{"role": "user", "content": "Go on."}]);
    request
}

/// Returns true if the schema still has the problem in the error.
fn has_problem(problem: Problem, schema: &Value, is_root: bool) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let is_object = object.get("type").is_some_and(|kind| kind == "object");
    let is_array = object.get("type").is_some_and(|kind| kind == "array");
    let here = match problem {
        Problem::Keywords(keywords) => keywords.iter().any(|keyword| object.contains_key(*keyword)),
        Problem::Optional => has_optional(object),
        Problem::Open => is_object && object.get("additionalProperties") != Some(&Value::Bool(false)),
        Problem::OtherRoot => is_root && (!is_object || object.contains_key("anyOf") || object.contains_key("oneOf")),
        Problem::NoProperties => is_root && !object.get("properties").is_some_and(Value::is_object),
        Problem::NoItems => is_array && !object.contains_key("items"),
        Problem::ItemsList => object.get("items").is_some_and(Value::is_array),
        Problem::Boolean => {
            let properties = object.get("properties").and_then(Value::as_object);
            properties.is_some_and(|properties| properties.values().any(Value::is_boolean))
        }
        Problem::Null => object.iter().any(|(keyword, value)| keyword != "default" && value.is_null()),
        Problem::Finding => false,
    };
    here || children(object).any(|child| has_problem(problem, child, false))
}

fn has_optional(object: &Map<String, Value>) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
    object.get("properties").and_then(Value::as_object).is_some_and(|known| !known.keys().all(is_required))
}

/// Returns the direct subschemas. Names of properties are not keywords, and values in `enum` are not schemas.
fn children(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let named = ["properties", "$defs", "definitions", "patternProperties"];
    let values = ["enum", "const", "default", "examples", "required", "type"];
    object.iter().filter(move |(keyword, _)| !values.contains(&keyword.as_str())).flat_map(move |(keyword, value)| {
        let children: Vec<&Value> = match value {
            Value::Object(members) if named.contains(&keyword.as_str()) => members.values().collect(),
            Value::Array(items) => items.iter().collect(),
            value => vec![value],
        };
        children
    })
}
