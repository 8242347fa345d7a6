//! Reader for OpenAI Responses.

use alloc::{collections::VecDeque, format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Flags, Node, Text,
    },
    options::Native,
    request::{
        carriers::is_system,
        conversation::{
            string_of, Addition, Arguments, Call, Content, EventKind, Outcome, Part, ReadMember, Role, SearchOutcome,
            Searcher,
        },
        formats,
        location::Location,
        origins::EntryOrigin,
        reader::{no_role, reference, Flattened, Reader, Reading},
        tool::{self, has_type, type_of},
        tools::Arrival,
    },
    wire::anthropic::mentions::any_block,
    wire::anthropic::mentions::concerns_tools,
    wire::anthropic::mentions::is_tool_ref,
    wire::anthropic::mentions::tool_change_kind,
    wire::responses::is_client_search,
    wire::responses::namespaces::{self, flat_names, NameMap},
    wire::{
        self,
        anthropic::reader::{self as anthropic, result_content},
    },
};

/// Replaces the request's list by a flat list. With native deferred loading in the same format, the request keeps its
/// list, and the flat list is returned.
pub(crate) fn flatten<'a>(
    request: &mut Node<'a>,
    reading: &mut Reading<'_, 'a>,
) -> Result<Option<Flattened<'a>>, Error> {
    // The names are also planned if the format stays the same, because a tool's name must not depend on the target
    // format.
    *reading.names = NameMap::with(flat_names(request, reading.options.tool_changes)?, reading.backend.is_some());
    if reading.is_trial {
        return Ok(None);
    }
    // Messages of the history may also add namespaces.
    namespaces::expand_choice(request, reading.options.tool_changes)?;
    if !namespaces::has_namespace(crate::request::listed(request)) {
        return Ok(None);
    }
    if reading.options.native != Native::None && wire::of(reading.target).tools().has_namespaces() {
        let list = crate::request::listed(request).to_vec();
        let flat = namespaces::flatten(list, Location::of_list(), reading.names, reading.warnings);
        return Ok(Some(Flattened::Apart(flat)));
    }
    let origins = request.visit("tools", |tools| {
        let list = tools.as_array_mut()?;
        let flat = namespaces::flatten(core::mem::take(list), Location::of_list(), reading.names, reading.warnings);
        let origin = |location| EntryOrigin { location: Some(location), shapes: None };
        let (tools, origins) = flat.into_iter().map(|(tool, location)| (tool, origin(location))).unzip();
        *list = tools;
        Some(origins)
    });
    Ok(origins.flatten().map(Flattened::InPlace))
}

pub(crate) fn read<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    request: &Node<'a>,
    prompt: Option<Node<'a>>,
) -> Result<(), Error> {
    if !reader.same_format() {
        require_whole(request, &["previous_response_id", "conversation"])?;
        if let Some(instructions) = prompt.filter(|text| !text.is_null()) {
            let content = reader.content(Some(instructions), part)?;
            reader.push(0, EventKind::Text { role: Role::System, content });
        }
    }
    if let crate::request::reader::History::Taken(node) = &reader.history {
        if node.as_text().is_some() {
            let content = Content::String(node.clone());
            reader.location = Location::of_history();
            reader.push(1, EventKind::Text { role: Role::User, content });
            return Ok(());
        }
    }
    let mut pass = Pass {
        reader,
        at: 0,
        turns: Turns::default(),
        hosted: VecDeque::new(),
        searches: 0,
        calls: Set::new(),
        earlier: None,
    };
    for index in 0..pass.reader.history.messages().len() {
        pass.at = index + 1;
        pass.reader.location = Location::of_message(index + 1);
        if pass.reader.reads_only_tool_messages() {
            if let Some(item) = pass.reader.open_if_concerned(index, concerns)? {
                pass.item(item, "")?;
            }
        } else {
            let is_plain = |item: &Node<'_>| !may_hold(item, Flags::DEFERRAL | Flags::CALL | Flags::RESULT);
            if pass.reader.same_format() && pass.reader.history.messages().get(index).is_some_and(is_plain) {
                pass.turn(Phase::Other);
                let message = pass.turns.current();
                pass.push(message, EventKind::Unchanged(Role::Assistant));
                continue;
            }
            let item = pass.reader.open(index)?;
            pass.item(item, &format!("/input/{index}"))?;
        }
    }
    anthropic::read_server_calls(reader, part)
}

const LISTS: [&str; 2] = ["content", "output"];

fn concerns(item: &Node<'_>, calls: bool) -> bool {
    let kind = type_of(item).map(Text::display).unwrap_or_default();
    let is_call = kind.ends_with("_call") || kind.ends_with("_call_output");
    kind == "additional_tools"
        || kind.starts_with("tool_search_")
        || kind == "mcp_list_tools"
        || is_tool_ref(item)
        || is_call && (calls || item.get("namespace").is_some())
        || LISTS.iter().any(|key| item.get(key).is_some_and(|content| any_block(content, concerns_tools)))
}

/// Returns an error if a member refers to history that the API has stored, because an incomplete conversation cannot be
/// translated.
pub(crate) fn require_whole(request: &Node<'_>, elsewhere: &[&str]) -> Result<(), Error> {
    for key in elsewhere {
        if request.get(key).map(view).transpose()?.is_some_and(|value| !value.is_null()) {
            return Err(incomplete(&format!("/{key}")));
        }
    }
    Ok(())
}

fn incomplete(at: &str) -> Error {
    let message = "expected the whole history in `input`, found a reference to a conversation that the API has stored";
    Error::new(Code::InvalidRequest, at, message)
}

/// The kind of the latest item in the model's turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Outside the model's turn.
    #[default]
    Other,
    Reasoning,
    Text,
    Called,
}

#[derive(Default)]
pub(crate) struct Turns {
    message: usize,
    phase: Phase,
}

impl Turns {
    /// Begins a new message, unless the item continues the model's turn: reasoning, one text item, and calls.
    pub(crate) fn next(&mut self, phase: Phase) -> usize {
        let goes_on = match (self.phase, phase) {
            (Phase::Other, _) | (_, Phase::Other) | (Phase::Text, Phase::Text) => false,
            (_, Phase::Reasoning) => self.phase == Phase::Text || self.phase == Phase::Reasoning,
            _ => true,
        };
        if !goes_on {
            self.message += 1;
        }
        // A text between calls belongs to the message of the calls.
        if !(goes_on && self.phase == Phase::Called) {
            self.phase = phase;
        }
        self.message
    }

    pub(crate) fn current(&self) -> usize {
        self.message
    }
}

struct Pass<'p, 'r, 'n, 'a> {
    reader: &'p mut Reader<'r, 'n, 'a>,
    at: usize,
    turns: Turns,
    /// Ids of hosted searches without an output so far.
    hosted: VecDeque<Node<'a>>,
    /// Number of hosted searches so far.
    searches: usize,
    /// Ids of function calls and of the client's search calls.
    calls: Set<Text<'a>>,
    /// For each id, the number of the first function call with that id. Filled on first use.
    earlier: Option<Map<Text<'a>, usize>>,
}

impl<'a> Pass<'_, '_, '_, 'a> {
    fn turn(&mut self, phase: Phase) -> usize {
        self.turns.next(phase)
    }

    fn push(&mut self, message: usize, kind: EventKind<'a>) {
        self.reader.push_to(self.at, message, kind);
    }

    fn item(&mut self, mut item: Node<'a>, at: &str) -> Result<(), Error> {
        let kind = type_of(&item).map(|kind| kind.display().into_owned());
        let kind = kind.as_deref().unwrap_or("message");
        if self.reader.emulates() {
            if is_tool_ref(&item) {
                self.read_tool_ref(item);
                return Ok(());
            }
            if self.reader.same_format() && kind != "additional_tools" && !kind.starts_with("tool_search_") {
                self.clean(&mut item, kind);
            }
        }
        match kind {
            "message" => self.message(item, at)?,
            "function_call" | "custom_tool_call" => {
                self.drop_members(&mut item, &LISTS);
                self.call(item);
            }
            "function_call_output" | "custom_tool_call_output" => self.output(item)?,
            "tool_search_call" => self.search(item),
            "tool_search_output" => self.search_output(item)?,
            "additional_tools" => self.additional_tools(item),
            "item_reference" if !self.reader.same_format() => return Err(incomplete(at)),
            _ if self.reader.reads_only_tool_messages() => self.read_tool_references(item)?,
            _ if self.reader.same_format() => {
                let message = self.turn(Phase::Other);
                self.push(message, EventKind::Unchanged(Role::Assistant));
            }
            "reasoning" => {
                let message = self.turn(Phase::Reasoning);
                self.push(message, EventKind::Reasoning(item));
            }
            // The last update has become the request's format, and earlier updates no longer apply.
            _ if formats::is_only_format(&item) => {}
            _ => self.reader.lose_block(&item),
        }
        Ok(())
    }

    /// Reads an item that is itself a block about tools: treats a reference as the client's, and ignores an addition or
    /// a removal.
    fn read_tool_ref(&mut self, block: Node<'a>) {
        if tool_change_kind(&block).is_some() {
            return self.reader.record_ignored(self.at, &block);
        }
        let message = self.turn(Phase::Other);
        self.reader.conversation.bare_references.insert(self.at);
        let part = self.reader.reference(self.at, block);
        self.push(message, EventKind::Text { role: Role::System, content: Content::Parts(Vec::from([part])) });
    }

    /// Removes namespaces and flags from an item.
    fn clean(&mut self, item: &mut Node<'a>, kind: &str) {
        if (kind.ends_with("_call") || kind.ends_with("_call_output")) && item.get("namespace").is_some() {
            self.reader.reading.names.flatten_call(item);
            self.reader.mark_changed(self.at);
        }
        if kind == "mcp_list_tools" {
            let mut has_flags = false;
            item.visit("tools", |tools| {
                tools.visit_children(|_, listed| {
                    if listed.get(tool::DEFERRAL_FLAG).is_some() {
                        listed.remove(tool::DEFERRAL_FLAG);
                        has_flags = true;
                    }
                    Ok::<(), core::convert::Infallible>(())
                })
            });
            if has_flags {
                self.reader.mark_changed(self.at);
            }
        }
    }

    fn message(&mut self, mut item: Node<'a>, at: &str) -> Result<(), Error> {
        let is = |name| item.get("role").is_some_and(|role| role.is_text(name));
        let role = if is("assistant") {
            Role::Assistant
        } else if is_system(&item) {
            Role::System
        } else if is("user") || self.reader.same_format() {
            Role::User
        } else {
            return Err(no_role(&item, at, "`user`, `assistant`, `system` or `developer`"));
        };
        let message = self.turn(if role == Role::Assistant { Phase::Text } else { Phase::Other });
        if self.reader.same_format() && !self.reader.emulates() {
            self.push(message, EventKind::Unchanged(role));
            return Ok(());
        }
        if self.reader.reads_only_tool_messages() {
            return self.read_members(item, (message, role));
        }
        let content = item.visit("content", core::mem::take);
        self.lose_rest(&item, &["role", "content"]);
        if self.reader.emulates() {
            return anthropic::message(self.reader, (self.at, message), role, content, part);
        }
        let content = self.reader.member_content("content", content, part)?;
        self.push(message, EventKind::Text { role, content });
        Ok(())
    }

    /// Reads only the content that concerns tools.
    fn read_tool_references(&mut self, item: Node<'a>) -> Result<(), Error> {
        let message = self.turn(Phase::Other);
        let role = if is_system(&item) { Role::System } else { Role::User };
        self.read_members(item, (message, role))
    }

    fn read_members(&mut self, mut item: Node<'a>, (message, role): (usize, Role)) -> Result<(), Error> {
        let contents = LISTS.map(|member| {
            let concerns = item.get(member).is_some_and(|content| any_block(content, concerns_tools));
            (member, concerns.then(|| item.visit(member, core::mem::take)).flatten())
        });
        self.reader.conversation.originals.insert(self.at, item);
        for (member, content) in contents.into_iter().filter(|(_, content)| content.is_some()) {
            self.reader.conversation.read_members.push(ReadMember { at: self.at, member, role });
            self.reader.member = member;
            anthropic::message(self.reader, (self.at, message), role, content, part)?;
        }
        self.reader.member = "content";
        Ok(())
    }

    /// Removes members that the API ignores in this kind of item, if they contain references. These references still
    /// load tools.
    fn drop_members(&mut self, item: &mut Node<'a>, members: &[&'static str]) {
        if !self.reader.reads_only_tool_messages() {
            return;
        }
        for member in members {
            let content = item.get(member).filter(|content| any_block(content, concerns_tools)).cloned();
            if let Some(content) = content {
                self.reader.mark_changed(self.at);
                anthropic::references_in(self.reader, (self.at, self.turns.current()), member, &content);
                item.remove(member);
            }
        }
    }

    fn call(&mut self, mut item: Node<'a>) {
        let message = self.turn(Phase::Called);
        let source_item = self.reader.same_format().then(|| item.clone());
        self.lose_rest(&item, &["call_id", "name", "namespace", "arguments", "input"]);
        let name = self.reader.reading.names.called(&item).unwrap_or_else(|| Text::literal(""));
        let arguments = if has_type(&item, "custom_tool_call") {
            Arguments::Freeform(string_of(&item, "input"))
        } else {
            Arguments::Text(item.visit("arguments", core::mem::take).unwrap_or_default())
        };
        let id = string_of(&item, "call_id");
        if has_type(&item, "function_call") {
            self.calls.extend(id.as_text().cloned());
        }
        self.push(message, EventKind::Call(Call { id, name, arguments, search: None, source_item }));
    }

    /// Reports the members that are not translated. `status` is not reported, because it concerns only the API that
    /// wrote it.
    fn lose_rest(&mut self, item: &Node<'a>, translated: &[&str]) {
        if !self.reader.same_format() {
            let mut translated = translated.to_vec();
            translated.extend(["type", "status"]);
            self.reader.lose_rest(item, &translated);
        }
    }

    fn output(&mut self, mut item: Node<'a>) -> Result<(), Error> {
        let message = self.turn(Phase::Other);
        self.drop_members(&mut item, &["content"]);
        let id = string_of(&item, "call_id");
        self.lose_rest(&item, &["call_id", "output"]);
        let (source_item, output) = anthropic::take_content(self.reader, item, "output");
        let content = match self.reader.emulates() {
            true => result_content(self.reader, (self.at, "output"), output, part)?,
            false => self.reader.member_content("output", output, part)?,
        };
        self.push(message, EventKind::Result(Outcome::new(id, content, source_item)));
        Ok(())
    }

    fn search(&mut self, mut item: Node<'a>) {
        self.reader.mark_changed(self.at);
        let message = self.turn(Phase::Called);
        let source_item = (self.reader.same_format() && !self.reader.emulates()).then(|| item.clone());
        let is_client = is_client_search(&item);
        let search_name = self.reader.reading.options.tool_search_name.as_str();
        let id = if is_client {
            // A call without an id never has an output.
            self.calls.extend(item.text_at("call_id").cloned());
            match self.reader.reads_only_tool_messages() {
                true => item.get("call_id").cloned().unwrap_or_default(),
                false => string_of(&item, "call_id"),
            }
        } else {
            self.searches += 1;
            let mut ids = ["call_id", "id"].iter().filter_map(|key| item.get(key)).filter(|id| id.as_text().is_some());
            let id = ids.next().cloned();
            let id = id.unwrap_or_else(|| Node::string(format!("call_{search_name}_{}", self.searches)));
            self.hosted.push_back(id.clone());
            id
        };
        let name = Text::new(String::from(search_name));
        if source_item.is_none() {
            let is_its_id = item.get("call_id").is_none_or(|id| id.as_text().is_none()) && !is_client;
            let key = if is_its_id { "id" } else { "call_id" };
            self.reader.lose_rest(&item, &["type", "status", "execution", "arguments", key]);
        }
        let arguments = match item.visit("arguments", core::mem::take).unwrap_or_default() {
            text if text.as_text().is_some() => Arguments::Text(text),
            value => Arguments::Value(value),
        };
        let search = Some(if is_client { Searcher::Client } else { Searcher::Hosted });
        self.push(message, EventKind::Call(Call { id, name, arguments, search, source_item }));
    }

    fn call_id_of(&mut self, item: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
        if !is_client_search(item) {
            return Ok(self.hosted.pop_front());
        }
        let Some(id) = item.text_at("call_id") else { return Ok(None) };
        let is_called = self.calls.contains(id) || {
            // The caller may have converted the search call to a function call but not its output.
            if self.earlier.is_none() {
                let mut ordinary = Map::new();
                for (index, item) in self.reader.history.messages().iter().enumerate() {
                    let item = view(item)?;
                    let id = item.text_at("call_id").filter(|_| has_type(&item, "function_call"));
                    id.into_iter().for_each(|id| {
                        ordinary.entry(id.clone()).or_insert(index + 1);
                    });
                }
                self.earlier = Some(ordinary);
            }
            self.earlier.as_ref().and_then(|earlier| earlier.get(id)).is_some_and(|call| *call < self.at)
        };
        Ok(Some(string_of(item, "call_id")).filter(|_| is_called))
    }

    fn search_output(&mut self, mut item: Node<'a>) -> Result<(), Error> {
        self.reader.mark_changed(self.at);
        let source_item = (self.reader.same_format() && !self.reader.emulates()).then(|| item.clone());
        let called = self.call_id_of(&item)?;
        let is_client = is_client_search(&item);
        let id = ["call_id", "id"].iter().find_map(|key| item.get(key)?.as_text()).cloned();
        if source_item.is_none() {
            self.reader.lose_rest(&item, &["type", "status", "execution", "tools", "call_id"]);
        }
        let mut names = Vec::new();
        if self.reader.may_change() {
            for (definition, origin) in self.definitions(&mut item) {
                names.extend(tool::name(&definition).cloned().map(|name| (name, origin)));
                self.reader.add_definition_at(definition, Arrival::Found, origin);
            }
        } else {
            // If tool changes are ignored, the output may only load tools in the request's list.
            names = self.names_in(&item);
        }
        let references = names.into_iter().map(|(name, origin)| reference(Node::string(name), origin)).collect();
        let content = Content::Parts(Vec::from([Part::Search(SearchOutcome {
            origin: self.reader.location,
            references,
            block: Node::default(),
            error: None,
            is_whole: true,
        })]));
        let of_search = Some(if is_client { Searcher::Client } else { Searcher::Hosted });
        let Some(call) = called else {
            self.reader.warn_of_orphan(id.as_ref());
            // The output is dropped, but its tools remain loaded.
            let message = self.turns.current();
            self.push(message, EventKind::Orphan(content));
            return Ok(());
        };
        let message = self.turn(Phase::Other);
        self.push(message, EventKind::Result(Outcome { of_search, ..Outcome::new(call, content, source_item) }));
        Ok(())
    }

    fn additional_tools(&mut self, mut item: Node<'a>) {
        self.reader.mark_changed(self.at);
        let message = self.turns.current();
        let is_head = self.reader.is_before_messages();
        if !self.reader.may_change() {
            let names = self.names_in(&item);
            let item = self.reader.location;
            for (name, origin) in names {
                self.reader.location = origin;
                self.push(message, EventKind::Ignored(name));
            }
            self.reader.location = item;
            return;
        }
        let definitions = self.definitions(&mut item);
        let mut additions = Vec::with_capacity(definitions.len());
        for (definition, origin) in definitions {
            if is_head || tool::kind(&definition) != tool::Kind::Tool {
                self.reader.add_to_list(definition, origin);
                continue;
            }
            let is_deferred = tool::deferral(&definition).0;
            let arrival = if is_deferred { Arrival::Listed } else { Arrival::Visible };
            let Some(name) = tool::name(&definition).cloned() else {
                match self.reader.emulates() {
                    true => self.reader.add_definition_at(definition, arrival, origin),
                    false => {
                        let item = core::mem::replace(&mut self.reader.location, origin);
                        self.reader.lose_block(&definition);
                        self.reader.location = item;
                    }
                }
                continue;
            };
            self.reader.add_definition_at(definition, arrival, origin);
            if !is_deferred {
                additions.push(Addition { origin, name, definition: None, cache_control: None, is_known: false });
            }
        }
        if !additions.is_empty() {
            self.push(message, EventKind::Define(additions));
        }
    }

    fn definitions(&mut self, item: &mut Node<'a>) -> Vec<(Node<'a>, Location)> {
        let tools = item.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        let tools = tools.unwrap_or_default();
        let location = self.reader.location.name("tools");
        namespaces::flatten(tools, location, self.reader.reading.names, self.reader.reading.warnings)
    }

    fn names_in(&self, item: &Node<'a>) -> Vec<(Text<'a>, Location)> {
        let tools = item.items_at("tools");
        namespaces::names_in(tools, self.reader.location.name("tools"), self.reader.reading.names)
    }
}

fn part<'a>(reader: &mut Reader<'_, '_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.same_format() {
        return Ok(Some(Part::Untranslated(block)));
    }
    let block = &mut block;
    for (kind, key) in [("input_text", "text"), ("output_text", "text"), ("text", "text"), ("refusal", "refusal")] {
        if has_type(block, kind) {
            reader.lose_rest(block, &["type", key]);
            let text = block.visit(key, core::mem::take).filter(|text| text.as_text().is_some());
            let is_refusal = key == "refusal";
            return Ok(text.map(|text| if is_refusal { reader.refusal(text) } else { Part::Text(text) }));
        }
    }
    let url = block.get("image_url").filter(|url| has_type(block, "input_image") && url.as_text().is_some()).cloned();
    match url {
        Some(url) => {
            let detail = block.get("detail").filter(|detail| detail.as_text().is_some()).cloned();
            Ok(Some(Part::Image { url, detail }))
        }
        None => {
            reader.lose_block(block);
            Ok(None)
        }
    }
}
