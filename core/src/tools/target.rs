//! The dialects in which a list is written: the requested dialect, and one for tools that the requested one cannot
//! express.

use alloc::{format, string::String, vec::Vec};

use super::{
    arguments, budget,
    quarantine::{failed, refused, Refused},
};
use crate::{
    dialect::{self, surface::NoArguments, Dialect, Fact},
    error::Error,
    json::Node,
    options::{SanitizeOptions, ToolFormat, ToolsOptions},
    report::{Accepts, Allow, Change, Detail, Guidance, Reason},
    request::tool_format::{self, pointer, ToolShape},
    rules::{Constraint, Rule},
    sanitize::{self, decode::Plan},
};

/// A dialect, and the amount of each of its budgets that is used.
pub(super) struct Target {
    pub(super) dialect: &'static Dialect,
    pub(super) options: SanitizeOptions,
    /// Amount of each budget that is used.
    pub(super) taken: Vec<usize>,
}

/// Returns the requested dialect, and the dialect for tools that it cannot express, if there is one.
pub(super) fn targets(options: &ToolsOptions) -> Result<Vec<Target>, Error> {
    let target = |options: SanitizeOptions| {
        let dialect = dialect::of(&options)?;
        let options = SanitizeOptions { alone: dialect.tools.one_grammar, ..options };
        Ok::<_, Error>(Target { dialect, options, taken: dialect.tools.budgets.iter().map(|_| 0).collect() })
    };
    let mut targets = Vec::from([target(options.sanitize.clone())?]);
    if let Some(fallback) = &options.fallback {
        let known = dialect::of(&SanitizeOptions::new(fallback.as_str()))
            .map_err(|error| Error::new(error.code(), "/fallback", error.message()))?;
        targets.push(target(options.sanitize.clone().in_dialect(known.name, known.options))?);
        return Ok(targets);
    }
    let strict = dialect::of(&options.sanitize)?;
    let format = options.format.unwrap_or(strict.tools.format);
    // The rule applies only if the format has the flag: without the flag, the API would treat the tool as strict.
    let is_strict = tool_format::strict_in(strict, format) == Some(true);
    if let Some(plain) = options.by_flag.or(strict.tools.not_strict.filter(|_| is_strict)) {
        let known = dialect::of(&SanitizeOptions::new(plain))?;
        targets.push(target(options.sanitize.clone().in_dialect(known.name, known.options))?);
    }
    Ok(targets)
}

/// A tool's schema as it is sent.
pub(super) struct Written<'a> {
    /// Index of the dialect that the tool is written in.
    pub(super) target: usize,
    pub(super) changes: Vec<Change>,
    /// Plan for decoding the tool's arguments.
    pub(super) plan: Plan,
    /// The schema that was added because the tool had none.
    pub(super) added: Option<Node<'a>>,
    /// True if the tool has no arguments and is written without a schema.
    pub(super) omit: bool,
}

impl Written<'_> {
    /// Removes the schema of a tool without arguments. If `closed` is true, the schema forbade all arguments, which are
    /// no longer forbidden.
    fn leave_out(&mut self, dialect: &'static Dialect, shape: ToolShape, closed: bool) {
        self.omit = true;
        self.changes.iter_mut().for_each(|change| change.output_pointer = None);
        let message = "removed the schema of a tool without arguments".into();
        let at = (pointer(&shape.pointer_to_schema()), None);
        let change = about(Rule::OmitArguments, at, Guidance::Same, reason(dialect, Constraint::NoArguments), message);
        self.changes.push(Change { accepts: if closed { Accepts::Wider } else { Accepts::Same }, ..change });
    }
}

impl Target {
    /// Rewrites the schema of a tool, if the dialect can express it and the budgets suffice. `answer` is the name of
    /// the function that replaces a response format.
    pub(super) fn write<'a>(
        &self,
        entry: &mut Node<'a>,
        (shape, target, format): (ToolShape, usize, ToolFormat),
        (detail, answer): (Detail, Option<&str>),
    ) -> Result<Written<'a>, Refused> {
        let omits = self.dialect.tools.no_arguments == NoArguments::Omitted && format != ToolFormat::Mcp;
        let mut written = Written { target, changes: Vec::new(), plan: Plan::default(), added: None, omit: false };
        let is_answer = answer.is_some_and(|name| shape.name(entry).is_some_and(|own| own.is(name)));
        // The function that replaces a response format always has arguments.
        let omits = omits && !is_answer;
        match shape.schema(entry).map(arguments::none) {
            None if omits => written.omit = true,
            None => {
                let mut schema = empty_schema();
                sanitize::sanitize(&mut schema, &self.options, false).map_err(|error| failed(&error, ""))?;
                written.added = Some(schema);
            }
            Some(Some(closed)) if omits => written.leave_out(self.dialect, shape, closed),
            Some(_) => {
                let (at, to) = (
                    pointer(&shape.pointer_to_schema()),
                    pointer(&tool_format::written(format, false).pointer_to_schema()),
                );
                let wrapping = is_answer.then(|| SanitizeOptions { wraps_root: true, ..self.options.clone() });
                let options = wrapping.as_ref().unwrap_or(&self.options);
                let in_brief = detail == Detail::Effects && self.options.allow == Allow::Any;
                let sanitized =
                    shape.edit_schema(entry, |schema| sanitize::sanitize_with_plan(schema, options, detail));
                (written.changes, written.plan) = sanitized
                    .unwrap_or_else(|| Ok((Vec::new(), Plan::default())))
                    .map_err(|error| failed(&error, &at))?;
                for change in written.changes.iter_mut().filter(|_| !in_brief) {
                    change.pointer.insert_str(0, &at);
                    if let Some(output) = &mut change.output_pointer {
                        output.insert_str(0, &to);
                    }
                }
                // The rewritten schema may have no arguments.
                if let (true, Some(closed)) = (omits, shape.schema(entry).and_then(arguments::none)) {
                    written.leave_out(self.dialect, shape, closed);
                }
            }
        }
        let schema = written.added.as_ref().or_else(|| shape.schema(entry)).filter(|_| !written.omit);
        for (taken, limit) in self.taken.iter().zip(self.dialect.tools.budgets) {
            let takes = budget::taken(*limit, schema);
            if takes > 0 && taken + takes > limit.limit {
                return Err(refused(limit.counts.rule(), "", budget::exceeded(*limit, *taken, takes)));
            }
        }
        for limit in self.dialect.tools.tool_budgets {
            let (what, max) = (limit.counts.words(), limit.limit);
            let takes = budget::taken(*limit, schema);
            if takes > max {
                let message = format!("expected at most {max} {what} in one tool, found {takes}");
                return Err(refused(Constraint::TooComplex.id(), "", message));
            }
        }
        Ok(written)
    }
}

fn empty_schema() -> Node<'static> {
    Node::record([("type", Node::literal("object")), ("properties", Node::empty_object())])
}

/// Returns a change that does not affect the tool's arguments.
pub(super) fn about(
    rule: Rule,
    (from, to): (String, Option<String>),
    guidance: Guidance,
    reason: Reason,
    message: String,
) -> Change {
    Change {
        pointer: from,
        output_pointer: to,
        rule: rule.id(),
        accepts: Accepts::Same,
        guidance,
        encoded: false,
        reason,
        message,
    }
}

/// Returns the fact behind a rule about tools.
pub(super) fn reason(dialect: &'static Dialect, constraint: Constraint) -> Reason {
    let fact = dialect.fact_of(constraint.id(), "").or_else(|| dialect.facts.first());
    fact.map_or(Reason::from("the dialect says so"), Fact::reason)
}
