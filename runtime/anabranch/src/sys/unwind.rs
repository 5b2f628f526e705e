//! Panics: catching them, resuming them, and whether the calling thread unwinds.
//!
//! shuttle and a simulation run all threads on one system thread, which has one count of panics. So when one of them
//! unwinds, std reports that all do. This module therefore counts panics per thread of theirs: those that
//! [`resume_unwind`] throws. (A panic of an assertion ends the test anyway.) A catch restores the count from its start.

#[cfg(not(any(shuttle, sim)))]
pub(crate) use std::{
    panic::{catch_unwind, resume_unwind},
    thread::panicking,
};

#[cfg(any(shuttle, sim))]
pub use self::counted::{catch_unwind, panicking, resume_unwind};

/// Aborts if the guarded code unwinds. That code catches its own panics, and other work may wait on its stack.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

#[cfg(any(shuttle, sim))]
mod counted {
    #[cfg(sim)]
    use anabranch_sim::thread_local;
    #[cfg(shuttle)]
    use shuttle::thread_local;
    use std::{
        any::Any,
        cell::Cell,
        panic::{self, UnwindSafe},
        thread,
    };

    thread_local! {
        static PANICS: Cell<u32> = const { Cell::new(0) };
    }

    /// Returns whether the calling thread unwinds, like `std::thread::panicking`.
    pub fn panicking() -> bool {
        PANICS.try_with(|panics| panics.get() > 0).unwrap_or(false)
    }

    /// Resumes unwinding, like `std::panic::resume_unwind`.
    pub fn resume_unwind(payload: Box<dyn Any + Send>) -> ! {
        let _ = PANICS.try_with(|panics| panics.set(panics.get() + 1));
        panic::resume_unwind(payload)
    }

    /// Calls a closure and catches its panic, like `std::panic::catch_unwind`.
    pub fn catch_unwind<R>(body: impl FnOnce() -> R + UnwindSafe) -> thread::Result<R> {
        let before = PANICS.try_with(Cell::get).unwrap_or(0);
        let outcome = panic::catch_unwind(body);
        if outcome.is_err() {
            let _ = PANICS.try_with(|panics| panics.set(before));
        }
        outcome
    }
}
