//! Many receivers as one.
//!
//! The idea, which is that of `FuturesUnordered` and of epoll. Each member of a set waits at its channel by a waiter of
//! its own, which nobody suspends on: to wake it is to *call* the member, by putting its token on a stack of those who
//! were called (Treiber 1986), of which the set takes all at once. The set receives from one member after the other.
//! One that may have more has its turn again after the others; one that has nothing waits at its channel again. So a
//! message costs the same whatever the number of members: the set is never searched, and a member that has nothing is
//! not looked at.
//!
//! | a member is | meaning                                              | left by                                             |
//! |-------------|------------------------------------------------------|-----------------------------------------------------|
//! | waiting     | its waiter is at the channel                         | whoever takes it from there calls it; it leaves   |
//! | called      | its token is at the ready queue, or on its way there         | the set takes all that are there -> ready           |
//! | ready       | it is in the list `now` or in `later`                | it has nothing -> waiting; it has ended             |
//! | left        | called or ready, and no member any more              | freed by who takes it out of the list               |
//!
//! | word of the ready queue | meaning                        | left by                                                        |
//! |------------------|--------------------------------|----------------------------------------------------------------|
//! | QUIET            | nobody was called              | a call -> CALLED; the set waits -> QUIET + address; the end -> GONE |
//! | QUIET + address  | likewise, and the set waits    | a call, which wakes the set -> CALLED, or QUIET, by the owner; the wait ends -> QUIET |
//! | CALLED + token    | the token that was called last  | a call -> CALLED + its token; the set takes all -> QUIET; the end -> GONE |
//! | GONE             | the set is no more             |                                                                |
//!
//! So a message for a member that waits costs three read-modify-writes: the sender's at the channel, the call, and the
//! wait that begins again. There is no count of references and no bell beside the word, and a member that has nothing
//! more waits again at once, without another turn.
//!
//! Calls on one thread. Most members are called by fibers of the worker that uses the set. If that is always the same
//! one, its thread becomes the owner of the ready queue (see [`bias`](crate::bias::bias)), and calls by a few stores:
//! the token goes to the end of the list `here`. All others call by the word, as before; they neither know who the
//! owner is nor have to ask. For what the bias guards is `here` alone, between the owner and the set, and it is the set
//! that takes the bias away when it is used on another thread. Only the set has to know where it is, and it alone makes
//! its thread the owner, when `here` is empty, so there is nothing to be agreed upon with others. Where the channels
//! are biased to this thread, too, a message for a member that waits costs no read-modify-write at all.
//!
//! Turns. The set looks for those who were called, in `here` and in the word, when all in `now` have had their turn;
//! those of them who may have more come before. So nobody has two turns before another who was ready has one, and the
//! word, to which other threads write, is looked at once in so many messages.
//!
//! Who keeps what alive. An entry is the set's, and is freed when its member leaves, unless it has been called and has
//! not come out of the lists: then it is `left`, and freed when it does. Whoever calls touches the entry and the ready
//! queue before its token is in the word, and neither afterwards; the owner touches the ready queue until it is not
//! inside any more. A set that ends while some are on their way leaves the ready queue to them: each frees its entry,
//! and the last one the ready queue. (Nobody waits for them: between taking a waiter out of a channel and waking it
//! foreign wakers may run.)
//!
//! Orderings: those of [`word`](crate::wait::state_word), by which the set waits, too. A call releases, taking all
//! acquires: what was sent before is found. GONE releases what was done to the entries that were left; `late` releases
//! and acquires, so that the last touch of the ready queue comes before its end. `here` is written by the owner,
//! inside, and by the set, on the same thread or after it has taken the bias away, which acquires what the owner did. A
//! set that is to wait looks into `here` first, on its own thread: so there is nobody in it while the set waits, and
//! the owner has to look whether the set waits only when it calls the first. It takes the address out of the word by an
//! exchange, as others may call.

pub(crate) mod member;
pub(crate) mod ready_queue;
pub(crate) mod receive;
pub(crate) mod scheduler;
pub(crate) mod source;

use super::{Closed, RecvError, RecvTimeoutError, TryRecvError, dropping::drop_all};
use crate::{
    channel::set::{
        member::{Entry, Member, Taken},
        receive::Receive,
        scheduler::SetScheduler,
        source::{Source, received},
    },
    cx::{
        Cx,
        attempt::{Attempt, wait_again_for, wait_async_for},
    },
    time::NEVER,
    wait::{Cancelled, state_word::WaitNode, suspend::WaitReason, waitable::Place, waiter::Waiter},
};
use std::{
    cell::UnsafeCell,
    fmt, iter,
    iter::FusedIterator,
    mem::ManuallyDrop,
    time::{Duration, Instant},
};

/// A place in the table of members.
struct Slot<R: Source> {
    generation: u32,
    taken: Option<Taken<R>>,
}

/// Many receivers as one.
///
/// Receiving takes the same time whatever the number of members, and is fair: of those that have something each gets
/// its turn. Members come and go at any time. One whose channel closes is told, once, and leaves.
///
/// A receiver that is a member ought to be the only one of its channel: what comes while the set is not used waits in
/// it.
///
/// From a [rendezvous](super::rendezvous) a set receives what senders wait to send. It has no room, so nothing is sent
/// to a set that is not asked, and `try_send` finds nobody there.
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
    /// Dropped before `scheduler`, which frees what they leave.
    slots: Vec<Slot<R>>,
    free: Vec<u32>,
    scheduler: SetScheduler<R>,
}

// SAFETY: the entries are the set's; what those who call touch of them is made for it. A wait is memory for the room of
// the receiver.
unsafe impl<R: Receive + Send> Send for ReceiverSet<R> {}
// SAFETY: by shared reference receivers can be looked at, and nothing else.
unsafe impl<R: Receive + Sync> Sync for ReceiverSet<R> {}

/// What a set receives: the member, and its value, or that it was closed and is no member any more.
pub type Received<R> = (Member, Result<<R as Receive>::Item, Closed>);

impl<R: Receive> ReceiverSet<R> {
    /// A set without members.
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), scheduler: SetScheduler::new() }
    }

    /// Makes a receiver a member, and says by which name.
    pub fn insert(&mut self, receiver: R) -> Member {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, taken: None });
            u32::try_from(self.slots.len() - 1).expect("fewer than four thousand million members")
        });
        let slot = &mut self.slots[index as usize];
        let member = Member { index, generation: slot.generation };
        slot.taken = Some(self.scheduler.admit(receiver, member));
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
        let (receiver, was_called) = self.vacate(member)?.leave();
        if was_called {
            receiver.pass_on();
        }
        self.scheduler.tidy(self.len());
        Some(receiver)
    }

    /// Ends a membership.
    fn vacate(&mut self, member: Member) -> Option<Taken<R>> {
        let slot = self.slots.get_mut(member.index as usize)?;
        if slot.generation != member.generation {
            return None;
        }
        let taken = slot.taken.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(member.index);
        Some(taken)
    }

    /// A member's receiver.
    pub fn get(&self, member: Member) -> Option<&R> {
        let slot = self.slots.get(member.index as usize)?;
        let taken = slot.taken.as_ref().filter(|_| slot.generation == member.generation)?;
        Some(taken.receiver())
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
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
            None => match wait_again_for(cx, &self.receiving(), NEVER, WaitReason::new(&"ReceiverSet::recv")) {
                Ok(received) => Ok(received?),
                Err(_) => Err(RecvError::Cancelled),
            },
        }
    }

    /// Like [`recv`](Self::recv), with a deadline.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_deadline(&mut self, cx: &Cx<'_>, instant: Instant) -> Result<Received<R>, RecvTimeoutError> {
        self.recv_to(cx, cx.strand.clock().tick_at(instant), WaitReason::new(&"ReceiverSet::recv"))
    }

    /// Like [`recv`](Self::recv), with a timeout.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<Received<R>, RecvTimeoutError> {
        self.recv_to(cx, cx.after(timeout), WaitReason::new(&"ReceiverSet::recv"))
    }

    fn recv_to(&mut self, cx: &Cx<'_>, deadline: u64, reason: WaitReason) -> Result<Received<R>, RecvTimeoutError> {
        cx.checkpoint()?;
        match self.next() {
            Some(received) => Ok(received?),
            None => Ok(wait_again_for(cx, &self.receiving(), deadline, reason)??),
        }
    }

    /// Like [`recv`](Self::recv), for async code. A future that is dropped before it is ready has received nothing.
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

    /// All that comes, each as [`recv`](Self::recv) has it, until there is no member any more. If a wait is cancelled
    /// that is the last item, an error.
    ///
    /// ```
    /// use anabranch::{Cancelled, channel::{ReceiverSet, oneshot}};
    ///
    /// let (senders, receivers): (Vec<_>, ReceiverSet<_>) = (0..10).map(|_| oneshot::channel()).unzip();
    /// anabranch::run(|cx| {
    ///     let mut replies = receivers;
    ///     senders.into_iter().zip(0..).for_each(|(sender, n)| sender.send(n).unwrap());
    ///     // Each member gives its value, and leaves.
    ///     let got = replies.iter(cx).map(|received| received.map(|(_, got)| got.unwrap()));
    ///     assert_eq!(got.sum::<Result<u32, Cancelled>>(), Ok(45));
    /// });
    /// ```
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<Received<R>, Cancelled>> + 'a {
        received(move || self.recv(cx))
    }

    /// All that is there, without waiting.
    pub fn drain(&mut self) -> impl FusedIterator<Item = Received<R>> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// The receive as an operation, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn receiving(&mut self) -> SetReceiving<'_, R> {
        SetReceiving { set: UnsafeCell::new(self), sleeper: WaitNode::new() }
    }

    /// What there is to receive now.
    #[inline]
    fn next(&mut self) -> Option<Result<Received<R>, Closed>> {
        loop {
            let Some(entry) = self.scheduler.first() else {
                return self.is_empty().then_some(Err(Closed));
            };
            let entry = entry.as_ptr();
            // SAFETY: what is in the lists is the set's alone. It does not wait before it is out of them.
            unsafe {
                let member = (*entry).member;
                let received = (*entry).receiver.receive();
                self.scheduler.pop();
                match received {
                    Ok(value) => {
                        if R::IS_ONCE {
                            self.clear(member);
                        } else if !(*entry).receiver.is_bare() || !Entry::listen(entry) {
                            self.scheduler.again(entry);
                        }
                        return Some(Ok((member, Ok(value))));
                    }
                    Err(TryRecvError::Closed) => {
                        self.clear(member);
                        return Some(Ok((member, Err(Closed))));
                    }
                    Err(TryRecvError::Empty) => {
                        if !Entry::listen(entry) {
                            self.scheduler.again(entry);
                        }
                    }
                }
            }
        }
    }

    /// Ends the membership of one that has nothing more to give.
    ///
    /// # Safety
    /// It is in none of the lists and does not wait.
    unsafe fn clear(&mut self, member: Member) {
        let taken = ManuallyDrop::new(self.vacate(member).expect("it was in the lists"));
        // SAFETY: the caller's word.
        drop(unsafe { Entry::clear(taken.entry()) });
    }
}

/// Receiving from a set, as an operation. Made by [`ReceiverSet::receiving`].
pub struct SetReceiving<'a, R: Receive> {
    set: UnsafeCell<&'a mut ReceiverSet<R>>,
    sleeper: WaitNode,
}

impl<R: Receive> Attempt for SetReceiving<'_, R> {
    type Output = Result<Received<R>, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is not `Sync`, so only its owner reaches the field. The reference ends here.
        unsafe { &mut *self.set.get() }.next()
    }
}

// SAFETY: an address leaves the word by `unregister`, or by a call, which then decides before `unregister` ends. To
// register is a read-modify-write.
unsafe impl<R: Receive> Place for SetReceiving<'_, R> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the reference as in `attempt`; the rest is the caller's word.
        unsafe { (*self.set.get()).scheduler.register(&self.sleeper, waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: as above.
        unsafe { (*self.set.get()).scheduler.unregister(&self.sleeper, has_decided) }
    }
}

impl<R: Receive> Drop for ReceiverSet<R> {
    fn drop(&mut self) {
        drop_all(|| self.slots.pop()).finish();
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
