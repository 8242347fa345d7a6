//! Finds requests and replies in another format than the address has. The client could not read such a reply, and its
//! calls would not be restored.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{lazy::view, Node},
    options::Api,
    wire,
};

/// Refuses a request whose history only another format has. The list of tools is no evidence, because it may be in any
/// format.
///
/// # Errors
/// `invalid-request`; `invalid-json` if a message is text that cannot be read.
pub(super) fn refuse_request(request: &Node<'_>, api: Api) -> Result<(), Error> {
    let Some((pointer, found)) = format_of_request(request, api)? else { return Ok(()) };
    let (api, found) = (api.as_str(), found.as_str());
    let message = format!(
        "expected a request in the format of the address, `{api}`, found one in the format `{found}`; send it to an \
            address of that format"
    );
    Err(Error::new(Code::InvalidRequest, pointer, message))
}

/// Refuses a reply, or an event of a stream, that only another format has.
pub(super) fn refuse_reply(reply: &Node<'_>, api: Api) -> Result<(), Error> {
    if wire::of(api).reply().is_own(reply) {
        return Ok(());
    }
    let Some(found) = wire::api_of_reply(reply) else { return Ok(()) };
    let (api, found) = (api.as_str(), found.as_str());
    let message = format!(
        "expected a reply in the format of the address, `{api}`, found one in the format `{found}`, which the client \
            cannot read"
    );
    Err(Error::new(Code::InvalidValue, "", message))
}

/// Returns the format of a request and the pointer to the part that shows it, unless that is the format of the address.
fn format_of_request(request: &Node<'_>, api: Api) -> Result<Option<(String, Api)>, Error> {
    let own = wire::of(api);
    if request.get(own.history()).is_some() {
        return own.format_by_evidence(request);
    }
    if own.shares_addresses() {
        return Ok(None);
    }
    for other in wire::COMMON {
        let key = other.history();
        let list = request.get(key).map(view).transpose()?;
        if list.is_some_and(|list| list.as_array().is_some_and(|list| !list.is_empty())) {
            return Ok(Some((format!("/{key}"), other.api())));
        }
    }
    Ok(None)
}
