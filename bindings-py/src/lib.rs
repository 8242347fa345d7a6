//! The CPython binding: Python values and text in, Python values and text out.
//!
//! It translates and holds no rule: what a function does, which options it has and what an error says is the core's.
//! The package in python/ gives what is below its names, types and documentation.

#![forbid(unsafe_code)]

mod command;
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
    use crate::command::{Command, Listener, Proxy, Relay};
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
