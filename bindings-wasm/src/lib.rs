//! toolwire as WebAssembly.
//!
//! This crate only translates. A caller's values arrive as *records* (see [`wire_decoder`]), the function runs, and the
//! result is returned as records. Reports and errors are returned as JavaScript values. `npm/src/values/` is the other
//! side.
//!
//! Both sides exchange data through the [`shared_buffer`]. JavaScript asks for room there, and writes directly into
//! WebAssembly memory. It makes one call, and reads the result at the address in the buffer's header. A call crosses
//! the boundary once, however large the value is.
//!
//! The calls have common parameters. `words` and `chars` are the numbers of 32-bit words and of bytes of text in the
//! shared buffer. `spelled` is true if strings are escaped as in JSON text. `broken` is true if the last text was cut
//! before a lone surrogate.

#![forbid(unsafe_code)]

#[cfg(feature = "functions")]
pub mod call;
#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "functions")]
pub mod exchanges;
#[cfg(feature = "functions")]
pub mod restores;
#[cfg(feature = "functions")]
pub mod sets;
#[cfg(feature = "functions")]
pub mod shared_buffer;
#[cfg(feature = "functions")]
pub mod streams;
#[cfg(feature = "functions")]
pub mod tool_index;
#[cfg(feature = "functions")]
mod wire_decoder;
#[cfg(feature = "functions")]
mod wire_encoder;

/// With this allocator instead of the standard library's dlmalloc, the module is 5 % smaller (456 KB instead of 486,
/// gzip 187 KB instead of 196), and calls take the same time within the noise (1,547 real tools in Node, same build
/// otherwise). Free lists for small blocks in front of it made calls 3 % faster (mean of 17 kinds), which does not
/// justify our own allocator with `unsafe`.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
