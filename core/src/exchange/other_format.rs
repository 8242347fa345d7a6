//! Refuses requests and replies whose format is not the format of the address. The client could not read such a reply,
//! and its calls would not be restored.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{lazy::view, Node},
    options::Api,
    wire,
};

/// Refuses a request whose history exists only in another format. The list of tools proves nothing, because it may be
/// in any format.
///
/// # Errors
/// `invalid-request`; `invalid-json` if a message is text that cannot be read.
pub(super) fn refuse_request(request: &Node<'_>, api: Api) -> Result<(), Error> {
    let Some((pointer, actual)) = format_of_request(request, api)? else { return Ok(()) };
    let (api, actual) = (api.as_str(), actual.as_str());
    let message = format!(
        "expected a request in the format of the address, `{api}`, found one in the format `{actual}`; send it to an \
            address of that format"
    );
    Err(Error::new(Code::InvalidRequest, pointer, message))
}

/// Refuses a reply, or an event of a stream, that exists only in another format.
pub(super) fn refuse_reply(reply: &Node<'_>, api: Api) -> Result<(), Error> {
    if wire::of(api).reply().is_only_of_format(reply) {
        return Ok(());
    }
    let Some(actual) = wire::api_of_reply(reply) else { return Ok(()) };
    let (api, actual) = (api.as_str(), actual.as_str());
    let message = format!(
        "expected a reply in the format of the address, `{api}`, found one in the format `{actual}`, which the client \
            cannot read"
    );
    Err(Error::new(Code::InvalidValue, "", message))
}

/// Returns the format of a request and a pointer to the part that proves it. Returns `None` if the request may have the
/// format of the address.
fn format_of_request(request: &Node<'_>, api: Api) -> Result<Option<(String, Api)>, Error> {
    let expected = wire::of(api);
    if request.get(expected.history()).is_some() {
        return expected.format_by_evidence(request);
    }
    if expected.shares_addresses() {
        return Ok(None);
    }
    for wire in wire::COMMON {
        let key = wire.history();
        let list = request.get(key).map(view).transpose()?;
        if list.is_some_and(|list| list.as_array().is_some_and(|list| !list.is_empty())) {
            return Ok(Some((format!("/{key}"), wire.api())));
        }
    }
    Ok(None)
}
