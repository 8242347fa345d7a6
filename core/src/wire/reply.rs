//! Where the messages of a reply are, and how a reply reports its end.

use super::{
    units::{self, walk, NamedUnit, Step},
    ALL,
};
use crate::json::Node;

/// Where the parts of a whole reply are, and of an event that contains whole parts.
pub(crate) struct Reply {
    /// The ways to messages, items and steps.
    pub(super) messages: &'static [&'static [Step]],
    /// The ways to the values that report the end of a reply.
    pub(super) ends: &'static [&'static [Step]],
    /// The members and values that report that a length limit ended the reply.
    pub(super) cut: &'static [(&'static str, &'static str)],
    /// The member that contains the token usage.
    pub(super) usage: &'static str,
    /// Returns true for a reply, or an event of a stream, that only this format has.
    pub(super) is_own: fn(&Node<'_>) -> bool,
}

impl Reply {
    /// Returns the member that contains the token usage.
    pub(crate) const fn usage(&self) -> &'static str {
        self.usage
    }

    /// Returns true for a reply, or an event of a stream, that only this format has.
    pub(crate) fn is_own(&self, reply: &Node<'_>) -> bool {
        (self.is_own)(reply)
    }
}

/// Calls `visit` with each unit in a reply of any API, or in an event that contains whole parts.
pub(crate) fn visit_sites(reply: &mut Node<'_>, visit: &mut dyn FnMut(NamedUnit<'_, '_>)) {
    units::visit(reply, None, visit);
    for way in ALL.iter().flat_map(|wire| wire.reply.messages) {
        walk(reply, way, &mut |message| units::visit(message, None, visit));
    }
}

/// Returns true if a reply of any API ended at a length limit. A call in it may then be incomplete.
pub(crate) fn is_cut(reply: &Node<'_>) -> bool {
    let cuts = ALL.iter().flat_map(|wire| wire.reply.cut);
    let is_here = |node: &Node<'_>| cuts.clone().any(|(key, word)| node.get(*key).is_some_and(|end| end.is_text(word)));
    let mut ways = ALL.iter().flat_map(|wire| wire.reply.ends);
    is_here(reply) || ways.any(|way| any(reply, way, &is_here))
}

/// Returns true if `test` holds for a value at the end of the steps.
fn any(node: &Node<'_>, way: &[Step], test: &dyn Fn(&Node<'_>) -> bool) -> bool {
    let Some((step, rest)) = way.split_first() else { return test(node) };
    match step {
        Step::Member(key) => node.get(*key).is_some_and(|inner| any(inner, rest, test)),
        Step::Items(key) => node.items_at(*key).iter().any(|item| any(item, rest, test)),
        step => step.stays(node) && any(node, rest, test),
    }
}
