//! Describes how APIs represent calls and results as blocks of messages. Repairs the arguments of calls in the history,
//! names results, and handles answers of earlier turns that were calls.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    collections::Map,
    dialect::requests::{ANSWERED, HISTORY_ARGUMENTS},
    error::{Code, Error},
    json::{
        self,
        lazy::{self, edit, may_hold, view},
        tolerant::{read_tolerant, Tolerance},
        Data, Flags, Node, Text,
    },
    options::Api,
    report::{Confidence, Permits},
    request::tool::{has_type, starts_with},
    tools::{answer::call::ANSWER_ID, call_sites::each, request_facts::RequestChange},
};

/// An API's representation of calls and results as blocks of messages.
pub(crate) struct Blocks {
    /// Member of a message that contains its blocks.
    pub(crate) list: &'static str,
    /// Spellings of the member of a block that contains a call; empty if the block itself is the call.
    call: &'static [&'static str],
    /// Spellings of the member of a block that contains a result; empty if the block itself is the result.
    result: &'static [&'static str],
    /// Member of a call that contains its id.
    call_id: &'static str,
    /// Member of a result that contains the id of its call.
    result_id: &'static str,
    /// `type` of calls and of results, if blocks have types.
    types: Option<(&'static str, &'static str)>,
    /// True if results may refer to calls by name.
    is_named: bool,
    /// True if consecutive messages of one role count as one message. If not, all results of a message have to be in
    /// the next message.
    pub(crate) joins: bool,
    /// True if results have to precede other content.
    pub(crate) is_first: bool,
}

const ANTHROPIC: Blocks = Blocks {
    list: "content",
    call: &[],
    result: &[],
    call_id: "id",
    result_id: "tool_use_id",
    types: Some(("tool_use", "tool_result")),
    is_named: false,
    joins: true,
    is_first: true,
};

const CONVERSE: Blocks = Blocks {
    list: "content",
    call: &["toolUse"],
    result: &["toolResult"],
    call_id: "toolUseId",
    result_id: "toolUseId",
    types: None,
    is_named: false,
    joins: false,
    is_first: false,
};

const GEMINI: Blocks = Blocks {
    list: "parts",
    call: &["functionCall", "function_call"],
    result: &["functionResponse", "function_response"],
    call_id: "id",
    result_id: "id",
    types: None,
    is_named: true,
    joins: false,
    is_first: false,
};

impl Blocks {
    /// Returns the representation in an API; `None` if calls and results are not blocks in this API.
    pub(crate) const fn of(api: Api) -> Option<&'static Blocks> {
        match api {
            Api::Anthropic => Some(&ANTHROPIC),
            Api::Bedrock => Some(&CONVERSE),
            Api::Gemini => Some(&GEMINI),
            _ => None,
        }
    }

    /// Returns true if blocks have types, which distinguish results of the client from those of tools that the API
    /// runs.
    pub(crate) const fn has_types(&self) -> bool {
        self.types.is_some()
    }

    /// Returns a block of text.
    pub(crate) fn text<'a>(&self, text: Text<'a>) -> Node<'a> {
        let text = ("text", Node::string(text));
        match self.types {
            Some(_) => Node::record([("type", Node::literal("text")), text]),
            None => Node::record([text]),
        }
    }

    /// Returns the call in a block.
    pub(crate) fn call<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        inner(block, self.call, self.types.map(|(call, _)| call))
    }

    /// Returns the result in a block.
    pub(crate) fn result<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        inner(block, self.result, self.types.map(|(_, result)| result))
    }

    pub(crate) fn call_id(&self, call: &Node<'_>) -> Option<String> {
        text(call, self.call_id)
    }

    pub(crate) fn result_id(&self, result: &Node<'_>) -> Option<String> {
        text(result, self.result_id)
    }

    /// Returns the name of a call or a result, if results may refer to calls by name.
    pub(crate) fn name(&self, one: &Node<'_>) -> Option<String> {
        text(one, "name").filter(|_| self.is_named)
    }
}

fn inner<'n, 'a>(block: &'n Node<'a>, keys: &[&str], kind: Option<&str>) -> Option<&'n Node<'a>> {
    match kind {
        Some(kind) => has_type(block, kind).then_some(block),
        None => keys.iter().find_map(|key| block.get(*key)),
    }
}

/// Returns the text of a member that is a string.
pub(crate) fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.text_at(key).map(|text| text.display().to_string())
}

/// Repairs the arguments of all calls in a request's history. Arguments that are a JSON object stay unchanged.
///
/// # Errors
/// `invalid-json`, if a message is text that cannot be read.
pub(crate) fn repair_arguments(request: &mut Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    let (key, mut changes) = (api.history(), Vec::new());
    let repaired = request.visit(key, |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        let mut at = 0;
        history.visit_children(|_, message| {
            let place = format!("/{key}/{at}");
            at += 1;
            if !lazy::may_hold(message, Flags::CALL) {
                return Ok(());
            }
            lazy::edit(message, |message| {
                in_message(message, api, &place, &mut changes);
                Ok(())
            })
        })
    });
    repaired.unwrap_or(Ok(()))?;
    Ok(changes)
}

/// Repairs the arguments of the calls in one message or item.
fn in_message(message: &mut Node<'_>, api: Api, place: &str, changes: &mut Vec<RequestChange>) {
    if is_of_type(message, "function_call") {
        member(message, "arguments", api != Api::GeminiInteractions, place, changes);
    }
    numbered(message, "content", place, &mut |block, place| {
        if is_of_type(block, "tool_use") {
            member(block, "input", false, place, changes);
        }
        block.visit("toolUse", |call| member(call, "input", false, &format!("{place}/toolUse"), changes));
    });
    numbered(message, "tool_calls", place, &mut |call, place| {
        call.visit("function", |function| member(function, "arguments", true, &format!("{place}/function"), changes));
    });
    message.visit("function_call", |call| member(call, "arguments", true, &format!("{place}/function_call"), changes));
    numbered(message, "parts", place, &mut |part, place| {
        for key in ["functionCall", "function_call"] {
            part.visit(key, |call| {
                // Arguments that come in pieces are not a complete object.
                if ["partialArgs", "willContinue"].iter().all(|key| call.get(key).is_none()) {
                    member(call, "args", false, &format!("{place}/{key}"), changes);
                }
            });
        }
    });
}

fn is_of_type(node: &Node<'_>, name: &str) -> bool {
    node.get("type").is_some_and(|kind| kind.is_text(name))
}

/// Visits the items of a member that is a list, with their pointers.
fn numbered(holder: &mut Node<'_>, key: &str, place: &str, visit: &mut dyn FnMut(&mut Node<'_>, &str)) {
    let mut at = 0;
    each(holder, key, &mut |item| {
        visit(item, &format!("{place}/{key}/{at}"));
        at += 1;
    });
}

/// Repairs the arguments in one member; `is_text` is true if the API expects JSON text there.
fn member(call: &mut Node<'_>, key: &str, is_text: bool, place: &str, changes: &mut Vec<RequestChange>) {
    call.visit(key, |arguments| {
        let Some((object, message)) = object_of(arguments, is_text) else { return };
        *arguments = if is_text { Node::string(json::write(&object)) } else { object };
        let pointer = format!("{place}/{key}");
        changes.push(RequestChange::new(pointer, &HISTORY_ARGUMENTS, message));
    });
}

/// Returns the object that replaces the arguments, with the message about the change; `None` if the arguments already
/// are a JSON object in the expected form.
fn object_of(arguments: &Node<'_>, is_text: bool) -> Option<(Node<'static>, &'static str)> {
    if arguments.as_object().is_some() {
        return None;
    }
    let text = arguments.as_text().map(Text::value);
    // Text with a lone surrogate cannot be read, but may be the text of an object.
    if matches!(text, Some(None)) || (is_text && matches!(&text, Some(Some(text)) if is_object(text))) {
        return None;
    }
    let found = text.flatten().as_deref().and_then(read);
    match found {
        Some(object) => Some((object, "repaired arguments that are not a JSON object")),
        None => Some((Node::empty_object(), "replaced arguments that are not a JSON object with `{}`")),
    }
}

/// Returns true for the text of a JSON object, at any nesting depth.
fn is_object(text: &str) -> bool {
    match json::read(text) {
        Ok(node) => node.as_object().is_some(),
        Err(error) => error.code() == Code::TooDeep && text.trim_start().starts_with('{'),
    }
}

/// Reads text that was meant as a JSON object and may have been encoded twice.
fn read(text: &str) -> Option<Node<'static>> {
    let how = Tolerance { permits: Permits::new(Confidence::Likely, &[]), closes: true, is_inside: false };
    let node = read_tolerant(text, how).ok()?.node;
    let inner = node.as_text().and_then(Text::value);
    let node = match inner.as_deref() {
        Some(inner) => read_tolerant(inner, how).ok()?.node,
        None => node.clone(),
    };
    node.as_object().is_some().then(|| node.detached())
}

/// Gives each result without a name the name of its call. Returns the pointers to these results.
///
/// # Errors
/// `invalid-json` if a step is text that cannot be read.
pub(crate) fn name_results(request: &mut Node<'_>, api: Api) -> Result<Vec<String>, Error> {
    let mut places = Vec::new();
    if api != Api::GeminiInteractions {
        return Ok(places);
    }
    let mut called: Map<Text<'_>, Text<'_>> = Map::new();
    let completed = request.visit(api.history(), |steps| {
        let mut missing = Vec::new();
        for (at, step) in steps.as_array().unwrap_or_default().iter().enumerate() {
            if !may_hold(step, Flags::CALL) {
                continue;
            }
            let step = view(step)?;
            let text = |key: &str| step.text_at(key).filter(|text| !text.is_empty());
            if has_type(&step, "function_call") {
                if let Some((id, name)) = text("id").zip(text("name")) {
                    called.insert(id.clone(), name.clone());
                }
            } else if has_type(&step, "function_result") && text("name").is_none() {
                missing.extend(text("call_id").and_then(|id| called.get(id)).map(|name| (at, name.clone())));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let Some(list) = steps.as_array_mut() else { return Ok(()) };
        for (at, name) in missing {
            if let Some(step) = list.get_mut(at) {
                edit(step, |step| {
                    step.set("name", Node::string(name));
                    Ok::<(), Error>(())
                })?;
                places.push(format!("/{}/{at}", api.history()));
            }
        }
        Ok(())
    });
    completed.unwrap_or(Ok(()))?;
    Ok(places)
}

/// Removes the ids of messages that were calls from a Responses history, and the reasoning directly before each such
/// message, because the API knows that reasoning only as part of the call.
///
/// # Errors
/// `invalid-json` if an item is text that cannot be read.
pub(crate) fn forget_answers(request: &mut Node<'_>) -> Result<Vec<RequestChange>, Error> {
    let history = Api::OpenaiResponses.history();
    let items = request.items_at(history);
    let (mut answers, mut gone) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let may_be = match item.data() {
            Data::Verbatim(text) => text.contains(ANSWER_ID),
            _ => true,
        };
        if !may_be || !is_answer(&*view(item)?) {
            continue;
        }
        answers.push(at);
        for (before, item) in items.iter().enumerate().take(at).rev() {
            if !has_type(&*view(item)?, "reasoning") {
                break;
            }
            gone.push(before);
        }
    }
    if answers.is_empty() {
        // Returns here, because a list counts as changed once it is borrowed mutably.
        return Ok(Vec::new());
    }
    gone.sort_unstable();
    let message = |place: &usize| format!("/{history}/{place}");
    let mut changes: Vec<RequestChange> = answers
        .iter()
        .map(|at| RequestChange::new(message(at), &ANSWERED, "removed the id of an answer that was sent as a call"))
        .collect();
    changes.extend(gone.iter().map(|at| {
        RequestChange::new(message(at), &ANSWERED, "removed the reasoning of an answer that was sent as a call")
    }));
    let edited = request.visit(history, |list| {
        let Some(items) = list.as_array_mut() else { return Ok(()) };
        for at in &answers {
            if let Some(item) = items.get_mut(*at) {
                edit(item, |item| {
                    item.remove("id");
                    Ok(())
                })?;
            }
        }
        let (mut at, mut gone) = (0, gone.iter().peekable());
        items.retain(|_| {
            let goes = gone.next_if(|place| **place == at).is_some();
            at += 1;
            !goes
        });
        Ok(())
    });
    edited.unwrap_or(Ok(())).map(|()| changes)
}

fn is_answer(item: &Node<'_>) -> bool {
    has_type(item, "message") && item.text_at("id").is_some_and(|id| starts_with(id, ANSWER_ID))
}
