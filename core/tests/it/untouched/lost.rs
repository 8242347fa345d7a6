//! Finds strings and members of a request that are neither in the request that is sent nor in the report.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

#[derive(Default)]
pub(crate) struct Covered {
    pointers: Vec<String>,
    names: BTreeSet<String>,
}

impl Covered {
    pub(crate) fn add_pointer(&mut self, pointer: &str) {
        self.pointers.push(pointer.into());
    }

    pub(crate) fn add_name(&mut self, name: &str) {
        self.names.insert(name.into());
    }

    fn has(&self, at: &Location<'_>) -> bool {
        let is_below = |above: &String| {
            at.pointer.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.pointers.iter().any(is_below) || at.names.iter().any(|name| self.names.contains(*name))
    }
}

#[derive(Clone, Default)]
struct Location<'v> {
    pointer: String,
    /// Names of the members above the location, and of the tools that contain the location.
    names: Vec<&'v str>,
}

impl<'v> Location<'v> {
    fn member(&self, key: &'v str) -> Self {
        let mut below = self.clone();
        below.pointer += &format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        below.names.push(key);
        below
    }

    fn item(&self, index: usize) -> Self {
        Location { pointer: format!("{}/{index}", self.pointer), names: self.names.clone() }
    }
}

#[derive(Default)]
struct Parts<'v> {
    strings: Vec<(&'v str, Location<'v>)>,
    members: BTreeMap<&'v str, Vec<Location<'v>>>,
}

impl<'v> Parts<'v> {
    fn of(value: &'v Value) -> Self {
        let mut parts = Parts::default();
        parts.read(value, Location::default());
        parts
    }

    fn read(&mut self, value: &'v Value, mut at: Location<'v>) {
        match value {
            Value::String(text) => self.strings.push((text, at)),
            Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| self.read(item, at.item(index))),
            Value::Object(members) => {
                let function = members.get("function").unwrap_or(value);
                at.names.extend(["name", "type"].iter().filter_map(|key| function[*key].as_str()));
                for (key, member) in members {
                    let below = at.member(key);
                    self.members.entry(key).or_default().push(below.clone());
                    self.read(member, below);
                }
            }
            _ => {}
        }
    }
}

/// Returns a part of the input that is neither in the output nor covered, as text.
pub(crate) fn first(input: &Value, output: &Value, covered: &Covered) -> Option<String> {
    let (before, after) = (Parts::of(input), Parts::of(output));
    let texts: BTreeSet<&str> = after.strings.iter().map(|(text, _)| *text).collect();
    let all = texts.iter().copied().collect::<Vec<_>>().join("\n");
    let is_sent = |text: &str| texts.contains(text) || all.contains(text) || is_sent_as_json(text, &texts);
    let lost = before.strings.iter().find(|(text, at)| !is_sent(text) && !covered.has(at));
    if let Some((_, at)) = lost {
        return Some(format!("a string at {}", at.pointer));
    }
    for (key, locations) in &before.members {
        let left = after.members.get(key).map_or(0, Vec::len);
        let gone = locations.len().saturating_sub(left);
        if gone == 0 {
            continue;
        }
        let moved: Vec<&Location<'_>> = locations.iter().filter(|at| output.pointer(&at.pointer).is_none()).collect();
        let uncovered: Vec<&&Location<'_>> = moved.iter().filter(|at| !covered.has(at)).collect();
        // `moved` may contain more members than are gone, because the items after a removed item also get a new
        // pointer.
        if moved.len() - uncovered.len() < gone {
            let at = uncovered.first().map_or_else(String::new, |at| at.pointer.clone());
            return Some(format!("{gone} times the member `{key}`, at {at}"));
        }
    }
    None
}

/// Returns true if a string is JSON text that is written in another way.
fn is_sent_as_json(text: &str, sent: &BTreeSet<&str>) -> bool {
    let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) else { return false };
    sent.iter().any(|other| serde_json::from_str::<Value>(other).is_ok_and(|other| other == value))
}
