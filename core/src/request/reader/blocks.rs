//! Reads the blocks of messages in Anthropic's format, which clients also use in messages of other formats.

use alloc::vec::Vec;

use super::{reference, Reader};
use crate::{
    collections::Set,
    error::Error,
    json::{Data, Node, Text},
    options::Api,
    request::{
        blocks::{
            concerns_tools, directive, directive_definition, directive_name, is_mention, is_reference,
            is_search_outcome, is_typed_outcome, Directive,
        },
        conversation::{
            opened, string_of, Addition, Arguments, Call, Content, Event, EventKind, Outcome, Part, Role,
            SearchOutcome, Searcher,
        },
        notice,
        tool::{self, has_type, starts_with},
        tools::Arrival,
    },
};

/// Reads a block that is neither a call nor a result and does not concern tools.
pub(super) type ReadPart<'r, 'n, 'a> = fn(&mut Reader<'r, 'n, 'a>, Node<'a>) -> Result<Option<Part<'a>>, Error>;

/// Reads the content of a message, block by block.
pub(super) fn message<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    (at, number): (usize, usize),
    role: Role,
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<(), Error> {
    let blocks = match content.map(opened).transpose()?.map(Node::into_data) {
        Some(Data::Array(blocks)) if !blocks.is_empty() => blocks,
        Some(Data::Object(object)) if reader.emulates() => {
            let block = Node::new(Data::Object(object));
            if is_search_outcome(&block) {
                reader.change(at);
                let content = Content::Parts(Vec::from([Part::Search(search(&block, true))]));
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
    let mut pass = Pass { reader, at, number, role, parts: Vec::new(), additions: Vec::new() };
    for block in blocks {
        pass.block(opened(block)?, part)?;
    }
    pass.end_additions();
    pass.end_text();
    Ok(())
}

/// State of reading one message.
struct Pass<'p, 'r, 'n, 'a> {
    reader: &'p mut Reader<'r, 'n, 'a>,
    at: usize,
    number: usize,
    role: Role,
    parts: Vec<Part<'a>>,
    additions: Vec<Addition<'a>>,
}

impl<'r, 'n, 'a> Pass<'_, 'r, 'n, 'a> {
    fn push(&mut self, kind: EventKind<'a>) {
        self.reader.push_to(self.at, self.number, kind);
    }

    fn end_text(&mut self) {
        if !self.parts.is_empty() {
            let content = Content::Parts(core::mem::take(&mut self.parts));
            self.push(EventKind::Text { role: self.role, content });
        }
    }

    fn end_additions(&mut self) {
        if !self.additions.is_empty() {
            let additions = core::mem::take(&mut self.additions);
            self.push(EventKind::Add(additions));
        }
    }

    fn block(&mut self, block: Node<'a>, part: ReadPart<'r, 'n, 'a>) -> Result<(), Error> {
        if directive(&block).is_some() {
            if self.role != Role::System || !self.reader.may_change() {
                self.reader.ignore(self.at, &block);
                return Ok(());
            }
            self.end_text();
            self.tool_change(&block);
            return Ok(());
        }
        self.end_additions();
        // If the source has no blocks for calls, translation drops them, but their references to tools count.
        let has_calls = self.reader.source == Api::Anthropic || self.reader.same_format();
        let at = self.at;
        let event = if has_type(&block, "server_tool_use") {
            Some(if is_search_call(self.reader, &block) {
                self.reader.change(at);
                call(self.reader, at, block)
            } else {
                EventKind::Server { role: self.role, block }
            })
        } else if has_type(&block, "tool_search_tool_result") {
            self.reader.change(at);
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
                self.parts.push(self.reader.reference(at, block));
            } else if is_typed_outcome(&block) {
                self.reader.change(at);
                self.parts.push(Part::Search(search(&block, false)));
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
                    references_in(self.reader, (at, self.number), content);
                }
                self.parts.extend(part(self.reader, block)?);
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
        self.reader.change(self.at);
        let name = directive_name(block);
        let definition = directive_definition(block);
        let cache_control = block.get(tool::CACHE).cloned();
        if directive(block) == Some(Directive::Removal) {
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
        match definition {
            // The tools of a toolset are not in the request, and the API cannot use a definition in another format.
            Some(definition) if !emulates && (name.is_empty() || definition.get(tool::INNER_FUNCTION).is_some()) => {
                self.reader.lose_block(definition);
            }
            Some(definition) => {
                self.reader.bring(definition.clone(), Arrival::Added);
                if tool::name(definition).is_none() {
                    // A toolset has no name, so it cannot be announced.
                    self.end_additions();
                    return self.push(EventKind::Add(Vec::new()));
                }
                self.additions.push(Addition {
                    name,
                    definition: Some(definition.clone()),
                    cache_control,
                    is_known: false,
                });
            }
            None => self.additions.push(Addition { name, definition: None, cache_control, is_known: false }),
        }
    }
}

fn is_search_call(reader: &Reader<'_, '_, '_>, block: &Node<'_>) -> bool {
    let name = block.text_at("name");
    name.is_some_and(|name| starts_with(name, "tool_search_tool_") || reader.conversation.tools.is_search(name))
}

fn call<'a>(reader: &mut Reader<'_, '_, 'a>, at: usize, mut block: Node<'a>) -> EventKind<'a> {
    let is_hosted = has_type(&block, "server_tool_use");
    if reader.same_format() {
        // `caller` exists only in Anthropic's API.
        if reader.emulates() && !is_hosted && block.get("caller").is_some() {
            block.remove("caller");
            reader.change(at);
        }
    } else {
        reader.lose_rest(&block, &["type", "id", "name", "input", "caller"]);
    }
    let own = reader.same_format().then(|| block.clone());
    let name = block.text_at("name").cloned().unwrap_or_else(|| Text::literal(""));
    let is_search = || reader.reading.options.search_tools.iter().any(|search| name.is(search.as_str()));
    let search = match is_hosted {
        true => Some(Searcher::Hosted),
        false => is_search().then_some(Searcher::Client),
    };
    let arguments = Arguments::Value(block.visit("input", core::mem::take).unwrap_or_default());
    EventKind::Call(Call { id: string_of(&block, "id"), search, name, arguments, own })
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
    let (mut own, content) = taken(reader, block, "content");
    let content = result_content(reader, at, content, part)?;
    if !reader.emulates() {
        own.iter_mut().for_each(remove_directives);
    }
    Ok(EventKind::Result(Outcome { is_error, ..Outcome::new(id, content, own) }))
}

/// Removes additions and removals from a result that is otherwise sent unchanged.
fn remove_directives(result: &mut Node<'_>) {
    result.visit("content", |content| {
        let is_directive = |block: &Node<'_>| directive(block).is_some();
        if is_directive(content) {
            *content = Node::array(Vec::new());
        } else if !content.as_array().is_some_and(|blocks| blocks.iter().any(is_directive)) {
            return;
        }
        if let Some(blocks) = content.as_array_mut() {
            blocks.retain(|block| !is_directive(block));
            if blocks.is_empty() {
                let text = ("text", Node::literal(notice::REMOVED));
                blocks.push(Node::record([("type", Node::literal("text")), text]));
            }
        }
    });
}

/// Takes the content out of a result. If the format stays the same, also returns the result: without the content if the
/// content will be rewritten, otherwise complete.
pub(super) fn taken<'a>(
    reader: &Reader<'_, '_, 'a>,
    mut result: Node<'a>,
    key: &'static str,
) -> (Option<Node<'a>>, Option<Node<'a>>) {
    let is_list = result.get(key).is_some_and(|content| content.as_array().is_some_and(|blocks| !blocks.is_empty()));
    if reader.skims() && is_list {
        let content = result.visit(key, core::mem::take);
        return (Some(result), content);
    }
    (reader.same_format().then(|| result.clone()), result.visit(key, core::mem::take))
}

/// Reads the content of a tool's result. Members nested inside its blocks are not read.
pub(super) fn result_content<'r, 'n, 'a>(
    reader: &mut Reader<'r, 'n, 'a>,
    at: usize,
    content: Option<Node<'a>>,
    part: ReadPart<'r, 'n, 'a>,
) -> Result<Content<'a>, Error> {
    let blocks = match content.map(opened).transpose()?.map(Node::into_data) {
        Some(Data::Array(blocks)) => blocks,
        Some(Data::Object(object)) => {
            let block = Node::new(Data::Object(object));
            if is_search_outcome(&block) {
                reader.change(at);
                return Ok(Content::Parts(Vec::from([Part::Search(search(&block, true))])));
            }
            if !is_mention(&block) {
                return reader.content(Some(block), part);
            }
            Vec::from([block])
        }
        other => return reader.content(other.map(Node::new), part),
    };
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        let block = opened(block)?;
        if directive(&block).is_some() {
            reader.ignore(at, &block);
            parts.extend(reader.emulates().then_some(Part::Ignored));
        } else if is_reference(&block) {
            parts.push(reader.reference(at, block));
        } else if is_typed_outcome(&block) {
            reader.change(at);
            parts.push(Part::Search(search(&block, false)));
        } else {
            parts.extend(part(reader, block)?);
        }
    }
    Ok(Content::Parts(parts))
}

/// Records the references in a block that is not sent, so that their tools remain loaded.
pub(super) fn references_in<'a>(reader: &mut Reader<'_, '_, 'a>, (at, number): (usize, usize), content: &Node<'a>) {
    let mut parts = Vec::new();
    for block in content.as_array().unwrap_or_else(|| core::slice::from_ref(content)) {
        if directive(block).is_some() {
            reader.ignore(at, block);
        } else if is_reference(block) {
            parts.push(reader.reference(at, block.clone()));
        } else if is_typed_outcome(block) || content.as_array().is_none() && is_search_outcome(block) {
            reader.change(at);
            parts.push(Part::Search(search(block, false)));
        }
    }
    if !parts.is_empty() {
        reader.push_to(at, number, EventKind::Orphan(Content::Parts(parts)));
    }
}

fn search_result<'a>(reader: &Reader<'_, '_, 'a>, block: &Node<'a>) -> EventKind<'a> {
    let search = search(block.get("content").unwrap_or(block), true);
    let is_error = search.error.is_some();
    let own = reader.same_format().then(|| block.clone());
    let content = Content::Parts(Vec::from([Part::Search(search)]));
    let of_search = Some(Searcher::Hosted);
    EventKind::Result(Outcome { is_error, of_search, ..Outcome::new(string_of(block, "tool_use_id"), content, own) })
}

/// Reads the tools that a search found, or its error.
pub(super) fn search<'a>(outcome: &Node<'a>, is_whole: bool) -> SearchOutcome<'a> {
    let listed = outcome.array_at("tool_references");
    let failed = outcome.get("error_code").filter(|_| listed.is_none());
    SearchOutcome {
        block: outcome.clone(),
        references: listed.unwrap_or_default().iter().cloned().map(reference).collect(),
        error: failed.map(|code| code.as_text().map(Text::display).unwrap_or_default().into_owned()),
        is_whole,
    }
}

/// Determines which calls that the API's servers run are tool searches: those with a search result.
pub(super) fn settle_server_calls<'r, 'n, 'a>(
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
    for Event { at, message, member, kind } in events {
        let kind = match kind {
            EventKind::Server { block, .. } if block.text_at("id").is_some_and(|id| answered.contains(id)) => {
                reader.change(at);
                call(reader, at, block)
            }
            EventKind::Server { role, block } => {
                let Some(part) = part(reader, block)? else { continue };
                EventKind::Text { role, content: Content::Parts(Vec::from([part])) }
            }
            other => other,
        };
        reader.conversation.events.push(Event { at, message, member, kind });
    }
    Ok(())
}
