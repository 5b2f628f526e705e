//! Compute code: `join` and scopes.

mod join;
mod locks;
mod open_forks;
mod panic_anywhere;
mod panics;
mod parallelism;
mod scope;
mod scope_progress;
