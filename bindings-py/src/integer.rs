//! Integers of any size, to and from decimal text.
//!
//! CPython refuses to spell an integer of more than `sys.get_int_max_str_digits()` decimal digits, but never refuses
//! hexadecimal, whose cost is linear. What the caller holds as an integer is spelled whatever its size. Digits that
//! somebody wrote (a model, a server) are held to CPython's limit, as `json.loads` holds them: reading decimal digits
//! costs the square of their number, nine seconds for three million, and nobody else runs meanwhile.

use num_bigint::BigInt;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyInt, PyString},
};
use toolwire::{Code, Error};

use crate::failure::Failure;

/// The limit where CPython has none of its own: before 3.10.7.
const MOST_DIGITS: usize = 4300;

/// Appends the decimal digits of an integer. Of a subclass the value counts, not what its methods say.
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

/// The integer that decimal digits spell, or `None` if they do not spell one.
pub(crate) fn parse<'py>(py: Python<'py>, digits: &str) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    if let Ok(small) = digits.parse::<i64>() {
        return Ok(Some(PyInt::new(py, small).into_any()));
    }
    let most = most_digits(py)?;
    // As Python counts: a sign is no digit.
    let found = digits.len() - usize::from(digits.starts_with('-'));
    if most > 0 && found > most {
        let message =
            format!("expected an integer of at most {most} digits (`sys.get_int_max_str_digits()`), found {found}");
        return Err(Error::new(Code::InvalidValue, "", message).into());
    }
    match BigInt::parse_bytes(digits.as_bytes(), 10) {
        Some(value) => Ok(Some(py.get_type::<PyInt>().call1((value.to_str_radix(16), 16))?)),
        None => Ok(None),
    }
}

/// How many digits CPython reads; 0 is no limit.
fn most_digits(py: Python<'_>) -> PyResult<usize> {
    match py.import("sys")?.getattr_opt("get_int_max_str_digits")? {
        Some(limit) => limit.call0()?.extract(),
        None => Ok(MOST_DIGITS),
    }
}
