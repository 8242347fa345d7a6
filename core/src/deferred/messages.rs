//! Rewriting a list of messages: one that holds a hosted search is cut where that is wanted, and each part is rewritten
//! on its own.

use alloc::vec::Vec;

use super::{
    expand_hosted_search,
    history::{splice, Rewriter},
    lazy::{edit, may_hold},
    prefilter,
};
use crate::{error::Error, json::Node};

/// Rewrites a list of messages in place.
pub(super) fn rewrite<'a>(list: &mut Node<'a>, rewriter: &mut Rewriter<'_, 'a>) -> Result<(), Error> {
    let mut replaced: Vec<(usize, Vec<Node<'a>>)> = Vec::new();
    let mut at = 0;
    list.visit_children(|_, message| {
        if may_hold(message, prefilter::DEFERRAL) {
            let instead = edit(message, |message| Ok(rewrite_one(message, rewriter)))?;
            replaced.extend(instead.map(|messages| (at, messages)));
        }
        at += 1;
        Ok::<(), Error>(())
    })?;
    splice(list, replaced);
    Ok(())
}

/// Rewrites one message in place, or gives what stands in its place.
fn rewrite_one<'a>(message: &mut Node<'a>, rewriter: &mut Rewriter<'_, 'a>) -> Option<Vec<Node<'a>>> {
    if rewriter.splits() {
        if let Some(mut parts) = expand_hosted_search::message(message, rewriter) {
            parts.retain_mut(|part| rewriter.message(part));
            return Some(parts);
        }
    }
    (!rewriter.message(message)).then(Vec::new)
}
