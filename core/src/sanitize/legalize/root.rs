//! Legalizes the root, which must be an object schema. A union at the root becomes one object with the properties of
//! all branches, whose description states how the branches differed.
//!
//! The siblings of a large `anyOf` are copied into its branches. A branch gets only the properties and required names
//! that it mentions itself, at any depth. All others are equal in every branch, and copying them into each branch would
//! take quadratic time.

use alloc::{format, string::String, vec::Vec};

use super::any_of;
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    dialect::grammar::{Grammar, OpenRule},
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, Data, LookUp, Member, Node, Object, Text},
    options::{Hints, Use},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        wrap_root::declares_object,
    },
    schema::{
        emptiness::{admits_object, is_never},
        join::{self, Common, Parts},
        keyword::{is_annotation, Draft, Keyword, Keywords},
        references::Form,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const OBJECT: ChangeKind = ChangeKind::of(Rule::DeclareObject);
const PROPERTIES: ChangeKind = ChangeKind::of(Rule::AddProperties);
const UNWRAP_SINGLE: ChangeKind = ChangeKind::of(Rule::FlattenRootUnion);
const FLATTEN: ChangeKind = ChangeKind::of(Rule::FlattenRootUnion);

/// Maximum length, in bytes, of a root union that is kept as a double `not` in addition to the merged object.
const LONGEST_CONDITION: usize = 20_000;

pub(crate) fn refuse_no_object(root: &Node<'_>, form: Form, grammar: &Grammar, budget: &Budget) -> Result<(), Error> {
    if !grammar.object_root {
        return Ok(());
    }
    let refused = |found: String| {
        let message = format!("expected a root that accepts an object, found {found}");
        Err(Error::new(Code::NotRepresentable, "", message))
    };
    match root.data() {
        Data::Bool(true) => Ok(()),
        Data::Bool(false) => refused("`false`, which accepts nothing".into()),
        Data::Object(_) if admits_object(root, form, Draft::of(root), budget) => Ok(()),
        Data::Object(_) => match root.get(Keyword::Type).map(Node::data) {
            Some(Data::String(name)) if !name.is("object") => refused(format!("`type: \"{}\"`", name.display())),
            Some(Data::Array(names)) if !names.iter().any(|name| name.is_text("object")) => {
                refused("a `type` without \"object\"".into())
            }
            _ => refused("one that accepts no object".into()),
        },
        _ => Err(Error::new(
            Code::InvalidSchema,
            "",
            format!("expected a schema (an object or a boolean), found {}", root.kind()),
        )),
    }
}

/// Declares the root's type and properties. Arguments are always objects; a response need not be an object.
pub(crate) fn declare_object(root: &mut Node<'_>, context: &mut PassContext) {
    if root.as_bool() == Some(true) {
        root.replace(Data::Object(Object::new()));
    }
    if !root.get(Keyword::Type).is_some_and(|value| value.is_text("object")) {
        let (from, to) = (Location::of(root), Location::under(root, "type"));
        // The root of a response format, or a root to which references point, may also accept other values. From now on
        // it accepts only objects. (Every MCP version whose clients require `type` defines tool results as objects.)
        // Types that were inferred in branches assume an object root, so they prove nothing.
        let declared_object = || context.declared_object.unwrap_or_else(|| declares_object(root));
        let may_be_more = || context.used_as == Use::Response && !declared_object();
        let narrows = may_be_more() || refers_to_root(root, &context.budget);
        let effect = if narrows { OBJECT.accepts(Accepts::Narrower) } else { OBJECT };
        let why = match context.used_as {
            Use::Tool => "arguments are always an object",
            Use::Response | Use::Output => "the API accepts nothing else at the root",
        };
        context
            .diagnostics
            .report(Polarity::Positive, from.to(to), effect, || format!("added `type: \"object\"`: {why}"));
        if let Some(object) = root.as_object_mut() {
            object.set_at(0, Text::literal("type"), Node::literal("object"));
        }
    }
    if root.get(Keyword::Properties).is_none() {
        let (from, to) = (Location::of(root), Location::under(root, "properties"));
        context
            .diagnostics
            .report(Polarity::Positive, from.to(to), PROPERTIES, || String::from("added `properties: {}`"));
        if let Some(object) = root.as_object_mut() {
            let index = object.position(Keyword::Type).map_or(0, |at| at + 1);
            object.insert_at(index, Text::literal("properties"), Node::empty_object());
        }
    }
}

fn refers_to_root(root: &Node<'_>, budget: &Budget) -> bool {
    let mut refers = false;
    // If the budget is spent, later walks report it.
    let _ = visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
        refers = refers || node.get(Keyword::Ref).is_some_and(|reference| reference.is_text("#"));
        Ok(if refers { Visit::Skip } else { Visit::Descend })
    });
    refers
}

pub(crate) fn root<'a>(node: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    if !context.grammar.object_root {
        return Ok(());
    }
    if is_never(node) {
        return Err(Error::new(
            Code::NotRepresentable,
            "",
            "expected a schema that accepts an object, found one that accepts nothing",
        ));
    }
    // If the root must be closed, branches of a union could not add properties to it.
    let closes = context.grammar.objects.open == OpenRule::MustClose;
    let is_refused = node.get(Keyword::AnyOf).is_some_and(|union| {
        context.grammar.refuses_at_root(Keyword::AnyOf, union) || context.grammar.any_of.no_type_beside || closes
    });
    if is_refused {
        let condition = union_as_condition(node, context.grammar, &context.budget)?;
        merge_root_union(node, context, condition.is_some())?;
        if let Some(condition) = condition {
            add_condition(node, condition);
        }
    }
    Ok(())
}

fn may_be_object(schema: &Node<'_>) -> bool {
    schema.get(Keyword::Type).is_none_or(|types| {
        types.is_text("object") || types.as_array().is_some_and(|names| names.iter().any(|name| name.is_text("object")))
    })
}

/// Returns the root's union as a condition, or `None` if the grammar cannot express it as a double `not`.
fn union_as_condition<'a>(root: &Node<'a>, grammar: &Grammar, budget: &Budget) -> Result<Option<Node<'a>>, Error> {
    let refuses_not = grammar.refuses.contains(Keyword::Not)
        || grammar.root_refuses.contains(Keyword::Not)
        || grammar.opaque.contains(Keyword::Not);
    let Some(union) = root.get(Keyword::AnyOf).filter(|_| !refuses_not) else { return Ok(None) };
    let of_objects = union.as_array().unwrap_or_default().iter().filter(|branch| may_be_object(branch));
    if of_objects.take(2).count() < 2 || json::plain_length(union) > LONGEST_CONDITION {
        return Ok(None);
    }
    let mut union = union.copy(budget);
    if let Some(branches) = union.as_array_mut() {
        branches.retain(may_be_object);
    }
    union.visit_children(|_, branch| visit::walk_mut(budget, branch, Keywords::ALL, &mut DropAnnotations))?;
    Ok(Some(Node::record([("anyOf", union)])))
}

struct DropAnnotations;

impl<'a> VisitorMut<'a> for DropAnnotations {
    fn enter(&mut self, node: &mut Node<'a>, _: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if node.as_object().is_some_and(|object| object.iter().any(is_annotation)) {
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| !is_annotation(member));
            }
        }
        Ok(Visit::Descend)
    }
}

/// Adds `not: {not: condition}`, which is equivalent to the condition.
fn add_condition<'a>(root: &mut Node<'a>, condition: Node<'a>) {
    let Some(object) = root.as_object_mut() else { return };
    let untrue = Node::record([("not", condition)]);
    let untrue = match object.remove(Keyword::Not) {
        Some(existing) => Node::record([("anyOf", Node::array(Vec::from([existing, untrue])))]),
        None => untrue,
    };
    object.set(Text::literal("not"), untrue);
}

pub(crate) fn merge_root_union(node: &mut Node<'_>, context: &mut PassContext, exact: bool) -> Result<(), Error> {
    if merge_branches(node, context, exact) {
        return Ok(());
    }
    Err(Error::new(
        Code::NotRepresentable,
        "",
        "expected a root `anyOf` with a branch that accepts an object, found none",
    ))
}

/// Merges the branches of the root's union into one object. Returns false if no branch accepts an object.
fn merge_branches<'a>(node: &mut Node<'a>, context: &mut PassContext, exact: bool) -> bool {
    let location = Location::under(node, "anyOf");
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return true };
    let Some(Data::Array(branches)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { return true };
    let mut bundle = Object::new();
    let mut remaining: Vec<Member<'a>> = Vec::new();
    for member in core::mem::take(object).into_members() {
        if is_annotation(&member) || member.key.is(Keyword::Defs) {
            remaining.push(member);
        } else {
            bundle.set(member.key, member.value);
        }
    }
    let bundle = Node::object(bundle).with_origin(origin);
    let bundle_index = BundleIndex::of(&bundle);
    let mut objects: Vec<Object<'a>> = Vec::new();
    let mut is_partial: Vec<bool> = Vec::new();
    for branch in branches {
        let part = bundle_index.as_ref().and_then(|bundle_index| bundle_index.part_for(&branch, &context.budget));
        let is_part = part.is_some();
        let part = part.map(|part| part.with_origin(origin));
        let all = part.as_ref().unwrap_or(&bundle);
        let Ok(mut merged) = any_of::into_branch(all, branch, Polarity::Positive, context) else { continue };
        // A branch that is a union itself is merged first.
        if merged.get(Keyword::AnyOf).is_some() && !merge_branches(&mut merged, context, exact) {
            continue;
        }
        if let Data::Object(object) = merged.into_data() {
            objects.push(object);
            is_partial.push(is_part);
        }
    }
    let parts =
        bundle_index.as_ref().map(|bundle_index| Parts { common: bundle_index.common(), is_partial: &is_partial });
    if objects.is_empty() {
        return false;
    }
    let is_single = objects.len() == 1;
    let conditions = discriminators(&objects, parts, &context.budget);
    let is_described = !is_single
        && !exact
        && context.hints == Hints::Describe
        && context.grammar.describes_root
        && conditions.as_array().is_some_and(|list| !list.is_empty());
    let guidance = match (exact, is_described) {
        (true, _) => Guidance::Same,
        (false, true) => Guidance::Moved,
        (false, false) => Guidance::Lost,
    };
    let accepts = match (exact, join::may_narrow(&objects, parts)) {
        (true, false) => Accepts::Same,
        (true, true) => Accepts::Narrower,
        (false, true) => Accepts::Mixed,
        (false, false) => Accepts::Wider,
    };
    let effect = if is_single { UNWRAP_SINGLE } else { FLATTEN.accepts(accepts).guidance(guidance) };
    context.diagnostics.report(Polarity::Positive, location.to(Location::of(&bundle)), effect, || {
        format!("merged the {} branches of the root's `anyOf` into one object", objects.len())
    });
    context.diagnostics.join_names(&objects, parts, origin);
    let mut members = join::merge_objects(objects, parts, &context.budget);
    // Siblings of the union apply whatever the branches contain.
    if let Data::Object(bundle) = bundle.into_data() {
        let is_joined = |key: &Text<'_>| key.is(Keyword::Properties) || key.is(Keyword::Required);
        let is_lost =
            |member: &Member<'a>| !is_joined(&member.key) && !members.iter().any(|existing| existing.key == member.key);
        let lost: Vec<Member<'a>> = bundle.into_members().into_iter().filter(is_lost).collect();
        members.extend(lost);
    }
    for member in remaining {
        if member.key.is(Keyword::Defs) {
            members.push(member);
        } else {
            let index = members.iter().position(|existing| existing.key == member.key);
            match index.and_then(|index| members.get_mut(index)) {
                Some(existing) => existing.value = member.value,
                None => members.push(member),
            }
        }
    }
    if !members.iter().any(|member| member.key.is(Keyword::Type)) {
        members.insert(0, Member { key: Text::literal("type"), value: Node::literal("object") });
    }
    node.replace(Data::Object(Object::from_members(members)));
    if is_described {
        description::append(node, &[("anyOf", &conditions)]);
    }
    true
}

/// If there are at most this many properties and required names, every branch gets all of them.
const MAX_COPIED: usize = 16;

/// A branch with one of these keywords gets the whole bundle: they constrain properties without naming them, compare
/// whole objects, or refer to another schema.
const NEEDS_WHOLE: Keywords = Keywords::of(&[
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
    Keyword::UnevaluatedProperties,
    Keyword::PropertyNames,
    Keyword::Enum,
    Keyword::Const,
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Ref,
    Keyword::DynamicRef,
    Keyword::RecursiveRef,
    Keyword::Id,
]);

/// Keywords that constrain properties which `properties` does not list.
const CONSTRAINS_UNDECLARED: Keywords =
    Keywords::of(&[Keyword::PatternProperties, Keyword::UnevaluatedProperties, Keyword::AnyOf, Keyword::Ref]);

/// The siblings of a union (its bundle), if their properties need not go into every branch.
struct BundleIndex<'b, 'a> {
    bundle: &'b Object<'a>,
    common: Common<'b, 'a>,
    properties: Map<&'b Text<'a>, usize>,
    required: Map<&'b Text<'a>, usize>,
    /// Names that may be both required and forbidden.
    contradictory: Vec<&'b Text<'a>>,
}

impl<'b, 'a> BundleIndex<'b, 'a> {
    /// Returns `None` if every branch must get the whole bundle.
    pub(super) fn of(bundle: &'b Node<'a>) -> Option<Self> {
        let bundle = bundle.as_object()?;
        let constrains_undeclared = |member: &Member<'_>| {
            Keyword::named(&member.key).is_some_and(|keyword| CONSTRAINS_UNDECLARED.contains(keyword))
                || member.key.is(Keyword::AdditionalProperties) && member.value.as_bool().is_none()
        };
        if bundle.iter().any(constrains_undeclared) {
            return None;
        }
        let properties = bundle.get(Keyword::Properties)?.as_object()?;
        let required = bundle.get(Keyword::Required).map_or(Some(&[][..]), Node::as_array)?;
        if properties.len() + required.len() <= MAX_COPIED || required.iter().any(|name| name.as_text().is_none()) {
            return None;
        }
        let names = required.iter().enumerate().filter_map(|(at, name)| Some((name.as_text()?, at)));
        let names: Map<&Text<'a>, usize> = names.collect();
        // An index by name needs distinct names.
        if names.len() < required.len() {
            return None;
        }
        let index = properties.index();
        let is_closed = bundle.get(Keyword::AdditionalProperties).is_some();
        let may_contradict = |name: &&&Text<'a>| match index.get(**name).and_then(|at| properties.members().get(*at)) {
            Some(member) => member.value.as_bool() == Some(false) || member.value.get(Keyword::Not).is_some(),
            None => is_closed,
        };
        let contradictory: Vec<&Text<'a>> = names.keys().filter(may_contradict).copied().collect();
        if contradictory.len() > MAX_COPIED {
            return None;
        }
        let origin = bundle.get(Keyword::Required).map(Node::origin);
        let common = Common { properties, index: LookUp::of(properties), required, origin };
        Some(BundleIndex { bundle, common, properties: index, required: names, contradictory })
    }

    /// The names and properties that all branches with only a part of the bundle have in common.
    pub(super) const fn common(&self) -> &Common<'b, 'a> {
        &self.common
    }

    /// Returns `None` if the branch must get the whole bundle.
    fn part_for(&self, branch: &Node<'a>, budget: &Budget) -> Option<Node<'a>> {
        let branch = branch.as_object()?;
        let needs_whole =
            |member: &Member<'_>| Keyword::named(&member.key).is_some_and(|keyword| NEEDS_WHOLE.contains(keyword));
        if branch.iter().any(needs_whole) {
            return None;
        }
        if branch.get(Keyword::Properties).is_some_and(|table| table.as_object().is_none()) {
            return None;
        }
        let names = branch.get(Keyword::Required).map_or(Some(&[][..]), Node::as_array)?;
        // If `required` of the branch is at least as long as `required` of the bundle, the two could be confused.
        let is_as_long = !self.required.is_empty() && names.len() >= self.required.len();
        if is_as_long || names.iter().any(|name| name.as_text().is_none()) {
            return None;
        }
        let table = branch.object_at(Keyword::Properties);
        let mentioned =
            table.into_iter().flatten().map(|member| &member.key).chain(names.iter().filter_map(Node::as_text));
        let mut mentioned: Vec<&Text<'a>> = mentioned.chain(self.contradictory.iter().copied()).collect();
        let is_other = |member: &&Member<'a>| {
            !is_annotation(member) && !member.key.is(Keyword::Properties) && !member.key.is(Keyword::Required)
        };
        let others = branch.iter().filter(is_other).map(|member| &member.value);
        others.for_each(|value| collect_strings(value, &mut mentioned));
        if !budget.pay(1 + mentioned.len()) {
            return None;
        }
        let indices = |known: &Map<&'b Text<'a>, usize>| {
            let mut indices: Set<usize> = mentioned.iter().filter_map(|name| known.get(name).copied()).collect();
            // Adds an entry that the branch does not mention. Otherwise a part could equal the table of the branch, and
            // be mistaken for it.
            indices.extend((0..known.len()).find(|index| !indices.contains(index)));
            collections::sorted_by(indices.into_iter().collect::<Vec<_>>(), usize::cmp)
        };
        let mut part = Object::new();
        for member in self.bundle {
            let value = if member.key.is(Keyword::Properties) {
                let members =
                    indices(&self.properties).into_iter().filter_map(|at| self.common.properties.members().get(at));
                Node::object(Object::from_unique(members.map(|member| member.copy(budget)).collect()))
                    .with_origin(member.value.origin())
            } else if member.key.is(Keyword::Required) {
                let names = indices(&self.required).into_iter().filter_map(|at| self.common.required.get(at));
                Node::array(names.map(|name| name.copy(budget)).collect()).with_origin(member.value.origin())
            } else {
                member.value.copy(budget)
            };
            part.members_mut().push(Member { key: member.key.clone(), value });
        }
        Some(Node::object(part))
    }
}

fn collect_strings<'n, 'a>(value: &'n Node<'a>, strings: &mut Vec<&'n Text<'a>>) {
    let mut pending = Vec::from([value]);
    while let Some(node) = pending.pop() {
        match node.data() {
            Data::String(text) => strings.push(text),
            Data::Array(items) => pending.extend(items),
            Data::Object(object) => {
                strings.extend(object.iter().map(|member| &member.key));
                pending.extend(object.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
}

/// Describes each branch by the names that it requires in addition to the common names, and by a distinguishing
/// constant, if each branch has one. Returns an empty list if there is no such constant and a branch requires no other
/// names, because the description would then be false.
fn discriminators<'a>(objects: &[Object<'a>], parts: Option<Parts<'_, '_, 'a>>, budget: &Budget) -> Node<'a> {
    let lists: Vec<Vec<Node<'a>>> =
        objects.iter().map(|object| json::copies(object.items_at(Keyword::Required), budget)).collect();
    // Names that the common part requires are required in every branch, because the other branches got the whole
    // bundle.
    let common = parts.filter(|parts| parts.is_partial.contains(&true)).map(|parts| parts.common);
    let common_names: Set<&Text<'a>> =
        common.into_iter().flat_map(|common| common.required).filter_map(Node::as_text).collect();
    let mut counts: Map<&Text<'a>, usize> = Map::new();
    for list in &lists {
        for name in list.iter().filter_map(Node::as_text).collect::<Set<_>>() {
            *counts.entry(name).or_default() += 1;
        }
    }
    let is_required_everywhere = |name: &Node<'a>| {
        name.as_text().is_some_and(|name| common_names.contains(&name) || counts.get(&name) == Some(&lists.len()))
    };
    let distinct_names = lists.iter().map(|list| {
        list.iter().filter(|name| !is_required_everywhere(name)).map(|name| name.copy(budget)).collect::<Vec<_>>()
    });
    let distinct_names: Vec<Vec<Node<'a>>> = distinct_names.collect();
    if distinct_names.iter().all(Vec::is_empty) {
        return Node::array(Vec::new());
    }
    // At most one object may lack a property that distinguishes them.
    let mut branches_with_property: Map<&Text<'a>, usize> = Map::new();
    let tables: Vec<Option<LookUp<'_, 'a>>> =
        objects.iter().map(|object| object.object_at(Keyword::Properties).map(LookUp::of)).collect();
    for object in objects {
        for member in object.object_at(Keyword::Properties).into_iter().flatten() {
            *branches_with_property.entry(&member.key).or_default() += 1;
        }
    }
    let is_nearly_everywhere =
        |name: &&Text<'a>| branches_with_property.get(name).copied().unwrap_or_default() + 1 >= objects.len();
    let bundle_index = common.map(|common| LookUp::of(common.properties));
    let is_part = |at: usize| parts.is_some_and(|parts| parts.is_partial.get(at) == Some(&true));
    let common_of_first = common.filter(|_| is_part(0)).map(|common| common.required).unwrap_or_default();
    let required_of_first = lists.first().into_iter().flatten();
    let is_new = |name: &&Node<'a>| {
        common_of_first.is_empty() || !name.as_text().is_some_and(|name| common_names.contains(&name))
    };
    let shared_names =
        common_of_first.iter().chain(required_of_first.filter(is_new)).filter(|name| is_required_everywhere(name));
    let shared_names = shared_names.filter_map(Node::as_text).filter(is_nearly_everywhere);
    let constants_of = |name: &Text<'a>| {
        let property = |(at, table): (usize, &Option<LookUp<'_, 'a>>)| {
            let distinct_names = table.as_ref().and_then(|table| table.get(name));
            constant(distinct_names.or_else(|| bundle_index.as_ref().filter(|_| is_part(at))?.get(name))?, name, budget)
        };
        tables.iter().enumerate().map(property).collect::<Option<Vec<_>>>()
    };
    let mut candidates = shared_names.filter_map(constants_of);
    let constants =
        candidates.find(|constants| constants.iter().map(json::canonical).collect::<Set<_>>().len() == objects.len());
    if constants.is_none() && distinct_names.iter().any(Vec::is_empty) {
        return Node::array(Vec::new());
    }
    let mut constants = constants.map(Vec::into_iter);
    let descriptions = distinct_names.into_iter().map(|distinct_names| {
        let constant = constants.as_mut().and_then(Iterator::next);
        let mut members: Vec<Member<'a>> =
            constant.map(|value| Member { key: Text::literal("properties"), value }).into_iter().collect();
        if !distinct_names.is_empty() {
            members.push(Member { key: Text::literal("required"), value: Node::array(distinct_names) });
        }
        Node::object(Object::from_members(members))
    });
    Node::array(descriptions.collect())
}

fn constant<'a>(property: &Node<'a>, name: &Text<'a>, budget: &Budget) -> Option<Node<'a>> {
    let (keyword, values) =
        ["const", "enum"].into_iter().find_map(|keyword| Some((keyword, property.get(keyword)?)))?;
    let mut table = Object::new();
    table.set(name.clone(), Node::record([(keyword, values.copy(budget))]));
    Some(Node::object(table))
}
