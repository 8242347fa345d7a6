//! The targets of references. Every distinct reference is resolved once and has a number.
//!
//! References are resolved as the provider does it: the text is split at `/`, nothing is decoded, and the path leads
//! through objects only.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    collections::Map,
    dialect::grammar::RefRule,
    json::{unescaped_token, Node},
    schema::{keyword::Keyword, references, uri::percent_decoded},
};

/// Prefix of references to definitions.
pub(super) const TABLE: &str = "#/$defs/";

pub(super) struct References<'t, 'a> {
    pub(super) root: &'t Node<'a>,
    definitions: Map<Cow<'t, str>, &'t Node<'a>>,
    numbers: Map<String, usize>,
    targets: Vec<Option<&'t Node<'a>>>,
    /// Targets according to JSON Schema, if the grammar uses them.
    pub(super) resolved: &'t references::References,
}

impl<'t, 'a> References<'t, 'a> {
    pub(super) fn new(root: &'t Node<'a>, resolved: &'t references::References) -> Self {
        let table = root.get(Keyword::Defs.name()).and_then(Node::as_object);
        let named = table.into_iter().flatten().filter_map(|member| Some((member.key.value()?, &member.value)));
        References { root, definitions: named.collect(), numbers: Map::new(), targets: Vec::new(), resolved }
    }

    /// Returns the number of a reference.
    pub(super) fn number(&mut self, reference: &str) -> usize {
        if let Some(number) = self.numbers.get(reference) {
            return *number;
        }
        let number = self.targets.len();
        self.targets.push(self.resolve(reference));
        self.numbers.insert(reference.into(), number);
        number
    }

    /// Returns the number of a schema's reference, if the reference is a string.
    pub(super) fn number_of(&mut self, schema: &Node<'_>) -> Option<usize> {
        let reference = schema.get(Keyword::Ref)?.as_text()?.value()?;
        Some(self.number(&reference))
    }

    /// Returns the object that a reference points to.
    pub(super) fn target(&self, number: usize) -> Option<&'t Node<'a>> {
        self.targets.get(number).copied().flatten()
    }

    /// Returns true if `name` is that of a definition which only this grammar accepts as a target: the schema `true`,
    /// or a definition whose name is escaped.
    pub(super) fn leads_elsewhere(&self, name: &str, rule: RefRule) -> bool {
        let is_fine =
            |target: &&Node<'_>| target.as_object().is_some() || (rule.to_true && target.as_bool() == Some(true));
        let unescaped = || Some(unescaped_token(&percent_decoded(name)?).into_owned());
        let is_there = |name: &str| self.definitions.get(name).is_some_and(is_fine);
        is_there(name) || (rule.escapes && !name.contains('/') && unescaped().is_some_and(|name| is_there(&name)))
    }

    /// Returns the number of distinct references so far.
    pub(super) fn count(&self) -> usize {
        self.targets.len()
    }

    /// Assigns a number to a reference to each definition.
    pub(super) fn number_definitions(&mut self) -> Vec<usize> {
        let texts: Vec<String> = self.definitions.keys().map(|name| format!("{TABLE}{name}")).collect();
        texts.iter().map(|text| self.number(text)).collect()
    }

    fn resolve(&self, reference: &str) -> Option<&'t Node<'a>> {
        if reference == "#" {
            return Some(self.root);
        }
        let mut parts = reference.strip_prefix(TABLE)?.split('/');
        let first = self.definitions.get(parts.next()?).copied()?;
        parts.try_fold(first, |node, part| node.get(part)).filter(|node| node.as_object().is_some())
    }
}
