//! The control block of a fiber. The module `suspend` implements its waits.
//!
//! A block belongs to a worker and to a stack, and outlives the fibers that run on it one after the other: when a fiber
//! ends, the next fiber begins on the same stack, without a switch. A worker outlives its blocks. While it rests it may
//! free blocks that have no stack.
//!
//! | state     | held by                                        | left by                                                |
//! |-----------|------------------------------------------------|--------------------------------------------------------|
//! | idle      | the worker's list of idle stacks               | a job is given to it -> running                        |
//! | running   | the worker's thread is on its stack            | `suspend` -> suspended; `yield_now` -> ready; end      |
//! | suspended | the waitables where its waiter is registered   | a waitable selects the waiter and wakes it -> ready    |
//! | ready     | the worker's list of ready fibers, or its inbox | the worker resumes it -> running                      |
//!
//! Once it runs, a fiber stays on its worker. Other threads access only the inbox.

use crate::{
    fiber::locals::Locals,
    fiber::{
        context::{Context, Exit, Left},
        kick::Kick,
        ready::{Inbox, Linked},
        shutdown::{Closing, Root},
        stack::{
            overflow::{self, Guarded},
            pool::FiberStack,
        },
        status::{FiberStatus, State},
        task::Job,
    },
    fork::frame::Frame,
    pool::{
        hooks::{self, AnyHooks, HookedFiber, Saved},
        panic_handler::PanicHandler,
        worker::Worker,
    },
    sys::{prefetch::prefetch, unwind::catch_unwind},
    time::timers::Key,
    trace::{Event, Site},
    wait::{
        cancel::CancelScope,
        current_stack::Stack,
        waiter::{Home, Kind, Waiter},
    },
};
use std::{
    any::Any,
    cell::{Cell, UnsafeCell},
    mem::offset_of,
    panic::AssertUnwindSafe,
    ptr,
    // Not from `sys`: no model depends on the number of a fiber.
    sync::atomic::{AtomicU32, Ordering},
};

/// How many lines of a stack are prefetched before its fiber continues, beside the topmost, and how far from the frame
/// of `suspend` they begin. The frame that resumes is there, and below it the frames that have
/// returned.
const FETCHED: usize = 5;
const FIRST_FETCHED: usize = 192;

/// See the [module](self). The fields that every wait uses come first, together.
#[repr(C, align(64))]
pub(crate) struct Fiber {
    /// First, so that its address is the fiber's.
    pub(crate) waiter: Waiter,
    /// The next fiber in a list or inbox.
    next: Cell<*const Fiber>,
    pub(crate) home: *const Worker,
    /// The way out of the context, while it runs.
    pub(crate) exit: Cell<*const Exit>,
    /// An address near the place on its stack where it left that last, or null while it waits without leaving it.
    pub(crate) depth: Cell<*const u8>,
    /// The list of its open forks, while no thread runs it.
    pub(crate) forks: Cell<*const Frame>,
    pub(crate) card: FiberStatus,
    pub(crate) timer: Cell<Option<Key>>,
    guarded: UnsafeCell<Option<Guarded>>,
    kick: Kick,
    context: UnsafeCell<Option<Context>>,
    job: Cell<Option<Job>>,
    /// The scope that the pool cancels when it ends.
    root: Root,
    locals: Locals,
    /// The data that the hook of its suspension has saved.
    saved: Cell<Option<Saved>>,
    /// The number of the fiber in a trace.
    number: AtomicU32,
}

// SAFETY: only the thread of its worker accesses a fiber, except for the waiter, the kick, the root and the card, which
// are made for sharing, and `next` while the fiber is in an inbox, whose protocol orders the accesses.
unsafe impl Send for Fiber {}
// SAFETY: the fields that other threads access are made for sharing or ordered by the inbox. Only the thread of its
// worker accesses the others.
unsafe impl Sync for Fiber {}

static KIND: Kind = Kind {
    // SAFETY: a waiter of this kind is the first field of a `Fiber`, since only `Fiber::new` makes one. The caller has
    // selected it.
    wake: |waiter| unsafe { wake(waiter.cast()) },
    // A fiber does not resume, let alone end, before it has been woken.
    keep: None,
    spins: 0,
    resumes: true,
    retries: false,
    home: Some(Home {
        // SAFETY: the caller keeps the waiter alive, and a waiter of this kind is the first field of a `Fiber`.
        is_local: |waiter| unsafe { ptr::eq(Worker::current(), (*waiter.cast::<Fiber>()).home) },
        // SAFETY: the caller keeps the waiter alive, and a waiter of this kind is the first field of a `Fiber`.
        kick: |waiter| unsafe { kick(waiter.cast()) },
    }),
};

/// # Safety
/// The fiber does not end before this does.
#[cold]
unsafe fn kick(fiber: *const Fiber) {
    // SAFETY: the caller guarantees that the fiber does not end before this returns, and a worker ends after its
    // fibers.
    unsafe {
        let home = (*fiber).home;
        let parker = &raw const (*home).parking.parker;
        Kick::send(&raw const (*fiber).kick, &raw const (*home).fibers.kicks, || (*parker).unpark());
    }
}

/// # Safety
/// The caller has selected the waiter of the fiber.
unsafe fn wake(fiber: *const Fiber) {
    // SAFETY: the caller has selected the fiber, so it is suspended, or about to be. It continues only through the
    // lists below; until then it and its worker are alive.
    unsafe {
        let home = (*fiber).home;
        (*home).trace.record(|| Event::Wake { fiber: (*fiber).number() });
        if ptr::eq(Worker::current(), home) {
            let local = &(*home).fibers.local;
            local.ready.push(fiber);
        } else {
            let parker = &raw const (*home).parking.parker;
            Inbox::push_remote(ptr::from_ref::<Inbox<Fiber>>(&(*home).fibers.inbox), fiber, || (*parker).unpark());
        }
    }
}

impl Linked for Fiber {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }

    #[inline(always)]
    fn fetch(&self) {
        prefetch(self.exit.get().cast());
        let depth = self.depth.get();
        for line in 0..FETCHED {
            prefetch(depth.wrapping_byte_add(FIRST_FETCHED + 64 * line));
        }
    }

    #[inline(always)]
    unsafe fn fetch_ahead(first: *const Self) {
        // SAFETY: the caller guarantees that the fiber is in a list, and fibers in a list are alive.
        unsafe {
            let after: *const u8 = (*first).next.get().cast();
            // If two fibers take turns, all of this is in the caches.
            if !after.is_null() {
                (*first).fetch();
                prefetch(after);
                prefetch(after.wrapping_byte_add(64));
            }
        }
    }
}

impl Fiber {
    /// Creates a block without a stack.
    pub(crate) fn new(home: *const Worker) -> Self {
        Self {
            waiter: Waiter::new(&KIND),
            next: Cell::new(ptr::null()),
            kick: Kick::new(),
            home,
            context: UnsafeCell::new(None),
            exit: Cell::new(ptr::null()),
            depth: Cell::new(ptr::null()),
            job: Cell::new(None),
            timer: Cell::new(None),
            forks: Cell::new(ptr::null()),
            guarded: UnsafeCell::new(None),
            root: Root::new(),
            locals: Locals::new(),
            saved: Cell::new(None),
            number: AtomicU32::new(0),
            card: FiberStatus::new(),
        }
    }

    /// Lets a fiber answer the thread that has kicked it.
    ///
    /// # Safety
    /// It is the kick of a fiber of the calling worker.
    pub(crate) unsafe fn answer(kick: *const Kick) {
        // SAFETY: the caller passes the kick of a fiber of its worker, whose thread alone frees blocks. The pointer to
        // the kick was made from one to the fiber, so it is valid for the whole fiber.
        unsafe {
            let fiber = kick.byte_sub(offset_of!(Self, kick)).cast::<Self>();
            Waiter::answer(&raw const (*fiber).waiter);
        }
    }

    pub(crate) fn home(&self) -> &Worker {
        // SAFETY: a worker outlives its blocks.
        unsafe { &*self.home }
    }

    pub(crate) fn card(&self) -> &FiberStatus {
        &self.card
    }

    /// Returns what the fiber does, as of a moment ago. A thread that wakes it does not update its card, which saves
    /// the fetch of a cache line.
    pub(crate) fn state(&self) -> State {
        match self.card.state() {
            state if state.is_suspended() && !self.waiter.is_waiting() => State::Ready,
            state => state,
        }
    }

    /// Returns the stack on which it waits.
    #[inline]
    pub(crate) fn own_stack(&self) -> Stack {
        Stack::of(ptr::from_ref(self).cast())
    }

    /// Binds the waiter to the fiber's stack. The block does not move any more.
    pub(crate) fn bind_to_own_stack(&self) {
        self.waiter.bind_to(self.own_stack());
    }

    /// Returns the fiber on whose stack the thread is, unless that stack is pinned.
    #[inline]
    pub(crate) fn current() -> *const Self {
        Stack::current().address().cast()
    }

    /// Returns the fiber-local values.
    pub(crate) fn locals(&self) -> &Locals {
        &self.locals
    }

    // ---- the worker, from its own stack ----

    /// Gives an idle block a stack, and the function that runs its jobs there.
    ///
    /// # Safety
    /// The block has none, and does not move any more.
    pub(crate) unsafe fn equip(&self, stack: FiberStack, serve: impl FnOnce(&Exit) + 'static) {
        let guarded = stack.guarded(None);
        let context = Context::new(stack, serve);
        // SAFETY: only the worker's thread calls this, and no code runs on this block, since it has no stack.
        unsafe {
            *self.guarded.get() = Some(guarded);
            *self.context.get() = Some(context);
        }
    }

    /// Takes the stack of an idle block, and returns it.
    pub(crate) fn strip(&self) -> Option<FiberStack> {
        // SAFETY: only the worker's thread calls this, and the context is idle, so no code runs on this block.
        unsafe { (*self.context.get()).take().map(Context::into_stack) }
    }

    /// Returns whether no thread can access the block any more, except through the list of its worker. The block is
    /// bare. No thread kicks or wakes a fiber that has ended, but a kick from before may still be in the inbox.
    pub(crate) fn is_unused(&self) -> bool {
        !self.kick.is_marked()
    }

    pub(crate) fn give(&self, job: Job) {
        self.job.set(Some(job));
    }

    /// Takes the job that [`give`](Self::give) left.
    pub(super) fn take_job(&self) -> Option<Job> {
        self.job.take()
    }

    /// Runs the fiber until it, or a fiber that resumed in its place, suspends or is idle. It is the current fiber of
    /// the worker until `come_back`.
    ///
    /// # Safety
    /// The caller is the worker's thread, on its own stack. The block has a context, and is idle with a job or ready.
    #[inline]
    pub(crate) unsafe fn resume(&self) -> Left {
        // SAFETY: the caller is the worker's thread, on its own stack, and the block has a context that does not run.
        // The context stays borrowed while it runs, and no other code accesses it: the function on it uses only its
        // `exit`.
        unsafe {
            self.become_current();
            (*self.context.get()).as_mut().expect("a fiber has a context").resume()
        }
    }

    /// Makes the fiber the current one of its worker, just before the thread switches to its stack.
    #[inline]
    pub(crate) fn become_current(&self) {
        let home = self.home();
        home.counters.switches.add(1);
        self.own_stack().make_current();
        self.take_up();
        // SAFETY: the record is stored in the block, which outlives the fiber. Only `show_name` changes it, after it
        // has withdrawn it.
        unsafe { overflow::set_current((*self.guarded.get()).as_ref().map_or(ptr::null(), ptr::from_ref)) };
    }

    /// Marks the fiber as running, and attaches its open forks.
    #[inline]
    pub(crate) fn take_up(&self) {
        self.card.set(State::Running);
        let forks = self.forks.get();
        if !forks.is_null() {
            self.forks.set(ptr::null());
            // SAFETY: `prepare_switch` detached the list, and the frames are on the fiber's stack. No other fiber runs
            // on this worker, so no frame is linked.
            unsafe { self.home().compute.stack.replace(forks) };
        }
    }

    /// Records that the fiber begins, and calls the hook.
    #[cold]
    pub(super) fn note_start(&self) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let trace = self.home().trace;
        if trace.is_on() {
            self.number.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
            let site = self.card.origin().map_or(Site::UNKNOWN, |origin| trace.site("", origin));
            trace.record(|| Event::FiberStart { fiber: self.number(), site });
            if let Some(name) = self.card.name() {
                trace.record(|| Event::FiberName { fiber: self.number(), site: trace.name(&name) });
            }
        }
        self.with_hooks(|hooks, fiber| hooks.start(fiber));
    }

    /// Calls the hook for the end of the fiber, and records it.
    #[cold]
    pub(super) fn note_end(&self) {
        self.with_hooks(|hooks, fiber| hooks.end(fiber));
        self.home().trace.record(|| Event::FiberEnd { fiber: self.number() });
    }

    /// Records a suspension, and calls the hook for it, after the fiber has left its stack.
    #[cold]
    pub(crate) fn note_suspend(&self) {
        let trace = self.home().trace;
        trace.record(|| {
            let reason = self.card.reason().filter(|_| self.card.state().is_suspended());
            let site = reason.map_or(Site::UNKNOWN, |reason| trace.site(reason.what, reason.at));
            Event::FiberSuspend { fiber: self.number(), site }
        });
        self.saved.set(self.with_hooks(|hooks, fiber| hooks.suspend(fiber)));
    }

    /// Calls the hook for a resumption, before the fiber continues on its stack, and records it.
    #[cold]
    pub(crate) fn note_resume(&self) {
        if let Some(saved) = self.saved.take() {
            self.with_hooks(|hooks, fiber| hooks.resume(fiber, saved));
        }
        // An idle block is about to begin another fiber.
        if self.card.state() != State::Idle {
            self.home().trace.record(|| Event::FiberResume { fiber: self.number() });
        }
    }

    /// Records that a timer of the fiber has fired, and how many nanoseconds ago it was due.
    #[cold]
    pub(super) fn note_due(&self, late: u64) {
        self.home().trace.record(|| Event::TimerDue { fiber: self.number(), late });
    }

    /// Returns the number of the fiber in a trace.
    fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Calls a hook of the pool. Returns `None` if it panicked.
    pub(super) fn with_hooks<R>(&self, hook: impl FnOnce(&dyn AnyHooks, &HookedFiber<'_>) -> R) -> Option<R> {
        let threads = &self.home().registry()?.pool_threads;
        let hooks = threads.hooks()?;
        let name = self.card.name();
        let fiber = HookedFiber { name: name.as_deref(), worker: self.home().index };
        hooks::run(threads.panic_handler(), || hook(hooks, &fiber))
    }

    /// Makes the worker's own stack the current one, after the thread has left the fibers' stacks.
    #[inline]
    pub(crate) fn come_back() {
        Stack::THREAD.make_current();
        // SAFETY: a null pointer needs nothing to stay valid.
        unsafe { overflow::set_current(ptr::null()) };
    }

    // ---- the fiber ----

    /// Drops the fiber's own values. A job calls this before it reports its end.
    pub(crate) fn clear_locals(&self) {
        // If the drop of one value panics, the loop drops the others.
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.locals.clear())) {
            self.report(panic);
        }
    }

    /// Passes a panic that reaches no caller to the panic handler.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        if let Some(registry) = self.home().registry() {
            registry.pool_threads.report(panic);
        }
    }

    /// Returns the panic handler of the fiber's pool.
    pub(crate) fn panic_handler(&self) -> PanicHandler {
        self.home().registry().map(|registry| registry.pool_threads.panic_handler().clone()).unwrap_or_default()
    }

    /// Removes the name, after a job has ended.
    pub(super) fn end(&self) {
        if self.card.is_named() {
            self.show_name(None);
            self.card.clear_name();
        }
    }

    /// Registers the scope of a fiber that no parent waits for. `scope` must stay alive until `clear_root`.
    pub(crate) fn set_root(&self, scope: &CancelScope) {
        self.root.set(scope, self.closing());
    }

    /// Removes the scope that `set_root` registered. The scope may end afterwards.
    pub(crate) fn clear_root(&self) {
        self.root.clear(self.closing());
    }

    fn closing(&self) -> &Closing {
        &self.home().registry().expect("fibers run on the workers of a pool").closing
    }

    /// Cancels the fiber if no parent waits for it.
    ///
    /// # Safety
    /// Called within [`Closing::close`], for a fiber of this pool, as for [`Root::cancel`].
    pub(crate) unsafe fn cancel_root(&self) {
        // SAFETY: the caller calls this within `Closing::close`, for a fiber of this pool.
        unsafe { self.root.cancel() };
    }

    /// Sets the name that the handler of overflows reports for this fiber, which runs.
    pub(crate) fn show_name(&self, name: Option<&str>) {
        // SAFETY: this thread runs the fiber, so the overflow handler reads the record only on this thread. The record
        // is withdrawn while it changes. The card keeps the name in it until `show_name` is called again.
        unsafe {
            overflow::set_current(ptr::null());
            if let Some(guarded) = &mut *self.guarded.get() {
                guarded.set_name(name);
                overflow::set_current(guarded);
            }
        }
    }
}
