//! Finds the schemas that apply to a member or an item, and checks that a nested repair breaks no assertion about the
//! whole value.

use alloc::vec::Vec;

use super::{view::View, Repairer};
use crate::{
    json::{Member, Node, Object, Text},
    schema::{keyword::Keyword, validate::Verdict},
};

/// An assertion about a whole array or object that currently holds.
pub(super) type Assertion<'s, 'a> = (&'s Object<'a>, Keyword);

/// Keywords that may break if a nested value changes.
pub(super) const OF_VALUES: [Keyword; 10] = [
    Keyword::Dependencies,
    Keyword::DependentSchemas,
    Keyword::If,
    Keyword::Not,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Contains,
    Keyword::UniqueItems,
    Keyword::Enum,
    Keyword::Const,
];

/// Further keywords that may break if a member is added, removed or renamed.
pub(super) const OF_NAMES: [Keyword; 6] = [
    Keyword::Required,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::PatternProperties,
];

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Returns true if it is certain that no pattern matches a name.
    pub(super) fn is_undeclared(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> bool {
        // If the budget is spent, the name counts as declared.
        let parts = view.patterned.iter().filter_map(|index| view.parts.get(*index));
        for part in parts {
            if !self.judge.budget().pay(1) {
                return false;
            }
            let mut patterns = part.get(Keyword::PatternProperties).and_then(Node::as_object).into_iter().flatten();
            if !patterns.all(|member| self.judge.matches(&member.key, &member.value, name) == Some(false)) {
                return false;
            }
        }
        true
    }

    /// Returns the schemas of the member with this name.
    pub(super) fn member_schemas(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> Vec<&'s Node<'a>> {
        let mut schemas = Vec::new();
        let mut named = view.named().get(&name).into_iter().flatten().copied().peekable();
        for index in view.unnamed.iter().copied() {
            while let Some((_, own)) = named.next_if(|(part, _)| *part < index) {
                schemas.push(own);
            }
            let own = named.next_if(|(part, _)| *part == index).map(|(_, own)| own);
            let mut is_known = own.is_some();
            schemas.extend(own);
            let Some(part) = view.parts.get(index).filter(|_| self.judge.budget().pay(1)) else { break };
            let patterns = part.get(Keyword::PatternProperties).and_then(Node::as_object);
            for member in patterns.into_iter().flatten() {
                let matches = self.judge.matches(&member.key, &member.value, name);
                is_known |= matches != Some(false);
                if matches == Some(true) {
                    schemas.push(&member.value);
                }
            }
            if !is_known {
                schemas.extend(part.get(Keyword::AdditionalProperties).filter(|values| values.as_object().is_some()));
            }
        }
        schemas.extend(named.map(|(_, own)| own));
        schemas
    }

    /// Returns the schemas of an item.
    pub(super) fn item_schemas(&mut self, view: &View<'s, 'a>, index: usize) -> Vec<&'s Node<'a>> {
        let has_prefix = self.judge.knows(Keyword::PrefixItems);
        let mut schemas = Vec::new();
        for part in view.of_items.iter().filter_map(|index| view.parts.get(*index)) {
            if !self.judge.budget().pay(1) {
                break;
            }
            let items = part.get(Keyword::Items);
            let first = match items.and_then(Node::as_array) {
                Some(list) => Some(list),
                None => part.get(Keyword::PrefixItems).filter(|_| has_prefix).and_then(Node::as_array),
            };
            let is_list = items.is_some_and(|items| items.as_array().is_some());
            schemas.extend(match first.and_then(|first| first.get(index)) {
                Some(schema) => Some(schema),
                None if is_list => part.get(Keyword::AdditionalItems),
                None => items,
            });
        }
        schemas.retain(|schema| schema.as_object().is_some());
        schemas
    }

    /// Returns the assertions of these keywords that the whole value satisfies; a nested repair must not break them.
    pub(super) fn satisfied(
        &mut self,
        view: &View<'s, 'a>,
        value: &Node<'_>,
        keywords: &[Keyword],
    ) -> Vec<Assertion<'s, 'a>> {
        self.judge.together(|judge| {
            let mut satisfied = Vec::new();
            for keyword in keywords {
                // Every part is inspected, even if it lacks the keyword.
                if !judge.budget().pay(view.parts.len() / 16) {
                    break;
                }
                for (part, _) in view.values(*keyword) {
                    if judge.keyword(*keyword, part, value) == Verdict::Valid {
                        satisfied.push((part, *keyword));
                    }
                }
            }
            satisfied
        })
    }

    /// Returns true if a value breaks an assertion that held before.
    pub(super) fn breaks(&mut self, satisfied: &[Assertion<'s, 'a>], value: &Node<'_>) -> bool {
        self.judge.together(|judge| {
            satisfied.iter().any(|(part, keyword)| judge.keyword(*keyword, part, value) == Verdict::Invalid)
        })
    }
}

/// Returns the name of a member by its index.
pub(super) fn key_of<'n>(value: &Node<'n>, index: usize) -> Option<Text<'n>> {
    value.as_object()?.members().get(index).map(|member| member.key.clone())
}

/// Returns a member by its index.
pub(super) fn member_mut<'o, 'n>(value: &'o mut Node<'n>, index: usize) -> Option<&'o mut Member<'n>> {
    value.as_object_mut()?.members_mut().get_mut(index)
}
