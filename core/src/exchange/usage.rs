//! Token usage of a reply: its member, and the usage of several rounds as one.

use alloc::{borrow::Cow, vec::Vec};

use crate::{
    collections::Map,
    json::{self, Data, LookUp, Node, Object, Text},
};

/// The member that names an entry in a list of counts. Entries with equal names are added; other entries are appended.
///
/// Source: google-genai 3.6.1, `ModalityTokenCount` (`promptTokensDetails` and others) and the `usage` of Interactions
/// (`input_tokens_by_modality` and others). The lists of other APIs (`iterations` of Anthropic) have an entry for each
/// step, so their entries are appended.
const COUNTED_BY: &str = "modality";

/// How two values of one round or of two rounds become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Add,
    Replace,
}

/// Returns the token usage of all rounds, from the sum of the earlier rounds and the usage of the last round. Numbers
/// are added at every depth. Any other value comes from the last round, unless it is null.
pub(crate) fn total(before: Option<&Node<'static>>, now: Option<&Node<'_>>) -> Option<Node<'static>> {
    match (before, now.filter(|now| !now.is_null())) {
        (Some(before), Some(now)) => Some(combine(before, &now.detached(), Rule::Add)),
        (before, now) => now.map(Node::detached).or_else(|| before.cloned()),
    }
}

pub(crate) fn overlay(first: Option<&Node<'static>>, last: &Node<'_>) -> Node<'static> {
    let last = last.detached();
    first.map_or_else(|| last.clone(), |first| combine(first, &last, Rule::Replace))
}

fn combine(before: &Node<'static>, now: &Node<'static>, rule: Rule) -> Node<'static> {
    match (before.data(), now.data()) {
        (_, Data::Null) => before.clone(),
        (Data::Number(left), Data::Number(right)) if rule == Rule::Add => match json::sum(left, right) {
            Some(sum) => Node::new(Data::Number(Cow::Owned(sum))),
            None => now.clone(),
        },
        (Data::Object(left), Data::Object(right)) => objects(left, right, rule),
        (Data::Array(left), Data::Array(right)) if rule == Rule::Add => lists(left, right),
        _ => now.clone(),
    }
}

fn objects(before: &Object<'static>, now: &Object<'static>, rule: Rule) -> Node<'static> {
    let (earlier, later) = (LookUp::of(before), LookUp::of(now));
    let known = before.iter().map(|member| {
        let later = later.get(&member.key);
        (member.key.clone(), later.map_or_else(|| member.value.clone(), |now| combine(&member.value, now, rule)))
    });
    let added = now.iter().filter(|member| !earlier.has(&member.key));
    Node::object(known.chain(added.map(|member| (member.key.clone(), member.value.clone()))).collect())
}

fn lists(before: &[Node<'static>], now: &[Node<'static>]) -> Node<'static> {
    let name = |entry: &Node<'static>| entry.text_at(COUNTED_BY).cloned();
    let indices_by_name: Map<Text<'static>, usize> =
        before.iter().enumerate().filter_map(|(at, entry)| Some((name(entry)?, at))).collect();
    let mut all: Vec<Node<'static>> = before.to_vec();
    for entry in now {
        let counted = name(entry).and_then(|name| indices_by_name.get(&name).copied());
        match counted.and_then(|at| all.get_mut(at)) {
            Some(known) => *known = combine(known, entry, Rule::Add),
            None => all.push(entry.clone()),
        }
    }
    Node::array(all)
}
