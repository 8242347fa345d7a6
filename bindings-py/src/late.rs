//! A call whose report is computed lazily, on first read.

use pyo3::{
    prelude::*,
    types::{PyDict, PyTuple},
};
use toolwire::internal::{
    bindings::{call, call_text, Function, Naming},
    json::Node,
};

use crate::{
    entry::{catch_panic, function_named, members, without_gil},
    raise::{option_error, to_exception},
    read::{Snapshot, Values},
    text::{is_text, Source},
    write::Writer,
};

/// Snapshot of the input of a call, with the members of its report that are already available. It is immutable, so
/// threads can share it.
#[pyclass(module = "toolwire._toolwire", frozen)]
pub(crate) struct Late {
    function: Function,
    options: Snapshot,
    input: Input,
    members: Option<Node<'static>>,
}

/// The input of a call. Text is immutable. For a value, only the structure and the strings are kept, which cannot
/// change.
enum Input {
    Value(Snapshot),
    Text(Py<PyAny>),
}

/// Calls a function on one input, JSON text or a Python value. Returns the rewritten value, which is text if the input
/// was text, and a `Late` for the report.
#[pyfunction]
#[pyo3(signature = (function, input, options, /))]
pub(crate) fn call_late<'py>(
    py: Python<'py>,
    function: &str,
    input: Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyTuple>> {
    catch_panic(|| {
        let function = function_named(function)?;
        let chosen = Values::read(options).map_err(|failure| option_error(py, failure))?;
        let (value, input, members) = if is_text(&input) {
            let source = Source::new(input)?;
            let (text, tree) = (source.text()?, chosen.tree()?);
            let work = || call_text(function, &[text], &tree, Naming::Snake, false);
            let output = without_gil(py, text.len(), work);
            let output = output.map_err(|error| to_exception(py, &error))?;
            (source.output(py, output.text), Input::Text(source.to_object()), output.report)
        } else {
            let mut values = Values::with_typical_capacity();
            values.add(input)?;
            let output = call(function, values.trees()?, &chosen.tree()?, Naming::Snake, false)
                .map_err(|error| to_exception(py, &error))?;
            let value = Writer::new(py, &values, output.share).value(&output.value)?;
            let members = output.report;
            (value, Input::Value(values.snapshot()), members)
        };
        let late = Late { function, options: chosen.snapshot(), input, members };
        (value, Bound::new(py, late)?).into_pyobject(py)
    })
}

#[pymethods]
impl Late {
    /// Returns the report members that are already available, as a dict.
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        catch_panic(|| self.members.as_ref().map_or_else(|| Ok(PyDict::new(py)), |report| members(py, report)))
    }

    /// Returns the whole report, as a dict.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        catch_panic(|| {
            let options = self.options.values(py);
            let report = match &self.input {
                Input::Value(snapshot) => {
                    let values = snapshot.values(py);
                    let trees = values.trees()?;
                    let output = call(self.function, trees, &options.tree()?, Naming::Snake, true);
                    output.map_err(|error| to_exception(py, &error))?.report
                }
                Input::Text(text) => {
                    let source = Source::new(text.bind(py).clone())?;
                    let output = call_text(self.function, &[source.text()?], &options.tree()?, Naming::Snake, true);
                    output.map_err(|error| to_exception(py, &error))?.report
                }
            };
            report.map_or_else(|| Ok(PyDict::new(py)), |report| members(py, &report))
        })
    }
}
