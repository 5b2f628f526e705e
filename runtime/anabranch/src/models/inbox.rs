//! The inbox of a worker: it returns fibers in the order in which they were put in, and the worker is woken. The worker
//! does not end while another thread is about to wake it.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    cx::cx::{Cx, Deadline},
    fiber::locals::Locals,
    fiber::{
        ready::{Inbox, Linked, List},
        switch::PendingSwitch,
    },
    sys::{
        parker::Parker,
        sync::{Arc, Cell},
    },
    time::{Clock, NEVER},
    wait::{
        cancel::CancelScope,
        latch::{Latch, LatchWait},
        suspend::{Suspend, WaitReason},
        waiter::{Kind, Selected, Waiter},
    },
};
use loom::thread;
use std::ptr;

/// The part of a worker that the inbox uses.
struct Home {
    inbox: Inbox<Fiber>,
    parker: Parker,
    /// Accessed by the threads that wake the worker, and written when it ends.
    life: Cell<u32>,
}

/// The part of a fiber that the inbox uses.
#[repr(C)]
struct Fiber {
    waiter: Waiter,
    next: Cell<*const Fiber>,
    home: *const Home,
    value: Cell<u32>,
}

impl Linked for Fiber {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }
}

static KIND: Kind = Kind {
    // SAFETY: the waiter of this kind is the first field of a `Fiber`, and was selected by the caller.
    wake: |waiter| unsafe { wake(waiter.cast()) },
    keep: None,
    spins: 0,
    resumes: true,
    retries: false,
    home: None,
};

/// Wakes a fiber from another thread than its own.
///
/// # Safety
/// The fiber is suspended, and in no list.
unsafe fn wake(fiber: *const Fiber) {
    // SAFETY: the home ends after `settle`.
    unsafe {
        let home = (*fiber).home;
        Inbox::push_remote(&raw const (*home).inbox, fiber, || {
            assert_eq!((*home).life.get(), 0);
            (*home).parker.unpark();
        });
    }
}

impl Fiber {
    fn new(home: *const Home) -> Self {
        Self { waiter: Waiter::new(&KIND), next: Cell::new(ptr::null()), home, value: Cell::new(0) }
    }
}

struct Worker {
    home: Home,
    root: CancelScope,
}

// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Sync for Worker {}
// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Send for Worker {}

impl Worker {
    fn new() -> Arc<Self> {
        let home = Home { inbox: Inbox::new(), parker: Parker::new(), life: Cell::new(0) };
        Arc::new(Self { home, root: CancelScope::root(ptr::null()) })
    }

    /// Resumes `count` fibers, in the order in which it finds them.
    fn run(&self, count: usize) -> Vec<*const Fiber> {
        let ready = List::new();
        let mut order = Vec::new();
        while order.len() < count {
            self.home.inbox.collect(&ready);
            match ready.pop() {
                Some(fiber) => order.push(fiber),
                None if self.home.inbox.go_away() => {
                    self.home.parker.park();
                    self.home.inbox.come_back();
                }
                None => {}
            }
        }
        order
    }

    fn end(&self) {
        self.home.inbox.settle();
        self.home.life.set(1);
    }
}

/// A fiber that another thread may wake.
struct Lent(*const Fiber);

impl Lent {
    /// Writes the data that the fiber will read, and wakes the fiber.
    fn wake(&self, value: u32) {
        // SAFETY: the worker waits for it.
        unsafe {
            (*self.0).value.set(value);
            wake(self.0);
        }
    }
}

#[test]
fn models_inbox_two_threads_wake_two_fibers() {
    explore("inbox, two threads wake", Some(3), || {
        let worker = Worker::new();
        let fibers = [0, 1].map(|_| Fiber::new(&raw const worker.home));
        let lent = fibers.each_ref().map(|fiber| Lent(fiber));
        let others = lent.map(|lent| {
            let worker = Arc::clone(&worker);
            thread::spawn(move || {
                lent.wake(7);
                drop(worker);
            })
        });
        for fiber in worker.run(2) {
            // SAFETY: the worker's again.
            assert_eq!(unsafe { (*fiber).value.get() }, 7);
        }
        worker.end();
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A worker returns before it is woken. The wake-up may arrive later.
#[test]
fn models_inbox_worker_returns_before_wakeup() {
    explore("inbox, comes back", None, || {
        let worker = Worker::new();
        let fiber = Fiber::new(&raw const worker.home);
        let lent = Lent(&raw const fiber);
        let other = thread::spawn({
            let worker = Arc::clone(&worker);
            move || {
                lent.wake(7);
                drop(worker);
            }
        });
        let was_away = worker.home.inbox.go_away();
        assert!(was_away || !worker.home.inbox.is_empty(), "it went away from an empty inbox");
        if was_away {
            worker.home.inbox.come_back();
        }
        // SAFETY: the worker's again.
        assert_eq!(unsafe { (*worker.run(1)[0]).value.get() }, 7);
        worker.end();
        other.join().unwrap();
    });
}

#[test]
fn models_inbox_keeps_the_order() {
    explore("inbox, order", None, || {
        let worker = Worker::new();
        let fibers = [0, 1].map(|_| Fiber::new(&raw const worker.home));
        let lent = fibers.each_ref().map(|fiber| Lent(fiber));
        let other = thread::spawn(move || lent.iter().for_each(|fiber| fiber.wake(7)));
        let order = worker.run(2);
        assert!(ptr::eq(order[0], &fibers[0]) && ptr::eq(order[1], &fibers[1]));
        worker.end();
        other.join().unwrap();
    });
}

/// A thread that waits like a fiber: it continues only when its worker finds it in the inbox.
struct Suspending<'a> {
    fiber: &'a Fiber,
    worker: &'a Worker,
    thread: Thread,
}

// SAFETY: `suspend` ends when the wake-up has been taken, which follows the selection.
unsafe impl Suspend for Suspending<'_> {
    fn waiter(&self) -> *const Waiter {
        ptr::from_ref(self.fiber).cast()
    }

    fn suspend(&self, _: u64, _: WaitReason) -> Option<PendingSwitch> {
        assert!(ptr::eq(self.worker.run(1)[0], self.fiber));
        assert!(self.fiber.waiter.selected().is_some(), "woken before it was selected");
        None
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        None
    }

    fn shares_thread(&self) -> bool {
        true
    }

    fn clock(&self) -> &Clock {
        self.thread.clock()
    }

    fn set_name(&self, _: std::sync::Arc<str>) {}
}

/// A fiber waits twice and is cancelled. In between it is in the list of its worker, so a thread that wakes it links it
/// anew.
#[test]
fn models_inbox_fiber_is_cancelled() {
    explore("inbox, cancelled", None, || {
        let worker = Worker::new();
        let other = thread::spawn({
            let worker = Arc::clone(&worker);
            move || worker.root.cancel()
        });
        let fiber = Fiber::new(&raw const worker.home);
        {
            let owner = Suspending { fiber: &fiber, worker: &worker, thread: Thread::new() };
            // SAFETY: both live longer.
            let scope = unsafe { CancelScope::below(&worker.root, &fiber.waiter, false) };
            let locals = Locals::new();
            let cx = Cx::new(&owner, &scope, Deadline::NONE, &locals);
            let happened = Latch::new();
            happened.notify();
            cx.wait(&LatchWait::new(&happened), NEVER, reason());
            let ready = List::new();
            // SAFETY: in no list.
            unsafe { ready.push(&raw const fiber) };
            ready.pop();
            let never = Latch::new();
            assert_eq!(cx.wait(&LatchWait::new(&never), NEVER, reason()), Selected::Cancelled);
            assert!(worker.home.inbox.is_empty(), "a wake-up that was not taken");
        }
        worker.end();
        other.join().unwrap();
    });
}
