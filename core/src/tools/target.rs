//! The dialects of a list: the requested dialect, and the fallback dialect for tools that the
//! requested dialect cannot express. Writes the parts of a tool outside its schema: the description, the flag `strict`,
//! and the `outputSchema`.

use alloc::{format, string::String, vec::Vec};

use super::{
    mcp_headers::{self, InvalidAnnotation},
    quarantine::{refusal, refusal_of_error, Refused},
    shared_limits,
};
use crate::{
    check::{self, findings::FindingLimit},
    dialect::{
        self,
        lookup::has_strict_mode,
        surface::{NoArguments, StrictFlag},
        Dialect, DialectId, Fact, DEFAULT_OF_STRICT,
    },
    effect::{Accepts, Guidance},
    error::Error,
    json::{Node, Object},
    names,
    options::{SanitizeOptions, ToolFormat, ToolsOptions, Use},
    report::{Allow, Change, Detail, Reason, Severity},
    request::tool_format::{self, pointer, ToolShape},
    rules::{Constraint, Rule},
    sanitize::{self, decode::Plan},
};

pub(super) struct Target {
    pub(super) dialect: &'static Dialect,
    /// If the dialect applies only to schemas in one member: the format of tools with this member.
    pub(super) member_format: Option<ToolFormat>,
    pub(super) options: SanitizeOptions,
    /// Amount of each budget of the dialect that is used.
    pub(super) used_budgets: Vec<usize>,
}

pub(super) fn targets(options: &ToolsOptions) -> Result<Vec<Target>, Error> {
    let target = |options: SanitizeOptions| {
        let dialect = dialect::of(&options)?;
        let options = SanitizeOptions { alone: dialect.tools.one_grammar, ..options };
        let used_budgets = dialect.tools.budgets.iter().map(|_| 0).collect();
        Ok::<_, Error>(Target { dialect, member_format: None, options, used_budgets })
    };
    // The dialect may have another dialect for the schemas of the format that the caller chose.
    let requested = dialect::of(&options.sanitize)?;
    let sanitize = match options.format.and_then(|format| requested.tools.dialect_in(format)) {
        Some(other) => options.sanitize.clone().in_dialect(dialect::named(other)?),
        None => options.sanitize.clone(),
    };
    let mut targets = Vec::from([target(sanitize)?]);
    if let Some(fallback) = options.fallback {
        targets.push(target(options.sanitize.clone().in_dialect(dialect::named(fallback.as_str())?))?);
        return Ok(targets);
    }
    let strict = dialect::of(&options.sanitize)?;
    let format = options.format.unwrap_or(strict.tools.format);
    // The rule applies only if the format has the flag: without the flag, the API would treat the tool as strict.
    let is_strict = tool_format::strict_in(strict, format) == Some(true);
    let of_table = || strict.tools.not_strict.filter(|_| is_strict);
    if let Some(plain) = options.by_flag.map(DialectId::as_str).or_else(of_table) {
        targets.push(target(options.sanitize.clone().in_dialect(dialect::named(plain)?))?);
    }
    Ok(targets)
}

pub(super) fn targets_by_member(options: &ToolsOptions) -> Result<Vec<Target>, Error> {
    let dialects_by_format = dialect::of(&options.sanitize)?.tools.carriers;
    let dialects_by_format = dialects_by_format.iter().filter(|_| options.format.is_none());
    let target = |(format, name): &(ToolFormat, &'static str)| {
        let dialect = dialect::named(name)?;
        let options = options.sanitize.clone().in_dialect(dialect);
        Ok(Target { dialect, member_format: Some(*format), options, used_budgets: Vec::new() })
    };
    dialects_by_format.map(target).collect()
}

pub(super) struct Written<'a> {
    /// Index of the dialect among the dialects of the list; `None` for the dialect of the tool's member.
    pub(super) target: Option<usize>,
    pub(super) dialect: &'static Dialect,
    pub(super) changes: Vec<Change>,
    pub(super) plan: Plan,
    /// The schema that was added because the tool had none.
    pub(super) added: Option<Node<'a>>,
    /// True if the tool has no arguments and is written without a schema.
    pub(super) omits_schema: bool,
}

impl Written<'_> {
    pub(super) fn unchanged(target: Option<usize>, dialect: &'static Dialect) -> Self {
        Written { target, dialect, changes: Vec::new(), plan: Plan::default(), added: None, omits_schema: false }
    }

    /// If `closed` is true, the schema forbade all arguments; without the schema, arguments are no longer forbidden.
    fn omit_schema(&mut self, dialect: &'static Dialect, shape: ToolShape, forbids_arguments: bool) {
        self.omits_schema = true;
        self.changes.iter_mut().for_each(|change| change.output_pointer = None);
        let message = "removed the schema of a tool without arguments".into();
        let at = (pointer(&shape.pointer_to_schema()), None);
        let change = change_outside_arguments(
            Rule::OmitArguments,
            at,
            Guidance::Same,
            reason(dialect, Constraint::NoArguments),
            message,
        );
        self.changes.push(Change { accepts: if forbids_arguments { Accepts::Wider } else { Accepts::Same }, ..change });
    }
}

impl Target {
    /// `answer` is the name of the function that replaces a response format.
    pub(super) fn write<'a>(
        &self,
        entry: &mut Node<'a>,
        (shape, target, format): (ToolShape, Option<usize>, ToolFormat),
        (detail, answer): (Detail, Option<&str>),
    ) -> Result<Written<'a>, Refused> {
        let no_arguments = self.dialect.tools.no_arguments;
        let omits = no_arguments == NoArguments::Omitted && format != ToolFormat::Mcp;
        let omits_missing = match no_arguments {
            NoArguments::Optional => format != ToolFormat::Mcp,
            NoArguments::OptionalInRequests => self.options.is_of_request && format == self.dialect.tools.format,
            _ => false,
        };
        let (dialect, plan) = (self.dialect, Plan::default());
        let mut written = Written { target, dialect, changes: Vec::new(), plan, added: None, omits_schema: false };
        let is_answer = answer.is_some_and(|name| shape.name(entry).is_some_and(|tool_name| tool_name.is(name)));
        // The function that replaces a response format always has arguments.
        let omits = omits && !is_answer;
        match shape.schema(entry).map(accepts_no_arguments) {
            None if omits || omits_missing && !is_answer => written.omits_schema = true,
            None => {
                let mut schema = empty_schema();
                let sanitized = sanitize::sanitize_with_plan(&mut schema, &self.options, Detail::Whole);
                let (changes, plan) = sanitized.map_err(|error| refusal_of_error(&error, ""))?;
                written.added = Some(schema);
                written.plan = plan;
                let without_schema = false;
                let to = tool_format::shape_in(format, without_schema).pointer_to_schema();
                let at = (pointer(&shape.pointer_to_missing_schema(entry)), Some(pointer(&to)));
                let message = String::from("added the schema of a tool without arguments");
                let change = change_outside_arguments(
                    Rule::AddSchema,
                    at,
                    Guidance::Same,
                    reason(self.dialect, Constraint::RootObject),
                    message,
                );
                written.changes.push(Change { encoded: changes.iter().any(|change| change.encoded), ..change });
            }
            Some(Some(forbids_arguments)) if omits => written.omit_schema(self.dialect, shape, forbids_arguments),
            Some(_) => {
                let without_schema = false;
                let written_shape = shape.shape_in(format, without_schema);
                let (at, to) = (pointer(&shape.pointer_to_schema()), pointer(&written_shape.pointer_to_schema()));
                let wrapping = is_answer.then(|| SanitizeOptions { wraps_root: true, ..self.options.clone() });
                let options = wrapping.as_ref().unwrap_or(&self.options);
                let in_brief = detail == Detail::Effects && self.options.allow == Allow::Any;
                let sanitized =
                    shape.edit_schema(entry, |schema| sanitize::sanitize_with_plan(schema, options, detail));
                (written.changes, written.plan) = sanitized
                    .unwrap_or_else(|| Ok((Vec::new(), Plan::default())))
                    .map_err(|error| refusal_of_error(&error, &at))?;
                for change in written.changes.iter_mut().filter(|_| !in_brief) {
                    change.pointer.insert_str(0, &at);
                    if let Some(output) = &mut change.output_pointer {
                        output.insert_str(0, &to);
                    }
                }
                // The rewritten schema may have no arguments.
                if let (true, Some(forbids_arguments)) = (omits, shape.schema(entry).and_then(accepts_no_arguments)) {
                    written.omit_schema(self.dialect, shape, forbids_arguments);
                }
            }
        }
        let schema = written.added.as_ref().or_else(|| shape.schema(entry)).filter(|_| !written.omits_schema);
        for (used, limit) in self.used_budgets.iter().zip(self.dialect.tools.budgets) {
            let cost = shared_limits::budget_cost(*limit, schema);
            if cost > 0 && used + cost > limit.limit {
                return Err(refusal(
                    limit.counts.constraint().id(),
                    "",
                    shared_limits::budget_exceeded(*limit, *used, cost),
                ));
            }
        }
        for limit in self.dialect.tools.tool_budgets {
            let (what, max) = (limit.counts.words(), limit.limit);
            let cost = shared_limits::budget_cost(*limit, schema);
            if cost > max {
                let message = format!("expected at most {max} {what} in one tool, found {cost}");
                return Err(refusal(Constraint::TooComplex.id(), "", message));
            }
        }
        Ok(written)
    }
}

fn empty_schema() -> Node<'static> {
    Node::record([("type", Node::literal("object")), ("properties", Node::empty_object())])
}

pub(crate) fn change_outside_arguments(
    rule: Rule,
    (from, to): (String, Option<String>),
    guidance: Guidance,
    reason: Reason,
    message: String,
) -> Change {
    Change {
        pointer: from,
        output_pointer: to,
        rule,
        accepts: Accepts::Same,
        guidance,
        encoded: false,
        reason,
        message,
    }
}

pub(super) fn reason(dialect: &'static Dialect, constraint: Constraint) -> Reason {
    // A fact without rules gives the reason for all constraints of the dialect.
    let general_fact = || dialect.facts.first().filter(|fact| fact.rules.is_empty());
    let fact = dialect.fact_of(constraint, "").or_else(general_fact);
    fact.map_or(Reason::from("the dialect requires it"), Fact::reason)
}

/// Returns `None` if a schema describes arguments, `Some(true)` if it forbids all arguments, and `Some(false)`
/// otherwise.
pub(super) fn accepts_no_arguments(schema: &Node<'_>) -> Option<bool> {
    let object = schema.as_object()?;
    let mut forbids_arguments = false;
    for member in object {
        let value = &member.value;
        let empty = || value.as_object().is_some_and(Object::is_empty);
        match member.key.value()?.as_ref() {
            "type" if value.is_text("object") => {}
            "properties" | "$defs" | "definitions" if empty() => {}
            "required" if value.as_array().is_some_and(<[Node<'_>]>::is_empty) => {}
            "additionalProperties" if value.as_bool().is_some() => forbids_arguments = value.as_bool() == Some(false),
            "additionalProperties" if empty() => {}
            "$schema" | "$id" | "$comment" | "title" | "description" => {}
            _ => return None,
        }
    }
    Some(forbids_arguments)
}

/// Returns true if the API accepts the same arguments for a schema with `strict: false` and without the flag.
pub(super) fn needs_no_flag(schema: &Node<'_>, dialect: &'static Dialect) -> bool {
    let Some(without) = dialect.tools.without_strict else { return false };
    let check_as = |other: &Dialect| check::check(schema, &SanitizeOptions::new(other.id()), FindingLimit::LISTED);
    // The API may interpret a schema that cannot be checked differently.
    let Ok(found) = dialect::named(without.dialect).and_then(check_as) else { return false };
    let is_closed_by_api = |constraint| without.closes && constraint == Constraint::ObjectNotClosed;
    found.iter().all(|violation| is_closed_by_api(violation.constraint)) && (!without.closes || !is_open(schema))
}

impl Target {
    /// Returns true if the API accepts a schema unchanged in this format, because it closes objects itself.
    pub(super) fn api_closes_objects(&self, original_schema: &Node<'_>, format: ToolFormat) -> bool {
        if !self.dialect.tools.closes_in.contains(&format) || is_open(original_schema) {
            return false;
        }
        let found = check::check(original_schema, &SanitizeOptions::new(self.dialect.id()), FindingLimit::LISTED);
        let is_closing = |constraint| constraint == Constraint::ObjectNotClosed;
        found.is_ok_and(|found| found.iter().all(|violation| is_closing(violation.constraint)))
    }
}

pub(super) fn is_closed_by_api(original_schema: &Node<'_>, format: ToolFormat, written: &Written<'_>) -> bool {
    let closes = written.dialect.tools.closes_in.contains(&format);
    let is_closing = |change: &Change| change.rule == Rule::CloseObject;
    closes && !written.changes.is_empty() && written.changes.iter().all(is_closing) && !is_open(original_schema)
}

/// Returns true if an object of the schema explicitly accepts additional properties.
pub(super) fn is_open(schema: &Node<'_>) -> bool {
    // Each node with true if its members are names of properties or definitions.
    let mut pending = Vec::from([(schema, false)]);
    while let Some((node, is_table)) = pending.pop() {
        let additional = node.get("additionalProperties").filter(|_| !is_table);
        if additional.is_some_and(|additional| additional.as_bool() != Some(false)) {
            return true;
        }
        for member in node.as_object().into_iter().flatten() {
            let is_keyword = |names: &[&str]| !is_table && names.iter().any(|name| member.key.is(*name));
            if !is_keyword(&["enum", "const", "default", "examples"]) {
                pending.push((&member.value, is_keyword(&["properties", "patternProperties", "$defs", "definitions"])));
            }
        }
        pending.extend(node.as_array().unwrap_or_default().iter().map(|item| (item, false)));
    }
    false
}

/// Reports a change of the flag `strict` if its meaning differs from the meaning in the caller's tool. A different
/// shape alone is not reported, nor a flag that exists only in the new shape.
pub(super) fn report_strict_flag(
    entry: &Node<'_>,
    (shape, written): (ToolShape, ToolShape),
    sent: Option<bool>,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let flag = shape.strict(entry);
    let stays = shape.needs_no_conversion(written);
    // The fallback to a dialect that is not strict was already reported.
    let is_reported = changes.iter().any(|change| change.rule == Rule::NotStrict);
    let is_unchanged = match (sent, flag) {
        (Some(sent), Some(flag)) => flag.as_bool() == Some(sent),
        (Some(_), None) => !stays,
        (None, flag) => flag.is_none_or(|flag| !stays && flag.as_bool() != Some(true)),
    };
    if is_unchanged || is_reported {
        return;
    }
    let from = if flag.is_some() { shape.pointer_to(STRICT) } else { shape.path() };
    // Without the flag, the API does not enforce the schema.
    let is_lost = flag.and_then(Node::as_bool) == Some(true) && sent != Some(true);
    let loses_mode = is_lost && has_strict_mode(dialect.name);
    let (to, message) = match sent {
        Some(true) => (Some(STRICT), "set `strict` to true: the API enforces the schema".into()),
        Some(false) => (Some(STRICT), "set `strict` to false: nothing enforces the schema".into()),
        None if loses_mode => (None, "removed `strict`: nothing enforces the schema".into()),
        None => (None, format!("removed `strict`: tools for `{}` are sent without it", dialect.name)),
    };
    let at = (pointer(&from), to.map(|key| pointer(&written.pointer_to(key))));
    let rule = if is_lost { Rule::NotStrict } else { Rule::StrictFlag };
    let change = change_outside_arguments(rule, at, Guidance::Same, strict_reason(dialect, sent), message);
    changes.push(Change { accepts: if loses_mode { Accepts::Wider } else { Accepts::Same }, ..change });
}

const STRICT: &str = "strict";

fn strict_reason(dialect: &'static Dialect, sent: Option<bool>) -> Reason {
    let fact = dialect.fact_of(Constraint::StrictFlag, "");
    match (sent, dialect.tools.strict) {
        (Some(true), _) => dialect.tools.strict_fact.or(fact),
        (Some(false), StrictFlag::False) => fact,
        // The flag has a default only in OpenAI Responses.
        (Some(false), _) => Some(&DEFAULT_OF_STRICT),
        // A fact about a flag without effect does not explain why the flag is removed.
        (None, _) => fact.filter(|fact| fact.severity != Severity::Ignored),
    }
    .map_or_else(|| Reason::from(format!("tools for `{}` are sent without `strict`", dialect.name)), Fact::reason)
}

/// Returns the new description: `None` if it is unchanged, `Some(None)` if it is removed.
pub(super) fn fit_description(
    entry: &Node<'_>,
    (shape, written): (ToolShape, ToolShape),
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) -> Option<Option<String>> {
    const KEY: &str = "description";
    let surface = dialect.tools;
    let description = shape.part(entry, KEY)?;
    let from = pointer(&shape.pointer_to(KEY));
    let Some(text) = description.as_text() else {
        let message = format!("removed the description: it is not a string but {}", description.kind());
        let guidance = if description.is_null() { Guidance::Same } else { Guidance::Lost };
        changes.push(change_outside_arguments(
            Rule::DropDescription,
            (from, None),
            guidance,
            "a description must be a string".into(),
            message,
        ));
        return Some(None);
    };
    if text.is_blank() && surface.no_empty_description {
        let message = "removed the empty description".into();
        changes.push(change_outside_arguments(
            Rule::DropDescription,
            (from, None),
            Guidance::Same,
            reason(dialect, Constraint::EmptyDescription),
            message,
        ));
        return Some(None);
    }
    let limit = surface.max_description?;
    let length = text.code_points().count();
    let cut = text
        .value()
        .filter(|_| length > limit)
        .map(|text| format!("{}…", names::cut(&text, limit.saturating_sub(1))))?;
    let message = format!("shortened the description from {length} to {limit} characters");
    let at = (from, Some(pointer(&written.pointer_to(KEY))));
    changes.push(change_outside_arguments(
        Rule::CutDescription,
        at,
        Guidance::Lost,
        reason(dialect, Constraint::DescriptionLength),
        message,
    ));
    Some(Some(cut))
}

const KEY: &str = "outputSchema";

/// Rewrites the output schema, or removes it if the rewritten schema would refuse values that the original accepts:
/// results of the server have to stay valid.
pub(super) fn fit_output_schema(
    entry: &mut Node<'_>,
    format: ToolFormat,
    shape: ToolShape,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let (Some(of_output), ToolFormat::Mcp) = (dialect.tools.output, format) else { return };
    let Some(mut schema) = entry.get(KEY).cloned() else { return };
    let options = SanitizeOptions::new(of_output.id()).used_as(Use::Output);
    let at = pointer(&shape.pointer_to(KEY));
    let is_narrower = |change: &&Change| change.accepts != Accepts::Same && change.accepts != Accepts::Wider;
    let (reason, why) = match sanitize::sanitize_with_plan(&mut schema, &options, Detail::Whole) {
        Ok((schema_changes, _)) if schema_changes.is_empty() => return,
        Ok((schema_changes, _)) => match schema_changes.iter().find(is_narrower) {
            None => {
                changes.extend(schema_changes.into_iter().map(|mut change| {
                    change.pointer.insert_str(0, &at);
                    if let Some(output) = &mut change.output_pointer {
                        output.insert_str(0, &at);
                    }
                    change
                }));
                entry.set(KEY, schema);
                return;
            }
            Some(change) => (change.reason.clone(), change.message.clone()),
        },
        Err(error) => (reason(of_output, Constraint::RootObject), String::from(error.message())),
    };
    entry.remove(KEY);
    let message = format!("removed `{KEY}`: {why}");
    changes.push(change_outside_arguments(Rule::DropOutputSchema, (at, None), Guidance::Lost, reason, message));
}

pub(super) fn drop_mcp_headers(
    entry: &mut Node<'_>,
    shape: ToolShape,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let annotations = shape.schema(entry).map(mcp_headers::find_invalid).unwrap_or_default();
    if annotations.is_empty() {
        return;
    }
    shape.edit_schema(entry, |schema| mcp_headers::remove(schema, &annotations));
    for InvalidAnnotation { pointer: at, message, .. } in annotations {
        let from = format!("{}{at}", pointer(&shape.pointer_to_schema()));
        let message = format!("removed `x-mcp-header`: {message}");
        let because = match dialect.tools.reads_mcp_headers {
            true => reason(dialect, Constraint::McpHeader),
            false => Reason::from("clients of MCP 2026-07-28 drop a tool with such an annotation"),
        };
        changes.push(change_outside_arguments(Rule::DropMcpHeader, (from, None), Guidance::Lost, because, message));
    }
}

/// Returns the member of the API's function, and the schema as the server defines it.
pub(super) fn sent_output_schema<'a>(
    entry: &Node<'a>,
    (format, shape): (ToolFormat, ToolShape),
    dialect: &'static Dialect,
) -> Option<(&'static str, Node<'a>)> {
    let is_of_mcp = shape.format() == Some(ToolFormat::Mcp) && format == ToolFormat::OpenaiResponses;
    let member = dialect.tools.result_member.filter(|_| is_of_mcp)?;
    entry.get(KEY).filter(|schema| schema.as_object().is_some()).map(|schema| (member, schema.clone()))
}
