//! Waiting for room, in conversations with a buffer.

use crate::{
    channel::spsc::stream::wait::StreamWait,
    cx::{
        Cx,
        attempt::{Attempt, wait_again_for},
    },
    proto::duplex::{At, Duplex},
    time::NEVER,
    wait::{
        Cancelled,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::fmt;

/// Waits until there is room for a message, or the other side is gone.
#[inline]
#[track_caller]
pub fn wait_writable<M, E>(
    end: &mut At<Duplex<M>, E>,
    cx: &Cx<'_>,
    name: &'static &'static str,
) -> Result<(), Cancelled> {
    cx.checkpoint()?;
    let link = end.link_mut();
    if link.is_full() { wait_writable_slow(link, cx, WaitReason::new(name)) } else { Ok(()) }
}

#[inline(never)]
fn wait_writable_slow<M>(link: &mut Duplex<M>, cx: &Cx<'_>, reason: WaitReason) -> Result<(), Cancelled> {
    wait_again_for(cx, &Writable::of(link), NEVER, reason).map_err(|_| Cancelled)
}

/// The wait for room for a message, as an operation. The method `writable` of an endpoint returns it, if a send may
/// wait.
///
/// Completes when there is room, or when the other side is gone. A send then does not wait.
pub struct Writable<'a, M> {
    link: &'a Duplex<M>,
    wait: StreamWait,
}

impl<'a, M> Writable<'a, M> {
    #[doc(hidden)]
    pub fn new<E>(end: &'a mut At<Duplex<M>, E>) -> Self {
        Self::of(end.link_mut())
    }

    pub(crate) fn of(link: &'a mut Duplex<M>) -> Self {
        Self { link, wait: StreamWait::new() }
    }
}

impl<M> Attempt for Writable<'_, M> {
    type Output = ();

    const NAME: &'static &'static str = &"proto::Writable";

    fn attempt(&self) -> Option<()> {
        (!self.link.is_full()).then_some(())
    }
}

crate::cx::operation::into_future!(Writable<'_, M>, [M];);

// SAFETY: `wait` upholds the contract of `Waitable`, and the link is borrowed, so it stays in place.
unsafe impl<M> Waitable for Writable<'_, M> {
    fn register(&self, armed: Armed) -> bool {
        self.link.producer().is_some_and(|producer| self.wait.register_producer(producer, armed))
    }

    fn unregister(&self, ended: Ended) {
        if let Some(producer) = self.link.producer() {
            self.wait.unregister_producer(producer, ended);
        }
    }
}

impl<M> fmt::Debug for Writable<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("proto::Writable").field("is_full", &self.link.is_full()).finish()
    }
}
