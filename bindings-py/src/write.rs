//! Converts the core's tree to Python values.
//!
//! Parts that are still the caller's own value are returned as that object: with `share` all of them, otherwise only
//! the leaves, which are immutable. Containers are copied to plain dicts and lists, so that the result can be changed.

use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString},
};
use toolwire::{
    internal::json::{self, Data, Node, Text},
    Code, Error,
};

use crate::{
    failure::Failure,
    integer,
    read::{self, Values},
};

/// `values` are the values from which the trees were read.
pub(crate) struct Writer<'v, 'py> {
    py: Python<'py>,
    values: &'v Values<'py>,
    share: bool,
}

impl<'v, 'py> Writer<'v, 'py> {
    pub(crate) fn new(py: Python<'py>, values: &'v Values<'py>, share: bool) -> Self {
        Writer { py, values, share }
    }

    pub(crate) fn value(&self, node: &Node<'_>) -> Result<Bound<'py, PyAny>, Failure> {
        let number = node.origin().number();
        let leaf = !matches!(node.data(), Data::Array(_) | Data::Object(_));
        if node.is_intact() && (self.share || leaf) {
            if let Some(original) = number.and_then(|number| self.values.object(number)) {
                return Ok(original.clone());
            }
        }
        Ok(match node.data() {
            Data::Null => self.py.None().into_bound(self.py),
            Data::Bool(value) => PyBool::new(self.py, *value).to_owned().into_any(),
            Data::Number(text) => self.number(text)?,
            Data::String(text) => self.string(text)?.into_any(),
            Data::Array(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                PyList::new(self.py, items)?.into_any()
            }
            Data::Object(object) => {
                let original_keys = number.map(|number| self.values.keys(number)).unwrap_or_default();
                let mut rest = original_keys.iter();
                let dict = PyDict::new(self.py);
                for member in object {
                    let value = self.value(&member.value)?;
                    // The caller's own keys are used, because their hashes are already known. Rewriting keeps the
                    // order, so the key is nearly always the next one. If a member was moved, the search starts again.
                    let key = rest.find(|key| is(key, &member.key)).or_else(|| {
                        rest = original_keys.iter();
                        rest.find(|key| is(key, &member.key))
                    });
                    match key {
                        Some(key) => dict.set_item(key, value)?,
                        None => dict.set_item(self.string(&member.key)?, value)?,
                    }
                }
                dict.into_any()
            }
            Data::Verbatim(text) => self.value(&json::read(text)?)?,
        })
    }

    /// A string with lone surrogates is made from its code points.
    pub(crate) fn string(&self, text: &Text<'_>) -> PyResult<Bound<'py, PyString>> {
        if let Some(plain) = text.as_plain() {
            return Ok(PyString::new(self.py, plain));
        }
        let points: Vec<u8> = text.code_points().flat_map(u32::to_le_bytes).collect();
        PyString::from_encoded_object(&PyBytes::new(self.py, &points), Some(c"utf-32-le"), Some(c"surrogatepass"))
    }

    fn number(&self, text: &str) -> Result<Bound<'py, PyAny>, Failure> {
        let number = if text.contains(['.', 'e', 'E']) {
            text.parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .map(|value| PyFloat::new(self.py, value).into_any())
        } else {
            integer::parse(self.py, text)?
        };
        number.ok_or_else(|| {
            Error::new(Code::InvalidValue, "", format!("expected a number that a float can hold, found `{text}`"))
                .into()
        })
    }
}

fn is(key: &Bound<'_, PyString>, name: &Text<'_>) -> bool {
    match name.as_plain() {
        Some(plain) => key.to_str().is_ok_and(|key| key == plain),
        None => read::text(key).is_ok_and(|key| key == *name),
    }
}
