//! The answer to a model's call of the tool search: references, in the shape of the call's format.

use alloc::{format, string::String, vec::Vec};

use super::{
    call::{Call, Wanted},
    index::{Among, Index},
};
use crate::{
    deferred::notice,
    error::{Code, Error},
    json::{Node, Text},
    options::{Format, SearchOptions},
    sorted::Set,
};

/// How Claude's own search is asked for tools by their names: `select:Read,Edit`.
const SELECT: &str = "select:";

/// Answers a call. What the model did wrong is said to the model, which can do better then; errors are the caller's.
///
/// # Errors
/// `invalid-option`.
pub(crate) fn answer(call: &Call<'_, '_>, index: &Index, options: &SearchOptions) -> Result<Node<'static>, Error> {
    let found = call.wanted().and_then(|wanted| find(&wanted, index, options));
    let said = match found {
        Ok(names) if names.is_empty() => Said::Text(notice::NO_MATCH.into()),
        Ok(names) => Said::References(names),
        Err(error) if error.code() == Code::InvalidOption => return Err(error),
        Err(error) => Said::Failure(format!("Tool search failed: {}", error.message())),
    };
    Ok(write(call, said))
}

/// The tools that the queries of a call ask for. Of several queries each has its turn, best first.
fn find<'i>(wanted: &Wanted, index: &'i Index, options: &SearchOptions) -> Result<Vec<&'i Text<'static>>, Error> {
    let limit = wanted.most.map_or(options.limit, |most| most.min(options.limit));
    let options = SearchOptions { limit, ..options.clone() };
    let (mut names, mut seen) = (Vec::new(), Set::new());
    let mut ranked: Vec<alloc::vec::IntoIter<&Text<'static>>> = Vec::new();
    for query in &wanted.queries {
        match selection(query) {
            Some(list) => {
                let found = list.split(',').filter_map(|name| index.named(name.trim()));
                names.extend(found.filter(|name| !name.is(&options.tool_search_name)).filter(|name| seen.insert(*name)));
            }
            None => ranked.push(index.search(query, &options, Among::Deferred)?.into_iter()),
        }
    }
    // What was asked for by name is not cut off; what was searched for fills up to the limit.
    for _ in 0..limit {
        for list in &mut ranked {
            names.extend(list.next().filter(|name| names.len() < limit && seen.insert(*name)));
        }
    }
    Ok(names)
}

fn selection(query: &str) -> Option<&str> {
    let query = query.trim_start();
    query.get(..SELECT.len()).filter(|start| start.eq_ignore_ascii_case(SELECT)).and_then(|_| query.get(SELECT.len()..))
}

/// What an answer says.
enum Said<'i> {
    References(Vec<&'i Text<'static>>),
    Text(String),
    Failure(String),
}

fn write(call: &Call<'_, '_>, said: Said<'_>) -> Node<'static> {
    // A value made anew: it must not pass for one of the caller's own.
    let id = call.id.and_then(Node::as_text).map(|id| Node::string(id.clone().into_owned())).unwrap_or_default();
    let failed = matches!(said, Said::Failure(_));
    let content = match said {
        Said::References(names) => Node::array(names.into_iter().map(reference).collect()),
        Said::Text(text) | Said::Failure(text) if call.format == Format::Anthropic => {
            Node::array(alloc::vec![Node::record([("type", Node::literal("text")), ("text", Node::string(text))])])
        }
        Said::Text(text) | Said::Failure(text) => Node::string(text),
    };
    match call.format {
        Format::Anthropic if failed => Node::record([
            ("type", Node::literal("tool_result")),
            ("tool_use_id", id),
            ("is_error", Node::bool(true)),
            ("content", content),
        ]),
        Format::Anthropic => Node::record([("type", Node::literal("tool_result")), ("tool_use_id", id), ("content", content)]),
        Format::OpenaiResponses => Node::record([("type", Node::literal("function_call_output")), ("call_id", id), ("output", content)]),
        Format::OpenaiChat => Node::record([("role", Node::literal("tool")), ("tool_call_id", id), ("content", content)]),
    }
}

fn reference(name: &Text<'static>) -> Node<'static> {
    Node::record([("type", Node::literal("tool_reference")), ("tool_name", Node::string(name.clone()))])
}
