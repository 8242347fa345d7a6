//! Renames tools in the history.

use alloc::{string::String, vec::Vec};

use crate::{
    error::Error,
    json::{lazy, Child, Data, Flags, Node, Text},
    options::Api,
    reply::call_sites,
    wire::{self, units},
};

/// Returns the indices of the messages that mention a renamed tool that is not in the list.
pub(crate) fn rename_history(
    request: &mut Node<'_>,
    api: Api,
    new_name: &dyn Fn(&Text<'_>) -> Option<String>,
    is_unlisted: &dyn Fn(&Text<'_>) -> bool,
) -> Result<Vec<usize>, Error> {
    let mut places = Vec::new();
    let renamed = request.visit(wire::of(api).history(), |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        history.visit_children(|child, message| {
            if !lazy::may_hold(message, Flags::NAMES_TOOLS) {
                return Ok(());
            }
            lazy::edit(message, |message| {
                units::visit(message, None, &mut |site| {
                    let old = site.node.text_at(site.name);
                    let new = old.and_then(new_name);
                    if let Some(new) = new {
                        let index = if let Child::Item(at) = child { Some(at) } else { None };
                        if old.is_some_and(is_unlisted) && places.last() != index.as_ref() {
                            places.extend(index);
                        }
                        call_sites::rename(site.node, site.name, Text::new(new));
                    }
                });
                Ok(())
            })
        })
    });
    renamed.unwrap_or(Ok(()))?;
    Ok(places)
}
