//! `apply_deferred_loading`: emulates the deferred loading of Anthropic's servers for an API without deferred tools.
//!
//! Each request is one inference, so every decision is made while the request is rewritten. A `reader` for each format
//! turns a request into a `conversation`, whose events are applied to the `tools` in order. Then the tools are emulated
//! (`emulation`: which tools are sent; `history_text`: the text in the history), or the backend's own constructs are
//! used (`native_list`). A `writer` for each format turns the conversation into a request. [`steps`] is the table of
//! these steps.

mod acceptance;
mod announce;
mod betas;
mod calls_as_text;
mod context;
pub(crate) mod emulation;
mod flat;
mod history_text;
mod native_list;
pub(crate) mod steps;

#[cfg(feature = "exchange")]
pub(crate) use betas::is_about as is_about_beta;
pub(crate) use betas::{header as adjust_betas, rewrite_header};
#[cfg(feature = "exchange")]
pub(crate) use native_list::has_hosted_search;

use alloc::{string::String, vec::Vec};

use crate::wire::responses::custom_tools::{self, Converted, Replaced};
use crate::{
    error::Error,
    json::{Node, Text},
    names::Names,
    options::{Api, CustomTools, DeferredOptions, Native},
    request::{
        close_list, format,
        location::Location,
        open_list,
        origins::{EntryOrigin, Grouped},
        report::{CallKind, DeferredReport, Warnings},
        tool::{self, has_type},
        writer::AddedOrigins,
    },
    wire,
    wire::responses::namespaces::{self, NameMap},
    wire::translation::Form,
};
use context::DeferralContext;
use emulation::Sending;

/// Returns the name of the hosted search that a request lists, if any.
#[cfg(feature = "exchange")]
pub(crate) fn hosted_search(request: &Node<'_>) -> Result<Option<Text<'static>>, Error> {
    let Some(tools) = request.get("tools") else { return Ok(None) };
    let tools = crate::json::lazy::view(tools)?;
    let hosted = crate::request::entries(&tools).find(|tool| tool::kind(tool) == tool::Kind::HostedSearch);
    Ok(hosted.and_then(tool::name).map(|name| name.clone().into_owned()))
}

/// Returns true if a request lists a hosted search.
#[cfg(feature = "exchange")]
pub(crate) fn lists_hosted_search(request: &Node<'_>) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = crate::json::lazy::view(tools)?;
    let is_listed = crate::request::entries(&tools).any(|tool| tool::kind(tool) == tool::Kind::HostedSearch);
    Ok(is_listed)
}

/// Result of applying deferred loading to a request.
pub(crate) struct Applied {
    pub(crate) report: DeferredReport,
    /// Planned names of tools, if the API restricts names.
    pub(crate) names: Names,
    pub(crate) client: Client,
    pub(crate) origins: ListOrigins,
    /// False if messages are known to have other indices than before.
    pub(crate) is_aligned: bool,
}

/// The origins of all tools of a rewritten request.
#[derive(Default)]
pub(crate) struct ListOrigins {
    /// The origins of the entries of the list; `None` if the list did not change.
    pub(crate) entries: Option<Vec<EntryOrigin>>,
    /// The pointers to the entries of Gemini's list.
    pub(crate) grouped: Option<Grouped>,
    /// The origins of the tools that the history defines.
    pub(crate) added: AddedOrigins,
    /// The `custom` tools that became functions.
    pub(crate) custom: Vec<Replaced>,
}

impl ListOrigins {
    /// Adds the origins of a list that was rewritten again.
    fn rewrite(&mut self, rewritten: ListOrigins) {
        if let Some(rewritten) = rewritten.entries {
            self.entries = Some(EntryOrigin::of_rewritten(&rewritten, self.entries.as_deref()));
        }
    }

    /// Records that the last of `count` entries was added.
    fn add_entry(&mut self, count: usize) {
        let as_listed = |index| EntryOrigin { location: Some(Location::of_list().index(index)), shapes: None };
        let before = count.saturating_sub(1);
        self.entries.get_or_insert_with(|| (0..before).map(as_listed).collect()).push(EntryOrigin::default());
    }
}

/// Returns true for a request that stays in a format with namespaces.
fn keeps_namespaces((source, target): (Api, Api)) -> bool {
    source == target && wire::of(target).tools().has_namespaces()
}

/// Rewrites a request in place. If `reports` is false, the parts of the report that need another pass over all tools or
/// messages are left out. If `sending` is present, the tools are rewritten again before they are sent. Texts in the
/// history then use the names and schemas that the tools will have; the list itself is left to the later rewriting.
pub(crate) fn apply(
    request: &mut Node<'_>,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    let api = format::recognize(request, options)?.format;
    if !wire::of(api).tools().is_flat() {
        return flat::apply(request, api, options, sending, reports);
    }
    apply_to_list(request, options, sending, reports)
}

/// Rewrites a request whose list of tools is in `tools`.
fn apply_to_list(
    request: &mut Node<'_>,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    let list_text = open_list(request)?;
    let formats = format::recognize(request, options)?;
    let mut context = DeferralContext::new(request, formats, (options, sending), reports);
    steps::run_steps(request, &mut context)?;
    close_list(request, list_text);
    let DeferralContext { mut report, names, client, origins, is_aligned, warnings, .. } = context;
    report.warnings = warnings.finish();
    Ok(Applied { report, names, client, origins, is_aligned })
}

/// Returns true if the client already announces deferred tools.
pub(crate) fn is_announced(request: &Node<'_>) -> Result<bool, Error> {
    announce::is_present(request)
}

/// Declares the `custom` tools of a Responses request as functions, if deferred tools are not rewritten.
pub(crate) fn custom_tools_as_functions(request: &mut Node<'_>) -> Result<Converted, Error> {
    let names = namespaces::flat_names_of_unchanged(request)?;
    custom_tools::as_functions(request, &names, &mut Warnings::default())
}

/// The client that sent the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The client's format.
    pub(crate) format: Api,
    /// The client's search function, if a search that the backend runs (`tool_search` of Responses) replaces it.
    pub(crate) search: Option<String>,
}

/// Records how calls to the tools are translated on their way back to the client.
pub(crate) struct CallRecorder<'o> {
    pub(crate) source: Api,
    pub(crate) target: Api,
    pub(crate) options: &'o DeferredOptions,
}

impl CallRecorder<'_> {
    /// Returns true if tools of the source need no type.
    fn has_plain_tools(&self) -> bool {
        wire::of(self.source).translation().is_some_and(|format| format.form == Form::Plain)
    }

    /// Records one tool, by its flat name and definition.
    pub(crate) fn record_tool(&self, map: &mut NameMap<'_>, name: &Text<'_>, definition: &Node<'_>, is_loaded: bool) {
        // In a format whose tools need no type, every tool of the client may have the type `custom`.
        let is_custom = !self.has_plain_tools() && has_type(definition, "custom");
        // A tool that is loaded is in a namespace, if the format has them.
        let has_namespaces = |api: Api| wire::of(api).tools().has_namespaces();
        let is_function = match self.source == self.target {
            true => has_namespaces(self.source) && self.options.custom_tools == Some(CustomTools::Function),
            false => true,
        };
        let kind = if is_custom && is_function { CallKind::Custom } else { CallKind::Function };
        let is_at_api = has_namespaces(self.target) && self.options.native != Native::None;
        map.record_client_tool(name, (is_loaded && has_namespaces(self.source), is_at_api), kind);
    }

    /// Records all tools of a flat list.
    pub(crate) fn record_list(&self, map: &mut NameMap<'_>, tools: &[Node<'_>], is_loaded: impl Fn(&Text<'_>) -> bool) {
        if self.has_plain_tools() {
            return;
        }
        for definition in tools.iter().filter(|definition| tool::kind(definition) == tool::Kind::Tool) {
            if let Some(name) = tool::name(definition) {
                self.record_tool(map, name, definition, is_loaded(name));
            }
        }
    }

    /// Records the function that replaces the client's search.
    pub(crate) fn record_search(&self, map: &mut NameMap<'_>, name: &str) {
        map.record_client_tool(&Text::new(name), (false, false), CallKind::Search);
    }
}
