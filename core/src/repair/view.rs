//! A view: the schemas of a position in decomposed form. References are resolved, `allOf` is flattened, and unions are
//! separate. Finds the schemas of a member or an item, and checks that a nested repair breaks no assertion about the
//! whole value.

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::Repairer;
use crate::{
    collections::{Map, Set},
    json::{Data, Member, Node, Object, Text},
    schema::{
        instance_types::InstanceTypes,
        keyword::Keyword,
        validate::{is_nullable, Verdict},
    },
};

/// Maximum nesting of unions whose branches are decomposed to compute the types they accept.
const MAX_DEPTH: usize = 8;

#[derive(Clone, Copy)]
pub(super) struct Union<'s, 'a> {
    pub(super) schema: &'s Object<'a>,
    pub(super) keyword: Keyword,
    pub(super) branches: &'s [Node<'a>],
}

type SchemasByName<'s, 'a> = Map<&'s Text<'a>, Vec<(usize, &'s Node<'a>)>>;

/// The schemas that apply to the value at a position. A part is one of them, without its references and its `allOf`.
pub(super) struct View<'s, 'a> {
    pub(super) parts: Vec<&'s Object<'a>>,
    pub(super) unions: Vec<Union<'s, 'a>>,
    /// `properties` of each part that has it, by the index of the part.
    property_tables: Vec<(usize, &'s Object<'a>)>,
    /// Schemas in `property_tables` for each name, each with the index of its part; collected on first use.
    schemas_by_name: OnceCell<SchemasByName<'s, 'a>>,
    /// Indexes of parts with `patternProperties`.
    parts_with_patterns: Vec<usize>,
    /// Indexes of parts with schemas for unnamed members: in `patternProperties`, or as an object in
    /// `additionalProperties`.
    pub(super) parts_with_unnamed_schemas: Vec<usize>,
    /// Indexes of parts with schemas for items.
    parts_with_item_schemas: Vec<usize>,
    /// Accepted types.
    pub(super) types: InstanceTypes,
}

impl<'s, 'a> View<'s, 'a> {
    pub(super) fn keyword_values(&self, keyword: Keyword) -> impl Iterator<Item = (&'s Object<'a>, &'s Node<'a>)> + '_ {
        self.parts.iter().filter_map(move |part| Some((*part, part.get(keyword)?)))
    }

    pub(super) fn declared_names(&self) -> impl Iterator<Item = &'s Text<'a>> + '_ {
        let tables = self.keyword_values(Keyword::Properties).filter_map(|(_, values)| values.as_object());
        tables.flat_map(|table| table.iter().map(|member| &member.key))
    }

    pub(super) fn declares(&self, name: &Text<'_>) -> bool {
        self.schemas_by_name().contains_key(&name)
    }

    pub(super) fn schemas_by_name(&self) -> &SchemasByName<'s, 'a> {
        self.schemas_by_name.get_or_init(|| {
            let mut named = SchemasByName::new();
            for (part, table) in &self.property_tables {
                for member in *table {
                    named.entry(&member.key).or_default().push((*part, &member.value));
                }
            }
            named
        })
    }

    pub(super) fn required_names(&self) -> Set<&'s Text<'a>> {
        let lists = self.keyword_values(Keyword::Required).filter_map(|(_, values)| values.as_array());
        let mut names = Set::new();
        lists.flatten().filter_map(Node::as_text).for_each(|name| {
            names.insert(name);
        });
        names
    }
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Decomposes schemas. Returns `None` if a reference does not resolve or points to itself, or if a schema accepts
    /// nothing: the value is then not changed.
    pub(super) fn view(&mut self, schemas: &[&'s Node<'a>]) -> Option<View<'s, 'a>> {
        self.view_within_depth(schemas, MAX_DEPTH)
    }

    fn view_within_depth(&mut self, schemas: &[&'s Node<'a>], depth: usize) -> Option<View<'s, 'a>> {
        let mut view = View {
            parts: Vec::new(),
            unions: Vec::new(),
            property_tables: Vec::new(),
            schemas_by_name: OnceCell::new(),
            parts_with_patterns: Vec::new(),
            parts_with_unnamed_schemas: Vec::new(),
            parts_with_item_schemas: Vec::new(),
            types: InstanceTypes::ALL,
        };
        // Schemas to decompose, each with the number of references on its path. The target of a reference is decomposed
        // before the schemas after it, so these references are at the start of `path`.
        let mut pending: Vec<(&'s Node<'a>, usize)> = schemas.iter().rev().map(|schema| (*schema, 0)).collect();
        let mut path: Vec<usize> = Vec::new();
        // True for targets in `path`, to distinguish a cycle from a repeated reference.
        let mut is_on_path: Map<usize, bool> = Map::new();
        while let Some((schema, reference_count)) = pending.pop() {
            if !self.judge.budget().pay(1) {
                return None;
            }
            for finished in path.drain(reference_count.min(path.len())..) {
                is_on_path.insert(finished, false);
            }
            let object = match schema.data() {
                Data::Bool(true) => continue,
                Data::Object(object) => object,
                _ => return None,
            };
            let reference = object.get(Keyword::Ref).filter(|reference| reference.as_text().is_some());
            let mut target = None;
            if let Some(reference) = reference {
                let schema = self.judge.target(reference)?;
                let address = core::ptr::from_ref(schema) as usize;
                match is_on_path.get(&address) {
                    Some(true) => return None,
                    Some(false) => {}
                    None => {
                        is_on_path.insert(address, true);
                        path.push(address);
                        target = Some((schema, path.len()));
                    }
                }
                if self.judge.ignores_ref_siblings() {
                    pending.extend(target);
                    continue;
                }
            }
            if let Some(parts) = object.get(Keyword::AllOf).and_then(Node::as_array) {
                pending.extend(parts.iter().rev().map(|part| (part, reference_count)));
            }
            pending.extend(target);
            let count = |keyword| object.get(keyword).map_or(0, |node| node.as_array().map_or(0, <[_]>::len));
            let table = object.get(Keyword::Properties).and_then(Node::as_object);
            let cost = count(Keyword::Enum) / 8 + table.map_or(0, |table| table.len() / 8);
            if !self.judge.budget().pay(cost) {
                return None;
            }
            view.types = view.types.and(types_of(object));
            let part = view.parts.len();
            view.property_tables.extend(table.map(|table| (part, table)));
            let has_object = |keyword| object.get(keyword).is_some_and(|value: &Node<'_>| value.as_object().is_some());
            if has_object(Keyword::PatternProperties) {
                view.parts_with_patterns.push(part);
            }
            if has_object(Keyword::PatternProperties) || has_object(Keyword::AdditionalProperties) {
                view.parts_with_unnamed_schemas.push(part);
            }
            if object.has(Keyword::Items) || object.has(Keyword::PrefixItems) {
                view.parts_with_item_schemas.push(part);
            }
            view.parts.push(object);
            for keyword in [Keyword::AnyOf, Keyword::OneOf] {
                let Some(branches) = object.get(keyword).and_then(Node::as_array) else { continue };
                view.unions.push(Union { schema: object, keyword, branches });
                view.types = view.types.and(self.types_of_branches(branches, depth));
            }
        }
        Some(view)
    }

    fn types_of_branches(&mut self, branches: &'s [Node<'a>], depth: usize) -> InstanceTypes {
        let Some(depth) = depth.checked_sub(1) else { return InstanceTypes::ALL };
        branches.iter().fold(InstanceTypes::NONE, |types, branch| {
            let branch_types = match branch.data() {
                Data::Bool(false) => InstanceTypes::NONE,
                _ => self.view_within_depth(&[branch], depth).map_or(InstanceTypes::ALL, |view| view.types),
            };
            types.or(branch_types)
        })
    }
}

fn types_of(schema: &Object<'_>) -> InstanceTypes {
    let declared_types = schema.get(Keyword::Type).and_then(InstanceTypes::of_keyword).unwrap_or(InstanceTypes::ALL);
    let null = if is_nullable(schema) { InstanceTypes::NULL } else { InstanceTypes::NONE };
    let listed = schema.get(Keyword::Enum).and_then(Node::as_array);
    let constant = schema.get(Keyword::Const).map(core::slice::from_ref);
    let value_types = [listed, constant].into_iter().flatten().fold(InstanceTypes::ALL, |common_types, values| {
        let types = values.iter().fold(InstanceTypes::NONE, |types, value| types.or(InstanceTypes::of_instance(value)));
        common_types.and(types)
    });
    declared_types.and(value_types).or(null)
}

pub(super) fn listed_strings<'s>(schema: &'s Object<'_>) -> impl Iterator<Item = &'s Node<'s>> {
    let listed = schema.get(Keyword::Enum).and_then(Node::as_array).unwrap_or_default();
    listed.iter().chain(schema.get(Keyword::Const)).filter(|value| value.as_text().is_some())
}

pub(super) fn only_listed_value<'s, 'a>(schema: &'s Object<'a>) -> Option<&'s Node<'a>> {
    let listed = schema.get(Keyword::Enum).and_then(Node::as_array);
    schema.get(Keyword::Const).or(match listed {
        Some([only]) => Some(only),
        _ => None,
    })
}

/// An assertion about a whole array or object that currently holds.
pub(super) type Assertion<'s, 'a> = (&'s Object<'a>, Keyword);

/// Keywords that may break if a nested value changes.
pub(super) const VALUE_ASSERTIONS: [Keyword; 10] = [
    Keyword::Dependencies,
    Keyword::DependentSchemas,
    Keyword::If,
    Keyword::Not,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Contains,
    Keyword::UniqueItems,
    Keyword::Enum,
    Keyword::Const,
];

/// Further keywords that may break if a member is added, removed or renamed.
pub(super) const NAME_ASSERTIONS: [Keyword; 6] = [
    Keyword::Required,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::PatternProperties,
];

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Returns true if it is certain that no pattern matches a name.
    pub(super) fn matches_no_pattern(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> bool {
        // If the budget is spent, the name is treated as declared.
        let parts = view.parts_with_patterns.iter().filter_map(|index| view.parts.get(*index));
        for part in parts {
            if !self.judge.budget().pay(1) {
                return false;
            }
            let mut patterns = part.get(Keyword::PatternProperties).and_then(Node::as_object).into_iter().flatten();
            if !patterns.all(|member| self.judge.matches(&member.key, &member.value, name) == Some(false)) {
                return false;
            }
        }
        true
    }

    pub(super) fn member_schemas(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> Vec<&'s Node<'a>> {
        let mut schemas = Vec::new();
        let mut named = view.schemas_by_name().get(&name).into_iter().flatten().copied().peekable();
        for index in view.parts_with_unnamed_schemas.iter().copied() {
            while let Some((_, schema)) = named.next_if(|(part, _)| *part < index) {
                schemas.push(schema);
            }
            let schema = named.next_if(|(part, _)| *part == index).map(|(_, schema)| schema);
            let mut applies_by_name = schema.is_some();
            schemas.extend(schema);
            let Some(part) = view.parts.get(index).filter(|_| self.judge.budget().pay(1)) else { break };
            let patterns = part.get(Keyword::PatternProperties).and_then(Node::as_object);
            for member in patterns.into_iter().flatten() {
                let matches = self.judge.matches(&member.key, &member.value, name);
                applies_by_name |= matches != Some(false);
                if matches == Some(true) {
                    schemas.push(&member.value);
                }
            }
            if !applies_by_name {
                schemas.extend(part.get(Keyword::AdditionalProperties).filter(|values| values.as_object().is_some()));
            }
        }
        schemas.extend(named.map(|(_, schema)| schema));
        schemas
    }

    pub(super) fn item_schemas(&mut self, view: &View<'s, 'a>, index: usize) -> Vec<&'s Node<'a>> {
        let knows_prefix_items = self.judge.knows(Keyword::PrefixItems);
        let mut schemas = Vec::new();
        for part in view.parts_with_item_schemas.iter().filter_map(|index| view.parts.get(*index)) {
            if !self.judge.budget().pay(1) {
                break;
            }
            let items = part.get(Keyword::Items);
            let tuple_schemas = match items.and_then(Node::as_array) {
                Some(list) => Some(list),
                None => part.get(Keyword::PrefixItems).filter(|_| knows_prefix_items).and_then(Node::as_array),
            };
            let is_list = items.is_some_and(|items| items.as_array().is_some());
            schemas.extend(match tuple_schemas.and_then(|tuple_schemas| tuple_schemas.get(index)) {
                Some(schema) => Some(schema),
                None if is_list => part.get(Keyword::AdditionalItems),
                None => items,
            });
        }
        schemas.retain(|schema| schema.as_object().is_some());
        schemas
    }

    /// Returns the assertions that the value satisfies now. A nested repair must not break them.
    pub(super) fn satisfied_assertions(
        &mut self,
        view: &View<'s, 'a>,
        value: &Node<'_>,
        keywords: &[Keyword],
    ) -> Vec<Assertion<'s, 'a>> {
        self.judge.with_shared_indexes(|judge| {
            let mut satisfied = Vec::new();
            for keyword in keywords {
                // Every part is inspected, even if it lacks the keyword.
                if !judge.budget().pay(view.parts.len() / 16) {
                    break;
                }
                for (part, _) in view.keyword_values(*keyword) {
                    if judge.keyword(*keyword, part, value) == Verdict::Valid {
                        satisfied.push((part, *keyword));
                    }
                }
            }
            satisfied
        })
    }

    pub(super) fn breaks(&mut self, satisfied: &[Assertion<'s, 'a>], value: &Node<'_>) -> bool {
        self.judge.with_shared_indexes(|judge| {
            satisfied.iter().any(|(part, keyword)| judge.keyword(*keyword, part, value) == Verdict::Invalid)
        })
    }
}

pub(super) fn key_of<'n>(value: &Node<'n>, index: usize) -> Option<Text<'n>> {
    value.as_object()?.members().get(index).map(|member| member.key.clone())
}

pub(super) fn member_mut<'o, 'n>(value: &'o mut Node<'n>, index: usize) -> Option<&'o mut Member<'n>> {
    value.as_object_mut()?.members_mut().get_mut(index)
}
