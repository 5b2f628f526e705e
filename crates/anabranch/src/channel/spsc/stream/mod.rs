//! The stream of a 1:1 channel: packets in slabs, each with a word of its own.
//!
//! The idea. Each slot has a value and a [word](crate::wait::state_word). The sender goes from slot to slot and fills
//! them, the receiver follows and empties them; each knows its own position alone, so there are no indices to share,
//! and an end touches nothing of the other's but the slot that it works at (FastForward: Giacomoni, Moseley,
//! Vachharajani 2008). A bounded stream has one slab, that is gone round; an unbounded one has a chain of slabs, of
//! which the sender makes the next when it fills the last slot of one, and the receiver frees each when it has left it.
//! The slabs are small, so that an idle stream is, and a worker [keeps](crate::sys::free_list) some of those that its
//! fibers have left for others to fill; if the receiver is a thread of its own they grow while it does not wait. An end
//! that has caught up with the other stays [away](backoff) for a while.
//!
//! | word   | meaning                                              | left by                                                 |
//! |--------|------------------------------------------------------|---------------------------------------------------------|
//! | EMPTY  | no value (with an address: the receiver waits for it) | the sender -> FULL; the receiver ends the stream -> END |
//! | FULL   | a value (with an address: the sender waits for room)  | the receiver takes it -> EMPTY, if bounded              |
//! | END    | the receiver found it empty and the stream closed, and looks no more | nobody; a sender that swaps puts it back, and keeps its value |
//!
//! A sender that waits for room does so at the slot that it will fill next, which is then the one that the receiver
//! will empty next. So to send is one swap, to receive one load, and in a bounded stream another swap, by which room is
//! given back. While one thread uses both ends it does without swaps, by a load and a store: see
//! [`sides`](crate::bias::pair). Only the words are subject to that. An address is left by an update in any case, as a
//! place has to, unless it is that of a standing waiter; closing ends the bias for good, so an owner need not ask
//! whether the stream is closed.
//!
//! Closing. Either end sets `is_closed`, and ends the other's wait if there is one. Sending is refused from then on.
//! The receiver takes what there is, and ends the stream by putting END into the first empty slot; a sender that was in
//! the middle of sending either was before that, and its value is received, or finds END, and keeps its value. So a
//! value was sent if and only if a receiver that goes on gets it. A receiver that is dropped does all this itself.
//!
//! Orderings: the swap to FULL releases the value, the receiver's load acquires it; the swap to EMPTY releases the
//! slot, the sender's load acquires it. The link to the next slab is written before the swap to FULL of the last slot,
//! and read after that was acquired. `is_closed` and the words: see [`word`](crate::wait::state_word). Each end gives
//! up its part by a decrement of `ends`, which releases, and the last one acquires; it frees all slabs from its own
//! position on. A receiver that was dropped stopped at END, where the sender cannot pass, so its position is the
//! sender's.

// `slab <- position <- backoff <- {producer, consumer} <- wait`.
pub(crate) mod backoff;
pub(crate) mod consumer;
pub(crate) mod cursor;
pub(crate) mod producer;
pub(crate) mod slab;
pub(crate) mod wait;

use crate::{
    bias::pair::{BiasedPair, Side},
    channel::spsc::stream::{
        backoff::Backoff,
        cursor::{Cursor, Shared},
        slab::Slab,
    },
    sys::sync::{AtomicBool, AtomicU8},
};
use std::ptr::NonNull;

use self::{consumer::Consumer, producer::Producer};

/// A stream with room for so many, or for any number of values.
pub(crate) fn stream<T>(capacity: Option<usize>) -> (Producer<T>, Consumer<T>) {
    // First, as it panics where there is no address for so many.
    let slab = Slab::new(capacity.unwrap_or(Slab::<T>::LEN));
    let shared = Shared {
        sides: BiasedPair::new(),
        is_closed: AtomicBool::new(false),
        ends: AtomicU8::new(2),
        is_bounded: capacity.is_some(),
        is_growing: AtomicBool::new(cfg!(any(loom, shuttle))),
    };
    // SAFETY: a box is not null.
    let shared = unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(shared))) };
    // SAFETY: just made.
    let at = || unsafe { Cursor::new(shared, slab) };
    let [first, second] = Side::both();
    let producer = Producer { at: at(), side: first, backoff: Backoff::new() };
    (producer, Consumer { at: at(), side: second, is_ended: false, backoff: Backoff::new() })
}
