//! Keywords that are accepted, but not together with certain other keywords.

use alloc::{format, string::String};

use crate::{
    json::{Member, Node, Object},
    schema::keyword::{Keyword, Keywords},
};

/// A keyword that is refused in a schema with certain types and, if any are named, certain other keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The refused keywords.
    pub(crate) refused: Keywords,
    /// The conflict applies only if the schema has one of these types.
    pub(crate) of_types: &'static [&'static str],
    /// Siblings that cause the conflict, unless their value is `true`. If this and `beside_schemas` are empty, the
    /// types alone cause the conflict.
    pub(crate) beside: Keywords,
    /// Siblings that cause the conflict if their value is an object.
    pub(crate) beside_schemas: Keywords,
    /// The refused keyword also conflicts if its value has more than one member.
    pub(crate) several: bool,
}

impl Conflict {
    /// A conflict with types alone, independent of siblings.
    pub(crate) const fn with_types(of_types: &'static [&'static str], refused: Keywords) -> Conflict {
        Conflict { refused, of_types, beside: Keywords::NONE, beside_schemas: Keywords::NONE, several: false }
    }

    /// Returns true if this member conflicts with its siblings.
    pub(crate) fn refuses(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        if !self.refused.contains(keyword) || !self.is_of_type(schema) {
            return false;
        }
        let is_alone = self.beside == Keywords::NONE && self.beside_schemas == Keywords::NONE;
        let has_several = || self.several && value.as_object().is_some_and(|members| members.len() > 1);
        is_alone || has_several() || self.causes(schema).next().is_some()
    }

    /// Returns the siblings that cause the conflict.
    fn causes<'s, 'a>(&self, schema: &'s Object<'a>) -> impl Iterator<Item = &'s Member<'a>> + use<'_, 's, 'a> {
        schema.iter().filter(|member| {
            Keyword::named(&member.key).is_some_and(|beside| {
                (self.beside.contains(beside) && member.value.as_bool() != Some(true))
                    || (self.beside_schemas.contains(beside) && member.value.as_object().is_some())
            })
        })
    }

    /// Describes what causes the conflict, for messages.
    pub(crate) fn in_words(&self, schema: &Object<'_>) -> String {
        match self.causes(schema).next() {
            Some(member) => format!("`{}`", member.key.display()),
            None => format!("`type: \"{}\"`", self.of_types.join("\"` or `\"")),
        }
    }

    fn is_of_type(&self, schema: &Object<'_>) -> bool {
        let Some(types) = schema.get(Keyword::Type) else { return false };
        let is = |name: &&str| match types.as_array() {
            Some(names) => names.iter().any(|known| known.is_text(name)),
            None => types.is_text(name),
        };
        self.of_types.iter().any(is)
    }
}
