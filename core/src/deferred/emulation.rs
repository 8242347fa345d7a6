//! The tool list for an API without deferred tools: the visible tools, and a function that replaces the tool search.
//! Also writes tools as they are sent, for text that quotes them, and rewrites a `tool_choice` that names deferred
//! tools, which may not be sent.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    error::{Code, Error},
    json::{Data, Node, Text},
    names::Names,
    options::{Api, DeferredOptions, ForcedTool, Order},
    request::{
        flat_list,
        instructions::Quoted,
        location::Location,
        origins::{EntryOrigin, GivenShape},
        reader::Backend,
        report::Warnings,
        tool::{self, Kind},
        tool_format::ToolShape,
        tools::{Source, Tool, Tools},
    },
    wire::responses::namespaces::NameMap,
    wire::{
        self,
        choice::{Choice, Decision, ToolRef},
    },
};

/// The tools of a request whose deferral is emulated.
#[derive(Default)]
pub(super) struct Emulation<'a> {
    pub(super) tools: Tools<'a>,
    /// Number of entries in the request's list.
    listed_count: usize,
    /// Index of the tool search that the function replaces.
    replaced_index: Option<usize>,
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
    /// Wraps the tools of a request whose list has `listed_count` entries.
    pub(super) fn new(tools: Tools<'a>, listed_count: usize, emulates_search: bool) -> Self {
        Emulation { tools, listed_count, replaced_index: None, emulates_search }
    }

    /// Chooses the tool search that a function replaces, and names that function. One function replaces all searches of
    /// a list. All tools must be known, because the function must not have the name of a tool. Otherwise, the model
    /// would read the description of the search and call that tool.
    pub(super) fn name_search(&mut self, requested_name: &str, warnings: &mut Warnings) {
        let is_replaced = |tool: &Tool<'_>| {
            tool.kind == Kind::ClientSearch || tool.kind == Kind::HostedSearch && self.emulates_search
        };
        let Some(at) = self.tools.iter().position(is_replaced) else { return };
        let mut name = Text::new(String::from(requested_name));
        let mut number = 2_u32;
        while self.tools.knows(&name) {
            name = Text::new(format!("{requested_name}_{number}"));
            number += 1;
        }
        if number > 2 {
            warnings.warn_named("tool-search-renamed", name.display());
        }
        self.tools.set_name(at, name);
        self.replaced_index = Some(at);
    }

    /// Returns the tool search that a function replaces.
    fn replaced_search(&self) -> Option<&Tool<'a>> {
        self.replaced_index.and_then(|at| self.tools.get_at(at))
    }

    /// Returns the name of the function that replaces a tool search.
    pub(super) fn search_function(&self) -> Option<String> {
        let search = self.replaced_search().filter(|search| search.is_available())?;
        search.name.as_ref().map(|name| name.display().into_owned())
    }

    /// Returns true if the function replaces a search that the client runs.
    pub(super) fn is_client_search(&self) -> bool {
        self.replaced_search().is_some_and(|search| search.kind == Kind::ClientSearch)
    }

    /// Returns true if the request lists a hosted search that no function replaces.
    pub(super) fn has_unreplaced_search(&self) -> bool {
        !self.emulates_search && self.tools.has_hosted_search()
    }

    /// Returns true if a tool that is sent can search for tools.
    pub(super) fn can_search(&self, options: &DeferredOptions) -> bool {
        self.search_function().is_some() || self.tools.iter().any(|tool| !tool.is_search() && tool.searches(options))
    }

    fn availability(&self, name: &Text<'_>) -> Availability {
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
        self.listed_count == 0 && self.tools.iter().next().is_none()
    }

    /// Warns about tools whose change invalidates the prompt cache of earlier requests.
    pub(super) fn warn_of_changed_prefix(&self, warnings: &mut Warnings) {
        for tool in self.tools.iter().filter(|tool| tool.was_removed_while_available || tool.redefined_while_available)
        {
            warnings.warn_optional_name("prefix-changed", tool.name.as_ref());
        }
    }

    /// Returns the JSON pointer to a tool's definition in the request, for errors.
    pub(super) fn pointer_to_definition(&self, name: &Text<'_>) -> String {
        match self.tools.get(name).map(|tool| tool.source) {
            Some(Source::Listed(index)) => format!("/tools/{index}"),
            _ => String::new(),
        }
    }

    /// Returns the indices of the tools that are sent, in order.
    fn sent_indices(&self, order: Order) -> Vec<usize> {
        let is_sent = |at: &usize| {
            self.tools
                .get_at(*at)
                .is_some_and(|tool| tool.is_available() && (!tool.is_search() || self.replaced_index == Some(*at)))
        };
        let all_indices = 0..self.tools.iter().len();
        match order {
            Order::Catalog => all_indices.filter(is_sent).collect(),
            Order::Append => {
                let is_never_deferred = |at: &usize| self.tools.get_at(*at).is_some_and(|tool| !tool.deferred);
                let loads = self.tools.load_order().iter().copied();
                all_indices.filter(is_never_deferred).chain(loads).filter(is_sent).collect()
            }
        }
    }

    /// Returns the definitions that are sent, in order and unchanged. The flag of a definition is true if it defines a
    /// search that a function replaces.
    pub(super) fn sent_definitions<'n>(&'n self, listed: &'n [Node<'a>], order: Order) -> Vec<(&'n Node<'a>, bool)> {
        let sent = self.sent_indices(order).into_iter().filter_map(|at| self.tools.get_at(at));
        sent.filter_map(|tool| Some((self.tools.definition_of(tool, listed)?, tool.is_search()))).collect()
    }

    /// Replaces the request's list with the tools that are sent. Unchanged entries are not copied, and a list whose
    /// entries are all unchanged is not replaced. `function` writes the function that replaces a search. Returns the
    /// origins of the entries.
    pub(super) fn write(
        self,
        request: &mut Node<'a>,
        (order, keeps_null): (Order, bool),
        function: impl Fn(&Node<'a>) -> Node<'a>,
    ) -> Vec<EntryOrigin> {
        let sent_indices = self.sent_indices(order);
        if keeps_null && sent_indices.is_empty() && request.get("tools").is_some_and(Node::is_null) {
            return Vec::new();
        }
        if request.get("tools").is_none() {
            if sent_indices.is_empty() {
                return Vec::new();
            }
            // The history may add tools to a request that lists none.
            if let Some(object) = request.as_object_mut() {
                object.set("tools", Node::array(Vec::new()));
            }
        }
        request.visit("tools", |tools| self.write_list(tools, &sent_indices, function)).unwrap_or_default()
    }

    fn write_list(
        self,
        tools: &mut Node<'a>,
        sent_indices: &[usize],
        function: impl Fn(&Node<'a>) -> Node<'a>,
    ) -> Vec<EntryOrigin> {
        let is_unchanged = sent_indices.len() == self.listed_count
            && sent_indices.iter().enumerate().all(|(index, at)| {
                self.tools.get_at(*at).is_some_and(|tool| tool.source == Source::Listed(index) && !tool.is_search())
            });
        if is_unchanged && tools.as_array().is_some() {
            let mut deferred = sent_indices.iter().map(|at| self.tools.get_at(*at).is_some_and(|tool| tool.deferred));
            let _ = tools.visit_children(|_, tool| {
                clean_flag(tool, deferred.next() == Some(true));
                Ok::<(), core::convert::Infallible>(())
            });
            let origin = |at: &usize| self.tools.get_at(*at).and_then(|tool| tool.origin);
            return sent_indices.iter().map(|at| EntryOrigin { location: origin(at), shapes: None }).collect();
        }
        let mut listed: Vec<Option<Node<'a>>> = match tools.as_array_mut() {
            Some(items) => core::mem::take(items).into_iter().map(Some).collect(),
            None => Vec::new(),
        };
        let (entries, defined) = self.tools.into_parts();
        let mut defined: Vec<Option<Node<'a>>> = defined.into_iter().map(Some).collect();
        let (mut new_list, mut origins) =
            (Vec::with_capacity(sent_indices.len()), Vec::with_capacity(sent_indices.len()));
        for entry in sent_indices.iter().filter_map(|at| entries.get(*at)) {
            let slot = match entry.source {
                Source::Listed(index) => listed.get_mut(index),
                Source::Defined(index) => defined.get_mut(index),
            };
            let Some(mut tool) = slot.and_then(Option::take) else { continue };
            let mut origin = EntryOrigin { location: entry.origin, shapes: None };
            if entry.is_search() {
                let given_shape = GivenShape::of(&tool);
                tool = function(&tool);
                origin.shapes = Some((given_shape, ToolShape::of(&tool)));
            } else {
                clean_flag(&mut tool, entry.deferred);
            }
            new_list.push(tool);
            origins.push(origin);
        }
        tools.replace(Data::Array(new_list));
        origins
    }
}

/// Warns about deferred toolsets.
pub(super) fn warn_of_toolsets(list: &[Node<'_>], warnings: &mut Warnings) {
    for (index, toolset) in list.iter().enumerate() {
        if tool::kind(toolset) != Kind::Toolset {
            continue;
        }
        let (_, is_deferred) = tool::toolset_flags(toolset);
        if !is_deferred {
            continue;
        }
        warnings.set_location(Location::of_list().index(index));
        let label = ["mcp_server_name", "server_label", "name"].iter().find_map(|key| toolset.get(key));
        warnings.warn_optional_name("mcp-toolset-defer-ignored", label.and_then(Node::as_text));
    }
    warnings.clear_location();
}

/// Removes the flag of one tool, and the cache breakpoint of a deferred tool. A nameless tool with the flag is also
/// treated as deferred.
fn clean_flag(tool: &mut Node<'_>, deferred: bool) {
    let deferred = deferred || tool::deferral(tool).0 && tool::kind(tool) == Kind::Tool;
    tool::clean(tool, deferred);
    if deferred && tool.get(tool::SHORT_DESCRIPTION).is_some() {
        tool.remove(tool::SHORT_DESCRIPTION);
    }
}

/// Namespaces and names of the tools that were deferred because there is no room for them.
pub(crate) type Overflowed = Set<(Option<String>, String)>;

/// How the caller of deferred loading will send the tools.
pub(crate) struct Sending<'s> {
    /// The pattern that names of tools must match.
    pub(crate) shape: NamePattern,
    /// Writes a list of tools as it will be sent, with planned names. Omits tools that cannot be sent.
    pub(crate) write: &'s dyn for<'a> Fn(Node<'a>, &Names) -> Result<Node<'a>, Error>,
    /// Maximum size of a list in which each tool is written independently. Up to this size, quoted tools can be written
    /// without the rest of the list.
    pub(crate) max_alone: usize,
    pub(crate) backend: Backend,
    /// The tools that the caller deferred, each with its namespace. A choice that names such a tool loads it.
    pub(crate) overflowed: &'s Overflowed,
}

/// Tools as they are sent, by the names under which they are sent.
pub(super) struct Quotes<'a> {
    list: Node<'a>,
    indices: Map<String, usize>,
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
        let sent = emulation.sent_definitions(tools, order);
        let is_small = sent.len() <= sending.max_alone;
        let mentioned: Set<&Text<'a>> = mentioned.iter().collect();
        let is_mentioned = |node: &Node<'a>| tool::name(node).is_some_and(|name| mentioned.contains(&name));
        let mut list: Vec<Node<'a>> = sent
            .into_iter()
            .filter(|(node, is_search)| !is_small || *is_search || is_mentioned(node))
            .map(|(node, is_search)| if is_search { search(node) } else { node.clone() })
            .collect();
        let unsent = mentioned.iter().filter(|name| emulation.availability(name) != Availability::Visible);
        let unsent = unsent.filter_map(|name| emulation.tools.get(name));
        list.extend(unsent.filter_map(|tool| emulation.tools.definition_of(tool, tools)).cloned());
        let mut list = (sending.write)(Node::array(list), names)?;
        let mut functions = Vec::new();
        flat_list::each_function(&list, &mut |function| functions.push(function.clone()));
        if !functions.is_empty() {
            list = Node::array(functions);
        }
        let mut indices = Map::new();
        for (index, tool) in list.as_array().unwrap_or_default().iter().enumerate() {
            if let Some(name) = tool::name(tool) {
                indices.entry(name.display().into_owned()).or_insert(index);
            }
        }
        Ok(Quotes { list, indices })
    }

    /// Returns the definition to quote for a known tool, by its current name.
    pub(super) fn of(&self, name: &str) -> Quoted<'_, 'a> {
        let definition = self.indices.get(name).and_then(|index| self.list.as_array()?.get(*index));
        definition.map_or(Quoted::SetAside, |definition| Quoted::Definition(Some(definition)))
    }
}

/// Returns the loaded tools that cannot be sent. `list` contains the definitions of the loaded tools. Texts must not
/// announce the returned tools; `adapt` reports them.
pub(super) fn find_unsendable<'a>(
    tools: &Tools<'a>,
    list: Vec<Node<'a>>,
    sending: &Sending<'_>,
    names: &Names,
) -> Result<Set<Text<'a>>, Error> {
    if list.is_empty() {
        return Ok(Set::new());
    }
    let sent_list = (sending.write)(Node::array(list), names)?;
    let sent_tools = sent_list.as_array().unwrap_or_default().iter();
    let sent: Set<String> = sent_tools.filter_map(tool::name).map(|name| name.display().into()).collect();
    let loaded = tools.iter().filter(|tool| tool.loaded && tool.is_available());
    let loaded = loaded.filter_map(|tool| tool.name.as_ref());
    Ok(loaded.filter(|name| !sent.contains(&*names.current(name))).cloned().collect())
}

/// Rewrites the `tool_choice` of a request whose format does not change, after the history was applied. A tool that the
/// choice forces may be loaded. Tools in `overflowed` are loaded if the choice forces or allows them.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
pub(super) fn apply_choice<'a>(
    request: &mut Node<'a>,
    format: Api,
    (emulation, map): (&mut Emulation<'a>, &NameMap<'a>),
    (options, overflowed): (&DeferredOptions, Option<&Overflowed>),
    search: Option<&str>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let api = format;
    let is_list = wire::of(api).choice().is_list(request)?;
    // Computed once, because `decide` runs for every tool that a choice allows.
    let has_toolsets = emulation.has_toolsets();
    let decide_search = || search.map_or(Decision::Remove, |name| Decision::Rename(Text::new(String::from(name))));
    let pointer = wire::of(api).choice().pointer_in(request)?.unwrap_or_default();
    let mut decide = |tool_ref: &ToolRef<'a>, is_forced: bool| {
        let (namespace, name) = match tool_ref {
            ToolRef::Search => return Ok(decide_search()),
            ToolRef::Hosted(_) => return Ok(Decision::Keep),
            // The tools of the namespace are now in the list itself.
            ToolRef::Namespace(_) => return Ok(if is_forced { Decision::Keep } else { Decision::Remove }),
            ToolRef::Tool { namespace, name } => {
                (namespace.as_ref().filter(|_| wire::of(api).tools().has_namespaces()), name)
            }
        };
        let flat_name = namespace.map_or_else(|| name.clone(), |namespace| map.name_in(namespace, name));
        // The caller deferred these tools, not the client, so a choice that names them must keep its meaning.
        let is_overflowed = || {
            let key = (namespace.map(|namespace| namespace.display().into_owned()), name.display().into_owned());
            overflowed.is_some_and(|overflowed| overflowed.contains(&key))
        };
        let is_sent = match emulation.availability(&flat_name) {
            Availability::Visible => true,
            Availability::Search => return Ok(decide_search()),
            // The request does not list the tools of a toolset.
            Availability::Unknown => has_toolsets || is_forced && emulation.is_empty(),
            Availability::Hidden if is_overflowed() => true,
            Availability::Hidden if is_forced => is_loaded_for_choice(&flat_name, pointer, options, warnings)?,
            Availability::Hidden | Availability::Removed => false,
        };
        if !is_sent {
            return Ok(Decision::Remove);
        }
        emulation.tools.load_called(&flat_name);
        Ok(if namespace.is_some() { Decision::Rename(flat_name) } else { Decision::Keep })
    };
    if wire::of(api).choice().apply(request, &mut decide)?.emptied.is_some() {
        wire::of(api).choice().replace(request, &Choice::Auto)?;
        if is_list {
            warnings.warn_at("choice-emptied", pointer);
        }
    }
    Ok(())
}

/// Returns true if a hidden tool is loaded because a choice forces it.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
fn is_loaded_for_choice(
    name: &Text<'_>,
    pointer: &str,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<bool, Error> {
    if options.forced_tool == ForcedTool::Error {
        let shown = name.display();
        let message = format!(
            "expected the choice to force a loaded tool, found `{shown}`, which is deferred and was not referenced"
        );
        return Err(Error::new(Code::ForcedDeferredTool, pointer, message));
    }
    warnings.warn_named_at("forced-deferred-tool", name.display(), pointer.into());
    Ok(options.forced_tool == ForcedTool::Load)
}

/// Removes the tools that are not sent from a choice of allowed tools, if the construct sends no deferred tools.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be read.
pub(super) fn remove_unavailable<'a>(
    (request, format): (&mut Node<'a>, Api),
    tools: &Tools<'a>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    if !wire::of(format).choice().is_list(request)? {
        return Ok(());
    }
    let pointer = wire::of(format).choice().pointer_in(request)?.unwrap_or_default();
    let mut decide = |tool_ref: &ToolRef<'a>, _| {
        let ToolRef::Tool { name, .. } = tool_ref else { return Ok(Decision::Keep) };
        let is_sent = tools.get(name).is_none_or(Tool::is_available);
        Ok(if is_sent { Decision::Keep } else { Decision::Remove })
    };
    if wire::of(format).choice().apply(request, &mut decide)?.emptied.is_some() {
        wire::of(format).choice().replace(request, &Choice::Auto)?;
        warnings.warn_at("choice-emptied", pointer);
    }
    Ok(())
}

/// Loads a tool that a choice forces, in a request with the backend's own constructs.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
pub(super) fn load_forced<'a>(
    (request, format): (&Node<'a>, Api),
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(name) = wire::of(format).choice().forced_name(request)? else { return Ok(()) };
    let is_hidden = tools.get(&name).is_some_and(Tool::is_hidden);
    let pointer = wire::of(format).choice().pointer_in(request)?.unwrap_or_default();
    if is_hidden && is_loaded_for_choice(&name, pointer, options, warnings)? {
        tools.load_called(&name);
        tools.get_mut(&name).into_iter().for_each(|tool| tool.is_wanted = true);
    }
    Ok(())
}
