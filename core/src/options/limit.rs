//! A limit that has a default and can be turned off.

use alloc::string::String;

use super::table::{Readable, Reader};
use crate::error::Error;

/// A limit. The list is closed. In JSON, null turns a limit off.
///
/// ```
/// use toolwire::{options::Limit, Dialect, SanitizeOptions};
/// let options = SanitizeOptions::new(Dialect::CODEX_WIRE);
/// assert_eq!(options.max_bytes, Limit::Default);
/// assert_eq!(options.clone().max_bytes(2_000).max_bytes, Limit::AtMost(2_000));
/// assert_eq!(options.max_bytes(Limit::Unlimited).max_bytes, Limit::Unlimited);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The default of the dialect or of the library.
    #[default]
    Default,
    /// At most this number.
    AtMost(usize),
    /// No limit.
    Unlimited,
}

impl Limit {
    pub(crate) fn or(self, default: Option<usize>) -> Option<usize> {
        match self {
            Limit::Default => default,
            Limit::AtMost(most) => Some(most),
            Limit::Unlimited => None,
        }
    }
}

impl From<usize> for Limit {
    fn from(most: usize) -> Self {
        Limit::AtMost(most)
    }
}

impl Readable for Limit {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        Ok(reader.limit(name)?.map(|most| most.map_or(Limit::Unlimited, Limit::AtMost)))
    }

    fn shown(&self) -> Option<String> {
        None
    }
}
