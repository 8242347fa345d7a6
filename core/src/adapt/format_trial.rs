//! Chooses how the response format is sent with `formats: "ladder"`: rewrites a sample of the request, in which schemas
//! of tools are empty and messages that do not concern tools are left out.

use super::substitute::Stop;
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Data, Flags, Node, Text,
    },
    options::{AdaptOptions, Api, Formats},
    request::{self, format, tool_format},
    wire::{self, tool_list::HOLDERS, GROUPS},
};

/// How the response format is sent.
pub(super) struct Chosen {
    pub(super) formats: Formats,
    /// The reason why the first form of the ladder is not sent.
    pub(super) refused: Option<Error>,
}

/// Returns the first form of the ladder in which the API accepts the format. The last form is not tried.
pub(super) fn choose<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    rewrite: &dyn Fn(&mut Node<'a>, Formats) -> Result<(), Stop>,
) -> Result<Chosen, Error> {
    if options.formats != Formats::Ladder {
        return Ok(Chosen { formats: options.formats, refused: None });
    }
    let api = format::of_request(request, options)?;
    if request::formats::pointers(request, api)?.is_empty() {
        return Ok(Chosen { formats: Formats::Native, refused: None });
    }
    let sample = match sample(request, api)? {
        sample if format::of_request(&sample, options)? == api => sample,
        // A part that the sample lacks tells the format.
        _ => request.clone(),
    };
    let mut refused = None;
    for formats in [Formats::Native, Formats::Tool] {
        let mut tried = rewrite(&mut sample.clone(), formats);
        if let Err(Stop::Request(_)) = tried {
            // A part that the sample lacks may be the reason.
            tried = rewrite(&mut request.clone(), formats);
        }
        match tried {
            Err(Stop::Format(error)) => refused = refused.or(Some(error)),
            // The request is rewritten in this form, with this error.
            Ok(()) | Err(Stop::Request(_)) => return Ok(Chosen { formats, refused }),
        }
    }
    Ok(Chosen { formats: Formats::Prompt, refused })
}

fn sample<'a>(request: &Node<'a>, api: Api) -> Result<Node<'a>, Error> {
    let history = wire::of(api).history();
    let mut sample = Node::empty_object();
    for member in request.as_object().into_iter().flatten() {
        let value = if member.key.is(history) { sampled_history(&member.value) } else { member.value.clone() };
        if let Some(object) = sample.as_object_mut() {
            object.set(member.key.clone(), value);
        }
    }
    wire::of(api).tools().edit(&mut sample, |tools| {
        *tools = without_schemas(&*view(tools)?, MAX_LEVELS);
        Ok(())
    })?;
    Ok(sample)
}

/// Returns the whole history if it may change the tools or the format, or else its last message, which may begin the
/// answer.
fn sampled_history<'a>(history: &Node<'a>) -> Node<'a> {
    let Some(messages) = history.as_array() else { return history.clone() };
    if messages.iter().any(|message| may_hold(message, Flags::DEFERRAL | Flags::FORMAT)) {
        return history.clone();
    }
    Node::array(messages.last().cloned().into_iter().collect())
}

/// Levels of a list of tools: the list, a group or namespace, its list, a tool, its holder.
const MAX_LEVELS: usize = 6;

fn without_schemas<'a>(node: &Node<'a>, levels: usize) -> Node<'a> {
    let Some(levels) = levels.checked_sub(1) else { return node.clone() };
    match node.data() {
        Data::Array(items) => Node::array(items.iter().map(|item| without_schemas(item, levels)).collect()),
        Data::Object(object) => {
            let holds_tools = |key: &Text<'_>| HOLDERS.iter().chain(&["tools"]).chain(&GROUPS).any(|own| key.is(*own));
            let is_schema = |key: &Text<'_>| tool_format::schema_members().any(|own| key.is(own));
            let members = object.iter().map(|member| {
                let value = match &member.key {
                    key if holds_tools(key) => without_schemas(&member.value, levels),
                    key if is_schema(key) && !member.value.is_null() => empty_schema(&member.value),
                    _ => member.value.clone(),
                };
                (member.key.clone(), value)
            });
            Node::object(members.collect())
        }
        _ => node.clone(),
    }
}

fn empty_schema<'a>(schema: &Node<'_>) -> Node<'a> {
    let empty = || Node::record([("type", Node::literal("object")), ("properties", Node::empty_object())]);
    // Bedrock wraps schemas.
    if schema.get("json").is_some() {
        Node::record([("json", empty())])
    } else {
        empty()
    }
}
