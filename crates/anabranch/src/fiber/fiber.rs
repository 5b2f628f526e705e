//! The control block of a fiber. How it waits is in `suspend`.
//!
//! A block belongs to a worker and to a stack, and outlives the fibers that run on it one after the other: when a fiber
//! ends the next begins on the same stack, without a switch. Blocks live as long as their worker.
//!
//! | state     | who holds it                                   | left by                                                |
//! |-----------|------------------------------------------------|--------------------------------------------------------|
//! | idle      | the worker's list of idle stacks               | a job is given to it -> running                        |
//! | running   | the worker's thread is on its stack            | `suspend` -> suspended; `yield_now` -> ready; end      |
//! | suspended | nobody; the places where its waiter is         | a place decides the waiter and wakes it -> ready       |
//! | ready     | the worker's list of ready fibers, or its inbox | the worker resumes it -> running                      |
//!
//! Once it runs, a fiber stays on its worker. Only the inbox is touched by other threads.

use crate::{
    fiber::locals::Locals,
    fiber::{
        context::{Context, Exit, Left, Resume},
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
        threads::PanicHandler,
        worker::{AbortOnUnwind, Worker},
    },
    sys::{prefetch::prefetch, unwind::catch_unwind},
    time::timers::Key,
    wait::{
        cancel::CancelScope,
        current_stack::Stack,
        suspend::Strand,
        waiter::{Home, Kind, Waiter},
    },
};
use std::{
    any::Any,
    cell::{Cell, UnsafeCell},
    mem::offset_of,
    panic::AssertUnwindSafe,
    ptr,
};

/// How many lines of a stack are fetched before its fiber goes on, beside the topmost, and how far from the frame of
/// [`suspend`](Strand::suspend) they begin: there lies the frame that goes on, below it those that have returned.
const FETCHED: usize = 5;
const FIRST_FETCHED: usize = 192;

/// See the [module](self). What every wait touches comes first, together.
#[repr(C, align(64))]
pub(crate) struct Fiber {
    /// First, so that its address is the fiber's.
    pub(crate) waiter: Waiter,
    /// The next in a list or inbox.
    next: Cell<*const Fiber>,
    pub(crate) home: *const Worker,
    /// The way out of the context, while it runs.
    pub(crate) exit: Cell<*const Exit>,
    /// Where about on its stack it waited last. A hint.
    pub(crate) depth: Cell<*const u8>,
    /// What it has forked, while it is left.
    pub(crate) forks: Cell<*const Frame>,
    pub(crate) card: FiberStatus,
    pub(crate) timer: Cell<Option<Key>>,
    guarded: UnsafeCell<Option<Guarded>>,
    kick: Kick,
    context: UnsafeCell<Option<Context>>,
    job: Cell<Option<Job>>,
    /// To be cancelled when the pool ends.
    root: Root,
    locals: Locals,
}

// SAFETY: a fiber is its worker's, and all but the waiter, the root, the card, and `next` while it is in an inbox, is
// touched by that worker's thread alone.
unsafe impl Send for Fiber {}
// SAFETY: as above.
unsafe impl Sync for Fiber {}

static KIND: Kind = Kind {
    // SAFETY: the waiter of this kind is the first field of a `Fiber`, by `Fiber::new`; it was decided by the caller.
    wake: |waiter| unsafe { wake(waiter.cast()) },
    // A fiber does not go on, let alone end, before it has been woken.
    keep: None,
    looks: 0,
    resumes: true,
    home: Some(Home {
        // SAFETY: the waiter is alive, and that of a fiber, as above.
        is_here: |waiter| unsafe { ptr::eq(Worker::current(), (*waiter.cast::<Fiber>()).home) },
        // SAFETY: as above.
        kick: |waiter| unsafe { kick(waiter.cast()) },
    }),
};

/// # Safety
/// The fiber does not end before this does.
#[cold]
unsafe fn kick(fiber: *const Fiber) {
    // SAFETY: a worker does not end before its fibers have.
    unsafe {
        let home = (*fiber).home;
        let parker = &raw const (*home).parker;
        Kick::send(&raw const (*fiber).kick, &raw const (*home).fibers.kicks, || (*parker).unpark());
    }
}

/// # Safety
/// The fiber was decided, by the caller.
unsafe fn wake(fiber: *const Fiber) {
    // SAFETY: a fiber that was decided is suspended, or about to be, and goes on only through the lists below: until
    // then it and its worker are alive.
    unsafe {
        let home = (*fiber).home;
        if ptr::eq(Worker::current(), home) {
            (*home).fibers.local.make_ready(fiber);
        } else {
            let parker = &raw const (*home).parker;
            Inbox::post(ptr::from_ref::<Inbox<Fiber>>(&(*home).fibers.inbox), fiber, || (*parker).unpark());
        }
    }
}

impl Linked for Fiber {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }

    #[inline(always)]
    unsafe fn fetch_ahead(first: *const Self) {
        // SAFETY: fibers in a list are alive.
        unsafe {
            let after: *const u8 = (*first).next.get().cast();
            // Where two take turns, all is in the caches.
            if !after.is_null() {
                (*first).fetch();
                prefetch(after);
                prefetch(after.wrapping_byte_add(64));
            }
        }
    }
}

impl Fiber {
    /// A block without a stack.
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
            card: FiberStatus::new(),
        }
    }

    /// Answers whoever has kicked a fiber.
    ///
    /// # Safety
    /// It is the kick of a fiber of the calling worker.
    pub(crate) unsafe fn answer(kick: *const Kick) {
        // SAFETY: the caller's word; the pointer to the kick was made from one to the fiber.
        unsafe {
            let fiber = kick.byte_sub(offset_of!(Self, kick)).cast::<Self>();
            Waiter::answer(&raw const (*fiber).waiter);
        }
    }

    pub(crate) fn home(&self) -> &Worker {
        // SAFETY: blocks live as long as their worker.
        unsafe { &*self.home }
    }

    pub(crate) fn card(&self) -> &FiberStatus {
        &self.card
    }

    /// What it does, as of a moment ago. Whoever wakes it leaves its card alone, which is one line less to fetch.
    pub(crate) fn state(&self) -> State {
        match self.card.state() {
            State::Suspended if !self.waiter.is_waiting() => State::Ready,
            state => state,
        }
    }

    /// The stack on which it waits.
    #[inline]
    pub(crate) fn own_stack(&self) -> Stack {
        Stack::of(ptr::from_ref(self).cast())
    }

    /// The block does not move any more.
    pub(crate) fn bind_to_own_stack(&self) {
        self.waiter.bind_to(self.own_stack());
    }

    /// The fiber on whose stack the thread is, if nothing has pinned that.
    #[inline]
    pub(crate) fn current() -> *const Self {
        Stack::current().address().cast()
    }

    /// Values that are the fiber's own.
    pub(crate) fn locals(&self) -> &Locals {
        &self.locals
    }

    // ---- the worker, from its own stack ----

    /// Gives an idle block a stack to run on.
    ///
    /// # Safety
    /// The block has none, and does not move any more.
    pub(crate) unsafe fn equip(&self, stack: FiberStack) {
        let guarded = stack.guarded(None);
        let this = ptr::from_ref(self);
        // SAFETY: the block outlives the context, which is ended by `strip` before the worker ends.
        let context = Context::new(stack, move |exit| unsafe { (*this).serve(exit) });
        // SAFETY: the worker's thread alone comes here, and nothing runs on this block.
        unsafe {
            *self.guarded.get() = Some(guarded);
            *self.context.get() = Some(context);
        }
    }

    /// Takes the stack of an idle block.
    pub(crate) fn strip(&self) -> Option<FiberStack> {
        // SAFETY: as in `equip`; the context is idle.
        unsafe { (*self.context.get()).take().map(Context::into_stack) }
    }

    pub(crate) fn give(&self, job: Job) {
        self.job.set(Some(job));
    }

    /// Runs the fiber until it, or one that went on in its place, suspends or is idle: the current one of the worker,
    /// which it stays until `come_back`.
    ///
    /// # Safety
    /// The caller is the worker's thread, on its own stack. The block has a context, and is idle with a job or ready.
    #[inline]
    pub(crate) unsafe fn resume(&self) -> Left {
        // SAFETY: the caller's word. The context is borrowed while it runs, and nobody else takes it: what runs on it
        // reaches the way out alone.
        unsafe {
            self.become_current();
            (*self.context.get()).as_mut().expect("a fiber has a context").resume()
        }
    }

    /// From here on the thread is on this fiber's stack, or will be in a moment.
    #[inline]
    pub(crate) fn become_current(&self) {
        let home = self.home();
        home.counters.switches.add(1);
        self.own_stack().make_current();
        self.take_up();
        // SAFETY: the record lies in the block, and nobody changes it before `show_name` has taken it back.
        unsafe { overflow::set_current((*self.guarded.get()).as_ref().map_or(ptr::null(), ptr::from_ref)) };
    }

    /// Has the processor fetch what the fiber uses of its stack when it goes on.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        prefetch(self.exit.get().cast());
        let depth = self.depth.get();
        for line in 0..FETCHED {
            prefetch(depth.wrapping_byte_add(FIRST_FETCHED + 64 * line));
        }
    }

    /// The fiber runs, with what it had forked.
    #[inline]
    pub(crate) fn take_up(&self) {
        self.card.set(State::Running);
        let forks = self.forks.get();
        if !forks.is_null() {
            self.forks.set(ptr::null());
            // SAFETY: detached by `prepare_switch`, and the frames are on the fiber's stack. No other fiber runs, with
            // frames of its own.
            unsafe { self.home().stack.attach(forks) };
        }
    }

    /// The worker is on its own stack, and will be for a while.
    #[inline]
    pub(crate) fn come_back() {
        Stack::THREAD.make_current();
        // SAFETY: there is nothing that has to stay valid.
        unsafe { overflow::set_current(ptr::null()) };
    }

    // ---- the fiber ----

    /// What runs on the stack: one job after the other.
    fn serve(&self, exit: &Exit) {
        let abort = AbortOnUnwind;
        self.exit.set(exit);
        loop {
            let mut job = self.job.take();
            while let Some(now) = job {
                self.card.set(State::Running);
                self.home().counters.fibers.add(1);
                // SAFETY: a job is in one place at a time, and was taken from there to be run.
                unsafe {
                    if let Some(name) = now.name() {
                        self.set_name(name);
                    }
                    now.run(self);
                }
                self.end();
                job = self.home().next_job_on_this_stack();
            }
            self.card.set(State::Idle);
            if exit.suspend(Left::Idle) == Resume::End {
                break;
            }
        }
        std::mem::forget(abort);
    }

    /// Drops the values that are the fiber's own: for a job, before it tells anybody that it has ended.
    pub(crate) fn clear_locals(&self) {
        // Those that are left when one panics are dropped all the same.
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.locals.clear())) {
            self.report(panic);
        }
    }

    /// Gives a panic that reaches no caller to the panic handler.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        if let Some(registry) = self.home().registry() {
            registry.pool_threads.report(panic);
        }
    }

    /// What becomes of such a panic.
    pub(crate) fn panic_handler(&self) -> PanicHandler {
        self.home().registry().map(|registry| registry.pool_threads.panic_handler().clone()).unwrap_or_default()
    }

    fn end(&self) {
        if self.card.is_named() {
            self.show_name(None);
            self.card.clear_name();
        }
    }

    /// The fiber is one that no parent waits for. `scope` stays until `clear_root`.
    pub(crate) fn set_root(&self, scope: &CancelScope) {
        self.root.set(scope, self.closing());
    }

    /// The scope may end afterwards.
    pub(crate) fn clear_root(&self) {
        self.root.clear(self.closing());
    }

    fn closing(&self) -> &Closing {
        &self.home().registry().expect("fibers run on the workers of a pool").closing
    }

    /// Cancels the fiber if no parent will do it.
    ///
    /// # Safety
    /// As for [`Root::cancel`].
    pub(crate) unsafe fn cancel_root(&self) {
        // SAFETY: the caller's word.
        unsafe { self.root.cancel() };
    }

    /// Tells the handler of overflows what this fiber, which runs, is called.
    pub(crate) fn show_name(&self, name: Option<&str>) {
        // SAFETY: this thread runs the fiber. While the record changes nobody refers to it; the name in it is kept by
        // the card until there is another.
        unsafe {
            overflow::set_current(ptr::null());
            if let Some(guarded) = &mut *self.guarded.get() {
                guarded.set_name(name);
                overflow::set_current(guarded);
            }
        }
    }
}
