//! toolwire as WebAssembly.
//!
//! Translates and nothing more: a caller's values come in as *records* (see [`records`]), the function runs, and records
//! go out; reports and errors go out as JavaScript values. The other side of the records is `npm/src/values/`.
//!
//! Both sides meet at the [`desk`]: JavaScript asks for room there, writes into WebAssembly memory directly, makes one
//! call, and reads the answer where the desk says it lies. A call crosses the border once, however large the value is.

mod answer;
pub mod call;
#[cfg(feature = "command")]
pub mod command;
pub mod desk;
#[cfg(feature = "search")]
pub mod exchanges;
#[cfg(feature = "search")]
pub mod kept;
mod records;
#[cfg(target_family = "wasm")]
mod shelves;
pub mod streams;
mod text;

/// Talc, with shelves before it (see [`shelves`]). Talc measured against the standard library's dlmalloc (1,547 real tools in
/// Node, same build otherwise): 5 % smaller (456 against 486 KB, gzip 187 against 196 KB), and no difference in speed beyond
/// noise. The shelves: 2.5 KB more, gzipped, and calls 3 % faster in the mean of 17 kinds.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: shelves::Shelves = shelves::Shelves::new();
