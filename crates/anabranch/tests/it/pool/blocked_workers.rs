//! Workers that block at an inconvenient time: before there is a heartbeat worker, after a broadcast, by short sleeps,
//! without spares.

use crate::common::{self, LONG, at_rest, pool, rerun, watchdog};
use anabranch::{Pool, join, scope};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
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

/// The CPU clock of a thread that sleeps for less than the interval of sysmon never stands still.
#[test]
fn branch_may_wait_by_short_sleeps() {
    watchdog(LONG, || {
        let (pool, flag) = (pool(1), AtomicBool::new(false));
        at_rest(&pool);
        let nap = || {
            while !flag.load(Ordering::Acquire) {
                thread::sleep(Duration::from_micros(200));
            }
        };
        pool.install(|| join(nap, || flag.store(true, Ordering::Release)));
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
