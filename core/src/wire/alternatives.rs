//! Replies that list alternative messages (`choices`, `candidates`), and their chunks in a stream: each chunk is a
//! reply with a part of each message.

use alloc::{string::String, vec::Vec};

use super::{
    each,
    events::has_only,
    reply::{is_cut, is_text_part, text_part},
    units::call_in,
    ALL,
};
use crate::json::{write, Node, Object, Text};

#[derive(Debug)]
pub(crate) struct Alternatives {
    pub(super) list: &'static str,
    /// Members in which gateways wrap a reply.
    pub(super) wrappers: &'static [&'static str],
    pub(super) usage: &'static str,
    pub(crate) id: &'static str,
    /// Member of an alternative that contains the message.
    pub(crate) whole: &'static str,
    /// Member of an alternative that contains a part of the message, in a chunk.
    pub(crate) part: &'static str,
    /// Member of the message that contains its units.
    pub(crate) units: &'static str,
    /// How a chunk contains pieces of calls; `None` if each call is in one chunk.
    pub(super) calls: Option<PiecedCalls>,
    pub(crate) reason: &'static str,
    /// `role` of the model.
    pub(super) role: &'static str,
    /// True if each part of a message has a role.
    pub(super) has_roles: bool,
    pub(crate) text: MessageText,
    /// True if a chunk without a reason has the member nevertheless.
    pub(crate) has_null_reason: bool,
    /// True if each chunk repeats the token usage so far.
    pub(crate) repeats_usage: bool,
    /// Members of a chunk that the client does not need if the chunk's text or calls are buffered. `None` if the client
    /// needs every chunk.
    pub(super) needless: Option<&'static [&'static str]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PiecedCalls {
    /// Members of an entry that may contain the call, first the member of calls whose arguments are JSON text.
    pub(super) inner: &'static [&'static str],
    pub(super) name: &'static str,
    pub(super) arguments: &'static str,
}

#[derive(Debug)]
pub(crate) enum MessageText {
    /// The text is this member of the message. The units are calls, which arrive in pieces.
    Member(&'static str),
    /// The text is this member of a unit, unless the unit has the member `unless`. Each unit arrives as a whole.
    InUnits { member: &'static str, unless: &'static str },
}

const NUMBER: &str = "index";

/// Visits an alternative and its number.
type Visit<'v, 'a> = &'v mut dyn FnMut(&mut Node<'a>, u64);

pub(crate) fn alternatives_of(reply: &Node<'_>) -> Option<&'static Alternatives> {
    ALL.iter().filter_map(|wire| wire.alternatives).find(|alternatives| alternatives.holder(reply).is_some())
}

impl Alternatives {
    fn is_list_of(&self, node: &Node<'_>) -> bool {
        node.get(self.list).is_some_and(|list| list.as_array().is_some())
    }

    fn holder<'n, 'a>(&self, reply: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let wrapped = || self.wrappers.iter().filter_map(|key| reply.get(*key)).find(|inner| self.is_list_of(inner));
        if self.is_list_of(reply) {
            return Some(reply);
        }
        wrapped()
    }

    pub(crate) fn edit_holder<'a, R>(&self, reply: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        if self.is_list_of(reply) {
            return Some(edit(reply));
        }
        let is_holder = |key: &&&str| reply.get(**key).is_some_and(|inner| self.is_list_of(inner));
        let key = self.wrappers.iter().find(is_holder)?;
        reply.visit(*key, edit)
    }

    pub(crate) fn items<'n, 'a>(&self, reply: &'n Node<'a>) -> &'n [Node<'a>] {
        self.holder(reply).map_or(&[], |holder| holder.items_at(self.list))
    }

    pub(crate) fn visit<'a>(&self, reply: &mut Node<'a>, visit: Visit<'_, 'a>) {
        self.edit_holder(reply, |holder| {
            each(holder, self.list, &mut |_, item| {
                let number = number(item);
                visit(item, number);
            });
        });
    }

    pub(crate) fn first<'n, 'a>(&self, reply: &'n Node<'a>) -> Option<&'n Node<'a>> {
        reply.array_at(self.list)?.first()
    }

    pub(crate) fn edit_first<'a, R>(&self, reply: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        reply.visit(self.list, |list| list.as_array_mut().and_then(|list| list.first_mut()).map(edit)).flatten()
    }

    /// Adds the role, which some backends omit.
    pub(crate) fn model_message(&self, mut message: Node<'static>) -> Node<'static> {
        if message.get("role").is_none() {
            message.set("role", Node::literal(self.role));
        }
        message
    }

    pub(crate) fn ends(&self, item: &Node<'_>) -> bool {
        item.get(self.reason).is_some_and(|reason| !reason.is_null())
    }

    /// Writes arguments in whole messages as the JSON text that the API promises. Missing arguments become `{}`, unless
    /// the alternative ended at a length limit. Returns true if any changed.
    pub(crate) fn write_arguments(&self, reply: &mut Node<'_>) -> bool {
        let Some(calls) = self.calls else { return false };
        let mut has_changed = false;
        self.visit(reply, &mut |item, _| {
            let is_cut = is_cut(item);
            item.visit(self.whole, |message| {
                each(message, self.units, &mut |_, entry| {
                    let Some(function) = calls.of(entry) else { return };
                    let text = match function.get(calls.arguments) {
                        Some(arguments) if arguments.as_object().is_some() => write(arguments),
                        arguments if !is_cut && arguments.is_none_or(|value| value.is_null() || value.is_text("")) => {
                            "{}".into()
                        }
                        _ => return,
                    };
                    has_changed = true;
                    calls.edit(entry, |function| function.set(calls.arguments, Node::string(text)));
                });
            });
        });
        has_changed
    }

    pub(crate) const fn calls(&self) -> Option<PiecedCalls> {
        self.calls
    }

    pub(crate) fn units_of<'n, 'a>(&self, item: &'n Node<'a>) -> &'n [Node<'a>] {
        item.get(self.part).and_then(|part| part.array_at(self.units)).unwrap_or_default()
    }

    pub(crate) fn edit_part<'a>(&self, item: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>)) {
        if item.get(self.part).is_none_or(|part| part.as_object().is_none()) {
            item.set(self.part, if self.has_roles { self.with_role() } else { Node::empty_object() });
        }
        item.visit(self.part, edit);
    }

    fn with_role(&self) -> Node<'static> {
        Node::record([("role", Node::literal(self.role))])
    }

    /// `visit` receives the object and its member that contains the piece.
    pub(crate) fn visit_texts(&self, part: &mut Node<'_>, visit: &mut dyn FnMut(&mut Node<'_>, &'static str)) {
        let (list, member) = match self.text {
            MessageText::Member(member) => {
                visit(part, member);
                // Mistral sends a list of parts.
                (member, "text")
            }
            MessageText::InUnits { member, .. } => (self.units, member),
        };
        each(part, list, &mut |_, unit| {
            if is_text_part(unit) {
                visit(unit, member);
            }
        });
    }

    /// Removes units without text if the part also has calls: the text of these units was buffered.
    pub(crate) fn drop_empty_texts(&self, part: &mut Node<'_>) {
        let MessageText::InUnits { member, .. } = self.text else { return };
        let units = part.items_at(self.units);
        if !units.iter().any(|unit| call_in(unit, Some(self.units), None).is_some()) {
            return;
        }
        let is_empty = |unit: &Node<'_>| {
            let members = unit.as_object().map(Object::members).unwrap_or_default();
            matches!(members, [only] if only.key.is(member) && only.value.is_text(""))
        };
        if units.iter().any(is_empty) {
            part.visit(self.units, |units| units.as_array_mut().map(|units| units.retain(|unit| !is_empty(unit))));
        }
    }

    pub(crate) fn take_texts(&self, part: &mut Node<'_>, take: &mut dyn FnMut(&Text<'_>)) {
        let list = match self.text {
            MessageText::Member(member) => {
                if let Some(text) = part.text_at(member).filter(|text| !text.is_empty()) {
                    take(text);
                    part.remove(member);
                    return;
                }
                member
            }
            MessageText::InUnits { .. } => self.units,
        };
        let is_text = |unit: &Node<'_>| {
            unit.text_at("text").is_some() && is_text_part(unit) && call_in(unit, Some(list), None).is_none()
        };
        let texts = part.items_at(list).iter().filter(|unit| is_text(unit));
        texts.filter_map(|unit| unit.text_at("text")).for_each(&mut *take);
        if part.items_at(list).iter().any(is_text) {
            part.visit(list, |units| units.as_array_mut().map(|units| units.retain(|unit| !is_text(unit))));
        }
    }

    pub(crate) fn may_have_text(&self, item: &Node<'_>) -> bool {
        match self.text {
            MessageText::Member(member) => {
                item.get(self.part).and_then(|part| part.get(member)).is_some_and(|text| !text.is_null())
            }
            MessageText::InUnits { .. } => true,
        }
    }

    /// Adds text to an alternative, which must have no text.
    pub(crate) fn add_text(&self, item: &mut Node<'_>, text: String) {
        match self.text {
            MessageText::Member(list) if self.part_of(item).is_some_and(|part| part.array_at(list).is_some()) => {
                self.edit_part(item, |part| {
                    let text = text_part("text", text);
                    part.visit(list, |parts| parts.as_array_mut().map(|parts| parts.push(text)));
                });
            }
            _ => self.put_text(item, text),
        }
    }

    fn part_of<'n, 'a>(&self, item: &'n Node<'a>) -> Option<&'n Node<'a>> {
        item.get(self.part)
    }

    /// Puts the text into the first piece of text, or into a new piece.
    pub(crate) fn put_text(&self, item: &mut Node<'_>, text: String) {
        self.edit_part(item, |part| match self.text {
            MessageText::Member(member) if part.get(member).is_none_or(|content| content.as_array().is_none()) => {
                part.set(member, Node::string(text));
            }
            MessageText::Member(member) => put_in_parts(part, member, text, true),
            MessageText::InUnits { .. } => put_in_parts(part, self.units, text, false),
        });
    }

    /// Returns a copy of the chunk for its buffered text. The copy omits the members that the chunk still contains.
    pub(crate) fn text_template(&self, chunk: &Node<'_>) -> Node<'static> {
        match self.needless {
            Some(members) => {
                let kept = chunk.as_object().map(Object::members).unwrap_or_default().iter();
                let kept = kept.filter(|member| self.is_needless(members, |key| member.key.is(key)));
                Node::object(kept.map(|member| (member.key.clone().into_owned(), member.value.detached())).collect())
            }
            None => self.without_output(chunk),
        }
    }

    fn is_needless(&self, members: &[&str], is: impl Fn(&str) -> bool) -> bool {
        is(self.list) || members.iter().any(|key| is(key))
    }

    /// Returns a copy of the chunk without alternatives and usage. The client receives the usage with the chunk itself.
    pub(crate) fn without_output(&self, chunk: &Node<'_>) -> Node<'static> {
        let mut bare = chunk.detached();
        let is_wrapped = !self.is_list_of(chunk);
        self.edit_holder(&mut bare, |holder| {
            [self.list, self.usage].into_iter().for_each(|key| drop(holder.remove(key)));
            if is_wrapped {
                // Marks the location of the removed alternatives.
                holder.set(self.list, Node::array(Vec::new()));
            }
        });
        bare
    }

    pub(crate) fn has_only_output(&self, chunk: &Node<'_>) -> bool {
        let Some(members) = self.needless else { return false };
        has_only(chunk, |name| self.is_needless(members, |key| name.is(key)))
    }

    /// Returns true if an alternative contains nothing but empty text.
    pub(crate) fn has_only_text(&self, item: &Node<'_>) -> bool {
        let MessageText::Member(text) = self.text else { return false };
        let is_silent = |value: &Node<'_>| value.is_null() || value.is_text("");
        let part = item.object_at(self.part);
        part.is_none_or(|part| part.iter().all(|member| member.key.is(text) && is_silent(&member.value)))
            && has_only(item, |name| [NUMBER, self.part].iter().any(|key| name.is(*key)))
    }

    pub(crate) fn is_silent(&self, item: &Node<'_>) -> bool {
        let is_set = |key: &str| item.get(key).is_some_and(|value| !value.is_null());
        let part = item.object_at(self.part);
        part.is_none_or(|part| part.iter().all(|member| member.key.is("role") || member.value.is_null()))
            && !is_set(self.reason)
            && !is_set(self.whole)
    }

    /// Adds an alternative with this text to a chunk, which must have no alternatives.
    pub(crate) fn set_text(&self, chunk: &mut Node<'_>, number: u64, text: String) {
        let part = match self.text {
            MessageText::Member(member) => Node::record([(member, Node::string(text))]),
            MessageText::InUnits { member, .. } => {
                let units = Node::array(Vec::from([Node::record([(member, Node::string(text))])]));
                Node::record([(self.units, units)])
            }
        };
        self.set_only(chunk, number, part);
    }

    /// Adds an alternative with these units to a chunk, which must have no alternatives.
    pub(crate) fn set_units(&self, chunk: &mut Node<'_>, number: u64, units: Vec<Node<'static>>) {
        self.set_only(chunk, number, Node::record([(self.units, Node::array(units))]));
    }

    fn set_only(&self, chunk: &mut Node<'_>, number: u64, mut part: Node<'static>) {
        let number = Node::count(number);
        // In the order of the API's own chunks.
        let mut item = if self.has_roles {
            part.set("role", Node::literal(self.role));
            Node::record([(self.part, part), (NUMBER, number)])
        } else {
            Node::record([(NUMBER, number), (self.part, part)])
        };
        if self.has_null_reason {
            item.set(self.reason, Node::default());
        }
        let list = || Node::array(Vec::from([item]));
        if self.holder(chunk).is_none() {
            return chunk.set(self.list, list());
        }
        self.edit_holder(chunk, |holder| holder.set(self.list, list()));
    }
}

impl PiecedCalls {
    pub(crate) fn function(self) -> &'static str {
        self.inner.first().copied().unwrap_or_default()
    }

    pub(crate) fn of<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        entry.get(self.function())
    }

    pub(crate) fn any_of<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.inner.iter().find_map(|inner| entry.get(*inner))
    }

    pub(crate) const fn index(self) -> &'static str {
        NUMBER
    }

    pub(crate) fn set_index(self, entry: &mut Node<'_>, index: u64) {
        insert(entry, 0, NUMBER, Node::count(index));
    }

    pub(crate) fn set_id(self, entry: &mut Node<'_>, id: String) {
        insert(entry, 1, self.id(), Node::string(id));
    }

    pub(crate) fn index_of(self, entry: &Node<'_>) -> Option<u64> {
        entry.u64_at(NUMBER)
    }

    pub(crate) const fn id(self) -> &'static str {
        "id"
    }

    pub(crate) fn id_of<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Text<'a>> {
        entry.text_at(self.id())
    }

    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    pub(crate) const fn arguments(self) -> &'static str {
        self.arguments
    }

    pub(crate) fn arguments_of<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.of(entry)?.get(self.arguments)
    }

    pub(crate) fn edit<'a, R>(self, entry: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        entry.visit(self.function(), edit)
    }

    pub(crate) fn edit_any<'a>(self, entry: &mut Node<'a>, edit: &mut dyn FnMut(&mut Node<'a>)) {
        for inner in self.inner {
            entry.visit(*inner, &mut *edit);
        }
    }

    pub(crate) fn entry(self, members: Option<(&'static str, Node<'static>)>, call: Node<'static>) -> Node<'static> {
        let mut entry = Node::empty_object();
        members.into_iter().for_each(|(key, value)| entry.set(key, value));
        entry.set(self.function(), call);
        entry
    }
}

fn insert<'a>(node: &mut Node<'a>, index: usize, key: &'static str, value: Node<'a>) {
    match node.as_object_mut() {
        Some(object) if !object.has(key) => object.insert_at(index.min(object.len()), key, value),
        _ => node.set(key, value),
    }
}

pub(crate) fn number(item: &Node<'_>) -> u64 {
    item.u64_at(NUMBER).unwrap_or_default()
}

/// Puts the text into the first part that is text, or into a new first part.
fn put_in_parts(holder: &mut Node<'_>, list: &'static str, text: String, has_types: bool) {
    let mut text = Some(text);
    each(holder, list, &mut |_, part| {
        if part.get("text").is_some() && is_text_part(part) {
            if let Some(text) = text.take() {
                part.set("text", Node::string(text));
            }
        }
    });
    let Some(text) = text else { return };
    if holder.array_at(list).is_none() {
        holder.set(list, Node::array(Vec::new()));
    }
    let is_blank = text.trim().is_empty();
    let part = if has_types { text_part("text", text) } else { Node::record([("text", Node::string(text))]) };
    // Blank text must not separate the calls of this chunk from the calls of earlier chunks.
    holder.visit(list, |parts| {
        parts.as_array_mut().map(|parts| parts.insert(if is_blank { parts.len() } else { 0 }, part))
    });
}
