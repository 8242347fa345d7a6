//! Compares merging with a real validator.

mod generator;
mod theorem;
