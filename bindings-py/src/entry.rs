//! The two entry points, which call a function of the core by its name: on values, or on text.

use std::{
    cell::Cell,
    panic::{catch_unwind, AssertUnwindSafe},
};

use pyo3::{
    exceptions::PyRuntimeError,
    prelude::*,
    types::{PyDict, PyTuple},
};
use toolwire::internal::{
    bindings::{self, Function, Naming},
    json,
};

use crate::{
    raise::{option_error, to_exception},
    read::Values,
    text::Source,
    write::Writer,
};

/// Minimum size of the text, in bytes, for releasing the GIL. Releasing and reacquiring it costs 0.1 µs alone, and far
/// more if threads compete; reading 16 KiB of JSON takes about 50 µs.
const DETACH_FROM: usize = 16 * 1024;

/// Releases the GIL if `length` is large.
pub(crate) fn without_gil<T: Send>(py: Python<'_>, length: usize, work: impl FnOnce() -> T + Send) -> T {
    if length < DETACH_FROM {
        work()
    } else {
        py.detach(work)
    }
}

/// Calls a function on Python values.
///
/// Returns the value, and a dict with the other members of the result, or `None`.
#[pyfunction]
#[pyo3(signature = (function, inputs, options, /))]
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: &str,
    inputs: &Bound<'py, PyTuple>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyTuple>> {
    catch_panic(|| {
        let function = function_named(function)?;
        let chosen = Values::read(options).map_err(|failure| option_error(py, failure))?;
        let mut values = Values::with_typical_capacity();
        for input in inputs {
            values.add(input)?;
        }
        let trees = values.trees()?;
        let output = toolwire::internal::bindings::call(function, trees, &chosen.tree()?, Naming::Snake, false)
            .map_err(|error| to_exception(py, &error))?;
        let value = Writer::new(py, &values, output.share).value(&output.value)?;
        with_members(py, value, output.report.as_ref())
    })
}

/// Calls a function on JSON text: `str`, `bytes`, `bytearray` or `memoryview`.
///
/// Returns text of the input's type (`bytes` for the last two), and a dict with the other members of the result, or
/// `None`. Functions whose result is meant for the program rather than for an API return a Python value instead of text
/// (see [`Output`]).
#[pyfunction]
#[pyo3(signature = (function, inputs, options, /))]
pub(crate) fn call_text<'py>(
    py: Python<'py>,
    function: &str,
    inputs: &Bound<'py, PyTuple>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyTuple>> {
    catch_panic(|| {
        let function = function_named(function)?;
        let chosen = Values::read(options).map_err(|failure| option_error(py, failure))?;
        let chosen = chosen.tree()?;
        let sources = inputs.iter().map(Source::new).collect::<PyResult<Vec<_>>>()?;
        let texts = sources.iter().map(Source::text).collect::<PyResult<Vec<_>>>()?;
        let work = || toolwire::internal::bindings::call_text(function, &texts, &chosen, Naming::Snake, false);
        let length: usize = texts.iter().map(|text| text.len()).sum();
        let output = without_gil(py, length, work);
        let output = output.map_err(|error| to_exception(py, &error))?;
        let value = match (output_of(function), sources.first()) {
            (Output::TextOrNothing, _) if output.text == "null" => py.None().into_bound(py),
            (Output::Text | Output::TextOrNothing, Some(source)) => source.output(py, output.text),
            _ => {
                let value = json::read(&output.text).map_err(|error| to_exception(py, &error))?;
                Writer::new(py, &Values::default(), false).value(&value)?
            }
        };
        with_members(py, value, output.report.as_ref())
    })
}

enum Output {
    /// JSON text, of the type of the first input.
    Text,
    /// JSON text, or `None`.
    TextOrNothing,
    /// A Python value, such as a list of findings, because the program reads it.
    Value,
}

fn output_of(function: Function) -> Output {
    match function {
        Function::AnswerToolSearch => Output::TextOrNothing,
        Function::Check | Function::CheckTools | Function::Dialects | Function::SearchTools => Output::Value,
        Function::CheckRequest | Function::ValidateArguments | Function::ValidateResult => Output::Value,
        _ => Output::Text,
    }
}

/// Returns a tuple of the value, and a dict with the other members of the result, or `None`.
pub(crate) fn with_members<'py>(
    py: Python<'py>,
    value: Bound<'py, PyAny>,
    report: Option<&json::Node<'_>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let members = report.map(|report| members(py, report)).transpose()?;
    (value, members).into_pyobject(py)
}

pub(crate) fn members<'py>(py: Python<'py>, report: &json::Node<'_>) -> PyResult<Bound<'py, PyDict>> {
    let (result, nothing) = (PyDict::new(py), Values::default());
    let writer = Writer::new(py, &nothing, false);
    for member in report.as_object().into_iter().flatten() {
        result.set_item(writer.string(&member.key)?, writer.value(&member.value)?)?;
    }
    Ok(result)
}

pub(crate) fn function_named(function: &str) -> PyResult<Function> {
    Function::named(function)
        .ok_or_else(|| PyRuntimeError::new_err(format!("the core of toolwire has no function `{function}`")))
}

thread_local! {
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread's next call panic, to test how panics are handled.
#[pyfunction]
pub(crate) fn _fail_next() {
    FAILS.set(true);
}

/// Converts a panic to a `ToolwireError`. The core does not panic by design; if it does, callers can catch this error,
/// but not pyo3's own `PanicException`.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwinding(work).unwrap_or_else(Err)
}

/// Like [`catch_panic`], for an object with state. After a panic, the state may be inconsistent, and is dropped.
pub(crate) fn catch_panic_with<S, T>(slot: &mut Option<S>, work: impl FnOnce(&mut S) -> PyResult<T>) -> PyResult<T> {
    let Some(mut state) = slot.take() else {
        return Err(defect("an earlier call to the same object; its data is lost: create it again"));
    };
    let outcome = catch_unwinding(|| work(&mut state))?;
    *slot = Some(state);
    outcome
}

/// Runs `work`. The outer error reports a panic.
#[allow(clippy::panic, reason = "a test checks how panics are reported")]
fn catch_unwinding<T>(work: impl FnOnce() -> PyResult<T>) -> Result<PyResult<T>, PyErr> {
    let attempt = || {
        if FAILS.take() {
            panic!("a test asked for it");
        }
        work()
    };
    catch_unwind(AssertUnwindSafe(attempt)).map_err(|panic| {
        let message =
            panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        defect(message.unwrap_or("a panic without a message"))
    })
}

fn defect(found: &str) -> PyErr {
    Python::attach(|py| to_exception(py, &bindings::defect(found)))
}
