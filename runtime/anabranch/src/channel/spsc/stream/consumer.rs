//! The receiving end of a stream.

use crate::{
    bias::pair::Side,
    channel::{
        Closed,
        dropping::drop_all,
        spsc::stream::{
            cursor::Cursor,
            slab::{EMPTY, END, FULL, Slab},
        },
    },
    sys::{
        carrier::{Carrier, is_large},
        sync::Ordering,
    },
    wait::state_word::{number_of, wake, wake_local},
};

/// The receiving end of a stream, without its waits.
pub(crate) struct Consumer<T> {
    pub(crate) at: Cursor<T>,
    pub(crate) side: Side,
    pub(crate) is_ended: bool,
}

// SAFETY: the values are `Send`, and only this end uses its position. The two ends share only words and flags, which
// are atomic, and slots, each of which belongs to one end at a time.
unsafe impl<T: Send> Send for Consumer<T> {}
// SAFETY: through a shared reference an end only reads words and flags, which are atomic.
unsafe impl<T: Send> Sync for Consumer<T> {}

impl<T> Consumer<T> {
    /// Takes the next value if that takes only a few instructions. That is so if this thread uses both ends, there is a
    /// value, and no waiter has to be woken. Otherwise returns `None`, and the caller calls [`pop`](Self::pop).
    #[inline(always)]
    pub(crate) fn pop_fast(&mut self) -> Option<T> {
        let (at, slot) = (self.at, self.at.slot);
        // Checked before `enter`: if this thread turns out to be the owner, no other thread has changed the word since.
        if self.at.slot().word.load() != FULL || self.at.is_last() {
            return None;
        }
        let _inside = at.shared().sides.enter()?;
        // SAFETY: the slot is full, so it belongs to the receiver, and it is not the last of its slab. Only this thread
        // uses the sender, and it does not do so during this call.
        unsafe {
            let value = (*(*slot).value.get()).assume_init_read();
            (*slot).word.set(EMPTY);
            self.at.slot = slot.add(1);
            Some(value)
        }
    }

    /// Returns whether the bias has ended for good, so that both ends always use atomic updates.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.at.shared().sides.have_ended()
    }

    /// Like [`pop_fast`](Self::pop_fast), for ends whose bias [has ended](Self::is_apart). Wakes the sender.
    #[inline(never)]
    pub(crate) fn pop_apart(&mut self) -> Option<T> {
        let slot = self.at.slot;
        if self.is_ended || self.at.is_last() {
            return None;
        }
        if self.at.slot().word.load() != FULL {
            return None;
        }
        // SAFETY: the slot is full, so it belongs to the receiver, and it is not the last of its slab.
        let value = unsafe {
            self.at.slot = slot.add(1);
            (*(*slot).value.get()).assume_init_read()
        };
        if self.at.shared().is_bounded {
            // SAFETY: a bounded stream never frees its one slab while an end is alive.
            let found = unsafe { (*slot).word.swap(EMPTY) };
            if found != FULL {
                // SAFETY: the swap took the address out of the word.
                unsafe { wake(found) };
            }
        }
        Some(value)
    }

    /// Takes the next value, and wakes the sender if it waits for room. Returns `None` if there is nothing yet.
    #[inline(never)]
    pub(crate) fn pop<V: Carrier<T>>(&mut self) -> Option<Result<V, Closed>> {
        let at = self.at;
        if let Some(inside) = at.shared().sides.enter() {
            let found = self.at.slot().word.load();
            if number_of(found) == EMPTY {
                // The stream is not closed either, because closing ends the bias.
                return None;
            }
            debug_assert!(number_of(found) == FULL);
            // SAFETY: the slot is full, so it belongs to the receiver. Only this thread uses the sender, and it does
            // not do so during this call.
            let value = unsafe { V::read((*self.at.slot().value.get()).as_ptr()) };
            self.at.slot().word.set(EMPTY);
            self.advance();
            drop(inside);
            if found != FULL {
                // SAFETY: the store took the address out of the word inside of the bias. A local waiter waited as the
                // owner, and a bias has only one owner in its life, so that is this thread.
                unsafe { wake_local(found) };
            }
            return Some(Ok(value));
        }
        self.pop_shared()
    }

    #[inline]
    fn pop_shared<V: Carrier<T>>(&mut self) -> Option<Result<V, Closed>> {
        self.at.shared().sides.share(&self.side);
        if self.is_full() {
            return Some(Ok(self.take()));
        }
        self.look_again()
    }

    /// Lets slabs grow, and ends the bias if the sender is on another thread. Both suit a receiver that is about to
    /// spin, since the sender is probably on another thread then.
    pub(crate) fn before_spin(&mut self) {
        let is_growing = &self.at.shared().is_growing;
        if !is_growing.load(Ordering::Relaxed) {
            is_growing.store(true, Ordering::Relaxed);
        }
        self.at.shared().sides.end_if_apart(&self.side);
    }

    /// Returns whether there is a value at this position. A sender that finds END replaces it by FULL for a moment, but
    /// the receiver does not look at END again.
    #[inline]
    fn is_full(&self) -> bool {
        !self.is_ended && number_of(self.at.slot().word.load()) == FULL
    }

    /// Takes the value. The caller has seen that the slot is full.
    #[inline]
    fn take<V: Carrier<T>>(&mut self) -> V {
        // SAFETY: the caller has seen that the slot is full, so it belongs to the receiver.
        let value = unsafe { V::read((*self.at.slot().value.get()).as_ptr()) };
        let left = self.at;
        if left.shared().is_bounded {
            let found = left.slot().word.swap(EMPTY);
            if found != FULL {
                // SAFETY: the swap took the address out of the word.
                unsafe { wake(found) };
            }
        }
        self.advance();
        value
    }

    /// Advances. Frees the slab of an unbounded stream if this leaves it.
    #[inline]
    fn advance(&mut self) {
        let left = self.at.slab;
        self.at.advance();
        if left != self.at.slab {
            // SAFETY: the sender moved to the next slab before it filled the last slot of this one.
            unsafe { Slab::free(left) };
        }
    }

    /// Looks again, after the slot was empty or the stream had ended.
    #[inline(never)]
    fn look_again<V: Carrier<T>>(&mut self) -> Option<Result<V, Closed>> {
        if self.is_ended {
            return Some(Err(Closed));
        }
        if !self.at.shared().is_closed.load(Ordering::Acquire) {
            return None;
        }
        loop {
            let content = self.at.slot().word.load();
            if number_of(content) == FULL {
                return Some(Ok(self.take()));
            }
            // If there is an address, it is that of a future that was forgotten.
            if self.at.slot().word.replace(content, END) {
                self.is_ended = true;
                return Some(Err(Closed));
            }
        }
    }

    pub(crate) fn close(&self) {
        self.at.close(&self.side);
        if let Some(wake) = self.at.slot().word.recall(FULL) {
            wake.wake();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.at.shared().is_closed.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_full()
    }

    /// Returns the number of values. Takes time linear in it.
    pub(crate) fn len(&self) -> usize {
        let mut at = self.at;
        let mut len = 0;
        while !self.is_ended && number_of(at.slot().word.load()) == FULL {
            len += 1;
            at = at.following();
            if at.slot == self.at.slot {
                break;
            }
        }
        len
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        // SAFETY: the slab at this position is alive, because only the receiver frees slabs, and only those before its
        // position.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// Returns a number that identifies the stream: both ends return the same one.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.close();
        let dropped = if const { is_large::<T>() } {
            drop_all(|| self.pop::<Box<T>>().and_then(Result::ok))
        } else {
            drop_all(|| self.pop::<T>().and_then(Result::ok))
        };
        // SAFETY: an end leaves only here, so once. The stream is closed, so the last `pop` has ended it.
        unsafe { self.at.leave() };
        dropped.finish();
    }
}
