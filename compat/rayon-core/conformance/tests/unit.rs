//! rayon-core's unit tests, except those of `ThreadPool`. They are modules of rayon-core, so this file offers what they
//! take from its root and from their parents.

#![allow(unused_imports)]

pub use rayon_core::*;

/// As rayon-core's private module.
pub mod unwind {
    pub fn halt_unwinding<R>(func: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(func))
    }
}

/// As rayon-core's private module. The tests do not use the arguments of the closure.
pub mod registry {
    pub fn in_worker<R: Send>(op: impl FnOnce((), bool) -> R + Send) -> R {
        rayon_core::scope(|_| op((), false))
    }
}

#[path = "../../sources/rayon-core-1.13.0/src/test.rs"]
mod root_tests;

#[path = "../../sources/rayon-core-1.13.0/src/broadcast/test.rs"]
mod broadcast_tests;

#[path = "../../sources/rayon-core-1.13.0/src/join/test.rs"]
mod join_tests;

#[path = "../../sources/rayon-core-1.13.0/src/scope/test.rs"]
mod scope_tests;

#[path = "../../sources/rayon-core-1.13.0/src/spawn/test.rs"]
mod spawn_tests;
