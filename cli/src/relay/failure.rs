//! Reasons why an upstream or a client cannot be reached.

use std::{error::Error, io};

use crate::system::code;

/// Returns the reason for a failure: the name of a system error, or a description without URLs and headers.
pub(super) fn why(error: &(dyn Error + 'static)) -> String {
    let mut reason = None;
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
                reason = Some("ECONNRESET".to_string());
            } else if error.is_parse() {
                reason = Some("its reply is not one of HTTP/1.1".into());
            }
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            reason = Some(code(error));
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return error.to_string();
        }
        cause = error.source();
    }
    reason.unwrap_or_else(|| "ECONNRESET".into())
}
