//! Respells `$dynamicRef` and `$recursiveRef` as `$ref`. They resolve differently only if another document refers to
//! this one, and no document refers to the schema of a tool.

use alloc::{format, vec};

use crate::{
    error::Error,
    json::{Node, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        resolve::reference_marks,
    },
    schema::{
        keyword::{Keyword, Keywords},
        references::References,
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::DynamicRefToRef);

/// Keywords that this pass respells.
const DYNAMIC: Keywords = Keywords::of(&[Keyword::DynamicRef, Keyword::RecursiveRef]);

/// Respells every dynamic reference. Siblings apply in every draft that has dynamic references.
pub(crate) fn respell(root: &mut Node<'_>, references: &References, context: &mut PassContext) -> Result<(), Error> {
    if !context.keywords.intersects(DYNAMIC) {
        return Ok(());
    }
    let budget = context.budget.clone();
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Respell { references, context })
}

struct Respell<'r> {
    references: &'r References,
    context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for Respell<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            self.keyword(node, place, keyword);
        }
        Ok(Visit::Descend)
    }
}

impl Respell<'_> {
    fn keyword<'a>(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, keyword: &'static str) {
        let Some(value) = node.get(keyword).filter(|value| value.as_text().is_some()) else { return };
        // Another anchor of this name might be the intended one.
        let is_ambiguous = self.references.is_ambiguous(value);
        let effect = if is_ambiguous { RESPELL.accepts(Accepts::Mixed) } else { RESPELL };
        let location = Location::of(value);
        self.context.diagnostics.report(place, location.to(Location::under(node, "$ref")), effect, || {
            format!("replaced `{keyword}` with `$ref`")
        });
        self.context.respelled = true;
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(keyword).unwrap_or_default();
        let Some(mut value) = object.remove(keyword) else { return };
        reference_marks::mark(&mut value, reference_marks::APPLIES);
        if !object.has(Keyword::Ref) {
            object.insert_at(at, Text::literal("$ref"), value);
            return;
        }
        let part = Node::record([("$ref", value)]);
        match object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) {
            Some(parts) => parts.push(part),
            None => object.set(Text::literal("allOf"), Node::array(vec![part])),
        }
    }
}
