//! The packet of a one-shot channel: a value, and one word.
//!
//! | word    | meaning                                  | left by                                                        |
//! |---------|------------------------------------------|----------------------------------------------------------------|
//! | EMPTY   | both ends are there; with an address: the receiver waits | sender: send -> FULL, drop -> CLOSED; receiver -> GONE |
//! | FULL    | the value is there, the sender is not    | the receiver takes it and frees the packet                     |
//! | CLOSED  | there is no value, nor a sender          | the receiver frees the packet                                  |
//! | GONE    | there is no receiver                     | the sender frees the packet                                    |
//!
//! Who owns what. Each end makes one swap, its last touch of the packet if it finds the other end still there; whoever
//! finds it gone frees the packet. So there is no count of references, and neither end touches a packet that the other
//! may have freed. (Waking the receiver needs its sleeper, which stays until it has been told; see
//! [`word`](crate::wait::state_word).)
//!
//! The value is the sender's until the swap to FULL, which releases it, and then the receiver's, which acquires the
//! word. The swap to GONE releases what the receiver did before, and the sender's swap acquires it, before it frees.

use crate::wait::{
    state_word::{Content, WaitNode, Word, decide, is_address, number},
    waitable::Place,
    waiter::Waiter,
};
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit, ptr::NonNull};

const EMPTY: Content = number(0);
const FULL: Content = number(1);
const CLOSED: Content = number(2);
const GONE: Content = number(3);

struct Packet<T> {
    word: Word,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The end that sends.
pub(crate) struct Sending<T> {
    packet: NonNull<Packet<T>>,
    _owns: PhantomData<T>,
}

/// The end that receives.
pub(crate) struct Receiving<T> {
    packet: NonNull<Packet<T>>,
    _owns: PhantomData<T>,
}

// SAFETY: the value goes from one thread to another; the rest is made for it.
unsafe impl<T: Send> Send for Sending<T> {}
// SAFETY: by shared reference only the word is looked at.
unsafe impl<T: Send> Sync for Sending<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Receiving<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Receiving<T> {}

/// What the receiver finds.
pub(crate) enum State {
    Empty,
    Full,
    Closed,
}

pub(crate) fn packet<T>() -> (Sending<T>, Receiving<T>) {
    let packet = Packet { word: Word::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) };
    // SAFETY: a box is not null.
    let packet = unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(packet))) };
    (Sending { packet, _owns: PhantomData }, Receiving { packet, _owns: PhantomData })
}

/// Frees the packet. A value in it is not dropped.
///
/// # Safety
/// The other end is gone, and this one does not come back.
unsafe fn free<T>(packet: NonNull<Packet<T>>) {
    // SAFETY: from a box, by `packet`; nobody else has it, by the caller's word.
    drop(unsafe { Box::from_raw(packet.as_ptr()) });
}

impl<T> Sending<T> {
    /// Puts the value down and wakes the receiver; gives it back if there is none.
    #[inline]
    pub(crate) fn send(self, value: T) -> Result<(), T> {
        let packet = self.packet;
        std::mem::forget(self);
        // SAFETY: until the swap the packet is alive and the value this end's.
        let found = unsafe {
            (*packet.as_ref().value.get()).write(value);
            packet.as_ref().word.swap(FULL)
        };
        if found == EMPTY {
            return Ok(());
        }
        if is_address(found) {
            // SAFETY: taken out by the swap.
            if let Some(wake) = unsafe { decide(found) } {
                wake.wake();
            }
            return Ok(());
        }
        debug_assert!(found == GONE);
        // SAFETY: the receiver is gone, so the packet is this end's alone, with what was just put in.
        unsafe {
            let value = (*packet.as_ref().value.get()).assume_init_read();
            free(packet);
            Err(value)
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        // SAFETY: the sender has not made its swap.
        unsafe { self.packet.as_ref() }.word.load() == GONE
    }

    /// A number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.packet.addr().get()
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        // SAFETY: this end's one swap; afterwards as in `send`.
        unsafe {
            let found = self.packet.as_ref().word.swap(CLOSED);
            if is_address(found) {
                if let Some(wake) = decide(found) {
                    wake.wake();
                }
            } else if found == GONE {
                free(self.packet);
            }
        }
    }
}

impl<T> Receiving<T> {
    fn word(&self) -> &Word {
        // SAFETY: the receiver has not let go of the packet.
        unsafe { &self.packet.as_ref().word }
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        match self.word().load() {
            FULL => State::Full,
            CLOSED => State::Closed,
            _ => State::Empty,
        }
    }

    /// Takes the value, and frees the packet.
    ///
    /// # Safety
    /// The state is `Full`.
    #[inline]
    pub(crate) unsafe fn take(self) -> T {
        let packet = self.packet;
        std::mem::forget(self);
        // SAFETY: full: the sender has let go of it.
        unsafe {
            let value = (*packet.as_ref().value.get()).assume_init_read();
            free(packet);
            value
        }
    }

    /// Gives up, unless there is a value or nobody to send one.
    pub(crate) fn refuse(self) -> Result<(), Self> {
        if self.word().replace(EMPTY, GONE) {
            std::mem::forget(self);
            return Ok(());
        }
        Err(self)
    }

    /// A number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.packet.addr().get()
    }

    /// # Safety
    /// As for [`Place::register`], with a sleeper of the place.
    pub(crate) unsafe fn register(&self, sleeper: &WaitNode, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the receiver waits.
        unsafe { self.word().register(EMPTY, sleeper, waiter, ticket) }
    }

    /// Takes the address of a sleeper out again. `false`: it is not there.
    pub(crate) fn withdraw(&self, sleeper: &WaitNode) -> bool {
        self.word().withdraw(EMPTY, sleeper)
    }
}

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        let packet = self.packet;
        // SAFETY: this end's one swap. It is in no wait, so the word holds no address. If the sender has made its own
        // swap the packet is this end's alone.
        unsafe {
            let found = packet.as_ref().word.swap(GONE);
            if found == FULL {
                let value = (*packet.as_ref().value.get()).assume_init_read();
                free(packet);
                drop(value);
            } else if found == CLOSED {
                free(packet);
            }
        }
    }
}

/// The receiver's wait.
pub(crate) struct PacketWait<'a> {
    word: &'a Word,
    sleeper: WaitNode,
}

impl<'a> PacketWait<'a> {
    pub(crate) fn new<T>(of: &'a Receiving<T>) -> Self {
        Self { word: of.word(), sleeper: WaitNode::new() }
    }
}

// SAFETY: an address leaves the word by `unregister`, or by a swap of the sender, which then decides before
// `unregister` ends.
unsafe impl Place for PacketWait<'_> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { self.word.register(EMPTY, &self.sleeper, waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { self.word.unregister(EMPTY, &self.sleeper, has_decided) }
    }
}
