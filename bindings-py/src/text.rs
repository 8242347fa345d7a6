//! JSON text in and out, in the type it came in.

use std::{borrow::Cow, fmt::Write as _, str};

use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyMemoryView, PyString},
};
use toolwire::{json, Code, Error};

use crate::{raise::raised, read::kind};

/// JSON text as the caller gave it.
pub(crate) enum Source<'py> {
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    /// A copy of a `bytearray` or `memoryview`: another thread could change what those hold.
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
            Err(raised(object.py(), &Error::new(Code::InvalidValue, "", message)))
        }
    }

    /// The text, borrowed.
    pub(crate) fn text(&self) -> PyResult<&str> {
        match self {
            Source::Text(text) => match text.to_str() {
                Ok(text) => Ok(text),
                // With the surrogate that UTF-8 cannot say spelled in three bytes, which are what is not UTF-8 then.
                Err(_) => {
                    let py = text.py();
                    let bytes = py.get_type::<PyString>().call_method1("encode", (text, "utf-8", "surrogatepass"))?;
                    Err(raised(
                        py,
                        &unreadable(bytes.cast::<PyBytes>()?.as_bytes(), |_| "half a surrogate pair".into()),
                    ))
                }
            },
            Source::Bytes(bytes) | Source::Copy(bytes) => {
                let found = |byte| format!("the byte 0x{byte:02x}");
                str::from_utf8(bytes.as_bytes()).map_err(|_| raised(bytes.py(), &unreadable(bytes.as_bytes(), found)))
            }
        }
    }

    /// The answer in the caller's type; the very same object if nothing changed.
    pub(crate) fn answer(&self, py: Python<'py>, text: Cow<'_, str>) -> Bound<'py, PyAny> {
        match (self, text) {
            (Source::Text(same), Cow::Borrowed(_)) => same.clone().into_any(),
            (Source::Bytes(same) | Source::Copy(same), Cow::Borrowed(_)) => same.clone().into_any(),
            (Source::Text(_), Cow::Owned(text)) => PyString::new(py, &text).into_any(),
            (Source::Bytes(_) | Source::Copy(_), Cow::Owned(text)) => PyBytes::new(py, text.as_bytes()).into_any(),
        }
    }
}

/// The error for bytes that are not UTF-8: where they stop being so, as line, column and pointer.
fn unreadable(bytes: &[u8], found: impl Fn(u8) -> String) -> Error {
    let until = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let (before, rest) = bytes.split_at(until);
    let before = str::from_utf8(before).unwrap_or_default();
    // What can be read breaks off where the pointer has to lead.
    let pointer = json::read(before).err().map(|error| error.pointer().to_owned()).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    let mut message = String::from("expected UTF-8, found ");
    message.push_str(&rest.first().map_or_else(|| "the end of the text".into(), |byte| found(*byte)));
    // Writing into a String cannot fail.
    let _ = write!(message, " (line {line}, column {column})");
    Error::new(Code::InvalidJson, pointer, message)
}
