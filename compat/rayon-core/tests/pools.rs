//! Pools that a program builds: threads, order, and their end.

use rayon_core::{ThreadBuilder, ThreadPoolBuilder, Yield, current_thread_index, yield_local, yield_now};
use std::{
    collections::HashSet,
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

const ROUNDS: usize = if cfg!(miri) { 3 } else { 100 };

/// No other pool has as many threads.
const MANY: usize = if cfg!(miri) { 3 } else { 7 };

#[test]
fn roots_run_on_the_threads_of_their_pool() {
    let pool = ThreadPoolBuilder::new().num_threads(2).thread_name(|i| format!("own-{i}")).build().unwrap();
    let caller = thread::current().id();
    let name = || thread::current().name().unwrap_or_default().to_owned();
    for _ in 0..ROUNDS {
        assert!(pool.install(name).starts_with("own-"));
        assert!(pool.join(name, || ()).0.starts_with("own-"));
        assert!(pool.scope(|_| name()).starts_with("own-"));
    }
    assert_eq!(pool.in_place_scope(|_| thread::current().id()), caller);
    assert_eq!(pool.in_place_scope_fifo(|_| thread::current().id()), caller);
}

#[test]
fn indices_are_unique_among_the_threads_that_work() {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let barrier = Barrier::new(4);
    let indices = Mutex::new(HashSet::new());
    pool.scope(|s| {
        for _ in 0..4 {
            s.spawn(|_| {
                let index = current_thread_index().unwrap();
                assert!(indices.lock().unwrap().insert(index));
                barrier.wait();
                assert_eq!(current_thread_index(), Some(index));
                assert_eq!(pool.current_thread_index(), Some(index));
            });
        }
    });
    assert_eq!(indices.into_inner().unwrap(), HashSet::from([0, 1, 2, 3]));
    assert_eq!(pool.current_thread_index(), None);
    let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(other.install(|| (current_thread_index(), pool.current_thread_index())), (Some(0), None));
}

#[test]
fn broadcasts_agree_with_the_indices_of_their_threads() {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for _ in 0..ROUNDS {
        let pairs = pool.broadcast(|context| (context.index(), current_thread_index()));
        assert_eq!(pairs, [0, 1, 2, 3].map(|i| (i, Some(i))));
    }
}

#[test]
fn dropping_a_pool_does_not_wait_for_its_jobs() {
    let (go, may_go) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for i in 0..3 {
        let sender = sender.clone();
        pool.spawn_fifo(move || sender.send(i).unwrap());
    }
    pool.spawn(move || {
        may_go.recv().unwrap();
        // The pool of the job is the current one, although it was dropped.
        rayon_core::spawn(move || sender.send(3).unwrap());
    });
    drop(pool);
    go.send(()).unwrap();
    let mut received: Vec<_> = receiver.iter().collect();
    received.sort();
    assert_eq!(received, [0, 1, 2, 3]);
}

#[test]
fn fifo_jobs_of_two_pools_do_not_mix() {
    let pools = [0, 1].map(|p| ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| format!("{p}")).build());
    let pools = pools.map(Result::unwrap);
    let (sender, receiver) = mpsc::channel();
    pools[0].install(|| {
        for i in 0..10 {
            let sender = sender.clone();
            pools[i % 2].spawn_fifo(move || sender.send((thread::current().name().unwrap().to_owned(), i)).unwrap());
        }
    });
    drop(sender);
    let received: Vec<_> = receiver.iter().collect();
    for p in 0..2 {
        let of_pool: Vec<_> = received.iter().filter(|(name, _)| *name == p.to_string()).map(|(_, i)| *i).collect();
        assert_eq!(of_pool, (0..10).filter(|i| i % 2 == p).collect::<Vec<_>>());
    }
}

/// A guest can be in one pool after the other.
#[test]
fn fifo_jobs_of_two_pools_that_one_thread_spawns_run_in_their_pools() {
    let pools = [1, 1].map(|threads| anabranch::Pool::builder().threads(threads).build().unwrap());
    let (sender, receiver) = mpsc::channel();
    let (open, is_open) = mpsc::channel::<()>();
    let has_begun = Arc::new(Barrier::new(2));
    pools[0].execute({
        let has_begun = has_begun.clone();
        move || {
            has_begun.wait();
            is_open.recv().unwrap();
        }
    });
    // From here on the thread of the first pool is blocked.
    has_begun.wait();
    for pool in &pools {
        let sender = sender.clone();
        let id = pool.id();
        let job = move || sender.send(anabranch::pool::current_pool_id() == Some(id)).unwrap();
        pool.install(|| rayon_core::spawn_fifo(job));
    }
    let first = receiver.recv();
    open.send(()).unwrap();
    assert_eq!((first, receiver.recv()), (Ok(true), Ok(true)));
}

#[test]
fn jobs_of_a_fifo_scope_run_in_order_across_nested_spawns() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let order = Mutex::new(Vec::new());
    pool.scope_fifo(|s| {
        for i in 0..3 {
            let order = &order;
            s.spawn_fifo(move |s| {
                order.lock().unwrap().push(i);
                s.spawn_fifo(move |_| order.lock().unwrap().push(i + 10));
            });
        }
    });
    assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 10, 11, 12]);
}

#[test]
fn a_scope_takes_jobs_from_other_pools_and_threads() {
    let pools = [0, 1].map(|_| ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let count = AtomicUsize::new(0);
    let job = |_: &rayon_core::Scope<'_>| _ = count.fetch_add(1, Ordering::Relaxed);
    pools[0].scope(|s| {
        pools[1].install(|| s.spawn(job));
        thread::scope(|threads| _ = threads.spawn(|| s.spawn(job)));
        s.spawn(job);
    });
    assert_eq!(count.into_inner(), 3);
}

/// Miri would take minutes to make as many workers.
#[test]
#[cfg(not(miri))]
fn more_threads_than_the_maximum_are_reduced_to_it() {
    let mut count = 0;
    let take = |thread: ThreadBuilder| {
        assert_eq!(thread.index(), count);
        count += 1;
        drop(thread);
        Ok(())
    };
    let pool = ThreadPoolBuilder::new().num_threads(usize::MAX).spawn_handler(take).build().unwrap();
    assert_eq!(pool.current_num_threads(), rayon_core::max_num_threads());
    drop(pool);
    assert_eq!((count, count), (rayon_core::max_num_threads(), anabranch::Pool::MAX_THREADS));
}

#[test]
fn threads_of_a_spawn_handler_may_start_after_the_pool_was_built() {
    let mut threads = Vec::new();
    let pool = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|thread| {
        threads.push(thread);
        Ok(())
    });
    let pool = pool.build().unwrap();
    let (sender, receiver) = mpsc::channel();
    pool.spawn(move || sender.send(1).unwrap());
    assert!(receiver.try_recv().is_err());
    thread::scope(|s| {
        for thread in threads {
            s.spawn(|| thread.run());
        }
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(pool.install(|| 2), 2);
        // The threads return from `run` when the pool ends.
        drop(pool);
    });
}

#[test]
fn scoped_threads_end_before_the_call_returns() {
    let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrapper = |thread: ThreadBuilder| {
        started.fetch_add(1, Ordering::Relaxed);
        thread.run();
        ended.fetch_add(1, Ordering::Relaxed);
    };
    let sum = ThreadPoolBuilder::new().num_threads(3).build_scoped(wrapper, |pool| pool.join(|| 1, || 2)).unwrap();
    assert_eq!((sum, started.into_inner(), ended.into_inner()), ((1, 2), 3, 3));
}

#[test]
fn the_current_thread_works_in_its_pool_when_it_yields() {
    // On a thread of its own, because the thread stays in the pool.
    let test = || {
        assert_eq!(yield_now(), None);
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
        assert_eq!((current_thread_index(), pool.current_num_threads()), (Some(0), 1));
        assert_eq!((yield_now(), yield_local()), (Some(Yield::Idle), Some(Yield::Idle)));
        let (sender, receiver) = mpsc::channel();
        pool.spawn(move || sender.send(thread::current().id()).unwrap());
        assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(true));
        assert!(receiver.try_recv().is_err());
        assert_eq!(pool.yield_local(), Some(Yield::Executed));
        assert_eq!(receiver.recv(), Ok(thread::current().id()));
        assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(false));
        assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
        assert!(ThreadPoolBuilder::new().use_current_thread().build().is_err());
        let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!((other.yield_now(), other.yield_local()), (None, None));
        assert_eq!(other.current_thread_has_pending_tasks(), None);
    };
    thread::spawn(test).join().unwrap();
}

#[test]
fn a_start_handler_may_wait_for_the_thread_that_builds_the_pool() {
    // Not a barrier: a spare thread calls the handler too.
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let of_handler = gate.clone();
    let wait = move |_| {
        let (is_open, opens) = &*of_handler;
        drop(opens.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
    };
    let pool = ThreadPoolBuilder::new().num_threads(2).start_handler(wait).build().unwrap();
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    assert_eq!(pool.install(|| 1), 1);
}

#[test]
fn free_functions_use_the_pool_of_the_caller() {
    let pool = ThreadPoolBuilder::new().num_threads(MANY).build().unwrap();
    let (sender, receiver) = mpsc::channel();
    let count = move || sender.send(rayon_core::current_num_threads()).unwrap();
    pool.install(|| {
        assert_eq!(rayon_core::current_num_threads(), MANY);
        assert_eq!(rayon_core::broadcast(|context| context.num_threads()), [MANY; MANY]);
        assert_eq!(rayon_core::scope(|_| rayon_core::current_num_threads()), MANY);
        assert_eq!(rayon_core::scope_fifo(|_| rayon_core::current_num_threads()), MANY);
        assert_eq!(rayon_core::in_place_scope(|_| rayon_core::current_num_threads()), MANY);
        rayon_core::spawn(count.clone());
        rayon_core::spawn_fifo(count.clone());
        let part = count.clone();
        rayon_core::spawn_broadcast(move |_| part());
        rayon_core::scope(|s| {
            let part = &count;
            s.spawn(|_| part());
            s.spawn_broadcast(|_, context| part_of(context.num_threads(), part));
        });
        rayon_core::in_place_scope_fifo(|s| {
            let part = &count;
            s.spawn_fifo(|_| part());
            s.spawn_broadcast(|_, context| part_of(context.num_threads(), part));
        });
    });
    drop(count);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [MANY; 2 + MANY + 2 * (1 + MANY)]);
}

fn part_of(num_threads: usize, part: &dyn Fn()) {
    assert_eq!(num_threads, MANY);
    part();
}

#[test]
fn methods_of_a_pool_use_that_pool() {
    let pool = ThreadPoolBuilder::new().num_threads(MANY).build().unwrap();
    let (sender, receiver) = mpsc::channel();
    let count = move || sender.send(rayon_core::current_num_threads()).unwrap();
    let uses = || {
        let count = &count;
        pool.spawn(count.clone());
        pool.spawn_fifo(count.clone());
        let part = count.clone();
        pool.spawn_broadcast(move |_| part());
        pool.scope(|s| s.spawn(|_| count()));
        pool.scope_fifo(|s| s.spawn_fifo(|_| count()));
        pool.in_place_scope(|s| s.spawn(|_| count()));
        pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| count()));
        pool.join(count, count);
    };
    uses();
    // Also from a thread of another pool.
    ThreadPoolBuilder::new().num_threads(1).build_scoped(|thread| thread.run(), |other| other.install(uses)).unwrap();
    drop(count);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [MANY; 2 * (2 + MANY + 4 + 2)]);
}

#[test]
fn a_thread_runs_its_newest_job_first() {
    let (sender, receiver) = mpsc::channel();
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for i in 0..3 {
            let sender = sender.clone();
            rayon_core::spawn(move || sender.send(i).unwrap());
        }
        for i in 3..6 {
            let sender = sender.clone();
            rayon_core::spawn_fifo(move || sender.send(i).unwrap());
        }
    });
    pool.scope(|s| {
        for i in 6..9 {
            let sender = &sender;
            s.spawn(move |_| sender.send(i).unwrap());
        }
    });
    drop(sender);
    let (received, of_scope): (Vec<_>, Vec<_>) = receiver.iter().partition(|i| *i < 6);
    assert_eq!((received, of_scope), (vec![3, 4, 5, 2, 1, 0], vec![8, 7, 6]));
}

#[test]
fn only_a_half_that_another_thread_runs_has_migrated() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let is_stolen = Barrier::new(2);
    let stolen = pool.install(|| {
        rayon_core::join_context(
            |a| {
                is_stolen.wait();
                a.migrated()
            },
            |b| {
                is_stolen.wait();
                b.migrated()
            },
        )
    });
    assert_eq!(stolen, (false, true));
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| rayon_core::join_context(|a| a.migrated(), |b| b.migrated())), (false, false));
}

/// The thread of this test and one more, without spares.
#[test]
fn only_yield_now_takes_work_of_another_thread() {
    let test = || {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().spawn_handler(|thread| {
            thread::spawn(|| thread.run());
            Ok(())
        });
        let pool = pool.build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let has_run = Arc::new(AtomicUsize::new(0));
        let count = has_run.clone();
        pool.spawn(move || {
            rayon_core::spawn({
                let count = count.clone();
                move || count.store(1, Ordering::Release)
            });
            sender.send(()).unwrap();
            while count.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
        });
        receiver.recv().unwrap();
        for _ in 0..ROUNDS {
            assert_eq!((yield_local(), pool.yield_local()), (Some(Yield::Idle), Some(Yield::Idle)));
        }
        assert_eq!(has_run.load(Ordering::Acquire), 0);
        assert_eq!(pool.yield_now(), Some(Yield::Executed));
        assert_eq!(has_run.load(Ordering::Acquire), 1);
    };
    thread::spawn(test).join().unwrap();
}
