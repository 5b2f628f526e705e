//! The sending end of a stream.

use crate::{
    bias::pair::Side,
    channel::PushError,
    channel::spsc::stream::{
        cursor::Cursor,
        slab::{EMPTY, END, FULL},
    },
    sys::{
        carrier::{self, Carrier},
        sync::Ordering,
    },
    wait::state_word::{number_of, wake, wake_local},
};
use std::collections::VecDeque;

/// The sending end of a stream, without its waits.
pub(crate) struct Producer<T> {
    pub(crate) at: Cursor<T>,
    pub(crate) side: Side,
}

// SAFETY: the values are `Send`, and only this end uses its position. The two ends share only words and flags, which
// are atomic, and slots, each of which belongs to one end at a time.
unsafe impl<T: Send> Send for Producer<T> {}
// SAFETY: through a shared reference an end only reads words and flags, which are atomic.
unsafe impl<T: Send> Sync for Producer<T> {}

impl<T> Producer<T> {
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.at.shared().is_closed.load(Ordering::Acquire)
    }

    /// Returns whether the receiver has not yet taken the value at this position. The word may also have the address of
    /// a future that was forgotten, so only its number counts.
    #[inline]
    fn is_full(&self) -> bool {
        self.at.shared().is_bounded && number_of(self.at.slot().word.load()) == FULL
    }

    /// Returns `Ok` if there is room at this position, and otherwise why there is none.
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

    /// Puts a value in if that takes only a few instructions. That is so if this thread uses both ends, there is room,
    /// and no waiter has to be woken. Otherwise returns the value, which the caller passes to [`push`](Self::push).
    #[inline(always)]
    pub(crate) fn push_fast(&mut self, value: T) -> Result<(), T> {
        let (at, slot) = (self.at, self.at.slot);
        // Checked before `enter`: if this thread turns out to be the owner, no other thread has changed the word since.
        if self.at.slot().word.load() != EMPTY || self.at.is_last() {
            return Err(value);
        }
        let Some(_inside) = at.shared().sides.enter() else { return Err(value) };
        // SAFETY: the slot is empty, so it belongs to the sender, and it is not the last of its slab. Only this thread
        // uses the receiver, and it does not do so during this call.
        unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.set(FULL);
            self.at.slot = slot.add(1);
        }
        Ok(())
    }

    /// Returns whether the bias has ended for good, so that both ends always use atomic updates.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.at.shared().sides.have_ended()
    }

    /// Like [`push_fast`](Self::push_fast), for ends whose bias [has ended](Self::is_apart). Wakes the receiver.
    #[inline]
    pub(crate) fn push_remote(&mut self, value: T) -> Result<(), T> {
        let slot = self.at.slot;
        if self.at.is_last() || self.check().is_err() {
            return Err(value);
        }
        // SAFETY: the slot is empty, so it belongs to the sender until the swap. It is not the last of its slab, so the
        // receiver does not free the slab.
        let found = unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.swap(FULL)
        };
        if found == END {
            // The caller's next attempt fails too, and reports the closed stream.
            // SAFETY: the receiver does not look at a slot that is END, so the slot belongs to the sender.
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
    pub(crate) fn push_local<V: Carrier<T>>(&mut self, value: V) -> Result<(), V> {
        let at = self.at;
        let Some(inside) = at.shared().sides.enter() else { return Err(value) };
        let found = self.at.slot().word.load();
        if number_of(found) != EMPTY {
            return Err(value);
        }
        if self.at.is_last() && !self.at.shared().is_bounded {
            self.at.extend();
        }
        // SAFETY: the slot is empty, so it belongs to the sender. Only this thread uses the receiver, and it does not
        // do so during this call.
        unsafe { carrier::write(value, (*self.at.slot().value.get()).as_mut_ptr()) };
        self.at.slot().word.set(FULL);
        // Advances before it leaves the bias: afterwards a receiver on another thread may free the slab.
        self.at.advance();
        drop(inside);
        if found != EMPTY {
            // SAFETY: the store took the address out of the word inside of the bias. A local waiter waited as the
            // owner, and a bias has only one owner in its life, so that is this thread.
            unsafe { wake_local(found) };
        }
        Ok(())
    }

    /// Puts a value in and wakes the receiver. Returns the value if there is no room.
    #[inline]
    pub(crate) fn push<V: Carrier<T>>(&mut self, value: V) -> Result<(), (PushError, V)> {
        match self.push_local(value) {
            Ok(()) => Ok(()),
            Err(value) => self.push_shared(value),
        }
    }

    #[inline(never)]
    fn push_shared<V: Carrier<T>>(&mut self, value: V) -> Result<(), (PushError, V)> {
        self.at.shared().sides.share(&self.side);
        if let Err(stuck) = self.check() {
            return Err((stuck, value));
        }
        let slot = self.at.slot;
        if self.at.is_last() && !self.at.shared().is_bounded {
            self.at.extend();
        }
        // Computed before the swap, because after it the receiver may free the slab.
        let next = self.at.following();
        // SAFETY: the slot is empty, so it belongs to the sender until the swap. It stays alive: the receiver does not
        // leave it before it is filled, and never leaves it if the stream has ended.
        let found = unsafe {
            carrier::write(value, (*(*slot).value.get()).as_mut_ptr());
            (*slot).word.swap(FULL)
        };
        if found != EMPTY {
            if found == END {
                // SAFETY: the receiver does not look at a slot that is END, so the slot belongs to the sender.
                return unsafe {
                    (*slot).word.set(END);
                    Err((PushError::Closed, V::read((*(*slot).value.get()).as_ptr())))
                };
            }
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
        }
        self.at = next;
        Ok(())
    }

    /// Ends the bias if the receiver is on another thread, which is probable if the sender is about to spin.
    pub(crate) fn before_spin(&mut self) {
        self.at.shared().sides.end_if_apart(&self.side);
    }

    /// Moves as many values into the stream as there is room for, and publishes them together. Values that do not fit,
    /// or are refused by a closed stream, stay in `values`.
    pub(crate) fn push_all(&mut self, values: &mut VecDeque<T>) -> Result<(), PushError> {
        self.check()?;
        let first = self.at;
        let mut at = first;
        let mut count = 0;
        while let Some(value) = values.pop_front() {
            // SAFETY: the slot is empty, so it belongs to the sender. The receiver does not pass the first slot until
            // the first slot is published.
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

    /// Closes the stream, and ends the wait of the receiver if it waits at this position.
    pub(crate) fn close(&self) {
        self.at.close(&self.side);
        if let Some(wake) = self.at.slot().word.recall(EMPTY) {
            wake.wake();
        }
    }

    /// Returns the capacity, or `None` if it is unlimited.
    pub(crate) fn capacity(&self) -> Option<usize> {
        // SAFETY: the slab at this position is alive, because the receiver is not past it.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// Returns a number that identifies the stream: both ends return the same one.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.close();
        // SAFETY: an end leaves only here, so once. If the receiver is gone, it has ended the stream at this position.
        unsafe { self.at.leave() };
    }
}
