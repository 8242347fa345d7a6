//! The tools of a request: which are visible, deferred, loaded, withdrawn; and the list that is sent in the end.

use alloc::{string::String, vec::Vec};

use super::{
    report::Warnings,
    tool::{self, Kind, Replaces},
};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    options::Order,
};

/// Where a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// In the request's list.
    Listed(usize),
    /// Among the definitions that the history brought.
    Brought(usize),
}

/// One tool.
#[derive(Debug)]
struct Entry<'a> {
    /// `None`: nobody can refer to it.
    name: Option<Text<'a>>,
    source: Source,
    /// An ordinary function takes its place.
    search: bool,
    deferred: bool,
    loaded: bool,
    /// Taken away by a `tool_removal`.
    withdrawn: bool,
}

impl Entry<'_> {
    fn visible(&self) -> bool {
        !self.withdrawn && (self.loaded || !self.deferred)
    }

    fn hidden(&self) -> bool {
        !self.withdrawn && self.deferred && !self.loaded
    }
}

/// Every tool once, by place and by name.
#[derive(Default)]
pub(super) struct Catalogue<'a> {
    entries: Vec<Entry<'a>>,
    index: Map<Text<'a>, usize>,
    brought: Vec<Node<'a>>,
    /// Names that the history gave another definition.
    pub(super) redefined: Set<Text<'a>>,
    /// Loaded tools in the order of their loads.
    loads: Vec<usize>,
    /// Names of hosted searches.
    searches: Set<Text<'a>>,
    /// A hosted search was there, and nothing takes its place.
    hosted: bool,
    toolsets: bool,
    /// How many tools the request lists.
    listed: usize,
    /// The function that stands for a search: which entry, and whether it stands for a hosted search, too.
    search: Option<usize>,
    emulate: bool,
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// In the list that is sent.
    Visible,
    /// Deferred and not loaded.
    Hidden,
    /// Known, but withdrawn.
    Withdrawn,
    /// The hosted search, which is gone.
    Search,
    /// Nothing of that name.
    Unknown,
}

impl<'a> Catalogue<'a> {
    /// Reads a tool list. With `emulate` a function stands for a hosted search, as one does for the caller's own.
    pub(super) fn read(tools: &[Node<'a>], emulate: bool, warnings: &mut Warnings) -> Self {
        let mut catalogue = Catalogue { listed: tools.len(), emulate, ..Catalogue::default() };
        for (place, tool) in tools.iter().enumerate() {
            let source = Source::Listed(place);
            match tool::kind(tool) {
                Kind::HostedSearch | Kind::ClientSearch => catalogue.search(tool, source),
                Kind::Toolset => {
                    catalogue.toolsets = true;
                    catalogue.add(source, None, false, warnings);
                    if tool::toolset_flags(tool).1 {
                        let label =
                            tool.get("mcp_server_name").or_else(|| tool.get("server_label")).and_then(Node::as_text);
                        warnings.about_maybe("mcp_toolset_defer_ignored", label);
                    }
                }
                Kind::Tool if tool::is_placeholder(tool) => {}
                Kind::Tool => {
                    let (deferred, odd) = tool::deferral(tool);
                    if odd {
                        warnings.about_maybe("defer_loading_not_boolean", tool::name(tool));
                    }
                    catalogue.add(source, tool::name(tool).cloned(), deferred, warnings);
                }
            }
        }
        catalogue
    }

    /// Takes a search in: as the function that stands for it, or as a hosted one that is lost.
    fn search(&mut self, tool: &Node<'a>, source: Source) {
        if tool::kind(tool) == Kind::HostedSearch {
            self.searches.extend(tool::name(tool).cloned());
            if !self.emulate {
                self.hosted = true;
                return;
            }
        }
        // The provider's two searches in one list are one search to a caller who has only this one.
        if self.search.is_none() {
            self.search = Some(self.entries.len());
            // Its name comes last, when all others are known.
            self.entries.push(Entry {
                name: None,
                source,
                search: true,
                deferred: false,
                loaded: false,
                withdrawn: false,
            });
        }
    }

    /// Names the function that stands for a search, if there is one. A tool that has the name already keeps it: the
    /// model would read the search's description, and its calls would go to that tool.
    pub(super) fn name_search(&mut self, wanted: &str, warnings: &mut Warnings) {
        let Some(at) = self.search else { return };
        let mut name = Text::new(String::from(wanted));
        let mut number = 2_u32;
        while self.knows(&name) {
            name = Text::new(alloc::format!("{wanted}_{number}"));
            number += 1;
        }
        if number > 2 {
            warnings.about("tool_search_renamed", name.display());
        }
        if let Some(entry) = self.entries.get_mut(at) {
            entry.name = Some(name.clone());
        }
        self.index.insert(name, at);
    }

    /// The name of the function that stands for a search, if one does.
    pub(super) fn search_function(&self) -> Option<String> {
        let entry = self.search.and_then(|at| self.entries.get(at)).filter(|entry| entry.visible())?;
        entry.name.as_ref().map(|name| name.display().into_owned())
    }

    /// Takes one tool in. Of several with one name, one definition stands at the first one's place.
    fn add(&mut self, source: Source, name: Option<Text<'a>>, deferred: bool, warnings: &mut Warnings) {
        // A tool that nobody can refer to cannot be loaded, so it cannot be hidden either.
        let deferred = deferred && name.is_some();
        if let Some(name) = &name {
            if let Some(first) = self.index.get(name).and_then(|at| self.entries.get_mut(*at)) {
                warnings.about("duplicate_tool_name", name.display());
                if first.deferred && !deferred {
                    (first.source, first.deferred) = (source, false);
                }
                return;
            }
            self.index.insert(name.clone(), self.entries.len());
        }
        self.entries.push(Entry { name, source, search: false, deferred, loaded: false, withdrawn: false });
    }

    /// Takes in a definition that the history brought, to be loaded like a deferred one, with the request's own list.
    pub(super) fn bring(
        &mut self,
        definition: Node<'a>,
        replaces: Replaces,
        tools: &[Node<'a>],
        warnings: &mut Warnings,
    ) {
        let source = Source::Brought(self.brought.len());
        match tool::kind(&definition) {
            Kind::HostedSearch | Kind::ClientSearch => self.search(&definition, source),
            Kind::Toolset => {
                self.toolsets = true;
                self.add(source, None, false, warnings);
            }
            Kind::Tool => match tool::name(&definition) {
                None => self.add(source, None, false, warnings),
                Some(name) => match self.place(name).and_then(|at| self.entries.get(at)) {
                    Some(entry) if replaces.takes(entry.deferred) => {
                        if self.node(entry, tools).is_none_or(|old| !tool::is_same(old, &definition)) {
                            warnings.about("redefined_tool", name.display());
                            self.redefined.insert(name.clone());
                        } else if !entry.deferred {
                            return;
                        }
                        if let Some(entry) = self.place(name).and_then(|at| self.entries.get_mut(at)) {
                            entry.source = source;
                        }
                    }
                    Some(_) => return,
                    None => self.add(source, Some(name.clone()), true, warnings),
                },
            },
        }
        self.brought.push(definition);
    }

    /// The definition behind a name.
    pub(super) fn definition<'n>(&'n self, name: &Text<'_>, tools: &'n [Node<'a>]) -> Option<&'n Node<'a>> {
        self.place(name).and_then(|at| self.entries.get(at)).and_then(|entry| self.node(entry, tools))
    }

    fn node<'n>(&'n self, entry: &Entry<'a>, tools: &'n [Node<'a>]) -> Option<&'n Node<'a>> {
        match entry.source {
            Source::Listed(place) => tools.get(place),
            Source::Brought(place) => self.brought.get(place),
        }
    }

    fn place(&self, name: &Text<'_>) -> Option<usize> {
        // Keys borrow from the request, the name from anywhere: a shorter-lived view of the index compares both.
        let index: &Map<Text<'_>, usize> = &self.index;
        index.get(name).copied()
    }

    /// Where JSON Pointer errors about a tool's definition point.
    pub(super) fn pointer(&self, name: &Text<'_>) -> String {
        match self.place(name).and_then(|at| self.entries.get(at)).map(|entry| entry.source) {
            Some(Source::Listed(place)) => alloc::format!("/tools/{place}"),
            _ => String::new(),
        }
    }

    /// Whether there is a tool of that name, visible or not.
    pub(super) fn knows(&self, name: &Text<'_>) -> bool {
        self.place(name).is_some()
    }

    /// What becomes of a tool of that name.
    pub(super) fn standing(&self, name: &Text<'_>) -> Standing {
        match self.place(name).and_then(|at| self.entries.get(at)) {
            Some(entry) if entry.visible() => Standing::Visible,
            Some(entry) if entry.hidden() => Standing::Hidden,
            Some(_) => Standing::Withdrawn,
            None if self.is_search(name) => Standing::Search,
            None => Standing::Unknown,
        }
    }

    /// Whether tools may exist that the request does not list.
    pub(super) fn has_toolsets(&self) -> bool {
        self.toolsets
    }

    /// Whether there are no tools at all, and never were.
    pub(super) fn is_empty(&self) -> bool {
        self.listed == 0 && self.entries.is_empty()
    }

    /// Whether the function that stands for a search stands for one that the caller runs.
    pub(super) fn is_client_search(&self, tools: &[Node<'a>]) -> bool {
        let entry = self.search.and_then(|at| self.entries.get(at));
        entry.and_then(|entry| self.node(entry, tools)).is_some_and(|search| tool::kind(search) == Kind::ClientSearch)
    }

    /// Whether a hosted search was in the list and nothing takes its place.
    pub(super) fn lost_search(&self) -> bool {
        self.hosted
    }

    /// Whether a name is that of a hosted search.
    pub(super) fn is_search(&self, name: &Text<'_>) -> bool {
        let searches: &Set<Text<'_>> = &self.searches;
        searches.contains(name)
    }

    /// Loads a tool, if it is a deferred one.
    pub(super) fn load(&mut self, name: &Text<'_>) {
        let Some(at) = self.place(name) else { return };
        if let Some(entry) = self.entries.get_mut(at) {
            if entry.deferred && !entry.loaded {
                entry.loaded = true;
                self.loads.push(at);
            }
        }
    }

    /// Takes a tool away, or gives it back.
    pub(super) fn withdraw(&mut self, name: &Text<'_>, withdrawn: bool, warnings: &mut Warnings) {
        if let Some(entry) = self.place(name).and_then(|at| self.entries.get_mut(at)) {
            if withdrawn && entry.visible() {
                warnings.about("prefix_changed", name.display());
            }
            entry.withdrawn = withdrawn;
        }
    }

    /// Loads every deferred tool, in the order of the catalogue whatever was loaded before: so the list is the same on
    /// every turn. Gives whether one was hidden until now.
    pub(super) fn load_all(&mut self) -> bool {
        let new = self.entries.iter().any(Entry::hidden);
        self.loads.clear();
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if entry.deferred {
                entry.loaded = true;
                self.loads.push(at);
            }
        }
        new
    }

    /// Every name there is, of visible tools and of others.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &Text<'a>> {
        self.entries.iter().filter_map(|entry| entry.name.as_ref())
    }

    /// The names of the loaded tools, in the order of their loads.
    pub(super) fn loaded(&self) -> Vec<String> {
        let entries = self.loads.iter().filter_map(|at| self.entries.get(*at));
        entries
            .filter(|entry| entry.visible())
            .filter_map(|entry| entry.name.as_ref())
            .map(|name| name.display().into_owned())
            .collect()
    }

    /// The names of the hidden tools, in order.
    pub(super) fn hidden(&self) -> Vec<String> {
        let entries = self.entries.iter().filter(|entry| entry.hidden());
        entries.filter_map(|entry| entry.name.as_ref()).map(|name| name.display().into_owned()).collect()
    }

    /// The names of all deferred tools, loaded or not, in order.
    pub(super) fn deferred(&self) -> impl Iterator<Item = &Text<'a>> {
        self.entries.iter().filter(|entry| entry.deferred && !entry.withdrawn).filter_map(|entry| entry.name.as_ref())
    }

    /// What the hidden tools would have cost.
    pub(super) fn saved_bytes(&self, tools: &[Node<'a>]) -> usize {
        let mut scratch = String::new();
        let hidden = self.entries.iter().filter(|entry| entry.hidden());
        hidden.filter_map(|entry| self.node(entry, tools)).map(|tool| tool::cost(tool, &mut scratch)).sum()
    }

    /// Whether the model can search: a search is visible, by its kind or by its name.
    pub(super) fn search_visible(&self) -> bool {
        self.entries
            .iter()
            .filter(|entry| entry.visible())
            .any(|entry| entry.search || entry.name.as_ref().is_some_and(tool::names_a_search))
    }

    /// What is sent, in order.
    fn plan(&self, order: Order) -> Vec<usize> {
        let visible = |at: &usize| self.entries.get(*at).is_some_and(Entry::visible);
        match order {
            Order::Catalog => (0..self.entries.len()).filter(visible).collect(),
            Order::Append => {
                let standing = |at: &usize| self.entries.get(*at).is_some_and(|entry| !entry.deferred);
                (0..self.entries.len())
                    .filter(visible)
                    .filter(standing)
                    .chain(self.loads.iter().copied().filter(visible))
                    .collect()
            }
        }
    }

    /// Whether anything is visible.
    pub(super) fn any_visible(&self) -> bool {
        self.entries.iter().any(Entry::visible)
    }

    /// The definitions that are sent, in order, as they came; `true` for one that is of a search, for which a function
    /// stands.
    pub(super) fn sent<'n>(
        &'n self,
        tools: &'n [Node<'a>],
        order: Order,
    ) -> impl Iterator<Item = (&'n Node<'a>, bool)> {
        let entries = self.plan(order).into_iter().filter_map(|at| self.entries.get(at));
        entries.filter_map(move |entry| Some((self.node(entry, tools)?, entry.search)))
    }

    /// Turns the request's list into what is sent. Entries that are sent as they came are not touched, and neither is
    /// the list if all are. `search` writes the function that stands for a search.
    pub(super) fn settle(self, tools: &mut Node<'a>, order: Order, search: impl Fn(&Node<'a>) -> Node<'a>) {
        let plan = self.plan(order);
        let entries = &self.entries;
        let as_listed = plan.len() == self.listed
            && plan.iter().enumerate().all(|(place, at)| {
                entries.get(*at).is_some_and(|entry| entry.source == Source::Listed(place) && !entry.search)
            });
        if as_listed && tools.as_array().is_some() {
            let mut deferred = plan.iter().map(|at| entries.get(*at).is_some_and(|entry| entry.deferred));
            let _ = tools.visit_children(|_, tool| {
                settle_one(tool, deferred.next() == Some(true));
                Ok::<(), core::convert::Infallible>(())
            });
            return;
        }
        let mut listed: Vec<Option<Node<'a>>> = match tools.as_array_mut() {
            Some(items) => core::mem::take(items).into_iter().map(Some).collect(),
            None => Vec::new(),
        };
        let mut brought: Vec<Option<Node<'a>>> = self.brought.into_iter().map(Some).collect();
        let mut settled = Vec::with_capacity(plan.len());
        for entry in plan.iter().filter_map(|at| entries.get(*at)) {
            let taken = match entry.source {
                Source::Listed(place) => listed.get_mut(place),
                Source::Brought(place) => brought.get_mut(place),
            };
            let Some(mut tool) = taken.and_then(Option::take) else { continue };
            if entry.search {
                tool = search(&tool);
            } else {
                settle_one(&mut tool, entry.deferred);
            }
            settled.push(tool);
        }
        tools.replace(crate::json::Data::Array(settled));
    }
}

/// Cleans one tool. A nameless one that was flagged counts as formerly deferred, too.
fn settle_one(tool: &mut Node<'_>, deferred: bool) {
    let deferred = deferred || tool::deferral(tool).0 && tool::kind(tool) == Kind::Tool;
    tool::clean(tool, deferred);
}
