//! Compute code: `join`, scopes and parallel loops.

mod join;
mod locks;
mod loop_panics;
mod loops;
mod open_forks;
mod panic_anywhere;
mod panics;
mod parallelism;
mod scope;
mod scope_progress;
