//! The end of a stream that receives.

use crate::{
    bias::pair::Side,
    channel::{
        dropping::drop_all,
        spsc::stream::{
            backoff::Backoff,
            cursor::{Closed, Cursor, wake, wake_here},
            slab::{EMPTY, END, FULL, Slab},
        },
    },
    sys::sync::Ordering,
    wait::state_word::number_of,
};

/// The end that receives.
pub(crate) struct Consumer<T> {
    pub(crate) at: Cursor<T>,
    pub(crate) side: Side,
    pub(crate) is_ended: bool,
    pub(crate) backoff: Backoff,
}

// SAFETY: the values go from one thread to another; positions are each end's own; by shared reference an end only looks
// at words and at flags.
unsafe impl<T: Send> Send for Consumer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Consumer<T> {}

impl<T> Consumer<T> {
    /// Takes the next value, if that takes no more than a few instructions: this thread uses both ends, and there is a
    /// value and nobody to be woken. Otherwise [`pop`](Self::pop) comes next.
    #[inline(always)]
    pub(crate) fn pop_fast(&mut self) -> Option<T> {
        let (shared, slot) = (self.at.shared, self.at.slot);
        // Looked at before: if this thread is the owner now nobody else has changed it since.
        if self.at.slot().word.load() != FULL || self.at.is_last() {
            return None;
        }
        // SAFETY: alive while this end is.
        let _inside = unsafe { shared.as_ref() }.sides.enter()?;
        // SAFETY: full, so it is the receiver's, and not the last of its slab. The sender is used by this thread alone,
        // and not now.
        unsafe {
            let value = (*(*slot).value.get()).assume_init_read();
            (*slot).word.set(EMPTY);
            self.at.slot = slot.add(1);
            Some(value)
        }
    }

    /// Whether it is settled that two threads use the ends.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.at.shared().sides.have_ended()
    }

    /// As [`pop_fast`](Self::pop_fast), where the ends [are apart](Self::is_apart).
    #[inline(never)]
    pub(crate) fn pop_apart(&mut self) -> Option<T> {
        let slot = self.at.slot;
        if self.is_ended || self.at.is_last() {
            return None;
        }
        if self.at.slot().word.load() != FULL {
            return None;
        }
        // SAFETY: full, so it is the receiver's, and not the last of its slab.
        let value = unsafe {
            self.at.slot = slot.add(1);
            (*(*slot).value.get()).assume_init_read()
        };
        if self.at.shared().is_bounded {
            // SAFETY: the one slab of a bounded stream stays.
            let found = unsafe { (*slot).word.swap(EMPTY) };
            if found != FULL {
                // SAFETY: taken out.
                unsafe { wake(found) };
            }
        }
        Some(value)
    }

    /// Takes the next value and wakes the sender if it waits for room. `None`: nothing yet.
    #[inline(never)]
    pub(crate) fn pop(&mut self) -> Option<Result<T, Closed>> {
        let shared = self.at.shared;
        // SAFETY: alive while this end is.
        if let Some(inside) = unsafe { shared.as_ref() }.sides.enter() {
            let found = self.at.slot().word.load();
            if number_of(found) == EMPTY {
                // Not closed either, since that is the end of every bias.
                return None;
            }
            debug_assert!(number_of(found) == FULL);
            // SAFETY: as above.
            let value = unsafe { (*self.at.slot().value.get()).assume_init_read() };
            self.at.slot().word.set(EMPTY);
            self.advance();
            drop(inside);
            if found != FULL {
                // SAFETY: taken out, inside.
                unsafe { wake_here(found) };
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

    /// Stays away before the next look for a value, see [`Backoff`]. The receiver is a thread of its own, so slabs may
    /// grow.
    pub(crate) fn snooze(&mut self) {
        let is_growing = &self.at.shared().is_growing;
        if !is_growing.load(Ordering::Relaxed) {
            is_growing.store(true, Ordering::Relaxed);
        }
        self.at.shared().sides.end_if_apart(&self.side);
        self.backoff.snooze(&self.at, FULL);
    }

    /// Whether there is a value here. A sender that comes upon END makes it FULL for a moment: nobody looks there any
    /// more.
    #[inline]
    fn is_full(&self) -> bool {
        !self.is_ended && number_of(self.at.slot().word.load()) == FULL
    }

    /// The slot is full.
    #[inline]
    fn take(&mut self) -> T {
        // SAFETY: full, so it is the receiver's.
        let value = unsafe { (*self.at.slot().value.get()).assume_init_read() };
        let left = self.at;
        if left.shared().is_bounded {
            let found = left.slot().word.swap(EMPTY);
            if found != FULL {
                // SAFETY: taken out.
                unsafe { wake(found) };
            }
        }
        self.advance();
        value
    }

    /// Goes on, and frees a slab of an unbounded stream behind it.
    #[inline]
    fn advance(&mut self) {
        let left = self.at.slab;
        self.at.advance();
        if left != self.at.slab {
            // SAFETY: the sender has gone on to the next slab before it filled the last slot of this one.
            unsafe { Slab::free(left) };
        }
    }

    /// The slot was empty, or the end.
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
            // An address would be that of a forgotten future.
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

    /// How many values there are. Linear in that number.
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
        // SAFETY: the slab is alive.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// A number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.close();
        let dropped = drop_all(|| self.pop().and_then(Result::ok));
        // SAFETY: once, and closed, so that the last `pop` ended the stream.
        unsafe { self.at.leave() };
        dropped.finish();
    }
}
