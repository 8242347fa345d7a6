//! Placeholder for examples of single rules.
