//! Values that a schema probably accepts. A validator decides.

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
pub(super) const LEVELS: usize = 10;
/// Maximum length of generated strings, arrays and objects.
pub(super) const MAX_LENGTH: u64 = 1_000;

/// A schema of the comparison, with a validator for it.
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

    /// Returns the target of a reference, or the schema itself.
    pub(super) fn resolved(&self, schema: &'s Node<'static>) -> &'s Node<'static> {
        let reference = schema.get(Keyword::Ref).filter(|reference| reference.as_text().is_some());
        reference.and_then(|reference| self.judge.borrow_mut().target(reference)).unwrap_or(schema)
    }

    /// Returns an accepted value, or else the first value that was tried.
    pub(super) fn example(&self, schema: &'s Node<'static>, levels: usize, budget: &Budget) -> Option<Node<'static>> {
        let (mut first_tried, mut accepted) = (None, None);
        self.examples(schema, levels, budget, &mut |value| {
            if self.verdict(schema, &value) == Verdict::Valid {
                accepted = Some(value);
                return true;
            }
            first_tried.get_or_insert(value);
            false
        });
        accepted.or(first_tried)
    }

    /// Passes values for a schema to `sink`. Returns true if the search ends.
    pub(super) fn examples(&self, schema: &'s Node<'static>, levels: usize, budget: &Budget, sink: Sink<'_>) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        if !budget.pay(1) || self.is_spent() {
            return true;
        }
        let target = self.resolved(schema);
        let Some(object) = target.as_object() else {
            return target.as_bool() == Some(true) && sink(Node::literal("a"));
        };
        let listed = object.get(Keyword::Const).into_iter().chain(object.items_at(Keyword::Enum));
        for value in listed.chain(object.get(Keyword::Default)).chain(object.items_at(Keyword::Examples)) {
            if sink(value.copy(budget)) {
                return true;
            }
        }
        let mut common_values = Vec::new();
        for part in object.items_at(Keyword::AllOf) {
            common_values.extend(self.example(part, levels, budget));
        }
        let types = object.get(Keyword::Type).and_then(InstanceTypes::of_keyword).unwrap_or_else(|| implied(object));
        let branches: Vec<&Node<'static>> =
            [Keyword::AnyOf, Keyword::OneOf].into_iter().flat_map(|keyword| object.items_at(keyword)).collect();
        let conditions = [Keyword::Then, Keyword::Else].into_iter().filter_map(|keyword| object.get(keyword));
        let mut alternatives: Vec<Option<&Node<'static>>> = branches.into_iter().chain(conditions).map(Some).collect();
        if alternatives.is_empty() || object.has(Keyword::If) {
            alternatives.push(None);
        }
        for kind in types.names() {
            let typed_value = self.of_type(kind, object, levels, budget);
            for part in &alternatives {
                let mut made = typed_value.as_ref().map(|value| value.copy(budget));
                let part = part.and_then(|part| self.example(part, levels, budget));
                for value in common_values.iter().map(|value| value.copy(budget)).chain(part) {
                    made = Some(merged(made, value));
                }
                if made.is_some_and(&mut *sink) {
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
            "string" => string_of(schema, budget),
            "number" | "integer" => number_of(schema),
            "boolean" => Node::bool(true),
            "null" => Node::new(Data::Null),
            "array" => {
                let count = count_at(schema, Keyword::MinItems).unwrap_or_default();
                self.array(schema, count.max(u64::from(schema.has(Keyword::Contains))), levels, budget)
            }
            "object" => {
                self.object(schema, count_at(schema, Keyword::MinProperties).unwrap_or_default(), levels, budget)
            }
            _ => return None,
        })
    }

    /// Returns an array of this length, at most [`MAX_LENGTH`].
    pub(super) fn array(
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
        for index in 0..count.min(MAX_LENGTH) {
            if !budget.pay(1) {
                break;
            }
            let position_schema = item_schema(schema, usize::try_from(index).unwrap_or(usize::MAX));
            let item = match (&first, index, position_schema) {
                (Some(first), 0, None) => first.copy(budget),
                (_, _, Some((schema, is_rest))) => match repeated.as_ref().filter(|_| is_rest && !is_unique) {
                    Some(known) => known.copy(budget),
                    None => {
                        let made = self.example(schema, levels, budget).unwrap_or_default();
                        if is_rest {
                            repeated = Some(made.copy(budget));
                        }
                        made
                    }
                },
                _ => Node::count(index),
            };
            let is_duplicate = is_unique && items.iter().any(|known| json::same_within(budget, known, &item));
            items.push(if is_duplicate { vary(&item, index) } else { item });
        }
        Node::array(items)
    }

    /// Returns an object with the required members, and with this number of members, at most [`MAX_LENGTH`].
    pub(super) fn object(
        &self,
        schema: &'s Object<'static>,
        count: u64,
        levels: usize,
        budget: &Budget,
    ) -> Node<'static> {
        let declared = schema.object_at(Keyword::Properties);
        let mut members = Object::default();
        let add = |members: &mut Object<'static>, name: Text<'static>| {
            if !budget.pay(1 + members.len() / 8) || members.get_text(&name).is_some() {
                return;
            }
            let value = match member_schema(schema, &name) {
                Some(member) => self.example(member, levels, budget),
                None => Some(Node::literal("a")),
            };
            members.set(name, value.unwrap_or_default());
        };
        for name in schema.items_at(Keyword::Required).iter().filter_map(Node::as_text) {
            add(&mut members, name.clone());
        }
        let count = usize::try_from(count.min(MAX_LENGTH)).unwrap_or_default();
        let names = declared.into_iter().flat_map(|table| table.iter()).map(|member| member.key.clone());
        let undeclared_names = (0..count).map(|at| Text::new(format!("m{at}")));
        for name in names.chain(undeclared_names) {
            if members.len() >= count {
                break;
            }
            add(&mut members, name);
        }
        Node::object(members)
    }
}

/// Returns the types that the keywords of a schema without `type` suggest.
fn implied(schema: &Object<'_>) -> InstanceTypes {
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

/// Combines the values for two schemas of one instance.
pub(super) fn merged(left: Option<Node<'static>>, right: Node<'static>) -> Node<'static> {
    match (left.map(Node::into_data), right.into_data()) {
        (Some(Data::Object(mut left)), Data::Object(right)) => {
            for member in right.into_members() {
                left.set(member.key, member.value);
            }
            Node::object(left)
        }
        (_, right) => Node::new(right),
    }
}

/// Returns another value of the same type.
fn vary(value: &Node<'static>, by: u64) -> Node<'static> {
    match value.data() {
        Data::String(text) => Node::string(format!("{}{by}", text.display())),
        Data::Number(text) => number(json::sum(text, &format!("{by}")).unwrap_or_default()),
        _ => Node::count(by),
    }
}

pub(super) fn number(text: String) -> Node<'static> {
    let text = if text.is_empty() { String::from("0") } else { text };
    Node::new(Data::Number(Cow::Owned(text)))
}

pub(super) fn letters(count: u64) -> Node<'static> {
    Node::string("a".repeat(usize::try_from(count.min(MAX_LENGTH)).unwrap_or_default()))
}

/// Returns a string that a pattern probably matches.
pub(super) fn matching(pattern: &Text<'_>, budget: &Budget) -> Option<String> {
    Pattern::new(&pattern.value()?, Spelling::Ecma, budget).ok()?.sample(budget)
}

pub(super) fn count_at(schema: &Object<'_>, keyword: Keyword) -> Option<u64> {
    schema.get(keyword).and_then(Node::as_u64)
}

fn is_true(schema: &Object<'_>, keyword: Keyword) -> bool {
    schema.get(keyword).and_then(Node::as_bool) == Some(true)
}

fn string_of(schema: &Object<'static>, budget: &Budget) -> Node<'static> {
    if let Some(sample) = schema.text_at(Keyword::Pattern).and_then(|pattern| matching(pattern, budget)) {
        return Node::string(sample);
    }
    letters(count_at(schema, Keyword::MinLength).unwrap_or(u64::from(count_at(schema, Keyword::MaxLength) != Some(0))))
}

fn number_of(schema: &Object<'static>) -> Node<'static> {
    let bound = |keyword: Keyword| schema.get(keyword).and_then(Node::as_number);
    let is_exclusive = |keyword: Keyword| is_true(schema, keyword);
    let shifted = |bound: &str, by: &str| json::sum(bound, by).unwrap_or_default();
    number(if let Some(bound) = bound(Keyword::MultipleOf) {
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
