//! The walk over schemas that passes and checks share. It finds every subschema, tracks its path, and determines how
//! its position changes the effect of a rewriting. (Analyses that compare two schemas, or a schema and a value, have
//! their own recursion: `emptiness`, `intersect`, `validate`.)
//!
//! A property *named* `type` or `$ref` is visited as a property, never as a keyword, because only this file decides
//! which keys are keywords.

use super::keyword::{Keyword, Keywords, Subschemas};
use crate::{
    budget::Budget,
    effect::Accepts,
    error::Error,
    json::{self, Child, Data, Node, Pointer, Step},
    limits::DEEP,
};

/// Relation between the effect of a change to a schema and its effect on the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polarity {
    /// Wider here is wider in the whole.
    Positive,
    /// Inside `not`: wider here is narrower in the whole.
    Negative,
    /// Inside `oneOf`, `if`, `contains` and the like: only the effect "same" carries over.
    Mixed,
}

impl Polarity {
    pub(crate) fn through(self, accepts: Accepts) -> Accepts {
        match (self, accepts) {
            (_, Accepts::Same) => Accepts::Same,
            (Polarity::Positive, effect) => effect,
            (Polarity::Negative, effect) => effect.inverted(),
            (Polarity::Mixed, _) => Accepts::Mixed,
        }
    }

    fn below(self, keyword: Keyword) -> Polarity {
        match (self, keyword) {
            (Polarity::Mixed, _) => Polarity::Mixed,
            (Polarity::Positive, Keyword::Not) => Polarity::Negative,
            (Polarity::Negative, Keyword::Not) => Polarity::Positive,
            (
                _,
                Keyword::OneOf
                | Keyword::If
                | Keyword::Contains
                | Keyword::UnevaluatedItems
                | Keyword::UnevaluatedProperties,
            ) => Polarity::Mixed,
            (polarity, _) => polarity,
        }
    }
}

pub(crate) struct SchemaPath<'p, 'a> {
    /// Pointer from the root.
    pub(crate) pointer: &'p Pointer<'a>,
    /// Keyword that holds this schema; `None` for the root.
    pub(crate) keyword: Option<Keyword>,
    /// Number of enclosing schemas.
    pub(crate) depth: usize,
    pub(crate) polarity: Polarity,
}

impl From<&SchemaPath<'_, '_>> for Polarity {
    fn from(path: &SchemaPath<'_, '_>) -> Self {
        path.polarity
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    Descend,
    Skip,
}

/// The node is any value in place of a schema: an object, a boolean, or something malformed.
pub(crate) trait VisitorMut<'a> {
    fn enter(&mut self, _node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        Ok(Visit::Descend)
    }

    fn leave(&mut self, _node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        Ok(())
    }
}

/// Visits schemas, and charges each visited node to the budget. The walk is no deeper than
/// [`crate::limits::MAX_WALK_DEPTH`].
///
/// # Errors
/// The errors of `visitor`, `budget-exceeded`, `too-deep`.
pub(crate) fn walk_mut<'a>(
    budget: &Budget,
    root: &mut Node<'a>,
    through: Keywords,
    visitor: &mut dyn VisitorMut<'a>,
) -> Result<(), Error> {
    walk_mut_at(budget, root, Polarity::Positive, through, visitor)
}

/// Like [`walk_mut`], but starts at a part of a schema with this polarity.
pub(crate) fn walk_mut_at<'a>(
    budget: &Budget,
    part: &mut Node<'a>,
    polarity: Polarity,
    through: Keywords,
    visitor: &mut dyn VisitorMut<'a>,
) -> Result<(), Error> {
    let mut walk = Walk { budget, through: through.that_hold_schemas(), pointer: Pointer::with_room() };
    walk.schema_mut(part, Position { keyword: None, depth: 0, polarity }, visitor)
}

/// Visits schemas in document order.
///
/// # Errors
/// The errors of `visit`, `budget-exceeded`, `too-deep`.
pub(crate) fn walk<'t, 'a>(
    budget: &Budget,
    root: &'t Node<'a>,
    through: Keywords,
    visit: &mut dyn FnMut(&'t Node<'a>, &SchemaPath<'_, 'a>) -> Result<Visit, Error>,
) -> Result<(), Error> {
    let mut walk = Walk { budget, through: through.that_hold_schemas(), pointer: Pointer::with_room() };
    walk.schema(root, Position { keyword: None, depth: 0, polarity: Polarity::Positive }, visit)
}

struct Walk<'b, 'a> {
    budget: &'b Budget,
    /// The visited keywords. All contain subschemas, so other members are skipped quickly.
    through: Keywords,
    pointer: Pointer<'a>,
}

#[derive(Clone, Copy)]
struct Position {
    keyword: Option<Keyword>,
    depth: usize,
    polarity: Polarity,
}

impl Position {
    fn below(self, keyword: Keyword) -> Position {
        Position { keyword: Some(keyword), depth: self.depth + 1, polarity: self.polarity.below(keyword) }
    }

    fn path<'p, 'a>(self, pointer: &'p Pointer<'a>) -> SchemaPath<'p, 'a> {
        SchemaPath { pointer, keyword: self.keyword, depth: self.depth, polarity: self.polarity }
    }
}

impl<'a> Walk<'_, 'a> {
    fn arrive(&self, node: &Node<'a>) -> Result<(), Error> {
        let members = match node.data() {
            Data::Object(object) => object.len(),
            Data::Array(items) => items.len(),
            _ => 0,
        };
        self.budget.pay(1 + members);
        self.budget.enter_level(self.pointer.steps().len(), || self.pointer.render())
    }

    /// Fails if a rewritten schema has become too deep for safe recursion.
    fn leave(&self, node: &Node<'a>) -> Result<(), Error> {
        let level = self.pointer.steps().len();
        if level >= DEEP && !node.is_intact() {
            self.budget.enter_level(level + json::height(node, self.budget), || self.pointer.render())?;
        }
        self.budget.check(|| self.pointer.render())
    }

    fn schema_mut(
        &mut self,
        node: &mut Node<'a>,
        position: Position,
        visitor: &mut dyn VisitorMut<'a>,
    ) -> Result<(), Error> {
        self.arrive(node)?;
        if visitor.enter(node, &position.path(&self.pointer))? == Visit::Descend {
            node.visit_children(|child, inner| match child {
                // A list in place of one schema: all items are treated as being at this position.
                Child::Item(index) => self.step(Step::Index(index), |walk| walk.schema_mut(inner, position, visitor)),
                Child::Member(name) => match Keyword::named(name) {
                    Some(keyword) if self.through.contains(keyword) => self.step(Step::Name(keyword.name()), |walk| {
                        walk.under_mut(keyword, inner, position.below(keyword), visitor)
                    }),
                    _ => Ok(()),
                },
            })?;
        }
        visitor.leave(node, &position.path(&self.pointer))?;
        self.leave(node)
    }

    fn under_mut(
        &mut self,
        keyword: Keyword,
        node: &mut Node<'a>,
        position: Position,
        visitor: &mut dyn VisitorMut<'a>,
    ) -> Result<(), Error> {
        match keyword.subschemas() {
            Subschemas::Value => Ok(()),
            Subschemas::Named | Subschemas::NamedOrNames => node.visit_children(|child, inner| match child {
                Child::Member(name)
                    if !(keyword.subschemas() == Subschemas::NamedOrNames && inner.as_array().is_some()) =>
                {
                    self.step(Step::Member(name.clone()), |walk| walk.schema_mut(inner, position, visitor))
                }
                _ => Ok(()),
            }),
            Subschemas::Schemas | Subschemas::SchemaOrSchemas if node.as_array().is_some() => {
                node.visit_children(|child, inner| match child {
                    Child::Item(index) => {
                        self.step(Step::Index(index), |walk| walk.schema_mut(inner, position, visitor))
                    }
                    Child::Member(_) => Ok(()),
                })
            }
            Subschemas::Schema | Subschemas::Schemas | Subschemas::SchemaOrSchemas => {
                self.schema_mut(node, position, visitor)
            }
        }
    }

    fn schema<'t>(
        &mut self,
        node: &'t Node<'a>,
        position: Position,
        visit: &mut dyn FnMut(&'t Node<'a>, &SchemaPath<'_, 'a>) -> Result<Visit, Error>,
    ) -> Result<(), Error> {
        self.arrive(node)?;
        if visit(node, &position.path(&self.pointer))? == Visit::Skip {
            return Ok(());
        }
        match node.data() {
            Data::Array(items) => self.items(items, position, visit),
            Data::Object(object) => {
                for member in object {
                    let Some(keyword) = Keyword::named(&member.key).filter(|keyword| self.through.contains(*keyword))
                    else {
                        continue;
                    };
                    let below = position.below(keyword);
                    self.step(Step::Name(keyword.name()), |walk| match (keyword.subschemas(), member.value.data()) {
                        (Subschemas::Value, _) => Ok(()),
                        (Subschemas::Named | Subschemas::NamedOrNames, Data::Object(table)) => {
                            for entry in table {
                                if keyword.subschemas() == Subschemas::Named || entry.value.as_array().is_none() {
                                    walk.step(Step::Member(entry.key.clone()), |walk| {
                                        walk.schema(&entry.value, below, visit)
                                    })?;
                                }
                            }
                            Ok(())
                        }
                        (Subschemas::Named | Subschemas::NamedOrNames, _) => Ok(()),
                        (Subschemas::Schemas | Subschemas::SchemaOrSchemas, Data::Array(items)) => {
                            walk.items(items, below, visit)
                        }
                        _ => walk.schema(&member.value, below, visit),
                    })?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn items<'t>(
        &mut self,
        items: &'t [Node<'a>],
        position: Position,
        visit: &mut dyn FnMut(&'t Node<'a>, &SchemaPath<'_, 'a>) -> Result<Visit, Error>,
    ) -> Result<(), Error> {
        for (index, item) in items.iter().enumerate() {
            self.step(Step::Index(index), |walk| walk.schema(item, position, visit))?;
        }
        Ok(())
    }

    fn step<R>(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.pointer.push(step);
        let result = inside(self);
        self.pointer.pop();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::Polarity;
    use crate::effect::Accepts::{Closed, Mixed, Wider};

    #[test]
    fn effects_are_inverted_under_not() {
        for (polarity, effect) in [(Polarity::Positive, Closed), (Polarity::Negative, Wider), (Polarity::Mixed, Mixed)]
        {
            assert_eq!(polarity.through(Closed), effect, "{polarity:?}");
        }
    }
}
