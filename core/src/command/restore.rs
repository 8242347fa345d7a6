//! `toolwire restore`: what a model answered, brought back to what the tools' own servers expect.

use alloc::boxed::Box;

use super::{
    arguments::RestoreArguments,
    fault::Fault,
    task::{Given, Outcome, Task},
};
use crate::{
    api::{call, Function},
    command::terminal::Terminal,
    error::Error,
    json::{self, Node},
    options::Naming,
};

/// The command at work.
pub(super) struct Restore {
    pub(super) arguments: RestoreArguments,
    pub(super) given: Given,
    /// What the call is restored by.
    pub(super) with: Given,
}

impl Task for Restore {
    fn finish(self: Box<Self>, _: &Terminal) -> Result<Outcome, Fault> {
        let fault = |error: Error| Fault::of(&error, "");
        let kept = |error: Error| Fault { source: Some(self.with.source.clone()), ..Fault::of(&error, "") };
        let mut with = json::read(&self.with.text).map_err(kept)?;
        let ways = with.visit("restore", core::mem::take).unwrap_or(with);
        let (function, inputs) = match &self.arguments.call {
            None => (Function::RestoreReply, alloc::vec![json::read(&self.given.text).map_err(fault)?, ways]),
            Some(name) => {
                let arguments = json::read(&self.given.text).map_err(fault)?;
                (Function::RestoreCall, alloc::vec![ways, Node::string(name.as_str()), arguments])
            }
        };
        let answer = call(function, inputs, &Node::default(), Naming::Camel, false).map_err(fault)?;
        Ok(Outcome::text(&json::write(&answer.value), self.arguments.layout.compact))
    }
}
