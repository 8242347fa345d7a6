//! SARIF 2.1.0, the format of code scanning.
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>
//!
//! The document is built as a tree, like all other documents of the command: the types of `serde-sarif` need serde,
//! which the command does not use.

use std::collections::BTreeMap;

use toolwire::{
    internal::json::{Member, Node, Object, Text},
    reports::Severity,
};

use super::{line, Report};
use crate::{
    baseline::Identity,
    document::record,
    finding::{page, summary_and_advice, Group, Location},
    naming::normal,
    position::Position,
    task::Origin,
};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Version of the fingerprints, which is increased whenever the fingerprint of a finding changes.
const FINGERPRINT: &str = "toolwire/v1";
/// The only fingerprint that GitHub reads.
const LINE: &str = "primaryLocationLineHash";

pub(super) fn render<'r>(report: &'r Report<'_>) -> Node<'r> {
    let mut rules: Vec<&'static str> = Vec::new();
    let mut places = BTreeMap::<&str, usize>::new();
    for group in &report.groups {
        places.entry(group.finding.rule).or_insert_with(|| {
            rules.push(group.finding.rule);
            rules.len() - 1
        });
    }
    let results =
        report.groups.iter().map(|group| result(report, group, places.get(group.finding.rule).copied().unwrap_or(0)));
    let notifications = report.failed.iter().map(|error| {
        record([("level", Node::string("error")), ("message", text(without_links(error.line("toolwire"))))])
    });
    let driver = record([
        ("name", Node::string("toolwire")),
        ("version", Node::string(env!("CARGO_PKG_VERSION"))),
        ("semanticVersion", Node::string(env!("CARGO_PKG_VERSION"))),
        ("informationUri", Node::string(env!("CARGO_PKG_REPOSITORY"))),
        ("rules", Node::array(rules.into_iter().map(rule).collect())),
    ]);
    let invocation = record([
        ("executionSuccessful", Node::bool(report.failed.is_empty())),
        ("exitCode", Node::count(report.code.into())),
        ("toolExecutionNotifications", Node::array(notifications.collect())),
    ]);
    let run = record([
        ("tool", record([("driver", driver)])),
        ("columnKind", Node::string("unicodeCodePoints")),
        ("invocations", Node::array(Vec::from([invocation]))),
        ("results", Node::array(results.collect())),
    ]);
    record([
        ("$schema", Node::string(SCHEMA)),
        ("version", Node::string("2.1.0")),
        ("runs", Node::array(Vec::from([run]))),
    ])
}

fn rule(rule: &'static str) -> Node<'static> {
    let (summary, fix) = summary_and_advice(rule);
    record([
        ("id", Node::string(rule)),
        ("shortDescription", text(summary.into())),
        ("fullDescription", text(summary.into())),
        ("help", text(fix.into())),
        ("helpUri", Node::string(page(rule))),
    ])
}

fn result<'r>(report: &'r Report<'_>, group: &'r Group, index: usize) -> Node<'r> {
    let found = &group.finding;
    let level = match found.severity {
        Severity::Refused => "error",
        Severity::Reinterpreted => "warning",
        Severity::Ignored => "note",
    };
    let fingerprint = Identity::of(found, &group.location, report.sources).fingerprint();
    let mut fingerprints = Vec::from([(FINGERPRINT, Node::string(fingerprint.clone()))]);
    let is_in_file =
        report.sources.get(group.location.source).is_some_and(|source| source.input.origin == Origin::File);
    if !is_in_file {
        // Otherwise GitHub identifies a result by the text of its line, which all results of a server share.
        fingerprints.push((LINE, Node::string(format!("{fingerprint}:1"))));
    }
    let dialects = Node::array(found.dialects().into_iter().map(Node::string).collect());
    let properties = record([("severity", Node::string(found.word())), ("dialects", dialects)]);
    record([
        ("ruleId", Node::string(found.rule)),
        ("ruleIndex", Node::count(index as u64)),
        ("level", Node::string(level)),
        ("message", text(without_links(line(group)))),
        ("locations", Node::array(Vec::from([location(report, &group.location)]))),
        ("relatedLocations", Node::array(group.copies.iter().map(|copy| location(report, copy)).collect())),
        ("partialFingerprints", object(fingerprints)),
        ("properties", properties),
    ])
}

/// Removes links, because a message quotes names of tools: `[text](address)` is a link (SARIF 2.1.0, 3.11.6).
fn without_links(message: String) -> String {
    message.replace("](", "] (")
}

fn location<'r>(report: &'r Report<'_>, location: &'r Location) -> Node<'r> {
    let source = report.sources.get(location.source);
    // GitHub refuses a result without a file, a line and a column.
    let file = source.and_then(|source| source.file()).unwrap_or_else(|| normal(report.sarif_file));
    let is_text = source.is_some_and(|source| source.input.origin != Origin::Stream);
    let Position { line, column } = location.position.filter(|_| is_text).unwrap_or(Position { line: 1, column: 1 });
    let region = record([
        ("startLine", Node::count(line as u64)),
        ("startColumn", Node::count(column as u64)),
        ("endLine", Node::count(line as u64)),
        ("endColumn", Node::count(column as u64 + 1)),
    ]);
    let artifact = record([("uri", Node::string(uri(&file)))]);
    let mut members = Vec::from([("physicalLocation", record([("artifactLocation", artifact), ("region", region)]))]);
    let source = source.map_or("", |source| source.input.source.as_str());
    let name = match location.pointer.as_str() {
        "" => source,
        pointer => pointer,
    };
    let logical = record([
        ("name", location.tool.as_deref().map_or_else(|| Node::string(name), Node::string)),
        ("fullyQualifiedName", Node::string(format!("{source}{}", location.pointer))),
        ("kind", Node::string("member")),
    ]);
    members.push(("logicalLocations", Node::array(Vec::from([logical]))));
    object(members)
}

fn object<'r>(members: Vec<(&'static str, Node<'r>)>) -> Node<'r> {
    let members = members.into_iter().map(|(key, value)| Member { key: Text::new(key), value });
    Node::object(Object::from_members(members.collect()))
}

fn text(words: String) -> Node<'static> {
    record([("text", Node::string(words))])
}

/// Returns a URI reference: relative to the working directory, or absolute with `file:`.
fn uri(path: &str) -> String {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    let mut out = String::from(match path {
        _ if is_drive => "file:///",
        path if path.starts_with('/') => "file://",
        _ => "",
    });
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            b':' if is_drive && at == 1 => out.push(':'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
