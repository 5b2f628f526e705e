//! Blocking calls: closures that block a thread, run beside the workers while their fibers wait.
//!
//! The call is on the stack of its fiber, which does not leave the function before the call is withdrawn or has ended:
//! the wait can be cancelled only as long as no thread has begun the call. So the closure may borrow.

use crate::{
    cx::Cx,
    pool::{
        Pool,
        blocking_threads::{self, BlockingThreads},
        default_pool::on_behalf_of,
        registry::Registry,
        worker::Worker,
    },
    sys::unwind::{AbortOnUnwind, catch_unwind, resume_unwind},
    time::NEVER,
    trace::Event,
    wait::{
        Cancelled,
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waiter::Selected,
    },
};
use std::{
    cell::UnsafeCell,
    mem,
    panic::{AssertUnwindSafe, Location},
    ptr,
    sync::Arc,
    thread,
};

/// Runs a call on the calling thread, which lends its slot meanwhile. What the call forks goes to its pool.
fn in_place<R>(call: impl FnOnce() -> R) -> R {
    let registry = Pool::of_caller();
    Worker::current().while_blocked(|| on_behalf_of(registry, call))
}

/// A call of a fiber. Before the call has begun the fiber owns the stage, then the thread that runs it, and after
/// `done` the fiber again.
#[repr(C)]
struct Call<F, R> {
    node: blocking_threads::Call,
    done: Latch,
    registry: *const Registry,
    at: &'static Location<'static>,
    stage: UnsafeCell<Stage<F, R>>,
}

enum Stage<F, R> {
    Unstarted(F),
    Running,
    Ended(thread::Result<R>),
}

impl<F: FnOnce() -> R + Send, R: Send> Call<F, R> {
    fn new(function: F, registry: &Registry, at: &'static Location<'static>) -> Self {
        Self {
            node: blocking_threads::Call::new(Self::run),
            done: Latch::new(),
            registry,
            at,
            stage: UnsafeCell::new(Stage::Unstarted(function)),
        }
    }

    /// Runs the call on a thread that is in no pool.
    ///
    /// # Safety
    /// `node` is the first field of a `Call` of this type that is alive, and the caller has taken it out of the queue.
    unsafe fn run(node: *const blocking_threads::Call) {
        let this = node.cast::<Self>();
        // SAFETY: the call is alive until `done` has been notified, which is the last access. Until then only this
        // thread accesses the stage. The fiber that waits for the call is in the pool, so the registry is alive.
        unsafe {
            let stage = (*this).stage.get();
            let Stage::Unstarted(function) = mem::replace(&mut *stage, Stage::Running) else {
                unreachable!("a call is run once")
            };
            let registry = &*(*this).registry;
            registry.trace.record(|| Event::SpanBegin(registry.trace.site("blocking", (*this).at)));
            let result = on_behalf_of(registry, || catch_unwind(AssertUnwindSafe(function)));
            registry.trace.record(|| Event::SpanEnd);
            *stage = Stage::Ended(result);
            (*this).done.notify();
        }
    }

    /// Waits for the end of the call. Withdraws it if the scope is cancelled before a thread has begun it.
    ///
    /// # Safety
    /// The call was submitted to `threads`.
    unsafe fn wait(&self, cx: &Cx<'_>, threads: &BlockingThreads, reason: WaitReason) {
        let wait = || LatchWait::new(&self.done);
        while !self.done.is_notified() {
            if cx.wait(&wait(), NEVER, reason) == Selected::Cancelled {
                // SAFETY: the call was submitted to `threads`, and is alive.
                if unsafe { threads.withdraw(self.node()) } {
                    return;
                }
                while !self.done.is_notified() {
                    cx.wait_shielded(&wait(), reason);
                }
            }
        }
    }

    /// Returns a pointer to the node that is valid for the whole call.
    fn node(&self) -> *const blocking_threads::Call {
        ptr::from_ref(self).cast()
    }
}

impl Cx<'_> {
    /// Runs `call`, which may block its thread, and waits for its result. Other fibers run meanwhile.
    ///
    /// Use it for files, name resolution, foreign libraries, and the locks and channels of the standard library. On a
    /// fiber the call runs on a thread that the pool keeps for such calls. Their number is
    /// [limited](crate::Builder::max_blocking_threads), and a call beyond the limit waits for a thread. The pool's own
    /// threads remain available for fibers and for compute code. On a plain thread, inside [`run`](crate::run), the
    /// call runs in place, and another thread takes the slot of this thread. If the system refuses the first thread,
    /// the call of a fiber runs in place too, and blocks the thread of the fiber.
    ///
    /// The closure may borrow. Its forks and spawned tasks go to the pool of its caller. It cannot use the `cx`. A call
    /// does not allocate, but costs two lock operations and two switches between threads.
    ///
    /// # Cancellation
    /// A call that has begun cannot be interrupted. So its fiber waits for its end and gets the result, even if the
    /// scope is cancelled meanwhile or its deadline passes. The same holds when the pool is dropped.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the scope was cancelled before a thread began the call. The closure is dropped then,
    /// and does not run.
    ///
    /// # Panics
    /// Panics when `call` panics.
    ///
    /// ```
    /// use std::{fs, io};
    ///
    /// let path = std::env::temp_dir().join(format!("anabranch-{}", std::process::id()));
    /// let text = String::from("borrowed");
    /// let read = anabranch::spawn(move |cx| {
    ///     cx.blocking(|| fs::write(&path, &text))??;
    ///     let read = cx.blocking(|| fs::read_to_string(&path))??;
    ///     cx.blocking(|| fs::remove_file(&path))??;
    ///     Ok::<_, io::Error>(read)
    /// });
    /// assert_eq!(anabranch::run(|cx| read.join(cx)).unwrap().unwrap(), "borrowed");
    /// ```
    #[doc(alias = "spawn_blocking")]
    #[doc(alias = "block_in_place")]
    #[track_caller]
    pub fn blocking<R: Send>(&self, call: impl FnOnce() -> R + Send) -> Result<R, Cancelled> {
        let reason = WaitReason::new(&"blocking");
        self.checkpoint()?;
        if !self.owner.shares_thread() {
            return Ok(in_place(call));
        }
        self.check_stack();
        let registry = Pool::of_caller();
        let threads: &Arc<BlockingThreads> = &registry.blocking;
        let call = Call::new(call, registry, reason.at);
        // A thread may use the call until it has ended.
        let abort = AbortOnUnwind;
        // SAFETY: `wait` returns when the call has been withdrawn or has ended, and nothing unwinds before. The closure
        // and its result are `Send`, so any thread may run it.
        let is_submitted = unsafe { threads.submit(call.node()) };
        if is_submitted {
            let worker = &Worker::current().fibers.local.balance;
            worker.begin_blocking_call();
            // SAFETY: the call was submitted to these threads.
            unsafe { call.wait(self, threads, reason) };
            worker.end_blocking_call();
        }
        mem::forget(abort);
        match call.stage.into_inner() {
            Stage::Unstarted(function) if !is_submitted => Ok(in_place(function)),
            Stage::Unstarted(_) => Err(Cancelled),
            Stage::Ended(Ok(result)) => Ok(result),
            Stage::Ended(Err(panic)) => resume_unwind(panic),
            Stage::Running => unreachable!("the fiber waits for the end of the call"),
        }
    }
}
