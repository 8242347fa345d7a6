//! Options of `search_tools` and `answer_tool_search`.

use alloc::string::String;

use super::{
    read::{Example, Reader},
    table::{choice, options},
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// Interpretation of a query.
    SearchMode {
        /// The query is a list of words: tools are ranked by their relevance to the words.
        Bm25 = "bm25",
        /// The query is a regular expression, which must match the name or description of a tool.
        Regex = "regex",
    }
}

options! {
    /// Options of `search_tools` and `answer_tool_search`.
    ///
    /// ```
    /// use toolwire::SearchOptions;
    /// let options = SearchOptions::default().limit(8);
    /// # assert_eq!(options.limit, 8);
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SearchOptions {
        /// Interpretation of the query.
        "mode" mode: SearchMode = SearchMode::Bm25;
        /// Maximum number of tools to return.
        "limit" limit: usize = 5;
        /// Name of the function that replaces a hosted tool search. The search never returns this function.
        "toolSearchName" tool_search_name: String = "tool_search".into(),
            read(Reader::function_name), set(|name: impl Into<String>| name.into());
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const EXAMPLE: Example = Example { function: "searchTools", input: "tools, query", option: "limit", value: "8" };

impl SearchOptions {
    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}
