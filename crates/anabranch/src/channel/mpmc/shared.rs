//! The basis of channels with any number of senders and receivers: a queue of values and two queues of waiters, under
//! one lock.
//!
//! The idea. The lock is held for a few instructions and unlocked by a store. So a message costs two read-modify-writes
//! in all, one to send and one to receive, which is fewer than lock-free queues need. Rare operations (closing,
//! cancelling, reserving) stay simple. (kanal works in the same way.)
//!
//! | capacity | a sender                                                 | else it waits                       |
//! |----------|----------------------------------------------------------|-------------------------------------|
//! | any      | puts its value into the queue, always                    | never                               |
//! | n        | the same, while there are fewer than n values and permits | it keeps its value: an *offer*     |
//! | 0        | hands its value to a thread or fiber that waits to receive | it keeps its value: an *offer*     |
//!
//! - **Values stay in the queue.** A waiting receiver is woken for a value, not given it. A receiver that was woken and
//!   will not receive (its future was dropped) wakes the next one. So no value can be lost on the way.
//! - **A rendezvous hands values over** to threads and fibers, which wait in `receivers`. The value goes into a
//!   [`Target`] of the receiver whose wait is ended for it: no other thread can take it, and closing does not touch it.
//!   Its bits are copied before the selection, and count if the selection succeeds. A receiver whose wait ended
//!   otherwise forgets what it finds there. After a wait that a waitable has ended, a thread or fiber always makes an
//!   attempt, and nothing in between can unwind. So a value that was handed over was received.
//! - **A rendezvous hands nothing to futures and members of sets**: a future may be dropped instead of polled, and a
//!   set may never receive again. They wait in `listeners`. A sender that waits with an offer wakes the first listener,
//!   which takes the offer when it runs. A listener that leaves without a look wakes the next one, while there are
//!   offers. `try_send` does not wait, so it never meets a listener. The queue of values of a rendezvous is always
//!   empty.
//! - **Offers are taken in their order**, by the thread that makes room: it moves the value of the first sender that
//!   still waits into the queue, or, with capacity 0, takes it. Only the selection shows whether that sender still
//!   waits, and after it the sender's waitable may be gone. So the bits of the value are copied first, and count if the
//!   selection succeeds. The sender in turn goes by the outcome of its wait, and forgets its value if the wait was
//!   selected with `is_taken`.
//! - **A thread takes room by itself.** To wake a thread costs far more than a message. If each receive moved the offer
//!   of a thread into the queue, each would wake a thread for one message, and the queue would stay full. So a thread
//!   that waits for room is woken without a hand-over, and retries. By then the receiver has made more room, and the
//!   thread sends many values. One such sender at a time is on its way (`is_sender_called`). It wakes the next one
//!   after its attempt if there is room left. So another sender may take the room first, and the thread waits again.
//! - While senders wait there is no room, or one of them was woken and has not retried. While receivers wait, each
//!   value in the queue is one for which another receiver was woken: each value that comes into the queue, from a
//!   sender or by moving up, wakes one.
//! - **No selection meets itself**: one that would send into a rendezvous or receive from it, whichever can be done
//!   first, waits for another fiber or thread, although it is in both queues.
//! - **Permits** are reserved room. They are given out like room, to offers without a value.
//!
//! Closing sets a flag, after which no offer is taken, and ends all waits. Each waiter attempts again and sees the
//! flag.
//!
//! All of it is in one or two cache lines, which move to the thread that has the lock: neither side writes anything
//! that the other need not see. So no fields are kept apart, and an idle channel with its first block fits into 256
//! bytes.
//!
//! Who keeps what alive: the ends hold the channel in an `Arc`. Values are dropped and waiters woken after the lock is
//! released. The ends are counted beside the lock. The last sender, and the last receiver, closes.

use crate::{
    channel::{
        PushError, TryRecvError,
        end_count::EndCount,
        mpmc::{
            buffer::Buffer,
            state::{Offer, State, Target, Wakes, wake},
        },
    },
    sys::spin::{Brief, BriefGuard},
    wait::{
        queue::{Entry, Queue},
        waiter::Waiter,
    },
};

/// How many values are taken before the lock is released.
const BATCH: usize = if cfg!(shuttle) { 2 } else { 16 };

/// See the [module](self).
pub(crate) struct Channel<T> {
    state: Brief<State<T>>,
    /// `usize::MAX` if it is unlimited.
    capacity: usize,
    senders: EndCount,
    receivers: EndCount,
}

impl<T> Channel<T> {
    /// Creates a channel with one sender and one receiver.
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Self {
            state: Brief::new(State::new(capacity)),
            capacity: capacity.unwrap_or(usize::MAX),
            senders: EndCount::new(),
            receivers: EndCount::new(),
        }
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        (self.capacity != usize::MAX).then_some(self.capacity)
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().buffer.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        let state = self.state.lock();
        !state.has_room(self.capacity) && (self.capacity != 0 || state.receivers.is_empty())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Puts a value in if there is room; in a rendezvous hands it to a waiting thread or fiber. Returns the number of
    /// values in the queue.
    #[inline]
    pub(crate) fn try_send(&self, value: T) -> Result<usize, (PushError, T)> {
        let mut state = self.state.lock();
        if !state.is_closed && state.receivers.is_empty() && state.has_room(self.capacity) {
            state.buffer.push_back(value);
            return Ok(state.buffer.len());
        }
        self.try_send_to(state, value)
    }

    /// The slow path, which may have to wake a waiter.
    #[inline(never)]
    fn try_send_to(&self, mut state: BriefGuard<'_, State<T>>, value: T) -> Result<usize, (PushError, T)> {
        if state.is_closed {
            return Err((PushError::Closed, value));
        }
        if self.capacity == 0 {
            let handed = state.hand(value);
            drop(state);
            return match handed {
                Ok(receiver) => {
                    receiver.wake();
                    Ok(0)
                }
                Err(value) => Err((PushError::Full, value)),
            };
        }
        if !state.has_room(self.capacity) {
            return Err((PushError::Full, value));
        }
        // While the value is put into the buffer, which may miss the caches, too.
        state.receivers.prefetch_first();
        state.buffer.push_back(value);
        let len = state.buffer.len();
        let receiver = state.receivers.select_first(|_| ());
        drop(state);
        wake(receiver);
        Ok(len)
    }

    /// Takes a value if there is one.
    #[inline]
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.state.lock();
        if state.senders.is_empty() {
            return state.buffer.pop_front().ok_or(if state.is_closed {
                TryRecvError::Closed
            } else {
                TryRecvError::Empty
            });
        }
        self.try_recv_from(state)
    }

    /// The slow path, which may have to wake a waiter.
    #[inline(never)]
    fn try_recv_from(&self, mut state: BriefGuard<'_, State<T>>) -> Result<T, TryRecvError> {
        let (value, wakes) = state.pop(self.capacity)?;
        drop(state);
        wakes.wake();
        Ok(value)
    }

    /// Takes up to `limit` values, a [batch](BATCH) at a time. Returns how many.
    pub(crate) fn try_recv_many(&self, into: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        let mut count = 0;
        while count < limit {
            match self.try_recv_batch(into, BATCH.min(limit - count)) {
                Ok(taken) => count += taken,
                Err(nothing) if count == 0 => return Err(nothing),
                Err(_) => break,
            }
        }
        Ok(count)
    }

    /// Like [`try_recv_many`](Self::try_recv_many), for at most [`BATCH`] values.
    fn try_recv_batch(&self, into: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        // No memory is allocated under the lock.
        into.reserve(limit);
        let mut wakes = [const { Wakes { sender: None, receiver: None } }; BATCH];
        let mut count = 0;
        let mut state = self.state.lock();
        while count < limit {
            match state.pop(self.capacity) {
                Ok((value, freed)) => {
                    into.push(value);
                    wakes[count] = freed;
                    count += 1;
                }
                Err(nothing) if count == 0 => return Err(nothing),
                Err(_) => break,
            }
        }
        drop(state);
        wakes.into_iter().for_each(Wakes::wake);
        Ok(count)
    }

    /// Reserves room for a value if there is some.
    pub(crate) fn try_reserve(&self) -> Result<(), PushError> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(PushError::Closed);
        }
        if !state.has_room(self.capacity) {
            return Err(PushError::Full);
        }
        state.add_permit();
        Ok(())
    }

    /// Puts a value into reserved room.
    pub(crate) fn send_reserved(&self, value: T) -> Result<(), T> {
        let mut state = self.state.lock();
        state.permits -= 1;
        if state.is_closed {
            return Err(value);
        }
        state.buffer.push_back(value);
        let receiver = state.receivers.select_first(|_| ());
        drop(state);
        wake(receiver);
        Ok(())
    }

    /// Called after an attempt of a sender that was woken for room. Wakes the next sender if there is room left.
    #[cold]
    pub(crate) fn call_next_sender(&self) {
        let mut state = self.state.lock();
        state.is_sender_called = false;
        let wakes = state.refill(self.capacity);
        drop(state);
        wakes.wake();
    }

    /// Gives reserved room back.
    pub(crate) fn unreserve(&self) {
        let mut state = self.state.lock();
        state.permits -= 1;
        let wakes = state.refill(self.capacity);
        drop(state);
        wakes.wake();
    }

    /// Wakes the next receiver after one was woken for a value and does not take it.
    pub(crate) fn pass_on(&self) {
        let mut state = self.state.lock();
        let has_offer = self.capacity == 0 && !state.is_closed && !state.senders.is_empty();
        let receiver = if state.buffer.len() > 0 || has_offer { state.call_receiver() } else { None };
        drop(state);
        wake(receiver);
    }

    /// Closes the channel: nothing can be sent from now on, and all waiters are woken.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        loop {
            let mut state = self.state.lock();
            let sender = state.senders.select_first(|offer| offer.is_taken = false);
            let receiver = state.call_receiver();
            let closing = state.closing.as_mut().and_then(|closing| closing.select_first(|_| ()));
            drop(state);
            if sender.is_none() && receiver.is_none() && closing.is_none() {
                return;
            }
            wake(sender);
            wake(receiver);
            wake(closing);
        }
    }

    /// Closes the channel after its last receiver is gone, and drops the values in it.
    pub(crate) fn abandon(&self) {
        self.close();
        let empty = Buffer::new(None);
        let rest = std::mem::replace(&mut self.state.lock().buffer, empty);
        drop(rest);
    }

    pub(crate) fn sender_count(&self) -> usize {
        self.senders.get()
    }

    pub(crate) fn receiver_count(&self) -> usize {
        self.receivers.get()
    }

    pub(crate) fn add_sender(&self) {
        self.senders.add();
    }

    pub(crate) fn remove_sender(&self) {
        if self.senders.remove() {
            self.close();
        }
    }

    /// Adds a sender, unless there is none.
    pub(crate) fn try_add_sender(&self) -> bool {
        self.senders.try_add()
    }

    pub(crate) fn add_receiver(&self) {
        self.receivers.add();
    }

    pub(crate) fn remove_receiver(&self) {
        if self.receivers.remove() {
            self.abandon();
        }
    }

    // ---- waiting ----

    /// # Safety
    /// The contract of [`Waitable::register`](crate::wait::waitable::Waitable::register) holds, with an entry of the
    /// waitable.
    pub(crate) unsafe fn register_sender(&self, entry: &Entry<Offer<T>>, waiter: *const Waiter, ticket: u32) -> bool {
        let mut state = self.state.lock();
        let has_receiver = self.capacity == 0 && state.receivers.has_other_than(waiter);
        if state.is_closed || state.has_room(self.capacity) || has_receiver {
            return false;
        }
        // SAFETY: the entry is in no queue. The caller keeps the waiter armed and alive, and the entry in place, until
        // it is taken off or removed.
        unsafe {
            entry.with(|offer| offer.retries = (*waiter).retries());
            state.senders.push_back(entry, waiter, ticket);
        }
        let listener = state.listeners.as_mut().and_then(|listeners| listeners.select_other_than(waiter));
        drop(state);
        wake(listener);
        true
    }

    /// # Safety
    /// The contract of [`Waitable::unregister`](crate::wait::waitable::Waitable::unregister) holds, and the wait was
    /// not selected from here.
    pub(crate) unsafe fn unregister_sender(&self, entry: &Entry<Offer<T>>) {
        // SAFETY: the caller promises that the entry is in this queue, or was taken off it.
        unsafe { self.state.lock().senders.remove(entry) };
    }

    /// Registers a waiter for the closing of the channel.
    ///
    /// # Safety
    /// The contract of [`Waitable::register`](crate::wait::waitable::Waitable::register) holds, with an entry of the
    /// waitable.
    pub(crate) unsafe fn register_closing(&self, entry: &Entry<()>, waiter: *const Waiter, ticket: u32) -> bool {
        // Allocated before anything is locked. The channel keeps the first queue.
        let has_queue = self.state.lock().closing.is_some();
        let queue = (!has_queue).then(|| Box::new(Queue::new()));
        let mut state = self.state.lock();
        if state.is_closed {
            return false;
        }
        let unneeded = if state.closing.is_none() { std::mem::replace(&mut state.closing, queue) } else { queue };
        let closing = state.closing.as_mut().expect("the channel has one, or got one here");
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { closing.push_back(entry, waiter, ticket) };
        drop(state);
        drop(unneeded);
        true
    }

    /// # Safety
    /// The entry was registered by [`register_closing`](Self::register_closing).
    pub(crate) unsafe fn unregister_closing(&self, entry: &Entry<()>) {
        let mut state = self.state.lock();
        if let Some(closing) = &mut state.closing {
            // SAFETY: the caller promises that the entry is in this queue, or was taken off it.
            unsafe { closing.remove(entry) };
        }
    }

    /// # Safety
    /// The contract of [`register_sender`](Self::register_sender) holds.
    pub(crate) unsafe fn register_receiver(
        &self,
        entry: &Entry<Target<T>>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { self.enqueue(self.state.lock(), entry, waiter, ticket) }
    }

    /// Like [`register_receiver`](Self::register_receiver), for a persistent waiter, which is in no scope and needs no
    /// update.
    ///
    /// # Safety
    /// The contract of [`register_receiver`](Self::register_receiver) holds.
    pub(crate) unsafe fn register_persistent(&self, entry: &Entry<Target<T>>, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { self.enqueue(self.state.lock(), entry, waiter, 0) }
    }

    #[inline]
    unsafe fn enqueue(
        &self,
        mut state: BriefGuard<'_, State<T>>,
        entry: &Entry<Target<T>>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        if !state.is_bare() || self.capacity == 0 && state.senders.has_other_than(waiter) {
            return false;
        }
        // SAFETY: the caller keeps the waiter armed, so alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { state.queue_of(waiter).push_back(entry, waiter, ticket) };
        true
    }

    /// Removes an entry. Returns `false` if it is not in the queue, or no longer.
    ///
    /// # Safety
    /// If the entry was registered, then with this channel.
    pub(crate) unsafe fn unregister_receiver(&self, entry: &Entry<Target<T>>) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held. The entry is in the queue of its waiter, which is alive while the entry is linked,
        // or in none.
        unsafe {
            let Some(waiter) = entry.waiter() else { return false };
            state.queue_of(waiter).remove(entry)
        }
    }
}
