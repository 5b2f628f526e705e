//! Fork and join: the second closure may be run by another thread while this one runs the first.
//!
//! What happens when nobody steals, which is nearly always: the frame (the closure and a pointer to the code that runs
//! it) is written on this stack and linked to the thread's list, the first closure is called, the frame is unlinked,
//! one test tells that it is still private, and the second closure is called, statically and inlined where the compiler
//! likes. No atomic read-modify-write, no fence, no allocation, no indirect call. `fork::stack` has the protocol,
//! `fork::frame` what happens to a frame that is published.
//!
//! Tried and dropped. An array with an index instead of the list is a few instructions less and was a third slower on
//! fib: the slot's address comes from the index in memory, each fork reads what the one before has just written, and
//! the processor waits. A handle that is passed down (`|worker| ..`) would save one load from thread-local storage, 2
//! of 51 instructions.
//!
//! Two things about what the second half captures are easy to lose. It must be loaded in the pieces in which it was
//! stored, as a load that spans two recent stores waits until both have reached the cache. And nothing that the first
//! half captures may have to outlive a call on the rare way, or each fork saves registers for it. On the unbalanced
//! tree, whose forks capture four values, the two took more than half of what a fork added.

use crate::{
    fork::{frame::Frame, scope::report, stack::Outcome},
    pool::{handle::Pool, worker::Worker},
    sys::unwind::{catch_unwind, resume_unwind},
};
use std::{cell::UnsafeCell, mem::ManuallyDrop, panic::AssertUnwindSafe, ptr, thread};

/// What can be forked: the second half of a `join`, the rest of a loop.
pub(crate) trait Job: Send {
    type Output: Send;

    /// Whether it has to run on a fiber.
    const MAY_WAIT: bool = false;

    /// Runs it on the thread that has stolen it.
    fn run(self) -> Self::Output;
}

/// A closure as a job.
struct Closure<F>(F);

impl<F, R> Job for Closure<F>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    type Output = R;

    fn run(self) -> R {
        (self.0)()
    }
}

/// A job that was forked. Before it runs the payload is the job, afterwards the result.
#[repr(C)]
pub(crate) struct Fork<J: Job> {
    frame: Frame,
    payload: UnsafeCell<Payload<J>>,
}

union Payload<J: Job> {
    job: ManuallyDrop<J>,
    result: ManuallyDrop<thread::Result<J::Output>>,
}

impl<J: Job> Fork<J> {
    /// The frame, by which the whole fork can be run: a pointer to the field alone would not be good for the payload.
    #[inline(always)]
    pub(crate) fn frame(&self) -> *const Frame {
        ptr::from_ref(self).cast()
    }

    /// See [`Frame::pin`].
    pub(crate) fn pin(&self) {
        self.frame.pin();
    }

    #[inline(always)]
    pub(crate) fn new(job: J, previous: *const Frame) -> Self {
        Self {
            frame: Frame::new(Self::execute, previous, J::MAY_WAIT),
            payload: UnsafeCell::new(Payload { job: ManuallyDrop::new(job) }),
        }
    }

    /// The thief's way of running it.
    ///
    /// # Safety
    /// `frame` was made by [`frame`](Self::frame) from a `Fork<J>` that the caller has taken, and its job has not been
    /// run.
    unsafe fn execute(frame: *const Frame) {
        let this = frame.cast::<Self>();
        // SAFETY: the pointer is one to the whole fork, and a taken fork is the thief's until it is done.
        unsafe {
            let payload = (*this).payload.get();
            let job = ManuallyDrop::take(&mut (*payload).job);
            let result = catch_unwind(AssertUnwindSafe(|| job.run()));
            (*payload).result = ManuallyDrop::new(result);
        }
    }

    /// # Safety
    /// The fork was never published or has been reclaimed, and neither this nor `take_result` has been called.
    #[inline(always)]
    pub(crate) unsafe fn take_job(&self) -> J {
        // SAFETY: the caller's word: the payload is the job, and this thread's.
        unsafe { ManuallyDrop::take(&mut (*self.payload.get()).job) }
    }

    /// # Safety
    /// A thief has run the fork and it is done; this is called once.
    pub(crate) unsafe fn take_result(&self) -> thread::Result<J::Output> {
        // SAFETY: the caller's word: the payload is the result, and this thread's again.
        unsafe { ManuallyDrop::take(&mut (*self.payload.get()).result) }
    }
}

/// Ends the fork when the first closure panics: nothing may refer to the frame when its stack is unwound.
struct Unwind<'a, J: Job> {
    worker: &'a Worker,
    fork: &'a Fork<J>,
}

impl<J: Job> Drop for Unwind<'_, J> {
    // Inlined down to the call, so that the fields stay in registers: a fork must not pay for a panic that does not
    // come.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: made by `run_linked` for what it pushed and nobody has popped.
        unsafe { abandon(self.worker, self.fork) }
    }
}

/// # Safety
/// As for [`ForkStack::pop`](crate::fork::stack::ForkStack::pop), with the frame of `fork`.
#[cold]
#[inline(never)]
unsafe fn abandon<J: Job>(worker: &Worker, fork: &Fork<J>) {
    let frame = fork.frame();
    // SAFETY: the caller's word; then as in `fork` itself.
    unsafe {
        if worker.stack.pop(frame) || worker.finish(frame) != Outcome::Done {
            drop(fork.take_job());
        } else {
            match fork.take_result() {
                Ok(result) => drop(result),
                Err(panic) => report(panic),
            }
        }
    }
}

/// What to do instead of a fork on a thread that is in no pool. No closure, since it is to know who called.
pub(crate) trait Outside<A, J, R> {
    #[track_caller]
    fn run(self, a: A, job: J) -> R;
}

/// For a [`join`]: the two closures, in the default pool.
struct InDefaultPool;

impl<A, B, RA, RB> Outside<A, Closure<B>, (RA, RB)> for InDefaultPool
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    #[inline(always)]
    #[track_caller]
    fn run(self, a: A, Closure(b): Closure<B>) -> (RA, RB) {
        join_outside((a, b))
    }
}

/// Runs `a` while others may take `job`, and then one of three: `own` with the job, if nobody took it; `stolen` with
/// its result, if a thief has run it; `outside`, without having run `a`, if the thread is in no pool. A panic of `a` or
/// of the job goes on when both have ended.
///
/// Three closures and not an enum of three outcomes, because the compiler may load the job back from the frame in
/// pieces that suit the enum. Where such a piece is wider than the stores that it was written with, the processor
/// cannot hand it on and waits until they have reached the cache: on a fork with two captured `u32`s that was more than
/// half of its cost.
#[inline(always)]
#[track_caller]
pub(crate) fn fork<A, RA, J, R>(
    a: A,
    job: J,
    own: impl FnOnce(RA, J) -> R,
    stolen: impl FnOnce(RA, J::Output) -> R,
    outside: impl Outside<A, J, R>,
) -> R
where
    A: FnOnce() -> RA,
    J: Job,
{
    let worker = Worker::current();
    let fork = Fork::new(job, worker.stack.newest());
    let ra = if worker.stack.is_asked() {
        if worker.registry().is_none() {
            // SAFETY: never published.
            return outside.run(a, unsafe { fork.take_job() });
        }
        // SAFETY: this thread's seat in a pool, and its newest fork; popped below.
        unsafe { run_linked(worker, &fork, || serve_first((worker, a))) }
    } else {
        // SAFETY: as above; the seat outside of every pool is always asked.
        unsafe { run_linked(worker, &fork, a) }
    };
    let frame = fork.frame();
    // SAFETY: pushed by `run_linked`, and whatever `a` pushed has been popped. A fork that is still private, or was
    // reclaimed, is this thread's alone with its job in it; one that is done has its result.
    unsafe {
        if !worker.stack.pop(frame) && worker.finish(frame) == Outcome::Done {
            return match fork.take_result() {
                Ok(result) => stolen(ra, result),
                Err(panic) => resume_unwind(panic),
            };
        }
        own(ra, fork.take_job())
    }
}

/// Links the fork and runs `a`. If that panics the fork is ended; otherwise it is left to the caller to pop.
///
/// # Safety
/// As for [`ForkStack::push`](crate::fork::stack::ForkStack::push), with the frame of `fork`.
#[inline(always)]
unsafe fn run_linked<J: Job, RA>(worker: &Worker, fork: &Fork<J>, a: impl FnOnce() -> RA) -> RA {
    // SAFETY: the caller's word.
    unsafe { worker.stack.push(fork.frame()) };
    let unwind = Unwind { worker, fork };
    let ra = a();
    std::mem::forget(unwind);
    ra
}

/// Serves the demand for work, then runs `a`.
///
/// Never inlined, and handed a pair of its own that lies in memory: if `a` had to outlive a call in `fork`, every fork
/// would save as many registers as `a` captures values, for the sake of the rare one that serves.
#[cold]
#[inline(never)]
fn serve_first<A: FnOnce() -> RA, RA>((worker, a): (&Worker, A)) -> RA {
    worker.serve();
    a()
}

/// [`join`] on a thread that is in no pool. Never inlined, for the same reason.
#[cold]
#[inline(never)]
#[track_caller]
fn join_outside<A, B, RA, RB>((a, b): (A, B)) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    Pool::default().install(|| join(a, b))
}

/// Runs both closures, possibly in parallel, and returns both results.
///
/// `a` runs on the calling thread. `b` may be taken by an idle thread of the pool meanwhile; if none does, the calling
/// thread runs it afterwards, at the cost of about a nanosecond over calling the two one after the other. There is no
/// need to stop forking when pieces get small. Called outside of any pool it uses the default one, which the calling
/// thread joins as a guest until the call returns.
///
/// While the calling thread waits for `b`, it runs pieces that `b` has forked and nothing else, so a lock that is held
/// across a `join` is safe as long as the two closures do not wait for each other's locks.
///
/// # Panics
/// When `a` or `b` panics: once both have ended. If `a` panics, `b` is not begun any more, but waited for if it was;
/// when both panic, the panic of `a` is passed on. Outside of any pool, when the default pool cannot be made.
///
/// ```
/// fn fib(n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = anabranch::join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
/// assert_eq!(fib(20), 6765);
/// ```
#[inline]
#[track_caller]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(a, Closure(b), |ra, Closure(b)| (ra, b()), |ra, rb| (ra, rb), InDefaultPool)
}
