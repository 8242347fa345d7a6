//! Adds a type to schemas that have none: the type that their keywords imply, otherwise the grammar's "any". Splits a
//! list of types into branches, one per type, each with the keywords for its type.
//!
//! Replaces boolean schemas, if the grammar refuses them: `true` with the grammar's "any", `false` with `{"not": {}}`
//! if possible.

use alloc::{format, string::String, vec::Vec};

use super::{all_of::intersected, is_open_map};
use crate::{
    budget::Budget,
    dialect::grammar::{Grammar, TypeLists, TypeRequirement},
    effect::{Accepts, Guidance},
    error::Error,
    json::{Data, Member, Node, Object, Text},
    options::Untyped,
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize,
        pass::InferenceContext,
    },
    schema::{
        emptiness::is_never,
        instance_types::{InstanceTypes, TYPE_NAMES},
        keyword::{is_annotation, InstanceType, Keyword, Keywords},
        visit::{self, SchemaPath, Visit},
    },
};

const INFER: ChangeKind = ChangeKind::of(Rule::InferType);
const OPEN: ChangeKind = ChangeKind::of(Rule::OpenMap);

const IMPLY_A_TYPE: Keywords =
    Keywords::of(&[Keyword::Ref, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf, Keyword::If, Keyword::DynamicRef]);

pub(crate) fn infer<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) {
    if !context.requires_types {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let is_required = context.grammar.typed != TypeRequirement::No;
    if is_required && !context.grammar.walked.reaches(path.pointer) {
        return;
    }
    // A schema that accepts nothing needs no type.
    if is_never(node) && !is_required {
        return;
    }
    let sufficient_keywords = if is_required { context.grammar.typed.one_of() } else { IMPLY_A_TYPE };
    if object.has(Keyword::Type)
        || inferred.skips_types
        || (inferred.is_item_of_anything && object.is_empty() && !is_required)
        || Keywords::in_object(object).intersects(sufficient_keywords)
    {
        return;
    }
    if is_open_map(path) && object.is_empty() {
        let location = Location::of(node);
        context.diagnostics.report(path, location.in_place(), OPEN, || {
            String::from("replaced `additionalProperties: {}` with `true`")
        });
        node.replace(Data::Bool(true));
        return;
    }
    let implied = implied_types(object);
    match (implied.as_slice(), inferred.types) {
        // The validator does not check this schema.
        ([], _) if path.keyword.is_some_and(|keyword| context.grammar.opaque.contains(keyword)) => {}
        // `string` is not assumed if another schema excludes it.
        ([], Some(inherited))
            if context.untyped == Untyped::String && !InstanceTypes::STRING.is_subset_of(inherited) =>
        {
            match TYPE_NAMES.iter().find(|name| inherited.is_subset_of(InstanceTypes::of_name(name))) {
                Some(name) => write_known_types(node, path, &[name], context),
                None if is_required => anything::write(node, path, context),
                None => {}
            }
        }
        ([], _) if is_required => match type_of_part(object) {
            Some(name) => write_known_types(node, path, &[name], context),
            None => anything::write(node, path, context),
        },
        ([], _) => anything::write(node, path, context),
        // The grammar requires a type even if another schema declares it.
        ([name], Some(inherited)) if is_required && inherited.is_subset_of(InstanceTypes::of_name(name)) => {
            write_implied_types(node, path, &[name], INFER, context)
        }
        // The keywords apply only to types that the instance cannot have, so they constrain nothing.
        (names, Some(inherited))
            if is_required && !names.iter().any(|name| InstanceTypes::of_name(name).is_subset_of(inherited)) =>
        {
            let inherited: Vec<&'static str> = inherited.names().collect();
            write_known_types(node, path, &inherited, context);
        }
        (names, Some(_)) if is_required => {
            write_implied_types(node, path, names, INFER.accepts(Accepts::Narrower), context)
        }
        // The validator does not check this schema, so a type gains nothing.
        (_, Some(_)) if inferred.opaque => {}
        (names, Some(inherited)) => {
            // Another schema declares the types: writing the same types changes nothing, writing others would change
            // too much.
            if let [name] = names {
                if inherited.is_subset_of(InstanceTypes::of_name(name)) {
                    write_implied_types(node, path, names, INFER, context);
                }
            }
        }
        // The validator does not check this schema, so a guess gains nothing.
        (_, None) if inferred.opaque => {}
        (names, None) => write_implied_types(node, path, names, INFER.accepts(Accepts::Narrower), context),
    }
}

/// Returns true if a schema has no type although one could be written.
pub(crate) fn has_untyped(root: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Result<bool, Error> {
    let mut is_found = false;
    // For each enclosing schema, true if it accepts anything.
    let mut enclosing: Vec<bool> = Vec::new();
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        enclosing.truncate(path.depth);
        let is_item_of_anything = path.keyword == Some(Keyword::Items) && enclosing.last() == Some(&true);
        enclosing.push(legalize::names_all_types(node));
        if path.keyword.is_some_and(|keyword| legalize::NOT_TYPED.contains(keyword) || grammar.opaque.contains(keyword))
        {
            return Ok(Visit::Skip);
        }
        let is_untyped = |object: &Object<'_>| {
            let is_typed = object.has(Keyword::Type) || Keywords::in_object(object).intersects(IMPLY_A_TYPE);
            let is_left_open = is_item_of_anything && object.is_empty();
            !is_typed && !is_left_open
        };
        is_found |= node.as_object().is_some_and(is_untyped) && !is_never(node);
        Ok(if is_found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_found)
}

fn type_of_part(object: &Object<'_>) -> Option<&'static str> {
    let parts = object.array_at(Keyword::AllOf)?;
    let names = parts
        .iter()
        .filter_map(|part| part.get(Keyword::Type))
        .filter_map(|name| TYPE_NAMES.iter().find(|known| name.is_text(known)));
    names.copied().next()
}

fn implied_types(object: &Object<'_>) -> Vec<&'static str> {
    let constrains = |kind: InstanceType| {
        object.iter().any(|member| Keyword::named(&member.key).and_then(Keyword::applies_to) == Some(kind))
    };
    [
        (InstanceType::Object, "object"),
        (InstanceType::Array, "array"),
        (InstanceType::String, "string"),
        (InstanceType::Number, "number"),
    ]
    .into_iter()
    .filter_map(|(kind, name)| constrains(kind).then_some(name))
    .collect()
}

fn join_names(names: &[&str], last: &str) -> String {
    format!("`{}`", names.join(&format!("` {last} `")))
}

fn write_implied_types<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    names: &[&'static str],
    effect: ChangeKind,
    context: &mut PassContext,
) {
    write_type(node, path, names, effect, context, || {
        format!("added `type`: the keywords here apply to values of type {}", join_names(names, "and"))
    });
}

fn write_known_types<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    names: &[&'static str],
    context: &mut PassContext,
) {
    write_type(node, path, names, INFER, context, || {
        format!("added `type`: the value is known to be of type {}", join_names(names, "or"))
    });
}

fn write_type<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    names: &[&'static str],
    effect: ChangeKind,
    context: &mut PassContext,
    message: impl FnOnce() -> String,
) {
    context.diagnostics.report(path, Location::of(node).to(Location::under(node, "type")), effect, message);
    let types = match names {
        [name] => Node::literal(name),
        names => Node::array(names.iter().map(|name| Node::literal(name)).collect()),
    };
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("type"), types);
    }
}

const SPLIT: ChangeKind = ChangeKind::of(Rule::SplitTypeList);

pub(crate) fn split<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(types) = object.array_at(Keyword::Type) else { return };
    let lists = match context.grammar.type_lists {
        TypeLists::Any => TypeLists::Any,
        lists if context.grammar.walked.reaches(path.pointer) => lists,
        _ => TypeLists::Any,
    };
    if let ([name], TypeLists::None) = (types, lists) {
        let name = name.clone();
        let location = Location::under(node, "type");
        context.diagnostics.report(path, location.to(Location::under(node, "type")), SPLIT, || {
            String::from("replaced a list of one type with that type")
        });
        node.set("type", name);
        return;
    }
    if types.len() < 2 {
        return;
    }
    let is_container = |name: &Node<'_>| name.is_text("object") || name.is_text("array");
    let refused = match lists {
        TypeLists::Any => false,
        TypeLists::Scalars => types.iter().any(is_container),
        TypeLists::None => true,
    };
    let beside = context.grammar.beside_type_list;
    let accepted = |member: &Member<'_>| {
        member.key.is(Keyword::Type)
            || Keyword::named(&member.key)
                .is_some_and(|keyword| beside.is_none_or(|rule| rule.anywhere.contains(keyword)))
    };
    // `enum` with several types has its own pass, which ran before this one.
    if object.has(Keyword::Enum) || (!refused && object.iter().all(accepted)) {
        return;
    }
    let (location, count) = (Location::under(node, "type"), types.len());
    context.diagnostics.report(path, location.to(Location::under(node, "anyOf")), SPLIT, || {
        format!("split `type` into {count} branches, one for each type")
    });
    let origin = node.origin();
    let TypeBranches { at, mut shared, mut branches } = take_branches(node, &context.budget);
    for branch in &mut branches {
        legalize::run_remaining_passes(branch, path, context);
    }
    let branches = Node::array(branches);
    if !shared.has(Keyword::AnyOf) {
        shared.insert_at(at, Text::literal("anyOf"), branches);
        node.replace(Data::Object(shared));
        return;
    }
    // A value must have one of the types and match one of the existing branches.
    let union = Node::record([("anyOf", branches)]).with_origin(origin);
    *node = intersected((Node::object(shared).with_origin(origin), union), at, path.polarity, None, context);
    node.touch();
}

pub(crate) struct TypeBranches<'a> {
    /// Position of `type`.
    pub(crate) at: usize,
    /// Keywords that apply to all types, and annotations.
    pub(crate) shared: Object<'a>,
    pub(crate) branches: Vec<Node<'a>>,
}

pub(crate) fn take_branches<'a>(node: &mut Node<'a>, budget: &Budget) -> TypeBranches<'a> {
    let origin = node.origin();
    let object = node.as_object_mut().map(core::mem::take).unwrap_or_default();
    let at = object.position(Keyword::Type).unwrap_or_default();
    let (mut type_names, mut shared, mut type_specific): (Vec<Text<'a>>, Vec<Member<'a>>, Vec<Member<'a>>) =
        Default::default();
    for member in object.into_members() {
        let of_one_type = Keyword::named(&member.key).and_then(Keyword::applies_to).is_some();
        match member.key.is(Keyword::Type) {
            true => {
                type_names.extend(member.value.as_array().unwrap_or_default().iter().filter_map(Node::as_text).cloned())
            }
            false if of_one_type && !is_annotation(&member) => type_specific.push(member),
            false => shared.push(member),
        }
    }
    let branches = type_names.into_iter().map(|name| {
        let types = InstanceType::named(&name);
        let applies_to_type = |member: &&Member<'a>| {
            types.is_some() && Keyword::named(&member.key).and_then(Keyword::applies_to) == types
        };
        let type_specific = type_specific.iter().filter(applies_to_type).map(|member| member.copy(budget));
        let members =
            core::iter::once(Member { key: Text::literal("type"), value: Node::string(name) }).chain(type_specific);
        Node::object(Object::from_unique(members.collect())).with_origin(origin)
    });
    TypeBranches { at, branches: branches.collect(), shared: Object::from_unique(shared) }
}

const TRUE_TO_ANY: ChangeKind = ChangeKind::of(Rule::BooleanToAny);
const FALSE: ChangeKind = ChangeKind::of(Rule::BooleanToNot);
const FALSE_TO_ANY: ChangeKind = ChangeKind::of(Rule::BooleanToAny).accepts(Accepts::Wider).guidance(Guidance::Lost);

/// Returns false if the schema is final.
pub(crate) fn replace_boolean<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) -> bool {
    let Some(value) = node.as_bool() else { return true };
    // If references resolve only to names of definitions, definitions must be objects.
    let definition = path.keyword == Some(Keyword::Defs) && !context.grammar.refs.anywhere;
    let is_plain =
        !context.grammar.root_booleans && path.keyword == Some(Keyword::Properties) && path.pointer.steps().len() == 2;
    let is_no_root = path.keyword.is_some() || context.grammar.boolean_root;
    let is_kept = (is_no_root
        && !is_plain
        && context.grammar.boolean_schemas
        && (value || context.grammar.false_schemas)
        && !definition)
        || (path.keyword == Some(Keyword::Items) && context.grammar.boolean_schemas)
        || is_open_map(path)
        || matches!(path.keyword, Some(Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties))
        || (inferred.opaque && inferred.skips_types);
    if is_kept {
        return false;
    }
    let location = Location::of(node);
    if value {
        context.diagnostics.report(path, location.in_place(), TRUE_TO_ANY, || {
            String::from("replaced `true`, which accepts anything, with an object schema")
        });
        node.replace(Data::Object(Object::new()));
    } else if context.grammar.refuses.contains(Keyword::Not) {
        context.diagnostics.report(path, location.in_place(), FALSE_TO_ANY, || {
            String::from("replaced `false`, which this API cannot express, with a schema that accepts anything")
        });
        node.replace(Data::Object(Object::new()));
        return true;
    } else {
        context.diagnostics.report(path, location.in_place(), FALSE, || {
            format!("replaced `{value}`, which accepts nothing, with `{{\"not\":{{}}}}`")
        });
        node.replace(Node::record([("not", Node::empty_object())]).into_data());
    }
    value
}
