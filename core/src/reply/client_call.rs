//! Writes a model's call in the format of the client's API.

use alloc::{string::String, vec::Vec};

use super::{
    call_repair::CallReports,
    client_item::{as_search, as_value, input, CUSTOM_CALL, FUNCTION_CALL, SEARCH_CALL},
    restore::RestoreMap,
};
use crate::{
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Text},
    options::Api,
    request::report::CallKind,
    wire::units::NamedUnit,
};

/// Writes a call in the form of its client, or in the call's own form if no client is known.
///
/// # Errors
/// `invalid-value` if the input is not a call.
pub(crate) fn write<'a>(
    restore_map: &RestoreMap,
    mut call: Node<'a>,
    reports: &mut CallReports,
) -> Result<Node<'a>, Error> {
    let given = ApiCall::read(&call)?;
    // The API's own servers have run this call, so the client must not answer it.
    if is_hosted(&call) {
        return Ok(call);
    }
    // In an entry of `tool_calls`, the API may have set an `index`.
    match given.inner {
        Some(inner) => call.visit(inner, |holder| restore_map.remove_index(holder)).unwrap_or_default(),
        None => restore_map.remove_index(&mut call),
    }
    let Some(format) = restore_map.client() else {
        let text = given.id.as_ref().and_then(Node::as_text);
        let id = || text.map(|id| Text::new(id.display().into_owned()));
        let mut site =
            |node: &mut Node<'_>, arguments| restore_map.site(NamedUnit::call(node, arguments, id()), reports);
        match given.inner {
            Some(inner) => {
                let (_, arguments) = INNER.into_iter().find(|(key, _)| *key == inner).unwrap_or_default();
                call.visit(inner, |holder| site(holder, Some((arguments, arguments == "arguments"))))
                    .unwrap_or(Ok(()))?;
            }
            None if given.is_plain => site(&mut call, Some(("arguments", true)))?,
            None => restore_map.item(&mut call, reports)?,
        }
        return Ok(call);
    };
    let ApiCall { id, name, namespace, mut arguments, mut kind, is_item, .. } = given;
    let own_search = restore_map.own_search().filter(|_| kind == CallKind::Search);
    let called = name.unwrap_or_else(|| "tool_search".into());
    let mut named = called.clone();
    // A call to a tool in another namespace need not be restored.
    let key = restore_map.key(namespace.as_ref(), &called);
    if let Some(own) = own_search {
        (named, kind) = (Text::new(String::from(own)), CallKind::Function);
    } else if kind == CallKind::Function {
        let id = id.as_ref().and_then(Node::as_text).map(|id| id.display().into_owned());
        if let Some(key) = &key {
            restore_map.arguments(key, &mut arguments, (id, true), reports)?;
            kind = restore_map.kind(key);
        }
        if kind == CallKind::Custom {
            arguments = Node::string(input(&arguments));
        }
    }
    let is_loaded = namespace.as_ref() == Some(&called);
    let (mut namespace, mut server, mut index) = (namespace.filter(|_| is_item), None, None);
    if let (None, Some(restored)) = (own_search, key.as_ref().and_then(|key| restore_map.name(key))) {
        namespace = RestoreMap::namespace_of(&restored, is_loaded).map(Text::into_owned);
        named = restored.name.into_owned();
        (server, index) = (restored.server.map(Text::into_owned), restored.index);
    }
    let search = own_search.and_then(|own| restore_map.name(&Text::new(own)));
    if let Some((restored, of)) = search.and_then(|search| Some((search.name, search.server?))) {
        (named, server) = (restored.into_owned(), Some(of.into_owned()));
    }
    let restored = Restored { id, name: Node::string(named), namespace, arguments };
    let mut written = match format {
        Api::Anthropic => restored.anthropic(),
        Api::OpenaiChat => restored.chat(kind),
        Api::GeminiInteractions => restored.step(),
        Api::Bedrock => restored.converse(),
        Api::OpenaiResponses if is_item => restored.item(Some(call), kind),
        _ => restored.item(None, kind),
    };
    let added = [("server", server.map(Node::string)), ("index", index.map(|index| Node::count(index as u64)))];
    for (key, value) in added.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let holder = INNER.iter().map(|(key, _)| *key).find(|inner| written.get(inner).is_some_and(is_object));
        let add = |node: &mut Node<'a>| node.set(key, value);
        match holder {
            Some(holder) => written.visit(holder, add).unwrap_or_default(),
            None => add(&mut written),
        }
    }
    Ok(written)
}

/// Returns true for a call that the API's own servers run. That includes every `tool_search_call` of Gemini
/// Interactions, which, unlike that of OpenAI Responses, has neither `execution` nor `call_id`.
fn is_hosted(call: &Node<'_>) -> bool {
    let is_step = call.get("type").is_some_and(|kind| kind.is_text(SEARCH_CALL))
        && call.get("execution").is_none()
        && call.get("call_id").is_none()
        && call.get("id").is_some();
    is_step || call.get("execution").is_some_and(|execution| execution.is_text("server"))
}

/// The members that hold a call in Chat Completions, Gemini and Bedrock, each with the member that holds its arguments.
const INNER: [(&str, &str); 5] = [
    ("function", "arguments"),
    ("custom", "input"),
    ("functionCall", "args"),
    ("function_call", "args"),
    ("toolUse", "input"),
];

/// A call in the form of any API.
struct ApiCall<'a> {
    id: Option<Node<'a>>,
    /// `None` for a `tool_search_call`.
    name: Option<Text<'a>>,
    namespace: Option<Text<'a>>,
    /// A value or JSON text; for a `custom` tool, its input.
    arguments: Node<'a>,
    kind: CallKind,
    /// True for an item of OpenAI Responses.
    is_item: bool,
    /// True for `{ id, name, arguments }`.
    is_plain: bool,
    /// The member that holds the call, if there is one.
    inner: Option<&'static str>,
}

impl<'a> ApiCall<'a> {
    fn read(call: &Node<'a>) -> Result<ApiCall<'a>, Error> {
        let is = |name: &str| call.get("type").is_some_and(|kind| kind.is_text(name));
        let is_item = is(FUNCTION_CALL) || is(CUSTOM_CALL) || is(SEARCH_CALL);
        let inner = INNER.iter().map(|(key, _)| *key).find(|inner| call.get(inner).is_some_and(is_object));
        let holder = inner.and_then(|inner| call.get(inner)).unwrap_or(call);
        let is_custom = is(CUSTOM_CALL) || inner == Some("custom");
        let kind = match () {
            () if is_custom => CallKind::Custom,
            () if is(SEARCH_CALL) => CallKind::Search,
            () => CallKind::Function,
        };
        let text = |node: &Node<'a>, key: &str| node.text_at(key).cloned();
        let name = text(holder, "name");
        if !is_object(call) || (name.is_none() && kind != CallKind::Search) {
            return Err(Error::new(
                Code::InvalidValue,
                if is_object(call) { "/name" } else { "" },
                "expected a call as in an API's reply, or `{ id, name, arguments }`; found no tool name",
            ));
        }
        let reads_input = is_custom || is("tool_use") || inner == Some("toolUse");
        let arguments = if reads_input { ["input", "arguments", "args"] } else { ["arguments", "args", "input"] };
        let arguments = arguments.into_iter().find_map(|key| holder.get(key)).cloned().unwrap_or_default();
        let id = if is_item { ["call_id", "id"] } else { ["id", "call_id"] };
        let mut ids = id.into_iter().chain(["toolUseId"]).flat_map(|key| [call.get(key), holder.get(key)]);
        let id = ids.find_map(|id| id.filter(|id| !id.is_null())).cloned();
        let is_plain = !is_item && inner.is_none() && !is("tool_use");
        Ok(ApiCall { id, name, namespace: text(call, "namespace"), arguments, kind, is_item, is_plain, inner })
    }
}

fn is_object(node: &Node<'_>) -> bool {
    node.as_object().is_some()
}

/// A call as the client expects it, independent of the form.
struct Restored<'a> {
    id: Option<Node<'a>>,
    name: Node<'a>,
    namespace: Option<Text<'a>>,
    arguments: Node<'a>,
}

impl<'a> Restored<'a> {
    fn anthropic(self) -> Node<'a> {
        record([
            ("type", Some(Node::literal("tool_use"))),
            ("id", self.id),
            ("name", Some(self.name)),
            ("input", Some(as_value(self.arguments))),
        ])
    }

    fn step(self) -> Node<'a> {
        record([
            ("type", Some(Node::literal("function_call"))),
            ("id", self.id),
            ("name", Some(self.name)),
            ("arguments", Some(as_value(self.arguments))),
        ])
    }

    fn converse(self) -> Node<'a> {
        let call = [("toolUseId", self.id), ("name", Some(self.name)), ("input", Some(as_value(self.arguments)))];
        Node::record([("toolUse", record(call))])
    }

    fn chat(self, kind: CallKind) -> Node<'a> {
        let (inner, key) = match kind {
            CallKind::Custom => ("custom", "input"),
            CallKind::Function | CallKind::Search => ("function", "arguments"),
        };
        let holder = Node::record([("name", self.name), (key, as_text(self.arguments))]);
        record([("type", Some(Node::literal(inner))), ("id", self.id), (inner, Some(holder))])
    }

    /// Writes an item of OpenAI Responses. If an item was given, its other members are kept.
    fn item(self, given: Option<Node<'a>>, kind: CallKind) -> Node<'a> {
        let (name, key, other) = match kind {
            CallKind::Custom => (CUSTOM_CALL, "input", "arguments"),
            CallKind::Function | CallKind::Search => (FUNCTION_CALL, "arguments", "input"),
        };
        let mut item = given.unwrap_or_else(Node::empty_object);
        item.set("type", Node::literal(name));
        if let Some(id) = self.id.filter(|_| item.get("call_id").is_none()) {
            item.set("call_id", id);
        }
        item.remove(other);
        if kind == CallKind::Search {
            as_search(&mut item, self.arguments);
            return item;
        }
        item.set("name", self.name);
        match self.namespace {
            Some(namespace) => item.set("namespace", Node::string(namespace)),
            None => drop(item.remove("namespace")),
        }
        let is_nothing = kind == CallKind::Custom && self.arguments.is_null();
        item.set(key, if is_nothing { Node::literal("") } else { as_text(self.arguments) });
        item
    }
}

/// Returns an object with the members that have a value.
fn record<'a, const N: usize>(members: [(&'static str, Option<Node<'a>>); N]) -> Node<'a> {
    let there = members.into_iter().filter_map(|(key, value)| Some(Member { key: Text::literal(key), value: value? }));
    Node::object(Object::from_unique(there.collect::<Vec<_>>()))
}

/// Returns arguments as JSON text.
fn as_text(arguments: Node<'_>) -> Node<'_> {
    match arguments.data() {
        Data::String(_) => arguments,
        Data::Null => Node::literal("{}"),
        _ => Node::string(json::write(&arguments)),
    }
}
