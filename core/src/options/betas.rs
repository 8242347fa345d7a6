//! Options of `strip_deferral_betas`.

use alloc::{string::String, vec::Vec};

use super::{
    read::{Example, Reader},
    table::options,
    Native,
};
use crate::{error::Error, json::Node, naming::Naming};

options! {
    /// Options for settling the betas in a header.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct BetaOptions {
        /// Native construct for deferred tools that the backend supports.
        "native" native: Native = Native::None, set(by hand);
        /// Betas that the request needs: `betas` of its report.
        "betas" betas: Vec<String> = Vec::new(), set(by hand);
    }
}

const EXAMPLE: Example =
    Example { function: "stripDeferralBetas", input: "value", option: "native", value: "\"inline\"" };

impl BetaOptions {
    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::at_default())
    }
}
