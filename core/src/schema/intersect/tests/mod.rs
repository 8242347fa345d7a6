//! Merging held against a real validator, and the rules by example.

mod examples;
mod generator;
mod theorem;
