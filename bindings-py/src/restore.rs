//! What brings calls back, read and prepared once.

use pyo3::{prelude::*, types::PyTuple};
use toolwire::internal::bindings;

use crate::{
    entry::{guarded, named, with, DETACH_FROM},
    raise::raised,
    read::Values,
    stream::Stream,
    text::Source,
    write::Writer,
};

/// What `toolwire.Restore` keeps beside its JSON. Nothing changes it, so threads share it, and a defect in a call is no
/// harm to it.
#[pyclass(module = "toolwire._toolwire", frozen)]
pub(crate) struct Restore(toolwire::Restore);

#[pymethods]
impl Restore {
    /// Reads what a `Restore` is as JSON.
    #[new]
    #[pyo3(signature = (kept, /))]
    fn new(py: Python<'_>, kept: Bound<'_, PyAny>) -> PyResult<Self> {
        guarded(|| {
            let mut values = Values::with_room();
            values.add(kept)?;
            Ok(Restore(bindings::restore(&values.tree()?).map_err(|error| raised(py, &error))?))
        })
    }

    /// Calls a function of it on Python values: `entry.call` without the `Restore` among the inputs.
    #[pyo3(signature = (function, inputs, /))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        function: &str,
        inputs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        guarded(|| {
            let function = named(function)?;
            let mut values = Values::with_room();
            for input in inputs {
                values.add(input)?;
            }
            let answer =
                bindings::call_restore(&self.0, function, values.trees()?).map_err(|error| raised(py, &error))?;
            let value = Writer::new(py, &values, answer.share).value(&answer.value)?;
            with(py, value, answer.report.as_ref())
        })
    }

    /// Restores a reply that is JSON text; gives text of the kind it was given, and a dict of what else there is.
    #[pyo3(signature = (reply, /))]
    fn reply_text<'py>(&self, py: Python<'py>, reply: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        guarded(|| {
            let source = Source::new(reply)?;
            let text = source.text()?;
            let work = || bindings::call_restore_text(&self.0, text);
            let answer = if text.len() < DETACH_FROM { work() } else { py.detach(work) };
            let answer = answer.map_err(|error| raised(py, &error))?;
            let value = source.answer(py, answer.text);
            with(py, value, answer.report.as_ref())
        })
    }

    /// Begins a reply that comes in pieces.
    fn stream(&self) -> PyResult<Stream> {
        guarded(|| Ok(Stream::of(&self.0)))
    }
}
