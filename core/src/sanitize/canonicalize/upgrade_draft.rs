//! Respells older drafts and OpenAPI in terms of draft 2020-12, so that each meaning has one spelling.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    dialect::grammar::{Null, OpenRule},
    effect::{Accepts, Guidance},
    error::Error,
    json::{self, Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Draft, Keyword, Keywords, Role},
        uri::is_anchor,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const IDENTIFIER: ChangeKind = ChangeKind::of(Rule::DropIdentifier);
const BOUND: ChangeKind = ChangeKind::of(Rule::UpgradeExclusiveBound);
const TUPLE: ChangeKind = ChangeKind::of(Rule::TupleToPrefixItems);
const SECOND_TUPLE: ChangeKind = ChangeKind::of(Rule::RepairKeyword).accepts(Accepts::Wider).guidance(Guidance::Lost);
const DEPENDENCIES: ChangeKind = ChangeKind::of(Rule::SplitDependencies);
const NULLABLE: ChangeKind = ChangeKind::of(Rule::NullableToNull);
const CONST: ChangeKind = ChangeKind::of(Rule::ConstToEnum);
const DIALECT: ChangeKind = ChangeKind::of(Rule::UpdateSchemaUri);

const CURRENT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords with more than one spelling, except `items` with a list.
pub(crate) const RESPELLED_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Id,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::RecursiveAnchor,
    Keyword::ExclusiveMinimum,
    Keyword::ExclusiveMaximum,
    Keyword::Dependencies,
    Keyword::Const,
    Keyword::Nullable,
]);

pub(crate) fn respell<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if node.as_object().is_none_or(Object::is_empty) {
        return;
    }
    drop_identifier(node, path, context);
    if context.grammar.metaschema {
        drop_invalid_anchors(node, path, context);
    }
    upgrade_bound(node, path, context, "exclusiveMinimum", "minimum");
    upgrade_bound(node, path, context, "exclusiveMaximum", "maximum");
    upgrade_tuple(node, path, context);
    split_dependencies(node, path, context);
    context.effects.upgraded |= !node.is_unchanged();
    const_to_enum(node, path, context);
    replace_nullable(node, path, context);
}

/// Updates `$schema` if the rewritten schema no longer follows the declared draft. Without `$schema`, a schema is read
/// as draft 2020-12.
pub(crate) fn declare_draft(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let draft = Draft::of(root);
    if context.draft != Draft::Y2020 && root.get(Keyword::Schema).is_none() {
        return respell_tuples(root, context);
    }
    if draft == Draft::Y2020
        || !(context.effects.respelled || (draft.ignores_ref_siblings() && has_assertions_next_to_ref(root, context)?))
    {
        return Ok(());
    }
    let location = Location::under(root, "$schema");
    context.diagnostics.report(Polarity::Positive, location.in_place(), DIALECT, || {
        format!("replaced `$schema` with `{CURRENT}`, the draft that all keywords now follow")
    });
    if let Some(object) = root.as_object_mut() {
        object.set(Text::literal("$schema"), Node::string(CURRENT));
    }
    respell_tuples(root, context)
}

/// Respells lists of schemas in `items`, which only old drafts have.
fn respell_tuples(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if !may_have_tuples(root) {
        return Ok(());
    }
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut TupleRespeller { context })
}

/// Returns true if a member `items` is a list, even if it is not a keyword. This is faster than a walk.
fn may_have_tuples(root: &Node<'_>) -> bool {
    root.has_member(|Member { key, value }| value.as_array().is_some() && key.is(Keyword::Items))
}

/// Respells the tuples that were kept while `$schema` declared an old draft.
struct TupleRespeller<'r> {
    context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for TupleRespeller<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        to_prefix_items(node, path, self.context);
        Ok(Visit::Descend)
    }
}

/// Returns true if a reference has sibling assertions, which old drafts ignore.
fn has_assertions_next_to_ref(root: &Node<'_>, context: &PassContext) -> Result<bool, Error> {
    if !context.survey.mentions_references {
        return Ok(false);
    }
    let is_sibling_assertion = |member: &Member<'_>| {
        !member.key.is(Keyword::Ref)
            && Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Assertion)
    };
    let mut is_found = false;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, _| {
        let object = node.as_object().filter(|object| object.has(Keyword::Ref));
        is_found |= object.is_some_and(|object| object.iter().any(is_sibling_assertion));
        Ok(if is_found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_found)
}

/// Removes `$id` below the root if encoding may add definitions to the root: references below a nested `$id` would not
/// resolve to them.
fn drop_identifier<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let writes_definitions = context.grammar.objects.open == OpenRule::MustClose && context.survey.no_references;
    let Some(value) = node.get(Keyword::Id).filter(|_| writes_definitions && path.keyword.is_some()) else { return };
    context.diagnostics.report(path, Location::of(value).removed(), IDENTIFIER, || {
        String::from("removed `$id`: nothing refers to it")
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::Id);
    }
}

/// Removes anchors without a valid name, because nothing refers to them. In draft 2019-09, `$recursiveAnchor` is a
/// boolean.
fn drop_invalid_anchors<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    for keyword in [Keyword::Anchor, Keyword::DynamicAnchor, Keyword::RecursiveAnchor] {
        let Some(value) = node.get(keyword).filter(|value| !value.as_text().is_some_and(is_anchor)) else { continue };
        context.diagnostics.report(path, Location::of(value).removed(), IDENTIFIER, || {
            format!("removed `{}`: its value is not an anchor name", keyword.name())
        });
        if let Some(object) = node.as_object_mut() {
            object.remove(keyword);
        }
    }
}

/// Replaces the boolean `exclusiveMinimum` of draft 4, which modifies `minimum`, with a number.
fn upgrade_bound<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
    exclusive: &'static str,
    inclusive: &'static str,
) {
    let Some(value) = node.get(exclusive) else { return };
    let Some(flag) = value.as_bool() else { return };
    let location = Location::of(value);
    let moves = flag && node.get(inclusive).is_some();
    let to = if moves { Location::under(node, exclusive) } else { Location::Nowhere };
    context.diagnostics.report(path, location.to(to), BOUND, || {
        format!("replaced `{exclusive}: {flag}` with a number, as in drafts after 4")
    });
    context.effects.respelled = true;
    let Some(object) = node.as_object_mut() else { return };
    object.remove(exclusive);
    if moves {
        if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is(inclusive)) {
            member.key = Text::literal(exclusive);
        }
    }
}

/// Replaces tuples of drafts before 2020-12: `items: […]`, with `additionalItems` for the remaining items.
fn upgrade_tuple<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    // No metaschema accepts an empty tuple.
    let is_empty = context.grammar.metaschema && node.array_at(Keyword::Items).is_some_and(<[_]>::is_empty);
    // If the grammar refuses `$schema`, the result cannot declare a draft that allows a list in `items`.
    if is_empty || !context.grammar.array_items || context.grammar.refuses.contains(Keyword::Schema) {
        to_prefix_items(node, path, context);
    }
}

fn to_prefix_items<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(items) = node.get(Keyword::Items).filter(|items| items.as_array().is_some()) else { return };
    let location = Location::of(items);
    if node.get(Keyword::PrefixItems).is_some() {
        // With two tuples, `prefixItems` applies. The meaning of the list in `items` is unknown.
        context.diagnostics.report(path, location.removed(), SECOND_TUPLE, || {
            String::from("removed a list of schemas from `items`: it has no meaning next to `prefixItems`")
        });
    } else {
        context.diagnostics.report(path, location.in_place(), TUPLE, || {
            String::from("moved a list of schemas from `items` to `prefixItems`")
        });
    }
    context.effects.respelled = true;
    let Some(object) = node.as_object_mut() else { return };
    let additional_items = object.remove(Keyword::AdditionalItems);
    let is_empty = object.array_at(Keyword::Items).is_some_and(<[_]>::is_empty);
    let has_prefix = object.has(Keyword::PrefixItems);
    let Some(at) = object.position(Keyword::Items) else { return };
    if is_empty || has_prefix {
        object.remove(Keyword::Items);
    } else if let Some(member) = object.members_mut().get_mut(at) {
        member.key = Text::literal("prefixItems");
    }
    if let Some(additional_items) = additional_items {
        object.insert_at(at + 1, Text::literal("items"), additional_items);
    }
}

/// Splits `dependencies`, which contained lists of names and schemas before 2019-09.
fn split_dependencies<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(table) = node.get(Keyword::Dependencies) else { return };
    let location = Location::of(table);
    context.diagnostics.report(path, location.in_place(), DEPENDENCIES, || {
        String::from("split `dependencies` into `dependentRequired` and `dependentSchemas`")
    });
    context.effects.respelled = true;
    let Some(object) = node.as_object_mut() else { return };
    let Some(at) = object.position(Keyword::Dependencies) else { return };
    let Some(table) = object.remove(Keyword::Dependencies) else { return };
    let origin = table.origin();
    let Data::Object(table) = table.into_data() else { return };
    let (mut names, mut schemas): (Vec<Member<'a>>, Vec<Member<'a>>) = (Vec::new(), Vec::new());
    for member in context.budget.each(table.into_members()) {
        match member.value.data() {
            Data::Array(_) => names.push(member),
            Data::String(_) => {
                let Member { key, value } = member;
                names.push(Member { key, value: Node::array(vec![value]) });
            }
            _ => schemas.push(member),
        }
    }
    for (keyword, members) in [("dependentSchemas", schemas), ("dependentRequired", names)] {
        if !members.is_empty() && !object.has(keyword) {
            object.insert_at(
                at,
                Text::literal(keyword),
                Node::object(Object::from_unique(members)).with_origin(origin),
            );
        }
    }
}

fn const_to_enum<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(value) = node.get(Keyword::Const) else { return };
    // If `enum` needs a type, `const` needs a type, too. As an `enum`, it gets the type from the `enum` pass.
    let lacks_type = context.grammar.typed.needs_type_beside(Keyword::Const, node) && node.get(Keyword::Type).is_none();
    // If values may be encoded as text, `const` next to `enum` becomes an `enum`, so that one pass handles both.
    let has_enum = context.grammar.encodes() && node.get(Keyword::Enum).is_some();
    if !context.grammar.refuses.contains(Keyword::Const)
        && !context.grammar.enums.needs_type
        && !lacks_type
        && !has_enum
    {
        return;
    }
    let location = Location::of(value);
    let is_in_enum = node
        .array_at(Keyword::Enum)
        .is_none_or(|items| items.iter().any(|item| json::same_within(&context.budget, item, value)));
    context.diagnostics.report(path, location.to(Location::under(node, "enum")), CONST, || {
        String::from("replaced `const` with an `enum` of one value")
    });
    if !is_in_enum {
        // The constant is not in `enum`, so no value satisfies both.
        context.effects.upgraded = true;
        node.replace(Node::record([("not", Node::empty_object())]).into_data());
        return;
    }
    let Some(object) = node.as_object_mut() else { return };
    object.remove(Keyword::Enum);
    if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const)) {
        let value = core::mem::take(&mut member.value);
        let origin = value.origin();
        *member = Member { key: Text::literal("enum"), value: Node::array(vec![value]).with_origin(origin) };
    }
}

/// Replaces OpenAPI's `nullable: true`, which accepts null in addition to the values of the other keywords.
fn replace_nullable<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(flag) = node.get(Keyword::Nullable) else { return };
    // If the grammar expresses null by `nullable`, the keyword stays next to `type`; without `type`, merging schemas
    // would lose it.
    if context.grammar.null == Null::Nullable && node.get(Keyword::Type).is_some() {
        return;
    }
    context.effects.upgraded = true;
    let (location, is_true) = (Location::of(flag), flag.as_bool() == Some(true));
    let to = if is_true { Location::of(node) } else { Location::Nowhere };
    context.diagnostics.report(path, location.to(to), NULLABLE, || {
        format!("replaced `nullable: {is_true}` with JSON Schema keywords")
    });
    let Some(object) = node.as_object_mut() else { return };
    object.remove(Keyword::Nullable);
    if !is_true {
        return;
    }
    let null = || Node::literal("null");
    // Keywords that apply to values of every type, or to a union as a whole, refuse null whatever `type` allows, so
    // null becomes a separate branch.
    let has_union = object.has(Keyword::AnyOf);
    let can_add_null = |member: &Member<'_>| match Keyword::named(&member.key) {
        Some(Keyword::Type | Keyword::Enum) => !has_union,
        Some(Keyword::AnyOf) => true,
        Some(keyword) => keyword.role() != Role::Assertion || keyword.applies_to().is_some(),
        None => true,
    };
    if !object.iter().all(can_add_null) {
        // Arguments are objects, so their root does not accept null.
        if path.keyword.is_some() || !context.grammar.object_root {
            union_with_null(node);
        }
        return;
    }
    let is_null_branch = |branch: &Node<'_>| branch.get(Keyword::Type).is_some_and(|name| name.is_text("null"));
    if let Some(items) = object
        .get_mut(Keyword::Enum)
        .filter(|list| !list.as_array().is_some_and(|items| items.iter().any(Node::is_null)))
    {
        if let Some(items) = items.as_array_mut() {
            items.insert(0, Node::new(Data::Null));
        }
    }
    if let Some(types) = object.get_mut(Keyword::Type) {
        let single = types.as_text().cloned();
        match (single, types.as_array_mut()) {
            (Some(name), _) if !name.is("null") => types.replace(Data::Array(vec![Node::string(name), null()])),
            (_, Some(names)) if !names.iter().any(|name| name.is_text("null")) => names.push(null()),
            _ => {}
        }
    } else if let Some(branches) = object.get_mut(Keyword::AnyOf).and_then(Node::as_array_mut) {
        if !branches.iter().any(is_null_branch) {
            branches.push(Node::record([("type", null())]));
        }
    }
}

fn union_with_null(node: &mut Node<'_>) {
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return };
    let moves_into_branch = |member: &Member<'_>| {
        Keyword::named(&member.key)
            .is_some_and(|keyword| keyword.role() == Role::Assertion || keyword.applies_to().is_some())
    };
    let (branch_members, siblings): (Vec<_>, Vec<_>) =
        core::mem::take(object).into_members().into_iter().partition(moves_into_branch);
    let inner = Node::object(Object::from_unique(branch_members)).with_origin(origin);
    let mut members = Object::from_unique(siblings);
    members.set(Text::literal("anyOf"), Node::array(vec![inner, Node::record([("type", Node::literal("null"))])]));
    node.replace(Data::Object(members));
}
