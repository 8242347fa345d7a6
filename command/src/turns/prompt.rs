//! What the model reads of a request, in the order in which it reads it: tools, instructions, messages. Prompt caches
//! hold the beginning that two requests have in common.

use toolwire::json::{self, Node};

use super::history::items;

/// Where something stands in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Tools,
    Instructions,
    Messages,
}

/// A tool, the instructions, or a message.
#[derive(Debug)]
pub(super) struct Entry {
    part: Part,
    pointer: String,
    text: String,
}

/// A prompt.
#[derive(Debug, Default)]
pub(super) struct Prompt(Vec<Entry>);

/// How a prompt goes on from the one before.
#[derive(Debug)]
pub(super) struct Growth {
    /// All of the prompt before begins this one; else, where they part.
    pub(super) parts_at: Option<String>,
    /// The first message that is not as it was.
    pub(super) first_message: usize,
    pub(super) bytes: usize,
    pub(super) new_bytes: usize,
}

impl Prompt {
    pub(super) fn of(request: &Node<'_>) -> Prompt {
        let parts = [
            (Part::Tools, "tools"),
            (Part::Instructions, "instructions"),
            (Part::Instructions, "system"),
            (Part::Messages, "messages"),
            (Part::Messages, "input"),
        ];
        let mut entries = Vec::new();
        for (part, key) in parts {
            let is_list = request.get(key).is_some_and(|value| value.as_array().is_some());
            // A provider that defers a tool itself shows its definition where it is loaded, and not before.
            let read = items(request, key).iter().enumerate().filter(|(_, item)| part != Part::Tools || !waits(item));
            entries.extend(read.map(|(at, item)| Entry {
                part,
                pointer: if is_list { format!("/{key}/{at}") } else { format!("/{key}") },
                text: json::write(item),
            }));
        }
        Prompt(entries)
    }

    /// What is new against the prompt before.
    pub(super) fn since(&self, before: &Prompt) -> Growth {
        let same = |(one, other): &(&Entry, &Entry)| one.part == other.part && one.text == other.text;
        let common = self.0.iter().zip(&before.0).take_while(same).count();
        // What is gone may have stood before what stands there now.
        let parted = self.0.get(common).into_iter().chain(before.0.get(common)).min_by_key(|entry| entry.part);
        let new = self.0.get(common..).unwrap_or_default();
        let length = |entries: &[Entry]| entries.iter().map(|entry| entry.text.len()).sum();
        // Messages that stay as they were are no news, even if a cache ends before them.
        let first_message = self.messages().iter().zip(before.messages()).take_while(same).count();
        Growth {
            parts_at: parted.filter(|_| common < before.0.len()).map(|entry| entry.pointer.clone()),
            first_message,
            bytes: length(&self.0),
            new_bytes: length(new),
        }
    }

    fn messages(&self) -> &[Entry] {
        let first = self.0.iter().position(|entry| entry.part == Part::Messages);
        first.and_then(|first| self.0.get(first..)).unwrap_or_default()
    }
}

/// Whether a tool is deferred by the provider.
pub(super) fn waits(tool: &Node<'_>) -> bool {
    let flagged = |node: &Node<'_>| node.get("defer_loading").and_then(Node::as_bool) == Some(true);
    flagged(tool) || tool.get("function").is_some_and(flagged)
}

/// What a tool is called; one that has no name, by its type.
pub(super) fn label(tool: &Node<'_>) -> String {
    let within = |key| tool.get(key).and_then(|inner| inner.get("name"));
    let name = tool.get("name").or_else(|| within("function")).or_else(|| within("custom"));
    let label = name.or_else(|| tool.get("type")).and_then(Node::as_text);
    label.map_or_else(|| String::from("?"), |label| label.display().into_owned())
}
