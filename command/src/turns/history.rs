//! A request's history, cut where the model spoke: the requests that a client has sent on the way to this one.
//!
//! It knows who wrote an item, and nothing of deferred tools.

use toolwire::{
    internal,
    json::{self, Data, Node},
    Code,
};

use crate::error::CommandError;

/// Every turn is a request of its own, each as long as the history until then.
const MOST_TURNS: usize = 200;
/// Where formats keep the history.
const LISTS: [&str; 2] = ["input", "messages"];

/// The texts of a request's parts, so that each is written once, however many turns have it.
pub(super) struct History {
    /// The request up to its history, and as much of that as the turns so far have.
    before: String,
    after: String,
    /// Ends the last request: what it demands of the model, nobody demanded before.
    choice: String,
    items: Vec<String>,
    written: usize,
    /// The history's member; none, if it is a string.
    key: &'static str,
    /// How many items each turn has.
    ends: Vec<usize>,
}

impl History {
    /// Cuts a request. What is none has one turn, of which the library says what is wrong.
    pub(super) fn read(request: &Node<'_>) -> Result<History, CommandError> {
        let key = LISTS.into_iter().find(|key| request.get(*key).is_some_and(|value| !value.is_null()));
        let list = |key| Some((key, request.get(key)?.as_array()?));
        let Some((key, items)) = key.and_then(list) else { return Ok(History::whole(request)) };
        let ends = ends(items);
        if ends.len() > MOST_TURNS {
            let found = ends.len();
            let message = format!("expected at most {MOST_TURNS} turns, found {found}: leave earlier messages out");
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

    /// How many items of the history a turn's request has.
    pub(super) fn end(&self, turn: usize) -> usize {
        self.ends.get(turn).copied().unwrap_or_default()
    }

    /// The request of a turn. Turns come in their order: none is shorter than the one before.
    pub(super) fn request(&mut self, turn: usize) -> String {
        let end = self.end(turn);
        for item in self.items.get_mut(self.written..end).unwrap_or_default() {
            if self.written > 0 {
                self.before.push(',');
            }
            // It is kept once.
            self.before.push_str(&std::mem::take(item));
            self.written += 1;
        }
        let is_last = turn + 1 == self.ends.len();
        let choice = if is_last || self.key.is_empty() { self.choice.as_str() } else { "}" };
        format!("{}{}{choice}", self.before, self.after)
    }

    /// The member that holds the history, if it is a list.
    pub(super) fn key(&self) -> Option<&'static str> {
        Some(self.key).filter(|key| !key.is_empty())
    }
}

/// A request was sent wherever the model began to speak, and this one.
fn ends(items: &[Node<'_>]) -> Vec<usize> {
    let begins = |pair: &[Node<'_>]| matches!(pair, [one, next] if !is_of_the_model(one) && is_of_the_model(next));
    let cuts = items.windows(2).enumerate().filter(|(_, pair)| begins(pair)).map(|(at, _)| at + 1);
    cuts.chain([items.len()]).collect()
}

/// Whether the model, or the API on its behalf, wrote an item.
fn is_of_the_model(item: &Node<'_>) -> bool {
    if let Some(role) = item.get("role") {
        return role.is_text("assistant");
    }
    let Some(kind) = item.get("type").and_then(Node::as_text).map(|kind| kind.display()) else { return false };
    // Where a hosted search ends, the model speaks on.
    let is_hosted = match kind.starts_with("tool_search_") {
        true => !internal::is_client_search(item),
        false => item.get("execution").is_some_and(|execution| execution.is_text("server")),
    };
    let is_answer = kind.ends_with("_output") || kind == "mcp_approval_response" || kind == "additional_tools";
    is_hosted || !is_answer
}

/// The items of a member that is a list, or what else stands there as the only one.
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
