//! Options of `fit_result`.

use super::table::{choice, options, Example, Reader};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// Handling of a result, other than an error, whose structured content is missing or does not match the
    /// `outputSchema`.
    Mismatch {
        /// The result is returned unchanged.
        Pass = "pass",
        /// An error takes its place, with text that names the violation.
        Refuse = "refuse",
        /// The result is returned without the structured content.
        Drop = "drop",
    }
}

choice! {
    /// Results whose structured content is also added as text.
    StructuredText {
        /// Results without any content.
        Empty = "empty",
        /// Results without a text that is the same JSON.
        Missing = "missing",
        /// No results.
        Never = "never",
    }
}

options! {
    /// Options of [`fit_result`](crate::fit_result).
    ///
    /// ```
    /// use toolwire::{options::Mismatch, ResultOptions};
    /// let options = ResultOptions::default().mismatch(Mismatch::Drop);
    /// # assert_eq!(options.mismatch.as_str(), "drop");
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ResultOptions {
        /// Handling of structured content that is missing or does not match, in a result that is not an error.
        "mismatch" mismatch: Mismatch = Mismatch::Pass;
        /// Results whose structured content is also added as text.
        "structuredText" structured_text: StructuredText = StructuredText::Empty;
    }
}

impl Default for ResultOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const EXAMPLE: Example<'_> =
    Example { function: "fitResult", input: "result, tool", option: "mismatch", value: "\"drop\"" };

impl ResultOptions {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}
