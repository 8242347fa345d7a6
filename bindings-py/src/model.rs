//! Objects that write themselves as JSON values: pydantic models, which results of the MCP SDK and of most model SDKs
//! are.

use pyo3::{
    intern,
    prelude::*,
    types::{IntoPyDict as _, PyDict, PyList, PyString},
};

/// What a model is as a JSON value, in the names of its wire format; `None` if the object is no model.
///
/// The arguments are those with which the MCP SDK writes its own messages. A model that stands in a union of models
/// keeps the defaults that tell it apart (`type: "function"`), which `exclude_unset` would take.
pub(crate) fn dumped<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyAny>>> {
    let py = object.py();
    // Of its class: objects that answer to every name, mocks for one, are no models.
    object.get_type().getattr_opt(intern!(py, "model_dump")).ok().flatten()?;
    let arguments = || {
        let (mode, yes) = (PyString::new(py, "json"), true.into_pyobject(py)?.to_owned());
        let arguments = [("mode", mode.as_any()), ("by_alias", yes.as_any()), ("exclude_none", yes.as_any())];
        object.call_method(intern!(py, "model_dump"), (), Some(&arguments.into_py_dict(py)?))
    };
    Some(arguments())
}

/// Whether a model wrote itself as something that is read without asking it again.
pub(crate) fn is_plain(dump: &Bound<'_, PyAny>) -> bool {
    dump.is_instance_of::<PyDict>() || dump.is_instance_of::<PyList>()
}
