//! Reader for Bedrock Converse, whose requests keep their format. Reads calls, and system messages that add or remove
//! tools.

use alloc::vec::Vec;

use super::IN_JSON;
use crate::{
    error::Error,
    json::{
        self,
        lazy::{may_hold, view},
        Data, Flags, Node, Object, Text,
    },
    request::{
        carriers::{of_message, references_in, Searches, REFERENCES},
        conversation::{
            string_of, Addition, Arguments, Call, Content, EventKind, Outcome, Part, Role, SearchOutcome, Searcher,
        },
        location::Location,
        reader::{lenient_role, references_from, Reader},
    },
    wire::additions::ToolChangeKind,
    wire::converse::mentions::converse_change,
    wire::converse::mentions::is_of_server,
};

pub(crate) fn read(reader: &mut Reader<'_, '_, '_>) -> Result<(), Error> {
    let mut searches = Searches::of(reader.listed, Some(reader.reading.options));
    let mut has_any = false;
    for message in reader.history.messages() {
        has_any |= may_hold(message, Flags::DEFERRAL) && of_message(&*view(message)?).iter().any(IN_JSON.has_tools);
    }
    for index in 0..reader.history.messages().len() {
        if has_any {
            record_calls(reader, index, &mut searches)?;
        }
        let concerns = |message: &Node<'_>, calls: bool| {
            let is_call = |block: &Node<'_>| ["toolUse", "toolResult"].iter().any(|key| block.get(key).is_some());
            let is_concerned = |block: &Node<'_>| converse_change(block).is_some() || (IN_JSON.has_tools)(block);
            of_message(message).iter().any(|block| is_concerned(block) || calls && is_call(block))
        };
        if let Some(message) = reader.open_if_concerned(index, concerns)? {
            self::message(reader, index + 1, message, &searches);
        }
    }
    Ok(())
}

/// Records the names of called tools, because results do not contain them.
fn record_calls<'a>(reader: &Reader<'_, '_, 'a>, index: usize, searches: &mut Searches<'a>) -> Result<(), Error> {
    let message = reader.history.messages().get(index).filter(|message| may_hold(message, Flags::CALL));
    let Some(message) = message else { return Ok(()) };
    of_message(&*view(message)?).iter().for_each(|block| searches.record(block, &IN_JSON));
    Ok(())
}

fn message<'a>(reader: &mut Reader<'_, '_, 'a>, at: usize, mut message: Node<'a>, searches: &Searches<'a>) {
    let role = lenient_role(&message);
    let content = message.visit("content", core::mem::take).map(Node::into_data);
    reader.conversation.originals.insert(at, message);
    let Some(Data::Array(blocks)) = content else { return };
    let calls = reader.wants_calls();
    let outer = reader.location;
    for (index, block) in blocks.into_iter().enumerate() {
        reader.location = outer.name("content").index(index);
        if let Some((change, name)) = converse_change(&block) {
            reader.mark_changed(at);
            // Only the client may change the tools, and only its own tools are in the list.
            if role != Role::System || !reader.may_change() || is_of_server(&block) {
                reader.push(at, EventKind::Ignored(name));
            } else if change == ToolChangeKind::Removal {
                reader.push(at, EventKind::Remove { name, cache_control: None });
            } else {
                let origin = reader.location;
                let added = Addition { origin, name, definition: None, cache_control: None, is_known: false };
                reader.push(at, EventKind::Add(Vec::from([added])));
            }
        } else if searches.is_search_result(&block, &IN_JSON) {
            reader.mark_changed(at);
            let result = block.get("toolResult");
            let id = result.map(|result| string_of(result, "toolUseId")).unwrap_or_default();
            let blocks = result.and_then(|result| result.get("content")?.as_array()).unwrap_or_default();
            let list = reader.location.name("toolResult").name("content");
            let parts = blocks.iter().enumerate().flat_map(|(index, block)| result_parts(block, list.index(index)));
            let content = Content::Parts(parts.collect());
            let of_search = Some(Searcher::Client);
            reader.push(at, EventKind::Result(Outcome { of_search, ..Outcome::new(id, content, Some(block)) }));
        } else if let Some(call) = block.get("toolUse").filter(|_| calls).cloned() {
            let name = call.text_at("name").cloned().unwrap_or_else(|| Text::literal(""));
            let arguments = Arguments::Value(call.get("input").cloned().unwrap_or_default());
            let id = string_of(&call, "toolUseId");
            reader.push(at, EventKind::Call(Call { id, name, arguments, search: None, source_item: Some(block) }));
        } else if let Some(result) = block.get("toolResult").filter(|_| calls).cloned() {
            let id = string_of(&result, "toolUseId");
            let content = result.items_at("content");
            let content = Content::Parts(content.iter().map(as_message_block).collect());
            reader.push(at, EventKind::Result(Outcome::new(id, content, Some(block))));
        } else {
            let content = Content::Parts(Vec::from([Part::Untranslated(block)]));
            reader.push(at, EventKind::Text { role, content });
        }
    }
    reader.location = outer;
}

/// Returns the references in a block of a search result, and the rest of the block. `origin` is the block's location.
fn result_parts<'a>(block: &Node<'a>, origin: Location) -> Vec<Part<'a>> {
    let references = block.get("json").and_then(references_in);
    let Some(references) = references else { return Vec::from([Part::Untranslated(block.clone())]) };
    let origin = origin.name("json");
    let references = references_from(references, origin);
    let search = SearchOutcome { origin, references, block: Node::default(), error: None, is_whole: true };
    let mut rest = block.clone();
    let is_whole = rest.visit("json", |json| {
        json.remove(REFERENCES);
        json.as_object().is_some_and(Object::is_empty)
    });
    let rest = (is_whole != Some(true)).then_some(Part::Untranslated(rest));
    core::iter::once(Part::Search(search)).chain(rest).collect()
}

/// Returns a block of a result as a block of a message, which cannot be JSON.
fn as_message_block<'a>(block: &Node<'a>) -> Part<'a> {
    match block.get("json") {
        Some(value) => Part::Untranslated(Node::record([("text", Node::string(json::write(value)))])),
        None => Part::Untranslated(block.clone()),
    }
}
