//! Many receivers as one.
//!
//! The idea, which is that of `FuturesUnordered` and of epoll. Each member of a set waits at its channel by a waiter of its own,
//! which nobody suspends on: to wake it is to put the member on the list of those that are ready, and to ring the set's bell.
//! The set receives from the first that is ready. While a member has more to give it goes to the end of the list; when it has
//! nothing it waits at its channel again. So a message costs the same whatever the number of members: the set is never searched,
//! and a member that has nothing is not looked at.
//!
//! | a member is | meaning                                   | left by                                                          |
//! |-------------|-------------------------------------------|------------------------------------------------------------------|
//! | waiting     | its waiter is at the channel              | the channel decides and wakes it -> called; removal              |
//! | called      | its name is in `inbox`, the bell has rung | the set collects the inbox -> ready                              |
//! | ready       | its name is in `ready`, it does not wait  | it has nothing -> waiting; it is closed, or taken out            |
//!
//! Who keeps what alive. A member is in a box until it is taken out, which unregisters it first. Its waiter is in an `Arc`, with
//! the inbox; whoever wakes it holds a part of that. A name that comes too late, of a member that was taken out, has an old
//! generation and is passed over.

use super::{
    Closed, RecvError, RecvTimeoutError, TryRecvError,
    member::{Desk, Member, Seat},
    source::Source,
};
use crate::{
    sys::sync::{Arc, lock},
    time::NEVER,
    wait::{
        Cx,
        attempt::{Attempt, wait_again_for, wait_async_for},
        cx::Reason,
        place::Place,
        slot::{Slot, SlotWait},
        waiter::Waiter,
    },
};
use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    fmt, iter,
    iter::FusedIterator,
    time::{Duration, Instant},
};

/// A receiver that can be a member of a [`ReceiverSet`]: those of all flavours, and the endpoints of
/// [conversations](mod@crate::proto), each of which leaves the set with what it has received. It is sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Receive: Source<Value = <Self as Receive>::Item> {
    /// What is received.
    type Item;
}

impl<T> Receive for super::Receiver<T> {
    type Item = T;
}

impl<T> Receive for super::spsc::Receiver<T> {
    type Item = T;
}

/// Its member gives one value, and leaves.
impl<T> Receive for super::oneshot::Receiver<T> {
    type Item = T;
}

impl<T> Receive for super::watch::Receiver<T> {
    type Item = Arc<T>;
}

impl<T> Receive for super::broadcast::Receiver<T> {
    type Item = Arc<T>;
}

/// A place in the table of members.
struct Chair<R: Source> {
    generation: u32,
    seat: Option<Box<Seat<R>>>,
}

/// Many receivers as one.
///
/// Receiving takes the same time whatever the number of members, and is fair: of those that have something each gets its turn.
/// Members come and go at any time. One whose channel closes is told, once, and leaves.
///
/// A receiver that is a member ought to be the only one of its channel: what comes while the set is not used waits in it.
///
/// ```
/// use anabranch::channel::{Closed, ReceiverSet, unbounded};
///
/// anabranch::run(|cx| {
///     let mut set = ReceiverSet::new();
///     let (senders, members): (Vec<_>, Vec<_>) = (0..100)
///         .map(|_| {
///             let (sender, receiver) = unbounded();
///             (sender, set.insert(receiver))
///         })
///         .unzip();
///     senders[42].try_send("hello").unwrap();
///     assert_eq!(set.recv(cx), Ok((members[42], Ok("hello"))));
///     drop(senders);
///     let (_, closed) = set.recv(cx).unwrap();
///     assert_eq!(closed, Err(Closed));
///     assert_eq!(set.len(), 99);
/// });
/// ```
pub struct ReceiverSet<R: Receive> {
    chairs: Vec<Chair<R>>,
    free: Vec<u32>,
    ready: VecDeque<Member>,
    desk: Arc<Desk>,
}

/// What a set receives: the member, and its value, or that it was closed and is no member any more.
pub type Received<R> = (Member, Result<<R as Receive>::Item, Closed>);

impl<R: Receive> ReceiverSet<R> {
    /// A set without members.
    pub fn new() -> Self {
        let desk = Arc::new(Desk::new());
        Self { chairs: Vec::new(), free: Vec::new(), ready: VecDeque::new(), desk }
    }

    /// Makes a receiver a member, and says by which name.
    pub fn insert(&mut self, receiver: R) -> Member {
        let index = self.free.pop().unwrap_or_else(|| {
            self.chairs.push(Chair { generation: 0, seat: None });
            u32::try_from(self.chairs.len() - 1).expect("fewer than four thousand million members")
        });
        let chair = &mut self.chairs[index as usize];
        let member = Member { index, generation: chair.generation };
        chair.seat = Some(Box::new(Seat::new(receiver, member, Arc::clone(&self.desk))));
        self.ready.push_back(member);
        member
    }

    /// Takes a member out. `None`: it is none, or no longer.
    ///
    /// ```
    /// let mut set = anabranch::channel::ReceiverSet::new();
    /// let (sender, receiver) = anabranch::channel::unbounded();
    /// let member = set.insert(receiver);
    /// sender.try_send(1).unwrap();
    /// assert_eq!(set.remove(member).unwrap().try_recv(), Ok(1));
    /// assert!(set.remove(member).is_none());
    /// ```
    pub fn remove(&mut self, member: Member) -> Option<R> {
        let chair = self.chairs.get_mut(member.index as usize)?;
        if chair.generation != member.generation {
            return None;
        }
        let mut seat = chair.seat.take()?;
        chair.generation = chair.generation.wrapping_add(1);
        self.free.push(member.index);
        let was_called = seat.stop_listening();
        // The seat has nothing left to do but to let go of the receiver.
        let receiver = (*seat).into_receiver();
        if was_called {
            receiver.pass_on();
        }
        Some(receiver)
    }

    /// A member's receiver.
    pub fn get(&self, member: Member) -> Option<&R> {
        let chair = self.chairs.get(member.index as usize)?;
        let seat = chair.seat.as_ref().filter(|_| chair.generation == member.generation)?;
        Some(&seat.receiver)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.chairs.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Receives from any of the members; waits while none has anything. Also says when a member closes.
    ///
    /// # Errors
    /// [`RecvError::Closed`] when there is no member; [`RecvError::Cancelled`] when the wait was cancelled.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<Received<R>, RecvError> {
        cx.checkpoint()?;
        match self.next() {
            Some(received) => Ok(received?),
            None => match wait_again_for(cx, &self.receiving(), NEVER, Reason::new(&"ReceiverSet::recv")) {
                Ok(received) => Ok(received?),
                Err(_) => Err(RecvError::Cancelled),
            },
        }
    }

    /// As [`recv`](Self::recv), but waits no longer than until then.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_until(&mut self, cx: &Cx<'_>, instant: Instant) -> Result<Received<R>, RecvTimeoutError> {
        self.recv_to(cx, cx.strand.clock().tick_at(instant), Reason::new(&"ReceiverSet::recv"))
    }

    /// As [`recv`](Self::recv), but waits no longer than this.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<Received<R>, RecvTimeoutError> {
        self.recv_to(cx, cx.after(timeout), Reason::new(&"ReceiverSet::recv"))
    }

    fn recv_to(&mut self, cx: &Cx<'_>, deadline: u64, reason: Reason) -> Result<Received<R>, RecvTimeoutError> {
        cx.checkpoint()?;
        match self.next() {
            Some(received) => Ok(received?),
            None => Ok(wait_again_for(cx, &self.receiving(), deadline, reason)??),
        }
    }

    /// As [`recv`](Self::recv), for async code. A future that is dropped before it is ready has received nothing.
    ///
    /// # Errors
    /// When there is no member.
    pub async fn recv_async(&mut self) -> Result<Received<R>, Closed> {
        wait_async_for(self.receiving()).await
    }

    /// Receives from any of the members that has something.
    ///
    /// # Errors
    /// When none has, or there is none.
    pub fn try_recv(&mut self) -> Result<Received<R>, TryRecvError> {
        match self.next() {
            Some(Ok(received)) => Ok(received),
            Some(Err(Closed)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// All that comes, each as [`recv`](Self::recv) has it, until there is no member any more, or a wait was cancelled.
    ///
    /// ```
    /// use anabranch::channel::{ReceiverSet, oneshot};
    ///
    /// let (senders, receivers): (Vec<_>, ReceiverSet<_>) = (0..10).map(|_| oneshot::channel()).unzip();
    /// anabranch::run(|cx| {
    ///     let mut replies = receivers;
    ///     senders.into_iter().zip(0..).for_each(|(sender, n)| sender.send(n).unwrap());
    ///     // Each member says its value, and then that it is closed.
    ///     assert_eq!(replies.iter(cx).filter_map(|(_, got)| got.ok()).sum::<u32>(), 45);
    /// });
    /// ```
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Received<R>> + 'a {
        iter::from_fn(move || self.recv(cx).ok()).fuse()
    }

    /// All that is there, without waiting.
    pub fn drain(&mut self) -> impl FusedIterator<Item = Received<R>> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// The receive as an operation, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn receiving(&mut self) -> SetReceiving<'_, R> {
        let bell: *const Slot = &self.desk.bell;
        // SAFETY: the desk is the set's for as long as the set is borrowed.
        let wait = SlotWait::new(unsafe { &*bell });
        SetReceiving { set: UnsafeCell::new(self), wait }
    }

    /// Puts those that were called to those that are ready.
    #[cold]
    fn collect(&mut self) {
        self.desk.bell.reset();
        let mut called = std::mem::take(&mut *lock(&self.desk.inbox));
        self.ready.extend(called.drain(..));
        // The memory is used again, unless somebody has begun another list.
        let mut inbox = lock(&self.desk.inbox);
        if inbox.capacity() == 0 {
            *inbox = called;
        }
    }

    /// What there is to receive now.
    #[inline]
    fn next(&mut self) -> Option<Result<Received<R>, Closed>> {
        loop {
            if self.desk.bell.is_notified() {
                self.collect();
            }
            let Some(member) = self.ready.pop_front() else {
                return self.is_empty().then_some(Err(Closed));
            };
            let chair = &mut self.chairs[member.index as usize];
            let Some(seat) = chair.seat.as_mut().filter(|_| chair.generation == member.generation) else { continue };
            seat.stop_listening();
            loop {
                match seat.receiver.receive() {
                    Ok(value) => {
                        if R::IS_ONCE {
                            self.remove(member);
                        } else {
                            self.ready.push_back(member);
                        }
                        return Some(Ok((member, Ok(value))));
                    }
                    Err(TryRecvError::Closed) => {
                        self.remove(member);
                        return Some(Ok((member, Err(Closed))));
                    }
                    Err(TryRecvError::Empty) => {
                        if seat.listen() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Receiving from a set, as an operation. Made by [`ReceiverSet::receiving`].
pub struct SetReceiving<'a, R: Receive> {
    set: UnsafeCell<&'a mut ReceiverSet<R>>,
    wait: SlotWait<&'a Slot>,
}

impl<R: Receive> Attempt for SetReceiving<'_, R> {
    type Output = Result<Received<R>, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is its strand's alone, as it is not `Sync`, and the reference ends here.
        unsafe { &mut *self.set.get() }.next()
    }
}

// SAFETY: that of `wait`.
unsafe impl<R: Receive> Place for SetReceiving<'_, R> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.wait.register(waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.wait.unregister(has_decided) }
    }
}

impl<R: Receive> Default for ReceiverSet<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Receive> Extend<R> for ReceiverSet<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, receivers: I) {
        for receiver in receivers {
            self.insert(receiver);
        }
    }
}

impl<R: Receive> FromIterator<R> for ReceiverSet<R> {
    fn from_iter<I: IntoIterator<Item = R>>(receivers: I) -> Self {
        let mut set = Self::new();
        set.extend(receivers);
        set
    }
}

impl<R: Receive> fmt::Debug for ReceiverSet<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverSet").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<R: Receive> fmt::Debug for SetReceiving<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetReceiving").finish_non_exhaustive()
    }
}
