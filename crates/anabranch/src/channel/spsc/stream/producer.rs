//! The sending end of a stream.

use crate::{
    bias::pair::Side,
    channel::PushError,
    channel::spsc::stream::{
        cursor::{Cursor, wake, wake_local},
        slab::{EMPTY, END, FULL},
    },
    sys::sync::Ordering,
    wait::state_word::number_of,
};
use std::collections::VecDeque;

/// The sending end.
pub(crate) struct Producer<T> {
    pub(crate) at: Cursor<T>,
    pub(crate) side: Side,
}

// SAFETY: values are sent from one thread to another, and each position belongs to its end. By shared reference an end
// only looks at words and flags.
unsafe impl<T: Send> Send for Producer<T> {}
// SAFETY: by shared reference an end only looks at words and flags, which are atomic.
unsafe impl<T: Send> Sync for Producer<T> {}

impl<T> Producer<T> {
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.at.shared().is_closed.load(Ordering::Acquire)
    }

    /// Returns whether a value has still to be taken from here. The address of a forgotten future may be with it.
    #[inline]
    fn is_full(&self) -> bool {
        self.at.shared().is_bounded && number_of(self.at.slot().word.load()) == FULL
    }

    /// Returns whether there is room at this position, or will never be any.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), PushError> {
        if self.is_closed() {
            return Err(PushError::Closed);
        }
        if self.is_full() {
            return Err(PushError::Full);
        }
        Ok(())
    }

    /// Puts a value in if that takes only a few instructions: this thread uses both ends, there is room, and no waiter
    /// has to be woken. Otherwise [`push`](Self::push) comes next.
    #[inline(always)]
    pub(crate) fn push_fast(&mut self, value: T) -> Result<(), T> {
        let (shared, slot) = (self.at.shared, self.at.slot);
        // Checked before: if this thread is the owner now, no other thread has changed it since.
        if self.at.slot().word.load() != EMPTY || self.at.is_last() {
            return Err(value);
        }
        // SAFETY: the shared part is alive while this end is.
        let Some(_inside) = unsafe { shared.as_ref() }.sides.enter() else { return Err(value) };
        // SAFETY: the slot is empty, so it is the sender's, and it is not the last of its slab. Only this thread uses
        // the receiver, and not now.
        unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.set(FULL);
            self.at.slot = slot.add(1);
        }
        Ok(())
    }

    /// Returns whether it is settled that two threads use the ends.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.at.shared().sides.have_ended()
    }

    /// Like [`push_fast`](Self::push_fast), if the ends [are apart](Self::is_apart).
    #[inline]
    pub(crate) fn push_remote(&mut self, value: T) -> Result<(), T> {
        let slot = self.at.slot;
        if self.at.is_last() || self.check().is_err() {
            return Err(value);
        }
        // SAFETY: the slot is empty, so it is the sender's until the swap. It is not the last of its slab, so the slab
        // stays.
        let found = unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.swap(FULL)
        };
        if found == END {
            // The next attempt also finds the stream closed.
            // SAFETY: the receiver does not look at a slot that is END, so it is the sender's.
            return unsafe {
                (*slot).word.set(END);
                Err((*(*slot).value.get()).assume_init_read())
            };
        }
        // SAFETY: this slot is not the last of its slab.
        self.at.slot = unsafe { slot.add(1) };
        if found != EMPTY {
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
        }
        Ok(())
    }

    /// Puts a value in and wakes the receiver, if this thread uses both ends and there is room.
    #[inline(always)]
    pub(crate) fn push_local(&mut self, value: T) -> Result<(), T> {
        let shared = self.at.shared;
        // SAFETY: the shared part is alive while this end is.
        let Some(inside) = unsafe { shared.as_ref() }.sides.enter() else { return Err(value) };
        let found = self.at.slot().word.load();
        if number_of(found) != EMPTY {
            return Err(value);
        }
        if self.at.is_last() && !self.at.shared().is_bounded {
            self.at.extend();
        }
        // SAFETY: the slot is empty, so it is the sender's; there is a next slot. Only this thread uses the receiver,
        // and not now.
        unsafe { (*self.at.slot().value.get()).write(value) };
        self.at.slot().word.set(FULL);
        // Advances while still inside: once let in, a receiver on another thread may free the slab.
        self.at.advance();
        drop(inside);
        if found != EMPTY {
            // SAFETY: the store took the address out of the word, inside.
            unsafe { wake_local(found) };
        }
        Ok(())
    }

    /// Puts a value in and wakes the receiver.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> Result<(), (PushError, T)> {
        match self.push_local(value) {
            Ok(()) => Ok(()),
            Err(value) => self.push_shared(value),
        }
    }

    #[inline(never)]
    fn push_shared(&mut self, value: T) -> Result<(), (PushError, T)> {
        self.at.shared().sides.share(&self.side);
        if let Err(stuck) = self.check() {
            return Err((stuck, value));
        }
        let slot = self.at.slot;
        if self.at.is_last() && !self.at.shared().is_bounded {
            self.at.extend();
        }
        // Looked up before the swap: after it the receiver may free the slab.
        let next = self.at.following();
        // SAFETY: the slot is empty, so it is the sender's until the swap. It stays alive: the receiver does not leave
        // it before it is filled, and never leaves it if the stream has ended.
        let found = unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.swap(FULL)
        };
        if found != EMPTY {
            if found == END {
                // SAFETY: the receiver does not look at a slot that is END, so it is the sender's.
                return unsafe {
                    (*slot).word.set(END);
                    Err((PushError::Closed, (*(*slot).value.get()).assume_init_read()))
                };
            }
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
        }
        self.at = next;
        Ok(())
    }

    /// Prepares for spinning: the receiver is probably on another thread.
    pub(crate) fn before_spin(&mut self) {
        self.at.shared().sides.end_if_apart(&self.side);
    }

    /// Puts in as many values as there is room for, and publishes them together.
    pub(crate) fn push_all(&mut self, values: &mut VecDeque<T>) -> Result<(), PushError> {
        self.check()?;
        let first = self.at;
        let mut at = first;
        let mut count = 0;
        while let Some(value) = values.pop_front() {
            // SAFETY: the slot is empty, so it is the sender's. The receiver does not pass the first slot before that
            // is published.
            unsafe {
                (*at.slot().value.get()).write(value);
                if count > 0 {
                    at.slot().word.set(FULL);
                }
            }
            if at.is_last() && !at.shared().is_bounded {
                at.extend();
            }
            at = at.following();
            count += 1;
            if at.shared().is_bounded && (at.slot == first.slot || at.slot().word.load() != EMPTY) {
                break;
            }
        }
        if count == 0 {
            return Ok(());
        }
        first.shared().sides.share(&self.side);
        let found = first.slot().word.swap(FULL);
        if found == END {
            first.slot().word.set(END);
            let mut at = first;
            let refused = (0..count).map(|_| {
                // SAFETY: the loop above wrote the value, and the receiver stops before the first slot.
                let value = unsafe { (*at.slot().value.get()).assume_init_read() };
                at = at.following();
                value
            });
            let mut refused: VecDeque<T> = refused.collect();
            refused.append(values);
            *values = refused;
            return Err(PushError::Closed);
        }
        if found != EMPTY {
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
        }
        self.at = at;
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.at.close(&self.side);
        if let Some(wake) = self.at.slot().word.recall(EMPTY) {
            wake.wake();
        }
    }

    /// Returns the capacity, or `None` if it is unlimited.
    pub(crate) fn capacity(&self) -> Option<usize> {
        // SAFETY: the slab at this end's position is alive.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// Returns a number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.close();
        // SAFETY: an end leaves once, here. If the receiver is gone, it has ended the stream at this position.
        unsafe { self.at.leave() };
    }
}
