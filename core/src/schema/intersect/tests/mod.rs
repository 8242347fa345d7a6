//! Compares merging with a real validator, and shows the rules by example.

mod examples;
mod generator;
mod theorem;
