//! Converts call ids if the target restricts their characters.

use alloc::string::String;

use super::{Writer, LOAD};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{lazy::view, Node, Text},
    names::Taken,
    request::conversation::{Event, EventKind, Role},
};

/// Returns the ids of exchanges that were synthesized in earlier requests and are part of the history now.
pub(super) fn made_up_ids(events: &[Event<'_>], history: &[Node<'_>]) -> Result<Set<String>, Error> {
    let mut found = Set::new();
    let mut keep = |id: Option<&Text<'_>>| {
        found.extend(id.map(|id| id.display().into_owned()).filter(|id| id.starts_with(LOAD)));
    };
    for event in events {
        match &event.kind {
            EventKind::Call(call) => keep(call.id.as_text()),
            EventKind::Unchanged(Role::Assistant) => {
                let Some(message) = history.get(event.at.saturating_sub(1)).map(view).transpose()? else { continue };
                let blocks = message.items_at("content");
                blocks.iter().for_each(|block| keep(block.text_at("id")));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Call ids that contain only characters that the API accepts.
#[derive(Default)]
pub(super) struct Ids {
    renamed: Map<String, String>,
    taken: Taken,
    /// Ids of exchanges that were synthesized in earlier requests.
    pub(super) made_up: Set<String>,
}

impl Ids {
    pub(super) fn of<'a>(&mut self, id: &Node<'a>, writer: &mut Writer<'_, 'a>) -> Node<'a> {
        let Some(old) = id.as_text().map(|text| text.display().into_owned()) else { return id.clone() };
        if let Some(new) = self.renamed.get(&old) {
            return Node::string(new.clone());
        }
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let close: String = old.chars().map(|letter| if legal(letter) { letter } else { '_' }).collect();
        let new = self.taken.free(close, usize::MAX);
        if new != old {
            writer.writing.warnings.about("call-id-changed", old.as_str());
        }
        self.renamed.insert(old, new.clone());
        Node::string(new)
    }
}
