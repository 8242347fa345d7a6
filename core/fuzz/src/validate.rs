//! The verdicts of `validateArguments`, held against a validator, in every draft.

use arbitrary::{Result, Unstructured};
use jsonschema::Draft;
use serde_json::{json, Value};
use toolwire::validate_arguments;

use crate::{
    circles,
    grammar::{self, Style},
    instances::Instances,
};

/// Instances of each schema.
const INSTANCES: usize = 12;

/// The drafts, each with the mark that `$schema` has; the newest needs none.
const DRAFTS: [(Draft, &str); 5] = [
    (Draft::Draft202012, ""),
    (Draft::Draft7, "http://json-schema.org/draft-07/schema#"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/schema"),
    (Draft::Draft6, "http://json-schema.org/draft-06/schema#"),
    (Draft::Draft4, "http://json-schema.org/draft-04/schema#"),
];

/// What may be unknown, as it stands in the text of a schema.
const OPEN: [&str; 5] = ["unevaluated", "$dynamicRef", "$recursiveRef", "pattern", "\"$ref\""];

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> Result<std::result::Result<usize, String>> {
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
    // What a draft does not allow is nothing to compare.
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
        match found.valid {
            Some(valid) if valid == expected && found.errors.is_empty() == valid => verdicts += 1,
            None if is_open && found.errors.is_empty() => {}
            _ => return Ok(Err(format!("{draft:?}: {schema} on {instance}: {expected} expected, found {found:?}"))),
        }
    }
    Ok(Ok(verdicts))
}
