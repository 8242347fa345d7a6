//! The schemas of a position in decomposed form: references are resolved, `allOf` is flattened, unions are separate.
//! Finds the schemas of a member or an item, and checks that a nested repair breaks no assertion about the whole value.

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

/// Maximum nesting of branches whose types are computed.
const MAX_DEPTH: usize = 8;

#[derive(Clone, Copy)]
pub(super) struct Union<'s, 'a> {
    pub(super) schema: &'s Object<'a>,
    pub(super) keyword: Keyword,
    pub(super) branches: &'s [Node<'a>],
}

type Named<'s, 'a> = Map<&'s Text<'a>, Vec<(usize, &'s Node<'a>)>>;

/// The schemas that apply to the value at a position.
pub(super) struct View<'s, 'a> {
    pub(super) parts: Vec<&'s Object<'a>>,
    pub(super) unions: Vec<Union<'s, 'a>>,
    /// `properties` of each part that has it, by the index of the part.
    tables: Vec<(usize, &'s Object<'a>)>,
    /// Schemas for each name in these tables, with the indexes of their parts; collected on first use.
    named: OnceCell<Named<'s, 'a>>,
    /// Indexes of parts with `patternProperties`.
    with_patterns: Vec<usize>,
    /// Indexes of parts with schemas for members that they do not name: by `patternProperties`, or by an object in
    /// `additionalProperties`.
    pub(super) with_rest: Vec<usize>,
    /// Indexes of parts with schemas for items.
    with_items: Vec<usize>,
    /// Accepted types.
    pub(super) kinds: InstanceTypes,
}

impl<'s, 'a> View<'s, 'a> {
    pub(super) fn values(&self, keyword: Keyword) -> impl Iterator<Item = (&'s Object<'a>, &'s Node<'a>)> + '_ {
        self.parts.iter().filter_map(move |part| Some((*part, part.get(keyword)?)))
    }

    pub(super) fn declared(&self) -> impl Iterator<Item = &'s Text<'a>> + '_ {
        let tables = self.values(Keyword::Properties).filter_map(|(_, values)| values.as_object());
        tables.flat_map(|table| table.iter().map(|member| &member.key))
    }

    pub(super) fn declares(&self, name: &Text<'_>) -> bool {
        self.named().contains_key(&name)
    }

    pub(super) fn named(&self) -> &Named<'s, 'a> {
        self.named.get_or_init(|| {
            let mut named = Named::new();
            for (part, table) in &self.tables {
                for member in *table {
                    named.entry(&member.key).or_default().push((*part, &member.value));
                }
            }
            named
        })
    }

    pub(super) fn required(&self) -> Set<&'s Text<'a>> {
        let lists = self.values(Keyword::Required).filter_map(|(_, values)| values.as_array());
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
        self.view_to(schemas, MAX_DEPTH)
    }

    fn view_to(&mut self, schemas: &[&'s Node<'a>], depth: usize) -> Option<View<'s, 'a>> {
        let mut view = View {
            parts: Vec::new(),
            unions: Vec::new(),
            tables: Vec::new(),
            named: OnceCell::new(),
            with_patterns: Vec::new(),
            with_rest: Vec::new(),
            with_items: Vec::new(),
            kinds: InstanceTypes::ALL,
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
            view.kinds = view.kinds.and(types_of(object));
            let part = view.parts.len();
            view.tables.extend(table.map(|table| (part, table)));
            let has_object = |keyword| object.get(keyword).is_some_and(|value: &Node<'_>| value.as_object().is_some());
            if has_object(Keyword::PatternProperties) {
                view.with_patterns.push(part);
            }
            if has_object(Keyword::PatternProperties) || has_object(Keyword::AdditionalProperties) {
                view.with_rest.push(part);
            }
            if object.has(Keyword::Items) || object.has(Keyword::PrefixItems) {
                view.with_items.push(part);
            }
            view.parts.push(object);
            for keyword in [Keyword::AnyOf, Keyword::OneOf] {
                let Some(branches) = object.get(keyword).and_then(Node::as_array) else { continue };
                view.unions.push(Union { schema: object, keyword, branches });
                view.kinds = view.kinds.and(self.kinds_of(branches, depth));
            }
        }
        Some(view)
    }

    fn kinds_of(&mut self, branches: &'s [Node<'a>], depth: usize) -> InstanceTypes {
        let Some(depth) = depth.checked_sub(1) else { return InstanceTypes::ALL };
        branches.iter().fold(InstanceTypes::NONE, |types, branch| {
            let branch_types = match branch.data() {
                Data::Bool(false) => InstanceTypes::NONE,
                _ => self.view_to(&[branch], depth).map_or(InstanceTypes::ALL, |view| view.kinds),
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
    let value_types = [listed, constant].into_iter().flatten().fold(InstanceTypes::ALL, |kinds, values| {
        let types = values.iter().fold(InstanceTypes::NONE, |types, value| types.or(InstanceTypes::of_instance(value)));
        kinds.and(types)
    });
    declared_types.and(value_types).or(null)
}

pub(super) fn literals<'s>(schema: &'s Object<'_>) -> impl Iterator<Item = &'s Node<'s>> {
    let listed = schema.get(Keyword::Enum).and_then(Node::as_array).unwrap_or_default();
    listed.iter().chain(schema.get(Keyword::Const)).filter(|value| value.as_text().is_some())
}

pub(super) fn only_value<'s, 'a>(schema: &'s Object<'a>) -> Option<&'s Node<'a>> {
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
    pub(super) fn is_undeclared(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> bool {
        // If the budget is spent, the name is treated as declared.
        let parts = view.with_patterns.iter().filter_map(|index| view.parts.get(*index));
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
        let mut named = view.named().get(&name).into_iter().flatten().copied().peekable();
        for index in view.with_rest.iter().copied() {
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
        let has_prefix = self.judge.knows(Keyword::PrefixItems);
        let mut schemas = Vec::new();
        for part in view.with_items.iter().filter_map(|index| view.parts.get(*index)) {
            if !self.judge.budget().pay(1) {
                break;
            }
            let items = part.get(Keyword::Items);
            let by_position = match items.and_then(Node::as_array) {
                Some(list) => Some(list),
                None => part.get(Keyword::PrefixItems).filter(|_| has_prefix).and_then(Node::as_array),
            };
            let is_list = items.is_some_and(|items| items.as_array().is_some());
            schemas.extend(match by_position.and_then(|by_position| by_position.get(index)) {
                Some(schema) => Some(schema),
                None if is_list => part.get(Keyword::AdditionalItems),
                None => items,
            });
        }
        schemas.retain(|schema| schema.as_object().is_some());
        schemas
    }

    /// Returns the assertions that hold. A nested repair must not break them.
    pub(super) fn satisfied(
        &mut self,
        view: &View<'s, 'a>,
        value: &Node<'_>,
        keywords: &[Keyword],
    ) -> Vec<Assertion<'s, 'a>> {
        self.judge.together(|judge| {
            let mut satisfied = Vec::new();
            for keyword in keywords {
                // Every part is inspected, even if it lacks the keyword.
                if !judge.budget().pay(view.parts.len() / 16) {
                    break;
                }
                for (part, _) in view.values(*keyword) {
                    if judge.keyword(*keyword, part, value) == Verdict::Valid {
                        satisfied.push((part, *keyword));
                    }
                }
            }
            satisfied
        })
    }

    pub(super) fn breaks(&mut self, satisfied: &[Assertion<'s, 'a>], value: &Node<'_>) -> bool {
        self.judge.together(|judge| {
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
