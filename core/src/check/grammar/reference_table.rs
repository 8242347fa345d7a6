//! What references point at. Every distinct one is resolved once and has a number.
//!
//! Resolved the way the provider does it: the text is split at `/`, nothing is decoded, and only objects are gone
//! through.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    collections::Map,
    dialect::grammar::RefRule,
    json::Node,
    schema::{codex_reachability::percent_decoded, keyword::Keyword, references},
};

/// What references to definitions begin with.
pub(super) const TABLE: &str = "#/$defs/";

pub(super) struct References<'t, 'a> {
    pub(super) root: &'t Node<'a>,
    definitions: Map<Cow<'t, str>, &'t Node<'a>>,
    numbers: Map<String, usize>,
    targets: Vec<Option<&'t Node<'a>>>,
    /// What JSON Schema says references refer to, where the grammar goes by that.
    pub(super) resolved: &'t references::References,
}

impl<'t, 'a> References<'t, 'a> {
    pub(super) fn new(root: &'t Node<'a>, resolved: &'t references::References) -> Self {
        let table = root.get(Keyword::Defs.name()).and_then(Node::as_object);
        let named = table.into_iter().flatten().filter_map(|member| Some((member.key.value()?, &member.value)));
        References { root, definitions: named.collect(), numbers: Map::new(), targets: Vec::new(), resolved }
    }

    /// The number of a reference.
    pub(super) fn number(&mut self, reference: &str) -> usize {
        if let Some(number) = self.numbers.get(reference) {
            return *number;
        }
        let number = self.targets.len();
        self.targets.push(self.resolve(reference));
        self.numbers.insert(reference.into(), number);
        number
    }

    /// The number of the reference that a schema holds, if it is a string.
    pub(super) fn held_by(&mut self, schema: &Node<'_>) -> Option<usize> {
        let reference = schema.get(Keyword::Ref)?.as_text()?.value()?;
        Some(self.number(&reference))
    }

    /// The object that a reference points at.
    pub(super) fn target(&self, number: usize) -> Option<&'t Node<'a>> {
        self.targets.get(number).copied().flatten()
    }

    /// Is this the name of a definition that the grammar takes beyond objects that are named as they are?
    pub(super) fn leads_elsewhere(&self, name: &str, rule: RefRule) -> bool {
        let is_fine =
            |target: &&Node<'_>| target.as_object().is_some() || (rule.to_true && target.as_bool() == Some(true));
        let unescaped = || Some(percent_decoded(name)?.replace("~1", "/").replace("~0", "~"));
        let is_there = |name: &str| self.definitions.get(name).is_some_and(is_fine);
        is_there(name) || (rule.escapes && !name.contains('/') && unescaped().is_some_and(|name| is_there(&name)))
    }

    /// How many numbers were given so far.
    pub(super) fn count(&self) -> usize {
        self.targets.len()
    }

    /// Gives a number to a reference to each definition.
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
