//! The state that the steps share.

use alloc::{string::String, vec::Vec};

use super::{
    emulation::{Emulation, Sending},
    native_list::Shown,
    Client, ListOrigins,
};
use crate::{
    json::Node,
    names::Names,
    options::{Announce, Api, CustomTools, DeferredOptions, Mode, Native},
    request::{
        conversation::Conversation,
        format::FormatPair,
        listed,
        report::{DeferredReport, Warnings},
        search_tool,
    },
    wire::responses::namespaces::NameMap,
    wire::{self, Wire},
};

/// The comment of a field begins with the steps that write the field. [`DeferralContext::new`] writes the other fields.
pub(crate) struct DeferralContext<'o, 'a> {
    pub(super) options: &'o DeferredOptions,
    pub(super) sending: Option<&'o Sending<'o>>,
    /// If false, the parts of the report that need another pass over all tools or messages are left out.
    pub(super) reports: bool,
    pub(super) formats: FormatPair,
    /// Step `read-history`: the name of the search function that the client lists.
    pub(super) client_search: Option<String>,
    /// Every step adds its warnings.
    pub(super) warnings: Warnings,
    /// Step `keep-accepted` or `report-tools`; later steps correct it.
    pub(super) report: DeferredReport,
    /// Step `keep-accepted`: true if the request keeps its history and its tools.
    pub(super) is_kept: bool,
    /// Step `find-announcement`: true if the client announces its deferred tools itself.
    pub(super) is_announced: bool,
    /// Steps `read-history` to `write-history`.
    pub(super) conversation: Conversation<'a>,
    /// Steps `read-history` to `write-list`: the tools, if deferral is emulated.
    pub(super) emulation: Emulation<'a>,
    /// Steps `read-history` and `record-calls`: the client's tools by the names that the model calls.
    pub(super) calls: NameMap<'a>,
    /// Step `name-search`: the function that replaces a tool search.
    pub(super) search: Option<String>,
    /// Step `load-without-search`: true if every deferred tool is loaded.
    pub(super) loads_all: bool,
    /// Step `name-tools`: the names that are sent.
    pub(super) names: Names,
    /// Step `keep-accepted` or `report-tools`: the deferred tools to announce, by the names that are sent.
    pub(super) deferred: Vec<String>,
    /// True if the request lists tools. Step `write-list` also sets it for a `null` list that does not stay.
    pub(super) had_entries: bool,
    /// Step `write-list`: true if a function replaces the client's search.
    pub(super) replaces_client_search: bool,
    /// Steps `write-list`, `write-history` and `add-search`.
    pub(super) origins: ListOrigins,
    /// Step `write-history`: false if messages are known to have other indices than before.
    pub(super) is_aligned: bool,
    /// Step `write-history`.
    pub(super) client: Client,
    /// Step `read-again`: true if the request was read in a second format.
    pub(super) is_read_again: bool,
}

impl<'o, 'a> DeferralContext<'o, 'a> {
    pub(super) fn new(
        request: &Node<'a>,
        formats: FormatPair,
        (options, sending): (&'o DeferredOptions, Option<&'o Sending<'o>>),
        reports: bool,
    ) -> Self {
        DeferralContext {
            options,
            sending,
            reports,
            formats,
            client_search: None,
            warnings: Warnings::default(),
            report: DeferredReport::default(),
            is_kept: false,
            is_announced: false,
            conversation: Conversation::default(),
            emulation: Emulation::default(),
            calls: NameMap::default(),
            search: None,
            loads_all: false,
            names: Names::default(),
            deferred: Vec::new(),
            had_entries: !listed(request).is_empty(),
            replaces_client_search: false,
            origins: ListOrigins::default(),
            is_aligned: true,
            client: Client { format: formats.format, search: None },
            is_read_again: false,
        }
    }

    pub(super) fn is_translated(&self) -> bool {
        self.formats.format != self.formats.target
    }

    pub(super) fn source_and_target(&self) -> (Api, Api) {
        (self.formats.format, self.formats.target)
    }

    pub(super) const fn source_wire(&self) -> &'static Wire {
        wire::of(self.formats.format)
    }

    pub(super) const fn target_wire(&self) -> &'static Wire {
        wire::of(self.formats.target)
    }

    /// Returns true if the backend has no construct for deferred tools.
    pub(super) fn emulates_deferral(&self) -> bool {
        self.options.native == Native::None
    }

    /// Returns true if the backend's constructs are used in a request that has to be rewritten.
    pub(super) fn rewrites_natively(&self) -> bool {
        !self.emulates_deferral() && !self.is_kept
    }

    /// Returns true if the options ask for a list of the deferred tools in the prompt.
    pub(super) fn announces_names(&self) -> bool {
        self.options.mode == Mode::Filter && self.options.announce == Announce::Names
    }

    pub(super) fn sends_functions(&self) -> bool {
        self.keeps_namespaces() && self.options.custom_tools == Some(CustomTools::Function)
    }

    /// Returns true if the request stays in a format with namespaces.
    pub(super) fn keeps_namespaces(&self) -> bool {
        super::keeps_namespaces(self.source_and_target())
    }

    /// Returns true if `null` in place of a list stays, because an API reads null as no list.
    pub(super) fn keeps_null(&self) -> bool {
        !self.is_translated() && (self.sending.is_some() || self.target_wire().tools().refuses_empty())
    }

    /// Returns the function that replaces a search.
    pub(super) fn search_function(&self, search: &Node<'a>) -> Node<'a> {
        search_tool::function(self.formats.format, self.search_name(), search)
    }

    pub(super) fn search_name(&self) -> &str {
        self.search.as_deref().unwrap_or(&self.options.tool_search_name)
    }

    /// Records that a tool is sent without its flag. The other deferred tools can be reached only if that tool is a
    /// search.
    pub(super) fn record_shown(&mut self, shown: &Shown) {
        let (report, called) = (&mut self.report, self.names.current(&shown.name));
        self.deferred.retain(|deferred| *deferred != called);
        let name = shown.name.display();
        report.hidden.retain(|hidden| *hidden != name);
        if !report.loaded.iter().any(|loaded| *loaded == name) {
            report.loaded.push(name.into_owned());
        }
        report.unreachable = !report.hidden.is_empty() && !shown.is_search;
    }
}
