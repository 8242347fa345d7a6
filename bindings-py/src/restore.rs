//! A `Restore`, prepared once.

use pyo3::{prelude::*, types::PyTuple};
use toolwire::internal::bindings;

use crate::{
    entry::{catch_panic, function_named, with_members, without_gil},
    raise::to_exception,
    read::Values,
    stream::Stream,
    text::Source,
    write::Writer,
};

/// Prepared form of `toolwire.Restore`. It is immutable, so that threads can share it and a panic in a call cannot
/// corrupt it.
#[pyclass(module = "toolwire._toolwire", frozen)]
pub(crate) struct Restore(toolwire::Restore);

#[pymethods]
impl Restore {
    /// Reads the JSON form of a `Restore`.
    #[new]
    #[pyo3(signature = (stored, /))]
    fn new(py: Python<'_>, stored: Bound<'_, PyAny>) -> PyResult<Self> {
        catch_panic(|| {
            let mut values = Values::with_typical_capacity();
            values.add(stored)?;
            Ok(Restore(bindings::restore(&values.tree()?).map_err(|error| to_exception(py, &error))?))
        })
    }

    /// Calls a function on Python values, like `entry.call`, with this `Restore` as an input.
    #[pyo3(signature = (function, inputs, /))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        function: &str,
        inputs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        catch_panic(|| {
            let function = function_named(function)?;
            let mut values = Values::with_typical_capacity();
            for input in inputs {
                values.add(input)?;
            }
            let output =
                bindings::call_restore(&self.0, function, values.trees()?).map_err(|error| to_exception(py, &error))?;
            let value = Writer::new(py, &values, output.share).value(&output.value)?;
            with_members(py, value, output.report.as_ref())
        })
    }

    /// Restores a reply that is JSON text. Returns text of the same type, and a dict with the other members of the
    /// result.
    #[pyo3(signature = (reply, /))]
    fn reply_text<'py>(&self, py: Python<'py>, reply: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        catch_panic(|| {
            let source = Source::new(reply)?;
            let text = source.text()?;
            let work = || bindings::call_restore_text(&self.0, text);
            let output = without_gil(py, text.len(), work);
            let output = output.map_err(|error| to_exception(py, &error))?;
            let value = source.output(py, output.text);
            with_members(py, value, output.report.as_ref())
        })
    }

    /// Starts restoring a streamed reply.
    fn stream(&self) -> PyResult<Stream> {
        catch_panic(|| Ok(Stream::of(&self.0)))
    }
}
