//! Merges the siblings of a union into its branches.

use crate::{
    json::Node,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, Location},
    },
    schema::{emptiness::is_never, visit::Polarity},
};

/// Returns the branch merged with the bundle; it keeps the origin of the branch.
///
/// # Errors
/// The location of the branch, if it contradicts the bundle.
pub(super) fn into_branch<'a>(
    bundle: &Node<'a>,
    branch: Node<'a>,
    polarity: Polarity,
    context: &mut PassContext,
) -> Result<Node<'a>, Location> {
    let (location, own) = (Location::of(&branch), branch.origin());
    let bundle = bundle.copy(&context.budget);
    let branch = intersected((bundle, branch), usize::MAX, polarity, Some(&location), context);
    if is_never(&branch) {
        return Err(location);
    }
    Ok(if own.number().is_some() { branch.with_origin(own) } else { branch })
}
