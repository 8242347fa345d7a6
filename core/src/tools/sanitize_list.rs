//! `sanitize_tools`: rewrites every tool of a list for one API and quarantines the tools that cannot be made
//! acceptable. Renames tools of one list that share a name, if the caller requests it (`duplicateNames: "rename"`).
//!
//! The new name of each tool depends on its definition, not on its index. `restore` returns the index, because the
//! original names are equal.

use alloc::{format, string::String, vec::Vec};

use super::{
    examples::{self, SchemaPair},
    lenient, mcp_headers,
    quarantine::{
        refusal, refusal_of_error, refusal_of_nameless, refusal_of_unknown, require_allowed, Quarantined, Refused,
    },
    servers::{self, Servers},
    shared_limits::{self, Definitions},
    target::{self, change_outside_arguments, reason, targets, Target, Written},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::{
        self,
        requests::RequestFact,
        surface::{NamePattern, QualifiedName},
        Dialect, DialectId,
    },
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, push_token, Node, Text},
    limits::MAX_TOOLS,
    names::{self, cut, digest, folded, Names, Taken, TAIL},
    options::{DuplicateNames, OutputSchemas, Prefix, ToolFormat, ToolsOptions},
    reply::{
        call_repair::Schemas,
        restore::{RestoreEntry, RestoreMap},
    },
    report::{self, Allow, Change, Detail, Reason},
    request::{
        self,
        tool::CACHE,
        tool_format::{self, pointer, Edits, Entry, ToolShape},
        tool_list::{Listed, Listing},
    },
    rules::{Constraint, Rule},
    sanitize::decode::Plan,
    wire::responses::namespaces::FlatNames,
    wire::{units::has_type, GROUPS},
};

/// A change to one tool. Its pointers are relative to the original and the rewritten list, not to the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChange {
    /// The tool's name at its server.
    pub tool: String,
    /// The tool's server, if the list has several servers.
    pub server: Option<String>,
    /// Dialect in which the tool is written.
    pub dialect: DialectId,
    /// The change, with its reason and its effect.
    pub change: Change,
}

pub(crate) struct Outcome<'a> {
    pub(crate) tools: Node<'a>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Empty if only effects are reported.
    pub(crate) changes: Vec<ToolChange>,
    /// True if the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub(crate) lossless: bool,
    pub(crate) restore_map: RestoreMap,
    pub(crate) names: Names,
    /// Names, as sent, of all tools that can be called.
    pub(crate) accepted: Set<String>,
}

/// The changes of a rewritten tool. They are reported when the tool's index in the output is known.
struct RewrittenTool {
    tool: String,
    server: Option<String>,
    dialect: DialectId,
    /// Output pointers are relative to the entry.
    changes: Vec<Change>,
}

struct Writer<'o> {
    /// The dialect, and the fallback dialect if there is one.
    targets: Vec<Target>,
    /// Further dialects, each for the tools whose schema is in one particular member.
    targets_by_member: Vec<Target>,
    format: ToolFormat,
    allow: Allow,
    max_tools: usize,
    names: &'o Names,
    servers: Option<&'o Servers>,
    same_names: Option<&'o SameNames>,
    /// Maximum length of names that cannot be shortened.
    max_unshortened: Option<usize>,
    accepted: Set<String>,
    /// Definitions of the tools written so far, for APIs that merge them into one table.
    definitions: Definitions,
    /// Number of tools written so far, including hosted ones.
    count: usize,
    quarantined: Vec<Quarantined>,
    restore_map: RestoreMap,
    /// True if calls are repaired, so the schemas are kept.
    repairs: bool,
    /// True if schemas accept text for numbers and null for optional properties.
    lenient: bool,
    /// True if only tools with `strict: true` are written in the first dialect.
    by_flag: bool,
    /// True if the second dialect is the caller's fallback, not the dialect of tools that are not strict.
    has_fallback: bool,
    detail: Detail,
    /// Name of the function that replaces a response format.
    answer: Option<String>,
    /// True if output schemas are sent.
    sends_results: bool,
}

/// With [`Detail::Effects`], changes are not reported; `lossless` is false if something is lost.
pub(crate) fn rewrite<'a>(tools: Node<'a>, options: &ToolsOptions, detail: Detail) -> Result<Outcome<'a>, Error> {
    let (name_pattern, max_unshortened) = name_limits(&tools, options)?;
    let (mut tools, servers) = servers::flatten(tools, options.prefix, name_pattern)?;
    let is_renaming = servers.is_none() && options.duplicate_names == DuplicateNames::Rename;
    let same_names = is_renaming.then(|| rename_same_names(&mut tools, name_pattern));
    let planned = Planned {
        name_pattern: Some(name_pattern),
        servers: servers.as_ref(),
        points_to_servers: true,
        same_names: same_names.as_ref(),
        max_unshortened,
        ..Planned::default()
    };
    let mut outcome = rewrite_with_names(tools, options, planned, detail)?;
    outcome.restore_map.has_indices |= is_renaming;
    Ok(outcome)
}

/// Returns the pattern for names of tools. A client of MCP may limit the name of the server and the name of the tool
/// together. If the server's name is too long, names of tools cannot be shortened; the second value is their maximum
/// length.
fn name_limits(tools: &Node<'_>, options: &ToolsOptions) -> Result<(NamePattern, Option<usize>), Error> {
    let surface = dialect::of(&options.sanitize)?.tools;
    let Some(qualified) = surface.qualified else { return Ok((surface.names, None)) };
    let of_list = || servers::only_name(tools).map(|server| server.code_points().count());
    let server = options.server.as_ref().map(|server| server.chars().count()).or_else(of_list);
    Ok(match server.filter(|length| *length > max_server_name(qualified)) {
        Some(length) => (surface.names, Some(qualified.max_tool_name(length))),
        None => (surface.names_for_server(server), None),
    })
}

/// Returns the maximum length of a server's name that leaves characters for a digest in names of tools.
pub(crate) fn max_server_name(qualified: QualifiedName) -> usize {
    qualified.max_tool_name(TAIL + 1)
}

#[derive(Default)]
pub(crate) struct Planned<'n> {
    pub(crate) names: Names,
    /// Pattern of the names that the model accepts, if it differs from the dialect's pattern.
    pub(crate) name_pattern: Option<NamePattern>,
    /// Names of tools in namespaces; `None` if the list plans these names itself.
    pub(crate) flat: Option<&'n FlatNames>,
    /// True if the report points to the servers' own lists, not to this list.
    pub(crate) points_to_servers: bool,
    /// The servers of the tools, if the list has several.
    pub(crate) servers: Option<&'n Servers>,
    /// The tools that share their names, if they are renamed.
    pub(crate) same_names: Option<&'n SameNames>,
    pub(crate) max_unshortened: Option<usize>,
}

pub(crate) fn rewrite_with_names<'a>(
    tools: Node<'a>,
    options: &ToolsOptions,
    Planned { mut names, name_pattern, flat, points_to_servers, servers, same_names, max_unshortened }: Planned<'_>,
    detail: Detail,
) -> Result<Outcome<'a>, Error> {
    let targets = targets(options)?;
    let Some(first) = targets.first() else {
        return Err(Error::new(Code::UnknownDialect, "/dialect", "expected a dialect, found none"));
    };
    let surface = first.dialect.tools;
    let format = options.format.unwrap_or(surface.format);
    let targets_by_member = target::targets_by_member(options)?;
    let mut listing = Listing::read_with_names(tools, flat)?;
    if let Some(servers) = servers {
        servers.set_servers(&mut listing, points_to_servers);
    }
    let (mut planned, mut hosted) = (Vec::new(), Vec::new());
    let mut count = 0;
    for listed in listing.entries() {
        match tool_format::recognize(&listed.entry) {
            Entry::Tool(shape) => planned.extend(shape.name(&listed.entry)),
            Entry::Hosted => {
                // A quarantined entry reserves no name.
                if refused_type(first.dialect, format, &listed.entry).is_some() {
                    continue;
                }
                // Calls to a toolset's tools carry the server's name separately, so a function may have the same name.
                let is_server = request::tool::kind(&listed.entry) == request::tool::Kind::Toolset;
                let name = request::tool::name(&listed.entry).filter(|_| !is_server);
                if has_planned_name(listed) { &mut planned } else { &mut hosted }.extend(name);
                // OpenAI's limit excludes its tool search, and no limit includes cache points.
                let is_search = request::tool::kind(&listed.entry) == request::tool::Kind::HostedSearch;
                count += usize::from(!is_search && !request::tool::is_cache_point(&listed.entry));
            }
            Entry::Unknown => {}
        }
    }
    names.plan(name_pattern.unwrap_or(surface.names), planned.into_iter(), &hosted);
    let accepted: Set<String> = hosted.iter().filter_map(|name| Some(name.value()?.into_owned())).collect();
    let quarantined = Vec::new();
    let (allow, max_tools) = (options.sanitize.allow, max_tools(options, &targets));
    let mut writer = Writer {
        targets,
        targets_by_member,
        format,
        allow,
        max_tools,
        names: &names,
        servers,
        same_names,
        max_unshortened,
        accepted,
        definitions: Definitions::default(),
        count,
        quarantined,
        restore_map: RestoreMap::default(),
        repairs: options.repairs().is_some(),
        lenient: options.lenient_types,
        by_flag: options.by_flag.is_some(),
        has_fallback: options.fallback.is_some(),
        detail,
        answer: options.answer.clone(),
        sends_results: options.output_schemas == OutputSchemas::Send,
    };
    writer.restore_map.set_repairs(options.repairs().as_ref());
    let in_brief = writer.detail == Detail::Effects;
    let (mut changes, mut lossless) = (Vec::new(), true);
    let tools = listing.write(
        format,
        |listed| writer.write_entry(listed),
        |rewritten: Option<RewrittenTool>, at| {
            let Some(RewrittenTool { tool, server, dialect, changes: tool_changes }) = rewritten else { return };
            lossless &= report::lossless(&tool_changes);
            if in_brief {
                return;
            }
            changes.extend(tool_changes.into_iter().map(|mut change| {
                if let Some(pointer) = &mut change.output_pointer {
                    pointer.insert_str(0, at);
                }
                ToolChange { tool: tool.clone(), server: server.clone(), dialect, change }
            }));
        },
    );
    let Writer { accepted, quarantined, restore_map, .. } = writer;
    let lossless = lossless && quarantined.is_empty();
    Ok(Outcome { tools, quarantined, changes, lossless, restore_map, names, accepted })
}

pub(crate) fn count(tools: Node<'_>) -> Result<usize, Error> {
    let (tools, _) = servers::flatten(tools, Prefix::Auto, NamePattern::ANY)?;
    Ok(Listing::read(tools)?.entries().count())
}

/// Returns the tools of a list in the form that is sent, for text that quotes them.
pub(crate) fn quoted_tools<'a>(
    tools: Node<'a>,
    options: &ToolsOptions,
    names: &Names,
    name_pattern: NamePattern,
) -> Result<Node<'a>, Error> {
    let planned = Planned { names: names.clone(), name_pattern: Some(name_pattern), ..Planned::default() };
    rewrite_with_names(tools, options, planned, Detail::Whole).map(|outcome| outcome.tools)
}

/// Returns the maximum size of a list in which each tool is rewritten independently.
pub(crate) fn max_alone(options: &ToolsOptions) -> Result<usize, Error> {
    let targets = targets(options)?;
    let limits_all_tools =
        |target: &Target| target.dialect.tools.one_grammar || !target.dialect.tools.budgets.is_empty();
    if targets.iter().any(limits_all_tools) {
        return Ok(0);
    }
    Ok(max_tools(options, &targets))
}

/// The API's limit applies regardless of the dialect of each tool.
fn max_tools(options: &ToolsOptions, targets: &[Target]) -> usize {
    let of_api = targets.first().filter(|_| !options.any_count).and_then(|first| first.dialect.tools.max_tools);
    let of_caller = options.max_tools.or(Some(MAX_TOOLS));
    of_api.into_iter().chain(of_caller).min().unwrap_or(usize::MAX)
}

fn duplicate_name(called: &str, at: &str) -> Refused {
    let message = format!("expected unique tool names, found a second `{called}`");
    refusal(Constraint::DuplicateName.id(), at, message)
}

fn refused_type(dialect: &Dialect, format: ToolFormat, entry: &Node<'_>) -> Option<&'static RequestFact> {
    dialect.refuses_type(request::tool::type_of(entry)?, tool_format::request_api_of(format)?)
}

/// Returns true if the name of an entry without a schema is planned together with the names of functions. The entry is
/// a `custom` tool or belongs to a namespace; the API itself names all other such entries.
fn has_planned_name(listed: &Listed<'_>) -> bool {
    listed.namespace.is_some() || request::tool::is_custom(&listed.entry)
}

fn rename_change(
    dialect: &'static Dialect,
    (original_name, called): (&Text<'_>, &str),
    server: Option<&Text<'_>>,
    at: (String, Option<String>),
) -> Change {
    let of = server.map(|server| format!(" of the server `{}`", server.display())).unwrap_or_default();
    let message = format!("renamed the tool `{}`{of} to `{called}`; `restore` reverts it", original_name.display());
    let is_long = dialect.tools.qualified.is_some() && original_name.code_points().count() > called.chars().count();
    let reason = match names::is_legal(dialect.tools.names, original_name) {
        true if is_long => reason(dialect, Constraint::QualifiedName),
        true => Reason::from("the tools of a list have different names"),
        false => reason(dialect, Constraint::ToolName),
    };
    let change = change_outside_arguments(Rule::RenameTool, at, Guidance::Same, reason, message);
    Change { encoded: true, ..change }
}

impl Writer<'_> {
    fn write_entry<'a>(&mut self, listed: Listed<'a>) -> Option<(Node<'a>, Option<RewrittenTool>)> {
        let shape = match tool_format::recognize(&listed.entry) {
            Entry::Hosted => {
                if let Some(name) = self.duplicate_name(&listed) {
                    let Refused { rule, message, .. } = duplicate_name(&name, "");
                    let pointer = listed.pointer + &pointer(request::tool::path_of_custom_name(&listed.entry));
                    let original_name = request::tool::name(&listed.entry);
                    let name = original_name.map(|name| self.original_name(name).display().into_owned());
                    let server = listed.server.map(|server| server.display().into_owned());
                    self.quarantined.push(Quarantined { name, server, hosted: None, pointer, rule, message });
                    return None;
                }
                let dialect = self.targets.first().map(|target| target.dialect);
                if let Some(fact) = dialect.and_then(|dialect| refused_type(dialect, self.format, &listed.entry)) {
                    let name = request::tool::name(&listed.entry).map(|name| name.display().into_owned());
                    let (pointer, rule) = (listed.pointer + "/type", fact.rule());
                    let kind = request::tool::type_of(&listed.entry).map(|kind| kind.display().into_owned());
                    let message = format!(
                        "expected a tool type that the API supports, found `{}`: {}",
                        kind.as_deref().unwrap_or_default(),
                        fact.statement
                    );
                    let server = listed.server.map(|server| server.display().into_owned());
                    self.quarantined.push(Quarantined { name, server, hosted: kind, pointer, rule, message });
                    return None;
                }
                return Some(self.write_hosted(listed));
            }
            Entry::Tool(shape) => Some(shape),
            Entry::Unknown => None,
        };
        let name = shape.and_then(|shape| shape.name(&listed.entry).cloned());
        let (pointer, server) = (listed.pointer.clone(), listed.server.clone());
        let result = match (shape, &name) {
            (None, _) => Err(refusal_of_unknown(&listed.entry)),
            (Some(shape), None) => Err(refusal_of_nameless(shape, &listed.entry)),
            (Some(shape), Some(name)) => self.write_tool(listed, shape, name),
        };
        match result {
            Ok((node, rewritten)) => Some((node, Some(rewritten))),
            Err(Refused { rule, pointer: at, message }) => {
                let original_name = name.map(|name| self.original_name(&name).display().into_owned());
                let server = server.map(|server| server.display().into_owned());
                let pointer = pointer + &at;
                self.quarantined.push(Quarantined {
                    name: original_name,
                    server,
                    hosted: None,
                    pointer,
                    rule,
                    message,
                });
                None
            }
        }
    }

    fn original_name<'n, 'a>(&'n self, name: &'n Text<'a>) -> &'n Text<'a> {
        let of_server = self.servers.and_then(|servers| servers.owner(name)).map(|owner| owner.name);
        of_server.or_else(|| self.owner_of_renamed(name).map(|owner| &owner.name)).unwrap_or(name)
    }

    fn owner_of_renamed(&self, name: &Text<'_>) -> Option<&Owner> {
        self.same_names.and_then(|same_names| same_names.owner(name))
    }

    /// Returns the planned name of an entry without a schema, if another tool of the list is sent with that name.
    fn duplicate_name(&self, listed: &Listed<'_>) -> Option<String> {
        if !has_planned_name(listed) {
            return None;
        }
        let called = self.names.current(request::tool::name(&listed.entry)?).into_owned();
        self.accepted.contains(&called).then_some(called)
    }

    /// Sends an entry unchanged except for its name: a `custom` tool of OpenAI or a tool that the API runs itself.
    fn write_hosted<'a>(&mut self, listed: Listed<'a>) -> (Node<'a>, Option<RewrittenTool>) {
        let has_planned_name = has_planned_name(&listed);
        let Listed { mut entry, namespace, server, pointer: at } = listed;
        let name = request::tool::name(&entry).cloned().filter(|_| has_planned_name);
        let dialect = self.targets.first().map(|target| target.dialect);
        let (Some(name), Some(dialect)) = (name, dialect) else { return (entry, None) };
        let is_custom = request::tool::is_custom(&entry);
        let new_name = self.names.new_name(&name).filter(|_| is_custom).map(String::from);
        let called = new_name.clone().unwrap_or_else(|| name.display().into_owned());
        let server = server.filter(|_| is_custom);
        let (space, original_name) = match namespace {
            Some((space, original_name)) => (Some(space), original_name),
            None => (None, self.original_name(&name).clone()),
        };
        let index = self.owner_of_renamed(&name).map(|owner| owner.index);
        let mut changes = Vec::new();
        if new_name.is_some() || (server.is_some() || index.is_some()) && !original_name.is(called.as_str()) {
            let path = pointer(request::tool::path_of_custom_name(&entry));
            let reported_name = if server.is_some() || index.is_some() { &original_name } else { &name };
            changes.push(rename_change(dialect, (reported_name, &called), server.as_ref(), (at + &path, Some(path))));
        }
        if new_name.is_some() || space.is_some() || server.is_some() || index.is_some() {
            let restore_entry = RestoreEntry::new(&original_name, space.as_ref(), Plan::default()).at_index(index);
            self.restore_map.add(called.clone(), restore_entry.of_server(server.as_ref()));
        }
        if let Some(new_name) = new_name {
            request::tool::rename_custom(&mut entry, Text::new(new_name));
        }
        self.accepted.insert(called);
        let (tool, server) = (original_name.display().into_owned(), server.map(|server| server.display().into_owned()));
        (entry, Some(RewrittenTool { tool, server, dialect: dialect.id(), changes }))
    }

    fn write_tool<'a>(
        &mut self,
        listed: Listed<'a>,
        shape: ToolShape,
        name: &Text<'a>,
    ) -> Result<(Node<'a>, RewrittenTool), Refused> {
        let Listed { mut entry, pointer: at, namespace, server } = listed;
        let original_name = namespace
            .as_ref()
            .map_or_else(|| self.original_name(name).clone(), |(_, original_name)| original_name.clone());
        let new_name = self.names.new_name(name).map(String::from);
        let called = new_name.clone().unwrap_or_else(|| name.display().into_owned());
        if self.accepted.contains(&called) {
            return Err(duplicate_name(&called, &pointer(&shape.pointer_to("name"))));
        }
        if let Some(max) = self.max_unshortened.filter(|max| name.code_points().count() > *max) {
            let message = format!("expected a name of at most {max} characters next to the name of the server");
            return Err(refusal(Constraint::QualifiedName.id(), &pointer(&shape.pointer_to("name")), message));
        }
        self.require_room()?;
        // Calls of a tool without parameters have no arguments, and calls of a `custom` tool contain text.
        let empty_schema = || (!has_type(&entry, "custom")).then(Node::empty_object);
        let repair_schema =
            self.repairs.then(|| shape.schema(&entry).map(Node::detached).or_else(empty_schema)).flatten();
        let format = self.target_of_member(shape).and_then(|target| target.member_format).unwrap_or(self.format);
        let examples =
            tool_format::examples_of(format).filter(|examples| shape.part(&entry, examples.member).is_some());
        let before = examples.and_then(|_| shape.schema(&entry).cloned());
        let is_marked = format == ToolFormat::Mcp && shape.schema(&entry).is_some_and(mcp_headers::is_valid);
        let Written { target, dialect, mut changes, plan, added, omits_schema } =
            self.rewrite_schema(&mut entry, shape, format)?;
        let written = shape.shape_in(format, omits_schema);
        let encoded = changes.iter().any(|change| change.encoded);
        if dialect.tools.one_grammar {
            self.rename_definitions((&mut entry, shape), written, dialect, &mut changes)?;
        }
        // If the API enforces the schema, all calls match it without widening.
        if self.lenient && !omits_schema && tool_format::strict_in(dialect, format) != Some(true) {
            lenient::widen(&mut entry, (shape, written), dialect, (self.allow, &mut changes));
        }
        let description = target::fit_description(&entry, (shape, written), dialect, &mut changes);
        let mut strict = tool_format::strict_in(dialect, format);
        if strict == Some(false) && shape.strict(&entry).is_none() && shape.needs_no_conversion(written) {
            let options = self.targets.get(target.unwrap_or_default()).map(|target| &target.options);
            let is_of_request = options.is_some_and(|options| options.is_of_request);
            let is_answer = self.answer.as_ref().is_some_and(|answer| name.is(answer.as_str()));
            let schema = shape.schema(&entry).filter(|_| is_of_request && !is_answer);
            strict = strict.filter(|_| !schema.is_some_and(|schema| target::needs_no_flag(schema, dialect)));
        }
        target::report_strict_flag(&entry, (shape, written), strict, dialect, &mut changes);
        let index = self.owner_of_renamed(name).map(|owner| owner.index);
        let is_renamed_here = (server.is_some() || index.is_some()) && original_name != *name;
        if new_name.is_some() || is_renamed_here {
            let reported_name = if server.is_some() || index.is_some() { &original_name } else { name };
            let at = (pointer(&shape.pointer_to("name")), Some(pointer(&written.pointer_to("name"))));
            changes.push(rename_change(dialect, (reported_name, &called), server.as_ref(), at));
        }
        require_allowed(self.allow, &changes)?;
        let after = shape.schema(&entry).filter(|_| !changes.is_empty() && shape.needs_no_conversion(written)).cloned();
        if let (Some(examples), Some(before), Some(after)) = (examples, &before, &after) {
            let schemas = SchemaPair { before, after, plan: &plan };
            let at = pointer(&shape.pointer_to(examples.member));
            examples::rewrite_examples(&mut entry, examples, &at, schemas, &mut changes);
        }
        if !shape.needs_no_conversion(written) {
            changes.extend(examples::report_lost(&entry, shape, format));
        }
        // The option `allow` limits changes to arguments only.
        target::fit_output_schema(&mut entry, format, shape, dialect, &mut changes);
        if is_marked || (dialect.tools.reads_mcp_headers && shape.needs_no_conversion(written)) {
            target::drop_mcp_headers(&mut entry, shape, dialect, &mut changes);
        }
        // Nothing can fail from here on: charge the tool to the budgets.
        let schema = added.as_ref().or_else(|| shape.schema(&entry)).filter(|_| !omits_schema);
        let target = target.and_then(|target| self.targets.get_mut(target));
        let used_budgets = target.map(|target| target.used_budgets.as_mut_slice()).unwrap_or_default();
        for (used, budget) in used_budgets.iter_mut().zip(dialect.tools.budgets) {
            *used += shared_limits::budget_cost(*budget, schema);
        }
        if let Some(schema) = schema.filter(|_| dialect.tools.one_grammar) {
            self.definitions.add(schema);
        }
        let plan = if encoded { plan } else { Plan::default() };
        let schemas =
            repair_schema.and_then(|repair_schema| Schemas::new(&repair_schema, schema.filter(|_| !plan.is_empty())));
        if encoded
            || new_name.is_some()
            || namespace.is_some()
            || server.is_some()
            || index.is_some()
            || schemas.is_some()
        {
            let entry = RestoreEntry::new(&original_name, namespace.as_ref().map(|(space, _)| space), plan);
            let entry = entry.of_server(server.as_ref()).at_index(index);
            self.restore_map.add(called.clone(), entry.with_schemas(schemas));
        }
        let edits = Edits { name: new_name, description, strict, removes_schema: omits_schema };
        let result = target::sent_output_schema(&entry, (format, shape), dialect).filter(|_| self.sends_results);
        shape.convert_entry(&mut entry, format, added, edits);
        if let Some((member, schema)) = result {
            entry.set(member, schema);
        }
        if self.detail == Detail::Whole {
            changes.iter_mut().for_each(|change| change.pointer.insert_str(0, &at));
        }
        self.accepted.insert(called);
        self.count += 1;
        let (tool, server) = (original_name.display().into_owned(), server.map(|server| server.display().into_owned()));
        Ok((entry, RewrittenTool { tool, server, dialect: dialect.id(), changes }))
    }

    fn rename_definitions(
        &mut self,
        (entry, shape): (&mut Node<'_>, ToolShape),
        written: ToolShape,
        dialect: &'static Dialect,
        changes: &mut Vec<Change>,
    ) -> Result<(), Refused> {
        let names = shape.schema(entry).map(|schema| self.definitions.new_names(schema)).unwrap_or_default();
        if names.is_empty() {
            return Ok(());
        }
        let (from, to) = (pointer(&shape.pointer_to_schema()), pointer(&written.pointer_to_schema()));
        let renamed = shape.edit_schema(entry, |schema| {
            let budget = Budget::new(schema.values_read(), None);
            shared_limits::rename_definitions(schema, &names, changes, &to, &budget)
        });
        renamed.unwrap_or(Ok(())).map_err(|error| refusal_of_error(&error, &from))?;
        for (old, new) in names {
            let message =
                format!("renamed the definition `{old}` to `{new}`: another tool has a definition with this name");
            let at = |above: &str, name: &str| {
                let mut pointer = format!("{above}/$defs");
                push_token(&mut pointer, name);
                pointer
            };
            let why = reason(dialect, Constraint::DefinitionConflict);
            let pointers = (at(&from, &old), Some(at(&to, &new)));
            changes.push(change_outside_arguments(Rule::RenameDefinition, pointers, Guidance::Same, why, message));
        }
        Ok(())
    }

    fn require_room(&self) -> Result<(), Refused> {
        let max_tools = self.max_tools;
        if self.count >= max_tools {
            let message = format!("expected at most {max_tools} tools in a request, found one more");
            return Err(refusal(Constraint::TooManyTools.id(), "", message));
        }
        Ok(())
    }

    fn target_of_member(&self, shape: ToolShape) -> Option<&Target> {
        let format = shape.format()?;
        self.targets_by_member.iter().find(|target| target.member_format == Some(format))
    }

    /// Rewrites the schema in the first dialect that can express it.
    fn rewrite_schema<'a>(
        &self,
        entry: &mut Node<'a>,
        shape: ToolShape,
        format: ToolFormat,
    ) -> Result<Written<'a>, Refused> {
        let is_strict = shape.strict(entry).and_then(Node::as_bool) == Some(true);
        let skipped = usize::from(self.by_flag && !is_strict && self.targets.len() > 1);
        let of_list = self.targets.iter().enumerate().map(|(number, target)| (Some(number), target));
        let mut targets: Vec<(Option<usize>, &Target)> = of_list.skip(skipped).collect();
        if let (Some(target), Some(first_target)) = (self.target_of_member(shape), targets.first_mut()) {
            *first_target = (None, target);
        }
        let original_schema = if targets.len() > 1 { shape.schema(entry).cloned() } else { None };
        let mut first_refusal: Option<(Refused, &'static str)> = None;
        for (number, target) in targets {
            if let (Some(_), Some(original_schema)) = (&first_refusal, &original_schema) {
                shape.edit_schema(entry, |schema| *schema = original_schema.clone());
            }
            match target.write(entry, (shape, number, format), (self.detail, self.answer.as_deref())) {
                Ok(mut written) => {
                    let is_kept = first_refusal.is_none()
                        && is_strict
                        && shape.format() == Some(format)
                        && original_schema
                            .as_ref()
                            .is_some_and(|original_schema| target::is_closed_by_api(original_schema, format, &written));
                    if let Some(original_schema) = original_schema.as_ref().filter(|_| is_kept) {
                        shape.edit_schema(entry, |schema| *schema = original_schema.clone());
                        written.changes.clear();
                        return Ok(written);
                    }
                    if let Some((cause, refusing)) = first_refusal {
                        let reason = format!("`{refusing}` cannot represent the tool: {}", cause.message);
                        let (rule, message) = match self.has_fallback {
                            false => (
                                Rule::NotStrict,
                                format!(
                                    "sent as `{}`, without strict mode: nothing enforces the schema",
                                    target.dialect.name
                                ),
                            ),
                            true => (
                                Rule::Fallback,
                                format!("replaced the dialect with its fallback `{}`", target.dialect.name),
                            ),
                        };
                        let at = (String::new(), Some(String::new()));
                        let accepts = match rule {
                            Rule::NotStrict if is_strict => Accepts::Wider,
                            _ => Accepts::Same,
                        };
                        let change = change_outside_arguments(rule, at, Guidance::Same, reason.into(), message);
                        written.changes.insert(0, Change { accepts, ..change });
                    }
                    return Ok(written);
                }
                Err(refused) => {
                    let is_kept = first_refusal.is_none() && is_strict && shape.format() == Some(format);
                    if let Some(original_schema) = original_schema
                        .as_ref()
                        .filter(|original_schema| is_kept && target.api_closes_objects(original_schema, format))
                    {
                        shape.edit_schema(entry, |schema| *schema = original_schema.clone());
                        return Ok(Written::unchanged(number, target.dialect));
                    }
                    first_refusal = first_refusal.or(Some((refused, target.dialect.name)));
                }
            }
        }
        let unknown = || refusal("unknown-dialect", "", "expected a dialect, found none".into());
        Err(first_refusal.map_or_else(unknown, |(refused, _)| refused))
    }
}

/// The tools that share their original name with another tool of the list, by their names in the list.
#[derive(Debug, Default)]
pub(crate) struct SameNames {
    owners: Map<Text<'static>, Owner>,
}

#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) name: Text<'static>,
    /// Index of the tool in the list. Each of Gemini's functions is treated as an entry.
    pub(crate) index: usize,
}

impl SameNames {
    pub(crate) fn owner(&self, called: &Text<'_>) -> Option<&Owner> {
        self.owners.get(&called.borrowed().into_owned())
    }
}

/// Renames tools that share a name but not a definition. Tools with identical definitions share the new name. Tools in
/// namespaces are not renamed.
fn rename_same_names(list: &mut Node<'_>, name_pattern: NamePattern) -> SameNames {
    let list_member = group_of(list).or_else(|| list.get("tools").map(|_| "tools"));
    match list_member {
        Some(key) => list.visit(key, |tools| rename_in_list(tools, name_pattern)).unwrap_or_default(),
        None => rename_in_list(list, name_pattern),
    }
}

fn group_of(entry: &Node<'_>) -> Option<&'static str> {
    GROUPS.into_iter().find(|key| entry.get(key).is_some_and(|list| list.as_array().is_some()))
}

/// Each function of a Gemini entry is treated as a tool.
fn tools_of<'n, 'a>(entries: &'n [Node<'a>]) -> impl Iterator<Item = &'n Node<'a>> {
    entries.iter().flat_map(|entry| {
        let group = group_of(entry).and_then(|key| entry.get(key)?.as_array());
        group.unwrap_or(core::slice::from_ref(entry))
    })
}

fn rename_in_list(list: &mut Node<'_>, name_pattern: NamePattern) -> SameNames {
    let Some(entries) = list.as_array() else { return SameNames::default() };
    let mut taken = Taken::default();
    let mut definitions: Map<Text<'static>, Map<String, Vec<usize>>> = Map::new();
    for (index, entry) in tools_of(entries).enumerate() {
        let Some(name) = client_name(entry) else { continue };
        taken.take(&name);
        definitions.entry(name).or_default().entry(definition_text(entry)).or_default().push(index);
    }
    let (mut owners, mut names) = (Map::new(), Map::new());
    for (name, by_definition) in definitions.iter().filter(|(_, by_definition)| by_definition.iter().nth(1).is_some()) {
        for (definition, indices) in by_definition.iter() {
            let folded_name = folded(name_pattern, name);
            let tail = digest(&[name, &Text::new(definition.as_str())]);
            let called = alloc::format!("{}_{tail}", cut(&folded_name, name_pattern.max_length.saturating_sub(TAIL)));
            let called = Text::new(taken.reserve_unused(called, name_pattern.max_length));
            indices.iter().for_each(|index| drop(names.insert(*index, called.clone())));
            if let Some(index) = indices.first() {
                owners.insert(called, Owner { name: name.clone(), index: *index });
            }
        }
    }
    let mut index = 0;
    let mut rename = |entry: &mut Node<'_>| {
        if let Some(called) = names.get(&index) {
            match tool_format::recognize(entry) {
                Entry::Tool(shape) => shape.rename(entry, called.clone()),
                Entry::Hosted => request::tool::rename_custom(entry, called.clone()),
                Entry::Unknown => {}
            }
        }
        index += 1;
    };
    visit_entries(list, &mut |entry| match group_of(entry) {
        Some(key) => drop(entry.visit(key, |group| visit_entries(group, &mut rename))),
        None => rename(entry),
    });
    SameNames { owners }
}

fn visit_entries(list: &mut Node<'_>, change: &mut dyn FnMut(&mut Node<'_>)) {
    // The visitor never fails.
    let _ = list.visit_children::<core::convert::Infallible>(|_, entry| {
        change(entry);
        Ok(())
    });
}

/// A cache breakpoint is not part of the definition.
fn definition_text(entry: &Node<'_>) -> String {
    if entry.get(CACHE).is_none() {
        return json::write(entry);
    }
    let mut entry = entry.clone();
    entry.remove(CACHE);
    json::write(&entry)
}

fn client_name(entry: &Node<'_>) -> Option<Text<'static>> {
    let name = match tool_format::recognize(entry) {
        Entry::Tool(shape) => shape.name(entry)?,
        Entry::Hosted if request::tool::is_custom(entry) => request::tool::name(entry)?,
        Entry::Hosted | Entry::Unknown => return None,
    };
    Some(name.clone().into_owned())
}
