//! Options of `search_tools` and `answer_tool_search`.

use alloc::string::String;

use super::{
    read::{Example, Reader},
    table::{choice, options},
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// How a query is read.
    SearchMode {
        /// As words: tools are ranked by how much they say about them.
        Bm25 = "bm25",
        /// As a regular expression, which a tool's name or description has to match.
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
        /// How a query is read.
        "mode" mode: SearchMode = SearchMode::Bm25;
        /// Maximum number of tools that are found.
        "limit" limit: usize = 5;
        /// The name of the function that replaces a tool search. It never finds itself.
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
