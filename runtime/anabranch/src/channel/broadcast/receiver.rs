//! The receiving end.

use super::{ClosedOrLagged, Lagged, Log, RecvError, TryRecvError};
use crate::{
    channel::{
        self,
        dropping::drop_all,
        set::source::Source,
        versioned::{News, Versioned},
    },
    cx::{
        Cx,
        attempt::{Attempt, OwnerCell, wait_without_deadline},
    },
    sys::sync::Arc,
    wait::{
        future::count_ready,
        queue::Entry,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{fmt, iter, iter::FusedIterator};

/// The receiving end of a broadcast channel; may be cloned. Each clone receives all values.
pub struct Receiver<T> {
    pub(super) versioned: Arc<Versioned<Log<T>>>,
    /// The number of the next value.
    pub(super) next: u64,
    pub(super) missed: u64,
}

impl<T> Receiver<T> {
    /// Returns how many values were missed so far because they were sent faster than received: the sum of the counts in
    /// all [`Lagged`].
    pub fn lagged(&self) -> u64 {
        self.missed
    }

    /// Returns how many values can be received now.
    pub fn len(&self) -> usize {
        self.versioned.look(|state| state.content.values.len().min((state.version - self.next) as usize))
    }

    /// Returns whether there is nothing to receive now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn next(&mut self) -> Option<Result<Arc<T>, ClosedOrLagged>> {
        self.versioned.look(|state| {
            if state.version == self.next {
                return state.is_closed.then_some(Err(ClosedOrLagged::Closed));
            }
            let kept = &state.content.values;
            let first = state.version - kept.len() as u64;
            if self.next < first {
                let missed = first - self.next;
                self.missed += missed;
                self.next = first;
                return Some(Err(ClosedOrLagged::Lagged(missed)));
            }
            let next = self.next;
            self.next += 1;
            Some(Ok(Arc::clone(&kept[(next - first) as usize])))
        })
    }

    /// Returns the next value, unless values were missed before it.
    fn next_kept(&mut self) -> Option<Arc<T>> {
        self.versioned.look(|state| {
            let kept = &state.content.values;
            let first = state.version - kept.len() as u64;
            let value = kept.get(usize::try_from(self.next.checked_sub(first)?).ok()?)?;
            self.next += 1;
            Some(Arc::clone(value))
        })
    }

    /// Receives the oldest value that was not received; waits while there is none.
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and there is nothing more to receive, `Cancelled` if the wait is
    /// cancelled. Returns [`RecvError::Lagged`] once if values were missed; the next receive returns the oldest value
    /// that is kept.
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<Arc<T>, RecvError> {
        self.recv_for(cx, WaitReason::new(&"broadcast::Receiver::recv"))
    }

    fn recv_for(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<Arc<T>, RecvError> {
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.receiving(), reason)??)
    }

    /// Like [`recv`](Self::recv), without waiting.
    ///
    /// # Errors
    /// Returns an error if there is nothing to receive, now or ever, or if values were missed.
    pub fn try_recv(&mut self) -> Result<Arc<T>, TryRecvError> {
        Ok(self.next().ok_or(TryRecvError::Empty)??)
    }

    /// Iterates over all values, each received as with [`recv`](Self::recv), until the channel is closed. Missed values
    /// appear as an error among the items, [`RecvError::Lagged`], and the iteration continues. If a wait is cancelled,
    /// that error is the last item.
    #[track_caller]
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<Arc<T>, RecvError>> + 'a {
        let (reason, mut is_over) = (WaitReason::new(&"broadcast::Receiver::iter"), false);
        let next = move || {
            let received = if is_over { Err(RecvError::Closed) } else { self.recv_for(cx, reason) };
            is_over = matches!(received, Err(RecvError::Cancelled));
            (!matches!(received, Err(RecvError::Closed))).then_some(received)
        };
        iter::from_fn(next).fuse()
    }

    /// Iterates over the values that can be received now, without waiting. Missed values appear as an error among the
    /// items.
    pub fn drain(&mut self) -> impl FusedIterator<Item = Result<Arc<T>, Lagged>> + '_ {
        let next = || match self.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Lagged(missed)) => Some(Err(Lagged(missed))),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        };
        iter::from_fn(next).fuse()
    }

    /// Receives up to `limit` values and appends them to `into`; waits while there is none. Returns the number of
    /// values received. Stops before missed values, which the next receive reports. For a time limit use
    /// [`Cx::timeout`].
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_many(&mut self, cx: &Cx<'_>, into: &mut Vec<Arc<T>>, limit: usize) -> Result<usize, RecvError> {
        if limit == 0 {
            return Ok(0);
        }
        let first = self.recv(cx)?;
        Ok(self.take_many(first, into, limit))
    }

    /// Like [`recv_many`](Self::recv_many), for async code. A future that is dropped before it is ready has received
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the channel is closed and there is nothing more to receive, or if values were missed.
    pub async fn recv_many_async(&mut self, into: &mut Vec<Arc<T>>, limit: usize) -> Result<usize, ClosedOrLagged> {
        if limit == 0 {
            count_ready().await;
            return Ok(0);
        }
        let first = self.receiving().await?;
        Ok(self.take_many(first, into, limit))
    }

    fn take_many(&mut self, first: Arc<T>, into: &mut Vec<Arc<T>>, limit: usize) -> usize {
        into.push(first);
        let mut count = 1;
        while count < limit
            && let Some(value) = self.next_kept()
        {
            into.push(value);
            count += 1;
        }
        count
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). A future that is dropped early has received
    /// nothing.
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        let versioned: *const Versioned<Log<T>> = &*self.versioned;
        // SAFETY: the receiver keeps the versioned value alive, and the operation borrows the receiver.
        let news = News::of(unsafe { &*versioned });
        Receiving { news, receiver: OwnerCell::new(self) }
    }

    /// Drops all values that are kept if there is no receiver any more.
    #[cold]
    fn forget_all(&self) {
        // Allocated before anything is locked. It serves receivers that are added later.
        let empty = super::empty(self.versioned.look(|state| state.content.capacity));
        let rest = self.versioned.look_alone(|state| std::mem::replace(&mut state.content.values, empty));
        let mut rest = rest.unwrap_or_default();
        drop_all(|| rest.pop_front()).finish();
    }

    /// Returns whether nothing will be sent any more. There may still be something to receive.
    pub fn is_closed(&self) -> bool {
        self.versioned.look(|state| state.is_closed)
    }

    /// Returns whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.versioned, &other.versioned)
    }
}

/// Receiving, as an operation. Created by [`Receiver::receiving`].
pub struct Receiving<'a, T> {
    news: News<'a, Log<T>>,
    receiver: OwnerCell<&'a mut Receiver<T>>,
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<Arc<T>, ClosedOrLagged>;

    const NAME: &'static &'static str = &"broadcast::Receiver::recv";

    fn attempt(&self) -> Option<Self::Output> {
        self.receiver.with(|receiver| receiver.next())
    }
}

crate::cx::operation::into_future!(Receiving<'_, T>, [T];);

// SAFETY: `news` upholds the contract of `Waitable`, and every call is forwarded to it.
unsafe impl<T> Waitable for Receiving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.news.register(self.receiver.with(|receiver| receiver.next), armed)
    }

    fn unregister(&self, ended: Ended) {
        self.news.unregister(ended);
    }
}

/// The clone has received what the original has received.
impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.versioned.add_receiver();
        Self { versioned: Arc::clone(&self.versioned), next: self.next, missed: self.missed }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.versioned.remove_receiver() {
            self.forget_all();
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiver").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiving").finish_non_exhaustive()
    }
}

impl<T> Source for Receiver<T> {
    type Value = Result<Arc<T>, Lagged>;
    type Wait = Entry<u64>;

    fn wait() -> Entry<u64> {
        Entry::new(0)
    }

    fn receive(&mut self) -> Result<Result<Arc<T>, Lagged>, channel::TryRecvError> {
        match self.try_recv() {
            Ok(value) => Ok(Ok(value)),
            Err(TryRecvError::Lagged(missed)) => Ok(Err(Lagged(missed))),
            Err(TryRecvError::Empty) => Err(channel::TryRecvError::Empty),
            Err(TryRecvError::Closed) => Err(channel::TryRecvError::Closed),
        }
    }

    fn register(&self, wait: &Entry<u64>, armed: Armed) -> bool {
        self.versioned.register(wait, self.next, armed)
    }

    fn withdraw(&self, wait: &Entry<u64>, ended: Ended) -> bool {
        self.versioned.unregister(wait, ended)
    }

    fn pass_on(&self) {}
}
