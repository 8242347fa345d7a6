//! Validates keywords for objects and arrays. The members of a large object are indexed once, because many schemas may
//! apply to the same value.

use alloc::{borrow::Cow, format, rc::Rc, string::String, vec::Vec};

use super::{words, At, Location, Run, Verdict};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    json::{self, Data, Member, Node, Object, Order, Text},
    naming,
    schema::keyword::Keyword,
};

/// Maximum number of declared names that are compared with an undeclared name.
const CANDIDATES: usize = 256;

impl<'s, 'a> Run<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn check_object(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        members: &Object<'_>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::Properties => self.check_properties(keyword_value, members, at),
            Keyword::PatternProperties => self.check_pattern_properties(keyword_value, members, at),
            Keyword::AdditionalProperties => self.check_additional(keyword_value, schema, members, at),
            Keyword::PropertyNames => self.check_names(keyword_value, members, at),
            Keyword::Required => {
                let declared = schema.get(Keyword::Properties).and_then(Node::as_object);
                self.check_required(keyword_value, declared, members, at, keyword)
            }
            Keyword::MinProperties | Keyword::MaxProperties => {
                self.check_count(keyword, keyword_value, members.len(), ("member", " in the object"), at)
            }
            Keyword::Dependencies | Keyword::DependentRequired | Keyword::DependentSchemas => {
                self.check_dependent(keyword, keyword_value, members, value, at)
            }
            Keyword::UnevaluatedProperties if !members.is_empty() && keyword_value.as_bool() != Some(true) => {
                Verdict::Unknown
            }
            _ => Verdict::Valid,
        }
    }

    #[inline(never)]
    fn check_properties(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let Some(declared) = keyword_value.as_object() else { return Verdict::Unknown };
        if members.is_empty() {
            return Verdict::Valid;
        }
        let mut verdict = Verdict::Valid;
        let Some(pairs) = self.declared_members(declared, members) else { return Verdict::Unknown };
        for (Member { key, value: schema }, value) in pairs {
            verdict = verdict.and(self.check_member(schema, key, value, at));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    /// Returns the declared members with their schemas, in the order of the schema. Iterates over the smaller object.
    fn declared_members<'m, 'n>(
        &mut self,
        declared: &'s Object<'a>,
        members: &'m Object<'n>,
    ) -> Option<Vec<(&'s Member<'a>, &'m Node<'n>)>> {
        let smaller_count = declared.len().min(members.len());
        self.budget.pay(smaller_count / 16).then_some(())?;
        if declared.len() <= members.len() {
            let index = self.value_index(members)?;
            let pairs = declared.iter().filter_map(|member| Some((member, index.get(members, &member.key)?)));
            return Some(pairs.collect());
        }
        let index = self.schema_index(declared)?;
        let by_index =
            members.iter().filter_map(|member| Some((index.index_of(declared, &member.key)?, &member.value)));
        let by_index = collections::sorted_by(by_index.collect::<Vec<_>>(), |(left, _), (right, _)| left.cmp(right));
        let pairs =
            by_index.into_iter().filter_map(|(location, value)| Some((declared.members().get(location)?, value)));
        Some(pairs.collect())
    }

    fn check_member(&mut self, schema: &'s Node<'a>, key: &Text<'_>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let (location, schema_location) = (Location::Member(at.value, key), Location::Member(at.schema, key));
        self.schema(schema, value, At { value: &location, schema: &schema_location, ..at })
    }

    #[inline(never)]
    fn check_pattern_properties(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let Some(declared) = keyword_value.as_object() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for Member { key: pattern, value: schema } in declared {
            let schema_location = Location::Member(at.schema, pattern);
            for Member { key, value } in members {
                let location = Location::Member(at.value, key);
                let at = At { value: &location, schema: &schema_location, ..at };
                verdict = verdict.and(match self.name_matches(pattern, schema, key) {
                    Some(true) => self.schema(schema, value, at),
                    Some(false) => Verdict::Valid,
                    // If the schema accepts the member anyway, it does not matter whether the pattern matches.
                    None if self.check_silently(schema, value, at) == Verdict::Valid => Verdict::Valid,
                    None => Verdict::Unknown,
                });
                if self.budget.is_spent() {
                    return verdict.and(Verdict::Unknown);
                }
            }
        }
        verdict
    }

    pub(super) fn name_matches(&mut self, pattern: &Text<'_>, schema: &Node<'_>, name: &Text<'_>) -> Option<bool> {
        self.budget.pay(1 + name.chars().len() / 64).then_some(())?;
        self.patterns.find((pattern, schema.origin().number()), name, self.prepared.patterns, &self.budget)
    }

    #[inline(never)]
    fn check_additional(
        &mut self,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        members: &Object<'_>,
        at: At<'_>,
    ) -> Verdict {
        if keyword_value.as_bool() == Some(true) || members.is_empty() {
            return Verdict::Valid;
        }
        let (properties, patterns) = (schema.get(Keyword::Properties), schema.get(Keyword::PatternProperties));
        let is_malformed = |keyword: Option<&'s Node<'a>>| keyword.is_some_and(|table| table.as_object().is_none());
        if is_malformed(properties) || is_malformed(patterns) {
            return Verdict::Unknown;
        }
        let (declared, patterns) = (properties.and_then(Node::as_object), patterns.and_then(Node::as_object));
        let mut verdict = Verdict::Valid;
        if !self.budget.pay(members.len() / 16) {
            return Verdict::Unknown;
        }
        let declared_index = match declared.map(|declared| (declared, self.schema_index(declared))) {
            Some((declared, Some(order))) => Some((declared, order)),
            Some((_, None)) => return Verdict::Unknown,
            None => None,
        };
        for Member { key, value } in members {
            if declared_index.as_ref().is_some_and(|(declared, order)| order.index_of(declared, key).is_some()) {
                continue;
            }
            let mut matches_pattern = Some(false);
            for Member { key: pattern, value: schema } in patterns.into_iter().flatten() {
                match self.name_matches(pattern, schema, key) {
                    Some(true) => {
                        matches_pattern = Some(true);
                        break;
                    }
                    Some(false) => {}
                    None => matches_pattern = None,
                }
            }
            let location = Location::Member(at.value, key);
            let at = At { value: &location, ..at };
            verdict = verdict.and(match matches_pattern {
                Some(true) => Verdict::Valid,
                Some(false) if keyword_value.as_bool() == Some(false) => self.refuse_undeclared(key, declared, at),
                Some(false) => self.schema(keyword_value, value, at),
                None if self.check_silently(keyword_value, value, at) == Verdict::Valid => Verdict::Valid,
                None => Verdict::Unknown,
            });
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
            if self.budget.is_spent() {
                return verdict.and(Verdict::Unknown);
            }
        }
        verdict
    }

    fn refuse_undeclared(&mut self, key: &Text<'_>, declared: Option<&Object<'_>>, at: At<'_>) -> Verdict {
        self.refuse(at, Keyword::AdditionalProperties.name(), || {
            let names: Vec<Cow<'_, str>> =
                declared.into_iter().flatten().take(CANDIDATES).map(|member| member.key.display()).collect();
            let meant = naming::did_you_mean(&key.display(), &names);
            format!("expected declared members only, found {}{meant}", words::name(key))
        })
    }

    #[inline(never)]
    fn check_names(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let mut verdict = Verdict::Valid;
        for member in members {
            let name = Node::string(member.key.borrowed());
            let location = Location::Member(at.value, &member.key);
            verdict = verdict.and(match self.check_silently(keyword_value, &name, at) {
                Verdict::Invalid => self.refuse(At { value: &location, ..at }, Keyword::PropertyNames.name(), || {
                    format!("expected a name that matches `propertyNames`, found {}", words::name(&member.key))
                }),
                known => known,
            });
            if self.budget.is_spent() {
                return verdict.and(Verdict::Unknown);
            }
        }
        verdict
    }

    #[inline(never)]
    fn check_required(
        &mut self,
        keyword_value: &Node<'_>,
        declared: Option<&Object<'_>>,
        members: &Object<'_>,
        at: At<'_>,
        keyword: Keyword,
    ) -> Verdict {
        let Some(names) = keyword_value.as_array() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        if !self.budget.pay(names.len() / 16) {
            return Verdict::Unknown;
        }
        let Some(index) = self.value_index(members) else { return Verdict::Unknown };
        for name in names {
            let Some(name) = name.as_text() else {
                verdict = verdict.and(Verdict::Unknown);
                continue;
            };
            if index.index_of(members, name).is_none() {
                verdict = self.refuse(at, keyword.name(), || {
                    let meant = words::instead(name, declared, members);
                    format!("expected the member {}, found an object without it{meant}", words::name(name))
                });
                if self.is_silent() {
                    break;
                }
            }
        }
        verdict
    }

    #[inline(never)]
    fn check_dependent(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        members: &Object<'_>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        let Some(entries) = keyword_value.as_object() else { return Verdict::Unknown };
        if !self.budget.pay(entries.len() / 16) {
            return Verdict::Unknown;
        }
        let (Some(index), mut verdict) = (self.value_index(members), Verdict::Valid) else { return Verdict::Unknown };
        for Member { key, value: dependency } in entries {
            if index.index_of(members, key).is_none() {
                continue;
            }
            let location = Location::Member(at.schema, key);
            let at = At { schema: &location, ..at };
            let lists_names = dependency.as_array().is_some();
            verdict = verdict.and(match keyword {
                Keyword::Dependencies if lists_names => self.check_required(dependency, None, members, at, keyword),
                Keyword::DependentRequired => self.check_required(dependency, None, members, at, keyword),
                _ => self.schema(dependency, value, at),
            });
        }
        verdict
    }
}

impl<'s, 'a> Run<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn check_array(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        items: &[Node<'_>],
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::PrefixItems => self.check_items_by_position(keyword_value, items, at),
            // Before 2020-12, `items` could hold a list, which is now `prefixItems`. Many schemas that declare no draft
            // still use such a list.
            Keyword::Items if keyword_value.as_array().is_some() => {
                self.check_items_by_position(keyword_value, items, at)
            }
            Keyword::Items => {
                let knows_prefix = self.prepared.draft.knows(Keyword::PrefixItems);
                let prefix = schema.get(Keyword::PrefixItems).filter(|_| knows_prefix).and_then(Node::as_array);
                self.check_remaining_items(keyword_value, items, prefix.map_or(0, <[_]>::len), at)
            }
            Keyword::AdditionalItems => match schema.get(Keyword::Items).and_then(Node::as_array) {
                Some(prefix) => self.check_remaining_items(keyword_value, items, prefix.len(), at),
                None => Verdict::Valid,
            },
            Keyword::MinItems | Keyword::MaxItems => {
                self.check_count(keyword, keyword_value, items.len(), ("item", " in the array"), at)
            }
            Keyword::UniqueItems => match keyword_value.as_bool() {
                Some(true) => self.check_unique(items, at),
                Some(false) => Verdict::Valid,
                None => Verdict::Unknown,
            },
            Keyword::Contains => self.check_contains(keyword_value, schema, items, at),
            Keyword::UnevaluatedItems if !items.is_empty() && keyword_value.as_bool() != Some(true) => Verdict::Unknown,
            _ => Verdict::Valid,
        }
    }

    #[inline(never)]
    fn check_items_by_position(&mut self, keyword_value: &'s Node<'a>, items: &[Node<'_>], at: At<'_>) -> Verdict {
        let Some(schemas) = keyword_value.as_array() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for (index, (schema, item)) in schemas.iter().zip(items).enumerate() {
            let (location, schema_location) = (Location::Item(at.value, index), Location::Item(at.schema, index));
            verdict = verdict.and(self.schema(schema, item, At { value: &location, schema: &schema_location, ..at }));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    #[inline(never)]
    fn check_remaining_items(
        &mut self,
        schema: &'s Node<'a>,
        items: &[Node<'_>],
        before: usize,
        at: At<'_>,
    ) -> Verdict {
        let mut verdict = Verdict::Valid;
        for (index, item) in items.iter().enumerate().skip(before) {
            let location = Location::Item(at.value, index);
            verdict = verdict.and(self.schema(schema, item, At { value: &location, ..at }));
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
    fn check_unique(&mut self, items: &[Node<'_>], at: At<'_>) -> Verdict {
        let mut seen: Set<String> = Set::new();
        for (index, item) in items.iter().enumerate() {
            if !self.budget.pay(weight(item)) {
                return Verdict::Unknown;
            }
            if !seen.insert(json::canonical(item)) {
                let location = Location::Item(at.value, index);
                return self.refuse(At { value: &location, ..at }, Keyword::UniqueItems.name(), || {
                    format!("expected unique items, found {} that already occurred", item.kind())
                });
            }
        }
        Verdict::Valid
    }

    #[inline(never)]
    fn check_contains(
        &mut self,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        items: &[Node<'_>],
        at: At<'_>,
    ) -> Verdict {
        let knows = |keyword| self.prepared.draft.knows(keyword);
        let min = schema.get(Keyword::MinContains).filter(|_| knows(Keyword::MinContains));
        let max = schema.get(Keyword::MaxContains).filter(|_| knows(Keyword::MaxContains));
        let (mut certain, mut possible) = (0, 0);
        for item in items {
            match self.check_silently(keyword_value, item, at) {
                Verdict::Valid => (certain, possible) = (certain + 1, possible + 1),
                Verdict::Unknown => possible += 1,
                Verdict::Invalid => {}
            }
            if self.budget.is_spent() {
                return Verdict::Unknown;
            }
        }
        let reaches_min = |count: usize| match min {
            Some(min) => Some(self.compare_count(count, min)?.is_ge()),
            None => Some(count > 0),
        };
        let exceeds_max = |count: usize| match max {
            Some(max) => Some(self.compare_count(count, max)?.is_gt()),
            None => Some(false),
        };
        let ([is_min_certain, is_min_possible], [is_max_certain, is_max_possible]) =
            ([reaches_min(certain), reaches_min(possible)], [exceeds_max(certain), exceeds_max(possible)]);
        let Location::Name(above, _) = *at.schema else { return Verdict::Unknown };
        if is_min_possible == Some(false) {
            let keyword = if min.is_some() { Keyword::MinContains } else { Keyword::Contains };
            let location = Location::Name(above, keyword.name());
            return self.refuse(At { schema: &location, ..at }, keyword.name(), || {
                "expected more items that match the schema in `contains`, found too few".into()
            });
        }
        if is_max_certain == Some(true) {
            let location = Location::Name(above, Keyword::MaxContains.name());
            return self.refuse(At { schema: &location, ..at }, Keyword::MaxContains.name(), || {
                "expected fewer items that match the schema in `contains`, found too many".into()
            });
        }
        if is_min_certain == Some(true) && is_max_possible == Some(false) {
            Verdict::Valid
        } else {
            Verdict::Unknown
        }
    }
}

pub(super) fn weight(value: &Node<'_>) -> usize {
    let (mut cost, mut pending) = (0, alloc::vec![value]);
    while let Some(value) = pending.pop() {
        cost += 1;
        match value.data() {
            Data::Array(items) => pending.extend(items),
            Data::Object(object) => {
                for member in object {
                    cost += member.key.chars().len() / 16;
                    pending.push(&member.value);
                }
            }
            Data::String(text) => cost += text.chars().len() / 16,
            Data::Number(number) => cost += number.len() / 16,
            _ => {}
        }
    }
    cost
}

impl<'s, 'a> Run<'_, 's, 'a> {
    /// Clears the indexes, because the next validation may be of another value.
    pub(super) fn forget_value_indexes(&mut self) {
        if !self.keeps_value_indexes && !self.value_indexes.is_empty() {
            self.value_indexes = Map::new();
        }
    }

    fn value_index(&mut self, members: &Object<'_>) -> Option<Rc<Order>> {
        index_of_object(&mut self.value_indexes, members, &self.budget)
    }

    fn schema_index(&mut self, declared: &'s Object<'a>) -> Option<Rc<Order>> {
        index_of_object(&mut self.schema_indexes, declared, &self.budget)
    }
}

fn index_of_object(indexes: &mut Map<usize, Rc<Order>>, object: &Object<'_>, budget: &Budget) -> Option<Rc<Order>> {
    let address = core::ptr::from_ref(object) as usize;
    if let Some(index) = indexes.get(&address) {
        return Some(index.clone());
    }
    budget.pay(1 + object.len() / 8).then_some(())?;
    let index = Rc::new(Order::of(object));
    indexes.insert(address, index.clone());
    Some(index)
}
