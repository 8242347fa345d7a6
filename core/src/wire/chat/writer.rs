//! Writer for OpenAI Chat Completions. With `kimi`, system messages add tools.

use alloc::{format, vec::Vec};

use crate::{
    error::Error,
    json::{Data, Node, Text},
    options::{CustomTools, Native, Reasoning, ServerHistory},
    request::{
        conversation::{self, Arguments, Call, Content, Event, EventKind, Outcome, Part, Role, Searcher},
        report::LOST,
        tool::{has_type, type_of},
        writer::{join_texts, put_history, split_images, Writer},
    },
};

pub(crate) fn write<'a>(
    writer: &mut Writer<'_, 'a>,
    request: &mut Node<'a>,
    events: Vec<Event<'a>>,
) -> Result<(), Error> {
    let events = conversation::order_turns(events, writer.writing.warnings);
    let mut messages = Messages { writer, out: Vec::new(), turn: None, images: Vec::new(), late: Vec::new(), at: 0 };
    for event in events {
        messages.event(event)?;
    }
    messages.end_turn()?;
    messages.end_results();
    let out = messages.out;
    put_history(request, "messages", out);
    Ok(())
}

#[derive(Default)]
struct Turn<'a> {
    message: usize,
    content: Option<Content<'a>>,
    reasoning: Vec<Node<'a>>,
    calls: Vec<Node<'a>>,
}

struct Messages<'m, 'w, 'a> {
    writer: &'m mut Writer<'w, 'a>,
    out: Vec<Node<'a>>,
    turn: Option<Turn<'a>>,
    /// Images of results, each with the number of its message. The next message that may contain images gets them.
    images: Vec<(usize, Part<'a>)>,
    /// Messages that add tools, written after all results of a turn.
    late: Vec<Node<'a>>,
    at: usize,
}

impl<'a> Messages<'_, '_, 'a> {
    fn event(&mut self, event: Event<'a>) -> Result<(), Error> {
        self.at = event.message;
        self.writer.writing.warnings.set_location(event.origin);
        match event.kind {
            EventKind::Call(call) => self.call(call)?,
            EventKind::Reasoning(thought) => self.reasoning(thought),
            EventKind::Text { role: Role::Assistant, content } => {
                let turn = self.turn()?;
                turn.content = Some(match turn.content.take() {
                    Some(before) => {
                        let mut parts = before.into_parts();
                        parts.extend(content.into_parts());
                        Content::Parts(parts)
                    }
                    None => content,
                });
            }
            EventKind::Result(outcome) => {
                self.end_turn()?;
                self.result(outcome)?;
            }
            EventKind::Text { role, content } => {
                self.end_turn()?;
                self.message(role, content)?;
            }
            EventKind::Add(additions) | EventKind::Define(additions) => {
                self.end_turn()?;
                let names: Vec<Text<'a>> = additions.into_iter().map(|addition| addition.name).collect();
                self.end_results();
                self.write_additions(&names);
            }
            EventKind::Remove { name, .. } => {
                self.end_turn()?;
                self.end_results();
                let text = self.writer.announce_removal(name);
                self.system(Node::string(text));
            }
            EventKind::Unchanged(_) => {
                self.end_turn()?;
                self.end_results();
                let message = self.writer.take_message(event.at);
                self.out.push(message);
            }
            EventKind::Server { .. } | EventKind::Orphan(_) | EventKind::Used(_) | EventKind::Ignored(_) => {}
        }
        Ok(())
    }

    fn turn(&mut self) -> Result<&mut Turn<'a>, Error> {
        if self.turn.as_ref().is_some_and(|turn| turn.message != self.at) {
            self.end_turn()?;
        }
        if self.turn.is_none() {
            self.end_results();
        }
        let at = self.at;
        Ok(self.turn.get_or_insert_with(|| Turn { message: at, ..Turn::default() }))
    }

    fn call(&mut self, call: Call<'a>) -> Result<(), Error> {
        if self.is_dropped(call.search) {
            self.writer.drop_search();
            return Ok(());
        }
        let keeps_custom = self.writer.writing.options.custom_tools == Some(CustomTools::Keep);
        if let Some(item) =
            call.source_item.filter(|_| keeps_custom || !matches!(call.arguments, Arguments::Freeform(_)))
        {
            self.turn()?.calls.push(item);
            return Ok(());
        }
        let (kind, inner) = match call.arguments {
            Arguments::Freeform(input) if keeps_custom => {
                ("custom", Node::record([("name", Node::string(call.name)), ("input", input)]))
            }
            arguments => {
                ("function", Node::record([("name", Node::string(call.name)), ("arguments", arguments.text())]))
            }
        };
        let call = Node::record([("id", call.id), ("type", Node::literal(kind)), (kind, inner)]);
        self.turn()?.calls.push(call);
        Ok(())
    }

    fn is_dropped(&self, search: Option<Searcher>) -> bool {
        search == Some(Searcher::Hosted) && self.writer.writing.options.server_history == ServerHistory::Drop
    }

    fn reasoning(&mut self, thought: Node<'a>) {
        if self.writer.writing.options.reasoning == Some(Reasoning::Content) {
            if let Some(text) = thought_of(&thought) {
                if let Ok(turn) = self.turn() {
                    turn.reasoning.push(text);
                    self.lose_rest(&thought);
                    return;
                }
            }
        }
        let name = type_of(&thought).map_or_else(|| "reasoning_content".into(), Text::display);
        self.writer.writing.warnings.warn_named(LOST, name);
    }

    fn lose_rest(&mut self, thought: &Node<'a>) {
        for member in thought.as_object().into_iter().flatten() {
            if !["type", "reasoning_content", "thinking", "summary", "content"].iter().any(|key| member.key.is(key)) {
                self.writer.writing.warnings.warn_lost(&member.key.display(), &member.value);
            }
        }
    }

    fn result(&mut self, outcome: Outcome<'a>) -> Result<(), Error> {
        self.writer.lose_error(&outcome);
        let found_tools = outcome.found_tools;
        if self.is_dropped(outcome.of_search) {
            self.writer.drop_search();
        } else if let Some(mut source_item) = outcome.source_item {
            // The format does not change, so the result keeps its parts and members.
            if let Some(found_tools) = &found_tools {
                let mut parts = outcome.content.into_parts();
                if !outcome.is_error {
                    parts.extend(self.writer.found_texts(found_tools, &outcome.removed_tools));
                }
                source_item.set("content", self.text_or_blocks(parts)?);
            }
            self.out.push(source_item);
        } else {
            let (content, images) = split_images(outcome.content);
            let at = self.at;
            if !images.is_empty() {
                self.writer.writing.warnings.warn_named("moved", "image");
            }
            self.images.extend(images.into_iter().map(|image| (at, image)));
            let content = match content {
                Content::String(text) if found_tools.is_none() => text,
                content => {
                    let mut parts = content.into_parts();
                    if let Some(found_tools) = found_tools.as_ref().filter(|_| !outcome.is_error) {
                        parts.extend(self.writer.found_texts(found_tools, &outcome.removed_tools));
                    }
                    join_texts(parts, &format!("/messages/{at}"))?
                }
            };
            self.out.push(Node::record([
                ("role", Node::literal("tool")),
                ("tool_call_id", outcome.id),
                ("content", content),
            ]));
        }
        if self.writer.native() == Native::Kimi {
            let definitions = self.writer.undeclared_definitions(&Writer::usable_names(
                &found_tools.unwrap_or_default(),
                &outcome.removed_tools,
            ));
            self.late.extend(tools_message(definitions));
        }
        Ok(())
    }

    fn write_additions(&mut self, names: &[Text<'a>]) {
        let announcements = self.writer.announce_again(names);
        let definitions = self.writer.undeclared_definitions(names);
        self.out.extend(tools_message(definitions));
        announcements.into_iter().for_each(|text| self.system(Node::string(text)));
    }

    fn system(&mut self, content: Node<'a>) {
        self.out.push(Node::record([("role", Node::literal("system")), ("content", content)]));
    }

    /// Writes a message. Images of results that belong to this source message precede its content.
    fn message(&mut self, role: Role, content: Content<'a>) -> Result<(), Error> {
        let is_head = role == Role::System && self.out.len() == 1 && self.is_leading();
        let same = self.images.iter().all(|(message, _)| *message == self.at);
        let images: Vec<Part<'a>> = match same && role == Role::User {
            true => core::mem::take(&mut self.images).into_iter().map(|(_, image)| image).collect(),
            false => Vec::new(),
        };
        self.end_results();
        let content = self.content(content, images)?;
        if is_head {
            // The instructions and the client's leading system message form one system prompt.
            if let Some(first) = self.out.first_mut() {
                let old = first.visit("content", core::mem::take).unwrap_or_default();
                let both = join_texts(Vec::from([Part::Text(old), Part::Text(content)]), "/input")?;
                first.set("content", both);
            }
            return Ok(());
        }
        self.out.push(Node::record([("role", Node::literal(role.name())), ("content", content)]));
        Ok(())
    }

    /// Returns true if the first written message is the system prompt of a Responses request.
    fn is_leading(&self) -> bool {
        use crate::options::Api;
        self.writer.writing.source == Api::OpenaiResponses
            && self.out.first().is_some_and(|first| {
                first.get("role").is_some_and(|role| role.is_text("system"))
                    && first.get("content").is_some_and(|content| content.as_text().is_some())
            })
    }

    fn content(&mut self, content: Content<'a>, before: Vec<Part<'a>>) -> Result<Node<'a>, Error> {
        let content = match content {
            Content::String(text) if before.is_empty() => return Ok(text),
            content => content,
        };
        let mut parts = before;
        parts.extend(content.into_parts());
        self.text_or_blocks(parts)
    }

    fn text_or_blocks(&self, parts: Vec<Part<'a>>) -> Result<Node<'a>, Error> {
        if parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return join_texts(parts, &format!("/messages/{}", self.at));
        }
        Ok(Node::array(parts.into_iter().map(block).collect()))
    }

    fn end_turn(&mut self) -> Result<(), Error> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let content = match turn.content {
            Some(content) => {
                let at = core::mem::replace(&mut self.at, turn.message);
                let content = self.content(content, Vec::new());
                self.at = at;
                content?
            }
            None => Node::new(Data::Null),
        };
        let original = self.writer.originals.remove(&turn.message);
        let empty = [("role", Node::literal("assistant")), ("content", Node::new(Data::Null))];
        let mut message = original.unwrap_or_else(|| Node::record(empty));
        if !content.is_null() {
            message.set("content", content);
        }
        if turn.reasoning.is_empty() {
            message.remove("reasoning_content");
        } else {
            let parts = turn.reasoning.into_iter().map(Part::Text).collect();
            message.set("reasoning_content", join_texts(parts, "/input")?);
        }
        if turn.calls.is_empty() {
            message.remove("tool_calls");
        } else {
            message.set("tool_calls", Node::array(turn.calls));
        }
        self.out.push(message);
        Ok(())
    }

    fn end_results(&mut self) {
        if !self.images.is_empty() {
            let parts = core::mem::take(&mut self.images).into_iter().map(|(_, image)| block(image)).collect();
            self.out.push(Node::record([("role", Node::literal("user")), ("content", Node::array(parts))]));
        }
        self.out.append(&mut self.late);
    }
}

fn tools_message(tools: Vec<Node<'_>>) -> Option<Node<'_>> {
    (!tools.is_empty()).then(|| Node::record([("role", Node::literal("system")), ("tools", Node::array(tools))]))
}

fn block(part: Part<'_>) -> Node<'_> {
    match part {
        Part::Text(text) => Node::record([("type", Node::literal("text")), ("text", text)]),
        Part::Untranslated(block) => block,
        Part::Reference(_) | Part::Search(_) | Part::Ignored => Node::default(),
        Part::Image { url, detail } => {
            let mut image = Node::record([("url", url)]);
            if let Some(detail) = detail {
                // `original` is specific to Codex and means full detail.
                let detail = if detail.is_text("original") { Node::literal("high") } else { detail };
                image.set("detail", detail);
            }
            Node::record([("type", Node::literal("image_url")), ("image_url", image)])
        }
    }
}

fn thought_of<'a>(thought: &Node<'a>) -> Option<Node<'a>> {
    for key in ["reasoning_content", "thinking"] {
        if let Some(text) = thought.get(key).filter(|text| text.as_text().is_some()) {
            return Some(text.clone());
        }
    }
    let parts = ["summary", "content"].into_iter().filter_map(|key| thought.get(key)?.as_array()).flatten();
    let texts: Vec<Part<'a>> = parts
        .filter_map(|part| part.get("text").filter(|text| text.as_text().is_some()).cloned())
        .map(Part::Text)
        .collect();
    if texts.is_empty() {
        return None;
    }
    join_texts(texts, "/input").ok()
}

pub(crate) const CALLS: &str = "tool_calls";

/// Returns true for a call that is not a block of the content.
pub(crate) fn is_entry(call: &Node<'_>) -> bool {
    !has_type(call, "tool_use")
}
