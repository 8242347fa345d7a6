//! Fixes places of a request that violate rules.

use alloc::{string::String, vec::Vec};

use super::{find, ids, words, FactRule, Found, FoundPlace};
use crate::{
    collections::Set,
    dialect::rule::{Fix, Path, Place},
    error::Error,
    json::{
        self,
        lazy::{edit, edit_member, view},
        Child, Data, Node,
    },
    options::{Api, ToolFormat},
    request::{
        tool,
        tool_format::{self, Edits, Entry},
    },
    tools::request_facts::{ChoiceChange, RequestChange},
    wire::{
        self,
        choice::{Choice, ToolRef},
        turns::Speaker,
        units::Role,
        Wire,
    },
};

/// What was fixed.
#[derive(Default)]
pub(crate) struct Fixed {
    /// The changes, with pointers into the request before it was fixed.
    pub(crate) changes: Vec<RequestChange>,
    /// True if messages were added.
    pub(crate) is_shifted: bool,
    /// The choice that a rule about choices changed.
    pub(crate) choice: Option<ChoiceChange>,
}

/// Fixes what violates rules that have a fix.
///
/// # Errors
/// `invalid-json` if a part of the request is text that cannot be read.
pub(crate) fn fix(request: &mut Node<'_>, (api, home): (Api, ToolFormat), rules: &[FactRule]) -> Result<Fixed, Error> {
    let wire = wire::of(api);
    let fixable: Vec<FactRule> = rules.iter().filter(|(_, rule)| rule.fix != Fix::None).copied().collect();
    let found = find(request, api, &fixable)?;
    let mut fixed = Fixed::default();
    if found.iter().any(|found| found.rule.fix == Fix::MapId) {
        map_ids(request, wire, &fixable)?;
    }
    if found.iter().any(|found| found.rule.fix == Fix::DeclareTools) {
        declare_tools(request, wire, home)?;
    }
    let mut messages = Vec::with_capacity(found.len());
    // From the last to the first, so that indices stay those that were found.
    for Found { fact, rule, place, .. } in found.iter().rev() {
        let of_choice = (rule.at == Place::Choice).then(|| written_choice(request, wire)).transpose()?;
        let is_renamed = apply(request, wire, (rule.at, rule.fix), *place)?;
        fixed.is_shifted |= matches!(rule.fix, Fix::InsertMessage(_));
        messages.push(words::changed(rule, is_renamed));
        if let Some(found) = of_choice {
            fixed.choice = Some(ChoiceChange { found, sent: written_choice(request, wire)?, because: fact.source });
        }
    }
    let changes = found.into_iter().zip(messages.into_iter().rev());
    fixed.changes = changes.map(|(found, message)| RequestChange::new(found.pointer, found.fact, message)).collect();
    Ok(fixed)
}

/// Applies a fix at a place. Returns true if a value that gets another name was sent under it.
fn apply(
    request: &mut Node<'_>,
    wire: &'static Wire,
    (at, fix): (Place, Fix),
    place: FoundPlace,
) -> Result<bool, Error> {
    match (at, place) {
        (Place::Request(path), _) => change(request, path, fix),
        (Place::Message(_, path), FoundPlace::Message(index)) => {
            if let Fix::InsertMessage(text) = fix {
                insert_message(request, wire, index, text);
                return Ok(true);
            }
            in_message(request, wire, index, |message| change(message, path, fix))
        }
        (Place::Part(_, path), FoundPlace::Part(index, part)) => {
            in_message(request, wire, index, |message| change_part(message, wire, (part, path), fix))
        }
        (Place::Tool(path), FoundPlace::Tool(index)) => {
            let changed = wire.tools().edit(request, |tools| {
                edit(tools, |tools| {
                    let tool = tools.as_array_mut().and_then(|tools| tools.get_mut(index));
                    tool.map_or(Ok(false), |tool| change(tool, path, fix))
                })
            })?;
            Ok(changed.unwrap_or_default())
        }
        (Place::Choice, _) if fix == Fix::Remove => wire.choice().remove(request).map(|()| true),
        (Place::Choice, _) => narrow(request, wire),
        _ => Ok(false),
    }
}

fn written_choice(request: &Node<'_>, wire: &Wire) -> Result<String, Error> {
    Ok(wire.choice().of(request)?.map_or_else(|| "null".into(), |(written, _)| written))
}

/// Calls `visit` with a message.
fn in_message<'a>(
    request: &mut Node<'a>,
    wire: &Wire,
    index: usize,
    visit: impl FnOnce(&mut Node<'a>) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let changed = request.visit(wire.history(), |history| {
        let message = history.as_array_mut().and_then(|messages| messages.get_mut(index));
        message.map_or(Ok(false), |message| edit(message, visit))
    });
    changed.unwrap_or(Ok(false))
}

/// Changes the member at the end of a path.
fn change(node: &mut Node<'_>, path: Path, fix: Fix) -> Result<bool, Error> {
    match path {
        [] => Ok(false),
        [outer, _] if matches!(fix, Fix::SetOuter(_) | Fix::RemoveOuter) => {
            let fix = if let Fix::SetOuter(value) = fix { Fix::Set(value) } else { Fix::Remove };
            edit(node, |node| change_member(node, outer, fix))
        }
        [member] => edit(node, |node| change_member(node, member, fix)),
        [outer, rest @ ..] => Ok(edit_member(node, outer, |inner| change(inner, rest, fix))?.unwrap_or_default()),
    }
}

fn change_member(node: &mut Node<'_>, member: &'static str, fix: Fix) -> Result<bool, Error> {
    let sent = match fix {
        Fix::Set(value) => {
            node.set(member, json::read(value)?);
            return Ok(true);
        }
        Fix::Wrap(name) => {
            if let Some(value) = node.visit(member, core::mem::take) {
                node.set(member, Node::record([(name, value)]));
            }
            return Ok(true);
        }
        Fix::Remove => {
            node.remove(member);
            return Ok(true);
        }
        Fix::Rename(name) => node.remove(member).map(|value| (name, value)),
        Fix::Take { part, name } => {
            let value = node.remove(member).unwrap_or_default();
            let part = view(&value)?.get(part).filter(|part| part.as_text().is_some()).cloned();
            part.map(|part| (name, part))
        }
        _ => return Ok(false),
    };
    let is_null = |member: &Node<'_>| matches!(member.data(), Data::Null | Data::Verbatim("null"));
    let sent = sent.filter(|(name, _)| node.get(*name).is_none_or(is_null));
    let is_renamed = sent.is_some();
    if let Some((name, value)) = sent {
        node.set(name, value);
    }
    Ok(is_renamed)
}

/// Changes a part of a message, or its place.
fn change_part(message: &mut Node<'_>, wire: &Wire, (index, path): (usize, Path), fix: Fix) -> Result<bool, Error> {
    let list = wire.parts_list();
    let first_call = match fix {
        Fix::MoveBeforeCalls => first_call(message, wire),
        _ => None,
    };
    let changed = message.visit(list, |parts| {
        let Some(items) = parts.as_array_mut() else { return Ok(false) };
        match fix {
            Fix::RemovePart => {
                remove_part(items, index, wire);
                Ok(true)
            }
            Fix::MoveBeforeCalls => {
                if let Some(call) = first_call.filter(|call| *call < index && index < items.len()) {
                    // The parts that move are found from the last to the first, so each goes before those that moved.
                    let part = items.remove(index);
                    items.insert(call, part);
                }
                Ok(true)
            }
            Fix::Insert(name, value) => {
                if let Some(part) = items.get_mut(index) {
                    part.set(name, Node::literal(value));
                }
                Ok(true)
            }
            fix => items.get_mut(index).map_or(Ok(false), |part| change(part, path, fix)),
        }
    });
    changed.unwrap_or(Ok(false))
}

fn first_call(message: &Node<'_>, wire: &Wire) -> Option<usize> {
    let mut calls = Vec::new();
    wire.parts(message, &mut |part| calls.extend(part.entry.filter(|_| part.role() == Role::Call)));
    calls.into_iter().min()
}

/// Content of a message that has lost all its parts, because APIs refuse messages without content.
const PLACEHOLDER: &str = ".";
const CACHE: &str = "cache_control";

/// Removes a part. The part before it, or else the part after it, gets its cache breakpoint.
fn remove_part(items: &mut Vec<Node<'_>>, index: usize, wire: &Wire) {
    if index >= items.len() {
        return;
    }
    let mut removed = items.remove(index);
    if items.is_empty() {
        items.push(wire.turns().text(PLACEHOLDER.into()));
    }
    let Some(breakpoint) = removed.remove(CACHE) else { return };
    if let Some(neighbor) = items.get_mut(index.saturating_sub(1)) {
        if neighbor.get(CACHE).is_none() {
            neighbor.set(CACHE, breakpoint);
        }
    }
}

fn insert_message(request: &mut Node<'_>, wire: &Wire, index: usize, text: &'static str) {
    let message = wire.turns().message(Speaker::Model, text.into());
    request.visit(wire.history(), |history| {
        if let Some(messages) = history.as_array_mut().filter(|messages| index <= messages.len()) {
            messages.insert(index, message);
        }
    });
}

/// Removes the tools that the choice does not allow, and replaces the choice by one that names no tool.
fn narrow(request: &mut Node<'_>, wire: &'static Wire) -> Result<bool, Error> {
    let Some((_, Some(choice))) = wire.choice().of(request)? else { return Ok(false) };
    let (tools, is_demand) = match &choice {
        Choice::Tool(tool) => (core::slice::from_ref(tool), true),
        Choice::Allowed { required, tools } => (tools.as_slice(), *required),
        _ => return Ok(false),
    };
    let mut names = Set::new();
    let mut kinds = Set::new();
    for tool in tools {
        match tool {
            ToolRef::Tool { name, .. } | ToolRef::Namespace(name) => names.insert(name.display().into_owned()),
            ToolRef::Hosted(kind) => kinds.insert(kind.display().into_owned()),
            ToolRef::Search => kinds.insert("tool_search".into()),
        };
    }
    let is_allowed = |entry: &Node<'_>| match tool::name(entry) {
        Some(name) => names.contains(name.display().as_ref()),
        None => tool::type_of(entry).is_none_or(|kind| kinds.contains(kind.display().as_ref())),
    };
    wire.tools().edit(request, |tools| {
        edit(tools, |tools| {
            let Some(list) = tools.as_array_mut() else { return Ok(()) };
            for group in wire.tools().groups() {
                for entry in list.iter_mut() {
                    entry.visit(*group, |group| group.as_array_mut().map(|group| group.retain(is_allowed)));
                }
            }
            let is_group = |entry: &Node<'_>| wire.tools().groups().iter().any(|group| entry.get(*group).is_some());
            list.retain(|entry| is_group(entry) || is_allowed(entry));
            Ok(())
        })
    })?;
    wire.choice().replace(request, &if is_demand { Choice::Required } else { Choice::Auto })?;
    Ok(true)
}

/// Declares the tools that the history calls, with schemas that accept any arguments. `home` is the dialect's own
/// format of tools.
fn declare_tools(request: &mut Node<'_>, wire: &'static Wire, home: ToolFormat) -> Result<(), Error> {
    let mut names = Vec::new();
    let mut known = Set::new();
    for message in request.array_at(wire.history()).unwrap_or_default() {
        if !ids::may_have(message) {
            continue;
        }
        wire.parts(&*view(message)?, &mut |part| {
            let name = part.name().filter(|_| part.role() == Role::Call).map(|name| name.into_owned());
            names.extend(name.filter(|name| known.insert(name.clone())));
        });
    }
    for name in names {
        let schema = Node::record([("type", Node::literal("object")), ("properties", Node::empty_object())]);
        let mut entry = Node::record([("name", Node::string(name)), ("inputSchema", schema)]);
        if let Entry::Tool(shape) = tool_format::recognize(&entry) {
            let edits = Edits { name: None, description: None, strict: None, omit: false };
            shape.settle(&mut entry, tool_format::sent_to(wire.api(), home), None, edits);
        }
        wire.tools().push(request, entry)?;
    }
    Ok(())
}

/// Replaces the ids of calls and results.
fn map_ids(request: &mut Node<'_>, wire: &'static Wire, rules: &[FactRule]) -> Result<(), Error> {
    let Some(messages) = request.array_at(wire.history()) else { return Ok(()) };
    let mut replaced = ids::replaced(messages, wire, rules)?.into_iter();
    let changed = request.visit(wire.history(), |history| {
        history.visit_children(|child, message| {
            if !matches!(child, Child::Item(_)) || !ids::may_have(message) {
                return Ok(());
            }
            edit(message, |message| {
                wire.visit_ids(message, &mut |id| {
                    if let Some(new) = replaced.next().flatten() {
                        *id = Node::string(new);
                    }
                });
                Ok(())
            })
        })
    });
    changed.unwrap_or(Ok(()))
}
