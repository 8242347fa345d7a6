//! Options of `normalize_envelope`.

use super::read::{Example, Reader};
use crate::naming::Naming;
use crate::{error::Error, json::Node};

/// Options of `normalize_envelope`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvelopeOptions {
    /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
    pub share: bool,
}

const KNOWN: &[&str] = &["share"];
const EXAMPLE: Example = Example { function: "normalizeEnvelope", input: "schema", option: "share", value: "true" };

impl EnvelopeOptions {
    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let reader = Reader::new(node, naming, KNOWN, &EXAMPLE)?;
        Ok(EnvelopeOptions { share: reader.flag("share")?.unwrap_or_default() })
    }
}
