//! Removes tool changes of Bedrock Converse that refer to tools that cannot be sent.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{lazy, Data, Node},
    request::{
        blocks::{converse_change, is_of_server},
        prefilter::DEFERRAL,
        splice,
    },
};

/// Removes the changes of tools whose names in the request are in `gone`, and messages that become empty.
///
/// Source: botocore 1.43.127, `bedrock-runtime`, `ToolReference`: "Must match the name of a tool declared in the
/// top-level tool configuration" (read 2026-11-26).
pub(super) fn remove(request: &mut Node<'_>, gone: &Set<String>) -> Result<(), Error> {
    if gone.is_empty() {
        return Ok(());
    }
    let is_gone = |block: &Node<'_>| {
        !is_of_server(block) && converse_change(block).is_some_and(|(_, name)| gone.contains(&*name.display()))
    };
    let removed = request.visit("messages", |messages| {
        if !matches!(messages.data(), Data::Array(_)) {
            return Ok(());
        }
        let (mut emptied, mut at) = (Vec::new(), 0);
        messages.visit_children(|_, message| {
            if lazy::may_hold(message, DEFERRAL) && lazy::edit(message, |message| Ok(in_message(message, &is_gone)))? {
                emptied.push((at, Vec::new()));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(messages, emptied);
        Ok(())
    });
    removed.unwrap_or(Ok(()))
}

/// Removes the changes from a message. Returns true if the message becomes empty.
fn in_message(message: &mut Node<'_>, is_gone: &impl Fn(&Node<'_>) -> bool) -> bool {
    let emptied = message.visit("content", |content| {
        let blocks = content.as_array().unwrap_or_default();
        let places: Vec<usize> = (0..).zip(blocks).filter(|(_, block)| is_gone(block)).map(|(at, _)| at).collect();
        let is_emptied = !places.is_empty() && places.len() == blocks.len();
        splice(content, places.into_iter().map(|at| (at, Vec::new())).collect());
        is_emptied
    });
    emptied == Some(true)
}
