//! Options of `strip_deferral_betas`.

use alloc::{string::String, vec::Vec};

use super::{
    read::{Example, Reader},
    Native,
};
use crate::{error::Error, json::Node, naming::Naming};

/// What a header's betas are settled for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BetaOptions {
    /// Which construct of its own for deferred tools the backend understands.
    pub(crate) native: Option<Native>,
    /// The betas that the request needs: `betas` of its report.
    pub(crate) betas: Vec<String>,
}

const KNOWN: &[&str] = &["native", "betas"];
const EXAMPLE: Example =
    Example { function: "stripDeferralBetas", input: "value", option: "native", value: "\"inline\"" };

impl BetaOptions {
    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let reader = Reader::new(node, naming, KNOWN, &EXAMPLE)?;
        Ok(BetaOptions {
            native: reader.choice("native", Native::CHOICES)?,
            betas: reader.names("betas")?.unwrap_or_default(),
        })
    }
}
