//! Examples: values that a schema probably accepts. The search validates each example.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::cell::RefCell;

use super::super::{
    instance_types::InstanceTypes,
    keyword::Keyword,
    validate::{Judge, Verdict},
};
use crate::{
    budget::Budget,
    json::{self, Data, Node, Object, Text},
    pattern::{Pattern, Spelling},
};

/// Maximum nesting of examples.
pub(super) const MAX_LEVELS: usize = 10;
/// Maximum number of members of generated objects.
const MAX_MEMBERS: u64 = 1_000;
/// One generated string or array may need this fraction of the remaining budget: 1 / `SHARE`.
const SHARE: u64 = 8;
/// Number of bytes of text that are copied in one step.
const BYTES_PER_STEP: usize = 16;

/// One of the two schemas.
pub(super) struct Side<'v, 's> {
    judge: RefCell<Judge<'v, 's, 'static>>,
}

/// Receives a value. Returns true to end the search.
pub(super) type Sink<'f> = &'f mut dyn FnMut(Node<'static>) -> bool;

impl<'v, 's> Side<'v, 's> {
    pub(super) fn new(judge: Judge<'v, 's, 'static>) -> Self {
        Side { judge: RefCell::new(judge) }
    }

    pub(super) fn root(&self) -> &'s Node<'static> {
        self.judge.borrow().root()
    }

    pub(super) fn verdict(&self, schema: &'s Node<'static>, value: &Node<'_>) -> Verdict {
        self.judge.borrow_mut().verdict(schema, value)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.judge.borrow().budget().is_spent()
    }

    pub(super) fn steps(&self) -> u64 {
        self.judge.borrow().budget().spent()
    }

    /// Returns the target of a reference, or the schema itself.
    pub(super) fn reference_target(&self, schema: &'s Node<'static>) -> &'s Node<'static> {
        let reference = schema.get(Keyword::Ref).filter(|reference| reference.as_text().is_some());
        reference.and_then(|reference| self.judge.borrow_mut().target(reference)).unwrap_or(schema)
    }

    /// Returns a value that the schema accepts, or the first value tried.
    pub(super) fn example(&self, schema: &'s Node<'static>, levels: usize, budget: &Budget) -> Option<Node<'static>> {
        let (mut first, mut valid) = (None, None);
        self.send_examples(schema, levels, budget, &mut |value| {
            if self.verdict(schema, &value) == Verdict::Valid {
                valid = Some(value);
                return true;
            }
            first.get_or_insert(value);
            false
        });
        valid.or(first)
    }

    /// Sends examples of a schema to `sink`. Returns true if the search ends.
    pub(super) fn send_examples(
        &self,
        schema: &'s Node<'static>,
        levels: usize,
        budget: &Budget,
        sink: Sink<'_>,
    ) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        if !budget.pay(1) || self.is_spent() {
            return true;
        }
        let target = self.reference_target(schema);
        let Some(object) = target.as_object() else {
            return target.as_bool() == Some(true) && sink(Node::literal("a"));
        };
        let listed_values = object.get(Keyword::Const).into_iter().chain(object.items_at(Keyword::Enum));
        for value in listed_values.chain(object.get(Keyword::Default)).chain(object.items_at(Keyword::Examples)) {
            if sink(copy_value(value, budget)) {
                return true;
            }
        }
        let mut common_values = Vec::new();
        for part in object.items_at(Keyword::AllOf) {
            common_values.extend(self.example(part, levels, budget));
        }
        let types =
            object.get(Keyword::Type).and_then(InstanceTypes::of_keyword).unwrap_or_else(|| suggested_types(object));
        let branches: Vec<&Node<'static>> =
            [Keyword::AnyOf, Keyword::OneOf].into_iter().flat_map(|keyword| object.items_at(keyword)).collect();
        let conditions = [Keyword::Then, Keyword::Else].into_iter().filter_map(|keyword| object.get(keyword));
        let mut parts: Vec<Option<&Node<'static>>> = branches.into_iter().chain(conditions).map(Some).collect();
        if parts.is_empty() || object.has(Keyword::If) {
            parts.push(None);
        }
        for kind in types.names() {
            let by_type = self.of_type(kind, object, levels, budget);
            for part in &parts {
                let mut example = by_type.as_ref().map(|value| copy_value(value, budget));
                let part = part.and_then(|part| self.example(part, levels, budget));
                for value in common_values.iter().map(|value| copy_value(value, budget)).chain(part) {
                    example = Some(merge(example, value));
                }
                if example.is_some_and(&mut *sink) {
                    return true;
                }
            }
        }
        false
    }

    fn of_type(
        &self,
        kind: &str,
        schema: &'s Object<'static>,
        levels: usize,
        budget: &Budget,
    ) -> Option<Node<'static>> {
        Some(match kind {
            "string" => text_of(schema, budget),
            "number" | "integer" => number_of(schema),
            "boolean" => Node::bool(true),
            "null" => Node::new(Data::Null),
            "array" => {
                let count = count_at(schema, Keyword::MinItems).unwrap_or_default();
                self.array_example(schema, count.max(u64::from(schema.has(Keyword::Contains))), levels, budget)
            }
            "object" => self.object_example(
                schema,
                count_at(schema, Keyword::MinProperties).unwrap_or_default(),
                levels,
                budget,
            ),
            _ => return None,
        })
    }

    /// Returns an array of this length, or an empty one if the budget does not allow the length.
    pub(super) fn array_example(
        &self,
        schema: &'s Object<'static>,
        count: u64,
        levels: usize,
        budget: &Budget,
    ) -> Node<'static> {
        let mut items: Vec<Node<'static>> = Vec::new();
        let first = schema.get(Keyword::Contains).and_then(|schema| self.example(schema, levels, budget));
        let is_unique = is_true(schema, Keyword::UniqueItems);
        let mut repeated: Option<Node<'static>> = None;
        let count = if count <= most_items(budget) { count } else { 0 };
        for at in 0..count {
            if !budget.pay(1) {
                break;
            }
            let by_type = item_schema(schema, usize::try_from(at).unwrap_or(usize::MAX));
            let item = match (&first, at, by_type) {
                (Some(first), 0, None) => copy_value(first, budget),
                (_, _, Some((schema, is_for_all_further))) => {
                    match repeated.as_ref().filter(|_| is_for_all_further && !is_unique) {
                        Some(known) => copy_value(known, budget),
                        None => {
                            let example = self.example(schema, levels, budget).unwrap_or_default();
                            if is_for_all_further {
                                repeated = Some(copy_value(&example, budget));
                            }
                            example
                        }
                    }
                }
                _ => Node::count(at),
            };
            let is_repeated = is_unique && items.iter().any(|known| json::same_within(budget, known, &item));
            items.push(if is_repeated { vary(&item, at) } else { item });
        }
        Node::array(items)
    }

    /// Returns an object with the required members, and with this number of members, at most [`MAX_MEMBERS`].
    pub(super) fn object_example(
        &self,
        schema: &'s Object<'static>,
        count: u64,
        levels: usize,
        budget: &Budget,
    ) -> Node<'static> {
        let declared = schema.object_at(Keyword::Properties);
        let mut example = Object::default();
        for name in schema.items_at(Keyword::Required).iter().filter_map(Node::as_text) {
            self.add_member(schema, &mut example, name, levels, budget);
        }
        self.add_dependent_members(schema, &mut example, levels, budget);
        let count = usize::try_from(count.min(MAX_MEMBERS)).unwrap_or_default();
        let names = declared.into_iter().flat_map(|table| table.iter()).map(|member| member.key.clone());
        let others = (0..count).map(|at| Text::new(format!("m{at}")));
        for name in names.chain(others) {
            if example.len() >= count {
                break;
            }
            self.add_member(schema, &mut example, &name, levels, budget);
        }
        Node::object(example)
    }

    /// Adds a member with a value that its schema probably accepts, if the object does not have it.
    fn add_member(
        &self,
        schema: &'s Object<'static>,
        example: &mut Object<'static>,
        name: &Text<'static>,
        levels: usize,
        budget: &Budget,
    ) {
        if !budget.pay(1 + example.len() / 8 + name.chars().len() / BYTES_PER_STEP) || example.get_text(name).is_some()
        {
            return;
        }
        let value = match member_schema(schema, name) {
            Some(member) => self.example(member, levels, budget),
            None => Some(Node::literal("a")),
        };
        example.set(name.clone(), value.unwrap_or_default());
    }

    pub(super) fn add_dependent_members(
        &self,
        schema: &'s Object<'static>,
        example: &mut Object<'static>,
        levels: usize,
        budget: &Budget,
    ) {
        let tables: Vec<&Object<'static>> =
            DEPENDENCIES.into_iter().filter_map(|keyword| schema.object_at(keyword)).collect();
        let mut before = usize::MAX;
        while before != example.len() && budget.pay(1) {
            before = example.len();
            for member in tables.iter().copied().flatten() {
                if !budget.pay(1 + example.len() / 8) || example.get_text(&member.key).is_none() {
                    continue;
                }
                for name in member.value.as_array().into_iter().flatten().filter_map(Node::as_text) {
                    self.add_member(schema, example, name, levels, budget);
                }
                let dependent = member.value.as_object().and_then(|_| self.example(&member.value, levels, budget));
                for member in dependent.and_then(object_of).into_iter().flat_map(Object::into_members) {
                    if example.get_text(&member.key).is_none() {
                        example.set(member.key, member.value);
                    }
                }
            }
        }
    }
}

pub(super) const DEPENDENCIES: [Keyword; 3] =
    [Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Dependencies];

/// The budget also pays for the text of the value, because a search copies each text many times.
pub(super) fn copy_value(value: &Node<'static>, budget: &Budget) -> Node<'static> {
    if budget.pay(json_length(value, budget) / BYTES_PER_STEP) {
        value.copy(budget)
    } else {
        Node::default()
    }
}

pub(super) fn with_member(
    object: &Object<'static>,
    name: &Text<'static>,
    value: &Node<'static>,
    budget: &Budget,
) -> Node<'static> {
    if !budget.pay(length_of_members(object, budget) / BYTES_PER_STEP) {
        return Node::default();
    }
    let mut example = object.copy(budget);
    example.set(name.clone(), copy_value(value, budget));
    Node::object(example)
}

pub(super) fn object_of(value: Node<'static>) -> Option<Object<'static>> {
    match value.into_data() {
        Data::Object(object) => Some(object),
        _ => None,
    }
}

pub(super) fn json_length(value: &Node<'_>, budget: &Budget) -> usize {
    match value.data() {
        Data::String(text) => 2 + text.chars().len(),
        Data::Number(text) => text.len(),
        Data::Array(items) if budget.pay(items.len() / BYTES_PER_STEP) => {
            items.iter().map(|item| 1 + json_length(item, budget)).sum::<usize>() + 2
        }
        Data::Object(object) => length_of_members(object, budget),
        _ => 4,
    }
}

fn length_of_members(object: &Object<'_>, budget: &Budget) -> usize {
    budget.pay(object.len() / BYTES_PER_STEP);
    object.iter().map(|member| 4 + member.key.chars().len() + json_length(&member.value, budget)).sum::<usize>() + 2
}

pub(super) fn most_items(budget: &Budget) -> u64 {
    budget.remaining() / SHARE
}

pub(super) fn most_letters(budget: &Budget) -> u64 {
    (budget.remaining() / SHARE).saturating_mul(BYTES_PER_STEP as u64)
}

/// Returns the types that the keywords of a schema without `type` suggest.
fn suggested_types(schema: &Object<'_>) -> InstanceTypes {
    let suggests = |keywords: &[Keyword]| keywords.iter().any(|keyword| schema.has(*keyword));
    if suggests(&[Keyword::Properties, Keyword::Required, Keyword::AdditionalProperties, Keyword::MinProperties]) {
        InstanceTypes::OBJECT
    } else if suggests(&[Keyword::Items, Keyword::PrefixItems, Keyword::MinItems, Keyword::Contains]) {
        InstanceTypes::ARRAY
    } else if suggests(&[Keyword::Pattern, Keyword::MinLength, Keyword::MaxLength, Keyword::Format]) {
        InstanceTypes::STRING
    } else if suggests(&[Keyword::Minimum, Keyword::Maximum, Keyword::MultipleOf]) {
        InstanceTypes::NUMBER
    } else {
        InstanceTypes::STRING.or(InstanceTypes::OBJECT)
    }
}

/// Returns the schema of an item, and true if it is the schema of all further items.
pub(super) fn item_schema<'s>(schema: &'s Object<'static>, at: usize) -> Option<(&'s Node<'static>, bool)> {
    let items = schema.get(Keyword::Items);
    let by_position = schema.array_at(Keyword::PrefixItems).or_else(|| items.and_then(Node::as_array));
    if let Some(schema) = by_position.and_then(|list| list.get(at)) {
        return Some((schema, false));
    }
    let rest = items.filter(|items| items.as_array().is_none()).or_else(|| schema.get(Keyword::AdditionalItems));
    rest.map(|schema| (schema, true))
}

/// Returns the schema of a member, if it is declared or if it is additional.
pub(super) fn member_schema<'s>(schema: &'s Object<'static>, name: &Text<'_>) -> Option<&'s Node<'static>> {
    let declared = schema.object_at(Keyword::Properties).and_then(|table| table.get_text(name));
    declared.or_else(|| schema.get(Keyword::AdditionalProperties))
}

/// Combines the examples of two schemas that apply to one instance.
pub(super) fn merge(one: Option<Node<'static>>, two: Node<'static>) -> Node<'static> {
    match (one.map(Node::into_data), two.into_data()) {
        (Some(Data::Object(mut one)), Data::Object(two)) => {
            for member in two.into_members() {
                one.set(member.key, member.value);
            }
            Node::object(one)
        }
        (_, two) => Node::new(two),
    }
}

/// Returns another value of the same type.
fn vary(value: &Node<'static>, by: u64) -> Node<'static> {
    match value.data() {
        Data::String(text) => Node::string(format!("{}{by}", text.display())),
        Data::Number(text) => number_node(json::sum(text, &format!("{by}")).unwrap_or_default()),
        _ => Node::count(by),
    }
}

pub(super) fn number_node(text: String) -> Node<'static> {
    let text = if text.is_empty() { String::from("0") } else { text };
    Node::new(Data::Number(Cow::Owned(text)))
}

/// Returns a string of this length, or an empty one if the budget does not allow the length.
pub(super) fn text_of_length(count: u64, budget: &Budget) -> Node<'static> {
    let count = if count <= most_letters(budget) { usize::try_from(count).unwrap_or_default() } else { 0 };
    Node::string(if budget.pay(count / BYTES_PER_STEP) { "a".repeat(count) } else { String::new() })
}

/// Returns a string that a pattern probably matches.
pub(super) fn matching_text(pattern: &Text<'_>, budget: &Budget) -> Option<String> {
    Pattern::new(&pattern.value()?, Spelling::Ecma, budget).ok()?.sample(budget)
}

pub(super) fn count_at(schema: &Object<'_>, keyword: Keyword) -> Option<u64> {
    schema.get(keyword).and_then(Node::as_u64)
}

fn is_true(schema: &Object<'_>, keyword: Keyword) -> bool {
    schema.get(keyword).and_then(Node::as_bool) == Some(true)
}

fn text_of(schema: &Object<'static>, budget: &Budget) -> Node<'static> {
    if let Some(sample) = schema.text_at(Keyword::Pattern).and_then(|pattern| matching_text(pattern, budget)) {
        return Node::string(sample);
    }
    let least = count_at(schema, Keyword::MinLength);
    text_of_length(least.unwrap_or(u64::from(count_at(schema, Keyword::MaxLength) != Some(0))), budget)
}

fn number_of(schema: &Object<'static>) -> Node<'static> {
    let bound = |keyword: Keyword| schema.get(keyword).and_then(Node::as_number);
    let is_exclusive = |keyword: Keyword| is_true(schema, keyword);
    let shifted = |bound: &str, by: &str| json::sum(bound, by).unwrap_or_default();
    number_node(if let Some(bound) = bound(Keyword::MultipleOf) {
        String::from(bound)
    } else if let Some(bound) = bound(Keyword::ExclusiveMinimum) {
        shifted(bound, "1")
    } else if let Some(bound) = bound(Keyword::Minimum) {
        shifted(bound, if is_exclusive(Keyword::ExclusiveMinimum) { "1" } else { "0" })
    } else if let Some(bound) = bound(Keyword::ExclusiveMaximum) {
        shifted(bound, "-1")
    } else if let Some(bound) = bound(Keyword::Maximum) {
        shifted(bound, if is_exclusive(Keyword::ExclusiveMaximum) { "-1" } else { "0" })
    } else {
        String::from("1")
    })
}
