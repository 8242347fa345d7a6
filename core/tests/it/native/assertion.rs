//! An assertion about a request, in a row of reference data: a pointer, whose steps may select items of lists, and the
//! expected value.

use serde_json::Value;

pub(crate) struct Assertion<'a> {
    at: &'a str,
    assertion: &'a Value,
}

impl<'a> Assertion<'a> {
    pub(crate) fn read(assertion: &'a Value) -> Self {
        Assertion { at: assertion["at"].as_str().expect("a pointer"), assertion }
    }

    pub(crate) fn fault(&self, request: &Value) -> Option<String> {
        let value_at = at(request, self.at);
        let wants = |key: &str| self.assertion.get(key);
        let is_satisfied = if let Some(value) = wants("is") {
            value_at.as_ref() == Some(value)
        } else if wants("absent").is_some() {
            value_at.is_none()
        } else if wants("exists").is_some() {
            value_at.is_some()
        } else if let Some(length) = wants("length").and_then(Value::as_u64) {
            value_at.as_ref().and_then(Value::as_array).is_some_and(|list| list.len() as u64 == length)
        } else if let Some(part) = wants("includes").and_then(Value::as_str) {
            value_at.as_ref().is_some_and(|value_at| value_as_text(value_at).contains(part))
        } else if let Some(part) = wants("excludes").and_then(Value::as_str) {
            !value_at.as_ref().is_some_and(|value_at| value_as_text(value_at).contains(part))
        } else if let Some(set) = wants("set").and_then(Value::as_array) {
            value_at.as_ref().and_then(Value::as_array).is_some_and(|list| is_permutation(list, set))
        } else {
            panic!("expected an assertion, found {}", self.assertion)
        };
        (!is_satisfied).then(|| format!("expected {}, found {}", self.assertion, value_at.unwrap_or_default()))
    }
}

fn is_permutation(list: &[Value], set: &[Value]) -> bool {
    let mut left: Vec<&Value> = set.iter().collect();
    list.len() == set.len()
        && list.iter().all(|item| left.iter().position(|other| *other == item).map(|at| left.swap_remove(at)).is_some())
}

/// Returns strings unchanged, and other values as JSON with the spaces that Python writes.
fn value_as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(quote).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let members = object.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), quote(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn quote(value: &Value) -> String {
    match value {
        Value::String(_) => value.to_string(),
        other => value_as_text(other),
    }
}

fn at(value: &Value, pointer: &str) -> Option<Value> {
    let Some(rest) = pointer.strip_prefix('/') else { return Some(value.clone()) };
    // Selecting steps in this data contain no slash.
    let (step, rest) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
    if step == "*" {
        let found = value.as_array()?.iter().filter_map(|item| at(item, rest)).collect();
        return Some(Value::Array(found));
    }
    if step == "@json" {
        let parsed: Value = serde_json::from_str(value.as_str()?).ok()?;
        return at(&parsed, rest);
    }
    if let Some((path, wanted)) = step.strip_prefix('[').and_then(|step| step.strip_suffix(']')?.split_once('=')) {
        let holds = |item: &&Value| {
            let found = path.split('.').try_fold(*item, |value, key| value.get(key));
            found.and_then(Value::as_str) == Some(wanted)
        };
        return at(value.as_array()?.iter().find(holds)?, rest);
    }
    let key = step.replace("~1", "/").replace("~0", "~");
    let child = match value {
        Value::Array(items) if key == "-1" => items.last(),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(&key),
    };
    at(child?, rest)
}
