//! The spellings of a schema in Google's protocol: the names of fields in snake case, and the types in upper case or as
//! numbers.
//!
//! Parsers of ProtoJSON accept a field under both of its names: `anyOf` and `any_of`. Google's Python SDK writes the
//! name in snake case when it prints a message.
//!
//! Sources: Protocol Buffers, ProtoJSON format (read 2026-11-26); live: `any_of` and `property_ordering` were answered
//! 200 by generativelanguage.googleapis.com (recorded answers).

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    instance_types::is_in_protocol,
    keyword::{Keyword, Keywords},
    visit::{self, SchemaPath, Visit, VisitorMut},
};
use crate::{
    budget::Budget,
    collections::Map,
    error::Error,
    json::{push_token, unescaped_token, Data, Member, Node, Object, Text},
};

/// No keyword is longer, in bytes.
const MAX_KEYWORD_LENGTH: usize = 32;
/// Maximum number of members of an object that are searched without an index.
const LINEAR_SEARCH_LIMIT: usize = 16;

/// Returns the keyword that a name in snake case means: `anyOf` for `any_of`. Many properties have such names, so the
/// name is not allocated.
fn keyword_in_snake_case(name: &Text<'_>) -> Option<Keyword> {
    let plain =
        name.as_plain().filter(|plain| plain.len() <= MAX_KEYWORD_LENGTH && plain.as_bytes().contains(&b'_'))?;
    let (mut camel, mut length, mut begins_word) = ([0; MAX_KEYWORD_LENGTH], 0, false);
    for byte in plain.bytes() {
        match byte {
            b'_' if length == 0 || begins_word => return None,
            b'_' => {
                begins_word = true;
                continue;
            }
            b'a'..=b'z' => {}
            _ => return None,
        }
        *camel.get_mut(length)? = if begins_word { byte.to_ascii_uppercase() } else { byte };
        length += 1;
        begins_word = false;
    }
    Keyword::spelled(core::str::from_utf8(camel.get(..length)?).ok()?).filter(|_| !begins_word)
}

/// Returns true if any key is a keyword in snake case, even if it is not a keyword there. Faster than a walk.
pub(crate) fn mentions_protocol_keywords(root: &Node<'_>) -> bool {
    root.has_member(|Member { key, .. }| keyword_in_snake_case(key).is_some())
}

/// Returns a schema in the spelling of JSON Schema, if it has a name in the protocol's spelling and a type that only
/// the protocol writes. Values such as `default` and `enum` may look like schemas, but are not.
fn copy_in_json_schema_spelling<'a>(root: &Node<'a>, budget: &Budget) -> Result<Option<Node<'a>>, Error> {
    // Faster than a walk.
    let has_type = root.has_member(|Member { key, value }| key.is(Keyword::Type) && is_in_protocol(value));
    if !(has_type && mentions_protocol_keywords(root)) {
        return Ok(None);
    }
    let mut respelled = root.copy(budget);
    respell(&mut respelled, budget, &mut |_, _, _| {})?;
    let mut is_message = false;
    visit::walk(budget, &respelled, Keywords::ALL, &mut |node, _| {
        is_message = is_message || node.get(Keyword::Type).is_some_and(is_in_protocol);
        Ok(if is_message { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_message.then_some(respelled))
}

pub(crate) fn is_message(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    Ok(copy_in_json_schema_spelling(root, budget)?.is_some())
}

/// Calls `record` with each value, the path of its schema, the name and the keyword.
pub(crate) fn respell<'a>(root: &mut Node<'a>, budget: &Budget, record: Record<'_, 'a>) -> Result<(), Error> {
    visit::walk_mut(budget, root, Keywords::ALL, &mut Respelling { record })
}

/// Returns a schema in the spelling of JSON Schema, if its types show that it has the protocol's spelling.
pub(crate) fn read<'n, 'a>(root: &'n Node<'a>) -> Cow<'n, Node<'a>> {
    match copy_in_json_schema_spelling(root, &Budget::new(root.values_read(), None)) {
        Ok(Some(respelled)) => Cow::Owned(respelled),
        Ok(None) | Err(_) => Cow::Borrowed(root),
    }
}

type Record<'r, 'a> = &'r mut dyn FnMut(&Node<'a>, &SchemaPath<'_, 'a>, (&Text<'a>, Keyword));

struct Respelling<'r, 'a> {
    record: Record<'r, 'a>,
}

impl<'a> VisitorMut<'a> for Respelling<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let Some(object) = node.as_object() else { return Ok(Visit::Descend) };
        let mut respelled = Vec::new();
        for (at, member) in object.iter().enumerate() {
            // A schema with both names is left unchanged, because parsers refuse it.
            if let Some(keyword) = keyword_in_snake_case(&member.key).filter(|keyword| !object.has(*keyword)) {
                (self.record)(&member.value, path, (&member.key, keyword));
                respelled.push((at, keyword));
            }
        }
        if let Some(object) = node.as_object_mut().filter(|_| !respelled.is_empty()) {
            for (at, keyword) in respelled {
                if let Some(member) = object.members_mut().get_mut(at) {
                    member.key = Text::literal(keyword.name());
                }
            }
        }
        Ok(Visit::Descend)
    }
}

/// Converts pointers into a schema with respelled keywords to pointers into the original schema.
pub(crate) struct Pointers<'n, 'a> {
    root: &'n Node<'a>,
    budget: &'n Budget,
    /// The members of large objects by their keys and keywords, with the address of the object. Many pointers go
    /// through the same objects.
    indices: Map<usize, Map<Cow<'n, str>, &'n Member<'a>>>,
}

impl<'n, 'a> Pointers<'n, 'a> {
    pub(crate) fn into_schema(root: &'n Node<'a>, budget: &'n Budget) -> Self {
        Pointers { root, budget, indices: Map::new() }
    }

    /// Returns the pointer into the schema. If the budget is spent, the remaining tokens are not changed.
    pub(crate) fn of(&mut self, respelled: &str) -> String {
        let (mut pointer, mut node) = (String::with_capacity(respelled.len()), Some(self.root));
        for segment in respelled.split('/').skip(1) {
            let token = unescaped_token(segment);
            let mut own_key = None;
            node = match node.map(Node::data) {
                Some(Data::Array(items)) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
                Some(Data::Object(object)) => self.member_of_keyword(object, &token).map(|member| {
                    own_key = Some(member.key.display());
                    &member.value
                }),
                _ => None,
            };
            push_token(&mut pointer, own_key.as_deref().unwrap_or(&token));
        }
        pointer
    }

    /// Returns the member with this key, or else the member whose key means this keyword.
    fn member_of_keyword(&mut self, object: &'n Object<'a>, key: &str) -> Option<&'n Member<'a>> {
        let means_keyword =
            |member: &&Member<'_>| keyword_in_snake_case(&member.key).is_some_and(|keyword| keyword.name() == key);
        if object.len() <= LINEAR_SEARCH_LIMIT {
            let by_key = self.budget.pay(object.len()).then(|| object.iter().find(|member| member.key.is(key)))?;
            return by_key.or_else(|| object.iter().find(means_keyword));
        }
        let address = core::ptr::from_ref(object) as usize;
        if !self.indices.contains_key(&address) {
            if !self.budget.pay(object.len()) {
                return None;
            }
            let mut index: Map<Cow<'n, str>, &'n Member<'a>> = Map::new();
            for member in object.iter().rev() {
                index.extend(keyword_in_snake_case(&member.key).map(|keyword| (keyword.name().into(), member)));
            }
            index.extend(object.iter().map(|member| (member.key.display(), member)));
            self.indices.insert(address, index);
        }
        self.budget.pay(1).then(|| self.indices.get(&address)?.get(key).copied())?
    }
}
