//! Messages that add tools in the middle of a conversation.

use super::units::has_type;
use crate::json::{Node, Text};

/// How the history of a format adds tools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Additions {
    /// It does not add definitions.
    None,
    /// A system message lists tools.
    System,
    /// An item of these types lists tools. Lists may define tools again, and results answer calls.
    Items { lists: &'static [&'static str], results: &'static [&'static str] },
    /// The result of the client's search lists tools in this member; the result of a hosted search has this `type`.
    Results { list: &'static str, hosted: &'static str, form: UntypedResults },
    /// A block of a system message adds a tool.
    Blocks,
    /// A block of a system message adds a tool of the list again, or removes one.
    Listed,
}

/// The id of the call that a result answers, and the name of its tool.
pub(crate) type ResultOf<'n, 'a> = (Option<&'n Text<'a>>, Option<&'n Text<'a>>);

/// Calls a function with each JSON value in a result.
pub(crate) type VisitJson = for<'a> fn(&mut Node<'a>, &mut dyn FnMut(&mut Node<'a>));

/// Results that do not show that they are results of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntypedResults {
    /// Returns the id and the name in a call.
    pub(crate) call: for<'n, 'a> fn(&'n Node<'a>) -> Option<(&'n Text<'a>, &'n Text<'a>)>,
    /// Returns the id of the call and the name of the tool in a result. One of them suffices.
    pub(crate) result: for<'n, 'a> fn(&'n Node<'a>) -> Option<ResultOf<'n, 'a>>,
    /// Returns true if a result contains tools.
    pub(crate) has_tools: fn(&Node<'_>) -> bool,
    pub(crate) visit: VisitJson,
}

impl Additions {
    /// Returns true if an item lists tools that it may define again.
    pub(crate) fn is_list(self, item: &Node<'_>) -> bool {
        matches!(self, Additions::Items { lists, .. } if lists.iter().any(|kind| has_type(item, kind)))
    }

    /// Returns true if items list tools.
    pub(crate) const fn has_lists(self) -> bool {
        matches!(self, Additions::Items { .. })
    }

    /// Returns true if an item that lists tools answers a call.
    pub(crate) fn is_result(self, item: &Node<'_>) -> bool {
        match self {
            Additions::Items { results, .. } => results.iter().any(|kind| has_type(item, kind)),
            Additions::Results { .. } => true,
            _ => false,
        }
    }

    /// Returns the member of a message that lists the added tools, if blocks do not add them.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Additions::Results { list, .. } => list,
            _ => "tools",
        }
    }
}

/// A change of the tool list in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Addition,
    Removal,
}

/// Returns the name in a reference, or an empty name.
pub(crate) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}
