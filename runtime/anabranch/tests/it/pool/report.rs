//! Reports of what fibers and threads wait for, and the cycles among them.

use crate::common::{
    self, LONG,
    fibers::{Event, until, until_waiting},
    watchdog,
};
use anabranch::{
    Cx, JoinHandle, Operation, Pool, channel,
    pool::{FiberState, Report, ThreadState},
    sync,
};
use std::{
    panic::Location,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

/// A pool of two workers, and the deadlocks that it reports.
fn observed() -> (Pool, mpsc::Receiver<Report>) {
    let (sender, reports) = mpsc::channel();
    let pool = Pool::builder().threads(2).on_deadlock(move |report| _ = sender.send(report.clone()));
    (pool.build().unwrap(), reports)
}

/// Spawns fibers in a ring, each of which calls `first`, and, when all have, `second` for the lock of the next.
fn ring<L: Send + Sync + 'static>(
    pool: &Pool,
    locks: Vec<L>,
    wait: impl Fn(&Cx<'_>, &L, &dyn Fn(), &L) + Clone + Send + Sync + 'static,
) -> Vec<JoinHandle<()>> {
    let count = locks.len();
    let (locks, all) = (Arc::new(locks), Arc::new(sync::Barrier::new(count)));
    let spawn = |number: usize| {
        let (locks, all, wait) = (Arc::clone(&locks), Arc::clone(&all), wait.clone());
        pool.spawn_named(&format!("member {number}"), move |cx| {
            let meet = || all.wait(cx).map(|_| ()).unwrap_or_default();
            wait(cx, &locks[number], &meet, &locks[(number + 1) % count]);
        })
    };
    (0..count).map(spawn).collect()
}

/// Spawns two fibers, each of which holds a mutex, and calls `second` for that of the other one.
fn pair(
    pool: &Pool,
    second: impl Fn(&Cx<'_>, &sync::Mutex<()>) + Clone + Send + Sync + 'static,
) -> Vec<JoinHandle<()>> {
    let locks = vec![sync::Mutex::new(()), sync::Mutex::new(())];
    ring(pool, locks, move |cx, own, meet, next| {
        let _own = own.lock(cx).unwrap();
        meet();
        second(cx, next);
    })
}

/// Ends fibers that wait for each other.
fn end(pool: &Pool, fibers: Vec<JoinHandle<()>>) {
    fibers.iter().for_each(JoinHandle::cancel);
    pool.run(|cx| fibers.into_iter().for_each(|fiber| _ = fiber.join(cx)));
}

#[test]
fn cycle_of_two_mutexes_is_reported_with_names_and_places() {
    watchdog(LONG, || {
        let (pool, reports) = observed();
        let fibers = pair(&pool, |cx, lock| drop(lock.lock(cx)));
        let report = reports.recv().unwrap();
        let [cycle] = &report.cycles().collect::<Vec<_>>()[..] else { panic!("{report}") };
        assert_eq!(cycle.len(), 2);
        for (fiber, other) in [(cycle[0], cycle[1]), (cycle[1], cycle[0])] {
            assert_eq!((fiber.waits_for(), fiber.state()), (Some("Mutex::lock"), FiberState::Waiting));
            assert!(fiber.location().unwrap().file().ends_with("report.rs"));
            assert!(fiber.spawned_at().unwrap().file().ends_with("report.rs"));
            assert!(fiber.spawned_at().unwrap().line() < fiber.location().unwrap().line());
            let holder = fiber.lock_holder().unwrap();
            assert_eq!((holder.name(), holder.is_thread()), (other.name(), false));
            assert_eq!(holder.spawned_at(), other.spawned_at());
        }
        assert!(!report.is_deadlock(), "the harness has a thread");
        let text = report.to_string();
        assert!(text.contains("cycle of 2:") && text.contains("locked by fiber `member "), "{text}");
        end(&pool, fibers);
        assert_eq!(pool.report().cycles().len(), 0);
        assert!(reports.try_recv().is_err(), "one report for one state");
    });
}

#[test]
fn cycle_of_writers_and_readers_is_reported() {
    watchdog(LONG, || {
        let (pool, reports) = observed();
        let fibers = ring(&pool, (0..5).map(|_| sync::RwLock::new(())).collect(), |cx, own, meet, next| {
            let _own = own.write(cx).unwrap();
            meet();
            drop(next.read(cx));
        });
        let report = reports.recv().unwrap();
        assert_eq!(report.cycles().map(|cycle| cycle.len()).collect::<Vec<_>>(), [5]);
        assert!(report.fibers().iter().all(|fiber| fiber.waits_for() == Some("RwLock::read")));
        end(&pool, fibers);
    });
}

#[test]
fn readers_are_not_taken_for_earlier_writer() {
    watchdog(LONG, || {
        let (pool, lock) = (common::pool(1), Arc::new(sync::RwLock::new(())));
        let (gate, other) = (Event::default(), Arc::clone(&lock));
        let held = gate.clone();
        let reader = pool.spawn(move |cx| {
            drop(other.write(cx).unwrap());
            let _reads = other.read(cx).unwrap();
            held.wait(cx).unwrap();
        });
        until_waiting(&pool, 1);
        let writer = pool.spawn_named("writer", move |cx| drop(lock.write(cx)));
        until_waiting(&pool, 2);
        let report = pool.report();
        let writes = report.fibers().iter().find(|fiber| fiber.name() == Some("writer")).unwrap();
        assert_eq!(writes.waits_for(), Some("RwLock::write"));
        assert!(writes.lock_holder().is_none(), "{report}");
        gate.set();
        pool.run(|cx| (reader.join(cx).unwrap(), writer.join(cx).unwrap()));
    });
}

#[test]
fn cycle_with_deadline_is_not_reported() {
    watchdog(LONG, || {
        let (pool, reports) = observed();
        let fibers = pair(&pool, |cx, lock| drop(lock.locking().timeout(cx, Duration::from_millis(100))));
        pool.run(|cx| fibers.into_iter().for_each(|fiber| fiber.join(cx).unwrap()));
        drop(pool);
        assert!(reports.try_recv().is_err());
    });
}

#[test]
fn holder_is_last_one_that_has_locked() {
    watchdog(LONG, || {
        let pool = common::pool(1);
        let lock = Arc::new(sync::Mutex::new(()));
        let holder_of = |hold: fn(&Cx<'_>, &sync::Mutex<()>, &Event)| {
            let (gate, own, other) = (Event::default(), Arc::clone(&lock), Arc::clone(&lock));
            let held = gate.clone();
            let holds = pool.spawn_named("holder", move |cx| hold(cx, &own, &held));
            until_waiting(&pool, 1);
            let waits = pool.spawn_named("waiter", move |cx| drop(other.lock(cx)));
            until_waiting(&pool, 2);
            let fibers = pool.fibers();
            let waiter = fibers.iter().find(|fiber| fiber.name() == Some("waiter")).unwrap();
            let holder = waiter.lock_holder().map(|holder| holder.name().unwrap().to_owned());
            gate.set();
            pool.run(|cx| (holds.join(cx).unwrap(), waits.join(cx).unwrap()));
            holder
        };
        let by_lock = |cx: &Cx<'_>, lock: &sync::Mutex<()>, gate: &Event| {
            let _guard = lock.lock(cx).unwrap();
            gate.wait(cx).unwrap();
        };
        let by_try = |cx: &Cx<'_>, lock: &sync::Mutex<()>, gate: &Event| {
            let _guard = lock.try_lock().unwrap();
            gate.wait(cx).unwrap();
        };
        let by_async = |cx: &Cx<'_>, lock: &sync::Mutex<()>, gate: &Event| {
            let _guard = cx.block_on(lock.locking()).unwrap();
            gate.wait(cx).unwrap();
        };
        let by_timeout = |cx: &Cx<'_>, lock: &sync::Mutex<()>, gate: &Event| {
            let _guard = lock.locking().timeout(cx, Duration::from_secs(3600)).unwrap();
            gate.wait(cx).unwrap();
        };
        for _ in 0..2 {
            assert_eq!(holder_of(by_lock).as_deref(), Some("holder"));
            // Unknown, and not the one before.
            assert_eq!(holder_of(by_try), None);
            assert_eq!(holder_of(by_timeout).as_deref(), Some("holder"));
            assert_eq!(holder_of(by_async), None);
        }
    });
}

#[test]
fn thread_that_waits_is_named_as_holder() {
    watchdog(LONG, || {
        let (pool, lock, gate) = (common::pool(1), Arc::new(sync::Mutex::new(())), Event::default());
        thread::scope(|s| {
            let holds = || {
                pool.run(|cx| {
                    let _guard = lock.lock(cx).unwrap();
                    gate.wait(cx).unwrap();
                });
            };
            thread::Builder::new().name("keeper".into()).spawn_scoped(s, holds).unwrap();
            until(|| pool.fibers().len() == 1);
            let other = Arc::clone(&lock);
            let waits = pool.spawn_named("waiter", move |cx| drop(other.lock(cx)));
            until(|| pool.fibers().iter().any(|fiber| fiber.lock_holder().is_some()));
            let report = pool.report();
            let waiter = report.fibers().iter().find(|fiber| fiber.name() == Some("waiter")).unwrap();
            let holder = waiter.lock_holder().unwrap();
            assert_eq!((holder.name(), holder.is_thread(), holder.spawned_at()), (Some("keeper"), true, None));
            assert!(report.threads().iter().any(|thread| thread.is_guest() && thread.state() == ThreadState::Waiting));
            gate.set();
            pool.run(|cx| waits.join(cx)).unwrap();
        });
    });
}

#[test]
fn report_of_ten_thousand_fibers_is_short() {
    watchdog(LONG, || {
        let pool = common::pool(2);
        let gate = Event::default();
        let fibers: Vec<_> = (0..10_000)
            .map(|_| {
                let gate = gate.clone();
                pool.spawn(move |cx| gate.wait(cx).unwrap())
            })
            .collect();
        let (_sender, receiver) = channel::unbounded::<u8>();
        let odd = pool.spawn_named("odd", move |cx| receiver.recv(cx));
        until_waiting(&pool, 10_001);
        let report = pool.report();
        assert_eq!((report.fibers().len(), report.waiting()), (10_001, 10_001));
        let text = report.to_string();
        assert!(text.contains("10000 fibers: waits for Trigger at "), "{text}");
        assert!(text.contains("fiber `odd`: waits for Receiver::recv at "), "{text}");
        assert!(text.lines().count() < 10, "{text}");
        gate.set();
        odd.cancel();
        pool.run(|cx| fibers.into_iter().for_each(|fiber| fiber.join(cx).unwrap()));
    });
}

#[test]
fn time_of_wait_grows_and_begins_anew() {
    watchdog(LONG, || {
        let pool = common::one_thread().build().unwrap();
        let (sender, receiver) = channel::unbounded::<u8>();
        let fiber = pool.spawn(move |cx| while receiver.recv(cx).is_ok() {});
        let elapsed = || pool.fibers().first().and_then(anabranch::pool::FiberInfo::elapsed);
        until(|| elapsed().is_some_and(|time| time >= Duration::from_millis(50)));
        sender.try_send(1).unwrap();
        until(|| elapsed().is_some_and(|time| time < Duration::from_millis(50)));
        drop(sender);
        pool.run(|cx| fiber.join(cx)).unwrap();
    });
}

#[test]
fn every_way_to_spawn_records_its_place() {
    /// Checks that the only fiber was spawned `distance` lines before the call.
    #[track_caller]
    fn check(pool: &Pool, distance: u32) {
        until_waiting(pool, 1);
        let fiber = pool.fibers().into_iter().find(|fiber| !fiber.is_thread()).unwrap();
        let (here, place) = (Location::caller(), fiber.spawned_at().unwrap());
        assert_eq!((place.file(), place.line()), (here.file(), here.line() - distance));
    }

    watchdog(LONG, || {
        let pool = common::pool(1);
        let gate = Event::default();
        let wait = |gate: &Event| {
            let gate = gate.clone();
            move |cx: &Cx<'_>| gate.wait(cx).unwrap_or_default()
        };
        let forget = |fiber: JoinHandle<()>| {
            fiber.cancel();
            pool.run(|cx| _ = fiber.join(cx));
        };
        let fiber = pool.spawn(wait(&gate));
        check(&pool, 1);
        forget(fiber);
        let fiber = pool.spawn_named("named", wait(&gate));
        check(&pool, 1);
        forget(fiber);
        let fiber = pool.install(|| anabranch::spawn(wait(&gate)));
        check(&pool, 1);
        forget(fiber);
        pool.run(|cx| {
            cx.scope(|s| {
                s.spawn(wait(&gate));
                check(&pool, 1);
                s.cancel();
            });
            cx.scope(|s| {
                s.spawner().spawn(wait(&gate));
                check(&pool, 1);
                s.cancel();
            });
            cx.scope(|s| {
                let mut set = s.join_set();
                set.spawn(wait(&gate));
                check(&pool, 1);
                s.cancel();
            });
        });
        gate.set();
    });
}

#[test]
fn unstarted_fibers_have_names_and_places() {
    watchdog(LONG, || {
        let pool = common::one_thread().build().unwrap();
        let (begun, blocks) = (mpsc::channel::<()>(), mpsc::channel::<()>());
        let busy = pool.spawn(move |_| {
            begun.0.send(()).unwrap();
            let _ = blocks.1.recv();
        });
        begun.1.recv().unwrap();
        let late = pool.spawn_named("late", |_| ());
        let report = pool.report();
        let fiber = report.fibers().iter().find(|fiber| fiber.name() == Some("late")).unwrap();
        assert_eq!((fiber.state(), fiber.elapsed(), fiber.worker()), (FiberState::Unstarted, None, None));
        assert!(fiber.spawned_at().unwrap().file().ends_with("report.rs"));
        drop(blocks.0);
        pool.run(|cx| (busy.join(cx).unwrap(), late.join(cx).unwrap()));
    });
}

#[test]
fn report_of_all_pools_lists_live_ones() {
    watchdog(LONG, || {
        let pools = [common::pool(1), common::pool(1)];
        let gate = Event::default();
        let fibers = pools.each_ref().map(|pool| {
            let gate = gate.clone();
            pool.spawn_named(&format!("of {:?}", pool.id()), move |cx| gate.wait(cx).unwrap())
        });
        pools.iter().for_each(|pool| until_waiting(pool, 1));
        let report = anabranch::fiber::report_all();
        for pool in &pools {
            let name = format!("of {:?}", pool.id());
            let fiber = report.fibers().iter().find(|fiber| fiber.name() == Some(&*name)).unwrap();
            assert_eq!(fiber.pool(), pool.id());
        }
        gate.set();
        let ids = pools.each_ref().map(Pool::id);
        pools[0].run(|cx| fibers.map(|fiber| fiber.join(cx).unwrap()));
        drop(pools);
        let report = anabranch::fiber::report_all();
        assert!(!report.threads().iter().any(|thread| ids.contains(&thread.pool())));
    });
}
