//! The tools of a request: the tools of its list and the tools that its history adds. Applies the changes that the
//! history makes to them.
//!
//! A tool is *deferred* if the model does not see it at first. It is *loaded* once the history or the caller shows it
//! to the model. It is *hidden* if it is deferred and not loaded. It is *available* if the model may call it.
//!
//! Every request that is converted has a [`Tools`], regardless of its format and target. A removed tool remains removed
//! even if a later search finds it; only an addition restores it.

use alloc::{string::String, vec::Vec};

use super::{
    location::Location,
    origins::{EntryOrigin, GivenShape},
    report::Warnings,
    tool::{self, Kind},
};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    options::{Api, DeferredOptions, Mode},
    wire::{self, additions::Additions},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Index in the request's list.
    Listed(usize),
    /// Index in [`Tools::definitions`].
    Defined(usize),
}

#[derive(Debug)]
pub(crate) struct Tool<'a> {
    /// Flat name, unique among all tools; `None` if nothing can refer to the entry.
    pub(crate) name: Option<Text<'a>>,
    pub(crate) kind: Kind,
    /// Location of the newest definition.
    pub(crate) source: Source,
    /// The newest definition in the given request, if its location is known.
    pub(crate) origin: Option<Location>,
    /// The shape of the newest definition in the given request, if the definition was converted later.
    pub(crate) given_shape: Option<GivenShape>,
    /// True if the tool has the flag `defer_loading`, or if only the history defines it.
    pub(crate) deferred: bool,
    /// True if the request lists the tool, or if the history adds it before the first message.
    pub(crate) listed: bool,
    pub(crate) loaded: bool,
    /// True if the tool was removed and not added again.
    pub(crate) is_removed: bool,
    /// True if the tool was removed while it was available, even if it was added again later.
    pub(crate) was_removed_while_available: bool,
    /// True if the history contains a different definition of the tool.
    pub(crate) redefined: bool,
    /// True if an addition redefined the tool while it was available.
    pub(crate) redefined_while_available: bool,
    /// True if the caller's options load the tool, so it is in the list regardless of the history.
    pub(crate) is_wanted: bool,
}

impl Tool<'_> {
    pub(crate) const fn is_available(&self) -> bool {
        !self.is_removed && (self.loaded || !self.deferred)
    }

    pub(crate) const fn is_hidden(&self) -> bool {
        !self.is_removed && self.deferred && !self.loaded
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, Kind::HostedSearch | Kind::ClientSearch)
    }

    pub(crate) fn searches(&self, options: &DeferredOptions) -> bool {
        self.is_available() && self.name.as_ref().is_some_and(|name| tool::searches(name, options))
    }
}

/// The construct that defines a tool in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// `additional_tools`, deferred: treated as listed by the request.
    Listed,
    /// A search result or a Kimi message: the first definition of the tool applies.
    Found,
    /// `additional_tools`, not deferred: replaces the definition of a deferred tool.
    Visible,
    /// An Anthropic `tool_addition`, which may redefine any tool.
    Added,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolState {
    Loaded,
    Removed,
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Tools<'a> {
    list: Vec<Tool<'a>>,
    index: Map<Text<'a>, usize>,
    /// Definitions that are not in the request's list.
    definitions: Vec<Node<'a>>,
    /// Indices of the loaded deferred tools, in load order.
    load_order: Vec<usize>,
    /// Names of hosted searches.
    searches: Set<Text<'a>>,
    /// Names of the client's own searches in Gemini Interactions. No other tool may use these names, because the client
    /// would run its search for calls to that tool.
    client_searches: Set<Text<'a>>,
    /// True if a definition was dropped because it has the name of a search.
    has_dropped_definition: bool,
}

impl<'a> Tools<'a> {
    /// Reads the tools of a list. The definitions stay in the request. If the list was rewritten before, `origins`
    /// contains the origins of its entries.
    pub(crate) fn read(list: &[Node<'a>], origins: Option<&[EntryOrigin]>, api: Api, warnings: &mut Warnings) -> Self {
        let mut tools = Tools::default();
        // In Responses, the model calls searches by their type.
        if matches!(wire::of(api).additions(), Additions::Results { .. }) {
            let client_searches = list.iter().filter(|definition| tool::kind(definition) == Kind::ClientSearch);
            tools.client_searches.extend(client_searches.filter_map(tool::name).cloned());
        }
        for (index, definition) in list.iter().enumerate() {
            let origin = origins.map(|origins| origins.get(index).copied().unwrap_or_default());
            let location = match origin {
                Some(origin) => origin.location,
                None => Some(Location::of_list().index(index)),
            };
            tools.add_listed(definition, (Source::Listed(index), location), warnings);
            let shapes = origin.and_then(|origin| origin.shapes);
            let added_tool = tools.list.last_mut().filter(|tool| tool.source == Source::Listed(index));
            added_tool.into_iter().for_each(|tool| tool.given_shape = shapes.map(|(given, _)| given));
        }
        warnings.clear_location();
        tools
    }

    /// Adds a tool that was removed from the request's list, or that the history adds before the first message.
    pub(crate) fn add_to_list(&mut self, definition: Node<'a>, origin: Option<Location>, warnings: &mut Warnings) {
        self.add_listed(&definition, (Source::Defined(self.definitions.len()), origin), warnings);
        self.definitions.push(definition);
        warnings.clear_location();
    }

    /// Adds a tool of the list. If several entries have one name, the first entry remains. If the first entry is
    /// deferred and a later entry is not, the first entry gets the later definition.
    fn add_listed(
        &mut self,
        definition: &Node<'a>,
        (source, origin): (Source, Option<Location>),
        warnings: &mut Warnings,
    ) {
        warnings.set_origin(origin);
        let kind = tool::kind(definition);
        if kind == Kind::Tool && tool::is_placeholder(definition) {
            return;
        }
        let name = tool::name(definition).filter(|_| kind == Kind::Tool).cloned();
        if let Some(name) = name.as_ref().filter(|name| self.is_client_search(name)) {
            self.drop_definition(name, warnings);
            return;
        }
        let (deferred, has_invalid_flag) = tool::deferral(definition);
        if has_invalid_flag && kind == Kind::Tool {
            warnings.warn_optional_name("defer-loading-not-boolean", name.as_ref());
        }
        // A tool without a name cannot be loaded, so it must not be hidden.
        let deferred = deferred && name.is_some();
        if let Some(first) = name.as_ref().and_then(|name| self.get_mut(name)) {
            if first.deferred && !deferred {
                // The first definition is not sent.
                warnings.set_origin(first.origin);
                (first.source, first.origin, first.deferred) = (source, origin, false);
            }
            warnings.warn_optional_name("duplicate-tool-name", name.as_ref());
            return;
        }
        if kind == Kind::HostedSearch {
            self.searches.extend(tool::name(definition).cloned());
        }
        self.push_tool(name, kind, (source, origin), deferred);
    }

    fn push_tool(
        &mut self,
        name: Option<Text<'a>>,
        kind: Kind,
        (source, origin): (Source, Option<Location>),
        deferred: bool,
    ) {
        if let Some(name) = &name {
            self.index.insert(name.clone(), self.list.len());
        }
        self.list.push(Tool {
            name,
            kind,
            source,
            origin,
            given_shape: None,
            deferred,
            listed: true,
            loaded: false,
            is_removed: false,
            was_removed_while_available: false,
            redefined: false,
            redefined_while_available: false,
            is_wanted: false,
        });
    }

    /// Adds a definition in the history. A tool that the request does not list remains hidden until it is loaded.
    /// `listed` is the request's list.
    pub(crate) fn add_definition(
        &mut self,
        definition: Node<'a>,
        (arrival, origin): (Arrival, Location),
        listed: &[Node<'a>],
        warnings: &mut Warnings,
    ) {
        let origin = Some(origin);
        let kind = tool::kind(&definition);
        let source = Source::Defined(self.definitions.len());
        let name = tool::name(&definition).filter(|_| kind == Kind::Tool);
        let Some((name, at)) = name.map(|name| (name, self.index_of(name))) else {
            return self.add_to_list(definition, origin, warnings);
        };
        let Some(at) = at else {
            self.push_tool(Some(name.clone()), kind, (source, origin), true);
            if let Some(tool) = self.list.last_mut() {
                tool.listed = arrival == Arrival::Listed;
            }
            self.definitions.push(definition);
            return;
        };
        let previous = self.list.get(at).and_then(|tool| self.definition_of(tool, listed));
        let is_same = previous.is_some_and(|previous| tool::is_same(previous, &definition));
        let Some(tool) = self.list.get_mut(at) else { return };
        let may_replace = arrival == Arrival::Added || arrival == Arrival::Visible && tool.deferred;
        warnings.set_origin(origin);
        if may_replace && !is_same {
            warnings.warn_named("redefined-tool", name.display());
            (tool.source, tool.origin, tool.redefined) = (source, origin, true);
            self.definitions.push(definition);
        } else if !may_replace && (tool.listed && !tool.deferred || !tool.listed && !is_same) {
            warnings.warn_named("duplicate-tool-name", name.display());
        }
        warnings.clear_location();
    }

    fn index_of(&self, name: &Text<'_>) -> Option<usize> {
        // The keys borrow from the request, but the name does not. The annotation shortens the lifetime of the keys.
        let index: &Map<Text<'_>, usize> = &self.index;
        index.get(name).copied()
    }

    pub(crate) fn get(&self, name: &Text<'_>) -> Option<&Tool<'a>> {
        self.index_of(name).and_then(|at| self.list.get(at))
    }

    pub(crate) fn get_mut(&mut self, name: &Text<'_>) -> Option<&mut Tool<'a>> {
        let at = self.index_of(name)?;
        self.list.get_mut(at)
    }

    pub(crate) fn knows(&self, name: &Text<'_>) -> bool {
        self.index_of(name).is_some()
    }

    pub(crate) fn is_client_search(&self, name: &Text<'_>) -> bool {
        let searches: &Set<Text<'_>> = &self.client_searches;
        searches.contains(name)
    }

    pub(crate) fn drop_definition(&mut self, name: &Text<'_>, warnings: &mut Warnings) {
        warnings.warn_named("duplicate-tool-name", name.display());
        self.has_dropped_definition = true;
    }

    pub(crate) const fn has_dropped_definition(&self) -> bool {
        self.has_dropped_definition
    }

    pub(crate) fn is_search(&self, name: &Text<'_>) -> bool {
        let searches: &Set<Text<'_>> = &self.searches;
        searches.contains(name)
    }

    pub(crate) fn has_hosted_search(&self) -> bool {
        self.list.iter().any(|tool| tool.kind == Kind::HostedSearch)
    }

    pub(crate) fn iter(&self) -> core::slice::Iter<'_, Tool<'a>> {
        self.list.iter()
    }

    pub(crate) fn get_at(&self, index: usize) -> Option<&Tool<'a>> {
        self.list.get(index)
    }

    pub(crate) fn set_name(&mut self, index: usize, name: Text<'a>) {
        if let Some(tool) = self.list.get_mut(index) {
            tool.name = Some(name.clone());
            self.index.insert(name, index);
        }
    }

    pub(crate) fn definition_of<'n>(&'n self, tool: &Tool<'a>, listed: &'n [Node<'a>]) -> Option<&'n Node<'a>> {
        match tool.source {
            Source::Listed(index) => listed.get(index),
            Source::Defined(index) => self.definitions.get(index),
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Tool<'a>>, Vec<Node<'a>>) {
        (self.list, self.definitions)
    }

    // The functions below apply changes of the history, in its order.

    /// Loads the tools that the options name. Must be called before the history is applied, so that the list only grows
    /// at its end with `order: "append"`.
    pub(crate) fn load_by_options(&mut self, options: &DeferredOptions, warnings: &mut Warnings) {
        for name in &options.loaded_tools {
            let name = Text::new(name.as_str());
            if self.load_referenced(&name, warnings) == ToolState::Loaded {
                self.get_mut(&name).into_iter().for_each(|tool| tool.is_wanted = true);
            }
        }
        if options.mode == Mode::LoadAll {
            self.load_all();
        }
    }

    pub(crate) fn state_of(&self, name: &Text<'_>) -> ToolState {
        match self.get(name) {
            Some(tool) if tool.is_removed => ToolState::Removed,
            Some(_) => ToolState::Loaded,
            None => ToolState::Unknown,
        }
    }

    /// Loads the tool that a search result names, unless the tool was removed.
    pub(crate) fn load_referenced(&mut self, name: &Text<'_>, warnings: &mut Warnings) -> ToolState {
        let Some(at) = self.index_of(name) else {
            warnings.warn_named("unknown-tool-reference", name.display());
            return ToolState::Unknown;
        };
        if self.list.get(at).is_some_and(|tool| tool.is_removed) {
            return ToolState::Removed;
        }
        self.load_at(at);
        ToolState::Loaded
    }

    /// Loads the tool that the client adds, even if it was removed before. Returns true if the name is known.
    pub(crate) fn load_added(&mut self, name: &Text<'_>, warnings: &mut Warnings) -> bool {
        let Some(at) = self.index_of(name) else {
            warnings.warn_named("unknown-tool-reference", name.display());
            return false;
        };
        if let Some(tool) = self.list.get_mut(at) {
            tool.redefined_while_available |= tool.redefined && tool.is_available();
            tool.is_removed = false;
        }
        self.load_at(at);
        true
    }

    pub(crate) fn remove(&mut self, name: &Text<'_>, warnings: &mut Warnings) {
        match self.get_mut(name) {
            Some(tool) => {
                tool.was_removed_while_available |= tool.is_available();
                tool.is_removed = true;
            }
            None => warnings.warn_named("unknown-tool-reference", name.display()),
        }
    }

    pub(crate) fn load_called(&mut self, name: &Text<'_>) {
        let at = self.index_of(name).filter(|at| self.list.get(*at).is_some_and(|tool| !tool.is_removed));
        at.into_iter().for_each(|at| self.load_at(at));
    }

    fn load_at(&mut self, at: usize) {
        let Some(tool) = self.list.get_mut(at) else { return };
        if !core::mem::replace(&mut tool.loaded, true) && tool.deferred {
            self.load_order.push(at);
        }
    }

    /// Loads every tool in list order, regardless of earlier loads, so that the list does not change between turns.
    /// Returns true if a tool was hidden until now.
    pub(crate) fn load_all(&mut self) -> bool {
        let is_new = self.list.iter().any(Tool::is_hidden);
        self.load_order.clear();
        for (at, tool) in self.list.iter_mut().enumerate() {
            (tool.loaded, tool.is_wanted) = (true, true);
            if tool.deferred {
                self.load_order.push(at);
            }
        }
        is_new
    }

    // The functions below return names and sizes for reports.

    pub(crate) fn load_order(&self) -> &[usize] {
        &self.load_order
    }

    pub(crate) fn all_names(&self) -> impl Iterator<Item = &Text<'a>> {
        self.list.iter().filter_map(|tool| tool.name.as_ref())
    }

    pub(crate) fn loaded_names(&self) -> Vec<String> {
        let tools = self.load_order.iter().filter_map(|at| self.list.get(*at)).filter(|tool| tool.is_available());
        tools.filter_map(|tool| tool.name.as_ref()).map(|name| name.display().into_owned()).collect()
    }

    fn hidden_tools(&self) -> impl Iterator<Item = &Tool<'a>> {
        self.list.iter().filter(|tool| tool.is_hidden())
    }

    pub(crate) fn hidden_names(&self) -> Vec<String> {
        self.hidden_tools().filter_map(|tool| tool.name.as_ref()).map(|name| name.display().into_owned()).collect()
    }

    pub(crate) fn deferred_names(&self) -> impl Iterator<Item = &Text<'a>> {
        let deferred = self.list.iter().filter(|tool| tool.deferred && tool.listed && !tool.is_removed);
        deferred.filter_map(|tool| tool.name.as_ref())
    }

    pub(crate) fn saved_bytes(&self, listed: &[Node<'a>]) -> usize {
        self.hidden_tools().filter_map(|tool| self.definition_of(tool, listed)).map(tool::cost).sum()
    }
}
