//! Reader for Gemini Interactions, whose input is a list of steps.
//!
//! Source: google-genai 3.6.1, `_gaos/types/interactions/step.py` and the steps in it (read 2026-11-26).

use alloc::{format, string::String, vec::Vec};

use super::UNTYPED_RESULTS;
use crate::{
    collections::Set,
    error::Error,
    json::{
        self,
        lazy::{may_hold, view},
        Data, Flags, Node, Text,
    },
    options::Native,
    request::{
        carriers::Searches,
        conversation::{
            parse_verbatim, string_of, Arguments, Call, Content, EventKind, Outcome, Part, Role, SearchOutcome,
            Searcher,
        },
        location::Location,
        reader::{reference, History, Reader},
        tool::{self, has_type, type_of, Kind},
        tools::Arrival,
    },
    wire::{
        anthropic::reader::take_content,
        responses::reader::{require_whole, Phase, Turns},
    },
};

/// The types of a content. The input itself may be a content.
const CONTENTS: [&str; 5] = ["text", "image", "audio", "document", "video"];

pub(crate) fn read<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    request: &Node<'a>,
    prompt: Option<Node<'a>>,
) -> Result<(), Error> {
    if !reader.same_format() {
        require_whole(request, &["previous_interaction_id"])?;
        if let Some(prompt) = prompt.filter(|text| !text.is_null()) {
            let content = reader.content(Some(prompt), part)?;
            reader.push(0, EventKind::Text { role: Role::System, content });
        }
    }
    if let History::Taken(node) = &mut reader.history {
        let is_content = |node: &Node<'_>| CONTENTS.iter().any(|kind| has_type(node, kind));
        let is_message = match node.data() {
            Data::Array(items) => items.first().map(view).transpose()?.is_some_and(|first| is_content(&first)),
            _ => true,
        };
        if is_message {
            let data = core::mem::take(node).into_data();
            reader.location = Location::of_history();
            let content = match data {
                Data::Object(input) => {
                    Content::Parts(part(reader, Node::new(Data::Object(input)))?.into_iter().collect())
                }
                Data::Array(items) => {
                    let items = items.into_iter().map(parse_verbatim).collect::<Result<_, Error>>()?;
                    reader.content(Some(Node::array(items)), part)?
                }
                text => reader.content(Some(Node::new(text)), part)?,
            };
            reader.push(1, EventKind::Text { role: Role::User, content });
            return Ok(());
        }
    }
    let listed = reader.listed.iter().filter(|entry| tool::kind(entry) == Kind::ClientSearch);
    let client_searches: Set<Text<'a>> = listed.filter_map(tool::name).cloned().collect();
    let searches = Searches::of(reader.listed, Some(reader.reading.options));
    let mut pass = Pass { reader, at: 0, turns: Turns::default(), client_searches, searches, hosted: Set::new() };
    for index in 0..pass.reader.history.messages().len() {
        pass.at = index + 1;
        pass.reader.location = Location::of_message(index + 1);
        if let Some(step) = pass.next(index)? {
            pass.step(step)?;
        }
    }
    Ok(())
}

struct Pass<'p, 'r, 'n, 'a> {
    reader: &'p mut Reader<'r, 'n, 'a>,
    at: usize,
    turns: Turns,
    /// Names of the client's searches in the request's list.
    client_searches: Set<Text<'a>>,
    searches: Searches<'a>,
    hosted: Set<Text<'a>>,
}

impl<'a> Pass<'_, '_, '_, 'a> {
    /// Returns the step at this index if it must be read. If deferred loading is emulated and the format stays the
    /// same, these are only the steps that concern tools.
    fn next(&mut self, index: usize) -> Result<Option<Node<'a>>, Error> {
        self.record_call_name(index)?;
        if self.reader.reads_only_tool_messages() {
            let searches = &self.searches;
            return self.reader.open_if_concerned(index, |step, calls| {
                let is = |name| has_type(step, name);
                is("tool_search_call")
                    || is("tool_search_result")
                    || calls && (is("function_call") || is("function_result"))
                    || searches.is_search_result(step, &UNTYPED_RESULTS)
            });
        }
        let flags = Flags::DEFERRAL | Flags::CALL | Flags::RESULT;
        let is_plain = |step: &Node<'_>| !may_hold(step, flags);
        if self.reader.same_format() && self.reader.history.messages().get(index).is_some_and(is_plain) {
            self.keep();
            return Ok(None);
        }
        self.reader.open(index).map(Some)
    }

    /// Records the name of a called function, because its result may omit the name.
    fn record_call_name(&mut self, index: usize) -> Result<(), Error> {
        let Some(step) = self.reader.history.messages().get(index).filter(|step| may_hold(step, Flags::CALL)) else {
            return Ok(());
        };
        self.searches.record(&*view(step)?, &UNTYPED_RESULTS);
        Ok(())
    }

    fn push(&mut self, message: usize, kind: EventKind<'a>) {
        self.reader.push_to(self.at, message, kind);
    }

    fn keep(&mut self) {
        let message = self.turns.next(Phase::Other);
        self.push(message, EventKind::Unchanged(Role::Assistant));
    }

    fn step(&mut self, step: Node<'a>) -> Result<(), Error> {
        let kind = type_of(&step).map(|kind| kind.display().into_owned()).unwrap_or_default();
        match kind.as_str() {
            "function_call" => self.call(step),
            "function_result" => self.result(step)?,
            "tool_search_call" => self.search(step),
            "tool_search_result" => self.hosted_result(step),
            _ if self.reader.same_format() => self.keep(),
            "user_input" => self.message(step, Role::User)?,
            "model_output" => self.message(step, Role::Assistant)?,
            "thought" => {
                let message = self.turns.next(Phase::Reasoning);
                self.push(message, EventKind::Reasoning(step));
            }
            _ => self.reader.lose_block(&step),
        }
        Ok(())
    }

    fn message(&mut self, mut step: Node<'a>, role: Role) -> Result<(), Error> {
        let message = self.turns.next(if role == Role::Assistant { Phase::Text } else { Phase::Other });
        let content = step.visit("content", core::mem::take);
        self.reader.lose_rest(&step, &["type", "content"]);
        let content = self.reader.member_content("content", content, part)?;
        self.push(message, EventKind::Text { role, content });
        Ok(())
    }

    fn call(&mut self, mut step: Node<'a>) {
        let message = self.turns.next(Phase::Called);
        let source_item = self.reader.same_format().then(|| step.clone());
        if source_item.is_none() {
            self.reader.lose_rest(&step, &["type", "id", "name", "arguments"]);
        }
        let name = step.text_at("name").cloned().unwrap_or_else(|| Text::literal(""));
        let arguments = match step.visit("arguments", core::mem::take).unwrap_or_default() {
            text if text.as_text().is_some() => Arguments::Text(text),
            value => Arguments::Value(value),
        };
        let search = self.client_searches.contains(&name).then_some(Searcher::Client);
        self.push(message, EventKind::Call(Call { id: string_of(&step, "id"), name, arguments, search, source_item }));
    }

    fn result(&mut self, mut step: Node<'a>) -> Result<(), Error> {
        let message = self.turns.next(Phase::Other);
        if !self.reader.same_format() {
            self.reader.lose_rest(&step, &["type", "call_id", "name", "result", "is_error"]);
        }
        let id = string_of(&step, "call_id");
        let is_error = step.bool_at("is_error") == Some(true);
        let is_search = self.searches.is_search_result(&step, &UNTYPED_RESULTS);
        let refused = if is_search { self.refuse_searches(&mut step) } else { Set::new() };
        let (source_item, result) = take_content(self.reader, step, "result");
        let content = match result {
            Some(result) if is_search => {
                self.reader.mark_changed(self.at);
                self.functions(result, &refused)?
            }
            // An object that is not a search result becomes JSON text.
            Some(value) if value.as_object().is_some() => Content::String(Node::string(json::write(&value))),
            result => self.reader.member_content("result", result, part)?,
        };
        let of_search = is_search.then_some(Searcher::Client);
        self.push(
            message,
            EventKind::Result(Outcome { is_error, of_search, ..Outcome::new(id, content, source_item) }),
        );
        Ok(())
    }

    /// Reads the result of a client's search. `refused` contains the indices of the entries that were removed from it.
    fn functions(&mut self, result: Node<'a>, refused: &Set<usize>) -> Result<Content<'a>, Error> {
        let (mut functions, mut others) = (Vec::new(), Vec::new());
        let Data::Array(entries) = result.into_data() else { return Ok(Content::Parts(Vec::new())) };
        let indices = (0..).filter(|index| !refused.contains(index));
        for (index, entry) in indices.zip(entries) {
            if has_type(&entry, "function") {
                functions.push((entry, self.entry(index)));
            } else {
                others.extend(self.reader.at_entry("result", index, |reader| part(reader, entry))?);
            }
        }
        let mut parts = Vec::from([self.load(functions, Searcher::Client)]);
        parts.extend(others);
        Ok(Content::Parts(parts))
    }

    fn entry(&self, index: usize) -> Location {
        self.reader.location.name("result").index(index)
    }

    /// Removes functions with the name of a search. Returns their indices.
    fn refuse_searches(&mut self, step: &mut Node<'a>) -> Set<usize> {
        let mut refused = Vec::new();
        step.visit("result", |result| {
            let is_search_function = |entry: &Node<'a>| {
                has_type(entry, "function") && tool::name(entry).is_some_and(|name| self.is_search(name))
            };
            if let Some(entries) = result.as_array_mut().filter(|entries| entries.iter().any(is_search_function)) {
                let refused_entries = entries.iter().enumerate().filter(|(_, entry)| is_search_function(entry));
                refused.extend(refused_entries.filter_map(|(index, entry)| Some((index, tool::name(entry)?.clone()))));
                entries.retain(|entry| !is_search_function(entry));
            }
        });
        for (index, name) in &refused {
            self.reader.mark_changed(self.at);
            self.reader.reading.warnings.set_location(self.entry(*index));
            self.reader.conversation.tools.drop_definition(name, self.reader.reading.warnings);
        }
        self.reader.reading.warnings.clear_location();
        refused.into_iter().map(|(index, _)| index).collect()
    }

    /// Returns true if this is the name of a client's search, or of the function that replaces a hosted search. No
    /// other function may use such a name.
    fn is_search(&self, name: &Text<'a>) -> bool {
        let options = self.reader.reading.options;
        let is_replaced = options.native == Native::None && options.emulates_search();
        self.client_searches.contains(name) || is_replaced && self.searches.is_replacement(name)
    }

    /// Returns references to the functions. A hosted search only loads functions in the request's list; other functions
    /// belong to servers that the API calls itself.
    fn load(&mut self, functions: Vec<(Node<'a>, Location)>, searcher: Searcher) -> Part<'a> {
        let is_hosted = searcher == Searcher::Hosted;
        let mut references = Vec::with_capacity(functions.len());
        for (definition, origin) in functions {
            let name = tool::name(&definition);
            if is_hosted && !name.is_some_and(|name| self.reader.conversation.tools.knows(name)) {
                continue;
            }
            references.extend(name.map(|name| reference(Node::string(name.clone()), origin)));
            // If tool changes are ignored, a search may only load functions in the request's list.
            if self.reader.may_change() && !is_hosted {
                self.reader.add_definition_at(definition, Arrival::Found, origin);
            }
        }
        let origin = self.reader.location.name("result");
        Part::Search(SearchOutcome { origin, references, block: Node::default(), error: None, is_whole: true })
    }

    fn search(&mut self, mut step: Node<'a>) {
        self.reader.mark_changed(self.at);
        let message = self.turns.next(Phase::Called);
        let source_item = (self.reader.same_format() && !self.reader.emulates()).then(|| step.clone());
        let id = string_of(&step, "id");
        self.hosted.extend(id.as_text().cloned());
        if source_item.is_none() {
            self.reader.lose_rest(&step, &["type", "id", "arguments"]);
        }
        let name = Text::new(String::from(self.reader.reading.options.tool_search_name.as_str()));
        let arguments = Arguments::Value(step.visit("arguments", core::mem::take).unwrap_or_default());
        self.push(message, EventKind::Call(Call { id, name, arguments, search: Some(Searcher::Hosted), source_item }));
    }

    fn hosted_result(&mut self, mut step: Node<'a>) {
        self.reader.mark_changed(self.at);
        let source_item = (self.reader.same_format() && !self.reader.emulates()).then(|| step.clone());
        let id = string_of(&step, "call_id");
        if source_item.is_none() {
            self.reader.lose_rest(&step, &["type", "call_id", "result"]);
        }
        let list = step.visit("result", |result| result.as_array_mut().map(core::mem::take)).flatten();
        let functions = list.unwrap_or_default().into_iter().enumerate();
        let functions = functions.map(|(index, definition)| (definition, self.entry(index))).collect();
        let content = Content::Parts(Vec::from([self.load(functions, Searcher::Hosted)]));
        if !id.as_text().is_some_and(|id| self.hosted.contains(id)) {
            self.reader.warn_of_orphan(id.as_text());
            // The result is dropped, but its functions remain loaded.
            let message = self.turns.current();
            self.push(message, EventKind::Orphan(content));
            return;
        }
        let message = self.turns.next(Phase::Other);
        let of_search = Some(Searcher::Hosted);
        self.push(message, EventKind::Result(Outcome { of_search, ..Outcome::new(id, content, source_item) }));
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
    let text = |key: &str| block.text_at(key).filter(|_| has_type(&block, "image"));
    let url = match (text("data").zip(text("mime_type")), text("uri")) {
        (Some((data, kind)), _) => Some(Node::string(format!("data:{};base64,{}", kind.display(), data.display()))),
        (None, uri) => uri.cloned().map(Node::string),
    };
    match url {
        Some(url) => Ok(Some(Part::Image { url, detail: None })),
        None => {
            reader.lose_block(&block);
            Ok(None)
        }
    }
}
