//! Compute code: `join` and scopes.

mod execute;
mod join;
mod join_context;
mod locks;
mod open_forks;
mod panic_anywhere;
mod panics;
mod parallelism;
mod pending;
mod scope;
mod scope_progress;
