//! Several objects as one: an object schema that accepts whatever one of them accepts. Knows nothing of grammars and
//! reports.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Data, Member, Node, Object, Text},
    schema::keyword::Keyword,
};

/// Does a branch leave open what another one says of a property? Then the one object says it of every call.
pub(crate) fn narrows(objects: &[Object<'_>]) -> bool {
    let tables: Vec<_> = objects.iter().map(table_names).collect();
    let all: Set<&Text<'_>> = tables.iter().flatten().copied().collect();
    objects.iter().zip(&tables).any(|(object, own)| {
        object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) != Some(false)
            && all.iter().any(|name| !own.contains(name))
    })
}

fn table_names<'o, 'a>(object: &'o Object<'a>) -> Set<&'o Text<'a>> {
    object.get(Keyword::Properties).and_then(Node::as_object).into_iter().flatten().map(|member| &member.key).collect()
}

/// One object schema that accepts everything that one of these accepts.
pub(crate) fn flat<'a>(objects: Vec<Object<'a>>, budget: &Budget) -> Vec<Member<'a>> {
    let count = objects.len();
    let mut order: Vec<Text<'a>> = Vec::new();
    let mut seen: Map<Text<'a>, (usize, Vec<Node<'a>>)> = Map::new();
    let mut properties: Vec<(Text<'a>, Vec<Node<'a>>)> = Vec::new();
    let mut places: Map<Text<'a>, usize> = Map::new();
    // A pattern may let through what no property names, and patterns do not survive unless every branch has them.
    let mut others = others(&objects, budget);
    let closed = objects.iter().all(|object| {
        object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) == Some(false)
            && !object.has(Keyword::PatternProperties)
    });
    for object in objects {
        for Member { key, value } in object.into_members() {
            if key.is(Keyword::Properties) {
                if let Data::Object(table) = value.into_data() {
                    for Member { key, value } in table.into_members() {
                        match places.get(&key).and_then(|place| properties.get_mut(*place)) {
                            Some((_, schemas)) => schemas.push(value),
                            None => {
                                places.insert(key.clone(), properties.len());
                                properties.push((key, Vec::from([value])));
                            }
                        }
                    }
                }
                if !order.iter().any(|known| known.is("properties")) {
                    order.push(Text::literal("properties"));
                }
                continue;
            }
            let entry = seen.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                (0, Vec::new())
            });
            entry.0 += 1;
            entry.1.push(value);
        }
    }
    let mut table = Object::new();
    for (name, schemas) in properties {
        table.members_mut().push(Member { key: name, value: one_of_these(schemas, budget) });
    }
    let mut table = Some(Node::object(table));
    let mut members = Vec::new();
    for key in order {
        if key.is(Keyword::Properties) {
            members.extend(table.take().map(|value| Member { key, value }));
            continue;
        }
        let Some((times, values)) = seen.remove(&key) else { continue };
        let value = if key.is(Keyword::Required) && times == count {
            common(values, budget)
        } else if key.is(Keyword::AdditionalProperties) {
            if closed {
                Some(Node::bool(false))
            } else {
                others.take()
            }
        } else {
            all_the_same(values, times == count, budget)
        };
        members.extend(value.map(|value| Member { key, value }));
    }
    members
}

/// What all objects say of members that they do not name, where they name the same ones.
fn others<'a>(objects: &[Object<'a>], budget: &Budget) -> Option<Node<'a>> {
    let (first, rest) = objects.split_first()?;
    let value = first.get(Keyword::AdditionalProperties)?;
    let (names, patterns) = (table_names(first), first.get(Keyword::PatternProperties));
    let same = |one: Option<&Node<'a>>, two: Option<&Node<'a>>| match (one, two) {
        (Some(one), Some(two)) => json::same_within(budget, one, two),
        (one, two) => one.is_none() && two.is_none(),
    };
    let is_same_table = |object: &Object<'a>| {
        let own = table_names(object);
        own.len() == names.len() && own.iter().all(|name| names.contains(*name))
    };
    let agrees = |object: &Object<'a>| {
        same(object.get(Keyword::AdditionalProperties), Some(value))
            && same(object.get(Keyword::PatternProperties), patterns)
            && is_same_table(object)
    };
    rest.iter().all(agrees).then(|| value.copy(budget))
}

/// The names that every list has.
fn common<'a>(lists: Vec<Node<'a>>, budget: &Budget) -> Option<Node<'a>> {
    let (first, others) = lists.split_first()?;
    let names = |list: &'_ Node<'a>| -> Set<Text<'a>> {
        list.as_array().into_iter().flatten().filter_map(|name| name.as_text().cloned()).collect()
    };
    let others: Vec<Set<Text<'a>>> = others.iter().map(names).collect();
    let everywhere = |name: &Node<'a>| name.as_text().is_some_and(|name| others.iter().all(|list| list.contains(name)));
    let shared = first.as_array().unwrap_or_default().iter().filter(|name| everywhere(name));
    let names: Vec<Node<'a>> = shared.map(|name| name.copy(budget)).collect();
    (!names.is_empty()).then(|| Node::array(names).with_origin(first.origin()))
}

fn all_the_same<'a>(values: Vec<Node<'a>>, everywhere: bool, budget: &Budget) -> Option<Node<'a>> {
    let mut values = values.into_iter();
    let first = values.next()?;
    (everywhere && values.all(|value| json::same_within(budget, &first, &value))).then_some(first)
}

/// A property that differs between branches is any of them.
fn one_of_these<'a>(schemas: Vec<Node<'a>>, budget: &Budget) -> Node<'a> {
    let mut said: Set<String> = Set::new();
    let mut distinct: Vec<Node<'a>> = Vec::new();
    for schema in schemas {
        // Unions of unions are one union.
        let is_union = schema.as_object().is_some_and(|object| {
            object.len() == 1 && object.get(Keyword::AnyOf).is_some_and(|list| list.as_array().is_some())
        });
        for schema in if is_union { branches(schema) } else { Vec::from([schema]) } {
            budget.pay(json::size(&schema, budget));
            if said.insert(json::canonical(&schema)) {
                distinct.push(schema);
            }
        }
    }
    let mut distinct = join_values(distinct, budget);
    if distinct.len() == 1 {
        return distinct.pop().unwrap_or_default();
    }
    Node::record([("anyOf", Node::array(distinct))])
}

fn branches(union: Node<'_>) -> Vec<Node<'_>> {
    let list = match union.into_data() {
        Data::Object(mut object) => object.remove(Keyword::AnyOf),
        _ => None,
    };
    match list.map(Node::into_data) {
        Some(Data::Array(branches)) => branches,
        _ => Vec::new(),
    }
}

/// Schemas that differ in nothing but the values they list become one with all the values, which accepts the same.
fn join_values<'a>(schemas: Vec<Node<'a>>, budget: &Budget) -> Vec<Node<'a>> {
    let mut joined: Vec<Node<'a>> = Vec::new();
    // By what they say beside the values: where the joined schema stands, its values, and these once more to find
    // doubles.
    let mut groups: Map<String, (usize, Vec<Node<'a>>, Set<String>)> = Map::new();
    for schema in schemas {
        let Some((rest, values)) = listed(&schema, budget) else {
            joined.push(schema);
            continue;
        };
        let group = groups.entry(rest).or_insert_with(|| {
            joined.push(schema);
            (joined.len() - 1, Vec::new(), Set::new())
        });
        group.1.extend(values.into_iter().filter(|value| group.2.insert(json::canonical(value))));
    }
    for (_, (place, values, _)) in groups {
        if let Some(schema) = joined.get_mut(place) {
            list_values(schema, values, budget);
        }
    }
    joined
}

/// What a schema says beside the values that it lists by `const` or `enum`, with their kind, to compare; and the
/// values.
fn listed<'a>(schema: &Node<'a>, budget: &Budget) -> Option<(String, Vec<Node<'a>>)> {
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
    let mut rest = object.copy(budget);
    rest.retain(|member| !member.key.is(Keyword::Const) && !member.key.is(Keyword::Enum));
    Some((format!("{kind} {}", json::canonical(&Node::object(rest))), values))
}

/// Writes the values, unless they are the ones that stand there.
fn list_values<'a>(schema: &mut Node<'a>, values: Vec<Node<'a>>, budget: &Budget) {
    if listed(schema, budget).is_some_and(|(_, standing)| standing.len() == values.len()) {
        return;
    }
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(member) =
        object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const) || member.key.is(Keyword::Enum))
    {
        *member = Member { key: Text::literal("enum"), value: Node::array(values) };
    }
}
