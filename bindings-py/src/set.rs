//! A tool list that is sent with every request.

use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};
use toolwire::internal::{
    bindings::{self, Naming, TextOutput},
    json,
};

use crate::{
    entry::{catch_panic, catch_panic_with},
    raise::{option_error, to_exception},
    read::Values,
    text::{is_text, Source},
    write::Writer,
};

/// State of `toolwire.ToolSet`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct ToolSet(Option<toolwire::ToolSet<String>>);

#[pymethods]
impl ToolSet {
    /// Reads a tool list from a Python value or JSON text.
    #[new]
    #[pyo3(signature = (tools, /))]
    fn new(py: Python<'_>, tools: Bound<'_, PyAny>) -> PyResult<Self> {
        catch_panic(|| {
            if is_text(&tools) {
                let source = Source::new(tools)?;
                let set = toolwire::ToolSet::new(source.text()?).map_err(|error| to_exception(py, &error))?;
                return Ok(ToolSet(Some(set)));
            }
            let mut values = Values::with_typical_capacity();
            values.add(tools)?;
            let set = bindings::tool_set(values.tree()?).map_err(|error| to_exception(py, &error))?;
            Ok(ToolSet(Some(set)))
        })
    }

    /// Returns the number of tools.
    fn size(&mut self) -> PyResult<usize> {
        catch_panic_with(&mut self.0, |set| Ok(set.len()))
    }

    /// Replaces the list; returns true if the new list differs.
    #[pyo3(signature = (tools, /))]
    fn update(this: &Bound<'_, Self>, py: Python<'_>, tools: Bound<'_, PyAny>) -> PyResult<bool> {
        catch_panic(|| {
            if is_text(&tools) {
                let source = Source::new(tools)?;
                let text = source.text()?;
                return catch_panic_with(&mut this.try_borrow_mut()?.0, |set| {
                    set.update(text).map_err(|error| to_exception(py, &error))
                });
            }
            // Reading may run the caller's code, which may use this set; so the set is not borrowed yet.
            let mut values = Values::with_typical_capacity();
            values.add(tools)?;
            let tree = values.tree()?;
            catch_panic_with(&mut this.try_borrow_mut()?.0, |set| {
                bindings::update_tools(set, tree).map_err(|error| to_exception(py, &error))
            })
        })
    }

    /// Returns the list, as compact JSON text.
    fn list(&mut self) -> PyResult<String> {
        catch_panic_with(&mut self.0, |set| Ok(bindings::list_of(set).to_owned()))
    }

    /// Returns the list rewritten with these options, as a dict: `json`, `tools` and the other members of the result
    /// except `changes`.
    #[pyo3(signature = (options, /))]
    fn ready<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        catch_panic(|| {
            // Reading and writing Python objects may run code that uses this set.
            let chosen = Values::read(options).map_err(|failure| option_error(py, failure))?;
            let chosen = chosen.tree()?;
            let (text, report) = catch_panic_with(&mut this.try_borrow_mut()?.0, |set| {
                // The GIL is not released, because another thread that calls this method would find the set borrowed.
                let output = bindings::ready_tools(set, &chosen, Naming::Snake);
                let TextOutput { text, report } = output.map_err(|error| to_exception(py, &error))?;
                Ok((text.into_owned(), report))
            })?;
            let (nothing, result) = (Values::default(), PyDict::new(py));
            let writer = Writer::new(py, &nothing, false);
            let tools = json::read(&text).map_err(|error| to_exception(py, &error))?;
            result.set_item(PyString::intern(py, "tools"), writer.value(&tools)?)?;
            result.set_item(PyString::intern(py, "json"), &*text)?;
            for member in report.iter().filter_map(json::Node::as_object).flatten() {
                result.set_item(writer.string(&member.key)?, writer.value(&member.value)?)?;
            }
            Ok(result)
        })
    }
}
