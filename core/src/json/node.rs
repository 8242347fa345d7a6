//! The node: a JSON value that knows where it came from.

use alloc::{borrow::Cow, vec::Vec};

use super::{Member, Name, Object, Text};

/// Which value of the input a node is: a number the reader gave it in document order, or none for a value made here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// Made here, not read.
    pub const NONE: Origin = Origin(u32::MAX);

    /// Value number `number` of the input.
    pub const fn new(number: u32) -> Self {
        Origin(number)
    }

    /// The number, unless the value was made here.
    pub const fn number(self) -> Option<u32> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0)
        }
    }
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Data<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is spelled in JSON.
    Number(Cow<'a, str>),
    /// A string.
    String(Text<'a>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object.
    Object(Object<'a>),
    /// JSON text that was checked to be one value and is copied as it stands, white space included: the messages of a
    /// request that hold nothing to rewrite. Nothing looks inside.
    Verbatim(&'a str),
}

/// A JSON value and its origin.
///
/// A node is *intact* while it is exactly the input value that its origin names, all the way down. Bindings hand back
/// the caller's own value for intact nodes, and the text path hands back the caller's own text for an intact root.
/// Every way to change a node ends that for the node; whoever changes a child through [`Node::visit_children`] ends it
/// for the parents too.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    data: Data<'a>,
    origin: Origin,
    state: u8,
    marks: u8,
}

/// The node is exactly the input value that its origin names.
const INTACT: u8 = 1;
/// The node is exactly what it was when [`Node::track`] was called.
const UNCHANGED: u8 = 2;

impl<'a> Node<'a> {
    /// A value made here.
    pub const fn new(data: Data<'a>) -> Self {
        Node { data, origin: Origin::NONE, state: 0, marks: 0 }
    }

    /// A value as it was read.
    pub const fn read(data: Data<'a>, origin: Origin) -> Self {
        Node { data, origin, state: INTACT | UNCHANGED, marks: 0 }
    }

    /// A value that stays text, with what was seen while it was checked.
    pub(crate) const fn verbatim(text: &'a str, origin: Origin, marks: u8) -> Self {
        Node { data: Data::Verbatim(text), origin, state: INTACT | UNCHANGED, marks }
    }

    /// What was seen inside while this text was checked: see [`read_outline`](super::read_outline). A tree has the
    /// marks that whoever rewrites it has made, if any.
    pub(crate) const fn marks(&self) -> u8 {
        self.marks
    }

    /// Marks this node, until something else takes its place.
    pub(crate) fn mark(&mut self, marks: u8) {
        self.marks = marks;
    }

    /// A string made here.
    pub fn string(value: impl Into<Text<'a>>) -> Self {
        Node::new(Data::String(value.into()))
    }

    /// A string made here from a literal without escapes.
    pub(crate) const fn literal(value: &'static str) -> Self {
        Node::new(Data::String(Text::literal(value)))
    }

    /// A boolean made here.
    pub const fn bool(value: bool) -> Self {
        Node::new(Data::Bool(value))
    }

    /// A count made here.
    pub fn count(value: u64) -> Self {
        Node::new(Data::Number(Cow::Owned(super::number::spell(value))))
    }

    /// An array made here.
    pub const fn array(items: Vec<Node<'a>>) -> Self {
        Node::new(Data::Array(items))
    }

    /// An object made here.
    pub const fn object(object: Object<'a>) -> Self {
        Node::new(Data::Object(object))
    }

    /// An object made here from literal names, which must differ.
    pub(crate) fn record<const N: usize>(members: [(&'static str, Node<'a>); N]) -> Self {
        Node::object(Object::from_unique(
            members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value }).collect(),
        ))
    }

    /// `{}`
    pub const fn empty_object() -> Self {
        Node::object(Object::new())
    }

    /// What it holds.
    pub const fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// What it holds, to be changed: the node is no longer intact.
    pub fn data_mut(&mut self) -> &mut Data<'a> {
        self.state = 0;
        &mut self.data
    }

    /// What it holds, owned.
    pub fn into_data(self) -> Data<'a> {
        self.data
    }

    /// Which input value this node is, or was before it was changed.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether it is exactly the input value its origin names.
    pub const fn is_intact(&self) -> bool {
        self.state & INTACT != 0
    }

    /// Whether it is exactly what it was when [`track`](Self::track) was called last, or when it was read.
    pub(crate) const fn is_unchanged(&self) -> bool {
        self.state & UNCHANGED != 0
    }

    /// From here on every value of the tree knows whether it is changed. A value made here stands from here on for the
    /// value of the input that the nearest value around it stands for, `around` the root. Marks on strings end.
    pub(crate) fn track(&mut self, around: Origin) {
        fn track(node: &mut Node<'_>, around: Origin) {
            if node.origin == Origin::NONE {
                node.origin = around;
            }
            node.state |= UNCHANGED;
            match &mut node.data {
                Data::Array(items) => items.iter_mut().for_each(|item| track(item, node.origin)),
                Data::Object(object) => {
                    object.members_mut().iter_mut().for_each(|member| track(&mut member.value, node.origin))
                }
                Data::String(_) => node.marks = 0,
                _ => {}
            }
        }
        track(self, around);
    }

    /// All of it but what it holds.
    pub(crate) const fn shell(&self) -> Shell {
        Shell { origin: self.origin, state: self.state, marks: self.marks }
    }

    /// A value made here that stands for an input value: reports find it by that.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Numbers every value in document order, as if it had just been read.
    pub(crate) fn number_in_order(&mut self) {
        let mut next = 0;
        let mut open = alloc::vec![self];
        while let Some(node) = open.pop() {
            node.origin = Origin::new(next);
            next = next.saturating_add(1);
            match &mut node.data {
                Data::Array(items) => open.extend(items.iter_mut().rev()),
                Data::Object(object) => {
                    open.extend(object.members_mut().iter_mut().rev().map(|member| &mut member.value))
                }
                _ => {}
            }
        }
    }

    /// Makes a document of its own of it: its values are numbered in document order, and none is one of the caller's.
    pub(crate) fn make_document(&mut self) {
        self.number_in_order();
        let mut open = alloc::vec![self];
        while let Some(node) = open.pop() {
            node.state = UNCHANGED;
            match &mut node.data {
                Data::Array(items) => open.extend(items.iter_mut()),
                Data::Object(object) => {
                    open.extend(object.members_mut().iter_mut().map(|member| &mut member.value));
                }
                _ => {}
            }
        }
    }

    /// How many values were read into this tree: the last one has the highest number.
    pub(crate) fn values_read(&self) -> usize {
        let mut last = self;
        loop {
            let inner = match &last.data {
                Data::Array(items) => items.last(),
                Data::Object(object) => object.iter().last().map(|member| &member.value),
                _ => None,
            };
            match inner {
                Some(inner) => last = inner,
                None => break,
            }
        }
        let (first, last) = (self.origin.number().unwrap_or(0), last.origin.number().unwrap_or(0));
        last.saturating_sub(first) as usize + 1
    }

    /// Replaces what it holds, keeping where it came from.
    pub fn replace(&mut self, data: Data<'a>) {
        self.data = data;
        self.state = 0;
        self.marks = 0;
    }

    /// Marks the node as changed.
    pub fn touch(&mut self) {
        self.state = 0;
    }

    /// The object, if it is one.
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        match &self.data {
            Data::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The object, to be changed: the node is no longer intact.
    pub fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match &mut self.data {
            Data::Object(object) => {
                self.state = 0;
                Some(object)
            }
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The items, to be changed: the node is no longer intact.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Node<'a>>> {
        match &mut self.data {
            Data::Array(items) => {
                self.state = 0;
                Some(items)
            }
            _ => None,
        }
    }

    /// The string, if it is one.
    pub const fn as_text(&self) -> Option<&Text<'a>> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number as it is spelled, if it is one.
    pub fn as_number(&self) -> Option<&str> {
        match &self.data {
            Data::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The number as an unsigned integer, if it is one that is spelled so and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(super::number::as_u64)
    }

    /// Is it this string?
    #[inline(never)]
    pub fn is_text(&self, value: &str) -> bool {
        self.as_text().is_some_and(|text| text.is_found(value))
    }

    /// Is it null?
    pub const fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// A member of an object.
    pub fn get(&self, key: impl Name) -> Option<&Node<'a>> {
        self.as_object()?.get(key)
    }

    /// Sets a member of an object: at its place if it exists, else last.
    pub fn set(&mut self, key: &'static str, value: Node<'a>) {
        if let Some(object) = self.as_object_mut() {
            object.set(Text::literal(key), value);
        }
    }

    /// Takes a member out of an object. Without it, the object stays intact.
    pub fn remove(&mut self, key: &str) -> Option<Node<'a>> {
        self.get(key)?;
        self.as_object_mut()?.remove(key)
    }

    /// Lets `visit` see one member of an object and change it. If it does, this node is no longer intact either.
    pub fn visit<R>(&mut self, key: impl Name, visit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        let Data::Object(object) = &mut self.data else { return None };
        let child = object.get_mut(key)?;
        let result = visit(child);
        self.state &= child.state;
        Some(result)
    }

    /// Lets `visit` see every child, with its name or index, and change it. If one is changed, this node is no longer
    /// intact either. Stops at the first error.
    pub fn visit_children<E>(
        &mut self,
        mut visit: impl FnMut(Child<'_, 'a>, &mut Node<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (items, members): (&mut [Node<'a>], &mut [Member<'a>]) = match &mut self.data {
            Data::Array(items) => (items, &mut []),
            Data::Object(object) => (&mut [], object.members_mut()),
            _ => return Ok(()),
        };
        let items = items.iter_mut().enumerate().map(|(index, item)| (Child::Item(index), item));
        let members = members.iter_mut().map(|member| (Child::Member(&member.key), &mut member.value));
        // One call for both, so that it can be inlined.
        for (child, node) in items.chain(members) {
            let result = visit(child, node);
            self.state &= node.state;
            result?;
        }
        Ok(())
    }

    /// What kind of JSON value it is, as messages name it.
    pub const fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::String(_) => "a string",
            Data::Array(_) => "an array",
            Data::Object(_) => "an object",
            Data::Verbatim(_) => "JSON text",
        }
    }
}

/// A node without what it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell {
    origin: Origin,
    state: u8,
    marks: u8,
}

impl Shell {
    /// Around what the node held, part for part.
    pub(crate) const fn around(self, data: Data<'_>) -> Node<'_> {
        Node { data, origin: self.origin, state: self.state, marks: self.marks }
    }

    /// The marks of the node.
    pub(crate) const fn marks(self) -> u8 {
        self.marks
    }
}

/// Which child of its parent a node is.
#[derive(Clone, Copy, Debug)]
pub enum Child<'c, 'a> {
    /// The member of that name.
    Member(&'c Text<'a>),
    /// The item at that index.
    Item(usize),
}

impl Default for Node<'_> {
    fn default() -> Self {
        Node::new(Data::Null)
    }
}
