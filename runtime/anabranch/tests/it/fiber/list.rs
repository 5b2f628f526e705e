//! The list of fibers and waiting threads, by which a hanging program is examined.

use crate::common::{
    self, LONG,
    fibers::{Event, in_all_pools, until},
    watchdog,
};
use anabranch::{
    Pool,
    pool::{FiberInfo, FiberState},
    sync,
};
use std::{sync::mpsc, thread};

fn threads_of(pool: &Pool) -> Vec<FiberInfo> {
    pool.fibers().into_iter().filter(FiberInfo::is_thread).collect()
}

#[test]
fn waiting_thread_is_listed_until_wait_ends() {
    in_all_pools(|pool| {
        let (gate, inner) = (Event::default(), Event::default());
        thread::scope(|s| {
            let waits = |event: &Event| {
                let event = event.clone();
                move || pool.run(|cx| (cx.yield_now(), event.wait(cx).unwrap()).1)
            };
            let guest = thread::Builder::new().name("guest".into()).spawn_scoped(s, waits(&gate)).unwrap();
            until(|| !threads_of(pool).is_empty());
            let [thread] = &threads_of(pool)[..] else { panic!("one is listed") };
            assert_eq!((thread.name(), thread.state()), (Some("guest"), FiberState::Waiting));
            assert_eq!((thread.waits_for(), thread.worker()), (Some("Trigger"), None));
            assert!(thread.location().is_some());
            assert!(thread.to_string().starts_with("thread guest: waits for Trigger at "), "{thread}");
            // One without a name, and later.
            let nameless = s.spawn(waits(&inner));
            until(|| threads_of(pool).len() == 2);
            assert!(threads_of(pool).iter().any(|thread| thread.name().is_none()));
            gate.set();
            guest.join().unwrap();
            let [thread] = &threads_of(pool)[..] else { panic!("one is left") };
            assert_eq!((thread.name(), thread.to_string().starts_with("thread unnamed: ")), (None, true));
            inner.set();
            nameless.join().unwrap();
        });
        assert!(threads_of(pool).is_empty());
    });
}

#[test]
fn waiting_pool_thread_is_listed_with_its_number() {
    watchdog(LONG, || {
        let pool = common::one_thread().thread_name(|_| "own".into()).build().unwrap();
        let (gate, waits) = (Event::default(), Event::default());
        let (gate_of_run, waits_of_run) = (gate.clone(), waits.clone());
        let handle = pool.spawn(move |_| {
            waits_of_run.set();
            // As it ought not: this blocks the worker.
            anabranch::run(|cx| gate_of_run.wait(cx).unwrap());
        });
        until(|| waits.is_set() && !threads_of(&pool).is_empty());
        let threads = threads_of(&pool);
        assert_eq!((threads[0].name(), threads[0].worker()), (Some("own"), Some(0)));
        gate.set();
        pool.run(|cx| handle.join(cx)).unwrap();
    });
}

#[test]
fn list_shows_innermost_wait_of_thread() {
    watchdog(LONG, || {
        let pool = common::one_thread().build().unwrap();
        let (outer, inner) = (Event::default(), sync::Event::new());
        let (waits_outside, ends) = (outer.clone(), mpsc::channel());
        let handle = pool.spawn(move |_| {
            anabranch::run(|cx| waits_outside.wait(cx).unwrap());
            ends.0.send(()).unwrap();
        });
        let waits_for = || threads_of(&pool).iter().find(|thread| thread.worker() == Some(0))?.waits_for();
        until(|| waits_for() == Some("Trigger"));
        thread::scope(|s| {
            let answered = s.spawn(|| pool.broadcast(|_| anabranch::run(|cx| inner.wait(cx).unwrap())));
            until(|| waits_for() == Some("Event::wait"));
            inner.set();
            answered.join().unwrap();
        });
        // It waits for what it waited for before.
        until(|| waits_for() == Some("Trigger"));
        outer.set();
        ends.1.recv().unwrap();
        pool.run(|cx| handle.join(cx)).unwrap();
        assert!(threads_of(&pool).is_empty());
    });
}
