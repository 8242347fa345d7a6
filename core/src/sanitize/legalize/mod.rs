//! The walk up: each schema is said so that the grammar accepts it, the schemas inside it first.

pub(in crate::sanitize) mod all_of;
pub(in crate::sanitize) mod any_of;
pub(in crate::sanitize) mod any_of_alone;
pub(in crate::sanitize) mod booleans;
pub(in crate::sanitize) mod containers;
pub(in crate::sanitize) mod enum_;
pub(in crate::sanitize) mod enum_types;
pub(in crate::sanitize) mod infer_type;
pub(in crate::sanitize) mod null;
pub(in crate::sanitize) mod pattern_properties;
pub(in crate::sanitize) mod property_names;
pub(in crate::sanitize) mod ref_like_keys;
pub(in crate::sanitize) mod required;
pub(in crate::sanitize) mod root;
pub(in crate::sanitize) mod slash_keys;
pub(in crate::sanitize) mod type_array;
pub(in crate::sanitize) mod unsupported_keywords;

use crate::{
    error::Error,
    json::{Node, Step},
    sanitize::{context::PassContext, encode::json_string, switch::runs},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords},
        walk::{Next, Place, Rewrite},
    },
};

/// Keywords that apply their schemas to the very instance they stand at.
pub(in crate::sanitize) const IN_PLACE: Keywords =
    Keywords::of(&[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Then, Keyword::Else]);

/// Below these nothing is typed: a type would change what the question is.
pub(in crate::sanitize) const NOT_TYPED: Keywords = Keywords::of(&[Keyword::Not, Keyword::If, Keyword::Contains, Keyword::PropertyNames]);

/// What may admit null beside `nullable`.
const NULL_STANDS_IN: Keywords = Keywords::of(&[Keyword::Type, Keyword::AnyOf]);

/// What counts the members and items that nothing else speaks of.
const EVALUATED: Keywords = Keywords::of(&[Keyword::UnevaluatedProperties, Keyword::UnevaluatedItems]);

/// Does a schema say that it may be anything, by naming all types?
pub(in crate::sanitize) fn names_all_types(node: &Node<'_>) -> bool {
    InstanceTypes::declared(node) == Some(InstanceTypes::ALL)
}

/// The types that a part of `allOf` declares: they hold for all the other parts, too.
fn types_of_parts(node: &Node<'_>) -> Option<InstanceTypes> {
    node.get("allOf")?.as_array()?.iter().find_map(InstanceTypes::declared)
}

/// What is known of the place of a schema beyond where it is.
#[derive(Clone, Copy, Debug)]
pub(in crate::sanitize) struct Context {
    /// The instance is known to be of these types, because a schema that applies to it too says so.
    pub(in crate::sanitize) known: Option<InstanceTypes>,
    /// Nothing is typed here.
    pub(in crate::sanitize) not_typed: bool,
    /// The validator does not look here, so nothing needs to be given up for it.
    pub(in crate::sanitize) opaque: bool,
    /// The schema around it, whose items these are, says that it may be anything; nothing is said of the items of anything.
    pub(in crate::sanitize) of_anything: bool,
}

pub(in crate::sanitize) struct Up<'r> {
    rules: &'r mut PassContext,
    /// The schemas that stand around, and what stands in each.
    above: alloc::vec::Vec<(Context, Keywords)>,
}

impl<'r> Up<'r> {
    pub(in crate::sanitize) fn new(rules: &'r mut PassContext) -> Self {
        Up { rules, above: alloc::vec::Vec::new() }
    }
}

impl<'a> Rewrite<'a> for Up<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        let context = match (place.keyword, self.above.last()) {
            (Some(keyword), Some((above, _))) => Context {
                known: if IN_PLACE.has(keyword) { above.known } else { None },
                not_typed: above.not_typed || NOT_TYPED.has(keyword),
                opaque: above.opaque || self.rules.grammar.opaque.has(keyword),
                of_anything: false,
            },
            _ => Context {
                // Tool arguments are objects.
                known: self.rules.grammar.object_root.then_some(InstanceTypes::OBJECT),
                not_typed: false,
                opaque: false,
                of_anything: false,
            },
        };
        self.rules.deepest = self.rules.deepest.max(place.depth);
        let known = InstanceTypes::declared(node).or_else(|| types_of_parts(node)).or(context.known);
        let mut present = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        // What is refused goes before anything in it is said, or inferred from it.
        if !context.opaque {
            present = unsupported_keywords::say(node, place, present, self.rules);
        }
        self.above.push((Context { known, ..context }, present));
        Ok(Next::Into)
    }

    fn leave(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<(), Error> {
        let present = self.above.pop().map_or(Keywords::ALL, |(_, present)| present);
        if self.rules.stood.meet(EVALUATED) {
            // A definition may be used anywhere.
            let is_defined = matches!(place.pointer.steps().first(), Some(Step::Name("$defs" | "definitions")));
            let around = self.above.iter().fold(present, |all, (_, keywords)| all.and(*keywords));
            self.rules.counts_evaluated = if is_defined { self.rules.stood } else { around };
        }
        let above = self.above.last();
        let context = match (place.keyword, above) {
            (Some(keyword), Some((above, _))) => Context {
                known: above.known.filter(|_| IN_PLACE.has(keyword)),
                not_typed: above.not_typed || NOT_TYPED.has(keyword),
                opaque: above.opaque || self.rules.grammar.opaque.has(keyword),
                of_anything: keyword == Keyword::Items && above.known == Some(InstanceTypes::ALL),
            },
            _ => Context { known: None, not_typed: false, opaque: false, of_anything: false },
        };
        say(node, place, context, present, self.rules)
    }
}

/// The rules, in their one order; each where something stands that it speaks of.
fn say<'a>(node: &mut Node<'a>, place: &Place<'_, 'a>, context: Context, present: Keywords, rules: &mut PassContext) -> Result<(), Error> {
    let is_root = place.keyword.is_none();
    let found = |node: &Node<'_>| node.as_object().map_or(Keywords::NONE, Keywords::in_object);
    let mut present = present;
    // A boolean first, because everything after it is about objects.
    // (The root is made an object next, whatever it was.)
    let is_open_root = is_root && rules.grammar.object_root && node.as_bool() == Some(true);
    if node.as_bool().is_some() && !is_open_root && runs("booleans") {
        if !booleans::say(node, place, context, rules) {
            return Ok(());
        }
        present = found(node);
    }
    // The root's type is given, not inferred.
    if is_root && rules.grammar.object_root && runs("object") {
        root::declare_object(node, rules);
        present = found(node);
    }
    // Names before anything copies or joins properties.
    if present.meet(property_names::CONCERNS) && runs("names") {
        property_names::rename(node, place, rules);
    }
    // What is refused goes before anything is inferred from it, or copied with it.
    if !context.opaque {
        present = unsupported_keywords::say(node, place, present, rules);
    }
    // Values that hold a key called `$ref`, before anything looks for references again.
    if rules.mentions_references && runs("stray") {
        ref_like_keys::say(node, place, rules);
        present = found(node);
    }
    // The same where a key that no reference could lead past stands in a definition.
    if rules.no_slash && runs("slashes") {
        slash_keys::say(node, place, rules);
        present = found(node);
    }
    // Values prove a type, so they come before keywords, which only hint at one.
    let is_constant = present.has(Keyword::Const) && present.has(Keyword::Type) && rules.grammar.encodes();
    // Integers that were listed as strings here are what their type says.
    let is_spelled = json_string::Holds::by(node) == Some(json_string::Holds::Integer);
    if (present.has(Keyword::Enum) || is_constant) && !is_spelled && runs("enums") {
        enum_::say(node, place, rules)?;
        enum_types::say(node, place, rules);
        present = found(node);
    }
    // A list of types with keywords of single ones, before it is distributed anywhere.
    if !present.has(Keyword::Type) && runs("types") {
        infer_type::say(node, place, context, rules);
        present = found(node);
    }
    if context.opaque {
        return Ok(());
    }
    // Null and what an object or an array lacks, before lists and unions are told apart.
    if present.meet(NULL_STANDS_IN) && runs("nullable") {
        null::say(node, place, rules);
        present = found(node);
    }
    if is_root {
        containers::say(node, place, rules);
    } else if present.has(Keyword::Type) {
        container(node, place, rules);
    }
    if is_root && rules.grammar.object_root {
        return Ok(());
    }
    // What stands beside `anyOf` goes into its branches, which may be lists again.
    if present.has(Keyword::AnyOf) && node.get("anyOf").is_some() {
        if runs("unions") {
            any_of::say(node, place, rules)?;
        }
        if node.get("anyOf").is_none() {
            // The union was too much, so nothing says any longer what the instance is.
            infer_type::say(node, place, context, rules);
        }
        present = found(node);
    }
    if present.has(Keyword::Type) && runs("lists") {
        type_array::say(node, place, rules);
        present = found(node);
    }
    // Last, because joining brings the properties that `required` names. A branch waits for what stands beside its union.
    if present.has(Keyword::Required) && place.keyword != Some(Keyword::AnyOf) && runs("required") {
        required::say(node, place, rules);
    }
    // The texts of a union, once nothing more is added to them.
    if present.has(Keyword::AnyOf) && runs("alone") {
        any_of_alone::say(node, place, rules);
    }
    Ok(())
}

/// What an object or an array below the root lacks, once its type is known.
pub(in crate::sanitize) fn container<'a>(node: &mut Node<'a>, place: &Place<'_, 'a>, rules: &mut PassContext) {
    if runs("json_text") {
        json_string::object(node, place, rules);
    }
    containers::say(node, place, rules);
}

/// Does a schema stand directly under `additionalProperties`, where booleans may stand?
pub(in crate::sanitize) fn is_open_map(place: &Place<'_, '_>) -> bool {
    place.pointer.steps().last() == Some(&Step::Name("additionalProperties"))
}
