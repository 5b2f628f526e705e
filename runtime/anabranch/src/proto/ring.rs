//! The slots of a bounded conversation: one block, used as a ring by both ends.
//!
//! The idea comes from the pipes of Rust's libcore of 2012, whose bounded protocols kept a packet for each state in one
//! buffer. A conversation is one sequence of messages from both sides, and both ends go through it in the same order.
//! An end that stops sending waits for an answer, which does not come before all that it sent has been received. So all
//! messages that were sent and not yet received are from one side, and by the protocol they are at most K, the most
//! that may follow each other in one direction. Message i is in slot i mod `N`, each with a [`Word`]. There is one slot
//! more than there are messages under way, N = K + 1. So the slot of an end's present message, to be sent or received,
//! never holds an unreceived message of another round. If the two sides alternate, N is 2.
//!
//! A slot is used again without being emptied: its word records the round of its message, even or odd.
//!
//! | word     | for message i, in round i / N                            | left by |
//! |----------|----------------------------------------------------------|------------|
//! | `before` | not sent (with an address: the receiver waits for it)    | sending it -> `sent`; leaving early -> GONE |
//! | `sent`   | sent; once received, it is the `before` of message i + N | sending that; leaving early -> GONE |
//! | GONE     | an end has left early, at this message                   | a sender that finds it takes its message back |
//!
//! So a send is one swap, and a receive of a message that was sent is one load.
//!
//! Leaving early. An end that leaves early swaps GONE into its present slot. If a message was there, it drops that and
//! moves on to the next slot, until it finds one without a message, after K slots at most. The other end comes to that
//! slot next, to send or to receive, or waits there, and finds GONE. An end that has sent or received the last message
//! of its protocol, or has found GONE, leaves without a swap. `ends` counts the ends that have not left; the last one
//! frees the block. A wire, which is at one end, has to know at once when the other end leaves. So the block of a
//! watched pair has an event for that, which is set before `ends` is decremented.
//!
//! Who owns what. The sender owns the value of a slot until its swap, and the receiver owns it once it has seen `sent`.
//! A sender owns it again at message i + N. If that is the end that received message i, the slot was already its own.
//! If it is the end that sent message i, then by the protocol the other end has sent something in between, after it had
//! received message i.
//!
//! Orderings: the swap to `sent` releases the value, and with it that the sender has taken out what it received before.
//! The receiver's load acquires both. The swap to GONE acquires what was sent. `ends` is decremented with release and
//! acquire.

use crate::{
    sys::sync::{AtomicU8, Ordering},
    wait::{
        latch::Latch as Event,
        state_word::{Content, WaitNode, Word, is_address, number, number_of, wake},
        waitable::{Armed, Ended},
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
    /// Set when an end leaves.
    left: Event,
    slots: [Slot<M>; N],
}

/// One end of a bounded conversation.
pub struct Ring<M, const N: usize> {
    /// Null if the end is used up.
    block: *const Block<M, N>,
    /// Twice the index of the slot, plus one in each second round. One word, so that an end is moved in two registers.
    at: usize,
    _owns: PhantomData<M>,
}

// SAFETY: messages are sent from one thread to another, and the position belongs to its end.
unsafe impl<M: Send, const N: usize> Send for Ring<M, N> {}
// SAFETY: by shared reference an end only looks at words, which are atomic.
unsafe impl<M: Send, const N: usize> Sync for Ring<M, N> {}

/// The other end is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl<M, const N: usize> Ring<M, N> {
    pub(crate) fn pair(conversation: u64) -> (Self, Self) {
        Self::made(conversation, false)
    }

    /// Makes a pair of which one end at a time can [watch](Self::watch) the other.
    #[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "for wires"))]
    pub(crate) fn watched_pair(conversation: u64) -> (Self, Self) {
        Self::made(conversation, true)
    }

    /// Returns the number of the conversation, or 0 if the end is used up.
    pub(crate) fn conversation(&self) -> u64 {
        // SAFETY: the pointer is null, or the block is alive, since this end has not left it.
        unsafe { self.block.as_ref() }.map_or(0, |block| block.conversation)
    }

    /// Returns the event that is set when the other end of a watched pair leaves.
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

    /// Takes the end at its present position. What is left is used up.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        let block = std::mem::replace(&mut self.block, ptr::null());
        Self { block, at: self.at, _owns: PhantomData }
    }

    #[inline]
    fn slot(&self) -> &Slot<M> {
        // SAFETY: the block is alive while this end has not left it. It has not left, as its block is not null: `recv`
        // checks that, and all other callers have ends that are not used up.
        unsafe { &(&(*self.block).slots)[(self.at >> 1) % N] }
    }

    #[inline]
    fn before(&self) -> Content {
        number(self.at & 1)
    }

    #[inline]
    fn sent(&self) -> Content {
        number(!self.at & 1)
    }

    #[inline]
    fn advance(&mut self) {
        self.at += 2;
        if self.at >> 1 == N {
            self.at = !self.at & 1;
        }
    }

    /// Sends a message, and wakes the receiver if it waits. If the other end is gone, returns the message, and the end
    /// is used up.
    ///
    /// It must be this end's turn. Including this message, fewer than `N` may have been sent and not received.
    #[inline]
    pub(crate) fn send(&mut self, message: M) -> Result<(), M> {
        let slot = self.slot();
        // SAFETY: by the protocol, the sender owns the slot until the swap; see the module.
        let found = unsafe {
            (*slot.value.get()).write(message);
            slot.word.swap(self.sent())
        };
        if found != self.before() {
            self.found(found)?;
        }
        self.advance();
        Ok(())
    }

    /// Handles a word that was not just `before`.
    #[inline(never)]
    fn found(&mut self, found: Content) -> Result<(), M> {
        if is_address(found) {
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
            return Ok(());
        }
        debug_assert!(found == GONE);
        // SAFETY: the other end found no message here and does not look again, so this end still owns what it put
        // there.
        let message = unsafe { (*self.slot().value.get()).assume_init_read() };
        self.leave();
        Err(message)
    }

    /// Receives the next message. Returns `None` if it was not sent yet. If the other end is gone, this end is used up.
    #[inline]
    pub(crate) fn recv(&mut self) -> Option<Result<M, Gone>> {
        if self.is_used_up() {
            return Some(Err(Gone));
        }
        // No thread waits at a slot with a message.
        let content = self.slot().word.load();
        if content == self.sent() {
            // SAFETY: the word is `sent`, so the receiver owns the value.
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

    /// Leaves because the other end is gone.
    #[cold]
    #[inline(never)]
    fn leave_after(&mut self) {
        self.leave();
    }

    /// Returns whether there is a message to receive, or never will be.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_used_up() || number_of(self.slot().word.load()) != self.before()
    }

    /// Returns whether the other end is gone and all its messages were received.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_used_up() || self.slot().word.load() == GONE
    }

    /// Leaves the block: no end will send anything more, or the other end is gone.
    pub(crate) fn leave(&mut self) {
        let block = std::mem::replace(&mut self.block, ptr::null());
        // SAFETY: this end was not used up, so it has not left and the block is alive.
        unsafe {
            if (*block).is_watched {
                (*block).left.notify();
            }
        }
        // SAFETY: this end has not left, so the block is alive.
        if unsafe { (*block).ends.fetch_sub(1, Ordering::AcqRel) } == 1 {
            // SAFETY: `pair` made it from a box. Both ends have left, and all messages were taken out.
            drop(unsafe { Box::from_raw(block.cast_mut()) });
        }
    }

    /// Leaves the present slot. Returns the message in it, if there is one.
    fn abandon(&mut self) -> Option<M> {
        let found = self.slot().word.swap(GONE);
        if is_address(found) {
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
        }
        if found != self.sent() {
            return None;
        }
        // SAFETY: the word was `sent`, so the receiver owns the value.
        let message = unsafe { (*self.slot().value.get()).assume_init_read() };
        self.advance();
        Some(message)
    }

    /// Leaves in the middle of a conversation.
    #[cold]
    #[inline(never)]
    fn go(&mut self) {
        Going { end: self, is_over: false }.by_ref().for_each(drop);
    }

    /// Only the receiver of the message waits for the end of `before`.
    pub(crate) fn register(&self, node: &WaitNode, armed: Armed) -> bool {
        !self.is_used_up() && self.slot().word.register(self.before(), node, armed)
    }

    pub(crate) fn unregister(&self, node: &WaitNode, ended: Ended) {
        self.slot().word.unregister(self.before(), node, ended);
    }

    /// Takes the address of a wait node out again. Returns `false` if it is not there.
    pub(crate) fn withdraw(&self, node: &WaitNode) -> bool {
        !self.is_used_up() && self.slot().word.withdraw(self.before(), node)
    }
}

/// The steps of an end that leaves early, also if dropping a message panics.
struct Going<'a, M, const N: usize> {
    end: &'a mut Ring<M, N>,
    is_over: bool,
}

impl<M, const N: usize> Iterator for Going<'_, M, N> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        // Not twice at the last slot, where the other end may be taking its message back.
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
