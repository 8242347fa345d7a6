//! Keywords for arrays.

use alloc::{format, string::String};

use super::{At, Place, Run, Verdict};
use crate::{
    collections::Set,
    json::{self, Data, Node, Object},
    schema::keyword::Keyword,
};

impl<'s, 'a> Run<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn of_array(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        items: &[Node<'_>],
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::PrefixItems => self.by_position(keyword_value, items, at),
            // Before 2020-12, a list in `items` was what is now `prefixItems`, and many schemas that declare no draft
            // use it.
            Keyword::Items if keyword_value.as_array().is_some() => self.by_position(keyword_value, items, at),
            Keyword::Items => {
                let known = self.prepared.draft.knows(Keyword::PrefixItems);
                let before = schema.get(Keyword::PrefixItems).filter(|_| known).and_then(Node::as_array);
                self.beyond(keyword_value, items, before.map_or(0, <[_]>::len), at)
            }
            Keyword::AdditionalItems => match schema.get(Keyword::Items).and_then(Node::as_array) {
                Some(before) => self.beyond(keyword_value, items, before.len(), at),
                None => Verdict::Valid,
            },
            Keyword::MinItems | Keyword::MaxItems => {
                self.counted(keyword, keyword_value, items.len(), ("item", " in the array"), at)
            }
            Keyword::UniqueItems => match keyword_value.as_bool() {
                Some(true) => self.unique(items, at),
                Some(false) => Verdict::Valid,
                None => Verdict::Unknown,
            },
            Keyword::Contains => self.contains(keyword_value, schema, items, at),
            Keyword::UnevaluatedItems if !items.is_empty() && keyword_value.as_bool() != Some(true) => Verdict::Unknown,
            _ => Verdict::Valid,
        }
    }

    /// Validates the first items, each against its own schema.
    #[inline(never)]
    fn by_position(&mut self, keyword_value: &'s Node<'a>, items: &[Node<'_>], at: At<'_>) -> Verdict {
        let Some(schemas) = keyword_value.as_array() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for (index, (schema, item)) in schemas.iter().zip(items).enumerate() {
            let (place, schema_place) = (Place::Item(at.value, index), Place::Item(at.schema, index));
            verdict = verdict.and(self.schema(schema, item, At { value: &place, schema: &schema_place, ..at }));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    /// Validates all items after the first `before` ones against one schema.
    #[inline(never)]
    fn beyond(&mut self, schema: &'s Node<'a>, items: &[Node<'_>], before: usize, at: At<'_>) -> Verdict {
        let mut verdict = Verdict::Valid;
        for (index, item) in items.iter().enumerate().skip(before) {
            let place = Place::Item(at.value, index);
            verdict = verdict.and(self.schema(schema, item, At { value: &place, ..at }));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
            if self.budget.is_spent() {
                return verdict.and(Verdict::Unknown);
            }
        }
        verdict
    }

    #[inline(never)]
    fn unique(&mut self, items: &[Node<'_>], at: At<'_>) -> Verdict {
        let mut seen: Set<String> = Set::new();
        for (index, item) in items.iter().enumerate() {
            if !self.budget.pay(weight(item)) {
                return Verdict::Unknown;
            }
            if !seen.insert(json::canonical(item)) {
                let place = Place::Item(at.value, index);
                return self.refuse(At { value: &place, ..at }, Keyword::UniqueItems.name(), || {
                    format!("expected unique items, found {} that already occurred", item.kind())
                });
            }
        }
        Verdict::Valid
    }

    #[inline(never)]
    fn contains(
        &mut self,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        items: &[Node<'_>],
        at: At<'_>,
    ) -> Verdict {
        let knows = |keyword| self.prepared.draft.knows(keyword);
        let min = schema.get(Keyword::MinContains).filter(|_| knows(Keyword::MinContains));
        let max = schema.get(Keyword::MaxContains).filter(|_| knows(Keyword::MaxContains));
        let (mut valid, mut possible) = (0, 0);
        for item in items {
            match self.quietly(keyword_value, item, at) {
                Verdict::Valid => (valid, possible) = (valid + 1, possible + 1),
                Verdict::Unknown => possible += 1,
                Verdict::Invalid => {}
            }
            if self.budget.is_spent() {
                return Verdict::Unknown;
            }
        }
        let reaches = |count: usize| match min {
            Some(min) => Some(self.against(count, min)?.is_ge()),
            None => Some(count > 0),
        };
        let exceeds = |count: usize| match max {
            Some(max) => Some(self.against(count, max)?.is_gt()),
            None => Some(false),
        };
        let ([min_sure, min_possible], [max_sure, max_possible]) =
            ([reaches(valid), reaches(possible)], [exceeds(valid), exceeds(possible)]);
        let Place::Name(above, _) = *at.schema else { return Verdict::Unknown };
        if min_possible == Some(false) {
            let keyword = if min.is_some() { Keyword::MinContains } else { Keyword::Contains };
            let place = Place::Name(above, keyword.name());
            return self.refuse(At { schema: &place, ..at }, keyword.name(), || {
                "expected more items that match the schema in `contains`, found too few".into()
            });
        }
        if max_sure == Some(true) {
            let place = Place::Name(above, Keyword::MaxContains.name());
            return self.refuse(At { schema: &place, ..at }, Keyword::MaxContains.name(), || {
                "expected fewer items that match the schema in `contains`, found too many".into()
            });
        }
        if min_sure == Some(true) && max_possible == Some(false) {
            Verdict::Valid
        } else {
            Verdict::Unknown
        }
    }
}

/// Returns the cost of writing a value.
pub(super) fn weight(value: &Node<'_>) -> usize {
    let (mut cost, mut open) = (0, alloc::vec![value]);
    while let Some(value) = open.pop() {
        cost += 1;
        match value.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) => {
                for member in object {
                    cost += member.key.chars().len() / 16;
                    open.push(&member.value);
                }
            }
            Data::String(text) => cost += text.chars().len() / 16,
            Data::Number(number) => cost += number.len() / 16,
            _ => {}
        }
    }
    cost
}
