//! Waiting for a future.

use crate::{
    cx::Cx,
    time::NEVER,
    wait::{
        Cancelled,
        future::poll_task,
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waiter::Selected,
    },
};
use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
};

/// Wakes the fiber or thread that waits for a future.
struct LatchWaker(Latch);

impl Wake for LatchWaker {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

impl Cx<'_> {
    /// Waits for a future of any runtime, or for an [operation](crate::Operation). Polls it on this fiber or thread,
    /// with a waker that wakes this fiber or thread.
    ///
    /// Some futures, such as tokio's, must be created and polled inside their runtime. Do not hold the guard of
    /// `handle.enter()` across this call: while the fiber waits, other fibers of the thread would run inside the
    /// runtime too. Wrap the future in one that enters the runtime at each poll: the guide [shows
    /// how](crate::guide::with_tokio).
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the scope was cancelled. The future is dropped.
    ///
    /// ```
    /// let answer = anabranch::run(|cx| cx.block_on(async { 6 * 7 }));
    /// assert_eq!(answer, Ok(42));
    /// ```
    #[track_caller]
    pub fn block_on<F: IntoFuture>(&self, future: F) -> Result<F::Output, Cancelled> {
        let reason = WaitReason::new(&"future");
        let shared = Arc::new(LatchWaker(Latch::new()));
        let latch = &shared.0;
        let waker = Arc::clone(&shared).into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future.into_future());
        loop {
            self.checkpoint()?;
            latch.reset();
            if let Poll::Ready(output) = poll_task(future.as_mut(), &mut context) {
                return Ok(output);
            }
            // A future that was woken during the poll lets other fibers run before it is polled again.
            if latch.is_notified() {
                self.yield_now();
            } else if self.wait(&LatchWait::new(latch), NEVER, reason) == Selected::Cancelled {
                return Err(Cancelled);
            }
        }
    }
}
