//! The tests of the program: they run the real binary as a child process.

mod bad_input;
mod common;
#[cfg(unix)]
mod interruption;
mod progress;
mod proto;
mod results;
