//! What stands beside a union, put into its branches: the one way to do so.

use crate::{
    json::Node,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, Location},
    },
    schema::{emptiness::is_never, visit::Polarity},
};

/// A branch that says the bundle, too, and stands for the branch it was.
///
/// # Errors
/// Where it stood, if it contradicts the bundle.
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
