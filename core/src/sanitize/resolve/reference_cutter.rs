//! References that go: what stood there may be anything.

use alloc::string::String;

use crate::{
    error::Error,
    json::Node,
    options::Untyped,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Spot},
        legalize::{self, infer_type},
    },
    schema::{
        definitions::definition_name,
        walk::{Next, Place, Rewrite},
    },
};

/// Cuts the references that go.
pub(in crate::sanitize) struct ReferenceCutter<'c, 'a> {
    pub(in crate::sanitize) rules: &'c mut PassContext,
    pub(in crate::sanitize) goes: &'c dyn Fn(&Node<'a>, &str) -> bool,
    pub(in crate::sanitize) effect: ChangeKind,
    pub(in crate::sanitize) says: &'c dyn Fn(&str) -> String,
}

impl<'a> Rewrite<'a> for ReferenceCutter<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        let Some(name) = definition_name(node).map(String::from) else { return Ok(Next::Into) };
        if !(self.goes)(node, &name) {
            return Ok(Next::Into);
        }
        self.rules.notes.note(place.position, Spot::under(node, "$ref"), Spot::of(node), self.effect, || (self.says)(&name));
        if let Some(object) = node.as_object_mut() {
            object.remove("$ref");
        }
        // What speaks of the very instance that is spoken of around it is no guess, and the next round knows what that is.
        let in_place = place.keyword.is_some_and(|keyword| legalize::IN_PLACE.has(keyword));
        if !(in_place && self.rules.untyped == Untyped::String) {
            infer_type::any(node, place, self.rules);
        }
        Ok(Next::Skip)
    }
}
