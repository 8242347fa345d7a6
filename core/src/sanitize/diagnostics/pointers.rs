//! Pointers to the values of the input, and pointers into the output.

use alloc::{string::String, vec, vec::Vec};
use core::{fmt::Write as _, ops::Range};

use super::Location;
use crate::{
    collections::{Map, Set},
    json::{push_token, Data, Node, Text},
    schema::references::Number,
};

/// Numbers follow document order, except for members that replaced a duplicate: such a member has the position of the
/// first occurrence, but a later number.
#[derive(Default)]
pub(super) struct InputPointers {
    /// Number of the root.
    first: Number,
    values: Vec<Value>,
    /// All tokens in one string: a string for each would cost more than the rest of this type.
    tokens: String,
    /// Members with a keyword that is spelled differently in the input.
    respelled: Map<(Number, &'static str), Number>,
}

#[derive(Clone, Default)]
struct Value {
    parent: Number,
    /// Range in `tokens` of the last token of the value's pointer.
    token: Range<usize>,
}

impl InputPointers {
    pub(super) fn of(root: &Node<'_>) -> Self {
        let first = root.origin().number().unwrap_or_default();
        let mut pointers = InputPointers { first, ..InputPointers::default() };
        let mut open: Vec<(&Node<'_>, Value)> = Vec::from([(root, Value { parent: first, token: 0..0 })]);
        while let Some((node, value)) = open.pop() {
            let Some(number) = node.origin().number() else { continue };
            let at = pointers.index(number);
            if pointers.values.len() <= at {
                pointers.values.resize(at + 1, Value { parent: first, token: 0..0 });
            }
            if let Some(known) = pointers.values.get_mut(at) {
                *known = value;
            }
            let tokens = &mut pointers.tokens;
            let mut child = |node, write: &dyn Fn(&mut String)| {
                let start = tokens.len();
                write(tokens);
                open.push((node, Value { parent: number, token: start..tokens.len() }));
            };
            match node.data() {
                Data::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
                    child(item, &|tokens| {
                        // Writing into a String cannot fail.
                        let _ = write!(tokens, "{index}");
                    });
                }),
                Data::Object(object) => object.iter().for_each(|member| {
                    child(&member.value, &|tokens| tokens.push_str(&member.key.display()));
                }),
                _ => {}
            }
        }
        pointers
    }

    const fn index(&self, number: Number) -> usize {
        number.saturating_sub(self.first) as usize
    }

    fn number(&self, index: usize) -> Number {
        Number::try_from(index).map_or(Number::MAX, |index| self.first.saturating_add(index))
    }

    fn token(&self, value: &Value) -> &str {
        self.tokens.get(value.token.clone()).unwrap_or_default()
    }

    /// Returns the number of the value, then the numbers of the enclosing values, from the inside out.
    pub(super) fn enclosing(&self, number: Number) -> impl Iterator<Item = Number> + '_ {
        core::iter::successors(Some(number), |at| {
            let value = self.values.get(self.index(*at)).filter(|_| *at != self.first)?;
            Some(value.parent)
        })
    }

    pub(super) fn pointer(&self, number: Number) -> String {
        let mut tokens = Vec::with_capacity(16);
        let (mut at, mut length) = (number, 0);
        while at != self.first {
            let Some(value) = self.values.get(self.index(at)) else { break };
            let token = self.token(value);
            length += 1 + token.len();
            tokens.push(token);
            at = value.parent;
        }
        let mut pointer = String::with_capacity(length);
        for token in tokens.into_iter().rev() {
            push_token(&mut pointer, token);
        }
        pointer
    }

    pub(super) fn respell(&mut self, number: Number, keyword: &'static str) {
        if let Some(value) = self.values.get(self.index(number)) {
            self.respelled.insert((value.parent, keyword), number);
        }
    }

    pub(super) fn members<'s>(&'s self, requested: &Set<(Number, &str)>) -> Map<(Number, &'s str), Number> {
        // Few values have requested members, so names are compared only inside those.
        let mut is_requested = vec![false; self.values.len()];
        for (parent, _) in requested.iter() {
            if let Some(is_parent_requested) = is_requested.get_mut(self.index(*parent)) {
                *is_parent_requested = true;
            }
        }
        let values = self.values.iter().enumerate().skip(1).rev();
        let values =
            values.filter(|(_, value)| is_requested.get(self.index(value.parent)).copied().unwrap_or_default());
        let members = values.map(|(index, value)| ((value.parent, self.token(value)), self.number(index)));
        let respelled = self.respelled.iter().map(|(member, number)| (*member, *number));
        respelled.chain(members).filter(|(member, _)| requested.contains(member)).collect()
    }

    /// Returns, for each value, the number after the last value inside it.
    pub(super) fn ends(&self) -> Map<Number, Number> {
        let mut ends: Vec<usize> = (1..=self.values.len()).collect();
        for (index, value) in self.values.iter().enumerate().skip(1).rev() {
            let end = ends.get(index).copied().unwrap_or_default();
            if let Some(outer) = ends.get_mut(self.index(value.parent)) {
                *outer = end.max(*outer);
            }
        }
        ends.into_iter().enumerate().map(|(index, end)| (self.number(index), self.number(end))).collect()
    }
}

/// Pointers to the first occurrence of each requested node.
pub(super) struct OutputPointers<'l> {
    requested: Map<Number, RequestedNode<'l>>,
}

#[derive(Default)]
struct RequestedNode<'l> {
    /// `None` until the node is found.
    pointer: Option<String>,
    /// Requested keywords, each with true if the node has it. (Can be as many as its members, if all its properties are
    /// renamed.)
    keywords: Map<&'l str, bool>,
}

#[derive(Clone, Copy)]
enum Token<'o, 'a> {
    Member(&'o Text<'a>),
    Item(usize),
}

impl<'l> OutputPointers<'l> {
    pub(super) fn of(output: &Node<'_>, locations: impl Iterator<Item = &'l Location>) -> Self {
        let mut requested: Map<Number, RequestedNode<'l>> = Map::new();
        for location in locations {
            let requested = requested.entry(location.number()).or_default();
            if let Some((_, keyword)) = location.keyword() {
                requested.keywords.insert(keyword, false);
            }
        }
        let mut pointers = OutputPointers { requested };
        pointers.walk(output, &mut Vec::with_capacity(16));
        pointers
    }

    /// Returns the pointer to the location. If the keyword does not exist, returns the pointer to the node; if the node
    /// does not exist, returns `None`.
    pub(super) fn pointer(&self, location: &Location) -> Option<String> {
        if *location == Location::Nowhere {
            return None;
        }
        let requested = self.requested.get(&location.number())?;
        let mut pointer = requested.pointer.clone()?;
        if let Some((_, keyword)) =
            location.keyword().filter(|(_, keyword)| requested.keywords.get(*keyword) == Some(&true))
        {
            push_token(&mut pointer, keyword);
        }
        Some(pointer)
    }

    fn walk<'o, 'a>(&mut self, node: &'o Node<'a>, path: &mut Vec<Token<'o, 'a>>) {
        let requested = node.origin().number().and_then(|number| self.requested.get_mut(&number));
        if let Some(requested) = requested.filter(|requested| requested.pointer.is_none()) {
            requested.pointer = Some(render(path));
            let members = if requested.keywords.is_empty() { None } else { node.as_object() };
            for member in members.into_iter().flatten() {
                if let Some(is_present) = requested.keywords.get_mut(&*member.key.display()) {
                    *is_present = true;
                }
            }
        }
        match node.data() {
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Token::Item(index));
                    self.walk(item, path);
                    path.pop();
                }
            }
            Data::Object(object) => {
                for member in object {
                    path.push(Token::Member(&member.key));
                    self.walk(&member.value, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

fn render(path: &[Token<'_, '_>]) -> String {
    // Member names are mostly short.
    let mut pointer = String::with_capacity(path.len().saturating_mul(16));
    for token in path {
        match token {
            Token::Member(key) => push_token(&mut pointer, &key.display()),
            Token::Item(index) => {
                // Writing into a String cannot fail.
                let _ = write!(pointer, "/{index}");
            }
        }
    }
    pointer
}
