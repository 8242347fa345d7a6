//! Every test of the program, in one test program.

mod command;
mod files;
mod http;
mod limits;
mod listen;
mod mcp;
#[cfg(unix)]
mod network;
#[cfg(unix)]
mod played;
mod relay;
#[cfg(unix)]
mod terminal;
