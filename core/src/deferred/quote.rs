//! Tools as they are sent, for text that quotes them: the model reads the same definition in the history as in the
//! list.

use alloc::{string::String, vec::Vec};

use super::emulation::{Availability, Emulation};
use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    error::Error,
    json::{Node, Text},
    names::Names,
    options::Order,
    request::{flat_list, notice::Quoted, tool, tools::Tools},
};

/// Namespaces and names of the tools that were deferred because there is no room for them.
pub(crate) type Overflowed = Set<(Option<String>, String)>;

/// The form in which tools will be sent, which the caller of deferred loading decides.
pub(crate) struct Sending<'s> {
    /// The pattern that names of tools must match.
    pub(crate) shape: NamePattern,
    /// Writes a list of tools as it will be sent, with planned names. Omits tools that cannot be sent.
    pub(crate) write: &'s dyn for<'a> Fn(Node<'a>, &Names) -> Result<Node<'a>, Error>,
    /// Maximum size of a list in which each tool is written independently of the others. Up to this size, quoted tools
    /// can be written without the rest of the list.
    pub(crate) alone: usize,
    /// The tools that the caller deferred, each with its namespace. A choice that names such a tool loads it.
    pub(crate) overflowed: &'s Overflowed,
}

/// Tools as they are sent, by the names under which they are sent.
pub(super) struct Quotes<'a> {
    list: Node<'a>,
    places: Map<String, usize>,
}

impl<'a> Quotes<'a> {
    /// Writes the tools that are sent, and the tools that the history mentions but that are not sent, such as removed
    /// ones.
    pub(super) fn write(
        sending: &Sending<'_>,
        (emulation, names): (&Emulation<'a>, &Names),
        (tools, order): (&[Node<'a>], Order),
        mentioned: &[Text<'a>],
        search: impl Fn(&Node<'a>) -> Node<'a>,
    ) -> Result<Quotes<'a>, Error> {
        let sent = emulation.sent(tools, order);
        let alone = sent.len() <= sending.alone;
        let wanted: Set<&Text<'a>> = mentioned.iter().collect();
        let is_wanted = |node: &Node<'a>| tool::name(node).is_some_and(|name| wanted.contains(&name));
        let mut list: Vec<Node<'a>> = sent
            .into_iter()
            .filter(|(node, is_search)| !alone || *is_search || is_wanted(node))
            .map(|(node, is_search)| if is_search { search(node) } else { node.clone() })
            .collect();
        let gone = wanted.iter().filter(|name| emulation.availability(name) != Availability::Visible);
        let gone = gone.filter_map(|name| emulation.tools.get(name));
        list.extend(gone.filter_map(|tool| emulation.tools.definition_of(tool, tools)).cloned());
        let mut list = (sending.write)(Node::array(list), names)?;
        let mut functions = Vec::new();
        flat_list::each_function(&list, &mut |function| functions.push(function.clone()));
        if !functions.is_empty() {
            list = Node::array(functions);
        }
        let mut places = Map::new();
        for (place, tool) in list.as_array().unwrap_or_default().iter().enumerate() {
            if let Some(name) = tool::name(tool) {
                places.entry(name.display().into_owned()).or_insert(place);
            }
        }
        Ok(Quotes { list, places })
    }

    /// Returns the definition to quote for a known tool, by its current name.
    pub(super) fn of(&self, called: &str) -> Quoted<'_, 'a> {
        let found = self.places.get(called).and_then(|place| self.list.as_array()?.get(*place));
        found.map_or(Quoted::SetAside, |definition| Quoted::Definition(Some(definition)))
    }
}

/// Returns the loaded tools with definitions in `list` that cannot be sent. Texts must not promise these tools, which
/// `adapt` reports.
pub(super) fn unsendable<'a>(
    tools: &Tools<'a>,
    list: Vec<Node<'a>>,
    sending: &Sending<'_>,
    names: &Names,
) -> Result<Set<Text<'a>>, Error> {
    if list.is_empty() {
        return Ok(Set::new());
    }
    let written = (sending.write)(Node::array(list), names)?;
    let written = written.as_array().unwrap_or_default().iter();
    let sent: Set<String> = written.filter_map(tool::name).map(|name| name.display().into()).collect();
    let loaded = tools.iter().filter(|tool| tool.loaded && tool.is_available());
    let loaded = loaded.filter_map(|tool| tool.name.as_ref());
    Ok(loaded.filter(|name| !sent.contains(&*names.current(name))).cloned().collect())
}
