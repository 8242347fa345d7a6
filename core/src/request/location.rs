//! The location of a part of the given request. It becomes a JSON Pointer only if a warning needs it.

use alloc::string::String;
use core::fmt::Write as _;

use crate::{json::push_token, options::Api, wire};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Name(&'static str),
    Index(usize),
}

/// Maximum number of steps: a message, a block, a block of its content, and a reference in it.
const DEPTH: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Root {
    #[default]
    Prompt,
    History,
    Tools,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    root: Root,
    steps: [Step; DEPTH],
    depth: usize,
    /// True if a step was omitted. The location then points to a part that contains the actual part.
    is_cut: bool,
}

impl Default for Location {
    fn default() -> Self {
        Location { root: Root::Prompt, steps: [Step::Index(0); DEPTH], depth: 0, is_cut: false }
    }
}

impl Location {
    pub(crate) fn of_history() -> Self {
        Location { root: Root::History, ..Location::default() }
    }

    /// `at` starts at 1; 0 is the system prompt.
    pub(crate) fn of_message(at: usize) -> Self {
        match at.checked_sub(1) {
            Some(index) => Self::of_history().index(index),
            None => Location::default(),
        }
    }

    pub(crate) fn of_list() -> Self {
        Location { root: Root::Tools, ..Location::default() }
    }

    pub(crate) fn is_in_list(&self) -> bool {
        self.root == Root::Tools
    }

    pub(crate) fn entry_of_list(&self) -> Option<usize> {
        match self.steps.first() {
            Some(Step::Index(index)) if self.is_in_list() && self.depth > 0 => Some(*index),
            _ => None,
        }
    }

    pub(crate) fn is_entry(&self) -> bool {
        self.entry_of_list().is_some() && self.depth == 1
    }

    pub(crate) fn with_step(mut self, step: Step) -> Self {
        match self.steps.get_mut(self.depth) {
            Some(free) if !self.is_cut => {
                *free = step;
                self.depth += 1;
            }
            _ => self.is_cut = true,
        }
        self
    }

    pub(crate) fn name(self, key: &'static str) -> Self {
        self.with_step(Step::Name(key))
    }

    pub(crate) fn index(self, index: usize) -> Self {
        self.with_step(Step::Index(index))
    }

    pub(crate) fn pointer(&self, api: Api) -> String {
        let (wire, mut pointer) = (wire::of(api), String::new());
        match self.root {
            Root::Prompt => push_token(&mut pointer, wire.prompt_member().unwrap_or_default()),
            Root::History => push_token(&mut pointer, wire.history()),
            Root::Tools => pointer.push_str(wire.tools().pointer()),
        }
        for step in self.steps.iter().take(self.depth) {
            match step {
                Step::Name(name) => push_token(&mut pointer, name),
                // Writing into a String cannot fail.
                Step::Index(index) => drop(write!(pointer, "/{index}")),
            }
        }
        pointer
    }

    pub(crate) fn member(&self, api: Api, key: &str) -> String {
        let mut pointer = self.pointer(api);
        if !self.is_cut {
            push_token(&mut pointer, key);
        }
        pointer
    }
}
