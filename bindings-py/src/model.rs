//! Objects that can write themselves as JSON values: pydantic models, such as results of the MCP SDK and of most model
//! SDKs.

use pyo3::{
    intern,
    prelude::*,
    types::{IntoPyDict as _, PyDict, PyList, PyString},
};

/// Returns a model as a JSON value, with the names of its wire format. Returns `None` if the object is not a model.
///
/// The arguments are those with which the MCP SDK writes its own messages. `exclude_unset` would drop the defaults that
/// distinguish the models of a union (`type: "function"`).
pub(crate) fn dump<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyAny>>> {
    let py = object.py();
    // The method is looked up on the class, because objects that have every attribute, such as mocks, are not models.
    object.get_type().getattr_opt(intern!(py, "model_dump")).ok().flatten()?;
    let arguments = || {
        let (mode, yes) = (PyString::new(py, "json"), true.into_pyobject(py)?.to_owned());
        let arguments = [("mode", mode.as_any()), ("by_alias", yes.as_any()), ("exclude_none", yes.as_any())];
        object.call_method(intern!(py, "model_dump"), (), Some(&arguments.into_py_dict(py)?))
    };
    Some(arguments())
}

/// Returns true if the output of `model_dump` needs no further call to `model_dump`.
pub(crate) fn is_plain(dump: &Bound<'_, PyAny>) -> bool {
    dump.is_instance_of::<PyDict>() || dump.is_instance_of::<PyList>()
}
