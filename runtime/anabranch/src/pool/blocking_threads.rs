//! The threads that run blocking calls, [`Cx::blocking`](crate::Cx::blocking), for the fibers of a pool.
//!
//! A call is a node on the stack of the fiber that waits for it. The calls are in a queue behind a lock, in the order
//! in which they came. A call that arrives while a thread is idle wakes that thread. Otherwise it starts another
//! thread, up to the limit. A thread that has been idle for a while ends.
//!
//! | a call is | left by                                                              |
//! |-----------|----------------------------------------------------------------------|
//! | queued    | a thread takes it -> running; its fiber withdraws it -> with the fiber |
//! | running   | the thread reports its end, which is the last access to the node     |
//!
//! The lock guards everything, so a call is either withdrawn or run. It also covers the start of a thread. So while a
//! call is queued there is a thread that will take it: if the system refuses the first thread, the queue is empty
//! except for the new call, and its fiber runs it in place.
//!
//! The spare threads of the pool cannot run these calls. A spare is an ordinary worker: it has a slot, fibers are bound
//! to it, and it replaces a blocked thread only after the blocked thread has been detected.

use crate::{
    pool::threads,
    sys::{
        clock::Instant,
        sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering, lock, wait_timeout},
        thread::{self, JoinHandle},
        unwind::AbortOnUnwind,
    },
};
use std::{cell::Cell, mem, ptr, sync::Arc, time::Duration};

/// How many threads there may be by default.
pub(crate) const DEFAULT_MAX_THREADS: usize = 512;

/// How long a thread stays idle by default before it ends.
pub(crate) const DEFAULT_KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The first field of a blocking call. The lock of [`BlockingThreads`] guards the links.
pub(crate) struct Call {
    run: unsafe fn(*const Call),
    previous: Cell<*const Call>,
    next: Cell<*const Call>,
    is_queued: Cell<bool>,
}

impl Call {
    /// Creates the node of a call that `run` runs. `run` does not unwind, and may end the node.
    pub(crate) fn new(run: unsafe fn(*const Call)) -> Self {
        Self { run, previous: Cell::new(ptr::null()), next: Cell::new(ptr::null()), is_queued: Cell::new(false) }
    }
}

/// How the threads are set up.
pub(crate) struct BlockingConfig {
    /// How many there may be.
    pub(crate) most: usize,
    /// How long one stays idle before it ends.
    pub(crate) keep_alive: Duration,
    pub(crate) stack_size: Option<usize>,
    /// The cores on which they may run, if the pool binds its own threads. A thread inherits the core of its creator.
    pub(crate) cores: Vec<usize>,
}

impl Default for BlockingConfig {
    fn default() -> Self {
        Self { most: DEFAULT_MAX_THREADS, keep_alive: DEFAULT_KEEP_ALIVE, stack_size: None, cores: Vec::new() }
    }
}

/// See the [module](self).
pub(crate) struct BlockingThreads {
    config: BlockingConfig,
    state: Mutex<State>,
    has_work: Condvar,
    /// The number of calls that a thread has begun.
    begun: AtomicU64,
}

struct State {
    first: *const Call,
    last: *const Call,
    queued: usize,
    /// How many threads wait at the condition and have not been woken for a call.
    idle: usize,
    /// How many threads have been woken for a call and have not noticed.
    woken: usize,
    /// The threads that have not ended, and the last one that has: the next one to end joins it.
    threads: Vec<JoinHandle<()>>,
    ended: Option<JoinHandle<()>>,
    /// How many threads there have been.
    started: u64,
    is_closing: bool,
}

// SAFETY: the calls in the queue stay alive until they are taken or withdrawn, see `submit`.
unsafe impl Send for State {}

impl State {
    fn push(&mut self, call: *const Call) {
        // SAFETY: the caller of `submit` keeps the call alive, and so did those of the calls in the queue.
        unsafe {
            (*call).is_queued.set(true);
            (*call).previous.set(self.last);
            match self.last.as_ref() {
                Some(last) => last.next.set(call),
                None => self.first = call,
            }
        }
        self.last = call;
        self.queued += 1;
    }

    /// Takes a call out of the queue.
    ///
    /// # Safety
    /// The call is alive.
    unsafe fn unlink(&mut self, call: *const Call) -> bool {
        // SAFETY: the caller keeps the call alive, and its neighbours are in the queue.
        unsafe {
            if !(*call).is_queued.replace(false) {
                return false;
            }
            let (previous, next) = ((*call).previous.get(), (*call).next.get());
            match previous.as_ref() {
                Some(previous) => previous.next.set(next),
                None => self.first = next,
            }
            match next.as_ref() {
                Some(next) => next.previous.set(previous),
                None => self.last = previous,
            }
        }
        self.queued -= 1;
        true
    }

    fn pop(&mut self) -> Option<*const Call> {
        let first = self.first;
        // SAFETY: a call in the queue is alive.
        (!first.is_null() && unsafe { self.unlink(first) }).then_some(first)
    }
}

impl BlockingThreads {
    pub(crate) fn new(config: BlockingConfig) -> Arc<Self> {
        let state = State {
            first: ptr::null(),
            last: ptr::null(),
            queued: 0,
            idle: 0,
            woken: 0,
            threads: Vec::new(),
            ended: None,
            started: 0,
            is_closing: false,
        };
        Arc::new(Self { config, state: Mutex::new(state), has_work: Condvar::new(), begun: AtomicU64::new(0) })
    }

    /// Enqueues a call for one of the threads, and wakes or starts one. Returns `false` if there is no thread and none
    /// can be started: the caller then runs the call itself.
    ///
    /// # Safety
    /// If this returns `true`, the call stays alive until its function has reported its end, or until
    /// [`withdraw`](Self::withdraw) has returned `true`. Any thread may run it.
    pub(crate) unsafe fn submit(self: &Arc<Self>, call: *const Call) -> bool {
        let mut state = lock(&self.state);
        state.push(call);
        if state.idle > 0 {
            state.idle -= 1;
            state.woken += 1;
            drop(state);
            self.has_work.notify_one();
            return true;
        }
        if state.threads.len() < self.config.most {
            self.start_thread(&mut state);
        }
        let is_served = !state.threads.is_empty();
        if !is_served {
            // SAFETY: the caller keeps the call alive during this function.
            unsafe { state.unlink(call) };
        }
        is_served
    }

    /// Takes a call back that no thread has begun. Returns `false` if a thread has begun it.
    ///
    /// # Safety
    /// The call was submitted here and is alive.
    pub(crate) unsafe fn withdraw(&self, call: *const Call) -> bool {
        // SAFETY: the caller keeps the call alive.
        unsafe { lock(&self.state).unlink(call) }
    }

    /// Starts a thread, unless the system refuses it.
    fn start_thread(self: &Arc<Self>, state: &mut State) {
        let mut builder = thread::Builder::new().name(format!("anabranch-io-{}", state.started));
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        let this = Arc::clone(self);
        // Without a thread the calls wait for one of those that there are, or run in place.
        if let Ok(thread) = builder.spawn(move || this.serve()) {
            state.threads.push(thread);
            state.started += 1;
        }
    }

    /// Runs calls until there has been none for a while.
    fn serve(&self) {
        let abort = AbortOnUnwind;
        threads::bind_to_any(&self.config.cores);
        let mut state = lock(&self.state);
        loop {
            while let Some(call) = state.pop() {
                drop(state);
                self.begun.fetch_add(1, Ordering::Relaxed);
                // SAFETY: the call was in the queue, so it is alive, and this thread has taken it out.
                unsafe { ((*call).run)(call) };
                state = lock(&self.state);
            }
            let is_called;
            (state, is_called) = self.wait(state);
            if !is_called {
                break;
            }
        }
        let me = thread::current().id();
        let own = state.threads.iter().position(|thread| thread.thread().id() == me);
        // A pool that ends has taken the handle away.
        let before = own.and_then(|own| {
            let own = state.threads.swap_remove(own);
            state.ended.replace(own)
        });
        drop(state);
        mem::forget(abort);
        if let Some(before) = before {
            // Its code does not panic.
            let _ = before.join();
        }
    }

    /// Waits to be woken for a call. Returns `false` if none came for a while, or if the pool ends.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        let since = Instant::now();
        state.idle += 1;
        loop {
            if state.woken > 0 {
                state.woken -= 1;
                return (state, true);
            }
            let left = self.config.keep_alive.saturating_sub(since.elapsed());
            if state.is_closing || left.is_zero() {
                state.idle -= 1;
                return (state, false);
            }
            let has_time;
            (state, has_time) = wait_timeout(&self.has_work, &self.state, state, left);
            if !has_time && state.woken == 0 {
                state.idle -= 1;
                return (state, false);
            }
        }
    }

    /// Lets the threads end once no call is left.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closing = true;
        self.has_work.notify_all();
    }

    /// Returns whether the calling thread is one of these.
    pub(crate) fn is_one_of_them(&self) -> bool {
        let me = thread::current().id();
        lock(&self.state).threads.iter().any(|thread| thread.thread().id() == me)
    }

    /// Blocks until all threads have ended, after [`close`](Self::close).
    pub(crate) fn join_all(&self) {
        loop {
            let thread = {
                let mut state = lock(&self.state);
                state.threads.pop().or_else(|| state.ended.take())
            };
            let Some(thread) = thread else { return };
            let _ = thread.join();
        }
    }

    /// Returns how many threads there are, if all of them are idle and no call waits for one.
    pub(crate) fn idle(&self) -> Option<usize> {
        let state = lock(&self.state);
        (state.idle == state.threads.len() && state.queued == 0).then_some(state.idle)
    }

    /// Returns how many threads there are, how many calls wait for one, and how many calls a thread has begun.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let state = lock(&self.state);
        (state.threads.len(), state.queued, self.begun.load(Ordering::Relaxed))
    }
}
