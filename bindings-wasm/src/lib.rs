//! The WebAssembly binding.
