//! Failure of a conversion: an error of the core, or a Python exception. This module does not raise them.

use pyo3::PyErr;
use toolwire::Error;

pub(crate) enum Failure {
    /// The value is not a JSON value, or is too large.
    Refused(Error),
    /// Python code that had to run raised this exception.
    Raised(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Refused(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error)
    }
}
