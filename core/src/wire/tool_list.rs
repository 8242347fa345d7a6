//! The list of tools in a request.

use alloc::{format, string::String, vec::Vec};

use super::{Wire, ALL};
use crate::{
    error::Error,
    json::{
        lazy::{edit_member, take, view},
        Node,
    },
    options::{Api, ToolFormat},
};

const TOOLS: &str = "tools";

/// Member of a tool that the model does not see until it is found.
pub(crate) const DEFERRAL: &str = "defer_loading";

/// Members of an entry that may contain the definition of a tool, in any format.
pub(crate) const HOLDERS: [&str; 3] = ["function", "custom", "toolSpec"];

pub(crate) const fn holder(format: ToolFormat) -> Option<&'static str> {
    let [function, _, tool_spec] = HOLDERS;
    match format {
        ToolFormat::OpenaiChat => Some(function),
        ToolFormat::Bedrock => Some(tool_spec),
        _ => None,
    }
}

/// Members that APIs refuse in a request without tools, in every spelling.
pub(crate) fn members_beside_tools() -> Vec<&'static str> {
    let mut members = Vec::new();
    for member in ALL.iter().flat_map(|wire| wire.tools.members) {
        if *member != TOOLS && !members.contains(member) {
            members.push(*member);
        }
    }
    members
}

#[derive(Debug)]
pub(crate) struct ToolList {
    /// The API that defines the other members of the tools, such as flags.
    pub(super) family: Api,
    /// The formats of the tools. The last format is sent unless the API's dialect has another of these formats.
    pub(super) formats: &'static [ToolFormat],
    pub(super) has_namespaces: bool,
    /// Member of the request that contains the list; `None` if the list is a member of the request.
    pub(super) config: Option<&'static str>,
    pub(super) pointer: &'static str,
    /// Spellings of the member with which an entry groups functions; empty if every function is an entry.
    pub(super) groups: &'static [&'static str],
    /// Member of entries that are no tools.
    pub(super) no_tool: Option<&'static str>,
    /// Members that are removed with the last tool, because APIs refuse them without tools; gateways mix the spellings.
    pub(super) members: &'static [&'static str],
    pub(super) refuses_empty: bool,
    /// True if a function without the flag `strict` is strict.
    pub(super) is_strict: bool,
    /// True if the API refuses a list whose tools are all deferred, and references to tools that are not listed.
    pub(super) checks_deferral: bool,
    /// Member of a tool that ends a cached prefix.
    pub(super) cache: Option<&'static str>,
}

impl ToolList {
    /// Describes a list of functions that is a member of the request.
    pub(super) const fn flat(family: Api, formats: &'static [ToolFormat]) -> ToolList {
        ToolList {
            family,
            formats,
            has_namespaces: false,
            config: None,
            pointer: "/tools",
            groups: &[],
            no_tool: None,
            members: &["tools", "tool_choice", "parallel_tool_calls"],
            refuses_empty: false,
            is_strict: false,
            checks_deferral: false,
            cache: None,
        }
    }
}

/// Returns `None` for MCP, which is not a model API.
pub(crate) fn of_format(format: ToolFormat) -> Option<&'static Wire> {
    ALL.iter().copied().find(|wire| wire.tools.formats.contains(&format))
}

pub(crate) fn locations() -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    let all = ALL.iter().map(|wire| (wire.tools.config, wire.tools.pointer));
    let mut nested = all.clone().filter(|(config, _)| config.is_some());
    all.filter(|(config, _)| config.is_none()).take(1).chain(core::iter::from_fn(move || nested.next()))
}

impl ToolList {
    pub(crate) const fn family(&self) -> Api {
        self.family
    }

    /// `home` is the format of the API's dialect.
    pub(crate) fn format(&self, home: ToolFormat) -> ToolFormat {
        if self.formats.contains(&home) {
            return home;
        }
        self.formats.last().copied().unwrap_or(home)
    }

    pub(crate) const fn has_namespaces(&self) -> bool {
        self.has_namespaces
    }

    pub(crate) const fn pointer(&self) -> &'static str {
        self.pointer
    }

    pub(crate) const fn is_flat(&self) -> bool {
        self.config.is_none() && self.groups.is_empty()
    }

    pub(crate) const fn config(&self) -> Option<&'static str> {
        self.config
    }

    pub(crate) const fn groups(&self) -> &'static [&'static str] {
        self.groups
    }

    pub(crate) const fn members(&self) -> &'static [&'static str] {
        self.members
    }

    pub(crate) const fn refuses_empty(&self) -> bool {
        self.refuses_empty
    }

    pub(crate) const fn checks_deferral(&self) -> bool {
        self.checks_deferral
    }

    pub(crate) const fn has_others(&self) -> bool {
        self.no_tool.is_some()
    }

    pub(crate) const fn is_strict(&self) -> bool {
        self.is_strict
    }

    pub(crate) const fn cache(&self) -> Option<&'static str> {
        self.cache
    }

    pub(crate) fn is_tool(&self, entry: &Node<'_>) -> bool {
        self.no_tool.is_none_or(|key| entry.get(key).is_none())
    }

    pub(crate) fn look<'a, R>(
        &self,
        request: &Node<'a>,
        look: impl FnOnce(&Node<'a>) -> Result<R, Error>,
    ) -> Result<Option<R>, Error> {
        let look = |holder: &Node<'a>| holder.get(TOOLS).map(|tools| look(&*view(tools)?)).transpose();
        match self.config {
            None => look(request),
            Some(config) => request.get(config).map_or(Ok(None), |config| look(&*view(config)?)),
        }
    }

    pub(crate) fn edit<'a, R>(
        &self,
        request: &mut Node<'a>,
        change: impl FnOnce(&mut Node<'a>) -> Result<R, Error>,
    ) -> Result<Option<R>, Error> {
        match self.config {
            None => request.visit(TOOLS, change).transpose(),
            Some(config) => {
                edit_member(request, config, |config| config.visit(TOOLS, change).transpose()).map(Option::flatten)
            }
        }
    }

    pub(crate) fn remove(&self, request: &mut Node<'_>) {
        request.remove(self.config.unwrap_or(TOOLS));
    }

    /// Adds a function to the last group, or to the list if it has no group. Returns the pointer to the function.
    pub(crate) fn push<'a>(&self, request: &mut Node<'a>, function: Node<'a>) -> Result<String, Error> {
        let Some(key) = self.config else { return self.push_in(request, function) };
        let mut config = take(request, key)?.filter(|config| config.as_object().is_some());
        let at = self.push_in(config.get_or_insert_with(Node::empty_object), function)?;
        request.set(key, config.unwrap_or_default());
        Ok(format!("/{key}{at}"))
    }

    fn push_in<'a>(&self, holder: &mut Node<'a>, function: Node<'a>) -> Result<String, Error> {
        let mut tools = take(holder, TOOLS)?.unwrap_or_default();
        if tools.as_array().is_none() {
            tools = Node::array(Vec::new());
        }
        let list = tools.as_array().unwrap_or_default();
        let length = |node: &Node<'_>| node.as_array().map(<[Node<'_>]>::len);
        let group = |entry: &Node<'_>| self.groups.iter().find_map(|key| Some((*key, length(entry.get(*key)?)?)));
        let group = match self.groups {
            [] => None,
            _ => list.iter().enumerate().rev().find_map(|(at, entry)| Some((at, group(entry)?))),
        };
        let (count, first) = (list.len(), self.groups.first());
        let Some(list) = tools.as_array_mut() else { return Ok(String::new()) };
        let at = match (group, first) {
            (Some((at, (key, length))), _) => {
                let group = list.get_mut(at);
                group.and_then(|group| group.visit(key, |list| list.as_array_mut().map(|list| list.push(function))));
                format!("/{TOOLS}/{at}/{key}/{length}")
            }
            (None, Some(key)) => {
                list.push(Node::record([(*key, Node::array(Vec::from([function])))]));
                format!("/{TOOLS}/{count}/{key}/0")
            }
            (None, None) => {
                list.push(function);
                format!("/{TOOLS}/{count}")
            }
        };
        holder.set(TOOLS, tools);
        Ok(at)
    }
}
