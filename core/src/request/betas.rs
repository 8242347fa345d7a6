//! The betas of Anthropic Messages: names of features that a request uses, in the header `anthropic-beta` and in the
//! body.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{
        lazy::{edit_member, view},
        Data, Node, Text,
    },
};

/// Members of a body that contain betas. Backends that read betas from the body read the first member.
const BODY_MEMBERS: [&str; 2] = ["anthropic_beta", "betas"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    client_names: Set<String>,
    pub(crate) changes: Changes,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    removed: Set<&'static str>,
    added: Vec<&'static str>,
}

impl Header {
    pub(crate) fn of(values: &[String]) -> Self {
        Header { client_names: names_in(values).map(String::from).collect(), ..Self::default() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        let is_kept = self.client_names.contains(name) && !self.changes.removed.contains(name);
        is_kept || self.changes.added.contains(&name)
    }

    pub(crate) fn remove(&mut self, name: &'static str) {
        self.changes.added.retain(|added| *added != name);
        if self.client_names.contains(name) {
            self.changes.removed.insert(name);
        }
    }

    pub(crate) fn add(&mut self, name: &'static str) {
        if !self.has(name) {
            self.changes.removed.remove(name);
            if !self.client_names.contains(name) {
                self.changes.added.push(name);
            }
        }
    }
}

impl Changes {
    pub(crate) fn apply(&self, values: &[String]) -> Option<Vec<String>> {
        if *self == Changes::default() {
            return None;
        }
        let kept = names_in(values).filter(|name| !self.removed.contains(name));
        Some(kept.chain(self.added.iter().copied()).map(String::from).collect())
    }

    /// Adds the changes of another request. Keeps the betas that either request needs.
    pub(crate) fn add_changes(&mut self, other: &Changes) {
        let in_both = self.removed.iter().copied().filter(|name| other.removed.contains(name));
        self.removed = in_both.collect();
        for name in &other.added {
            if !self.added.contains(name) {
                self.added.push(name);
            }
        }
    }
}

pub(crate) fn names_in(values: &[String]) -> impl Iterator<Item = &str> {
    values.iter().flat_map(|value| split_names(value))
}

fn split_names(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Returns the value of the header without refused betas and with needed betas, or `None` if it has no names.
pub(crate) fn rewrite_header<'v>(
    value: Option<&'v str>,
    is_refused: &dyn Fn(&str) -> bool,
    needed: &[&str],
) -> Option<Cow<'v, str>> {
    let names_in_value = || value.into_iter().flat_map(split_names);
    let missing: Vec<&str> =
        needed.iter().copied().filter(|beta| !names_in_value().any(|name| name == *beta)).collect();
    if missing.is_empty() && !names_in_value().any(is_refused) {
        return value.map(Cow::Borrowed);
    }
    let kept: Vec<&str> = names_in_value().filter(|name| !is_refused(name)).chain(missing).collect();
    (!kept.is_empty()).then(|| Cow::Owned(kept.join(",")))
}

/// `visit` receives each name, and the JSON Pointer to the string that contains it.
pub(crate) fn each_in_body(request: &Node<'_>, visit: &mut dyn FnMut(&str, &str)) -> Result<(), Error> {
    for key in BODY_MEMBERS {
        let Some(member) = request.get(key) else { continue };
        let member = view(member)?;
        let in_text = |text: &Text<'_>, pointer: &str, visit: &mut dyn FnMut(&str, &str)| {
            split_names(&text.display()).for_each(|name| visit(name, pointer));
        };
        match member.data() {
            Data::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    if let Some(text) = item.as_text() {
                        in_text(text, &format!("/{key}/{at}"), visit);
                    }
                }
            }
            Data::String(text) => in_text(text, &format!("/{key}"), visit),
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn is_in_first_member(pointer: &str) -> bool {
    let [member, _] = BODY_MEMBERS;
    pointer
        .strip_prefix('/')
        .and_then(|rest| rest.strip_prefix(member))
        .is_some_and(|rest| !rest.starts_with(|c| c != '/'))
}

pub(crate) fn in_body(request: &Node<'_>) -> Result<Vec<String>, Error> {
    let mut betas = Vec::new();
    each_in_body(request, &mut |name, _| betas.push(name.into()))?;
    Ok(betas)
}

/// Removes refused betas from the body, and adds needed betas. Removes a member that becomes empty.
pub(crate) fn rewrite_body(
    request: &mut Node<'_>,
    is_refused: &dyn Fn(&str) -> bool,
    needed: &[&'static str],
) -> Result<(), Error> {
    for key in BODY_MEMBERS {
        if edit_member(request, key, |betas| Ok(rewrite_member(betas, is_refused, needed)))? == Some(true) {
            request.remove(key);
        }
    }
    Ok(())
}

pub(crate) fn add_to_body(request: &mut Node<'_>, name: &'static str) -> Result<(), Error> {
    let [member, _] = BODY_MEMBERS;
    let added = edit_member(request, member, |betas| {
        let is_list = matches!(betas.data(), Data::Array(_) | Data::String(_));
        let refuses_none = |_: &str| false;
        rewrite_member(betas, &refuses_none, &[name]);
        Ok(is_list)
    })?;
    if added != Some(true) {
        request.set(member, Node::array([Node::literal(name)].into()));
    }
    Ok(())
}

fn rewrite_member(betas: &mut Node<'_>, is_refused: &dyn Fn(&str) -> bool, needed: &[&'static str]) -> bool {
    match betas.data() {
        Data::Array(items) => {
            let has_name = |item: &Node<'_>, is: &dyn Fn(&str) -> bool| {
                item.as_text().is_some_and(|text| split_names(&text.display()).any(is))
            };
            let is_missing = |beta: &&&str| !items.iter().any(|item| has_name(item, &|name| name == **beta));
            let missing: Vec<&'static str> = needed.iter().filter(is_missing).copied().collect();
            if missing.is_empty() && !items.iter().any(|item| has_name(item, is_refused)) {
                return false;
            }
            if let Some(items) = betas.as_array_mut() {
                // An entry may contain several names.
                items.retain_mut(|item| !has_name(item, is_refused) || !rewrite_member(item, is_refused, &[]));
                items.extend(missing.into_iter().map(Node::literal));
            }
            betas.as_array().is_some_and(<[Node<'_>]>::is_empty)
        }
        Data::String(text) => {
            let Some(value) = text.value() else { return false };
            match rewrite_header(Some(&value), is_refused, needed).map(String::from) {
                None => return true,
                Some(remaining) if remaining == *value => {}
                Some(remaining) => betas.replace(Data::String(Text::new(remaining))),
            }
            false
        }
        _ => false,
    }
}
