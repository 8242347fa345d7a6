//! Makes a request force a call to a function, in addition to its own choice.

use alloc::vec::Vec;

use super::{
    choice::{demand, forced, of, plain, Choice, ALLOWED, CONVERSE, GEMINI, GEMINI_ALLOWED, INTERACTIONS},
    tool::has_type,
};
use crate::{
    error::Error,
    json::{
        lazy::{edit_member, take, view},
        Data, Node, Text,
    },
    options::Api,
};

/// The member of OpenAI's formats that allows parallel calls.
pub(crate) const PARALLEL_CALLS: &str = "parallel_tool_calls";

/// Effect of a choice on calls: required, forbidden, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calling {
    /// The model decides.
    Optional,
    /// The model must call a tool.
    Required,
    /// The model must not call a tool.
    Forbidden,
}

/// Returns whether the choice of a request, in any format, requires calls, forbids them, or leaves them to the model.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn calling(request: &Node<'_>, api: Api) -> Result<Calling, Error> {
    if demand(request, api)?.is_some() {
        return Ok(Calling::Required);
    }
    if api == Api::Gemini {
        for (outer, inner, ..) in GEMINI {
            let config = request.get(outer).map(view).transpose()?;
            let mode = config.as_deref().and_then(|config| config.get(inner)?.get("mode")?.as_text());
            if mode.is_some_and(|mode| mode.display().eq_ignore_ascii_case("none")) {
                return Ok(Calling::Forbidden);
            }
        }
        return Ok(Calling::Optional);
    }
    let is_barred = matches!(of(request, api)?, Some((_, Some(Choice::None))));
    Ok(if is_barred { Calling::Forbidden } else { Calling::Optional })
}

/// Makes a request force a call to a function. If `is_only` is true, the model must call this function; otherwise it
/// may call another allowed tool instead.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn force<'a>(request: &mut Node<'a>, api: Api, name: Text<'a>, is_only: bool) -> Result<(), Error> {
    match api {
        Api::Gemini => {
            // Uses the members that the request already has, or else members in the same spelling.
            let mut best = (0, GEMINI[0]);
            for place in GEMINI {
                let (outer, inner, _) = place;
                let config = request.get(outer).map(view).transpose()?;
                let rank = match config.as_deref() {
                    Some(config) if config.get(inner).is_some() => 2,
                    Some(_) if outer.contains('_') == inner.contains('_') => 1,
                    _ => 0,
                };
                if rank > best.0 {
                    best = (rank, place);
                }
            }
            let (outer, inner, _) = best.1;
            edit_object(request, outer, |config| {
                edit_object(config, inner, |config| {
                    let own = GEMINI_ALLOWED.into_iter().find(|list| config.get(list).is_some());
                    let spelled = GEMINI_ALLOWED.into_iter().find(|list| list.contains('_') == inner.contains('_'));
                    let list = own.or(spelled).unwrap_or(GEMINI_ALLOWED[0]);
                    config.set("mode", Node::literal("ANY"));
                    if is_only || config.get(list).is_some_and(|list| list.as_array().is_none()) {
                        config.remove(list);
                    }
                    let name = Node::string(name);
                    if is_only {
                        config.set(list, Node::array(Vec::from([name])));
                    } else {
                        config.visit(list, |list| list.as_array_mut().map(|list| list.push(name)));
                    }
                    Ok(())
                })
            })
        }
        Api::Bedrock => {
            let (outer, inner, _) = CONVERSE;
            let choice = match is_only {
                true => Node::record([("tool", Node::record([("name", Node::string(name))]))]),
                false => Node::record([("any", Node::empty_object())]),
            };
            edit_object(request, outer, |config| {
                config.set(inner, choice);
                Ok(())
            })
        }
        Api::GeminiInteractions => {
            let (outer, inner, _) = INTERACTIONS;
            edit_object(request, outer, |config| {
                let allowed = config.get(inner).and_then(|choice| choice.get(ALLOWED)?.get("tools")).is_some();
                if allowed && !is_only {
                    config.visit(inner, |choice| {
                        choice.visit(ALLOWED, |allowed| {
                            allowed.set("mode", Node::literal("any"));
                            allowed.visit("tools", |list| list.as_array_mut().map(|list| list.push(Node::string(name))))
                        })
                    });
                } else {
                    config.set(inner, forced_or_required(name, api, is_only));
                }
                Ok(())
            })
        }
        _ => {
            let mut old = take(request, "tool_choice")?.unwrap_or_default();
            if has_type(&old, ALLOWED) && !is_only {
                let entry = forced(name, api, false);
                let allow = |holder: &mut Node<'a>| {
                    holder.set("mode", Node::literal("required"));
                    holder.visit("tools", |list| list.as_array_mut().map(|list| list.push(entry.clone())));
                };
                if old.visit(ALLOWED, allow).is_none() {
                    allow(&mut old);
                }
                request.set("tool_choice", old);
                return Ok(());
            }
            let mut new = forced_or_required(name, api, is_only);
            let single = old.get("disable_parallel_tool_use").filter(|_| api == Api::Anthropic).cloned();
            if let Some(single) = single {
                new.set("disable_parallel_tool_use", single);
            }
            request.set("tool_choice", new);
            Ok(())
        }
    }
}

/// Makes a Gemini request ask for complete arguments. Returns true if the request asked for streamed arguments.
///
/// # Errors
/// `invalid-json` if the configuration is text that cannot be parsed.
pub(crate) fn ask_for_whole_arguments(request: &mut Node<'_>) -> Result<bool, Error> {
    let mut is_changed = false;
    for (outer, inner, _) in GEMINI {
        edit_member(request, outer, |config| {
            config.visit(inner, |config| {
                for key in ["streamFunctionCallArguments", "stream_function_call_arguments"] {
                    is_changed |= config.remove(key).is_some_and(|value| value.as_bool() == Some(true));
                }
            });
            Ok(())
        })?;
    }
    Ok(is_changed)
}

/// Makes a request forbid parallel calls, if its format can express that. Returns the pointer to the member if its
/// value changed.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn forbid_more_calls(request: &mut Node<'_>, api: Api) -> Result<Option<&'static str>, Error> {
    const SINGLE: &str = "disable_parallel_tool_use";
    match api {
        Api::Anthropic => {
            let mut was_set = true;
            edit_member(request, "tool_choice", |choice| {
                was_set = choice.bool_at(SINGLE) == Some(true);
                choice.set(SINGLE, Node::bool(true));
                Ok(())
            })?;
            Ok((!was_set).then_some("/tool_choice/disable_parallel_tool_use"))
        }
        Api::OpenaiChat | Api::OpenaiResponses => {
            if request.bool_at(PARALLEL_CALLS) == Some(false) {
                return Ok(None);
            }
            request.set(PARALLEL_CALLS, Node::bool(false));
            Ok(Some("/parallel_tool_calls"))
        }
        _ => Ok(None),
    }
}

fn forced_or_required(name: Text<'_>, api: Api, is_only: bool) -> Node<'_> {
    if is_only {
        forced(name, api, false)
    } else {
        plain(&Choice::Required, api)
    }
}

/// Edits a member that is an object, after creating it if necessary.
fn edit_object<'a>(
    node: &mut Node<'a>,
    key: &'static str,
    change: impl FnOnce(&mut Node<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let is_object = |inner: &Node<'_>| matches!(inner.data(), Data::Object(_) | Data::Verbatim(_));
    if !node.get(key).is_some_and(is_object) {
        node.set(key, Node::empty_object());
    }
    edit_member(node, key, change).map(drop)
}
