//! The tools of a request: those that it lists, those that its history brings, and what the history does to them.
//!
//! Every request on the road has one, whatever its format and its target. A removal stands: a later search that finds
//! the tool does not bring it back, an addition does.

use alloc::{string::String, vec::Vec};

use super::{
    report::Warnings,
    tool::{self, Kind},
};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    options::{DeferredOptions, Mode},
};

/// Where the definition of a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// At this index of the request's list.
    Listed(usize),
    /// At this index of [`Tools::definitions`].
    Own(usize),
}

/// One tool, or another entry of a list of tools.
#[derive(Debug)]
pub(crate) struct Tool<'a> {
    /// Its flat name, unique among all tools; `None`: nothing can refer to it.
    pub(crate) name: Option<Text<'a>>,
    pub(crate) kind: Kind,
    /// Where its newest definition is.
    pub(crate) source: Source,
    /// It has the flag, or the history brings it.
    pub(crate) deferred: bool,
    /// The request lists it, or the history brings it before the first message.
    pub(crate) listed: bool,
    pub(crate) loaded: bool,
    /// It was removed, and nothing has added it since.
    pub(crate) withdrawn: bool,
    /// It was removed while it could be called, even if it was added again.
    pub(crate) was_gone: bool,
    /// The history brings another definition of it.
    pub(crate) redefined: bool,
    /// It could be called when an addition redefined it.
    pub(crate) redefined_in_sight: bool,
    /// The caller asks for it, so it stands in the list whatever the history says.
    pub(crate) is_wanted: bool,
}

impl Tool<'_> {
    /// Whether the model can call it once all changes of the history are applied.
    pub(crate) const fn is_available(&self) -> bool {
        !self.withdrawn && (self.loaded || !self.deferred)
    }

    /// Whether it is deferred and nothing loads it.
    pub(crate) const fn is_hidden(&self) -> bool {
        !self.withdrawn && self.deferred && !self.loaded
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, Kind::HostedSearch | Kind::ClientSearch)
    }

    /// Whether it is a function that the model can call to search for tools, by its name or by the options.
    pub(crate) fn searches(&self, options: &DeferredOptions) -> bool {
        self.is_available() && self.name.as_ref().is_some_and(|name| tool::searches(name, options))
    }
}

/// How the history brings a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Deferred, in `additional_tools`: as if the request listed it.
    Listed,
    /// In the result of a search or in a message of Kimi's: the first definition of a tool counts.
    Found,
    /// Visible, in `additional_tools`: it replaces the definition of a deferred tool.
    Visible,
    /// In a `tool_addition` of Anthropic's, which may redefine any tool.
    Added,
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A tool that can be called now.
    Loaded,
    /// A tool that was removed.
    Withdrawn,
    Unknown,
}

/// All tools of a request, by index and by name.
#[derive(Debug, Default)]
pub(crate) struct Tools<'a> {
    list: Vec<Tool<'a>>,
    index: Map<Text<'a>, usize>,
    /// The definitions that are not in the request's list.
    definitions: Vec<Node<'a>>,
    /// The loaded tools, in the order of their loads.
    loads: Vec<usize>,
    /// The names of hosted searches.
    searches: Set<Text<'a>>,
}

impl<'a> Tools<'a> {
    /// Takes in the list of a request, which stays there.
    pub(crate) fn read(list: &[Node<'a>], warnings: &mut Warnings) -> Self {
        let mut tools = Tools::default();
        for (place, definition) in list.iter().enumerate() {
            tools.list(definition, Source::Listed(place), warnings);
        }
        tools
    }

    /// Takes in a tool that was taken out of the request's list, or that the history brings before the first message.
    pub(crate) fn list_own(&mut self, definition: Node<'a>, warnings: &mut Warnings) {
        self.list(&definition, Source::Own(self.definitions.len()), warnings);
        self.definitions.push(definition);
    }

    /// Takes in an entry of a list. Of several with one name the first stays; one that is not deferred replaces the
    /// definition of one that is.
    fn list(&mut self, definition: &Node<'a>, source: Source, warnings: &mut Warnings) {
        let kind = tool::kind(definition);
        if kind == Kind::Tool && tool::is_placeholder(definition) {
            return;
        }
        let name = tool::name(definition).filter(|_| kind == Kind::Tool).cloned();
        let (deferred, is_odd) = tool::deferral(definition);
        if is_odd && kind == Kind::Tool {
            warnings.about_maybe("defer-loading-not-boolean", name.as_ref());
        }
        // A tool without a name cannot be loaded, so it cannot be hidden either.
        let deferred = deferred && name.is_some();
        if let Some(first) = name.as_ref().and_then(|name| self.get_mut(name)) {
            warnings.about_maybe("duplicate-tool-name", name.as_ref());
            if first.deferred && !deferred {
                (first.source, first.deferred) = (source, false);
            }
            return;
        }
        if kind == Kind::HostedSearch {
            self.searches.extend(tool::name(definition).cloned());
        }
        self.push(name, kind, source, deferred);
    }

    fn push(&mut self, name: Option<Text<'a>>, kind: Kind, source: Source, deferred: bool) {
        if let Some(name) = &name {
            self.index.insert(name.clone(), self.list.len());
        }
        self.list.push(Tool {
            name,
            kind,
            source,
            deferred,
            listed: true,
            loaded: false,
            withdrawn: false,
            was_gone: false,
            redefined: false,
            redefined_in_sight: false,
            is_wanted: false,
        });
    }

    /// Takes in a definition that the history brings. A tool that the request does not list is hidden until it is
    /// loaded. `listed` is the list of the request.
    pub(crate) fn bring(
        &mut self,
        definition: Node<'a>,
        arrival: Arrival,
        listed: &[Node<'a>],
        warnings: &mut Warnings,
    ) {
        let kind = tool::kind(&definition);
        let source = Source::Own(self.definitions.len());
        let name = tool::name(&definition).filter(|_| kind == Kind::Tool);
        let Some((name, at)) = name.map(|name| (name, self.place(name))) else {
            return self.list_own(definition, warnings);
        };
        let Some(at) = at else {
            self.push(Some(name.clone()), kind, source, true);
            if let Some(tool) = self.list.last_mut() {
                tool.listed = arrival == Arrival::Listed;
            }
            self.definitions.push(definition);
            return;
        };
        let known = self.list.get(at).and_then(|tool| self.definition_of(tool, listed));
        let is_same = known.is_some_and(|known| tool::is_same(known, &definition));
        let Some(tool) = self.list.get_mut(at) else { return };
        let may_replace = arrival == Arrival::Added || arrival == Arrival::Visible && tool.deferred;
        if may_replace && !is_same {
            warnings.about("redefined-tool", name.display());
            (tool.source, tool.redefined) = (source, true);
            self.definitions.push(definition);
        } else if !may_replace && (tool.listed && !tool.deferred || !tool.listed && !is_same) {
            warnings.about("duplicate-tool-name", name.display());
        }
    }

    /// The index of a tool by its name.
    fn place(&self, name: &Text<'_>) -> Option<usize> {
        // Keys borrow from the request, the name from anywhere: a shorter-lived view of the index compares both.
        let index: &Map<Text<'_>, usize> = &self.index;
        index.get(name).copied()
    }

    pub(crate) fn get(&self, name: &Text<'_>) -> Option<&Tool<'a>> {
        self.place(name).and_then(|at| self.list.get(at))
    }

    pub(crate) fn get_mut(&mut self, name: &Text<'_>) -> Option<&mut Tool<'a>> {
        let at = self.place(name)?;
        self.list.get_mut(at)
    }

    /// Whether there is a tool of that name, visible or not.
    pub(crate) fn knows(&self, name: &Text<'_>) -> bool {
        self.place(name).is_some()
    }

    /// Whether a name is that of a hosted search.
    pub(crate) fn is_search(&self, name: &Text<'_>) -> bool {
        let searches: &Set<Text<'_>> = &self.searches;
        searches.contains(name)
    }

    /// Whether there is a search that the API's own servers run.
    pub(crate) fn has_hosted_search(&self) -> bool {
        self.list.iter().any(|tool| tool.kind == Kind::HostedSearch)
    }

    pub(crate) fn iter(&self) -> core::slice::Iter<'_, Tool<'a>> {
        self.list.iter()
    }

    /// The tool at an index.
    pub(crate) fn at(&self, place: usize) -> Option<&Tool<'a>> {
        self.list.get(place)
    }

    /// Names the entry at an index, which had no name.
    pub(crate) fn name_at(&mut self, place: usize, name: Text<'a>) {
        if let Some(tool) = self.list.get_mut(place) {
            tool.name = Some(name.clone());
            self.index.insert(name, place);
        }
    }

    /// The newest definition of a tool. `listed` is the list of the request.
    pub(crate) fn definition_of<'n>(&'n self, tool: &Tool<'a>, listed: &'n [Node<'a>]) -> Option<&'n Node<'a>> {
        match tool.source {
            Source::Listed(place) => listed.get(place),
            Source::Own(place) => self.definitions.get(place),
        }
    }

    /// The tools and the definitions that are not in the request's list.
    pub(crate) fn into_parts(self) -> (Vec<Tool<'a>>, Vec<Node<'a>>) {
        (self.list, self.definitions)
    }

    // Changes that the history makes, in its order.

    /// Loads what the options ask for, before the first change of the history: with `order: "append"` the list only
    /// grows at its end.
    pub(crate) fn begin(&mut self, options: &DeferredOptions, warnings: &mut Warnings) {
        for name in &options.loaded_tools {
            let name = Text::new(name.as_str());
            if self.find(&name, warnings) == Found::Loaded {
                self.get_mut(&name).into_iter().for_each(|tool| tool.is_wanted = true);
            }
        }
        if options.mode == Mode::LoadAll {
            self.load_all();
        }
    }

    /// What a name refers to, without a load.
    pub(crate) fn state(&self, name: &Text<'_>) -> Found {
        match self.get(name) {
            Some(tool) if tool.withdrawn => Found::Withdrawn,
            Some(_) => Found::Loaded,
            None => Found::Unknown,
        }
    }

    /// Loads a tool that a result refers to, unless it was removed.
    pub(crate) fn find(&mut self, name: &Text<'_>, warnings: &mut Warnings) -> Found {
        let Some(at) = self.place(name) else {
            warnings.about("unknown-tool-reference", name.display());
            return Found::Unknown;
        };
        if self.list.get(at).is_some_and(|tool| tool.withdrawn) {
            return Found::Withdrawn;
        }
        self.load_at(at);
        Found::Loaded
    }

    /// Adds a tool that the client adds or adds again. Returns whether there is one of that name.
    pub(crate) fn add(&mut self, name: &Text<'_>, warnings: &mut Warnings) -> bool {
        let Some(at) = self.place(name) else {
            warnings.about("unknown-tool-reference", name.display());
            return false;
        };
        if let Some(tool) = self.list.get_mut(at) {
            tool.redefined_in_sight |= tool.redefined && tool.is_available();
            tool.withdrawn = false;
        }
        self.load_at(at);
        true
    }

    /// Removes a tool that the client removes.
    pub(crate) fn remove(&mut self, name: &Text<'_>, warnings: &mut Warnings) {
        match self.get_mut(name) {
            Some(tool) => {
                tool.was_gone |= tool.is_available();
                tool.withdrawn = true;
            }
            None => warnings.about("unknown-tool-reference", name.display()),
        }
    }

    /// Loads a tool that the model calls or that a choice forces.
    pub(crate) fn load(&mut self, name: &Text<'_>) {
        let at = self.place(name).filter(|at| self.list.get(*at).is_some_and(|tool| !tool.withdrawn));
        at.into_iter().for_each(|at| self.load_at(at));
    }

    fn load_at(&mut self, at: usize) {
        let Some(tool) = self.list.get_mut(at) else { return };
        if !core::mem::replace(&mut tool.loaded, true) && tool.deferred {
            self.loads.push(at);
        }
    }

    /// Loads every tool, in the order of the list whatever was loaded before: so the list is the same on every turn.
    /// Returns whether one was hidden until now.
    pub(crate) fn load_all(&mut self) -> bool {
        let is_new = self.list.iter().any(Tool::is_hidden);
        self.loads.clear();
        for (at, tool) in self.list.iter_mut().enumerate() {
            (tool.loaded, tool.is_wanted) = (true, true);
            if tool.deferred {
                self.loads.push(at);
            }
        }
        is_new
    }

    // Names and sizes for reports.

    /// The indices of the loaded tools, in the order of their loads.
    pub(crate) fn loads(&self) -> &[usize] {
        &self.loads
    }

    /// Every name, of visible tools and of others.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &Text<'a>> {
        self.list.iter().filter_map(|tool| tool.name.as_ref())
    }

    /// The names of the deferred tools that are loaded, in the order of their loads.
    pub(crate) fn loaded_names(&self) -> Vec<String> {
        let tools = self.loads.iter().filter_map(|at| self.list.get(*at)).filter(|tool| tool.is_available());
        tools.filter_map(|tool| tool.name.as_ref()).map(|name| name.display().into_owned()).collect()
    }

    fn hidden(&self) -> impl Iterator<Item = &Tool<'a>> {
        self.list.iter().filter(|tool| tool.is_hidden())
    }

    /// The names of the hidden tools, in order.
    pub(crate) fn hidden_names(&self) -> Vec<String> {
        self.hidden().filter_map(|tool| tool.name.as_ref()).map(|name| name.display().into_owned()).collect()
    }

    /// The names of all deferred tools, loaded or not, in order.
    pub(crate) fn deferred_names(&self) -> impl Iterator<Item = &Text<'a>> {
        let deferred = self.list.iter().filter(|tool| tool.deferred && tool.listed && !tool.withdrawn);
        deferred.filter_map(|tool| tool.name.as_ref())
    }

    /// What the hidden tools would take, in bytes of compact JSON.
    pub(crate) fn saved_bytes(&self, listed: &[Node<'a>]) -> usize {
        self.hidden().filter_map(|tool| self.definition_of(tool, listed)).map(tool::cost).sum()
    }
}
