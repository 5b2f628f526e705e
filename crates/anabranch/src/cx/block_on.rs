//! Waiting for a future.

use crate::{
    cx::Cx,
    time::NEVER,
    wait::{
        Cancelled,
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waiter::Selected,
    },
};
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
};

/// The waker of a future that a fiber or thread waits for.
struct Doorbell(Latch);

impl Wake for Doorbell {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

impl Cx<'_> {
    /// Waits for a future, of any runtime: polls it here, with a waker that wakes this fiber.
    ///
    /// Futures that need their runtime around them (those of tokio, say) have to be made and polled inside of it:
    /// `let _inside = handle.enter();` on the fiber's own stack would be left behind by other fibers of the thread, so
    /// wrap the future instead, in one that enters at each poll.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled. The future is dropped.
    ///
    /// ```
    /// let answer = anabranch::run(|cx| cx.block_on(async { 6 * 7 }));
    /// assert_eq!(answer, Ok(42));
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        let reason = WaitReason::new(&"future");
        let doorbell = Arc::new(Doorbell(Latch::new()));
        let waker = Arc::clone(&doorbell).into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            self.checkpoint()?;
            doorbell.0.reset();
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            // A future that wakes itself lets others run first.
            if doorbell.0.is_notified() {
                self.yield_now();
            } else if self.wait(&LatchWait::new(&doorbell.0), NEVER, reason) == Selected::Cancelled {
                return Err(Cancelled);
            }
        }
    }
}
