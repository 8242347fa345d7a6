//! Versions of the data that is stored to restore arguments: plans, and everything that contains plans.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{self, Node},
};

/// Version of a plan. (Version 1 kept every tool's schema, and sanitized it again for each call.)
pub(crate) const VERSION: u64 = 2;

/// Version of data that also keeps schemas, to repair arguments.
pub(crate) const REPAIRING: u64 = 3;

/// Version of data that also restores structured output.
pub(crate) const ANSWERING: u64 = 4;

/// Version of data that also restores answers that are calls.
pub(crate) const CALLING: u64 = 5;

/// Version of data that also extracts answers from Markdown fences.
pub(crate) const INSTRUCTED: u64 = 6;

/// `what` names the stored data, and `again` states how to create it again.
pub(crate) fn check(kept: &Node<'_>, newest: u64, what: &str, again: &str) -> Result<(), Error> {
    let found = match kept.get("version") {
        None => String::from("none"),
        Some(version) => match version.as_u64() {
            Some(known) if (VERSION..=newest).contains(&known) => return Ok(()),
            Some(older) if older < VERSION => {
                format!("{older}, which an older toolwire wrote: {again} to get a current one")
            }
            Some(newer) => format!("{newer}, which a newer toolwire wrote"),
            None if version.as_number().is_some() => json::write(version),
            None => String::from(version.kind()),
        },
    };
    let known = if newest > VERSION { format!("{VERSION} to {newest}") } else { format!("{VERSION}") };
    Err(Error::new(Code::InvalidValue, "/version", format!("expected version {known} of {what}, found {found}")))
}
