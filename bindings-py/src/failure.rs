//! Why a value could not be translated: an error of ours, or an exception of Python's. Knows nothing of how either is
//! raised.

use pyo3::PyErr;
use toolwire::Error;

/// Why a value could not be translated.
pub(crate) enum Failure {
    /// It is not JSON value, or too much of one.
    Refused(Error),
    /// Python code that had to run raised this.
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
