//! Tries the forms in which a response format can be sent, with `formats: "ladder"`.
//!
//! Each form is tried by rewriting the whole request. A sample without the schemas of tools and without the history
//! would not show what the API accepts. Acceptance depends on limits on all tools together, on unsendable tools, on
//! tools loaded by the history, and on messages removed by a translation.

use alloc::format;

use super::substitute::Stop;
use crate::{
    error::Error,
    json::Node,
    options::{AdaptOptions, Formats},
};

/// Rewrites a request in the first form that can send the format.
///
/// # Errors
/// The error for the last form, whose message also says why the first form failed.
pub(super) fn rewrite_in_first_form<'a, R>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    rewrite: &mut dyn FnMut(&mut Node<'a>, Formats) -> Result<R, Stop>,
) -> Result<R, Error> {
    let mut refused = None;
    if options.formats == Formats::Ladder {
        for form in [Formats::Native, Formats::Tool] {
            let mut copy = request.clone();
            match rewrite(&mut copy, form) {
                Ok(rewritten) => {
                    *request = copy;
                    return Ok(rewritten);
                }
                Err(Stop::Request(error)) => return Err(error),
                Err(Stop::Format(error)) => refused = refused.or(Some(error)),
            }
        }
    }
    let last = if options.formats == Formats::Ladder { Formats::Prompt } else { options.formats };
    rewrite(request, last).map_err(|stop| match (stop, refused) {
        (Stop::Format(error), Some(refused)) => {
            let message = format!("{}; for the API's own response format: {}", error.message(), refused.message());
            Error::new(error.code(), error.pointer(), message)
        }
        (Stop::Request(error) | Stop::Format(error), _) => error,
    })
}
