//! Several objects as one: an object schema that accepts whatever one of them accepts. Knows nothing of grammars and reports.

use alloc::{format, string::String, vec::Vec};

use crate::{
    json::{self, Data, Member, Node, Object, Text},
    sorted::{Map, Set},
};

/// Does a branch leave open what another one says of a property? Then the one object says it of every call.
pub(super) fn narrows(objects: &[Object<'_>]) -> bool {
    let tables: Vec<_> = objects.iter().map(table_names).collect();
    let all: Set<&Text<'_>> = tables.iter().flatten().copied().collect();
    objects.iter().zip(&tables).any(|(object, own)| {
        object.get("additionalProperties").and_then(Node::as_bool) != Some(false) && all.iter().any(|name| !own.contains(name))
    })
}

fn table_names<'o, 'a>(object: &'o Object<'a>) -> Set<&'o Text<'a>> {
    object.get("properties").and_then(Node::as_object).into_iter().flatten().map(|member| &member.key).collect()
}

/// One object schema that accepts everything that one of these accepts.
pub(super) fn flat<'a>(objects: Vec<Object<'a>>) -> Vec<Member<'a>> {
    let count = objects.len();
    let mut order: Vec<Text<'a>> = Vec::new();
    let mut seen: Map<Text<'a>, (usize, Vec<Node<'a>>)> = Map::new();
    let mut properties: Vec<(Text<'a>, Vec<Node<'a>>)> = Vec::new();
    let mut places: Map<Text<'a>, usize> = Map::new();
    // A pattern may let through what no property names, and patterns do not survive unless every branch has them.
    let closed = objects
        .iter()
        .all(|object| object.get("additionalProperties").and_then(Node::as_bool) == Some(false) && !object.has("patternProperties"));
    for object in objects {
        for Member { key, value } in object.into_members() {
            if key.is("properties") {
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
        table.members_mut().push(Member { key: name, value: one_of_these(schemas) });
    }
    let mut table = Some(Node::object(table));
    let mut members = Vec::new();
    for key in order {
        if key.is("properties") {
            members.extend(table.take().map(|value| Member { key, value }));
            continue;
        }
        let Some((times, values)) = seen.remove(&key) else { continue };
        let value = if key.is("required") && times == count {
            common(values)
        } else if key.is("additionalProperties") {
            closed.then(|| Node::bool(false))
        } else {
            all_the_same(values, times == count)
        };
        members.extend(value.map(|value| Member { key, value }));
    }
    members
}

/// The names that every list has.
fn common<'a>(lists: Vec<Node<'a>>) -> Option<Node<'a>> {
    let mut lists = lists.into_iter();
    let first = lists.next()?;
    let others: Vec<Node<'a>> = lists.collect();
    let everywhere =
        |name: &Node<'a>| others.iter().all(|list| list.as_array().is_some_and(|names| names.iter().any(|other| json::same(other, name))));
    let names: Vec<Node<'a>> = first.as_array().unwrap_or_default().iter().filter(|name| everywhere(name)).cloned().collect();
    (!names.is_empty()).then(|| Node::array(names).with_origin(first.origin()))
}

fn all_the_same<'a>(values: Vec<Node<'a>>, everywhere: bool) -> Option<Node<'a>> {
    let mut values = values.into_iter();
    let first = values.next()?;
    (everywhere && values.all(|value| json::same(&first, &value))).then_some(first)
}

/// A property that differs between branches is any of them.
fn one_of_these<'a>(schemas: Vec<Node<'a>>) -> Node<'a> {
    let mut said: Set<String> = Set::new();
    let mut distinct: Vec<Node<'a>> = Vec::new();
    for schema in schemas {
        // Unions of unions are one union.
        let nested = match schema.as_object() {
            Some(object) if object.len() == 1 => object.get("anyOf").and_then(Node::as_array).map(<[_]>::to_vec),
            _ => None,
        };
        for schema in nested.unwrap_or_else(|| Vec::from([schema])) {
            if said.insert(json::canonical(&schema)) {
                distinct.push(schema);
            }
        }
    }
    let mut distinct = join_values(distinct);
    if distinct.len() == 1 {
        return distinct.pop().unwrap_or_default();
    }
    Node::record([("anyOf", Node::array(distinct))])
}

/// Schemas that differ in nothing but the values they list become one with all the values, which accepts the same.
fn join_values(schemas: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let mut joined: Vec<Node<'_>> = Vec::new();
    // By what they say beside the values: where the joined schema stands, its values, and these once more to find doubles.
    let mut groups: Map<String, (usize, Vec<Node<'_>>, Set<String>)> = Map::new();
    for schema in schemas {
        let Some((rest, values)) = listed(&schema) else {
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
            list_values(schema, values);
        }
    }
    joined
}

/// What a schema says beside the values that it lists by `const` or `enum`, with their kind, to compare; and the values.
fn listed<'a>(schema: &Node<'a>) -> Option<(String, Vec<Node<'a>>)> {
    let object = schema.as_object()?;
    let values = match (object.get("const"), object.get("enum").and_then(Node::as_array)) {
        (Some(value), None) => Vec::from([value.clone()]),
        (None, Some(values)) => values.to_vec(),
        _ => return None,
    };
    let kind = values.first()?.kind();
    if values.iter().any(|value| value.kind() != kind) {
        return None;
    }
    let mut rest = object.clone();
    rest.retain(|member| !member.key.is("const") && !member.key.is("enum"));
    Some((format!("{kind} {}", json::canonical(&Node::object(rest))), values))
}

/// Writes the values, unless they are the ones that stand there.
fn list_values<'a>(schema: &mut Node<'a>, values: Vec<Node<'a>>) {
    if listed(schema).is_some_and(|(_, standing)| standing.len() == values.len()) {
        return;
    }
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is("const") || member.key.is("enum")) {
        *member = Member { key: Text::literal("enum"), value: Node::array(values) };
    }
}
