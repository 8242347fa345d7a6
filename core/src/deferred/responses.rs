//! OpenAI Responses: tool searches, their outputs and additional tools are items of the input.

use alloc::{collections::VecDeque, format, string::String, vec::Vec};

use super::{
    compact::compact,
    flat_names::{FlatNames, Planner},
    history::{splice, Rewriter},
    lazy::{edit, may_hold, view},
    load_events::{is_block, Event, Events, Voice},
    namespace::{self, NameMap},
    notice, prefilter,
    report::Warnings,
    tool::{self, has_type, remove, type_of},
    tools::Arrival,
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{Node, Text},
    options::ToolChanges,
};

/// What the items of the input are to each other.
#[derive(Default)]
pub(crate) struct Items<'a> {
    /// The tools that a search found, by the place of the output.
    found: Map<usize, Vec<Text<'a>>>,
    /// Outputs whose call is not there.
    orphans: Set<usize>,
    /// How many outputs of hosted searches there are.
    hosted_outputs: usize,
}

/// The flat names of all tools that a request lists and that its history brings, unless its changes are ignored.
/// Without namespaces every tool keeps its name.
pub(super) fn flat_names(request: &Node<'_>, changes: ToolChanges) -> Result<FlatNames, Error> {
    plan(request, changes, Planner::with_default_at_top())
}

/// The flat names of all tools of a request that is sent as it is: whatever stands in it is sent with it.
pub(super) fn flat_names_as_it_is(request: &Node<'_>) -> Result<FlatNames, Error> {
    plan(request, ToolChanges::Apply, Planner::default())
}

fn plan(request: &Node<'_>, changes: ToolChanges, mut planner: Planner) -> Result<FlatNames, Error> {
    let listed = request.get("tools").map(view).transpose()?;
    planner.add(listed.as_ref().and_then(|tools| tools.as_array()).unwrap_or_default());
    // Tools whose change is ignored are not sent, and take no names.
    if changes == ToolChanges::Apply {
        for item in request.get("input").and_then(Node::as_array).unwrap_or_default() {
            if may_hold(item, prefilter::CARRIER) {
                let item = view(item)?;
                if has_type(&item, "tool_search_output") || has_type(&item, "additional_tools") {
                    planner.add(item.get("tools").and_then(Node::as_array).unwrap_or_default());
                }
            }
        }
    }
    Ok(planner.finish())
}

/// The names of the tools of the top level that a search may load or that an item brings. The API calls them by a
/// namespace of their own name.
pub(crate) fn loadable_names(request: &Node<'_>) -> Result<Set<String>, Error> {
    let mut names = Set::new();
    let mut take = |list: &Node<'_>, all: bool| {
        let tools = list.as_array().unwrap_or_default().iter().filter(|tool| all || tool::deferral(tool).0);
        names.extend(tools.filter_map(tool::name).map(|name| String::from(name.display())));
    };
    if let Some(tools) = request.get("tools") {
        take(&*view(tools)?, false);
    }
    for item in request.get("input").and_then(Node::as_array).unwrap_or_default() {
        if may_hold(item, prefilter::CARRIER) {
            let item = view(item)?;
            if has_type(&item, "additional_tools") || has_type(&item, "tool_search_output") {
                item.get("tools").into_iter().for_each(|tools| take(tools, true));
            }
        }
    }
    Ok(names)
}

/// Takes the namespaces out of the request's own list.
pub(super) fn flatten_tools<'a>(request: &mut Node<'a>, names: &mut NameMap<'a>, warnings: &mut Warnings) {
    request.visit("tools", |tools| {
        if tools.as_array().is_some_and(namespace::any) {
            if let Some(list) = tools.as_array_mut() {
                *list = namespace::flatten(core::mem::take(list), names, warnings);
            }
        }
    });
}

/// Reads the input.
pub(super) fn scan<'a>(
    request: &Node<'a>,
    events: &mut Events<'a>,
    names: &mut NameMap<'a>,
    warnings: &mut Warnings,
) -> Result<Items<'a>, Error> {
    let list = request.get("input").and_then(Node::as_array).unwrap_or_default();
    let mut items = Items::default();
    let mut calls: Set<Text<'a>> = Set::new();
    let mut unanswered: Vec<(usize, Text<'a>)> = Vec::new();
    let mut hosted_calls = 0;
    for (at, item) in list.iter().enumerate() {
        if !may_hold(item, events.wanted()) {
            continue;
        }
        let item = view(item)?;
        let call_id = || item.get("call_id").and_then(Node::as_text).cloned();
        if has_type(&item, "tool_search_call") {
            match is_client(&item) {
                true => calls.extend(call_id()),
                false => hosted_calls += 1,
            }
        } else if has_type(&item, "tool_search_output") {
            let client = is_client(&item);
            if client {
                match call_id() {
                    Some(id) if calls.contains(&id) => {}
                    id => unanswered.push((at, id.unwrap_or_else(|| Text::new("")))),
                }
            } else {
                items.hosted_outputs += 1;
                if items.hosted_outputs > hosted_calls {
                    items.orphans.insert(at);
                }
            }
            let mut found = Vec::new();
            if events.with_changes {
                for definition in definitions(&item, names, warnings) {
                    found.extend(tool::name(&definition).cloned());
                    events.definitions.push((definition, Arrival::Found));
                }
            } else {
                found = namespace::names_in(brought(&item), names);
            }
            events.list.extend(found.iter().cloned().map(Event::Definition));
            items.found.insert(at, found);
        } else if has_type(&item, "additional_tools") {
            if !events.with_changes {
                events.list.extend(namespace::names_in(brought(&item), names).into_iter().map(Event::Ignored));
                continue;
            }
            for definition in definitions(&item, names, warnings) {
                let deferred = tool::deferral(&definition).0;
                if let Some(name) = tool::name(&definition).filter(|_| !deferred) {
                    events.list.push(Event::Definition(name.clone()));
                }
                events.definitions.push((definition, if deferred { Arrival::Listed } else { Arrival::Visible }));
            }
        } else if events.with_calls() && (has_type(&item, "function_call") || has_type(&item, "custom_tool_call")) {
            events.list.extend(names.called(&item).map(Event::Call));
        } else if is_block(&item) {
            events.block(&item, Voice::Other);
        } else {
            for key in LISTS {
                item.get(key).into_iter().for_each(|content| events.content(content, Voice::of(&item)));
            }
        }
    }
    // A caller may have turned the call into an ordinary one and left its output.
    if !unanswered.is_empty() {
        let mut ordinary: Map<Text<'a>, usize> = Map::new();
        for (at, item) in list.iter().enumerate() {
            let item = view(item)?;
            if let Some(id) = item.get("call_id").and_then(Node::as_text).filter(|_| has_type(&item, "function_call")) {
                ordinary.entry(id.clone()).or_insert(at);
            }
        }
        let called_before = |(at, id): &(usize, Text<'a>)| ordinary.get(id).is_some_and(|call| call < at);
        items.orphans.extend(unanswered.iter().filter(|output| !called_before(output)).map(|(at, _)| *at));
    }
    Ok(items)
}

/// The members of an item that hold what was said.
const LISTS: [&str; 2] = ["content", "output"];

/// Whether the caller runs this search, or ran it.
pub(crate) fn is_client(item: &Node<'_>) -> bool {
    match item.get("execution") {
        Some(execution) if !execution.is_null() => execution.is_text("client"),
        // Hosted searches have no call to answer.
        _ => item.get("call_id").and_then(Node::as_text).is_some(),
    }
}

/// The tools that an item brings.
fn brought<'n, 'a>(item: &'n Node<'a>) -> &'n [Node<'a>] {
    item.get("tools").and_then(Node::as_array).unwrap_or_default()
}

fn definitions<'a>(item: &Node<'a>, names: &mut NameMap<'a>, warnings: &mut Warnings) -> Vec<Node<'a>> {
    let tools = brought(item);
    if !namespace::any(tools) {
        return tools.to_vec();
    }
    namespace::flatten(tools.to_vec(), names, warnings)
}

impl<'a> Items<'a> {
    /// The names that the rewritten history will tell about: those in outputs that stay. `splits`: hosted ones do, too.
    pub(crate) fn told<'i>(&'i self, request: &'i Node<'a>, splits: bool) -> Result<Vec<&'i Text<'a>>, Error> {
        let list = request.get("input").and_then(Node::as_array).unwrap_or_default();
        let mut told = Vec::new();
        for (at, found) in &self.found {
            if !self.orphans.contains(at)
                && (splits || list.get(*at).map(view).transpose()?.is_some_and(|item| is_client(&item)))
            {
                told.extend(found);
            }
        }
        Ok(told)
    }

    /// Rewrites the input in place.
    pub(super) fn rewrite(
        &self,
        request: &mut Node<'a>,
        names: &NameMap<'a>,
        rewriter: &mut Rewriter<'_, 'a>,
        warnings: &mut Warnings,
    ) -> Result<(), Error> {
        let rewrite = |input: &mut Node<'a>| {
            let mut pass = Pass { items: self, names, rewriter, warnings, hosted: VecDeque::new(), hosted_calls: 0 };
            let mut gone: Vec<(usize, Vec<Node<'a>>)> = Vec::new();
            let mut at = 0;
            input.visit_children(|_, item| {
                if may_hold(item, prefilter::DEFERRAL) && !edit(item, |item| Ok(pass.item(at, item)))? {
                    gone.push((at, Vec::new()));
                }
                at += 1;
                Ok::<(), Error>(())
            })?;
            splice(input, gone);
            Ok(())
        };
        let list = request.get("input").is_some_and(|input| input.as_array().is_some());
        if list {
            request.visit("input", rewrite).transpose()?;
        }
        Ok(())
    }
}

/// One pass over the input.
struct Pass<'p, 'r, 'a> {
    items: &'p Items<'a>,
    names: &'p NameMap<'a>,
    rewriter: &'p mut Rewriter<'r, 'a>,
    warnings: &'p mut Warnings,
    /// Ids of hosted calls whose output is still to come.
    hosted: VecDeque<Node<'a>>,
    hosted_calls: usize,
}

impl<'a> Pass<'_, '_, 'a> {
    /// Rewrites an item in place; `false`: it goes.
    fn item(&mut self, at: usize, item: &mut Node<'a>) -> bool {
        if has_type(item, "additional_tools") {
            return false;
        }
        if is_block(item) {
            return self.rewriter.stray_item(item);
        }
        if has_type(item, "tool_search_call") {
            return self.search_call(item);
        }
        if has_type(item, "tool_search_output") {
            return self.search_output(at, item);
        }
        if type_of(item)
            .is_some_and(|name| name.display().ends_with("_call") || name.display().ends_with("_call_output"))
        {
            self.names.flatten_call(item);
        }
        if has_type(item, "mcp_list_tools") {
            item.visit("tools", |tools| {
                tools.visit_children(|_, listed| {
                    if listed.get(tool::FLAG).is_some() {
                        remove(listed, tool::FLAG);
                    }
                    Ok::<(), core::convert::Infallible>(())
                })
            });
        }
        let voice = Voice::of(item);
        for key in LISTS {
            item.visit(key, |content| self.rewriter.content(content, voice, false));
        }
        true
    }

    fn search_call(&mut self, item: &mut Node<'a>) -> bool {
        let call_id = if is_client(item) {
            item.get("call_id").cloned().unwrap_or_default()
        } else {
            self.hosted_calls += 1;
            if !self.rewriter.splits() || self.hosted_calls > self.items.hosted_outputs {
                return false;
            }
            let own =
                ["call_id", "id"].iter().find_map(|key| item.get(key).filter(|id| id.as_text().is_some())).cloned();
            let id = own.unwrap_or_else(|| {
                Node::string(format!("call_{}_{}", self.rewriter.options.tool_search_name, self.hosted_calls))
            });
            self.hosted.push_back(id.clone());
            id
        };
        let arguments = match item.get("arguments") {
            Some(arguments) if arguments.as_text().is_some() => arguments.clone(),
            Some(arguments) if !arguments.is_null() => {
                let mut text = String::new();
                compact(arguments, &mut text);
                Node::string(text)
            }
            _ => Node::literal("{}"),
        };
        let call = Node::record([
            ("type", Node::literal("function_call")),
            ("call_id", call_id),
            ("name", Node::string(self.rewriter.options.tool_search_name.clone())),
            ("arguments", arguments),
        ]);
        item.replace(call.into_data());
        true
    }

    fn search_output(&mut self, at: usize, item: &mut Node<'a>) -> bool {
        if self.items.orphans.contains(&at) {
            let id = ["call_id", "id"].iter().find_map(|key| item.get(key)?.as_text());
            self.warnings.about_maybe("orphan-tool-search-output", id);
            return false;
        }
        let call_id = if is_client(item) {
            item.get("call_id").cloned().unwrap_or_default()
        } else {
            match self.hosted.pop_front() {
                Some(id) => id,
                None => return false,
            }
        };
        let mut said = Vec::new();
        for name in self.items.found.get(&at).into_iter().flatten() {
            if let Some(text) = self.rewriter.reference(name) {
                said.push(self.rewriter.text_block(text, None));
            }
        }
        let output = if said.is_empty() { Node::literal(notice::NO_MATCH) } else { Node::array(said) };
        let output =
            Node::record([("type", Node::literal("function_call_output")), ("call_id", call_id), ("output", output)]);
        item.replace(output.into_data());
        true
    }
}
