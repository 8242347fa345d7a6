//! The prompt of a request in the order in which the model reads it: tools, instructions, messages. Prompt caches store
//! the common prefix of two prompts.
//!
//! A prompt is stored as lengths and hashes, which are enough to compare it with the next one.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher},
};

use toolwire::internal::json::{self, Node, Object};

use super::{
    history::items,
    messages::{self, is_deferred, label, MessageHash, NewMessages},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Tools,
    Instructions,
    Messages,
}

#[derive(Debug)]
struct Entry {
    part: Part,
    key: &'static str,
    /// Index, if the member is a list.
    at: Option<usize>,
    bytes: usize,
    hashes: MessageHash,
}

#[derive(Debug, Default)]
pub(super) struct Prompt(Vec<Entry>);

#[derive(Debug)]
pub(super) struct Growth {
    /// Pointer to the first difference. `None` if the previous prompt is a prefix of this prompt.
    pub(super) parts_at: Option<String>,
    /// Index of the first message that is new or changed.
    pub(super) first_message: usize,
    pub(super) bytes: usize,
    pub(super) new_bytes: usize,
    pub(super) new_messages: NewMessages,
}

/// The parts of a prompt. Messages come last, because they can refer to definitions in the other parts.
const PARTS: [(Part, &str); 5] = [
    (Part::Tools, "tools"),
    (Part::Instructions, "instructions"),
    (Part::Instructions, "system"),
    (Part::Messages, "messages"),
    (Part::Messages, "input"),
];

impl Prompt {
    pub(super) fn of(request: &Node<'_>) -> Prompt {
        let mut waiting: BTreeMap<String, String> = BTreeMap::new();
        let mut entries = Vec::new();
        for (part, key) in PARTS {
            let is_list = request.get(key).is_some_and(|value| value.as_array().is_some());
            for (at, item) in items(request, key).iter().enumerate() {
                // A provider with native deferred tools shows a definition where it is loaded, not in the list.
                if part == Part::Tools && is_deferred(item) {
                    waiting.insert(label(item), json::write(item));
                    continue;
                }
                let mut text = json::write(item);
                match part {
                    Part::Tools => text = at_once(item).as_ref().map_or(text, json::write),
                    Part::Messages => collect_loaded_names(item, &mut |name| text.extend(waiting.remove(name))),
                    Part::Instructions => {}
                }
                let hashes = MessageHash { who: hash(&messages::author(item)), print: hash(&text) };
                entries.push(Entry { part, key, at: is_list.then_some(at), bytes: text.len(), hashes });
            }
        }
        Prompt(entries)
    }

    pub(super) fn since(&self, before: &Prompt) -> Growth {
        let same = |(one, other): &(&Entry, &Entry)| one.is(other);
        let common = self.0.iter().zip(&before.0).take_while(same).count();
        // A removed entry may belong to an earlier part than the current one.
        let parted = self.0.get(common).into_iter().chain(before.0.get(common)).min_by_key(|entry| entry.part);
        let new = self.0.get(common..).unwrap_or_default();
        let length = |entries: &[Entry]| entries.iter().map(|entry| entry.bytes).sum();
        let hashes = |prompt: &Prompt| prompt.messages().iter().map(|entry| entry.hashes).collect::<Vec<_>>();
        Growth {
            parts_at: parted.filter(|_| common < before.0.len()).map(Entry::pointer),
            // Unchanged messages are not new, even if the cached prefix ends before them.
            first_message: self.messages().iter().zip(before.messages()).take_while(same).count(),
            bytes: length(&self.0),
            new_bytes: length(new),
            new_messages: NewMessages::between(&hashes(before), &hashes(self)),
        }
    }

    fn messages(&self) -> &[Entry] {
        let first = self.0.iter().position(|entry| entry.part == Part::Messages);
        first.and_then(|first| self.0.get(first..)).unwrap_or_default()
    }
}

impl Entry {
    fn is(&self, other: &Entry) -> bool {
        self.part == other.part && self.bytes == other.bytes && self.hashes.print == other.hashes.print
    }

    fn pointer(&self) -> String {
        self.at.map_or_else(|| format!("/{}", self.key), |at| format!("/{}/{at}", self.key))
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Returns a namespace without its deferred members, or `None` if it has no deferred members.
fn at_once<'a>(tool: &Node<'a>) -> Option<Node<'a>> {
    let members = items(tool, "tools");
    if !members.iter().any(is_deferred) {
        return None;
    }
    let shown = || Node::array(members.iter().filter(|member| !is_deferred(member)).cloned().collect());
    let kept = tool
        .as_object()?
        .iter()
        .map(|member| (member.key.clone(), if member.key.is("tools") { shown() } else { member.value.clone() }));
    Some(Node::object(kept.collect::<Object<'a>>()))
}

fn collect_loaded_names(node: &Node<'_>, found: &mut dyn FnMut(&str)) {
    let kind = node.text_at("type").map(|kind| kind.display());
    match kind.as_deref() {
        Some("tool_removal") => return,
        Some("tool_reference") => {
            let name = node.get("tool_name").or_else(|| node.get("name")).and_then(Node::as_text);
            name.into_iter().for_each(|name| found(&name.display()));
            return;
        }
        _ => {}
    }
    // Keys of the blocks of messages, and of nested blocks. Other members do not contain references.
    for key in ["content", "tool", "tool_references"] {
        items(node, key).iter().for_each(|inner| collect_loaded_names(inner, found));
    }
}
