//! Integers of any size, to and from decimal text.
//!
//! CPython refuses to convert an integer of more than `sys.get_int_max_str_digits()` decimal digits, but converts any
//! integer to hexadecimal, in linear time. Integers of the caller are converted to text regardless of their size.
//! Digits in text (of a model or a server) are subject to CPython's limit, as in `json.loads`, because reading decimal
//! digits takes quadratic time. Three million digits take nine seconds, and hold the GIL.

use num_bigint::BigInt;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyInt, PyString},
};
use toolwire::{Code, Error};

use crate::failure::Failure;

/// The limit for versions of CPython without one: before 3.10.7.
const MAX_DIGITS: usize = 4300;

/// Writes an integer in decimal. For a subclass, writes the stored value, whatever its methods return.
pub(crate) fn spell(integer: &Bound<'_, PyInt>, out: &mut String) -> PyResult<()> {
    use std::fmt::Write as _;
    if let Ok(small) = integer.extract::<i64>() {
        // Writing into a String cannot fail.
        let _ = write!(out, "{small}");
        return Ok(());
    }
    let hexadecimal = integer.py().get_type::<PyInt>().call_method1("__format__", (integer, "x"))?;
    let digits = hexadecimal.cast::<PyString>()?.to_str()?;
    let value = BigInt::parse_bytes(digits.as_bytes(), 16)
        .ok_or_else(|| PyValueError::new_err("`int.__format__` gave no hexadecimal digits"))?;
    let _ = write!(out, "{value}");
    Ok(())
}

/// Converts decimal digits to an integer. Returns `None` for other text.
pub(crate) fn parse<'py>(py: Python<'py>, digits: &str) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    if let Ok(small) = digits.parse::<i64>() {
        return Ok(Some(PyInt::new(py, small).into_any()));
    }
    let limit = max_digits(py)?;
    // Like in Python, a sign is not treated as a digit.
    let found = digits.len() - usize::from(digits.starts_with('-'));
    if limit > 0 && found > limit {
        let message =
            format!("expected an integer of at most {limit} digits (`sys.get_int_max_str_digits()`), found {found}");
        return Err(Error::new(Code::InvalidValue, "", message).into());
    }
    match BigInt::parse_bytes(digits.as_bytes(), 10) {
        Some(value) => Ok(Some(py.get_type::<PyInt>().call1((value.to_str_radix(16), 16))?)),
        None => Ok(None),
    }
}

/// Returns CPython's limit; 0 means no limit.
fn max_digits(py: Python<'_>) -> PyResult<usize> {
    match py.import("sys")?.getattr_opt("get_int_max_str_digits")? {
        Some(limit) => limit.call0()?.extract(),
        None => Ok(MAX_DIGITS),
    }
}
