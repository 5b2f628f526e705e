//! Waiting until the channel is closed.

use super::{common::opaque, sender::Sender, shared::Channel};
use crate::{
    cx::{Cx, Operation, attempt::Attempt},
    wait::{
        Cancelled,
        queue::Entry,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::fmt;

/// Waiting until a channel is closed, as an operation. Created by [`Sender::closing`].
pub struct Closing<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<()>,
}

impl<T> Sender<T> {
    /// Waits until the channel is closed: by `close`, or because all receivers are gone. So a sender can stop work
    /// whose result no receiver will get.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    ///
    /// ```
    /// use anabranch::{channel, select};
    ///
    /// let (sender, receiver) = channel::unbounded::<u32>();
    /// let (_more, work) = channel::unbounded::<u32>();
    /// anabranch::run(|cx| {
    ///     let working = |cx: &anabranch::Cx<'_>| select!(cx, {
    ///         n = work.receiving() => n.is_ok(),
    ///         () = sender.closing() => false,
    ///     });
    ///     let (is_working, ()) = cx.join(working, |_| drop(receiver));
    ///     assert_eq!(is_working, Ok(false));
    ///     sender.closed(cx).unwrap();
    /// });
    /// ```
    #[track_caller]
    pub fn closed(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        self.closing().wait(cx)
    }

    /// Returns the wait until the channel is closed as an [operation](crate::Operation): for a wait with a time limit,
    /// for async code, on plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn closing(&self) -> Closing<'_, T> {
        Closing { channel: &self.channel, entry: Entry::new(()) }
    }
}

impl<T> Attempt for Closing<'_, T> {
    type Output = ();

    const NAME: &'static &'static str = &"Sender::closed";

    fn attempt(&self) -> Option<()> {
        self.channel.is_closed().then_some(())
    }
}

crate::cx::operation::into_future!(Closing<'_, T>, [T];);

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the channel.
unsafe impl<T> Waitable for Closing<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.channel.register_closing(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.channel.unregister_closing(&self.entry, ended);
        }
    }
}

opaque!(Closing<'_>);
