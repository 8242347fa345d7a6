//! Findings as one JSON document.

use toolwire::internal::json::{self, Node, Object, Text};

use super::Report;
use crate::{
    baseline::Identity,
    diff::kinds::kind_of,
    document::record,
    finding::{page, summary_and_advice, Group, Location},
};

/// Members that only the document of `check` has.
const CHECK_MEMBERS: [&str; 5] = ["rewritten", "errors", "notes", "notShown", "stale"];

pub(super) fn render<'r>(report: &'r Report<'_>) -> Node<'r> {
    let sources = report.sources.iter().map(|source| {
        record([
            ("source", Node::string(source.input.source.as_str())),
            ("count", Node::count(source.entries.len() as u64)),
        ])
    });
    let strings = |words: &'r [String]| Node::array(words.iter().map(|word| Node::string(word.as_str())).collect());
    let failed = report.failed.iter().map(|error| {
        record([
            ("source", error.source.as_deref().map_or_else(Node::default, Node::string)),
            ("line", number(error.file.as_ref().map_or(error.line, |file| file.1))),
            ("pointer", Node::string(error.pointer.as_str())),
            ("message", Node::string(error.message.as_str())),
        ])
    });
    let mut document = record([
        ("command", Node::string(report.command)),
        ("version", Node::string(env!("CARGO_PKG_VERSION"))),
        ("profile", report.profile.map_or_else(Node::default, Node::string)),
        ("dialects", Node::array(report.dialects.iter().map(|dialect| Node::string(dialect.name)).collect())),
        ("rewritten", Node::bool(report.is_rewritten)),
        ("failOn", Node::string(report.fail_on)),
        ("failed", Node::bool(report.code != 0)),
        ("sources", Node::array(sources.collect())),
        ("errors", Node::array(failed.collect())),
        ("notes", strings(report.notes)),
        ("findings", Node::array(report.groups.iter().map(|group| finding(report, group)).collect())),
        (
            "notShown",
            record([
                ("reinterpreted", Node::count(report.hidden_counts[1] as u64)),
                ("ignored", Node::count(report.hidden_counts[2] as u64)),
                ("byConfiguration", Node::count(report.ignored as u64)),
                ("byBaseline", Node::count(report.known as u64)),
            ]),
        ),
        ("stale", strings(&report.stale)),
    ]);
    if let (Some(facts), Some(object)) = (report.facts.as_ref().and_then(Node::as_object), document.as_object_mut()) {
        object.retain(|member| !CHECK_MEMBERS.iter().any(|name| member.key.is(*name)));
        for member in facts {
            object.set(member.key.clone(), member.value.clone());
        }
    }
    document
}

fn finding<'r>(report: &'r Report<'_>, group: &'r Group) -> Node<'r> {
    let finding = &group.finding;
    let (summary, fix) = summary_and_advice(finding.rule);
    let reported_by = finding.reported_by.iter().map(|reported_by| {
        if finding.outcome.is_some() || kind_of(finding.rule).is_some() {
            return record([("dialect", Node::string(reported_by.dialect.name))]);
        }
        let mut members = Vec::from([
            (Text::new("dialect"), Node::string(reported_by.dialect.name)),
            (Text::new("confidence"), Node::string(String::from(reported_by.confidence.as_str()))),
            (Text::new("source"), Node::string(reported_by.source)),
        ]);
        let message = reported_by.message.as_deref();
        members.extend(message.map(|message| (Text::new("message"), Node::string(message))));
        Node::object(Object::from_iter(members))
    });
    let mut members = Vec::from([
        (Text::new("rule"), Node::string(finding.rule)),
        (Text::new("severity"), Node::string(finding.word())),
        (Text::new("message"), Node::string(finding.message.as_str())),
    ]);
    members.extend(location_members(report, &group.location));
    members.extend([
        (Text::new("dialects"), Node::array(reported_by.collect())),
        (Text::new("summary"), Node::string(summary)),
        (Text::new("fix"), Node::string(fix)),
        (Text::new("documentation"), Node::string(page(finding.rule))),
        (Text::new("fingerprint"), Node::string(Identity::of(finding, &group.location, report.sources).fingerprint())),
        (
            Text::new("copies"),
            Node::array(
                group
                    .copies
                    .iter()
                    .map(|copy| Node::object(Object::from_iter(location_members(report, copy))))
                    .collect(),
            ),
        ),
    ]);
    for (name, witness) in &finding.witnesses {
        members.push((Text::new(*name), json::read(witness).unwrap_or_default()));
    }
    if finding.unlisted > 0 {
        members.push((Text::new("more"), Node::count(finding.unlisted as u64)));
    }
    Node::object(Object::from_iter(members))
}

fn location_members<'r>(report: &'r Report<'_>, location: &'r Location) -> Vec<(Text<'r>, Node<'r>)> {
    let source = report.sources.get(location.source).map_or("", |source| source.input.source.as_str());
    Vec::from([
        (Text::new("source"), Node::string(source)),
        (Text::new("line"), number(location.position.map(|position| position.line))),
        (Text::new("column"), number(location.position.map(|position| position.column))),
        (Text::new("pointer"), Node::string(location.pointer.as_str())),
        (Text::new("tool"), location.tool.as_deref().map_or_else(Node::default, Node::string)),
    ])
}

fn number(value: Option<usize>) -> Node<'static> {
    value.map_or_else(Node::default, |value| Node::count(value as u64))
}
