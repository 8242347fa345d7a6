//! `repairArguments` on instances of generated schemas, as values and as text, damaged as models damage them, and on
//! arbitrary text.

use std::borrow::Cow;

use arbitrary::{Result, Unstructured};
use serde::de::IgnoredAny;
use serde_json::Value;
use toolwire::{
    internal::json,
    options::{Confidence, Truncated},
    repair_arguments,
    reports::{RepairRule, Repaired},
    validate_arguments, Code, RepairOptions,
};

use crate::{
    grammar::{self, Style},
    instances::Instances,
    Seeds,
};

mod spoil;

/// Number of instances per schema.
const INSTANCES: usize = 6;

/// Strings that also occur in messages.
#[rustfmt::skip]
const WORDS: [&str; 24] = [
    "null", "true", "false", "True", "False", "None", "text", "string", "number", "boolean", "array", "object", "nothing",
    "undefined", "value",
    "type", "required", "properties", "enum", "items", "const", "Repair", "here", "none",
];

type Verdict<T> = std::result::Result<T, String>;
type Done<'t> = Repaired<Cow<'t, str>>;

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> Result<Verdict<usize>> {
    let style = *data.choose(&[Style::Tidy, Style::Tidy, Style::Draft7, Style::Any])?;
    let schema = grammar::schema(data, style)?;
    // Numbers that a `Value` cannot represent only occur in text.
    let Ok(value) = serde_json::from_str::<Value>(&schema) else { return Ok(Ok(0)) };
    // The rest of the data determines the instances; if it ends, pseudorandom data follows.
    let rest = [data.bytes(data.len())?, schema.as_bytes()].concat();
    let seed = rest.iter().fold(0_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let mut more = Seeds::new(seed);
    let rest = [rest, more.input(), more.input(), more.input(), more.input()].concat();
    let (mut data, mut verdicts) = (Unstructured::new(&rest), 0);
    for _ in 0..INSTANCES {
        let mut instance = Instances::of(&value).one(&mut data)?;
        for _ in 0..data.int_in_range(0..=3)? {
            spoil::value(&mut instance, &mut data)?;
        }
        let text = match data.int_in_range(0..=9)? {
            0 => spoil::any(&mut data)?,
            1..=4 => spoil::text(&instance, &mut data)?,
            _ => instance.to_string(),
        };
        let options = options(&mut data)?;
        match holds(&text, &schema, &options) {
            Ok(count) => verdicts += count,
            Err(fault) => return Ok(Err(format!("{fault}\n  text {text}\n  of   {schema}\n  with {options:?}"))),
        }
    }
    Ok(Ok(verdicts))
}

fn options(data: &mut Unstructured<'_>) -> Result<RepairOptions> {
    let mut options = RepairOptions::default();
    if data.ratio(1_u8, 8_u8)? {
        options = options.use_defaults(true);
    }
    if data.ratio(1_u8, 8_u8)? {
        options = options.remove_additional(true);
    }
    if data.ratio(1_u8, 8_u8)? {
        options = options.truncated(Truncated::Close);
    }
    if data.ratio(1_u8, 8_u8)? {
        options = options.disable([*data.choose(RepairRule::ALL)?]);
    }
    Ok(options)
}

/// Checks the properties for any text and any schema.
fn holds(text: &str, schema: &str, options: &RepairOptions) -> Verdict<usize> {
    let parsed = serde_json::from_str::<Value>(text).ok();
    let done = match repair_arguments(text, schema, options) {
        Ok(done) => done,
        Err(error) => {
            let is_strict = parsed.as_ref().is_some_and(|value| !value.is_string());
            let is_expected = match error.code() {
                Code::InvalidJson => !is_strict,
                // The strict reader refuses an unpaired surrogate.
                Code::InvalidSchema | Code::TooDeep => true,
                _ => false,
            };
            secrets_stay(&[error.message().to_owned()], text, None, schema)?;
            return if is_expected { Ok(0) } else { Err(format!("an error: {error}")) };
        }
    };
    if serde_json::from_str::<IgnoredAny>(&done.arguments).is_err() {
        return Err(format!("the result is not JSON: {}", done.arguments));
    }
    // A `Value` cannot represent all numbers that text can contain.
    let Ok(result) = serde_json::from_str::<Value>(&done.arguments) else { return Ok(0) };
    if done.changed == done.repairs.is_empty() || (!done.changed && done.arguments != text) {
        return Err(format!("`changed` contradicts the result: {done:?}"));
    }
    if let Some(repair) = done.repairs.iter().find(|repair| options.disable.contains(&repair.rule)) {
        return Err(format!("a disabled rule was applied: {repair:?}"));
    }
    valid_arguments_stay(text, schema, &done)?;
    check_verdict(schema, &result, &done)?;
    second_run(schema, options, &done)?;
    exact_run(text, schema, options)?;
    each_rule_off(text, schema, options, &done)?;
    let messages = done.repairs.iter().map(|repair| format!("{repair:?}"));
    let messages: Vec<String> = messages.chain(done.left.iter().map(|left| format!("{left:?}"))).collect();
    secrets_stay(&messages, text, Some(&result), schema)?;
    // A string is parsed as the text of the arguments, but inside of text it is an ordinary value.
    if let Some(value) = parsed.filter(|value| !value.is_string()) {
        on_values((text, &value), schema, options, &result, &done)?;
    }
    Ok(1)
}

fn valid_arguments_stay(text: &str, schema: &str, done: &Done<'_>) -> Verdict<()> {
    let before = validate_arguments(text, schema).ok();
    if before.is_some_and(|before| before.valid == Some(true)) && (done.changed || done.valid != Some(true)) {
        return Err(format!("valid arguments were changed: {done:?}"));
    }
    Ok(())
}

fn check_verdict(schema: &str, result: &Value, done: &Done<'_>) -> Verdict<()> {
    let after = validate_arguments(&*done.arguments, schema).map_err(|error| format!("no verdict: {error}"))?;
    if let (Some(reported), Some(valid)) = (done.valid, after.valid) {
        if reported != valid {
            return Err(format!("validation of the result gives {valid}: {done:?}"));
        }
    }
    if done.left.is_empty() == (done.valid == Some(false)) {
        return Err(format!("`left` contradicts the verdict: {done:?}"));
    }
    if let Some(left) = done.left.iter().find(|left| result.pointer(&left.pointer).is_none()) {
        return Err(format!("no value at the pointer of {left:?} in {result}"));
    }
    let mut places = done.repairs.iter().filter_map(|repair| Some((repair, repair.output_pointer.as_ref()?)));
    match places.find(|(_, pointer)| result.pointer(pointer).is_none()) {
        Some((repair, _)) => Err(format!("no value at the output pointer of {repair:?} in {result}")),
        None => Ok(()),
    }
}

/// Checks that a second run changes nothing.
fn second_run(schema: &str, options: &RepairOptions, done: &Done<'_>) -> Verdict<()> {
    let again = repair_arguments(&*done.arguments, schema, options);
    let again = again.map_err(|error| format!("the result is refused: {error}: {}", done.arguments))?;
    if again.changed {
        return Err(format!("a second run changes the result: {done:?}\n  then {again:?}"));
    }
    Ok(())
}

/// Checks that only exact repairs are applied if only those are enabled.
fn exact_run(text: &str, schema: &str, options: &RepairOptions) -> Verdict<()> {
    let Ok(exact) = repair_arguments(text, schema, &options.clone().confidence(Confidence::Exact)) else {
        return Ok(());
    };
    match exact.repairs.iter().find(|repair| repair.confidence != Confidence::Exact) {
        Some(repair) => Err(format!("a guess although guesses are disabled: {repair:?}")),
        None => Ok(()),
    }
}

/// Checks that a disabled rule is not applied.
fn each_rule_off(text: &str, schema: &str, options: &RepairOptions, done: &Done<'_>) -> Verdict<()> {
    let mut rules: Vec<RepairRule> = done.repairs.iter().map(|repair| repair.rule).collect();
    rules.dedup();
    for rule in rules {
        let without = repair_arguments(text, schema, &options.clone().disable([rule]));
        if without.is_ok_and(|without| without.repairs.iter().any(|repair| repair.rule == rule)) {
            return Err(format!("{} is disabled, but was applied", rule.as_str()));
        }
    }
    Ok(())
}

/// Checks that values give the same result as their text.
fn on_values(
    (text, value): (&str, &Value),
    schema: &str,
    options: &RepairOptions,
    result: &Value,
    done: &Done<'_>,
) -> Verdict<()> {
    let Ok(parsed) = serde_json::from_str::<Value>(schema) else { return Ok(()) };
    let rest = |done: &[toolwire::reports::Repair]| format!("{done:?}");
    let found = match repair_arguments(value, &parsed, options) {
        Ok(found) => found,
        Err(error) => return Err(format!("an error on values only: {error}")),
    };
    // A `Value` preserves neither the spelling of a number, nor all digits of a large one, nor duplicate names.
    let is_kept = !["draft-04", "18446744073709551616", "1e400"].iter().any(|odd| schema.contains(odd));
    let spelled = value.to_string();
    let is_kept = is_kept && json::read(text).is_ok_and(|read| json::write(&read) == spelled);
    if is_kept && (found.arguments != *result || rest(&found.repairs) != rest(&done.repairs)) {
        return Err(format!("on values: {found:?}\n  on text: {done:?}"));
    }
    Ok(())
}

/// Checks that no message contains a value of the arguments that the schema does not contain.
fn secrets_stay(reported: &[String], text: &str, result: Option<&Value>, schema: &str) -> Verdict<()> {
    let (mut secrets, mut names) = (Vec::new(), String::new());
    let parsed = serde_json::from_str::<Value>(text).ok();
    for value in parsed.iter().chain(result) {
        strings(value, &mut secrets, &mut names);
    }
    let plain = |text: &str| text.replace(['"', '\\', '\'', ',', ' '], "");
    let known = [plain(schema), plain(&names), WORDS.join("\n")];
    secrets.retain(|secret| secret.chars().count() > 3 && !known.iter().any(|known| known.contains(&plain(secret))));
    let reported = reported
        .iter()
        .find_map(|reported| secrets.iter().find(|secret| reported.contains(*secret)).zip(Some(reported)));
    match reported {
        Some((secret, reported)) => Err(format!("{secret:?} is in the report: {reported}")),
        None => Ok(()),
    }
}

fn strings(value: &Value, found: &mut Vec<String>, names: &mut String) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found, names)),
        Value::Object(members) => {
            for (name, inner) in members {
                names.push_str(name);
                names.push('\n');
                strings(inner, found, names);
            }
        }
        _ => {}
    }
}
