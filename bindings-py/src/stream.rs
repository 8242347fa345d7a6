//! A streamed reply, or a single streamed call, that is being restored.

use std::borrow::Cow;

use pyo3::prelude::*;
use toolwire::{
    internal::{bindings, json::Node},
    ReplyRestorer,
};

use crate::{
    entry::{catch_panic, catch_panic_with},
    raise::to_exception,
    read::Values,
    text::Source,
    write::Writer,
};

/// State of `toolwire.ReplyRestorer`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Stream(Option<ReplyRestorer>);

impl Stream {
    pub(crate) fn of(restore: &toolwire::Restore) -> Stream {
        Stream(Some(restore.stream()))
    }
}

#[pymethods]
impl Stream {
    /// Restores an event, and returns the list of events to pass on.
    #[pyo3(signature = (event, /))]
    fn feed<'py>(&mut self, py: Python<'py>, event: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |stream| {
            let mut values = Values::with_typical_capacity();
            values.add(event)?;
            let events = bindings::feed(stream, values.tree()?).map_err(|error| to_exception(py, &error))?;
            Ok(Writer::new(py, &values, false).value(&Node::array(events))?)
        })
    }

    /// Restores a piece of text, and returns the text to pass on.
    #[pyo3(signature = (piece, /))]
    fn feed_text(&mut self, py: Python<'_>, piece: Bound<'_, PyAny>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |stream| {
            let source = Source::new(piece)?;
            stream.feed_text(source.text()?).map(Cow::into_owned).map_err(|error| to_exception(py, &error))
        })
    }

    /// Ends the stream, and returns the events that are still held back.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |stream| {
            let events = bindings::finish(stream).map_err(|error| to_exception(py, &error))?;
            Ok(Writer::new(py, &Values::default(), false).value(&Node::array(events))?)
        })
    }

    /// Ends the stream, and returns the text that is still held back.
    fn finish_text(&mut self, py: Python<'_>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |stream| stream.finish_text().map_err(|error| to_exception(py, &error)))
    }

    /// Returns the repairs of the calls that ended since the last call to this method, as a list.
    fn take_repaired_calls<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |stream| {
            let calls = bindings::repaired_calls(&stream.take_repaired_calls());
            Ok(Writer::new(py, &Values::default(), false).value(&calls)?)
        })
    }

    /// Returns the changes to the answer since the last call to this method, as a list.
    fn take_answer_changes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |stream| {
            let changes = bindings::answer_changes(&stream.take_answer_changes());
            Ok(Writer::new(py, &Values::default(), false).value(&changes)?)
        })
    }
}

/// State of `toolwire.CallStream`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct CallStream(Option<toolwire::CallStream>);

#[pymethods]
impl CallStream {
    /// Reads a list of two items: the JSON form of a `Restore`, and a tool's name.
    #[new]
    #[pyo3(signature = (given, /))]
    fn new(py: Python<'_>, given: Bound<'_, PyAny>) -> PyResult<Self> {
        catch_panic(|| {
            let mut values = Values::with_typical_capacity();
            values.add(given)?;
            Ok(CallStream(bindings::call_stream(&values.tree()?).map_err(|error| to_exception(py, &error))?))
        })
    }

    /// Restores a piece of the arguments' text, and returns the text to pass on.
    #[pyo3(signature = (piece, /))]
    fn feed(&mut self, py: Python<'_>, piece: Bound<'_, PyAny>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |call| {
            let source = Source::new(piece)?;
            call.feed_text(source.text()?).map(Cow::into_owned).map_err(|error| to_exception(py, &error))
        })
    }

    /// Ends the call, and returns the text that is still held back.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |call| call.finish_text().map_err(|error| to_exception(py, &error)))
    }

    /// Returns the repairs of the calls that ended since the last call to this method, as a list.
    fn take_repaired_calls<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |call| {
            let calls = bindings::repaired_calls(&call.take_repaired_calls());
            Ok(Writer::new(py, &Values::default(), false).value(&calls)?)
        })
    }
}
