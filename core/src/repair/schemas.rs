//! The schemas of members and items, and what is said of the whole.

use alloc::vec::Vec;

use super::{view::View, Repairer};
use crate::{
    json::{Node, Text},
    schema::{keyword::Keyword, validate::Verdict},
};

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Whether no pattern is for a name, as far as can be told.
    pub(super) fn is_undeclared(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> bool {
        let tables: Vec<&'s Node<'a>> = view.says(Keyword::PatternProperties).map(|(_, says)| says).collect();
        let mut patterns = tables.into_iter().filter_map(Node::as_object).flat_map(|table| table.iter());
        patterns.all(|member| self.judge.matches(&member.key, &member.value, name) == Some(false))
    }

    /// The schemas of a member of that name.
    pub(super) fn member_schemas(&mut self, view: &View<'s, 'a>, name: &Text<'_>) -> Vec<&'s Node<'a>> {
        let mut schemas = Vec::new();
        for part in &view.parts {
            let own = part.get(Keyword::Properties).and_then(Node::as_object).and_then(|table| table.get_text(name));
            let mut is_known = own.is_some();
            schemas.extend(own);
            let patterns = part.get(Keyword::PatternProperties).and_then(Node::as_object);
            for member in patterns.into_iter().flatten() {
                let matches = self.judge.matches(&member.key, &member.value, name);
                is_known |= matches != Some(false);
                if matches == Some(true) {
                    schemas.push(&member.value);
                }
            }
            if !is_known {
                schemas.extend(part.get(Keyword::AdditionalProperties).filter(|says| says.as_object().is_some()));
            }
        }
        schemas
    }

    /// The schemas of an item.
    pub(super) fn item_schemas(&mut self, view: &View<'s, 'a>, index: usize) -> Vec<&'s Node<'a>> {
        let has_prefix = self.judge.knows(Keyword::PrefixItems);
        let mut schemas = Vec::new();
        for part in &view.parts {
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
}

/// An assertion about a whole array or object that holds.
pub(super) type Held<'s, 'a> = (&'s crate::json::Object<'a>, Keyword);

const OF_THE_WHOLE: [Keyword; 16] = [
    Keyword::Required,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::PropertyNames,
    Keyword::Dependencies,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::If,
    Keyword::Not,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Contains,
    Keyword::UniqueItems,
    Keyword::Enum,
    Keyword::Const,
    Keyword::PatternProperties,
];

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// What the schemas say of a value as a whole and holds: a repair inside may not break it.
    pub(super) fn held(&mut self, view: &View<'s, 'a>, value: &Node<'_>) -> Vec<Held<'s, 'a>> {
        let mut held = Vec::new();
        for keyword in OF_THE_WHOLE {
            for (part, _) in view.says(keyword) {
                if self.judge.keyword(keyword, part, value) == Verdict::Valid {
                    held.push((part, keyword));
                }
            }
        }
        held
    }

    /// Does a value break what held?
    pub(super) fn breaks(&mut self, held: &mut [Held<'s, 'a>], value: &Node<'_>) -> bool {
        held.iter().any(|(part, keyword)| self.judge.keyword(*keyword, part, value) == Verdict::Invalid)
    }
}
