//! Reports, violations, dialects and errors as JSON.

use alloc::vec::Vec;

use crate::{
    check::Violation,
    deferred::DeferredReport,
    dialect::Dialect,
    error::Error,
    json::{Data, Node, Object, Text},
    report::{lossless, Change},
};

/// An error as `{ code, pointer, message }`, with `changes` where it carries any.
pub fn describe_error(error: &Error) -> Node<'static> {
    let mut members: Vec<(Text<'static>, Node<'static>)> =
        [("code", Node::literal(error.code().as_str())), ("pointer", owned(error.pointer())), ("message", owned(error.message()))]
            .map(|(key, value)| (Text::literal(key), value))
            .into();
    if !error.changes().is_empty() {
        members.push((Text::literal("changes"), changes(error.changes())));
    }
    Node::object(Object::from_iter(members))
}

/// `{ changes, lossless }`
pub(super) fn rewrite(list: &[Change]) -> Node<'static> {
    Node::record([("changes", changes(list)), ("lossless", Node::bool(lossless(list)))])
}

fn changes(list: &[Change]) -> Node<'static> {
    Node::array(list.iter().map(change).collect())
}

fn change(change: &Change) -> Node<'static> {
    Node::record([
        ("pointer", owned(&change.pointer)),
        ("outputPointer", change.output_pointer.as_deref().map_or(Node::new(Data::Null), owned)),
        ("rule", Node::literal(change.rule)),
        ("accepts", Node::literal(change.accepts.as_str())),
        ("guidance", Node::literal(change.guidance.as_str())),
        ("encoded", Node::bool(change.encoded)),
        ("because", owned(&change.because)),
        ("message", owned(&change.message)),
    ])
}

/// A list of `{ rule, pointer, message }`.
pub(super) fn violations(list: &[Violation]) -> Node<'static> {
    Node::array(
        list.iter()
            .map(|violation| {
                Node::record([
                    ("rule", Node::literal(violation.rule)),
                    ("pointer", owned(&violation.pointer)),
                    ("message", owned(&violation.message)),
                ])
            })
            .collect(),
    )
}

/// `{ report: { loaded, hidden, warnings, nameMap?, unreachable, savedBytes } }`
pub(super) fn deferred(report: &DeferredReport) -> Node<'static> {
    let names = |names: &[alloc::string::String]| Node::array(names.iter().map(|name| owned(name)).collect());
    let warnings = report.warnings.iter().map(|warning| match &warning.name {
        Some(name) => Node::record([("code", Node::literal(warning.code)), ("name", owned(name))]),
        None => Node::record([("code", Node::literal(warning.code))]),
    });
    let mut members: Vec<(Text<'static>, Node<'static>)> =
        [("loaded", names(&report.loaded)), ("hidden", names(&report.hidden)), ("warnings", Node::array(warnings.collect()))]
            .map(|(key, value)| (Text::literal(key), value))
            .into();
    if !report.name_map.is_empty() {
        members.push((Text::literal("nameMap"), report.name_map_node()));
    }
    members.push((Text::literal("unreachable"), Node::bool(report.unreachable)));
    members.push((Text::literal("savedBytes"), Node::count(report.saved_bytes as u64)));
    Node::record([("report", Node::object(Object::from_iter(members)))])
}

/// A list of what is known about each dialect.
pub(super) fn dialects(list: &[Dialect]) -> Node<'static> {
    Node::array(list.iter().copied().map(Dialect::to_node).collect())
}

fn owned(text: &str) -> Node<'static> {
    Node::string(alloc::string::String::from(text))
}
