//! Reports, violations, dialects and errors as JSON.

use alloc::{string::ToString, vec::Vec};

use super::{sanitize::SchemaReport, tools::ToolsReport, Form, Restore, SanitizedTools};
use crate::{
    adapt::AdaptReport,
    check::Violation,
    dialect::{
        lookup::{deferral::DeferralChoice, DialectChoice},
        Dialect,
    },
    error::Error,
    json::{Data, Node, Object, Text},
    repair::results::FittedResult,
    reply::{call_repair::CallReports, restore::RestoreMap},
    report::{AnswerChange, Change, Left, Repair, Repaired, RepairedCall, ResultChange},
    request::report::{DeferredReport, Warning},
    schema::validate::{ArgumentViolation, Validation},
    tools::{
        check::{RequestViolation, ToolViolation},
        formats::FormatChange,
        quarantine::{Quarantined, SetAsideWarning},
        request_facts::{ChoiceChange, RequestChange},
        sanitize_list::ToolChange,
    },
};

/// Returns an error as `{ code, pointer, message }`, with `changes` if it has any.
pub fn describe_error(error: &Error) -> Node<'static> {
    let mut members: Vec<(Text<'static>, Node<'static>)> = [
        ("code", Node::literal(error.code().as_str())),
        ("pointer", owned(error.pointer())),
        ("message", owned(error.message())),
    ]
    .map(|(key, value)| (Text::literal(key), value))
    .into();
    if !error.changes().is_empty() {
        members.push((Text::literal("changes"), changes(error.changes())));
    }
    Node::object(Object::from_iter(members))
}

/// Returns `{ changes, lossless, restorePlan }`.
pub fn rewrite(report: &SchemaReport) -> Node<'static> {
    Node::record([
        ("changes", changes(&report.changes)),
        ("lossless", Node::bool(report.lossless)),
        ("restorePlan", report.restore_plan.0.to_versioned_node()),
    ])
}

fn changes(list: &[Change]) -> Node<'static> {
    Node::array(list.iter().map(change).collect())
}

/// Returns `{ pointer, outputPointer, rule, accepts, guidance, encoded, reason, message }`.
pub fn change(change: &Change) -> Node<'static> {
    Node::record([
        ("pointer", owned(&change.pointer)),
        ("outputPointer", change.output_pointer.as_deref().map_or(Node::new(Data::Null), owned)),
        ("rule", Node::literal(change.rule.id())),
        ("accepts", Node::literal(change.accepts.as_str())),
        ("guidance", Node::literal(change.guidance.as_str())),
        ("encoded", Node::bool(change.encoded)),
        ("reason", Node::string(change.reason.to_string())),
        ("message", owned(&change.message)),
    ])
}

pub(super) fn violations(list: &[Violation]) -> Node<'static> {
    Node::array(list.iter().map(violation).collect())
}

pub(super) fn violation(violation: &Violation) -> Node<'static> {
    let node = Node::record([
        ("constraint", Node::literal(violation.constraint.id())),
        ("severity", Node::literal(violation.severity.as_str())),
        ("pointer", owned(&violation.pointer)),
        ("message", owned(&violation.message)),
    ]);
    with_more(node, violation.more)
}

fn with_more(mut node: Node<'static>, more: usize) -> Node<'static> {
    if let Some(object) = node.as_object_mut().filter(|_| more > 0) {
        object.set("more", Node::count(more as u64));
    }
    node
}

/// Returns `{ valid, errors: [{ pointer, schemaPointer, keyword, message }] }`. `valid` is null if validity cannot be
/// determined.
pub fn validation(found: &Validation) -> Node<'static> {
    Node::record([
        ("valid", found.valid.map_or_else(Node::default, Node::bool)),
        ("errors", argument_violations(&found.errors)),
    ])
}

fn argument_violations(errors: &[ArgumentViolation]) -> Node<'static> {
    Node::array(errors.iter().map(argument_violation).collect())
}

pub(super) fn argument_violation(violation: &ArgumentViolation) -> Node<'static> {
    Node::record([
        ("pointer", owned(&violation.pointer)),
        ("schemaPointer", owned(&violation.schema_pointer)),
        ("keyword", Node::literal(violation.keyword)),
        ("message", owned(&violation.message)),
    ])
}

/// Returns `{ changed, valid, changes, errors }`; `errors` is the list of [`validation`].
pub(super) fn fitted<T>(fitted: &FittedResult<T>) -> Node<'static> {
    Node::record([
        ("changed", Node::bool(fitted.changed)),
        ("valid", fitted.valid.map_or_else(Node::default, Node::bool)),
        ("changes", Node::array(fitted.changes.iter().map(result_change).collect())),
        ("errors", argument_violations(&fitted.errors)),
    ])
}

pub(super) fn result_change(change: &ResultChange) -> Node<'static> {
    Node::record([
        ("pointer", owned(&change.pointer)),
        ("outputPointer", change.output_pointer.as_ref().map(|pointer| owned(pointer)).unwrap_or_default()),
        ("rule", Node::literal(change.rule.as_str())),
        ("message", owned(&change.message)),
    ])
}

/// Returns `{ changed, valid, repairs, left, retryMessage }`. `repairs` is a list of `{ pointer, outputPointer, rule,
/// confidence, from, to, message }`, and `left` is a list of `{ pointer, keyword, reason, message }`. `valid` is null
/// if validity cannot be determined, and `retryMessage` is null if no violation is left.
pub fn repaired<T>(repaired: &Repaired<T>) -> Node<'static> {
    let Repaired { changed, valid, repairs, left, retry_message, .. } = repaired;
    let others = argument_members(*valid, repairs, left, retry_message.as_deref());
    let members = core::iter::once(("changed", Node::bool(*changed))).chain(others);
    Node::object(members.map(|(key, value)| (Text::literal(key), value)).collect())
}

fn argument_members(
    valid: Option<bool>,
    repairs: &[Repair],
    left: &[Left],
    retry_message: Option<&str>,
) -> [(&'static str, Node<'static>); 4] {
    [
        ("valid", valid.map_or_else(Node::default, Node::bool)),
        ("repairs", Node::array(repairs.iter().map(repair).collect())),
        ("left", Node::array(left.iter().map(remaining_violation).collect())),
        ("retryMessage", retry_message.map_or_else(Node::default, owned)),
    ]
}

pub(super) fn repair(repair: &Repair) -> Node<'static> {
    Node::record([
        ("pointer", owned(&repair.pointer)),
        ("outputPointer", repair.output_pointer.as_ref().map(|pointer| owned(pointer)).unwrap_or_default()),
        ("rule", Node::literal(repair.rule.as_str())),
        ("confidence", Node::literal(repair.confidence.as_str())),
        ("from", owned(&repair.from)),
        ("to", owned(&repair.to)),
        ("message", owned(&repair.message)),
    ])
}

pub(super) fn remaining_violation(left: &Left) -> Node<'static> {
    Node::record([
        ("pointer", owned(&left.pointer)),
        ("keyword", Node::literal(left.keyword)),
        ("reason", Node::literal(left.reason.as_str())),
        ("message", owned(&left.message)),
    ])
}

/// Returns `{ quarantined, changes?, lossless, restore, warning? }`. Bindings remove the warning and show it.
pub fn tools(list: &ToolsReport, with_changes: bool) -> Node<'static> {
    let mut members = Object::new();
    members.set("quarantined", quarantined(&list.quarantined));
    if with_changes {
        members.set("changes", tool_changes(&list.changes));
    }
    members.set("lossless", Node::bool(list.lossless));
    members.set("restore", list.restore.0.to_node());
    if let Some(set_aside) = &list.warning {
        members.set("warning", warning(set_aside));
    }
    Node::object(members)
}

/// Returns `{ quarantined, lossless, restore, warning? }`. The changes are computed when they are read.
pub(crate) fn ready_tools<T: Form>(ready: &SanitizedTools<T>) -> Node<'static> {
    let mut members = Object::new();
    members.set("quarantined", quarantined(&ready.quarantined));
    members.set("lossless", Node::bool(ready.lossless));
    members.set("restore", ready.restore.0.to_node());
    if let Some(set_aside) = &ready.warning {
        members.set("warning", warning(set_aside));
    }
    Node::object(members)
}

pub(super) fn warning(SetAsideWarning { message, key }: &SetAsideWarning) -> Node<'static> {
    Node::record([("message", owned(message)), ("key", owned(key))])
}

/// Returns `{ report, restore }` with the members of an [`AdaptReport`] in `report`.
pub fn adapted(report: &AdaptReport, restore: &Restore) -> Node<'static> {
    Node::record([("report", request(report)), ("restore", restore.0.to_node())])
}

pub(super) fn request(report: &AdaptReport) -> Node<'static> {
    let deferred = report.deferred.as_ref().map_or_else(Node::default, deferred_report);
    let unforced = report.unforced.iter().map(|name| owned(name)).collect();
    let mut node = Node::record([
        ("dialect", Node::literal(report.dialect.as_str())),
        ("deferred", deferred),
        ("quarantined", quarantined(&report.quarantined)),
        ("changes", tool_changes(&report.changes)),
        ("unforced", Node::array(unforced)),
        ("choice", report.choice.as_ref().map_or_else(Node::default, choice_change)),
        ("requestChanges", Node::array(report.request_changes.iter().map(request_change).collect())),
        ("formatChanges", Node::array(report.format_changes.iter().map(format_change).collect())),
    ]);
    if let Some(betas) = &report.betas {
        node.set("betas", Node::array(betas.iter().map(|beta| owned(beta)).collect()));
    }
    node
}

pub(super) fn format_change(format_change: &FormatChange) -> Node<'static> {
    let mut node = change(&format_change.change);
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("dialect"), Node::literal(format_change.dialect.as_str()));
    }
    node
}

pub(super) fn request_change(change: &RequestChange) -> Node<'static> {
    Node::record([
        ("pointer", owned(&change.pointer)),
        ("rule", Node::literal(change.rule)),
        ("message", owned(&change.message)),
        ("reason", owned(&change.reason.to_string())),
    ])
}

pub(super) fn choice_change(change: &ChoiceChange) -> Node<'static> {
    Node::record([
        ("found", owned(&change.found)),
        ("sent", owned(&change.sent)),
        ("because", Node::literal(change.because)),
    ])
}

fn quarantined(list: &[Quarantined]) -> Node<'static> {
    Node::array(list.iter().map(quarantined_tool).collect())
}

pub(super) fn quarantined_tool(tool: &Quarantined) -> Node<'static> {
    let mut members = Vec::from([("name", tool.name.as_deref().map_or_else(Node::default, owned))]);
    members.extend(tool.server.as_deref().map(|server| ("server", owned(server))));
    members.extend([
        ("pointer", owned(&tool.pointer)),
        ("rule", Node::literal(tool.rule)),
        ("message", owned(&tool.message)),
    ]);
    Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
}

fn tool_changes(list: &[ToolChange]) -> Node<'static> {
    Node::array(list.iter().map(tool_change).collect())
}

pub(super) fn tool_change(tool_change: &ToolChange) -> Node<'static> {
    let mut node = change(&tool_change.change);
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("tool"), owned(&tool_change.tool));
        object.insert_at(1, Text::literal("dialect"), Node::literal(tool_change.dialect.as_str()));
        if let Some(server) = &tool_change.server {
            object.insert_at(1, Text::literal("server"), owned(server));
        }
    }
    node
}

pub(super) fn tool_violations(list: &[ToolViolation]) -> Node<'static> {
    Node::array(list.iter().map(tool_violation).collect())
}

pub(super) fn tool_violation(violation: &ToolViolation) -> Node<'static> {
    let mut node = Node::record([
        ("tool", violation.tool.as_deref().map_or_else(Node::default, owned)),
        ("dialect", Node::literal(violation.dialect.as_str())),
        ("constraint", Node::literal(violation.constraint.id())),
        ("severity", Node::literal(violation.severity.as_str())),
        ("pointer", owned(&violation.pointer)),
        ("message", owned(&violation.message)),
        ("confidence", Node::literal(violation.confidence.as_str())),
        ("source", Node::string(violation.source)),
    ]);
    if let (Some(server), Some(object)) = (&violation.server, node.as_object_mut()) {
        object.insert_at(1, Text::literal("server"), owned(server));
    }
    with_more(node, violation.more)
}

pub(super) fn request_violations(list: &[RequestViolation]) -> Node<'static> {
    Node::array(list.iter().map(request_violation).collect())
}

pub(super) fn request_violation(violation: &RequestViolation) -> Node<'static> {
    let node = Node::record([
        ("constraint", Node::literal(violation.constraint)),
        ("severity", Node::literal(violation.severity.as_str())),
        ("pointer", owned(&violation.pointer)),
        ("message", owned(&violation.message)),
        ("confidence", Node::literal(violation.fact.confidence.as_str())),
        ("source", Node::string(violation.fact.source)),
    ]);
    with_more(node, violation.more)
}

/// Adds `{ valid, repairs, left, retryMessage }` if the call is repaired.
pub(super) fn call<'a>(
    restore_map: &RestoreMap,
    name: &Text<'_>,
    arguments: Node<'a>,
    repaired: Option<&RepairedCall>,
) -> Node<'a> {
    let entry = restore_map.name(name);
    let index = entry.as_ref().and_then(|entry| entry.index);
    let (server, name, namespace) = match entry {
        Some(entry) => {
            (entry.server.map(Text::into_owned), entry.name.into_owned(), entry.namespace.map(Text::into_owned))
        }
        None => (None, name.borrowed().into_owned(), None),
    };
    let mut members: Vec<(Text<'static>, Node<'a>)> = Vec::new();
    members.extend(server.map(|server| (Text::literal("server"), Node::string(server))));
    members.extend(index.map(|index| (Text::literal("index"), Node::count(index as u64))));
    members.push((Text::literal("name"), Node::string(name)));
    members.extend(namespace.map(|namespace| (Text::literal("namespace"), Node::string(namespace))));
    members.push((Text::literal("arguments"), arguments));
    members.extend(repaired.into_iter().flat_map(about_call).map(|(key, value)| (Text::literal(key), value)));
    Node::object(Object::from_iter(members))
}

/// `repaired` is null if repairing is disabled or the tool has no schema.
pub(super) fn repaired_client_call(call: Option<&RepairedCall>) -> Node<'static> {
    Node::record([("repaired", call.map(repaired_call).unwrap_or_default())])
}

pub(super) fn restored_reply(reports: &mut CallReports) -> Node<'static> {
    let (calls, changes) = (reports.take(), reports.take_answer_changes());
    Node::record([("calls", repaired_calls(&calls)), ("answerChanges", answer_changes(&changes))])
}

pub(crate) fn answer_changes(changes: &[AnswerChange]) -> Node<'static> {
    Node::array(changes.iter().map(|change| Node::literal(change.as_str())).collect())
}

pub(crate) fn repaired_calls(calls: &[RepairedCall]) -> Node<'static> {
    Node::array(calls.iter().map(repaired_call).collect())
}

pub(super) fn repaired_call(call: &RepairedCall) -> Node<'static> {
    let named = [("id", call.id.as_deref().map_or_else(Node::default, owned)), ("name", owned(&call.name))];
    let named = named.into_iter().chain(about_call(call)).map(|(key, value)| (Text::literal(key), value));
    Node::object(named.collect())
}

fn about_call(call: &RepairedCall) -> [(&'static str, Node<'static>); 4] {
    let RepairedCall { valid, repairs, left, retry_message, .. } = call;
    argument_members(*valid, repairs, left, retry_message.as_deref())
}

/// Returns `{ report, restore }`. The members of `report` are `loaded`, `hidden`, `warnings`, `unreachable`,
/// `savedBytes`, and unless they are empty `nameMap`, `betas` and `toolSearchName`.
pub fn deferred(report: &DeferredReport, restore: &Restore) -> Node<'static> {
    Node::record([("report", deferred_report(report)), ("restore", restore.0.to_node())])
}

pub(super) fn deferred_report(report: &DeferredReport) -> Node<'static> {
    let names = |names: &[alloc::string::String]| Node::array(names.iter().map(|name| owned(name)).collect());
    let warnings = report.warnings.iter().map(request_warning);
    let mut members: Vec<(Text<'static>, Node<'static>)> = [
        ("loaded", names(&report.loaded)),
        ("hidden", names(&report.hidden)),
        ("warnings", Node::array(warnings.collect())),
    ]
    .map(|(key, value)| (Text::literal(key), value))
    .into();
    if !report.name_map.is_empty() {
        members.push((Text::literal("nameMap"), report.name_map_node()));
    }
    if !report.betas.is_empty() {
        let betas = report.betas.iter().map(|beta| Node::literal(beta)).collect();
        members.push((Text::literal("betas"), Node::array(betas)));
    }
    members.extend(report.tool_search_name.as_deref().map(|name| (Text::literal("toolSearchName"), owned(name))));
    members.push((Text::literal("unreachable"), Node::bool(report.unreachable)));
    members.push((Text::literal("savedBytes"), Node::count(report.saved_bytes as u64)));
    Node::object(Object::from_iter(members))
}

pub(super) fn request_warning(warning: &Warning) -> Node<'static> {
    let mut described = Node::record([("code", Node::literal(warning.code))]);
    for (key, value) in [("name", &warning.name), ("pointer", &warning.pointer)] {
        if let Some(value) = value {
            described.set(key, owned(value));
        }
    }
    described
}

/// Returns a list of the known facts about each dialect.
pub fn dialects(list: &[Dialect]) -> Node<'static> {
    Node::array(list.iter().map(dialect).collect())
}

/// Returns the known facts about a dialect.
pub fn dialect(dialect: &Dialect) -> Node<'static> {
    dialect.describe()
}

pub(super) fn choice(choice: &DialectChoice) -> Node<'static> {
    Node::record([
        ("dialect", Node::literal(choice.dialect.as_str())),
        ("confidence", Node::literal(choice.confidence.as_str())),
        ("because", owned(&choice.because)),
    ])
}

/// `target` and `native` are valid options; `target` is null if no target exists.
pub(super) fn deferral(choice: &DeferralChoice) -> Node<'static> {
    Node::record([
        ("target", choice.target.map_or_else(Node::default, |target| Node::literal(target.as_str()))),
        ("native", Node::literal(choice.native.as_str())),
        ("confidence", Node::literal(choice.confidence.as_str())),
        ("because", owned(&choice.because)),
        ("checked", Node::literal(choice.checked)),
    ])
}

fn owned(text: &str) -> Node<'static> {
    Node::string(alloc::string::String::from(text))
}
