//! JSON text as input and output, of the same Python type.

use std::{borrow::Cow, str};

use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyMemoryView, PyString},
};
use toolwire::{internal::json, Code, Error};

use crate::{raise::to_exception, read::kind};

/// Returns true for JSON text, and false for a value.
pub(crate) fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
}

pub(crate) enum Source<'py> {
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    /// A copy of a `bytearray` or `memoryview`, whose content another thread could change.
    Copy(Bound<'py, PyBytes>),
}

impl<'py> Source<'py> {
    pub(crate) fn new(object: Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            Ok(Source::Text(text.clone()))
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            Ok(Source::Bytes(bytes.clone()))
        } else if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
            let copy = object.py().get_type::<PyBytes>().call1((&object,))?;
            Ok(Source::Copy(copy.cast_into::<PyBytes>()?))
        } else {
            let message = format!("expected JSON text as str, bytes, bytearray or memoryview, found {}", kind(&object));
            Err(to_exception(object.py(), &Error::new(Code::InvalidValue, "", message)))
        }
    }

    pub(crate) fn text(&self) -> PyResult<&str> {
        match self {
            Source::Text(text) => match text.to_str() {
                Ok(text) => Ok(text),
                // A lone surrogate is encoded as three bytes, so the error is that for text that is not UTF-8.
                Err(_) => {
                    let py = text.py();
                    let bytes = py.get_type::<PyString>().call_method1("encode", (text, "utf-8", "surrogatepass"))?;
                    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
                    let whole = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
                    let before = bytes.get(..whole).and_then(|bytes| str::from_utf8(bytes).ok());
                    Err(to_exception(py, &json::half_a_pair(before.unwrap_or_default())))
                }
            },
            Source::Bytes(bytes) | Source::Copy(bytes) => {
                json::utf8(bytes.as_bytes()).map_err(|error| to_exception(bytes.py(), &error))
            }
        }
    }

    /// The object is immutable, so it can be read again later.
    pub(crate) fn to_object(&self) -> Py<PyAny> {
        match self {
            Source::Text(text) => text.clone().into_any().unbind(),
            Source::Bytes(bytes) | Source::Copy(bytes) => bytes.clone().into_any().unbind(),
        }
    }

    /// In the type of the input. If nothing changed, the object is the input.
    pub(crate) fn output(&self, py: Python<'py>, text: Cow<'_, str>) -> Bound<'py, PyAny> {
        match (self, text) {
            (Source::Text(same), Cow::Borrowed(_)) => same.clone().into_any(),
            (Source::Bytes(same) | Source::Copy(same), Cow::Borrowed(_)) => same.clone().into_any(),
            (Source::Text(_), Cow::Owned(text)) => PyString::new(py, &text).into_any(),
            (Source::Bytes(_) | Source::Copy(_), Cow::Owned(text)) => PyBytes::new(py, text.as_bytes()).into_any(),
        }
    }
}
