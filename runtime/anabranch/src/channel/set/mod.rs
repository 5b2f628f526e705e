//! A set of receivers, from which a program receives as from a single receiver.
//!
//! The idea comes from `FuturesUnordered` and epoll. Each member of a set waits at its channel with a waiter of its
//! own, on which no thread is suspended. A wake-up of that waiter *calls* the member: it pushes the member's token on a
//! stack of called members (Treiber 1986). The set takes all tokens of that stack at once, and receives from one member
//! after the other. A member that may have more values gets another turn after the others. A member without values
//! waits at its channel again. So the cost of a message does not depend on the number of members: the set never looks
//! at members without a value.
//!
//! | a member is | meaning                                              | left by                                             |
//! |-------------|------------------------------------------------------|-----------------------------------------------------|
//! | waiting     | its waiter is at the channel                         | the thread that takes it out calls it; it leaves  |
//! | called      | its token is at the ready queue, or on its way there         | the set takes all tokens -> ready           |
//! | ready       | it is in the list `now` or in `later`                | it has no value -> waiting; it has ended             |
//! | left        | called or ready, and no member any more              | freed when it comes out of the list                 |
//!
//! | word of the ready queue | meaning                        | left by                                                        |
//! |------------------|--------------------------------|----------------------------------------------------------------|
//! | QUIET            | no call                        | a call -> CALLED; the set waits -> QUIET + address; the end -> GONE |
//! | QUIET + address  | no call, and the set waits     | a call, which wakes the set -> CALLED; the wait ends -> QUIET |
//! | CALLED + token    | the token that was called last  | a call -> CALLED + its token; the set takes all -> QUIET; the end -> GONE |
//! | GONE             | the set is no more             |                                                                |
//!
//! So a message for a waiting member costs three read-modify-writes: one by the sender at the channel, the call, and
//! the new wait. There is no reference count and no flag beside the word. A member without further values waits again
//! at once, without another turn.
//!
//! Turns. The set collects the called members when each member in `now` has had its turn. Members of the old lists that
//! may have more values come first. So no member has two turns before another ready member has one. The set reads the
//! word, to which other threads write, only once in many messages.
//!
//! Ownership. The set owns an entry and frees it when its member leaves. If the entry has been called and is still in a
//! list, it is `left`, and is freed when it comes out of the list. A caller accesses the entry and the ready queue only
//! until its token is in the word. A set may end while some calls have not pushed their token. It then leaves the ready
//! queue to these callers: each frees its entry, and the last caller frees the ready queue. (The set does not wait for
//! them, because foreign wakers may run between the removal of a waiter from its channel and its wake-up.)
//!
//! Orderings: as in [`word`](crate::wait::state_word), with which the set waits too. A call releases and taking all
//! tokens acquires, so what was sent before is found. GONE releases the writes to the entries that were left. `late`
//! releases and acquires, so the last access to the ready queue comes before its end.

pub(crate) mod member;
pub(crate) mod ready_queue;
pub(crate) mod receive;
pub(crate) mod scheduler;
pub(crate) mod source;

use super::{Closed, RecvError, TryRecvError, dropping::drop_all};
use crate::{
    channel::set::{
        member::{Entry, Member, Taken},
        receive::Receive,
        scheduler::SetScheduler,
        source::{Source, received},
    },
    cx::{
        Cx,
        attempt::{Attempt, OwnerCell, wait_again_for},
    },
    time::NEVER,
    wait::{
        Cancelled,
        state_word::WaitNode,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{fmt, iter, iter::FusedIterator, mem::ManuallyDrop};

/// An entry in the table of members.
struct Slot<R: Source> {
    generation: u32,
    taken: Option<Taken<R>>,
}

/// A set of receivers, from which a program receives as from a single receiver.
///
/// A receive takes the same time for any number of members. It is fair: all members that have values take turns.
/// Members can be added and removed at any time. The set reports once that the channel of a member has closed, and the
/// member then leaves.
///
/// **Order.** The values of each member arrive in the order in which they were sent. The order between members is
/// relaxed: a value may arrive after a value that was sent later to another member, even if the first send happened
/// before the second. If a program needs that order, all senders should use one channel, or drop their senders: all
/// values of a member arrive before its [`Closed`].
///
/// A member should be the only receiver of its channel: it holds back values that arrive while the set is not
/// receiving.
///
/// From a [rendezvous](super::rendezvous) a set receives the values of waiting senders. A rendezvous stores no value,
/// so a sender cannot send to a set that is not receiving, and `try_send` ignores the set.
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
    /// The members are dropped before `scheduler`, which frees the entries that they leave.
    slots: Vec<Slot<R>>,
    free: Vec<u32>,
    scheduler: SetScheduler<R>,
}

// SAFETY: the set owns the entries, and callers touch only the token, which is made for it. A wait is memory that only
// its receiver uses.
unsafe impl<R: Receive + Send> Send for ReceiverSet<R> {}
// SAFETY: through a shared reference only the receivers are accessible, and they are `Sync`.
unsafe impl<R: Receive + Sync> Sync for ReceiverSet<R> {}

/// The result of a receive from a set: the member, and its value. The value is an error if the channel of the member
/// has closed; the member has left the set then.
pub type Received<R> = (Member, Result<<R as Receive>::Item, Closed>);

impl<R: Receive> ReceiverSet<R> {
    /// Creates a set without members.
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), scheduler: SetScheduler::new() }
    }

    /// Adds a receiver to the set. Returns its identifier.
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

    /// Removes a member and returns its receiver. Returns `None` if it is not a member.
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

    /// Returns a member's receiver.
    pub fn get(&self, member: Member) -> Option<&R> {
        let slot = self.slots.get(member.index as usize)?;
        let taken = slot.taken.as_ref().filter(|_| slot.generation == member.generation)?;
        Some(taken.receiver())
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Receives from any of the members. Waits while none has a value. Also reports that the channel of a member has
    /// closed.
    ///
    /// # Errors
    /// Returns [`RecvError::Closed`] if there is no member, or [`RecvError::Cancelled`] if the wait is cancelled.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<Received<R>, RecvError> {
        self.recv_for(cx, WaitReason::new(&"ReceiverSet::recv"))
    }

    #[inline]
    fn recv_for(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<Received<R>, RecvError> {
        cx.checkpoint()?;
        match self.next() {
            Some(received) => Ok(received?),
            None => match wait_again_for(cx, &self.receiving(), NEVER, reason) {
                Ok(received) => Ok(received?),
                Err(_) => Err(RecvError::Cancelled),
            },
        }
    }

    /// Receives from any member that has a value. Does not wait.
    ///
    /// # Errors
    /// Returns `Empty` if no member has a value, or `Closed` if there is no member.
    pub fn try_recv(&mut self) -> Result<Received<R>, TryRecvError> {
        Ok(self.next().ok_or(TryRecvError::Empty)??)
    }

    /// Iterates over the results of [`recv`](Self::recv), until there is no member any more. If a wait is cancelled,
    /// that error is the last item.
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
    #[track_caller]
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<Received<R>, Cancelled>> + 'a {
        let reason = WaitReason::new(&"ReceiverSet::iter");
        received(move || self.recv_for(cx, reason))
    }

    /// Iterates over the values that can be received now. Does not wait.
    pub fn drain(&mut self) -> impl FusedIterator<Item = Received<R>> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). A future that is dropped early has received
    /// nothing.
    pub fn receiving(&mut self) -> SetReceiving<'_, R> {
        SetReceiving { set: OwnerCell::new(self), node: WaitNode::new() }
    }

    /// Receives from the next ready member, if there is one.
    #[inline]
    fn next(&mut self) -> Option<Result<Received<R>, Closed>> {
        loop {
            let Some(entry) = self.scheduler.first() else {
                return self.is_empty().then_some(Err(Closed));
            };
            let entry = entry.as_ptr();
            // SAFETY: only the set has the entries in the lists. An entry does not wait before it is out of them.
            unsafe {
                let member = (*entry).member;
                let received = (*entry).receiver.receive();
                self.scheduler.pop();
                match received {
                    Ok(value) => {
                        if R::IS_ONCE {
                            self.clear(member);
                        } else if !(*entry).receiver.is_bare() || !Entry::register_persistent(entry) {
                            self.scheduler.again(entry);
                        }
                        return Some(Ok((member, Ok(value))));
                    }
                    Err(TryRecvError::Closed) => {
                        self.clear(member);
                        return Some(Ok((member, Err(Closed))));
                    }
                    Err(TryRecvError::Empty) => {
                        if !Entry::register_persistent(entry) {
                            self.scheduler.again(entry);
                        }
                    }
                }
            }
        }
    }

    /// Ends the membership of a member that has nothing more to receive.
    ///
    /// # Safety
    /// The entry of the member is in none of the lists and does not wait.
    unsafe fn clear(&mut self, member: Member) {
        let taken = ManuallyDrop::new(self.vacate(member).expect("it was in the lists"));
        // SAFETY: the caller ensures that the entry is in no list and does not wait.
        drop(unsafe { Entry::clear(taken.entry()) });
    }
}

/// A receive from a set, as an operation. Created by [`ReceiverSet::receiving`].
pub struct SetReceiving<'a, R: Receive> {
    set: OwnerCell<&'a mut ReceiverSet<R>>,
    node: WaitNode,
}

impl<R: Receive> SetReceiving<'_, R> {
    fn scheduler(&self) -> &SetScheduler<R> {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { &self.set.get().scheduler }
    }
}

impl<R: Receive> Attempt for SetReceiving<'_, R> {
    type Output = Result<Received<R>, Closed>;

    const NAME: &'static &'static str = &"ReceiverSet::recv";

    fn attempt(&self) -> Option<Self::Output> {
        self.set.with(|set| set.next())
    }
}

crate::cx::operation::into_future!(SetReceiving<'_, R>, [R: Receive];);

// SAFETY: an address leaves the word by `unregister`, or by a call, which then selects the wait before `unregister`
// ends. Registering is a read-modify-write.
unsafe impl<R: Receive> Waitable for SetReceiving<'_, R> {
    fn register(&self, armed: Armed) -> bool {
        self.scheduler().register(&self.node, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.scheduler().unregister(&self.node, ended);
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
