//! The parts of messages that concern tools: calls, results, and everything else that names a tool.

use alloc::{format, string::String};

use super::{each, turns::Blocks, Wire, ALL};
use crate::json::{Node, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Call,
    Result,
    /// A reference to a listed tool, in a result or in a change of the tools.
    Reference,
    /// A part of a hosted search. It may have a signature, so only names may change.
    Search,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// To a member.
    Member(&'static str),
    /// To each item of a member that is a list.
    Items(&'static str),
    /// To the value itself, if it has this `type`.
    Type(&'static str),
    /// To the value itself, if it has this member.
    With(&'static str),
    /// To the value itself, if it does not have this member, or if the member is null.
    Without(&'static str),
    /// To the value itself, unless this member is a string.
    NotText(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Arguments {
    /// No arguments, or free-form text.
    None,
    /// JSON text in a string.
    Text(&'static str),
    /// A JSON value.
    Value(&'static str),
}

impl Arguments {
    pub(super) const fn member(self) -> Option<&'static str> {
        match self {
            Arguments::None => None,
            Arguments::Text(key) | Arguments::Value(key) => Some(key),
        }
    }

    /// Returns the arguments, and true if the API expects JSON text for them.
    pub(super) fn of<'n, 'a>(self, call: &'n Node<'a>) -> (Option<&'n Node<'a>>, bool) {
        (self.member().and_then(|key| call.get(key)), !matches!(self, Arguments::Value(_)))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    None,
    /// The first of these members that exists.
    Members(&'static [&'static str]),
    /// The unit is a string, the name itself.
    WholeString,
}

#[derive(Debug)]
pub(crate) struct Unit {
    pub(super) role: Role,
    /// `type` of the message or entry that contains the unit; `None` if any type is possible.
    pub(super) kind: Option<&'static str>,
    /// `role` of the message that is the unit; `None` if any role is possible.
    pub(super) author: Option<&'static str>,
    /// Conditions that distinguish the message or entry from a message or entry of another API with the same type. They
    /// are not tested if the request is known to have this format.
    pub(super) unlike: &'static [Step],
    /// Steps from the message or entry to the unit.
    pub(super) way: &'static [Step],
    /// Members with the id of the call: first the id to which results refer, then other ids of the call.
    pub(super) id: &'static [&'static str],
    /// True if the id is a member of the entry instead of the unit.
    pub(super) is_id_outside: bool,
    pub(super) name: Name,
    pub(super) arguments: Arguments,
    /// Members of a call whose arguments are incomplete, because they come in pieces.
    pub(super) pieces: &'static [&'static str],
    /// Member and value that mark a call of a tool that the API runs itself.
    pub(super) hosted: Option<(&'static str, &'static str)>,
}

#[derive(Debug)]
pub(super) struct Units {
    /// Units that are messages or items, or members of them.
    pub(super) messages: &'static [Unit],
    /// Units that are entries of a list: the member that contains the list, and the units.
    pub(super) lists: &'static [(&'static str, &'static [Unit])],
}

const NAME: Name = Name::Members(&["name"]);

impl Unit {
    const NONE: Unit = Unit {
        role: Role::Call,
        kind: None,
        author: None,
        unlike: &[],
        way: &[],
        id: &[],
        is_id_outside: false,
        name: NAME,
        arguments: Arguments::None,
        pieces: &[],
        hosted: None,
    };

    pub(super) const fn call(id: &'static [&'static str], arguments: Arguments) -> Unit {
        Unit { id, arguments, ..Unit::NONE }
    }

    pub(super) const fn result(id: &'static [&'static str]) -> Unit {
        Unit { role: Role::Result, id, name: Name::None, ..Unit::NONE }
    }

    pub(super) const fn reference(way: &'static [Step]) -> Unit {
        Unit { role: Role::Reference, way, name: Name::Members(&["tool_name", "name"]), ..Unit::NONE }
    }

    pub(super) const fn search(way: &'static [Step]) -> Unit {
        Unit { role: Role::Search, way, ..Unit::NONE }
    }

    pub(super) const fn of_type(self, kind: &'static str) -> Unit {
        Unit { kind: Some(kind), ..self }
    }

    pub(super) const fn by_author(self, author: &'static str) -> Unit {
        Unit { author: Some(author), ..self }
    }

    pub(super) const fn at(self, way: &'static [Step]) -> Unit {
        Unit { way, ..self }
    }

    pub(super) const fn may_have_name(self) -> Unit {
        Unit { name: NAME, ..self }
    }

    fn is_in(&self, holder: &Node<'_>, kind: Option<&Text<'_>>, is_preferred: bool) -> bool {
        self.kind.is_none_or(|wanted| kind.is_some_and(|kind| kind.is(wanted)))
            && self.author.is_none_or(|wanted| holder.get("role").is_some_and(|role| role.is_text(wanted)))
            && (is_preferred || self.unlike.iter().all(|step| step.stays(holder)))
    }

    fn find<'n, 'a>(&self, holder: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.way.iter().try_fold(holder, |node, step| match step {
            Step::Member(key) => node.get(*key).filter(|member| !member.is_null()),
            Step::Items(_) => None,
            step => step.stays(node).then_some(node),
        })
    }

    fn id_in<'a>(&self, holder: &Node<'a>) -> Option<Text<'a>> {
        self.id.iter().find_map(|key| holder.text_at(*key)).cloned()
    }
}

impl Step {
    pub(super) fn stays(self, node: &Node<'_>) -> bool {
        match self {
            Step::Member(_) | Step::Items(_) => false,
            Step::Type(kind) => has_type(node, kind),
            Step::With(key) => node.get(key).is_some(),
            Step::Without(key) => node.get(key).is_none_or(Node::is_null),
            Step::NotText(key) => node.get(key).is_none_or(|value| value.as_text().is_none()),
        }
    }
}

pub(crate) fn has_type(node: &Node<'_>, name: &str) -> bool {
    node.get("type").is_some_and(|kind| kind.is_text(name))
}

pub(super) fn walk<'a>(node: &mut Node<'a>, way: &[Step], visit: &mut dyn FnMut(&mut Node<'a>)) {
    let Some((step, rest)) = way.split_first() else { return visit(node) };
    match step {
        Step::Member(key) => drop(node.visit(*key, |inner| walk(inner, rest, visit))),
        Step::Items(key) => each(node, key, &mut |_, item| walk(item, rest, visit)),
        step if step.stays(node) => walk(node, rest, visit),
        _ => {}
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    /// The list that contains the entry, and the index of the entry.
    pub(crate) entry: Option<(&'static str, usize)>,
    way: &'static [Step],
}

impl Location {
    /// `message` is the pointer to the message. An inner list has no index.
    pub(crate) fn pointer(self, message: &str) -> String {
        let mut pointer = String::from(message);
        if let Some((list, at)) = self.entry {
            pointer += &format!("/{list}/{at}");
        }
        for step in self.way {
            if let Step::Member(key) | Step::Items(key) = step {
                pointer += &format!("/{key}");
            }
        }
        pointer
    }
}

pub(crate) struct NamedUnit<'n, 'a> {
    pub(crate) node: &'n mut Node<'a>,
    pub(crate) role: Role,
    pub(crate) name: &'static str,
    /// The member that contains the arguments, and true if the API expects JSON text for them. `None` if this is not a
    /// call, or if its arguments are not JSON or not complete.
    pub(crate) arguments: Option<(&'static str, bool)>,
    pub(crate) id: Option<Text<'a>>,
    pub(crate) location: Location,
}

impl<'n, 'a> NamedUnit<'n, 'a> {
    /// Returns the unit of a call outside of any message.
    pub(crate) const fn call(
        node: &'n mut Node<'a>,
        arguments: Option<(&'static str, bool)>,
        id: Option<Text<'a>>,
    ) -> Self {
        NamedUnit { node, role: Role::Call, name: "name", arguments, id, location: Location { entry: None, way: &[] } }
    }
}

type Visit<'v> = &'v mut dyn FnMut(NamedUnit<'_, '_>);

/// Visits units of all APIs, because gateways mix them. If a part has a meaning in several formats, its meaning in
/// `own` applies.
pub(crate) fn visit(message: &mut Node<'_>, preferred: Option<&'static Wire>, visit: Visit<'_>) {
    visit_units(message, preferred, |units| Some(units.messages), None, visit);
    for (at, list) in lists().enumerate() {
        if lists().take(at).any(|before| before == list) {
            continue;
        }
        each(message, list, &mut |at, entry| in_entry(entry, preferred, (list, at), visit));
    }
}

fn in_entry(
    entry: &mut Node<'_>,
    preferred: Option<&'static Wire>,
    (list, at): (&'static str, usize),
    visit: Visit<'_>,
) {
    visit_units(entry, preferred, |units| units.list(list), Some((list, at)), visit);
}

pub(crate) struct FoundCall<'n, 'a> {
    pub(crate) wire: &'static Wire,
    /// The object with the name of the tool.
    pub(crate) node: &'n Node<'a>,
    unit: &'static Unit,
}

/// Finds calls of all APIs. If a part has a meaning in several formats, its meaning in `preferred` applies.
pub(crate) fn call_in<'n, 'a>(
    holder: &'n Node<'a>,
    list: Option<&str>,
    preferred: Option<&'static Wire>,
) -> Option<FoundCall<'n, 'a>> {
    let kind = holder.text_at("type");
    let find = |wire: &'static Wire, is_preferred: bool| {
        let units = list.map_or(Some(wire.units.messages), |list| wire.units.list(list)).unwrap_or_default();
        // Restored arguments may be a string.
        let stays = |step: &Step| matches!(step, Step::NotText(_)) || step.stays(holder);
        let is_here = |unit: &&Unit| unit.is_in(holder, kind, true) && (is_preferred || unit.unlike.iter().all(stays));
        // A message that contains a call is not a call itself.
        let is_part = |unit: &&Unit| unit.role == Role::Call && (list.is_some() || unit.way.is_empty());
        units.iter().filter(is_part).filter(is_here).find_map(|unit| {
            let node = unit.find(holder).filter(|node| node.as_object().is_some())?;
            Some(FoundCall { wire, node, unit })
        })
    };
    let own_call = preferred.and_then(|wire| find(wire, true));
    own_call.or_else(|| ALL.iter().find_map(|wire| find(wire, false)))
}

pub(crate) fn call_of_part<'n, 'a>(part: &'n Node<'a>) -> Option<FoundCall<'n, 'a>> {
    let kind = part.text_at("type");
    let find = |wire: &'static Wire, unit: &'static Unit| {
        let is_named = matches!(unit.name, Name::Members(_));
        let is_here = unit.role == Role::Call && is_named && unit.is_in(part, kind, false);
        let node = unit.find(part).filter(|node| is_here && node.as_object().is_some())?;
        Some(FoundCall { wire, node, unit })
    };
    ALL.iter().find_map(|wire| {
        // A message that contains a call is not a call itself.
        let items = wire.units.messages.iter().filter(|unit| unit.way.is_empty());
        let entries = wire.units.lists.iter().flat_map(|(_, units)| *units);
        items.chain(entries).find_map(|unit| find(wire, unit))
    })
}

impl<'n, 'a> FoundCall<'n, 'a> {
    /// `part` must be the part that contains the call.
    pub(crate) fn id(&self, part: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let holder = if self.unit.is_id_outside { part } else { self.node };
        self.unit.id.iter().find_map(|key| holder.get(*key))
    }

    pub(crate) fn has_arguments(&self) -> bool {
        self.unit.arguments.member().is_some()
    }

    pub(crate) fn name_key(&self) -> &'static str {
        match self.unit.name {
            Name::Members(keys) => keys.first().copied().unwrap_or_default(),
            Name::None | Name::WholeString => "",
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.unit.pieces.iter().all(|key| self.node.get(*key).is_none())
    }

    pub(crate) fn arguments(&self) -> (Option<&'n Node<'a>>, bool) {
        self.unit.arguments.of(self.node)
    }
}

pub(crate) fn visit_part(part: &mut Node<'_>, visit: Visit<'_>) {
    let kind = part.text_at("type");
    let holds = |(_, units): &&(&'static str, &[Unit])| {
        units.iter().any(|unit| unit.kind.zip(kind).is_some_and(|(wanted, kind)| kind.is(wanted)))
    };
    match ALL.iter().flat_map(|wire| wire.units.lists).find(holds) {
        Some((list, _)) => in_entry(part, None, (list, 0), visit),
        None => self::visit(part, None, visit),
    }
}

/// Yields the members that contain lists of units. A member may occur several times.
pub(crate) fn lists() -> impl DoubleEndedIterator<Item = &'static str> {
    ALL.iter().flat_map(|wire| wire.units.lists).map(|(list, _)| *list)
}

impl Units {
    fn list(&self, list: &str) -> Option<&'static [Unit]> {
        self.lists.iter().find(|(key, _)| *key == list).map(|(_, units)| *units)
    }
}

/// Visits the units of a message or entry. If the message or entry itself is a unit in several formats, only the first
/// format with a unit of that role applies.
fn visit_units(
    holder: &mut Node<'_>,
    preferred: Option<&'static Wire>,
    of: impl Fn(&Units) -> Option<&'static [Unit]>,
    entry: Option<(&'static str, usize)>,
    visit: Visit<'_>,
) {
    let kind = holder.text_at("type").cloned();
    let others = ALL.iter().copied().filter(|wire| preferred.is_none_or(|preferred| wire.api() != preferred.api()));
    let wires = preferred.map(|wire| (wire, true)).into_iter().chain(others.map(|wire| (wire, false)));
    let mut seen = [false; 4];
    for (wire, is_preferred) in wires {
        for unit in of(&wire.units).unwrap_or_default() {
            let is_itself = unit.way.is_empty();
            let is_known = is_itself && seen.get(unit.role as usize) == Some(&true);
            if !is_known && unit.is_in(holder, kind.as_ref(), is_preferred) {
                unit.visit(holder, entry, visit);
                seen.iter_mut().skip(unit.role as usize).take(1).for_each(|seen| *seen |= is_itself);
            }
        }
    }
}

impl Unit {
    fn visit(&'static self, holder: &mut Node<'_>, entry: Option<(&'static str, usize)>, visit: Visit<'_>) {
        let location = Location { entry, way: self.way };
        let outer = if self.is_id_outside { self.id_in(holder) } else { None };
        walk(holder, self.way, &mut |node| {
            let name = match self.name {
                Name::None => return,
                Name::WholeString => return visit_name_text(node, self.role, location, visit),
                Name::Members(keys) => keys.iter().find(|key| node.get(**key).is_some()).or(keys.last()),
            };
            let is_whole = self.pieces.iter().all(|key| node.get(*key).is_none());
            let arguments = match self.arguments {
                Arguments::Text(key) => Some((key, true)),
                Arguments::Value(key) => Some((key, false)),
                Arguments::None => None,
            };
            visit(NamedUnit {
                role: self.role,
                name: name.copied().unwrap_or_default(),
                arguments: arguments.filter(|_| is_whole),
                id: if self.is_id_outside { outer.clone() } else { self.id_in(node) },
                location,
                node,
            });
        });
    }
}

fn visit_name_text<'a>(name: &mut Node<'a>, role: Role, location: Location, visit: Visit<'_>) {
    let Some(old) = name.as_text().cloned() else { return };
    let mut holder = Node::record([("name", Node::string(old.clone()))]);
    visit(NamedUnit { node: &mut holder, role, name: "name", arguments: None, id: None, location });
    if let Some(new) = holder.get("name").filter(|new| new.as_text() != Some(&old)).cloned() {
        *name = new;
    }
}

pub(crate) struct Part<'n, 'a> {
    unit: &'static Unit,
    pub(crate) node: &'n Node<'a>,
    holder: &'n Node<'a>,
    /// Index of the entry, if the unit is in a list.
    pub(crate) entry: Option<usize>,
    list: Option<&'static str>,
}

impl<'a> Part<'_, 'a> {
    pub(crate) const fn role(&self) -> Role {
        self.unit.role
    }

    pub(crate) fn id(&self) -> Option<Text<'a>> {
        let holder = if self.unit.is_id_outside { self.holder } else { self.node };
        self.unit.id.first().and_then(|key| holder.text_at(*key)).cloned()
    }

    pub(crate) fn pointer_to_id(&self) -> String {
        let way = if self.unit.is_id_outside { &[] } else { self.unit.way };
        let location = Location { entry: self.list.zip(self.entry), way };
        let key = self.unit.id.first().copied().unwrap_or_default();
        format!("{}/{key}", location.pointer(""))
    }

    pub(crate) const fn has_ids(&self) -> bool {
        !self.unit.id.is_empty()
    }

    pub(crate) fn name(&self) -> Option<Text<'a>> {
        match self.unit.name {
            Name::Members(keys) => keys.iter().find_map(|key| self.node.text_at(*key)).cloned(),
            _ => None,
        }
    }

    pub(crate) const fn is_custom(&self) -> bool {
        matches!((self.unit.role, self.unit.arguments), (Role::Call, Arguments::None))
    }

    pub(crate) fn is_hosted(&self) -> bool {
        is_hosted(self.unit, self.node)
    }
}

fn is_hosted(unit: &Unit, node: &Node<'_>) -> bool {
    unit.hosted.is_some_and(|(key, value)| node.get(key).is_some_and(|member| member.is_text(value)))
}

fn part_in<'n, 'a>(holder: &'n Node<'a>, units: &'static [Unit]) -> Option<(&'static Unit, &'n Node<'a>)> {
    let kind = holder.text_at("type");
    let is_part = |unit: &&Unit| matches!(unit.role, Role::Call | Role::Result);
    let candidates = units.iter().filter(is_part).filter(|unit| unit.is_in(holder, kind, true));
    candidates.filter_map(|unit| Some((unit, unit.find(holder)?))).next()
}

impl Wire {
    pub(crate) fn parts<'n, 'a>(&self, message: &'n Node<'a>, show: &mut dyn FnMut(Part<'n, 'a>)) {
        let mut in_holder = |holder: &'n Node<'a>, units: &'static [Unit], entry: Option<(&'static str, usize)>| {
            let Some((unit, node)) = part_in(holder, units) else { return false };
            show(Part { unit, node, holder, entry: entry.map(|(_, at)| at), list: entry.map(|(list, _)| list) });
            unit.way.is_empty()
        };
        // A message that is itself a call or a result contains no others.
        if in_holder(message, self.units.messages, None) {
            return;
        }
        for (list, units) in self.units.lists {
            for (at, entry) in message.items_at(*list).iter().enumerate() {
                in_holder(entry, units, Some((*list, at)));
            }
        }
    }

    /// Visits only ids of the client's calls and results, in the order of [`Wire::parts`].
    pub(crate) fn visit_ids<'a>(&self, message: &mut Node<'a>, visit: &mut dyn FnMut(&mut Node<'a>)) {
        let mut in_holder = |holder: &mut Node<'a>, units: &'static [Unit]| {
            let Some((unit, node)) = part_in(holder, units) else { return false };
            let is_itself = unit.way.is_empty();
            let is_of_client = !is_hosted(unit, node);
            if let Some(key) = unit.id.first().filter(|_| is_of_client) {
                let mut in_node = |node: &mut Node<'a>| {
                    node.visit(*key, |id| {
                        if id.as_text().is_some() {
                            visit(id)
                        }
                    });
                };
                let way = if unit.is_id_outside { &[] } else { unit.way };
                walk(holder, way, &mut in_node);
            }
            is_itself
        };
        if in_holder(message, self.units.messages) {
            return;
        }
        for (list, units) in self.units.lists {
            each(message, list, &mut |_, entry| {
                in_holder(entry, units);
            });
        }
    }

    pub(crate) fn parts_list(&self) -> &'static str {
        self.turns.blocks().map_or("content", Blocks::list)
    }

    pub(crate) fn set_result_id(&self, message: &mut Node<'_>, id: &str) {
        let kind = message.text_at("type");
        let is_result = |unit: &&Unit| unit.role == Role::Result && unit.is_in(message, kind, true);
        if let Some(key) = self.units.messages.iter().find(is_result).and_then(|unit| unit.id.first()) {
            message.set(key, Node::string(String::from(id)));
        }
    }
}
