//! `toolwire restore`: what a model answered, brought back to what the tools' own servers expect.

use toolwire::{
    call,
    json::{self, Node},
    Error, Function, Naming, Restore as RestoreFrom,
};

use super::{
    arguments::RestoreArguments,
    error::Fault,
    task::{Given, Outcome, Task},
    terminal::Terminal,
};

/// The command at work.
pub(crate) struct Restore {
    pub(crate) arguments: RestoreArguments,
    pub(crate) given: Given,
    /// What the call is restored by.
    pub(crate) with: Given,
}

impl Task for Restore {
    fn finish(self: Box<Self>, _: &Terminal) -> Result<Outcome, Fault> {
        let fault = |error: Error| Fault::of(&error, "");
        let kept = |error: Error| Fault { source: Some(self.with.source.clone()), ..Fault::of(&error, "") };
        let mut with = json::read(&self.with.text).map_err(kept)?;
        let (above, ways) = match with.visit("restore", std::mem::take) {
            Some(ways) => ("/restore", ways),
            None if with.get("version").is_some() => ("", with),
            None => {
                let expected = "expected what `toolwire sanitize --json` prints for tools or a request, found no `restore` in it";
                return Err(Fault { source: Some(self.with.source.clone()), ..Fault::new("", expected) });
            }
        };
        // Only to tell which of the two inputs is wrong.
        RestoreFrom::from_node(&ways).map_err(|error| Fault { source: Some(self.with.source.clone()), ..Fault::of(&error, above) })?;
        let (function, inputs) = match &self.arguments.call {
            None => (Function::RestoreReply, vec![json::read(&self.given.text).map_err(fault)?, ways]),
            Some(name) => {
                let arguments = json::read(&self.given.text).map_err(fault)?;
                (Function::RestoreCall, vec![ways, Node::string(name.as_str()), arguments])
            }
        };
        let answer = call(function, inputs, &Node::default(), Naming::Camel, false).map_err(fault)?;
        Ok(Outcome::text(&json::write(&answer.value), self.arguments.layout.compact))
    }
}
