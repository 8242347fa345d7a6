//! Fixes violations of rules about locations in a request.

use alloc::{string::String, vec::Vec};

use super::{
    find::{find_violations, first_call},
    ids, words, FactRule, RuleViolation, ViolationLocation,
};
use crate::{
    collections::{Map, Set},
    dialect::{
        requests::RequestFact,
        rule::{BetaLocation, Fix, Location, Path, Refused},
    },
    error::Error,
    json::{
        self,
        lazy::{edit, edit_member, view},
        Child, Node,
    },
    options::{Api, ToolFormat},
    request::{
        betas::{self, Header},
        tool,
        tool_format::{self, Edits, Entry},
    },
    tools::request_facts::{ChoiceChange, RequestChange},
    wire::{
        self,
        choice::{Choice, ToolRef},
        turns::{Blocks, Speaker},
        units::Role,
        Wire,
    },
};

#[derive(Default)]
pub(crate) struct Fixed {
    /// The changes, with pointers into the request before it was fixed.
    pub(crate) changes: Vec<RequestChange>,
    /// True if messages were added.
    pub(crate) is_shifted: bool,
    /// The choice that a rule about choices changed.
    pub(crate) choice: Option<ChoiceChange>,
    /// If a choice removed tools: the new pointer of each remaining tool, by its old pointer.
    pub(crate) remaining_tools: Option<Map<String, String>>,
}

#[derive(Default)]
struct MessageChange {
    removed: Set<usize>,
    /// Parts that go before the first call.
    moved: Set<usize>,
    /// Text of a model message to insert before this message.
    inserted: Option<&'static str>,
}

/// Fixes violations, and changes the betas in `header` if the caller knows the header.
pub(crate) fn fix_violations(
    request: &mut Node<'_>,
    (api, dialect_format): (Api, ToolFormat),
    rules: &[FactRule],
    mut header: Option<&mut Header>,
) -> Result<Fixed, Error> {
    let wire = wire::of(api);
    let fixable: Vec<FactRule> = rules.iter().filter(|(_, rule)| rule.fix != Fix::None).copied().collect();
    if fixable.is_empty() {
        return Ok(Fixed::default());
    }
    let violations = find_violations(request, api, &fixable, header.as_deref())?;
    if violations.iter().any(|violation| violation.rule.fix == Fix::MapId) {
        map_ids(request, wire, &fixable)?;
    }
    if violations.iter().any(|violation| violation.rule.fix == Fix::DeclareTools) {
        declare_tools(request, wire, dialect_format)?;
    }
    let mut fixed = Fixed::default();
    let mut declares_tools = false;
    let (mut refused_betas, mut added_betas): (Set<&str>, Vec<&str>) = (Set::new(), Vec::new());
    let mut messages: Map<usize, MessageChange> = Map::new();
    for RuleViolation { fact, rule, pointer, location } in violations {
        // False if the fix did not rename the value, but removed it.
        let mut is_renamed = true;
        match (rule.at, location, rule.fix) {
            (_, ViolationLocation::Part(message, part), Fix::RemovePart) => {
                messages.entry(message).or_default().removed.insert(part);
            }
            (_, ViolationLocation::Part(message, part), Fix::MoveBeforeCalls) => {
                messages.entry(message).or_default().moved.insert(part);
            }
            (_, ViolationLocation::Message(message), Fix::InsertMessage(text)) => {
                messages.entry(message).or_default().inserted = Some(text);
                fixed.is_shifted = true;
            }
            (_, _, Fix::MapId) => {}
            (_, _, Fix::AddBeta(beta, BetaLocation::Body)) => betas::add_to_body(request, beta)?,
            (_, _, Fix::AddBeta(beta, BetaLocation::Header)) => {
                if let Some(header) = &mut header {
                    header.add(beta);
                }
            }
            (_, ViolationLocation::Beta(beta_location), _) => {
                let (Refused::Words(names), fix) = (rule.refuses, rule.fix) else { continue };
                let replacement = if let Fix::Rename(replacement) = fix { Some(replacement) } else { None };
                match (beta_location, &mut header) {
                    (BetaLocation::Header, Some(header)) => {
                        names.iter().for_each(|name| header.remove(name));
                        replacement.into_iter().for_each(|replacement| header.add(replacement));
                    }
                    _ => {
                        refused_betas.extend(names.iter().copied());
                        added_betas.extend(replacement.filter(|replacement| !added_betas.contains(replacement)));
                    }
                }
            }
            // All tools are declared at the first call.
            (_, _, Fix::DeclareTools) => {
                if core::mem::replace(&mut declares_tools, true) {
                    continue;
                }
            }
            (_, _, Fix::RemoveList) => {
                let choice = written_choice(request, wire)?;
                fixed.changes.extend(remove_list(request, wire, fact)?);
                let sent = written_choice(request, wire)?;
                if sent != choice {
                    fixed.choice = Some(ChoiceChange { found: choice, sent, because: fact.source });
                }
            }
            (Location::Choice, _, fix) => {
                let choice = written_choice(request, wire)?;
                if fix == Fix::Remove {
                    wire.choice().remove(request)?;
                } else {
                    fixed.remaining_tools = narrow_list(request, wire)?;
                }
                let sent = written_choice(request, wire)?;
                fixed.choice = Some(ChoiceChange { found: choice, sent, because: fact.source });
            }
            (at, location, fix) => is_renamed = change_value(request, wire, (at, fix), location)?,
        }
        fixed.changes.push(RequestChange::new(pointer, fact, words::fix_message(rule, is_renamed)));
    }
    if !refused_betas.is_empty() {
        betas::rewrite_body(request, &|beta| refused_betas.contains(beta), &added_betas)?;
    }
    change_messages(request, wire, messages)?;
    Ok(fixed)
}

fn written_choice(request: &Node<'_>, wire: &Wire) -> Result<String, Error> {
    Ok(wire.choice().of(request)?.map_or_else(|| "null".into(), |(written, _)| written))
}

/// Applies a fix to a value. Returns false if the value was removed instead of renamed.
fn change_value(
    request: &mut Node<'_>,
    wire: &Wire,
    (at, fix): (Location, Fix),
    location: ViolationLocation,
) -> Result<bool, Error> {
    match (at, location) {
        (Location::Request(path), _) => change_at(request, path, fix),
        (Location::Message(_, path), ViolationLocation::Message(index)) => {
            edit_message(request, wire, index, |message| change_at(message, path, fix))
        }
        (Location::Part(_, path), ViolationLocation::Part(index, part)) => {
            edit_message(request, wire, index, |message| {
                let changed = message.visit(wire.parts_list(), |parts| {
                    let part = parts.as_array_mut().and_then(|parts| parts.get_mut(part));
                    part.map_or(Ok(false), |part| change_at(part, path, fix))
                });
                changed.unwrap_or(Ok(false))
            })
        }
        (Location::SystemPart(path), ViolationLocation::SystemPart(index)) => {
            let Some(member) = wire.prompt_member() else { return Ok(false) };
            let changed = edit_member(request, member, |parts| {
                let part = parts.as_array_mut().and_then(|parts| parts.get_mut(index));
                part.map_or(Ok(false), |part| change_at(part, path, fix))
            })?;
            Ok(changed.unwrap_or_default())
        }
        (Location::Tool(path), ViolationLocation::Tool(index)) => {
            let changed = wire.tools().edit(request, |tools| {
                edit(tools, |tools| {
                    let tool = tools.as_array_mut().and_then(|tools| tools.get_mut(index));
                    tool.map_or(Ok(false), |tool| change_at(tool, path, fix))
                })
            })?;
            Ok(changed.unwrap_or_default())
        }
        _ => Ok(false),
    }
}

fn edit_message<'a>(
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

fn change_at(node: &mut Node<'_>, path: Path, fix: Fix) -> Result<bool, Error> {
    if let Fix::Insert(name, value) = fix {
        return edit(node, |node| {
            node.set(name, Node::literal(value));
            Ok(true)
        });
    }
    match path {
        [] => Ok(false),
        [outer, _] if matches!(fix, Fix::SetOuter(_) | Fix::RemoveOuter) => {
            let fix = if let Fix::SetOuter(value) = fix { Fix::Set(value) } else { Fix::Remove };
            edit(node, |node| change_member(node, outer, fix))
        }
        [member] => edit(node, |node| change_member(node, member, fix)),
        [outer, rest @ ..] => edit(node, |node| {
            let changed = edit_member(node, outer, |inner| {
                let is_changed = change_at(inner, rest, fix)?;
                Ok((is_changed, inner.as_object().is_some_and(json::Object::is_empty)))
            })?;
            let (is_changed, is_emptied) = changed.unwrap_or_default();
            // The removed member may have been the only member.
            if fix == Fix::Remove && is_emptied {
                node.remove(outer);
            }
            Ok(is_changed)
        }),
    }
}

fn change_member(node: &mut Node<'_>, member: &'static str, fix: Fix) -> Result<bool, Error> {
    let renamed = match fix {
        Fix::Set(value) => {
            // The value comes from the rule, so it has no origin in the request.
            node.set(member, json::read(value)?.detached());
            return Ok(true);
        }
        Fix::ToUser => {
            node.set(member, Node::literal("user"));
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
    let renamed = renamed.filter(|(name, _)| node.get(*name).is_none_or(Node::is_null));
    let is_renamed = renamed.is_some();
    if let Some((name, value)) = renamed {
        node.set(name, value);
    }
    Ok(is_renamed)
}

/// Removes the tool list, and the members that need tools. Returns the changes, without the change of the list. A
/// choice that requires a call stays, because no change can satisfy it.
fn remove_list(request: &mut Node<'_>, wire: &Wire, fact: &'static RequestFact) -> Result<Vec<RequestChange>, Error> {
    let choice = wire.choice().of(request)?.and_then(|(_, choice)| choice);
    let is_demand = choice.is_some_and(|choice| choice.is_demand());
    let mut changes = Vec::new();
    for name in wire.tools().members() {
        let is_removed = *name == "tools" || !is_demand;
        if is_removed && request.remove(name).is_some_and(|value| !value.is_null()) && *name != "tools" {
            let message = alloc::format!("removed `{name}`, which needs tools");
            changes.push(RequestChange::new(alloc::format!("/{name}"), fact, message));
        }
    }
    Ok(changes)
}

fn change_messages(request: &mut Node<'_>, wire: &Wire, changes: Map<usize, MessageChange>) -> Result<(), Error> {
    let mut inserted: Vec<(usize, &'static str)> = Vec::new();
    for (index, change) in changes {
        inserted.extend(change.inserted.map(|text| (index, text)));
        if change.removed.is_empty() && change.moved.is_empty() {
            continue;
        }
        edit_message(request, wire, index, |message| {
            let call = first_call(message, wire);
            message.visit(wire.parts_list(), |parts| {
                if let Some(items) = parts.as_array_mut() {
                    *items = rebuild_parts(core::mem::take(items), &change, call, wire);
                }
            });
            Ok(true)
        })?;
    }
    if inserted.is_empty() {
        return Ok(());
    }
    request.visit(wire.history(), |history| {
        let Some(messages) = history.as_array_mut() else { return };
        let mut texts: Map<usize, &'static str> = inserted.into_iter().collect();
        let original = core::mem::take(messages);
        for (index, message) in original.into_iter().enumerate() {
            if let Some(text) = texts.remove(&index) {
                messages.push(wire.turns().message(Speaker::Model, text.into()));
            }
            messages.push(message);
        }
    });
    Ok(())
}

/// Content of a message that has lost all its parts, because APIs refuse messages without content.
const PLACEHOLDER: &str = ".";
const CACHE: &str = "cache_control";

/// Removes and moves parts. `call` is the index of the first call. A cache breakpoint of a removed part moves to the
/// nearest preceding part that accepts a breakpoint, or else to the nearest following part.
fn rebuild_parts<'a>(parts: Vec<Node<'a>>, change: &MessageChange, call: Option<usize>, wire: &Wire) -> Vec<Node<'a>> {
    let mut kept: Vec<Node<'a>> = Vec::with_capacity(parts.len());
    let mut from_first_call = Vec::new();
    let mut breakpoint = None;
    for (index, mut part) in parts.into_iter().enumerate() {
        let is_after_calls = call.is_some_and(|call| index >= call) && !change.moved.contains(&index);
        if change.removed.contains(&index) {
            let Some(cache) = part.remove(CACHE).filter(|cache| !cache.is_null()) else { continue };
            let before = if is_after_calls { &mut from_first_call } else { &mut kept };
            match before.iter_mut().rev().find(|part| accepts_cache(part)) {
                Some(part) if part.get(CACHE).is_none_or(Node::is_null) => part.set(CACHE, cache),
                Some(_) => {}
                None => breakpoint = Some(cache),
            }
            continue;
        }
        if accepts_cache(&part) && part.get(CACHE).is_none_or(Node::is_null) {
            if let Some(cache) = breakpoint.take() {
                part.set(CACHE, cache);
            }
        }
        if is_after_calls { &mut from_first_call } else { &mut kept }.push(part);
    }
    kept.append(&mut from_first_call);
    // APIs refuse a message that contains only thinking.
    let is_content = |part: &Node<'_>| {
        accepts_cache(part) && wire.turns().blocks().is_none_or(|blocks: &Blocks| blocks.is_content(part))
    };
    if !kept.iter().any(is_content) {
        let mut placeholder = wire.turns().text(PLACEHOLDER.into());
        if let Some(cache) = breakpoint {
            placeholder.set(CACHE, cache);
        }
        let at = kept.iter().take_while(|part| !accepts_cache(part)).count();
        kept.insert(at, placeholder);
    }
    kept
}

fn accepts_cache(part: &Node<'_>) -> bool {
    !["thinking", "redacted_thinking"].iter().any(|kind| wire::units::has_type(part, kind))
}

/// Removes the tools that the choice does not allow, and replaces the choice with `required` or `auto`. Returns
/// the new pointer of each remaining tool, by its old pointer.
fn narrow_list(request: &mut Node<'_>, wire: &'static Wire) -> Result<Option<Map<String, String>>, Error> {
    let Some((_, Some(choice))) = wire.choice().of(request)? else { return Ok(None) };
    let (tools, is_demand) = match &choice {
        Choice::Tool(tool) => (core::slice::from_ref(tool), true),
        Choice::Allowed { required, tools } => (tools.as_slice(), *required),
        _ => return Ok(None),
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
    let (list, groups) = (wire.tools().pointer(), wire.tools().groups());
    let mut remaining = Map::new();
    wire.tools().edit(request, |tools| {
        edit(tools, |tools| {
            let Some(entries) = tools.as_array_mut() else { return Ok(()) };
            let mut kept = 0;
            for (index, mut entry) in core::mem::take(entries).into_iter().enumerate() {
                let (before, now) = (alloc::format!("{list}/{index}"), alloc::format!("{list}/{kept}"));
                let Some(group) = groups.iter().find(|group| entry.get(**group).is_some()) else {
                    if is_allowed(&entry) {
                        remaining.insert(before, now);
                        entries.push(entry);
                        kept += 1;
                    }
                    continue;
                };
                let mut inner = 0;
                let count = entry.visit(*group, |functions| {
                    let Some(functions) = functions.as_array_mut() else { return 0 };
                    for (at, function) in core::mem::take(functions).into_iter().enumerate() {
                        if is_allowed(&function) {
                            remaining.insert(
                                alloc::format!("{before}/{group}/{at}"),
                                alloc::format!("{now}/{group}/{inner}"),
                            );
                            functions.push(function);
                            inner += 1;
                        }
                    }
                    functions.len()
                });
                // The entry may contain tools outside the empty group.
                if count == Some(0) {
                    entry.remove(group);
                }
                if entry.as_object().is_none_or(|entry| !entry.is_empty()) {
                    entries.push(entry);
                    kept += 1;
                }
            }
            Ok(())
        })
    })?;
    wire.choice().replace(request, &if is_demand { Choice::Required } else { Choice::Auto })?;
    Ok(Some(remaining))
}

/// Declares the tools that the history calls, with schemas that accept any arguments.
fn declare_tools(request: &mut Node<'_>, wire: &'static Wire, dialect_format: ToolFormat) -> Result<(), Error> {
    let mut names = Vec::new();
    let mut known = Set::new();
    for message in request.array_at(wire.history()).unwrap_or_default() {
        if !ids::may_have_ids(message) {
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
            let edits = Edits { name: None, description: None, strict: None, removes_schema: false };
            let added_schema = None;
            let format = tool_format::sent_to(wire.api(), dialect_format);
            shape.convert_entry(&mut entry, format, added_schema, edits);
        }
        wire.tools().push(request, entry)?;
    }
    Ok(())
}

fn map_ids(request: &mut Node<'_>, wire: &'static Wire, rules: &[FactRule]) -> Result<(), Error> {
    let Some(messages) = request.array_at(wire.history()) else { return Ok(()) };
    let mut replacements = ids::replacements(messages, wire, rules)?.into_iter();
    let changed = request.visit(wire.history(), |history| {
        history.visit_children(|child, message| {
            if !matches!(child, Child::Item(_)) || !ids::may_have_ids(message) {
                return Ok(());
            }
            edit(message, |message| {
                wire.visit_ids(message, &mut |id| {
                    if let Some(new) = replacements.next().flatten() {
                        *id = Node::string(new);
                    }
                });
                Ok(())
            })
        })
    });
    changed.unwrap_or(Ok(()))
}
