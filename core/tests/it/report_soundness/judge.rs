//! Checks the report on one schema: a validator evaluates instances before and after rewriting.
//!
//! The fuzzer uses this module with generated schemas (`core/fuzz`).

use std::{collections::BTreeMap, panic::AssertUnwindSafe};

use jsonschema::{Draft, Validator};
use serde_json::{json, Value};
use toolwire::{
    check,
    reports::{Accepts, Change, Severity},
    restore_arguments, sanitize, Code, RestorePlan, SanitizeOptions,
};

use super::{answers::answers, named::named, openapi};

pub(crate) struct Judgement {
    pub(crate) faults: Vec<String>,
    /// Number of instances with a verdict from the validator, before and after.
    #[allow(dead_code, reason = "only the fuzzer counts them")]
    pub(crate) verdicts: usize,
    /// Number of verdicts in which an undefined property is refused, and the report states at most `closed`.
    #[allow(dead_code, reason = "the fuzzer does not count them")]
    pub(crate) shut_out: usize,
    /// `lossless`, the worst reported effect, `encoded`, or the code of an error.
    pub(crate) became: &'static str,
    #[allow(dead_code, reason = "only the fuzzer builds replies from it")]
    pub(crate) sent: Option<Sent>,
}

pub(crate) struct Sent {
    pub(crate) plan: RestorePlan,
    pub(crate) schema: Value,
    before: Validator,
    after: Validator,
    /// Accepts the instances that `before` accepts, except those with undefined properties. `None` if the validator
    /// cannot decide that.
    named: Option<Validator>,
    changes: Vec<Change>,
}

impl Sent {
    pub(crate) fn has_change(&self, wanted: Accepts) -> bool {
        self.changes.iter().any(|change| change.accepts == wanted || change.accepts == Accepts::Mixed)
    }

    /// Returns true if the report states that this instance is lost; `None` if that cannot be decided.
    fn reports_loss(&self, instance: &Value) -> Option<bool> {
        if self.has_change(Accepts::Narrower) || self.changes.iter().all(|change| change.accepts != Accepts::Closed) {
            return Some(self.has_change(Accepts::Narrower));
        }
        Some(!valid(self.named.as_ref()?, instance)?)
    }

    /// Reads the new names, by the old names, from the messages.
    fn renamed(&self) -> BTreeMap<String, String> {
        let names = |change: &Change| -> Option<(String, String)> {
            let (old, new) =
                change.message.strip_prefix("renamed the property `")?.strip_suffix('`')?.split_once("` to `")?;
            Some((old.into(), new.into()))
        };
        self.changes.iter().filter_map(names).collect()
    }

    /// Returns the name and the schema of the property that wraps the whole answer.
    fn wrapper(&self) -> Option<(&str, &Value)> {
        let change = self.changes.iter().find(|change| change.rule.id() == "wrap-root")?;
        let pointer = change.output_pointer.as_deref()?;
        Some((pointer.rsplit('/').next()?, self.schema.pointer(pointer)?))
    }

    fn is_encoded(&self) -> bool {
        self.changes.iter().any(|change| change.encoded)
    }
}

pub(crate) fn readable(output: &Value, options: &SanitizeOptions) -> Value {
    if ["gemini", "vertex", "cowork"].contains(&options.dialect.as_str()) {
        openapi::in_json_schema(output)
    } else {
        output.clone()
    }
}

fn validator(schema: &Value, draft: Draft) -> Option<Validator> {
    jsonschema::options().with_draft(draft).should_validate_formats(false).build(schema).ok()
}

#[allow(dead_code, reason = "the fuzzer does not use it")]
pub(crate) fn is_named(named: &Value, instance: &Value) -> Option<bool> {
    valid(&validator(named, Draft::Draft202012)?, instance)
}

/// Returns true if a value is valid, or `None` if the validator panics, which happens with some schemas (0.60.2:
/// "pending schema target dropped").
fn valid(validator: &Validator, value: &Value) -> Option<bool> {
    std::panic::catch_unwind(AssertUnwindSafe(|| validator.is_valid(value))).ok()
}

fn without_verdicts(became: &'static str, faults: Vec<String>) -> Judgement {
    Judgement { faults, verdicts: 0, shut_out: 0, became, sent: None }
}

pub(crate) fn judge(schema: &Value, draft: Draft, instances: &[Value], options: &SanitizeOptions) -> Judgement {
    let Some(before) = validator(schema, draft) else {
        return without_verdicts("input unreadable to the validator", Vec::new());
    };
    let result = match sanitize(schema, options) {
        Ok(result) => result,
        Err(error) => {
            // An error is only acceptable if the schema accepts no object.
            let accepted = instances.iter().find(|instance| valid(&before, instance) == Some(true));
            let is_fault = error.code() != Code::NotRepresentable || accepted.is_some();
            let fault = is_fault.then(|| format!("{error}, and {accepted:?} is accepted\n  in  {schema}"));
            return without_verdicts(error.code().as_str(), fault.into_iter().collect());
        }
    };
    let (changes, lossless) = (result.changes().unwrap_or_default().to_vec(), result.lossless() == Ok(true));
    let plan = result.restore_plan().cloned().unwrap_or_default();
    let output = result.schema;
    let mut faults = Vec::new();
    let again = sanitize(&output, options);
    if again.as_ref().map(|again| &again.schema).ok() != Some(&output) {
        faults.push(format!(
            "not idempotent\n  in  {schema}\n  out {output}\n  2nd {:?}",
            again.map(|again| again.schema.to_string())
        ));
    }
    match check(&output, options) {
        Ok(violations) if violations.iter().all(|violation| violation.severity == Severity::Ignored) => {}
        other => faults.push(format!("check {other:?}\n  in  {schema}\n  out {output}")),
    }
    let output_draft = if output["$schema"].as_str().is_some_and(|name| name.contains("draft-07")) {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    let Some(after) = validator(&readable(&output, options), output_draft) else {
        let why = jsonschema::options().with_draft(output_draft).build(&output).err().map(|error| error.to_string());
        faults.push(format!("output unreadable to the validator: {why:?}\n  in  {schema}\n  out {output}"));
        return without_verdicts("output unreadable to the validator", faults);
    };
    let worst = changes.iter().fold(Accepts::Same, |worst, change| worst.and(change.accepts));
    let named = validator(&named(schema, draft == Draft::Draft7), Draft::Draft202012);
    let sent = Sent { schema: output, before, after, named, changes, plan };
    let became = if sent.is_encoded() {
        "encoded"
    } else if lossless {
        "lossless"
    } else {
        worst.as_str()
    };
    let (mut verdicts, mut shut_out) = (0, 0);
    for instance in instances {
        let verdict = if sent.is_encoded() {
            judge_encoded(&sent, schema, instance)
        } else {
            judge_plain(&sent, schema, instance)
        };
        verdicts += usize::from(verdict.is_some());
        match verdict {
            Some(Ok(Outcome::ShutOut)) => shut_out += 1,
            Some(Err(fault)) => faults.push(fault),
            Some(Ok(Outcome::Reported)) | None => {}
        }
    }
    Judgement { faults, verdicts, shut_out, became, sent: Some(sent) }
}

/// The result for one instance: an error if the report is wrong, `None` if the validator cannot decide.
type Verdict = Option<Result<Outcome, String>>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Refused because of an undefined property.
    ShutOut,
    Reported,
}

impl Outcome {
    fn of(sent: &Sent, was: bool, is: bool) -> Outcome {
        if was && !is && !sent.has_change(Accepts::Narrower) {
            Outcome::ShutOut
        } else {
            Outcome::Reported
        }
    }
}

/// Judges arguments that are not encoded. The report has to state if the instance is lost or gained.
fn judge_plain(sent: &Sent, schema: &Value, instance: &Value) -> Verdict {
    let (was, is) = (valid(&sent.before, instance)?, valid(&sent.after, instance)?);
    let is_reported = match (was, is) {
        (true, false) => sent.reports_loss(instance)?,
        (false, true) => sent.has_change(Accepts::Wider),
        _ => true,
    };
    let rule = |change: &Change| format!("{} {} {}", change.pointer, change.rule, change.accepts.as_str());
    if is_reported {
        return Some(Ok(Outcome::of(sent, was, is)));
    }
    let rules: Vec<String> = sent.changes.iter().map(rule).collect();
    Some(Err(format!("{instance} was {was}, is {is}\n  in  {schema}\n  out {}\n  {rules:?}", sent.schema)))
}

/// Simulates answers of a model that reads the rewritten schema, restores them, and checks whether one of them is
/// restored to the instance.
fn judge_encoded(sent: &Sent, schema: &Value, instance: &Value) -> Verdict {
    let names = sent.renamed();
    let mut accepted = Vec::new();
    let wrapper = sent.wrapper();
    let schema_of_all = wrapper.map_or(&sent.schema, |(_, schema)| schema);
    let found = answers(instance, schema_of_all, &sent.schema, &names)?;
    for mut answer in found.answers {
        if let Some((name, _)) = wrapper {
            answer = json!({ name: answer });
        }
        if valid(&sent.after, &answer)? {
            accepted.push(answer);
        }
    }
    let restored: Vec<Option<Value>> =
        accepted.iter().map(|answer| restore_arguments(answer, &sent.plan).ok()).collect();
    let was = valid(&sent.before, instance)?;
    // An open object may have a member with the old name, which is no longer constrained.
    let has_expected_names = |answer: &Value| was || !names.keys().any(|old| has_member(answer, old));
    let comes_back = accepted
        .iter()
        .zip(&restored)
        .any(|(answer, value)| has_expected_names(answer) && value.as_ref().is_some_and(|value| same(value, instance)));
    let is_reported = match (was, comes_back) {
        // One of the answers that were dropped might be restored to the instance.
        (true, false) if !found.are_all && !sent.reports_loss(instance)? => return None,
        (true, false) => sent.reports_loss(instance)?,
        (false, true) => sent.has_change(Accepts::Wider),
        _ => true,
    };
    let fault = || {
        format!("{instance} (valid: {was}) as {accepted:?} became {restored:?}\n  in  {schema}\n  out {}", sent.schema)
    };
    Some(if is_reported { Ok(Outcome::of(sent, was, comes_back)) } else { Err(fault()) })
}

fn has_member(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => members.contains_key(name) || members.values().any(|inner| has_member(inner, name)),
        Value::Array(items) => items.iter().any(|inner| has_member(inner, name)),
        _ => false,
    }
}

/// Returns true if two values are equal by JSON Schema's definition: `1` equals `1.0`.
pub(crate) fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| two.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == two,
    }
}

/// Checks that arguments generated from the rewritten schema alone are restored to values that the tool accepts, unless
/// the report states otherwise. `None` if the rewritten schema refuses the arguments, or the report makes no statement
/// about them.
#[allow(dead_code, reason = "only the fuzzer uses it")]
pub(crate) fn answered(sent: &Sent, schema: &Value, answer: &Value) -> Verdict {
    // An open object may have a member with the old name, which is no longer constrained.
    let has_old_name = || sent.renamed().iter().any(|(old, _)| has_member(answer, old));
    if sent.has_change(Accepts::Wider) || !valid(&sent.after, answer)? || has_old_name() {
        return None;
    }
    let restored = restore_arguments(answer, &sent.plan);
    let accepted = match &restored {
        Ok(restored) => valid(&sent.before, restored)?,
        Err(_) => false,
    };
    let fault = || format!("the answer {answer} is restored as {restored:?}\n  in  {schema}\n  out {}", sent.schema);
    Some(if accepted { Ok(Outcome::Reported) } else { Err(fault()) })
}
