//! The CPython binding: converts Python values and text to the core's values and text, and back.
//!
//! The binding contains no rules: the core defines the functions, their options and their errors. The package in
//! python/ adds public names, types and documentation.

#![forbid(unsafe_code)]

mod entry;
mod exchange;
mod failure;
mod index;
mod integer;
mod late;
mod model;
mod raise;
mod read;
mod restore;
mod set;
mod stream;
mod text;
mod write;

use pyo3::pymodule;

/// The extension module, `toolwire._toolwire`.
#[pymodule]
mod _toolwire {
    use pyo3::{prelude::*, types::PyModule};

    #[pymodule_export]
    use crate::entry::{_fail_next, call, call_text};
    #[pymodule_export]
    use crate::exchange::Exchange;
    #[pymodule_export]
    use crate::index::Index;
    #[pymodule_export]
    use crate::late::{call_late, Late};
    #[pymodule_export]
    use crate::restore::Restore;
    #[pymodule_export]
    use crate::set::ToolSet;
    #[pymodule_export]
    use crate::stream::{CallStream, Stream};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
