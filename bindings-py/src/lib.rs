//! The CPython binding.
