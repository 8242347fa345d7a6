//! A tool list that is kept for many searches.

use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};
use toolwire::{
    internal::bindings::{self, Naming},
    Code, Error, SearchOptions,
};

use crate::{
    entry::{catch_panic, without_gil},
    raise::{option_error, to_exception},
    read::{self, kind, Values},
    text::{is_text, Source},
    write::Writer,
};

/// State of `toolwire.ToolIndex`. It is immutable, so that threads can share it.
#[pyclass(frozen, module = "toolwire._toolwire")]
pub(crate) struct Index(toolwire::ToolIndex);

#[pymethods]
impl Index {
    /// Reads a tool list from a Python value.
    #[new]
    #[pyo3(signature = (tools, /))]
    fn new(py: Python<'_>, tools: Bound<'_, PyAny>) -> PyResult<Self> {
        catch_panic(|| {
            if is_text(&tools) {
                let source = Source::new(tools)?;
                let text = source.text()?;
                let work = || toolwire::ToolIndex::new(text);
                let index = without_gil(py, text.len(), work);
                return index.map(Index).map_err(|error| to_exception(py, &error));
            }
            let mut values = Values::with_typical_capacity();
            values.add(tools)?;
            bindings::index(&values.tree()?).map(Index).map_err(|error| to_exception(py, &error))
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the names of the tools that match, best first.
    #[pyo3(signature = (query, options, /))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        options: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        catch_panic(|| {
            let options = search_options(py, options)?;
            let Ok(query) = query.cast::<PyString>() else {
                let message = format!("expected the query to be a string, found {}", kind(query));
                return Err(to_exception(py, &Error::new(Code::InvalidValue, "/query", message)));
            };
            let found = bindings::search(&self.0, &read::text(query)?.display(), &options)
                .map_err(|error| to_exception(py, &error))?;
            Ok(Writer::new(py, &Values::default(), false).value(&found)?)
        })
    }

    /// Answers a call to the tool search. Returns `None` if the call is not a search.
    #[pyo3(signature = (call, options, /))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        call: Bound<'py, PyAny>,
        options: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        catch_panic(|| {
            let options = search_options(py, options)?;
            if is_text(&call) {
                let source = Source::new(call)?;
                let output = self.0.answer(source.text()?, &options).map_err(|error| to_exception(py, &error))?;
                return Ok(output.map_or_else(|| py.None().into_bound(py), |text| source.output(py, text)));
            }
            let mut values = Values::with_typical_capacity();
            values.add(call)?;
            let output =
                bindings::answer(&self.0, &values.tree()?, &options).map_err(|error| to_exception(py, &error))?;
            Ok(Writer::new(py, &values, false).value(&output.unwrap_or_default())?)
        })
    }
}

fn search_options(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<SearchOptions> {
    let values = Values::read(options).map_err(|failure| option_error(py, failure))?;
    bindings::options::<SearchOptions>(&values.tree()?, Naming::Snake).map_err(|error| to_exception(py, &error))
}
