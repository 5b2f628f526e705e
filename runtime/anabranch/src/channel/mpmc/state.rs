//! The state that the lock of a channel guards, and the steps under the lock. The [channel](super::shared) explains
//! them.

use crate::{
    channel::{TryRecvError, closing::CloseQueue, mpmc::buffer::Buffer},
    sys::carrier::{Carrier, is_large},
    wait::{
        queue::Queue,
        waiter::{Waiter, Wake},
    },
};
use std::{
    mem::{ManuallyDrop, MaybeUninit},
    ptr,
};

/// The offer of a waiting sender.
pub(crate) struct Offer<T> {
    /// `None` if the sender wants permits.
    pub(crate) value: Option<T>,
    /// How many more permits the sender waits for. Room for the others is set aside. 1 for a value.
    pub(crate) missing: u32,
    /// Whether the value was taken, or the permits given. Valid if the wait was selected from the queue.
    pub(crate) is_taken: bool,
    /// Whether the sender is woken for room and takes it itself: see [`Kind`](crate::wait::waiter::Kind).
    pub(crate) retries: bool,
}

impl<T> Offer<T> {
    /// Creates the offer of a value.
    pub(crate) fn value(value: T) -> Self {
        Self { value: Some(value), missing: 1, is_taken: false, retries: false }
    }

    /// Creates the offer of a sender that wants so many permits.
    pub(crate) fn permits(count: u32) -> Self {
        Self { value: None, missing: count, is_taken: false, retries: false }
    }
}

pub(super) struct State<T> {
    pub(super) buffer: Buffer<T>,
    pub(super) permits: u32,
    pub(super) is_closed: bool,
    /// Whether a sender that retries was woken for room and has not retried yet. It then wakes the next one.
    pub(super) is_sender_called: bool,
    pub(super) senders: Queue<Offer<T>>,
    pub(super) receivers: Queue<Target<T>>,
    /// The futures and members of sets that wait at a rendezvous. On the heap, since other channels have to be small.
    pub(super) listeners: Option<Box<Queue<Target<T>>>>,
    pub(super) closing: CloseQueue,
}

/// The slot for a value that is handed to a waiting receiver. Null for members of sets, to which nothing is handed.
pub(crate) struct Target<T>(*mut Option<T>);

// SAFETY: the pointer is to a slot of the waiter. The thread that hands a value over writes it under the lock.
unsafe impl<T: Send> Send for Target<T> {}

impl<T> Target<T> {
    pub(crate) const NONE: Self = Self(ptr::null_mut());

    /// Creates a target. The slot's value counts if the wait was selected from the queue, and is forgotten otherwise:
    /// the owner writes `None` before a wait, and after a wait that ended otherwise.
    pub(crate) fn at(slot: *mut Option<T>) -> Self {
        Self(slot)
    }
}

impl<T> State<T> {
    pub(super) fn new(capacity: Option<usize>) -> Self {
        Self {
            buffer: Buffer::new(capacity),
            permits: 0,
            is_closed: false,
            is_sender_called: false,
            senders: Queue::new(),
            receivers: Queue::new(),
            listeners: (capacity == Some(0)).then(|| Box::new(Queue::new())),
            closing: CloseQueue::NEW,
        }
    }

    #[inline]
    pub(super) fn has_room(&self, capacity: usize) -> bool {
        self.buffer.len() + (self.permits as usize) < capacity
    }

    /// Returns for how many more values there is room.
    pub(super) fn room(&self, capacity: usize) -> usize {
        capacity.saturating_sub(self.buffer.len() + self.permits as usize)
    }

    pub(super) fn add_permits(&mut self, count: u32) {
        self.permits = self.permits.checked_add(count).expect("fewer than four thousand million permits");
    }

    /// Takes the offer of the first sender. Returns `None` if that sender no longer waits. Returns the value in
    /// `Some(Some(_))`, `Some(None)` for a permit, and `None` if the sender was only woken, because it retries.
    fn take_offer<V: Carrier<T>>(&mut self, capacity: usize) -> Option<(Wake, Option<Option<V>>)> {
        let mut copy = MaybeUninit::<Option<V>>::uninit();
        let (mut is_copied, mut is_taken) = (false, false);
        let wake = self.senders.select_head(|offer| {
            // A rendezvous has no room in which the sender could put its value.
            is_taken = capacity == 0 || !offer.retries;
            offer.is_taken = is_taken;
            // SAFETY: the value is valid. It is copied as bits, which count only if the wait is selected.
            copy.write(offer.value.as_ref().map(|value| unsafe { V::read(value) }));
            is_copied = true;
        });
        if wake.is_some() && is_taken {
            // SAFETY: the last call wrote the copy. The wait was selected with `is_taken`, so the sender forgets the
            // value.
            return Some((wake?, Some(unsafe { copy.assume_init() })));
        }
        // SAFETY: the copy was written if there was a sender, which keeps its value.
        if is_copied && let Some(copy) = unsafe { &mut *copy.as_mut_ptr() } {
            // SAFETY: the copy is not used any more.
            unsafe { V::forget(copy) };
        }
        let wake = wake?;
        self.is_sender_called = true;
        Some((wake, None))
    }

    /// Moves the first offer up after room was made. A value that moves up is a new one for the waiting receivers, one
    /// of which is woken. It must not be left to the receiver that made room, which may be the last that was woken.
    #[inline]
    pub(super) fn refill(&mut self, capacity: usize) -> Wakes {
        if self.senders.is_empty() || self.is_closed || !self.has_room(capacity) {
            return Wakes::default();
        }
        if const { is_large::<T>() } {
            self.refill_waiting::<Box<T>>(capacity)
        } else {
            self.refill_waiting::<T>(capacity)
        }
    }

    fn refill_waiting<V: Carrier<T>>(&mut self, capacity: usize) -> Wakes {
        let (sender, taken) = loop {
            let room = self.room(capacity);
            let Some(offer) = self.senders.first() else { return Wakes::default() };
            if room == 0 || self.is_sender_called && offer.retries {
                return Wakes::default();
            }
            // The last missing permit ends the wait.
            let set_aside = (offer.missing - 1).min(u32::try_from(room).unwrap_or(u32::MAX));
            offer.missing -= set_aside;
            self.add_permits(set_aside);
            if set_aside as usize == room {
                return Wakes::default();
            }
            if let Some(taken) = self.take_offer::<V>(capacity) {
                break taken;
            }
        };
        let receiver = match taken {
            Some(Some(value)) => {
                self.buffer.push_back(value);
                self.receivers.select_first(|_| ())
            }
            Some(None) => {
                self.add_permits(1);
                None
            }
            None => None,
        };
        Wakes { sender: Some(sender), receiver }
    }

    #[inline]
    pub(super) fn pop<V: Carrier<T>>(&mut self, capacity: usize) -> Result<(V, Wakes), TryRecvError> {
        match self.buffer.pop_front() {
            Some(value) => Ok((value, self.refill(capacity))),
            None => self.pop_offer(capacity),
        }
    }

    fn pop_offer<V: Carrier<T>>(&mut self, capacity: usize) -> Result<(V, Wakes), TryRecvError> {
        while capacity == 0 && !self.is_closed && !self.senders.is_empty() {
            if let Some((sender, Some(Some(value)))) = self.take_offer(capacity) {
                return Ok((value, Wakes { sender: Some(sender), receiver: None }));
            }
        }
        Err(if self.is_closed { TryRecvError::Closed } else { TryRecvError::Empty })
    }

    /// Hands a value to a thread or fiber that waits at a rendezvous. Returns the value if there is none.
    pub(super) fn hand<V: Carrier<T>>(&mut self, value: V) -> Result<Wake, V> {
        let mut value = ManuallyDrop::new(value);
        let wake = self.receivers.select_first(|target| {
            // SAFETY: the target is not null, as sets wait in `listeners`. The slot belongs to the entry, whose owner
            // does not touch it before the wait has ended, and it is `None`. The bits count for the receiver if the
            // wait is selected with them, and for the sender if not.
            unsafe { target.0.write(Some(ptr::read(V::place(&value)))) }
        });
        let Some(wake) = wake else { return Err(ManuallyDrop::into_inner(value)) };
        // SAFETY: a wait that was selected with the value gave it to that receiver, so it is not used here any more.
        unsafe { V::forget(&raw mut *value) };
        Ok(wake)
    }

    /// Wakes a waiting receiver, to look for what there is.
    pub(super) fn call_receiver(&mut self) -> Option<Wake> {
        self.receivers.select_first(|_| ()).or_else(|| self.listeners.as_mut()?.select_first(|_| ()))
    }

    /// Returns whether a receiver has to wait.
    pub(super) fn is_bare(&self) -> bool {
        self.buffer.len() == 0 && !self.is_closed
    }

    /// Returns the queue in which a receiver with this waiter waits.
    #[inline]
    pub(super) fn queue_of(&mut self, waiter: &Waiter) -> &mut Queue<Target<T>> {
        match &mut self.listeners {
            Some(listeners) if !waiter.resumes() => listeners,
            _ => &mut self.receivers,
        }
    }
}

/// The waiters that a receive has set free.
#[derive(Default)]
pub(super) struct Wakes {
    pub(super) sender: Option<Wake>,
    pub(super) receiver: Option<Wake>,
}

impl Wakes {
    #[inline]
    pub(super) fn wake(self) {
        wake(self.sender);
        wake(self.receiver);
    }
}

#[inline]
pub(super) fn wake(wake: Option<Wake>) {
    if let Some(wake) = wake {
        wake.wake();
    }
}
