//! Makes a schema plain. Unions have no siblings that apply to the same instance. A list of types contains at most one
//! container, `required` names only declared properties, and any recursion can be lowered.
//!
//! Nested unions are merged into the enclosing union. For APIs that distinguish the branches of `anyOf` by the name of
//! the first property, properties are reordered, and branches that no order distinguishes are merged.

use alloc::{format, string::String, vec, vec::Vec};

use super::layout::{self, Members, Shape, Typed};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::TypeLists,
    effect::{Accepts, Guidance},
    error::Error,
    json::{self, Data, Member, Node, Object, Step, Text},
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::{
            any_of,
            required::Declared,
            types::{self, TypeBranches},
        },
    },
    schema::{
        definitions::definition_name,
        emptiness::is_never,
        join,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const DECLARE_REQUIRED: ChangeKind = ChangeKind::of(Rule::DeclareRequiredProperty);
const DECLARE_WITHOUT_SCHEMA: ChangeKind = DECLARE_REQUIRED.accepts(Accepts::Wider).guidance(Guidance::Lost);
const DROP_UNKNOWN_REQUIRED: ChangeKind = ChangeKind::of(Rule::DropUnknownRequired).guidance(Guidance::Lost);
const SPLIT_TYPE_LIST: ChangeKind = ChangeKind::of(Rule::SplitTypeList);
const COLLAPSE_ANYTHING: ChangeKind = ChangeKind::of(Rule::CollapseAny);
const COLLAPSE_NOTHING: ChangeKind = ChangeKind::of(Rule::CollapseAny).accepts(Accepts::Wider);
const DROP_IMPOSSIBLE_BRANCH: ChangeKind = ChangeKind::of(Rule::DropImpossibleBranch);
const CUT_RECURSION: ChangeKind = ChangeKind::of(Rule::CutRecursion).guidance(Guidance::Lost);

pub(crate) fn make_plain(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.not_directly_under.contains(Keyword::AnyOf) && root.get(Keyword::Defs).is_some() {
        visit::walk_mut(
            &context.budget.clone(),
            root,
            Keywords::ALL,
            &mut AnyOfRecursionCutter { context, enclosing: Vec::new() },
        )?;
    }
    let budget = context.budget.clone();
    let mut remaining_copies = json::size(root, &budget).saturating_mul(MAX_COPIES).saturating_add(MIN_COPIES);
    // Merging branches may create unions that have to be prepared as well.
    for _ in 0..MAX_ROUNDS {
        let mut plain_maker = PlainMaker { context, merged_branches: false, remaining_copies: &mut remaining_copies };
        visit::walk_mut(&budget, root, Keywords::ALL, &mut plain_maker)?;
        if !plain_maker.merged_branches {
            break;
        }
    }
    Ok(())
}

/// Maximum nesting of merges inside merged branches.
const MAX_ROUNDS: usize = 8;

/// Maximum total size of copies, as a multiple of the size of the schema. `additionalProperties` is copied for each
/// undeclared required name, and copies in nested maps contain copies.
const MAX_COPIES: usize = 4;

/// Number of nodes that may always be copied, however small the schema is.
const MIN_COPIES: usize = 1_000;

struct PlainMaker<'r> {
    context: &'r mut PassContext,
    merged_branches: bool,
    /// Number of nodes that may still be copied for properties that are required but not declared.
    remaining_copies: &'r mut usize,
}

impl<'a> VisitorMut<'a> for PlainMaker<'_> {
    fn leave(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        declare_required(node, path, self.remaining_copies, self.context);
        split_type_list(node, path, self.context);
        // The remaining steps apply only to unions.
        if node.get(Keyword::AnyOf).is_none() {
            return Ok(());
        }
        drop_impossible_branches(node, path, self.context);
        flatten_unions(node, path, self.context);
        flatten_ambiguous_unions(node, self.context);
        drop_open_union(node, path, self.context);
        self.merged_branches |= distinguish_branches(node, path, self.context)?;
        Ok(())
    }
}

fn declare_required<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    remaining_copies: &mut usize,
    context: &mut PassContext,
) {
    let Some(object) = node.as_object() else { return };
    if object.get(Keyword::Required).is_none() || !layout::declares(object, "object") {
        return;
    }
    let declared = Declared::of(object);
    let names = object.items_at(Keyword::Required);
    if names.iter().filter_map(Node::as_text).all(|name| declared.has(name)) {
        return;
    }
    let undeclared: Vec<Text<'a>> =
        layout::required(object).into_iter().filter(|name| !declared.has(name)).map(Text::clone).collect();
    let additional = object.get(Keyword::AdditionalProperties);
    let is_closed = additional.and_then(Node::as_bool) == Some(false);
    let additional = additional.filter(|schema| schema.as_object().is_some_and(|object| !object.is_empty()));
    let cost = |schema: &Node<'_>| json::size(schema, &context.budget).saturating_mul(undeclared.len());
    let remaining = match additional.filter(|_| *remaining_copies > 0) {
        Some(schema) => remaining_copies.checked_sub(cost(schema)),
        None => additional.is_none().then_some(*remaining_copies),
    };
    // After the first schema that is too large to copy, no node may be copied, so no further schema is measured.
    *remaining_copies = remaining.unwrap_or_default();
    let schema = additional
        .filter(|_| remaining.is_some())
        .map_or_else(Node::empty_object, |schema| schema.copy(&context.budget));
    let effect = match (is_closed, remaining) {
        (true, _) => DROP_UNKNOWN_REQUIRED,
        (false, Some(_)) => DECLARE_REQUIRED,
        (false, None) => DECLARE_WITHOUT_SCHEMA,
    };
    let location = Location::under(node, "required");
    let to = if is_closed { Location::of(node) } else { Location::under(node, "properties") };
    context.diagnostics.report(path, location.to(to), effect, || {
        let names: Vec<String> = undeclared.iter().map(|name| format!("`{}`", name.display())).collect();
        format!(
            "{} {}",
            if is_closed {
                "removed from `required` names that the object forbids:"
            } else {
                "added required names to `properties`:"
            },
            names.join(", ")
        )
    });
    if is_closed {
        node.visit(Keyword::Required, |names| {
            if let Some(names) = names.as_array_mut() {
                let undeclared: Set<&Text<'_>> = undeclared.iter().collect();
                names.retain(|name| name.as_text().is_some_and(|name| !undeclared.contains(name)));
            }
        });
        return;
    }
    if let Some(object) = node.as_object_mut() {
        if !object.has(Keyword::Properties) {
            let index = object.position(Keyword::Type).map_or(0, |at| at + 1);
            object.insert_at(index, Text::literal("properties"), Node::empty_object());
        }
    }
    node.visit(Keyword::Properties, |table| {
        if let Some(table) = table.as_object_mut() {
            table
                .members_mut()
                .extend(undeclared.into_iter().map(|key| Member { key, value: schema.copy(&context.budget) }));
        }
    });
}

/// Splits a list of types into branches if it contains too many containers: the pairs that encode an object must not
/// be mistaken for items of an array. If the grammar accepts only scalars in lists, any container is too many.
fn split_type_list<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(types) = object.array_at(Keyword::Type) else { return };
    let containers = types.iter().filter(|name| name.is_text("object") || name.is_text("array")).count();
    let allowed = match context.grammar.type_lists {
        TypeLists::Any => 1,
        TypeLists::Scalars | TypeLists::None => 0,
    };
    if path.keyword.is_none()
        || types.len() < 2
        || containers <= allowed
        || ["enum", "const", "anyOf"].iter().any(|keyword| object.has(keyword))
    {
        return;
    }
    let (location, count) = (Location::under(node, "type"), types.len());
    context.diagnostics.report(path, location.to(Location::under(node, "anyOf")), SPLIT_TYPE_LIST, || {
        format!("split `type` into {count} branches: they include `object` or `array`")
    });
    let TypeBranches { shared: mut members, branches, .. } = types::take_branches(node, &context.budget);
    members.set(Text::literal("anyOf"), Node::array(branches));
    node.replace(Data::Object(members));
}

/// The API cannot express a branch that accepts nothing. Lowering would turn it into a branch that accepts anything.
fn drop_impossible_branches<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return };
    let (count, impossible) = (branches.len(), branches.iter().filter(|branch| is_never(branch)).count());
    if impossible == 0 {
        return;
    }
    if impossible == count {
        let (from, to) = (Location::under(node, "anyOf"), Location::of(node));
        context.diagnostics.report(path, from.to(to), COLLAPSE_NOTHING, || {
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
    for branch in context.budget.each(branches).filter(|branch| is_never(branch)) {
        context.diagnostics.report(path, Location::of(branch).removed(), DROP_IMPOSSIBLE_BRANCH, || {
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
fn drop_open_union<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return };
    let is_anything = |branch: &Node<'a>| matches!(layout::of(branch, false, context.grammar), Shape::Anything);
    let accepts_all_of_type = |branch: &Node<'a>, name: &str| {
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
    const TYPES: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];
    if !branches.iter().any(is_anything)
        && !TYPES.iter().all(|name| branches.iter().any(|branch| accepts_all_of_type(branch, name)))
    {
        return;
    }
    let location = Location::under(node, "anyOf");
    // A branch without a type may constrain the values of one type. A union of all types constrains no value.
    let has_assertions =
        |branch: &Node<'a>| branch.as_object().is_some_and(|object| object.iter().any(anything::asserts));
    let loses_assertions =
        branches.iter().any(is_anything) && branches.iter().filter(|branch| is_anything(branch)).all(has_assertions);
    let effect = if loses_assertions { COLLAPSE_ANYTHING.accepts(Accepts::Wider) } else { COLLAPSE_ANYTHING };
    context.diagnostics.report(path, location.to(Location::of(node)), effect, || {
        String::from("replaced a union that accepts anything with a schema that accepts anything")
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::AnyOf);
    }
}

/// Cuts recursion through `anyOf`, which APIs may refuse. An optional property is treated as an `anyOf`, because
/// lowering turns it into one.
struct AnyOfRecursionCutter<'r> {
    context: &'r mut PassContext,
    /// For each enclosing schema: true if it is below `anyOf`, and the names that it requires.
    enclosing: Vec<(bool, Vec<String>)>,
}

impl<'a> VisitorMut<'a> for AnyOfRecursionCutter<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let steps = path.pointer.steps();
        let is_below_any_of = self.enclosing.last().is_some_and(|(is_below_any_of, required)| {
            let is_optional = || match steps.last() {
                Some(Step::Member(name)) => {
                    name.value().is_none_or(|name| !required.iter().any(|required_name| **required_name == *name))
                }
                _ => false,
            };
            let is_definition = matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions));
            !is_definition
                && (*is_below_any_of
                    || path.keyword == Some(Keyword::AnyOf)
                    || (path.keyword == Some(Keyword::Properties) && is_optional()))
        });
        let required = node.as_object().map(layout::required).unwrap_or_default();
        let required = required.into_iter().filter_map(|name| name.value().map(|name| name.into_owned())).collect();
        self.enclosing.push((is_below_any_of, required));
        if let Some(name) = definition_name(node).map(String::from).filter(|_| is_below_any_of) {
            self.context.diagnostics.report(
                path,
                Location::under(node, "$ref").to(Location::of(node)),
                CUT_RECURSION,
                || format!("removed the recursion into `{name}`: it would pass through `anyOf`"),
            );
            if let Some(object) = node.as_object_mut() {
                object.remove(Keyword::Ref);
            }
        }
        Ok(Visit::Descend)
    }

    fn leave(&mut self, _node: &mut Node<'a>, _path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        self.enclosing.pop();
        Ok(())
    }
}

const FLATTEN_UNION: ChangeKind = ChangeKind::of(Rule::FlattenUnion);
const MOVE_ANNOTATION: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Moved);
const LOSE_ANNOTATION: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Lost);

/// Merges each branch that is a union into the enclosing union. Nested unions are already flat, because subschemas are
/// visited first.
fn flatten_unions<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let is_union = |branch: &Node<'_>| branch.get(Keyword::AnyOf).is_some_and(|inner| inner.as_array().is_some());
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if !context.grammar.any_of.typed_branches || !branches.iter().any(is_union) {
        return;
    }
    let to = Location::under(node, "anyOf");
    let mut annotation_changes: Vec<(Location, ChangeKind, String)> = Vec::new();
    let budget = context.budget.clone();
    node.visit(Keyword::AnyOf, |union| {
        let Some(branches) = union.as_array_mut() else { return };
        for mut branch in core::mem::take(branches) {
            let from = Location::of(&branch);
            let inner = branch.as_object_mut().filter(|object| object.has(Keyword::AnyOf));
            let Some(object) = inner else {
                branches.push(branch);
                continue;
            };
            let Some(Data::Array(mut inner)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { continue };
            for text in core::mem::take(object).into_members() {
                let was_moved = any_of::move_annotation(&text, &mut inner, &budget);
                let name = text.key.display().into_owned();
                let location = Location::of(&text.value);
                match was_moved {
                    true => annotation_changes.push((
                        location,
                        MOVE_ANNOTATION,
                        format!("moved `{name}` into the branches of `anyOf`"),
                    )),
                    false => annotation_changes.push((
                        location,
                        LOSE_ANNOTATION,
                        format!("removed `{name}`: its union was merged into another"),
                    )),
                }
            }
            annotation_changes.push((
                from,
                FLATTEN_UNION,
                String::from("merged the branches of a union into the union around it"),
            ));
            branches.append(&mut inner);
        }
    });
    for (from, kind, message) in annotation_changes {
        context.diagnostics.report(path, from.to(to.clone()), kind, || message);
    }
}

/// Merges nested unions if a list of pairs in one union could be mistaken for an array in another. Only the branches of
/// a single union are distinguished from each other.
fn flatten_ambiguous_unions(node: &mut Node<'_>, context: &PassContext) {
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if !branches.iter().any(is_bare_union) {
        return;
    }
    let (mut arrays, mut maps) = (0, 0);
    let mut pending: Vec<&Node<'_>> = branches.iter().collect();
    while let Some(branch) = pending.pop().filter(|_| context.budget.pay(1)) {
        match layout::of(branch, false, context.grammar) {
            Shape::Union(branches) => pending.extend(branches),
            Shape::Typed(typed) if matches!(typed.object, Some(Members::Map(_))) => maps += 1,
            Shape::Typed(typed) if typed.accepts_arrays => arrays += 1,
            _ => {}
        }
    }
    if maps == 0 || maps + arrays < 2 {
        return;
    }
    node.visit(Keyword::AnyOf, |union| {
        let Some(branches) = union.as_array_mut() else { return };
        let mut pending: Vec<Node<'_>> = core::mem::take(branches).into_iter().rev().collect();
        while let Some(mut branch) = pending.pop() {
            if !is_bare_union(&branch) {
                branches.push(branch);
            } else if let Some(Data::Array(inner)) =
                branch.as_object_mut().and_then(|object| object.remove(Keyword::AnyOf)).map(Node::into_data)
            {
                pending.extend(inner.into_iter().rev());
            }
        }
    });
}

fn is_bare_union(node: &Node<'_>) -> bool {
    node.as_object().is_some_and(|object| object.len() == 1)
        && node.get(Keyword::AnyOf).is_some_and(|branches| branches.as_array().is_some())
}

const REORDER_PROPERTIES: ChangeKind = ChangeKind::of(Rule::ReorderProperties);
const MERGE_BRANCHES: ChangeKind = ChangeKind::of(Rule::MergeBranches);

/// Maximum number of branches that get distinct first names by search. Any further branch is merged if it has
/// properties.
const MAX_BRANCHES: usize = 256;

/// Returns true if branches were merged.
fn distinguish_branches<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> Result<bool, Error> {
    if !context.grammar.any_of.distinct_first_keys {
        return Ok(false);
    }
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return Ok(false) };
    if have_distinct_starts(branches) {
        return Ok(false);
    }
    let names: Vec<Vec<Text<'a>>> = branches.iter().map(|branch| property_names(branch, context)).collect();
    let first_names = common_discriminator(branches, &names).unwrap_or_else(|| match_branches_to_names(&names));
    let locations: Vec<Location> = branches.iter().map(Location::of).collect();
    for (at, name) in context.budget.each(first_names.iter().enumerate()) {
        let (Some(name), Some(branch_names), Some(location)) = (name, names.get(at), locations.get(at)) else {
            continue;
        };
        if branch_names.first() == Some(name) {
            continue;
        }
        let display_name = name.display().into_owned();
        context.diagnostics.report(path, location.clone().in_place(), REORDER_PROPERTIES, || {
            format!("moved the property `{display_name}` to the front: branches must begin with different names")
        });
        node.visit(Keyword::AnyOf, |branches| {
            if let Some(branch) = branches.as_array_mut().and_then(|branches| branches.get_mut(at)) {
                branch.visit(Keyword::Properties, |table| move_to_front(table, name));
            }
        });
    }
    let unmatched: Vec<usize> = (0..names.len())
        .filter(|at| {
            names.get(*at).is_some_and(|branch_names| !branch_names.is_empty())
                && first_names.get(*at).is_none_or(Option::is_none)
        })
        .collect();
    if unmatched.is_empty() {
        return Ok(false);
    }
    merge_branches(node, path, &names, &first_names, &unmatched, context);
    Ok(true)
}

/// Returns true if all branches begin with different names, or with different constants under the same name.
fn have_distinct_starts(branches: &[Node<'_>]) -> bool {
    // For each first name, the constants of the branches that begin with it; `None` if a branch has no constant.
    let mut constants_by_first_name: Map<&Text<'_>, Option<Set<String>>> = Map::new();
    branches.iter().filter_map(|branch| branch.get(Keyword::Properties)?.as_object()?.iter().next()).all(|first| {
        let constant = constant(&first.value);
        match (constants_by_first_name.get_mut(&first.key), constant) {
            (Some(Some(constants)), Some(constant)) => constants.insert(constant),
            (Some(_), _) => false,
            (None, constant) => {
                constants_by_first_name.insert(&first.key, constant.map(|constant| Set::from([constant])));
                true
            }
        }
    })
}

fn constant(schema: &Node<'_>) -> Option<String> {
    match (schema.get(Keyword::Const), schema.array_at(Keyword::Enum)) {
        (Some(value), _) | (None, Some([value])) => Some(json::canonical(value)),
        _ => None,
    }
}

fn common_discriminator<'a>(branches: &[Node<'a>], names: &[Vec<Text<'a>>]) -> Option<Vec<Option<Text<'a>>>> {
    let has_names: Vec<bool> = names.iter().map(|branch_names| !branch_names.is_empty()).collect();
    let constant_of = |branch: &Node<'a>, name: &Text<'a>| {
        branch.get(Keyword::Properties)?.as_object()?.get_text(name).and_then(constant)
    };
    let distinguishes = |name: &&Text<'a>| {
        let mut seen = Set::new();
        branches
            .iter()
            .zip(&has_names)
            .filter(|(_, has_names)| **has_names)
            .all(|(branch, _)| constant_of(branch, name).is_some_and(|constant| seen.insert(constant)))
    };
    let name = names.iter().find(|branch_names| !branch_names.is_empty())?.iter().find(distinguishes)?.clone();
    Some(has_names.into_iter().map(|has_names| has_names.then(|| name.clone())).collect())
}

fn property_names<'a>(branch: &Node<'a>, context: &PassContext) -> Vec<Text<'a>> {
    let Shape::Typed(Typed { object: Some(Members::Record { .. }), .. }) = layout::of(branch, false, context.grammar)
    else {
        return Vec::new();
    };
    branch.object_at(Keyword::Properties).into_iter().flatten().map(|member| member.key.clone()).collect()
}

/// Assigns each branch a distinct name of its properties, by bipartite matching. A branch keeps its first name unless
/// another branch has that name, or needs it.
fn match_branches_to_names<'a>(names: &[Vec<Text<'a>>]) -> Vec<Option<Text<'a>>> {
    let mut first_names: Vec<Option<Text<'a>>> = vec![None; names.len()];
    let mut branch_by_name: Map<Text<'a>, usize> = Map::new();
    for start in 0..names.len().min(MAX_BRANCHES) {
        // Augmenting path from this branch to a free name.
        let mut branch_on_path: Map<Text<'a>, usize> = Map::new();
        let mut pending = Vec::from([start]);
        let mut free_name = None;
        let mut next = 0;
        while let Some(at) = pending.get(next).copied().filter(|_| free_name.is_none()) {
            next += 1;
            for name in names
                .get(at)
                .into_iter()
                .flatten()
                .filter(|name| branch_on_path.get(*name).is_none())
                .cloned()
                .collect::<Vec<_>>()
            {
                branch_on_path.insert(name.clone(), at);
                match branch_by_name.get(&name) {
                    Some(owner) => pending.push(*owner),
                    None => {
                        free_name = Some(name);
                        break;
                    }
                }
            }
        }
        while let Some(name) = free_name.take() {
            let Some(at) = branch_on_path.get(&name).copied() else { break };
            branch_by_name.insert(name.clone(), at);
            let previous = first_names.get_mut(at).and_then(|known| known.replace(name));
            if at != start {
                free_name = previous;
            }
        }
    }
    first_names
}

fn move_to_front<'a>(table: &mut Node<'a>, name: &Text<'a>) {
    let Some(table) = table.as_object_mut() else { return };
    let members = table.members_mut();
    if let Some(at) = members.iter().position(|member| member.key == *name) {
        let member = members.remove(at);
        members.insert(0, member);
    }
}

/// Merges each unmatched branch with the branch that begins with one of its names.
fn merge_branches<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    names: &[Vec<Text<'a>>],
    first_names: &[Option<Text<'a>>],
    unmatched: &[usize],
    context: &mut PassContext,
) {
    let mut branch_by_first_name: Map<&Text<'a>, usize> = Map::new();
    for (at, first) in first_names.iter().enumerate() {
        if let Some(first) = first {
            branch_by_first_name.entry(first).or_insert(at);
        }
    }
    let mut groups: Map<usize, Vec<usize>> = Map::new();
    for at in unmatched {
        let target = names.get(*at).into_iter().flatten().find_map(|name| branch_by_first_name.get(&name).copied());
        groups.entry(target.unwrap_or(*at)).or_default().push(*at);
    }
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    let mut branches: Vec<Option<Node<'a>>> =
        branches.iter().map(|branch| Some(branch.copy(&context.budget))).collect();
    for (target, members) in groups.iter() {
        let group = core::iter::once(target).chain(members.iter().filter(|member| *member != target));
        let merged: Vec<Node<'a>> = group.filter_map(|at| branches.get_mut(*at).and_then(Option::take)).collect();
        let objects: Vec<Object<'a>> =
            merged.iter().filter_map(|branch| Some(branch.as_object()?.copy(&context.budget))).collect();
        let effect = match differs_in_one_property(&objects, &context.budget) {
            true => MERGE_BRANCHES,
            false if join::may_narrow(&objects, None) => {
                MERGE_BRANCHES.accepts(Accepts::Mixed).guidance(Guidance::Lost)
            }
            false => MERGE_BRANCHES.accepts(Accepts::Wider).guidance(Guidance::Lost),
        };
        let Some(first) = merged.first() else { continue };
        let (origin, count) = (first.origin(), merged.len());
        let location = Location::of(first);
        context.diagnostics.report(path, location.in_place(), effect, || {
            format!("merged {count} branches of `anyOf`: branches must begin with different names")
        });
        context.diagnostics.join_names(&objects, None, origin);
        if let Some(slot) = branches.get_mut(*target) {
            *slot = Some(
                Node::object(Object::from_members(join::merge_objects(objects, None, &context.budget)))
                    .with_origin(origin),
            );
        }
    }
    let branches: Vec<Node<'a>> = branches.into_iter().flatten().collect();
    if branches.len() > 1 {
        node.visit(Keyword::AnyOf, |list| list.replace(Data::Array(branches)));
        return;
    }
    // A union of one branch is replaced by the branch.
    let Some(object) = node.as_object_mut() else { return };
    object.remove(Keyword::AnyOf);
    for member in branches
        .into_iter()
        .filter_map(|branch| match branch.into_data() {
            Data::Object(object) => Some(object),
            _ => None,
        })
        .flat_map(Object::into_members)
    {
        if object.get_text(&member.key).is_none() {
            object.members_mut().push(member);
        }
    }
}

/// The merged object is equivalent if the objects differ only in the schema of one property.
fn differs_in_one_property(objects: &[Object<'_>], budget: &Budget) -> bool {
    let Some((first, others)) = objects.split_first() else { return true };
    let mut differing: Option<String> = None;
    others.iter().all(|other| {
        let keys = first.len() == other.len()
            && first.iter().all(|member| match (other.get_text(&member.key), member.key.is(Keyword::Properties)) {
                (Some(_), true) => true,
                (Some(value), false) => json::same_within(budget, value, &member.value),
                (None, _) => false,
            });
        let (Some(left), Some(right)) = (first.object_at(Keyword::Properties), other.object_at(Keyword::Properties))
        else {
            return keys;
        };
        keys && left.len() == right.len()
            && left.iter().all(|member| match right.get_text(&member.key) {
                None => false,
                Some(schema) if json::same_within(budget, schema, &member.value) => true,
                Some(_) => {
                    let name = member.key.display().into_owned();
                    let is_known_difference = differing.as_ref().is_none_or(|known| *known == name);
                    differing = Some(name);
                    is_known_difference
                }
            })
    })
}
