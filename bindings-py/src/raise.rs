//! Converts errors of the core to `toolwire.ToolwireError`. That class is defined in Python, so that it can be pickled
//! and can be a subclass of `ValueError` under the limited API.

use pyo3::{prelude::*, types::PyList};
use toolwire::{internal::bindings::describe_error, Code, Error};

use crate::{failure::Failure, read::Values, write::Writer};

pyo3::import_exception!(toolwire, ToolwireError);

pub(crate) fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
    build(py, error).unwrap_or_else(|failure| failure)
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let described = describe_error(error);
    let changes = match described.get("changes") {
        Some(changes) => Writer::new(py, &Values::default(), false).value(changes)?,
        None => PyList::empty(py).into_any(),
    };
    let arguments = (error.code().as_str(), error.pointer(), error.message(), changes);
    Ok(PyErr::from_value(py.get_type::<ToolwireError>().call1(arguments)?))
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => Python::attach(|py| to_exception(py, &error)),
            Failure::Raised(exception) => exception,
        }
    }
}

/// An option that is not a JSON value, such as a set, is an error about the option, because the input is not at fault.
pub(crate) fn option_error(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Refused(error) => to_exception(py, &Error::new(Code::InvalidOption, error.pointer(), error.message())),
        Failure::Raised(exception) => exception,
    }
}
