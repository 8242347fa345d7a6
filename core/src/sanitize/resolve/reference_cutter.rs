//! Cuts references: the schema then accepts anything.

use alloc::string::String;

use crate::{
    error::Error,
    json::Node,
    options::Untyped,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize,
    },
    schema::{
        definitions::definition_name,
        keyword::Keyword,
        visit::{SchemaPath, Visit, VisitorMut},
    },
};

/// Visitor that cuts references.
pub(crate) struct ReferenceCutter<'c> {
    pub(crate) context: &'c mut PassContext,
    /// Returns true if the reference to the definition of this name is cut.
    pub(crate) goes: &'c dyn Fn(&str, &SchemaPath<'_, '_>) -> bool,
    pub(crate) effect: ChangeKind,
    pub(crate) describe: &'c dyn Fn(&str) -> String,
}

impl<'a> VisitorMut<'a> for ReferenceCutter<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let Some(name) = definition_name(node).map(String::from) else { return Ok(Visit::Descend) };
        if !(self.goes)(&name, place) {
            return Ok(Visit::Descend);
        }
        self.context.diagnostics.report(
            place,
            Location::under(node, "$ref").to(Location::of(node)),
            self.effect,
            || (self.describe)(&name),
        );
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        // In an in-place applicator the next round infers the type from the enclosing schema, so no string is assumed.
        let in_place = place.keyword.is_some_and(|keyword| legalize::IN_PLACE.contains(keyword));
        if !(in_place && self.context.untyped == Untyped::String) {
            anything::write(node, place, self.context);
        }
        Ok(Visit::Skip)
    }
}
