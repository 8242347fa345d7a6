//! `toolwire restore`: what a model answered, brought back to what the tools' own servers expect.

use toolwire::{
    internal::bindings::{self, call, Function, Naming},
    json::{self, Node},
    Error, RestorePlan,
};

use super::{
    arguments::RestoreArguments,
    error::CommandError,
    task::{Output, SourceText, Task},
    terminal::Terminal,
};

/// The command at work.
pub(crate) struct Restore {
    pub(crate) arguments: RestoreArguments,
    pub(crate) input: SourceText,
    /// What the call is restored by.
    pub(crate) with: SourceText,
}

impl Task for Restore {
    fn finish(self: Box<Self>, _: &Terminal) -> Result<Output, CommandError> {
        let failed = |error: Error| CommandError::from_core(&error, "");
        let mut with = json::read(&self.with.text).map_err(|error| failed(error).in_source(&self.with.source))?;
        if let Some(plan) = with.visit("restorePlan", std::mem::take) {
            return self.by_plan(plan);
        }
        let (above, restore) = match with.visit("restore", std::mem::take) {
            Some(restore) => ("/restore", restore),
            None if with.get("version").is_some() => ("", with),
            None => {
                let expected =
                    "expected what `toolwire sanitize --json` prints, found neither `restore` nor `restorePlan` in it";
                return Err(CommandError::new("", expected).in_source(&self.with.source));
            }
        };
        // Only to tell which of the two inputs is wrong.
        bindings::restore(&restore)
            .map_err(|error| CommandError::from_core(&error, above).in_source(&self.with.source))?;
        let (function, inputs) = match &self.arguments.call {
            None => (Function::RestoreReply, vec![json::read(&self.input.text).map_err(failed)?, restore]),
            Some(name) => {
                let arguments = json::read(&self.input.text).map_err(failed)?;
                (Function::RestoreCall, vec![restore, Node::string(name.as_str()), arguments])
            }
        };
        let answer = call(function, inputs, &Node::default(), Naming::Camel, false).map_err(failed)?;
        Ok(Output::text(&json::write(&answer.value), self.arguments.layout.compact))
    }
}

impl Restore {
    /// The arguments of the one tool whose schema was rewritten: it has no name that the model could call it by.
    fn by_plan(&self, plan: Node<'_>) -> Result<Output, CommandError> {
        let failed = |error: Error| CommandError::from_core(&error, "");
        let with = &self.with.source;
        if self.arguments.call.is_some() {
            let expected = "expected a list of tools or a request for `--call`, found the plan of one schema";
            return Err(CommandError::new("/restorePlan", expected).in_source(with));
        }
        // Only to tell which of the two inputs is wrong.
        RestorePlan::from_json(&json::write(&plan))
            .map_err(|error| CommandError::from_core(&error, "/restorePlan").in_source(with))?;
        let arguments = json::read(&self.input.text).map_err(failed)?;
        let inputs = vec![arguments, plan];
        let answer =
            call(Function::RestoreArguments, inputs, &Node::default(), Naming::Camel, false).map_err(failed)?;
        Ok(Output::text(&json::write(&answer.value), self.arguments.layout.compact))
    }
}
