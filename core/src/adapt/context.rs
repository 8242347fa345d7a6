//! The state that the steps share.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{report::AdaptReport, substitute::Substitute};
use crate::{
    collections::Set,
    deferred::{emulation::Overflowed, Client},
    dialect::{self, backends::RequestFacts, surface::NamePattern, Dialect},
    error::Error,
    json::Node,
    names::Names,
    options::{AdaptOptions, Api, CustomTools, DeferredOptions, Formats, Native, SanitizeOptions, ToolsOptions},
    reply::restore::RestoreMap,
    request::{self, betas::Header, format, origins::Origins, report::ClientTool, tool_format, writer::AddedOrigins},
    tools::{
        formats::OriginalFormats,
        list_cache::Lookup,
        quarantine::Quarantined,
        request_facts,
        request_rules::{self, FactRule},
        servers::{
            self,
            mentions::{self, Added},
            Servers,
        },
    },
    wire::responses::namespaces::FlatNames,
    wire::responses::retained_namespaces::{Flattened, RetainedNamespaces},
    wire::{self, Wire},
};

/// The state that the steps share. The comment of a field names the steps that write it. [`RequestContext::new`] writes
/// the other fields, and no step changes them.
pub(super) struct RequestContext<'o, 'a> {
    pub(super) options: &'o AdaptOptions,
    /// The options of deferred loading, in which the tools of servers have their names in the list.
    pub(super) deferred: Option<Cow<'o, DeferredOptions>>,
    /// The cache of lists, and the text of the request's list.
    pub(super) lookup: Option<(Lookup<'a>, Option<&'a str>)>,
    /// The form of a sent response format.
    pub(super) formats: Formats,
    pub(super) dialect: &'static Dialect,
    pub(super) model: String,
    /// Facts about requests in the format of `target`.
    pub(super) facts: RequestFacts,
    /// The format of the request.
    pub(super) api: Api,
    /// The format of the sent request.
    pub(super) target: Api,
    /// The betas in the header, if the caller knows it; steps that remove or add betas change it.
    pub(super) header: Option<Header>,
    /// The servers whose lists were merged.
    pub(super) servers: Option<Servers>,
    /// Every step adds its changes.
    pub(super) report: AdaptReport,
    pub(super) original_formats: OriginalFormats,
    /// Step `resolve-server-names`: the tools of servers that only the history defines.
    pub(super) added_server_tools: Added,
    /// Step `replace-format`.
    pub(super) substitute: Option<Substitute>,
    /// Step `remember-request`.
    pub(super) original: Original,
    /// Steps `complete-pairs`, `remove-message-ids` and `defer`: true if they changed the indices of messages.
    pub(super) is_shifted: bool,
    /// Step `take-namespaces`; step `report-namespaces` adds what is reported if they cannot be put back.
    pub(super) retained: Option<(RetainedNamespaces<'a>, Flattened)>,
    /// Step `find-forced-call`: JSON Pointer to a choice that requires a call, if there is a tool to call.
    pub(super) demand: Option<&'static str>,
    /// Step `defer-overflow`: the tools that are deferred because the API does not accept as many.
    pub(super) overflowed: Overflowed,
    /// Steps `defer` to `rewrite-added-tools`: the current names of all tools.
    pub(super) names: Names,
    /// Step `rewrite-list` creates the map; later steps add to it.
    pub(super) restore_map: RestoreMap,
    /// Steps `defer` to `rewrite-added-tools`; step `record-client-tools` takes the client.
    pub(super) sent: SentTools,
}

/// Facts about the request before its tools change. Some changes are found by comparing with these facts.
#[derive(Default)]
pub(super) struct Original {
    pub(super) members: request_facts::OriginalMembers,
    pub(super) namespaces: request_facts::Namespaces,
    /// Indices of the calls with a namespace.
    pub(super) namespaced_calls: Vec<usize>,
    /// Number of messages.
    pub(super) messages: usize,
    /// Names of the members.
    pub(super) names: Set<String>,
}

impl Original {
    /// Returns the pointer if the original request had its member, and the empty pointer otherwise.
    pub(super) fn pointer(&self, pointer: String) -> String {
        let name = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
        if self.names.contains(name) {
            pointer
        } else {
            String::new()
        }
    }
}

/// The tools that are sent.
#[derive(Default)]
pub(super) struct SentTools {
    /// Names of the tools that can be called.
    pub(super) callable: Set<String>,
    /// True if the list had tools, and has none now.
    pub(super) is_emptied: bool,
    /// Names of tools in namespaces; `None` if the history adds no tools.
    pub(super) flat: Option<FlatNames>,
    /// The format of the client's calls, if it differs from the API's.
    pub(super) client: Option<Client>,
    /// Original pointers of the parts that steps `complete-pairs` to `convert-custom-tools` move. Step
    /// `rewrite-added-tools` adds the tools of the history.
    pub(super) origins: Origins,
    /// Step `defer`: the origins of the tools that the history defines.
    pub(super) added: AddedOrigins,
    /// `custom` tools that are sent as functions, by their names.
    pub(super) functions: Vec<(String, ClientTool)>,
}

impl<'o, 'a> RequestContext<'o, 'a> {
    /// Merges the lists of servers, and recognizes the format of the request.
    pub(super) fn new(
        request: &mut Node<'a>,
        options: &'o AdaptOptions,
        lookup: Option<(Lookup<'a>, Option<&'a str>)>,
        formats: Formats,
    ) -> Result<Self, Error> {
        let dialect = dialect::of(&options.tools.sanitize)?;
        let model = request::model(request, options.model.as_deref())?;
        let shape = dialect.tools.names_for(&model);
        let servers = servers::flatten_request(request, (options.tools.prefix, shape), options.deferred.as_ref())?;
        let api = format::of_request(request, options)?;
        let target = options.deferred.as_ref().and_then(|deferred| deferred.target).unwrap_or(api);
        let mut origins = Origins::default();
        if let Some(servers) = &servers {
            origins.add_moved(servers.pointer_pairs(wire::of(api).tools().pointer()));
        }
        Ok(RequestContext {
            options,
            deferred: deferral_options(options, servers.as_ref()),
            lookup,
            formats,
            dialect,
            facts: RequestFacts::of(dialect, options.host.as_deref(), (target, &model)),
            model,
            api,
            target,
            header: options.betas.as_deref().map(Header::of),
            servers,
            report: AdaptReport::new(dialect.id()),
            original_formats: OriginalFormats::of(request, api)?,
            added_server_tools: Added::new(),
            substitute: None,
            original: Original::default(),
            is_shifted: false,
            retained: None,
            demand: None,
            overflowed: Overflowed::new(),
            names: Names::default(),
            restore_map: RestoreMap::default(),
            sent: SentTools { origins, ..SentTools::default() },
        })
    }

    /// Returns the description of the format of the sent request.
    pub(super) const fn target_wire(&self) -> &'static Wire {
        wire::of(self.target)
    }

    /// Returns the rules about requests of the sent format.
    pub(super) fn rules(&self) -> Vec<FactRule> {
        request_rules::of(&self.facts, (self.target, &self.model))
    }

    /// Returns true if the format of the request does not change.
    pub(super) fn is_same_format(&self) -> bool {
        self.api == self.target
    }

    /// Returns true for a request that stays in a format with namespaces.
    pub(super) fn keeps_namespaces(&self) -> bool {
        self.is_same_format() && wire::of(self.target).tools().has_namespaces()
    }

    /// Returns the form of names that the API accepts.
    pub(super) fn name_pattern(&self) -> NamePattern {
        self.dialect.tools.names_for(&self.model)
    }

    /// Returns the options for the tools of the request. A tool keeps its member for the schema if the request is sent
    /// to the dialect's own API.
    pub(super) fn tools_options(&self) -> ToolsOptions {
        let answer = self.substitute.as_ref().and_then(Substitute::tool).map(String::from);
        ToolsOptions { answer, ..sending_options(self.target, (self.dialect, &self.model), self.options) }
    }

    /// Returns the construct of the API that adds deferred tools.
    pub(super) fn native(&self) -> Native {
        self.deferred.as_ref().map_or(Native::None, |deferred| deferred.native)
    }

    /// Returns how `custom` tools are sent. An API without `custom` tools receives functions.
    pub(super) fn custom_tools(&self) -> Option<CustomTools> {
        let requested = self.options.deferred.as_ref().and_then(|deferred| deferred.custom_tools);
        requested.or(self.has_foreign_tools().then_some(CustomTools::Function))
    }

    /// Returns true if the API has no `custom` tools, although its format has.
    pub(super) fn has_foreign_tools(&self) -> bool {
        !self.dialect.tools.has_custom_tools && self.keeps_namespaces()
    }

    /// Returns true if messages have their original indices: no message was added, removed or moved.
    pub(super) fn is_aligned(&self, request: &Node<'_>) -> bool {
        self.is_same_format() && self.has_indices(request)
    }

    /// Returns true if no message was added or removed before the format changes.
    pub(super) fn has_indices(&self, request: &Node<'_>) -> bool {
        !self.is_shifted && wire::of(self.api).count(request) == self.original.messages
    }

    /// Returns the request's names of the tools that are not sent.
    pub(super) fn unsent_names(&self) -> Set<String> {
        let known_as = |tool: &Quarantined| {
            let name = tool.name.clone()?;
            let (Some(servers), Some(server)) = (&self.servers, &tool.server) else { return Some(name) };
            let called = servers.name_in_list(Some(&server.as_str().into()), &name.as_str().into());
            Some(called.map_or(name, |called| called.display().into_owned()))
        };
        self.report.quarantined.iter().filter_map(known_as).collect()
    }
}

/// Returns the options of deferred loading, in which the tools of servers have their names in the list.
fn deferral_options<'o>(options: &'o AdaptOptions, servers: Option<&Servers>) -> Option<Cow<'o, DeferredOptions>> {
    let deferred = options.deferred.as_ref()?;
    if servers.is_none() {
        return Some(Cow::Borrowed(deferred));
    }
    let mut renamed = deferred.clone();
    mentions::resolve_in_options(&mut renamed, servers);
    Some(Cow::Owned(renamed))
}

/// Returns the options for writing the tools of a request. A tool keeps its member for the schema if the request is
/// sent to the dialect's own API.
pub(super) fn sending_options(api: Api, (dialect, model): (&Dialect, &str), options: &AdaptOptions) -> ToolsOptions {
    let (home, format) = (dialect.tools.format, tool_format::sent_to(api, dialect.tools.format));
    let is_of_request = dialect.needs_parameters(model).is_none();
    let sanitize = SanitizeOptions { is_of_request, ..options.tools.sanitize.clone() };
    ToolsOptions { format: (format != home).then_some(format), sanitize, ..options.tools.clone() }
}
