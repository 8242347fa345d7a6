//! The betas of Anthropic Messages: names of features that a request uses, in the header `anthropic-beta` and in the
//! body.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    error::Error,
    json::{
        lazy::{edit_member, view},
        Data, Node, Text,
    },
};

/// Members of a body that hold betas. Backends that read them there read the first.
const MEMBERS: [&str; 2] = ["anthropic_beta", "betas"];

/// Returns the names in a header, a comma-separated list.
fn names(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Rewrites the value of the header: removes names that are refused, and adds those that are needed. Returns `None` if
/// no name is left.
pub(crate) fn header<'v>(
    value: Option<&'v str>,
    is_refused: &dyn Fn(&str) -> bool,
    needed: &[&str],
) -> Option<Cow<'v, str>> {
    let named = || value.into_iter().flat_map(names);
    let missing: Vec<&str> = needed.iter().copied().filter(|beta| !named().any(|name| name == *beta)).collect();
    if missing.is_empty() && !named().any(is_refused) {
        return value.map(Cow::Borrowed);
    }
    let left: Vec<&str> = named().filter(|name| !is_refused(name)).chain(missing).collect();
    (!left.is_empty()).then(|| Cow::Owned(left.join(",")))
}

/// Calls `visit` with each name in the body, and the JSON Pointer to the string that contains it.
pub(crate) fn each_in_body(request: &Node<'_>, visit: &mut dyn FnMut(&str, &str)) -> Result<(), Error> {
    for key in MEMBERS {
        let Some(member) = request.get(key) else { continue };
        let member = view(member)?;
        let in_text = |text: &Text<'_>, pointer: &str, visit: &mut dyn FnMut(&str, &str)| {
            names(&text.display()).for_each(|name| visit(name, pointer));
        };
        match member.data() {
            Data::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    if let Some(text) = item.as_text() {
                        in_text(text, &format!("/{key}/{at}"), visit);
                    }
                }
            }
            Data::String(text) => in_text(text, &format!("/{key}"), visit),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the names in the body.
pub(crate) fn in_body(request: &Node<'_>) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    each_in_body(request, &mut |name, _| found.push(name.into()))?;
    Ok(found)
}

/// Rewrites the names in the members of the body that have any. Removes a member that becomes empty.
pub(crate) fn settle(
    request: &mut Node<'_>,
    is_refused: &dyn Fn(&str) -> bool,
    needed: &[&'static str],
) -> Result<(), Error> {
    for key in MEMBERS {
        if edit_member(request, key, |betas| Ok(settle_member(betas, is_refused, needed)))? == Some(true) {
            request.remove(key);
        }
    }
    Ok(())
}

/// Adds a name to the body, unless it is there.
pub(crate) fn add_to_body(request: &mut Node<'_>, name: &'static str) -> Result<(), Error> {
    let [member, _] = MEMBERS;
    let added = edit_member(request, member, |betas| {
        let is_list = matches!(betas.data(), Data::Array(_) | Data::String(_));
        settle_member(betas, &|_| false, &[name]);
        Ok(is_list)
    })?;
    if added != Some(true) {
        request.set(member, Node::array([Node::literal(name)].into()));
    }
    Ok(())
}

/// Rewrites one member with betas. Returns true if the member becomes empty.
fn settle_member(betas: &mut Node<'_>, is_refused: &dyn Fn(&str) -> bool, needed: &[&'static str]) -> bool {
    match betas.data() {
        Data::Array(items) => {
            let name = |item: &Node<'_>| item.as_text().and_then(Text::value).map(Cow::into_owned);
            let is_refused = |item: &Node<'_>| name(item).is_some_and(|name| is_refused(&name));
            let is_named = |beta: &&&str| items.iter().any(|item| name(item).as_deref() == Some(**beta));
            let missing: Vec<&'static str> = needed.iter().filter(|beta| !is_named(beta)).copied().collect();
            if missing.is_empty() && !items.iter().any(is_refused) {
                return false;
            }
            if let Some(items) = betas.as_array_mut() {
                items.retain(|item| !is_refused(item));
                items.extend(missing.into_iter().map(Node::literal));
            }
            betas.as_array().is_some_and(<[Node<'_>]>::is_empty)
        }
        Data::String(text) => {
            let Some(value) = text.value() else { return false };
            let left =
                header(Some(&value), is_refused, needed).map(|left| (*left != *value).then(|| String::from(left)));
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
