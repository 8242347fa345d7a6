//! Chains of targets that consist only of a reference: each chain is followed once, however many references lead into
//! it.

use super::Inliner;
use crate::{
    json::{Member, Node},
    schema::{keyword::Keyword, references::Number},
};

impl<'a> Inliner<'_, '_, 'a> {
    /// Returns the last target of a chain of bare references, as far as the chain was followed before. Its inlined
    /// references have already been reported.
    pub(super) fn end_of_chain(&mut self, target: Number) -> Number {
        let mut end = target;
        while let Some(next) = self.passed.get(&end).filter(|_| self.context.budget.pay(1)) {
            end = *next;
        }
        // Shortens the path: each target of the chain now leads directly to the end.
        let mut at = target;
        while at != end {
            let Some(next) = self.passed.insert(at, end) else { break };
            at = next;
        }
        end
    }

    /// Records the next target of a target that is only a reference.
    pub(super) fn note_chain(&mut self, target: Number, body: &Node<'a>) {
        let is_more = |member: &Member<'a>| {
            !(member.key.is(Keyword::Ref) || member.key.is(Keyword::Id) || member.key.is(Keyword::Anchor))
        };
        let Some(object) = body.as_object().filter(|object| !object.iter().any(is_more)) else { return };
        let next = object.get(Keyword::Ref).and_then(|reference| self.references.target(reference));
        let is_schema = |next: &Number| {
            let target = self.definitions.targets.get(next);
            target.is_some_and(|(node, _)| node.as_object().is_some() || node.as_bool().is_some())
        };
        // References in cycles are kept, so their chains are not shortened.
        if let Some(next) = next.filter(|next| !self.kept.contains(next) && is_schema(next)) {
            self.passed.insert(target, next);
        }
    }
}
