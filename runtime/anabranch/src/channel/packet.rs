//! The packet of a one-shot channel: a value, and one word.
//!
//! | word    | meaning                                  | left by                                                        |
//! |---------|------------------------------------------|----------------------------------------------------------------|
//! | EMPTY   | both ends are there; with an address: the receiver waits | sender: send -> FULL, drop -> CLOSED; receiver -> GONE |
//! | FULL    | the value is there, the sender is not    | the receiver takes it and frees the packet                     |
//! | CLOSED  | there is no value, nor a sender          | the receiver frees the packet                                  |
//! | GONE    | there is no receiver                     | the sender frees the packet                                    |
//!
//! Who owns what. Each end makes one swap, which is its last access to the packet if the other end is still there. An
//! end that finds the other end gone frees the packet. So there is no reference count, and neither end touches a packet
//! that the other may have freed. (Waking the receiver needs its wait node, which stays until the receiver is notified;
//! see [`word`](crate::wait::state_word).)
//!
//! The receiver marks a second word before its swap, where the sender may wait for it (see
//! [`closing`](crate::channel::closing)). After the swap it ends that wait, without the packet. A sender that finds the
//! mark waits for the swap, which follows at once: so `closed` returns only if a send would fail.
//!
//! The sender owns the value until the swap to FULL, which releases it. Then the receiver owns it, and acquires the
//! word. The swap to GONE releases what the receiver did before, and the sender's swap acquires it before the sender
//! frees.

use crate::{
    channel::closing::{CloseWait, CloseWord},
    cx::attempt::Attempt,
    sys::{carrier::Carrier, sync::spin_while},
    wait::{
        state_word::{Content, WaitNode, Word, is_address, number, number_of, wake},
        waitable::{Armed, Ended, waits_by},
    },
};
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit, ptr::NonNull};

const EMPTY: Content = number(0);
const FULL: Content = number(1);
const CLOSED: Content = number(2);
const GONE: Content = number(3);

struct Packet<T> {
    word: Word,
    /// The sender waits here until there is no receiver.
    closing: CloseWord,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The sending end.
pub(crate) struct Sending<T> {
    packet: NonNull<Packet<T>>,
    _owns: PhantomData<T>,
}

/// The receiving end.
pub(crate) struct Receiving<T> {
    packet: NonNull<Packet<T>>,
    _owns: PhantomData<T>,
}

// SAFETY: the value is sent from one thread to another, and the word is atomic.
unsafe impl<T: Send> Send for Sending<T> {}
// SAFETY: by shared reference an end only looks at the word, which is atomic.
unsafe impl<T: Send> Sync for Sending<T> {}
// SAFETY: the value is sent from one thread to another, and the word is atomic.
unsafe impl<T: Send> Send for Receiving<T> {}
// SAFETY: by shared reference an end only looks at the word, which is atomic.
unsafe impl<T: Send> Sync for Receiving<T> {}

/// The state that the receiver finds.
pub(crate) enum State {
    Empty,
    Full,
    Closed,
}

pub(crate) fn packet<T>() -> (Sending<T>, Receiving<T>) {
    let packet =
        Packet { word: Word::new(EMPTY), closing: CloseWord::new(), value: UnsafeCell::new(MaybeUninit::uninit()) };
    let packet = NonNull::from(Box::leak(Box::new(packet)));
    (Sending { packet, _owns: PhantomData }, Receiving { packet, _owns: PhantomData })
}

/// Frees the packet. A value in it is not dropped.
///
/// # Safety
/// The other end is gone, and this end is not used afterwards.
unsafe fn free<T>(packet: NonNull<Packet<T>>) {
    // SAFETY: `packet` made it from a box. The caller promises that the other end is gone, so no other thread has it.
    drop(unsafe { Box::from_raw(packet.as_ptr()) });
}

impl<T> Sending<T> {
    /// Writes the value and wakes the receiver. Returns the value if there is no receiver.
    #[inline]
    pub(crate) fn send(self, value: T) -> Result<(), T> {
        let packet = self.packet;
        std::mem::forget(self);
        // SAFETY: until the swap the packet is alive and this end owns the value.
        let found = unsafe {
            (*packet.as_ref().value.get()).write(value);
            packet.as_ref().word.swap(FULL)
        };
        if found == EMPTY {
            return Ok(());
        }
        if is_address(found) {
            // SAFETY: the swap took the address out of the word.
            unsafe { wake(found) };
            return Ok(());
        }
        debug_assert!(found == GONE);
        // SAFETY: the receiver is gone, so only this end has the packet, which holds the value that was just written.
        unsafe {
            let value = (*packet.as_ref().value.get()).assume_init_read();
            free(packet);
            Err(value)
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        // SAFETY: the packet is alive, since the sender has not made its swap.
        unsafe { self.packet.as_ref() }.word.load() == GONE
    }

    /// Returns a number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.packet.addr().get()
    }

    /// Returns the wait until there is no receiver.
    pub(crate) fn closing(&mut self) -> RefusalWait<'_> {
        // SAFETY: the packet is alive, since the sender has not made its swap.
        let packet = unsafe { self.packet.as_ref() };
        RefusalWait { word: &packet.word, wait: CloseWait::new(&packet.closing) }
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        // SAFETY: this is the one swap of this end. An address in the word was taken out by it; if the receiver is
        // gone, only this end has the packet.
        unsafe {
            let found = self.packet.as_ref().word.swap(CLOSED);
            if is_address(found) {
                wake(found);
            } else if found == GONE {
                free(self.packet);
            }
        }
    }
}

impl<T> Receiving<T> {
    fn word(&self) -> &Word {
        // SAFETY: the packet is alive, since the receiver has not given it up.
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
    pub(crate) unsafe fn take<V: Carrier<T>>(self) -> V {
        let packet = self.packet;
        std::mem::forget(self);
        // SAFETY: the state is `Full`, so the sender has given up the packet and the value.
        unsafe {
            let value = V::read((*packet.as_ref().value.get()).as_ptr());
            free(packet);
            value
        }
    }

    /// Closes the packet, unless the value was sent or the sender is gone.
    pub(crate) fn refuse(self) -> Result<(), Self> {
        let mut content = self.word().load();
        if number_of(content) != EMPTY {
            return Err(self);
        }
        // SAFETY: the packet is alive, since the receiver has not given it up.
        let sender = unsafe { self.packet.as_ref() }.closing.close();
        // An address is that of a future that was forgotten.
        let is_refused = loop {
            if self.word().replace(content, GONE) {
                break true;
            }
            content = self.word().load();
            if number_of(content) != EMPTY {
                break false;
            }
        };
        // After a refusal the sender may free the packet.
        sender.end();
        if is_refused {
            std::mem::forget(self);
            return Ok(());
        }
        Err(self)
    }

    /// Returns a number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.packet.addr().get()
    }

    pub(crate) fn register(&self, node: &WaitNode, armed: Armed) -> bool {
        self.word().register(EMPTY, node, armed)
    }

    pub(crate) fn unregister(&self, node: &WaitNode, ended: Ended) {
        self.word().unregister(EMPTY, node, ended);
    }

    /// Takes the address of a wait node out again. Returns `false` if it is not there.
    pub(crate) fn withdraw(&self, node: &WaitNode) -> bool {
        self.word().withdraw(EMPTY, node)
    }
}

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        let packet = self.packet;
        // SAFETY: this is the one swap of this end. It does not wait, so the word holds no address. If the sender has
        // made its own swap, only this end has the packet.
        unsafe {
            let sender = packet.as_ref().closing.close();
            let found = packet.as_ref().word.swap(GONE);
            sender.end();
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

/// The sender's wait until there is no receiver.
pub(crate) struct RefusalWait<'a> {
    word: &'a Word,
    wait: CloseWait<'a>,
}

impl Attempt for RefusalWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.wait.attempt()?;
        spin_while(|| self.word.load() != GONE);
        Some(())
    }
}

waits_by!(wait: RefusalWait<'_>);
