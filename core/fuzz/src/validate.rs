//! Compares the verdicts of `validateArguments` and `validateResult` with a validator, in every draft.

use arbitrary::{Result, Unstructured};
use jsonschema::Draft;
use serde_json::{json, Value};
use toolwire::{reports::Validation, validate_arguments, validate_result};

use crate::{
    circles,
    grammar::{self, Style},
    instances::Instances,
};

/// Number of instances per schema.
const INSTANCES: usize = 12;

/// The drafts, each with its value of `$schema`; the newest needs none.
const DRAFTS: [(Draft, &str); 5] = [
    (Draft::Draft202012, ""),
    (Draft::Draft7, "http://json-schema.org/draft-07/schema#"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/schema"),
    (Draft::Draft6, "http://json-schema.org/draft-06/schema#"),
    (Draft::Draft4, "http://json-schema.org/draft-04/schema#"),
];

/// Text in schemas for which the verdict may be unknown.
const OPEN: [&str; 5] = ["unevaluated", "$dynamicRef", "$recursiveRef", "pattern", "\"$ref\""];

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> Result<std::result::Result<usize, String>> {
    if data.ratio(1_u8, 5_u8)? {
        return any(data);
    }
    let (draft, mark) = *data.choose(&DRAFTS)?;
    let style = if mark.is_empty() { Style::Tidy } else { Style::Draft7 };
    let text = grammar::schema(data, style)?;
    let Ok(mut schema) = serde_json::from_str::<Value>(&text) else {
        return Ok(Err(format!("the grammar wrote no JSON: {text}")));
    };
    if circles::has_circle(&schema) {
        return Ok(Ok(0));
    }
    if let Some(members) = schema.as_object_mut().filter(|_| !mark.is_empty()) {
        members.insert("$schema".into(), json!(mark));
    }
    // A schema that the draft does not allow has no verdict to compare.
    let judge = jsonschema::options().with_draft(draft).should_validate_formats(false).build(&schema);
    let Ok(judge) = judge else { return Ok(Ok(0)) };
    let rest = [data.bytes(data.len())?, text.as_bytes()].concat();
    let (mut data, mut verdicts) = (Unstructured::new(&rest), 0);
    for _ in 0..INSTANCES {
        let instance = Instances::of(&schema).one(&mut data)?;
        let found = match validate_arguments(&instance, &schema) {
            Ok(found) => found,
            Err(error) => return Ok(Err(format!("{schema} on {instance}: {error}"))),
        };
        let is_untyped = schema.get("type").is_none() && !instance.is_object();
        let expected = !is_untyped && judge.is_valid(&instance);
        let is_open = OPEN.iter().any(|word| text.contains(word));
        if let Some(fault) = invalid_errors(&found, &instance, &schema) {
            return Ok(Err(format!("{schema} on {instance}: {fault}")));
        }
        let (result, tool) = (json!({ "structuredContent": instance }), json!({ "outputSchema": schema }));
        let of_result = validate_result(&result, &tool).map(|found| found.valid);
        if !matches!(of_result, Ok(None)) && !matches!(of_result, Ok(Some(valid)) if valid == judge.is_valid(&instance))
        {
            return Ok(Err(format!("{draft:?}: {schema} on the result {instance}: found {of_result:?}")));
        }
        match found.valid {
            Some(valid) if valid == expected && found.errors.is_empty() == valid => verdicts += 1,
            None if is_open && found.errors.is_empty() => {}
            _ => return Ok(Err(format!("{draft:?}: {schema} on {instance}: {expected} expected, found {found:?}"))),
        }
    }
    Ok(Ok(verdicts))
}

/// Schemas that may be malformed: their verdicts are undefined, but every call ends, and text and values agree.
fn any(data: &mut Unstructured<'_>) -> Result<std::result::Result<usize, String>> {
    let (schema, instance) = (grammar::schema(data, Style::Any)?, grammar::value(data, Style::Tidy)?);
    let parsed = (serde_json::from_str::<Value>(&instance), serde_json::from_str::<Value>(&schema));
    let (Ok(value), Ok(schema_value)) = parsed else { return Ok(Ok(0)) };
    Ok(match (validate_arguments(&instance, &schema), validate_arguments(&value, &schema_value)) {
        (Ok(on_text), Ok(on_values)) if places(&on_text) == places(&on_values) => {
            match invalid_errors(&on_text, &value, &schema_value) {
                Some(fault) => Err(format!("{schema} on {instance}: {fault}")),
                None => Ok(1),
            }
        }
        (Err(one), Err(two)) if one.code() == two.code() => Ok(1),
        // A `Value` preserves neither the spelling of a number, which draft 4 distinguishes, nor all digits of a large
        // one.
        _ if schema.contains("draft-04") || schema.contains("18446744073709551616") => Ok(0),
        (one, two) => Err(format!("{schema} on {instance}: {one:?} on text, {two:?} on values")),
    })
}

/// Returns the verdict and the pointers of the errors. Messages are not compared, because they quote numbers of the
/// schema in their original spelling.
fn places(found: &Validation) -> (Option<bool>, Vec<[&str; 3]>) {
    let errors = found.errors.iter().map(|error| [&error.pointer, &error.schema_pointer, error.keyword]);
    (found.valid, errors.collect())
}

/// Returns a description of invalid errors: errors must exist exactly if the verdict is false, point to an existing
/// value, and contain no value of the arguments.
fn invalid_errors(found: &Validation, instance: &Value, schema: &Value) -> Option<String> {
    if found.errors.is_empty() == (found.valid == Some(false)) {
        return Some(format!("errors and verdict differ: {found:?}"));
    }
    let (mut secrets, mut names, known) = (Vec::new(), String::new(), schema.to_string());
    strings(instance, &mut secrets, &mut names);
    // `null` is also the name of a type.
    secrets.retain(|secret| secret != "null");
    secrets.retain(|secret| secret.len() > 3 && !known.contains(secret.as_str()) && !names.contains(secret.as_str()));
    found.errors.iter().find_map(|error| {
        if instance.pointer(&error.pointer).is_none() {
            return Some(format!("no value at the pointer of {error:?}"));
        }
        let leaked = secrets.iter().find(|secret| error.message.contains(secret.as_str()));
        leaked.map(|secret| format!("{secret:?} is in the error: {error:?}"))
    })
}

fn strings(value: &Value, found: &mut Vec<String>, names: &mut String) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found, names)),
        Value::Object(members) => {
            for (name, inner) in members {
                names.push_str(name);
                strings(inner, found, names);
            }
        }
        _ => {}
    }
}
