//! The version of what is kept for the way back: of a plan, and of whatever holds plans.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{self, Node},
};

/// Version 1 kept every tool's schema, and sanitized it again for each call.
pub(crate) const VERSION: u64 = 2;

/// Of what also repairs arguments, and keeps the schemas for that.
pub(crate) const REPAIRING: u64 = 3;

/// Of what also restores the answer to a response format.
pub(crate) const ANSWERING: u64 = 4;

/// Of what also restores an answer that is given as a call.
pub(crate) const CALLING: u64 = 5;

/// Of what also takes an answer out of a Markdown fence.
pub(crate) const TELLING: u64 = 6;

/// Is it of today, or of a version up to the newest of its kind? `what` says what was kept, and `again` how to get
/// another.
///
/// # Errors
/// `invalid-value`.
pub(crate) fn check(kept: &Node<'_>, newest: u64, what: &str, again: &str) -> Result<(), Error> {
    let found = match kept.get("version") {
        None => String::from("none"),
        Some(version) => match version.as_u64() {
            Some(known) if (VERSION..=newest).contains(&known) => return Ok(()),
            Some(older) if older < VERSION => {
                format!("{older}, which an older toolwire wrote: {again} for one of today")
            }
            Some(newer) => format!("{newer}, which a newer toolwire wrote"),
            None if version.as_number().is_some() => json::write(version),
            None => String::from(version.kind()),
        },
    };
    let known = if newest > VERSION { format!("{VERSION} to {newest}") } else { format!("{VERSION}") };
    Err(Error::new(Code::InvalidValue, "/version", format!("expected the version {known} of {what}, found {found}")))
}
