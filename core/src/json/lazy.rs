//! Access to values that may be unparsed text: text is parsed only if needed, and keeps its spelling if nothing
//! changes.

use core::ops::Deref;

use super::{Data, Flags, Node};
use crate::{error::Error, json};

pub(crate) enum View<'n, 'a> {
    Tree(&'n Node<'a>),
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

/// Returns true if the node may contain something that a wanted flag describes. A parsed tree always may, because only
/// the flags of unparsed text are known.
pub(crate) fn may_hold(node: &Node<'_>, wanted: Flags) -> bool {
    !matches!(node.data(), Data::Verbatim(_)) || node.flags().intersects(wanted)
}

pub(crate) fn view<'n, 'a>(node: &'n Node<'a>) -> Result<View<'n, 'a>, Error> {
    Ok(match node.data() {
        Data::Verbatim(text) => View::Read(json::read(text)?),
        _ => View::Tree(node),
    })
}

/// Calls `change` with the value, parsed if necessary. Text that `change` leaves intact keeps its spelling and
/// whitespace.
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

pub(crate) fn edit_member<'a, R>(
    object: &mut Node<'a>,
    key: &str,
    change: impl FnOnce(&mut Node<'a>) -> Result<R, Error>,
) -> Result<Option<R>, Error> {
    object.visit(key, |node| edit(node, change)).transpose()
}

/// Returns a member's value, parsed if necessary. The member becomes null.
pub(crate) fn take<'a>(object: &mut Node<'a>, key: &str) -> Result<Option<Node<'a>>, Error> {
    let Some(node) = object.visit(key, core::mem::take) else { return Ok(None) };
    Ok(Some(match node.data() {
        Data::Verbatim(text) => json::read(text)?,
        _ => node,
    }))
}
