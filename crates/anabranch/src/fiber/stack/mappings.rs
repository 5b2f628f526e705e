//! The mappings that guards by protection take from all that the system allows to the process. A part is left to the
//! rest of the program: with none left it could not even start a thread.

use crate::{
    fiber::stack::error::{MAPPINGS_PER_STACK, StackError},
    sys::memory,
};
use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering},
};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Mappings {
    allowed: usize,
    /// For how many stacks.
    booked: AtomicUsize,
}

/// Those of this process.
pub(crate) static MAPPINGS: LazyLock<Mappings> =
    LazyLock::new(|| Mappings::new(memory::max_mappings().unwrap_or(usize::MAX)));

impl Mappings {
    pub(crate) const fn new(allowed: usize) -> Self {
        Self { allowed, booked: AtomicUsize::new(0) }
    }

    /// Books what so many stacks take; an eighth is left.
    pub(crate) fn book(&self, stacks: usize) -> Result<(), StackError> {
        let max = (self.allowed - self.allowed / 8) / MAPPINGS_PER_STACK;
        let book = |booked| (booked + stacks <= max).then_some(booked + stacks);
        match self.booked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, book) {
            Ok(_) => Ok(()),
            Err(stacks) => Err(StackError::Mappings { stacks, allowed: self.allowed }),
        }
    }

    /// No longer books what so many stacks take.
    pub(crate) fn cancel(&self, stacks: usize) {
        self.booked.fetch_sub(stacks, Ordering::Relaxed);
    }

    /// Returns for how many stacks mappings are booked.
    #[cfg(test)]
    pub(crate) fn booked(&self) -> usize {
        self.booked.load(Ordering::Relaxed)
    }
}
