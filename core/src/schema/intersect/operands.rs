//! Keywords of two schemas during a merge: taken out in groups that depend on each other, and put back merged.

use alloc::vec::Vec;

use super::{
    accepts_nothing,
    provenance::{self, Chosen, Slot, Value},
    Impossible, Operand, OWN,
};
use crate::{
    json::{self, Data, Node, Object},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords},
    },
};

/// Members of two schemas during a merge.
pub(super) struct Operands<'a> {
    pub(super) slots: Vec<Slot<'a>>,
}

impl<'a> Operands<'a> {
    /// Combines two objects by key, without keywords that only identify the inner schema.
    pub(super) fn of(outer: Object<'a>, inner: Object<'a>, place: usize) -> Self {
        let mut slots = provenance::slots(outer, inner, place);
        for slot in slots.iter_mut().filter(|slot| slot.keyword.is_some_and(|keyword| OWN.contains(keyword))) {
            slot.value = slot.value.take().0.map_or(Value::Gone, Value::Outer);
        }
        Operands { slots }
    }

    pub(super) fn slot(&mut self, keyword: Keyword) -> Option<&mut Slot<'a>> {
        self.slots.iter_mut().find(|slot| slot.keyword == Some(keyword))
    }

    /// Returns true if a side has one of these keywords, not yet merged.
    pub(super) fn has(&self, side: Operand, keywords: Keywords) -> bool {
        self.slots.iter().any(|slot| {
            let own = matches!(
                (&slot.value, side),
                (Value::Both(..), _) | (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner)
            );
            own && slot.keyword.is_some_and(|keyword| keywords.contains(keyword))
        })
    }

    /// Returns true if a side has one of these keywords with a value that the other side does not have.
    pub(super) fn adds(&self, side: Operand, keywords: Keywords) -> bool {
        let mut slots = self.slots.iter().filter(|slot| slot.keyword.is_some_and(|keyword| keywords.contains(keyword)));
        slots.any(|slot| match (&slot.value, side) {
            (Value::Both(outer, inner), _) => !json::same(outer, inner),
            (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner) => true,
            _ => false,
        })
    }

    /// Removes and returns the values of both sides.
    pub(super) fn take(&mut self, keyword: Keyword) -> (Option<Node<'a>>, Option<Node<'a>>) {
        self.slot(keyword).map_or((None, None), |slot| slot.value.take())
    }

    /// Removes and returns the values of both sides, if both have the keyword.
    pub(super) fn take_pair(&mut self, keyword: Keyword) -> Option<(Node<'a>, Node<'a>)> {
        let slot = self.slot(keyword).filter(|slot| matches!(slot.value, Value::Both(..)))?;
        let (outer, inner) = slot.value.take();
        outer.zip(inner)
    }

    /// Stores the merged value of a keyword.
    pub(super) fn settle(&mut self, keyword: Keyword, kept: Chosen<'a>) {
        if let Some(slot) = self.slot(keyword) {
            slot.value = Value::Settled(kept);
        }
    }

    /// Stores the values of one side for a group of keywords.
    pub(super) fn settle_all<const N: usize>(
        &mut self,
        keywords: [Keyword; N],
        values: [Option<Node<'a>>; N],
        kept: fn(Node<'a>) -> Chosen<'a>,
    ) {
        for (keyword, value) in keywords.into_iter().zip(values) {
            if let Some(value) = value {
                self.settle(keyword, kept(value));
            }
        }
    }

    /// Puts back values that were taken.
    pub(super) fn restore(&mut self, keyword: Keyword, outer: Option<Node<'a>>, inner: Option<Node<'a>>) {
        let value = match (outer, inner) {
            (Some(outer), Some(inner)) => Value::Both(outer, inner),
            (Some(outer), None) => Value::Outer(outer),
            (None, Some(inner)) => Value::Inner(inner),
            (None, None) => return,
        };
        if let Some(slot) = self.slot(keyword) {
            slot.value = value;
        }
    }

    /// Returns the current value of a keyword, unless both sides have one that is not yet merged.
    pub(super) fn get(&self, keyword: Keyword) -> Option<&Node<'a>> {
        self.slots.iter().find(|slot| slot.keyword == Some(keyword)).and_then(|slot| match &slot.value {
            Value::Outer(node) | Value::Inner(node) => Some(node),
            Value::Settled(kept) => Some(kept.node()),
            Value::Both(..) | Value::Gone => None,
        })
    }

    /// Returns true if all present keywords of this set come unchanged from the same side.
    pub(super) fn is_one_sided(&self, keywords: Keywords) -> bool {
        let all = |own: fn(&Value<'a>) -> bool| {
            self.slots
                .iter()
                .all(|slot| !slot.keyword.is_some_and(|keyword| keywords.contains(keyword)) || own(&slot.value))
        };
        all(|value| match value {
            Value::Outer(_) => true,
            Value::Settled(kept) => kept.is_outers(),
            _ => false,
        }) || all(|value| match value {
            Value::Inner(_) => true,
            Value::Settled(kept) => kept.is_inners(),
            _ => false,
        })
    }

    /// Returns an error if the merged schema accepts only objects, and requires a property that it forbids. A
    /// contradiction within one side is kept, because it is a mistake that a repair may fix.
    pub(super) fn requires_what_it_forbids(&self) -> Result<(), Impossible> {
        let get = |keyword| self.get(keyword);
        let objects_only = get(Keyword::Type).and_then(InstanceTypes::of_keyword) == Some(InstanceTypes::OBJECT);
        let Some(required) = get(Keyword::Required).and_then(Node::as_array).filter(|_| objects_only) else {
            return Ok(());
        };
        if self.is_one_sided(OF_MEMBERS) {
            return Ok(());
        }
        let properties = get(Keyword::Properties).and_then(Node::as_object);
        let index = properties.map(Object::index).unwrap_or_default();
        let no_patterns =
            get(Keyword::PatternProperties).is_none_or(|table| table.as_object().is_some_and(Object::is_empty));
        let closed = no_patterns && get(Keyword::AdditionalProperties).is_some_and(accepts_nothing);
        let forbidden = |name: &Node<'a>| match name.data() {
            Data::String(name) => match index.get(name).and_then(|place| properties?.iter().nth(*place)) {
                Some(property) => accepts_nothing(&property.value),
                None => closed,
            },
            _ => false,
        };
        if required.iter().any(forbidden) {
            Err(Impossible)
        } else {
            Ok(())
        }
    }
}

const OF_MEMBERS: Keywords = Keywords::of(&[
    Keyword::Type,
    Keyword::Required,
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
]);
