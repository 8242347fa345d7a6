//! The functions of a `Restore`, for bindings that keep one, so that it is read and prepared only once.

use alloc::{borrow::Cow, format, vec::Vec};

use super::{
    describe,
    function::{missing, Function, TextOutput, ValueOutput},
    text_of, Restore,
};
use crate::{
    error::{Code, Error},
    json::{self, Node},
    tools::{call_repair::CallReports, client_call},
};

/// Calls a function of a `Restore`. The inputs are those of [`super::call::call`] without the `Restore`.
///
/// # Errors
/// The errors of the function; `invalid-value` if it is not a function of a `Restore`.
pub fn call_restore<'a>(
    restore: &Restore,
    function: Function,
    inputs: Vec<Node<'a>>,
) -> Result<ValueOutput<'a>, Error> {
    let (restore_map, mut reports, mut inputs) = (&restore.0, CallReports::default(), inputs.into_iter());
    let mut input = || inputs.next().ok_or_else(|| missing(function));
    let (value, report) = match function {
        Function::RestoreCall => {
            let (name, mut arguments) = (input()?, input()?);
            let Some(name) = name.as_text() else {
                let found = format!("expected the name of a tool to be a string, found {}", name.kind());
                return Err(Error::new(Code::InvalidValue, "/name", found));
            };
            restore_map.arguments(name, &mut arguments, (None, true), &mut reports)?;
            (describe::call(restore_map, name, arguments, reports.take().pop().as_ref()), None)
        }
        Function::RestoreClientCall => {
            let call = client_call::write(restore_map, input()?, &mut reports)?;
            (call, Some(describe::repaired_client_call(reports.take().pop().as_ref())))
        }
        Function::RestoreContent => {
            let text = input()?;
            let Some(given) = text.as_text() else {
                let found = format!("expected the text of an answer to be a string, found {}", text.kind());
                return Err(Error::new(Code::InvalidValue, "", found));
            };
            // In valid JSON, an unpaired surrogate occurs only as an escape.
            let restored = given.value().map(|given| restore_map.content(&given)).unwrap_or_default();
            restored.failure.map_or(Ok(()), Err)?;
            let report = [("complete", Node::bool(!restored.is_cut)), ("fenced", Node::bool(restored.is_unfenced))];
            let report = Node::record(report);
            (restored.text.map_or(text, Node::string), Some(report))
        }
        Function::RestoreReply => {
            let mut reply = input()?;
            restore_map.whole_reply(&mut reply, &mut reports)?;
            (reply, Some(describe::restored_reply(&mut reports)))
        }
        _ => {
            let found = format!("expected a function of a `restore`, found `{}`", function.name());
            return Err(Error::new(Code::InvalidValue, "", found));
        }
    };
    Ok(ValueOutput { value, report, share: false })
}

/// Restores a reply in JSON text.
///
/// # Errors
/// Same as [`call_restore`], and `invalid-json`.
pub fn call_restore_text<'a>(restore: &Restore, reply: &'a str) -> Result<TextOutput<'a>, Error> {
    let inputs = Vec::from([json::read(reply)?]);
    let ValueOutput { value, report, .. } = call_restore(restore, Function::RestoreReply, inputs)?;
    let text: Cow<'a, str> = text_of(reply, &value);
    Ok(TextOutput { text, report })
}
