//! Plans the names of all tools of a request together, for its own list and the lists that its history adds, so that no
//! two tools get the same name.

use alloc::vec::Vec;

use super::{
    carriers,
    namespaces::{FlatNames, Planner},
    tool,
    tool_format::{self, Entry},
    tool_list::Listing,
};
use crate::{
    dialect::surface::NamePattern,
    error::Error,
    json::{lazy, Node, Text},
    names::{self, Names},
    options::{Api, DeferredOptions},
};

/// Plans the names if the history adds tools; otherwise, the only list plans its own names. Returns the flat names of
/// namespaced tools, and adds the new names of tools with illegal names to `names`.
pub(crate) fn plan(
    request: &Node<'_>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    (names, shape): (&mut Names, NamePattern),
) -> Result<Option<FlatNames>, Error> {
    let mut lists: Vec<Node<'_>> = Vec::new();
    carriers::each(request, api, deferred, |list| {
        lists.extend((!list.is_empty()).then(|| Node::array(list.to_vec())));
    })?;
    let mut reserved = carriers::names_of_hosted(request, api)?;
    reserved.retain(|name| names::is_legal(shape, name));
    if lists.is_empty() && reserved.is_empty() {
        return Ok(None);
    }
    if let Some(tools) = request.get("tools") {
        lists.insert(0, lazy::view(tools)?.clone());
    }
    let mut planner = Planner::default();
    lists.iter().for_each(|list| planner.add(list.as_array().unwrap_or_default()));
    let flat = if planner.has_members() { planner.finish() } else { FlatNames::default() };
    let (mut own, mut hosted) = (Vec::new(), reserved);
    for list in lists.into_iter().filter(|list| list.as_array().is_some()) {
        for listed in Listing::read_named(list, Some(&flat))?.entries() {
            match tool_format::recognize(&listed.entry) {
                Entry::Tool(shape) => own.extend(shape.name(&listed.entry).cloned()),
                Entry::Hosted => {
                    let is_server = tool::kind(&listed.entry) == tool::Kind::Toolset;
                    let name = tool::name(&listed.entry).filter(|_| !is_server).cloned();
                    if listed.namespace.is_some() {
                        own.extend(name)
                    } else {
                        hosted.extend(name)
                    }
                }
                Entry::Unknown => {}
            }
        }
    }
    // If all names are legal and distinct, no tool is renamed, and the lists do not depend on each other.
    if own.iter().any(|name| !names::is_legal(shape, name)) || !names::meeting(shape, own.iter()).is_empty() {
        names.plan(shape, own.iter(), &hosted.iter().collect::<Vec<&Text<'_>>>());
    }
    Ok(Some(flat))
}
