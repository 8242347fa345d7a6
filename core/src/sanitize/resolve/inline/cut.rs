//! Cuts references that do not resolve, and references from the root to itself.

use alloc::{format, string::String};

use crate::{
    json::{Data, Node, Object},
    report::Accepts,
    rules::Rule,
    sanitize::{
        diagnostics::{ChangeKind, Location},
        resolve::inline::Inliner,
    },
    schema::{keyword::Keyword, visit::Polarity},
};

const UNRESOLVED: ChangeKind = ChangeKind::of(Rule::UnresolvedRef);
const OWN: ChangeKind = ChangeKind::of(Rule::CutRecursion);

impl<'a> Inliner<'_, '_, 'a> {
    /// Removes a reference that does not resolve in this document: the schema then accepts more.
    pub(super) fn cut(&mut self, node: &mut Node<'a>, polarity: Polarity) {
        let reference = node.text_at(Keyword::Ref).map(|text| text.display().into_owned()).unwrap_or_default();
        // Inside `not`, accepting more would make the whole schema accept less.
        let is_negated = polarity == Polarity::Negative;
        let effect = if is_negated { UNRESOLVED.accepts(Accepts::Narrower) } else { UNRESOLVED };
        self.context.diagnostics.report(polarity, Location::of_reference(node).to(Location::of(node)), effect, || {
            format!("removed `$ref: \"{reference}\"`, which has no target in this document")
        });
        if is_negated {
            node.replace(Data::Bool(false));
            return;
        }
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        if node.as_object().is_some_and(Object::is_empty) {
            node.replace(Data::Bool(true));
        }
    }

    /// Removes a reference from the root to itself, which has no effect.
    pub(super) fn cut_own(&mut self, node: &mut Node<'a>, polarity: Polarity) {
        self.context.diagnostics.report(polarity, Location::of_reference(node).to(Location::of(node)), OWN, || {
            String::from("removed a reference from the root to itself")
        });
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
    }
}
