//! Looking into text that may stay text: reading it only where needed, and keeping its spelling where nothing changed.

use core::ops::Deref;

use super::{Data, Node};
use crate::{error::Error, json};

/// A node as a tree.
pub(crate) enum View<'n, 'a> {
    /// It is one.
    Tree(&'n Node<'a>),
    /// It was text and has been read.
    Read(Node<'a>),
}

impl<'a> Deref for View<'_, 'a> {
    type Target = Node<'a>;

    fn deref(&self) -> &Node<'a> {
        match self {
            View::Tree(node) => node,
            View::Read(node) => node,
        }
    }
}

/// Whether a node may hold what `wanted` stands for. A tree may always; text says so by its marks.
pub(crate) fn may_hold(node: &Node<'_>, wanted: u8) -> bool {
    !matches!(node.data(), Data::Verbatim(_)) || node.marks() & wanted != 0
}

/// A node as a tree, to be looked at.
pub(crate) fn view<'n, 'a>(node: &'n Node<'a>) -> Result<View<'n, 'a>, Error> {
    Ok(match node.data() {
        Data::Verbatim(text) => View::Read(json::read(text)?),
        _ => View::Tree(node),
    })
}

/// Lets `change` work on a node as a tree. Text it did not change stays text, white space included.
pub(crate) fn edit<'a, R>(
    node: &mut Node<'a>,
    change: impl FnOnce(&mut Node<'a>) -> Result<R, Error>,
) -> Result<R, Error> {
    let Data::Verbatim(text) = node.data() else { return change(node) };
    let mut tree = json::read(text)?;
    let result = change(&mut tree)?;
    if !tree.is_intact() {
        node.replace(tree.into_data());
    }
    Ok(result)
}

/// [`edit`] for a member, if there is one of that name.
pub(crate) fn edit_member<'a, R>(
    object: &mut Node<'a>,
    key: &str,
    change: impl FnOnce(&mut Node<'a>) -> Result<R, Error>,
) -> Result<Option<R>, Error> {
    object.visit(key, |node| edit(node, change)).transpose()
}

/// Takes a member's value out as a tree, leaving null in its place.
pub(crate) fn take<'a>(object: &mut Node<'a>, key: &str) -> Result<Option<Node<'a>>, Error> {
    let Some(node) = object.visit(key, core::mem::take) else { return Ok(None) };
    Ok(Some(match node.data() {
        Data::Verbatim(text) => json::read(text)?,
        _ => node,
    }))
}
