//! Writer for Anthropic Messages. With native deferred loading, results refer to tools, and system messages add and
//! remove tools.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Set,
    dialect::surface::NamePattern,
    error::Error,
    json::{lazy::view, Node, Text},
    names,
    options::{Native, ServerHistory},
    request::{
        conversation::{self, Addition, Call, Content, Event, EventKind, Outcome, Part, Role, Searcher},
        instructions,
        location::Location,
        report::LOST,
        tool::{has_type, type_of},
        writer::{definitions::DefinitionLocation, load_id, put_history, Writer, LOAD_ID_PREFIX},
    },
};

/// Writes the history, and the system prompt if the format changes.
pub(crate) fn write<'a>(
    writer: &mut Writer<'_, 'a>,
    request: &mut Node<'a>,
    events: Vec<Event<'a>>,
) -> Result<(), Error> {
    let events = conversation::order_turns(events, writer.writing.warnings);
    let mut ids = Ids::default();
    if writer.native() == Native::References {
        ids.synthesized = synthesized_ids(&events, &writer.history)?;
    }
    let mut messages = Messages {
        writer,
        system: Vec::new(),
        out: Vec::new(),
        pending: Vec::new(),
        passed: 0,
        late: Vec::new(),
        pending_message: 0,
        ids,
        synthesized_count: 0,
        has_content: false,
        last: None,
        turn: 0,
        is_open: false,
    };
    for event in events {
        messages.event(event);
    }
    messages.end_results();
    messages.write_pending();
    let Messages { system, mut out, .. } = messages;
    if out.is_empty() {
        // The API requires at least one message.
        out.push(message(Role::User, Vec::from([text(Node::literal("."))])));
    }
    put_history(request, "messages", out);
    match system.as_slice() {
        [] => {}
        [only] => request.set("system", only.clone()),
        _ => request.set("system", Node::array(system.into_iter().map(text).collect())),
    }
    Ok(())
}

struct Messages<'m, 'w, 'a> {
    writer: &'m mut Writer<'w, 'a>,
    system: Vec<Node<'a>>,
    out: Vec<Node<'a>>,
    /// Blocks of a system message that is written later, because the API does not accept it at this position. Each
    /// block has the location of its source.
    pending: Vec<(Node<'a>, Location)>,
    /// Number of the pending blocks whose move after later content is already reported.
    passed: usize,
    /// Content of search results, written after all results of a turn.
    late: Vec<Node<'a>>,
    /// Number of the source message of `pending`.
    pending_message: usize,
    ids: Ids,
    /// Number of synthesized exchanges so far.
    synthesized_count: usize,
    /// True once something other than the system prompt is written.
    has_content: bool,
    last: Option<Role>,
    /// Index of the first message of the model's last turn.
    turn: usize,
    /// True if blocks may be appended to the last message. False for messages of the source, which remain unchanged.
    is_open: bool,
}

impl<'a> Messages<'_, '_, 'a> {
    fn event(&mut self, event: Event<'a>) {
        if !matches!(event.kind, EventKind::Result(_)) {
            self.end_results();
        }
        self.keep_apart(&event);
        let location = event.origin;
        self.writer.writing.warnings.set_location(location);
        match event.kind {
            EventKind::Text { role: Role::System, content } if !self.has_content && !self.writer.same_format() => {
                let texts = content.into_parts().into_iter();
                self.system
                    .extend(texts.filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None }));
            }
            EventKind::Text { role: Role::System, content } => {
                let blocks = content.into_parts().into_iter().filter_map(block);
                self.pending.extend(blocks.map(|block| (block, location)));
            }
            EventKind::Text { role, content } => {
                let blocks = content.into_parts().into_iter().filter_map(block).collect();
                self.push(role, blocks);
            }
            EventKind::Call(call) => self.call(call),
            EventKind::Result(outcome) => self.result(outcome),
            EventKind::Add(additions) | EventKind::Define(additions) => self.write_additions(additions),
            EventKind::Remove { name, .. } => self.write_removal(&name, location),
            EventKind::Reasoning(thought) if self.writer.same_format() => {
                self.push(Role::Assistant, Vec::from([thought]))
            }
            EventKind::Reasoning(thought) => {
                let name = type_of(&thought).map_or_else(|| "reasoning_content".into(), Text::display);
                self.writer.writing.warnings.warn_named(LOST, name);
            }
            EventKind::Unchanged(role) => {
                let message = self.writer.take_message(event.at);
                self.pass_pending(role);
                self.has_content = true;
                self.begin_turn(role);
                (self.last, self.is_open) = (Some(role), false);
                self.out.push(message);
            }
            EventKind::Server { .. } | EventKind::Orphan(_) | EventKind::Used(_) | EventKind::Ignored(_) => {}
        }
    }

    fn end_results(&mut self) {
        let late = core::mem::take(&mut self.late);
        self.push(Role::User, late);
    }

    /// Writes the pending blocks before the client's next message if the format does not change: a cached prefix may
    /// end between the two messages.
    fn keep_apart(&mut self, event: &Event<'a>) {
        let is_next = self.writer.same_format() && event.message != self.pending_message;
        let is_allowed = matches!(self.last, Some(Role::User | Role::System));
        let has_effect = match &event.kind {
            EventKind::Add(_) | EventKind::Define(_) | EventKind::Remove { .. } => true,
            EventKind::Text { role, .. } | EventKind::Unchanged(role) => *role == Role::System,
            _ => false,
        };
        if is_next && is_allowed && has_effect {
            self.write_pending();
        }
        self.pending_message = event.message;
    }

    fn push(&mut self, role: Role, blocks: Vec<Node<'a>>) {
        if blocks.is_empty() {
            return;
        }
        self.has_content = true;
        self.pass_pending(role);
        let goes_on = self.is_open && self.last == Some(role);
        self.begin_turn(role);
        (self.last, self.is_open) = (Some(role), true);
        match self.out.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.visit("content", |content| content.as_array_mut().map(|list| list.extend(blocks)));
            }
            None => self.out.push(message(role, blocks)),
        }
    }

    /// Writes the pending blocks before a turn of the model. Other messages are written before the pending blocks, and
    /// the move is reported.
    fn pass_pending(&mut self, role: Role) {
        if role == Role::Assistant {
            return self.write_pending();
        }
        let passed = core::mem::replace(&mut self.passed, self.pending.len());
        report_moved(self.writer, self.pending.get(passed..).unwrap_or_default());
    }

    /// Text becomes a user message if it does not follow a user message. All other blocks become a system message. If
    /// the API refuses the system message after the model's last turn, it is written before that turn.
    fn write_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let blocks = core::mem::take(&mut self.pending);
        self.passed = 0;
        let after_user = self.last == Some(Role::User);
        // The API merges consecutive system messages.
        let is_text = self.last != Some(Role::System) && blocks.iter().all(|(block, _)| block.get("text").is_some());
        if is_text && !after_user {
            let blocks = blocks.into_iter().map(|(block, _)| block).collect::<Vec<_>>();
            let goes_on = after_user && self.is_open;
            (self.last, self.is_open) = (Some(Role::User), true);
            match self.out.last_mut().filter(|_| goes_on) {
                Some(last) => {
                    last.visit("content", |content| content.as_array_mut().map(|list| list.extend(blocks)));
                }
                None => self.out.push(message(Role::User, blocks)),
            }
        } else if let Some(at) = self.place_before_turn() {
            // No message of the user is between the model's turn and the blocks, so none of them is reported yet.
            report_moved(self.writer, &blocks);
            self.out.insert(at, message(Role::System, blocks.into_iter().map(|(block, _)| block).collect()));
            self.turn = at + 1;
        } else {
            (self.last, self.is_open) = (Some(Role::System), true);
            self.out.push(message(Role::System, blocks.into_iter().map(|(block, _)| block).collect()));
        }
    }

    /// Returns the index of the model's turn if a system message must move before the turn. The API accepts a system
    /// message after the turn only if the turn ends with the result of a tool that its servers ran.
    fn place_before_turn(&self) -> Option<usize> {
        let is_model = self.last == Some(Role::Assistant);
        // The first message must be a user message. Copied messages may be unparsed.
        let last = self.out.last().filter(|_| is_model && self.turn > 0)?;
        let ends = view(last).is_ok_and(|last| ends_in_server_result(&last));
        (!ends).then_some(self.turn)
    }

    fn begin_turn(&mut self, role: Role) {
        if role == Role::Assistant && self.last != Some(Role::Assistant) {
            self.turn = self.out.len();
        }
    }

    fn is_dropped(&self, is_hosted: bool) -> bool {
        let writing = &self.writer.writing;
        is_hosted && writing.options.native == Native::None && writing.options.server_history == ServerHistory::Drop
    }

    fn call(&mut self, call: Call<'a>) {
        if self.is_dropped(call.search == Some(Searcher::Hosted)) {
            self.writer.drop_search();
            return;
        }
        self.writer.record_search(&call);
        if let Some(item) = call.source_item {
            self.push(Role::Assistant, Vec::from([item]));
            return;
        }
        let id = self.ids.of(&call.id, self.writer);
        let (input, is_object) = call.arguments.value();
        if !is_object {
            self.writer.writing.warnings.warn_named("arguments-not-an-object", call.name.display());
        }
        let block = Node::record([
            ("type", Node::literal("tool_use")),
            ("id", id),
            ("name", Node::string(call.name)),
            ("input", input),
        ]);
        self.push(Role::Assistant, Vec::from([block]));
    }

    fn result(&mut self, mut outcome: Outcome<'a>) {
        if self.is_dropped(outcome.of_search == Some(Searcher::Hosted)) {
            self.writer.drop_search();
            return;
        }
        let native = self.writer.native();
        // The API refuses references to tools that are not in the list.
        let is_whole = outcome.found_tools.iter().flatten().all(|name| self.writer.can_be_sent(name));
        if let Some(source_item) = outcome.source_item.take_if(|_| is_whole) {
            let is_hosted = outcome.of_search == Some(Searcher::Hosted);
            self.push(if is_hosted { Role::Assistant } else { Role::User }, Vec::from([source_item]));
            return;
        }
        if let Some(source_item) =
            outcome.source_item.as_ref().filter(|source_item| has_type(source_item, "tool_search_tool_result"))
        {
            let block = self.search_result(
                source_item.clone(),
                outcome.found_tools.as_deref().unwrap_or_default(),
                &outcome.removed_tools,
            );
            return self.push(Role::Assistant, Vec::from([block]));
        }
        let id = self.ids.of(&outcome.id, self.writer);
        let content = match (&outcome.found_tools, native) {
            (Some(found_tools), Native::References | Native::Changes | Native::Inline) if !outcome.is_error => {
                let others = self.writer.rest_of_search_result(&outcome.id, outcome.content);
                self.late.extend(others.into_iter().filter_map(block));
                self.references(found_tools, &outcome.removed_tools)
            }
            (found_tools, _) => {
                let mut content = outcome.content;
                if let Some(found_tools) = found_tools.as_ref().filter(|_| !outcome.is_error) {
                    let mut parts = content.into_parts();
                    parts.extend(self.writer.found_texts(found_tools, &outcome.removed_tools));
                    content = Content::Parts(parts);
                }
                result_content(content)
            }
        };
        let mut block =
            Node::record([("type", Node::literal("tool_result")), ("tool_use_id", id), ("content", content)]);
        if outcome.is_error {
            block.set("is_error", Node::bool(true));
        }
        self.push(Role::User, Vec::from([block]));
    }

    fn search_result(&self, mut block: Node<'a>, names: &[Text<'a>], gone: &Set<Text<'a>>) -> Node<'a> {
        let is_there = |name: &&Text<'a>| self.writer.can_be_sent(name) && !gone.contains(*name);
        let references: Vec<Node<'a>> = names.iter().filter(is_there).map(reference).collect();
        let references = Node::array(references);
        match block.get("content") {
            Some(_) => drop(block.visit("content", |content| content.set("tool_references", references))),
            None => block.set("tool_references", references),
        }
        block
    }

    /// Returns the content of a result with references. The API refuses other blocks next to references, and references
    /// to unknown tools.
    fn references(&self, names: &[Text<'a>], gone: &Set<Text<'a>>) -> Node<'a> {
        let is_there = |name: &&Text<'a>| self.writer.can_be_sent(name) && !gone.contains(name);
        let blocks: Vec<Node<'a>> = names.iter().filter(is_there).map(reference).collect();
        if blocks.is_empty() {
            let text = if names.is_empty() { instructions::NO_MATCH } else { instructions::REMOVED };
            return Node::literal(text);
        }
        Node::array(blocks)
    }

    fn write_additions(&mut self, additions: Vec<Addition<'a>>) {
        for Addition { origin, name, definition, .. } in additions {
            self.writer.writing.warnings.set_location(origin);
            match (self.writer.native(), self.writer.locations.of(&name)) {
                (_, DefinitionLocation::Nowhere) => {}
                _ if definition.is_none() && !self.writer.can_be_sent(&name) => {}
                (Native::Inline, location) => {
                    let is_new = !self.writer.locations.declare(core::slice::from_ref(&name)).is_empty();
                    let kept_definition =
                        definition.filter(|_| self.writer.same_format()).map(|(definition, location)| {
                            self.writer.added.add_in_order(&name, location);
                            definition
                        });
                    let written =
                        self.writer.definitions.get(&name).filter(|_| location == DefinitionLocation::Event && is_new);
                    let tool = match kept_definition.or_else(|| written.cloned()) {
                        Some(definition) => {
                            Node::record([("type", Node::literal("tool_definition")), ("definition", definition)])
                        }
                        None => by_name(&name),
                    };
                    self.pending.push((change("tool_addition", tool), origin));
                }
                (Native::Changes, _) => self.pending.push((change("tool_addition", by_name(&name)), origin)),
                (Native::References, DefinitionLocation::Deferred) => self.write_synthesized_search(&name),
                _ => {}
            }
        }
    }

    fn write_removal(&mut self, name: &Text<'a>, origin: Location) {
        match self.writer.native() {
            Native::Changes | Native::Inline if self.writer.locations.of(name) != DefinitionLocation::Nowhere => {
                self.pending.push((change("tool_removal", by_name(name)), origin));
            }
            _ => {
                let notice = self.writer.removal_notice(name);
                self.pending.push((text(Node::string(notice)), origin));
            }
        }
    }

    /// Writes a synthesized search that loads a tool, for targets that do not support additions.
    fn write_synthesized_search(&mut self, name: &Text<'a>) {
        self.writer.writing.warnings.warn_named("synthesized-exchange", name.display());
        // The history may contain synthesized exchanges from earlier requests.
        let id = loop {
            self.synthesized_count += 1;
            let id = load_id(self.synthesized_count);
            if !self.ids.synthesized.contains(&id) {
                break id;
            }
        };
        let search = self.writer.search.clone();
        let search = search.unwrap_or_else(|| Text::new(String::from(&*self.writer.writing.options.tool_search_name)));
        let query = Node::string(name.clone());
        let call = Node::record([
            ("type", Node::literal("tool_use")),
            ("id", Node::string(id.clone())),
            ("name", Node::string(search)),
            ("input", Node::record([("query", query)])),
        ]);
        let result = Node::record([
            ("type", Node::literal("tool_result")),
            ("tool_use_id", Node::string(id)),
            ("content", Node::array(Vec::from([reference(name)]))),
        ]);
        self.push(Role::Assistant, Vec::from([call]));
        self.push(Role::User, Vec::from([result]));
    }
}

fn message<'a>(role: Role, blocks: Vec<Node<'a>>) -> Node<'a> {
    Node::record([("role", Node::literal(role.name())), ("content", Node::array(blocks))])
}

fn text(text: Node<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("text")), ("text", text)])
}

fn reference<'a>(name: &Text<'a>) -> Node<'a> {
    Node::record([("type", Node::literal("tool_reference")), ("tool_name", Node::string(name.clone()))])
}

fn report_moved<'a>(writer: &mut Writer<'_, 'a>, blocks: &[(Node<'a>, Location)]) {
    for (block, origin) in blocks {
        let name = block.get("tool").and_then(changed_name).map_or_else(|| "text".into(), Text::display);
        writer.writing.warnings.warn_named_at("moved", name, origin.pointer(writer.writing.source));
    }
}

fn changed_name<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Text<'a>> {
    tool.get("definition").unwrap_or(tool).text_at("name")
}

fn ends_in_server_result(message: &Node<'_>) -> bool {
    let last = message.array_at("content").and_then(<[Node<'_>]>::last);
    last.and_then(type_of).is_some_and(|kind| kind.display().ends_with("_result"))
}

/// Returns the reference in an addition or a removal.
fn by_name<'a>(name: &Text<'a>) -> Node<'a> {
    Node::record([("type", Node::literal("tool_reference")), ("name", Node::string(name.clone()))])
}

fn change<'a>(kind: &'static str, tool: Node<'a>) -> Node<'a> {
    Node::record([("type", Node::literal(kind)), ("tool", tool)])
}

fn result_content(content: Content<'_>) -> Node<'_> {
    let mut parts = match content {
        Content::String(text) => return text,
        Content::Parts(parts) => parts,
    };
    if let [Part::Text(_)] = parts.as_slice() {
        if let Some(Part::Text(text)) = parts.pop() {
            return text;
        }
    }
    let blocks: Vec<Node<'_>> = parts.into_iter().filter_map(block).collect();
    if blocks.is_empty() {
        return Node::literal("");
    }
    Node::array(blocks)
}

/// Returns `None` for empty text, because the API refuses empty text blocks.
fn block(part: Part<'_>) -> Option<Node<'_>> {
    match part {
        Part::Text(words) if words.as_text().is_some_and(Text::is_empty) => None,
        Part::Text(words) => Some(text(words)),
        Part::Untranslated(block) => Some(block),
        Part::Reference(_) | Part::Search(_) | Part::Ignored => None,
        Part::Image { url, .. } => Some(Node::record([("type", Node::literal("image")), ("source", source(url))])),
    }
}

fn source(url: Node<'_>) -> Node<'_> {
    let inline = url.as_text().and_then(Text::value).and_then(|url| {
        let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
        Some((String::from(media_type), String::from(data)))
    });
    match inline {
        Some((media_type, data)) => Node::record([
            ("type", Node::literal("base64")),
            ("media_type", Node::string(media_type)),
            ("data", Node::string(data)),
        ]),
        None => Node::record([("type", Node::literal("url")), ("url", url)]),
    }
}

fn synthesized_ids(events: &[Event<'_>], history: &[Node<'_>]) -> Result<Set<String>, Error> {
    let mut ids = Set::new();
    let mut keep = |id: Option<&Text<'_>>| {
        ids.extend(id.map(|id| id.display().into_owned()).filter(|id| id.starts_with(LOAD_ID_PREFIX)));
    };
    for event in events {
        match &event.kind {
            EventKind::Call(call) => keep(call.id.as_text()),
            EventKind::Unchanged(Role::Assistant) => {
                let Some(message) = history.get(event.at.saturating_sub(1)).map(view).transpose()? else { continue };
                let blocks = message.items_at("content");
                blocks.iter().for_each(|block| keep(block.text_at("id")));
            }
            _ => {}
        }
    }
    Ok(ids)
}

/// Replaces call ids that the API refuses. Every request gets equal replacements.
#[derive(Default)]
pub(crate) struct Ids {
    renamed: Set<String>,
    /// Ids of exchanges that were synthesized in earlier requests.
    synthesized: Set<String>,
}

impl Ids {
    pub(crate) fn of<'a>(&mut self, id: &Node<'a>, writer: &mut Writer<'_, 'a>) -> Node<'a> {
        let Some(old) = id.as_text().filter(|old| !names::is_legal(NamePattern::ANTHROPIC_ID, old)) else {
            return id.clone();
        };
        if self.renamed.insert(old.display().into_owned()) {
            writer.writing.warnings.warn_named("call-id-changed", old.display().as_ref());
        }
        Node::string(names::mapped(NamePattern::ANTHROPIC_ID, old, &[old]))
    }
}
