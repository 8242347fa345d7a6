//! Siblings of `$ref`: up to draft 7 they have no effect, unless the reference was moved (from a part of `allOf`, or
//! from another schema) into a schema whose keywords already applied.

use alloc::format;

use crate::{
    error::Error,
    json::{Member, Node},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        resolve::reference_marks,
    },
    schema::{
        keyword::{Keyword, Role},
        visit::{Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::DropRefSibling);

/// Marks the reference of this schema, so that siblings added from now on apply regardless of the draft.
pub(crate) fn let_apply(node: &mut Node<'_>) {
    node.visit(Keyword::Ref, |reference| reference_marks::mark(reference, reference_marks::APPLIES));
}

/// True if the siblings of this schema's reference apply regardless of the draft.
pub(crate) fn applies(node: &Node<'_>) -> bool {
    node.get(Keyword::Ref).is_some_and(|reference| reference_marks::is_marked(reference, reference_marks::APPLIES))
}

/// Removes siblings of references anywhere in a schema; siblings that are added later apply.
pub(crate) struct Settle<'r> {
    pub(crate) context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for Settle<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if node.get(Keyword::Ref).is_some_and(|reference| reference.as_text().is_some()) && !applies(node) {
            drop(node, place.polarity, self.context);
            let_apply(node);
        }
        Ok(Visit::Descend)
    }
}

fn validates(member: &Member<'_>) -> bool {
    !member.key.is(Keyword::Ref)
        && Keyword::named(&member.key).is_some_and(|keyword| !matches!(keyword.role(), Role::Annotation | Role::Meta))
}

/// Removes the siblings of `$ref` that have no effect up to draft 7; annotations are kept.
pub(crate) fn drop(node: &mut Node<'_>, polarity: Polarity, context: &mut PassContext) {
    let Some(object) = node.as_object().filter(|object| object.iter().any(validates)) else { return };
    context.inlined_more = true;
    for member in object.iter().filter(|member| validates(member)) {
        let keyword = member.key.display().into_owned();
        context.diagnostics.report(polarity, Location::under(node, keyword.clone()).removed(), DROP, || {
            format!("removed `{keyword}`: it has no effect next to `$ref` in this draft")
        });
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !validates(member));
    }
}

/// True if all members are annotations.
pub(crate) fn only_annotations(node: &Node<'_>) -> bool {
    let annotates = |member: &Member<'_>| {
        Keyword::named(&member.key).is_some_and(|keyword| matches!(keyword.role(), Role::Annotation | Role::Meta))
    };
    node.as_object().is_some_and(|object| object.iter().all(annotates))
}
