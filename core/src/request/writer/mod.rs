//! Code that the writers of all formats share. The writer of each format is in the folder of its API. A writer converts
//! a [`Conversation`] to a request, with the constructs that the backend supports. This file translates all members of
//! a request except tools and history.

pub(crate) mod definitions;
pub(crate) mod same;

use alloc::{collections::VecDeque, format, string::String, vec::Vec};

use super::{
    choice,
    conversation::{self, Call, Content, Conversation, Event, EventKind, Outcome, Part},
    formats, instructions,
    location::Location,
    origins::{EntryOrigin, GivenShape},
    report::{Warnings, DROPPED_SEARCH},
    tool::{self, Kind},
    tool_format::ToolShape,
    tools::{Source, Tools},
};
use crate::{
    collections::{sorted_by, Map, Set},
    error::Error,
    json::{lazy::view, Member, Node, Text},
    names::Names,
    options::{Api, CustomTools, DeferredOptions, Native, Order, UnknownReference},
    wire::translation::WRITTEN,
    wire::turns::FAILED,
    wire::{
        self,
        choice::{CHOICE, PARALLEL_CALLS},
        prompt::whole,
    },
};
use definitions::{DefinitionLocation, DefinitionLocations};

/// `wire/history_formats.rs` has the writers of all formats.
pub(crate) struct HistoryWriter {
    pub(crate) write: Write,
    pub(crate) in_place: InPlace,
}

pub(crate) type Write = for<'a> fn(&mut Writer<'_, 'a>, &mut Node<'a>, Vec<Event<'a>>) -> Result<(), Error>;

pub(crate) enum InPlace {
    Items(ReplaceItem),
    Messages(Messages),
}

/// Returns the items that replace an item. The arguments are the item without the members that were read (`None` if the
/// events contain the item), the names of these members, and the events.
pub(crate) type ReplaceItem = for<'a> fn(Option<Node<'a>>, &[&'static str], Vec<Event<'a>>) -> Vec<Node<'a>>;

pub(crate) type IsCall = fn(&Node<'_>) -> bool;

pub(crate) struct Messages {
    /// Returns a result in its original format with the new content.
    pub(crate) result: for<'a> fn(Outcome<'a>) -> Option<Node<'a>>,
    /// Member with the calls of a message, if not all of them are blocks of its content, and the test for such a call.
    pub(crate) calls: Option<(&'static str, IsCall)>,
    /// True if a content that consists only of text is written as one string.
    pub(crate) joins_texts: bool,
    /// True if roles have to alternate.
    pub(crate) alternates: bool,
}

/// The settings of the model, if the request contains them in one member.
pub(crate) struct Settings {
    pub(crate) holder: &'static str,
    /// Returns the names of the settings.
    pub(crate) move_to_request: for<'a> fn(&mut Node<'a>, &mut Warnings) -> Result<Set<Text<'a>>, Error>,
    pub(crate) move_back: fn(&mut Node<'_>),
}

pub(crate) struct Writing<'w> {
    pub(crate) options: &'w DeferredOptions,
    pub(crate) source: Api,
    pub(crate) target: Api,
    pub(crate) history: &'static HistoryWriter,
    /// The settings of the source and of the target.
    pub(crate) settings: (Option<&'static Settings>, Option<&'static Settings>),
    /// New names of tools whose names the API does not accept. Notices use the new names.
    pub(crate) names: &'w Names,
    pub(crate) warnings: &'w mut Warnings,
}

pub(crate) struct Written {
    /// The name of the client's search function, if the backend's native search replaces it.
    pub(crate) search: Option<String>,
    /// The origins of the entries of the list; `None` if the list was not written.
    pub(crate) origins: Option<Vec<EntryOrigin>>,
    pub(crate) added: AddedOrigins,
    /// False if messages or items have other indices than before. Always true if the whole history is written, because
    /// indices are not compared then.
    pub(crate) is_aligned: bool,
}

/// The origins of the tools that the history of a written request defines.
#[derive(Debug, Default)]
pub(crate) struct AddedOrigins {
    by_name: Map<String, EntryOrigin>,
    /// The origins of definitions that stay in their own events, in the order of the history.
    in_order: Map<String, VecDeque<EntryOrigin>>,
}

impl AddedOrigins {
    pub(crate) fn next(&mut self, name: &str) -> Option<EntryOrigin> {
        let next = self.in_order.get_mut(name).and_then(VecDeque::pop_front);
        next.or_else(|| self.by_name.get(name).copied())
    }

    pub(crate) fn add(&mut self, name: &Text<'_>, origin: EntryOrigin) {
        self.by_name.insert(name.display().into_owned(), origin);
    }

    pub(crate) fn add_in_order(&mut self, name: &Text<'_>, location: Location) {
        let origin = EntryOrigin { location: Some(location), shapes: None };
        self.in_order.entry(name.display().into_owned()).or_default().push_back(origin);
    }
}

pub(crate) fn write_request<'a>(
    request: &mut Node<'a>,
    mut conversation: Conversation<'a>,
    writing: Writing<'_>,
) -> Result<Written, Error> {
    let (source, target, native) = (writing.source, writing.target, writing.options.native);
    writing.warnings.extend(core::mem::take(&mut conversation.losses));
    if source == target && native == Native::None {
        let is_aligned = same::write(request, conversation, (target, &writing.history.in_place))?;
        return Ok(Written { search: None, origins: None, added: AddedOrigins::default(), is_aligned });
    }
    conversation.is_in_place &= conversation.events.iter().all(|event| matches!(event.kind, EventKind::Unchanged(_)));
    if (source == target || conversation.history.is_empty()) && !conversation.is_in_place {
        let history = request.visit(wire::of(target).history(), |list| list.as_array_mut().map(core::mem::take));
        conversation.history = history.flatten().unwrap_or_default();
    }
    let keeps_searches = source == target && wire::of(target).searches().has_hosted;
    conversation::match_searches(&mut conversation.events, keeps_searches, writing.warnings);
    if native == Native::Interactions {
        let Conversation { tools, events, search_name, .. } = &mut conversation;
        let options = writing.options;
        conversation::keep_searches(events, |name| {
            let is_own = options.search_tools.iter().any(|search| name.is(search.as_str())) && tools.knows(name);
            is_own || search_name.as_ref().is_some_and(|search| name.is(search.as_str()))
        });
    }
    let (form, (own_settings, new_settings)) = (writing.history, writing.settings);
    let settings = own_settings.filter(|_| source != target);
    let from_settings =
        settings.map_or(Ok(Set::new()), |settings| (settings.move_to_request)(request, writing.warnings))?;
    let mut writer = Writer::new(&conversation, writing);
    let source_choice = match source == target {
        true => None,
        false => {
            let holder =
                settings.filter(|_| from_settings.contains(&Text::literal(CHOICE))).map(|settings| settings.holder);
            Some(choice::take_choice(request, (source, holder), writer.writing.warnings)?)
        }
    };
    let allowed_names: Option<Set<Text<'a>>> = source_choice
        .as_ref()
        .and_then(|source_choice| choice::allowed_names_to_filter(source_choice, (target, native)));
    if let Some(allowed_names) = &allowed_names {
        writer.locations.keep_only(allowed_names);
    }
    let Conversation { tools, events, is_in_place, history, originals, format, .. } = conversation;
    writer.history = history;
    writer.originals = originals;
    let had_tools = request.get("tools").is_some();
    let sources = request.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
    let (listed, names) = writer.write_list(tools, sources.unwrap_or_default(), allowed_names.as_ref())?;
    if !is_in_place {
        (form.write)(&mut writer, request, events)?;
    }
    writer.writing.warnings.clear_location();
    let has_list = !listed.is_empty();
    if had_tools || has_list {
        request.set("tools", Node::array(listed));
    }
    if let Some(source_choice) = source_choice {
        let search = writer.search.clone().filter(|_| writer.replaced_search.is_some());
        let custom = core::mem::take(&mut writer.custom);
        let sent_tools =
            choice::SentTools { names: (had_tools || !names.is_empty()).then_some(names), has_list, custom, search };
        choice::write_choice(request, source_choice, (target, native), &sent_tools, writer.writing.warnings);
        let max_tokens = writer.writing.options.max_tokens.unwrap_or(DEFAULT_LIMIT);
        let format_pointer = format.as_ref().map(|format| format.pointer.clone()).unwrap_or_default();
        let moved = Moved { settings, from_settings: &from_settings, format: &format_pointer };
        write_members(request, (source, target), &moved, max_tokens, writer.writing.warnings)?;
        if let Some(format) = format {
            formats::put_format(request, target, format, writer.writing.warnings)?;
        }
        if let Some(settings) = new_settings {
            (settings.move_back)(request);
        }
    }
    let Writer { replaced_search: search, origins, added, .. } = writer;
    Ok(Written { search, origins: Some(origins), added, is_aligned: true })
}

pub(crate) struct Writer<'w, 'a> {
    pub(crate) writing: Writing<'w>,
    /// Messages of the source, some of which remain unchanged.
    pub(crate) history: Vec<Node<'a>>,
    /// Messages of Chat Completions that stay in their format, without the members that became events.
    pub(crate) originals: Map<usize, Node<'a>>,
    pub(crate) locations: DefinitionLocations<'a>,
    pub(crate) origins: Vec<EntryOrigin>,
    pub(crate) added: AddedOrigins,
    /// Definitions that events add, in the target's format.
    pub(crate) definitions: Map<Text<'a>, Node<'a>>,
    /// Name of the client's search function.
    pub(crate) search: Option<Text<'a>>,
    /// Name for the function that replaces the client's search. Taken when that function is written.
    pub(crate) search_name: Option<String>,
    /// Name of the client's search function, once the backend's native search has replaced it.
    pub(crate) replaced_search: Option<String>,
    /// True once a hosted search is written.
    pub(crate) has_hosted_search: bool,
    /// Tools that the history has announced as removed.
    pub(crate) announced_removals: Set<Text<'a>>,
    pub(crate) set_aside: Set<Text<'a>>,
    pub(crate) custom: Set<Text<'a>>,
    /// The names of called searches, by the ids of the calls.
    pub(crate) searches: Map<Text<'a>, Text<'a>>,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(crate) fn new(conversation: &Conversation<'a>, writing: Writing<'w>) -> Self {
        let DeferredOptions { native, removals, load_used_tools, .. } = *writing.options;
        let keeps_list = writing.source == writing.target;
        let locations =
            DefinitionLocations::plan(conversation, (native, removals, load_used_tools), keeps_list, writing.warnings);
        let is_search = |name: &&Text<'a>| writing.options.search_tools.iter().any(|search| name.is(search.as_str()));
        let search = conversation.tools.iter().filter_map(|tool| tool.name.as_ref()).find(is_search).cloned();
        let search_name = conversation.search_name.clone();
        Writer {
            writing,
            history: Vec::new(),
            originals: Map::new(),
            locations,
            origins: Vec::new(),
            added: AddedOrigins::default(),
            definitions: Map::new(),
            search,
            search_name,
            replaced_search: None,
            has_hosted_search: false,
            announced_removals: Set::new(),
            set_aside: conversation.set_aside.clone(),
            custom: Set::new(),
            searches: Map::new(),
        }
    }

    pub(crate) fn take_message(&mut self, at: usize) -> Node<'a> {
        let index = at.saturating_sub(1);
        self.history.get_mut(index).map(core::mem::take).unwrap_or_default()
    }

    pub(crate) fn native(&self) -> Native {
        self.writing.options.native
    }

    pub(crate) fn same_format(&self) -> bool {
        self.writing.source == self.writing.target
    }

    /// Returns the request's tool list and the names of all tools that are sent. Moves the definitions that events add
    /// to `definitions`.
    pub(crate) fn write_list(
        &mut self,
        tools: Tools<'a>,
        mut sources: Vec<Node<'a>>,
        allowed_names: Option<&Set<Text<'a>>>,
    ) -> Result<(Vec<Node<'a>>, Set<Text<'a>>), Error> {
        let (mut listed, mut names) = (Vec::new(), Set::new());
        let searches = tools.has_hosted_search();
        let appends = self.native() != Native::None && self.writing.options.order == Order::Append;
        let loads = tools.load_order().iter().filter(|_| appends);
        let loads: Map<usize, usize> = loads.enumerate().map(|(load, at)| (*at, load)).collect();
        // Entries of deferred tools that the history loads, with their indices in the order of the loads.
        let mut loaded = Vec::new();
        let (tools, mut definitions) = tools.into_parts();
        for (index, tool) in tools.into_iter().enumerate() {
            let definition = match tool.source {
                Source::Defined(index) => definitions.get_mut(index),
                Source::Listed(index) => sources.get_mut(index),
            };
            let definition = definition.map(core::mem::take).unwrap_or_default();
            let definition_location = match &tool.name {
                Some(name) if allowed_names.is_some_and(|allowed_names| !allowed_names.contains(name)) => {
                    DefinitionLocation::Nowhere
                }
                Some(name) if self.native() != Native::None => self.locations.of(name),
                _ => DefinitionLocation::Top,
            };
            self.writing.warnings.set_origin(tool.origin);
            let location = tool.origin;
            let is_search = matches!(tool.kind, Kind::ClientSearch | Kind::HostedSearch);
            let is_converted = !self.same_format() || is_search || tool.given_shape.is_some();
            let given_shape = is_converted.then(|| tool.given_shape.unwrap_or_else(|| GivenShape::of(&definition)));
            let origin_of = |written: &Node<'_>| EntryOrigin {
                location,
                shapes: given_shape.map(|given_shape| (given_shape, ToolShape::of(written))),
            };
            let Some(name) = tool.name else {
                if let Some(entry) = self.write_unnamed(definition, tool.kind) {
                    self.origins.push(origin_of(&entry));
                    listed.push(entry);
                }
                continue;
            };
            if definition_location == DefinitionLocation::Nowhere {
                continue;
            }
            let mut definition = definition;
            let is_kept = self.same_format()
                && definition_location == DefinitionLocation::Deferred
                && matches!(tool.source, Source::Listed(_));
            let original = is_kept.then(|| definition.clone());
            tool::clean(&mut definition, tool.deferred);
            if definition_location != DefinitionLocation::Event && self.is_search_function(&name) && !searches {
                // In Gemini Interactions, calls to the search contain its name, like calls to any function.
                let search_name = (self.native() == Native::Interactions).then(|| name.clone());
                let given_shape = tool.given_shape.unwrap_or_else(|| GivenShape::of(&definition));
                let search = native_search(&definition, search_name.clone());
                self.origins.push(EntryOrigin { location, shapes: Some((given_shape, ToolShape::of(&search))) });
                listed.push(search);
                match search_name {
                    Some(name) => drop(names.insert(name)),
                    None => self.replaced_search = Some(name.display().into_owned()),
                }
                continue;
            }
            let Some(mut written) = self.function(definition)? else {
                // The target does not support this tool, so nothing may refer to it.
                self.set_aside.insert(name);
                continue;
            };
            let has_custom = wire::of(self.writing.target).translation().is_some_and(|target| target.has_custom);
            if has_custom && tool::has_type(&written, "custom") {
                self.custom.insert(name.clone());
            }
            names.insert(name.clone());
            if matches!(definition_location, DefinitionLocation::Event | DefinitionLocation::Deferred) {
                self.added.add(&name, origin_of(&written));
            }
            match definition_location {
                DefinitionLocation::Event => {
                    self.definitions.insert(name, written);
                    continue;
                }
                DefinitionLocation::Deferred => {
                    self.definitions.insert(name, written.clone());
                    written.set(tool::DEFERRAL_FLAG, Node::bool(true));
                }
                _ => {}
            }
            let origin = origin_of(&written);
            // An entry that stays in the list keeps its spelling.
            let written = original.unwrap_or(written);
            let load =
                loads.get(&index).copied().filter(|_| tool.deferred && definition_location == DefinitionLocation::Top);
            if let Some(load) = load {
                loaded.push((load, origin, written));
                continue;
            }
            self.origins.push(origin);
            listed.push(written);
        }
        for (_, origin, written) in sorted_by(loaded, |(first, ..), (second, ..)| first.cmp(second)) {
            self.origins.push(origin);
            listed.push(written);
        }
        self.writing.warnings.clear_location();
        Ok((listed, names))
    }

    pub(crate) fn is_search_function(&self, name: &Text<'a>) -> bool {
        matches!(self.native(), Native::ToolSearch | Native::Interactions) && self.search.as_ref() == Some(name)
    }

    pub(crate) fn function(&mut self, definition: Node<'a>) -> Result<Option<Node<'a>>, Error> {
        if self.same_format() {
            return Ok(Some(definition));
        }
        let custom = self.writing.options.custom_tools.unwrap_or(CustomTools::Function);
        let formats = (self.writing.source, self.writing.target);
        definitions::write_definition(definition, formats, custom, self.writing.warnings)
    }

    pub(crate) fn write_unnamed(&mut self, definition: Node<'a>, kind: Kind) -> Option<Node<'a>> {
        let is_search = kind == Kind::ClientSearch || kind == Kind::HostedSearch;
        let is_native = matches!(self.native(), Native::ToolSearch | Native::Interactions);
        let has_searches = is_native || wire::of(self.writing.target).searches().has_hosted;
        if self.same_format() && (!is_search || has_searches) {
            return Some(definition);
        }
        match (kind, self.native()) {
            // A single hosted search suffices, because it searches all listed tools.
            (Kind::HostedSearch, _) if core::mem::replace(&mut self.has_hosted_search, true) => None,
            (Kind::HostedSearch, Native::ToolSearch | Native::Interactions) => {
                Some(Node::record([("type", Node::literal("tool_search"))]))
            }
            (Kind::HostedSearch, Native::References | Native::Changes | Native::Inline) => Some(Node::record([
                ("type", Node::literal("tool_search_tool_bm25_20251119")),
                ("name", Node::literal("tool_search_tool_bm25")),
            ])),
            (Kind::HostedSearch, _) => {
                self.writing.warnings.warn("server-tool-search-unavailable");
                None
            }
            // The client's search has a name in Gemini Interactions, but not in OpenAI Responses.
            (Kind::ClientSearch, Native::ToolSearch) => {
                self.replaced_search = tool::name(&definition).map(|name| name.display().into_owned());
                Some(native_search(&definition, None))
            }
            (Kind::ClientSearch, Native::Interactions) => {
                Some(native_search(&definition, Some(Text::new(self.search_name.take()?))))
            }
            (Kind::ClientSearch, _) => {
                let name = self.search_name.take()?;
                Some(super::search_tool::function(self.writing.target, &name, &definition))
            }
            _ => {
                let name = tool::type_of(&definition).map_or_else(|| "tools".into(), Text::display);
                self.writing.warnings.warn_named(super::report::LOST, name);
                None
            }
        }
    }

    pub(crate) fn undeclared_definitions(&mut self, names: &[Text<'a>]) -> Vec<Node<'a>> {
        let new = self.locations.declare(names);
        new.iter().filter_map(|name| self.definitions.get(name)).cloned().collect()
    }

    /// Records the name of a called search, for warnings about its result.
    pub(crate) fn record_search(&mut self, call: &Call<'a>) {
        if let Some(id) = call.id.as_text().filter(|_| call.search.is_some()) {
            self.searches.insert(id.clone(), call.name.clone());
        }
    }

    /// Returns the parts of a search result that the target's construct cannot contain, such as the message of a failed
    /// search. These parts are written after all results of the turn, with a warning. Empty text is omitted.
    pub(crate) fn rest_of_search_result(&mut self, id: &Node<'a>, content: Content<'a>) -> Vec<Part<'a>> {
        let is_empty = |part: &Part<'a>| match part {
            Part::Text(text) => text.as_text().is_none_or(Text::is_empty),
            _ => false,
        };
        let parts: Vec<Part<'a>> = content.into_parts().into_iter().filter(|part| !is_empty(part)).collect();
        if !parts.is_empty() {
            let name = id.as_text().and_then(|id| self.searches.get(id));
            self.writing.warnings.warn_optional_name("moved", name);
        }
        parts
    }

    pub(crate) fn drop_search(&mut self) {
        self.writing.warnings.warn_named(super::report::LOST, DROPPED_SEARCH);
    }

    /// Warns that the target has no flag for errors. The text of a failed search states the error, so it causes no
    /// warning.
    pub(crate) fn lose_error(&mut self, outcome: &Outcome<'a>) {
        if outcome.is_error && !outcome.states_error && outcome.found_tools.is_none() {
            self.writing.warnings.warn_lost(FAILED, &Node::bool(true));
        }
    }

    pub(crate) fn addition_notice(&self, name: &Text<'a>) -> String {
        instructions::addition_notice(&self.writing.names.current(name))
    }

    pub(crate) fn found_texts(&self, names: &[Text<'a>], removed: &Set<Text<'a>>) -> Vec<Part<'a>> {
        let text_about = |name: &Text<'a>| match self.writing.options.unknown_reference {
            _ if removed.contains(name) => Some(self.removal_notice(name)),
            _ if self.set_aside.contains(name) => Some(String::from(instructions::REMOVED)),
            UnknownReference::Unavailable if !self.locations.contains(name) => {
                Some(String::from(instructions::REMOVED))
            }
            UnknownReference::Drop if !self.locations.contains(name) => None,
            UnknownReference::Notice if !self.locations.contains(name) => Some(self.removal_notice(name)),
            _ => Some(self.addition_notice(name)),
        };
        let mut texts: Vec<Part<'a>> =
            names.iter().filter_map(text_about).map(|text| Part::Text(Node::string(text))).collect();
        if texts.is_empty() {
            texts.push(Part::Text(Node::literal(if names.is_empty() {
                instructions::NO_MATCH
            } else {
                instructions::REMOVED
            })));
        }
        texts
    }

    pub(crate) fn can_be_sent(&self, name: &Text<'a>) -> bool {
        self.locations.of(name) != DefinitionLocation::Nowhere && !self.set_aside.contains(name)
    }

    pub(crate) fn usable_names(names: &[Text<'a>], removed: &Set<Text<'a>>) -> Vec<Text<'a>> {
        names.iter().filter(|name| !removed.contains(*name)).cloned().collect()
    }

    pub(crate) fn announce_removal(&mut self, name: Text<'a>) -> String {
        let text = self.removal_notice(&name);
        self.announced_removals.insert(name);
        text
    }

    /// Returns announcements of the tools that were removed before, if the model can see their definitions.
    pub(crate) fn announce_again(&mut self, names: &[Text<'a>]) -> Vec<String> {
        let removed_before = names.iter().filter(|name| self.announced_removals.remove(*name)).collect::<Vec<_>>();
        let is_known = |name: &Text<'a>| {
            let is_there = self.locations.is_declared(name) || self.locations.of(name) == DefinitionLocation::Top;
            is_there && !self.set_aside.contains(name)
        };
        removed_before.into_iter().filter(|name| is_known(name)).map(|name| self.addition_notice(name)).collect()
    }

    pub(crate) fn removal_notice(&self, name: &Text<'a>) -> String {
        instructions::removal_notice(&self.writing.names.current(name))
    }
}

/// Converts the client's search function to a `tool_search` tool of Responses or, with a name, of Gemini Interactions.
pub(crate) fn native_search<'a>(definition: &Node<'a>, name: Option<Text<'a>>) -> Node<'a> {
    let mut search = Node::record([("type", Node::literal("tool_search")), ("execution", Node::literal("client"))]);
    if let Some(name) = name {
        search.set("name", Node::string(name));
    }
    if let Some(description) = tool::description(definition) {
        search.set("description", Node::string(description.clone()));
    }
    if let Some(schema) = tool::schema(definition) {
        search.set("parameters", schema.clone());
    }
    search
}

pub(crate) fn put_history<'a>(request: &mut Node<'a>, key: &'static str, history: Vec<Node<'a>>) {
    let Some(object) = request.as_object_mut() else { return };
    let history_member =
        object.members_mut().iter_mut().find(|member| member.key.is("messages") || member.key.is("input"));
    if let Some(member) = history_member {
        member.key = Text::literal(key);
        member.value = Node::array(history);
    }
}

/// Joins text parts with blank lines. A single part is returned unchanged.
pub(crate) fn join_texts<'a>(parts: Vec<Part<'a>>, at: &str) -> Result<Node<'a>, Error> {
    let mut texts = parts.into_iter().filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None });
    let (first, second) = (texts.next(), texts.next());
    let (Some(first), Some(second)) = (&first, &second) else {
        return Ok(first.unwrap_or_else(|| Node::literal("")));
    };
    let mut out = String::new();
    for (index, text) in [first, second].into_iter().cloned().chain(texts).enumerate() {
        if index > 0 {
            out.push_str("\n\n");
        }
        if let Some(text) = text.as_text() {
            out.push_str(&whole(text, at)?);
        }
    }
    Ok(Node::string(Text::new(out)))
}

pub(crate) fn split_images<'a>(content: Content<'a>) -> (Content<'a>, Vec<Part<'a>>) {
    match content {
        Content::String(text) => (Content::String(text), Vec::new()),
        Content::Parts(parts) => {
            let (texts, images) = parts.into_iter().partition(|part| matches!(part, Part::Text(_)));
            (Content::Parts(texts), images)
        }
    }
}

/// Prefix of the call ids of synthesized exchanges, which load tools without a search by the model.
pub(crate) const LOAD_ID_PREFIX: &str = "toolwire_load_";

pub(crate) fn load_id(number: usize) -> String {
    format!("{LOAD_ID_PREFIX}{number}")
}

/// Members that have one meaning in all formats.
const SHARED: [&str; 4] = ["model", "stream", "temperature", "top_p"];
/// The maximum number of output tokens in each format. Chat Completions has two names for it.
const LIMITS: [&str; 3] = ["max_tokens", "max_output_tokens", "max_completion_tokens"];
/// The default maximum number of output tokens.
pub(crate) const DEFAULT_LIMIT: u64 = 32_000;
const STOPS: [&str; 2] = ["stop", "stop_sequences"];

/// The parts of a request that were elsewhere in the given request.
struct Moved<'m, 'a> {
    settings: Option<&'static Settings>,
    /// Names of the members that were moved out of the settings.
    from_settings: &'m Set<Text<'a>>,
    /// Pointer to the response format, which is already taken; empty if the request has none.
    format: &'m str,
}

fn write_members<'a>(
    request: &mut Node<'a>,
    (source, target): (Api, Api),
    Moved { settings, from_settings, format }: &Moved<'_, 'a>,
    max_tokens: u64,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let (Some(from), Some(into)) = (wire::of(source).translation(), wire::of(target).translation()) else {
        return Ok(());
    };
    let rename = |key: &Text<'_>| match into.stop {
        _ if LIMITS.iter().any(|name| key.is(name)) => Some(into.limit),
        Some(stop) if STOPS.iter().any(|name| key.is(name)) => Some(stop),
        _ => None,
    };
    let keeps_metadata = from.metadata.fits(into.metadata);
    let stays =
        |key: &Text<'_>| SHARED.iter().chain(&WRITTEN).any(|name| key.is(name)) || keeps_metadata && key.is("metadata");
    let Some(object) = request.as_object() else { return Ok(()) };
    let is_null = |member: &Member<'_>| member.value.is_null();
    if !object.iter().all(|member| stays(&member.key) && !is_null(member)) {
        let Some(object) = request.as_object_mut() else { return Ok(()) };
        let mut members: Vec<Member<'a>> = Vec::with_capacity(object.len());
        for mut member in core::mem::take(object.members_mut()) {
            // Null means absent in the source. Other APIs refuse it.
            if is_null(&member) {
                continue;
            }
            if let Some(name) = rename(&member.key) {
                let is_empty = view(&member.value)?.as_array().is_some_and(<[Node<'_>]>::is_empty);
                if is_empty || members.iter().any(|written| written.key.is(name)) {
                    continue;
                }
                member.key = Text::literal(name);
                if name == "stop_sequences" && view(&member.value)?.as_text().is_some() {
                    member.value = Node::array(alloc::vec![member.value]);
                }
            } else if !stays(&member.key) {
                let holder = settings.filter(|_| from_settings.contains(&member.key)).map(|settings| settings.holder);
                let key = member.key.display();
                let value = view(&member.value)?;
                let rest = format.strip_prefix('/').and_then(|format| format.strip_prefix(&*key));
                let had_format = holder.is_none() && rest.is_some_and(|rest| rest.starts_with('/'));
                match value.as_object().filter(|_| had_format) {
                    // The format itself is not lost.
                    Some(others) => {
                        others.iter().for_each(|member| {
                            warnings.warn_lost_in(Some(&*key), &member.key.display(), &member.value);
                        });
                    }
                    None => warnings.warn_lost_in(holder, &key, &value),
                }
                continue;
            }
            members.push(member);
        }
        *object.members_mut() = members;
    }
    if !wire::of(target).choice().has_limit_in_request() {
        request.remove(PARALLEL_CALLS);
    }
    if into.needs_limit && request.get(into.limit).is_none() {
        warnings.warn("max-tokens-defaulted");
        request.set(into.limit, Node::count(max_tokens));
    }
    Ok(())
}
