//! Validates keywords for objects and arrays. The members of a large object are indexed once, because many parts of a
//! schema may inspect the same value.

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
    pub(super) fn of_object(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        members: &Object<'_>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::Properties => self.properties(keyword_value, members, at),
            Keyword::PatternProperties => self.pattern_properties(keyword_value, members, at),
            Keyword::AdditionalProperties => self.additional(keyword_value, schema, members, at),
            Keyword::PropertyNames => self.names(keyword_value, members, at),
            Keyword::Required => {
                let declared = schema.get(Keyword::Properties).and_then(Node::as_object);
                self.required(keyword_value, declared, members, at, keyword)
            }
            Keyword::MinProperties | Keyword::MaxProperties => {
                self.counted(keyword, keyword_value, members.len(), ("member", " in the object"), at)
            }
            Keyword::Dependencies | Keyword::DependentRequired | Keyword::DependentSchemas => {
                self.dependent(keyword, keyword_value, members, value, at)
            }
            Keyword::UnevaluatedProperties if !members.is_empty() && keyword_value.as_bool() != Some(true) => {
                Verdict::Unknown
            }
            _ => Verdict::Valid,
        }
    }

    #[inline(never)]
    fn properties(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let Some(declared) = keyword_value.as_object() else { return Verdict::Unknown };
        if members.is_empty() {
            return Verdict::Valid;
        }
        let mut verdict = Verdict::Valid;
        let Some(pairs) = self.declared_members(declared, members) else { return Verdict::Unknown };
        for (Member { key, value: schema }, value) in pairs {
            verdict = verdict.and(self.member(schema, key, value, at));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    /// In the order of the schema. Iterates over the smaller of the two.
    fn declared_members<'m, 'n>(
        &mut self,
        declared: &'s Object<'a>,
        members: &'m Object<'n>,
    ) -> Option<Vec<(&'s Member<'a>, &'m Node<'n>)>> {
        let fewer = declared.len().min(members.len());
        self.budget.pay(fewer / 16).then_some(())?;
        if declared.len() <= members.len() {
            let order = self.order_of(members)?;
            let pairs = declared.iter().filter_map(|member| Some((member, order.get(members, &member.key)?)));
            return Some(pairs.collect());
        }
        let order = self.order_of_declared(declared)?;
        let places = members.iter().filter_map(|member| Some((order.index_of(declared, &member.key)?, &member.value)));
        let places = collections::by(places.collect::<Vec<_>>(), |(one, _), (two, _)| one.cmp(two));
        let pairs = places.into_iter().filter_map(|(location, value)| Some((declared.members().get(location)?, value)));
        Some(pairs.collect())
    }

    fn member(&mut self, schema: &'s Node<'a>, key: &Text<'_>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let (location, schema_location) = (Location::Member(at.value, key), Location::Member(at.schema, key));
        self.schema(schema, value, At { value: &location, schema: &schema_location, ..at })
    }

    #[inline(never)]
    fn pattern_properties(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let Some(declared) = keyword_value.as_object() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for Member { key: pattern, value: schema } in declared {
            let schema_location = Location::Member(at.schema, pattern);
            for Member { key, value } in members {
                let location = Location::Member(at.value, key);
                let at = At { value: &location, schema: &schema_location, ..at };
                verdict = verdict.and(match self.named(pattern, schema, key) {
                    Some(true) => self.schema(schema, value, at),
                    Some(false) => Verdict::Valid,
                    // If the schema accepts the member anyway, it does not matter whether the pattern matches.
                    None if self.quietly(schema, value, at) == Verdict::Valid => Verdict::Valid,
                    None => Verdict::Unknown,
                });
                if self.budget.is_spent() {
                    return verdict.and(Verdict::Unknown);
                }
            }
        }
        verdict
    }

    pub(super) fn named(&mut self, pattern: &Text<'_>, schema: &Node<'_>, name: &Text<'_>) -> Option<bool> {
        self.budget.pay(1 + name.chars().len() / 64).then_some(())?;
        self.patterns.find((pattern, schema.origin().number()), name, self.prepared.patterns, &self.budget)
    }

    #[inline(never)]
    fn additional(
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
        let known = match declared.map(|declared| (declared, self.order_of_declared(declared))) {
            Some((declared, Some(order))) => Some((declared, order)),
            Some((_, None)) => return Verdict::Unknown,
            None => None,
        };
        for Member { key, value } in members {
            if known.as_ref().is_some_and(|(declared, order)| order.index_of(declared, key).is_some()) {
                continue;
            }
            let mut is_taken = Some(false);
            for Member { key: pattern, value: schema } in patterns.into_iter().flatten() {
                match self.named(pattern, schema, key) {
                    Some(true) => {
                        is_taken = Some(true);
                        break;
                    }
                    Some(false) => {}
                    None => is_taken = None,
                }
            }
            let location = Location::Member(at.value, key);
            let at = At { value: &location, ..at };
            verdict = verdict.and(match is_taken {
                Some(true) => Verdict::Valid,
                Some(false) if keyword_value.as_bool() == Some(false) => self.undeclared(key, declared, at),
                Some(false) => self.schema(keyword_value, value, at),
                None if self.quietly(keyword_value, value, at) == Verdict::Valid => Verdict::Valid,
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

    fn undeclared(&mut self, key: &Text<'_>, declared: Option<&Object<'_>>, at: At<'_>) -> Verdict {
        self.refuse(at, Keyword::AdditionalProperties.name(), || {
            let names: Vec<Cow<'_, str>> =
                declared.into_iter().flatten().take(CANDIDATES).map(|member| member.key.display()).collect();
            let meant = naming::did_you_mean(&key.display(), &names);
            format!("expected declared members only, found {}{meant}", words::name(key))
        })
    }

    #[inline(never)]
    fn names(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let mut verdict = Verdict::Valid;
        for member in members {
            let name = Node::string(member.key.borrowed());
            let location = Location::Member(at.value, &member.key);
            verdict = verdict.and(match self.quietly(keyword_value, &name, at) {
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
    fn required(
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
        let Some(found) = self.order_of(members) else { return Verdict::Unknown };
        for name in names {
            let Some(name) = name.as_text() else {
                verdict = verdict.and(Verdict::Unknown);
                continue;
            };
            if found.index_of(members, name).is_none() {
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
    fn dependent(
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
        let (Some(found), mut verdict) = (self.order_of(members), Verdict::Valid) else { return Verdict::Unknown };
        for Member { key, value: needs } in entries {
            if found.index_of(members, key).is_none() {
                continue;
            }
            let location = Location::Member(at.schema, key);
            let at = At { schema: &location, ..at };
            let is_names = needs.as_array().is_some();
            verdict = verdict.and(match keyword {
                Keyword::Dependencies if is_names => self.required(needs, None, members, at, keyword),
                Keyword::DependentRequired => self.required(needs, None, members, at, keyword),
                _ => self.schema(needs, value, at),
            });
        }
        verdict
    }
}

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
            // Before 2020-12, `items` could hold a list, which is now `prefixItems`. Many schemas that declare no draft
            // still use such a list.
            Keyword::Items if keyword_value.as_array().is_some() => self.by_position(keyword_value, items, at),
            Keyword::Items => {
                let known = self.prepared.draft.knows(Keyword::PrefixItems);
                let before = schema.get(Keyword::PrefixItems).filter(|_| known).and_then(Node::as_array);
                self.rest_of_items(keyword_value, items, before.map_or(0, <[_]>::len), at)
            }
            Keyword::AdditionalItems => match schema.get(Keyword::Items).and_then(Node::as_array) {
                Some(before) => self.rest_of_items(keyword_value, items, before.len(), at),
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

    #[inline(never)]
    fn by_position(&mut self, keyword_value: &'s Node<'a>, items: &[Node<'_>], at: At<'_>) -> Verdict {
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
    fn rest_of_items(&mut self, schema: &'s Node<'a>, items: &[Node<'_>], before: usize, at: At<'_>) -> Verdict {
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
    fn unique(&mut self, items: &[Node<'_>], at: At<'_>) -> Verdict {
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
        let Location::Name(above, _) = *at.schema else { return Verdict::Unknown };
        if min_possible == Some(false) {
            let keyword = if min.is_some() { Keyword::MinContains } else { Keyword::Contains };
            let location = Location::Name(above, keyword.name());
            return self.refuse(At { schema: &location, ..at }, keyword.name(), || {
                "expected more items that match the schema in `contains`, found too few".into()
            });
        }
        if max_sure == Some(true) {
            let location = Location::Name(above, Keyword::MaxContains.name());
            return self.refuse(At { schema: &location, ..at }, Keyword::MaxContains.name(), || {
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

impl<'s, 'a> Run<'_, 's, 'a> {
    /// Clears the indexes, because the next validation may be of another value.
    pub(super) fn forget_orders(&mut self) {
        if !self.keeps_orders && !self.orders.is_empty() {
            self.orders = Map::new();
        }
    }

    fn order_of(&mut self, members: &Object<'_>) -> Option<Rc<Order>> {
        ordered(&mut self.orders, members, &self.budget)
    }

    fn order_of_declared(&mut self, declared: &'s Object<'a>) -> Option<Rc<Order>> {
        ordered(&mut self.declared, declared, &self.budget)
    }
}

fn ordered(known: &mut Map<usize, Rc<Order>>, object: &Object<'_>, budget: &Budget) -> Option<Rc<Order>> {
    let at = core::ptr::from_ref(object) as usize;
    if let Some(order) = known.get(&at) {
        return Some(order.clone());
    }
    budget.pay(1 + object.len() / 8).then_some(())?;
    let order = Rc::new(Order::of(object));
    known.insert(at, order.clone());
    Some(order)
}
