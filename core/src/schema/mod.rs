//! JSON Schema itself: the keyword table, the shared walk over schemas, references, merging, validation.
//!
//! Nothing here depends on a provider or decides what to change.

pub(crate) mod compare;
pub(crate) mod complexity;
pub(crate) mod cycles;
pub(crate) mod definitions;
pub(crate) mod emptiness;
pub(crate) mod graph;
pub(crate) mod instance_types;
pub(crate) mod intersect;
pub(crate) mod join;
pub(crate) mod keyword;
pub(crate) mod misplaced;
pub(crate) mod protocol;
pub(crate) mod references;
pub(crate) mod regex;
pub(crate) mod regex_engines;
pub(crate) mod uri;
pub(crate) mod validate;
pub(crate) mod visit;
