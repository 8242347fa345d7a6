//! Strict dialects: what they cannot say is encoded, and `restore_arguments` undoes it.
//!
//! The rules leave a *plain* schema: one that says with `type`, `properties`, `items`, `anyOf` and kept references what is accepted.
//! [`write`] writes it anew for a surface whose objects are all closed; [`super::super::decode`] reads the same plain schema to bring a
//! model's answer back. Both ask [`shape`] what a schema is, so that one cannot disagree with the other. What must be settled before
//! that is the business of [`prepare`].

mod anything;
mod first_keys;
mod null;
mod prepare;
pub(in crate::sanitize) mod shape;
mod size;
mod write;

use crate::{
    dialect::{
        grammar::{Grammar, OpenRule, Recursion},
        Dialect,
    },
    error::Error,
    json::Node,
    schema::keyword::{Keyword, Keywords},
};

use super::context::PassContext;

/// The member of a pair that holds the name.
pub(in crate::sanitize) const KEY: &str = "key";
/// The member of a pair that holds the value.
pub(in crate::sanitize) const VALUE: &str = "value";
/// The only member of an object that stands for one whose names are not known, where an array would be taken for another.
pub(in crate::sanitize) const PAIRS: &str = "pairs";
/// The property for what no other property names.
const OTHERS: &str = "additional_properties";

/// Keywords that judge an object or a part of it by what its members are, beside those that say what they are.
pub(super) const JUDGES_MEMBERS: Keywords = Keywords::of(&[
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::Not,
    Keyword::Contains,
    Keyword::MinContains,
    Keyword::MaxContains,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::UnevaluatedItems,
    Keyword::UnevaluatedProperties,
    Keyword::MinProperties,
    Keyword::MaxProperties,
]);

/// Does this surface need its schemas encoded?
pub(in crate::sanitize) const fn applies(grammar: &Grammar) -> bool {
    matches!(grammar.objects.open, OpenRule::MustClose)
}

/// Is "anything" said by a definition that refers to itself, rather than as JSON in a string?
///
/// The definition keeps the API's guarantee that what comes back is JSON, so it is preferred where recursion is accepted. Where it is
/// not, a string that holds JSON loses nothing and costs one line, while a union of scalars would lose every object and array.
pub(in crate::sanitize) const fn has_definition(grammar: &Grammar) -> bool {
    let refs = &grammar.refs;
    refs.to_defs && matches!(refs.recursion, Recursion::Free) && !refs.not_directly_under.has(Keyword::AnyOf)
}

/// Makes the schema plain, and small enough that it will be within the limits once it is written.
pub(super) fn plain(root: &mut Node<'_>, dialect: &Dialect, rules: &mut PassContext) -> Result<(), Error> {
    prepare::prepare(root, rules)?;
    size::fit(root, dialect, rules)
}

/// Writes a plain schema so that the surface accepts it.
pub(super) fn write(root: &mut Node<'_>, rules: &mut PassContext) -> Result<(), Error> {
    write::write(root, rules)
}
