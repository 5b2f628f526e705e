//! Local waits: a fiber waits without atomic updates at a waitable that only its own thread uses. Other threads that
//! use the waitable nevertheless, or cancel the fiber, do not interfere with the wait. The streams are the shipped
//! ones. The worker has only the parts that the models need.

use super::{explore, parcel::Parcel, thread::reason};
use crate::{
    channel::{RecvError, spsc},
    cx::cx::{Cx, Deadline},
    fiber::locals::Locals,
    fiber::{
        kick::Kick,
        ready::{Inbox, Linked, List},
        switch::PendingSwitch,
    },
    sys::{
        parker::Parker,
        sync::{Arc, Cell},
        thread::identity,
    },
    time::{Clock, NEVER},
    wait::{
        cancel::CancelScope,
        suspend::{Suspend, WaitReason},
        waiter::{Home, Kind, Waiter},
    },
};
use loom::thread::{self, JoinHandle};
use std::{mem::offset_of, ptr};

/// The part of a worker that the models need. It outlives all other threads.
struct Worker {
    thread: *mut (),
    inbox: Inbox<Fiber>,
    kicks: Inbox<Kick>,
    ready: List<Fiber>,
    parker: Parker,
    root: CancelScope,
}

// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Sync for Worker {}
// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Send for Worker {}

#[repr(C)]
struct Fiber {
    waiter: Waiter,
    next: Cell<*const Fiber>,
    kick: Kick,
    home: *const Worker,
    locals: Locals,
    clock: Clock,
}

impl Linked for Fiber {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }
}

static KIND: Kind = Kind {
    // SAFETY: as for fibers, whose waiter is their first field.
    wake: |waiter| unsafe { wake(waiter.cast()) },
    keep: None,
    spins: 0,
    resumes: true,
    retries: false,
    home: Some(Home {
        // SAFETY: waiters of this kind are the first field of a `Fiber`, which outlives its waits.
        is_local: |waiter| unsafe { ptr::eq((*(*waiter.cast::<Fiber>()).home).thread, identity()) },
        // SAFETY: waiters of this kind are the first field of a `Fiber`, which outlives its waits.
        kick: |waiter| unsafe {
            let fiber = waiter.cast::<Fiber>();
            let home = (*fiber).home;
            Kick::send(&raw const (*fiber).kick, &raw const (*home).kicks, || (*home).parker.unpark());
        },
    }),
};

unsafe fn wake(fiber: *const Fiber) {
    // SAFETY: the fiber is suspended, and in no list.
    unsafe {
        let home = (*fiber).home;
        if ptr::eq((*home).thread, identity()) {
            (*home).ready.push(fiber);
        } else {
            Inbox::push_remote(&raw const (*home).inbox, fiber, || (*home).parker.unpark());
        }
    }
}

// SAFETY: `suspend` ends when the wake-up has been taken, which follows the selection.
unsafe impl Suspend for Fiber {
    fn waiter(&self) -> *const Waiter {
        ptr::from_ref(self).cast()
    }

    fn suspend(&self, _: u64, _: WaitReason) -> Option<PendingSwitch> {
        // SAFETY: the worker lives longer.
        let home = unsafe { &*self.home };
        loop {
            home.inbox.collect(&home.ready);
            home.answer();
            if let Some(fiber) = home.ready.pop() {
                assert!(ptr::eq(fiber, self) && self.waiter.selected().is_some(), "woken before it was selected");
                assert!(home.ready.is_empty(), "woken twice");
                return None;
            }
            if home.kicks.go_away() {
                if home.inbox.go_away() {
                    home.parker.park();
                    home.inbox.come_back();
                }
                home.kicks.come_back();
            }
        }
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        None
    }

    fn shares_thread(&self) -> bool {
        true
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn set_name(&self, _: std::sync::Arc<str>) {}
}

impl Worker {
    fn answer(&self) {
        Kick::answer_all(&self.kicks, |kick| {
            // SAFETY: of the one fiber that there is, which lives as long as this.
            unsafe { Waiter::answer(&raw const (*kick.byte_sub(offset_of!(Fiber, kick)).cast::<Fiber>()).waiter) };
        });
    }
}

/// Makes the calling thread a worker with a fiber that runs `body` in a scope. Others may cancel the scope: see
/// [`Others`].
fn on_a_worker(body: impl FnOnce(&Cx<'_>, &mut Others)) {
    let worker = Arc::new(Worker {
        thread: identity(),
        inbox: Inbox::new(),
        kicks: Inbox::new(),
        ready: List::new(),
        parker: Parker::new(),
        root: CancelScope::root(ptr::null()),
    });
    let fiber = Fiber {
        waiter: Waiter::new(&KIND),
        next: Cell::new(ptr::null()),
        kick: Kick::new(),
        home: Arc::as_ptr(&worker),
        locals: Locals::new(),
        clock: Clock::system(),
    };
    let mut others = Others { worker: Arc::clone(&worker), threads: Vec::new() };
    {
        // SAFETY: both live longer.
        let scope = unsafe { CancelScope::below(&worker.root, &fiber.waiter, false) };
        // As after the first wait: only then waits are local.
        scope.enlist();
        body(&Cx::new(&fiber, &scope, Deadline::NONE, &fiber.locals), &mut others);
    }
    // A worker ends after its fibers, and takes what has come for them.
    assert!(worker.inbox.is_empty(), "a wake-up that was not taken");
    worker.inbox.settle();
    worker.answer();
    worker.kicks.settle();
    for thread in others.threads {
        thread.join().unwrap();
    }
}

/// Other threads.
struct Others {
    worker: Arc<Worker>,
    threads: Vec<JoinHandle<()>>,
}

impl Others {
    fn spawn(&mut self, body: impl FnOnce() + 'static) {
        self.threads.push(thread::spawn(body));
    }

    /// Starts a thread that cancels the scope of the fiber.
    fn cancel(&mut self) {
        let worker = Arc::clone(&self.worker);
        self.spawn(move || worker.root.cancel());
    }
}

/// Creates a stream whose bias the calling thread owns.
fn own_stream(cx: &Cx<'_>, capacity: Option<usize>) -> (spsc::Sender<Parcel>, spsc::Receiver<Parcel>) {
    let (mut sender, mut receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
    sender.send(cx, Parcel::new(1)).unwrap();
    assert_eq!(receiver.recv(cx).map(Parcel::open), Ok(1));
    assert!(cx.checkpoint_fast(), "otherwise it would not wait locally");
    (sender, receiver)
}

/// The sender moves to another thread, which sends and drops it.
#[test]
fn models_local_wait_ends_by_send_of_moved_sender() {
    explore("local wait, a value from elsewhere", Some(2), || {
        on_a_worker(|cx, others| {
            let (mut sender, mut receiver) = own_stream(cx, None);
            others.spawn(move || sender.try_send(Parcel::new(2)).unwrap());
            assert_eq!(receiver.recv(cx).map(Parcel::open), Ok(2));
            assert_eq!(receiver.recv(cx).map(Parcel::open), Err(RecvError::Closed));
        });
    });
}

/// The receiver moves to another thread, which makes room.
#[test]
fn models_local_wait_ends_by_receive_of_moved_receiver() {
    explore("local wait, room from elsewhere", Some(2), || {
        on_a_worker(|cx, others| {
            let (mut sender, mut receiver) = own_stream(cx, Some(1));
            sender.send(cx, Parcel::new(2)).unwrap();
            others.spawn(move || {
                assert_eq!(receiver.try_recv().map(Parcel::open), Ok(2));
                drop(receiver);
            });
            // Received, or come back.
            let _ = sender.send(cx, Parcel::new(3));
        });
    });
}

#[test]
fn models_local_wait_is_cancelled_by_another_thread() {
    explore("local wait, cancelled from elsewhere", None, || {
        on_a_worker(|cx, others| {
            let (_sender, mut receiver) = own_stream(cx, None);
            others.cancel();
            assert_eq!(receiver.recv(cx).map(Parcel::open), Err(RecvError::Cancelled));
        });
    });
}

/// A value and a cancellation wake the fiber. One of them may arrive during the next wait.
#[test]
fn models_local_wait_ends_by_value_and_cancellation() {
    explore("local wait, a value and a cancellation", Some(1), || {
        on_a_worker(|cx, others| {
            let (mut sender, mut receiver) = own_stream(cx, None);
            // Refused if the receiver has gone.
            others.spawn(move || drop(sender.try_send(Parcel::new(2))));
            others.cancel();
            if let Ok(parcel) = receiver.recv(cx) {
                assert_eq!(parcel.open(), 2);
            }
            assert!(receiver.recv(cx).is_err());
        });
    });
}

/// One thread kicks without a reason, and another with a reason. A thread that finds the fiber already kicked relies on
/// that kick. The fiber waits locally each time.
#[test]
fn models_local_wait_two_threads_kick() {
    explore("local wait, two kick", Some(3), || {
        on_a_worker(|cx, others| {
            let (_sender, mut receiver) = own_stream(cx, None);
            let waiter = Lent(cx.waiter_address());
            let kicking = thread::spawn(move || waiter.kick());
            others.cancel();
            let receiving = receiver.receiving();
            while cx.checkpoint_fast() {
                assert!(cx.begin_local(&receiving));
                assert!(cx.suspend(NEVER, reason()).is_none());
                cx.end_wait(&receiving, NEVER);
            }
            // As other threads do that kick, before the fiber may end.
            kicking.join().unwrap();
        });
    });
}

struct Lent(*const Waiter);

impl Lent {
    fn kick(&self) {
        // SAFETY: the worker waits for all others before the fiber ends.
        unsafe { (KIND.home.as_ref().unwrap().kick)(self.0) };
    }
}
