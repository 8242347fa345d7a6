//! Every test of the program, in one test program.

mod command;
mod http;
mod limits;
mod listen;
mod mcp;
mod relay;
