//! Rewrites tools outside the request's list: in Kimi's system messages, in items of OpenAI Responses, in Anthropic's
//! tool additions, and in results of client searches in Gemini Interactions. Removes tool changes of Bedrock Converse
//! that refer to tools that cannot be sent.
//!
//! The API applies the same rules to these tools as to the tools in the list.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use super::context::RequestContext;
use crate::{
    collections::Set,
    error::Error,
    json::{lazy, Data, Flags, Node, Text},
    options::ToolsOptions,
    report::Detail,
    request::{
        carriers::Carriers,
        splice,
        tool::{self, DEFERRAL_FLAG},
    },
    tools::sanitize_list::{self, Planned},
    wire::anthropic::mentions::added,
    wire::anthropic::mentions::edit_added,
    wire::anthropic::mentions::pointer_to_added,
    wire::converse::mentions::converse_change,
    wire::converse::mentions::is_of_server,
    wire::{self, additions::Additions},
};

struct ListRewriter<'c, 'o, 'a> {
    context: &'c mut RequestContext<'o, 'a>,
    /// `None` until a message adds tools.
    options: Option<ToolsOptions>,
}

/// Rewrites the tools of each message that contains tools. Removes messages that become empty.
pub(super) fn rewrite<'a>(request: &mut Node<'a>, context: &mut RequestContext<'_, 'a>) -> Result<(), Error> {
    let api = context.target;
    let additions = wire::of(api).additions();
    if matches!(additions, Additions::None | Additions::Listed) {
        return Ok(());
    }
    let mut tool_changes = Carriers::of(request, api, context.deferred.as_deref())?;
    let rewriter = &mut ListRewriter { options: None, context };
    let key = wire::of(api).history();
    let rewritten = request.visit(key, |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        let (mut gone, mut at) = (Vec::new(), 0);
        history.visit_children(|_, message| {
            if lazy::may_hold(message, Flags::NAMES_TOOLS) && tool_changes.adds_tools(&*lazy::view(message)?) {
                let pointers =
                    Pointers { before: format!("/{key}/{at}"), after: format!("/{key}/{}", at - gone.len()) };
                if lazy::edit(message, |message| rewrite_message(message, additions, &pointers, rewriter))? {
                    gone.push((at, Vec::new()));
                }
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(history, gone);
        Ok(())
    });
    rewritten.unwrap_or(Ok(()))
}

/// Rewrites the tools of a message. Returns true if the message becomes empty.
fn rewrite_message(
    message: &mut Node<'_>,
    additions: Additions,
    pointers: &Pointers,
    rewriter: &mut ListRewriter<'_, '_, '_>,
) -> Result<bool, Error> {
    if matches!(additions, Additions::Blocks) {
        return rewrite_blocks(message, pointers, rewriter);
    }
    let key = additions.list();
    let list = pointers.of_part(key, key);
    let kind = if additions.is_list(message) { Added::Redefining } else { Added::FirstWins };
    let emptied = message.visit(key, |tools| {
        *tools = rewrite_list(core::mem::take(tools), (&list, kind), rewriter)?;
        Ok(tools.as_array().is_some_and(<[Node<'_>]>::is_empty))
    });
    let emptied = emptied.unwrap_or(Ok(false))?;
    // The output of a search stays even without tools, because it answers a call.
    if additions.is_result(message) {
        return Ok(false);
    }
    let has_no_content = message.get("content").is_none_or(|content| content.is_text("") || content.is_null());
    Ok(emptied && has_no_content)
}

fn rewrite_blocks(
    message: &mut Node<'_>,
    pointers: &Pointers,
    rewriter: &mut ListRewriter<'_, '_, '_>,
) -> Result<bool, Error> {
    let emptied = message.visit("content", |content| {
        let (mut gone, mut at) = (Vec::new(), 0);
        content.visit_children(|_, block| {
            if let Some(definition) = added(block).cloned() {
                let [before, after] =
                    [at, at - gone.len()].map(|at| format!("content/{at}{}", pointer_to_added(block)));
                let (list, single) = (Node::array(Vec::from([definition])), pointers.of_part(&before, &after));
                let list = rewrite_list(list, (&single, Added::Single), rewriter)?;
                match list.as_array().and_then(<[Node<'_>]>::first).cloned() {
                    Some(new) => drop(edit_added(block, |definition| *definition = new)),
                    None => gone.push((at, Vec::new())),
                }
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        let is_changed = !gone.is_empty();
        splice(content, gone);
        Ok(is_changed && content.as_array().is_some_and(<[Node<'_>]>::is_empty))
    });
    emptied.unwrap_or(Ok(false))
}

/// The pointers to a part of the request before and after messages and blocks are removed.
struct Pointers {
    before: String,
    after: String,
}

impl Pointers {
    fn of_part(&self, before: &str, after: &str) -> Self {
        Pointers { before: format!("{}/{before}", self.before), after: format!("{}/{after}", self.after) }
    }
}

/// The tools that a part of the history adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    /// A list whose first definition of a tool applies.
    FirstWins,
    /// A list that may define tools again.
    Redefining,
    /// A single definition outside a list, which may define the tool again.
    Single,
}

/// Rewrites a list like the request's own list, but keeps the deferral flags of its tools. `pointers` point to the
/// list, or to its only tool.
fn rewrite_list<'a>(
    list: Node<'a>,
    (pointers, kind): (&Pointers, Added),
    rewriter: &mut ListRewriter<'_, '_, '_>,
) -> Result<Node<'a>, Error> {
    let ListRewriter { context, options } = rewriter;
    let options = options.get_or_insert_with(|| context.tools_options());
    let is_deferred = |tool: &Node<'_>| tool.bool_at(DEFERRAL_FLAG) == Some(true);
    let flagged: Vec<bool> = list.as_array().unwrap_or_default().iter().map(is_deferred).collect();
    let mut defined = Vec::new();
    for (index, tool) in list.as_array().unwrap_or_default().iter().enumerate() {
        let name = tool::name(tool).map(Text::display);
        if let Some(origin) = name.and_then(|name| context.sent.added.next(&name)) {
            let list = &pointers.before;
            let pointer = if kind == Added::Single { list.clone() } else { format!("{list}/{index}") };
            defined.push((pointer, origin));
        }
    }
    let all_deferred = flagged.iter().all(|flag| *flag) && !flagged.is_empty();
    let names = core::mem::take(&mut context.names);
    let planned = Planned {
        names,
        name_pattern: Some(context.name_pattern()),
        flat: context.sent.flat.as_ref(),
        ..Planned::default()
    };
    let outcome = sanitize_list::rewrite_with_names(list, options, planned, Detail::Whole)?;
    context.names = outcome.names;
    let relocate = |pointer: &mut String, list: &str| {
        let inner = pointer.strip_prefix("/0").filter(|_| kind == Added::Single).unwrap_or(pointer.as_str());
        *pointer = format!("{list}{inner}");
    };
    context.sent.origins.add_in_history(defined.into_iter(), context.api);
    let to_input = |pointer: &mut String| {
        relocate(pointer, &pointers.before);
        context.sent.origins.to_given(pointer);
    };
    if kind != Added::FirstWins {
        for name in &outcome.accepted {
            context.restore_map.forget(name);
            context.sent.callable.remove(name);
        }
    }
    context.restore_map.extend(outcome.restore_map, &context.sent.callable);
    context.sent.callable.extend(outcome.accepted);
    for mut tool in outcome.quarantined {
        to_input(&mut tool.pointer);
        context.report.quarantined.push(tool);
    }
    for mut tool_change in outcome.changes {
        to_input(&mut tool_change.change.pointer);
        tool_change.change.output_pointer.iter_mut().for_each(|pointer| relocate(pointer, &pointers.after));
        Arc::make_mut(&mut context.report.changes).push(tool_change);
    }
    let mut tools = outcome.tools;
    let lost_flags = all_deferred && tools.as_array().is_some_and(|tools| tools.iter().any(|tool| !is_deferred(tool)));
    if lost_flags {
        let _ = tools.visit_children::<()>(|_, tool| {
            tool.set(DEFERRAL_FLAG, Node::bool(true));
            Ok(())
        });
    }
    Ok(tools)
}

/// Removes the changes of the tools in `gone`, and messages that become empty.
///
/// Source: botocore 1.43.127, `bedrock-runtime`, `ToolReference`: "Must match the name of a tool declared in the
/// top-level tool configuration" (read 2026-11-26).
pub(super) fn remove_changes(request: &mut Node<'_>, gone: &Set<String>) -> Result<(), Error> {
    if gone.is_empty() {
        return Ok(());
    }
    let is_gone = |block: &Node<'_>| {
        !is_of_server(block) && converse_change(block).is_some_and(|(_, name)| gone.contains(&*name.display()))
    };
    let removed = request.visit("messages", |messages| {
        if !matches!(messages.data(), Data::Array(_)) {
            return Ok(());
        }
        let (mut emptied, mut at) = (Vec::new(), 0);
        messages.visit_children(|_, message| {
            if lazy::may_hold(message, Flags::DEFERRAL)
                && lazy::edit(message, |message| Ok(remove_from_message(message, &is_gone)))?
            {
                emptied.push((at, Vec::new()));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(messages, emptied);
        Ok(())
    });
    removed.unwrap_or(Ok(()))
}

/// Removes the changes from a message. Returns true if the message becomes empty.
fn remove_from_message(message: &mut Node<'_>, is_gone: &impl Fn(&Node<'_>) -> bool) -> bool {
    let emptied = message.visit("content", |content| {
        let blocks = content.as_array().unwrap_or_default();
        let indices: Vec<usize> = (0..).zip(blocks).filter(|(_, block)| is_gone(block)).map(|(at, _)| at).collect();
        let is_emptied = !indices.is_empty() && indices.len() == blocks.len();
        splice(content, indices.into_iter().map(|at| (at, Vec::new())).collect());
        is_emptied
    });
    emptied == Some(true)
}
