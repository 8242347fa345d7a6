//! OpenAI Responses.

use alloc::{collections::VecDeque, format, string::String, vec::Vec};

use super::{no_role, Reader};
use crate::{
    collections::Set,
    deferred::{
        conversation::{opened, string_of, Addition, Arguments, Call, Content, Outcome, Part, Role, Searcher, What},
        lazy::{edit_member, take, view},
        namespace::{self, NameMap},
        report::LOST,
        responses::{flat_names, is_client},
        tool::{self, has_type, type_of},
        tools::Arrival,
    },
    error::{Code, Error},
    json::{Data, Node, Text},
    options::ToolChanges,
};

/// Reads a request.
pub(super) fn read<'a>(reader: &mut Reader<'_, 'a>, request: &mut Node<'a>) -> Result<(), Error> {
    // Also where the format stays: a tool's name does not depend on the format.
    *reader.reading.names = NameMap::with(flat_names(request, reader.reading.options.tool_changes)?);
    let listed = request.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
    let listed = listed.unwrap_or_default();
    flatten_choice(request, reader.reading.names)?;
    let flat = namespace::flatten(listed, reader.reading.names, reader.reading.warnings);
    flat.into_iter().for_each(|tool| reader.conversation.tools.list_own(tool, reader.reading.warnings));
    if !reader.stays() {
        is_whole(request)?;
        if let Some(instructions) = take(request, "instructions")?.filter(|text| !text.is_null()) {
            let content = reader.content(Some(instructions), part)?;
            reader.push(0, What::Text { role: Role::System, content });
        }
        tool::remove(request, "instructions");
    }
    let input = request.visit("input", core::mem::take).unwrap_or_default();
    let items = match opened(input)?.into_data() {
        Data::Array(items) => items,
        Data::String(text) => {
            let content = Content::String(Node::new(Data::String(text)));
            reader.push(1, What::Text { role: Role::User, content });
            return Ok(());
        }
        _ => Vec::new(),
    };
    let mut pass = Pass { reader, message: 0, phase: Phase::Other, hosted: VecDeque::new(), searches: 0 };
    for (at, old) in items.into_iter().enumerate() {
        pass.item(opened(old)?, &format!("/input/{at}"))?;
    }
    Ok(())
}

/// Gives the tools that a choice names their flat names. A tool of the top level that the API has loaded stands in a
/// namespace of its own name, which is no namespace of the client's.
fn flatten_choice<'a>(request: &mut Node<'a>, names: &NameMap<'a>) -> Result<(), Error> {
    let flatten = |choice: &mut Node<'a>| {
        let text = |key: &str| choice.get(key).and_then(Node::as_text);
        let is_member = |(namespace, name): (&Text<'a>, &Text<'a>)| namespace != name || names.has(namespace, name);
        if text("namespace").zip(text("name")).is_some_and(is_member) {
            names.flatten_call(choice);
        }
    };
    edit_member(request, "tool_choice", |choice| {
        flatten(choice);
        let allowed = choice.visit("tools", |tools| {
            tools.visit_children(|_, tool| {
                flatten(tool);
                Ok::<(), Error>(())
            })
        });
        allowed.unwrap_or(Ok(()))
    })
    .map(drop)
}

/// Half a conversation cannot be translated.
fn is_whole(request: &Node<'_>) -> Result<(), Error> {
    let elsewhere = ["previous_response_id", "conversation"];
    for key in elsewhere {
        if request.get(key).map(view).transpose()?.is_some_and(|value| !value.is_null()) {
            return Err(incomplete(&format!("/{key}")));
        }
    }
    Ok(())
}

fn incomplete(at: &str) -> Error {
    let message = "expected the whole history in `input`, found a reference to what the API has stored";
    Error::new(Code::InvalidRequest, at, message)
}

/// What the model's turn has had so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is not the model's turn.
    Other,
    Thought,
    Said,
    Called,
}

struct Pass<'p, 'r, 'a> {
    reader: &'p mut Reader<'r, 'a>,
    /// The number of the message at hand.
    message: usize,
    phase: Phase,
    /// Ids of hosted searches whose output is still to come.
    hosted: VecDeque<Node<'a>>,
    searches: usize,
}

impl<'a> Pass<'_, '_, 'a> {
    /// Begins a message, unless the item is a part of the model's turn: thoughts, one text, calls.
    fn turn(&mut self, phase: Phase) -> usize {
        let goes_on = match (self.phase, phase) {
            (Phase::Other, _) | (_, Phase::Other) | (Phase::Said, Phase::Said) => false,
            (_, Phase::Thought) => self.phase == Phase::Said || self.phase == Phase::Thought,
            _ => true,
        };
        if !goes_on {
            self.message += 1;
        }
        // A text between calls belongs to them.
        if !(goes_on && self.phase == Phase::Called) {
            self.phase = phase;
        }
        self.message
    }

    fn item(&mut self, item: Node<'a>, at: &str) -> Result<(), Error> {
        let kind = type_of(&item).map(|kind| kind.display().into_owned());
        match kind.as_deref().unwrap_or("message") {
            "message" => self.said(item, at)?,
            "function_call" | "custom_tool_call" => self.call(item),
            "function_call_output" | "custom_tool_call_output" => self.output(item)?,
            "tool_search_call" => self.search(item),
            "tool_search_output" => self.found(item),
            "additional_tools" => self.additional(item),
            "item_reference" => return Err(incomplete(at)),
            _ if self.reader.stays() => {
                let message = self.turn(Phase::Other);
                self.reader.push(message, What::Copied(item, Role::Assistant));
            }
            "reasoning" => {
                let message = self.turn(Phase::Thought);
                self.reader.push(message, What::Reasoning(item));
            }
            _ => self.reader.lose_block(&item),
        }
        Ok(())
    }

    fn said(&mut self, mut item: Node<'a>, at: &str) -> Result<(), Error> {
        let is = |name| item.get("role").is_some_and(|role| role.is_text(name));
        let role = if is("assistant") {
            Role::Assistant
        } else if is("system") || is("developer") {
            Role::System
        } else if is("user") {
            Role::User
        } else {
            return Err(no_role(&item, at, "`user`, `assistant`, `system` or `developer`"));
        };
        let message = self.turn(if role == Role::Assistant { Phase::Said } else { Phase::Other });
        if self.reader.stays() {
            self.reader.push(message, What::Copied(item, role));
            return Ok(());
        }
        let content = item.visit("content", core::mem::take);
        let content = self.reader.content(content, part)?;
        self.reader.push(message, What::Text { role, content });
        Ok(())
    }

    fn call(&mut self, mut item: Node<'a>) {
        let message = self.turn(Phase::Called);
        let own = self.reader.stays().then(|| item.clone());
        let name = self.reader.reading.names.called(&item).unwrap_or_else(|| Text::literal(""));
        let arguments = if has_type(&item, "custom_tool_call") {
            Arguments::Freeform(string_of(&item, "input"))
        } else {
            Arguments::Text(item.visit("arguments", core::mem::take).unwrap_or_default())
        };
        let id = string_of(&item, "call_id");
        self.reader.push(message, What::Call(Call { id, name, arguments, search: None, own }));
    }

    fn output(&mut self, mut item: Node<'a>) -> Result<(), Error> {
        let message = self.turn(Phase::Other);
        let own = self.reader.stays().then(|| item.clone());
        let id = string_of(&item, "call_id");
        let output = item.visit("output", core::mem::take);
        let content = self.reader.content(output, part)?;
        self.reader.push(
            message,
            What::Result(Outcome { id, content, is_error: false, found: None, gone: Set::new(), of_search: None, own }),
        );
        Ok(())
    }

    fn search(&mut self, mut item: Node<'a>) {
        let message = self.turn(Phase::Called);
        let own = self.reader.stays().then(|| item.clone());
        self.searches += 1;
        let client = is_client(&item);
        let id = ["call_id", "id"].iter().find_map(|key| item.get(key).filter(|id| id.as_text().is_some())).cloned();
        let search_name = self.reader.reading.options.tool_search_name.as_str();
        let id = id.unwrap_or_else(|| Node::string(format!("call_{search_name}_{}", self.searches)));
        if !client {
            self.hosted.push_back(id.clone());
        }
        let name = Text::new(String::from(search_name));
        let arguments = match item.visit("arguments", core::mem::take).unwrap_or_default() {
            text if text.as_text().is_some() => Arguments::Text(text),
            value => Arguments::Value(value),
        };
        let search = Some(if client { Searcher::Client } else { Searcher::Hosted });
        self.reader.push(message, What::Call(Call { id, name, arguments, search, own }));
    }

    fn found(&mut self, mut item: Node<'a>) {
        let own = self.reader.stays().then(|| item.clone());
        let called = match is_client(&item) {
            true => Some(string_of(&item, "call_id")),
            false => self.hosted.pop_front(),
        };
        let Some(id) = called else {
            let id = ["call_id", "id"].iter().find_map(|key| item.get(key)?.as_text());
            self.reader.reading.warnings.about_maybe("orphan-tool-search-output", id);
            return;
        };
        let message = self.turn(Phase::Other);
        let mut found = Vec::new();
        if self.reader.reading.options.tool_changes == ToolChanges::Apply {
            for definition in self.definitions(&mut item) {
                found.extend(tool::name(&definition).cloned());
                self.reader.bring(definition, Arrival::Found);
            }
        } else {
            // The output refers to what the client's own list has, and may not bring more.
            found = self.names_in(&item);
        }
        let content = Content::Parts(Vec::new());
        self.reader.push(
            message,
            What::Result(Outcome {
                id,
                content,
                is_error: false,
                found: Some(found),
                gone: Set::new(),
                of_search: None,
                own,
            }),
        );
    }

    fn additional(&mut self, mut item: Node<'a>) {
        let message = self.message;
        let is_head = self.reader.is_head();
        let names = self.names_in(&item);
        if !self.reader.may_change(names.iter()) {
            return;
        }
        let definitions = self.definitions(&mut item);
        let mut additions = Vec::with_capacity(definitions.len());
        for definition in definitions {
            if is_head && !self.reader.stays() || tool::kind(&definition) != tool::Kind::Tool {
                self.reader.conversation.tools.list_own(definition, self.reader.reading.warnings);
                continue;
            }
            let Some(name) = tool::name(&definition).cloned() else {
                self.reader.lose_block(&definition);
                continue;
            };
            if tool::deferral(&definition).0 {
                self.reader.bring(definition, Arrival::Listed);
                continue;
            }
            self.reader.bring(definition, Arrival::Visible);
            additions.push(Addition { name, definition: None });
        }
        if !additions.is_empty() {
            self.reader.push(message, What::Add(additions));
        }
    }

    /// The definitions that an item brings, flat.
    fn definitions(&mut self, item: &mut Node<'a>) -> Vec<Node<'a>> {
        let tools = item.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        let tools = tools.unwrap_or_default();
        namespace::flatten(tools, self.reader.reading.names, self.reader.reading.warnings)
    }

    /// The flat names of the tools that an item brings.
    fn names_in(&self, item: &Node<'a>) -> Vec<Text<'a>> {
        let tools = item.get("tools").and_then(Node::as_array).unwrap_or_default();
        namespace::names_in(tools, self.reader.reading.names)
    }
}

/// A text or an image.
fn part<'a>(reader: &mut Reader<'_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.stays() {
        return Ok(Some(Part::Own(block)));
    }
    let block = &mut block;
    for (kind, key) in [("input_text", "text"), ("output_text", "text"), ("text", "text"), ("refusal", "refusal")] {
        if has_type(block, kind) {
            reader.lose_rest(block, &["type", "annotations", "logprobs", key]);
            let text = block.visit(key, core::mem::take).filter(|text| text.as_text().is_some());
            return Ok(text.map(Part::Text));
        }
    }
    let url = block.get("image_url").filter(|url| has_type(block, "input_image") && url.as_text().is_some()).cloned();
    match url {
        Some(url) => {
            let detail = block.get("detail").filter(|detail| detail.as_text().is_some()).cloned();
            Ok(Some(Part::Image { url, detail }))
        }
        None => {
            let name = type_of(block).map_or_else(|| "content".into(), Text::display);
            reader.reading.warnings.about(LOST, name);
            Ok(None)
        }
    }
}
