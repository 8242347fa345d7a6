//! Answers the calls of `make demo` from Rust: one JSON line in, one out. `demo/languages.mjs` describes their format.

use std::{
    error::Error,
    io::{self, BufRead, BufWriter, Write},
};

use serde_json::{json, Map, Value};
use toolwire::{
    apply_deferred_loading, normalize_envelope,
    options::Api,
    reports::{Change, DeferredReport},
    sanitize, DeferredOptions, Rewritten, SanitizeOptions,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        let answer = match answer(&call) {
            Ok(answer) => answer,
            Err(Problem::Refused(error)) => {
                json!({"error": {"code": error.code().as_str(), "pointer": error.pointer(), "message": error.message()}})
            }
            Err(Problem::Protocol(text)) => return Err(text.into()),
        };
        serde_json::to_writer(&mut output, &answer)?;
        writeln!(output)?;
    }
    Ok(output.flush()?)
}

/// The reason why a call has no answer: the library refused it, or it is not a call of this demo.
enum Problem {
    Refused(toolwire::Error),
    Protocol(String),
}

impl From<toolwire::Error> for Problem {
    fn from(error: toolwire::Error) -> Self {
        Problem::Refused(error)
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Problem::Protocol(error.to_string())
    }
}

fn answer(call: &Value) -> Result<Value, Problem> {
    let member = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
    let input =
        member("/input").ok_or_else(|| Problem::Protocol(format!("expected a call with an `input`, found {call}")))?;
    let value: Value = serde_json::from_str(input)?;
    match member("/function") {
        Some("sanitize") => {
            let options = SanitizeOptions::new(member("/options/dialect").unwrap_or_default().parse()?);
            rewritten(&sanitize(input, &options)?, &sanitize(&value, &options)?.schema)
        }
        Some("normalizeEnvelope") => rewritten(&normalize_envelope(input)?, &normalize_envelope(&value)?.schema),
        Some("applyDeferredLoading") => {
            let mut options = DeferredOptions::default();
            options.target = match member("/options/target") {
                None => None,
                Some("openai-responses") => Some(Api::OpenaiResponses),
                Some(other) => {
                    return Err(Problem::Protocol(format!("expected the target `openai-responses`, found `{other}`")))
                }
            };
            let deferred = apply_deferred_loading(input, &options)?;
            Ok(json!({
                "text": deferred.request,
                "report": {"report": decided(deferred.report()?), "restore": plan(&deferred.restore()?.to_json())?},
                "value": apply_deferred_loading(&value, &options)?.request,
            }))
        }
        _ => Err(Problem::Protocol(format!("expected a function of this demo, found {call}"))),
    }
}

fn rewritten(text: &Rewritten<&str>, value: &Value) -> Result<Value, Problem> {
    let changes: Vec<Value> = text.changes()?.iter().map(changed).collect();
    let plan = plan(&text.restore_plan()?.to_json())?;
    let report = json!({"changes": changes, "lossless": text.lossless()?, "restorePlan": plan});
    Ok(json!({"text": text.schema, "report": report, "value": value}))
}

/// Returns restore data as a value.
fn plan(kept: &str) -> Result<Value, Problem> {
    Ok(serde_json::from_str(kept)?)
}

fn changed(change: &Change) -> Value {
    json!({
        "pointer": change.pointer,
        "outputPointer": change.output_pointer,
        "rule": change.rule,
        "accepts": change.accepts.as_str(),
        "guidance": change.guidance.as_str(),
        "encoded": change.encoded,
        "reason": change.reason.to_string(),
        "message": change.message,
    })
}

/// Members without information are omitted.
fn decided(report: &DeferredReport) -> Value {
    let warnings = report.warnings.iter().map(|warning| {
        let code = Some(("code", json!(warning.code)));
        let name = warning.name.as_ref().map(|name| ("name", json!(name)));
        let pointer = warning.pointer.as_ref().map(|pointer| ("pointer", json!(pointer)));
        let members = [code, name, pointer].into_iter().flatten();
        Value::Object(members.map(|(key, value)| (String::from(key), value)).collect())
    });
    let tools = report.name_map.iter().map(|(flat, tool)| {
        let known = json!({"name": tool.name, "kind": tool.kind.as_str()});
        let whole = json!({"namespace": tool.namespace, "name": tool.name, "kind": tool.kind.as_str()});
        (flat.clone(), if tool.namespace.is_some() { whole } else { known })
    });
    let tools: Map<String, Value> = tools.collect();
    let members = [
        ("loaded", Some(json!(report.loaded))),
        ("hidden", Some(json!(report.hidden))),
        ("warnings", Some(warnings.collect())),
        ("nameMap", (!tools.is_empty()).then_some(Value::Object(tools))),
        ("betas", (!report.betas.is_empty()).then(|| json!(report.betas))),
        ("toolSearchName", report.tool_search_name.as_ref().map(|name| json!(name))),
        ("unreachable", Some(json!(report.unreachable))),
        ("savedBytes", Some(json!(report.saved_bytes))),
    ];
    members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
