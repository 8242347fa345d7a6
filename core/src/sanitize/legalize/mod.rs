//! Legalize: replaces what the grammar refuses, or removes and reports it.
//!
//! Assumes canonical schemas whose references point to the root's `$defs`. Guarantees that the grammar refuses nothing
//! except the size of the schema and the parts that `encode` handles.

pub(crate) mod all_of;
pub(crate) mod any_of;
pub(crate) mod containers;
pub(crate) mod enums;
pub(crate) mod nullable;
pub(crate) mod patterns;
pub(crate) mod refused_keys;
pub(crate) mod replacement_names;
pub(crate) mod required;
pub(crate) mod root;
pub(crate) mod types;
pub(crate) mod unsupported_keywords;

use alloc::vec::Vec;

use crate::{
    error::Error,
    json::{Node, Step},
    options::Use,
    sanitize::{
        context::PassContext,
        encode::json_string,
        pass::{run_all, InferenceContext, VisitorPass},
        wrap_root::declares_object,
    },
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords},
        visit::{SchemaPath, Visit, VisitorMut},
    },
};

/// Keywords with subschemas that apply to the instance of the enclosing schema.
pub(crate) const IN_PLACE: Keywords =
    Keywords::of(&[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Then, Keyword::Else]);

/// Keywords whose subschemas are not typed, because a type would change which values they match.
pub(crate) const NOT_TYPED: Keywords =
    Keywords::of(&[Keyword::Not, Keyword::If, Keyword::Contains, Keyword::PropertyNames]);

/// Keywords that apply to members and items that no other keyword evaluates.
const EVALUATED: Keywords = Keywords::of(&[Keyword::UnevaluatedProperties, Keyword::UnevaluatedItems]);

pub(crate) fn names_all_types(node: &Node<'_>) -> bool {
    InstanceTypes::declared(node) == Some(InstanceTypes::ALL)
}

/// Returns the types that a part of `allOf` declares. They apply to the other parts, too.
fn declared_by_parts(node: &Node<'_>) -> Option<InstanceTypes> {
    node.get(Keyword::AllOf)?.as_array()?.iter().find_map(InstanceTypes::declared)
}

/// Returns the types of the values in `enum` or `const`. They apply to the branches of the schema, too.
fn types_of_listed_values(node: &Node<'_>) -> Option<InstanceTypes> {
    let listed = node.array_at(Keyword::Enum);
    let values = listed.or_else(|| node.get(Keyword::Const).map(core::slice::from_ref))?;
    let types = values.iter().map(InstanceTypes::of_instance).reduce(InstanceTypes::or)?;
    // No type name means only the numbers that are not integers.
    let whole = types.without(InstanceTypes::NUMBER.without(InstanceTypes::INTEGER)) == types;
    Some(if whole { types } else { types.or(InstanceTypes::NUMBER) })
}

pub(crate) struct Legalize<'r> {
    context: &'r mut PassContext,
    enter: Vec<VisitorPass>,
    leave: Vec<VisitorPass>,
    enclosing: Vec<(InferenceContext, Keywords)>,
}

impl<'r> Legalize<'r> {
    pub(crate) fn new(context: &'r mut PassContext, enter: Vec<VisitorPass>, leave: Vec<VisitorPass>) -> Self {
        Legalize { context, enter, leave, enclosing: Vec::new() }
    }
}

impl<'a> VisitorMut<'a> for Legalize<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let inferred = match (path.keyword, self.enclosing.last()) {
            (Some(keyword), Some((enclosing, _))) => InferenceContext {
                types: if IN_PLACE.contains(keyword) { enclosing.types } else { None },
                skips_types: enclosing.skips_types || NOT_TYPED.contains(keyword),
                opaque: enclosing.opaque || self.context.grammar.opaque.contains(keyword),
                is_item_of_anything: false,
            },
            // Tool arguments are objects.
            _ => InferenceContext {
                types: self.context.grammar.object_root.then_some(InstanceTypes::OBJECT),
                ..InferenceContext::default()
            },
        };
        if path.keyword.is_none() && self.context.used_as == Use::Response {
            self.context.declared_object = Some(declares_object(node));
        }
        self.context.survey.deepest = self.context.survey.deepest.max(path.depth);
        let types = InstanceTypes::declared(node).or_else(|| declared_by_parts(node));
        let types = types.or_else(|| types_of_listed_values(node)).or(inferred.types);
        let keywords = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        let keywords = run_all(&self.enter, node, path, inferred, keywords, self.context)?;
        self.enclosing.push((InferenceContext { types, ..inferred }, keywords));
        Ok(Visit::Descend)
    }

    fn leave(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        let keywords = self.enclosing.pop().map_or(Keywords::ALL, |(_, keywords)| keywords);
        if self.context.survey.original_keywords.intersects(EVALUATED) {
            // A definition may be used in any schema.
            let is_defined = matches!(path.pointer.steps().first(), Some(Step::Name("$defs" | "definitions")));
            let around = self.enclosing.iter().fold(keywords, |all, (_, keywords)| all.union(*keywords));
            self.context.enclosing_keywords = if is_defined { self.context.survey.original_keywords } else { around };
        }
        let inferred = match (path.keyword, self.enclosing.last()) {
            (Some(keyword), Some((enclosing, _))) => InferenceContext {
                types: enclosing.types.filter(|_| IN_PLACE.contains(keyword)),
                skips_types: enclosing.skips_types || NOT_TYPED.contains(keyword),
                opaque: enclosing.opaque || self.context.grammar.opaque.contains(keyword),
                is_item_of_anything: keyword == Keyword::Items && enclosing.types == Some(InstanceTypes::ALL),
            },
            _ => InferenceContext::default(),
        };
        run_all(&self.leave, node, path, inferred, keywords, self.context)?;
        Ok(())
    }
}

/// Runs the remaining per-schema passes, because the visitor has already left the new branch.
fn run_remaining_passes<'a>(branch: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    types::split(branch, path, context);
    json_string::encode_object(branch, path, context);
    containers::apply(branch, path, context);
    required::apply(branch, path, context);
}

/// Limits `required` in an unchanged branch of a union. The other passes run after nothing more can be merged into the
/// branch.
fn limit_required<'a>(branch: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    required::apply(branch, path, context);
}

/// Returns true for the value of `additionalProperties`, which may be a boolean.
pub(crate) fn is_open_map(path: &SchemaPath<'_, '_>) -> bool {
    path.pointer.steps().last() == Some(&Step::Name("additionalProperties"))
}
