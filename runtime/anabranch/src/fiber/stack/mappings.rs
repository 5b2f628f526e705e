//! Counts the mappings that guards of protected pages take, out of the mappings that the system allows to the process.
//! An eighth is left to the rest of the program, which could not even start a thread without mappings.

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
    /// The number of stacks for which mappings are reserved.
    booked: AtomicUsize,
}

/// The mappings of this process.
pub(crate) static MAPPINGS: LazyLock<Mappings> =
    LazyLock::new(|| Mappings::new(memory::max_mappings().unwrap_or(usize::MAX)));

impl Mappings {
    pub(crate) const fn new(allowed: usize) -> Self {
        Self { allowed, booked: AtomicUsize::new(0) }
    }

    /// Reserves the mappings of this many stacks. Always leaves an eighth of all mappings unreserved.
    pub(crate) fn book(&self, stacks: usize) -> Result<(), StackError> {
        let max = (self.allowed - self.allowed / 8) / MAPPINGS_PER_STACK;
        let book = |booked| (booked + stacks <= max).then_some(booked + stacks);
        match self.booked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, book) {
            Ok(_) => Ok(()),
            Err(stacks) => Err(StackError::Mappings { stacks, allowed: self.allowed }),
        }
    }

    /// Releases the mappings of this many stacks.
    pub(crate) fn cancel(&self, stacks: usize) {
        self.booked.fetch_sub(stacks, Ordering::Relaxed);
    }

    /// Returns the number of stacks for which mappings are reserved.
    #[cfg(test)]
    pub(crate) fn booked(&self) -> usize {
        self.booked.load(Ordering::Relaxed)
    }
}
