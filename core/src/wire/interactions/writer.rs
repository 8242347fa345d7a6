//! Writer for Gemini Interactions. With native deferred loading, searches and their results are steps that contain
//! functions.
//!
//! Source: google-genai 3.6.1, `_gaos/types/interactions/step.py` and `generationconfig.py` (read 2026-11-26).

use alloc::{collections::VecDeque, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    error::Error,
    json::{Data, Node, Text},
    options::{Native, ServerHistory},
    request::{
        conversation::{self, Call, Content, Event, EventKind, Outcome, Part, Role, Searcher},
        report::{Warnings, LOST},
        tool::type_of,
        writer::{join_texts, put_history, same, Writer},
    },
};

pub(crate) fn write<'a>(
    writer: &mut Writer<'_, 'a>,
    request: &mut Node<'a>,
    events: Vec<Event<'a>>,
) -> Result<(), Error> {
    let events = conversation::order_turns(events, writer.writing.warnings);
    let mut steps = Steps {
        writer,
        out: Vec::new(),
        late: Vec::new(),
        prompt: Vec::new(),
        has_content: false,
        searches: Map::new(),
        called: Map::new(),
    };
    for event in events {
        steps.event(event)?;
    }
    steps.end_results();
    let Steps { out, prompt, .. } = steps;
    put_history(request, "input", out);
    if !prompt.is_empty() {
        request.set("system_instruction", join_texts(prompt, "/system_instruction")?);
    }
    Ok(())
}

struct Steps<'s, 'w, 'a> {
    writer: &'s mut Writer<'w, 'a>,
    out: Vec<Node<'a>>,
    /// Content of search results, written after all results of a turn.
    late: Vec<Part<'a>>,
    prompt: Vec<Part<'a>>,
    /// True once the history has something other than the system prompt.
    has_content: bool,
    /// For hosted searches without a result: their indices in `out`, by id.
    searches: Map<Text<'a>, VecDeque<usize>>,
    /// For calls without a result: the names of the functions, by the ids of the calls. Several calls may share an id.
    called: Map<Text<'a>, VecDeque<Text<'a>>>,
}

impl<'a> Steps<'_, '_, 'a> {
    fn event(&mut self, event: Event<'a>) -> Result<(), Error> {
        self.writer.writing.warnings.set_location(event.origin);
        if !matches!(event.kind, EventKind::Result(_)) {
            self.end_results();
        }
        match event.kind {
            EventKind::Text { role: Role::System, content } if !self.has_content && !self.writer.same_format() => {
                self.prompt.extend(content.into_parts().into_iter().filter(|part| matches!(part, Part::Text(_))));
                return Ok(());
            }
            EventKind::Text { role, content } => self.message(role, content),
            EventKind::Call(call) => self.call(call),
            EventKind::Result(outcome) => self.result(outcome)?,
            EventKind::Add(additions) => {
                // The API does not support additions: the tools are in the list.
                for addition in additions.iter().filter(|addition| addition.is_known) {
                    let text = self.writer.addition_notice(&addition.name);
                    self.message(Role::System, Content::added_text(text));
                }
            }
            EventKind::Define(additions) => {
                let names: Vec<Text<'a>> = additions.into_iter().map(|addition| addition.name).collect();
                for text in self.writer.announce_again(&names) {
                    self.message(Role::System, Content::added_text(text));
                }
            }
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
            EventKind::Server { .. } | EventKind::Orphan(_) | EventKind::Used(_) | EventKind::Ignored(_) => {
                return Ok(())
            }
        }
        self.has_content = true;
        Ok(())
    }

    fn message(&mut self, role: Role, content: Content<'a>) {
        let kind = if role == Role::Assistant { "model_output" } else { "user_input" };
        let blocks: Vec<Node<'a>> = content.into_parts().into_iter().filter_map(block).collect();
        if !blocks.is_empty() {
            self.out.push(Node::record([("type", Node::literal(kind)), ("content", Node::array(blocks))]));
        }
    }

    fn end_results(&mut self) {
        let late = core::mem::take(&mut self.late);
        self.message(Role::User, Content::Parts(late));
    }

    fn is_dropped(&self, search: Option<Searcher>) -> bool {
        let options = self.writer.writing.options;
        search == Some(Searcher::Hosted)
            && options.native != Native::Interactions
            && options.server_history == ServerHistory::Drop
    }

    fn call(&mut self, call: Call<'a>) {
        if self.is_dropped(call.search) {
            self.writer.drop_search();
            return;
        }
        self.writer.record_search(&call);
        if let Some(id) = call.id.as_text() {
            self.called.entry(id.clone()).or_default().push_back(call.name.clone());
        }
        if let Some(item) = call.source_item {
            self.out.push(item);
            return;
        }
        let is_hosted = call.search == Some(Searcher::Hosted) && self.writer.native() == Native::Interactions;
        if is_hosted {
            // The arguments are the names of the functions that the search finds. The result of the search adds them.
            if call.arguments.value().0.as_object().is_some_and(|arguments| !arguments.is_empty()) {
                self.writer.writing.warnings.warn_named(LOST, "arguments");
            }
            if let Some(id) = call.id.as_text().cloned() {
                self.searches.entry(id).or_default().push_back(self.out.len());
            }
            self.out.push(Node::record([
                ("type", Node::literal("tool_search_call")),
                ("id", call.id),
                ("arguments", Node::record([(NAMES, Node::array(Vec::new()))])),
            ]));
            return;
        }
        let name = call.name.display().into_owned();
        let is_object = matches!(&call.arguments, crate::request::conversation::Arguments::Freeform(_));
        let (call, was_object) = function_call_of(call);
        if !was_object && !is_object {
            self.writer.writing.warnings.warn_named("arguments-not-an-object", name);
        }
        self.out.push(call);
    }

    fn result(&mut self, outcome: Outcome<'a>) -> Result<(), Error> {
        if self.is_dropped(outcome.of_search) {
            self.writer.drop_search();
            return Ok(());
        }
        let is_found = outcome.found_tools.is_some() && !outcome.is_error;
        let names = if is_found { outcome.found_tools.unwrap_or_default() } else { Vec::new() };
        let is_native = is_found && self.writer.native() == Native::Interactions && outcome.of_search.is_some();
        let is_hosted = outcome.of_search == Some(Searcher::Hosted);
        if let Some(item) = outcome.source_item.filter(|_| !is_found || is_native) {
            self.writer.undeclared_definitions(&Writer::usable_names(&names, &outcome.removed_tools));
            self.out.push(item);
            return Ok(());
        }
        if is_native {
            let names = Writer::usable_names(&names, &outcome.removed_tools);
            let functions = self.writer.undeclared_definitions(&names);
            if is_hosted {
                self.name_found(&outcome.id, &functions);
                self.late.extend(self.writer.rest_of_search_result(&outcome.id, outcome.content));
                self.out.push(Node::record([
                    ("type", Node::literal("tool_search_result")),
                    ("call_id", outcome.id),
                    ("result", Node::array(functions)),
                ]));
                return Ok(());
            }
            if !functions.is_empty() {
                // The API refuses other content next to functions.
                self.late.extend(self.writer.rest_of_search_result(&outcome.id, outcome.content));
                let step = self.result_step(outcome.id, Node::array(functions), false);
                self.out.push(step);
                return Ok(());
            }
        }
        let mut parts = match outcome.content {
            Content::String(text) if !is_found => {
                let step = self.result_step(outcome.id, text, outcome.is_error);
                self.out.push(step);
                return Ok(());
            }
            content => content.into_parts(),
        };
        if is_found {
            parts.extend(self.writer.found_texts(&names, &outcome.removed_tools));
        }
        let blocks = parts.into_iter().filter_map(block).collect();
        let step = self.result_step(outcome.id, Node::array(blocks), outcome.is_error);
        self.out.push(step);
        Ok(())
    }

    /// Returns a result with the name of the function, which the API requires.
    ///
    /// Source: a live answer, `HTTP 400 Invalid input received` (inspect-robots#380, 2026-08-14).
    fn result_step(&mut self, id: Node<'a>, result: Node<'a>, is_error: bool) -> Node<'a> {
        let mut step = Node::record([("type", Node::literal("function_result"))]);
        if let Some(names) = id.as_text().and_then(|id| self.called.get_mut(id)) {
            // A second result of the same call gets the same name.
            let name = if names.len() > 1 { names.pop_front() } else { names.front().cloned() };
            step.set("name", name.map(Node::string).unwrap_or_default());
        }
        step.set("call_id", id);
        step.set("result", result);
        if is_error {
            step.set("is_error", Node::bool(true));
        }
        step
    }

    fn name_found(&mut self, id: &Node<'a>, functions: &[Node<'a>]) {
        let at = id.as_text().and_then(|id| self.searches.get_mut(id)?.pop_front());
        let names = functions.iter().filter_map(|function| function.get("name")).cloned().collect();
        if let Some(step) = at.and_then(|at| self.out.get_mut(at)) {
            step.set("arguments", Node::record([(NAMES, Node::array(names))]));
        }
    }
}

/// The member of a hosted search's arguments that holds the names of the functions to load.
const NAMES: &str = "function_names";

pub(crate) fn function_call(call: Call<'_>) -> Node<'_> {
    function_call_of(call).0
}

fn function_call_of(call: Call<'_>) -> (Node<'_>, bool) {
    let (arguments, is_object) = call.arguments.value();
    let step = Node::record([
        ("type", Node::literal("function_call")),
        ("id", call.id),
        ("name", Node::string(call.name)),
        ("arguments", arguments),
    ]);
    (step, is_object)
}

fn block(part: Part<'_>) -> Option<Node<'_>> {
    match part {
        Part::Text(text) if text.as_text().is_some_and(Text::is_empty) => None,
        Part::Text(text) => Some(Node::record([("type", Node::literal("text")), ("text", text)])),
        Part::Untranslated(block) => Some(block),
        Part::Reference(_) | Part::Search(_) | Part::Ignored => None,
        Part::Image { url, .. } => Some(image(url)),
    }
}

fn image(url: Node<'_>) -> Node<'_> {
    let kind = ("type", Node::literal("image"));
    let inline = url.as_text().and_then(Text::value).and_then(|url| {
        let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
        Some((String::from(media_type), String::from(data)))
    });
    match inline {
        Some((media_type, data)) => {
            Node::record([kind, ("data", Node::string(data)), ("mime_type", Node::string(media_type))])
        }
        None => Node::record([kind, ("uri", url)]),
    }
}

pub(crate) fn replace<'a>(_: Option<Node<'a>>, _: &[&'static str], events: Vec<Event<'a>>) -> Vec<Node<'a>> {
    events.into_iter().filter_map(|event| replacement(event.kind)).collect()
}

fn replacement(kind: EventKind<'_>) -> Option<Node<'_>> {
    match kind {
        EventKind::Call(Call { source_item: Some(item), .. }) => Some(item),
        EventKind::Call(call) => Some(function_call(call)),
        EventKind::Result(outcome) if outcome.source_item.is_some() => same::result(outcome, "result"),
        EventKind::Result(Outcome { id, content, .. }) => {
            let result = match content {
                Content::String(text) => text,
                Content::Parts(parts) => Node::array(parts.into_iter().filter_map(same::block).collect()),
            };
            Some(Node::record([("type", Node::literal("function_result")), ("call_id", id), ("result", result)]))
        }
        EventKind::Text { role, content } => {
            let kind = if role == Role::Assistant { "model_output" } else { "user_input" };
            let content = content.into_parts().into_iter().filter_map(same::block);
            Some(Node::record([("type", Node::literal(kind)), ("content", Node::array(content.collect()))]))
        }
        _ => None,
    }
}

/// The settings of the model. In Gemini Interactions, they are members of one object.
const SETTINGS: [&str; 6] = ["temperature", "top_p", "max_output_tokens", "stop_sequences", "seed", "tool_choice"];
pub(crate) const HOLDER: &str = "generation_config";

pub(crate) fn move_to_request<'a>(request: &mut Node<'a>, warnings: &mut Warnings) -> Result<Set<Text<'a>>, Error> {
    let Some(settings) = crate::json::lazy::take(request, HOLDER)? else { return Ok(Set::new()) };
    request.remove(HOLDER);
    let settings = match settings.into_data() {
        Data::Object(settings) => settings,
        other => {
            warnings.warn_lost(HOLDER, &Node::new(other));
            return Ok(Set::new());
        }
    };
    let mut moved = Set::new();
    for member in settings.into_members() {
        if let Some(object) = request.as_object_mut() {
            moved.insert(member.key.clone());
            object.set(member.key, member.value);
        }
    }
    Ok(moved)
}

pub(crate) fn move_back(request: &mut Node<'_>) {
    for key in SETTINGS {
        let Some(value) = request.remove(key) else { continue };
        if request.get(HOLDER).is_none_or(|settings| settings.as_object().is_none()) {
            request.set(HOLDER, Node::empty_object());
        }
        request.visit(HOLDER, |settings| settings.set(key, value));
    }
}
