//! Workers that block: how many items are open meanwhile, and at inconvenient times: before there is a heartbeat
//! worker, after a broadcast, without spares.

use crate::common::{self, LONG, at_rest, pool, rerun, watchdog};
use anabranch::{Pool, join, prelude::*, scope};
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// Twelve threads are blocked at once, each for the next.
pub fn chain_of_receivers() {
    fn level(n: usize) {
        if n > 0 {
            let (sender, receiver) = mpsc::channel();
            join(
                move || receiver.recv().unwrap(),
                move || {
                    level(n - 1);
                    sender.send(()).unwrap();
                },
            );
        }
    }
    level(11);
}

fn receive_before_sending() {
    let (sender, receiver) = mpsc::channel();
    join(move || receiver.recv().unwrap(), move || sender.send(()).unwrap());
}

/// The threads of a new pool all search, and there is no heartbeat worker. If each finds work before it checks for a
/// free slot, and blocks in that work, no thread would search any more.
#[test]
fn workers_may_block_in_first_work_of_new_pool() {
    watchdog(LONG, || {
        for i in 0..200 {
            let pool = pool(1 + i % 2);
            pool.install(|| scope(|s| s.spawn(chain_of_receivers)));
        }
    });
}

/// After a broadcast all threads search too, the one that was the heartbeat worker among them.
#[test]
fn workers_may_block_in_first_work_after_broadcast() {
    watchdog(LONG, || {
        for i in 0..200 {
            let pool = pool(1 + i % 2);
            // Until there is a heartbeat worker, and the others sleep.
            thread::sleep(Duration::from_millis(3));
            pool.broadcast(|_| ());
            pool.install(|| scope(|s| s.spawn(chain_of_receivers)));
        }
    });
}

/// A pool of some threads is a limit for the items that are open at a time: each may have a file or a connection. A
/// thread whose wait in a join ends goes on without waiting for a slot, so there may be a few more for a moment.
#[test]
fn items_that_sleep_are_open_on_about_as_many_threads_as_the_pool_has() {
    watchdog(LONG, || {
        for threads in [1, 2, 4] {
            let pool = pool(threads);
            let (open, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let item = |millis: u64| {
                most.fetch_max(open.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(millis));
                open.fetch_sub(1, Ordering::Relaxed);
            };
            let look = |what: &str| {
                let most = most.swap(0, Ordering::Relaxed);
                assert!(most <= 2 * threads, "{what}: {most} items were open with {threads} threads");
                most
            };
            pool.call(|| (0..100u32).into_par_iter().for_each(|_| item(1)));
            look("short items");
            pool.call(|| (0..40u32).into_par_iter().for_each(|_| item(10)));
            look("long items");
            pool.call(|| scope(|s| (0..40).for_each(|_| s.spawn(|| item(10)))));
            look("tasks");
            let caller = || pool.install(|| item(150));
            thread::scope(|s| (0..3 * threads).for_each(|_| _ = s.spawn(caller)));
            let most = look("callers");
            assert!(most >= threads.min(2), "callers do not work at the same time");
            let items = || (0..20u32).into_par_iter().for_each(|_| item(10));
            pool.run(|cx| cx.blocking(items).unwrap());
            look("a blocking call");
            pool.run(|cx| cx.join(|_| items(), |_| ()));
            look("a fiber");
        }
    });
}

/// Two tasks sleep until a third one has begun.
#[cfg(target_os = "linux")]
#[test]
fn another_task_begins_after_all_threads_have_slept_for_a_second() {
    watchdog(LONG, || {
        let (pool, begun) = (pool(2), AtomicUsize::new(0));
        let task = || {
            begun.fetch_add(1, Ordering::AcqRel);
            while begun.load(Ordering::Acquire) < 3 {
                thread::sleep(Duration::from_millis(1500));
            }
        };
        pool.call(|| scope(|s| (0..3).for_each(|_| s.spawn(task))));
        assert_eq!(pool.stats().slots_lent, 1);
    });
}

/// No thread is blocked, the heartbeat worker merely has no successor: a cap that is not needed must not cause a
/// warning.
#[test]
fn cap_of_zero_refuses_nothing_if_no_thread_blocks() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).max_spare_threads(0).build().unwrap();
        for _ in 0..30 {
            thread::sleep(Duration::from_millis(1));
            let later = || {
                // Not asleep: that is what it is to be blocked.
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(2) {
                    std::hint::spin_loop();
                }
                common::join_stolen(|| (), || ());
            };
            pool.install(|| common::join_stolen(|| (), later));
        }
        assert_eq!(pool.stats().spares_refused, 0, "{}", pool.stats());
    });
}

/// Each refusal once leaked a slot of some 100 kB.
#[cfg(target_os = "linux")]
#[test]
fn refused_spares_leak_no_memory() {
    fn virtual_kilobytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
    const IS_CHILD: &str = "ANABRANCH_TEST_IS_CHILD";
    if std::env::var_os(IS_CHILD).is_none() {
        let child = rerun(module_path!(), "refused_spares_leak_no_memory")
            .env(IS_CHILD, "1")
            // Otherwise threads that allocate for the first time take address space by the 64 MiB.
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[child.stdout, child.stderr].concat()).into_owned();
        assert!(child.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    watchdog(LONG, || {
        // A spare's stack of 8 GiB does not fit any more; everything else does.
        let pool = Pool::builder().threads(1).stack_size(8 << 30).build().unwrap();
        at_rest(&pool);
        let before = virtual_kilobytes();
        let limit = (before + (4 << 20)) * 1024;
        let limits = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: a valid limit for this very process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limits) }, 0);
        // Not every blocked thread requests a spare.
        while pool.stats().spares_refused < 200 {
            pool.install(receive_before_sending);
        }
        let grown = virtual_kilobytes() - before;
        assert!(grown < 10_000, "{grown} kB more than before, {}", pool.stats());
    });
}

/// Without `membarrier` a raid needs another way to the forks of a thread that does not answer.
#[test]
fn branch_may_block_in_later_join_without_membarrier() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).without_membarrier().build().unwrap();
        at_rest(&pool);
        pool.install(|| {
            join(|| (), || ());
            receive_before_sending();
        });
    });
}
