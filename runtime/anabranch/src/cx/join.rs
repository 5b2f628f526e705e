//! Fork and join of two closures that may wait.
//!
//! The fork is the same as in `join`: a frame on the caller's stack, linked to the list of its thread. It costs one or
//! two nanoseconds if it is not stolen. It is published as a different kind of offer (see `fork::offer`), and a fiber
//! publishes all its open forks before it suspends. So a worker can start the other half of a `cx.join` whose first
//! half waits, even in a pool of one worker. A half that is taken runs on a fiber of its own, and the owner waits for
//! it with its waiter.

use crate::{
    cx::{
        cx::{Cx, Deadline},
        own_locals::OwnLocals,
    },
    fiber::fiber::Fiber,
    fork::{
        frame::Frame,
        join::{End, Fork, Job},
        scope::report,
    },
    pool::worker::Worker,
    sys::{
        sync::{AtomicBool, Ordering},
        unwind::{catch_unwind, resume_unwind},
    },
    trace::Origin,
    wait::{
        cancel::CancelScope,
        latch::LatchWait,
        suspend::{Suspend, WaitReason},
    },
};
use std::{any::type_name, panic::AssertUnwindSafe, thread};

/// The second half: what it runs, and in which scope.
struct Half<F> {
    function: F,
    cancel: *const CancelScope,
    deadline: Deadline,
}

// SAFETY: the scopes may be shared and outlive the fork, and `F` is `Send`.
unsafe impl<F: Send> Send for Half<F> {}

impl<F, R> Job for Half<F>
where
    F: FnOnce(&Cx<'_>) -> R + Send,
    R: Send,
{
    type Output = R;

    const MAY_WAIT: bool = true;

    /// Runs the half on the fiber that has taken it.
    fn run(self, _: bool) -> R {
        // SAFETY: an offer is run by the current fiber, which outlives this call. The owner of the fork keeps `cancel`
        // alive, as it waits for the end of this half.
        let (fiber, scope) = unsafe {
            let fiber = &*Fiber::current();
            (fiber, CancelScope::below(&*self.cancel, fiber.waiter(), false))
        };
        let outcome = {
            let cx = Cx::new(fiber, &scope, self.deadline, fiber.locals());
            catch_unwind(AssertUnwindSafe(|| (self.function)(&cx)))
        };
        match outcome {
            Ok(result) => result,
            Err(panic) => {
                // The first half need not continue. The owner gets the panic when it joins.
                // SAFETY: the owner of the fork keeps `cancel` alive, as it waits for the end of this half.
                unsafe { (*self.cancel).cancel() };
                resume_unwind(panic)
            }
        }
    }
}

impl Cx<'_> {
    /// Runs both closures, possibly in parallel, and returns both results. Both may wait, even for each other.
    ///
    /// `a` runs here, as a part of the calling fiber: it sees the same [`FiberLocal`](crate::fiber::FiberLocal)s. `b`
    /// has its own, wherever it runs. An idle worker may take `b`, or another fiber starts it as soon as `a` waits. If
    /// neither happens, `b` runs here after `a`. That costs some nanoseconds more than two plain calls.
    ///
    /// # Panics
    /// Panics when `a` or `b` panics, once the other closure has been cancelled and has ended. If `a` panics before `b`
    /// has begun, `b` is not run. When both panic, the panic of `a` is resumed.
    ///
    /// ```
    /// fn fib(cx: &anabranch::Cx<'_>, n: u32) -> u64 {
    ///     if n < 2 {
    ///         return u64::from(n);
    ///     }
    ///     let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
    ///     a + b
    /// }
    /// assert_eq!(anabranch::run(|cx| fib(cx, 15)), 610);
    /// ```
    #[inline]
    #[track_caller]
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&Cx<'_>) -> RA,
        B: FnOnce(&Cx<'_>) -> RB + Send,
        RB: Send,
    {
        let reason = WaitReason::new(&"join");
        self.check_stack();
        let worker = Worker::current();
        // SAFETY: this scope and the waiter of this `Cx` outlive the call, and the new scope does not move.
        let cancel = unsafe { CancelScope::below(self.scope, self.waiter_address(), false) };
        let newest = worker.compute.stack.newest();
        let fork = Fork::new(Half { function: b, cancel: &raw const cancel, deadline: self.deadline }, newest);
        // SAFETY: this thread has linked the frame, if there is one, so it is alive.
        if unsafe { newest.as_ref() }.is_some_and(Frame::pins_its_stack) {
            fork.pin();
        }
        let is_requested = worker.compute.stack.is_requested();
        // SAFETY: a fiber or thread with a `Cx` is in a pool, and does not change its thread, which is this one. The
        // fork is ended below.
        let linked = unsafe { fork.link(worker) };
        if is_requested {
            worker.fork_join().serve(Origin { at: Some(reason.at), job: type_name::<Half<B>> });
        }
        // Caught, because a fiber or thread that unwinds must not wait.
        let ra = catch_unwind(AssertUnwindSafe(|| a(&self.within(&cancel, self.deadline, self.locals))));
        if ra.is_err() {
            cancel.cancel();
        }
        let rb = match linked.end_offered(move |done| self.wait_shielded(&LatchWait::new(done), reason)) {
            End::Own(job) => Either::Half(job.take()),
            End::Done(result) => Either::Result(result),
        };
        match (ra, rb) {
            (Ok(ra), Either::Half(half)) => {
                let locals = OwnLocals::new();
                (ra, (half.function)(&self.within(&cancel, self.deadline, &locals)))
            }
            (Ok(ra), Either::Result(Ok(rb))) => (ra, rb),
            (Ok(_), Either::Result(Err(panic))) => resume_unwind(panic),
            (Err(panic), rb) => {
                rb.discard();
                resume_unwind(panic)
            }
        }
    }

    /// Runs both closures like [`join`](Self::join), for closures that may fail. The first error cancels the other
    /// closure, and is returned when the other closure has ended. If `a` fails before `b` has begun, `b` is not run.
    ///
    /// # Errors
    /// Returns the error that occurred first.
    ///
    /// # Panics
    /// Panics when `a` or `b` panics, once the other closure has been cancelled and has ended. When both panic, the
    /// panic of `a` is resumed.
    ///
    /// ```
    /// use anabranch::WaitError;
    /// use std::{io, time::Duration};
    ///
    /// anabranch::run(|cx| {
    ///     let both = cx.try_join(|_| Ok::<_, WaitError>(1), |_| Ok("two"));
    ///     assert_eq!(both, Ok((1, "two")));
    ///     let failed: io::Result<((), ())> = cx.try_join(
    ///         |cx| Ok(cx.sleep(Duration::from_secs(3600))?), // Cancelled, so nobody waits for an hour.
    ///         |_| Err(io::ErrorKind::NotFound.into()),
    ///     );
    ///     assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    /// });
    /// ```
    #[track_caller]
    pub fn try_join<A, B, RA, RB, E>(&self, a: A, b: B) -> Result<(RA, RB), E>
    where
        A: FnOnce(&Cx<'_>) -> Result<RA, E>,
        B: FnOnce(&Cx<'_>) -> Result<RB, E> + Send,
        RB: Send,
        E: Send,
    {
        // SAFETY: this scope and the waiter of this `Cx` outlive the call, and the new scope does not move.
        let scope = unsafe { CancelScope::below(self.scope, self.waiter_address(), false) };
        // Relaxed: it only records which came first, and the join orders all else.
        let has_failed = AtomicBool::new(false);
        let fail = |error: E| {
            let is_first = !has_failed.swap(true, Ordering::Relaxed);
            scope.cancel();
            (error, is_first)
        };
        let results = self.within(&scope, self.deadline, self.locals).join(
            |cx| a(cx).map_err(fail),
            |cx| {
                // This half has not begun, so the error is that of the other one.
                let is_wanted = !has_failed.load(Ordering::Relaxed);
                is_wanted.then(|| b(cx).map_err(fail))
            },
        );
        match results {
            (Ok(ra), Some(Ok(rb))) => Ok((ra, rb)),
            (Err((error, true)), _) | (_, Some(Err((error, _)))) | (Err((error, false)), _) => Err(error),
            (Ok(_), None) => unreachable!("the second half is left out when the first has failed"),
        }
    }
}

/// The second half, or its result.
enum Either<F, R> {
    Half(Half<F>),
    Result(thread::Result<R>),
}

impl<F, R> Either<F, R> {
    /// The first half panicked.
    fn discard(self) {
        // The drop may panic. That panic is discarded.
        let panic = match self {
            Self::Result(Err(panic)) => Some(panic),
            other => catch_unwind(AssertUnwindSafe(|| drop(other))).err(),
        };
        if let Some(panic) = panic {
            report(panic);
        }
    }
}
