//! Token usage of a reply: its member, and the usage of several rounds as one.

use alloc::{borrow::Cow, vec::Vec};

use crate::{
    collections::Map,
    json::{self, Data, LookUp, Node, Object, Text},
};

/// The member that names an entry in a list of counts. Entries of the same name are added; other entries are appended.
///
/// Source: google-genai 3.6.1, `ModalityTokenCount` (`promptTokensDetails` and others) and the `usage` of Interactions
/// (`input_tokens_by_modality` and others). The lists of other APIs (`iterations` of Anthropic) have an entry for each
/// step, so they are appended.
const COUNTED_BY: &str = "modality";

/// How two values of one round or of two rounds become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Add,
    Replace,
}

/// Returns the token usage of all rounds, from the sum of the earlier rounds and the usage of the last one. Numbers are
/// added at every depth. Any other value is that of the last round, unless it is null.
pub(crate) fn total(before: Option<&Node<'static>>, now: Option<&Node<'_>>) -> Option<Node<'static>> {
    match (before, now.filter(|now| !now.is_null())) {
        (Some(before), Some(now)) => Some(combined(before, &now.detached(), Rule::Add)),
        (before, now) => now.map(Node::detached).or_else(|| before.cloned()),
    }
}

pub(crate) fn overlay(first: Option<&Node<'static>>, last: &Node<'_>) -> Node<'static> {
    let last = last.detached();
    first.map_or_else(|| last.clone(), |first| combined(first, &last, Rule::Replace))
}

fn combined(before: &Node<'static>, now: &Node<'static>, rule: Rule) -> Node<'static> {
    match (before.data(), now.data()) {
        (_, Data::Null) => before.clone(),
        (Data::Number(one), Data::Number(two)) if rule == Rule::Add => match json::sum(one, two) {
            Some(sum) => Node::new(Data::Number(Cow::Owned(sum))),
            None => now.clone(),
        },
        (Data::Object(one), Data::Object(two)) => objects(one, two, rule),
        (Data::Array(one), Data::Array(two)) if rule == Rule::Add => lists(one, two),
        _ => now.clone(),
    }
}

fn objects(before: &Object<'static>, now: &Object<'static>, rule: Rule) -> Node<'static> {
    let (earlier, later) = (LookUp::of(before), LookUp::of(now));
    let known = before.iter().map(|member| {
        let later = later.get(&member.key);
        (member.key.clone(), later.map_or_else(|| member.value.clone(), |now| combined(&member.value, now, rule)))
    });
    let added = now.iter().filter(|member| !earlier.has(&member.key));
    Node::object(known.chain(added.map(|member| (member.key.clone(), member.value.clone()))).collect())
}

fn lists(before: &[Node<'static>], now: &[Node<'static>]) -> Node<'static> {
    let name = |entry: &Node<'static>| entry.text_at(COUNTED_BY).cloned();
    let named: Map<Text<'static>, usize> =
        before.iter().enumerate().filter_map(|(at, entry)| Some((name(entry)?, at))).collect();
    let mut all: Vec<Node<'static>> = before.to_vec();
    for entry in now {
        let counted = name(entry).and_then(|name| named.get(&name).copied());
        match counted.and_then(|at| all.get_mut(at)) {
            Some(known) => *known = combined(known, entry, Rule::Add),
            None => all.push(entry.clone()),
        }
    }
    Node::array(all)
}
