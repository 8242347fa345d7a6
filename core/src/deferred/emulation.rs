//! The tool list for an API without deferred tools: the visible tools, and a function that replaces the tool search.

use alloc::{format, string::String, vec::Vec};

use crate::{
    json::{Data, Node, Text},
    options::{DeferredOptions, Order},
    request::{
        report::Warnings,
        tool::{self, Kind},
        tools::{Source, Tool, Tools},
    },
};

/// The tools of a request whose deferral is emulated.
#[derive(Default)]
pub(super) struct Emulation<'a> {
    pub(super) tools: Tools<'a>,
    /// Number of entries in the request's list.
    listed: usize,
    /// Index of the tool search that a function replaces.
    search: Option<usize>,
    /// True if a function replaces a hosted search as well as the client's own search.
    emulates_search: bool,
}

/// State of the tool with a given name after the history is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// A tool in the list that is sent.
    Visible,
    /// A deferred tool that is not loaded.
    Hidden,
    /// A tool that was removed.
    Removed,
    /// The hosted search, which is not sent.
    Search,
    Unknown,
}

impl<'a> Emulation<'a> {
    /// Wraps the tools of a request whose list has `listed` entries.
    pub(super) fn new(tools: Tools<'a>, listed: usize, emulates_search: bool) -> Self {
        Emulation { tools, listed, search: None, emulates_search }
    }

    /// Chooses the tool search that a function replaces, and names that function. All tools have to be known, because a
    /// tool that already has the name keeps it: otherwise the model would read the description of the search and call
    /// that tool. One function replaces all searches of a list.
    pub(super) fn name_search(&mut self, wanted: &str, warnings: &mut Warnings) {
        let is_replaced = |tool: &Tool<'_>| {
            tool.kind == Kind::ClientSearch || tool.kind == Kind::HostedSearch && self.emulates_search
        };
        let Some(at) = self.tools.iter().position(is_replaced) else { return };
        let mut name = Text::new(String::from(wanted));
        let mut number = 2_u32;
        while self.tools.knows(&name) {
            name = Text::new(format!("{wanted}_{number}"));
            number += 1;
        }
        if number > 2 {
            warnings.about("tool-search-renamed", name.display());
        }
        self.tools.name_at(at, name);
        self.search = Some(at);
    }

    /// Returns the tool search that a function replaces.
    fn search(&self) -> Option<&Tool<'a>> {
        self.search.and_then(|at| self.tools.at(at))
    }

    /// Returns the name of the function that replaces a tool search.
    pub(super) fn search_function(&self) -> Option<String> {
        let search = self.search().filter(|search| search.is_available())?;
        search.name.as_ref().map(|name| name.display().into_owned())
    }

    /// Returns true if the function replaces a search that the client runs.
    pub(super) fn is_client_search(&self) -> bool {
        self.search().is_some_and(|search| search.kind == Kind::ClientSearch)
    }

    /// Returns true if the request lists a hosted search that no function replaces.
    pub(super) fn lost_search(&self) -> bool {
        !self.emulates_search && self.tools.has_hosted_search()
    }

    /// Returns true if a tool that is sent can search for tools.
    pub(super) fn can_search(&self, options: &DeferredOptions) -> bool {
        self.search_function().is_some() || self.tools.iter().any(|tool| !tool.is_search() && tool.searches(options))
    }

    pub(super) fn availability(&self, name: &Text<'_>) -> Availability {
        match self.tools.get(name) {
            Some(tool) if tool.is_available() => Availability::Visible,
            Some(tool) if tool.is_hidden() => Availability::Hidden,
            Some(_) => Availability::Removed,
            None if self.tools.is_search(name) => Availability::Search,
            None => Availability::Unknown,
        }
    }

    /// Returns true if tools may exist that the request does not list.
    pub(super) fn has_toolsets(&self) -> bool {
        self.tools.iter().any(|tool| tool.kind == Kind::Toolset)
    }

    /// Returns true if neither the request nor its history has a tool.
    pub(super) fn is_empty(&self) -> bool {
        self.listed == 0 && self.tools.iter().next().is_none()
    }

    /// Warns about tools whose change invalidates the prompt cache of earlier requests.
    pub(super) fn warn_of_prefix(&self, warnings: &mut Warnings) {
        for tool in self.tools.iter().filter(|tool| tool.was_gone || tool.redefined_in_sight) {
            warnings.about_maybe("prefix-changed", tool.name.as_ref());
        }
    }

    /// Returns the JSON pointer to a tool's definition in the request, for errors.
    pub(super) fn pointer(&self, name: &Text<'_>) -> String {
        match self.tools.get(name).map(|tool| tool.source) {
            Some(Source::Listed(place)) => format!("/tools/{place}"),
            _ => String::new(),
        }
    }

    /// Returns the indices of the tools that are sent, in order.
    fn plan(&self, order: Order) -> Vec<usize> {
        let is_sent = |at: &usize| {
            self.tools
                .at(*at)
                .is_some_and(|tool| tool.is_available() && (!tool.is_search() || self.search == Some(*at)))
        };
        let all = 0..self.tools.iter().len();
        match order {
            Order::Catalog => all.filter(is_sent).collect(),
            Order::Append => {
                let is_standing = |at: &usize| self.tools.at(*at).is_some_and(|tool| !tool.deferred);
                let loads = self.tools.loads().iter().copied();
                all.filter(is_standing).chain(loads).filter(is_sent).collect()
            }
        }
    }

    /// Returns the definitions that are sent, in order and unchanged, each with a flag that is true for a search that a
    /// function replaces.
    pub(super) fn sent<'n>(&'n self, listed: &'n [Node<'a>], order: Order) -> Vec<(&'n Node<'a>, bool)> {
        let sent = self.plan(order).into_iter().filter_map(|at| self.tools.at(at));
        sent.filter_map(|tool| Some((self.tools.definition_of(tool, listed)?, tool.is_search()))).collect()
    }

    /// Replaces the request's list with the tools that are sent. Entries that are sent unchanged are not touched, and
    /// neither is the list if all are unchanged. `function` writes the function that replaces a search.
    pub(super) fn settle(self, request: &mut Node<'a>, order: Order, function: impl Fn(&Node<'a>) -> Node<'a>) {
        let plan = self.plan(order);
        if request.get("tools").is_none() {
            if plan.is_empty() {
                return;
            }
            // The history may add tools to a request that lists none.
            if let Some(object) = request.as_object_mut() {
                object.set("tools", Node::array(Vec::new()));
            }
        }
        request.visit("tools", |tools| self.settle_list(tools, &plan, function));
    }

    fn settle_list(self, tools: &mut Node<'a>, plan: &[usize], function: impl Fn(&Node<'a>) -> Node<'a>) {
        let as_listed = plan.len() == self.listed
            && plan.iter().enumerate().all(|(place, at)| {
                self.tools.at(*at).is_some_and(|tool| tool.source == Source::Listed(place) && !tool.is_search())
            });
        if as_listed && tools.as_array().is_some() {
            let mut deferred = plan.iter().map(|at| self.tools.at(*at).is_some_and(|tool| tool.deferred));
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
        let (entries, own) = self.tools.into_parts();
        let mut own: Vec<Option<Node<'a>>> = own.into_iter().map(Some).collect();
        let mut settled = Vec::with_capacity(plan.len());
        for entry in plan.iter().filter_map(|at| entries.get(*at)) {
            let taken = match entry.source {
                Source::Listed(place) => listed.get_mut(place),
                Source::Defined(place) => own.get_mut(place),
            };
            let Some(mut tool) = taken.and_then(Option::take) else { continue };
            if entry.is_search() {
                tool = function(&tool);
            } else {
                settle_one(&mut tool, entry.deferred);
            }
            settled.push(tool);
        }
        tools.replace(Data::Array(settled));
    }
}

/// Warns about deferred toolsets.
pub(super) fn warn_of_toolsets(list: &[Node<'_>], warnings: &mut Warnings) {
    for toolset in list.iter().filter(|entry| tool::kind(entry) == Kind::Toolset && tool::toolset_flags(entry).1) {
        let label = ["mcp_server_name", "server_label", "name"].iter().find_map(|key| toolset.get(key));
        warnings.about_maybe("mcp-toolset-defer-ignored", label.and_then(Node::as_text));
    }
}

/// Removes the flag of one tool, and the cache breakpoint of a deferred tool. A tool without a name that has the flag
/// also counts as deferred.
fn settle_one(tool: &mut Node<'_>, deferred: bool) {
    let deferred = deferred || tool::deferral(tool).0 && tool::kind(tool) == Kind::Tool;
    tool::clean(tool, deferred);
    if deferred && tool.get(tool::SHORT).is_some() {
        tool.remove(tool::SHORT);
    }
}
