//! Approximates keywords that the grammar refuses: an inclusive bound for an exclusive one, `items` for `prefixItems`,
//! a smaller bound.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    json::{self, Data, Node, Object, Text},
    options::Hints,
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const LOWER: ChangeKind = ChangeKind::of(Rule::ClampBound);
const BOUND: ChangeKind = ChangeKind::of(Rule::ExclusiveToInclusive);
const TUPLE: ChangeKind = ChangeKind::of(Rule::PrefixItemsToItems);

/// Result of an approximation.
pub(super) enum Approximation {
    /// The replacement is equivalent.
    Exactly,
    /// The replacement accepts more, so the keyword is also described.
    Loosely,
    /// There is no replacement.
    Not,
}

/// Replaces a refused keyword with the nearest one that is accepted.
pub(super) fn approximate<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    name: &str,
    value: &Node<'a>,
    context: &mut PassContext,
) -> Approximation {
    match name {
        "exclusiveMinimum" => inclusive(node, place, ("exclusiveMinimum", "minimum", 1), value, context),
        "exclusiveMaximum" => inclusive(node, place, ("exclusiveMaximum", "maximum", -1), value, context),
        "prefixItems" => tuple(node, place, value, context),
        _ => Approximation::Not,
    }
}

/// Replaces `exclusiveMinimum: 0` with `minimum: 1` for integers, with `minimum: 0` for other numbers.
fn inclusive<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    (exclusive, inclusive, step): (&'static str, &'static str, i64),
    value: &Node<'a>,
    context: &mut PassContext,
) -> Approximation {
    let keyword = Keyword::named(&Text::literal(inclusive));
    if keyword.is_none_or(|keyword| context.grammar.refuses.contains(keyword)) {
        return Approximation::Not;
    }
    let Some(number) = value.as_number() else { return Approximation::Not };
    let whole = json::plain_number(number).parse::<i64>().ok().and_then(|number| number.checked_add(step));
    let is_integer = node.get(Keyword::Type).is_some_and(|name| name.is_text("integer"));
    let (bound, effect) = match whole.filter(|_| is_integer) {
        Some(bound) => (Node::new(Data::Number(format!("{bound}").into())), BOUND),
        None => (value.copy(&context.budget), BOUND.accepts(Accepts::Wider)),
    };
    let approximation =
        if matches!(effect.accepts, Accepts::Same) { Approximation::Exactly } else { Approximation::Loosely };
    // The tighter of the two bounds is kept.
    let tighter = |existing: &str, new: &str| {
        let order = json::compare(existing, new);
        if step > 0 {
            order.is_ge()
        } else {
            order.is_le()
        }
    };
    let is_tighter = node
        .get(inclusive)
        .and_then(Node::as_number)
        .is_some_and(|existing| tighter(existing, bound.as_number().unwrap_or("0")));
    let from = Location::under(node, exclusive);
    context.diagnostics.report(place, from.to(Location::under(node, inclusive)), effect, || {
        format!("replaced `{exclusive}` with `{inclusive}`")
    });
    let Some(object) = node.as_object_mut() else { return Approximation::Not };
    let at = object.position(exclusive).unwrap_or_default();
    object.remove(exclusive);
    if !is_tighter {
        match object.has(inclusive) {
            true => object.set(Text::literal(inclusive), bound),
            false => object.insert_at(at, Text::literal(inclusive), bound),
        }
    }
    approximation
}

/// Replaces the schemas of all positions with one schema for items, which accepts any of them.
fn tuple<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    value: &Node<'a>,
    context: &mut PassContext,
) -> Approximation {
    let Some(positions) = value.as_array().filter(|positions| !positions.is_empty()) else { return Approximation::Not };
    let count = positions.len();
    let rest = node.get(Keyword::Items);
    let max_items =
        node.get(Keyword::MaxItems).and_then(Node::as_u64).and_then(|max_items| usize::try_from(max_items).ok());
    let closed =
        rest.is_some_and(|rest| rest.as_bool() == Some(false)) || max_items.is_some_and(|max_items| max_items <= count);
    let mut schemas: Vec<Node<'a>> = Vec::new();
    let mut known: Set<String> = Set::new();
    for schema in positions.iter().chain(rest.filter(|_| !closed)) {
        if known.insert(json::canonical(schema)) {
            schemas.push(schema.copy(&context.budget));
        }
    }
    let anything = |schema: &Node<'_>| is_open(schema);
    if (!closed && rest.is_none()) || schemas.iter().any(anything) {
        return Approximation::Not;
    }
    let bounded = closed && max_items.is_none_or(|max_items| max_items > count);
    let single = schemas.len() == 1;
    // If all positions have the same schema, nothing is lost as long as the maximum number of items is kept.
    let same = single && !(bounded && context.grammar.refuses.contains(Keyword::MaxItems));
    let effect = if same { TUPLE } else { TUPLE.accepts(Accepts::Wider).guidance(Guidance::Moved) };
    context.diagnostics.report(
        place,
        Location::under(node, "prefixItems").to(Location::under(node, "items")),
        effect,
        || format!("merged the {count} schemas of `prefixItems` into `items`"),
    );
    let items =
        if single { schemas.pop().unwrap_or_default() } else { Node::record([("anyOf", Node::array(schemas))]) };
    let Some(object) = node.as_object_mut() else { return Approximation::Not };
    let at = object.position(Keyword::PrefixItems).unwrap_or_default();
    object.remove(Keyword::PrefixItems);
    match object.has(Keyword::Items) {
        true => object.set(Text::literal("items"), items),
        false => object.insert_at(at, Text::literal("items"), items),
    }
    if bounded && !context.grammar.refuses.contains(Keyword::MaxItems) {
        object.set(Text::literal("maxItems"), Node::count(count as u64));
    }
    if same {
        Approximation::Exactly
    } else {
        Approximation::Loosely
    }
}

/// Lowers a minimum that is too large; removes a maximum, because a smaller one would refuse valid values.
pub(super) fn lower<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    name: &str,
    limit: u64,
    context: &mut PassContext,
) {
    let lowers = name.starts_with("min");
    let moved = if context.hints == Hints::Describe
        && description::can_describe(node, place.keyword.is_none(), context.grammar)
    {
        Guidance::Moved
    } else {
        Guidance::Lost
    };
    let to = if lowers { Location::under(node, String::from(name)) } else { Location::Nowhere };
    context.diagnostics.report(place, Location::under(node, String::from(name)).to(to), LOWER.guidance(moved), || {
        match lowers {
            true => format!("lowered `{name}` to {limit}: this API accepts no more"),
            false => format!("removed `{name}`: this API accepts at most {limit}"),
        }
    });
    if let Some(object) = node.as_object_mut() {
        match lowers {
            true => object.set(Text::new(String::from(name)), Node::count(limit)),
            false => {
                object.remove(name);
            }
        }
    }
}

pub(super) fn is_open(value: &Node<'_>) -> bool {
    value.as_bool() == Some(true) || value.as_object().is_some_and(Object::is_empty)
}
