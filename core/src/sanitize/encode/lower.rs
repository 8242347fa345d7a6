//! Lowers a plain schema for an API whose objects are all closed: from the root down, each schema before its
//! subschemas.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    budget::Budget,
    collections::Set,
    dialect::grammar::{Grammar, PropertiesRule, RequiredRule},
    error::Error,
    json::{self, Data, Member, Node, Object, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::{
            layout::{self, AdditionalProperties, Definitions, Members, Shape, Typed, KEY, VALUE},
            overlap,
        },
        null,
    },
    schema::{
        keyword::{InstanceType, Keyword, Keywords, Role},
        references::{self, Number},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CLOSE: ChangeKind = ChangeKind::of(Rule::CloseObject);
const PROPERTIES: ChangeKind = ChangeKind::of(Rule::AddProperties);
const REQUIRE: ChangeKind = ChangeKind::of(Rule::RequireOptional);
const DROP: ChangeKind = ChangeKind::of(Rule::DropKeyword);
const MAP: ChangeKind = ChangeKind::of(Rule::MapToPairs);
const UNIQUE: ChangeKind = ChangeKind::of(Rule::LoosenUniqueItems);
const VALUES: ChangeKind = ChangeKind::of(Rule::ValuesToJson);

/// Description of the property for all other members.
const OTHERS_DESCRIPTION: &str = "Other properties, as pairs of key and value";

pub(crate) fn write(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    // References resolve against the schema before lowering; without references no copy is needed.
    let plain = if references::mentions_references(root) { root.copy(&context.budget) } else { Node::default() };
    let budget = context.budget.clone();
    let definitions = Definitions::of(&plain, &budget);
    let definition = anything::definition_name(root);
    let overlaps = match context.diagnostics.is_on() {
        true => overlap::objects(root, &definitions, context)?,
        false => None,
    };
    let mut writer =
        Writer { context, definitions: &definitions, overlaps, definition: &definition, uses_definition: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut writer)?;
    if writer.uses_definition {
        anything::define(root, &definition);
    }
    Ok(())
}

struct Writer<'w, 'n, 'a> {
    context: &'w mut PassContext,
    definitions: &'w Definitions<'n, 'a>,
    /// Objects that lose properties which another branch of a union declares; `None` means any object may.
    overlaps: Option<Set<Number>>,
    /// Name of the definition of "anything".
    definition: &'w str,
    uses_definition: bool,
}

impl<'a> VisitorMut<'a> for Writer<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let grammar = self.context.grammar;
        let is_root = place.keyword.is_none();
        if place.keyword == Some(Keyword::AdditionalProperties) {
            // Lowering keeps no other value of `additionalProperties` than `false`.
            return Ok(Visit::Skip);
        }
        match layout::of(node, is_root, grammar) {
            Shape::Anything => {
                self.uses_definition |= anything::encode(node, place, self.definition, self.context);
                return Ok(Visit::Skip);
            }
            Shape::Reference => return Ok(Visit::Skip),
            Shape::Union(branches) => {
                let wrappers = self.definitions.wrappers(branches, grammar);
                if wrappers.iter().any(Option::is_some) {
                    node.visit(Keyword::AnyOf, |branches| {
                        for (branch, name) in branches.as_array_mut().into_iter().flatten().zip(wrappers) {
                            if let Some(name) = name {
                                wrap(branch, name);
                            }
                        }
                    });
                }
            }
            Shape::Values(_) => {
                self.values(node, place);
                return Ok(Visit::Skip);
            }
            Shape::Typed(Typed { object, array, items }) => {
                let is_unique = array
                    && self.context.diagnostics.is_on()
                    && node.get(Keyword::UniqueItems).and_then(Node::as_bool) == Some(true);
                if is_unique && items.is_none_or(|items| has_spellings(items, grammar, &self.context.budget)) {
                    let location = Location::under(node, "uniqueItems");
                    self.context.diagnostics.report(place, location.in_place(), UNIQUE, || {
                        String::from("kept `uniqueItems` for encoded items: one value may be encoded in several ways")
                    });
                }
                if array && items.is_none() && grammar.arrays.require_items() {
                    if let Some(object) = node.as_object_mut() {
                        object.set(Text::literal("items"), Node::empty_object());
                    }
                    return self.members(node, place, is_root);
                }
                if object.is_some() {
                    return self.members(node, place, is_root);
                }
            }
        }
        Ok(Visit::Descend)
    }
}

impl<'a> Writer<'_, '_, 'a> {
    fn members(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, is_root: bool) -> Result<Visit, Error> {
        let grammar = self.context.grammar;
        let Shape::Typed(Typed { object: Some(members), .. }) = layout::of(node, is_root, grammar) else {
            return Ok(Visit::Descend);
        };
        match members {
            Members::Map(value) => {
                let value = value.map(|value| value.copy(&self.context.budget));
                self.map(node, place, value);
            }
            Members::Nothing => {
                let location = Location::of(node);
                self.context.diagnostics.report(place, location.in_place(), VALUES, || {
                    String::from(
                        "replaced the empty object with a string that contains JSON: an object must have a property",
                    )
                });
                let list = Node::array(vec![Node::literal("{}")]);
                if let Some(object) = node.as_object_mut() {
                    object.retain(|member| annotates(&member.key));
                    object.insert_at(0, Text::literal("type"), Node::literal("string"));
                    object.set(Text::literal("enum"), list);
                }
                return Ok(Visit::Skip);
            }
            Members::Record { others } => {
                let others = match others {
                    AdditionalProperties::Closed => None,
                    AdditionalProperties::Undeclared => {
                        self.close(node, place);
                        None
                    }
                    AdditionalProperties::Open(value) => Some(value.map(|value| value.copy(&self.context.budget))),
                };
                self.record(node, place, others);
            }
        }
        Ok(Visit::Descend)
    }

    /// Reports that an object is closed.
    fn close(&mut self, node: &Node<'a>, place: &SchemaPath<'_, 'a>) {
        if !self.context.diagnostics.is_on() {
            return;
        }
        let is_in = |objects: &Set<Number>| node.origin().number().is_none_or(|number| objects.contains(&number));
        let is_mentioned = self.overlaps.as_ref().is_none_or(is_in) || self.context.diagnostics.mentions_others(node);
        let effect = if is_mentioned { CLOSE.accepts(Accepts::Narrower) } else { CLOSE };
        let (from, to) = (Location::of(node), Location::under(node, "additionalProperties"));
        self.context.diagnostics.report(place, from.to(to), effect, || {
            let what = "closed an object that did not declare `additionalProperties`";
            match is_mentioned {
                true => format!("{what}: other parts of the schema describe other properties"),
                false => String::from(what),
            }
        });
    }

    /// Replaces an object of any names with a list of key-value pairs.
    fn map(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, value: Option<Node<'a>>) {
        self.context.diagnostics.report(place, Location::of(node).to(Location::under(node, "items")), MAP, || {
            String::from("replaced a free-form object with a list of key-value pairs")
        });
        // The pairs replace keywords for objects. Keywords for arrays had no effect unless arrays are accepted.
        let constrains =
            |key: &Text<'_>, kind: InstanceType| Keyword::named(key).and_then(Keyword::applies_to) == Some(kind);
        let has_arrays = node.as_object().is_some_and(|object| layout::declares(object, "array"));
        let has_no_subject = |member: &Member<'_>| !has_arrays && constrains(&member.key, InstanceType::Array);
        for member in node.as_object().into_iter().flatten().filter(|member| has_no_subject(member)) {
            let name = member.key.display().into_owned();
            self.context.diagnostics.report(place, Location::under(node, name.clone()).removed(), DROP, || {
                format!("removed `{name}`: it has no effect on values of this type")
            });
        }
        let Some(object) = node.as_object_mut() else { return };
        object.retain(|member| !constrains(&member.key, InstanceType::Object) && !has_no_subject(member));
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

    fn record(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, others: Option<Option<Node<'a>>>) {
        let (rule, location) = (self.context.grammar.objects, Location::of(node));
        let Some(object) = node.as_object() else { return };
        let required = layout::required(object);
        let optional: Vec<bool> = object
            .object_at(Keyword::Properties)
            .into_iter()
            .flatten()
            .map(|member| !required.contains(&member.key))
            .collect();
        let others = others.map(|value| (value, layout::others_name(object)));
        if rule.required == RequiredRule::All && optional.contains(&true) {
            let definitions = self.definitions;
            let context = &mut *self.context;
            node.visit(Keyword::Properties, |table| {
                let origin = table.origin();
                for (member, _) in table
                    .as_object_mut()
                    .into_iter()
                    .flat_map(Object::members_mut)
                    .zip(&optional)
                    .filter(|(_, optional)| **optional)
                {
                    let kept = !definitions.null_is_absence(&member.value, context.grammar);
                    if context.diagnostics.is_on() {
                        let name = member.key.display().into_owned();
                        let effect = match kept {
                            true => REQUIRE.accepts(Accepts::Narrower),
                            false => REQUIRE.encoded(true),
                        };
                        let at = origin
                            .number()
                            .map_or_else(|| location.clone(), |number| Location::Keyword(number, name.clone().into()));
                        context.diagnostics.report(place, at.in_place(), effect, || match kept {
                            true => format!(
                                "made optional `{name}` required; it already accepts null, so null and \
                                omitted can no longer be told apart"
                            ),
                            false => {
                                format!("made optional `{name}` required, with null if it is absent")
                            }
                        });
                    }
                    if !kept {
                        null::admit(&mut member.value, context.grammar);
                    }
                }
            });
        }
        if let Some((value, others_name)) = others {
            let (from, to) = (Location::under(node, "additionalProperties"), Location::under(node, "properties"));
            self.context.diagnostics.report(place, from.to(to), MAP, || {
                format!("moved undeclared members to key-value pairs in `{others_name}`")
            });
            let list = Node::record([
                ("type", Node::literal("array")),
                ("items", pair(value)),
                ("description", Node::literal(OTHERS_DESCRIPTION)),
            ]);
            if let Some(object) = node.as_object_mut() {
                if !object.has(Keyword::Properties) {
                    let place = object.position(Keyword::Type).map_or(0, |place| place + 1);
                    object.insert_at(place, Text::literal("properties"), Node::empty_object());
                }
            }
            node.visit(Keyword::Properties, |table| {
                if let Some(table) = table.as_object_mut() {
                    table.set(Text::new(others_name.clone()), list);
                }
            });
        }
        let names = node.object_at(Keyword::Properties).into_iter().flatten().map(|member| member.key.clone());
        let names: Vec<Text<'a>> = names.collect();
        let count = node.array_at(Keyword::Required).map(<[_]>::len);
        let lacks_properties = rule.properties != PropertiesRule::Optional && node.get(Keyword::Properties).is_none();
        if lacks_properties {
            let (from, to) = (Location::of(node), Location::under(node, "properties"));
            self.context.diagnostics.report(place, from.to(to), PROPERTIES, || String::from("added `properties: {}`"));
        }
        let Some(object) = node.as_object_mut() else { return };
        if lacks_properties {
            let place = object.position(Keyword::Type).map_or(0, |place| place + 1);
            object.insert_at(place, Text::literal("properties"), Node::empty_object());
        }
        if rule.required == RequiredRule::All && names.is_empty() && self.context.grammar.required_beside_properties {
            object.remove("required");
        } else if rule.required == RequiredRule::All && count != Some(names.len()) {
            object.set(Text::literal("required"), Node::array(names.into_iter().map(Node::string).collect()));
        }
        if object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) != Some(false) {
            object.set(Text::literal("additionalProperties"), Node::bool(false));
        }
    }

    /// Rewrites listed values as JSON text, if one is an object or an array.
    fn values(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) {
        let location = Location::of(node);
        // Other assertions would no longer apply to the values.
        let loses = node.as_object().is_some_and(|object| object.iter().any(anything::asserts));
        let effect = if loses { VALUES.accepts(Accepts::Wider) } else { VALUES };
        self.context.diagnostics.report(place, location.in_place(), effect, || {
            String::from("replaced the values of `enum` with strings that contain JSON: they are not scalars")
        });
        let Some(object) = node.as_object_mut() else { return };
        let values = match (object.remove(Keyword::Const), object.remove(Keyword::Enum).map(Node::into_data)) {
            (Some(value), _) => vec![value],
            (None, Some(Data::Array(values))) => values,
            _ => Vec::new(),
        };
        object.retain(|member| annotates(&member.key));
        object.insert_at(0, Text::literal("type"), Node::literal("string"));
        object.set(
            Text::literal("enum"),
            Node::array(values.iter().map(|value| Node::string(json::write_plain(value))).collect()),
        );
    }
}

/// True if one value may be encoded in several ways: as different JSON text, or as pairs in a different order.
fn has_spellings<'a>(schema: &Node<'a>, grammar: &Grammar, budget: &Budget) -> bool {
    let mut found = false;
    // If the budget is spent, the enclosing walk reports it.
    let _ = visit::walk(budget, schema, Keywords::ALL, &mut |node, place| {
        let closes = place.keyword == Some(Keyword::AdditionalProperties);
        found |= match layout::of(node, false, grammar) {
            Shape::Anything => !(closes && node.as_bool() == Some(false)),
            // A reference is assumed to have several spellings, so that its definition is not inspected again for each
            // reference.
            Shape::Reference => true,
            Shape::Typed(Typed {
                object: Some(Members::Map(_) | Members::Record { others: AdditionalProperties::Open(_) }),
                ..
            }) => true,
            Shape::Typed(Typed { array, items, .. }) => array && items.is_none(),
            Shape::Union(_) | Shape::Values(_) => false,
        };
        Ok(if found { Visit::Skip } else { Visit::Descend })
    });
    found
}

/// True for `title` and `description`.
fn annotates(key: &Text<'_>) -> bool {
    Keyword::named(key).is_some_and(|keyword| {
        matches!(keyword, Keyword::Title | Keyword::Description) && keyword.role() == Role::Annotation
    })
}

/// Returns the schema of a key-value pair.
fn pair<'a>(value: Option<Node<'a>>) -> Node<'a> {
    let value = value.unwrap_or_else(Node::empty_object);
    Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::record([(KEY, Node::record([("type", Node::literal("string"))])), (VALUE, value)])),
        ("required", Node::array(vec![Node::literal(KEY), Node::literal(VALUE)])),
        ("additionalProperties", Node::bool(false)),
    ])
}

/// Wraps a branch in an object, so that it is not mistaken for another branch.
fn wrap(branch: &mut Node<'_>, name: String) {
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
