//! What a set of receivers needs of its members.

use super::TryRecvError;
use crate::wait::waiter::Waiter;

/// What a set needs of its members.
pub(crate) trait Source {
    type Value;
    /// What a wait needs; stays where it is from `register` to `unregister`.
    type Wait;

    /// Whether it receives one value, and is used up by it.
    const IS_ONCE: bool = false;

    fn wait() -> Self::Wait;

    fn receive(&mut self) -> Result<Self::Value, TryRecvError>;

    /// # Safety
    /// As for [`Place::register`], with a `wait` of this receiver.
    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter) -> bool;

    /// # Safety
    /// As for [`Place::unregister`].
    unsafe fn unregister(&self, wait: &Self::Wait, has_decided: bool);

    /// It was woken for a value that it will not receive.
    fn pass_on(&self);
}
