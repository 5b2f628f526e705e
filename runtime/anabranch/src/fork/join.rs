//! Fork and join: the second closure may be run by another thread while this one runs the first.
//!
//! Nearly always no thread steals. Then the thread writes the frame (the closure and a pointer to the code that runs
//! it) on its stack, and links it to its list. It calls the first closure and unlinks the frame. One test shows that
//! the frame is still private, and the thread calls the second closure, statically and inlined where the compiler
//! likes. No atomic read-modify-write, no fence, no allocation, no indirect call. `fork::stack` has the protocol,
//! `fork::frame` what happens to a frame that is published.
//!
//! Tried and dropped: an array with an index instead of the list. It saves a few instructions and was a third slower on
//! fib. The slot's address comes from the index in memory, each fork reads what the one before has just written, and
//! the processor waits. A handle that is passed down (`|worker| ..`) would save one load from thread-local storage, 2
//! of 51 instructions.
//!
//! Two properties of the captured values are easy to lose. What the second half captures must be loaded in the pieces
//! in which it was stored: a load that spans two recent stores waits until both have reached the cache. And nothing
//! that the first half captures may have to outlive a call on the rare path, or each fork saves registers for it. On
//! the unbalanced tree, whose forks capture four values, the two took more than half of what a fork added.

use crate::{
    fork::{
        frame::Frame,
        scope::report,
        stack::{Outcome, Popped},
    },
    pool::{handle::Pool, worker::Worker},
    sys::unwind::{catch_unwind, resume_unwind},
    trace::{Origin, work_span},
    wait::latch::Latch,
};
use std::{
    any::type_name,
    cell::UnsafeCell,
    marker::PhantomData,
    mem::{ManuallyDrop, MaybeUninit},
    panic::{AssertUnwindSafe, Location},
    ptr, thread,
};

/// What can be forked: the second half of a `join`, the rest of a loop.
pub(crate) trait Job: Send {
    type Output: Send;

    /// Whether the job has to run on a fiber.
    const MAY_WAIT: bool = false;

    /// Whether the fork first looks for a request for work. If not, its thread is in a pool, and has just looked.
    const LOOKS_FOR_REQUESTS: bool = true;

    /// Whether a thread keeps a copy of the job beside the one in the frame, and goes on with the copy if no thief
    /// takes the job.
    ///
    /// A loop goes on at once with the rest that it has forked. Its block is compiled into the same function, so the
    /// copy stays in registers. Loaded back from the frame, perhaps in other pieces than it was stored in, the rest
    /// delays each block: a loop of eight items took 38 ns instead of 15. A `join` calls a function in between, and
    /// would have to save the copy for it.
    const STAYS_IN_REGISTERS: bool = false;

    /// Whether the thread that has forked the job goes on with it as the rest of a loop if no thief takes it.
    const IS_REST: bool = false;

    /// Whether the caller of [`fork`] is known to be the program.
    const TRACKS_CALLER: bool = false;

    /// Runs the job once it was published. `is_migrated` says whether this is another thread than the one that forked
    /// the job.
    fn run(self, is_migrated: bool) -> Self::Output;
}

/// A closure as a job.
struct Closure<F>(F);

impl<F, R> Job for Closure<F>
where
    F: FnOnce(FnContext) -> R + Send,
    R: Send,
{
    type Output = R;

    const TRACKS_CALLER: bool = true;

    fn run(self, is_migrated: bool) -> R {
        (self.0)(FnContext::new(is_migrated))
    }
}

/// What the closures of [`join_context`] can ask about their call.
#[derive(Debug)]
pub struct FnContext {
    is_migrated: bool,
    /// The answer holds for the thread that is called.
    _not_send: PhantomData<*const ()>,
}

impl FnContext {
    #[inline(always)]
    fn new(is_migrated: bool) -> Self {
        Self { is_migrated, _not_send: PhantomData }
    }

    /// Returns whether the closure runs on another thread than the one that called [`join_context`].
    ///
    /// It is always `false` for the first closure. For the second one it is `false` if no other thread has taken it.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.is_migrated
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
    /// Returns a pointer to the frame that is valid for the whole fork. One made from the field alone would not be
    /// valid for the payload.
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

    /// Runs the job for the thief, and stores the result.
    ///
    /// # Safety
    /// `fork` is the [`frame`](Self::frame) of a `Fork<J>` that the caller has taken, and its job has not been run.
    unsafe fn execute(fork: *const ()) {
        let this = fork.cast::<Self>();
        // SAFETY: the caller's pointer is one to the whole fork, and a taken fork belongs to the thief until it is
        // done. The payload is the job, since that has not been run.
        unsafe {
            let payload = (*this).payload.get();
            let job = ManuallyDrop::take(&mut (*payload).job);
            let is_migrated =
                J::MAY_WAIT || !ptr::eq((*this).frame.shelved().owner, &raw const Worker::current().parking.parker);
            let result = catch_unwind(AssertUnwindSafe(|| job.run(is_migrated)));
            (*payload).result = ManuallyDrop::new(result);
        }
    }

    /// Links the fork to the stack of its worker.
    ///
    /// # Safety
    /// The calling thread owns the stack, which is not that of a thread outside. The fork was made to follow the newest
    /// frame. The thread ends it before it dies, and after all forks that it links meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn link<'a>(&'a self, worker: &'a Worker) -> Linked<'a, J> {
        // SAFETY: the caller owns the stack, and made the fork to follow the newest frame. It ends the fork in time.
        unsafe { worker.compute.stack.push(self.frame()) };
        Linked { worker, fork: self }
    }
}

/// A fork that is linked. Dropping it, when the first closure panics, ends the fork: nothing may refer to the frame
/// when its stack is unwound.
pub(crate) struct Linked<'a, J: Job> {
    worker: &'a Worker,
    fork: &'a Fork<J>,
}

/// The job of a fork that was not run. The fork was private or reclaimed, so this thread alone has it.
pub(crate) struct OwnJob<'a, J: Job>(&'a Fork<J>);

impl<J: Job> OwnJob<'_, J> {
    #[inline(always)]
    pub(crate) fn take(self) -> J {
        // SAFETY: no thief has replaced the job or accesses it. This consumes the only permission to take it.
        unsafe { ManuallyDrop::take(&mut (*self.0.payload.get()).job) }
    }
}

/// How a fork has ended.
pub(crate) enum End<'a, J: Job> {
    Own(OwnJob<'a, J>),
    /// A thief has run it, or its owner has, in `ForkJoin::finish`.
    Done(thread::Result<J::Output>),
}

impl<'a, J: Job> Linked<'a, J> {
    /// Unlinks a fork of compute code, and waits until it has ended if a thief runs it.
    #[inline(always)]
    pub(crate) fn end(self) -> End<'a, J> {
        self.end_by(|worker, popped| worker.fork_join().finish(popped))
    }

    /// Unlinks a fork that may wait, and calls `wait` until the latch is set if another fiber runs it.
    #[inline(always)]
    pub(crate) fn end_offered(self, wait: impl FnMut(&Latch)) -> End<'a, J> {
        self.end_by(|_, popped| popped.finish_offered(wait))
    }

    #[inline(always)]
    fn end_by(self, finish: impl FnOnce(&Worker, Popped<'_>) -> Outcome) -> End<'a, J> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the caller of `link` ends the forks that it has linked in reverse order, and this one only here,
        // since it is consumed. It keeps the frame alive meanwhile.
        let popped = unsafe { this.worker.compute.stack.pop(this.fork.frame()) };
        match popped.map_or(Outcome::Private, |popped| finish(this.worker, popped)) {
            // SAFETY: the fork is done, so whichever thread has run it has stored the result, and accesses it no more.
            // It is taken out once, as this consumes the link.
            Outcome::Done => End::Done(unsafe { ManuallyDrop::take(&mut (*this.fork.payload.get()).result) }),
            Outcome::Private | Outcome::Reclaimed => End::Own(OwnJob(this.fork)),
        }
    }
}

impl<J: Job> Drop for Linked<'_, J> {
    // Inlined down to the call, so that the fields stay in registers: a fork must not pay for a panic that does not
    // come.
    #[inline(always)]
    fn drop(&mut self) {
        abandon(Self { ..*self });
    }
}

#[cold]
#[inline(never)]
fn abandon<J: Job>(linked: Linked<'_, J>) {
    match linked.end() {
        End::Own(job) => drop(job.take()),
        End::Done(Ok(result)) => drop(result),
        End::Done(Err(panic)) => report(panic),
    }
}

/// What to do instead of a fork on a thread that is in no pool. It is not a closure, since it tracks its caller.
pub(crate) trait Outside<A, J, R> {
    #[track_caller]
    fn run(self, a: A, job: J) -> R;
}

/// For a [`join`]: the two closures, in the default pool.
struct InDefaultPool;

impl<A, B, RA, RB> Outside<A, Closure<B>, (RA, RB)> for InDefaultPool
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    #[inline(always)]
    #[track_caller]
    fn run(self, a: A, Closure(b): Closure<B>) -> (RA, RB) {
        join_outside((a, b))
    }
}

/// Runs `a` while other threads may take `job`. Then runs one of three: `own` with the job, if no thread took it;
/// `stolen` with its result, if a thief has run it; `outside`, without having run `a`, if the thread is in no pool. A
/// panic of `a` or of the job propagates when both have ended.
///
/// Three closures and not an enum of three outcomes, because the compiler may load the job back from the frame in
/// pieces that suit the enum. If such a piece is wider than the stores that wrote it, the processor cannot forward the
/// stores and waits until they have reached the cache. On a fork with two captured `u32`s that was more than half of
/// its cost.
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
    // SAFETY: `MaybeUninit<J>` may have any bytes. The copy is used only if the job in the frame is not, below.
    let copy = unsafe { (&raw const job).cast::<MaybeUninit<J>>().read() };
    let fork = Fork::new(job, worker.compute.stack.newest());
    // SAFETY: this thread owns the stack, and `fork` follows its newest frame and is ended below. The thread is in a
    // pool: the worker entry outside of every pool is always asked, and a job that does not look is in a pool.
    let link = || unsafe { fork.link(worker) };
    let (linked, ra) = if J::LOOKS_FOR_REQUESTS && worker.compute.stack.is_requested() {
        if worker.registry().is_none() {
            // The fork was not linked, so this thread alone has its job.
            return outside.run(a, OwnJob(&fork).take());
        }
        let at = if J::TRACKS_CALLER { Some(Location::caller()) } else { None };
        (link(), serve_first((worker, a), Origin { at, job: type_name::<J> }, J::IS_REST))
    } else {
        (link(), a())
    };
    match linked.end() {
        // SAFETY: the fork has its job, of which either the original or the copy is taken.
        End::Own(job) => own(ra, if J::STAYS_IN_REGISTERS { unsafe { copy.assume_init() } } else { job.take() }),
        End::Done(Ok(result)) => stolen(ra, result),
        End::Done(Err(panic)) => resume_unwind(panic),
    }
}

/// Serves the demand for work, then runs `a`.
///
/// Never inlined, and passed a pair of its own that is in memory. If `a` had to outlive a call in `fork`, every fork
/// would save as many registers as `a` captures values, only for the rare fork that serves.
#[cold]
#[inline(never)]
fn serve_first<A: FnOnce() -> RA, RA>((worker, a): (&Worker, A), origin: Origin, is_rest: bool) -> RA {
    let serve = || worker.fork_join().serve(origin);
    if !worker.trace.measures() {
        serve();
        return a();
    }
    let publish = || {
        serve();
        worker.compute.stack.newest().addr()
    };
    work_span::first(is_rest, publish, a)
}

/// Runs [`join_halves`] on a thread that is in no pool. Never inlined, so that `a` need not outlive a call in `fork`.
#[cold]
#[inline(never)]
#[track_caller]
fn join_outside<A, B, RA, RB>((a, b): (A, B)) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // Not in a closure, which would not track the caller.
    let _guest = Pool::enter_from_outside();
    join_halves(a, b)
}

/// Runs [`join`] or [`join_context`]. `a` always runs on this thread, so its context is known before.
#[inline(always)]
#[track_caller]
fn join_halves<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(a, Closure(b), |ra, Closure(b)| (ra, b(FnContext::new(false))), |ra, rb| (ra, rb), InDefaultPool)
}

/// Runs both closures, possibly in parallel, and returns both results.
///
/// `a` runs on the calling thread. An idle thread of the pool may take `b` meanwhile. If none does, the calling thread
/// runs `b` afterwards, which costs about a nanosecond more than calling the two one after the other. There is no need
/// to stop forking when pieces get small. Outside of any pool, `join` uses the default pool, which the calling thread
/// joins as a guest until the call returns.
///
/// While the calling thread waits for `b`, it runs pieces that `b` has forked and nothing else. So a lock that is held
/// across a `join` is safe as long as the two closures do not wait for each other's locks.
///
/// # Panics
/// Panics when `a` or `b` panics, once both have ended. If `a` panics before `b` has begun, `b` does not run; if `b`
/// has begun, `join` waits for it. If both panic, the panic of `a` is passed on. Outside of any pool, also panics when
/// the default pool cannot be made.
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
    join_halves(a, |_| b())
}

/// Runs both closures like [`join`], and tells each whether it has moved to another thread.
///
/// A closure that has moved is worth splitting further, because an idle thread has asked for work. Costs as much as
/// [`join`].
///
/// # Panics
/// Panics like [`join`].
///
/// ```
/// /// Counts the pieces into which the pool has cut a range.
/// fn pieces(len: usize, splits: usize, has_moved: bool) -> usize {
///     let splits = if has_moved { anabranch::pool::current_num_threads() } else { splits / 2 };
///     if len < 2 || splits == 0 {
///         return 1;
///     }
///     let (a, b) = anabranch::join_context(
///         |context| pieces(len / 2, splits, context.migrated()),
///         |context| pieces(len - len / 2, splits, context.migrated()),
///     );
///     a + b
/// }
/// assert!(pieces(1000, 8, false) >= 8);
/// ```
#[inline]
#[track_caller]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_halves(|| a(FnContext::new(false)), b)
}
