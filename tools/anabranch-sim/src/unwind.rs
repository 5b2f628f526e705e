//! Panics. std counts the panics of the system's thread, on which all simulated threads run, so this counts those of
//! each simulated thread: those that [`resume_unwind`] throws.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, UnwindSafe},
    thread::Result,
};

crate::thread_local! {
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether the calling thread unwinds, like `std::thread::panicking`.
pub fn panicking() -> bool {
    PANICS.try_with(Cell::get).unwrap_or(0) > 0
}

/// Resumes unwinding, like `std::panic::resume_unwind`.
pub fn resume_unwind(payload: Box<dyn Any + Send>) -> ! {
    let _ = PANICS.try_with(|panics| panics.set(panics.get() + 1));
    panic::resume_unwind(payload)
}

/// Calls a closure and catches its panic, like `std::panic::catch_unwind`.
///
/// # Errors
/// Returns the panic.
pub fn catch_unwind<R>(body: impl FnOnce() -> R + UnwindSafe) -> Result<R> {
    let before = PANICS.try_with(Cell::get).unwrap_or(0);
    let outcome = panic::catch_unwind(body);
    if outcome.is_err() {
        let _ = PANICS.try_with(|panics| panics.set(before));
    }
    outcome
}
