//! What `apply_deferred_loading` decided.

use alloc::{string::String, vec::Vec};

use crate::json::{Node, Object, Text};

/// What was decided about a request. Names stand in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeferredReport {
    /// Deferred tools that are in the request now.
    pub loaded: Vec<String>,
    /// Deferred tools that are not.
    pub hidden: Vec<String>,
    /// What was odd about the request.
    pub warnings: Vec<Warning>,
    /// Flattened names and the names they stand for.
    pub name_map: Vec<(String, String)>,
    /// Tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them.
    pub unreachable: bool,
    /// What the hidden tools would have cost, in bytes of compact JSON.
    pub saved_bytes: usize,
}

/// Something odd about a request that did not stop it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Its snake_case code.
    pub code: &'static str,
    /// The tool or key it is about, where there is one.
    pub name: Option<String>,
}

impl DeferredReport {
    pub(crate) fn name_map_node(&self) -> Node<'static> {
        Node::object(Object::from_iter(
            self.name_map.iter().map(|(flat, original)| (Text::new(flat.clone()), Node::string(original.clone()))),
        ))
    }
}
