//! A pool gives back the memory that a burst took. The test runs in a process of its own.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::{LONG, rerun, watchdog};
use anabranch::Pool;
use std::{
    env, fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

/// Returns the resident memory of the process, without files, and its page tables, in KiB.
fn resident() -> u64 {
    // Memory that the allocator keeps is not the pool's: glibc returns only the end of an arena by itself. After
    // 100,000 fibers that slept, 60 of the 61 MiB of its arenas are free, and stay resident until `malloc_trim`.
    // SAFETY: the function has no preconditions.
    unsafe { libc::malloc_trim(0) };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let figure = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    figure("RssAnon:") + figure("VmPTE:")
}

#[test]
fn memory_of_a_burst_of_fibers_is_given_back() {
    const CHILD: &str = "ANABRANCH_TEST_BURST";
    if env::var_os(CHILD).is_none() {
        let child =
            rerun(module_path!(), "memory_of_a_burst_of_fibers_is_given_back").env(CHILD, "1").output().unwrap();
        return assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    }
    const FIBERS: usize = 20_000;
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).build().unwrap();
        pool.run(|cx| pool.spawn(|_| ()).join(cx)).unwrap();
        let before = resident();
        // Another fiber lives on.
        let other = pool.spawn(|cx| cx.sleep(Duration::from_secs(3600)));
        for _ in 0..10 {
            let begun = AtomicUsize::new(0);
            let peak = pool.run(|cx| {
                cx.scope(|s| {
                    for _ in 0..FIBERS {
                        s.spawn(|cx| {
                            begun.fetch_add(1, Ordering::Relaxed);
                            cx.sleep(Duration::from_secs(3600))
                        });
                    }
                    while begun.load(Ordering::Relaxed) < FIBERS {
                        cx.sleep(Duration::from_millis(5)).unwrap();
                    }
                    let peak = resident();
                    s.cancel();
                    peak
                })
            });
            // A region of stacks keeps its page tables while one of its stacks is in use or in a worker's cache: about
            // 11 of 145 MiB after many bursts. With stacks of the other fiber and of the caches, 19 MiB stay at most.
            let kept = before + (peak - before) / 4;
            eprintln!("{before} KiB before the burst, {peak} at its peak; at most {kept} should stay");
            while resident() > kept {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // The blocks and stacks that are left work.
        other.cancel();
        assert!(pool.run(|cx| other.join(cx)).unwrap().is_err());
    });
}
