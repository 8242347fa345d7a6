//! Beta names of deferred loading, in requests and in the `anthropic-beta` header.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    error::Error,
    json::{
        lazy::{edit_member, may_hold, view},
        Data, Flags, Node, Text,
    },
    options::Native,
    request::{
        carriers::{directive, directive_definition},
        tool::has_type,
    },
};

/// Beta for additions and removals by name.
const CHANGES: &str = "mid-conversation-tool-changes-2026-07-01";
/// Beta for additions that contain definitions.
const INLINE: &str = "inline-tools-2026-09-15";
/// Beta for definitions of whole MCP servers.
const TOOLSETS: &str = "mcp-client-2026-09-15";

/// The betas that a backend without deferred loading does not support.
const BETAS: [&str; 4] = ["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19", CHANGES, INLINE];

/// Members of a body that hold betas.
const MEMBERS: [&str; 2] = ["anthropic_beta", "betas"];

/// Returns the betas that a backend does not support.
fn unknown_to(native: Native) -> &'static [&'static str] {
    match native {
        Native::References => &[CHANGES, INLINE],
        Native::Changes => &[INLINE],
        Native::Inline => &[],
        _ => &BETAS,
    }
}

/// Rewrites the value of the header, a comma-separated list: removes betas that the backend does not support, and adds
/// those that the request needs. Returns `None` if no beta is left.
pub(crate) fn header<'v>(value: Option<&'v str>, native: Native, needed: &[&str]) -> Option<Cow<'v, str>> {
    let is_unknown = |name: &str| unknown_to(native).contains(&name);
    let named = || value.into_iter().flat_map(|value| value.split(',')).map(str::trim);
    let missing: Vec<&str> = needed.iter().copied().filter(|beta| !named().any(|name| name == *beta)).collect();
    if missing.is_empty() && !named().any(is_unknown) {
        return value.map(Cow::Borrowed);
    }
    let left = named().filter(|name| !name.is_empty() && !is_unknown(name)).chain(missing);
    let left: Vec<&str> = left.collect();
    (!left.is_empty()).then(|| Cow::Owned(left.join(",")))
}

/// Returns the betas that a request needs. The beta for definitions also allows changes by name. Source: Anthropic's
/// documentation, mid-conversation tool changes, read 2026-09-22.
pub(super) fn needed(request: &Node<'_>) -> Result<Vec<&'static str>, Error> {
    let (mut changes, mut definitions, mut toolsets) = (false, false, false);
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        for block in message.items_at("content") {
            changes |= directive(block).is_some();
            if let Some(definition) = directive_definition(block).filter(|_| directive(block).is_some()) {
                definitions = true;
                toolsets |= has_type(definition, "mcp_toolset");
            }
        }
    }
    let mut betas = Vec::new();
    match (definitions, changes) {
        (true, _) => betas.push(INLINE),
        (false, true) => betas.push(CHANGES),
        (false, false) => {}
    }
    if toolsets {
        betas.push(TOOLSETS);
    }
    Ok(betas)
}

/// Returns the betas in the body of a request.
#[cfg(feature = "search")]
pub(crate) fn in_body(request: &Node<'_>) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for member in MEMBERS.iter().filter_map(|key| request.get(*key)) {
        let member = view(member)?;
        let items = member.as_array().unwrap_or_else(|| core::slice::from_ref(&*member));
        for text in items.iter().filter_map(Node::as_text) {
            found.extend(text.display().split(',').map(|name| String::from(name.trim())));
        }
    }
    Ok(found)
}

/// Rewrites the betas in the body of a request. Removes a member that becomes empty.
pub(super) fn settle(request: &mut Node<'_>, native: Native, needed: &[&'static str]) -> Result<(), Error> {
    for key in MEMBERS {
        if edit_member(request, key, |betas| Ok(settle_member(betas, native, needed)))? == Some(true) {
            request.remove(key);
        }
    }
    Ok(())
}

/// Rewrites one member with betas. Returns true if the member becomes empty.
fn settle_member(betas: &mut Node<'_>, native: Native, needed: &[&'static str]) -> bool {
    match betas.data() {
        Data::Array(items) => {
            let name = |item: &Node<'_>| item.as_text().and_then(Text::value).map(Cow::into_owned);
            let is_unknown = |item: &Node<'_>| name(item).is_some_and(|name| unknown_to(native).contains(&&*name));
            let is_named = |beta: &&&str| items.iter().any(|item| name(item).as_deref() == Some(**beta));
            let missing: Vec<&'static str> = needed.iter().filter(|beta| !is_named(beta)).copied().collect();
            if missing.is_empty() && !items.iter().any(is_unknown) {
                return false;
            }
            if let Some(items) = betas.as_array_mut() {
                items.retain(|item| !is_unknown(item));
                items.extend(missing.into_iter().map(Node::literal));
            }
            betas.as_array().is_some_and(<[Node<'_>]>::is_empty)
        }
        Data::String(text) => {
            let Some(value) = text.value() else { return false };
            let left = header(Some(&value), native, needed).map(|left| (*left != *value).then(|| String::from(left)));
            match left {
                None => return true,
                Some(None) => {}
                Some(Some(left)) => betas.replace(Data::String(Text::new(left))),
            }
            false
        }
        _ => false,
    }
}
