//! Messages that add tools in the middle of a conversation.

use super::units::has_type;
use crate::json::{Node, Text};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Additions {
    /// No message adds definitions.
    None,
    /// A system message lists tools.
    System,
    /// An item of these types lists tools. Items of the types in `lists` may define a tool again; items of the types
    /// in `results` are results of calls.
    Items { lists: &'static [&'static str], results: &'static [&'static str] },
    /// The result of the client's search lists tools in this member; the result of a hosted search has this `type`.
    Results { list: &'static str, hosted: &'static str, form: UntypedResults },
    /// A block of a system message adds a tool.
    Blocks,
    /// A block of a system message adds a listed tool again, or removes a listed tool.
    Listed,
}

/// The id and the tool's name of the call to which a result belongs.
pub(crate) type ResultOf<'n, 'a> = (Option<&'n Text<'a>>, Option<&'n Text<'a>>);

pub(crate) type VisitJson = for<'a> fn(&mut Node<'a>, &mut dyn FnMut(&mut Node<'a>));

/// Results of searches that look like results of other tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntypedResults {
    /// Returns the id and the name in a call.
    pub(crate) call: for<'n, 'a> fn(&'n Node<'a>) -> Option<(&'n Text<'a>, &'n Text<'a>)>,
    /// Returns the id of the call and the name of the tool in a result. A result may lack either.
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

    pub(crate) fn is_result(self, item: &Node<'_>) -> bool {
        match self {
            Additions::Items { results, .. } => results.iter().any(|kind| has_type(item, kind)),
            Additions::Results { .. } => true,
            _ => false,
        }
    }

    /// Returns the member that lists the added tools. Not for formats whose blocks add tools.
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
    let name = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    name.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}
