//! Reader for Gemini `generateContent`, whose requests keep their format. Reads search results and calls.

use alloc::vec::Vec;

use super::SEARCH_RESULTS_IN_JSON;
use crate::{
    error::Error,
    json::{Data, Node},
    request::{
        carriers::{of_message, references_in, Searches},
        conversation::{Content, EventKind, Outcome, Part, SearchOutcome, Searcher},
        reader::{lenient_role, references_from, Reader},
    },
    wire::gemini::FUNCTION_RESPONSES,
};

const CALLS: [&str; 2] = ["functionCall", "function_call"];

pub(crate) fn read(reader: &mut Reader<'_, '_, '_>) -> Result<(), Error> {
    let searches = Searches::of(reader.listed, Some(reader.reading.options));
    for index in 0..reader.history.messages().len() {
        let concerns = |message: &Node<'_>, calls: bool| {
            let is_call = |part: &Node<'_>| CALLS.iter().any(|key| part.get(key).is_some());
            of_message(message).iter().any(|part| (SEARCH_RESULTS_IN_JSON.has_tools)(part) || calls && is_call(part))
        };
        if let Some(message) = reader.open_if_concerned(index, concerns)? {
            self::message(reader, index + 1, message, &searches);
        }
    }
    Ok(())
}

fn message<'a>(reader: &mut Reader<'_, '_, 'a>, at: usize, mut message: Node<'a>, searches: &Searches<'a>) {
    let role = lenient_role(&message);
    let parts = message.visit("parts", core::mem::take).map(Node::into_data);
    reader.conversation.originals.insert(at, message);
    let outer = reader.location;
    let is_list = matches!(parts, Some(Data::Array(_)));
    let parts = match parts {
        Some(Data::Array(parts)) => parts,
        Some(Data::Object(part)) => Vec::from([Node::new(Data::Object(part))]),
        _ => return,
    };
    for (index, part) in parts.into_iter().enumerate() {
        let member = outer.name("parts");
        reader.location = if is_list { member.index(index) } else { member };
        if searches.is_search_result(&part, &SEARCH_RESULTS_IN_JSON) {
            reader.mark_changed(at);
            let response = FUNCTION_RESPONSES.iter().find_map(|key| Some((*key, part.get(key)?.get("response")?)));
            let origin = response.map_or(reader.location, |(key, _)| reader.location.name(key).name("response"));
            let references = response.and_then(|(_, response)| references_in(response)).unwrap_or_default();
            let references = references_from(references, origin);
            let search = SearchOutcome { origin, references, block: Node::default(), error: None, is_whole: true };
            let content = Content::Parts(Vec::from([Part::Search(search)]));
            let of_search = Some(Searcher::Client);
            let outcome = Outcome { of_search, ..Outcome::new(Node::default(), content, Some(part)) };
            reader.push(at, EventKind::Result(outcome));
            continue;
        }
        let called = CALLS.iter().find_map(|key| part.get(key)?.get("name")?.as_text()).cloned();
        if let Some(name) = called {
            reader.push(at, EventKind::Used(name));
        }
        reader.push(at, EventKind::Text { role, content: Content::Parts(Vec::from([Part::Untranslated(part)])) });
    }
    reader.location = outer;
}
