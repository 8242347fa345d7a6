//! Options of `search_tools` and `answer_tool_search`.

use alloc::{format, string::String};

use super::read::{choice, Example, Reader};
use crate::{
    error::{Code, Error},
    json::Node,
    naming::Naming,
};

choice! {
    /// How a query is read.
    SearchMode {
        /// As words: tools are ranked by how much they say about them.
        Bm25 = "bm25",
        /// As a regular expression, which a tool's name or description has to match.
        Regex = "regex",
    }
}

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
    pub mode: SearchMode,
    /// The most tools that are found.
    pub limit: usize,
    /// The name of the function that stands for a tool search. It never finds itself.
    pub tool_search_name: String,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions { mode: SearchMode::Bm25, limit: 5, tool_search_name: "tool_search".into() }
    }
}

const KNOWN: &[&str] = &["mode", "limit", "toolSearchName"];
const EXAMPLE: Example = Example { function: "searchTools", input: "tools, query", option: "limit", value: "8" };

impl SearchOptions {
    /// Sets [`Self::mode`].
    #[must_use]
    pub fn mode(mut self, mode: SearchMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets [`Self::limit`].
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets [`Self::tool_search_name`].
    #[must_use]
    pub fn tool_search_name(mut self, name: impl Into<String>) -> Self {
        self.tool_search_name = name.into();
        self
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let reader = Reader::new(node, naming, KNOWN, &EXAMPLE)?;
        let default = SearchOptions::default();
        let options = SearchOptions {
            mode: reader.choice("mode", SearchMode::CHOICES)?.unwrap_or(default.mode),
            limit: reader.count("limit")?.unwrap_or(default.limit),
            tool_search_name: reader.text("toolSearchName")?.unwrap_or(default.tool_search_name),
        };
        if options.tool_search_name.is_empty() {
            let expected =
                format!("expected `{}` to be a function's name, found an empty string", naming.spell("toolSearchName"));
            return Err(Error::new(Code::InvalidOption, format!("/{}", naming.spell("toolSearchName")), expected));
        }
        Ok(options)
    }
}
