//! The report of `apply_deferred_loading`.

use alloc::{string::String, vec::Vec};

use super::location::Location;
pub use crate::wire::calls::CallKind;
use crate::{
    collections::{Map, Set},
    json::{push_token, Data, Member, Node, Object, Text},
    options::Api,
    wire,
};

pub(crate) const LOST: &str = "not-translated";

pub(crate) const ORPHAN: &str = "orphan-tool-search-output";

const MOVED: &str = "moved";

/// The decisions about a request. Names are in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeferredReport {
    /// Deferred tools that are loaded in this request.
    pub loaded: Vec<String>,
    /// Deferred tools that are not loaded.
    pub hidden: Vec<String>,
    /// Warnings about the request. Each lost or moved part has a separate warning, up to a limit for each name. Every
    /// other warning occurs once for each name.
    pub warnings: Vec<Warning>,
    /// The client's tool for each name that the model calls. A name that is missing from this map is the name of a
    /// function without a namespace. [`Restore`](crate::Restore) applies this map.
    pub name_map: Vec<(String, ClientTool)>,
    /// True if tools are hidden, no search tool is visible and no text announces the hidden tools, so the model cannot
    /// reach them.
    pub unreachable: bool,
    /// Size of the hidden tools in bytes of compact JSON.
    pub saved_bytes: usize,
    /// Betas that the request needs in the `anthropic-beta` header.
    pub betas: Vec<&'static str>,
    /// Name of the function that replaces a tool search, if any: `tool_search_name` of the options, or a variant of it
    /// if another tool has that name.
    pub tool_search_name: Option<String>,
}

/// A problem in a request that does not prevent its conversion.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Warning {
    /// Code in kebab case, one of [`Self::CODES`].
    pub code: &'static str,
    /// The tool or key that the warning is about, if any.
    pub name: Option<String>,
    /// JSON Pointer into the given request, if the warning is about a part of it. A warning about every use of a name
    /// points to the first use.
    pub pointer: Option<String>,
}

impl Warning {
    /// All codes with their descriptions.
    pub const CODES: &'static [(&'static str, &'static str)] = &[
        ("duplicate-tool-name", "Two tools have the same name: one definition is sent"),
        (
            "redefined-tool",
            "An addition in the history defines a tool differently than the request: the newest definition is used",
        ),
        ("tool-change-ignored", "An addition or removal does not come from the client, or `toolChanges` ignores it"),
        ("tool-search-renamed", "A tool has the name of the search function, which was renamed to this `name`"),
        ("unknown-tool-reference", "The history refers to a tool that is not in the request"),
        ("orphan-tool-search-output", "The history contains the result of a tool search without its call"),
        ("server-tool-search-unavailable", "The hosted tool search was removed, and every deferred tool is loaded"),
        (
            "server-tool-search-dropped",
            "The hosted tool search was removed, as `serverToolSearch` requests: the model finds no deferred tool",
        ),
        ("mcp-toolset-defer-ignored", "A toolset of the MCP connector is deferred; only the provider knows its tools"),
        ("defer-loading-not-boolean", "`defer_loading` is neither true nor false"),
        ("forced-deferred-tool", "`tool_choice` forces a tool that was not loaded"),
        ("prefix-changed", "A part of earlier requests is now written differently: a prompt cache ends there"),
        ("synthesized-exchange", "A synthesized search replaces an addition, which the backend does not support"),
        ("choice-emptied", "None of the tools that `tool_choice` allows is sent: the model now decides"),
        (
            "forced-choice-widened",
            "`tool_choice` names a tool, but the backend accepts no name: it now requires any tool",
        ),
        (
            "moved",
            "A part was moved: APIs accept only text in results, and results only directly after calls. The \
                model's parts go before the calls, all others after the results. System text and tool changes after \
                a model turn go after the next user content",
        ),
        (
            "arguments-not-an-object",
            "A call's arguments are not a JSON object, which the target requires: an empty object is sent",
        ),
        (
            "max-tokens-defaulted",
            "The target requires a maximum number of tokens, which the request lacks: `maxTokens` is sent",
        ),
        ("call-id-changed", "A call's id has characters that the target refuses: it and its result get a new one"),
        ("all-deferred", "Every tool is deferred, which the API refuses: this one is sent without the flag"),
        ("cached-deferred", "The API refuses a cache breakpoint at a deferred tool: it was moved to another tool"),
        ("tool-search-added", "The API refuses deferred tools without a search: the API's own search was added"),
        ("overflow-deferred", "The request has more tools than the API accepts: those past the maximum are deferred"),
        (
            "overflow-unannounced",
            "The prompt already lists deferred tools, but not those that are deferred because of the maximum",
        ),
        ("not-translated", "A part of the request has no counterpart in the target format and was removed"),
    ];
}

/// A tool as the client defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientTool {
    /// Namespace of the tool (OpenAI Responses), if any. A tool that a search or `additional_tools` adds is in a
    /// namespace with the name of the tool.
    ///
    /// Source: the OpenAI Responses API's answers, recorded 2026-10 (pydantic-ai).
    pub namespace: Option<String>,
    /// Name in the namespace.
    pub name: String,
    /// Kind of the tool's calls.
    pub kind: CallKind,
}

impl DeferredReport {
    pub(crate) fn add_client_tools(&mut self, tools: Vec<(String, ClientTool)>) {
        let mut known: Set<String> = self.name_map.iter().map(|(known, _)| known.clone()).collect();
        for (flat, tool) in tools {
            if known.insert(flat.clone()) {
                self.name_map.push((flat, tool));
            }
        }
    }

    /// Returns `{ "<flat name>": { namespace?, name, kind } }`.
    pub(crate) fn name_map_node(&self) -> Node<'static> {
        let member =
            |(flat, tool): &(String, ClientTool)| Member { key: Text::new(flat.clone()), value: tool.to_node() };
        Node::object(Object::from_unique(self.name_map.iter().map(member).collect()))
    }
}

impl ClientTool {
    pub(crate) fn to_node(&self) -> Node<'static> {
        let namespace = self.namespace.as_ref().map(|namespace| ("namespace", Node::string(namespace.clone())));
        let rest = [("name", Node::string(self.name.clone())), ("kind", Node::literal(self.kind.as_str()))];
        let members = namespace.into_iter().chain(rest);
        let members = members.map(|(key, value)| Member { key: Text::literal(key), value }).collect();
        Node::object(Object::from_unique(members))
    }
}

#[derive(Default)]
enum Subject {
    #[default]
    Request,
    /// A part whose location is not known.
    Unknown,
    At(Location),
}

impl Subject {
    fn pointer(&self, api: Option<Api>) -> Option<String> {
        match self {
            Subject::Request | Subject::Unknown => None,
            // If the API groups tools, the index counts the tools of all groups. It is not an index of the request's
            // list.
            Subject::At(location) if location.is_in_list() && !wire::of(api?).tools().is_flat() => None,
            Subject::At(location) => Some(location.pointer(api?)),
        }
    }
}

/// Name in warnings about the parts of a hosted search that are dropped from the history.
pub(crate) const DROPPED_SEARCH: &str = "tool_search";

/// Codes of warnings about a single part of the request.
const PER_LOCATION: [&str; 3] = [LOST, MOVED, "arguments-not-an-object"];

/// Maximum number of warnings with one code and name that have a location. All further warnings become one warning
/// without a location. Moves are counted for all names together, because nothing is lost.
const MAX_LOCATIONS: usize = 100;

/// Collects warnings. A thousand references to one unknown tool produce one warning. Each lost or moved part produces a
/// separate warning, up to [`MAX_LOCATIONS`].
#[derive(Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
    /// The API whose format the request has.
    api: Option<Api>,
    /// The part of the request that the next warnings with names are about.
    subject: Subject,
    reported: Set<(&'static str, Option<String>)>,
    location_counts: Map<(&'static str, Option<String>), usize>,
}

impl Warnings {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn warn(&mut self, code: &'static str) {
        self.add(Warning { code, name: None, pointer: None });
    }

    pub(crate) fn warn_at(&mut self, code: &'static str, pointer: &str) {
        self.add(Warning { code, name: None, pointer: Some(pointer.into()) });
    }

    pub(crate) fn warn_named(&mut self, code: &'static str, name: impl Into<String>) {
        let pointer = self.subject.pointer(self.api);
        self.add(Warning { code, name: Some(name.into()), pointer });
    }

    pub(crate) fn warn_named_at(&mut self, code: &'static str, name: impl Into<String>, pointer: String) {
        self.add(Warning { code, name: Some(name.into()), pointer: Some(pointer) });
    }

    pub(crate) fn warn_optional_name(&mut self, code: &'static str, name: Option<&Text<'_>>) {
        match name {
            Some(name) => self.warn_named(code, name.display()),
            None => {
                let pointer = self.subject.pointer(self.api);
                self.add(Warning { code, name: None, pointer });
            }
        }
    }

    pub(crate) fn warn_lost_at(&mut self, name: &str, value: &Node<'_>, pointer: impl FnOnce() -> String) {
        if !is_nothing(value) {
            self.warn_named_at(LOST, name, pointer());
        }
    }

    pub(crate) fn warn_lost(&mut self, key: &str, value: &Node<'_>) {
        self.warn_lost_in(None, key, value);
    }

    pub(crate) fn warn_lost_in(&mut self, holder: Option<&str>, key: &str, value: &Node<'_>) {
        if is_nothing(value) {
            return;
        }
        let pointer = match holder {
            Some(holder) => self.pointer_to(holder).map(|mut pointer| {
                push_token(&mut pointer, key);
                pointer
            }),
            None => self.pointer_to(key),
        };
        self.add(Warning { code: LOST, name: Some(key.into()), pointer });
    }

    fn pointer_to(&self, key: &str) -> Option<String> {
        let mut pointer = match &self.subject {
            Subject::Request => String::new(),
            Subject::At(location) if !location.is_in_list() => return Some(location.member(self.api?, key)),
            about => about.pointer(self.api)?,
        };
        push_token(&mut pointer, key);
        Some(pointer)
    }

    pub(crate) fn set_format(&mut self, api: Api) {
        self.api = Some(api);
    }

    pub(crate) fn set_location(&mut self, location: Location) {
        self.subject = Subject::At(location);
    }

    pub(crate) fn set_origin(&mut self, origin: Option<Location>) {
        self.subject = origin.map_or(Subject::Unknown, Subject::At);
    }

    pub(crate) fn clear_location(&mut self) {
        self.subject = Subject::Request;
    }

    /// Adds warnings about a request that was rewritten before. They lose their pointers.
    pub(crate) fn extend_rewritten(&mut self, others: Warnings) {
        others.list.into_iter().for_each(|warning| self.add(Warning { pointer: None, ..warning }));
    }

    pub(crate) fn extend(&mut self, others: Warnings) {
        others.list.into_iter().for_each(|warning| self.add(warning));
    }

    fn add(&mut self, mut warning: Warning) {
        debug_assert!(Warning::CODES.iter().any(|(code, _)| *code == warning.code), "unlisted: {}", warning.code);
        // Each lost or moved part has a separate location.
        let mut is_one_part = warning.pointer.is_some() && PER_LOCATION.contains(&warning.code);
        if is_one_part {
            let name = warning.name.clone().filter(|_| warning.code != MOVED);
            let count = self.location_counts.entry((warning.code, name.clone())).or_default();
            *count += 1;
            if *count > MAX_LOCATIONS {
                (is_one_part, warning.pointer, warning.name) = (false, None, name);
            }
        }
        if is_one_part || self.reported.insert((warning.code, warning.name.clone())) {
            self.list.push(warning);
        }
    }

    /// Returns the warnings, without repeated warnings about parts of a dropped search and without moves of dropped
    /// parts.
    pub(crate) fn finish(self) -> Vec<Warning> {
        let (mut searches, mut lost) = (Set::new(), Set::new());
        for Warning { code, name, pointer } in &self.list {
            let Some(pointer) = pointer else { continue };
            if *code == ORPHAN || *code == LOST && name.as_deref() == Some(DROPPED_SEARCH) {
                searches.insert(pointer.clone());
            } else if *code == LOST {
                lost.insert((name.clone(), pointer.clone()));
            }
        }
        let mut list = self.list;
        list.retain(|Warning { code, name, pointer }| {
            let Some(pointer) = pointer else { return true };
            let holder = pointer.rsplit_once('/').map_or("", |(holder, _)| holder);
            let is_dropped = *code == LOST && searches.contains(holder);
            !is_dropped && (*code != MOVED || !lost.contains(&(name.clone(), pointer.clone())))
        });
        list
    }
}

fn is_nothing(value: &Node<'_>) -> bool {
    match value.data() {
        Data::Null | Data::Verbatim("null") | Data::Bool(false) | Data::Verbatim("false") => true,
        Data::Array(items) => items.is_empty(),
        _ => false,
    }
}
