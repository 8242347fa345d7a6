//! The history of a request, split into turns: the requests that a client must have sent before this one.
//!
//! This module only distinguishes the authors of items, and does not handle deferred tools.

use toolwire::{
    internal::{
        self,
        json::{self, Data, Node},
    },
    Code,
};

use crate::error::CommandError;

/// Maximum number of turns, because each turn is a request as long as the history up to it.
const MAX_TURNS: usize = 200;
/// Keys of the history.
const LISTS: [&str; 2] = ["input", "messages"];

/// The requests of all turns. Each part of a request is serialized once, for any number of turns.
pub(super) struct History {
    /// The request up to its history, followed by the history of the turns so far.
    before: String,
    after: String,
    /// `tool_choice`, which only the last request contains.
    choice: String,
    items: Vec<String>,
    written: usize,
    /// Key of the history; empty if the history is a string.
    key: &'static str,
    /// Number of items in each turn.
    ends: Vec<usize>,
}

impl History {
    /// Splits a request into turns. An invalid request has one turn, for which the library returns an error.
    pub(super) fn read(request: &Node<'_>) -> Result<History, CommandError> {
        let key = LISTS.into_iter().find(|key| request.get(*key).is_some_and(|value| !value.is_null()));
        let list = |key| Some((key, request.get(key)?.as_array()?));
        let Some((key, items)) = key.and_then(list) else { return Ok(History::whole(request)) };
        let ends = ends(items);
        if ends.len() > MAX_TURNS {
            let found = ends.len();
            let message = format!("expected at most {MAX_TURNS} turns, found {found}: leave earlier messages out");
            let code = Some(Code::LimitExceeded);
            return Err(CommandError { code, ..CommandError::new(format!("/{key}"), message) });
        }
        let (mut before, mut after, mut choice) = (String::from("{"), String::from("]"), String::from("}"));
        let mut out = &mut before;
        for member in request.as_object().into_iter().flat_map(|object| object.iter()) {
            if member.key.is("tool_choice") {
                choice = format!(",\"tool_choice\":{}}}", json::write(&member.value));
                continue;
            }
            if !out.ends_with('{') {
                out.push(',');
            }
            json::write_into(&Node::string(member.key.clone()), out);
            out.push(':');
            if member.key.is(key) {
                out.push('[');
                out = &mut after;
            } else {
                json::write_into(&member.value, out);
            }
        }
        Ok(History { before, after, choice, items: items.iter().map(json::write).collect(), written: 0, key, ends })
    }

    fn whole(request: &Node<'_>) -> History {
        let (after, choice) = Default::default();
        History {
            before: json::write(request),
            after,
            choice,
            items: Vec::new(),
            written: 0,
            key: "",
            ends: Vec::from([0]),
        }
    }

    pub(super) fn turns(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn end(&self, turn: usize) -> usize {
        self.ends.get(turn).copied().unwrap_or_default()
    }

    /// Turns have to be requested in order.
    pub(super) fn request(&mut self, turn: usize) -> String {
        let end = self.end(turn);
        for item in self.items.get_mut(self.written..end).unwrap_or_default() {
            if self.written > 0 {
                self.before.push(',');
            }
            // The text is moved, because it is needed only once.
            self.before.push_str(&std::mem::take(item));
            self.written += 1;
        }
        let is_last = turn + 1 == self.ends.len();
        let choice = if is_last || self.key.is_empty() { self.choice.as_str() } else { "}" };
        format!("{}{}{choice}", self.before, self.after)
    }

    pub(super) fn key(&self) -> Option<&'static str> {
        Some(self.key).filter(|key| !key.is_empty())
    }
}

/// Returns the number of history items in each request: the items before each answer of the model, and all items for
/// the last request.
fn ends(items: &[Node<'_>]) -> Vec<usize> {
    let begins = |pair: &[Node<'_>]| matches!(pair, [one, next] if !is_of_the_model(one) && is_of_the_model(next));
    let cuts = items.windows(2).enumerate().filter(|(_, pair)| begins(pair)).map(|(at, _)| at + 1);
    cuts.chain([items.len()]).collect()
}

/// True if the model wrote the item, or the API on the model's behalf.
fn is_of_the_model(item: &Node<'_>) -> bool {
    if let Some(role) = item.get("role") {
        return role.is_text("assistant");
    }
    let Some(kind) = item.text_at("type").map(|kind| kind.display()) else { return false };
    // After the result of a hosted search, the model continues its answer.
    let is_hosted = match kind.starts_with("tool_search_") {
        true => !internal::is_client_search(item),
        false => item.get("execution").is_some_and(|execution| execution.is_text("server")),
    };
    let is_answer = kind.ends_with("_output") || kind == "mcp_approval_response" || kind == "additional_tools";
    is_hosted || !is_answer
}

/// A value that is not a list is the only item.
pub(super) fn items<'n, 'a>(request: &'n Node<'a>, key: &str) -> &'n [Node<'a>] {
    match request.get(key) {
        None => &[],
        Some(node) => match node.data() {
            Data::Array(items) => items,
            Data::Null => &[],
            _ => std::slice::from_ref(node),
        },
    }
}
