//! Writes a model's call in the format of the client's API.

use alloc::string::String;

use super::{call_repair::CallReports, restore::RestoreMap};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
    wire::{
        self,
        calls::{self, is_object, CallForm, CallKind, ClientCall},
        responses::{client_item::input, is_hosted},
        units::NamedUnit,
    },
};

/// Writes a call in the format of its client. If no client is known, the call keeps its format.
///
/// # Errors
/// `invalid-value` if the input is not a call.
pub(crate) fn write<'a>(
    restore_map: &RestoreMap,
    mut call: Node<'a>,
    reports: &mut CallReports,
) -> Result<Node<'a>, Error> {
    let api_call = ApiCall::read(&call)?;
    // The API's own servers have run this call, so the client must not answer it.
    if is_hosted(&call) {
        return Ok(call);
    }
    // In an entry of `tool_calls`, the API may have set an `index`.
    let holder = api_call.form.and_then(|form| form.holder);
    match holder {
        Some(holder) => call.visit(holder, |holder| restore_map.remove_index(holder)).unwrap_or_default(),
        None => restore_map.remove_index(&mut call),
    }
    let Some(format) = restore_map.client() else {
        let text = api_call.id.as_ref().and_then(Node::as_text);
        let id = || text.map(|id| Text::new(id.display().into_owned()));
        let mut site =
            |node: &mut Node<'_>, arguments| restore_map.site(NamedUnit::call(node, arguments, id()), reports);
        match (holder, api_call.form) {
            (Some(holder), Some(form)) => {
                let arguments = Some((form.arguments, form.arguments == "arguments"));
                call.visit(holder, |holder| site(holder, arguments)).unwrap_or(Ok(()))?;
            }
            (_, None) => site(&mut call, Some(("arguments", true)))?,
            _ => restore_map.item(&mut call, reports)?,
        }
        return Ok(call);
    };
    let ApiCall { id, name, namespace, mut arguments, mut kind, form, .. } = api_call;
    let is_item = form.is_some_and(|form| form.is_item);
    let client_search = restore_map.own_search().filter(|_| kind == CallKind::Search);
    let called = name.unwrap_or_else(|| "tool_search".into());
    let mut client_name = called.clone();
    // A call to a tool in another namespace need not be restored.
    let key = restore_map.key(namespace.as_ref(), &called);
    if let Some(search_name) = client_search {
        (client_name, kind) = (Text::new(String::from(search_name)), CallKind::Function);
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
    if let (None, Some(restored)) = (client_search, key.as_ref().and_then(|key| restore_map.name(key))) {
        namespace = RestoreMap::namespace_of(&restored, is_loaded).map(Text::into_owned);
        client_name = restored.name.into_owned();
        (server, index) = (restored.server.map(Text::into_owned), restored.index);
    }
    let search = client_search.and_then(|search_name| restore_map.name(&Text::new(search_name)));
    if let Some((restored, server_name)) = search.and_then(|search| Some((search.name, search.server?))) {
        (client_name, server) = (restored.into_owned(), Some(server_name.into_owned()));
    }
    let item = Some(call).filter(|_| is_item && wire::of(format).turns().has_items());
    let restored = ClientCall { id, name: Node::string(client_name), namespace, arguments, kind, item };
    let mut written = wire::of(format).single_call().write(restored);
    let added = [("server", server.map(Node::string)), ("index", index.map(|index| Node::count(index as u64)))];
    for (key, value) in added.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let holder = CallForm::find(&written).and_then(|form| form.holder);
        let add = |node: &mut Node<'a>| node.set(key, value);
        match holder {
            Some(holder) => written.visit(holder, add).unwrap_or_default(),
            None => add(&mut written),
        }
    }
    Ok(written)
}

struct ApiCall<'a> {
    id: Option<Node<'a>>,
    /// `None` for a `tool_search_call`.
    name: Option<Text<'a>>,
    namespace: Option<Text<'a>>,
    /// A value or JSON text; for a `custom` tool, its input.
    arguments: Node<'a>,
    kind: CallKind,
    /// `None` for `{ id, name, arguments }`.
    form: Option<&'static CallForm>,
}

impl<'a> ApiCall<'a> {
    fn read(call: &Node<'a>) -> Result<ApiCall<'a>, Error> {
        let form = CallForm::find(call);
        let holder = form.and_then(|form| call.get(form.holder?)).unwrap_or(call);
        let kind = form.map(|form| form.kind).unwrap_or_default();
        let text = |node: &Node<'a>, key: &str| node.text_at(key).cloned();
        let name = text(holder, "name");
        if !is_object(call) || (name.is_none() && kind != CallKind::Search) {
            return Err(Error::new(
                Code::InvalidValue,
                if is_object(call) { "/name" } else { "" },
                "expected a call as in an API's reply, or `{ id, name, arguments }`; found no tool name",
            ));
        }
        let (id, arguments) = (calls::id_of(call, form), calls::arguments_of(holder, form));
        Ok(ApiCall { id, name, namespace: text(call, "namespace"), arguments, kind, form })
    }
}
