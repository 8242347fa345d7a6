//! The tools of all servers: the original definitions, the rewritten definitions for the client, and the restoring of
//! calls. A client may receive two tools instead of a long list: `search_tools` and `call_tool`.
//!
//! A search never changes the list itself: since 2026-07-28, MCP forbids a server to change its tools as a side effect
//! of other requests.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    internal::{
        self, did_you_mean,
        json::{self, Node},
    },
    options::{Mismatch, Prefix, ToolFormat},
    repair_arguments,
    reports::{Repair, ToolChange},
    Error, RepairOptions, Restore, SearchOptions, ToolIndex, ToolSet, ToolsOptions,
};

use super::{
    message::{at, failed_call, quoted, text_at, text_result},
    results,
    settings::Settings,
};
use crate::terminal::shown;

const SCHEMAS: [&str; 2] = ["/inputSchema", "/outputSchema"];

/// The tools as the client last received them. Calls are interpreted by this list, even if the servers have announced
/// changes since, because the model has read these definitions.
#[derive(Debug)]
pub(super) struct Catalogue {
    /// For each dialect, its options and the list written for it.
    steps: Vec<(ToolsOptions, Option<ToolSet<String>>)>,
    /// Maximum number of tools that are listed without a search.
    most_listed: Option<usize>,
    /// True if results are cut. The list then contains the tool that reads the rest.
    has_reader: bool,
    /// True if results may lose their structured content. Tools are then listed without `outputSchema`, for which
    /// clients require structured content.
    drops_output_schemas: bool,
    /// The original list of all servers, as JSON text.
    original_list: String,
    adapted: Option<AdaptedList>,
}

#[derive(Debug)]
struct AdaptedList {
    /// Data for restoring calls, for each dialect in order.
    restores: Vec<Restore>,
    /// The list for the client, as JSON text.
    list: String,
    /// Original definitions of the tools as JSON text, by server and name.
    originals: BTreeMap<(usize, String), String>,
    /// Names by index of the server. Empty if the server has no list.
    servers: Vec<String>,
    search: Option<ToolSearch>,
    /// Name of the tool that reads the rest of a cut result.
    reader: Option<String>,
    report: Report,
}

/// A human-readable summary of the rewriting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) left_out: Vec<LeftOut>,
    pub(super) changes: Vec<String>,
    pub(super) tool_count: usize,
    /// True if the tools are available through a search.
    pub(super) has_search: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) tool: String,
    pub(super) server: Option<String>,
    pub(super) message: String,
}

pub(super) struct List<'a> {
    pub(super) server: usize,
    pub(super) name: &'a str,
    /// The tools on all pages, each as JSON text.
    pub(super) tools: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) server: usize,
    pub(super) name: String,
    /// Arguments as JSON text; `None` if the call has none.
    pub(super) arguments: Option<String>,
    pub(super) repaired: Option<Repairs>,
}

#[derive(Debug)]
pub(super) struct Repairs {
    pub(super) valid: Option<bool>,
    pub(super) repairs: Vec<Repair>,
    pub(super) retry_message: Option<String>,
}

#[derive(Debug)]
pub(super) enum Target {
    Server(Box<Call>),
    /// The proxy answers the call itself with this result, as JSON text.
    Answer(String),
    /// The tool that reads the rest of a cut result.
    Reader,
    Unknown,
}

impl Catalogue {
    pub(super) fn new(settings: &Settings) -> Catalogue {
        let steps = settings.dialects.iter().enumerate().map(|(at, dialect)| {
            // The list is not sent in one request, so the maximum number of tools does not apply.
            let options = internal::with_any_count(internal::tools_options(*dialect));
            let mut options = internal::with_server(options, settings.name.clone());
            options.format = Some(ToolFormat::Mcp);
            // With the server in its name, a tool cannot get the name of another server's tool in a later list.
            options.prefix = Prefix::Always;
            // Calls are repaired with the original schema, which is the input of the first dialect.
            options.repair = settings.repair().filter(|_| at == 0);
            (options, None)
        });
        let has_reader = settings.max_result.is_some();
        Catalogue {
            steps: steps.collect(),
            most_listed: settings.most,
            has_reader,
            drops_output_schemas: has_reader || settings.results.mismatch == Mismatch::Drop,
            original_list: String::new(),
            adapted: None,
        }
    }

    pub(super) fn has_list(&self) -> bool {
        self.adapted.is_some()
    }

    pub(super) fn list(&self) -> &str {
        self.adapted.as_ref().map_or("[]", |adapted| adapted.list.as_str())
    }

    pub(super) fn report(&self) -> Report {
        self.adapted.as_ref().map(|adapted| adapted.report.clone()).unwrap_or_default()
    }

    pub(super) fn replace_tools(&mut self, lists: &[List<'_>], has_several_servers: bool) -> Result<(), Error> {
        let (mut originals, mut left_out) = (BTreeMap::new(), Vec::new());
        let mut written = Vec::with_capacity(lists.len());
        for List { server, name, tools } in lists {
            let mut kept = Vec::with_capacity(tools.len());
            for tool in tools {
                let tool_name = json::read(tool).ok().and_then(|tool| text_at(&tool, &["name"]));
                let Some(tool_name) = tool_name else {
                    let message = "expected a tool with a name, found something else".to_string();
                    let server = has_several_servers.then(|| (*name).to_string());
                    left_out.push(LeftOut { tool: String::new(), server, message });
                    continue;
                };
                // If two tools have the same name, the first one is used.
                originals.entry((*server, tool_name)).or_insert_with(|| tool.clone());
                kept.push(tool.as_str());
            }
            let list = format!("[{}]", kept.join(","));
            written.push(if has_several_servers {
                format!("{{\"server\":{},\"tools\":{list}}}", quoted(name))
            } else {
                list
            });
        }
        let mut list =
            if has_several_servers { format!("[{}]", written.join(",")) } else { written.pop().unwrap_or_default() };
        if list.is_empty() {
            list.push_str("[]");
        }
        if self.adapted.is_some() && self.original_list == list {
            return Ok(());
        }
        let original_list = list.clone();
        let (mut restores, mut changes) = (Vec::new(), Vec::new());
        for (options, set) in &mut self.steps {
            let set = match set {
                Some(set) => {
                    set.update(list.as_str())?;
                    set
                }
                None => set.insert(ToolSet::new(list.as_str())?),
            };
            let ready = set.sanitize(options)?;
            left_out.extend(ready.quarantined.iter().map(|tool| LeftOut {
                tool: tool.name.clone().unwrap_or_default(),
                server: tool.server.clone(),
                message: format!("{} ({})", tool.message, tool.rule),
            }));
            if ready.tools != list {
                changes.extend(ready.changes()?.iter().map(change_line));
            }
            restores.push(ready.restore.clone());
            list.clone_from(&ready.tools);
        }
        if self.drops_output_schemas {
            list = without_output_schemas(&list, &mut changes)?;
        }
        let tools = json::read(&list)?;
        let tool_count = tools.as_array().map(<[Node<'_>]>::len).unwrap_or_default();
        let (for_model, for_apps): (Vec<Node<'_>>, Vec<Node<'_>>) =
            tools.as_array().unwrap_or_default().iter().cloned().partition(is_for_model);
        let search = match self.most_listed {
            Some(most) if for_model.len() + usize::from(self.has_reader) > most => {
                Some(ToolSearch::new(&tools, for_model)?)
            }
            _ => None,
        };
        let search_list = search.as_ref().map(|search| search.tools(&for_apps));
        let reader = self.has_reader.then(|| {
            let names: BTreeSet<String> = tools.as_array().into_iter().flatten().filter_map(name_of).collect();
            free_name(results::READ, |name| {
                names.contains(name) || search.as_ref().is_some_and(|search| search.has(name))
            })
        });
        let report = Report { left_out, changes, tool_count, has_search: search.is_some() };
        let servers = lists.iter().map(|list| (list.server, list.name.to_string())).collect::<BTreeMap<_, _>>();
        let server_count = servers.keys().next_back().map_or(0, |last| last + 1);
        let servers = (0..server_count).map(|at| servers.get(&at).cloned().unwrap_or_default()).collect();
        drop(tools);
        self.original_list = original_list;
        let mut list = search_list.unwrap_or(list);
        if let Some(reader) = &reader {
            list = with_item(&list, &results::reader(reader));
        }
        self.adapted = Some(AdaptedList { restores, list, originals, servers, search, reader, report });
        Ok(())
    }

    /// `arguments` are JSON text.
    pub(super) fn resolve(&self, name: &str, arguments: Option<&str>) -> Result<Target, Error> {
        let Some(adapted) = &self.adapted else { return Ok(Target::Unknown) };
        let repair = self.steps.first().and_then(|(options, _)| options.repair.as_ref());
        if adapted.reader.as_deref() == Some(name) {
            return Ok(Target::Reader);
        }
        match &adapted.search {
            Some(search) if search.is_search(name) => Ok(Target::Answer(search.answer(arguments))),
            Some(search) if search.is_call(name) => match search.parse_call(arguments) {
                Ok((name, arguments)) => match adapted.restore_call(&name, Some(&arguments), repair)? {
                    Some(call) if !adapted.is_only_for_apps(&call) => Ok(Target::Server(Box::new(call))),
                    _ => Ok(Target::Answer(search.unknown(&name))),
                },
                Err(result) => Ok(Target::Answer(result)),
            },
            _ => Ok(adapted
                .restore_call(name, arguments, repair)?
                .map_or(Target::Unknown, |call| Target::Server(Box::new(call)))),
        }
    }

    pub(super) fn reader(&self) -> Option<&str> {
        self.adapted.as_ref()?.reader.as_deref()
    }

    pub(super) fn original_definitions(&self, server: usize, name: &str) -> Option<&str> {
        self.adapted.as_ref()?.originals.get(&(server, name.to_string())).map(String::as_str)
    }
}

impl AdaptedList {
    fn restore_call(
        &self,
        client_name: &str,
        arguments: Option<&str>,
        repair: Option<&RepairOptions>,
    ) -> Result<Option<Call>, Error> {
        let (mut name, mut server) = (client_name.to_string(), None);
        let mut text = arguments.unwrap_or("{}").to_string();
        let mut repaired = None;
        for restore in self.restores.iter().rev() {
            let call = restore.call(&name, text.as_str())?;
            server = call.server.or(server);
            let done = call.repaired.map(|call| Repairs {
                valid: call.valid,
                repairs: call.repairs,
                retry_message: call.retry_message,
            });
            repaired = done.or(repaired);
            (name, text) = (call.name, call.arguments.into_owned());
        }
        let server = match server {
            Some(server) => self.servers.iter().position(|known| *known == server),
            // Tool names in the list of a single server do not contain the server's name.
            None => self.originals.keys().map(|(server, _)| *server).next().filter(|_| self.has_one_server()),
        };
        let server = match server.filter(|server| self.originals.contains_key(&(*server, name.clone()))) {
            Some(server) => server,
            None => match self.server_of_original_name(client_name) {
                Some(server) => {
                    (name, text) = (client_name.into(), arguments.unwrap_or("{}").into());
                    repaired = None;
                    server
                }
                None => return Ok(None),
            },
        };
        if let (None, Some(options), Some(original)) = (&repaired, repair, self.originals.get(&(server, name.clone())))
        {
            // The call has the original name of the tool, so its arguments follow the original schema.
            let original = json::read(original)?;
            if let Some(schema) = original.get("inputSchema") {
                let schema = json::write(schema);
                let done = repair_arguments(text.as_str(), schema.as_str(), &options.clone().name(name.as_str()))?;
                repaired =
                    Some(Repairs { valid: done.valid, repairs: done.repairs, retry_message: done.retry_message });
                text = done.arguments.into_owned();
            }
        }
        let arguments = (arguments.is_some() || text != "{}").then_some(text);
        Ok(Some(Call { server, name, arguments, repaired }))
    }

    /// Returns the server of a tool by the original name, which an app of MCP Apps uses. Returns `None` if several
    /// servers have a tool with the name.
    fn server_of_original_name(&self, name: &str) -> Option<usize> {
        let mut servers =
            self.originals.keys().filter(|(_, original_name)| original_name == name).map(|(server, _)| *server);
        servers.next().filter(|_| servers.next().is_none() && !self.has_one_server())
    }

    fn is_only_for_apps(&self, call: &Call) -> bool {
        let original = self.originals.get(&(call.server, call.name.clone())).and_then(|text| json::read(text).ok());
        original.is_some_and(|tool| !is_for_model(&tool))
    }

    fn has_one_server(&self) -> bool {
        self.servers.iter().filter(|name| !name.is_empty()).count() == 1
    }
}

fn name_of(tool: &Node<'_>) -> Option<String> {
    text_at(tool, &["name"])
}

fn free_name(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let names = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}_{number}")));
    names.into_iter().find(|name| !is_used(name)).unwrap_or_default()
}

fn with_item(list: &str, item: &str) -> String {
    match list.trim_end().strip_suffix(']').map(str::trim_end) {
        Some(items) if items.ends_with('[') => format!("{items}{item}]"),
        Some(items) => format!("{items},{item}]"),
        None => list.to_string(),
    }
}

fn without_output_schemas(list: &str, changes: &mut Vec<String>) -> Result<String, Error> {
    let mut tools = json::read(list)?;
    for tool in tools.as_array_mut().into_iter().flatten() {
        if tool.remove("outputSchema").is_some() {
            let name = name_of(tool).unwrap_or_default();
            changes
                .push(format!("{}: removed `outputSchema`: results may lose their structured content", shown(&name)));
        }
    }
    Ok(json::write(&tools))
}

/// Returns false for a tool that only apps of MCP Apps may call.
fn is_for_model(tool: &Node<'_>) -> bool {
    let visibility = at(tool, &["_meta", "ui", "visibility"]).and_then(Node::as_array);
    visibility.is_none_or(|list| list.iter().any(|audience| audience.is_text("model")))
}

fn change_line(about: &ToolChange) -> String {
    let of = about.server.as_deref().map(|server| format!(" of {}", shown(server))).unwrap_or_default();
    let change = &about.change;
    // The line does not contain the tool's index.
    let inner = SCHEMAS.iter().find_map(|key| change.pointer.find(key)).and_then(|start| change.pointer.get(start..));
    let at = inner.map(|inner| format!(" at {}", shown(inner))).unwrap_or_default();
    format!("{}{of}: {} ({}){at}", shown(&about.tool), shown(&change.message), change.rule)
}

const SEARCH_TOOL: &str = "search_tools";
const CALL_TOOL: &str = "call_tool";
const DEFAULT_RESULTS: usize = 5;
/// Maximum number of results.
const MAX_RESULTS: u64 = 20;

#[derive(Debug)]
pub(super) struct ToolSearch {
    find: String,
    call: String,
    index: ToolIndex,
    /// Tool definitions by name, as JSON text.
    definitions: BTreeMap<String, String>,
}

impl ToolSearch {
    /// `tools` are the tools for the model, `all` are all tools.
    pub(super) fn new(all: &Node<'_>, tools: Vec<Node<'_>>) -> Result<ToolSearch, Error> {
        let entries = tools.iter();
        let names_in_use: BTreeSet<String> =
            all.as_array().unwrap_or_default().iter().filter_map(|tool| text_at(tool, &["name"])).collect();
        let definitions: BTreeMap<String, String> =
            entries.filter_map(|tool| Some((name_of(tool)?, json::write(tool)))).collect();
        let free = |name: &str| free_name(name, |name| names_in_use.contains(name));
        let index = ToolIndex::new(json::write(&Node::array(tools)).as_str())?;
        Ok(ToolSearch { find: free(SEARCH_TOOL), call: free(CALL_TOOL), index, definitions })
    }

    /// Returns the list that the client receives, as JSON text, with the tools for apps.
    pub(super) fn tools(&self, for_apps: &[Node<'_>]) -> String {
        let for_apps: String = for_apps.iter().map(|tool| format!(",{}", json::write(tool))).collect();
        let (count, find, call) = (self.definitions.len(), quoted(&self.find), quoted(&self.call));
        let finding = quoted(&format!(
            "Searches {count} tools by description and returns matching definitions. Call a result with `{}`.",
            self.call
        ));
        let calling = quoted(&format!(
            "Calls a tool that `{}` has returned. The arguments must match its inputSchema.",
            self.find
        ));
        format!(
            "[{{\"name\":{find},\"description\":{finding},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
             \"query\":{{\"type\":\"string\",\"description\":\"What the tool should do, in a few words.\"}},\
             \"limit\":{{\"type\":\"integer\",\"description\":\"Maximum number of results (default \
             {DEFAULT_RESULTS}, at most {MAX_RESULTS}).\"}}}},\"required\":[\"query\"]}},\
             \"annotations\":{{\"readOnlyHint\":true}}}},\
             {{\"name\":{call},\"description\":{calling},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
             \"name\":{{\"type\":\"string\",\"description\":\"The name of the tool.\"}},\
             \"arguments\":{{\"type\":\"object\",\"description\":\"The arguments of the tool.\"}}}},\
             \"required\":[\"name\",\"arguments\"]}}}}{for_apps}]"
        )
    }

    fn has(&self, name: &str) -> bool {
        self.definitions.contains_key(name) || self.is_search(name) || self.is_call(name)
    }

    fn is_search(&self, name: &str) -> bool {
        name == self.find
    }

    fn is_call(&self, name: &str) -> bool {
        name == self.call
    }

    pub(super) fn answer(&self, arguments: Option<&str>) -> String {
        let arguments = json::read(arguments.unwrap_or("{}")).unwrap_or_default();
        let Some(query) = text_at(&arguments, &["query"]).filter(|query| !query.trim().is_empty()) else {
            return failed_call("expected `query`, a string that describes what the tool should do, found none");
        };
        let limit = arguments.u64_at("limit").unwrap_or(DEFAULT_RESULTS as u64).clamp(1, MAX_RESULTS);
        let options = SearchOptions::default()
            .limit(usize::try_from(limit).unwrap_or(DEFAULT_RESULTS))
            .tool_search_name(&*self.find);
        let found = match self.index.search(&query, &options) {
            Ok(found) => found,
            Err(error) => return failed_call(error.message()),
        };
        let found: Vec<&str> = found.iter().filter_map(|name| self.definitions.get(name)).map(String::as_str).collect();
        if found.is_empty() {
            return text_result("No matching tools. Try other keywords.");
        }
        text_result(&format!("[{}]", found.join(",\n")))
    }

    /// Returns the tool and the arguments in a call to `call_tool`. For an invalid call, returns an error result for
    /// the model.
    pub(super) fn parse_call(&self, arguments: Option<&str>) -> Result<(String, String), String> {
        let arguments = json::read(arguments.unwrap_or("{}")).unwrap_or_default();
        let Some(name) = text_at(&arguments, &["name"]) else {
            return Err(failed_call("expected `name`, the name of a tool, found none"));
        };
        let inner = match arguments.get("arguments") {
            // Some models write the arguments as a string.
            Some(inner) => match inner.as_text() {
                Some(text) => text.display().into_owned(),
                None => json::write(inner),
            },
            None => "{}".to_string(),
        };
        Ok((name, inner))
    }

    pub(super) fn unknown(&self, name: &str) -> String {
        let hint = did_you_mean(name, self.definitions.keys());
        failed_call(&format!("expected the name of a tool that `{}` has returned, found `{name}`{hint}", self.find))
    }
}
