//! Merges several object schemas into a single object schema. It accepts every instance of these
//! schemas, except as described for [`may_narrow`]. Independent of grammars and reports.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Data, LookUp, Member, Node, Object, Origin, Text},
    schema::keyword::Keyword,
};

/// Properties and required names that all partial branches of a union have: see [`Parts`].
pub(crate) struct Common<'b, 'a> {
    pub(crate) properties: &'b Object<'a>,
    pub(crate) index: LookUp<'b, 'a>,
    pub(crate) required: &'b [Node<'a>],
    /// Origin of the list of required names, if the list exists.
    pub(crate) origin: Option<Origin>,
}

/// Marks the objects that are partial: they contain only some of the properties and required names in `common`.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'p, 'b, 'a> {
    pub(crate) common: &'p Common<'b, 'a>,
    pub(crate) is_partial: &'p [bool],
}

impl<'p, 'b, 'a> Parts<'p, 'b, 'a> {
    fn common_of(self, at: usize) -> Option<&'p Common<'b, 'a>> {
        self.is_partial.get(at).copied().unwrap_or_default().then_some(self.common)
    }

    pub(crate) fn missing_common(self, at: usize, object: &Object<'_>) -> usize {
        let Some(common) = self.common_of(at) else { return 0 };
        let known = properties_of(object).filter(|member| common.index.has(&member.key)).count();
        common.properties.len().saturating_sub(known)
    }
}

fn properties_of<'o, 'a>(object: &'o Object<'a>) -> impl Iterator<Item = &'o Member<'a>> {
    object.get(Keyword::Properties).and_then(Node::as_object).into_iter().flatten()
}

/// Returns true if the merged object may be narrower than the union. This requires a property that only some branches
/// constrain: the merged object always constrains it.
pub(crate) fn may_narrow(objects: &[Object<'_>], parts: Option<Parts<'_, '_, '_>>) -> bool {
    let common = parts.filter(|parts| parts.is_partial.contains(&true)).map(|parts| parts.common.properties);
    let mut all_names: Set<&Text<'_>> = objects.iter().flat_map(properties_of).map(|member| &member.key).collect();
    let common_names: Set<&Text<'_>> = common.into_iter().flatten().map(|member| &member.key).collect();
    all_names.extend(common_names.iter().copied());
    objects.iter().enumerate().any(|(index, object)| {
        let is_partial = parts.is_some_and(|parts| parts.common_of(index).is_some());
        let declared_count =
            properties_of(object).filter(|member| !(is_partial && common_names.contains(&&member.key))).count();
        let declared_count = if is_partial { declared_count + common_names.len() } else { declared_count };
        object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) != Some(false)
            && declared_count < all_names.len()
    })
}

fn property_names<'o, 'a>(object: &'o Object<'a>) -> Set<&'o Text<'a>> {
    properties_of(object).map(|member| &member.key).collect()
}

/// Returns the members of the merged schema. It accepts every instance of these schemas (see [`may_narrow`] for the
/// exception).
pub(crate) fn merge_objects<'a>(
    objects: Vec<Object<'a>>,
    parts: Option<Parts<'_, '_, 'a>>,
    budget: &Budget,
) -> Vec<Member<'a>> {
    let count = objects.len();
    let mut order: Vec<Text<'a>> = Vec::new();
    let mut values_by_key: Map<Text<'a>, (usize, Vec<Node<'a>>)> = Map::new();
    let mut properties = Properties { schemas: Vec::new(), indices: Map::new(), pending_common: None };
    // Patterns are dropped unless every branch has them. A branch with patterns is therefore not closed here: the names
    // that match its patterns must stay accepted.
    let mut additional = common_additional_properties(&objects, parts, budget);
    let are_closed = objects.iter().all(|object| {
        object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) == Some(false)
            && !object.has(Keyword::PatternProperties)
    });
    for (index, object) in objects.into_iter().enumerate() {
        for Member { key, value } in object.into_members() {
            if key.is(Keyword::Properties) {
                if let Data::Object(table) = value.into_data() {
                    match parts.and_then(|parts| parts.common_of(index)) {
                        Some(common) => properties.add_part(table, common, budget),
                        None => table.into_members().into_iter().for_each(|member| properties.add_property(member)),
                    }
                }
                if !order.iter().any(|known| known.is("properties")) {
                    order.push(Text::literal("properties"));
                }
                continue;
            }
            let (occurrences, values) = values_by_key.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                (0, Vec::new())
            });
            *occurrences += 1;
            values.push(value);
        }
    }
    let mut table = Object::new();
    for (name, schemas) in properties.schemas {
        table.members_mut().push(Member { key: name, value: union_of(schemas, budget) });
    }
    let mut table = Some(Node::object(table));
    let mut members = Vec::new();
    for key in order {
        if key.is(Keyword::Properties) {
            members.extend(table.take().map(|value| Member { key, value }));
            continue;
        }
        let Some((occurrences, values)) = values_by_key.remove(&key) else { continue };
        let value = if key.is(Keyword::Required) && occurrences == count {
            required_by_all(values, parts, budget)
        } else if key.is(Keyword::AdditionalProperties) {
            if are_closed {
                Some(Node::bool(false))
            } else {
                additional.take()
            }
        } else {
            only_if_equal(values, occurrences == count, budget)
        };
        members.extend(value.map(|value| Member { key, value }));
    }
    members
}

struct Properties<'a> {
    schemas: Vec<(Text<'a>, Vec<Node<'a>>)>,
    indices: Map<Text<'a>, usize>,
    /// Common properties that every previous partial branch contains itself; `None` before the first partial branch.
    pending_common: Option<Set<Text<'a>>>,
}

impl<'a> Properties<'a> {
    fn add_property(&mut self, Member { key, value }: Member<'a>) {
        match self.indices.get(&key).and_then(|index| self.schemas.get_mut(*index)) {
            Some((_, schemas)) => schemas.push(value),
            None => {
                self.indices.insert(key.clone(), self.schemas.len());
                self.schemas.push((key, Vec::from([value])));
            }
        }
    }

    /// Adds the properties of a partial branch, and the common properties that were not added before.
    fn add_part(&mut self, table: Object<'a>, common: &Common<'_, 'a>, budget: &Budget) {
        let indices: Map<Text<'a>, usize> =
            table.iter().enumerate().map(|(index, member)| (member.key.clone(), index)).collect();
        let mut own_members: Vec<Option<Member<'a>>> = table.into_members().into_iter().map(Some).collect();
        match self.pending_common.take() {
            None => {
                let mut pending_common = Set::new();
                for member in common.properties {
                    match indices.get(&member.key).and_then(|index| own_members.get_mut(*index)).and_then(Option::take)
                    {
                        Some(member) => {
                            pending_common.insert(member.key.clone());
                            self.add_property(member);
                        }
                        None => self.add_property(member.copy(budget)),
                    }
                }
                self.pending_common = Some(pending_common);
            }
            Some(pending_common) => {
                let mut remaining = Set::new();
                for name in pending_common {
                    match common.index.get(&name).filter(|_| !indices.contains_key(&name)) {
                        Some(schema) => self.add_property(Member { key: name, value: schema.copy(budget) }),
                        None => drop(remaining.insert(name)),
                    }
                }
                self.pending_common = Some(remaining);
            }
        }
        own_members.into_iter().flatten().for_each(|member| self.add_property(member));
    }
}

/// Returns `additionalProperties`, if it is equal in all objects and they declare the same properties.
fn common_additional_properties<'a>(
    objects: &[Object<'a>],
    parts: Option<Parts<'_, '_, 'a>>,
    budget: &Budget,
) -> Option<Node<'a>> {
    let (first, rest) = objects.split_first()?;
    let value = first.get(Keyword::AdditionalProperties)?;
    let common_of = |at: usize| parts.and_then(|parts| parts.common_of(at)).map(|common| common.properties);
    let (mut names, patterns) = (property_names(first), first.get(Keyword::PatternProperties));
    names.extend(common_of(0).into_iter().flatten().map(|member| &member.key));
    // If the first branch has all common properties, only the properties that a partial branch contains are compared.
    let has_common = (0..objects.len())
        .find_map(common_of)
        .is_none_or(|common| common.iter().all(|member| names.contains(&member.key)));
    let are_same = |left: Option<&Node<'a>>, right: Option<&Node<'a>>| match (left, right) {
        (Some(left), Some(right)) => json::same_within(budget, left, right),
        (left, right) => left.is_none() && right.is_none(),
    };
    let is_same_table = |at: usize, object: &Object<'a>| {
        let own_names = property_names(object);
        let missing = parts.map_or(0, |parts| parts.missing_common(at, object));
        (has_common || common_of(at).is_none())
            && own_names.len() + missing == names.len()
            && own_names.iter().all(|name| names.contains(*name))
    };
    let matches_first = |(at, object): (usize, &Object<'a>)| {
        are_same(object.get(Keyword::AdditionalProperties), Some(value))
            && are_same(object.get(Keyword::PatternProperties), patterns)
            && is_same_table(at + 1, object)
    };
    rest.iter().enumerate().all(matches_first).then(|| value.copy(budget))
}

/// Returns the names that all lists contain. Each object has one list.
fn required_by_all<'a>(lists: Vec<Node<'a>>, parts: Option<Parts<'_, '_, 'a>>, budget: &Budget) -> Option<Node<'a>> {
    let common_of = |at: usize| parts.and_then(|parts| parts.common_of(at));
    let (first, other_lists) = lists.split_first()?;
    let names = |list: &'_ Node<'a>| -> Set<Text<'a>> {
        list.as_array().into_iter().flatten().filter_map(|name| name.as_text().cloned()).collect()
    };
    let of_part = (0..lists.len()).find_map(common_of);
    let common_names: Set<&Text<'a>> =
        of_part.into_iter().flat_map(|common| common.required).filter_map(Node::as_text).collect();
    let other_lists: Vec<(bool, Set<Text<'a>>)> =
        other_lists.iter().enumerate().map(|(at, list)| (common_of(at + 1).is_some(), names(list))).collect();
    let complete_lists: Vec<&Set<Text<'a>>> =
        other_lists.iter().filter(|(is_part, _)| !is_part).map(|(_, list)| list).collect();
    let is_required_by_all = |name: &Node<'a>| {
        name.as_text().is_some_and(|name| match common_names.contains(&name) {
            true => complete_lists.iter().all(|list| list.contains(name)),
            false => other_lists.iter().all(|(_, list)| list.contains(name)),
        })
    };
    let common = common_of(0).map(|common| common.required).unwrap_or_default();
    let is_new =
        |name: &&Node<'a>| common.is_empty() || !name.as_text().is_some_and(|name| common_names.contains(&name));
    let first_names = first.as_array().unwrap_or_default().iter().filter(is_new);
    let names: Vec<Node<'a>> = common
        .iter()
        .chain(first_names)
        .filter(|name| is_required_by_all(name))
        .map(|name| name.copy(budget))
        .collect();
    let origin = common_of(0).and_then(|common| common.origin).unwrap_or_else(|| first.origin());
    (!names.is_empty()).then(|| Node::array(names).with_origin(origin))
}

fn only_if_equal<'a>(values: Vec<Node<'a>>, is_in_all: bool, budget: &Budget) -> Option<Node<'a>> {
    let mut values = values.into_iter();
    let first = values.next()?;
    (is_in_all && values.all(|value| json::same_within(budget, &first, &value))).then_some(first)
}

fn union_of<'a>(schemas: Vec<Node<'a>>, budget: &Budget) -> Node<'a> {
    let mut canonical_forms: Set<String> = Set::new();
    let mut distinct_schemas: Vec<Node<'a>> = Vec::new();
    for schema in schemas {
        // Nested unions are flattened.
        let is_union = schema.as_object().is_some_and(|object| {
            object.len() == 1 && object.get(Keyword::AnyOf).is_some_and(|list| list.as_array().is_some())
        });
        for schema in if is_union { take_branches(schema) } else { Vec::from([schema]) } {
            budget.pay(json::size(&schema, budget));
            if canonical_forms.insert(json::canonical(&schema)) {
                distinct_schemas.push(schema);
            }
        }
    }
    let mut distinct_schemas = join_values(distinct_schemas, budget);
    if distinct_schemas.len() == 1 {
        return distinct_schemas.pop().unwrap_or_default();
    }
    Node::record([("anyOf", Node::array(distinct_schemas))])
}

fn take_branches(union: Node<'_>) -> Vec<Node<'_>> {
    let list = match union.into_data() {
        Data::Object(mut object) => object.remove(Keyword::AnyOf),
        _ => None,
    };
    match list.map(Node::into_data) {
        Some(Data::Array(branches)) => branches,
        _ => Vec::new(),
    }
}

/// Merges schemas that differ only in their listed values into an equivalent schema with all values.
fn join_values<'a>(schemas: Vec<Node<'a>>, budget: &Budget) -> Vec<Node<'a>> {
    let mut results: Vec<Node<'a>> = Vec::new();
    // For each set of other keywords: the index of the merged schema, its values, and their canonical forms, which
    // show duplicates.
    let mut groups: Map<String, (usize, Vec<Node<'a>>, Set<String>)> = Map::new();
    for schema in schemas {
        let Some((other_keywords, values)) = listed_values(&schema, budget) else {
            results.push(schema);
            continue;
        };
        let (_, group_values, canonical_values) = groups.entry(other_keywords).or_insert_with(|| {
            results.push(schema);
            (results.len() - 1, Vec::new(), Set::new())
        });
        group_values.extend(values.into_iter().filter(|value| canonical_values.insert(json::canonical(value))));
    }
    for (_, (index, values, _)) in groups {
        if let Some(schema) = results.get_mut(index) {
            list_values(schema, values, budget);
        }
    }
    results
}

/// Returns the values in `const` or `enum`, and a key made of their type and the other keywords.
fn listed_values<'a>(schema: &Node<'a>, budget: &Budget) -> Option<(String, Vec<Node<'a>>)> {
    let object = schema.as_object()?;
    let values = match (object.get(Keyword::Const), object.get(Keyword::Enum).and_then(Node::as_array)) {
        (Some(value), None) => Vec::from([value.copy(budget)]),
        (None, Some(values)) => json::copies(values, budget),
        _ => return None,
    };
    let kind = values.first()?.kind();
    if values.iter().any(|value| value.kind() != kind) {
        return None;
    }
    let mut other_keywords = object.copy(budget);
    other_keywords.retain(|member| !member.key.is(Keyword::Const) && !member.key.is(Keyword::Enum));
    Some((format!("{kind} {}", json::canonical(&Node::object(other_keywords))), values))
}

/// Writes `enum`, unless the schema already lists these values.
fn list_values<'a>(schema: &mut Node<'a>, values: Vec<Node<'a>>, budget: &Budget) {
    if listed_values(schema, budget).is_some_and(|(_, existing)| existing.len() == values.len()) {
        return;
    }
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(member) =
        object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const) || member.key.is(Keyword::Enum))
    {
        *member = Member { key: Text::literal("enum"), value: Node::array(values) };
    }
}
