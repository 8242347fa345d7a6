//! The version of what is kept for the way back: of a plan, and of whatever holds plans.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{self, Node},
};

/// Version 1 kept every tool's schema, and sanitized it anew for each call.
pub(crate) const VERSION: u64 = 2;

/// Is it of today? `what` says what was kept, and `again` how to get another.
///
/// # Errors
/// `invalid-value`.
pub(crate) fn check(kept: &Node<'_>, what: &str, again: &str) -> Result<(), Error> {
    let found = match kept.get("version") {
        None => String::from("none"),
        Some(version) => match version.as_u64() {
            Some(VERSION) => return Ok(()),
            Some(older) if older < VERSION => {
                format!("{older}, which an older toolwire wrote: {again} for one of today")
            }
            Some(newer) => format!("{newer}, which a newer toolwire wrote"),
            None if version.as_number().is_some() => json::write(version),
            None => String::from(version.kind()),
        },
    };
    Err(Error::new(Code::InvalidValue, "/version", format!("expected the version {VERSION} of {what}, found {found}")))
}
