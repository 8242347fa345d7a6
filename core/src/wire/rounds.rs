//! How several replies of the model become one reply for the client, if the client must not see the searches between
//! them.

use alloc::{boxed::Box, vec::Vec};
use core::fmt::Debug;

use super::{alternatives::Alternatives, Wire};
use crate::{
    error::Error,
    json::{lazy::view, Node},
};

#[derive(Debug)]
pub(crate) struct Rounds {
    /// Members that prevent several rounds, each with the values that prevent them.
    pub(super) single_round: &'static [(&'static str, When)],
    /// Member of a request that is false if the API must not store the reply. A client refers to a stored reply by the
    /// id of its last round.
    pub(super) store: Option<&'static str>,
    pub(super) body: Body,
    /// Reasons of the end after which the model may be asked again. A reply may also end without a reason.
    pub(super) reasons: &'static [&'static str],
    /// The reason of the end for a reply with calls, and the reason that replaces it if no call remains.
    pub(super) without_calls: Option<(&'static str, &'static str)>,
    /// Returns true for a unit that the client has to answer.
    pub(super) is_call: fn(&Node<'_>) -> bool,
    /// Returns true for a unit with text for the user.
    pub(super) is_text: fn(&Node<'_>) -> bool,
    /// `type` of units that belong to the unit after them.
    pub(super) reasoning: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Given,
    True,
    AboveOne,
}

#[derive(Debug)]
pub(crate) enum Body {
    /// A list of messages. The client reads only the first message. A streamed reply consists of chunks.
    Message(&'static Alternatives),
    /// A list of items. Each event of a streamed reply begins, continues or ends an item.
    Items(ItemList),
}

#[derive(Debug)]
pub(crate) struct ItemList {
    pub(crate) list: &'static str,
    /// Creates an item to which its events add pieces; `None` if the last event of an item contains the whole item.
    pub(crate) built: Option<fn(Node<'static>) -> Box<dyn BuiltItem>>,
}

pub(crate) trait BuiltItem: Debug + Send + Sync {
    fn add(&mut self, delta: &Node<'_>);
    fn whole(self: Box<Self>) -> Node<'static>;
}

impl Rounds {
    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn allows_several_rounds(&self, request: &Node<'_>) -> Result<bool, Error> {
        for (key, when) in self.single_round {
            let Some(value) = request.get(*key).map(view).transpose()? else { continue };
            let is_hit = match when {
                When::Given => !value.is_null(),
                When::True => value.as_bool() == Some(true),
                When::AboveOne => value.as_u64().is_some_and(|count| count > 1),
            };
            if is_hit {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn is_stored(&self, request: &Node<'_>) -> Result<bool, Error> {
        let Some(store) = self.store else { return Ok(false) };
        let value = request.get(store).map(view).transpose()?;
        Ok(value.is_none_or(|value| value.as_bool() != Some(false)))
    }

    pub(crate) fn allows_another_round(&self, reason: Option<&Node<'_>>) -> bool {
        reason.is_none_or(|reason| reason.is_null() || self.reasons.iter().any(|end| reason.is_text(end)))
    }

    pub(crate) fn end_without_calls(&self, reason: Option<&Node<'_>>) -> Option<Node<'static>> {
        let (with, without) = self.without_calls?;
        reason?.is_text(with).then(|| Node::literal(without))
    }

    pub(crate) fn is_call(&self, unit: &Node<'_>) -> bool {
        (self.is_call)(unit)
    }

    pub(crate) fn is_text(&self, unit: &Node<'_>) -> bool {
        (self.is_text)(unit)
    }

    pub(crate) fn is_reasoning(&self, unit: &Node<'_>) -> bool {
        self.reasoning.is_some_and(|kind| super::units::has_type(unit, kind))
    }

    /// Returns the units of a reply, and the reason of its end.
    pub(crate) fn output<'n, 'a>(&self, reply: &'n Node<'a>) -> (&'n [Node<'a>], Option<&'n Node<'a>>) {
        match &self.body {
            Body::Message(message) => {
                let entry = message.first(reply);
                let units = entry.and_then(|entry| entry.get(message.whole)?.array_at(message.units));
                (units.unwrap_or_default(), entry.and_then(|entry| entry.get(message.reason)))
            }
            Body::Items(items) => (reply.items_at(items.list), reply.get(STATUS)),
        }
    }
}

/// The member of a reply with items that contains the reason of its end.
pub(crate) const STATUS: &str = "status";

impl Wire {
    pub(crate) const fn rounds(&self) -> Option<&Rounds> {
        self.rounds.as_ref()
    }

    /// Returns the history as messages. In some APIs, the history may be a text or a content of the user.
    pub(crate) fn messages<'a>(&self, history: Node<'a>) -> Vec<Node<'a>> {
        (self.forms.messages)(history)
    }

    /// Returns messages with these results. In some APIs, a message of the user contains the results.
    pub(crate) fn result_messages<'a>(&self, results: Vec<Node<'a>>) -> Vec<Node<'a>> {
        match self.turns.blocks() {
            Some(_) => Vec::from([self.turns.user_message(results)]),
            None => results,
        }
    }
}
