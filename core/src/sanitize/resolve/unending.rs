//! Cuts recursion that the API's validator finds endless, so that the rest of the definition can be kept.

use alloc::{format, string::String};

use crate::{
    dialect::grammar::Recursion,
    error::Error,
    json::{Data, Node},
    rules::Rule,
    sanitize::{context::PassContext, diagnostics::ChangeKind, resolve::reference_cutter::ReferenceCutter},
    schema::{
        definitions,
        keyword::{Keyword, Keywords},
        visit,
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion);

/// Cuts references that the validator considers endless. Expects definitions as the other passes have written them.
pub(crate) fn cut(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.recursion != Recursion::MustEnd || root.get(Keyword::Defs).is_none() {
        return Ok(());
    }
    let endless = definitions::endless(root);
    if endless.is_empty() {
        return Ok(());
    }
    let describe: &dyn Fn(&str) -> String =
        &|name| format!("removed a reference to `{name}`: the API's validator considers the recursion infinite");
    // The first step cuts only references that make their own definition endless. If that is not enough, the second one
    // cuts every reference to a definition that is still endless.
    let forced = definitions::forced_references(root, &endless);
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter {
            context,
            goes: &|_, place| forced.contains(&place.pointer.render()),
            effect: CUT,
            describe,
        },
    )?;
    let still = definitions::endless(root);
    if still.is_empty() {
        return Ok(());
    }
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter { context, goes: &|name, _| still.contains(name), effect: CUT, describe },
    )?;
    if let Some(Data::Object(table)) =
        root.as_object_mut().and_then(|object| object.get_mut(Keyword::Defs)).map(Node::data_mut)
    {
        table.retain(|member| member.key.value().is_none_or(|name| !still.contains(&*name)));
        if table.is_empty() {
            if let Some(object) = root.as_object_mut() {
                object.remove(Keyword::Defs);
            }
        }
    }
    Ok(())
}
