//! Fakes of the APIs. Each one refuses what the real API refuses, with the API's error messages if they are known. They
//! only check rules about tools, calls and results.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod interactions;
pub(crate) mod kimi;
pub(crate) mod responses;

use serde_json::Value;

/// The verdict of an API on a request: accepted, or its error.
pub(crate) type Verdict = Result<(), String>;

pub(crate) fn check(target: &str, native: &str, request: &Value, betas: &[&str]) -> Verdict {
    match (target, native) {
        ("anthropic", native) => anthropic::check(request, native, betas),
        ("openai-responses", native) => responses::check(request, native),
        ("gemini-interactions", native) => interactions::check(request, native),
        (_, "kimi") => kimi::check(request),
        _ => chat::check(request),
    }
}

fn refuse(wrong: bool, text: String) -> Verdict {
    if wrong {
        Err(text)
    } else {
        Ok(())
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn function_name<'v>(tool: &'v Value, place: &str) -> Result<&'v str, String> {
    let kind = tool["type"].as_str().unwrap_or_default();
    refuse(kind != "function" && kind != "custom", format!("{place}: unsupported tool type `{kind}`"))?;
    tool[kind]["name"].as_str().ok_or_else(|| format!("{place}: a tool without `{kind}.name`"))
}
