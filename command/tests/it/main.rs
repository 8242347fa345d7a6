//! Every test of the crate, in one program: an edit links it once.

mod advice;
mod command;
mod hostile;
mod listen;
mod proxy;
mod relay;
mod report;
mod transcripts;
mod turns;
mod verdicts;
