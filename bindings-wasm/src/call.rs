//! The two kinds of calls, on values and on text. `bindings::call` implements the functions.

use std::borrow::Cow;

use serde::Serialize as _;
use serde_wasm_bindgen::Serializer;
use toolwire::{
    internal::{
        bindings::{self, describe_error, Function, Naming, TextOutput},
        json::{self, Node, Text},
    },
    Error,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    shared_buffer::{self, InputBuffer, OutputBuffer},
    wire_decoder::{Mismatch, WireDecoder},
    wire_encoder::WireEncoder,
};

pub(crate) enum Failure {
    /// The caller's error, which is returned as an object that describes it.
    Error(Error),
    /// A defect in toolwire, which is returned as a string.
    Defect(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<Mismatch> for Failure {
    fn from(_: Mismatch) -> Self {
        Failure::Defect("the records in the shared buffer end too early")
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Error(error) => {
                describe_error(&error).serialize(&Serializer::json_compatible()).unwrap_or_else(JsValue::from)
            }
            Failure::Defect(what) => JsValue::from_str(what),
        }
    }
}

/// The layout of a call's input in the shared buffer.
pub(crate) struct InputLayout {
    pub(crate) inputs: usize,
    /// Numbers of 32-bit words and of UTF-8 bytes of the records in the shared buffer.
    pub(crate) words: usize,
    pub(crate) chars: usize,
    pub(crate) spelled: bool,
}

/// The report or undefined, the output for the shared buffer, and its flags.
pub(crate) type Outcome = Result<(JsValue, OutputBuffer, u32), Failure>;

/// Returns the names of the functions, each followed by a comma. A call uses the index in this list.
#[wasm_bindgen]
pub fn functions() -> String {
    Function::ALL.iter().flat_map(|function| [function.name(), ","]).collect()
}

/// Calls a function on values. The shared buffer contains the `inputs` values, followed by the options. Returns the
/// report as JSON text if `with_report` is set, or, if the shared buffer's flags contain `FAILED`, an object as from
/// [`describe_error`].
///
/// (Throwing would slow down every call: a function that returns a result or an error returns three values, which
/// JavaScript receives in an array.)
#[wasm_bindgen]
pub fn call(function: usize, with_report: bool, inputs: usize, words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs, words, chars, spelled }.on_values(&mut input, output, |inputs, options| {
        Ok(bindings::call(function_at(function)?, inputs, options, Naming::Camel, with_report)?)
    });
    return_outcome(input, outcome)
}

/// Calls a function on JSON text. The words of the shared buffer are the length of each of the `inputs` in bytes, and
/// then the records of the options. Its bytes are the `chars` of the options, and then the inputs. If `broken` is set,
/// the last text was cut before a lone surrogate. Returns what [`call`] returns.
#[wasm_bindgen(js_name = callText)]
pub fn call_text(
    function: usize,
    with_report: bool,
    inputs: usize,
    words: usize,
    chars: usize,
    spelled: bool,
    broken: bool,
) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome =
        InputLayout { inputs, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, options| {
            Ok(bindings::call_text(function_at(function)?, texts, options, Naming::Camel, with_report)?)
        });
    return_outcome(input, outcome)
}

impl InputLayout {
    /// Passes the values in the shared buffer to `work`, and encodes its result.
    pub(crate) fn on_values(
        &self,
        input: &mut InputBuffer,
        output: OutputBuffer,
        work: impl for<'a> FnOnce(Vec<Node<'a>>, &Node<'_>) -> Result<bindings::ValueOutput<'a>, Failure>,
    ) -> Outcome {
        let words = input.words.get_mut(..self.words).ok_or(Mismatch)?;
        let mut decoder = WireDecoder::new(words, characters(&input.chars, self.chars)?, self.spelled);
        let mut inputs = Vec::with_capacity(self.inputs);
        for _ in 0..self.inputs {
            inputs.push(decoder.value()?);
        }
        let options = decoder.value()?;
        let result = work(inputs, &options)?;
        let mut encoder = WireEncoder { names: decoder.names(), output };
        encoder.value(&result.value);
        Ok((report(result.report), encoder.output, if result.share { shared_buffer::SHARE } else { 0 }))
    }

    pub(crate) fn on_texts(
        &self,
        broken: bool,
        input: &mut InputBuffer,
        mut output: OutputBuffer,
        work: impl for<'a> FnOnce(&[&'a str], &Node<'_>) -> Result<TextOutput<'a>, Failure>,
    ) -> Outcome {
        let (lengths, words) = input
            .words
            .get_mut(..self.words)
            .and_then(|words| words.split_at_mut_checked(self.inputs))
            .ok_or(Mismatch)?;
        let options = WireDecoder::new(words, characters(&input.chars, self.chars)?, self.spelled).value()?;
        let mut rest = input.chars.get(self.chars..).ok_or(Mismatch)?;
        let mut texts = Vec::with_capacity(self.inputs);
        for length in lengths {
            let (bytes, after) = rest.split_at_checked(*length as usize).ok_or(Mismatch)?;
            texts.push(json::utf8(bytes)?);
            rest = after;
        }
        if let (true, Some(before)) = (broken, texts.last()) {
            return Err(json::half_a_pair(before).into());
        }
        let result = work(&texts, &options)?;
        let flags = match result.text {
            Cow::Borrowed(_) => shared_buffer::UNCHANGED,
            Cow::Owned(text) => {
                output.chars = text;
                0
            }
        };
        Ok((report(result.report), output, flags))
    }
}

pub(crate) fn function_at(function: usize) -> Result<Function, Failure> {
    Function::ALL.get(function).copied().ok_or(Failure::Defect("no function with this number"))
}

fn characters(chars: &[u8], length: usize) -> Result<&str, Mismatch> {
    chars.get(..length).and_then(|chars| std::str::from_utf8(chars).ok()).ok_or(Mismatch)
}

/// Returns text that is borrowed only if it is the whole piece: JavaScript then passes on its own piece. A stream also
/// borrows the beginning of a piece whose rest it holds back.
pub(crate) fn whole_or_owned<'p>(text: Cow<'p, str>, piece: &str) -> Cow<'p, str> {
    match text {
        Cow::Borrowed(beginning) if beginning.len() < piece.len() => Cow::Owned(beginning.to_owned()),
        text => text,
    }
}

/// Returns a report as JSON text, which preserves a tool named `__proto__`, and a name with a lone surrogate. (Creating
/// the JavaScript values here made `sanitizeTools` a tenth slower: for 240 real tools in Node, 118 µs each in
/// `openai-strict` instead of 105.)
///
/// A member that is already JSON text, and is seldom read, follows on a second line. In the first line, the whole
/// member would have to be escaped here and parsed in JavaScript.
fn report(report: Option<Node<'_>>) -> JsValue {
    let Some(mut report) = report else { return JsValue::UNDEFINED };
    // Only a member that is text, and that a JavaScript string can hold, is moved.
    let is_text = report.get(LATER).and_then(Node::as_text).is_some_and(|later| later.value().is_some());
    let later = if is_text { report.as_object_mut().and_then(|report| report.remove(LATER)) } else { None };
    let mut text = json::write(&report);
    if let Some(later) = later.as_ref().and_then(Node::as_text).and_then(Text::value) {
        text.push('\n');
        text.push_str(&later);
    }
    JsValue::from_str(&text)
}

/// The member of a report that may be JSON text.
const LATER: &str = "report";

pub(crate) fn return_outcome(input: InputBuffer, outcome: Outcome) -> JsValue {
    let (result, output, flags) =
        outcome.unwrap_or_else(|failure| (failure.into(), OutputBuffer::default(), shared_buffer::FAILED));
    shared_buffer::put(input, output, flags);
    result
}
