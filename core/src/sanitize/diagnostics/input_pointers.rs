//! Where each value of the input stands.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    json::{push_token, Data, Node},
    schema::references::Number,
};

/// The values of the input by their numbers.
///
/// Numbers count in document order, but for members that a duplicate replaced: those stand at the first one's place
/// with a later number.
#[derive(Default)]
pub(super) struct InputPointers {
    /// The number of the root.
    first: Number,
    /// The parent of each value, and the token that leads from there to it.
    values: Vec<(Number, String)>,
}

impl InputPointers {
    pub(super) fn of(root: &Node<'_>) -> Self {
        let first = root.origin().number().unwrap_or_default();
        let mut pointers = InputPointers { first, values: Vec::new() };
        let mut open: Vec<(&Node<'_>, Number, Cow<'_, str>)> = Vec::from([(root, first, Cow::Borrowed(""))]);
        while let Some((node, parent, token)) = open.pop() {
            let Some(number) = node.origin().number() else { continue };
            let at = pointers.index(number);
            if pointers.values.len() <= at {
                pointers.values.resize(at + 1, (first, String::new()));
            }
            if let Some(place) = pointers.values.get_mut(at) {
                *place = (parent, token.into_owned());
            }
            match node.data() {
                Data::Array(items) => {
                    let items = items.iter().enumerate();
                    open.extend(items.map(|(index, item)| (item, number, Cow::Owned(format!("{index}")))));
                }
                Data::Object(object) => {
                    open.extend(object.iter().map(|member| (&member.value, number, member.key.display())))
                }
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

    /// The pointer of a value.
    pub(super) fn pointer(&self, number: Number) -> String {
        let mut tokens = Vec::new();
        let mut at = number;
        while at != self.first {
            let Some((parent, token)) = self.values.get(self.index(at)) else { break };
            tokens.push(token.as_str());
            at = *parent;
        }
        let mut pointer = String::new();
        for token in tokens.into_iter().rev() {
            push_token(&mut pointer, token);
        }
        pointer
    }

    /// Those of these members that there are, with their numbers.
    pub(super) fn members<'s>(&'s self, asked: &Set<(Number, &str)>) -> Map<(Number, &'s str), Number> {
        let values = self.values.iter().enumerate().skip(1).rev();
        let members = values.map(|(index, (parent, token))| ((*parent, token.as_str()), self.number(index)));
        members.filter(|(member, _)| asked.contains(member)).collect()
    }

    /// For each value, the number after those of everything in it.
    pub(super) fn ends(&self) -> Map<Number, Number> {
        let mut ends: Vec<usize> = (1..=self.values.len()).collect();
        for (index, (parent, _)) in self.values.iter().enumerate().skip(1).rev() {
            let end = ends.get(index).copied().unwrap_or_default();
            if let Some(outer) = ends.get_mut(self.index(*parent)) {
                *outer = end.max(*outer);
            }
        }
        ends.into_iter().enumerate().map(|(index, end)| (self.number(index), self.number(end))).collect()
    }
}
