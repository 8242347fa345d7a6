//! Finds calls in the messages, replies and events of each API. Describes only the shapes of the APIs, not how calls
//! are processed.
//!
//! One walk covers all formats, because no member is a call in one format and something else in another.

use crate::json::{Data, Node, Text};

/// A node that names a tool.
pub(super) struct Site<'n, 'a> {
    pub(super) node: &'n mut Node<'a>,
    /// The member that holds the name.
    pub(super) name: &'static str,
    /// The member that holds the arguments, as a value or as JSON text in a string; `None` if this is not a call or its
    /// arguments are not JSON.
    pub(super) arguments: Option<&'static str>,
    pub(super) id: Option<Text<'a>>,
    pub(super) role: Role,
}

/// Role of a node that names a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A call or its result.
    Call,
    /// A reference to a listed tool, in a result or in a change of the tools.
    Reference,
    /// A step of a hosted search. The step may have a signature, so only the name may change.
    Search,
}

impl<'n, 'a> Site<'n, 'a> {
    /// Returns the site of a call whose name and arguments are members of `node`.
    fn new(node: &'n mut Node<'a>, arguments: Option<&'static str>) -> Self {
        let id = id_of(node);
        Site::call(node, arguments, id)
    }

    /// Returns the site of a call with this id.
    pub(super) const fn call(node: &'n mut Node<'a>, arguments: Option<&'static str>, id: Option<Text<'a>>) -> Self {
        Site { node, name: "name", arguments, id, role: Role::Call }
    }

    /// Returns the site of a reference.
    fn reference(node: &'n mut Node<'a>) -> Self {
        let name = if node.get("tool_name").is_some() { "tool_name" } else { "name" };
        Site { node, name, arguments: None, id: None, role: Role::Reference }
    }

    /// Returns the site of a definition that a hosted search found.
    fn mention(node: &'n mut Node<'a>) -> Self {
        Site { node, name: "name", arguments: None, id: None, role: Role::Search }
    }
}

/// Renames a tool in a call or a reference. A loaded tool is in a namespace that has the tool's name.
pub(super) fn rename(node: &mut Node<'_>, key: &'static str, called: Text<'static>) {
    let name = node.text_at(key);
    if name.is_some() && node.text_at("namespace") == name {
        node.set("namespace", Node::string(called.clone()));
    }
    node.set(key, Node::string(called));
}

/// Returns the id by which a result refers to the call.
pub(super) fn id_of<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    ["call_id", "id", "toolUseId"].into_iter().find_map(|key| call.get(key)?.as_text().cloned())
}

/// Returns true for a call of Gemini Interactions, whose arguments are a value. A call of OpenAI Responses has a
/// `call_id`, and arguments as text.
pub(super) fn is_step(call: &Node<'_>) -> bool {
    type_of(call) == Some(Kind::FunctionCall)
        && call.get("call_id").is_none()
        && call.get("id").is_some()
        && call.get("arguments").is_none_or(|arguments| arguments.as_text().is_none())
}

/// Returns true if the call has this id or no id at all.
pub(super) fn may_be(call: &Node<'_>, id: Option<&str>) -> bool {
    let mut ids = ["call_id", "id"].into_iter().filter_map(|key| call.get(key)?.as_text()).peekable();
    ids.peek().is_none() || ids.any(|own| id.is_some_and(|id| own.is(id)))
}

/// Returns true if a reply ended at a length limit. A call in it may then be truncated.
pub(super) fn is_cut(reply: &Node<'_>) -> bool {
    let ends = |node: &Node<'_>| {
        ENDS_OF_A_CUT.iter().any(|(key, word)| node.get(key).is_some_and(|reason| reason.is_text(word)))
    };
    let within =
        |node: &Node<'_>| ["choices", "candidates"].into_iter().any(|list| node.items_at(list).iter().any(ends));
    let inner = ["message", "response", "interaction"].into_iter().filter_map(|key| reply.get(key));
    core::iter::once(reply).chain(inner).any(|node| ends(node) || within(node))
}

/// The members and values with which each API reports that a reply ended at a length limit.
const ENDS_OF_A_CUT: [(&str, &str); 7] = [
    ("stop_reason", "max_tokens"),
    ("stop_reason", "model_context_window_exceeded"),
    ("finish_reason", "length"),
    ("finishReason", "MAX_TOKENS"),
    ("stopReason", "max_tokens"),
    ("stopReason", "model_context_window_exceeded"),
    ("status", "incomplete"),
];

type Visit<'v> = &'v mut dyn FnMut(Site<'_, '_>);

/// Visits every call in a reply, or in an event that contains whole calls.
pub(super) fn in_reply(reply: &mut Node<'_>, visit: Visit<'_>) {
    in_message(reply, visit);
    each(reply, "choices", &mut |choice| {
        choice.visit("message", |message| in_message(message, visit));
    });
    each(reply, "output", &mut |item| in_message(item, visit));
    // Gemini Interactions has steps in whole replies, and in events of a stream.
    each(reply, "steps", &mut |step| in_message(step, visit));
    reply.visit("step", |step| in_message(step, visit));
    reply.visit("interaction", |reply| each(reply, "steps", &mut |step| in_message(step, visit)));
    // Bedrock Converse has one message as its output.
    reply.visit("output", |output| output.visit("message", |message| in_message(message, visit)));
    each(reply, "candidates", &mut |candidate| {
        candidate.visit("content", |content| in_message(content, visit));
    });
    reply.visit("message", |message| in_message(message, visit));
    // The events of Responses, and some gateways, wrap a reply in `response`.
    reply.visit("response", |response| {
        in_message(response, visit);
        each(response, "output", &mut |item| in_message(item, visit));
        each(response, "candidates", &mut |candidate| {
            candidate.visit("content", |content| in_message(content, visit));
        });
    });
}

/// Visits every call in a message or item of a history, and everything else there that names a tool.
pub(super) fn in_message(message: &mut Node<'_>, visit: Visit<'_>) {
    match type_of(message) {
        Some(Kind::FunctionCall) => visit(Site::new(message, Some("arguments"))),
        Some(Kind::CustomCall | Kind::StepResult) => visit(Site::new(message, None)),
        Some(Kind::SearchCall) => {
            message.visit("arguments", |arguments| each(arguments, "function_names", &mut |name| in_name(name, visit)));
        }
        Some(Kind::SearchResult) => each(message, "result", &mut |found| visit(Site::mention(found))),
        Some(Kind::SearchOutput) => each(message, "tools", &mut |found| {
            if found.get("type").is_some_and(|kind| kind.is_text("function")) {
                visit(Site::mention(found));
            }
        }),
        // Chat Completions allows the tool's name in its result.
        _ if message.get("role").is_some_and(|role| role.is_text("tool") || role.is_text("function")) => {
            visit(Site::new(message, None));
        }
        _ => {}
    }
    each(message, "content", &mut |block| in_block(block, visit));
    each(message, "tool_calls", &mut |call| in_tool_call(call, visit));
    message.visit("function_call", |call| visit(Site::new(call, Some("arguments"))));
    each(message, "parts", &mut |part| {
        for (key, arguments) in [
            ("functionCall", Some("args")),
            ("function_call", Some("args")),
            ("functionResponse", None),
            ("function_response", None),
        ] {
            part.visit(key, |call| {
                // Arguments that come in pieces are incomplete.
                let is_part = ["partialArgs", "willContinue"].iter().any(|key| call.get(key).is_some());
                visit(Site::new(call, arguments.filter(|_| !is_part)));
            });
        }
    });
}

/// Visits the calls in a block, an item or a step of a reply, which an event may contain alone.
pub(super) fn in_unit(unit: &mut Node<'_>, visit: Visit<'_>) {
    match type_of(unit) {
        Some(Kind::ToolUse | Kind::Reference | Kind::Change | Kind::Result | Kind::SearchBlock) => {
            in_block(unit, visit)
        }
        _ => in_message(unit, visit),
    }
}

/// Visits the calls in one entry of `tool_calls`.
pub(super) fn in_tool_call(call: &mut Node<'_>, visit: Visit<'_>) {
    let id = id_of(call);
    call.visit("function", |function| {
        visit(Site::call(function, Some("arguments"), id.clone()));
    });
    call.visit("custom", |custom| visit(Site::call(custom, None, id)));
}

/// Visits a name that is an entry of a list.
fn in_name<'a>(name: &mut Node<'a>, visit: Visit<'_>) {
    let Some(old) = name.as_text().cloned() else { return };
    let mut holder = Node::record([("name", Node::string(old.clone()))]);
    visit(Site::mention(&mut holder));
    if let Some(new) = holder.get("name").filter(|new| new.as_text() != Some(&old)).cloned() {
        *name = new;
    }
}

fn in_block(block: &mut Node<'_>, visit: Visit<'_>) {
    // In Bedrock Converse, the name of the member is the kind of the block.
    block.visit("toolUse", |call| visit(Site::new(call, Some("input"))));
    for key in ["toolAddition", "toolRemoval"] {
        block.visit(key, |change| {
            // The tools of a server are not in the list.
            change.visit("tool", |tool| {
                tool.get("serverName").is_none_or(Node::is_null).then(|| visit(Site::reference(tool)))
            });
        });
    }
    match type_of(block) {
        Some(Kind::ToolUse) => visit(Site::new(block, Some("input"))),
        Some(Kind::Change) => {
            let is_reference = |tool: &Node<'_>| type_of(tool) == Some(Kind::Reference);
            block.visit("tool", |tool| is_reference(tool).then(|| visit(Site::reference(tool))));
        }
        Some(Kind::Reference) => visit(Site::reference(block)),
        Some(Kind::SearchBlock) => {
            block.visit("content", |found| each(found, "tool_references", &mut |tool| visit(Site::reference(tool))));
        }
        Some(Kind::Result) => each(block, "content", &mut |inner| {
            if type_of(inner) == Some(Kind::Reference) {
                visit(Site::reference(inner));
            }
        }),
        _ => {}
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    ToolUse,
    Reference,
    /// An addition or a removal of a tool in Anthropic's API.
    Change,
    Result,
    /// The result of a hosted search in Anthropic's API.
    SearchBlock,
    FunctionCall,
    CustomCall,
    /// The result of a call in Gemini Interactions, which may name the tool.
    StepResult,
    /// A hosted search of Gemini Interactions, which names functions. (In OpenAI Responses, it has a query.)
    SearchCall,
    /// The result of a hosted search in Gemini Interactions.
    SearchResult,
    /// The result of a search in OpenAI Responses.
    SearchOutput,
}

fn type_of(node: &Node<'_>) -> Option<Kind> {
    let name = node.get("type")?;
    let kinds = [
        ("tool_use", Kind::ToolUse),
        ("tool_reference", Kind::Reference),
        ("tool_addition", Kind::Change),
        ("tool_removal", Kind::Change),
        ("tool_result", Kind::Result),
        ("tool_search_tool_result", Kind::SearchBlock),
        ("function_call", Kind::FunctionCall),
        ("custom_tool_call", Kind::CustomCall),
        ("function_result", Kind::StepResult),
        ("tool_search_call", Kind::SearchCall),
        ("tool_search_result", Kind::SearchResult),
        ("tool_search_output", Kind::SearchOutput),
    ];
    kinds.into_iter().find(|(spelling, _)| name.is_text(spelling)).map(|(_, kind)| kind)
}

/// Visits the items of a member that is a list.
pub(super) fn each<'a>(node: &mut Node<'a>, key: &str, visit: &mut dyn FnMut(&mut Node<'a>)) {
    node.visit(key, |list| {
        if matches!(list.data(), Data::Array(_)) {
            // The visitor never fails.
            let _ = list.visit_children::<()>(|_, item| {
                visit(item);
                Ok(())
            });
        }
    });
}

/// Returns true if a call in a start event has no arguments in this member yet.
pub(super) fn is_none(item: &Node<'_>, key: &str) -> bool {
    item.get(key).is_none_or(|value| match value.data() {
        Data::Object(object) => object.is_empty(),
        _ => value.is_null() || value.is_text("") || value.is_text("{}"),
    })
}
