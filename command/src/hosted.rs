//! Commands that the host runs until they are stopped: `toolwire proxy` and `toolwire relay`.

use super::{
    error::CommandError,
    need::Need,
    task::{Output, Task},
    terminal::Terminal,
};

pub(crate) struct Hosted {
    name: &'static str,
    need: Need,
    is_over: bool,
    failure: Option<String>,
}

impl Hosted {
    pub(crate) fn new(name: &'static str, need: Need) -> Hosted {
        Hosted { name, need, is_over: false, failure: None }
    }
}

impl Task for Hosted {
    fn need(&self) -> Option<Need> {
        (!self.is_over).then(|| self.need.clone())
    }

    fn give(&mut self, _text: &str) -> Result<(), CommandError> {
        self.is_over = true;
        Ok(())
    }

    fn fail(&mut self, message: &str) -> Result<(), CommandError> {
        self.is_over = true;
        self.failure = Some(message.into());
        Ok(())
    }

    fn finish(self: Box<Self>, _terminal: &Terminal) -> Result<Output, CommandError> {
        match self.failure {
            Some(message) => Err(CommandError::new("", message).in_source(self.name)),
            None => Ok(Output::default()),
        }
    }
}
