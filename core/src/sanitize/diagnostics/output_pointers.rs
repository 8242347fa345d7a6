//! Pointers into the output.

use alloc::{string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{
    collections::Map,
    json::{push_token, Data, Node, Text},
    sanitize::diagnostics::Location,
    schema::references::Number,
};

/// First occurrence of each requested node.
pub(super) struct OutputPointers<'l> {
    asked: Map<Number, Asked<'l>>,
}

#[derive(Default)]
struct Asked<'l> {
    /// `None` until the node is found.
    pointer: Option<String>,
    /// Requested keywords, and whether the node has them. (Can be as many as its members, if all its properties are
    /// renamed.)
    keywords: Map<&'l str, bool>,
}

/// Step of a pointer into the output.
#[derive(Clone, Copy)]
enum Token<'o, 'a> {
    Member(&'o Text<'a>),
    Item(usize),
}

impl<'l> OutputPointers<'l> {
    /// Finds these locations in one walk.
    pub(super) fn of(output: &Node<'_>, locations: impl Iterator<Item = &'l Location>) -> Self {
        let mut asked: Map<Number, Asked<'l>> = Map::new();
        for location in locations {
            let asked = asked.entry(location.number()).or_default();
            if let Some((_, keyword)) = location.keyword() {
                asked.keywords.insert(keyword, false);
            }
        }
        let mut pointers = OutputPointers { asked };
        pointers.walk(output, &mut Vec::with_capacity(16));
        pointers
    }

    /// Returns the pointer of a location: the pointer of its node if the keyword is gone, or `None` if the node is gone
    /// too.
    pub(super) fn pointer(&self, location: &Location) -> Option<String> {
        if *location == Location::Nowhere {
            return None;
        }
        let asked = self.asked.get(&location.number())?;
        let mut pointer = asked.pointer.clone()?;
        if let Some((_, keyword)) =
            location.keyword().filter(|(_, keyword)| asked.keywords.get(*keyword) == Some(&true))
        {
            push_token(&mut pointer, keyword);
        }
        Some(pointer)
    }

    fn walk<'o, 'a>(&mut self, node: &'o Node<'a>, way: &mut Vec<Token<'o, 'a>>) {
        let asked = node.origin().number().and_then(|number| self.asked.get_mut(&number));
        if let Some(asked) = asked.filter(|asked| asked.pointer.is_none()) {
            asked.pointer = Some(render(way));
            let members = if asked.keywords.is_empty() { None } else { node.as_object() };
            for member in members.into_iter().flatten() {
                if let Some(is_there) = asked.keywords.get_mut(&*member.key.display()) {
                    *is_there = true;
                }
            }
        }
        match node.data() {
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    way.push(Token::Item(index));
                    self.walk(item, way);
                    way.pop();
                }
            }
            Data::Object(object) => {
                for member in object {
                    way.push(Token::Member(&member.key));
                    self.walk(&member.value, way);
                    way.pop();
                }
            }
            _ => {}
        }
    }
}

fn render(way: &[Token<'_, '_>]) -> String {
    // Member names are mostly short.
    let mut pointer = String::with_capacity(way.len().saturating_mul(16));
    for token in way {
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
