//! Searches for witnesses: values that one of two schemas accepts and the other refuses. At every location where the
//! schemas differ, the search tries values at the limits of both, each inside an example of the whole schema.

use alloc::{string::String, vec::Vec};
use core::cell::RefCell;

use super::{
    super::{
        keyword::Keyword,
        references::{self, Number},
        validate::{Judge, Verdict},
    },
    example::{
        copy_value, count_at, item_schema, json_length, matching_text, merge, most_items, most_letters, number_node,
        object_of, text_of_length, with_member, Side, Sink, DEPENDENCIES, MAX_LEVELS,
    },
};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    json::{self, Data, LookUp, Member, Node, Object, Text},
};

/// Maximum nesting of differences.
const MAX_LEVEL: usize = 24;
/// Length of a witness in bytes. If a witness is not longer, the search for shorter witnesses ends.
const SHORT_WITNESS: usize = 1 << 15;
/// Name of a member that schemas rarely declare.
const UNDECLARED_NAME: &str = "x";
const OBJECT_KEYWORDS: [Keyword; 7] = [
    Keyword::Properties,
    Keyword::AdditionalProperties,
    Keyword::PatternProperties,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
];
const BRANCH_KEYWORDS: [Keyword; 7] =
    [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::If, Keyword::Then, Keyword::Else, Keyword::Not];

pub(super) struct Search<'v, 's> {
    old: Side<'v, 's>,
    new: Side<'v, 's>,
    /// Schema that accepts everything.
    anything: &'s Node<'static>,
    budget: Budget,
    /// Pairs of targets of references that were compared.
    compared_targets: RefCell<Set<(Number, Number)>>,
}

/// A pair of schemas of one location.
#[derive(Clone, Copy)]
struct Pair<'s> {
    old: &'s Node<'static>,
    new: &'s Node<'static>,
    level: usize,
}

impl<'s> Pair<'s> {
    fn nested(self, old: &'s Node<'static>, new: &'s Node<'static>) -> Pair<'s> {
        Pair { old, new, level: self.level + 1 }
    }

    /// Returns true if one of the schemas has one of these keywords.
    fn has_any(self, keywords: &[Keyword]) -> bool {
        [self.old, self.new].iter().any(|schema| keywords.iter().any(|keyword| schema.get(*keyword).is_some()))
    }
}

impl<'v, 's> Search<'v, 's> {
    pub(super) fn new(judges: [Judge<'v, 's, 'static>; 2], anything: &'s Node<'static>, steps: usize) -> Self {
        let [old, new] = judges.map(Side::new);
        Search { old, new, anything, budget: Budget::new(0, Some(steps)), compared_targets: RefCell::new(Set::new()) }
    }

    /// Returns a value that only the old schema accepts, then a value that only the new schema accepts. Once both
    /// values are short, the search ends.
    pub(super) fn witnesses(&self, objects_only: bool) -> [Option<Node<'static>>; 2] {
        // Each witness with its length.
        let (mut only_old, mut only_new) = (None::<(usize, Node<'static>)>, None);
        let keep = |witness: &mut Option<(usize, Node<'static>)>, value: Node<'static>| {
            let length = json_length(&value, &self.budget);
            if witness.as_ref().is_none_or(|(known, _)| length < *known) {
                *witness = Some((length, value));
            }
        };
        let is_short =
            |witness: &Option<(usize, Node<'_>)>| witness.as_ref().is_some_and(|(length, _)| *length <= SHORT_WITNESS);
        let (old, new) = (self.old.root(), self.new.root());
        self.compare(Pair { old, new, level: 0 }, &mut |value| {
            if objects_only && value.as_object().is_none() {
                return false;
            }
            match (self.old.verdict(old, &value), self.new.verdict(new, &value)) {
                (Verdict::Valid, Verdict::Invalid) if !is_short(&only_old) => keep(&mut only_old, value),
                (Verdict::Invalid, Verdict::Valid) if !is_short(&only_new) => keep(&mut only_new, value),
                _ => {}
            }
            is_short(&only_old) && is_short(&only_new)
        });
        [only_old, only_new].map(|witness| witness.map(|(_, value)| value))
    }

    pub(super) fn steps(&self) -> u64 {
        self.budget.spent() + self.old.steps() + self.new.steps()
    }

    fn is_spent(&self) -> bool {
        self.budget.is_spent() || self.old.is_spent() || self.new.is_spent()
    }

    /// Sends values that only one of two schemas of one location may accept. Returns true if the search ends.
    fn compare(&self, pair: Pair<'s>, sink: Sink<'_>) -> bool {
        if pair.level > MAX_LEVEL || !self.budget.pay(1) || self.is_spent() {
            return self.is_spent();
        }
        let (old, new) = (self.old.reference_target(pair.old), self.new.reference_target(pair.new));
        let has_reference = !core::ptr::eq(old, pair.old) || !core::ptr::eq(new, pair.new);
        if let (true, Some(old), Some(new)) = (has_reference, old.origin().number(), new.origin().number()) {
            if !self.compared_targets.borrow_mut().insert((old, new)) {
                return false;
            }
        }
        if !references::mentions_references(old) && json::same_within(&self.budget, old, new) {
            return false;
        }
        let pair = Pair { old, new, ..pair };
        self.old.send_examples(old, MAX_LEVELS, &self.budget, sink)
            || self.new.send_examples(new, MAX_LEVELS, &self.budget, sink)
            || self.send_limits(old, sink)
            || self.send_limits(new, sink)
            || self.send_members(pair, sink)
            || self.send_items(pair, sink)
            || self.send_branches(pair, sink)
            || samples().into_iter().any(sink)
    }

    /// Sends values at the limits of a schema.
    fn send_limits(&self, schema: &'s Node<'static>, sink: Sink<'_>) -> bool {
        let Some(object) = schema.as_object() else { return false };
        for member in object {
            let Some(keyword) = Keyword::named(&member.key) else { continue };
            let count = member.value.as_u64();
            let ends = match (keyword, member.value.data(), count) {
                (
                    Keyword::Minimum
                    | Keyword::Maximum
                    | Keyword::ExclusiveMinimum
                    | Keyword::ExclusiveMaximum
                    | Keyword::MultipleOf,
                    Data::Number(bound),
                    _,
                ) => {
                    let shifts = ["0", "-1", "1", "-0.5", "0.5"];
                    shifts.iter().filter_map(|shift| json::sum(bound, shift)).any(|bound| sink(number_node(bound)))
                }
                (Keyword::MinLength | Keyword::MaxLength, _, Some(count)) => {
                    neighbors(count, most_letters(&self.budget))
                        .any(|count| self.budget.pay(1) && sink(text_of_length(count, &self.budget)))
                }
                (Keyword::Pattern, Data::String(pattern), _) => {
                    matching_text(pattern, &self.budget).is_some_and(|sample| sink(Node::string(sample)))
                }
                (Keyword::MinItems | Keyword::MaxItems, _, Some(count)) => neighbors(count, most_items(&self.budget))
                    .any(|count| {
                        sink(self.old.array_example(object, count, MAX_LEVELS, &self.budget))
                            || sink(self.new.array_example(object, count, MAX_LEVELS, &self.budget))
                    }),
                (Keyword::MinContains | Keyword::MaxContains, _, Some(count)) => {
                    let item = object.get(Keyword::Contains).and_then(|item| self.old.example(item, 4, &self.budget));
                    let item = item.unwrap_or_default();
                    neighbors(count, most_items(&self.budget)).any(|count| {
                        let items = (0..count).map(|_| copy_value(&item, &self.budget)).collect();
                        self.is_spent() || sink(Node::array(items))
                    })
                }
                (Keyword::MinProperties | Keyword::MaxProperties, _, Some(count)) => neighbors(count, u64::MAX)
                    .any(|count| sink(self.old.object_example(object, count, MAX_LEVELS, &self.budget))),
                (Keyword::UniqueItems, ..) => {
                    let item = item_schema(object, 0).and_then(|(schema, _)| self.old.example(schema, 4, &self.budget));
                    let item = item.unwrap_or(Node::count(1));
                    sink(Node::array(Vec::from([copy_value(&item, &self.budget), item])))
                }
                (Keyword::Not | Keyword::If, ..) => {
                    self.old.send_examples(&member.value, MAX_LEVELS, &self.budget, sink)
                }
                (Keyword::Properties, Data::Object(table), _) => {
                    let count = u64::try_from(table.len()).unwrap_or(u64::MAX);
                    sink(self.old.object_example(object, count, MAX_LEVELS, &self.budget))
                }
                _ => false,
            };
            if ends {
                return true;
            }
        }
        false
    }

    /// Sends objects with a member that only one of the schemas may accept.
    fn send_members(&self, pair: Pair<'s>, sink: Sink<'_>) -> bool {
        if !pair.has_any(&OBJECT_KEYWORDS) {
            return false;
        }
        let object = |schema: &'s Node<'static>| schema.as_object();
        let (old, new) = (object(pair.old), object(pair.new));
        let table =
            |schema: Option<&'s Object<'static>>| schema.and_then(|object| object.object_at(Keyword::Properties));
        let (old_table, new_table) = (table(old), table(new));
        let rest = |schema: Option<&'s Object<'static>>| {
            schema.and_then(|object| object.get(Keyword::AdditionalProperties)).unwrap_or(self.anything)
        };
        let (old_rest, new_rest) = (rest(old), rest(new));
        let (old_index, new_index) = (old_table.map(LookUp::of), new_table.map(LookUp::of));
        let find =
            |index: &Option<LookUp<'s, 'static>>, name: &Text<'_>| index.as_ref().and_then(|index| index.get(name));
        let bases = self.base_objects(pair);
        let wrap = |name: &Text<'static>, pair: Pair<'s>, sink: Sink<'_>| {
            self.compare(pair, &mut |value| {
                bases.iter().filter_map(Node::as_object).any(|base| {
                    let example = with_member(base, name, &value, &self.budget);
                    self.is_spent() || sink(example)
                })
            })
        };
        let added = new_table.into_iter().flatten().filter(|member| find(&old_index, &member.key).is_none());
        for Member { key: name, .. } in old_table.into_iter().flatten().chain(added) {
            let old = find(&old_index, name).unwrap_or(old_rest);
            let new = find(&new_index, name).unwrap_or(new_rest);
            if wrap(name, pair.nested(old, new), sink) {
                return true;
            }
        }
        if !json::same_within(&self.budget, old_rest, new_rest)
            && wrap(&Text::new(UNDECLARED_NAME), pair.nested(old_rest, new_rest), sink)
        {
            return true;
        }
        let patterns = |schema: Option<&'s Object<'static>>| {
            schema
                .and_then(|object| object.object_at(Keyword::PatternProperties))
                .into_iter()
                .flat_map(|table| table.iter())
        };
        let by_pattern: Map<&Text<'static>, &'s Node<'static>> =
            patterns(new).map(|member| (&member.key, &member.value)).collect();
        for member in patterns(old) {
            let Some(name) = matching_text(&member.key, &self.budget) else { continue };
            let new = by_pattern.get(&&member.key).copied().unwrap_or(new_rest);
            if wrap(&Text::new(name), pair.nested(&member.value, new), sink) {
                return true;
            }
        }
        for member in patterns(new) {
            let Some(name) = matching_text(&member.key, &self.budget) else { continue };
            if wrap(&Text::new(name), pair.nested(old_rest, &member.value), sink) {
                return true;
            }
        }
        self.send_names(pair, &bases, sink)
    }

    /// Sends objects with a name that only one of the schemas may accept, and objects with a single further member.
    fn send_names(&self, pair: Pair<'s>, bases: &[Node<'static>], sink: Sink<'_>) -> bool {
        let names = |schema: &'s Node<'static>| schema.get(Keyword::PropertyNames).unwrap_or(self.anything);
        let (old, new) = (names(pair.old), names(pair.new));
        let is_named = !core::ptr::eq(old, new)
            && self.compare(pair.nested(old, new), &mut |value| match value.as_text() {
                Some(name) => bases
                    .iter()
                    .filter_map(Node::as_object)
                    .any(|base| sink(with_member(base, name, &Node::literal("a"), &self.budget))),
                None => false,
            });
        if is_named {
            return true;
        }
        let sides = [(&self.old, pair.old), (&self.new, pair.new)];
        for (side, schema) in sides {
            let tables = DEPENDENCIES.into_iter().filter_map(|keyword| schema.object_at(keyword));
            for member in tables.flat_map(Object::iter) {
                let declared = schema.object_at(Keyword::Properties).and_then(|table| table.get_text(&member.key));
                let value = declared.and_then(|schema| side.example(schema, MAX_LEVELS, &self.budget));
                let value = value.unwrap_or(Node::literal("a"));
                for base in bases.iter().filter_map(Node::as_object) {
                    // Sends the object once without the members that depend on the new member, and once with them by
                    // each side.
                    let example = with_member(base, &member.key, &value, &self.budget);
                    let completed = sides.iter().filter_map(|(side, schema)| {
                        let mut example = object_of(copy_value(&example, &self.budget))?;
                        side.add_dependent_members(schema.as_object()?, &mut example, MAX_LEVELS, &self.budget);
                        Some(Node::object(example))
                    });
                    let completed: Vec<Node<'static>> = completed.collect();
                    if self.is_spent() || sink(example) || completed.into_iter().any(&mut *sink) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Returns examples of both schemas that are objects, and their combination, the shortest first.
    fn base_objects(&self, pair: Pair<'s>) -> Vec<Node<'static>> {
        let old = self.old.example(pair.old, MAX_LEVELS, &self.budget).filter(|value| value.as_object().is_some());
        let new = self.new.example(pair.new, MAX_LEVELS, &self.budget).filter(|value| value.as_object().is_some());
        let both = match (&old, &new) {
            (Some(old), Some(new)) if !json::same_within(&self.budget, old, new) => {
                Some(merge(Some(copy_value(old, &self.budget)), copy_value(new, &self.budget)))
            }
            (Some(_), Some(_)) => return old.into_iter().collect(),
            _ => None,
        };
        let mut bases: Vec<Node<'static>> = [old, new, both].into_iter().flatten().collect();
        if bases.is_empty() {
            bases.push(Node::object(Object::default()));
        }
        collections::sorted_by(bases, |left, right| {
            json_length(left, &self.budget).cmp(&json_length(right, &self.budget))
        })
    }

    /// Sends arrays with an item that only one of the schemas may accept.
    fn send_items(&self, pair: Pair<'s>, sink: Sink<'_>) -> bool {
        let (Some(old), Some(new)) = (pair.old.as_object(), pair.new.as_object()) else { return false };
        let listed = |schema: &'s Object<'static>| {
            let items = schema.get(Keyword::Items).and_then(Node::as_array);
            schema.array_at(Keyword::PrefixItems).or(items).map_or(0, <[_]>::len)
        };
        let has_item_schemas = |schema: &Object<'_>| schema.has(Keyword::Items) || schema.has(Keyword::PrefixItems);
        if has_item_schemas(old) || has_item_schemas(new) {
            for at in 0..=listed(old).max(listed(new)) {
                let schema = |side| item_schema(side, at).map_or(self.anything, |(schema, _)| schema);
                let ends = self.compare(pair.nested(schema(old), schema(new)), &mut |value| {
                    [(&self.old, old), (&self.new, new)].into_iter().any(|(side, schema)| {
                        let least = count_at(schema, Keyword::MinItems).unwrap_or_default();
                        let length = least.max(u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1));
                        let mut example = side.array_example(schema, length, 4, &self.budget);
                        if let Some(item) = example.as_array_mut().and_then(|items| items.get_mut(at)) {
                            *item = copy_value(&value, &self.budget);
                        }
                        self.is_spent() || sink(example)
                    })
                });
                if ends {
                    return true;
                }
            }
        }
        let contains = |schema: &'s Object<'static>| schema.get(Keyword::Contains).unwrap_or(self.anything);
        let (old, new) = (contains(old), contains(new));
        !core::ptr::eq(old, new)
            && self.compare(pair.nested(old, new), &mut |value| sink(Node::array(Vec::from([value]))))
    }

    /// Sends values for the parts of unions and intersections.
    fn send_branches(&self, pair: Pair<'s>, sink: Sink<'_>) -> bool {
        if !pair.has_any(&BRANCH_KEYWORDS) {
            return false;
        }
        let bases = self.base_objects(pair);
        let combined = &mut |value: Node<'static>| {
            let is_object = value.as_object().is_some();
            let with_base = bases.iter().filter(|_| is_object);
            with_base
                .map(|base| merge(Some(copy_value(base, &self.budget)), copy_value(&value, &self.budget)))
                .any(&mut *sink)
                || self.is_spent()
                || sink(value)
        };
        for keyword in [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf] {
            let (old, new) = (pair.old.items_at(keyword), pair.new.items_at(keyword));
            for at in 0..old.len().max(new.len()) {
                let ends = match (old.get(at), new.get(at)) {
                    (Some(old), Some(new)) => self.compare(pair.nested(old, new), combined),
                    (Some(branch), None) if new.is_empty() => self.compare(pair.nested(branch, pair.new), combined),
                    (None, Some(branch)) if old.is_empty() => self.compare(pair.nested(pair.old, branch), combined),
                    (Some(branch), None) => self.old.send_examples(branch, MAX_LEVELS, &self.budget, combined),
                    (None, Some(branch)) => self.new.send_examples(branch, MAX_LEVELS, &self.budget, combined),
                    (None, None) => false,
                };
                if ends {
                    return true;
                }
            }
        }
        for keyword in [Keyword::If, Keyword::Then, Keyword::Else, Keyword::Not] {
            let of = |schema: &'s Node<'static>| schema.get(keyword).unwrap_or(self.anything);
            let (old, new) = (of(pair.old), of(pair.new));
            if !core::ptr::eq(old, new) && self.compare(pair.nested(old, new), combined) {
                return true;
            }
        }
        false
    }
}

/// Returns a count and its neighbors, without those that are greater than `most`.
fn neighbors(count: u64, most: u64) -> impl Iterator<Item = u64> {
    let counts = [count.checked_sub(1), Some(count), count.checked_add(1)];
    counts.into_iter().flatten().filter(move |count| *count <= most)
}

/// Returns a value of each type.
fn samples() -> [Node<'static>; 8] {
    let fraction = number_node(String::from("1.5"));
    [
        Node::literal("a"),
        Node::count(0),
        fraction,
        Node::bool(true),
        Node::new(Data::Null),
        Node::literal(""),
        Node::array(Vec::new()),
        Node::object(Object::default()),
    ]
}
