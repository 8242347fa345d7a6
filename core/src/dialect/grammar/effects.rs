//! Keywords that a grammar of generated text leaves out because of what stands beside them.

use alloc::{format, string::String};

use crate::{
    json::{Node, Object},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords, Role},
    },
};

/// What keywords need beside them to have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Keywords that need a type.
    pub(crate) held: &'static [Held],
    /// `required` holds only names that `properties` lists.
    pub(crate) listed_required: bool,
    /// Beside `enum` or `const` nothing else is read.
    pub(crate) values_alone: bool,
    /// Lengths are not read beside `pattern` and `format`.
    pub(crate) shapes_without_lengths: bool,
}

/// Keywords that have an effect only in schemas of certain types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) keywords: Keywords,
    /// One of these is a type of the schema.
    pub(crate) of_types: &'static [&'static str],
    /// None of these is.
    pub(crate) without_types: &'static [&'static str],
    /// Keywords of which one says the type, too.
    pub(crate) or_beside: Keywords,
}

/// What other rules are about beside `enum` and `const`, and these themselves.
const UNIONS: Keywords = Keywords::of(&[
    Keyword::Enum,
    Keyword::Const,
    Keyword::Nullable,
    Keyword::Ref,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
]);
const LENGTHS: Keywords = Keywords::of(&[Keyword::MinLength, Keyword::MaxLength]);
const SHAPES: Keywords = Keywords::of(&[Keyword::Pattern, Keyword::Format]);

impl Effects {
    /// Every keyword has an effect.
    pub(crate) const ALL: Effects =
        Effects { held: &[], listed_required: false, values_alone: false, shapes_without_lengths: false };

    /// Returns what is missing or in the way, in words, if a member of a schema has no effect. `present`: the keywords
    /// of the schema.
    pub(crate) fn missing(
        &self,
        (keyword, value): (Keyword, &Node<'_>),
        schema: &Object<'_>,
        present: Keywords,
    ) -> Option<String> {
        // Other rules say what is not read beside these.
        if present.intersects(Keywords::of(&[Keyword::Ref, Keyword::AnyOf])) {
            return None;
        }
        if let Some(held) = self.held.iter().find(|held| held.keywords.contains(keyword)) {
            if !held.is_read(keyword, schema, present) {
                let types = held.of_types.join("\"` or `\"");
                return Some(format!("`type: \"{types}\"` beside `{}`", keyword.name()));
            }
        }
        if self.shapes_without_lengths && LENGTHS.contains(keyword) && present.intersects(SHAPES) {
            return Some(format!("no `{}` beside `pattern` or `format`", keyword.name()));
        }
        if keyword == Keyword::Required && self.listed_required {
            let listed = schema.get(Keyword::Properties).and_then(Node::as_object);
            let mut names = value.as_array().unwrap_or_default().iter().filter_map(Node::as_text);
            let is_listed = |properties: &Object<'_>, name| properties.get_text(name).is_some();
            let is_unlisted = names.any(|name| !listed.is_some_and(|properties| is_listed(properties, name)));
            return is_unlisted.then(|| "only names that `properties` lists in `required`".into());
        }
        let values = [Keyword::Enum, Keyword::Const].into_iter().find(|values| present.contains(*values));
        let is_judged = !UNIONS.contains(keyword) && keyword.role() == Role::Assertion;
        let values = values.filter(|_| self.values_alone && is_judged)?;
        let is_narrower = match keyword {
            Keyword::Type => {
                let types = InstanceTypes::of_keyword(value)?;
                let is_of = |value: &Node<'_>| InstanceTypes::of_instance(value).meets(types);
                let listed = schema.get(values)?;
                match (values, listed.as_array()) {
                    (Keyword::Enum, Some(listed)) => !listed.iter().all(is_of),
                    (Keyword::Const, _) => !is_of(listed),
                    _ => false,
                }
            }
            _ => true,
        };
        is_narrower.then(|| format!("no `{}` beside `{}`", keyword.name(), values.name()))
    }
}

impl Held {
    /// Returns true if the keyword has an effect, and if it is about no value that the schema admits.
    fn is_read(&self, keyword: Keyword, schema: &Object<'_>, present: Keywords) -> bool {
        let types = schema.get(Keyword::Type);
        let about = keyword.applies_to().map_or(InstanceTypes::ALL, |kind| InstanceTypes::of_name(kind.name()));
        if types.and_then(InstanceTypes::of_keyword).is_some_and(|types| !types.meets(about)) {
            return true;
        }
        let is = |name: &&str| {
            types.is_some_and(|types| match types.as_array() {
                Some(names) => names.iter().any(|known| known.is_text(name)),
                None => types.is_text(name),
            })
        };
        let is_typed = self.of_types.iter().any(is) || types.is_none() && present.intersects(self.or_beside);
        is_typed && !self.without_types.iter().any(is)
    }
}
