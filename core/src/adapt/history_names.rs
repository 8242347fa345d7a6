//! Names of tools in the history.

use alloc::string::String;

use super::context::RequestContext;
use crate::{
    collections::Set,
    dialect::surface::NamePattern,
    json::Text,
    names::{self, Names, TakenDigests},
};

/// Finds the new name of a tool that the history or the choice mentions.
pub(super) struct HistoryNames<'c> {
    names: &'c Names,
    callable: &'c Set<String>,
    pattern: NamePattern,
    digests: TakenDigests,
}

impl<'c> HistoryNames<'c> {
    pub(super) fn of(context: &'c RequestContext<'_, '_>) -> Self {
        let callable = &context.sent.callable;
        let digests = TakenDigests::of(callable.iter());
        HistoryNames { names: &context.names, callable, pattern: context.name_pattern(), digests }
    }

    /// Returns the new name of a tool; `None` if the name stays. An unlisted tool with an illegal name gets a legal
    /// name.
    pub(super) fn new_name(&self, name: &Text<'_>) -> Option<String> {
        let planned = self.names.new_name(name).map(String::from);
        // Entries that are sent unchanged keep even illegal names.
        let needs_legal_name = || !names::is_legal(self.pattern, name) && !self.callable.contains(&*name.display());
        planned.or_else(|| needs_legal_name().then(|| names::for_history(self.pattern, name, &self.digests)))
    }
}
