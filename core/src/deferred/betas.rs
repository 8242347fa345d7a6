//! Beta names of deferred loading, in requests and in the `anthropic-beta` header.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{lazy::edit_member, tool::remove};
use crate::{
    error::Error,
    json::{Data, Node, Text},
};

/// The betas that a backend without deferred loading does not know.
const BETAS: [&str; 4] = [
    "advanced-tool-use-2025-11-20",
    "tool-search-tool-2025-10-19",
    "mid-conversation-tool-changes-2026-07-01",
    "inline-tools-2026-09-15",
];

fn is_ours(name: &str) -> bool {
    BETAS.contains(&name.trim())
}

/// Takes the betas of deferred loading out of a header's value, a list with commas. `None`: nothing is left.
pub(crate) fn strip(value: &str) -> Option<Cow<'_, str>> {
    if !value.split(',').any(is_ours) {
        return Some(Cow::Borrowed(value));
    }
    let left: Vec<&str> = value.split(',').map(str::trim).filter(|name| !name.is_empty() && !is_ours(name)).collect();
    (!left.is_empty()).then(|| Cow::Owned(left.join(",")))
}

/// Takes them out of a request, and the member if nothing is left.
pub(super) fn settle(request: &mut Node<'_>) -> Result<(), Error> {
    for key in ["anthropic_beta", "betas"] {
        if edit_member(request, key, |betas| Ok(settle_list(betas)))? == Some(true) {
            remove(request, key);
        }
    }
    Ok(())
}

/// Gives whether nothing is left of something.
fn settle_list(betas: &mut Node<'_>) -> bool {
    let ours = |node: &Node<'_>| node.as_text().and_then(Text::value).is_some_and(|name| is_ours(&name));
    match betas.data() {
        Data::Array(items) if items.iter().any(ours) => {
            if let Some(items) = betas.as_array_mut() {
                items.retain(|item| !ours(item));
            }
            betas.as_array().is_some_and(<[Node<'_>]>::is_empty)
        }
        Data::String(text) => {
            let Some(value) = text.value() else { return false };
            let left = strip(&value).map(|left| (left.len() != value.len()).then(|| String::from(left)));
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
