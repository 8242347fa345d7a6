//! `sanitize` for `moonshot` with all available data: schemas that Moonshot's validator rejects, real tools, difficult
//! shapes and random schemas.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

mod hard;
mod random;
mod repair;
mod tools;

use crate::print_uncaptured;

use serde_json::Value;
use toolwire::{check, reports::Accepts, sanitize, Error, Rewritten, SanitizeOptions};

fn effect(result: &Rewritten<&Value>) -> &'static str {
    let changes = result.changes().expect("a report");
    let worst = changes.iter().fold(Accepts::Same, |worst, change| worst.and(change.accepts));
    match worst {
        Accepts::Same if changes.is_empty() => "unchanged",
        Accepts::Same if !result.lossless().expect("a report") => "same, guidance lost",
        Accepts::Same if changes.iter().any(|change| change.encoded) => "lossless, encoded",
        Accepts::Same => "lossless",
        worst => worst.as_str(),
    }
}

/// Sanitizes a schema on every path and checks all promises. Faults are added to `faults`.
fn sanitize_and_check<'v>(
    name: &str,
    schema: &'v Value,
    options: &SanitizeOptions,
    faults: &mut Vec<String>,
) -> Result<Rewritten<&'v Value>, Error> {
    let mut fault = |what: String| faults.push(format!("{name}: {what}\n  in  {}", shorten(&schema.to_string())));
    let text = schema.to_string();
    let from_text = sanitize(&text, options);
    let result = match sanitize(schema, options) {
        Ok(result) => result,
        Err(error) => {
            if from_text.as_ref().err().map(|other| (other.code(), other.pointer()))
                != Some((error.code(), error.pointer()))
            {
                fault(format!("the value path refuses ({error}), the text path does not"));
            }
            if error.message().is_empty() {
                fault("an error without a message".into());
            }
            return Err(error);
        }
    };
    let output = result.schema.to_string();
    match from_text {
        Ok(other)
            if other.schema == output && other.changes().expect("a report") == result.changes().expect("a report") => {}
        Ok(other) => {
            fault(format!("value and text differ\n  value {}\n  text  {}", shorten(&output), shorten(&other.schema)))
        }
        Err(error) => fault(format!("only the text path refuses: {error}")),
    }
    match check(&result.schema, options) {
        Ok(violations) if violations.is_empty() => {}
        Ok(violations) => fault(format!("check finds {violations:?}\n  out {}", shorten(&output))),
        Err(error) => fault(format!("check: {error}")),
    }
    match sanitize(&output, options) {
        Ok(again) if again.schema == output => {}
        Ok(again) => fault(format!("not idempotent\n  out {}\n  2nd {}", shorten(&output), shorten(&again.schema))),
        Err(error) => fault(format!("refuses its own output: {error}\n  out {}", shorten(&output))),
    }
    if result.changes().expect("a report").is_empty() != (output == text) {
        fault(format!(
            "the report ({} changes) does not state whether something changed\n  out {}",
            result.changes().expect("a report").len(),
            shorten(&output)
        ));
    }
    for change in result.changes().expect("a report") {
        let lost = schema.pointer(&change.pointer).is_none();
        let dangles = change.output_pointer.as_ref().is_some_and(|pointer| result.schema.pointer(pointer).is_none());
        if lost || dangles {
            fault(format!("no value at the pointer of a change: {change:?}\n  out {}", shorten(&output)));
        }
    }
    Ok(result)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(700) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text.to_string(),
    }
}

fn assert_no_faults(faults: &[String]) {
    let first: Vec<&str> = faults.iter().take(25).map(String::as_str).collect();
    assert!(faults.is_empty(), "{} faults, the first of them:\n\n{}\n", faults.len(), first.join("\n\n"));
}
