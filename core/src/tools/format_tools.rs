//! The tools of a request other than the function for its response format: their names, and whether the API runs them.

use alloc::string::String;

use super::call_sites;
use crate::{
    collections::Set,
    dialect::Dialect,
    error::Error,
    json::{lazy, Data, Node, Text},
    options::{Api, DeferredOptions, Native},
    request::{
        self, carriers,
        choice::{Choice, Mention},
        prefilter::NAMES_TOOLS,
        tool::{self, is_cache_point, starts_with, type_of, Kind},
        tool_format::{self, Entry},
    },
};

/// The tools in the list of a request, and those that its history adds, mentions or calls.
#[derive(Debug, Default)]
pub(super) struct OtherTools {
    /// All names. No other tool may get one of these names.
    pub(super) names: Set<String>,
    /// True if the list or the history has a tool.
    pub(super) is_any: bool,
    /// True if the API runs one of the tools.
    pub(super) has_hosted: bool,
    /// Names and types of the tools that the API runs. Gemini identifies such a tool only by a member.
    hosted: Set<String>,
}

/// Maximum depth at which names are searched in a list of tools.
const MAX_LEVELS: usize = 6;
/// Members of an entry of Gemini that list functions.
const GROUPS: [&str; 2] = ["functionDeclarations", "function_declarations"];
/// Prefixes of the types of tools that an API defines and the client runs: those of Anthropic and OpenAI, and that of
/// Moonshot, whose `$web_search` the client answers.
const RUN_BY_CLIENT: [&str; 7] =
    ["bash_", "text_editor_", "computer", "memory_", "local_shell", "apply_patch", "builtin_function"];

impl OtherTools {
    /// Collects the tools of a request. A tool of a type that the API refuses is not sent, so it does not count as a
    /// tool that the API runs.
    ///
    /// # Errors
    /// `invalid-json` if a part of the request is text that cannot be read.
    pub(super) fn of(
        request: &mut Node<'_>,
        (api, target): (Api, Api),
        dialect: &Dialect,
        deferred: Option<&DeferredOptions>,
    ) -> Result<Self, Error> {
        let mut found = OtherTools::default();
        let is_emulated = deferred.is_some_and(|deferred| deferred.native == Native::None);
        let mut add = |list: &[Node<'_>]| {
            for entry in list.iter().filter(|entry| !is_cache_point(entry)) {
                found.is_any = true;
                names_in(entry, MAX_LEVELS, &mut found.names);
                let is_refused = type_of(entry).is_some_and(|kind| dialect.refuses_type(kind, target).is_some());
                if !is_refused && is_run_by_api(entry, is_emulated) {
                    let words = [tool::name(entry), type_of(entry)].into_iter().flatten();
                    found.hosted.extend(words.map(|word| word.display().into_owned()));
                    found.has_hosted = true;
                }
            }
        };
        request::with_tools(request, api, |tools| {
            add(tools.as_array().unwrap_or_default());
            Ok(())
        })?;
        carriers::each(request, api, deferred, &mut add)?;
        // Anthropic runs the tools of these servers.
        let servers = request.get("mcp_servers").map(lazy::view).transpose()?;
        if servers.is_some_and(|servers| servers.as_array().is_some_and(|list| !list.is_empty())) {
            (found.is_any, found.has_hosted) = (true, true);
        }
        let of_hosted = carriers::names_of_hosted(request, api)?;
        found.names.extend(of_hosted.iter().map(|name| name.display().into_owned()));
        found.add_mentioned(request, api)?;
        Ok(found)
    }

    /// Adds the names of calls, results and references in the history.
    fn add_mentioned(&mut self, request: &mut Node<'_>, api: Api) -> Result<(), Error> {
        let names = &mut self.names;
        let visited = request.visit(api.history(), |history| {
            if !matches!(history.data(), Data::Array(_)) {
                return Ok(());
            }
            history.visit_children(|_, message| {
                if !lazy::may_hold(message, NAMES_TOOLS) {
                    return Ok(());
                }
                lazy::edit(message, |message| {
                    call_sites::in_message(message, &mut |site| {
                        let name = site.node.text_at(site.name);
                        names.extend(name.map(|name| name.display().into_owned()));
                    });
                    Ok(())
                })
            })
        });
        visited.unwrap_or(Ok(()))
    }

    /// Returns true if only calls that the client receives can satisfy a choice that requires a call.
    pub(super) fn is_demand_for_client(&self, choice: Option<&Choice<'_>>) -> bool {
        let is_of_client = |mention: &Mention<'_>| match mention {
            Mention::Tool { name, .. } => !self.hosted.contains(&*name.display()),
            Mention::Namespace(_) => !self.has_hosted,
            Mention::Search | Mention::Hosted(_) => false,
        };
        match choice {
            Some(Choice::Tool(mention)) => is_of_client(mention),
            Some(Choice::Allowed { tools, .. }) => tools.iter().all(is_of_client),
            _ => !self.has_hosted,
        }
    }
}

/// Returns true if the API runs a tool, so a call to it does not end the reply. `is_emulated` is true if the API's
/// own tool search is not sent.
fn is_run_by_api(entry: &Node<'_>, is_emulated: bool) -> bool {
    match tool::kind(entry) {
        Kind::HostedSearch => return !is_emulated,
        Kind::ClientSearch => return false,
        Kind::Toolset => return true,
        Kind::Tool => {}
    }
    if tool::has_type(entry, "namespace") {
        let members = entry.items_at("tools");
        return members.iter().any(|member| is_run_by_api(member, is_emulated));
    }
    if GROUPS.iter().any(|group| entry.get(*group).is_some()) {
        let members = entry.as_object().into_iter().flatten();
        return members
            .into_iter()
            .any(|member| !member.value.is_null() && GROUPS.iter().all(|group| !member.key.is(*group)));
    }
    let is_of_client =
        |kind: &Text<'_>| kind.is("custom") || RUN_BY_CLIENT.iter().any(|beginning| starts_with(kind, beginning));
    tool_format::recognize(entry) == Entry::Hosted && !type_of(entry).is_some_and(is_of_client)
}

/// Collects the names in a tool, a namespace or a server.
fn names_in(node: &Node<'_>, levels: usize, names: &mut Set<String>) {
    let Some(levels) = levels.checked_sub(1) else { return };
    names.extend(node.text_at("name").map(|name| name.display().into_owned()));
    for inner in node.as_array().unwrap_or_default() {
        names_in(inner, levels, names);
    }
    for key in ["function", "custom", "toolSpec", "tools"].iter().chain(&GROUPS) {
        if let Some(inner) = node.get(*key) {
            names_in(inner, levels, names);
        }
    }
}
