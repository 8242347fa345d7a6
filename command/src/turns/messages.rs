//! Summarizes messages for display: their authors, text, calls and tools. Compares the messages of two turns:
//! unchanged, changed and new ones.

use std::collections::BTreeMap;

use toolwire::internal::json::{self, Data, Node};

use super::history::items;

pub(super) fn author(message: &Node<'_>) -> String {
    let text = |key| message.text_at(key).map(|text| text.display().into_owned());
    let kind = text("type").unwrap_or_default();
    match text("role") {
        Some(role) => role,
        None if kind.ends_with("_output") => "tool".into(),
        None if kind.is_empty() => "user".into(),
        None => "assistant".into(),
    }
}

pub(super) fn pieces(message: &Node<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if message.as_text().is_some() {
        part(message, &mut out);
        return out;
    }
    if message.get("role").is_none() || message.get("content").is_none() {
        item(message, &mut out);
    }
    if message.get("role").is_some() {
        items(message, "content").iter().for_each(|each| part(each, &mut out));
    }
    for call in items(message, "tool_calls") {
        let called = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
        out.push(calls(&label(called), called.get("arguments").or_else(|| called.get("input"))));
    }
    out
}

fn item(item: &Node<'_>, out: &mut Vec<String>) {
    let kind = kind(item);
    let brought = items(item, "tools");
    match kind.as_str() {
        "tool_search_call" => out.push(calls("tool_search", item.get("arguments"))),
        "function_call" | "custom_tool_call" => {
            out.push(calls(&label(item), item.get("arguments").or_else(|| item.get("input"))));
        }
        _ if brought.is_empty() && item.get("tools").is_some() => out.push("adds no tools".into()),
        _ if !brought.is_empty() => {
            let names = brought.iter().map(|tool| match items(tool, "tools") {
                [] => label(tool),
                members => members.iter().map(label).collect::<Vec<_>>().join(", "),
            });
            out.push(format!("adds {}", names.collect::<Vec<_>>().join(", ")));
        }
        _ if item.get("output").is_some() => items(item, "output").iter().for_each(|each| part(each, out)),
        "" => {}
        _ => out.push(kind),
    }
}

fn part(block: &Node<'_>, out: &mut Vec<String>) {
    if let Some(text) = block.as_text().or_else(|| block.get("text")?.as_text()) {
        out.extend(Some(text.display().into_owned()).filter(|text| !text.is_empty()));
        return;
    }
    let tool = || block.get("tool").map(|tool| tool.get("definition").map_or_else(|| label(tool), label));
    match (kind(block).as_str(), tool()) {
        ("tool_use" | "server_tool_use", _) => out.push(calls(&label(block), block.get("input"))),
        ("tool_addition", Some(tool)) => out.push(format!("adds {tool}")),
        ("tool_removal", Some(tool)) => out.push(format!("removes {tool}")),
        ("tool_reference", _) => {
            let name = block.text_at("tool_name");
            out.extend(name.map(|name| format!("refers to {}", name.display())));
        }
        ("", _) => {}
        (kind, _) if block.get("content").is_some() || block.get("tool_references").is_some() => {
            let inside = items(block, "content").iter().chain(items(block, "tool_references"));
            let before = out.len();
            inside.for_each(|each| part(each, out));
            if out.len() == before {
                out.push(kind.into());
            }
        }
        (kind, _) => out.push(kind.into()),
    }
}

fn kind(node: &Node<'_>) -> String {
    node.text_at("type").map(|kind| kind.display().into_owned()).unwrap_or_default()
}

fn calls(name: &str, arguments: Option<&Node<'_>>) -> String {
    let arguments = arguments.map(|arguments| match arguments.data() {
        Data::String(text) => text.display().into_owned(),
        _ => json::write(arguments),
    });
    format!("calls {name} {}", arguments.unwrap_or_default())
}

/// Maximum number of equal messages that are considered before the index of a message, and after it. Considering all
/// equal messages would take quadratic time.
const NEAR: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageHash {
    pub(super) who: u64,
    pub(super) print: u64,
}

/// A message that the previous turn did not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fresh {
    pub(super) at: usize,
    /// The message replaces a message of the same author.
    pub(super) is_changed: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NewMessages {
    pub(super) fresh: Vec<Fresh>,
    /// Number of messages that were removed without a replacement by the same author.
    pub(super) gone: usize,
}

impl NewMessages {
    pub(super) fn between(before: &[MessageHash], now: &[MessageHash]) -> NewMessages {
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, message) in before.iter().enumerate() {
            places.entry(message.print).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for (at, message) in now.iter().enumerate() {
            let same = places.get(&message.print).map(Vec::as_slice).unwrap_or_default();
            let first = same.partition_point(|old_index| *old_index < at).saturating_sub(NEAR);
            // In descending order, so that at most one index of a message is in an increasing sequence.
            pairs.extend(same.iter().skip(first).take(2 * NEAR).rev().map(|old_index| (at, *old_index)));
        }
        let mut changes = NewMessages::default();
        let (mut from, mut past) = (0, 0);
        for (at, old_index) in in_order(&pairs).into_iter().chain([(now.len(), before.len())]) {
            let old = before.get(past..old_index).unwrap_or_default();
            changes.gap(old, now.get(from..at).unwrap_or_default(), from);
            (from, past) = (at + 1, old_index + 1);
        }
        changes
    }

    fn gap(&mut self, mut old: &[MessageHash], now: &[MessageHash], from: usize) {
        for (at, message) in now.iter().enumerate() {
            let same = old.iter().position(|other| other.who == message.who);
            if let Some(old_index) = same {
                self.gone += old_index;
                old = old.get(old_index + 1..).unwrap_or_default();
            }
            self.fresh.push(Fresh { at: from + at, is_changed: same.is_some() });
        }
        self.gone += old.len();
    }

    pub(super) fn changed(&self) -> usize {
        self.fresh.iter().filter(|fresh| fresh.is_changed).count()
    }
}

/// Returns a longest subsequence of pairs whose second numbers increase.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let old_index = |pair: usize| pairs.get(pair).map(|(_, old_index)| *old_index);
    // For each length, the pair that ends the best sequence so far; for each pair, its predecessor in the sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut earlier: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for pair in 0..pairs.len() {
        let length = ends.partition_point(|end| old_index(*end) < old_index(pair));
        earlier.push(length.checked_sub(1).and_then(|last| ends.get(last).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = pair,
            None => ends.push(pair),
        }
    }
    let run = std::iter::successors(ends.last().copied(), |pair| earlier.get(*pair).copied().flatten());
    let mut run: Vec<_> = run.filter_map(|pair| pairs.get(pair).copied()).collect();
    run.reverse();
    run
}

pub(super) fn is_deferred(tool: &Node<'_>) -> bool {
    let flagged = |node: &Node<'_>| node.bool_at("defer_loading") == Some(true);
    flagged(tool) || tool.get("function").is_some_and(flagged)
}

pub(super) fn label(tool: &Node<'_>) -> String {
    let within = |key| tool.get(key).and_then(|inner| inner.get("name"));
    let name = tool.get("name").or_else(|| within("function")).or_else(|| within("custom"));
    let label = name.or_else(|| tool.get("type")).and_then(Node::as_text);
    label.map_or_else(|| String::from("?"), |label| label.display().into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Fresh, MessageHash, NewMessages};

    /// Letters are authors, digits their messages.
    fn list(text: &str) -> Vec<MessageHash> {
        let hash = |word: &str| {
            let mut letters = word.bytes();
            let who = letters.next().map_or(0, u64::from);
            MessageHash { who, print: letters.fold(who, |print, letter| print * 256 + u64::from(letter)) }
        };
        text.split_whitespace().map(hash).collect()
    }

    #[test]
    fn new_messages_are_found() {
        let cases: [(&str, &str, &str, usize); 10] = [
            ("", "s1 u1", "+0 +1", 0),
            ("s1 u1", "s1 u1 a1 u2", "+2 +3", 0),
            // The first message changes, and only that is reported.
            ("s1 u1 a1", "s2 u1 a1 u2", "~0 +3", 0),
            // One message is removed, and those after it are not new.
            ("u1 s1 a1 t1", "u1 a1 t1 u2", "+3", 1),
            // One message is inserted before others.
            ("u1 a1", "u1 s1 a1 u2", "+1 +3", 0),
            // Repeated messages.
            ("u1 a1 u1 a1", "u1 a1 u1 a1 u1", "+4", 0),
            ("u1 a1 u1", "u2 a1 u1 a2", "~0 +3", 0),
            // The last message keeps its index, but its content changes.
            ("u1 s1", "u1 a1 t1 s2", "+1 +2 ~3", 0),
            ("u1 a1", "", "", 2),
            // An unusual order.
            ("u1 a1 t1", "t1 u1 a1", "+0", 1),
        ];
        for (before, now, expected, gone) in cases {
            let changes = NewMessages::between(&list(before), &list(now));
            let word = |fresh: &Fresh| format!("{}{}", if fresh.is_changed { '~' } else { '+' }, fresh.at);
            let found = changes.fresh.iter().map(word).collect::<Vec<_>>().join(" ");
            assert_eq!((found.as_str(), changes.gone), (expected, gone), "{before} -> {now}");
        }
    }
}
