//! Keywords that may stand, but not beside certain others.

use alloc::{format, string::String};

use crate::{
    json::{Member, Node, Object},
    schema::keyword::{Keyword, Keywords},
};

/// A keyword that is refused in a schema with certain types and, if any are named, certain other keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// What may not stand there.
    pub(crate) refused: Keywords,
    /// One of these is a type of the schema.
    pub(crate) of_types: &'static [&'static str],
    /// The keywords of which one stands beside it, and is not `true`; where this and the next are empty it does not
    /// matter what does.
    pub(crate) beside: Keywords,
    /// Keywords of which one stands beside it and holds an object.
    pub(crate) beside_schemas: Keywords,
    /// It is refused, too, where it has more members than one.
    pub(crate) several: bool,
}

impl Conflict {
    /// Whatever stands beside it.
    pub(crate) const fn with_types(of_types: &'static [&'static str], refused: Keywords) -> Conflict {
        Conflict { refused, of_types, beside: Keywords::NONE, beside_schemas: Keywords::NONE, several: false }
    }

    /// Is this member of a schema refused for what stands beside it?
    pub(crate) fn refuses(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        if !self.refused.contains(keyword) || !self.is_of_type(schema) {
            return false;
        }
        let is_alone = self.beside == Keywords::NONE && self.beside_schemas == Keywords::NONE;
        let has_several = || self.several && value.as_object().is_some_and(|members| members.len() > 1);
        is_alone || has_several() || self.causes(schema).next().is_some()
    }

    /// The members that it may not stand beside.
    fn causes<'s, 'a>(&self, schema: &'s Object<'a>) -> impl Iterator<Item = &'s Member<'a>> + use<'_, 's, 'a> {
        schema.iter().filter(|member| {
            Keyword::named(&member.key).is_some_and(|beside| {
                (self.beside.contains(beside) && member.value.as_bool() != Some(true))
                    || (self.beside_schemas.contains(beside) && member.value.as_object().is_some())
            })
        })
    }

    /// What it is refused beside in a schema, for people.
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
