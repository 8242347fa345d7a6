//! `toolwire restore`: restores a model's reply to what the tools' own servers expect.

use toolwire::{
    internal::{
        bindings::{self, call, Function, Naming},
        json::{self, Node, Text},
    },
    reports::RepairedCall,
    Error, Restore as Way, RestorePlan, RestoredCall,
};

use super::{
    arguments::RestoreArguments,
    document::{record, with_report},
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS},
    task::{Output, SourceText, Task},
    terminal::{cut, Paint, Terminal},
    validate::Verdict,
};

/// Maximum length of an id. A longer id would hide the message after it.
const ID: usize = 100;

pub(crate) struct Restore {
    pub(crate) arguments: RestoreArguments,
    pub(crate) input: SourceText,
    /// Output of `toolwire sanitize --json`.
    pub(crate) with: SourceText,
}

impl Task for Restore {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let mut with = json::read(&self.with.text).map_err(|error| failed(&error).in_source(&self.with.source))?;
        if let Some(plan) = with.visit("restorePlan", std::mem::take) {
            return self.by_plan(plan, terminal);
        }
        let (above, kept) = match with.visit("restore", std::mem::take) {
            Some(kept) => ("/restore", kept),
            None if with.get("version").is_some() => ("", with),
            None => {
                let expected =
                    "expected the output of `toolwire sanitize --json`, found neither `restore` nor `restorePlan` in \
                        it";
                return Err(CommandError::new("", expected).in_source(&self.with.source));
            }
        };
        let way = bindings::restore(&kept)
            .map_err(|error| CommandError::from_core(&error, above).in_source(&self.with.source))?;
        if self.arguments.repair && kept.get("repair").is_none() {
            let expected =
                "expected the schemas that `toolwire sanitize --json --repair` keeps for repairs, found none";
            return Err(CommandError::new(above, expected).in_source(&self.with.source));
        }
        match &self.arguments.call {
            None => self.reply(&way, terminal),
            Some(name) => self.call(name, kept, &way, terminal),
        }
    }
}

impl Restore {
    fn reply(&self, way: &Way, terminal: &Terminal) -> Result<Output, CommandError> {
        let restored = way.reply(self.input.text.as_str()).map_err(|error| failed(&error))?;
        let reply = json::read(&restored.reply).map_err(|error| failed(&error))?;
        Ok(self.printed("reply", reply, &restored.calls, terminal))
    }

    fn call(&self, name: &str, kept: Node<'_>, way: &Way, terminal: &Terminal) -> Result<Output, CommandError> {
        let text = self.input.text.as_str();
        let RestoredCall { name: own, namespace, arguments, repaired, .. } =
            way.call(name, text).map_err(|error| failed(&error))?;
        let Some(repaired) = repaired else {
            let arguments = json::read(text).map_err(|error| failed(&error))?;
            let restored = call_core(Function::RestoreCall, vec![kept, Node::string(name), arguments])?;
            return Ok(self.printed("call", restored, &[], terminal));
        };
        // Arguments that are not JSON are printed as a string.
        let arguments = json::read(&arguments).unwrap_or_else(|_| Node::string(&*arguments));
        let namespace = namespace.map(|namespace| ("namespace", Node::string(namespace)));
        let members = [("name", Node::string(own))].into_iter().chain(namespace).chain([("arguments", arguments)]);
        let restored = Node::object(members.map(|(key, value)| (Text::new(key), value)).collect());
        Ok(self.printed("call", restored, &[repaired], terminal))
    }

    /// Restores the arguments of a single schema's tool, which has no name for the model to call.
    fn by_plan(&self, plan: Node<'_>, terminal: &Terminal) -> Result<Output, CommandError> {
        let wrong = |expected: &str| Err(CommandError::new("/restorePlan", expected).in_source(&self.with.source));
        if self.arguments.call.is_some() {
            return wrong("expected a list of tools or a request for `--call`, found the plan of one schema");
        }
        if self.arguments.repair {
            return wrong(
                "expected tools or a request for `--repair`, found the plan of one schema: restore without it, \
                 then repair with `toolwire validate --repair --schema`",
            );
        }
        // The plan is read only to determine which of the two inputs is wrong.
        RestorePlan::from_json(&json::write(&plan))
            .map_err(|error| CommandError::from_core(&error, "/restorePlan").in_source(&self.with.source))?;
        let arguments = json::read(&self.input.text).map_err(|error| failed(&error))?;
        let restored = call_core(Function::RestoreArguments, vec![arguments, plan])?;
        Ok(self.printed("arguments", restored, &[], terminal))
    }

    fn printed(&self, name: &'static str, restored: Node<'_>, calls: &[RepairedCall], terminal: &Terminal) -> Output {
        let output = if self.arguments.machine.json {
            Output::json(&with_report(name, restored, record([("calls", bindings::repaired_calls(calls))])))
        } else {
            let mut output = Output::data(&json::write(&restored), self.arguments.layout.compact);
            calls.iter().for_each(|call| report(call, &mut output, terminal.err));
            output
        };
        // Unlike `validate`, this command gives no verdict, so only known violations set the exit code.
        let is_wrong = calls.iter().any(|call| call.valid == Some(false));
        output.with_exit_code(if is_wrong { EXIT_FOUND } else { EXIT_SUCCESS })
    }
}

fn report(call: &RepairedCall, output: &mut Output, paint: Paint) {
    let RepairedCall { id, name, valid, repairs, left, .. } = call;
    if *valid == Some(true) && repairs.is_empty() {
        return;
    }
    let source = cut(id.as_deref().unwrap_or(name), ID);
    let verdict = Verdict { source: &source, tool: id.is_some().then_some(name), valid: *valid };
    verdict.add_repaired_notes(output, &source, (repairs, left), paint);
}

fn call_core<'a>(function: Function, inputs: Vec<Node<'a>>) -> Result<Node<'a>, CommandError> {
    let output = call(function, inputs, &Node::default(), Naming::Camel, false).map_err(|error| failed(&error))?;
    Ok(output.value)
}

fn failed(error: &Error) -> CommandError {
    CommandError::from_core(error, "")
}
