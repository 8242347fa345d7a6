//! Makes a schema plain: unions have no siblings that apply to the same instance, a list of types contains at most one
//! container, `required` names only declared properties, and there is no recursion that could not be lowered.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    dialect::grammar::TypeLists,
    error::Error,
    json::{self, Data, Member, Node, Object, Step, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::{
            discriminate, flatten,
            layout::{self, Shape},
        },
        legalize::{
            required::Declared,
            type_branches::{self, TypeBranches},
        },
    },
    schema::{
        definitions::definition_name,
        emptiness::is_never,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const NAME: ChangeKind = ChangeKind::of(Rule::DeclareRequiredProperty);
const NAME_WITHOUT_SCHEMA: ChangeKind = NAME.accepts(Accepts::Wider).guidance(Guidance::Lost);
const UNKNOWN: ChangeKind = ChangeKind::of(Rule::DropUnknownRequired).guidance(Guidance::Lost);
const SPLIT: ChangeKind = ChangeKind::of(Rule::SplitTypeList);
const ALL: ChangeKind = ChangeKind::of(Rule::CollapseAny);
const NONE: ChangeKind = ChangeKind::of(Rule::CollapseAny).accepts(Accepts::Wider);
const IMPOSSIBLE: ChangeKind = ChangeKind::of(Rule::DropImpossibleBranch);
const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion).guidance(Guidance::Lost);

pub(crate) fn prepare(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.not_directly_under.contains(Keyword::AnyOf) && root.get(Keyword::Defs).is_some() {
        visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut Cut { context, above: Vec::new() })?;
    }
    let budget = context.budget.clone();
    let mut spare = json::size(root, &budget).saturating_mul(MAX_COPIES).saturating_add(ALWAYS);
    // Merging branches may create unions that have to be prepared as well.
    for _ in 0..ROUNDS {
        let mut prepare = Prepare { context, joined: false, spare: &mut spare };
        visit::walk_mut(&budget, root, Keywords::ALL, &mut prepare)?;
        if !prepare.joined {
            break;
        }
    }
    Ok(())
}

/// Maximum nesting of merges inside merged branches.
const ROUNDS: usize = 8;

/// Maximum total size of copies, as a multiple of the size of the schema. `additionalProperties` is copied for each
/// undeclared required name, and in nested maps each copy contains copies.
const MAX_COPIES: usize = 4;

/// Number of nodes that may be copied regardless of the size of the schema.
const ALWAYS: usize = 1_000;

struct Prepare<'r> {
    context: &'r mut PassContext,
    joined: bool,
    /// Number of nodes that may still be copied for properties that are only required.
    spare: &'r mut usize,
}

impl<'a> VisitorMut<'a> for Prepare<'_> {
    fn leave(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        name_required(node, place, self.spare, self.context);
        split(node, place, self.context);
        // The rest is about unions.
        if node.get(Keyword::AnyOf).is_none() {
            return Ok(());
        }
        possible(node, place, self.context);
        flatten::typed(node, place, self.context);
        flatten::of_containers(node, self.context);
        join(node, place, self.context);
        self.joined |= discriminate::distinguish(node, place, self.context)?;
        Ok(())
    }
}

/// Declares required names as properties, with the schema of `additionalProperties`.
fn name_required<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, spare: &mut usize, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    if object.get(Keyword::Required).is_none() || !layout::declares(object, "object") {
        return;
    }
    let known = Declared::of(object);
    let names = object.items_at(Keyword::Required);
    if names.iter().filter_map(Node::as_text).all(|name| known.has(name)) {
        return;
    }
    let unknown: Vec<Text<'a>> =
        layout::required(object).into_iter().filter(|name| !known.has(name)).map(Text::clone).collect();
    let others = object.get(Keyword::AdditionalProperties);
    let closed = others.and_then(Node::as_bool) == Some(false);
    let others = others.filter(|schema| schema.as_object().is_some_and(|object| !object.is_empty()));
    let cost = |schema: &Node<'_>| json::size(schema, &context.budget).saturating_mul(unknown.len());
    let left = match others.filter(|_| *spare > 0) {
        Some(schema) => spare.checked_sub(cost(schema)),
        None => others.is_none().then_some(*spare),
    };
    // After the first schema that is too large to copy, nothing is left, so no further schema is measured.
    *spare = left.unwrap_or_default();
    let schema =
        others.filter(|_| left.is_some()).map_or_else(Node::empty_object, |schema| schema.copy(&context.budget));
    let effect = match (closed, left) {
        (true, _) => UNKNOWN,
        (false, Some(_)) => NAME,
        (false, None) => NAME_WITHOUT_SCHEMA,
    };
    let location = Location::under(node, "required");
    let to = if closed { Location::of(node) } else { Location::under(node, "properties") };
    context.diagnostics.report(place, location.to(to), effect, || {
        let names: Vec<String> = unknown.iter().map(|name| format!("`{}`", name.display())).collect();
        format!(
            "{} {}",
            if closed {
                "removed from `required` names that the object forbids:"
            } else {
                "added required names to `properties`:"
            },
            names.join(", ")
        )
    });
    if closed {
        node.visit(Keyword::Required, |names| {
            if let Some(names) = names.as_array_mut() {
                let unknown: Set<&Text<'_>> = unknown.iter().collect();
                names.retain(|name| name.as_text().is_some_and(|name| !unknown.contains(name)));
            }
        });
        return;
    }
    if let Some(object) = node.as_object_mut() {
        if !object.has(Keyword::Properties) {
            let place = object.position(Keyword::Type).map_or(0, |place| place + 1);
            object.insert_at(place, Text::literal("properties"), Node::empty_object());
        }
    }
    node.visit(Keyword::Properties, |table| {
        if let Some(table) = table.as_object_mut() {
            table
                .members_mut()
                .extend(unknown.into_iter().map(|key| Member { key, value: schema.copy(&context.budget) }));
        }
    });
}

/// Splits a list of types with both objects and arrays into branches, so that pairs are not mistaken for items. If the
/// grammar accepts only scalars in a list, any container is split off.
fn split<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(types) = object.array_at(Keyword::Type) else { return };
    let containers = types.iter().filter(|name| name.is_text("object") || name.is_text("array")).count();
    let allowed = match context.grammar.type_lists {
        TypeLists::Any => 1,
        TypeLists::Scalars | TypeLists::None => 0,
    };
    if place.keyword.is_none()
        || types.len() < 2
        || containers <= allowed
        || ["enum", "const", "anyOf"].iter().any(|keyword| object.has(keyword))
    {
        return;
    }
    let (location, count) = (Location::under(node, "type"), types.len());
    context.diagnostics.report(place, location.to(Location::under(node, "anyOf")), SPLIT, || {
        format!("split `type` into {count} branches: they include `object` or `array`")
    });
    let TypeBranches { shared: mut members, branches, .. } = type_branches::take(node, &context.budget);
    members.set(Text::literal("anyOf"), Node::array(branches));
    node.replace(Data::Object(members));
}

/// Removes branches that accept nothing: the API cannot express them, and lowering would turn them into branches that
/// accept anything.
fn possible<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return };
    let (count, impossible) = (branches.len(), branches.iter().filter(|branch| is_never(branch)).count());
    if impossible == 0 {
        return;
    }
    if impossible == count {
        let (from, to) = (Location::under(node, "anyOf"), Location::of(node));
        context.diagnostics.report(place, from.to(to), NONE, || {
            String::from(
                "replaced a union that accepts nothing with a schema that accepts anything: this API cannot express a \
                    schema that accepts nothing",
            )
        });
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::AnyOf);
        }
        return;
    }
    for branch in branches.iter().filter(|branch| is_never(branch)) {
        context.diagnostics.report(place, Location::of(branch).removed(), IMPOSSIBLE, || {
            String::from("removed a branch of `anyOf` that accepts nothing")
        });
    }
    node.visit(Keyword::AnyOf, |branches| {
        if let Some(branches) = branches.as_array_mut() {
            branches.retain(|branch| !is_never(branch));
        }
    });
}

/// Removes a union that accepts anything because of one branch, or because its branches cover all types.
fn join<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return };
    let is_anything = |branch: &Node<'a>| matches!(layout::of(branch, false, context.grammar), Shape::Anything);
    let bare = |branch: &Node<'a>, name: &str| {
        branch.as_object().is_some_and(|object| {
            layout::declares(object, name)
                && object.iter().all(|member| match Keyword::named(&member.key) {
                    Some(Keyword::AdditionalProperties) => {
                        member.value.as_bool() == Some(true) || member.value.as_object().is_some_and(Object::is_empty)
                    }
                    Some(Keyword::Items) => {
                        member.value.as_bool() == Some(true) || member.value.as_object().is_some_and(Object::is_empty)
                    }
                    Some(keyword) => matches!(keyword, Keyword::Type | Keyword::Description | Keyword::Title),
                    None => true,
                })
        })
    };
    let all = ["string", "number", "boolean", "object", "array", "null"];
    if !branches.iter().any(is_anything) && !all.iter().all(|name| branches.iter().any(|branch| bare(branch, name))) {
        return;
    }
    let location = Location::under(node, "anyOf");
    // A branch without a type may still constrain values of one type; a union of all types does not.
    let asserts = |branch: &Node<'a>| branch.as_object().is_some_and(|object| object.iter().any(anything::asserts));
    let loses = branches.iter().any(is_anything) && branches.iter().filter(|branch| is_anything(branch)).all(asserts);
    let effect = if loses { ALL.accepts(Accepts::Wider) } else { ALL };
    context.diagnostics.report(place, location.to(Location::of(node)), effect, || {
        String::from("replaced a union that accepts anything with a schema that accepts anything")
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::AnyOf);
    }
}

/// Cuts recursion through `anyOf`, for APIs that do not accept it. (Lowering turns an optional property into an
/// `anyOf`, so it counts as one.)
struct Cut<'r> {
    context: &'r mut PassContext,
    /// For each enclosing schema: whether it is below `anyOf`, and the names it requires.
    above: Vec<(bool, Vec<String>)>,
}

impl<'a> VisitorMut<'a> for Cut<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let steps = place.pointer.steps();
        let below = self.above.last().is_some_and(|(below, required)| {
            let optional = || match steps.last() {
                Some(Step::Member(name)) => {
                    name.value().is_none_or(|name| !required.iter().any(|known| **known == *name))
                }
                _ => false,
            };
            let starts = matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions));
            !starts
                && (*below
                    || place.keyword == Some(Keyword::AnyOf)
                    || (place.keyword == Some(Keyword::Properties) && optional()))
        });
        let required = node.as_object().map(layout::required).unwrap_or_default();
        let required = required.into_iter().filter_map(|name| name.value().map(|name| name.into_owned())).collect();
        self.above.push((below, required));
        if let Some(name) = definition_name(node).map(String::from).filter(|_| below) {
            self.context.diagnostics.report(place, Location::under(node, "$ref").to(Location::of(node)), CUT, || {
                format!("removed the recursion into `{name}`: it would pass through `anyOf`")
            });
            if let Some(object) = node.as_object_mut() {
                object.remove(Keyword::Ref);
            }
        }
        Ok(Visit::Descend)
    }

    fn leave(&mut self, _node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        self.above.pop();
        Ok(())
    }
}
