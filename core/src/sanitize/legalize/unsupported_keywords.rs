//! Removes what the grammar refuses in a schema: keywords, unknown keys, patterns, formats, and numbers that are too
//! large.
//!
//! A refused keyword is replaced by an approximation: an inclusive bound for an exclusive one, `items` for
//! `prefixItems`, a smaller bound. A keyword without an approximation is moved to the description.

use alloc::{format, string::String, vec::Vec};

use super::patterns::{compiles, respell};
use crate::{
    budget::Budget,
    collections::Set,
    dialect::{
        features::CONSTRAINS_MEMBERS,
        grammar::{Grammar, OpenRule},
    },
    effect::{Accepts, Guidance},
    json::{self, Data, Member, Node, Object, Text},
    options::Hints,
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Keywords, Role, Subschemas},
        visit::SchemaPath,
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::DropKeyword);
const PATTERN: ChangeKind = ChangeKind::of(Rule::DropPattern);
const FORMAT: ChangeKind = ChangeKind::of(Rule::DropFormat);

/// Maximum length, in bytes, of a subschema that is quoted in a description.
const LONGEST_SCHEMA: usize = 200;

/// Returns the keywords that the schema has afterwards.
pub(crate) fn apply<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    present: Keywords,
    context: &mut PassContext,
) -> Keywords {
    let is_root = path.keyword.is_none();
    if !is_root && !present.intersects(context.refused) {
        return present;
    }
    remove_faulty_keywords(node, path, context);
    node.as_object().map_or(Keywords::NONE, Keywords::in_object)
}

fn remove_faulty_keywords<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let grammar = context.grammar;
    let is_root = path.keyword.is_none();
    let is_faulty = |object: &Object<'_>| {
        let mut faulty = object.iter().filter(|member| fault(member, object, is_root, grammar).is_some()).peekable();
        let is_faulty = faulty.peek().is_some();
        (is_faulty, faulty.any(may_affect_references))
    };
    let (is_faulty, may_affect_references) = node.as_object().map_or((false, false), is_faulty);
    if !is_faulty {
        return;
    }
    context.effects.removed_schemas |= may_affect_references;
    drop_unknown(node, path, context);
    let Some(object) = node.as_object() else { return };
    let mut described_keywords: Vec<(String, Node<'a>)> = Vec::new();
    let mut faults: Vec<(String, Fault)> = object
        .iter()
        .filter_map(|member| Some((member.key.value()?.into_owned(), fault(member, object, is_root, grammar)?)))
        .collect();
    if !grammar.conflicts.is_empty() {
        // Removing one keyword may resolve its conflict with another.
        let (refused, other_faults): (Vec<_>, Vec<_>) =
            core::mem::take(&mut faults).into_iter().partition(|(_, fault)| matches!(fault, Fault::Refused));
        faults = other_faults.into_iter().chain(refused).collect();
    }
    for (name, fault) in faults {
        let is_still_faulty = |object: &Object<'a>| {
            object.iter().any(|member| member.key.is(&*name) && self::fault(member, object, is_root, grammar).is_some())
        };
        if !grammar.conflicts.is_empty() && !node.as_object().is_some_and(is_still_faulty) {
            continue;
        }
        let Some(value) = node.get(&name) else { continue };
        let value = value.copy(&context.budget);
        match fault {
            Fault::TooLarge(limit) => lower_bound(node, path, &name, limit, context),
            Fault::Pattern if respell(node, path, &name, &value, context) => continue,
            _ => match approximate(node, path, &name, &value, context) {
                Approximation::Exactly => continue,
                Approximation::Loosely => {}
                Approximation::Not => drop(node, path, &name, &value, fault, context),
            },
        }
        if is_worth_describing(&name, &value) && !has_no_effect(&name, &value, grammar) {
            described_keywords.push((name, value));
        }
    }
    if context.hints == Hints::Describe && description::can_describe(node, is_root, grammar) {
        let described: Vec<(&str, &Node<'a>)> =
            described_keywords.iter().map(|(name, value)| (name.as_str(), value)).collect();
        if !described.is_empty() {
            description::append(node, &described);
        }
    }
}

/// Returns true for unknown keys and for keywords that contain, name or refer to schemas. Also returns true for
/// keywords that change their effect.
fn may_affect_references(member: &Member<'_>) -> bool {
    let is_about_schemas = |keyword: Keyword| {
        keyword.subschemas() != Subschemas::Value
            || !matches!(keyword.role(), Role::Assertion | Role::Annotation)
            || matches!(
                keyword,
                Keyword::Ref
                    | Keyword::DynamicRef
                    | Keyword::RecursiveRef
                    | Keyword::MinContains
                    | Keyword::Discriminator
            )
    };
    member.value.is_container() || Keyword::named(&member.key).is_none_or(is_about_schemas)
}

/// Removes all unknown keys in one pass, because there may be many.
fn drop_unknown<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(accepted_names) = context.grammar.unknown else { return };
    let is_unknown = |member: &Member<'_>| {
        Keyword::named(&member.key).is_none() && !accepted_names.iter().any(|name| member.key.is(name))
    };
    let Some(object) = node.as_object().filter(|object| object.iter().any(is_unknown)) else { return };
    for member in context.budget.each(object).filter(|member| is_unknown(member)) {
        let name = member.key.display().into_owned();
        let location = Location::under(node, name.clone());
        context.diagnostics.report(path, location.removed(), DROP.guidance(Guidance::Lost), || {
            format!("removed `{name}`: this API does not accept it")
        });
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !is_unknown(member));
    }
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Refused,
    Pattern,
    Format,
    TooLarge(u64),
}

fn fault(member: &Member<'_>, object: &Object<'_>, is_root: bool, grammar: &Grammar) -> Option<Fault> {
    let Some(keyword) = Keyword::named(&member.key) else {
        let known = grammar.unknown?;
        return (!known.iter().any(|name| member.key.is(name))).then_some(Fault::Refused);
    };
    if grammar.leaves_unread(keyword, &member.value, object) {
        return None;
    }
    // These keywords would apply to the encoded members.
    if grammar.refuses.contains(keyword) || (grammar.encodes() && CONSTRAINS_MEMBERS.contains(keyword)) {
        return Some(Fault::Refused);
    }
    let is_known_draft =
        |text: &Text<'_>| grammar.drafts.is_none_or(|known| known.iter().any(|draft| text.display().contains(draft)));
    if keyword == Keyword::Schema && member.value.as_text().is_some_and(|text| !is_known_draft(text)) {
        return Some(Fault::Refused);
    }
    // The `root` pass handles unions at the root.
    if is_root
        && grammar.root_refuses.contains(keyword)
        && matches!(
            keyword,
            Keyword::Not | Keyword::Enum | Keyword::Const | Keyword::If | Keyword::Then | Keyword::Else
        )
    {
        return Some(Fault::Refused);
    }
    if grammar.conflicts.iter().any(|conflict| conflict.refuses(keyword, &member.value, object)) {
        return Some(Fault::Refused);
    }
    // At a closed root, the values would have to be written as text, but the root must be an object.
    let is_object = is_root && grammar.object_root;
    if is_object && grammar.objects.open == OpenRule::MustClose && matches!(keyword, Keyword::Enum | Keyword::Const) {
        return Some(Fault::Refused);
    }
    if grammar.is_below_minimum(keyword, &member.value, object) {
        return Some(Fault::Refused);
    }
    if let Some(limit) = member.value.as_number().and_then(|number| grammar.too_large(keyword, number)) {
        return Some(Fault::TooLarge(limit));
    }
    match keyword {
        Keyword::Pattern | Keyword::PatternProperties if !grammar.patterns.reads(keyword, object) => None,
        Keyword::Pattern => {
            member.value.as_text().filter(|text| !compiles(text, grammar.patterns)).map(|_| Fault::Pattern)
        }
        Keyword::PatternProperties => {
            let keys = member.value.as_object().into_iter().flatten();
            keys.map(|entry| &entry.key).any(|key| !compiles(key, grammar.patterns)).then_some(Fault::Pattern)
        }
        Keyword::Format => {
            let known = grammar.formats?;
            let applies_to_type = |kind: &str| match object.get(Keyword::Type) {
                None => kind == "string",
                Some(types) => {
                    types.is_text(kind)
                        || types.as_array().is_some_and(|names| names.iter().any(|name| name.is_text(kind)))
                }
            };
            let accepted = known.iter().any(|(kind, formats)| {
                applies_to_type(kind) && (formats.is_empty() || formats.iter().any(|name| member.value.is_text(name)))
            });
            (!accepted).then_some(Fault::Format)
        }
        _ => None,
    }
}

fn is_worth_describing(name: &str, value: &Node<'_>) -> bool {
    let Some(keyword) = Keyword::named(&Text::new(name)) else { return false };
    match keyword.role() {
        Role::Meta | Role::Identifier | Role::Definitions => false,
        // The branches have the same constants, and the mapping may point to definitions that were removed.
        _ if keyword == Keyword::Discriminator => false,
        // A keyword that accepts anything tells the model nothing.
        _ if value.as_bool() == Some(true) && keyword == Keyword::AdditionalProperties => false,
        _ if keyword == Keyword::PropertyNames && accepts_every_name(value) => false,
        Role::Assertion | Role::Annotation => {
            keyword.subschemas() == Subschemas::Value || json::plain_length(value) <= LONGEST_SCHEMA
        }
    }
}

/// Returns true for a keyword that closes an object, if the API only sends declared properties.
fn has_no_effect(name: &str, value: &Node<'_>, grammar: &Grammar) -> bool {
    name == Keyword::AdditionalProperties.name()
        && value.as_bool() == Some(false)
        && grammar.objects.open == OpenRule::Listed
}

fn drop<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    name: &str,
    value: &Node<'a>,
    fault: Fault,
    context: &mut PassContext,
) {
    let keyword = Keyword::named(&Text::new(name));
    let is_described = context.hints == Hints::Describe
        && is_worth_describing(name, value)
        && description::can_describe(node, path.keyword.is_none(), context.grammar);
    let effect = match fault {
        Fault::Pattern => PATTERN,
        Fault::Format => FORMAT,
        Fault::Refused | Fault::TooLarge(_) => DROP.accepts(effect_of_removal(keyword, value, node)),
    };
    let has_no_effect = has_no_effect(name, value, context.grammar);
    let is_described = is_described && !has_no_effect;
    let loses_nothing = has_no_effect
        || keyword.is_some_and(|keyword| matches!(keyword.role(), Role::Meta | Role::Identifier | Role::Definitions))
        || (keyword == Some(Keyword::AdditionalProperties) && is_open(value))
        || (keyword == Some(Keyword::PropertyNames) && accepts_every_name(value));
    let guidance = match (loses_nothing, is_described) {
        (true, _) => Guidance::Same,
        (false, true) => Guidance::Moved,
        (false, false) => Guidance::Lost,
    };
    let to = if is_described { Location::under(node, "description") } else { Location::Nowhere };
    context.diagnostics.report(
        path,
        Location::under(node, String::from(name)).to(to),
        effect.guidance(guidance),
        || {
            let why = match fault {
                Fault::Pattern => "this API cannot compile it",
                Fault::Format => "this API does not know it",
                _ => "this API does not accept it",
            };
            match is_described {
                true => format!("moved `{name}` to the description: {why}"),
                false => format!("removed `{name}`: {why}"),
            }
        },
    );
    let Some(object) = node.as_object_mut() else { return };
    let removed = object.remove(name);
    match keyword {
        // Other keywords depend on these keywords.
        Some(Keyword::PatternProperties) => accept_pattern_names(object, removed, context.grammar, &context.budget),
        Some(Keyword::MinContains) if value.as_number() == Some("0") => {
            object.remove(Keyword::Contains);
        }
        // `items` applied to the items after the prefix.
        Some(Keyword::PrefixItems) => {
            object.remove(Keyword::Items);
        }
        _ => {}
    }
}

fn effect_of_removal(keyword: Option<Keyword>, value: &Node<'_>, node: &Node<'_>) -> Accepts {
    match keyword {
        Some(keyword) if keyword.role() == Role::Assertion => match keyword {
            Keyword::AdditionalProperties if is_open(value) => Accepts::Same,
            Keyword::Nullable => Accepts::Narrower,
            Keyword::UniqueItems if value.as_bool() == Some(false) => Accepts::Same,
            Keyword::PropertyNames if accepts_every_name(value) => Accepts::Same,
            Keyword::Then | Keyword::Else if node.get(Keyword::If).is_none() => Accepts::Same,
            _ => Accepts::Wider,
        },
        _ => Accepts::Same,
    }
}

fn accepts_every_name(value: &Node<'_>) -> bool {
    let is_string = |member: &Member<'_>| {
        member.key.is(Keyword::Type)
            && (member.value.is_text("string") || {
                member.value.as_array().is_some_and(|names| names.iter().any(|name| name.is_text("string")))
            })
    };
    value.as_bool() == Some(true) || value.as_object().is_some_and(|names| names.iter().all(is_string))
}

fn accept_pattern_names<'a>(object: &mut Object<'a>, patterns: Option<Node<'a>>, grammar: &Grammar, budget: &Budget) {
    let Some(rest) = object.get(Keyword::AdditionalProperties).filter(|rest| !is_open(rest)) else { return };
    let is_closed = rest.as_bool() == Some(false);
    let mut schemas: Vec<Node<'a>> = match patterns.map(Node::into_data) {
        Some(Data::Object(table)) => table.into_members().into_iter().map(|member| member.value).collect(),
        _ => Vec::new(),
    };
    if schemas.is_empty() {
        return;
    }
    if !is_closed {
        schemas.push(rest.copy(budget));
    }
    let value_schema = match schemas.len() {
        _ if !grammar.objects.maps => Node::bool(true),
        1 => schemas.pop().unwrap_or_default(),
        _ => Node::record([("anyOf", Node::array(schemas))]),
    };
    object.set(Text::literal("additionalProperties"), value_schema);
}

const LOWER: ChangeKind = ChangeKind::of(Rule::ClampBound);
const BOUND: ChangeKind = ChangeKind::of(Rule::ExclusiveToInclusive);
const TUPLE: ChangeKind = ChangeKind::of(Rule::PrefixItemsToItems);

pub(super) enum Approximation {
    /// The replacement is equivalent.
    Exactly,
    /// The replacement accepts more, so the keyword is also added to the description.
    Loosely,
    Not,
}

fn approximate<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    name: &str,
    value: &Node<'a>,
    context: &mut PassContext,
) -> Approximation {
    match name {
        "exclusiveMinimum" => inclusive(node, path, ("exclusiveMinimum", "minimum", 1), value, context),
        "exclusiveMaximum" => inclusive(node, path, ("exclusiveMaximum", "maximum", -1), value, context),
        "prefixItems" => merge_tuple(node, path, value, context),
        _ => Approximation::Not,
    }
}

/// Replaces `exclusiveMinimum: 0` with `minimum: 1` for integers, with `minimum: 0` for other numbers.
fn inclusive<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
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
    let is_tighter_than = |existing: &str, new: &str| {
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
        .is_some_and(|existing| is_tighter_than(existing, bound.as_number().unwrap_or("0")));
    let from = Location::under(node, exclusive);
    context.diagnostics.report(path, from.to(Location::under(node, inclusive)), effect, || {
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
fn merge_tuple<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    value: &Node<'a>,
    context: &mut PassContext,
) -> Approximation {
    let Some(schemas_by_position) = value.as_array().filter(|schemas_by_position| !schemas_by_position.is_empty())
    else {
        return Approximation::Not;
    };
    let count = schemas_by_position.len();
    let rest = node.get(Keyword::Items);
    let max_items =
        node.get(Keyword::MaxItems).and_then(Node::as_u64).and_then(|max_items| usize::try_from(max_items).ok());
    let is_closed =
        rest.is_some_and(|rest| rest.as_bool() == Some(false)) || max_items.is_some_and(|max_items| max_items <= count);
    let mut schemas: Vec<Node<'a>> = Vec::new();
    let mut seen: Set<String> = Set::new();
    for schema in schemas_by_position.iter().chain(rest.filter(|_| !is_closed)) {
        if seen.insert(json::canonical(schema)) {
            schemas.push(schema.copy(&context.budget));
        }
    }
    let accepts_anything = |schema: &Node<'_>| is_open(schema);
    if (!is_closed && rest.is_none()) || schemas.iter().any(accepts_anything) {
        return Approximation::Not;
    }
    let is_bounded = is_closed && max_items.is_none_or(|max_items| max_items > count);
    let is_single = schemas.len() == 1;
    // If all positions have the same schema, nothing is lost as long as the maximum number of items is kept.
    let is_exact = is_single && !(is_bounded && context.grammar.refuses.contains(Keyword::MaxItems));
    let effect = if is_exact { TUPLE } else { TUPLE.accepts(Accepts::Wider).guidance(Guidance::Moved) };
    context.diagnostics.report(
        path,
        Location::under(node, "prefixItems").to(Location::under(node, "items")),
        effect,
        || format!("merged the {count} schemas of `prefixItems` into `items`"),
    );
    let items =
        if is_single { schemas.pop().unwrap_or_default() } else { Node::record([("anyOf", Node::array(schemas))]) };
    let Some(object) = node.as_object_mut() else { return Approximation::Not };
    let at = object.position(Keyword::PrefixItems).unwrap_or_default();
    object.remove(Keyword::PrefixItems);
    match object.has(Keyword::Items) {
        true => object.set(Text::literal("items"), items),
        false => object.insert_at(at, Text::literal("items"), items),
    }
    if is_bounded && !context.grammar.refuses.contains(Keyword::MaxItems) {
        object.set(Text::literal("maxItems"), Node::count(count as u64));
    }
    if is_exact {
        Approximation::Exactly
    } else {
        Approximation::Loosely
    }
}

/// Lowers a minimum that is too large; removes a maximum, because a smaller one would refuse valid values.
fn lower_bound<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, name: &str, limit: u64, context: &mut PassContext) {
    let lowers = name.starts_with("min");
    let moved = if context.hints == Hints::Describe
        && description::can_describe(node, path.keyword.is_none(), context.grammar)
    {
        Guidance::Moved
    } else {
        Guidance::Lost
    };
    let to = if lowers { Location::under(node, String::from(name)) } else { Location::Nowhere };
    context.diagnostics.report(path, Location::under(node, String::from(name)).to(to), LOWER.guidance(moved), || {
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

fn is_open(value: &Node<'_>) -> bool {
    value.as_bool() == Some(true) || value.as_object().is_some_and(Object::is_empty)
}
