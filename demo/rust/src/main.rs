//! Answers the calls of `make demo` from Rust: one JSON line in, one out. `demo/languages.mjs` describes their format.

use std::{
    error::Error,
    io::{self, BufRead, BufWriter, Write},
};

use serde_json::{json, Value};
use toolwire::{
    apply_deferred_loading, normalize_envelope, options::Api, sanitize, DeferredOptions, Rewritten, SanitizeOptions,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        let answer = match answer(&call) {
            Ok(answer) => answer,
            Err(Problem::Refused(error)) => {
                json!({"error": error})
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
                "report": {"report": deferred.report()?, "restore": deferred.restore()?},
                "value": apply_deferred_loading(&value, &options)?.request,
            }))
        }
        _ => Err(Problem::Protocol(format!("expected a function of this demo, found {call}"))),
    }
}

fn rewritten(text: &Rewritten<&str>, value: &Value) -> Result<Value, Problem> {
    let (changes, lossless, plan) = (text.changes()?, text.lossless()?, text.restore_plan()?);
    let report = json!({"changes": changes, "lossless": lossless, "restorePlan": plan});
    Ok(json!({"text": text.schema, "report": report, "value": value}))
}
