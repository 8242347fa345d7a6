//! Lowers a plain schema for an API whose objects are all closed: from the root down, each schema before its
//! subschemas. An object is closed if it refuses all properties that it does not declare.
//!
//! Finds overlapping branches of unions: after every object is closed, one branch refuses the properties that only the
//! other branch declares. The branch then *loses* these properties. If one branch declares all properties of the other
//! at every level, nothing is lost: it still accepts every instance that both branches accepted.

use alloc::{format, string::String, vec, vec::Vec};

use super::layout::{self, AdditionalProperties, Definitions, Members, Shape, Typed, KEY, VALUE};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{Grammar, RequiredRule},
    effect::Accepts,
    error::Error,
    json::{self, Data, LookUp, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        analysis::Naming,
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::nullable,
    },
    schema::{
        emptiness::are_disjoint,
        keyword::{InstanceType, Keyword, Keywords, Role},
        references::{self, Number},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CLOSE_OBJECT: ChangeKind = ChangeKind::of(Rule::CloseObject);
const ADD_PROPERTIES: ChangeKind = ChangeKind::of(Rule::AddProperties);
const ADD_REQUIRED: ChangeKind = ChangeKind::of(Rule::AddRequired);
const DROP_UNKNOWN_REQUIRED: ChangeKind = ChangeKind::of(Rule::DropUnknownRequired).accepts(Accepts::Same);
const REQUIRE_OPTIONAL: ChangeKind = ChangeKind::of(Rule::RequireOptional);
const DROP_KEYWORD: ChangeKind = ChangeKind::of(Rule::DropKeyword);
const MAP_TO_PAIRS: ChangeKind = ChangeKind::of(Rule::MapToPairs);
const LOOSEN_UNIQUE_ITEMS: ChangeKind = ChangeKind::of(Rule::LoosenUniqueItems);
const VALUES_TO_JSON: ChangeKind = ChangeKind::of(Rule::ValuesToJson);

const OTHERS_DESCRIPTION: &str = "Other properties, as pairs of key and value";

pub(crate) fn lower_schema(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    // References resolve against the schema before lowering; without references no copy is needed.
    let unlowered = if references::mentions_references(root) { root.copy(&context.budget) } else { Node::default() };
    let budget = context.budget.clone();
    let definitions = Definitions::of(&unlowered, &budget);
    let anything_name = anything::definition_name(root);
    let overlaps = match context.diagnostics.is_on() {
        true => overlapping_objects(root, &definitions, context)?,
        false => None,
    };
    let mut lowering =
        Lowering { context, definitions: &definitions, overlaps, anything_name: &anything_name, uses_anything: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut lowering)?;
    if lowering.uses_anything {
        anything::add_definition(root, &anything_name);
    }
    Ok(())
}

/// Schema for the values of key-value pairs; `None` accepts anything.
type PairValue<'a> = Option<Node<'a>>;

struct Lowering<'w, 'n, 'a> {
    context: &'w mut PassContext,
    definitions: &'w Definitions<'n, 'a>,
    /// Objects that lose properties; `None` if this is not known, so any object may lose some.
    overlaps: Option<Set<Number>>,
    /// Name of the definition that accepts anything.
    anything_name: &'w str,
    uses_anything: bool,
}

impl<'a> VisitorMut<'a> for Lowering<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let grammar = self.context.grammar;
        let is_root = path.keyword.is_none();
        if path.keyword == Some(Keyword::AdditionalProperties) {
            // Lowering keeps only the value `false` of `additionalProperties`.
            return Ok(Visit::Skip);
        }
        match layout::of(node, is_root, grammar) {
            Shape::Anything => {
                self.uses_anything |= anything::encode(node, path, self.anything_name, self.context);
                return Ok(Visit::Skip);
            }
            Shape::Reference => return Ok(Visit::Skip),
            Shape::Union(branches) => {
                let wrappers = self.definitions.wrapper_names(branches, grammar);
                if wrappers.iter().any(Option::is_some) {
                    node.visit(Keyword::AnyOf, |branches| {
                        for (branch, name) in branches.as_array_mut().into_iter().flatten().zip(wrappers) {
                            if let Some(name) = name {
                                wrap_branch(branch, name);
                            }
                        }
                    });
                }
            }
            Shape::Values(_) => {
                self.encode_values(node, path);
                return Ok(Visit::Skip);
            }
            Shape::Typed(Typed { object, accepts_arrays, items }) => {
                let is_unique = accepts_arrays
                    && self.context.diagnostics.is_on()
                    && node.get(Keyword::UniqueItems).and_then(Node::as_bool) == Some(true);
                if is_unique && items.is_none_or(|items| has_several_encodings(items, grammar, &self.context.budget)) {
                    let location = Location::under(node, "uniqueItems");
                    self.context.diagnostics.report(path, location.in_place(), LOOSEN_UNIQUE_ITEMS, || {
                        String::from("kept `uniqueItems` for encoded items: one value may be encoded in several ways")
                    });
                }
                if accepts_arrays && items.is_none() && grammar.arrays.require_items() {
                    if let Some(object) = node.as_object_mut() {
                        object.set(Text::literal("items"), Node::empty_object());
                    }
                    return self.lower_object(node, path, is_root);
                }
                if object.is_some() {
                    return self.lower_object(node, path, is_root);
                }
            }
        }
        Ok(Visit::Descend)
    }
}

impl<'a> Lowering<'_, '_, 'a> {
    fn lower_object(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, is_root: bool) -> Result<Visit, Error> {
        let grammar = self.context.grammar;
        let Shape::Typed(Typed { object: Some(members), .. }) = layout::of(node, is_root, grammar) else {
            return Ok(Visit::Descend);
        };
        match members {
            Members::Map(value) => {
                let value = value.map(|value| value.copy(&self.context.budget));
                self.replace_map_with_pairs(node, path, value);
            }
            Members::Nothing => {
                let location = Location::of(node);
                self.context.diagnostics.report(path, location.in_place(), VALUES_TO_JSON, || {
                    String::from(
                        "replaced the empty object with a string that contains JSON: an object must have a property",
                    )
                });
                let list = Node::array(vec![Node::literal("{}")]);
                if let Some(object) = node.as_object_mut() {
                    object.retain(|member| is_title_or_description(&member.key));
                    object.insert_at(0, Text::literal("type"), Node::literal("string"));
                    object.set(Text::literal("enum"), list);
                }
                return Ok(Visit::Skip);
            }
            Members::Record { others } => {
                let pair_value = match others {
                    AdditionalProperties::Closed => None,
                    AdditionalProperties::Undeclared => {
                        self.report_closing(node, path);
                        None
                    }
                    AdditionalProperties::Open(value) => Some(value.map(|value| value.copy(&self.context.budget))),
                };
                self.lower_record(node, path, pair_value);
            }
        }
        Ok(Visit::Descend)
    }

    fn report_closing(&mut self, node: &Node<'a>, path: &SchemaPath<'_, 'a>) {
        if !self.context.diagnostics.is_on() {
            return;
        }
        let is_overlap = |objects: &Set<Number>| node.origin().number().is_none_or(|number| objects.contains(&number));
        let is_narrower =
            self.overlaps.as_ref().is_none_or(is_overlap) || self.context.diagnostics.mentions_others(node);
        let effect = if is_narrower { CLOSE_OBJECT.accepts(Accepts::Narrower) } else { CLOSE_OBJECT };
        let (from, to) = (Location::of(node), Location::under(node, "additionalProperties"));
        self.context.diagnostics.report(path, from.to(to), effect, || {
            let message = "closed an object that did not declare `additionalProperties`";
            match is_narrower {
                true => format!("{message}: other parts of the schema describe other properties"),
                false => String::from(message),
            }
        });
    }

    fn replace_map_with_pairs(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, value: PairValue<'a>) {
        self.context.diagnostics.report(
            path,
            Location::of(node).to(Location::under(node, "items")),
            MAP_TO_PAIRS,
            || String::from("replaced a free-form object with a list of key-value pairs"),
        );
        // Keywords for objects are removed, because pairs replace the object. Keywords for arrays would now apply to
        // the list of pairs, so they are removed if they had no effect before.
        let applies_to =
            |key: &Text<'_>, kind: InstanceType| Keyword::named(key).and_then(Keyword::applies_to) == Some(kind);
        let accepts_arrays = node.as_object().is_some_and(|object| layout::declares(object, "array"));
        let has_no_effect = |member: &Member<'_>| !accepts_arrays && applies_to(&member.key, InstanceType::Array);
        let members = self.context.budget.each(node.as_object().into_iter().flatten());
        for member in members.filter(|member| has_no_effect(member)) {
            let name = member.key.display().into_owned();
            self.context.diagnostics.report(path, Location::under(node, name.clone()).removed(), DROP_KEYWORD, || {
                format!("removed `{name}`: it has no effect on values of this type")
            });
        }
        let Some(object) = node.as_object_mut() else { return };
        object.retain(|member| !applies_to(&member.key, InstanceType::Object) && !has_no_effect(member));
        if let Some(types) = object.get_mut(Keyword::Type) {
            match types.as_array_mut() {
                Some(names) => names
                    .iter_mut()
                    .filter(|name| name.is_text("object"))
                    .for_each(|name| *name = Node::literal("array")),
                None => *types = Node::literal("array"),
            }
        }
        object.set(Text::literal("items"), pair(value));
    }

    fn lower_record(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, pair_value: Option<PairValue<'a>>) {
        let (object_rules, location) = (self.context.grammar.objects, Location::of(node));
        let Some(object) = node.as_object() else { return };
        let required = layout::required(object);
        let is_optional: Vec<bool> = object
            .object_at(Keyword::Properties)
            .into_iter()
            .flatten()
            .map(|member| !required.contains(&member.key))
            .collect();
        let additional = pair_value.map(|value| (value, layout::additional_name(object)));
        if object_rules.required == RequiredRule::All && is_optional.contains(&true) {
            let definitions = self.definitions;
            let context = &mut *self.context;
            node.visit(Keyword::Properties, |table| {
                let origin = table.origin();
                let members = table.as_object_mut().into_iter().flat_map(Object::members_mut);
                let members = context.budget.each(members.zip(&is_optional));
                for (member, _) in members.filter(|(_, is_optional)| **is_optional) {
                    let already_accepts_null = !definitions.may_use_null_for_absence(&member.value, context.grammar);
                    if context.diagnostics.is_on() {
                        let name = member.key.display().into_owned();
                        let effect = match already_accepts_null {
                            true => REQUIRE_OPTIONAL.accepts(Accepts::Narrower),
                            false => REQUIRE_OPTIONAL.encoded(true),
                        };
                        let at = origin
                            .number()
                            .map_or_else(|| location.clone(), |number| Location::Keyword(number, name.clone().into()));
                        context.diagnostics.report(path, at.in_place(), effect, || match already_accepts_null {
                            true => format!(
                                "made optional `{name}` required; it already accepts null, so null and \
                                omitted can no longer be told apart"
                            ),
                            false => {
                                format!("made optional `{name}` required, with null if it is absent")
                            }
                        });
                    }
                    if !already_accepts_null {
                        nullable::admit_null(&mut member.value, context.grammar);
                    }
                }
            });
        }
        if let Some((value, additional_name)) = additional {
            let (from, to) = (Location::under(node, "additionalProperties"), Location::under(node, "properties"));
            self.context.diagnostics.report(path, from.to(to), MAP_TO_PAIRS, || {
                format!("moved undeclared members to key-value pairs in `{additional_name}`")
            });
            let list = Node::record([
                ("type", Node::literal("array")),
                ("items", pair(value)),
                ("description", Node::literal(OTHERS_DESCRIPTION)),
            ]);
            if let Some(object) = node.as_object_mut() {
                if !object.has(Keyword::Properties) {
                    let index = object.position(Keyword::Type).map_or(0, |at| at + 1);
                    object.insert_at(index, Text::literal("properties"), Node::empty_object());
                }
            }
            node.visit(Keyword::Properties, |table| {
                if let Some(table) = table.as_object_mut() {
                    table.set(Text::new(additional_name.clone()), list);
                }
            });
        }
        let names = node.object_at(Keyword::Properties).into_iter().flatten().map(|member| member.key.clone());
        let names: Vec<Text<'a>> = names.collect();
        let required_count = node.array_at(Keyword::Required).map(<[_]>::len);
        let lacks_properties = !object_rules.properties.is_free() && node.get(Keyword::Properties).is_none();
        if lacks_properties {
            let (from, to) = (Location::of(node), Location::under(node, "properties"));
            self.context
                .diagnostics
                .report(path, from.to(to), ADD_PROPERTIES, || String::from("added `properties: {}`"));
        }
        let omits_required = names.is_empty() && self.context.grammar.required_beside_properties;
        if object_rules.required == RequiredRule::All && names.is_empty() {
            let required_location = Location::under(node, "required");
            match required_count {
                None if !omits_required => {
                    let location = Location::of(node).to(required_location);
                    self.context
                        .diagnostics
                        .report(path, location, ADD_REQUIRED, || String::from("added `required: []`"));
                }
                Some(0) if omits_required => {
                    let location = required_location.to(Location::Nowhere);
                    self.context.diagnostics.report(path, location, DROP_UNKNOWN_REQUIRED, || {
                        String::from("removed `required`, which names no property")
                    });
                }
                _ => {}
            }
        }
        let Some(object) = node.as_object_mut() else { return };
        if lacks_properties {
            let index = object.position(Keyword::Type).map_or(0, |at| at + 1);
            object.insert_at(index, Text::literal("properties"), Node::empty_object());
        }
        if object_rules.required == RequiredRule::All && omits_required {
            object.remove("required");
        } else if object_rules.required == RequiredRule::All && required_count != Some(names.len()) {
            object.set(Text::literal("required"), Node::array(names.into_iter().map(Node::string).collect()));
        }
        if object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) != Some(false) {
            object.set(Text::literal("additionalProperties"), Node::bool(false));
        }
    }

    fn encode_values(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let location = Location::of(node);
        // Other keywords constrained the values, but do not apply to the strings that replace them.
        let loses_assertions = node.as_object().is_some_and(|object| object.iter().any(anything::asserts));
        let effect = if loses_assertions { VALUES_TO_JSON.accepts(Accepts::Wider) } else { VALUES_TO_JSON };
        self.context.diagnostics.report(path, location.in_place(), effect, || {
            String::from("replaced the values of `enum` with strings that contain JSON: they are not scalars")
        });
        let Some(object) = node.as_object_mut() else { return };
        let values = match (object.remove(Keyword::Const), object.remove(Keyword::Enum).map(Node::into_data)) {
            (Some(value), _) => vec![value],
            (None, Some(Data::Array(values))) => values,
            _ => Vec::new(),
        };
        object.retain(|member| is_title_or_description(&member.key));
        object.insert_at(0, Text::literal("type"), Node::literal("string"));
        object.set(
            Text::literal("enum"),
            Node::array(values.iter().map(|value| Node::string(json::write_plain(value))).collect()),
        );
    }
}

/// Returns true if one value may be encoded as different JSON texts, or as pairs in different orders.
fn has_several_encodings<'a>(schema: &Node<'a>, grammar: &Grammar, budget: &Budget) -> bool {
    let mut is_ambiguous = false;
    // If the budget is spent, the enclosing walk reports it.
    let _ = visit::walk(budget, schema, Keywords::ALL, &mut |node, path| {
        let is_additional = path.keyword == Some(Keyword::AdditionalProperties);
        is_ambiguous |= match layout::of(node, false, grammar) {
            Shape::Anything => !(is_additional && node.as_bool() == Some(false)),
            // References are not followed, because each of them would inspect the definition again.
            Shape::Reference => true,
            Shape::Typed(Typed {
                object: Some(Members::Map(_) | Members::Record { others: AdditionalProperties::Open(_) }),
                ..
            }) => true,
            Shape::Typed(Typed { accepts_arrays, items, .. }) => accepts_arrays && items.is_none(),
            Shape::Union(_) | Shape::Values(_) => false,
        };
        Ok(if is_ambiguous { Visit::Skip } else { Visit::Descend })
    });
    is_ambiguous
}

fn is_title_or_description(key: &Text<'_>) -> bool {
    Keyword::named(key).is_some_and(|keyword| {
        matches!(keyword, Keyword::Title | Keyword::Description) && keyword.role() == Role::Annotation
    })
}

fn pair<'a>(value: PairValue<'a>) -> Node<'a> {
    let value = value.unwrap_or_else(Node::empty_object);
    Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::record([(KEY, Node::record([("type", Node::literal("string"))])), (VALUE, value)])),
        ("required", Node::array(vec![Node::literal(KEY), Node::literal(VALUE)])),
        ("additionalProperties", Node::bool(false)),
    ])
}

/// Wraps the branch in an object. Its list of pairs could otherwise be mistaken for the array of another branch.
fn wrap_branch(branch: &mut Node<'_>, name: String) {
    let origin = branch.origin();
    let inner = core::mem::take(branch);
    *branch = Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::object([(Text::new(name.clone()), inner)].into_iter().collect())),
        ("required", Node::array(vec![Node::string(name)])),
        ("additionalProperties", Node::bool(false)),
    ])
    .with_origin(origin);
}

/// Maximum number of pairs of schemas to compare. If there are more, the result is unknown.
const MAX_PAIRS: usize = 20_000;

/// Number of names that are looked up for one step of the budget.
const NAMES_PER_STEP: usize = 8;

/// Returns the objects that lose a property of another branch. Returns `None` if there are too many pairs.
fn overlapping_objects<'a>(
    root: &Node<'a>,
    definitions: &Definitions<'_, 'a>,
    context: &PassContext,
) -> Result<Option<Set<Number>>, Error> {
    let (grammar, budget, naming) = (context.grammar, &*context.budget, &context.diagnostics.naming);
    let mut search = OverlapSearch {
        definitions,
        grammar,
        budget,
        naming,
        remaining_pairs: MAX_PAIRS,
        overlaps: Set::new(),
        tables: Map::new(),
    };
    let mut is_complete = true;
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        if let Shape::Union(branches) = layout::of(node, path.keyword.is_none(), grammar) {
            is_complete = is_complete && search.find_in_union(branches).is_some();
        }
        Ok(if is_complete { Visit::Descend } else { Visit::Skip })
    })?;
    Ok(is_complete.then_some(search.overlaps))
}

struct OverlapSearch<'s, 'n, 'a> {
    definitions: &'s Definitions<'n, 'a>,
    grammar: &'s Grammar,
    budget: &'s Budget,
    naming: &'s Naming,
    remaining_pairs: usize,
    overlaps: Set<Number>,
    /// Indexes of the compared tables of properties, by the address of the table.
    tables: Map<*const Object<'a>, LookUp<'s, 'a>>,
}

/// The leaves of a union: branches that are not unions themselves. Pairs of leaves without a common instance
/// are not compared, so the leaves are grouped.
#[derive(Default)]
struct Leaves<'s, 'a> {
    /// Leaves that are not in a branch of a `oneOf`.
    unconditional: Vec<&'s Node<'a>>,
    /// Leaves in branches of a `oneOf`, by its number, then by the number of the branch.
    exclusive: Map<Number, Map<Number, Vec<&'s Node<'a>>>>,
}

/// Describes what two branches lose on the instances that both accept.
#[derive(Default)]
struct Loss {
    left_loses: bool,
    right_loses: bool,
    losing_objects: Vec<Number>,
}

struct DeclaredProperties<'s, 'a> {
    table: Option<&'s Object<'a>>,
    others: AdditionalProperties<'s, 'a>,
}

impl<'s, 'a> DeclaredProperties<'s, 'a> {
    fn names(&self) -> impl Iterator<Item = (&'s Text<'a>, &'s Node<'a>)> {
        self.table.into_iter().flatten().map(|member| (&member.key, &member.value))
    }

    fn len(&self) -> usize {
        self.table.map_or(0, Object::len)
    }

    fn schema_of_others(&self) -> Option<&'s Node<'a>> {
        match self.others {
            AdditionalProperties::Open(schema) => schema,
            AdditionalProperties::Closed | AdditionalProperties::Undeclared => None,
        }
    }

    /// `common` is the number of properties that both objects declare.
    fn loses_to(&self, other: &DeclaredProperties<'s, 'a>, common: usize) -> bool {
        matches!(self.others, AdditionalProperties::Undeclared)
            && (matches!(other.others, AdditionalProperties::Open(_)) || other.len() > common)
    }
}

impl<'s, 'a> OverlapSearch<'s, '_, 'a> {
    /// Finds overlaps of the branches of a union. Returns `None` if there are too many pairs.
    fn find_in_union(&mut self, branches: &'s [Node<'a>]) -> Option<()> {
        let Leaves { unconditional, exclusive } = self.group_leaves(branches)?;
        self.compare_all_pairs(&unconditional)?;
        let mut compared = unconditional;
        for branches in exclusive.values() {
            // No instance matches two branches of one `oneOf`.
            for leaves in branches.values() {
                self.compare_all_pairs(leaves)?;
                self.compare_pairs(&compared, leaves)?;
            }
            compared.extend(branches.values().flatten());
        }
        Some(())
    }

    fn group_leaves(&mut self, branches: &'s [Node<'a>]) -> Option<Leaves<'s, 'a>> {
        let mut grouped = Leaves::default();
        for branch in branches {
            let group = match self.naming.alternative(branch) {
                Some((union, branch)) => grouped.exclusive.entry(union).or_default().entry(branch).or_default(),
                None => &mut grouped.unconditional,
            };
            self.collect_leaves(branch, group)?;
        }
        Some(grouped)
    }

    fn compare_all_pairs(&mut self, leaves: &[&'s Node<'a>]) -> Option<()> {
        for (at, leaf) in leaves.iter().enumerate() {
            self.compare_pairs(&[*leaf], leaves.get(at + 1..).unwrap_or_default())?;
        }
        Some(())
    }

    fn compare_pairs(&mut self, lefts: &[&'s Node<'a>], rights: &[&'s Node<'a>]) -> Option<()> {
        for left in lefts {
            for right in rights {
                let loss = self.compare(left, right)?;
                if loss.left_loses && loss.right_loses && !are_disjoint(self.budget, left, right) {
                    self.overlaps.extend(loss.losing_objects);
                }
            }
        }
        Some(())
    }

    fn pay(&mut self) -> Option<()> {
        self.remaining_pairs = self.remaining_pairs.checked_sub(1).filter(|_| self.budget.pay(1))?;
        Some(())
    }

    fn collect_leaves(&mut self, schema: &'s Node<'a>, leaves: &mut Vec<&'s Node<'a>>) -> Option<()> {
        let mut pending = Vec::from([schema]);
        while let Some(schema) = pending.pop() {
            self.pay()?;
            let schema = self.definitions.follow(schema)?;
            match layout::of(schema, self.definitions.is_root(schema), self.grammar) {
                Shape::Union(branches) => pending.extend(branches.iter().rev()),
                _ => leaves.push(schema),
            }
        }
        Some(())
    }

    fn compare(&mut self, left: &'s Node<'a>, right: &'s Node<'a>) -> Option<Loss> {
        let (mut loss, mut compared_pairs, mut pending) = (Loss::default(), Set::new(), Vec::from([(left, right)]));
        while let Some((left, right)) = pending.pop() {
            self.pay()?;
            let (mut lefts, mut rights) = (Vec::new(), Vec::new());
            self.collect_leaves(left, &mut lefts)?;
            self.collect_leaves(right, &mut rights)?;
            for left in lefts {
                for right in &rights {
                    let pair = (left.origin().number(), right.origin().number());
                    // A skipped pair costs a step, but does not reduce the number of remaining pairs.
                    self.budget.pay(1).then_some(())?;
                    // Two copies of one sibling of the union lose nothing.
                    let is_same_sibling = pair.0.is_some() && pair.0 == pair.1;
                    if !is_same_sibling && ((pair.0.is_none() && pair.1.is_none()) || compared_pairs.insert(pair)) {
                        self.pay()?;
                        self.compare_leaves(left, right, &mut loss, &mut pending);
                    }
                }
            }
        }
        Some(loss)
    }

    /// Records what each of two schemas loses, and adds the pairs of their subschemas to `pending`.
    fn compare_leaves(
        &mut self,
        left: &'s Node<'a>,
        right: &'s Node<'a>,
        loss: &mut Loss,
        pending: &mut Vec<(&'s Node<'a>, &'s Node<'a>)>,
    ) {
        let shape_of = |schema| layout::of(schema, self.definitions.is_root(schema), self.grammar);
        let (left_typed, right_typed) = match (shape_of(left), shape_of(right)) {
            (Shape::Typed(left_typed), Shape::Typed(right_typed)) => (left_typed, right_typed),
            // A branch that accepts anything loses nothing, so the other branch is treated as the loser.
            (Shape::Anything, Shape::Anything) => return,
            (Shape::Anything, _) => return loss.right_loses = true,
            (_, Shape::Anything) => return loss.left_loses = true,
            _ => return,
        };
        if left_typed.accepts_arrays && right_typed.accepts_arrays {
            pending.extend(left_typed.items.zip(right_typed.items));
        }
        let (Some(lefts), Some(rights)) =
            (declared_properties(left, &left_typed), declared_properties(right, &right_typed))
        else {
            return;
        };
        // The names of the smaller object are looked up in the larger one.
        let common = if lefts.len() <= rights.len() {
            self.visit_common(&lefts, &rights, &mut |left, right| pending.push((left, right)))
        } else {
            self.visit_common(&rights, &lefts, &mut |right, left| pending.push((left, right)))
        };
        if lefts.loses_to(&rights, common) {
            loss.left_loses = true;
            loss.losing_objects.extend(left.origin().number());
        }
        if rights.loses_to(&lefts, common) {
            loss.right_loses = true;
            loss.losing_objects.extend(right.origin().number());
        }
        if let Some(others) = rights.schema_of_others() {
            self.visit_undeclared(&lefts, &rights, &mut |schema| pending.push((schema, others)));
        }
        if let Some(others) = lefts.schema_of_others() {
            self.visit_undeclared(&rights, &lefts, &mut |schema| pending.push((others, schema)));
        }
        pending.extend(lefts.schema_of_others().zip(rights.schema_of_others()));
    }

    /// Visits the properties that both objects declare, and returns their number.
    fn visit_common(
        &mut self,
        small: &DeclaredProperties<'s, 'a>,
        large: &DeclaredProperties<'s, 'a>,
        each: &mut dyn FnMut(&'s Node<'a>, &'s Node<'a>),
    ) -> usize {
        let mut count = 0;
        self.visit_properties(small, large, &mut |schema, other| {
            if let Some(other) = other {
                count += 1;
                each(schema, other);
            }
        });
        count
    }

    fn visit_undeclared(
        &mut self,
        left: &DeclaredProperties<'s, 'a>,
        right: &DeclaredProperties<'s, 'a>,
        each: &mut dyn FnMut(&'s Node<'a>),
    ) {
        self.visit_properties(left, right, &mut |schema, right| {
            if right.is_none() {
                each(schema);
            }
        });
    }

    /// Visits the properties of an object, each with the property of that name in the other object.
    fn visit_properties(
        &mut self,
        object: &DeclaredProperties<'s, 'a>,
        other: &DeclaredProperties<'s, 'a>,
        each: &mut dyn FnMut(&'s Node<'a>, Option<&'s Node<'a>>),
    ) {
        let Some(table) = other.table else { return object.names().for_each(|(_, schema)| each(schema, None)) };
        let is_new = !self.tables.contains_key(&core::ptr::from_ref(table));
        let names = object.len() + if is_new { table.len() } else { 0 };
        if self.budget.pay(names / NAMES_PER_STEP) {
            let table = self.tables.entry(core::ptr::from_ref(table)).or_insert_with(|| LookUp::of(table));
            object.names().for_each(|(name, schema)| each(schema, table.get(name)));
        }
    }
}

fn declared_properties<'s, 'a>(schema: &'s Node<'a>, typed: &Typed<'s, 'a>) -> Option<DeclaredProperties<'s, 'a>> {
    let table = schema.object_at(Keyword::Properties);
    match typed.object.as_ref()? {
        Members::Record { others } => Some(DeclaredProperties { table, others: *others }),
        Members::Map(value) => Some(DeclaredProperties { table: None, others: AdditionalProperties::Open(*value) }),
        Members::Nothing => None,
    }
}
