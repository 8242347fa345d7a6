//! Writer for OpenAI Responses. With native deferred loading, items add tools, and searches are separate items.

use alloc::vec::Vec;

use crate::{
    collections::Set,
    error::Error,
    json::{Node, Text},
    options::{CustomTools, Native, ServerHistory},
    request::{
        conversation::{self, Addition, Arguments, Call, Content, Event, EventKind, Outcome, Part, Role, Searcher},
        report::LOST,
        tool::{self, type_of},
        writer::{definitions::DefinitionLocation, put_history, Writer},
    },
};

pub(crate) fn write<'a>(
    writer: &mut Writer<'_, 'a>,
    request: &mut Node<'a>,
    events: Vec<Event<'a>>,
) -> Result<(), Error> {
    let events = conversation::order_turns(events, writer.writing.warnings);
    let mut items = Items { writer, out: Vec::new(), late: Vec::new(), custom: Set::new() };
    for event in events {
        items.event(event);
    }
    items.end_results();
    let out = items.out;
    put_history(request, "input", out);
    Ok(())
}

struct Items<'i, 'w, 'a> {
    writer: &'i mut Writer<'w, 'a>,
    out: Vec<Node<'a>>,
    /// Items that add tools, and content of search results, written after all results of a turn.
    late: Vec<Node<'a>>,
    /// Ids of `custom` calls.
    custom: Set<Text<'a>>,
}

impl<'a> Items<'_, '_, 'a> {
    fn event(&mut self, event: Event<'a>) {
        self.writer.writing.warnings.set_location(event.origin);
        if !matches!(event.kind, EventKind::Result(_)) {
            self.end_results();
        }
        match event.kind {
            EventKind::Text { role, content } => self.message(role, content),
            EventKind::Call(call) => self.call(call),
            EventKind::Result(outcome) => self.result(outcome),
            EventKind::Add(additions) | EventKind::Define(additions) => self.write_additions(&additions),
            EventKind::Remove { name, .. } => {
                let text = self.writer.announce_removal(name);
                self.message(Role::System, Content::added_text(text));
            }
            EventKind::Reasoning(thought) => {
                let name = type_of(&thought).map_or_else(|| "reasoning_content".into(), Text::display);
                self.writer.writing.warnings.warn_named(LOST, name);
            }
            EventKind::Unchanged(_) => {
                let message = self.writer.take_message(event.at);
                self.out.push(message);
            }
            EventKind::Server { .. } | EventKind::Orphan(_) | EventKind::Used(_) | EventKind::Ignored(_) => {}
        }
    }

    fn message(&mut self, role: Role, content: Content<'a>) {
        self.out.extend(message(role, content.into_parts()));
    }

    fn is_dropped(&self, is_hosted: bool) -> bool {
        let writing = &self.writer.writing;
        is_hosted
            && writing.options.native != Native::ToolSearch
            && writing.options.server_history == ServerHistory::Drop
    }

    fn call(&mut self, call: Call<'a>) {
        if self.is_dropped(call.search == Some(Searcher::Hosted)) {
            self.writer.drop_search();
            return;
        }
        self.writer.record_search(&call);
        if call.search.is_some() && self.writer.native() == Native::ToolSearch {
            let (arguments, is_object) = call.arguments.value();
            if !is_object {
                self.writer.writing.warnings.warn_named("arguments-not-an-object", call.name.display());
            }
            self.out.push(search_item("tool_search_call", call.id, ("arguments", arguments)));
            return;
        }
        // A call that is already in this format keeps its item.
        if let Some(mut item) = call.source_item.filter(|_| call.search.is_none()) {
            self.name(&mut item, &call.name);
            self.out.push(item);
            return;
        }
        let kept = self.writer.writing.options.custom_tools == Some(CustomTools::Keep);
        let name = Node::string(call.name.clone());
        let mut item = match call.arguments {
            Arguments::Freeform(input) if kept => {
                self.custom.extend(call.id.as_text().cloned());
                Node::record([
                    ("type", Node::literal("custom_tool_call")),
                    ("call_id", call.id),
                    ("name", name),
                    ("input", input),
                ])
            }
            arguments => {
                // A later call may reuse the id of a `custom` call.
                call.id.as_text().map(|id| self.custom.remove(id));
                Node::record([
                    ("type", Node::literal("function_call")),
                    ("call_id", call.id),
                    ("name", name),
                    ("arguments", arguments.text()),
                ])
            }
        };
        // A call to a loaded top-level tool needs the tool's name as its namespace; otherwise, the API returns 400 (as
        // recorded).
        let location = self.writer.locations.of(&call.name);
        if !self.writer.same_format() && matches!(location, DefinitionLocation::Event | DefinitionLocation::Deferred) {
            item.set("namespace", Node::string(call.name));
        }
        self.out.push(item);
    }

    fn name(&self, call: &mut Node<'a>, name: &Text<'a>) {
        let is_loaded =
            matches!(self.writer.locations.of(name), DefinitionLocation::Event | DefinitionLocation::Deferred);
        if call.text_at("name").is_some_and(|old| old != name) {
            call.set("name", Node::string(name.clone()));
        }
        let has = call.text_at("namespace").cloned();
        if is_loaded && has.as_ref() != Some(name) {
            call.set("namespace", Node::string(name.clone()));
        } else if !is_loaded && has.is_some() {
            call.remove("namespace");
        }
    }

    fn result(&mut self, outcome: Outcome<'a>) {
        self.writer.lose_error(&outcome);
        let is_dropped = self.is_dropped(outcome.of_search == Some(Searcher::Hosted));
        let is_found = outcome.found_tools.is_some() && !outcome.is_error;
        let names = outcome.found_tools.unwrap_or_default();
        if outcome.of_search.is_some() && self.writer.native() == Native::ToolSearch {
            let tools = self.found_definitions(&Writer::usable_names(&names, &outcome.removed_tools));
            // The item contains only tools, so the other content follows as a message of the user.
            let others = self.writer.rest_of_search_result(&outcome.id, outcome.content);
            self.late.extend(message(Role::User, others));
            self.out.push(search_item("tool_search_output", outcome.id, ("tools", Node::array(tools))));
            return;
        }
        if is_dropped {
            self.writer.drop_search();
        } else {
            if let Some(item) = outcome.source_item.filter(|_| !is_found) {
                self.out.push(item);
                return;
            }
            let output = match outcome.content {
                Content::String(text) if !is_found => text,
                content => {
                    let mut parts = content.into_parts();
                    if is_found {
                        parts.extend(self.writer.found_texts(&names, &outcome.removed_tools));
                    }
                    let parts: Vec<Node<'a>> = parts.into_iter().map(|part| block(part, "input_text")).collect();
                    if parts.is_empty() {
                        Node::literal("")
                    } else {
                        Node::array(parts)
                    }
                }
            };
            let is_custom = outcome.id.as_text().is_some_and(|id| self.custom.contains(id));
            let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
            self.out.push(Node::record([("type", Node::literal(kind)), ("call_id", outcome.id), ("output", output)]));
        }
        if self.writer.native() == Native::AdditionalTools {
            let definitions = self.writer.undeclared_definitions(&Writer::usable_names(&names, &outcome.removed_tools));
            self.late.extend(additional(definitions));
        }
    }

    /// Returns the definitions that are not in the request yet, with the flag `defer_loading`.
    fn found_definitions(&mut self, names: &[Text<'a>]) -> Vec<Node<'a>> {
        let mut tools = self.writer.undeclared_definitions(names);
        tools.iter_mut().for_each(|definition| definition.set(tool::DEFERRAL_FLAG, Node::bool(true)));
        tools
    }

    fn write_additions(&mut self, additions: &[Addition<'a>]) {
        let names: Vec<Text<'a>> = additions.iter().map(|addition| addition.name.clone()).collect();
        let texts = self.writer.announce_again(&names);
        let definitions = self.writer.undeclared_definitions(&names);
        self.out.extend(additional(definitions));
        for text in texts {
            self.message(Role::System, Content::added_text(text));
        }
    }

    fn end_results(&mut self) {
        self.out.append(&mut self.late);
    }
}

fn message(role: Role, parts: Vec<Part<'_>>) -> Option<Node<'_>> {
    let (role, kind) = match role {
        Role::System => ("developer", "input_text"),
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let parts: Vec<Node<'_>> = parts.into_iter().map(|part| block(part, kind)).collect();
    let content = (!parts.is_empty()).then(|| Node::array(parts))?;
    Some(Node::record([("type", Node::literal("message")), ("role", Node::literal(role)), ("content", content)]))
}

fn search_item<'a>(kind: &'static str, id: Node<'a>, member: (&'static str, Node<'a>)) -> Node<'a> {
    Node::record([
        ("type", Node::literal(kind)),
        ("call_id", id),
        ("execution", Node::literal("client")),
        ("status", Node::literal("completed")),
        member,
    ])
}

fn additional(tools: Vec<Node<'_>>) -> Option<Node<'_>> {
    (!tools.is_empty()).then(|| {
        Node::record([
            ("type", Node::literal("additional_tools")),
            ("role", Node::literal("developer")),
            ("tools", Node::array(tools)),
        ])
    })
}

fn block<'a>(part: Part<'a>, text_type: &'static str) -> Node<'a> {
    match part {
        Part::Text(text) => Node::record([("type", Node::literal(text_type)), ("text", text)]),
        Part::Untranslated(block) => block,
        Part::Reference(_) | Part::Search(_) | Part::Ignored => Node::default(),
        Part::Image { url, detail } => {
            let mut image = Node::record([("type", Node::literal("input_image")), ("image_url", url)]);
            if let Some(detail) = detail {
                image.set("detail", detail);
            }
            image
        }
    }
}
