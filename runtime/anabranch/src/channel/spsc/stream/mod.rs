//! The stream of a 1:1 channel: packets in slabs, each with a word of its own.
//!
//! The idea. Each slot has a value and a [word](crate::wait::state_word). The sender goes from slot to slot and fills
//! them; the receiver follows and empties them. Each end knows only its own position, so there are no shared indices,
//! and an end touches only the slot at which it works itself (FastForward: Giacomoni, Moseley, Vachharajani 2008). A
//! bounded stream has one slab, used as a ring. An unbounded stream has a chain of slabs: the sender makes the next
//! slab when it fills the last slot of a slab, and the receiver frees each slab that it has left. Slabs are small, so
//! that an idle stream is small. A worker [keeps](crate::sys::free_list) some of the slabs that its fibers have left,
//! for other streams. If the receiver is on another thread, slabs grow while it does not wait.
//!
//! | word   | meaning                                              | left by                                                 |
//! |--------|------------------------------------------------------|---------------------------------------------------------|
//! | EMPTY  | no value (with an address: the receiver waits for it) | the sender -> FULL; the receiver ends the stream -> END |
//! | FULL   | a value (with an address: the sender waits for room)  | the receiver takes it -> EMPTY, if bounded              |
//! | END    | the receiver found it empty and the stream closed, and does not check again | never; a sender that swaps puts it back, and keeps its value  |
//!
//! A sender that waits for room does so at the slot that it will fill next, which is also the slot that the receiver
//! will empty next. So a send is one swap. A receive is one load, and in a bounded stream another swap, which gives the
//! room back. While one thread uses both ends, a load and a store replace the swap: see [`sides`](crate::bias::pair).
//! Only the words are subject to that. Registering an address is always an update, as `Waitable` requires, unless the
//! waiter is persistent. Closing ends the bias for good, so an owner need not check whether the stream is closed.
//!
//! Closing. Either end sets `is_closed`, and ends the wait of the other if there is one. From then on nothing can be
//! sent. The receiver takes the remaining values, and ends the stream by putting END into the first empty slot. A
//! sender in the middle of sending either comes before that, and its value is received, or finds END, and keeps its
//! value. So a value was sent if and only if a receiver that continues gets it. A receiver that is dropped does all
//! this itself.
//!
//! Orderings: the swap to FULL releases the value, and the receiver's load acquires it. The swap to EMPTY releases the
//! slot, and the sender's load acquires it. The link to the next slab is written before the swap to FULL of the last
//! slot, and read after that was acquired. For `is_closed` and the words see [`word`](crate::wait::state_word). Each
//! end gives up its part with a decrement of `ends`, which releases. The last decrement acquires, and that end frees
//! all slabs from its own position on. A receiver that was dropped stopped at END, which the sender cannot pass, so its
//! position is the sender's.

// `slab <- cursor <- {producer, consumer} <- wait`.
pub(crate) mod consumer;
pub(crate) mod cursor;
pub(crate) mod producer;
pub(crate) mod slab;
pub(crate) mod wait;

use crate::{
    bias::pair::{BiasedPair, Side},
    channel::{
        closing::CloseWord,
        spsc::stream::{
            cursor::{Cursor, Shared},
            slab::Slab,
        },
    },
    sys::sync::{AtomicBool, AtomicU8},
};
use std::ptr::NonNull;

use self::{consumer::Consumer, producer::Producer};

/// Creates a stream with room for `capacity` values, or for any number.
pub(crate) fn stream<T>(capacity: Option<usize>) -> (Producer<T>, Consumer<T>) {
    // The slab comes first, as it panics if the address space is too small.
    let slab = Slab::new(capacity.unwrap_or(Slab::<T>::LEN));
    let shared = Shared {
        sides: BiasedPair::new(),
        is_closed: AtomicBool::new(false),
        closing: CloseWord::new(),
        ends: AtomicU8::new(2),
        is_bounded: capacity.is_some(),
        is_growing: AtomicBool::new(cfg!(any(loom, shuttle))),
    };
    let shared = NonNull::from(Box::leak(Box::new(shared)));
    // SAFETY: both were just made.
    let at = || unsafe { Cursor::new(shared, slab) };
    let [first, second] = Side::both();
    let producer = Producer { at: at(), side: first };
    (producer, Consumer { at: at(), side: second, is_ended: false })
}
