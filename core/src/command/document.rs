//! What the documents for machines have in common.

use alloc::{string::String, vec::Vec};

use super::input::Places;
use crate::json::{Node, Text};

type Members = Vec<(Text<'static>, Node<'static>)>;

/// Which command speaks, in which version, about what.
pub(super) fn header(command: &'static str, source: &str) -> Members {
    Vec::from([
        (Text::literal("command"), Node::literal(command)),
        (Text::literal("version"), Node::literal(env!("CARGO_PKG_VERSION"))),
        (Text::literal("source"), Node::string(String::from(source))),
    ])
}

/// `line`, if there are lines, and `pointer`.
pub(super) fn located(places: &Places, pointer: &str) -> Members {
    let (line, pointer) = places.of(pointer);
    let line = line.map(|line| (Text::literal("line"), Node::count(line as u64)));
    line.into_iter().chain([(Text::literal("pointer"), Node::string(pointer))]).collect()
}
