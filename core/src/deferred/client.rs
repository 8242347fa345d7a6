//! The client's format and tools, which are needed to translate the model's calls back into calls to the client's
//! tools.

use alloc::string::String;

use crate::{
    json::{Node, Text},
    options::{Api, CustomTools, DeferredOptions, Native},
    request::{
        namespaces::NameMap,
        report::CallKind,
        tool::{self, has_type},
    },
};

/// The client that sent the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The client's format.
    pub(crate) format: Api,
    /// The client's own search function, if the backend's own search (`tool_search` of Responses) replaces it.
    pub(crate) search: Option<String>,
}

/// Records how calls to the tools are translated on their way back to the client.
pub(super) struct CallRecorder<'o> {
    pub(super) source: Api,
    pub(super) target: Api,
    pub(super) options: &'o DeferredOptions,
}

impl CallRecorder<'_> {
    /// Records one tool, by its flat name and definition.
    pub(super) fn tool(&self, map: &mut NameMap<'_>, name: &Text<'_>, definition: &Node<'_>, is_loaded: bool) {
        // In Anthropic's format, every tool of the client may have the type `custom`.
        let is_custom = self.source != Api::Anthropic && has_type(definition, "custom");
        let is_function = match self.source == self.target {
            true => self.source == Api::OpenaiResponses && self.options.custom_tools == Some(CustomTools::Function),
            false => true,
        };
        let kind = if is_custom && is_function { CallKind::Custom } else { CallKind::Function };
        let is_at_api = self.target == Api::OpenaiResponses && self.options.native != Native::None;
        map.note(name, (is_loaded && self.source == Api::OpenaiResponses, is_at_api), kind);
    }

    /// Records all tools of a flat list.
    pub(super) fn list(&self, map: &mut NameMap<'_>, tools: &[Node<'_>], is_loaded: impl Fn(&Text<'_>) -> bool) {
        if self.source == Api::Anthropic {
            return;
        }
        for definition in tools.iter().filter(|definition| tool::kind(definition) == tool::Kind::Tool) {
            if let Some(name) = tool::name(definition) {
                self.tool(map, name, definition, is_loaded(name));
            }
        }
    }

    /// Records the function that replaces the client's search.
    pub(super) fn search(&self, map: &mut NameMap<'_>, name: &str) {
        map.note(&Text::new(name), (false, false), CallKind::Search);
    }
}
