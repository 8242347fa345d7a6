//! Members that all JSON documents of the command have in common.

use toolwire::json::{Data, Member, Node, Object, Text};

use super::places::Places;

type Members<'a> = Vec<(Text<'a>, Node<'a>)>;

/// Returns an object with these members.
pub(crate) fn record<'a, const N: usize>(members: [(&'static str, Node<'a>); N]) -> Node<'a> {
    Node::object(members.into_iter().map(|(name, value)| (Text::new(name), value)).collect())
}

/// Returns the command, the version, and the source.
pub(crate) fn header(command: &'static str, source: &str) -> Members<'static> {
    Vec::from([
        (Text::new("command"), Node::string(command)),
        (Text::new("version"), Node::string(env!("CARGO_PKG_VERSION"))),
        (Text::new("source"), Node::string(String::from(source))),
    ])
}

/// Returns `line`, if the input has lines, and `pointer`.
pub(crate) fn located(places: &Places, pointer: &str) -> Members<'static> {
    let (line, pointer) = places.of(pointer);
    let line = line.map(|line| (Text::new("line"), Node::count(line as u64)));
    line.into_iter().chain([(Text::new("pointer"), Node::string(pointer))]).collect()
}

/// Returns the JSON document of a function: its result under the result's name, and the members of its report.
pub(crate) fn with_report<'a>(name: &'static str, result: Node<'a>, report: Node<'static>) -> Node<'a> {
    let mut members = Vec::from([Member { key: Text::new(name), value: result }]);
    if let Data::Object(object) = report.into_data() {
        members.extend(object.into_members());
    }
    Node::object(Object::from_members(members))
}
