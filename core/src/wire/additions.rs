//! Messages that add tools in the middle of a conversation.

use super::units::has_type;
use crate::json::{Node, Text};

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

pub(crate) type VisitJson = for<'a> fn(&mut Node<'a>, &mut dyn FnMut(&mut Node<'a>));

/// Results that do not show that they are results of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntypedResults {
    /// Returns the id and the name in a call.
    pub(crate) call: for<'n, 'a> fn(&'n Node<'a>) -> Option<(&'n Text<'a>, &'n Text<'a>)>,
    /// Returns the id of the call and the name of the tool in a result. One of them suffices.
    pub(crate) result: for<'n, 'a> fn(&'n Node<'a>) -> Option<ResultOf<'n, 'a>>,
    pub(crate) has_tools: fn(&Node<'_>) -> bool,
    pub(crate) visit: VisitJson,
}

impl Additions {
    pub(crate) fn is_list(self, item: &Node<'_>) -> bool {
        matches!(self, Additions::Items { lists, .. } if lists.iter().any(|kind| has_type(item, kind)))
    }

    pub(crate) const fn has_lists(self) -> bool {
        matches!(self, Additions::Items { .. })
    }

    /// The item must list tools.
    pub(crate) fn is_result(self, item: &Node<'_>) -> bool {
        match self {
            Additions::Items { results, .. } => results.iter().any(|kind| has_type(item, kind)),
            Additions::Results { .. } => true,
            _ => false,
        }
    }

    /// A block must not add the tools: then no member lists them.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Additions::Results { list, .. } => list,
            _ => "tools",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolChangeKind {
    Addition,
    Removal,
}

pub(crate) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}
