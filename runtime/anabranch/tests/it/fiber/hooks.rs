//! Hooks: one start and one end for each fiber, suspensions and resumptions in pairs, panics in hooks.

use crate::common::{
    LONG,
    fibers::{Event, until},
    watchdog,
};
use anabranch::{
    Cx, Pool,
    pool::{FiberHooks, HookedFiber},
};
use std::{
    cell::Cell,
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

thread_local! {
    /// The fiber whose turn it is: what the hooks let follow.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[derive(Default)]
struct Counts {
    started: AtomicUsize,
    suspended: AtomicUsize,
    resumed: AtomicUsize,
    ended: AtomicUsize,
    names: Mutex<Vec<String>>,
}

/// Saves a thread-local, with a value that stays on its thread.
struct Follow(Arc<Counts>);

impl FiberHooks for Follow {
    type Saved = Rc<(u32, ThreadId)>;

    fn start(&self, fiber: &HookedFiber<'_>) {
        assert_eq!(DEPTH.get(), 0, "nothing is left of the fiber before");
        self.0.started.fetch_add(1, Ordering::SeqCst);
        if let Some(name) = fiber.name() {
            self.0.names.lock().unwrap().push(format!("{name} on {}", fiber.worker()));
        }
    }

    fn suspend(&self, _: &HookedFiber<'_>) -> Self::Saved {
        self.0.suspended.fetch_add(1, Ordering::SeqCst);
        Rc::new((DEPTH.replace(0), thread::current().id()))
    }

    fn resume(&self, _: &HookedFiber<'_>, saved: Self::Saved) {
        assert_eq!((DEPTH.get(), thread::current().id()), (0, saved.1));
        DEPTH.set(saved.0);
        self.0.resumed.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self, _: &HookedFiber<'_>) {
        DEPTH.set(0);
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

fn in_hooked_pools(check: impl Fn(&Pool, &Counts)) {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let counts = Arc::new(Counts::default());
            let failures = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&failures);
            let builder = Pool::builder().threads(threads).on_panic(move |_| _ = count.fetch_add(1, Ordering::SeqCst));
            let pool = builder.fiber_hooks(Follow(Arc::clone(&counts))).build().unwrap();
            check(&pool, &counts);
            drop(pool);
            let read = |count: &AtomicUsize| count.load(Ordering::SeqCst);
            assert!(read(&counts.started) > 0);
            assert_eq!(read(&counts.started), read(&counts.ended));
            assert_eq!(read(&counts.suspended), read(&counts.resumed));
            assert_eq!(read(&failures), 0, "no hook panicked");
        }
    });
}

/// Waits in every way, with the fiber's own value in the thread-local.
fn wander(cx: &Cx<'_>, depth: u32, gate: &Event) {
    DEPTH.set(depth);
    for round in 0..20 {
        match round % 4 {
            0 => cx.yield_now(),
            1 => cx.sleep(Duration::from_micros(20)).unwrap(),
            2 => gate.wait(cx).unwrap(),
            _ => {
                // The first half is a part of this fiber.
                let (a, ()) = cx.join(
                    |cx| {
                        cx.yield_now();
                        DEPTH.get()
                    },
                    |cx| cx.yield_now(),
                );
                assert_eq!(a, depth);
            }
        }
        assert_eq!(DEPTH.get(), depth);
    }
}

#[test]
fn values_follow_their_fiber() {
    in_hooked_pools(|pool, counts| {
        let gate = Event::default();
        let fibers: Vec<_> = (1..=50)
            .map(|depth| {
                let gate = gate.clone();
                pool.spawn(move |cx| wander(cx, depth, &gate))
            })
            .collect();
        until(|| counts.started.load(Ordering::SeqCst) >= 50);
        gate.set();
        fibers.into_iter().for_each(|fiber| pool.run(|cx| fiber.join(cx)).unwrap());
        assert!(counts.suspended.load(Ordering::SeqCst) >= 50);
    });
}

#[test]
fn hooks_see_the_name_and_the_worker() {
    in_hooked_pools(|pool, counts| {
        let named = pool.spawn_named("acceptor", |cx| cx.yield_now());
        pool.run(|cx| named.join(cx)).unwrap();
        let names = counts.names.lock().unwrap();
        assert!(names.len() == 1 && names[0].starts_with("acceptor on "), "{names:?}");
    });
}

#[test]
fn panicked_and_cancelled_fibers_end_once() {
    in_hooked_pools(|pool, _| {
        let panics = pool.spawn(|cx| {
            DEPTH.set(9);
            cx.yield_now();
            panic!("on purpose");
        });
        assert!(pool.run(|cx| panics.join(cx)).is_err());
        let cancelled = pool.spawn(|cx| cx.sleep(Duration::from_secs(1 << 20)));
        cancelled.cancel();
        assert!(pool.run(|cx| cancelled.join(cx)).unwrap().is_err());
        // The rest ends with the pool.
        (0..20).for_each(|_| drop(pool.spawn(|cx| cx.sleep(Duration::from_secs(1 << 20)))));
    });
}

/// Panics in each hook.
struct Broken;

impl FiberHooks for Broken {
    type Saved = ();

    fn start(&self, _: &HookedFiber<'_>) {
        std::panic::resume_unwind(Box::new("start"));
    }

    fn suspend(&self, _: &HookedFiber<'_>) {
        std::panic::resume_unwind(Box::new("suspend"));
    }

    fn resume(&self, _: &HookedFiber<'_>, (): ()) {
        std::panic::resume_unwind(Box::new("resume"));
    }

    fn end(&self, _: &HookedFiber<'_>) {
        std::panic::resume_unwind(Box::new("end"));
    }
}

#[test]
fn panics_in_hooks_go_to_the_handler() {
    watchdog(LONG, || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&seen);
        let on_panic = move |panic: Box<dyn std::any::Any + Send>| {
            list.lock().unwrap().push(*panic.downcast::<&str>().unwrap());
        };
        let pool = Pool::builder().threads(1).on_panic(on_panic).fiber_hooks(Broken).build().unwrap();
        let fiber = pool.spawn(|cx| {
            cx.yield_now();
            5
        });
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), 5);
        drop(pool);
        assert_eq!(*seen.lock().unwrap(), ["start", "suspend", "end"]);
    });
}

/// Calls into the pool from a hook, where the fiber is half way between two stacks.
struct Busy(AtomicUsize);

impl FiberHooks for Busy {
    type Saved = ();

    fn suspend(&self, _: &HookedFiber<'_>) {
        self.work();
    }

    fn resume(&self, _: &HookedFiber<'_>, (): ()) {
        self.work();
    }
}

impl Busy {
    fn work(&self) {
        let (a, b) = anabranch::join(|| 1, || 2);
        if self.0.fetch_add(a + b, Ordering::Relaxed) < 30 {
            drop(anabranch::spawn(|_| ()));
        }
        // It parks the thread, which is slow and no more.
        anabranch::run(|cx| assert!(cx.check().is_ok()));
    }
}

#[test]
fn hooks_may_fork_and_spawn() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).fiber_hooks(Busy(AtomicUsize::new(0))).build().unwrap();
        let fibers: Vec<_> = (0..20u64)
            .map(|n| {
                pool.spawn(move |cx| {
                    cx.join(|cx| cx.yield_now(), |cx| cx.yield_now());
                    cx.yield_now();
                    n
                })
            })
            .collect();
        let sum: u64 = fibers.into_iter().map(|fiber| pool.run(|cx| fiber.join(cx)).unwrap()).sum();
        assert_eq!(sum, 190);
    });
}
