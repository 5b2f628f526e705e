//! How each piece gets a state of its own.

use crate::sys::sync::{Mutex, lock};
use std::fmt;

/// Makes the states of pieces.
pub trait Init: Sync + Send {
    /// The state.
    type State;

    /// Makes a state.
    fn init(&self) -> Self::State;
}

impl<T, F: Fn() -> T + Sync + Send> Init for F {
    type State = T;

    #[inline]
    fn init(&self) -> T {
        self()
    }
}

/// A value that each piece clones. The lock makes it shareable even if it is not `Sync`.
pub struct Shared<T>(Mutex<T>);

impl<T: Clone> Shared<T> {
    pub(in crate::iter) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: Clone + Send> Init for Shared<T> {
    type State = T;

    fn init(&self) -> T {
        lock(&self.0).clone()
    }
}

impl<T: Clone> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self::new(lock(&self.0).clone())
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
