//! Rewrites `enum`: it gets a type that every value matches, null comes first, and values of several types are split
//! into branches if the grammar requires it. Values that the API does not accept in `enum` are written as strings; if
//! that is impossible, the `enum` is removed, and its type and a description remain.

use alloc::{format, string::String, vec, vec::Vec};

use super::{all_of::intersected, nullable};
use crate::{
    collections::Set,
    dialect::grammar::{EnumRule, Null, TypeLists},
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, Data, Member, Node, Text},
    options::Hints,
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        encode::json_string::Holds,
        legalize,
    },
    schema::{
        instance_types::TYPE_NAMES,
        keyword::{InstanceType, Keyword},
        visit::SchemaPath,
    },
};

const INFER: ChangeKind = ChangeKind::of(Rule::InferType);
const REPLACE_TYPE: ChangeKind = ChangeKind::of(Rule::RepairType);
const UNMATCHED: ChangeKind = ChangeKind::of(Rule::DropEnumValue);
const NULL_FIRST: ChangeKind = ChangeKind::of(Rule::MoveNullFirst);
const SPLIT: ChangeKind = ChangeKind::of(Rule::SplitEnum);
const TOO_MANY: ChangeKind = ChangeKind::of(Rule::DropLongEnum);
const NULL: ChangeKind = ChangeKind::of(Rule::NullToNullable);
const SPELL: ChangeKind = ChangeKind::of(Rule::ScalarsToStrings);
const DROP: ChangeKind = ChangeKind::of(Rule::DropEnumOfType);

/// # Errors
/// `not-representable` if the root lists values, but no object.
pub(crate) fn apply<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> Result<(), Error> {
    let rule = context.grammar.enums;
    let typed = rule.needs_type
        || context.grammar.typed.needs_type_beside(Keyword::Enum, node) && context.grammar.walked.reaches(path.pointer);
    let encodes = context.grammar.encodes();
    if (rule.agrees || encodes) && !typed {
        replace_wrong_type(node, path, context);
    }
    // A value that `type` excludes would be accepted once it is encoded as text.
    if encodes {
        match_type(node, path, context);
        match_constant(node, path, context);
        if !typed {
            drop_object_type(node, path, context);
        }
    }
    let Some(values) = node.array_at(Keyword::Enum) else { return Ok(()) };
    if typed {
        let has_object = values.iter().any(|value| value.as_object().is_some());
        if path.keyword.is_none() && context.grammar.object_root && !has_object {
            return Err(Error::new(
                Code::NotRepresentable,
                "",
                "expected a schema that accepts an object, found an `enum` without one",
            ));
        }
        match_type(node, path, context);
    }
    if !drop_long_enum(node, path, typed, context) {
        if typed {
            declare_or_split(node, path, context);
        }
        restrict_types(node, path, context);
    }
    Ok(())
}

/// Removes an `enum` with too many values, and returns true if it did. The description cannot hold them either.
fn drop_long_enum<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, typed: bool, context: &mut PassContext) -> bool {
    let max_values = context.grammar.enums.max_values;
    let values = node.items_at(Keyword::Enum);
    let count = values.len();
    if count <= max_values {
        return false;
    }
    // The common type of the values is kept as `type`.
    let types = types_of_values(node, values);
    if typed || types.len() == 1 {
        declare(node, path, &types, context);
    }
    context.diagnostics.report(path, Location::under(node, "enum").removed(), TOO_MANY, || {
        format!("removed an `enum` of {count} values: at most {max_values} are accepted")
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::Enum);
    }
    true
}

fn declare_or_split<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let rule = context.grammar.enums;
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let types = types_of_values(node, values);
    let nullable = types.contains(&"null") && types.len() > 1;
    let non_null_types: Vec<&'static str> =
        types.iter().copied().filter(|name| !(nullable && *name == "null")).collect();
    let is_one_branch = match non_null_types.as_slice() {
        [name] => !(nullable && rule.nullable_scalar_only && matches!(*name, "object" | "array")),
        _ => false,
    };
    if is_one_branch {
        declare(node, path, &types, context);
        if rule.null_first {
            move_null_first(node, path, context);
        }
    } else {
        split_by_type(node, path, &types, context);
    }
}

fn restrict_types<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if needs_no_change(node, path, context) {
        return;
    }
    match_type(node, path, context);
    if context.grammar.null == Null::Nullable {
        replace_null(node, path, context);
    }
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    match types_of_values(node, values).as_slice() {
        [] => {}
        [name] => restrict_single_type(node, path, name, context),
        names => {
            split_by_type(node, path, names, context);
            node.visit(Keyword::AnyOf, |branches| {
                // If the schema already had a union, the branches may hold values of more than one type.
                for branch in branches.as_array_mut().into_iter().flatten() {
                    let types = branch.array_at(Keyword::Enum).map(|values| types_of_values(branch, values));
                    if let Some([name]) = types.as_deref() {
                        restrict_single_type(branch, path, name, context);
                        legalize::run_remaining_passes(branch, path, context);
                    }
                }
            });
        }
    }
}

fn needs_no_change(node: &Node<'_>, path: &SchemaPath<'_, '_>, context: &PassContext) -> bool {
    let Some(values) = node.array_at(Keyword::Enum) else { return true };
    let accepts_type_lists = context.grammar.type_lists == TypeLists::Any;
    let is_walked = || context.grammar.walked.reaches(path.pointer);
    let has_required_type = !context.grammar.typed.needs_type_beside(Keyword::Enum, node)
        || !is_walked()
        || node.get(Keyword::Type).is_some_and(|name| accepts_type_lists || name.as_text().is_some());
    // If `type` must be a single name, each type becomes a branch with its values. `nullable` replaces null.
    let is_null_type = context.grammar.null == Null::Type;
    let has_several = |names: &[Node<'_>]| names.iter().filter(|name| !name.is_text("null")).count() > 1;
    let must_split = context.grammar.type_lists == TypeLists::None
        && node.array_at(Keyword::Type).is_some_and(|names| is_null_type || has_several(names))
        && is_walked();
    has_required_type && !must_split && values.iter().all(|value| is_accepted_in_enum(value, &context.grammar.enums))
}

fn is_accepted_in_enum(value: &Node<'_>, rule: &EnumRule) -> bool {
    let is_accepted_text = |text: &Text<'_>| {
        (rule.empty_string || !text.is_empty()) && rule.without.is_none_or(|refused| !text.display().contains(refused))
    };
    rule.kinds.iter().any(|name| has_type(value, &Node::literal(name))) && value.as_text().is_none_or(is_accepted_text)
}

fn replace_null<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let Some(null) = values.iter().find(|value| value.is_null()).filter(|_| !values.iter().all(Node::is_null)) else {
        return;
    };
    let location = Location::of(null);
    context.diagnostics.report(path, location.to(Location::of(node)), NULL, || {
        String::from("replaced null in `enum` with `nullable: true`")
    });
    node.visit(Keyword::Enum, |list| {
        if let Some(values) = list.as_array_mut() {
            values.retain(|value| !value.is_null());
        }
    });
    // `nullable` also replaces null in a list of types.
    if let Some(names) = node.array_at(Keyword::Type) {
        let mut others: Vec<Node<'a>> =
            names.iter().filter(|name| !name.is_text("null")).map(|name| name.copy(&context.budget)).collect();
        let kinds = if others.len() == 1 { others.pop().unwrap_or_default() } else { Node::array(others) };
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("type"), kinds);
        }
    }
    nullable::admit_null(node, context.grammar);
}

fn restrict_single_type<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    name: &'static str,
    context: &mut PassContext,
) {
    let rule = context.grammar.enums;
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let name = if name == "number" && values.iter().filter_map(Node::as_number).all(json::is_integral) {
        "integer"
    } else {
        name
    };
    let lists_all_values = match name {
        "null" => true,
        "boolean" => [true, false].iter().all(|each| values.iter().any(|value| value.as_bool() == Some(*each))),
        _ => false,
    };
    let encoding = Holds::of_enum_type(name).filter(|_| rule.as_text.contains(&name) && !lists_all_values);
    let spelled_values: Option<Vec<String>> =
        encoding.and_then(|_| values.iter().map(|value| spell_value(value, name)).collect());
    let accepts_all = values.iter().all(|value| is_accepted_in_enum(value, &rule));
    // Every integer is a number, so `number` may stay if integers may be listed as numbers.
    let is_wider = name == "integer"
        && rule.as_text.is_empty()
        && node.get(Keyword::Type).is_some_and(|existing| existing.is_text("number"));
    if !is_wider {
        declare(node, path, &[name], context);
    }
    let location = Location::under(node, "enum");
    if accepts_all {
        return;
    }
    if let (Some(spelled_values), Some(encoding)) = (spelled_values, encoding) {
        let effect = if node.get(Keyword::Format).is_some() { SPELL.guidance(Guidance::Lost) } else { SPELL };
        context.diagnostics.report(path, location.in_place(), effect, || {
            format!("replaced the {name}s in `enum` with strings and `format: \"enum\"`")
        });
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(Keyword::Enum).unwrap_or_default();
        object.set_at(at, Text::literal("format"), Node::literal("enum"));
        node.visit(Keyword::Enum, |list| {
            for (value, text) in context.budget.each(list.as_array_mut().into_iter().flatten().zip(spelled_values)) {
                value.replace(Data::String(text.into()));
            }
        });
        encoding.mark(node);
        return;
    }
    let is_described = context.hints == Hints::Describe && !lists_all_values;
    let effect = match (lists_all_values, is_described) {
        (true, _) => DROP,
        (false, true) => DROP.accepts(Accepts::Wider).guidance(Guidance::Moved),
        (false, false) => DROP.accepts(Accepts::Wider).guidance(Guidance::Lost),
    };
    let to = if is_described { Location::under(node, "description") } else { Location::Nowhere };
    context.diagnostics.report(path, location.to(to), effect, || {
        format!("removed an `enum`: this API does not accept it next to `type: \"{name}\"`")
    });
    let values = node.as_object_mut().and_then(|object| object.remove(Keyword::Enum));
    if let Some(values) = values.filter(|_| is_described) {
        description::append(node, &[("enum", &values)]);
    }
}

fn replace_wrong_type<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let (Some(values), Some(declared)) = (node.array_at(Keyword::Enum), node.get(Keyword::Type)) else {
        return;
    };
    let names: Vec<&Node<'_>> = declared.as_array().map_or_else(|| vec![declared], |names| names.iter().collect());
    if !values.is_empty() && !values.iter().any(|value| names.iter().any(|name| has_type(value, name))) {
        match_type(node, path, context);
        let types = node.array_at(Keyword::Enum).map(|values| types_of_values(node, values)).unwrap_or_default();
        declare(node, path, &types, context);
    }
}

/// Removes the type `object` if no value in `enum` is an object, because such a schema would not be closed.
fn drop_object_type<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let has_object = |names: &[Node<'_>]| names.iter().any(|name| name.is_text("object"));
    if !node.array_at(Keyword::Type).is_some_and(has_object) {
        return;
    }
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    if !values.is_empty() && values.iter().all(|value| value.as_object().is_none()) {
        let types = types_of_values(node, values);
        declare(node, path, &types, context);
    }
}

fn match_constant<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let (Some(value), Some(declared)) = (node.get(Keyword::Const), node.get(Keyword::Type)) else { return };
    let matches_type =
        declared.as_array().unwrap_or(core::slice::from_ref(declared)).iter().any(|name| has_type(value, name));
    if matches_type && declared.as_array().is_none() {
        return;
    }
    let (declared_text, types) = (json::write_plain(declared), types_of_values(node, core::slice::from_ref(value)));
    let effect = if matches_type { INFER } else { REPLACE_TYPE };
    context.diagnostics.report(path, Location::of(declared).to(Location::under(node, "type")), effect, || {
        format!("replaced `type: {declared_text}` with the type of `const`")
    });
    if let (Some(object), [name, ..]) = (node.as_object_mut(), types.as_slice()) {
        object.set(Text::literal("type"), Node::literal(name));
    }
}

/// Removes the values that the declared type excludes. If it excludes all values, the type is removed instead.
fn match_type<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(declared) = node.get(Keyword::Type) else { return };
    let names: Vec<&Node<'_>> = declared.as_array().map_or_else(|| vec![declared], |names| names.iter().collect());
    let matches_type = |value: &Node<'_>| names.iter().any(|name| has_type(value, name));
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let kept_count = context.budget.each(values).filter(|value| matches_type(value)).count();
    if kept_count == values.len() || context.budget.is_spent() {
        return;
    }
    if kept_count == 0 {
        let declared_text = json::write_plain(declared);
        context.diagnostics.report(
            path,
            Location::of(declared).to(Location::under(node, "type")),
            REPLACE_TYPE,
            || format!("replaced `type: {declared_text}`: no value in `enum` has that type"),
        );
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Type);
        }
        return;
    }
    let location = Location::of(node.get(Keyword::Enum).unwrap_or(node));
    let removed_indices: Set<usize> =
        values.iter().enumerate().filter(|(_, value)| !matches_type(value)).map(|(at, _)| at).collect();
    context.diagnostics.report(path, location.to(Location::under(node, "enum")), UNMATCHED, || {
        format!("removed {} of the values in `enum`: `type` excludes them", removed_indices.len())
    });
    node.visit(Keyword::Enum, |list| {
        let mut at = 0;
        if let Some(values) = list.as_array_mut() {
            values.retain(|_| {
                at += 1;
                !removed_indices.contains(&(at - 1))
            });
        }
    });
}

fn has_type(value: &Node<'_>, name: &Node<'_>) -> bool {
    match value.data() {
        Data::Null => name.is_text("null"),
        Data::Bool(_) => name.is_text("boolean"),
        Data::String(_) => name.is_text("string"),
        Data::Array(_) => name.is_text("array"),
        Data::Object(_) => name.is_text("object"),
        Data::Number(number) => name.is_text("number") || (name.is_text("integer") && json::is_integral(number)),
        Data::Verbatim(_) => false,
    }
}

/// Returns the types in the order of [`TYPE_NAMES`]. Numbers are `number` if that type is declared.
fn types_of_values(node: &Node<'_>, values: &[Node<'_>]) -> Vec<&'static str> {
    let declares = |name: &str| {
        node.get(Keyword::Type).is_some_and(|types| {
            types.is_text(name) || types.as_array().is_some_and(|names| names.iter().any(|known| known.is_text(name)))
        })
    };
    let any_value = |test: &dyn Fn(&Node<'_>) -> bool| values.iter().any(test);
    let are_integers = values.iter().filter_map(Node::as_number).all(json::is_integral);
    let is_integer = are_integers && !declares("number");
    TYPE_NAMES
        .into_iter()
        .filter(|name| match *name {
            "null" => any_value(&|value| value.is_null()),
            "boolean" => any_value(&|value| value.as_bool().is_some()),
            "string" => any_value(&|value| value.as_text().is_some()),
            "array" => any_value(&|value| value.as_array().is_some()),
            "object" => any_value(&|value| value.as_object().is_some()),
            "integer" => is_integer && any_value(&|value| value.as_number().is_some()),
            _ => !is_integer && any_value(&|value| value.as_number().is_some()),
        })
        .collect()
}

fn declare<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, types: &[&'static str], context: &mut PassContext) {
    let existing_names: Vec<Option<String>> = match node.get(Keyword::Type) {
        Some(value) => match value.as_array() {
            Some(names) => names.iter().map(|name| name.as_text().map(|text| text.display().into_owned())).collect(),
            None => vec![value.as_text().map(|text| text.display().into_owned())],
        },
        None => Vec::new(),
    };
    if existing_names.len() == types.len() && existing_names.iter().flatten().all(|name| types.contains(&name.as_str()))
    {
        return;
    }
    let from = if node.get(Keyword::Type).is_some() { Location::under(node, "type") } else { Location::of(node) };
    context.diagnostics.report(path, from.to(Location::under(node, "type")), INFER, || match types {
        [name] => format!("added `type: \"{name}\"`, the type of all values in `enum`"),
        _ => format!("added `type`, the types of the values in `enum`: {}", types.join(", ")),
    });
    // In the order of `TYPE_NAMES`, so `null` first.
    let mut names: Vec<Node<'a>> = types.iter().map(|name| Node::literal(name)).collect();
    let value = if names.len() == 1 { names.pop().unwrap_or_default() } else { Node::array(names) };
    if let Some(object) = node.as_object_mut() {
        object.set_at(0, Text::literal("type"), value);
    }
}

fn move_null_first<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(types) = node.get(Keyword::Type) else { return };
    let Some(at) =
        types.as_array().and_then(|names| names.iter().position(|name| name.is_text("null"))).filter(|at| *at > 0)
    else {
        return;
    };
    let location = Location::of(types);
    context.diagnostics.report(path, location.to(Location::under(node, "type")), NULL_FIRST, || {
        String::from("moved `null` to the front of `type`: this API requires it there next to `enum`")
    });
    node.visit(Keyword::Type, |list| {
        if let Some(names) = list.as_array_mut() {
            let null = names.remove(at);
            names.insert(0, null);
        }
    });
}

/// Splits an `enum` into a branch for each type. Keywords for a type move into its branch, if the grammar refuses them
/// as siblings of the union.
fn split_by_type<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    types: &[&'static str],
    context: &mut PassContext,
) {
    let location = Location::of(node.get(Keyword::Enum).unwrap_or(node));
    context.diagnostics.report(path, location.to(Location::under(node, "anyOf")), SPLIT, || {
        format!("split an `enum` with values of several types: {}", types.join(", "))
    });
    let (origin, at) =
        (node.origin(), node.as_object().and_then(|object| object.position(Keyword::Enum)).unwrap_or_default());
    let Some(object) = node.as_object_mut() else { return };
    let Some(Data::Array(values)) = object.remove(Keyword::Enum).map(Node::into_data) else { return };
    object.remove(Keyword::Type);
    let accepted_siblings = context.grammar.any_of.beside;
    let kinds: Vec<InstanceType> = types.iter().filter_map(|name| InstanceType::named(&Text::literal(name))).collect();
    let kind_of = |member: &Member<'_>| {
        let keyword = Keyword::named(&member.key).filter(|keyword| !accepted_siblings.contains(*keyword))?;
        keyword.applies_to().filter(|kind| kinds.contains(kind))
    };
    let constraints: Vec<(InstanceType, Member<'a>)> =
        object.iter().filter_map(|member| Some((kind_of(member)?, member.copy(&context.budget)))).collect();
    if !constraints.is_empty() {
        object.retain(|member| kind_of(member).is_none());
    }
    let at = at.min(object.len());
    let mut branches: Vec<Node<'a>> = Vec::new();
    for name in types {
        let type_name = Node::literal(name);
        let values_of_type: Vec<Node<'a>> = values
            .iter()
            .filter(|value| has_type(value, &type_name))
            .map(|value| value.copy(&context.budget))
            .collect();
        let kind = type_name.as_text().and_then(InstanceType::named);
        let mut branch = Node::record([("type", type_name), ("enum", Node::array(values_of_type))]).with_origin(origin);
        for (_, member) in constraints.iter().filter(|(of, _)| Some(*of) == kind) {
            if let Some(branch) = branch.as_object_mut() {
                branch.set(member.key.clone(), member.value.copy(&context.budget));
            }
        }
        branches.push(branch);
    }
    let union = Node::record([("anyOf", Node::array(branches))]).with_origin(origin);
    if object.has(Keyword::AnyOf) {
        let siblings = core::mem::take(node);
        *node = intersected((siblings, union), at, path.polarity, None, context);
        node.touch();
    } else if let Data::Object(union) = union.into_data() {
        for member in union.into_members() {
            object.insert_at(at, member.key, member.value);
        }
    }
}

fn spell_value(value: &Node<'_>, name: &str) -> Option<String> {
    match value.data() {
        Data::Bool(value) => Some(format!("{value}")),
        Data::Number(text) if name == "integer" => whole(text),
        Data::Number(text) => Some(String::from(json::plain_number(text))),
        _ => None,
    }
}

fn whole(number: &str) -> Option<String> {
    json::plain_number(number).parse::<i64>().ok().map(|whole| format!("{whole}"))
}
