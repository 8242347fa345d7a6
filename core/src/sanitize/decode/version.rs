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

/// Checks the version of stored data. `what` names the data, and `again` states how to create it again.
pub(crate) fn check(stored: &Node<'_>, newest: u64, what: &str, again: &str) -> Result<(), Error> {
    let found_version = match stored.get("version") {
        None => String::from("none"),
        Some(version) => match version.as_u64() {
            Some(expected) if (VERSION..=newest).contains(&expected) => return Ok(()),
            Some(older) if older < VERSION => {
                format!("{older}, which an older toolwire wrote: {again} to get a current one")
            }
            Some(newer) => format!("{newer}, which a newer toolwire wrote"),
            None if version.as_number().is_some() => json::write(version),
            None => String::from(version.kind()),
        },
    };
    let expected = if newest > VERSION { format!("{VERSION} to {newest}") } else { format!("{VERSION}") };
    Err(Error::new(
        Code::InvalidValue,
        "/version",
        format!("expected version {expected} of {what}, found {found_version}"),
    ))
}
