//! The receiving end of a stream.

use crate::{
    bias::pair::Side,
    channel::{
        Closed,
        dropping::drop_all,
        spsc::stream::{
            cursor::{Cursor, wake, wake_local},
            slab::{EMPTY, END, FULL, Slab},
        },
    },
    sys::sync::Ordering,
    wait::state_word::number_of,
};

/// The receiving end.
pub(crate) struct Consumer<T> {
    pub(crate) at: Cursor<T>,
    pub(crate) side: Side,
    pub(crate) is_ended: bool,
}

// SAFETY: values are sent from one thread to another, and each position belongs to its end. By shared reference an end
// only looks at words and flags.
unsafe impl<T: Send> Send for Consumer<T> {}
// SAFETY: by shared reference an end only looks at words and flags, which are atomic.
unsafe impl<T: Send> Sync for Consumer<T> {}

impl<T> Consumer<T> {
    /// Takes the next value if that takes only a few instructions: this thread uses both ends, there is a value, and no
    /// waiter has to be woken. Otherwise [`pop`](Self::pop) comes next.
    #[inline(always)]
    pub(crate) fn pop_fast(&mut self) -> Option<T> {
        let (shared, slot) = (self.at.shared, self.at.slot);
        // Checked before: if this thread is the owner now, no other thread has changed it since.
        if self.at.slot().word.load() != FULL || self.at.is_last() {
            return None;
        }
        // SAFETY: the shared part is alive while this end is.
        let _inside = unsafe { shared.as_ref() }.sides.enter()?;
        // SAFETY: the slot is full, so it is the receiver's, and it is not the last of its slab. Only this thread uses
        // the sender, and not now.
        unsafe {
            let value = (*(*slot).value.get()).assume_init_read();
            (*slot).word.set(EMPTY);
            self.at.slot = slot.add(1);
            Some(value)
        }
    }

    /// Returns whether it is settled that two threads use the ends.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.at.shared().sides.have_ended()
    }

    /// Like [`pop_fast`](Self::pop_fast), if the ends [are apart](Self::is_apart).
    #[inline(never)]
    pub(crate) fn pop_apart(&mut self) -> Option<T> {
        let slot = self.at.slot;
        if self.is_ended || self.at.is_last() {
            return None;
        }
        if self.at.slot().word.load() != FULL {
            return None;
        }
        // SAFETY: the slot is full, so it is the receiver's, and it is not the last of its slab.
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
    pub(crate) fn pop(&mut self) -> Option<Result<T, Closed>> {
        let shared = self.at.shared;
        // SAFETY: the shared part is alive while this end is.
        if let Some(inside) = unsafe { shared.as_ref() }.sides.enter() {
            let found = self.at.slot().word.load();
            if number_of(found) == EMPTY {
                // The stream is not closed either, since closing ends every bias.
                return None;
            }
            debug_assert!(number_of(found) == FULL);
            // SAFETY: the slot is full, so it is the receiver's. Only this thread uses the sender, and not now.
            let value = unsafe { (*self.at.slot().value.get()).assume_init_read() };
            self.at.slot().word.set(EMPTY);
            self.advance();
            drop(inside);
            if found != FULL {
                // SAFETY: the store took the address out of the word, inside.
                unsafe { wake_local(found) };
            }
            return Some(Ok(value));
        }
        self.pop_shared()
    }

    #[inline]
    fn pop_shared(&mut self) -> Option<Result<T, Closed>> {
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

    /// Returns whether there is a value here. A sender that finds END makes it FULL for a moment, but the receiver does
    /// not look there any more.
    #[inline]
    fn is_full(&self) -> bool {
        !self.is_ended && number_of(self.at.slot().word.load()) == FULL
    }

    /// Takes the value. The slot is full.
    #[inline]
    fn take(&mut self) -> T {
        // SAFETY: the slot is full, so it is the receiver's.
        let value = unsafe { (*self.at.slot().value.get()).assume_init_read() };
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

    /// Advances, and frees a slab of an unbounded stream that it leaves.
    #[inline]
    fn advance(&mut self) {
        let left = self.at.slab;
        self.at.advance();
        if left != self.at.slab {
            // SAFETY: the sender went on to the next slab before it filled the last slot of this one.
            unsafe { Slab::free(left) };
        }
    }

    /// Looks again after the slot was empty or the stream had ended.
    #[inline(never)]
    fn look_again(&mut self) -> Option<Result<T, Closed>> {
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
            // An address here would be that of a forgotten future.
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

    /// Returns how many values there are. Takes time linear in that number.
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
        // SAFETY: the slab at this end's position is alive.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// Returns a number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.close();
        let dropped = drop_all(|| self.pop().and_then(Result::ok));
        // SAFETY: an end leaves once, here. The stream is closed, so the last `pop` ended it.
        unsafe { self.at.leave() };
        dropped.finish();
    }
}
