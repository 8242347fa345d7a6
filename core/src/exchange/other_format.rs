//! Finds requests and replies in another format than the address has. The client could not read such a reply, and its
//! calls would not be restored.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    options::Api,
    request::tool::has_type,
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
///
/// # Errors
/// `invalid-value`.
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
    const HISTORIES: [(&str, Api); 3] =
        [("messages", Api::OpenaiChat), ("input", Api::OpenaiResponses), ("contents", Api::Gemini)];
    let own = wire::of(api).history();
    let is_list = |key: &str| -> Result<bool, Error> {
        Ok(match request.get(key) {
            Some(list) => view(list)?.as_array().is_some_and(|list| !list.is_empty()),
            None => false,
        })
    };
    if request.get(own).is_none() {
        // Other services have addresses that end in `/messages`, too.
        if api == Api::Anthropic {
            return Ok(None);
        }
        for (key, other) in HISTORIES {
            if key != own && is_list(key)? {
                return Ok(Some((format!("/{key}"), other)));
            }
        }
        return Ok(None);
    }
    let other = match api {
        Api::Anthropic => Api::OpenaiChat,
        Api::OpenaiChat => Api::Anthropic,
        _ => return Ok(None),
    };
    for (at, message) in request.items_at(own).iter().enumerate() {
        if !may_hold(message, Flags::CALL | Flags::RESULT | Flags::CHAT) {
            continue;
        }
        let message = view(message)?;
        if other == Api::OpenaiChat {
            let calls = message.array_at("tool_calls").is_some_and(|calls| !calls.is_empty());
            let is_result = message.get("role").is_some_and(|role| role.is_text("tool"));
            if calls || is_result {
                let member = if calls { "tool_calls" } else { "role" };
                return Ok(Some((format!("/{own}/{at}/{member}"), other)));
            }
            continue;
        }
        let is_call = |block: &Node<'_>| has_type(block, "tool_use") || has_type(block, "tool_result");
        if let Some(index) = message.items_at("content").iter().position(is_call) {
            return Ok(Some((format!("/{own}/{at}/content/{index}"), other)));
        }
    }
    let has_schema = |tools: &Node<'_>| {
        let tools = tools.as_array().unwrap_or_default();
        !tools.is_empty() && tools.iter().all(|tool| tool.get("input_schema").is_some())
    };
    let has_anthropic_tools = match request.get("tools").filter(|_| other == Api::Anthropic) {
        Some(tools) => has_schema(&*view(tools)?),
        None => false,
    };
    let is_set = |node: &Node<'_>| Ok::<_, Error>(!view(node)?.is_null());
    let has_prompt = request.get("system").map(is_set).transpose()?.unwrap_or_default();
    Ok((has_anthropic_tools && has_prompt).then(|| (String::from("/system"), other)))
}
