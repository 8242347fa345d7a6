//! Keywords for objects.

use alloc::{borrow::Cow, format, vec::Vec};

use super::{words, At, Place, Run, Verdict};
use crate::{
    collections,
    json::{Member, Node, Object, Text},
    nearest,
    schema::keyword::Keyword,
};

/// Maximum number of declared names that are compared with an undeclared one.
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

    /// Returns the members that are declared, in the order of the schema. Iterates over the smaller of the two.
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
        let places = members.iter().filter_map(|member| Some((order.place(declared, &member.key)?, &member.value)));
        let places = collections::by(places.collect::<Vec<_>>(), |(one, _), (two, _)| one.cmp(two));
        let pairs = places.into_iter().filter_map(|(place, value)| Some((declared.members().get(place)?, value)));
        Some(pairs.collect())
    }

    /// Validates a member against the schema of the same name.
    fn member(&mut self, schema: &'s Node<'a>, key: &Text<'_>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let (place, schema_place) = (Place::Member(at.value, key), Place::Member(at.schema, key));
        self.schema(schema, value, At { value: &place, schema: &schema_place, ..at })
    }

    #[inline(never)]
    fn pattern_properties(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let Some(declared) = keyword_value.as_object() else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for Member { key: pattern, value: schema } in declared {
            let schema_place = Place::Member(at.schema, pattern);
            for Member { key, value } in members {
                let place = Place::Member(at.value, key);
                let at = At { value: &place, schema: &schema_place, ..at };
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

    /// Returns true if a pattern of `patternProperties` matches a name.
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
            if known.as_ref().is_some_and(|(declared, order)| order.place(declared, key).is_some()) {
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
            let place = Place::Member(at.value, key);
            let at = At { value: &place, ..at };
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
            let meant = nearest::did_you_mean(&key.display(), &names);
            format!("expected declared members only, found {}{meant}", words::name(key))
        })
    }

    #[inline(never)]
    fn names(&mut self, keyword_value: &'s Node<'a>, members: &Object<'_>, at: At<'_>) -> Verdict {
        let mut verdict = Verdict::Valid;
        for member in members {
            let name = Node::string(member.key.borrowed());
            let place = Place::Member(at.value, &member.key);
            verdict = verdict.and(match self.quietly(keyword_value, &name, at) {
                Verdict::Invalid => self.refuse(At { value: &place, ..at }, Keyword::PropertyNames.name(), || {
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

    /// Validates required names; `keyword` is the keyword to report.
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
            if found.place(members, name).is_none() {
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

    /// Validates what a present member requires: other names, or a schema.
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
            if found.place(members, key).is_none() {
                continue;
            }
            let place = Place::Member(at.schema, key);
            let at = At { schema: &place, ..at };
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
