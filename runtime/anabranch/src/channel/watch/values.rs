//! Changes of the value in place, and waits for a value that satisfies a condition.

use super::{Receiver, Sender};
use crate::{
    channel::{Closed, RecvError},
    cx::Cx,
    sys::sync::Arc,
    wait::future::count_ready,
};

impl<T: Clone> Sender<T> {
    /// Changes the value, and wakes all receivers that wait for a new value. Receivers that have the old value keep it:
    /// `modify` changes a clone. If another sender replaces the value meanwhile, `modify` runs again on the newer
    /// value.
    ///
    /// # Errors
    /// Returns an error if the channel was closed by [`close`](Self::close).
    ///
    /// ```
    /// let (sender, mut receiver) = anabranch::channel::watch::channel(vec![1]);
    /// sender.send_modify(|list| list.push(2)).unwrap();
    /// assert_eq!(*receiver.try_recv().unwrap(), [1, 2]);
    /// ```
    pub fn send_modify(&self, mut modify: impl FnMut(&mut T)) -> Result<(), Closed> {
        let modify = |value: &mut T| {
            modify(value);
            true
        };
        self.send_if_modified(modify).map(|_| ())
    }

    /// Like [`send_modify`](Self::send_modify), but replaces the value only if `modify` returns `true`. Returns whether
    /// it did.
    ///
    /// # Errors
    /// Returns an error if the channel was closed by [`close`](Self::close).
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::watch::channel(3);
    /// let mut raise_to = |n: u32| sender.send_if_modified(|largest| n > std::mem::replace(largest, n.max(*largest)));
    /// assert_eq!((raise_to(2), raise_to(4)), (Ok(false), Ok(true)));
    /// assert_eq!(*receiver.get(), 4);
    /// ```
    pub fn send_if_modified(&self, mut modify: impl FnMut(&mut T) -> bool) -> Result<bool, Closed> {
        loop {
            if self.is_closed() {
                return Err(Closed);
            }
            // Foreign code, which clones, changes and drops, runs outside of the lock.
            let old = self.get();
            let mut value = T::clone(&old);
            if !modify(&mut value) {
                return Ok(false);
            }
            let is_same = |present: &Arc<T>| Arc::ptr_eq(present, &old);
            match self.versioned.publish_if(is_same, Arc::new(value), std::mem::replace) {
                Ok(Some(_old)) => return Ok(true),
                Ok(None) => {}
                Err(_) => return Err(Closed),
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Waits until the value satisfies `condition`, and receives it. Begins with the present value, even if it was
    /// received before, and skips the values in between. For a time limit use [`Cx::timeout`].
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and its value does not satisfy the condition, `Cancelled` if the wait
    /// is cancelled.
    ///
    /// ```
    /// let (sender, mut receiver) = anabranch::channel::watch::channel(1);
    /// anabranch::run(|cx| {
    ///     cx.join(
    ///         |_| (2..=5).for_each(|n| sender.send(n).unwrap()),
    ///         |cx| assert!(*receiver.wait_for(cx, |n| *n > 3).unwrap() > 3),
    ///     );
    /// });
    /// ```
    #[track_caller]
    pub fn wait_for(&mut self, cx: &Cx<'_>, mut condition: impl FnMut(&T) -> bool) -> Result<Arc<T>, RecvError> {
        cx.checkpoint()?;
        let mut value = self.get_seen();
        while !condition(&value) {
            value = self.recv(cx)?;
        }
        Ok(value)
    }

    /// Like [`wait_for`](Self::wait_for), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns an error if the channel is closed and its value does not satisfy the condition.
    pub async fn wait_for_async(&mut self, mut condition: impl FnMut(&T) -> bool) -> Result<Arc<T>, Closed> {
        count_ready().await;
        let mut value = self.get_seen();
        while !condition(&value) {
            value = self.receiving().await?;
        }
        Ok(value)
    }

    /// Like [`wait_for`](Self::wait_for), for threads without a [`Cx`]: blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns an error if the channel is closed and its value does not satisfy the condition.
    #[track_caller]
    pub fn wait_for_blocking(&mut self, mut condition: impl FnMut(&T) -> bool) -> Result<Arc<T>, Closed> {
        let mut value = self.get_seen();
        while !condition(&value) {
            value = self.recv_blocking()?;
        }
        Ok(value)
    }

    /// Receives the present value, even if it was received before.
    fn get_seen(&mut self) -> Arc<T> {
        self.versioned.look(|state| {
            self.seen = state.version;
            Arc::clone(&state.content)
        })
    }
}
