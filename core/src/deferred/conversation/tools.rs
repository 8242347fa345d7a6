//! The tools of a conversation: those that its request lists, and those that came with its history.

use alloc::vec::Vec;

use crate::{
    collections::Map,
    deferred::{
        report::Warnings,
        tool::{self, Kind},
    },
    json::{Node, Text},
};

/// One tool, or something else that stands in a list of tools.
pub(in crate::deferred) struct Tool<'a> {
    /// Its flat name, unique among all tools; `None`: nobody can refer to it.
    pub(in crate::deferred) name: Option<Text<'a>>,
    /// The newest definition, in the shape of its source.
    pub(in crate::deferred) definition: Node<'a>,
    pub(in crate::deferred) kind: Kind,
    /// It came deferred.
    pub(in crate::deferred) deferred: bool,
    /// The request lists it, or the history brings it before anybody speaks.
    pub(in crate::deferred) listed: bool,
    /// Something loaded it.
    pub(in crate::deferred) loaded: bool,
    /// It was taken away, and nothing brought it back.
    pub(in crate::deferred) withdrawn: bool,
    /// It was taken away when it could be called, whatever brought it back.
    pub(in crate::deferred) was_gone: bool,
    /// It was defined anew.
    pub(in crate::deferred) redefined: bool,
    /// The caller wants it sent whatever the history says: it stands in the list, where no turn moves it.
    pub(in crate::deferred) is_wanted: bool,
}

impl Tool<'_> {
    /// Whether the model can call it once everything has happened.
    pub(in crate::deferred) const fn is_available(&self) -> bool {
        !self.withdrawn && (self.loaded || (self.listed && !self.deferred))
    }
}

/// All of them, by place and by name.
#[derive(Default)]
pub(in crate::deferred) struct Tools<'a> {
    list: Vec<Tool<'a>>,
    index: Map<Text<'a>, usize>,
    /// The first search that the API's own servers run.
    hosted_search: Option<usize>,
}

impl<'a> Tools<'a> {
    /// Takes a tool of the request's list in, or one that the history brings before anybody speaks. Of several with one
    /// name the first stays, but one that is not deferred takes the place of one that is.
    pub(in crate::deferred) fn list(&mut self, definition: Node<'a>, warnings: &mut Warnings) {
        if tool::is_placeholder(&definition) {
            return;
        }
        let kind = tool::kind(&definition);
        let (deferred, is_odd) = tool::deferral(&definition);
        let name = tool::name(&definition).filter(|_| kind == Kind::Tool).cloned();
        if is_odd {
            warnings.about_maybe("defer_loading_not_boolean", name.as_ref());
        }
        let deferred = deferred && name.is_some();
        if let Some(first) = name.as_ref().and_then(|name| self.get_mut(name)) {
            warnings.about_maybe("duplicate_tool_name", name.as_ref());
            if first.deferred && !deferred {
                first.definition = definition;
                first.deferred = false;
            }
            return;
        }
        self.push(Tool {
            name,
            definition,
            kind,
            deferred,
            listed: true,
            loaded: false,
            withdrawn: false,
            was_gone: false,
            redefined: false,
            is_wanted: false,
        });
    }

    /// Takes in a definition that came with the history. With `replaces` it is the newest definition of its tool.
    pub(in crate::deferred) fn bring(&mut self, definition: &Node<'a>, replaces: bool, warnings: &mut Warnings) {
        let kind = tool::kind(definition);
        let name = tool::name(definition).filter(|_| kind == Kind::Tool).cloned();
        if let Some(known) = name.as_ref().and_then(|name| self.get_mut(name)) {
            if replaces && !tool::is_same(&known.definition, definition) {
                known.definition = definition.clone();
                known.redefined = true;
                warnings.about_maybe("redefined_tool", name.as_ref());
            } else if !replaces
                && (!known.deferred && known.listed || !known.listed && !tool::is_same(&known.definition, definition))
            {
                warnings.about_maybe("duplicate_tool_name", name.as_ref());
            }
            return;
        }
        self.push(Tool {
            name,
            definition: definition.clone(),
            kind,
            deferred: true,
            listed: false,
            loaded: false,
            withdrawn: false,
            was_gone: false,
            redefined: false,
            is_wanted: false,
        });
    }

    fn push(&mut self, tool: Tool<'a>) {
        if tool.kind == Kind::HostedSearch {
            self.hosted_search.get_or_insert(self.list.len());
        }
        if let Some(name) = &tool.name {
            self.index.insert(name.clone(), self.list.len());
        }
        self.list.push(tool);
    }

    pub(in crate::deferred) fn get(&self, name: &Text<'_>) -> Option<&Tool<'a>> {
        // Keys borrow from the request, the name from anywhere: a shorter-lived view of the index compares both.
        let index: &Map<Text<'_>, usize> = &self.index;
        index.get(name).and_then(|at| self.list.get(*at))
    }

    pub(in crate::deferred) fn get_mut(&mut self, name: &Text<'_>) -> Option<&mut Tool<'a>> {
        let index: &Map<Text<'_>, usize> = &self.index;
        let at = *index.get(name)?;
        self.list.get_mut(at)
    }

    pub(in crate::deferred) fn iter(&self) -> core::slice::Iter<'_, Tool<'a>> {
        self.list.iter()
    }

    pub(in crate::deferred) fn iter_mut(&mut self) -> core::slice::IterMut<'_, Tool<'a>> {
        self.list.iter_mut()
    }

    pub(in crate::deferred) fn into_list(self) -> Vec<Tool<'a>> {
        self.list
    }

    /// The search that the API's own servers run, if it is listed.
    pub(in crate::deferred) fn hosted_search(&self) -> Option<&Tool<'a>> {
        self.hosted_search.and_then(|at| self.list.get(at))
    }
}
