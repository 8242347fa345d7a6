//! toolwire as WebAssembly.
//!
//! Translates and nothing more: a caller's values come in as *records* (see [`records`]), the function runs, and
//! records go out; reports and errors go out as JavaScript values. The other side of the records is `npm/src/values/`.
//!
//! Both sides meet at the [`desk`]: JavaScript asks for room there, writes into WebAssembly memory directly, makes one
//! call, and reads the answer where the desk says it lies. A call crosses the border once, however large the value is.

#![forbid(unsafe_code)]

#[cfg(feature = "functions")]
mod answer;
#[cfg(feature = "functions")]
pub mod call;
#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "functions")]
pub mod desk;
#[cfg(feature = "functions")]
pub mod exchanges;
#[cfg(feature = "functions")]
pub mod kept;
#[cfg(feature = "functions")]
mod records;
#[cfg(feature = "functions")]
pub mod restores;
#[cfg(feature = "functions")]
pub mod sets;
#[cfg(feature = "functions")]
pub mod streams;

/// Measured against the standard library's dlmalloc (1,547 real tools in Node, same build otherwise): 5 % smaller (456
/// against 486 KB, gzip 187 against 196 KB), and no difference in speed beyond noise. Free lists for small pieces
/// before it made calls 3 % faster (mean of 17 kinds): too little for an allocator of our own and the `unsafe` in it.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
