//! `enum` for grammars that accept only some types of values in it: accepted values are kept next to their type; others
//! are removed, and only their type and a description remain.

use alloc::{format, string::String, vec::Vec};

use crate::{
    dialect::grammar::{EnumRule, Null, TypeLists},
    json::{self, Data, Node, Text},
    options::Hints,
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        encode::json_string::Holds,
        legalize::{self, enum_},
        null,
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const NULL: ChangeKind = ChangeKind::of(Rule::NullToNullable);
const TYPE: ChangeKind = ChangeKind::of(Rule::InferType);
const SPELL: ChangeKind = ChangeKind::of(Rule::ScalarsToStrings);
const DROP: ChangeKind = ChangeKind::of(Rule::DropEnumOfType);
const TOO_MANY: ChangeKind = ChangeKind::of(Rule::DropLongEnum);

/// Rewrites an `enum` into the form that the grammar accepts.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    too_many(node, place, context);
    if is_fine(node, place, context) {
        return;
    }
    enum_::match_type(node, place, context);
    if context.grammar.null == Null::Nullable {
        without_null(node, place, context);
    }
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    match enum_::types_of(node, values).as_slice() {
        [] => {}
        [name] => single(node, place, name, context),
        names => {
            enum_::split(node, place, names, context);
            node.visit(Keyword::AnyOf, |branches| {
                // If the schema already had a union, the branches may hold values of more than one type.
                for branch in branches.as_array_mut().into_iter().flatten() {
                    let types = branch.array_at(Keyword::Enum).map(|values| enum_::types_of(branch, values));
                    if let Some([name]) = types.as_deref() {
                        single(branch, place, name, context);
                        legalize::made(branch, place, context);
                    }
                }
            });
        }
    }
}

/// Removes an `enum` with more values than the grammar accepts. A description could not hold them either.
fn too_many<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let max_values = context.grammar.enums.max_values;
    let count = values_of(node).len();
    if count <= max_values {
        return;
    }
    // The common type of the values is kept as `type`.
    if let [name] = enum_::types_of(node, values_of(node)).as_slice() {
        declare(node, place, name, context);
    }
    context.diagnostics.report(place, Location::under(node, "enum").removed(), TOO_MANY, || {
        format!("removed an `enum` of {count} values: at most {max_values} are accepted")
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::Enum);
    }
}

fn is_fine(node: &Node<'_>, place: &SchemaPath<'_, '_>, context: &PassContext) -> bool {
    let Some(values) = node.array_at(Keyword::Enum) else { return true };
    let lists = context.grammar.type_lists == TypeLists::Any;
    let is_walked = || context.grammar.walked.reaches(place.pointer);
    let typed = !context.grammar.typed.needs_type_beside(Keyword::Enum, node)
        || !is_walked()
        || node.get(Keyword::Type).is_some_and(|name| lists || name.as_text().is_some());
    // If null is a type and `type` must be a single name, each type becomes a branch with its values.
    let split = context.grammar.type_lists == TypeLists::None
        && context.grammar.null == Null::Type
        && node.get(Keyword::Type).is_some_and(|names| names.as_array().is_some())
        && is_walked();
    typed && !split && values.iter().all(|value| may_be_listed(value, &context.grammar.enums))
}

fn may_be_listed(value: &Node<'_>, rule: &EnumRule) -> bool {
    let text_is_fine = |text: &Text<'_>| {
        (rule.empty_string || !text.is_empty()) && rule.without.is_none_or(|refused| !text.display().contains(refused))
    };
    rule.kinds.iter().any(|name| enum_::is_of(value, &Node::literal(name))) && value.as_text().is_none_or(text_is_fine)
}

/// Replaces null in the list of values with `nullable`.
fn without_null<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let Some(null) = values.iter().find(|value| value.is_null()).filter(|_| !values.iter().all(Node::is_null)) else {
        return;
    };
    let location = Location::of(null);
    context.diagnostics.report(place, location.to(Location::of(node)), NULL, || {
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
    null::admit(node, context.grammar);
}

/// Rewrites an `enum` with values of one type.
fn single<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, name: &'static str, context: &mut PassContext) {
    let rule = context.grammar.enums;
    let Some(values) = node.array_at(Keyword::Enum) else { return };
    let name = if name == "number" && values.iter().filter_map(Node::as_number).all(json::is_integral) {
        "integer"
    } else {
        name
    };
    let all_of_them = match name {
        "null" => true,
        "boolean" => [true, false].iter().all(|each| values.iter().any(|value| value.as_bool() == Some(*each))),
        _ => false,
    };
    let encoding = Holds::listed(name).filter(|_| rule.as_text.contains(&name) && !all_of_them);
    let spelled: Option<Vec<String>> = encoding.and_then(|_| values.iter().map(|value| spelled(value, name)).collect());
    let listed = values.iter().all(|value| may_be_listed(value, &rule));
    declare(node, place, name, context);
    let location = Location::under(node, "enum");
    if listed {
        return;
    }
    if let (Some(spelled), Some(encoding)) = (spelled, encoding) {
        let effect = if node.get(Keyword::Format).is_some() { SPELL.guidance(Guidance::Lost) } else { SPELL };
        context.diagnostics.report(place, location.in_place(), effect, || {
            format!("replaced the {name}s in `enum` with strings and `format: \"enum\"`")
        });
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(Keyword::Enum).unwrap_or_default();
        object.set_at(at, Text::literal("format"), Node::literal("enum"));
        node.visit(Keyword::Enum, |list| {
            for (value, text) in list.as_array_mut().into_iter().flatten().zip(spelled) {
                value.replace(Data::String(text.into()));
            }
        });
        encoding.mark(node);
        return;
    }
    let is_described = context.hints == Hints::Describe && !all_of_them;
    let effect = match (all_of_them, is_described) {
        (true, _) => DROP,
        (false, true) => DROP.accepts(Accepts::Wider).guidance(Guidance::Moved),
        (false, false) => DROP.accepts(Accepts::Wider).guidance(Guidance::Lost),
    };
    let to = if is_described { Location::under(node, "description") } else { Location::Nowhere };
    context.diagnostics.report(place, location.to(to), effect, || {
        format!("removed an `enum`: this API does not accept it next to `type: \"{name}\"`")
    });
    let values = node.as_object_mut().and_then(|object| object.remove(Keyword::Enum));
    if let Some(values) = values.filter(|_| is_described) {
        description::append(node, &[("enum", &values)]);
    }
}

fn values_of<'n, 'a>(node: &'n Node<'a>) -> &'n [Node<'a>] {
    node.items_at(Keyword::Enum)
}

/// Writes the type of the values, unless it is declared.
fn declare<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, name: &'static str, context: &mut PassContext) {
    let standing = node.get(Keyword::Type);
    // Every integer is a number, so `number` may stay if integers may be listed as numbers.
    let fits = |standing: &Node<'_>| {
        standing.is_text(name)
            || (standing.is_text("number") && name == "integer" && context.grammar.enums.as_text.is_empty())
    };
    if standing.is_some_and(fits) {
        return;
    }
    let from = if standing.is_some() { Location::under(node, "type") } else { Location::of(node) };
    context.diagnostics.report(place, from.to(Location::under(node, "type")), TYPE, || {
        format!("added `type: \"{name}\"`, the type of all values in `enum`")
    });
    if let Some(object) = node.as_object_mut() {
        object.set_at(0, Text::literal("type"), Node::literal(name));
    }
}

/// Returns the string that replaces a value of this type.
fn spelled(value: &Node<'_>, name: &str) -> Option<String> {
    match value.data() {
        Data::Bool(value) => Some(format!("{value}")),
        Data::Number(text) if name == "integer" => whole(text),
        Data::Number(text) => Some(String::from(json::plain_number(text))),
        _ => None,
    }
}

/// Returns an integer in plain digits, however it is spelled, or `None` if it exceeds `i64`.
fn whole(number: &str) -> Option<String> {
    json::plain_number(number).parse::<i64>().ok().map(|whole| format!("{whole}"))
}
