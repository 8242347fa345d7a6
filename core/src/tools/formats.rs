//! Rewrites the response formats of a request: sanitizes the schema of each format with `use: "response"`. Checks the
//! formats against the rules of an API, and finds parts of a request that an API does not accept together.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::target::{change_outside_arguments, targets};
use crate::{
    check::{self, findings::FindingLimit, Violation},
    dialect::{
        self,
        backends::RequestFacts,
        formats::{FormatLocation, SchemaText, SCHEMA},
        requests::{FormatRule, Refusal, RequestFact},
        responses::{self, InRequest},
        surface::{NamePattern, StrictFlag},
        Dialect, DialectId,
    },
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, lazy::view, Data, Flags, Node},
    names,
    naming::Naming,
    options::{Allow, Api, SanitizeOptions, ToolsOptions, Use},
    reply::answer::text::Answer,
    report::{Change, Detail, Reason, Severity},
    request::{
        formats::{self, json_mode, pointers, FoundFormat},
        tool::has_type,
        tool_format::{self, Entry},
    },
    rules::Rule,
    sanitize::{self, decode::Plan},
    wire::turns::{Blocks, Prefill},
    wire::{self, GROUPS},
};

/// A change to a response format. Its pointers are relative to the original and the rewritten request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatChange {
    /// Dialect in which the format is written.
    pub dialect: DialectId,
    /// The change, with its reason and its effect.
    pub change: Change,
}

pub(crate) struct OriginalFormats {
    formats: Vec<FormatSource>,
    /// Index of the format that is translated for another API; see [`formats::take_format`].
    translated: Option<usize>,
    api: Api,
}

#[derive(Clone)]
struct FormatSource {
    /// JSON Pointer to the object that holds the schema.
    holder: String,
    /// JSON Pointer to the schema.
    schema: String,
    /// True if the schema is text. Pointers then end at the text.
    is_text: bool,
    is_enforced: bool,
}

impl FormatSource {
    fn of(location: &FormatLocation, pointer: &str, holder: &Node<'_>) -> Self {
        let is_text = holder.get(location.schema).is_some_and(|schema| schema.as_text().is_some());
        let schema = format!("{pointer}/{}", location.schema);
        FormatSource { holder: String::from(pointer), schema, is_text, is_enforced: location.is_enforced }
    }
}

impl OriginalFormats {
    pub(crate) fn of(request: &mut Node<'_>, api: Api) -> Result<Self, Error> {
        let (mut sources, mut translated) = (Vec::new(), None);
        formats::visit(request, api, &mut |FoundFormat { location, pointer, holder }| {
            let source = holder.map(|holder| FormatSource::of(location, pointer, holder));
            if location.item.is_some() || translated.is_none() {
                translated = source.as_ref().map(|_| sources.len());
            }
            sources.extend(source);
            Ok(())
        })?;
        Ok(OriginalFormats { formats: sources, translated, api })
    }

    pub(crate) fn has_schema(&self) -> bool {
        !self.formats.is_empty()
    }

    /// Returns the original location of a format. In the request, which now has the format of `api`, it is at index
    /// `number` of `count` formats.
    fn source_of(&self, number: usize, count: usize, api: Api) -> Option<&FormatSource> {
        let at = match self.formats.len() == count {
            _ if self.api != api => self.translated?,
            true => number,
            false => self.formats.len().checked_sub(1)?,
        };
        self.formats.get(at)
    }

    fn is_enforced(&self) -> bool {
        self.formats.iter().any(|format| format.is_enforced)
    }
}

#[derive(Default)]
pub(crate) struct Written {
    pub(crate) changes: Vec<FormatChange>,
    /// Plan for restoring the answer; `None` if the answer need not be restored.
    pub(crate) answer: Option<Answer>,
}

/// # Errors
/// `not-representable` if the API has no such format, or cannot express the schema; `too-lossy`.
pub(crate) fn rewrite(
    request: &mut Node<'_>,
    api: Api,
    options: &ToolsOptions,
    original: &OriginalFormats,
) -> Result<Written, Error> {
    let mut written = Written::default();
    let count = formats::pointers(request, api)?.len();
    if count == 0 {
        return Ok(written);
    }
    let dialect = dialect::of(&options.sanitize)?;
    let (mut number, mut plans) = (0, Vec::new());
    let is_known = match responses::in_request(dialect, api) {
        InRequest::Known => true,
        InRequest::Unknown => false,
        InRequest::Refused(_) => return require_no_format(request, api, dialect),
    };
    if !is_known {
        return Ok(written);
    }
    // The client's API enforces the format without a flag, but another API may need the flag to enforce it.
    let was_enforced = original.api != api && original.is_enforced();
    formats::visit(request, api, &mut |FoundFormat { location, pointer, holder }| {
        let Some(holder) = holder else {
            plans.clear();
            return Ok(());
        };
        let unchanged = || FormatSource::of(location, pointer, holder);
        let from = original.source_of(number, count, api).cloned().unwrap_or_else(unchanged);
        number += 1;
        let (changes, plan) = rewrite_in_holder(holder, location, (&from, pointer), options, was_enforced)?;
        written.changes.extend(changes);
        written.changes.extend(rename_format(holder, location, (&from, pointer), dialect));
        // A format in an update replaces all earlier formats.
        if location.item.is_some() {
            plans.clear();
        }
        plans.push((plan, String::from(pointer)));
        Ok(())
    })?;
    let several = plans.len() > 1;
    let encoded = plans.into_iter().find(|(plan, _)| !plan.is_empty());
    if let (Some((_, pointer)), true) = (&encoded, several) {
        let message = "expected one response format, or several that need no encoding, found several, one of which \
            has to be decoded: the library cannot tell which format an answer belongs to";
        return Err(Error::new(Code::NotRepresentable, pointer.as_str(), message));
    }
    written.answer = encoded.map(|(plan, _)| Answer::new(plan));
    Ok(written)
}

/// Returns each violation with the pointer to its schema.
fn check_schemas(
    request: &mut Node<'_>,
    api: Api,
    dialect: &'static Dialect,
    (limit, naming): (FindingLimit, Naming),
) -> Result<Vec<(String, Violation)>, Error> {
    let mut found = Vec::new();
    if !matches!(responses::in_request(dialect, api), InRequest::Known) {
        return Ok(found);
    }
    let mut options = ToolsOptions::new(dialect.id());
    options.sanitize.naming = naming;
    formats::visit(request, api, &mut |FoundFormat { location, pointer, holder }| {
        let Some(holder) = holder else { return Ok(()) };
        let is_strict = holder.bool_at("strict").filter(|_| location.has_strict) == Some(true);
        let candidates = candidates(&options, location, is_strict)?;
        // The last candidate is the dialect for formats that are not strict.
        let is_plain = location.has_strict && !is_strict && candidates.len() > 1;
        let candidate = if is_plain { candidates.last() } else { candidates.first() };
        let (Some(Candidate { options, .. }), Some(schema)) = (candidate, holder.get(location.schema)) else {
            return Ok(());
        };
        let at = format!("{pointer}/{}", location.schema);
        match schema.as_text().map(|text| text.value()) {
            None => {
                found.extend(check::check(schema, options, limit)?.into_iter().map(|violation| (at.clone(), violation)))
            }
            // Violations inside a schema that is text are reported at the text.
            Some(text) => {
                let text = text.unwrap_or_default();
                let inner = json::read(&text).map_err(|error| error.below(&at))?;
                let inside = check::check(&inner, options, limit)?.into_iter();
                found.extend(inside.map(|violation| (at.clone(), Violation { pointer: String::new(), ..violation })));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

fn name_rule(dialect: &Dialect) -> Option<(&'static RequestFact, NamePattern)> {
    dialect.requests().iter().find_map(|fact| match fact.refuses {
        Refusal::Format(FormatRule::Name(name_pattern)) => Some((fact, name_pattern)),
        _ => None,
    })
}

/// Returns the pointers to names of formats that do not match a pattern, and to formats that have no name.
fn pointers_to_bad_names(request: &mut Node<'_>, api: Api, name_pattern: NamePattern) -> Result<Vec<String>, Error> {
    let mut pointers = Vec::new();
    formats::visit(request, api, &mut |FoundFormat { location, pointer, holder }| {
        if let Some(holder) = holder.filter(|holder| location.has_name && !is_well_named(holder, name_pattern)) {
            pointers.push(pointer_to_name(holder, pointer));
        }
        Ok(())
    })?;
    Ok(pointers)
}

fn is_well_named(holder: &Node<'_>, name_pattern: NamePattern) -> bool {
    holder.text_at(NAME).is_some_and(|name| names::is_legal(name_pattern, name))
}

fn pointer_to_name(holder: &Node<'_>, pointer: &str) -> String {
    match holder.get(NAME) {
        Some(_) => format!("{pointer}/{NAME}"),
        None => pointer.into(),
    }
}

fn rename_format(
    holder: &mut Node<'_>,
    location: &FormatLocation,
    (from, to): (&FormatSource, &str),
    dialect: &'static Dialect,
) -> Option<FormatChange> {
    let (fact, name_pattern) = name_rule(dialect).filter(|_| location.has_name)?;
    if is_well_named(holder, name_pattern) {
        return None;
    }
    let name = holder.text_at(NAME).map(|name| names::folded(name_pattern, name)).unwrap_or_default();
    let name = match names::cut(&name, name_pattern.max_length) {
        "" => "response",
        name => name,
    };
    let pointer = if from.holder == to { pointer_to_name(holder, to) } else { from.schema.clone() };
    let message = "gave the response format a name that the API accepts".into();
    let reason = Reason::fact(fact.statement, fact.confidence, fact.source);
    let locations = (pointer, Some(format!("{to}/{NAME}")));
    let change = change_outside_arguments(Rule::RenameFormat, locations, Guidance::Same, reason, message);
    let name = Node::string(String::from(name));
    holder.set(NAME, name);
    Some(FormatChange { dialect: dialect.id(), change })
}

const NAME: &str = "name";

fn require_no_format(request: &mut Node<'_>, api: Api, dialect: &Dialect) -> Result<Written, Error> {
    let InRequest::Refused(why) = responses::in_request(dialect, api) else { return Ok(Written::default()) };
    let refused = formats::pointers(request, api)?;
    match refused.iter().find(|(_, location)| location.is_main) {
        None => Ok(Written::default()),
        Some((pointer, _)) => {
            let message = format!("expected a response format that the API has, found a schema: {why}");
            Err(Error::new(Code::NotRepresentable, pointer.as_str(), message))
        }
    }
}

struct Candidate {
    dialect: &'static Dialect,
    options: SanitizeOptions,
}

/// Returns the dialects for a format, in the order in which they are tried: the strict dialect for a strict format, the
/// requested dialect, and the fallback dialect.
fn candidates(options: &ToolsOptions, location: &FormatLocation, is_strict: bool) -> Result<Vec<Candidate>, Error> {
    let dialect_at = |dialect: &Dialect| {
        location.carrier.and_then(|carrier| dialect.tools.dialect_in(carrier)).unwrap_or(dialect.name)
    };
    let candidate = |name: &str| -> Result<Candidate, Error> {
        let response_options = options.sanitize.clone().in_dialect(dialect::named(name)?).used_as(Use::Response);
        let response_options = SanitizeOptions { alone: false, ..response_options };
        Ok(Candidate { dialect: dialect::of(&response_options)?, options: response_options })
    };
    let targets = targets(options)?;
    let mut candidates = Vec::new();
    let first = targets.first().map(|target| target.dialect.name);
    if let (Some(strict), true) = (first.and_then(responses::strict_of), is_strict) {
        candidates.push(candidate(strict)?);
    }
    // A strict dialect that the flags chose applies to strict formats only.
    let skipped = usize::from(options.by_flag.is_some() && !is_strict && targets.len() > 1);
    for target in targets.iter().skip(skipped) {
        // A fallback dialect for tools may have no response formats.
        match candidate(dialect_at(target.dialect)) {
            Err(error) if error.code() != Code::NotRepresentable || candidates.is_empty() => return Err(error),
            Err(_) => {}
            Ok(candidate) => candidates.push(candidate),
        }
    }
    Ok(candidates)
}

fn rewrite_in_holder(
    holder: &mut Node<'_>,
    location: &'static FormatLocation,
    (from, to): (&FormatSource, &str),
    options: &ToolsOptions,
    was_enforced: bool,
) -> Result<(Vec<FormatChange>, Plan), Error> {
    let flag = holder.bool_at("strict").filter(|_| location.has_strict);
    let is_strict = flag.unwrap_or(was_enforced && location.has_strict);
    let pointer_to = |holder: &str, key: &str| format!("{holder}/{key}");
    let to_schema = pointer_to(to, location.schema);
    let mut first_error: Option<Error> = None;
    for Candidate { dialect, options } in candidates(options, location, is_strict)? {
        let Some(schema) = holder.get(location.schema) else { break };
        let (mut changes, plan, new) = match sanitize_schema(schema, location, &options, (from, &to_schema)) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                first_error = first_error.or(Some(error));
                continue;
            }
        };
        if let Some(new) = new {
            holder.set(location.schema, new);
        }
        // The flag is true for a strict dialect, and false if the strict dialect cannot express the schema.
        let new_flag = match dialect.tools.strict {
            StrictFlag::True if location.has_strict => Some(true),
            _ if is_strict && first_error.is_some() => Some(false),
            _ => flag,
        };
        if let Some(new_flag) = new_flag.filter(|new_flag| flag != Some(*new_flag)) {
            let (rule, message) = match new_flag {
                true => (Rule::StrictFlag, "set `strict` to true: the API enforces the schema"),
                false => (Rule::NotStrict, "set `strict` to false: nothing enforces the schema"),
            };
            let accepts = if new_flag { Accepts::Same } else { Accepts::Wider };
            let encoded = false;
            let needed = Allow::needed_for(accepts, encoded);
            if needed > options.allow {
                let (allowed, needed) = (options.allow.as_str(), needed.as_str());
                let cause = first_error.as_ref().map(Error::message).unwrap_or_default();
                let message = format!(
                    "expected changes within `allow: \"{allowed}\"`, found one that needs \"{needed}\": {message}, \
                     because the strict mode cannot express the schema: {cause}"
                );
                return Err(Error::new(Code::TooLossy, from.schema.as_str(), message));
            }
            let cause = first_error.as_ref().filter(|_| !new_flag);
            let reason = match cause {
                Some(cause) => format!("the strict mode cannot express the schema: {}", cause.message()).into(),
                None => location.reason(),
            };
            let pointer = match flag {
                Some(_) => pointer_to(&from.holder, "strict"),
                // The holder is the request itself.
                None if from.holder.is_empty() => from.schema.clone(),
                None => from.holder.clone(),
            };
            let change = change_outside_arguments(
                rule,
                (pointer, Some(pointer_to(to, "strict"))),
                Guidance::Same,
                reason,
                message.into(),
            );
            changes.push(Change { accepts, ..change });
            holder.set("strict", Node::bool(new_flag));
        }
        let changes = changes.into_iter().map(|change| FormatChange { dialect: dialect.id(), change }).collect();
        return Ok((changes, plan));
    }
    let error = first_error.unwrap_or_else(|| Error::new(Code::NotRepresentable, "", "expected a schema, found none"));
    Err(error.below(&from.schema))
}

/// The changes, the plan to restore an answer, and the new schema; `None` if the schema is unchanged.
type Rewritten = (Vec<Change>, Plan, Option<Node<'static>>);

fn sanitize_schema(
    schema: &Node<'_>,
    location: &FormatLocation,
    options: &SanitizeOptions,
    (from, to): (&FormatSource, &str),
) -> Result<Rewritten, Error> {
    let text = match schema.as_text().map(|text| text.value()) {
        Some(Some(text)) if location.text != SchemaText::Never => Some(text),
        Some(_) => return Ok((Vec::new(), Plan::default(), None)),
        None => None,
    };
    let mut node = match &text {
        Some(text) => json::read(text).map_err(Error::without_pointer)?,
        None => schema.clone(),
    };
    let sanitized = sanitize::sanitize_with_plan(&mut node, options, Detail::Whole);
    let (mut changes, plan) = sanitized.map_err(|error| if from.is_text { error.without_pointer() } else { error })?;
    for change in &mut changes {
        // Changes inside a schema that is text are reported at the text.
        if from.is_text {
            change.pointer.clear();
        }
        if text.is_some() {
            change.output_pointer = Some(String::new());
        }
        change.pointer.insert_str(0, &from.schema);
        if let Some(output) = &mut change.output_pointer {
            output.insert_str(0, to);
        }
    }
    let new = (!node.is_intact()).then(|| match text {
        Some(_) => Node::string(json::write(&node)),
        None => node.detached(),
    });
    Ok((changes, plan, new))
}

pub(crate) struct FormatViolation {
    pub(crate) fact: &'static RequestFact,
    pub(crate) severity: Severity,
    pub(crate) pointer: String,
    pub(crate) message: String,
    /// Number of further violations that are not listed.
    pub(crate) more: usize,
}

pub(crate) fn format_violations(
    request: &mut Node<'_>,
    api: Api,
    (dialect, facts, model): (&'static Dialect, &RequestFacts, &str),
    (limit, naming): (FindingLimit, Naming),
) -> Result<Vec<FormatViolation>, Error> {
    let schemas = pointers(request, api)?;
    let schema = schemas.last().map(|(pointer, _)| pointer.as_str());
    let mode = json_mode(request, api)?;
    let schema_or_mode = schema.or(mode.as_deref());
    let mut found = Vec::new();
    let mut add = |fact: &'static RequestFact, pointer: &str| {
        let message = format!("expected a different request: {}", fact.statement);
        found.push(FormatViolation { fact, severity: fact.severity, pointer: pointer.to_string(), message, more: 0 });
    };
    let only_functions = true;
    for fact in facts.iter() {
        let Refusal::Format(rule) = fact.refuses else { continue };
        let pointer = match rule {
            FormatRule::Schema(of) if of == api => {
                schemas.iter().find(|(_, location)| location.is_main).map(|(pointer, _)| pointer.as_str())
            }
            FormatRule::ByModel(models) if models.include(model) => schema,
            FormatRule::BesideTools { models, only_json } if models.include(model) => {
                let pointer = if only_json { mode.as_deref() } else { schema_or_mode };
                pointer.filter(|_| !only_json || schema.is_none())
            }
            FormatRule::BesideHosted { models, .. } if models.include(model) => mode.as_deref(),
            FormatRule::WithoutWord => mode.as_deref(),
            FormatRule::BesidePrefill(of) if of == api => schema,
            _ => None,
        };
        let Some(pointer) = pointer else { continue };
        let is_broken = match rule {
            FormatRule::BesideTools { .. } => has_tools(request, only_functions)?,
            FormatRule::BesideHosted { hosted, .. } => has_entry(request, hosted)?,
            FormatRule::BesidePrefill(_) => ends_with_assistant(request, api)?,
            FormatRule::WithoutWord => schema.is_none() && !mentions_json(request, api)?,
            _ => true,
        };
        if is_broken {
            add(fact, pointer);
        }
    }
    let updates = facts.iter().find(|fact| fact.refuses == Refusal::Format(FormatRule::Updates(api)));
    if let Some(fact) = updates {
        for at in repeated_updates(request, api)? {
            add(fact, &format!("/input/{at}"));
        }
    }
    if let Some((fact, name_pattern)) = name_rule(dialect) {
        for pointer in pointers_to_bad_names(request, api, name_pattern)? {
            add(fact, &pointer);
        }
    }
    for (pointer, violation) in check_schemas(request, api, dialect, (limit, naming))? {
        let Violation { severity, message, more, .. } = violation;
        found.push(FormatViolation { fact: &SCHEMA, severity, pointer: pointer + &violation.pointer, message, more });
    }
    Ok(found)
}

pub(crate) fn has_tools(request: &Node<'_>, only_functions: bool) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    let mut list = tools.as_array().unwrap_or_default().iter();
    let is_group = |entry: &Node<'_>| GROUPS.iter().any(|key| entry.get(*key).is_some());
    Ok(list.any(|entry| !only_functions || is_group(entry) || matches!(tool_format::recognize(entry), Entry::Tool(_))))
}

/// Returns true if an entry of the list of tools has one of these members, in camel case or snake case as Google's APIs
/// accept them.
pub(crate) fn has_entry(request: &Node<'_>, member_names: &[&str]) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    Ok(tools.as_array().unwrap_or_default().iter().any(|entry| {
        let members = entry.as_object().map(crate::json::Object::members).unwrap_or_default();
        members.iter().any(|member| {
            let name = member.key.display().replace('_', "");
            member_names.iter().any(|member_name| name.eq_ignore_ascii_case(member_name)) && !member.value.is_null()
        })
    }))
}

fn ends_with_assistant(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let last = request.array_at(wire::of(api).history()).and_then(<[Node<'_>]>::last);
    let last = last.map(view).transpose()?;
    let Some(message) = last.filter(|message| message.get("role").is_some_and(|role| role.is_text("assistant"))) else {
        return Ok(false);
    };
    // A message that ends with another block is not the beginning of an answer. For example, a turn that paused in a
    // call to a hosted tool continues after the result.
    let last = message.array_at("content").and_then(<[Node<'_>]>::last);
    Ok(last.is_none_or(|block| wire::of(api).turns().is_text(block)))
}

/// Returns true if the last message of a request is the beginning of the answer.
pub(crate) fn begins_answer(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let last = request.array_at(wire::of(api).history()).and_then(<[Node<'_>]>::last);
    Ok(match wire::of(api).turns().prefill {
        Prefill::None => false,
        Prefill::Content => ends_with_assistant(request, api)?,
        Prefill::Text(role) => last.map(view).transpose()?.is_some_and(|message| {
            let turns = wire::of(api).turns();
            let parts = message.items_at(turns.blocks().map_or("content", Blocks::list));
            message.get("role").is_some_and(|value| value.is_text(role))
                && parts.last().is_some_and(|part| turns.is_text(part))
        }),
        Prefill::Flags(flags) => last
            .map(view)
            .transpose()?
            .is_some_and(|message| flags.iter().any(|flag| message.bool_at(*flag) == Some(true))),
    })
}

fn mentions_json(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    for part in ["system", "instructions", wire::of(api).history()] {
        if request.get(part).map(text_mentions_json).transpose()? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn input_mentions_json(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    request.get(wire::of(api).history()).map_or(Ok(false), text_mentions_json)
}

/// Searches texts only, not names of functions or arguments of calls.
fn text_mentions_json(node: &Node<'_>) -> Result<bool, Error> {
    let node = view(node)?;
    match node.data() {
        Data::String(text) => Ok(text.display().as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"))),
        Data::Array(items) => {
            for item in items {
                if text_mentions_json(item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => {
            for key in ["content", "text", "output"] {
                if node.get(key).map(text_mentions_json).transpose()? == Some(true) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn repeated_updates(request: &Node<'_>, api: Api) -> Result<Vec<usize>, Error> {
    let (mut indices, mut was_update) = (Vec::new(), false);
    for (at, item) in request.items_at(wire::of(api).history()).iter().enumerate() {
        let is_update =
            crate::json::lazy::may_hold(item, Flags::FORMAT) && has_type(&*view(item)?, "configuration_update");
        if is_update && was_update {
            indices.push(at);
        }
        was_update = is_update;
    }
    Ok(indices)
}

/// Returns the pointer to the part of a request that violates a fact, if there is one.
pub(crate) fn broken_combination(
    request: &Node<'_>,
    format: Api,
    fact: &RequestFact,
    model: &str,
) -> Result<Option<&'static str>, Error> {
    match fact.refuses {
        Refusal::FunctionsBesideHosted { api, models, hosted, unless } if api == format => {
            let only_functions = true;
            let is_broken = models.include(model)
                && has_tools(request, only_functions)?
                && has_entry(request, hosted)?
                && !unless.map_or(Ok(false), |(config, member)| is_set(request, config, member))?;
            Ok(is_broken.then_some("/tools"))
        }
        Refusal::BesideCache { api, cache, members } if api == format => {
            let is_present = |(key, _): &&(&str, &str)| request.get(*key).is_some_and(|member| !member.is_null());
            Ok(members.iter().find(is_present).filter(|_| has_any_member(request, cache)).map(|(_, pointer)| *pointer))
        }
        _ => Ok(None),
    }
}

pub(crate) fn has_any_member(request: &Node<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| request.get(*key).is_some_and(|member| !member.is_null()))
}

fn is_set(request: &Node<'_>, config: &[&str], member: &str) -> Result<bool, Error> {
    for config in config.iter().filter_map(|key| request.get(*key)) {
        let config = view(config)?;
        let mut members = config.as_object().into_iter().flatten();
        if members.any(|setting| {
            setting.key.display().replace('_', "").eq_ignore_ascii_case(member) && setting.value.as_bool() == Some(true)
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}
