//! The slots of a bounded conversation: one block, in which both ends go round.
//!
//! The idea, from the pipes of Rust's libcore of 2012, whose bounded protocols kept a packet for each state in one
//! buffer. A conversation is one sequence of messages, whoever says them, and both ends go through it in the same
//! order. Whoever stops speaking waits for an answer, which does not come before all that was said has been heard. So
//! what has been said and not yet heard is always of one speaker, and by the protocol no more than K messages: as many
//! as may follow each other in one direction. Message i lies in slot i mod `N`, each with a [`Word`]. There is one slot
//! more than there are messages under way, N = K + 1: so whichever message an end is at, to say it or to hear it, its
//! slot has nothing unheard of another round. If the two take turns, N is 2.
//!
//! A slot is used again without having been emptied: its word says of which round its message is, even or odd.
//!
//! | word     | for message i, in round i / N                                             | left by                         |
//! |----------|---------------------------------------------------------------------------|---------------------------------|
//! | `before` | not said (with an address: the other end waits to hear it)                 | who says it -> `said`; who goes -> GONE |
//! | `said`   | said; once it is heard, it is the `before` of message i + N                | who says that; who goes -> GONE |
//! | GONE     | an end has gone, and the conversation came no further                      | who says something there takes it back |
//!
//! So to say something is one swap, and to hear what has been said is one load.
//!
//! Going. An end that goes swaps GONE into the slot that it is at. If a message was there, it drops that and goes on to
//! the next slot, until it finds one without, after K at most. The other end comes to that next, to speak or to listen,
//! or waits there, and finds GONE. An end that has said or heard the last message of its protocol, or has found GONE,
//! leaves without a swap. `ends` counts who has not left; the last one frees the block. A wire, which speaks at one
//! end, has to know at once when the other one leaves: so the block of a watched pair has an event for that, which is
//! told before `ends` is decremented.
//!
//! Who owns what. The value of a slot is the speaker's until its swap, and the listener's from when it has seen `said`.
//! It is a speaker's again at message i + N. If that is who heard message i, it was its own already. If it is who said
//! it, then by the protocol the other end has said something in between, after it had heard message i.
//!
//! Orderings: the swap to `said` releases the value, and with it that the speaker has taken out what it heard before;
//! the listener's load acquires both. The swap to GONE acquires what was said. `ends` is decremented with release and
//! acquire.

use crate::{
    sys::sync::{AtomicU8, Ordering},
    wait::{
        latch::Latch as Event,
        state_word::{Content, WaitNode, Word, decide, is_address, number, number_of},
        waiter::Waiter,
    },
};
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit, ptr};

const GONE: Content = number(2);

struct Slot<M> {
    word: Word,
    value: UnsafeCell<MaybeUninit<M>>,
}

struct Block<M, const N: usize> {
    ends: AtomicU8,
    /// The number of the conversation.
    conversation: u64,
    is_watched: bool,
    /// An end leaves.
    left: Event,
    slots: [Slot<M>; N],
}

/// One end of a bounded conversation.
pub struct Ring<M, const N: usize> {
    /// Null when the end is used up.
    block: *const Block<M, N>,
    /// The index of the slot, twice, plus one when it goes round for the second time, the fourth, and so on: one word,
    /// so that an end is moved in two registers.
    at: usize,
    _owns: PhantomData<M>,
}

// SAFETY: messages go from one thread to another, and the position is the end's own.
unsafe impl<M: Send, const N: usize> Send for Ring<M, N> {}
// SAFETY: by shared reference an end only looks at words.
unsafe impl<M: Send, const N: usize> Sync for Ring<M, N> {}

/// The other end has gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl<M, const N: usize> Ring<M, N> {
    pub(crate) fn pair(conversation: u64) -> (Self, Self) {
        Self::made(conversation, false)
    }

    /// Each end can [watch](Self::watch) the other. Not both at a time.
    #[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "for wires"))]
    pub(crate) fn watched_pair(conversation: u64) -> (Self, Self) {
        Self::made(conversation, true)
    }

    /// The number of the conversation. 0 when the end is used up.
    pub(crate) fn conversation(&self) -> u64 {
        // SAFETY: null, or alive while this end has not left the block.
        unsafe { self.block.as_ref() }.map_or(0, |block| block.conversation)
    }

    /// The event that the other end leaves, of a watched pair.
    #[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "for wires"))]
    pub(crate) fn watch(&self) -> &Event {
        assert!(!self.is_used_up());
        // SAFETY: the block is alive while this end has not left it.
        unsafe { &(*self.block).left }
    }

    fn made(conversation: u64, is_watched: bool) -> (Self, Self) {
        const { assert!(N > 1) };
        let slot = |_| Slot { word: Word::new(number(0)), value: UnsafeCell::new(MaybeUninit::uninit()) };
        let slots = std::array::from_fn(slot);
        let block = Box::new(Block { ends: AtomicU8::new(2), conversation, is_watched, left: Event::new(), slots });
        let block = Box::into_raw(block).cast_const();
        let end = || Self { block, at: 0, _owns: PhantomData };
        (end(), end())
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.block.is_null()
    }

    /// The end, as far as it came; what is left is used up.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        let block = std::mem::replace(&mut self.block, ptr::null());
        Self { block, at: self.at, _owns: PhantomData }
    }

    #[inline]
    fn slot(&self) -> &Slot<M> {
        // SAFETY: the block is alive while this end has not left it, and it has not: its block is not null, which
        // `hear` sees to, and all others take ends that have not been used up.
        unsafe { &(&(*self.block).slots)[(self.at >> 1) % N] }
    }

    #[inline]
    fn before(&self) -> Content {
        number(self.at & 1)
    }

    #[inline]
    fn said(&self) -> Content {
        number(!self.at & 1)
    }

    #[inline]
    fn advance(&mut self) {
        self.at += 2;
        if self.at >> 1 == N {
            self.at = !self.at & 1;
        }
    }

    /// Says a message, and wakes who waits to hear it. If the other end has gone the message comes back, and the end is
    /// used up.
    ///
    /// It must be this end's turn, and fewer than `N` messages may have been said and not heard, this one included.
    #[inline]
    pub(crate) fn say(&mut self, message: M) -> Result<(), M> {
        let slot = self.slot();
        // SAFETY: the slot is the speaker's until the swap, by the protocol; see the module.
        let found = unsafe {
            (*slot.value.get()).write(message);
            slot.word.swap(self.said())
        };
        if found != self.before() {
            self.found(found)?;
        }
        self.advance();
        Ok(())
    }

    /// There was more than `before` in the word.
    #[inline(never)]
    fn found(&mut self, found: Content) -> Result<(), M> {
        if is_address(found) {
            wake(found);
            return Ok(());
        }
        debug_assert!(found == GONE);
        // SAFETY: the other end found nothing said here and looks no more, so what was put there still is this end's.
        let message = unsafe { (*self.slot().value.get()).assume_init_read() };
        self.leave();
        Err(message)
    }

    /// Hears the next message. `None`: not said yet. If the other end has gone the end is used up.
    #[inline]
    pub(crate) fn hear(&mut self) -> Option<Result<M, Gone>> {
        if self.is_used_up() {
            return Some(Err(Gone));
        }
        // Nobody waits where something has been said.
        let content = self.slot().word.load();
        if content == self.said() {
            // SAFETY: said, so it is the listener's.
            let message = unsafe { (*self.slot().value.get()).assume_init_read() };
            self.advance();
            return Some(Ok(message));
        }
        if content == GONE {
            self.leave_after();
            return Some(Err(Gone));
        }
        None
    }

    /// Leaves, because the other end has gone.
    #[cold]
    #[inline(never)]
    fn leave_after(&mut self) {
        self.leave();
    }

    /// Whether there is something to hear, or will never be.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_used_up() || number_of(self.slot().word.load()) != self.before()
    }

    /// Whether the other end has gone, and all that it said has been heard.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_used_up() || self.slot().word.load() == GONE
    }

    /// Nothing more will be said, by either end, or the other one has gone.
    pub(crate) fn leave(&mut self) {
        let block = std::mem::replace(&mut self.block, ptr::null());
        // SAFETY: this end has not left before, as it was not used up.
        unsafe {
            if (*block).is_watched {
                (*block).left.notify();
            }
        }
        // SAFETY: as above.
        if unsafe { (*block).ends.fetch_sub(1, Ordering::AcqRel) } == 1 {
            // SAFETY: from a box, by `pair`; both ends have left, and what was said has been taken out.
            drop(unsafe { Box::from_raw(block.cast_mut()) });
        }
    }

    /// Goes one slot further in going away: what was said there.
    fn abandon(&mut self) -> Option<M> {
        let found = self.slot().word.swap(GONE);
        if is_address(found) {
            wake(found);
        }
        if found != self.said() {
            return None;
        }
        // SAFETY: said, so it is the listener's.
        let message = unsafe { (*self.slot().value.get()).assume_init_read() };
        self.advance();
        Some(message)
    }

    /// Goes away, out of the middle of a conversation.
    #[cold]
    #[inline(never)]
    fn go(&mut self) {
        Going { end: self, is_over: false }.by_ref().for_each(drop);
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with a sleeper for this wait.
    pub(crate) unsafe fn register(&self, sleeper: &WaitNode, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only who will hear the message waits for the end of `before`.
        !self.is_used_up() && unsafe { self.slot().word.register(self.before(), sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::waitable::Place::unregister).
    pub(crate) unsafe fn unregister(&self, sleeper: &WaitNode, has_decided: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { self.slot().word.unregister(self.before(), sleeper, has_decided) }
    }

    /// Takes the address of a sleeper out again. `false`: it is not there.
    pub(crate) fn withdraw(&self, sleeper: &WaitNode) -> bool {
        !self.is_used_up() && self.slot().word.withdraw(self.before(), sleeper)
    }
}

/// Ends a wait whose address was taken out of a word.
fn wake(found: Content) {
    // SAFETY: taken out by a swap.
    if let Some(wake) = unsafe { decide(found) } {
        wake.wake();
    }
}

/// What an end does that goes, also when dropping a message panics.
struct Going<'a, M, const N: usize> {
    end: &'a mut Ring<M, N>,
    is_over: bool,
}

impl<M, const N: usize> Iterator for Going<'_, M, N> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        // Not twice at the last slot, where the other end may be taking something back.
        if self.is_over {
            return None;
        }
        let message = self.end.abandon();
        self.is_over = message.is_none();
        message
    }
}

impl<M, const N: usize> Drop for Going<'_, M, N> {
    fn drop(&mut self) {
        self.for_each(drop);
        self.end.leave();
    }
}

impl<M, const N: usize> Drop for Ring<M, N> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_used_up() {
            self.go();
        }
    }
}
