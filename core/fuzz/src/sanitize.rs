//! `sanitize` and `check` on generated schemas, in every dialect.

use arbitrary::Unstructured;
use serde_json::Value;
use toolwire::{
    check, dialects,
    internal::json,
    options::{Allow, Hints, Refs, Untyped},
    reports::Severity,
    sanitize, Code, SanitizeOptions,
};

use crate::grammar::{self, Style};

pub(crate) fn verdict(data: &[u8]) -> Result<(), String> {
    let mut data = Unstructured::new(data);
    let (Ok(options), Ok(schema)) = (options(&mut data), schema(&mut data)) else { return Ok(()) };
    judge(&schema, &options)
}

/// Generates the text of a schema, a quarter of them with many references.
pub(crate) fn schema(data: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let style = if data.ratio(1_u8, 4_u8)? { Style::References } else { Style::Any };
    grammar::schema(data, style)
}

/// Chooses a dialect, and sometimes other options.
fn options(data: &mut Unstructured<'_>) -> arbitrary::Result<SanitizeOptions> {
    let dialect = data.choose(dialects())?;
    let mut options = SanitizeOptions::new(dialect.id());
    if !data.ratio(1_u8, 6_u8)? {
        return Ok(options);
    }
    let has = |name: &str| dialect.options.contains(&name);
    if has("refs") && data.arbitrary()? {
        options = options.refs(if data.arbitrary()? { Refs::Inline } else { Refs::Keep });
    }
    if has("untyped") && data.arbitrary()? {
        options = options.untyped(*data.choose(&[Untyped::Any, Untyped::String, Untyped::Keep])?);
    }
    if has("hints") && data.arbitrary()? {
        options = options.hints(Hints::Drop);
    }
    if has("maxBytes") && data.arbitrary()? {
        options = options.max_bytes(data.int_in_range(20..=400)?);
    }
    if has("maxNodes") && data.arbitrary()? {
        options = options.max_nodes(data.int_in_range(0..=600)?);
    }
    if data.arbitrary()? {
        options = options.allow(*data.choose(&[Allow::Same, Allow::Encoded, Allow::Closed, Allow::Wider])?);
    }
    Ok(options)
}

/// Checks all properties for one schema.
pub(crate) fn judge(schema: &str, options: &SanitizeOptions) -> Result<(), String> {
    let dialect = options.dialect.as_str();
    let fault = |what: String| Err(format!("{dialect}: {what}\n  options {options:?}\n  in  {schema}"));
    let input: Value = match serde_json::from_str(schema) {
        Ok(value) => value,
        // serde_json cannot represent some numbers; those schemas have no value form.
        Err(_) => Value::Null,
    };
    // serde_json changes integers beyond 64 bits.
    let is_kept = || match (json::read(schema), json::read(&input.to_string())) {
        (Ok(one), Ok(two)) => json::same(&one, &two),
        _ => false,
    };
    let by_value = (!input.is_null() && is_kept()).then(|| sanitize(&input, options));
    let result = match sanitize(schema, options) {
        Ok(result) => result,
        Err(error) => {
            if let Some(Ok(by_value_result)) = by_value {
                return fault(format!(
                    "an error for text ({error}), and a result for values: {}",
                    by_value_result.schema
                ));
            }
            let is_expected =
                !matches!(error.code(), Code::BudgetExceeded | Code::TooDeep) || options.max_nodes.is_some();
            return if is_expected { Ok(()) } else { fault(format!("{error}")) };
        }
    };
    let output = result.schema.as_ref();
    if result.changes().unwrap_or_default().is_empty() != (output == schema) {
        return fault(format!("{} changes, and the output is {output}", result.changes().unwrap_or_default().len()));
    }
    match sanitize(schema, options).map(|done| done.schema) {
        Ok(plain) if plain == output => {}
        by_value_result => return fault(format!("without a report: {by_value_result:?}\n  out {output}")),
    }
    let plain = options.clone().allow(Allow::Any);
    if dialect != "codex" {
        match check(output, &plain) {
            Ok(found) if found.iter().all(|violation| violation.severity == Severity::Ignored) => {}
            by_value_result => return fault(format!("check of the output: {by_value_result:?}\n  out {output}")),
        }
    }
    match sanitize(output, &plain).map(|done| done.schema) {
        Ok(again) if again == output => {}
        Ok(again) => return fault(format!("not idempotent\n  out {output}\n  2nd {again}")),
        Err(error) => return fault(format!("refuses its own output: {error}\n  out {output}")),
    }
    let written: Value = serde_json::from_str(output).unwrap_or_default();
    if written.is_null() {
        return Ok(());
    }
    for change in result.changes().unwrap_or_default() {
        let lost = !input.is_null() && input.pointer(&change.pointer).is_none();
        let dangles = change.output_pointer.as_ref().is_some_and(|pointer| written.pointer(pointer).is_none());
        if lost || dangles {
            return fault(format!("no value at the pointer of a change: {change:?}\n  out {output}"));
        }
    }
    match by_value {
        None => {}
        Some(Ok(by_value_result)) if as_text(&by_value_result.schema) == as_text(&written) => {
            let of_text = result.changes().unwrap_or_default().iter().map(bare);
            if !of_text.eq(by_value_result.changes().unwrap_or_default().iter().map(bare)) {
                return fault(format!(
                    "text and value report other changes:\n  {:?}\n  {:?}\n  out {output}",
                    result.changes().unwrap_or_default(),
                    by_value_result.changes().unwrap_or_default()
                ));
            }
            let plans = [result.restore_plan(), by_value_result.restore_plan()];
            let plans = plans.map(|plan| plan.map(toolwire::RestorePlan::to_json).unwrap_or_default());
            let [of_text, of_value] = plans.map(|plan| serde_json::from_str::<Value>(&plan).unwrap_or_default());
            if of_text != of_value {
                return fault(format!("text and value have different plans:\n  {of_text}\n  {of_value}"));
            }
        }
        Some(Ok(by_value_result)) => {
            return fault(format!("text and value differ\n  out {output}\n  by value {}", by_value_result.schema))
        }
        Some(Err(error)) => {
            return fault(format!("an error for values ({error}), and a result for text\n  out {output}"))
        }
    }
    Ok(())
}

/// Returns a value as text, which shows the order of members.
fn as_text(value: &Value) -> String {
    value.to_string()
}

fn bare(change: &toolwire::reports::Change) -> (String, Option<String>, &'static str, &'static str, bool, String) {
    let toolwire::reports::Change { pointer, output_pointer, rule, accepts, encoded, message, .. } = change;
    (pointer.clone(), output_pointer.clone(), rule.id(), accepts.as_str(), *encoded, message.clone())
}
