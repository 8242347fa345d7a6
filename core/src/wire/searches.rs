//! Results of tool searches, as each API's history contains them.

use alloc::{string::String, vec::Vec};

use super::{additions::UntypedResults, ALL};
use crate::json::Node;

#[derive(Debug)]
pub(crate) struct SearchResults {
    /// True if a result contains the definitions of the tools, not only their names.
    pub(crate) has_definitions: bool,
    pub(crate) write: fn(SearchResult) -> Node<'static>,
    /// The item with which the model asks the client to search; `None` if it calls a function.
    pub(super) item: Option<SearchItem>,
    /// True if the history may contain searches that the API's own servers ran, and every backend accepts them.
    pub(crate) has_hosted: bool,
    /// How to recognize results that contain references as a member of JSON; `None` if no result does.
    pub(super) in_json: Option<UntypedResults>,
}

/// Yields the member that lists the results, and how to recognize results with references.
pub(crate) fn in_json() -> impl Iterator<Item = (&'static str, &'static UntypedResults)> {
    ALL.iter().filter_map(|wire| Some((wire.turns.blocks()?.list(), wire.searches.in_json.as_ref()?)))
}

/// An item with which the model asks the client to search. The result of the search contains definitions.
#[derive(Debug)]
pub(crate) struct SearchItem {
    pub(super) kind: &'static str,
    pub(crate) id: &'static str,
    pub(crate) arguments: &'static str,
    /// Returns the result with this id and these tools.
    pub(crate) write: fn(Node<'static>, Vec<Node<'static>>) -> Node<'static>,
}

pub(crate) struct SearchResult {
    /// Id by which the result refers to the call; null if the call has no id.
    pub(crate) id: Node<'static>,
    pub(crate) name: Node<'static>,
    pub(crate) content: SearchContent,
}

pub(crate) enum SearchContent {
    /// References to listed tools, each an object.
    References(Vec<Node<'static>>),
    Definitions(Vec<Node<'static>>),
    Text(String),
    Failure(String),
}

impl SearchResults {
    pub(crate) const fn has_item(&self) -> bool {
        self.item.is_some()
    }

    pub(crate) const fn in_json(&self) -> Option<&UntypedResults> {
        self.in_json.as_ref()
    }

    pub(super) const fn references(write: fn(SearchResult) -> Node<'static>) -> SearchResults {
        SearchResults { has_definitions: false, write, item: None, has_hosted: false, in_json: None }
    }
}

pub(crate) fn search_item(call: &Node<'_>) -> Option<&'static SearchItem> {
    let items = ALL.iter().filter_map(|wire| wire.searches.item.as_ref());
    items.into_iter().find(|item| super::units::has_type(call, item.kind))
}

impl SearchContent {
    pub(super) fn plain(self) -> Node<'static> {
        match self {
            SearchContent::References(list) | SearchContent::Definitions(list) => Node::array(list),
            SearchContent::Text(text) | SearchContent::Failure(text) => Node::string(text),
        }
    }

    pub(super) const fn is_failure(&self) -> bool {
        matches!(self, SearchContent::Failure(_))
    }
}
