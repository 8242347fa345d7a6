//! The location of a part of the history, which becomes a JSON Pointer only if a warning needs it.

use alloc::string::String;
use core::fmt::Write as _;

use crate::{json::push_token, options::Api, wire};

/// One step from the request to a part of its history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Name(&'static str),
    Index(usize),
}

/// A part of a message or item: a member, or an entry of a list. Without a member, the whole message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockLocation {
    pub(crate) member: &'static str,
    pub(crate) index: Option<usize>,
}

/// Steps below a message: a block, and a block of its content.
const DEPTH: usize = 4;

/// The part of the history that a reader reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Location {
    /// Number of the message or item, starting at 1; 0 is the system prompt.
    pub(crate) at: usize,
    steps: [Option<Step>; DEPTH],
}

impl Location {
    /// Returns the location of a message.
    pub(crate) fn of_message(at: usize) -> Self {
        Location { at, ..Location::default() }
    }

    /// Returns the location of a block of a message.
    pub(crate) fn of_block(at: usize, block: BlockLocation) -> Self {
        let message = Self::of_message(at);
        match (block.member, block.index) {
            ("", None) => message,
            ("", Some(index)) => message.then(Step::Index(index)),
            (member, None) => message.then(Step::Name(member)),
            (member, Some(index)) => message.then(Step::Name(member)).then(Step::Index(index)),
        }
    }

    /// Returns the location one step further. A step that is too deep is omitted.
    pub(crate) fn then(mut self, step: Step) -> Self {
        if let Some(free) = self.steps.iter_mut().find(|step| step.is_none()) {
            *free = Some(step);
        }
        self
    }

    /// Returns the part of the message that contains the location.
    pub(crate) fn block(&self) -> BlockLocation {
        match self.steps {
            [Some(Step::Name(member)), Some(Step::Index(index)), ..] => BlockLocation { member, index: Some(index) },
            [Some(Step::Name(member)), ..] => BlockLocation { member, index: None },
            [Some(Step::Index(index)), ..] => BlockLocation { member: "", index: Some(index) },
            [None, ..] => BlockLocation::default(),
        }
    }

    /// Returns the JSON Pointer in a request of this API.
    pub(crate) fn pointer(&self, api: Api) -> String {
        let mut pointer = String::new();
        match self.at.checked_sub(1) {
            None => push_token(&mut pointer, wire::of(api).prompt_member().unwrap_or_default()),
            Some(index) => {
                push_token(&mut pointer, wire::of(api).history());
                push_index(&mut pointer, index);
            }
        }
        for step in self.steps.iter().flatten() {
            match step {
                Step::Name(name) => push_token(&mut pointer, name),
                Step::Index(index) => push_index(&mut pointer, *index),
            }
        }
        pointer
    }

    /// Returns the JSON Pointer of a member of the part.
    pub(crate) fn member(&self, api: Api, key: &str) -> String {
        let mut pointer = self.pointer(api);
        push_token(&mut pointer, key);
        pointer
    }
}

fn push_index(pointer: &mut String, index: usize) {
    // Writing into a String cannot fail.
    let _ = write!(pointer, "/{index}");
}
