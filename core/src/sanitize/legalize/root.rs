//! Legalizes the root, which must be an object schema. A union at the root becomes one object with the properties of
//! all branches.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    dialect::grammar::{Grammar, OpenRule},
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Text},
    options::{Hints, Use},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        legalize::{any_of, beside::Beside, distinguishable::discriminators},
        wrap_root::declares_object,
    },
    schema::{
        emptiness::{admits_object, is_never},
        join::{self, Parts},
        keyword::{is_annotation, Draft, Keyword, Keywords},
        references::Form,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const OBJECT: ChangeKind = ChangeKind::of(Rule::DeclareObject);
const PROPERTIES: ChangeKind = ChangeKind::of(Rule::AddProperties);
const ONE: ChangeKind = ChangeKind::of(Rule::FlattenRootUnion);
const FLAT: ChangeKind = ChangeKind::of(Rule::FlattenRootUnion);

/// Maximum length, in bytes, of a root union that is kept as a double `not` in addition to the merged object.
const LONGEST_CONDITION: usize = 20_000;

/// Returns an error if the root accepts no object.
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

/// Adds `type: "object"` and `properties` to the root. Arguments are always objects; a response may not be.
pub(crate) fn declare_object(root: &mut Node<'_>, context: &mut PassContext) {
    if root.as_bool() == Some(true) {
        root.replace(Data::Object(Object::new()));
    }
    if !root.get(Keyword::Type).is_some_and(|value| value.is_text("object")) {
        let (from, to) = (Location::of(root), Location::under(root, "type"));
        // The root of a response format, or a schema that refers to the root, may also accept other values; from now on
        // it accepts only objects. (Every MCP version whose clients require `type` defines tool results as objects.)
        // Types that were inferred in branches assume an object root, so they prove nothing.
        let declares = || context.declared_object.unwrap_or_else(|| declares_object(root));
        let may_be_more = || context.used_as == Use::Response && !declares();
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
            let place = object.position(Keyword::Type).map_or(0, |place| place + 1);
            object.insert_at(place, Text::literal("properties"), Node::empty_object());
        }
    }
}

/// Returns true if any `$ref` is `#`.
fn refers_to_root(root: &Node<'_>, budget: &Budget) -> bool {
    let mut found = false;
    // If the budget is spent, later walks report it.
    let _ = visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
        found = found || node.get(Keyword::Ref).is_some_and(|reference| reference.is_text("#"));
        Ok(if found { Visit::Skip } else { Visit::Descend })
    });
    found
}

/// Flattens what remains of a union at the root.
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
    let refused = node.get(Keyword::AnyOf).is_some_and(|union| {
        context.grammar.refuses_at_root(Keyword::AnyOf, union) || context.grammar.any_of.no_type_beside || closes
    });
    if refused {
        let condition = condition(node, context.grammar, &context.budget)?;
        union(node, context, condition.is_some())?;
        if let Some(condition) = condition {
            require(node, condition);
        }
    }
    Ok(())
}

/// Returns false if the schema's `type` excludes objects.
fn may_be_object(schema: &Node<'_>) -> bool {
    schema.get(Keyword::Type).is_none_or(|types| {
        types.is_text("object") || types.as_array().is_some_and(|names| names.iter().any(|name| name.is_text("object")))
    })
}

/// Returns the root's union without annotations, or `None` if the grammar cannot express it as a double `not`.
fn condition<'a>(root: &Node<'a>, grammar: &Grammar, budget: &Budget) -> Result<Option<Node<'a>>, Error> {
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
    union.visit_children(|_, branch| visit::walk_mut(budget, branch, Keywords::ALL, &mut Bare))?;
    Ok(Some(Node::record([("anyOf", union)])))
}

/// Visitor that removes annotations.
struct Bare;

impl<'a> VisitorMut<'a> for Bare {
    fn enter(&mut self, node: &mut Node<'a>, _: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if node.as_object().is_some_and(|object| object.iter().any(is_annotation)) {
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| !is_annotation(member));
            }
        }
        Ok(Visit::Descend)
    }
}

/// Adds `not: {not: condition}`, which is equivalent to the condition. An existing `not` is combined with it by
/// `anyOf`.
fn require<'a>(root: &mut Node<'a>, condition: Node<'a>) {
    let Some(object) = root.as_object_mut() else { return };
    let untrue = Node::record([("not", condition)]);
    let untrue = match object.remove(Keyword::Not) {
        Some(existing) => Node::record([("anyOf", Node::array(Vec::from([existing, untrue])))]),
        None => untrue,
    };
    object.set(Text::literal("not"), untrue);
}

pub(crate) fn union(node: &mut Node<'_>, context: &mut PassContext, exact: bool) -> Result<(), Error> {
    if one_object_of(node, context, exact) {
        return Ok(());
    }
    Err(Error::new(
        Code::NotRepresentable,
        "",
        "expected a root `anyOf` with a branch that accepts an object, found none",
    ))
}

/// Merges the branches of a union into one object. Returns false if no branch accepts an object; the schema is then
/// unusable.
fn one_object_of<'a>(node: &mut Node<'a>, context: &mut PassContext, exact: bool) -> bool {
    let location = Location::under(node, "anyOf");
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return true };
    let Some(Data::Array(branches)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { return true };
    let mut bundle = Object::new();
    let mut rest: Vec<Member<'a>> = Vec::new();
    for member in core::mem::take(object).into_members() {
        if is_annotation(&member) || member.key.is(Keyword::Defs) {
            rest.push(member);
        } else {
            bundle.set(member.key, member.value);
        }
    }
    let bundle = Node::object(bundle).with_origin(origin);
    let beside = Beside::of(&bundle);
    let mut objects: Vec<Object<'a>> = Vec::new();
    let mut which: Vec<bool> = Vec::new();
    for branch in branches {
        let part = beside.as_ref().and_then(|beside| beside.part_for(&branch, &context.budget));
        let is_part = part.is_some();
        let part = part.map(|part| part.with_origin(origin));
        let all = part.as_ref().unwrap_or(&bundle);
        let Ok(mut merged) = any_of::into_branch(all, branch, Polarity::Positive, context) else { continue };
        // A branch that is a union itself is merged first.
        if merged.get(Keyword::AnyOf).is_some() && !one_object_of(&mut merged, context, exact) {
            continue;
        }
        if let Data::Object(object) = merged.into_data() {
            objects.push(object);
            which.push(is_part);
        }
    }
    let parts = beside.as_ref().map(|beside| Parts { common: beside.common(), which: &which });
    if objects.is_empty() {
        return false;
    }
    let single = objects.len() == 1;
    let conditions = discriminators(&objects, parts, &context.budget);
    let described = !single
        && !exact
        && context.hints == Hints::Describe
        && context.grammar.describes_root
        && conditions.as_array().is_some_and(|list| !list.is_empty());
    let guidance = match (exact, described) {
        (true, _) => Guidance::Same,
        (false, true) => Guidance::Moved,
        (false, false) => Guidance::Lost,
    };
    let accepts = match (exact, join::narrows(&objects, parts)) {
        (true, false) => Accepts::Same,
        (true, true) => Accepts::Narrower,
        (false, true) => Accepts::Mixed,
        (false, false) => Accepts::Wider,
    };
    let effect = if single { ONE } else { FLAT.accepts(accepts).guidance(guidance) };
    context.diagnostics.report(Polarity::Positive, location.to(Location::of(&bundle)), effect, || {
        format!("merged the {} branches of the root's `anyOf` into one object", objects.len())
    });
    context.diagnostics.join_names(&objects, parts, origin);
    let mut members = join::flat(objects, parts, &context.budget);
    // Siblings of the union apply whatever the branches contain.
    if let Data::Object(bundle) = bundle.into_data() {
        let is_joined = |key: &Text<'_>| key.is(Keyword::Properties) || key.is(Keyword::Required);
        let lost =
            |member: &Member<'a>| !is_joined(&member.key) && !members.iter().any(|known| known.key == member.key);
        let lost: Vec<Member<'a>> = bundle.into_members().into_iter().filter(lost).collect();
        members.extend(lost);
    }
    for member in rest {
        if member.key.is(Keyword::Defs) {
            members.push(member);
        } else {
            let place = members.iter().position(|known| known.key == member.key);
            match place.and_then(|place| members.get_mut(place)) {
                Some(known) => known.value = member.value,
                None => members.push(member),
            }
        }
    }
    if !members.iter().any(|member| member.key.is(Keyword::Type)) {
        members.insert(0, Member { key: Text::literal("type"), value: Node::literal("object") });
    }
    node.replace(Data::Object(Object::from_members(members)));
    if described {
        description::append(node, &[("anyOf", &conditions)]);
    }
    true
}
