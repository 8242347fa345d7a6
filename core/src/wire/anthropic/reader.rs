//! Reader for Anthropic Messages. Clients also use the blocks of Anthropic's messages in messages of other formats, so
//! other readers read them here.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{
        lazy::{may_hold, take, view},
        Data, Flags, Node, Text,
    },
    options::{Api, Native, UnavailableCalls},
    request::{
        conversation::{
            parse_verbatim, string_of, Addition, Arguments, Call, Content, Event, EventKind, Outcome, Part, Role,
            SearchOutcome, Searcher,
        },
        instructions,
        location::{Location, Step},
        reader::{lenient_role, no_object, no_role, references_from, Reader},
        tool::{self, has_type, starts_with},
        tools::Arrival,
    },
    wire::additions::ToolChangeKind,
    wire::anthropic::mentions::any_block,
    wire::anthropic::mentions::changed_definition,
    wire::anthropic::mentions::changed_tool_name,
    wire::anthropic::mentions::concerns_tools,
    wire::anthropic::mentions::is_bare_definition,
    wire::anthropic::mentions::is_reference,
    wire::anthropic::mentions::is_search_outcome,
    wire::anthropic::mentions::is_tool_ref,
    wire::anthropic::mentions::is_typed_outcome,
    wire::anthropic::mentions::tool_change_kind,
    wire::prompt::whole,
};

pub(crate) fn read<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    request: &Node<'a>,
    prompt: Option<Node<'a>>,
) -> Result<(), Error> {
    if prompt.is_some() {
        message(reader, (0, 0), Role::System, prompt, part)?;
    } else if reader.reads_only_tool_messages() {
        let blocks = request.items_at("system");
        let mut concerns = false;
        for block in blocks {
            concerns |= may_hold(block, Flags::DEFERRAL) && concerns_tools(&*view(block)?);
        }
        if concerns {
            message(reader, (0, 0), Role::System, request.get("system").cloned(), part)?;
        }
    }
    if reader.conversation.is_in_place {
        for (index, message) in request.items_at("messages").iter().enumerate() {
            let role = lenient_role(&*view(message)?);
            reader.push(index + 1, EventKind::Unchanged(role));
        }
        return Ok(());
    }
    for index in 0..reader.history.messages().len() {
        let at = index + 1;
        reader.location = Location::of_message(at);
        if reader.reads_only_tool_messages() {
            let Some(mut old) = reader.open_if_concerned(index, concerns)? else { continue };
            let role = if is_tool_ref(&old) {
                old = in_user_message(old);
                reader.is_bare = true;
                Role::User
            } else {
                lenient_role(&old)
            };
            let content = take(&mut old, "content")?;
            reader.conversation.originals.insert(at, old);
            message(reader, (at, at), role, content, part)?;
            continue;
        }
        let pointer = format!("/messages/{index}");
        let kept = match reader.history.messages().get(index) {
            Some(old) if is_unchanged(reader, old)? => {
                let old = view(old)?;
                let used = if reader.reading.options.load_used_tools { call_names(&old) } else { Vec::new() };
                Some((role(&old, &pointer)?, used))
            }
            _ => None,
        };
        if let Some((role, used)) = kept {
            used.into_iter().for_each(|name| reader.push(at, EventKind::Used(name)));
            reader.push(at, EventKind::Unchanged(role));
            continue;
        }
        let mut old = reader.open(index)?;
        if is_tool_ref(&old) && reader.emulates() {
            old = in_user_message(old);
            reader.is_bare = true;
        }
        let role = role(&old, &pointer)?;
        reader.lose_rest(&old, &["role", "content"]);
        let content = take(&mut old, "content")?;
        message(reader, (at, at), role, content, part)?;
    }
    read_server_calls(reader, part)
}

pub(crate) fn concerns(message: &Node<'_>, calls: bool) -> bool {
    let is = |block: &Node<'_>| {
        concerns_tools(block)
            || calls && ["tool_use", "mcp_tool_use", "tool_result"].iter().any(|kind| has_type(block, kind))
    };
    is_tool_ref(message) || message.get("content").is_some_and(|content| any_block(content, is))
}

pub(crate) fn in_user_message(block: Node<'_>) -> Node<'_> {
    Node::record([("role", Node::literal("user")), ("content", Node::array(alloc::vec![block]))])
}

fn is_unchanged(reader: &Reader<'_, '_, '_>, message: &Node<'_>) -> Result<bool, Error> {
    Ok(match reader.reading.target {
        Api::Anthropic => {
            let texts = reader.reading.options.unavailable_calls == UnavailableCalls::Text;
            !may_hold(message, reader.wanted_flags()) || !refers_to_tools(&*view(message)?, texts)
        }
        Api::OpenaiChat => means_same_in_chat(&*view(message)?),
        _ => false,
    })
}

fn call_names<'a>(message: &Node<'a>) -> Vec<Text<'a>> {
    let blocks = message.items_at("content");
    let calls = blocks.iter().filter(|block| has_type(block, "tool_use") || has_type(block, "mcp_tool_use"));
    calls.filter_map(|call| call.text_at("name")).cloned().collect()
}

/// If `calls` is true, calls and results also count. The member `caller` does not.
fn refers_to_tools(message: &Node<'_>, calls: bool) -> bool {
    let is = |block: &Node<'_>| {
        !has_type(block, "tool_use") && concerns_tools(block)
            || calls && ["tool_use", "tool_result"].iter().any(|kind| has_type(block, kind))
    };
    message.get("content").is_some_and(|content| any_block(content, is))
}

pub(crate) fn all_mean_same_in_chat(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("system").is_some() {
        return Ok(false);
    }
    for message in request.items_at("messages") {
        if !means_same_in_chat(&*view(message)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn means_same_in_chat(message: &Node<'_>) -> bool {
    let Some(object) = message.as_object() else { return false };
    let roles = ["user", "assistant", "system"];
    let role = object.get("role").is_some_and(|role| roles.iter().any(|name| role.is_text(name)));
    let plain = object.iter().all(|member| member.key.is("role") || member.key.is("content"));
    let content = object.get("content").is_some_and(|content| match content.data() {
        Data::String(_) => true,
        // This library writes messages with images in this form.
        Data::Array(parts) => {
            let is_image = |part: &Node<'_>| has_type(part, "image_url");
            parts.iter().any(is_image) && parts.iter().all(|part| is_image(part) || is_text_alone(part))
        }
        _ => false,
    });
    role && plain && content
}

fn is_text_alone(part: &Node<'_>) -> bool {
    has_type(part, "text")
        && part
            .as_object()
            .is_some_and(|object| object.len() == 2 && object.get("text").is_some_and(|text| text.as_text().is_some()))
}

fn role(message: &Node<'_>, at: &str) -> Result<Role, Error> {
    if message.as_object().is_none() {
        return Err(no_object(message, at));
    }
    let is = |name| message.get("role").is_some_and(|role| role.is_text(name));
    if ["user", "assistant", "system", "developer"].into_iter().any(is) {
        Ok(lenient_role(message))
    } else {
        Err(no_role(message, at, "`user`, `assistant` or `system`"))
    }
}

fn part<'a>(reader: &mut Reader<'_, '_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.same_format() {
        return Ok(Some(Part::Untranslated(block)));
    }
    if has_type(&block, "text") {
        reader.lose_rest(&block, &["type", "text"]);
        let text = block.visit("text", core::mem::take).filter(|text| text.as_text().is_some());
        return Ok(text.map(Part::Text));
    }
    if has_type(&block, "image_url") && reader.reading.target == Api::OpenaiChat {
        return Ok(Some(Part::Untranslated(block)));
    }
    if let Some(text) = quoted_text(reader, &block)? {
        let is_empty = text.as_text().is_none_or(Text::is_empty);
        return Ok((!is_empty).then_some(Part::Text(text)));
    }
    let url = if has_type(&block, "image") { image(&block)? } else { None };
    let Some(url) = url else {
        reader.lose_block(&block);
        return Ok(None);
    };
    reader.lose_rest(&block, &["type", "source"]);
    Ok(Some(Part::Image { url, detail: None }))
}

/// Returns the text of a document with its title and context, or of a result of the client's search with its source and
/// title. Returns `None` for any other block, and for content that is not text. Reports the omitted members.
///
/// Source: Anthropic's documentation, search results (`search_result`) and citations (`document` with the sources
/// `text` and `content`; read 2026-11-30).
fn quoted_text<'a>(reader: &mut Reader<'_, '_, 'a>, block: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
    let is_result = has_type(block, "search_result");
    let (content, heads, members): (_, _, &[&str]) = if is_result {
        (block.get("content"), ["source", "title"], &["type", "source", "title", "content"])
    } else if has_type(block, "document") {
        let source = block.get("source");
        let member = ["text", "content"].into_iter().zip(["data", "content"]);
        let content_member = member.into_iter().find(|(kind, _)| source.is_some_and(|source| has_type(source, kind)));
        (
            content_member.and_then(|(_, key)| source?.get(key)),
            ["title", "context"],
            &["type", "title", "context", "source"],
        )
    } else {
        return Ok(None);
    };
    let Some(content) = content.map(view).transpose()? else { return Ok(None) };
    let blocks = content.as_array().unwrap_or_default();
    let is_text = |block: &Node<'_>| has_type(block, "text") && block.text_at("text").is_some();
    if content.as_text().is_none() && (blocks.is_empty() || !blocks.iter().all(is_text)) {
        return Ok(None);
    }
    let texts: Vec<&Text<'_>> =
        content.as_text().into_iter().chain(blocks.iter().filter_map(|block| block.text_at("text"))).collect();
    let heads: Vec<&Text<'_>> = heads.iter().filter_map(|key| block.text_at(key)).collect();
    let joined = |texts: &[&Text<'_>], between: &str| {
        let texts: Result<Vec<_>, Error> = texts.iter().map(|text| whole(text, "/messages")).collect();
        texts.map(|texts| texts.join(between))
    };
    // A text with half a surrogate pair cannot be joined with another text.
    let (Ok(head), Ok(body)) = (joined(&heads, "\n"), joined(&texts, "\n\n")) else { return Ok(None) };
    reader.lose_rest(block, members);
    let outer = reader.location;
    let list = if is_result { outer } else { outer.name("source") }.name("content");
    for (index, text) in blocks.iter().enumerate() {
        reader.location = list.index(index);
        reader.lose_rest(text, &["type", "text"]);
    }
    reader.location = outer;
    let parts: Vec<String> = [head, body].into_iter().filter(|text| !text.is_empty()).collect();
    Ok(Some(Node::string(parts.join("\n\n"))))
}

fn image<'a>(image: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
    let Some(source) = image.get("source") else { return Ok(None) };
    if has_type(source, "url") {
        return Ok(source.get("url").filter(|url| url.as_text().is_some()).cloned());
    }
    let text = |key| source.text_at(key);
    Ok(match (text("media_type"), text("data")) {
        (Some(media_type), Some(data)) if has_type(source, "base64") => {
            let (media_type, data) = (whole(media_type, "/messages")?, whole(data, "/messages")?);
            let mut url = String::from("data:");
            url.extend([&*media_type, ";base64,", &*data]);
            Some(Node::string(url))
        }
        _ => None,
    })
}

/// Reads a block without any relation to tools.
pub(crate) type ReadPart<'r, 'n, 'a> = fn(&mut Reader<'r, 'n, 'a>, Node<'a>) -> Result<Option<Part<'a>>, Error>;

/// Reads the content of a message, or the system prompt.
pub(crate) fn message<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    (at, number): (usize, usize),
    role: Role,
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<(), Error> {
    let outer = reader.location;
    if at > 0 && !reader.is_bare {
        reader.enter(Step::Name(reader.member));
    }
    let done = blocks(reader, (at, number), role, content, part);
    reader.location = outer;
    reader.is_bare = false;
    done
}

fn blocks<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    (at, number): (usize, usize),
    role: Role,
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<(), Error> {
    let content = content.map(parse_verbatim).transpose()?.map(Node::into_data);
    let is_list = matches!(&content, Some(Data::Array(_))) && !reader.is_bare;
    let blocks = match content {
        Some(Data::Array(blocks)) if !blocks.is_empty() => blocks,
        Some(Data::Object(object)) if reader.emulates() => {
            let block = Node::new(Data::Object(object));
            if is_search_outcome(&block) {
                reader.mark_changed(at);
                let content = Content::Parts(Vec::from([Part::Search(search(&block, reader.location, true))]));
                reader.push_to(at, number, EventKind::Text { role, content });
                return Ok(());
            }
            let is_read = concerns_tools(&block) || has_type(&block, "tool_use") || has_type(&block, "tool_result");
            if !is_read && !reader.same_format() {
                reader.lose("content", &block);
                reader.push_to(at, number, EventKind::Text { role, content: Content::Parts(Vec::new()) });
                return Ok(());
            }
            Vec::from([block])
        }
        other => {
            let content = reader.content(other.map(Node::new), part)?;
            reader.push_to(at, number, EventKind::Text { role, content });
            return Ok(());
        }
    };
    let mut pass =
        Pass { reader, at, number, role, parts: Vec::new(), additions: Vec::new(), part_locations: Vec::new() };
    for (index, block) in blocks.into_iter().enumerate() {
        let outer = if is_list { pass.reader.enter(Step::Index(index)) } else { pass.reader.location };
        pass.block(parse_verbatim(block)?, part)?;
        pass.reader.location = outer;
    }
    pass.end_additions();
    pass.end_text();
    Ok(())
}

struct Pass<'p, 'r, 'n, 'a> {
    reader: &'p mut Reader<'r, 'n, 'a>,
    at: usize,
    number: usize,
    role: Role,
    parts: Vec<Part<'a>>,
    additions: Vec<Addition<'a>>,
    /// Locations of the blocks in `parts` or `additions`.
    part_locations: Vec<Location>,
}

impl<'r, 'n, 'a> Pass<'_, 'r, 'n, 'a> {
    fn push(&mut self, kind: EventKind<'a>) {
        self.reader.push_to(self.at, self.number, kind);
    }

    fn push_parts(&mut self, kind: EventKind<'a>) {
        let mut part_locations = core::mem::take(&mut self.part_locations).into_iter();
        let current = self.reader.location;
        self.reader.location = part_locations.next().unwrap_or(current);
        self.push(kind);
        self.reader.location = current;
        if let Some(event) = self.reader.conversation.events.last_mut() {
            event.other_origins = part_locations.collect();
        }
    }

    fn add(&mut self, part: Part<'a>) {
        self.parts.push(part);
        self.part_locations.push(self.reader.location);
    }

    fn end_text(&mut self) {
        if !self.parts.is_empty() {
            let content = Content::Parts(core::mem::take(&mut self.parts));
            self.push_parts(EventKind::Text { role: self.role, content });
        }
    }

    fn end_additions(&mut self) {
        if !self.additions.is_empty() {
            let additions = core::mem::take(&mut self.additions);
            self.push_parts(EventKind::Add(additions));
        }
    }

    fn block(&mut self, block: Node<'a>, part: ReadPart<'r, 'n, 'a>) -> Result<(), Error> {
        if tool_change_kind(&block).is_some() {
            if self.role != Role::System || !self.reader.may_change() {
                self.reader.record_ignored(self.at, &block);
                return Ok(());
            }
            self.end_text();
            self.tool_change(&block);
            return Ok(());
        }
        self.end_additions();
        // A source without blocks for calls may still contain such blocks. Translation drops these blocks, but their
        // references load tools.
        let has_calls = self.reader.source == Api::Anthropic || self.reader.same_format();
        let at = self.at;
        let event = if has_type(&block, "server_tool_use") {
            Some(if is_search_call(self.reader, &block) {
                self.reader.mark_changed(at);
                call(self.reader, at, block)
            } else {
                EventKind::Server { role: self.role, block }
            })
        } else if has_type(&block, "tool_search_tool_result") {
            self.reader.mark_changed(at);
            Some(search_result(self.reader, &block))
        } else if has_calls && has_type(&block, "tool_use") {
            Some(call(self.reader, at, block))
        } else if has_calls && has_type(&block, "tool_result") {
            Some(result(self.reader, at, block, part)?)
        } else if self.reader.source == Api::Anthropic
            && (has_type(&block, "thinking") || has_type(&block, "redacted_thinking"))
        {
            Some(EventKind::Reasoning(block))
        } else {
            if is_reference(&block) {
                let reference = self.reader.reference(at, block);
                self.add(reference);
            } else if is_typed_outcome(&block) {
                self.reader.mark_changed(at);
                self.add(Part::Search(search(&block, self.reader.location, false)));
            } else {
                let emulates = self.reader.emulates();
                if has_type(&block, "mcp_tool_use") || emulates && has_type(&block, "tool_use") {
                    if let Some(name) = block.text_at("name").cloned() {
                        // Earlier events must be applied first, so that tools load in the order of the blocks.
                        self.end_text();
                        self.push(EventKind::Used(name));
                    }
                }
                if let Some(content) = block.get("content").filter(|_| emulates && has_type(&block, "tool_result")) {
                    self.end_text();
                    references_in(self.reader, (at, self.number), "content", content);
                }
                if let Some(part) = part(self.reader, block)? {
                    self.add(part);
                }
            }
            None
        };
        if let Some(event) = event {
            self.end_text();
            self.push(event);
        }
        Ok(())
    }

    /// Reads an addition or a removal. Consecutive additions form one event.
    fn tool_change(&mut self, block: &Node<'a>) {
        self.reader.mark_changed(self.at);
        let name = changed_tool_name(block);
        let definition = changed_definition(block);
        let cache_control = block.get(tool::CACHE).cloned();
        if tool_change_kind(block) == Some(ToolChangeKind::Removal) {
            self.end_additions();
            // A toolset has no name, so it cannot be removed by name.
            let kind = match name.is_empty() {
                false => EventKind::Remove { name, cache_control },
                true if self.reader.emulates() => EventKind::Add(Vec::new()),
                true if self.reader.same_format() => EventKind::Text {
                    role: self.role,
                    content: Content::Parts(Vec::from([Part::Untranslated(block.clone())])),
                },
                true => return self.reader.lose_block(block),
            };
            return self.push(kind);
        }
        let emulates = self.reader.emulates();
        let origin = self.reader.location;
        let tool = origin.name("tool");
        let definition_location = if is_bare_definition(block) { tool } else { tool.name("definition") };
        match definition {
            // The tools of a toolset are not in the request, and the API cannot use a definition in another format.
            Some(definition) if !emulates && (name.is_empty() || definition.get(tool::INNER_FUNCTION).is_some()) => {
                self.reader.location = definition_location;
                self.reader.lose_block(definition);
                self.reader.location = origin;
                return;
            }
            Some(definition) => {
                self.reader.add_definition_at(definition.clone(), Arrival::Added, definition_location);
                if tool::name(definition).is_none() {
                    // A toolset has no name, so it cannot be announced.
                    self.end_additions();
                    return self.push(EventKind::Add(Vec::new()));
                }
                self.additions.push(Addition {
                    origin,
                    name,
                    definition: Some((definition.clone(), definition_location)),
                    cache_control,
                    is_known: false,
                });
            }
            None => self.additions.push(Addition { origin, name, definition: None, cache_control, is_known: false }),
        }
        self.part_locations.push(self.reader.location);
    }
}

fn is_search_call(reader: &Reader<'_, '_, '_>, block: &Node<'_>) -> bool {
    let name = block.text_at("name");
    name.is_some_and(|name| starts_with(name, "tool_search_tool_") || reader.conversation.tools.is_search(name))
}

fn call<'a>(reader: &mut Reader<'_, '_, 'a>, at: usize, mut block: Node<'a>) -> EventKind<'a> {
    let is_hosted = has_type(&block, "server_tool_use");
    if reader.same_format() {
        // An unknown backend may refuse `caller`.
        let emulates = reader.reading.options.native == Native::None;
        let removes = emulates && reader.reading.backend.is_none() && !is_hosted;
        if let Some(caller) = removes.then(|| block.remove("caller")).flatten() {
            reader.lose_member("caller", &caller);
            reader.mark_changed(at);
        }
    } else {
        reader.lose_rest(&block, &["type", "id", "name", "input"]);
    }
    let source_item = reader.same_format().then(|| block.clone());
    let name = block.text_at("name").cloned().unwrap_or_else(|| Text::literal(""));
    let is_search = || reader.reading.options.search_tools.iter().any(|search| name.is(search.as_str()));
    let search = match is_hosted {
        true => Some(Searcher::Hosted),
        false => is_search().then_some(Searcher::Client),
    };
    let arguments = Arguments::Value(block.visit("input", core::mem::take).unwrap_or_default());
    EventKind::Call(Call { id: string_of(&block, "id"), search, name, arguments, source_item })
}

fn result<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    at: usize,
    block: Node<'a>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<EventKind<'a>, Error> {
    if !reader.same_format() {
        reader.lose_rest(&block, &["type", "tool_use_id", "content", "is_error"]);
    }
    let is_error = block.bool_at("is_error") == Some(true);
    let id = string_of(&block, "tool_use_id");
    let (mut source_item, content) = take_content(reader, block, "content");
    let content = result_content(reader, (at, "content"), content, part)?;
    if !reader.emulates() {
        source_item.iter_mut().for_each(remove_directives);
    }
    Ok(EventKind::Result(Outcome { is_error, ..Outcome::new(id, content, source_item) }))
}

/// Removes additions and removals from a result.
fn remove_directives(result: &mut Node<'_>) {
    result.visit("content", |content| {
        let is_directive = |block: &Node<'_>| tool_change_kind(block).is_some();
        if is_directive(content) {
            *content = Node::array(Vec::new());
        } else if !content.as_array().is_some_and(|blocks| blocks.iter().any(is_directive)) {
            return;
        }
        if let Some(blocks) = content.as_array_mut() {
            blocks.retain(|block| !is_directive(block));
            if blocks.is_empty() {
                let text = ("text", Node::literal(instructions::REMOVED));
                blocks.push(Node::record([("type", Node::literal("text")), text]));
            }
        }
    });
}

/// Returns the result and its content. The result is `None` if the format changes. It lacks its content if the content
/// will be rewritten.
pub(crate) fn take_content<'a>(
    reader: &Reader<'_, '_, 'a>,
    mut result: Node<'a>,
    key: &'static str,
) -> (Option<Node<'a>>, Option<Node<'a>>) {
    let is_list = result.get(key).is_some_and(|content| content.as_array().is_some_and(|blocks| !blocks.is_empty()));
    if reader.reads_only_tool_messages() && is_list {
        let content = result.visit(key, core::mem::take);
        return (Some(result), content);
    }
    (reader.same_format().then(|| result.clone()), result.visit(key, core::mem::take))
}

/// Reads the content of a result. Does not read blocks nested in its blocks.
pub(crate) fn result_content<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    (at, member): (usize, &'static str),
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<Content<'a>, Error> {
    let outer = reader.enter(Step::Name(member));
    let content = result_blocks(reader, at, content, part);
    reader.location = outer;
    content
}

fn result_blocks<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    at: usize,
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<Content<'a>, Error> {
    let content = content.map(parse_verbatim).transpose()?.map(Node::into_data);
    let is_list = matches!(&content, Some(Data::Array(_)));
    let blocks = match content {
        Some(Data::Array(blocks)) => blocks,
        Some(Data::Object(object)) => {
            let block = Node::new(Data::Object(object));
            if is_search_outcome(&block) {
                reader.mark_changed(at);
                let search = search(&block, reader.location, true);
                return Ok(Content::Parts(Vec::from([Part::Search(search)])));
            }
            if !is_tool_ref(&block) {
                return reader.content(Some(block), part);
            }
            Vec::from([block])
        }
        other => return reader.content(other.map(Node::new), part),
    };
    let mut parts = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let block = parse_verbatim(block)?;
        let outer = if is_list { reader.enter(Step::Index(index)) } else { reader.location };
        if tool_change_kind(&block).is_some() {
            reader.record_ignored(at, &block);
            parts.extend(reader.emulates().then_some(Part::Ignored));
        } else if is_reference(&block) {
            parts.push(reader.reference(at, block));
        } else if is_typed_outcome(&block) {
            reader.mark_changed(at);
            parts.push(Part::Search(search(&block, reader.location, false)));
        } else {
            parts.extend(part(reader, block)?);
        }
        reader.location = outer;
    }
    Ok(Content::Parts(parts))
}

/// Records the references in a block that is not sent, so that their tools remain loaded.
pub(crate) fn references_in<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    (at, number): (usize, usize),
    member: &'static str,
    content: &Node<'a>,
) {
    let mut parts = Vec::new();
    let outer = reader.enter(Step::Name(member));
    let list = reader.location;
    for (index, block) in content.as_array().unwrap_or_else(|| core::slice::from_ref(content)).iter().enumerate() {
        reader.location = if content.as_array().is_some() { list.index(index) } else { list };
        if tool_change_kind(block).is_some() {
            reader.record_ignored(at, block);
        } else if is_reference(block) {
            parts.push(reader.reference(at, block.clone()));
        } else if is_typed_outcome(block) || content.as_array().is_none() && is_search_outcome(block) {
            reader.mark_changed(at);
            parts.push(Part::Search(search(block, reader.location, false)));
        }
    }
    reader.location = list;
    if !parts.is_empty() {
        reader.push_to(at, number, EventKind::Orphan(Content::Parts(parts)));
    }
    reader.location = outer;
}

fn search_result<'a>(reader: &Reader<'_, '_, 'a>, block: &Node<'a>) -> EventKind<'a> {
    let search = match block.get("content") {
        Some(outcome) => search(outcome, reader.location.name("content"), true),
        None => search(block, reader.location, true),
    };
    let is_error = search.error.is_some();
    let source_item = reader.same_format().then(|| block.clone());
    let content = Content::Parts(Vec::from([Part::Search(search)]));
    let of_search = Some(Searcher::Hosted);
    let id = string_of(block, "tool_use_id");
    EventKind::Result(Outcome { is_error, states_error: is_error, of_search, ..Outcome::new(id, content, source_item) })
}

fn search<'a>(outcome: &Node<'a>, origin: Location, is_whole: bool) -> SearchOutcome<'a> {
    let listed = outcome.array_at("tool_references");
    let failed = outcome.get("error_code").filter(|_| listed.is_none());
    SearchOutcome {
        origin,
        block: outcome.clone(),
        references: references_from(listed.unwrap_or_default(), origin),
        error: failed.map(|code| code.as_text().map(Text::display).unwrap_or_default().into_owned()),
        is_whole,
    }
}

/// Reads the calls that the API's servers run. Such a call is a tool search if it has a search result.
pub(crate) fn read_server_calls<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<(), Error> {
    if !reader.conversation.events.iter().any(|event| matches!(event.kind, EventKind::Server { .. })) {
        return Ok(());
    }
    let events = core::mem::take(&mut reader.conversation.events);
    let hosted = events.iter().filter_map(|event| match &event.kind {
        EventKind::Result(outcome) if outcome.of_search == Some(Searcher::Hosted) => outcome.id.as_text().cloned(),
        _ => None,
    });
    let answered: Set<Text<'a>> = hosted.collect();
    for Event { at, message, member, origin, other_origins, kind } in events {
        reader.location = origin;
        let kind = match kind {
            EventKind::Server { block, .. } if block.text_at("id").is_some_and(|id| answered.contains(id)) => {
                reader.mark_changed(at);
                call(reader, at, block)
            }
            EventKind::Server { role, block } => {
                let Some(part) = part(reader, block)? else { continue };
                EventKind::Text { role, content: Content::Parts(Vec::from([part])) }
            }
            other => other,
        };
        reader.conversation.events.push(Event { at, message, member, origin, other_origins, kind });
    }
    Ok(())
}
