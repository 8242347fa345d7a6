//! `check_tools`: reports what the APIs of some dialects would refuse in an unchanged tool list. `check_request`:
//! reports what an API refuses about a request as a whole.
//!
//! Reads only the tables and shares no rewriting code with `sanitize_tools`. So each function can reveal errors of the
//! other function.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    formats::{self, has_tools, FormatViolation},
    history::{calls, names::rename_history, pairs},
    mcp_headers::{self, InvalidAnnotation},
    request_facts::{self, choice_of, Namespaces, RequestChange},
    request_rules,
    servers::{self, mentions, Owner, Servers},
    shared_limits::{self, Backends, Definitions},
    target,
};
use crate::{
    check::{
        self as rules,
        findings::{finding, FindingLimit, Findings},
    },
    collections::Set,
    dialect::{
        self,
        backends::RequestFacts,
        requests::{Refusal, RequestFact, CUSTOM_TOOLS, HISTORY_ARGUMENTS, HISTORY_NAME, NAMESPACES, RESULT_NAME},
        surface::{NoArguments, Surface},
        Dialect, DialectId, Fact,
    },
    error::Error,
    json::{lazy::view, push_token, Node, Text},
    names,
    naming::Naming,
    options::{AdaptOptions, Api, CheckRequestOptions, Prefix, SanitizeOptions, ToolFormat, Use},
    report::{Grade, Severity},
    request::{
        self,
        betas::Header,
        carriers,
        origins::Origins,
        tool::{self, Kind},
        tool_format::{self, Entry, ToolShape},
        tool_list::{Entries, EntryRef},
    },
    rules::Constraint,
    wire,
    wire::choice::{Choice, ToolRef},
};

/// A part of a tool list that the API of a dialect would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolViolation {
    /// The tool's name on its server; `None` if the tool has no name.
    pub tool: Option<String>,
    /// The tool's server, if the list has several servers.
    pub server: Option<String>,
    /// Dialect whose API refuses it.
    pub dialect: DialectId,
    /// The constraint of the API.
    pub constraint: Constraint,
    /// The API's reaction.
    pub severity: Severity,
    /// JSON Pointer into the list.
    pub pointer: String,
    /// Human-readable: what was expected, then what was found.
    pub message: String,
    /// Confidence in the fact: `A`, `B` or `C`, as in [`Fact`](crate::reports::Fact).
    pub confidence: Grade,
    /// The source of the fact behind the rule.
    pub source: &'static str,
    /// Number of further violations of the constraint at this location that are not listed; see
    /// [`Violation`](crate::reports::Violation).
    pub more: usize,
    pub(crate) fact: Option<&'static Fact>,
}

impl ToolViolation {
    /// Returns true if a client refuses all tools of the tool's server because of this violation.
    pub(crate) fn drops_server(&self) -> bool {
        self.fact.is_some_and(|fact| fact.drops_server)
    }
}

finding!(ToolViolation, tool, server);

/// The constraints that hold for every API.
const GENERAL_CONSTRAINTS: [Constraint; 4] =
    [Constraint::NotATool, Constraint::NamelessTool, Constraint::DuplicateName, Constraint::DescriptionNotString];

/// The confidence and source of findings that hold for every API.
const SOURCE_OF_GENERAL: (Grade, &str) = (Grade::A, "every API: a tool is an object with a unique name");

/// The confidence and source of a finding that no fact of the dialect covers.
const UNKNOWN_SOURCE: (Grade, &str) = (Grade::C, "how this API reacts is not known");

/// The member of an MCP tool that describes its results.
const OUTPUT_SCHEMA: &str = "outputSchema";

/// The form in which a list is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The tools are sent unchanged. The rules depend on the flag `strict`, present or missing, and on the member that
    /// contains a schema.
    AsSent,
    /// The tools are converted to the format of the dialect, with its wrapper and its flag `strict`.
    OfDialect,
}

struct Checking<'s> {
    dialect: &'static Dialect,
    form: Form,
    limit: FindingLimit,
    naming: Naming,
    findings: Findings<ToolViolation>,
    /// The servers, if the list has several. Their tools have the names under which they would be sent.
    servers: Option<&'s Servers>,
    /// The server of the current tool, if the list has several servers.
    server: Option<String>,
}

/// Returns the violations, dialect by dialect, with tools in the order of the list, and for each dialect as many as the
/// limit allows.
///
/// # Errors
/// `invalid-request` if the input is not a list of tools, `too-deep`.
pub(crate) fn list(
    tools: Node<'_>,
    dialects: &[&'static Dialect],
    limit: FindingLimit,
    naming: Naming,
) -> Result<Vec<ToolViolation>, Error> {
    check_in_form(tools, dialects, (Form::AsSent, limit, naming))
}

/// Like [`list`], but for tools that will be sent in the format of the dialect: a list has the same violations in the
/// format of every API.
///
/// # Errors
/// As [`list`].
pub(crate) fn in_format_of(
    tools: Node<'_>,
    dialect: &'static Dialect,
    limit: FindingLimit,
    naming: Naming,
) -> Result<Vec<ToolViolation>, Error> {
    check_in_form(tools, &[dialect], (Form::OfDialect, limit, naming))
}

fn check_in_form(
    tools: Node<'_>,
    dialects: &[&'static Dialect],
    (form, limit, naming): (Form, FindingLimit, Naming),
) -> Result<Vec<ToolViolation>, Error> {
    let mut violations = Vec::new();
    if servers::is_list(&tools) {
        let mut tools = tools;
        for (number, dialect) in dialects.iter().enumerate() {
            // The last dialect needs no copy.
            let is_last = number + 1 == dialects.len();
            let list = if is_last { core::mem::take(&mut tools) } else { tools.clone() };
            let (tools, servers) = servers::flatten(list, Prefix::Auto, dialect.tools.names)?;
            let (entries, servers) = (Entries::read(tools)?, servers.as_ref());
            let findings = Findings::new(limit);
            let mut checking = Checking { dialect, form, limit, naming, findings, servers, server: None };
            checking.check_list(&entries)?;
            violations.append(&mut checking.findings.finish());
        }
        return Ok(violations);
    }
    let entries = Entries::read(tools)?;
    for dialect in dialects {
        let findings = Findings::new(limit);
        let mut checking = Checking { dialect, form, limit, naming, findings, servers: None, server: None };
        checking.check_list(&entries)?;
        violations.append(&mut checking.findings.finish());
    }
    Ok(violations)
}

impl Checking<'_> {
    fn options(&self) -> SanitizeOptions {
        SanitizeOptions { naming: self.naming, ..SanitizeOptions::new(self.dialect.id()) }
    }

    fn add_violation(&mut self, tool: Option<&str>, constraint: Constraint, pointer: String, message: String) {
        self.add_counted_violation(tool, constraint, (pointer, message, 0));
    }

    fn add_counted_violation(
        &mut self,
        tool: Option<&str>,
        constraint: Constraint,
        (pointer, message, more): (String, String, usize),
    ) {
        let general = GENERAL_CONSTRAINTS.contains(&constraint);
        let fact = self.dialect.fact_of(constraint, &pointer);
        let (confidence, source) = match fact {
            Some(fact) => (fact.confidence, fact.source),
            None if general => SOURCE_OF_GENERAL,
            None => UNKNOWN_SOURCE,
        };
        // A wrong or missing `strict` is treated as ignored unless a fact shows that the API refuses it.
        let is_flag = constraint == Constraint::StrictFlag;
        let severity = match fact {
            None if is_flag => Severity::Ignored,
            _ => self.dialect.severity_of(constraint, &pointer),
        };
        let dialect = self.dialect.id();
        let original_name = tool.and_then(|tool| Some(self.owner(&Text::new(tool))?.name.display().into_owned()));
        let violation = ToolViolation {
            tool: original_name.or_else(|| tool.map(String::from)),
            server: self.server.clone(),
            dialect,
            constraint,
            severity,
            pointer,
            message,
            confidence,
            source,
            fact,
            more,
        };
        // Tools are checked in the order of the list.
        self.findings.add(0, violation);
    }

    fn owner(&self, called: &Text<'_>) -> Option<Owner<'_>> {
        self.servers?.owner(called)
    }

    fn check_list(&mut self, entries: &Entries<'_>) -> Result<(), Error> {
        let Surface { max_tools, budgets, .. } = self.dialect.tools;
        let mut used_names: Set<Cow<'_, str>> = Set::new();
        let mut used: Vec<usize> = budgets.iter().map(|_| 0).collect();
        let (mut definitions, mut backends) = (Definitions::default(), Backends::default());
        let has_rules = self.dialect.tools.names.rules.is_some();
        let names =
            entries.iter().filter(|_| has_rules).filter_map(|listed| match tool_format::recognize(listed.entry) {
                Entry::Tool(shape) => shape.name(listed.entry),
                Entry::Hosted | Entry::Unknown => None,
            });
        let sharing_rules = names::sharing_rules(self.dialect.tools.names, names);
        let mut count = 0;
        for (listed, server) in Servers::located(self.servers, entries) {
            let entry = listed.entry;
            self.server = server.map(|server| server.display().into_owned());
            let is_counted = tool::kind(entry) != Kind::HostedSearch;
            if is_counted && max_tools == Some(count) {
                let message = format!("expected at most {count} tools in a request, found one more");
                self.add_violation(None, Constraint::TooManyTools, listed.pointer(), message);
            }
            count += usize::from(is_counted);
            let shape = match tool_format::recognize(entry) {
                Entry::Hosted => {
                    self.check_custom_tool(listed, &mut used_names);
                    continue;
                }
                Entry::Tool(shape) => shape,
                Entry::Unknown => {
                    let message = format!("expected a tool with a name or a schema, found {}", entry.kind());
                    self.add_violation(None, Constraint::NotATool, listed.pointer(), message);
                    continue;
                }
            };
            let name = shape.name(entry).map(|name| name.display());
            let other_dialect = self.other_dialect(shape, entry)?;
            match other_dialect {
                Some(dialect) => {
                    let findings = Findings::new(self.limit);
                    let mut checking = Checking { dialect, findings, server: self.server.clone(), ..*self };
                    checking.check_tool(listed, shape, name.as_deref())?;
                    let dialect = self.dialect.id();
                    for violation in checking.findings.finish() {
                        self.findings.add(0, ToolViolation { dialect, ..violation });
                    }
                }
                None => self.check_tool(listed, shape, name.as_deref())?,
            }
            if shape.name(entry).is_some_and(|name| sharing_rules.contains(name)) {
                let message = "expected names that differ in letters, digits or `-`, found two that do not".into();
                self.add_violation(
                    name.as_deref(),
                    Constraint::ToolName,
                    pointer_in(listed, &shape.pointer_to("name")),
                    message,
                );
            }
            if let Some(name) = &name {
                if !used_names.insert(name.clone()) {
                    let message = format!("expected unique tool names, found a second `{name}`");
                    self.add_violation(
                        Some(name),
                        Constraint::DuplicateName,
                        pointer_in(listed, &shape.pointer_to("name")),
                        message,
                    );
                }
            }
            if let Some(schema) = shape.schema(entry).filter(|_| self.dialect.tools.one_grammar) {
                for conflict in definitions.conflicts(schema) {
                    let mut pointer = pointer_in(listed, &shape.pointer_to_schema());
                    pointer.push_str("/$defs");
                    push_token(&mut pointer, &conflict);
                    let message = format!(
                        "expected definitions with the same name to be identical in all tools of a request, found a \
                            different `{conflict}`"
                    );
                    self.add_violation(name.as_deref(), Constraint::DefinitionConflict, pointer, message);
                }
                definitions.add(schema);
                if backends.add(schema, self.dialect)? {
                    self.add_violation(
                        name.as_deref(),
                        Constraint::MixedBackends,
                        pointer_in(listed, &shape.pointer_to_schema()),
                        shared_limits::backends_message(),
                    );
                }
            }
            if other_dialect.is_some() {
                continue;
            }
            for budget in self.dialect.tools.tool_budgets {
                let (limit, what, cost) =
                    (budget.limit, budget.counts.words(), shared_limits::budget_cost(*budget, shape.schema(entry)));
                if cost > limit {
                    let message = format!("expected at most {limit} {what} in one tool, found {cost}");
                    self.add_violation(name.as_deref(), Constraint::TooComplex, listed.pointer(), message);
                }
            }
            for (sum, budget) in used.iter_mut().zip(budgets) {
                let before = *sum;
                let cost = shared_limits::budget_cost(*budget, shape.schema(entry));
                *sum += cost;
                if before <= budget.limit && *sum > budget.limit {
                    let message = shared_limits::budget_exceeded(*budget, before, cost);
                    self.add_violation(name.as_deref(), budget.counts.constraint(), listed.pointer(), message);
                }
            }
        }
        Ok(())
    }

    /// Checks the name of an OpenAI `custom` tool. The API itself defines all other entries without a schema.
    fn check_custom_tool<'n>(&mut self, listed: EntryRef<'n, '_>, used_names: &mut Set<Cow<'n, str>>) {
        let entry = listed.entry;
        let Some(name) = tool::name(entry).filter(|_| tool::is_custom(entry)) else { return };
        let pointer = pointer_in(listed, tool::path_of_custom_name(entry));
        let (name_pattern, called) = (self.dialect.tools.names, name.display());
        if !names::is_legal(name_pattern, name) {
            let message = format!("expected a name of {name_pattern}, found `{called}`");
            self.add_violation(Some(&*called), Constraint::ToolName, pointer.clone(), message);
        }
        if !used_names.insert(called.clone()) {
            let message = format!("expected unique tool names, found a second `{called}`");
            self.add_violation(Some(&*called), Constraint::DuplicateName, pointer, message);
        }
    }

    fn check_tool(&mut self, listed: EntryRef<'_, '_>, shape: ToolShape, name: Option<&str>) -> Result<(), Error> {
        let (entry, surface) = (listed.entry, self.dialect.tools);
        match shape.name(entry) {
            None => {
                let found = shape.part(entry, "name").map_or("none", |name| {
                    if name.as_text().is_some() {
                        "an empty string"
                    } else {
                        name.kind()
                    }
                });
                self.add_violation(
                    None,
                    Constraint::NamelessTool,
                    pointer_in(listed, &[]),
                    format!("expected the name to be a string, found {found}"),
                );
            }
            Some(text) => {
                // A client does not merge servers, so it reads the original names.
                let owner = self.owner(text).filter(|_| surface.is_client);
                let original_name = owner.map_or(text, |owner| owner.name);
                let server = owner.map(|owner| owner.server);
                if let Some((rule, message)) = name_violation(&surface, original_name, server) {
                    self.add_violation(name, rule, pointer_in(listed, &shape.pointer_to("name")), message);
                }
            }
        }
        self.check_description(listed, shape, name);
        let format = match self.form {
            Form::AsSent => shape.format_at(surface.format),
            // The dialect supplies a missing flag.
            Form::OfDialect => shape.strict(entry).map(|_| surface.format),
        };
        if let Some(format) = format {
            let (expected_flag, flag) =
                (tool_format::strict_in(self.dialect, format), shape.strict(entry).and_then(Node::as_bool));
            // If the flag is not sent to this API, only `true` is wrong: `false` means the same as no flag.
            if expected_flag.map_or(flag == Some(true), |expected_flag| flag != Some(expected_flag)) {
                let message = format!(
                    "expected `strict` to be {}, found {}",
                    flag_text(expected_flag),
                    flag.map_or("none", |flag| flag_text(Some(flag)))
                );
                let path = if shape.strict(entry).is_some() { shape.pointer_to("strict") } else { Vec::new() };
                self.add_violation(name, Constraint::StrictFlag, pointer_in(listed, &path), message);
            }
        }
        self.check_output_schema(listed, shape, name)?;
        let Some(schema) = shape.schema(entry) else {
            // A tool without the flag is written in another format, with a schema.
            let is_strict = shape.strict(entry).and_then(Node::as_bool) == Some(true);
            if surface.output.is_some() || (is_strict && surface.no_arguments == NoArguments::Required) {
                let without_schema = false;
                let path = tool_format::shape_in(surface.format, without_schema).pointer_to_schema();
                let member = path.last().copied().unwrap_or_default();
                let message = format!("expected `{member}`, found a tool without it");
                self.add_violation(name, Constraint::RootObject, pointer_in(listed, &[]), message);
            }
            return Ok(());
        };
        let schema_pointer = pointer_in(listed, &shape.pointer_to_schema());
        if surface.no_arguments == NoArguments::Omitted && target::accepts_no_arguments(schema).is_some() {
            let message = "expected no schema for a tool without arguments, found one".into();
            self.add_violation(name, Constraint::NoArguments, schema_pointer, message);
            return Ok(());
        }
        let is_closed_by_api = self.form == Form::AsSent
            && shape.strict(entry).and_then(Node::as_bool) == Some(true)
            && shape.format().is_some_and(|format| surface.closes_in.contains(&format))
            && !target::is_open(schema);
        let headers = surface.reads_mcp_headers.then(|| mcp_headers::find_invalid(schema));
        for InvalidAnnotation { pointer, message, .. } in headers.into_iter().flatten() {
            self.add_violation(name, Constraint::McpHeader, format!("{schema_pointer}{pointer}"), message);
        }
        for violation in rules::check(schema, &self.options(), self.limit)? {
            if is_closed_by_api && violation.constraint == Constraint::ObjectNotClosed {
                continue;
            }
            let pointer = format!("{schema_pointer}{}", violation.pointer);
            self.add_counted_violation(name, violation.constraint, (pointer, violation.message, violation.more));
        }
        Ok(())
    }

    /// Returns the dialect of a tool, if it is not the list's dialect. The member that contains the schema may have its
    /// dialect, and a strict dialect may have another dialect for other tools.
    fn other_dialect(&self, shape: ToolShape, entry: &Node<'_>) -> Result<Option<&'static Dialect>, Error> {
        let surface = self.dialect.tools;
        let carrier = surface.carriers.iter().find(|(format, _)| shape.format() == Some(*format));
        let other = match (carrier.filter(|_| self.form == Form::AsSent), surface.not_strict) {
            (Some((_, other)), _) => Some(*other),
            (None, Some(plain)) if self.is_not_strict(shape, entry) => Some(plain),
            _ => None,
        };
        other.map(dialect::named).transpose()
    }

    fn is_not_strict(&self, shape: ToolShape, entry: &Node<'_>) -> bool {
        let flag = shape.strict(entry).and_then(Node::as_bool);
        match (self.form, shape.format()) {
            (Form::OfDialect, _) => {
                flag == Some(false) && tool_format::strict_in(self.dialect, self.dialect.tools.format) == Some(true)
            }
            // Without the flag a tool is not strict, except on Responses, where the default is true.
            (Form::AsSent, Some(format)) if tool_format::strict_in(self.dialect, format) == Some(true) => {
                flag == Some(false) || (flag.is_none() && format != ToolFormat::OpenaiResponses)
            }
            (Form::AsSent, _) => false,
        }
    }

    fn check_output_schema(
        &mut self,
        listed: EntryRef<'_, '_>,
        shape: ToolShape,
        name: Option<&str>,
    ) -> Result<(), Error> {
        let output = (self.dialect.tools.output, listed.entry.get(OUTPUT_SCHEMA));
        let (Some(output_dialect), Some(schema)) = output else { return Ok(()) };
        let schema_pointer = pointer_in(listed, &shape.pointer_to(OUTPUT_SCHEMA));
        let tool_dialect = core::mem::replace(&mut self.dialect, output_dialect);
        let violations = rules::check(schema, &self.options().used_as(Use::Output), self.limit);
        for violation in violations.iter().flatten() {
            let (pointer, message) = (format!("{schema_pointer}{}", violation.pointer), violation.message.clone());
            self.add_counted_violation(name, violation.constraint, (pointer, message, violation.more));
        }
        self.dialect = tool_dialect;
        violations.map(|_| ())
    }

    fn check_description(&mut self, listed: EntryRef<'_, '_>, shape: ToolShape, name: Option<&str>) {
        let surface = self.dialect.tools;
        let Some(description) = shape.part(listed.entry, "description") else { return };
        let (rule, message) = match description.as_text() {
            None if description.is_null() && !surface.no_null_description => return,
            None => (
                Constraint::DescriptionNotString,
                format!("expected the description to be a string, found {}", description.kind()),
            ),
            Some(text) if text.is_blank() && surface.no_empty_description => {
                (Constraint::EmptyDescription, "expected no description or a non-empty one, found an empty one".into())
            }
            Some(text) => {
                let length = text.code_points().count();
                match surface.max_description {
                    Some(limit) if length > limit => (
                        Constraint::DescriptionLength,
                        format!("expected a description of at most {limit} characters, found {length}"),
                    ),
                    _ => return,
                }
            }
        };
        self.add_violation(name, rule, pointer_in(listed, &shape.pointer_to("description")), message);
    }
}

/// Returns the rule that a name violates. A client may put the server's name before the tool's name.
fn name_violation(surface: &Surface, name: &Text<'_>, server: Option<&Text<'_>>) -> Option<(Constraint, String)> {
    if !names::is_legal(surface.names, name) {
        let (name_pattern, found) = (surface.names, name.display());
        return Some((Constraint::ToolName, format!("expected a name of {name_pattern}, found `{found}`")));
    }
    let max_length = surface.names_for_server(server.map(|server| server.code_points().count())).max_length;
    let length = name.code_points().count();
    let server = server.filter(|_| length > max_length)?.display();
    let message = format!(
        "expected a name of at most {max_length} characters for a tool of the server `{server}`, found {length}"
    );
    Some((Constraint::QualifiedName, message))
}

fn flag_text(flag: Option<bool>) -> &'static str {
    match flag {
        Some(true) => "true",
        Some(false) => "false",
        None => "left out",
    }
}

fn pointer_in(listed: EntryRef<'_, '_>, path: &[&str]) -> String {
    let mut out = listed.pointer();
    path.iter().for_each(|token| push_token(&mut out, token));
    out
}

/// A violation of an API's rule about a request as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestViolation {
    /// Rule of the fact that the request violates.
    pub constraint: &'static str,
    /// The API's reaction to the request.
    pub severity: Severity,
    /// JSON Pointer into the request.
    pub pointer: String,
    /// Human-readable: what was expected. Contains no values of the request.
    pub message: String,
    /// The fact that the request violates.
    pub fact: &'static RequestFact,
    /// Number of further violations of the constraint at this location that are not listed; see
    /// [`Violation`](crate::reports::Violation).
    pub more: usize,
}

finding!(RequestViolation);

/// Returns the parts of a request that an API refuses, as many as the limit allows.
///
/// # Errors
/// `invalid-request`, `invalid-json`.
pub(crate) fn request(
    mut request: Node<'_>,
    options: &CheckRequestOptions,
    limit: FindingLimit,
) -> Result<Vec<RequestViolation>, Error> {
    let dialect = dialect::named(options.dialect.as_str())?;
    let model = request::model(&request, options.model.as_deref())?;
    let name_pattern = dialect.tools.names_for(&model);
    // The tools of several servers are checked as they would be sent.
    let servers = servers::flatten_request(&mut request, (Prefix::Auto, name_pattern), None)?;
    let api = request::format::of_request(&request, &AdaptOptions::new(dialect.id()))?;
    mentions::resolve_tool_names(&mut request, api, servers.as_ref(), None)?;
    let mut origins = Origins::default();
    if let Some(servers) = &servers {
        origins.add_moved(servers.pointer_pairs(wire::of(api).tools().pointer()));
    }
    let mut findings = Findings::new(limit);
    let facts = RequestFacts::of(dialect, options.host.as_deref(), (api, &model));
    let formats = formats::format_violations(&mut request, api, (dialect, &facts, &model), (limit, options.naming))?;
    let mut add_with = |fact: &'static RequestFact, severity, flat_pointer: &str, message: String, more| {
        let constraint = fact.rule();
        let mut pointer = String::from(flat_pointer);
        origins.to_given(&mut pointer);
        findings.add(0, RequestViolation { constraint, severity, pointer, message, fact, more });
    };
    for FormatViolation { fact, severity, pointer, message, more } in formats {
        add_with(fact, severity, &pointer, message, more);
    }
    let mut add =
        |fact: &'static RequestFact, pointer: &str, message| add_with(fact, fact.severity, pointer, message, 0);
    let broken = request_facts::broken_by_choice(&request, api, (&facts, &model))?;
    if let Some((pointer, fact)) = broken {
        add(fact, pointer, format!("expected a different choice of tools, or none: {}", fact.statement));
    }
    let choice = choice_of(&request, api)?.and_then(|(_, choice)| choice);
    for fact in facts.iter() {
        let prefill;
        let (pointer, is_broken) = match fact.refuses {
            Refusal::ChoiceOfAbsentTool if broken.is_none() => {
                ("/tool_choice", names_absent_tool(&request, api, choice.as_ref())?)
            }
            Refusal::ChoiceByModel { models, is_any } => {
                let is_refused = choice.as_ref().is_some_and(|choice| is_any || choice.is_demand());
                ("/tool_choice", is_refused && models.include(&model))
            }
            Refusal::ModelWithoutTools { models, accepts_hosted } => {
                ("/tools", models.include(&model) && has_tools(&request, accepts_hosted)?)
            }
            Refusal::Prefill(models) => {
                let is_refused = models.include(&model) && formats::begins_answer(&request, api)?;
                prefill = format!("/{}/{}", wire::of(api).history(), wire::of(api).count(&request).saturating_sub(1));
                (prefill.as_str(), is_refused)
            }
            _ => match formats::broken_combination(&request, api, fact, &model)? {
                Some(pointer) => (pointer, true),
                None => continue,
            },
        };
        if is_broken {
            add(fact, pointer, format!("expected a different value: {}", fact.statement));
        }
    }
    let rules = request_rules::of(&facts, (api, &model));
    for violation in
        request_rules::find_violations(&request, api, &rules, options.betas.as_deref().map(Header::of).as_ref())?
    {
        add(violation.fact, &violation.pointer, violation.message());
    }
    let has_namespaces = wire::of(api).tools().has_namespaces();
    let accepts_custom = dialect.tools.has_custom_tools || !has_namespaces;
    for (pointer, fact) in refused_entries(&request, api, (dialect, &model), accepts_custom)? {
        let expected = match fact.refuses {
            Refusal::NoParameters(_) => "expected `parameters`, found a function without them",
            _ => "expected a tool type that the API supports, found another",
        };
        let message = format!("{expected}: {}", fact.statement);
        add(fact, &pointer, message);
    }
    if !accepts_custom {
        for RequestChange { pointer, .. } in request_facts::report_custom_tools(&request, api)? {
            add(&CUSTOM_TOOLS, &pointer, "expected a function, found a `custom` tool".into());
        }
    }
    if !dialect.tools.has_namespaces && has_namespaces {
        for at in Namespaces::of(&request, api)?.indices() {
            add(&NAMESPACES, &format!("/tools/{at}"), "expected a tool, found a namespace of tools".into());
        }
    }
    let legal_name = |name: &Text<'_>| (!names::is_legal(name_pattern, name)).then(|| String::from("legal"));
    for at in rename_history(&mut request, api, &legal_name, &|_| true)? {
        let pointer = format!("/{}/{at}", wire::of(api).history());
        add(
            &HISTORY_NAME,
            &pointer,
            format!("expected calls to tools with names of {name_pattern}, found another name"),
        );
    }
    for pointer in calls::name_results(&mut request, api)? {
        add(&RESULT_NAME, &pointer, "expected a result with the name of its function, found none".into());
    }
    for RequestChange { pointer, .. } in calls::repair_arguments(&mut request, api)? {
        add(&HISTORY_ARGUMENTS, &pointer, "expected arguments that are a JSON object, found something else".into());
    }
    if let Some(fact) = facts.history_pairs(api) {
        for (pointer, message) in pairs::find_broken(&mut request, api, fact)? {
            add(fact, &pointer, message.into());
        }
    }
    Ok(findings.finish())
}

fn names_absent_tool(request: &Node<'_>, api: Api, choice: Option<&Choice<'_>>) -> Result<bool, Error> {
    let Some(Choice::Tool(ToolRef::Tool { namespace: None, name })) = choice else { return Ok(false) };
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    let list = tools.as_array().unwrap_or_default();
    let may_be_tool = |entry: &Node<'_>| {
        request::tool::name(entry).is_none_or(|tool_name| tool_name == name)
            || request::tool::has_type(entry, "namespace")
    };
    Ok(!list.is_empty() && !list.iter().any(may_be_tool) && !carriers::any(request, api)?)
}

/// Returns the pointers to the types of hosted tools that the API is known to refuse, each with its fact. Includes
/// `custom` tools only if `with_custom` is true.
fn refused_entries(
    request: &Node<'_>,
    api: Api,
    (dialect, model): (&Dialect, &str),
    with_custom: bool,
) -> Result<Vec<(String, &'static RequestFact)>, Error> {
    let mut found = Vec::new();
    let needs_parameters = dialect.needs_parameters(model);
    let mut judge = |entry: &Node<'_>, pointer: &dyn Fn() -> String| {
        let is_custom = request::tool::has_type(entry, "custom");
        let kind = tool_format::recognize(entry);
        if let (Entry::Tool(shape), Some(fact)) = (kind, needs_parameters.filter(|_| !is_custom)) {
            found.extend(shape.schema(entry).is_none().then(|| (pointer(), fact)));
        }
        if (is_custom && !with_custom) || kind != Entry::Hosted {
            return;
        }
        let fact = request::tool::type_of(entry).and_then(|kind| dialect.refuses_type(kind, api));
        found.extend(fact.map(|fact| (pointer() + "/type", fact)));
    };
    let mut judge_entry = |entry: &Node<'_>, pointer: &dyn Fn() -> String| {
        // Namespaces have their own rule.
        if !request::tool::has_type(entry, "namespace") {
            return judge(entry, pointer);
        }
        for (at, member) in entry.items_at("tools").iter().enumerate() {
            judge(member, &|| format!("{}/tools/{at}", pointer()));
        }
    };
    if let Some(tools) = request.get("tools") {
        for (at, entry) in view(tools)?.as_array().unwrap_or_default().iter().enumerate() {
            judge_entry(entry, &|| format!("/tools/{at}"));
        }
    }
    carriers::each_at(request, api, None, |location, list| {
        for (at, entry) in list.iter().enumerate() {
            judge_entry(entry, &|| location.pointer(api, at));
        }
    })?;
    Ok(found)
}
