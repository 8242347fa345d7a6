//! Options of `normalize_envelope`.

use super::{
    read::{Example, Reader},
    table::options,
};
use crate::{error::Error, json::Node, naming::Naming};

options! {
    /// Options of `normalize_envelope`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct EnvelopeOptions {
        /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
        "share" share: bool = false, set(by hand);
    }
}

impl Default for EnvelopeOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const EXAMPLE: Example = Example { function: "normalizeEnvelope", input: "schema", option: "share", value: "true" };

impl EnvelopeOptions {
    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}
