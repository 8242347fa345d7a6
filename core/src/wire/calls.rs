//! A single call outside of a reply, as clients pass it to be restored.

use alloc::vec::Vec;

use super::ALL;
use crate::json::{self, Data, Member, Node, Object, Text};

/// The kind of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallKind {
    /// A function call with JSON arguments.
    #[default]
    Function,
    /// A call to a `custom` tool with free-form text.
    Custom,
    /// A tool search that the client runs (`tool_search_call` of OpenAI Responses).
    Search,
}

impl CallKind {
    const NAMES: [(&'static str, CallKind); 3] =
        [("function", CallKind::Function), ("custom", CallKind::Custom), ("search", CallKind::Search)];

    /// Returns the name of the kind in JSON.
    ///
    /// ```
    /// assert_eq!(toolwire::reports::CallKind::Custom.as_str(), "custom");
    /// ```
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("function", |(name, _)| name)
    }

    pub(crate) fn from_name(name: &Text<'_>) -> Option<CallKind> {
        Self::NAMES.iter().find(|(known, _)| name.is(known)).map(|(_, kind)| *kind)
    }
}

pub(crate) struct SingleCall {
    pub(super) forms: &'static [CallForm],
    /// True if a call is restored in its reply and keeps its form.
    pub(crate) keeps_form: bool,
    pub(super) write: for<'a> fn(ClientCall<'a>) -> Node<'a>,
}

impl SingleCall {
    pub(crate) fn write<'a>(&self, call: ClientCall<'a>) -> Node<'a> {
        (self.write)(call)
    }
}

#[derive(Debug)]
pub(crate) struct CallForm {
    /// The `type` of the call; `None` if the member `holder` identifies the form.
    pub(super) type_name: Option<&'static str>,
    /// The member that contains the call.
    pub(crate) holder: Option<&'static str>,
    pub(crate) arguments: &'static str,
    pub(crate) kind: CallKind,
    /// The member with the id to which results refer, if it is not `id`.
    pub(super) id: Option<&'static str>,
    /// True for an item of a format whose history consists of items.
    pub(crate) is_item: bool,
}

impl CallForm {
    pub(super) const fn of_type(type_name: &'static str, arguments: &'static str) -> CallForm {
        CallForm {
            type_name: Some(type_name),
            holder: None,
            arguments,
            kind: CallKind::Function,
            id: None,
            is_item: false,
        }
    }

    pub(super) const fn in_member(holder: &'static str, arguments: &'static str) -> CallForm {
        CallForm { type_name: None, holder: Some(holder), ..CallForm::of_type("", arguments) }
    }

    fn is_of(&self, call: &Node<'_>) -> bool {
        match (self.type_name, self.holder) {
            (Some(name), _) => call.get("type").is_some_and(|value| value.is_text(name)),
            (None, holder) => holder.and_then(|holder| call.get(holder)).is_some_and(is_object),
        }
    }

    /// Returns `None` for `{id, name, arguments}`. A member that contains the call takes precedence over a `type`.
    pub(crate) fn find(call: &Node<'_>) -> Option<&'static CallForm> {
        let forms = || ALL.iter().flat_map(|wire| wire.single_call.forms);
        let in_member = forms().find(|form| form.holder.is_some() && form.is_of(call));
        in_member.or_else(|| forms().find(|form| form.is_of(call)))
    }
}

/// Members that may contain the id of a call for its result, in the order of their precedence.
pub(crate) const RESULT_IDS: [&str; 3] = ["call_id", "id", "toolUseId"];
/// Members that contain the id of a call, in any format.
const IDS: [&str; 3] = ["id", "call_id", "toolUseId"];
const ARGUMENTS: [&str; 3] = ["arguments", "args", "input"];

pub(crate) fn id_of<'a>(call: &Node<'a>, form: Option<&CallForm>) -> Option<Node<'a>> {
    let holder = form.and_then(|form| call.get(form.holder?)).unwrap_or(call);
    let keys = form.and_then(|form| form.id).into_iter().chain(IDS);
    let mut ids = keys.flat_map(|key| [call.get(key), holder.get(key)]);
    ids.find_map(|id| id.filter(|id| !id.is_null())).cloned()
}

pub(crate) fn arguments_of<'a>(holder: &Node<'a>, form: Option<&CallForm>) -> Node<'a> {
    let mut keys = form.map(|form| form.arguments).into_iter().chain(ARGUMENTS);
    keys.find_map(|key| holder.get(key)).cloned().unwrap_or_default()
}

pub(crate) fn is_object(node: &Node<'_>) -> bool {
    node.as_object().is_some()
}

pub(crate) struct ClientCall<'a> {
    pub(crate) id: Option<Node<'a>>,
    pub(crate) name: Node<'a>,
    pub(crate) namespace: Option<Text<'a>>,
    pub(crate) arguments: Node<'a>,
    pub(crate) kind: CallKind,
    /// The item that the API sent, if its other members are kept.
    pub(crate) item: Option<Node<'a>>,
}

pub(super) fn record<'a, const N: usize>(members: [(&'static str, Option<Node<'a>>); N]) -> Node<'a> {
    let there = members.into_iter().filter_map(|(key, value)| Some(Member { key: Text::literal(key), value: value? }));
    Node::object(Object::from_unique(there.collect::<Vec<_>>()))
}

pub(super) fn as_text(arguments: Node<'_>) -> Node<'_> {
    match arguments.data() {
        Data::String(_) => arguments,
        Data::Null => Node::literal("{}"),
        _ => Node::string(json::write(&arguments)),
    }
}

/// Parses arguments that are JSON text. Missing arguments become `{}`.
pub(crate) fn as_value(arguments: Node<'_>) -> Node<'_> {
    let Some(text) = arguments.as_text() else {
        return if arguments.is_null() { Node::empty_object() } else { arguments };
    };
    let text = text.display();
    if text.trim().is_empty() {
        return Node::empty_object();
    }
    // Invalid JSON stays unchanged: the tool's server reports the model's mistake.
    match json::read(&text).map(|value| value.detached()) {
        Ok(value) => value,
        Err(_) => arguments.clone(),
    }
}
