//! Determines which keywords have no effect, or are refused, because of other keywords of the same schema, in grammars
//! for generated text. Also determines which schemas a program visits if it follows only some keywords: rules about
//! types apply only to these schemas.

use alloc::{format, string::String, vec::Vec};

use crate::{
    json::{self, Member, Node, Object, Pointer, Step, Text},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords, Role},
    },
};

/// Conditions under which keywords have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Keywords that have an effect only with a type.
    pub(crate) typed: &'static [TypedKeywords],
    /// Names in `required` have an effect only if `properties` lists them.
    pub(crate) listed_required: bool,
    /// `enum` and `const` disable all other keywords; `const` also disables `enum`.
    pub(crate) values_alone: bool,
    /// Keywords without effect if the schema has `pattern`.
    pub(crate) without_pattern: Keywords,
    /// Keywords without effect if the schema has one of `formats`.
    pub(crate) without_format: Keywords,
    /// String formats that are enforced.
    pub(crate) formats: &'static [&'static str],
}

/// Keywords that have an effect only in schemas of certain types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedKeywords {
    pub(crate) keywords: Keywords,
    /// The schema must have at least one of these types.
    pub(crate) of_types: &'static [&'static str],
    /// The schema must have none of these types.
    pub(crate) without_types: &'static [&'static str],
    /// Keywords that imply the type if `type` is missing.
    pub(crate) or_beside: Keywords,
}

/// Keywords that are not checked as siblings of `enum` and `const`, because other rules check them.
const UNIONS: Keywords =
    Keywords::of(&[Keyword::Const, Keyword::Nullable, Keyword::Ref, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);

impl Effects {
    pub(crate) const ALL: Effects = Effects {
        typed: &[],
        listed_required: false,
        values_alone: false,
        without_pattern: Keywords::NONE,
        without_format: Keywords::NONE,
        formats: &[],
    };

    /// Returns a description of the missing or conflicting keyword if a member of a schema has no effect. `present` are
    /// the keywords of the schema.
    pub(crate) fn missing(
        &self,
        (keyword, value): (Keyword, &Node<'_>),
        schema: &Object<'_>,
        present: Keywords,
    ) -> Option<String> {
        // Other rules report siblings of `$ref` and `anyOf` that have no effect.
        if present.intersects(Keywords::of(&[Keyword::Ref, Keyword::AnyOf])) {
            return None;
        }
        if let Some(typed) = self.typed.iter().find(|typed| typed.keywords.contains(keyword)) {
            if !typed.is_read(keyword, schema, present) {
                let types = typed.of_types.join("\"` or `\"");
                return Some(format!("`type: \"{types}\"` next to `{}`", keyword.name()));
            }
        }
        let beside = |other: Keyword| Some(format!("no `{}` next to `{}`", keyword.name(), other.name()));
        if self.without_pattern.contains(keyword) && present.contains(Keyword::Pattern) {
            return beside(Keyword::Pattern);
        }
        if self.without_format.contains(keyword) && self.has_format(schema) {
            return beside(Keyword::Format);
        }
        if keyword == Keyword::Required && self.listed_required {
            let has_unlisted = has_unlisted(value, schema.get(Keyword::Properties).and_then(Node::as_object));
            return has_unlisted.then(|| "only names that `properties` lists in `required`".into());
        }
        let values = [Keyword::Const, Keyword::Enum].into_iter().find(|values| present.contains(*values));
        let is_judged = !UNIONS.contains(keyword) && keyword.role() == Role::Assertion;
        let values = values.filter(|values| self.values_alone && is_judged && *values != keyword)?;
        let listed = schema.get(values)?;
        let is_narrower = match keyword {
            Keyword::Type => {
                let types = InstanceTypes::of_keyword(value)?;
                let is_of = |value: &Node<'_>| InstanceTypes::of_instance(value).intersects(types);
                match (values, listed.as_array()) {
                    (Keyword::Enum, Some(listed)) => !listed.iter().all(is_of),
                    (Keyword::Const, _) => !is_of(listed),
                    _ => false,
                }
            }
            Keyword::Enum => !value.as_array()?.iter().any(|item| json::same(item, listed)),
            _ => true,
        };
        is_narrower.then(|| beside(values)).flatten()
    }

    fn has_format(&self, schema: &Object<'_>) -> bool {
        let format = schema.get(Keyword::Format).and_then(Node::as_text);
        format.is_some_and(|format| self.formats.iter().any(|known| format.is(*known)))
    }
}

fn has_unlisted(names: &Node<'_>, properties: Option<&Object<'_>>) -> bool {
    let mut names = names.as_array().unwrap_or_default().iter().filter_map(Node::as_text);
    match properties {
        None => names.next().is_some(),
        Some(properties) => {
            let known = properties.index();
            names.any(|name| !known.contains_key(name))
        }
    }
}

impl TypedKeywords {
    /// Returns true if the keyword has an effect, or if it cannot apply to any value that the schema accepts.
    fn is_read(&self, keyword: Keyword, schema: &Object<'_>, present: Keywords) -> bool {
        let types = schema.get(Keyword::Type);
        let about = keyword.applies_to().map_or(InstanceTypes::ALL, |kind| InstanceTypes::of_name(kind.name()));
        if types.and_then(InstanceTypes::of_keyword).is_some_and(|types| !types.intersects(about)) {
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

/// A keyword that is refused in a schema with certain types and, if any are named, certain other keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) refused: Keywords,
    /// The conflict applies only if the schema has one of these types.
    pub(crate) of_types: &'static [&'static str],
    /// Siblings that cause the conflict, unless their value is `true`. If this set and `beside_schemas` are empty, the
    /// types alone cause the conflict.
    pub(crate) beside: Keywords,
    /// Siblings that cause the conflict if their value is an object.
    pub(crate) beside_schemas: Keywords,
    /// The refused keyword also conflicts if its value has more than one member.
    pub(crate) several: bool,
}

impl Conflict {
    pub(crate) const fn with_types(of_types: &'static [&'static str], refused: Keywords) -> Conflict {
        Conflict { refused, of_types, beside: Keywords::NONE, beside_schemas: Keywords::NONE, several: false }
    }

    pub(crate) fn refuses(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        if !self.refused.contains(keyword) || !self.is_of_type(schema) {
            return false;
        }
        let is_alone = self.beside == Keywords::NONE && self.beside_schemas == Keywords::NONE;
        let has_several = || self.several && value.as_object().is_some_and(|members| members.len() > 1);
        is_alone || has_several() || self.causes(schema).next().is_some()
    }

    fn causes<'s, 'a>(&self, schema: &'s Object<'a>) -> impl Iterator<Item = &'s Member<'a>> + use<'_, 's, 'a> {
        schema.iter().filter(|member| {
            Keyword::named(&member.key).is_some_and(|beside| {
                (self.beside.contains(beside) && member.value.as_bool() != Some(true))
                    || (self.beside_schemas.contains(beside) && member.value.as_object().is_some())
            })
        })
    }

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

/// Subschemas that a program visits, defined by the keywords of their path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The first keyword of the path.
    pub(crate) first: Keywords,
    /// All keywords after the first keyword.
    pub(crate) nested: Keywords,
    /// The last keyword of the path.
    pub(crate) last: Keywords,
}

impl Walk {
    pub(crate) const EVERYWHERE: Walk = Walk { first: Keywords::ALL, nested: Keywords::ALL, last: Keywords::ALL };

    /// Reads the whole pointer: a walk over all schemas uses a [`Trail`] instead.
    pub(crate) fn reaches(&self, pointer: &Pointer<'_>) -> bool {
        if *self == Walk::EVERYWHERE {
            return true;
        }
        let mut keywords = pointer.steps().iter().filter_map(|step| match step {
            Step::Name(name) => Keyword::named(&Text::literal(name)),
            _ => None,
        });
        let Some(first) = keywords.next() else { return false };
        let last = keywords.clone().last().unwrap_or(first);
        self.first.contains(first) && self.last.contains(last) && keywords.all(|keyword| self.nested.contains(keyword))
    }
}

/// For each schema from the root to the current schema: true if the program visits it.
pub(crate) struct Trail {
    walk: Walk,
    passed: Vec<bool>,
}

impl Trail {
    pub(crate) const fn new(walk: Walk) -> Trail {
        Trail { walk, passed: Vec::new() }
    }

    /// Returns true if the program visits the schema at `depth`. Must be called for parents before their children.
    pub(crate) fn reaches(&mut self, depth: usize, keyword: Option<Keyword>) -> bool {
        if self.walk == Walk::EVERYWHERE {
            return true;
        }
        self.passed.truncate(depth);
        let is_next = |keywords: Keywords| keyword.is_some_and(|keyword| keywords.contains(keyword));
        let passes = match self.passed.as_slice() {
            [] => true,
            [_] => is_next(self.walk.first),
            [.., parent] => *parent && is_next(self.walk.nested),
        };
        self.passed.push(passes);
        passes && depth > 0 && is_next(self.walk.last)
    }
}
