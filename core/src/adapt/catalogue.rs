//! The tools that a search in an exchange can return.

use alloc::vec::Vec;

use super::{context::sending_options, overflow, steps};
use crate::{
    collections::Set,
    dialect,
    error::Error,
    json::Node,
    names::Names,
    options::{AdaptOptions, ToolsOptions},
    reply::restore::RestoreMap,
    report::Detail,
    request::{
        self, flat_list, format,
        tool::{has_type, DEFERRAL_FLAG},
    },
    tools::{
        sanitize_list::{self, Planned},
        servers::{self, mentions, Servers},
    },
};

/// Returns the listed tools of a request as they would be sent, and the map that restores calls. A search looks among
/// these tools. Each tool is rewritten separately. A tool that cannot be sent stays unchanged; the request that loads
/// it reports the problem.
pub(crate) fn catalogue<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    mut names: Names,
) -> Result<(Node<'a>, RestoreMap), Error> {
    let dialect = dialect::of(&options.tools.sanitize)?;
    let model = request::model(request, options.model.as_deref())?;
    let shape = dialect.tools.names_for(&model);
    let servers = servers::flatten_request(request, (options.tools.prefix, shape), options.deferred.as_ref())?;
    let api = format::of_request(request, options)?;
    if let Some(deferred) = options.deferred.as_ref().filter(|deferred| steps::defers_overflow(deferred, options)) {
        let mut deferred = deferred.clone();
        mentions::resolve_in_options(&mut deferred, servers.as_ref());
        overflow::defer(request, api, overflow::limit(dialect, options), &deferred.search_tools)?;
    }
    flat_list::flatten(request, api)?;
    let tools = ToolsOptions { repair: None, ..sending_options(api, (dialect, &model), options) };
    let (mut sent_tools, mut restore_map, mut callable) = (Vec::new(), RestoreMap::default(), Set::new());
    let listed = request.items_at("tools");
    for entry in listed.iter().flat_map(split_namespace) {
        let alone = Node::array(Vec::from([entry.clone()]));
        let planned = Planned { names, name_pattern: Some(shape), ..Planned::default() };
        let outcome = sanitize_list::rewrite_with_names(alone, &tools, planned, Detail::Whole)?;
        names = outcome.names;
        restore_map.extend(outcome.restore_map, &callable);
        callable.extend(outcome.accepted);
        let mut sent = outcome.tools.as_array().and_then(<[Node<'_>]>::first).cloned();
        flat_list::each_function(&outcome.tools, &mut |function| sent = Some(function.clone()));
        let mut sent = sent.unwrap_or_else(|| entry.clone());
        let member = entry.array_at("tools").and_then(<[Node<'_>]>::first);
        if let Some(flag) = member.and_then(|member| member.get(DEFERRAL_FLAG)).or_else(|| entry.get(DEFERRAL_FLAG)) {
            sent.set(DEFERRAL_FLAG, flag.clone());
        }
        sent_tools.push(sent);
    }
    for (name, owner) in servers.iter().flat_map(Servers::owners) {
        restore_map.add_server_tool(names.current(name).into_owned(), owner.server, owner.name);
    }
    Ok((Node::array(sent_tools), restore_map))
}

/// Returns one namespace for each tool of a namespace, and any other entry unchanged.
fn split_namespace<'a>(entry: &Node<'a>) -> Vec<Node<'a>> {
    let members = entry.array_at("tools").filter(|_| has_type(entry, "namespace"));
    let Some(members) = members else { return Vec::from([entry.clone()]) };
    let alone = |member: &Node<'a>| {
        let sibling = entry.as_object().into_iter().flatten().filter(|sibling| !sibling.key.is("tools"));
        let mut namespace = Node::object(sibling.map(|sibling| (sibling.key.clone(), sibling.value.clone())).collect());
        namespace.set("tools", Node::array(Vec::from([member.clone()])));
        namespace
    };
    members.iter().map(alone).collect()
}
