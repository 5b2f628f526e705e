//! The engine: continues one simulated thread after the other, in the order of virtual time.
//!
//! Each simulated thread is a coroutine. The engine always continues the thread on the core that is furthest behind, up
//! to its next operation that other threads can see. So operations happen in the order of their virtual times, and
//! equal times in the order of the requests. Nothing else decides the order, so equal seeds give equal runs. A load
//! or store that hits in the own cache may come earlier by the time of a transfer, after which others could see it.

use crate::{
    cores::{Core, Event, State, Thread, ThreadId},
    lines::{Lines, MAX_CORES},
    local::Locals,
    machine::{Access, Machine, Picos},
};
use corosensei::{
    Coroutine, CoroutineResult, Yielder,
    stack::{DefaultStack, Stack},
};
use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    mem, ptr,
    rc::Rc,
};

/// The stack of a thread.
const STACK: usize = 512 << 10;

/// See the [module](self).
pub(crate) struct Engine {
    machine: Machine,
    state: RefCell<State>,
}

thread_local! {
    static CURRENT: Cell<*const Engine> = const { Cell::new(ptr::null()) };
}

/// Calls a closure with the engine whose thread calls this. Returns `None` outside of every simulation.
pub(crate) fn with<R>(use_engine: impl FnOnce(&Engine) -> R) -> Option<R> {
    // SAFETY: `Engine::run` sets the pointer to an engine that it borrows, and sets it back before it returns.
    unsafe { CURRENT.get().as_ref() }.map(use_engine)
}

impl Engine {
    pub(crate) fn new(machine: Machine, seed: u64) -> Self {
        assert!((1..=MAX_CORES).contains(&machine.cores), "a machine has 1 to {MAX_CORES} cores");
        let state = State {
            lines: Lines::default(),
            cores: (0..machine.cores).map(|_| Core::default()).collect(),
            threads: Vec::new(),
            events: BinaryHeap::new(),
            requests: 0,
            queue: VecDeque::new(),
            waiters: HashMap::new(),
            random: seed,
            core: 0,
            thread: 0,
        };
        Self { machine, state: RefCell::new(state) }
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    // ---- the loop ----

    /// Runs a closure as the first thread, and the threads that it starts, until it returns. Returns the time. Threads
    /// that have not ended stop where they are.
    ///
    /// # Panics
    /// Panics if the first thread waits forever.
    pub(crate) fn run(&self, body: Box<dyn FnOnce()>) -> Picos {
        let before = CURRENT.replace(self);
        let outside = Locals::enter(None);
        self.start(body, 0);
        let mut end = None;
        while end.is_none()
            && let Some(Reverse((at, _, event))) = self.next_event()
        {
            match event {
                Event::Run { core, turn } if self.state.borrow().cores[core].turn == turn => {
                    let has_ended = self.resume(core);
                    let state = self.state.borrow();
                    end = (has_ended && state.thread == 0).then(|| state.cores[core].clock);
                }
                Event::Run { .. } => {}
                Event::SliceEnd { core } => self.state.borrow_mut().end_slice(&self.machine, core, at),
                Event::Timeout { thread, wait } => self.state.borrow_mut().time_out(&self.machine, thread, wait, at),
            }
        }
        Locals::enter(outside);
        CURRENT.set(before);
        // A thread that waits forever has a stack that cannot be unwound: it may be in the middle of anything.
        for thread in &mut self.state.borrow_mut().threads {
            mem::forget(thread.coroutine.take());
        }
        end.expect("the first thread waits forever")
    }

    fn next_event(&self) -> Option<Reverse<(Picos, u64, Event)>> {
        self.state.borrow_mut().events.pop()
    }

    /// Continues the thread of a core until it has to let others go first. Returns whether it has ended.
    fn resume(&self, core: usize) -> bool {
        let (mut coroutine, locals, id) = {
            let mut state = self.state.borrow_mut();
            let id = state.cores[core].thread.expect("a core with an event has a thread");
            (state.core, state.thread) = (core, id);
            let thread = &mut state.threads[id];
            (thread.coroutine.take().expect("a thread on a core does not run"), Rc::clone(&thread.locals), id)
        };
        Locals::enter(Some(locals));
        let result = coroutine.resume(());
        Locals::enter(None);
        let mut state = self.state.borrow_mut();
        match result {
            CoroutineResult::Yield(()) => {
                state.threads[id].coroutine = Some(coroutine);
                false
            }
            CoroutineResult::Return(()) => {
                let core = state.core;
                state.release(&self.machine, core);
                true
            }
        }
    }

    // ---- for the thread that runs ----

    /// Waits until no other core is further behind this one than `ahead`.
    fn step(&self, ahead: Picos) {
        {
            let mut state = self.state.borrow_mut();
            let (core, now) = (state.core, state.cores[state.core].clock);
            if state.events.peek().is_none_or(|&Reverse((next, ..))| now <= next + ahead) {
                return;
            }
            let turn = state.cores[core].turn;
            state.push(now, Event::Run { core, turn });
        }
        self.suspend();
    }

    fn suspend(&self) {
        let state = self.state.borrow();
        let yielder = state.threads[state.thread].yielder;
        drop(state);
        // SAFETY: the coroutine of this thread has set the pointer at its start, and lives as long as this stack.
        unsafe { (*yielder).suspend(()) };
    }

    /// Spends time. Others see nothing of it.
    pub(crate) fn spend(&self, time: Picos) {
        let mut state = self.state.borrow_mut();
        let core = state.core;
        state.cores[core].clock += time;
    }

    /// Lets the other cores come as far, and returns the time.
    pub(crate) fn settled_time(&self) -> Picos {
        self.step(0);
        self.now()
    }

    /// Makes a memory access.
    pub(crate) fn access(&self, address: usize, access: Access) {
        {
            let state = &mut *self.state.borrow_mut();
            let core = &mut state.cores[state.core];
            // An access of another core to the line would take at least a transfer to be seen here.
            let is_near = |next: &Reverse<(Picos, u64, Event)>| core.clock <= next.0.0 + self.machine.near;
            if access != Access::Update
                && state.events.peek().is_none_or(is_near)
                && state.lines.is_hit(state.core, address, access)
            {
                core.clock += self.machine.base(access);
                return;
            }
        }
        self.step(0);
        let state = &mut *self.state.borrow_mut();
        let core = &mut state.cores[state.core];
        let end = state.lines.access(&self.machine, (state.core, &mut core.drained), address, access, core.clock);
        core.clock = end;
    }

    /// A full fence.
    pub(crate) fn fence(&self) {
        let state = &mut *self.state.borrow_mut();
        let core = &mut state.cores[state.core];
        core.clock = core.clock.max(core.drained) + self.machine.fence;
    }

    /// Makes all cores that run threads go through a full fence.
    pub(crate) fn barrier(&self) {
        self.spend(self.machine.call + self.machine.barrier);
        self.step(0);
        let state = &mut *self.state.borrow_mut();
        let (me, now) = (state.core, state.cores[state.core].clock);
        let others: Vec<_> = (0..state.cores.len()).filter(|&core| core != me && state.is_running(core, now)).collect();
        for &core in &others {
            state.delay(core, self.machine.interrupt);
        }
        state.cores[me].clock += others.len() as Picos * self.machine.barrier_per_core;
    }

    /// Returns the time, without spending any.
    pub(crate) fn now(&self) -> Picos {
        self.step(self.machine.near);
        let state = self.state.borrow();
        state.cores[state.core].clock
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.state.borrow().thread
    }

    pub(crate) fn core(&self) -> usize {
        self.state.borrow().core
    }

    /// Starts a thread, which begins as if it was woken now.
    pub(crate) fn start(&self, body: Box<dyn FnOnce()>, now: Picos) -> ThreadId {
        let state = &mut *self.state.borrow_mut();
        let id = state.threads.len();
        let stack = DefaultStack::new(STACK).expect("no memory for a stack");
        state.lines.forget(stack.limit().get(), STACK);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            with(|engine| engine.state.borrow_mut().threads[id].yielder = yielder);
            body();
        });
        state.threads.push(Thread {
            coroutine: Some(coroutine),
            yielder: ptr::null(),
            locals: Rc::default(),
            core: state.core,
            debt: 0,
            wait: 0,
            address: 0,
            is_waiting: false,
            has_deadline: false,
            has_timed_out: false,
            cpu: 0,
        });
        state.make_ready(&self.machine, id, now);
        id
    }

    /// Waits at an address if `is_due`, until a wake-up or, if there is one, for the time. Returns `false` if the time
    /// was up.
    pub(crate) fn wait(&self, address: usize, time: Option<Picos>, is_due: impl FnOnce() -> bool) -> bool {
        self.spend(self.machine.call);
        self.step(0);
        {
            let state = &mut *self.state.borrow_mut();
            if !is_due() {
                return true;
            }
            let (core, id) = (state.core, state.thread);
            let thread = &mut state.threads[id];
            thread.wait += 1;
            (thread.address, thread.is_waiting, thread.has_timed_out) = (address, true, false);
            thread.has_deadline = time.is_some();
            if address != 0 {
                state.waiters.entry(address).or_default().push_back(id);
            }
            if let Some(time) = time {
                let (wait, at) = (state.threads[id].wait, state.cores[core].clock.saturating_add(time));
                state.push(at.saturating_add(self.machine.slack), Event::Timeout { thread: id, wait });
            }
            state.release(&self.machine, core);
        }
        self.suspend();
        let state = self.state.borrow();
        !state.threads[state.thread].has_timed_out
    }

    /// Wakes threads that wait at an address.
    pub(crate) fn wake(&self, address: usize, most: usize) {
        self.spend(self.machine.call);
        for _ in 0..most {
            self.step(0);
            let state = &mut *self.state.borrow_mut();
            let Some(thread) = state.waiters.get_mut(&address).and_then(VecDeque::pop_front) else { return };
            let core = state.core;
            let now = state.cores[core].clock;
            state.cores[core].clock += self.machine.wake;
            state.end_wait(&self.machine, thread, false, now);
        }
    }

    /// Lets a queued thread run.
    pub(crate) fn yield_now(&self) {
        self.spend(self.machine.call);
        self.step(0);
        {
            let state = &mut *self.state.borrow_mut();
            if state.queue.is_empty() {
                return;
            }
            let (core, id) = (state.core, state.thread);
            state.queue.push_back(id);
            state.release(&self.machine, core);
        }
        self.suspend();
    }

    // ---- about threads ----

    /// Returns how long a thread has run.
    pub(crate) fn cpu_time(&self, thread: ThreadId) -> Option<Picos> {
        self.step(0);
        let state = self.state.borrow();
        let now = state.cores[state.core].clock;
        let running = state.cores.iter().find(|core| core.thread == Some(thread));
        Some(state.threads.get(thread)?.cpu + running.map_or(0, |core| now.saturating_sub(core.since)))
    }

    /// Returns whether a thread waits.
    pub(crate) fn is_waiting(&self, thread: ThreadId) -> Option<bool> {
        self.step(0);
        self.state.borrow().threads.get(thread).map(|thread| thread.is_waiting)
    }

    /// Returns whether a thread waits at an address until it is woken.
    pub(crate) fn waits_without_deadline(&self, thread: ThreadId) -> Option<bool> {
        self.step(0);
        self.state.borrow().threads.get(thread).map(|thread| thread.is_waiting && !thread.has_deadline)
    }

    /// Forgets the lines of memory that was allocated or freed.
    pub(crate) fn forget(&self, address: usize, bytes: usize) {
        // The engine itself allocates while it has borrowed its state.
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.lines.forget(address, bytes);
        }
    }
}
