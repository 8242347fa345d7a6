//! The response formats of a request (not the formats of APIs): their locations, and their translation to another API.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::report::{Warnings, LOST};
use crate::{
    dialect::formats::{FormatLocation, JsonMode, SchemaText, FORMAT_LOCATIONS, JSON_MODE_VALUES},
    error::Error,
    json::{lazy, Child, Data, Flags, Node, Text},
    options::Api,
    wire,
};

pub(crate) struct FoundFormat<'n, 'a> {
    pub(crate) location: &'static FormatLocation,
    /// JSON Pointer to the object that holds the schema.
    pub(crate) pointer: &'n str,
    /// The object that holds the schema; `None` for a format without a schema, which replaces an earlier format.
    pub(crate) holder: Option<&'n mut Node<'a>>,
}

type Visit<'v, 'a> = &'v mut dyn FnMut(FoundFormat<'_, 'a>) -> Result<(), Error>;

/// Visits the formats of the request itself, then the formats in its history, in order.
pub(crate) fn visit<'a>(request: &mut Node<'a>, api: Api, visit: Visit<'_, 'a>) -> Result<(), Error> {
    let mut locations = FORMAT_LOCATIONS.iter().filter(|location| location.api == api);
    for location in locations.clone().filter(|location| location.item.is_none()) {
        if location.path.is_empty() {
            visit_member(request, location, visit)?;
        } else {
            visit_path(request, location, location.path, &mut String::new(), visit)?;
        }
    }
    let Some((location, item)) = locations.find_map(|location| Some((location, location.item?))) else { return Ok(()) };
    let key = wire::of(api).history();
    let visited = request.visit(key, |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        history.visit_children(|child, entry| {
            let (Child::Item(at), true) = (child, lazy::may_hold(entry, Flags::FORMAT)) else { return Ok(()) };
            lazy::edit(entry, |entry| {
                if !entry.get("type").is_some_and(|kind| kind.is_text(item)) {
                    return Ok(());
                }
                visit_path(entry, location, location.path, &mut format!("/{key}/{at}"), visit)
            })
        })
    });
    visited.unwrap_or(Ok(()))
}

fn visit_member<'a>(
    request: &mut Node<'a>,
    location: &'static FormatLocation,
    visit: Visit<'_, 'a>,
) -> Result<(), Error> {
    let Some(member) = request.get(location.schema) else { return Ok(()) };
    let member = match member.data() {
        Data::Verbatim(text) => crate::json::read(text)?,
        _ => member.clone(),
    };
    let mut holder = Node::record([(location.schema, member)]);
    visit_format(&mut holder, location, &mut String::new(), visit)?;
    if let Some(changed) = holder.remove(location.schema).filter(|member| !member.is_intact()) {
        request.set(location.schema, changed);
    }
    Ok(())
}

fn visit_path<'a>(
    node: &mut Node<'a>,
    location: &'static FormatLocation,
    path: &[&'static str],
    pointer: &mut String,
    visit: Visit<'_, 'a>,
) -> Result<(), Error> {
    let length = pointer.len();
    if let [key, rest @ ..] = path {
        pointer.push('/');
        pointer.push_str(key);
        let visited =
            node.visit(*key, |inner| lazy::edit(inner, |inner| visit_path(inner, location, rest, pointer, visit)));
        pointer.truncate(length);
        return visited.unwrap_or(Ok(()));
    }
    if !matches!(node.data(), Data::Array(_)) {
        return visit_format(node, location, pointer, visit);
    }
    node.visit_children(|child, format| {
        let Child::Item(at) = child else { return Ok(()) };
        pointer.push('/');
        pointer.push_str(&at.to_string());
        let visited = visit_format(format, location, pointer, visit);
        pointer.truncate(length);
        visited
    })
}

fn visit_format<'a>(
    format: &mut Node<'a>,
    location: &'static FormatLocation,
    pointer: &mut String,
    visit: Visit<'_, 'a>,
) -> Result<(), Error> {
    let is_response_format = format.as_object().is_some()
        && location.kind.is_none_or(|kind| format.get("type").is_some_and(|value| value.is_text(kind)));
    if !is_response_format || !has_schema(format, location) {
        // An update with another format replaces the previous one.
        if location.item.is_some() {
            return visit(FoundFormat { location, pointer, holder: None });
        }
        return Ok(());
    }
    let length = pointer.len();
    let visited = visit_holder(format, location.holder, pointer, &mut |holder, pointer| {
        visit(FoundFormat { location, pointer, holder: Some(holder) })
    });
    pointer.truncate(length);
    visited
}

fn visit_holder<'a>(
    node: &mut Node<'a>,
    path: &[&'static str],
    pointer: &mut String,
    visit: &mut dyn FnMut(&mut Node<'a>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let [key, rest @ ..] = path else { return visit(node, pointer) };
    pointer.push('/');
    pointer.push_str(key);
    node.visit(*key, |inner| visit_holder(inner, rest, pointer, visit)).unwrap_or(Ok(()))
}

fn has_schema(format: &Node<'_>, location: &FormatLocation) -> bool {
    let holder = location.holder.iter().try_fold(format, |node, key| node.get(*key));
    holder.and_then(|holder| holder.get(location.schema)).is_some_and(|schema| match schema.data() {
        Data::Object(_) | Data::Bool(_) => location.text != SchemaText::Always,
        Data::String(_) => location.text != SchemaText::Never,
        _ => false,
    })
}

pub(crate) fn pointers(request: &mut Node<'_>, api: Api) -> Result<Vec<(String, &'static FormatLocation)>, Error> {
    let mut pointers = Vec::new();
    visit(request, api, &mut |FoundFormat { location, pointer, holder }| {
        pointers.extend(holder.map(|_| (String::from(pointer), location)));
        Ok(())
    })?;
    Ok(pointers)
}

pub(crate) fn json_mode(request: &Node<'_>, api: Api) -> Result<Option<String>, Error> {
    for (_, path, value) in JSON_MODE_VALUES.iter().filter(|(of, ..)| *of == api) {
        let [first, rest @ ..] = *path else { continue };
        let Some(member) = request.get(*first) else { continue };
        let member = lazy::view(member)?;
        let mode = rest.iter().try_fold(&*member, |node, key| node.get(*key));
        if mode.is_some_and(|mode| mode.is_text(value)) {
            return Ok(Some(format!("/{}", path.join("/"))));
        }
    }
    Ok(None)
}

/// Returns true if the reply is a plain value of an enumeration, which is not JSON.
pub(crate) fn is_bare_text(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    for (_, path, _) in JSON_MODE_VALUES.iter().filter(|(of, ..)| *of == api) {
        let [first, rest @ ..] = *path else { continue };
        let member = request.get(*first).map(lazy::view).transpose()?;
        let mime_type = member.as_deref().and_then(|member| rest.iter().try_fold(member, |node, key| node.get(*key)));
        if mime_type.is_some_and(|mime_type| mime_type.is_text("text/x.enum")) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(feature = "exchange")]
pub(crate) fn has_strict(request: &mut Node<'_>, api: Api) -> Result<bool, Error> {
    let mut has_strict = false;
    visit(request, api, &mut |FoundFormat { location, holder, .. }| {
        let strict = holder.and_then(|holder| holder.get("strict")?.as_bool());
        has_strict |= location.has_strict && strict == Some(true);
        Ok(())
    })?;
    Ok(has_strict)
}

pub(crate) fn is_only_format(item: &Node<'_>) -> bool {
    let sets_nothing_else = |node: &Node<'_>, known: &[&str]| {
        let members = node.as_object().map(crate::json::Object::members).unwrap_or_default();
        members.iter().all(|member| known.iter().any(|key| member.key.is(*key)))
    };
    item.get("type").is_some_and(|kind| kind.is_text("configuration_update"))
        && sets_nothing_else(item, &["type", "id", "text"])
        && item.get("text").is_some_and(|text| sets_nothing_else(text, &["format"]))
}

pub(crate) struct TranslatedFormat<'a> {
    pub(crate) schema: Node<'a>,
    pub(crate) name: Option<Text<'a>>,
    pub(crate) description: Option<Text<'a>>,
    pub(crate) strict: Option<bool>,
    /// JSON Pointer to the object that held the schema.
    pub(crate) pointer: String,
}

/// Returns the format that is in effect after the last update in the history. Without updates, returns the first format
/// of the request. The updates remain in the history for its writer.
pub(crate) fn take_format<'a>(
    request: &mut Node<'a>,
    source: Api,
    warnings: &mut Warnings,
) -> Result<Option<TranslatedFormat<'a>>, Error> {
    let (mut format, mut path_in_request) = (None, Vec::new());
    visit(request, source, &mut |FoundFormat { location, pointer, holder }| {
        let translated = holder.and_then(|holder| read_format(holder, location, pointer).transpose()).transpose()?;
        match location.item {
            None if format.is_none() => {
                format = translated;
                path_in_request = location.path.to_vec();
                // The object has other members in addition to the format.
                if location.kind.is_none() && location.holder.is_empty() {
                    path_in_request.push(location.schema);
                }
            }
            None => {}
            Some(_) => format = translated,
        }
        Ok(())
    })?;
    if let [list] = path_in_request.as_slice() {
        if let Some(list) = request.get(*list).map(lazy::view).transpose()? {
            for (index, unused) in list.as_array().unwrap_or_default().iter().enumerate().skip(1) {
                warnings.warn_lost_at("response_format", unused, || format!("/response_format/{index}"));
            }
        }
    }
    remove_at_path(request, &path_in_request)?;
    Ok(format)
}

fn read_format<'a>(
    holder: &Node<'a>,
    location: &FormatLocation,
    pointer: &str,
) -> Result<Option<TranslatedFormat<'a>>, Error> {
    let text = |key: &str| holder.text_at(key).cloned();
    let Some(schema) = holder.get(location.schema) else { return Ok(None) };
    let schema = match schema.as_text().map(Text::value) {
        None => schema.clone(),
        Some(Some(text)) => crate::json::read(&text)?.detached(),
        Some(None) => return Ok(None),
    };
    Ok(Some(TranslatedFormat {
        schema,
        name: text("name").filter(|_| location.has_name),
        description: text("description").filter(|_| location.has_name),
        strict: holder.bool_at("strict").filter(|_| location.has_strict),
        pointer: pointer.into(),
    }))
}

/// Also removes the objects on the path that become empty.
fn remove_at_path(node: &mut Node<'_>, path: &[&'static str]) -> Result<(), Error> {
    let [key, rest @ ..] = path else { return Ok(()) };
    let keeps_members = match rest {
        [] => None,
        rest => lazy::edit_member(node, key, |inner| {
            remove_at_path(inner, rest)?;
            Ok(inner.as_object().is_some_and(|object| !object.is_empty()))
        })?,
    };
    if keeps_members != Some(true) {
        node.remove(key);
    }
    Ok(())
}

/// Writes to the main location of the API. If the API requires a name and the source has none, the name is `response`.
/// If the API has no description for formats, the description is added to a schema without one. Adds warnings about a
/// name and a description that the API does not have.
pub(crate) fn put_format<'a>(
    request: &mut Node<'a>,
    target: Api,
    translated: TranslatedFormat<'a>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(location) = FORMAT_LOCATIONS.iter().find(|location| location.api == target && location.is_main) else {
        return Ok(());
    };
    let TranslatedFormat { mut schema, name, description, strict, pointer } = translated;
    let mut holder = Vec::new();
    let mut lose = |key: &str| warnings.warn_named_at(LOST, key, format!("{pointer}/{key}"));
    if name.is_some() && !location.has_name {
        lose("name");
    }
    if location.has_name {
        holder.push(("name", Node::string(name.unwrap_or_else(|| Text::literal("response")))));
        holder.extend(description.map(|description| ("description", Node::string(description))));
    } else if let Some(description) = description {
        match schema.as_object().is_some() && schema.get("description").is_none() {
            true => schema.set("description", Node::string(description)),
            false => lose("description"),
        }
    }
    holder.extend(location.media_type.map(|key| (key, Node::literal("application/json"))));
    holder.push((location.schema, schema));
    holder.extend(strict.filter(|_| location.has_strict).map(|strict| ("strict", Node::bool(strict))));
    let record = |members: Vec<(&'static str, Node<'a>)>| {
        Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
    };
    let kind = ("type", Node::literal(location.kind.unwrap_or_default()));
    let format = match location.holder {
        [] => record(core::iter::once(kind).chain(holder).collect()),
        path => {
            let inner = path.iter().rev().fold(record(holder), |inner, key| record(Vec::from([(*key, inner)])));
            let mut format = record(Vec::from([kind]));
            if let (Some(key), Some(inner)) = (path.first(), path.first().and_then(|key| inner.get(*key)).cloned()) {
                format.set(key, inner);
            }
            format
        }
    };
    set_at_path(request, location.path, format)
}

pub(crate) fn put_json_mode(request: &mut Node<'_>, mode: &JsonMode) -> Result<(), Error> {
    let members = || mode.members.iter().map(|(key, value)| (*key, Node::literal(value)));
    let [first, rest @ ..] = mode.path else {
        members().for_each(|(key, value)| request.set(key, value));
        return Ok(());
    };
    let has_others = rest.is_empty() && request.get(*first).is_some() && mode.is_beside_others;
    if has_others {
        return lazy::edit_member(request, first, |config| {
            members().for_each(|(key, value)| config.set(key, value));
            Ok(())
        })
        .map(drop);
    }
    let format = members().map(|(key, value)| (Text::literal(key), value)).collect();
    set_at_path(request, mode.path, Node::object(format))
}

pub(crate) fn remove_json_mode(request: &mut Node<'_>, api: Api) -> Result<(), Error> {
    for (_, path, value) in JSON_MODE_VALUES.iter().filter(|(of, ..)| *of == api) {
        let [first, rest @ ..] = *path else { continue };
        let mode = request.get(*first).map(lazy::view).transpose()?;
        let mode = mode.as_deref().and_then(|mode| rest.iter().try_fold(mode, |node, key| node.get(*key)));
        if !mode.is_some_and(|mode| mode.is_text(value)) {
            continue;
        }
        // The object with the `type` is the format.
        let path = path.strip_suffix(&["type"]).unwrap_or(path);
        remove_at_path(request, path)?;
    }
    Ok(())
}

fn set_at_path<'a>(node: &mut Node<'a>, path: &[&'static str], value: Node<'a>) -> Result<(), Error> {
    let [key, rest @ ..] = path else {
        *node = value;
        return Ok(());
    };
    let is_object = |inner: &Node<'_>| matches!(inner.data(), Data::Object(_) | Data::Verbatim(_));
    if rest.is_empty() || !node.get(*key).is_some_and(is_object) {
        node.set(key, Node::empty_object());
    }
    lazy::edit_member(node, key, |inner| set_at_path(inner, rest, value))?;
    Ok(())
}
