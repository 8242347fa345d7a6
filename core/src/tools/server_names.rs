//! Plans the names of several servers' tools. Each name is unique and independent of the order.
//!
//! `server__tool` identifies its server and its tool only if neither name contains `__`, the server's name does not end
//! with `_`, and the tool's name does not begin with `_`. The name of any other tool gets a digest of both names, so
//! that it does not depend on the other servers.

use alloc::{format, string::String};

use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    json::Text,
    names::{cut, digest, folded, Taken, TakenDigests, TAIL},
    options::Prefix,
};

/// Separator of a server's name and a tool's name.
pub(super) const BETWEEN: &str = "__";

/// A server, and the name of one of its tools at this server.
pub(super) type Tool = (Text<'static>, Text<'static>);

/// Plans the name of each tool. `hosted` are the names of tools that the API defines, which stay unchanged. Also
/// returns all names that are taken.
pub(super) fn plan(
    tools: &Set<Tool>,
    hosted: impl Iterator<Item = Text<'static>>,
    prefix: Prefix,
    shape: NamePattern,
) -> (Map<Tool, Text<'static>>, Taken) {
    let mut taken = Taken::default();
    hosted.for_each(|name| taken.take(&name));
    let mut count: Map<&Text<'static>, usize> = Map::new();
    tools.iter().for_each(|(_, name)| *count.entry(name).or_default() += 1);
    let is_shared = |name: &Text<'static>| count.get(&name) != Some(&1) || taken.has(&name.display());
    let has_prefix = |tool: &Tool| match prefix {
        Prefix::Auto => is_shared(&tool.1),
        Prefix::Always => true,
        Prefix::Never => false,
    };
    let wish = |tool: &Tool| match has_prefix(tool) {
        true => prefixed(shape, tool),
        false => (!is_shared(&tool.1)).then(|| tool.1.display().into_owned()),
    };
    let wishes: Map<&Tool, Option<String>> = tools.iter().map(|tool| (tool, wish(tool))).collect();
    let mut wanted: Map<&String, usize> = Map::new();
    wishes.values().flatten().for_each(|wish| *wanted.entry(wish).or_default() += 1);
    let is_disputed = |wish: &String| wanted.get(&wish) != Some(&1) || taken.has(wish);
    let (clear, hashing): (Map<&Tool, _>, Map<&Tool, _>) = wishes
        .iter()
        .map(|(tool, wish)| (*tool, wish.as_ref().filter(|wish| !is_disputed(wish))))
        .fold((Map::new(), Map::new()), |(mut clear, mut hashing), (tool, wish)| {
            match wish {
                Some(wish) => drop(clear.insert(tool, wish)),
                None => drop(hashing.insert(tool, has_prefix(tool))),
            }
            (clear, hashing)
        });
    let mut names = Map::new();
    let mut given = taken.clone();
    for (tool, has_prefix) in hashing.iter() {
        names.insert((*tool).clone(), Text::new(given.free(hashed(shape, *has_prefix, tool), shape.max_length)));
    }
    // A tool whose name equals another tool's name with a digest also gets a digest.
    for (tool, wish) in clear.iter() {
        let called = match given.has(wish) {
            true => Text::new(given.free(hashed(shape, has_prefix(tool), tool), shape.max_length)),
            false if has_prefix(tool) => Text::new((*wish).clone()),
            false => tool.1.clone(),
        };
        given.take(&called);
        names.insert((*tool).clone(), called);
    }
    (names, given)
}

/// Returns `server__tool`, if this name is unambiguous.
fn prefixed(shape: NamePattern, (server, name): &Tool) -> Option<String> {
    let (head, tail) = (folded(shape, server), folded(inner(shape), name));
    let is_same = head == server.display() && tail == name.display();
    let is_clear = ![&head, &tail].iter().any(|part| part.contains(BETWEEN));
    let found = format!("{head}{BETWEEN}{tail}");
    let fits = found.chars().count() <= shape.max_length;
    (is_same && is_clear && fits && !head.ends_with('_') && !tail.starts_with('_')).then_some(found)
}

/// Returns the pattern of a part of a name that is not the first part.
fn inner(shape: NamePattern) -> NamePattern {
    NamePattern { letter_first: false, ..shape }
}

/// Returns a name with a digest of the server and the tool. If the name is too long, the server's part is cut first.
fn hashed(shape: NamePattern, has_prefix: bool, (server, name): &Tool) -> String {
    let own = folded(inner(shape), name);
    let (tail, max_length) = (digest(&[server, name]), shape.max_length);
    let fixed = TAIL + own.chars().count() + BETWEEN.len();
    let head = match has_prefix && fixed < max_length {
        true => format!("{}{BETWEEN}{own}", cut(&folded(shape, server), max_length - fixed)),
        false => cut(&folded(shape, name), max_length.saturating_sub(TAIL)).into(),
    };
    format!("{head}_{tail}")
}

/// Returns a name for a tool that is not in the list. No tool in the list has the returned name.
pub(super) fn of_the_past(shape: NamePattern, has_prefix: bool, tool: &Tool, digests: &TakenDigests) -> Text<'static> {
    let shorter = |kept: usize| NamePattern { max_length: shape.max_length.saturating_sub(kept), ..shape };
    Text::new(digests.free(|kept| hashed(shorter(kept), has_prefix, tool)))
}
