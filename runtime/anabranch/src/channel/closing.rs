//! Waiting until a channel is closed: the common part of all kinds of senders.
//!
//! A channel with many senders has a [`CloseQueue`] under its lock. A channel with one sender has a [`CloseWord`], at
//! which only that sender waits.
//!
//! | word           | meaning                                   | left by                                        |
//! |----------------|-------------------------------------------|------------------------------------------------|
//! | OPEN           | the channel is open                       | `register` -> OPEN + address; `close` -> CLOSED |
//! | OPEN + address | the same, and the sender waits            | `unregister` -> OPEN; `close` -> CLOSED         |
//! | CLOSED         | the channel is closed, or about to be     | never                                          |
//!
//! The end that closes swaps the word first. Then it closes the channel, and then it ends the wait whose address it
//! found. So the channel may be freed in between, together with the word: the address that was found is the address of
//! a node, and the sender keeps the node until its wait is ended or the node is released (see
//! [`state_word`](crate::wait::state_word)).

use crate::{
    cx::attempt::Attempt,
    sys::spin::Brief,
    wait::{
        queue::{Entry, Queue},
        state_word::{Content, WaitNode, Word, is_address, number, number_of, wake},
        waitable::{Armed, Ended, Waitable},
        waiter::Wake,
    },
};

const OPEN: Content = number(0);
const CLOSED: Content = number(1);

/// See the [module](self).
pub(crate) struct CloseWord(Word);

/// The sender's wait, to be ended once the channel is closed.
#[must_use = "the sender waits until this is ended"]
pub(crate) struct EndedWait(Content);

impl CloseWord {
    pub(crate) fn new() -> Self {
        Self(Word::new(OPEN))
    }

    /// Marks the channel as closed. The caller closes it, and then [ends](EndedWait::end) the wait.
    pub(crate) fn close(&self) -> EndedWait {
        EndedWait(self.0.swap(CLOSED))
    }
}

impl EndedWait {
    pub(crate) fn end(self) {
        if is_address(self.0) {
            // SAFETY: the swap in `close` took the address out of the word, and this is called once.
            unsafe { wake(self.0) };
        }
    }
}

/// The wait of the one sender.
pub(crate) struct CloseWait<'a> {
    word: &'a Word,
    node: WaitNode,
}

impl<'a> CloseWait<'a> {
    pub(crate) fn new(word: &'a CloseWord) -> Self {
        Self { word: &word.0, node: WaitNode::new() }
    }
}

impl Attempt for CloseWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (number_of(self.word.load()) == CLOSED).then_some(())
    }
}

// SAFETY: an address leaves the word by `unregister`, or by the swap in `close`, whose caller then selects the wait
// before `unregister` ends.
unsafe impl Waitable for CloseWait<'_> {
    fn register(&self, armed: Armed) -> bool {
        self.word.register(OPEN, &self.node, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.word.unregister(OPEN, &self.node, ended);
    }
}

/// The waiters for the closing of a channel with many senders, under its lock. Allocated for the first of them, and
/// kept.
pub(crate) struct CloseQueue(Option<Box<Queue<()>>>);

impl CloseQueue {
    pub(crate) const NEW: Self = Self(None);

    /// Ends the first wait that continues.
    pub(crate) fn select_first(&mut self) -> Option<Wake> {
        self.0.as_mut()?.select_first(|_| ())
    }

    /// Removes an entry that may have been selected.
    pub(crate) fn remove(&mut self, entry: &Entry<()>, ended: Ended) {
        if let Some(queue) = &mut self.0 {
            queue.remove(entry, ended);
        }
    }

    /// Registers a waiter, unless the channel is closed.
    pub(crate) fn register<S>(
        state: &Brief<S>,
        queue_of: fn(&mut S) -> &mut Self,
        is_closed: impl FnOnce(&S) -> bool,
        entry: &Entry<()>,
        armed: Armed,
    ) -> bool {
        // Allocated before anything is locked. The channel keeps the first queue.
        let has_queue = queue_of(&mut state.lock()).0.is_some();
        let new = (!has_queue).then(|| Box::new(Queue::new()));
        let mut state = state.lock();
        if is_closed(&state) {
            return false;
        }
        let place = &mut queue_of(&mut state).0;
        let unneeded = if place.is_none() { std::mem::replace(place, new) } else { new };
        let queue = place.as_mut().expect("the channel has one, or got one here");
        queue.push_back(entry, armed);
        drop(state);
        drop(unneeded);
        true
    }
}

/// Implements an operation with its field `wait`. The literal is the name of the module.
macro_rules! by_its_wait {
    ($module:literal: $closing:ident $([$($generics:tt)*])?) => {
        impl $(<$($generics)*>)? $crate::cx::attempt::Attempt for $closing<'_ $(, $($generics)*)?> {
            type Output = ();

            const NAME: &'static &'static str = &concat!($module, "::Sender::closed");

            fn attempt(&self) -> Option<()> {
                $crate::cx::attempt::Attempt::attempt(&self.wait)
            }
        }

        $crate::wait::waitable::waits_by!(wait: $closing<'_ $(, $($generics)*)?> $(, [$($generics)*])?);
        $crate::cx::operation::into_future!($closing<'_ $(, $($generics)*)?> $(, [$($generics)*])?;);

        impl $(<$($generics)*>)? ::std::fmt::Debug for $closing<'_ $(, $($generics)*)?> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(concat!($module, "::Closing")).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use by_its_wait;
