//! What the documents for machines have in common.

use toolwire::json::{Node, Text};

use super::input::Places;

type Members<'a> = Vec<(Text<'a>, Node<'a>)>;

/// An object of these members.
pub(crate) fn record<'a, const N: usize>(members: [(&'static str, Node<'a>); N]) -> Node<'a> {
    Node::object(members.into_iter().map(|(name, value)| (Text::new(name), value)).collect())
}

/// Which command speaks, in which version, about what.
pub(crate) fn header(command: &'static str, source: &str) -> Members<'static> {
    Vec::from([
        (Text::new("command"), Node::string(command)),
        (Text::new("version"), Node::string(env!("CARGO_PKG_VERSION"))),
        (Text::new("source"), Node::string(String::from(source))),
    ])
}

/// `line`, if there are lines, and `pointer`.
pub(crate) fn located(places: &Places, pointer: &str) -> Members<'static> {
    let (line, pointer) = places.of(pointer);
    let line = line.map(|line| (Text::new("line"), Node::count(line as u64)));
    line.into_iter().chain([(Text::new("pointer"), Node::string(pointer))]).collect()
}
